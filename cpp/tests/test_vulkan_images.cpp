// tests/test_vulkan_images.cpp -- storage images, texel buffers and samplers as a program of the driver sees them: features, formats,
// refusals, a fragment shader that reads and writes both, through writes and through a template.
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16, kTexels = kSide_px * kSide_px;
constexpr const char* kWhole = R"(#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); })";
constexpr const char* kStores = R"(#version 450
layout(binding = 0) uniform writeonly image2D target;
layout(binding = 1, r32ui) uniform uimage2D sums;
layout(binding = 2) uniform samplerBuffer source;
layout(binding = 3, r32ui) uniform uimageBuffer counts;
layout(location = 0) out vec4 color;
void main() {
  int at = int(gl_FragCoord.y) * 16 + int(gl_FragCoord.x);
  imageStore(target, ivec2(gl_FragCoord.xy), texelFetch(source, at));
  imageAtomicAdd(sums, ivec2(0), uint(at));
  imageAtomicAdd(counts, at % 4, 1u);
  imageStore(counts, 4, uvec4(imageSize(target).x));
  color = vec4(0);
})";

void features_and_formats_are_listed() {
  Program p;
  VkPhysicalDeviceFeatures f;
  p.GetPhysicalDeviceFeatures(p.physical_device, &f);
  CHECK(f.fragmentStoresAndAtomics && f.vertexPipelineStoresAndAtomics && f.shaderStorageImageExtendedFormats);
  CHECK(f.shaderStorageImageReadWithoutFormat && f.shaderStorageImageWriteWithoutFormat && f.shaderStorageImageMultisample);
  const auto features = [&](VkFormat format) {
    VkFormatProperties found;
    p.GetPhysicalDeviceFormatProperties(p.physical_device, format, &found);
    return found;
  };
  constexpr VkFormatFeatureFlags kTexelBuffers = VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT | VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT;
  // What Vulkan requires of every implementation, and of shaderStorageImageExtendedFormats.
  for (VkFormat format :
       {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SNORM, VK_FORMAT_R8G8B8A8_UINT, VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R32_UINT,
        VK_FORMAT_R32_SINT, VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R16G16_SFLOAT,
        VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_R16_SFLOAT, VK_FORMAT_R16G16B16A16_UNORM, VK_FORMAT_A2B10G10R10_UNORM_PACK32,
        VK_FORMAT_R8_UNORM, VK_FORMAT_R8_SNORM, VK_FORMAT_R16_UINT, VK_FORMAT_A2B10G10R10_UINT_PACK32}) {
    CHECK(features(format).optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT);
    CHECK((features(format).bufferFeatures & kTexelBuffers) == kTexelBuffers);
  }
  CHECK(features(VK_FORMAT_R32_UINT).optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT);
  CHECK(features(VK_FORMAT_R32_SINT).bufferFeatures & VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_ATOMIC_BIT);
  // What is added to floats in images is VK_EXT_shader_atomic_float's.
  CHECK(features(VK_FORMAT_R32_SFLOAT).optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT);
  CHECK(!(features(VK_FORMAT_R16_SFLOAT).optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT));
  for (VkFormat format : {VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_D32_SFLOAT, VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, VK_FORMAT_R8G8B8_UNORM}) {
    CHECK(!(features(format).optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT));
    CHECK(!(features(format).bufferFeatures & kTexelBuffers));
  }
}

void wrong_views_are_refused() {
  Program p;
  const auto buffer = p.buffer(64, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT), plain = p.buffer(64, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
  VkBufferView view = nullptr;
  const auto make = [&](VkBuffer of, VkFormat format, uint64_t offset_B, uint64_t range_B) {
    const VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO, nullptr, 0, of, format, offset_B, range_B};
    return p.CreateBufferView(p.device, &info, nullptr, &view);
  };
  CHECK(make(buffer.buffer, VK_FORMAT_R32_SFLOAT, 4, VK_WHOLE_SIZE) != VK_SUCCESS && p.heard("multiple of 16"));
  CHECK(make(buffer.buffer, VK_FORMAT_R32_SFLOAT, 16, 64) != VK_SUCCESS && p.heard("at most 48 bytes"));
  CHECK(make(buffer.buffer, VK_FORMAT_R8G8B8A8_SRGB, 0, 64) != VK_SUCCESS && p.heard("r8g8b8a8_srgb"));
  CHECK(make(plain.buffer, VK_FORMAT_R32_SFLOAT, 0, 64) != VK_SUCCESS && p.heard("uniform_texel_buffer or storage_texel_buffer"));
  CHECK(make(buffer.buffer, VK_FORMAT_R32_SFLOAT, 16, VK_WHOLE_SIZE) == VK_SUCCESS);
  p.DestroyBufferView(p.device, view, nullptr);
  p.DestroyBufferView(p.device, nullptr, nullptr);
  p.destroy(buffer), p.destroy(plain);
}

