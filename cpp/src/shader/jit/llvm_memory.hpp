// shader/jit/llvm_memory.hpp -- what LLVM does when it gets no memory, or gives up. In: functions. Out: they are called, in place of
// abort().
#pragma once

namespace tilegpu::shader {

/// For the whole process, once. `call` does not return; it can't ask for memory.
void install_memory_handler(void (*call)());
void install_fatal_handler(void (*call)(const char* reason));

}  // namespace tilegpu::shader
