// test_formats.cpp -- every format against naive double-precision formulas that know nothing of the core's code.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "vk/format.hpp"

using namespace tilegpu;
using vk::FormatInfo;

namespace {

std::vector<const FormatInfo*> all_formats() {
  std::vector<const FormatInfo*> list;
  for (int i = 0; i < 200; ++i) {
    const FormatInfo* f = vk::find_format(static_cast<VkFormat>(i));
    if (f && !f->is_compressed()) list.push_back(f);  // those are tests/test_compressed_formats.py's
  }
  for (VkFormat f : {VK_FORMAT_A4R4G4B4_UNORM_PACK16, VK_FORMAT_A4B4G4R4_UNORM_PACK16, VK_FORMAT_R10X6_UNORM_PACK16,
                     VK_FORMAT_R10X6G10X6_UNORM_2PACK16, VK_FORMAT_R10X6G10X6B10X6A10X6_UNORM_4PACK16, VK_FORMAT_R12X4_UNORM_PACK16,
                     VK_FORMAT_R12X4G12X4_UNORM_2PACK16, VK_FORMAT_R12X4G12X4B12X4A12X4_UNORM_4PACK16})
    list.push_back(vk::find_format(f));
  return list;
}

/// Where Vulkan's name says that each component is: parsed from the name, not from the table.
struct Parsed {
  int bits[4] = {}, shift[4] = {};
  std::string numeric;
  bool packed = false;
  int total = 0;
};

Parsed parse(const std::string& name) {
  Parsed p;
  const size_t pack = name.find("pack");
  p.packed = pack != std::string::npos;
  const int words = p.packed && std::isdigit(static_cast<unsigned char>(name[pack - 1])) ? name[pack - 1] - '0' : 1;
  size_t i = 0;
  std::vector<std::pair<char, int>> order;
  while (name[i] != '_') {
    const char c = name[i++];
    int bits = 0;
    while (std::isdigit(static_cast<unsigned char>(name[i]))) bits = bits * 10 + (name[i++] - '0');
    order.emplace_back(c, bits);
    p.total += bits;
  }
  const size_t end = name.find('_', i + 1);
  p.numeric = name.substr(i + 1, end == std::string::npos ? std::string::npos : end - i - 1);
  int at = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    const auto [c, bits] = order[k];
    const int index = c == 'r' ? 0 : c == 'g' ? 1 : c == 'b' ? 2 : 3;
    const size_t of_word = order.size() / static_cast<size_t>(words);
    if (p.packed && k % of_word == 0) at = static_cast<int>(k / of_word + 1) * p.total / words;  // a word begins at its highest bit
    if (p.packed) at -= bits;
    if (c != 'x') p.bits[index] = bits, p.shift[index] = at;
    if (!p.packed) at += bits;
  }
  return p;
}

uint64_t bits_at(const uint8_t* bytes, int shift, int bits) {
  uint64_t value = 0;
  for (int b = 0; b < bits; ++b) value |= static_cast<uint64_t>(bytes[(shift + b) / 8] >> ((shift + b) % 8) & 1) << b;
  return value;
}

