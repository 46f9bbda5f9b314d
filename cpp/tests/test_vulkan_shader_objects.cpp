// tests/test_vulkan_shader_objects.cpp -- VK_EXT_shader_object: every combination of stages, linked and not, of SPIR-V and of binaries, and
// every state, draws the bytes that a pipeline draws which fixes it. Oracle: pipelines, which other tests look at.
#include <cstdlib>

#include "shader_object_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

const std::string kMeshAlone = [] {
  std::string text = kMeshText;
  for (size_t at; (at = text.find("ROW")) != std::string::npos;) text.replace(at, 3, "0");
  return text.replace(text.find("PAYLOAD"), 7, "");
}();
const std::string kMeshOfTask = [] {
  std::string text = kMeshText;
  for (size_t at; (at = text.find("ROW")) != std::string::npos;) text.replace(at, 3, "chosen.row");
  return text.replace(text.find("PAYLOAD"), 7, "struct Row { uint row; }; taskPayloadSharedEXT Row chosen;");
}();
struct Combination {
  const char* name;
  Stages stages;
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
};

std::vector<Combination> combinations() {
  constexpr auto kControl = VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, kEvaluation = VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT;
  constexpr auto kGeometry = VK_SHADER_STAGE_GEOMETRY_BIT, kTask = VK_SHADER_STAGE_TASK_BIT_EXT, kMesh = VK_SHADER_STAGE_MESH_BIT_EXT;
  constexpr auto kPatches = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
  return {
      {"vertex, fragment", {{kVert, kVertexText}, {kFrag, kFragmentText}}},
      {"vertex", {{kVert, kVertexText}}},
      {"vertex, geometry, fragment", {{kVert, kVertexText}, {kGeometry, kGeometryText}, {kFrag, kFragmentText}}},
      {"vertex, tessellation, fragment",
       {{kVert, kVertexText}, {kControl, kControlText}, {kEvaluation, kEvaluationText}, {kFrag, kFragmentText}},
       kPatches},
      {"vertex, tessellation, geometry, fragment",
       {{kVert, kVertexText}, {kControl, kControlText}, {kEvaluation, kEvaluationText}, {kGeometry, kGeometryText}, {kFrag, kFragmentText}},
       kPatches},
      {"mesh, fragment", {{kMesh, kMeshAlone.c_str()}, {kFrag, kFragmentText}}},
      {"task, mesh, fragment", {{kTask, kTaskText}, {kMesh, kMeshOfTask.c_str()}, {kFrag, kFragmentText}}},
  };
}

std::vector<uint8_t> binary_of(const ShaderObjectScene& s, VkShaderEXT shader) {
  size_t size_B = 0;
  CHECK(s.GetShaderBinaryDataEXT(s.device, shader, &size_B, nullptr) == VK_SUCCESS && size_B > 64);
  std::vector<uint8_t> out(size_B);
  CHECK(s.GetShaderBinaryDataEXT(s.device, shader, &size_B, out.data()) == VK_SUCCESS && size_B == out.size());
  return out;
}

/// The same shaders from what the driver wrote of them.
std::vector<VkShaderEXT> from_binaries(ShaderObjectScene& s, const Stages& stages, const std::vector<VkShaderEXT>& list, bool linked) {
  std::vector<std::vector<uint8_t>> binaries;
  for (const VkShaderEXT shader : list) binaries.push_back(binary_of(s, shader));
  size_t next = 0;
  auto out = s.shaders(stages, linked, [&](VkShaderCreateInfoEXT& info) {
    info.codeType = VK_SHADER_CODE_TYPE_BINARY_EXT;
    info.codeSize = binaries[next].size(), info.pCode = binaries[next].data();
    ++next;
  });
  for (size_t i = 0; i < out.size(); ++i) CHECK(out[i] && binary_of(s, out[i]) == binaries[i]);
  return out;
}

void test_stages(ShaderObjectScene& s) {
  std::vector<uint8_t> empty;
  for (const Combination& each : combinations()) {
    if (!tries_next()) continue;
    Look look;
    look.topology = each.topology;
    const auto want = s.by_pipeline(each.stages, look);
    if (std::strcmp(each.name, "vertex") == 0) empty = want;
    for (const bool linked : {false, true}) {
      const auto list = s.shaders(each.stages, linked);
      CHECK_MESSAGE(s.by_shaders(each.stages, list, look) == want, each.name);
      const auto again = from_binaries(s, each.stages, list, linked);
      s.destroy(list);
      CHECK_MESSAGE(s.by_shaders(each.stages, again, look) == want, std::string(each.name) + ", binaries");
      s.destroy(again);
    }
    CHECK_MESSAGE(empty.empty() || want != empty || std::strcmp(each.name, "vertex") == 0, each.name);  // something is drawn
  }
}

