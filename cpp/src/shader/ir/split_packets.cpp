// shader/ir/split_packets.cpp -- see split_packets.hpp. In, out, source: see there.
#include "shader/ir/split_packets.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace tilegpu::shader {
namespace {

using Pieces = std::vector<Value>;

/// Overloaded by the type of their result alone, which is that of all their vectors.
bool is_known_intrinsic(Value callee) {
  size_t length = 0;
  const std::string_view name(LLVMGetValueName2(callee, &length));
  for (std::string_view known : {"llvm.fma.", "llvm.sqrt.", "llvm.fabs.", "llvm.floor.", "llvm.ceil.", "llvm.trunc.", "llvm.roundeven.",
                                 "llvm.copysign.", "llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax.", "llvm.abs.", "llvm.ctlz.",
                                 "llvm.cttz.", "llvm.ctpop.", "llvm.fshl.", "llvm.fshr.", "llvm.bitreverse."})
    if (name.starts_with(known)) return true;
  return false;
}

class Splitter {
 public:
  Splitter(Value function, uint32_t lanes)
      : function_(function),
        lanes_(lanes),
        context_(LLVMGetModuleContext(LLVMGetGlobalParent(function))),
        builder_(LLVMCreateBuilderInContext(context_)) {}
  ~Splitter() { LLVMDisposeBuilder(builder_); }
  Splitter(const Splitter&) = delete;
  Splitter& operator=(const Splitter&) = delete;

  bool run();

 private:
  bool is_long(Type t) const { return LLVMGetTypeKind(t) == LLVMVectorTypeKind && LLVMGetVectorSize(t) > lanes_; }
  bool is_long(Value v) const { return is_long(LLVMTypeOf(v)); }
  bool touches(Value i) const;
  bool is_known(Value i) const;
  uint32_t count(Value v) const { return Ir::lanes_of(v) / lanes_; }
  Type piece_type(Value v) const { return LLVMVectorType(Ir::element_of(LLVMTypeOf(v)), lanes_); }

  const Pieces& pieces(Value v);
  Pieces of_constant(Value v) const;
  void split(Value i);
  Value part(Value operand, uint32_t k) { return is_long(operand) ? pieces(operand)[k] : operand; }
  Value made(Value i, uint32_t k);
  Value call(Value i, uint32_t k);
  Value moved(Value i, Value what, Value pointer, uint32_t k);
  Pieces shuffled(Value i);
  Value bits_of_mask(Value mask, Type to, bool all);
  void leave_mask(Value i);

  Value function_;
  uint32_t lanes_;
  LLVMContextRef context_;
  LLVMBuilderRef builder_;
  std::unordered_map<Value, Pieces> split_;
  std::vector<Value> old_;
};

bool Splitter::touches(Value i) const {
  if (is_long(i)) return true;
  for (int k = 0; k < LLVMGetNumOperands(i); ++k)
    if (Value o = LLVMGetOperand(i, static_cast<unsigned>(k)); o && !LLVMIsABasicBlock(o) && !LLVMIsAFunction(o) && is_long(o)) return true;
  return false;
}

/// Constants that can be taken apart, and values of whole packets.
bool Splitter::is_known(Value i) const {
  for (int k = 0; k < LLVMGetNumOperands(i); ++k) {
    Value o = LLVMGetOperand(i, static_cast<unsigned>(k));
    if (!is_long(o)) continue;
    if (Ir::lanes_of(o) % lanes_ || (LLVMIsConstant(o) && LLVMIsAConstantExpr(o))) return false;
    if (!LLVMIsConstant(o) && !LLVMIsAInstruction(o)) return false;
  }
  if (is_long(i) && Ir::lanes_of(i) % lanes_) return false;
  const auto same_lanes = [&](Value o) { return Ir::lanes_of(o) == Ir::lanes_of(i); };
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFNeg:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMFCmp:
    case LLVMICmp:
    case LLVMPHI:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMSIToFP:
    case LLVMUIToFP:
    case LLVMFPToSI:
    case LLVMFPToUI:
    case LLVMFreeze:
    case LLVMSelect:
    case LLVMShuffleVector:
      return true;
    case LLVMBitCast:
      return same_lanes(LLVMGetOperand(i, 0)) || Ir::bits_of(LLVMGetOperand(i, 0)) == 1;
    case LLVMInsertElement:
      return LLVMIsAConstantInt(LLVMGetOperand(i, 2));
    case LLVMExtractElement:
      return LLVMIsAConstantInt(LLVMGetOperand(i, 1));
    case LLVMLoad:
      return Ir::bits_of(i) >= 8 && !LLVMGetVolatile(i);
    case LLVMStore:
      return Ir::bits_of(LLVMGetOperand(i, 0)) >= 8 && !LLVMGetVolatile(i);
    case LLVMCall:
      return LLVMIsAFunction(LLVMGetCalledValue(i)) && is_known_intrinsic(LLVMGetCalledValue(i));
    default:
      return false;
  }
}

