// fuzz/driver/world.cpp -- a world's beginning and end: instance, device, what is there from the start; reading back, destruction.
//
// In: choices, the shape of the device. Out: objects; bytes; nothing that is left. Source: Vulkan specification, "Initialization", "Devices
// and Queues", "Object Lifetime".
#include "driver/world.hpp"

#include <algorithm>
#include <cstdlib>

#include "icd/objects.hpp"

namespace tilegpu::fuzz {
namespace {

VkBool32 VKAPI_PTR hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT,
                        const VkDebugUtilsMessengerCallbackDataEXT* data, void* self) {
  if (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) static_cast<World*>(self)->said = data->pMessage;
  return VK_FALSE;
}

/// The structures of features that programs ask for, each with all that the driver has, some of it taken away.
struct Features {
  VkPhysicalDeviceFeatures2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDeviceSynchronization2Features synchronization{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES};
  VkPhysicalDeviceDynamicRenderingFeatures rendering{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES};
  VkPhysicalDeviceDynamicRenderingLocalReadFeatures local{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES};
  VkPhysicalDeviceBufferDeviceAddressFeatures addresses{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
  VkPhysicalDeviceDescriptorIndexingFeatures indexing{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES};
  VkPhysicalDeviceHostImageCopyFeatures host_copy{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_FEATURES};
  VkPhysicalDeviceImagelessFramebufferFeatures imageless{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGELESS_FRAMEBUFFER_FEATURES};
  VkPhysicalDeviceMeshShaderFeaturesEXT mesh{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT};
  VkPhysicalDeviceTransformFeedbackFeaturesEXT feedback{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT};
  VkPhysicalDeviceConditionalRenderingFeaturesEXT conditional{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT};
  VkPhysicalDeviceRobustness2FeaturesEXT robustness{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
  VkPhysicalDeviceMaintenance5Features maintenance5{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES};
  VkPhysicalDeviceMultiviewFeatures multiview{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES};

  template <class Structure>
  void add(Structure& one, bool wanted, bool fewer, Choices& c) {
    if (!wanted) return;
    if (fewer)  // pNext lies before the members
      for (VkBool32* at = reinterpret_cast<VkBool32*>(&one.pNext + 1); at < reinterpret_cast<VkBool32*>(&one + 1); ++at) *at &= c.coin();
    one.pNext = core.pNext;
    core.pNext = &one;
  }
  /// `all`: a chain with everything in it.
  void link(bool all, Choices& c) {
    const bool fewer = !all && c.coin();
    const auto one = [&](auto& structure) { add(structure, all || !c.seldom(4), fewer, c); };
    core.pNext = nullptr;
    one(timeline), one(synchronization), one(rendering), one(local), one(addresses), one(indexing), one(host_copy), one(imageless);
    one(mesh), one(feedback), one(conditional), one(robustness), one(maintenance5), one(multiview);
  }
};

}  // namespace

VkResult World::checked(const char* command, VkResult result) {
  if (!is_allowed(command, result)) fail(std::string("vk") + command + " gave " + std::to_string(result) + ", which Vulkan does not list");
  lost = lost || result == VK_ERROR_DEVICE_LOST;
  if (result == VK_ERROR_DEVICE_LOST && !tainted) fail(std::string("vk") + command + ": the device is lost by what Vulkan allows");
  return result;
}

void World::must(const char* command, VkResult result) {
  if (result == VK_ERROR_DEVICE_LOST && tainted) {
    lost = true;
    return;
  }
  if (result != VK_SUCCESS) fail(std::string("vk") + command + " gave " + std::to_string(result) + " for what Vulkan allows");
}

void World::wrong(const char* command, VkResult result, bool tolerated) {
  lost = lost || result == VK_ERROR_DEVICE_LOST;
  if (result > 0 || (result == VK_SUCCESS && !tolerated))
    fail(std::string("vk") + command + " gave " + std::to_string(result) + " for what Vulkan forbids");
}

void World::fail(const std::string& what) const { finding(what + (said.empty() ? "" : "; the driver said: " + said)); }

World::World(Choices choices, const DeviceShape& shape) : c(choices) {
  setenv("TILEGPU_THREADS", shape.threads, 1), setenv("TILEGPU_LANES", shape.lanes, 1), setenv("TILEGPU_BIN", shape.bin_px, 1);
  width_px = 1 + c.below(48), height_px = 1 + c.below(40);
  make_instance();
  make_device();
  if (!device) return;
  VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  TILEGPU_MUST(*this, CreateCommandPool, device, &info, nullptr, &pool);
  make_layouts();
}

World::~World() = default;

void World::make_instance() {
  load_globals(vk);
  VkDebugUtilsMessengerCreateInfoEXT messenger{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  messenger.messageSeverity = 0x1111, messenger.messageType = 7, messenger.pfnUserCallback = hear, messenger.pUserData = this;
  const char* extensions[] = {"VK_EXT_debug_utils", "VK_KHR_get_physical_device_properties2", "VK_KHR_surface", "VK_EXT_headless_surface"};
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_MAKE_API_VERSION(0, 1, c.below(5), 0);
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, &messenger};
  if (!c.seldom(8)) info.pApplicationInfo = &application;
  info.enabledExtensionCount = 4, info.ppEnabledExtensionNames = extensions;
  must("CreateInstance", vk.CreateInstance(&info, nullptr, &instance));
  load(vk, instance);
  VkDebugUtilsMessengerEXT made = nullptr;
  TILEGPU_MUST(*this, CreateDebugUtilsMessengerEXT, instance, &messenger, nullptr, &made);
  uint32_t count = 1;
  TILEGPU_MUST(*this, EnumeratePhysicalDevices, instance, &count, &gpu);
  if (count != 1) fail("there is not one physical device");
}

void World::make_device() {
  Features features;
  features.link(true, c);
  vk.GetPhysicalDeviceFeatures2(gpu, &features.core);
  const bool all = !c.seldom(4);
  features.link(all, c);
  uint32_t count = 0;
  TILEGPU_MUST(*this, EnumerateDeviceExtensionProperties, gpu, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> listed(count);
  TILEGPU_MUST(*this, EnumerateDeviceExtensionProperties, gpu, nullptr, &count, listed.data());
  std::vector<const char*> names;
  for (const VkExtensionProperties& one : listed)
    if (all || !c.seldom(8)) names.push_back(one.extensionName);
  const float priority = 1;
  VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queues.queueCount = 1, queues.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features.core};
  info.queueCreateInfoCount = 1, info.pQueueCreateInfos = &queues;
  info.enabledExtensionCount = static_cast<uint32_t>(names.size()), info.ppEnabledExtensionNames = names.data();
  TILEGPU_MUST(*this, CreateDevice, gpu, &info, nullptr, &device);
  vk.GetDeviceQueue(device, 0, 0, &queue);
  core = device->core;
}

bool World::finish() {
  if (!lost) submit();
  if (!lost) wait_idle();
  return !lost;
}

/// Of everything that the host can see: all memory but what is lazily allocated.
void World::read_back() {
  for (const auto& memory : memories) {
    if (!memory->handle || memory->type != 0) continue;
    void* data = memory->data;
    if (!data) TILEGPU_MUST(*this, MapMemory, device, memory->handle, 0, VK_WHOLE_SIZE, 0, &data);
    const auto* const from = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), from, from + memory->size_B);
    if (!memory->data) vk.UnmapMemory(device, memory->handle);
  }
}

