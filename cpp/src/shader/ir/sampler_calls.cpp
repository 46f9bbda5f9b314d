// shader/ir/sampler_calls.cpp -- sampler calls of optimised code: those of one descriptor that don't wait for each other are one call
// (decisions.md, 529), and alpha that nobody uses is not asked for.
//
// In: a module after its passes, when variables have become values and unused ones are gone. Out: the same module; calls whose result's
// alpha has no use have kWithoutAlpha in their mask. Joined ones stand where the first stood, before them what their coordinates need.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "shader/compiler.hpp"
#include "shader/ir/sampler_types.hpp"

namespace tilegpu::shader {
namespace {

constexpr const char* kMaskAttribute = "tilegpu-mask";
constexpr auto kOfFunction = static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex);

bool uses_alpha(Value call) {
  for (LLVMUseRef use = LLVMGetFirstUse(call); use; use = LLVMGetNextUse(use)) {
    Value user = LLVMGetUser(use);
    if (!LLVMIsAExtractValueInst(user) || LLVMGetIndices(user)[0] == 3) return true;
  }
  return false;
}

// -- calls that don't wait for each other --------------------------------------------------------------------------------------------

constexpr const char* kManyAttribute = "tilegpu-many";

bool has_mark(Value call, const char* name) {
  return LLVMIsACallInst(call) && LLVMGetCallSiteStringAttribute(call, kOfFunction, name, static_cast<unsigned>(std::strlen(name)));
}

/// A call of an intrinsic that touches no memory.
bool is_arithmetic_call(Value i) {
  Value callee = LLVMGetCalledValue(i);
  if (!LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee)) return false;
  LLVMAttributeRef memory = LLVMGetEnumAttributeAtIndex(callee, kOfFunction, LLVMGetEnumAttributeKindForName("memory", 6));
  return memory && LLVMGetEnumAttributeValue(memory) == 0;
}

bool writes_memory(Value i) {
  if (LLVMIsACallInst(i)) return !has_mark(i, kManyAttribute) && !has_mark(i, kMaskAttribute) && !is_arithmetic_call(i);
  return LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i);
}

/// Writes what a look-up may read: whatever is not in the function's own frame.
bool writes_images(Value i) {
  if (!writes_memory(i)) return false;
  if (LLVMIsACallInst(i)) {
    size_t length = 0;
    const char* name = LLVMIsAFunction(LLVMGetCalledValue(i)) ? LLVMGetValueName2(LLVMGetCalledValue(i), &length) : "";
    return std::strncmp(name, "llvm.lifetime.", 14) != 0;
  }
  if (!LLVMIsAStoreInst(i)) return true;
  Value to = LLVMGetOperand(i, 1);
  while (LLVMIsAGetElementPtrInst(to)) to = LLVMGetOperand(to, 0);
  return !LLVMIsAAllocaInst(to);
}

/// A block's marked calls of one descriptor, and what their arguments need that stands behind the first one.
class JoinedCalls {
 public:
  JoinedCalls(Block block) {
    uint32_t at = 0;
    for (Value i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
      place_[i] = at++;
      if (writes_memory(i)) writes_.push_back(at - 1);
      if (writes_images(i)) image_writes_.push_back(at - 1);
    }
  }
  void begin(Value leader) { calls_ = {leader}, moved_.clear(), block_ = LLVMGetInstructionParent(leader); }
  bool add(Value call) {
    Value leader = calls_[0];
    if (is_between(image_writes_, call)) return false;
    for (uint32_t k = 0; k < implicit_arg::count; ++k) {
      const bool own = k == implicit_arg::s || k == implicit_arg::t || k == implicit_arg::rho2;
      if (!own && LLVMGetOperand(call, k) != LLVMGetOperand(leader, k)) return false;
    }
    std::set<Value> cone;
    for (uint32_t k : {static_cast<uint32_t>(implicit_arg::s), static_cast<uint32_t>(implicit_arg::t)})
      if (!can_move(LLVMGetOperand(call, k), cone)) return false;
    moved_.insert(cone.begin(), cone.end());
    calls_.push_back(call);
    return true;
  }
  const std::vector<Value>& calls() const { return calls_; }
  /// Before the first call, in their order.
  void move(LLVMBuilderRef builder) {
    std::vector<Value> in_order(moved_.begin(), moved_.end());
    std::sort(in_order.begin(), in_order.end(), [&](Value a, Value b) { return place_[a] < place_[b]; });
    for (Value i : in_order) {
      LLVMInstructionRemoveFromParent(i);
      LLVMPositionBuilderBefore(builder, calls_[0]);
      LLVMInsertIntoBuilder(builder, i);
      place_[i] = place_[calls_[0]];
    }
  }

