// vk/compressed/astc_sequence.cpp -- see astc_sequence.hpp.
//
// In: bits of a block. Out: values.
#include "vk/compressed/astc_sequence.hpp"

#include <algorithm>

namespace tilegpu::vk {
namespace {

/// Bits from the lowest on; behind the last one there are zeros.
struct BitStream {
  uint64_t low, high;
  BitStream(uint64_t low_, uint64_t high_, uint32_t count) : low(low_), high(high_) {
    assert(count > 0 && count <= 128);
    if (count < 64) low &= (uint64_t{1} << count) - 1;
    if (count <= 64)
      high = 0;
    else if (count < 128)
      high &= (uint64_t{1} << (count - 64)) - 1;
  }
  uint32_t take(uint32_t count) {
    assert(count < 32);
    if (count == 0) return 0;
    const auto value = static_cast<uint32_t>(low & ((uint64_t{1} << count) - 1));
    low = low >> count | high << (64 - count);
    high >>= count;
    return value;
  }
};

uint64_t reversed(uint64_t v) {
  v = (v >> 1 & 0x5555555555555555u) | (v & 0x5555555555555555u) << 1;
  v = (v >> 2 & 0x3333333333333333u) | (v & 0x3333333333333333u) << 2;
  v = (v >> 4 & 0x0f0f0f0f0f0f0f0fu) | (v & 0x0f0f0f0f0f0f0f0fu) << 4;
  return __builtin_bswap64(v);
}

struct SequenceValue {
  uint32_t bits, digit;  // digit: trit or quint
};

void split_trits(uint32_t t, uint32_t digits[5]) {
  const auto bit = [](uint32_t v, uint32_t k) { return v >> k & 1; };
  uint32_t c;
  if ((t >> 2 & 7) == 7) {
    c = (t >> 5 & 7) << 2 | (t & 3);
    digits[4] = digits[3] = 2;
  } else {
    c = t & 31;
    const bool both = (t >> 5 & 3) == 3;
    digits[4] = both ? 2 : bit(t, 7), digits[3] = both ? bit(t, 7) : t >> 5 & 3;
  }
  if ((c & 3) == 3) {
    digits[2] = 2, digits[1] = bit(c, 4), digits[0] = bit(c, 3) << 1 | (bit(c, 2) & ~bit(c, 3) & 1);
  } else if ((c >> 2 & 3) == 3) {
    digits[2] = digits[1] = 2, digits[0] = c & 3;
  } else {
    digits[2] = bit(c, 4), digits[1] = c >> 2 & 3, digits[0] = bit(c, 1) << 1 | (bit(c, 0) & ~bit(c, 1) & 1);
  }
}

void split_quints(uint32_t q, uint32_t digits[5]) {
  const auto bit = [](uint32_t v, uint32_t k) { return v >> k & 1; };
  const bool low_pair = (q >> 1 & 3) == 3;
  if (low_pair && (q >> 5 & 3) == 0) {
    const uint32_t none = ~bit(q, 0) & 1;
    digits[2] = bit(q, 0) << 2 | (bit(q, 4) & none) << 1 | (bit(q, 3) & none);
    digits[1] = digits[0] = 4;
    return;
  }
  const uint32_t c = low_pair ? (q >> 3 & 3) << 3 | (~(q >> 5) & 3) << 1 | bit(q, 0) : q & 31;
  digits[2] = low_pair ? 4 : q >> 5 & 3;
  const bool five = (c & 7) == 5;
  digits[1] = five ? 4 : c >> 3 & 3, digits[0] = five ? c >> 3 & 3 : c & 7;
}

/// Calls `put(index, value)` for each of them.
template <class Put>
void read_sequence(BitStream stream, SequenceRange range, uint32_t count, Put put) {
  // The digits' bits stand between those of the values.
  constexpr uint32_t kTritBits[5] = {2, 2, 1, 2, 1}, kQuintBits[3] = {3, 2, 2};
  const uint32_t group = range.trits ? 5 : range.quints ? 3 : 1;
  for (uint32_t first = 0; first < count; first += group) {
    SequenceValue values[5] = {};
    uint32_t packed = 0, at = 0;
    for (uint32_t i = 0; i < group; ++i) {
      values[i].bits = stream.take(range.bits);
      const uint32_t width = range.trits ? kTritBits[i] : range.quints ? kQuintBits[i] : 0;
      packed |= stream.take(width) << at;
      at += width;
    }
    uint32_t digits[5] = {};
    if (range.trits) split_trits(packed, digits);
    if (range.quints) split_quints(packed, digits);
    for (uint32_t i = 0; i < group && first + i < count; ++i) {
      values[i].digit = digits[i];
      put(first + i, values[i]);
    }
  }
}

/// The highest bits again below, down to `to` bits.
uint32_t repeat_bits(uint32_t value, uint32_t bits, uint32_t to) {
  assert(bits >= 1 && bits <= to);
  uint32_t out = 0;
  for (int32_t at = static_cast<int32_t>(to - bits);; at -= static_cast<int32_t>(bits)) {
    out |= at >= 0 ? value << at : value >> -at;
    if (at <= 0) return out;
  }
}

/// "Unquantization parameters": b and its repetitions, of the value's bits without the lowest.
uint32_t color_pattern(SequenceRange range, uint32_t b) {
  if (range.trits) {
    const uint32_t of_bits[7] = {0, 0, b * 0x116, b << 7 | b << 2 | b, b << 6 | b, b << 5 | b >> 2, b << 4 | b >> 4};
    return of_bits[range.bits];
  }
  const uint32_t of_bits[6] = {0, 0, b * 0x10c, b << 7 | b << 1 | b >> 1, b << 6 | b >> 1, b << 5 | b >> 3};
  return of_bits[range.bits];
}

uint8_t color_of(SequenceRange range, const SequenceValue& value) {
  if (!range.trits && !range.quints) return static_cast<uint8_t>(repeat_bits(value.bits, range.bits, 8));
  constexpr uint32_t kTrits[7] = {0, 204, 93, 44, 22, 11, 5}, kQuints[6] = {0, 113, 54, 26, 13, 6};
  assert(range.bits >= 1);
  const uint32_t all = value.bits & 1 ? 0x1ff : 0;
  const uint32_t mixed = (value.digit * (range.trits ? kTrits : kQuints)[range.bits] + color_pattern(range, value.bits >> 1)) ^ all;
  return static_cast<uint8_t>((all & 0x80) | mixed >> 2);
}

/// 0 to 63.
uint32_t weight_of(SequenceRange range, const SequenceValue& value) {
  if (!range.trits && !range.quints) return repeat_bits(value.bits, range.bits, 6);
  constexpr uint32_t kTritsAlone[3] = {0, 32, 63}, kQuintsAlone[5] = {0, 16, 32, 47, 63};
  if (range.bits == 0) return range.trits ? kTritsAlone[value.digit] : kQuintsAlone[value.digit];
  constexpr uint32_t kTrits[4] = {0, 50, 23, 11}, kQuints[3] = {0, 28, 13};
  const uint32_t b = value.bits >> 1, all = value.bits & 1 ? 0x7f : 0;
  const uint32_t trit_patterns[4] = {0, 0, b * 0x45, b << 5 | b}, quint_patterns[3] = {0, 0, b * 0x42};
  const uint32_t mixed = (range.trits ? value.digit * kTrits[range.bits] + trit_patterns[range.bits]
                                      : value.digit * kQuints[range.bits] + quint_patterns[range.bits]) ^
                         all;
  return (all & 0x20) | mixed >> 2;
}

/// From the widest on.
constexpr SequenceRange kColorRanges[] = {{0, 0, 8}, {1, 0, 6}, {0, 1, 5}, {0, 0, 7}, {1, 0, 5}, {0, 1, 4}, {0, 0, 6}, {1, 0, 4}, {0, 1, 3},
                                          {0, 0, 5}, {1, 0, 3}, {0, 1, 2}, {0, 0, 4}, {1, 0, 2}, {0, 1, 1}, {0, 0, 3}, {1, 0, 1}};

}  // namespace

void read_weights(const Bits128& block, SequenceRange range, uint32_t count, uint8_t* weights) {
  const BitStream stream(reversed(block.high), reversed(block.low), sequence_bits(range, count));
  read_sequence(stream, range, count, [&](uint32_t i, const SequenceValue& value) {
    const uint32_t weight = weight_of(range, value);
    weights[i] = static_cast<uint8_t>(weight > 32 ? weight + 1 : weight);
  });
}

void read_colors(const Bits128& block, uint32_t first_bit, uint32_t count, uint32_t available_bits, uint8_t* colors) {
  assert(first_bit > 0 && first_bit < 64);
  const auto* range = std::find_if(std::begin(kColorRanges), std::end(kColorRanges),
                                   [&](SequenceRange r) { return sequence_bits(r, count) <= available_bits; });
  assert(range != std::end(kColorRanges));
  const BitStream stream(block.low >> first_bit | block.high << (64 - first_bit), block.high >> first_bit, sequence_bits(*range, count));
  read_sequence(stream, *range, count, [&](uint32_t i, const SequenceValue& value) { colors[i] = color_of(*range, value); });
}

}  // namespace tilegpu::vk
