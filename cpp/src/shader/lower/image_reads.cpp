// shader/lower/image_reads.cpp -- which texels of a bound image a stage can read. In: a ShaderModule, a binding. Out: ImageReads.
//
// What is behind a branch that the stage's constants close is not read. Source: SPIR-V specification 1.6, "Image Instructions".
#include "tilegpu/image_reads.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "shader/lower/reach.hpp"
#include "shader/module/module_facts.hpp"
#include "shader/spirv/interface.hpp"
#include "shader/spirv/newer_extensions.hpp"

namespace tilegpu::shader {
namespace {

constexpr int kMostSteps = 24;  // of an expression that is compared

struct Reader {
  const Module& m;
  const Reach reach;
  uint32_t set, binding;
  ImageReads result = {};
  mutable std::vector<uint32_t> stores = {};  // [bound] see stores_to; empty before it is asked

  bool is_ours(uint32_t id) const {
    const Instruction* i = m.find(id);
    while (i && (i->op == spv::OpCopyObject || i->op == spv::OpImage || i->op == spv::OpSampledImage)) i = m.find(m.operand(*i, 0));
    if (!i) return false;
    const std::vector<uint32_t> roots = resource_roots(m, i->id);
    return std::any_of(roots.begin(), roots.end(), [&](uint32_t root) {
      const Decorations& d = m.decoration(root);
      return (d.set == kNone ? 0 : d.set) == set && (d.binding == kNone ? 0 : d.binding) == binding;
    });
  }

  /// A number that no specialisation changes.
  const Instruction* literal(uint32_t id) const {
    const Instruction* i = m.find(id);
    return i && i->op == spv::OpConstant ? i : nullptr;
  }

  /// The operand of an image instruction whose mask stands at operand `at`; 0: it has none. Lod comes behind a bias, which none of these
  /// has.
  uint32_t lod_of(const Instruction& i, uint32_t at) const {
    return m.operand(i, at) & spv::ImageOperandsLodMask ? m.operand(i, at + 1) : 0;
  }

  void sample(const Instruction& i, uint32_t at) {
    const Instruction* lod = literal(lod_of(i, at));
    if (!lod || m.type(lod->type).kind != Kind::floating || m.type(lod->type).width_bits != 32) {
      result.samples = true;
      return;
    }
    const auto value = std::bit_cast<float>(m.operand(*lod, 0));
    if (std::isnan(value)) {  // no range holds it
      result.samples = true;
      return;
    }
    result.least_lod = result.samples_constant ? std::min(result.least_lod, value) : value;
    result.greatest_lod = result.samples_constant ? std::max(result.greatest_lod, value) : value;
    result.samples_constant = true;
  }

  void fetch(const Instruction& i) {
    const uint32_t id = lod_of(i, 2);
    const Instruction* lod = id ? literal(id) : nullptr;
    const uint32_t levels = !id ? 1 : !lod || m.operand(*lod, 0) >= ~0u - 1 ? ~0u : m.operand(*lod, 0) + 1;
    result.fetched_levels = std::max(result.fetched_levels, levels);
  }

  /// How often something is stored to a variable; those that are handed on count as often.
  uint32_t stores_to(uint32_t variable) const {
    if (stores.empty()) {
      stores.resize(m.bound);
      for (const Instruction& i : m.instructions) {
        if (i.op == spv::OpStore && m.operand(i, 0) < m.bound) stores[m.operand(i, 0)]++;
        if (i.op == spv::OpFunctionCall || i.op == spv::OpCopyMemory || i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain)
          for (uint32_t word : m.operands(i))
            if (word < m.bound) stores[word] += 2;
      }
    }
    return stores[variable];
  }

  /// Whether a variable holds one value as long as the invocation runs.
  bool is_constant(uint32_t pointer) const {
    const Instruction* i = m.find(pointer);
    if (i && i->op != spv::OpCopyObject) i = m.find(m.origin_of(pointer));
    if (!i || i->op != spv::OpVariable) return false;
    const spv::StorageClass storage = m.storage_of(i->id);
    if (storage == spv::StorageClassInput || storage == spv::StorageClassPushConstant) return true;
    return storage == spv::StorageClassFunction && i->id == pointer && stores_to(pointer) <= 1;
  }

  static bool is_pure(spv::Op op) {
    switch (static_cast<uint32_t>(op)) {
      case spv::OpAccessChain:
      case spv::OpInBoundsAccessChain:
      case spv::OpCompositeExtract:
      case spv::OpCompositeConstruct:
      case kOpCompositeConstructReplicate:
      case spv::OpVectorShuffle:
      case spv::OpCopyObject:
      case spv::OpBitcast:
      case spv::OpConvertFToS:
      case spv::OpConvertFToU:
      case spv::OpConvertSToF:
      case spv::OpConvertUToF:
      case spv::OpUConvert:
      case spv::OpSConvert:
      case spv::OpIAdd:
      case spv::OpISub:
      case spv::OpIMul:
      case spv::OpUDiv:
      case spv::OpSDiv:
      case spv::OpUMod:
      case spv::OpSMod:
      case spv::OpSRem:
      case spv::OpShiftLeftLogical:
      case spv::OpShiftRightLogical:
      case spv::OpBitwiseAnd:
      case spv::OpBitwiseOr:
      case spv::OpBitwiseXor:
        return true;
      default:
        return false;
    }
  }

