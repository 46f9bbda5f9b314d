// fuzz/driver/resources.cpp -- memory, buffers, images, views, samplers, swapchains: made as Vulkan allows, and destroyed in any order that
// it allows.
//
// In: choices. Out: objects of the world. Source: Vulkan specification, "Resource Creation", "Memory Allocation", "WSI Swapchain".
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "driver/formats.hpp"
#include "driver/world.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr uint64_t kMostMemory_B = 1 << 16;

constexpr VkBufferUsageFlags kAllUsages =
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
    VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
    VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
    VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT |
    VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT | VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT;

/// What an image of the format may be used for, as the driver says.
VkImageUsageFlags usages_of(World& w, VkFormat format) {
  VkFormatProperties3 wide{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3};
  VkFormatProperties2 properties{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, &wide, {}};
  w.vk.GetPhysicalDeviceFormatProperties2(w.gpu, format, &properties);
  const VkFormatFeatureFlags2 has = wide.optimalTilingFeatures;
  VkImageUsageFlags usage = 0;
  if (has & VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT) usage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  if (has & VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT) usage |= VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  if (has & VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT) usage |= VK_IMAGE_USAGE_SAMPLED_BIT;
  if (has & VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT) usage |= VK_IMAGE_USAGE_STORAGE_BIT;
  if (has & VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT) usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  if (has & VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT)
    usage |= VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  if (has & VK_FORMAT_FEATURE_2_HOST_IMAGE_TRANSFER_BIT) usage |= VK_IMAGE_USAGE_HOST_TRANSFER_BIT;
  return usage;
}

