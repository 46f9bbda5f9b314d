// shader/lower/structure.cpp -- builds the tree of structured control flow by recursive descent over merge instructions.
//
// In: a function's blocks. Out: FunctionTree, or an error where control flow is not structured. Arms of a selection may meet in a block
// that is no merge block: it is found by dominance, and the selection is put into a construct of kind `block` that ends there. Source:
// SPIR-V specification 1.6, section 2.11.2 "Structured Control-Flow Constructs"; dominators: Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm" (Rice University, 2001).
#include "shader/lower/structure.hpp"

#include <algorithm>
#include <cassert>
#include <map>

#include "shader/lower/block_order.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kMaxDepth = 200;  // of nested constructs

/// Blocks in which arms meet, by the block that dominates them immediately: those of several predecessors that no instruction names as a
/// merge block, continue target or case, and that begin no loop. In reverse postorder.
std::map<uint32_t, std::vector<uint32_t>> find_meets(const Module& m, const Function& f, const DecidedBranches& decided) {
  const auto count = static_cast<uint32_t>(f.blocks.size());
  std::vector<std::vector<uint32_t>> next(count), before(count);
  std::vector<bool> named(count, false);
  const auto index = [&](uint32_t label) { return f.block_of_label.at(label); };
  for (uint32_t b = 0; b < count; ++b) {
    if (const uint32_t only = decided.of(f.id, b))
      next[b] = {index(only)};
    else
      for (uint32_t label : successors(m, f.blocks[b])) next[b].push_back(index(label));
    if (f.blocks[b].merge != spv::OpNop) named[index(f.blocks[b].merge_block)] = true;
    if (f.blocks[b].merge == spv::OpLoopMerge) named[index(f.blocks[b].continue_block)] = named[b] = true;
    if (m.instructions[f.blocks[b].terminator].op == spv::OpSwitch)
      for (uint32_t to : next[b]) named[to] = true;
  }
  const std::vector<uint32_t> order = postorder(next);
  std::vector<uint32_t> number(count, kNone);
  for (uint32_t k = 0; k < order.size(); ++k) number[order[k]] = k;
  for (uint32_t b : order)
    for (uint32_t to : next[b])
      if (std::find(before[to].begin(), before[to].end(), b) == before[to].end()) before[to].push_back(b);
  std::map<uint32_t, std::vector<uint32_t>> meets;
  bool any = false;
  for (uint32_t b : order) any = any || (!named[b] && before[b].size() > 1);
  if (!any) return meets;
  std::vector<uint32_t> dominator(count, kNone);
  dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = order.size(); k-- > 0;) {
      const uint32_t b = order[k];
      if (b == 0) continue;
      uint32_t found = kNone;
      for (uint32_t p : before[b]) {
        if (dominator[p] == kNone) continue;
        for (uint32_t other = p; found != kNone && found != other;) {
          while (number[found] < number[other]) found = dominator[found];
          while (number[other] < number[found]) other = dominator[other];
        }
        if (found == kNone) found = p;
      }
      if (dominator[b] != found) dominator[b] = found, changed = true;
    }
  }
  for (size_t k = order.size(); k-- > 0;) {
    const uint32_t b = order[k];
    if (b != 0 && !named[b] && before[b].size() > 1) meets[dominator[b]].push_back(f.blocks[b].label);
  }
  return meets;
}

struct Builder {
  const Module& m;
  const Function& f;
  const DecidedBranches& decided;
  FunctionTree& tree;
  std::map<uint32_t, std::vector<uint32_t>> meets;
  std::vector<uint32_t> open;  // constructs around the current point, outermost first
  std::vector<bool> visited;
  std::vector<bool> left = {}, continued = {};  // [constructs] something jumps to its merge block, to its continue target
  uint32_t order = 0;
  Status status = Ok{};

