// tests/test_vulkan_newer_shaders.cpp -- what the driver says of newer extensions of shaders, at 1.1 and at 1.2: listed, in the features,
// taken by a device. What they do: tests/test_reconvergence.py, tests/test_newer_spirv.py.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

bool is_listed(Program& p, const std::string& name) {
  PFN_vkEnumerateDeviceExtensionProperties enumerate = nullptr;
  p.load(enumerate, "vkEnumerateDeviceExtensionProperties");
  uint32_t count = 0;
  CHECK(enumerate(p.physical_device, nullptr, &count, nullptr) == VK_SUCCESS);
  std::vector<VkExtensionProperties> all(count);
  CHECK(enumerate(p.physical_device, nullptr, &count, all.data()) == VK_SUCCESS);
  return std::any_of(all.begin(), all.end(), [&](const VkExtensionProperties& e) { return name == e.extensionName; });
}

/// Before 1.2 quad control would want an extension that is not listed.
void test_version(bool at_1_2) {
  Program p;
  std::vector<const char*> names = {"VK_KHR_shader_maximal_reconvergence",
                                    "VK_KHR_shader_float_controls2",
                                    "VK_KHR_shader_relaxed_extended_instruction",
                                    "VK_EXT_shader_replicated_composites",
                                    "VK_GOOGLE_decorate_string",
                                    "VK_GOOGLE_hlsl_functionality1",
                                    "VK_GOOGLE_user_type"};
  for (const char* name : names) CHECK_MESSAGE(is_listed(p, name), name);
  CHECK(is_listed(p, "VK_KHR_shader_quad_control") == at_1_2);
  if (at_1_2) names.push_back("VK_KHR_shader_quad_control");
  VkPhysicalDeviceShaderQuadControlFeaturesKHR quads{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_QUAD_CONTROL_FEATURES_KHR};
  VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR together{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MAXIMAL_RECONVERGENCE_FEATURES_KHR, at_1_2 ? &quads : nullptr};
  VkPhysicalDeviceShaderFloatControls2FeaturesKHR floats{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT_CONTROLS_2_FEATURES_KHR, &together};
  VkPhysicalDeviceShaderReplicatedCompositesFeaturesEXT replicated{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_REPLICATED_COMPOSITES_FEATURES_EXT, &floats};
  VkPhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR relaxed{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_RELAXED_EXTENDED_INSTRUCTION_FEATURES_KHR, &replicated};
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &relaxed};
  PFN_vkGetPhysicalDeviceFeatures2 features = nullptr;
  p.load(features, "vkGetPhysicalDeviceFeatures2");
  features(p.physical_device, &all);
  CHECK(together.shaderMaximalReconvergence && floats.shaderFloatControls2 && replicated.shaderReplicatedComposites);
  CHECK(relaxed.shaderRelaxedExtendedInstruction && (quads.shaderQuadControl || !at_1_2));
  p.remake_device(names, &relaxed);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
}

}  // namespace

int main() {
  const pid_t other = fork();  // the driver asks once which version it has
  if (other == 0) {
    setenv("TILEGPU_VULKAN", "1.2", 1);
    test_version(true);
    return test::finish("test_vulkan_newer_shaders, 1.2");
  }
  unsetenv("TILEGPU_VULKAN");
  test_version(false);
  int status = 0;
  CHECK(waitpid(other, &status, 0) == other && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return test::finish("test_vulkan_newer_shaders");
}