Pieces Splitter::of_constant(Value v) const {
  Pieces p;
  for (uint32_t k = 0; k < count(v); ++k) {
    std::vector<Value> elements;
    for (uint32_t lane = 0; lane < lanes_; ++lane) elements.push_back(LLVMGetAggregateElement(v, k * lanes_ + lane));
    p.push_back(LLVMConstVector(elements.data(), lanes_));
  }
  return p;
}

const Pieces& Splitter::pieces(Value v) {
  if (const auto found = split_.find(v); found != split_.end()) return found->second;
  if (LLVMIsConstant(v)) return split_[v] = of_constant(v);
  split(v);
  return split_.at(v);
}

Value Splitter::call(Value i, uint32_t k) {
  Value callee = LLVMGetCalledValue(i);
  const unsigned id = LLVMGetIntrinsicID(callee);
  Type type = piece_type(i);
  Value fn = LLVMGetIntrinsicDeclaration(LLVMGetGlobalParent(function_), id, &type, 1);
  std::vector<Value> arguments;
  for (unsigned n = 0; n < LLVMGetNumArgOperands(i); ++n) arguments.push_back(part(LLVMGetOperand(i, n), k));
  return LLVMBuildCall2(builder_, LLVMGlobalGetValueType(fn), fn, arguments.data(), static_cast<unsigned>(arguments.size()), "");
}

/// A piece loaded, or stored, at its place.
Value Splitter::moved(Value i, Value what, Value pointer, uint32_t k) {
  const uint64_t size_B = uint64_t{lanes_} * Ir::bits_of(what) / 8;
  Value by = LLVMConstInt(LLVMInt64TypeInContext(context_), k * size_B, 0);
  Value at = k ? LLVMBuildGEP2(builder_, LLVMInt8TypeInContext(context_), pointer, &by, 1, "") : pointer;
  Value made = LLVMIsALoadInst(i) ? LLVMBuildLoad2(builder_, piece_type(what), at, "") : LLVMBuildStore(builder_, part(what, k), at);
  LLVMSetAlignment(made, static_cast<unsigned>(std::min<uint64_t>(LLVMGetAlignment(i), size_B)));
  return made;
}

/// Of what works on each lane alone.
Value Splitter::made(Value i, uint32_t k) {
  const LLVMOpcode op = LLVMGetInstructionOpcode(i);
  const auto o = [&](unsigned n) { return part(LLVMGetOperand(i, n), k); };
  switch (op) {
    case LLVMFNeg:
      return LLVMBuildFNeg(builder_, o(0), "");
    case LLVMFCmp:
      return LLVMBuildFCmp(builder_, LLVMGetFCmpPredicate(i), o(0), o(1), "");
    case LLVMICmp:
      return LLVMBuildICmp(builder_, LLVMGetICmpPredicate(i), o(0), o(1), "");
    case LLVMSelect:
      return LLVMBuildSelect(builder_, o(0), o(1), o(2), "");
    case LLVMFreeze:
      return LLVMBuildFreeze(builder_, o(0), "");
    case LLVMCall:
      return call(i, k);
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMSIToFP:
    case LLVMUIToFP:
    case LLVMFPToSI:
    case LLVMFPToUI:
    case LLVMBitCast: {
      Value v = LLVMBuildCast(builder_, op, o(0), piece_type(i), "");
      if ((op == LLVMZExt || op == LLVMUIToFP) && LLVMIsAInstruction(v)) LLVMSetNNeg(v, LLVMGetNNeg(i));
      return v;
    }
    default:
      return LLVMBuildBinOp(builder_, op, o(0), o(1), "");
  }
}

