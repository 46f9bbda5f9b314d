// shader/lower/counted_loops.hpp -- loops that count from a constant to a constant, by a constant: how many rounds they take.
//
// In: a Module, its constants, a loop of a function's tree. Out: its rounds, and the branch that ends it. Such a loop may be written out
// round after round (control_flow.cpp), so that what it counts is a constant in each of them. Source: own; SPIR-V specification 1.6,
// section 2.11 "Structured Control Flow".
#pragma once

#include <optional>

#include "shader/lower/divergence.hpp"

namespace tilegpu::shader {

/// Of 32-bit integers or floats, as words; nothing of other operations.
std::optional<bool> compare_words(spv::Op op, uint32_t a, uint32_t b);

/// The value of 32 bits before a loop's first round: constants, OpPhi of them, variables that the block before the loop sets and neither
/// its header nor the block that tests does.
std::optional<uint32_t> first_value(const Module& m, const Constants& constants, const BasicBlock& before, const BasicBlock& header,
                                    const BasicBlock& tests, uint32_t id);

/// Rounds and instructions (long ones count for several) that are written out at the most; more would fill the cache of instructions and
/// take long to compile.
inline constexpr uint32_t kMostRounds = 32, kMostUnrolled = 1400;

struct CountedLoop {
  uint32_t rounds = 0;
  uint32_t test = 0;          // the selection whose one arm is nothing but the jump to the loop's end
  uint32_t leaving_arm = 0;   // of it
  uint64_t instructions = 0;  // of all rounds, calls and loops inside included
};

/// Of a loop whose lanes go together, and that ends nowhere but at its test. `from`: the label of the block before it.
std::optional<CountedLoop> count_rounds(const Module& m, const Constants& constants, const Divergence& d, const FunctionFacts& facts,
                                        uint32_t loop, uint32_t from);

/// Instructions of one round (long ones count for several) of the largest loop that is not counted; 0: all are, in functions that are
/// called.
uint32_t largest_open_loop(const Module& m, const Constants& constants, const Divergence& d);

}  // namespace tilegpu::shader
