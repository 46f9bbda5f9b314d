// shader/jit/sve_code.cpp -- see sve_code.hpp.
#include "shader/jit/sve_code.hpp"

#include <llvm-c/Core.h>

#include <bit>
#include <cassert>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {
namespace {

/// A call of an intrinsic by its name, whose types follow from `signature`.
Value call(const Ir& ir, const std::string& name, Type result, std::initializer_list<Value> values) {
  std::vector<Value> arguments(values);
  std::vector<Type> types;
  for (Value v : arguments) types.push_back(LLVMTypeOf(v));
  const auto count = static_cast<unsigned>(arguments.size());
  Type signature = LLVMFunctionType(result, types.data(), count, 0);
  Value f = LLVMGetNamedFunction(ir.module, name.c_str());
  if (!f) f = LLVMAddFunction(ir.module, name.c_str(), signature);
  return LLVMBuildCall2(ir.builder, signature, f, arguments.data(), count, "");
}

/// As NEON's instruction does it, and SVE's: the nearest that there is, 0 for NaN. `x`: at most what a register holds.
Value saturated(const Ir& ir, Value x) {
  const std::string lanes = std::to_string(Ir::lanes_of(x));
  Type floats = LLVMScalableVectorType(ir.f32, 4), whole = LLVMScalableVectorType(ir.i32, 4), mask = LLVMScalableVectorType(ir.i1, 4);
  Value in = call(ir, "llvm.vector.insert.nxv4f32.v" + lanes + "f32", floats, {LLVMGetPoison(floats), x, ir.c64(0)});
  Value out = call(ir, "llvm.aarch64.sve.fcvtzs.nxv4i32.nxv4f32", whole, {LLVMGetUndef(whole), LLVMConstAllOnes(mask), in});
  return call(ir, "llvm.vector.extract.v" + lanes + "i32.nxv4i32", Ir::like(x, ir.i32), {out, ir.c64(0)});
}

/// In pieces that registers hold.
Value saturated(const Ir& ir, Value x, uint32_t most_lanes) {
  const uint32_t lanes = Ir::lanes_of(x);
  if (lanes <= most_lanes) return saturated(ir, x);
  const auto part = [&](Value v, uint32_t from, uint32_t count) {
    Value order[64];
    assert(count <= std::size(order));
    for (uint32_t k = 0; k < count; ++k) order[k] = ir.c32(from + k);
    Value other = Ir::lanes_of(v) == count ? v : LLVMGetPoison(LLVMTypeOf(v));
    return LLVMBuildShuffleVector(ir.builder, v, other, LLVMConstVector(order, count), "");
  };
  Value low = saturated(ir, part(x, 0, lanes / 2), most_lanes), high = saturated(ir, part(x, lanes / 2, lanes / 2), most_lanes);
  Value order[64];
  for (uint32_t k = 0; k < lanes; ++k) order[k] = ir.c32(k);
  return LLVMBuildShuffleVector(ir.builder, low, high, LLVMConstVector(order, lanes), "");
}

/// A bit for each lane of `mask`: the sum of the bits of those that are set.
Value word_of(const Ir& ir, Value mask, Type word) {
  const uint32_t lanes = Ir::lanes_of(mask);
  Value bits[32];
  assert(lanes <= std::size(bits));
  for (uint32_t k = 0; k < lanes; ++k) bits[k] = ir.c32(1u << k);
  Value places = LLVMConstVector(bits, lanes);
  Value set = LLVMBuildSelect(ir.builder, mask, places, LLVMConstNull(LLVMTypeOf(places)), "");
  Value sum = call(ir, "llvm.vector.reduce.add.v" + std::to_string(lanes) + "i32", ir.i32, {set});
  return lanes == 32 ? sum : LLVMBuildTrunc(ir.builder, sum, word, "");
}

/// Whether all that is asked of a mask is if any lane is set, or all: LLVM has few instructions for that.
bool is_asked_for_any(Value word) {
  for (LLVMUseRef use = LLVMGetFirstUse(word); use; use = LLVMGetNextUse(use)) {
    Value user = LLVMGetUser(use);
    Value bound = LLVMIsAICmpInst(user) ? LLVMGetOperand(user, 1) : nullptr;
    if (!bound || !LLVMIsAConstantInt(bound) || (!LLVMIsNull(bound) && LLVMConstIntGetSExtValue(bound) != -1)) return false;
  }
  return true;
}

/// What is to stand in place of an instruction, built before it; null: it stays.
Value better(const Ir& ir, Value at, uint32_t sve_bits) {
  if (LLVMIsABitCastInst(at)) {
    Value mask = LLVMGetOperand(at, 0);
    Type from = LLVMTypeOf(mask), to = LLVMTypeOf(at);
    const bool is_word =
        LLVMGetTypeKind(from) == LLVMVectorTypeKind && LLVMGetElementType(from) == ir.i1 && LLVMGetTypeKind(to) == LLVMIntegerTypeKind;
    const uint32_t lanes = is_word ? LLVMGetVectorSize(from) : 0;
    if (lanes < 8 || lanes > 32 || is_asked_for_any(at)) return nullptr;
    LLVMPositionBuilderBefore(ir.builder, at);
    return word_of(ir, mask, to);
  }
  Value callee = LLVMIsACallInst(at) ? LLVMGetCalledValue(at) : nullptr;
  if (!callee || !LLVMIsAFunction(callee)) return nullptr;
  size_t length = 0;
  const char* name = LLVMGetValueName2(callee, &length);
  if (!std::string_view(name, length).starts_with("llvm.fptosi.sat.v")) return nullptr;
  Value x = LLVMGetOperand(at, 0);
  const uint32_t lanes = Ir::lanes_of(x);
  if (lanes <= 4 || LLVMTypeOf(x) != Ir::vec(ir.f32, lanes) || LLVMTypeOf(at) != Ir::vec(ir.i32, lanes)) return nullptr;
  LLVMPositionBuilderBefore(ir.builder, at);
  return saturated(ir, x, std::bit_floor(sve_bits) / 32);
}

}  // namespace

