// icd/objects.hpp -- what Vulkan's handles point to. Non-dispatchable objects share the core's object, so that work that still runs keeps
// it alive when a program destroys it early.
// In: create infos. Out: handles.
// Source: Vulkan specification, "Object Model"; the loader's driver interface: a dispatchable object begins with the loader's word.
#pragma once

#include "vk/platforms.hpp"

#include <vulkan/vk_icd.h>

#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "icd/capabilities.hpp"
#include "icd/semaphore_payload.hpp"
#include "tilegpu/device.hpp"
#include "vk/given.hpp"

// --- dispatchable: the loader writes its own pointer over the first word

struct VkPhysicalDevice_T {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  VkInstance instance = nullptr;
};

struct VkInstance_T {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  uint32_t api_version = VK_API_VERSION_1_0;  ///< that the program asked for
  tilegpu::icd::ExtensionSet extensions;
  VkPhysicalDevice_T physical_device;
  std::mutex lock;  ///< of messengers
  std::set<VkDebugUtilsMessengerEXT> messengers;
  std::set<VkDebugReportCallbackEXT> report_callbacks;
};

namespace tilegpu::icd {

/// One VkSubmitInfo2, with shared objects: a program may destroy what it has waited for while others still look.
struct Batch {
  std::vector<std::pair<std::shared_ptr<struct Semaphore>, uint64_t>> waits, signals;
  std::vector<std::shared_ptr<tilegpu::CommandBuffer>> command_buffers;
  std::shared_ptr<struct Fence> fence;
};

class ShaderPipelines;

/// What others see of a semaphore once `after` has ended.
struct ForeignSignal {
  std::shared_ptr<tilegpu::Submission> after;
  std::shared_ptr<SemaphorePayload> payload;
  uint64_t value = 0;
};

}  // namespace tilegpu::icd

struct VkQueue_T {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  VkDevice device = nullptr;
  std::mutex lock;
  std::shared_ptr<tilegpu::Submission> last;  ///< null: nothing was submitted
  std::deque<tilegpu::icd::Batch> deferred;   ///< behind a wait for a value that nobody has submitted yet
  std::thread deferring;                      ///< submits them; joined by vkDestroyDevice
  bool ending = false;
  std::deque<tilegpu::icd::ForeignSignal> foreign;  ///< of semaphores that others have too, in order
  std::condition_variable foreign_added;
  std::thread signaling;  ///< makes them when their work has ended; joined by vkDestroyDevice
};

struct VkDevice_T {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  VkInstance instance = nullptr;
  std::shared_ptr<tilegpu::Device> core;
  tilegpu::icd::ExtensionSet extensions;
  tilegpu::icd::Features features;
  std::function<void(const std::string&)> tolerate;  ///< DeviceCreateInfo's, for objects that the core makes without a device
  VkQueue_T queue;
  std::atomic<uint64_t> allocated_B = 0;
  std::atomic<bool> lost = false;
  std::mutex timeline_lock;
  std::condition_variable timeline_moved;                           ///< a semaphore has a new value, or one that is on its way
  std::mutex lock;                                                  ///< of what is below
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> private_data;   ///< (slot, object): value
  std::set<std::string> warned;                                     ///< what need not be said again
  std::shared_ptr<tilegpu::icd::ShaderPipelines> shader_pipelines;  ///< has a lock of its own
  std::map<const void*, std::function<void()>> threads;             ///< by object: ends one that looks at the device
  std::string fault;                                                ///< why it is lost; "": it is not
};

