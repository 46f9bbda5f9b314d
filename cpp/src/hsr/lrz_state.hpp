// hsr/lrz_state.hpp -- low-resolution Z, the rules: which draw may be tested against it, which may write it, where
// its direction changes (LESS, GREATER), and what ends it.
//
// In: facts of the pass and, in the order of recording, of its draws and clears. Out: a decision for each draw, with the severity of
// what was taken away and the rule in words. Low-resolution Z holds depth of draws that come *later* (binning sees the whole pass
// before anything is rendered), so a fragment may be rejected only where nobody can tell that it was never there: the rules are
// Turnip's, and where they leave a case open, Vulkan's order of fragment operations decides (marked "exact" below).
// Source: the Adreno LRZ documentation of Mesa (lrz.rst); Turnip's conditions (docs/decisions.md, 31).
#pragma once

#include <cstdint>
#include <string>

#include "command/draw.hpp"

namespace tilegpu::hsr {

/// Which way depth moves. `less`: LESS and LESS_OR_EQUAL; the buffer holds, for each block, a depth that no sample exceeds.
/// `greater`: the mirror image.
enum class LrzDirection : uint8_t { unknown, less, greater };

/// What a rule takes away, weakest first. A draw's decision reports the strongest that hit it.
enum class LrzSeverity : uint8_t {
  none,            // tested, and written if the draw writes depth
  write_off_draw,  // tested; does not write while binning (its depth may come back as feedback)
  write_off_pass,  // tested; neither this draw nor any later one of the pass writes
  off_draw,        // not tested, not written
  off_pass,        // the pass has no low-resolution Z
  invalid          // no use of it until a pass clears depth
};
const char* lrz_severity_name(LrzSeverity severity);

/// Turnip's a6xx_ztest_mode: when depth is tested and written.
enum class LrzZMode : uint8_t { early_z, early_z_late_z, late_z };

/// Generations as in Profile::lrz_generation.
inline constexpr uint32_t kLrzGpuTracking =
    3;  // direction and depth view are tracked beside the buffer: it survives passes that load depth
inline constexpr uint32_t kLrzFastClear =
    3;  // the driver uses it from here on (enable_lrz_fast_clear in Mesa's table of devices); before, the buffer is cleared as a whole
inline constexpr uint32_t kLrzFeedback =
    3;  // depth that is written while rendering reaches the buffer (has_lrz_feedback in Mesa's table of devices)
inline constexpr uint32_t kLrzBidirectional =
    4;  // A7xx: may have a buffer for each direction; a clear value is kept exactly; pairs of buffers

/// What the table asks about a pass. Density maps do not exist in this API: that flag stays false.
struct LrzPassFacts {
  bool depth_attachment = true;
  VkAttachmentLoadOp load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  bool same_view = false;       // with LOAD: the buffer was left by a pass on the same level and layer of the image
  bool contents_kept = false;   // with LOAD: nobody else wrote the image since (copies, blits, clears, other passes)
  bool left_whole = true;       // with LOAD: the pass that left it drew to the whole view and stored depth
  bool covers_view = true;      // with LOAD: this pass does the former
  std::string left_by;          // with LOAD: label of that pass
  bool single_sampled = false;  // multisampled rendering to a single-sampled image
  bool several_depth_images = false, several_layers = false, several_viewports = false;
  bool density_map_offset = false, secondaries = false, suspends = false;
};

/// What the table asks about a draw.
struct LrzDrawFacts {
  bool depth_test = false, depth_write = false;  // depth_write implies depth_test
  VkCompareOp compare = VK_COMPARE_OP_LESS;
  bool bounds_test = false, stencil_test = false;
  VkStencilOpState front{}, back{};
  // fragment shader, as specialised
  bool early_fragment_tests = false;
  bool writes_depth = false, writes_stencil = false, side_effects = false, writes_memory = false;
  shader::DepthLayout depth_layout = shader::DepthLayout::any;
  bool depth_of_centre = false;  // the shader gives a layout that says nothing of each sample
  bool discards = false, writes_sample_mask = false, alpha_to_coverage = false;
  bool per_sample = false, reads_tile = false;
  bool masks_samples = false;     // the pipeline's static sample mask
  bool writes_color = false;      // any component of any attachment
  bool overwrites_color = false;  // all of them, whatever was there: no blending, no logic op that reads, full masks, every attachment
  bool query = false;             // inside an occlusion query
  bool conservative = false;      // pixels are covered that the triangle does not fill, or not covered though it fills samples of them
  bool discards_pixels = false;   // discard rectangles
  bool lines = false;             // drawn by Bresenham's rule, smooth or stippled
};
LrzDrawFacts lrz_draw_facts(const command::DrawState& state, bool query, bool has_depth, bool has_stencil);

/// Per stencil face; only where its write mask is not zero.
bool lrz_stencil_written_on_depth_fail(const VkStencilOpState& face);
bool lrz_stencil_depends_on_depth(const VkStencilOpState& face);
LrzZMode lrz_z_mode(const LrzDrawFacts& draw);

struct LrzDecision {
  bool test = false, write = false;
  bool feedback = false;  // writes depth, but not the buffer: what it leaves in the tile may improve the buffer for later passes
  LrzDirection direction = LrzDirection::unknown;  // of the buffer that is tested or written
  LrzSeverity severity = LrzSeverity::none;
  LrzZMode z_mode = LrzZMode::early_z;
  const char* reason = "";                       // "": nothing was taken away
  int32_t cause = -1;                            // the draw that caused it; -1: the pass or a clear
  bool cause_before = false;                     // in an earlier pass: LrzState::cause_pass
  LrzDirection tracked = LrzDirection::unknown;  // of the pass after this draw
  bool valid = false;                            // the same: not disabled
};

/// For explanations: "" where nothing was taken away, else what and why; `number` is the draw itself.
/// `cause_pass`: LrzState::cause_pass.
std::string describe(const LrzDecision& decision, int32_t number, const std::string& cause_pass = {});

/// Between the draws of a pass, and, from kLrzGpuTracking on, between passes.
struct LrzState {
  uint32_t generation = 0;
  bool bidirectional = false;  // a buffer for each direction
  bool off = true;             // for the pass
  bool valid = false;
  bool writes_off = false;
  bool color_tested = false;  // a draw with depth test wrote colour
  LrzDirection direction = LrzDirection::unknown;
  // Bidirectional: a buffer is closed when depth moves the other way; its bounds no longer hold for what comes then.
  bool used[2] = {}, closed[2] = {};
  const char* reason = "";
  int32_t cause = -1;
  std::string cause_pass;  // label of the earlier pass in which it was; "": this one
  const char* writes_reason = "";
  int32_t writes_cause = -1;
};
inline uint32_t lrz_index(LrzDirection d) { return d == LrzDirection::greater ? 1 : 0; }

/// `saved`: what the last pass on the image left; null: nothing. `bidirectional`: the switch, where the generation has it.
LrzState lrz_begin_pass(uint32_t generation, const LrzPassFacts& pass, const LrzState* saved, bool bidirectional = false);
LrzDecision lrz_draw(LrzState& state, const LrzDrawFacts& draw, int32_t number);
/// vkCmdClearAttachments.
void lrz_clear_attachment(LrzState& state, VkImageAspectFlags aspects);

}  // namespace tilegpu::hsr
