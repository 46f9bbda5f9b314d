// tile/visibility/visibility.cpp -- stage: tile phase, the host's hidden-surface removal. In: the visibility buffer: for each sample the
// number of the opaque primitive that is seen there. Out: those primitives shaded, each sample once; the buffer cleared.
//
// Opaque draws without side effects only write depth and their number when they are rasterized. Here each touched block's
// numbers are gathered into quads, sorted by draw (packets share push constants and descriptors) and packed. Every sample
// belongs to one quad, so the order cannot matter. Source: docs/decisions.md, 8; Burns and Hunt, "The Visibility Buffer".
#include "tile/visibility/visibility.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>

#include "tile/shading/quad_queue.hpp"
#include "tile/visibility/pixel_colors.hpp"
#include "tile/visibility/pixel_groups.hpp"
#include "tile/visibility/quad_strata.hpp"
#include "tile/visibility/sample_lists.hpp"
#include "tile/visibility/whole_blocks.hpp"
#include "tile_io/equal_quads.hpp"

namespace tilegpu::TILEGPU_TILE {

namespace {

void gather_block(Visibility& v, uint32_t* all_ids, uint32_t samples, bool keeps_numbers, uint32_t block) {
  uint32_t* ids = all_ids + size_t{block} * samples * 16;
  const uint32_t vectors = samples * 2;
  const i32x8 first = i32x8{} + static_cast<int32_t>(ids[0]);
  i32x8 differs{};
  for (uint32_t i = 0; i < vectors; i++) differs |= load8(ids + 8 * i) ^ first;
  if (sign_bits(differs != 0)) {
    v.groups.blocks.push_back(block);
    return;
  }
  if (ids[0]) v.strata.add_whole(ids[0], block);
  if (!keeps_numbers)
    for (uint32_t i = 0; i < vectors; i++) store(ids + 8 * i, i32x8{});
}

// Touched blocks; those that a primitive holds are whole ones of it.
void list_dirty(const TileContext& t, Visibility& v, BlockCovers& covers) {
  const uint32_t blocks = t.shape.blocks();  // 64 or more: bins are 32 px wide at least
  assert(blocks % 8 == 0 && !t.buffers.dirty[blocks]);
  v.dirty_blocks.clear();
  for (uint32_t i = 0; i < blocks; i += 8) {
    uint64_t bytes;
    std::memcpy(&bytes, t.buffers.dirty + i, 8);
    if (!bytes) continue;
    std::memset(t.buffers.dirty + i, 0, 8);
    for (; bytes; bytes &= bytes - 1) {
      const uint32_t block = i + static_cast<uint32_t>(std::countr_zero(bytes) >> 3);
      if (const uint32_t id = covers.any ? release_cover(t, covers, block) : 0)
        v.strata.add_whole(id, block);
      else
        v.dirty_blocks.push_back(block);
    }
  }
}
#if TILEGPU_HAS_WIDE
// One sample, AVX-512: whole blocks, and which have several primitives. Which kind comes next is hard to foretell: no branch.
TILEGPU_WIDE void gather_blocks_wide(Visibility& v, uint32_t* all_ids, bool keeps_numbers, const uint32_t* blocks, size_t count) {
  auto& mixed_blocks = v.groups.blocks;
  auto& whole_blocks = v.strata.of[QuadStrata::whole];
  mixed_blocks.reserve(count + 1);
  whole_blocks.reserve(whole_blocks.size() + count + 1);
  uint32_t* mixed = mixed_blocks.data();
  VisibleQuad* whole = whole_blocks.data() + whole_blocks.size();
  const uint32_t keeps = keeps_numbers;
  for (size_t i = 0; i < count; i++) {
    uint32_t* const ids = all_ids + size_t{blocks[i]} * 16;
    const __m512i numbers = _mm512_load_si512(ids);
    const __m128i first = _mm512_castsi512_si128(numbers);
    const __mmask16 differs = _mm512_cmpneq_epi32_mask(numbers, _mm512_broadcastd_epi32(first));
    const uint32_t is_mixed = differs != 0, id = static_cast<uint32_t>(_mm_cvtsi128_si32(first));
    *mixed = blocks[i];
    mixed += is_mixed;
    *whole = {id, blocks[i] * 16 | kWholeBlock, 0};
    whole += (is_mixed ^ 1) & (id != 0);
    // As arithmetic, or the compiler makes a branch of it.
    const __m512i kept = _mm512_set1_epi32(static_cast<int32_t>(0u - (is_mixed | keeps)));
    _mm512_store_si512(ids, _mm512_and_si512(numbers, kept));
  }
  mixed_blocks.resize(static_cast<size_t>(mixed - mixed_blocks.data()));
  whole_blocks.extend_reserved(static_cast<size_t>(whole - (whole_blocks.data() + whole_blocks.size())));
}
#else
void gather_blocks_wide(Visibility&, uint32_t*, bool, const uint32_t*, size_t) { no_wide_vectors(); }
#endif

// Blocks in whose lists are all of their samples: whole ones, and which have several primitives. Which kind comes next is hard to foretell:
// no branch.
void gather_lists(BlockLists& lists, Visibility& v) {
  const size_t blocks = lists.count.size();
  auto& listed_blocks = v.groups.listed;
  auto& whole_blocks = v.strata.of[QuadStrata::whole];
  listed_blocks.reserve(blocks + 1);
  whole_blocks.reserve(whole_blocks.size() + blocks + 1);
  uint32_t* listed = listed_blocks.data();
  VisibleQuad* whole = whole_blocks.data() + whole_blocks.size();
  for (uint32_t block = 0; block < blocks; block++) {
    const uint32_t count = lists.count[block];
    if (count == 0 || count == kInBuffers) continue;
    BlockEntry& first = lists.entries[size_t{block} * kBlockEntries];
    const bool is_whole = count == 1 && none(lists.free[block]);
    *listed = block;
    listed += !is_whole;
    *whole = {first.id, block * 16 | kWholeBlock, 0};
    whole += is_whole;
    first.id = is_whole ? 0 : first.id;
  }
  listed_blocks.resize(static_cast<size_t>(listed - listed_blocks.data()));
  whole_blocks.extend_reserved(static_cast<size_t>(whole - (whole_blocks.data() + whole_blocks.size())));
}

// The blocks with several primitives: as groups of pixels, or as quads. True: groups.
bool gather_mixed(const TileContext& t, Visibility& v, const BlockLists& lists, bool keeps_numbers) {
  const bool groups = !v.queued && wants_groups(t, v);
  if (groups) choose_colors(t, v);
  if (uint8_t* const equal = t.buffers.equal) {
    const bool averages = groups && v.groups.colors.averages;
    for (uint32_t block : v.groups.blocks)
      if (equal[block]) tile_io::expand_block(t.pass->tile, block, t.buffers.memory.data());
    for (uint32_t block : v.groups.listed) {
      // Colours of which nothing will be left need not be expanded, nor those whose average alone is wanted; a history tells them.
      if (kTraced && equal[block]) tile_io::expand_block(t.pass->tile, block, t.buffers.memory.data());
      if (none(lists.free[block]))
        equal[block] = averages ? 0xf : 0;
      else if (equal[block] && !(averages && equal[block] == 0xf))
        tile_io::expand_block(t.pass->tile, block, t.buffers.memory.data());
    }
  }
  if (groups) return true;
  for (uint32_t block : v.groups.blocks) {
    uint32_t* ids = t.buffers.ids + size_t{block} * t.shape.samples * 16;
    if (t.shape.wide && t.shape.samples == 1)
      gather_numbers_wide(ids, block, v.strata);
    else
      gather_numbers(ids, t.shape.samples, block, v.strata);
    if (keeps_numbers) continue;
    for (uint32_t i = 0; i < t.shape.samples * 2; i++) store(ids + 8 * i, i32x8{});
  }
  for (uint32_t block : v.groups.listed) {
    BlockEntry* list = lists.entries + size_t{block} * kBlockEntries;
    const uint32_t count = lists.count[block];
    (t.shape.wide ? gather_entries_wide : gather_entries)(list, count, t.shape.samples, block, v.strata);
    for (uint32_t i = 0; i < count; i++) list[i].id = 0;
  }
  v.groups.clear();
  return false;
}

// All strata behind each other in Visibility::gathered.
void join_strata(Visibility& v) {
  v.gathered.clear();
  for (const auto& stratum : v.strata.of) v.gathered.append(stratum.data(), stratum.size());
}

bool runs_all(const PassContext& pass, const Visibility& v, const VisiblePrimitive& primitive) {
  return pass.draws[v.draws[primitive.draw_slot]].state->resolved->classification.side_effects;
}

// After a pre-pass: draws with side effects are drawn again, all their fragments, and were not counted as recorded; the others are counted.
void settle_prepass(const PassContext& pass, Visibility& v, bool draws_again, Results& r) {
  if (draws_again) {
    const auto leaves = [&](const VisibleQuad& quad) { return runs_all(pass, v, v.primitives[quad.id - 1]); };
    v.gathered.resize(static_cast<size_t>(std::remove_if(v.gathered.begin(), v.gathered.end(), leaves) - v.gathered.begin()));
  }
  uint64_t seen = 0;
  for (const VisibleQuad& quad : v.gathered)
    seen += quad.tile_pixel & kWholeBlock ? 16 : static_cast<uint32_t>(std::popcount(covered_pixels(quad.live)));
  assert(seen <= r.recorded);
  r.counters.fragments_killed_by_prepass += r.recorded - seen;
}

// Stable, by draw; the result is in Visibility::gathered.
void sort_by_draw(Visibility& v) {
  const size_t slots = v.draws.size();
  v.slot_first.assign(slots + 1, 0);
  for (const VisibleQuad& quad : v.gathered) v.slot_first[v.primitives[quad.id - 1].draw_slot + 1]++;
  for (size_t i = 0; i < slots; i++) v.slot_first[i + 1] += v.slot_first[i];
  v.sorted.resize(v.gathered.size());
  for (const VisibleQuad& quad : v.gathered) v.sorted[v.slot_first[v.primitives[quad.id - 1].draw_slot]++] = quad;
  std::swap(v.gathered, v.sorted);
}

// Setups of the primitives that are seen, eight at a time, in order of their numbers. Groups of pixels are made on the way.
void set_up_gathered(const TileContext& t, Visibility& v, BlockLists& lists, const records::DepthLimits& limits, Packets& packets,
                     stats::FragmentCounters& counters, bool groups) {
  const records::TriangleRecord* records[kBatch];
  const records::Chunk* chunks[kBatch];
  uint32_t orders[kBatch];
  shader::PrimitiveSetup* setups[kBatch];
  uint32_t count = 0;
  const auto flush = [&] {
    // What is numbered is opaque, but where a pre-pass has its own say.
    uint32_t corners = 0;
    for (uint32_t k = 0; k < count && t.bin.phase != Phase::ordinary; k++)
      corners |= uint32_t{records::takes_corners(t.pass->draws[draw_of(*records[k])].state->resolved->classification)} << k;
    set_up_primitives(records, chunks, orders, limits.range_lo, limits.range_hi, corners, setups);
    for (uint32_t k = 0; k < count && corners; k++) packets.vertices.complete(*t.pass, *setups[k]);
    count = 0;
  };
  // A byte for each: whether a number came before is hard to foretell.
  const size_t bytes = (v.primitives.size() + 8) & ~size_t{7};
  v.seen.assign(bytes, 0);
  uint8_t* const seen = v.seen.data();
  for (const VisibleQuad& quad : v.gathered) seen[quad.id - 1] = 1;
  if (groups) make_groups(t, v, lists, counters);
  for (size_t first = 0; first < bytes; first += 8) {
    uint64_t marks;
    std::memcpy(&marks, seen + first, 8);
    for (; marks; marks &= marks - 1) {
      const uint32_t index = static_cast<uint32_t>(first) + static_cast<uint32_t>(std::countr_zero(marks) >> 3);
      VisiblePrimitive& primitive = v.primitives[index];
      shader::PrimitiveSetup* setup = packets.setups.allocate();
      primitive.setup = setup;
      if constexpr (kTraced) trace::set_up(*t.traced, setup, {primitive.record, primitive.chunk});
      records[count] = primitive.record;
      chunks[count] = primitive.chunk;
      orders[count] = index + 1;
      setups[count++] = setup;
      if (count == kBatch) flush();
    }
  }
  if (!count) return;
  for (; count < kBatch; count++) {
    records[count] = records[0];
    chunks[count] = chunks[0];
    orders[count] = orders[0];
    setups[count] = &v.unused_setup;
  }
  flush();
}

// Deferred vertex shading: what was set up for this flush gets its vertices.
void shade_vertices(const Visibility& v, VertexStore& vertices, VertexStore::Scope scope) {
  for (const VisibleQuad& quad : v.gathered) vertices.want(v.primitives[quad.id - 1].setup);
  vertices.resolve(scope);
}

// The quads of the draw that is bound, four at once where they fill a packet, and the shader does not ask what the primitive covers.
void pack_quads(const TileContext& t, const Visibility& v, Packets& p, Results& r, std::span<const VisibleQuad> quads) {
  const bool true_coverage = p.shading.full_raster;
  const bool at_once = t.shape.quads_per_packet == kGatheredQuads && !true_coverage;
  while (!quads.empty()) {
    if (at_once && quads.size() >= kGatheredQuads && apart(quads.data())) {
      shade_gathered(t, v, p, r, quads.data());
      quads = quads.subspan(kGatheredQuads);
      continue;
    }
    const size_t count = std::min<size_t>(quads.size(), kQueueQuads);
    const auto add = [&](uint32_t i) {
      const VisibleQuad& quad = quads[i];
      assert(quad.id && quad.id <= v.primitives.size() && v.primitives[quad.id - 1].setup);
      const VisiblePrimitive& primitive = v.primitives[quad.id - 1];
      const uint32_t block = quad.tile_pixel >> 4;
      const int32_t x = t.shape.x_px(block) + static_cast<int32_t>(quad.tile_pixel >> 1 & 2);
      const int32_t y = t.shape.y_px(block) + static_cast<int32_t>(quad.tile_pixel >> 2 & 2);
      const uint64_t covered = true_coverage ? raster_coverage(t, p.bound_draw, *primitive.record, *primitive.chunk, x, y) : quad.live;
      add_to_packet(p, t.bin, primitive.setup, quad.tile_pixel, x, y, covered, quad.live);
    };
    pack(t, p, r, ~uint64_t{0} >> (kQueueQuads - count), 0, [&](uint32_t i) { return quads[i].tile_pixel; }, add);
    quads = quads.subspan(count);
  }
}

uint32_t slot_of(const Visibility& v, uint32_t id) { return v.primitives[id - 1].draw_slot; }

// Everything that is seen, in strata; the buffer is clear again. True: blocks with several primitives are groups of pixels.
bool gather(const TileContext& t, Visibility& v, BlockLists& lists, BlockCovers& covers, bool keeps_numbers) {
  v.strata.clear();
  v.groups.clear();
  list_dirty(t, v, covers);
  if (t.shape.wide && t.shape.samples == 1)
    gather_blocks_wide(v, t.buffers.ids, keeps_numbers, v.dirty_blocks.data(), v.dirty_blocks.size());
  else
    for (uint32_t block : v.dirty_blocks) gather_block(v, t.buffers.ids, t.shape.samples, keeps_numbers, block);
  covers.any = false;
  covers.planes.clear();
  if (lists.active) gather_lists(lists, v);
  const bool groups = gather_mixed(t, v, lists, keeps_numbers);
  join_strata(v);
  return groups;
}

// The trace hears of what is gathered.
void note_seen([[maybe_unused]] const TileContext& t, [[maybe_unused]] const Visibility& v) {
  if constexpr (kTraced)
    for (const VisibleQuad& quad : v.gathered)
      for (uint32_t q = 0; q < (quad.tile_pixel & kWholeBlock ? 4 : 1); q++)
        trace::seen(*t.traced, (quad.tile_pixel & ~kWholeBlock) + 4 * q, quad.tile_pixel & kWholeBlock ? t.shape.all_samples : quad.live);
}

// Whole blocks of the draw from `at` on, those of one primitive that lie side by side together. Returns their end.
size_t shade_whole(const TileContext& t, const Visibility& v, Packets& p, Results& r, size_t at, uint32_t slot) {
  const size_t end = v.gathered.size();
  while (at < end && v.gathered[at].tile_pixel & kWholeBlock && slot_of(v, v.gathered[at].id) == slot) {
    const VisibleQuad& quad = v.gathered[at];
    const uint32_t block = (quad.tile_pixel & ~kWholeBlock) >> 4, column = block & (t.shape.blocks_per_row - 1);
    uint32_t run = 1;
    while (column + run < t.shape.blocks_per_row && at + run < end && v.gathered[at + run].id == quad.id &&
           v.gathered[at + run].tile_pixel == quad.tile_pixel + 16 * run)
      run++;
    shade_blocks(t, p, r, v.primitives[quad.id - 1].setup, block, run);
    at += run;
  }
  return at;
}

// Draw by draw: whole blocks, groups of pixels, quads.
void shade_gathered_draws(const TileContext& t, const CurrentDraw& d, const ShadeMoment& moment, Visibility& v, Packets& p, Results& r) {
  const uint32_t group_count = static_cast<uint32_t>(v.groups.of.size());
  const bool one_draw = v.draws.size() == 1;
  const auto group_slot = [&](uint32_t group) { return slot_of(v, static_cast<uint32_t>(v.groups.of[group])); };
  uint32_t group = 0;
  for (size_t at = 0; at < v.gathered.size() || group < group_count;) {
    uint32_t slot = ~0u;
    if (at < v.gathered.size()) slot = slot_of(v, v.gathered[at].id);
    if (group < group_count) slot = std::min(slot, group_slot(group));
    bind_shading(t, d.late(), p, r, v.draws[slot], moment);
    const size_t quads = at = shade_whole(t, v, p, r, at, slot);
    const uint32_t first_group = group;
    if (one_draw) group = group_count;
    while (group < group_count && group_slot(group) == slot) group++;
    if (group > first_group) shade_groups(t, v, p, r.counters, first_group, group);
    if (one_draw) at = v.gathered.size();
    while (at < v.gathered.size() && slot_of(v, v.gathered[at].id) == slot) at++;
    pack_quads(t, v, p, r, {v.gathered.data() + quads, at - quads});
  }
}

// Where forward pixel kill goes on after the pre-pass: what is seen waits, as quads, for what the bin's later draws cover.
void queue_seen(Worker& w) {
  const Visibility& v = w.visibility;
  const auto push = [&](const VisiblePrimitive& primitive, uint32_t tile_pixel, uint64_t live) {
    const int32_t x = w.shape.x_px(tile_pixel >> 4) + static_cast<int32_t>(tile_pixel >> 1 & 2);
    const int32_t y = w.shape.y_px(tile_pixel >> 4) + static_cast<int32_t>(tile_pixel >> 2 & 2);
    const uint32_t draw = v.draws[primitive.draw_slot];
    // What the rasterizer covered beside it no shader asks that a pre-pass takes (rule 4).
    push_seen_quad(w, w.draw, w.kill, w.packets, w.results, draw,
                   {primitive.setup, tile_pixel, static_cast<uint16_t>(x), static_cast<uint16_t>(y), live, live});
  };
  w.packets.bound_draw = ~0u;  // not as the pre-pass bound it, which ran a slice
  for (const VisibleQuad& quad : v.gathered) {
    const VisiblePrimitive& primitive = v.primitives[quad.id - 1];
    if (!(quad.tile_pixel & kWholeBlock)) {
      push(primitive, quad.tile_pixel, quad.live);
      continue;
    }
    for (uint32_t q = 0; q < 4; q++) push(primitive, (quad.tile_pixel & ~kWholeBlock) + 4 * q, w.shape.all_samples);
  }
}

}  // namespace

void flush_visibility(Worker& w) {
  Visibility& v = w.visibility;
  Packets& p = w.packets;
  stats::FragmentCounters& counters = w.results.counters;
  const bool draws_again = !w.prepass.replays.empty();  // the main phase asks the ids, and ends with them
  assert(p.queue_count == 0 && p.packet_count == 0 && w.buffers.ids);
  const bool groups = gather(w, v, w.lists, w.covers, draws_again);
  if (w.bin.phase == Phase::main) settle_prepass(*w.pass, v, draws_again, w.results);
  note_seen(w, v);
  set_up_gathered(w, v, w.lists, w.draw.test, p, counters, groups);
  if (!w.bin.last_flush) expand_lists(w, w.lists);
  if (!w.pass->deferral.empty()) shade_vertices(v, p.vertices, {*w.pass, counters, p.loops});
  if (w.bin.phase == Phase::main)
    for (const VisiblePrimitive& primitive : v.primitives)
      counters.primitives_culled_by_prepass += !primitive.setup && !(draws_again && runs_all(*w.pass, v, primitive));
  if (v.draws.size() > 1) sort_by_draw(v);
  if (v.queued) {
    queue_seen(w);
    if constexpr (kTraced) trace::flushed(w);
    if (!draws_again) forget_primitives(v);
    return;
  }
  ShadeMoment moment = moment_of(w.bin, v, w.prepass, w.draw.plan);
  moment.early = EarlyTests::full;
  moment.from_ids = true;
  shade_gathered_draws(w, w.draw, moment, v, p, w.results);
  if (groups) write_colors(w, v.groups);
  if constexpr (kTraced) trace::flushed(w);
  p.bound_draw = ~0u;
  p.setups.reset();
  p.vertices.reset_if_large();
  if (!draws_again) forget_primitives(v);
}

}  // namespace tilegpu::TILEGPU_TILE
