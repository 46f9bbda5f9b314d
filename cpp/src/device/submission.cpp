// device/submission.cpp -- what a submission can be asked: whether it is done, and what its passes cost and why.
//
// In: the execution, once it is signaled. Out: statistics, traces, explanations. Source: Vulkan specification, "Fences".
#include <algorithm>
#include <span>

#include "descriptor/set_memory.hpp"
#include "device/undefined_reads.hpp"
#include "exec/queue.hpp"
#include "framebuffer/blend_unit.hpp"
#include "framebuffer/describe.hpp"
#include "hsr/explain.hpp"
#include "hsr/prepass_rules.hpp"
#include "pipeline/program.hpp"
#include "tile/plan/describe.hpp"
#include "tilegpu/device_info.hpp"

namespace tilegpu {

namespace {

using exec::PassExecution;

const PassExecution& execution_of(const Submission& submission, size_t pass) {
  assert(pass < submission.state->execution.passes.size());
  assert(submission.signaled());
  return submission.state->execution.passes[pass];
}

}  // namespace

Submission::Submission() : state(std::make_shared<State>()) {}
Submission::~Submission() = default;

bool Submission::signaled() const { return state->wait(0); }
bool Submission::wait(int64_t timeout_ms) const { return state->wait(timeout_ms); }
void Submission::cancel() { state->cancelled = true; }

const Error* Submission::error() const {
  std::lock_guard lock(state->mutex);
  return state->failed ? &state->error : nullptr;
}

size_t Submission::pass_count() const { return state->execution.passes.size(); }

uint32_t Submission::pass_parts(size_t pass) const {
  assert(pass < pass_count());
  return std::max(1u, static_cast<uint32_t>(state->execution.passes[pass].pass->part_ends.size()));
}

const std::string& Submission::pass_label(size_t pass) const {
  assert(pass < pass_count());
  return state->execution.passes[pass].pass->info.label;
}

size_t Submission::command_count() const { return state->execution.commands.size(); }

const CommandTraffic& Submission::command_traffic(size_t command) const {
  assert(command < command_count());
  return state->execution.commands[command];
}

size_t Submission::dispatch_count() const { return state->execution.dispatches.size(); }

const std::string& Submission::dispatch_label(size_t dispatch) const {
  assert(dispatch < dispatch_count());
  return state->execution.dispatches[dispatch].dispatch->pipeline->info().label;
}

const DispatchStats& Submission::dispatch_stats(size_t dispatch) const {
  assert(dispatch < dispatch_count() && signaled());
  return state->execution.dispatches[dispatch].stats;
}

namespace {

using descriptor::Element;

uint64_t size_B(const Element& e) {
  if (e.buffer) return e.range_B;
  if (!e.view) return 0;
  return e.view->texels ? e.view->texels->info().range_B : e.view->view->image()->required_B();
}

// Of the set that the dispatch found bound.
BoundDescriptors describe_binding(const command::Dispatch& dispatch, uint32_t set, uint32_t binding, uint32_t most, bool written) {
  BoundDescriptors out{"", set, binding, 0, 0, written};
  for (const ReflectedBinding& b : dispatch.pipeline->program().stages.front().reflection->bindings)
    if (b.set == set && b.binding == binding && out.name.empty()) out.name = b.name.empty() ? b.block_name : b.name;
  const descriptor::SetMemory* memory = dispatch.sets->bound.memory[set].get();
  if (!memory) return out;
  const DescriptorBinding& of = *memory->layout->find(binding);
  if (descriptor::kind_of(of.type) == descriptor::Kind::inline_block) {
    out.count = 1, out.size_B = memory->count_of(of);
    return out;
  }
  for (uint32_t i = 0; i < std::min(most, memory->count_of(of)); i++) {
    const Element& e = memory->element(of, i);
    if (e.buffer || e.view) out.count++, out.size_B += size_B(e);
    if (e.view && out.format == VK_FORMAT_UNDEFINED)
      out.format = e.view->texels ? e.view->texels->info().format : e.view->view->info().format;
  }
  return out;
}

}  // namespace

DispatchExplanation Submission::explain_dispatch(size_t dispatch) const {
  assert(dispatch < dispatch_count() && signaled());
  const command::Dispatch& record = *state->execution.dispatches[dispatch].dispatch;
  const pipeline::Program& program = record.pipeline->program();
  const shader::StageTraits& traits = program.stages.front().traits;
  DispatchExplanation out{
      record.pipeline->info().label, record.pipeline->workgroup_size(), {}, traits.reads_addresses, traits.writes_addresses};
  const auto is_written = [&](uint32_t set, uint32_t binding) {
    return std::any_of(program.written_buffers.begin(), program.written_buffers.end(),
                       [&](const shader::BufferSlot& slot) { return slot.set == set && slot.binding == binding; });
  };
  const auto is_there = [&](uint32_t set, uint32_t binding) {
    return std::any_of(out.bound.begin(), out.bound.end(), [&](const BoundDescriptors& b) { return b.set == set && b.binding == binding; });
  };
  for (const shader::BufferSlot& slot : program.resources.buffers)
    out.bound.push_back(describe_binding(record, slot.set, slot.binding, slot.count, is_written(slot.set, slot.binding)));
  for (const shader::TextureSlot& slot : program.resources.textures)  // a texture stands for each sampler that it meets
    if (!is_there(slot.image_set, slot.image_binding))
      out.bound.push_back(describe_binding(record, slot.image_set, slot.image_binding, slot.image_count, slot.is_written()));
  std::sort(out.bound.begin(), out.bound.end(),
            [](const BoundDescriptors& a, const BoundDescriptors& b) { return std::pair(a.set, a.binding) < std::pair(b.set, b.binding); });
  return out;
}

DrawStage Submission::dispatch_stage(size_t dispatch) const {
  assert(dispatch < dispatch_count());
  const pipeline::Stage& stage = state->execution.dispatches[dispatch].dispatch->pipeline->program().stages.front();
  return {VK_SHADER_STAGE_COMPUTE_BIT, &stage.module->words(), stage.specialization};
}

const PassStats& Submission::pass_stats(size_t pass) const { return execution_of(*this, pass).stats; }
const std::vector<TileTrace>& Submission::tile_trace(size_t pass) const { return execution_of(*this, pass).tile_trace; }

const LowResolutionZ* Submission::low_resolution_z(size_t pass) const {
  const std::optional<LowResolutionZ>& found = execution_of(*this, pass).low_resolution_z;
  return found ? &*found : nullptr;
}

const std::string& Submission::concurrent_binning_off(size_t pass) const { return execution_of(*this, pass).concurrent_binning_off; }

const PassTrace* Submission::fragment_trace(size_t pass) const {
  const std::optional<PassTrace>& trace = execution_of(*this, pass).trace;
  return trace ? &*trace : nullptr;
}

namespace {

/// Of a technique that the row has; "": on, or not there.
std::string reason_of(const DrawExplanation& row, const std::string& technique) {
  for (const TechniqueExplanation& one : row.techniques)
    if (one.technique == technique) return one.reason;
  return "";
}

bool same_techniques(const DrawExplanation& a, const DrawExplanation& b) {
  return std::equal(
      a.techniques.begin(), a.techniques.end(), b.techniques.begin(), b.techniques.end(),
      [](const TechniqueExplanation& x, const TechniqueExplanation& y) { return x.technique == y.technique && x.reason == y.reason; });
}

bool tested_by_lrz(const PassExecution& found) { return !found.parts.empty() && found.parts.back().traits.lrz; }

/// The way of a draw, by parts of the pass where they differ.
std::string plan_in_words(const PassExecution& found, const command::DrawState& state, const tile::DrawTraits& draw,
                          const tile::PrepassWays& prepass) {
  const tile::TestRules rules = tile::make_test_rules(state, found.tile);
  const auto in_part = [&](const tile::PassTraits& pass) { return tile::describe_plan(pass, state, rules, draw, prepass); };
  if (found.parts.empty()) return in_part({});
  std::string text, last;
  for (const exec::PartTraits& part : found.parts) {
    std::string now = in_part(part.traits);
    if (now == last) continue;
    if (!text.empty()) text += part.part == framebuffer::Part::last ? " | after the last split: " : " | between splits: ";
    text += now;
    last = std::move(now);
  }
  return text.size() == last.size() ? text : "until the first split: " + text;
}

/// A clear comes after these: forward pixel kill's queue is empty then.
void note_clear(std::span<DrawExplanation> rows) {
  for (DrawExplanation& row : rows)
    for (TechniqueExplanation& technique : row.techniques)
      if (technique.technique == "forward_pixel_kill" && technique.state == "on" && technique.reason.empty())
        technique.reason = "in tiles that the clear behind it reaches what waits of it is shaded first";
}

}  // namespace

// A draw that leaves attachments of the pass as they are kills nothing: which ones, as a pass without them would have its kill.
static void name_left_alone(const command::Pass& pass, uint32_t written_targets, std::string& reason) {
  if (!reason.ends_with("does not write every colour attachment")) return;
  std::string left;
  for (size_t i = 0; i < pass.info.color.size(); i++)
    if (const auto& view = pass.info.color[i].view; view && !(written_targets >> i & 1))
      left += (left.empty() ? "" : ", ") + ("color" + std::to_string(i) + " '" + view->image()->info().label + "'");
  if (!left.empty()) reason += " (bound and not written: " + left + ")";
}

std::vector<DrawExplanation> Submission::explain(size_t pass) const {
  const PassExecution& found = execution_of(*this, pass);
  const command::Pass& record = *found.pass;
  const HiddenSurfaceRemoval asked = record.info.hsr.value_or(state->hsr), chosen = framebuffer::allowed_hsr(record.framebuffer, asked);
  const hsr::WhyOff off = hsr::why_off(chosen, default_hsr(record.framebuffer.layout.profile->name));
  std::vector<DrawExplanation> rows;
  const pipeline::Resolved* last = nullptr;
  const void* last_state = nullptr;  // of the last row's draws
  tile::DrawTraits last_traits;
  bool numbered = false;     // a draw went to the visibility buffer
  hsr::TileHistory history;  // of a tile that every draw reaches
  uint32_t number = 0, part = 0;
  size_t cleared = 0;  // rows before the last clear inside the pass
  // `index`: of the draw when the pass is executed; that is what the rules of low-resolution Z count.
  const auto add = [&](const command::DrawCall& draw, uint32_t index, uint32_t count) {
    const pipeline::Resolved* resolved = draw.state->resolved.get();
    const bool stops = std::any_of(found.stats.prepass_stops.begin(), found.stats.prepass_stops.end(),
                                   [&](const PrepassStop& stop) { return stop.draw == number || stop.draw + 1 == number; });
    const std::string low = index < found.lrz_decisions.size()
                                ? hsr::describe(found.lrz_decisions[index], static_cast<int32_t>(number), found.lrz_culprit_pass)
                                : std::string("off: ") + (off.low_resolution_z ? off.low_resolution_z : "not executed yet");
    TechniqueExplanation deferral = hsr::explain_deferral(found.vertex_deferral, index, *draw.state, off.deferred_vertex_shading);
    number += count;
    const bool rejects = index < found.lrz_decisions.size() && found.lrz_decisions[index].test;
    const tile::DrawTraits traits = {draw.query >= 0, rejects && tested_by_lrz(found), numbered};
    const bool near = resolved == last && !stops && rows.back().part == part && rows.back().low_resolution_z_off == low &&
                      reason_of(rows.back(), deferral.technique) == deferral.reason;
    if (near && draw.state == last_state && traits == last_traits) {
      rows.back().draw_count += count;
      return;
    }
    const char* early = hsr::early_test_obstacle(*draw.state);
    const char* visibility = off.visibility_buffer ? off.visibility_buffer : tile::visibility_obstacle(*draw.state);
    DrawExplanation row{number - count, count, part, resolved->label, early ? early : "", visibility ? visibility : "", {}, low};
    const std::vector<hsr::Verdict> verdicts = hsr::possible_verdicts(*draw.state, row.first_draw, traits.counts, history);
    const hsr::PrepassTiles tiles = hsr::prepass_tiles(found.stats, row.first_draw);
    const bool taken = chosen.pre_pass && tiles.taken && !verdicts.empty();
    row.plan =
        plan_in_words(found, *draw.state, traits, {taken ? std::span(verdicts) : std::span<const hsr::Verdict>(), !taken || tiles.ended});
    numbered |= !visibility;
    row.techniques.push_back(hsr::explain_forward_kill(*draw.state, off.forward_pixel_kill));
    name_left_alone(record, resolved->output.written_targets, row.techniques.back().reason);
    row.techniques.push_back(std::move(deferral));
    if (auto rate = hsr::explain_shading_rate(*draw.state, record.info.shading_rate, record.framebuffer.layout.profile->shading_rate))
      row.techniques.push_back(std::move(*rate));
    if (framebuffer::has_blend_unit(*record.framebuffer.layout.profile))
      if (auto unit = hsr::explain_blend_unit(*draw.state)) row.techniques.push_back(std::move(*unit));
    last = resolved;
    last_state = draw.state;
    last_traits = traits;
    // Dynamic state may lead draws of one pipeline other ways; states that differ in what no row says are one row.
    if (near && rows.back().plan == row.plan && rows.back().early_tests_off == row.early_tests_off &&
        rows.back().visibility_off == row.visibility_off && same_techniques(rows.back(), row))
      rows.back().draw_count += count;
    else
      rows.push_back(std::move(row));
  };
  uint32_t expanded = static_cast<uint32_t>(record.draws.size());
  for (size_t i = 0; i < record.commands.size(); i++) {
    const command::RecordedCommand& command = record.commands[i];
    while (part < record.part_ends.size() && i >= record.part_ends[part]) part++;
    if (command.kind == command::RecordedCommand::Kind::draw) add(record.draws[command.index], command.index, 1);
    if (command.kind == command::RecordedCommand::Kind::clear && chosen.forward_pixel_kill) {
      note_clear(std::span(rows).subspan(cleared));
      cleared = rows.size();
      last = nullptr;  // a row of its own, for what comes behind it
    }
    if (command.kind != command::RecordedCommand::Kind::indirect) continue;
    const command::IndirectDraw& indirect = record.indirects[command.index];
    for (uint32_t k = 0; k < indirect.count; k++) add(indirect.base, expanded++, 1);
  }
  const char* no_prepass = asked.pre_pass ? framebuffer::prepass_obstacle(record.framebuffer) : off.pre_pass;
  for (DrawExplanation& row : rows)
    row.techniques.insert(row.techniques.begin(), hsr::explain_prepass(found.stats, row.first_draw, row.draw_count, no_prepass));
  return rows;
}

std::string Submission::describe_framebuffer(size_t pass) const {
  return framebuffer::describe(execution_of(*this, pass).pass->framebuffer);
}

std::vector<std::string> Submission::warnings(size_t pass) const {
  assert(pass < pass_count());  // of what was recorded: it need not have been executed
  const command::Pass& record = *state->execution.passes[pass].pass;
  std::vector<std::string> lines = device::undefined_reads(record);
  for (std::string& line : device::lost_primitives(record)) lines.push_back(std::move(line));
  for (std::string& line : framebuffer::possible_feedback(record.feedback)) lines.push_back(std::move(line));
  return lines;
}

namespace {

std::string with_separators(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

/// A line for each pipeline and reason: how many draws jump to a blend shader for every fragment.
std::vector<std::string> blend_shaders(const Submission& submission, size_t pass) {
  std::vector<std::pair<std::string, uint32_t>> found;  // what to say, draws
  uint32_t draws = 0;
  for (const DrawExplanation& row : submission.explain(pass)) {
    draws += row.draw_count;
    const std::string reason = reason_of(row, "blend_unit");
    if (reason.empty()) continue;
    const std::string text = "pipeline '" + row.pipeline + "': " + reason;
    const auto known = std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.first == text; });
    known == found.end() ? void(found.emplace_back(text, row.draw_count)) : void(known->second += row.draw_count);
  }
  std::vector<std::string> lines;
  for (const auto& [text, count] : found)
    lines.push_back(text + ", in " + std::to_string(count) + " of " + std::to_string(draws) + " draws of a pass that shaded " +
                    with_separators(submission.pass_stats(pass).fragments_shaded) +
                    " fragments; what the unit blends needs none: an 8 or 10-bit unorm format, or another equation");
  return lines;
}

}  // namespace

