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

/// Sizes that are asked for, full subgroups; a broadcast of an invocation that is computed.
void subgroups_are_of_four() {
  Compute p;
  constexpr const char* kBroadcast = R"(#version 450
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x_id = 3) in;
layout(set = 1, binding = 0) readonly buffer In { uint from[]; };
layout(set = 1, binding = 1) buffer Out { uint to[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  to[i] = subgroupBroadcast(from[i], (gl_SubgroupID + 1) & 3) * 16 + gl_SubgroupSize;
})";
  GlslSource source;
  source.text = kBroadcast, source.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  auto words = compile_glsl(source);
  if (!CHECK_MESSAGE(words, words ? "" : words.error().message)) return;
  VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words->size() * 4, words->data()};
  VkShaderModule module = nullptr;
  CHECK(p.CreateShaderModule(p.device, &module_info, nullptr, &module) == VK_SUCCESS);
  const auto pipeline = [&](uint32_t row, uint32_t size, VkPipelineShaderStageCreateFlags flags) {
    const VkSpecializationMapEntry entry{3, 0, 4};
    const VkSpecializationInfo constants{1, &entry, 4, &row};
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required{
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, nullptr, size};
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  size ? &required : nullptr,
                  flags,
                  VK_SHADER_STAGE_COMPUTE_BIT,
                  module,
                  "main",
                  &constants};
    info.layout = p.layout;
    VkPipeline made = nullptr;
    CHECK((p.CreateComputePipelines(p.device, nullptr, 1, &info, nullptr, &made) == VK_SUCCESS) == (made != nullptr));
    return made;
  };
  constexpr VkPipelineShaderStageCreateFlags kFull = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  CHECK(!pipeline(64, 8, 0) && p.heard("requiredSubgroupSize is 8; subgroups have 4 invocations"));
  const VkPipeline odd = pipeline(30, 0, kFull);  // done all the same: the last subgroup has what is left
  CHECK(odd && p.heard("rows have 30 invocations"));
  p.DestroyPipeline(p.device, odd, nullptr);
  p.said.clear();
  const VkPipeline made = pipeline(32, 4, kFull);
  if (!CHECK(made)) return;
  const VkCommandBuffer c = p.begin();
  p.bind(c, 0, 0);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, made);
  p.CmdDispatch(c, 3, 1, 1);
  p.run(c);
  const auto *from = reinterpret_cast<const uint32_t*>(p.in.data), *to = reinterpret_cast<const uint32_t*>(p.out.data);
  for (uint32_t i = 0; i < 96; ++i) CHECK(to[i] == from[i / 4 * 4 + (i % 32 / 4 + 1) % 4] * 16 + 4);
  CHECK(p.said.empty());
  p.DestroyPipeline(p.device, made, nullptr);
  p.DestroyShaderModule(p.device, module, nullptr);
}

void global_priorities() {
  Program p;
  const float priority = 1;
  for (const VkQueueGlobalPriorityKHR wanted :
       {VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR, VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR, VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR}) {
    const VkDeviceQueueGlobalPriorityCreateInfoKHR global{VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR, nullptr, wanted};
    const VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, &global, 0, 0, 1, &priority};
    const char* extension = "VK_KHR_global_priority";
    const VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, nullptr, 0, 1, &queue, 0, nullptr, 1, &extension, nullptr};
    VkDevice device = nullptr;
    const bool listed = wanted <= VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR;
    CHECK(p.CreateDevice(p.physical_device, &info, nullptr, &device) == (listed ? VK_SUCCESS : VK_ERROR_NOT_PERMITTED_KHR));
    if (device) p.DestroyDevice(device, nullptr);
  }
  CHECK(p.heard("globalPriority is 512"));
  const auto query = reinterpret_cast<PFN_vkGetPhysicalDeviceQueueFamilyProperties2>(
      vk_icdGetInstanceProcAddr(p.instance, "vkGetPhysicalDeviceQueueFamilyProperties2"));
  VkQueueFamilyGlobalPriorityPropertiesKHR all{VK_STRUCTURE_TYPE_QUEUE_FAMILY_GLOBAL_PRIORITY_PROPERTIES_KHR};
  VkQueueFamilyProperties2 family{VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2, &all, {}};
  uint32_t one = 1;
  query(p.physical_device, &one, &family);
  CHECK(all.priorityCount == 2 && all.priorities[0] == VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR);
  CHECK(all.priorities[1] == VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR);
}

/// Feature, stages, and a table whose every row is whole: no row twice, no floats that saturate.
void cooperative_matrices_are_listed() {
  Program p;
  PFN_vkGetPhysicalDeviceFeatures2 features2 = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 properties2 = nullptr;
  PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR list = nullptr;
  p.load(features2, "vkGetPhysicalDeviceFeatures2"), p.load(properties2, "vkGetPhysicalDeviceProperties2");
  p.load(list, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR has{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &has};
  features2(p.physical_device, &features);
  CHECK(has.cooperativeMatrix && has.cooperativeMatrixRobustBufferAccess);
  VkPhysicalDeviceCooperativeMatrixPropertiesKHR is{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &is};
  properties2(p.physical_device, &properties);
  CHECK(is.cooperativeMatrixSupportedStages == VK_SHADER_STAGE_COMPUTE_BIT);
  uint32_t count = 0;
  CHECK(list(p.physical_device, &count, nullptr) == VK_SUCCESS && count == 42);
  std::vector<VkCooperativeMatrixPropertiesKHR> rows(count, {VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR});
  CHECK(list(p.physical_device, &count, rows.data()) == VK_SUCCESS && count == 42);
  for (const VkCooperativeMatrixPropertiesKHR& row : rows) {
    CHECK(row.scope == VK_SCOPE_SUBGROUP_KHR && row.CType == row.ResultType && row.MSize == row.NSize && row.MSize == row.KSize);
    CHECK(row.MSize == 8 || row.MSize == 16);
    CHECK(!row.saturatingAccumulation || row.CType == VK_COMPONENT_TYPE_SINT32_KHR || row.CType == VK_COMPONENT_TYPE_UINT32_KHR);
  }
  count = 5;
  CHECK(list(p.physical_device, &count, rows.data()) == VK_INCOMPLETE && count == 5);
}

}  // namespace

int main() {
  cooperative_matrices_are_listed();
  subgroups_are_of_four();
  global_priorities();
  numbers_of_other_widths();
  dispatches_of_all_kinds();
  wrong_use_is_an_error_that_names_it();
  return finish("test_vulkan_compute");
}
