// fuzz/common/texel_model.cpp -- see texel_model.hpp.
#include "common/texel_model.hpp"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <limits>

namespace tilegpu::fuzz {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// "r5g6b5" of "r5g6b5_unorm_pack16"; then "unorm"; then what follows.
struct Parts {
  std::string fields, numeric, packed;
};

Parts parts_of(const std::string& name) {
  const size_t first = name.find('_'), second = name.find('_', first + 1);
  Parts p{name.substr(0, first), name.substr(first + 1, second == std::string::npos ? second : second - first - 1), ""};
  if (second != std::string::npos) p.packed = name.substr(second + 1);
  return p;
}

int channel_of(char letter) {
  const size_t at = std::string("rgba").find(letter);
  return at == std::string::npos ? -1 : static_cast<int>(at);
}

double linear_of_srgb(double code) { return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4); }

}  // namespace

double float_of_bits(uint32_t bits, uint32_t exponent_bits, uint32_t mantissa_bits, bool is_signed) {
  assert(exponent_bits + mantissa_bits + (is_signed ? 1u : 0u) <= 32);
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1), most = (1u << exponent_bits) - 1;
  const uint32_t exponent = bits >> mantissa_bits & most;
  const int bias = static_cast<int>(most >> 1);
  const double sign = is_signed && bits >> (mantissa_bits + exponent_bits) & 1 ? -1 : 1,
               unit = std::ldexp(1.0, -static_cast<int>(mantissa_bits));
  if (exponent == most) return mantissa ? kNan : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa * unit, 1 - bias);
  return sign * std::ldexp(1 + mantissa * unit, static_cast<int>(exponent) - bias);
}

bool TexelModel::knows(const std::string& name) {
  if (name.find("block") != std::string::npos || name.find("plane") != std::string::npos || name.find("422") != std::string::npos)
    return false;
  return name.find('_') != std::string::npos && name.substr(0, name.find('_')).find("64") == std::string::npos;
}

TexelModel::TexelModel(const std::string& name, bool stencil) {
  assert(knows(name));
  Parts parts = parts_of(name);
  const bool separate = name == "d32_sfloat_s8_uint";
  if (name.find("s8_uint") != std::string::npos && name[0] != 's' && (stencil || separate)) {
    // Both aspects: of 24 bits they share a word, depth in the low ones; of 32 each has texels of its own.
    if (stencil) fields_ = {{'s', 8, separate ? 0u : 24u}}, numeric_ = "uint", size_B_ = separate ? 1 : 4;
    if (!stencil) fields_ = {{'d', 32, 0}}, numeric_ = "sfloat", size_B_ = 4, is_depth_ = true;
    return;
  }
  if (name == "x8_d24_unorm_pack32" || name == "d24_unorm_s8_uint") {
    fields_ = {{'d', 24, 0}}, numeric_ = "unorm", size_B_ = 4, is_depth_ = true;
    return;
  }
  numeric_ = parts.numeric;
  uint32_t total = 0;
  for (size_t at = 0; at < parts.fields.size();) {
    const char letter = parts.fields[at++];
    uint32_t bits = 0;
    while (at < parts.fields.size() && std::isdigit(static_cast<unsigned char>(parts.fields[at])))
      bits = bits * 10 + static_cast<uint32_t>(parts.fields[at++] - '0');
    fields_.push_back({letter, bits, total});
    total += bits;
  }
  size_B_ = total / 8;
  is_depth_ = fields_[0].letter == 'd';
  // One word: the first component has the highest bits. Words of 16 bits each (4pack16) have theirs above what is unused.
  const bool one_word = parts.packed.rfind("pack", 0) == 0, words = !one_word && parts.packed.find("pack16") != std::string::npos;
  uint32_t shift = 0;
  for (Field& field : fields_) {
    if (one_word) field.shift = total - field.shift - field.bits;
    if (words && field.letter != 'x') field.shift = shift / 16 * 16 + 16 - field.bits;
    shift += field.bits;
  }
  for (const Field& field : fields_)
    if (field.letter == 'e') exponent_bits_ = field.bits;
  assert(total % 8 == 0 && size_B_ >= 1 && size_B_ <= 16);
}

