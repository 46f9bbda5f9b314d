// shader/lower/divergence.cpp -- the fixpoint of divergence.hpp.
//
// In: Module, constants. Out: Divergence. Functions are analysed once for all calls: a parameter varies if any call's argument does.
#include "shader/lower/divergence.hpp"

#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <cassert>

#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/newer_extensions.hpp"
#include "shader/spirv/operands.hpp"

namespace tilegpu::shader {
namespace {

bool interpolates_at(uint32_t op) { return op >= GLSLstd450InterpolateAtCentroid && op <= GLSLstd450InterpolateAtOffset; }

struct Access {
  uint32_t region = 0, order = 0;  // order: index of the instruction
  bool load = false, store = false, whole = false;
  bool varying_value = false;  // store
  bool partial = false;        // store in a node of a called function
  bool call = false;
};

struct Analysis {
  const Module& m;
  const Constants& constants;
  const UniformInput& uniform_input;
  Divergence d;
  bool changed = true;
  std::map<uint32_t, std::map<uint32_t, std::vector<Access>>> accesses;  // function -> root -> accesses
  std::unordered_map<uint32_t, uint32_t> function_of_parameter;
  struct Definition {
    uint32_t function, region;
  };
  std::unordered_map<uint32_t, Definition> defined;

  void set_varying(uint32_t id) {
    if (id < d.varying.size() && !d.varying[id]) d.varying[id] = 1, changed = true;
  }
  bool varies(uint32_t id) const { return d.is_varying(id); }
  template <class F>
  void each_block(const FunctionFacts& f, F&& visit) const {
    for (uint32_t b = 0; b < f.tree.function->blocks.size(); ++b) {
      if (f.tree.region_of_block[b] != kNone) visit(f.tree.function->blocks[b], f.tree.region_of_block[b]);
    }
  }
  Status prepare();
  void escapes(uint32_t id, FunctionFacts& f);
  void values(uint32_t id, FunctionFacts& f);
  bool result_varies(const FunctionFacts& f, const Instruction& i);
  bool load_varies(const Instruction& i) const;
  uint32_t component_of(uint32_t pointer) const;
  bool phi_varies(const FunctionFacts& f, const Instruction& i, const BasicBlock& b, uint32_t region) const;
  static bool leaves_loop(const FunctionFacts& f, uint32_t from, uint32_t to);
  void call(uint32_t caller, FunctionFacts& f, const Instruction& i, uint32_t region, uint32_t index);
  void nodes(FunctionFacts& f);
  void variables();
  bool variable_varies(uint32_t root, const FunctionFacts& f, const std::vector<Access>& list) const;
  void unmasked(const FunctionFacts& f, const std::vector<Access>& list);
  void unmasked_in_loop(const FunctionFacts& f, const std::vector<Access>& list);
  const Access* dominating_store(const FunctionFacts& f, const std::vector<Access>& list) const;
  static bool in_node(const FunctionFacts& f, uint32_t region, uint32_t node) {
    if (node == kNone) return true;
    const auto chain = Divergence::nodes(f, region);
    return std::find(chain.begin(), chain.end(), node) != chain.end();
  }
  static uint32_t innermost(const FunctionFacts& f, uint32_t region) {
    const auto chain = Divergence::nodes(f, region);
    return chain.empty() ? kNone : chain[0];
  }
};

/// Its lanes run no more, wherever it stands.
static bool ends_invocation(spv::Op op) { return op == spv::OpKill || op == spv::OpTerminateInvocation || op == spv::OpEmitMeshTasksEXT; }

Status Analysis::prepare() {
  d.varying.assign(m.bound, 0), d.escape.assign(m.bound, 0), d.dynamic.assign(m.bound, 0);
  d.unmasked_store.assign(m.instructions.size(), 0);
  const DecidedBranches decided = decide_branches(m, constants);
  for (uint32_t id : m.reachable) {
    const Function& function = m.functions.at(id);
    Expected<FunctionTree> tree = build_tree(m, function, decided);
    if (!tree) return tree.error();
    FunctionFacts& f = d.functions[id];
    f.tree = std::move(*tree);
    f.constructs.resize(f.tree.constructs.size());
    for (uint32_t p : function.parameters) function_of_parameter[p] = id;
    for (uint32_t b = 0; b < function.blocks.size(); ++b) {
      if (f.tree.region_of_block[b] == kNone) continue;
      for (uint32_t k = function.blocks[b].first; k < function.blocks[b].end; ++k)
        each_id(m, m.instructions[k], [&](uint32_t named) {
          const Instruction* variable = m.find(named);
          if (variable && variable->op == spv::OpVariable && m.storage_of(named) == spv::StorageClassFunction)
            f.uses[named].push_back({b, k});
        });
    }
    each_block(f, [&](const BasicBlock& b, uint32_t region) {
      for (uint32_t k = b.first; k < b.end; ++k) {
        const Instruction& i = m.instructions[k];
        if (i.id) defined[i.id] = {id, region};
        if (ends_invocation(i.op)) f.kills = true;
        if (i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain) {
          const uint32_t root = pointer_root(m, i.id);
          for (uint32_t n = 1; n < i.count; ++n) {
            if (!constants.find(m.operand(i, n))) d.dynamic[root] = 1;
          }
        }
      }
    });
  }
  // Callees come after their callers in `reachable` only for the first call; a few rounds settle flags that travel upwards.
  for (bool again = true; again;) {
    again = false;
    for (auto& [id, f] : d.functions) {
      each_block(f, [&](const BasicBlock& b, uint32_t region) {
        for (uint32_t k = b.first; k < b.end; ++k) {
          const Instruction& i = m.instructions[k];
          const bool kill = ends_invocation(i.op);
          const bool call_kills = i.op == spv::OpFunctionCall && d.functions.at(m.operand(i, 0)).kills;
          if (i.op == spv::OpFunctionCall) {
            const Function& callee = m.functions.at(m.operand(i, 0));
            for (uint32_t n = 0; n < callee.parameters.size() && n + 1 < i.count; ++n) {
              const uint32_t root = pointer_root(m, m.operand(i, n + 1));
              if (d.dynamic[callee.parameters[n]] && root && !d.dynamic[root]) d.dynamic[root] = 1, again = true;
            }
          }
          if (!kill && !call_kills) continue;
          if (!f.kills) f.kills = true, again = true;
          for (uint32_t r = region; r != kNone; r = f.tree.regions[r].parent) {
            Construct& c = f.tree.constructs[f.tree.regions[r].construct];
            if (!c.contains_kill) c.contains_kill = true;
          }
        }
      });
    }
  }
  return Ok{};
}

/// Is there a loop around region `from`, but not around `to`, that lanes leave separately? Then what has one value in each iteration has
/// several behind it.
bool Analysis::leaves_loop(const FunctionFacts& f, uint32_t from, uint32_t to) {
  for (uint32_t r = from; r != kNone && !f.tree.encloses(r, to); r = f.tree.regions[r].parent) {
    const uint32_t c = f.tree.regions[r].construct;
    if (f.tree.constructs[c].kind != ConstructKind::loop || !f.constructs[c].node) continue;
    const auto& arms = f.tree.constructs[c].regions;
    if (std::none_of(arms.begin(), arms.end(), [&](uint32_t arm) { return f.tree.encloses(arm, to); })) return true;
  }
  return false;
}

/// Ids that are used outside of the region that defines them.
void Analysis::escapes(uint32_t id, FunctionFacts& f) {
  auto use = [&](uint32_t operand, uint32_t region) {
    auto found = operand < m.bound ? defined.find(operand) : defined.end();
    if (found == defined.end() || found->second.function != id) return;
    const uint32_t from = found->second.region;
    if (f.tree.encloses(from, region)) return;
    const uint8_t kind = leaves_loop(f, from, region) ? 2 : 1;
    if (d.escape[operand] < kind) d.escape[operand] = kind, changed = true;
    if (kind == 2) set_varying(operand);
  };
  each_block(f, [&](const BasicBlock& b, uint32_t region) {
    for (uint32_t k = b.first; k < b.end; ++k) {
      const Instruction& i = m.instructions[k];
      if (i.op == spv::OpPhi) {
        for (uint32_t n = 0; n + 1 < i.count; n += 2) {
          auto block = f.tree.function->block_of_label.find(m.operand(i, n + 1));
          if (block == f.tree.function->block_of_label.end()) continue;
          const uint32_t edge = f.tree.region_of_block[block->second];
          if (edge != kNone) use(m.operand(i, n), edge);
        }
      } else {
        each_id(m, i, [&](uint32_t operand) { use(operand, region); });
      }
    }
  });
}

/// Of an access chain with one constant index into a variable; else kNone.
uint32_t Analysis::component_of(uint32_t pointer) const {
  const Instruction* chain = m.find(pointer);
  const bool one = chain && (chain->op == spv::OpAccessChain || chain->op == spv::OpInBoundsAccessChain) && chain->count == 2;
  return one && constants.find(m.operand(*chain, 1)) ? constants.word(m.operand(*chain, 1)) : kNone;
}

bool Analysis::load_varies(const Instruction& i) const {
  const uint32_t pointer = m.operand(i, 0), root = pointer_root(m, pointer);
  if (m.holds_address(pointer)) return varies(pointer);
  if (root != pointer && varies(pointer)) return true;  // an index varies
  switch (m.type(m.type_of(pointer)).storage) {
    case spv::StorageClassInput:
      return function_of_parameter.count(root) || d.dynamic[root] ||
             !(uniform_input(root, kNone) || uniform_input(root, component_of(pointer)));
    case spv::StorageClassFunction:
    case spv::StorageClassPrivate:
    case spv::StorageClassOutput:
      return varies(root);
    default:
      return function_of_parameter.count(root) && varies(root);
  }
}

/// `region`: of block `b`, where the OpPhi stands.
bool Analysis::phi_varies(const FunctionFacts& f, const Instruction& i, const BasicBlock& b, uint32_t region) const {
  bool differ = false;
  for (uint32_t k = 0; k + 1 < i.count; k += 2) {
    const uint32_t value = m.operand(i, k);
    if (varies(value)) return true;
    differ = differ || value != m.operand(i, 0);
    const auto made = defined.find(value);
    if (made != defined.end() && leaves_loop(f, made->second.region, region)) return true;
  }
  if (!differ) return false;
  for (uint32_t c = 0; c < f.tree.constructs.size(); ++c) {
    const Construct& construct = f.tree.constructs[c];
    const ConstructFacts& facts = f.constructs[c];
    if (construct.merge == b.label && (facts.divergent || facts.node)) return true;
    if (construct.kind == ConstructKind::loop && construct.continue_label == b.label && facts.continue_node) return true;
    if (construct.kind == ConstructKind::switch_ && (facts.divergent || facts.node)) {
      for (const Case& one : construct.cases) {
        if (one.label == b.label) return true;
      }
    }
  }
  return false;
}

bool Analysis::result_varies(const FunctionFacts&, const Instruction& i) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  const auto any = [&](uint32_t first, uint32_t end) {
    for (uint32_t k = first; k < std::min(end, i.count); ++k) {
      if (varies(o(k))) return true;
    }
    return false;
  };
  switch (static_cast<uint32_t>(i.op)) {
    case spv::OpVariable:
      return false;  // see variables()
    case spv::OpLoad:
      return load_varies(i);
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain: {
      if (m.holds_address(i.id) || m.type(i.type).variable_pointer) return any(0, i.count);
      const Instruction* base = m.find(o(0));
      const bool chain =
          base && (base->op == spv::OpAccessChain || base->op == spv::OpInBoundsAccessChain || base->op == spv::OpCopyObject);
      return (chain && varies(o(0))) || any(1, i.count);
    }
    case spv::OpCompositeExtract: {
      // A component of an input that is loaded as a whole.
      const Instruction* load = i.count == 2 ? m.find(o(0)) : nullptr;
      if (load && load->op == spv::OpLoad && varies(o(0)) && m.type(m.type_of(m.operand(*load, 0))).storage == spv::StorageClassInput) {
        const uint32_t variable = m.operand(*load, 0);
        const Instruction* declared = m.find(variable);
        if (declared && declared->op == spv::OpVariable && !d.dynamic[variable]) return !uniform_input(variable, o(1));
      }
      return any(0, 1);
    }
    case spv::OpCompositeInsert:
    case spv::OpVectorShuffle:
      return any(0, 2);
    case spv::OpExtInst:
      if (o(0) != m.glsl450) return false;
      if (interpolates_at(o(1))) return true;
      return any(2, i.count);
    case spv::OpFunctionCall:
      return d.functions.at(o(0)).return_varying;
    case spv::OpArrayLength:
      return varies(o(0));
    case spv::OpImageQuerySize:
    case spv::OpImageQuerySizeLod:
    case spv::OpImageQueryLevels:
    case spv::OpImageQuerySamples:
      return any(0, 2);
    case spv::OpImageQueryLod:
    case spv::OpIsHelperInvocationEXT:
      return true;
    case spv::OpImage:
    case spv::OpSampledImage:
      return any(0, 2);
    case spv::OpGroupNonUniformRotateKHR:
    case kOpGroupNonUniformQuadAll:
    case kOpGroupNonUniformQuadAny:
    case kOpCooperativeMatrixLoad:
    case kOpCooperativeMatrixMulAdd:
      return true;
    default:
      if (i.op >= spv::OpGroupNonUniformElect && i.op <= spv::OpGroupNonUniformQuadSwap) return true;  // there are several subgroups
      if ((i.op >= spv::OpImageSampleImplicitLod && i.op <= spv::OpImageRead) || is_atomic(i.op)) return true;
      return any(0, i.count);
  }
}

void Analysis::call(uint32_t caller, FunctionFacts&, const Instruction& i, uint32_t region, uint32_t index) {
  const uint32_t callee_id = m.operand(i, 0);
  const Function& callee = m.functions.at(callee_id);
  for (uint32_t n = 0; n < callee.parameters.size() && n + 1 < i.count; ++n) {
    const uint32_t parameter = callee.parameters[n], argument = m.operand(i, n + 1);
    const TypeInfo& type = m.type(m.type_of(parameter));
    if (type.kind != Kind::pointer || is_address(type)) {
      if (varies(argument)) set_varying(parameter);
      continue;
    }
    const uint32_t root = pointer_root(m, argument);
    const bool local =
        type.storage == spv::StorageClassFunction || type.storage == spv::StorageClassPrivate || type.storage == spv::StorageClassOutput;
    if (varies(argument) || (local && varies(root))) set_varying(parameter);
    if (!local) continue;
    Access a{region, index};
    a.call = true;
    auto found = accesses[callee_id].find(parameter);
    if (found != accesses[callee_id].end()) {
      for (const Access& inner : found->second) {
        a.load |= inner.load, a.store |= inner.store, a.varying_value |= inner.varying_value;
        a.partial |= inner.partial || (inner.store && innermost(d.functions.at(callee_id), inner.region) != kNone);
      }
    }
    accesses[caller][root].push_back(a);
  }
}

/// One pass over the function's instructions.
void Analysis::values(uint32_t id, FunctionFacts& f) {
  accesses[id].clear();
  each_block(f, [&](const BasicBlock& b, uint32_t region) {
    for (uint32_t k = b.first; k < b.end; ++k) {
      const Instruction& i = m.instructions[k];
      const auto o = [&](uint32_t n) { return m.operand(i, n); };
      auto access = [&](uint32_t pointer, bool load, bool store, bool varying_value) {
        const uint32_t root = pointer_root(m, pointer);
        const bool indexed = root != pointer && varies(pointer);
        accesses[id][root].push_back({region, k, load, store, root == pointer, varying_value || indexed, false, false});
      };
      if (i.op == spv::OpFunctionCall) call(id, f, i, region, k);
      if (i.op == spv::OpLoad) access(o(0), true, false, false);
      if (i.op == spv::OpStore) access(o(0), false, true, varies(o(1)));
      if (i.op == spv::OpCopyMemory) {
        const uint32_t source = pointer_root(m, o(1));
        const spv::StorageClass storage = m.type(m.type_of(o(1))).storage;
        const bool from_input = storage == spv::StorageClassInput;
        access(o(1), true, false, false);
        access(o(0), false, true, from_input || varies(o(1)) || varies(source));
      }
      if (i.op == spv::OpVariable && i.count > 1) accesses[id][i.id].push_back({region, k, false, true, true, false, false, false});
      if (i.op == spv::OpExtInst && o(0) == m.glsl450) {
        if (o(1) == GLSLstd450Modf || o(1) == GLSLstd450Frexp) access(o(3), false, true, varies(o(2)));
        if (interpolates_at(o(1))) access(o(2), true, false, false);
      }
      if (i.op == spv::OpReturnValue && (varies(o(0)) || f.constructs[0].node) && !f.return_varying)
        f.return_varying = true, changed = true;
      if (i.id && !varies(i.id) && (i.op == spv::OpPhi ? phi_varies(f, i, b, region) : result_varies(f, i))) set_varying(i.id);
    }
  });
}

/// Which constructs lanes leave separately. Flags only ever rise.
void Analysis::nodes(FunctionFacts& f) {
  auto raise = [&](bool& flag) {
    if (!flag) flag = true, changed = true;
  };
  for (uint32_t c = 0; c < f.tree.constructs.size(); ++c) {
    const Construct& construct = f.tree.constructs[c];
    if (construct.condition && varies(construct.condition)) raise(f.constructs[c].divergent);
    if (construct.kind == ConstructKind::loop && construct.contains_kill) raise(f.constructs[c].node);
  }
  for (bool again = true; again;) {
    again = false;
    for (uint32_t r = 0; r < f.tree.regions.size(); ++r) {
      for (const Item& item : f.tree.regions[r].items) {
        if (item.kind != ItemKind::jump && item.kind != ItemKind::return_) continue;
        if (!Divergence::is_masked(f, r, item)) continue;
        const uint32_t target = item.kind == ItemKind::return_ ? 0 : item.construct;
        const bool to_continue = item.kind == ItemKind::jump && item.jump == JumpKind::continue_;
        if (item.kind == ItemKind::jump && (item.jump == JumpKind::back || item.jump == JumpKind::fallthrough)) continue;
        bool& flag = to_continue ? f.constructs[target].continue_node : f.constructs[target].node;
        if (!flag) flag = true, changed = again = true;
        for (uint32_t walk = r; walk != kNone && f.tree.regions[walk].construct != target; walk = f.tree.regions[walk].parent) {
          const uint32_t passed = f.tree.regions[walk].construct;
          if (f.constructs[passed].outer_jumps.insert(target * 2 + to_continue).second) changed = again = true;
          if (f.tree.constructs[passed].kind == ConstructKind::loop && !f.constructs[passed].node)
            f.constructs[passed].node = changed = again = true;
        }
      }
    }
  }
}

const Access* Analysis::dominating_store(const FunctionFacts& f, const std::vector<Access>& list) const {
  const Access* first = nullptr;
  for (const Access& a : list) {
    if (a.store && a.whole && !a.call && !a.load && (!first || a.order < first->order)) first = &a;
  }
  if (!first) return nullptr;
  for (const Access& a : list) {
    if (&a != first && (!f.tree.encloses(first->region, a.region) || a.order < first->order)) return nullptr;
  }
  return first;
}

/// A variable may be kept once for all lanes if no active lane can see a store that it took no part in.
bool Analysis::variable_varies(uint32_t root, const FunctionFacts& f, const std::vector<Access>& list) const {
  uint32_t deepest_region = kNone, deepest = kNone;
  size_t depth = 0;
  bool stored = false;
  for (const Access& a : list) {
    if (!a.store) continue;
    if (a.varying_value || a.partial) return true;
    const auto chain = Divergence::nodes(f, a.region);
    if (!stored || chain.size() > depth) depth = chain.size(), deepest = chain.empty() ? kNone : chain[0], deepest_region = a.region;
    stored = true;
  }
  if (!stored || deepest == kNone) return false;
  if (m.type(m.type_of(root)).storage != spv::StorageClassFunction) return true;
  const uint32_t function_node = 1;
  const Access* before = nullptr;
  for (const Access& a : list) {
    if (in_node(f, a.region, deepest)) continue;
    if (a.load || a.call || !a.whole || before) return true;
    before = &a;
  }
  for (const Access& a : list) {
    if (a.store && &a != before && innermost(f, a.region) != deepest) return true;
  }
  if (before) {
    // One store before the node, in the same iteration of whatever loop is around both.
    if (!f.tree.encloses(before->region, deepest_region)) return true;
    uint32_t node_region = deepest_region;
    while (f.tree.regions[node_region].parent != kNone && in_node(f, f.tree.regions[node_region].parent, deepest))
      node_region = f.tree.regions[node_region].parent;
    for (const Access& a : list) {
      if (&a != before && a.order < before->order) return true;
    }
    // Lanes that wait at the continue target of a loop come back in the next iteration, having missed what the others stored.
    const Region& top = f.tree.regions[node_region];
    const bool comes_back = deepest == 2 * node_region && f.tree.constructs[top.construct].kind == ConstructKind::loop;
    return f.tree.loop_around(before->region) != f.tree.loop_around(comes_back ? node_region : top.parent);
  }
  return deepest != function_node && !dominating_store(f, list);
}

void Analysis::variables() {
  for (auto& [id, roots] : accesses) {
    const FunctionFacts& f = d.functions.at(id);
    for (auto& [root, list] : roots) {
      if (varies(root) || function_of_parameter.count(root)) continue;
      const spv::StorageClass storage = m.type(m.type_of(root)).storage;
      if (storage == spv::StorageClassFunction) {
        if (variable_varies(root, f, list)) set_varying(root);
      } else if (storage == spv::StorageClassPrivate || storage == spv::StorageClassOutput) {
        // Global variables stay uniform only if all stores are in the entry point, outside of nodes.
        for (const Access& a : list) {
          if (a.store && (a.varying_value || a.partial || id != m.entry.function || innermost(f, a.region) != kNone)) set_varying(root);
        }
      }
    }
  }
}

void Analysis::unmasked(const FunctionFacts& f, const std::vector<Access>& list) {
  const Access* first = dominating_store(f, list);
  if (!first) return;
  const uint32_t node = innermost(f, first->region);
  for (const Access& a : list) {
    if (!in_node(f, a.region, node)) return;
  }
  for (const Access& a : list) {
    if (a.store && !a.call && innermost(f, a.region) == node) d.unmasked_store[a.order] = 1;
  }
}

/// A variable that nobody reads but one loop of the entry point, which runs once: lanes that left it read it no more, and so what the
/// others store there needs no mask, which would make each round wait for the test of the one before. Not where neighbours may look.
void Analysis::unmasked_in_loop(const FunctionFacts& f, const std::vector<Access>& list) {
  uint32_t loop = kNone;
  for (const Access& a : list) {
    if (a.call || a.partial) return;
    if (!a.load) continue;
    uint32_t outermost = kNone;
    for (uint32_t l = f.tree.loop_around(a.region); l != kNone; l = f.tree.loop_around(f.tree.constructs[l].parent_region)) outermost = l;
    if (outermost == kNone || (loop != kNone && outermost != loop)) return;
    loop = outermost;
  }
  if (loop == kNone || !f.constructs[loop].node || f.constructs[loop].continue_node) return;
  for (const Access& a : list)
    if (a.store && innermost(f, a.region) == 2 * loop + 1) d.unmasked_store[a.order] = 1;
}

}  // namespace

