// tests/test_vulkan_ycbcr.cpp -- sampler Y'CbCr conversions as a program of the driver sees them: features, formats, memory by plane,
// copies to planes, an immutable sampler, writes and templates, samplers that repeat (which Vulkan forbids), what is refused.
#include <functional>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;
constexpr VkFormat kNv12 = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, kI420 = VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM;
constexpr const char* kWhole = R"(#version 450
layout(location = 0) out vec2 uv;
void main() {
  uv = vec2(gl_VertexIndex == 1 ? 2 : 0, gl_VertexIndex == 2 ? 2 : 0);
  gl_Position = vec4(uv * 2 - 1, 0, 1);
})";
constexpr const char* kShow = R"(#version 450
layout(binding = 0) uniform sampler2D frames[2];
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { color = uv.x < 0.5 ? texture(frames[0], uv) : texture(frames[1], uv); })";

/// The fixture's program and the commands of this test.
struct YcbcrProgram : Program {
  PFN_vkCreateSamplerYcbcrConversion CreateSamplerYcbcrConversion = nullptr;
  PFN_vkDestroySamplerYcbcrConversion DestroySamplerYcbcrConversion = nullptr;
  PFN_vkGetImageMemoryRequirements2 GetImageMemoryRequirements2 = nullptr;
  PFN_vkBindImageMemory2 BindImageMemory2 = nullptr;
  PFN_vkGetImageSubresourceLayout GetImageSubresourceLayout = nullptr;
  PFN_vkCmdCopyBufferToImage CmdCopyBufferToImage = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 GetPhysicalDeviceFeatures2 = nullptr;
  PFN_vkGetPhysicalDeviceImageFormatProperties2 GetPhysicalDeviceImageFormatProperties2 = nullptr;

  YcbcrProgram() {
    load(CreateSamplerYcbcrConversion, "vkCreateSamplerYcbcrConversion");
    load(DestroySamplerYcbcrConversion, "vkDestroySamplerYcbcrConversion");
    load(GetImageMemoryRequirements2, "vkGetImageMemoryRequirements2"), load(BindImageMemory2, "vkBindImageMemory2");
    load(GetImageSubresourceLayout, "vkGetImageSubresourceLayout"), load(CmdCopyBufferToImage, "vkCmdCopyBufferToImage");
    load(GetPhysicalDeviceFeatures2, "vkGetPhysicalDeviceFeatures2");
    load(GetPhysicalDeviceImageFormatProperties2, "vkGetPhysicalDeviceImageFormatProperties2");
  }

  static VkSamplerYcbcrConversionCreateInfo conversion_info(VkFormat format) {
    VkSamplerYcbcrConversionCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_CREATE_INFO};
    info.format = format, info.ycbcrModel = VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_601;
    info.ycbcrRange = VK_SAMPLER_YCBCR_RANGE_ITU_NARROW;
    info.xChromaOffset = info.yChromaOffset = VK_CHROMA_LOCATION_MIDPOINT;
    info.chromaFilter = VK_FILTER_LINEAR;
    return info;
  }
  VkSamplerYcbcrConversion conversion(VkFormat format) {
    const VkSamplerYcbcrConversionCreateInfo info = conversion_info(format);
    VkSamplerYcbcrConversion made = nullptr;
    CHECK(CreateSamplerYcbcrConversion(device, &info, nullptr, &made) == VK_SUCCESS);
    return made;
  }
  struct Textures {
    VkDescriptorSetLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
  };
  /// A set of so many combined image samplers at binding 0. `immutable`: theirs, or null.
  Textures textures(uint32_t count, const VkSampler* immutable) {
    Textures out{};
    const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, count, VK_SHADER_STAGE_FRAGMENT_BIT,
                                               immutable};
    const VkDescriptorSetLayoutCreateInfo layout{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, 1, &binding};
    CHECK(CreateDescriptorSetLayout(device, &layout, nullptr, &out.layout) == VK_SUCCESS);
    const VkDescriptorPoolSize sizes{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, count};
    const VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, 1, 1, &sizes};
    CHECK(CreateDescriptorPool(device, &info, nullptr, &out.pool) == VK_SUCCESS);
    const VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, out.pool, 1, &out.layout};
    CHECK(AllocateDescriptorSets(device, &allocate, &out.set) == VK_SUCCESS);
    return out;
  }
  VkSampler sampler(VkSamplerYcbcrConversion conversion, VkSamplerAddressMode mode = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                    float anisotropy = 0) {
    const VkSamplerYcbcrConversionInfo next{VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO, nullptr, conversion};
    VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, &next};
    info.magFilter = info.minFilter = VK_FILTER_LINEAR;
    info.addressModeU = info.addressModeV = info.addressModeW = mode;
    info.anisotropyEnable = anisotropy > 1, info.maxAnisotropy = anisotropy;
    VkSampler made = nullptr;
    CHECK(CreateSampler(device, &info, nullptr, &made) == VK_SUCCESS);
    return made;
  }
  static VkImageCreateInfo image_info(VkFormat format, VkImageCreateFlags flags) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.flags = flags, info.imageType = VK_IMAGE_TYPE_2D, info.format = format, info.extent = {kSide_px, kSide_px, 1};
    info.mipLevels = info.arrayLayers = 1, info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    return info;
  }
};

