// tile_io/tile_copy.cpp -- the loops behind tile_copy.hpp: whole blocks in registers, whole cache lines where they are whole,
// cut blocks through a small buffer.
//
// In, out: see tile_copy.hpp.
#include "tile_io/tile_copy.hpp"

#include <algorithm>
#include <cassert>

#include "base/prefetch.hpp"
#include "tile_io/wide_rows.hpp"

namespace tilegpu::tile_io {
namespace {

constexpr uint32_t kMaxTexel_B = 16;
constexpr size_t kCutPitch_B = kBlock_px * kMaxTexel_B;

/// Blocks of the bin that the box touches, and the box relative to the bin.
struct BlockRange {
  uint32_t first_column, last_column, first_row, last_row;
};

BlockRange block_range(const PlaneView& plane, const Box& box) {
  assert(!box.empty() && box.min_x >= plane.x_px && box.min_y >= plane.y_px);
  return {static_cast<uint32_t>(box.min_x - plane.x_px) / kBlock_px, static_cast<uint32_t>(box.max_x - plane.x_px) / kBlock_px,
          static_cast<uint32_t>(box.min_y - plane.y_px) / kBlock_px, static_cast<uint32_t>(box.max_y - plane.y_px) / kBlock_px};
}

Box block_box(const PlaneView& plane, uint32_t column, uint32_t row) {
  const int32_t x = plane.x_px + static_cast<int32_t>(column * kBlock_px), y = plane.y_px + static_cast<int32_t>(row * kBlock_px);
  return {x, y, x + 3, y + 3};
}

template <uint32_t kTexel_B, bool kField>
void write_any(const uint8_t* block, const RowsView& rows, uint8_t* out, size_t pitch_B) {
  if constexpr (kField) {
    write_block_field(block, rows.field, out, pitch_B);
  } else {
    write_block<kTexel_B>(block, out, pitch_B);
  }
}

template <uint32_t kTexel_B, bool kField>
void read_any(const uint8_t* in, size_t pitch_B, const RowsView& rows, uint8_t* block) {
  if constexpr (kField) {
    read_block_field(in, pitch_B, rows.field, block);
  } else {
    read_block<kTexel_B>(in, pitch_B, block);
  }
}

void copy_cut(const uint8_t* from, size_t from_pitch_B, uint8_t* to, size_t to_pitch_B, const Box& part, size_t texel_B) {
  assert(from_pitch_B >= part.width_px() * texel_B && to_pitch_B >= part.width_px() * texel_B);
  for (uint32_t y = 0; y < part.height_px(); ++y) std::memcpy(to + y * to_pitch_B, from + y * from_pitch_B, part.width_px() * texel_B);
}

size_t cut_offset(const Box& part, const Box& block, size_t texel_B) {
  assert(block.contains(part));
  return static_cast<size_t>(part.min_y - block.min_y) * kCutPitch_B + static_cast<size_t>(part.min_x - block.min_x) * texel_B;
}

template <uint32_t kTexel_B, bool kField>
void from_rows(const RowsView& rows, const Box& box, const PlaneView& plane) {
  assert(rows.texel_B == kTexel_B && (rows.field.mask != 0) == kField && !plane.equal);
  const BlockRange range = block_range(plane, box);
  // Rows of a bin are too short for the hardware to see a stream: the lines of the next rows are asked for while these are copied.
  const auto fetch_ahead = [&](int32_t first_y) {
    for (int32_t y = std::max(first_y, box.min_y); y < first_y + 4 && y <= box.max_y; ++y) {
      const uint8_t* line = rows.at(box.min_x, y);
      for (size_t at = 0; at < box.width_px() * kTexel_B; at += 64) prefetch(line + at);
    }
  };
  for (uint32_t row = range.first_row; row <= range.last_row; ++row) {
    const int32_t next_y = plane.y_px + static_cast<int32_t>((row + 1) * kBlock_px);
    if (row == range.first_row) {
      fetch_ahead(next_y - 4);
      fetch_ahead(next_y);
    }
    fetch_ahead(next_y + 4);
    for (uint32_t column = range.first_column; column <= range.last_column; ++column) {
      const Box whole = block_box(plane, column, row);
      uint8_t* block = plane.block(column, row);
      if (box.contains(whole)) {
        read_any<kTexel_B, kField>(rows.at(whole.min_x, whole.min_y), rows.pitch_B, rows, block);
        continue;
      }
      // The block's other pixels keep what they have.
      alignas(16) uint8_t cut[4 * kCutPitch_B] = {};
      const Box part = intersect(box, whole);
      write_any<kTexel_B, kField>(block, rows, cut, kCutPitch_B);
      copy_cut(rows.at(part.min_x, part.min_y), rows.pitch_B, cut + cut_offset(part, whole, kTexel_B), kCutPitch_B, part, kTexel_B);
      read_any<kTexel_B, kField>(cut, kCutPitch_B, rows, block);
    }
  }
}

/// Four neighbouring blocks of 4-byte texels: four rows of one cache line each.
template <bool kStream>
[[gnu::always_inline]] inline void write_lines(const uint8_t* const blocks[4], uint8_t* out, size_t pitch_B) {
  __m256i line[4][2];
  for (int pair = 0; pair < 2; ++pair) {
    const auto half = [&](int block, int h) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(blocks[2 * pair + block]) + h); };
    for (int h = 0; h < 2; ++h) {
      // Two quads to two rows of four pixels, for two blocks; then rows of eight.
      const __m256i a = _mm256_permute4x64_epi64(half(0, h), _MM_SHUFFLE(3, 1, 2, 0));
      const __m256i b = _mm256_permute4x64_epi64(half(1, h), _MM_SHUFFLE(3, 1, 2, 0));
      line[2 * h][pair] = _mm256_permute2x128_si256(a, b, 0x20);
      line[2 * h + 1][pair] = _mm256_permute2x128_si256(a, b, 0x31);
    }
  }
  for (int y = 0; y < 4; ++y) {
    for (int pair = 0; pair < 2; ++pair) {
      auto* target = reinterpret_cast<__m256i*>(out + y * pitch_B + 32 * pair);
      if constexpr (kStream) {
        _mm256_stream_si256(target, line[y][pair]);
      } else {
        _mm256_storeu_si256(target, line[y][pair]);
      }
    }
  }
}

