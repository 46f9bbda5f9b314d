// shader/ir/format_pack.cpp -- texel words to components and back; see format_pack.hpp.
// In, out: see format_pack.hpp.
// Source: Vulkan specification, "Fixed-Point Data Conversions", "16-Bit Floating-Point Numbers", "Unsigned 11-Bit ..." and "10-Bit ...",
// "sRGB". Rounding to nearest even of x * maximum is one fused multiply-add to 2^23 (or 1.5 * 2^23): the sum's last bit is
// worth 1, the rounding is single, and the integer stands in the low bits of the result.
#include "shader/ir/format_pack.hpp"

#include <cmath>

#include "shader/ir/math.hpp"

namespace tilegpu::shader {
namespace {

uint32_t low_mask(uint32_t bits) { return bits >= 32 ? ~0u : (1u << bits) - 1u; }

constexpr float kMagic = 0x1p23f;          // unsigned
constexpr float kMagicSigned = 0x1.8p23f;  // signed: stays in [2^23, 2^24)

Value extract_bits(const Ir& ir, Value word, vk::Component c) {
  Value raw = ir.lshr(word, c.shift & 31u);
  if ((c.shift & 31u) + c.bits < 32) raw = ir.and_(raw, ir.ik(raw, low_mask(c.bits)));
  return raw;
}

Value sign_extend(const Ir& ir, Value raw, uint32_t bits) { return bits == 32 ? raw : ir.ashr(ir.shl(raw, 32 - bits), 32 - bits); }

/// Low bits of the result hold the value; higher bits are those of the magic number.
Value unorm_bits(const Ir& ir, Value x, uint32_t bits, PackHints hints) {
  if (!hints.above_zero) x = ir.fmax_second(x, ir.fk(x, 0));  // NaN to 0
  if (!hints.below_one) x = ir.fmin_second(x, ir.fk(x, 1));
  return ir.bits(ir.fma(x, ir.fk(x, static_cast<float>(low_mask(bits))), ir.fk(x, kMagic)));
}

Value snorm_bits(const Ir& ir, Value x, uint32_t bits) {
  x = ir.select(ir.is_nan(x), ir.fk(x, 0), x);
  x = ir.fclamp(x, ir.fk(x, -1), ir.fk(x, 1));
  return ir.bits(ir.fma(x, ir.fk(x, static_cast<float>(low_mask(bits - 1))), ir.fk(x, kMagicSigned)));
}

Value ufloat_bits(const Ir& ir, Value x, uint32_t mantissa_bits) {
  const uint32_t infinity = 31u << mantissa_bits, drop = 23 - mantissa_bits;
  Value nan = ir.is_nan(x);
  x = ir.fmax_second(x, ir.fk(x, 0));
  Value pattern = ir.bits(x);
  // Denormals: 2^(14 + mantissa_bits) makes the last place 1.
  Value denormal = ir.sub(ir.bits(ir.fma(ir.fmin_second(x, ir.fk(x, 0x1p-14f)),
                                         ir.fk(x, std::ldexp(1.0f, 14 + static_cast<int>(mantissa_bits))), ir.fk(x, kMagic))),
                          ir.ik(pattern, 0x4b000000u));
  Value odd = ir.and_(ir.lshr(pattern, drop), ir.ik(pattern, 1));
  Value rounded = ir.lshr(ir.add(ir.add(pattern, ir.ik(pattern, (1u << (drop - 1)) - 1)), odd), drop);
  rounded = ir.sub(rounded, ir.ik(pattern, 112u << mantissa_bits));
  rounded = ir.umin(rounded, ir.ik(pattern, infinity - 1));  // finite values stay finite
  Value result = ir.select(ir.flt(x, ir.fk(x, 0x1p-14f)), denormal, rounded);
  result = ir.select(ir.eq(pattern, ir.ik(pattern, 0x7f800000u)), ir.ik(pattern, infinity), result);
  return ir.select(nan, ir.ik(pattern, infinity | 1), result);
}

Value unpack_ufloat(const Ir& ir, Value raw, uint32_t mantissa_bits) {
  Value exponent = ir.lshr(raw, mantissa_bits), mantissa = ir.and_(raw, ir.ik(raw, low_mask(mantissa_bits)));
  Value normal = ir.as_float(ir.add(ir.shl(raw, 23 - mantissa_bits), ir.ik(raw, 112u << 23)));
  Value denormal = ir.fmul(ir.sitofp(mantissa), ir.fk(raw, std::ldexp(1.0f, -14 - static_cast<int>(mantissa_bits))));
  Value zero = ir.ik(raw, 0);
  Value special = ir.as_float(ir.select(ir.eq(mantissa, zero), ir.ik(raw, 0x7f800000u), ir.ik(raw, 0x7fc00000u)));
  Value result = ir.select(ir.eq(exponent, zero), denormal, normal);
  return ir.select(ir.eq(exponent, ir.ik(raw, 31)), special, result);
}

/// Codes 0..255 for `count` components at once. A polynomial in x^(1/4) gives 255 * srgb(x) within 2.5e-4; where that is too near to a
/// half to decide, the exact thresholds do (about one packet in fifty).
void srgb_codes(const Ir& ir, const Value* components, uint32_t count, Value* codes) {
  // Minimax on [0.0031306^(1/4), 1] of 255 * (1.055 q^(5/3) - 0.055), error 1.2e-4.
  constexpr float kPolynomial[8] = {-14.93831729888916f, 32.003910064697266f,  369.8125f,          -285.81878662109375f,
                                    292.3650207519531f,  -212.61915588378906f, 91.53321075439453f, -17.33843994140625f};
  Value clamped[4];
  Value unsure = nullptr;
  for (uint32_t c = 0; c < count; ++c) {
    Value x = ir.fclamp(components[c], ir.fk(components[c], 0), ir.fk(components[c], 1));
    clamped[c] = x;
    Value q = ir.sqrt(ir.sqrt(x));
    Value y = ir.fk(x, kPolynomial[7]);
    for (int k = 6; k >= 0; --k) y = ir.fma(y, q, ir.fk(x, kPolynomial[k]));
    y = ir.select(ir.flt(x, ir.fk(x, 0.0031308f)), ir.fmul(x, ir.fk(x, 12.92f * 255.0f)), y);
    Value sum = ir.fadd(y, ir.fk(x, kMagic));
    Value distance = ir.fabs(ir.fsub(y, ir.fsub(sum, ir.fk(x, kMagic))));
    codes[c] = ir.and_(ir.bits(sum), ir.ik(x, 0xff));
    Value near = ir.fgt(distance, ir.fk(x, 0.4994f));
    unsure = unsure ? ir.or_(unsure, near) : near;
  }
  std::vector<Value> exact = ir.if_else(
      ir.any(unsure),
      [&] {
        Value table = constant_table(ir, "srgb_threshold", vk::kLinearToSrgbThreshold, 257);
        std::vector<Value> fixed;
        for (uint32_t c = 0; c < count; ++c) {
          Value offsets = ir.shl(codes[c], 2);
          Value lower = ir.load_lanes(ir.f32, table, offsets, 4);
          Value upper = ir.load_lanes(ir.f32, ir.offset(table, 4), offsets, 4);
          Value code = ir.add(codes[c], ir.mask_to_int(ir.flt(clamped[c], lower)));
          fixed.push_back(ir.sub(code, ir.mask_to_int(ir.fge(clamped[c], upper))));
        }
        return fixed;
      },
      [&] { return std::vector<Value>(codes, codes + count); });
  for (uint32_t c = 0; c < count; ++c) codes[c] = exact[c];
}

void insert_bits(const Ir& ir, Value* words, vk::Component c, Value raw, bool clean) {
  const uint32_t shift = c.shift & 31u, word = c.shift >> 5;
  // The magic number's bits are 24, 25, 27 and 30: a shift by 8 or more moves them out of the word.
  if (!clean && shift < 8) raw = ir.and_(raw, ir.ik(raw, low_mask(c.bits)));
  raw = ir.shl(raw, shift);
  words[word] = words[word] ? ir.or_(words[word], raw) : raw;
}

}  // namespace

Value emit_divide_by_maximum(const Ir& ir, Value v, uint32_t maximum) {
  if (maximum == 1) return v;
  const float high = static_cast<float>(1.0 / maximum), low = static_cast<float>(1.0 / maximum - static_cast<double>(high));
  return ir.fma(v, ir.fk(v, high), ir.fmul(v, ir.fk(v, low)));
}

Value constant_table(const Ir& ir, const char* name, const float* values, uint32_t count) {
  if (Value existing = LLVMGetNamedGlobal(ir.module, name)) return existing;
  std::vector<Value> elements;
  for (uint32_t k = 0; k < count; ++k) elements.push_back(ir.cf(values[k]));
  Value initial = LLVMConstArray2(ir.f32, elements.data(), count);
  Value global = LLVMAddGlobal(ir.module, LLVMTypeOf(initial), name);
  LLVMSetInitializer(global, initial);
  LLVMSetGlobalConstant(global, 1);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetAlignment(global, 64);
  return global;
}

Value emit_srgb_to_linear(const Ir& ir, Value code) {
  // Where gathers are fast, eight look-ups take less than the polynomial: beside 512 bits, which gathers of texels use, multiply-adds of
  // 256 have one port instead of two (72.7 for 106 ms of a frame of three trilinear look-ups; 16 lanes: 53.7 for 52.3).
  if (ir.gathers && Ir::lanes_of(code) == 8)
    return ir.load_lanes(ir.f32, constant_table(ir, "srgb_linear", vk::kSrgbToLinear, 256), ir.shl(code, 2), 4);
  Value c = ir.sitofp(code);
  Value curve = ir.fk(c, vk::kSrgbPolynomial[7]);
  for (int k = 6; k >= 0; --k) curve = ir.fma(curve, c, ir.fk(c, vk::kSrgbPolynomial[k]));
  Value straight = ir.fmul(c, ir.fk(c, vk::kSrgbLinearScale));
  return ir.select(ir.fgt(c, ir.fk(c, static_cast<float>(vk::kSrgbLastLinearCode))), curve, straight);
}

Value emit_unpack_component(const Ir& ir, vk::Numeric numeric, Value raw, uint32_t bits, bool alpha) {
  switch (numeric) {
    case vk::Numeric::srgb:
      if (!alpha) return emit_srgb_to_linear(ir, raw);
      [[fallthrough]];
    case vk::Numeric::unorm:
      return emit_divide_by_maximum(ir, ir.sitofp(raw), low_mask(bits));
    case vk::Numeric::snorm: {
      Value v = ir.sitofp(sign_extend(ir, raw, bits));
      return ir.fmax_second(emit_divide_by_maximum(ir, v, low_mask(bits - 1)), ir.fk(raw, -1));
    }
    case vk::Numeric::uscaled:
      return emit_uint_to_float(ir, raw);
    case vk::Numeric::sscaled:
      return ir.sitofp(sign_extend(ir, raw, bits));
    case vk::Numeric::sfloat:
      return bits == 16 ? emit_half_to_float(ir, raw) : ir.as_float(raw);
    case vk::Numeric::ufloat:
      return unpack_ufloat(ir, raw, bits - 5);
    case vk::Numeric::sint:
      return ir.as_float(sign_extend(ir, raw, bits));
    default:
      return ir.as_float(raw);
  }
}

std::array<Value, 4> emit_unpack_texel(const Ir& ir, const vk::FormatInfo& format, const Value* words) {
  std::array<Value, 4> rgba;
  if (format.format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32) {
    // scale = 2^(exponent - 15 - 9); exponent 0..31 gives 2^-24 .. 2^7, always normal.
    Value scale = ir.as_float(ir.shl(ir.add(ir.lshr(words[0], 27), ir.ik(words[0], 127 - 24)), 23));
    for (uint32_t c = 0; c < 3; ++c) rgba[c] = ir.fmul(ir.sitofp(extract_bits(ir, words[0], format.rgba[c])), scale);
    rgba[3] = ir.fk(words[0], 1);
    return rgba;
  }
  const bool by_tables = has_srgb_tables(ir, format, words[0]);
  std::array<Value, 3> decoded{};
  if (by_tables) decoded = emit_srgb_texels(ir, format, words[0]);
  for (uint32_t c = 0; c < 4; ++c) {
    const vk::Component component = format.rgba[c];
    if (by_tables && c < 3) {
      rgba[c] = decoded[c];
    } else if (component.bits) {
      rgba[c] = emit_unpack_component(ir, format.numeric, extract_bits(ir, words[component.shift >> 5], component), component.bits, c == 3);
    } else {
      rgba[c] = c < 3 ? ir.fk(words[0], 0) : format.is_integer() ? ir.as_float(ir.ik(words[0], 1)) : ir.fk(words[0], 1);
    }
  }
  return rgba;
}

void emit_pack_texel(const Ir& ir, const vk::FormatInfo& format, const std::array<Value, 4>& rgba, Value* words,
                     const std::array<PackHints, 4>& hints) {
  for (uint32_t w = 0; w < texel_words(format); ++w) words[w] = nullptr;
  Value srgb[4] = {};
  if (format.numeric == vk::Numeric::srgb) {
    const uint32_t count = format.component_count < 3 ? format.component_count : 3;
    Value inputs[3] = {}, codes[3] = {};
    for (uint32_t c = 0; c < count; ++c) inputs[c] = rgba[c];
    srgb_codes(ir, inputs, count, codes);
    for (uint32_t c = 0; c < count; ++c) srgb[c] = codes[c];
  }
  for (uint32_t c = 0; c < 4; ++c) {
    const vk::Component component = format.rgba[c];
    if (!component.bits) continue;
    const uint32_t bits = component.bits;
    Value raw = nullptr;
    bool clean = true;
    switch (format.numeric) {
      case vk::Numeric::srgb:
        if (c < 3) {
          raw = srgb[c];
          break;
        }
        [[fallthrough]];
      case vk::Numeric::unorm:
        raw = unorm_bits(ir, rgba[c], bits, hints[c]), clean = false;
        break;
      case vk::Numeric::snorm:
        raw = ir.and_(snorm_bits(ir, rgba[c], bits), ir.ik(rgba[c], low_mask(bits)));
        break;
      case vk::Numeric::ufloat:
        raw = ufloat_bits(ir, rgba[c], bits - 5);
        break;
      case vk::Numeric::sfloat:
        raw = bits == 16 ? emit_float_to_half(ir, rgba[c]) : ir.bits(emit_canonical_nan(ir, rgba[c]));
        break;
      case vk::Numeric::uint:
        raw = ir.bits(rgba[c]);
        if (bits < 32) raw = ir.umin(raw, ir.ik(raw, low_mask(bits)));
        break;
      case vk::Numeric::sint:
        raw = ir.bits(rgba[c]);
        if (bits < 32) {
          const uint32_t high = low_mask(bits - 1);
          raw = ir.and_(ir.sclamp(raw, ir.ik(raw, ~high), ir.ik(raw, high)), ir.ik(raw, low_mask(bits)));
        }
        break;
      default:
        assert(false && "not an attachment format");
        raw = ir.ik(rgba[c], 0);
    }
    insert_bits(ir, words, component, raw, clean);
  }
  for (uint32_t w = 0; w < texel_words(format); ++w) {
    if (!words[w]) words[w] = ir.ik(rgba[0], 0);
  }
}

uint32_t component_mask(const vk::FormatInfo& format, uint32_t word, uint32_t write_mask) {
  uint32_t mask = 0;
  for (uint32_t c = 0; c < 4; ++c) {
    const vk::Component component = format.rgba[c];
    if (component.bits && component.shift >> 5 == word && (write_mask >> c & 1))
      mask |= low_mask(component.bits) << (component.shift & 31u);
  }
  return mask;
}

}  // namespace tilegpu::shader
