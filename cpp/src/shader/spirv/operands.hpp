// shader/spirv/operands.hpp -- which operands of an instruction are ids.
//
// In: an instruction of a block. Out: its ids, one by one. Literals, masks and numbers of enumerations lie among them and may look like
// any id: what asks whether a value, a pointer or a variable is named asks here, so that no answer depends on such a number.
// Source: SPIR-V specification 1.6, section 3.32 "Instructions", the operands of each; cpp/tests/test_operands.cpp compares with
// its machine-readable grammar.
#pragma once

#include "shader/spirv/cooperative_matrix.hpp"

namespace tilegpu::shader {

/// Operands [first, end) are literals; `end` is the count of all where they go on to the last.
struct LiteralOperands {
  uint32_t first = kNone, end = kNone;
};

inline LiteralOperands literal_operands(spv::Op op) {
  switch (static_cast<uint32_t>(op)) {  // some are of no enumeration that the headers have
    case spv::OpVariable:
      return {0, 1};  // storage class
    case spv::OpExtInst:
      return {1, 2};
    case spv::OpLoad:  // memory access; the ids behind it are constants that say an alignment or a scope
    case spv::OpArrayLength:
    case spv::OpCompositeExtract:
    case spv::OpSelectionMerge:
    case spv::OpSwitch:  // labels and literals by turns, which are wider than a word for wide selectors
      return {1, kNone};
    case kOpCooperativeMatrixLoad:  // memory access behind pointer, layout and stride
    case kOpCooperativeMatrixMulAdd:
      return {3, kNone};
    case kOpCooperativeMatrixStore:
      return {4, kNone};
    case spv::OpStore:
    case spv::OpCopyMemory:
    case spv::OpCompositeInsert:
    case spv::OpVectorShuffle:
    case spv::OpLoopMerge:
      return {2, kNone};
    case spv::OpBranchConditional:
      return {3, kNone};  // weights
    case spv::OpImageSampleImplicitLod:
    case spv::OpImageSampleExplicitLod:
    case spv::OpImageSampleProjImplicitLod:
    case spv::OpImageSampleProjExplicitLod:
    case spv::OpImageFetch:
    case spv::OpImageRead:
    case spv::OpSDot:
    case spv::OpUDot:
    case spv::OpSUDot:
      return {2, 3};  // image operands, packed vector format
    case spv::OpImageSampleDrefImplicitLod:
    case spv::OpImageSampleDrefExplicitLod:
    case spv::OpImageSampleProjDrefImplicitLod:
    case spv::OpImageSampleProjDrefExplicitLod:
    case spv::OpImageGather:
    case spv::OpImageDrefGather:
    case spv::OpImageWrite:
    case spv::OpSDotAccSat:
    case spv::OpUDotAccSat:
    case spv::OpSUDotAccSat:
      return {3, 4};
    case spv::OpGroupNonUniformBallotBitCount:
      return {1, 2};
    default:
      if (op >= spv::OpGroupNonUniformIAdd && op <= spv::OpGroupNonUniformLogicalXor) return {1, 2};  // what of a group
      return {};
  }
}

inline bool is_id(spv::Op op, uint32_t k) {
  const LiteralOperands literals = literal_operands(op);
  return k < literals.first || k >= literals.end;
}

/// f(id) for each operand that is an id, those of labels among them.
template <class F>
void each_id(const Module& m, const Instruction& i, F&& f) {
  assert(i.op != spv::OpLine);  // parse() leaves them out
  const LiteralOperands literals = literal_operands(i.op);
  for (uint32_t k = 0; k < i.count; ++k) {
    if (k < literals.first || k >= literals.end) f(m.operand(i, k));
  }
}

template <class F>
bool any_id(const Module& m, const Instruction& i, F&& f) {
  bool found = false;
  each_id(m, i, [&](uint32_t id) { found = found || f(id); });
  return found;
}

}  // namespace tilegpu::shader
