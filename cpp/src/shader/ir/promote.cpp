// shader/ir/promote.cpp -- see promote.hpp.
#include "shader/ir/promote.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <unordered_map>
#include <vector>

#include "shader/ir/flow_graph.hpp"

namespace tilegpu::shader {
namespace {

struct Access {
  LLVMValueRef instruction;
  uint32_t block;
  bool is_store;
};

struct Variable {
  LLVMValueRef alloca;
  std::vector<Access> accesses;  // as they stand in their blocks, block after block
};

/// Loaded and stored whole, as what it is, and nothing else.
bool is_promotable(LLVMValueRef alloca) {
  LLVMTypeRef type = LLVMGetAllocatedType(alloca);
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  LLVMValueRef count = LLVMGetOperand(alloca, 0);
  if (kind == LLVMArrayTypeKind || kind == LLVMStructTypeKind || !LLVMIsAConstantInt(count) || LLVMConstIntGetZExtValue(count) != 1)
    return false;
  for (LLVMUseRef use = LLVMGetFirstUse(alloca); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsALoadInst(user) && !LLVMIsAStoreInst(user)) return false;
    if (LLVMGetVolatile(user) || LLVMGetOrdering(user) != LLVMAtomicOrderingNotAtomic) return false;
    if (LLVMIsALoadInst(user) ? LLVMTypeOf(user) != type : LLVMGetOperand(user, 0) == alloca || LLVMTypeOf(LLVMGetOperand(user, 0)) != type)
      return false;
  }
  return true;
}

/// One variable after the other. What a block knows of the one at hand has its number; all else is of earlier ones.
class Promotion {
 public:
  Promotion(const FlowGraph& graph, LLVMContextRef context)
      : graph_(graph), marks_(graph.blocks.size()), builder_(LLVMCreateBuilderInContext(context)) {}
  Promotion(const Promotion&) = delete;
  Promotion& operator=(const Promotion&) = delete;
  ~Promotion() { LLVMDisposeBuilder(builder_); }

  void promote(const Variable& variable) {
    number_++;
    type_ = LLVMGetAllocatedType(variable.alloca);
    phis_.clear();
    place_phis(variable);
    replace_loads(variable);
    fill_phis();
    for (const Access& access : variable.accesses) LLVMInstructionEraseFromParent(access.instruction);
    LLVMInstructionEraseFromParent(variable.alloca);
    drop_needless_phis();
  }

 private:
  struct Phi {
    LLVMValueRef value;
    uint32_t block;
  };
  /// The last store of a block, or its phi. No block: nothing was stored.
  struct Source {
    uint32_t block = FlowGraph::kNoBlock;
    bool is_store = false;
  };
  /// Of a block. Each is of the variable whose number stands there.
  struct Marks {
    uint32_t stored = 0, alive = 0, joined = 0, known = 0;
    LLVMValueRef last_store = nullptr, phi = nullptr;
    Source source;  // known: of what there is at its start
  };

  bool is(uint32_t mark) const { return mark == number_; }

  /// Blocks at whose start it is alive; phis where stores meet there.
  void place_phis(const Variable& variable) {
    std::vector<uint32_t> stored, alive;
    for (const Access& access : variable.accesses) {
      Marks& marks = marks_[access.block];
      if (!access.is_store) {
        if (!is(marks.stored) && !is(marks.alive)) marks.alive = number_, alive.push_back(access.block);
        continue;
      }
      if (!is(marks.stored)) stored.push_back(access.block);
      marks.stored = number_, marks.last_store = access.instruction;
    }
    while (!alive.empty()) {
      const uint32_t block = alive.back();
      alive.pop_back();
      for (const uint32_t before : graph_.from[block])
        if (Marks& marks = marks_[before]; !is(marks.stored) && !is(marks.alive)) marks.alive = number_, alive.push_back(before);
    }
    while (!stored.empty()) {
      const uint32_t block = stored.back();
      stored.pop_back();
      for (const uint32_t meeting : graph_.frontier[block]) {
        Marks& marks = marks_[meeting];
        if (!is(marks.alive) || is(marks.joined)) continue;
        LLVMPositionBuilderBefore(builder_, LLVMGetFirstInstruction(graph_.blocks[meeting]));
        marks.joined = number_, marks.phi = LLVMBuildPhi(builder_, type_, "");
        phis_.push_back({marks.phi, meeting});
        if (!is(marks.stored)) stored.push_back(meeting);
      }
    }
  }

