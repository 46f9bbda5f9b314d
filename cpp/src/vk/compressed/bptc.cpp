// vk/compressed/bptc.cpp -- BC7 and BC6H: blocks in modes, whose texels mix the endpoints of one to three subsets.
//
// In: a block of 16 bytes. Out: its texels; of reserved modes zeros in all components (BC6H has no alpha, which then is 1).
// Source: Khronos Data Format Specification 1.3, "BPTC Compressed Texture Image Formats".
#include <algorithm>
#include <bit>

#include "vk/compressed/bptc_tables.hpp"
#include "vk/compressed/decode.hpp"

namespace tilegpu::vk {
namespace {

constexpr uint32_t kTexels = 16;
constexpr uint8_t kWeights2[4] = {0, 21, 43, 64};
constexpr uint8_t kWeights3[8] = {0, 9, 18, 27, 37, 46, 55, 64};
constexpr uint8_t kWeights4[16] = {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};

const uint8_t* weights_of(uint32_t index_bits) { return index_bits == 2 ? kWeights2 : index_bits == 3 ? kWeights3 : kWeights4; }

int32_t mix(int32_t a, int32_t b, int32_t weight) { return ((64 - weight) * a + weight * b + 32) >> 6; }

struct Partition {
  uint32_t subsets, number;
  uint32_t subset(uint32_t texel) const {
    if (subsets == 1) return 0;
    return subsets == 2 ? kPartitionsOf2[number] >> texel & 1 : kPartitionsOf3[number] >> (2 * texel) & 3;
  }
  bool is_anchor(uint32_t texel) const {
    if (texel == 0 || subsets == 1) return texel == 0;
    if (subsets == 2) return texel == kAnchorsOf2[number];
    return texel == kAnchorsOf3[0][number] || texel == kAnchorsOf3[1][number];
  }
};

void read_indices(BitReader& reader, const Partition& partition, uint32_t index_bits, uint8_t indices[kTexels]) {
  for (uint32_t i = 0; i < kTexels; ++i)
    indices[i] = static_cast<uint8_t>(reader.take(partition.is_anchor(i) ? index_bits - 1 : index_bits));
}

// -- BC7

struct Mode7 {
  uint8_t subsets, partition_bits, rotation_bits, index_selection_bits, color_bits, alpha_bits, p_bits_of_endpoints, p_bits_shared,
      index_bits, second_index_bits;
};

constexpr Mode7 kModes7[8] = {{3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0}, {3, 6, 0, 0, 5, 0, 0, 0, 2, 0},
                              {2, 6, 0, 0, 7, 0, 1, 0, 2, 0}, {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
                              {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0}};

struct Endpoints7 {
  uint32_t color[6][4];  // by subset, first and second; 8 bits a component
};

/// The high bits repeated in the low ones.
uint32_t to_8_bits(uint32_t value, uint32_t bits) {
  assert(bits >= 4 && bits <= 8);
  value <<= 8 - bits;
  return value | value >> bits;
}

Endpoints7 read_endpoints(BitReader& reader, const Mode7& mode) {
  Endpoints7 ends;
  const uint32_t count = 2u * mode.subsets;
  for (uint32_t c = 0; c < 4; ++c) {
    const uint32_t bits = c < 3 ? mode.color_bits : mode.alpha_bits;
    for (uint32_t e = 0; e < count; ++e) ends.color[e][c] = bits ? reader.take(bits) : 0;
  }
  const uint32_t p_bits = mode.p_bits_of_endpoints || mode.p_bits_shared;
  uint32_t p[6] = {};
  if (mode.p_bits_of_endpoints)
    for (uint32_t e = 0; e < count; ++e) p[e] = reader.take(1);
  if (mode.p_bits_shared)
    for (uint32_t s = 0; s < mode.subsets; ++s) p[2 * s] = p[2 * s + 1] = reader.take(1);
  for (uint32_t e = 0; e < count; ++e) {
    for (uint32_t c = 0; c < 4; ++c) {
      const uint32_t bits = c < 3 ? mode.color_bits : mode.alpha_bits;
      uint32_t& value = ends.color[e][c];
      value = bits == 0 ? 255 : to_8_bits(value << p_bits | p[e], bits + p_bits);
    }
  }
  return ends;
}

template <bool kSrgb>
RawTexel raw_of_bytes(const uint32_t rgba[4]) {
  RawTexel raw;
  for (uint32_t c = 0; c < 4; ++c) raw.c[c] = kSrgb && c < 3 ? kSrgbToLinear[rgba[c]] : static_cast<float>(rgba[c]);
  return raw;
}

template <bool kSrgb>
void decode_bc7(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  if (block[0] == 0) {
    square = {};
    return;
  }
  const auto mode_number = static_cast<uint32_t>(std::countr_zero(block[0]));
  const Mode7& mode = kModes7[mode_number];
  BitReader reader{Bits128(block), mode_number + 1};
  const Partition partition = {mode.subsets, reader.take(mode.partition_bits)};
  const uint32_t rotation = reader.take(mode.rotation_bits), selection = reader.take(mode.index_selection_bits);
  const Endpoints7 ends = read_endpoints(reader, mode);
  uint8_t first[kTexels], second[kTexels];
  read_indices(reader, partition, mode.index_bits, first);
  if (mode.second_index_bits) read_indices(reader, {1, 0}, mode.second_index_bits, second);
  // Where there are two indices, one is alpha's.
  const uint8_t *of_color = first, *of_alpha = mode.second_index_bits ? second : first;
  uint32_t color_bits = mode.index_bits, alpha_bits = mode.second_index_bits ? mode.second_index_bits : mode.index_bits;
  if (selection) std::swap(of_color, of_alpha), std::swap(color_bits, alpha_bits);
  const uint8_t *color_weights = weights_of(color_bits), *alpha_weights = weights_of(alpha_bits);
  for (uint32_t i = 0; i < kTexels; ++i) {
    const uint32_t e = 2 * partition.subset(i);
    uint32_t rgba[4];
    for (uint32_t c = 0; c < 4; ++c) {
      const int32_t weight = c < 3 ? color_weights[of_color[i]] : alpha_weights[of_alpha[i]];
      rgba[c] = static_cast<uint32_t>(mix(static_cast<int32_t>(ends.color[e][c]), static_cast<int32_t>(ends.color[e + 1][c]), weight));
    }
    if (rotation) std::swap(rgba[3], rgba[rotation - 1]);
    square.texel[i] = raw_of_bytes<kSrgb>(rgba);
  }
}

// -- BC6H

/// A component of an endpoint, or the partition's number.
enum Field : uint8_t { none, R0, G0, B0, R1, G1, B1, R2, G2, B2, R3, G3, B3, PB };
/// The next bits of the block are bits [first, last] of a field; or from first down to last.
struct Run {
  Field field;
  uint8_t first, last;
};

struct Mode6 {
  uint8_t number, endpoint_bits;
  uint8_t delta_bits[3];  // 0: endpoints are not differences
  Run runs[22];           // behind the mode's bits; those of no field are none
  bool has_partition() const { return number < 2 || number % 4 == 2; }
};

// clang-format off
constexpr Mode6 kModes6[14] = {
    {0, 10, {5, 5, 5},
     {{G2, 4, 4}, {B2, 4, 4}, {B3, 4, 4}, {R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 4}, {G3, 4, 4}, {G2, 0, 3}, {G1, 0, 4},
      {B3, 0, 0}, {G3, 0, 3}, {B1, 0, 4}, {B3, 1, 1}, {B2, 0, 3}, {R2, 0, 4}, {B3, 2, 2}, {R3, 0, 4}, {B3, 3, 3}, {PB, 0, 4}}},
    {1, 7, {6, 6, 6},
     {{G2, 5, 5}, {G3, 4, 5}, {R0, 0, 6}, {B3, 0, 1}, {B2, 4, 4}, {G0, 0, 6}, {B2, 5, 5}, {B3, 2, 2}, {G2, 4, 4}, {B0, 0, 6},
      {B3, 3, 3}, {B3, 5, 4}, {R1, 0, 5}, {G2, 0, 3}, {G1, 0, 5}, {G3, 0, 3}, {B1, 0, 5}, {B2, 0, 3}, {R2, 0, 5}, {R3, 0, 5},
      {PB, 0, 4}}},
    {2, 11, {5, 4, 4},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 4}, {R0, 10, 10}, {G2, 0, 3}, {G1, 0, 3}, {G0, 10, 10}, {B3, 0, 0}, {G3, 0, 3},
      {B1, 0, 3}, {B0, 10, 10}, {B3, 1, 1}, {B2, 0, 3}, {R2, 0, 4}, {B3, 2, 2}, {R3, 0, 4}, {B3, 3, 3}, {PB, 0, 4}}},
    {6, 11, {4, 5, 4},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 3}, {R0, 10, 10}, {G3, 4, 4}, {G2, 0, 3}, {G1, 0, 4}, {G0, 10, 10}, {G3, 0, 3},
      {B1, 0, 3}, {B0, 10, 10}, {B3, 1, 1}, {B2, 0, 3}, {R2, 0, 3}, {B3, 0, 0}, {B3, 2, 2}, {R3, 0, 3}, {G2, 4, 4}, {B3, 3, 3},
      {PB, 0, 4}}},
    {10, 11, {4, 4, 5},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 3}, {R0, 10, 10}, {B2, 4, 4}, {G2, 0, 3}, {G1, 0, 3}, {G0, 10, 10}, {B3, 0, 0},
      {G3, 0, 3}, {B1, 0, 4}, {B0, 10, 10}, {B2, 0, 3}, {R2, 0, 3}, {B3, 1, 2}, {R3, 0, 3}, {B3, 4, 3}, {PB, 0, 4}}},
    {14, 9, {5, 5, 5},
     {{R0, 0, 8}, {B2, 4, 4}, {G0, 0, 8}, {G2, 4, 4}, {B0, 0, 8}, {B3, 4, 4}, {R1, 0, 4}, {G3, 4, 4}, {G2, 0, 3}, {G1, 0, 4},
      {B3, 0, 0}, {G3, 0, 3}, {B1, 0, 4}, {B3, 1, 1}, {B2, 0, 3}, {R2, 0, 4}, {B3, 2, 2}, {R3, 0, 4}, {B3, 3, 3}, {PB, 0, 4}}},
    {18, 8, {6, 5, 5},
     {{R0, 0, 7}, {G3, 4, 4}, {B2, 4, 4}, {G0, 0, 7}, {B3, 2, 2}, {G2, 4, 4}, {B0, 0, 7}, {B3, 3, 4}, {R1, 0, 5}, {G2, 0, 3},
      {G1, 0, 4}, {B3, 0, 0}, {G3, 0, 3}, {B1, 0, 4}, {B3, 1, 1}, {B2, 0, 3}, {R2, 0, 5}, {R3, 0, 5}, {PB, 0, 4}}},
    {22, 8, {5, 6, 5},
     {{R0, 0, 7}, {B3, 0, 0}, {B2, 4, 4}, {G0, 0, 7}, {G2, 5, 4}, {B0, 0, 7}, {G3, 5, 5}, {B3, 4, 4}, {R1, 0, 4}, {G3, 4, 4},
      {G2, 0, 3}, {G1, 0, 5}, {G3, 0, 3}, {B1, 0, 4}, {B3, 1, 1}, {B2, 0, 3}, {R2, 0, 4}, {B3, 2, 2}, {R3, 0, 4}, {B3, 3, 3},
      {PB, 0, 4}}},
    {26, 8, {5, 5, 6},
     {{R0, 0, 7}, {B3, 1, 1}, {B2, 4, 4}, {G0, 0, 7}, {B2, 5, 5}, {G2, 4, 4}, {B0, 0, 7}, {B3, 5, 4}, {R1, 0, 4}, {G3, 4, 4},
      {G2, 0, 3}, {G1, 0, 4}, {B3, 0, 0}, {G3, 0, 3}, {B1, 0, 5}, {B2, 0, 3}, {R2, 0, 4}, {B3, 2, 2}, {R3, 0, 4}, {B3, 3, 3},
      {PB, 0, 4}}},
    {30, 6, {0, 0, 0},
     {{R0, 0, 5}, {G3, 4, 4}, {B3, 0, 1}, {B2, 4, 4}, {G0, 0, 5}, {G2, 5, 5}, {B2, 5, 5}, {B3, 2, 2}, {G2, 4, 4}, {B0, 0, 5},
      {G3, 5, 5}, {B3, 3, 3}, {B3, 5, 4}, {R1, 0, 5}, {G2, 0, 3}, {G1, 0, 5}, {G3, 0, 3}, {B1, 0, 5}, {B2, 0, 3}, {R2, 0, 5},
      {R3, 0, 5}, {PB, 0, 4}}},
    {3, 10, {0, 0, 0},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 9}, {G1, 0, 9}, {B1, 0, 9}}},
    {7, 11, {9, 9, 9},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 8}, {R0, 10, 10}, {G1, 0, 8}, {G0, 10, 10}, {B1, 0, 8}, {B0, 10, 10}}},
    {11, 12, {8, 8, 8},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 7}, {R0, 11, 10}, {G1, 0, 7}, {G0, 11, 10}, {B1, 0, 7}, {B0, 11, 10}}},
    {15, 16, {4, 4, 4},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 3}, {R0, 15, 10}, {G1, 0, 3}, {G0, 15, 10}, {B1, 0, 3}, {B0, 15, 10}}},
};
// clang-format on