namespace tilegpu::icd {

/// What dynamic rendering draws to, for pipelines that are made at draws (icd/shader_pipelines.hpp).
struct RenderingTargets {
  static constexpr uint32_t kByType = ~1U;  ///< an index that nobody gave: variables without InputAttachmentIndex read it
  std::array<VkFormat, kMaxColorAttachments> color{};
  uint32_t colors = 0;
  VkFormat depth = VK_FORMAT_UNDEFINED, stencil = VK_FORMAT_UNDEFINED;
  std::array<uint32_t, kMaxColorAttachments> locations = {0, 1, 2, 3, 4, 5, 6, 7};  ///< VkRenderingAttachmentLocationInfo
  std::array<uint32_t, kMaxColorAttachments> inputs = {0, 1, 2, 3, 4, 5, 6, 7};     ///< VkRenderingInputAttachmentIndexInfo, these three
  uint32_t depth_input = kByType, stencil_input = kByType;
};

/// The render pass that is being recorded.
struct OpenPass {
  VkRenderPass render_pass = nullptr;  ///< null: none, or dynamic rendering; of a secondary command buffer the inherited one
  uint32_t subpass = 0;
  bool rendering = false;
  VkRect2D area = {};
  uint32_t layers = 1;
  uint32_t view_mask = 0;            ///< of dynamic rendering
  RenderingTargets targets;          ///< of dynamic rendering
  uint32_t unbacked_colors = 0;      ///< of dynamic rendering: those without a view, which nothing writes
  VkImageAspectFlags unbacked = 0;   ///< the same of depth and stencil
  std::vector<VkImageView> views;    ///< of the framebuffer's attachments
  std::vector<VkClearValue> clears;  ///< by attachment
  /// Timestamps that are written inside of the pass: a pass of tiles has no time between its draws, so that they follow it.
  std::vector<std::pair<VkQueryPool, uint32_t>> timestamps;
  std::vector<VkBuffer> counters;  ///< that transform feedback ended with, inside of the pass
};

/// VkDynamicState of colours, by location, as far as it was set.
struct ColorStates {
  std::array<std::optional<VkBool32>, kMaxColorAttachments> enable, write_enable;
  std::array<std::optional<VkColorBlendEquationEXT>, kMaxColorAttachments> equation;
  std::array<std::optional<VkColorBlendAdvancedEXT>, kMaxColorAttachments> advanced;
  std::array<bool, kMaxColorAttachments> advanced_last{};  ///< set after the equation
  std::array<std::optional<VkColorComponentFlags>, kMaxColorAttachments> write_mask;
  DynamicStates pipeline_takes;  ///< of these, the bound pipeline
  // What the core was given last: for which pipeline's states, in which subpass.
  DynamicStates taken;
  uint32_t subpass = 0;
  bool changed = false;
};

/// Stages of graphics that shader objects are of, in the order of a pipeline.
inline constexpr std::array kShaderStages = {
    VK_SHADER_STAGE_VERTEX_BIT,
    VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT,
    VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT,
    VK_SHADER_STAGE_GEOMETRY_BIT,
    VK_SHADER_STAGE_TASK_BIT_EXT,
    VK_SHADER_STAGE_MESH_BIT_EXT,
    VK_SHADER_STAGE_FRAGMENT_BIT,
};

/// VK_EXT_shader_object: what vkCmdBindShadersEXT bound, and the pipeline that the last draw had of it.
struct BoundShaders {
  std::array<std::shared_ptr<const struct ShaderObject>, kShaderStages.size()> graphics;
  bool in_use = false;      ///< in place of a graphics pipeline
  bool no_compute = false;  ///< nothing is bound for dispatches, whatever the core has
  bool changed = false;     ///< they, what they draw to, or what the core has bound
  /// Of states that a draw may be without, those that are set (also before shaders are bound), and of these the ones that matter to what
  /// is bound, and those that its pipeline takes.
  DynamicStates given, optional, taken;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;  ///< as set last
  bool colors_lost = false;                               ///< a pipeline was bound that does not take all states of colours
  bool viewports_fixed = false;                           ///< by a pipeline, and not set since
  bool scissors_fixed = false;                            ///< the same
};

/// Conditional rendering that was begun outside of render passes.
struct OpenCondition {
  BufferPlace place;
  bool inverted = false;
};

}  // namespace tilegpu::icd

struct VkCommandBuffer_T {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  VkDevice device = nullptr;
  VkCommandPool pool = nullptr;
  std::shared_ptr<tilegpu::CommandBuffer> core;
  std::vector<std::string> labels;  ///< open ones, by VK_EXT_debug_utils
  VkResult result = VK_SUCCESS;     ///< of what was recorded: the first error, which vkEndCommandBuffer gives
  tilegpu::icd::OpenPass pass;
  tilegpu::icd::ColorStates colors;
  tilegpu::icd::BoundShaders shaders;
  std::optional<tilegpu::icd::OpenCondition> condition;
};

// --- non-dispatchable

