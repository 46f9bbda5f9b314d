// exec/pass_binning.cpp -- stage: execution of a render pass, end of binning. In: a wave of chunks. Out: without what low-resolution Z
// rejects while binning, their bin entries, heap and visibility stream counted again.
//
// Chunks are binned on all threads at once, so the test waits until the wave is there: then a job for each bin (or those that share texels
// of low-resolution Z) takes its records in the order of drawing, tests and writes. Texels of two jobs are never the same: the results are
// those of one thread. Everything in tiles of the profile; bins are parts of them.
// Source: lrz.rst; the stream's size is a model (docs/hsr_lrz.md), its format is not published.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "exec/draw_census.hpp"
#include "exec/pass_run.hpp"
#include "hsr/lrz_binning.hpp"

namespace tilegpu::exec {

namespace {

using records::BinGrid;
using records::BinRun;
using records::Chunk;

// A model: a word for each draw that a tile has primitives of, and a bit for each of the draw's primitives.
constexpr uint64_t kDrawOfStream_B = 4;

uint32_t draw_of(const Chunk& chunk, uint32_t record) { return chunk.records.data()[record].draw_flags & records::kDrawMask; }

// Bins of the first layer that share texels, numbered row by row.
struct Groups {
  uint32_t across_px, down_px, first_column, first_row, columns, rows;
  uint32_t of(const BinGrid& grid, uint32_t bin) const {
    const uint32_t column = static_cast<uint32_t>(grid.x_px(bin)) / across_px - first_column,
                   row = static_cast<uint32_t>(grid.y_px(bin)) / down_px - first_row;
    return row * columns + column;
  }
  hsr::LrzRect rect(uint32_t group) const {
    const auto x = static_cast<int32_t>((group % columns + first_column) * across_px),
               y = static_cast<int32_t>((group / columns + first_row) * down_px);
    return {x, y, x + static_cast<int32_t>(across_px), y + static_cast<int32_t>(down_px)};
  }
};

Groups groups_of(const BinGrid& grid, const hsr::LrzTexel& texel) {
  Groups g;
  g.across_px = std::max(grid.width_px, texel.width_px()), g.down_px = std::max(grid.height_px, texel.height_px());
  const auto x = static_cast<uint32_t>(grid.origin_x_px), y = static_cast<uint32_t>(grid.origin_y_px);
  g.first_column = x / g.across_px, g.first_row = y / g.down_px;
  g.columns = (x + grid.columns * grid.width_px - 1) / g.across_px - g.first_column + 1;
  g.rows = (y + grid.rows * grid.height_px - 1) / g.down_px - g.first_row + 1;
  return g;
}

hsr::LrzRect rect_of(const BinGrid& grid, uint32_t bin) {
  const int32_t x = grid.x_px(bin), y = grid.y_px(bin);
  return {x, y, x + static_cast<int32_t>(grid.width_px), y + static_cast<int32_t>(grid.height_px)};
}

// The next record of a group: of which run of its chunk.
struct Next {
  uint32_t record, run;
};

// Records of one chunk in one bin, in order.
void take_run(const hsr::LrzPass& lrz, const BinGrid& grid, const WaveRun& wave) {
  Chunk& chunk = *wave.chunk;
  const BinRun& run = chunk.runs[wave.run];
  const hsr::LrzRect rect = rect_of(grid, run.bin);
  const uint32_t* const entries = chunk.entries.data() + run.first;
  uint8_t* const hidden = chunk.hidden.data() + run.first;
  for (uint32_t i = 0; i < run.count; i++) {
    const hsr::LrzBinDraw& draw = lrz.binning[draw_of(chunk, entries[i])];
    const records::TriangleRecord& record = chunk.records.data()[entries[i]];
    if (draw.tested && hsr::lrz_rejects(draw, record, rect))
      hidden[i] = 1;
    else if (draw.writer.buffer)
      hsr::lrz_write(draw, record, rect);
  }
}

// Bins that share texels: their records of one chunk, merged.
void take_runs(const hsr::LrzPass& lrz, const BinGrid& grid, std::span<const WaveRun> runs, const hsr::LrzRect& shared,
               std::vector<Next>& merged) {
  Chunk& chunk = *runs[0].chunk;
  merged.clear();
  for (const WaveRun& wave : runs)
    for (uint32_t i = 0; i < chunk.runs[wave.run].count; i++) merged.push_back({chunk.runs[wave.run].first + i, wave.run});
  std::sort(merged.begin(), merged.end(), [&](const Next& a, const Next& b) {
    return std::pair(chunk.entries[a.record], a.run) < std::pair(chunk.entries[b.record], b.run);
  });
  for (size_t i = 0; i < merged.size(); i++) {
    const uint32_t index = chunk.entries[merged[i].record];
    const hsr::LrzBinDraw& draw = lrz.binning[draw_of(chunk, index)];
    const records::TriangleRecord& record = chunk.records[index];
    const bool rejected = draw.tested && hsr::lrz_rejects(draw, record, rect_of(grid, chunk.runs[merged[i].run].bin));
    chunk.hidden[merged[i].record] = rejected;
    if (draw.writer.buffer && !rejected) hsr::lrz_write(draw, record, shared);
  }
}

// What is left of the chunk's runs: entries that are not hidden, in their order.
void leave_hidden_out(Chunk& chunk) {
  size_t kept_runs = 0;
  for (size_t k = 0; k < chunk.runs.size(); k++) {
    BinRun run = chunk.runs[k];
    uint32_t* const entries = chunk.entries.data() + run.first;
    const uint8_t* const hidden = chunk.hidden.data() + run.first;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run.count; i++) {
      entries[kept] = entries[i];
      kept += !hidden[i];
    }
    run.count = kept;
    if (kept) chunk.runs[kept_runs++] = run;
  }
  chunk.runs.resize(kept_runs);
  chunk.hidden.clear();
}

struct TileCounts {
  uint64_t entries = 0, stream_B = 0, runs = 0;
  std::vector<uint64_t> records;  // a bit for each that some tile has
};

// The first record of each draw, and the end.
std::vector<uint32_t> draws_of(const Chunk& chunk) {
  std::vector<uint32_t> first;
  for (uint32_t i = 0; i < chunk.records.size(); i++)
    if (i == 0 || draw_of(chunk, i) != draw_of(chunk, i - 1)) first.push_back(i);
  first.push_back(static_cast<uint32_t>(chunk.records.size()));
  return first;
}

// Primitives of each tile, each once, and the size of what says so; entries that are hidden do not count.
TileCounts count_tiles(const Chunk& chunk, const BinGrid& grid, bool streams) {
  TileCounts sum;
  const std::vector<uint32_t> draws = streams ? draws_of(chunk) : std::vector<uint32_t>();
  std::vector<uint32_t> order(chunk.runs.size());  // tile by tile
  for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
  if (!grid.tiles_are_bins())
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return grid.tile_of(chunk.runs[a].bin) < grid.tile_of(chunk.runs[b].bin); });
  const size_t words = (chunk.records.size() + 63) / 64;
  std::vector<uint64_t> seen(words, 0);
  sum.records.assign(words, 0);
  for (size_t k = 0; k < order.size();) {
    const size_t tile = grid.tile_of(chunk.runs[order[k]].bin);
    for (; k < order.size() && grid.tile_of(chunk.runs[order[k]].bin) == tile; k++) {
      const BinRun& run = chunk.runs[order[k]];
      bool any = false;
      for (uint32_t i = run.first; i < run.first + run.count; i++) {
        if (!chunk.hidden.empty() && chunk.hidden[i]) continue;
        any = true;
        seen[chunk.entries[i] >> 6] |= uint64_t{1} << (chunk.entries[i] & 63);
      }
      sum.runs += any;
    }
    uint32_t draw = ~0u;
    size_t run = 0;
    for (size_t word = 0; word < words; word++) {
      for (uint64_t left = seen[word]; left; left &= left - 1) {
        const auto record = static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(left)));
        sum.entries++;
        if (streams && draw_of(chunk, record) != draw) {
          draw = draw_of(chunk, record);
          while (draws[run + 1] <= record) run++;
          sum.stream_B += kDrawOfStream_B + (draws[run + 1] - draws[run] + 7) / 8;
        }
      }
      sum.records[word] |= seen[word];
      seen[word] = 0;
    }
  }
  return sum;
}

