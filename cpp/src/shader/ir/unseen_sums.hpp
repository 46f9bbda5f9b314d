// shader/ir/unseen_sums.hpp -- sums with a constant that their users do not see.
//
// In: a module after its passes, when variables have become values. Out: the same module; where a user of x + c gives the same bits for x
// alone, it has x. `hash(cell + vec2(1, 0))`, which every value noise has for its four corners, converts each coordinate once for c = 0,
// and asks once whether it is a number and in range. Source: IEEE 754-2019, 6.3 (the sign of a zero), 6.2 (NaN), 4.3.1 (rounding to
// nearest).
#pragma once

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {

/// True where something was changed: values may have become equal, or useless.
bool skip_unseen_sums(LLVMModuleRef module);

}  // namespace tilegpu::shader
