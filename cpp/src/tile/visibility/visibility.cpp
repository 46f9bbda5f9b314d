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

#include "tile/shading/shade.hpp"
#include "tile/visibility/pixel_colors.hpp"
#include "tile/visibility/pixel_groups.hpp"
#include "tile/visibility/quad_strata.hpp"
#include "tile/visibility/sample_lists.hpp"
#include "tile/visibility/whole_blocks.hpp"
#include "tile_io/equal_quads.hpp"

namespace tilegpu::tile {

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
void list_dirty(Worker& w) {
  assert(w.visibility.dirty.size() % 8 == 0);
  w.visibility.dirty_blocks.clear();
  for (size_t i = 0; i < w.visibility.dirty.size(); i += 8) {  // 64 blocks or more: bins are 32 px wide at least
    uint64_t bytes;
    std::memcpy(&bytes, &w.visibility.dirty[i], 8);
    if (!bytes) continue;
    std::memset(&w.visibility.dirty[i], 0, 8);
    for (; bytes; bytes &= bytes - 1) {
      const uint32_t block = static_cast<uint32_t>(i) + static_cast<uint32_t>(std::countr_zero(bytes) >> 3);
      if (const uint32_t id = w.covers.any ? release_cover(w, block) : 0)
        w.visibility.strata.add_whole(id, block);
      else
        w.visibility.dirty_blocks.push_back(block);
    }
  }
}
// The same by AVX-512.
TILEGPU_WIDE void list_dirty_wide(Worker& w) {
  const uint32_t blocks = w.shape.blocks();  // a multiple of 16
  w.visibility.dirty_blocks.clear();
  w.visibility.dirty_blocks.reserve(blocks + 16);
  uint32_t* out = w.visibility.dirty_blocks.data();
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (uint32_t i = 0; i < blocks; i += 16) {
    __m128i* const at = reinterpret_cast<__m128i*>(&w.visibility.dirty[i]);
    const __m128i bytes = _mm_loadu_si128(at);
    _mm_storeu_si128(at, _mm_setzero_si128());
    uint32_t dirty = _mm_test_epi8_mask(bytes, bytes);
    if (w.covers.any) {
      const __m512i planes = _mm512_loadu_si512(w.covers.plane.data() + i);
      for (uint32_t held = dirty & _mm512_test_epi32_mask(planes, planes); held; held &= held - 1) {
        const uint32_t block = i + static_cast<uint32_t>(std::countr_zero(held));
        dirty ^= held & (0u - held);
        w.visibility.strata.add_whole(release_cover(w, block), block);
      }
    }
    const __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(i)));
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(static_cast<__mmask16>(dirty), numbers));
    out += std::popcount(dirty);
  }
  w.visibility.dirty_blocks.extend_reserved(static_cast<size_t>(out - w.visibility.dirty_blocks.data()));
}

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
bool gather_mixed(Worker& w) {
  const bool groups = wants_groups(w);
  if (groups) choose_colors(w);
  if (w.buffers.equal) {
    const bool averages = groups && w.visibility.groups.colors.averages;
    for (uint32_t block : w.visibility.groups.blocks)
      if (w.buffers.equal[block]) tile_io::expand_block(w.pass->tile, block, w.buffers.memory.data());
    for (uint32_t block : w.visibility.groups.listed) {
      // Colours of which nothing will be left need not be expanded, nor those whose average alone is wanted.
      if (none(w.lists.free[block]))
        w.buffers.equal[block] = averages ? 0xf : 0;
      else if (w.buffers.equal[block] && !(averages && w.buffers.equal[block] == 0xf))
        tile_io::expand_block(w.pass->tile, block, w.buffers.memory.data());
    }
  }
  if (groups) return true;
  for (uint32_t block : w.visibility.groups.blocks) {
    uint32_t* ids = w.buffers.ids + size_t{block} * w.shape.samples * 16;
    if (w.shape.wide && w.shape.samples == 1)
      gather_numbers_wide(ids, block, w.visibility.strata);
    else
      gather_numbers(ids, w.shape.samples, block, w.visibility.strata);
    if (!w.prepass.replays.empty()) continue;
    for (uint32_t i = 0; i < w.shape.samples * 2; i++) store(ids + 8 * i, i32x8{});
  }
  for (uint32_t block : w.visibility.groups.listed) {
    BlockEntry* list = w.lists.entries + size_t{block} * kBlockEntries;
    const uint32_t count = w.lists.count[block];
    (w.shape.wide ? gather_entries_wide : gather_entries)(list, count, w.shape.samples, block, w.visibility.strata);
    for (uint32_t i = 0; i < count; i++) list[i].id = 0;
  }
  w.visibility.groups.clear();
  return false;
}

// All strata behind each other in w.visibility.gathered.
void join_strata(Visibility& v) {
  v.gathered.clear();
  for (const auto& stratum : v.strata.of) v.gathered.append(stratum.data(), stratum.size());
}

