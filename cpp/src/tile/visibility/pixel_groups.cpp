// tile/visibility/pixel_groups.cpp -- see pixel_groups.hpp.
#include "tile/visibility/pixel_groups.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <type_traits>

#include "base/prefetch.hpp"
#include "tile/visibility/pixel_colors.hpp"

namespace tilegpu::TILEGPU_TILE {

#if TILEGPU_HAS_WIDE
namespace {

constexpr uint32_t kPacketGroups = shader::kMaxQuads;
constexpr size_t kAhead = 8;  // entries are fetched so long before they are read

}  // namespace

bool wants_groups(const TileContext& t, const Visibility& v) {
  if (kTraced || !t.shape.wide || t.bin.phase != Phase::ordinary || !t.pass->deferral.empty()) return false;
  if (v.groups.blocks.empty() && v.groups.listed.empty()) return false;
  bool ready = true;
  for (uint32_t draw : v.draws) {
    const command::DrawState& state = *t.pass->draws[draw].state;
    const auto& code = state.resolved->output.pixels;
    if (!code.slot() || state.anisotropic) return false;
    if (!static_cast<shader::FragmentFunction>(code)) {
      code.slot()->wanted.store(true, std::memory_order_relaxed);
      ready = false;
    }
  }
  return ready;
}

namespace {

// Whole quads of one primitive are groups as they are; the other pixels of the blocks go to `loose`.
TILEGPU_WIDE void take_quads(PixelGroups& g, uint32_t* all_ids) {
  g.loose.reserve(g.blocks.size() * 16 + 16);
  g.pixels.reserve(g.blocks.size() * 16 + 16);
  g.of.reserve(g.blocks.size() * 4 + 8);
  uint64_t* loose = g.loose.data();
  uint32_t* pixels = g.pixels.data();
  uint64_t* of = g.of.data();
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (uint32_t block : g.blocks) {
    uint32_t* ids = all_ids + size_t{block} * 16;
    const __m512i numbers = _mm512_load_si512(ids);
    _mm512_store_si512(ids, _mm512_setzero_si512());
    const uint32_t some = _mm512_test_epi32_mask(numbers, numbers);
    const __m512i turned = _mm512_shuffle_epi32(numbers, _MM_PERM_ADCB);
    uint32_t same = _mm512_mask_cmpeq_epi32_mask(static_cast<__mmask16>(some), numbers, turned);
    same &= same >> 1;
    same = (same & same >> 2) & 0x1111;  // the first pixel of each whole quad
    const uint32_t whole = same * 15;
    const __m512i pixel = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(block * 16)));
    _mm512_storeu_si512(pixels, _mm512_maskz_compress_epi32(static_cast<__mmask16>(whole), pixel));
    pixels += std::popcount(whole);
    const __m128i quad_ids = _mm512_castsi512_si128(_mm512_maskz_compress_epi32(static_cast<__mmask16>(same), numbers));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(of),
                        _mm256_or_si256(_mm256_cvtepu32_epi64(quad_ids), _mm256_set1_epi64x(int64_t{kGroupPixels} << 32)));
    of += std::popcount(same);
    const __mmask16 rest = static_cast<__mmask16>(some & ~whole);
    const __m512i rest_ids = _mm512_maskz_compress_epi32(rest, numbers), rest_pixels = _mm512_maskz_compress_epi32(rest, pixel);
    const __m512i low =
        _mm512_permutex2var_epi32(rest_ids, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), rest_pixels);
    const __m512i high =
        _mm512_permutex2var_epi32(rest_ids, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), rest_pixels);
    _mm512_storeu_si512(loose, low);
    _mm512_storeu_si512(loose + 8, high);
    loose += std::popcount(uint32_t{rest});
  }
  g.loose.extend_reserved(static_cast<size_t>(loose - g.loose.data()));
  g.pixels.extend_reserved(static_cast<size_t>(pixels - g.pixels.data()));
  g.of.extend_reserved(static_cast<size_t>(of - g.of.data()));
}

