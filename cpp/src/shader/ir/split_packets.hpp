// shader/ir/split_packets.hpp -- code for several packets at once, packet by packet.
//
// In: a function after its passes, whose vectors have the lanes of some packets. Out: the same function with a value for each packet in
// place of each such vector. LLVM's code generator splits vectors of floats by itself, but keeps masks of 32 and 64 lanes in one register:
// each use takes its part out and each comparison is put together again, in chains that a loop's rounds wait for.
// Source: LLVM language reference; own.
#pragma once

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {

/// To vectors of `lanes`. False: nothing was changed, because there is nothing to split or something that is not known here.
bool split_packets(LLVMValueRef function, uint32_t lanes);

}  // namespace tilegpu::shader
