// tests/test_vulkan_addresses.cpp -- VK_KHR_buffer_device_address: a program that knows its buffers by address alone; captured addresses.
#include <atomic>
#include <thread>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

const char* kAdd = R"(#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Words { uint at[]; };
layout(push_constant) uniform Push { Words from; Words to; uint add; };
void main() { uint i = gl_GlobalInvocationID.x; to.at[i] = from.at[i] + add; })";

struct Push {
  VkDeviceAddress from, to;
  uint32_t add;
};

struct Addressing : Program {
  PFN_vkGetPhysicalDeviceFeatures2 GetPhysicalDeviceFeatures2 = nullptr;
  PFN_vkGetBufferDeviceAddress GetBufferDeviceAddress = nullptr;
  PFN_vkGetBufferOpaqueCaptureAddress GetBufferOpaqueCaptureAddress = nullptr;
  PFN_vkGetDeviceMemoryOpaqueCaptureAddress GetDeviceMemoryOpaqueCaptureAddress = nullptr;
  PFN_vkEnumerateDeviceExtensionProperties EnumerateDeviceExtensionProperties = nullptr;
  VkPipelineLayout layout = nullptr;
  VkPipeline pipeline = nullptr;
  static constexpr VkBufferUsageFlags kUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

  Addressing() {
    load(GetPhysicalDeviceFeatures2, "vkGetPhysicalDeviceFeatures2");
    load(EnumerateDeviceExtensionProperties, "vkEnumerateDeviceExtensionProperties");
    remake_device();
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
    VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.pushConstantRangeCount = 1, layout_info.pPushConstantRanges = &range;
    CHECK(CreatePipelineLayout(device, &layout_info, nullptr, &layout) == VK_SUCCESS);
    pipeline = compute_pipeline(kAdd, layout);
  }
  ~Addressing() {
    DestroyPipeline(device, pipeline, nullptr);
    DestroyPipelineLayout(device, layout, nullptr);
  }

  /// With the extension and its feature on.
  void remake_device() {
    const VkPhysicalDeviceBufferDeviceAddressFeatures wanted{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES, nullptr,
                                                             VK_TRUE, VK_TRUE, VK_FALSE};
    Program::remake_device({"VK_KHR_buffer_device_address", "VK_KHR_device_group"}, &wanted);
    const auto of_device = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(GetDeviceProcAddr(device, name));
      CHECK_MESSAGE(function, name);
    };
    of_device(GetBufferDeviceAddress, "vkGetBufferDeviceAddressKHR");
    of_device(GetBufferOpaqueCaptureAddress, "vkGetBufferOpaqueCaptureAddressKHR");
    of_device(GetDeviceMemoryOpaqueCaptureAddress, "vkGetDeviceMemoryOpaqueCaptureAddressKHR");
  }

  VkDeviceAddress address(VkBuffer buffer) {
    const VkBufferDeviceAddressInfo info{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, buffer};
    return GetBufferDeviceAddress(device, &info);
  }
  void dispatch(const Push& push, uint32_t groups) {
    VkCommandBuffer c = begin();
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    CmdPushConstants(c, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
    CmdDispatch(c, groups, 1, 1);
    run(c);
  }
};

void features_and_extensions() {
  Addressing p;
  VkPhysicalDeviceBufferDeviceAddressFeatures have{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &have};
  p.GetPhysicalDeviceFeatures2(p.physical_device, &features);
  CHECK(have.bufferDeviceAddress && have.bufferDeviceAddressCaptureReplay && !have.bufferDeviceAddressMultiDevice);
  uint32_t count = 0;
  CHECK(p.EnumerateDeviceExtensionProperties(p.physical_device, nullptr, &count, nullptr) == VK_SUCCESS);
  std::vector<VkExtensionProperties> all(count);
  CHECK(p.EnumerateDeviceExtensionProperties(p.physical_device, nullptr, &count, all.data()) == VK_SUCCESS);
  int listed = 0;
  for (const VkExtensionProperties& e : all)
    for (const char* name : {"VK_KHR_buffer_device_address", "VK_EXT_buffer_device_address"}) listed += !std::strcmp(e.extensionName, name);
  CHECK(listed == 2);
}

