// tile/visibility/pixel_colors.cpp -- see pixel_colors.hpp.
#include "tile/visibility/pixel_colors.hpp"

#include <cassert>
#include <cstring>

#include "resolve/mean.hpp"
#include "tile_io/equal_quads.hpp"

namespace tilegpu::TILEGPU_TILE {

#if TILEGPU_HAS_WIDE
namespace {

// What one draw writes of a pixel every draw writes, and that is all of it.
bool may_be_apart(const TileContext& t, const Visibility& v) {
  if (t.shape.samples < shader::kFewestSamplesApart) return false;
  uint32_t planes = 0;
  for (uint32_t i = 0; i < shader::kMaxTargets; i++) planes |= uint32_t{t.pass->tile.color[i].words != 0} << i;
  for (uint32_t draw : v.draws) {
    const pipeline::Resolved& resolved = *t.pass->draws[draw].state->resolved;
    const uint32_t written = resolved.output.written_targets & ((1u << shader::kMaxTargets) - 1);
    if (written != planes || resolved.classification.overwritten_colors != planes) return false;
  }
  return true;
}

// An entry's words or colours at their places in the block.
TILEGPU_WIDE inline __m512i in_block(const uint32_t* from, uint64_t entry) {
  return _mm512_maskz_expand_epi32(static_cast<__mmask16>(entry >> 32), _mm512_loadu_si512(from + static_cast<uint32_t>(entry)));
}
uint32_t block_of(const PixelGroups& g, uint64_t entry) { return (g.pixels[static_cast<uint32_t>(entry)] & 0xffff) / 16; }

template <uint32_t kSamples>
TILEGPU_WIDE void write_entry(const TileContext& t, const PixelGroups& g, uint64_t entry) {
  const __m512i pixels = in_block(g.pixels.data(), entry);
  const uint32_t block = block_of(g, entry);
  __mmask16 masks[kSamples];
  for (uint32_t s = 0; s < kSamples; s++) masks[s] = _mm512_test_epi32_mask(pixels, _mm512_set1_epi32(static_cast<int32_t>(0x10000u << s)));
  const uint32_t* from = g.colors.words.data();
  for (const framebuffer::TilePlane& plane : t.pass->tile.color) {
    uint8_t* to = t.buffers.memory.data() + plane.offset_B + size_t{block} * plane.block_B;
    const size_t sample_B = size_t{plane.words} * framebuffer::kPixelsPerBlock * 4;
    for (uint32_t word = 0; word < plane.words; word++, to += framebuffer::kPixelsPerBlock * 4, from += g.colors.pitch) {
      const __m512i color = in_block(from, entry);
      for (uint32_t s = 0; s < kSamples; s++) _mm512_mask_store_epi32(to + s * sample_B, masks[s], color);
    }
  }
}

// How many samples each pixel has in its upper half.
TILEGPU_WIDE inline __m512i count_samples(__m512i pixels) {
  const __m512i low_bits = _mm512_set1_epi32(0x0f0f), samples = _mm512_srli_epi32(pixels, 16);
  const __m512i bits_in = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i counts = _mm512_add_epi8(_mm512_shuffle_epi8(bits_in, _mm512_and_si512(samples, low_bits)),
                                         _mm512_shuffle_epi8(bits_in, _mm512_and_si512(_mm512_srli_epi32(samples, 4), low_bits)));
  return _mm512_and_si512(_mm512_add_epi32(counts, _mm512_srli_epi32(counts, 8)), _mm512_set1_epi32(0xff));
}

// Of one plane. A block's mean begins as all samples of the background; each entry replaces its share. Where an entry is the last one of
// its block is hard to foretell: what is known so far is written after each. Where no background is left, what stands there does not
// matter.
template <uint32_t kSamples>
TILEGPU_WIDE void average_entries(const PixelGroups& g, const uint8_t* equal, uint8_t* plane, size_t block_B, const uint32_t* colors) {
  assert(equal);
  resolve::SharedMean<kSamples> mean;
  uint32_t last = ~0u;
  for (uint64_t entry : g.loose) {
    const uint32_t block = block_of(g, entry);
    if (!equal[block]) continue;
    uint8_t* const to = plane + size_t{block} * block_B;
    const __mmask32 begins = block == last ? 0 : ~__mmask32{};
    last = block;
    const __m512i there = _mm512_load_si512(to), samples = count_samples(in_block(g.pixels.data(), entry));
    _mm512_store_si512(to, mean.add(begins, there, in_block(colors, entry), samples));
  }
}

template <uint32_t kSamples>
TILEGPU_WIDE void write_all(const TileContext& t, const PixelGroups& g) {
  assert(t.shape.samples == kSamples && g.colors.apart);
  if (g.colors.averages) {
    const uint32_t* colors = g.colors.words.data();
    for (uint32_t i = 0; i < shader::kMaxTargets; i++) {
      const framebuffer::TilePlane& plane = t.pass->tile.color[i];
      if (t.pass->averaged_colors >> i & 1)
        average_entries<kSamples>(g, t.buffers.equal, t.buffers.memory.data() + plane.offset_B, plane.block_B, colors);
      colors += plane.words * g.colors.pitch;
    }
  }
  for (uint64_t entry : g.loose)
    if (!g.colors.averages || !t.buffers.equal[block_of(g, entry)]) write_entry<kSamples>(t, g, entry);
}

}  // namespace

void choose_colors(const TileContext& t, Visibility& v) {
  PixelColors& colors = v.groups.colors;
  colors.apart = may_be_apart(t, v);
  colors.averages = colors.apart && t.buffers.equal && t.bin.last_flush && t.pass->averaged_colors;
}

void reserve_colors(const tile_io::HostTile& tile, PixelGroups& g) {
  assert(g.pixels.size() % kGroupPixels == 0);
  PixelColors& colors = g.colors;
  if (!colors.apart) return;
  uint32_t words = 0;
  for (const framebuffer::TilePlane& plane : tile.color) words += plane.words;
  // A packet's lanes beyond its last group write behind it, where the next group's follow.
  colors.pitch = g.pixels.size() + shader::kMaxLanes;
  colors.words.resize(words * colors.pitch);
}

void write_colors(const TileContext& t, const PixelGroups& g) {
  if (g.colors.apart) (t.shape.samples == 8 ? write_all<8> : write_all<16>)(t, g);
}
#else
void choose_colors(const TileContext&, Visibility&) { no_wide_vectors(); }
void reserve_colors(const tile_io::HostTile&, PixelGroups&) { no_wide_vectors(); }
void write_colors(const TileContext&, const PixelGroups&) { no_wide_vectors(); }
#endif

}  // namespace tilegpu::TILEGPU_TILE
