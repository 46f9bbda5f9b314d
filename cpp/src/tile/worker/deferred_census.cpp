// tile/worker/deferred_census.cpp -- see deferred_census.hpp. In: entries. Out: counts.
#include "tile/worker/deferred_census.hpp"

#include <algorithm>
#include <cassert>

namespace tilegpu::tile {

void DeferredCensus::begin_pass(size_t draws) { counts_.assign(draws, {}); }

DeferredCensus::Entry& DeferredCensus::find(uint64_t owner, uint32_t vertex) {
  if (2 * used_ >= table_.size()) {
    std::vector<Entry> old(std::max<size_t>(256, table_.size() * 2));
    std::swap(old, table_);
    used_ = 0;
    for (const Entry& entry : old)
      if (entry.age == age_) find(entry.owner, entry.vertex).needs = entry.needs;
  }
  const size_t mask = table_.size() - 1;
  uint64_t hash = (owner * 0x9e3779b97f4a7c15ull) ^ (vertex * 0xff51afd7ed558ccdull);
  hash ^= hash >> 32;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    Entry& entry = table_[at];
    if (entry.age != age_) {
      entry = {owner, vertex, age_, 0};
      used_++;
      return entry;
    }
    if (entry.owner == owner && entry.vertex == vertex) return entry;
  }
}

void DeferredCensus::count(const records::Chunk& chunk, uint32_t record, uint8_t need) {
  const records::TriangleRecord& r = chunk.records.data()[record];
  if (!(r.draw_flags & records::kDeferred)) return;
  const uint32_t draw = r.draw_flags & records::kDrawMask;
  assert(draw < counts_.size() && !chunk.deferred_instances.empty());
  const auto after = std::upper_bound(chunk.deferred_instances.begin(), chunk.deferred_instances.end(), record,
                                      [](uint32_t at, const records::DeferredRun& run) { return at < run.first; });
  const uint64_t owner = uint64_t{draw} << 32 | after[-1].instance;
  for (const uint32_t vertex : r.vertex) {
    Entry& entry = find(owner, vertex);
    if (entry.needs & need) continue;
    entry.needs |= need;
    Counts& sum = counts_[draw];
    sum.in_tiles += need == static_cast<uint8_t>(VertexNeed::in_tile);
    sum.positioned += need == static_cast<uint8_t>(VertexNeed::position);
    sum.shaded += need == static_cast<uint8_t>(VertexNeed::whole);
  }
}

// Where the pre-pass shades whole vertices itself, this program shades them once for it and for what is seen: all of them may be.
void DeferredCensus::shaded(uint64_t owner, std::span<const uint32_t> vertices, bool whole) {
  const auto draw = static_cast<uint32_t>(owner >> 32);
  assert(on() && draw < counts_.size());
  for (const uint32_t vertex : vertices)
    counts_[draw].shaded_after += whole || find(owner, vertex).needs & static_cast<uint8_t>(VertexNeed::position);
}

void DeferredCensus::begin_bin(std::span<const records::BinSegment> segments) {
  if (++age_ == 0) table_.clear(), age_ = 1;
  used_ = 0;
  for (const records::BinSegment& segment : segments)
    for (uint32_t i = 0; i < segment.count; i++)
      count(*segment.chunk, segment.chunk->entries.data()[segment.first + i], static_cast<uint8_t>(VertexNeed::in_tile));
}

void DeferredCensus::pass_over(const records::BinSegment& segment, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    const uint32_t record = segment.chunk->entries.data()[segment.first + i];
    const uint32_t draw = segment.chunk->records.data()[record].draw_flags & records::kDrawMask;
    while (at_ < entered_.size() && entered_[at_].first != draw) at_++;
    if (at_ == entered_.size()) return;
    if (entered_[at_].second) count(*segment.chunk, record, entered_[at_].second);
  }
}

}  // namespace tilegpu::tile