/// Cut to what there is; false: there is no such image.
bool fit(World& w, VkImageCreateInfo& info) {
  VkPhysicalDeviceImageFormatInfo2 asked{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
  asked.format = info.format, asked.type = info.imageType, asked.tiling = info.tiling, asked.usage = info.usage, asked.flags = info.flags;
  VkImageFormatProperties2 limits{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
  if (TILEGPU_CHECKED(w, GetPhysicalDeviceImageFormatProperties2, w.gpu, &asked, &limits) != VK_SUCCESS) return false;
  const VkImageFormatProperties& most = limits.imageFormatProperties;
  info.extent = {std::min(info.extent.width, most.maxExtent.width), std::min(info.extent.height, most.maxExtent.height),
                 std::min(info.extent.depth, most.maxExtent.depth)};
  info.arrayLayers = std::min(info.arrayLayers, most.maxArrayLayers);
  if (!(most.sampleCounts & info.samples)) info.samples = VK_SAMPLE_COUNT_1_BIT;
  const auto longest = std::max({info.extent.width, info.extent.height, info.extent.depth});
  info.mipLevels = std::min({info.mipLevels, most.maxMipLevels, static_cast<uint32_t>(std::bit_width(longest))});
  if (info.samples != VK_SAMPLE_COUNT_1_BIT) info.mipLevels = 1;
  return true;
}

}  // namespace

VkExtent3D ImageModel::extent(uint32_t level) const {
  return {std::max(1U, info.extent.width >> level), std::max(1U, info.extent.height >> level), std::max(1U, info.extent.depth >> level)};
}

bool World::is_free(const ImageModel& image) const {
  for (const auto& view : recording.views)
    if (view && view->image.get() == &image) return false;
  return true;
}

std::shared_ptr<MemoryModel> World::allocate(uint64_t size_B, uint32_t type, bool exportable) {
  auto memory = std::make_shared<MemoryModel>();
  const VkExportMemoryAllocateInfo wanted{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, nullptr,
                                          VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
  const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, exportable ? &wanted : nullptr, size_B, type};
  TILEGPU_MUST(*this, AllocateMemory, device, &info, nullptr, &memory->handle);
  memory->size_B = size_B, memory->type = type, memory->exportable = exportable;
  memories.push_back(memory);
  return memory;
}

std::shared_ptr<BufferModel> World::buffer(uint64_t size_B, VkBufferUsageFlags usage) {
  auto made = std::make_shared<BufferModel>();
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = size_B, info.usage = usage;
  TILEGPU_MUST(*this, CreateBuffer, device, &info, nullptr, &made->handle);
  made->size_B = size_B, made->usage = usage;
  const VkBufferMemoryRequirementsInfo2 of{VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, nullptr, made->handle};
  VkMemoryRequirements2 needs{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
  vk.GetBufferMemoryRequirements2(device, &of, &needs);
  const VkDeviceBufferMemoryRequirements same{VK_STRUCTURE_TYPE_DEVICE_BUFFER_MEMORY_REQUIREMENTS, nullptr, &info};
  VkMemoryRequirements2 again{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
  vk.GetDeviceBufferMemoryRequirements(device, &same, &again);
  if (std::memcmp(&needs.memoryRequirements, &again.memoryRequirements, sizeof needs.memoryRequirements) != 0)
    fail("a buffer's memory requirements differ from those of its create info");
  made->memory = allocate(needs.memoryRequirements.size, 0, c.seldom(16));
  if (c.coin()) {
    TILEGPU_MUST(*this, BindBufferMemory, device, made->handle, made->memory->handle, 0);
  } else {
    const VkBindBufferMemoryInfo bind{VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO, nullptr, made->handle, made->memory->handle, 0};
    TILEGPU_MUST(*this, BindBufferMemory2, device, 1, &bind);
  }
  buffers.push_back(made);
  return made;
}

std::shared_ptr<ImageModel> World::image(const VkImageCreateInfo& wanted) {
  VkImageCreateInfo info = wanted;
  if (!fit(*this, info)) return nullptr;
  auto made = std::make_shared<ImageModel>();
  TILEGPU_MUST(*this, CreateImage, device, &info, nullptr, &made->handle);
  made->info = info, made->format = vk::find_format(info.format);
  const VkImageMemoryRequirementsInfo2 of{VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2, nullptr, made->handle};
  VkMemoryRequirements2 needs{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
  vk.GetImageMemoryRequirements2(device, &of, &needs);
  const uint32_t types = needs.memoryRequirements.memoryTypeBits;
  const uint64_t size_B = needs.memoryRequirements.size, alignment_B = needs.memoryRequirements.alignment;
  const uint32_t type = types & 2 ? 1 : 0;
  // Behind another image, or in memory of its own.
  uint64_t offset_B = 0;
  made->memory = c.seldom(4) ? pick(memories, [&](const MemoryModel& m) { return m.type == type && m.used_B; }) : nullptr;
  if (made->memory) offset_B = (made->memory->used_B + alignment_B - 1) & ~(alignment_B - 1);
  if (!made->memory || offset_B + size_B > made->memory->size_B)
    made->memory = allocate(size_B + (c.seldom(4) ? kMostMemory_B : 0), type, false), offset_B = 0;
  made->memory->used_B = offset_B + size_B;
  if (c.coin()) {
    TILEGPU_MUST(*this, BindImageMemory, device, made->handle, made->memory->handle, offset_B);
  } else {
    const VkBindImageMemoryInfo bind{VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO, nullptr, made->handle, made->memory->handle, offset_B};
    TILEGPU_MUST(*this, BindImageMemory2, device, 1, &bind);
  }
  images.push_back(made);
  return made;
}

std::shared_ptr<ViewModel> World::view(const std::shared_ptr<ImageModel>& of, VkImageViewType type, VkImageAspectFlags aspects,
                                       uint32_t level, uint32_t levels, uint32_t layer, uint32_t layers) {
  auto made = std::make_shared<ViewModel>();
  made->image = of;
  made->info = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  made->info.image = of->handle, made->info.viewType = type, made->info.format = of->info.format;
  made->info.subresourceRange = {aspects, level, levels, layer, layers};
  TILEGPU_MUST(*this, CreateImageView, device, &made->info, nullptr, &made->handle);
  return made;
}

std::shared_ptr<ViewModel> World::target(VkFormat format, VkSampleCountFlagBits samples, uint32_t layers) {
  const bool again = !c.seldom(3);
  const auto fits = [&](const ViewModel& v) {
    return v.image->handle && v.format() == format && v.image->info.samples == samples && v.image->info.arrayLayers == layers &&
           is_free(*v.image);
  };
  if (again)
    if (auto found = pick(targets, fits)) return found;
  const bool depth = vk::find_format(format)->is_depth_stencil(), transient = c.seldom(8);
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D, info.format = format, info.extent = {width_px, height_px, 1};
  info.mipLevels = 1, info.arrayLayers = layers, info.samples = samples;
  info.usage =
      (depth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT) | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  info.usage |= transient ? VkImageUsageFlags{VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT}
                          : VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                (usages_of(*this, format) & VK_IMAGE_USAGE_SAMPLED_BIT);
  const auto of = image(info);
  if (!of || of->info.samples != samples) fail("there is no attachment of format " + std::to_string(format));
  const auto made = view(of, layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D, aspects_of(*of->format), 0, 1, 0, layers);
  targets.push_back(made);
  return made;
}

std::shared_ptr<SamplerModel> World::sampler() {
  if (!c.seldom(4))
    if (auto found = pick(samplers, [](const SamplerModel& s) { return !s.compares; })) return found;
  auto made = std::make_shared<SamplerModel>();
  VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  info.magFilter = static_cast<VkFilter>(c.below(2)), info.minFilter = static_cast<VkFilter>(c.below(2));
  info.mipmapMode = static_cast<VkSamplerMipmapMode>(c.below(2));
  for (VkSamplerAddressMode* mode : {&info.addressModeU, &info.addressModeV, &info.addressModeW})
    *mode = static_cast<VkSamplerAddressMode>(c.below(5));
  info.maxLod = c.coin() ? VK_LOD_CLAMP_NONE : c.unit() * 4;
  info.minLod = std::min(info.maxLod, c.unit());
  info.mipLodBias = c.unit() * 4 - 2, info.borderColor = static_cast<VkBorderColor>(c.below(6));
  if (c.seldom(4)) info.anisotropyEnable = VK_TRUE, info.maxAnisotropy = static_cast<float>(1 + c.below(16));
  VkSamplerReductionModeCreateInfo reduction{VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO};
  reduction.reductionMode = static_cast<VkSamplerReductionMode>(c.below(3));
  if (c.seldom(8) && !info.anisotropyEnable) info.pNext = &reduction;
  TILEGPU_MUST(*this, CreateSampler, device, &info, nullptr, &made->handle);
  samplers.push_back(made);
  return made;
}

void World::step_sampler() {
  (void)sampler();
  if (!c.seldom(4)) return;
  auto made = std::make_shared<SamplerModel>();
  made->compares = true;
  VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  info.compareEnable = VK_TRUE, info.compareOp = static_cast<VkCompareOp>(c.below(8));
  if (c.coin()) {
    info.compareEnable = VK_FALSE, info.unnormalizedCoordinates = VK_TRUE;
    info.addressModeU = info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  }
  TILEGPU_MUST(*this, CreateSampler, device, &info, nullptr, &made->handle);
  samplers.push_back(made);
}

void World::step_memory() {
  const uint8_t what = c.byte();
  if (what % 4 == 0) {
    (void)allocate(1 + c.half(), c.below(2), false);
    return;
  }
  const auto memory = pick(memories, [](const MemoryModel& m) { return m.type == 0; });
  if (!memory) return;
  VkDeviceSize committed = 0;
  vk.GetDeviceMemoryCommitment(device, memory->handle, &committed);
  if (committed != memory->size_B) fail("memory that is not lazily allocated is not committed");
  vk.SetDeviceMemoryPriorityEXT(device, memory->handle, c.unit());
  if (what % 4 == 1 && memory->exportable) {  // imported by the device that exported it
    const VkMemoryGetFdInfoKHR get{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, nullptr, memory->handle,
                                   VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImportMemoryFdInfoKHR from{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, nullptr, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, -1};
    TILEGPU_MUST(*this, GetMemoryFdKHR, device, &get, &from.fd);
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &from, memory->size_B, 0};
    auto same = std::make_shared<MemoryModel>();
    TILEGPU_MUST(*this, AllocateMemory, device, &info, nullptr, &same->handle);
    same->size_B = memory->size_B;
    memories.push_back(same);
  } else if (what % 4 == 2 && !memory->data) {
    void* data = nullptr;
    const uint64_t offset_B = c.coin() ? 0 : c.below(static_cast<uint32_t>(std::min<uint64_t>(memory->size_B, 4096)));
    if (c.coin()) {
      TILEGPU_MUST(*this, MapMemory, device, memory->handle, offset_B, c.coin() ? VK_WHOLE_SIZE : memory->size_B - offset_B, 0, &data);
    } else {
      const VkMemoryMapInfo map{VK_STRUCTURE_TYPE_MEMORY_MAP_INFO, nullptr, 0, memory->handle, offset_B, VK_WHOLE_SIZE};
      TILEGPU_MUST(*this, MapMemory2, device, &map, &data);
    }
    if (!lost) memory->data = static_cast<uint8_t*>(data) - offset_B;
  } else if (what % 4 == 3 && memory->data && memory != arena->memory && memory != counters->memory) {
    memory->data = nullptr;
    const VkMemoryUnmapInfo unmap{VK_STRUCTURE_TYPE_MEMORY_UNMAP_INFO, nullptr, 0, memory->handle};
    if (c.coin())
      vk.UnmapMemory(device, memory->handle);
    else
      TILEGPU_MUST(*this, UnmapMemory2, device, &unmap);
  }
}

void World::step_buffer() {
  const VkBufferUsageFlags usage = kAllUsages & (c.coin() ? ~0U : c.word() | 3U);
  const auto made = buffer(1 + c.below(4096), usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  if (lost) return;
  if (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT && c.coin()) {
    const VkBufferDeviceAddressInfo of{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, made->handle};
    if (!vk.GetBufferDeviceAddress(device, &of)) fail("a buffer has no address");
  }
  if (!(usage & VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT) || made->size_B < 16) return;
  constexpr VkFormat kFormats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_UINT, VK_FORMAT_R32G32B32A32_SFLOAT,
                                   VK_FORMAT_R16G16_SINT,    VK_FORMAT_R8_UNORM, VK_FORMAT_R32G32B32_SFLOAT};
  VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
  info.buffer = made->handle, info.format = c.of(kFormats), info.range = VK_WHOLE_SIZE;
  if (c.coin()) info.range = vk::find_format(info.format)->texel_B;
  auto view = std::make_shared<BufferViewModel>();
  TILEGPU_MUST(*this, CreateBufferView, device, &info, nullptr, &view->handle);
  buffer_views.push_back(view);
}

void World::step_image() {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.format = c.of(kImageFormats);
  info.imageType = c.seldom(3) ? static_cast<VkImageType>(c.below(3)) : VK_IMAGE_TYPE_2D;
  info.extent = {1 + c.below(40), info.imageType == VK_IMAGE_TYPE_1D ? 1 : 1 + c.below(40),
                 info.imageType == VK_IMAGE_TYPE_3D ? 1 + c.below(5) : 1};
  info.mipLevels = c.coin() ? 1 : 1 + c.below(5), info.arrayLayers = info.imageType != VK_IMAGE_TYPE_3D && c.coin() ? 1 + c.below(7) : 1;
  info.samples = c.seldom(4) ? static_cast<VkSampleCountFlagBits>(1 << c.below(5)) : VK_SAMPLE_COUNT_1_BIT;
  info.tiling = c.seldom(8) ? VK_IMAGE_TILING_LINEAR : VK_IMAGE_TILING_OPTIMAL;
  info.usage = usages_of(*this, info.format) & (c.coin() ? ~0U : c.half() | 3U);
  if (!info.usage) return;
  if (c.seldom(4)) info.flags |= VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
  const vk::FormatInfo& format = *vk::find_format(info.format);
  if (info.imageType == VK_IMAGE_TYPE_2D && info.samples == VK_SAMPLE_COUNT_1_BIT && !format.needs_conversion() && c.seldom(4))
    info.flags |= VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT, info.extent.height = info.extent.width, info.arrayLayers = 6;
  if (info.imageType == VK_IMAGE_TYPE_3D && c.seldom(3)) info.flags |= VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT;
  if (format.needs_conversion()) {  // whole blocks of chroma
    info.extent.width = (info.extent.width + 1) & ~1U, info.extent.height = (info.extent.height + 1) & ~1U;
    info.mipLevels = 1, info.samples = VK_SAMPLE_COUNT_1_BIT;
  }
  const auto made = image(info);
  if (!made || lost || format.is_multi_planar()) return;
  VkSubresourceLayout2 layout{VK_STRUCTURE_TYPE_SUBRESOURCE_LAYOUT_2};
  const VkImageSubresource2 part{VK_STRUCTURE_TYPE_IMAGE_SUBRESOURCE_2, nullptr, {first_aspect(format), made->info.mipLevels - 1, 0}};
  vk.GetImageSubresourceLayout2(device, made->handle, &part, &layout);
}

// Of luma and chroma: a conversion, and what goes with it.
void World::step_conversion() {
  const auto of =
      pick(images, [](const ImageModel& i) { return i.format->needs_conversion() && i.info.usage & VK_IMAGE_USAGE_SAMPLED_BIT; });
  if (!of) return;
  VkSamplerYcbcrConversionCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_CREATE_INFO};
  info.format = of->info.format, info.ycbcrModel = static_cast<VkSamplerYcbcrModelConversion>(c.below(5));
  info.ycbcrRange = static_cast<VkSamplerYcbcrRange>(c.below(2)), info.chromaFilter = static_cast<VkFilter>(c.below(2));
  info.xChromaOffset = static_cast<VkChromaLocation>(c.below(2)), info.yChromaOffset = static_cast<VkChromaLocation>(c.below(2));
  const VkSamplerYcbcrConversionInfo with{VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO, nullptr, [&] {
                                            VkSamplerYcbcrConversion made = nullptr;
                                            TILEGPU_MUST(*this, CreateSamplerYcbcrConversion, device, &info, nullptr, &made);
                                            return conversions.emplace_back(made);
                                          }()};
  if (lost) return;
  VkSamplerCreateInfo sampler_info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, &with};
  sampler_info.magFilter = sampler_info.minFilter = info.chromaFilter;
  sampler_info.addressModeU = sampler_info.addressModeV = sampler_info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  auto sampler = std::make_shared<SamplerModel>();
  sampler->compares = true;  // of no other view's use
  TILEGPU_MUST(*this, CreateSampler, device, &sampler_info, nullptr, &sampler->handle);
  samplers.push_back(sampler);
  VkImageViewCreateInfo view_info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, &with};
  view_info.image = of->handle, view_info.viewType = of->info.arrayLayers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
  view_info.format = info.format, view_info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS};
  auto made = std::make_shared<ViewModel>();
  made->image = of, made->info = view_info;
  TILEGPU_MUST(*this, CreateImageView, device, &view_info, nullptr, &made->handle);
  views.push_back(made);
  const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_FRAGMENT_BIT,
                                             &sampler->handle};
  const VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, 1, &binding};
  auto layout_of = std::make_shared<SetLayoutModel>();
  TILEGPU_MUST(*this, CreateDescriptorSetLayout, device, &set_info, nullptr, &layout_of->handle);
  loose_layouts.push_back(layout_of);
}

