// shader/lower/elementwise.hpp -- tables of instructions that work on each scalar alone: a row names the instruction and its emitter.
//
// In: an instruction's number. Out: its row, or none. Source: none; SPIR-V's instructions are in alu.cpp, GLSL.std.450's in glsl450.cpp.
#pragma once

#include <algorithm>
#include <cstddef>

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {

template <class Op>
struct Unary {
  Op op;
  Value (*emit)(const Ir& ir, Value x);
};

template <class Op>
struct Binary {
  Op op;
  Value (*emit)(const Ir& ir, Value x, Value y);
};

template <class Op>
struct Ternary {
  Op op;
  Value (*emit)(const Ir& ir, Value x, Value y, Value z);
};

template <class Row, size_t n, class Op>
const Row* row_of(const Row (&table)[n], Op op) {
  const Row* found = std::find_if(table, table + n, [&](const Row& row) { return row.op == op; });
  return found == table + n ? nullptr : found;
}

}  // namespace tilegpu::shader
