// exec/pass_plan.cpp -- see pass_plan.hpp. Source: Vulkan specification, "Indirect Drawing".
#include "exec/pass_plan.hpp"

#include <algorithm>
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

// Reads one VkDraw(Indexed)IndirectCommand; what lies outside the buffer reads zero, that is: draws nothing.
DrawCall read_indirect(const IndirectDraw& indirect, uint32_t i) {
  assert(indirect.buffer && i < indirect.count);
  DrawCall draw = indirect.base;
  uint32_t words[5] = {};
  const uint64_t at = indirect.offset_B + static_cast<uint64_t>(i) * indirect.stride_B;
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

void plan_draws(const command::Pass& pass, PassPlan& plan) {
  plan.chunks_of = plan.draw_count = 0;
  plan.commands.clear();
  if (!pass.indirects.empty()) plan.expanded = pass.draws;
  for (const RecordedCommand& c : pass.commands) {
    if (c.kind == RecordedCommand::Kind::clear) plan.commands.push_back({0, &pass.clears[c.index]});
    if (c.kind == RecordedCommand::Kind::draw) plan.commands.push_back({c.index, nullptr});
    if (c.kind != RecordedCommand::Kind::indirect) continue;
    const IndirectDraw& indirect = pass.indirects[c.index];
    for (uint32_t i = 0; i < indirect.count; i++) {
      plan.commands.push_back({static_cast<uint32_t>(plan.expanded.size()), nullptr});
      plan.expanded.push_back(read_indirect(indirect, i));
    }
  }
  for (const command::PassCommand& c : plan.commands) plan.draw_count += c.clear == nullptr;
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

std::vector<uint32_t> draw_numbers(std::span<const command::PassCommand> commands, size_t draws) {
  std::vector<uint32_t> numbers(draws);
  uint32_t number = 0;
  for (const command::PassCommand& c : commands) {
    assert(c.clear || c.draw < draws);
    if (!c.clear) numbers[c.draw] = number++;
  }
  return numbers;
}

}  // namespace tilegpu::exec
