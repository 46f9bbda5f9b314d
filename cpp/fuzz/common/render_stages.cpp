// fuzz/common/render_stages.cpp -- see render_stages.hpp.
#include "common/render_stages.hpp"

#include <cstring>

#include "common/bench.hpp"

namespace tilegpu::fuzz {
namespace {

bool is_unsigned(VkFormat f) { return f == VK_FORMAT_R8_UINT || f == VK_FORMAT_R32_UINT; }
bool is_signed(VkFormat f) { return f == VK_FORMAT_R16G16_SINT; }

constexpr const char* kVertexHead =
    "#version 450\nlayout(location = 0) in vec4 position;\nlayout(location = 1) in vec4 color;\nlayout(location = 0) out vec4 v;\n"
    "layout(location = 1) flat out uint n;\n";
constexpr const char* kVertexBody =
    "gl_Position = position + vec4(0.125, 0.0625, 0.03125, 0) * gl_InstanceIndex;\n"
    "gl_PointSize = 1.0 + 3.0 * color.y; v = color; n = gl_InstanceIndex * 7 + gl_VertexIndex;";
/// What a vertex shader has beside that: declarations, and what it does.
constexpr const char* kVertexMore[][2] = {
    {"", ""},
    {"out float gl_ClipDistance[2];\n", "gl_ClipDistance[0] = color.x - 0.3; gl_ClipDistance[1] = 0.8 - color.y;"},
    {"out float gl_CullDistance[1];\n", "gl_CullDistance[0] = color.z - 0.5;"},
    {"invariant gl_Position;\n", "gl_Position.xy *= 1.0 + color.x;"},
};

std::string vertex_text(uint32_t more) {
  return std::string(kVertexHead) + kVertexMore[more][0] + "void main() { " + kVertexBody + kVertexMore[more][1] + " }";
}

/// Each primitive twice, the second turned over and moved; IN, OUT and COUNT by topology.
constexpr const char* kGeometry =
    "#version 450\nlayout(IN) in;\nlayout(OUT, max_vertices = 6) out;\nlayout(location = 0) in vec4 a[];\nlayout(location = 1) flat in "
    "uint b[];\n"
    "layout(location = 0) out vec4 v;\nlayout(location = 1) flat out uint n;\nvoid main() {\n"
    "  for (int copy = 0; copy < 2; copy++) {\n    for (int k = 0; k < gl_in.length(); k++) {\n"
    "      int from = copy == 0 ? k : gl_in.length() - 1 - k;\n      gl_Position = gl_in[from].gl_Position + vec4(0.25, -0.125, 0.0625, 0) "
    "* copy;\n"
    "      gl_PointSize = 2; v = a[from]; n = b[0] + copy; gl_PrimitiveID = gl_PrimitiveIDIn; EmitVertex();\n    }\n"
    "    if ((b[0] & 7u) == 5u) return;\n    EndPrimitive();\n  }\n}";

constexpr const char* kControl =
    "#version 450\nlayout(vertices = 3) out;\nlayout(location = 0) in vec4 a[];\nlayout(location = 1) flat in uint b[];\n"
    "layout(location = 0) out vec4 v[];\nlayout(location = 1) out uint n[];\nvoid main() {\n"
    "  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;\n  v[gl_InvocationID] = a[gl_InvocationID];\n"
    "  n[gl_InvocationID] = b[gl_InvocationID];\n  if (gl_InvocationID == 0) for (int k = 0; k < 4; k++) {\n"
    "    gl_TessLevelOuter[k] = a[0][k] * 6.0;\n    if (k < 2) gl_TessLevelInner[k] = a[1][k] * 5.0;\n  }\n}";
constexpr const char* kEvaluation =
    "#version 450\nlayout(triangles, SPACING, ORDER) in;\nlayout(location = 0) in vec4 a[];\nlayout(location = 1) in uint b[];\n"
    "layout(location = 0) out vec4 v;\nlayout(location = 1) flat out uint n;\nvoid main() {\n  vec3 t = gl_TessCoord;\n"
    "  gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y + gl_in[2].gl_Position * t.z;\n"
    "  v = a[0] * t.x + a[1] * t.y + a[2] * t.z; n = b[0] * 3u + b[1];\n}";
constexpr const char* kSpacings[] = {"equal_spacing", "fractional_even_spacing", "fractional_odd_spacing"};
constexpr const char* kOrders[] = {"cw", "ccw", "cw, point_mode"};

/// What a fragment shader has beside its inputs: attachment 0, words to count in, a texture, a second source.
enum class Uses { nothing, input, counts, map, second };
/// What it does beside writing its colour.
struct Body {
  const char* text;
  Uses uses = Uses::nothing;
};
constexpr Body kBodies[] = {
    {""},
    {"if (((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) & 2) != 0) discard;"},
    {"gl_FragDepth = v.x;"},
    {"gl_SampleMask[0] = int(n * 5u + 3u);"},
    {"v0 += dFdx(v) * 3.0 + fwidth(v.y);"},
    {"if (v.y < 0.3) discard; v0.w = v.z;"},
    {"v0 = gl_FrontFacing ? v : v.wzyx; for (uint k = 0u; k < (n & 7u); k++) v0 = v0 * 0.75 + v.yzwx * 0.25;"},
    {"v0 *= interpolateAtOffset(v, vec2(0.25, -0.25));"},
    {"v0.x = float(gl_SampleID) * 0.1 + gl_SamplePosition.y;"},
    {"v0 = v0 * 0.5 + INPUT * 0.25;", Uses::input},
    {"atomicAdd(counts[n & 15u], 1u);", Uses::counts},
    {"if (v.x < 0.25) discard; atomicMax(counts[n & 15u], uint(gl_FragCoord.x) * 3u + uint(gl_FragCoord.y));", Uses::counts},
    {"v0 = texture(map, v.xy * 5.0) + dFdy(v.z);", Uses::map},
    {"v0 = v.w < 0.5 ? texture(map, v.zy * vec2(3.0, 0.5), 0.75) : textureLod(map, v.xy, v.z * 4.0);", Uses::map},
    {"v0 = vec4(textureQueryLod(map, v.xy * 9.0), dFdxFine(v.x), dFdyFine(v.y));", Uses::map},
    {"v0.xy = vec2(gl_SubgroupInvocationID, gl_SubgroupLeMask.x) / 15.0;"},
    {"v0 = subgroupQuadSwapDiagonal(v) * 0.5 + subgroupQuadBroadcast(v, 2u) * 0.25;"},
    {"uvec4 b = subgroupBallot(v.x < 0.5); v0.x = float(b.x) / 15.0; v0.y = subgroupAdd(v.y) * 0.2; v0.z = subgroupElect() ? 1.0 : 0.0;"},
    {"if (v.y < 0.4) v0 = subgroupShuffleXor(v, 1u); else if (subgroupAny(v.z > 0.6)) v0.z = subgroupMax(v.x);"},
    {"if (v.x < 0.3) demote; v0.x = dFdx(v.y * v.z) + (helperInvocationEXT() ? 1.0 : 0.0);"},
    {"v0.x = gl_HelperInvocation ? 1.0 : 0.5; v0.yz = dFdx(v0.xx) + 0.5; v0.w = float(gl_SampleMaskIn[0]) / 15.0;"},
    {"v0 = interpolateAtCentroid(v) * 0.5 + interpolateAtSample(v, 1) * 0.5;"},
    {"v0 = unpackUnorm4x8(uint(gl_PrimitiveID) * 2654435761u) + vec4(gl_PointCoord, 0, 0);"},
    {"if (v.x < 0.7) second = v.yzwx;", Uses::second},
    {"if (v.y < 0.2) { v0.x = 0.125; gl_FragDepth = v.z; } else gl_FragDepth = gl_FragCoord.z;"},
};
constexpr const char* kVersion =
    "#version 450\n#extension GL_KHR_shader_subgroup_arithmetic : require\n#extension GL_KHR_shader_subgroup_ballot : require\n"
    "#extension GL_KHR_shader_subgroup_vote : require\n#extension GL_KHR_shader_subgroup_shuffle : require\n"
    "#extension GL_KHR_shader_subgroup_quad : require\n#extension GL_EXT_demote_to_helper_invocation : require\n";
constexpr const char* kHeads[] = {"", "layout(early_fragment_tests) in;\n", "layout(depth_greater) out float gl_FragDepth;\n"};

std::string fragment_text(const std::vector<VkFormat>& colors, uint32_t body, uint32_t head, VkSampleCountFlagBits samples) {
  if (kBodies[body].uses == Uses::input && (colors.empty() || !colors[0])) body = 0;
  if (kBodies[body].uses == Uses::second && (colors.size() != 1 || !colors[0] || is_integer(colors[0]))) body = 0;
  const char* const first = kBodies[body].uses == Uses::second ? ", index = 0" : "";
  const bool writes_depth = std::strstr(kBodies[body].text, "gl_FragDepth") != nullptr;
  if (head == (writes_depth ? 1u : 2u)) head = 0;
  std::string text = kVersion + std::string(kHeads[head]) + "layout(location = 0) in vec4 v;\nlayout(location = 1) flat in uint n;\n",
              writes;
  for (size_t k = 0; k < colors.size(); k++) {
    if (colors[k] == VK_FORMAT_UNDEFINED) continue;
    const std::string name = "o" + std::to_string(k), type = is_unsigned(colors[k]) ? "uvec4" : is_signed(colors[k]) ? "ivec4" : "vec4";
    text += "layout(location = " + std::to_string(k) + first + ") out " + type + " " + name + ";\n";
    writes += "  " + name + " = " + (is_integer(colors[k]) ? type + "(v0 * 200.0)" : "v0 * " + std::to_string(k + 1) + ".0") + ";\n";
  }
  std::string own = kBodies[body].text;
  if (kBodies[body].uses == Uses::input) {
    const std::string prefix = is_unsigned(colors[0]) ? "u" : is_signed(colors[0]) ? "i" : "", many = samples > 1 ? "MS" : "";
    text += "layout(input_attachment_index = 0, set = 0, binding = 0) uniform " + prefix + "subpassInput" + many + " before;\n";
    own.replace(own.find("INPUT"), 5, samples > 1 ? "vec4(subpassLoad(before, gl_SampleID))" : "vec4(subpassLoad(before))");
  }
  if (kBodies[body].uses == Uses::second) text += "layout(location = 0, index = 1) out vec4 second;\n";
  if (kBodies[body].uses == Uses::map) text += "layout(set = 2, binding = 0) uniform sampler2D map;\n";
  if (kBodies[body].uses == Uses::counts) text += "layout(set = 1, binding = 0) buffer Counts { uint counts[16]; };\n";
  return text + "void main() {\n  vec4 v0 = v;\n  " + own + "\n" + writes + "}";
}

std::string with(std::string text, const std::string& name, const std::string& value) {
  return text.replace(text.find(name), name.size(), value);
}

ShaderStage stage_of(const std::string& text, VkShaderStageFlagBits stage) {
  const Ptr<ShaderModule> made = own_shader(text, stage);
  if (!made) finding("a shader of the fuzzer's own does not compile: " + text);
  return {made, {}};
}

std::string geometry_text(VkPrimitiveTopology topology) {
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      return with(with(kGeometry, "IN", "points"), "OUT", "points");
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
      return with(with(kGeometry, "IN", "lines"), "OUT", "line_strip");
    default:
      return with(with(kGeometry, "IN", "triangles"), "OUT", "triangle_strip");
  }
}

}  // namespace

