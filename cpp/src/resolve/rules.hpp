// resolve/rules.hpp -- how the samples of an attachment become one, as rules; and folding: a resolve that happens on the way out.
//
// In: for each side of the render area where a target's resolved value comes from and how samples are reduced; how it is stored. Out: both,
// changed, where the store can do it: no resolve runs then. Source: docs/decisions.md, 23, 24.
#pragma once

#include <cstdint>

#include "resolve/reduce.hpp"

namespace tilegpu::resolve {

/// How samples are copied or reduced between an image and the tile.
enum class MsaaCopy : uint8_t {
  all,        // sample i to sample i; counts are equal
  single,     // the source has one sample: it goes to every sample of the destination
  identical,  // all source samples are known to be equal: any of the others is legal
  sample_zero,
  average,
  min,
  max  // reduce the source's samples
};
/// What reduces the samples; a copy of one of them where they are not reduced.
constexpr ReduceMode mode_of(MsaaCopy copy) {
  switch (copy) {
    case MsaaCopy::average:
      return ReduceMode::average;
    case MsaaCopy::min:
      return ReduceMode::min;
    case MsaaCopy::max:
      return ReduceMode::max;
    default:
      return ReduceMode::sample_zero;
  }
}

enum class ResolveOp : uint8_t { none, image, rt0, rt1, rt2, rt3, rt4, rt5, rt6, rt7, z, s };

constexpr ResolveOp resolve_rt(uint32_t index) { return static_cast<ResolveOp>(static_cast<uint32_t>(ResolveOp::rt0) + index); }

struct ResolveSide {
  ResolveOp op = ResolveOp::none;  // none: the tile keeps its value
  MsaaCopy msaa = MsaaCopy::all;
};

/// Folds one target's resolve into its store, which takes sample zero so far (`store`), where the rules allow it; true when nothing is left
/// to resolve. `own` is the op that reads the target itself; `can_average`: the store's reduction can average this format.
bool fold(ResolveSide& in_bounds, ResolveSide& border, MsaaCopy& store, ResolveOp own, bool is_color, bool can_average, uint32_t samples,
          bool has_border);

}  // namespace tilegpu::resolve
