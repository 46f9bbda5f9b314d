// device/device.cpp -- the device: made from DeviceCreateInfo, gives pipelines and sampler functions; device/submit.cpp executes.
// In: create infos. Out: objects.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cctype>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/at_exit.hpp"
#include "base/host_memory.hpp"
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "base/replaying.hpp"
#include "descriptor/set_memory.hpp"
#include "device/device_state.hpp"
#include "framebuffer/profile.hpp"
#include "geometry/geometry.hpp"
#include "geometry/vertex_fetch.hpp"
#include "pipeline/create.hpp"
#include "pipeline/kernel.hpp"
#include "shader/jit/compile_crew.hpp"
#include "tilegpu/cpu.hpp"
#include "tilegpu/device_info.hpp"
#include "vk/format.hpp"

namespace tilegpu {

Status check_cpu() {
  const char* missing = missing_cpu_feature();
  if (!missing) return Ok{};
  return Error{
      VK_ERROR_INCOMPATIBLE_DRIVER,
      std::string("tilegpu needs an x86-64-v3 CPU (AVX2, FMA, BMI, F16C: Intel since Haswell 2013, AMD since Zen 2017); this one has no ") +
          missing};
}

namespace {

// Threads that end devices. They work with the library's code, so its end waits for them.
struct Enders {
  const int process = getpid();
  std::mutex mutex;
  std::vector<std::thread> threads;

