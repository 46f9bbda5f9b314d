// device/command_pass.cpp -- stage: recording, begin and end of passes, clears inside them. In: RenderingInfo. Out: passes with their
// framebuffers. Source: Vulkan specification, "Render Pass" (dynamic rendering), "Clear Commands".
#include <bit>
#include <utility>

#include "device/recorder.hpp"
#include "framebuffer/framebuffer.hpp"

namespace tilegpu {

using device::intersect;
using device::invalid;
using device::pass_name;
using device::Recorder;

namespace {

VkFormat format_of(const RenderingAttachment& a) {
  if (!a.view) return VK_FORMAT_UNDEFINED;
  return a.view->info().format != VK_FORMAT_UNDEFINED ? a.view->info().format : a.view->image()->info().format;
}

command::Targets targets_of(const RenderingInfo& info) {
  command::Targets targets;
  for (const RenderingAttachment& a : info.color) targets.color.push_back(format_of(a));
  targets.depth = format_of(info.depth);
  targets.stencil = format_of(info.stencil);
  return targets;
}

Status begin_pass(Recorder& r, const RenderingInfo& info) {
  if (Status ok = device::require_recording(r, "begin_rendering"); !ok) return ok;
  if (r.open)
    return invalid("begin_rendering of pass '" + info.label + "': " + pass_name(*r.open) + " is still open; call end_rendering first");
  auto pass = std::make_unique<command::Pass>();
  pass->info = info;
  if (info.view_mask) pass->info.layer_count = static_cast<uint32_t>(std::bit_width(info.view_mask));
  pass->targets = targets_of(info);
  auto framebuffer = framebuffer::make_framebuffer(pass->info, r.device->state().info.profile);
  if (!framebuffer) return framebuffer.error();
  pass->framebuffer = std::move(*framebuffer);
  pass->feedback = framebuffer::begin_feedback(pass->info);
  const framebuffer::Layout& layout = pass->framebuffer.layout;
  pass->width_px = layout.width_px;
  pass->height_px = layout.height_px;
  pass->samples = layout.sample_count;
  const auto& area = layout.render_area_px;
  pass->render_area = {{area.min_x, area.min_y},
                       {static_cast<uint32_t>(area.max_x - area.min_x + 1), static_cast<uint32_t>(area.max_y - area.min_y + 1)}};
  r.open = std::move(pass);
  r.noted_uses.clear();
  r.state_dirty = r.push_dirty = r.sets.dirty = true;
  r.active_query = r.transform_feedback = -1;
  if (r.outer_query) r.open->queries.push_back(*r.outer_query), r.active_query = 0;
  r.counting.clear();
  for (const command::ActiveQuery& query : r.outer_counting) {
    r.open->commands.push_back({command::RecordedCommand::Kind::begin_counting, static_cast<uint32_t>(r.open->counting.size())});
    r.open->counting.push_back(query);
  }
  return r.condition ? device::begin_condition(r) : Status(Ok{});
}

Status end_pass(Recorder& r) {
  if (!r.open) return invalid("end_rendering: no pass is open");
  if (r.inherits) return invalid("end_rendering: " + pass_name(*r.open) + " was not begun here; end the command buffer");
  if ((r.active_query >= 0 && !r.outer_query) || !r.counting.empty())
    return invalid(pass_name(*r.open) + ": end_rendering while a query is active; call end_query first");
  if (r.transform_feedback >= 0)
    return invalid(pass_name(*r.open) + ": end_rendering while transform feedback is active; call end_transform_feedback first");
  if (r.condition && r.condition_in_pass)
    return invalid(pass_name(*r.open) + ": end_rendering while conditional rendering is active; call end_conditional_rendering first");
  if (r.condition) device::end_condition(r);
  r.making->commands.emplace_back(Ptr<const command::Pass>(std::move(r.open)));
  r.active_query = -1;
  return Ok{};
}

Status clear_in_pass(Recorder& r, int attachment, VkImageAspectFlags aspects, const VkClearValue& value, const VkRect2D& rect,
                     uint32_t base_layer, uint32_t layer_count) {
  if (!r.open) return invalid("clear_attachment: no pass is open");
  command::Pass& pass = *r.open;
  const int colors = static_cast<int>(pass.targets.color.size());
  if (attachment >= colors || (attachment >= 0 && pass.targets.color[attachment] == VK_FORMAT_UNDEFINED))
    return invalid(pass_name(pass) + ": clear_attachment " + std::to_string(attachment) + ": the pass has " + std::to_string(colors) +
                   " colour attachments");
  if (attachment < 0 && (aspects & VK_IMAGE_ASPECT_DEPTH_BIT) && pass.targets.depth == VK_FORMAT_UNDEFINED)
    return invalid(pass_name(pass) + ": clear_attachment of depth: the pass has no depth attachment");
  if (attachment < 0 && (aspects & VK_IMAGE_ASPECT_STENCIL_BIT) && pass.targets.stencil == VK_FORMAT_UNDEFINED)
    return invalid(pass_name(pass) + ": clear_attachment of stencil: the pass has no stencil attachment");
  const uint32_t depth_stencil = (aspects & VK_IMAGE_ASPECT_DEPTH_BIT ? 1u << shader::kInputDepth : 0) |
                                 (aspects & VK_IMAGE_ASPECT_STENCIL_BIT ? 1u << shader::kInputStencil : 0);
  if (Status ok = framebuffer::note_written(pass.feedback, attachment >= 0 ? 1u << attachment : depth_stencil, "clear_attachment"); !ok)
    return ok;
  command::ClearCall clear{attachment, aspects, value, intersect(rect, pass.render_area), base_layer, layer_count};
  pass.commands.push_back({command::RecordedCommand::Kind::clear, static_cast<uint32_t>(pass.clears.size())});
  pass.clears.push_back(clear);
  return Ok{};
}

}  // namespace

namespace device {

Status adopt_samples(Recorder& r, uint32_t samples) {
  assert(r.open);
  command::Pass& pass = *r.open;
  if (pass.samples == samples || !pass.states.empty() || !pass.executed.empty() || pass.info.single_sampled_samples ||
      !pass.targets.empty())
    return Ok{};
  if (!r.inherits) {
    RenderingInfo info = pass.info;
    info.single_sampled_samples = samples;
    auto framebuffer = framebuffer::make_framebuffer(info, r.device->state().info.profile);
    if (!framebuffer) return framebuffer.error();
    pass.framebuffer = std::move(*framebuffer);
    pass.info = std::move(info);
  }
  pass.samples = samples;
  return Ok{};
}

}  // namespace device

Status CommandBuffer::begin_rendering(const RenderingInfo& info) {
  return device::record(*recorder_, "begin_rendering", [&] { return begin_pass(*recorder_, info); });
}

Status CommandBuffer::end_rendering() {
  return device::record(*recorder_, "end_rendering", [&] { return end_pass(*recorder_); });
}

void CommandBuffer::discard_rendering() {
  if (recorder_->inherits) return;  // a part is dropped with its command buffer: reset()
  recorder_->open.reset();
  recorder_->active_query = -1;
  if (recorder_->condition_in_pass) recorder_->condition.reset();
}

Status CommandBuffer::clear_attachment(int attachment, VkImageAspectFlags aspects, const VkClearValue& value, const VkRect2D& rect,
                                       uint32_t base_layer, uint32_t layer_count) {
  return device::record(*recorder_, "clear_attachment",
                        [&] { return clear_in_pass(*recorder_, attachment, aspects, value, rect, base_layer, layer_count); });
}

}  // namespace tilegpu
