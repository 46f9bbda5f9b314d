// device/join.cpp -- see join.hpp.
#include "device/join.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <unordered_map>

#include "device/binding_tables.hpp"
#include "device/feedback_loops.hpp"
#include "device/recorder.hpp"
#include "pipeline/create.hpp"
#include "records/records.hpp"

namespace tilegpu::device {

namespace {

using command::DrawCall;
using command::DrawState;
using command::Pass;
using command::RecordedCommand;

// How a piece's draws change on their way into a pass.
struct Fit {
  const DrawState* (*state)(Pass& pass, const Pass& piece, const DrawState& of_piece, const command::Bound& bound);
  int32_t active_query = -1;
  const Refits* refits = nullptr;  // of states whose targets the pass lacks; null: none
};

void refit(Pass& pass, const Refit& to) {
  DrawState& state = pass.states.back();
  state.resolved = to.resolved;
  pipeline::leave_out_tests(to.unused_aspects, state.depth_stencil);
  pass.bound.back().absent = to.absent;
  if (!to.resolved->coming.is_there()) pass.coming.push_back(to.resolved);
}

const DrawState* copied(Pass& pass, const Pass& piece, const DrawState& of_piece, const command::Bound& bound) {
  command::Bound& kept = pass.bound.emplace_back(bound);
  assert(bound.first_vertex_buffer + size_t{bound.vertex_buffers} <= piece.vertex_buffers.size());
  kept.first_vertex_buffer = static_cast<uint32_t>(pass.vertex_buffers.size());
  for (uint32_t i = 0; i < bound.vertex_buffers; i++) pass.vertex_buffers.push_back(piece.vertex_buffers[bound.first_vertex_buffer + i]);
  return &pass.states.emplace_back(of_piece);
}

// The pass's areas are known now.
const DrawState* fitted(Pass& pass, const Pass& piece, const DrawState& of_piece, const command::Bound& bound) {
  copied(pass, piece, of_piece, bound);
  DrawState& state = pass.states.back();
  state.scissor = intersect(state.scissor, pass.scissor_area());
  if (state.whole_viewport) state.viewport = viewport_of(pass);
  if (state.all) {
    command::Viewports all = *state.all;
    for (VkRect2D& scissor : all.scissor) scissor = intersect(scissor, pass.scissor_area());
    if (state.whole_viewport) all.viewport[0] = state.viewport;
    state.all = std::make_shared<const command::Viewports>(all);
  }
  return &state;
}

// Within the pass's area, of what the pass has: of nothing nothing is cleared.
void fit_clear(const Pass& pass, command::ClearCall& clear) {
  clear.rect = intersect(clear.rect, pass.render_area);
  if (pass.targets.depth == VK_FORMAT_UNDEFINED) clear.aspects &= ~VK_IMAGE_ASPECT_DEPTH_BIT;
  if (pass.targets.stencil == VK_FORMAT_UNDEFINED) clear.aspects &= ~VK_IMAGE_ASPECT_STENCIL_BIT;
  const auto color = static_cast<size_t>(std::max(clear.attachment, 0));
  const bool there =
      clear.attachment < 0 ? clear.aspects != 0 : color < pass.targets.color.size() && pass.targets.color[color] != VK_FORMAT_UNDEFINED;
  if (!there) clear.rect = {};
}

// The commands of a piece behind those of the pass; of its states those that commands use, once each.
void append(Pass& pass, const Pass& piece, const Fit& fit) {
  const int32_t first_query = static_cast<int32_t>(pass.queries.size());
  const auto first_feedback = static_cast<int32_t>(pass.transform_feedback.size());
  const auto first_counting = static_cast<uint32_t>(pass.counting.size()), first_condition = static_cast<uint32_t>(pass.conditions.size());
  const DrawState *from = nullptr, *to = nullptr;
  std::unordered_map<const DrawState*, size_t> places;  // of the piece's states
  std::vector<const DrawState*> of_place(piece.states.size());
  for (size_t i = 0; i < piece.states.size(); i++) places.emplace(&piece.states[i], i);
  const auto moved = [&](DrawCall draw) {
    assert(draw.state);
    if (draw.state != from) {
      from = draw.state;
      assert(places.count(from) && piece.bound.size() == piece.states.size());
      const size_t at = places.find(from)->second;
      if (!of_place[at]) {
        of_place[at] = fit.state(pass, piece, *from, piece.bound[at]);
        if (fit.refits && fit.refits->contains(at)) refit(pass, fit.refits->at(at));
      }
      to = of_place[at];
    }
    draw.state = to;
    draw.query = draw.query >= 0 ? first_query + draw.query : fit.active_query;
    if (draw.transform_feedback >= 0) draw.transform_feedback += first_feedback;
    return draw;
  };
  pass.commands.reserve(pass.commands.size() + piece.commands.size());
  for (const RecordedCommand& c : piece.commands) switch (c.kind) {
      case RecordedCommand::Kind::draw:
        pass.commands.push_back({c.kind, static_cast<uint32_t>(pass.draws.size())});
        pass.draws.push_back(moved(piece.draws[c.index]));
        break;
      case RecordedCommand::Kind::clear:
        pass.commands.push_back({c.kind, static_cast<uint32_t>(pass.clears.size())});
        pass.clears.push_back(piece.clears[c.index]);
        fit_clear(pass, pass.clears.back());
        break;
      case RecordedCommand::Kind::indirect: {
        command::IndirectDraw indirect = piece.indirects[c.index];
        indirect.base = moved(indirect.base);
        pass.commands.push_back({c.kind, static_cast<uint32_t>(pass.indirects.size())});
        pass.indirects.push_back(std::move(indirect));
        break;
      }
      case RecordedCommand::Kind::begin_counting:
      case RecordedCommand::Kind::end_counting:
        pass.commands.push_back({c.kind, first_counting + c.index});
        break;
      case RecordedCommand::Kind::begin_transform_feedback:
      case RecordedCommand::Kind::end_transform_feedback:
        pass.commands.push_back({c.kind, static_cast<uint32_t>(first_feedback) + c.index});
        break;
      case RecordedCommand::Kind::begin_condition:
      case RecordedCommand::Kind::end_condition:
        pass.commands.push_back({c.kind, first_condition + c.index});
    }
  pass.queries.insert(pass.queries.end(), piece.queries.begin(), piece.queries.end());
  pass.counting.insert(pass.counting.end(), piece.counting.begin(), piece.counting.end());
  pass.transform_feedback.insert(pass.transform_feedback.end(), piece.transform_feedback.begin(), piece.transform_feedback.end());
  pass.conditions.insert(pass.conditions.end(), piece.conditions.begin(), piece.conditions.end());
  pass.written_buffers.insert(piece.written_buffers.begin(), piece.written_buffers.end());
  pass.written_views.insert(piece.written_views.begin(), piece.written_views.end());
  pass.coming.insert(pass.coming.end(), piece.coming.begin(), piece.coming.end());
  pass.has_late_sets |= piece.has_late_sets;
  pass.uses_addresses |= piece.uses_addresses, pass.writes_addresses |= piece.writes_addresses;
  pass.executed_draws += piece.executed_draws;
}

bool equal(const AttachmentPieces& a, const AttachmentPieces& b) {
  return a.load == b.load && a.load_border == b.load_border && a.load_view == b.load_view && a.store_view == b.store_view &&
         a.store_always == b.store_always && a.store_mode == b.store_mode && a.resolve == b.resolve &&
         a.resolve_border == b.resolve_border && a.resolve_mode == b.resolve_mode && a.resolve_view == b.resolve_view;
}

bool equal(const RenderingAttachment& a, const RenderingAttachment& b) {
  if (a.pieces.has_value() != b.pieces.has_value() || (a.pieces && !equal(*a.pieces, *b.pieces))) return false;
  return a.view == b.view && a.load_op == b.load_op && a.store_op == b.store_op && a.resolve_mode == b.resolve_mode &&
         a.resolve_view == b.resolve_view && a.input_only == b.input_only && std::memcmp(&a.clear, &b.clear, sizeof a.clear) == 0;
}

bool has_attachments(const RenderingInfo& info) {
  const auto has_view = [](const RenderingAttachment& a) { return a.view != nullptr; };
  return has_view(info.depth) || has_view(info.stencil) || std::any_of(info.color.begin(), info.color.end(), has_view);
}

// What differs between two begin infos that must be the same but for their flags; null: nothing.
const char* difference(const RenderingInfo& a, const RenderingInfo& b) {
  if (std::memcmp(&a.render_area, &b.render_area, sizeof a.render_area) != 0) return "render_area";
  if (std::memcmp(&a.window, &b.window, sizeof a.window) != 0) return "window";
  if (std::memcmp(&a.framebuffer, &b.framebuffer, sizeof a.framebuffer) != 0) return "framebuffer";
  if (a.layer_count != b.layer_count) return "layer_count";
  if (a.view_mask != b.view_mask) return "view_mask";
  if (a.color.size() != b.color.size()) return "color";
  for (size_t i = 0; i < a.color.size(); i++)
    if (!equal(a.color[i], b.color[i])) return "color";
  if (!equal(a.depth, b.depth)) return "depth";
  if (!equal(a.stencil, b.stencil)) return "stencil";
  // Without attachments a part has its draws' samples, and none where nothing is drawn.
  const bool by_draws = !has_attachments(a) && (!a.single_sampled_samples || !b.single_sampled_samples);
  if (a.single_sampled_samples != b.single_sampled_samples && !by_draws) return "single_sampled_samples";
  if (a.desc.tiler_heap_B != b.desc.tiler_heap_B || a.desc.draws_a_part != b.desc.draws_a_part ||
      a.desc.transaction_elimination != b.desc.transaction_elimination || a.desc.hsr_prepass != b.desc.hsr_prepass)
    return "desc";
  if (a.hsr != b.hsr) return "hsr";
  if (a.trace_tiles != b.trace_tiles) return "trace_tiles";
  return nullptr;
}

const Ptr<const Pass>* pass_of(const command::Command* command) { return std::get_if<Ptr<const Pass>>(command); }

// A pass with the same areas and attachments, and no commands.
std::shared_ptr<Pass> begin_as(const Pass& begun) {
  auto pass = std::make_shared<Pass>();
  pass->info = begun.info;
  pass->targets = begun.targets;
  pass->framebuffer = begun.framebuffer;
  pass->width_px = begun.width_px, pass->height_px = begun.height_px, pass->samples = begun.samples;
  pass->render_area = begun.render_area;
  pass->feedback = begun.feedback;
  pass->behind_barrier = begun.behind_barrier;
  return pass;
}

// What began in the piece, or around it, and goes on at its end ends here: where it goes on in the next piece, that one begins it as well.
void end_counting(Pass& pass, const Pass& piece, size_t first_counting) {
  std::vector<uint32_t> active;
  for (const RecordedCommand& c : piece.commands) {
    if (c.kind == RecordedCommand::Kind::begin_counting) active.push_back(c.index);
    if (c.kind == RecordedCommand::Kind::end_counting) std::erase(active, c.index);
  }
  for (const uint32_t i : active) pass.commands.push_back({RecordedCommand::Kind::end_counting, static_cast<uint32_t>(first_counting + i)});
}

/// The parts of one pass, in order. One that nothing resumed, or that resumes nothing, is done all the same where that is tolerated.
struct Parts {
  std::vector<const command::Command*> steps;
  bool loads = false, stores = false;  // memory stands for what is missing before, or behind
};

// Without attachments it is the first that draws that has samples.
const Pass& begun_of(const Parts& parts) {
  assert(!parts.steps.empty() && pass_of(parts.steps.front()));
  const auto has_samples = [](const command::Command* part) { return (*pass_of(part))->info.single_sampled_samples != 0; };
  const auto first = std::find_if(parts.steps.begin(), parts.steps.end(), has_samples);
  return **pass_of(first == parts.steps.end() ? parts.steps.front() : *first);
}

// As it was begun and is to end, but for what memory stands for.
Status keep_in_memory(const DeviceState& device, const Parts& parts, Pass& pass) {
  if (!parts.loads && !parts.stores) return Ok{};
  if (const char* why = never_splits(pass.info))
    return invalid("submit: " + pass_name(pass) + " is suspended or resumed by itself, and " + why);
  constexpr uint32_t kAll = ~0u;  // what the missing parts wrote nobody knows
  if (parts.stores) store_all(pass.info, kAll);
  if (parts.loads) load_all(pass.info, kAll);
  auto framebuffer = framebuffer::make_framebuffer(pass.info, device.info.profile);
  if (!framebuffer) return framebuffer.error();
  pass.framebuffer = std::move(*framebuffer);
  return Ok{};
}

Expected<Ptr<const Pass>> join_parts(const DeviceState& device, const Parts& parts) {
  const Pass& begun = begun_of(parts);
  auto pass = begin_as(begun);
  pass->info.flags = 0;
  if (Status ok = keep_in_memory(device, parts, *pass); !ok) return ok.error();
  size_t draws = 0;
  for (const command::Command* step : parts.steps) {
    const Pass& part = **pass_of(step);
    draws += part.executed_draws;
    if (draws > records::kDrawMask)
      return invalid(pass_name(begun) + ": more than " + std::to_string(records::kDrawMask) + " draws in the parts of one pass");
    if (Status ok = framebuffer::note_part(pass->feedback, part.feedback); !ok) return ok.error();
    const size_t first_counting = pass->counting.size();
    append(*pass, part, {copied});
    end_counting(*pass, part, first_counting);
    pass->part_ends.push_back(pass->commands.size());
  }
  return Ptr<const Pass>(std::move(pass));
}

}  // namespace

namespace {

// Queries and the condition count and hold for the pass from its begin to its end, as if they had been begun before it.
Expected<Ptr<const Pass>> with_active(const Ptr<const Pass>& recorded, const ActiveAround& around) {
  assert(recorded && !around.empty());
  auto pass = begin_as(*recorded);
  int32_t active_query = -1;
  if (around.occlusion) active_query = 0, pass->queries.push_back(*around.occlusion);
  for (const command::ActiveQuery& query : around.counting) {
    pass->commands.push_back({RecordedCommand::Kind::begin_counting, static_cast<uint32_t>(pass->counting.size())});
    pass->counting.push_back(query);
  }
  if (around.condition) {
    if (Status ok = note_condition(pass->feedback, *around.condition); !ok) return ok.error();
    pass->commands.push_back({RecordedCommand::Kind::begin_condition, 0});
    pass->conditions.push_back(*around.condition);
  }
  append(*pass, *recorded, {copied, active_query});
  if (around.condition) pass->commands.push_back({RecordedCommand::Kind::end_condition, 0});
  pass->keep_alive.push_back(recorded);
  return Ptr<const Pass>(std::move(pass));
}

Status add_step(const command::Command& command, exec::Execution& execution, const ActiveAround& around) {
  const Ptr<const Pass>* pass = pass_of(&command);
  if (pass && !around.empty()) {
    auto active = with_active(*pass, around);
    if (!active) return active.error();
    execution.joined.emplace_back(std::move(*active));
  } else if (const auto* dispatch = std::get_if<Ptr<const command::Dispatch>>(&command); dispatch && around.condition) {
    auto conditional = std::make_shared<command::Dispatch>(**dispatch);
    conditional->condition = around.condition;
    execution.joined.emplace_back(Ptr<const command::Dispatch>(std::move(conditional)));
  } else {
    execution.steps.push_back(&command);
    return Ok{};
  }
  execution.steps.push_back(&execution.joined.back());
  return Ok{};
}

}  // namespace

Status add_steps(const command::Recording& recording, exec::Execution& execution, const ActiveAround& around) {
  ActiveAround active = around;  // and what is begun here, which the recording's own passes have
  const auto end = [&](const command::EndQuery& ended) {
    const auto same = [&](const command::ActiveQuery& query) { return query.pool == ended.pool && query.query == ended.query; };
    if (active.occlusion && same(*active.occlusion)) active.occlusion.reset();
    std::erase_if(active.counting, same);
  };
  for (const command::Command& command : recording.commands) {
    if (const auto* call = std::get_if<command::ExecuteCommands>(&command)) {
      active.condition = call->condition ? call->condition : around.condition;
      if (Status ok = add_steps(*call->recording, execution, active); !ok) return ok;
      continue;
    }
    if (const auto* begun = std::get_if<command::BeginQuery>(&command)) {
      const command::ActiveQuery query{begun->pool, begun->query, true, begun->stream};
      if (begun->pool->type == QueryType::occlusion)
        active.occlusion = query;
      else
        active.counting.push_back(query);
    }
    if (const auto* ended = std::get_if<command::EndQuery>(&command)) end(*ended);
    if (Status ok = add_step(command, execution, around); !ok) return ok;
  }
  return Ok{};
}

void join_secondary(Pass& pass, const Ptr<const command::Recording>& secondary, int32_t active_query, const Refits& refits) {
  assert(secondary->part);
  pass.executed.push_back({secondary, pass.commands.size(), pass.queries.size(), active_query});
  append(pass, *secondary->part, {fitted, active_query, &refits});
}

namespace {

// Null: its sets are those that it was recorded with.
Expected<Ptr<const command::Dispatch>> with_late_sets(device::DeviceState& device, const command::Dispatch& recorded) {
  if (!recorded.sets || !recorded.sets->late) return Ptr<const command::Dispatch>();
  auto sets = std::make_shared<command::ComputeSets>(*recorded.sets);
  if (Status ok = bind_late_sets(device, recorded.pipeline->program(), *sets); !ok) return ok.error();
  auto dispatch = std::make_shared<command::Dispatch>(recorded);
  dispatch->sets = std::move(sets);
  return Ptr<const command::Dispatch>(std::move(dispatch));
}

}  // namespace

Status take_late_sets(device::DeviceState& device, exec::Execution& execution) {
  for (const command::Command*& step : execution.steps) {
    if (const auto* dispatch = std::get_if<Ptr<const command::Dispatch>>(step)) {
      auto late = with_late_sets(device, **dispatch);
      if (!late) return late.error();
      if (!*late) continue;
      execution.joined.emplace_back(std::move(*late));
      step = &execution.joined.back();
      continue;
    }
    const Ptr<const Pass>* recorded = pass_of(step);
    if (!recorded || !(*recorded)->has_late_sets) continue;
    auto pass = begin_as(**recorded);
    append(*pass, **recorded, {copied});
    pass->keep_alive.push_back(*recorded);
    if (Status ok = bind_late_sets(device, *pass); !ok) return ok;
    execution.joined.emplace_back(Ptr<const Pass>(std::move(pass)));
    step = &execution.joined.back();
  }
  return Ok{};
}

namespace {

uint32_t flags_of(const std::vector<const command::Command*>& steps, size_t i) {
  const Ptr<const Pass>* pass = i < steps.size() ? pass_of(steps[i]) : nullptr;
  return pass ? (*pass)->info.flags : 0;
}

// The step that resumes the last of the parts, which is step `i`: an error where that is none, or one that is not begun like them. What was
// recorded inside of a part stands beside it: waits before it, timestamps behind it; so they do with the whole.
Expected<size_t> find_resume(const Parts& parts, const std::vector<const command::Command*>& all, size_t i) {
  const Pass& suspended = **pass_of(all[i]);
  for (i++; i < all.size() && !pass_of(all[i]); i++)
    if (!std::holds_alternative<command::WaitEvents>(*all[i]) && !std::holds_alternative<command::WriteTimestamp>(*all[i])) break;
  if (!(flags_of(all, i) & VK_RENDERING_RESUMING_BIT))
    return invalid("submit: " + pass_name(suspended) + " is suspended, and the next command of the submission does not resume it");
  const Pass &begun = begun_of(parts), &resumes = **pass_of(all[i]);
  if (const char* field = difference(begun.info, resumes.info))
    return invalid(pass_name(resumes) + " resumes " + pass_name(begun) + ", but its " + field +
                   " is another; parts of one pass are begun with the same values");
  return i;
}

}  // namespace

Status join_suspended(const DeviceState& device, exec::Execution& execution) {
  using Steps = std::vector<const command::Command*>;
  const Steps& all = execution.steps;
  Steps steps;
  bool ended = false;  // the last part ended where nothing resumed it: what resumes it later is that
  for (size_t i = 0; i < all.size(); i++) {
    Parts parts{{all[i]}};
    Steps behind;
    if (flags_of(all, i) & VK_RENDERING_RESUMING_BIT) {
      const Error rule = invalid("submit: " + pass_name(**pass_of(all[i])) + " resumes a pass, but the command before it suspends none");
      if (Status ok = ended ? Status(Ok{}) : forbid(device, rule); !ok) return ok;
      parts.loads = true, ended = false;
    }
    while (flags_of(all, i) & VK_RENDERING_SUSPENDING_BIT) {
      Expected<size_t> next = find_resume(parts, all, i);
      if (!next) {
        if (Status ok = forbid(device, next.error()); !ok) return ok;
        parts.stores = ended = true;
        break;
      }
      for (i++; i < *next; i++) (std::holds_alternative<command::WaitEvents>(*all[i]) ? steps : behind).push_back(all[i]);
      parts.steps.push_back(all[i]);
    }
    if (!pass_of(all[i]) || !flags_of(all, i)) {
      steps.push_back(all[i]);
      continue;
    }
    auto joined = join_parts(device, parts);
    if (!joined) return joined.error();
    execution.joined.emplace_back(std::move(*joined));
    steps.push_back(&execution.joined.back());
    steps.insert(steps.end(), behind.begin(), behind.end());
  }
  execution.steps = std::move(steps);
  return Ok{};
}

}  // namespace tilegpu::device
