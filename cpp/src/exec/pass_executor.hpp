// exec/pass_executor.hpp -- runs a recorded pass: the geometry phase, then the tiles, on all workers.
#pragma once

#include <atomic>
#include <memory>

#include "framebuffer/framebuffer.hpp"
#include "geometry/geometry.hpp"
#include "tile/tile_job.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu::exec {

class ThreadPool;
struct PassRecord;

struct PassOptions {
  uint32_t forced_bin_px = 0, vertex_batch = 0, lanes = 8, l2_B = 512 * 1024;
  uint64_t tiler_heap_B = 0;        // 0: the profile's
  uint32_t fpk_quads = 64;          // forward pixel kill's queue
  float deferred_triangle_px2 = 0;  // deferred vertex shading: bounding box of the largest triangle that is deferred
  HiddenSurfaceRemoval hsr;         // of passes that do not say otherwise
  bool compress_samples = true;
};

/// Keeps arenas, chunks and workers from frame to frame, so that a steady state takes no memory from the system.
class PassExecutor {
 public:
  explicit PassExecutor(ThreadPool& pool);
  ~PassExecutor();
  /// Fills pass.stats and the query pools; VK_ERROR_DEVICE_LOST with "cancelled" when `cancelled` was raised;
  /// VK_ERROR_OUT_OF_DEVICE_MEMORY when the system refuses working memory: what the executor kept is given back, the next pass may do.
  Status execute(PassRecord& pass, const PassOptions& options, const std::atomic<bool>& cancelled);

 private:
  void render_part(PassRecord& pass, tile::PassContext& context, framebuffer::Part part, const std::atomic<bool>& cancelled);
  Status run(PassRecord& pass, const PassOptions& options, const std::atomic<bool>& cancelled);
  void make_workers();
  void finish_trace();
  Status run_traced(PassRecord& pass, const PassOptions& options, const std::atomic<bool>& cancelled);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilegpu::exec