 private:
  bool can_move(Value v, std::set<Value>& cone) {
    if (!LLVMIsAInstruction(v) || LLVMGetInstructionParent(v) != block_ || place_[v] < place_[calls_[0]] || cone.count(v) ||
        moved_.count(v))
      return true;
    if (cone.size() > kMostMoved || LLVMIsAPHINode(v)) return false;
    if (LLVMIsACallInst(v) ? !is_arithmetic_call(v) : LLVMIsALoadInst(v) ? !is_readable_before(v) : !is_plain(v)) return false;
    for (int k = 0; k < LLVMGetNumOperands(v); ++k)
      if (!can_move(LLVMGetOperand(v, static_cast<unsigned>(k)), cone)) return false;
    cone.insert(v);
    return true;
  }
  bool is_readable_before(Value load) {
    if (LLVMGetVolatile(load) || LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic) return false;
    return !is_between(writes_, load);
  }
  /// Some of `places` are behind the first call, before `i`.
  bool is_between(const std::vector<uint32_t>& places, Value i) {
    const auto next = std::lower_bound(places.begin(), places.end(), place_[calls_[0]]);
    return next != places.end() && *next < place_[i];
  }
  static bool is_plain(Value v) {
    return LLVMIsABinaryOperator(v) || LLVMIsAUnaryOperator(v) || LLVMIsACmpInst(v) || LLVMIsASelectInst(v) || LLVMIsACastInst(v) ||
           LLVMIsAShuffleVectorInst(v) || LLVMIsAInsertElementInst(v) || LLVMIsAExtractElementInst(v) || LLVMIsAGetElementPtrInst(v) ||
           LLVMIsAFreezeInst(v);
  }

  static constexpr size_t kMostMoved = 200;
  Block block_ = nullptr;
  std::vector<Value> calls_;
  std::set<Value> moved_;
  std::map<Value, uint32_t> place_;
  std::vector<uint32_t> writes_, image_writes_;
};

/// Texels by memory: each part is loaded where it was taken out.
void call_many(LLVMBuilderRef builder, Value function, const std::vector<Value>& calls) {
  const auto context = LLVMGetTypeContext(LLVMTypeOf(function));
  Type f32 = LLVMFloatTypeInContext(context), i32 = LLVMInt32TypeInContext(context), ptr = LLVMPointerTypeInContext(context, 0);
  const unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(calls[0], implicit_arg::s)));
  Type vector = LLVMVectorType(f32, lanes);
  const auto align_B = 4 * lanes;
  const auto memory = [&](uint64_t vectors) {
    Value first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    LLVMPositionBuilderBefore(builder, first);
    Value m = LLVMBuildAlloca(builder, LLVMArrayType2(vector, vectors), "");
    LLVMSetAlignment(m, align_B);
    return m;
  };
  const auto at = [&](Value base, uint64_t k) {
    Value index = LLVMConstInt(LLVMInt64TypeInContext(context), k, 0);
    return LLVMBuildGEP2(builder, vector, base, &index, 1, "");
  };
  Value places = memory(2 * calls.size()), texels = memory(4 * calls.size());
  LLVMPositionBuilderBefore(builder, calls[0]);
  bool alpha = false;
  for (size_t k = 0; k < calls.size(); ++k) {
    for (uint32_t axis = 0; axis < 2; ++axis)
      LLVMSetAlignment(
          LLVMBuildStore(builder, LLVMGetOperand(calls[k], axis ? implicit_arg::t : implicit_arg::s), at(places, 2 * k + axis)), align_B);
    alpha = alpha || uses_alpha(calls[k]);
  }
  Value descriptor = LLVMGetOperand(calls[0], implicit_arg::descriptor), mask = LLVMGetOperand(calls[0], implicit_arg::mask);
  if (!alpha) mask = LLVMBuildOr(builder, mask, LLVMConstInt(LLVMTypeOf(mask), kWithoutAlpha, 0), "");
  Value slot_at = LLVMConstInt(LLVMInt64TypeInContext(context), offsetof(TextureDescriptor, sample_many), 0);
  Value slot = LLVMBuildLoad2(builder, ptr, LLVMBuildGEP2(builder, LLVMInt8TypeInContext(context), descriptor, &slot_at, 1, ""), "");
  Value callee = LLVMBuildLoad2(builder, ptr, slot, "");
  Type parameters[many_arg::count] = {ptr, ptr, ptr, i32, i32};
  Value arguments[many_arg::count] = {descriptor, places, texels, LLVMConstInt(i32, calls.size(), 0), mask};
  LLVMBuildCall2(builder, LLVMFunctionType(LLVMVoidTypeInContext(context), parameters, many_arg::count, 0), callee, arguments,
                 many_arg::count, "");
  for (size_t k = 0; k < calls.size(); ++k) {
    while (LLVMUseRef use = LLVMGetFirstUse(calls[k])) {
      Value part = LLVMGetUser(use);
      LLVMPositionBuilderBefore(builder, part);
      Value texel = LLVMBuildLoad2(builder, vector, at(texels, 4 * k + LLVMGetIndices(part)[0]), "");
      LLVMSetAlignment(texel, align_B);
      LLVMReplaceAllUsesWith(part, texel);
      LLVMInstructionEraseFromParent(part);
    }
    LLVMInstructionEraseFromParent(calls[k]);
  }
}

