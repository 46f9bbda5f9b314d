// tests/test_vulkan_host_memory.cpp -- VK_EXT_external_memory_host: pages of the program as memory of buffers and images, in both
// directions; what can't be imported is refused, and nothing of the program is unmapped or left mapped.
#include <sys/mman.h>
#include <unistd.h>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr VkExternalMemoryHandleTypeFlagBits kPointer = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
const uint64_t kPage_B = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));

struct Scene : Program {
  PFN_vkGetMemoryHostPointerPropertiesEXT pointer_properties = nullptr;
  PFN_vkCmdFillBuffer fill = nullptr;
  PFN_vkCmdCopyBuffer copy = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties2 memory_properties = nullptr;

  Scene() {
    remake_device({"VK_EXT_external_memory_host", "VK_EXT_memory_budget"}, nullptr);
    load(pointer_properties, "vkGetMemoryHostPointerPropertiesEXT");
    load(fill, "vkCmdFillBuffer"), load(copy, "vkCmdCopyBuffer");
    load(memory_properties, "vkGetPhysicalDeviceMemoryProperties2");
  }
  VkResult import(void* data, uint64_t size_B, VkDeviceMemory& out, VkExternalMemoryHandleTypeFlagBits type = kPointer) const {
    const VkImportMemoryHostPointerInfoEXT from{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT, nullptr, type, data};
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &from, size_B, 0};
    return AllocateMemory(device, &info, nullptr, &out);
  }
  VkDeviceMemory imported(void* data, uint64_t size_B) {
    VkDeviceMemory memory = nullptr;
    CHECK_MESSAGE(import(data, size_B, memory) == VK_SUCCESS, said.empty() ? "" : said.back());
    return memory;
  }
  void refuses(void* data, uint64_t size_B, const char* why, VkExternalMemoryHandleTypeFlagBits type = kPointer) {
    VkDeviceMemory memory = nullptr;
    CHECK(import(data, size_B, memory, type) == VK_ERROR_INVALID_EXTERNAL_HANDLE);
    if (CHECK(!said.empty())) CHECK_MESSAGE(said.back().find(why) != std::string::npos, said.back());
    said.clear();
  }
  uint64_t used_B() const {
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 out{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget};
    memory_properties(physical_device, &out);
    return budget.heapUsage[0];
  }
};

bool is_mapped(const void* page) {
  unsigned char there;
  return mincore(const_cast<void*>(page), kPage_B, &there) == 0;
}

/// Pages by themselves: `count` of them, and none behind.
uint8_t* pages(uint64_t count) {
  void* at = mmap(nullptr, (count + 1) * kPage_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  munmap(static_cast<uint8_t*>(at) + count * kPage_B, kPage_B);
  return static_cast<uint8_t*>(at);
}

// What the host writes the device reads, and the other way round; mapped it lies where it lies. It is no part of the heap.
void test_buffers() {
  Scene s;
  const uint64_t size_B = 3 * kPage_B, before_B = s.used_B();
  auto* data = static_cast<uint8_t*>(std::aligned_alloc(kPage_B, size_B));  // of the heap of the program, whose next page is the program's
  std::memset(data, 0x11, size_B);
  VkMemoryHostPointerPropertiesEXT properties{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  CHECK(s.pointer_properties(s.device, kPointer, data, &properties) == VK_SUCCESS && properties.memoryTypeBits == 1);
  const VkDeviceMemory memory = s.imported(data, size_B);
  CHECK(s.used_B() == before_B);
  void* mapped = nullptr;
  CHECK(s.MapMemory(s.device, memory, kPage_B, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS && mapped == data + kPage_B);
  const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr, kPointer};
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external};
  info.size = size_B, info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBuffer buffer = nullptr;
  CHECK(s.CreateBuffer(s.device, &info, nullptr, &buffer) == VK_SUCCESS && s.BindBufferMemory(s.device, buffer, memory, 0) == VK_SUCCESS);
  const auto out = s.buffer(size_B, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (const uint8_t value : {0x22, 0x33}) {
    std::memset(data, value, kPage_B);  // without a word to the driver
    const VkCommandBuffer c = s.begin();
    const VkBufferCopy all{0, 0, size_B};
    s.copy(c, buffer, out.buffer, 1, &all);
    s.fill(c, buffer, 2 * kPage_B, kPage_B, 0x01010101U * value);
    s.run(c);
    CHECK(out.data[0] == value && out.data[kPage_B - 1] == value && out.data[kPage_B] == 0x11);
    CHECK(data[2 * kPage_B - 1] == 0x11 && data[2 * kPage_B] == value && data[size_B - 1] == value);
  }
  s.DestroyBuffer(s.device, buffer, nullptr);
  s.FreeMemory(s.device, memory, nullptr);
  data[0] = 1;  // the program's, as before
  std::free(data);
  s.destroy(out);
  for (const std::string& text : s.said) CHECK_MESSAGE(false, text);
}

const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0, 1); })";
const char* const kCopy = R"(#version 450
layout(set = 0, binding = 0) uniform sampler2D t;
layout(location = 0) out vec4 o;
void main() { o = vec4(texelFetch(t, ivec2(gl_FragCoord.xy), 0).x); })";

