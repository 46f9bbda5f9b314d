// fuzz/common/texel_model.hpp -- what a texel's bytes stand for, read from the name of its format.
//
// In: a format's name as Vulkan has it (r5g6b5_unorm_pack16), bytes. Out: four numbers in double precision, exact where they are no sRGB.
// Nothing of the core's format table is used but the name, so that a wrong row of it is seen. Source: Vulkan specification, "Format
// Definition" (packed formats: the first component has the highest bits), "Conversion from Normalized Fixed-Point to Floating-Point",
// "16-Bit Floating-Point Numbers" and the unsigned 11- and 10-bit ones, the formula of E5B9G9R9; Khronos Data Format Specification, sRGB.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilegpu::fuzz {

/// Floats, or integers as they are.
using Color = std::array<double, 4>;

class TexelModel {
 public:
  /// `stencil`: that aspect of a format with both.
  TexelModel(const std::string& name, bool stencil);
  /// Not of names of block-compressed and multi-planar formats.
  static bool knows(const std::string& name);
  Color read(const uint8_t* texel) const;
  uint32_t size_B() const { return size_B_; }
  bool is_integer() const { return numeric_ == "uint" || numeric_ == "sint"; }
  bool is_float() const { return numeric_ == "sfloat" || numeric_ == "ufloat"; }
  bool is_depth() const { return is_depth_; }
  /// The number that a texel's component has for a value: codes of fixed point, else the value, rounded. `unsure`: roundings decide.
  double code_of(uint32_t channel, double value, bool& unsure) const;
  double value_of(uint32_t channel, double code) const;
  /// 0: there is none.
  uint32_t bits_of(uint32_t channel) const;
  bool is_signed() const { return numeric_ == "snorm" || numeric_ == "sint"; }
  bool is_fixed() const { return numeric_ == "unorm" || numeric_ == "snorm" || numeric_ == "srgb"; }
  bool is_srgb() const { return numeric_ == "srgb"; }
  /// Red, green, blue, alpha.
  std::array<bool, 4> present() const;

 private:
  struct Field {
    char letter;
    uint32_t bits, shift;  // from the texel's first byte on, little endian
  };
  double number(const Field& field, uint64_t bits) const;

  std::string numeric_;
  std::vector<Field> fields_;
  uint32_t size_B_ = 0, exponent_bits_ = 0;  // the latter: of E5B9G9R9, shared
  bool is_depth_ = false;
};

double float_of_bits(uint32_t bits, uint32_t exponent_bits, uint32_t mantissa_bits, bool is_signed);

}  // namespace tilegpu::fuzz
