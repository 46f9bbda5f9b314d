// tile/plan/pass_context.hpp -- what the tile phase is told of a pass: its draws, its bins, the layout of tile memory, and what may be left
// out. In: the executor. Out: the same for all bins and threads; nothing of it changes while bins are drawn.
#pragma once

#include <cstdint>
#include <span>

#include "base/long_work.hpp"
#include "command/draw.hpp"
#include "hsr/depth_filter.hpp"
#include "hsr/lrz_pass.hpp"
#include "hsr/vertex_deferral.hpp"
#include "records/records.hpp"
#include "tile/plan/pass_trace.hpp"
#include "tile/plan/plan.hpp"
#include "tile_io/tile_io.hpp"

namespace tilegpu::tile {

/// The pass's attachment of fragment sizes.
struct ShadingRateTexels {
  const uint8_t* data = nullptr;  // of layer 0; null: there is none
  uint64_t row_pitch_B = 0, layer_pitch_B = 0;
  uint32_t width = 0, height = 0, layers = 1;
  uint32_t log2_x = 0, log2_y = 0;  // pixels of a texel

  /// Of a pixel of the framebuffer; beyond the attachment 0, which is 1x1.
  uint32_t at(int32_t x_px, int32_t y_px, uint32_t layer) const {
    const uint32_t x = static_cast<uint32_t>(x_px) >> log2_x, y = static_cast<uint32_t>(y_px) >> log2_y;
    if (!data || x >= width || y >= height) return 0;
    return data[(layers > 1 && layer < layers ? layer : 0) * layer_pitch_B + y * row_pitch_B + x];
  }
};

/// What is the same for all bins of a pass.
struct PassContext {
  std::span<const command::DrawCall> draws;
  const records::BinnedGeometry* geometry = nullptr;
  tile_io::HostTile tile;
  VkRect2D render_area{};
  uint32_t samples = 1;
  uint32_t query_count = 0;
  uint32_t counted = 0;  // the largest DrawCall::counted
  uint32_t lanes = 8;
  uint64_t loop_iterations = 0;                   // of a vector of lanes
  HiddenSurfaceRemoval hsr;                       // the same bits whatever it says
  hsr::FilterPlanes filter_planes;                // the depth filter of this frame; none: off
  const hsr::LrzPass* lrz = nullptr;              // low-resolution Z, complete; null: off
  std::span<const hsr::VertexDeferral> deferral;  // deferred vertex shading, by draw; empty: off
  uint32_t fpk_quads = 64;                        // capacity of forward pixel kill's queue
  bool depth_holds_far = false;                   // every bin begins with depth 1 (0, if the filter is of reverse Z): cleared
  bool compress_samples = false;                  // may keep what is equal or plane once; the same bits either way
  KeptBlocks keeps;                               // lists: the depth plane was not cleared ...
  uint32_t depth_background = 0;                  // ... to this word
  bool depth_known = false;                       // every depth word was cleared to depth_background
  trace::State* trace = nullptr;                  // of traced workers
  ShadingRateTexels shading_rates;
  uint32_t averaged_colors = 0;                         // tile_io::averaged_colors
  bool counts_draws = false;                            // PassStats::draw_vertices: for models of GPUs
  bool keeps_depth = true;                              // depth leaves the tile, is resolved, or read after drawing
  const std::atomic<bool>* cancelled = &kNotCancelled;  // asked now and then: nobody wants the rest
};

/// What the plans of its draws depend on.
PassTraits traits_of(const PassContext& pass, bool traced);

}  // namespace tilegpu::tile
