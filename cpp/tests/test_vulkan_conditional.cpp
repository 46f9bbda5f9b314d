// tests/test_vulkan_conditional.cpp -- VK_EXT_conditional_rendering in the driver: what is discarded and what never is, inside and outside
// of passes, as the word is when the same command buffer is submitted again. Source: Vulkan specification, "Conditional Rendering".
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8, kPixels = kSide_px * kSide_px;
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM;
constexpr uint32_t kGreen = 0xff00ff00U, kRed = 0xff0000ffU, kWhite = ~0U;

constexpr const char* kVertex = R"(#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0.5, 1); })";
constexpr const char* kRed_ = R"(#version 450
layout(location = 0) out vec4 color;
void main() { color = vec4(1, 0, 0, 1); })";

struct Conditional {
  PFN_vkCmdBeginConditionalRenderingEXT Begin = nullptr;
  PFN_vkCmdEndConditionalRenderingEXT End = nullptr;
  explicit Conditional(Program& p) {
    const VkPhysicalDeviceConditionalRenderingFeaturesEXT feature{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT,
                                                                  nullptr, VK_TRUE, VK_FALSE};
    p.remake_device({"VK_EXT_conditional_rendering"}, &feature);
    p.load(Begin, "vkCmdBeginConditionalRenderingEXT");
    p.load(End, "vkCmdEndConditionalRenderingEXT");
  }
  void begin(VkCommandBuffer c, VkBuffer buffer, VkDeviceSize offset_B, bool inverted) const {
    const VkConditionalRenderingBeginInfoEXT info{
        VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT, nullptr, buffer, offset_B,
        inverted ? VkConditionalRenderingFlagsEXT{VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT} : 0U};
    Begin(c, &info);
  }
};

/// One colour with its pass, pipeline and place to be copied to.
struct Target {
  Program& p;
  VkRenderPass pass = p.one_subpass();
  Program::BoundImage image = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  VkFramebuffer framebuffer = p.framebuffer(pass, {image.view}, kSide_px);
  VkPipelineLayout layout = nullptr;
  VkPipeline pipeline = nullptr;
  Program::MappedBuffer seen = p.buffer(kPixels * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);

  explicit Target(Program& program) : p(program) {
    const VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(p.CreatePipelineLayout(p.device, &info, nullptr, &layout) == VK_SUCCESS);
    pipeline = make_pipeline(p, kVertex, kRed_, layout, pass, 0);
  }
  ~Target() {
    p.destroy(seen);
    p.DestroyPipeline(p.device, pipeline, nullptr);
    p.DestroyPipelineLayout(p.device, layout, nullptr);
    p.DestroyFramebuffer(p.device, framebuffer, nullptr);
    p.destroy(image);
    p.DestroyRenderPass(p.device, pass, nullptr);
  }
  Target(const Target&) = delete;

  void begin(VkCommandBuffer c) const {
    const VkClearValue green{.color = {{0, 1, 0, 1}}};
    VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    info.renderPass = pass, info.framebuffer = framebuffer, info.renderArea = {{0, 0}, {kSide_px, kSide_px}};
    info.clearValueCount = 1, info.pClearValues = &green;
    p.CmdBeginRenderPass(c, &info, VK_SUBPASS_CONTENTS_INLINE);
  }
  void draw(VkCommandBuffer c) const {
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    const VkRect2D scissor{{0, 0}, {kSide_px, kSide_px}};
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    p.CmdSetViewport(c, 0, 1, &viewport);
    p.CmdSetScissor(c, 0, 1, &scissor);
    p.CmdDraw(c, 3, 1, 0, 0);
  }
  void clear(VkCommandBuffer c) const {
    const VkClearAttachment white{VK_IMAGE_ASPECT_COLOR_BIT, 0, {.color = {{1, 1, 1, 1}}}};
    const VkClearRect rect{{{0, 0}, {kSide_px, kSide_px}}, 0, 1};
    p.CmdClearAttachments(c, 1, &white, 1, &rect);
  }
  void copy(VkCommandBuffer c) const {
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {kSide_px, kSide_px, 1};
    p.CmdCopyImageToBuffer(c, image.image, VK_IMAGE_LAYOUT_GENERAL, seen.buffer, 1, &region);
  }
  bool is(uint32_t color) const {
    bool all = true;
    for (uint32_t i = 0; i < kPixels; ++i) all = all && std::memcmp(seen.data + size_t{4} * i, &color, 4) == 0;
    return all;
  }
};

void submit(Program& p, VkCommandBuffer c) {
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1, info.pCommandBuffers = &c;
  CHECK(p.QueueSubmit(p.queue, 1, &info, nullptr) == VK_SUCCESS);
  CHECK(p.QueueWaitIdle(p.queue) == VK_SUCCESS);
}

