// shader/ir/unkept_values.hpp -- what a branch's lanes all replace is not computed.
//
// In: a module after its passes. Out: the same module; where a branch runs because some lanes want it, and what it gives replaces values of
// those lanes, what these values alone are made of is computed only if some lane keeps one: `color = sky(); if (below) color = sea();`
// makes no sky for packets that lie below. The order of arithmetic without effects does not matter; bits are the same.
// Source: own (code sinking: Aho, Lam, Sethi, Ullman, "Compilers", 9.5, with lanes in place of paths).
#pragma once

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {

/// True where something was moved.
bool skip_unkept_values(LLVMModuleRef module);

}  // namespace tilegpu::shader
