// vk/blend_op.cpp -- see blend_op.hpp; the names of blend operations are for messages.
#include "vk/blend_op.hpp"

#include <iterator>

namespace tilegpu::vk {

namespace {

constexpr const char* kOrdinary[] = {"ADD", "SUBTRACT", "REVERSE_SUBTRACT", "MIN", "MAX"};
// From ZERO on, in order.
constexpr const char* kAdvanced[] = {"ZERO",
                                     "SRC",
                                     "DST",
                                     "SRC_OVER",
                                     "DST_OVER",
                                     "SRC_IN",
                                     "DST_IN",
                                     "SRC_OUT",
                                     "DST_OUT",
                                     "SRC_ATOP",
                                     "DST_ATOP",
                                     "XOR",
                                     "MULTIPLY",
                                     "SCREEN",
                                     "OVERLAY",
                                     "DARKEN",
                                     "LIGHTEN",
                                     "COLORDODGE",
                                     "COLORBURN",
                                     "HARDLIGHT",
                                     "SOFTLIGHT",
                                     "DIFFERENCE",
                                     "EXCLUSION",
                                     "INVERT",
                                     "INVERT_RGB",
                                     "LINEARDODGE",
                                     "LINEARBURN",
                                     "VIVIDLIGHT",
                                     "LINEARLIGHT",
                                     "PINLIGHT",
                                     "HARDMIX",
                                     "HSL_HUE",
                                     "HSL_SATURATION",
                                     "HSL_COLOR",
                                     "HSL_LUMINOSITY",
                                     "PLUS",
                                     "PLUS_CLAMPED",
                                     "PLUS_CLAMPED_ALPHA",
                                     "PLUS_DARKER",
                                     "MINUS",
                                     "MINUS_CLAMPED",
                                     "CONTRAST",
                                     "INVERT_OVG",
                                     "RED",
                                     "GREEN",
                                     "BLUE"};
static_assert(std::size(kOrdinary) == VK_BLEND_OP_MAX + 1);
static_assert(std::size(kAdvanced) == VK_BLEND_OP_BLUE_EXT - VK_BLEND_OP_ZERO_EXT + 1);

constexpr VkColorComponentFlags kColors = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT;

bool is_copy(VkBlendFactor source, VkBlendFactor destination, VkBlendOp op) {
  return (op == VK_BLEND_OP_ADD || op == VK_BLEND_OP_SUBTRACT) && source == VK_BLEND_FACTOR_ONE && destination == VK_BLEND_FACTOR_ZERO;
}

bool asks_destination(VkBlendFactor factor, bool alpha) {
  switch (factor) {
    case VK_BLEND_FACTOR_DST_COLOR:
    case VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
    case VK_BLEND_FACTOR_DST_ALPHA:
    case VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
      return true;
    case VK_BLEND_FACTOR_SRC_ALPHA_SATURATE:
      return !alpha;  // of alpha it is one
    default:
      return false;
  }
}

bool reads(VkBlendFactor source, VkBlendFactor destination, VkBlendOp op, bool alpha) {
  if (op == VK_BLEND_OP_MIN || op == VK_BLEND_OP_MAX) return true;  // factors do not count
  return destination != VK_BLEND_FACTOR_ZERO || asks_destination(source, alpha);
}

}  // namespace

bool blend_is_copy(const VkPipelineColorBlendAttachmentState& b) {
  if (is_advanced(b.colorBlendOp)) return false;
  return (!(b.colorWriteMask & kColors) || is_copy(b.srcColorBlendFactor, b.dstColorBlendFactor, b.colorBlendOp)) &&
         (!(b.colorWriteMask & VK_COLOR_COMPONENT_A_BIT) || is_copy(b.srcAlphaBlendFactor, b.dstAlphaBlendFactor, b.alphaBlendOp));
}

bool blend_reads_destination(const VkPipelineColorBlendAttachmentState& b) {
  if (is_advanced(b.colorBlendOp)) return reads_destination(b.colorBlendOp);
  return ((b.colorWriteMask & kColors) && reads(b.srcColorBlendFactor, b.dstColorBlendFactor, b.colorBlendOp, false)) ||
         ((b.colorWriteMask & VK_COLOR_COMPONENT_A_BIT) && reads(b.srcAlphaBlendFactor, b.dstAlphaBlendFactor, b.alphaBlendOp, true));
}

std::string blend_op_name(VkBlendOp op) {
  if (!is_blend_op(op)) return "number " + std::to_string(static_cast<int64_t>(op));
  if (!is_advanced(op)) return std::string("VK_BLEND_OP_") + kOrdinary[op];
  return std::string("VK_BLEND_OP_") + kAdvanced[op - VK_BLEND_OP_ZERO_EXT] + "_EXT";
}

}  // namespace tilegpu::vk
