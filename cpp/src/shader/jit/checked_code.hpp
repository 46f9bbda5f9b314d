// shader/jit/checked_code.hpp -- generated code whose every load and store is checked: TILEGPU_CHECKED=1, in builds with AddressSanitizer.
//
// In: a module after its last pass. Out: the same code, which asks AddressSanitizer's runtime before each access of memory, masked lanes
// one by one, and has red zones around its variables on the stack. An access outside of its object ends the process with a report.
// Constants are not looked at. Source: LLVM, AddressSanitizer.cpp; K. Serebryany and others, "AddressSanitizer: A Fast Address Sanity
// Checker" (USENIX ATC 2012).
#pragma once

#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

#include <cstdint>

#include "tilegpu/types.hpp"

namespace tilegpu::shader {

/// Whether code is to be checked, by TILEGPU_CHECKED; an error where it names something else, or where the process has no such runtime.
Expected<bool> wants_checked_code();
/// Null: it went well.
LLVMErrorRef add_checks(LLVMModuleRef module, LLVMTargetMachineRef machine);
/// Of a function of the runtime that checked code calls; 0: there is none of that name.
uint64_t checker_address(const char* name);

}  // namespace tilegpu::shader
