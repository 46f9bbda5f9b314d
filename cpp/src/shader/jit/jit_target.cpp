// shader/jit/jit_target.cpp -- see jit_target.hpp.
#include "shader/jit/jit_target.hpp"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include <cstdlib>

namespace tilegpu::shader {
namespace {

bool has_feature(const std::string& list, const char* feature) {
  return ("," + list + ",").find("," + std::string(feature) + ",") != std::string::npos;
}

bool host_has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}

/// Gathers of 64-bit pairs take 0.6 times the time of scalar loads where they are not slowed by microcode: on Intel's CPUs from
/// Sapphire Rapids on, which the half-precision instructions tell (hypervisors hide the model).
bool host_gathers_fast(const std::string& features) { return __builtin_cpu_is("intel") && has_feature(features, "+avx512fp16"); }

}  // namespace

std::string take_message(char* message) {
  std::string text = message ? message : "";
  if (message) LLVMDisposeMessage(message);
  return text;
}

Expected<JitTarget> choose_target(const std::string& wanted) {
  JitTarget t;
  t.wide = host_has_avx512();
  if (wanted.empty()) {
    t.name = "native";
    t.cpu = take_message(LLVMGetHostCPUName());
    t.features = take_message(LLVMGetHostCPUFeatures());
    t.gathers = t.wide && host_gathers_fast(t.features);
    // Of Intel's CPUs LLVM knows the latency of the one instruction, not that the two beside it wait for the same port.
    if (has_feature(t.features, "+avx512vnni")) t.features += ",+fast-dpwssd";
  } else if (wanted == "x86-64-v3" || wanted == "x86-64-v4") {
    if (wanted == "x86-64-v4" && !t.wide)
      return Error{VK_ERROR_UNKNOWN, "device: jit_target is 'x86-64-v4', but this CPU has no AVX-512; use '' or 'x86-64-v3'"};
    t.wide = wanted == "x86-64-v4";
    t.name = t.cpu = wanted;
  } else {
    return Error{VK_ERROR_UNKNOWN, "device: jit_target is '" + wanted + "'; allowed are '' (this CPU), 'x86-64-v3' and 'x86-64-v4'"};
  }
  if (const char* gathers = std::getenv("TILEGPU_GATHERS"); gathers && *gathers) t.gathers = t.wide && *gathers == '1';
  return t;
}

}  // namespace tilegpu::shader
