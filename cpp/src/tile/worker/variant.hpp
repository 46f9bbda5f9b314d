// tile/worker/variant.hpp -- the tile phase's sources are compiled twice: as they are, and (TILEGPU_TRACED) with calls that
// note what becomes of each fragment. What both builds define stands in namespace tilegpu::TILEGPU_TILE; the second one's is an inline
// namespace of `tile`, so that both can be in one program. The first pays nothing. In: TILEGPU_TRACED. Out: a namespace, kTraced.
#pragma once

#ifdef TILEGPU_TRACED
#define TILEGPU_TILE tile::inline traced
namespace tilegpu {
constexpr bool kTraced = true;
}
#else
#define TILEGPU_TILE tile
namespace tilegpu {
constexpr bool kTraced = false;
}
#endif
