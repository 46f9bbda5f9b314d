// fuzz/driver/world.hpp -- what a program on the driver has: an instance, a device, objects with what is known of them, and the command
// buffer that it records.
//
// In: choices. Out: calls of the driver, results that Vulkan allows, bytes that two worlds of the same choices must agree about.
// Source: Vulkan specification, "Object Lifetime", "Command Buffer Lifecycle".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/finding.hpp"
#include "driver/commands.hpp"
#include "tilegpu/device.hpp"
#include "tilegpu/format.hpp"

namespace tilegpu::fuzz {

/// How the driver's device is to be: as of TILEGPU_THREADS, TILEGPU_LANES, TILEGPU_BIN.
struct DeviceShape {
  const char *threads, *lanes, *bin_px;
};

struct MemoryModel {
  VkDeviceMemory handle = nullptr;
  uint64_t size_B = 0, used_B = 0;
  uint32_t type = 0;
  uint8_t* data = nullptr;  ///< mapped
  bool exportable = false;
};
struct BufferModel {
  VkBuffer handle = nullptr;
  uint64_t size_B = 0;
  VkBufferUsageFlags usage = 0;
  std::shared_ptr<MemoryModel> memory;
  uint64_t offset_B = 0;
  uint8_t* data() const { return memory && memory->data ? memory->data + offset_B : nullptr; }
};
struct ImageModel {
  VkImage handle = nullptr;
  VkImageCreateInfo info{};
  const vk::FormatInfo* format = nullptr;
  std::shared_ptr<MemoryModel> memory;
  bool of_swapchain = false;
  VkExtent3D extent(uint32_t level) const;
};
struct ViewModel {
  VkImageView handle = nullptr;
  std::shared_ptr<ImageModel> image;
  VkImageViewCreateInfo info{};
  VkFormat format() const { return info.format; }
};
struct BufferViewModel {
  VkBufferView handle = nullptr;
};
struct SamplerModel {
  VkSampler handle = nullptr;
  bool compares = false;
};
/// What a pass draws to, as pipelines must know it.
struct PassShape {
  std::vector<VkFormat> colors;  ///< VK_FORMAT_UNDEFINED: none
  VkFormat depth = VK_FORMAT_UNDEFINED;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  uint32_t view_mask = 0;
  std::vector<VkFormat> inputs;  ///< by InputAttachmentIndex
  VkRenderPass render_pass = nullptr;
  uint32_t subpass = 0;
  bool operator==(const PassShape&) const = default;
};
struct PipelineModel {
  VkPipeline handle = nullptr;
  PassShape shape;
  bool compute = false, indexed_restart = false, mesh = false, captures = false;
  VkPipelineLayout layout = nullptr;
  bool reads_inputs = false;
  std::vector<VkDynamicState> dynamic;
};
struct QueryModel {
  VkQueryPool handle = nullptr;
  VkQueryType type = VK_QUERY_TYPE_OCCLUSION;
  uint32_t count = 0;
  std::vector<bool> reset, used;  ///< by commands that were recorded
};
struct SemaphoreModel {
  VkSemaphore handle = nullptr;
  bool timeline = false, exportable = false, signaled = false;
  uint64_t value = 0;  ///< of a timeline: of all that is signalled, or will be without the host's help
};
struct EventModel {
  VkEvent handle = nullptr;
};
struct FenceModel {
  VkFence handle = nullptr;
  bool pending = false;
};
struct SwapchainModel {
  VkSwapchainKHR handle = nullptr;
  VkSurfaceKHR surface = nullptr;
  std::vector<std::shared_ptr<ImageModel>> images;
  std::vector<uint32_t> acquired;
  bool retired = false;
};
struct SetLayoutModel {
  VkDescriptorSetLayout handle = nullptr;
};

/// The command buffer that is being recorded, and what is open in it.
struct Recording {
  VkCommandBuffer handle = nullptr;
  bool secondary = false;
  bool in_pass = false, dynamic = false, suspended = false;
  std::optional<PassShape> shape;
  VkRect2D area{};
  uint32_t layers = 1;
  std::vector<std::shared_ptr<ViewModel>> views;   ///< of the pass's attachments: nothing else may use their images
  std::vector<std::shared_ptr<ViewModel>> inputs;  ///< of the open subpass, by index
  uint32_t subpasses = 0;
  VkSubpassContents contents = VK_SUBPASS_CONTENTS_INLINE;
  std::shared_ptr<PipelineModel> compute;  ///< bound
  bool tainted = false;                    ///< something that Vulkan forbids was recorded
  bool conditional = false;
  bool again = false;  ///< it may be submitted more than once
  uint32_t draws = 0;
};

template <class Model>
using Pool = std::vector<std::shared_ptr<Model>>;

class World {
 public:
  World(Choices choices, const DeviceShape& shape);
  ~World();
  World(const World&) = delete;