// The groups in order of their draws.
void sort_groups(Visibility& v) {
  PixelGroups& g = v.groups;
  const size_t slots = v.draws.size(), count = g.of.size();
  v.slot_first.assign(slots + 1, 0);
  const auto slot_of = [&](uint64_t of) { return v.primitives[static_cast<uint32_t>(of) - 1].draw_slot; };
  for (uint64_t of : g.of) v.slot_first[slot_of(of) + 1]++;
  for (size_t i = 0; i < slots; i++) v.slot_first[i + 1] += v.slot_first[i];
  g.sorted_of.resize(count);
  g.sorted_pixels.resize(g.pixels.size());
  for (size_t i = 0; i < count; i++) {
    const uint32_t to = v.slot_first[slot_of(g.of[i])]++;
    g.sorted_of[to] = g.of[i];
    store(g.sorted_pixels.data() + size_t{to} * kGroupPixels, load4(g.pixels.data() + i * kGroupPixels));
    if (g.colors.apart) g.of[i] = to;
  }
  if (g.colors.apart) {
    // The groups of a number stay together.
    for (uint64_t& one : g.loose) {
      const uint32_t first = static_cast<uint32_t>(one);
      one += g.of[first / kGroupPixels] * kGroupPixels + first % kGroupPixels - first;
    }
  }
  std::swap(g.of, g.sorted_of);
  std::swap(g.pixels, g.sorted_pixels);
}

// Neighbours in the list are often of one primitive, and each would wait for what the last one wrote to its counter: four places far apart
// go by turns.
template <class Visit>
void by_turns(const Arena<uint64_t>& list, Visit&& visit) {
  const size_t quarter = list.size() / 4;
  const uint64_t* at = list.data();
  for (size_t i = 0; i < quarter; i++, at++) {
    visit(at[0]);
    visit(at[quarter]);
    visit(at[2 * quarter]);
    visit(at[3 * quarter]);
  }
  for (size_t i = 4 * quarter; i < list.size(); i++) visit(list[i]);
}

// Several samples: blocks' numbers as entries of lists.
TILEGPU_WIDE void find_entries(PixelGroups& g, uint32_t* all_ids, uint32_t samples) {
  for (uint32_t block : g.blocks) {
    uint32_t* ids = all_ids + size_t{block} * samples * 16;
    uint16_t left[16];
    for (uint32_t s = 0; s < samples; s++) {
      const __m512i numbers = _mm512_load_si512(ids + 16 * s);
      left[s] = _mm512_test_epi32_mask(numbers, numbers);
    }
    for (uint32_t s = 0; s < samples; s++) {
      while (left[s]) {
        BlockEntry entry{};
        entry.id = ids[16 * s + static_cast<uint32_t>(std::countr_zero(left[s]))];
        entry.plane = block;
        const __m512i id = _mm512_set1_epi32(static_cast<int32_t>(entry.id));
        for (uint32_t t = s; t < samples; t++) {
          const uint16_t same = _mm512_cmpeq_epi32_mask(id, _mm512_load_si512(ids + 16 * t));
          entry.masks[t] = same;
          left[t] &= static_cast<uint16_t>(~same);
        }
        g.found.push_back(entry);
      }
    }
    for (uint32_t s = 0; s < samples; s++) _mm512_store_si512(ids + 16 * s, _mm512_setzero_si512());
  }
}

