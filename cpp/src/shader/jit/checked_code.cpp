// shader/jit/checked_code.cpp -- see checked_code.hpp.
#include "shader/jit/checked_code.hpp"

#include <dlfcn.h>
#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>

namespace tilegpu::shader {
namespace {

// Calls in place of inlined tests, so that code stays of a size that can be compiled; nothing that wants to be registered when code is
// loaded.
constexpr const char* kOptions[] = {"tilegpu",
                                    "-asan-instrumentation-with-call-threshold=0",
                                    "-asan-globals=0",
                                    "-asan-constructor-kind=none",
                                    "-asan-destructor-kind=none",
                                    "-asan-use-after-return=never"};
constexpr const char* kRuntime = "__asan_";

}  // namespace

Expected<bool> wants_checked_code() {
  const char* wanted = std::getenv("TILEGPU_CHECKED");
  if (!wanted || !*wanted || !std::strcmp(wanted, "0")) return false;
  if (std::strcmp(wanted, "1") != 0)
    return Error{VK_ERROR_INITIALIZATION_FAILED, std::string("device: TILEGPU_CHECKED is '") + wanted + "'; allowed are '0' and '1'"};
  if (!checker_address("__asan_load1"))
    return Error{VK_ERROR_INITIALIZATION_FAILED,
                 "device: TILEGPU_CHECKED is 1, but this build has no AddressSanitizer to ask; `make test-checked` makes one that has"};
  return true;
}

LLVMErrorRef add_checks(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  assert(module && machine);
  static std::once_flag once;
  std::call_once(once, [] { LLVMParseCommandLineOptions(static_cast<int>(std::size(kOptions)), kOptions, ""); });
  const char* name = "sanitize_address";
  const unsigned attribute = LLVMGetEnumAttributeKindForName(name, std::strlen(name));
  assert(attribute);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                              LLVMCreateEnumAttribute(LLVMGetModuleContext(module), attribute, 0));
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed = LLVMRunPasses(module, "asan", machine, options);
  LLVMDisposePassBuilderOptions(options);
  return failed;
}

uint64_t checker_address(const char* name) {
  assert(name);
  return std::strncmp(name, kRuntime, std::strlen(kRuntime)) ? 0 : reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace tilegpu::shader
