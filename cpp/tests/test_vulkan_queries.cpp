// tests/test_vulkan_queries.cpp -- pipeline statistics and primitives generated on the driver: around passes and dispatches, inside of
// passes, copied to a buffer; results bit by bit.
#include <array>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
const char* const kVertex = R"(#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1, 0, 1); })";
const char* const kFragment = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }";
const char* const kCompute = "#version 450\nlayout(local_size_x = 8, local_size_y = 2) in; void main() {}";

constexpr VkQueryPipelineStatisticFlags kAll = (1U << 11) - 1;

struct Scene {
  Program p;
  VkRenderPass pass = nullptr;
  Program::BoundImage target{};
  VkFramebuffer framebuffer = nullptr;
  VkPipelineLayout layout = nullptr;
  VkPipeline draws = nullptr, computes = nullptr;

  explicit Scene(bool dynamic_rendering = false) {
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, nullptr, VK_TRUE};
    VkPhysicalDeviceFeatures2 enabled{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &dynamic};
    p.GetPhysicalDeviceFeatures(p.physical_device, &enabled.features);
    if (dynamic_rendering) p.remake_device({"VK_KHR_dynamic_rendering", "VK_EXT_primitives_generated_query"}, &enabled);
    pass = p.one_subpass();
    target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
    framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
    VkPipelineLayoutCreateInfo none{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(p.CreatePipelineLayout(p.device, &none, nullptr, &layout) == VK_SUCCESS);
    draws = make_pipeline(p, kVertex, kFragment, layout, pass, 0);
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT, info.stage.pName = "main";
    info.stage.module = p.shader(kCompute, VK_SHADER_STAGE_COMPUTE_BIT), info.layout = layout;
    CHECK(p.CreateComputePipelines(p.device, nullptr, 1, &info, nullptr, &computes) == VK_SUCCESS);
  }
  VkQueryPool pool(VkQueryType type, VkQueryPipelineStatisticFlags statistics = 0) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = type, info.queryCount = 2, info.pipelineStatistics = statistics;
    VkQueryPool made = nullptr;
    CHECK(p.CreateQueryPool(p.device, &info, nullptr, &made) == VK_SUCCESS);
    return made;
  }
  void begin(VkCommandBuffer c) {
    const VkClearValue clear{};
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = kArea;
    begin.clearValueCount = 1, begin.pClearValues = &clear;
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  }
  void draw(VkCommandBuffer c, uint32_t instances) {
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, draws);
    p.CmdSetViewport(c, 0, 1, &viewport);
    p.CmdSetScissor(c, 0, 1, &kArea);
    p.CmdDraw(c, 3, instances, 0, 0);
  }
};