  bool fail(const std::string& message) {
    if (status) status = Error{VK_ERROR_INVALID_SHADER_NV, "SPIR-V: function '" + m.name(f.id) + "': " + message};
    return false;
  }
  /// Where `label` is a join of an open construct, the jump to it.
  bool find_join(uint32_t label, Item& item) const {
    for (size_t k = open.size(); k-- > 0;) {
      const Construct& c = tree.constructs[open[k]];
      item.kind = ItemKind::jump, item.construct = open[k];
      if (c.kind == ConstructKind::loop) {
        // In a loop of one block the header is the continue target too.
        if (c.continue_label == label && c.continue_label != c.header && c.regions.size() < 2) return item.jump = JumpKind::continue_, true;
        if (c.header == label) return item.jump = c.continue_label == c.header ? JumpKind::continue_ : JumpKind::back, true;
      }
      if (c.merge == label && c.kind != ConstructKind::function) return item.jump = JumpKind::merge, true;
      if (c.kind == ConstructKind::switch_) {
        for (uint32_t n = 0; n < c.cases.size(); ++n) {
          if (c.cases[n].label == label) return item.jump = JumpKind::fallthrough, item.case_index = n, true;
        }
      }
    }
    return false;
  }
  uint32_t new_region(uint32_t parent, uint32_t construct, uint32_t arm) {
    assert(construct < tree.constructs.size() && arm == tree.constructs[construct].regions.size());
    tree.regions.push_back({{}, parent, construct, arm});
    const auto id = static_cast<uint32_t>(tree.regions.size() - 1);
    tree.constructs[construct].regions.push_back(id);
    return id;
  }
  /// Nothing comes to the end of a construct: what follows is not reached. Asked where branches are decided; else the module says so
  /// itself.
  bool ends_at(uint32_t construct) const { return decided.taken.count(f.id) && !left[construct]; }
  uint32_t new_construct(ConstructKind kind, uint32_t region) {
    Construct& c = tree.constructs.emplace_back();
    left.push_back(false), continued.push_back(false);
    c.kind = kind, c.parent_region = region;
    return static_cast<uint32_t>(tree.constructs.size() - 1);
  }
  void append(uint32_t region, const Item& item) {
    assert(region < tree.regions.size());
    tree.regions[region].items.push_back(item);
  }
  void append_construct(uint32_t region, uint32_t construct) {
    Item item;
    item.kind = ItemKind::construct, item.construct = construct;
    append(region, item);
  }

  /// `stored`: the values of the first block's OpPhi on this edge are stored already.
  bool sequence(uint32_t region, uint32_t from, uint32_t label, bool stored = false);
  bool begins_with_phi(const BasicBlock& b) const { return b.first < b.end && m.instructions[b.first].op == spv::OpPhi; }
  uint32_t open_block(uint32_t& region, uint32_t header, uint32_t merge);
  bool arms_that_meet(uint32_t region, const BasicBlock& b, uint32_t only, uint32_t& from, uint32_t& label, bool& ended);
  bool block_body(uint32_t region, uint32_t index, uint32_t& from, uint32_t& label, bool& ended);
  bool selection(uint32_t region, const BasicBlock& b, const Instruction& t, uint32_t& from, uint32_t& label, bool& ended);
  bool switch_(uint32_t region, const BasicBlock& b, const Instruction& t, uint32_t& label, bool& ended);
  bool order_cases(uint32_t c);
  bool loop(uint32_t region, uint32_t index, uint32_t from);
};

/// Appends blocks from `label` on until control leaves the region.
bool Builder::sequence(uint32_t region, uint32_t from, uint32_t label, bool stored) {
  if (open.size() > kMaxDepth) return fail("control flow is nested deeper than " + std::to_string(kMaxDepth));
  for (;;) {
    Item jump;
    if (find_join(label, jump)) {
      jump.from = from, jump.to = label;
      append(region, jump);
      if (jump.jump == JumpKind::merge) left[jump.construct] = true;
      if (jump.jump == JumpKind::continue_) continued[jump.construct] = true;
      return true;
    }
    const uint32_t index = f.block_of_label.at(label);
    if (visited[index]) return fail("block " + std::to_string(label) + " is reached from two places that share no merge block");
    const BasicBlock& b = f.blocks[index];
    if (from && !stored && b.merge != spv::OpLoopMerge && begins_with_phi(b)) {
      Item edge;
      edge.kind = ItemKind::edge, edge.from = from, edge.to = label;
      append(region, edge);
    }
    stored = false;
    if (b.merge == spv::OpLoopMerge) {
      const auto c = static_cast<uint32_t>(tree.constructs.size());  // the loop's
      if (!loop(region, index, from)) return false;
      if (ends_at(c)) return true;
      from = 0, label = b.merge_block;
      if (visited[f.block_of_label.at(label)]) return fail("the merge block of a loop is inside of it");
      continue;
    }
    bool ended = false;
    if (!block_body(region, index, from, label, ended)) return false;
    if (ended) return true;
  }
}

