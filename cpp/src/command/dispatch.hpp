// command/dispatch.hpp -- a recorded dispatch: the pipeline, the sets and push constants that it found bound, how many workgroups.
// In: what was bound when it was recorded. Out: for exec/dispatch_executor.cpp.
// Plain data, const once it is recorded, between passes. Source: Vulkan specification, "Dispatching Commands".
#pragma once

#include "command/pass.hpp"
#include "tilegpu/compute.hpp"

namespace tilegpu::command {

/// The bound sets as a compute pipeline uses them, shared by the dispatches that found the same ones.
struct ComputeSets {
  BoundSets bound;
  std::vector<Ptr<Buffer>> written;           // that shaders may write
  std::vector<Ptr<ImageView>> written_views;  // the same of storage images
  bool late = false;                          // some are asked again when they are submitted
};

struct Dispatch {
  Ptr<ComputePipeline> pipeline;
  std::array<uint32_t, 3> base{}, groups{};
  Ptr<Buffer> indirect;  // set: the groups are there when it is executed
  uint64_t indirect_offset_B = 0;
  std::optional<Condition> condition;  // not met: nothing is executed
  Ptr<const ComputeSets> sets;         // null: the shader reads none
  Ptr<const PushBlock> push;
};

}  // namespace tilegpu::command