VkImage image_on(Scene& s, VkFormat format, uint32_t width_px, uint32_t height_px, VkImageUsageFlags usage, VkDeviceMemory memory) {
  const VkExternalMemoryImageCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO, nullptr, kPointer};
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, &external};
  info.imageType = VK_IMAGE_TYPE_2D, info.format = format, info.extent = {width_px, height_px, 1};
  info.mipLevels = info.arrayLayers = 1, info.samples = VK_SAMPLE_COUNT_1_BIT, info.usage = usage, info.tiling = VK_IMAGE_TILING_LINEAR;
  VkImage out = nullptr;
  CHECK(s.CreateImage(s.device, &info, nullptr, &out) == VK_SUCCESS);
  VkMemoryRequirements needs;
  s.GetImageMemoryRequirements(s.device, out, &needs);
  CHECK(needs.size <= kPage_B && s.BindImageMemory(s.device, out, memory, 0) == VK_SUCCESS);
  return out;
}
VkImageView view_of(Scene& s, VkImage image, VkFormat format) {
  VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, nullptr, 0, image, VK_IMAGE_VIEW_TYPE_2D, format};
  info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkImageView out = nullptr;
  CHECK(s.CreateImageView(s.device, &info, nullptr, &out) == VK_SUCCESS);
  return out;
}

// An image whose last texel is the last byte of a page, with nothing behind it, drawn to another one that is the host's too. What was put
// behind them goes with them.
void test_images() {
  Scene s;
  constexpr uint32_t kWidth_px = 64;
  const auto height_px = static_cast<uint32_t>(kPage_B / kWidth_px);
  uint8_t *from = pages(1), *to = pages(1);
  for (uint64_t i = 0; i < kPage_B; ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 64);
  CHECK(!is_mapped(from + kPage_B) && !is_mapped(to + kPage_B));
  const VkDeviceMemory source = s.imported(from, kPage_B), target = s.imported(to, kPage_B);
  CHECK(is_mapped(from + kPage_B));
  constexpr VkFormat kByte = VK_FORMAT_R8_UNORM;
  const VkImage sampled = image_on(s, kByte, kWidth_px, height_px, VK_IMAGE_USAGE_SAMPLED_BIT, source);
  const VkImage drawn = image_on(s, kByte, kWidth_px, height_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, target);
  const VkImageView read = view_of(s, sampled, kByte), written = view_of(s, drawn, kByte);
  const VkRenderPass pass = s.one_subpass(kByte);
  const VkFramebuffer framebuffer = s.framebuffer(pass, {written}, kWidth_px);
  const VkDescriptorSetLayout sets =
      s.set_layout({{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr}});
  const VkPipelineLayout layout = s.pipeline_layout({sets});
  const VkPipeline pipeline = make_pipeline(s, kWhole, kCopy, layout, pass, 0);
  const VkDescriptorSet set = s.descriptor_set(sets);
  VkSampler sampler = nullptr;
  const VkSamplerCreateInfo nearest{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  CHECK(s.CreateSampler(s.device, &nearest, nullptr, &sampler) == VK_SUCCESS);
  const VkDescriptorImageInfo texture{sampler, read, VK_IMAGE_LAYOUT_GENERAL};
  const VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,    nullptr, set, 0, 0, 1,
                                   VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, &texture};
  s.UpdateDescriptorSets(s.device, 1, &write, 0, nullptr);
  const VkCommandBuffer c = s.begin();
  const VkRect2D area{{0, 0}, {kWidth_px, kWidth_px}};
  const VkClearValue clear{};
  const VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, nullptr, pass, framebuffer, area, 1, &clear};
  s.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  const VkViewport viewport{0, 0, kWidth_px, kWidth_px, 0, 1};
  s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  s.CmdSetViewport(c, 0, 1, &viewport), s.CmdSetScissor(c, 0, 1, &area);
  s.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
  s.CmdDraw(c, 3, 1, 0, 0);
  s.CmdEndRenderPass(c);
  s.run(c);
  CHECK(std::memcmp(from, to, size_t{kWidth_px} * kWidth_px) == 0);
  s.DestroyImageView(s.device, read, nullptr), s.DestroyImageView(s.device, written, nullptr);
  s.DestroyFramebuffer(s.device, framebuffer, nullptr);
  s.DestroyImage(s.device, sampled, nullptr), s.DestroyImage(s.device, drawn, nullptr);
  s.FreeMemory(s.device, source, nullptr), s.FreeMemory(s.device, target, nullptr);
  s.remake_device({"VK_EXT_external_memory_host"}, nullptr);  // command buffers that keep the memory end
  CHECK(is_mapped(from) && is_mapped(to) && !is_mapped(from + kPage_B) && !is_mapped(to + kPage_B));
  munmap(from, kPage_B), munmap(to, kPage_B);
}

