// tile/visibility/visibility.hpp -- stage: tile phase, the flush of the visibility buffer. In: numbers, lists and covers of a bin. Out:
// what is seen, shaded; the buffer cleared.
#pragma once

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Shades what the visibility buffer holds and clears it. The queue is empty; afterwards Packets::shading is another draw's.
void flush_visibility(Worker& w);

}  // namespace tilegpu::TILEGPU_TILE
