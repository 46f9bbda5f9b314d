// shader/lower/control_flow.cpp -- structured control flow under execution masks: selections, switches, loops, calls, OpPhi.
//
// In: FunctionTree with its facts. Out: LLVM blocks. Uniform conditions are branches. Divergent arms run under a mask, and are
// skipped when no lane wants them. A lane that jumps out of a node waits in the mask of the join it jumped to; masks are
// recomputed after each construct as "entered and not waiting". A lane that discards rejoins as a helper (so that derivatives stay defined)
// and leaves loops at their end. Loops share a budget of iterations.
// Source: own; SPIR-V specification 2.11 "Structured Control Flow".
#include <algorithm>
#include <cassert>

#include "shader/lower/context.hpp"
#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/newer_extensions.hpp"
#include "shader/spirv/stage.hpp"

namespace tilegpu::shader {

Value Lowering::mask_alloca(const char* name) {
  Value slot = alloca_of(ir.vi32, name, ir.lanes * 4);
  ir.store(Ir::zero(ir.vi32), slot, ir.lanes * 4);
  return slot;
}

void Lowering::store_mask(Value slot, Value mask) const {
  assert(slot && (!mask || Ir::type_of(mask) == ir.vi1));
  ir.store(ir.mask_to_int(mask ? mask : ir.true_mask()), slot, ir.lanes * 4);
}

void Lowering::add_to_mask(Value slot, Value mask) const { store_mask(slot, mask ? ir.or_(load_mask(slot), mask) : nullptr); }

Value Lowering::and_masks(Value a, Value b) const {
  if (!a) return b;
  if (!b) return a;
  return ir.and_(a, b);
}

Value Lowering::quad_mask() { return killed ? and_masks(exec, ir.not_(load_mask(killed))) : exec; }

Value Lowering::write_mask() { return alive ? and_masks(exec, load_mask(alive)) : exec; }

/// Lanes of `mask` that do not wait at one of the joins.
Value Lowering::remaining(Value mask, const std::set<Join>& joins) {
  for (Join join : joins) {
    assert(join / 2 < frame().constructs.size());
    ConstructState& state = frame().constructs[join / 2];
    Value slot = join & 1 ? state.gone_continue : state.gone;
    if (slot) mask = and_masks(mask, ir.not_(load_mask(slot)));
  }
  return mask;
}

/// Rough number of instructions, for the choice between skipping and masking.
uint32_t Lowering::cost(uint32_t r, size_t first) const {
  const FunctionTree& tree = frames.back()->facts->tree;
  uint32_t sum = 0;
  for (size_t k = first; k < tree.regions[r].items.size(); ++k) {
    const Item& item = tree.regions[r].items[k];
    if (item.kind == ItemKind::construct) return 1000;
    if (item.kind != ItemKind::block) continue;
    const BasicBlock& b = tree.function->blocks[item.block];
    for (uint32_t n = b.first; n < b.end; ++n) {
      switch (static_cast<uint32_t>(m.instructions[n].op)) {
        case spv::OpAccessChain:
        case spv::OpInBoundsAccessChain:
        case spv::OpLoad:
        case spv::OpCompositeExtract:
        case spv::OpCompositeConstruct:
        case kOpCompositeConstructReplicate:
        case spv::OpVectorShuffle:
        case spv::OpBranch:
          break;
        case spv::OpFunctionCall:
        case spv::OpExtInst:
          sum += 20;
          break;
        case spv::OpUDiv:
        case spv::OpSDiv:
        case spv::OpSRem:
        case spv::OpSMod:
        case spv::OpUMod:
        case spv::OpFMod:
        case spv::OpFRem:
          sum += 20;
          break;
        default:
          sum += m.instructions[n].op >= spv::OpImageSampleImplicitLod && m.instructions[n].op <= spv::OpImageWrite ? 100 : 2;
          if (is_atomic(m.instructions[n].op) || is_cooperative(m.instructions[n].op)) sum += 100;
      }
    }
  }
  return sum;
}

Block Lowering::region_end(uint32_t r) {
  const FunctionTree& tree = frame().facts->tree;
  assert(r < tree.regions.size());
  const uint32_t c = tree.regions[r].construct;
  ConstructState& state = frame().constructs[c];
  switch (tree.constructs[c].kind) {
    case ConstructKind::block:
    case ConstructKind::selection:
    case ConstructKind::switch_:
      assert(state.arm_end.empty() || tree.regions[r].arm < state.arm_end.size());
      return state.arm_end.empty() ? state.merge : state.arm_end[tree.regions[r].arm];
    case ConstructKind::loop:
      return tree.regions[r].arm == 0 ? state.continue_ : state.latch;
    case ConstructKind::function:
      break;
  }
  return frame().end;
}

/// The end of the innermost node around a region: there the mask is computed anew.
Block Lowering::node_end(uint32_t r) {
  const FunctionFacts& f = *frame().facts;
  for (; r != kNone; r = f.tree.regions[r].parent) {
    const uint32_t c = f.tree.regions[r].construct;
    const ConstructKind kind = f.tree.constructs[c].kind;
    const ConstructFacts& facts = f.constructs[c];
    if (kind == ConstructKind::function) break;
    if (kind == ConstructKind::loop ? facts.node || (facts.continue_node && f.tree.regions[r].arm == 0) : facts.divergent || facts.node)
      return region_end(r);
  }
  return frame().end;
}

bool Lowering::same_node(uint32_t inner, uint32_t outer) const {
  const FunctionFacts& f = *frames.back()->facts;
  const auto a = Divergence::nodes(f, inner), b = Divergence::nodes(f, outer);
  return a.size() <= b.size();
}

/// Of an OpPhi: what its edges store; escaping: what its definition stores for other regions.
Variable& Lowering::slot_of(uint32_t id, uint32_t type, bool escaping) {
  auto& slot = frame().slots[escaping ? ~id : id];
  if (!slot) {
    slot = new_variable(type, d.is_varying(id), false, "slot");
    // Zero at the function's start: lanes that arrive by no edge (after discard) read defined bits.
    for (Value s : slot->slots) LLVMBuildStore(alloca_builder, LLVMConstNull(LLVMGetAllocatedType(s)), s);
  }
  assert(slot->type == type && slot->form == Variable::Form::registers);
  return *slot;
}

/// Values of the OpPhi of block `to` on the edge from block `from`.
void Lowering::edge(uint32_t from, uint32_t to, uint32_t r, bool into_sibling) {
  if (from == 0) return;
  const FunctionTree& tree = frame().facts->tree;
  assert(tree.function->block_of_label.count(from) && tree.function->block_of_label.count(to));
  const uint32_t index = tree.function->block_of_label.at(to);
  const BasicBlock& b = tree.function->blocks[index];
  std::vector<std::pair<const Instruction*, Val>> moves;
  for (uint32_t k = b.first; k < b.end; ++k) {
    const Instruction& i = m.instructions[k];
    if (i.op != spv::OpPhi) break;
    if (const auto& type = m.type(i.type); type.kind == Kind::pointer && !type.variable_pointer && !m.holds_address(i.id))
      return fail("OpPhi " + std::to_string(i.id) + " chooses between pointers that are no variable pointers, which SPIR-V does not have");
    for (uint32_t n = 0; n + 1 < i.count; n += 2) {
      if (m.operand(i, n + 1) == from) moves.emplace_back(&i, value(m.operand(i, n)));
    }
  }
  const uint32_t target = tree.region_of_block[index];
  const bool masked = exec && target != kNone && (into_sibling || !same_node(r, target));
  for (auto& [i, v] : moves) store_variable(slot_of(i->id, i->type, false), v, 0, nullptr, masked ? exec : nullptr);
}

void Lowering::region(uint32_t r) {
  // One level of this recursion takes about a kilobyte of the compiling thread's stack.
  struct Level {
    uint32_t& nesting;
    explicit Level(uint32_t& n) : nesting(++n) {}
    ~Level() { --nesting; }
  } level(nesting);
  if (nesting > kMaxNesting) fail("control flow nests deeper than " + std::to_string(kMaxNesting) + " with its calls, the limit");
  const FunctionTree& tree = frame().facts->tree;
  const auto& items = tree.regions[r].items;
  for (size_t k = 0; k < items.size() && !failed(); ++k) {
    const Item& item = items[k];
    switch (item.kind) {
      case ItemKind::block:
        block(tree.function->blocks[item.block], r);
        break;
      case ItemKind::construct:
        if (const uint32_t taken = frame().constructs[item.construct].taken_arm; taken != kNone) {
          const uint32_t arm = tree.constructs[item.construct].regions[taken];
          if (tree.regions[arm].items.empty()) break;  // what follows is the arm
          return region(arm);
        }
        if (tree.constructs[item.construct].kind == ConstructKind::block) block_construct(item.construct);
        if (tree.constructs[item.construct].kind == ConstructKind::selection) selection(r, item.construct);
        if (tree.constructs[item.construct].kind == ConstructKind::switch_) switch_(r, item.construct);
        if (tree.constructs[item.construct].kind == ConstructKind::loop) loop(r, item);
        after_construct(r, item.construct, k + 1);
        break;
      case ItemKind::edge:
        edge(item.from, item.to, r);
        break;
      case ItemKind::jump:
        jump(r, item);
        return;
      default:
        leave(r, item);
        return;
    }
  }
  ir.br(region_end(r));
}

void Lowering::jump(uint32_t r, const Item& item) {
  const FunctionFacts& f = *frame().facts;
  assert(item.kind == ItemKind::jump && item.construct < frame().constructs.size());
  ConstructState& state = frame().constructs[item.construct];
  // A case of a divergent switch that others fall into also has lanes that came from the header.
  edge(item.from, item.to, r, item.jump == JumpKind::fallthrough && state.cases.empty());
  const bool masked = Divergence::is_masked(f, r, item);
  if (masked) {
    if (item.jump == JumpKind::merge) add_to_mask(state.gone, exec);
    if (item.jump == JumpKind::continue_) add_to_mask(state.gone_continue, exec);
    if (item.jump == JumpKind::fallthrough) unsupported("a switch falls through from within a divergent branch; this is not supported");
    ir.br(node_end(r));
    return;
  }
  switch (item.jump) {
    case JumpKind::merge: {
      if (state.arm_end.empty()) {
        ir.br(state.merge);
        break;
      }
      uint32_t arm = r;
      while (f.tree.regions[arm].construct != item.construct) arm = f.tree.regions[arm].parent;
      ir.br(state.arm_end[f.tree.regions[arm].arm]);
      break;
    }
    case JumpKind::continue_:
      ir.br(state.continue_);
      break;
    case JumpKind::back:
      ir.br(state.latch);
      break;
    case JumpKind::fallthrough:
      assert(item.case_index < std::max(state.cases.size(), state.fall.size()));
      if (!state.cases.empty()) {
        ir.br(state.cases[item.case_index]);
      } else {
        add_to_mask(state.fall[item.case_index], exec);
        ir.br(region_end(r));
      }
      break;
  }
}

void Lowering::leave(uint32_t r, const Item& item) {
  const FunctionFacts& f = *frame().facts;
  assert(item.kind == ItemKind::return_ || item.kind == ItemKind::kill || item.kind == ItemKind::unreachable);
  if (item.kind == ItemKind::return_) {
    const Instruction& i = m.instructions[f.tree.function->blocks[item.block].terminator];
    const bool node = f.constructs[0].node;
    if (i.op == spv::OpReturnValue && frame().result)
      store_variable(*frame().result, value(m.operand(i, 0)), 0, nullptr, node ? exec : nullptr);
    if (Divergence::is_masked(f, r, item)) {
      add_to_mask(frame().constructs[0].gone, exec);
      ir.br(node_end(r));
    } else {
      ir.br(frame().end);
    }
    return;
  }
  if (item.kind == ItemKind::kill) kill(false);
  ir.br(region_end(r));
}

/// Discard and demote: the lanes become helpers.
void Lowering::kill(bool demote) {
  if (!alive) return;
  store_mask(alive, exec ? ir.and_(load_mask(alive), ir.not_(exec)) : ir.false_mask());
  if (!demote && killed) add_to_mask(killed, exec);
}

/// After a construct that lanes may have left for an outer join: skip the rest when none is left.
void Lowering::after_construct(uint32_t r, uint32_t c, size_t position) {
  const FunctionFacts& f = *frame().facts;
  const ConstructFacts& facts = f.constructs[c];
  if (fragment && f.tree.constructs[c].contains_kill && frames.size() == 1 && Divergence::nodes(f, r).empty() && cost(r, position) >= 24) {
    // All fragments of the packet are discarded: nobody needs what follows.
    Block next = ir.block("alive");
    ir.br(ir.any(load_mask(alive)), next, frame().end);
    ir.at(next);
    return;
  }
  if (facts.outer_jumps.empty() || !exec || cost(r, position) < 24) return;
  Block next = ir.block("some");
  ir.br(ir.any(exec), next, node_end(r));
  ir.at(next);
}

void Lowering::block_construct(uint32_t c) {
  const Construct& construct = frame().facts->tree.constructs[c];
  const ConstructFacts& facts = frame().facts->constructs[c];
  ConstructState& state = frame().constructs[c];
  assert(construct.regions.size() == 1 && !facts.divergent);
  state.entry_exec = exec;
  if (facts.node) state.gone = mask_alloca("gone");
  state.merge = ir.block("meet");
  region(construct.regions[0]);
  ir.at(state.merge);
  exec = remaining(state.entry_exec, facts.outer_jumps);
}

/// What the OpPhi of a merge block held in an earlier iteration is nobody's: those who come to it store anew. Without this each
/// iteration would wait for the one before.
void Lowering::forget_phis(uint32_t label) {
  const FunctionTree& tree = frame().facts->tree;
  const auto found = tree.function->block_of_label.find(label);
  if (found == tree.function->block_of_label.end()) return;
  const BasicBlock& b = tree.function->blocks[found->second];
  for (uint32_t k = b.first; k < b.end; ++k) {
    const Instruction& i = m.instructions[k];
    if (i.op != spv::OpPhi) break;
    zero_variable(slot_of(i.id, i.type, false));
  }
}

void Lowering::selection(uint32_t, uint32_t c) {
  const Construct& construct = frame().facts->tree.constructs[c];
  const ConstructFacts& facts = frame().facts->constructs[c];
  const bool divergent = facts.divergent;
  ConstructState& state = frame().constructs[c];
  assert(construct.kind == ConstructKind::selection && construct.regions.size() == 2 && !state.merge);
  state.entry_exec = exec;
  if (facts.node) state.gone = mask_alloca("gone");
  state.merge = ir.block("merge");
  Value condition = scalar(construct.condition);
  if (!divergent) {
    Block arms[2] = {ir.block("then"), ir.block("else")};
    ir.br(uniform(condition), arms[0], arms[1]);
    for (uint32_t arm = 0; arm < 2; ++arm) {
      ir.at(arms[arm]);
      exec = state.entry_exec;
      region(construct.regions[arm]);
    }
  } else {
    forget_phis(construct.merge);
    condition = vary(condition);
    Value masks[2] = {and_masks(state.entry_exec, condition), and_masks(state.entry_exec, ir.not_(condition))};
    state.arm_end = {ir.block("then_end"), state.merge};
    for (uint32_t arm = 0; arm < 2; ++arm) {
      exec = masks[arm];
      const uint32_t r = construct.regions[arm];
      if (cost(r) > 16) {
        Block body = ir.block(arm ? "else" : "then");
        ir.br(ir.any(exec), body, state.arm_end[arm]);
        ir.at(body);
      }
      region(r);
      ir.at(state.arm_end[arm]);
    }
  }
  ir.at(state.merge);
  exec = remaining(state.entry_exec, facts.outer_jumps);
}

/// Of a switch: which cases others jump into. Its regions were made one after the other.
static std::vector<bool> cases_fallen_into(const FunctionTree& tree, uint32_t c) {
  const Construct& construct = tree.constructs[c];
  std::vector<bool> falls(construct.cases.size(), false);
  const auto is_inside = [&](uint32_t r) {
    while (r != kNone && tree.regions[r].construct != c) r = tree.regions[r].parent;
    return r != kNone;
  };
  assert(construct.kind == ConstructKind::switch_ && !construct.regions.empty());
  for (uint32_t r = *std::min_element(construct.regions.begin(), construct.regions.end()); r < tree.regions.size() && is_inside(r); ++r)
    for (const Item& item : tree.regions[r].items)
      if (item.kind == ItemKind::jump && item.jump == JumpKind::fallthrough && item.construct == c) falls[item.case_index] = true;
  return falls;
}

void Lowering::switch_(uint32_t, uint32_t c) {
  const Construct& construct = frame().facts->tree.constructs[c];
  const ConstructFacts& facts = frame().facts->constructs[c];
  ConstructState& state = frame().constructs[c];
  state.entry_exec = exec;
  if (facts.node) state.gone = mask_alloca("gone");
  assert(construct.kind == ConstructKind::switch_ && construct.regions.size() == construct.cases.size() && !state.merge);
  state.merge = ir.block("merge");
  Value selector = scalar(construct.condition);
  assert(failed() || Ir::is_integer(selector));
  std::set<Join> joins = facts.outer_jumps;
  if (facts.node) joins.insert(c * 2);
  for (const Case& one : construct.cases) edge(construct.header, one.label, construct.parent_region);
  edge(construct.header, construct.merge, construct.parent_region);
  if (!facts.divergent) {
    Block fallback = state.merge;
    for (size_t k = 0; k < construct.cases.size(); ++k) {
      state.cases.push_back(ir.block("case"));
      if (construct.cases[k].is_default) fallback = state.cases.back();
    }
    selector = uniform(selector);
    Value instruction = LLVMBuildSwitch(ir.builder, selector, fallback, 8);
    for (size_t k = 0; k < construct.cases.size(); ++k) {
      for (uint64_t literal : construct.cases[k].literals) LLVMAddCase(instruction, Ir::same(selector, literal), state.cases[k]);
    }
    for (size_t k = 0; k < construct.cases.size(); ++k) {
      ir.at(state.cases[k]);
      exec = remaining(state.entry_exec, joins);
      region(construct.regions[k]);
    }
  } else {
    selector = vary(selector);
    // Each case's mask is found where the case stands: hundreds would be alive at once, and LLVM's time is as the square of that.
    const auto chosen = [&](const Case& one) {
      Value mask = ir.false_mask();
      for (uint64_t literal : one.literals) mask = ir.or_(mask, ir.eq(selector, Ir::same(selector, literal)));
      return mask;
    };
    const std::vector<bool> falls = cases_fallen_into(frame().facts->tree, c);
    for (size_t k = 0; k < construct.cases.size(); ++k) {
      state.fall.push_back(falls[k] ? mask_alloca("fall") : nullptr);
      state.arm_end.push_back(ir.block("case_end"));
    }
    Value matched = ir.false_mask();  // so far
    for (size_t k = 0; k < construct.cases.size(); ++k) {
      Value mask = chosen(construct.cases[k]);
      matched = ir.or_(matched, mask);
      if (construct.cases[k].is_default) {
        Value any = matched;
        for (size_t n = k + 1; n < construct.cases.size(); ++n) any = ir.or_(any, chosen(construct.cases[n]));
        mask = ir.or_(mask, ir.not_(any));
      }
      exec = and_masks(state.entry_exec, mask);
      if (state.fall[k]) exec = ir.or_(exec, load_mask(state.fall[k]));
      const uint32_t r = construct.regions[k];
      if (cost(r) > 16) {
        Block body = ir.block("case");
        ir.br(ir.any(exec), body, state.arm_end[k]);
        ir.at(body);
      }
      region(r);
      ir.at(state.arm_end[k]);
    }
    ir.br(state.merge);
  }
  ir.at(state.merge);
  exec = remaining(state.entry_exec, facts.outer_jumps);
}

/// Round after round, then what stands before the test. Each round's test is decided, so that only the last way out is left.
void Lowering::unrolled_loop(uint32_t c, const CountedLoop& counted) {
  const FunctionTree& tree = frame().facts->tree;
  const Construct& construct = tree.constructs[c];
  const Value entry_exec = exec;
  const Block end = ir.block("loop_end");
  const auto is_inside = [&](const Construct& inner) {
    return inner.parent_region != kNone && std::any_of(construct.regions.begin(), construct.regions.end(),
                                                       [&](uint32_t r) { return tree.encloses(r, inner.parent_region); });
  };
  assert(counted.rounds <= kMostRounds && is_inside(tree.constructs[counted.test]));
  for (uint32_t round = 0; round <= counted.rounds && !failed(); ++round) {
    // Those within the loop were made right after it.
    for (uint32_t k = c + 1; k < tree.constructs.size() && is_inside(tree.constructs[k]); ++k) frame().constructs[k] = {};
    ConstructState& state = frame().constructs[c];
    state = {};
    const bool is_last = round == counted.rounds;
    state.entry_exec = entry_exec, state.merge = end;
    if (!is_last) state.continue_ = ir.block("continue"), state.latch = ir.block("round");
    frame().constructs[counted.test].taken_arm = is_last ? counted.leaving_arm : 1 - counted.leaving_arm;
    exec = entry_exec;
    region(construct.regions[0]);
    if (is_last) break;
    ir.at(state.continue_);
    exec = entry_exec;
    region(construct.regions[1]);
    ir.at(state.latch);
  }
  ir.at(end);
  exec = entry_exec;
}

Value Lowering::loop_budget() const { return ir.constant_field(ir.ptr, args, loops_B, 8); }

Value Lowering::whole_budget() const { return ir.field(ir.i64, loop_budget(), offsetof(LoopBudget, iterations), 8); }

/// A loop was ended: which one, and of which draw, for the error of the pass; from now on all loops go once round.
void Lowering::name_loop(uint32_t header) {
  const Function& function = *frame().facts->tree.function;
  const auto found = function.block_of_label.find(header);
  assert(found != function.block_of_label.end());
  const BasicBlock& b = function.blocks[found->second];
  uint32_t line = 0;
  for (uint32_t k = b.first; k <= b.terminator; ++k)
    if (m.instructions[k].op == spv::OpLoopMerge) line = m.instructions[k].line;
  Value to = loop_budget(), draw = ir.field(ir.i32, to, offsetof(LoopBudget, draw));
  if (fragment) {
    Value primitive = ir.field(ir.ptr, args, offsetof(FragmentArgs, primitive), 8);
    draw = ir.field(ir.i32, primitive, offsetof(PrimitiveSetup, draw));
  }
  ir.store(ir.c32(line), ir.offset(to, offsetof(LoopBudget, spent_line)), 4);
  ir.store(draw, ir.offset(to, offsetof(LoopBudget, spent_draw)), 4);
  ir.store(ir.c32(stage_of(m.entry.model)), ir.offset(to, offsetof(LoopBudget, spent_stage)), 4);
  ir.store(ir.c64(0), ir.offset(to, offsetof(LoopBudget, iterations)), 8);
}

void Lowering::loop(uint32_t r, const Item& item) {
  const uint32_t c = item.construct;
  const Construct& construct = frame().facts->tree.constructs[c];
  assert(construct.kind == ConstructKind::loop && construct.regions.size() == 2 && budget);
  const ConstructFacts& facts = frame().facts->constructs[c];
  ConstructState& state = frame().constructs[c];
  edge(item.from, item.to, r);
  state.entry_exec = exec;
  // Quick code is made as short as it can be; the bits are the same.
  if (const auto counted = ir.quick ? std::nullopt : count_rounds(m, constants, d, *frame().facts, c, item.from);
      counted && lowered + 16 * counted->instructions < kMaxLoweredInstructions)
    return unrolled_loop(c, *counted);
  if (facts.node) {
    state.gone = mask_alloca("broken");
    state.loop_mask = mask_alloca("looping");
    store_mask(state.loop_mask, exec);
  }
  Block header = ir.block("loop");
  state.continue_ = ir.block("continue"), state.latch = ir.block("latch"), state.merge = ir.block("loop_end");
  ir.br(header);
  ir.at(header);
  // Who left in an earlier round is no lane of the loop any more: what counts is who leaves in this one. Without this each round would
  // wait for the mask of all before.
  if (facts.node) ir.store(Ir::zero(ir.vi32), state.gone, ir.lanes * 4);
  exec = facts.node ? load_mask(state.loop_mask) : state.entry_exec;
  if (facts.continue_node) state.gone_continue = mask_alloca("continued");
  region(construct.regions[0]);

  std::set<Join> joins = facts.outer_jumps;
  if (facts.node) joins.insert(c * 2);
  ir.at(state.continue_);
  exec = facts.node ? remaining(load_mask(state.loop_mask), joins) : state.entry_exec;
  region(construct.regions[1]);

  ir.at(state.latch);
  Value budget_left = ir.sub(ir.load(ir.i64, budget, 8), ir.c64(1));
  Value again = ir.icmp(LLVMIntSGT, budget_left, ir.c64(0)), goes_on = nullptr;
  ir.store(budget_left, budget, 8);
  if (facts.node) {
    Value mask = remaining(load_mask(state.loop_mask), joins);
    if (killed && construct.contains_kill) mask = ir.and_(mask, ir.not_(load_mask(killed)));
    store_mask(state.loop_mask, mask);
    goes_on = ir.any(mask);
    again = ir.and_(again, goes_on);
  }
  Block ended = ir.block("loop_ended");
  ir.br(again, header, ended);
  ir.at(ended);
  if (!slice) {  // loops of slices that nobody needs can go, and the whole shader names the others
    // The first loop that finds nothing left is named; those around it, and all later ones, find less than nothing.
    Value spent = ir.icmp(LLVMIntEQ, budget_left, ir.c64(0));
    ir.if_then(goes_on ? ir.and_(spent, goes_on) : spent, [&] { name_loop(construct.header); });
  }
  ir.br(state.merge);
  ir.at(state.merge);
  exec = remaining(state.entry_exec, facts.outer_jumps);
}

/// Emits the body of a function whose parameters are in `callee`; the builder is left after it, with the caller's mask.
void Lowering::call(Frame& callee, const FunctionFacts& facts) {
  assert(facts.tree.function && !facts.tree.regions.empty() && !callee.facts);
  callee.facts = &facts;
  callee.constructs.resize(facts.tree.constructs.size());
  callee.end = ir.block("end");
  Value entry_exec = exec;
  const uint64_t scratch_before_B = scratch_used_B;
  frames.push_back(&callee);
  if (facts.constructs[0].node) callee.constructs[0].gone = mask_alloca("returned");
  const TypeInfo& result = m.type(facts.tree.function->return_type);
  if (result.kind != Kind::void_) {
    callee.result = new_variable(facts.tree.function->return_type, facts.return_varying, false, "result");
    zero_variable(*callee.result);
  }
  region(0);
  ir.at(callee.end);
  assert(frames.back() == &callee);
  frames.pop_back();
  scratch_used_B = scratch_before_B;
  exec = entry_exec;
}

}  // namespace tilegpu::shader