bool crosses_lanes(spv::Op op) {
  switch (op) {
    case spv::OpImageSampleImplicitLod:
    case spv::OpImageSampleDrefImplicitLod:
    case spv::OpImageSampleProjImplicitLod:
    case spv::OpImageSampleProjDrefImplicitLod:
    case spv::OpImageQueryLod:
      return true;
    default:
      return (op >= spv::OpDPdx && op <= spv::OpFwidthCoarse) ||
             (op >= spv::OpGroupNonUniformElect && op <= spv::OpGroupNonUniformQuadSwap) || op == spv::OpGroupNonUniformRotateKHR ||
             op == kOpCooperativeMatrixMulAdd || is_quad_vote(op);
  }
}

uint32_t pointer_root(const Module& module, uint32_t pointer) {
  const uint32_t origin = module.origin_of(pointer);
  const Instruction* i = module.find(origin);
  return i && (i->op == spv::OpVariable || i->op == spv::OpFunctionParameter) ? origin : 0;
}

std::vector<uint32_t> Divergence::nodes(const FunctionFacts& f, uint32_t region) {
  assert(f.constructs.size() == f.tree.constructs.size());
  std::vector<uint32_t> chain;
  for (uint32_t r = region; r != kNone; r = f.tree.regions[r].parent) {
    const uint32_t c = f.tree.regions[r].construct;
    const ConstructFacts& facts = f.constructs[c];
    switch (f.tree.constructs[c].kind) {
      case ConstructKind::block:
      case ConstructKind::selection:
      case ConstructKind::switch_:
        if (facts.divergent || facts.node) chain.push_back(2 * r);
        break;
      case ConstructKind::loop:
        if (facts.continue_node && f.tree.regions[r].arm == 0) chain.push_back(2 * r);
        if (facts.node) chain.push_back(2 * c + 1);
        break;
      case ConstructKind::function:
        if (facts.node) chain.push_back(1);
        break;
    }
  }
  return chain;
}