const Mode6* find_mode(const uint8_t* block) {
  const uint32_t low = block[0] & 3, number = low < 2 ? low : block[0] & 31;
  const auto* found = std::find_if(std::begin(kModes6), std::end(kModes6), [&](const Mode6& mode) { return mode.number == number; });
  return found == std::end(kModes6) ? nullptr : found;
}

int32_t sign_extend(uint32_t value, uint32_t bits) { return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits); }

/// An endpoint's bits to the whole range of 16, of which interpolation makes use.
template <bool kSigned>
int32_t unquantize(int32_t value, uint32_t bits) {
  if (!kSigned) {
    if (bits >= 15 || value == 0) return value;
    return value == (1 << bits) - 1 ? 0xffff : ((value << 15) + 0x4000) >> (bits - 1);
  }
  if (bits >= 16 || value == 0) return value;
  const int32_t size = std::abs(value), wide = size >= (1 << (bits - 1)) - 1 ? 0x7fff : ((size << 15) + 0x4000) >> (bits - 1);
  return value < 0 ? -wide : wide;
}

/// The bits of a half float, of an interpolated value.
template <bool kSigned>
uint16_t half_bits(int32_t value) {
  if (!kSigned) return static_cast<uint16_t>((value * 31) >> 6);
  return static_cast<uint16_t>(value < 0 ? ((-value * 31) >> 5) | 0x8000 : (value * 31) >> 5);
}