// After a pre-pass: draws with side effects are drawn again, all their fragments; the others are counted.
void settle_prepass(Worker& w) {
  if (!w.prepass.replays.empty()) {
    const auto runs_all = [&](const VisibleQuad& quad) {
      const uint32_t draw = w.visibility.draws[w.visibility.primitives[quad.id - 1].draw_slot];
      return w.pass->draws[draw].state->resolved->classification.side_effects;
    };
    w.visibility.gathered.resize(static_cast<size_t>(std::remove_if(w.visibility.gathered.begin(), w.visibility.gathered.end(), runs_all) -
                                                     w.visibility.gathered.begin()));
  }
  uint64_t seen = 0;
  for (const VisibleQuad& quad : w.visibility.gathered)
    seen += quad.tile_pixel & kWholeBlock ? 16 : static_cast<uint32_t>(std::popcount(covered_pixels(quad.live)));
  w.results.counters.fragments_killed_by_prepass += w.prepass.recorded - seen;
}

// Stable, by draw; the result is in w.visibility.gathered.
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
void set_up_gathered(Worker& w, bool groups) {
  const records::TriangleRecord* records[kBatch];
  const records::Chunk* chunks[kBatch];
  uint32_t orders[kBatch];
  shader::PrimitiveSetup* setups[kBatch];
  uint32_t count = 0;
  const auto flush = [&] {
    set_up_primitives(records, chunks, orders, w.draw.test.range_lo, w.draw.test.range_hi, setups);
    count = 0;
  };
  // A byte for each: whether a number came before is hard to foretell.
  const size_t bytes = (w.visibility.primitives.size() + 8) & ~size_t{7};
  w.visibility.seen.assign(bytes, 0);
  uint8_t* const seen = w.visibility.seen.data();
  for (const VisibleQuad& quad : w.visibility.gathered) seen[quad.id - 1] = 1;
  if (groups) make_groups(w);
  for (size_t first = 0; first < bytes; first += 8) {
    uint64_t marks;
    std::memcpy(&marks, seen + first, 8);
    for (; marks; marks &= marks - 1) {
      const uint32_t index = static_cast<uint32_t>(first) + static_cast<uint32_t>(std::countr_zero(marks) >> 3);
      VisiblePrimitive& primitive = w.visibility.primitives[index];
      shader::PrimitiveSetup* setup = w.packets.setups.allocate();
      primitive.setup = setup;
      if constexpr (kTraced) trace::set_up(w, setup, {primitive.record, primitive.chunk});
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
    setups[count] = &w.visibility.unused_setup;
  }
  flush();
}

// Deferred vertex shading: what was set up for this flush gets its vertices.
void shade_vertices(const Visibility& v, VertexStore& vertices, VertexStore::Scope scope) {
  for (const VisibleQuad& quad : v.gathered) vertices.want(v.primitives[quad.id - 1].setup);
  vertices.resolve(scope);
}

// The quads of the draw that is bound, four at once where they fill a packet. `true_coverage`: the shader asks what the primitive covers.
void pack_quads(Worker& w, std::span<const VisibleQuad> quads, uint32_t draw, bool true_coverage) {
  const bool at_once = w.shape.quads_per_packet == kGatheredQuads && !true_coverage;
  while (!quads.empty()) {
    if (at_once && quads.size() >= kGatheredQuads && apart(quads.data())) {
      shade_gathered(w, quads.data());
      quads = quads.subspan(kGatheredQuads);
      continue;
    }
    const size_t count = std::min<size_t>(quads.size(), kQueueQuads);
    const auto add = [&](uint32_t i) {
      const VisibleQuad& quad = quads[i];
      assert(quad.id && quad.id <= w.visibility.primitives.size() && w.visibility.primitives[quad.id - 1].setup);
      const VisiblePrimitive& primitive = w.visibility.primitives[quad.id - 1];
      const uint32_t block = quad.tile_pixel >> 4;
      const int32_t x = static_cast<int32_t>((block & (w.shape.blocks_per_row - 1)) * 4 + (quad.tile_pixel >> 1 & 2));
      const int32_t y = static_cast<int32_t>((block >> w.shape.row_shift) * 4 + (quad.tile_pixel >> 2 & 2));
      const uint64_t covered = true_coverage ? raster_coverage(w, draw, *primitive.record, x, y) : quad.live;
      add_to_packet(w.packets, w.bin, primitive.setup, quad.tile_pixel, x, y, covered, quad.live);
    };
    pack(w, ~uint64_t{0} >> (kQueueQuads - count), 0, [&](uint32_t i) { return quads[i].tile_pixel; }, add);
    quads = quads.subspan(count);
  }
}

uint32_t slot_of(const Visibility& v, uint32_t id) { return v.primitives[id - 1].draw_slot; }

// Everything that is seen, in strata; the buffer is clear again. True: blocks with several primitives are groups of pixels.
bool gather(Worker& w) {
  Visibility& v = w.visibility;
  v.strata.clear();
  v.groups.clear();
  (w.shape.wide ? list_dirty_wide : list_dirty)(w);
  const bool keeps_numbers = !w.prepass.replays.empty();
  if (w.shape.wide && w.shape.samples == 1)
    gather_blocks_wide(v, w.buffers.ids, keeps_numbers, v.dirty_blocks.data(), v.dirty_blocks.size());
  else
    for (uint32_t block : v.dirty_blocks) gather_block(v, w.buffers.ids, w.shape.samples, keeps_numbers, block);
  w.covers.any = false;
  w.covers.planes.clear();
  if (w.lists.active) gather_lists(w.lists, v);
  const bool groups = gather_mixed(w);
  join_strata(v);
  if (w.bin.phase == Phase::main) settle_prepass(w);
  if constexpr (kTraced)
    for (const VisibleQuad& quad : v.gathered)
      for (uint32_t q = 0; q < (quad.tile_pixel & kWholeBlock ? 4 : 1); q++)
        trace::seen(w, (quad.tile_pixel & ~kWholeBlock) + 4 * q, quad.tile_pixel & kWholeBlock ? w.shape.all_samples : quad.live);
  return groups;
}

// Whole blocks of the draw from `at` on, those of one primitive that lie side by side together. Returns their end.
size_t shade_whole(Worker& w, size_t at, uint32_t slot) {
  const Visibility& v = w.visibility;
  const size_t end = v.gathered.size();
  while (at < end && v.gathered[at].tile_pixel & kWholeBlock && slot_of(v, v.gathered[at].id) == slot) {
    const VisibleQuad& quad = v.gathered[at];
    const uint32_t block = (quad.tile_pixel & ~kWholeBlock) >> 4, column = block & (w.shape.blocks_per_row - 1);
    uint32_t run = 1;
    while (column + run < w.shape.blocks_per_row && at + run < end && v.gathered[at + run].id == quad.id &&
           v.gathered[at + run].tile_pixel == quad.tile_pixel + 16 * run)
      run++;
    shade_blocks(w, v.primitives[quad.id - 1].setup, block, run, static_cast<int32_t>(column) * 4,
                 static_cast<int32_t>(block >> w.shape.row_shift) * 4);
    at += run;
  }
  return at;
}

// Draw by draw: whole blocks, groups of pixels, quads.
void shade_gathered_draws(Worker& w) {
  const Visibility& v = w.visibility;
  const uint32_t group_count = static_cast<uint32_t>(v.groups.of.size());
  const bool one_draw = v.draws.size() == 1;
  const auto group_slot = [&](uint32_t group) { return slot_of(v, static_cast<uint32_t>(v.groups.of[group])); };
  uint32_t group = 0;
  for (size_t at = 0; at < v.gathered.size() || group < group_count;) {
    uint32_t slot = ~0u;
    if (at < v.gathered.size()) slot = slot_of(v, v.gathered[at].id);
    if (group < group_count) slot = std::min(slot, group_slot(group));
    const uint32_t draw = v.draws[slot];
    bind_shading(w, draw, EarlyTests::full, true);
    const size_t quads = at = shade_whole(w, at, slot);
    const uint32_t first_group = group;
    if (one_draw) group = group_count;
    while (group < group_count && group_slot(group) == slot) group++;
    if (group > first_group) shade_groups(w, first_group, group);
    if (one_draw) at = v.gathered.size();
    while (at < v.gathered.size() && slot_of(v, v.gathered[at].id) == slot) at++;
    pack_quads(w, {v.gathered.data() + quads, at - quads}, draw, w.packets.shading.full_raster);
  }
}

}  // namespace

void flush_visibility(Worker& w) {
  assert(w.packets.queue_count == 0 && w.packets.packet_count == 0);
  const bool groups = gather(w);
  set_up_gathered(w, groups);
  if (!w.bin.last_flush) expand_lists(w);
  if (!w.pass->deferral.empty()) shade_vertices(w.visibility, w.vertices, {*w.pass, w.results.counters});
  if (w.bin.phase == Phase::main)
    for (const VisiblePrimitive& primitive : w.visibility.primitives) w.results.counters.primitives_culled_by_prepass += !primitive.setup;
  if (w.visibility.draws.size() > 1) sort_by_draw(w.visibility);
  shade_gathered_draws(w);
  if (groups) write_colors(w);
  if constexpr (kTraced) trace::flushed(w);
  w.packets.bound_draw = ~0u;
  w.packets.setups.reset();
  w.vertices.reset_if_large();
  if (!w.prepass.replays.empty()) return;  // the main phase asks the ids, and ends with them
  w.visibility.primitives.clear();
  w.visibility.draws.clear();
}

}  // namespace tilegpu::tile
