// shader/jit/jit_schedule.cpp -- the order of instructions in long straight code: independent chains by turns.
//
// In: machine functions, those with kWideSchedule marked by jit.cpp. Out: LLVM's scheduler for each. LLVM's own choice keeps few values
// alive, and so leaves the chains of a shader (three powers, two lights) one after the other: with 16 lanes a processor sees some 200
// instructions ahead and waits. Its scheduler "ilpmax" takes chains by turns. Shaders and samplers gain, short functions that wait for
// memory lose. LLVM-C has no way to choose a scheduler for a function; with llvm_memory.cpp this is what uses LLVM's C++ interface.
#include "shader/jit/jit_schedule.hpp"

#include <llvm-c/Support.h>
#include <llvm/Config/llvm-config.h>

#include <iterator>

#if LLVM_VERSION_MAJOR <= 20  // later ones hand the choice to the target machine
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineScheduler.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Function.h>

namespace tilegpu::shader {
namespace {

llvm::MachineSchedRegistry::ScheduleDAGCtor find_scheduler(llvm::StringRef name) {
  for (auto* node = llvm::MachineSchedRegistry::getList(); node; node = node->getNext()) {
    if (node->getName() == name) return node->getCtor();
  }
  return nullptr;
}

llvm::ScheduleDAGInstrs* choose_scheduler(llvm::MachineSchedContext* context) {
  static const auto wide = find_scheduler("ilpmax");
  if (wide && context->MF->getFunction().hasFnAttribute(kWideSchedule)) return wide(context);
  if (llvm::ScheduleDAGInstrs* own = context->PassConfig->createMachineScheduler(context)) return own;
  return llvm::createGenericSchedLive(context);
}

llvm::MachineSchedRegistry entry("tilegpu", "by the function's attribute", choose_scheduler);

}  // namespace

void install_schedulers() {
  // A value that is alive in many blocks is split by looking at the regions around it, at up to 10,000 edges each time: two thirds of the
  // register allocator's time in functions of thousands of blocks, for 1 % of their speed. Those of some hundred never come to 1,000.
  const char* arguments[] = {"tilegpu", "-misched=tilegpu", "-grow-region-complexity-budget=1000"};
  LLVMParseCommandLineOptions(static_cast<int>(std::size(arguments)), arguments, nullptr);
}

}  // namespace tilegpu::shader
#else
namespace tilegpu::shader {
void install_schedulers() {}
}  // namespace tilegpu::shader
#endif
