// shader/ir/promote.hpp -- variables become values.
//
// In: a function with variables on its stack. Out: the same one, whose variables that are only loaded and stored whole are values and phis.
// LLVM's own pass looks, for each variable, at all blocks behind its first store, so that its time is variables times blocks: a shader of
// 8,500 and 12,000 is 9 s of it and 0.1 s here. Here a variable costs the blocks in which it is alive. Source: Cytron, Ferrante, Rosen,
// Wegman, Zadeck, "Efficiently computing static single assignment form and the control dependence graph" (1991), phis where variables are
// alive alone; Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm" (2001).
#pragma once

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {

/// Of every function of a module that is valid. What is left are arrays, and variables whose address goes somewhere.
void promote_variables(LLVMModuleRef module);

}  // namespace tilegpu::shader
