// tilegpu/trace.hpp -- what became of every fragment of a pass: what to trace, and what was found.
//
// A traced pass runs the tile phase's second build (tile/worker/variant.hpp), whose results are those of the first, bit for bit; so are its
// counters, but for what early tests, hierarchical Z and the visibility buffer killed where the first draws near ones first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilegpu {

/// Counts for each pixel; summed over the picture they are PassStats' counters of the same names.
enum class FragmentMap : uint8_t {
  rasterized,         ///< fragments_rasterized
  early_killed,       ///< fragments_early_killed; those of hierarchical Z included
  hierarchical_z,     ///< fragments_killed_by_hierarchical_z
  pre_pass,           ///< fragments_killed_by_prepass
  forward_kill,       ///< fragments_killed_by_fpk
  shaded,             ///< fragments_shaded
  sliced,             ///< sliced_invocations
  discarded,          ///< fragments_discarded
  late_killed,        ///< fragments_late_killed
  visibility_buffer,  ///< passed the early tests, and a later primitive took its place before it was shaded; no counter of PassStats
  overwritten,        ///< shaded, and nothing of it is left in any attachment; no counter of PassStats
  count
};

/// One step in the history of a sample.
enum class FragmentStep : uint8_t {
  rasterized,          ///< covers the sample
  lrz_primitive,       ///< rejected by low-resolution Z with its whole primitive
  lrz_block,           ///< rejected by low-resolution Z with its 4x4 block
  hierarchical_z,      ///< rejected by the tile's hierarchical Z
  early_test,          ///< failed the early depth, stencil or bounds test
  early_pass,          ///< passed it
  hidden_visibility,   ///< was in the visibility buffer, and a later primitive took its place
  hidden_pre_pass,     ///< the same in the pre-pass
  killed_main_pass,    ///< the main pass: a later opaque primitive is seen there
  forward_pixel_kill,  ///< killed while it waited
  sliced,              ///< its sliced shader ran (pre-pass)
  shaded,              ///< its shader ran
  discarded,           ///< ... and discarded it
  masked,              ///< the shader's sample mask or alpha to coverage took the sample away
  late_test,           ///< failed the late test
  not_owned,           ///< the shader ran (side effects), but another primitive is seen there
  written,             ///< replaced what was there
  blended,             ///< what was there still counts
  depth_stencil_only,  ///< passed the tests; nothing is shaded
  overwritten,         ///< a later write took its place
  cleared,             ///< a clear inside the pass took its place
  count
};

struct TraceRequest {
  bool maps = false;                           ///< FragmentMap and DrawTrace; without: only the pixels' tiles are traced
  std::vector<std::array<int32_t, 2>> pixels;  ///< x, y in the framebuffer
  uint32_t layer = 0;                          ///< of the pixels; maps are sums over all layers
  bool timed = false;                          ///< not traced at all: PassTrace::tile_ms of the ordinary tile phase (trace_again)
};

struct FragmentId {
  int64_t draw = -1;  ///< in the order of commands; -1: nobody
  uint32_t primitive = 0, instance = 0;
};

struct FragmentEvent {
  FragmentStep step = FragmentStep::rasterized;
  uint8_t sample = 0;
  FragmentId fragment, by;
  float depth = 0;                          ///< of the fragment at the sample
  float depth_before = 0, depth_after = 0;  ///< stored, around the test
  uint32_t stencil_before = 0, stencil_after = 0;
  /// Of each attachment that exists: around the write. Integer formats: the integers.
  std::vector<std::array<double, 4>> color_before, color_after;
};

/// What covered fragments of a draw that had been shaded.
struct TraceCover {
  int64_t by_draw = -1;  ///< -1: a clear inside the pass
  uint64_t fragments = 0;
  FragmentId top;  ///< the primitive of that draw which covered most, and how many
  uint64_t top_fragments = 0;
};
struct DrawTrace {
  uint64_t rasterized = 0, shaded = 0, sliced = 0, discarded = 0, late_killed = 0, overwritten = 0;
  /// Invocations that run for their quad alone, of whole shaders and of slices: what of a shaded quad its primitive does not cover, or
  /// lost before.
  uint64_t helpers = 0, sliced_helpers = 0;
  uint64_t pixels_shaded = 0;      ///< that shaded fragments were for: more than `shaded` where they have several pixels
  std::vector<TraceCover> covers;  ///< most first
};

/// Cache lines of an image that fragment shaders read, of 64 bytes with a block of texels each.
struct TextureLines {
  uint64_t image = 0;       ///< as of DrawTexture::image; of texel buffers the buffer's
  uint64_t lines = 0;       ///< different ones, of the pass
  uint64_t tile_lines = 0;  ///< different ones of each tile (of GMEM: of each part of one), added up
};

struct PassTrace {
  TraceRequest request;
  uint32_t width_px = 0, height_px = 0;
  std::array<std::vector<int32_t>, static_cast<size_t>(FragmentMap::count)> maps;  ///< rows of width_px; empty without request.maps
  std::vector<DrawTrace> draws;                                                    ///< in the order of commands
  std::vector<TextureLines> textures;                                              ///< on modelled GPUs, with request.maps
  std::vector<std::vector<FragmentEvent>> events;                                  ///< for each of request.pixels, as they happened
  struct TileTime {
    int32_t x_px = 0, y_px = 0;
    uint32_t width_px = 0, height_px = 0;
    double ms = 0;
  };
  std::vector<TileTime> tile_ms;  ///< all parts and layers of a tile
};

}  // namespace tilegpu
