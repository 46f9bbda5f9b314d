// tests/test_vulkan_told.cpp -- what the driver tells of its objects: executables of pipelines (VK_KHR_pipeline_executable_properties),
// images that are not compressed (VK_EXT_image_compression_control), pipelines that promise to leave protected memory alone. Oracle: the
// module that the test made, and its workgroups.
#include <cstring>
#include <set>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr const char* kKernel = R"(#version 450
layout(local_size_x = 8, local_size_y = 4) in; layout(binding = 0) buffer B { uint b[]; };
shared uint s[10];
void main() { s[gl_LocalInvocationIndex % 10] = 1; barrier(); b[gl_GlobalInvocationID.x] = s[3]; })";
constexpr const char* kVertex = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0, 1); })";
constexpr const char* kWhite = R"(#version 450
layout(location = 0) out vec4 o; void main() { o = vec4(1); })";

struct Told : Program {
  PFN_vkGetPipelineExecutablePropertiesKHR properties = nullptr;
  PFN_vkGetPipelineExecutableStatisticsKHR statistics = nullptr;
  PFN_vkGetPipelineExecutableInternalRepresentationsKHR representations = nullptr;
  PFN_vkGetImageSubresourceLayout2EXT layout2 = nullptr;
  Told() {
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, nullptr, VK_TRUE};
    VkPhysicalDeviceImageCompressionControlFeaturesEXT compression{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_COMPRESSION_CONTROL_FEATURES_EXT,
                                                                   &executables, VK_TRUE};
    VkPhysicalDevicePipelineProtectedAccessFeaturesEXT access{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_PROTECTED_ACCESS_FEATURES_EXT,
                                                              &compression, VK_TRUE};
    remake_device({"VK_KHR_pipeline_executable_properties", "VK_EXT_image_compression_control", "VK_EXT_pipeline_protected_access"},
                  &access);
    load(properties, "vkGetPipelineExecutablePropertiesKHR"), load(statistics, "vkGetPipelineExecutableStatisticsKHR");
    load(representations, "vkGetPipelineExecutableInternalRepresentationsKHR");
    load(layout2, "vkGetImageSubresourceLayout2EXT");
  }

  std::vector<VkPipelineExecutablePropertiesKHR> executables_of(VkPipeline pipeline) {
    const VkPipelineInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, nullptr, pipeline};
    uint32_t count = 99;
    CHECK(properties(device, &info, &count, nullptr) == VK_SUCCESS);
    std::vector<VkPipelineExecutablePropertiesKHR> all(count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR});
    CHECK(properties(device, &info, &count, all.data()) == VK_SUCCESS && count == all.size());
    uint32_t fewer = count - 1;
    CHECK(properties(device, &info, &fewer, all.data()) == VK_INCOMPLETE && fewer == count - 1);
    return all;
  }

  std::vector<VkPipelineExecutableStatisticKHR> statistics_of(VkPipeline pipeline, uint32_t executable) {
    const VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, executable};
    uint32_t count = 0;
    CHECK(statistics(device, &info, &count, nullptr) == VK_SUCCESS);
    std::vector<VkPipelineExecutableStatisticKHR> all(count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR});
    CHECK(statistics(device, &info, &count, all.data()) == VK_SUCCESS && count == all.size());
    return all;
  }

  /// The module's words, asked for in two steps; half of them is told as INCOMPLETE.
  std::vector<uint32_t> words_of(VkPipeline pipeline, uint32_t executable) {
    const VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, executable};
    uint32_t count = 1;
    VkPipelineExecutableInternalRepresentationKHR one{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR};
    CHECK(representations(device, &info, &count, &one) == VK_SUCCESS && count == 1 && !one.isText && one.dataSize % 4 == 0);
    std::vector<uint32_t> words(one.dataSize / 4);
    one.pData = words.data(), one.dataSize = 20;
    CHECK(representations(device, &info, &count, &one) == VK_INCOMPLETE && one.dataSize == 20);
    CHECK(words[4] == 0 ? words[3] != 0 : true);
    one.dataSize = words.size() * 4;
    CHECK(representations(device, &info, &count, &one) == VK_SUCCESS && one.dataSize == words.size() * 4);
    return words;
  }
};

uint64_t value_of(const std::vector<VkPipelineExecutableStatisticKHR>& all, const char* name) {
  for (const auto& one : all)
    if (!std::strcmp(one.name, name))
      return one.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR ? one.value.b32 : one.value.u64;
  return ~uint64_t{0};
}