// Bytes of the quads in a set of quads.
struct QuadMasks {
  alignas(64) uint8_t bytes[16][kWordPlane_B] = {};
  constexpr QuadMasks() {
    for (uint32_t quads = 0; quads < 16; ++quads)
      for (uint32_t b = 0; b < kWordPlane_B; ++b) bytes[quads][b] = quads >> (b >> 4) & 1 ? 0xff : 0;
  }
};
constexpr QuadMasks kQuadMasks;

/// Quads whose samples are equal take sample 0: of the others' places anything may have been reduced.
void take_equal(const PlaneView& plane, uint32_t column, uint32_t row, uint8_t* reduced) {
  const uint32_t quads = plane.equal_quads(column, row);
  if (!quads) return;
  const auto* first = reinterpret_cast<const __m256i*>(plane.block(column, row));
  const auto* mask = reinterpret_cast<const __m256i*>(kQuadMasks.bytes[quads]);
  auto* out = reinterpret_cast<__m256i*>(reduced);
  for (uint32_t i = 0; i < 2 * plane.words; ++i)
    _mm256_storeu_si256(out + i,
                        _mm256_blendv_epi8(_mm256_loadu_si256(out + i), _mm256_loadu_si256(first + i), _mm256_load_si256(mask + (i & 1))));
}

/// Where a block's single sample is: in the plane, or reduced into `scratch`.
const uint8_t* block_sample(const PlaneView& plane, uint32_t column, uint32_t row, const resolve::Reducer* reducer, uint8_t* scratch) {
  const uint8_t* block = source_block(plane, column, row);
  if (!reducer) return block;
  const size_t size_B = static_cast<size_t>(plane.words) * kWordPlane_B;
  if (!plane.is_equal(column, row)) {
    resolve::reduce(*reducer, block, size_B, size_B, scratch);
    take_equal(plane, column, row, scratch);
    return scratch;
  }
  if (resolve::keeps_equal(*reducer)) return block;
  resolve::reduce(*reducer, block, 0, size_B, scratch);  // every sample is the first one
  return scratch;
}

