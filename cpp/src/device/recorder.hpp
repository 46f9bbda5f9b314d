// device/recorder.hpp -- a command buffer while it records: what is being made, and the state that the next draw takes.
// In: calls. Out: a recording.
// Pieces of device/command_*.cpp share it; nobody else sees it. Source: Vulkan specification, "Command Buffer Lifecycle".
#pragma once

#include <atomic>
#include <optional>

#include "command/recording.hpp"
#include "command/state_recorder.hpp"
#include "device/resolved_lately.hpp"
#include "device/set_uses.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::device {

/// Those that are kept, of which a pass knows already what they read.
using NotedUses = std::set<Ptr<const SetUse>>;

/// Sets of one bind point.
struct SetBindings {
  std::array<Ptr<DescriptorSet>, kMaxDescriptorSets> set;
  std::array<Ptr<DescriptorSet>, kMaxDescriptorSets> pushed;  // written by push_descriptor alone
  std::array<uint64_t, kMaxDescriptorSets> version{};         // when they were last looked at
  std::array<std::vector<uint32_t>, kMaxDescriptorSets> dynamic_offsets_B;
  bool dirty = true;
};

/// What the next dispatch takes.
struct ComputeState {
  Ptr<ComputePipeline> pipeline;
  SetBindings sets;
  Ptr<const command::ComputeSets> bound;  // of the last dispatch; null: its shader reads none
  Ptr<const command::PushBlock> push;
};

/// Users synchronise command buffers. A lock of theirs that a call gives up while it takes long (base/long_work.hpp) would let another
/// thread in: it waits until the call has ended, and gives that lock up meanwhile.
class Turn {
 public:
  Turn() = default;
  Turn(Turn&&) noexcept {}  // who has the turn has it of this place, whatever recorder lies there
  Turn& operator=(Turn&&) noexcept { return *this; }
  void await() {
    if (const void* by = taken_.load(std::memory_order_acquire); by && by != this_thread()) await_other();
  }
  /// Nests.
  class Taken {
   public:
    explicit Taken(Turn& turn) : turn_(turn) {
      turn.await();
      nested_ = turn.taken_.exchange(this_thread(), std::memory_order_relaxed) != nullptr;
    }
    ~Taken() {
      if (nested_) return;
      // In this order for all threads: else who begins to wait just now might miss it.
      turn_.taken_.store(nullptr);
      if (turn_.waiting_.load()) turn_.taken_.notify_all();
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

   private:
    Turn& turn_;
    bool nested_;
  };

 private:
  static const void* this_thread() {
    static thread_local const char here = 0;
    return &here;
  }
  void await_other();
  std::atomic<const void*> taken_{nullptr};
  std::atomic<uint32_t> waiting_{0};
};

struct Recorder {
  Ptr<Device> device;
  VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  CommandBufferState stage = CommandBufferState::initial;
  Turn turn;
  bool untouched = true;                       // as it was made: nothing is to be forgotten
  std::string misuse;                          // the first call that has no error of its own and was made outside recording
  std::shared_ptr<command::Recording> making;  // null unless recording
  Ptr<const command::Recording> begun;         // what is being made goes on with it (Recording::behind); null: it is the first
  Ptr<const command::Recording> ended;         // null unless executable
  std::unique_ptr<command::Pass> open;
  bool inherits = false;  // the open pass is part of one that others begin and end

