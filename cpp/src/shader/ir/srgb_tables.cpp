// shader/ir/srgb_tables.cpp -- sRGB's codes of sixteen texels to floats, by tables of bytes in registers (AVX-512 VBMI).
//
// In: texels of four bytes. Out: three components, the bits of vk::kSrgbToLinear. A float's four bytes come from four tables of 256, each
// two permutations of two registers; 64 codes go at once. The polynomial's multiply-adds for 48 codes take twice as long.
// Source: Intel's intrinsics guide (vpermi2b, unpack); own.
#include <bit>
#include <cassert>

#include "shader/ir/format_pack.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kLanes = 16, kBytes = 64, kCodes = 256, kInRegister_B = 16;  // shuffles stay within 128 bits

/// Byte k of each float of the table, 256 of them, then those of the next byte.
Value table_of_bytes(const Ir& ir) {
  static constexpr const char kName[] = "srgb_bytes";
  if (Value existing = LLVMGetNamedGlobal(ir.module, kName)) return existing;
  std::vector<Value> bytes;
  for (uint32_t k = 0; k < sizeof(float); ++k)
    for (uint32_t code = 0; code < kCodes; ++code) bytes.push_back(ir.c8(std::bit_cast<uint32_t>(vk::kSrgbToLinear[code]) >> 8 * k & 0xff));
  Value initial = LLVMConstArray2(ir.i8, bytes.data(), bytes.size());
  Value global = LLVMAddGlobal(ir.module, LLVMTypeOf(initial), kName);
  LLVMSetInitializer(global, initial);
  LLVMSetGlobalConstant(global, 1);
  LLVMSetLinkage(global, LLVMInternalLinkage);
  LLVMSetExternallyInitialized(global, 1);  // so that nobody looks into it
  LLVMSetAlignment(global, kBytes);
  return global;
}

/// Elements of `a` and `b` by turns, of the lower or the upper half of each 128 bits.
Value unpack(const Ir& ir, Value a, Value b, bool upper) {
  const uint32_t n = Ir::lanes_of(a), in_register = 8 * kInRegister_B / Ir::bits_of(a);
  std::vector<int> order;
  for (uint32_t first = 0; first < n; first += in_register)
    for (uint32_t k = 0; k < in_register / 2; ++k) {
      const uint32_t from = first + k + (upper ? in_register / 2 : 0);
      order.push_back(static_cast<int>(from)), order.push_back(static_cast<int>(from + n));
    }
  return ir.shuffle(a, b, order);
}

}  // namespace

bool has_srgb_tables(const Ir& ir, const vk::FormatInfo& format, Value word) {
  if (!ir.byte_tables || ir.quick || Ir::lanes_of(word) != kLanes || format.numeric != vk::Numeric::srgb || format.texel_B != 4)
    return false;
  for (uint32_t c = 0; c < 3; ++c)
    if (format.rgba[c].bits != 8) return false;
  return true;
}

namespace {

/// Of 64 codes, the floats of each sixteen that stand in one quarter of each 128 bits.
std::array<Value, 4> look_up(const Ir& ir, Value codes) {
  const Type bytes = Ir::vec(ir.i8, kBytes);
  Value upper_half = LLVMBuildICmp(ir.builder, LLVMIntSLT, codes, Ir::zero(bytes), ""), table = table_of_bytes(ir);
  std::array<Value, sizeof(float)> planes;
  for (uint32_t k = 0; k < planes.size(); ++k) {
    const auto part = [&](uint32_t at_B) { return ir.load(bytes, ir.offset(table, uint64_t{k} * kCodes + at_B), kBytes); };
    const auto looked_up = [&](uint32_t at_B) {
      return ir.call_intrinsic("llvm.x86.avx512.vpermi2var.qi.512", {}, {part(at_B), codes, part(at_B + kBytes)});
    };
    planes[k] = ir.select(upper_half, looked_up(2 * kBytes), looked_up(0));
  }
  const auto both = [&](uint32_t k, bool upper) {
    return ir.bitcast(unpack(ir, planes[k], planes[k + 1], upper), Ir::vec(ir.i16, kBytes / 2));
  };
  std::array<Value, 4> floats;
  for (uint32_t c = 0; c < 4; ++c) floats[c] = ir.bitcast(unpack(ir, both(0, c > 1), both(2, c > 1), c % 2), ir.vf32);
  return floats;
}

/// Four texels are 128 bits. Of these the components of `words`, four by four, and in the last quarter a component of `others`.
Value codes_of(const Ir& ir, const vk::FormatInfo& format, Value words, Value others, uint32_t component) {
  const Type bytes = Ir::vec(ir.i8, kBytes);
  std::vector<int> order;
  for (uint32_t first = 0; first < kBytes; first += kInRegister_B)
    for (uint32_t c = 0; c < 4; ++c)
      for (uint32_t texel = 0; texel < 4; ++texel)
        order.push_back(static_cast<int>((c < 3 ? 0 : kBytes) + first + 4 * texel + format.rgba[c < 3 ? c : component].shift / 8));
  return ir.shuffle(ir.bitcast(words, bytes), ir.bitcast(others, bytes), order);
}

}  // namespace

std::array<Value, 3> emit_srgb_texels(const Ir& ir, const vk::FormatInfo& format, Value words) {
  assert(has_srgb_tables(ir, format, words) && Ir::bits_of(words) == 32);
  const std::array<Value, 4> floats = look_up(ir, codes_of(ir, format, words, words, 0));
  return {floats[0], floats[1], floats[2]};
}

std::array<std::array<Value, 3>, 4> emit_four_srgb_texels(const Ir& ir, const vk::FormatInfo& format, const std::array<Value, 4>& words) {
  std::array<std::array<Value, 3>, 4> texels;
  for (uint32_t k = 0; k < 3; ++k) {
    const std::array<Value, 4> floats = look_up(ir, codes_of(ir, format, words[k], words[3], k));
    texels[k] = {floats[0], floats[1], floats[2]}, texels[3][k] = floats[3];
  }
  return texels;
}

}  // namespace tilegpu::shader