void test_refusals() {
  Scene s;
  uint8_t* const data = pages(4);
  const auto protect = [&](uint64_t page, int how) { CHECK(mprotect(data + page * kPage_B, kPage_B, how) == 0); };
  s.refuses(data + 64, kPage_B, "the host's pointer");
  s.refuses(nullptr, kPage_B, "the host's pointer");
  s.refuses(data, kPage_B + 64, "size_B");
  s.refuses(data, 5 * kPage_B, "memory of this process that can be read and written");
  s.refuses(data, 4 * kPage_B, "pointers are imported as HOST_ALLOCATION",
            VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_MAPPED_FOREIGN_MEMORY_BIT_EXT);
  protect(1, PROT_READ);
  s.refuses(data, 2 * kPage_B, "memory of this process that can be read and written");
  VkDeviceMemory memory = s.imported(data, kPage_B);  // what is behind can be read
  s.FreeMemory(s.device, memory, nullptr);
  CHECK(is_mapped(data + kPage_B));
  protect(1, PROT_NONE);
  s.refuses(data, kPage_B, "the page behind the host's memory");
  memory = s.imported(data + 2 * kPage_B, 2 * kPage_B);
  s.FreeMemory(s.device, memory, nullptr);
  CHECK(!is_mapped(data + 4 * kPage_B));
  VkMemoryHostPointerPropertiesEXT properties{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  CHECK(s.pointer_properties(s.device, kPointer, data + 1, &properties) == VK_ERROR_INVALID_EXTERNAL_HANDLE);
  for (const uintptr_t nowhere : {uintptr_t{0}, UINTPTR_MAX - kPage_B + 1, UINTPTR_MAX - 2 * kPage_B + 1, uintptr_t{1} << 63}) {
    void* const pointer = reinterpret_cast<void*>(nowhere);
    CHECK(s.pointer_properties(s.device, kPointer, pointer, &properties) == VK_ERROR_INVALID_EXTERNAL_HANDLE);
    for (const uint64_t size_B : {kPage_B, 2 * kPage_B})
      CHECK(s.import(pointer, size_B, memory, kPointer) == VK_ERROR_INVALID_EXTERNAL_HANDLE);
  }
  munmap(data, 4 * kPage_B);
}

void test_properties() {
  Scene s;
  PFN_vkGetPhysicalDeviceProperties2 device_properties = nullptr;
  PFN_vkGetPhysicalDeviceExternalBufferProperties buffer_properties = nullptr;
  PFN_vkGetPhysicalDeviceImageFormatProperties2 image_properties = nullptr;
  s.load(device_properties, "vkGetPhysicalDeviceProperties2");
  s.load(buffer_properties, "vkGetPhysicalDeviceExternalBufferProperties");
  s.load(image_properties, "vkGetPhysicalDeviceImageFormatProperties2");
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &host};
  device_properties(s.physical_device, &all);
  CHECK(host.minImportedHostPointerAlignment == kPage_B);
  const VkPhysicalDeviceExternalBufferInfo buffer{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO, nullptr, 0,
                                                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, kPointer};
  VkExternalBufferProperties of_buffer{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  buffer_properties(s.physical_device, &buffer, &of_buffer);
  const VkExternalMemoryProperties& found = of_buffer.externalMemoryProperties;
  CHECK(found.externalMemoryFeatures == VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT && found.compatibleHandleTypes == kPointer &&
        found.exportFromImportedHandleTypes == 0);
  const VkPhysicalDeviceExternalImageFormatInfo external{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO, nullptr, kPointer};
  const VkPhysicalDeviceImageFormatInfo2 image{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
                                               &external,
                                               VK_FORMAT_R8G8B8A8_UNORM,
                                               VK_IMAGE_TYPE_2D,
                                               VK_IMAGE_TILING_LINEAR,
                                               VK_IMAGE_USAGE_SAMPLED_BIT,
                                               0};
  VkExternalImageFormatProperties of_image{VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
  VkImageFormatProperties2 out{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, &of_image};
  CHECK(image_properties(s.physical_device, &image, &out) == VK_SUCCESS);
  CHECK(of_image.externalMemoryProperties.externalMemoryFeatures == VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT);
}

}  // namespace

int main() {
  test_buffers();
  test_images();
  test_refusals();
  test_properties();
  return test::finish("test_vulkan_host_memory");
}