struct VkDebugUtilsMessengerEXT_T {
  VkDebugUtilsMessengerCreateInfoEXT info;
};
struct VkDebugReportCallbackEXT_T {
  VkDebugReportCallbackCreateInfoEXT info;
};
struct VkDeviceMemory_T {
  std::shared_ptr<tilegpu::DeviceMemory> core;  ///< null: lazily allocated
  uint64_t size_B = 0;
  uint64_t of_heap_B = 0;  ///< that it takes of the heap: nothing where it is lazily allocated or the host's
};
struct VkBuffer_T {
  std::shared_ptr<tilegpu::Buffer> core;
};
struct VkImage_T {
  std::shared_ptr<tilegpu::Image> core;
  VkImageTiling tiling = VK_IMAGE_TILING_OPTIMAL;
};
struct VkBufferView_T {
  std::shared_ptr<tilegpu::BufferView> core;
};
struct VkImageView_T {
  std::shared_ptr<tilegpu::ImageView> core;
  std::shared_ptr<tilegpu::ImageView> sliced;  ///< what storage images reach, where that is a part of a volume; else null
};
struct VkSamplerYcbcrConversion_T {
  std::shared_ptr<tilegpu::SamplerYcbcrConversion> core;
};
struct VkSampler_T {
  std::shared_ptr<tilegpu::Sampler> core;
};
struct VkQueryPool_T {
  std::shared_ptr<tilegpu::QueryPool> core;
};
struct VkShaderModule_T {
  std::vector<uint32_t> words;
  std::mutex lock;
  /// By name and stage; made when a pipeline asks for one.
  std::map<std::pair<std::string, VkShaderStageFlagBits>, std::shared_ptr<tilegpu::ShaderModule>> entry_points;
};
struct VkPipelineCache_T {};
struct VkDescriptorSetLayout_T {
  std::shared_ptr<const tilegpu::DescriptorSetLayout> core;
};
struct VkDescriptorSet_T {
  std::shared_ptr<tilegpu::DescriptorSet> core;
};
struct VkDescriptorPool_T {
  std::set<VkDescriptorSet> sets;
};
struct VkDescriptorUpdateTemplate_T {
  std::vector<VkDescriptorUpdateTemplateEntry> entries;
  VkDescriptorUpdateTemplateType type;
  VkPipelineBindPoint bind_point;  ///< of those that are pushed
};
struct VkPipelineLayout_T {
  std::shared_ptr<const tilegpu::PipelineLayout> core;
};
namespace tilegpu::icd {

/// What a graphics pipeline is made of, or some parts of that (icd/pipeline_library.hpp).
struct PipelineParts {
  VkGraphicsPipelineLibraryFlagsEXT parts = 0;
  tilegpu::GraphicsPipelineCreateInfo info;  ///< of the parts alone
  std::vector<VkViewport> viewports;
  std::vector<VkRect2D> scissors;
  tilegpu::DynamicStates dynamic_colors;
};

}  // namespace tilegpu::icd

struct VkPipeline_T {
  std::shared_ptr<tilegpu::Pipeline> core;  ///< null: a compute pipeline, or a library
  std::shared_ptr<tilegpu::ComputePipeline> compute;
  // What the core leaves to command buffers and Vulkan lets a pipeline fix; empty where it is dynamic.
  std::vector<VkViewport> viewports;
  std::vector<VkRect2D> scissors;
  tilegpu::DynamicStates dynamic_colors;  ///< of its dynamic states, those of colours
  tilegpu::DynamicStates optional;        ///< of its dynamic states, those that need not be set (icd/dynamic_state.hpp)
  std::unique_ptr<const tilegpu::icd::PipelineParts> library = nullptr;
};
struct VkShaderEXT_T {
  std::shared_ptr<tilegpu::icd::ShaderObject> shared;
};
struct VkCommandPool_T {
  std::set<VkCommandBuffer> buffers;
};

namespace tilegpu::icd {

/// Signaled, or it will be when `pending` is.
struct Fence {
  std::mutex lock;
  bool signaled = false;
  std::shared_ptr<tilegpu::Submission> pending;
};

/// Binary semaphores need no state where they are the device's alone: there is one queue, and it keeps the order of submission.
struct Semaphore {
  bool timeline = false;
  std::shared_ptr<SemaphorePayload> payload;  ///< of those that others may have too
  /// It has values: of timelines, and numbers of binary signals that others see.
  bool counts() const { return timeline || payload; }
  // Of those that count, under the device's timeline_lock:
  uint64_t value = 0;
  std::vector<std::pair<uint64_t, std::shared_ptr<tilegpu::Submission>>> pending;  ///< values on their way, in order
};

}  // namespace tilegpu::icd

