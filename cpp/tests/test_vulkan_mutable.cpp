// tests/test_vulkan_mutable.cpp -- VK_EXT_mutable_descriptor_type: one array of descriptors of six types, as Direct3D's heaps are, read by
// variables of each type; what an element is not, it is not there as; copies from and to bindings of one type.
#include <array>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kElements = 8, kNumbers = 16;
constexpr VkDescriptorType kTypes[] = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,        VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                       VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
                                       VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,       VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
constexpr VkDescriptorType kSamplers[] = {VK_DESCRIPTOR_TYPE_SAMPLER, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER};

// What each variable finds in element `at`.
const char* const kRead = R"(#version 450
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 3) uniform utexture2D images[8];
layout(set = 0, binding = 3, r32ui) uniform uimage2D stored[8];
layout(set = 0, binding = 3) uniform utextureBuffer texels[8];
layout(set = 0, binding = 3, r32ui) uniform uimageBuffer stored_texels[8];
layout(set = 0, binding = 3) uniform U { uint v; } uniforms[8];
layout(set = 0, binding = 3) buffer S { uint v; uint to; } buffers[8];
layout(set = 0, binding = 5) uniform sampler samplers[2];
layout(set = 0, binding = 5) uniform usampler2D pairs[2];
layout(set = 1, binding = 0) buffer Out { uint out_values[]; };
layout(push_constant) uniform P { uint at; };
void main() {
  uint i = nonuniformEXT(at);
  out_values[0] = texelFetch(images[i], ivec2(1, 0), 0).x;
  out_values[1] = imageLoad(stored[i], ivec2(1, 0)).x;
  out_values[2] = texelFetch(texels[i], 1).x;
  out_values[3] = imageLoad(stored_texels[i], 1).x;
  out_values[4] = uniforms[i].v;
  out_values[5] = buffers[i].v;
  out_values[6] = textureLod(usampler2D(images[i], samplers[i & 1]), vec2(0.75, 0.25), 0).x;
  out_values[7] = textureLod(pairs[i & 1], vec2(0.75, 0.25), 0).x;
  buffers[i].to = 77;
})";

struct Scene : Program {
  VkDescriptorSetLayout heap_layout = nullptr, out_layout = nullptr, plain_layout = nullptr;
  VkPipelineLayout layout = nullptr;
  VkPipeline pipeline = nullptr;
  VkDescriptorSet heap = nullptr, out_set = nullptr;
  MappedBuffer out{}, source{};
  BoundImage image{};
  VkBufferView texels = nullptr;
  VkSampler sampler = nullptr;
  PFN_vkGetDescriptorSetLayoutSupport support = nullptr;