/// Each piece of the result from the pieces that its lanes come from.
Pieces Splitter::shuffled(Value i) {
  Value a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1);
  const uint32_t in = Ir::lanes_of(a), out = Ir::lanes_of(i), width = std::min(out, lanes_), in_width = std::min(in, lanes_);
  const auto source = [&](uint32_t n) {  // number of a piece of both operands
    const uint32_t of_a = (in + in_width - 1) / in_width;
    Value v = n < of_a ? a : b;
    return is_long(v) ? pieces(v)[n < of_a ? n : n - of_a] : v;
  };
  const int none = LLVMGetUndefMaskElem();
  Pieces result;
  for (uint32_t first = 0; first < out; first += width) {
    std::vector<uint32_t> from;  // pieces
    for (uint32_t k = 0; k < width; ++k) {
      const int m = LLVMGetMaskValue(i, first + k);
      if (m == none) continue;
      const uint32_t n = static_cast<uint32_t>(m) / in_width;
      if (std::find(from.begin(), from.end(), n) == from.end()) from.push_back(n);
    }
    Type type = LLVMVectorType(Ir::element_of(LLVMTypeOf(i)), width), words = LLVMInt32TypeInContext(context_);
    Value sum = LLVMGetPoison(type);
    for (size_t s = 0; s < from.size(); ++s) {
      // First the lanes of one piece, then what there is so far beside it.
      std::vector<Value> take, join;
      for (uint32_t k = 0; k < width; ++k) {
        const int m = LLVMGetMaskValue(i, first + k);
        const bool here = m != none && static_cast<uint32_t>(m) / in_width == from[s];
        take.push_back(here ? LLVMConstInt(words, static_cast<uint32_t>(m) % in_width, 0) : LLVMGetUndef(words));
        join.push_back(LLVMConstInt(words, here ? width + k : k, 0));
      }
      Value piece = source(from[s]);
      Value taken = LLVMBuildShuffleVector(builder_, piece, LLVMGetPoison(LLVMTypeOf(piece)), LLVMConstVector(take.data(), width), "");
      sum = s == 0 ? taken : LLVMBuildShuffleVector(builder_, sum, taken, LLVMConstVector(join.data(), width), "");
    }
    result.push_back(sum);
  }
  return result;
}

/// Of the pieces' masks together: those of any packet, or of all.
Value Splitter::bits_of_mask(Value mask, Type to, bool all) {
  Value sum = nullptr;
  for (Value piece : pieces(mask)) {
    Value bits = LLVMBuildBitCast(builder_, piece, LLVMIntTypeInContext(context_, lanes_), "");
    sum = !sum ? bits : all ? LLVMBuildAnd(builder_, sum, bits, "") : LLVMBuildOr(builder_, sum, bits, "");
  }
  return all ? LLVMBuildSExt(builder_, sum, to, "") : LLVMBuildZExt(builder_, sum, to, "");
}

/// A mask as an integer. Where that is only compared with 0 or ~0, packets need not stand one behind the other.
void Splitter::leave_mask(Value i) {
  Value mask = LLVMGetOperand(i, 0);
  Type to = LLVMTypeOf(i);
  Value whole = nullptr;
  for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetFirstUse(i)) {
    Value user = LLVMGetUser(use), replacement = nullptr;
    const bool compared = LLVMIsAICmpInst(user) && LLVMGetOperand(user, 0) == i;
    const LLVMIntPredicate p = compared ? LLVMGetICmpPredicate(user) : LLVMIntULT;
    Value with = compared ? LLVMGetOperand(user, 1) : nullptr;
    if ((p == LLVMIntEQ || p == LLVMIntNE) && (LLVMIsNull(with) || with == LLVMConstAllOnes(to))) {
      LLVMPositionBuilderBefore(builder_, i);
      replacement = bits_of_mask(mask, to, !LLVMIsNull(with));
    } else {
      if (!whole) {
        LLVMPositionBuilderBefore(builder_, i);
        for (uint32_t k = 0; k < count(mask); ++k) {
          Value bits = LLVMBuildBitCast(builder_, pieces(mask)[k], LLVMIntTypeInContext(context_, lanes_), "");
          bits = LLVMBuildShl(builder_, LLVMBuildZExt(builder_, bits, to, ""), LLVMConstInt(to, uint64_t{k} * lanes_, 0), "");
          whole = whole ? LLVMBuildOr(builder_, whole, bits, "") : bits;
        }
      }
      replacement = whole;
    }
    for (int k = 0; k < LLVMGetNumOperands(user); ++k)
      if (LLVMGetOperand(user, static_cast<unsigned>(k)) == i) LLVMSetOperand(user, static_cast<unsigned>(k), replacement);
  }
}

