// tests/vulkan_compute_fixture.hpp -- a program on the driver with a kernel that mirrors each workgroup's part of a buffer.
#pragma once

#include "vulkan_fixture.hpp"

namespace tilegpu::test {

// out[i] = in[mirrored in its workgroup] * factor + base.
inline constexpr const char* kMirror = R"(#version 450
layout(local_size_x_id = 3) in;
layout(set = 1, binding = 0) readonly buffer In { uint from[]; };
layout(set = 1, binding = 1) buffer Out { uint to[]; };
layout(push_constant) uniform Push { uint factor; };
shared uint line[gl_WorkGroupSize.x];
void main() {
  uint i = gl_LocalInvocationIndex;
  line[i] = from[gl_GlobalInvocationID.x];
  barrier();
  to[gl_GlobalInvocationID.x] = line[gl_WorkGroupSize.x - 1 - i] * factor + gl_NumWorkGroups.x;
})";

inline constexpr uint32_t kSize = 96, kCount = 4096;

struct Compute : Program {
  VkDescriptorSetLayout empty = nullptr, set_layout = nullptr;
  VkPipelineLayout layout = nullptr;
  VkPipeline pipeline = nullptr;
  VkDescriptorPool descriptors = nullptr;
  VkDescriptorSet set = nullptr;
  MappedBuffer in{}, out{};

  Compute() {
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
    VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    CHECK(CreateDescriptorSetLayout(device, &set_info, nullptr, &empty) == VK_SUCCESS);
    set_info.bindingCount = 2, set_info.pBindings = bindings;
    CHECK(CreateDescriptorSetLayout(device, &set_info, nullptr, &set_layout) == VK_SUCCESS);
    const VkDescriptorSetLayout sets[] = {empty, set_layout};
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, 4};
    VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.setLayoutCount = 2, layout_info.pSetLayouts = sets;
    layout_info.pushConstantRangeCount = 1, layout_info.pPushConstantRanges = &range;
    CHECK(CreatePipelineLayout(device, &layout_info, nullptr, &layout) == VK_SUCCESS);

    const VkSpecializationMapEntry entry{3, 0, 4};
    const VkSpecializationInfo constants{1, &entry, 4, &kSize};
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    const VkShaderModule module = shader(kMirror, VK_SHADER_STAGE_COMPUTE_BIT);
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, module, "main", &constants};
    info.layout = layout;
    CHECK(CreateComputePipelines(device, nullptr, 1, &info, nullptr, &pipeline) == VK_SUCCESS);
    DestroyShaderModule(device, module, nullptr);

    constexpr VkBufferUsageFlags kUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    in = buffer(kCount * 4, kUsage), out = buffer(kCount * 4, kUsage);
    for (uint32_t i = 0; i < kCount; ++i) reinterpret_cast<uint32_t*>(in.data)[i] = i * 2654435761u;
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 1}, {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    const VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, 1, 2, sizes};
    CHECK(CreateDescriptorPool(device, &pool_info, nullptr, &descriptors) == VK_SUCCESS);
    const VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, descriptors, 1, &set_layout};
    CHECK(AllocateDescriptorSets(device, &allocate, &set) == VK_SUCCESS);
    const VkDescriptorBufferInfo from{in.buffer, 0, kCount * 2}, to{out.buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet writes[2] = {
        {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, 0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, nullptr, &from, nullptr},
        {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, 1, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, nullptr, &to, nullptr}};
    UpdateDescriptorSets(device, 2, writes, 0, nullptr);
  }
  ~Compute() {
    destroy(in), destroy(out);
    DestroyDescriptorPool(device, descriptors, nullptr);
    DestroyPipeline(device, pipeline, nullptr);
    DestroyPipelineLayout(device, layout, nullptr);
    DestroyDescriptorSetLayout(device, set_layout, nullptr);
    DestroyDescriptorSetLayout(device, empty, nullptr);
  }
  void bind(VkCommandBuffer c, uint32_t factor, uint32_t offset_B) {
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 1, 1, &set, 1, &offset_B);
    CmdPushConstants(c, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &factor);
  }
  void check(uint32_t first, uint32_t end, uint32_t groups, uint32_t factor, uint32_t offset_B) const {
    const auto* from = reinterpret_cast<const uint32_t*>(in.data) + offset_B / 4;
    for (uint32_t i = first * kSize; i < end * kSize; ++i) {
      const uint32_t mirrored = i / kSize * kSize + kSize - 1 - i % kSize;
      const uint32_t want = (mirrored < kCount / 2 ? from[mirrored] : 0) * factor + groups, got = reinterpret_cast<uint32_t*>(out.data)[i];
      if (!CHECK_MESSAGE(got == want, std::to_string(i) + ": " + std::to_string(got) + ", not " + std::to_string(want))) return;
    }
  }
};

}  // namespace tilegpu::test