bool Builder::block_body(uint32_t region, uint32_t index, uint32_t& from, uint32_t& label, bool& ended) {
  assert(!visited[index]);
  const BasicBlock& b = f.blocks[index];
  visited[index] = true;
  tree.region_of_block[index] = region;
  tree.order_of_block[index] = order++;
  Item item;
  item.block = index;
  append(region, item);
  const Instruction& t = m.instructions[b.terminator];
  from = b.label;
  ended = false;
  switch (t.op) {
    case spv::OpBranch:
      label = m.operand(t, 0);
      return true;
    case spv::OpBranchConditional: {
      const bool alike = m.operand(t, 1) == m.operand(t, 2);
      const uint32_t only = alike ? m.operand(t, 1) : decided.of(f.id, index);
      if (meets.count(index) || (only && b.merge == spv::OpSelectionMerge)) return arms_that_meet(region, b, only, from, label, ended);
      if (only) return label = only, true;
      return selection(region, b, t, from, label, ended);
    }
    case spv::OpSwitch:
      if (const uint32_t only = decided.of(f.id, index); only && b.merge == spv::OpSelectionMerge)
        return arms_that_meet(region, b, only, from, label, ended);
      from = 0;  // the switch stores on all edges, that to its merge block among them
      return switch_(region, b, t, label, ended);
    case spv::OpReturn:
    case spv::OpReturnValue:
      item.kind = ItemKind::return_;
      break;
    case spv::OpKill:
    case spv::OpTerminateInvocation:
    case spv::OpEmitMeshTasksEXT:
      item.kind = ItemKind::kill;
      break;
    default:
      item.kind = ItemKind::unreachable;
      break;
  }
  append(region, item);
  ended = true;
  return true;
}

/// Goes on in the arm of a new construct, which ends at `merge`. Returns the construct.
uint32_t Builder::open_block(uint32_t& region, uint32_t header, uint32_t merge) {
  const uint32_t c = new_construct(ConstructKind::block, region);
  tree.constructs[c].header = header;
  tree.constructs[c].merge = merge;
  append_construct(region, c);
  open.push_back(c);
  region = new_region(region, c, 0);
  return c;
}

/// A branch whose arms meet before its merge block, or that has one arm only (`only`: its label, else 0):
///   block until merge { block until last meet { ... block until first meet { the branch }  first meet ... }  last meet ... }  merge
bool Builder::arms_that_meet(uint32_t region, const BasicBlock& b, uint32_t only, uint32_t& from, uint32_t& label, bool& ended) {
  const Instruction& t = m.instructions[b.terminator];
  [[maybe_unused]] const uint32_t outside = region;
  const bool merged = b.merge == spv::OpSelectionMerge;
  std::vector<uint32_t> joins;  // the first is reached first
  if (const auto found = meets.find(f.block_of_label.at(b.label)); found != meets.end()) joins = found->second;
  if (merged) joins.push_back(b.merge_block);
  assert(!joins.empty());
  std::vector<uint32_t> regions;  // in which the code behind each construct stands
  for (size_t k = joins.size(); k-- > 0;) {
    regions.insert(regions.begin(), region);
    open_block(region, b.label, joins[k]);
  }
  assert(regions.back() == outside);
  if (only) {
    if (!sequence(region, b.label, only)) return false;
  } else {
    const uint32_t c = new_construct(ConstructKind::selection, region);
    tree.constructs[c].condition = m.operand(t, 0);
    tree.constructs[c].header = b.label;
    append_construct(region, c);
    open.push_back(c);
    for (uint32_t arm = 0; arm < 2; ++arm)
      if (!sequence(new_region(region, c, arm), b.label, m.operand(t, 1 + arm))) return false;
    open.pop_back();
  }
  for (size_t k = 0; k + 1 < joins.size(); ++k) {
    open.pop_back();
    if (!sequence(regions[k], 0, joins[k])) return false;
  }
  const uint32_t outermost = open.back();
  open.pop_back();
  from = 0, label = joins.back(), ended = ends_at(outermost);
  if (ended) return true;
  if (visited[f.block_of_label.at(label)]) return fail("a merge block is inside of its selection");
  return true;
}

