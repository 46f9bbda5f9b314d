// framebuffer/blend_unit.cpp -- see blend_unit.hpp.
#include "framebuffer/blend_unit.hpp"

#include <cassert>

#include "vk/format.hpp"

namespace tilegpu::framebuffer {
namespace {

/// Without "one minus".
VkBlendFactor plain(VkBlendFactor factor) {
  switch (factor) {
    case VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR:
      return VK_BLEND_FACTOR_SRC_COLOR;
    case VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
      return VK_BLEND_FACTOR_DST_COLOR;
    case VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA:
      return VK_BLEND_FACTOR_SRC_ALPHA;
    case VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
      return VK_BLEND_FACTOR_DST_ALPHA;
    case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR:
      return VK_BLEND_FACTOR_CONSTANT_COLOR;
    case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA:
      return VK_BLEND_FACTOR_CONSTANT_ALPHA;
    case VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR:
      return VK_BLEND_FACTOR_SRC1_COLOR;
    case VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA:
      return VK_BLEND_FACTOR_SRC1_ALPHA;
    case VK_BLEND_FACTOR_ZERO:
      return VK_BLEND_FACTOR_ONE;
    default:
      return factor;
  }
}

bool is_source(VkBlendFactor f, bool alpha) { return f == VK_BLEND_FACTOR_SRC_COLOR || (alpha && f == VK_BLEND_FACTOR_SRC_ALPHA); }
bool is_destination(VkBlendFactor f, bool alpha) { return f == VK_BLEND_FACTOR_DST_COLOR || (alpha && f == VK_BLEND_FACTOR_DST_ALPHA); }

const char* equation_obstacle(VkBlendOp op, VkBlendFactor source, VkBlendFactor destination, bool alpha) {
  if (op != VK_BLEND_OP_ADD && op != VK_BLEND_OP_SUBTRACT && op != VK_BLEND_OP_REVERSE_SUBTRACT)
    return "its operation is no sum or difference";
  // 2 * source * destination is one product.
  if (op == VK_BLEND_OP_ADD && is_destination(source, alpha) && is_source(destination, alpha)) return nullptr;
  for (VkBlendFactor f : {plain(source), plain(destination)}) {
    if (f == VK_BLEND_FACTOR_SRC_ALPHA_SATURATE) return "its factor is src_alpha_saturate";
    if (f == VK_BLEND_FACTOR_SRC1_COLOR || f == VK_BLEND_FACTOR_SRC1_ALPHA) return "its factor is of a second source";
  }
  const VkBlendFactor a = plain(source), b = plain(destination);
  if (a == b || a == VK_BLEND_FACTOR_ONE || b == VK_BLEND_FACTOR_ONE) return nullptr;
  return "its two factors are of different kinds, and none is zero or one";
}

bool asks_constant(VkBlendFactor factor) {
  return plain(factor) == VK_BLEND_FACTOR_CONSTANT_COLOR || plain(factor) == VK_BLEND_FACTOR_CONSTANT_ALPHA;
}

}  // namespace

const char* needs_blend_shader(const VkPipelineColorBlendAttachmentState& blend, VkLogicOp op, VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  if (!info || !blend.colorWriteMask) return nullptr;
  if (op != VK_LOGIC_OP_COPY) return "it is a logic operation";
  if (!blend.blendEnable || info->is_integer()) return nullptr;
  const bool fixed_point = info->numeric == vk::Numeric::unorm || info->numeric == vk::Numeric::srgb;
  if (!fixed_point || info->rgba[0].bits > 10) return "the unit does not blend this format";
  assert(info->component_count >= 1);
  if (const char* why = equation_obstacle(blend.colorBlendOp, blend.srcColorBlendFactor, blend.dstColorBlendFactor, false)) return why;
  return equation_obstacle(blend.alphaBlendOp, blend.srcAlphaBlendFactor, blend.dstAlphaBlendFactor, true);
}

bool asks_blend_constants(const VkPipelineColorBlendAttachmentState& blend) {
  return blend.blendEnable && blend.colorWriteMask &&
         (asks_constant(blend.srcColorBlendFactor) || asks_constant(blend.dstColorBlendFactor) ||
          asks_constant(blend.srcAlphaBlendFactor) || asks_constant(blend.dstAlphaBlendFactor));
}

}  // namespace tilegpu::framebuffer
