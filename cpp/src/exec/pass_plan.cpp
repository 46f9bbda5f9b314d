// exec/pass_plan.cpp -- see pass_plan.hpp. Source: Vulkan specification, "Indirect Drawing".
#include "exec/pass_plan.hpp"

#include <algorithm>
#include <cstring>

#include "geometry/census.hpp"
#include "stats/ledger.hpp"

namespace tilegpu::exec {
namespace {

// Reads one VkDraw(Indexed)IndirectCommand; what lies outside the buffer reads zero, that is: draws nothing.
DrawCall read_indirect(const IndirectDraw& indirect, uint32_t i) {
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
uint32_t written_targets(const PassRecord& pass) {
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
    written |= resolved->written_targets;
  };
  for (const DrawCall& draw : pass.draws) add(draw);
  for (const IndirectDraw& indirect : pass.indirects) add(indirect.base);
  return written;
}

}  // namespace

std::span<const DrawCall> plan_draws(PassRecord& pass) {
  PassPlan& plan = pass.plan;
  if (plan.ready && pass.indirects.empty()) return pass.draws;
  plan.ready = false;
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
  const std::span<const DrawCall> draws = pass.indirects.empty() ? pass.draws : plan.expanded;
  plan.chunk_primitives = geometry::chunk_primitives_of(draws, plan.commands);
  return draws;
}

const geometry::ChunkPlans& plan_geometry(PassPlan& plan, const geometry::GeometryPass& pass) {
  if (!plan.ready) geometry::lay_out_census(pass, plan.census);
  if (plan.chunks_of != pass.chunk_primitives || plan.chunks.read_indices()) {
    plan.chunks_of = 0;
    geometry::plan_chunks(pass, plan.chunks);
    plan.chunks_of = pass.chunk_primitives;
  }
  plan.ready = true;
  return plan.chunks;
}

std::vector<uint32_t> draw_numbers(std::span<const command::PassCommand> commands, size_t draws) {
  std::vector<uint32_t> numbers(draws);
  uint32_t number = 0;
  for (const command::PassCommand& c : commands)
    if (!c.clear) numbers[c.draw] = number++;
  return numbers;
}

}  // namespace tilegpu::exec
