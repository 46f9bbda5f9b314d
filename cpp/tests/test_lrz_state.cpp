// test_lrz_state.cpp -- the rules of low-resolution Z: every row of Turnip's condition table, with the severity that it names; the
// stencil rules; the Z mode; the direction of the three generations; what survives a pass.
#include <cstring>

#include "check.hpp"
#include "hsr/lrz_state.hpp"

using namespace tilegpu;
using namespace tilegpu::hsr;

namespace {

constexpr uint32_t kA630 = 1, kA650 = 3, kA740 = 4;

LrzDrawFacts opaque(VkCompareOp compare = VK_COMPARE_OP_LESS, bool write = true) {
  LrzDrawFacts d;
  d.depth_test = true;
  d.depth_write = write;
  d.compare = compare;
  d.writes_color = d.overwrites_color = true;
  return d;
}
LrzState cleared(uint32_t generation) { return lrz_begin_pass(generation, {}, nullptr); }

// The draw after a first opaque LESS draw; and what a further opaque draw gets.
struct Row {
  LrzDecision here, after;
};
Row after_opaque(const LrzDrawFacts& draw, uint32_t generation = kA630) {
  LrzState s = cleared(generation);
  const LrzDecision first = lrz_draw(s, opaque(), 0);
  CHECK(first.severity == LrzSeverity::none && first.test && first.write && !*first.reason && first.cause == -1);
  Row row;
  row.here = lrz_draw(s, draw, 1);
  row.after = lrz_draw(s, opaque(), 2);
  return row;
}
bool mentions(const LrzDecision& d, const char* words) { return std::strstr(d.reason, words) != nullptr; }

void expect(const Row& row, LrzSeverity here, LrzSeverity after, const char* words) {
  CHECK_MESSAGE(row.here.severity == here, std::string(lrz_severity_name(row.here.severity)) + ": " + row.here.reason);
  CHECK_MESSAGE(row.after.severity == after, std::string(lrz_severity_name(row.after.severity)) + ": " + row.after.reason);
  CHECK_MESSAGE(mentions(row.here, words), row.here.reason);
  CHECK(row.here.test == (here < LrzSeverity::off_draw));
  if (here != LrzSeverity::none) CHECK(!row.here.write && row.here.cause == 1);
  if (after != LrzSeverity::none) CHECK(row.after.cause == 1 && !row.after.write && row.after.reason == row.here.reason);
}

void test_plain_draws() {
  for (VkCompareOp op : {VK_COMPARE_OP_LESS, VK_COMPARE_OP_LESS_OR_EQUAL, VK_COMPARE_OP_GREATER, VK_COMPARE_OP_GREATER_OR_EQUAL}) {
    LrzState s = cleared(kA630);
    const LrzDecision d = lrz_draw(s, opaque(op), 0);
    const bool less = op == VK_COMPARE_OP_LESS || op == VK_COMPARE_OP_LESS_OR_EQUAL;
    CHECK(d.test && d.write && d.severity == LrzSeverity::none && !*d.reason);
    CHECK(d.direction == (less ? LrzDirection::less : LrzDirection::greater) && s.direction == d.direction);
  }
  // Without depth write the direction stays open.
  LrzState s = cleared(kA630);
  CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_GREATER, false), 0).test && s.direction == LrzDirection::unknown);
  CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_LESS, true), 1).write && s.direction == LrzDirection::less);
}

void test_compare_operations() {
  using S = LrzSeverity;
  LrzDrawFacts d = opaque();
  d.depth_test = d.depth_write = false;
  expect(after_opaque(d), S::off_draw, S::none, "no depth test");
  expect(after_opaque(opaque(VK_COMPARE_OP_EQUAL)), S::off_draw, S::none, "EQUAL");
  expect(after_opaque(opaque(VK_COMPARE_OP_NEVER)), S::off_draw, S::none, "NEVER");
  expect(after_opaque(opaque(VK_COMPARE_OP_ALWAYS, false)), S::off_draw, S::none, "ALWAYS");
  expect(after_opaque(opaque(VK_COMPARE_OP_NOT_EQUAL, false)), S::off_draw, S::none, "NOT_EQUAL");
  expect(after_opaque(opaque(VK_COMPARE_OP_ALWAYS)), S::invalid, S::invalid, "ALWAYS");
  expect(after_opaque(opaque(VK_COMPARE_OP_NOT_EQUAL)), S::invalid, S::invalid, "NOT_EQUAL");
  expect(after_opaque(opaque(VK_COMPARE_OP_GREATER, false)), S::off_draw, S::none, "direction");
  expect(after_opaque(opaque(VK_COMPARE_OP_GREATER_OR_EQUAL)), S::invalid, S::invalid, "direction");
  expect(after_opaque(opaque(VK_COMPARE_OP_GREATER), kA650), S::invalid, S::invalid, "direction");
}

