// tests/test_vulkan_texel_blocks.cpp -- VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT: what the driver says of such images, and that
// storage images, attachments, samplers, copies and the host meet in the same blocks. What blocks decode to, of every format:
// tests/test_texel_blocks.py. Source: Vulkan specification, "Resource Creation", "Image Views".
#include <array>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr VkImageCreateFlags kViews =
    VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
constexpr VkImageUsageFlags kUsage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                     VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
constexpr uint32_t kWidth_px = 22, kHeight_px = 14, kLevels = 3, kLayers = 3;  // level 1: 11x7 px in 3x2 blocks

// Each invocation a block of red, or of green where x and y are both even or both odd, to each layer.
constexpr const char* kWrite = R"(#version 450
layout(local_size_x = 1, local_size_y = 1) in;
layout(binding = 0, rg32ui) uniform writeonly uimage2DArray blocks;
layout(binding = 2) buffer Size { ivec3 size; };
void main() {
  size = imageSize(blocks);
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  for (int layer = 0; layer < size.z; layer++)
    imageStore(blocks, ivec3(at, layer), uvec4((at.x + at.y + layer) % 2 == 0 ? 0x07e0u : 0xf800u, 0u, 0u, 0u));
})";
constexpr const char* kRead = R"(#version 450
layout(local_size_x = 1, local_size_y = 1) in;
layout(binding = 1) uniform sampler2DArray colors;
layout(binding = 2) buffer Out { vec4 texels[]; };
layout(push_constant) uniform P { int level; int layer; };
void main() {
  ivec2 size = textureSize(colors, level).xy, at = ivec2(gl_GlobalInvocationID.xy);
  texels[at.y * size.x + at.x] = texelFetch(colors, ivec3(at, layer), level);
})";

struct Blocks : Program {
#define TILEGPU_MORE(X) \
  X(CmdCopyBufferToImage) X(GetImageSubresourceLayout) X(GetPhysicalDeviceImageFormatProperties) X(GetPhysicalDeviceProperties2)
#define TILEGPU_VK(name) PFN_vk##name name = nullptr;
  TILEGPU_MORE(TILEGPU_VK)
#undef TILEGPU_VK
  VkImage image = nullptr;
  VkDeviceMemory memory = nullptr;
  VkDescriptorSetLayout set_layout = nullptr;
  VkPipelineLayout layout = nullptr;
  VkPipeline writes = nullptr, reads = nullptr;
  VkDescriptorSet set = nullptr;
  VkSampler sampler = nullptr;
  VkImageView colors = nullptr;
  MappedBuffer out{};
  uint8_t* mapped = nullptr;