std::vector<std::string> Submission::lint(size_t pass) const {
  const PassExecution& found = execution_of(*this, pass);
  const command::Pass& record = *found.pass;
  // Whole targets that a command clears before any draw: bit i for colour i, 8 depth, 9 stencil.
  uint32_t cleared = 0;
  for (const command::RecordedCommand& command : record.commands) {
    if (command.kind != command::RecordedCommand::Kind::clear) break;
    const command::ClearCall& clear = record.clears[command.index];
    const bool whole = clear.rect.offset.x <= record.render_area.offset.x && clear.rect.offset.y <= record.render_area.offset.y &&
                       clear.rect.extent.width >= record.render_area.extent.width &&
                       clear.rect.extent.height >= record.render_area.extent.height;
    if (!whole) continue;
    if (clear.attachment >= 0) cleared |= 1u << clear.attachment;
    if (clear.attachment < 0 && (clear.aspects & VK_IMAGE_ASPECT_DEPTH_BIT)) cleared |= 1u << 8;
    if (clear.attachment < 0 && (clear.aspects & VK_IMAGE_ASPECT_STENCIL_BIT)) cleared |= 1u << 9;
  }
  std::vector<std::string> lines = framebuffer::lint(record.framebuffer, found.stats, cleared);
  if (record.framebuffer.layout.unrestricted_depth)
    lines.push_back(
        "depth: floats of any range (VK_EXT_depth_range_unrestricted), so that hidden-surface removal, which orders those of 0 to 1, is "
        "off in this pass; a device without the extension, or a format of fixed point, has it");
  if (!record.behind_barrier.empty()) lines.push_back(framebuffer::describe_split(record.framebuffer, found.stats, record.behind_barrier));
  if (framebuffer::has_blend_unit(*record.framebuffer.layout.profile))
    for (std::string& line : blend_shaders(*this, pass)) lines.push_back(std::move(line));
  for (std::string& line : warnings(pass)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace tilegpu