std::array<bool, 4> TexelModel::present() const {
  std::array<bool, 4> there{};
  for (const Field& field : fields_) {
    if (const int channel = channel_of(field.letter); channel >= 0) there[static_cast<size_t>(channel)] = true;
    if (field.letter == 'd' || field.letter == 's') there[0] = true;
  }
  return there;
}

uint32_t TexelModel::bits_of(uint32_t channel) const {
  for (const Field& field : fields_)
    if (channel_of(field.letter) == static_cast<int>(channel)) return field.bits;
  return 0;
}

double TexelModel::value_of(uint32_t channel, double code) const {
  if (!is_fixed()) return code;
  const double most = (numeric_ == "snorm" ? std::ldexp(1.0, static_cast<int>(bits_of(channel)) - 1)
                                           : std::ldexp(1.0, static_cast<int>(bits_of(channel)))) -
                      1;
  return is_srgb() && channel < 3 ? linear_of_srgb(code / most) : std::max(code / most, -1.0);
}

double TexelModel::code_of(uint32_t channel, double value, bool& unsure) const {
  const uint32_t bits = bits_of(channel);
  if (!bits || is_integer() || (is_float() && bits == 32)) return value;
  assert(bits <= 16);
  double scaled = value, unit = 1, near = 0.02;
  if (is_float()) {
    const int exponent = value == 0 ? -14 : std::max(static_cast<int>(std::floor(std::log2(std::abs(value)))), -14);
    unit = std::ldexp(1.0, exponent - 10), scaled = value / unit;
  } else {
    const double most = std::ldexp(1.0, static_cast<int>(bits) - (numeric_ == "snorm" ? 1 : 0)) - 1;
    const double clamped = std::clamp(value, numeric_ == "snorm" ? -1.0 : 0.0, 1.0);
    const bool curved = is_srgb() && channel < 3;
    scaled = (curved ? (clamped <= 0.0031308 ? clamped * 12.92 : 1.055 * std::pow(clamped, 1 / 2.4) - 0.055) : clamped) * most;
    near = curved ? 0.11 : 1e-3 + most * 4e-7;  // encoding is within 0.6 of a code
  }
  unsure |= std::abs(scaled - std::floor(scaled) - 0.5) < near;
  return std::nearbyint(scaled) * unit;
}

double TexelModel::number(const Field& field, uint64_t bits) const {
  assert(field.bits >= 1 && field.bits <= 32);
  const auto most = static_cast<double>((uint64_t{1} << field.bits) - 1);
  const bool negative = bits >> (field.bits - 1) & 1;
  const double as_signed = static_cast<double>(bits) - (negative ? most + 1 : 0);
  if (numeric_ == "uint") return static_cast<double>(bits);
  if (numeric_ == "sint") return as_signed;
  if (numeric_ == "snorm") return std::max(as_signed / ((most - 1) / 2), -1.0);
  if (numeric_ == "unorm") return static_cast<double>(bits) / most;
  if (numeric_ == "srgb") return field.letter == 'a' ? static_cast<double>(bits) / most : linear_of_srgb(static_cast<double>(bits) / most);
  const auto low = static_cast<uint32_t>(bits);
  if (numeric_ == "ufloat") return float_of_bits(low, 5, field.bits - 5, false);
  return field.bits == 16 ? float_of_bits(low, 5, 10, true) : float_of_bits(low, 8, 23, true);
}

Color TexelModel::read(const uint8_t* texel) const {
  Color color = {0, 0, 0, 1};
  double shared = 1;
  const auto bits_of = [&](const Field& field) {
    uint64_t bits = 0;
    for (uint32_t k = 0; k < field.bits; ++k) bits |= uint64_t{(texel[(field.shift + k) / 8] >> ((field.shift + k) % 8) & 1u)} << k;
    return bits;
  };
  for (const Field& field : fields_)
    if (field.letter == 'e') shared = std::ldexp(1.0, static_cast<int>(bits_of(field)) - 15 - 9);
  for (const Field& field : fields_) {
    const int channel = field.letter == 'd' || field.letter == 's' ? 0 : channel_of(field.letter);
    if (channel < 0) continue;
    const uint64_t bits = bits_of(field);
    color[static_cast<size_t>(channel)] = exponent_bits_ ? static_cast<double>(bits) * shared : number(field, bits);
  }
  return color;
}

}  // namespace tilegpu::fuzz
