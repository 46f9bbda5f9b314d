// shader/epilogue/epilogue_blend.hpp -- emitters of Vulkan's blend equations on unpacked components, and logic operations on words.
//
// In: source, second source, destination and constants as f32 vectors. Out: the blended components, not yet quantised. Advanced operators
// are in advanced_blend.hpp.
#pragma once

#include <array>

#include "shader/ir/format_pack.hpp"
#include "tilegpu/state.hpp"

namespace tilegpu::shader {

/// A bit for each component of the source: where all of these are 0 or less, or no number, the texel stays as it is, to the bit. 0: no
/// such.
uint32_t blend_keeps_below(const vk::FormatInfo& format, const VkPipelineColorBlendAttachmentState& blend);
bool blend_uses_source1(const VkPipelineColorBlendAttachmentState& blend);

/// `destination`: any values where it is not read (vk::blend_reads_destination). `hints`: what is known of each component of the result,
/// for packing.
std::array<Value, 4> emit_blend(const Ir& ir, const vk::FormatInfo& format, const VkPipelineColorBlendAttachmentState& blend,
                                const std::array<Value, 4>& source, const std::array<Value, 4>& source1,
                                const std::array<Value, 4>& destination, const std::array<Value, 4>& constants,
                                std::array<PackHints, 4>& hints);
/// The same by an advanced operator. `destination`: nulls where it is not read (vk::reads_destination).
std::array<Value, 4> emit_blend(const Ir& ir, const vk::FormatInfo& format, VkBlendOp op, const AdvancedBlend& how,
                                const std::array<Value, 4>& source, const std::array<Value, 4>& destination);

bool logic_op_reads(VkLogicOp op);
Value emit_logic_op(const Ir& ir, VkLogicOp op, Value s, Value d);

}  // namespace tilegpu::shader
