// device/device.cpp -- the device: made from DeviceCreateInfo, gives pipelines and sampler functions; device/submit.cpp executes.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <thread>

#include "base/host_memory.hpp"
#include "device/cpu_check.hpp"
#include "device/device_state.hpp"
#include "framebuffer/profile.hpp"
#include "pipeline/create.hpp"
#include "shader/jit/compile_crew.hpp"
#include "vk/format.hpp"

namespace tilegpu {

Status check_cpu() {
  const char* missing = exec::missing_cpu_feature();
  if (!missing) return Ok{};
  return Error{
      VK_ERROR_INCOMPATIBLE_DRIVER,
      std::string("tilegpu needs an x86-64-v3 CPU (AVX2, FMA, BMI, F16C: Intel since Haswell 2013, AMD since Zen 2017); this one has no ") +
          missing};
}

const char* version() { return "0.1.0"; }

VkFormat format_from_name(const std::string& name) {
  const vk::FormatInfo* info = vk::find_format(name);
  return info ? info->format : VK_FORMAT_UNDEFINED;
}

std::string format_name(VkFormat format) {
  if (format == VK_FORMAT_UNDEFINED) return "none";
  const vk::FormatInfo* info = vk::find_format(format);
  return info ? info->name : "VkFormat " + std::to_string(static_cast<int>(format));
}

Device::Device() : state_(std::make_unique<exec::DeviceState>()) {}

Device::~Device() {
  exec::DeviceState& s = *state_;
  if (s.owner_process != 0 && s.owner_process != getpid()) {
    // Forked child: the threads behind these are the parent's; joining them would wait for ever.
    (void)s.queue.release();
    (void)s.executor.release();
    (void)s.pool.release();
  }
  if (s.queue && s.queue->on_own_thread()) {
    // The last owner was a command buffer that the queue's thread let go of: a thread can't join itself.
    std::thread([state = std::move(state_)]() mutable {
      state->queue.reset();
      state.reset();
    }).detach();
    return;
  }
  s.queue.reset();  // executes what is pending
}

Expected<Ptr<Device>> Device::create(const DeviceCreateInfo& info) {
  if (Status ok = check_cpu(); !ok) return ok.error();
  const auto invalid = [&](const std::string& text) { return Error{VK_ERROR_INITIALIZATION_FAILED, "Device: " + text}; };
  if (info.lanes != 0 && info.lanes != 4 && info.lanes != 8 && info.lanes != 16)
    return invalid("lanes is " + std::to_string(info.lanes) + "; allowed are 4, 8, 16 and 0 (chosen from the CPU)");
  if (info.bin_px != 0 && info.bin_px != 32 && info.bin_px != 64 && info.bin_px != 128)
    return invalid("bin_px is " + std::to_string(info.bin_px) + "; allowed are 32, 64, 128 and 0 (chosen from the layout)");
  if (info.vertex_batch != 0 && (info.vertex_batch < 3 || info.vertex_batch > shader::kBatchStride))
    return invalid("vertex_batch is " + std::to_string(info.vertex_batch) + "; allowed are 3 to " + std::to_string(shader::kBatchStride) +
                   " and 0 (the default)");
  if (info.threads > 256)
    return invalid("threads is " + std::to_string(info.threads) + "; allowed are 1 to 256 and 0 (what affinity and cgroup quota allow)");
  if (!framebuffer::find_profile(info.profile))
    return invalid("profile '" + info.profile + "' is not known; there are " + framebuffer::profile_names());
  const uint32_t threads = info.threads ? info.threads : exec::usable_threads();
  auto jit = shader::Jit::create({info.lanes, info.jit_target, info.cache_dir, true, threads});
  if (!jit) return jit.error();
  Ptr<Device> device(new Device);
  exec::DeviceState& s = *device->state_;
  s.info = info;
  if (!info.hsr) s.info.hsr = framebuffer::default_hsr(info.profile);
  s.threads = threads;
  s.jit = std::move(*jit);
  return device;
}

DeviceInfo Device::info() const {
  DeviceInfo info;
  state_->jit->describe(info);
  info.threads = state_->threads;
  info.profile = state_->info.profile;
  return info;
}

CompileStats Device::compile_stats() const {
  CompileStats stats = state_->jit->stats();
  stats.pipelines = state_->pipelines;
  stats.glsl_compiled = state_->glsl_compiled, stats.glsl_from_disk = state_->glsl_from_disk;
  stats.modules_validated = state_->modules_validated;
  return stats;
}

const HiddenSurfaceRemoval& Device::hsr() const { return *state_->info.hsr; }

Expected<Ptr<Pipeline>> Device::create_pipeline(GraphicsPipelineCreateInfo info) {
  state_->pipelines++;
  return pipeline::create_pipeline(*state_->jit, state_->resolved, std::move(info), state_->threads);
}

void Device::wait_compiles() { state_->jit->wait(); }

}  // namespace tilegpu

