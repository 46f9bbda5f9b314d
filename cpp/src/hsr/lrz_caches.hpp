// hsr/lrz_caches.hpp -- low-resolution Z's two caches, for a driver that forgets to flush them: one of the fast clear's bits, one of the
// direction byte and the depth view. In: what LRZ_CLEAR and passes write. Out: what a pass that loads depth reads.
//
// LRZ_FLUSH writes both back and invalidates them; a driver sends it after LRZ_CLEAR and at the end of a pass, and nobody notices that
// there are caches. Without it a pass reads what the pass before left there, whichever depth image that was on: the direction if the view
// is alike, and for each block whether its texels in memory count. So blocks that are cleared get the texels of an earlier frame. Source:
// lrz.rst, "LRZ Caches".
#pragma once

#include <vector>

#include "hsr/lrz_buffer.hpp"

namespace tilegpu::hsr {

struct LrzCaches {
  bool filled = false;
  std::vector<uint64_t> modified;  // fast-clear bits
  LrzDirection direction = LrzDirection::unknown;
  bool disabled = false;  // the direction byte's third value
  uint32_t level = 0, layer = 0;
};

/// The end of a pass that flushes nothing: bits stay in the cache, texels of modified blocks are in `memory`; the others there stay.
void lrz_leave_in_cache(LrzCaches& caches, const LrzBuffer& buffer, std::vector<uint16_t>& memory);
/// A pass that loads depth: its buffer as the caches' bits have it, over the texels in memory.
void lrz_read_through_cache(const LrzCaches& caches, const std::vector<uint16_t>& memory, LrzBuffer& buffer);

}  // namespace tilegpu::hsr
