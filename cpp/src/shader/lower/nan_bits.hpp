// shader/lower/nan_bits.hpp -- whose NaN may somebody look at as an integer?
//
// In: a Module. Out: results of arithmetic whose bits may reach an integer (a bitcast of floats, a double that is taken apart, shared
// memory that blocks share, a flat output). The compiler makes their NaN the one NaN: which bits an operation gives a NaN depends on the
// processor, and on the order that LLVM chose for its operands. What only moves a value (loads, copies, selects, calls, shuffles) keeps
// its bits: programs carry integers in floats. Backwards from who looks, through variables as wholes.
// Source: IEEE 754-2019, 6.2.3 "NaN propagation" leaves it open; SPIR-V specification 3.32 says which instructions are arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

/// [bound], or empty: nobody looks.
std::vector<uint8_t> find_seen_nans(const Module& module);

}  // namespace tilegpu::shader
