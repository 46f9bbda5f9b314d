// tile/plan/plan.hpp -- which way a draw's primitives take through the tile phase, decided in one place.
//
// In: what is the same in all bins of a pass, a draw's state, the phase that the bin is in. Out: a TilePlan (coverage, tests, where
// fragments go) and a ShadePlan (how they are shaded and what follows). Both are plain and made of nothing else: the tile phase dispatches
// on them, and explanations print them (describe.hpp). What only a bin knows comes on top: lists and covers end in a bin with the first
// draw that they don't serve. Source: Vulkan specification, "Fragment Operations", "Early Fragment Test"; tile_job.cpp has the way as a
// whole.
#pragma once

#include <cstdint>

#include "command/draw.hpp"
#include "hsr/prepass_rules.hpp"
#include "records/coverage_rule.hpp"
#include "tile/plan/test_rules.hpp"

namespace tilegpu::tile {

/// pre: tests, ids, no colours; main: what the pre-pass could not shade from the ids, in order. See tile/prepass.cpp.
enum class Phase : uint8_t { ordinary, pre, main };

/// How the samples of small and medium triangles are found and tested. Large ones go triangle by triangle, through windows of 16x16 pixels.
enum class Coverage : uint8_t {
  each,     // triangle by triangle: window, blocks or rows of blocks, each tested by itself (coverage.hpp, coverage_sink.hpp)
  listed,   // several samples: the blocks of a batch together, into lists of what is seen (batch_coverage.hpp, sample_lists.hpp)
  at_once,  // one sample, AVX-512: covered, tested and numbered in one go (batch_tests.hpp)
  ruled,    // record by record, large or small, by a rule of the draw's own (ruled_coverage.hpp, line_coverage.hpp)
  coarse,   // the same by any rule, for fragments of several pixels: what a record covers is gathered first (shading/coarse.hpp)
};
/// Tests before shading. kill: no write; the test is repeated, with writes, after shading.
enum class EarlyTests : uint8_t { none, kill, full };
/// Where fragments go that passed.
enum class Route : uint8_t {
  nothing,     // only depth and stencil were wanted
  visibility,  // the primitive's number is written: shaded at the flush, once (visibility.cpp)
  shade,       // the quad queue, in order (quad_queue.cpp)
};
/// main phase, what is left of a quad once the shader ran: nothing more to find out; samples that its primitive owns; samples
/// that no later primitive owns; nothing (only side effects).
enum class Keeps : uint8_t { all, owned, not_overdrawn, none };
/// What follows the body of the fragment shader.
enum class Epilogue : uint8_t {
  none,   // no colour is written
  fused,  // blending and formats are in the body's code: whole blocks, or groups of pixels; other quads of such draws as `next`
  next,   // it runs right after the body
  last,   // after discard, masks, late tests, counting (finish_packet)
};

/// Blocks may be kept as the primitives that are seen in them: as lists (several samples, sample_lists.hpp), or as the one that holds all
/// of it (one sample, whole_blocks.hpp).
struct KeptBlocks {
  bool lists = false, covers = false;

  bool operator==(const KeptBlocks&) const = default;
};
/// `filtered`: by the depth filter. `depth_starts_even`: as one value for the bin, or there is none.
KeptBlocks keeps_blocks(const HiddenSurfaceRemoval& hsr, bool compress_samples, bool filtered, uint32_t samples, bool has_depth,
                        bool depth_starts_even);

/// What a plan asks of a pass; the same in all of its bins.
struct PassTraits {
  uint32_t samples = 1;
  bool wide = false;         // AVX-512, 16 lanes
  bool traced = false;       // each fragment is noted: nothing is done for several triangles at once
  bool kept_once = false;    // equal samples may be kept once (tile_io/equal_quads.hpp)
  bool filtered = false;     // depth filter
  bool lrz = false;          // low-resolution Z was made in the geometry phase: draws may be tested against it
  bool exact_kills = false;  // of a modelled GPU: what early tests kill depends on depth alone, not on how many quads wait
  KeptBlocks keeps;
  HiddenSurfaceRemoval hsr;

