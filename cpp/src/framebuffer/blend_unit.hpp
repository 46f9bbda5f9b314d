// framebuffer/blend_unit.hpp -- what a tile GPU's fixed blend unit can't do, so that the fragment shader jumps to a blend shader.
//
// In: blending of one attachment and its format. Out: why a shader is needed, or null. Source: PanVK's framebuffer article ("Mali only
// supports hardware blending for a small subset of the possible color formats and blending modes"); which: Mesa's driver,
// src/panfrost/lib/pan_blend.c (can_fixed_function_equation, homogeneous constants), PanVK's blend_needs_shader (alpha to one, any logic
// operation, write masks on formats that the unit does not know) and its table of blendable formats (fixed point of up to 10 bits). That
// the newest hardware blends some float formats is not modelled.
#pragma once

#include "framebuffer/profile.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::framebuffer {

/// The GPU has such a unit: Arm's.
inline bool has_blend_unit(const Profile& profile) { return profile.tile_model == TileModel::buffer; }

/// Of one attachment: pipeline::blend_attachments' state, and whether there are a logic operation and alpha to one. Null: the unit does it,
/// or nothing is blended and all components of the format are written.
const char* needs_blend_shader(const VkPipelineColorBlendAttachmentState& blend, bool logic_op, bool alpha_to_one, VkFormat format);
/// `op`: COPY where there is no logic operation. Arithmetic of the blend shader for one sample, an operation for each component (as
/// docs/costs.md counts shaders): the equation, each factor and its "one minus", with the conversions of a logic operation. Loading,
/// storing and packing are the tile's.
uint32_t blend_operations(const VkPipelineColorBlendAttachmentState& blend, VkLogicOp op, VkFormat format);
/// Which blend constants its factors read: the unit has one value for all of them.
VkColorComponentFlags blend_constants_asked(const VkPipelineColorBlendAttachmentState& blend);
/// The unit's constant for a format, of which it has one for all colours: a number of its widest component's bits, in the upper ones of 16.
/// Source: Mesa, panvk_vX_blend.c, get_ff_blend_constant (2025).
uint32_t unit_constant(VkFormat format, float constant);

}  // namespace tilegpu::framebuffer