  Blocks() {
#define TILEGPU_VK(name) load(name, "vk" #name);
    TILEGPU_MORE(TILEGPU_VK)
#undef TILEGPU_VK
    image = make(kViews, VK_FORMAT_BC1_RGBA_UNORM_BLOCK, VK_IMAGE_TYPE_2D);
    VkMemoryRequirements needs;
    GetImageMemoryRequirements(device, image, &needs);
    memory = allocate(needs.size);
    CHECK(BindImageMemory(device, image, memory, 0) == VK_SUCCESS);
    CHECK(MapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, reinterpret_cast<void**>(&mapped)) == VK_SUCCESS);
    set_layout = this->Program::set_layout({{0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                            {1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                            {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
    layout = pipeline_layout({set_layout}, {{VK_SHADER_STAGE_COMPUTE_BIT, 0, 8}});
    writes = compute_pipeline(kWrite, layout), reads = compute_pipeline(kRead, layout);
    set = descriptor_set(set_layout);
    const VkSamplerCreateInfo sampler_info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    CHECK(CreateSampler(device, &sampler_info, nullptr, &sampler) == VK_SUCCESS);
    out = buffer(kWidth_px * kHeight_px * 16, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    colors = view(VK_FORMAT_BC1_RGBA_UNORM_BLOCK, 0, kLevels, 0, kLayers);
    const VkDescriptorBufferInfo to{out.buffer, 0, VK_WHOLE_SIZE};
    put(2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, nullptr, &to);
    put(1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, colors, nullptr);
  }
  ~Blocks() {
    destroy(out);
    DestroySampler(device, sampler, nullptr);
    DestroyImageView(device, colors, nullptr);
    for (const VkPipeline one : {writes, reads}) DestroyPipeline(device, one, nullptr);
    DestroyPipelineLayout(device, layout, nullptr);
    DestroyDescriptorSetLayout(device, set_layout, nullptr);
    DestroyImage(device, image, nullptr);
    FreeMemory(device, memory, nullptr);
  }

  VkImage make(VkImageCreateFlags flags, VkFormat format, VkImageType type, VkResult wanted = VK_SUCCESS) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.flags = flags, info.imageType = type, info.format = format, info.extent = {kWidth_px, kHeight_px, 1};
    info.mipLevels = kLevels, info.arrayLayers = type == VK_IMAGE_TYPE_3D ? 1 : kLayers, info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = kUsage;
    if (type == VK_IMAGE_TYPE_3D) info.extent.depth = 4;
    VkImage made = nullptr;
    CHECK((CreateImage(device, &info, nullptr, &made) == VK_SUCCESS) == (wanted == VK_SUCCESS));
    return made;
  }
  VkImageView view_of(VkImage of, VkFormat format, VkImageViewType type, const VkImageSubresourceRange& range) {
    VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    info.image = of, info.viewType = type, info.format = format, info.subresourceRange = range;
    VkImageView made = nullptr;
    return CreateImageView(device, &info, nullptr, &made) == VK_SUCCESS ? made : nullptr;
  }
  VkImageView view(VkFormat format, uint32_t level, uint32_t levels, uint32_t layer, uint32_t layers,
                   VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D_ARRAY) {
    return view_of(image, format, type, {VK_IMAGE_ASPECT_COLOR_BIT, level, levels, layer, layers});
  }
  void put(uint32_t binding, VkDescriptorType type, VkImageView of, const VkDescriptorBufferInfo* to) {
    const VkDescriptorImageInfo from{sampler, of, VK_IMAGE_LAYOUT_GENERAL};
    const VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, binding, 0, 1, type, &from, to, nullptr};
    UpdateDescriptorSets(device, 1, &write, 0, nullptr);
  }
  void dispatch(VkCommandBuffer c, VkPipeline pipeline, uint32_t x, uint32_t y, int32_t level = 0, int32_t layer = 0) {
    const int32_t push[2] = {level, layer};
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
    CmdPushConstants(c, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, push);
    CmdDispatch(c, x, y, 1);
  }
  /// That each texel of a level is red or green, as `green` says of its block.
  template <class Green>
  bool reads_as(uint32_t level, uint32_t layer, Green green) {
    const uint32_t width = kWidth_px >> level, height = kHeight_px >> level;
    std::memset(out.data, 0xee, kWidth_px * kHeight_px * 16);
    const VkCommandBuffer c = begin();
    dispatch(c, reads, width, height, static_cast<int32_t>(level), static_cast<int32_t>(layer));
    run(c);
    bool all = true;
    for (uint32_t y = 0; y < height; ++y)
      for (uint32_t x = 0; x < width; ++x) {
        const bool g = green(x / 4, y / 4);
        const std::array<float, 4> want = {g ? 0.0f : 1.0f, g ? 1.0f : 0.0f, 0, 1};
        all = all && std::memcmp(out.data + (y * width + x) * size_t{16}, want.data(), 16) == 0;
      }
    return all;
  }
};

void what_is_said_is_true() {
  Blocks p;
  VkPhysicalDeviceMaintenance6Properties six{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_6_PROPERTIES};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &six};
  p.GetPhysicalDeviceProperties2(p.physical_device, &all);
  CHECK(six.blockTexelViewCompatibleMultipleLayers);
  constexpr std::pair<VkFormat, VkFormat> kFamilies[] = {{VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_BC7_SRGB_BLOCK},
                                                         {VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, VK_FORMAT_EAC_R11G11_SNORM_BLOCK},
                                                         {VK_FORMAT_ASTC_4x4_UNORM_BLOCK, VK_FORMAT_ASTC_12x12_SRGB_BLOCK}};
  const auto possible = [&](int32_t format, VkImageUsageFlags usage, VkImageCreateFlags flags) {
    VkImageFormatProperties limits{};
    const bool there = p.GetPhysicalDeviceImageFormatProperties(p.physical_device, static_cast<VkFormat>(format), VK_IMAGE_TYPE_2D,
                                                                VK_IMAGE_TILING_OPTIMAL, usage, flags, &limits) == VK_SUCCESS;
    CHECK(!there || limits.sampleCounts == VK_SAMPLE_COUNT_1_BIT);
    return there;
  };
  constexpr VkImageCreateFlags kBits = VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT;
  for (const auto& [first, last] : kFamilies)
    for (int32_t format = first; format <= last; ++format) {
      CHECK(possible(format, kUsage | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT, kViews));
      CHECK(possible(format, VK_IMAGE_USAGE_SAMPLED_BIT, kBits | VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT));
      CHECK(!possible(format, VK_IMAGE_USAGE_STORAGE_BIT, kBits | VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT));  // of EXTENDED_USAGE
      CHECK(!possible(format, VK_IMAGE_USAGE_SAMPLED_BIT, kBits));                                       // without MUTABLE_FORMAT
      CHECK(!possible(format, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, kViews));
      CHECK(!possible(format, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT, kViews));
    }
  for (const VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32G32_UINT, VK_FORMAT_D32_SFLOAT, VK_FORMAT_G8_B8R8_2PLANE_420_UNORM})
    CHECK(!possible(format, VK_IMAGE_USAGE_SAMPLED_BIT, kViews));
  (void)p.make(kViews, VK_FORMAT_R32G32_UINT, VK_IMAGE_TYPE_2D, VK_ERROR_FORMAT_NOT_SUPPORTED);
}

/// All layers of a level by one view; other levels stay as they were. The host sees the blocks, and a copy to a buffer.
void a_kernel_writes_blocks() {
  Blocks p;
  const VkImageView blocks = p.view(VK_FORMAT_R32G32_UINT, 1, 1, 0, kLayers);
  CHECK(blocks);
  p.put(0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, blocks, nullptr);
  const VkCommandBuffer c = p.begin();
  p.dispatch(c, p.writes, 3, 2);
  p.run(c);
  const int32_t* size = reinterpret_cast<const int32_t*>(p.out.data);
  CHECK(size[0] == 3 && size[1] == 2 && size[2] == static_cast<int32_t>(kLayers));
  for (uint32_t layer = 0; layer < kLayers; ++layer) {
    CHECK(p.reads_as(1, layer, [&](uint32_t x, uint32_t y) { return (x + y + layer) % 2 == 0; }));
    const VkImageSubresource part{VK_IMAGE_ASPECT_COLOR_BIT, 1, layer};
    VkSubresourceLayout at;
    p.GetImageSubresourceLayout(p.device, p.image, &part, &at);
    const uint64_t want = layer % 2 ? 0x07e0 : 0xf800;
    CHECK(std::memcmp(p.mapped + at.offset + at.rowPitch + 16, &want, 2) == 0);
  }
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
  p.DestroyImageView(p.device, blocks, nullptr);
}

/// A pass clears, draws and clears a part, another loads; a layer alone.
void a_pass_draws_blocks() {
  Blocks p;
  const VkImageView blocks = p.view(VK_FORMAT_R32G32_UINT, 1, 1, 2, 1, VK_IMAGE_VIEW_TYPE_2D);
  CHECK(blocks);
  const VkRenderPass pass = p.one_subpass(VK_FORMAT_R32G32_UINT);
  VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  info.renderPass = pass, info.attachmentCount = 1, info.pAttachments = &blocks, info.width = 3, info.height = 2, info.layers = 1;
  VkFramebuffer framebuffer = nullptr;
  CHECK(p.CreateFramebuffer(p.device, &info, nullptr, &framebuffer) == VK_SUCCESS);
  VkClearValue red{};
  red.color.uint32[0] = 0xf800;
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {3, 2}};
  begin.clearValueCount = 1, begin.pClearValues = &red;
  const VkCommandBuffer c = p.begin();
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  VkClearAttachment green{VK_IMAGE_ASPECT_COLOR_BIT, 0, {}};
  green.clearValue.color.uint32[0] = 0x07e0;
  const VkClearRect rect{{{2, 1}, {1, 1}}, 0, 1};
  p.CmdClearAttachments(c, 1, &green, 1, &rect);
  p.CmdEndRenderPass(c);
  p.run(c);
  CHECK(p.reads_as(1, 2, [](uint32_t x, uint32_t y) { return x == 2 && y == 1; }));
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
  p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
  p.DestroyImageView(p.device, blocks, nullptr);
}

