// exec/execution.hpp -- what an execution of recordings needs and finds; the recordings themselves stay as they are.
//
// In: recordings, in order. Out: for each pass that ran its counters, traces and decisions. Source: Vulkan specification, "Queue Forward
// Progress" (what a submission keeps until it is done).
#pragma once

#include <deque>
#include <optional>

#include "command/recording.hpp"
#include "hsr/lrz_state.hpp"
#include "hsr/vertex_deferral.hpp"
#include "resource/address_space.hpp"
#include "tile/plan/plan.hpp"
#include "tilegpu/command_traffic.hpp"
#include "tilegpu/explanation.hpp"
#include "tilegpu/stats.hpp"
#include "tilegpu/trace.hpp"

namespace tilegpu::exec {

/// What the plans of a pass's draws depend on (tile/plan/plan.hpp) in a part of it.
struct PartTraits {
  framebuffer::Part part = framebuffer::Part::normal;
  tile::PassTraits traits;
};

/// One execution of a pass.
struct PassExecution {
  Ptr<const command::Pass> pass;
  PassStats stats;
  std::vector<TileTrace> tile_trace;
  std::optional<PassTrace> trace;                    // where it was asked for
  std::vector<hsr::LrzDecision> lrz_decisions;       // by draw (indirect ones expanded); empty: switched off
  std::string lrz_culprit_pass;                      // in which what low-resolution Z lacks was lost; "": this one
  std::optional<LowResolutionZ> low_resolution_z;    // at the end; none: switched off
  std::string concurrent_binning_off;                // "": it may be binned while the pass before is rendered
  std::vector<hsr::VertexDeferral> vertex_deferral;  // the same for deferred vertex shading
  std::vector<PartTraits> parts;                     // those that follow with the same traits are one
  tile_io::HostTile tile;
};

/// One execution of a dispatch.
struct DispatchExecution {
  Ptr<const command::Dispatch> dispatch;
  DispatchStats stats;
};

struct Execution {
  std::vector<Ptr<const command::Recording>> recordings;
  Ptr<const resource::AddressRanges> addresses;         // that there were when it was submitted; until it has ended
  std::vector<const command::Command*> steps;           // of the recordings and of those that they execute, in order
  std::deque<command::Command> joined;                  // the steps that were made of several: passes that were suspended and resumed
  std::vector<PassExecution> passes;                    // one for each pass among the steps
  std::vector<DispatchExecution> dispatches;            // the same
  std::vector<CommandTraffic> commands;                 // of copies, blits, clears, ...
  std::vector<std::pair<size_t, TraceRequest>> traces;  // (index of a pass, what to trace)
  /// Null: that pass is not traced.
  const TraceRequest* trace_of(size_t pass) const {
    for (const auto& [index, request] : traces)
      if (index == pass) return &request;
    return nullptr;
  }
};

}  // namespace tilegpu::exec