  /// What there is at the start of a block. Each block that is asked on the way learns it too.
  Source at_start(uint32_t block) {
    path_.clear();
    Source source;
    for (uint32_t at = block;; at = graph_.dominator[at]) {
      const Marks& marks = marks_[at];
      if (at != block && is(marks.stored)) {
        source = {at, true};
        break;
      }
      if (is(marks.joined)) {
        source = {at, false};
        break;
      }
      if (is(marks.known)) {
        source = marks.source;
        break;
      }
      path_.push_back(at);
      if (at == 0 || !graph_.is_reached(at)) break;
    }
    for (const uint32_t passed : path_) marks_[passed].known = number_, marks_[passed].source = source;
    return source;
  }

  Source at_end(uint32_t block) { return is(marks_[block].stored) ? Source{block, true} : at_start(block); }

  /// Stores are asked for what they store when it is needed: it may be a load of the same variable, which was replaced meanwhile.
  LLVMValueRef value(Source source) const {
    if (source.block == FlowGraph::kNoBlock) return LLVMGetUndef(type_);
    const Marks& marks = marks_[source.block];
    assert(is(source.is_store ? marks.stored : marks.joined));
    return source.is_store ? LLVMGetOperand(marks.last_store, 0) : marks.phi;
  }

  void replace_loads(const Variable& variable) {
    const Access* before = nullptr;
    for (const Access& access : variable.accesses) {
      if (before && before->block != access.block) before = nullptr;
      if (access.is_store) {
        before = &access;
      } else {
        // In a block that nothing reaches a load may be what it stores itself.
        LLVMValueRef now = !graph_.is_reached(access.block) ? LLVMGetUndef(type_)
                           : before                         ? LLVMGetOperand(before->instruction, 0)
                                                            : value(at_start(access.block));
        assert(now != access.instruction);
        LLVMReplaceAllUsesWith(access.instruction, now);
      }
    }
  }

  void fill_phis() {
    for (const Phi& phi : phis_)
      for (const uint32_t before : graph_.from[phi.block]) {
        LLVMValueRef incoming = graph_.is_reached(before) ? value(at_end(before)) : LLVMGetUndef(type_);
        LLVMBasicBlockRef block = graph_.blocks[before];
        LLVMAddIncoming(phi.value, &incoming, &block, 1);
      }
  }

  /// Phis of one value. Each that goes may make another one such.
  void drop_needless_phis() {
    for (bool dropped = true; dropped;) {
      dropped = false;
      for (Phi& phi : phis_) {
        if (!phi.value) continue;
        LLVMValueRef only = nullptr;
        bool is_one = true;
        for (unsigned k = 0; is_one && k < LLVMCountIncoming(phi.value); ++k) {
          LLVMValueRef incoming = LLVMGetIncomingValue(phi.value, k);
          if (incoming == phi.value || incoming == only) continue;
          is_one = !only;
          only = incoming;
        }
        if (!is_one || !only) continue;
        LLVMReplaceAllUsesWith(phi.value, only);
        LLVMInstructionEraseFromParent(phi.value);
        phi.value = nullptr;
        dropped = true;
      }
    }
  }

  const FlowGraph& graph_;
  std::vector<Marks> marks_;
  LLVMBuilderRef builder_;
  LLVMTypeRef type_ = nullptr;
  uint32_t number_ = 0;
  std::vector<Phi> phis_;
  std::vector<uint32_t> path_;
};

/// Where each variable is loaded and stored.
std::vector<Variable> variables_of(const FlowGraph& graph) {
  std::vector<Variable> variables;
  std::unordered_map<LLVMValueRef, size_t> found;
  for (LLVMValueRef i = LLVMGetFirstInstruction(graph.blocks[0]); i; i = LLVMGetNextInstruction(i))
    if (LLVMIsAAllocaInst(i) && is_promotable(i)) found.emplace(i, variables.size()), variables.push_back({i, {}});
  if (variables.empty()) return variables;
  for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(graph.blocks[b]); i; i = LLVMGetNextInstruction(i)) {
      const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
      if (opcode != LLVMLoad && opcode != LLVMStore) continue;
      const auto variable = found.find(LLVMGetOperand(i, opcode == LLVMStore));
      if (variable != found.end()) variables[variable->second].accesses.push_back({i, b, opcode == LLVMStore});
    }
  }
  return variables;
}

}  // namespace

void promote_variables(LLVMModuleRef module) {
  assert(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f)) continue;
    const FlowGraph graph(f);
    const std::vector<Variable> variables = variables_of(graph);
    if (variables.empty()) continue;
    Promotion promotion(graph, LLVMGetModuleContext(module));
    for (const Variable& variable : variables) promotion.promote(variable);
  }
}

}  // namespace tilegpu::shader
