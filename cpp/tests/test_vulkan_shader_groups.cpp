// tests/test_vulkan_shader_groups.cpp -- by the driver: VK_KHR_compute_shader_derivatives, VK_KHR_workgroup_memory_explicit_layout; what
// the device says of them, and a kernel that uses both. The arithmetic is tests/test_compute_derivatives.py, test_workgroup_layout.py.
#include <cstring>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

const char* const kBoth = R"(#version 450
#extension GL_NV_compute_shader_derivatives : require
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 8, local_size_y = 4) in;
layout(derivative_group_quadsNV) in;
layout(set = 0, binding = 0) buffer Out { uint o[]; };
shared Words { uint w[32]; };
shared Bytes { uint8_t b[128]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  float f = float(gl_LocalInvocationID.x) + 10.0 * float(gl_LocalInvocationID.y);
  w[i] = uint(dFdx(f)) + 256u * uint(dFdy(f)) + 65536u * i;
  barrier();
  uint at = 31u - i;
  o[i] = uint(b[4u * at]) + 1000u * uint(b[4u * at + 1u]) + 1000000u * uint(b[4u * at + 2u]);
})";

void test_what_is_said() {
  Program p;
  PFN_vkGetPhysicalDeviceFeatures2 features = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 properties = nullptr;
  p.load(features, "vkGetPhysicalDeviceFeatures2"), p.load(properties, "vkGetPhysicalDeviceProperties2");
  VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR layout{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR};
  VkPhysicalDeviceComputeShaderDerivativesFeaturesKHR derivatives{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COMPUTE_SHADER_DERIVATIVES_FEATURES_KHR,
                                                                  &layout};
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &derivatives};
  features(p.physical_device, &all);
  CHECK(derivatives.computeDerivativeGroupQuads && derivatives.computeDerivativeGroupLinear);
  CHECK(layout.workgroupMemoryExplicitLayout && layout.workgroupMemoryExplicitLayoutScalarBlockLayout);
  CHECK(layout.workgroupMemoryExplicitLayout8BitAccess && layout.workgroupMemoryExplicitLayout16BitAccess);
  VkPhysicalDeviceComputeShaderDerivativesPropertiesKHR stages{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COMPUTE_SHADER_DERIVATIVES_PROPERTIES_KHR,
                                                               nullptr, VK_TRUE};
  VkPhysicalDeviceProperties2 said{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &stages};
  properties(p.physical_device, &said);
  CHECK(!stages.meshAndTaskShaderDerivatives);
}

void test_a_kernel() {
  Program p;
  VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR layout{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR, nullptr, VK_TRUE, VK_TRUE, VK_TRUE, VK_TRUE};
  VkPhysicalDeviceComputeShaderDerivativesFeaturesKHR derivatives{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COMPUTE_SHADER_DERIVATIVES_FEATURES_KHR,
                                                                  &layout, VK_TRUE, VK_TRUE};
  p.remake_device({"VK_KHR_compute_shader_derivatives", "VK_KHR_workgroup_memory_explicit_layout"}, &derivatives);
  const VkDescriptorSetLayout sets = p.set_layout({{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
  const VkPipelineLayout pipeline_layout = p.pipeline_layout({sets});
  const VkPipeline pipeline = p.compute_pipeline(kBoth, pipeline_layout);
  const Program::MappedBuffer out = p.buffer(32 * 4, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  const VkDescriptorSet set = p.descriptor_set(sets);
  const VkDescriptorBufferInfo range{out.buffer, 0, VK_WHOLE_SIZE};
  const VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set,   0, 0, 1,
                                   VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,      nullptr, &range};
  p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  const VkCommandBuffer c = p.begin();
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_layout, 0, 1, &set, 0, nullptr);
  p.CmdDispatch(c, 1, 1, 1);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t got;
    std::memcpy(&got, out.data + 4 * i, 4);
    CHECK_MESSAGE(got == 1 + 10 * 1000 + (31 - i) * 1000000, std::to_string(i) + ": " + std::to_string(got));
  }
}

}  // namespace

int main() {
  test_what_is_said();
  test_a_kernel();
  return test::finish("test_vulkan_shader_groups");
}
