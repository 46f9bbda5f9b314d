// command/condition.hpp -- what conditional rendering asks: a word of memory. In: a buffer. Out: whether commands are executed.
// The word is read when the pass or the dispatch is executed that the commands are of, once for each interval.
// Source: Vulkan specification, "Conditional Rendering".
#pragma once

#include <cassert>
#include <cstring>

#include "tilegpu/resource.hpp"

namespace tilegpu::command {

struct Condition {
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0;
  bool inverted = false;  // zero executes, anything else discards
};

inline bool is_met(const Condition& condition) {
  assert(condition.buffer && condition.buffer->data() && condition.buffer->holds(condition.offset_B, 4));
  uint32_t word;
  std::memcpy(&word, condition.buffer->data() + condition.offset_B, sizeof word);
  return (word != 0) != condition.inverted;
}

}  // namespace tilegpu::command
