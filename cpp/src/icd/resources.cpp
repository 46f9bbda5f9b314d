// icd/resources.cpp -- buffers, images, views of both, samplers, conversions of luma and chroma.
//
// In: Vulkan's create infos. Out: the core's objects; what the core does not have is refused with its message.
// Source: Vulkan specification, "Resource Creation", "Samplers".
#include <bit>

#include "icd/debug_utils.hpp"
#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "resource/address_space.hpp"
#include "resource/image_layout.hpp"
#include "tilegpu/host_copy.hpp"

namespace tilegpu::icd {

namespace {

/// That a capture gave the buffer; 0: none.
uint64_t captured_address(const VkBufferCreateInfo& info) {
  if (const auto* wanted =
          find_next<VkBufferOpaqueCaptureAddressCreateInfo>(info.pNext, VK_STRUCTURE_TYPE_BUFFER_OPAQUE_CAPTURE_ADDRESS_CREATE_INFO))
    return wanted->opaqueCaptureAddress;
  const auto* wanted = find_next<VkBufferDeviceAddressCreateInfoEXT>(info.pNext, VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_CREATE_INFO_EXT);
  return wanted ? wanted->deviceAddress : 0;
}

}  // namespace

VkResult VKAPI_CALL CreateBuffer(VkDevice device, const VkBufferCreateInfo* pCreateInfo, const VkAllocationCallbacks*, VkBuffer* pBuffer) {
  if (pCreateInfo->flags & ~static_cast<VkBufferCreateFlags>(VK_BUFFER_CREATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT))
    return fail(device, VK_ERROR_FEATURE_NOT_PRESENT,
                "buffer: flags are " + std::to_string(pCreateInfo->flags) + "; sparse and protected buffers are not there");
  tilegpu::BufferCreateInfo info;
  info.label = next_label();
  info.size_B = pCreateInfo->size;
  info.usage = pCreateInfo->usage;
  if (const auto* wide = find_next<VkBufferUsageFlags2CreateInfo>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO)) {
    if (wide->usage >> 32)
      return fail(device, VK_ERROR_FEATURE_NOT_PRESENT,
                  "buffer: usage is " + std::to_string(wide->usage) + "; of the flags above 32 bits none is there");
    info.usage = static_cast<VkBufferUsageFlags>(wide->usage);
  }
  auto core = tilegpu::Buffer::create(info);
  if (!core) return fail(device, core.error(), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  if (const uint64_t wanted = captured_address(*pCreateInfo)) {
    const auto given = device->core->buffer_address(*core, wanted);
    if (!given) return fail(device, given.error(), VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
  }
  *pBuffer = new VkBuffer_T{*core};
  return VK_SUCCESS;
}

// Sets and command buffers may hold it still, and another buffer want its address, as a replay does.
void VKAPI_CALL DestroyBuffer(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks*) {
  if (buffer) resource::AddressSpace::give_up(*buffer->core);
  discard(device, buffer);
}

// An address is the buffer's, not its memory's: it is the same on every run, so that a capture needs no more.
VkDeviceAddress VKAPI_CALL GetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo* pInfo) {
  auto address = device->core->buffer_address(pInfo->buffer->core);
  if (address) return *address;
  (void)fail(device, address.error(), VK_ERROR_VALIDATION_FAILED_EXT);
  return 0;
}

uint64_t VKAPI_CALL GetBufferOpaqueCaptureAddress(VkDevice device, const VkBufferDeviceAddressInfo* pInfo) {
  return GetBufferDeviceAddress(device, pInfo);
}

VkResult VKAPI_CALL CreateBufferView(VkDevice device, const VkBufferViewCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                     VkBufferView* pView) {
  auto core = tilegpu::BufferView::create({pCreateInfo->buffer->core, given(pCreateInfo->format), pCreateInfo->offset, pCreateInfo->range});
  if (!core) return fail(device, core.error(), VK_ERROR_VALIDATION_FAILED_EXT);
  *pView = new VkBufferView_T{*core};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyBufferView(VkDevice device, VkBufferView bufferView, const VkAllocationCallbacks*) { discard(device, bufferView); }

VkResult VKAPI_CALL CreateImage(VkDevice device, const VkImageCreateInfo* pCreateInfo, const VkAllocationCallbacks*, VkImage* pImage) {
  VkPhysicalDeviceImageFormatInfo2 asked{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
  asked.format = given(pCreateInfo->format), asked.type = given(pCreateInfo->imageType), asked.tiling = given(pCreateInfo->tiling);
  asked.usage = all_usage(pCreateInfo->usage, pCreateInfo->pNext), asked.flags = pCreateInfo->flags;
  VkImageFormatProperties limits{};
  if (const VkResult r = image_limits(asked, limits); r != VK_SUCCESS || !(limits.sampleCounts & given(pCreateInfo->samples)))
    return fail(device, VK_ERROR_FORMAT_NOT_SUPPORTED,
                "image: " + format_name(given(pCreateInfo->format)) + " with type " + std::to_string(given(pCreateInfo->imageType)) +
                    ", usage " + std::to_string(asked.usage) + ", flags " + std::to_string(pCreateInfo->flags) + ", samples " +
                    std::to_string(given(pCreateInfo->samples)) + " is not there; vkGetPhysicalDeviceImageFormatProperties says what is");
  tilegpu::ImageCreateInfo info;
  info.label = next_label();
  info.format = given(pCreateInfo->format);
  info.width_px = pCreateInfo->extent.width, info.height_px = pCreateInfo->extent.height;
  info.depth_px = pCreateInfo->extent.depth;
  info.type = given(pCreateInfo->imageType);
  info.mip_levels = pCreateInfo->mipLevels, info.array_layers = pCreateInfo->arrayLayers;
  info.samples = given(pCreateInfo->samples);
  info.usage = asked.usage;
  // Any image can be rendered to with several samples.
  info.flags = pCreateInfo->flags & ~static_cast<VkImageCreateFlags>(VK_IMAGE_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_BIT_EXT);
  if (info.flags != pCreateInfo->flags && info.samples != VK_SAMPLE_COUNT_1_BIT)
    return fail(
        device, VK_ERROR_VALIDATION_FAILED_EXT,
        "image: flags contain MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED, and samples is " + std::to_string(info.samples) + "; it must be 1");
  if (info.flags & VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT) {  // what the core's views of slices can do anyway
    info.flags &= ~static_cast<VkImageCreateFlags>(VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT);
    info.flags |= VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT;
  }
  auto core = tilegpu::Image::create(info);
  if (!core) return fail(device, core.error(), VK_ERROR_FORMAT_NOT_SUPPORTED);
  *pImage = new VkImage_T{*core, given(pCreateInfo->tiling)};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyImage(VkDevice device, VkImage image, const VkAllocationCallbacks*) { discard(device, image); }

namespace {

/// Of VkSamplerYcbcrConversionInfo, in a sampler's or a view's chain; null: none.
Ptr<SamplerYcbcrConversion> conversion_of(const void* next) {
  const auto* info = find_next<VkSamplerYcbcrConversionInfo>(next, VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO);
  return info && info->conversion ? info->conversion->core : nullptr;
}

/// That the image has one aspect, level and layer like this.
bool holds(const tilegpu::Image& image, const VkImageSubresource& part) {
  VkImageAspectFlags aspect = part.aspectMask;
  const tilegpu::Image& of = resource::part_of(image, aspect);
  if (!image.planes().empty() && &of == &image) return false;  // not a plane of it
  return std::has_single_bit(aspect) && aspect & resource::format_aspects(*vk::find_format(of.info().format)) &&
         part.mipLevel < image.info().mip_levels && part.arrayLayer < image.info().array_layers;
}

}  // namespace

void VKAPI_CALL GetImageSubresourceLayout(VkDevice, VkImage image, const VkImageSubresource* pSubresource, VkSubresourceLayout* pLayout) {
  const tilegpu::Image& core = *image->core;
  *pLayout = {};
  if (!holds(core, *pSubresource)) return;
  const auto aspect = static_cast<VkImageAspectFlagBits>(pSubresource->aspectMask);
  const bool volume = core.info().type == VK_IMAGE_TYPE_3D;
  const SubresourceLayout at = core.layout(aspect, pSubresource->mipLevel, volume ? 0 : pSubresource->arrayLayer);
  const uint64_t all_B = volume ? at.size_B * core.extent(pSubresource->mipLevel).depth : at.size_B;
  *pLayout = {at.offset_B, all_B, at.row_pitch_B, at.size_B, at.size_B};
}

void VKAPI_CALL GetImageSubresourceLayout2(VkDevice device, VkImage image, const VkImageSubresource2* pSubresource,
                                           VkSubresourceLayout2* pLayout) {
  const VkImageSubresource& part = pSubresource->imageSubresource;
  GetImageSubresourceLayout(device, image, &part, &pLayout->subresourceLayout);
  if (auto* size = find_next<VkSubresourceHostMemcpySize>(pLayout->pNext, VK_STRUCTURE_TYPE_SUBRESOURCE_HOST_MEMCPY_SIZE))
    size->size =
        holds(*image->core, part) ? packed_size_B(*image->core, static_cast<VkImageAspectFlagBits>(part.aspectMask), part.mipLevel) : 0;
  say_uncompressed(pLayout->pNext);
}

void VKAPI_CALL GetDeviceImageSubresourceLayout(VkDevice device, const VkDeviceImageSubresourceInfo* pInfo, VkSubresourceLayout2* pLayout) {
  VkImage image = nullptr;
  if (CreateImage(device, pInfo->pCreateInfo, nullptr, &image) != VK_SUCCESS) {
    pLayout->subresourceLayout = {};
    return;
  }
  GetImageSubresourceLayout2(device, image, pInfo->pSubresource, pLayout);
  DestroyImage(device, image, nullptr);
}

VkResult VKAPI_CALL CreateImageView(VkDevice device, const VkImageViewCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                    VkImageView* pView) {
  tilegpu::ImageViewCreateInfo info;
  info.image = pCreateInfo->image->core;
  info.type = given(pCreateInfo->viewType);
  info.format = given(pCreateInfo->format);
  info.aspects = pCreateInfo->subresourceRange.aspectMask;
  info.base_level = pCreateInfo->subresourceRange.baseMipLevel, info.level_count = pCreateInfo->subresourceRange.levelCount;
  info.base_layer = pCreateInfo->subresourceRange.baseArrayLayer, info.layer_count = pCreateInfo->subresourceRange.layerCount;
  info.swizzle = given(pCreateInfo->components);
  info.ycbcr = conversion_of(pCreateInfo->pNext);
  if (const auto* least =
          find_next<VkImageViewMinLodCreateInfoEXT>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_IMAGE_VIEW_MIN_LOD_CREATE_INFO_EXT))
    info.min_lod = least->minLod;
  auto core = tilegpu::ImageView::create(info);
  if (!core) return fail(device, core.error(), VK_ERROR_VALIDATION_FAILED_EXT);
  auto view = std::make_unique<VkImageView_T>(VkImageView_T{*core, nullptr});
  using Sliced = VkImageViewSlicedCreateInfoEXT;
  if (const auto* part = find_next<Sliced>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_IMAGE_VIEW_SLICED_CREATE_INFO_EXT)) {
    info.first_slice = part->sliceOffset, info.slice_count = part->sliceCount;
    auto sliced = tilegpu::ImageView::create(info);
    if (!sliced) return fail(device, sliced.error(), VK_ERROR_VALIDATION_FAILED_EXT);
    view->sliced = *sliced;
  }
  *pView = view.release();
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyImageView(VkDevice device, VkImageView imageView, const VkAllocationCallbacks*) { discard(device, imageView); }

VkResult VKAPI_CALL CreateSamplerYcbcrConversion(VkDevice device, const VkSamplerYcbcrConversionCreateInfo* pCreateInfo,
                                                 const VkAllocationCallbacks*, VkSamplerYcbcrConversion* pYcbcrConversion) {
  SamplerYcbcrConversionCreateInfo info;
  info.format = given(pCreateInfo->format);
  info.model = given(pCreateInfo->ycbcrModel), info.range = given(pCreateInfo->ycbcrRange);
  info.components = given(pCreateInfo->components);
  info.x_chroma_offset = given(pCreateInfo->xChromaOffset), info.y_chroma_offset = given(pCreateInfo->yChromaOffset);
  info.chroma_filter = given(pCreateInfo->chromaFilter);
  info.force_explicit_reconstruction = pCreateInfo->forceExplicitReconstruction;
  auto core = SamplerYcbcrConversion::create(info);
  if (!core) return fail(device, core.error(), VK_ERROR_VALIDATION_FAILED_EXT);
  *pYcbcrConversion = new VkSamplerYcbcrConversion_T{*core};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroySamplerYcbcrConversion(VkDevice device, VkSamplerYcbcrConversion ycbcrConversion, const VkAllocationCallbacks*) {
  discard(device, ycbcrConversion);
}

VkResult VKAPI_CALL CreateSampler(VkDevice device, const VkSamplerCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                  VkSampler* pSampler) {
  tilegpu::SamplerCreateInfo info;
  if (pCreateInfo->anisotropyEnable) info.max_anisotropy = pCreateInfo->maxAnisotropy;
  if (const auto* reduction =
          find_next<VkSamplerReductionModeCreateInfo>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO))
    info.reduction_mode = given(reduction->reductionMode);
  if (const auto* border = find_next<VkSamplerCustomBorderColorCreateInfoEXT>(
          pCreateInfo->pNext, VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT))
    info.custom_border_color = border->customBorderColor;
  info.mag_filter = given(pCreateInfo->magFilter), info.min_filter = given(pCreateInfo->minFilter);
  info.mipmap_mode = given(pCreateInfo->mipmapMode);
  info.address_u = given(pCreateInfo->addressModeU), info.address_v = given(pCreateInfo->addressModeV),
  info.address_w = given(pCreateInfo->addressModeW);
  info.mip_lod_bias = pCreateInfo->mipLodBias, info.min_lod = pCreateInfo->minLod, info.max_lod = pCreateInfo->maxLod;
  info.compare_enable = pCreateInfo->compareEnable, info.compare_op = given(pCreateInfo->compareOp);
  info.border_color = given(pCreateInfo->borderColor);
  info.unnormalized_coordinates = pCreateInfo->unnormalizedCoordinates;
  info.non_seamless_cube_map = pCreateInfo->flags & VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT;
  info.ycbcr = conversion_of(pCreateInfo->pNext);
  auto core = tilegpu::Sampler::create(info, device->tolerate);
  if (!core) return fail(device, core.error(), VK_ERROR_VALIDATION_FAILED_EXT);
  *pSampler = new VkSampler_T{*core};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroySampler(VkDevice device, VkSampler sampler, const VkAllocationCallbacks*) { discard(device, sampler); }

}  // namespace tilegpu::icd
