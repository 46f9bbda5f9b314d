// shader/epilogue/epilogue_blend.cpp -- Vulkan's blend equations and logic operations; see epilogue_blend.hpp.
// In, out: see epilogue_blend.hpp.
// Fixed-point attachments clamp source and constants to their range before the equation, and a factor made of these is what it comes to:
// 1 - a of a SNORM attachment reaches 2 (docs/decisions.md, 526). A factor ZERO gives 0 and ONE the operand itself, also for infinities
// and NaN. Every equation is s * sf + (d * df) with the sum fused: one rounding for the product
// with the destination, one for the rest. Source: Vulkan specification, "Blending", "Blend Factors", "Blend Operations", "Logical
// Operations".
#include "shader/epilogue/epilogue_blend.hpp"

#include <cassert>

#include "shader/epilogue/advanced_blend.hpp"
#include "vk/blend_op.hpp"

namespace tilegpu::shader {
namespace {

enum class Range : uint8_t { unorm, snorm, unlimited };

Range range_of(const vk::FormatInfo& format) {
  if (format.numeric == vk::Numeric::snorm) return Range::snorm;
  return format.numeric == vk::Numeric::unorm || format.numeric == vk::Numeric::srgb ? Range::unorm : Range::unlimited;
}

struct Inputs {
  std::array<Value, 4> source, source1, destination, constants;
};

bool is_source1(VkBlendFactor f) {
  return f == VK_BLEND_FACTOR_SRC1_COLOR || f == VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR || f == VK_BLEND_FACTOR_SRC1_ALPHA ||
         f == VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA;
}

Value clamp_range(const Ir& ir, Value x, Range range) {
  if (range == Range::unlimited) return x;
  if (range == Range::snorm) x = ir.select(ir.is_nan(x), ir.fk(x, 0), x);
  return ir.fclamp(x, ir.fk(x, range == Range::unorm ? 0.0f : -1.0f), ir.fk(x, 1));
}

/// Component c of a factor. ZERO and ONE are handled by the caller.
Value factor(const Ir& ir, const Inputs& in, VkBlendFactor f, uint32_t c) {
  auto one_minus = [&](Value v) { return ir.fsub(ir.fk(v, 1), v); };
  switch (f) {
    case VK_BLEND_FACTOR_SRC_COLOR:
      return in.source[c];
    case VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR:
      return one_minus(in.source[c]);
    case VK_BLEND_FACTOR_DST_COLOR:
      return in.destination[c];
    case VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
      return one_minus(in.destination[c]);
    case VK_BLEND_FACTOR_SRC_ALPHA:
      return in.source[3];
    case VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA:
      return one_minus(in.source[3]);
    case VK_BLEND_FACTOR_DST_ALPHA:
      return in.destination[3];
    case VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
      return one_minus(in.destination[3]);
    case VK_BLEND_FACTOR_CONSTANT_COLOR:
      return in.constants[c];
    case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR:
      return one_minus(in.constants[c]);
    case VK_BLEND_FACTOR_CONSTANT_ALPHA:
      return in.constants[3];
    case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA:
      return one_minus(in.constants[3]);
    case VK_BLEND_FACTOR_SRC_ALPHA_SATURATE:
      return c == 3 ? ir.fk(in.source[3], 1) : ir.fmin_second(in.source[3], one_minus(in.destination[3]));
    case VK_BLEND_FACTOR_SRC1_COLOR:
      return in.source1[c];
    case VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR:
      return one_minus(in.source1[c]);
    case VK_BLEND_FACTOR_SRC1_ALPHA:
      return in.source1[3];
    case VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA:
      return one_minus(in.source1[3]);
    default:
      return ir.fk(in.source[0], f == VK_BLEND_FACTOR_ZERO ? 0.0f : 1.0f);
  }
}

/// v * factor; null for ZERO.
struct Term {
  Value value = nullptr, multiplier = nullptr;  // multiplier null: 1
};

Term term(const Ir& ir, const Inputs& in, Value v, VkBlendFactor f, uint32_t c) {
  if (f == VK_BLEND_FACTOR_ZERO) return {};
  if (f == VK_BLEND_FACTOR_ONE || (f == VK_BLEND_FACTOR_SRC_ALPHA_SATURATE && c == 3)) return {v, nullptr};
  return {v, factor(ir, in, f, c)};
}

/// s - d, s + d, d - s, the multiplication of the first fused into the sum.
Value combine(const Ir& ir, Term s, Term d, VkBlendOp op) {
  if (op == VK_BLEND_OP_REVERSE_SUBTRACT) std::swap(s, d);
  auto product = [&](const Term& t) { return t.multiplier ? ir.fmul(t.value, t.multiplier) : t.value; };
  const bool subtract = op != VK_BLEND_OP_ADD;
  assert(vk::uses_factors(op) && (s.value || !s.multiplier) && (d.value || !d.multiplier));
  if (!d.value) return s.value ? product(s) : nullptr;
  Value right = product(d);
  if (subtract) right = ir.fneg(right);
  if (!s.value) return right;
  return s.multiplier ? ir.fma(s.value, s.multiplier, right) : ir.fadd(s.value, right);
}

Value equation(const Ir& ir, const Inputs& in, uint32_t c, VkBlendFactor sf, VkBlendFactor df, VkBlendOp op) {
  Value result = nullptr;
  switch (op) {
    case VK_BLEND_OP_MIN:
      result = ir.fmin_second(in.source[c], in.destination[c]);
      break;
    case VK_BLEND_OP_MAX:
      result = ir.fmax_second(in.source[c], in.destination[c]);
      break;
    default:
      result = combine(ir, term(ir, in, in.source[c], sf, c), term(ir, in, in.destination[c], df, c), op);
      break;
  }
  return result ? result : ir.fk(in.source[c], 0);
}

/// In the alpha channel colours are alphas.
VkBlendFactor factor_of(VkBlendFactor f, uint32_t c) {
  if (c < 3) return f;
  switch (f) {
    case VK_BLEND_FACTOR_SRC_COLOR:
      return VK_BLEND_FACTOR_SRC_ALPHA;
    case VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR:
      return VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    case VK_BLEND_FACTOR_DST_COLOR:
      return VK_BLEND_FACTOR_DST_ALPHA;
    case VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
      return VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA;
    case VK_BLEND_FACTOR_CONSTANT_COLOR:
      return VK_BLEND_FACTOR_CONSTANT_ALPHA;
    case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR:
      return VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA;
    default:
      return f;
  }
}

/// A sum that stays in [0, 1]: s * f + d * (1 - f), or s + d - s * d.
bool is_mixture(VkBlendFactor s, VkBlendFactor d, uint32_t c) {
  auto pair = [&](VkBlendFactor a, VkBlendFactor b) { return (s == a && d == b) || (s == b && d == a); };
  const bool screen = (s == VK_BLEND_FACTOR_ONE && d == factor_of(VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR, c)) ||
                      (s == factor_of(VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR, c) && d == VK_BLEND_FACTOR_ONE);
  return screen || pair(VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA) ||
         pair(VK_BLEND_FACTOR_DST_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA) ||
         pair(VK_BLEND_FACTOR_CONSTANT_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA) ||
         pair(VK_BLEND_FACTOR_SRC_COLOR, VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR) ||
         pair(VK_BLEND_FACTOR_DST_COLOR, VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR) ||
         pair(VK_BLEND_FACTOR_CONSTANT_COLOR, VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR);
}

/// Inputs are in [0, 1] (UNORM): can component c of the result leave it?
PackHints result_hints(VkBlendFactor s, VkBlendFactor d, VkBlendOp op, uint32_t c) {
  PackHints h;
  h.above_zero = op == VK_BLEND_OP_ADD || op == VK_BLEND_OP_MIN || op == VK_BLEND_OP_MAX;
  h.below_one = op == VK_BLEND_OP_SUBTRACT || op == VK_BLEND_OP_REVERSE_SUBTRACT || op == VK_BLEND_OP_MIN || op == VK_BLEND_OP_MAX ||
                s == VK_BLEND_FACTOR_ZERO || d == VK_BLEND_FACTOR_ZERO || is_mixture(factor_of(s, c), factor_of(d, c), c);
  return h;
}

}  // namespace

uint32_t blend_keeps_below(const vk::FormatInfo& format, const VkPipelineColorBlendAttachmentState& b) {
  // Codes that are clamped to 0 from below, and come back from what they stand for; no bits beside them.
  if (range_of(format) != Range::unorm || format.is_compressed()) return 0;
  uint32_t bits = 0, written = 0;
  for (uint32_t c = 0; c < 4; ++c) {
    bits += format.rgba[c].bits;
    if (format.rgba[c].bits && b.colorWriteMask >> c & 1) written |= 1u << c;
  }
  if (bits != 8 * format.texel_B) return 0;
  const auto keeps = [&](uint32_t c, uint32_t zeros) {
    const VkBlendFactor s = factor_of(c < 3 ? b.srcColorBlendFactor : b.srcAlphaBlendFactor, c);
    const VkBlendFactor d = factor_of(c < 3 ? b.dstColorBlendFactor : b.dstAlphaBlendFactor, c);
    const bool own = zeros >> c & 1, alpha = zeros >> 3 & 1;
    const bool nothing = s == VK_BLEND_FACTOR_ZERO || (own && !is_source1(s)) || (alpha && s == VK_BLEND_FACTOR_SRC_ALPHA);
    const bool leaves = d == VK_BLEND_FACTOR_ONE || (alpha && d == VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA) ||
                        (own && d == VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR);
    return nothing && leaves && (c < 3 ? b.colorBlendOp : b.alphaBlendOp) == VK_BLEND_OP_ADD;
  };
  for (const uint32_t zeros : {8u, written, written | 8u}) {
    bool all = written;
    for (uint32_t c = 0; c < 4; ++c) all = all && (!(written >> c & 1) || keeps(c, zeros));
    if (all) return zeros;
  }
  return 0;
}

bool blend_uses_source1(const VkPipelineColorBlendAttachmentState& b) {
  return (vk::uses_factors(b.colorBlendOp) && (is_source1(b.srcColorBlendFactor) || is_source1(b.dstColorBlendFactor))) ||
         (vk::uses_factors(b.alphaBlendOp) && (is_source1(b.srcAlphaBlendFactor) || is_source1(b.dstAlphaBlendFactor)));
}

std::array<Value, 4> emit_blend(const Ir& ir, const vk::FormatInfo& format, const VkPipelineColorBlendAttachmentState& blend,
                                const std::array<Value, 4>& source, const std::array<Value, 4>& source1,
                                const std::array<Value, 4>& destination, const std::array<Value, 4>& constants,
                                std::array<PackHints, 4>& hints) {
  const Range range = range_of(format);
  Inputs in;
  for (uint32_t c = 0; c < 4; ++c) {
    assert(source[c] && destination[c] && constants[c]);
    in.source[c] = clamp_range(ir, source[c], range);
    in.source1[c] = source1[c] ? clamp_range(ir, source1[c], range) : nullptr;
    in.destination[c] = destination[c];
    in.constants[c] = clamp_range(ir, constants[c], range);
  }
  std::array<Value, 4> result;
  for (uint32_t c = 0; c < 3; ++c) {
    result[c] = equation(ir, in, c, blend.srcColorBlendFactor, blend.dstColorBlendFactor, blend.colorBlendOp);
  }
  result[3] = equation(ir, in, 3, blend.srcAlphaBlendFactor, blend.dstAlphaBlendFactor, blend.alphaBlendOp);
  if (range == Range::unorm) {
    for (uint32_t c = 0; c < 3; ++c) hints[c] = result_hints(blend.srcColorBlendFactor, blend.dstColorBlendFactor, blend.colorBlendOp, c);
    hints[3] = result_hints(blend.srcAlphaBlendFactor, blend.dstAlphaBlendFactor, blend.alphaBlendOp, 3);
  }
  return result;
}

std::array<Value, 4> emit_blend(const Ir& ir, const vk::FormatInfo& format, VkBlendOp op, const AdvancedBlend& how,
                                const std::array<Value, 4>& source, const std::array<Value, 4>& destination) {
  std::array<Value, 4> s;
  for (uint32_t c = 0; c < 4; ++c) s[c] = clamp_range(ir, source[c], range_of(format));
  return emit_advanced_blend(ir, op, how, s, destination);
}

bool logic_op_reads(VkLogicOp op) {
  return op != VK_LOGIC_OP_COPY && op != VK_LOGIC_OP_COPY_INVERTED && op != VK_LOGIC_OP_CLEAR && op != VK_LOGIC_OP_SET;
}

Value emit_logic_op(const Ir& ir, VkLogicOp op, Value s, Value d) {
  switch (op) {
    case VK_LOGIC_OP_CLEAR:
      return ir.ik(s, 0);
    case VK_LOGIC_OP_AND:
      return ir.and_(s, d);
    case VK_LOGIC_OP_AND_REVERSE:
      return ir.and_(s, ir.not_(d));
    case VK_LOGIC_OP_AND_INVERTED:
      return ir.and_(ir.not_(s), d);
    case VK_LOGIC_OP_NO_OP:
      return d;
    case VK_LOGIC_OP_XOR:
      return ir.xor_(s, d);
    case VK_LOGIC_OP_OR:
      return ir.or_(s, d);
    case VK_LOGIC_OP_NOR:
      return ir.not_(ir.or_(s, d));
    case VK_LOGIC_OP_EQUIVALENT:
      return ir.not_(ir.xor_(s, d));
    case VK_LOGIC_OP_INVERT:
      return ir.not_(d);
    case VK_LOGIC_OP_OR_REVERSE:
      return ir.or_(s, ir.not_(d));
    case VK_LOGIC_OP_COPY_INVERTED:
      return ir.not_(s);
    case VK_LOGIC_OP_OR_INVERTED:
      return ir.or_(ir.not_(s), d);
    case VK_LOGIC_OP_NAND:
      return ir.not_(ir.and_(s, d));
    case VK_LOGIC_OP_SET:
      return ir.ik(s, ~0u);
    default:
      return s;
  }
}

}  // namespace tilegpu::shader
