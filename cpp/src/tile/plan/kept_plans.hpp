// tile/plan/kept_plans.hpp -- what was worked out for a state, kept while a worker draws a part of a pass. In: a state, and what else the
// answer depends on. Out: the answer, made once for each of the states that alternate. Source: docs/decisions.md, 51.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <variant>

#include "command/draw.hpp"

namespace tilegpu::tile {

/// Sixteen places by the state's address; the last that fell on a place has it. `Asked`: compared with ==.
template <class Plan, class Asked = std::monostate>
class KeptPlans {
 public:
  /// Before states may be others at the same addresses, or the answers others.
  void forget() {
    for (Entry& entry : entries_) entry.state = nullptr;
  }
  /// `make()` is the plan, where it isn't here. Good until the next call.
  template <class Make>
  const Plan& of(const command::DrawState& state, const Asked& asked, Make make) {
    Entry& entry = entries_[(reinterpret_cast<uintptr_t>(&state) * 0x9e3779b97f4a7c15) >> 60];
    if (entry.state != &state || !(entry.asked == asked)) entry = {&state, asked, make()};
    assert(entry.state == &state);
    return entry.plan;
  }

 private:
  struct Entry {
    const command::DrawState* state = nullptr;
    Asked asked{};
    Plan plan{};
  };
  std::array<Entry, 16> entries_{};
};

}  // namespace tilegpu::tile
