// exec/depth_filter_positions.hpp -- where the depth filter's planes were, for each depth image, from frame to frame.
//
// In: a pass that is about to run. Out: the filter of its tiles, and the position that this frame's counters will move.
// A frame, for the filter, is a pass over the same depth image. Source: Yu and Kim, section 3.
#pragma once

#include <memory>
#include <vector>

#include "command/pass.hpp"
#include "tile/tile_job.hpp"

namespace tilegpu::exec {

struct FilterPositionOf {
  std::weak_ptr<const Image> depth;
  hsr::FilterPosition position;
};
using FilterPositions = std::vector<FilterPositionOf>;

/// Sets the filter that `context.hsr` asks for; null where the pass has none (switched off, or no depth attachment).
hsr::FilterPosition* begin_depth_filter(const command::Pass& pass, FilterPositions& positions, tile::PassContext& context);

}  // namespace tilegpu::exec