void test_depth_of_shaders() {
  using S = LrzSeverity;
  LrzDrawFacts d = opaque();
  d.writes_depth = true;
  for (uint32_t generation : {kA630, kA650, kA740}) expect(after_opaque(d, generation), S::off_draw, S::none, "gl_FragDepth");
  CHECK(after_opaque(d).here.z_mode == LrzZMode::late_z);
  d.depth_layout = shader::DepthLayout::greater;
  expect(after_opaque(d), S::write_off_draw, S::none, "may move depth");  // stays on; the interpolated depth is no bound of what is written
  CHECK(after_opaque(d).here.test && after_opaque(d).here.z_mode != LrzZMode::late_z);
  d.depth_layout = shader::DepthLayout::unchanged;
  expect(after_opaque(d), S::none, S::none, "");
  d.depth_layout = shader::DepthLayout::less;  // the wrong one for LESS
  expect(after_opaque(d), S::off_draw, S::none, "gl_FragDepth");
  d.compare = VK_COMPARE_OP_GREATER;
  LrzState greater = cleared(kA630);
  CHECK(lrz_draw(greater, d, 0).severity == S::write_off_draw);
  d = opaque();
  d.writes_depth = d.early_fragment_tests = true;  // what the shader writes is ignored
  expect(after_opaque(d), S::none, S::none, "");
}

void test_side_effects() {
  using S = LrzSeverity;
  LrzDrawFacts d = opaque();
  d.side_effects = true;
  expect(after_opaque(d), S::off_draw, S::none, "asks which invocations of a subgroup run");
  d.writes_memory = true;
  expect(after_opaque(d), S::off_draw, S::none, "writes memory");
  // Direction still unknown: the GPU can not tell it any more.
  for (bool effects : {false, true}) {
    d = opaque();
    (effects ? d.side_effects : d.writes_depth) = true;
    for (uint32_t generation : {kA630, kA650, kA740}) {
      LrzState s = cleared(generation);
      const bool tracked = generation >= kLrzGpuTracking;
      CHECK(lrz_draw(s, d, 0).severity == (tracked ? S::invalid : S::off_draw));
      CHECK(lrz_draw(s, opaque(), 1).severity == (tracked ? S::invalid : S::none));
    }
  }
}

void test_what_kills_samples() {
  using S = LrzSeverity;
  LrzDrawFacts d = opaque();
  d.discards = true;
  expect(after_opaque(d), S::write_off_draw, S::none, "discards");
  // From gen3 on, of what is tested and not tested late (has_lrz_feedback in Mesa's table of devices).
  CHECK(!after_opaque(d).here.feedback && after_opaque(d, kA650).here.feedback && after_opaque(d, kA740).here.feedback);
  LrzDrawFacts late = opaque();
  late.writes_depth = true;
  CHECK(!after_opaque(late, kA650).here.feedback && !after_opaque(late, kA740).here.feedback);
  d = opaque();
  d.alpha_to_coverage = true;
  expect(after_opaque(d), S::write_off_draw, S::none, "alpha to coverage");
  d = opaque();
  d.writes_sample_mask = true;
  expect(after_opaque(d), S::write_off_draw, S::none, "gl_SampleMask");
  d = opaque();
  d.masks_samples = true;
  expect(after_opaque(d), S::write_off_draw, S::none, "static sample mask");
}

