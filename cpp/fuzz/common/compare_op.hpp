// fuzz/common/compare_op.hpp -- what a comparison says, for models of depth, stencil and sampling. In: an operation, two numbers. Out:
// whether it passes. Source: Vulkan specification, VkCompareOp.
#pragma once

#include <vulkan/vulkan_core.h>

namespace tilegpu::fuzz {

inline bool passes(VkCompareOp op, double reference, double value) {
  switch (op) {
    case VK_COMPARE_OP_LESS:
      return reference < value;
    case VK_COMPARE_OP_EQUAL:
      return reference == value;
    case VK_COMPARE_OP_LESS_OR_EQUAL:
      return reference <= value;
    case VK_COMPARE_OP_GREATER:
      return reference > value;
    case VK_COMPARE_OP_NOT_EQUAL:
      return reference != value;
    case VK_COMPARE_OP_GREATER_OR_EQUAL:
      return reference >= value;
    default:
      return op == VK_COMPARE_OP_ALWAYS;
  }
}

}  // namespace tilegpu::fuzz
