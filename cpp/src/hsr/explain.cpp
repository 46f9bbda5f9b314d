// hsr/explain.cpp -- see explain.hpp. Source: Vulkan specification, "Early Fragment Test"; docs/decisions.md, 8.
#include "hsr/explain.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <optional>
#include <string>

#include "framebuffer/blend_unit.hpp"
#include "hsr/prepass_rules.hpp"
#include "pipeline/shading_rate.hpp"

namespace tilegpu::hsr {

const char* early_test_obstacle(const command::DrawState& state) {
  const pipeline::Resolved& resolved = *state.resolved;
  const pipeline::Classification& c = resolved.classification;
  const shader::StageTraits& traits = resolved.traits(VK_SHADER_STAGE_FRAGMENT_BIT);
  if (!resolved.shades() || (c.early_test && c.early_write)) return nullptr;
  if (traits.writes_depth) return "the fragment shader writes gl_FragDepth: tests come after shading";
  if (traits.writes_stencil) return "the fragment shader writes the stencil value: tests come after shading";
  if (c.side_effects)
    return traits.writes_memory
               ? "the fragment shader writes memory and does not ask for early_fragment_tests: even fragments that fail must run"
               : "the fragment shader asks which invocations of a subgroup run, and not for early_fragment_tests: even those that fail "
                 "must run";
  if (traits.reads_tile && !c.early_write && !traits.discards && !traits.writes_sample_mask && !state.multisample.alpha_to_coverage)
    return "the fragment shader reads the depth or stencil that the draw writes: written after shading";
  if (traits.discards) return "the fragment shader discards: tested early, written after shading";
  if (traits.writes_sample_mask) return "the fragment shader writes gl_SampleMask: tested early, written after shading";
  if (state.multisample.alpha_to_coverage) return "alpha to coverage: tested early, written after shading";
  return "the fragment shader changes coverage: tested early, written after shading";
}

const char* forward_kill_obstacle(const command::DrawState& state, bool& half) {
  const pipeline::Resolved& resolved = *state.resolved;
  const pipeline::Classification& c = resolved.classification;
  half = false;
  if (!resolved.shades()) return "nothing is shaded";
  if (c.coarse) return "fragments of several pixels (fragment shading rate) do not wait";
  if (const char* obstacle = early_test_obstacle(state)) return obstacle;
  const uint32_t colors = c.writes_color ? resolved.output.written_targets & 0xff : 0;
  const bool kills = colors && c.opaque && !c.kills;
  half = true;
  const bool memory = resolved.traits(VK_SHADER_STAGE_FRAGMENT_BIT).writes_memory;
  if (kills && c.side_effects)
    return memory ? "kills, but is never killed: the fragment shader writes memory"
                  : "kills, but is never killed: the fragment shader asks which invocations of a subgroup run";
  if (c.side_effects) {
    half = false;
    return memory ? "the fragment shader writes memory, and what it draws is not opaque"
                  : "the fragment shader asks which invocations of a subgroup run, and what it draws is not opaque";
  }
  if (!kills)
    return c.overwritten_colors == colors && !c.reads_inputs && !c.smooth_alpha && !c.kills
               ? "can be killed, but does not kill: it does not write every colour attachment"
               : "can be killed, but does not kill: not opaque";
  half = false;
  return nullptr;
}

WhyOff why_off(const HiddenSurfaceRemoval& chosen, const HiddenSurfaceRemoval& own) {
  const bool is_host = own.visibility_buffer, has_arms = is_host || own.forward_pixel_kill;
  const auto why = [&](bool has, bool has_itself, bool can_have) -> const char* {
    if (has) return nullptr;
    if (has_itself) return "switched off (hsr)";
    if (!can_have) return "no GPU like this has it";
    return is_host ? "not one of host's techniques; hsr adds it" : "not one of the profile's techniques; hsr tries it";
  };
  return {why(chosen.visibility_buffer, own.visibility_buffer, true), why(chosen.pre_pass, own.pre_pass, has_arms),
          why(chosen.forward_pixel_kill, own.forward_pixel_kill, has_arms),
          why(chosen.deferred_vertex_shading, own.deferred_vertex_shading, has_arms),
          why(chosen.low_resolution_z, own.low_resolution_z, is_host)};  // Adreno's alone
}

TechniqueExplanation explain_forward_kill(const command::DrawState& state, const char* off) {
  if (off) return {"forward_pixel_kill", "off", "", off, -1};
  bool half = false;
  const char* obstacle = forward_kill_obstacle(state, half);
  return {"forward_pixel_kill", obstacle && !half ? "off" : "on", "", obstacle ? obstacle : "", -1};
}

const char* blend_shader_reason(const command::DrawState& state, uint32_t target) {
  const pipeline::Resolved& resolved = *state.resolved;
  assert(target < kMaxColorAttachments);
  std::optional<uint32_t> unit;  // the constant that it holds, for the first colour that asks for one
  for (uint32_t i = 0;; i++) {
    const VkColorComponentFlags asked = resolved.blend_constants_asked[i];
    const char* why = resolved.blend_shader[i];
    if (!why && asked) {
      const auto first = static_cast<uint32_t>(std::countr_zero(asked));
      for (uint32_t c = first; c < 4; c++)
        if ((asked >> c & 1) && state.blend_constants[c] != state.blend_constants[first]) why = "its constant has several values";
      const uint32_t held = framebuffer::unit_constant(resolved.blend_formats[i], state.blend_constants[first]);
      if (!why && held != unit.value_or(held)) why = "its constant is not the one that the unit holds for a colour before it";
      if (!why) unit = held;
    }
    if (i == target) return why;
  }
}

std::optional<TechniqueExplanation> explain_blend_unit(const command::DrawState& state) {
  const pipeline::Resolved& resolved = *state.resolved;
  if (!resolved.blends) return std::nullopt;
  std::string text;
  uint32_t targets = 0, operations = 0, reads = 0;
  for (uint32_t i = 0; i < kMaxColorAttachments; i++) {
    const char* why = blend_shader_reason(state, i);
    if (!why) continue;
    if (text.empty()) text = "color" + std::to_string(i) + " needs a blend shader: " + why;
    targets++, operations += resolved.blend_operations[i];
    reads += !(resolved.classification.overwritten_colors >> i & 1);
  }
  if (!targets) return TechniqueExplanation{"blend_unit", "on", "", "", -1};
  text += "; " + std::to_string(operations) + " operations and " + std::to_string(reads) + (reads == 1 ? " read" : " reads") +
          " of the tile for each " + (resolved.samples > 1 ? "sample" : "fragment");
  if (resolved.samples > 1 && !resolved.classification.per_sample)
    text += ", and the whole fragment shader runs " + std::to_string(resolved.samples) + " times, once for each";
  return TechniqueExplanation{"blend_unit", "off", "", text, -1};
}

std::optional<TechniqueExplanation> explain_shading_rate(const command::DrawState& state, const ShadingRateAttachment& attachment,
                                                         const framebuffer::ShadingRateFact& gpu) {
  const pipeline::Resolved& resolved = *state.resolved;
  const shader::StageTraits& last = resolved.last_traits();
  if (!pipeline::sets_shading_rate(state, last)) return std::nullopt;
  constexpr const char* kName = "fragment_shading_rate";
  const bool shades = resolved.stages.find(VK_SHADER_STAGE_FRAGMENT_BIT) != nullptr;
  if (const char* obstacle = pipeline::shading_rate_obstacle(state, shades ? &resolved.traits(VK_SHADER_STAGE_FRAGMENT_BIT) : nullptr))
    return TechniqueExplanation{kName, "off", "", std::string("fragments of 1x1: ") + obstacle, -1};
  constexpr const char* kOps[] = {"keep", "replace", "min", "max", "mul"};
  const FragmentShadingRateState& rate = state.shading_rate;
  std::string text = std::to_string(rate.width_px) + "x" + std::to_string(rate.height_px);
  if (rate.combiner_ops[0] != VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR)
    text += std::string(", ") + kOps[rate.combiner_ops[0]] + " with " +
            (last.writes_shading_rate ? "each primitive's" : "1x1 (no shader writes gl_PrimitiveShadingRateEXT)");
  if (rate.combiner_ops[1] != VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR)
    text += std::string(", ") + kOps[rate.combiner_ops[1]] + " with " +
            (attachment.view ? "the attachment's" : "1x1 (the pass has no attachment of rates)");
  if (!gpu.has) text += std::string("; the profile's GPU has no such fragments (") + gpu.source + "): its costs are of one that had";
  return TechniqueExplanation{kName, "on", "", text, -1};
}

TechniqueExplanation explain_prepass(const PassStats& stats, uint32_t first_draw, uint32_t count, const char* off) {
  if (off) return {"pre_pass", "off", "", off, -1};
  const PrepassStop* here = nullptr;
  uint64_t tiles_here = 0, tiles_before = 0;
  const PrepassStop* before = nullptr;
  for (const PrepassStop& stop : stats.prepass_stops) {
    if (stop.draw >= first_draw + count) continue;
    if (stop.draw >= first_draw) {
      if (!here) here = &stop;
      tiles_here += stop.tiles;
    } else {
      if (!before) before = &stop;
      tiles_before += stop.tiles;
    }
  }
  const auto in_tiles = [&](uint64_t tiles) { return std::to_string(tiles) + " of " + std::to_string(stats.prepass_tiles) + " tiles"; };
  const auto is_clear = [](const PrepassStop& stop) { return stop.rule == kClearRule; };  // it follows the draw, which was still taken
  if (here && is_clear(*here)) return {"pre_pass", "on", "", here->reason + " ends it after this draw, in " + in_tiles(tiles_here), -1};
  if (here) {
    std::string reason = here->reason + ", in " + in_tiles(tiles_here);
    const std::string earlier = "draw " + std::to_string(here->because_of);
    if (here->because_of >= 0)
      reason += here->rule == "1.2" ? "; " + earlier + " wrote an attachment that this one leaves out" : "; the earlier one is " + earlier;
    return {"pre_pass", "stopped", here->rule, reason, static_cast<int32_t>(here->draw)};
  }
  if (before)
    return {"pre_pass", "stopped", "",
            (is_clear(*before) ? "a clear after draw " : "draw ") + std::to_string(before->draw) + " ended the pre-pass before it, in " +
                in_tiles(tiles_before),
            static_cast<int32_t>(before->draw)};
  return {"pre_pass", "on", "", "", -1};
}

PrepassTiles prepass_tiles(const PassStats& stats, uint32_t draw) {
  PrepassTiles tiles{stats.prepass_tiles, 0};
  for (const PrepassStop& stop : stats.prepass_stops) {
    const bool clear = stop.rule == kClearRule;  // ... after this draw, which was still taken
    if (stop.draw < draw || (stop.draw == draw && !clear)) tiles.ended += stop.tiles;
  }
  tiles.taken -= std::min(tiles.taken, tiles.ended);
  return tiles;
}

}  // namespace tilegpu::hsr
