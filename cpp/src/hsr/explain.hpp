// hsr/explain.hpp -- which techniques of modelled GPUs a draw gets, and the state that keeps it from them.
//
// In: a draw's state. Out: a reason in words, or null where the technique is on. What is the host's own way: tile/plan/plan.hpp.
#pragma once

#include <optional>

#include "command/draw.hpp"
#include "framebuffer/profile.hpp"
#include "tilegpu/explanation.hpp"
#include "tilegpu/hidden_surface_removal.hpp"
#include "tilegpu/stats.hpp"

namespace tilegpu::hsr {

/// Why a pass has not a technique: null where it has. What its GPU never has is told apart from what somebody switched off.
struct WhyOff {
  const char *visibility_buffer = nullptr, *pre_pass = nullptr, *forward_pixel_kill = nullptr, *deferred_vertex_shading = nullptr,
             *low_resolution_z = nullptr;
};
/// `chosen`: the pass's; `own`: what the profile has by itself.
WhyOff why_off(const HiddenSurfaceRemoval& chosen, const HiddenSurfaceRemoval& own);

/// Why depth and stencil are not both tested and written before shading.
const char* early_test_obstacle(const command::DrawState& state);

/// Why the draws' quads neither kill those that wait nor are killed; null where they do both; `half`: they do one of the two.
const char* forward_kill_obstacle(const command::DrawState& state, bool& half);
/// The pre-pass and consecutive draws, from what became of it in the tiles; `stats` of a pass that was executed.
TechniqueExplanation explain_prepass(const PassStats& stats, uint32_t first_draw, uint32_t count, const char* off);
/// Tiles whose pre-pass had not ended when this draw came, and those where it had.
struct PrepassTiles {
  uint64_t taken = 0, ended = 0;
};
PrepassTiles prepass_tiles(const PassStats& stats, uint32_t draw);
/// Why the draw's colour `target` needs a blend shader, on a GPU with a fixed unit; null: it needs none.
const char* blend_shader_reason(const command::DrawState& state, uint32_t target);
/// Of a draw that blends, on a GPU with a fixed unit for it (framebuffer/blend_unit.hpp).
std::optional<TechniqueExplanation> explain_blend_unit(const command::DrawState& state);
/// Of a draw whose state asks for fragments of several pixels: which, or what forbids them. `gpu`: of the profile.
std::optional<TechniqueExplanation> explain_shading_rate(const command::DrawState& state, const ShadingRateAttachment& attachment,
                                                         const framebuffer::ShadingRateFact& gpu);
/// `off`: WhyOff's.
TechniqueExplanation explain_forward_kill(const command::DrawState& state, const char* off);

}  // namespace tilegpu::hsr