namespace tilegpu::icd {

/// Of a VkSubpassDescription2, attachments by number; VK_ATTACHMENT_UNUSED where there is none.
struct Subpass {
  std::vector<uint32_t> color;                    ///< that the shader writes, by location
  std::vector<uint32_t> resolve;                  ///< of each color
  std::vector<uint32_t> inputs;                   ///< by InputAttachmentIndex
  std::vector<VkImageAspectFlags> input_aspects;  ///< of each, those that shaders read: depth and stencil may be two of one attachment
  std::vector<uint32_t> fetched;  ///< of these: read from memory, since no tile has them beside the others (icd/subpass.hpp)
  uint32_t depth_stencil = VK_ATTACHMENT_UNUSED, depth_stencil_resolve = VK_ATTACHMENT_UNUSED;
  VkResolveModeFlagBits depth_resolve_mode = VK_RESOLVE_MODE_NONE, stencil_resolve_mode = VK_RESOLVE_MODE_NONE;
  uint32_t tile_pass = 0;  ///< its number in VkRenderPass_T::tile_passes
  uint32_t view_mask = 0;
  uint32_t shading_rate = VK_ATTACHMENT_UNUSED;  ///< VkFragmentShadingRateAttachmentInfoKHR
  VkExtent2D shading_rate_texel = {0, 0};
  bool keeps_apart = false;     ///< from those before it: VkRenderPassCreationControlEXT
  uint32_t single_sampled = 0;  ///< VkMultisampledRenderToSingleSampledInfoEXT: samples that attachments of one are rendered to with
};

/// Subpasses that are one pass of tiles (icd/subpass.hpp). Attachments by number.
struct TilePass {
  uint32_t first = 0, last = 0;   ///< subpasses, all with the same views and the same attachment of shading rates
  std::vector<uint32_t> color;    ///< written, or read as inputs, by any of them
  std::vector<uint32_t> resolve;  ///< of each color
  uint32_t depth_stencil = VK_ATTACHMENT_UNUSED, depth_stencil_resolve = VK_ATTACHMENT_UNUSED;
  VkResolveModeFlagBits depth_resolve_mode = VK_RESOLVE_MODE_NONE, stencil_resolve_mode = VK_RESOLVE_MODE_NONE;
  uint32_t single_sampled = 0;  ///< of all of its subpasses
};

}  // namespace tilegpu::icd

struct VkRenderPass_T {
  std::vector<VkAttachmentDescription2> attachments;  ///< pNext is null
  std::vector<tilegpu::icd::Subpass> subpasses;
  std::vector<VkSubpassDependency2> dependencies;  ///< pNext is null
  bool keeps_apart = false;                        ///< VkRenderPassCreationControlEXT: each subpass is a tile pass
  std::vector<tilegpu::icd::TilePass> tile_passes;
  std::vector<std::pair<uint32_t, uint32_t>> uses;  ///< of each attachment: the first and the last subpass
  std::string name;                                 ///< by VK_EXT_debug_utils
};
struct VkFramebuffer_T {
  std::vector<VkImageView> views;  ///< empty: imageless
  uint32_t width_px, height_px, layers;
};
struct VkFence_T {
  std::shared_ptr<tilegpu::icd::Fence> shared;
};
struct VkSemaphore_T {
  std::shared_ptr<tilegpu::icd::Semaphore> shared;
  std::shared_ptr<tilegpu::icd::Semaphore> temporary;  ///< in its place until the next wait was submitted; mostly null
};
struct VkEvent_T {
  std::shared_ptr<tilegpu::Event> core;
};
struct VkPrivateDataSlot_T {
  uint64_t number;
};

namespace tilegpu::icd {

/// A handle as a number, for tables by object.
template <class Handle>
uint64_t number_of(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}

/// Private data of an object that ends: another one may come to lie where it was.
void forget(VkDevice device, uint64_t object);

/// The end of an object without a loader's word; null: nothing.
template <class Handle>
void discard(VkDevice device, Handle handle) {
  if (!handle) return;
  forget(device, number_of(handle));
  delete handle;
}

using vk::given;

/// The structure of that type in a pNext chain; null: none.
template <class Structure>
const Structure* find_next(const void* next, VkStructureType type) {
  for (auto* s = static_cast<const VkBaseInStructure*>(next); s; s = s->pNext)
    if (given(s->sType) == type) return reinterpret_cast<const Structure*>(s);
  return nullptr;
}
template <class Structure>
Structure* find_next(void* next, VkStructureType type) {
  return const_cast<Structure*>(find_next<Structure>(static_cast<const void*>(next), type));
}

/// vkEnumerate*: `count` items to the caller's array as far as they fit.
template <class T, class Fill>
VkResult enumerate(uint32_t count, uint32_t* capacity, T* out, Fill fill) {
  assert(capacity);
  if (!out) {
    *capacity = count;
    return VK_SUCCESS;
  }
  const uint32_t given = *capacity < count ? *capacity : count;
  for (uint32_t i = 0; i < given; ++i) fill(i, out[i]);
  *capacity = given;
  return given < count ? VK_INCOMPLETE : VK_SUCCESS;
}

}  // namespace tilegpu::icd