// --- states

using Change = std::function<void(Look&)>;
struct Case {
  const char* name;
  Change change;
  bool same = false;  ///< as without the change
};

std::vector<Case> raster_cases() {
  const auto lines = [](Look& l) { l.topology = VK_PRIMITIVE_TOPOLOGY_LINE_STRIP, l.line_width = 3; };
  return {
      {"strip", [](Look& l) { l.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP; }},
      {"fan", [](Look& l) { l.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN; }},
      {"points", [](Look& l) { l.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST; }},
      {"restart", [](Look& l) { l.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, l.indexed = l.restart = true; }},
      {"discard", [](Look& l) { l.discard = true; }},
      {"cull back", [](Look& l) { l.cull = VK_CULL_MODE_BACK_BIT; }},
      {"cull front", [](Look& l) { l.cull = VK_CULL_MODE_FRONT_BIT; }},
      {"front face", [](Look& l) { l.front = VK_FRONT_FACE_COUNTER_CLOCKWISE; }},
      {"polygon lines", [](Look& l) { l.polygon = VK_POLYGON_MODE_LINE; }},
      {"polygon points", [](Look& l) { l.polygon = VK_POLYGON_MODE_POINT; }},
      {"lines", lines},
      {"lines of 5", [=](Look& l) { lines(l), l.line_width = 5; }},
      {"rectangular lines", [=](Look& l) { lines(l), l.line_mode = VK_LINE_RASTERIZATION_MODE_RECTANGULAR_EXT; }},
      {"stippled lines",
       [=](Look& l) {
         lines(l), l.line_width = 1, l.line_mode = VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT;
         l.stipple = true, l.stipple_factor = 2, l.stipple_pattern = 0x5a3c;
       }},
      {"depth bias", [](Look& l) { l.depth_bias = true, l.bias[0] = 1000, l.bias[2] = -2, l.depth_op = VK_COMPARE_OP_GREATER_OR_EQUAL; }},
      {"depth clamp", [](Look& l) { l.depth_clamp = true; }},
      {"depth clamp to a range", [](Look& l) { l.depth_clamp = l.user_clamp = true; }},
      {"depth clip", [](Look& l) { l.depth_clamp = true, l.depth_clip = true; }, true},
      {"no depth clip", [](Look& l) { l.depth_clip = false; }},
      {"clip from -w", [](Look& l) { l.negative_one = true; }},
      {"provoking vertex", [](Look& l) { l.provoking_last = true; }},
      {"conservative", [](Look& l) { l.conservative = VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT, l.extra_px = 0.5F; }},
      {"viewport", [](Look& l) { l.viewports = {{4, 2, 20, 24, 0.25F, 0.75F}}; }},
      {"scissor", [](Look& l) { l.scissors = {{{3, 5}, {20, 11}}}; }},
      {"several viewports", [](Look& l) { l.viewports.push_back({0, 0, 8, 8, 0, 1}), l.scissors.push_back(kArea); }, true},
      {"shading rate", [](Look& l) { l.rate = {2, 2}; }},
      {"discard rectangles", [](Look& l) { l.cut = {{{3, 5}, {9, 11}}, {{14, 2}, {7, 25}}}; }},
      {"all but rectangles",
       [](Look& l) { l.cut = {{{3, 5}, {9, 11}}, {{14, 2}, {7, 25}}}, l.cut_mode = VK_DISCARD_RECTANGLE_MODE_INCLUSIVE_EXT; }},
      {"instances", [](Look& l) { l.instances = 3; }},
      {"divisor", [](Look& l) { l.instances = 4, l.divisor = 2; }},
      {"stride", [](Look& l) { l.stride_B = 16; }},
      {"attribute", [](Look& l) { l.attribute_offset_B = 0, l.tint = VK_FORMAT_R8G8B8A8_UNORM; }},
  };
}

