// tests/test_vulkan_primitives.cpp -- tessellation and geometry shaders, transform feedback, attribute divisors and counts of indirect
// draws on the driver: all in one pipeline, whose vertices come back in a buffer. What each computes: tests/test_primitive_stages.py.
#include <algorithm>
#include <array>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
// clang-format off
constexpr const char* kVertex = R"(#version 450
layout(location = 0) in float shared_; layout(location = 0) out vec2 seen;
void main() { gl_Position = vec4(0, 0, 0, 1); seen = vec2(shared_, gl_VertexIndex + 100 * gl_InstanceIndex); })";
constexpr const char* kControl = R"(#version 450
layout(vertices = 3) out;
layout(location = 0) in vec2 seen[]; layout(location = 0) out vec2 kept[];
void main() {
  kept[gl_InvocationID] = seen[gl_InvocationID];
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 1.0;
})";
constexpr const char* kEvaluation = R"(#version 450
layout(triangles, point_mode) in;
layout(location = 0) in vec2 kept[]; layout(location = 0) out vec2 seen;
void main() { gl_Position = vec4(0, 0, 0, 1); seen = kept[gl_TessCoord.x == 1 ? 0 : gl_TessCoord.y == 1 ? 1 : 2]; })";
constexpr const char* kGeometry = R"(#version 450
layout(points) in; layout(points, max_vertices = 2) out;
layout(location = 0) in vec2 seen[];
layout(location = 0, xfb_buffer = 0, xfb_stride = 8, xfb_offset = 0) out vec2 caught;
void main() { for (int i = 0; i < 2; i++) { caught = seen[0] + vec2(0, 0.5 * i); gl_Position = vec4(0, 0, 0, 1); EmitVertex(); } })";
constexpr const char* kStreams = R"(#version 450
layout(points) in; layout(points, max_vertices = 3) out;
layout(location = 0) in vec2 seen[];
layout(location = 0, stream = 0, xfb_buffer = 0, xfb_stride = 8, xfb_offset = 0) out vec2 caught;
layout(location = 1, stream = 1, xfb_buffer = 1, xfb_stride = 8, xfb_offset = 0) out vec2 others;
void main() {
  gl_Position = vec4(0, 0, 0, 1); caught = seen[0]; EmitStreamVertex(0);
  for (int i = 0; i < 2; i++) { others = seen[0] + vec2(0, i); EmitStreamVertex(1); } })";
#define TILEGPU_MORE(X) X(CmdBindTransformFeedbackBuffersEXT) X(CmdBeginTransformFeedbackEXT) X(CmdEndTransformFeedbackEXT) \
  X(CmdBeginQueryIndexedEXT) X(CmdEndQueryIndexedEXT) X(CmdDrawIndirectByteCountEXT) X(CmdDrawIndirectCountKHR) X(CmdDrawIndirect)
// clang-format on

struct Scene : Program {
#define TILEGPU_VK(name) PFN_vk##name name = nullptr;
  TILEGPU_MORE(TILEGPU_VK)
#undef TILEGPU_VK
  VkRenderPass pass = nullptr;
  BoundImage target{};
  VkFramebuffer view = nullptr;
  VkPipelineLayout layout = nullptr;
  VkQueryPool queries = nullptr;
  MappedBuffer attributes{}, commands{}, caught{}, counter{};