void World::step_view() {
  constexpr VkImageUsageFlags kViewed = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                        VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  if (c.seldom(6)) return step_conversion();
  const auto of = pick(images, [](const ImageModel& i) { return i.info.usage & kViewed && !i.format->needs_conversion(); });
  if (!of) return;
  const uint32_t level = c.below(of->info.mipLevels), layer = c.below(of->info.arrayLayers);
  const uint32_t levels = c.coin() ? VK_REMAINING_MIP_LEVELS : 1 + c.below(of->info.mipLevels - level);
  uint32_t layers = 1 + c.below(of->info.arrayLayers - layer);
  VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
  switch (of->info.imageType) {
    case VK_IMAGE_TYPE_1D:
      type = layers > 1 ? VK_IMAGE_VIEW_TYPE_1D_ARRAY : VK_IMAGE_VIEW_TYPE_1D;
      break;
    case VK_IMAGE_TYPE_3D:
      type = VK_IMAGE_VIEW_TYPE_3D, layers = 1;
      break;
    default:
      type = layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
      break;
  }
  if (of->info.flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT && c.coin()) {
    views.push_back(view(of, VK_IMAGE_VIEW_TYPE_CUBE, aspects_of(*of->format), level, levels, 0, 6));
    return;
  }
  const auto made = view(of, type, aspects_of(*of->format), level, levels, layer, layers);
  views.push_back(made);
  const bool sampled = of->info.usage & VK_IMAGE_USAGE_SAMPLED_BIT && !of->format->is_depth_stencil() && !of->format->is_integer();
  const bool drawn = of->info.usage & (VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);
  if (type == VK_IMAGE_VIEW_TYPE_2D && sampled && !drawn && of->info.samples == VK_SAMPLE_COUNT_1_BIT && is_free(*of) && c.coin())
    texture = made;
}

