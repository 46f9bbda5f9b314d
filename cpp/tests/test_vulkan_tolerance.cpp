// tests/test_vulkan_tolerance.cpp -- the driver does what Vulkan forbids though its outcome is plain, and says so, once each.
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8;

void usages_that_nobody_named() {
  Program p;
  const auto target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
  const auto words = p.buffer(4 * kSide_px * kSide_px, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  const VkRenderPass pass = p.one_subpass();
  const VkFramebuffer framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
  for (int round = 0; round < 2; round++) {
    const VkCommandBuffer c = p.begin();
    p.CmdFillBuffer(c, words.buffer, 0, VK_WHOLE_SIZE, 7);
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    const VkClearValue white{.color = {{1, 1, 1, 1}}}, blue{.color = {{0, 0, 1, 1}}};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
    begin.clearValueCount = 1, begin.pClearValues = &white;
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    const VkClearAttachment clear{VK_IMAGE_ASPECT_COLOR_BIT, 0, blue};
    const VkClearRect beyond{{{4, 0}, {100, 100}}, 0, 1};
    p.CmdClearAttachments(c, 1, &clear, 1, &beyond);
    p.CmdEndRenderPass(c);
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
    p.CmdCopyImageToBuffer(c, target.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, words.buffer, 1, &region);
    p.run(c);
    for (uint32_t i = 0; i < kSide_px * kSide_px; i++) {
      uint32_t texel = 0;
      std::memcpy(&texel, words.data + 4 * i, 4);
      CHECK(texel == (i % kSide_px < 4 ? 0xffffffffu : 0xffff0000u));
    }
  }
  CHECK(p.heard("is one without transfer_dst, allowed") && p.heard("is one without transfer_src, allowed"));
  CHECK(p.heard("rect of clear_attachment is 100x100 px at (4, 0)") && p.heard("(Vulkan forbids it; it is done all the same)"));
  CHECK(p.said.size() == 4);  // fill, clear, and both sides of the copy; the second round says nothing new
  p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
  p.destroy(target);
  p.destroy(words);
}

}  // namespace

int main() {
  usages_that_nobody_named();
  return finish("test_vulkan_tolerance");
}