/// What a buffer holds is copied by blocks to the image, and read as numbers of a view.
void views_read_what_is_copied() {
  Blocks p;
  constexpr const char* kSum = R"(#version 450
layout(local_size_x = 1) in;
layout(binding = 1) uniform usampler2D blocks;
layout(binding = 2) buffer Out { uvec4 sums; };
void main() {
  sums = uvec4(textureSize(blocks, 0), textureQueryLevels(blocks), 0);
  for (int y = 0; y < sums.y; y++) for (int x = 0; x < sums.x; x++) sums.w += texelFetch(blocks, ivec2(x, y), 0).x * (1 + y * 3 + x);
})";
  const VkPipeline sums = p.compute_pipeline(kSum, p.layout);
  const auto from = p.buffer(48, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  uint32_t want = 0;
  for (uint32_t k = 0; k < 6; ++k) {
    const uint32_t block[2] = {100 + k * k, ~k};
    std::memcpy(from.data + size_t{8} * k, block, 8);
    want += block[0] * (1 + k);
  }
  const VkImageView blocks = p.view(VK_FORMAT_R32G32_UINT, 1, 1, 1, 1, VK_IMAGE_VIEW_TYPE_2D);
  p.put(1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, blocks, nullptr);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 1}, region.imageExtent = {11, 7, 1};
  const VkCommandBuffer c = p.begin();
  p.CmdCopyBufferToImage(c, from.buffer, p.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
  p.dispatch(c, sums, 1, 1);
  p.run(c);
  const uint32_t all[4] = {3, 2, 1, want};
  CHECK(std::memcmp(p.out.data, all, sizeof all) == 0);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
  p.DestroyImageView(p.device, blocks, nullptr);
  p.DestroyPipeline(p.device, sums, nullptr);
  p.destroy(from);
}

