// tests/test_vulkan_maintenance.cpp -- VK_KHR_maintenance5 to 7, VK_KHR_map_memory2, VK_KHR_calibrated_timestamps, VK_EXT_memory_budget:
// each newer command does what the older one does.
#include <ctime>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8;

struct Newer : Program {
  PFN_vkCmdBindIndexBuffer2 bind_index_buffer2 = nullptr;
  PFN_vkCmdDrawIndexed draw_indexed = nullptr;
  PFN_vkCmdBindDescriptorSets2 bind_sets2 = nullptr;
  PFN_vkCmdPushConstants2 push_constants2 = nullptr;
  PFN_vkCmdPushDescriptorSet2 push_set2 = nullptr;
  PFN_vkCmdPushDescriptorSetWithTemplate2 push_template2 = nullptr;
  PFN_vkMapMemory2 map2 = nullptr;
  PFN_vkUnmapMemory2 unmap2 = nullptr;
  PFN_vkGetRenderingAreaGranularity granularity = nullptr;
  PFN_vkGetDeviceImageSubresourceLayout device_layout = nullptr;
  PFN_vkGetImageSubresourceLayout2 layout2 = nullptr;
  PFN_vkGetImageSubresourceLayout plain_layout = nullptr;
  PFN_vkBindBufferMemory2 bind2 = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties2 memory2 = nullptr;

  Newer() {
    VkPhysicalDeviceMaintenance7FeaturesKHR seven{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_7_FEATURES_KHR, nullptr, VK_TRUE};
    VkPhysicalDeviceMaintenance6Features six{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_6_FEATURES, &seven, VK_TRUE};
    VkPhysicalDeviceMaintenance5Features five{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES, &six, VK_TRUE};
    remake_device({"VK_KHR_dynamic_rendering", "VK_KHR_maintenance5", "VK_KHR_maintenance6", "VK_KHR_maintenance7", "VK_KHR_map_memory2",
                   "VK_KHR_push_descriptor", "VK_KHR_calibrated_timestamps", "VK_EXT_memory_budget"},
                  &five);
    load(bind_index_buffer2, "vkCmdBindIndexBuffer2"), load(draw_indexed, "vkCmdDrawIndexed");
    load(bind_sets2, "vkCmdBindDescriptorSets2"), load(push_constants2, "vkCmdPushConstants2");
    load(push_set2, "vkCmdPushDescriptorSet2"), load(push_template2, "vkCmdPushDescriptorSetWithTemplate2");
    load(map2, "vkMapMemory2"), load(unmap2, "vkUnmapMemory2"), load(granularity, "vkGetRenderingAreaGranularity");
    load(device_layout, "vkGetDeviceImageSubresourceLayout"), load(layout2, "vkGetImageSubresourceLayout2");
    load(plain_layout, "vkGetImageSubresourceLayout"), load(bind2, "vkBindBufferMemory2");
    load(memory2, "vkGetPhysicalDeviceMemoryProperties2");
  }
};

const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0, 1); })";
const char* const kWhite = R"(#version 450
layout(location = 0) out vec4 o; void main() { o = vec4(1); })";

// Indices behind the size that was bound are 0, as behind the buffer's end: the triangle has no area.
uint32_t pixels_drawn(Newer& p, uint64_t size_B) {
  const auto target =
      p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const VkRenderPass pass = p.one_subpass();
  const VkFramebuffer framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
  const VkPipelineLayout layout = p.pipeline_layout({});
  VkPipelineCreateFlags2CreateInfo flags{VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO, nullptr,
                                         VK_PIPELINE_CREATE_2_DISABLE_OPTIMIZATION_BIT};
  const VkPipeline with =
      make_pipeline(p, kWhole, kWhite, layout, pass, 0, [&](VkGraphicsPipelineCreateInfo& info) { info.pNext = &flags; });
  const auto indices = p.buffer(16, VK_BUFFER_USAGE_INDEX_BUFFER_BIT),
             out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const uint16_t numbers[] = {9, 0, 1, 2};
  std::memcpy(indices.data, numbers, sizeof numbers);
  VkClearValue black{};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, nullptr, pass,  framebuffer,
                              {{0, 0}, {kSide_px, kSide_px}},           1,       &black};
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  const VkCommandBuffer c = p.begin();
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
  p.CmdSetViewport(c, 0, 1, &viewport);
  p.CmdSetScissor(c, 0, 1, &begin.renderArea);
  p.bind_index_buffer2(c, indices.buffer, 2, size_B, VK_INDEX_TYPE_UINT16);
  p.draw_indexed(c, 3, 1, 0, 0, 0);
  p.CmdEndRenderPass(c);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
  p.CmdCopyImageToBuffer(c, target.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out.buffer, 1, &region);
  p.run(c);
  uint32_t drawn = 0;
  for (uint32_t i = 0; i < kSide_px * kSide_px; ++i) drawn += out.data[4 * i] == 255;
  return drawn;
}

