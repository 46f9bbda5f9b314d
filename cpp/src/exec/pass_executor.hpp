// exec/pass_executor.hpp -- runs a recorded pass: the geometry phase, then the tiles, on all workers.
#pragma once

#include <atomic>
#include <memory>

#include "geometry/geometry.hpp"
#include "raster/tile_job.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu::exec {

class ThreadPool;
struct PassRecord;

struct PassOptions {
  uint32_t forced_bin_px = 0, vertex_batch = 32, lanes = 8, l2_B = 512 * 1024;
};

/// Keeps arenas, chunks and workers from frame to frame, so that a steady state takes no memory from the system.
class PassExecutor {
 public:
  explicit PassExecutor(ThreadPool& pool);
  ~PassExecutor();
  /// Fills pass.stats and the query pools; VK_ERROR_DEVICE_LOST with "cancelled" when `cancelled` was raised.
  Status execute(PassRecord& pass, const PassOptions& options, const std::atomic<bool>& cancelled);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilegpu::exec
