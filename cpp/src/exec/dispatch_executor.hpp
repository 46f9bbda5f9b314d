// exec/dispatch_executor.hpp -- runs a recorded dispatch: workgroups in runs, spread over all workers.
//
// In: command::Dispatch. Out: buffers, DispatchStats. Workgroups know nothing of one another, so that nobody sees who ran which; where
// atomics of buffers give what depends on the order of invocations, one worker runs all of them in order (`ordered`).
#pragma once

#include <atomic>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "command/dispatch.hpp"

namespace tilegpu::exec {

class ThreadPool;

struct DispatchLimits {
  bool ordered = true;           // atomics that want an order have one
  uint64_t loop_iterations = 0;  // of a vector of lanes
  uint64_t indirect_budget = 0;  // invocations of an indirect dispatch
};

class DispatchExecutor {
 public:
  explicit DispatchExecutor(ThreadPool& pool) : pool_(pool) {}
  /// VK_ERROR_DEVICE_LOST where `cancelled` was raised, a loop did not end, or an indirect dispatch asks for too much;
  /// VK_ERROR_OUT_OF_DEVICE_MEMORY where the system refuses working memory.
  Status execute(const command::Dispatch& dispatch, const DispatchLimits& limits, DispatchStats& stats, const std::atomic<bool>& cancelled);

 private:
  /// Of one thread, kept from dispatch to dispatch.
  struct WorkerMemory {
    AlignedBuffer shared, scratch, frames;
  };
  struct Run;
  void run_groups(Run& run, uint32_t worker, uint64_t first, uint64_t end);
  ThreadPool& pool_;
  std::vector<WorkerMemory> memory_;
};

}  // namespace tilegpu::exec