void test_index_buffers(Newer& p) {
  CHECK(pixels_drawn(p, VK_WHOLE_SIZE) == kSide_px * kSide_px);
  CHECK(pixels_drawn(p, 6) == kSide_px * kSide_px);
  CHECK(pixels_drawn(p, 4) == 0);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  const auto few = p.buffer(16, VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
  const VkCommandBuffer c = p.begin();
  p.bind_index_buffer2(c, few.buffer, 8, 16, VK_INDEX_TYPE_UINT16);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("size is 16 B; behind its offset the buffer has 8 B"));
  p.said.clear();
}

// VK_KHR_maintenance7: draws of the primary command buffer and secondary ones in one render pass, in order.
void test_inline_and_secondary(Newer& p) {
  const char* const tinted = R"(#version 450
layout(push_constant) uniform P { vec4 tint; }; layout(location = 0) out vec4 o; void main() { o = tint; })";
  const auto target =
      p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const VkRenderPass pass = p.one_subpass();
  const VkFramebuffer framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
  const VkPipelineLayout layout = p.pipeline_layout({}, {{VK_SHADER_STAGE_FRAGMENT_BIT, 0, 16}});
  const VkPipeline with = make_pipeline(p, kWhole, tinted, layout, pass, 0);
  const auto out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  // Columns from `from` on get the grey; each draw covers a part of the one before.
  const auto draw = [&](VkCommandBuffer c, int32_t from, float grey) {
    const VkRect2D area{{from, 0}, {kSide_px - static_cast<uint32_t>(from), kSide_px}};
    const float tint[4] = {grey, grey, grey, 1};
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &area);
    p.CmdPushConstants(c, layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, 16, tint);
    p.CmdDraw(c, 3, 1, 0, 0);
  };
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, p.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                       1};
  VkCommandBuffer part = nullptr;
  CHECK(p.AllocateCommandBuffers(p.device, &allocate, &part) == VK_SUCCESS);
  VkCommandBufferInheritanceInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, nullptr, pass, 0, framebuffer};
  VkCommandBufferBeginInfo begin_part{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                      VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT, &inherited};
  CHECK(p.BeginCommandBuffer(part, &begin_part) == VK_SUCCESS);
  draw(part, 2, 0.4F);
  CHECK(p.EndCommandBuffer(part) == VK_SUCCESS);
  VkClearValue black{};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, nullptr, pass,  framebuffer,
                              {{0, 0}, {kSide_px, kSide_px}},           1,       &black};
  const VkCommandBuffer c = p.begin();
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_KHR);
  draw(c, 0, 0.2F);
  p.CmdExecuteCommands(c, 1, &part);
  draw(c, 4, 0.6F);
  p.CmdExecuteCommands(c, 1, &part);
  draw(c, 6, 0.8F);
  p.CmdEndRenderPass(c);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
  p.CmdCopyImageToBuffer(c, target.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out.buffer, 1, &region);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  const uint8_t want[kSide_px] = {51, 51, 102, 102, 102, 102, 204, 204};  // the second execution covers the third draw
  for (uint32_t x = 0; x < kSide_px; ++x) CHECK(out.data[4 * x] == want[x] && out.data[4 * (kSide_px * 5 + x)] == want[x]);
}

const char* const kKernel = R"(#version 450
layout(local_size_x = 4) in;
layout(push_constant) uniform P { layout(offset = 4) uint add; };
layout(set = 0, binding = 0) uniform U { uvec4 of_set; };
layout(set = 1, binding = 0) uniform V { uvec4 of_push; };
layout(set = 1, binding = 1) buffer O { uint o[4]; };
void main() { uint i = gl_LocalInvocationID.x; o[i] = of_set[i] + 10 * of_push[i] + add; })";

