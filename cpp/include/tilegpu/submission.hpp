// tilegpu/submission.hpp -- an execution of command buffers: when it is done, and what it found.
//
// Recordings are not touched by their execution; who wants to know what a pass cost asks the submission that ran it.
// Source: Vulkan specification, "Command Buffer Submission", "Fences".
#pragma once

#include "tilegpu/command.hpp"
#include "tilegpu/command_traffic.hpp"
#include "tilegpu/compute.hpp"
#include "tilegpu/explanation.hpp"
#include "tilegpu/stats.hpp"
#include "tilegpu/trace.hpp"

namespace tilegpu {

struct SubmitInfo {
  std::vector<Ptr<CommandBuffer>> command_buffers;
  /// Passes (by their number in the submission) whose fragments are traced as they run; not dry, not timed.
  std::vector<std::pair<size_t, TraceRequest>> traces;
};

/// Made by Device::submit. It keeps alive what it executes and what it can be asked about. Signaled when everything was executed; what
/// is asked about passes has its meaning from then on.
class TILEGPU_API Submission {
 public:
  Submission();
  ~Submission();
  Submission(const Submission&) = delete;
  bool signaled() const;
  /// Waits at most timeout_ms (negative: for ever). True when signaled.
  bool wait(int64_t timeout_ms) const;
  /// Ends it as soon as possible, with an error (VK_ERROR_DEVICE_LOST); nothing else of the device is touched. Images of the interrupted
  /// pass stay as they were where no tile was stored.
  void cancel();
  /// The error of the execution, if there was one (out of memory, cancelled).
  const Error* error() const;

  /// Passes that were to be executed, in order, those of secondary command buffers among them.
  size_t pass_count() const;
  /// Of a pass that was suspended and resumed: how many parts were joined; else 1.
  uint32_t pass_parts(size_t pass) const;
  const std::string& pass_label(size_t pass) const;
  const PassStats& pass_stats(size_t pass) const;
  /// What moved for each bin, part by part, layer by layer, row by row; empty without RenderingInfo::trace_tiles.
  const std::vector<TileTrace>& tile_trace(size_t pass) const;
  /// Null: the pass was not to be traced.
  const PassTrace* fragment_trace(size_t pass) const;
  /// What became of the draws, and why: one entry for each run of draws with the same state.
  std::vector<DrawExplanation> explain(size_t pass) const;
  /// What the draws run: one entry for each run of draws with the same state. What it points to lives as long as the submission.
  std::vector<DrawPrograms> draw_programs(size_t pass) const;
  /// What low-resolution Z was at the end of the pass; null: it was switched off.
  const LowResolutionZ* low_resolution_z(size_t pass) const;
  /// Why the pass can't be binned while the one before it is rendered; "": it can (Adreno from A7xx on, whichever techniques are on).
  const std::string& concurrent_binning_off(size_t pass) const;
  /// The five pieces of the framebuffer as JSON: layout, load, store, resolve, desc, spill_load, spill_store.
  std::string describe_framebuffer(size_t pass) const;
  /// What costs bytes without need, a line each, with the bytes.
  std::vector<std::string> lint(size_t pass) const;

  /// What is or may be undefined, known when it is submitted, a line each: attachments with load_op dont_care that a draw tests, blends
  /// with or reads before anything was written there; draws that choose among layers or viewports where there is one; attachments among the
  /// levels, layers or bytes of which the pass's shaders read some, and among the descriptors of an array that they index by what is no
  /// constant. They are lines of lint() too.
  std::vector<std::string> warnings(size_t pass) const;

  /// Dispatches that were to be executed, in order, those of secondary command buffers among them.
  size_t dispatch_count() const;
  const std::string& dispatch_label(size_t dispatch) const;
  const DispatchStats& dispatch_stats(size_t dispatch) const;
  DispatchExplanation explain_dispatch(size_t dispatch) const;
  /// The shader that it ran; what it points to lives as long as the submission.
  DrawStage dispatch_stage(size_t dispatch) const;

  /// Copies, blits, resolves, clears, fills, updates and mip chains that were to be executed, in order.
  size_t command_count() const;
  const CommandTraffic& command_traffic(size_t command) const;

  /// What all steps read and write of images, as far as targets, sets and commands name them, in order.
  std::vector<ImageUse> image_uses() const;

  struct State;
  const Ptr<State> state;
};

}  // namespace tilegpu