// Names, private data, what the device answers of itself.
void World::step_host() {
  const uint8_t what = c.byte();
  if (const auto of = pick(buffers); of && what % 3 == 0) {
    const VkDebugUtilsObjectNameInfoEXT name{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT, nullptr, VK_OBJECT_TYPE_BUFFER,
                                             reinterpret_cast<uint64_t>(of->handle), what & 16 ? "a \"name\"" : nullptr};
    TILEGPU_MUST(*this, SetDebugUtilsObjectNameEXT, device, &name);
  }
  if (what % 3 != 1) return;
  if (slots.empty()) {
    const VkPrivateDataSlotCreateInfo info{VK_STRUCTURE_TYPE_PRIVATE_DATA_SLOT_CREATE_INFO};
    TILEGPU_MUST(*this, CreatePrivateDataSlot, device, &info, nullptr, &slots.emplace_back());
  }
  // What nobody has set is 0, also of an object that lies where another one was.
  const auto of = buffer(1 + c.byte(), VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  const auto number = reinterpret_cast<uint64_t>(of->handle);
  uint64_t data = 1;
  vk.GetPrivateData(device, VK_OBJECT_TYPE_BUFFER, number, slots[0], &data);
  if (data) fail("private data of a new buffer is " + std::to_string(data));
  TILEGPU_MUST(*this, SetPrivateData, device, VK_OBJECT_TYPE_BUFFER, number, slots[0], 7);
  vk.GetPrivateData(device, VK_OBJECT_TYPE_BUFFER, number, slots[0], &data);
  if (data != 7) fail("private data is not what was set");
}

void World::step_destroy() {
  const uint8_t what = c.byte();
  if (recording.in_pass) end_pass();
  if (what & 128) submit();
  invalidate(what % 8 >= 4 || what & 64);  // work that still runs keeps what it uses
  const auto unused = [&](const auto& model) { return model != arena && model != counters && model != captured; };
  switch (what % 8) {
    case 0:
      if (const auto b = pick(buffers); b && unused(b)) {
        vk.DestroyBuffer(device, b->handle, nullptr);
        b->handle = nullptr;
      }
      break;
    case 1:  // with its views, or before them
      if (const auto i = pick(
              images, [&](const ImageModel& m) { return !m.of_swapchain && &m != texture->image.get() && &m != storage->image.get(); })) {
        for (const auto& list : {views, targets})
          for (const auto& v : list)
            if (v->image == i && v->handle) vk.DestroyImageView(device, v->handle, nullptr), v->handle = nullptr;
        vk.DestroyImage(device, i->handle, nullptr);
        i->handle = nullptr;
      }
      break;
    case 2:
      if (const auto v = pick(views); v && v != texture && v != storage)
        vk.DestroyImageView(device, v->handle, nullptr), v->handle = nullptr;
      break;
    case 3:
      if (const auto p = pick(pipelines)) vk.DestroyPipeline(device, p->handle, nullptr), p->handle = nullptr;
      break;
    case 4:
      if (const auto q = pick(queries)) vk.DestroyQueryPool(device, q->handle, nullptr), q->handle = nullptr;
      break;
    case 5:
      if (const auto s = pick(semaphores)) vk.DestroySemaphore(device, s->handle, nullptr), s->handle = nullptr;
      break;
    case 6:
      if (const auto f = pick(fences)) vk.DestroyFence(device, f->handle, nullptr), f->handle = nullptr;
      break;
    default:
      if (const auto e = pick(events)) vk.DestroyEvent(device, e->handle, nullptr), e->handle = nullptr;
      break;
  }
}

void World::step_queries_of_device() {
  if (c.seldom(2)) return step_answers();
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  vk.GetPhysicalDeviceProperties2(gpu, &properties);
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget, {}};
  vk.GetPhysicalDeviceMemoryProperties2(gpu, &memory);
  if (budget.heapUsage[0] > budget.heapBudget[0]) fail("more of the heap is used than its budget allows");
  uint32_t families = 1;
  VkQueueFamilyProperties2 family{VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2};
  vk.GetPhysicalDeviceQueueFamilyProperties2(gpu, &families, &family);
  VkImageFormatProperties2 limits{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
  VkPhysicalDeviceImageFormatInfo2 asked{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
  asked.format = static_cast<VkFormat>(c.below(185)), asked.type = static_cast<VkImageType>(c.below(3));
  asked.tiling = static_cast<VkImageTiling>(c.below(2)), asked.usage = 1 + c.below(255), asked.flags = c.byte();
  (void)TILEGPU_CHECKED(*this, GetPhysicalDeviceImageFormatProperties2, gpu, &asked, &limits);
}

void World::step_swapchain() {
  auto chain = pick(swapchains, [](const SwapchainModel& s) { return !s.retired; });
  if (!chain || c.seldom(8)) {
    auto made = std::make_shared<SwapchainModel>();
    const VkHeadlessSurfaceCreateInfoEXT headless{VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    TILEGPU_MUST(*this, CreateHeadlessSurfaceEXT, instance, &headless, nullptr, &made->surface);
    VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    info.surface = made->surface, info.minImageCount = 2 + c.below(3);
    info.imageFormat = c.coin() ? VK_FORMAT_B8G8R8A8_UNORM : VK_FORMAT_R8G8B8A8_SRGB;
    info.imageExtent = {width_px, height_px}, info.imageArrayLayers = 1;
    info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    info.preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR, info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
    info.presentMode = c.coin() ? VK_PRESENT_MODE_FIFO_KHR : c.coin() ? VK_PRESENT_MODE_MAILBOX_KHR : VK_PRESENT_MODE_IMMEDIATE_KHR;
    if (chain) info.oldSwapchain = chain->handle, chain->retired = true;
    TILEGPU_MUST(*this, CreateSwapchainKHR, device, &info, nullptr, &made->handle);
    uint32_t count = 16;
    VkImage handles[16];
    TILEGPU_MUST(*this, GetSwapchainImagesKHR, device, made->handle, &count, handles);
    for (uint32_t i = 0; i < count; ++i) {
      auto& image = made->images.emplace_back(std::make_shared<ImageModel>());
      image->handle = handles[i], image->of_swapchain = true, image->format = vk::find_format(info.imageFormat);
      image->info.format = info.imageFormat, image->info.imageType = VK_IMAGE_TYPE_2D, image->info.extent = {width_px, height_px, 1};
      image->info.mipLevels = image->info.arrayLayers = 1, image->info.samples = VK_SAMPLE_COUNT_1_BIT, image->info.usage = info.imageUsage;
    }
    swapchains.push_back(made);
    return;
  }
  if (chain->acquired.size() + 1 < chain->images.size()) {  // so many may be had without a wait for ever
    uint32_t index = 0;
    const auto fence = pick(fences, [](const FenceModel& m) { return !m.pending; });
    if (fence) fence->pending = true;
    const VkFence signaled = fence ? fence->handle : nullptr;
    const VkAcquireNextImageInfoKHR next{
        VK_STRUCTURE_TYPE_ACQUIRE_NEXT_IMAGE_INFO_KHR, nullptr, chain->handle, UINT64_MAX, nullptr, signaled, 1};
    const VkResult r = swapchains.size() % 2
                           ? TILEGPU_CHECKED(*this, AcquireNextImageKHR, device, chain->handle, UINT64_MAX, nullptr, signaled, &index)
                           : TILEGPU_CHECKED(*this, AcquireNextImage2KHR, device, &next, &index);
    if (r == VK_SUCCESS) chain->acquired.push_back(index);
    if (r == VK_SUCCESS && index >= chain->images.size()) fail("an image was acquired that the swapchain has not");
    return;
  }
  if (chain->acquired.empty()) return;
  submit();
  VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
  const uint32_t index = chain->acquired.front();
  chain->acquired.erase(chain->acquired.begin());
  VkResult one = VK_SUCCESS;
  info.swapchainCount = 1, info.pSwapchains = &chain->handle, info.pImageIndices = &index, info.pResults = &one;
  (void)TILEGPU_CHECKED(*this, QueuePresentKHR, queue, &info);
}

}  // namespace tilegpu::fuzz