std::vector<Case> output_cases() {
  const auto four = [](Look& l) { l.samples = VK_SAMPLE_COUNT_4_BIT; };
  const auto blend = [](Look& l) { l.blend[0].blendEnable = l.blend[1].blendEnable = VK_TRUE; };
  const auto stencil = [](Look& l) { l.stencil_test = true; };
  return {
      {"no depth test", [](Look& l) { l.depth_test = false; }},
      {"no depth write", [](Look& l) { l.depth_write = false; }},
      {"depth op", [](Look& l) { l.depth_op = VK_COMPARE_OP_GREATER; }},
      {"depth bounds", [](Look& l) { l.bounds_test = true, l.bounds[0] = 0.4F, l.bounds[1] = 1; }},
      {"stencil", stencil},
      {"stencil op", [=](Look& l) { stencil(l), l.stencil.passOp = VK_STENCIL_OP_INVERT, l.stencil.compareOp = VK_COMPARE_OP_LESS; }},
      {"stencil masks", [=](Look& l) { stencil(l), l.stencil.compareMask = 2, l.stencil.reference = 2, l.stencil.writeMask = 4; }},
      {"stencil reference", [=](Look& l) { stencil(l), l.stencil.reference = 2, l.stencil.compareOp = VK_COMPARE_OP_GREATER; }},
      {"four samples", four},
      {"sample mask", [=](Look& l) { four(l), l.sample_mask = 5; }},
      {"sample locations", [=](Look& l) { four(l), l.locations = true; }},
      {"alpha to coverage", [=](Look& l) { four(l), l.alpha_to_coverage = true; }},
      {"alpha to one", [=](Look& l) { four(l), l.alpha_to_one = true; }},
      {"blend", blend},
      {"blend one colour", [](Look& l) { l.blend[1].blendEnable = VK_TRUE; }},
      {"blend constants", [=](Look& l) { blend(l), l.constants[1] = 0.875F, l.constants[2] = 0; }},
      {"blend equation", [=](Look& l) { blend(l), l.blend[0].dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA; }},
      {"blend advanced", [=](Look& l) { blend(l), l.advanced = true; }},
      {"write mask", [](Look& l) { l.blend[0].colorWriteMask = 5, l.blend[1].colorWriteMask = 8; }},
      {"write enable", [](Look& l) { l.write_enable[1] = VK_FALSE; }},
      {"logic op", [](Look& l) { l.logic = true; }},
      {"another logic op", [](Look& l) { l.logic = true, l.logic_op = VK_LOGIC_OP_AND_INVERTED; }},
  };
}

// One pair of shaders for all of them.
void test_states(ShaderObjectScene& s) {
  const Stages stages = {{kVert, kVertexText}, {kFrag, kFragmentText}};
  const auto list = s.shaders(stages, false);
  const auto plain = s.by_pipeline(stages, {});
  CHECK(s.by_shaders(stages, list, {}) == plain);
  for (const auto& cases : {raster_cases(), output_cases()})
    for (const Case& each : cases) {
      if (!tries_next()) continue;
      Look look;
      each.change(look);
      const auto want = s.by_pipeline(stages, look);
      CHECK_MESSAGE((want == plain) == each.same, each.name);
      CHECK_MESSAGE(s.by_shaders(stages, list, look) == want, each.name);
    }
  s.destroy(list);
}

void test_tessellation_state(ShaderObjectScene& s) {
  const Stages stages = combinations()[3].stages;
  const auto list = s.shaders(stages, true);
  Look look;
  look.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
  const auto plain = s.by_shaders(stages, list, look);
  look.origin = VK_TESSELLATION_DOMAIN_ORIGIN_LOWER_LEFT;
  const auto turned = s.by_shaders(stages, list, look);
  CHECK(turned != plain && turned == s.by_pipeline(stages, look));
  s.destroy(list);
}

// Outputs of a control shader may be arrays of more vertices than it puts out, as Mesa's Zink declares them: those that are there count.
// And of fewer: each vertex that it puts out has an element.
void test_room_for_other_vertices(ShaderObjectScene& s) {
  const Stages stages = combinations()[4].stages;
  Look look;
  look.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
  const auto want = s.by_pipeline(stages, look);
  auto& words = s.words[{stages[1].first, stages[1].second}];
  const auto as_made = words;
  for (const uint32_t length : {32U, 2U, 1U}) {
    words = as_made;
    uint32_t changed = 0;
    for (size_t at = 5; at + 3 < words.size(); at += words[at] >> 16)
      if (words[at] == (4U << 16 | 43) && words[at + 3] == 3) words[at + 3] = length, changed++;  // OpConstant: the length of arrays
    CHECK(changed == 1);
    CHECK(s.by_pipeline(stages, look) == want);
    const auto list = s.shaders(stages, true);
    CHECK(s.by_shaders(stages, list, look) == want);
    s.destroy(list);
  }
}