  Scene() {
    VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT mutables{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MUTABLE_DESCRIPTOR_TYPE_FEATURES_EXT,
                                                              nullptr, VK_TRUE};
    VkPhysicalDeviceDescriptorIndexingFeatures indexing{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES, &mutables};
    indexing.descriptorBindingPartiallyBound = VK_TRUE;
    indexing.shaderSampledImageArrayNonUniformIndexing = indexing.shaderStorageImageArrayNonUniformIndexing = VK_TRUE;
    indexing.shaderUniformTexelBufferArrayNonUniformIndexing = indexing.shaderStorageTexelBufferArrayNonUniformIndexing = VK_TRUE;
    indexing.shaderUniformBufferArrayNonUniformIndexing = indexing.shaderStorageBufferArrayNonUniformIndexing = VK_TRUE;
    remake_device({"VK_EXT_mutable_descriptor_type", "VK_EXT_descriptor_indexing", "VK_KHR_maintenance3"}, &indexing);
    load(support, "vkGetDescriptorSetLayoutSupport");
    heap_layout = heap_of(kTypes, std::size(kTypes));
    out_layout = set_layout({{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
    plain_layout = set_layout({{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                               {1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
    layout = pipeline_layout({heap_layout, out_layout}, {{VK_SHADER_STAGE_COMPUTE_BIT, 0, 4}});
    pipeline = compute_pipeline(kRead, layout);
    heap = descriptor_set(heap_layout), out_set = descriptor_set(out_layout);
    out = buffer(kNumbers * 4, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    source = buffer(64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                            VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    for (uint32_t k = 0; k < 16; ++k) reinterpret_cast<uint32_t*>(source.data)[k] = 100 + k;
    image = this->Program::image(VK_FORMAT_R32_UINT, 2, 2,
                                 VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    const VkBufferViewCreateInfo view{
        VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO, nullptr, 0, source.buffer, VK_FORMAT_R32_UINT, 0, VK_WHOLE_SIZE};
    CHECK(CreateBufferView(device, &view, nullptr, &texels) == VK_SUCCESS);
    const VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    CHECK(CreateSampler(device, &info, nullptr, &sampler) == VK_SUCCESS);
    PFN_vkCmdCopyBufferToImage copy = nullptr;
    load(copy, "vkCmdCopyBufferToImage");
    VkBufferImageCopy region{};
    region.bufferOffset = 16, region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {2, 2, 1};
    const VkCommandBuffer c = begin();
    copy(c, source.buffer, image.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    run(c);
    const VkDescriptorBufferInfo to{out.buffer, 0, VK_WHOLE_SIZE};
    put(out_set, 0, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &to);
  }
  ~Scene() {
    destroy(out), destroy(source), destroy(image);
    DestroyBufferView(device, texels, nullptr);
    DestroySampler(device, sampler, nullptr);
    DestroyPipeline(device, pipeline, nullptr);
    DestroyPipelineLayout(device, layout, nullptr);
    for (const VkDescriptorSetLayout l : {heap_layout, out_layout, plain_layout}) DestroyDescriptorSetLayout(device, l, nullptr);
  }

  /// Binding 3: 8 elements of these; binding 5: two samplers, or pairs.
  VkDescriptorSetLayout heap_of(const VkDescriptorType* types, size_t count, VkResult wanted = VK_SUCCESS) {
    const VkDescriptorSetLayoutBinding bindings[] = {{3, VK_DESCRIPTOR_TYPE_MUTABLE_EXT, kElements, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                     {5, VK_DESCRIPTOR_TYPE_MUTABLE_EXT, 2, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
    const VkMutableDescriptorTypeListEXT lists[] = {{static_cast<uint32_t>(count), types}, {2, kSamplers}};
    const VkMutableDescriptorTypeCreateInfoEXT mutables{VK_STRUCTURE_TYPE_MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_EXT, nullptr, 2, lists};
    const VkDescriptorBindingFlags partial[] = {VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT, VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT};
    const VkDescriptorSetLayoutBindingFlagsCreateInfo flags{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, &mutables, 2,
                                                            partial};
    const VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &flags, 0, 2, bindings};
    VkDescriptorSetLayoutSupport answer{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_SUPPORT};
    if (support) support(device, &info, &answer);
    CHECK(!support || answer.supported == (wanted == VK_SUCCESS));
    VkDescriptorSetLayout made = nullptr;
    CHECK((CreateDescriptorSetLayout(device, &info, nullptr, &made) == VK_SUCCESS) == (wanted == VK_SUCCESS));
    return made;
  }
  void put(VkDescriptorSet set, uint32_t binding, uint32_t element, VkDescriptorType type, const VkDescriptorBufferInfo* info,
           const VkDescriptorImageInfo* of_image = nullptr) {
    const VkWriteDescriptorSet write{
        VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, binding, element, 1, type, of_image, info, &texels};
    UpdateDescriptorSets(device, 1, &write, 0, nullptr);
  }
  void become(uint32_t element, VkDescriptorType type) {
    const VkDescriptorBufferInfo of_buffer{source.buffer, 0, VK_WHOLE_SIZE};
    const VkDescriptorImageInfo of_image{nullptr, image.view, VK_IMAGE_LAYOUT_GENERAL};
    put(heap, 3, element, type, &of_buffer, &of_image);
  }
  std::array<uint32_t, 8> read(uint32_t element) {
    std::memset(out.data, 0xee, kNumbers * 4);
    const VkCommandBuffer c = begin();
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    const VkDescriptorSet sets[] = {heap, out_set};
    CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 2, sets, 0, nullptr);
    CmdPushConstants(c, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &element);
    CmdDispatch(c, 1, 1, 1);
    run(c);
    std::array<uint32_t, 8> found{};
    std::memcpy(found.data(), out.data, sizeof found);
    return found;
  }
};

/// Each type in turn, in several elements; all other variables find nothing there.
void test_types() {
  Scene s;
  constexpr uint32_t kOf[] = {105, 105, 101, 101, 100, 100};  // texels 1 of the image and of the buffer, its first word
  for (uint32_t round = 0; round < 3; ++round)
    for (uint32_t element = 0; element < kElements; ++element) s.become(element, kTypes[(element + round) % 6]);
  for (uint32_t element = 0; element < kElements; ++element) {
    const uint32_t type = (element + 2) % 6;
    reinterpret_cast<uint32_t*>(s.source.data)[1] = 101;
    const std::array<uint32_t, 8> found = s.read(element);
    for (uint32_t k = 0; k < 6; ++k) CHECK(found[k] == (k == type ? kOf[type] : 0), "element %u: %u as %u", element, found[k], k);
    CHECK(found[6] == 0 && found[7] == 0);
    CHECK(reinterpret_cast<uint32_t*>(s.source.data)[1] == (kTypes[type] == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER ? 77u : 101u));
  }
  CHECK_MESSAGE(s.said.empty(), s.said.empty() ? "" : s.said.front());
}

void test_samplers() {
  Scene s;
  s.become(0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE), s.become(1, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE);
  const VkDescriptorImageInfo both{s.sampler, s.image.view, VK_IMAGE_LAYOUT_GENERAL};
  s.put(s.heap, 5, 0, VK_DESCRIPTOR_TYPE_SAMPLER, nullptr, &both);
  s.put(s.heap, 5, 1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, nullptr, &both);
  std::array<uint32_t, 8> found = s.read(0);
  CHECK(found[6] == 105 && found[7] == 0);
  found = s.read(1);
  CHECK(found[6] == 0 && found[7] == 105);
  CHECK_MESSAGE(s.said.empty(), s.said.empty() ? "" : s.said.front());
}

void test_copies() {
  Scene s;
  const VkDescriptorSet plain = s.descriptor_set(s.plain_layout);
  const VkDescriptorBufferInfo of_buffer{s.source.buffer, 0, VK_WHOLE_SIZE};
  s.put(plain, 0, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &of_buffer);
  const auto copy = [&](VkDescriptorSet from, uint32_t binding, uint32_t element, VkDescriptorSet to, uint32_t to_binding,
                        uint32_t to_element) {
    const VkCopyDescriptorSet c{VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET, nullptr, from, binding, element, to, to_binding, to_element, 1};
    s.UpdateDescriptorSets(s.device, 0, nullptr, 1, &c);
  };
  copy(plain, 0, 0, s.heap, 3, 4);
  copy(s.heap, 3, 4, s.heap, 3, 5);
  CHECK(s.read(5)[5] == 100 && s.read(5)[4] == 0);
  s.become(6, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER);
  copy(s.heap, 3, 6, plain, 1, 0);
  CHECK_MESSAGE(s.said.empty(), s.said.empty() ? "" : s.said.front());
  copy(s.heap, 3, 6, plain, 0, 0);
  CHECK(s.heard("element 6 is uniform_buffer, which the other can't be"));
  s.said.clear();
  copy(s.heap, 3, 4, s.heap, 5, 0);
  CHECK(s.heard("element 4 is storage_buffer, which the other can't be"));
}

void test_refusals() {
  Scene s;
  s.become(0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER);
  CHECK(s.heard("binding 3 (mutable) can't be written as combined_image_sampler"));
  constexpr VkDescriptorType kDynamic[] = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC};
  s.heap_of(kDynamic, 2, VK_ERROR_INITIALIZATION_FAILED);
  CHECK(s.heard("can't have elements of type storage_buffer_dynamic"));
  constexpr VkDescriptorType kTwice[] = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER};
  s.heap_of(kTwice, 2, VK_ERROR_INITIALIZATION_FAILED);
  CHECK(s.heard("says type uniform_buffer twice"));
  s.heap_of(kTypes, 0, VK_ERROR_INITIALIZATION_FAILED);
  CHECK(s.heard("says no type that its elements may have"));
  // A shader's variable of a type that the layout does not have.
  const VkDescriptorSetLayout few = s.heap_of(kTypes, 5);
  const VkPipelineLayout layout = s.pipeline_layout({few, s.out_layout}, {{VK_SHADER_STAGE_COMPUTE_BIT, 0, 4}});
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  const VkShaderModule module = s.shader(kRead, VK_SHADER_STAGE_COMPUTE_BIT);
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, module, "main", nullptr};
  info.layout = layout;
  VkPipeline made = nullptr;
  CHECK(s.CreateComputePipelines(s.device, nullptr, 1, &info, nullptr, &made) != VK_SUCCESS && !made);
  CHECK(s.heard("which is not among the types that the layout's mutable descriptor may have"));
  s.DestroyShaderModule(s.device, module, nullptr);
  s.DestroyPipelineLayout(s.device, layout, nullptr);
  s.DestroyDescriptorSetLayout(s.device, few, nullptr);
}

}  // namespace

int main() {
  test_types();
  test_samplers();
  test_copies();
  test_refusals();
  return test::finish("test_vulkan_mutable");
}
