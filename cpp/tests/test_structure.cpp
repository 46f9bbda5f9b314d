// tests/test_structure.cpp -- structured control flow: what specialisation decides is not in the tree, and trees of large functions take
// work in proportion. Counted, not timed.
#include <algorithm>

#include "lower_fixture.hpp"
#include "shader/lower/decided_branches.hpp"
#include "shader/lower/divergence.hpp"
#include "shader/spirv/limits.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

struct Seen {
  uint32_t blocks = 0, reached = 0, constructs = 0;
  uint64_t visited = 0;
};

Seen look(const ShaderModule& shader, const Specialization& specialization) {
  Seen seen;
  const Module& m = shader.module();
  auto constants = specialise(m, specialization);
  if (!CHECK(constants)) return seen;
  seen.visited = decide_branches(m, *constants).visited;
  auto divergence = analyze_divergence(m, *constants, [](uint32_t, uint32_t) { return false; });
  if (!CHECK(divergence)) return seen;
  for (const auto& [id, f] : divergence->functions) {
    seen.blocks += static_cast<uint32_t>(f.tree.function->blocks.size());
    seen.constructs += static_cast<uint32_t>(f.tree.constructs.size());
    for (uint32_t region : f.tree.region_of_block) seen.reached += region != kNone;
  }
  return seen;
}

// One text for all operations: by a switch, by comparisons within the function, by a parameter that all calls agree on.
constexpr const char* kKernel = R"(#version 450
layout(local_size_x = 32) in;
layout(constant_id = 0) const uint kOperation = 0;
layout(constant_id = 1) const bool kLoops = false;
layout(std430, binding = 0) buffer Data { float data[]; };
float apply(uint operation, float x) {
  if (operation == 1u) { if (x > 2.0) return x; else return -x; }
  if (operation == 2u) { for (int n = 0; n < int(x); ++n) { if (!kLoops) break; x *= 1.5; } return x; }
  return x + 1.0;
}
void main() {
  float x = data[gl_GlobalInvocationID.x];
  switch (kOperation) {
    case 0u: if (x > 1.0) x = sin(x); break;
    case 1u: x = cos(x);
    case 2u: x = x > 0.5 ? x : 0.5; break;
    default: for (int n = 0; n < int(x); ++n) x += 1.0;
  }
  data[gl_GlobalInvocationID.x] = apply(kOperation, x);
})";

void test_decided() {
  for (const bool optimized : {false, true}) {
    const auto shader = shader_of(kKernel, VK_SHADER_STAGE_COMPUTE_BIT, optimized);
    if (!CHECK(shader)) return;
    for (uint64_t operation = 0; operation < 4; ++operation) {
      const Seen seen = look(*shader, {{0, operation}});
      std::printf("operation %d%s: %u of %u blocks, %u constructs\n", static_cast<int>(operation), optimized ? ", spirv-opt" : "",
                  seen.reached, seen.blocks, seen.constructs);
      // glslang hands parameters on through variables, which are not known.
      CHECK(seen.reached > 0 && (optimized ? 2 : 1) * seen.reached + 4 <= seen.blocks);
    }
    const Seen without = look(*shader, {{0, 2}}), with = look(*shader, {{0, 2}, {1, 1}});
    CHECK(with.reached > without.reached);
  }
}

std::string many(uint32_t count) {
  std::string text =
      "#version 450\nlayout(constant_id = 0) const uint kWhich = 7; layout(std430, binding = 0) buffer Data { uint data[]; };";
  text += "layout(local_size_x = 32) in; void main() { uint x = data[0]; switch (kWhich) {";
  for (uint32_t k = 0; k < count; ++k) text += "case " + std::to_string(k) + ": if (x > " + std::to_string(k) + ") x *= 3; break;\n";
  return text + "} data[1] = x; }";
}

void test_work_is_in_proportion() {
  const auto small = shader_of(many(500), VK_SHADER_STAGE_COMPUTE_BIT), large = shader_of(many(2000), VK_SHADER_STAGE_COMPUTE_BIT);
  if (!CHECK(small && large)) return;
  const Seen one = look(*small, {}), four = look(*large, {});
  CHECK(one.reached == four.reached && four.blocks > 3 * one.blocks);
  CHECK(four.visited < 5 * one.visited, "%llu and %llu", static_cast<unsigned long long>(one.visited),
        static_cast<unsigned long long>(four.visited));
}

}  // namespace

int main() {
  test_decided();
  test_work_is_in_proportion();
  return finish("test_structure");
}
