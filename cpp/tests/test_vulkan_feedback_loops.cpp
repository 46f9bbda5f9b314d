// tests/test_vulkan_feedback_loops.cpp -- VK_EXT_attachment_feedback_loop_layout and _dynamic_state: draws that read what they draw to,
// with barriers between them and without. Oracle: the closed form of what the shaders write, pixel by pixel.
#include <functional>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 100;  // several tiles, the last ones cut
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
constexpr VkFormat kColor = VK_FORMAT_R32_UINT, kDepth = VK_FORMAT_D32_SFLOAT;
constexpr uint32_t kBefore = 5, kRounds = 4;

const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0.25, 1); })";
const char* const kStep = R"(#version 450
layout(set = 0, binding = 0) uniform usampler2D t;
layout(location = 0) out uint o;
void main() { ivec2 p = ivec2(gl_FragCoord.xy); o = texelFetch(t, p, 0).x * 3 + 1 + p.x + 7 * p.y; })";
const char* const kStepOfSamples = R"(#version 450
layout(set = 0, binding = 0) uniform usampler2DMS t;
layout(location = 0) out uint o;
void main() { ivec2 p = ivec2(gl_FragCoord.xy); o = texelFetch(t, p, gl_SampleID).x * 3 + 1 + p.x + 7 * p.y; })";
const char* const kFromLeft = R"(#version 450
layout(set = 0, binding = 0) uniform usampler2D t;
layout(location = 0) out uint o;
void main() { ivec2 p = ivec2(gl_FragCoord.xy); o = texelFetch(t, ivec2(p.x - 50, p.y), 0).x + 1000; })";
const char* const kOfDepth = R"(#version 450
layout(set = 0, binding = 0) uniform sampler2D t;
layout(location = 0) out uint o;
void main() { o = uint(texelFetch(t, ivec2(gl_FragCoord.xy), 0).x * 1024); })";

uint32_t stepped(uint32_t value, uint32_t x, uint32_t y) { return value * 3 + 1 + x + 7 * y; }

enum class Loops : uint8_t { none, flag, dynamic };

struct Scene {
  Program p;
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  PFN_vkCmdSetAttachmentFeedbackLoopEnableEXT set_loops = nullptr;
  VkDescriptorSetLayout set_layout = nullptr;
  VkPipelineLayout layout = nullptr;
  VkSampler sampler = nullptr;
  Program::MappedBuffer out{};