bool is_integer(VkFormat format) { return is_unsigned(format) || is_signed(format); }

std::vector<ShaderStage> render_stages(Choices& c, const std::vector<VkFormat>& colors, VkSampleCountFlagBits samples, bool plain,
                                       VkPrimitiveTopology& topology) {
  constexpr uint32_t kPlainBodies[] = {0, 0, 1, 5};  // what discards writes depth where it is tested
  const uint32_t body = plain ? c.of(kPlainBodies) : c.below(std::size(kBodies)), head = plain ? 0 : c.below(std::size(kHeads));
  const uint32_t more = !plain && c.seldom(4) ? c.below(std::size(kVertexMore)) : 0;
  std::vector<ShaderStage> stages = {stage_of(vertex_text(more), VK_SHADER_STAGE_VERTEX_BIT)};
  if (!plain && c.seldom(8)) {
    stages.push_back(stage_of(kControl, VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT));
    stages.push_back(
        stage_of(with(with(kEvaluation, "SPACING", c.of(kSpacings)), "ORDER", c.of(kOrders)), VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT));
    topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
  } else if (!plain && c.seldom(8)) {
    stages.push_back(stage_of(geometry_text(topology), VK_SHADER_STAGE_GEOMETRY_BIT));
  }
  const ShaderStage fragment = stage_of(fragment_text(colors, body, head, samples), VK_SHADER_STAGE_FRAGMENT_BIT);
  if (!c.seldom(16)) stages.push_back(fragment);
  return stages;
}

}  // namespace tilegpu::fuzz
