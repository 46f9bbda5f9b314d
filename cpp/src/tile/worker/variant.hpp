// tile/worker/variant.hpp -- the tile phase's sources are compiled twice: as they are, and (TILEGPU_TRACED) with calls that
// note what becomes of each fragment. The second build's types have names of their own, so that both can be in one program; the
// first pays nothing.
#pragma once

#ifdef TILEGPU_TRACED
#define Worker TracedWorker
#define CoverageSink TracedCoverageSink
namespace tilegpu {
constexpr bool kTraced = true;
}
#else
namespace tilegpu {
constexpr bool kTraced = false;
}
#endif