/// The single samples of four blocks of 4-byte texels side by side: in the plane, or reduced into `scratch`.
void four_samples(const PlaneView& plane, uint32_t column, uint32_t row, const resolve::Reducer* reducer, uint8_t* scratch,
                  const uint8_t* blocks[4]) {
  assert(plane.words == 1);
  if (!reducer) {
    for (uint32_t i = 0; i < 4; ++i) blocks[i] = source_block(plane, column + i, row);
    return;
  }
  uint32_t equal = 0;
  for (uint32_t i = 0; i < 4; ++i) equal += plane.is_equal(column + i, row);
  if (equal) {
    for (uint32_t i = 0; i < 4; ++i) blocks[i] = block_sample(plane, column + i, row, reducer, scratch + i * kWordPlane_B);
    return;
  }
  resolve::reduce_pieces(*reducer, plane.block(column, row), kWordPlane_B, kWordPlane_B, plane.block_B, 4, scratch);
  for (uint32_t i = 0; i < 4; ++i) {
    blocks[i] = scratch + i * kWordPlane_B;
    take_equal(plane, column + i, row, scratch + i * kWordPlane_B);
  }
}

/// A block, all pixels of which are written.
template <uint32_t kTexel_B, bool kField>
void write_whole(const uint8_t* block, bool stream, const RowsView& rows, const Box& whole) {
  uint8_t* out = rows.at(whole.min_x, whole.min_y);
  if (kTexel_B >= 8 && stream && ((reinterpret_cast<uintptr_t>(out) | rows.pitch_B) & 15) == 0) {
    write_block<kTexel_B, true>(block, out, rows.pitch_B);
  } else {
    write_any<kTexel_B, kField>(block, rows, out, rows.pitch_B);
  }
}

/// A part of a block, through a small buffer.
template <uint32_t kTexel_B, bool kField>
void write_part(const uint8_t* block, const RowsView& rows, const Box& whole, const Box& part) {
  alignas(16) uint8_t cut[4 * kCutPitch_B];
  uint8_t* target = rows.at(part.min_x, part.min_y);
  uint8_t* inside = cut + cut_offset(part, whole, kTexel_B);
  // A field's other bits come from the image.
  if constexpr (kField) copy_cut(target, rows.pitch_B, inside, kCutPitch_B, part, kTexel_B);
  write_any<kTexel_B, kField>(block, rows, cut, kCutPitch_B);
  copy_cut(inside, kCutPitch_B, target, rows.pitch_B, part, kTexel_B);
}

template <uint32_t kTexel_B, bool kField>
void to_rows(const PlaneView& plane, const Box& box, const resolve::Reducer* reducer, bool stream, const RowsView& rows) {
  assert(rows.texel_B == kTexel_B && (rows.field.mask != 0) == kField);
  alignas(64) uint8_t reduced[4 * kWordPlane_B];  // four blocks of one word, or one of four
  const BlockRange range = block_range(plane, box);
  const bool wide = !kField && kTexel_B >= 4 && has_wide_rows(plane, rows, reducer);
  // From (column, row) on; returns how many blocks were written.
  const auto write = [&](uint32_t column, uint32_t row) -> uint32_t {
    const Box whole = block_box(plane, column, row);
    const bool is_whole = box.contains(whole);
    if (wide && is_whole) {
      constexpr uint32_t kLine = blocks_per_line(kTexel_B < 4 ? 4 : kTexel_B);
      const uint32_t count = static_cast<uint32_t>(box.max_x + 1 - whole.min_x) / kBlock_px / kLine * kLine;
      if (count) {
        write_wide_rows(plane, column, row, count, reducer, stream, rows);
        return count;
      }
    }
    if (kTexel_B == 4 && !kField && box.contains({whole.min_x, whole.min_y, whole.min_x + 15, whole.max_y})) {
      const uint8_t* blocks[4];
      four_samples(plane, column, row, reducer, reduced, blocks);
      uint8_t* out = rows.at(whole.min_x, whole.min_y);
      const bool lines = stream && ((reinterpret_cast<uintptr_t>(out) | rows.pitch_B) & 63) == 0;
      if (lines)
        write_lines<true>(blocks, out, rows.pitch_B);
      else
        write_lines<false>(blocks, out, rows.pitch_B);
      return 4;
    }
    const uint8_t* block = block_sample(plane, column, row, reducer, reduced);
    if (is_whole)
      write_whole<kTexel_B, kField>(block, stream, rows, whole);
    else
      write_part<kTexel_B, kField>(block, rows, whole, intersect(box, whole));
    return 1;
  };
  for (uint32_t row = range.first_row; row <= range.last_row; ++row)
    for (uint32_t column = range.first_column; column <= range.last_column;) column += write(column, row);
}

}  // namespace

