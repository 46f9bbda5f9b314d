// shader/epilogue/advanced_blend.hpp -- emitters of VK_EXT_blend_operation_advanced on unpacked components.
//
// In: an advanced operator and its parameters, source and destination as f32 vectors, clamped to the format's range where it has one. Out:
// the blended components, not yet quantised.
#pragma once

#include <array>

#include "shader/ir/ir_builder.hpp"
#include "tilegpu/state.hpp"

namespace tilegpu::shader {

/// `destination` is not looked at where the operator does not read it (vk::reads_destination): it may be nulls there.
std::array<Value, 4> emit_advanced_blend(const Ir& ir, VkBlendOp op, const AdvancedBlend& how, const std::array<Value, 4>& source,
                                         const std::array<Value, 4>& destination);

}  // namespace tilegpu::shader
