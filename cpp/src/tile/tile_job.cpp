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

#include "base/default_floats.hpp"
#include "base/prefetch.hpp"
#include "tile/draw_entries.hpp"
#include "tile/near_to_far.hpp"
#include "tile/prepass.hpp"
#include "tile/shading/quad_queue.hpp"
#include "tile/visibility/sample_lists.hpp"
#include "tile/visibility/visibility.hpp"
#include "tile/visibility/whole_blocks.hpp"
#include "tile/worker/worker.hpp"

namespace tilegpu::tile {

template <bool kWithTrace>
struct BasicTileWorker<kWithTrace>::State : Worker {
  uint64_t pass_number = 0;  // of the pass that began
};

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

void forget_plans(Worker& w) {
  w.plans.forget();
  w.faints.forget();
  w.packets.plans.forget();
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
bool BasicTileWorker<kWithTrace>::has_begun(uint64_t number) const {
  return state_->pass_number == number;
}

template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::begin_pass(const PassContext& pass, uint64_t number) {
  assert(number);
  Worker& w = *state_;
  state_->pass_number = 0;  // should memory run out on the way
  w.pass = &pass;
  w.shape.begin_pass(pass);
  w.buffers.begin_pass(pass, w.shape);
  w.packets.begin_pass(pass, w.shape.blocks(), w.buffers.memory.data());
  w.kill.begin_pass(pass, w.shape.blocks());
  w.visibility.begin_pass(pass.hsr.visibility_buffer);
  w.prepass.begin_pass(pass.hsr.pre_pass);
  w.prepass.census.begin_pass(pass.counts_draws && !pass.deferral.empty() ? pass.draws.size() : 0);
  w.packets.vertices.begin_pass(w.prepass.census.on() ? &w.prepass.census : nullptr);
  w.bounds.begin_pass(pass.hsr.hierarchical_z, w.shape.blocks());
  w.filter.tile.begin_pass(pass.filter_planes, w.shape.samples, w.shape.bin_px);
  w.results.begin_pass(pass, w.shape);
  w.clear_texels.begin_pass(pass);
  forget_plans(w);
#ifdef TILEGPU_TRACED
  w.traced = &w;
  w.trace = {};
  w.trace.pass = pass.trace;
#endif
  state_->pass_number = number;
}

namespace {

// What the next segments begin with is on its way while this one is drawn.
void prefetch_segments(const records::BinnedGeometry& binned, uint32_t now, uint32_t end) {
  const auto entries = [](const records::BinSegment& segment) { return segment.chunk->entries.data() + segment.first; };
  if (now + 2 < end) prefetch(entries(binned.segments[now + 2]));
  if (now + 1 >= end) return;
  const records::BinSegment& next = binned.segments[now + 1];
  for (uint32_t k = 0; k < std::min(next.count, kBatch); k++) prefetch(&record_of(next, k));
}

void begin_kept_blocks(Worker& w, const PassContext& pass) {
  w.lists.active = w.covers.active = w.covers.any = false;
  if (pass.keeps.lists) begin_lists(w, pass.depth_background, w.bounds, w.lists);
  if (pass.keeps.covers) begin_covers(w, pass.depth_known, pass.depth_background, w.bounds, w.covers);
}

void begin_bin(Worker& w, const PassContext& pass, uint32_t bin) {
  w.pass = &pass;
  if (const PassTraits traits = traits_of(pass, kTraced); !(traits == w.shape.traits)) {
    w.shape.traits = traits;
    forget_plans(w);
  }
  w.bin.begin_bin(pass.geometry->grid, bin, w.shape);
  w.draw.begin_bin();
  w.packets.begin_bin();
  w.filter.begin_bin(pass.depth_holds_far);
  lrz_begin_bin(w.lrz, pass.lrz, pass.tile, w.bin.origin_x_px, w.bin.origin_y_px);
  w.bounds.begin_bin(w.shape.samples);
  begin_kept_blocks(w, pass);
  if constexpr (kTraced) trace::begin_bin(w, bin);
}

// What was drawn is shaded first; what was known of depth is not known any more.
void clear_in_bin(Worker& w, const command::ClearCall& clear) {
  flush_all(w);
  expand_lists(w, w.lists);
  w.draw.forget();
  w.bounds.reset(INT32_MAX);
  w.filter.forget();
  if (w.covers.active) w.covers.forget_near();
  if constexpr (kTraced) trace::cleared(w, clear);
  tile_io::TileRegion region;
  region.x_px = w.bin.origin_x_px;
  region.y_px = w.bin.origin_y_px;
  region.layer = w.bin.layer;
  tile_io::clear_in_tile(w.pass->tile, region, clear.attachment, clear.aspects, clear.value, clear.rect, w.buffers.memory.data());
}

// Asking is dearer than looking, and most bins have few segments.
bool goes_on(const PassContext& pass, uint32_t segment) {
  constexpr uint32_t kBetweenAsking = 64;
  return segment % kBetweenAsking ? !pass.cancelled->load(std::memory_order_relaxed) : !is_cancelled(*pass.cancelled);
}

void draw_bin(Worker& w, const records::BinnedGeometry& binned, uint32_t bin) {
  bool may_start = w.prepass.enabled, any_order = !kTraced && begin_any_order(w, w.covers, w.filter);
  const uint32_t end = binned.first_segment[bin + 1];
  if (w.prepass.census.on())
    w.prepass.census.begin_bin(std::span(binned.segments).subspan(binned.first_segment[bin], end - binned.first_segment[bin]));
  for (uint32_t i = binned.first_segment[bin]; i < end && goes_on(*w.pass, i); i++) {
    prefetch_segments(binned, i, end);
    if (const command::ClearCall* clear = binned.segments[i].chunk->clear) {
      clear_in_bin(w, *clear);
      any_order = !kTraced && begin_any_order(w, w.covers, w.filter);
      continue;
    }
    // Clears before the first draw come before the pre-pass; one after it ends it.
    uint32_t at = 0;
    while (may_start) may_start = run_prepass(w, i, at, end);
    draw_rest(w, i, at, end, any_order);
  }
}

void end_bin(Worker& w, [[maybe_unused]] uint32_t bin) {
  w.bin.last_flush = true;
  flush_all(w);
  assert(w.packets.queue_count == 0 && w.visibility.primitives.empty());
  if (w.prepass.keeps_ids) forget_numbers(w);
  if (w.results.counted) attribute_fragments(w.results, 0);
  if (w.pass->keeps_depth) expand_lists(w, w.lists);
  if constexpr (kTraced) trace::end_bin(w, bin);
}

}  // namespace

template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::run(const PassContext& pass, uint32_t bin) {
  const DefaultFloats floats;
  begin_bin(*state_, pass, bin);
  draw_bin(*state_, *pass.geometry, bin);
  end_bin(*state_, bin);
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
std::span<const DeferredCensus::Counts> BasicTileWorker<kWithTrace>::deferred_vertices() const {
  return state_->prepass.census.counts();
}
template <bool kWithTrace>
const shader::LoopBudget& BasicTileWorker<kWithTrace>::loops() const {
  return state_->packets.loops;
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
template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::add_texels([[maybe_unused]] std::unordered_set<uint64_t>& pass,
                                             [[maybe_unused]] std::vector<uint64_t>& of_bins) const {
#ifdef TILEGPU_TRACED
  state_->trace.texels.add_to(pass, of_bins);
#endif
}

template class BasicTileWorker<kTraced>;

}  // namespace tilegpu::tile
