// vk/format.cpp -- the table of formats: bits, order, numeric type, what each may be used for; look-up by enum and by name.
//
// In: VkFormat or a name. Out: FormatInfo, or null. Source: Vulkan specification, "Format Definition", "Required Format Support".
#include "vk/format.hpp"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <string>
#include <string_view>

#include "tilegpu/resource.hpp"

namespace tilegpu::vk {
namespace {

constexpr uint32_t kSampled = 1, kFilter = 2, kColor = 4, kBlend = 8, kVertex = 16, kStorage = 32;

struct Row {
  VkFormat format;
  const char* name;
  uint8_t texel_B;
  Numeric numeric;
  uint32_t uses;
  std::array<Component, 4> rgba;
};

/// What Vulkan allows by numeric type; vertex input is added by the caller.
constexpr uint32_t uses_of(Numeric numeric) {
  switch (numeric) {
    case Numeric::uint:
    case Numeric::sint:
      return kSampled | kColor | kStorage;
    case Numeric::uscaled:
    case Numeric::sscaled:
    case Numeric::none:
      return 0;
    case Numeric::srgb:  // what shaders store is never encoded
      return kSampled | kFilter | kColor | kBlend;
    default:
      return kSampled | kFilter | kColor | kBlend | kStorage;
  }
}

constexpr std::array<Component, 4> equal_components(uint8_t bits, uint8_t count, bool bgra = false) {
  std::array<Component, 4> rgba{};
  for (uint8_t c = 0; c < count; ++c) rgba[c] = {bits, static_cast<uint8_t>(bits * c)};
  if (bgra) std::swap(rgba[0], rgba[2]);
  return rgba;
}

constexpr Row array_row(VkFormat format, const char* name, uint8_t bits, uint8_t count, Numeric numeric, bool bgra = false) {
  // Three components of an array format are for vertices only: their texels straddle words, and no GPU renders to them.
  const uint32_t uses = (count == 3 ? 0 : uses_of(numeric)) | (numeric == Numeric::srgb ? 0 : kVertex);
  return {format, name, static_cast<uint8_t>(bits * count / 8), numeric, uses, equal_components(bits, count, bgra)};
}

/// Numbers of 64 bits, which vertices have; single integers are in storage images and texel buffers too, for atomic operations.
constexpr Row long_row(VkFormat format, const char* name, uint8_t count, Numeric numeric) {
  const uint32_t uses = kVertex | (count == 1 && numeric != Numeric::sfloat ? kStorage : 0);
  return {format, name, static_cast<uint8_t>(8 * count), numeric, uses, equal_components(64, count)};
}

constexpr Row packed_row(VkFormat format, const char* name, uint8_t texel_B, Numeric numeric, uint32_t uses, Component r, Component g,
                         Component b, Component a) {
  return {format, name, texel_B, numeric, uses, {r, g, b, a}};
}

#define TILEGPU_NORMS(E, e, bits, count)                                                \
  array_row(VK_FORMAT_##E##_UNORM, #e "_unorm", bits, count, Numeric::unorm),           \
      array_row(VK_FORMAT_##E##_SNORM, #e "_snorm", bits, count, Numeric::snorm),       \
      array_row(VK_FORMAT_##E##_USCALED, #e "_uscaled", bits, count, Numeric::uscaled), \
      array_row(VK_FORMAT_##E##_SSCALED, #e "_sscaled", bits, count, Numeric::sscaled)
#define TILEGPU_INTEGERS(E, e, bits, count)                                \
  array_row(VK_FORMAT_##E##_UINT, #e "_uint", bits, count, Numeric::uint), \
      array_row(VK_FORMAT_##E##_SINT, #e "_sint", bits, count, Numeric::sint)
#define TILEGPU_FLOAT(E, e, bits, count) array_row(VK_FORMAT_##E##_SFLOAT, #e "_sfloat", bits, count, Numeric::sfloat)
#define TILEGPU_LONGS(E, e, count)                                                                                                    \
  long_row(VK_FORMAT_##E##_UINT, #e "_uint", count, Numeric::uint), long_row(VK_FORMAT_##E##_SINT, #e "_sint", count, Numeric::sint), \
      long_row(VK_FORMAT_##E##_SFLOAT, #e "_sfloat", count, Numeric::sfloat)
#define TILEGPU_SRGB(E, e, count) array_row(VK_FORMAT_##E##_SRGB, #e "_srgb", 8, count, Numeric::srgb)
#define TILEGPU_BGRA(N, n) array_row(VK_FORMAT_B8G8R8A8_##N, "b8g8r8a8_" #n, 8, 4, Numeric::n, true)
#define TILEGPU_ABGR(N, n) array_row(VK_FORMAT_A8B8G8R8_##N##_PACK32, "a8b8g8r8_" #n "_pack32", 8, 4, Numeric::n)
#define TILEGPU_A2BGR(N, n)                                                                                                               \
  packed_row(VK_FORMAT_A2B10G10R10_##N##_PACK32, "a2b10g10r10_" #n "_pack32", 4, Numeric::n, uses_of(Numeric::n) | kVertex, {10, 0},      \
             {10, 10}, {10, 20}, {2, 30}),                                                                                                \
      packed_row(VK_FORMAT_A2R10G10B10_##N##_PACK32, "a2r10g10b10_" #n "_pack32", 4, Numeric::n, uses_of(Numeric::n) | kVertex, {10, 20}, \
                 {10, 10}, {10, 0}, {2, 30})

constexpr uint32_t kUnorm = uses_of(Numeric::unorm);

/// Components in the high bits of words of 16; the low ones are written as 0, and nobody reads them. No storage: SPIR-V has no
/// name for them, and where they can do as much as R16_UNORM programs take them for it (libplacebo), and lose those bits.
constexpr uint32_t kHighBits = kUnorm & ~kStorage;
#define TILEGPU_HIGH_BITS(N, n, bits, low)                                                                                          \
  packed_row(VK_FORMAT_R##N##_UNORM_PACK16, "r" #n "_unorm_pack16", 2, Numeric::unorm, kHighBits, {bits, low}, {}, {}, {}),         \
      packed_row(VK_FORMAT_R##N##G##N##_UNORM_2PACK16, "r" #n "g" #n "_unorm_2pack16", 4, Numeric::unorm, kHighBits, {bits, low},   \
                 {bits, 16 + low}, {}, {}),                                                                                         \
      packed_row(VK_FORMAT_R##N##G##N##B##N##A##N##_UNORM_4PACK16, "r" #n "g" #n "b" #n "a" #n "_unorm_4pack16", 8, Numeric::unorm, \
                 kHighBits, {bits, low}, {bits, 16 + low}, {bits, 32 + low}, {bits, 48 + low})

constexpr Row kRows[] = {
    TILEGPU_NORMS(R8, r8, 8, 1),
    TILEGPU_INTEGERS(R8, r8, 8, 1),
    TILEGPU_SRGB(R8, r8, 1),
    TILEGPU_NORMS(R8G8, r8g8, 8, 2),
    TILEGPU_INTEGERS(R8G8, r8g8, 8, 2),
    TILEGPU_SRGB(R8G8, r8g8, 2),
    TILEGPU_NORMS(R8G8B8, r8g8b8, 8, 3),
    TILEGPU_INTEGERS(R8G8B8, r8g8b8, 8, 3),
    TILEGPU_NORMS(R8G8B8A8, r8g8b8a8, 8, 4),
    TILEGPU_INTEGERS(R8G8B8A8, r8g8b8a8, 8, 4),
    TILEGPU_SRGB(R8G8B8A8, r8g8b8a8, 4),
    TILEGPU_BGRA(UNORM, unorm),
    TILEGPU_BGRA(SNORM, snorm),
    TILEGPU_BGRA(USCALED, uscaled),
    TILEGPU_BGRA(SSCALED, sscaled),
    TILEGPU_BGRA(UINT, uint),
    TILEGPU_BGRA(SINT, sint),
    TILEGPU_BGRA(SRGB, srgb),
    TILEGPU_ABGR(UNORM, unorm),
    TILEGPU_ABGR(SNORM, snorm),
    TILEGPU_ABGR(USCALED, uscaled),
    TILEGPU_ABGR(SSCALED, sscaled),
    TILEGPU_ABGR(UINT, uint),
    TILEGPU_ABGR(SINT, sint),
    TILEGPU_ABGR(SRGB, srgb),
    TILEGPU_NORMS(R16, r16, 16, 1),
    TILEGPU_INTEGERS(R16, r16, 16, 1),
    TILEGPU_FLOAT(R16, r16, 16, 1),
    TILEGPU_NORMS(R16G16, r16g16, 16, 2),
    TILEGPU_INTEGERS(R16G16, r16g16, 16, 2),
    TILEGPU_FLOAT(R16G16, r16g16, 16, 2),
    TILEGPU_NORMS(R16G16B16, r16g16b16, 16, 3),
    TILEGPU_INTEGERS(R16G16B16, r16g16b16, 16, 3),
    TILEGPU_FLOAT(R16G16B16, r16g16b16, 16, 3),
    TILEGPU_NORMS(R16G16B16A16, r16g16b16a16, 16, 4),
    TILEGPU_INTEGERS(R16G16B16A16, r16g16b16a16, 16, 4),
    TILEGPU_FLOAT(R16G16B16A16, r16g16b16a16, 16, 4),
    TILEGPU_INTEGERS(R32, r32, 32, 1),
    TILEGPU_FLOAT(R32, r32, 32, 1),
    TILEGPU_INTEGERS(R32G32, r32g32, 32, 2),
    TILEGPU_FLOAT(R32G32, r32g32, 32, 2),
    TILEGPU_INTEGERS(R32G32B32, r32g32b32, 32, 3),
    TILEGPU_FLOAT(R32G32B32, r32g32b32, 32, 3),
    TILEGPU_INTEGERS(R32G32B32A32, r32g32b32a32, 32, 4),
    TILEGPU_FLOAT(R32G32B32A32, r32g32b32a32, 32, 4),
    TILEGPU_LONGS(R64, r64, 1),
    TILEGPU_LONGS(R64G64, r64g64, 2),
    TILEGPU_LONGS(R64G64B64, r64g64b64, 3),
    TILEGPU_LONGS(R64G64B64A64, r64g64b64a64, 4),
    TILEGPU_A2BGR(UNORM, unorm),
    TILEGPU_A2BGR(SNORM, snorm),
    TILEGPU_A2BGR(USCALED, uscaled),
    TILEGPU_A2BGR(SSCALED, sscaled),
    TILEGPU_A2BGR(UINT, uint),
    TILEGPU_A2BGR(SINT, sint),
    packed_row(VK_FORMAT_R4G4_UNORM_PACK8, "r4g4_unorm_pack8", 1, Numeric::unorm, kUnorm, {4, 4}, {4, 0}, {}, {}),
    packed_row(VK_FORMAT_R4G4B4A4_UNORM_PACK16, "r4g4b4a4_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {4, 12}, {4, 8}, {4, 4},
               {4, 0}),
    packed_row(VK_FORMAT_B4G4R4A4_UNORM_PACK16, "b4g4r4a4_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {4, 4}, {4, 8}, {4, 12},
               {4, 0}),
    packed_row(VK_FORMAT_A4R4G4B4_UNORM_PACK16, "a4r4g4b4_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {4, 8}, {4, 4}, {4, 0},
               {4, 12}),
    packed_row(VK_FORMAT_A4B4G4R4_UNORM_PACK16, "a4b4g4r4_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {4, 0}, {4, 4}, {4, 8},
               {4, 12}),
    packed_row(VK_FORMAT_R5G6B5_UNORM_PACK16, "r5g6b5_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {5, 11}, {6, 5}, {5, 0}, {}),
    packed_row(VK_FORMAT_B5G6R5_UNORM_PACK16, "b5g6r5_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {5, 0}, {6, 5}, {5, 11}, {}),
    packed_row(VK_FORMAT_R5G5B5A1_UNORM_PACK16, "r5g5b5a1_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {5, 11}, {5, 6}, {5, 1},
               {1, 0}),
    packed_row(VK_FORMAT_B5G5R5A1_UNORM_PACK16, "b5g5r5a1_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {5, 1}, {5, 6}, {5, 11},
               {1, 0}),
    packed_row(VK_FORMAT_A1R5G5B5_UNORM_PACK16, "a1r5g5b5_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {5, 10}, {5, 5}, {5, 0},
               {1, 15}),
    packed_row(VK_FORMAT_A1B5G5R5_UNORM_PACK16, "a1b5g5r5_unorm_pack16", 2, Numeric::unorm, kUnorm | kVertex, {5, 0}, {5, 5}, {5, 10},
               {1, 15}),
    packed_row(VK_FORMAT_A8_UNORM, "a8_unorm", 1, Numeric::unorm, kUnorm | kVertex, {}, {}, {}, {8, 0}),
    packed_row(VK_FORMAT_B10G11R11_UFLOAT_PACK32, "b10g11r11_ufloat_pack32", 4, Numeric::ufloat, uses_of(Numeric::ufloat) | kVertex,
               {11, 0}, {11, 11}, {10, 22}, {}),
    TILEGPU_HIGH_BITS(10X6, 10x6, 10, 6),
    TILEGPU_HIGH_BITS(12X4, 12x4, 12, 4),
    // The shared exponent (5 bits at 27) is not a component; conversion knows it by the format.
    packed_row(VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, "e5b9g9r9_ufloat_pack32", 4, Numeric::ufloat, kSampled | kFilter, {9, 0}, {9, 9}, {9, 18},
               {}),
};

struct DepthRow {
  VkFormat format;
  const char* name;
  uint8_t texel_B, depth_bits, stencil_bits;
  Numeric numeric;
};

constexpr DepthRow kDepthRows[] = {
    {VK_FORMAT_D16_UNORM, "d16_unorm", 2, 16, 0, Numeric::unorm},
    {VK_FORMAT_X8_D24_UNORM_PACK32, "x8_d24_unorm_pack32", 4, 24, 0, Numeric::unorm},
    {VK_FORMAT_D24_UNORM_S8_UINT, "d24_unorm_s8_uint", 4, 24, 8, Numeric::unorm},
    {VK_FORMAT_D32_SFLOAT, "d32_sfloat", 4, 32, 0, Numeric::sfloat},
    {VK_FORMAT_D32_SFLOAT_S8_UINT, "d32_sfloat_s8_uint", 5, 32, 8, Numeric::sfloat},
    {VK_FORMAT_S8_UINT, "s8_uint", 1, 0, 8, Numeric::uint},
};

struct CompressedRow {
  VkFormat format;
  const char* name;
  Compression compression;
  uint8_t block_B, block_width_px, block_height_px;
  Numeric numeric;
  uint8_t component_count;
  std::array<uint16_t, 4> code_maximum;
};

// Codes are as fine as the exact values: endpoints of 5, 6 and 8 bits mixed by halves and thirds, or by fifths and sevenths.
constexpr uint16_t kRed5 = 31 * 6, kGreen6 = 63 * 6, kAlpha8 = 255 * 35, kSigned8 = 127 * 35;

// Linear ones decode to floats of 16 bits.
#define TILEGPU_ASTC(width, height)                                                                                                 \
  {VK_FORMAT_ASTC_##width##x##height##_UNORM_BLOCK,                                                                                 \
   "astc_" #width "x" #height "_unorm_block",                                                                                       \
   Compression::astc,                                                                                                               \
   16,                                                                                                                              \
   width,                                                                                                                           \
   height,                                                                                                                          \
   Numeric::unorm,                                                                                                                  \
   4,                                                                                                                               \
   {}},                                                                                                                             \
  {                                                                                                                                 \
    VK_FORMAT_ASTC_##width##x##height##_SRGB_BLOCK, "astc_" #width "x" #height "_srgb_block", Compression::astc, 16, width, height, \
        Numeric::srgb, 4, {0, 0, 0, 255}                                                                                            \
  }

constexpr CompressedRow kCompressedRows[] = {
    {VK_FORMAT_BC1_RGB_UNORM_BLOCK, "bc1_rgb_unorm_block", Compression::bc1_rgb, 8, 4, 4, Numeric::unorm, 3, {kRed5, kGreen6, kRed5}},
    {VK_FORMAT_BC1_RGB_SRGB_BLOCK, "bc1_rgb_srgb_block", Compression::bc1_rgb, 8, 4, 4, Numeric::srgb, 3, {}},
    {VK_FORMAT_BC1_RGBA_UNORM_BLOCK, "bc1_rgba_unorm_block", Compression::bc1_rgba, 8, 4, 4, Numeric::unorm, 4, {kRed5, kGreen6, kRed5, 1}},
    {VK_FORMAT_BC1_RGBA_SRGB_BLOCK, "bc1_rgba_srgb_block", Compression::bc1_rgba, 8, 4, 4, Numeric::srgb, 4, {0, 0, 0, 1}},
    {VK_FORMAT_BC2_UNORM_BLOCK, "bc2_unorm_block", Compression::bc2, 16, 4, 4, Numeric::unorm, 4, {kRed5, kGreen6, kRed5, 15}},
    {VK_FORMAT_BC2_SRGB_BLOCK, "bc2_srgb_block", Compression::bc2, 16, 4, 4, Numeric::srgb, 4, {0, 0, 0, 15}},
    {VK_FORMAT_BC3_UNORM_BLOCK, "bc3_unorm_block", Compression::bc3, 16, 4, 4, Numeric::unorm, 4, {kRed5, kGreen6, kRed5, kAlpha8}},
    {VK_FORMAT_BC3_SRGB_BLOCK, "bc3_srgb_block", Compression::bc3, 16, 4, 4, Numeric::srgb, 4, {0, 0, 0, kAlpha8}},
    {VK_FORMAT_BC4_UNORM_BLOCK, "bc4_unorm_block", Compression::bc4, 8, 4, 4, Numeric::unorm, 1, {kAlpha8}},
    {VK_FORMAT_BC4_SNORM_BLOCK, "bc4_snorm_block", Compression::bc4, 8, 4, 4, Numeric::snorm, 1, {kSigned8}},
    {VK_FORMAT_BC5_UNORM_BLOCK, "bc5_unorm_block", Compression::bc5, 16, 4, 4, Numeric::unorm, 2, {kAlpha8, kAlpha8}},
    {VK_FORMAT_BC5_SNORM_BLOCK, "bc5_snorm_block", Compression::bc5, 16, 4, 4, Numeric::snorm, 2, {kSigned8, kSigned8}},
    {VK_FORMAT_BC6H_UFLOAT_BLOCK, "bc6h_ufloat_block", Compression::bc6h, 16, 4, 4, Numeric::ufloat, 3, {}},
    {VK_FORMAT_BC6H_SFLOAT_BLOCK, "bc6h_sfloat_block", Compression::bc6h, 16, 4, 4, Numeric::sfloat, 3, {}},
    {VK_FORMAT_BC7_UNORM_BLOCK, "bc7_unorm_block", Compression::bc7, 16, 4, 4, Numeric::unorm, 4, {255, 255, 255, 255}},
    {VK_FORMAT_BC7_SRGB_BLOCK, "bc7_srgb_block", Compression::bc7, 16, 4, 4, Numeric::srgb, 4, {0, 0, 0, 255}},
    {VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, "etc2_r8g8b8_unorm_block", Compression::etc2_rgb, 8, 4, 4, Numeric::unorm, 3, {255, 255, 255}},
    {VK_FORMAT_ETC2_R8G8B8_SRGB_BLOCK, "etc2_r8g8b8_srgb_block", Compression::etc2_rgb, 8, 4, 4, Numeric::srgb, 3, {}},
    {VK_FORMAT_ETC2_R8G8B8A1_UNORM_BLOCK,
     "etc2_r8g8b8a1_unorm_block",
     Compression::etc2_rgb_a1,
     8,
     4,
     4,
     Numeric::unorm,
     4,
     {255, 255, 255, 1}},
    {VK_FORMAT_ETC2_R8G8B8A1_SRGB_BLOCK, "etc2_r8g8b8a1_srgb_block", Compression::etc2_rgb_a1, 8, 4, 4, Numeric::srgb, 4, {0, 0, 0, 1}},
    {VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK,
     "etc2_r8g8b8a8_unorm_block",
     Compression::etc2_rgba,
     16,
     4,
     4,
     Numeric::unorm,
     4,
     {255, 255, 255, 255}},
    {VK_FORMAT_ETC2_R8G8B8A8_SRGB_BLOCK, "etc2_r8g8b8a8_srgb_block", Compression::etc2_rgba, 16, 4, 4, Numeric::srgb, 4, {0, 0, 0, 255}},
    {VK_FORMAT_EAC_R11_UNORM_BLOCK, "eac_r11_unorm_block", Compression::eac_r11, 8, 4, 4, Numeric::unorm, 1, {2047}},
    {VK_FORMAT_EAC_R11_SNORM_BLOCK, "eac_r11_snorm_block", Compression::eac_r11, 8, 4, 4, Numeric::snorm, 1, {1023}},
    {VK_FORMAT_EAC_R11G11_UNORM_BLOCK, "eac_r11g11_unorm_block", Compression::eac_r11g11, 16, 4, 4, Numeric::unorm, 2, {2047, 2047}},
    {VK_FORMAT_EAC_R11G11_SNORM_BLOCK, "eac_r11g11_snorm_block", Compression::eac_r11g11, 16, 4, 4, Numeric::snorm, 2, {1023, 1023}},
    TILEGPU_ASTC(4, 4),
    TILEGPU_ASTC(5, 4),
    TILEGPU_ASTC(5, 5),
    TILEGPU_ASTC(6, 5),
    TILEGPU_ASTC(6, 6),
    TILEGPU_ASTC(8, 5),
    TILEGPU_ASTC(8, 6),
    TILEGPU_ASTC(8, 8),
    TILEGPU_ASTC(10, 5),
    TILEGPU_ASTC(10, 6),
    TILEGPU_ASTC(10, 8),
    TILEGPU_ASTC(10, 10),
    TILEGPU_ASTC(12, 10),
    TILEGPU_ASTC(12, 12),
};

struct YcbcrRow {
  static constexpr Numeric numeric = Numeric::unorm;
  VkFormat format;
  const char* name;
  uint8_t bits, word_B;    // of a component, and of the word whose highest bits it is
  uint8_t plane_count;     // 1: packed, blocks of two texels
  uint8_t x_log2, y_log2;  // of chroma
  bool luma_first;         // packed: G B G R, else B G R G
};

// N: a component's letter goes before it (8, 10X6); P3, P4: what the name ends with.
#define TILEGPU_PLANES(N, n, bits, word_B, P3, p3, layout, x, y)                                                                         \
  {VK_FORMAT_G##N##_B##N##_R##N##_3PLANE_##layout##_UNORM##P3,                                                                           \
   "g" #n "_b" #n "_r" #n "_3plane_" #layout "_unorm" p3,                                                                                \
   bits,                                                                                                                                 \
   word_B,                                                                                                                               \
   3,                                                                                                                                    \
   x,                                                                                                                                    \
   y,                                                                                                                                    \
   false},                                                                                                                               \
  {                                                                                                                                      \
    VK_FORMAT_G##N##_B##N##R##N##_2PLANE_##layout##_UNORM##P3, "g" #n "_b" #n "r" #n "_2plane_" #layout "_unorm" p3, bits, word_B, 2, x, \
        y, false                                                                                                                         \
  }
#define TILEGPU_YCBCR(N, n, bits, word_B, P3, p3, P4, p4)                                                                            \
  {VK_FORMAT_G##N##B##N##G##N##R##N##_422_UNORM##P4, "g" #n "b" #n "g" #n "r" #n "_422_unorm" p4, bits, word_B, 1, 1, 0, true},      \
      {VK_FORMAT_B##N##G##N##R##N##G##N##_422_UNORM##P4, "b" #n "g" #n "r" #n "g" #n "_422_unorm" p4, bits, word_B, 1, 1, 0, false}, \
      TILEGPU_PLANES(N, n, bits, word_B, P3, p3, 420, 1, 1), TILEGPU_PLANES(N, n, bits, word_B, P3, p3, 422, 1, 0),                  \
      TILEGPU_PLANES(N, n, bits, word_B, P3, p3, 444, 0, 0)

constexpr YcbcrRow kYcbcrRows[] = {
    TILEGPU_YCBCR(8, 8, 8, 1, , "", , ""),
    TILEGPU_YCBCR(10X6, 10x6, 10, 2, _3PACK16, "_3pack16", _4PACK16, "_4pack16"),
    TILEGPU_YCBCR(12X4, 12x4, 12, 2, _3PACK16, "_3pack16", _4PACK16, "_4pack16"),
    TILEGPU_YCBCR(16, 16, 16, 2, , "", , ""),
};

/// What rows of all four tables say.
constexpr FormatInfo named(const auto& row, uint8_t texel_B) {
  FormatInfo info;
  info.format = row.format, info.name = row.name;
  info.numeric = row.numeric;
  info.texel_B = texel_B;
  return info;
}

constexpr FormatInfo info_of(const Row& row) {
  FormatInfo info = named(row, row.texel_B);
  info.rgba = row.rgba;
  info.component_count = static_cast<uint8_t>(std::count_if(row.rgba.begin(), row.rgba.end(), [](Component c) { return c.bits != 0; }));
  info.vertex = row.uses & kVertex;
  info.sampled = row.uses & kSampled;
  info.linear_filter = row.uses & kFilter;
  info.color_attachment = row.uses & kColor;
  info.blend = row.uses & kBlend;
  info.storage = row.uses & kStorage;
  return info;
}

constexpr FormatInfo info_of(const DepthRow& row) {
  FormatInfo info = named(row, row.texel_B);
  info.component_count = 1;
  info.rgba[0] = {row.depth_bits ? row.depth_bits : row.stencil_bits, 0};
  info.depth_bits = row.depth_bits;
  info.stencil_bits = row.stencil_bits;
  info.sampled = true;
  info.linear_filter = row.depth_bits != 0;
  return info;
}

constexpr FormatInfo info_of(const CompressedRow& row) {
  FormatInfo info = named(row, row.block_B);
  info.component_count = row.component_count;
  for (uint8_t c = 0; c < row.component_count; ++c) info.rgba[c] = {16, 0};
  info.sampled = info.linear_filter = true;
  info.compression = row.compression;
  info.block_width_px = row.block_width_px, info.block_height_px = row.block_height_px;
  info.code_maximum = row.code_maximum;
  return info;
}

constexpr VkFormat plane_format(const YcbcrRow& row, bool two) {
  if (row.bits == 8) return two ? VK_FORMAT_R8G8_UNORM : VK_FORMAT_R8_UNORM;
  if (row.bits == 10) return two ? VK_FORMAT_R10X6G10X6_UNORM_2PACK16 : VK_FORMAT_R10X6_UNORM_PACK16;
  if (row.bits == 12) return two ? VK_FORMAT_R12X4G12X4_UNORM_2PACK16 : VK_FORMAT_R12X4_UNORM_PACK16;
  return two ? VK_FORMAT_R16G16_UNORM : VK_FORMAT_R16_UNORM;
}

constexpr FormatInfo info_of(const YcbcrRow& row) {
  const bool packed = row.plane_count == 1;
  FormatInfo info = named(row, static_cast<uint8_t>(packed ? 4 * row.word_B : row.word_B));
  info.component_count = 3;
  info.sampled = info.linear_filter = true;
  info.plane_count = row.plane_count;
  info.chroma_x_log2 = row.x_log2, info.chroma_y_log2 = row.y_log2;
  const uint8_t word_bits = static_cast<uint8_t>(8 * row.word_B), low = static_cast<uint8_t>(word_bits - row.bits);
  const auto in_word = [&](int n) { return Component{row.bits, static_cast<uint8_t>(n * word_bits + low)}; };
  if (packed) {
    info.block_width_px = 2;
    info.rgba = row.luma_first ? std::array<Component, 4>{in_word(3), in_word(0), in_word(1), {}}
                               : std::array<Component, 4>{in_word(2), in_word(1), in_word(0), {}};
    return info;
  }
  info.rgba = {in_word(row.plane_count == 2 ? 1 : 0), in_word(0), in_word(0), {}};
  info.planes[0] = {plane_format(row, false), 0, 0};
  for (uint8_t k = 1; k < row.plane_count; ++k) info.planes[k] = {plane_format(row, row.plane_count == 2), row.x_log2, row.y_log2};
  return info;
}

// Made by the compiler: a process that asks for a few formats builds no table.
constexpr size_t kCount = std::size(kRows) + std::size(kDepthRows) + std::size(kCompressedRows) + std::size(kYcbcrRows);
using Infos = std::array<FormatInfo, kCount>;

constexpr Infos make_infos() {
  Infos infos;
  size_t k = 0;
  for (const Row& row : kRows) infos[k++] = info_of(row);
  for (const DepthRow& row : kDepthRows) infos[k++] = info_of(row);
  for (const CompressedRow& row : kCompressedRows) infos[k++] = info_of(row);
  for (const YcbcrRow& row : kYcbcrRows) infos[k++] = info_of(row);
  return infos;
}

constexpr Infos sorted(Infos infos, auto key) {
  std::sort(infos.begin(), infos.end(), [&](const FormatInfo& x, const FormatInfo& y) { return key(x) < key(y); });
  return infos;
}

constexpr auto format_of = [](const FormatInfo& info) { return info.format; };
constexpr auto name_of = [](const FormatInfo& info) { return std::string_view(info.name); };
constexpr Infos kByFormat = sorted(make_infos(), format_of);

/// Places in kByFormat of Vulkan 1.0's formats, which are small numbers.
constexpr uint8_t kNowhere = 255;
constexpr std::array<uint8_t, 256> kPlaces = [] {
  static_assert(kCount < kNowhere);
  std::array<uint8_t, 256> places;
  places.fill(kNowhere);
  for (size_t k = 0; k < kCount; ++k)
    if (static_cast<size_t>(kByFormat[k].format) < places.size()) places[kByFormat[k].format] = static_cast<uint8_t>(k);
  return places;
}();

/// Places in kByFormat, by name: there is one FormatInfo of a format, whichever way it was found.
constexpr std::array<uint8_t, kCount> kByName = [] {
  std::array<uint8_t, kCount> places{};
  for (size_t k = 0; k < kCount; ++k) places[k] = static_cast<uint8_t>(k);
  std::sort(places.begin(), places.end(), [](uint8_t x, uint8_t y) { return name_of(kByFormat[x]) < name_of(kByFormat[y]); });
  return places;
}();

// Every format once, under one name.
static_assert(std::adjacent_find(kByFormat.begin(), kByFormat.end(), [](const auto& x, const auto& y) { return x.format == y.format; }) ==
              kByFormat.end());
static_assert(std::adjacent_find(kByName.begin(), kByName.end(),
                                 [](uint8_t x, uint8_t y) { return name_of(kByFormat[x]) == name_of(kByFormat[y]); }) == kByName.end());

}  // namespace

std::span<const FormatInfo> all_formats() { return kByFormat; }

const FormatInfo* find_format(VkFormat format) {
  const auto value = static_cast<uint32_t>(format);
  if (value < kPlaces.size()) return kPlaces[value] == kNowhere ? nullptr : &kByFormat[kPlaces[value]];
  const auto found = std::lower_bound(kByFormat.begin(), kByFormat.end(), format,
                                      [](const FormatInfo& info, VkFormat wanted) { return info.format < wanted; });
  return found != kByFormat.end() && found->format == format ? &*found : nullptr;
}

const FormatInfo* find_format(const std::string& name) {
  std::string key = name;
  std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kPrefix = "vk_format_";
  if (key.starts_with(kPrefix)) key.erase(0, kPrefix.size());
  const auto found = std::lower_bound(kByName.begin(), kByName.end(), key,
                                      [](uint8_t place, const std::string& wanted) { return name_of(kByFormat[place]) < wanted; });
  return found != kByName.end() && name_of(kByFormat[*found]) == key ? &kByFormat[*found] : nullptr;
}

const char* why_no_attachment(VkFormat format, VkImageAspectFlagBits aspect) {
  const FormatInfo* info = find_format(format);
  switch (aspect) {
    case VK_IMAGE_ASPECT_DEPTH_BIT:
      return info && info->depth_bits
                 ? ""
                 : " has no depth; use d16_unorm, x8_d24_unorm_pack32, d24_unorm_s8_uint, d32_sfloat or d32_sfloat_s8_uint";
    case VK_IMAGE_ASPECT_STENCIL_BIT:
      return info && info->stencil_bits ? "" : " has no stencil; use s8_uint, d24_unorm_s8_uint or d32_sfloat_s8_uint";
    default:
      assert(aspect == VK_IMAGE_ASPECT_COLOR_BIT);
      return info && info->color_attachment ? "" : " can't be a colour attachment";
  }
}

}  // namespace tilegpu::vk

// What the interface says of formats stands here, and not in device/: rooms between use it for messages.
namespace tilegpu {

VkFormat format_from_name(const std::string& name) {
  const vk::FormatInfo* info = vk::find_format(name);
  return info ? info->format : VK_FORMAT_UNDEFINED;
}

std::string format_name(VkFormat format) {
  if (format == VK_FORMAT_UNDEFINED) return "none";
  const vk::FormatInfo* info = vk::find_format(format);
  return info ? info->name : "VkFormat " + std::to_string(static_cast<int>(format));
}

}  // namespace tilegpu
