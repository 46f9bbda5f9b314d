// shader/ir/format_pack.hpp -- emitters: texel words to four components and back, for the epilogue (blending, quantisation) and samplers.
//
// In: i32 words (a texel of up to 4 bytes in one word's low bits, wider ones in 2 or 4), any shape. Out: four f32 (bit patterns for
// integer formats), and the way back. Bit for bit what vk::unpack_texel and vk::pack_texel do for colour formats.
#pragma once

#include <array>

#include "shader/ir/ir_builder.hpp"
#include "vk/format.hpp"

namespace tilegpu::shader {

/// v / maximum correctly rounded, for integers 0..maximum as floats: a multiplication and a fused one, verified for every value of
/// maximum = 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 4095, 32767, 65535, 2^24-1.
Value emit_divide_by_maximum(const Ir& ir, Value v, uint32_t maximum);
/// Raw bits (zero-extended) of one component to f32; `alpha`: sRGB's linear component.
Value emit_unpack_component(const Ir& ir, vk::Numeric numeric, Value raw, uint32_t component_bits, bool alpha);
/// Absent components are 0, 0, 0, 1.
std::array<Value, 4> emit_unpack_texel(const Ir& ir, const vk::FormatInfo& format, const Value* words);

/// What is known about a component, to leave clamps out.
struct PackHints {
  bool above_zero = false;  // not NaN and not below 0 (UNORM, sRGB)
  bool below_one = false;   // not NaN and not above 1 by more than 2^-20 (UNORM, not sRGB)
};
/// Writes format words; bits outside the components are 0. Needs control flow for sRGB (a rare exact path).
void emit_pack_texel(const Ir& ir, const vk::FormatInfo& format, const std::array<Value, 4>& rgba, Value* words,
                     const std::array<PackHints, 4>& hints = {});

/// Words of a texel in tile memory: 1, 2 or 4.
inline uint32_t texel_words(const vk::FormatInfo& format) { return format.texel_B <= 4 ? 1u : format.texel_B / 4u; }
/// Bits of word w that the components in `write_mask` (VkColorComponentFlags) occupy.
uint32_t component_mask(const vk::FormatInfo& format, uint32_t word, uint32_t write_mask);

/// A private constant array of floats in the module (made once by name).
Value constant_table(const Ir& ir, const char* name, const float* values, uint32_t count);
/// sRGB's 8-bit code (i32, 0..255) to linear f32: the bits of vk::kSrgbToLinear.
Value emit_srgb_to_linear(const Ir& ir, Value code);
/// Whether texels of that format are decoded all at once (srgb_tables.cpp).
bool has_srgb_tables(const Ir& ir, const vk::FormatInfo& format, Value word);
/// Red, green and blue, with the bits of emit_srgb_to_linear.
std::array<Value, 3> emit_srgb_texels(const Ir& ir, const vk::FormatInfo& format, Value words);
/// The same of four times as many.
std::array<std::array<Value, 3>, 4> emit_four_srgb_texels(const Ir& ir, const vk::FormatInfo& format, const std::array<Value, 4>& words);

}  // namespace tilegpu::shader
