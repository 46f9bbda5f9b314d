// tests/test_vulkan_compressed.cpp -- compressed formats as a program of the driver sees them: features, what images there are, blocks that
// the host or another resource writes to the same memory, copies by blocks. What blocks decode to: tests/test_compressed_formats.py.
#include <array>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8;
constexpr const char* kFetch = R"(#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform sampler2D source;
layout(binding = 1) writeonly buffer Out { vec4 texels[]; };
void main() { texels[gl_LocalInvocationIndex] = texelFetch(source, ivec2(gl_LocalInvocationID.xy), 0); })";

using Color = std::array<float, 4>;
using Block = std::array<uint8_t, 8>;
constexpr Color kRed = {1, 0, 0, 1}, kGreen = {0, 1, 0, 1}, kNothing = {0, 0, 0, 0};
constexpr Block kRedBlock = {0x00, 0xf8, 0, 0, 0, 0, 0, 0}, kGreenBlock = {0xe0, 0x07, 0, 0, 0, 0, 0, 0};

/// A program that reads an image of BC1 with 8x8 texels.
struct Reader : Program {
#define TILEGPU_MORE(X) \
  X(CmdCopyBufferToImage) X(CmdCopyImage) X(CmdClearColorImage) X(GetImageSubresourceLayout) X(GetPhysicalDeviceImageFormatProperties)
#define TILEGPU_VK(name) PFN_vk##name name = nullptr;
  TILEGPU_MORE(TILEGPU_VK)
#undef TILEGPU_VK
  VkDescriptorSetLayout set_layout = nullptr;
  VkPipelineLayout layout = nullptr;
  VkPipeline pipeline = nullptr;
  VkDescriptorPool descriptors = nullptr;
  VkDescriptorSet set = nullptr;
  VkSampler sampler = nullptr;
  BoundImage source{};
  MappedBuffer out{};

