// shader/epilogue/epilogue_blend.hpp -- emitters of Vulkan's blend equations on unpacked components.
//
// In: source, second source, destination and constants as f32 vectors. Out: the blended components, not yet quantised.
#pragma once

#include <array>

#include "shader/ir/format_pack.hpp"

namespace tilegpu::shader {

/// The equation gives the source, whatever the destination holds.
bool blend_is_copy(const VkPipelineColorBlendAttachmentState& blend);
bool blend_uses_source1(const VkPipelineColorBlendAttachmentState& blend);

/// `hints`: what is known of each component of the result, for packing.
std::array<Value, 4> emit_blend(const Ir& ir, const vk::FormatInfo& format, const VkPipelineColorBlendAttachmentState& blend,
                                const std::array<Value, 4>& source, const std::array<Value, 4>& source1,
                                const std::array<Value, 4>& destination, const std::array<Value, 4>& constants,
                                std::array<PackHints, 4>& hints);

}  // namespace tilegpu::shader