void features_and_formats_are_listed() {
  YcbcrProgram p;
  VkPhysicalDeviceSamplerYcbcrConversionFeatures ycbcr{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLER_YCBCR_CONVERSION_FEATURES};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &ycbcr};
  p.GetPhysicalDeviceFeatures2(p.physical_device, &features);
  CHECK(ycbcr.samplerYcbcrConversion);
  constexpr VkFormatFeatureFlags kRequired = VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT |
                                             VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_COSITED_CHROMA_SAMPLES_BIT;
  constexpr VkFormatFeatureFlags kNever = VK_FORMAT_FEATURE_BLIT_SRC_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT |
                                          VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT;
  for (VkFormat format : {kNv12, kI420, VK_FORMAT_G8B8G8R8_422_UNORM, VK_FORMAT_G16_B16R16_2PLANE_444_UNORM,
                          VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16}) {
    VkFormatProperties found;
    p.GetPhysicalDeviceFormatProperties(p.physical_device, format, &found);
    CHECK((found.optimalTilingFeatures & kRequired) == kRequired && !(found.optimalTilingFeatures & kNever));
    CHECK(!(found.optimalTilingFeatures & VK_FORMAT_FEATURE_DISJOINT_BIT) == (format == VK_FORMAT_G8B8G8R8_422_UNORM));
    VkSamplerYcbcrConversionImageFormatProperties counted{VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 limits{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, &counted};
    VkPhysicalDeviceImageFormatInfo2 asked{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
    asked.format = format, asked.type = VK_IMAGE_TYPE_2D, asked.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    CHECK(p.GetPhysicalDeviceImageFormatProperties2(p.physical_device, &asked, &limits) == VK_SUCCESS);
    CHECK(counted.combinedImageSamplerDescriptorCount == 1 && limits.imageFormatProperties.maxMipLevels == 1);
    CHECK(limits.imageFormatProperties.sampleCounts == VK_SAMPLE_COUNT_1_BIT);
    asked.type = VK_IMAGE_TYPE_3D;
    CHECK(p.GetPhysicalDeviceImageFormatProperties2(p.physical_device, &asked, &limits) == VK_ERROR_FORMAT_NOT_SUPPORTED);
  }
}

struct Frame {
  VkImage image = nullptr;
  VkImageView view = nullptr;
  std::vector<VkDeviceMemory> memories;
};

/// With memory of each plane's own where it is disjoint.
Frame make_frame(YcbcrProgram& p, VkFormat format, bool disjoint, VkSamplerYcbcrConversion conversion) {
  Frame f;
  const VkImageCreateInfo info = YcbcrProgram::image_info(format, disjoint ? VK_IMAGE_CREATE_DISJOINT_BIT : 0);
  CHECK(p.CreateImage(p.device, &info, nullptr, &f.image) == VK_SUCCESS);
  const auto requirements = [&](const void* next) {
    VkImageMemoryRequirementsInfo2 asked{VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2, next, f.image};
    VkMemoryRequirements2 needs{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    p.GetImageMemoryRequirements2(p.device, &asked, &needs);
    return needs.memoryRequirements.size;
  };
  const uint32_t planes = format == kNv12 ? 2 : 3;
  if (disjoint) {
    std::vector<VkBindImagePlaneMemoryInfo> of_plane(planes);
    std::vector<VkBindImageMemoryInfo> binds(planes);
    for (uint32_t k = 0; k < planes; ++k) {
      const auto aspect = static_cast<VkImageAspectFlagBits>(VK_IMAGE_ASPECT_PLANE_0_BIT << k);
      const VkImagePlaneMemoryRequirementsInfo plane{VK_STRUCTURE_TYPE_IMAGE_PLANE_MEMORY_REQUIREMENTS_INFO, nullptr, aspect};
      f.memories.push_back(p.allocate(requirements(&plane) + 128));
      of_plane[k] = {VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO, nullptr, aspect};
      binds[k] = {VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO, &of_plane[k], f.image, f.memories[k], 64 * k};
    }
    CHECK(p.BindImageMemory(p.device, f.image, f.memories[0], 0) != VK_SUCCESS && p.heard("disjoint"));
    p.said.clear();
    CHECK(p.BindImageMemory2(p.device, planes, binds.data()) == VK_SUCCESS);
  } else {
    f.memories.push_back(p.allocate(requirements(nullptr)));
    CHECK(p.BindImageMemory(p.device, f.image, f.memories[0], 0) == VK_SUCCESS);
    VkSubresourceLayout layouts[3];
    for (uint32_t k = 0; k < planes; ++k) {
      const VkImageSubresource part{static_cast<VkImageAspectFlags>(VK_IMAGE_ASPECT_PLANE_0_BIT << k), 0, 0};
      p.GetImageSubresourceLayout(p.device, f.image, &part, &layouts[k]);
      CHECK(k == 0 ? layouts[k].offset == 0 : layouts[k].offset >= layouts[k - 1].offset + layouts[k - 1].size);
      CHECK(layouts[k].size == layouts[k].rowPitch * (k ? kSide_px / 2 : kSide_px));
    }
  }
  const VkSamplerYcbcrConversionInfo next{VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO, nullptr, conversion};
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, &next};
  view.image = f.image, view.viewType = VK_IMAGE_VIEW_TYPE_2D, view.format = format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  CHECK(p.CreateImageView(p.device, &view, nullptr, &f.view) == VK_SUCCESS);
  return f;
}

void destroy(YcbcrProgram& p, const Frame& f) {
  p.DestroyImageView(p.device, f.view, nullptr);
  p.DestroyImage(p.device, f.image, nullptr);
  for (VkDeviceMemory memory : f.memories) p.FreeMemory(p.device, memory, nullptr);
}

/// Planes one behind the other in the buffer: luma, then chroma of either order.
void upload(YcbcrProgram& p, VkCommandBuffer c, const Frame& f, VkBuffer buffer, bool two) {
  constexpr uint32_t kLuma_B = kSide_px * kSide_px, kHalf_px = kSide_px / 2;
  VkBufferImageCopy regions[3]{};
  for (uint32_t k = 0; k < (two ? 2u : 3u); ++k) {
    regions[k].bufferOffset = k ? kLuma_B + (k - 1) * kHalf_px * kHalf_px : 0;
    regions[k].imageSubresource = {static_cast<VkImageAspectFlags>(VK_IMAGE_ASPECT_PLANE_0_BIT << k), 0, 0, 1};
    regions[k].imageExtent = {k ? kHalf_px : kSide_px, k ? kHalf_px : kSide_px, 1};
  }
  p.CmdCopyBufferToImage(c, buffer, f.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, two ? 2 : 3, regions);
}

/// What Y'CbCr of ITU-R BT.601 is in RGB.
void check_color(const uint8_t* rgba, double y, double cb, double cr) {
  const double luma = (y - 16) / 219, b = (cb - 128) / 224, r = (cr - 128) / 224;
  const double want[3] = {luma + 1.402 * r, luma - (0.202008 * b + 0.419198 * r) / 0.587, luma + 1.772 * b};
  for (int k = 0; k < 3; ++k) CHECK(std::abs(rgba[k] - 255 * std::min(std::max(want[k], 0.0), 1.0)) <= 1);
  CHECK(rgba[3] == 255);
}

/// The whole picture by one triangle, into the buffer; `uploads` records what comes before.
void draw_whole(YcbcrProgram& p, VkPipelineLayout layout, VkDescriptorSet set, const char* fragment, const Program::MappedBuffer& out,
                const std::function<void(VkCommandBuffer)>& uploads) {
  const auto color =
      p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const VkRenderPass pass = p.one_subpass();
  const VkPipeline pipeline = make_pipeline(p, kWhole, fragment, layout, pass, 0);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {color.view}, kSide_px);
  const VkCommandBuffer c = p.begin();
  uploads(c);
  VkClearValue clear{};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  begin.clearValueCount = 1, begin.pClearValues = &clear;
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  const VkRect2D scissor{{0, 0}, {kSide_px, kSide_px}};
  p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &scissor);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
  p.CmdDraw(c, 3, 1, 0, 0);
  p.CmdEndRenderPass(c);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
  p.CmdCopyImageToBuffer(c, color.image, VK_IMAGE_LAYOUT_GENERAL, out.buffer, 1, &region);
  p.run(c);
  p.DestroyPipeline(p.device, pipeline, nullptr), p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr), p.destroy(color);
}