void World::run() {
  using Step = void (World::*)();
  constexpr Step kSteps[] = {&World::step_draws,
                             &World::step_draws,
                             &World::step_shader_objects,
                             &World::step_pass,
                             &World::step_pass,
                             &World::step_dispatch,
                             &World::step_transfer,
                             &World::step_transfer,
                             &World::step_transfer,
                             &World::step_submit,
                             &World::step_submit,
                             &World::step_sync,
                             &World::step_query,
                             &World::step_event,
                             &World::step_secondary,
                             &World::step_barrier,
                             &World::step_memory,
                             &World::step_buffer,
                             &World::step_image,
                             &World::step_image,
                             &World::step_view,
                             &World::step_sampler,
                             &World::step_host,
                             &World::step_destroy,
                             &World::step_swapchain,
                             &World::step_host_copy,
                             &World::step_wrong,
                             &World::step_wrong,
                             &World::step_descriptors,
                             &World::step_pipeline_objects,
                             &World::step_queries_of_device};
  constexpr int kMostSteps = 120;
  const uint8_t ending = c.byte();
  for (int k = 0; k < kMostSteps && !c.at_end() && !lost; ++k) (this->*c.of(kSteps))();
  if (ending % 64 == 63) return abandon();
  if (finish() && !tainted) read_back();
  destroy_all();
}

