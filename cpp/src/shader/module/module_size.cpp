// shader/module/module_size.cpp -- see module_size.hpp.
//
// What is no instruction ends the look: the validator says so at once.
#include "shader/module/module_size.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <unordered_map>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {
namespace {

constexpr size_t kHeader_words = 5;
// The validator goes through a function's blocks for each of its loops (2,000 blocks: some 50 ms, 32,000: 14 s), and through those of all
// that are within a selection or loop for each (100 levels: 0.1 s, 480: 11 s), through all functions for each entry point (900 for 20,000:
// 10 s), through all entry points for each use of an interface's variable (1,000 for 100: 4 s), and through all members of a structure for
// each variable of it (9,000 for 2,000: 5 s).
constexpr size_t kMost_words = 1u << 17, kMostBlocks = 2000, kMostEntryPoints = 64, kMostInterface_words = 1u << 14;
constexpr uint64_t kMostMembersOfVariables = 1u << 20;
constexpr uint32_t kMostNesting = 100;

/// How deep selections and loops are within each other in one function, block by block from its first one: a header is before all that
/// it holds on every way there.
class Nesting {
 public:
  void begin() { blocks_.clear(), now_ = 0, first_ = 0, headers_ = 0; }
  void label(uint32_t id) {
    now_ = id;
    if (!first_) first_ = id;
    blocks_.try_emplace(id);
  }
  void merge(uint32_t to) {
    if (now_) blocks_[now_].merge = to, ++headers_;
  }
  void goes_to(uint32_t to) {
    if (now_) blocks_[now_].next.push_back(to);
  }
  uint32_t most();

 private:
  struct Block {
    uint32_t merge = 0, depth = 0;
    bool known = false;
    std::vector<uint32_t> next;
  };
  void reach(uint32_t id, uint32_t depth) {
    const auto found = blocks_.find(id);
    if (found == blocks_.end() || found->second.known) return;
    found->second.known = true, found->second.depth = depth;
    most_ = std::max(most_, depth);
    waits_.push_back(id);
  }
  std::unordered_map<uint32_t, Block> blocks_;
  std::deque<uint32_t> waits_;
  uint32_t now_ = 0, first_ = 0, headers_ = 0, most_ = 0;
};

uint32_t Nesting::most() {
  if (headers_ <= kMostNesting) return headers_;
  most_ = 0;
  reach(first_, 0);
  while (!waits_.empty()) {
    const Block& block = blocks_[waits_.front()];
    waits_.pop_front();
    if (block.merge) reach(block.merge, block.depth);
    for (const uint32_t to : block.next) reach(to, block.depth + (block.merge != 0));
  }
  return most_;
}

struct Size {
  size_t blocks = 0, entry_points = 0, interface_words = 0;
  uint64_t variables = 0, members = 0;
  uint32_t nesting = 0;
  bool is_large() const {
    return blocks > kMostBlocks || entry_points > kMostEntryPoints || interface_words > kMostInterface_words || nesting > kMostNesting ||
           variables * members > kMostMembersOfVariables;
  }
};

void go_on(Nesting& function, Size& size, uint32_t op, const uint32_t* operands, uint32_t count) {
  const auto number = [&](uint32_t k) { return k < count ? operands[k] : 0; };
  switch (op) {
    case spv::OpEntryPoint:
      size.entry_points++, size.interface_words += count;
      break;
    case spv::OpVariable:
      size.variables++;
      break;
    case spv::OpTypeStruct:
      size.members += count;
      break;
    case spv::OpFunction:
      function.begin();
      break;
    case spv::OpFunctionEnd:
      size.nesting = std::max(size.nesting, function.most());
      break;
    case spv::OpLabel:
      size.blocks++;
      function.label(number(0));
      break;
    case spv::OpSelectionMerge:
    case spv::OpLoopMerge:
      function.merge(number(0));
      break;
    case spv::OpBranch:
      function.goes_to(number(0));
      break;
    case spv::OpBranchConditional:
      function.goes_to(number(1)), function.goes_to(number(2));
      break;
    case spv::OpSwitch:
      // Selectors of 64 bits take two words each: then some of these are literals, and no blocks.
      for (uint32_t k = 1; k < count; ++k) function.goes_to(number(k));
      break;
    default:
      break;
  }
}

}  // namespace

bool is_large(const std::vector<uint32_t>& words) {
  if (words.size() > kMost_words) return true;
  Nesting function;
  Size size;
  for (size_t at = kHeader_words; at < words.size() && size.blocks <= kMostBlocks;) {
    const uint32_t op = words[at] & spv::OpCodeMask, length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at) break;
    go_on(function, size, op, words.data() + at + 1, length - 1);
    at += length;
    assert(at <= words.size());
  }
  return size.is_large();
}

}  // namespace tilegpu::shader
