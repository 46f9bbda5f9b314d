// device/device_state.hpp -- what a device owns: code generator, textures, workers, queue, profile. In: create info. Out: for device/.
#pragma once

#include <atomic>
#include <functional>

#include "descriptor/textures.hpp"
#include "exec/dispatch_executor.hpp"
#include "exec/job_recorder.hpp"
#include "exec/pass_executor.hpp"
#include "exec/queue.hpp"
#include "exec/thread_pool.hpp"
#include "pipeline/resolve.hpp"
#include "resource/address_space.hpp"
#include "shader/compiler.hpp"
#include "shader/jit/jit.hpp"
#include "tilegpu/device.hpp"
#include "tilegpu/fork_mutex.hpp"

namespace tilegpu::device {

struct DeviceState {
  DeviceCreateInfo info;
  uint32_t threads = 1;
  std::unique_ptr<shader::Jit> jit;
  pipeline::ResolveCache resolved;
  std::atomic<uint64_t> pipelines{0}, glsl_compiled{0}, glsl_from_disk{0}, modules_validated{0}, large_sets_checked{0};

  Ptr<descriptor::Textures> textures;                 // sets keep it too
  std::shared_ptr<resource::AddressSpace> addresses;  // buffers that have one keep it too

  // Threads do not survive a fork: the process that made them is remembered, and a child makes its own.
  ForkMutex threads_mutex;
  std::atomic<int64_t> owner_fork{-1};  // fork_number() where they were made; -1: there are none yet
  std::unique_ptr<exec::ThreadPool> pool;
  std::unique_ptr<exec::JobRecorder> recorder;  // null: nothing is recorded
  std::unique_ptr<exec::Queue> queue;
  std::unique_ptr<exec::PassExecutor> executor;
  std::unique_ptr<exec::DispatchExecutor> dispatcher;
  void ensure_threads();
  bool owns_threads() const { return owner_fork.load(std::memory_order_acquire) == int64_t{fork_number()}; }
};

/// What Vulkan forbids though it could be done: the error, or Ok where the device tolerates it and said so, or it is a replay of what was
/// checked before.
Status forbid(const DeviceState& device, Status rule);

/// Runs `work` in its turn of the device's queue, and waits: nothing that was submitted runs meanwhile.
Status between_submissions(Device& device, const std::function<Status()>& work);

}  // namespace tilegpu::device