void samplers_are_made_or_refused() {
  Program p;
  VkPhysicalDeviceFeatures f;
  VkPhysicalDeviceProperties properties;
  p.GetPhysicalDeviceFeatures(p.physical_device, &f);
  p.GetPhysicalDeviceProperties(p.physical_device, &properties);
  CHECK(f.samplerAnisotropy && properties.limits.maxSamplerAnisotropy == 16);
  VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  info.anisotropyEnable = VK_TRUE, info.maxAnisotropy = 16;
  VkSampler made = nullptr;
  CHECK(p.CreateSampler(p.device, &info, nullptr, &made) == VK_SUCCESS);
  p.DestroySampler(p.device, made, nullptr);
  info.maxAnisotropy = 17;
  CHECK(p.CreateSampler(p.device, &info, nullptr, &made) != VK_SUCCESS && p.heard("max_anisotropy"));
  info.anisotropyEnable = VK_FALSE;  // then nobody looks at it
  VkSamplerCustomBorderColorCreateInfoEXT border{VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT};
  VkSamplerReductionModeCreateInfo reduction{VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO, &border, VK_SAMPLER_REDUCTION_MODE_MAX};
  info.pNext = &reduction, info.borderColor = VK_BORDER_COLOR_FLOAT_CUSTOM_EXT;
  CHECK(p.CreateSampler(p.device, &info, nullptr, &made) == VK_SUCCESS);
  p.DestroySampler(p.device, made, nullptr);
  info.compareEnable = VK_TRUE;
  CHECK(p.CreateSampler(p.device, &info, nullptr, &made) != VK_SUCCESS && p.heard("comparison"));
}

/// Cubic filters by format and view type, as VK_EXT_filter_cubic asks; views with a least LOD.
void cubic_filters_and_least_lods_are_told() {
  Program p;
  PFN_vkGetPhysicalDeviceImageFormatProperties2 image_properties2 = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 features2 = nullptr;
  p.load(image_properties2, "vkGetPhysicalDeviceImageFormatProperties2"), p.load(features2, "vkGetPhysicalDeviceFeatures2");
  const auto filters = [&](VkFormat format, VkImageType type, VkImageViewType view, VkImageCreateFlags flags = 0) {
    VkPhysicalDeviceImageViewImageFormatInfoEXT of_view{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_VIEW_IMAGE_FORMAT_INFO_EXT, nullptr, view};
    VkPhysicalDeviceImageFormatInfo2 info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2, &of_view};
    info.format = format, info.type = type, info.usage = VK_IMAGE_USAGE_SAMPLED_BIT, info.flags = flags;
    VkFilterCubicImageViewImageFormatPropertiesEXT found{VK_STRUCTURE_TYPE_FILTER_CUBIC_IMAGE_VIEW_IMAGE_FORMAT_PROPERTIES_EXT};
    VkImageFormatProperties2 out{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, &found};
    CHECK(image_properties2(p.physical_device, &info, &out) == VK_SUCCESS);
    CHECK(found.filterCubic == found.filterCubicMinmax);
    return found.filterCubic == VK_TRUE;
  };
  CHECK(filters(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D));
  CHECK(filters(VK_FORMAT_R5G6B5_UNORM_PACK16, VK_IMAGE_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D_ARRAY));
  CHECK(filters(VK_FORMAT_R8G8B8A8_SRGB, VK_IMAGE_TYPE_3D, VK_IMAGE_VIEW_TYPE_3D));
  CHECK(!filters(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, VK_IMAGE_VIEW_TYPE_CUBE, VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT));
  CHECK(!filters(VK_FORMAT_R8G8B8A8_UINT, VK_IMAGE_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D));
  CHECK(!filters(VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, VK_IMAGE_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D));
  VkSamplerCreateInfo sampler{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  sampler.magFilter = sampler.minFilter = VK_FILTER_CUBIC_EXT;
  VkSampler made = nullptr;
  CHECK(p.CreateSampler(p.device, &sampler, nullptr, &made) == VK_SUCCESS);
  p.DestroySampler(p.device, made, nullptr);
  sampler.anisotropyEnable = VK_TRUE, sampler.maxAnisotropy = 2;
  CHECK(p.CreateSampler(p.device, &sampler, nullptr, &made) != VK_SUCCESS && p.heard("cubic"));

  VkPhysicalDeviceImageViewMinLodFeaturesEXT least_lod{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_VIEW_MIN_LOD_FEATURES_EXT};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &least_lod};
  features2(p.physical_device, &features);
  CHECK(least_lod.minLod && features.features.shaderResourceMinLod);
  const auto image = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_SAMPLED_BIT);
  VkImageViewMinLodCreateInfoEXT least{VK_STRUCTURE_TYPE_IMAGE_VIEW_MIN_LOD_CREATE_INFO_EXT};
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, &least};
  view.image = image.image, view.viewType = VK_IMAGE_VIEW_TYPE_2D, view.format = VK_FORMAT_R8G8B8A8_UNORM;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkImageView out = nullptr;
  CHECK(p.CreateImageView(p.device, &view, nullptr, &out) == VK_SUCCESS);
  p.DestroyImageView(p.device, out, nullptr);
  least.minLod = 0.5f;
  CHECK(p.CreateImageView(p.device, &view, nullptr, &out) != VK_SUCCESS && p.heard("min_lod is 0.5, allowed is at most 0"));
  p.destroy(image);
}