  // State that the next draw takes. The flags say what the last DrawState and PushBlock no longer hold.
  command::StateRecorder dynamic;
  command::DrawState state;
  ResolvedLately resolved_lately;
  uint32_t absent_targets = 0;                // that the state was resolved without (device/pass_targets.hpp)
  const command::DrawState* drawn = nullptr;  // of the open pass: as the last draw took it
  std::array<Ptr<Buffer>, kMaxVertexBindings> vertex_buffers;
  uint32_t bound_vertex_buffers = 0;  // a bit each; those of them that are null give zeros
  Ptr<Buffer> index_buffer;
  SetBindings sets;
  const command::BoundSets* bound_sets = nullptr;  // of the state
  NotedUses noted_uses;                            // of the open pass
  SetUse use;                                      // scratch
  command::PushBlock push;
  VkImageAspectFlags feedback_loops = 0;  // where the pipeline leaves it open
  bool state_dirty = true, push_dirty = true;
  bool buffers_dirty = true;        // other vertices or indices alone: what the pipeline and its state say holds on
  int32_t active_query = -1;        // in the open pass
  int32_t transform_feedback = -1;  // the same
  std::array<BufferPlace, kMaxTransformFeedbackBuffers> transform_feedback_buffers;
  ComputeState compute;
  std::optional<command::ActiveQuery> outer_query;   // begun outside of passes: it counts in all until it ends
  std::vector<command::ActiveQuery> outer_counting;  // the same of other types
  std::optional<command::Condition> condition;       // of conditional rendering that is active
  bool condition_in_pass = false;                    // begun in the open pass
  std::vector<uint32_t> counting;                    // active, in the open pass's list
  std::vector<command::EndQuery> ended_queries;      // behind the open pass: queries that began in a pass that was split
};

/// Whether depth of the format may be any number (DeviceCreateInfo::unrestricted_depth).
bool is_unrestricted(const Recorder& recorder, VkFormat format);
/// Depth that a clear gives, as the device allows it: limited to 0..1 but for floats of any range.
float clear_depth(const Recorder& recorder, VkFormat format, float depth);
/// Begins a pass; no other is open. `checked`: what only portability forbids is asked; not of one that goes on.
Status open_pass(Recorder& recorder, const RenderingInfo& info, bool checked);

/// The recorder's condition begins and ends in the open pass (device/command_conditional.cpp).
Status begin_condition(Recorder& recorder);
void end_condition(Recorder& recorder);
/// An error where the pass, of which `feedback` is, writes what the condition is read from.
Status note_condition(framebuffer::Feedback& feedback, const command::Condition& condition);

/// vkCmdClearAttachments: within the pass's area and layers. `is_part`: of a secondary, which knows neither.
Status check_clear(const command::Pass& pass, const command::ClearCall& clear, bool is_part);

/// Whether a draw is not discarded before rasterization: the state of samples is ignored where it is.
bool rasterizes(const command::Pass& pass);
/// A pass without attachments has the samples of the first pipeline that rasterizes in it. Others: nothing is done.
Status adopt_samples(Recorder& recorder, uint32_t samples);

inline Status forbid(const Recorder& recorder, Status rule) { return forbid(recorder.device->state(), std::move(rule)); }

inline Error invalid(std::string message) { return {VK_ERROR_INITIALIZATION_FAILED, std::move(message)}; }
inline std::string pass_name(const command::Pass& pass) { return "pass '" + pass.info.label + "'"; }

/// Ok while recording; else an error that names the call.
Status require_recording(const Recorder& recorder, const char* call);
inline bool is_outside(const Recorder& recorder) {
  return recorder.stage == CommandBufferState::initial || recorder.stage == CommandBufferState::executable;
}
/// For calls without a result: outside recording the next begin() or end() fails and names the call.
inline void note_misuse(Recorder& recorder, std::string call) {
  if (recorder.misuse.empty()) recorder.misuse = std::move(call);
}
inline Recorder& recorder_for(Recorder& recorder, const char* call) {
  recorder.turn.await();
  recorder.untouched = false;
  if (is_outside(recorder)) note_misuse(recorder, call);
  return recorder;
}

/// What a refusal of memory leaves: nothing of the recording.
Error lose(Recorder& recorder, const char* call, const std::bad_alloc& refused);
/// A call that records: no exception leaves it, and no other thread's comes between.
template <class Call>
Status record(Recorder& recorder, const char* name, Call call) {
  const Turn::Taken taken(recorder.turn);
  recorder.untouched = false;
  try {
    return call();
  } catch (const std::bad_alloc& refused) {
    return lose(recorder, name, refused);
  }
}

/// A command outside passes, behind what was recorded.
Status add(Recorder& recorder, command::Command command, const char* call);

/// Deferred vertex shading wants a slice of the vertex shader; where the pass uses it, it is there after this.
Status prepare_deferral(const Recorder& recorder, const command::Pass& pass, const command::DrawState& state);

/// The default: all of the framebuffer.
VkViewport viewport_of(const command::Pass& pass);

/// Adds so many draws of a state to those that the pass is executed as; an error where records can't name them.
Status count_draws(command::Pass& pass, const command::DrawState& state, uint32_t count);

/// A scissor or area cut with another; an empty result has extent 0.
VkRect2D intersect(const VkRect2D& a, const VkRect2D& b);

}  // namespace tilegpu::device
