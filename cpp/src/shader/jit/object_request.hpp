// shader/jit/object_request.hpp -- a function's IR as a request to a compiler in a process of its own; target machines for both processes.
//
// In: a module of IR, what code generation is told. Out: bytes for the socket; object_answer.hpp makes the object of them.
#pragma once

#include <llvm-c/TargetMachine.h>

#include <string>

#include "shader/jit/jit_emit.hpp"

namespace tilegpu::shader {

struct TargetOfCode {
  std::string triple, cpu, features;
};
std::string write_object_request(const Work& work, Tier of, const std::string& name, const char* kind, const EmitOptions& options,
                                 const TargetOfCode& target);

/// As emit_object wants it, at the level of `of`; null where LLVM does not know the target.
LLVMTargetMachineRef make_target_machine(Tier of, const TargetOfCode& target);
/// Once in a process, before all else of LLVM.
void initialise_code_generator();

}  // namespace tilegpu::shader
