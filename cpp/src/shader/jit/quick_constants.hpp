// shader/jit/quick_constants.hpp -- vector constants of quick code become loads.
//
// In: a module after its last pass. Out: the same code; operands that are vectors of constants are loaded from memory beside it.
// Instruction selection looks at every element of a constant vector again and again, for foldings that the code does not wait for: a third
// of its time. A load is one node, and ends as the memory operand of the instruction that uses it.
#pragma once

#include <llvm-c/Types.h>

namespace tilegpu::shader {

void load_constants(LLVMModuleRef module);

}  // namespace tilegpu::shader
