// vk/format.hpp -- conversions between texels and numbers that the public format table (tilegpu/format.hpp) is made of, by the row too.
// In: bits. Out: numbers, and back.
// Source: Vulkan specification, chapter "Formats" (fixed-point conversion, 10/11-bit floats, sRGB).
#pragma once

#include "tilegpu/format.hpp"

namespace tilegpu::vk {

/// Rows of texels; the same results as the scalar functions, with fast paths for the usual formats.
void unpack_row(const FormatInfo& format, const uint8_t* bytes, uint32_t count, Texel* texels);
void pack_row(const FormatInfo& format, const Texel* texels, uint32_t count, uint8_t* bytes);

/// sRGB's code to linear: up to code 10 the code times kSrgbLinearScale, above the polynomial by fused multiply-adds, the highest power
/// (the last coefficient) first.
inline constexpr int kSrgbLastLinearCode = 10;
inline constexpr float kSrgbLinearScale = 0x1.3e4568p-12f;
inline constexpr float kSrgbPolynomial[8] = {0x1.c06216p-11f,  0x1.21d3dap-13f, 0x1.f6a1dcp-18f,  0x1.b586d6p-25f,
                                             -0x1.92d544p-33f, 0x1.70f640p-41f, -0x1.9f0a80p-50f, 0x1.949e8cp-60f};
extern const float kSrgbToLinear[256];                               // these values
extern const float kLinearToSrgbThreshold[257];                      // [i]: the smallest float whose code is i or more; [256] is infinity
extern const float kLinearToSrgbBase[104], kLinearToSrgbSlope[104];  // first guess, see srgb.cpp
float srgb_to_linear(uint8_t value);
uint8_t linear_to_srgb(float value);
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float ufloat_to_float(uint32_t bits, int mantissa_bits);  // 11- and 10-bit floats: 6 and 5 mantissa bits
uint32_t float_to_ufloat(float value, int mantissa_bits);
uint32_t depth_to_unorm(float depth, int bits);  // clamps, round to nearest even

/// Why attachments of this aspect can't have the format, to follow its name, with what to use; empty: they can.
const char* why_no_attachment(VkFormat format, VkImageAspectFlagBits aspect);

}  // namespace tilegpu::vk
