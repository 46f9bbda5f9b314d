// shader/lower/pixel_slices.cpp -- see pixel_slices.hpp: a walk from each derivative back to inputs, constants and what all lanes share.
#include "shader/lower/pixel_slices.hpp"

#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <cassert>

#include "shader/spirv/interface.hpp"
#include "shader/spirv/newer_extensions.hpp"
#include "shader/spirv/operands.hpp"

namespace tilegpu::shader {
namespace {

/// The operand whose neighbours count; kNone: the instruction looks at none; 0: no lane can do this alone.
uint32_t differentiated(const Module& m, const Instruction& i) {
  switch (i.op) {
    case spv::OpDPdx:
    case spv::OpDPdy:
    case spv::OpFwidth:
    case spv::OpDPdxCoarse:
    case spv::OpDPdyCoarse:
    case spv::OpFwidthCoarse:
      return m.operand(i, 0);
    case spv::OpImageSampleImplicitLod:
    case spv::OpImageSampleDrefImplicitLod:
      return m.operand(i, 1);
    case spv::OpImageSampleProjImplicitLod:
    case spv::OpImageSampleProjDrefImplicitLod:
    case spv::OpImageQueryLod:
    case spv::OpDPdxFine:
    case spv::OpDPdyFine:
    case spv::OpFwidthFine:
      return 0;
    default:
      return (i.op >= spv::OpGroupNonUniformElect && i.op <= spv::OpGroupNonUniformQuadSwap) || i.op == spv::OpGroupNonUniformRotateKHR ||
                     is_quad_vote(i.op)
                 ? 0
                 : kNone;
  }
}

/// Operations on values alone: nothing but their operands and the pixel decides the result.
bool is_plain(const Module& m, const Instruction& i) {
  switch (static_cast<uint32_t>(i.op)) {
    case spv::OpVectorShuffle:
    case spv::OpCompositeConstruct:
    case kOpCompositeConstructReplicate:
    case spv::OpCompositeExtract:
    case spv::OpCopyObject:
    case spv::OpConvertFToU:
    case spv::OpConvertFToS:
    case spv::OpConvertSToF:
    case spv::OpConvertUToF:
    case spv::OpBitcast:
    case spv::OpIAdd:
    case spv::OpISub:
    case spv::OpIMul:
    case spv::OpShiftLeftLogical:
    case spv::OpShiftRightLogical:
    case spv::OpShiftRightArithmetic:
    case spv::OpBitwiseAnd:
    case spv::OpBitwiseOr:
    case spv::OpBitwiseXor:
    case spv::OpFNegate:
    case spv::OpFAdd:
    case spv::OpFSub:
    case spv::OpFMul:
    case spv::OpFDiv:
    case spv::OpFMod:
    case spv::OpVectorTimesScalar:
    case spv::OpMatrixTimesVector:
    case spv::OpVectorTimesMatrix:
    case spv::OpDot:
      return true;
    case spv::OpExtInst:
      if (m.operand(i, 0) != m.glsl450) return false;
      switch (m.operand(i, 1)) {
        case GLSLstd450FAbs:
        case GLSLstd450Floor:
        case GLSLstd450Ceil:
        case GLSLstd450Fract:
        case GLSLstd450Trunc:
        case GLSLstd450FMin:
        case GLSLstd450FMax:
        case GLSLstd450FClamp:
        case GLSLstd450FMix:
        case GLSLstd450Fma:
          return true;
        default:
          return false;
      }
    default:
      return false;
  }
}

/// The store that gives a local variable its only value, for all lanes, before anything reads it; kNone: there is no such.
uint32_t only_store(const Module& m, const Divergence& d, const Function& function, uint32_t variable) {
  const Instruction* declared = m.find(variable);
  assert(declared && declared->op == spv::OpVariable && variable < d.dynamic.size());
  if (declared->count > 1 || d.dynamic[variable]) return kNone;
  uint32_t store = kNone, first_read = kNone;
  std::set<uint32_t> pointers{variable};  // to it and to its parts
  for (const BasicBlock& b : function.blocks) {
    for (uint32_t k = b.first; k < b.end; ++k) {
      const Instruction& i = m.instructions[k];
      if (&i == declared) continue;
      if (!any_id(m, i, [&](uint32_t id) { return pointers.count(id) != 0; })) continue;
      if (i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain) {
        pointers.insert(i.id);
      } else if (i.op == spv::OpLoad) {
        first_read = std::min(first_read, k);
      } else if (i.op == spv::OpStore && m.operand(i, 0) == variable && store == kNone) {
        const BasicBlock& entry = function.blocks.front();
        const bool always = function.id == m.entry.function && k >= entry.first && k < entry.end;
        if (!always) return kNone;
        store = k;
      } else {
        return kNone;
      }
    }
  }
  return store < first_read ? store : kNone;
}

struct Walk {
  const Module& m;
  const Constants& constants;
  const Divergence& d;
  PixelSlices& slices;
  const Function& function;
  std::vector<uint32_t> found;  // instructions
  std::set<uint32_t> locals = {};

