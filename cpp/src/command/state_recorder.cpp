// command/state_recorder.cpp -- see state_recorder.hpp.
#include "command/state_recorder.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "pipeline/program.hpp"

namespace tilegpu::command {

namespace {

using S = DynamicState;

constexpr uint64_t kFramebufferStates = DynamicStates::bit(S::viewport) | DynamicStates::bit(S::viewport_with_count) |
                                        DynamicStates::bit(S::scissor) | DynamicStates::bit(S::scissor_with_count);

// An attachment's equation is set by either.
constexpr DynamicStates kBlending{DynamicStates::bit(S::color_blend_equation) | DynamicStates::bit(S::color_blend_advanced)};

Error invalid(std::string message) { return {VK_ERROR_INITIALIZATION_FAILED, std::move(message)}; }

}  // namespace

bool StateRecorder::bind(Ptr<Pipeline> pipeline) {
  assert(pipeline);
  if (pipeline == pipeline_) return false;
  pipeline_ = std::move(pipeline);
  const uint64_t ignored = pipeline_->program().primitives.meshes ? pipeline::ignored_by_meshes().bits : 0;
  settable_.bits = pipeline_->dynamic().bits | pipeline::always_settable().bits | ignored;
  // What it fixes was set for others; viewport and scissor, where it doesn't list them, are the command buffer's alone.
  set_.bits &= pipeline_->dynamic().bits | kFramebufferStates | ignored;
  fresh_ = set_;
  in_vain_ = {};
  const auto viewports = state_.viewports;
  const auto scissors = state_.scissors;
  state_ = static_cast<const GraphicsState&>(pipeline_->info());
  state_.viewports = viewports, state_.scissors = scissors;
  resolving_ = true;
  return true;
}

void StateRecorder::unset(DynamicState which) {
  assert(kFramebufferStates & DynamicStates::bit(which));
  for (DynamicStates* states : {&set_, &fresh_}) states->bits &= ~DynamicStates::bit(which);
}

bool StateRecorder::note_attachments(DynamicState which, uint32_t first, uint32_t count, bool changed) {
  assert(first + count <= kMaxColorAttachments);
  uint32_t& set = attachments_set_[static_cast<size_t>(which)];
  if (!set_.has(which)) set = 0;
  set |= ((1u << count) - 1) << first;
  return note(which, changed);
}

bool StateRecorder::set_stride(uint32_t binding, uint32_t stride_B) {
  assert(binding < kMaxVertexBindings);
  const auto put = [&](auto& list) {
    for (VertexInputBinding& b : list)
      if (b.binding == binding) return std::exchange(b.stride, stride_B) == stride_B ? 1 : 2;
    return 0;
  };
  bool changed = put(given_.vertex_bindings) == 2;
  if (changed) fresh_.bits |= DynamicStates::bit(S::vertex_input) & set_.bits;
  const int found = put(strides_);
  if (found == 0) strides_.push_back({{binding, stride_B, VK_VERTEX_INPUT_RATE_VERTEX}, 1});
  changed |= found != 1;
  return note(S::vertex_input_binding_stride, changed || !set_.has(S::vertex_input_binding_stride));
}

bool StateRecorder::set_vertex_input(std::span<const VkVertexInputBindingDescription2EXT> bindings,
                                     std::span<const VkVertexInputAttributeDescription2EXT> attributes) {
  assert(bindings.size() <= kMaxVertexBindings && attributes.size() <= kMaxVertexAttributes);
  bool changed = !set_.has(S::vertex_input);
  // Brings the list to what is given, item by item.
  const auto put = [&](auto& list, const auto& given, auto&& plain_of) {
    if (list.size() != given.size()) list.clear(), changed = true;
    for (size_t i = 0; i < given.size(); i++) {
      const auto item = plain_of(given[i]);
      static_assert(std::has_unique_object_representations_v<decltype(item)>);
      if (i == list.size())
        list.push_back(item);
      else if (std::memcmp(&list[i], &item, sizeof item) != 0)
        list[i] = item, changed = true;
    }
  };
  put(given_.vertex_bindings, bindings, [](const VkVertexInputBindingDescription2EXT& b) {
    return VertexInputBinding{{b.binding, b.stride, b.inputRate}, b.inputRate == VK_VERTEX_INPUT_RATE_INSTANCE ? b.divisor : 1};
  });
  put(given_.vertex_attributes, attributes, [](const VkVertexInputAttributeDescription2EXT& a) {
    return VkVertexInputAttributeDescription{a.location, a.binding, a.format, a.offset};
  });
  return note(S::vertex_input, changed);
}

static DynamicStates needed_by(const Pipeline& pipeline, const GraphicsState& state) {
  const pipeline::Program& program = pipeline.program();
  const pipeline::Stage* fragment = program.fragment();
  return pipeline::needed_states(state, pipeline.dynamic(), program.primitives, fragment && fragment->traits.reads_front_facing);
}

// What is set binding by binding, or attachment by attachment, must be there for all that the pipeline has.
Status StateRecorder::check_parts() const {
  const DynamicStates dynamic = pipeline_->dynamic();
  const GraphicsPipelineCreateInfo& info = pipeline_->info();
  const std::string who = "pipeline '" + info.label + "' leaves ";
  if (dynamic.has(S::vertex_input_binding_stride) && !dynamic.has(S::vertex_input))
    for (const VertexInputBinding& binding : state_.vertex_bindings)
      if (std::none_of(strides_.begin(), strides_.end(), [&](const auto& s) { return s.binding == binding.binding; }))
        return invalid(who + "VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE to the command buffer, and binding " +
                       std::to_string(binding.binding) + " has no stride; bind it with bind_vertex_buffer2");
  const DynamicStates needed = needed_by(*pipeline_, state_);
  const auto attachments = [&](S which) { return set_.has(which) ? attachments_set_[static_cast<size_t>(which)] : 0; };
  for (const S which : {S::color_blend_enable, S::color_blend_equation, S::color_blend_advanced, S::color_write_mask}) {
    if (!needed.has(which)) continue;
    const uint32_t set = kBlending.has(which) && (dynamic.bits & kBlending.bits) == kBlending.bits
                             ? attachments(S::color_blend_equation) | attachments(S::color_blend_advanced)
                             : attachments(which);
    const auto& of = state_.blend.attachments;
    for (size_t i = 0; i < info.color_formats.size(); i++)
      if (info.color_formats[i] != VK_FORMAT_UNDEFINED && !(set >> i & 1) &&
          (!kBlending.has(which) || (i < of.size() && of[i].blendEnable)))
        return invalid(who + pipeline::names_of({DynamicStates::bit(which)}) + " to the command buffer, and it is not set for color[" +
                       std::to_string(i) + "]");
  }
  return Ok{};
}

Status StateRecorder::take() {
  assert(pipeline_);
  const DynamicStates dynamic = pipeline_->dynamic();
  if (in_vain_.bits)
    return invalid("pipeline '" + pipeline_->info().label + "' fixes " + pipeline::names_of(in_vain_) +
                   ", which was set after it was bound; list it among the pipeline's dynamic states, or don't set it");
  uint64_t left = fresh_.bits & settable_.bits;
  if (left & pipeline::resolving_states().bits) resolving_ = true;
  for (; left; left &= left - 1) {
    const auto which = static_cast<S>(std::countr_zero(left));
    if (which != S::vertex_input_binding_stride) {
      pipeline::copy_state(which, given_, state_);
      continue;
    }
    if (dynamic.has(S::vertex_input)) continue;  // they are in it
    for (VertexInputBinding& binding : state_.vertex_bindings)
      for (const VertexInputBinding& given : strides_)
        if (given.binding == binding.binding) binding.stride = given.stride;
  }
  // Of smooth lines code and classification are others, if it is lines that are drawn.
  const bool smooth = state_.rasterization.line_mode == VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT;
  if (smooth && fresh_.bits & (DynamicStates::bit(S::primitive_topology) | DynamicStates::bit(S::polygon_mode))) resolving_ = true;
  fresh_ = {};
  if (!dynamic.bits) return Ok{};
  // Attachments that the pipeline does not have may have state.
  auto& attachments = state_.blend.attachments;
  if (attachments.size() > pipeline_->info().color_formats.size() && dynamic.bits & pipeline::resolving_states().bits)
    attachments.assign(attachments.begin(), attachments.begin() + pipeline_->info().color_formats.size());
  DynamicStates missing{needed_by(*pipeline_, state_).bits & ~set_.bits};
  if ((dynamic.bits & kBlending.bits) == kBlending.bits && set_.bits & kBlending.bits) missing.bits &= ~kBlending.bits;
  if (!missing.bits) return check_parts();
  return invalid("pipeline '" + pipeline_->info().label + "' leaves " + pipeline::names_of(missing) +
                 " to the command buffer, and it is not set; set it before the draw, and again after a pipeline that fixes it was bound");
}

}  // namespace tilegpu::command