// Records of the heap that no tile has: small triangles are no part of a modelled heap.
uint64_t gone_from_heap(const Chunk& chunk, const TileCounts& found, bool without_deferred) {
  uint64_t gone = 0;
  for (size_t i = 0; i < chunk.records.size(); i++)
    if (!(found.records[i >> 6] >> (i & 63) & 1) && !(without_deferred && chunk.records[i].draw_flags & records::kDeferred)) gone++;
  return gone;
}

// The wave's runs of the first layer by group, each group's in the order of drawing.
void sort_runs(WaveBinning& wave, const Groups& groups, const BinGrid& grid, std::span<const std::unique_ptr<Chunk>> chunks) {
  wave.first.assign(size_t{groups.columns} * groups.rows + 1, 0);
  const auto each = [&](auto&& f) {
    for (const std::unique_ptr<Chunk>& chunk : chunks)
      for (uint32_t k = 0; k < chunk->runs.size() && chunk->runs[k].bin < grid.bins_of_layer(); k++)
        f(groups.of(grid, chunk->runs[k].bin), WaveRun{chunk.get(), k});
  };
  each([&](uint32_t group, const WaveRun&) { wave.first[group + 1]++; });
  for (size_t i = 1; i < wave.first.size(); i++) wave.first[i] += wave.first[i - 1];
  wave.runs.resize(wave.first.back());
  wave.next.assign(wave.first.begin(), wave.first.end() - 1);
  each([&](uint32_t group, const WaveRun& run) { wave.runs[wave.next[group]++] = run; });
}

