// framebuffer/store.hpp -- third piece: what leaves the tile, per target, and where to; its view need not be the load's.
// In: store operations. Out: for tile_io/tile_store.cpp.
// A target may be written twice in one go: all samples (`rts`), and reduced to one (`resolved_rts`). Hardware with one writer per
// target takes a second render target for the latter; the host's writer needs none.
#pragma once

#include <array>

#include "framebuffer/load.hpp"

namespace tilegpu::framebuffer {

struct StoreTarget {
  bool store = false;
  bool always = false;            // also from tiles that no primitive touches
  bool discard = false;           // Vulkan's DONT_CARE: the bound image's contents are undefined after the pass
  bool eliminate = false;         // transaction elimination: blocks equal to what is there already are not written
  MsaaCopy msaa = MsaaCopy::all;  // `all` to an image of as many samples; any reduction to one of a single sample
  Ptr<ImageView> view;
  Ptr<ImageView> bound;  // the attachment, also where nothing is stored: whose contents the pass may leave undefined
};

struct Store {
  std::array<StoreTarget, kMaxColorAttachments> rts{};
  StoreTarget z, s;
  /// The result of the resolve piece, or a reduction of the tile where the resolve was folded into the store.
  std::array<StoreTarget, kMaxColorAttachments> resolved_rts{};
  StoreTarget resolved_z, resolved_s;
};

}  // namespace tilegpu::framebuffer