  Reader() {
#define TILEGPU_VK(name) load(name, "vk" #name);
    TILEGPU_MORE(TILEGPU_VK)
#undef TILEGPU_VK
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
    const VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, 2, bindings};
    CHECK(CreateDescriptorSetLayout(device, &set_info, nullptr, &set_layout) == VK_SUCCESS);
    VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.setLayoutCount = 1, layout_info.pSetLayouts = &set_layout;
    CHECK(CreatePipelineLayout(device, &layout_info, nullptr, &layout) == VK_SUCCESS);
    pipeline = compute_pipeline(kFetch, layout);
    const VkSamplerCreateInfo sampler_info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    CHECK(CreateSampler(device, &sampler_info, nullptr, &sampler) == VK_SUCCESS);
    source = image(VK_FORMAT_BC1_RGBA_UNORM_BLOCK, kSide_px, kSide_px,
                   VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    out = buffer(kSide_px * kSide_px * 16, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1}, {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    const VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, 1, 2, sizes};
    CHECK(CreateDescriptorPool(device, &pool_info, nullptr, &descriptors) == VK_SUCCESS);
    const VkDescriptorSetAllocateInfo allocate_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, descriptors, 1, &set_layout};
    CHECK(AllocateDescriptorSets(device, &allocate_info, &set) == VK_SUCCESS);
    const VkDescriptorImageInfo from{sampler, source.view, VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo to{out.buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet writes[] = {
        {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, 0, 0, 1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, &from, nullptr, nullptr},
        {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, 1, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, nullptr, &to, nullptr}};
    UpdateDescriptorSets(device, 2, writes, 0, nullptr);
  }
  ~Reader() {
    destroy(source), destroy(out);
    DestroySampler(device, sampler, nullptr);
    DestroyDescriptorPool(device, descriptors, nullptr);
    DestroyPipeline(device, pipeline, nullptr);
    DestroyPipelineLayout(device, layout, nullptr);
    DestroyDescriptorSetLayout(device, set_layout, nullptr);
  }

  void fetch(VkCommandBuffer c) const {
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
    CmdDispatch(c, 1, 1, 1);
  }
  bool reads(uint32_t x, uint32_t y, const Color& want) const {
    return std::memcmp(out.data + (y * kSide_px + x) * 16, want.data(), 16) == 0;
  }
  /// By quarters: top left, top right, below.
  bool reads_quarters(const Color& a, const Color& b, const Color& c, const Color& d) const {
    bool all = true;
    for (uint32_t y = 0; y < kSide_px; ++y)
      for (uint32_t x = 0; x < kSide_px; ++x) all = all && reads(x, y, y < 4 ? (x < 4 ? a : b) : (x < 4 ? c : d));
    return all;
  }
};

constexpr std::pair<VkFormat, VkFormat> kFamilies[] = {{VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_BC7_SRGB_BLOCK},
                                                       {VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, VK_FORMAT_EAC_R11G11_SNORM_BLOCK},
                                                       {VK_FORMAT_ASTC_4x4_UNORM_BLOCK, VK_FORMAT_ASTC_12x12_SRGB_BLOCK}};

void features_say_what_formats_do() {
  Reader p;
  VkPhysicalDeviceFeatures f;
  p.GetPhysicalDeviceFeatures(p.physical_device, &f);
  CHECK(f.textureCompressionBC);
  const VkBool32 listed[] = {f.textureCompressionBC, f.textureCompressionETC2, f.textureCompressionASTC_LDR};
  for (size_t family = 0; family < std::size(kFamilies); ++family) {
    for (int32_t format = kFamilies[family].first; format <= kFamilies[family].second; ++format) {
      VkFormatProperties found;
      p.GetPhysicalDeviceFormatProperties(p.physical_device, static_cast<VkFormat>(format), &found);
      constexpr VkFormatFeatureFlags kRead = VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_BLIT_SRC_BIT |
                                             VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT | VK_FORMAT_FEATURE_TRANSFER_SRC_BIT |
                                             VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
      constexpr VkFormatFeatureFlags kWritten = VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT |
                                                VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT | VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT;
      CHECK((found.optimalTilingFeatures & kRead) == (listed[family] ? kRead : 0));
      CHECK(!(found.optimalTilingFeatures & kWritten) && found.bufferFeatures == 0);
      const auto possible = [&](VkImageType type, VkImageUsageFlags usage, VkImageCreateFlags flags) {
        VkImageFormatProperties limits{};
        const bool there = p.GetPhysicalDeviceImageFormatProperties(p.physical_device, static_cast<VkFormat>(format), type,
                                                                    VK_IMAGE_TILING_OPTIMAL, usage, flags, &limits) == VK_SUCCESS;
        CHECK(!there || (limits.sampleCounts == VK_SAMPLE_COUNT_1_BIT && limits.maxMipLevels >= 12));
        return there;
      };
      for (VkImageType type : {VK_IMAGE_TYPE_1D, VK_IMAGE_TYPE_2D, VK_IMAGE_TYPE_3D})
        CHECK(possible(type, VK_IMAGE_USAGE_SAMPLED_BIT, 0) == bool{listed[family] != 0});
      CHECK(possible(VK_IMAGE_TYPE_2D, VK_IMAGE_USAGE_SAMPLED_BIT, VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) == bool{listed[family] != 0});
      CHECK(!possible(VK_IMAGE_TYPE_2D, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, 0));
      CHECK(!possible(VK_IMAGE_TYPE_2D, VK_IMAGE_USAGE_STORAGE_BIT, VK_IMAGE_CREATE_EXTENDED_USAGE_BIT));
      CHECK(!possible(VK_IMAGE_TYPE_2D, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_CREATE_EXTENDED_USAGE_BIT));
    }
  }
}

void what_memory_holds_is_read() {
  Reader p;
  uint8_t* mapped = nullptr;
  CHECK(p.MapMemory(p.device, p.source.memory, 0, VK_WHOLE_SIZE, 0, reinterpret_cast<void**>(&mapped)) == VK_SUCCESS);
  const VkImageSubresource part{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0};
  VkSubresourceLayout at;
  p.GetImageSubresourceLayout(p.device, p.source.image, &part, &at);
  CHECK(at.rowPitch >= 16 && at.size >= at.rowPitch + 16);
  const auto write = [&](uint32_t column, uint32_t row, const Block& block) {
    std::memcpy(mapped + at.offset + at.rowPitch * row + 8 * column, block.data(), 8);
  };
  for (uint32_t i = 0; i < 4; ++i) write(i % 2, i / 2, kRedBlock);
  VkCommandBuffer c = p.begin();
  p.fetch(c);
  p.run(c);
  CHECK(p.reads_quarters(kRed, kRed, kRed, kRed));
  // The host tells nobody.
  write(1, 1, kGreenBlock);
  c = p.begin();
  p.fetch(c);
  p.run(c);
  CHECK(p.reads_quarters(kRed, kRed, kRed, kGreen));
  // A buffer on the same bytes, between two reads of one command buffer.
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = at.rowPitch, info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBuffer alias = nullptr;
  CHECK(p.CreateBuffer(p.device, &info, nullptr, &alias) == VK_SUCCESS);
  CHECK(p.BindBufferMemory(p.device, alias, p.source.memory, 0) == VK_SUCCESS);
  c = p.begin();
  p.fetch(c);
  p.CmdFillBuffer(c, alias, at.offset, 16, 0xffffffff);
  p.fetch(c);
  p.run(c);
  CHECK(p.reads_quarters(kNothing, kNothing, kRed, kGreen));
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
  p.DestroyBuffer(p.device, alias, nullptr);
}

void blocks_are_copied() {
  Reader p;
  const auto blocks = p.buffer(64, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  std::memcpy(blocks.data, kRedBlock.data(), 8), std::memcpy(blocks.data + 8, kGreenBlock.data(), 8);
  const auto words = p.image(VK_FORMAT_R32G32_UINT, 2, 2, VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {8, 4, 1};
  VkBufferImageCopy below = region;
  below.imageOffset = {0, 4, 0}, below.imageExtent = {4, 4, 1}, below.bufferOffset = 8;
  VkBufferImageCopy corner = below;
  corner.imageOffset = {4, 4, 0}, corner.bufferOffset = 0;
  const VkBufferImageCopy regions[] = {region, below, corner};
  VkCommandBuffer c = p.begin();
  p.CmdCopyBufferToImage(c, blocks.buffer, p.source.image, VK_IMAGE_LAYOUT_GENERAL, 3, regions);
  p.fetch(c);
  p.run(c);
  CHECK(p.reads_quarters(kRed, kGreen, kGreen, kRed));
  // A block is a texel of a format of its size; a texel is a block.
  VkImageCopy to_words{};
  to_words.srcSubresource = to_words.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  to_words.srcOffset = {4, 0, 0}, to_words.dstOffset = {0, 1, 0}, to_words.extent = {4, 4, 1};
  VkImageCopy from_words = to_words;
  from_words.srcOffset = {0, 1, 0}, from_words.dstOffset = {4, 4, 0}, from_words.extent = {1, 1, 1};
  c = p.begin();
  p.CmdCopyImage(c, p.source.image, VK_IMAGE_LAYOUT_GENERAL, words.image, VK_IMAGE_LAYOUT_GENERAL, 1, &to_words);
  p.CmdCopyImage(c, words.image, VK_IMAGE_LAYOUT_GENERAL, p.source.image, VK_IMAGE_LAYOUT_GENERAL, 1, &from_words);
  region.imageExtent = {8, 8, 1}, region.bufferRowLength = 12, region.bufferOffset = 8;
  p.CmdCopyImageToBuffer(c, p.source.image, VK_IMAGE_LAYOUT_GENERAL, blocks.buffer, 1, &region);
  p.fetch(c);
  p.run(c);
  CHECK(p.reads_quarters(kRed, kGreen, kGreen, kGreen));
  CHECK(std::memcmp(blocks.data + 8, kRedBlock.data(), 8) == 0 && std::memcmp(blocks.data + 16, kGreenBlock.data(), 8) == 0);
  CHECK(std::memcmp(blocks.data + 8 + 24, kGreenBlock.data(), 8) == 0 && std::memcmp(blocks.data + 16 + 24, kGreenBlock.data(), 8) == 0);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
  p.destroy(blocks), p.destroy(words);
}

// Direct3D 9 locks any rectangle of a compressed texture, and DXVK copies it: as many blocks as its extent begins.
void cut_blocks_are_copied_whole() {
  Reader p;
  const auto blocks = p.buffer(64, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  std::memcpy(blocks.data, kRedBlock.data(), 8), std::memcpy(blocks.data + 8, kGreenBlock.data(), 8);
  const auto words = p.image(VK_FORMAT_R32G32_UINT, 2, 2, VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
  VkBufferImageCopy row{};
  row.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, row.imageExtent = {5, 2, 1};
  VkBufferImageCopy corner = row;
  corner.imageOffset = {5, 6, 0}, corner.imageExtent = {1, 1, 1}, corner.bufferOffset = 8;
  VkBufferImageCopy wide = row;  // its blocks begin in the middle of one: as many as the buffer has, none beyond the level
  wide.imageOffset = {2, 4, 0}, wide.imageExtent = {4, 4, 1};
  const VkBufferImageCopy regions[] = {row, corner, wide};
  VkCommandBuffer c = p.begin();
  p.CmdCopyBufferToImage(c, blocks.buffer, p.source.image, VK_IMAGE_LAYOUT_GENERAL, 3, regions);
  p.fetch(c);
  p.run(c);
  CHECK(p.reads_quarters(kRed, kGreen, kRed, kGreen));
  CHECK(p.said.size() == 1 && p.heard("regions[0].imageOffset and extent") && p.heard("whole texel blocks of bc1_rgba_unorm_block"));
  VkImageCopy to_words{};
  to_words.srcSubresource = to_words.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  to_words.srcOffset = {6, 1, 0}, to_words.dstOffset = {1, 0, 0}, to_words.extent = {1, 3, 1};
  VkImageCopy from_words = to_words;
  from_words.srcOffset = {1, 0, 0}, from_words.dstOffset = {1, 7, 0}, from_words.extent = {1, 1, 1};
  c = p.begin();
  p.CmdCopyImage(c, p.source.image, VK_IMAGE_LAYOUT_GENERAL, words.image, VK_IMAGE_LAYOUT_GENERAL, 1, &to_words);
  p.CmdCopyImage(c, words.image, VK_IMAGE_LAYOUT_GENERAL, p.source.image, VK_IMAGE_LAYOUT_GENERAL, 1, &from_words);
  row.imageOffset = {3, 3, 0}, row.imageExtent = {7, 5, 1}, row.bufferOffset = 16;
  row.imageExtent.width = 5;
  p.CmdCopyImageToBuffer(c, p.source.image, VK_IMAGE_LAYOUT_GENERAL, blocks.buffer, 1, &row);
  p.fetch(c);
  p.run(c);
  CHECK(p.reads_quarters(kRed, kGreen, kGreen, kGreen));
  CHECK(std::memcmp(blocks.data + 16, kRedBlock.data(), 8) == 0 && std::memcmp(blocks.data + 24, kGreenBlock.data(), 8) == 0);
  CHECK(std::memcmp(blocks.data + 32, kGreenBlock.data(), 8) == 0 && std::memcmp(blocks.data + 40, kGreenBlock.data(), 8) == 0);
  CHECK(p.said.size() == 4);  // and of both sides of the copies between images, and of the one to the buffer
  p.destroy(blocks), p.destroy(words);
}

void wrong_commands_are_refused() {
  Reader p;
  const auto blocks = p.buffer(64, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {12, 4, 1};
  VkCommandBuffer c = p.begin();
  p.CmdCopyBufferToImage(c, blocks.buffer, p.source.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("at least 1x1x1 px within the level's 8x8x1 px"));
  region.imageOffset = {6, 0, 0}, region.imageExtent = {2, 4, 1}, region.bufferOffset = 60;  // the block has no room in the buffer
  c = p.begin();
  p.CmdCopyBufferToImage(c, blocks.buffer, p.source.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("whole texel blocks of bc1_rgba_unorm_block, 4x4 px"));
  c = p.begin();
  const VkClearColorValue value{};
  const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  p.CmdClearColorImage(c, p.source.image, VK_IMAGE_LAYOUT_GENERAL, &value, 1, &all);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("a format that is not compressed"));
  p.destroy(blocks);
}

}  // namespace

int main() {
  features_say_what_formats_do();
  what_memory_holds_is_read();
  blocks_are_copied();
  cut_blocks_are_copied_whole();
  wrong_commands_are_refused();
  return finish("test_vulkan_compressed");
}