  bool in_function(uint32_t index) const {
    return std::any_of(function.blocks.begin(), function.blocks.end(),
                       [&](const BasicBlock& b) { return index >= b.first && index < b.end; });
  }

  bool value(uint32_t id) {
    if (constants.find(id) || !d.is_varying(id)) return true;
    const Instruction* i = m.find(id);
    if (!i || d.escape[id]) return false;
    const auto index = static_cast<uint32_t>(i - m.instructions.data());
    if (!in_function(index)) return false;
    if (std::find(found.begin(), found.end(), index) != found.end()) return true;
    if (i->op == spv::OpLoad && is_flat(m.operand(*i, 0))) return true;
    if (found.size() >= kMostSliceInstructions) return false;
    found.push_back(index);
    if (i->op == spv::OpLoad) return input(m.operand(*i, 0)) || local(m.operand(*i, 0));
    if (!is_plain(m, *i)) return false;
    // Ids among the operands; literals follow them.
    uint32_t first = 0, end = i->count;
    if (i->op == spv::OpExtInst) first = 2;
    if (i->op == spv::OpVectorShuffle) end = 2;
    if (i->op == spv::OpCompositeExtract) end = 1;
    for (uint32_t k = first; k < end; ++k)
      if (!value(m.operand(*i, k))) return false;
    return true;
  }

  // A load of a local variable: of what was stored there.
  bool local(uint32_t pointer) {
    const uint32_t root = pointer_root(m, pointer);
    const Instruction* variable = root ? m.find(root) : nullptr;
    if (!variable || variable->op != spv::OpVariable || m.storage_of(root) != spv::StorageClassFunction) return false;
    const uint32_t store = only_store(m, d, function, root);
    if (store == kNone) return false;
    if (!locals.insert(root).second) return true;
    assert(m.instructions[store].op == spv::OpStore && in_function(store));
    found.push_back(store);
    return value(m.operand(m.instructions[store], 1));
  }

  // The same for all pixels of a primitive.
  bool is_flat(uint32_t pointer) const {
    const uint32_t root = pointer_root(m, pointer);
    const Instruction* variable = root ? m.find(root) : nullptr;
    if (!variable || variable->op != spv::OpVariable || m.storage_of(root) != spv::StorageClassInput) return false;
    for (const InterfaceScalar& s : interface_of(m, constants, root)) {
      const bool of_primitive = s.builtin == spv::BuiltInPrimitiveId || s.builtin == spv::BuiltInFrontFacing;
      if (s.builtin == kNone ? s.interpolation != Interpolation::flat : !of_primitive) return false;
    }
    return true;
  }

  // A load: of an input that the shader does not index dynamically, floats only.
  bool input(uint32_t pointer) {
    const uint32_t root = pointer_root(m, pointer);
    if (!root || root >= d.dynamic.size() || d.dynamic[root]) return false;
    const Instruction* variable = m.find(root);
    if (!variable || variable->op != spv::OpVariable || m.storage_of(root) != spv::StorageClassInput) return false;
    for (const InterfaceScalar& s : interface_of(m, constants, root)) {
      if (s.builtin != kNone && s.builtin != spv::BuiltInFragCoord) return false;
      if (s.base != Base::f32 || s.centroid || s.sample) return false;
    }
    slices.inputs.insert(root);
    return true;
  }
};

}  // namespace

std::optional<PixelSlices> find_pixel_slices(const Module& m, const Constants& constants, const Divergence& divergence) {
  PixelSlices slices;
  uint32_t count = 0;
  for (uint32_t id : m.reachable) {
    const Function& function = m.functions.at(id);
    for (const BasicBlock& b : function.blocks) {
      for (uint32_t k = b.first; k < b.end; ++k) {
        const uint32_t of = differentiated(m, m.instructions[k]);
        if (of == kNone) continue;
        if (of == 0 || ++count > kMostSlices) return std::nullopt;
        Walk walk{m, constants, divergence, slices, function, {}};
        if (!walk.value(of)) return std::nullopt;
        std::sort(walk.found.begin(), walk.found.end());
        slices.of[of] = {std::move(walk.found), std::move(walk.locals)};
      }
    }
  }
  return slices;
}

}  // namespace tilegpu::shader