// Sets, constants and pushed descriptors by their newer commands, the module in the chain of the stage, usage by 64 bits.
void test_binding(Newer& p) {
  VkBufferUsageFlags2CreateInfo usage{VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO, nullptr, VK_BUFFER_USAGE_2_STORAGE_BUFFER_BIT};
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &usage, 0, 64};
  VkBuffer result = nullptr;
  CHECK(p.CreateBuffer(p.device, &info, nullptr, &result) == VK_SUCCESS);
  const VkDeviceMemory memory = p.allocate(64);
  VkResult each = VK_ERROR_UNKNOWN;
  VkBindMemoryStatus status{VK_STRUCTURE_TYPE_BIND_MEMORY_STATUS, nullptr, &each};
  VkBindBufferMemoryInfo bind{VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO, &status, result, memory, 1};
  CHECK(p.bind2(p.device, 1, &bind) != VK_SUCCESS && each != VK_SUCCESS && each != VK_ERROR_UNKNOWN);
  bind.memoryOffset = 0;
  CHECK(p.bind2(p.device, 1, &bind) == VK_SUCCESS && each == VK_SUCCESS);
  p.said.clear();
  void* mapped = nullptr;
  VkMemoryMapInfo map{VK_STRUCTURE_TYPE_MEMORY_MAP_INFO, nullptr, 0, memory, 0, VK_WHOLE_SIZE};
  CHECK(p.map2(p.device, &map, &mapped) == VK_SUCCESS && mapped);
  const auto a = p.buffer(16, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT), b = p.buffer(16, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t one = i + 1, two = 5 - i;
    std::memcpy(a.data + 4 * i, &one, 4), std::memcpy(b.data + 4 * i, &two, 4);
  }
  const VkDescriptorSetLayoutBinding bindings[2] = {{0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_ALL, nullptr},
                                                    {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_ALL, nullptr}};
  const VkDescriptorSetLayout of_set = p.set_layout({bindings[0]});
  const VkDescriptorSetLayout of_push = p.set_layout({bindings[0], bindings[1]}, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
  const VkPipelineLayout layout = p.pipeline_layout({of_set, of_push}, {{VK_SHADER_STAGE_COMPUTE_BIT, 0, 8}});
  const VkDescriptorSet set = p.descriptor_set(of_set);
  const VkDescriptorBufferInfo first{a.buffer, 0, VK_WHOLE_SIZE}, second{b.buffer, 0, VK_WHOLE_SIZE}, third{result, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet writes[3] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    writes[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, i / 2, 0, 1, bindings[i / 2].descriptorType};
    writes[i].pBufferInfo = i == 0 ? &first : i == 1 ? &second : &third;
  }
  p.UpdateDescriptorSets(p.device, 1, writes, 0, nullptr);

  GlslSource source;
  source.text = kKernel, source.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  auto words = compile_glsl(source);
  if (!CHECK(words)) return;
  VkShaderModuleCreateInfo module{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words->size() * 4, words->data()};
  VkComputePipelineCreateInfo pipelines{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  pipelines.stage = {
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, &module, 0, VK_SHADER_STAGE_COMPUTE_BIT, nullptr, "main", nullptr};
  pipelines.layout = layout;
  VkPipeline with = nullptr;
  CHECK(p.CreateComputePipelines(p.device, nullptr, 1, &pipelines, nullptr, &with) == VK_SUCCESS);

  const VkDescriptorUpdateTemplateEntry entries[] = {{0, 0, 1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 0, sizeof first},
                                                     {1, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, sizeof first, sizeof first}};
  VkDescriptorUpdateTemplateCreateInfo templates{VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO, nullptr, 0, 2, entries,
                                                 VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR};
  templates.pipelineBindPoint = VK_PIPELINE_BIND_POINT_COMPUTE, templates.pipelineLayout = layout, templates.set = 1;
  VkDescriptorUpdateTemplate pushed = nullptr;
  CHECK(p.CreateDescriptorUpdateTemplate(p.device, &templates, nullptr, &pushed) == VK_SUCCESS);
  const VkDescriptorBufferInfo both[] = {second, third};

  for (uint32_t round = 0; round < 2; ++round) {
    const uint32_t add = 100 * (round + 1);
    const VkCommandBuffer c = p.begin();
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, with);
    VkBindDescriptorSetsInfo bound{VK_STRUCTURE_TYPE_BIND_DESCRIPTOR_SETS_INFO, nullptr, VK_SHADER_STAGE_ALL, layout, 0, 1, &set};
    p.bind_sets2(c, &bound);
    VkPushConstantsInfo constants{VK_STRUCTURE_TYPE_PUSH_CONSTANTS_INFO, nullptr, layout, VK_SHADER_STAGE_COMPUTE_BIT, 4, 4, &add};
    p.push_constants2(c, &constants);
    VkPushDescriptorSetInfo push{
        VK_STRUCTURE_TYPE_PUSH_DESCRIPTOR_SET_INFO, nullptr, VK_SHADER_STAGE_COMPUTE_BIT, layout, 1, 2, writes + 1};
    VkPushDescriptorSetWithTemplateInfo by{VK_STRUCTURE_TYPE_PUSH_DESCRIPTOR_SET_WITH_TEMPLATE_INFO, nullptr, pushed, layout, 1, both};
    round ? p.push_template2(c, &by) : p.push_set2(c, &push);
    p.CmdDispatch(c, 1, 1, 1);
    p.run(c);
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t got = 0;
      std::memcpy(&got, static_cast<uint8_t*>(mapped) + 4 * i, 4);
      CHECK(got == i + 1 + 10 * (5 - i) + add);
    }
  }
  VkMemoryUnmapInfo unmap{VK_STRUCTURE_TYPE_MEMORY_UNMAP_INFO, nullptr, 0, memory};
  CHECK(p.unmap2(p.device, &unmap) == VK_SUCCESS);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
}

