// framebuffer/load.hpp -- second piece: what a tile starts with, per target, inside the render area and in the border around it.
#pragma once

#include <array>

#include "tilegpu/pipeline.hpp"

namespace tilegpu::framebuffer {

enum class LoadOp : uint8_t { none, clear, image };

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

struct LoadTarget {
  LoadOp in_bounds = LoadOp::none, border = LoadOp::none;
  bool always = false;            // also in tiles that no primitive touches (clears)
  MsaaCopy msaa = MsaaCopy::all;  // for LoadOp::image
  Ptr<ImageView> view;            // source; null if no side is an image
  VkClearValue clear = {};
};

struct Load {
  std::array<LoadTarget, kMaxColorAttachments> rts{};
  LoadTarget z, s;
};

}  // namespace tilegpu::framebuffer
