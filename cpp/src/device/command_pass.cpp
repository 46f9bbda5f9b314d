// device/command_pass.cpp -- stage: recording, begin and end of passes, clears inside them. In: RenderingInfo. Out: passes with their
// framebuffers. Source: Vulkan specification, "Render Pass" (dynamic rendering), "Clear Commands".
#include <algorithm>
#include <bit>
#include <utility>

#include "base/field_error.hpp"
#include "base/replaying.hpp"
#include "device/feedback_loops.hpp"
#include "device/recorder.hpp"
#include "device/undefined_reads.hpp"
#include "framebuffer/framebuffer.hpp"
#include "framebuffer/make_in_place.hpp"
#include "framebuffer/rendering_checks.hpp"
#include "vk/format.hpp"

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

/// Operations that say of the attachment's own view what the pieces leave of it.
void settle_operations(RenderingAttachment& a) {
  if (!a.pieces) return;
  a.load_op = a.pieces->load == TileLoad::clear ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  a.store_op = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  a.resolve_mode = VK_RESOLVE_MODE_NONE;
  a.resolve_view = nullptr;
}

/// Of a device whose depths are unrestricted: hidden-surface removal orders words of 0..1, so that such a pass has none.
void allow_depth(const Recorder& r, RenderingInfo& info) {
  const VkFormat format = format_of(info.depth);
  if (!Replaying::now()) info.unrestricted_depth = device::is_unrestricted(r, format);
  if (info.unrestricted_depth) info.hsr = HiddenSurfaceRemoval{.visibility_buffer = false, .hierarchical_z = false};
  float& depth = info.depth.clear.depthStencil.depth;
  depth = device::clear_depth(r, format, depth);
}

}  // namespace

bool device::is_unrestricted(const Recorder& r, VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  return r.device->state().info.unrestricted_depth && info && info->depth_bits == 32;
}

float device::clear_depth(const Recorder& r, VkFormat format, float depth) {
  if (device::is_unrestricted(r, format) || Replaying::now()) return depth;  // what is repeated was limited when it was recorded
  return depth > 0 ? std::min(depth, 1.0f) : 0.0f;
}