  Scene() {
    VkPhysicalDeviceAttachmentFeedbackLoopDynamicStateFeaturesEXT state{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_DYNAMIC_STATE_FEATURES_EXT, nullptr, VK_TRUE};
    VkPhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT loops{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_LAYOUT_FEATURES_EXT, &state, VK_TRUE};
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, &loops, VK_TRUE};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &dynamic};
    features.features.sampleRateShading = features.features.pipelineStatisticsQuery = features.features.occlusionQueryPrecise = VK_TRUE;
    p.remake_device({"VK_KHR_dynamic_rendering", "VK_EXT_attachment_feedback_loop_layout", "VK_EXT_attachment_feedback_loop_dynamic_state"},
                    &features);
    p.load(begin_rendering, "vkCmdBeginRendering"), p.load(end_rendering, "vkCmdEndRendering");
    p.load(set_loops, "vkCmdSetAttachmentFeedbackLoopEnableEXT");
    set_layout = p.set_layout({{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr}});
    layout = p.pipeline_layout({set_layout});
    VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    CHECK(p.CreateSampler(p.device, &info, nullptr, &sampler) == VK_SUCCESS);
    out = p.buffer(size_t{kSide_px} * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }

  Program::BoundImage target(VkFormat format = kColor, VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT) {
    const VkImageUsageFlags drawn = format == kDepth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    return p.image(format, kSide_px, kSide_px,
                   drawn | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT,
                   false, samples);
  }
  VkDescriptorSet reads(VkImageView view) {
    const VkDescriptorSet set = p.descriptor_set(set_layout);
    const VkDescriptorImageInfo image{sampler, view, VK_IMAGE_LAYOUT_ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,    nullptr, set, 0, 0, 1,
                               VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, &image};
    p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
    return set;
  }
  VkPipeline pipeline(const char* fragment, Loops loops, bool depth = false, VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT) {
    return make_pipeline(p, kWhole, fragment, layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
      static const VkFormat format = kColor;
      static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR,
                                              VK_DYNAMIC_STATE_ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT};
      static VkPipelineRenderingCreateInfo rendering;
      rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 1, &format, depth ? kDepth : VK_FORMAT_UNDEFINED};
      info.pNext = &rendering;
      if (loops == Loops::flag)
        info.flags |= depth ? VK_PIPELINE_CREATE_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT
                            : VK_PIPELINE_CREATE_COLOR_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT;
      auto* dynamic = const_cast<VkPipelineDynamicStateCreateInfo*>(info.pDynamicState);
      dynamic->dynamicStateCount = loops == Loops::dynamic ? 3 : 2, dynamic->pDynamicStates = states;
      const_cast<VkPipelineMultisampleStateCreateInfo*>(info.pMultisampleState)->rasterizationSamples = samples;
      auto* tests = const_cast<VkPipelineDepthStencilStateCreateInfo*>(info.pDepthStencilState);
      tests->depthTestEnable = tests->depthWriteEnable = depth, tests->depthCompareOp = VK_COMPARE_OP_ALWAYS;
    });
  }

  void begin_pass(VkCommandBuffer c, VkImageView color, VkAttachmentLoadOp load, const VkRect2D& area = kArea, VkImageView depth = nullptr,
                  VkImageView resolve = nullptr, VkRenderingFlags flags = 0) {
    VkRenderingAttachmentInfo a{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO}, d = a;
    a.imageView = color, a.imageLayout = VK_IMAGE_LAYOUT_ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT;
    a.loadOp = load, a.storeOp = resolve ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE;
    a.clearValue.color.uint32[0] = kBefore;
    if (resolve) a.resolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, a.resolveImageView = resolve;
    d.imageView = depth, d.imageLayout = VK_IMAGE_LAYOUT_ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT;
    d.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, d.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE, d.clearValue.depthStencil.depth = 0.75F;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, nullptr, flags, area, 1, 0, 1, &a};
    if (depth) info.pDepthAttachment = &d;
    begin_rendering(c, &info);
  }
  void state(VkCommandBuffer c, VkPipeline with, VkDescriptorSet set) {
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &kArea);
    p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
  }
  void barrier(VkCommandBuffer c) {
    const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                 VK_ACCESS_SHADER_READ_BIT};
    p.CmdPipelineBarrier(c, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                         VK_DEPENDENCY_BY_REGION_BIT | VK_DEPENDENCY_FEEDBACK_LOOP_BIT_EXT, 1, &memory, 0, nullptr, 0, nullptr);
  }
  /// Each pixel is `value(x, y)`.
  void expect(VkCommandBuffer c, const Program::BoundImage& from, const std::function<uint32_t(uint32_t, uint32_t)>& value) {
    p.run_and_read(c, from, kSide_px, out.buffer);
    uint32_t wrong = 0;
    for (uint32_t y = 0; y < kSide_px; ++y)
      for (uint32_t x = 0; x < kSide_px; ++x) {
        uint32_t got;
        std::memcpy(&got, out.data + (size_t{y} * kSide_px + x) * 4, 4);
        wrong += got != value(x, y);
      }
    CHECK_MESSAGE(wrong == 0, std::to_string(wrong) + " pixels differ");
  }
};

uint32_t after_rounds(uint32_t x, uint32_t y, uint32_t rounds) {
  uint32_t value = kBefore;
  for (uint32_t i = 0; i < rounds; ++i) value = stepped(value, x, y);
  return value;
}

// A barrier before each draw: each sees what the last one drew, the first the clear. Without barriers all see what was before the pass.
void test_rounds(Loops loops) {
  Scene s;
  const auto color = s.target();
  const VkPipeline step = s.pipeline(kStep, loops);
  const VkDescriptorSet set = s.reads(color.view);
  for (const bool barriers : {true, false}) {
    const VkCommandBuffer c = s.p.begin();
    s.begin_pass(c, color.view, VK_ATTACHMENT_LOAD_OP_CLEAR);
    if (!barriers) s.end_rendering(c), s.begin_pass(c, color.view, VK_ATTACHMENT_LOAD_OP_LOAD);
    s.state(c, step, set);
    if (loops == Loops::dynamic) s.set_loops(c, VK_IMAGE_ASPECT_COLOR_BIT);
    for (uint32_t i = 0; i < kRounds; ++i) {
      if (barriers) s.barrier(c);
      s.p.CmdDraw(c, 3, 1, 0, 0);
    }
    s.end_rendering(c);
    if (loops == Loops::none) {  // what Vulkan forbids is done, and said once
      const auto told = std::count_if(s.p.said.begin(), s.p.said.end(), [](const std::string& text) {
        return text.find("reads color0 of this pass") != std::string::npos &&
               text.find("which its load_op clear writes") != std::string::npos;
      });
      if (barriers) CHECK(told == 1);
      s.p.said.clear();
    }
    s.expect(c, color, [&](uint32_t x, uint32_t y) { return after_rounds(x, y, barriers ? kRounds : 1); });
  }
}

