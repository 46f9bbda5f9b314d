// device/feedback_loops.cpp -- see feedback_loops.hpp.
#include "device/feedback_loops.hpp"

#include <algorithm>
#include <bit>

#include "framebuffer/framebuffer.hpp"

namespace tilegpu {

using device::invalid;
using device::pass_name;
using device::Recorder;

namespace {

VkImageAspectFlags loops_of(const Recorder& r) {
  const GraphicsPipelineCreateInfo& info = r.dynamic.pipeline()->info();
  return info.feedback_loop_dynamic ? r.feedback_loops : info.feedback_loops;
}

/// Of a secondary's draw, whose pass is not known.
bool may_read_behind(const Recorder& r) { return r.open->feedback.before_barrier && r.dynamic.pipeline()->program().reads_sets(); }

bool has_late(const command::BoundSets* sets) {
  return sets && std::any_of(sets->late.begin(), sets->late.end(), [](const auto& set) { return set != nullptr; });
}

/// A secondary's part ends, and another one begins with all that was set: what executes both may divide its pass there. Parts are what
/// captures and plans know, so that nothing below learns of it.
Status divide_part(Recorder& r) {
  assert(r.inherits && r.open);
  const std::optional<command::Condition> condition = r.condition;
  const bool condition_in_pass = r.condition_in_pass;
  if (condition) device::end_condition(r);
  auto part = std::make_unique<command::Pass>();
  const command::Pass& first = *r.open;
  part->info.label = first.info.label, part->info.view_mask = first.info.view_mask;
  part->targets = first.targets, part->samples = first.samples;
  part->width_px = first.width_px, part->height_px = first.height_px, part->render_area = first.render_area;
  auto next = std::make_shared<command::Recording>();
  next->device = r.device, next->level = r.level, next->active = r.making->active;
  r.making->part = std::move(r.open);
  r.making->behind = next;
  if (!r.begun) r.begun = r.making;
  r.making = std::move(next), r.open = std::move(part);
  r.noted_uses.clear();
  r.drawn = nullptr;
  r.state_dirty = r.push_dirty = r.sets.dirty = true;
  r.condition = condition, r.condition_in_pass = condition_in_pass;
  return condition ? device::begin_condition(r) : Status(Ok{});
}

Status check_split(const Recorder& r, const std::string& reader) {
  const command::Pass& pass = *r.open;
  const auto cant = [&](const char* why) {
    return invalid(pass_name(pass) + ": " + reader + " reads what was drawn before a barrier, so that the pass must be split there, and " +
                   why);
  };
  if (r.transform_feedback >= 0) return cant("transform feedback is active; end it before the barrier");
  if (pass.info.flags) return cant("it is suspended or resumed; begin a pass in one piece");
  if (const char* why = device::never_splits(pass.info)) return cant(why);
  return Ok{};
}

void store(RenderingAttachment& a, bool written) {
  if (!a.view) return;
  if (written || a.store_op != VK_ATTACHMENT_STORE_OP_NONE) a.store_op = VK_ATTACHMENT_STORE_OP_STORE;
  a.resolve_mode = VK_RESOLVE_MODE_NONE, a.resolve_view = nullptr;
}

void load(RenderingAttachment& a, bool written) {
  if (a.view && (written || a.load_op != VK_ATTACHMENT_LOAD_OP_NONE_EXT)) a.load_op = VK_ATTACHMENT_LOAD_OP_LOAD;
}

template <class Change>
void each_attachment(RenderingInfo& info, uint32_t written, const Change& change) {
  const auto bit = [&](VkImageAspectFlags aspect) { return (written & framebuffer::targets_of_aspects(aspect)) != 0; };
  for (size_t i = 0; i < info.color.size(); ++i) change(info.color[i], (written >> i & 1) != 0);
  change(info.depth, bit(VK_IMAGE_ASPECT_DEPTH_BIT));
  change(info.stencil, bit(VK_IMAGE_ASPECT_STENCIL_BIT));
}

/// A query that is active goes on: it is reset before the first part, each adds to it, and it is available when it ends.
void go_on(Recorder& r, command::ActiveQuery& query, uint32_t views) {
  if (query.outer) return;
  query.outer = true;
  for (uint32_t v = 0; v < views; ++v) r.making->commands.emplace_back(command::BeginQuery{query.pool, query.query + v, query.stream});
}

}  // namespace

namespace device {

const char* never_splits(const RenderingInfo& info) {
  if (info.single_sampled_samples)
    return "it renders with several samples to images of one, which can't keep them; give attachments of several samples";
  const auto has_pieces = [](const RenderingAttachment& a) { return a.pieces.has_value(); };
  if (std::any_of(info.color.begin(), info.color.end(), has_pieces) || has_pieces(info.depth) || has_pieces(info.stencil))
    return "its pieces are given one by one; end it there";
  return nullptr;
}

void store_all(RenderingInfo& info, uint32_t written) { each_attachment(info, written, store); }

void load_all(RenderingInfo& info, uint32_t written) { each_attachment(info, written, load); }

void begin_loops(Recorder& r) {
  assert(r.open && r.dynamic.pipeline());
  framebuffer::Feedback& f = r.open->feedback;
  f.loops = framebuffer::targets_of_aspects(loops_of(r));
  if (!r.inherits) f.read_behind = 0;
  if (r.inherits && may_read_behind(r) && !may_divide(r)) f.read_behind |= f.before_barrier;  // what it reads the pass will know
}

bool may_divide(const Recorder& r) {
  assert(r.inherits);
  return r.active_query < 0 && r.counting.empty() && r.transform_feedback < 0;
}

bool wants_split(const Recorder& r, const command::BoundSets* sets) {
  const framebuffer::Feedback& f = r.open->feedback;
  if (r.inherits) return may_read_behind(r) && may_divide(r);  // the pass that executes it knows whether it is needed
  return f.read_behind || (f.before_barrier & f.loops && has_late(sets));
}

Status split_pass(Recorder& r, const std::string& reader) {
  assert(r.open);
  if (r.inherits) return divide_part(r);
  if (Status ok = check_split(r, reader); !ok) return ok;
  command::Pass& first = *r.open;
  const bool goes_on = !first.behind_barrier.empty();
  RenderingInfo second = first.info;
  load_all(second, first.feedback.written);  // and ends as the pass was to end
  store_all(first.info, first.feedback.written);
  auto stored = framebuffer::make_framebuffer(first.info, r.device->state().info.profile);
  if (!stored) return stored.error();
  first.framebuffer = std::move(*stored);

  const uint32_t views = std::max(1, std::popcount(first.info.view_mask));
  std::optional<command::ActiveQuery> occlusion;
  std::vector<command::ActiveQuery> counting;
  if (r.active_query >= 0 && !r.outer_query) {
    command::ActiveQuery& query = first.queries[static_cast<size_t>(r.active_query)];
    go_on(r, query, views), occlusion = query;
  }
  for (const uint32_t i : r.counting) go_on(r, first.counting[i], views), counting.push_back(first.counting[i]);
  if (r.condition) end_condition(r);
  const std::optional<command::Condition> condition = r.condition;
  const bool condition_in_pass = r.condition_in_pass;
  r.making->commands.emplace_back(Ptr<const command::Pass>(std::move(r.open)));
  r.condition.reset();
  if (Status ok = open_pass(r, second, false); !ok) return ok;
  r.open->behind_barrier = reader;
  if (!goes_on) r.open->info.label += " (behind a barrier)";
  if (occlusion) r.active_query = static_cast<int32_t>(r.open->queries.size()), r.open->queries.push_back(*occlusion);
  for (const command::ActiveQuery& query : counting) {
    const auto number = static_cast<uint32_t>(r.open->counting.size());
    r.open->commands.push_back({command::RecordedCommand::Kind::begin_counting, number});
    r.counting.push_back(number);
    r.open->counting.push_back(query);
  }
  r.condition = condition, r.condition_in_pass = condition_in_pass;
  return r.condition ? begin_condition(r) : Status(Ok{});
}

Status allow_loops(const DeviceState& device, framebuffer::Feedback& feedback, Status noted) {
  if (noted || !framebuffer::are_loops(feedback)) return noted;
  if (Status ok = forbid(device, std::move(noted)); !ok) return ok;
  framebuffer::allow_loops(feedback);
  return Ok{};
}

Expected<bool> wants_split(const command::Pass& pass, const command::Pass& part) {
  if (const uint32_t within = pass.feedback.looped & part.feedback.read_behind)
    return invalid(pass_name(pass) +
                   ": a secondary command buffer has a barrier between draws of one query or transform feedback, and reads " +
                   framebuffer::target_name(static_cast<uint32_t>(std::countr_zero(within))) +
                   " of this pass behind it; end these before the barrier, or begin them in the primary command buffer");
  return pass.feedback.read_behind != 0;
}

void note_barriers(command::Pass& pass, const command::Pass& part) {
  framebuffer::Feedback& f = pass.feedback;
  if (part.feedback.has_barrier) f.before_barrier |= f.written;  // more than what was before it, perhaps
}

}  // namespace device

void CommandBuffer::pipeline_barrier() {
  // Commands of a queue are executed one after the other, each finished before the next starts. Draws of a pass are not.
  Recorder& r = device::recorder_for(*recorder_, "pipeline_barrier");
  if (!r.open) return;
  framebuffer::Feedback& f = r.open->feedback;
  f.has_barrier = true;
  if (!(f.written & ~f.before_barrier)) return;
  f.before_barrier |= f.written;
  r.sets.dirty = true;  // what the next draw reads is noted anew
  r.noted_uses.clear();
}

void CommandBuffer::set_attachment_feedback_loop_enable(VkImageAspectFlags aspects) {
  Recorder& r = device::recorder_for(*recorder_, "set_attachment_feedback_loop_enable");
  if (r.feedback_loops == aspects) return;
  r.feedback_loops = aspects;
  r.sets.dirty = true;
  r.noted_uses.clear();
}

}  // namespace tilegpu
