// exec/ended_loops.cpp -- see ended_loops.hpp. In: LoopBudget of all workers. Out: an error, or none.
#include "exec/ended_loops.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

#include "exec/pass_plan.hpp"
#include "exec/pass_run.hpp"

namespace tilegpu::exec {

std::string ended_loop_text(const shader::LoopBudget& loops, const ShaderModule* module, uint64_t iterations) {
  assert(loops.spent_stage);
  const std::string place = module ? module->place_of(loops.spent_line) : "";
  return (place.empty() ? std::string("a loop") : "the loop at " + place) + " of the " +
         pipeline::stage_name(static_cast<VkShaderStageFlagBits>(loops.spent_stage)) +
         " shader was ended: its loops went round more than " + std::to_string(iterations) + " times";
}

Status ended_loops(PassRun& run) {
  const shader::LoopBudget* first = nullptr;
  const auto look = [&](const shader::LoopBudget& loops) {
    const auto key = [](const shader::LoopBudget& l) { return std::tie(l.spent_draw, l.spent_stage, l.spent_line); };
    if (loops.spent_stage && (!first || key(loops) < key(*first))) first = &loops;
  };
  for (const geometry::GeometryWorker& worker : run.kept.geometry_workers) look(worker.loops());
  for (const tile::TileWorker& worker : run.kept.tile_workers)
    if (worker.has_begun(run.number)) look(worker.loops());
  for (const tile::TracedTileWorker& worker : run.traced_workers) look(worker.loops());
  if (!first) return Ok{};
  const uint32_t draw = first->spent_draw;
  assert(draw < run.context.draws.size());
  const pipeline::Resolved& resolved = *run.context.draws[draw].state->resolved;
  const pipeline::ResolvedStage* stage = resolved.stages.find(static_cast<VkShaderStageFlagBits>(first->spent_stage));
  return Error{VK_ERROR_DEVICE_LOST,
               "pass '" + run.pass.info.label + "', draw " + std::to_string(draw_numbers(*run.plan, run.context.draws.size())[draw]) +
                   ", pipeline '" + resolved.label +
                   "': " + ended_loop_text(*first, stage ? stage->module.get() : nullptr, run.options.loop_iterations) +
                   "; what the pass's images and buffers hold means nothing. End the loop sooner, or give the device a larger loop_budget"};
}

}  // namespace tilegpu::exec
