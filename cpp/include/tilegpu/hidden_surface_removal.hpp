// tilegpu/hidden_surface_removal.hpp -- which techniques keep fragments that nobody sees from being shaded. A device has a set, a
// pass may have its own. None of them changes a bit of an attachment, an occlusion count or of memory written without races.
#pragma once

#include <cstdint>

namespace tilegpu {

/// Yu and Kim's adaptive depth filter: planes, and bits a sample.
enum class DepthFilter : uint8_t {
  off,
  one_plane,      ///< 1 bit
  two_plane,      ///< 2 bits
  three_plane,    ///< 2 bits
  two_plane_skip  ///< 2 bits: two planes, and whether depth was written at all; if not, it is not read
};

struct HiddenSurfaceRemoval {
  // The host's own.
  bool visibility_buffer = true;  ///< opaque draws write their number; what is seen is shaded at the end
  bool hierarchical_z = true;     ///< depth bounds for each block
  // Arm's.
  bool pre_pass = false;
  bool forward_pixel_kill = false;
  bool kill_single_samples = false;  ///< forward pixel kill takes what it covers of a waiting group; else whole groups only, as Arm's does
  bool deferred_vertex_shading = false;
  // Adreno's.
  bool low_resolution_z = false;
  bool lrz_bidirectional = false;  ///< a buffer for each direction, from A7xx on; off there by default
  // Yu and Kim's.
  DepthFilter depth_filter = DepthFilter::off;
  uint32_t depth_filter_position = 0;  ///< 1..15: held there, in 16ths of the depth range; 0: adapted from frame to frame
  uint32_t depth_filter_spacing = 0;   ///< between neighbouring planes, 1..16 64ths of the depth range; 0: 8
  bool depth_filter_counters = false;  ///< the position moves by two counters and leading-one detectors, as in hardware; else by a secant

  bool operator==(const HiddenSurfaceRemoval&) const = default;
};

}  // namespace tilegpu
