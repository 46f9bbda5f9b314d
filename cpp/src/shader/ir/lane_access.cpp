// shader/ir/lane_access.cpp -- see lane_access.hpp.
#include "shader/ir/lane_access.hpp"

#include <optional>
#include <unordered_map>
#include <utility>

namespace tilegpu::shader {
namespace {

constexpr const char* kQuestion = "lane_step.";
constexpr int kMostDepth = 24;

std::optional<int64_t> integer(Value v) {
  if (!v || !LLVMIsAConstantInt(v)) return std::nullopt;
  return LLVMConstIntGetSExtValue(v);
}

/// Of a constant vector whose elements are the same.
std::optional<int64_t> splat_of(Value v) {
  if (!LLVMIsConstant(v)) return std::nullopt;
  const auto first = integer(LLVMGetAggregateElement(v, 0));
  for (uint32_t k = 1; first && k < Ir::lanes_of(v); ++k)
    if (integer(LLVMGetAggregateElement(v, k)) != first) return std::nullopt;
  return first;
}

/// How much a vector grows from each lane to the next, modulo 2^32.
struct Steps {
  struct Known {
    std::optional<uint32_t> step;
    int depth;  // to which it was looked for: where there is none
  };
  std::unordered_map<Value, uint32_t> assumed;  // of OpPhi that are being looked at
  std::unordered_map<Value, Known> known;       // under what is assumed: a value may be reached by many ways
  bool clamped = false;                         // some part that grows was: the step is one that it may have

  std::optional<uint32_t> of_constant(Value v) const {
    const auto first = integer(LLVMGetAggregateElement(v, 0)), second = integer(LLVMGetAggregateElement(v, 1));
    if (!first || !second) return std::nullopt;
    const auto step = static_cast<uint32_t>(*second - *first);
    for (uint32_t k = 2; k < Ir::lanes_of(v); ++k) {
      const auto at = integer(LLVMGetAggregateElement(v, k));
      if (!at || static_cast<uint32_t>(*at - *first) != step * k) return std::nullopt;
    }
    return step;
  }

  /// A clamp (Ir::umin, or what became of it) to what is the same for all lanes: what it was before.
  static Value unclamped(Value v) {
    if (LLVMIsASelectInst(v)) {
      Value condition = LLVMGetOperand(v, 0), a = LLVMGetOperand(v, 1), b = LLVMGetOperand(v, 2);
      if (!LLVMIsAICmpInst(condition) || !splat_of(b) || !splat_of(LLVMGetOperand(condition, 1))) return nullptr;
      const LLVMIntPredicate p = LLVMGetICmpPredicate(condition);
      return (p == LLVMIntULT || p == LLVMIntULE) && LLVMGetOperand(condition, 0) == a ? a : nullptr;
    }
    if (!LLVMIsACallInst(v)) return nullptr;
    Value callee = LLVMGetCalledValue(v);
    if (!callee || !LLVMIsAFunction(callee)) return nullptr;
    size_t length = 0;
    const std::string_view name(LLVMGetValueName2(callee, &length));
    return name.starts_with("llvm.umin.") && splat_of(LLVMGetOperand(v, 1)) ? LLVMGetOperand(v, 0) : nullptr;
  }

  /// Starts with the step that the value has on entry, and holds if every other way in has it too.
  std::optional<uint32_t> of_phi(Value v, int depth) {
    if (const auto found = assumed.find(v); found != assumed.end()) return found->second;
    const unsigned count = LLVMCountIncoming(v);
    std::optional<uint32_t> step;
    for (unsigned k = 0; k < count && !step; ++k)
      if (!LLVMIsAInstruction(LLVMGetIncomingValue(v, k))) step = of(LLVMGetIncomingValue(v, k), depth - 1);
    for (unsigned k = 0; k < count && !step; ++k)
      if (!LLVMIsAPHINode(LLVMGetIncomingValue(v, k)) && !uses(LLVMGetIncomingValue(v, k), v, 4))
        step = of(LLVMGetIncomingValue(v, k), depth - 1);
    if (!step) return std::nullopt;
    assumed[v] = *step;
    auto before = std::exchange(known, {});
    bool all = true;
    for (unsigned k = 0; k < count && all; ++k) all = of(LLVMGetIncomingValue(v, k), depth - 1) == step;
    assumed.erase(v);
    known = std::move(before);
    return all ? step : std::nullopt;
  }
  static bool uses(Value v, Value wanted, int depth) {
    if (v == wanted) return true;
    if (depth == 0 || !LLVMIsAInstruction(v) || LLVMIsAPHINode(v)) return false;
    for (int k = 0; k < LLVMGetNumOperands(v); ++k)
      if (uses(LLVMGetOperand(v, static_cast<unsigned>(k)), wanted, depth - 1)) return true;
    return false;
  }