  void join() {
    std::vector<std::thread> all;
    {
      const std::lock_guard lock(mutex);
      all.swap(threads);
    }
    for (std::thread& thread : all) thread.join();
  }
};

// A child process leaves its parent's alone. No lock: who held it may be the parent's too.
Enders& enders() {
  static std::atomic<Enders*> all = nullptr;
  Enders* known = all;
  if (known && known->process == getpid()) return *known;
  auto* made = new Enders;
  if (!all.compare_exchange_strong(known, made)) {
    delete made;
    return *all;
  }
  if (!known) at_exit([] { enders().join(); });
  return *made;
}

void end_elsewhere(std::unique_ptr<device::DeviceState> ended) {
  assert(ended && ended->queue);
  Enders& e = enders();
  e.join();  // the threads of devices that ended long ago
  device::DeviceState* const state = ended.release();
  try {
    std::thread thread([state] {
      state->queue.reset();
      delete state;
    });
    const std::lock_guard lock(e.mutex);
    e.threads.push_back(std::move(thread));
  } catch (const std::system_error&) {  // no thread can be had: its memory is lost, nothing else
  }
}

}  // namespace

const char* version() { return "0.1.0"; }

Device::Device() : state_(std::make_unique<device::DeviceState>()) {}

Device::~Device() {
  device::DeviceState& s = *state_;
  if (s.owner_fork >= 0 && !s.owns_threads()) {
    // Forked child: the threads behind these are the parent's; joining them would wait for ever.
    (void)s.queue.release();
    (void)s.executor.release();
    (void)s.dispatcher.release();
    (void)s.pool.release();
  }
  if (s.queue && s.queue->on_own_thread()) {
    // The last owner was a command buffer that the queue's thread let go of: a thread can't join itself.
    end_elsewhere(std::move(state_));
    return;
  }
  LongWork long_work;
  long_work.begin();
  s.queue.reset();  // executes what is pending
  state_.reset();   // compiles what is to be kept on disk
}

Expected<Ptr<Device>> Device::create(const DeviceCreateInfo& info) {
  if (Status ok = check_cpu(); !ok) return ok.error();
  if (Status ok = check_memory_limit(); !ok) return ok.error();
  const auto invalid = [&](const std::string& text) { return Error{VK_ERROR_INITIALIZATION_FAILED, "Device: " + text}; };
  if (info.lanes != 0 && info.lanes != 4 && info.lanes != 8 && info.lanes != 16)
    return invalid("lanes is " + std::to_string(info.lanes) + "; allowed are 4, 8, 16 and 0 (chosen from the CPU)");
  if (info.bin_px != 0 && info.bin_px != 32 && info.bin_px != 64 && info.bin_px != 128)
    return invalid("bin_px is " + std::to_string(info.bin_px) + "; allowed are 32, 64, 128 and 0 (chosen from the layout)");
  if (const framebuffer::Profile* profile = framebuffer::find_profile(info.profile);
      info.render_mode != RenderMode::gmem && profile && profile->tile_model != framebuffer::TileModel::gmem)
    return invalid("render_mode is " + std::string(info.render_mode == RenderMode::sysmem ? "sysmem" : "autotune") + ", but profile " +
                   info.profile + " has no GMEM; leave it at gmem, or use a profile adreno-*");
  if (info.vertex_batch != 0 && (info.vertex_batch < 3 || info.vertex_batch > geometry::kMaxVertexBatch))
    return invalid("vertex_batch is " + std::to_string(info.vertex_batch) + "; allowed are 3 to " +
                   std::to_string(geometry::kMaxVertexBatch) + " and 0 (the default)");
  if (info.threads > 256)
    return invalid("threads is " + std::to_string(info.threads) + "; allowed are 1 to 256 and 0 (what affinity and cgroup quota allow)");
  if (!framebuffer::find_profile(info.profile)) return invalid("profile '" + info.profile + "' is not known; there are " + profile_names());
  const uint32_t threads = info.threads ? info.threads : exec::usable_threads();
  auto jit = shader::Jit::create({info.lanes, info.jit_target, info.cache_dir, true, threads});
  if (!jit) return jit.error();
  Ptr<Device> device(new Device);
  device::DeviceState& s = *device->state_;
  s.info = info;
  if (!info.vertex_batch) s.info.vertex_batch = framebuffer::find_profile(info.profile)->vertex_batch;
  if (!info.hsr) s.info.hsr = default_hsr(info.profile);
  s.threads = threads;
  s.jit = std::move(*jit);
  s.textures = std::make_shared<descriptor::Textures>(*s.jit, threads);
  s.textures->tolerate = info.tolerate;
  s.addresses = std::make_shared<resource::AddressSpace>();
  return device;
}

DeviceInfo Device::info() const {
  DeviceInfo info;
  state_->jit->describe(info);
  info.threads = state_->threads;
  info.profile = state_->info.profile;
  info.vertex_batch = state_->info.vertex_batch;
  const framebuffer::Profile& profile = *framebuffer::find_profile(info.profile);
  info.vertex_group = profile.vertex_group;
  info.kill_queue = profile.fpk_quads;
  info.deferred_triangle_px2 = profile.deferred_vertices ? profile.deferred_triangle_px2 : 0;
  info.vertex_input_cache_B = geometry::VertexFetch::kSize_B;
  return info;
}

CompileStats Device::compile_stats() const {
  CompileStats stats = state_->jit->stats();
  stats.pipelines = state_->pipelines;
  stats.glsl_compiled = state_->glsl_compiled, stats.glsl_from_disk = state_->glsl_from_disk;
  stats.modules_validated = state_->modules_validated;
  return stats;
}

std::vector<std::string> Device::cache_files() const { return state_->jit->cache_files(); }

const HiddenSurfaceRemoval& Device::hsr() const { return *state_->info.hsr; }

static pipeline::Leniency leniency_of(const DeviceCreateInfo& info) {
  return {info.tolerate, info.vertex_attribute_robustness, info.legacy_vertex_attributes};
}

Expected<Ptr<Pipeline>> Device::create_pipeline(GraphicsPipelineCreateInfo info) {
  state_->pipelines++;
  if (Status ok = device::forbid(*state_, pipeline::forbidden_of(info)); !ok) return ok.error();
  auto made = pipeline::create_pipeline(*state_->jit, state_->resolved, std::move(info), state_->threads, leniency_of(state_->info));
  if (!made) return made;
  if (Status ok = device::forbid(*state_, pipeline::forbidden_of((*made)->program())); !ok) return ok.error();
  (*made)->made_by.set(weak_from_this());
  return made;
}

Expected<Ptr<ComputePipeline>> Device::create_pipeline(ComputePipelineCreateInfo info) {
  state_->pipelines++;
  auto made = pipeline::create_compute_pipeline(*state_->jit, std::move(info), leniency_of(state_->info));
  if (made) (*made)->made_by.set(weak_from_this());
  return made;
}

Expected<Ptr<DescriptorSet>> Device::create_descriptor_set(Ptr<const DescriptorSetLayout> layout, uint32_t variable_count) {
  assert(layout);
  const auto invalid = [](const std::string& text) { return Error{VK_ERROR_VALIDATION_FAILED_EXT, "descriptor set: " + text}; };
  if (layout->is_push()) return invalid("the layout is for push descriptors, which no set is made for");
  const DescriptorBinding* last = layout->bindings().empty() ? nullptr : &layout->bindings().back();
  if (last && last->flags & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT && variable_count > last->count)
    return invalid("the variable count is " + std::to_string(variable_count) + "; binding " + std::to_string(last->binding) +
                   " has at most " + std::to_string(last->count));
  try {
    auto memory = descriptor::SetMemory::create(std::move(layout), state_->textures, variable_count);
    if (!memory) return memory.error();
    return std::make_shared<DescriptorSet>(std::move(*memory));
  } catch (const std::bad_alloc& refused) {
    return Error{VK_ERROR_OUT_OF_HOST_MEMORY, "descriptor set: " + refused_text(refused, "a descriptor set")};
  }
}

Expected<uint64_t> Device::buffer_address(const Ptr<Buffer>& buffer, uint64_t wanted) {
  if (!buffer) return Error{VK_ERROR_VALIDATION_FAILED_EXT, "buffer_address: the buffer is null"};
  return state_->addresses->assign(buffer, wanted);
}

void Device::wait_compiles() { state_->jit->wait(); }

}  // namespace tilegpu

namespace tilegpu::device {

Status forbid(const DeviceState& device, Status rule) { return tilegpu::forbid(device.info.tolerate, std::move(rule)); }

void DeviceState::ensure_threads() {
  if (owns_threads()) return;
  std::lock_guard lock(threads_mutex);
  if (owns_threads()) return;
  prepare_thread();
  // A forked child has the parent's objects but not its threads; they are left alone and replaced.
  auto new_pool = std::make_unique<exec::ThreadPool>(threads);
  auto new_executor = std::make_unique<exec::PassExecutor>(*new_pool);
  auto new_dispatcher = std::make_unique<exec::DispatchExecutor>(*new_pool);
  auto new_queue = std::make_unique<exec::Queue>();
  (void)queue.release();
  (void)executor.release();
  (void)dispatcher.release();
  (void)pool.release();
  new_pool->set_recorder(recorder.get());
  pool = std::move(new_pool), executor = std::move(new_executor), dispatcher = std::move(new_dispatcher), queue = std::move(new_queue);
  owner_fork.store(fork_number(), std::memory_order_release);
}

}  // namespace tilegpu::device