  /// Whether two ids are one value, as far as their expressions show.
  bool is_same(uint32_t a, uint32_t b, int& steps) const {
    if (a == b) return true;
    if (--steps < 0) return false;
    const Instruction *x = m.find(a), *y = m.find(b);
    if (!x || !y || x->op != y->op || x->type != y->type || x->count != y->count) return false;
    if (x->op == spv::OpLoad) return is_constant(m.operand(*x, 0)) && is_same(m.operand(*x, 0), m.operand(*y, 0), steps);
    if (!is_pure(x->op)) return false;
    const uint32_t literals_from = x->op == spv::OpCompositeExtract ? 1 : x->op == spv::OpVectorShuffle ? 2 : ~0u;
    for (uint32_t k = 0; k < x->count; k++) {
      const uint32_t p = m.operand(*x, k), q = m.operand(*y, k);
      if (p != q && (k >= literals_from || !is_same(p, q, steps))) return false;
    }
    return true;
  }

  /// A store that comes before, in any case, to the same texel.
  bool has_stored(uint32_t load) const {
    const Instruction& read = m.instructions[load];
    for (const BasicBlock& block : m.functions.at(m.reachable.front()).blocks)
      for (uint32_t k = block.first; k < block.end && k < load; k++) {
        const Instruction& i = m.instructions[k];
        int steps = kMostSteps;
        if (i.op == spv::OpImageWrite && reach[k] == Runs::always && is_ours(m.operand(i, 0)) &&
            is_same(m.operand(i, 1), m.operand(read, 1), steps))
          return true;
      }
    return false;
  }

  bool in_entry(uint32_t instruction) const {
    const auto& blocks = m.functions.at(m.reachable.front()).blocks;
    return std::any_of(blocks.begin(), blocks.end(), [&](const BasicBlock& b) { return instruction >= b.first && instruction < b.end; });
  }

  void look_at(uint32_t k) {
    const Instruction& i = m.instructions[k];
    switch (i.op) {
      case spv::OpImageSampleImplicitLod:
      case spv::OpImageSampleDrefImplicitLod:
      case spv::OpImageSampleProjImplicitLod:
      case spv::OpImageSampleProjDrefImplicitLod:
        if (is_ours(m.operand(i, 0))) result.samples = true;
        break;
      case spv::OpImageSampleExplicitLod:
      case spv::OpImageSampleProjExplicitLod:
        if (is_ours(m.operand(i, 0))) sample(i, 2);
        break;
      case spv::OpImageSampleDrefExplicitLod:
      case spv::OpImageSampleProjDrefExplicitLod:
        if (is_ours(m.operand(i, 0))) sample(i, 3);
        break;
      case spv::OpImageGather:
      case spv::OpImageDrefGather:
        if (is_ours(m.operand(i, 0))) result.gathers = true;
        break;
      case spv::OpImageFetch:
        if (is_ours(m.operand(i, 0))) fetch(i);
        break;
      case spv::OpImageRead:
        if (is_ours(m.operand(i, 0)) && !(in_entry(k) && has_stored(k))) result.loads = true;
        break;
      case spv::OpImageWrite:
        if (is_ours(m.operand(i, 0))) result.stores = true;
        break;
      case spv::OpImageTexelPointer:
        if (is_ours(m.operand(i, 0))) result.loads = result.stores = true;
        break;
      default:
        break;
    }
  }
};

}  // namespace
}  // namespace tilegpu::shader

namespace tilegpu {

ImageReads image_reads(const ShaderModule& module, uint32_t set, uint32_t binding,
                       const std::vector<std::pair<uint32_t, uint64_t>>& specialization) {
  ImageReads unknown;
  unknown.samples = unknown.gathers = unknown.loads = true, unknown.fetched_levels = ~0u;
  Expected<shader::Constants> constants = shader::specialise(module, specialization);
  if (!constants) return unknown;
  const shader::Module& m = module.module();
  assert(!m.reachable.empty());
  shader::Reader reader{m, shader::find_reach(m, *constants), set, binding};
  for (const uint32_t id : m.reachable)
    for (const shader::BasicBlock& block : m.functions.at(id).blocks)
      for (uint32_t k = block.first; k < block.end; k++)
        if (reader.reach[k] != shader::Runs::never) reader.look_at(k);
  return reader.result;
}

}  // namespace tilegpu
