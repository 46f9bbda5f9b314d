// hsr/prepass_rules.hpp -- the fragment pre-pass: which draws of a tile it can hold, and the rule that ends it.
//
// In: a pipeline and what the tile's draws before it did. Out: a verdict; the tile phase and the explanations ask the same function.
// Source: Arm, "Hidden Surface Removal in Immortalis-G925: The Fragment Prepass" (rules 1 to 6); where the article leaves cases open
// the API's rules win (7 and 8, and a case of queries).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/draw.hpp"

namespace tilegpu::hsr {

/// What the compatible draws of a tile did so far.
struct TileHistory {
  uint32_t written_colors = 0;  // bit per attachment
  int32_t first_writer[shader::kMaxTargets] = {-1, -1, -1, -1, -1, -1, -1, -1};
  int32_t first_non_opaque = -1;       // draw
  uint32_t tested_by_non_opaque = 0;   // bits kInputDepth, kInputStencil: tested or read by a non-opaque draw
  int32_t first_tester[2] = {-1, -1};  // depth, stencil: by which first
};

/// Of a clear inside the pass: none of the article's numbers.
inline constexpr const char* kClearRule = "clear";

struct Verdict {
  bool compatible = true;
  bool opaque = false;  // overwrites what the tile's draws before it wrote
  bool writes_zs = false;
  const char* rule = "";  // where it is not compatible
  const char* reason = "";
  const std::string* line = nullptr;  // of the shader, where the rule is about one
  int32_t because_of = -1;            // an earlier draw
};

/// Judges the next draw of a tile and, where it is compatible, adds it to the history. `counts`: an occlusion query is active.
Verdict judge(const command::DrawState& state, uint32_t draw, bool counts, TileHistory& history);
/// The verdicts of the tiles that take the pass's next draw: one for each tile history that makes a difference, none if no tile takes it.
/// `all`: of a tile that holds every draw of the pass before it.
std::vector<Verdict> possible_verdicts(const command::DrawState& state, uint32_t draw, bool counts, TileHistory& all);

/// Nothing is to be found out about such a draw before the main phase.
inline bool skips(const Verdict& verdict, bool counts) { return !verdict.opaque && !verdict.writes_zs && !counts; }
/// The main phase rasterizes the draw (again); otherwise it has what it needs from the pre-pass.
inline bool draws_again(const command::DrawState& state, const Verdict& verdict) {
  const pipeline::Classification& c = state.resolved->classification;
  return state.resolved->shades() && (c.side_effects || (c.writes_color && !verdict.opaque));
}

}  // namespace tilegpu::hsr