  /// Steps until the choices end; then what is there is compared, destroyed or left behind.
  void run();
  /// What two worlds of the same choices must agree about.
  const std::vector<uint8_t>& bytes() const { return bytes_; }

  // -- instance and device (world.cpp)
  void make_instance();
  void make_device();
  bool finish();  ///< false: the device is lost
  void read_back();
  void destroy_all();
  void abandon();

  // -- recording (recording.cpp)
  Recording& commands();  ///< begun
  Recording* outside();   ///< outside of passes
  void end_pass();
  void submit();  ///< what was recorded
  void drop();    ///< it instead
  void wait_idle();
  void invalidate(bool waits = true);  ///< before something is destroyed
  void step_submit();
  void step_sync();
  void step_query();
  void step_event();
  void step_barrier();
  void step_secondary();
  bool begin_query(Recording& r);
  void end_queries(Recording& r);

  // -- resources (resources.cpp)
  std::shared_ptr<MemoryModel> allocate(uint64_t size_B, uint32_t type, bool exportable);
  std::shared_ptr<BufferModel> buffer(uint64_t size_B, VkBufferUsageFlags usage);
  std::shared_ptr<ImageModel> image(const VkImageCreateInfo& info);
  std::shared_ptr<ViewModel> view(const std::shared_ptr<ImageModel>& image, VkImageViewType type, VkImageAspectFlags aspects,
                                  uint32_t level, uint32_t levels, uint32_t layer, uint32_t layers);
  /// An attachment of the world's size; `layers`: of views.
  std::shared_ptr<ViewModel> target(VkFormat format, VkSampleCountFlagBits samples, uint32_t layers);
  std::shared_ptr<SamplerModel> sampler();
  void step_memory();
  void step_buffer();
  void step_image();
  void step_view();
  void step_conversion();
  void step_sampler();
  void step_host();
  void step_destroy();
  void step_swapchain();
  void step_queries_of_device();

  // -- transfers (transfers.cpp)
  void step_transfer();
  void step_host_copy();

  // -- descriptors (descriptors.cpp)
  void make_layouts();
  void bind_sets(Recording& r, VkPipelineBindPoint point, VkPipelineLayout layout, bool inputs);
  void step_descriptors();

  // -- pipelines and draws (pipelines.cpp, passes.cpp)
  std::shared_ptr<PipelineModel> graphics_pipeline(const PassShape& shape);
  std::shared_ptr<PipelineModel> compute_pipeline();
  /// SPIR-V of the shader that pipelines have at that stage. `attributes`: of vertices.
  const std::vector<uint32_t>& shader_words(VkShaderStageFlagBits stage, const PassShape& shape, bool attributes, bool& reads_inputs);
  /// With one number that leads nowhere; null where it was refused.
  VkPipeline spoilt_pipeline(uint32_t far);
  void set_dynamic(Recording& r, const PipelineModel& pipeline);
  void step_pass();
  void step_draws();
  void draw(Recording& r);
  void step_dispatch();
  void step_pipeline_objects();

  // -- shader objects (shader_objects.cpp), what the device says of itself (answers.cpp)
  void step_shader_objects();
  void step_answers();

  // -- what Vulkan forbids and the driver checks (wrong_commands.cpp, wrong_objects.cpp)
  void step_wrong();

  /// The result of a valid call that may be other than success.
  VkResult checked(const char* command, VkResult result);
  /// The result of a valid call that can't fail but for memory.
  void must(const char* command, VkResult result);
  /// The result of a call that Vulkan forbids: an error, or `tolerated`.
  void wrong(const char* command, VkResult result, bool tolerated = false);
  [[noreturn]] void fail(const std::string& what) const;