double small_float(uint64_t code, int exponent_bits, int mantissa_bits, bool has_sign) {
  const uint64_t mantissa = code & ((1ull << mantissa_bits) - 1);
  const int exponent = static_cast<int>(code >> mantissa_bits & ((1 << exponent_bits) - 1));
  const bool negative = has_sign && (code >> (mantissa_bits + exponent_bits) & 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double value;
  if (exponent == (1 << exponent_bits) - 1) {
    value = mantissa ? NAN : INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp(1.0 + std::ldexp(static_cast<double>(mantissa), -mantissa_bits), exponent - bias);
  }
  return negative ? -value : value;
}

double srgb_decode(double e) { return e <= 0.04045 ? e / 12.92 : std::pow((e + 0.055) / 1.055, 2.4); }
double srgb_encode(double l) { return l <= 0.0031308 ? l * 12.92 : 1.055 * std::pow(l, 1 / 2.4) - 0.055; }

/// The real value of a code.
double decode(const Parsed& p, int c, uint64_t code) {
  const int bits = p.bits[c];
  const double top = std::ldexp(1.0, bits) - 1, signed_top = std::ldexp(1.0, bits - 1) - 1;
  const double as_signed = code >> (bits - 1) & 1 ? static_cast<double>(code) - std::ldexp(1.0, bits) : static_cast<double>(code);
  if (p.numeric == "unorm" || (p.numeric == "srgb" && c == 3)) return static_cast<double>(code) / top;
  if (p.numeric == "snorm") return std::max(as_signed / signed_top, -1.0);
  if (p.numeric == "srgb") return srgb_decode(static_cast<double>(code) / 255);
  if (bits == 64) {  // saturated: a texel has 32 bits
    double real;
    std::memcpy(&real, &code, 8);
    if (p.numeric == "sfloat") return real;
    if (p.numeric == "uint") return std::min(static_cast<double>(code), 4294967295.0);
    return std::clamp(static_cast<double>(static_cast<int64_t>(code)), -2147483648.0, 2147483647.0);
  }
  if (p.numeric == "uscaled" || p.numeric == "uint") return static_cast<double>(code);
  if (p.numeric == "sscaled" || p.numeric == "sint") return as_signed;
  if (p.numeric == "sfloat") return bits == 16 ? small_float(code, 5, 10, true) : small_float(code, 8, 23, true);
  return small_float(code, 5, bits - 5, false);
}

bool is_color(const FormatInfo& f) { return !f.is_depth_stencil() && f.format != VK_FORMAT_E5B9G9R9_UFLOAT_PACK32; }

/// Bytes, name and layout as the name says.
void table_agrees_with_names() {
  for (const FormatInfo* f : all_formats()) {
    CHECK(vk::find_format(std::string(f->name)) == f, "%s", f->name);
    std::string upper = std::string("VK_FORMAT_") + f->name;
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    CHECK(vk::find_format(upper) == f, "%s", upper.c_str());
    if (!is_color(*f)) continue;
    const Parsed p = parse(f->name);
    CHECK(f->texel_B * 8 == p.total, "%s", f->name);
    for (int c = 0; c < 4; ++c) {
      CHECK(f->rgba[c].bits == p.bits[c], "%s component %d", f->name, c);
      if (p.bits[c])
        CHECK(f->rgba[c].shift == p.shift[c], "%s component %d: shift %d, name says %d", f->name, c, f->rgba[c].shift, p.shift[c]);
    }
  }
  CHECK(vk::find_format("no_such_format") == nullptr, "found");
  CHECK(vk::find_format(VK_FORMAT_PVRTC1_2BPP_UNORM_BLOCK_IMG) == nullptr, "found");
  CHECK(all_formats().size() >= 100, "only %zu formats", all_formats().size());
}

void unpack_is_exact() {
  std::mt19937 random(1);
  for (const FormatInfo* f : all_formats()) {
    if (!is_color(*f)) continue;
    const Parsed p = parse(f->name);
    for (int i = 0; i < 3000; ++i) {
      uint8_t bytes[32];
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(i < 256 ? i : random());
      // Of 64 bits also small ones, which do not saturate.
      for (int c = 0; c < 4 && p.bits[0] == 64 && i % 3 == 0; ++c) std::memset(bytes + 8 * c + 3, i % 2 ? 255 : 0, 5);
      const vk::Texel t = vk::unpack_texel(*f, bytes);
      for (int c = 0; c < 4; ++c) {
        if (!p.bits[c]) {
          if (f->is_integer()) {
            CHECK(t.u[c] == (c == 3 ? 1u : 0u), "%s absent component", f->name);
          } else {
            CHECK(t.f[c] == (c == 3 ? 1.0f : 0.0f), "%s absent component", f->name);
          }
          continue;
        }
        const double want = decode(p, c, bits_at(bytes, p.shift[c], p.bits[c]));
        if (p.numeric == "uint") {
          CHECK(t.u[c] == static_cast<uint32_t>(want), "%s", f->name);
        } else if (p.numeric == "sint") {
          CHECK(t.i[c] == static_cast<int32_t>(want), "%s", f->name);
        } else if (p.numeric == "srgb" && c < 3) {  // a polynomial: srgb_is_near_the_curve
          CHECK(std::fabs(static_cast<double>(t.f[c]) - want) <= 1e-5, "%s[%d]: %.9g, want %.9g", f->name, c, t.f[c], want);
        } else {
          CHECK(t.f[c] == static_cast<float>(want) || (std::isnan(want) && std::isnan(t.f[c])), "%s[%d]: %.9g, want %.9g", f->name, c,
                t.f[c], want);
        }
      }
    }
  }
}

/// Every code of up to 16 bits survives the way to floats and back (snorm's two codes of -1 become one; NaNs one NaN).
void every_code_round_trips() {
  for (const FormatInfo* f : all_formats()) {
    if (!is_color(*f)) continue;
    const Parsed p = parse(f->name);
    const int bits = p.bits[0] ? p.bits[0] : p.bits[1];
    if (bits > 16) continue;
    for (uint32_t code = 0; code < (1u << bits); ++code) {
      uint8_t bytes[16] = {}, again[16] = {};
      for (int c = 0; c < 4; ++c) {
        for (int b = 0; b < p.bits[c]; ++b) bytes[(p.shift[c] + b) / 8] |= static_cast<uint8_t>((code >> b & 1) << ((p.shift[c] + b) % 8));
      }
      vk::pack_texel(*f, vk::unpack_texel(*f, bytes), again);
      for (int c = 0; c < 4; ++c) {
        if (!p.bits[c]) continue;
        const uint64_t in = bits_at(bytes, p.shift[c], p.bits[c]), out = bits_at(again, p.shift[c], p.bits[c]);
        const double a = decode(p, c, in), b = decode(p, c, out);
        CHECK(in == out || (p.numeric == "snorm" && a == b) || (std::isnan(a) && std::isnan(b)), "%s[%d] code %u", f->name, c, code);
      }
    }
  }
}

/// The packed code is the nearest: no neighbour is nearer, and ties go to even.
void pack_is_nearest() {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(-1.3, 1.3);
  for (const FormatInfo* f : all_formats()) {
    if (!is_color(*f) || f->is_integer()) continue;
    const Parsed p = parse(f->name);
    if (p.numeric == "sfloat" && p.bits[0] >= 32) continue;
    for (int i = 0; i < 4000; ++i) {
      float value = static_cast<float>(unit(random));
      if (p.numeric == "uscaled" || p.numeric == "sscaled") value *= 300.0f;
      if (p.numeric == "sfloat" || p.numeric == "ufloat") value = std::ldexp(value, static_cast<int>(random() % 45) - 28);
      if (i < 64 && (p.numeric == "unorm" || p.numeric == "uscaled")) {  // ties
        value = static_cast<float>(i * 0.5 / (p.numeric == "unorm" ? std::ldexp(1.0, p.bits[0]) - 1 : 1.0));
      }
      vk::Texel t;
      for (float& v : t.f) v = value;
      uint8_t bytes[16] = {};
      vk::pack_texel(*f, t, bytes);
      for (int c = 0; c < 4; ++c) {
        if (!p.bits[c]) continue;
        const uint64_t code = bits_at(bytes, p.shift[c], p.bits[c]);
        double v = value;
        const bool is_signed = p.numeric == "snorm" || p.numeric == "sscaled" || p.numeric == "sfloat";
        if (!is_signed) v = std::max(v, 0.0);
        if (p.numeric == "unorm" || p.numeric == "srgb") v = std::min(v, 1.0);
        if (p.numeric == "snorm") v = std::clamp(v, -1.0, 1.0);
        if (p.numeric == "uscaled") v = std::min(v, std::ldexp(1.0, p.bits[c]) - 1);
        if (p.numeric == "sscaled") v = std::clamp(v, -std::ldexp(1.0, p.bits[c] - 1), std::ldexp(1.0, p.bits[c] - 1) - 1);
        if (p.numeric == "srgb" && c < 3) {
          const double ulp = std::fabs(srgb_encode(v) * 255 - static_cast<double>(code));
          CHECK(ulp <= 0.5 + 1e-9, "%s: %.9g gives %u, off by %.3f", f->name, value, static_cast<unsigned>(code), ulp);
          continue;
        }
        const double got = decode(p, c, code);
        if (std::isinf(got)) {  // half only: from the middle between 65504 and 65536 on
          CHECK(p.numeric == "sfloat" && std::fabs(v) >= 65520, "%s: %g became infinite", f->name, v);
          continue;
        }
        const double error = std::fabs(got - v);
        for (int step : {-1, 1}) {
          const int64_t next = static_cast<int64_t>(code) + step;
          if (next < 0 || next >> p.bits[c]) continue;
          const double other = decode(p, c, static_cast<uint64_t>(next));
          if (std::isnan(other) || std::isinf(other) || other == got || std::fabs(other - got) > std::fabs(got) + 1) continue;
          const double other_error = std::fabs(other - v);
          const double slack = 1e-13 * std::max(1.0, std::fabs(v));
          CHECK(error <= other_error + slack, "%s[%d]: %.9g gives %.9g, nearer is %.9g", f->name, c, value, got, other);
          if (std::fabs(error - other_error) < slack * 1e-2 && error > 0)
            CHECK(code % 2 == 0, "%s[%d]: tie of %.9g went to odd", f->name, c, value);
        }
      }
    }
  }
}

void special_values() {
  const float nan = NAN, inf = INFINITY;
  for (const FormatInfo* f : all_formats()) {
    if (!is_color(*f) || f->is_integer()) continue;
    const Parsed p = parse(f->name);
    uint8_t bytes[32] = {};
    vk::Texel t;
    for (float& v : t.f) v = nan;
    vk::pack_texel(*f, t, bytes);
    const bool is_float = p.numeric == "sfloat" || p.numeric == "ufloat";
    vk::Texel back = vk::unpack_texel(*f, bytes);
    CHECK(is_float ? std::isnan(back.f[0]) : back.f[0] == 0, "%s: NaN became %g", f->name, back.f[0]);
    for (float& v : t.f) v = inf;
    vk::pack_texel(*f, t, bytes);
    back = vk::unpack_texel(*f, bytes);
    if (is_float) CHECK(back.f[0] == inf, "%s: infinity became %g", f->name, back.f[0]);
    for (float& v : t.f) v = -inf;
    vk::pack_texel(*f, t, bytes);
    back = vk::unpack_texel(*f, bytes);
    const bool is_signed = p.numeric == "snorm" || p.numeric == "sscaled" || p.numeric == "sfloat";
    CHECK(is_signed ? back.f[0] < 0 : back.f[0] == 0, "%s: -infinity became %g", f->name, back.f[0]);
  }
  const FormatInfo& f32 = *vk::find_format(VK_FORMAT_R32_SFLOAT);
  vk::Texel t{};
  t.u[0] = 0xff812345u;  // a signalling, negative NaN
  uint32_t word;
  vk::pack_texel(f32, t, reinterpret_cast<uint8_t*>(&word));
  CHECK(word == 0x7fc00000u, "NaN is not canonical: %08x", word);
  t.f[0] = 1e9f;
  vk::pack_texel(*vk::find_format(VK_FORMAT_B10G11R11_UFLOAT_PACK32), t, reinterpret_cast<uint8_t*>(&word));
  CHECK((word & 2047) == 0x7bf, "the largest 11-bit float is 65024: %x", word & 2047);
}

void integers_saturate() {
  const FormatInfo& u8 = *vk::find_format(VK_FORMAT_R8_UINT);
  const FormatInfo& s16 = *vk::find_format(VK_FORMAT_R16_SINT);
  vk::Texel t{};
  t.u[0] = 300;
  uint8_t byte;
  vk::pack_texel(u8, t, &byte);
  CHECK(byte == 255, "%u", byte);
  t.i[0] = -40000;
  int16_t half;
  vk::pack_texel(s16, t, reinterpret_cast<uint8_t*>(&half));
  CHECK(half == -32768, "%d", half);
}

/// Of 64 bits every float and integer of 32 bits comes back.
void longs_keep_words() {
  std::mt19937 random(5);
  int formats = 0;
  for (const FormatInfo* f : all_formats()) {
    if (f->rgba[0].bits != 64) continue;
    formats++;
    for (int i = 0; i < 2000; ++i) {
      vk::Texel t;
      for (uint32_t& u : t.u) u = static_cast<uint32_t>(random());
      uint8_t bytes[32];
      vk::pack_texel(*f, t, bytes);
      const vk::Texel back = vk::unpack_texel(*f, bytes);
      for (int c = 0; c < f->component_count; ++c)
        CHECK(back.u[c] == t.u[c] || (f->numeric == vk::Numeric::sfloat && std::isnan(t.f[c]) && std::isnan(back.f[c])), "%s", f->name);
    }
  }
  CHECK(formats == 12, "%d", formats);
}

void depth_formats() {
  for (auto [format, bits, bytes] :
       {std::tuple{VK_FORMAT_D16_UNORM, 16, 2}, {VK_FORMAT_X8_D24_UNORM_PACK32, 24, 4}, {VK_FORMAT_D24_UNORM_S8_UINT, 24, 4}}) {
    const FormatInfo& f = *vk::find_format(format);
    const double top = std::ldexp(1.0, bits) - 1;
    for (float depth : {0.0f, 1.0f, 0.5f, 0.25f, 1e-6f, 0.999999f, 1.5f, -1.0f, NAN}) {
      uint32_t word = 0xab000000u;
      vk::Texel t{};
      t.f[0] = depth;
      vk::pack_texel(f, t, reinterpret_cast<uint8_t*>(&word));
      const uint32_t mask = bits == 16 ? 0xffffu : 0xffffffu;
      const double clamped = depth > 0 ? std::min(depth, 1.0f) : 0.0;
      CHECK((word & mask) == static_cast<uint32_t>(std::nearbyint(clamped * top)), "%s %g: %x", f.name, depth, word & mask);
      if (bytes == 4) CHECK(word >> 24 == 0xab, "%s lost its stencil", f.name);
      CHECK(vk::unpack_texel(f, reinterpret_cast<uint8_t*>(&word)).f[0] == static_cast<float>((word & mask) / top), "%s", f.name);
    }
  }
}

void shared_exponent() {
  const FormatInfo& f = *vk::find_format(VK_FORMAT_E5B9G9R9_UFLOAT_PACK32);
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    vk::Texel t{};
    for (int c = 0; c < 3; ++c) t.f[c] = std::ldexp(static_cast<float>(random() % 1000) / 1000.0f, static_cast<int>(random() % 30) - 15);
    uint32_t word;
    vk::pack_texel(f, t, reinterpret_cast<uint8_t*>(&word));
    const vk::Texel back = vk::unpack_texel(f, reinterpret_cast<uint8_t*>(&word));
    const float largest = std::max({t.f[0], t.f[1], t.f[2]});
    for (int c = 0; c < 3; ++c)
      CHECK(std::fabs(back.f[c] - std::min(t.f[c], 65408.0f)) <= largest / 512 + 1e-7f, "%g became %g", t.f[c], back.f[c]);
  }
}