// Of an image that is not there yet the layout that it will have; tiles of one pixel; no commands of versions that nobody asked for.
void test_questions(Newer& p) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D, info.format = VK_FORMAT_R16G16_UINT, info.extent = {33, 17, 1}, info.tiling = VK_IMAGE_TILING_LINEAR;
  info.mipLevels = 3, info.arrayLayers = 2, info.samples = VK_SAMPLE_COUNT_1_BIT, info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  VkImage image = nullptr;
  CHECK(p.CreateImage(p.device, &info, nullptr, &image) == VK_SUCCESS);
  for (uint32_t level = 0; level < 3; ++level) {
    VkImageSubresource2 part{VK_STRUCTURE_TYPE_IMAGE_SUBRESOURCE_2, nullptr, {VK_IMAGE_ASPECT_COLOR_BIT, level, 1}};
    VkDeviceImageSubresourceInfo asked{VK_STRUCTURE_TYPE_DEVICE_IMAGE_SUBRESOURCE_INFO, nullptr, &info, &part};
    VkSubresourceLayout2 before{VK_STRUCTURE_TYPE_SUBRESOURCE_LAYOUT_2}, after{VK_STRUCTURE_TYPE_SUBRESOURCE_LAYOUT_2};
    VkSubresourceLayout plain{};
    p.device_layout(p.device, &asked, &before), p.layout2(p.device, image, &part, &after);
    p.plain_layout(p.device, image, &part.imageSubresource, &plain);
    CHECK(std::memcmp(&before.subresourceLayout, &plain, sizeof plain) == 0 &&
          std::memcmp(&after.subresourceLayout, &plain, sizeof plain) == 0);
    CHECK(plain.rowPitch >= (33U >> level) * 4 && plain.size > 0);
  }
  // Of an aspect, a level and a layer that it doesn't have: nothing.
  for (const VkImageSubresource& none : {VkImageSubresource{VK_IMAGE_ASPECT_DEPTH_BIT, 0, 0},
                                         {VK_IMAGE_ASPECT_COLOR_BIT, 3, 0},
                                         {VK_IMAGE_ASPECT_COLOR_BIT, 0, 2},
                                         {VK_IMAGE_ASPECT_PLANE_0_BIT, 0, 0},
                                         {0, 0, 0}}) {
    const VkImageSubresource2 part{VK_STRUCTURE_TYPE_IMAGE_SUBRESOURCE_2, nullptr, none};
    VkSubresourceHostMemcpySize size{VK_STRUCTURE_TYPE_SUBRESOURCE_HOST_MEMCPY_SIZE, nullptr, 9};
    VkSubresourceLayout2 layout{VK_STRUCTURE_TYPE_SUBRESOURCE_LAYOUT_2, &size};
    layout.subresourceLayout.size = 9;
    p.layout2(p.device, image, &part, &layout);
    CHECK(layout.subresourceLayout.size == 0 && size.size == 0);
  }
  p.DestroyImage(p.device, image, nullptr);
  VkRenderingAreaInfo area{VK_STRUCTURE_TYPE_RENDERING_AREA_INFO};
  VkExtent2D least{};
  p.granularity(p.device, &area, &least);
  CHECK(least.width == 1 && least.height == 1);
  CHECK(!p.GetDeviceProcAddr(p.device, "vkCmdSetCullMode"));  // of 1.3
  CHECK(p.GetDeviceProcAddr(p.device, "vkBindBufferMemory2") && p.GetDeviceProcAddr(p.device, "vkMapMemory2KHR"));
  for (const VkFormat format : {VK_FORMAT_A8_UNORM, VK_FORMAT_A1B5G5R5_UNORM_PACK16}) {
    VkFormatProperties have{};
    p.GetPhysicalDeviceFormatProperties(p.physical_device, format, &have);
    CHECK(have.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT);
  }
}