// What lies outside of the render area may be read anywhere: it is the left half.
void test_outside_of_the_area() {
  Scene s;
  const auto color = s.target();
  const VkPipeline step = s.pipeline(kStep, Loops::flag), from_left = s.pipeline(kFromLeft, Loops::flag);
  const VkDescriptorSet set = s.reads(color.view);
  const VkCommandBuffer c = s.p.begin();
  s.begin_pass(c, color.view, VK_ATTACHMENT_LOAD_OP_CLEAR);
  s.state(c, step, set);
  s.barrier(c), s.p.CmdDraw(c, 3, 1, 0, 0);
  s.end_rendering(c);
  s.begin_pass(c, color.view, VK_ATTACHMENT_LOAD_OP_LOAD, {{50, 0}, {50, kSide_px}});
  s.state(c, from_left, set);
  s.p.CmdDraw(c, 3, 1, 0, 0);
  s.end_rendering(c);
  s.expect(c, color, [](uint32_t x, uint32_t y) { return x < 50 ? stepped(kBefore, x, y) : stepped(kBefore, x - 50, y) + 1000; });
}

// Depth that the pass writes and does not store; what the first draw left is there behind the barrier.
void test_depth() {
  Scene s;
  const auto color = s.target(), depth = s.target(kDepth);
  const VkPipeline read = s.pipeline(kOfDepth, Loops::flag, true);
  const VkDescriptorSet set = s.reads(depth.view);
  const VkCommandBuffer c = s.p.begin();
  s.begin_pass(c, color.view, VK_ATTACHMENT_LOAD_OP_CLEAR, kArea, depth.view);
  s.state(c, read, set);
  s.barrier(c);
  const VkRect2D left = {{0, 0}, {50, kSide_px}};
  s.p.CmdSetScissor(c, 0, 1, &left);
  s.p.CmdDraw(c, 3, 1, 0, 0);  // reads the clear, 0.75, and writes 0.25
  s.p.CmdSetScissor(c, 0, 1, &kArea);
  s.barrier(c);
  s.p.CmdDraw(c, 3, 1, 0, 0);
  s.end_rendering(c);
  s.expect(c, color, [](uint32_t x, uint32_t) { return x < 50 ? 256U : 768U; });
}

// Four samples, each of which reads itself; they are not stored, and resolved at the end.
void test_samples() {
  Scene s;
  const auto color = s.target(kColor, VK_SAMPLE_COUNT_4_BIT), resolved = s.target();
  const VkPipeline step = s.pipeline(kStepOfSamples, Loops::flag, false, VK_SAMPLE_COUNT_4_BIT);
  const VkDescriptorSet set = s.reads(color.view);
  const VkCommandBuffer c = s.p.begin();
  s.begin_pass(c, color.view, VK_ATTACHMENT_LOAD_OP_CLEAR, kArea, nullptr, resolved.view);
  s.state(c, step, set);
  for (uint32_t i = 0; i < kRounds; ++i) s.barrier(c), s.p.CmdDraw(c, 3, 1, 0, 0);
  s.end_rendering(c);
  s.expect(c, resolved, [](uint32_t x, uint32_t y) { return after_rounds(x, y, kRounds); });
}

