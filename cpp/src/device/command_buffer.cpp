// device/command_buffer.cpp -- stage: recording, the command buffer's life. In: begin, end, reset. Out: a recording, const once it ended.
//
// Validation happens in device/command_*.cpp, before any work: what can't be done is an Error that names the pass, the pipeline and the
// field. Source: Vulkan specification, "Command Buffer Lifecycle".
#include "base/host_memory.hpp"
#include "base/long_work.hpp"
#include "device/recorder.hpp"
#include "vk/format.hpp"

namespace tilegpu {

namespace {

const char* name_of(CommandBufferState state) {
  switch (state) {
    case CommandBufferState::initial:
      return "initial (begin was not called)";
    case CommandBufferState::recording:
      return "recording";
    case CommandBufferState::executable:
      return "executable (end was called)";
    case CommandBufferState::invalid:
      return "invalid (the system refused memory for a command)";
  }
  return "";
}

}  // namespace

namespace device {

Status require_recording(const Recorder& recorder, const char* call) {
  if (recorder.stage == CommandBufferState::recording) return Ok{};
  return invalid(std::string(call) + ": the command buffer's state is " + name_of(recorder.stage) +
                 "; commands are recorded between begin and end");
}

void Turn::await_other() {
  waiting_.fetch_add(1);
  while (const void* by = taken_.load()) {  // maybe again, by the time that the lock is back
    LongWork long_work;
    long_work.begin();
    taken_.wait(by);
  }
  waiting_.fetch_sub(1);
}

Error lose(Recorder& recorder, const char* call, const std::bad_alloc& refused) {
  recorder.open.reset(), recorder.making.reset(), recorder.ended.reset();
  recorder.stage = CommandBufferState::invalid;
  return {VK_ERROR_OUT_OF_HOST_MEMORY,
          std::string(call) + ": " + refused_text(refused, "the command") + "; begin the command buffer again"};
}

VkRect2D intersect(const VkRect2D& a, const VkRect2D& b) {
  const int64_t x0 = std::max<int64_t>(a.offset.x, b.offset.x), y0 = std::max<int64_t>(a.offset.y, b.offset.y);
  const int64_t x1 = std::min<int64_t>(int64_t{a.offset.x} + a.extent.width, int64_t{b.offset.x} + b.extent.width);
  const int64_t y1 = std::min<int64_t>(int64_t{a.offset.y} + a.extent.height, int64_t{b.offset.y} + b.extent.height);
  if (x1 <= x0 || y1 <= y0) return {{a.offset.x, a.offset.y}, {0, 0}};
  return {{static_cast<int32_t>(x0), static_cast<int32_t>(y0)}, {static_cast<uint32_t>(x1 - x0), static_cast<uint32_t>(y1 - y0)}};
}

}  // namespace device

using device::invalid;
using device::pass_name;
using device::Recorder;

CommandBuffer::CommandBuffer(Ptr<Device> device, VkCommandBufferLevel level) : recorder_(std::make_unique<Recorder>()) {
  assert(device);
  recorder_->device = std::move(device);
  recorder_->level = level;
}
CommandBuffer::~CommandBuffer() = default;

namespace {

void clear(Recorder& r) {
  Recorder fresh;
  fresh.device = std::move(r.device);
  fresh.level = r.level;
  fresh.untouched = false;
  r = std::move(fresh);
}

// `untouched`: nobody recorded, or set anything, before.
Status begin_recording(Recorder& r, bool untouched) {
  if (r.stage == CommandBufferState::recording) return invalid("begin: the command buffer is recording already; call end or reset first");
  if (!r.misuse.empty()) return invalid(std::exchange(r.misuse, {}) + " was called outside begin and end");
  if (!untouched) clear(r);
  r.making = std::make_shared<command::Recording>();
  r.making->device = r.device;
  r.making->level = r.level;
  r.stage = CommandBufferState::recording;
  return Ok{};
}

Status begin_part(Recorder& r, const InheritanceInfo& inheritance, bool untouched) {
  const std::string who = "begin of a part of pass '" + inheritance.label + "': ";
  if (r.level != VK_COMMAND_BUFFER_LEVEL_SECONDARY) return invalid(who + "the command buffer is primary; only secondary ones inherit");
  if (inheritance.color_formats.size() > kMaxColorAttachments)
    return invalid(who + std::to_string(inheritance.color_formats.size()) + " colour formats; at most " +
                   std::to_string(kMaxColorAttachments) + " are allowed");
  const auto check = [&](VkFormat format, VkImageAspectFlagBits aspect, const std::string& name) -> Status {
    const std::string why = format ? vk::why_no_attachment(format, aspect) : "";
    return why.empty() ? Status(Ok{}) : invalid(who + name + ": format " + format_name(format) + why);
  };
  for (size_t i = 0; i < inheritance.color_formats.size(); ++i)
    if (Status ok = check(inheritance.color_formats[i], VK_IMAGE_ASPECT_COLOR_BIT, "color[" + std::to_string(i) + "]"); !ok) return ok;
  if (Status ok = check(inheritance.depth_format, VK_IMAGE_ASPECT_DEPTH_BIT, "depth"); !ok) return ok;
  if (Status ok = check(inheritance.stencil_format, VK_IMAGE_ASPECT_STENCIL_BIT, "stencil"); !ok) return ok;
  if (Status ok = begin_recording(r, untouched); !ok) return ok;
  auto part = std::make_unique<command::Pass>();
  part->info.label = inheritance.label;
  part->targets = {inheritance.color_formats, inheritance.depth_format, inheritance.stencil_format};
  part->samples = inheritance.samples;
  part->info.view_mask = inheritance.view_mask;
  part->width_px = part->height_px = kMaxFramebufferSize_px;
  part->render_area = {{0, 0}, {kMaxFramebufferSize_px, kMaxFramebufferSize_px}};
  r.making->active = inheritance.active();
  r.open = std::move(part);
  r.noted_uses.clear();
  r.inherits = true;
  return Ok{};
}

}  // namespace

Status CommandBuffer::begin() {
  const bool untouched = recorder_->untouched;
  return device::record(*recorder_, "begin", [&] { return begin_recording(*recorder_, untouched); });
}

Status CommandBuffer::begin(const InheritanceInfo& inheritance) {
  const bool untouched = recorder_->untouched;
  return device::record(*recorder_, "begin", [&] { return begin_part(*recorder_, inheritance, untouched); });
}

Status CommandBuffer::begin(const InheritedActivity& active) {
  const bool untouched = recorder_->untouched;
  return device::record(*recorder_, "begin", [&]() -> Status {
    if (level() != VK_COMMAND_BUFFER_LEVEL_SECONDARY) return invalid("begin: the command buffer is primary; only secondary ones inherit");
    if (Status ok = begin_recording(*recorder_, untouched); !ok) return ok;
    recorder_->making->active = active;
    return Ok{};
  });
}

Status CommandBuffer::end() {
  Recorder& r = *recorder_;
  r.turn.await();
  if (Status ok = device::require_recording(r, "end"); !ok) return ok;
  if (r.open && !r.inherits) return invalid("end: " + pass_name(*r.open) + " is still open; call end_rendering first");
  if (r.open && (r.active_query >= 0 || !r.counting.empty()))
    return invalid("end: a query is active in " + pass_name(*r.open) + "; call end_query first");
  if (r.open && r.transform_feedback >= 0)
    return invalid("end: transform feedback is active in " + pass_name(*r.open) + "; call end_transform_feedback first");
  if (r.outer_query) return invalid("end: query " + std::to_string(r.outer_query->query) + " is active; call end_query first");
  if (!r.outer_counting.empty())
    return invalid("end: query " + std::to_string(r.outer_counting.front().query) + " is active; call end_query first");
  if (r.condition) return invalid("end: conditional rendering is active; call end_conditional_rendering first");
  if (r.open) r.making->part = std::move(r.open);
  r.ended = r.begun ? std::move(r.begun) : std::move(r.making);
  r.begun = nullptr, r.making = nullptr;
  r.stage = CommandBufferState::executable;
  return Ok{};
}

void CommandBuffer::reset() {
  recorder_->turn.await();
  clear(*recorder_);
}

CommandBufferState CommandBuffer::state() const { return recorder_->stage; }
VkCommandBufferLevel CommandBuffer::level() const { return recorder_->level; }
const Ptr<const command::Recording>& CommandBuffer::recording() const { return recorder_->ended; }
const Ptr<Device>& CommandBuffer::device() const { return recorder_->device; }

}  // namespace tilegpu