/// NV12 in memory by plane on the left, I420 in one memory on the right, the same colour: written one by one, or by a template.
void frames_are_drawn(bool by_template) {
  YcbcrProgram p;
  const VkSamplerYcbcrConversion of[2] = {p.conversion(kNv12), p.conversion(kI420)};
  const Frame frames[2] = {make_frame(p, kNv12, true, of[0]), make_frame(p, kI420, false, of[1])};
  const VkSampler samplers[2] = {p.sampler(of[0]), p.sampler(of[1])};
  constexpr uint32_t kTexels = kSide_px * kSide_px;
  const auto nv12 = p.buffer(kTexels * 3 / 2, VK_BUFFER_USAGE_TRANSFER_SRC_BIT),
             i420 = p.buffer(kTexels * 3 / 2, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  const auto out = p.buffer(kTexels * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (uint32_t i = 0; i < kTexels; ++i) nv12.data[i] = i420.data[i] = 81;
  for (uint32_t i = 0; i < kTexels / 4; ++i) {
    nv12.data[kTexels + 2 * i] = i420.data[kTexels + i] = 90;
    nv12.data[kTexels + 2 * i + 1] = i420.data[kTexels + kTexels / 4 + i] = 240;
  }
  const auto [set_layout, pool, set] = p.textures(2, samplers);
  VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout_info.setLayoutCount = 1, layout_info.pSetLayouts = &set_layout;
  VkPipelineLayout layout = nullptr;
  CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layout) == VK_SUCCESS);
  // Nobody looks at the sampler where the layout has one.
  const auto nonsense = reinterpret_cast<VkSampler>(uintptr_t{8});
  const VkDescriptorImageInfo images[2] = {{nonsense, frames[0].view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
                                           {nonsense, frames[1].view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL}};
  if (by_template) {
    const VkDescriptorUpdateTemplateEntry entry{0, 0, 2, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 0, sizeof(VkDescriptorImageInfo)};
    VkDescriptorUpdateTemplateCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
    info.descriptorUpdateEntryCount = 1, info.pDescriptorUpdateEntries = &entry;
    info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET, info.descriptorSetLayout = set_layout;
    VkDescriptorUpdateTemplate made = nullptr;
    CHECK(p.CreateDescriptorUpdateTemplate(p.device, &info, nullptr, &made) == VK_SUCCESS);
    p.UpdateDescriptorSetWithTemplate(p.device, set, made, images);
    p.DestroyDescriptorUpdateTemplate(p.device, made, nullptr);
  } else {
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set, write.descriptorCount = 2, write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    write.pImageInfo = images;
    p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  }
  draw_whole(p, layout, set, kShow, out,
             [&](VkCommandBuffer c) { upload(p, c, frames[0], nv12.buffer, true), upload(p, c, frames[1], i420.buffer, false); });
  for (uint32_t i = 0; i < kTexels; ++i) check_color(out.data + 4 * i, 81, 90, 240);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());

  p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyDescriptorPool(p.device, pool, nullptr), p.DestroyDescriptorSetLayout(p.device, set_layout, nullptr);
  for (VkSampler sampler : samplers) p.DestroySampler(p.device, sampler, nullptr);
  for (const Frame& f : frames) destroy(p, f);
  for (VkSamplerYcbcrConversion conversion : of) p.DestroySamplerYcbcrConversion(p.device, conversion, nullptr);
  p.DestroySamplerYcbcrConversion(p.device, nullptr, nullptr);
  p.destroy(nv12), p.destroy(i420), p.destroy(out);
}