void statistics_of_passes_and_dispatches() {
  Scene s;
  Program& p = s.p;
  PFN_vkCmdCopyQueryPoolResults copy = nullptr;
  p.load(copy, "vkCmdCopyQueryPoolResults");
  const VkQueryPool all = s.pool(VK_QUERY_TYPE_PIPELINE_STATISTICS, kAll);
  const auto copied = p.buffer(256, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkCommandBuffer c = p.begin();
  p.CmdResetQueryPool(c, all, 0, 2);
  p.CmdBeginQuery(c, all, 0, 0);
  s.begin(c);
  s.draw(c, 1);
  p.CmdBeginQuery(c, all, 1, 0);
  s.draw(c, 2);
  p.CmdEndQuery(c, all, 1);
  p.CmdEndRenderPass(c);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, s.computes);
  p.CmdDispatch(c, 3, 1, 2);
  p.CmdEndQuery(c, all, 0);
  p.CmdDispatch(c, 1, 1, 1);
  copy(c, all, 0, 2, copied.buffer, 0, 96, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  uint64_t found[2][12];
  CHECK(p.GetQueryPoolResults(p.device, all, 0, 2, sizeof found, found, 96,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT) == VK_SUCCESS);
  for (int q = 0; q < 2; q++) {
    const uint64_t instances = q ? 2 : 3;
    CHECK(found[q][0] == 3 * instances && found[q][1] == instances && found[q][2] == 3 * instances);
    CHECK(found[q][3] == 0 && found[q][4] == 0 && found[q][8] == 0 && found[q][9] == 0);
    CHECK(found[q][5] == instances && found[q][6] == instances && found[q][7] >= kSide_px * kSide_px);
    CHECK(found[q][10] == (q ? 0 : 3 * 2 * 16) && found[q][11] == 1);
  }
  CHECK(std::memcmp(copied.data, found, sizeof found) == 0);
  // Some bits alone stand behind each other.
  const VkQueryPool some = s.pool(VK_QUERY_TYPE_PIPELINE_STATISTICS, VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT |
                                                                         VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT);
  const VkCommandBuffer again = p.begin();
  p.CmdResetQueryPool(again, some, 0, 2);
  p.CmdBeginQuery(again, some, 1, 0);
  p.CmdBindPipeline(again, VK_PIPELINE_BIND_POINT_COMPUTE, s.computes);
  p.CmdDispatch(again, 1, 1, 1);
  p.CmdEndQuery(again, some, 1);
  p.run(again);
  uint32_t two[4] = {9, 9, 9, 9};
  CHECK(p.GetQueryPoolResults(p.device, some, 0, 2, sizeof two, two, 8, 0) == VK_NOT_READY);
  CHECK(two[0] == 9 && two[1] == 9 && two[2] == 0 && two[3] == 16);
}

/// A pass in parts, with the queries around all of them: what each part draws counts once, as in one pass.
void parts_of_a_suspended_pass_count_once() {
  Scene s(true);
  Program& p = s.p;
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  p.load(begin_rendering, "vkCmdBeginRendering"), p.load(end_rendering, "vkCmdEndRendering");
  const VkQueryPool occlusion = s.pool(VK_QUERY_TYPE_OCCLUSION), all = s.pool(VK_QUERY_TYPE_PIPELINE_STATISTICS, kAll),
                    primitives = s.pool(static_cast<VkQueryType>(VK_QUERY_TYPE_PRIMITIVES_GENERATED_EXT));
  const auto begin = [&](VkCommandBuffer c, VkRenderingFlags flags) {
    VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    color.imageView = s.target.view, color.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.flags = flags, info.renderArea = kArea, info.layerCount = 1, info.colorAttachmentCount = 1, info.pColorAttachments = &color;
    begin_rendering(c, &info);
  };
  // Of a query around the pass, and of one that begins and ends in its first part.
  using Statistics = std::array<std::array<uint64_t, 11>, 2>;
  const auto counted = [&](uint32_t parts, bool suspends) {
    const VkCommandBuffer c = p.begin();
    for (const VkQueryPool pool : {occlusion, all, primitives}) p.CmdResetQueryPool(c, pool, 0, 2), p.CmdBeginQuery(c, pool, 0, 0);
    for (uint32_t i = 0; i < parts; i++) {
      const bool first = i == 0, last = i + 1 == parts;
      if (first || suspends)
        begin(c, suspends ? (first ? 0 : VK_RENDERING_RESUMING_BIT) | (last ? 0 : VK_RENDERING_SUSPENDING_BIT) : VkRenderingFlags{0});
      s.draw(c, 1 + i);
      if (first) p.CmdBeginQuery(c, all, 1, 0), s.draw(c, 1), p.CmdEndQuery(c, all, 1);
      if (last || suspends) end_rendering(c);
    }
    for (const VkQueryPool pool : {occlusion, all, primitives}) p.CmdEndQuery(c, pool, 0);
    p.run(c);
    for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
    const uint64_t drawn = 1 + parts * (parts + 1) / 2;
    uint64_t samples = 0, generated = 0;
    Statistics found{};
    const auto get = [&](VkQueryPool pool, uint32_t count, size_t size_B, void* to) {
      CHECK(p.GetQueryPoolResults(p.device, pool, 0, count, size_B, to, size_B / count, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
    };
    get(occlusion, 1, 8, &samples), get(all, 2, sizeof found, &found), get(primitives, 1, 8, &generated);
    CHECK(samples == drawn * kSide_px * kSide_px && generated == drawn);
    CHECK(found[0][0] == 3 * drawn && found[0][1] == drawn && found[0][7] >= kSide_px * kSide_px);
    CHECK(found[1][0] == 3 && found[1][1] == 1);
    return found;
  };
  for (const uint32_t parts : {1u, 2u, 3u}) CHECK(counted(parts, true) == counted(parts, false));
}

void primitives_are_generated() {
  Scene s;
  Program& p = s.p;
  const VkQueryPool pool = s.pool(static_cast<VkQueryType>(VK_QUERY_TYPE_PRIMITIVES_GENERATED_EXT));
  const VkCommandBuffer c = p.begin();
  p.CmdResetQueryPool(c, pool, 0, 2);
  s.begin(c);
  p.CmdBeginQuery(c, pool, 1, 0);
  s.draw(c, 5);
  p.CmdEndQuery(c, pool, 1);
  s.draw(c, 1);
  p.CmdEndRenderPass(c);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  uint64_t count = 0;
  CHECK(p.GetQueryPoolResults(p.device, pool, 1, 1, 8, &count, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS && count == 5);
  VkPhysicalDeviceFeatures features;
  p.GetPhysicalDeviceFeatures(p.physical_device, &features);
  CHECK(features.pipelineStatisticsQuery);
}

// Of a secondary command buffer that does not say that it may be executed while they are active.
void queries_are_inherited_by_who_says_so() {
  Scene s;
  Program& p = s.p;
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, p.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                       1};
  VkCommandBuffer secondary = nullptr;
  CHECK(p.AllocateCommandBuffers(p.device, &allocate, &secondary) == VK_SUCCESS);
  VkCommandBufferInheritanceInfo inherits{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  inherits.renderPass = s.pass;
  inherits.pipelineStatistics = kAll & ~VkQueryPipelineStatisticFlags{VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT};
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT, begin.pInheritanceInfo = &inherits;
  CHECK(p.BeginCommandBuffer(secondary, &begin) == VK_SUCCESS);
  s.draw(secondary, 1);
  CHECK(p.EndCommandBuffer(secondary) == VK_SUCCESS);
  const struct {
    VkQueryPool pool;
    const char* message;
  } asked[] = {
      {s.pool(VK_QUERY_TYPE_PIPELINE_STATISTICS, kAll),
       "a query of pipeline statistics is active, and its inheritance info does not say pipeline_statistics with all that it counts"},
      {s.pool(VK_QUERY_TYPE_OCCLUSION), "an occlusion query is active, and its inheritance info does not say occlusion_query"}};
  for (const auto& [pool, message] : asked)
    for (const bool around : {false, true}) {  // the pass, or in it
      const VkCommandBuffer c = p.begin();
      p.CmdResetQueryPool(c, pool, 0, 2);
      if (around) p.CmdBeginQuery(c, pool, 0, 0);
      s.begin(c);
      if (!around) p.CmdBeginQuery(c, pool, 0, 0);
      p.CmdExecuteCommands(c, 1, &secondary);
      if (!around) p.CmdEndQuery(c, pool, 0);
      p.CmdEndRenderPass(c);
      if (around) p.CmdEndQuery(c, pool, 0);
      CHECK(p.EndCommandBuffer(c) != VK_SUCCESS);
      CHECK_MESSAGE(p.heard(message), message);
      p.said.clear();
    }
}

}  // namespace

int main() {
  statistics_of_passes_and_dispatches();
  primitives_are_generated();
  parts_of_a_suspended_pass_count_once();
  queries_are_inherited_by_who_says_so();
  return finish("test_vulkan_queries");
}
