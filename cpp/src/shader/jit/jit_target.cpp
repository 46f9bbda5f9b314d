// shader/jit/jit_target.cpp -- see jit_target.hpp.
#include "shader/jit/jit_target.hpp"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include <cstdlib>

#include "base/intrinsics.hpp"
#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {
namespace {

bool has_feature(const std::string& list, const char* feature) {
  return ("," + list + ",").find("," + std::string(feature) + ",") != std::string::npos;
}

/// Gathers of 64-bit pairs take 0.6 times the time of scalar loads where they are not slowed by microcode: on Intel's CPUs from
/// Sapphire Rapids on, which the half-precision instructions tell (hypervisors hide the model).
bool host_gathers_fast([[maybe_unused]] const std::string& features) {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel") && has_feature(features, "+avx512fp16");
#else
  return false;
#endif
}

/// As LLVM calls the baseline.
void take_baseline(JitTarget& t) {
  t.name = kBaselineTarget;
  t.cpu = kX86 ? kBaselineTarget : "generic";
  if (!kX86) t.features = "+neon";
}

}  // namespace

std::string take_message(char* message) {
  std::string text = message ? message : "";
  if (message) LLVMDisposeMessage(message);
  return text;
}

Expected<JitTarget> choose_target(const std::string& wanted) {
  JitTarget t;
  t.wide = has_wide_vectors();
  if (wanted.empty()) {
    t.name = "native";
    t.cpu = take_message(LLVMGetHostCPUName());
    t.features = take_message(LLVMGetHostCPUFeatures());
    t.gathers = t.wide && host_gathers_fast(t.features);
    // Of Intel's CPUs LLVM knows the latency of the one instruction, not that the two beside it wait for the same port.
    if (has_feature(t.features, "+avx512vnni")) t.features += ",+fast-dpwssd";
  } else if (wanted == kBaselineTarget || wanted == "baseline") {
    t.wide = false;
    take_baseline(t);
  } else if (kX86 && wanted == "x86-64-v4") {
    if (!t.wide) return Error{VK_ERROR_UNKNOWN, "device: jit_target is 'x86-64-v4', but this CPU has no AVX-512; use '' or 'baseline'"};
    t.name = t.cpu = wanted;
  } else {
    const std::string names = std::string("'' (this CPU), 'baseline'") + (kX86 ? ", 'x86-64-v3' and 'x86-64-v4'" : " and 'armv8-a'");
    return Error{VK_ERROR_UNKNOWN, "device: jit_target is '" + wanted + "'; allowed are " + names};
  }
  if (const char* gathers = std::getenv("TILEGPU_GATHERS"); gathers && *gathers) t.gathers = t.wide && *gathers == '1';
  return t;
}

}  // namespace tilegpu::shader