/// Samplers that repeat or mirror beside a conversion, which Vulkan forbids and programs make: a warning, and addresses as for any image.
void frames_repeat(VkSamplerAddressMode mode, const char* place) {
  YcbcrProgram p;
  VkSamplerYcbcrConversionCreateInfo info = YcbcrProgram::conversion_info(kI420);
  info.ycbcrModel = VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY, info.ycbcrRange = VK_SAMPLER_YCBCR_RANGE_ITU_FULL;
  VkSamplerYcbcrConversion conversion = nullptr;
  CHECK(p.CreateSamplerYcbcrConversion(p.device, &info, nullptr, &conversion) == VK_SUCCESS);
  const Frame frame = make_frame(p, kI420, false, conversion);
  const VkSampler sampler = p.sampler(conversion, mode, 4);
  CHECK(p.heard("allowed is clamp_to_edge") && p.heard("max_anisotropy") && p.heard("done all the same"));
  p.said.clear();
  constexpr uint32_t kTexels = kSide_px * kSide_px, kHalf_px = kSide_px / 2;
  const auto i420 = p.buffer(kTexels * 3 / 2, VK_BUFFER_USAGE_TRANSFER_SRC_BIT),
             out = p.buffer(kTexels * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const auto luma = [](uint32_t x) { return 10 + 15 * x; };
  const auto chroma = [](uint32_t x) { return 20 + 30 * x; };
  for (uint32_t i = 0; i < kTexels; ++i) i420.data[i] = static_cast<uint8_t>(luma(i % kSide_px));
  for (uint32_t i = 0; i < kTexels / 2; ++i) i420.data[kTexels + i] = static_cast<uint8_t>(chroma(i % kHalf_px));
  const auto [set_layout, pool, set] = p.textures(1, &sampler);
  VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout_info.setLayoutCount = 1, layout_info.pSetLayouts = &set_layout;
  VkPipelineLayout layout = nullptr;
  CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layout) == VK_SUCCESS);
  const VkDescriptorImageInfo image{nullptr, frame.view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set, write.descriptorCount = 1, write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  write.pImageInfo = &image;
  p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  const std::string fragment = std::string(R"(#version 450
layout(binding = 0) uniform sampler2D frame;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { color = texture(frame, )") +
                               place + "); }";
  draw_whole(p, layout, set, fragment.c_str(), out, [&](VkCommandBuffer c) { upload(p, c, frame, i420.buffer, false); });
  for (uint32_t i = 0; i < kTexels; ++i) {
    const uint32_t x = i % kSide_px;
    const int low = static_cast<int>(x + 1) / 2 - 1;  // chroma lies between two of luma
    const auto at = [&](int texel) {
      const int inside = mode == VK_SAMPLER_ADDRESS_MODE_REPEAT ? (texel + 8) % 8 : std::clamp(texel, 0, 7);
      return chroma(static_cast<uint32_t>(inside));
    };
    const double upper = x % 2 ? 0.25 : 0.75, want = at(low) * (1 - upper) + at(low + 1) * upper;
    CHECK(out.data[4 * i + 1] == luma(x) && std::abs(out.data[4 * i] - want) <= 1 && std::abs(out.data[4 * i + 2] - want) <= 1);
  }
  p.DestroyPipelineLayout(p.device, layout, nullptr), p.DestroyDescriptorPool(p.device, pool, nullptr);
  p.DestroyDescriptorSetLayout(p.device, set_layout, nullptr), p.DestroySampler(p.device, sampler, nullptr);
  destroy(p, frame), p.DestroySamplerYcbcrConversion(p.device, conversion, nullptr);
  p.destroy(i420), p.destroy(out);
}

/// Words of 16 bits with components in the high ones can do less than those of 16, so that programs that look for the latter find them.
void words_with_unused_bits_can_do_less() {
  YcbcrProgram p;
  constexpr VkFormatFeatureFlags kStorage = VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT;
  const auto features = [&](VkFormat format) {
    VkFormatProperties found;
    p.GetPhysicalDeviceFormatProperties(p.physical_device, format, &found);
    return found;
  };
  for (VkFormat format : {VK_FORMAT_R10X6_UNORM_PACK16, VK_FORMAT_R10X6G10X6_UNORM_2PACK16, VK_FORMAT_R10X6G10X6B10X6A10X6_UNORM_4PACK16,
                          VK_FORMAT_R12X4_UNORM_PACK16, VK_FORMAT_R12X4G12X4_UNORM_2PACK16, VK_FORMAT_R12X4G12X4B12X4A12X4_UNORM_4PACK16}) {
    CHECK(features(format).optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT);
    CHECK(!(features(format).optimalTilingFeatures & kStorage) && features(format).bufferFeatures == 0);
  }
  for (VkFormat format : {VK_FORMAT_R16_UNORM, VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16B16A16_UNORM})
    CHECK(features(format).optimalTilingFeatures & kStorage &&
          features(format).bufferFeatures & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT);
}

/// A plane of an image with EXTENDED_USAGE is rendered to, by a view of its own, and read back.
void planes_are_attachments() {
  YcbcrProgram p;
  constexpr uint32_t kHalf_px = kSide_px / 2;
  VkImageCreateInfo info = YcbcrProgram::image_info(kI420, VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT);
  info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_STORAGE_BIT;
  VkImage image = nullptr;
  CHECK(p.CreateImage(p.device, &info, nullptr, &image) == VK_SUCCESS);
  VkMemoryRequirements needs;
  p.GetImageMemoryRequirements(p.device, image, &needs);
  const VkDeviceMemory memory = p.allocate(needs.size);
  CHECK(p.BindImageMemory(p.device, image, memory, 0) == VK_SUCCESS);
  VkImageViewCreateInfo view_info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view_info.image = image, view_info.viewType = VK_IMAGE_VIEW_TYPE_2D, view_info.format = VK_FORMAT_R8_UNORM;
  view_info.subresourceRange = {VK_IMAGE_ASPECT_PLANE_2_BIT, 0, 1, 0, 1};
  VkImageView view = nullptr;
  CHECK(p.CreateImageView(p.device, &view_info, nullptr, &view) == VK_SUCCESS);
  const VkRenderPass pass = p.one_subpass(VK_FORMAT_R8_UNORM);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {view}, kHalf_px);
  const auto out = p.buffer(kHalf_px * kHalf_px, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkCommandBuffer c = p.begin();
  VkClearValue clear{};
  clear.color.float32[0] = 0.6F;
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kHalf_px, kHalf_px}};
  begin.clearValueCount = 1, begin.pClearValues = &clear;
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdEndRenderPass(c);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_PLANE_2_BIT, 0, 0, 1}, region.imageExtent = {kHalf_px, kHalf_px, 1};
  p.CmdCopyImageToBuffer(c, image, VK_IMAGE_LAYOUT_GENERAL, out.buffer, 1, &region);
  p.run(c);
  for (uint32_t i = 0; i < kHalf_px * kHalf_px; ++i) CHECK(out.data[i] == 153);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
  p.DestroyFramebuffer(p.device, framebuffer, nullptr), p.DestroyRenderPass(p.device, pass, nullptr);
  p.DestroyImageView(p.device, view, nullptr), p.DestroyImage(p.device, image, nullptr);
  p.FreeMemory(p.device, memory, nullptr), p.destroy(out);
}

