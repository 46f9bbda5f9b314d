// device/device_state.hpp -- what a device owns: code generator, sampler functions, workers, queue, profile.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "exec/pass_executor.hpp"
#include "exec/queue.hpp"
#include "exec/thread_pool.hpp"
#include "pipeline/resolve.hpp"
#include "shader/compiler.hpp"
#include "shader/jit/jit.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::exec {

struct DeviceState {
  DeviceCreateInfo info;
  uint32_t threads = 1;
  std::unique_ptr<shader::Jit> jit;
  pipeline::ResolveCache resolved;
  std::atomic<bool> cancelled{false};
  std::atomic<uint64_t> pipelines{0}, glsl_compiled{0}, glsl_from_disk{0}, modules_validated{0};

  std::mutex sampler_mutex;
  std::map<std::string, std::pair<uint8_t, shader::SamplerFunctions>> sampler_functions;  // by the key's bytes; uses that exist

  // Threads do not survive a fork: the process that made them is remembered, and a child makes its own.
  std::mutex threads_mutex;
  std::atomic<int> owner_process{0};
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<PassExecutor> executor;
  void ensure_threads();

  struct SamplerRequest {
    const ImageView* view = nullptr;
    const Sampler* sampler = nullptr;  // null: fetch and size queries only
    uint8_t uses = 0;
  };
  /// Functions for (view, sampler) pairs with at least their uses. What was never asked for is compiled, on all threads at once; an error
  /// begins with what `name` says of the request.
  Expected<std::vector<shader::SamplerFunctions>> samplers(const std::vector<SamplerRequest>& requests,
                                                           const std::function<std::string(size_t)>& name);
};

}  // namespace tilegpu::exec