namespace tilegpu::exec {

void DeviceState::ensure_threads() {
  if (owner_process == getpid()) return;
  std::lock_guard lock(threads_mutex);
  if (owner_process == getpid()) return;
  prepare_thread();
  // A forked child has the parent's objects but not its threads; they are left alone and replaced.
  auto new_pool = std::make_unique<ThreadPool>(threads);
  auto new_executor = std::make_unique<PassExecutor>(*new_pool);
  auto new_queue = std::make_unique<Queue>();
  (void)queue.release();
  (void)executor.release();
  (void)pool.release();
  pool = std::move(new_pool), executor = std::move(new_executor), queue = std::move(new_queue);
  owner_process = getpid();
}

namespace {

shader::SamplerKey sampler_key(const ImageView& view, const Sampler* sampler) {
  shader::SamplerKey key;
  key.format = view.info().format;
  if (view.info().aspects == VK_IMAGE_ASPECT_STENCIL_BIT)
    key.aspect = VK_IMAGE_ASPECT_STENCIL_BIT;
  else if (vk::find_format(key.format)->depth_bits)
    key.aspect = VK_IMAGE_ASPECT_DEPTH_BIT;
  key.dim = view.info().type;
  const VkComponentMapping& swizzle = view.info().swizzle;
  key.swizzle = {swizzle.r, swizzle.g, swizzle.b, swizzle.a};
  key.multisampled = view.image()->sample_count() > 1;
  key.has_sampler = sampler != nullptr;
  if (sampler) key.sampler = sampler->info();
  // What is read at run time does not make another function.
  key.sampler.mip_lod_bias = key.sampler.min_lod = 0;
  key.sampler.max_lod = VK_LOD_CLAMP_NONE;
  return key;
}

std::string bytes_of(const shader::SamplerKey& key) {
  std::string bytes;
  const auto add = [&bytes](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(key.format), add(key.aspect), add(key.dim), add(key.multisampled), add(key.has_sampler);
  for (VkComponentSwizzle c : key.swizzle) add(c);
  const SamplerCreateInfo& i = key.sampler;
  add(i.mag_filter), add(i.min_filter), add(i.mipmap_mode), add(i.address_u), add(i.address_v), add(i.address_w), add(i.compare_enable),
      add(i.compare_op);
  add(i.border_color), add(i.unnormalized_coordinates);
  return bytes;
}

}  // namespace

Expected<std::vector<shader::SamplerFunctions>> DeviceState::samplers(const std::vector<SamplerRequest>& requests,
                                                                      const std::function<std::string(size_t)>& name) {
  std::vector<shader::SamplerFunctions> found(requests.size());
  std::vector<std::string> keys(requests.size());
  std::map<std::string, std::pair<size_t, uint8_t>> missing;  // by the key's bytes: the first request of them, uses
  {
    std::lock_guard lock(sampler_mutex);
    for (size_t i = 0; i < requests.size(); i++) {
      keys[i] = bytes_of(sampler_key(*requests[i].view, requests[i].sampler));
      const auto& [have, functions] = sampler_functions[keys[i]];
      found[i] = functions;
      if (requests[i].uses & ~have) missing.try_emplace(keys[i], i, 0).first->second.second |= requests[i].uses & ~have;
    }
  }
  if (missing.empty()) return found;
  std::vector<std::function<Status()>> compiles;
  for (const auto& [bytes, wanted] : missing)
    for (uint8_t use = 1; use <= wanted.second; use = static_cast<uint8_t>(use << 1)) {
      if (!(wanted.second & use)) continue;
      compiles.push_back([this, &requests, &name, &bytes = bytes, i = wanted.first, use]() -> Status {
        auto made = shader::compile_sampler(*jit, sampler_key(*requests[i].view, requests[i].sampler), use);
        if (!made) return Error{made.error().code, name(i) + ": " + made.error().message};
        std::lock_guard lock(sampler_mutex);
        auto& [have, functions] = sampler_functions[bytes];
        have |= use;
        if (made->gradient) functions.gradient = made->gradient;
        if (made->lod) functions.lod = made->lod;
        if (made->fetch) functions.fetch = made->fetch;
        if (made->gather) functions.gather = made->gather;
        if (made->implicit) functions.implicit = made->implicit;
        return Ok{};
      });
    }
  if (Status done = shader::run_compiles(threads, compiles); !done) return done.error();
  std::lock_guard lock(sampler_mutex);
  for (size_t i = 0; i < requests.size(); i++) found[i] = sampler_functions[keys[i]].second;
  return found;
}

}  // namespace tilegpu::exec
