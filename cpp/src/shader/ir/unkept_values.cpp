// shader/ir/unkept_values.cpp -- see unkept_values.hpp. In, out, source: see there.
#include "shader/ir/unkept_values.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace tilegpu::shader {
namespace {

// Fewer are not worth a branch more.
constexpr size_t kFewest = 64;

/// A block that ends by asking whether any lane of a mask wants `then`.
struct Branch {
  Value mask = nullptr, bits = nullptr;  // and the integer that it is asked as
  Block then = nullptr, otherwise = nullptr;
};

bool find_branch(Block block, Branch& found) {
  Value end = LLVMGetBasicBlockTerminator(block);
  if (!end || !LLVMIsABranchInst(end) || !LLVMIsConditional(end)) return false;
  Value condition = LLVMGetCondition(end);
  if (!LLVMIsAICmpInst(condition) || !LLVMIsNull(LLVMGetOperand(condition, 1))) return false;
  const LLVMIntPredicate p = LLVMGetICmpPredicate(condition);
  if (p != LLVMIntNE && p != LLVMIntEQ) return false;
  found.bits = LLVMGetOperand(condition, 0);
  if (LLVMIsAZExtInst(found.bits)) found.bits = LLVMGetOperand(found.bits, 0);
  if (!LLVMIsABitCastInst(found.bits)) return false;
  found.mask = LLVMGetOperand(found.bits, 0);
  if (Ir::lanes_of(found.mask) < 4 || Ir::bits_of(found.mask) != 1) return false;
  found.then = LLVMGetSuccessor(end, p == LLVMIntNE ? 0 : 1), found.otherwise = LLVMGetSuccessor(end, p == LLVMIntNE ? 1 : 0);
  // Only from here, and straight to where the other way leads.
  Value back = LLVMGetBasicBlockTerminator(found.then);
  return found.then != found.otherwise && found.otherwise != block && LLVMIsABranchInst(back) && !LLVMIsConditional(back) &&
         LLVMGetSuccessor(back, 0) == found.otherwise && !LLVMIsAPHINode(LLVMGetFirstInstruction(found.then));
}

bool has_one_way_in(Block block) {
  size_t ways = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use; use = LLVMGetNextUse(use))
    ways += LLVMIsATerminatorInst(LLVMGetUser(use)) ? 1 : 0;
  return ways == 1;
}

/// Arithmetic, which nothing but its operands decides about.
bool is_arithmetic(Value i) {
  if (LLVMIsABinaryOperator(i) || LLVMIsAUnaryOperator(i) || LLVMIsACastInst(i) || LLVMIsACmpInst(i) || LLVMIsASelectInst(i) ||
      LLVMIsAShuffleVectorInst(i) || LLVMIsAInsertElementInst(i) || LLVMIsAExtractElementInst(i))
    return true;
  if (!LLVMIsACallInst(i) || !LLVMIsAFunction(LLVMGetCalledValue(i))) return false;
  size_t length = 0;
  const std::string_view name(LLVMGetValueName2(LLVMGetCalledValue(i), &length));
  for (const char* known : {"llvm.fma.", "llvm.sqrt.", "llvm.fabs.", "llvm.floor.", "llvm.ceil.", "llvm.trunc.", "llvm.roundeven.",
                            "llvm.copysign.", "llvm.x86.avx512.mask.cvt", "llvm.x86.avx512.mask.fixupimm.", "llvm.x86.avx512.mask.scalef.",
                            "llvm.x86.avx.cvtt.", "llvm.x86.sse2.cvtt", "llvm.umin.", "llvm.umax.", "llvm.smin.", "llvm.smax."})
    if (name.starts_with(known)) return true;
  return false;
}

struct Unkept {
  const Branch& branch;
  Block block;
  std::unordered_set<Value> moved;
  std::vector<Value> in_order;  // the last first

  /// Whether a user needs the value only for lanes that keep it.
  bool keeps(Value user, Value v) const {
    if (moved.count(user)) return true;
    const Block of = LLVMGetInstructionParent(user);
    if (LLVMIsAPHINode(user) && of == branch.otherwise) {
      for (unsigned k = 0; k < LLVMCountIncoming(user); ++k)
        if (LLVMGetIncomingValue(user, k) == v && LLVMGetIncomingBlock(user, k) != block) return false;
      return true;
    }
    return LLVMIsASelectInst(user) && of == branch.then && LLVMGetOperand(user, 0) == branch.mask && LLVMGetOperand(user, 2) == v &&
           LLVMGetOperand(user, 1) != v;
  }

