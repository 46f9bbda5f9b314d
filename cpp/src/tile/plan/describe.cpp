// tile/plan/describe.cpp -- see describe.hpp.
#include "tile/plan/describe.hpp"

#include <cassert>
#include <iterator>

namespace tilegpu::tile {

namespace {

/// A draw, as the words are about it.
struct Described {
  const PassTraits& pass;
  const command::DrawState& state;
  const TestRules& rules;
  DrawTraits draw;
};

const char* name_of(VkCompareOp op) {
  constexpr const char* kNames[] = {"NEVER", "LESS", "EQUAL", "LESS_OR_EQUAL", "GREATER", "NOT_EQUAL", "GREATER_OR_EQUAL", "ALWAYS"};
  return op < std::size(kNames) ? kNames[op] : "?";
}

std::string describe_tests(const PassTraits& pass, const TilePlan& plan) {
  const TestRules& rules = plan.rules;
  if (!plan.late) return "no tests";
  std::string text = plan.early == EarlyTests::full   ? "early tests"
                     : plan.early == EarlyTests::kill ? "early tests without writes, late tests"
                                                      : "late tests";
  if (rules.bounds_test) text += ", depth bounds";
  if (rules.stencil_test) text += ", stencil";
  if (rules.depth_test) text += std::string(", depth ") + name_of(rules.compare);
  if (pass.filtered) text += ", behind the depth filter";
  if (plan.early != EarlyTests::none && pass.hsr.hierarchical_z && rules.bounded()) text += ", hierarchical Z";
  return text;
}

const char* describe_rule(const records::CoverageRule& rule) {
  switch (rule.line.kind) {
    case records::LineKind::bresenham:
      return rule.line.stippled ? "stippled Bresenham lines one by one" : "Bresenham lines one by one";
    case records::LineKind::rectangle:
      return rule.line.stippled ? "stippled rectangular lines one by one" : "rectangular lines one by one";
    case records::LineKind::smooth:
      return rule.line.stippled ? "stippled smooth lines one by one" : "smooth lines one by one";
    case records::LineKind::triangles:
      break;
  }
  switch (rule.kind) {
    case records::CoverageKind::overestimate:
      return rule.standard ? "overestimated coverage triangle by triangle"
                           : "overestimated coverage triangle by triangle, tests at custom sample locations";
    case records::CoverageKind::underestimate:
      return rule.standard ? "underestimated coverage triangle by triangle"
                           : "underestimated coverage triangle by triangle, tests at custom sample locations";
    case records::CoverageKind::square:
      return rule.standard ? "squares of points one by one" : "squares of points one by one, at custom sample locations";
    case records::CoverageKind::samples:
      break;
  }
  return rule.standard ? "coverage triangle by triangle" : "coverage triangle by triangle, at custom sample locations";
}

// How the draw's samples are found, and tested before shading.
std::string describe_coverage(const Described& of, const TilePlan& plan) {
  const Coverage coverage = coverage_of_draw(plan, {of.draw.counts, false});
  std::string text = coverage == Coverage::at_once  ? "coverage and tests of a batch at once (AVX-512)"
                     : coverage == Coverage::listed ? "coverage of a batch together, into lists of blocks"
                     : coverage == Coverage::ruled  ? describe_rule(plan.rule)
                                                    : "coverage triangle by triangle";
  if (plan.rule.discard)
    text += plan.rule.discard->mode == VK_DISCARD_RECTANGLE_MODE_INCLUSIVE_EXT ? ", within discard rectangles"
                                                                               : ", outside of discard rectangles";
  if (coverage != coverage_of_draw(plan, of.draw)) text += ", but triangle by triangle where low-resolution Z may reject some";
  text += "; " + describe_tests(of.pass, plan);
  if (plan.one_by_one) text += ", each primitive shaded before the next";
  return text;
}

const char* name_of(Epilogue finish) {
  constexpr const char* kNames[] = {"no epilogue", "epilogue in the same code", "epilogue", "epilogue after what the shader decides"};
  assert(static_cast<size_t>(finish) < std::size(kNames));
  return kNames[static_cast<size_t>(finish)];
}

std::string describe_shading(const Described& of, ShadeMoment moment) {
  const ShadePlan shading = plan_shading(of.pass, of.state, moment);
  std::string text = shading.per_sample ? "shaded by samples" : shading.takes_blocks ? "shaded by blocks" : "shaded by quads";
  if (shading.takes_pixels) text += " or groups of pixels";
  text += std::string("; ") + name_of(shading.finish);
  if (!of.draw.above || moment.from_ids) return text;
  moment.ids_below = true;
  if (plan_shading(of.pass, of.state, moment).clears_ids)
    text += "; where the visibility buffer waits below, by quads, which take what they hide out of it before the epilogue";
  return text;
}

ShadeMoment moment_in(const Described& of, const TilePlan& plan, Phase phase) {
  ShadeMoment moment;
  moment.early = plan.early;
  moment.phase = phase;
  moment.late = plan.late;
  moment.counts = of.draw.counts;
  return moment;
}

std::string describe_ordinary(const Described& of) {
  const TilePlan plan = plan_draw(of.pass, of.state, of.rules, Phase::ordinary, {}, false);
  std::string text = describe_coverage(of, plan);
  switch (plan.route) {
    case Route::nothing:
      return text + "; nothing is shaded";
    case Route::visibility:
      text += "; visibility buffer";
      if (plan.lists && coverage_of_draw(plan, {of.draw.counts, false}) != Coverage::listed) text += ", blocks as lists";
      if (plan.covers) text += ", whole blocks as one primitive";
      if (may_swap_draw(of.pass, plan, of.draw)) text += ", near ones first";
      break;
    case Route::shade:
      text += of.pass.hsr.forward_pixel_kill ? "; quad queue, forward pixel kill" : "; quad queue";
  }
  ShadeMoment moment = moment_in(of, plan, Phase::ordinary);
  moment.from_ids = plan.route == Route::visibility;
  return text + "; " + describe_shading(of, moment);
}

std::string describe_pre(const Described& of, const hsr::Verdict& verdict) {
  if (hsr::skips(verdict, of.draw.counts)) return "skipped";
  const TilePlan plan = plan_draw(of.pass, of.state, of.rules, Phase::pre, verdict, false);
  const std::string text = describe_coverage(of, plan) + (plan.route == Route::shade ? "; shaded as far as coverage" : "");
  return text + (verdict.opaque ? "; ids of what is seen are kept" : of.draw.counts ? "; counted" : "");
}

std::string describe_main(const Described& of, const hsr::Verdict& verdict) {
  if (!hsr::draws_again(of.state, verdict)) {
    if (!verdict.opaque) return "nothing is shaded";
    ShadeMoment moment = moment_in(of, plan_draw(of.pass, of.state, of.rules, Phase::pre, verdict, false), Phase::main);
    moment.early = EarlyTests::full;
    moment.from_ids = true;
    return "from the ids, each sample once; " + describe_shading(of, moment);
  }
  Described uncounted = of;  // the pre-pass did
  uncounted.draw.counts = false;
  const TilePlan plan = plan_draw(of.pass, of.state, of.rules, Phase::main, verdict, verdict.opaque);
  ShadeMoment moment = moment_in(uncounted, plan, Phase::main);
  moment.opaque_replay = verdict.opaque;
  std::string text = describe_coverage(uncounted, plan) + "; quad queue";
  text += of.state.resolved->classification.side_effects ? ", every fragment runs, and what is hidden is not written"
                                                         : ", without what newer primitives hide";
  return text + "; " + describe_shading(uncounted, moment);
}

}  // namespace

std::string describe_plan(const PassTraits& pass, const command::DrawState& state, const TestRules& rules, const DrawTraits& draw,
                          const PrepassWays& prepass) {
  assert(pass.hsr.pre_pass || prepass.verdicts.empty());
  assert(prepass.elsewhere || !prepass.verdicts.empty());
  const Described of{pass, state, rules, draw};
  std::string text;
  for (const hsr::Verdict& verdict : prepass.verdicts) {
    text += text.empty() ? "pre-pass: " : " | where draws before it wrote attachments that it leaves alone: pre-pass: ";
    text += describe_pre(of, verdict) + " | main pass: " + describe_main(of, verdict);
  }
  if (prepass.verdicts.empty()) return describe_ordinary(of);
  return prepass.elsewhere ? text + " | in tiles whose pre-pass ended before: " + describe_ordinary(of) : text;
}

}  // namespace tilegpu::tile
