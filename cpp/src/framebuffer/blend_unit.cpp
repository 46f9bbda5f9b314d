// framebuffer/blend_unit.cpp -- see blend_unit.hpp.
#include "framebuffer/blend_unit.hpp"

#include <algorithm>
#include <cassert>

#include "vk/blend_op.hpp"
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
  if (!vk::uses_factors(op)) return "its operation is no sum or difference";
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

// Of one factor for `components`: of alpha alone it is one number.
uint32_t factor_operations(VkBlendFactor factor, uint32_t components) {
  if (factor == VK_BLEND_FACTOR_ZERO || factor == VK_BLEND_FACTOR_ONE) return 0;
  if (factor == VK_BLEND_FACTOR_SRC_ALPHA_SATURATE) return 2;  // the lesser of two alphas, one of them from one
  if (plain(factor) == factor) return 0;
  const VkBlendFactor of = plain(factor);
  const bool color = of == VK_BLEND_FACTOR_SRC_COLOR || of == VK_BLEND_FACTOR_DST_COLOR || of == VK_BLEND_FACTOR_CONSTANT_COLOR ||
                     of == VK_BLEND_FACTOR_SRC1_COLOR;
  return color ? components : 1;
}

// Of a product, of the sum, and of the factors.
uint32_t equation_operations(VkBlendOp op, VkBlendFactor source, VkBlendFactor destination, uint32_t components) {
  if (!components) return 0;
  if (op == VK_BLEND_OP_MIN || op == VK_BLEND_OP_MAX) return components;  // factors do not count
  if (!vk::uses_factors(op)) {
    constexpr uint32_t kAdvanced = 12;  // three areas, each with its weight, and the mode: an estimate, as modes take 1 to 20
    return kAdvanced * components;
  }
  uint32_t operations = 0, terms = 0;
  for (VkBlendFactor f : {source, destination}) {
    if (f == VK_BLEND_FACTOR_ZERO) continue;
    operations += factor_operations(f, components) + (f == VK_BLEND_FACTOR_ONE ? 0 : components);
    terms++;
  }
  return operations + (terms == 2 || op == VK_BLEND_OP_REVERSE_SUBTRACT ? components : 0);
}

// Colours' red, green and blue, or alpha.
VkColorComponentFlags constants_of(VkBlendFactor factor, bool alpha) {
  constexpr VkColorComponentFlags kColors = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT;
  const VkBlendFactor of = plain(factor);
  if (of == VK_BLEND_FACTOR_CONSTANT_ALPHA || (alpha && of == VK_BLEND_FACTOR_CONSTANT_COLOR)) return VK_COLOR_COMPONENT_A_BIT;
  return of == VK_BLEND_FACTOR_CONSTANT_COLOR ? kColors : 0;
}

}  // namespace

const char* needs_blend_shader(const VkPipelineColorBlendAttachmentState& blend, bool logic_op, bool alpha_to_one, VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  if (!info || !blend.colorWriteMask) return nullptr;
  if (logic_op) return "it is a logic operation";
  if (alpha_to_one && !info->is_integer()) return "alpha to one changes what the fragment shader wrote";
  assert(info->component_count >= 1);
  VkColorComponentFlags all = 0;
  for (uint32_t c = 0; c < 4; c++) all |= info->rgba[c].bits ? 1u << c : 0;
  const bool blends = blend.blendEnable && !info->is_integer();
  if (!blends && (blend.colorWriteMask & all) == all) return nullptr;
  const bool fixed_point = info->numeric == vk::Numeric::unorm || info->numeric == vk::Numeric::srgb;
  if (!fixed_point || info->rgba[0].bits > 10)
    return blends ? "the unit does not blend this format" : "the unit does not mask components of this format";
  if (!blends) return nullptr;
  if (const char* why = equation_obstacle(blend.colorBlendOp, blend.srcColorBlendFactor, blend.dstColorBlendFactor, false)) return why;
  return equation_obstacle(blend.alphaBlendOp, blend.srcAlphaBlendFactor, blend.dstAlphaBlendFactor, true);
}

uint32_t blend_operations(const VkPipelineColorBlendAttachmentState& blend, VkLogicOp op, VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  if (!info || !blend.colorWriteMask) return 0;
  const uint32_t components = info->component_count, colors = std::min(components, 3u);
  // Both colours to whole numbers (a product, rounded), the operation, and back.
  if (op != VK_LOGIC_OP_COPY) return info->is_integer() ? components : components * (2 * 2 + 1 + 1);
  if (!blend.blendEnable || info->is_integer()) return 0;
  return equation_operations(blend.colorBlendOp, blend.srcColorBlendFactor, blend.dstColorBlendFactor, colors) +
         equation_operations(blend.alphaBlendOp, blend.srcAlphaBlendFactor, blend.dstAlphaBlendFactor, components - colors);
}

VkColorComponentFlags blend_constants_asked(const VkPipelineColorBlendAttachmentState& blend) {
  if (!blend.blendEnable || !blend.colorWriteMask) return 0;
  VkColorComponentFlags asked = 0;
  if (blend.colorWriteMask & ~VkColorComponentFlags{VK_COLOR_COMPONENT_A_BIT} && vk::uses_factors(blend.colorBlendOp))
    asked |= constants_of(blend.srcColorBlendFactor, false) | constants_of(blend.dstColorBlendFactor, false);
  if (blend.colorWriteMask & VK_COLOR_COMPONENT_A_BIT && vk::uses_factors(blend.alphaBlendOp))
    asked |= constants_of(blend.srcAlphaBlendFactor, true) | constants_of(blend.dstAlphaBlendFactor, true);
  return asked;
}

uint32_t unit_constant(VkFormat format, float constant) {
  const vk::FormatInfo* info = vk::find_format(format);
  assert(info && info->component_count >= 1);
  uint32_t bits = 0;
  for (uint32_t c = 0; c < 4; c++) bits = std::max(bits, uint32_t{info->rgba[c].bits});
  bits = std::min(bits, 16u);
  const float limited = constant > 0 ? std::min(constant, 1.0f) : 0;  // of a NaN: 0
  return static_cast<uint32_t>(limited * static_cast<float>(((1u << bits) - 1) << (16 - bits)));
}

}  // namespace tilegpu::framebuffer
