// tilegpu/format.hpp -- Vulkan's format table: bits, order, numeric type, what a format may be used for; texels to numbers and back.
// In: a format. Out: its row; components of a texel.
// Source: Vulkan specification, chapter "Formats" (packed formats, fixed-point conversion, 10/11-bit floats, sRGB, planes).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <vulkan/vulkan_core.h>

#include "tilegpu/api.hpp"

namespace tilegpu::vk {

enum class Numeric : uint8_t { none, unorm, snorm, uscaled, sscaled, uint, sint, sfloat, ufloat, srgb };

struct Component {
  uint8_t bits = 0;   // 0: absent
  uint8_t shift = 0;  // bit offset from the texel's least significant bit (little endian)
};

/// One plane of a multi-planar format: rows of texels of their own, in as many columns and rows as the image has, divided by powers of two.
struct Plane {
  VkFormat format = VK_FORMAT_UNDEFINED;  // views of the plane are compatible with
  uint8_t x_log2 = 0, y_log2 = 0;
};

/// How a compressed format's texel blocks hold texels: Vulkan's compatibility classes of such formats (of ASTC: with the block's size).
enum class Compression : uint8_t {
  none,
  bc1_rgb,
  bc1_rgba,
  bc2,
  bc3,
  bc4,
  bc5,
  bc6h,
  bc7,
  etc2_rgb,
  etc2_rgb_a1,
  etc2_rgba,
  eac_r11,
  eac_r11g11,
  astc,
};

struct FormatInfo {
  VkFormat format = VK_FORMAT_UNDEFINED;
  const char* name = "undefined";  // Vulkan's, without prefix, lower case
  uint8_t texel_B = 0;             // of a texel; of compressed and packed 4:2:2 formats: of a texel block; of multi-planar ones: in plane 0
  uint8_t component_count = 0;     // colour components
  Numeric numeric = Numeric::none;  // of colour; depth formats: of depth
  std::array<Component, 4> rgba{};  // in R, G, B, A order whatever the memory order; compressed: bits only say what is there; multi-planar:
                                    // each in its plane; packed 4:2:2: G is that of the even column
  uint8_t depth_bits = 0, stencil_bits = 0;
  bool vertex = false, sampled = false, linear_filter = false, color_attachment = false, blend = false;
  bool storage = false;  // storage images, uniform and storage texel buffers
  Compression compression = Compression::none;
  uint8_t block_width_px = 1, block_height_px = 1;  // of a texel block
  /// Of compressed formats: a component is decoded to a whole number, which stands for itself divided by this; 0: to the value.
  std::array<uint16_t, 4> code_maximum{};
  uint8_t plane_count = 1;
  std::array<Plane, 3> planes{};                 // of multi-planar formats
  uint8_t chroma_x_log2 = 0, chroma_y_log2 = 0;  // R and B are there once for 1 << log2 columns, rows
  bool is_compressed() const { return compression != Compression::none; }
  bool is_multi_planar() const { return plane_count > 1; }
  /// Luma and chroma lie apart: only views with a sampler Y'CbCr conversion can be sampled, and none be rendered to.
  bool needs_conversion() const { return is_multi_planar() || chroma_x_log2 != 0; }
  /// Cubic filters, in samplers and blits (these of colour alone).
  bool filters_cubic() const { return linear_filter && !needs_conversion(); }
  /// How many texel blocks hold so many texels.
  uint32_t blocks_x(uint32_t width_px) const { return (width_px + block_width_px - 1) / block_width_px; }
  uint32_t blocks_y(uint32_t height_px) const { return (height_px + block_height_px - 1) / block_height_px; }
  bool is_depth_stencil() const { return depth_bits || stencil_bits; }
  /// Uniform texel buffers: those of three components are read there only.
  bool is_texel_buffer() const { return storage || texel_B == 12; }
  /// Shaders may do atomic operations on texels in images and texel buffers.
  bool is_atomic() const {
    return format == VK_FORMAT_R32_UINT || format == VK_FORMAT_R32_SINT || format == VK_FORMAT_R32_SFLOAT || format == VK_FORMAT_R64_UINT ||
           format == VK_FORMAT_R64_SINT;
  }
  bool is_integer() const { return numeric == Numeric::uint || numeric == Numeric::sint; }
};

/// All that the device knows, by VkFormat.
TILEGPU_API std::span<const FormatInfo> all_formats();

/// Null for formats that the device does not know.
TILEGPU_API const FormatInfo* find_format(VkFormat format);
TILEGPU_API const FormatInfo* find_format(const std::string& name);  // any case, with or without VK_FORMAT_

/// A texel as four components: floats, or 32-bit integers in the same bits for *_UINT and *_SINT.
union Texel {
  float f[4];
  uint32_t u[4];
  int32_t i[4];
};

/// Absent components read 0, 0, 0, 1. Exact: round to nearest even, sRGB within 0.6 ulp of 8 bits, NaN to 0 in fixed point.
/// Integers saturate. NaNs stored as floats become canonical (quiet, positive). Depth formats hold depth in f[0], S8_UINT stencil in
/// u[0]; packing depth into D24S8 keeps the stencil bits and into X8_D24 clears nothing but the low 24. D32S8: the depth plane.
/// Not for compressed formats, whose texels are in blocks: unpack_image_row.
TILEGPU_API Texel unpack_texel(const FormatInfo& format, const uint8_t* bytes);
TILEGPU_API void pack_texel(const FormatInfo& format, const Texel& texel, uint8_t* bytes);

/// Of a row `y_px` of an image's level, of every format: `blocks` is its first row of texels or texel blocks, and the next one lies
/// `pitch_B` behind it.
TILEGPU_API void unpack_image_row(const FormatInfo& format, const uint8_t* blocks, uint64_t pitch_B, uint32_t y_px, uint32_t count,
                                  Texel* texels);

TILEGPU_API float unorm_to_depth(uint32_t value, int bits);

}  // namespace tilegpu::vk