void test_stencil() {
  using S = LrzSeverity;
  LrzDrawFacts d = opaque();
  d.stencil_test = true;
  d.front.compareOp = d.back.compareOp = VK_COMPARE_OP_ALWAYS;
  expect(after_opaque(d), S::none, S::none, "");
  for (VkStencilOpState* face : {&d.front, &d.back}) {
    face->compareOp = VK_COMPARE_OP_EQUAL;
    expect(after_opaque(d), S::write_off_pass, S::write_off_pass, "stencil test may kill");
    face->compareOp = VK_COMPARE_OP_ALWAYS;
    face->writeMask = 0xff;
    face->passOp = VK_STENCIL_OP_REPLACE;
    expect(after_opaque(d), S::write_off_pass, S::write_off_pass, "depends on the depth test");
    face->passOp = VK_STENCIL_OP_KEEP;
    face->depthFailOp = VK_STENCIL_OP_INVERT;
    LrzState s = cleared(kA630);
    lrz_draw(s, opaque(), 0);
    const LrzDecision here = lrz_draw(s, d, 1), after = lrz_draw(s, opaque(), 2);
    CHECK(here.severity == S::off_draw && mentions(here, "stencil is written where the depth test fails"));
    CHECK(after.severity == S::write_off_pass && after.test && mentions(after, "depends on the depth test") && after.cause == 1);
    face->depthFailOp = VK_STENCIL_OP_KEEP;
    face->writeMask = 0;
  }
}

void test_colour() {
  using S = LrzSeverity;
  LrzDrawFacts d = opaque();
  d.overwrites_color = false;
  expect(after_opaque(d), S::write_off_pass, S::write_off_pass, "does not replace");
  d.depth_write = false;  // blended, tested, not written: harmless
  expect(after_opaque(d), S::none, S::none, "");
  d = opaque();
  d.writes_color = d.overwrites_color = false;
  expect(after_opaque(d), S::write_off_pass, S::write_off_pass, "no colour");
  LrzState first = cleared(kA630);
  CHECK(lrz_draw(first, d, 0).write && lrz_draw(first, d, 1).write);  // depth-only draws first are fine
  CHECK(lrz_draw(first, opaque(), 2).write);
  LrzDrawFacts untested = opaque();
  untested.depth_test = untested.depth_write = false;
  LrzState painted = cleared(kA630);
  lrz_draw(painted, untested, 0);  // colour without a depth test is never rejected
  CHECK(lrz_draw(painted, d, 1).write);
}

