// framebuffer/resolve.hpp -- fourth piece: a parallel copy within tile memory at the end of the pass (all reads before any write).
//
// In: per target, for each side, where the value comes from and how samples are reduced. Out: the folded pieces: what the store can do
// on its way out needs no resolve. Source: docs/decisions.md, 20, 23, 24.
#pragma once

#include <array>

#include "framebuffer/layout.hpp"
#include "framebuffer/store.hpp"
#include "resolve/rules.hpp"

namespace tilegpu::framebuffer {

using resolve::resolve_rt;
using resolve::ResolveOp;
using resolve::ResolveSide;

/// How a resolve mode of Vulkan reduces samples.
inline MsaaCopy reduction(VkResolveModeFlagBits mode) {
  switch (mode) {
    case VK_RESOLVE_MODE_AVERAGE_BIT:
      return MsaaCopy::average;
    case VK_RESOLVE_MODE_MIN_BIT:
      return MsaaCopy::min;
    case VK_RESOLVE_MODE_MAX_BIT:
      return MsaaCopy::max;
    default:
      return MsaaCopy::sample_zero;
  }
}

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

/// Folds one target's resolve into its store where the rules allow it (resolve/rules.hpp); true when nothing is left to resolve.
inline bool fold_resolve(ResolveTarget& target, StoreTarget& store, ResolveOp own, bool is_color, bool can_average, uint32_t samples,
                         bool has_border) {
  return store.store && resolve::fold(target.in_bounds, target.border, store.msaa, own, is_color, can_average, samples, has_border);
}

}  // namespace tilegpu::framebuffer
