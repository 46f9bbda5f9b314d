// tile/plan/plan.cpp -- see plan.hpp.
#include "tile/plan/plan.hpp"

#include <cassert>

#include "base/simd.hpp"
#include "hsr/explain.hpp"
#include "tile/plan/pass_context.hpp"

namespace tilegpu::tile {

KeptBlocks keeps_blocks(const HiddenSurfaceRemoval& hsr, bool compress_samples, bool filtered, uint32_t samples, bool has_depth,
                        bool depth_starts_even) {
  if (!compress_samples || !hsr.visibility_buffer || hsr.pre_pass || filtered) return {};
  return {samples > 1 && depth_starts_even, samples == 1 && hsr.hierarchical_z && has_depth};
}

PassTraits traits_of(const PassContext& pass, bool traced) {
  assert(pass.samples >= 1 && pass.samples <= 16);
  PassTraits traits;
  traits.samples = pass.samples;
  traits.wide = wide_vectors(pass.lanes);
  traits.traced = traced;
  traits.kept_once = pass.tile.equal_quads_B != 0;
  traits.filtered = pass.filter_planes.count != 0;
  traits.lrz = pass.lrz != nullptr;
  traits.exact_kills = pass.counts_draws;
  traits.keeps = pass.keeps;
  traits.hsr = pass.hsr;
  return traits;
}

namespace {

EarlyTests early_tests(const command::DrawState& state, const TestRules& rules) {
  const pipeline::Classification& c = state.resolved->classification;
  if (!state.resolved->shades() || (c.early_test && c.early_write)) return EarlyTests::full;
  // Whom an early test ends depends on who waits: a shader that asks for helpers would see it.
  const bool asks = state.resolved->traits(VK_SHADER_STAGE_FRAGMENT_BIT).reads_helper;
  return c.early_test && !asks && rules.kills_early() ? EarlyTests::kill : EarlyTests::none;
}

bool draws_smooth_lines(const command::DrawState& state, const records::CoverageRule& rule) {
  return rule.line.kind == records::LineKind::smooth && state.resolved->classification.smooth_alpha;
}

Coverage coverage_of_state(const PassTraits& pass, const command::DrawState& state, const TilePlan& plan) {
  if (state.resolved->classification.coarse && plan.route == Route::shade) return Coverage::coarse;
  if (!plan.rule.plain()) return Coverage::ruled;
  if (pass.traced || plan.route != Route::visibility || plan.early != EarlyTests::full || plan.masks_samples) return Coverage::each;
  if (pass.samples > 1) return plan.lists ? Coverage::listed : Coverage::each;
  const TestRules& rules = plan.rules;
  const bool orders = rules.nearer_wins() || rules.farther_wins();
  return pass.wide && rules.only_depth() && orders && !pass.filtered ? Coverage::at_once : Coverage::each;
}

}  // namespace

const char* visibility_obstacle(const command::DrawState& state) {
  const pipeline::Resolved& resolved = *state.resolved;
  const pipeline::Classification& c = resolved.classification;
  const shader::StageTraits& traits = resolved.traits(VK_SHADER_STAGE_FRAGMENT_BIT);
  if (!resolved.shades()) return "nothing is shaded";
  if (const char* obstacle = hsr::early_test_obstacle(state)) return obstacle;
  if (c.side_effects)
    return traits.writes_memory ? "the fragment shader writes memory: every fragment that passes must run"
                                : "the fragment shader asks which invocations of a subgroup run: every one that passes must";
  if (traits.reads_tile) return "the fragment shader reads the tile (input attachment)";
  if (c.coarse) return "fragments of several pixels (fragment shading rate): shaded in order";
  if (c.reads_tile) return "reads the tile: blending, a logic op or a write mask keeps part of the old colour";
  if (!resolved.output.epilogue || !c.writes_color) return "no colour is written";
  if (c.smooth_alpha) return "smooth lines: how much of each pixel is covered goes into its alpha";
  if (!c.opaque) return "does not write every colour attachment: what is below shows in the others";
  if (traits.discards || traits.writes_sample_mask || state.multisample.alpha_to_coverage) return "the fragment shader changes coverage";
  if (traits.reads_helper) return "the fragment shader asks for helper lanes";
  return nullptr;
}

TilePlan plan_draw(const PassTraits& pass, const command::DrawState& state, const TestRules& rules, Phase phase,
                   const hsr::Verdict& verdict, bool opaque_replay) {
  assert(pass.samples >= 1 && pass.samples <= 16);
  const pipeline::Classification& c = state.resolved->classification;
  const bool shades = state.resolved->shades();
  TilePlan plan;
  plan.early = early_tests(state, rules);
  plan.route = shades ? Route::shade : Route::nothing;
  plan.late = rules.any();
  // What is killed before it is shaded, where depth is written after that: those before must have written theirs. Else it would depend on
  // how many quads wait, which is a matter of lanes and of bins.
  plan.one_by_one = c.pins_order || (pass.exact_kills && plan.early == EarlyTests::kill && rules.depth_write);
  switch (phase) {
    case Phase::ordinary:
      if (shades && pass.hsr.visibility_buffer && !visibility_obstacle(state)) plan.route = Route::visibility;
      break;
    case Phase::pre:
      if (c.needs_slice && shades) break;
      plan.early = EarlyTests::full;
      plan.route = verdict.opaque ? Route::visibility : Route::nothing;
      break;
    case Phase::main:  // depth is final, every fragment runs
      if (c.side_effects && (opaque_replay || verdict.writes_zs)) plan.early = EarlyTests::none;
      break;
  }
  assert(plan.route != Route::visibility || plan.early == EarlyTests::full);  // a number is only written for what is seen
  plan.rules = rules;
  plan.rules.depth_write &= plan.early == EarlyTests::full;
  for (uint32_t s = 0; s < pass.samples; s++)
    if (state.multisample.sample_mask >> s & 1) plan.sample_mask |= uint64_t{0xf} << 4 * s;
  plan.masks_samples = plan.sample_mask != ~uint64_t{0} >> (64 - 4 * pass.samples);
  const bool numbered = plan.route == Route::visibility;
  // Lists and covers know the standard locations alone.
  plan.rule = records::coverage_rule(state);
  plan.smooth_lines = draws_smooth_lines(state, plan.rule);
  const bool plain = plan.rule.plain();
  plan.lists = pass.keeps.lists && numbered && plain && lists_serve(plan.rules, plan.list);
  plan.covers = pass.keeps.covers && plain && phase == Phase::ordinary && numbered && plan.rules.bounded() && plan.rules.depth_write;
  plan.may_swap = plan.covers && !plan.masks_samples && !plan.one_by_one;
  plan.coverage = coverage_of_state(pass, state, plan);
  assert(!(plan.lists && plan.covers));  // a block is kept in one way
  return plan;
}

StatePlan plan_state(const PassTraits& pass, const command::DrawState& state, const tile_io::HostTile& tile) {
  const TestRules rules = make_test_rules(state, tile);
  return {rules, plan_draw(pass, state, rules, Phase::ordinary, {}, false)};
}

Coverage coverage_of_draw(const TilePlan& plan, const DrawTraits& draw) {
  if (plan.coverage >= Coverage::ruled) return plan.coverage;
  if (draw.lrz) return Coverage::each;
  return draw.counts && plan.coverage == Coverage::listed ? Coverage::each : plan.coverage;
}

bool may_swap_draw(const PassTraits& pass, const TilePlan& plan, const DrawTraits& draw) {
  return plan.may_swap && !pass.traced && !pass.filtered && !pass.lrz && !draw.counts;
}

ShadePlan plan_shading(const PassTraits& pass, const command::DrawState& state, const ShadeMoment& moment) {
  const pipeline::Resolved& resolved = *state.resolved;
  const pipeline::Classification& c = resolved.classification;
  assert(resolved.shades());
  const shader::StageTraits& traits = resolved.traits(VK_SHADER_STAGE_FRAGMENT_BIT);
  const bool tested = moment.early == EarlyTests::full, replayed = moment.phase == Phase::main && !moment.from_ids;
  ShadePlan plan;
  plan.discards = traits.discards;
  plan.late = !tested && moment.late;
  plan.sample_mask_out = traits.writes_sample_mask;
  plan.alpha_to_coverage = state.multisample.alpha_to_coverage;
  plan.per_sample = c.per_sample && pass.samples > 1;
  plan.shader_depth = traits.writes_depth && !tested;
  plan.shader_stencil = traits.writes_stencil && !tested;
  plan.clears_ids = pass.hsr.visibility_buffer && moment.phase == Phase::ordinary && !moment.from_ids && moment.ids_below && c.writes_color;
  // Quads of the visibility buffer lie in blocks that were expanded before; a shader that reads the tile finds every sample in its place.
  plan.checks_once = pass.kept_once && !moment.from_ids;
  plan.keeps_once = pass.kept_once && !traits.reads_tile && !plan.per_sample;
  plan.replaces = c.opaque;
  plan.coarse = c.coarse;
  plan.full_raster = traits.reads_sample_mask || traits.uses_centroid;
  plan.post_depth = traits.post_depth_coverage;
  plan.counts = moment.counts && !tested && moment.phase != Phase::main;
  plan.slice = moment.phase == Phase::pre && !moment.from_ids;
  plan.writes_ids = plan.slice && moment.opaque;
  plan.deferred = !moment.from_ids && moment.position_only;
  if (replayed) {
    const bool writes_zs = resolved.output.written_targets >> shader::kInputDepth & 3;
    if (moment.opaque_replay || writes_zs) plan.late = false;  // the pre-pass did it
    if (moment.opaque_replay)
      plan.keeps = Keeps::owned;
    else if (!c.writes_color)
      plan.keeps = Keeps::none;
    else if (c.side_effects)
      plan.keeps = Keeps::not_overdrawn;
  }
  if (plan.slice || !c.writes_color || !resolved.output.epilogue) return plan;
  plan.finish = Epilogue::last;
  plan.smooth_lines = draws_smooth_lines(state, records::coverage_rule(state));
  if (plan.smooth_lines || pass.traced || plan.keeps != Keeps::all || plan.discards || plan.late || plan.sample_mask_out ||
      plan.alpha_to_coverage || plan.clears_ids || plan.counts)
    return plan;
  plan.takes_pixels =
      moment.from_ids && pass.wide && resolved.output.pixels.identity() && !state.anisotropic && !plan.per_sample && !plan.full_raster;
  plan.takes_blocks =
      (moment.from_ids || goes_straight(pass, moment.phase)) && resolved.output.blocks.identity() && (pass.samples == 1 || pass.kept_once);
  plan.finish = plan.takes_pixels || plan.takes_blocks ? Epilogue::fused : Epilogue::next;
  return plan;
}

}  // namespace tilegpu::tile