  template <class Model, class Predicate>
  std::shared_ptr<Model> pick(const Pool<Model>& pool, Predicate predicate) {
    std::vector<std::shared_ptr<Model>> fitting;
    for (const auto& model : pool)
      if (model->handle && predicate(*model)) fitting.push_back(model);
    return fitting.empty() ? nullptr : fitting[c.below(static_cast<uint32_t>(fitting.size()))];
  }
  template <class Model>
  std::shared_ptr<Model> pick(const Pool<Model>& pool) {
    return pick(pool, [](const Model&) { return true; });
  }
  /// Of an image that no attachment of the open pass is of.
  bool is_free(const ImageModel& image) const;

  Choices c;
  Commands vk;
  VkInstance instance = nullptr;
  VkPhysicalDevice gpu = nullptr;
  VkDevice device = nullptr;
  VkQueue queue = nullptr;
  VkCommandPool pool = nullptr;
  bool lost = false;
  bool abandoned = false;               ///< nothing was destroyed but the device and the instance
  std::weak_ptr<tilegpu::Device> core;  ///< what every object of the device holds
  bool tainted = false;                 ///< what memory holds is no longer Vulkan's to say
  uint32_t width_px = 16, height_px = 16;
  std::string said;  ///< the last error that was said

  Pool<MemoryModel> memories;
  Pool<BufferModel> buffers;
  Pool<ImageModel> images;
  Pool<ViewModel> views, targets;
  Pool<BufferViewModel> buffer_views;
  Pool<SamplerModel> samplers;
  Pool<PipelineModel> pipelines;
  Pool<QueryModel> queries;
  Pool<SemaphoreModel> semaphores;
  Pool<EventModel> events;
  Pool<FenceModel> fences;
  Pool<SwapchainModel> swapchains;
  Pool<SetLayoutModel> loose_layouts;

  // What is there from the beginning: bytes for vertices, indices, indirect commands and uniforms; counters that shaders write; a texture,
  // a storage image.
  std::shared_ptr<BufferModel> arena, counters, captured;
  std::shared_ptr<ViewModel> texture, storage;
  VkBufferView texels = nullptr;
  VkDescriptorSetLayout set_layout = nullptr, push_layout = nullptr, input_layout = nullptr;
  VkPipelineLayout layout = nullptr, pushed_layout = nullptr;
  VkDescriptorPool set_pool = nullptr;
  VkDescriptorUpdateTemplate update_template = nullptr, push_template = nullptr;
  VkPipelineCache cache = nullptr;
  std::vector<VkShaderModule> modules;
  std::vector<VkRenderPass> render_passes;
  std::vector<VkFramebuffer> framebuffers;
  std::vector<VkPipeline> libraries;
  std::vector<VkShaderEXT> shaders;
  std::vector<VkDescriptorSet> sets;
  std::vector<VkPrivateDataSlot> slots;
  std::vector<VkCommandBuffer> recorded;  ///< all that the pool has
  VkCommandBuffer again = nullptr;        ///< was submitted, and may be once more
  std::vector<VkSamplerYcbcrConversion> conversions;

  Recording recording;
  std::vector<std::pair<std::shared_ptr<QueryModel>, uint32_t>> active_queries;

 private:
  std::vector<uint8_t> bytes_;
};

// Arena's places.
inline constexpr uint64_t kArena_B = 8192, kVertices_B = 0, kIndices_B = 2048, kIndirect_B = 3072, kCount_B = 3968, kUniform_B = 4096,
                          kScratch_B = 5120;
inline constexpr uint64_t kCounters_B = 4096;

#define TILEGPU_MUST(world, name, ...) (world).must(#name, (world).vk.name(__VA_ARGS__))
#define TILEGPU_CHECKED(world, name, ...) (world).checked(#name, (world).vk.name(__VA_ARGS__))
#define TILEGPU_WRONG(world, name, ...) (world).wrong(#name, (world).vk.name(__VA_ARGS__))

}  // namespace tilegpu::fuzz