  Scene() {
#define TILEGPU_VK(name) load(name, "vk" #name);
    TILEGPU_MORE(TILEGPU_VK)
#undef TILEGPU_VK
    pass = one_subpass();
    target = image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
    view = framebuffer(pass, {target.view}, kSide_px);
    VkPipelineLayoutCreateInfo none{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(CreatePipelineLayout(device, &none, nullptr, &layout) == VK_SUCCESS);
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT, info.queryCount = 1;
    CHECK(CreateQueryPool(device, &info, nullptr, &queries) == VK_SUCCESS);
    attributes = buffer(64, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    commands = buffer(64, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
    caught = buffer(1024, VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT);
    counter = buffer(16, VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
  }

  VkPipeline pipeline(const char* geometry = kGeometry) {
    const std::array<std::pair<const char*, VkShaderStageFlagBits>, 4> texts = {{{kVertex, VK_SHADER_STAGE_VERTEX_BIT},
                                                                                 {kControl, VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT},
                                                                                 {kEvaluation, VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT},
                                                                                 {geometry, VK_SHADER_STAGE_GEOMETRY_BIT}}};
    std::vector<VkPipelineShaderStageCreateInfo> stages;
    for (const auto& [text, stage] : texts)
      stages.push_back({VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, stage, shader(text, stage), "main", nullptr});
    const VkVertexInputBindingDescription binding{0, 4, VK_VERTEX_INPUT_RATE_INSTANCE};
    const VkVertexInputAttributeDescription attribute{0, 0, VK_FORMAT_R32_SFLOAT, 0};
    const VkVertexInputBindingDivisorDescriptionEXT by_two{0, 2};
    const VkPipelineVertexInputDivisorStateCreateInfoEXT divisors{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT,
                                                                  nullptr, 1, &by_two};
    const VkPipelineVertexInputStateCreateInfo input{
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO, &divisors, 0, 1, &binding, 1, &attribute};
    VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
    const VkPipelineTessellationStateCreateInfo patches{VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO, nullptr, 0, 3};
    VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.rasterizerDiscardEnable = VK_TRUE, raster.lineWidth = 1;
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    info.stageCount = static_cast<uint32_t>(stages.size()), info.pStages = stages.data();
    info.pVertexInputState = &input, info.pInputAssemblyState = &assembly, info.pTessellationState = &patches;
    info.pRasterizationState = &raster, info.layout = layout, info.renderPass = pass;
    VkPipeline made = nullptr;
    CHECK(CreateGraphicsPipelines(device, nullptr, 1, &info, nullptr, &made) == VK_SUCCESS);
    return made;
  }
  void begin_pass(VkCommandBuffer c) const {
    const VkClearValue clear{};
    VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    info.renderPass = pass, info.framebuffer = view, info.renderArea = kArea, info.clearValueCount = 1, info.pClearValues = &clear;
    CmdBeginRenderPass(c, &info, VK_SUBPASS_CONTENTS_INLINE);
  }
  /// One pass that captures from the counter on, and leaves it there. `draw` records draws.
  template <class Draw>
  void capture(VkCommandBuffer c, VkPipeline with, Draw draw) {
    const VkDeviceSize zero = 0;
    begin_pass(c);
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    CmdBindVertexBuffers(c, 0, 1, &attributes.buffer, &zero);
    CmdBindTransformFeedbackBuffersEXT(c, 0, 1, &caught.buffer, &zero, nullptr);
    CmdBeginTransformFeedbackEXT(c, 0, 1, &counter.buffer, &zero);
    draw();
    CmdEndTransformFeedbackEXT(c, 0, 1, &counter.buffer, &zero);
    CmdEndRenderPass(c);
  }
};

// Of three commands two are drawn; each instance's attribute is that of its pair; each of a patch's three points is caught twice.
void every_stage_in_one_pipeline() {
  Scene s;
  const float values[] = {10, 20, 30};
  std::memcpy(s.attributes.data, values, sizeof values);
  const uint32_t commands[] = {3, 3, 0, 0, 6, 1, 3, 0, 3, 9, 0, 0, /* how many: */ 2};
  std::memcpy(s.commands.data, commands, sizeof commands);
  const VkPipeline all = s.pipeline();
  VkCommandBuffer c = s.begin();
  s.CmdResetQueryPool(c, s.queries, 0, 1);
  s.capture(c, all, [&] {
    s.CmdBeginQueryIndexedEXT(c, s.queries, 0, 0, 0);
    s.CmdDrawIndirectCountKHR(c, s.commands.buffer, 0, s.commands.buffer, 48, 3, 16);
    s.CmdEndQueryIndexedEXT(c, s.queries, 0, 0);
  });
  s.run(c);
  std::vector<std::pair<float, float>> want;
  for (float twice : {0.0F, 0.5F}) {
    for (uint32_t instance = 0; instance < 3; ++instance)
      for (uint32_t v = 0; v < 3; ++v) want.emplace_back(values[instance / 2], static_cast<float>(v + 100 * instance) + twice);
    for (uint32_t v = 3; v < 9; ++v) want.emplace_back(values[0], static_cast<float>(v) + twice);
  }
  std::sort(want.begin(), want.end());
  const auto* found = reinterpret_cast<const std::pair<float, float>*>(s.caught.data);
  std::vector<std::pair<float, float>> got(found, found + want.size());
  std::sort(got.begin(), got.end());
  CHECK(got == want);
  uint64_t results[2] = {};
  CHECK(s.GetQueryPoolResults(s.device, s.queries, 0, 1, sizeof results, results, sizeof results, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
  CHECK(results[0] == want.size() && results[1] == want.size());
  uint32_t written_B = 0;
  std::memcpy(&written_B, s.counter.data, 4);
  CHECK(written_B == want.size() * 8);

  // As many vertices as were written, behind them: 30 of 8 bytes are ten patches.
  c = s.begin();
  s.capture(c, all, [&] { s.CmdDrawIndirectByteCountEXT(c, 1, 0, s.counter.buffer, 0, 0, 8); });
  s.run(c);
  std::memcpy(&written_B, s.counter.data, 4);
  CHECK(written_B == want.size() * 8 + 30 * 2 * 8);
  for (const std::string& text : s.said) CHECK_MESSAGE(false, text);
}

// Two queries of one pool around two passes, each of a stream of its own: three points a patch, of which stream 1 has two each.
void streams_are_counted_over_passes() {
  Scene s;
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT, info.queryCount = 2;
  VkQueryPool both = nullptr;
  CHECK(s.CreateQueryPool(s.device, &info, nullptr, &both) == VK_SUCCESS);
  const VkPipeline streams = s.pipeline(kStreams);
  const auto others = s.buffer(1024, VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT);
  const VkCommandBuffer c = s.begin();
  const VkDeviceSize zero = 0;
  s.CmdResetQueryPool(c, both, 0, 2);
  for (uint32_t stream = 0; stream < 2; ++stream) s.CmdBeginQueryIndexedEXT(c, both, stream, 0, stream);
  for (int pass = 0; pass < 2; ++pass)
    s.capture(c, streams, [&] {
      s.CmdEndTransformFeedbackEXT(c, 0, 0, nullptr, nullptr);
      s.CmdBindTransformFeedbackBuffersEXT(c, 1, 1, &others.buffer, &zero, nullptr);
      s.CmdBeginTransformFeedbackEXT(c, 0, 0, nullptr, nullptr);
      s.CmdDraw(c, 6, 2, 0, 0);
    });
  for (uint32_t stream = 0; stream < 2; ++stream) s.CmdEndQueryIndexedEXT(c, both, stream, stream);
  s.run(c);
  uint64_t results[4] = {};
  CHECK(s.GetQueryPoolResults(s.device, both, 0, 2, sizeof results, results, 16, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
  constexpr uint64_t kPoints = 2 * 2 * 2 * 3;  // passes, instances, patches, points
  CHECK(results[0] == kPoints && results[1] == kPoints && results[2] == 2 * kPoints && results[3] == 2 * kPoints);
  for (const std::string& text : s.said) CHECK_MESSAGE(false, text);
  s.DestroyQueryPool(s.device, both, nullptr);
  s.destroy(others);
}

// Buffers that are null, and an interval that nobody ends: errors of vkEndCommandBuffer, named.
void wrong_use_is_said() {
  Scene s;
  const VkDeviceSize zero = 0;
  const VkBuffer none = nullptr;
  VkCommandBuffer c = s.begin();
  s.CmdBindTransformFeedbackBuffersEXT(c, 0, 1, &none, &zero, nullptr);
  CHECK(s.EndCommandBuffer(c) != VK_SUCCESS);
  CHECK(s.heard("bind_transform_feedback_buffers: buffer 0 is null"));
  c = s.begin();
  s.begin_pass(c);
  s.CmdBindTransformFeedbackBuffersEXT(c, 0, 1, &s.caught.buffer, &zero, nullptr);
  s.CmdBeginTransformFeedbackEXT(c, 0, 0, nullptr, nullptr);
  s.CmdEndRenderPass(c);
  CHECK(s.EndCommandBuffer(c) != VK_SUCCESS);
  CHECK(s.heard("while transform feedback is active"));
}

// Places whose end is beyond 2^64: behind the buffer, not at its begin.
void offsets_that_wrap_are_refused() {
  Scene s;
  const VkPipeline all = s.pipeline();
  const VkBuffer commands = s.commands.buffer, counter = s.counter.buffer;
  const auto refused = [&](const char* what, auto draw) {
    s.said.clear();
    const VkCommandBuffer c = s.begin();
    s.capture(c, all, [&] { draw(c); });
    CHECK(s.EndCommandBuffer(c) != VK_SUCCESS);
    CHECK_MESSAGE(s.heard(what), what);
  };
  for (const VkDeviceSize far : {~VkDeviceSize{3}, ~VkDeviceSize{15}, ~VkDeviceSize{0} / 2 + 1}) {
    refused("draw_indirect:", [&](VkCommandBuffer c) { s.CmdDrawIndirect(c, commands, far, 1, 16); });
    refused("draw_indirect:", [&](VkCommandBuffer c) { s.CmdDrawIndirectCountKHR(c, commands, far, commands, 48, 3, 16); });
    refused("draw_indirect_count:", [&](VkCommandBuffer c) { s.CmdDrawIndirectCountKHR(c, commands, 0, commands, far, 3, 16); });
    refused("draw_indirect_byte_count:", [&](VkCommandBuffer c) { s.CmdDrawIndirectByteCountEXT(c, 1, 0, counter, far, 0, 8); });
    refused("end_transform_feedback:", [&](VkCommandBuffer c) { s.CmdEndTransformFeedbackEXT(c, 0, 1, &counter, &far); });
    refused("begin_transform_feedback:", [&](VkCommandBuffer c) {
      s.CmdEndTransformFeedbackEXT(c, 0, 0, nullptr, nullptr);
      s.CmdBeginTransformFeedbackEXT(c, 0, 1, &counter, &far);
    });
  }
}

}  // namespace

int main() {
  every_stage_in_one_pipeline();
  streams_are_counted_over_passes();
  wrong_use_is_said();
  offsets_that_wrap_are_refused();
  return finish("test_vulkan_primitives");
}
