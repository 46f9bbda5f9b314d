// device/resolved_lately.hpp -- what the last draws of a command buffer were resolved to, for states that change and change back.
// In: a program, a state. Out (decisions.md, 538): the same as the device's ResolveCache gives, without its lock and its key.
// All bytes of a state are compared that code or classification may depend on, and more: who differs in anything asks the device.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "pipeline/program.hpp"
#include "pipeline/resolved.hpp"

namespace tilegpu::device {

class ResolvedLately {
 public:
  /// Null: not among the last ones.
  const Ptr<const pipeline::Resolved>* find(const pipeline::Program& program, const GraphicsState& state) const {
    for (const Entry& e : entries_)
      if (e.program == program.id && is_same(e.state, state)) return &e.resolved;
    return nullptr;
  }
  void add(const pipeline::Program& program, const GraphicsState& state, Ptr<const pipeline::Resolved> resolved) {
    assert(resolved);
    if (entries_.size() < kMost)
      entries_.push_back({program.id, state, std::move(resolved)});
    else
      entries_[next_++ % kMost] = {program.id, state, std::move(resolved)};
  }

 private:
  static constexpr size_t kMost = 4;
  struct Entry {
    uint64_t program = 0;  // never that of another one
    GraphicsState state;
    Ptr<const pipeline::Resolved> resolved;
  };
  static_assert(std::is_trivially_copyable_v<GraphicsState>);
  // Padding may differ where nothing else does: then it is another state, which costs a look-up.
  static bool is_same(const GraphicsState& a, const GraphicsState& b) {
    const auto same = [&](auto field) { return std::memcmp(&(a.*field), &(b.*field), sizeof(a.*field)) == 0; };
    return std::memcmp(static_cast<const FixedFunctionState*>(&a), static_cast<const FixedFunctionState*>(&b),
                       sizeof(FixedFunctionState)) == 0 &&
           same(&GraphicsState::vertex_bindings) && same(&GraphicsState::vertex_attributes) && same(&GraphicsState::blend);
  }
  std::vector<Entry> entries_;
  size_t next_ = 0;
};

}  // namespace tilegpu::device