void use_whole_registers(LLVMModuleRef module, uint32_t sve_bits) {
  assert(module && sve_bits > 128);
  const Ir ir(module, 4);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
      for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;) {
        LLVMValueRef next = LLVMGetNextInstruction(at);
        if (Value other = better(ir, at, sve_bits)) {
          LLVMReplaceAllUsesWith(at, other);
          LLVMInstructionEraseFromParent(at);
        }
        at = next;
      }
    }
  }
}

void set_register_bits(LLVMModuleRef module, uint32_t sve_bits) {
  assert(module && sve_bits >= 128 && sve_bits % 128 == 0);
  // In units of 128 bits, as powers of two. With both ends alike LLVM means all lanes where it needs so many; else it counts them.
  const uint64_t least = std::bit_floor(sve_bits / 128), most = std::bit_ceil(sve_bits / 128);
  const unsigned kind = LLVMGetEnumAttributeKindForName("vscale_range", 12);
  const LLVMAttributeRef range = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, least << 32 | most);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex), range);
}

uint64_t spilled_registers_B(const std::string& object, uint32_t sve_bits) {
  assert(sve_bits % 128 == 0);
  constexpr uint32_t kSp = 31;
  uint64_t registers = 0;
  uint32_t end = kSp;  // the register that has the stack's new end, once it is another; other instructions may stand between
  // Data that look like these instructions only make the bound larger.
  for (size_t at = 0; at + 4 <= object.size(); at += 4) {
    uint32_t word;
    std::memcpy(&word, object.data() + at, sizeof word);
    const uint32_t to = word & 31;
    const auto from_end = [&](uint32_t from) { return from == kSp || (from == end && to == end); };
    const bool addvl = (word & 0xffe0f800) == 0x04205000,
               subtracts = (word & 0xff800000) == 0xd1000000;      // to, from, #count; to, from, #bytes
    const int32_t count = static_cast<int32_t>(word << 21) >> 26;  // signed, of six bits
    const bool down = subtracts ? from_end(word >> 5 & 31) : addvl && count < 0 && from_end(word >> 16 & 31);
    if (down && addvl) registers += static_cast<uint64_t>(-count);
    if (down) end = to;
    if (!down && (addvl || subtracts) && to == end) end = kSp;
  }
  return registers * (sve_bits / 8);
}

}  // namespace tilegpu::shader
