// vk/compressed/astc_sequence.hpp -- ASTC's sequences of integers: values of ranges that are no powers of two, packed by fives and threes.
//
// In: bits of a block. Out: weights, 0 to 64, and colour values, 0 to 255. Source: Khronos Data Format Specification 1.3, "ASTC":
// "Integer Sequence Encoding", "Endpoint Unquantization", "Weight Unquantization".
#pragma once

#include "vk/compressed/decode.hpp"

namespace tilegpu::vk {

/// Values 0 to 2^bits - 1, times 3 where there is a trit, times 5 where there is a quint.
struct SequenceRange {
  uint8_t trits, quints, bits;
};

constexpr uint32_t sequence_bits(SequenceRange range, uint32_t values) {
  return (values * 8 * range.trits + 4) / 5 + (values * 7 * range.quints + 2) / 3 + values * range.bits;
}

/// From the highest bit of the block downwards.
void read_weights(const Bits128& block, SequenceRange range, uint32_t count, uint8_t* weights);
/// From `first_bit` on, of the widest range of which so many fit `available_bits`; these are enough for the narrowest.
void read_colors(const Bits128& block, uint32_t first_bit, uint32_t count, uint32_t available_bits, uint8_t* colors);

}  // namespace tilegpu::vk
