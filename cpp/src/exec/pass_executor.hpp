// exec/pass_executor.hpp -- geometry phase, then tiles, on all workers. In: a recorded pass. Out: images, a PassExecution.
#pragma once

#include <atomic>
#include <memory>

#include "exec/ended_loops.hpp"
#include "exec/execution.hpp"
#include "tilegpu/device_info.hpp"

namespace tilegpu::descriptor {
class Textures;
}

namespace tilegpu::exec {

class ThreadPool;
struct PassRun;

struct PassOptions {
  uint32_t forced_bin_px = 0, vertex_batch = 0, lanes = 8, l2_B = 512 * 1024;
  uint64_t tiler_heap_B = 0;        // 0: the profile's
  uint32_t fpk_quads = 64;          // forward pixel kill's queue
  float deferred_triangle_px2 = 0;  // deferred vertex shading: bounding box of the largest triangle that is deferred
  HiddenSurfaceRemoval hsr;         // of passes that do not say otherwise
  bool compress_samples = true;
  bool lrz_flush = true;
  descriptor::Textures* textures = nullptr;  // the device's
  RenderMode render_mode = RenderMode::gmem;
  uint64_t loop_iterations = kPassLoopIterations;  // of a vector of lanes
  uint64_t indirect_vertices = kIndirectBudget;    // of all indirect draws of a pass, over their instances
};

/// Keeps arenas, chunks and workers from frame to frame, so that a steady state takes no memory from the system.
class PassExecutor {
 public:
  explicit PassExecutor(ThreadPool& pool);
  ~PassExecutor();
  /// Runs out.pass and fills the rest of `out` and the query pools; `trace` may be null. VK_ERROR_DEVICE_LOST with "cancelled" when
  /// `cancelled` was raised; VK_ERROR_OUT_OF_DEVICE_MEMORY when the system refuses working memory: what the executor kept is given back,
  /// the next pass may do.
  Status execute(PassExecution& out, const TraceRequest* trace, const PassOptions& options, const std::atomic<bool>& cancelled);
  /// Runs the pass of an execution once more beside what happens to the images, as it ran then, to trace it; leaves no mark. The caller
  /// knows that it can be repeated.
  Expected<PassTrace> repeat(const PassExecution& last, const TraceRequest& trace, const PassOptions& options,
                             const std::atomic<bool>& cancelled);

  /// A command cleared depth outside a pass.
  void depth_cleared(const command::ClearDepthStencilImage& clear);

  struct State;

 private:
  Status run_or_release(PassRun& run);
  std::unique_ptr<State> state_;
};

}  // namespace tilegpu::exec