void srgb_is_nearest_for_many_floats() {
  for (uint32_t bits = 0x38000000u; bits <= 0x3f800100u; bits += 37) {
    float value;
    std::memcpy(&value, &bits, 4);
    const double exact = srgb_encode(std::min(1.0, static_cast<double>(value))) * 255;
    CHECK(std::fabs(exact - vk::linear_to_srgb(value)) <= 0.5 + 1e-9, "%.9g", value);
  }
  for (int i = 0; i < 256; ++i) CHECK(vk::linear_to_srgb(vk::srgb_to_linear(static_cast<uint8_t>(i))) == i, "%d", i);
}

/// All 256 codes: within 0.0013 of what lies between a code and its neighbours, rising, exact at both ends; the table is the polynomial.
void srgb_is_near_the_curve() {
  for (int i = 0; i < 256; ++i) {
    const double want = srgb_decode(i / 255.0), step = i ? want - srgb_decode((i - 1) / 255.0) : srgb_decode(1 / 255.0);
    const float got = vk::kSrgbToLinear[i], x = static_cast<float>(i);
    CHECK(std::fabs(static_cast<double>(got) - want) <= 0.0013 * step, "%d: %.9g, want %.9g", i, got, want);
    CHECK(i == 0 ? got == 0 : got > vk::kSrgbToLinear[i - 1], "%d", i);
    float curve = vk::kSrgbPolynomial[7];
    for (int k = 6; k >= 0; --k) curve = std::fma(curve, x, vk::kSrgbPolynomial[k]);
    CHECK(got == (i <= vk::kSrgbLastLinearCode ? x * vk::kSrgbLinearScale : curve), "%d", i);
  }
  CHECK(vk::kSrgbToLinear[255] == 1, "%.9g", vk::kSrgbToLinear[255]);
}

void rows_equal_texels() {
  std::mt19937 random(4);
  for (const FormatInfo* f : all_formats()) {
    if (f->is_depth_stencil()) continue;
    uint8_t bytes[32 * 32];
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
    vk::Texel row[32];
    vk::unpack_row(*f, bytes, 32, row);
    for (int i = 0; i < 32; ++i) {
      const vk::Texel one = vk::unpack_texel(*f, bytes + i * f->texel_B);
      for (int c = 0; c < 4; ++c)
        CHECK(row[i].u[c] == one.u[c] || (row[i].f[c] != row[i].f[c] && one.f[c] != one.f[c]), "%s texel %d", f->name, i);
    }
  }
}

}  // namespace

int main() {
  table_agrees_with_names();
  unpack_is_exact();
  every_code_round_trips();
  pack_is_nearest();
  special_values();
  integers_saturate();
  longs_keep_words();
  depth_formats();
  shared_exponent();
  srgb_is_nearest_for_many_floats();
  srgb_is_near_the_curve();
  rows_equal_texels();
  return test::finish("test_formats");
}
