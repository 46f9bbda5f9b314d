// tilegpu/device_info.hpp -- what a device is, and what its compilations cost.
#pragma once

#include "tilegpu/types.hpp"

namespace tilegpu {

struct DeviceInfo {
  std::string cpu, cpu_features, llvm_version, jit_target, cache_dir, profile;
  uint32_t lanes = 0, threads = 0;
};

struct CompileStats {
  uint64_t pipelines = 0, functions_compiled = 0, functions_from_memory = 0, functions_from_disk = 0;
  uint64_t functions_waiting = 0;  // have code that was made quickly; the optimised code isn't there yet
  uint64_t glsl_compiled = 0, glsl_from_disk = 0, modules_validated = 0;
  double compile_ms = 0, load_ms = 0;
};

}  // namespace tilegpu
