// exec/pass_plan.cpp -- see pass_plan.hpp. Source: Vulkan specification, "Indirect Drawing".
#include "exec/pass_plan.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "geometry/census.hpp"
#include "stats/ledger.hpp"

namespace tilegpu::exec {

using command::ClearCall;
using command::DrawCall;
using command::IndirectDraw;
using command::RecordedCommand;

namespace {

// Reads one VkDraw(Indexed)IndirectCommand or VkDrawMeshTasksIndirectCommandEXT; what lies outside the buffer reads zero, that is: draws
// nothing.
DrawCall read_indirect(const IndirectDraw& indirect, uint32_t i) {
  assert(indirect.buffer && i < indirect.count);
  DrawCall draw = indirect.base;
  uint32_t words[5] = {};
  if (indirect.by_bytes) {
    uint32_t counter;
    std::memcpy(&counter, indirect.buffer->data() + indirect.offset_B, 4);
    draw.count = (counter - std::min(counter, indirect.counter_offset_B)) / indirect.stride_B;
    if (draw.count)
      draw.instance_count = static_cast<uint32_t>(std::min<uint64_t>(draw.instance_count, command::kMaxDrawVertices / draw.count));
    return draw;
  }
  if (indirect.draws_in.buffer) {
    uint32_t draws;
    std::memcpy(&draws, indirect.draws_in.buffer->data() + indirect.draws_in.offset_B, 4);
    if (i >= draws) return draw;  // of no vertices
  }
  const uint64_t at = indirect.offset_B + static_cast<uint64_t>(i) * indirect.stride_B;
  if (indirect.base.state->resolved->primitives.meshes) {
    std::array<uint32_t, 3>& groups = draw.groups;
    if (at + sizeof groups <= indirect.buffer->size_B()) std::memcpy(groups.data(), indirect.buffer->data() + at, sizeof groups);
    draw.count = static_cast<uint32_t>(command::mesh_workgroups(groups));
    draw.draw_index = i;
    return draw;
  }
  const uint64_t size = indirect.base.indexed ? 20 : 16;
  if (at + size <= indirect.buffer->size_B()) std::memcpy(words, indirect.buffer->data() + at, size);
  draw.count = words[0];
  draw.instance_count = words[1];
  draw.first = words[2];
  draw.vertex_offset = indirect.base.indexed ? static_cast<int32_t>(words[3]) : 0;
  draw.first_instance = words[indirect.base.indexed ? 4 : 3];
  draw.draw_index = i;
  if (draw.count)
    draw.instance_count = static_cast<uint32_t>(std::min<uint64_t>(draw.instance_count, command::kMaxDrawVertices / draw.count));
  return draw;
}

// Targets that a draw or a clear may write: bit i colour i, 8 depth, 9 stencil.
uint32_t written_targets(const command::Pass& pass) {
  uint32_t written = 0;
  for (const ClearCall& clear : pass.clears) {
    if (clear.attachment >= 0) written |= 1u << clear.attachment;
    if (clear.attachment < 0 && (clear.aspects & VK_IMAGE_ASPECT_DEPTH_BIT)) written |= 1u << stats::kLedgerDepth;
    if (clear.attachment < 0 && (clear.aspects & VK_IMAGE_ASPECT_STENCIL_BIT)) written |= 1u << stats::kLedgerStencil;
  }
  const pipeline::Resolved* last = nullptr;
  const auto add = [&](const DrawCall& draw) {
    const pipeline::Resolved* resolved = draw.state->resolved.get();
    if (resolved == last) return;
    last = resolved;
    written |= resolved->output.written_targets;
  };
  for (const DrawCall& draw : pass.draws) add(draw);
  for (const IndirectDraw& indirect : pass.indirects) add(indirect.base);
  return written;
}

}  // namespace

namespace {

// What draws of one pass become where views or viewports multiply them.
struct Variants {
  PassPlan& plan;
  const command::DrawState* state = nullptr;         // of the last draw with viewports
  std::vector<const command::DrawState*> viewports;  // its states for those but the first