VkDescriptorSetLayout make_set_layout(Program& p) {
  VkDescriptorSetLayoutBinding bindings[4]{};
  const VkDescriptorType types[4] = {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                     VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER};
  for (uint32_t i = 0; i < 4; ++i) bindings[i] = {i, types[i], 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
  const VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, 4, bindings};
  VkDescriptorSetLayout out = nullptr;
  CHECK(p.CreateDescriptorSetLayout(p.device, &info, nullptr, &out) == VK_SUCCESS);
  return out;
}

struct Written {
  VkDescriptorImageInfo target, sums;
  VkBufferView source, counts;
};

void write_set(Program& p, VkDescriptorSet set, VkDescriptorSetLayout layout, const Written& w, bool by_template) {
  if (!by_template) {
    VkWriteDescriptorSet writes[4]{};
    for (uint32_t i = 0; i < 4; ++i)
      writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, writes[i].dstSet = set, writes[i].dstBinding = i,
      writes[i].descriptorCount = 1;
    for (uint32_t i = 0; i < 2; ++i) writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    writes[0].pImageInfo = &w.target, writes[1].pImageInfo = &w.sums;
    writes[2].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, writes[2].pTexelBufferView = &w.source;
    writes[3].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, writes[3].pTexelBufferView = &w.counts;
    p.UpdateDescriptorSets(p.device, 4, writes, 0, nullptr);
    return;
  }
  const VkDescriptorUpdateTemplateEntry entries[3] = {
      {0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, offsetof(Written, target), sizeof(VkDescriptorImageInfo)},
      {1, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, offsetof(Written, sums), sizeof(VkDescriptorImageInfo)},
      {2, 0, 1, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, offsetof(Written, source), sizeof(VkBufferView)}};
  const VkDescriptorUpdateTemplateEntry last{3, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, offsetof(Written, counts), 8};
  const VkDescriptorUpdateTemplateEntry all[4] = {entries[0], entries[1], entries[2], last};
  VkDescriptorUpdateTemplateCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
  info.descriptorUpdateEntryCount = 4, info.pDescriptorUpdateEntries = all;
  info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET, info.descriptorSetLayout = layout;
  VkDescriptorUpdateTemplate made = nullptr;
  CHECK(p.CreateDescriptorUpdateTemplate(p.device, &info, nullptr, &made) == VK_SUCCESS);
  p.UpdateDescriptorSetWithTemplate(p.device, set, made, &w);
  p.DestroyDescriptorUpdateTemplate(p.device, made, nullptr);
}

void draw(Program& p, VkCommandBuffer c, VkRenderPass pass, VkFramebuffer framebuffer, VkPipeline pipeline, VkPipelineLayout layout,
          VkDescriptorSet set) {
  VkClearValue clear{};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  begin.clearValueCount = 1, begin.pClearValues = &clear;
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  const VkRect2D scissor{{0, 0}, {kSide_px, kSide_px}};
  p.CmdSetViewport(c, 0, 1, &viewport);
  p.CmdSetScissor(c, 0, 1, &scissor);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
  p.CmdDraw(c, 3, 1, 0, 0);
  p.CmdEndRenderPass(c);
}