void words_by_address() {
  Addressing p;
  constexpr uint32_t kCount = 1024;
  const auto from = p.buffer(kCount * 4, Addressing::kUsage), to = p.buffer(kCount * 4, Addressing::kUsage);
  for (uint32_t i = 0; i < kCount; ++i) reinterpret_cast<uint32_t*>(from.data)[i] = i * 2654435761u;
  const VkDeviceAddress a = p.address(from.buffer), b = p.address(to.buffer);
  CHECK(a && b && a != b && p.address(from.buffer) == a && a % 64 == 0 && b % 64 == 0);
  p.dispatch({a, b, 5}, 32);  // twice as many invocations as there are words
  for (uint32_t i = 0; i < kCount; ++i)
    if (!CHECK(reinterpret_cast<uint32_t*>(to.data)[i] == i * 2654435761u + 5)) return;
  // Nowhere: zeros come from there, and nothing goes there.
  p.dispatch({0, b + 64, 9}, 1);
  CHECK(reinterpret_cast<uint32_t*>(to.data)[16] == 9 && reinterpret_cast<uint32_t*>(to.data)[15] == 15 * 2654435761u + 5);
  p.dispatch({a, ~0ull - 3, 9}, 4);
  p.DestroyBuffer(p.device, from.buffer, nullptr);
  p.dispatch({a, b, 1}, 1);
  CHECK(reinterpret_cast<uint32_t*>(to.data)[3] == 1);
  CHECK(p.said.empty());
  p.FreeMemory(p.device, from.memory, nullptr);

  const auto plain = p.buffer(64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  CHECK(p.address(plain.buffer) == 0 && p.heard("shader_device_address"));
  p.destroy(plain), p.destroy(to);
}

void captured_addresses() {
  Addressing p;
  const auto made = p.buffer(256, Addressing::kUsage);
  const VkBufferDeviceAddressInfo asked{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, made.buffer};
  const uint64_t opaque = p.GetBufferOpaqueCaptureAddress(p.device, &asked);
  CHECK(opaque != 0);
  const VkDeviceMemoryOpaqueCaptureAddressInfo of_memory{VK_STRUCTURE_TYPE_DEVICE_MEMORY_OPAQUE_CAPTURE_ADDRESS_INFO, nullptr, made.memory};
  (void)p.GetDeviceMemoryOpaqueCaptureAddress(p.device, &of_memory);
  VkBufferOpaqueCaptureAddressCreateInfo wanted{VK_STRUCTURE_TYPE_BUFFER_OPAQUE_CAPTURE_ADDRESS_CREATE_INFO, nullptr, opaque};
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &wanted, VK_BUFFER_CREATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT};
  info.size = 256, info.usage = Addressing::kUsage;
  VkBuffer again = nullptr;
  CHECK(p.CreateBuffer(p.device, &info, nullptr, &again) == VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
  CHECK(p.heard("one that no other buffer has"));
  p.destroy(made);
  CHECK(p.CreateBuffer(p.device, &info, nullptr, &again) == VK_SUCCESS && p.address(again) == opaque);
  p.DestroyBuffer(p.device, again, nullptr);
  wanted.opaqueCaptureAddress = opaque << 4;
  CHECK(p.CreateBuffer(p.device, &info, nullptr, &again) == VK_SUCCESS && p.address(again) == opaque << 4);
  p.DestroyBuffer(p.device, again, nullptr);
  // A set that has the buffer still keeps its memory, and not its address.
  const VkDescriptorSetLayout of_set = p.set_layout({{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
  const VkDescriptorSet set = p.descriptor_set(of_set);
  const auto held = p.buffer(256, Addressing::kUsage);
  wanted.opaqueCaptureAddress = p.address(held.buffer);
  const VkDescriptorBufferInfo of_buffer{held.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, 0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  write.pBufferInfo = &of_buffer;
  p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  p.destroy(held);
  for (int round = 0; round < 2; ++round) {
    CHECK(p.CreateBuffer(p.device, &info, nullptr, &again) == VK_SUCCESS && p.address(again) == wanted.opaqueCaptureAddress);
    p.DestroyBuffer(p.device, again, nullptr);
  }
  p.DestroyDescriptorSetLayout(p.device, of_set, nullptr);
}

// Addresses are taken and given up on some threads while another's dispatches go by theirs.
void addresses_by_threads() {
  Addressing p;
  const auto from = p.buffer(256, Addressing::kUsage), to = p.buffer(256, Addressing::kUsage);
  for (uint32_t i = 0; i < 64; ++i) reinterpret_cast<uint32_t*>(from.data)[i] = i;
  const VkDeviceAddress a = p.address(from.buffer), b = p.address(to.buffer);
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = 256, info.usage = Addressing::kUsage;
  std::atomic<uint32_t> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 300; ++k) {
        VkBuffer buffer = nullptr;
        if (p.CreateBuffer(p.device, &info, nullptr, &buffer) != VK_SUCCESS) return void(wrong++);
        const VkDeviceAddress own = p.address(buffer);
        if (!own || own == a || own == b || own != p.address(buffer)) wrong++;
        p.DestroyBuffer(p.device, buffer, nullptr);
      }
    });
  for (uint32_t k = 0; k < 20; ++k) {
    p.dispatch({a, b, k}, 2);
    CHECK(reinterpret_cast<uint32_t*>(to.data)[63] == 63 + k);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0 && p.said.empty());
  p.destroy(from), p.destroy(to);
}

}  // namespace

int main() {
  features_and_extensions();
  words_by_address();
  captured_addresses();
  addresses_by_threads();
  return finish("vulkan addresses");
}