void copy_from_rows(const RowsView& rows, const Box& box, const PlaneView& plane) {
  if (box.empty()) return;
  switch (rows.texel_B) {
    case 1:
      return from_rows<1, false>(rows, box, plane);
    case 2:
      return from_rows<2, false>(rows, box, plane);
    case 8:
      return from_rows<8, false>(rows, box, plane);
    case 16:
      return from_rows<16, false>(rows, box, plane);
    default:
      return rows.field.mask ? from_rows<4, true>(rows, box, plane) : from_rows<4, false>(rows, box, plane);
  }
}

void copy_to_rows(const PlaneView& plane, const Box& box, const resolve::Reducer* reducer, bool stream, const RowsView& rows) {
  if (box.empty()) return;
  switch (rows.texel_B) {
    case 1:
      return to_rows<1, false>(plane, box, reducer, stream, rows);
    case 2:
      return to_rows<2, false>(plane, box, reducer, stream, rows);
    case 8:
      return to_rows<8, false>(plane, box, reducer, stream, rows);
    case 16:
      return to_rows<16, false>(plane, box, reducer, stream, rows);
    default:
      return rows.field.mask ? to_rows<4, true>(plane, box, reducer, stream, rows) : to_rows<4, false>(plane, box, reducer, stream, rows);
  }
}

namespace {

// From here on the processor's own fill is the quickest: it takes lines without fetching them first, as streamed stores do, but leaves
// them in the caches (measured, one thread, 1920x1080 RGBA8 and D32: 0.62 ms, streamed 0.72, ordinary stores 0.67 to 1.6; memset 0.62).
constexpr size_t kStringFrom_B = 1024;

}  // namespace

void fill_rows(const RowsView& rows, const Box& box, const uint32_t* words, bool stream) {
  assert(rows.texel_B >= 1 && rows.texel_B <= 16 && words);
  if (box.empty()) return;
  if (rows.field.mask) {
    const uint32_t value = (words[0] << rows.field.shift) & rows.field.mask;
    for (int32_t y = box.min_y; y <= box.max_y; ++y) {
      uint8_t* out = rows.at(box.min_x, y);
      for (uint32_t x = 0; x < box.width_px(); ++x) {
        uint32_t word;
        std::memcpy(&word, out + 4 * x, 4);
        word = (word & ~rows.field.mask) | value;
        std::memcpy(out + 4 * x, &word, 4);
      }
    }
    return;
  }
  // 32 bytes hold a whole number of texels of any size.
  alignas(32) uint8_t pattern[32];
  for (uint32_t at = 0; at < sizeof pattern; at += rows.texel_B) std::memcpy(pattern + at, words, rows.texel_B);
  const __m256i value = _mm256_load_si256(reinterpret_cast<const __m256i*>(pattern));
  size_t row_B = static_cast<size_t>(box.width_px()) * rows.texel_B;
  int32_t last = box.max_y;
  if (row_B == rows.pitch_B) {  // the rows lie behind one another
    row_B *= box.height_px();
    last = box.min_y;
    stream = false;
  }
  uint64_t word;
  std::memcpy(&word, pattern, sizeof word);
  const bool string = !stream && row_B >= kStringFrom_B && rows.texel_B <= sizeof word;
  for (int32_t y = box.min_y; y <= last; ++y) {
    uint8_t* out = rows.at(box.min_x, y);
    size_t at = 0;
    if (string) {
      fill_words(out, word, row_B / sizeof word);
      at = row_B / sizeof word * sizeof word;
    } else if (stream && (reinterpret_cast<uintptr_t>(out) & 63) == 0) {
      for (; at + 32 <= row_B; at += 32) _mm256_stream_si256(reinterpret_cast<__m256i*>(out + at), value);
    } else {
      for (; at + 32 <= row_B; at += 32) _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at), value);
    }
    if (at < row_B) std::memcpy(out + at, pattern, row_B - at);
  }
}

}  // namespace tilegpu::tile_io
