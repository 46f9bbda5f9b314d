// fuzz/common/sampling_shader.cpp -- see sampling_shader.hpp.
#include "common/sampling_shader.hpp"

#include <cassert>

namespace tilegpu::fuzz {
namespace {

/// What GLSL calls a view's type, and how coordinates, their derivatives and texels of it are written.
struct Dimension {
  const char *name, *at, *d, *compared, *texel, *offset;
};

const Dimension& dimension_of(VkImageViewType type) {
  static constexpr Dimension kDimensions[] = {
      {"1D", "c.x", "x", "vec3(c.x, 0, dy.w)", "i.x", "int"},
      {"2D", "c.xy", "xy", "vec3(c.xy, dy.w)", "i.xy", "ivec2"},
      {"3D", "c.xyz", "xyz", "", "i.xyz", "ivec3"},
      {"Cube", "c.xyz", "xyz", "vec4(c.xyz, dy.w)", "", ""},
      {"1DArray", "c.xw", "x", "vec3(c.xw, dy.w)", "i.xw", "int"},
      {"2DArray", "c.xyw", "xy", "vec4(c.xyw, dy.w)", "i.xyw", "ivec2"},
      {"CubeArray", "c", "xyz", "c, dy.w", "", ""},
  };
  assert(static_cast<size_t>(type) < std::size(kDimensions));
  return kDimensions[type];
}

std::string constant_offset(const Dimension& d, uint32_t number) {
  const int* o = kOffsets[number];
  std::string text = std::string(d.offset) + "(" + std::to_string(o[0]);
  const std::string type = d.offset;
  if (type != "int") text += ", " + std::to_string(o[1]);
  if (type == "ivec3") text += ", " + std::to_string(o[2]);
  return text + ")";
}

/// Several look-ups that don't wait for each other, of which the compiler makes one call (decision 529).
std::string together_text(const SampleKind& kind) {
  assert(kind.op == SampleOp::implicit && kind.type == VK_IMAGE_VIEW_TYPE_2D && !kind.compares && !*kind.prefix);
  static_assert(2 * kTogether <= kSamplesHigh);
  const std::string wide = std::to_string(kSamplesWide), high = std::to_string(kSamplesHigh), count = std::to_string(kTogether);
  std::string text =
      "#version 450\nlayout(binding = 0) uniform sampler2D t;\n"
      "layout(binding = 1) readonly buffer C { vec4 all[]; };\nlayout(location = 0) out vec4 result;\n"
      "vec2 at(int k) { ivec2 p = ivec2(gl_FragCoord.xy); p.y = (p.y + 2 * k + " +
      high + ") % " + high + "; return all[4 * (p.y * " + wide +
      " + p.x)].xy; }\n"
      "void main() {\n  ivec2 q = ivec2(gl_FragCoord.xy) / 2;\n  int taken = (q.x + q.y) % " +
      count + ";\n  vec4 v[" + count + "];\n  vec2 p[" + count + "];\n";
  for (uint32_t k = 0; k < kTogether; k++) {
    const std::string n = std::to_string(k);
    text += "  p[" + n + "] = at(" + n + " - taken);\n";
  }
  for (uint32_t k = 0; k < kTogether; k++) text += "  v[" + std::to_string(k) + "] = texture(t, p[" + std::to_string(k) + "]);\n";
  for (uint32_t k = 0; k < kTogether; k++) {
    const std::string n = std::to_string(k);
    const bool own = kind.component == 1 || (kind.component == 2 && k) || (kind.component == 3 && k + 1 < kTogether);
    text +=
        "  if (taken == " + n + ") result = " + (own ? "vec4(v[" + n + "].rgb, textureLod(t, p[" + n + "], 0).a)" : "v[" + n + "]") + ";\n";
  }
  return text + "}";
}

}  // namespace

bool is_possible(const SampleKind& kind) {
  const bool is_cube = kind.type == VK_IMAGE_VIEW_TYPE_CUBE || kind.type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
  const bool is_plane = kind.type == VK_IMAGE_VIEW_TYPE_2D || kind.type == VK_IMAGE_VIEW_TYPE_2D_ARRAY;
  const bool is_line = kind.type == VK_IMAGE_VIEW_TYPE_1D || kind.type == VK_IMAGE_VIEW_TYPE_1D_ARRAY;
  if (kind.compares && kind.type == VK_IMAGE_VIEW_TYPE_3D) return false;
  switch (kind.op) {
    case SampleOp::implicit:
      return true;
    case SampleOp::biased:
      return !kind.compares || is_line || kind.type == VK_IMAGE_VIEW_TYPE_2D || kind.type == VK_IMAGE_VIEW_TYPE_CUBE;
    case SampleOp::lod:
      return !kind.compares || is_line || kind.type == VK_IMAGE_VIEW_TYPE_2D;
    case SampleOp::gradient:
      return !kind.compares || kind.type != VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
    case SampleOp::clamped:
      return !kind.compares;
    case SampleOp::offset_lod:
      return !is_cube && (!kind.compares || kind.type != VK_IMAGE_VIEW_TYPE_2D_ARRAY);
    case SampleOp::offset_gradient:
      return !is_cube;
    case SampleOp::gather:
      return is_plane || is_cube;
    case SampleOp::gather_offset:
      return is_plane;
    case SampleOp::fetch:
      return !is_cube && !kind.compares;
    case SampleOp::query_lod:
    case SampleOp::size:
      return !kind.compares;
    default:
      return false;
  }
}

std::string sampling_text(const SampleKind& kind) {
  assert(is_possible(kind) && kind.offset < kOffsetCount && kind.component < 4);
  if (kind.together) return together_text(kind);
  const Dimension& d = dimension_of(kind.type);
  const std::string prefix = kind.prefix, at = kind.compares ? d.compared : d.at, swizzle = d.d;
  const std::string gradients = ", dx." + swizzle + ", dy." + swizzle, component = ", " + std::to_string(kind.component);
  const std::string gathered =
      kind.compares ? std::string(kind.type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY ? "c" : d.at) + ", dy.w" : std::string(d.at);
  std::string value;
  switch (kind.op) {
    case SampleOp::implicit:
      value = "texture(t, " + at + ")";
      break;
    case SampleOp::biased:
      value = "texture(t, " + at + ", dx.w)";
      break;
    case SampleOp::lod:
      value = "textureLod(t, " + at + ", dx.w)";
      break;
    case SampleOp::gradient:
      value = "textureGrad(t, " + at + gradients + ")";
      break;
    case SampleOp::clamped:
      value = "textureGradClampARB(t, " + at + gradients + ", least)";
      break;
    case SampleOp::offset_lod:
      value = "textureLodOffset(t, " + at + ", dx.w, " + constant_offset(d, kind.offset) + ")";
      break;
    case SampleOp::offset_gradient:
      value = "textureGradOffset(t, " + at + gradients + ", " + constant_offset(d, kind.offset) + ")";
      break;
    case SampleOp::gather:
      value = "textureGather(t, " + gathered + (kind.compares ? "" : component) + ")";
      break;
    case SampleOp::gather_offset:
      value = "textureGatherOffset(t, " + gathered + ", o.xy" + (kind.compares ? "" : component) + ")";
      break;
    case SampleOp::query_lod:
      value = "vec4(textureQueryLod(t, c." + swizzle + "), 0, 0)";
      break;
    case SampleOp::fetch:
      value = std::string("texelFetch(t, ") + d.texel + ", int(dx.w))";
      break;
    default: {
      const bool one = kind.type == VK_IMAGE_VIEW_TYPE_1D;
      value =
          std::string("vec4(textureQueryLevels(t), textureSize(t, int(dx.w))") +
          (one ? ", 0, 0)"
           : kind.type == VK_IMAGE_VIEW_TYPE_2D || kind.type == VK_IMAGE_VIEW_TYPE_CUBE || kind.type == VK_IMAGE_VIEW_TYPE_1D_ARRAY ? ", 0)"
                                                                                                                                    : ")");
    }
  }
  std::string text = "#version 450\n";
  if (kind.op == SampleOp::clamped) text += "#extension GL_ARB_sparse_texture_clamp : require\n";
  text += "layout(binding = 0) uniform " + prefix + "sampler" + d.name + (kind.compares ? "Shadow" : "") + " t;\n";
  text += "layout(binding = 1) readonly buffer C { vec4 all[]; };\nlayout(location = 0) out " + prefix + "vec4 result;\nvoid main() {\n";
  text += "  int n = 4 * (int(gl_FragCoord.y) * " + std::to_string(kSamplesWide) + " + int(gl_FragCoord.x));\n";
  text += "  vec4 c = all[n], dx = all[n + 1], dy = all[n + 2];\n  ivec4 o = floatBitsToInt(all[n + 3]), i = ivec4(c);\n";
  text += "  float least = all[n + 3].w;\n";
  return text + "  result = " + prefix + "vec4(" + value + ");\n}";
}

}  // namespace tilegpu::fuzz
