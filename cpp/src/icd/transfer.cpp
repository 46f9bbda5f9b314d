// icd/transfer.cpp -- copies, blits, clears, fills, updates, resolves outside of passes.
//
// In: Vulkan's regions. Out: the core's transfers; the older commands are written as those of VK_KHR_copy_commands2.
// Source: Vulkan specification, "Copy Commands", "Clear Commands".
#include "icd/command_buffer.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {
namespace {

template <class New, class Old, class Convert>
std::vector<New> converted(const Old* regions, uint32_t count, Convert convert) {
  std::vector<New> out(count);
  for (uint32_t i = 0; i < count; ++i) convert(regions[i], out[i]);
  return out;
}

template <class New, class Old>
std::vector<New> pairs(const Old* regions, uint32_t count) {  // VkImageCopy, VkImageResolve
  return converted<New>(regions, count, [](const Old& in, New& out) {
    out.srcSubresource = in.srcSubresource, out.srcOffset = in.srcOffset;
    out.dstSubresource = in.dstSubresource, out.dstOffset = in.dstOffset;
    out.extent = in.extent;
  });
}

std::vector<VkBufferImageCopy2> buffer_images(const VkBufferImageCopy* regions, uint32_t count) {
  return converted<VkBufferImageCopy2>(regions, count, [](const VkBufferImageCopy& in, VkBufferImageCopy2& out) {
    out.bufferOffset = in.bufferOffset, out.bufferRowLength = in.bufferRowLength, out.bufferImageHeight = in.bufferImageHeight;
    out.imageSubresource = in.imageSubresource, out.imageOffset = in.imageOffset, out.imageExtent = in.imageExtent;
  });
}

}  // namespace

void VKAPI_CALL CmdCopyBuffer2(VkCommandBuffer commandBuffer, const VkCopyBufferInfo2* info) {
  record(commandBuffer,
         commandBuffer->core->copy_buffer(info->srcBuffer->core, info->dstBuffer->core, {info->pRegions, info->regionCount}));
}

void VKAPI_CALL CmdCopyBuffer(VkCommandBuffer commandBuffer, VkBuffer srcBuffer, VkBuffer dstBuffer, uint32_t regionCount,
                              const VkBufferCopy* pRegions) {
  const auto regions = converted<VkBufferCopy2>(pRegions, regionCount, [](const VkBufferCopy& in, VkBufferCopy2& out) {
    out.srcOffset = in.srcOffset, out.dstOffset = in.dstOffset, out.size = in.size;
  });
  record(commandBuffer, commandBuffer->core->copy_buffer(srcBuffer->core, dstBuffer->core, regions));
}

void VKAPI_CALL CmdCopyImage2(VkCommandBuffer commandBuffer, const VkCopyImageInfo2* info) {
  record(commandBuffer, commandBuffer->core->copy_image(info->srcImage->core, info->dstImage->core, {info->pRegions, info->regionCount}));
}

void VKAPI_CALL CmdCopyImage(VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout, VkImage dstImage, VkImageLayout,
                             uint32_t regionCount, const VkImageCopy* pRegions) {
  record(commandBuffer, commandBuffer->core->copy_image(srcImage->core, dstImage->core, pairs<VkImageCopy2>(pRegions, regionCount)));
}

void VKAPI_CALL CmdCopyBufferToImage2(VkCommandBuffer commandBuffer, const VkCopyBufferToImageInfo2* info) {
  record(commandBuffer,
         commandBuffer->core->copy_buffer_to_image(info->srcBuffer->core, info->dstImage->core, {info->pRegions, info->regionCount}));
}

void VKAPI_CALL CmdCopyBufferToImage(VkCommandBuffer commandBuffer, VkBuffer srcBuffer, VkImage dstImage, VkImageLayout,
                                     uint32_t regionCount, const VkBufferImageCopy* pRegions) {
  record(commandBuffer, commandBuffer->core->copy_buffer_to_image(srcBuffer->core, dstImage->core, buffer_images(pRegions, regionCount)));
}