void Splitter::split(Value i) {
  if (split_.count(i)) return;
  // Operands first: they may stand elsewhere.
  const LLVMOpcode op = LLVMGetInstructionOpcode(i);
  assert(op != LLVMPHI);
  for (int k = 0; k < LLVMGetNumOperands(i); ++k)
    if (Value o = LLVMGetOperand(i, static_cast<unsigned>(k)); !LLVMIsAFunction(o) && is_long(o)) pieces(o);
  LLVMPositionBuilderBefore(builder_, i);
  old_.push_back(i);
  Pieces p;
  if (op == LLVMShuffleVector) {
    p = shuffled(i);
    if (!is_long(i)) return LLVMReplaceAllUsesWith(i, p[0]);
  } else if (op == LLVMExtractElement) {
    const auto lane = static_cast<uint32_t>(LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)));
    Value index = LLVMConstInt(LLVMInt64TypeInContext(context_), lane % lanes_, 0);
    return LLVMReplaceAllUsesWith(i, LLVMBuildExtractElement(builder_, pieces(LLVMGetOperand(i, 0))[lane / lanes_], index, ""));
  } else if (op == LLVMInsertElement) {
    const auto lane = static_cast<uint32_t>(LLVMConstIntGetZExtValue(LLVMGetOperand(i, 2)));
    Value index = LLVMConstInt(LLVMInt64TypeInContext(context_), lane % lanes_, 0);
    p = pieces(LLVMGetOperand(i, 0));
    p[lane / lanes_] = LLVMBuildInsertElement(builder_, p[lane / lanes_], LLVMGetOperand(i, 1), index, "");
  } else if (op == LLVMStore) {
    for (uint32_t k = 0; k < count(LLVMGetOperand(i, 0)); ++k) moved(i, LLVMGetOperand(i, 0), LLVMGetOperand(i, 1), k);
    return;
  } else if (op == LLVMLoad) {
    for (uint32_t k = 0; k < count(i); ++k) p.push_back(moved(i, i, LLVMGetOperand(i, 0), k));
  } else if (op == LLVMBitCast && !is_long(i)) {
    return leave_mask(i);
  } else {
    for (uint32_t k = 0; k < count(i); ++k) p.push_back(made(i, k));
  }
  split_[i] = std::move(p);
}

bool Splitter::run() {
  std::vector<Value> phis, others;
  for (Block b = LLVMGetFirstBasicBlock(function_); b; b = LLVMGetNextBasicBlock(b)) {
    for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      if (!touches(i)) continue;
      if (!is_known(i)) return false;
      (LLVMIsAPHINode(i) ? phis : others).push_back(i);
    }
  }
  if (phis.empty() && others.empty()) return false;
  for (Value phi : phis) {
    LLVMPositionBuilderBefore(builder_, phi);
    Pieces& p = split_[phi];
    for (uint32_t k = 0; k < count(phi); ++k) p.push_back(LLVMBuildPhi(builder_, piece_type(phi), ""));
  }
  for (Value i : others) split(i);
  for (Value phi : phis) {
    for (unsigned n = 0; n < LLVMCountIncoming(phi); ++n) {
      const Pieces from = pieces(LLVMGetIncomingValue(phi, n));
      Block block = LLVMGetIncomingBlock(phi, n);
      for (uint32_t k = 0; k < count(phi); ++k) {
        Value v = from[k];
        LLVMAddIncoming(split_.at(phi)[k], &v, &block, 1);
      }
    }
  }
  old_.insert(old_.end(), phis.begin(), phis.end());
  for (Value i : old_)
    if (is_long(i)) LLVMReplaceAllUsesWith(i, LLVMGetPoison(LLVMTypeOf(i)));
  for (Value i : old_) LLVMInstructionEraseFromParent(i);
  return true;
}

}  // namespace

bool split_packets(LLVMValueRef function, uint32_t lanes) {
  assert(function && lanes > 0 && !LLVMIsDeclaration(function));
  return Splitter(function, lanes).run();
}

}  // namespace tilegpu::shader
