// shader/ir/unseen_sums.cpp -- see unseen_sums.hpp. In, out, source: see there.
#include "shader/ir/unseen_sums.hpp"

#include <cmath>
#include <optional>
#include <string_view>

namespace tilegpu::shader {
namespace {

// Below 2^31 floats lie 128 apart, above it 256: x + c is at least 2^31 where x is, for |c| below half of the lesser distance.
constexpr float kMostAdded = 63, kBeyondInt32 = 0x1p31f;

/// The same finite number on all lanes.
std::optional<float> constant_of(Value v) {
  float number = 0;
  if (Ir::bits_of(v) != 32 || !Ir::is_float(v) || !Ir::constant_float(v, number)) return std::nullopt;
  return number;
}

bool calls(Value user, std::string_view prefix) {
  if (!LLVMIsACallInst(user)) return false;
  Value callee = LLVMGetCalledValue(user);
  size_t length = 0;
  return callee && LLVMIsAFunction(callee) && std::string_view(LLVMGetValueName2(callee, &length)).starts_with(prefix);
}

/// Of floats to integers of 32 bits (math_convert.cpp).
bool converts(Value user) {
  for (const char* name :
       {"llvm.x86.avx512.mask.cvttps2", "llvm.x86.avx.cvtt.ps2dq", "llvm.x86.sse2.cvttps2dq", "llvm.fptosi.sat", "llvm.fptoui.sat"})
    if (calls(user, name)) return true;
  return LLVMIsAFPToSIInst(user) || LLVMIsAFPToUIInst(user);
}

/// What decides about lanes that cannot be converted: only which of NaN and large numbers they hold.
bool sorts_unconverted(Value user) { return calls(user, "llvm.x86.avx512.mask.fixupimm.ps"); }

/// Of x and x + 0, which differ in the sign of a zero alone.
bool sees_sign_of_zero(Value user, int depth = 4) {
  if (LLVMIsAFCmpInst(user) || converts(user) || sorts_unconverted(user)) return false;
  if (!LLVMIsASelectInst(user) || depth == 0) return true;  // a clamp before a conversion
  for (LLVMUseRef use = LLVMGetFirstUse(user); use; use = LLVMGetNextUse(use))
    if (sees_sign_of_zero(LLVMGetUser(use), depth - 1)) return true;
  return false;
}

/// Of x and x + c: whether it is a number, or at least 2^31.
bool sees_sum(Value user, Value sum) {
  if (sorts_unconverted(user)) return false;
  if (!LLVMIsAFCmpInst(user) || LLVMGetOperand(user, 0) != sum) return true;
  const LLVMRealPredicate p = LLVMGetFCmpPredicate(user);
  Value with = LLVMGetOperand(user, 1);
  if (p == LLVMRealORD || p == LLVMRealUNO) return with != sum && !constant_of(with);
  return (p != LLVMRealOLT && p != LLVMRealOGE && p != LLVMRealULT && p != LLVMRealUGE) || constant_of(with) != kBeyondInt32;
}

/// True where some user of the sum has x in its place.
bool skip(Value sum, Value x, float c) {
  bool changed = false;
  for (LLVMUseRef use = LLVMGetFirstUse(sum); use;) {
    Value user = LLVMGetUser(use);
    use = LLVMGetNextUse(use);
    if (c == 0 ? sees_sign_of_zero(user) : sees_sum(user, sum)) continue;
    for (int k = 0; k < LLVMGetNumOperands(user); ++k)
      if (LLVMGetOperand(user, static_cast<unsigned>(k)) == sum) LLVMSetOperand(user, static_cast<unsigned>(k), x);
    changed = true;
    use = LLVMGetFirstUse(sum);  // the list has changed
  }
  return changed;
}

}  // namespace

bool skip_unseen_sums(LLVMModuleRef module) {
  bool changed = false;
  for (Value f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (Block b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        if (LLVMGetInstructionOpcode(i) != LLVMFAdd) continue;
        const std::optional<float> c = constant_of(LLVMGetOperand(i, 1));
        if (c && std::fabs(*c) <= kMostAdded) changed |= skip(i, LLVMGetOperand(i, 0), *c);
      }
    }
  }
  return changed;
}

}  // namespace tilegpu::shader