// Several samples: the pixels of one entry after the other, each with its samples, to `words`, and the entry's number and how many pixels
// (with more than 4 samples: which) to `loose`; counts by number in `next`.
class EntryReader {
 public:
  TILEGPU_WIDE EntryReader(PixelGroups& g, size_t entries) : g_(g), next_(g.next.data()) {
    g.words.reserve(entries * 16 + 16);
    g.loose.reserve(entries);
    words_ = g.words.data(), loose_ = g.loose.data();
  }
  /// `kSamples`: 4 at most, or 16.
  template <uint32_t kSamples>
  TILEGPU_WIDE void take(const BlockEntry& entry, __m512i pixels) {
    uint64_t masks[kSamples / 4];
    std::memcpy(masks, &entry.masks, sizeof masks);
    __m512i words = pixels;
    uint64_t some = 0;
    for (uint32_t k = 0; k < kSamples / 4; k++) {
      some |= masks[k];
      samples += static_cast<uint32_t>(std::popcount(masks[k]));
      for (uint32_t s = 0; s < 4; s++)
        words = _mm512_mask_or_epi32(words, static_cast<__mmask16>(masks[k] >> 16 * s), words,
                                     _mm512_set1_epi32(static_cast<int32_t>(0x10000u << (4 * k + s))));
    }
    some |= some >> 32;
    const __mmask16 any = static_cast<__mmask16>(some | some >> 16);
    const uint32_t count = static_cast<uint32_t>(std::popcount(uint32_t{any}));
    _mm512_storeu_si512(words_, _mm512_maskz_compress_epi32(any, words));
    words_ += count;
    next_[entry.id] += count;
    *loose_++ = entry.id | uint64_t{kSamples > 4 ? any : count} << 32;
  }
  TILEGPU_WIDE void finish() { g_.loose.extend_reserved(static_cast<size_t>(loose_ - g_.loose.data())); }
  uint64_t samples = 0;

 private:
  PixelGroups& g_;
  uint32_t *next_, *words_;
  uint64_t* loose_;
};

// How many entries a list has is hard to foretell: sixteen are written in any case.
TILEGPU_WIDE void find_listed(PixelGroups& g, const BlockLists& lists) {
  assert(lists.active || g.listed.empty());
  static_assert(kBlockEntries <= 16 && kAhead <= 16);
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  g.entries.reserve(g.listed.size() * kBlockEntries + 16);
  uint32_t* to = g.entries.data();
  for (uint32_t block : g.listed) {
    _mm512_storeu_si512(to, _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(block * kBlockEntries))));
    to += lists.count[block];
  }
  _mm512_storeu_si512(to, _mm512_setzero_si512());
  g.entries.extend_reserved(static_cast<size_t>(to - g.entries.data()));
}

// Returns how many samples they have.
template <uint32_t kSamples>
TILEGPU_WIDE uint64_t read_entries(PixelGroups& g, BlockLists& lists) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  find_listed(g, lists);
  EntryReader reader(g, g.found.size() + g.entries.size());
  for (const BlockEntry& entry : g.found)
    reader.take<kSamples>(entry, _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(entry.plane * 16))));
  const uint32_t* at = g.entries.data();
  for (size_t k = 0; k < g.entries.size(); k++) {
    prefetch(lists.entries + at[k + kAhead]);
    BlockEntry& entry = lists.entries[at[k]];
    reader.take<kSamples>(entry, _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(at[k] / kBlockEntries * 16))));
    entry.id = 0;
  }
  reader.finish();
  return reader.samples;
}

