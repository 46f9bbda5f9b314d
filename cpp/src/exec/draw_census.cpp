// exec/draw_census.cpp -- see draw_census.hpp. In: records and bins of a chunk. Out: counts by draw.
#include "exec/draw_census.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include "pipeline/resolved.hpp"

namespace tilegpu::exec {

namespace {

using records::BinGrid;
using records::BinRun;
using records::Chunk;
using records::TriangleRecord;

/// What tells a draw's vertices apart: where their varyings lie; without varyings several batches have the same places, so the position
/// too.
struct Key {
  uint32_t draw = 0, varyings = 0;
  int32_t x = 0, y = 0;
  auto operator<=>(const Key&) const = default;
};

void add_keys(const TriangleRecord& r, std::span<const command::DrawCall> draws, std::vector<Key>& keys) {
  if (r.draw_flags & records::kDeferred) return;
  const uint32_t draw = r.draw_flags & records::kDrawMask;
  assert(draw < draws.size());
  const bool placed = !draws[draw].state->resolved->varyings.components.empty();
  const bool point = r.vertex[0] == r.vertex[1] && r.vertex[0] == r.vertex[2];  // a square about its one vertex
  for (size_t k = 0; k < (point ? 1 : 3); k++) keys.push_back({draw, r.vertex[k], placed ? 0 : r.x[k], placed ? 0 : r.y[k]});
}

/// Takes the keys: how many different ones each draw has.
template <class Add>
void count_different(std::vector<Key>& keys, const Add& add) {
  std::sort(keys.begin(), keys.end());
  const auto end = std::unique(keys.begin(), keys.end());
  for (auto at = keys.begin(); at != end; ++at) add(at->draw);
  keys.clear();
}

/// Indices of the chunk's runs, tile by tile.
std::vector<uint32_t> runs_by_tile(const Chunk& chunk, const BinGrid& grid) {
  std::vector<uint32_t> order(chunk.runs.size());
  for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
  if (!grid.tiles_are_bins())
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return grid.tile_of(chunk.runs[a].bin) < grid.tile_of(chunk.runs[b].bin); });
  return order;
}

}  // namespace

void count_kept_vertices(Chunk& chunk, const BinGrid& grid, std::span<const command::DrawCall> draws) {
  if (chunk.clear || chunk.records.size() == 0) return;
  std::vector<DrawVertices>& rows = chunk.stats.draw_vertices;
  size_t last = 0;
  const auto row_of = [&](uint32_t draw) -> DrawVertices& {
    if (last < rows.size() && rows[last].draw == draw) return rows[last];
    for (last = 0; last < rows.size(); last++)
      if (rows[last].draw == draw) return rows[last];
    rows.push_back({.draw = draw});  // of a further viewport
    return rows[last];
  };
  std::vector<Key> keys;
  for (size_t i = 0; i < chunk.records.size(); i++) {
    row_of(chunk.records[i].draw_flags & records::kDrawMask).primitives_out++;
    add_keys(chunk.records[i], draws, keys);
  }
  count_different(keys, [&](uint32_t draw) { row_of(draw).vertices_kept++; });

  const std::vector<uint32_t> order = runs_by_tile(chunk, grid);
  std::vector<uint32_t> in_tile;
  for (size_t k = 0; k < order.size();) {
    const size_t tile = grid.tile_of(chunk.runs[order[k]].bin);
    in_tile.clear();
    for (; k < order.size() && grid.tile_of(chunk.runs[order[k]].bin) == tile; k++) {
      const BinRun& run = chunk.runs[order[k]];
      for (uint32_t i = run.first; i < run.first + run.count; i++)
        if (chunk.hidden.empty() || !chunk.hidden[i]) in_tile.push_back(chunk.entries[i]);
    }
    std::sort(in_tile.begin(), in_tile.end());
    in_tile.erase(std::unique(in_tile.begin(), in_tile.end()), in_tile.end());
    for (const uint32_t record : in_tile) {
      row_of(chunk.records[record].draw_flags & records::kDrawMask).bin_entries++;
      add_keys(chunk.records[record], draws, keys);
    }
    count_different(keys, [&](uint32_t draw) { row_of(draw).vertices_kept_in_tiles++; });
  }
}

}  // namespace tilegpu::exec
