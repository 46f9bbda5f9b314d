// command/state_recorder.hpp -- state while a command buffer is recorded: what the bound pipeline fixes, what set_* said, and both as one.
//
// In: a pipeline, states one by one. Out: the state of the next draw, or which of it was never set. Source: Vulkan specification,
// "Dynamic State": what a bound pipeline fixes replaces what was set before, which must then be set again.
#pragma once

#include <cstring>
#include <span>

#include "pipeline/dynamic_state.hpp"

namespace tilegpu::command {

class StateRecorder {
 public:
  /// False: it was bound already.
  bool bind(Ptr<Pipeline> pipeline);
  const Ptr<Pipeline>& pipeline() const { return pipeline_; }

  /// `field` is one of given(). False where it was that already; draws then have nothing new to look at.
  template <class T>
  bool set(DynamicState which, T& field, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (set_.has(which) && std::memcmp(&field, &value, sizeof value) == 0) return note(which, false);
    field = value;
    return note(which, true);
  }
  /// The same for a change that was made to given() by hand.
  bool note(DynamicState which, bool changed) {
    assert(which < DynamicState::count);
    if (!settable_.has(which)) in_vain_.add(which);
    if (!changed) return false;
    set_.add(which);
    fresh_.add(which);
    return true;
  }
  GraphicsState& given() { return given_; }

  /// The same for states of each colour attachment, those from `first` on.
  bool note_attachments(DynamicState which, uint32_t first, uint32_t count, bool changed);

  /// Strides beside the vertex input.
  bool set_stride(uint32_t binding, uint32_t stride_B);
  /// The vertex input as a whole, strides with it.
  bool set_vertex_input(std::span<const VkVertexInputBindingDescription2EXT> bindings,
                        std::span<const VkVertexInputAttributeDescription2EXT> attributes);

  /// As if nobody had set it: for state that has a default.
  void unset(DynamicState which);
  bool is_set(DynamicState which) const { return set_.has(which); }

  /// Brings state() up to date: Ok, or what is missing or was set in vain, by name.
  Status take();
  /// Of the next draw; viewport and scissor only where they are set.
  const GraphicsState& state() const { return state_; }
  /// After take(): code or classification may be others than they were at was_resolved().
  bool needs_resolving() const { return resolving_; }
  void was_resolved() { resolving_ = false; }

 private:
  Status check_parts() const;

  Ptr<Pipeline> pipeline_;
  GraphicsState given_;  // by set_*
  FixedList<VertexInputBinding, kMaxVertexBindings> strides_;
  DynamicStates settable_{~uint64_t{0}};                    // with the pipeline that is bound; what others fix is set in vain
  DynamicStates set_;                                       // of given_, and not made invalid since
  DynamicStates fresh_;                                     // of set_, and not in state_ yet
  DynamicStates in_vain_;                                   // set after a pipeline that fixes it was bound
  std::array<uint32_t, kDynamicStates> attachments_set_{};  // of those of each attachment: a bit for each
  GraphicsState state_;
  bool resolving_ = true;
};

}  // namespace tilegpu::command
