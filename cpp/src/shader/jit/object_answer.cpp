// shader/jit/object_answer.cpp -- see object_answer.hpp.
#include "shader/jit/object_answer.hpp"

#include <llvm-c/BitReader.h>

#include "shader/jit/jit_target.hpp"
#include "shader/jit/object_request.hpp"

namespace tilegpu::shader {
namespace {

Error error(const std::string& message) { return {VK_ERROR_UNKNOWN, message}; }

}  // namespace

Expected<std::string> answer_object_request(MessageReader& request) {
  initialise_code_generator();
  const Tier of = request.number<uint32_t>() == static_cast<uint32_t>(Tier::quick) ? Tier::quick : Tier::optimised;
  EmitOptions options;
  options.lanes = request.number<uint32_t>();
  options.wide_schedule = request.number<uint32_t>() != 0;
  options.checked = request.number<uint32_t>() != 0;
  options.sve_bits = request.number<uint32_t>();
  if (options.sve_bits > kMaxSve_bits) return error("the compiler's process is asked for registers that no processor has");
  const std::string name(request.text()), kind(request.text());
  options.dump_directory = request.text();
  TargetOfCode target;
  target.triple = request.text(), target.cpu = request.text(), target.features = request.text();
  const std::string bitcode(request.text());
  if (!request.at_end()) return error("the compiler's process got a request that it does not know");
  LLVMTargetMachineRef machine = make_target_machine(of, target);
  if (!machine) return error("LLVM cannot generate code for '" + target.cpu + "'");
  struct Dispose {
    LLVMTargetMachineRef machine;
    ~Dispose() { LLVMDisposeTargetMachine(machine); }
  } dispose{machine};
  Work work;
  // Copied, so that it ends with a zero, as LLVM wants it.
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode.data(), bitcode.size(), name.c_str());
  const bool unread = LLVMParseBitcodeInContext2(work.holder.context, buffer, &work.module) != 0;
  LLVMDisposeMemoryBuffer(buffer);
  if (unread) return error("the compiler's process can't read its module: " + work.holder.messages);
  if (!LLVMGetNamedFunction(work.module, name.c_str())) return error("the module does not define its function");
  return emit_object(work, of, machine, name, kind.c_str(), options);
}

}  // namespace tilegpu::shader
