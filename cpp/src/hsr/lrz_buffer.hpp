// hsr/lrz_buffer.hpp -- low-resolution Z, the buffer: one Z16_UNORM texel for 8x8 samples, with a fast clear of one bit a block.
//
// In: a draw's triangles, while they are binned, on all threads. Out: for each texel a bound of the depth that its samples end up
// with, rounded: at most (direction less) or at least (direction greater). A texel is moved by an atomic minimum or maximum, which gives
// the same value in any order: the buffer is the same for any number of threads.
//
// Depth is rounded down to 16 bits, whatever the direction: when a depth is cleared or written only the GPU knows which it is. A fragment
// is rounded the same way before it is compared, and rejected only if it then lies strictly behind the texel: rounding keeps the order of
// depths, so what is behind afterwards was behind before. That is the "slack" of the hardware's comparison.
// Source: docs/decisions.md, 31, 310; lrz.rst ("LRZ Fast-Clear", "LRZ Precision").
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "hsr/lrz_state.hpp"
#include "records/records.hpp"

namespace tilegpu::hsr {

/// Depth words of a tile: float bits from 0 to 1, or unsigned integers.
struct LrzDepth {
  bool unorm = false;
  uint32_t most = 0;  // of unorm: 65535 or 16777215
};
LrzDepth lrz_depth(VkFormat format);
/// The nearest word for a depth in 0..1, as a write to the attachment would give.
int32_t lrz_word(LrzDepth depth, float z);
/// Down to 16 bits. Words of a tile that lie in the format's range.
uint16_t lrz_round(LrzDepth depth, int32_t word);
/// The last word that a texel does not reject: of direction less the greatest that rounds to it or below, of greater the least that rounds
/// to it. A fragment is behind (less: above, greater: below it) if and only if its rounded depth is strictly behind the texel.
int32_t lrz_threshold(LrzDepth depth, LrzDirection direction, uint16_t value);

/// Pixels of one texel: 8x8 samples.
struct LrzTexel {
  uint32_t shift_x = 3, shift_y = 3;
  uint32_t width_px() const { return 1u << shift_x; }
  uint32_t height_px() const { return 1u << shift_y; }
};
LrzTexel lrz_texel(uint32_t samples);

inline constexpr uint16_t kLrzMost = 65535;                           // of a texel: depth 1.0
inline constexpr uint32_t kLrzClearBlockX = 16, kLrzClearBlockY = 4;  // texels of one bit of the fast clear

struct LrzBuffer {
  LrzDirection direction = LrzDirection::less;
  LrzDepth depth;
  LrzTexel texel;
  uint32_t samples = 1;
  uint32_t columns = 0, rows = 0;  // texels that hold pixels
  uint32_t pitch = 0;              // in texels: 32 and, in rows, 16 are the hardware's multiples
  uint16_t cleared = 0;            // what texels of an untouched block count as
  bool fast_clear = false;         // else every block counts as touched from the start
  uint32_t clear_pitch = 0;        // blocks in a row
  std::vector<uint16_t> texels;
  std::vector<uint64_t> touched;  // one bit for each block

  uint32_t clear_bit(uint32_t column, uint32_t row) const { return row / kLrzClearBlockY * clear_pitch + column / kLrzClearBlockX; }
  bool is_touched(uint32_t column, uint32_t row) const {
    const uint32_t bit = clear_bit(column, row);
    // Feedback of another bin may set a bit of the same word meanwhile.
    auto& word = const_cast<uint64_t&>(touched[bit >> 6]);
    return std::atomic_ref<uint64_t>(word).load(std::memory_order_relaxed) >> (bit & 63) & 1;
  }
  uint16_t value(uint32_t column, uint32_t row) const { return is_touched(column, row) ? texels[size_t{row} * pitch + column] : cleared; }
  /// Moves a texel; true if it changed.
  bool improve(uint32_t column, uint32_t row, uint16_t value);
};

/// Bytes of the fast clear's buffer at most, by generation; a larger image has none.
constexpr uint32_t lrz_fast_clear_limit_B(uint32_t generation) { return generation >= kLrzBidirectional ? 1024 : 512; }

/// Makes room and clears. `clear`: the pass's depth clear value; null: nothing is known of depth (second direction of a pass).
void lrz_clear(LrzBuffer& buffer, uint32_t generation, LrzDirection direction, VkFormat format, uint32_t samples, uint32_t width_px,
               uint32_t height_px, const float* clear);

/// A draw that writes: what its triangles have in common.
struct LrzWriter {
  LrzBuffer* buffer = nullptr;                                 // null: does not write
  float range_lo = 0, range_hi = 1;                            // allowed depth
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;                      // scissor, px, exclusive
  int32_t area_x0 = 0, area_y0 = 0, area_x1 = 0, area_y1 = 0;  // render area
  int32_t first_sample = 128, last_sample = 128;               // of a pixel, in 1/256 px on either axis
};
/// Texels all of whose samples in the render area the triangle covers.
void lrz_insert(const LrzWriter& writer, const records::TriangleRecord& record);

}  // namespace tilegpu::hsr
