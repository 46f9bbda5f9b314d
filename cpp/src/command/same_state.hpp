// command/same_state.hpp -- whether two draws have one state: then they share its record, and all that is made of it.
//
// In: two states. Out: yes or no, bit by bit: numbers that compare equal and have different bits (0 and -0) are different states.
#pragma once

#include "command/draw.hpp"

namespace tilegpu::command {

bool is_same(const DrawState& a, const DrawState& b);

}  // namespace tilegpu::command