void test_clears_within_a_pass() {
  using S = LrzSeverity;
  LrzState s = cleared(kA740);
  lrz_draw(s, opaque(), 0);
  lrz_clear_attachment(s, VK_IMAGE_ASPECT_COLOR_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
  CHECK(lrz_draw(s, opaque(), 1).write);
  lrz_clear_attachment(s, VK_IMAGE_ASPECT_DEPTH_BIT);
  const LrzDecision late = lrz_draw(s, opaque(), 2);
  CHECK(late.severity == S::invalid && !late.test && mentions(late, "vkCmdClearAttachments"));
}

// What the tables leave open and Vulkan's order decides.
void test_exact_rules() {
  using S = LrzSeverity;
  LrzDrawFacts d = opaque();
  d.query = true;
  LrzState s = cleared(kA630);
  lrz_draw(s, opaque(), 0);
  const LrzDecision counted = lrz_draw(s, d, 1), after = lrz_draw(s, opaque(), 2);
  CHECK(counted.severity == S::off_draw && mentions(counted, "occlusion query"));
  CHECK(after.severity == S::write_off_pass && after.test);
  d = opaque();
  d.bounds_test = true;
  expect(after_opaque(d), S::write_off_pass, S::write_off_pass, "depth bounds");
  d = opaque();
  d.side_effects = d.early_fragment_tests = true;
  expect(after_opaque(d), S::write_off_pass, S::write_off_pass, "early tests");
  d = opaque();
  d.discards = d.early_fragment_tests = true;
  expect(after_opaque(d), S::write_off_pass, S::write_off_pass, "before the shader discards");
  d = opaque();
  d.reads_tile = true;
  d.overwrites_color = true;
  expect(after_opaque(d), S::write_off_pass, S::write_off_pass, "reads the tile");
  d.depth_write = false;
  expect(after_opaque(d), S::none, S::none, "");
}

void test_stencil_rules() {
  struct Case {
    VkCompareOp compare;
    VkStencilOp fail, pass, depth_fail;
    bool written_on_fail, depends;
  };
  constexpr VkStencilOp K = VK_STENCIL_OP_KEEP, R = VK_STENCIL_OP_REPLACE;
  constexpr VkCompareOp kAlways = VK_COMPARE_OP_ALWAYS, kNever = VK_COMPARE_OP_NEVER, kEqual = VK_COMPARE_OP_EQUAL;
  constexpr Case cases[] = {
      {kAlways, K, K, K, false, false}, {kAlways, R, K, K, false, false}, {kAlways, K, R, K, false, true}, {kAlways, K, K, R, true, true},
      {kNever, K, K, K, false, false},  {kNever, R, K, K, true, true},    {kNever, K, R, R, false, false}, {kEqual, K, K, K, false, false},
      {kEqual, R, K, K, true, true},    {kEqual, K, R, K, false, true},   {kEqual, K, K, R, true, true},
  };
  for (const Case& c : cases) {
    VkStencilOpState face{c.fail, c.pass, c.depth_fail, c.compare, 0xff, 0xff, 1};
    CHECK(lrz_stencil_written_on_depth_fail(face) == c.written_on_fail);
    CHECK(lrz_stencil_depends_on_depth(face) == c.depends);
    face.writeMask = 0;
    CHECK(!lrz_stencil_written_on_depth_fail(face) && !lrz_stencil_depends_on_depth(face));
  }
}

void test_z_mode() {
  using M = LrzZMode;
  LrzDrawFacts d = opaque();
  CHECK(lrz_z_mode(d) == M::early_z);
  for (bool LrzDrawFacts::* kill : {&LrzDrawFacts::discards, &LrzDrawFacts::writes_sample_mask, &LrzDrawFacts::alpha_to_coverage}) {
    d = opaque();
    d.*kill = true;
    CHECK(lrz_z_mode(d) == M::early_z_late_z);
    d.per_sample = true;
    CHECK(lrz_z_mode(d) == M::late_z);
    d.per_sample = false;
    d.stencil_test = true;
    d.front = {VK_STENCIL_OP_KEEP, VK_STENCIL_OP_KEEP, VK_STENCIL_OP_INVERT, VK_COMPARE_OP_ALWAYS, 0xff, 0xff, 0};
    d.back = d.front;
    CHECK(lrz_z_mode(d) == M::late_z);
    d.early_fragment_tests = true;
    CHECK(lrz_z_mode(d) == M::early_z);
    d = opaque(VK_COMPARE_OP_LESS, false);
    d.*kill = true;
    CHECK(lrz_z_mode(d) == M::early_z);  // nothing is written
    d.query = true;
    CHECK(lrz_z_mode(d) == M::early_z_late_z);
    d.depth_test = false;
    CHECK(lrz_z_mode(d) == M::late_z);
  }
  d = opaque();
  d.reads_tile = true;
  CHECK(lrz_z_mode(d) == M::early_z_late_z);
  d = opaque();
  d.side_effects = true;
  CHECK(lrz_z_mode(d) == M::late_z);
  d = opaque();
  d.writes_depth = true;
  CHECK(lrz_z_mode(d) == M::late_z);
  d.depth_layout = shader::DepthLayout::greater;
  CHECK(lrz_z_mode(d) == M::early_z);
  // Late Z leaves no early test: discard with sample shading.
  d = opaque();
  d.discards = d.per_sample = true;
  LrzState s = cleared(kA630);
  const LrzDecision late = lrz_draw(s, d, 0);
  CHECK(late.severity == LrzSeverity::off_draw && mentions(late, "late"));
}

void test_passes() {
  using S = LrzSeverity;
  const auto first = [](uint32_t generation, const LrzPassFacts& facts, const LrzState* saved = nullptr) {
    LrzState s = lrz_begin_pass(generation, facts, saved);
    return lrz_draw(s, opaque(), 0);
  };
  CHECK(first(0, {}).severity == S::off_pass);
  for (uint32_t generation : {kA630, kA650, kA740}) {
    const bool tracked = generation >= kLrzGpuTracking;
    LrzPassFacts p;
    CHECK(first(generation, p).severity == S::none);
    p.depth_attachment = false;
    CHECK(first(generation, p).severity == S::off_pass);
    p = {};
    p.several_depth_images = true;
    CHECK(first(generation, p).severity == S::off_pass);
    for (bool LrzPassFacts::* fact : {&LrzPassFacts::single_sampled, &LrzPassFacts::density_map_offset}) {
      p = {};
      p.*fact = true;
      CHECK(first(generation, p).severity == S::none);
      p.load_op = VK_ATTACHMENT_LOAD_OP_LOAD;
      CHECK(first(generation, p).severity == S::off_pass);
    }
    for (bool LrzPassFacts::* fact : {&LrzPassFacts::secondaries, &LrzPassFacts::suspends}) {
      p = {};
      p.*fact = true;
      CHECK(first(generation, p).severity == (tracked ? S::none : S::off_pass));
    }
    // Loads: reuse, for the same view and untouched contents only.
    LrzState left = cleared(generation);
    lrz_draw(left, opaque(), 0);
    p = {};
    p.load_op = VK_ATTACHMENT_LOAD_OP_LOAD;
    p.same_view = p.contents_kept = true;
    CHECK(first(generation, p, &left).severity == (tracked ? S::none : S::off_pass));
    if (!tracked) continue;
    CHECK(first(generation, p, nullptr).severity == S::invalid);
    p.same_view = false;
    CHECK(first(generation, p, &left).severity == S::invalid && mentions(first(generation, p, &left), "depth view"));
    p.same_view = true;
    p.contents_kept = false;
    CHECK(first(generation, p, &left).severity == S::invalid && mentions(first(generation, p, &left), "outside the pass"));
    p.contents_kept = true;
    // The direction comes along; so does the end.
    LrzState next = lrz_begin_pass(generation, p, &left);
    CHECK(next.direction == LrzDirection::less);
    CHECK(lrz_draw(next, opaque(VK_COMPARE_OP_GREATER), 0).severity == S::invalid);
    LrzState ended = left;
    lrz_draw(ended, opaque(VK_COMPARE_OP_ALWAYS), 1);
    CHECK(first(generation, p, &ended).severity == S::invalid && mentions(first(generation, p, &ended), "ALWAYS"));
    // The first culprit stays, with its draw and pass.
    p.left_by = "first";
    LrzState later = lrz_begin_pass(generation, p, &ended);
    p.left_by = "second";
    later = lrz_begin_pass(generation, p, &later);
    CHECK(describe(lrz_draw(later, opaque(), 0), 0, later.cause_pass).ends_with("with depth write (draw 1 of pass 'first')"));
    p.left_whole = false;
    CHECK(mentions(first(generation, p, &left), "a part of the depth image, or did not store"));
    p.left_whole = true, p.covers_view = false;
    CHECK(mentions(first(generation, p, &left), "the render area is a part"));
    p.covers_view = true;
    // Writes that were off for the rest of a pass come back with the next; a clear makes everything new.
    LrzState blended = left;
    LrzDrawFacts d = opaque();
    d.overwrites_color = false;
    lrz_draw(blended, d, 1);
    CHECK(blended.writes_off && first(generation, p, &blended).write);
    p.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
    CHECK(first(generation, p, &ended).write);
    p.load_op = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    CHECK(first(generation, p, &left).severity == S::invalid);
  }
}

void test_bidirectional() {
  using S = LrzSeverity;
  // Off by default, and before A7xx whatever is asked for.
  for (LrzState s : {cleared(kA740), lrz_begin_pass(kA650, {}, nullptr, true)}) {
    CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_LESS), 0).write);
    CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_GREATER, false), 1).severity == S::off_draw);
    CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_GREATER), 2).severity == S::invalid);
  }
  LrzState s = lrz_begin_pass(kA740, {}, nullptr, true);
  CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_GREATER, false), 0).test);
  CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_LESS), 1).write);
  CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_GREATER, false), 2).test);  // against the other buffer
  const LrzDecision second = lrz_draw(s, opaque(VK_COMPARE_OP_GREATER), 3);
  CHECK(second.write && second.severity == S::none && second.direction == LrzDirection::greater);
  CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_LESS, false), 4).severity == S::off_draw);  // depth has grown: the first buffer's bounds are gone
  CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_GREATER), 5).write);
  CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_LESS), 6).severity == S::invalid);
  CHECK(lrz_draw(s, opaque(VK_COMPARE_OP_GREATER), 7).severity == S::invalid);
}

}  // namespace

int main() {
  test_plain_draws();
  test_compare_operations();
  test_depth_of_shaders();
  test_side_effects();
  test_what_kills_samples();
  test_stencil();
  test_colour();
  test_clears_within_a_pass();
  test_exact_rules();
  test_stencil_rules();
  test_z_mode();
  test_passes();
  test_bidirectional();
  return test::finish("lrz_state");
}