bool Builder::selection(uint32_t region, const BasicBlock& b, const Instruction& t, uint32_t& from, uint32_t& label, bool& ended) {
  const uint32_t targets[2] = {m.operand(t, 1), m.operand(t, 2)};
  const bool merged = b.merge == spv::OpSelectionMerge;
  assert(targets[0] != targets[1]);
  const uint32_t c = new_construct(ConstructKind::selection, region);
  tree.constructs[c].condition = m.operand(t, 0);
  tree.constructs[c].header = b.label;
  tree.constructs[c].merge = merged ? b.merge_block : 0;
  append_construct(region, c);
  open.push_back(c);
  uint32_t next = 0;
  for (uint32_t arm = 0; arm < 2; ++arm) {
    const uint32_t r = new_region(region, c, arm);
    Item jump;
    // Without a merge block an arm leaves, and the code of the other one goes on in this region.
    if (!merged && !find_join(targets[arm], jump)) {
      const Instruction& first = m.instructions[f.blocks[f.block_of_label.at(targets[arm])].terminator];
      const bool leaves = first.op != spv::OpBranch && first.op != spv::OpBranchConditional && first.op != spv::OpSwitch;
      if (next && !leaves) return fail("the branch of block " + std::to_string(b.label) + " has no merge block");
      if (!next && !(leaves && arm == 0)) {
        next = targets[arm];
        continue;  // an empty arm: falls to the end of the selection
      }
    }
    if (!sequence(r, b.label, targets[arm])) return false;
  }
  assert(open.back() == c);
  open.pop_back();
  from = b.label;
  if (merged) {
    label = b.merge_block, ended = ends_at(c);
    if (ended) return true;
    if (visited[f.block_of_label.at(label)]) return fail("a merge block is inside of its selection");
    from = 0;
    return true;
  }
  label = next;
  ended = next == 0;
  return true;
}

bool Builder::switch_(uint32_t region, const BasicBlock& b, const Instruction& t, uint32_t& label, bool& ended) {
  if (b.merge != spv::OpSelectionMerge) return fail("the switch of block " + std::to_string(b.label) + " has no merge block");
  const uint32_t c = new_construct(ConstructKind::switch_, region);
  tree.constructs[c].condition = m.operand(t, 0);
  tree.constructs[c].header = b.label;
  tree.constructs[c].merge = b.merge_block;
  std::vector<Case> cases;
  auto case_of = [&](uint32_t target) -> Case& {
    for (Case& one : cases) {
      if (one.label == target) return one;
    }
    cases.push_back({{}, false, target});
    return cases.back();
  };
  const std::vector<Module::Case> all = m.cases(t);
  case_of(all[0].label).is_default = true;
  for (size_t k = 1; k < all.size(); ++k) case_of(all[k].label).literals.push_back(all[k].literal);
  append_construct(region, c);
  open.push_back(c);
  tree.constructs[c].cases = cases;
  for (uint32_t arm = 0; arm < cases.size(); ++arm) {
    const uint32_t r = new_region(region, c, arm);
    // While a case is parsed its own label is no join.
    tree.constructs[c].cases[arm].label = 0;
    const bool ok = sequence(r, b.label, cases[arm].label, true);
    tree.constructs[c].cases[arm].label = cases[arm].label;
    if (!ok) return false;
  }
  open.pop_back();
  if (!order_cases(c)) return false;
  label = b.merge_block, ended = ends_at(c);
  if (!ended && visited[f.block_of_label.at(label)]) return fail("a merge block is inside of its switch");
  return true;
}

