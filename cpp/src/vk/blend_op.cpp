// vk/blend_op.cpp -- names of blend operations, for messages; see blend_op.hpp.
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

}  // namespace

std::string blend_op_name(VkBlendOp op) {
  if (!is_blend_op(op)) return "number " + std::to_string(static_cast<int64_t>(op));
  if (!is_advanced(op)) return std::string("VK_BLEND_OP_") + kOrdinary[op];
  return std::string("VK_BLEND_OP_") + kAdvanced[op - VK_BLEND_OP_ZERO_EXT] + "_EXT";
}

}  // namespace tilegpu::vk