// Several samples: a counting sort by number, of entries. Each number's first pixel is at the beginning of a group.
TILEGPU_WIDE void sort_entries(const TileContext& t, Visibility& v, BlockLists& lists, stats::FragmentCounters& counters) {
  PixelGroups& g = v.groups;
  find_entries(g, t.buffers.ids, t.shape.samples);
  g.next.assign(v.primitives.size() + 1, 0);
  uint32_t* const next = g.next.data();
  counters.samples_written += (t.shape.samples <= 4 ? read_entries<4> : read_entries<16>)(g, lists);
  // How many groups comes next is hard to foretell: eight are written in any case.
  g.of.reserve(g.loose.size() * 4 + v.primitives.size() + 8);
  uint64_t* const of = g.of.data();
  uint32_t groups = 0;
  for (uint32_t id = 1; id < g.next.size(); id++) {
    const uint32_t count = next[id], more = (count + kGroupPixels - 1) / kGroupPixels;
    next[id] = groups * kGroupPixels;
    v.seen[id - 1] |= count != 0;  // whole blocks of it may have been seen before
    const __m512i whole = _mm512_set1_epi64(static_cast<int64_t>(id | uint64_t{kGroupPixels} << 32));
    for (uint32_t k = 0;; k += 8) {
      _mm512_storeu_si512(of + groups + k, whole);
      if (k + 8 >= more) [[likely]]
        break;
    }
    groups += more;
    of[groups - (groups != 0)] -= uint64_t{more * kGroupPixels - count} << 32;
  }
  g.of.extend_reserved(groups);
  g.pixels.reserve((size_t{groups} + kPacketGroups) * kGroupPixels);
  g.pixels.resize(size_t{groups} * kGroupPixels);
  uint32_t* const pixels = g.pixels.data();
  const uint32_t* words = g.words.data();
  const auto place = [&](auto may_be_apart) TILEGPU_WIDE {
    for (uint64_t& one : g.loose) {
      uint32_t& to = next[static_cast<uint32_t>(one)];
      uint32_t count = static_cast<uint32_t>(one >> 32);
      if constexpr (may_be_apart) {
        count = static_cast<uint32_t>(std::popcount(count));
        one ^= static_cast<uint32_t>(one) ^ to;  // for write_colors
      }
      _mm512_mask_storeu_epi32(pixels + to, static_cast<__mmask16>((1u << count) - 1), _mm512_loadu_si512(words));
      to += count;
      words += count;
    }
  };
  if (t.shape.samples <= 4)
    place(std::false_type{});
  else
    place(std::true_type{});
}

// One sample: whole quads, then loose pixels, a counting sort by number, each number's first one at the beginning of a group.
void sort_pixels(const TileContext& t, Visibility& v) {
  PixelGroups& g = v.groups;
  take_quads(g, t.buffers.ids);
  g.next.assign(v.primitives.size() + 1, 0);
  uint32_t* const next = g.next.data();
  by_turns(g.loose, [&](uint64_t one) { next[static_cast<uint32_t>(one)]++; });
  const uint32_t whole = static_cast<uint32_t>(g.of.size());
  uint32_t groups = whole;
  for (uint32_t& n : g.next) {
    const uint32_t count = n;
    n = groups * kGroupPixels;
    groups += (count + kGroupPixels - 1) / kGroupPixels;
  }
  g.of.resize(groups);
  g.pixels.reserve((size_t{groups} + kPacketGroups) * kGroupPixels);
  g.pixels.resize(size_t{groups} * kGroupPixels);
  uint32_t* const pixels = g.pixels.data();
  uint64_t* const of = g.of.data();
  by_turns(g.loose, [&](uint64_t one) {
    const uint32_t id = static_cast<uint32_t>(one), to = next[id]++;
    pixels[to] = static_cast<uint32_t>(one >> 32);
    of[to / kGroupPixels] = id | uint64_t{to % kGroupPixels + 1} << 32;  // the last one counts them all
  });
  for (uint64_t one : g.of) v.seen[static_cast<uint32_t>(one) - 1] = 1;
}

}  // namespace

void make_groups(const TileContext& t, Visibility& v, BlockLists& lists, stats::FragmentCounters& counters) {
  assert(t.shape.wide && v.seen.size() >= v.primitives.size());
  PixelGroups& g = v.groups;
  if (t.shape.samples == 1)
    sort_pixels(t, v);
  else
    sort_entries(t, v, lists, counters);
  if (v.draws.size() > 1) sort_groups(v);
  g.pixels.reserve(g.pixels.size() + kPacketGroups * kGroupPixels);
  reserve_colors(t.pass->tile, g);
}

