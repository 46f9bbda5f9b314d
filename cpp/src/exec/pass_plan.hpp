// exec/pass_plan.hpp -- what follows from a pass's draws alone: draws (indirect ones expanded), commands, chunks.
//
// In: a recorded pass. Out: a plan, made by its first execution, kept by the executor (exec/plan_cache.hpp) and never changed; made at each
// execution where the draws (indirect ones) or the chunks (primitive restart) depend on what buffers hold then.
#pragma once

#include <deque>

#include "command/pass.hpp"
#include "geometry/census.hpp"

namespace tilegpu::exec {

struct PassPlan {
  // Only where what is executed is not what was recorded: first the draws that were, then indirect ones, then those for other views and
  // viewports than the first.
  HostVector<command::DrawCall> expanded;
  std::vector<uint32_t> variant_of;             // of these last ones: the draw that they came from
  std::deque<command::DrawState> other_states;  // for other viewports
  std::vector<command::PassCommand> commands;
  /// By DrawCall::counted - 1, of the first view: which of Pass::counting want the counts of such draws.
  std::vector<std::vector<uint32_t>> counting;
  uint32_t draw_count = 0;
  uint32_t written_targets = 0;   // that a draw or a clear may write: bit i colour i, 8 depth, 9 stencil
  uint32_t chunk_primitives = 0;  // that suit the pass where the heap is large enough
  geometry::CensusLayout census;
  geometry::ChunkPlans chunks;
  uint32_t chunks_of = 0;  // primitives that these were cut by; 0: not cut
};

/// Everything but census and chunks; memory of `plan` is used again.
void plan_draws(const command::Pass& pass, PassPlan& plan);
/// Census and chunks, as `geometry` says.
void plan_chunks(const geometry::GeometryPass& geometry, PassPlan& plan);

/// The draws that the plan's commands name.
inline std::span<const command::DrawCall> draws_of(const command::Pass& pass, const PassPlan& plan) {
  return plan.expanded.empty() ? std::span(pass.draws) : std::span(plan.expanded);
}

/// Place of each of `draws` draws in the order of commands: explanations count that way. Views and viewports have that of their draw.
std::vector<uint32_t> draw_numbers(const PassPlan& plan, size_t draws);

}  // namespace tilegpu::exec
