// framebuffer/load.hpp -- second piece: what a tile starts with, per target, inside the render area and in the border around it.
// In: load operations. Out: for tile_io/tile_load.cpp.
#pragma once

#include <array>

#include "resolve/rules.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::framebuffer {

enum class LoadOp : uint8_t { none, clear, image };

using resolve::MsaaCopy;

struct LoadTarget {
  LoadOp in_bounds = LoadOp::none, border = LoadOp::none;
  bool always = false;            // also in tiles that no primitive touches (clears)
  bool for_splits = false;        // nobody asked for it, but store op NONE: a spill would write over what the pass leaves alone
  bool zeroes = false;            // "don't care": what nothing covers of a stored target is zero, in tiles that no primitive touches too
  bool fills_border = false;      // border pixels are read though no image is loaded there: the clear value, or zero
  MsaaCopy msaa = MsaaCopy::all;  // for LoadOp::image
  Ptr<ImageView> view;            // source; null if no side is an image
  VkClearValue clear = {};
};

struct Load {
  std::array<LoadTarget, kMaxColorAttachments> rts{};
  LoadTarget z, s;
};

}  // namespace tilegpu::framebuffer
