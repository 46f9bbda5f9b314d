// framebuffer/resolve.hpp -- fourth piece: a parallel copy within tile memory at the end of the pass (all reads before any write).
//
// In: per target, for each side, where the value comes from and how samples are reduced. Out: the folded pieces: what the store can do
// on its way out needs no resolve. Source: docs/decisions.md, 20, 23, 24.
#pragma once

#include <array>

#include "framebuffer/layout.hpp"
#include "framebuffer/store.hpp"

namespace tilegpu::framebuffer {

enum class ResolveOp : uint8_t { none, image, rt0, rt1, rt2, rt3, rt4, rt5, rt6, rt7, z, s };

constexpr ResolveOp resolve_rt(uint32_t index) { return static_cast<ResolveOp>(static_cast<uint32_t>(ResolveOp::rt0) + index); }

struct ResolveSide {
  ResolveOp op = ResolveOp::none;  // none: the tile keeps its value
  MsaaCopy msaa = MsaaCopy::all;
};

struct ResolveTarget {
  ResolveSide in_bounds, border;
  Ptr<ImageView> view;  // for ResolveOp::image
  /// The result goes to a plane of its own, because all samples of the target are stored too.
  bool own_plane = false;
};

struct Resolve {
  std::array<ResolveTarget, kMaxColorAttachments> rts{};
  ResolveTarget z, s;
};

/// Folds one target's resolve into its store where the rules allow it; true when nothing is left to resolve.
/// `own` is the op that reads the target itself; `can_average`: the store's reduction can average this format.
bool fold_resolve(ResolveTarget& resolve, StoreTarget& store, ResolveOp own, bool is_color, bool can_average, uint32_t samples,
                  bool has_border);

}  // namespace tilegpu::framebuffer
