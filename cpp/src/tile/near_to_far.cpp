// tile/near_to_far.cpp -- see near_to_far.hpp.
#include "tile/near_to_far.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "base/prefetch.hpp"
#include "tile/draw_entries.hpp"
#include "tile/visibility/visibility.hpp"

namespace tilegpu::TILEGPU_TILE {

namespace {

constexpr uint32_t kMost = 4096;     // entries of a run: so many large ones are dozens of layers, one of which is drawn in vain at most
constexpr uint32_t kAsked = 8;       // entries that are looked at for their size
constexpr uint32_t kLargePart = 16;  // of a bin's area: worth the place in an order
constexpr uint32_t kDeep = 4;        // times the bin's area, as area_px counts: windows are worth it for middling triangles too
constexpr uint32_t kClasses = 64;    // of depth
constexpr uint32_t kMany = 256, kManyClasses = 1024;

// Below the limit triangles are drawn block by block, in any order alike.
bool is_small(const records::TriangleRecord& r, int32_t limit) {
  const auto reach = [](const int32_t* at) { return std::max(std::max(at[0], at[1]), at[2]) - std::min(std::min(at[0], at[1]), at[2]); };
  return reach(r.x) < limit && reach(r.y) < limit;
}

// Pixels of the bounding box, cut with the bin, and of them the part that the triangle has of its box, twice: two triangles of a rectangle
// count it twice, a sliver does not count its box.
uint32_t area_px(const TileContext& t, const records::TriangleRecord& r) {
  float across = 1;
  const auto extent = [&](const int32_t* at, int32_t origin, uint32_t bin_px) {
    const int32_t least = std::min(std::min(at[0], at[1]), at[2]), most = std::max(std::max(at[0], at[1]), at[2]);
    across *= static_cast<float>(most - least);
    const int32_t low = std::max((least >> records::kSubpixelBits) - origin, 0);
    const int32_t high = std::min((most >> records::kSubpixelBits) - origin + 1, static_cast<int32_t>(bin_px));
    return static_cast<uint32_t>(std::max(high - low, 0));
  };
  const uint32_t box = extent(r.x, t.bin.origin_x_px, t.shape.width_px) * extent(r.y, t.bin.origin_y_px, t.shape.height_px);
  if (box == 0 || across <= 0) return 0;
  const auto side = [](const int32_t* at, int k) { return static_cast<float>(at[k] - at[0]); };
  const float twice = std::fabs(side(r.x, 1) * side(r.y, 2) - side(r.x, 2) * side(r.y, 1));
  return std::max(static_cast<uint32_t>(static_cast<float>(box) * std::min(twice / across, 1.0f)), 1u);
}

// Large triangles, several deep? Sets DepthBounds::block_limit.
bool worth_it(const TileContext& t, DepthBounds& bounds, uint32_t segment, uint32_t at, uint32_t end) {
  const records::BinnedGeometry& binned = *t.pass->geometry;
  uint32_t count = 0;
  for (uint32_t i = segment, from = at; count < kMost && i < end && !binned.segments[i].chunk->clear; i++, from = 0)
    count += binned.segments[i].count - from;
  count = std::min(count, kMost);
  bounds.block_limit = detail::kSmallTriangle;
  if (count < 2) return false;
  const uint32_t asked = std::min(count, kAsked);
  struct {
    uint64_t area;
    uint32_t large;
  } of_all = {0, 0}, of_windowed = {0, 0};  // those that are not small in deep bins; those that never are
  // They come from all over memory: all are fetched before the first is looked at.
  const records::TriangleRecord* records[kAsked];
  for (uint32_t k = 0; k < asked; k++) {
    // Of many: places without a period, which a mesh's rows have.
    const uint32_t place = count > kAsked ? static_cast<uint32_t>(uint64_t{k * 0x9e3779b9u} * count >> 32) : k;
    uint32_t number = at + place, i = segment;
    for (; number >= binned.segments[i].count; i++) number -= binned.segments[i].count;
    records[k] = &record_of(binned.segments[i], number);
    prefetch(records[k]);
  }
  for (uint32_t k = 0; k < asked; k++) {
    const records::TriangleRecord& r = *records[k];
    const uint32_t here = is_small(r, detail::kSmallInDeepBins) ? 0 : area_px(t, r);
    const uint32_t windowed = here && !is_small(r, detail::kSmallTriangle) ? here : 0;
    of_all = {of_all.area + here, of_all.large + (here != 0)};
    of_windowed = {of_windowed.area + windowed, of_windowed.large + (windowed != 0)};
  }
  const uint64_t bin = uint64_t{t.shape.width_px} * t.shape.height_px;
  const bool deep = of_all.area * count >= kDeep * bin * asked;
  if (deep) bounds.block_limit = detail::kSmallInDeepBins;
  const auto [area, large] = deep ? of_all : of_windowed;
  if (2 * large < asked) return false;
  return area * kLargePart >= bin * asked && area * count >= 2 * bin * asked;
}

// Whether a draw with this state may change places with the current one.
bool tested_alike(const TileContext& t, StatePlans& plans, const CurrentDraw& d, const command::DrawState& state) {
  const auto& [rules, plan] = plan_of(t, plans, state);
  if (!plan.may_swap) return false;
  const TestRules& now = d.plan.rules;
  const PixelRect rect = draw_rect(t, state);
  return rules.compare == now.compare && rules.range_lo == now.range_lo && rules.range_hi == now.range_hi && rect.x0 == d.rect.x0 &&
         rect.y0 == d.rect.y0 && rect.x1 == d.rect.x1 && rect.y1 == d.rect.y1;
}

// Primitives that may change places, in API order: they have their numbers, from `first_number` on.
struct Run {
  std::array<float, kMost> nearest;  // depth of each
  uint32_t count = 0;
  float least = INFINITY, most = -INFINITY;
  bool in_order = true;             // near ones come first as it is
  size_t primitives, draws;         // in the visibility buffer before it
  uint32_t end_segment, end_entry;  // where it ends
};

void number_run(const TileContext& t, StatePlans& plans, const CurrentDraw& d, Visibility& v, uint32_t segment, uint32_t at, uint32_t end,
                Run& run) {
  const records::BinnedGeometry& binned = *t.pass->geometry;
  run.primitives = v.primitives.size();
  run.draws = v.draws.size();
  uint32_t draw = ~0u;
  const command::DrawState* alike = d.state;
  uint32_t i = segment, entry = at;
  for (; i < end && !binned.segments[i].chunk->clear; i++, entry = 0) {
    const records::BinSegment& s = binned.segments[i];
    for (; entry < s.count && run.count < kMost; entry++) {
      const records::TriangleRecord& r = record_of(s, entry);
      if (draw_of(r) != draw) {
        const command::DrawCall& call = t.pass->draws[draw_of(r)];
        if (call.query >= 0) break;
        if (call.state != alike && !tested_alike(t, plans, d, *call.state)) break;
        alike = call.state;
        draw = draw_of(r);
        v.draws.push_back(draw);
      }
      const float near = std::min(std::min(r.z[0], r.z[1]), r.z[2]);
      run.in_order &= near >= run.most || run.count == 0;
      run.least = std::min(run.least, near);
      run.most = std::max(run.most, near);
      run.nearest[run.count++] = near;
      v.primitives.push_back({&r, s.chunk, nullptr, static_cast<uint32_t>(v.draws.size() - 1)});
    }
    if (entry < s.count) break;
  }
  run.end_segment = i;
  run.end_entry = entry;
}

// API order will do, and its tests: the run has no numbers yet.
void draw_in_order(Worker& w, uint32_t segment, uint32_t at, uint32_t end, const Run& run) {
  const std::vector<records::BinSegment>& segments = w.pass->geometry->segments;
  w.visibility.primitives.resize(run.primitives);
  w.visibility.draws.resize(run.draws);
  for (; segment < run.end_segment; segment++, at = 0) draw_entries(w, segments[segment], at, segments[segment].count);
  if (run.end_entry > at && run.end_segment < end) draw_entries(w, segments[run.end_segment], at, run.end_entry);
}

// Indices in the run by classes of depth, near ones first; a NaN is anywhere.
void sort_by_depth(const Run& run, std::array<uint16_t, kMost>& order) {
  const uint32_t classes = run.count > kMany ? kManyClasses : kClasses;
  std::array<uint16_t, kMost> depth_class;
  std::array<uint16_t, kManyClasses + 1> first_of;
  std::fill_n(first_of.begin(), classes + 1, uint16_t{0});
  const float scale = run.most > run.least ? static_cast<float>(classes) / (run.most - run.least) : 0.0f;
  for (uint32_t k = 0; k < run.count; k++) {
    const float place = (run.nearest[k] - run.least) * scale;
    depth_class[k] = static_cast<uint16_t>(place > 0 ? std::min(place, static_cast<float>(classes - 1)) : 0.0f);
    first_of[depth_class[k] + 1u]++;
  }
  for (uint32_t k = 0; k < classes; k++) first_of[k + 1] = static_cast<uint16_t>(first_of[k + 1] + first_of[k]);
  for (uint32_t k = 0; k < run.count; k++) order[first_of[depth_class[k]]++] = static_cast<uint16_t>(k);
  assert(first_of[classes - 1] == run.count);  // each place was given once
}

void draw_ordered(Worker& w, const Run& run, const std::array<uint16_t, kMost>& order) {
  w.draw.test.any_order = true;
  w.draw.test.functions = any_order_functions(w.draw.test);
  const uint32_t first_number = static_cast<uint32_t>(run.primitives) + 1;
  const records::TriangleRecord* batch[kBatch];
  const records::Chunk* chunks[kBatch];
  uint32_t numbers[kBatch];
  for (uint32_t k = 0; k < run.count;) {
    uint32_t n = 0;
    for (; n < kBatch && k < run.count; n++, k++) {
      const VisiblePrimitive& primitive = w.visibility.primitives[run.primitives + order[k]];
      batch[n] = primitive.record;
      chunks[n] = primitive.chunk;
      numbers[n] = first_number + order[k];
    }
    draw_any_order(w, batch, chunks, numbers, n);
  }
}

}  // namespace

bool begin_any_order(const TileContext& t, const BlockCovers& covers, const BinFilter& filter) {
  return covers.active && t.bin.phase == Phase::ordinary && !t.shape.traits.lrz && !filter.tile.on();
}

bool draw_near_to_far(Worker& w, uint32_t& segment, uint32_t& at, uint32_t end, bool& again) {
  const records::BinnedGeometry& binned = *w.pass->geometry;
  assert(at < binned.segments[segment].count);
  if (!worth_it(w, w.bounds, segment, at, end)) {
    again = false;
    return false;
  }
  const uint32_t first_draw = draw_of(record_of(binned.segments[segment], at));
  if (first_draw != w.draw.number) select_draw(w, first_draw);
  if (!w.draw.takes_covers || !may_swap_draw(w.shape.traits, w.draw.plan, {w.draw.early_query >= 0, false})) return false;
  if (w.visibility.primitives.size() + kMost > kMaxVisible) flush_visibility(w);
  Run run;
  number_run(w, w.plans, w.draw, w.visibility, segment, at, end, run);
  if (run.in_order) {
    draw_in_order(w, segment, at, end, run);
  } else {
    std::array<uint16_t, kMost> order;
    sort_by_depth(run, order);
    draw_ordered(w, run, order);
    w.draw.number = ~0u;  // the next draw's state is chosen anew
    w.draw.state = nullptr;
  }
  segment = run.end_segment;
  at = run.end_entry;
  return true;
}

}  // namespace tilegpu::TILEGPU_TILE