void VKAPI_CALL CmdCopyImageToBuffer2(VkCommandBuffer commandBuffer, const VkCopyImageToBufferInfo2* info) {
  record(commandBuffer,
         commandBuffer->core->copy_image_to_buffer(info->srcImage->core, info->dstBuffer->core, {info->pRegions, info->regionCount}));
}

void VKAPI_CALL CmdCopyImageToBuffer(VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout, VkBuffer dstBuffer,
                                     uint32_t regionCount, const VkBufferImageCopy* pRegions) {
  record(commandBuffer, commandBuffer->core->copy_image_to_buffer(srcImage->core, dstBuffer->core, buffer_images(pRegions, regionCount)));
}

void VKAPI_CALL CmdBlitImage2(VkCommandBuffer commandBuffer, const VkBlitImageInfo2* info) {
  record(commandBuffer, commandBuffer->core->blit_image(info->srcImage->core, info->dstImage->core, {info->pRegions, info->regionCount},
                                                        given(info->filter)));
}

void VKAPI_CALL CmdBlitImage(VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout, VkImage dstImage, VkImageLayout,
                             uint32_t regionCount, const VkImageBlit* pRegions, VkFilter filter) {
  const auto regions = converted<VkImageBlit2>(pRegions, regionCount, [](const VkImageBlit& in, VkImageBlit2& out) {
    out.srcSubresource = in.srcSubresource, out.dstSubresource = in.dstSubresource;
    for (int i = 0; i < 2; ++i) out.srcOffsets[i] = in.srcOffsets[i], out.dstOffsets[i] = in.dstOffsets[i];
  });
  record(commandBuffer, commandBuffer->core->blit_image(srcImage->core, dstImage->core, regions, filter));
}

void VKAPI_CALL CmdResolveImage2(VkCommandBuffer commandBuffer, const VkResolveImageInfo2* info) {
  record(commandBuffer,
         commandBuffer->core->resolve_image(info->srcImage->core, info->dstImage->core, {info->pRegions, info->regionCount}));
}

void VKAPI_CALL CmdResolveImage(VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout, VkImage dstImage, VkImageLayout,
                                uint32_t regionCount, const VkImageResolve* pRegions) {
  record(commandBuffer, commandBuffer->core->resolve_image(srcImage->core, dstImage->core, pairs<VkImageResolve2>(pRegions, regionCount)));
}

void VKAPI_CALL CmdFillBuffer(VkCommandBuffer commandBuffer, VkBuffer dstBuffer, VkDeviceSize dstOffset, VkDeviceSize size, uint32_t data) {
  record(commandBuffer, commandBuffer->core->fill_buffer(dstBuffer->core, dstOffset, size, data));
}

void VKAPI_CALL CmdUpdateBuffer(VkCommandBuffer commandBuffer, VkBuffer dstBuffer, VkDeviceSize dstOffset, VkDeviceSize dataSize,
                                const void* pData) {
  record(commandBuffer, commandBuffer->core->update_buffer(dstBuffer->core, dstOffset, {static_cast<const uint8_t*>(pData), dataSize}));
}

void VKAPI_CALL CmdClearColorImage(VkCommandBuffer commandBuffer, VkImage image, VkImageLayout, const VkClearColorValue* pColor,
                                   uint32_t rangeCount, const VkImageSubresourceRange* pRanges) {
  record(commandBuffer, commandBuffer->core->clear_color_image(image->core, *pColor, {pRanges, rangeCount}));
}

void VKAPI_CALL CmdClearDepthStencilImage(VkCommandBuffer commandBuffer, VkImage image, VkImageLayout,
                                          const VkClearDepthStencilValue* pDepthStencil, uint32_t rangeCount,
                                          const VkImageSubresourceRange* pRanges) {
  record(commandBuffer, commandBuffer->core->clear_depth_stencil_image(image->core, *pDepthStencil, {pRanges, rangeCount}));
}

}  // namespace tilegpu::icd
