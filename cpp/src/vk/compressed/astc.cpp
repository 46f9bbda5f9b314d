// vk/compressed/astc.cpp -- ASTC, the LDR profile: a grid of weights stretched over the block, colour endpoints of one to four partitions.
//
// In: a block of 16 bytes, a square of its texels. Out: these. A block that is illegal, or HDR, is opaque magenta; texels of an HDR
// partition beside others alone are. Linear formats decode to 16-bit floats, rounded to zero; sRGB ones to bytes. Source: Khronos Data
// Format Specification 1.3, "ASTC Compressed Texture Image Formats".
#include <algorithm>
#include <bit>
#include <optional>

#include "vk/compressed/astc_sequence.hpp"
#include "vk/compressed/decode.hpp"

namespace tilegpu::vk {
namespace {

constexpr uint32_t kMostWeights = 64, kMostColorValues = 18, kMostPartitions = 4;

struct BlockMode {
  uint32_t width, height;
  bool two_planes;
  SequenceRange weights;
};

/// Bits 0 to 10 of the block.
std::optional<BlockMode> read_mode(uint32_t mode) {
  const auto field = [&](uint32_t low, uint32_t count) { return mode >> low & ((1u << count) - 1); };
  uint32_t width, height, range = field(4, 1);
  bool two_planes = field(10, 1), precise = field(9, 1);
  const uint32_t a = field(5, 2), b = field(7, 2);
  if (field(0, 2)) {
    range |= field(0, 2) << 1;
    const uint32_t kind = field(2, 2);
    if (kind == 0)
      width = b + 4, height = a + 2;
    else if (kind == 1)
      width = b + 8, height = a + 2;
    else if (kind == 2)
      width = a + 2, height = b + 8;
    else if (b < 2)
      width = a + 2, height = b + 6;
    else
      width = b, height = a + 2;
  } else {
    range |= field(2, 2) << 1;
    if (range < 2) return {};
    if (b == 0)
      width = 12, height = a + 2;
    else if (b == 1)
      width = a + 2, height = 12;
    else if (b == 2)
      width = a + 6, height = field(9, 2) + 6, two_planes = precise = false;
    else if (a == 0)
      width = 6, height = 10;
    else if (a == 1)
      width = 10, height = 6;
    else
      return {};
  }
  // Of 2 and 3 and so on, first with the low precision.
  constexpr SequenceRange kRanges[2][6] = {{{0, 0, 1}, {1, 0, 0}, {0, 0, 2}, {0, 1, 0}, {1, 0, 1}, {0, 0, 3}},
                                           {{0, 1, 1}, {1, 0, 2}, {0, 0, 4}, {0, 1, 2}, {1, 0, 3}, {0, 0, 5}}};
  assert(range >= 2 && range < 8);
  return BlockMode{width, height, two_planes, kRanges[precise][range - 2]};
}

struct Endpoints {
  int32_t color[2][4];
  bool hdr = false;
};

struct Block {
  BlockMode mode;
  uint32_t partitions, partition_seed;
  Endpoints ends[kMostPartitions];
  uint32_t second_plane;                 // the component that takes the second weight; 4: none
  uint8_t weights[kMostWeights + 1][2];  // 0 to 64; one more is read, times 0
};

void transfer_bit(int32_t& a, int32_t& b) {
  b = b >> 1 | (a & 0x80);
  a = a >> 1 & 0x3f;
  if (a & 0x20) a -= 0x40;
}

void set(int32_t out[4], int32_t r, int32_t g, int32_t b, int32_t a) {
  const int32_t values[4] = {r, g, b, a};
  for (int c = 0; c < 4; ++c) out[c] = std::clamp(values[c], 0, 255);
}

/// Of colours near grey: more precise red and green.
void set_contracted(int32_t out[4], int32_t r, int32_t g, int32_t b, int32_t a) { set(out, (r + b) >> 1, (g + b) >> 1, b, a); }

/// Endpoint modes 8, 9, 12, 13: red, green, blue and alpha of both, as they are; or of `differences` components a base and a difference.
void set_rgba(Endpoints& ends, int32_t v[8], int differences) {
  for (int c = 0; c < differences; ++c) transfer_bit(v[2 * c + 1], v[2 * c]);
  const bool contracted = v[1] + v[3] + v[5] < (differences ? 0 : v[0] + v[2] + v[4]);
  for (int c = 0; c < differences; ++c) v[2 * c + 1] += v[2 * c];
  if (contracted) {
    set_contracted(ends.color[0], v[1], v[3], v[5], v[7]), set_contracted(ends.color[1], v[0], v[2], v[4], v[6]);
  } else {
    set(ends.color[0], v[0], v[2], v[4], v[6]), set(ends.color[1], v[1], v[3], v[5], v[7]);
  }
}

Endpoints read_endpoints(uint32_t mode, const uint8_t* values) {
  Endpoints ends{};
  int32_t v[8] = {0, 0, 0, 0, 0, 0, 255, 255};
  const uint32_t count = (mode / 4 + 1) * 2;
  std::copy(values, values + count, v);
  switch (mode) {
    case 0:
      set(ends.color[0], v[0], v[0], v[0], 255), set(ends.color[1], v[1], v[1], v[1], 255);
      break;
    case 1: {
      const int32_t low = v[0] >> 2 | (v[1] & 0xc0), high = low + (v[1] & 0x3f);
      set(ends.color[0], low, low, low, 255), set(ends.color[1], high, high, high, 255);
      break;
    }
    case 4:
      set(ends.color[0], v[0], v[0], v[0], v[2]), set(ends.color[1], v[1], v[1], v[1], v[3]);
      break;
    case 5: {
      transfer_bit(v[1], v[0]), transfer_bit(v[3], v[2]);
      const int32_t high = v[0] + v[1];
      set(ends.color[0], v[0], v[0], v[0], v[2]), set(ends.color[1], high, high, high, v[2] + v[3]);
      break;
    }
    case 6:
      set(ends.color[0], v[0] * v[3] >> 8, v[1] * v[3] >> 8, v[2] * v[3] >> 8, 255), set(ends.color[1], v[0], v[1], v[2], 255);
      break;
    case 10:
      set(ends.color[0], v[0] * v[3] >> 8, v[1] * v[3] >> 8, v[2] * v[3] >> 8, v[4]), set(ends.color[1], v[0], v[1], v[2], v[5]);
      break;
    case 8:
    case 12:
      set_rgba(ends, v, 0);
      break;
    case 9:
      set_rgba(ends, v, 3);
      break;
    case 13:
      set_rgba(ends, v, 4);
      break;
    default:
      ends.hdr = true;
      break;
  }
  return ends;
}

/// Of each partition; false: too many values.
bool read_endpoint_modes(const Bits128& bits, uint32_t partitions, uint32_t end_bit, uint32_t modes[kMostPartitions],
                         uint32_t& extra_bits) {
  extra_bits = 0;
  if (partitions == 1) {
    modes[0] = bits.get(13, 4);
  } else {
    const uint32_t first = bits.get(23, 6);
    if ((first & 3) == 0) {
      for (uint32_t p = 0; p < partitions; ++p) modes[p] = first >> 2;
    } else {
      extra_bits = 3 * partitions - 4;
      const uint32_t all = first | bits.get(end_bit - extra_bits, extra_bits) << 6;
      for (uint32_t p = 0; p < partitions; ++p)
        modes[p] = ((first & 3) - 1 + (all >> (2 + p) & 1)) * 4 + (all >> (2 + partitions + 2 * p) & 3);
    }
  }
  uint32_t values = 0;
  for (uint32_t p = 0; p < partitions; ++p) values += (modes[p] / 4 + 1) * 2;
  return values <= kMostColorValues;
}

/// Everything but the texels; nothing of an illegal block. Not of void extents.
std::optional<Block> read_block(const uint8_t* bytes, const FormatInfo& format) {
  const Bits128 bits(bytes);
  const std::optional<BlockMode> mode = read_mode(bits.get(0, 11));
  if (!mode || mode->width > format.block_width_px || mode->height > format.block_height_px) return {};
  Block block{};
  block.mode = *mode;
  block.partitions = bits.get(11, 2) + 1;
  const uint32_t planes = mode->two_planes ? 2 : 1, weights = mode->width * mode->height * planes;
  if (weights > kMostWeights || (mode->two_planes && block.partitions == 4)) return {};
  const uint32_t weight_bits = sequence_bits(mode->weights, weights);
  if (weight_bits < 24 || weight_bits > 96) return {};
  uint32_t modes[kMostPartitions], extra_bits;
  if (!read_endpoint_modes(bits, block.partitions, 128 - weight_bits, modes, extra_bits)) return {};
  const uint32_t plane_bits = mode->two_planes ? 2 : 0, first_bit = block.partitions == 1 ? 17 : 29;
  uint32_t values = 0;
  for (uint32_t p = 0; p < block.partitions; ++p) values += (modes[p] / 4 + 1) * 2;
  const uint32_t taken = first_bit + extra_bits + plane_bits + weight_bits;
  if (taken > 128 || 128 - taken < (13 * values + 4) / 5) return {};
  block.second_plane = mode->two_planes ? bits.get(128 - weight_bits - extra_bits - 2, 2) : 4;
  block.partition_seed = block.partitions > 1 ? bits.get(13, 10) : 0;
  uint8_t colors[kMostColorValues], raw_weights[kMostWeights];
  read_colors(bits, first_bit, values, 128 - taken, colors);
  const uint8_t* next = colors;
  for (uint32_t p = 0; p < block.partitions; next += (modes[p] / 4 + 1) * 2, ++p) block.ends[p] = read_endpoints(modes[p], next);
  read_weights(bits, mode->weights, weights, raw_weights);
  for (uint32_t i = 0; i < weights; ++i) block.weights[i / planes][i % planes] = raw_weights[i];
  return block;
}

uint32_t hash_52(uint32_t p) {
  p ^= p >> 15, p -= p << 17, p += p << 7, p += p << 4;
  p ^= p >> 5, p += p << 16, p ^= p >> 7, p ^= p >> 3;
  p ^= p << 6, p ^= p >> 17;
  return p;
}

/// Planes over the block, made of the seed; a texel's partition is the one whose plane is highest there.
struct PartitionPattern {
  uint32_t step_x[kMostPartitions] = {}, step_y[kMostPartitions] = {}, base[kMostPartitions] = {};
  uint32_t partitions, scale;  // scale: of small blocks coordinates count twice
  PartitionPattern(uint32_t seed, uint32_t count, bool small_block) : partitions(count), scale(small_block ? 2 : 1) {
    if (count == 1) return;
    seed += (count - 1) * 1024;
    const uint32_t hash = hash_52(seed);
    const uint32_t by_count = count == 3 ? 6 : 5, by_seed = seed & 2 ? 4 : 5;
    const uint32_t shift_x = seed & 1 ? by_seed : by_count, shift_y = seed & 1 ? by_count : by_seed;
    const auto square = [&](uint32_t nibble) { return (hash >> 4 * nibble & 15) * (hash >> 4 * nibble & 15); };
    constexpr uint32_t kBases[kMostPartitions] = {14, 10, 6, 2};
    for (uint32_t p = 0; p < count; ++p)
      step_x[p] = square(2 * p) >> shift_x, step_y[p] = square(2 * p + 1) >> shift_y, base[p] = hash >> kBases[p];
  }
  uint32_t at(uint32_t x, uint32_t y) const {
    uint32_t best = 0, highest = 0;
    for (uint32_t p = 0; p < partitions; ++p) {
      const uint32_t height = (step_x[p] * scale * x + step_y[p] * scale * y + base[p]) & 63;
      if (p == 0 || height > highest) best = p, highest = height;
    }
    return best;
  }
};

/// The grid's weight at a texel, between the four nearest ones.
uint32_t weight_at(const Block& block, const FormatInfo& format, uint32_t x, uint32_t y, uint32_t plane) {
  const auto place = [](uint32_t at, uint32_t size_px, uint32_t weights) {
    const uint32_t scale = (1024 + size_px / 2) / (size_px - 1);
    return (scale * at * (weights - 1) + 32) >> 6;
  };
  const uint32_t s = place(x, format.block_width_px, block.mode.width), t = place(y, format.block_height_px, block.mode.height);
  const uint32_t column = s >> 4, row = t >> 4, fs = s & 15, ft = t & 15, first = row * block.mode.width + column;
  const uint32_t w11 = (fs * ft + 8) >> 4, w10 = ft - w11, w01 = fs - w11, w00 = 16 - fs - ft + w11;
  // Beyond the last row and column weights count nothing.
  const auto weight = [&](uint32_t index) { return uint32_t{block.weights[std::min(index, kMostWeights)][plane]}; };
  const uint32_t below = first + block.mode.width;
  return (weight(first) * w00 + weight(first + 1) * w01 + weight(below) * w10 + weight(below + 1) * w11 + 8) >> 4;
}

/// A component of 16 bits, as the format has it.
template <bool kSrgb>
float finish(uint32_t component, uint32_t value) {
  if constexpr (kSrgb) return component < 3 ? kSrgbToLinear[value >> 8] : static_cast<float>(value >> 8);
  if (value == 65535) return 1;
  const auto width = static_cast<uint32_t>(std::bit_width(value));
  if (width > 11) value = value >> (width - 11) << (width - 11);  // the bits that a 16-bit float has
  return static_cast<float>(value) * 0x1p-16f;
}

template <bool kSrgb>
RawTexel error_color() {
  return {{1, 0, 1, kSrgb ? 255.0f : 1.0f}};
}

template <bool kSrgb>
RawTexel texel_at(const Block& block, const PartitionPattern& pattern, const FormatInfo& format, uint32_t x, uint32_t y) {
  const Endpoints& ends = block.ends[pattern.at(x, y)];
  if (ends.hdr) return error_color<kSrgb>();
  const uint32_t weights[2] = {weight_at(block, format, x, y, 0), block.mode.two_planes ? weight_at(block, format, x, y, 1) : 0};
  RawTexel raw;
  for (uint32_t c = 0; c < 4; ++c) {
    const uint32_t weight = weights[c == block.second_plane];
    const auto wide = [](int32_t byte) { return static_cast<uint32_t>(byte) << 8 | (kSrgb ? 0x80u : static_cast<uint32_t>(byte)); };
    raw.c[c] = finish<kSrgb>(c, (wide(ends.color[0][c]) * (64 - weight) + wide(ends.color[1][c]) * weight + 32) >> 6);
  }
  return raw;
}

/// One colour; its extent over other blocks is not made use of, but must be one.
template <bool kSrgb>
RawTexel void_extent(const uint8_t* bytes) {
  const Bits128 bits(bytes);
  const uint32_t low_s = bits.get(12, 13), high_s = bits.get(25, 13), low_t = bits.get(38, 13), high_t = bits.get(51, 13);
  const bool whole = (low_s & high_s & low_t & high_t) == 0x1fff, hdr = bits.get(9, 1), reserved = bits.get(10, 2) != 3;
  if (hdr || reserved || (!whole && (low_s >= high_s || low_t >= high_t))) return error_color<kSrgb>();
  RawTexel raw;
  for (uint32_t c = 0; c < 4; ++c) raw.c[c] = finish<kSrgb>(c, bits.get(64 + 16 * c, 16));
  return raw;
}

template <VkFormat kFormat, bool kSrgb>
void decode(const uint8_t* bytes, uint32_t x_px, uint32_t y_px, TexelSquare& square) {
  static const FormatInfo& format = *find_format(kFormat);
  constexpr uint32_t kVoidExtent = 0x1fc;
  if ((bytes[0] | (bytes[1] & 1) << 8) == kVoidExtent) {
    std::fill(std::begin(square.texel), std::end(square.texel), void_extent<kSrgb>(bytes));
    return;
  }
  const std::optional<Block> block = read_block(bytes, format);
  if (!block) {
    std::fill(std::begin(square.texel), std::end(square.texel), error_color<kSrgb>());
    return;
  }
  const PartitionPattern pattern(block->partition_seed, block->partitions, format.block_width_px * format.block_height_px < 31);
  const uint32_t columns = std::min(kSquare_px, format.block_width_px - x_px), rows = std::min(kSquare_px, format.block_height_px - y_px);
  for (uint32_t y = 0; y < rows; ++y)
    for (uint32_t x = 0; x < columns; ++x) square.texel[kSquare_px * y + x] = texel_at<kSrgb>(*block, pattern, format, x_px + x, y_px + y);
}

}  // namespace

DecodeSquare astc_decoder(const FormatInfo& format) {
#define TILEGPU_FOOTPRINT(size)                                \
  case VK_FORMAT_ASTC_##size##_UNORM_BLOCK:                    \
    return decode<VK_FORMAT_ASTC_##size##_UNORM_BLOCK, false>; \
  case VK_FORMAT_ASTC_##size##_SRGB_BLOCK:                     \
    return decode<VK_FORMAT_ASTC_##size##_SRGB_BLOCK, true>;
  switch (format.format) {
    TILEGPU_FOOTPRINT(4x4)
    TILEGPU_FOOTPRINT(5x4)
    TILEGPU_FOOTPRINT(5x5)
    TILEGPU_FOOTPRINT(6x5)
    TILEGPU_FOOTPRINT(6x6)
    TILEGPU_FOOTPRINT(8x5)
    TILEGPU_FOOTPRINT(8x6)
    TILEGPU_FOOTPRINT(8x8)
    TILEGPU_FOOTPRINT(10x5)
    TILEGPU_FOOTPRINT(10x6)
    TILEGPU_FOOTPRINT(10x8)
    TILEGPU_FOOTPRINT(10x10)
    TILEGPU_FOOTPRINT(12x10)
    TILEGPU_FOOTPRINT(12x12)
    default:
      return nullptr;
  }
#undef TILEGPU_FOOTPRINT
}

}  // namespace tilegpu::vk
