// tilegpu/device.hpp -- the device: profile, threads, code generator; its queue.
#pragma once

#include <functional>

#include "tilegpu/compute.hpp"
#include "tilegpu/device_info.hpp"
#include "tilegpu/submission.hpp"

namespace tilegpu {

struct DeviceCreateInfo {
  std::string profile = "host";
  uint32_t threads = 0;                     ///< 0: what affinity and cgroup quota allow
  uint32_t lanes = 0;                       ///< 4, 8 or 16; 0: 16 with AVX-512, else 8
  std::string jit_target;                   ///< "" (this CPU), "baseline" (x86-64-v3, armv8-a), "x86-64-v4"
  uint32_t bin_px = 0;                      ///< side of a bin of the profile "host": 32, 64, 128; 0: chosen from the layout
  uint32_t vertex_batch = 0;                ///< unique vertices in a batch; 0: the profile's (of host 32, or none where indices are dense)
  std::string cache_dir;                    ///< "": the user's cache directory; "off": no disk cache
  uint64_t tiler_heap_B = 0;                ///< beyond it a pass is split (incremental rendering); 0: the profile's
  std::optional<HiddenSurfaceRemoval> hsr;  ///< of passes that do not say otherwise; none: the profile's
  bool compress_samples = true;             ///< equal samples kept once, depth as planes, clear texels: the same bits
  /// Dispatches whose buffer atomics give what depends on the order of invocations run their workgroups in order, on one thread: the same
  /// results for any number of threads. Off: on all threads, in any order.
  bool ordered_atomics = true;
  /// How often all loops of the invocations that run together may go round; beyond it they are ended, and the pass or dispatch is an error
  /// that names the loop. 0: 2^24 in passes, 2^26 in dispatches.
  uint64_t loop_budget = 0;
  /// What numbers in buffers may ask for: how many vertices, over all instances, the indirect draws of a pass have together, and how many
  /// invocations an indirect dispatch has. Beyond it nothing is executed, and the pass or dispatch is an error. 0: 2^28.
  uint64_t indirect_budget = 0;
  /// Adreno's driver sends LRZ_FLUSH after LRZ_CLEAR, so that the clear reaches memory and nothing stale is read. Off: as a driver that
  /// forgets it: passes that clear depth find bits and texels of the pass before, and pictures may lack what is there.
  bool lrz_flush = true;
  RenderMode render_mode = RenderMode::gmem;  ///< an error but for gmem where the profile has no GMEM
  /// VK_EXT_depth_range_unrestricted: depths in formats of floats are any number, and not limited to 0..1: of viewports, clears, bounds and
  /// shaders. Passes with such a format go without hidden-surface removal, which orders words of 0..1. The others are as ever.
  bool unrestricted_depth = false;
  /// VK_EXT_dynamic_rendering_unused_attachments: a pipeline may have formats where the pass has no attachment, and the other way round, a
  /// part of a pass too: nothing is drawn there, and nothing tested. False: that is one of the things that Vulkan forbids (below).
  bool unused_attachments = false;
  /// VK_EXT_vertex_attribute_robustness: an input that no vertex attribute feeds is 0. False: that is one of the things that Vulkan
  /// forbids.
  bool vertex_attribute_robustness = false;
  /// VK_EXT_legacy_vertex_attributes: an input of another numeric type than its attribute's gets the bits. Places of any alignment are read
  /// in any case. False: that is one of the things that Vulkan forbids.
  bool legacy_vertex_attributes = false;
  /// What Vulkan forbids though its outcome is plain here is an error (a use that no usage names, a clear beyond the render area, the
  /// least of a colour's samples, types that do not agree, capabilities nobody declared). With a function it is done all the
  /// same and said to it, from any thread: for who must run programs as they are.
  std::function<void(const std::string& message)> tolerate;
};

namespace device {
struct DeviceState;  // cpp/src/device/device_state.hpp
}

class TILEGPU_API Device : public std::enable_shared_from_this<Device> {
 public:
  static Expected<Ptr<Device>> create(const DeviceCreateInfo& info);
  ~Device();
  DeviceInfo info() const;
  CompileStats compile_stats() const;
  /// Names of files in the disk cache that this device has read or written.
  std::vector<std::string> cache_files() const;
  /// What passes use that do not say otherwise.
  const HiddenSurfaceRemoval& hsr() const;
  /// As tilegpu::compile_glsl, through the device's disk cache (but for shaders with #include).
  Expected<std::vector<uint32_t>> compile_glsl(const GlslSource& source, std::vector<ShaderMessage>* messages = nullptr);
  /// As ShaderModule::create; words that the disk cache knows to be valid are not validated again.
  Expected<Ptr<ShaderModule>> create_shader_module(std::vector<uint32_t> words, std::string label, const std::string& entry_point = "main");
  Expected<Ptr<Pipeline>> create_pipeline(GraphicsPipelineCreateInfo info);
  Expected<Ptr<ComputePipeline>> create_pipeline(ComputePipelineCreateInfo info);
  /// All elements null. `variable_count`: of the last binding, where the layout says that its count varies.
  Expected<Ptr<DescriptorSet>> create_descriptor_set(Ptr<const DescriptorSetLayout> layout, uint32_t variable_count = 0);
  /// The buffer's address for shaders (PhysicalStorageBuffer), a multiple of 4 GiB, until it is destroyed: no host's pointer, and the same
  /// on every run that asks in the same order. Its usage must allow it, if it says any. `wanted`: the address that it had in a capture.
  Expected<uint64_t> buffer_address(const Ptr<Buffer>& buffer, uint64_t wanted = 0);
  /// Queues the command buffers in order; returns at once. From any thread.
  Expected<Ptr<Submission>> submit(SubmitInfo info);
  /// vkQueueSubmit and vkWaitForFences in one: where nothing else runs or waits, the calling thread is the first of the workers, so that
  /// nobody has to be woken for a small pass. `goes_on` (may be empty) is called from the calling thread every few milliseconds at best;
  /// once it says no, this submission alone is cancelled. The error of the execution is the result, if there was one.
  Expected<Ptr<Submission>> submit_and_wait(SubmitInfo info, const std::function<bool()>& goes_on);
  /// Runs a pass of an ended submission once more beside what happens to the images, to trace it; leaves no mark. An error where it can't
  /// repeat what happened: the pass loads images, was split, or its shaders write memory.
  Expected<PassTrace> trace_again(const Ptr<Submission>& submission, size_t pass, TraceRequest request,
                                  const std::function<bool()>& goes_on);
  /// Submission::cancel of all that run or wait now.
  void cancel();
  void wait_idle();
  /// Until every function has its optimised code; passes from now on use it. For who measures.
  void wait_compiles();
  device::DeviceState& state() { return *state_; }

 private:
  Device();
  std::unique_ptr<device::DeviceState> state_;
};

/// The CPU is at least x86-64-v3, or aarch64; otherwise the message says what is missing. Called before any other code runs.
TILEGPU_API Status check_cpu();
TILEGPU_API const char* version();

}  // namespace tilegpu