  std::optional<uint32_t> of(Value v, int depth) {
    if (depth <= 0 || Ir::lanes_of(v) < 2 || !Ir::is_integer(v) || Ir::bits_of(v) != 32) return std::nullopt;
    if (const auto found = known.find(v); found != known.end() && (found->second.step || found->second.depth >= depth))
      return found->second.step;
    const std::optional<uint32_t> step = looked_for(v, depth);
    known[v] = {step, depth};
    return step;
  }

  std::optional<uint32_t> looked_for(Value v, int depth) {
    if (LLVMIsAUndefValue(v)) return 0;
    if (LLVMIsConstant(v)) return of_constant(v);
    if (!LLVMIsAInstruction(v)) return std::nullopt;
    if (LLVMIsAPHINode(v)) return of_phi(v, depth);
    if (Value before = unclamped(v)) {
      const auto step = of(before, depth - 1);
      clamped |= step && *step != 0;  // what is the same for all lanes stays so
      return step;
    }
    const auto both = [&](auto&& f) -> std::optional<uint32_t> {
      const auto a = of(LLVMGetOperand(v, 0), depth - 1);
      const auto b = a ? of(LLVMGetOperand(v, 1), depth - 1) : std::nullopt;
      if (!b) return std::nullopt;
      return f(*a, *b);
    };
    switch (LLVMGetInstructionOpcode(v)) {
      case LLVMAdd:
        return both([](uint32_t a, uint32_t b) { return a + b; });
      case LLVMSub:
        return both([](uint32_t a, uint32_t b) { return a - b; });
      case LLVMOr:
        // What instcombine makes of sums whose bits don't meet.
        return LLVMGetIsDisjoint(v)
                   ? both([](uint32_t a, uint32_t b) { return a + b; })
                   : both([](uint32_t a, uint32_t b) { return std::optional<uint32_t>(a | b ? std::nullopt : std::optional(0u)); });
      case LLVMMul: {
        const auto zero = both([](uint32_t a, uint32_t b) { return std::optional<uint32_t>(a | b ? std::nullopt : std::optional(0u)); });
        if (zero) return zero;
        for (unsigned k = 0; k < 2; ++k)
          if (const auto factor = splat_of(LLVMGetOperand(v, k)))
            if (const auto step = of(LLVMGetOperand(v, 1 - k), depth - 1)) return static_cast<uint32_t>(*factor) * *step;
        return std::nullopt;
      }
      case LLVMShl: {
        const auto amount = splat_of(LLVMGetOperand(v, 1));
        const auto step = amount && *amount >= 0 && *amount < 32 ? of(LLVMGetOperand(v, 0), depth - 1) : std::nullopt;
        if (!step) return std::nullopt;
        return *step << *amount;
      }
      case LLVMAnd:
      case LLVMXor:
      case LLVMLShr:
      case LLVMAShr:
      case LLVMUDiv:
      case LLVMSDiv:
      case LLVMURem:
      case LLVMSRem:
        return both([](uint32_t a, uint32_t b) { return std::optional<uint32_t>(a | b ? std::nullopt : std::optional(0u)); });
      case LLVMShuffleVector: {  // of one element: a splat
        const unsigned n = LLVMGetNumMaskElements(v);
        for (unsigned k = 1; k < n; ++k)
          if (LLVMGetMaskValue(v, k) != LLVMGetMaskValue(v, 0)) return std::nullopt;
        return 0;
      }
      default:
        return std::nullopt;
    }
  }
};

void answer(LLVMBuilderRef builder, Value call, uint32_t step_B) {
  Value offsets = LLVMGetOperand(call, 0), mask = LLVMGetOperand(call, 1);
  Type type = LLVMTypeOf(offsets), i1 = LLVMTypeOf(call);
  const uint32_t n = Ir::lanes_of(offsets);
  Value result = nullptr;
  Steps steps;
  const std::optional<uint32_t> known = steps.of(offsets, kMostDepth);
  LLVMPositionBuilderBefore(builder, call);
  Type i32 = LLVMGetElementType(type);
  if (known && (*known != step_B || !steps.clamped)) {
    result = LLVMConstInt(i1, *known == step_B, 0);  // no is always right: lane by lane then
  } else {
    Value want[64], zeros = LLVMConstNull(LLVMVectorType(i32, n));
    for (uint32_t k = 0; k < n; ++k) want[k] = LLVMConstInt(i32, uint64_t{k} * step_B, 0);
    Value first = LLVMBuildShuffleVector(builder, offsets, LLVMGetPoison(type), zeros, "");
    Value same = LLVMBuildICmp(builder, LLVMIntEQ, LLVMBuildSub(builder, offsets, first, ""), LLVMConstVector(want, n), "");
    same = LLVMBuildOr(builder, same, LLVMBuildNot(builder, mask, ""), "");
    Type bits = LLVMIntTypeInContext(LLVMGetTypeContext(type), n);
    result = LLVMBuildICmp(builder, LLVMIntEQ, LLVMBuildBitCast(builder, same, bits, ""), LLVMConstAllOnes(bits), "");
  }
  LLVMReplaceAllUsesWith(call, result);
  LLVMInstructionEraseFromParent(call);
}

}  // namespace

Value ask_lane_step(const Ir& ir, Value offsets, Value mask, uint32_t step_B) {
  assert(Ir::lanes_of(offsets) == ir.lanes && ir.lanes >= 2 && Ir::element_of(Ir::type_of(offsets)) == ir.i32);
  const std::string name = kQuestion + std::to_string(step_B) + "." + std::to_string(ir.lanes);
  Type parameters[] = {ir.vi32, ir.vi1};
  Type type = LLVMFunctionType(ir.i1, parameters, 2, 0);
  Value f = LLVMGetNamedFunction(ir.module, name.c_str());
  if (!f) {
    f = ir.function(name.c_str(), type);
    for (const char* attribute : {"nounwind", "willreturn"}) ir.add_attribute(f, attribute);
    static constexpr std::string_view kMemory = "memory";  // none
    LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                            LLVMCreateEnumAttribute(ir.context, LLVMGetEnumAttributeKindForName(kMemory.data(), kMemory.size()), 0));
  }
  Value arguments[] = {offsets, mask ? mask : ir.true_mask()};
  return LLVMBuildCall2(ir.builder, type, f, arguments, 2, "");
}

bool answer_lane_steps(LLVMModuleRef module) {
  const std::string_view question = kQuestion;
  LLVMBuilderRef builder = nullptr;
  for (Value f = LLVMGetFirstFunction(module), next = nullptr; f; f = next) {
    next = LLVMGetNextFunction(f);
    size_t length = 0;
    const char* name = LLVMGetValueName2(f, &length);
    if (!std::string_view(name, length).starts_with(question)) continue;
    if (!builder) builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    const auto step_B = static_cast<uint32_t>(std::strtoul(name + question.size(), nullptr, 10));
    while (LLVMUseRef use = LLVMGetFirstUse(f)) answer(builder, LLVMGetUser(use), step_B);
    LLVMDeleteFunction(f);
  }
  if (!builder) return false;
  LLVMDisposeBuilder(builder);
  return true;
}

}  // namespace tilegpu::shader
