// device/command_execute.cpp -- stage: recording, secondary command buffers. In: executable secondaries. Out: their draws in the open
// pass, or a command that names them. Source: Vulkan specification, "Secondary Command Buffer Execution".
#include <algorithm>
#include <utility>

#include "device/binding_tables.hpp"
#include "device/feedback_loops.hpp"
#include "device/join.hpp"
#include "device/recorder.hpp"
#include "device/transform_feedback_targets.hpp"
#include "records/records.hpp"

namespace tilegpu {

using device::invalid;
using device::pass_name;
using device::Recorder;

namespace {

// What the part reads and writes; where it reads what was drawn before a barrier, another pass goes on with it.
Status note_part(Recorder& r, const command::Pass& part) {
  framebuffer::Feedback& f = r.open->feedback;
  if (r.inherits) {  // a part of a part: the pass that executes both knows what they read
    const bool reads = std::any_of(part.bound.begin(), part.bound.end(), [](const command::Bound& bound) { return bound.sets != nullptr; });
    if (reads && f.before_barrier && device::may_divide(r)) {
      if (Status ok = device::split_pass(r, "a secondary command buffer"); !ok) return ok;
      return note_part(r, part);
    }
    f.read_behind |= part.feedback.read_behind | (reads ? f.before_barrier : 0);
    f.has_barrier |= part.feedback.has_barrier;
    if (Status ok = device::note_part(r.device->state(), *r.open, part); !ok) return ok;
    device::note_barriers(*r.open, part);
    return Ok{};
  }
  const uint32_t looped = std::exchange(f.looped, 0), loops = f.loops;
  f.read_behind = 0;
  if (Status ok = device::note_part(r.device->state(), *r.open, part); !ok) return ok;
  f.loops = loops;  // the next draw's here, as before
  auto splits = device::wants_split(*r.open, part);
  if (!splits) return splits.error();
  f.looped |= looped;
  if (!*splits) {
    device::note_barriers(*r.open, part);
    return Ok{};
  }
  if (Status ok = device::split_pass(r, "a secondary command buffer"); !ok) return ok;
  return note_part(r, part);
}

// Of the part's commands: that they fit the pass, which may be another than before.
Status check_draws(Recorder& r, const command::Pass& part) {
  command::Pass& pass = *r.open;
  if (Status ok = device::note_transform_feedback(pass, part); !ok) return ok;
  for (const command::ClearCall& clear : part.clears)
    if (Status ok = device::forbid(r, device::check_clear(pass, clear, r.inherits)); !ok) return ok;
  if (pass.commands.size() + part.commands.size() > command::kMaxExecuted)
    return invalid(pass_name(pass) + ": execute_commands of a secondary command buffer ('" + part.info.label + "'): more than " +
                   std::to_string(command::kMaxExecuted) + " commands in one pass");
  if (pass.executed_draws + part.executed_draws > records::kDrawMask)
    return invalid(pass_name(pass) + ": execute_commands of a secondary command buffer ('" + part.info.label + "'): more than " +
                   std::to_string(records::kDrawMask) + " draws in one pass");
  for (size_t i = 0; i < part.states.size(); i++)
    if (Status ok = device::prepare_deferral(r, pass, part.states[i]); !ok) return ok;
  return Ok{};
}

// That a part fits the open pass: what pipelines were made for, queries, images, the number of draws.
Status check_part(Recorder& r, const command::Recording& secondary) {
  command::Pass& pass = *r.open;
  const command::Pass& part = *secondary.part;
  const std::string who = pass_name(pass) + ": execute_commands of a secondary command buffer ('" + part.info.label + "'): ";
  if (device::rasterizes(part))
    if (Status ok = device::adopt_samples(r, part.samples); !ok) return ok;
  const bool any_samples = !device::rasterizes(part) && part.targets.empty();
  if (Status ok = device::check_part_targets(r, pass, part); !ok) return ok;
  if (part.samples != pass.samples && !any_samples)
    return invalid(who + "its inheritance info has other formats or samples than the pass; they must be the same");
  if (part.info.view_mask != pass.info.view_mask)
    return invalid(who + "its inheritance info has view mask " + std::to_string(part.info.view_mask) + ", the pass has " +
                   std::to_string(pass.info.view_mask) + "; they must be the same");
  if (Status ok = note_part(r, part); !ok) return ok;
  return check_draws(r, part);
}

// What is active here goes on in the secondary, which says that it may. Of each kind there is one at a time: a second one would end the
// first. What only may be active where this is executed itself is looked at there: see note_activity.
Status check_active(const Recorder& r, const command::Recording& secondary) {
  const std::string who = (r.open ? pass_name(*r.open) + ": " : std::string()) + "execute_commands of a secondary command buffer" +
                          (secondary.part ? " ('" + secondary.part->info.label + "')" : "") + ": ";
  const auto check = [&](bool active, bool said, bool begins, const char* what, const char* field) -> Status {
    if (!active) return Ok{};
    if (begins) return invalid(who + what + " is active, and the secondary begins one of its own");
    const char* nested = secondary.nesting ? ", or that of one that it executes does not" : "";
    return said ? Status(Ok{}) : invalid(who + what + " is active, and its inheritance info does not say " + field + nested);
  };
  const InheritedActivity& there = secondary.active;
  const bool in_query = r.active_query >= 0 || r.outer_query;
  if (Status ok = check(in_query, there.occlusion_query, secondary.begins_occlusion, "an occlusion query", "occlusion_query"); !ok)
    return ok;
  if (Status ok = check(r.condition.has_value(), there.conditional_rendering, secondary.begins_condition, "conditional rendering",
                        "conditional_rendering");
      !ok)
    return ok;
  VkQueryPipelineStatisticFlags statistics = 0;
  for (const command::ActiveQuery& query : r.outer_counting) statistics |= query.pool->statistics;
  for (const uint32_t i : r.counting) statistics |= r.open->counting[i].pool->statistics;
  // Two of one type count both; Vulkan has one of each.
  const auto begins_one_of = [&](uint32_t active) {
    const QueryType type = r.open->counting[active].pool->type;
    const auto same = [&](const command::ActiveQuery& query) { return query.pool->type == type; };
    return std::any_of(secondary.part->counting.begin(), secondary.part->counting.end(), same);
  };
  if (secondary.part && std::any_of(r.counting.begin(), r.counting.end(), begins_one_of))
    if (Status ok = forbid(r, check(true, true, true, "a query of what stages do", "")); !ok) return ok;
  const bool lacks = (statistics & ~there.pipeline_statistics) != 0;
  return check(lacks, false, false, "a query of pipeline statistics", "pipeline_statistics with all that it counts");
}

// What may be active around this may be so around all that it executes, or must not be active around this.
void note_activity(Recorder& r, const command::Recording& executed) {
  InheritedActivity& here = r.making->active;
  here.occlusion_query &= executed.active.occlusion_query;
  here.conditional_rendering &= executed.active.conditional_rendering;
  here.pipeline_statistics &= executed.active.pipeline_statistics;
  r.making->begins_condition |= executed.begins_condition, r.making->begins_occlusion |= executed.begins_occlusion;
}

// Passes of the secondary, and of those that it executes, under a condition that is active here: an error where one writes it, as where the
// pass were recorded here. A condition of their own they were asked of when it began.
Status check_condition(const command::Recording& executed, const command::Condition& condition) {
  for (const command::Command& command : executed.commands) {
    if (const auto* pass = std::get_if<Ptr<const command::Pass>>(&command)) {
      framebuffer::Feedback feedback = (*pass)->feedback;
      if (Status ok = device::note_condition(feedback, condition); !ok) return ok;
    }
    if (const auto* call = std::get_if<command::ExecuteCommands>(&command))
      if (Status ok = check_condition(*call->recording, condition); !ok) return ok;
  }
  return Ok{};
}

Status check_secondary(Recorder& r, const CommandBuffer* secondary) {
  if (!secondary) return invalid("execute_commands: a command buffer is null");
  if (secondary->level() != VK_COMMAND_BUFFER_LEVEL_SECONDARY)
    return invalid("execute_commands: a command buffer is primary; only secondary ones are executed by others");
  if (secondary->state() != CommandBufferState::executable)
    return invalid("execute_commands: a secondary command buffer is not executable; call end first");
  if (secondary->device() != r.device) return invalid("execute_commands: a secondary command buffer belongs to another device");
  const command::Recording& recording = *secondary->recording();
  if (r.open && !recording.part)
    return invalid(pass_name(*r.open) + ": execute_commands of a secondary command buffer that was begun without inheritance info");
  if (!r.open && recording.part)
    return invalid("execute_commands: a secondary command buffer was begun with inheritance info, but no pass is open");
  if (r.transform_feedback >= 0)
    return invalid("execute_commands: transform feedback is active; end it before, or begin it in the secondary command buffer");
  return Ok{};
}

// Of secondaries that execute others.
Status note_nesting(Recorder& r, const command::Recording& executed) {
  r.making->executed += executed.commands.size() + executed.executed;
  if (r.making->executed > command::kMaxExecuted)
    return invalid("execute_commands: more than " + std::to_string(command::kMaxExecuted) +
                   " commands of secondary command buffers, those that these execute counted");
  if (r.level == VK_COMMAND_BUFFER_LEVEL_PRIMARY) return Ok{};
  uint32_t& nesting = r.making->nesting;
  nesting = std::max(nesting, executed.nesting + 1);
  if (nesting <= command::kMaxNesting) return Ok{};
  return invalid("execute_commands: a secondary command buffer executes others that do so to " + std::to_string(executed.nesting) +
                 " levels; maxCommandBufferNestingLevel is " + std::to_string(command::kMaxNesting));
}

}  // namespace

Status CommandBuffer::execute_commands(const std::vector<Ptr<CommandBuffer>>& secondaries) {
  return device::record(*recorder_, "execute_commands", [&]() -> Status {
    Recorder& r = *recorder_;
    if (Status ok = device::require_recording(r, "execute_commands"); !ok) return ok;
    for (const Ptr<CommandBuffer>& secondary : secondaries) {
      if (Status ok = check_secondary(r, secondary.get()); !ok) return ok;
      for (Ptr<const command::Recording> piece = secondary->recording(); piece; piece = piece->behind) {
        if (Status ok = check_active(r, *piece); !ok) return ok;
        if (r.open)
          if (Status ok = check_part(r, *piece); !ok) return ok;
        if (!r.open && r.condition)
          if (Status ok = check_condition(*piece, *r.condition); !ok) return ok;
        if (Status ok = note_nesting(r, *piece); !ok) return ok;
        note_activity(r, *piece);
        if (!r.open) {
          r.making->commands.emplace_back(command::ExecuteCommands{piece, r.condition});
          continue;
        }
        auto refits = device::refit_states(r, *r.open, *piece->part);
        if (!refits) return refits.error();
        device::join_secondary(*r.open, piece, r.active_query, *refits);
      }
    }
    r.state_dirty = true;  // the pass's newest state may be another's
    return Ok{};
  });
}

}  // namespace tilegpu
