// tile/depth_stencil/filtered_tests.hpp -- stage: tile phase, the depth tests behind a depth filter. In: a TestState, coverage. Out: the
// samples that pass, as without the filter; the filter's bits and counters.
//
// The filter looks at each sample first: what it rejects is never compared with the stored depth, and what it knows to be the
// first at its place is written without reading it. Quad by quad, whatever the shape: the filter is measured, not raced.
// Source: Yu and Kim, "An Adaptive Spatial Filter for Early Depth Test", figure 1.
#pragma once

#include "tile/depth_stencil/depth_stencil.hpp"

namespace tilegpu::tile {

/// Puts the filter before the tests of `state`.
void install_filter(TestState& state, hsr::TileFilter& filter);

}  // namespace tilegpu::tile