void copy_out(Program& p, VkCommandBuffer c, VkImage image, VkBuffer buffer) {
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
  p.CmdCopyImageToBuffer(c, image, VK_IMAGE_LAYOUT_GENERAL, buffer, 1, &region);
}

void a_fragment_shader_reads_and_writes(bool by_template) {
  Program p;
  constexpr VkImageUsageFlags kUsage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  const auto target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, kUsage),
             sums = p.image(VK_FORMAT_R32_UINT, kSide_px, kSide_px, kUsage);
  const auto color = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
  const auto source = p.buffer(kTexels * 4, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT);
  const auto counts = p.buffer(16 + 16, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
  const auto out = p.buffer(kTexels * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT),
             out_sums = p.buffer(kTexels * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (uint32_t i = 0; i < kTexels * 4; ++i) source.data[i] = static_cast<uint8_t>(i * 7);
  VkBufferView views[2]{};
  const VkBufferViewCreateInfo infos[2] = {
      {VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO, nullptr, 0, source.buffer, VK_FORMAT_R8G8B8A8_UNORM, 0, VK_WHOLE_SIZE},
      {VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO, nullptr, 0, counts.buffer, VK_FORMAT_R32_UINT, 0, 20}};
  for (uint32_t i = 0; i < 2; ++i) CHECK(p.CreateBufferView(p.device, &infos[i], nullptr, &views[i]) == VK_SUCCESS);
  const VkDescriptorSetLayout set_layout = make_set_layout(p);
  VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout_info.setLayoutCount = 1, layout_info.pSetLayouts = &set_layout;
  VkPipelineLayout layout = nullptr;
  CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layout) == VK_SUCCESS);
  const VkRenderPass pass = p.one_subpass();
  const VkPipeline stores = make_pipeline(p, kWhole, kStores, layout, pass, 0);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {color.view}, kSide_px);
  const VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, 1, 0, nullptr};
  VkDescriptorPool pool = nullptr;
  CHECK(p.CreateDescriptorPool(p.device, &pool_info, nullptr, &pool) == VK_SUCCESS);
  const VkDescriptorSetAllocateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pool, 1, &set_layout};
  VkDescriptorSet set = nullptr;
  CHECK(p.AllocateDescriptorSets(p.device, &set_info, &set) == VK_SUCCESS);
  write_set(p, set, set_layout,
            {{nullptr, target.view, VK_IMAGE_LAYOUT_GENERAL}, {nullptr, sums.view, VK_IMAGE_LAYOUT_GENERAL}, views[0], views[1]},
            by_template);

  const VkCommandBuffer c = p.begin();
  draw(p, c, pass, framebuffer, stores, layout, set);
  copy_out(p, c, target.image, out.buffer);
  copy_out(p, c, sums.image, out_sums.buffer);
  p.run(c);
  CHECK(std::memcmp(out.data, source.data, kTexels * 4) == 0);
  uint32_t sum = 0, count[8];
  std::memcpy(&sum, out_sums.data, 4);
  std::memcpy(count, counts.data, 32);
  CHECK(sum == kTexels * (kTexels - 1) / 2);
  for (uint32_t i = 0; i < 8; ++i) CHECK(count[i] == (i < 4 ? kTexels / 4 : i == 4 ? kSide_px : 0));
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());

  p.DestroyDescriptorPool(p.device, pool, nullptr);
  p.DestroyPipeline(p.device, stores, nullptr);
  p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
  p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyDescriptorSetLayout(p.device, set_layout, nullptr);
  for (VkBufferView view : views) p.DestroyBufferView(p.device, view, nullptr);
  for (const auto& image : {target, sums, color}) p.destroy(image);
  for (const auto& buffer : {source, counts, out, out_sums}) p.destroy(buffer);
}

}  // namespace

int main() {
  features_and_formats_are_listed();
  wrong_views_are_refused();
  samplers_are_made_or_refused();
  cubic_filters_and_least_lods_are_told();
  a_fragment_shader_reads_and_writes(false);
  a_fragment_shader_reads_and_writes(true);
  return finish("test_vulkan_images");
}