TILEGPU_WIDE void shade_groups(const TileContext& t, Visibility& v, Packets& p, stats::FragmentCounters& counters, uint32_t first,
                               uint32_t end) {
  assert(p.shading.pixels && p.packet_count == 0);
  PixelGroups& g = v.groups;
  shader::FragmentArgs& args = p.args;
  p.block_primitive = nullptr;
  const __m512i one = _mm512_set1_epi32(1), two = _mm512_set1_epi32(2);
  const __m512i column_mask = _mm512_set1_epi32(static_cast<int32_t>(t.shape.blocks_per_row - 1));
  const __m512i origin_x = _mm512_set1_epi32(t.bin.origin_x_px), origin_y = _mm512_set1_epi32(t.bin.origin_y_px);
  const __m128i row_shift = _mm_cvtsi32_si128(static_cast<int>(t.shape.row_shift));
  const bool several = t.shape.samples > 1;
  args.texels_pitch = g.colors.pitch;
  uint64_t shaded = 0;
  uint32_t packets = 0;
  for (; first < end; first += kPacketGroups, packets++) {
    const uint32_t count = std::min(end - first, kPacketGroups);
    __m512i pixel = _mm512_loadu_si512(g.pixels.data() + size_t{first} * kGroupPixels);
    uint32_t ids[kPacketGroups], alive = 0;
    for (uint32_t k = 0; k < kPacketGroups; k++) {
      const uint64_t of = g.of[first + (k < count ? k : 0)];
      ids[k] = static_cast<uint32_t>(of);
      alive |= ((1u << (of >> 32)) - 1) << kGroupPixels * k;
      args.primitive[k] = v.primitives[ids[k] - 1].setup;
    }
    const __mmask16 used = static_cast<__mmask16>((1u << kGroupPixels * count) - 1);
    alive &= used;
    // The others repeat a pixel of their primitive: its texels are there already.
    if (count < kPacketGroups) pixel = _mm512_mask_shuffle_i32x4(pixel, static_cast<__mmask16>(~used), pixel, pixel, 0);
    pixel = _mm512_mask_shuffle_epi32(pixel, static_cast<__mmask16>(~alive), pixel, _MM_PERM_AAAA);
    if (several) {
      _mm512_store_si512(args.lane_samples, _mm512_srli_epi32(pixel, 16));
      pixel = _mm512_and_si512(pixel, _mm512_set1_epi32(0xffff));
    }
    const __m512i block = _mm512_srli_epi32(pixel, 4);
    const __m512i half = _mm512_srli_epi32(pixel, 1);
    __m512i x = _mm512_slli_epi32(_mm512_and_si512(block, column_mask), 2);
    x = _mm512_add_epi32(x, _mm512_or_si512(_mm512_and_si512(half, two), _mm512_and_si512(pixel, one)));
    __m512i y = _mm512_slli_epi32(_mm512_srl_epi32(block, row_shift), 2);
    y = _mm512_add_epi32(y, _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(pixel, 2), two), _mm512_and_si512(half, one)));
    _mm512_store_si512(args.lane_x_px, _mm512_add_epi32(x, origin_x));
    _mm512_store_si512(args.lane_y_px, _mm512_add_epi32(y, origin_y));
    _mm512_store_si512(args.lane_pixel, pixel);
    args.alive = alive;
    args.uniform_primitive = ids[0] == ids[1] && ids[0] == ids[2] && ids[0] == ids[3];
    args.texels = g.colors.apart ? g.colors.words.data() + size_t{first} * kGroupPixels : nullptr;
    shaded += static_cast<uint32_t>(std::popcount(alive));
    p.shading.pixels(&args);
  }
  counters.packets += packets;
  counters.fragments_shaded += shaded;
  if (!several) counters.samples_written += shaded;
  counters.idle_lanes += uint64_t{packets} * 16 - shaded;
}
#else
bool wants_groups(const TileContext&, const Visibility&) { return false; }
void make_groups(const TileContext&, Visibility&, BlockLists&, stats::FragmentCounters&) { no_wide_vectors(); }
void shade_groups(const TileContext&, Visibility&, Packets&, stats::FragmentCounters&, uint32_t, uint32_t) { no_wide_vectors(); }
#endif

}  // namespace tilegpu::TILEGPU_TILE