template <bool kSigned>
void decode_bc6h(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  square = {};
  const Mode6* mode = find_mode(block);
  if (!mode) return;
  uint32_t fields[PB + 1] = {};
  BitReader reader{Bits128(block), mode->number < 2 ? 2u : 5u};
  for (const Run& run : mode->runs) {
    if (run.field == none) break;
    const int32_t step = run.last >= run.first ? 1 : -1;
    for (int32_t bit = run.first; bit != run.last + step; bit += step) fields[run.field] |= reader.take(1) << bit;
  }
  const uint32_t bits = mode->endpoint_bits;
  const bool deltas = mode->delta_bits[0] != 0, two = mode->has_partition();
  int32_t ends[4][3];
  for (uint32_t e = 0; e < 4; ++e) {
    for (uint32_t c = 0; c < 3; ++c) {
      uint32_t value = fields[R0 + 3 * e + c];
      if (e > 0 && deltas) value = (fields[R0 + c] + static_cast<uint32_t>(sign_extend(value, mode->delta_bits[c]))) & ((1u << bits) - 1);
      ends[e][c] = unquantize<kSigned>(kSigned ? sign_extend(value, bits) : static_cast<int32_t>(value), bits);
    }
  }
  const Partition partition = {two ? 2u : 1u, fields[PB]};
  uint8_t indices[kTexels];
  const uint32_t index_bits = two ? 3 : 4;
  read_indices(reader, partition, index_bits, indices);
  const uint8_t* weights = weights_of(index_bits);
  for (uint32_t i = 0; i < kTexels; ++i) {
    const uint32_t e = 2 * partition.subset(i);
    for (uint32_t c = 0; c < 3; ++c)
      square.texel[i].c[c] = half_to_float(half_bits<kSigned>(mix(ends[e][c], ends[e + 1][c], weights[indices[i]])));
  }
}

}  // namespace

DecodeSquare bptc_decoder(const FormatInfo& format) {
  if (format.compression == Compression::bc7) return format.numeric == Numeric::srgb ? decode_bc7<true> : decode_bc7<false>;
  if (format.compression == Compression::bc6h) return format.numeric == Numeric::sfloat ? decode_bc6h<true> : decode_bc6h<false>;
  return nullptr;
}

}  // namespace tilegpu::vk