// States one after the other, in one command buffer: each draw has those of its own.
void test_changes_between_draws(ShaderObjectScene& s) {
  const Stages stages = {{kVert, kVertexText}, {kFrag, kFragmentText}};
  const auto list = s.shaders(stages, true);
  std::vector<Case> cases;
  for (auto& of : {raster_cases(), output_cases()})
    for (const Case& each : of) cases.push_back(each);
  std::vector<Look> looks;
  for (const Case& each : cases) {
    Look look;
    each.change(look);
    if (look.samples == VK_SAMPLE_COUNT_1_BIT && !look.discard) looks.push_back(look);
  }
  const auto record = [&](const auto& next) {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c);
    for (const Look& look : looks) {
      next(c, look);
      s.draw(c, stages, look);
    }
    s.CmdEndRenderingKHR(c);
    return s.picture(c);
  };
  std::vector<VkPipeline> made;
  const auto want = record([&](VkCommandBuffer c, const Look& look) {
    made.push_back(s.pipeline(stages, look));
    s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made.back());
  });
  bool bound = false;
  const auto seen = record([&](VkCommandBuffer c, const Look& look) {
    if (!std::exchange(bound, true)) s.bind(c, stages, list);
    s.set(c, look);
  });
  CHECK(seen == want);
  // Every other draw by a pipeline: what it fixes must be set again.
  size_t next = 0;
  const auto mixed = record([&](VkCommandBuffer c, const Look& look) {
    const size_t i = next++;
    if (i % 2) return s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made[i]);
    s.bind(c, stages, list);
    s.set(c, look);
  });
  CHECK(mixed == want);
  for (const VkPipeline pipeline : made) s.DestroyPipeline(s.device, pipeline, nullptr);
  s.destroy(list);
}

// Strides that come with the buffers, in place of those of the vertex input, and again of another draw.
void test_strides(ShaderObjectScene& s) {
  const Stages stages = {{kVert, kVertexText}, {kFrag, kFragmentText}};
  const auto list = s.shaders(stages, false);
  const VkBuffer buffers[] = {s.vertices.buffer, s.instances.buffer};
  const VkDeviceSize zeros[2] = {}, whole[2] = {sizeof(Vertex), 8}, half[2] = {16, 8};
  Look of_half;
  of_half.stride_B = 16;
  const VkPipeline by[2] = {s.pipeline(stages, {}), s.pipeline(stages, of_half)};
  const auto picture = [&](const std::function<void(VkCommandBuffer, int)>& before) {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c);
    if (!before) s.bind(c, stages, list), s.set(c, of_half);
    for (const int k : {0, 1}) {
      if (before)
        before(c, k), s.CmdBindVertexBuffers(c, 0, 2, buffers, zeros);
      else
        s.CmdBindVertexBuffers2EXT(c, 0, 2, buffers, zeros, nullptr, k ? half : whole);
      s.CmdDraw(c, kVertexCount, 1, 0, 0);
    }
    s.CmdEndRenderingKHR(c);
    return s.picture(c);
  };
  const auto want = picture([&](VkCommandBuffer c, int k) { s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, by[k]); });
  CHECK(picture({}) == want && want != s.by_pipeline(stages, {}));
  for (const VkPipeline pipeline : by) s.DestroyPipeline(s.device, pipeline, nullptr);
  s.destroy(list);
}

// Draws without a fragment shader, and with no colours, between others: what was set of colours stays.
void test_colours_stay(ShaderObjectScene& s) {
  const Stages stages = {{kVert, kVertexText}, {kFrag, kFragmentText}}, depth_alone = {{kVert, kVertexText}};
  const auto list = s.shaders(stages, false);
  Look look;
  look.depth_test = false, look.blend[0].blendEnable = look.blend[1].blendEnable = VK_TRUE;
  const auto record = [&](const std::function<void(VkCommandBuffer, const Stages&, bool)>& bind) {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c);
    for (const int k : {0, 1, 2}) {
      const Stages& of = k == 1 ? depth_alone : stages;
      bind(c, of, k == 0);
      s.draw(c, of, look);
    }
    s.CmdEndRenderingKHR(c);
    return s.picture(c);
  };
  const auto want = record(
      [&](VkCommandBuffer c, const Stages& of, bool) { s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, s.pipeline(of, look)); });
  const auto seen = record([&](VkCommandBuffer c, const Stages& of, bool first) {
    if (first) s.set(c, look);
    s.bind(c, of, list);  // as many as there are stages
  });
  CHECK(seen == want);
  s.destroy(list);
}

