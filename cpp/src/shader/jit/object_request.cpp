// shader/jit/object_request.cpp -- see object_request.hpp. In: modules of IR. Out: requests.
#include "shader/jit/object_request.hpp"

#include <llvm-c/BitWriter.h>
#include <llvm-c/Target.h>

#include <cassert>
#include <mutex>

#include "shader/ir/ir_builder.hpp"
#include "shader/jit/compile_request.hpp"
#include "shader/jit/jit_schedule.hpp"
#include "shader/jit/jit_target.hpp"

namespace tilegpu::shader {
void initialise_code_generator() {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
#if defined(__x86_64__)
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    __builtin_cpu_init();
#else
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
#endif
    install_schedulers();
  });
}

LLVMTargetMachineRef make_target_machine(Tier of, const TargetOfCode& target) {
  assert(!target.triple.empty() && !target.cpu.empty());
  LLVMTargetRef known = nullptr;
  char* message = nullptr;
  if (LLVMGetTargetFromTriple(target.triple.c_str(), &known, &message)) {
    take_message(message);
    return nullptr;
  }
  const LLVMCodeGenOptLevel level = of == Tier::quick ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(known, target.triple.c_str(), target.cpu.c_str(), target.features.c_str(), level,
                                                         LLVMRelocPIC, LLVMCodeModelSmall);
  // For aarch64 LLVM would choose instructions of quick code by another way, which knows no vectors of our widths.
  if (machine && !kX86) LLVMSetTargetMachineGlobalISel(machine, false);
  return machine;
}

std::string write_object_request(const Work& work, Tier of, const std::string& name, const char* kind, const EmitOptions& options,
                                 const TargetOfCode& target) {
  assert(work.module && !name.empty());
  MessageWriter request;
  request.number(static_cast<uint32_t>(CompileRequest::object)).number(static_cast<uint32_t>(of)).number(options.lanes);
  request.number(static_cast<uint32_t>(options.wide_schedule)).number(static_cast<uint32_t>(options.checked)).number(options.sve_bits);
  request.text(name).text(kind).text(options.dump_directory);
  request.text(target.triple).text(target.cpu).text(target.features);
  LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(work.module);
  request.text({LLVMGetBufferStart(bitcode), LLVMGetBufferSize(bitcode)});
  LLVMDisposeMemoryBuffer(bitcode);
  return std::move(request.bytes);
}

}  // namespace tilegpu::shader