  uint32_t add(DrawCall draw, uint32_t of) {
    plan.expanded.push_back(draw);
    plan.variant_of.push_back(of);
    return static_cast<uint32_t>(plan.expanded.size() - 1);
  }
  // Draws for the other viewports of draw `at`, which came from `of`.
  void add_viewports(uint32_t at, uint32_t of) {
    const command::DrawState& first = *plan.expanded[at].state;
    if (!first.all || first.all->count < 2) return;
    if (&first != state) {
      state = &first;
      viewports.clear();
      for (uint32_t i = 1; i < first.all->count; i++) {
        command::DrawState& other = plan.other_states.emplace_back(first);
        other.viewport = first.all->viewport[i], other.scissor = first.all->scissor[i];
        other.viewport_index = i;
        viewports.push_back(&other);
      }
    }
    plan.expanded[at].viewport_draws = static_cast<uint32_t>(plan.expanded.size());
    for (const command::DrawState* other : viewports) {
      DrawCall draw = plan.expanded[at];
      draw.state = other;
      add(draw, of);
    }
  }
};

// Which queries of what stages do are active.
struct Counting {
  PassPlan& plan;
  std::vector<uint32_t> active;
  uint32_t slot = 0;  // DrawCall::counted, before views
  void change(const RecordedCommand& c) {
    if (c.kind == RecordedCommand::Kind::begin_counting)
      active.push_back(c.index);
    else
      std::erase(active, c.index);
    slot = 0;
    if (active.empty()) return;
    plan.counting.push_back(active);
    slot = static_cast<uint32_t>(plan.counting.size());
  }
};

// Of conditional rendering: whether the commands that follow are discarded.
bool discards(const command::Pass& pass, const RecordedCommand& c) {
  assert(c.index < pass.conditions.size());
  return c.kind == RecordedCommand::Kind::begin_condition && !command::is_met(pass.conditions[c.index]);
}

// A draw that is discarded draws no vertices: it keeps its number.
DrawCall discarded(DrawCall draw) {
  draw.count = draw.instance_count = 0;
  return draw;
}

// One command for each view; then draws for other viewports, which no command names.
void expand(uint32_t view_mask, PassPlan& plan) {
  [[maybe_unused]] const auto originals = static_cast<uint32_t>(plan.expanded.size());
  const auto views = static_cast<uint32_t>(std::popcount(view_mask));
  std::vector<command::PassCommand> commands;
  std::swap(commands, plan.commands);
  Variants variants{plan, nullptr, {}};
  for (const command::PassCommand& c : commands) {
    plan.commands.push_back(c);
    if (c.clear) continue;
    assert(c.draw < originals);
    DrawCall& first = plan.expanded[c.draw];
    if (views) {
      first.view = static_cast<uint32_t>(std::countr_zero(view_mask));
      if (first.query >= 0) first.query *= static_cast<int32_t>(views);
      if (first.counted) first.counted = (first.counted - 1) * views + 1;
    }
    variants.add_viewports(c.draw, c.draw);
    DrawCall draw = plan.expanded[c.draw];
    for (uint32_t left = view_mask & (view_mask - 1); left; left &= left - 1) {
      draw.view = static_cast<uint32_t>(std::countr_zero(left));
      draw.query += draw.query >= 0;
      draw.counted += draw.counted != 0;
      const uint32_t at = variants.add(draw, c.draw);
      plan.commands.push_back({at, nullptr});
      variants.add_viewports(at, c.draw);
    }
  }
}

}  // namespace

void plan_draws(const command::Pass& pass, PassPlan& plan) {
  plan.chunks_of = plan.draw_count = 0;
  plan.commands.clear(), plan.expanded.clear(), plan.variant_of.clear(), plan.other_states.clear(), plan.counting.clear();
  const bool chooses = std::any_of(pass.states.begin(), pass.states.end(), [](const auto& s) { return s.all && s.all->count > 1; });
  const bool expands = pass.info.view_mask || chooses || !pass.counting.empty();
  Counting counting{plan, {}, 0};
  if (!pass.indirects.empty() || expands || !pass.conditions.empty()) plan.expanded = pass.draws;
  bool skips = false;
  for (const RecordedCommand& c : pass.commands) {
    switch (c.kind) {
      case RecordedCommand::Kind::clear:
        if (!skips || pass.clears[c.index].of_load) plan.commands.push_back({0, &pass.clears[c.index]});
        break;
      case RecordedCommand::Kind::begin_counting:
      case RecordedCommand::Kind::end_counting:
        counting.change(c);
        break;
      case RecordedCommand::Kind::begin_condition:
      case RecordedCommand::Kind::end_condition:
        skips = discards(pass, c);
        break;
      case RecordedCommand::Kind::draw:
        if (counting.slot) plan.expanded[c.index].counted = counting.slot;
        if (skips) plan.expanded[c.index] = discarded(plan.expanded[c.index]);
        plan.commands.push_back({c.index, nullptr});
        break;
      case RecordedCommand::Kind::indirect: {
        const IndirectDraw& indirect = pass.indirects[c.index];
        for (uint32_t i = 0; i < indirect.count; i++) {
          plan.commands.push_back({static_cast<uint32_t>(plan.expanded.size()), nullptr});
          plan.expanded.push_back(skips ? discarded(indirect.base) : read_indirect(indirect, i));
          plan.expanded.back().counted = counting.slot;
        }
        break;
      }
      case RecordedCommand::Kind::begin_transform_feedback:
      case RecordedCommand::Kind::end_transform_feedback:
        break;
    }
  }
  for (const command::PassCommand& c : plan.commands) plan.draw_count += c.clear == nullptr;
  if (expands) expand(pass.info.view_mask, plan);
  plan.written_targets = written_targets(pass);
  plan.chunk_primitives = geometry::chunk_primitives_of(draws_of(pass, plan), plan.commands);
}

void plan_chunks(const geometry::GeometryPass& geometry, PassPlan& plan) {
  assert(geometry.commands.data() == plan.commands.data());
  geometry::lay_out_census(geometry, plan.census);
  plan.chunks_of = 0;
  geometry::plan_chunks(geometry, plan.chunks);
  plan.chunks_of = geometry.chunk_primitives;
}

std::vector<uint32_t> draw_numbers(const PassPlan& plan, size_t draws) {
  assert(plan.variant_of.size() <= draws);
  std::vector<uint32_t> numbers(draws);
  const size_t originals = draws - plan.variant_of.size();
  uint32_t number = 0;
  for (const command::PassCommand& c : plan.commands) {
    assert(c.clear || c.draw < draws);
    if (!c.clear && c.draw < originals) numbers[c.draw] = number++;
  }
  for (size_t i = originals; i < draws; i++) numbers[i] = numbers[plan.variant_of[i - originals]];
  return numbers;
}

}  // namespace tilegpu::exec
