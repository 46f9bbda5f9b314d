// tile/tile_job.cpp -- stage: tile phase, the job of one bin. In: the bin's segments. Out: tile memory, counters.
//
// Segments come in API order: draws (draw_entries.cpp, or what may be done with several at once: prepass.cpp, near_to_far.cpp) and clears,
// before which the queue and the visibility buffer are flushed.
// Source: docs/architecture.md, "The way of the data"; Vulkan specification, "Rasterization Order".
#include "tile/worker/variant.hpp"

#include "tile/tile_job.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "tile/draw_entries.hpp"
#include "tile/near_to_far.hpp"
#include "tile/prepass.hpp"
#include "tile/shading/quad_queue.hpp"
#include "tile/visibility/sample_lists.hpp"
#include "tile/visibility/visibility.hpp"
#include "tile/visibility/whole_blocks.hpp"
#include "tile/worker/worker.hpp"
#include "tile_io/equal_quads.hpp"

namespace tilegpu::tile {

template <bool kWithTrace>
struct BasicTileWorker<kWithTrace>::State : Worker {};

namespace {

void flush_all(Worker& w) {
  release_queue(w, w.draw, w.kill, w.packets, w.results);
  if (!w.visibility.primitives.empty()) flush_visibility(w);
}

// The rest of a segment from entry `at` on; and those that follow, as far as they may change places with it. `i` moves to the last one.
void draw_rest(Worker& w, uint32_t& i, uint32_t at, uint32_t end, [[maybe_unused]] bool& any_order) {
  const std::vector<records::BinSegment>& segments = w.pass->geometry->segments;
  if constexpr (!kTraced) {  // what is traced happens in API order
    while (any_order && i < end && !segments[i].chunk->clear) {
      const records::BinSegment& segment = segments[i];
      if (at == segment.count) {
        i++;
        at = 0;
      } else if (!draw_near_to_far(w, i, at, end, any_order) && any_order) {
        // A draw that stays in its place.
        uint32_t to = at + 1;
        while (to < segment.count && draw_of(record_of(segment, to)) == draw_of(record_of(segment, at))) to++;
        draw_entries(w, segment, at, to);
        at = to;
      }
    }
  }
  if (i < end && !segments[i].chunk->clear)
    draw_entries(w, segments[i], at, segments[i].count);
  else
    i--;
}

}  // namespace

template <bool kWithTrace>
BasicTileWorker<kWithTrace>::BasicTileWorker() : state_(std::make_unique<State>()) {
  std::memset(&state_->packets.args, 0, sizeof state_->packets.args);
}
template <bool kWithTrace>
BasicTileWorker<kWithTrace>::~BasicTileWorker() = default;
template <bool kWithTrace>
BasicTileWorker<kWithTrace>::BasicTileWorker(BasicTileWorker&&) noexcept = default;

template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::begin_pass(const PassContext& pass) {
  assert(std::has_single_bit(pass.tile.bin_px) && pass.tile.bin_px >= 32 && pass.tile.bin_px / 4 <= BinPlace::kMostBlocks);
  assert(std::has_single_bit(pass.samples) && pass.samples <= kMaxSamples && pass.samples == pass.tile.samples);
  assert(pass.lanes == 4 || pass.lanes == 8 || pass.lanes == 16);
  Worker& w = *state_;
  w.pass = &pass;
  w.shape.bin_px = pass.tile.bin_px;
  w.shape.blocks_per_row = w.shape.bin_px / 4;
  w.shape.row_shift = static_cast<uint32_t>(std::countr_zero(w.shape.blocks_per_row));
  w.shape.samples = pass.samples;
  w.shape.quads_per_packet = pass.lanes / 4;
  w.shape.wide = wide_vectors(pass.lanes);
  w.shape.all_samples = w.shape.samples == 16 ? ~uint64_t{0} : (uint64_t{1} << 4 * w.shape.samples) - 1;
  w.buffers.memory.reserve(std::max<uint32_t>(pass.tile.size_B, 64));
  w.results.counters = {};
  w.results.ledger = {};
  w.results.query_samples.assign(pass.query_count, 0);
  w.results.counted_fragments.assign(pass.counted + 1, 0);
  w.results.counted = 0;
#ifdef TILEGPU_TRACED
  w.trace = {};
  w.traced = &w;
  w.trace.pass = pass.trace;
#endif
  w.visibility.enabled = pass.hsr.visibility_buffer;
  const size_t blocks = w.shape.blocks();
  w.packets.waiting.assign(blocks, 0);
  w.buffers.dirty_memory.reserve(blocks + 8);  // eight are written at once
  w.buffers.dirty = w.buffers.dirty_memory.data();
  std::memset(w.buffers.dirty, 0, blocks + 8);
  w.results.pass_masks.resize(size_t{w.shape.blocks_per_row} * w.shape.samples);
  w.bounds.enabled = pass.hsr.hierarchical_z;
  w.bounds.far.resize(blocks + 8);  // eight are read at once
  w.bounds.window_far.resize(blocks / 16);
  w.filter.tile.begin_pass(pass.filter_planes, w.shape.samples, w.shape.bin_px);
  w.prepass.enabled = pass.hsr.pre_pass;
  w.prepass.stops.clear();
  w.prepass.tiles = 0;
  w.bin.phase = Phase::ordinary;
  w.kill.on = pass.hsr.forward_pixel_kill;
  w.kill.retains = false;
  if (w.kill.on) {
    w.kill.capacity = std::max(1u, pass.fpk_quads);
    w.kill.quads.resize(w.kill.capacity);
    w.kill.newest.assign(blocks * 4, 0);
    w.kill.first = w.kill.end = 0;
  }
  w.packets.bound_draw = ~0u;
  w.buffers.ids = nullptr;
  if (w.visibility.enabled || w.prepass.enabled) {
    const size_t size_B = blocks * w.shape.samples * 64;
    w.buffers.ids_memory.reserve(size_B);
    w.buffers.ids = reinterpret_cast<uint32_t*>(w.buffers.ids_memory.data());
    std::memset(w.buffers.ids, 0, size_B);  // and every flush leaves it zero
  }
  w.packets.queue_count = 0;
  w.visibility.primitives.clear();
  w.visibility.draws.clear();
  shader::FragmentArgs& args = w.packets.args;
  for (uint32_t t = 0; t < shader::kMaxTargets; t++)
    args.target[t] = pass.tile.color[t].words ? w.buffers.memory.data() + pass.tile.color[t].offset_B : nullptr;
  args.tile_depth = pass.tile.depth.words ? w.buffers.memory.data() + pass.tile.depth.offset_B : nullptr;
  args.tile_stencil = pass.tile.stencil.words ? w.buffers.memory.data() + pass.tile.stencil.offset_B : nullptr;
  args.sample_positions = sample_positions(w.shape.samples);
  const VkRect2D& area = pass.render_area;
  args.area_x0_px = area.offset.x;
  args.area_y0_px = area.offset.y;
  args.area_x1_px = area.offset.x + static_cast<int32_t>(area.extent.width);
  args.area_y1_px = area.offset.y + static_cast<int32_t>(area.extent.height);
  w.buffers.equal = tile_io::equal_quads(pass.tile, w.buffers.memory.data());
}

namespace {

// What the next segments begin with is on its way while this one is drawn.
void prefetch_segments(const records::BinnedGeometry& binned, uint32_t now, uint32_t end) {
  const auto entries = [](const records::BinSegment& segment) { return segment.chunk->entries.data() + segment.first; };
  if (now + 2 < end) __builtin_prefetch(entries(binned.segments[now + 2]));
  if (now + 1 >= end) return;
  const records::BinSegment& next = binned.segments[now + 1];
  for (uint32_t k = 0; k < std::min(next.count, kBatch); k++) __builtin_prefetch(&record_of(next, k));
}

}  // namespace

template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::run(const PassContext& pass, uint32_t bin) {
  Worker& w = *state_;
  w.pass = &pass;
  const uint32_t mxcsr = _mm_getcsr();
  _mm_setcsr(0x1f80);  // round to nearest even, denormals kept, no traps: whatever the thread's owner set
  const records::BinnedGeometry& binned = *pass.geometry;
  const records::BinGrid& grid = binned.grid;
  assert(grid.bin_px == w.shape.bin_px);
  assert(bin < grid.bins());
  w.bin.layer = bin / grid.bins_of_layer();
  const uint32_t in_layer = bin % grid.bins_of_layer();
  w.bin.origin_x_px = grid.origin_x_px + static_cast<int32_t>(in_layer % grid.columns * grid.bin_px);
  w.bin.origin_y_px = grid.origin_y_px + static_cast<int32_t>(in_layer / grid.columns * grid.bin_px);
  w.bin.place.place(w.bin.origin_x_px, w.bin.origin_y_px, w.shape.blocks_per_row);
  w.draw.number = w.packets.bound_draw = ~0u;  // how quads are shaded depends on what the bin's visibility buffer holds
  w.draw.state = nullptr;
  w.bounds.broken = w.filter.broken = false;
  w.shape.traits = traits_of(pass, kTraced);
  w.packets.shading.state = nullptr;  // code that was compiled since is taken from here on
  w.filter.tile.begin_bin(pass.depth_holds_far);
  lrz_begin_bin(w.lrz, pass.lrz, w.bin.origin_x_px, w.bin.origin_y_px, w.shape.bin_px);
  w.bounds.reset(INT32_MAX);
  w.bin.last_flush = false;
  w.bounds.block_limit =
      w.shape.samples > 1 ? detail::kSmallTriangle : detail::kSmallInDeepBins;  // one sample: near_to_far.cpp may raise it
  if (!pass.deferral.empty()) w.packets.vertices.reset();
  w.lists.active = w.draw.takes_lists = w.covers.active = w.covers.any = w.draw.takes_covers = false;
  if (pass.keeps.lists) begin_lists(w, pass.depth_background, w.bounds, w.lists);
  if (pass.keeps.covers) begin_covers(w, pass.depth_known, pass.depth_background, w.bounds, w.covers);
  if constexpr (kTraced) trace::begin_bin(w, bin);
  bool may_start = w.prepass.enabled, any_order = !kTraced && begin_any_order(w, w.covers, w.filter);
  const uint32_t end = binned.first_segment[bin + 1];
  for (uint32_t i = binned.first_segment[bin]; i < end; i++) {
    const records::BinSegment& segment = binned.segments[i];
    prefetch_segments(binned, i, end);
    if (const command::ClearCall* clear = segment.chunk->clear) {
      flush_all(w);
      expand_lists(w, w.lists);
      w.draw.number = ~0u;
      w.draw.state = nullptr;
      w.bounds.reset(INT32_MAX);
      w.filter.broken = false;
      any_order = !kTraced && begin_any_order(w, w.covers, w.filter);
      if (w.covers.active) w.covers.forget_near();
      if (w.filter.tile.on()) w.filter.tile.forget();
      tile_io::TileRegion region;
      region.x_px = w.bin.origin_x_px;
      region.y_px = w.bin.origin_y_px;
      region.layer = w.bin.layer;
      if constexpr (kTraced) trace::cleared(w, *clear);
      tile_io::clear_in_tile(pass.tile, region, clear->attachment, clear->aspects, clear->value, clear->rect, w.buffers.memory.data());
    } else {
      // Clears before the first draw come before the pre-pass; one after it ends it.
      uint32_t at = 0;
      while (may_start) may_start = run_prepass(w, i, at, end);
      if (i == end) break;
      const records::BinSegment& rest = binned.segments[i];
      if (rest.chunk->clear)
        i--;
      else
        draw_rest(w, i, at, end, any_order);
    }
  }
  w.bin.last_flush = true;
  flush_all(w);
  assert(w.packets.queue_count == 0 && w.visibility.primitives.empty());
  if (w.results.counted) attribute_fragments(w.results, 0);
  if (pass.keeps_depth) expand_lists(w, w.lists);
  if constexpr (kTraced) trace::end_bin(w, bin);
  _mm_setcsr(mxcsr);
}

template <bool kWithTrace>
uint8_t* BasicTileWorker<kWithTrace>::memory() {
  return state_->buffers.memory.data();
}
template <bool kWithTrace>
stats::FragmentCounters& BasicTileWorker<kWithTrace>::counters() {
  return state_->results.counters;
}
template <bool kWithTrace>
const hsr::FilterCounters& BasicTileWorker<kWithTrace>::filter_counters() const {
  return state_->filter.tile.counters;
}
template <bool kWithTrace>
stats::Ledger& BasicTileWorker<kWithTrace>::ledger() {
  return state_->results.ledger;
}
template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::add_prepass_stops(PassStats& stats) const {
  stats.prepass_tiles += state_->prepass.tiles;
  for (const PrepassStopCount& stop : state_->prepass.stops) {
    const hsr::Verdict& v = stop.verdict;
    std::string reason = v.reason;
    if (v.line && !v.line->empty()) reason += " (" + *v.line + ")";
    const auto same = [&](const PrepassStop& other) {
      return other.draw == stop.draw && other.rule == v.rule && other.reason == reason && other.because_of == v.because_of;
    };
    const auto found = std::find_if(stats.prepass_stops.begin(), stats.prepass_stops.end(), same);
    if (found != stats.prepass_stops.end())
      found->tiles += stop.tiles;
    else
      stats.prepass_stops.push_back({stop.draw, v.rule, std::move(reason), v.because_of, stop.tiles});
  }
}
template <bool kWithTrace>
uint64_t BasicTileWorker<kWithTrace>::query_samples(uint32_t query) const {
  return query < state_->results.query_samples.size() ? state_->results.query_samples[query] : 0;
}
template <bool kWithTrace>
uint64_t BasicTileWorker<kWithTrace>::counted_fragments(uint32_t counted) const {
  return counted < state_->results.counted_fragments.size() ? state_->results.counted_fragments[counted] : 0;
}
template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::add_trace([[maybe_unused]] trace::State& pass, [[maybe_unused]] trace::Covers& covers) const {
#ifdef TILEGPU_TRACED
  state_->trace.add_to(pass, covers);
#endif
}

template class BasicTileWorker<kTraced>;

}  // namespace tilegpu::tile
