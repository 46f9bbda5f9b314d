// fuzz/driver/commands.cpp -- see commands.hpp. In: names. Out: pointers; what Vulkan allows.
#include "driver/commands.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "common/finding.hpp"

namespace tilegpu::fuzz {
namespace {

PFN_vkVoidFunction find(VkInstance instance, const std::string& name) {
  for (const char* suffix : {"", "KHR", "EXT"})  // what is newer than the driver's version is there as an extension
    if (const auto found = vk_icdGetInstanceProcAddr(instance, (name + suffix).c_str())) return found;
  finding("vk_icdGetInstanceProcAddr has no " + name);
}

template <class Function>
void get(Function& to, VkInstance instance, const char* name) {
  to = reinterpret_cast<Function>(find(instance, name));
}

/// Beside success and the two kinds of missing memory, which are every command's.
struct Row {
  std::string_view command;
  std::initializer_list<VkResult> results;
};

const Row kRows[] = {
    {"AcquireNextImage2KHR",
     {VK_TIMEOUT, VK_NOT_READY, VK_SUBOPTIMAL_KHR, VK_ERROR_DEVICE_LOST, VK_ERROR_OUT_OF_DATE_KHR, VK_ERROR_SURFACE_LOST_KHR}},
    {"AcquireNextImageKHR",
     {VK_TIMEOUT, VK_NOT_READY, VK_SUBOPTIMAL_KHR, VK_ERROR_DEVICE_LOST, VK_ERROR_OUT_OF_DATE_KHR, VK_ERROR_SURFACE_LOST_KHR}},
    {"AllocateDescriptorSets", {VK_ERROR_FRAGMENTED_POOL, VK_ERROR_OUT_OF_POOL_MEMORY}},
    {"AllocateMemory", {VK_ERROR_INVALID_EXTERNAL_HANDLE, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"BindBufferMemory", {VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"BindBufferMemory2", {VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"CopyImageToImage", {VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_MEMORY_MAP_FAILED}},
    {"CopyImageToMemory", {VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_MEMORY_MAP_FAILED}},
    {"CopyMemoryToImage", {VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_MEMORY_MAP_FAILED}},
    {"CreateBuffer", {VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"CreateComputePipelines", {VK_PIPELINE_COMPILE_REQUIRED}},
    {"CreateDescriptorPool", {VK_ERROR_FRAGMENTATION}},
    {"CreateDevice",
     {VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_EXTENSION_NOT_PRESENT, VK_ERROR_FEATURE_NOT_PRESENT, VK_ERROR_TOO_MANY_OBJECTS,
      VK_ERROR_DEVICE_LOST}},
    {"CreateGraphicsPipelines", {VK_PIPELINE_COMPILE_REQUIRED}},
    {"CreateImage", {VK_ERROR_COMPRESSION_EXHAUSTED_EXT, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"CreateImageView", {VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"CreateInstance", {VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_EXTENSION_NOT_PRESENT, VK_ERROR_INCOMPATIBLE_DRIVER}},
    {"CreateSampler", {VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"CreateShadersEXT", {VK_INCOMPATIBLE_SHADER_BINARY_EXT, VK_ERROR_INITIALIZATION_FAILED}},
    {"CreateSwapchainKHR",
     {VK_ERROR_DEVICE_LOST, VK_ERROR_SURFACE_LOST_KHR, VK_ERROR_NATIVE_WINDOW_IN_USE_KHR, VK_ERROR_INITIALIZATION_FAILED,
      VK_ERROR_COMPRESSION_EXHAUSTED_EXT}},
    {"DeviceWaitIdle", {VK_ERROR_DEVICE_LOST}},
    {"EnumerateDeviceExtensionProperties", {VK_INCOMPLETE}},
    {"GetEventStatus", {VK_EVENT_SET, VK_EVENT_RESET, VK_ERROR_DEVICE_LOST}},
    {"GetFenceStatus", {VK_NOT_READY, VK_ERROR_DEVICE_LOST}},
    {"GetMemoryFdKHR", {VK_ERROR_TOO_MANY_OBJECTS}},
    {"GetPhysicalDeviceImageFormatProperties2", {VK_ERROR_FORMAT_NOT_SUPPORTED}},
    {"GetPhysicalDeviceSurfaceCapabilitiesKHR", {VK_ERROR_SURFACE_LOST_KHR}},
    {"GetPhysicalDeviceSurfaceFormatsKHR", {VK_INCOMPLETE, VK_ERROR_SURFACE_LOST_KHR}},
    {"GetPipelineCacheData", {VK_INCOMPLETE}},
    {"GetQueryPoolResults", {VK_NOT_READY, VK_ERROR_DEVICE_LOST}},
    {"GetSemaphoreCounterValue", {VK_ERROR_DEVICE_LOST}},
    {"GetSemaphoreFdKHR", {VK_ERROR_TOO_MANY_OBJECTS}},
    {"GetSwapchainImagesKHR", {VK_INCOMPLETE}},
    {"ImportSemaphoreFdKHR", {VK_ERROR_INVALID_EXTERNAL_HANDLE}},
    {"MapMemory", {VK_ERROR_MEMORY_MAP_FAILED}},
    {"MapMemory2", {VK_ERROR_MEMORY_MAP_FAILED}},
    {"QueuePresentKHR", {VK_SUBOPTIMAL_KHR, VK_ERROR_DEVICE_LOST, VK_ERROR_OUT_OF_DATE_KHR, VK_ERROR_SURFACE_LOST_KHR}},
    {"QueueSubmit", {VK_ERROR_DEVICE_LOST}},
    {"QueueSubmit2", {VK_ERROR_DEVICE_LOST}},
    {"QueueWaitIdle", {VK_ERROR_DEVICE_LOST}},
    {"QueueBindSparse", {VK_ERROR_DEVICE_LOST}},
    {"WaitForPresentKHR", {VK_TIMEOUT, VK_SUBOPTIMAL_KHR, VK_ERROR_DEVICE_LOST, VK_ERROR_OUT_OF_DATE_KHR, VK_ERROR_SURFACE_LOST_KHR}},
    {"WaitForFences", {VK_TIMEOUT, VK_ERROR_DEVICE_LOST}},
    {"WaitSemaphores", {VK_TIMEOUT, VK_ERROR_DEVICE_LOST}},
};

}  // namespace

void load_globals(Commands& to) {
#define TILEGPU_FUZZED(name) get(to.name, nullptr, "vk" #name);
  TILEGPU_FUZZED_GLOBALS(TILEGPU_FUZZED)
#undef TILEGPU_FUZZED
}

void load(Commands& to, VkInstance instance) {
#define TILEGPU_FUZZED(name) get(to.name, instance, "vk" #name);
  TILEGPU_FUZZED_COMMANDS(TILEGPU_FUZZED)
#undef TILEGPU_FUZZED
}

bool is_allowed(const char* command, VkResult result) {
  if (result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY) return true;
  for (const Row& row : kRows)
    if (row.command == command) return std::find(row.results.begin(), row.results.end(), result) != row.results.end();
  return false;
}

}  // namespace tilegpu::fuzz