void reject(PassRun& run, const hsr::LrzPass& lrz, std::span<const std::unique_ptr<Chunk>> chunks) {
  PassExecutor::State& s = run.kept;
  const BinGrid& grid = run.geometry.grid;
  const hsr::LrzBuffer* const buffer = lrz.buffer[0] ? lrz.buffer[0] : lrz.buffer[1];
  assert(buffer);
  for (const std::unique_ptr<Chunk>& chunk : chunks) {
    chunk->hidden.resize(chunk->entries.size());
    if (!chunk->hidden.empty()) std::memset(chunk->hidden.data(), 0, chunk->hidden.size());
  }
  const Groups groups = groups_of(grid, buffer->texel);
  sort_runs(s.wave, groups, grid, chunks);
  s.pool.run("binning", groups.columns * groups.rows, [&](uint32_t, uint32_t group) {
    const std::span<const WaveRun> runs(s.wave.runs.data() + s.wave.first[group], s.wave.first[group + 1] - s.wave.first[group]);
    std::vector<Next> merged;
    for (size_t i = 0; i < runs.size();) {
      size_t end = i + 1;
      while (end < runs.size() && runs[end].chunk == runs[i].chunk) end++;
      if (end == i + 1)
        take_run(lrz, grid, runs[i]);
      else
        take_runs(lrz, grid, runs.subspan(i, end - i), groups.rect(group), merged);
      i = end;
    }
  });
}

}  // namespace

void finish_binning(PassRun& run, size_t held, uint32_t count) {
  PassExecutor::State& s = run.kept;
  const hsr::LrzPass* const lrz = run.context.lrz && !run.context.lrz->binning.empty() ? run.context.lrz : nullptr;
  const bool streams = run.pass.framebuffer.layout.profile->tile_model == framebuffer::TileModel::gmem && !run.sysmem;
  const bool counts_draws = run.context.counts_draws;
  if (run.cancelled || !(lrz || streams || counts_draws)) return;
  const std::span<const std::unique_ptr<Chunk>> chunks(s.chunks.data() + held, count);
  if (lrz) reject(run, *lrz, chunks);
  const BinGrid& grid = run.geometry.grid;
  const bool keeps = run.trace && !run.timed;  // what was rejected is part of a pixel's history
  s.pool.run("binning", count, [&](uint32_t, uint32_t i) {
    Chunk& chunk = *chunks[i];
    const bool rejects = !chunk.hidden.empty() && std::memchr(chunk.hidden.data(), 1, chunk.hidden.size());
    if (!rejects) chunk.hidden.clear();
    const size_t runs = chunk.runs.size();
    if (rejects && !keeps) leave_hidden_out(chunk);
    if (counts_draws) count_kept_vertices(chunk, grid, run.context.draws);
    if (!rejects && !streams) return;
    const TileCounts found = count_tiles(chunk, grid, streams);
    PassStats& stats = chunk.stats;
    stats.visibility_stream_B = streams ? found.stream_B : 0;
    if (!rejects) return;
    const uint64_t rejected = stats.bin_entries - found.entries;
    stats.lrz_primitives_rejected_in_binning = rejected;
    stats.bin_entries = found.entries;
    stats.tiler_heap_B -= rejected * sizeof(uint32_t) + (runs - found.runs) * sizeof(BinRun) +
                          gone_from_heap(chunk, found, run.geometry.counts_draws) * sizeof(records::TriangleRecord);
  });
}

}  // namespace tilegpu::exec