bool Divergence::is_masked(const FunctionFacts& f, uint32_t region, const Item& item) {
  assert(region < f.tree.regions.size() && (item.kind == ItemKind::jump || item.kind == ItemKind::return_));
  const uint32_t target = item.kind == ItemKind::return_ ? 0 : item.construct;
  for (uint32_t r = region; r != kNone; r = f.tree.regions[r].parent) {
    const uint32_t c = f.tree.regions[r].construct;
    const ConstructFacts& facts = f.constructs[c];
    const ConstructKind kind = f.tree.constructs[c].kind;
    if (c == target) {
      // Leaving a loop's body for its merge block passes those that wait at the continue target.
      return kind == ConstructKind::loop && item.kind == ItemKind::jump && item.jump == JumpKind::merge && f.tree.regions[r].arm == 0 &&
             facts.continue_node;
    }
    const bool selects = kind == ConstructKind::block || kind == ConstructKind::selection || kind == ConstructKind::switch_;
    if (selects && (facts.divergent || facts.node)) return true;
    if (kind == ConstructKind::loop && (facts.node || (facts.continue_node && f.tree.regions[r].arm == 0))) return true;
  }
  return false;
}

Expected<Divergence> analyze_divergence(const Module& module, const Constants& constants, const UniformInput& uniform_input) {
  Analysis a{module, constants, uniform_input, {}};
  if (Status s = a.prepare(); !s) return s.error();
  while (a.changed) {
    a.changed = false;
    for (auto& [id, f] : a.d.functions) {
      a.values(id, f);
      a.nodes(f);
      a.escapes(id, f);
    }
    a.variables();
  }
  const bool neighbours =
      std::any_of(module.instructions.begin(), module.instructions.end(), [](const Instruction& i) { return crosses_lanes(i.op); });
  for (auto& [id, roots] : a.accesses) {
    for (auto& [root, list] : roots) {
      if (module.type(module.type_of(root)).storage == spv::StorageClassFunction && !a.function_of_parameter.count(root))
        a.unmasked(a.d.functions.at(id), list);
      if (id == module.entry.function && !neighbours && module.type(module.type_of(root)).storage == spv::StorageClassFunction)
        a.unmasked_in_loop(a.d.functions.at(id), list);
    }
  }
  return std::move(a.d);
}

}  // namespace tilegpu::shader