// What Vulkan asks for of a device without other features.
void set_least(ShaderObjectScene& s, VkCommandBuffer c, const Look& look) {
  s.CmdSetViewportWithCountEXT(c, 1, look.viewports.data()), s.CmdSetScissorWithCountEXT(c, 1, look.scissors.data());
  s.CmdSetRasterizerDiscardEnableEXT(c, VK_FALSE), s.CmdSetPolygonModeEXT(c, look.polygon), s.CmdSetCullModeEXT(c, look.cull);
  s.CmdSetFrontFaceEXT(c, look.front), s.CmdSetDepthBiasEnableEXT(c, VK_FALSE);
  s.CmdSetRasterizationSamplesEXT(c, look.samples), s.CmdSetSampleMaskEXT(c, look.samples, &look.sample_mask);
  s.CmdSetAlphaToCoverageEnableEXT(c, VK_FALSE);
  s.CmdSetDepthTestEnableEXT(c, VK_TRUE), s.CmdSetDepthWriteEnableEXT(c, VK_TRUE), s.CmdSetDepthCompareOpEXT(c, look.depth_op);
  s.CmdSetStencilTestEnableEXT(c, VK_FALSE);
  const VkBool32 off[2] = {};
  const VkColorComponentFlags all[2] = {15, 15};
  s.CmdSetColorBlendEnableEXT(c, 0, 2, off), s.CmdSetColorWriteMaskEXT(c, 0, 2, all);
  s.set_input(c, look);
}

// A device with the extension alone: states of features that it did not enable are none that a draw asks for. One that is set nevertheless
// holds from then on.
void test_extension_alone() {
  ShaderObjectScene s(false);
  s.CmdBeginRenderingKHR = reinterpret_cast<PFN_vkCmdBeginRenderingKHR>(s.GetDeviceProcAddr(s.device, "vkCmdBeginRenderingKHR"));
  const Stages stages = {{kVert, kVertexText}, {kFrag, kFragmentText}};
  const auto list = s.shaders(stages, false);
  Look look, clamped;
  clamped.depth_clamp = true;
  const auto picture = [&](bool again) {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c);
    s.bind(c, stages, list);
    set_least(s, c, look);
    s.draw(c, stages, look);
    if (again) s.CmdSetDepthClampEnableEXT(c, VK_TRUE), s.draw(c, stages, look);
    s.CmdEndRenderingKHR(c);
    return s.picture(c);
  };
  const auto once = picture(false), twice = picture(true);
  s.destroy(list);
  ShaderObjectScene whole;
  CHECK(once == whole.by_pipeline(stages, look) && once != twice);
  const VkCommandBuffer c = whole.begin();
  whole.begin_pass(c);
  for (const Look& each : {look, clamped}) {
    whole.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, whole.pipeline(stages, each));
    whole.draw(c, stages, each);
  }
  whole.CmdEndRenderingKHR(c);
  CHECK(twice == whole.picture(c));
}

// Where nothing is rasterized nothing of it need be set.
void test_discard(ShaderObjectScene& s) {
  const Stages stages = {{kVert, kVertexText}, {kFrag, kFragmentText}};
  const auto list = s.shaders(stages, false);
  Look look;
  look.discard = true;
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c);
  s.bind(c, stages, list);
  s.CmdSetRasterizerDiscardEnableEXT(c, VK_TRUE);
  s.CmdSetViewportWithCountEXT(c, 1, look.viewports.data());
  s.set_input(c, look);
  s.draw(c, stages, look);
  s.CmdEndRenderingKHR(c);
  CHECK(s.picture(c) == s.by_pipeline(stages, look));
  s.destroy(list);
}

void test_without_depth(ShaderObjectScene& s) {
  const Stages stages = {{kVert, kVertexText}, {kFrag, kFragmentText}};
  const auto list = s.shaders(stages, false);
  Look look;
  look.stencil_test = look.bounds_test = true;  // ignored, as there is nothing to test
  CHECK(s.by_shaders(stages, list, look, false) == s.by_pipeline(stages, look, false));
  s.destroy(list);
}

}  // namespace

int main() {
  struct Way {
    const char *lanes, *threads, *bin_px;
    bool all;
  };
  // Stages and changes at each; every state at one.
  for (const Way& way : {Way{"8", "2", "32", true}, {"4", "1", "64", false}, {"16", "3", "128", false}}) {
    setenv("TILEGPU_LANES", way.lanes, 1), setenv("TILEGPU_THREADS", way.threads, 1), setenv("TILEGPU_BIN", way.bin_px, 1);
    ShaderObjectScene s;
    test_stages(s);
    test_changes_between_draws(s);
    if (!way.all) continue;
    test_states(s);
    test_tessellation_state(s);
    test_room_for_other_vertices(s);
    test_strides(s);
    test_colours_stay(s);
    test_without_depth(s);
    test_discard(s);
    test_extension_alone();
  }
  return finish("test_vulkan_shader_objects");
}