// In an order that Vulkan allows and that is not always the same.
void World::destroy_all() {
  drop();
  if (!lost) TILEGPU_MUST(*this, DeviceWaitIdle, device);
  for (const auto& chain : swapchains) {
    if (chain->handle) vk.DestroySwapchainKHR(device, chain->handle, nullptr);
    if (chain->surface) vk.DestroySurfaceKHR(instance, chain->surface, nullptr);
  }
  const auto objects = [&] {
    for (const auto& p : pipelines) vk.DestroyPipeline(device, p->handle, nullptr);
    for (const VkPipeline p : libraries) vk.DestroyPipeline(device, p, nullptr);
    for (const VkShaderEXT s : shaders) vk.DestroyShaderEXT(device, s, nullptr);
    for (const VkFramebuffer f : framebuffers) vk.DestroyFramebuffer(device, f, nullptr);
    for (const VkRenderPass r : render_passes) vk.DestroyRenderPass(device, r, nullptr);
    for (const VkShaderModule m : modules) vk.DestroyShaderModule(device, m, nullptr);
    vk.DestroyPipelineCache(device, cache, nullptr);
  };
  const auto resources = [&] {
    for (const auto& list : {views, targets})
      for (const auto& v : list) vk.DestroyImageView(device, v->handle, nullptr);
    for (const auto& v : buffer_views) vk.DestroyBufferView(device, v->handle, nullptr);
    vk.DestroyBufferView(device, texels, nullptr);
    for (const auto& s : samplers) vk.DestroySampler(device, s->handle, nullptr);
    for (const VkSamplerYcbcrConversion y : conversions) vk.DestroySamplerYcbcrConversion(device, y, nullptr);
    const bool memory_first = c.coin();
    const auto free_all = [&] {
      for (const auto& m : memories) vk.FreeMemory(device, m->handle, nullptr);
    };
    if (memory_first) free_all();
    for (const auto& i : images)
      if (!i->of_swapchain) vk.DestroyImage(device, i->handle, nullptr);
    for (const auto& b : buffers) vk.DestroyBuffer(device, b->handle, nullptr);
    if (!memory_first) free_all();
  };
  const auto layouts = [&] {
    vk.DestroyDescriptorUpdateTemplate(device, update_template, nullptr),
        vk.DestroyDescriptorUpdateTemplate(device, push_template, nullptr);
    for (const VkPipelineLayout l : {layout, pushed_layout}) vk.DestroyPipelineLayout(device, l, nullptr);
    for (const VkDescriptorSetLayout l : {set_layout, push_layout, input_layout}) vk.DestroyDescriptorSetLayout(device, l, nullptr);
    for (const auto& l : loose_layouts) vk.DestroyDescriptorSetLayout(device, l->handle, nullptr);
    vk.DestroyDescriptorPool(device, set_pool, nullptr);
  };
  const auto others = [&] {
    for (const auto& q : queries) vk.DestroyQueryPool(device, q->handle, nullptr);
    for (const auto& s : semaphores) vk.DestroySemaphore(device, s->handle, nullptr);
    for (const auto& e : events) vk.DestroyEvent(device, e->handle, nullptr);
    for (const auto& f : fences) vk.DestroyFence(device, f->handle, nullptr);
    for (const VkPrivateDataSlot s : slots) vk.DestroyPrivateDataSlot(device, s, nullptr);
    vk.DestroyCommandPool(device, pool, nullptr);
  };
  switch (c.below(3)) {
    case 0:
      objects(), resources(), layouts(), others();
      break;
    case 1:
      others(), layouts(), objects(), resources();
      break;
    default:
      layouts(), resources(), others(), objects();
      break;
  }
  vk.DestroyDevice(device, nullptr);
  vk.DestroyInstance(instance, nullptr);
}

// Vulkan wants all of it destroyed before; the driver survives it.
void World::abandon() {
  abandoned = true;
  if (c.coin()) submit();
  vk.DestroyDevice(device, nullptr);
  vk.DestroyInstance(instance, nullptr);
}

}  // namespace tilegpu::fuzz