/// Arranges the cases of a switch so that each comes before the one that it falls into, and a default that does nothing behind all others.
bool Builder::order_cases(uint32_t c) {
  Construct& construct = tree.constructs[c];
  const auto count = static_cast<uint32_t>(construct.cases.size());
  std::vector<std::vector<uint32_t>> into(count);
  std::vector<uint32_t> waiting(count, 0), order, place(count);
  const auto arm_of = [&](uint32_t r) {
    for (; r != kNone; r = tree.regions[r].parent) {
      if (tree.regions[r].construct == c) return tree.regions[r].arm;
    }
    return kNone;
  };
  for (uint32_t r = construct.regions[0]; r < tree.regions.size(); ++r) {
    for (const Item& item : tree.regions[r].items) {
      if (item.kind != ItemKind::jump || item.jump != JumpKind::fallthrough || item.construct != c) continue;
      into[arm_of(r)].push_back(item.case_index);
      waiting[item.case_index]++;
    }
  }
  const auto& nothing = tree.regions[construct.regions[0]].items;  // the default's
  const bool is_empty = nothing.size() == 1 && nothing[0].kind == ItemKind::jump && nothing[0].construct == c &&
                        nothing[0].jump == JumpKind::merge && waiting[0] == 0;
  std::vector<bool> placed(count, false);
  for (uint32_t first = is_empty ? 1 : 0; order.size() < count;) {
    while (first < count && placed[first]) ++first;
    uint32_t next = is_empty && order.size() + 1 == count ? 0 : kNone;
    for (uint32_t k = first; k < count && next == kNone; ++k) {
      if (!placed[k] && waiting[k] == 0) next = k;
    }
    if (next == kNone) return fail("the cases of a switch fall through in a circle");
    placed[next] = true, place[next] = static_cast<uint32_t>(order.size());
    order.push_back(next);
    for (uint32_t target : into[next]) waiting[target]--;
  }
  std::vector<Case> cases;
  std::vector<uint32_t> regions;
  for (uint32_t k : order) cases.push_back(construct.cases[k]), regions.push_back(construct.regions[k]);
  for (uint32_t r = construct.regions[0]; r < tree.regions.size(); ++r) {
    if (tree.regions[r].construct == c) tree.regions[r].arm = place[tree.regions[r].arm];
    for (Item& item : tree.regions[r].items) {
      if (item.kind == ItemKind::jump && item.jump == JumpKind::fallthrough && item.construct == c)
        item.case_index = place[item.case_index];
    }
  }
  construct.cases = std::move(cases), construct.regions = std::move(regions);
  return true;
}

bool Builder::loop(uint32_t region, uint32_t index, uint32_t from_outside) {
  const BasicBlock& b = f.blocks[index];
  const uint32_t c = new_construct(ConstructKind::loop, region);
  tree.constructs[c].header = b.label;
  tree.constructs[c].merge = b.merge_block;
  tree.constructs[c].continue_label = b.continue_block;
  append_construct(region, c);
  tree.regions[region].items.back().from = from_outside;
  tree.regions[region].items.back().to = b.label;
  open.push_back(c);
  const uint32_t body = new_region(region, c, 0);
  uint32_t from = 0, label = 0;
  bool ended = false;
  if (!block_body(body, index, from, label, ended)) return false;
  if (!ended && !sequence(body, from, label)) return false;
  const uint32_t tail = new_region(region, c, 1);
  const uint32_t continue_index = f.block_of_label.at(b.continue_block);
  const bool is_reached = continued[c] || !decided.taken.count(f.id);
  if (continue_index != index && !visited[continue_index] && is_reached) {
    if (!sequence(tail, 0, b.continue_block)) return false;
  } else {
    Item back;  // a loop of one block, or a continue block that nobody reaches
    back.kind = ItemKind::jump, back.construct = c, back.jump = JumpKind::back;
    append(tail, back);
  }
  open.pop_back();
  return true;
}

}  // namespace

uint32_t FunctionTree::loop_around(uint32_t region) const {
  for (; region != kNone; region = regions[region].parent) {
    if (constructs[regions[region].construct].kind == ConstructKind::loop) return regions[region].construct;
  }
  return kNone;
}

Expected<FunctionTree> build_tree(const Module& module, const Function& function, const DecidedBranches& decided) {
  FunctionTree tree;
  tree.function = &function;
  tree.region_of_block.assign(function.blocks.size(), kNone);
  tree.order_of_block.assign(function.blocks.size(), 0);
  Builder builder{
      module, function, decided, tree, find_meets(module, function, decided), {}, std::vector<bool>(function.blocks.size(), false)};
  builder.new_construct(ConstructKind::function, kNone);
  builder.new_region(kNone, 0, 0);
  builder.open.push_back(0);
  if (!builder.sequence(0, 0, function.blocks[0].label)) return builder.status.error();
  return tree;
}

}  // namespace tilegpu::shader
