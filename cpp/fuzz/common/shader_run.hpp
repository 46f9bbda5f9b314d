// fuzz/common/shader_run.hpp -- one tiny draw or dispatch of any shader module, with all that it asks for bound.
//
// In: words, a device. Out: what it left in attachments, buffers and images, or that it was refused, and in which words. The other stages
// that a draw needs are made to fit what the module reads and writes.
#pragma once

#include "common/bench.hpp"

namespace tilegpu::fuzz {

struct ShaderRun {
  bool is_module = false, is_pipeline = false, ran = false;
  /// What invocations do in turn doesn't show: nothing that one writes another may read or overwrite.
  bool has_one_result = false;
  std::string error;
  std::vector<uint8_t> result;
};

/// `specialise`: constants get other values than their defaults. `alone`: a workgroup of a compute shader has one invocation.
struct HowToRun {
  bool specialise = false, alone = false;
};

ShaderRun run_shader(const Ptr<Device>& device, std::vector<uint32_t> words, const HowToRun& how);

}  // namespace tilegpu::fuzz
