// tile/visibility/pixel_colors.cpp -- see pixel_colors.hpp.
#include "tile/visibility/pixel_colors.hpp"

#include <cassert>
#include <cstring>

#include "resolve/mean.hpp"
#include "tile_io/equal_quads.hpp"

namespace tilegpu::tile {

namespace {

// What one draw writes of a pixel every draw writes, and that is all of it.
bool may_be_apart(const Worker& w) {
  if (w.shape.samples < shader::kFewestSamplesApart) return false;
  uint32_t planes = 0;
  for (uint32_t t = 0; t < shader::kMaxTargets; t++) planes |= uint32_t{w.pass->tile.color[t].words != 0} << t;
  for (uint32_t draw : w.visibility.draws) {
    const pipeline::Resolved& resolved = *w.pass->draws[draw].state->resolved;
    const uint32_t written = resolved.written_targets & ((1u << shader::kMaxTargets) - 1);
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
TILEGPU_WIDE void write_entry(Worker& w, uint64_t entry) {
  const PixelGroups& g = w.visibility.groups;
  const __m512i pixels = in_block(g.pixels.data(), entry);
  const uint32_t block = block_of(g, entry);
  __mmask16 masks[kSamples];
  for (uint32_t s = 0; s < kSamples; s++) masks[s] = _mm512_test_epi32_mask(pixels, _mm512_set1_epi32(static_cast<int32_t>(0x10000u << s)));
  const uint32_t* from = g.colors.words.data();
  for (const framebuffer::TilePlane& plane : w.pass->tile.color) {
    uint8_t* to = w.buffers.memory.data() + plane.offset_B + size_t{block} * plane.block_B;
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
TILEGPU_WIDE void average_entries(Worker& w, uint8_t* plane, size_t block_B, const uint32_t* colors) {
  assert(w.buffers.equal);
  const PixelGroups& g = w.visibility.groups;
  resolve::SharedMean<kSamples> mean;
  uint32_t last = ~0u;
  for (uint64_t entry : g.loose) {
    const uint32_t block = block_of(g, entry);
    if (!w.buffers.equal[block]) continue;
    uint8_t* const to = plane + size_t{block} * block_B;
    const __mmask32 begins = block == last ? 0 : ~__mmask32{};
    last = block;
    const __m512i there = _mm512_load_si512(to), samples = count_samples(in_block(g.pixels.data(), entry));
    _mm512_store_si512(to, mean.add(begins, there, in_block(colors, entry), samples));
  }
}

template <uint32_t kSamples>
TILEGPU_WIDE void write_all(Worker& w) {
  assert(w.shape.samples == kSamples && w.visibility.groups.colors.apart);
  const PixelGroups& g = w.visibility.groups;
  if (g.colors.averages) {
    const uint32_t* colors = g.colors.words.data();
    for (uint32_t t = 0; t < shader::kMaxTargets; t++) {
      const framebuffer::TilePlane& plane = w.pass->tile.color[t];
      if (w.pass->averaged_colors >> t & 1) average_entries<kSamples>(w, w.buffers.memory.data() + plane.offset_B, plane.block_B, colors);
      colors += plane.words * g.colors.pitch;
    }
  }
  for (uint64_t entry : g.loose)
    if (!g.colors.averages || !w.buffers.equal[block_of(g, entry)]) write_entry<kSamples>(w, entry);
}

}  // namespace

void choose_colors(Worker& w) {
  PixelColors& colors = w.visibility.groups.colors;
  colors.apart = may_be_apart(w);
  colors.averages = colors.apart && w.buffers.equal && w.bin.last_flush && w.pass->averaged_colors;
}

void reserve_colors(Worker& w) {
  assert(w.visibility.groups.pixels.size() % kGroupPixels == 0);
  PixelColors& colors = w.visibility.groups.colors;
  if (!colors.apart) return;
  uint32_t words = 0;
  for (const framebuffer::TilePlane& plane : w.pass->tile.color) words += plane.words;
  // A packet's lanes beyond its last group write behind it, where the next group's follow.
  colors.pitch = w.visibility.groups.pixels.size() + shader::kMaxLanes;
  colors.words.resize(words * colors.pitch);
}

void write_colors(Worker& w) {
  if (w.visibility.groups.colors.apart) (w.shape.samples == 8 ? write_all<8> : write_all<16>)(w);
}

}  // namespace tilegpu::tile
