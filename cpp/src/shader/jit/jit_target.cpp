// shader/jit/jit_target.cpp -- see jit_target.hpp. Source: Linux, Documentation/arch/arm64/sve.rst (HWCAP_SVE, PR_SVE_GET_VL).
#include "shader/jit/jit_target.hpp"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

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

/// What the system lets programs use of SVE: the length of this thread's registers, and whether they have SVE2's instructions.
struct Sve {
  uint32_t bits = 0;  // 0: none
  bool second = false;
};

Sve host_sve() {
#if defined(__aarch64__)
  constexpr unsigned long kSve = 1ul << 22, kSve2 = 1ul << 1;  // HWCAP_SVE, HWCAP2_SVE2
  constexpr int kGetLength = 51, kLength_B = 0xffff;           // PR_SVE_GET_VL, PR_SVE_VL_LEN_MASK; headers of 2017 lack them
  if (!(getauxval(AT_HWCAP) & kSve)) return {};
  const int answer = prctl(kGetLength, 0, 0, 0, 0);  // refused, as by a sandbox: it is not known how long they are
  const uint32_t bits = answer < 0 ? 0 : static_cast<uint32_t>(answer & kLength_B) * 8;
  return bits < 128 || bits > kMaxSve_bits ? Sve{} : Sve{bits, (getauxval(AT_HWCAP2) & kSve2) != 0};
#else
  return {};
#endif
}

/// LLVM makes vectors for registers of a length that it is told: beyond 128 bits SVE's are longer than NEON's.
Status take_sve(JitTarget& t) {
  const char* set = std::getenv("TILEGPU_SVE");
  const std::string asked = set && *set ? set : "1";
  if (asked != "0" && asked != "1")
    return Error{VK_ERROR_UNKNOWN, "device: TILEGPU_SVE is '" + asked + "'; allowed are '1' (where the CPU has it) and '0'"};
  const Sve sve = asked == "0" ? Sve{} : host_sve();
  // What LLVM has read in /proc/cpuinfo may be less than what the kernel says of itself, or more than it lets us use.
  t.features += t.features.empty() ? "" : ",";
  t.features += !sve.bits ? "-sve" : sve.second ? "+sve,+sve2" : "+sve";
  if (sve.bits <= 128) return Ok{};
  t.sve_bits = sve.bits;
  t.vectors = "SVE, " + std::to_string(sve.bits) + " bits";
  if (sve.bits >= 512) t.lanes = 16;
  return Ok{};
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
    t.byte_tables = t.wide && has_feature(t.features, "+avx512vbmi");
    // Of Intel's CPUs LLVM knows the latency of the one instruction, not that the two beside it wait for the same port.
    if (has_feature(t.features, "+avx512vnni")) t.features += ",+fast-dpwssd";
    if (!kX86)
      if (Status taken = take_sve(t); !taken) return taken.error();
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
  if (t.wide) t.vectors = "AVX-512", t.lanes = 16;
  if (t.vectors.empty()) t.vectors = kX86 ? "AVX2" : "NEON";
  if (const char* gathers = std::getenv("TILEGPU_GATHERS"); gathers && *gathers) t.gathers = t.wide && *gathers == '1';
  return t;
}

}  // namespace tilegpu::shader