void test_graphics(VkPipelineCreateFlags flags) {
  Told p;
  const VkRenderPass pass = p.one_subpass();
  const VkPipelineLayout layout = p.pipeline_layout({});
  const VkPipeline pipeline = make_pipeline(p, kVertex, kWhite, layout, pass, 0, [&](VkGraphicsPipelineCreateInfo& info) {
    info.flags = flags | VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
  });
  if (!CHECK(pipeline)) return;
  const auto executables = p.executables_of(pipeline);
  std::set<VkShaderStageFlags> stages;
  for (uint32_t k = 0; k < executables.size(); ++k) {
    stages.insert(executables[k].stages);
    CHECK(executables[k].subgroupSize == 4 && executables[k].name[0] && executables[k].description[0]);
    const auto all = p.statistics_of(pipeline, k);
    const uint64_t lanes = value_of(all, "Lanes");
    CHECK(lanes == 4 || lanes == 8 || lanes == 16);
    CHECK(value_of(all, "Optimised") <= 1 && value_of(all, "Workgroup size") == ~uint64_t{0});
    const auto words = p.words_of(pipeline, k);
    CHECK(!words.empty() && words[0] == 0x07230203 && value_of(all, "SPIR-V size") == words.size() * 4);
  }
  CHECK(stages == (std::set<VkShaderStageFlags>{VK_SHADER_STAGE_VERTEX_BIT, VK_SHADER_STAGE_FRAGMENT_BIT}));
  p.DestroyPipeline(p.device, pipeline, nullptr), p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
}

void test_kernel() {
  Told p;
  const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set_info.bindingCount = 1, set_info.pBindings = &binding;
  VkDescriptorSetLayout set = nullptr;
  if (!CHECK(p.CreateDescriptorSetLayout(p.device, &set_info, nullptr, &set) == VK_SUCCESS)) return;
  const VkPipelineLayout layout = p.pipeline_layout({set});
  const VkShaderModule module = p.shader(kKernel, VK_SHADER_STAGE_COMPUTE_BIT);
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, module, "main", nullptr};
  info.layout = layout;
  VkPipeline pipeline = nullptr;
  if (!CHECK(p.CreateComputePipelines(p.device, nullptr, 1, &info, nullptr, &pipeline) == VK_SUCCESS)) return;
  const auto executables = p.executables_of(pipeline);
  CHECK(executables.size() == 1 && executables[0].stages == VK_SHADER_STAGE_COMPUTE_BIT);
  const auto all = p.statistics_of(pipeline, 0);
  CHECK(value_of(all, "Workgroup size") == 32 && value_of(all, "Shared memory") >= 40 && value_of(all, "Optimised") <= 1);
  CHECK(p.words_of(pipeline, 0).size() * 4 == value_of(all, "SPIR-V size"));
  p.DestroyPipeline(p.device, pipeline, nullptr), p.DestroyShaderModule(p.device, module, nullptr);
  p.DestroyPipelineLayout(p.device, layout, nullptr), p.DestroyDescriptorSetLayout(p.device, set, nullptr);
}

void test_images() {
  Told p;
  VkImageCompressionControlEXT control{VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_CONTROL_EXT, nullptr,
                                       VK_IMAGE_COMPRESSION_FIXED_RATE_DEFAULT_EXT};
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, &control};
  info.imageType = VK_IMAGE_TYPE_2D, info.format = VK_FORMAT_R8G8B8A8_UNORM, info.extent = {8, 8, 1};
  info.mipLevels = info.arrayLayers = 1, info.samples = VK_SAMPLE_COUNT_1_BIT, info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  VkImage image = nullptr;
  if (!CHECK(p.CreateImage(p.device, &info, nullptr, &image) == VK_SUCCESS)) return;
  VkImageCompressionPropertiesEXT found{VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_PROPERTIES_EXT, nullptr, 77, 77};
  VkSubresourceLayout2 layout{VK_STRUCTURE_TYPE_SUBRESOURCE_LAYOUT_2, &found};
  const VkImageSubresource2 part{VK_STRUCTURE_TYPE_IMAGE_SUBRESOURCE_2, nullptr, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0}};
  p.layout2(p.device, image, &part, &layout);
  CHECK(found.imageCompressionFlags == VK_IMAGE_COMPRESSION_DISABLED_EXT && found.imageCompressionFixedRateFlags == 0);
  p.DestroyImage(p.device, image, nullptr);
}

}  // namespace

int main() {
  test_graphics(0);
  test_graphics(VK_PIPELINE_CREATE_NO_PROTECTED_ACCESS_BIT_EXT);
  test_kernel();
  test_images();
  return finish("test_vulkan_told");
}
