// tilegpu/stats.hpp -- what a pass cost: counts of vertices, primitives, fragments, and every byte between tile memory and images.
//
// Counted where it happens in plain per-worker structs, merged at the end of the pass; independent of threads and lanes.
#pragma once

#include <array>
#include <iterator>

#include "tilegpu/types.hpp"

namespace tilegpu {

/// Why bytes crossed between tile memory and an image (or did not: the saved_* rows).
enum class TrafficCause : uint8_t {
  load,
  clear,  ///< always 0: a clear reads nothing
  store,
  resolve,
  border_load,
  border_store,
  spill_load,
  spill_store,
  saved_clean_tile,
  saved_compression,
  saved_transaction_elimination,
  count
};
inline constexpr const char* kTrafficCauseNames[] = {"load",
                                                     "clear",
                                                     "store",
                                                     "resolve",
                                                     "border_load",
                                                     "border_store",
                                                     "spill_load",
                                                     "spill_store",
                                                     "saved_clean_tile",
                                                     "saved_compression",
                                                     "saved_transaction_elimination"};
static_assert(std::size(kTrafficCauseNames) == static_cast<size_t>(TrafficCause::count));

/// Bytes of one attachment aspect, by cause. `attachment` is "color0".."color7", "depth", "stencil".
struct AttachmentTraffic {
  std::string attachment;
  std::array<uint64_t, static_cast<size_t>(TrafficCause::count)> bytes{};
};

/// What the depth filter did in a pass; at one sample a pixel a sample is a fragment.
struct DepthFilterStats {
  uint32_t position = 0;  ///< of the planes in this pass, in 16ths of the depth range; 0: no filter
  uint64_t samples_in_front = 0, samples_survived = 0, samples_rejected = 0;  ///< the paper's FP, SP, RP
  uint64_t samples_failed = 0;                                                ///< not rejected, but failed the full depth test
  uint64_t reads_skipped = 0;                                                 ///< passed without a look at the stored depth
  uint64_t lines = 0;  ///< lines of 64 pixels of the filter's memory that were touched
};

/// What moved for one bin of the tile phase, in one part of a split pass (RenderingInfo::trace_tiles).
struct TileTrace {
  int32_t x_px = 0, y_px = 0;  ///< framebuffer coordinates
  uint32_t width_px = 0, height_px = 0, layer = 0;
  uint32_t part = 0;  ///< 0: the pass is not split, 1: first part, 2: one in between, 3: last
  bool has_primitives = false;
  std::vector<std::array<uint64_t, static_cast<size_t>(TrafficCause::count)>> bytes;  ///< of each attachment, as in PassStats::traffic
};

/// Where the pre-pass ended before a tile's last draw.
struct PrepassStop {
  uint32_t draw = 0;         ///< the first draw that is not compatible there; of a clear the draw that it follows, which was still taken
  std::string rule, reason;  ///< rule "clear": a clear inside the pass
  int32_t because_of = -1;   ///< the earlier draw that the rule is about, if there is one
  uint64_t tiles = 0;
};

/// What the geometry of a draw costs on a modelled GPU; what PassStats has under the same names are the sums of all draws.
/// What culling leaves: vertices of batches of which some primitive goes to the tiles, but for those of deferred primitives.
struct DrawVertices {
  uint32_t draw = 0;
  uint64_t indices = 0;
  uint64_t vertices_shaded = 0, vertices_position_shaded = 0;  ///< in the geometry phase
  uint64_t vertices_fetched_B = 0, indices_fetched_B = 0;
  uint64_t vertices_in_tiles = 0, vertices_positioned_in_prepass = 0, vertices_shaded_in_prepass = 0;
  /// Of the vertices that the pre-pass positioned, those that its tile shades whole afterwards, as something of theirs is seen. Where it
  /// shaded them whole (the fragment shader decides about coverage): all that this program shaded, so at most as many.
  uint64_t vertices_shaded_after_prepass = 0;
  uint64_t primitives_in = 0, primitives_out = 0, bin_entries = 0;
  uint64_t vertices_in_batches = 0;     ///< different ones of each batch, without what a cache shades beside them
  uint64_t vertices_kept = 0;           ///< of these, what culling leaves
  uint64_t vertices_kept_in_tiles = 0;  ///< of those, the ones of each tile, without what was rejected while binning
};

struct PassStats {
  uint64_t draws = 0;
  uint64_t indices = 0, vertices_unique_requested = 0, vertices_shaded = 0, vertex_batches = 0;
  // Tessellation and geometry shaders: patches that went in, invocations, primitives that geometry shaders put out (of all streams).
  uint64_t patches = 0, control_invocations = 0, evaluation_invocations = 0, geometry_invocations = 0, geometry_primitives = 0;
  // Task and mesh shaders: workgroups, invocations; vertices and primitives that mesh shaders said they make, and primitives of these that
  // were culled by the shader (gl_CullPrimitiveEXT) or named vertices that there are not.
  uint64_t task_workgroups = 0, task_invocations = 0, mesh_workgroups = 0, mesh_invocations = 0;
  uint64_t mesh_vertices = 0, mesh_primitives = 0, mesh_primitives_culled = 0;
  uint64_t primitives_captured = 0, captured_B = 0;  ///< by transform feedback
  uint64_t primitives_in = 0, primitives_culled = 0, primitives_clipped = 0, primitives_out = 0;
  uint64_t bin_entries = 0, bins = 0, bins_with_primitives = 0;
  uint64_t fragments_rasterized = 0;    ///< covered pixels of each primitive, before any test
  uint64_t fragments_early_killed = 0;  ///< all samples failed early depth or stencil
  uint64_t fragments_shaded = 0;        ///< non-helper invocations of the fragment shader
  /// VK_KHR_fragment_shading_rate, of draws that set one: their share of fragments_shaded, and the pixels that these ran for. All other
  /// counts of fragments count pixels.
  uint64_t coarse_fragments = 0, coarse_pixels = 0;
  uint64_t fragments_discarded = 0, fragments_late_killed = 0;
  /// Low-resolution Z: bin entries tested and left out, 4x4-pixel blocks left out of those that were not.
  uint64_t lrz_primitives_tested = 0, lrz_primitives_rejected = 0, lrz_blocks_rejected = 0;
  /// While binning: primitives in tiles that were left out there; they are not among bin_entries, nor in the heap.
  uint64_t lrz_primitives_rejected_in_binning = 0;
  uint64_t lrz_feedback_texels = 0;  ///< texels that feedback moved while tiles were rendered
  uint64_t visibility_stream_B = 0;  ///< of profiles with GMEM: which primitives each tile has, as the binning pass leaves it
  /// Of profiles with GMEM: what Mesa's autotuner compares; it chooses sysmem where that is not more.
  uint64_t gmem_bandwidth_B = 0, sysmem_bandwidth_B = 0;
  uint64_t rendered_in_sysmem = 0;  ///< 1: the pass was (DeviceCreateInfo::render_mode); nothing was loaded to tiles or stored from them
  uint64_t helper_lanes = 0, idle_lanes = 0, packets = 0;
  uint64_t samples_written = 0;
  // Hidden-surface removal. Killed fragments never ran the shader; each is counted once, by who killed it.
  uint64_t primitives_culled_by_prepass = 0;        ///< recorded by the pre-pass in a tile, without a visible sample at its end
  uint64_t fragments_killed_by_prepass = 0;         ///< passed their tests in order, but a later opaque primitive covers them
  uint64_t fragments_killed_by_fpk = 0;             ///< waited in the queue when a later opaque quad covered them
  uint64_t fragments_killed_by_hierarchical_z = 0;  ///< in blocks that were rejected as a whole
  uint64_t sliced_invocations = 0;                  ///< of shaders cut down to what decides coverage
  // Deferred vertex shading. vertices_shaded counts whole vertex shaders of the geometry phase only.
  uint64_t vertices_position_shaded = 0;  ///< positions alone, in the geometry phase
  uint64_t vertices_shaded_in_tiles = 0;  ///< whole vertices of primitives that are seen, in each bin where they are
  uint64_t primitives_deferred = 0;       ///< of primitives_out
  uint64_t varyings_deferred_B = 0;       ///< that the geometry phase did not write
  // Of profiles other than `host` only. In each tile its different vertices count, whatever this program had to shade.
  uint64_t vertices_in_tiles = 0;               ///< of deferred primitives in each tile
  uint64_t vertices_positioned_in_prepass = 0;  ///< of these, vertices whose position alone the pre-pass needs
  uint64_t vertices_shaded_in_prepass = 0;      ///< and those that it needs whole, as the fragment shader decides about coverage
  uint64_t vertices_fetched_B = 0;              ///< lines of vertex buffers that the geometry phase's input cache missed
  uint64_t indices_fetched_B = 0;
  std::vector<DrawVertices> draw_vertices;  ///< by draw; draws without vertices are left out
  uint64_t tiler_heap_B = 0;                ///< binned geometry that the pass wrote, over all its parts
  uint64_t peak_arena_B = 0;                ///< most of it in memory at once: what waits for its tiles, and the chunks of one wave
  uint32_t splits = 0;                      ///< incremental rendering
  std::vector<AttachmentTraffic> traffic;
  DepthFilterStats depth_filter;
  std::vector<PrepassStop> prepass_stops;  ///< by draw
  uint64_t prepass_tiles = 0;              ///< in which a pre-pass ran
  double geometry_ms = 0, tiles_ms = 0;
};

/// Every count of a pass with its name, in the order in which reports have them.
template <class Visit>
void each_counter(const PassStats& s, Visit visit) {
  visit("draws", s.draws);
  visit("indices", s.indices);
  visit("vertices_unique_requested", s.vertices_unique_requested);
  visit("vertices_shaded", s.vertices_shaded);
  visit("vertex_batches", s.vertex_batches);
  visit("patches", s.patches);
  visit("control_invocations", s.control_invocations);
  visit("evaluation_invocations", s.evaluation_invocations);
  visit("geometry_invocations", s.geometry_invocations);
  visit("geometry_primitives", s.geometry_primitives);
  visit("task_workgroups", s.task_workgroups);
  visit("task_invocations", s.task_invocations);
  visit("mesh_workgroups", s.mesh_workgroups);
  visit("mesh_invocations", s.mesh_invocations);
  visit("mesh_vertices", s.mesh_vertices);
  visit("mesh_primitives", s.mesh_primitives);
  visit("mesh_primitives_culled", s.mesh_primitives_culled);
  visit("primitives_captured", s.primitives_captured);
  visit("captured_B", s.captured_B);
  visit("primitives_in", s.primitives_in);
  visit("primitives_culled", s.primitives_culled);
  visit("primitives_clipped", s.primitives_clipped);
  visit("primitives_out", s.primitives_out);
  visit("bin_entries", s.bin_entries);
  visit("bins", s.bins);
  visit("bins_with_primitives", s.bins_with_primitives);
  visit("fragments_rasterized", s.fragments_rasterized);
  visit("lrz_primitives_tested", s.lrz_primitives_tested);
  visit("lrz_primitives_rejected", s.lrz_primitives_rejected);
  visit("lrz_blocks_rejected", s.lrz_blocks_rejected);
  visit("lrz_primitives_rejected_in_binning", s.lrz_primitives_rejected_in_binning);
  visit("lrz_feedback_texels", s.lrz_feedback_texels);
  visit("visibility_stream_B", s.visibility_stream_B);
  visit("gmem_bandwidth_B", s.gmem_bandwidth_B);
  visit("sysmem_bandwidth_B", s.sysmem_bandwidth_B);
  visit("rendered_in_sysmem", s.rendered_in_sysmem);
  visit("fragments_early_killed", s.fragments_early_killed);
  visit("fragments_shaded", s.fragments_shaded);
  visit("coarse_fragments", s.coarse_fragments);
  visit("coarse_pixels", s.coarse_pixels);
  visit("fragments_discarded", s.fragments_discarded);
  visit("fragments_late_killed", s.fragments_late_killed);
  visit("helper_lanes", s.helper_lanes);
  visit("idle_lanes", s.idle_lanes);
  visit("packets", s.packets);
  visit("samples_written", s.samples_written);
  visit("primitives_culled_by_prepass", s.primitives_culled_by_prepass);
  visit("fragments_killed_by_prepass", s.fragments_killed_by_prepass);
  visit("fragments_killed_by_fpk", s.fragments_killed_by_fpk);
  visit("fragments_killed_by_hierarchical_z", s.fragments_killed_by_hierarchical_z);
  visit("sliced_invocations", s.sliced_invocations);
  visit("vertices_position_shaded", s.vertices_position_shaded);
  visit("vertices_shaded_in_tiles", s.vertices_shaded_in_tiles);
  visit("primitives_deferred", s.primitives_deferred);
  visit("varyings_deferred_B", s.varyings_deferred_B);
  visit("vertices_in_tiles", s.vertices_in_tiles);
  visit("vertices_positioned_in_prepass", s.vertices_positioned_in_prepass);
  visit("vertices_shaded_in_prepass", s.vertices_shaded_in_prepass);
  visit("vertices_fetched_B", s.vertices_fetched_B);
  visit("indices_fetched_B", s.indices_fetched_B);
  visit("tiler_heap_B", s.tiler_heap_B);
  visit("peak_arena_B", s.peak_arena_B);
  visit("splits", s.splits);
  visit("geometry_ms", s.geometry_ms);
  visit("tiles_ms", s.tiles_ms);
}

}  // namespace tilegpu
