// tests/test_module_size.cpp -- which modules are large for SPIRV-Tools: by their nesting, in any order of blocks, and by what else grows.
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "shader/module/module_size.hpp"
#include "shader/spirv/module.hpp"

using namespace tilegpu::shader;
using namespace tilegpu::test;

namespace {

struct Words {
  std::vector<uint32_t> words = {spv::MagicNumber, 0x10600, 0, 1000000, 0};
  uint32_t id = 100;
  void op(uint32_t code, std::vector<uint32_t> operands) {
    words.push_back(static_cast<uint32_t>(operands.size() + 1) << spv::WordCountShift | code);
    words.insert(words.end(), operands.begin(), operands.end());
  }
  void begin() { op(spv::OpFunction, {1, 2, 0, 3}), op(spv::OpLabel, {++id}); }
  void end() { op(spv::OpReturn, {}), op(spv::OpFunctionEnd, {}); }
  bool large() const { return is_large(words); }
};

/// Selections or loops within each other; `merge_first`: each one's merge block stands right behind its header.
Words nested(uint32_t levels, bool loops, bool merge_first) {
  Words w;
  w.begin();
  std::vector<std::pair<uint32_t, uint32_t>> open;  // merge, continue
  uint32_t outer = 0;
  for (uint32_t k = 0; k < levels; ++k) {
    const uint32_t header = ++w.id, merge = ++w.id, body = ++w.id, next = ++w.id;
    w.op(spv::OpBranch, {header}), w.op(spv::OpLabel, {header});
    if (loops)
      w.op(spv::OpLoopMerge, {merge, next, 0});
    else
      w.op(spv::OpSelectionMerge, {merge, 0});
    w.op(spv::OpBranchConditional, {9, body, merge});
    if (merge_first) {
      w.op(spv::OpLabel, {merge});
      if (outer)
        w.op(spv::OpBranch, {outer});
      else
        w.op(spv::OpReturn, {});
      outer = merge;
    }
    w.op(spv::OpLabel, {body});
    open.emplace_back(merge, next);
  }
  for (size_t k = open.size(); k-- > 0;) {
    const auto [merge, next] = open[k];
    if (loops) w.op(spv::OpBranch, {next}), w.op(spv::OpLabel, {next});
    w.op(spv::OpBranch, {merge});
    if (!merge_first) w.op(spv::OpLabel, {merge});
  }
  w.end();
  return w;
}

Words in_a_row(uint32_t count) {
  Words w;
  w.begin();
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t body = ++w.id, merge = ++w.id;
    w.op(spv::OpSelectionMerge, {merge, 0}), w.op(spv::OpBranchConditional, {9, body, merge});
    w.op(spv::OpLabel, {body}), w.op(spv::OpBranch, {merge}), w.op(spv::OpLabel, {merge});
  }
  w.end();
  return w;
}

void test_nesting() {
  for (const bool loops : {false, true})
    for (const bool merge_first : {false, true}) {
      CHECK(!nested(100, loops, merge_first).large());
      CHECK(nested(101, loops, merge_first).large());
    }
  CHECK(!in_a_row(900).large() && in_a_row(1001).large());
  Words cases;  // a switch of many
  cases.begin();
  std::vector<uint32_t> targets = {9, 500};
  for (uint32_t k = 0; k < 1500; ++k) targets.insert(targets.end(), {k, 1000 + k});
  cases.op(spv::OpSelectionMerge, {500, 0}), cases.op(spv::OpSwitch, targets);
  for (uint32_t k = 0; k < 1500; ++k) cases.op(spv::OpLabel, {1000 + k}), cases.op(spv::OpBranch, {500});
  cases.op(spv::OpLabel, {500}), cases.end();
  CHECK(!cases.large());
}

void test_what_else_grows() {
  const auto of = [](uint32_t entry_points, uint32_t interface, uint32_t variables, uint32_t members, uint32_t others) {
    Words w;
    for (uint32_t k = 0; k < entry_points; ++k) w.op(spv::OpEntryPoint, std::vector<uint32_t>(3 + interface, 7));
    if (members) w.op(spv::OpTypeStruct, std::vector<uint32_t>(members + 1, 7));
    for (uint32_t k = 0; k < variables; ++k) w.op(spv::OpVariable, {5, 6, 7});
    for (uint32_t k = 0; k < others; ++k) w.op(spv::OpIAdd, {5, 6, 7, 8});
    return w.large();
  };
  CHECK(!of(64, 200, 0, 0, 0) && of(65, 1, 0, 0, 0) && of(60, 300, 0, 0, 0));
  CHECK(!of(1, 1, 1000, 1000, 0) && of(1, 1, 1100, 1000, 0));
  CHECK(!of(1, 1, 10, 10, 26000) && of(1, 1, 10, 10, 27000));
}

/// What no module is: an answer, and no access beyond the words.
void test_broken() {
  CHECK(!is_large({}) && !is_large({1, 2, 3}));
  Words w = nested(300, true, false);
  CHECK(w.large());
  for (size_t k = 5; k < w.words.size(); k += 7) {
    Words other = w;
    other.words[k] ^= 0x00030000u << (k % 3);
    (void)other.large();
  }
  Words none;  // merges and branches outside of a function, and to nowhere
  none.op(spv::OpLoopMerge, {}), none.op(spv::OpBranch, {}), none.op(spv::OpFunctionEnd, {}), none.op(spv::OpLabel, {});
  CHECK(!none.large());
}

}  // namespace

int main() {
  test_nesting();
  test_what_else_grows();
  test_broken();
  return finish("test_module_size");
}
