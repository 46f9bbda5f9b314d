// device/command_transform_feedback.cpp -- stage: recording, transform feedback. In: buffers, counters. Out: intervals of the open pass, in
// which draws are captured. Source: Vulkan specification, "Transform Feedback".
#include <algorithm>
#include <bit>
#include <cassert>
#include <unordered_map>

#include "device/transform_feedback_targets.hpp"
#include "resource/usage.hpp"

namespace tilegpu {

using device::invalid;
using device::pass_name;
using device::Recorder;

namespace {

constexpr uint32_t kBuffers = kMaxTransformFeedbackBuffers;

Status check_counters(uint32_t first, std::span<const BufferPlace> counters, const std::string& who) {
  if (first > kBuffers || counters.size() > kBuffers - first)
    return invalid(who + ": counters " + std::to_string(first) + " to " + std::to_string(first + counters.size()) +
                   "; there are buffers 0 to 3");
  for (const BufferPlace& counter : counters) {
    if (!counter.buffer) continue;
    if (!counter.buffer->data() || counter.offset_B % 4 || !counter.buffer->holds(counter.offset_B, 4))
      return invalid(who + ": a counter lies at byte " + std::to_string(counter.offset_B) + " of buffer '" + counter.buffer->info().label +
                     "', which has " + std::to_string(counter.buffer->size_B()) + "; it takes 4, at a multiple of 4");
  }
  return Ok{};
}

Status forbid_counters(const Recorder& r, std::span<const BufferPlace> counters, const std::string& who) {
  constexpr VkBufferUsageFlagBits kUse = VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT;
  for (const BufferPlace& counter : counters)
    if (counter.buffer)
      if (Status ok = device::forbid(r, resource::check_usage(who.c_str(), *counter.buffer, kUse)); !ok) return ok;
  return Ok{};
}

// Bytes of a buffer that are read, or written too, while the pass has its targets in tiles.
Status note_place(command::Pass& pass, const BufferPlace& place, uint64_t size_B, const std::string& what, bool writes) {
  if (!size_B || pass.feedback.targets.empty()) return Ok{};
  assert(place.buffer && place.buffer->holds(place.offset_B, size_B));
  const uint64_t begin_B = place.buffer->memory_offset_B() + place.offset_B;
  const auto parts = framebuffer::targets_read(pass.feedback, place.buffer->memory()->contents(), {begin_B, begin_B + size_B});
  if (!framebuffer::meets_targets(parts)) return Ok{};
  const std::string who = what + " '" + place.buffer->info().label + "'";
  const Status ok = framebuffer::note_read(pass.feedback, parts, {.who = who, .writes = writes, .of_buffer = true});
  if (ok || !writes) return ok;
  uint32_t targets = 0;
  for (uint32_t part : parts) targets |= part;
  return Error{ok.error().code, pass_name(pass) + ": " + who + " is written on bytes of " +
                                    framebuffer::target_name(static_cast<uint32_t>(std::countr_zero(targets))) +
                                    " of this pass; bind a buffer with other memory, or capture in another pass"};
}

// Counters that an interval goes on from, or that it leaves.
Status note_counters(command::Pass& pass, std::span<const BufferPlace> counters, bool kept) {
  for (const BufferPlace& counter : counters)
    if (counter.buffer)
      if (Status ok = note_place(pass, counter, 4, "transform feedback counter", kept); !ok) return ok;
  return Ok{};
}

}  // namespace

Status device::note_captured(command::Pass& pass, const Pipeline& pipeline, const command::DrawState& state,
                             const command::TransformFeedback& to) {
  if (pass.feedback.targets.empty()) return Ok{};
  uint32_t buffers = 0;
  for (const shader::CapturedWord& word : state.resolved->primitives.captured.words) buffers |= 1u << word.buffer;
  const std::string who = "pipeline '" + pipeline.info().label + "': transform feedback buffer";
  for (uint32_t i = 0; i < kBuffers; i++)
    if ((buffers >> i & 1) && to.bound[i].buffer)
      if (Status ok = note_place(pass, to.bound[i], to.bound[i].size_B, who, true); !ok) return ok;
  return Ok{};
}

Status device::note_transform_feedback(command::Pass& pass, const command::Pass& part) {
  if (part.transform_feedback.empty()) return Ok{};
  for (const command::TransformFeedback& t : part.transform_feedback) {
    if (Status ok = note_counters(pass, t.resumed, false); !ok) return ok;
    if (Status ok = note_counters(pass, t.kept, true); !ok) return ok;
  }
  std::unordered_map<const command::DrawState*, const Pipeline*> pipeline_of;
  for (size_t i = 0; i < part.states.size(); i++) pipeline_of.emplace(&part.states[i], part.bound[i].pipeline.get());
  const auto note = [&](const command::DrawCall& draw) -> Status {
    if (draw.transform_feedback < 0) return Ok{};
    return note_captured(pass, *pipeline_of.at(draw.state), *draw.state,
                         part.transform_feedback[static_cast<size_t>(draw.transform_feedback)]);
  };
  for (const command::DrawCall& draw : part.draws)
    if (Status ok = note(draw); !ok) return ok;
  for (const command::IndirectDraw& draw : part.indirects)
    if (Status ok = note(draw.base); !ok) return ok;
  return Ok{};
}

Status CommandBuffer::bind_transform_feedback_buffers(uint32_t first, std::span<const BufferPlace> buffers) {
  return device::record(*recorder_, "bind_transform_feedback_buffers", [&]() -> Status {
    Recorder& r = *recorder_;
    const char* who = "bind_transform_feedback_buffers";
    if (Status ok = device::require_recording(r, who); !ok) return ok;
    if (r.transform_feedback >= 0) return invalid(std::string(who) + ": transform feedback is active; end it first");
    if (first > kBuffers || buffers.size() > kBuffers - first)
      return invalid(std::string(who) + ": buffers " + std::to_string(first) + " to " + std::to_string(first + buffers.size()) +
                     "; there are buffers 0 to 3");
    for (size_t i = 0; i < buffers.size(); i++) {
      const BufferPlace& b = buffers[i];
      if (!b.buffer || !b.buffer->data())
        return invalid(std::string(who) + ": buffer " + std::to_string(first + i) + " is null or has no memory");
      if (b.offset_B % 4 || b.offset_B >= b.buffer->size_B()) {
        Status outside =
            invalid(std::string(who) + ": the offset of buffer " + std::to_string(first + i) + " is " + std::to_string(b.offset_B) +
                    "; multiples of 4 below its size, " + std::to_string(b.buffer->size_B()) + ", are allowed");
        if (b.offset_B % 4 || b.offset_B > b.buffer->size_B()) return outside;
        if (Status ok = device::forbid(r, std::move(outside)); !ok) return ok;  // nothing is captured there
      }
      constexpr VkBufferUsageFlagBits kUse = VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT;
      if (Status ok = device::forbid(r, resource::check_usage(who, *b.buffer, kUse)); !ok) return ok;
      const uint64_t rest_B = b.buffer->size_B() - b.offset_B;
      if (b.size_B != VK_WHOLE_SIZE && b.size_B > rest_B)
        return invalid(std::string(who) + ": buffer " + std::to_string(first + i) + " has " + std::to_string(rest_B) +
                       " bytes behind its offset, not " + std::to_string(b.size_B));
      r.transform_feedback_buffers[first + i] = {b.buffer, b.offset_B, b.size_B == VK_WHOLE_SIZE ? rest_B : b.size_B};
    }
    return Ok{};
  });
}

Status CommandBuffer::begin_transform_feedback(uint32_t first_counter, std::span<const BufferPlace> counters) {
  return device::record(*recorder_, "begin_transform_feedback", [&]() -> Status {
    Recorder& r = *recorder_;
    if (!r.open) return invalid("begin_transform_feedback: no pass is open; call begin_rendering first");
    const std::string who = pass_name(*r.open) + ": begin_transform_feedback";
    if (r.transform_feedback >= 0) return invalid(who + ": it is active already; call end_transform_feedback first");
    if (r.open->info.view_mask) return invalid(who + ": the pass has several views; transform feedback takes one");
    if (Status ok = check_counters(first_counter, counters, who); !ok) return ok;
    if (Status ok = forbid_counters(r, counters, who); !ok) return ok;
    if (Status ok = note_counters(*r.open, counters, false); !ok) return ok;
    command::TransformFeedback t;
    t.bound = r.transform_feedback_buffers;
    std::copy(counters.begin(), counters.end(), t.resumed.begin() + first_counter);
    r.transform_feedback = static_cast<int32_t>(r.open->transform_feedback.size());
    for (const BufferPlace& b : t.bound)
      if (b.buffer) r.open->written_buffers.insert(b.buffer);
    r.open->commands.push_back({command::RecordedCommand::Kind::begin_transform_feedback, static_cast<uint32_t>(r.transform_feedback)});
    r.open->transform_feedback.push_back(std::move(t));
    return Ok{};
  });
}

Status CommandBuffer::end_transform_feedback(uint32_t first_counter, std::span<const BufferPlace> counters) {
  return device::record(*recorder_, "end_transform_feedback", [&]() -> Status {
    Recorder& r = *recorder_;
    if (!r.open || r.transform_feedback < 0) return invalid("end_transform_feedback: it is not active");
    const std::string who = pass_name(*r.open) + ": end_transform_feedback";
    if (Status ok = check_counters(first_counter, counters, who); !ok) return ok;
    if (Status ok = forbid_counters(r, counters, who); !ok) return ok;
    if (Status ok = note_counters(*r.open, counters, true); !ok) return ok;
    command::TransformFeedback& t = r.open->transform_feedback[static_cast<size_t>(r.transform_feedback)];
    std::copy(counters.begin(), counters.end(), t.kept.begin() + first_counter);
    for (const BufferPlace& b : counters)
      if (b.buffer) r.open->written_buffers.insert(b.buffer);
    r.open->commands.push_back({command::RecordedCommand::Kind::end_transform_feedback, static_cast<uint32_t>(r.transform_feedback)});
    r.transform_feedback = -1;
    return Ok{};
  });
}

}  // namespace tilegpu