void test_clocks_and_budget(Newer& p) {
  PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR domains = nullptr;
  PFN_vkGetCalibratedTimestampsKHR timestamps = nullptr;
  p.load(domains, "vkGetPhysicalDeviceCalibrateableTimeDomainsKHR"), p.load(timestamps, "vkGetCalibratedTimestampsKHR");
  uint32_t count = 0;
  CHECK(domains(p.physical_device, &count, nullptr) == VK_SUCCESS && count == 3);
  std::vector<VkTimeDomainKHR> all(count);
  CHECK(domains(p.physical_device, &count, all.data()) == VK_SUCCESS && all[0] == VK_TIME_DOMAIN_DEVICE_KHR);
  const VkCalibratedTimestampInfoKHR infos[] = {{VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_KHR, nullptr, all[0]},
                                                {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_KHR, nullptr, all[1]}};
  uint64_t at[2] = {}, deviation = 0;
  CHECK(timestamps(p.device, 2, infos, at, &deviation) == VK_SUCCESS && at[1] - at[0] <= deviation);
  // A timestamp that is written now is between two of these.
  VkQueryPoolCreateInfo pools{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_TIMESTAMP, 1};
  VkQueryPool pool = nullptr;
  CHECK(p.CreateQueryPool(p.device, &pools, nullptr, &pool) == VK_SUCCESS);
  const VkCommandBuffer c = p.begin();
  p.CmdResetQueryPool(c, pool, 0, 1);
  p.CmdWriteTimestamp(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, pool, 0);
  p.run(c);
  uint64_t written = 0, later = 0;
  CHECK(p.GetQueryPoolResults(p.device, pool, 0, 1, 8, &written, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
  CHECK(timestamps(p.device, 1, infos, &later, &deviation) == VK_SUCCESS && at[0] <= written && written <= later);

  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget};
  p.memory2(p.physical_device, &memory);
  const uint64_t before_B = budget.heapUsage[0];
  const VkDeviceMemory more = p.allocate(1 << 20);
  p.memory2(p.physical_device, &memory);
  CHECK(budget.heapUsage[0] == before_B + (1 << 20) && budget.heapUsage[1] == 0);
  CHECK(budget.heapBudget[0] > budget.heapUsage[0] && budget.heapBudget[0] <= memory.memoryProperties.memoryHeaps[0].size);
  p.FreeMemory(p.device, more, nullptr);
  p.memory2(p.physical_device, &memory);
  CHECK(budget.heapUsage[0] == before_B);
}

}  // namespace

int main() {
  Newer p;
  test_index_buffers(p);
  test_inline_and_secondary(p);
  test_binding(p);
  test_questions(p);
  test_clocks_and_budget(p);
  return finish("test_vulkan_maintenance");
}
