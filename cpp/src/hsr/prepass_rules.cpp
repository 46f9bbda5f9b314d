// hsr/prepass_rules.cpp -- see prepass_rules.hpp.
#include "hsr/prepass_rules.hpp"

#include <bit>

#include "hsr/bound_memory.hpp"

namespace tilegpu::hsr {

namespace {

constexpr uint32_t kDepthBit = 1u << shader::kInputDepth, kStencilBit = 1u << shader::kInputStencil;

Verdict stop(const char* rule, const char* reason, const std::string* line = nullptr, int32_t because_of = -1) {
  Verdict v;
  v.compatible = false;
  v.rule = rule;
  v.reason = reason;
  v.line = line;
  v.because_of = because_of;
  return v;
}

bool failing_changes_stencil(const DepthStencilState& ds) {
  const auto face = [](const VkStencilOpState& f) {
    return f.writeMask && (f.failOp != VK_STENCIL_OP_KEEP || f.depthFailOp != VK_STENCIL_OP_KEEP);
  };
  return ds.stencil_test && (face(ds.front) || face(ds.back));
}

uint32_t looks_at(const command::DrawState& state) {
  const DepthStencilState& ds = state.depth_stencil;
  uint32_t aspects = 0;
  if (ds.depth_test || ds.depth_bounds_test) aspects |= kDepthBit;
  if (ds.stencil_test) aspects |= kStencilBit;
  for (const shader::InputSource& input : state.resolved->inputs)
    if (input.target == shader::kInputDepth || input.target == shader::kInputStencil) aspects |= 1u << input.target;
  return aspects;
}

// Rules 3 to 6 and 8: the draw alone decides.
Verdict judge_alone(const command::DrawState& state, bool counts) {
  const pipeline::Resolved& resolved = *state.resolved;
  const pipeline::Classification& c = resolved.classification;
  const shader::StageTraits& t = resolved.traits(VK_SHADER_STAGE_FRAGMENT_BIT);
  if (c.side_effects && t.atomic_results_used)
    return stop("3", "the fragment shader uses the result of an atomic operation", &t.side_effect_line);
  if (c.side_effects && t.reads_written_memory)
    return stop("3", "the fragment shader reads and writes the same buffer", &t.side_effect_line);
  if (c.side_effects && t.writes_memory && reads_what_it_writes(state))
    return stop("3", "the fragment shader reads memory that it writes through another binding", &t.side_effect_line);
  if (t.interlocked) return stop("3", "fragments of a pixel wait for each other (interlock)");
  if (c.coarse) return stop("4", "the rasterizer's coverage is needed: fragments of several pixels (fragment shading rate)");
  if (t.uses_centroid) return stop("4", "the rasterizer's coverage is needed: centroid interpolation");
  if (t.reads_sample_mask) return stop("4", "the rasterizer's coverage is needed: gl_SampleMaskIn");
  if (t.reads_helper) return stop("4", "the rasterizer's coverage is needed: gl_HelperInvocation");
  if (t.reads_tile && state.multisample.samples > 1) return stop("5", "reads the tile (input attachment) with more than one sample");
  if (t.tile_crosses_lanes)
    return stop("5", "what it reads from the tile (input attachment) reaches its neighbours: a derivative, a computed level or subgroups",
                &t.tile_cross_line);
  const bool writes_zs = resolved.output.written_targets & (kDepthBit | kStencilBit);
  if (t.early_fragment_tests && c.kills && writes_zs)
    return stop("6", "early_fragment_tests, depth or stencil is written, and the fragment shader changes coverage", &t.discard_line);
  const DepthStencilState& ds = state.depth_stencil;
  if (c.side_effects && t.early_fragment_tests && (ds.depth_test || ds.stencil_test || ds.depth_bounds_test))
    return t.writes_memory
               ? stop("8", "writes memory for fragments that pass early tests: what depth and stencil were then is not known any more",
                      &t.side_effect_line)
               : stop("8",
                      "asks which invocations of a subgroup run, of those that pass early tests: what depth and stencil were then is not "
                      "known any more");
  if (counts && t.reads_tile && c.kills)
    return stop("8", "an occlusion query counts fragments whose coverage depends on the tile", &t.discard_line);
  return {};
}

}  // namespace

Verdict judge(const command::DrawState& state, uint32_t draw, bool counts, TileHistory& h) {
  const pipeline::Resolved& resolved = *state.resolved;
  const pipeline::Classification& c = resolved.classification;
  const shader::StageTraits& t = resolved.traits(VK_SHADER_STAGE_FRAGMENT_BIT);
  const bool shaded = resolved.shades();
  Verdict v;
  if (shaded) v = judge_alone(state, counts);
  if (!v.compatible) return v;
  v.writes_zs = resolved.output.written_targets & (kDepthBit | kStencilBit);
  const uint32_t colors = shaded && c.writes_color ? resolved.output.written_targets & 0xff : 0;
  const bool reads_tile = shaded && t.reads_tile;
  if (colors) {
    const uint32_t shines_through = h.written_colors & ~colors;
    v.opaque = !reads_tile && c.overwritten_colors == colors && !shines_through;
    if (!v.opaque && v.writes_zs) {
      if (reads_tile) return stop("1.3", "reads the tile (input attachment) and writes depth or stencil");
      if (c.smooth_alpha) return stop("1.1", "smooth lines, whose alpha is not the shader's alone, and depth or stencil is written");
      if (c.overwritten_colors != colors)
        return stop("1.1", "blending, a logic op or a write mask keeps part of the old colour, and depth or stencil is written");
      return stop("1.2", "writes depth or stencil, but not every colour attachment that the tile's draws before it wrote", nullptr,
                  h.first_writer[std::countr_zero(shines_through)]);
    }
  } else if (v.writes_zs) {
    if (reads_tile) return stop("1.3", "reads the tile (input attachment) and writes depth or stencil");
    if (h.first_non_opaque >= 0)
      return stop("2", "writes only depth or stencil, after a draw that is not opaque", nullptr, h.first_non_opaque);
  }
  if (v.opaque && (h.tested_by_non_opaque & kStencilBit) && failing_changes_stencil(state.depth_stencil))
    return stop("7", "changes stencil where it fails, after a draw that is not opaque and looks at stencil", nullptr, h.first_tester[1]);

  for (uint32_t i = 0; i < shader::kMaxTargets; i++)
    if ((colors & ~h.written_colors) >> i & 1) h.first_writer[i] = static_cast<int32_t>(draw);
  h.written_colors |= colors;
  if (colors && !v.opaque) {
    if (h.first_non_opaque < 0) h.first_non_opaque = static_cast<int32_t>(draw);
    const uint32_t aspects = looks_at(state), fresh = aspects & ~h.tested_by_non_opaque;
    if (fresh & kDepthBit) h.first_tester[0] = static_cast<int32_t>(draw);
    if (fresh & kStencilBit) h.first_tester[1] = static_cast<int32_t>(draw);
    h.tested_by_non_opaque |= aspects;
  }
  return v;
}

std::vector<Verdict> possible_verdicts(const command::DrawState& state, uint32_t draw, bool counts, TileHistory& all) {
  // Draws before it only ever take something away, and what they take from its being opaque they take at once.
  TileHistory none;
  const Verdict first = judge(state, draw, counts, none), after_all = judge(state, draw, counts, all);
  if (!first.compatible) return {};
  all.written_colors |= none.written_colors;  // some tile took it, even where this one would not
  if (!after_all.compatible || after_all.opaque == first.opaque) return {first};
  return {first, after_all};
}

}  // namespace tilegpu::hsr