  void find() {
    for (Value i = LLVMGetLastInstruction(block); i; i = LLVMGetPreviousInstruction(i)) {
      if (!is_arithmetic(i) || !LLVMGetFirstUse(i)) continue;
      bool only = true;
      for (LLVMUseRef use = LLVMGetFirstUse(i); use && only; use = LLVMGetNextUse(use)) only = keeps(LLVMGetUser(use), i);
      if (only) moved.insert(i), in_order.push_back(i);
    }
  }

  /// To a block of its own, which packets all of whose lanes take the branch pass by.
  void move(LLVMBuilderRef builder) const {
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(block)));
    Value end = LLVMGetBasicBlockTerminator(block), condition = LLVMGetCondition(end);
    Block join = LLVMInsertBasicBlockInContext(context, branch.then, "kept_end"),
          compute = LLVMInsertBasicBlockInContext(context, join, "kept");
    LLVMPositionBuilderBefore(builder, end);
    Value all = LLVMBuildICmp(builder, LLVMIntEQ, branch.bits, LLVMConstAllOnes(LLVMTypeOf(branch.bits)), "");
    LLVMPositionBuilderAtEnd(builder, compute);
    for (auto i = in_order.rbegin(); i != in_order.rend(); ++i) {
      LLVMInstructionRemoveFromParent(*i);
      LLVMInsertIntoBuilder(builder, *i);
    }
    LLVMBuildBr(builder, join);
    LLVMPositionBuilderAtEnd(builder, join);
    for (Value v : in_order) {
      std::vector<Value> outside;
      for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use))
        if (!moved.count(LLVMGetUser(use))) outside.push_back(LLVMGetUser(use));
      if (outside.empty()) continue;
      Value phi = LLVMBuildPhi(builder, LLVMTypeOf(v), "");
      for (Value user : outside)
        for (int k = 0; k < LLVMGetNumOperands(user); ++k)
          if (LLVMGetOperand(user, static_cast<unsigned>(k)) == v) LLVMSetOperand(user, static_cast<unsigned>(k), phi);
      Value values[2] = {v, LLVMGetPoison(LLVMTypeOf(v))};
      Block blocks[2] = {compute, block};
      LLVMAddIncoming(phi, values, blocks, 2);
    }
    // What came from here to the phis of the other way comes from the join now.
    const bool then_first = LLVMGetSuccessor(end, 0) == branch.then;
    LLVMBuildCondBr(builder, condition, then_first ? branch.then : branch.otherwise, then_first ? branch.otherwise : branch.then);
    LLVMPositionBuilderBefore(builder, end);
    LLVMBuildCondBr(builder, all, join, compute);
    LLVMInstructionEraseFromParent(end);
    for (Value phi = LLVMGetFirstInstruction(branch.otherwise); phi && LLVMIsAPHINode(phi);) {
      Value next = LLVMGetNextInstruction(phi);
      LLVMPositionBuilderBefore(builder, phi);
      Value again = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
      for (unsigned k = 0; k < LLVMCountIncoming(phi); ++k) {
        Value v = LLVMGetIncomingValue(phi, k);
        Block from = LLVMGetIncomingBlock(phi, k) == block ? join : LLVMGetIncomingBlock(phi, k);
        if (v == phi) v = again;
        LLVMAddIncoming(again, &v, &from, 1);
      }
      LLVMReplaceAllUsesWith(phi, again);
      LLVMInstructionEraseFromParent(phi);
      phi = next;
    }
  }
};

}  // namespace

bool skip_unkept_values(LLVMModuleRef module) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  bool changed = false;
  for (Value f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (Block b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      Branch branch;
      if (!find_branch(b, branch) || !has_one_way_in(branch.then)) continue;
      Unkept unkept{branch, b, {}, {}};
      unkept.find();
      if (unkept.in_order.size() < kFewest) continue;
      unkept.move(builder);
      changed = true;
    }
  }
  LLVMDisposeBuilder(builder);
  return changed;
}

}  // namespace tilegpu::shader