// Queries that are active where the pass is split count on, and are available when they end.
void test_queries() {
  Scene s;
  const auto color = s.target();
  const VkPipeline step = s.pipeline(kStep, Loops::flag);
  const VkDescriptorSet set = s.reads(color.view);
  const auto pool_of = [&](VkQueryType type, VkQueryPipelineStatisticFlags statistics) {
    const VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, type, 2, statistics};
    VkQueryPool pool = nullptr;
    CHECK(s.p.CreateQueryPool(s.p.device, &info, nullptr, &pool) == VK_SUCCESS);
    return pool;
  };
  const VkQueryPool samples = pool_of(VK_QUERY_TYPE_OCCLUSION, 0);
  const VkQueryPool shaded = pool_of(VK_QUERY_TYPE_PIPELINE_STATISTICS, VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT);
  const VkCommandBuffer c = s.p.begin();
  for (const VkQueryPool pool : {samples, shaded}) s.p.CmdResetQueryPool(c, pool, 0, 2);
  s.begin_pass(c, color.view, VK_ATTACHMENT_LOAD_OP_CLEAR);
  s.state(c, step, set);
  s.barrier(c);
  s.p.CmdBeginQuery(c, samples, 0, VK_QUERY_CONTROL_PRECISE_BIT), s.p.CmdBeginQuery(c, shaded, 0, 0);
  s.p.CmdDraw(c, 3, 1, 0, 0);
  s.barrier(c);
  s.p.CmdDraw(c, 3, 1, 0, 0);
  s.p.CmdEndQuery(c, samples, 0), s.p.CmdEndQuery(c, shaded, 0);
  s.p.CmdBeginQuery(c, samples, 1, VK_QUERY_CONTROL_PRECISE_BIT), s.p.CmdBeginQuery(c, shaded, 1, 0);
  s.barrier(c);
  s.p.CmdDraw(c, 3, 1, 0, 0);
  s.p.CmdEndQuery(c, samples, 1), s.p.CmdEndQuery(c, shaded, 1);
  s.p.CmdDraw(c, 3, 1, 0, 0);
  s.end_rendering(c);
  s.expect(c, color, [](uint32_t x, uint32_t y) { return after_rounds(x, y, 3); });  // the last draw reads what the third read
  uint64_t counts[2] = {};
  CHECK(s.p.GetQueryPoolResults(s.p.device, samples, 0, 2, sizeof counts, counts, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
  CHECK(counts[0] == 2 * kSide_px * kSide_px && counts[1] == kSide_px * kSide_px);
  CHECK(s.p.GetQueryPoolResults(s.p.device, shaded, 0, 2, sizeof counts, counts, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
  CHECK(counts[0] == 2 && counts[1] == 1);
  for (const VkQueryPool pool : {samples, shaded}) s.p.DestroyQueryPool(s.p.device, pool, nullptr);
}

// Secondary command buffers: a barrier between two of them splits the pass, and so does one within, also of one that another executes.
// Within a query of the secondary's own it is refused by name.
void test_secondaries() {
  Scene s;
  const auto color = s.target();
  const VkPipeline step = s.pipeline(kStep, Loops::flag);
  const VkDescriptorSet set = s.reads(color.view);
  VkQueryPool pool = nullptr;
  const VkQueryPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_OCCLUSION, 1, 0};
  CHECK(s.p.CreateQueryPool(s.p.device, &pool_info, nullptr, &pool) == VK_SUCCESS);
  const auto part = [&](uint32_t draws, bool in_query = false) {
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, s.p.pool,
                                         VK_COMMAND_BUFFER_LEVEL_SECONDARY, 1};
    VkCommandBuffer c = nullptr;
    CHECK(s.p.AllocateCommandBuffers(s.p.device, &allocate, &c) == VK_SUCCESS);
    const VkFormat format = kColor;
    VkCommandBufferInheritanceRenderingInfo rendering{
        VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO, nullptr, 0, 0, 1, &format};
    rendering.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    const VkCommandBufferInheritanceInfo inheritance{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, &rendering};
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT, &inheritance};
    CHECK(s.p.BeginCommandBuffer(c, &begin) == VK_SUCCESS);
    s.state(c, step, set);
    if (in_query) s.p.CmdBeginQuery(c, pool, 0, 0);
    for (uint32_t i = 0; i < draws; ++i) {
      if (i) s.barrier(c);
      s.p.CmdDraw(c, 3, 1, 0, 0);
    }
    if (in_query) s.p.CmdEndQuery(c, pool, 0);
    CHECK(s.p.EndCommandBuffer(c) == VK_SUCCESS);
    return c;
  };
  const VkCommandBuffer one = part(1), other = part(1), two = part(2), four = part(4), counted = part(2, true);
  const auto begun = [&] {
    const VkCommandBuffer c = s.p.begin();
    s.begin_pass(c, color.view, VK_ATTACHMENT_LOAD_OP_CLEAR, kArea, nullptr, nullptr, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
    s.barrier(c);
    return c;
  };
  VkCommandBuffer c = begun();
  s.p.CmdExecuteCommands(c, 1, &one);
  s.barrier(c);
  s.p.CmdExecuteCommands(c, 1, &other);
  s.end_rendering(c);
  s.expect(c, color, [](uint32_t x, uint32_t y) { return after_rounds(x, y, 2); });
  for (const auto& [executed, rounds] : {std::pair{std::vector{two}, 2u}, {{four}, 4u}, {{four, two}, 6u - 1u}, {{one, four}, 4u}}) {
    c = begun();
    s.p.CmdExecuteCommands(c, static_cast<uint32_t>(executed.size()), executed.data());
    s.end_rendering(c);
    s.expect(c, color, [rounds = rounds](uint32_t x, uint32_t y) { return after_rounds(x, y, rounds); });
  }
  c = begun();
  s.p.CmdExecuteCommands(c, 1, &counted);
  s.end_rendering(c);
  CHECK(s.p.EndCommandBuffer(c) != VK_SUCCESS);
  if (CHECK(!s.p.said.empty()))
    CHECK_MESSAGE(
        s.p.said.front().find("has a barrier between draws of one query or transform feedback, and reads color0 of this pass behind it") !=
            std::string::npos,
        s.p.said.front());
  s.p.said.clear();
  s.p.DestroyQueryPool(s.p.device, pool, nullptr);
}

}  // namespace

int main() {
  test_rounds(Loops::flag), test_rounds(Loops::dynamic), test_rounds(Loops::none);
  test_outside_of_the_area();
  test_depth();
  test_samples();
  test_queries();
  test_secondaries();
  return test::finish("test_vulkan_feedback_loops");
}
