// exec/dispatch_executor.cpp -- see dispatch_executor.hpp. Source: Vulkan specification, "Dispatching Commands".
#include "exec/dispatch_executor.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <mutex>

#include "base/host_memory.hpp"
#include "exec/ended_loops.hpp"
#include "exec/pass_run.hpp"
#include "pipeline/kernel.hpp"
#include "resource/memory_contents.hpp"

namespace tilegpu::exec {

namespace {

/// A call runs about so many invocations; between calls a worker looks whether it shall go on.
constexpr uint64_t kInvocationsOfCall = 1 << 14;
/// Runs of workgroups for each thread: who is done takes of others'.
constexpr uint64_t kRunsOfThread = 16;
// Whether to go on is asked between runs: none has many more invocations than so many, unless there would be too many of them.
constexpr uint64_t kInvocationsOfRun = 1 << 22, kMostRuns = 1 << 24;

Status check_groups(const std::array<uint32_t, 3>& groups, const std::string& who) {
  for (size_t k = 0; k < 3; k++)
    if (groups[k] > kMaxWorkgroups)
      return Error{VK_ERROR_DEVICE_LOST, who + "the indirect buffer asks for " + std::to_string(groups[k]) + " workgroups in " +
                                             std::string(1, "xyz"[k]) + "; at most " + std::to_string(kMaxWorkgroups) +
                                             " are allowed, nothing was run"};
  return Ok{};
}

void mark_written(const command::ComputeSets& sets) {
  for (const Ptr<ImageView>& view : sets.written_views) resource::mark_level_written(*view, resource::Writer::shader);
  for (const Ptr<Buffer>& buffer : sets.written) resource::mark_written(*buffer, 0, buffer->size_B(), resource::Writer::shader);
}

}  // namespace

struct DispatchExecutor::Run {
  const command::Dispatch& dispatch;
  const std::atomic<bool>& cancelled;
  const pipeline::Kernel& kernel;
  const shader::StageTraits& traits;
  uint64_t invocations = 0;  // of a workgroup
  std::array<uint32_t, 3> groups{};
  uint64_t loop_iterations = 0;
  std::atomic<bool> loops_ended{false};
  std::mutex ended_mutex;
  shader::LoopBudget ended{};  // of the loops that were ended, the least; by the mutex
  void end_loops(const shader::LoopBudget& loops) {
    const std::lock_guard lock(ended_mutex);
    if (!ended.spent_stage || loops.spent_line < ended.spent_line) ended = loops;
    loops_ended = true;
  }
  std::atomic<uint64_t> frames_B{0};  // that a workgroup's invocations keep at barriers; known once one of them has run
};

void DispatchExecutor::run_groups(Run& run, uint32_t worker, uint64_t first, uint64_t end) {
  WorkerMemory& memory = memory_[worker];
  const uint64_t vectors = run.traits.waits ? (run.invocations + run.kernel.lanes - 1) / run.kernel.lanes : 1;
  memory.shared.reserve(size_t{run.traits.shared_memory_B} + shader::kSharedReadBehind_B);
  memory.scratch.reserve(std::max<size_t>(run.traits.private_memory_B * vectors, 64));
  const uint64_t step = std::max<uint64_t>(1, kInvocationsOfCall / run.invocations);
  shader::ComputeArgs args{};
  const command::BoundSets* sets = run.dispatch.sets ? &run.dispatch.sets->bound : nullptr;
  args.push_constants = run.dispatch.push->bytes;
  args.sets = sets ? sets->address.data() : nullptr;
  args.shared = memory.shared.data(), args.scratch = memory.scratch.data();
  shader::LoopBudget loops{run.loop_iterations};
  args.loops = &loops;
  std::copy_n(run.groups.begin(), 3, args.groups), std::copy_n(run.dispatch.base.begin(), 3, args.base);
  while (first < end && !run.cancelled.load(std::memory_order_relaxed) && !run.loops_ended.load(std::memory_order_relaxed)) {
    args.first = first, args.count = static_cast<uint32_t>(std::min(step, end - first));
    args.frames = memory.frames.data(), args.frames_needed_B = 0;
    args.frames_B = std::min<uint64_t>(memory.frames.size_B(), run.frames_B);  // so that it says what it takes
    run.kernel.code(&args);                                                    // better code may have come since the last call
    if (args.frames_needed_B) {
      memory.frames.reserve(args.frames_needed_B);
      // Code that was made quickly keeps other values than what takes its place.
      for (uint64_t known = run.frames_B; known < args.frames_needed_B;)
        if (run.frames_B.compare_exchange_weak(known, args.frames_needed_B)) break;
      continue;
    }
    if (loops.spent_stage) return run.end_loops(loops);
    first += args.count;
  }
}

Status DispatchExecutor::execute(const command::Dispatch& dispatch, const DispatchLimits& limits, DispatchStats& stats,
                                 const std::atomic<bool>& cancelled) {
  const pipeline::Program& program = dispatch.pipeline->program();
  Run run{dispatch, cancelled, dispatch.pipeline->kernel(), program.stages.front().traits};
  run.loop_iterations = limits.loop_iterations;
  if (dispatch.condition && !command::is_met(*dispatch.condition)) return Ok{};  // the counts stay 0
  const std::string who = "dispatch of pipeline '" + program.label + "': ";
  run.groups = dispatch.groups;
  if (dispatch.indirect) {
    assert(dispatch.indirect->data());
    std::memcpy(run.groups.data(), dispatch.indirect->data() + dispatch.indirect_offset_B, sizeof run.groups);
    if (Status ok = check_groups(run.groups, who); !ok) return ok;
  }
  const double start_ms = now_ms();
  const auto& size = run.traits.workgroup_size;
  const uint64_t count = uint64_t{run.groups[0]} * run.groups[1] * run.groups[2];
  run.invocations = uint64_t{size[0]} * size[1] * size[2];
  assert(run.invocations > 0 && run.kernel.lanes > 0);
  if (dispatch.indirect && count > limits.indirect_budget / run.invocations)
    return Error{VK_ERROR_DEVICE_LOST,
                 who + "the indirect buffer asks for " + std::to_string(count) + " workgroups of " + std::to_string(run.invocations) +
                     " invocations; an indirect dispatch may have " + std::to_string(limits.indirect_budget) +
                     " invocations, nothing was run. Write other numbers, or give the device a larger indirect_budget"};
  const bool ordered = limits.ordered && run.traits.orders_groups;
  const uint64_t by_size = std::min(count / std::max<uint64_t>(1, kInvocationsOfRun / run.invocations), kMostRuns);
  const uint64_t runs = std::min(count, std::max<uint64_t>(ordered ? 1 : pool_.threads() * kRunsOfThread, by_size));
  const auto first_of = [&](uint64_t i) { return count / runs * i + std::min(i, count % runs); };
  const auto one = [&](uint32_t worker, uint64_t i) { run_groups(run, worker, first_of(i), first_of(i + 1)); };
  memory_.resize(pool_.threads());
  if (count && dispatch.sets) mark_written(*dispatch.sets);  // before: what fails half-way has written too
  try {
    if (count && ordered)  // one behind the other, on one thread
      for (uint64_t i = 0; i < runs && !cancelled && !run.loops_ended; ++i)
        pool_.run("dispatch", 1, [&](uint32_t worker, uint32_t) { one(worker, i); });
    else if (count)
      pool_.run("dispatch", static_cast<uint32_t>(runs), one);
  } catch (const std::bad_alloc& refused) {
    memory_.clear();
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY,
                 who + refused_text(refused, "the memory of workgroups") + "; some workgroups were run, others not"};
  }
  stats = {run.groups,
           count * run.invocations,
           run.traits.shared_memory_B,
           run.kernel.lanes,
           ordered ? 1 : static_cast<uint32_t>(std::min<uint64_t>(runs, pool_.threads())),
           ordered,
           run.frames_B,
           now_ms() - start_ms};
  if (cancelled) return Error{VK_ERROR_DEVICE_LOST, who + "cancelled; some workgroups were run, others not"};
  if (run.loops_ended)
    return Error{VK_ERROR_DEVICE_LOST,
                 who + ended_loop_text(run.ended, program.stages.front().module.get(), limits.loop_iterations) +
                     "; some workgroups were run, others not. End the loop sooner, give its work to several dispatches, or give the "
                     "device a larger loop_budget"};
  return Ok{};
}

}  // namespace tilegpu::exec
