// tilegpu/compute.hpp -- compute pipelines, and what their dispatches cost.
//
// Source: Vulkan specification, chapters "Pipelines" (Compute Pipelines), "Dispatching Commands".
#pragma once

#include "tilegpu/pipeline.hpp"

namespace tilegpu {

struct ComputePipelineCreateInfo {
  ShaderStage stage;
  Ptr<const PipelineLayout> layout;  ///< null: made from the shader
  std::string label;
};

namespace pipeline {
struct Kernel;  // machine code (cpp/src/pipeline/kernel.hpp)
}

class TILEGPU_API ComputePipeline {
 public:
  MadeBy made_by;  ///< set by Device::create_pipeline
  ComputePipeline(ComputePipelineCreateInfo info, Ptr<const pipeline::Program> program, Ptr<const pipeline::Kernel> kernel);
  ~ComputePipeline();
  const ComputePipelineCreateInfo& info() const { return info_; }
  const pipeline::Program& program() const { return *program_; }
  const pipeline::Kernel& kernel() const { return *kernel_; }
  /// As specialised: invocations in x, y, z.
  std::array<uint32_t, 3> workgroup_size() const;
  uint32_t shared_memory_B() const;
  /// Does an atomic of a buffer give what depends on the order of invocations? Then a dispatch runs its workgroups in order, on one thread
  /// (DeviceCreateInfo::ordered_atomics).
  bool orders_workgroups() const;

 private:
  ComputePipelineCreateInfo info_;
  Ptr<const pipeline::Program> program_;
  Ptr<const pipeline::Kernel> kernel_;
};

struct DispatchStats {
  std::array<uint32_t, 3> workgroups{};  ///< of an indirect dispatch as they were read
  uint64_t invocations = 0;
  uint64_t shared_memory_B = 0;   ///< of one workgroup
  uint32_t lanes = 0;             ///< invocations at a time on each thread
  uint32_t threads = 0;           ///< that took part
  bool ordered = false;           ///< atomics wanted an order: workgroups ran one after the other
  uint64_t waiting_memory_B = 0;  ///< what a workgroup's invocations keep while they wait at a barrier; 0: they never wait
  double time_ms = 0;
};

}  // namespace tilegpu