  bool operator==(const PassTraits&) const = default;
};

struct TilePlan {
  Coverage coverage = Coverage::each;  // of a draw without DrawTraits
  EarlyTests early = EarlyTests::none;
  Route route = Route::nothing;
  bool late = false;           // there is something to test after shading, where it was not done before
  bool one_by_one = false;     // each primitive is shaded before the next is tested (Classification::pins_order; PassTraits::exact_kills)
  bool lists = false;          // blocks may become lists, tested by `list` ...
  bool covers = false;         // ... or may be held by one primitive ...
  bool may_swap = false;       // ... and then draws with plans alike may change places (may_swap_draw)
  bool masks_samples = false;  // the static sample mask leaves some out
  bool smooth_lines = false;   // setups know their lines: fragments' areas go into alpha
  uint64_t sample_mask = 0;    // for every pixel of a quad
  ListTest list;
  records::CoverageRule rule;
  TestRules rules;  // of the tests before shading, or of what would be tested then
};

/// Why the draws do not go through the visibility buffer (shaded once, when the tile's visible primitives are known), in words; null where
/// they do.
const char* visibility_obstacle(const command::DrawState& state);

/// `verdict`: of the pre-pass, in its phases. `opaque_replay`: main phase, what is drawn again was opaque.
TilePlan plan_draw(const PassTraits& pass, const command::DrawState& state, const TestRules& rules, Phase phase,
                   const hsr::Verdict& verdict, bool opaque_replay);

/// As the ordinary phase sees a state.
struct StatePlan {
  TestRules rules;
  TilePlan plan;
};
StatePlan plan_state(const PassTraits& pass, const command::DrawState& state, const tile_io::HostTile& tile);

/// What a draw has beyond its state.
struct DrawTraits {
  bool counts = false;  // an occlusion query is active
  bool lrz = false;     // it is tested against low-resolution Z, by primitives and by blocks
  bool above = false;   // a draw before it went to the visibility buffer: bins may hold what it hides

  bool operator==(const DrawTraits&) const = default;
};
/// The plan's coverage for such a draw: lists don't say which samples passed when, and low-resolution Z rejects one triangle's blocks.
Coverage coverage_of_draw(const TilePlan& plan, const DrawTraits& draw);
/// Draws with plans like this one may change places with it: near ones first (near_to_far.hpp).
bool may_swap_draw(const PassTraits& pass, const TilePlan& plan, const DrawTraits& draw);

/// How quads are shaded: everything that is constant for a draw.
struct ShadePlan {
  Epilogue finish = Epilogue::none;
  bool discards = false, late = false, sample_mask_out = false, alpha_to_coverage = false, per_sample = false;
  bool shader_depth = false, shader_stencil = false;
  bool clears_ids = false;   // what is written hides older primitives of the visibility buffer
  bool checks_once = false;  // quads of the packet may be kept once
  bool keeps_once = false;   // quads all of whose samples are written alike keep one (equal_quads.hpp) ...
  bool replaces = false;     // ... even where they were different before: nothing of the old colours stays
  bool full_raster = false;  // the shader asks for the primitive's true coverage
  bool post_depth = false;   // gl_SampleMaskIn of coarse fragments is what passed the early tests of it
  bool slice = false;        // pre-pass: only coverage is wanted
  bool writes_ids = false;   // pre-pass: what passes is recorded
  bool deferred = false;     // vertices of its primitives may not be shaded yet
  bool smooth_lines = false;
  bool coarse = false;  // fragments of several pixels
  // Fused code over whole blocks that go straight, over groups of pixels from the visibility buffer; where it is compiled.
  bool takes_blocks = false, takes_pixels = false;
  bool counts = false;  // an occlusion query, after shading
  Keeps keeps = Keeps::all;
  bool is_simple() const { return finish == Epilogue::fused || finish == Epilogue::next; }  // outputs go straight to the epilogue
};

/// When a draw is shaded.
struct ShadeMoment {
  EarlyTests early = EarlyTests::full;  // tests that happened before
  Phase phase = Phase::ordinary;
  bool from_ids = false;       // quads come from the visibility buffer
  bool ids_below = false;      // the visibility buffer holds older primitives
  bool opaque = false;         // pre-pass: the draw is, by its verdict
  bool opaque_replay = false;  // main phase
  bool late = false;           // there is something to test (TilePlan::late)
  bool counts = false;         // an occlusion query is active
  bool position_only = false;  // deferred vertex shading: this draw's vertices are shaded when wanted

  bool operator==(const ShadeMoment&) const = default;
};
/// Whole blocks of a draw in the quad queue are shaded at once where no quad waits. Forward pixel kill looks at quads, and in the main
/// phase each is held against the ids: there they wait as quads.
inline bool goes_straight(const PassTraits& pass, Phase phase) { return !pass.hsr.forward_pixel_kill && phase != Phase::main; }
ShadePlan plan_shading(const PassTraits& pass, const command::DrawState& state, const ShadeMoment& moment);

}  // namespace tilegpu::tile
