// shader/jit/jit_target.hpp -- which processor code is made for. In: what the device asked for, the host. Out: names for LLVM, what code
// may use.
#pragma once

#include <string>

#include "tilegpu/types.hpp"

namespace tilegpu::shader {

struct JitTarget {
  std::string name;           // as asked for; "native": this CPU
  std::string cpu, features;  // as LLVM takes them
  bool wide = false;          // AVX-512
  bool byte_tables = false;   // and VBMI, which permutes bytes
  bool gathers = false;       // gathers of 64-bit pairs are faster than scalar loads
  std::string vectors;        // for people: "AVX2", "AVX-512", "NEON", "SVE, 512 bits"
  uint32_t sve_bits = 0;      // of the registers that vectors are made for; 0: no SVE beyond what NEON's have, 128
  uint32_t lanes = 8;         // of packets, where nobody says otherwise
};

/// No register of SVE is longer.
inline constexpr uint32_t kMaxSve_bits = 2048;

/// What every processor has that the core runs on.
#if defined(__x86_64__)
inline constexpr const char* kBaselineTarget = "x86-64-v3";
#else
inline constexpr const char* kBaselineTarget = "armv8-a";
#endif

/// `wanted`: empty (this CPU), "baseline" or kBaselineTarget; on x86-64 also "x86-64-v4". SVE's length is that of the calling thread.
Expected<JitTarget> choose_target(const std::string& wanted);
/// The text of a message that LLVM made, which is freed; empty for null.
std::string take_message(char* message);

}  // namespace tilegpu::shader