/// Texels of 10 bits can't be stored to, words of 16 bits can: planes of an image with EXTENDED_USAGE are seen so by ffmpeg's filters.
void planes_are_seen_as_words() {
  YcbcrProgram p;
  constexpr VkFormat kP010 = VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16;
  VkImageCreateInfo info = YcbcrProgram::image_info(kP010, VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT);
  info.usage |= VK_IMAGE_USAGE_STORAGE_BIT;
  VkImage image = nullptr;
  CHECK(p.CreateImage(p.device, &info, nullptr, &image) == VK_SUCCESS);
  VkMemoryRequirements needs;
  p.GetImageMemoryRequirements(p.device, image, &needs);
  const VkDeviceMemory memory = p.allocate(needs.size);
  CHECK(p.BindImageMemory(p.device, image, memory, 0) == VK_SUCCESS);
  VkImageViewCreateInfo view_info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view_info.image = image, view_info.viewType = VK_IMAGE_VIEW_TYPE_2D, view_info.format = VK_FORMAT_R16G16_UNORM;
  view_info.subresourceRange = {VK_IMAGE_ASPECT_PLANE_1_BIT, 0, 1, 0, 1};
  VkImageView view = nullptr;
  CHECK(p.CreateImageView(p.device, &view_info, nullptr, &view) == VK_SUCCESS);
  const VkDescriptorSetLayout sets = p.set_layout({{0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
  const VkPipelineLayout layout = p.pipeline_layout({sets});
  const VkDescriptorSet set = p.descriptor_set(sets);
  const VkDescriptorImageInfo of_plane{nullptr, view, VK_IMAGE_LAYOUT_GENERAL};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set, write.descriptorCount = 1, write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, write.pImageInfo = &of_plane;
  p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  const VkPipeline kernel = p.compute_pipeline(
      "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0, rg16) uniform writeonly image2D plane;\n"
      "void main() { imageStore(plane, ivec2(3, 2), vec4(1, 0.5, 0, 0)); }",
      layout);
  const auto out = p.buffer(4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkCommandBuffer c = p.begin();
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, kernel);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
  p.CmdDispatch(c, 1, 1, 1);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_PLANE_1_BIT, 0, 0, 1}, region.imageOffset = {3, 2, 0}, region.imageExtent = {1, 1, 1};
  p.CmdCopyImageToBuffer(c, image, VK_IMAGE_LAYOUT_GENERAL, out.buffer, 1, &region);
  p.run(c);
  CHECK(out.data[0] == 0xff && out.data[1] == 0xff && out.data[2] == 0x00 && out.data[3] == 0x80);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
  p.DestroyPipeline(p.device, kernel, nullptr), p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyDescriptorSetLayout(p.device, sets, nullptr);
  p.DestroyImageView(p.device, view, nullptr), p.DestroyImage(p.device, image, nullptr);
  p.FreeMemory(p.device, memory, nullptr), p.destroy(out);
}

void wrong_use_is_refused() {
  YcbcrProgram p;
  VkSamplerYcbcrConversionCreateInfo info = YcbcrProgram::conversion_info(VK_FORMAT_R8G8B8A8_SRGB);
  VkSamplerYcbcrConversion made = nullptr;
  CHECK(p.CreateSamplerYcbcrConversion(p.device, &info, nullptr, &made) != VK_SUCCESS && p.heard("UNORM"));
  info.format = VK_FORMAT_UNDEFINED;  // an external format, which there is none of
  CHECK(p.CreateSamplerYcbcrConversion(p.device, &info, nullptr, &made) != VK_SUCCESS && p.heard("format is 0"));
  VkImage image = nullptr;
  VkImageCreateInfo odd = YcbcrProgram::image_info(kNv12, 0);
  odd.extent.width = 15;
  CHECK(p.CreateImage(p.device, &odd, nullptr, &image) != VK_SUCCESS && p.heard("an even number"));
  VkImageCreateInfo apart = YcbcrProgram::image_info(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_CREATE_DISJOINT_BIT);
  CHECK(p.CreateImage(p.device, &apart, nullptr, &image) == VK_ERROR_FORMAT_NOT_SUPPORTED);

  const VkSamplerYcbcrConversion conversion = p.conversion(kNv12);
  const Frame f = make_frame(p, kNv12, false, conversion);
  const VkSampler sampler = p.sampler(conversion);
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = f.image, view.viewType = VK_IMAGE_VIEW_TYPE_2D, view.format = kNv12;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkImageView none = nullptr;
  CHECK(p.CreateImageView(p.device, &view, nullptr, &none) != VK_SUCCESS && p.heard("a sampler Y'CbCr conversion with format"));
  view.format = VK_FORMAT_R8_UNORM, view.subresourceRange.aspectMask = VK_IMAGE_ASPECT_PLANE_0_BIT;
  CHECK(p.CreateImageView(p.device, &view, nullptr, &none) != VK_SUCCESS && p.heard("mutable_format"));

  // A layout without immutable samplers.
  const auto [set_layout, pool, set] = p.textures(1, nullptr);
  const VkDescriptorImageInfo frame{sampler, f.view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set, write.descriptorCount = 1, write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  write.pImageInfo = &frame;
  p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  CHECK(p.heard("no immutable samplers"));

  const VkSamplerYcbcrConversionInfo next{VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO, nullptr, conversion};
  VkSamplerCreateInfo border{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, &next};  // a border, of whatever colour space, is none
  border.addressModeU = border.addressModeV = border.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
  VkSampler refused = nullptr;
  CHECK(p.CreateSampler(p.device, &border, nullptr, &refused) != VK_SUCCESS && p.heard("allowed is clamp_to_edge"));

  p.DestroyDescriptorPool(p.device, pool, nullptr), p.DestroyDescriptorSetLayout(p.device, set_layout, nullptr);
  p.DestroySampler(p.device, sampler, nullptr);
  destroy(p, f);
  p.DestroySamplerYcbcrConversion(p.device, conversion, nullptr);
}

}  // namespace

int main() {
  features_and_formats_are_listed();
  frames_are_drawn(false);
  frames_are_drawn(true);
  frames_repeat(VK_SAMPLER_ADDRESS_MODE_REPEAT, "uv + vec2(1, -2)");
  frames_repeat(VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT, "vec2(2 - uv.x, uv.y)");
  frames_repeat(VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE, "vec2(-uv.x, uv.y)");
  words_with_unused_bits_can_do_less();
  planes_are_attachments();
  planes_are_seen_as_words();
  wrong_use_is_refused();
  return finish("test_vulkan_ycbcr");
}
