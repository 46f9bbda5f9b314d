// device/command_transform_feedback.cpp -- stage: recording, transform feedback. In: buffers, counters. Out: intervals of the open pass, in
// which draws are captured. Source: Vulkan specification, "Transform Feedback".
#include <algorithm>

#include "device/recorder.hpp"

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

}  // namespace

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
      if (b.offset_B % 4 || b.offset_B > b.buffer->size_B())
        return invalid(std::string(who) + ": the offset of buffer " + std::to_string(first + i) + " is " + std::to_string(b.offset_B) +
                       "; multiples of 4 up to its size, " + std::to_string(b.buffer->size_B()) + ", are allowed");
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
