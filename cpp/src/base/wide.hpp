// base/wide.hpp -- functions of the tile phase that exist twice: for x86-64-v3, as all of the core, and with AVX-512. Both give the same
// bits; a device of 16 lanes takes the second where the machine has it, so that devices of 8 and 16 lanes test one against the other.
#pragma once

#include <immintrin.h>

#include <cstdint>

#define TILEGPU_WIDE __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl")))

namespace tilegpu {

inline bool wide_vectors(uint32_t lanes) {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return lanes == 16 && has;
}

}  // namespace tilegpu
