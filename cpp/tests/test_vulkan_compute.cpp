// tests/test_vulkan_compute.cpp -- compute through the driver: limits, dispatches of all kinds, dynamic offsets, specialization; words.
#include "vulkan_compute_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

void dispatches_of_all_kinds() {
  Compute p;
  if (!p.pipeline) return;
  VkPhysicalDeviceProperties properties;
  p.GetPhysicalDeviceProperties(p.physical_device, &properties);
  CHECK(properties.limits.maxComputeWorkGroupInvocations == 1024 && properties.limits.maxComputeSharedMemorySize == 65536);
  VkCommandBuffer c = p.begin();
  p.bind(c, 3, 64);
  p.CmdDispatch(c, 20, 1, 1);
  p.run(c);
  p.check(0, 20, 20, 3, 64);
  c = p.begin();
  p.bind(c, 5, 0);
  p.CmdDispatchBase(c, 4, 0, 0, 3, 1, 1);
  p.run(c);
  p.check(4, 7, 3, 5, 0);
  p.check(7, 20, 20, 3, 64);
  const Program::MappedBuffer indirect = p.buffer(64, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
  reinterpret_cast<VkDispatchIndirectCommand*>(indirect.data + 4)[0] = {30, 1, 1};
  c = p.begin();
  p.bind(c, 7, 1024);
  p.CmdDispatchIndirect(c, indirect.buffer, 4);
  p.run(c);
  p.check(0, 30, 30, 7, 1024);
  p.destroy(indirect);
  CHECK(p.said.empty());
}

void wrong_use_is_an_error_that_names_it() {
  Compute p;
  VkCommandBuffer c = p.begin();
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, p.pipeline);
  p.CmdDispatch(c, 1, 1, 1);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("nothing is bound there"));
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  const uint32_t size = 2048;
  const VkSpecializationMapEntry entry{3, 0, 4};
  const VkSpecializationInfo constants{1, &entry, 4, &size};
  const VkShaderModule module = p.shader(kMirror, VK_SHADER_STAGE_COMPUTE_BIT);
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, module, "main", &constants};
  info.layout = p.layout;
  VkPipeline made = nullptr;
  CHECK(p.CreateComputePipelines(p.device, nullptr, 1, &info, nullptr, &made) != VK_SUCCESS && !made);
  CHECK(p.heard("the workgroup's size is 2048 x 1 x 1"));
  p.DestroyShaderModule(p.device, module, nullptr);
}

/// A specialization constant of 64 bits, and features that are said.
void numbers_of_other_widths() {
  Compute p;
  if (!p.pipeline) return;
  VkPhysicalDeviceFeatures features;
  p.GetPhysicalDeviceFeatures(p.physical_device, &features);
  CHECK(features.shaderInt64 && features.shaderFloat64 && features.shaderInt16);
  const struct {
    uint64_t big;
    int16_t small;
  } data{0x123456789abcdef0u, -2};
  const VkSpecializationMapEntry entries[] = {{1, 0, 8}, {2, 8, 2}};
  const VkSpecializationInfo constants{2, entries, sizeof data, &data};
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  const VkShaderModule module = p.shader(R"(#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(constant_id = 1) const int64_t big = 1l;
layout(constant_id = 2) const int16_t small = int16_t(1);
layout(set = 1, binding = 0) readonly buffer In { uint from[]; };
layout(set = 1, binding = 1) buffer Out { int64_t sum; double half_of_it; uint first; } to;
void main() { to.sum = big * 3l + small; to.half_of_it = double(small) / 4.0lf; to.first = from[0]; })",
                                         VK_SHADER_STAGE_COMPUTE_BIT);
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, module, "main", &constants};
  info.layout = p.layout;
  VkPipeline made = nullptr;
  CHECK(p.CreateComputePipelines(p.device, nullptr, 1, &info, nullptr, &made) == VK_SUCCESS);
  std::swap(p.pipeline, made);
  VkCommandBuffer c = p.begin();
  p.bind(c, 0, 0);
  p.CmdDispatch(c, 1, 1, 1);
  p.run(c);
  struct {
    uint64_t sum;
    double half_of_it;
  } got;
  std::memcpy(&got, p.out.data, sizeof got);
  CHECK(got.sum == data.big * 3 - 2 && got.half_of_it == -0.5);
  p.DestroyPipeline(p.device, made, nullptr);
  p.DestroyShaderModule(p.device, module, nullptr);
  CHECK(p.said.empty());
}

}  // namespace

int main() {
  numbers_of_other_widths();
  dispatches_of_all_kinds();
  wrong_use_is_an_error_that_names_it();
  return finish("test_vulkan_compute");
}