void views_that_cannot_be_are_refused() {
  Blocks p;
  const auto refused = [&](const char* message, VkImageView made) {
    CHECK_MESSAGE(!made && p.heard(message), std::string(message) + ", but: " + (p.said.empty() ? "nothing" : p.said.back()));
    p.said.clear();
  };
  refused("level_count", p.view(VK_FORMAT_R32G32_UINT, 0, 2, 0, 1));
  refused("base_level", p.view(VK_FORMAT_R32G32_UINT, 3, 1, 0, 1));
  refused("of colour that is not compressed with 8 bytes", p.view(VK_FORMAT_R32G32B32A32_UINT, 0, 1, 0, 1));
  refused("of colour that is not compressed with 8 bytes", p.view(VK_FORMAT_D32_SFLOAT_S8_UINT, 0, 1, 0, 1));
  const VkImageView floats = p.view(VK_FORMAT_R16G16B16A16_SFLOAT, 0, 1, 0, 1);
  CHECK(floats && p.said.empty());
  p.DestroyImageView(p.device, floats, nullptr);
  const VkImage volume = p.make(kViews | VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT, VK_FORMAT_BC1_RGBA_UNORM_BLOCK, VK_IMAGE_TYPE_3D);
  const VkImageSubresourceRange slices{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 1, 2}, whole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  refused("memory of the image", p.view_of(volume, VK_FORMAT_R32G32_UINT, VK_IMAGE_VIEW_TYPE_2D_ARRAY, slices));
  VkMemoryRequirements needs;
  p.GetImageMemoryRequirements(p.device, volume, &needs);
  const VkDeviceMemory memory = p.allocate(needs.size);
  CHECK(p.BindImageMemory(p.device, volume, memory, 0) == VK_SUCCESS);
  const VkImageView some = p.view_of(volume, VK_FORMAT_R32G32_UINT, VK_IMAGE_VIEW_TYPE_2D_ARRAY, slices);
  CHECK(some && p.said.empty());
  p.DestroyImageView(p.device, some, nullptr);
  refused("type", p.view_of(volume, VK_FORMAT_R32G32_UINT, VK_IMAGE_VIEW_TYPE_3D, whole));
  p.DestroyImage(p.device, volume, nullptr);
  p.FreeMemory(p.device, memory, nullptr);
}

}  // namespace

int main() {
  what_is_said_is_true();
  a_kernel_writes_blocks();
  a_pass_draws_blocks();
  views_read_what_is_copied();
  views_that_cannot_be_are_refused();
  return finish("test_vulkan_texel_blocks");
}
