// hsr/lrz_state.cpp -- see lrz_state.hpp.
#include "hsr/lrz_state.hpp"

#include "records/coverage_rule.hpp"

#include <cassert>

namespace tilegpu::hsr {

namespace {

LrzDirection direction_of(VkCompareOp compare) {
  switch (compare) {
    case VK_COMPARE_OP_LESS:
    case VK_COMPARE_OP_LESS_OR_EQUAL:
      return LrzDirection::less;
    case VK_COMPARE_OP_GREATER:
    case VK_COMPARE_OP_GREATER_OR_EQUAL:
      return LrzDirection::greater;
    default:
      return LrzDirection::unknown;
  }
}

// The shader's depth can only make the test harder to pass than the interpolated one.
bool layout_keeps(shader::DepthLayout layout, LrzDirection direction) {
  return layout == shader::DepthLayout::unchanged || (layout == shader::DepthLayout::greater && direction == LrzDirection::less) ||
         (layout == shader::DepthLayout::less && direction == LrzDirection::greater);
}

bool may_kill(const LrzDrawFacts& d) { return d.discards || d.writes_sample_mask || d.alpha_to_coverage; }
bool ops(const VkStencilOpState& f) { return f.failOp != VK_STENCIL_OP_KEEP || f.depthFailOp != VK_STENCIL_OP_KEEP; }

// The strongest rule wins; among equals the first.
struct Verdict {
  LrzSeverity severity = LrzSeverity::none;
  const char* reason = "";
  bool write_off_pass = false;  // beside a stronger rule for this draw
  const char* write_reason = "";
  void add(LrzSeverity s, const char* why) {
    if (s == LrzSeverity::write_off_pass && !write_off_pass) write_off_pass = true, write_reason = why;
    if (s > severity) severity = s, reason = why;
  }
};

// What keeps later depth away from this draw and those before it: somebody sees the result of its tests, or what it leaves of
// the colour below, so that a fragment before it must not be missing.
void add_pass_rules(const LrzState& s, const LrzDrawFacts& d, Verdict& v) {
  constexpr LrzSeverity kPass = LrzSeverity::write_off_pass;
  const bool stencil = d.stencil_test && d.depth_test;  // without a depth test nothing here depends on depth
  const bool stencil_kills = stencil && (d.front.compareOp != VK_COMPARE_OP_ALWAYS || d.back.compareOp != VK_COMPARE_OP_ALWAYS);
  if (stencil_kills) v.add(kPass, "the stencil test may kill");
  if (stencil && (lrz_stencil_depends_on_depth(d.front) || lrz_stencil_depends_on_depth(d.back)))
    v.add(kPass, "what is written to stencil depends on the depth test");
  if (d.depth_write && d.writes_color && !d.overwrites_color)
    v.add(kPass, "writes depth over colour that it does not replace: blending, a logic op, a write mask or an attachment left out");
  if (d.depth_write && !d.writes_color && s.color_tested)
    v.add(kPass, "writes depth and no colour after a draw that wrote colour with a depth test");
  // Exact: what the tables leave open.
  if (d.depth_write && d.early_fragment_tests && may_kill(d))
    v.add(kPass, "writes depth before the shader discards: the colour below may stay");
  if (d.bounds_test) v.add(kPass, "the depth bounds test depends on the depth below");
  if (d.query && d.depth_test) v.add(kPass, "an occlusion query counts what passes");
  if (d.side_effects && d.early_fragment_tests && d.depth_test)
    v.add(kPass, d.writes_memory ? "the fragment shader writes memory for what passes its early tests"
                                 : "the fragment shader asks which invocations of a subgroup pass its early tests");
  if (d.reads_tile && (d.depth_write || d.side_effects || d.stencil_test || d.query)) v.add(kPass, "the fragment shader reads the tile");
}

// The direction lock, and what does not go with it. Returns the direction that the draw has.
LrzDirection add_direction_rules(LrzState& s, const LrzDrawFacts& d, Verdict& v) {
  const LrzDirection direction = direction_of(d.compare);
  if (d.compare == VK_COMPARE_OP_EQUAL || d.compare == VK_COMPARE_OP_NEVER) {
    v.add(LrzSeverity::off_draw, d.compare == VK_COMPARE_OP_EQUAL ? "depth compare is EQUAL" : "depth compare is NEVER");
  } else if (direction == LrzDirection::unknown) {
    const bool always = d.compare == VK_COMPARE_OP_ALWAYS;
    if (d.depth_write)
      v.add(LrzSeverity::invalid, always ? "depth compare is ALWAYS, with depth write" : "depth compare is NOT_EQUAL, with depth write");
    else
      v.add(LrzSeverity::off_draw, always ? "depth compare is ALWAYS" : "depth compare is NOT_EQUAL");
  } else if (s.direction == LrzDirection::unknown) {
    if (d.depth_write) {
      s.direction = direction;
      s.used[lrz_index(direction)] = true;
    }
  } else if (direction != s.direction) {
    const bool second = s.bidirectional;
    if (!d.depth_write) {
      if (!second || s.closed[lrz_index(direction)])
        v.add(LrzSeverity::off_draw, "depth compare has the other direction than the depth writes before");
    } else if (second && !s.used[lrz_index(direction)]) {
      s.closed[lrz_index(s.direction)] = true;
      s.direction = direction;
      s.used[lrz_index(direction)] = true;
    } else {
      v.add(LrzSeverity::invalid, second ? "the direction of depth writes changed a second time" : "the direction of depth writes changed");
    }
  }
  return direction;
}

}  // namespace

const char* lrz_severity_name(LrzSeverity severity) {
  constexpr const char* kNames[] = {
      "on", "write off for the draw", "write off for the rest of the pass", "off for the draw", "off for the pass", "invalid until clear"};
  return kNames[static_cast<size_t>(severity)];
}

std::string describe(const LrzDecision& d, int32_t number, const std::string& cause_pass) {
  if (d.severity == LrzSeverity::none) return "";
  std::string text = std::string(lrz_severity_name(d.severity)) + ": " + d.reason;
  if (d.cause_before)
    text += (d.cause >= 0 ? " (draw " + std::to_string(d.cause) + " of pass '" : std::string(" (pass '")) + cause_pass + "')";
  else if (d.cause >= 0 && d.cause != number)
    text += " (draw " + std::to_string(d.cause) + ")";
  return text;
}

bool lrz_stencil_written_on_depth_fail(const VkStencilOpState& f) {
  if (!(f.writeMask & 0xff)) return false;
  if (f.compareOp == VK_COMPARE_OP_ALWAYS) return f.depthFailOp != VK_STENCIL_OP_KEEP;
  if (f.compareOp == VK_COMPARE_OP_NEVER) return f.failOp != VK_STENCIL_OP_KEEP;
  return ops(f);
}

bool lrz_stencil_depends_on_depth(const VkStencilOpState& f) {
  if (!(f.writeMask & 0xff)) return false;
  if (f.compareOp == VK_COMPARE_OP_NEVER) return f.failOp != VK_STENCIL_OP_KEEP;
  return lrz_stencil_written_on_depth_fail(f) || f.passOp != VK_STENCIL_OP_KEEP;
}

LrzZMode lrz_z_mode(const LrzDrawFacts& d) {
  if (d.early_fragment_tests) return LrzZMode::early_z;
  const LrzDirection direction = direction_of(d.compare);
  if (d.side_effects || d.writes_stencil || (d.writes_depth && !layout_keeps(d.depth_layout, direction))) return LrzZMode::late_z;
  const bool writes = d.depth_write || (d.stencil_test && ((d.front.writeMask | d.back.writeMask) & 0xff));
  const bool late_write = (may_kill(d) && (writes || d.query)) || (d.reads_tile && writes);
  if (!late_write) return LrzZMode::early_z;
  const bool stencil_on_fail = d.stencil_test && (lrz_stencil_written_on_depth_fail(d.front) || lrz_stencil_written_on_depth_fail(d.back));
  return stencil_on_fail || d.per_sample || !d.depth_test ? LrzZMode::late_z : LrzZMode::early_z_late_z;
}

LrzDrawFacts lrz_draw_facts(const command::DrawState& state, bool query, bool has_depth, bool has_stencil) {
  const pipeline::Resolved& resolved = *state.resolved;
  const shader::StageTraits& t = resolved.traits(VK_SHADER_STAGE_FRAGMENT_BIT);
  const pipeline::Classification& c = resolved.classification;
  const bool shaded = resolved.shades();
  LrzDrawFacts d;
  d.depth_test = state.depth_stencil.depth_test && has_depth;
  d.depth_write = state.depth_stencil.depth_write && d.depth_test;
  d.compare = state.depth_stencil.depth_compare;
  d.bounds_test = state.depth_stencil.depth_bounds_test && has_depth;
  d.stencil_test = state.depth_stencil.stencil_test && has_stencil;
  d.front = state.depth_stencil.front;
  d.back = state.depth_stencil.back;
  const uint32_t samples = static_cast<uint32_t>(state.multisample.samples);
  const uint32_t all = samples >= 32 ? ~0u : (1u << samples) - 1;
  d.masks_samples = (state.multisample.sample_mask & all) != all;
  d.query = query;
  const records::CoverageRule rule = records::coverage_rule(state);
  d.conservative = rule.conservative();
  d.lines = rule.lines();
  d.discards_pixels = rule.discard;
  if (!shaded) return d;
  d.early_fragment_tests = t.early_fragment_tests;
  d.writes_depth = t.writes_depth;
  d.writes_stencil = t.writes_stencil;
  // A layout's word is about the fragment's centre, which lies beyond the triangle where it covers another sample or pixel alone; the depth
  // there may lie beyond its vertices'.
  d.depth_of_centre = t.depth_layout != shader::DepthLayout::any && ((samples > 1 && !c.per_sample) || c.coarse);
  d.depth_layout = d.depth_of_centre ? shader::DepthLayout::any : t.depth_layout;
  d.side_effects = c.side_effects;
  d.writes_memory = t.writes_memory;
  d.discards = t.discards;
  d.writes_sample_mask = t.writes_sample_mask;
  d.alpha_to_coverage = state.multisample.alpha_to_coverage;
  d.per_sample = c.per_sample;
  d.reads_tile = t.reads_tile;
  d.writes_color = c.writes_color;
  d.overwrites_color = c.opaque;
  return d;
}

LrzState lrz_begin_pass(uint32_t generation, const LrzPassFacts& p, const LrzState* saved, bool bidirectional) {
  LrzState s;
  s.generation = generation;
  s.bidirectional = bidirectional && generation >= kLrzBidirectional;
  const bool load = p.load_op == VK_ATTACHMENT_LOAD_OP_LOAD, clear = p.load_op == VK_ATTACHMENT_LOAD_OP_CLEAR;
  const auto off = [&](const char* reason) {
    s.reason = reason;
    return s;
  };
  if (generation == 0) return off("the profile has no low-resolution Z");
  if (!p.depth_attachment) return off("the pass has no depth attachment");
  if (p.several_layers) return off("draws go to several layers or views: the buffer is one layer's");
  if (p.several_viewports) return off("a vertex shader writes gl_ViewportIndex: the buffer is tested and written within one scissor");
  if (p.several_depth_images) return off("several depth images in one pass");
  if (p.single_sampled && load) return off("multisampled rendering to a single-sampled image loads depth");
  if (p.density_map_offset && load) return off("a density map offset with loaded depth");
  if (generation < kLrzGpuTracking) {
    if (!clear) return off("depth is not cleared by the pass: the direction is tracked by the CPU, nothing is known of earlier passes");
    if (p.secondaries) return off("secondary command buffers: the direction is tracked by the CPU");
    if (p.suspends) return off("the pass is suspended or resumed: the direction is tracked by the CPU");
  }
  s.off = false;
  if (clear) {
    s.valid = true;
    return s;
  }
  s.reason = "depth is neither cleared nor loaded";
  if (!load) return s;
  s.reason = "no pass left low-resolution Z for this depth image";
  if (!saved) return s;
  s.reason = "the depth view is another one than that of the pass before";
  s.cause_pass = p.left_by;
  if (!p.same_view) return s;
  if (saved->off || !saved->valid) {  // the first culprit stays, however many passes ask
    s.reason = saved->reason;
    s.cause = saved->cause;
    if (!saved->cause_pass.empty()) s.cause_pass = saved->cause_pass;
    return s;
  }
  s.cause_pass.clear();
  s.reason = "the depth image was written outside the pass (copy, blit, clear, resolve, another pass)";
  if (!p.contents_kept) return s;
  s.reason = "it drew to a part of the depth image, or did not store depth";
  s.cause_pass = p.left_by;
  if (!p.left_whole) return s;
  s.cause_pass.clear();
  s.reason = "the render area is a part of the depth image, which is loaded";
  if (!p.covers_view) return s;
  s.reason = "the pass before kept a buffer for each direction, this one keeps one";
  if (saved->bidirectional != s.bidirectional && (saved->closed[0] || saved->closed[1])) return s;
  const bool both = s.bidirectional;
  s = *saved;
  s.generation = generation;
  s.bidirectional = both;
  s.off = s.writes_off = s.color_tested = false;
  s.writes_reason = "";
  s.cause = s.writes_cause = -1;
  return s;
}

LrzDecision lrz_draw(LrzState& s, const LrzDrawFacts& d, int32_t number) {
  LrzDecision out;
  out.z_mode = lrz_z_mode(d);
  if (s.off || !s.valid) {
    out.severity = s.off ? LrzSeverity::off_pass : LrzSeverity::invalid;
    out.reason = s.reason;
    out.cause = s.cause;
    out.cause_before = !s.cause_pass.empty();
    return out;
  }
  Verdict v;
  assert(s.generation > 0);  // a profile without low-resolution Z is off
  const bool was_unknown = s.direction == LrzDirection::unknown;
  LrzDirection direction = LrzDirection::unknown;
  add_pass_rules(s, d, v);
  if (!d.depth_test) {
    v.add(LrzSeverity::off_draw, "no depth test");
  } else {
    direction = add_direction_rules(s, d, v);
    const bool late_depth = d.writes_depth && !d.early_fragment_tests && !layout_keeps(d.depth_layout, direction);
    const bool late_effects = d.side_effects && !d.early_fragment_tests;
    if (late_depth || late_effects) {
      const bool lost = was_unknown && s.generation >= kLrzGpuTracking;
      v.add(lost ? LrzSeverity::invalid : LrzSeverity::off_draw,
            late_depth && d.depth_of_centre
                ? "the fragment shader writes gl_FragDepth, whose layout is about the fragment's centre and not about each sample"
            : late_depth      ? "the fragment shader writes gl_FragDepth without a layout that keeps the direction"
            : d.writes_memory ? "the fragment shader writes memory and does not ask for early_fragment_tests"
                              : "the fragment shader asks which invocations of a subgroup run, and not for early_fragment_tests");
    }
    if (d.stencil_test && (lrz_stencil_written_on_depth_fail(d.front) || lrz_stencil_written_on_depth_fail(d.back)))
      v.add(LrzSeverity::off_draw, "stencil is written where the depth test fails");
    if (d.query) v.add(LrzSeverity::off_draw, "an occlusion query counts what passes");
    if (d.conservative) v.add(LrzSeverity::off_draw, "conservative rasterization: coverage says nothing of the samples of a texel");
    if (d.lines) v.add(LrzSeverity::off_draw, "lines that are no polygons: their pixels may lie beside the segment");
    if (out.z_mode == LrzZMode::late_z) v.add(LrzSeverity::off_draw, "depth is tested late");
    if (may_kill(d))
      v.add(LrzSeverity::write_off_draw, d.discards             ? "the fragment shader discards"
                                         : d.writes_sample_mask ? "the fragment shader writes gl_SampleMask"
                                                                : "alpha to coverage");
    if (d.masks_samples) v.add(LrzSeverity::write_off_draw, "the static sample mask leaves samples out");
    if (d.discards_pixels) v.add(LrzSeverity::write_off_draw, "discard rectangles leave pixels out");
    if (d.writes_depth && !d.early_fragment_tests && d.depth_layout != shader::DepthLayout::unchanged)
      v.add(LrzSeverity::write_off_draw, "the fragment shader may move depth away from the interpolated one");
    if (d.writes_color) s.color_tested = true;
  }
  if (v.severity == LrzSeverity::invalid) {
    s.valid = false;
    s.reason = v.reason;
    s.cause = number;
    s.cause_pass.clear();
  }
  if (v.write_off_pass && !s.writes_off) {
    s.writes_off = true;
    s.writes_reason = v.write_reason;
    s.writes_cause = number;
  }
  out.severity = v.severity;
  out.reason = v.reason;
  out.cause = v.severity == LrzSeverity::none ? -1 : number;
  if (s.writes_off && d.depth_write && out.severity < LrzSeverity::write_off_pass) {
    out.severity = LrzSeverity::write_off_pass;
    out.reason = s.writes_reason;
    out.cause = s.writes_cause;
  }
  out.direction = direction;
  out.test = out.severity < LrzSeverity::off_draw;
  assert(!out.test || out.direction != LrzDirection::unknown);  // nothing is compared without a direction
  out.write = out.severity == LrzSeverity::none && d.depth_write;
  assert(!out.write || out.test);
  out.tracked = s.direction, out.valid = s.valid;
  // A draw that it is off for has it off in the registers too, and what is tested late is in no feedback's mask.
  out.feedback = s.generation >= kLrzFeedback && s.valid && d.depth_write && out.test && !out.write && out.z_mode != LrzZMode::late_z;
  return out;
}

void lrz_clear_attachment(LrzState& s, VkImageAspectFlags aspects) {
  if (s.off || !s.valid || !(aspects & VK_IMAGE_ASPECT_DEPTH_BIT)) return;
  s.valid = false;
  s.reason = "vkCmdClearAttachments cleared depth inside the pass";
  s.cause = -1;
}

}  // namespace tilegpu::hsr