bool is_taken_apart(Value call) {
  for (LLVMUseRef use = LLVMGetFirstUse(call); use; use = LLVMGetNextUse(use))
    if (!LLVMIsAExtractValueInst(LLVMGetUser(use))) return false;
  return true;
}

}  // namespace

void mark_one_of_many(const Ir& ir, Value call) {
  LLVMAddCallSiteAttribute(
      call, kOfFunction, LLVMCreateStringAttribute(ir.context, kManyAttribute, static_cast<unsigned>(std::strlen(kManyAttribute)), "", 0));
}

void join_samples(LLVMModuleRef module) {
  constexpr size_t kFewest = kFewestJoinedSamples, kMostJoints = 8;  // of a function: each takes up to 6 kB of its frame
  LLVMBuilderRef builder = nullptr;
  for (Value f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    size_t joints = 0;
    for (Block b = LLVMGetFirstBasicBlock(f); b && joints < kMostJoints; b = LLVMGetNextBasicBlock(b)) {
      std::vector<Value> marked;
      for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (has_mark(i, kManyAttribute) && is_taken_apart(i)) marked.push_back(i);
      if (marked.size() < kFewest) continue;
      JoinedCalls joined(b);
      while (marked.size() >= kFewest && joints < kMostJoints) {
        joined.begin(marked[0]);
        std::vector<Value> rest;
        for (size_t k = 1; k < marked.size(); ++k)
          if (joined.calls().size() == kMostPlaces || !joined.add(marked[k])) rest.push_back(marked[k]);
        if (joined.calls().size() >= kFewest) {
          if (!builder) builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
          joined.move(builder);
          call_many(builder, f, joined.calls());
          joined = JoinedCalls(b), ++joints;
        }
        marked = rest;
      }
    }
  }
  if (builder) LLVMDisposeBuilder(builder);
}

void mark_alpha_optional(const Ir& ir, Value call, uint32_t mask_index) {
  const std::string index = std::to_string(mask_index);
  LLVMAddCallSiteAttribute(call, kOfFunction,
                           LLVMCreateStringAttribute(ir.context, kMaskAttribute, static_cast<unsigned>(std::strlen(kMaskAttribute)),
                                                     index.c_str(), static_cast<unsigned>(index.size())));
}

void leave_out_alpha(LLVMModuleRef module) {
  LLVMBuilderRef builder = nullptr;
  for (Value f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (Block b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsACallInst(i)) continue;
        LLVMAttributeRef mark =
            LLVMGetCallSiteStringAttribute(i, kOfFunction, kMaskAttribute, static_cast<unsigned>(std::strlen(kMaskAttribute)));
        if (!mark || uses_alpha(i)) continue;
        unsigned length = 0;
        const char* text = LLVMGetStringAttributeValue(mark, &length);
        const auto index = static_cast<unsigned>(std::stoul(std::string(text, length)));
        if (!builder) builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
        LLVMPositionBuilderBefore(builder, i);
        Value mask = LLVMGetOperand(i, index);
        LLVMSetOperand(i, index, LLVMBuildOr(builder, mask, LLVMConstInt(LLVMTypeOf(mask), kWithoutAlpha, 0), ""));
      }
    }
  }
  if (builder) LLVMDisposeBuilder(builder);
}

}  // namespace tilegpu::shader
