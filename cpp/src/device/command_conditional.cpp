// device/command_conditional.cpp -- stage: recording, conditional rendering. In: a place in a buffer. Out: intervals of the open pass, and
// the condition of dispatches. Source: Vulkan specification, "Conditional Rendering".
//
// An interval that was begun outside of passes is one in each pass that follows, so that passes know all of theirs.
#include "device/recorder.hpp"
#include "framebuffer/feedback.hpp"
#include "resource/usage.hpp"

namespace tilegpu {

using command::RecordedCommand;
using device::invalid;
using device::pass_name;
using device::Recorder;

namespace {

Status check_place(const BufferPlace& place) {
  const std::string who = "begin_conditional_rendering: ";
  if (!place.buffer || !place.buffer->data()) return invalid(who + "the buffer is null or has no memory bound");
  if (place.offset_B % 4 || !place.buffer->holds(place.offset_B, 4))
    return invalid(who + "the condition lies at byte " + std::to_string(place.offset_B) + " of buffer '" + place.buffer->info().label +
                   "', which has " + std::to_string(place.buffer->size_B()) + "; it takes 4, at a multiple of 4");
  return Ok{};
}

}  // namespace

namespace device {

Status note_condition(framebuffer::Feedback& feedback, const command::Condition& condition) {
  if (feedback.targets.empty()) return Ok{};
  assert(condition.buffer && condition.buffer->data());
  const Buffer& buffer = *condition.buffer;
  const uint64_t begin_B = buffer.memory_offset_B() + condition.offset_B;
  const auto parts = framebuffer::targets_read(feedback, buffer.memory()->contents(), {begin_B, begin_B + 4});
  if (!framebuffer::meets_targets(parts)) return Ok{};
  const std::string who = "conditional rendering by buffer '" + buffer.info().label + "'";
  return framebuffer::note_read(feedback, parts, {.who = who, .of_buffer = true});
}

Status begin_condition(Recorder& r) {
  assert(r.open && r.condition);
  command::Pass& pass = *r.open;
  if (Status ok = note_condition(pass.feedback, *r.condition); !ok) return ok;
  pass.commands.push_back({RecordedCommand::Kind::begin_condition, static_cast<uint32_t>(pass.conditions.size())});
  pass.conditions.push_back(*r.condition);
  return Ok{};
}

void end_condition(Recorder& r) {
  assert(r.open && !r.open->conditions.empty());
  command::Pass& pass = *r.open;
  pass.commands.push_back({RecordedCommand::Kind::end_condition, static_cast<uint32_t>(pass.conditions.size() - 1)});
}

}  // namespace device

Status CommandBuffer::begin_conditional_rendering(const BufferPlace& place, bool inverted) {
  return device::record(*recorder_, "begin_conditional_rendering", [&]() -> Status {
    Recorder& r = *recorder_;
    if (Status ok = device::require_recording(r, "begin_conditional_rendering"); !ok) return ok;
    if (r.condition) return invalid("begin_conditional_rendering: it is active already; call end_conditional_rendering first");
    if (Status ok = check_place(place); !ok) return ok;
    constexpr VkBufferUsageFlagBits kUse = VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT;
    if (Status ok = device::forbid(r, resource::check_usage("begin_conditional_rendering", *place.buffer, kUse)); !ok) return ok;
    r.condition = {place.buffer, place.offset_B, inverted};
    r.condition_in_pass = r.open != nullptr;
    r.making->begins_condition = true;
    const Status ok = r.open ? device::begin_condition(r) : Status(Ok{});
    if (!ok) r.condition.reset();
    return ok;
  });
}

Status CommandBuffer::end_conditional_rendering() {
  return device::record(*recorder_, "end_conditional_rendering", [&]() -> Status {
    Recorder& r = *recorder_;
    if (!r.condition) return invalid("end_conditional_rendering: conditional rendering is not active");
    if (r.condition_in_pass != (r.open != nullptr))
      return invalid("end_conditional_rendering in " + pass_name(*r.open) + ": it was begun outside of the pass; end it there");
    if (r.open) device::end_condition(r);
    r.condition.reset();
    return Ok{};
  });
}

}  // namespace tilegpu