Status device::open_pass(Recorder& r, const RenderingInfo& info, bool checked) {
  assert(!r.open && r.making);
  auto pass = std::make_unique<command::Pass>();
  pass->info = info;
  allow_depth(r, pass->info);
  for (RenderingAttachment& a : pass->info.color) settle_operations(a);
  settle_operations(pass->info.depth), settle_operations(pass->info.stencil);
  if (info.view_mask) pass->info.layer_count = static_cast<uint32_t>(std::bit_width(info.view_mask));
  pass->targets = targets_of(info);
  if (Status ok = framebuffer::make_in_place(pass->info, r.device->state().info.profile, pass->framebuffer); !ok) return ok;
  if (checked)
    if (Status ok = device::forbid(r, framebuffer::forbidden_of(pass->info)); !ok) return ok;
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

namespace {

Status begin_pass(Recorder& r, const RenderingInfo& info) {
  if (Status ok = device::require_recording(r, "begin_rendering"); !ok) return ok;
  if (r.open)
    return invalid("begin_rendering of pass '" + info.label + "': " + pass_name(*r.open) + " is still open; call end_rendering first");
  return device::open_pass(r, info, true);
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
  for (command::EndQuery& query : r.ended_queries) r.making->commands.emplace_back(std::move(query));
  r.ended_queries.clear();
  r.active_query = -1;
  return Ok{};
}

std::string rect_text(const VkRect2D& rect) {
  return std::to_string(rect.extent.width) + "x" + std::to_string(rect.extent.height) + " px at (" + std::to_string(rect.offset.x) + ", " +
         std::to_string(rect.offset.y) + ")";
}

/// kWholeRenderArea, or what is left of it in a part of a pass.
bool is_whole(const VkRect2D& rect) {
  return rect.offset.x == 0 && rect.offset.y == 0 && rect.extent.width >= kMaxFramebufferSize_px &&
         rect.extent.height >= kMaxFramebufferSize_px;
}

Status clear_in_pass(Recorder& r, const command::ClearCall& asked) {
  if (!r.open) return invalid("clear_attachment: no pass is open");
  const int attachment = asked.attachment;
  const VkImageAspectFlags aspects = asked.aspects;
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
  Status noted = framebuffer::note_written(pass.feedback, attachment >= 0 ? 1u << attachment : depth_stencil, "clear_attachment");
  if (Status ok = device::allow_loops(r.device->state(), pass.feedback, std::move(noted)); !ok) return ok;
  if (Status ok = device::forbid(r, device::check_clear(pass, asked, r.inherits)); !ok) return ok;
  command::ClearCall clear = asked;
  clear.rect = intersect(asked.rect, pass.render_area);
  if (attachment < 0) clear.value.depthStencil.depth = device::clear_depth(r, pass.targets.depth, asked.value.depthStencil.depth);
  pass.commands.push_back({command::RecordedCommand::Kind::clear, static_cast<uint32_t>(pass.clears.size())});
  pass.clears.push_back(clear);
  return Ok{};
}

}  // namespace

namespace device {

Status check_clear(const command::Pass& pass, const command::ClearCall& clear, bool is_part) {
  const VkRect2D& rect = clear.rect;
  // Of a window the larger framebuffer's: what lies beyond the window is another window's.
  const framebuffer::Layout& layout = pass.framebuffer.layout;
  const VkRect2D area = layout.is_window() ? VkRect2D{{0, 0}, {layout.width_px, layout.height_px}} : pass.render_area;
  const uint32_t base_layer = clear.base_layer, layer_count = clear.layer_count;
  if (!is_whole(rect)) {
    const int64_t end_x = int64_t{rect.offset.x} + rect.extent.width, end_y = int64_t{rect.offset.y} + rect.extent.height;
    const bool inside = rect.offset.x >= area.offset.x && rect.offset.y >= area.offset.y &&
                        end_x <= int64_t{area.offset.x} + area.extent.width && end_y <= int64_t{area.offset.y} + area.extent.height;
    if (!inside || rect.extent.width == 0 || rect.extent.height == 0)
      return field_error(pass_name(pass), "rect of clear_attachment", rect_text(rect),
                         "at least 1x1 px within the render area, " + rect_text(area), "cut it with the area");
  }
  if (is_part) return layer_count ? Status(Ok{}) : field_error(pass_name(pass), "layers of clear_attachment", "0", "1 or more", "");
  const uint64_t end = layer_count == VK_REMAINING_ARRAY_LAYERS ? uint64_t{base_layer} + 1 : uint64_t{base_layer} + layer_count;
  if (layer_count == 0 || end > pass.info.layer_count)
    return field_error(
        pass_name(pass), "layers of clear_attachment",
        (layer_count == VK_REMAINING_ARRAY_LAYERS ? "all" : std::to_string(layer_count)) + " from " + std::to_string(base_layer),
        "at least one, of the pass's " + std::to_string(pass.info.layer_count), "");
  return Ok{};
}

bool rasterizes(const command::Pass& pass) {
  const auto draws = [](const command::DrawState& state) { return !state.rasterization.rasterizer_discard; };
  const auto executes = [](const command::ExecutedPart& part) { return rasterizes(*part.recording->part); };
  return std::any_of(pass.states.begin(), pass.states.end(), draws) || std::any_of(pass.executed.begin(), pass.executed.end(), executes);
}

Status adopt_samples(Recorder& r, uint32_t samples) {
  assert(r.open);
  command::Pass& pass = *r.open;
  if (pass.samples == samples || rasterizes(pass) || pass.info.single_sampled_samples || !pass.targets.empty()) return Ok{};
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

namespace {

/// Lines of all passes that ended in the recording.
std::vector<std::string> lines_of_passes(const Recorder& r, std::vector<std::string> (*of_pass)(const command::Pass&)) {
  std::vector<std::string> lines;
  const command::Recording* recording = r.making ? r.making.get() : r.ended.get();
  if (!recording) return lines;
  for (const command::Command& command : recording->commands)
    if (const auto* pass = std::get_if<Ptr<const command::Pass>>(&command))
      for (std::string& line : of_pass(**pass)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::vector<std::string> CommandBuffer::undefined_reads() const { return lines_of_passes(*recorder_, device::undefined_reads); }
std::vector<std::string> CommandBuffer::lost_primitives() const { return lines_of_passes(*recorder_, device::lost_primitives); }
std::vector<std::string> CommandBuffer::possible_feedback() const {
  return lines_of_passes(*recorder_, [](const command::Pass& pass) { return framebuffer::possible_feedback(pass.feedback); });
}

Status CommandBuffer::clear_attachment(int attachment, VkImageAspectFlags aspects, const VkClearValue& value, const VkRect2D& rect,
                                       uint32_t base_layer, uint32_t layer_count, bool of_load) {
  return device::record(*recorder_, "clear_attachment",
                        [&] { return clear_in_pass(*recorder_, {attachment, aspects, value, rect, base_layer, layer_count, of_load}); });
}

}  // namespace tilegpu
