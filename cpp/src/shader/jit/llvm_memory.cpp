// shader/jit/llvm_memory.cpp -- see llvm_memory.hpp. LLVM-C has no way to this handler, so this is LLVM's C++ interface.
#include "shader/jit/llvm_memory.hpp"

#include <llvm-c/ErrorHandling.h>
#include <llvm/Support/ErrorHandling.h>

#include <cassert>

namespace tilegpu::shader {

void install_memory_handler(void (*call)()) {
  assert(call != nullptr);
  llvm::install_bad_alloc_error_handler([](void* data, const char*, bool) { reinterpret_cast<void (*)()>(data)(); },
                                        reinterpret_cast<void*>(call));
}

void install_fatal_handler(void (*call)(const char* reason)) {
  assert(call != nullptr);
  LLVMInstallFatalErrorHandler(call);
}

}  // namespace tilegpu::shader