/// Draws and clears, the condition inside of the pass and around it; load operations, copies and fills are never discarded. Submitted again
/// with other words.
void test_passes() {
  Program p;
  const Conditional conditional(p);
  const Target target(p);
  const auto words = p.buffer(16, VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (const bool outside : {false, true})
    for (const bool inverted : {false, true})
      for (const bool clears : {false, true}) {
        VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, p.pool,
                                             VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
        VkCommandBuffer c = nullptr;
        CHECK(p.AllocateCommandBuffers(p.device, &allocate, &c) == VK_SUCCESS);
        const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        CHECK(p.BeginCommandBuffer(c, &begin) == VK_SUCCESS);
        if (outside) conditional.begin(c, words.buffer, 4, inverted);
        target.begin(c);
        if (!outside) conditional.begin(c, words.buffer, 4, inverted);
        clears ? target.clear(c) : target.draw(c);
        if (!outside) conditional.End(c);
        p.CmdEndRenderPass(c);
        target.copy(c);
        p.CmdFillBuffer(c, words.buffer, 8, 4, 0x12345678);
        if (outside) conditional.End(c);
        CHECK_MESSAGE(p.EndCommandBuffer(c) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());
        for (const uint32_t word : {0U, 1U, 0U, 0x00ff0000U}) {
          const uint32_t all[4] = {1, word, 0, 1};
          std::memcpy(words.data, all, sizeof all);
          submit(p, c);
          CHECK(target.is((word != 0) == inverted ? kGreen : clears ? kWhite : kRed));
          uint32_t filled;
          std::memcpy(&filled, words.data + 8, 4);
          CHECK(filled == 0x12345678);
        }
      }
  p.destroy(words);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
}

/// A condition in each of two passes' own intervals, several in one pass.
void test_intervals() {
  Program p;
  const Conditional conditional(p);
  const Target target(p);
  const auto words = p.buffer(8, VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT);
  for (uint32_t bits = 0; bits < 4; ++bits) {
    const uint32_t both[2] = {bits & 1, bits >> 1};
    std::memcpy(words.data, both, sizeof both);
    const VkCommandBuffer c = p.begin();
    target.begin(c);
    conditional.begin(c, words.buffer, 0, false);
    target.draw(c);
    conditional.End(c);
    conditional.begin(c, words.buffer, 4, false);
    target.clear(c);
    conditional.End(c);
    p.CmdEndRenderPass(c);
    target.copy(c);
    p.run(c);
    CHECK(target.is(bits & 2 ? kWhite : bits & 1 ? kRed : kGreen));
  }
  p.destroy(words);
}

/// What is wrong is an error of the command buffer, with its reason.
void test_errors() {
  Program p;
  const Conditional conditional(p);
  const Target target(p);
  const auto words = p.buffer(8, VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT);
  const auto expect = [&](const char* message, const auto& record_) {
    p.said.clear();
    const VkCommandBuffer c = p.begin();
    record_(c);
    CHECK(p.EndCommandBuffer(c) != VK_SUCCESS);
    CHECK_MESSAGE(p.heard(message), std::string(message) + ", but: " + (p.said.empty() ? "nothing" : p.said.back()));
  };
  expect("active already", [&](VkCommandBuffer c) {
    conditional.begin(c, words.buffer, 0, false);
    conditional.begin(c, words.buffer, 0, false);
  });
  expect("is not active", [&](VkCommandBuffer c) { conditional.End(c); });
  expect("at a multiple of 4", [&](VkCommandBuffer c) { conditional.begin(c, words.buffer, 8, false); });
  expect("at a multiple of 4", [&](VkCommandBuffer c) { conditional.begin(c, words.buffer, ~VkDeviceSize{3}, false); });
  expect("at a multiple of 4", [&](VkCommandBuffer c) { conditional.begin(c, words.buffer, 2, false); });
  expect("conditional rendering is active", [&](VkCommandBuffer c) { conditional.begin(c, words.buffer, 0, false); });
  expect("begun outside", [&](VkCommandBuffer c) {
    conditional.begin(c, words.buffer, 0, false);
    target.begin(c);
    conditional.End(c);
  });
  expect("while conditional rendering is active", [&](VkCommandBuffer c) {
    target.begin(c);
    conditional.begin(c, words.buffer, 0, false);
    p.CmdEndRenderPass(c);
  });
  // The next recording knows nothing of it.
  p.said.clear();
  const VkCommandBuffer c = p.begin();
  target.begin(c);
  target.draw(c);
  p.CmdEndRenderPass(c);
  target.copy(c);
  p.run(c);
  CHECK(target.is(kRed) && p.said.empty());
  p.destroy(words);
}

/// The pass's own target holds the word.
void test_own_target() {
  Program p;
  const Conditional conditional(p);
  const Target target(p);
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kPixels * 4, info.usage = VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT;
  VkBuffer buffer = nullptr;
  CHECK(p.CreateBuffer(p.device, &info, nullptr, &buffer) == VK_SUCCESS);
  CHECK(p.BindBufferMemory(p.device, buffer, target.image.memory, 0) == VK_SUCCESS);
  const VkCommandBuffer c = p.begin();
  target.begin(c);
  conditional.begin(c, buffer, 0, false);
  target.draw(c);
  conditional.End(c);
  p.CmdEndRenderPass(c);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("conditional rendering by buffer"));
  p.DestroyBuffer(p.device, buffer, nullptr);
}

}  // namespace

int main() {
  test_passes();
  test_intervals();
  test_errors();
  test_own_target();
  return finish("test_vulkan_conditional");
}
