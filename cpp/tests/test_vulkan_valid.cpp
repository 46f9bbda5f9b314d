// tests/test_vulkan_valid.cpp -- what Vulkan allows and the driver once refused, did wrong or did not survive: found by fuzz_driver, each
// once.
#include <atomic>
#include <chrono>
#include <thread>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;
constexpr VkRect2D kArea{{0, 0}, {kSide_px, kSide_px}};
constexpr const char* kVertex =
    "#version 450\nvoid main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }";
constexpr const char* kRed = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1, 0, 0, 1); }";
constexpr uint32_t kRedWord = 0xff0000ff;

/// A program that renders without render passes.
struct Rendering {
  Program p;
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  VkPipelineLayout layout = nullptr;
  Program::MappedBuffer pixels{};

  Rendering() {
    const VkPhysicalDeviceDynamicRenderingFeatures on{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, nullptr, VK_TRUE};
    p.remake_device(
        {"VK_KHR_dynamic_rendering", "VK_KHR_timeline_semaphore", "VK_EXT_extended_dynamic_state", "VK_EXT_extended_dynamic_state3"}, &on);
    p.load(begin_rendering, "vkCmdBeginRendering"), p.load(end_rendering, "vkCmdEndRendering");
    layout = p.pipeline_layout({});
    pixels = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }
  ~Rendering() {
    p.destroy(pixels);
    p.DestroyPipelineLayout(p.device, layout, nullptr);
  }
  uint32_t pixel(uint32_t x, uint32_t y) const {
    uint32_t word = 0;
    std::memcpy(&word, pixels.data + (y * kSide_px + x) * 4, 4);
    return word;
  }
  Program::BoundImage target(VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT) {
    return p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                   false, samples);
  }
  /// Of one colour; `change` has the last word.
  VkPipeline pipeline(const char* vertex, const std::function<void(VkGraphicsPipelineCreateInfo&)>& change) {
    constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;
    VkPipelineRenderingCreateInfo formats{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
    formats.colorAttachmentCount = 1, formats.pColorAttachmentFormats = &kFormat;
    return make_pipeline(p, vertex, kRed, layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
      info.pNext = &formats;
      change(info);
    });
  }
  void begin(VkCommandBuffer c, VkImageView view, VkAttachmentLoadOp op, VkRenderingFlags flags) {
    VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    color.imageView = view, color.imageLayout = VK_IMAGE_LAYOUT_GENERAL, color.loadOp = op, color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.flags = flags, info.renderArea = kArea, info.layerCount = 1, info.colorAttachmentCount = view ? 1 : 0,
    info.pColorAttachments = &color;
    begin_rendering(c, &info);
  }
  void draw(VkCommandBuffer c, VkPipeline pipeline, uint32_t count = 3) {
    const VkViewport viewports[] = {{0, 0, kSide_px, kSide_px, 0, 1}};
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    p.CmdSetViewport(c, 0, 1, viewports), p.CmdSetScissor(c, 0, 1, &kArea);
    p.CmdDraw(c, count, 1, 0, 0);
  }
};

/// The draws of a suspended part are looked at when the whole is submitted (load_op DONT_CARE), and choose among its viewports.
void suspended_parts_keep_their_states() {
  Rendering r;
  const auto image = r.target();
  const VkPipeline plain = r.pipeline(kVertex, [](VkGraphicsPipelineCreateInfo&) {});
  VkCommandBuffer c = r.p.begin();
  r.begin(c, image.view, VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_RENDERING_SUSPENDING_BIT);
  r.draw(c, plain);
  r.end_rendering(c);
  r.begin(c, image.view, VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_RENDERING_RESUMING_BIT);
  r.draw(c, plain);
  r.end_rendering(c);
  r.p.run_and_read(c, image, kSide_px, r.pixels.buffer);
  CHECK(r.pixel(0, 0) == kRedWord && r.pixel(15, 15) == kRedWord);

  // The second of two viewports is the right half.
  constexpr const char* kChooses =
      "#version 450\n#extension GL_ARB_shader_viewport_layer_array : require\nvoid main() { gl_ViewportIndex = 1;\n"
      "  gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }";
  const VkViewport viewports[] = {{0, 0, 8, kSide_px, 0, 1}, {8, 0, 8, kSide_px, 0, 1}};
  const VkRect2D scissors[] = {{{0, 0}, {8, kSide_px}}, {{8, 0}, {8, kSide_px}}};
  VkPipelineViewportStateCreateInfo both{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, nullptr, 0, 2, viewports, 2, scissors};
  const VkPipeline right =
      r.pipeline(kChooses, [&](VkGraphicsPipelineCreateInfo& info) { info.pViewportState = &both, info.pDynamicState = nullptr; });
  c = r.p.begin();
  r.begin(c, image.view, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_RENDERING_SUSPENDING_BIT);
  r.p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, right);
  r.p.CmdDraw(c, 3, 1, 0, 0);
  r.end_rendering(c);
  r.begin(c, image.view, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_RENDERING_RESUMING_BIT);
  r.end_rendering(c);
  r.p.run_and_read(c, image, kSide_px, r.pixels.buffer);
  CHECK(r.pixel(3, 3) == 0 && r.pixel(12, 3) == kRedWord);

  // Without attachments only the part that draws has samples.
  VkPipelineRenderingCreateInfo none{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  VkPipelineMultisampleStateCreateInfo four{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  four.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
  const VkPipeline samples =
      r.pipeline(kVertex, [&](VkGraphicsPipelineCreateInfo& info) { info.pNext = &none, info.pMultisampleState = &four; });
  for (const bool first : {true, false}) {
    c = r.p.begin();
    r.begin(c, nullptr, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_RENDERING_SUSPENDING_BIT);
    if (first) r.draw(c, samples);
    r.end_rendering(c);
    r.begin(c, nullptr, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_RENDERING_RESUMING_BIT);
    if (!first) r.draw(c, samples);
    r.end_rendering(c);
    r.p.run(c);
  }
  for (const VkPipeline made : {plain, right, samples}) r.p.DestroyPipeline(r.p.device, made, nullptr);
  r.p.destroy(image);
}

/// Vulkan forbids what Blender does between a suspended part and the one that resumes it: the first is in memory then, the second loads it.
void suspended_parts_may_end_there() {
  Rendering r;
  const auto image = r.target(VK_SAMPLE_COUNT_4_BIT), one = r.target();
  const auto between = r.p.buffer(64, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  VkPipelineMultisampleStateCreateInfo four{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  four.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
  const VkPipeline plain = r.pipeline(kVertex, [&](VkGraphicsPipelineCreateInfo& info) { info.pMultisampleState = &four; });
  const auto begin = [&](VkCommandBuffer c, VkRenderingFlags flags, VkRect2D area) {
    VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    color.imageView = image.view, color.imageLayout = VK_IMAGE_LAYOUT_GENERAL, color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    color.resolveImageView = one.view, color.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT, color.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
    color.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE, color.clearValue.color.float32[2] = 1;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.flags = flags, info.renderArea = area, info.layerCount = 1, info.colorAttachmentCount = 1, info.pColorAttachments = &color;
    r.begin_rendering(c, &info);
  };
  constexpr uint32_t kBlueWord = 0x00ff0000;
  const auto draw = [&](VkCommandBuffer c, int32_t x) {
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    const VkRect2D scissor{{x, 0}, {4, kSide_px}};
    r.p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, plain);
    r.p.CmdSetViewport(c, 0, 1, &viewport), r.p.CmdSetScissor(c, 0, 1, &scissor);
    r.p.CmdDraw(c, 3, 1, 0, 0);
  };
  // A copy between two parts; then three parts of which the first two are one; then another area; then another submission.
  for (const uint32_t how : {0u, 1u, 2u, 3u}) {
    VkCommandBuffer c = r.p.begin();
    begin(c, VK_RENDERING_SUSPENDING_BIT, kArea);
    draw(c, 0);
    r.end_rendering(c);
    if (how == 1) {
      begin(c, VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT, kArea);
      draw(c, 4);
      r.end_rendering(c);
    }
    if (how < 2) r.p.CmdFillBuffer(c, between.buffer, 0, 64, 7);
    if (how == 3) r.p.run(c), c = r.p.begin();
    begin(c, VK_RENDERING_RESUMING_BIT, how == 2 ? VkRect2D{{0, 0}, {kSide_px, 8}} : kArea);
    draw(c, 8);
    r.end_rendering(c);
    r.p.run_and_copy(c, one, kSide_px, r.pixels.buffer);
    CHECK(r.pixel(0, 3) == kRedWord && r.pixel(4, 3) == (how == 1 ? kRedWord : kBlueWord));
    CHECK(r.pixel(8, 3) == kRedWord && r.pixel(12, 3) == kBlueWord);
  }
  CHECK(r.p.heard("is suspended, and the next command of the submission does not resume it"));
  CHECK(r.p.heard("but its render_area is another") && r.p.heard("resumes a pass, but the command before it suspends none"));
  r.p.DestroyPipeline(r.p.device, plain, nullptr);
  r.p.destroy(image), r.p.destroy(one), r.p.destroy(between);
}

/// The state of samples and the fragment shader of a pipeline that never rasterizes are ignored, and it says nothing of a pass's samples.
void discarding_pipelines_have_no_samples() {
  Rendering r;
  const auto image = r.target(VK_SAMPLE_COUNT_4_BIT);
  VkPipelineRasterizationStateCreateInfo never{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  never.rasterizerDiscardEnable = VK_TRUE, never.lineWidth = 1;
  const auto discard = [&](VkGraphicsPipelineCreateInfo& info) { info.pRasterizationState = &never, info.pMultisampleState = nullptr; };
  VkPipelineMultisampleStateCreateInfo four{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  four.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
  VkPipelineRenderingCreateInfo none{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  const VkPipeline discards = r.pipeline(kVertex, discard);
  const VkPipeline discards_alone = r.pipeline(kVertex, [&](VkGraphicsPipelineCreateInfo& info) { discard(info), info.pNext = &none; });
  const VkPipeline samples =
      r.pipeline(kVertex, [&](VkGraphicsPipelineCreateInfo& info) { info.pNext = &none, info.pMultisampleState = &four; });
  const VkCommandBuffer c = r.p.begin();
  r.begin(c, image.view, VK_ATTACHMENT_LOAD_OP_CLEAR, 0);
  r.draw(c, discards);
  r.end_rendering(c);
  r.begin(c, nullptr, VK_ATTACHMENT_LOAD_OP_CLEAR, 0);
  r.draw(c, discards_alone), r.draw(c, samples), r.draw(c, discards_alone);
  r.end_rendering(c);
  r.p.run(c);
  for (const std::string& text : r.p.said) CHECK_MESSAGE(false, text);
  for (const VkPipeline made : {discards, discards_alone, samples}) r.p.DestroyPipeline(r.p.device, made, nullptr);
  r.p.destroy(image);
}

/// Tests that a command switches on are off where the pass has nothing to test; no state of colours need be set where there are none.
void dynamic_states_of_what_is_not_there() {
  Rendering r;
  PFN_vkCmdSetDepthTestEnable depth = nullptr;
  PFN_vkCmdSetStencilTestEnable stencil = nullptr;
  r.p.load(depth, "vkCmdSetDepthTestEnableEXT"), r.p.load(stencil, "vkCmdSetStencilTestEnableEXT");
  const VkDynamicState tests[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE,
                                  VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE};
  const VkPipelineDynamicStateCreateInfo open{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 4, tests};
  const VkPipeline tested = r.pipeline(kVertex, [&](VkGraphicsPipelineCreateInfo& info) { info.pDynamicState = &open; });
  const VkDynamicState masks[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT,
                                  VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT};
  const VkPipelineDynamicStateCreateInfo masked{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 4, masks};
  VkPipelineRenderingCreateInfo none{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  const VkPipeline colorless =
      r.pipeline(kVertex, [&](VkGraphicsPipelineCreateInfo& info) { info.pNext = &none, info.pDynamicState = &masked; });
  const auto image = r.target();
  const VkCommandBuffer c = r.p.begin();
  r.begin(c, image.view, VK_ATTACHMENT_LOAD_OP_CLEAR, 0);
  depth(c, VK_TRUE), stencil(c, VK_TRUE);
  r.draw(c, tested);
  r.end_rendering(c);
  r.begin(c, nullptr, VK_ATTACHMENT_LOAD_OP_CLEAR, 0);
  r.draw(c, colorless);
  r.end_rendering(c);
  r.p.run_and_read(c, image, kSide_px, r.pixels.buffer);
  CHECK(r.pixel(5, 5) == kRedWord);
  for (const VkPipeline made : {tested, colorless}) r.p.DestroyPipeline(r.p.device, made, nullptr);
  r.p.destroy(image);
}

/// Two subpasses of one tile pass, each with a colour of its own: neither sets states of the other's.
void merged_subpasses_set_states_of_their_own() {
  Rendering r;
  Program& p = r.p;
  PFN_vkCmdSetColorWriteMaskEXT mask = nullptr;
  p.load(mask, "vkCmdSetColorWriteMaskEXT");
  VkAttachmentDescription colors[2]{};
  for (auto& a : colors) {
    a.format = VK_FORMAT_R8G8B8A8_UNORM, a.samples = VK_SAMPLE_COUNT_1_BIT, a.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    a.storeOp = VK_ATTACHMENT_STORE_OP_STORE, a.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
  }
  const VkAttachmentReference references[] = {{0, VK_IMAGE_LAYOUT_GENERAL}, {1, VK_IMAGE_LAYOUT_GENERAL}};
  VkSubpassDescription subpasses[2]{};
  for (int i = 0; i < 2; ++i) subpasses[i].colorAttachmentCount = 1, subpasses[i].pColorAttachments = references + i;
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = 2, info.pAttachments = colors, info.subpassCount = 2, info.pSubpasses = subpasses;
  VkRenderPass pass = nullptr;
  CHECK(p.CreateRenderPass(p.device, &info, nullptr, &pass) == VK_SUCCESS);
  const Program::BoundImage images[] = {r.target(), r.target()};
  const VkFramebuffer framebuffer = p.framebuffer(pass, {images[0].view, images[1].view}, kSide_px);
  const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT};
  const VkPipelineDynamicStateCreateInfo open{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 3, states};
  const VkPipeline second =
      make_pipeline(p, kVertex, kRed, r.layout, pass, 1, [&](VkGraphicsPipelineCreateInfo& changed) { changed.pDynamicState = &open; });
  const VkClearValue clears[2]{};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = kArea, begin.clearValueCount = 2,
  begin.pClearValues = clears;
  const VkCommandBuffer c = p.begin();
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
  const VkColorComponentFlags all = 15;
  mask(c, 0, 1, &all);
  r.draw(c, second);
  p.CmdEndRenderPass(c);
  p.run_and_read(c, images[1], kSide_px, r.pixels.buffer);
  CHECK(r.pixel(5, 5) == kRedWord);
  p.DestroyPipeline(p.device, second, nullptr), p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
  for (const auto& image : images) p.destroy(image);
}

/// An object has none before it is set, whatever lay where it lies.
void private_data_ends_with_its_object() {
  Program p;
  PFN_vkCreatePrivateDataSlot create = nullptr;
  PFN_vkDestroyPrivateDataSlot destroy = nullptr;
  PFN_vkSetPrivateData set = nullptr;
  PFN_vkGetPrivateData get = nullptr;
  p.load(create, "vkCreatePrivateDataSlotEXT"), p.load(destroy, "vkDestroyPrivateDataSlotEXT");
  p.load(set, "vkSetPrivateDataEXT"), p.load(get, "vkGetPrivateDataEXT");
  VkPrivateDataSlot slots[2] = {};
  const VkPrivateDataSlotCreateInfo info{VK_STRUCTURE_TYPE_PRIVATE_DATA_SLOT_CREATE_INFO};
  for (auto& slot : slots) CHECK(create(p.device, &info, nullptr, &slot) == VK_SUCCESS);
  const VkEventCreateInfo event_info{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
  for (int round = 0; round < 20; ++round) {
    VkEvent event = nullptr;
    CHECK(p.CreateEvent(p.device, &event_info, nullptr, &event) == VK_SUCCESS);
    for (const auto& slot : slots) {
      uint64_t data = 1;
      get(p.device, VK_OBJECT_TYPE_EVENT, reinterpret_cast<uint64_t>(event), slot, &data);
      CHECK(data == 0);
      CHECK(set(p.device, VK_OBJECT_TYPE_EVENT, reinterpret_cast<uint64_t>(event), slot, 7) == VK_SUCCESS);
    }
    p.DestroyEvent(p.device, event, nullptr);
  }
  for (const auto& slot : slots) destroy(p.device, slot, nullptr);
}

/// Waits that nothing can end any more: a batch is deferred, and the device is lost before it is submitted.
void waits_end_when_the_device_is_lost() {
  Program p;
  const VkPhysicalDeviceTimelineSemaphoreFeatures timelines{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, nullptr,
                                                            VK_TRUE};
  const VkPhysicalDeviceFaultFeaturesEXT faults{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT,
                                                const_cast<void*>(static_cast<const void*>(&timelines)), VK_TRUE, VK_FALSE};
  p.remake_device({"VK_KHR_timeline_semaphore", "VK_EXT_device_fault"}, &faults);
  PFN_vkGetDeviceFaultInfoEXT fault_info = nullptr;
  p.load(fault_info, "vkGetDeviceFaultInfoEXT");
  const auto says = [&](const char* part) {
    VkDeviceFaultCountsEXT counts{VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT, nullptr, 7, 7, 7};
    VkDeviceFaultInfoEXT info{VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT};
    CHECK(fault_info(p.device, &counts, nullptr) == VK_SUCCESS && fault_info(p.device, &counts, &info) == VK_SUCCESS);
    CHECK(counts.addressInfoCount == 0 && counts.vendorInfoCount == 0 && counts.vendorBinarySize == 0);
    return std::strstr(info.description, part) != nullptr;
  };
  CHECK(says("the device is not lost"));
  const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr, VK_SEMAPHORE_TYPE_TIMELINE, 0};
  const VkSemaphoreCreateInfo semaphore_info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  VkSemaphore timeline = nullptr;
  CHECK(p.CreateSemaphore(p.device, &semaphore_info, nullptr, &timeline) == VK_SUCCESS);
  VkFence fence = nullptr;
  const VkFenceCreateInfo fence_info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  CHECK(p.CreateFence(p.device, &fence_info, nullptr, &fence) == VK_SUCCESS);
  VkCommandBuffer never_ended = p.begin();  // what submits it loses the device
  const uint64_t one = 1, two = 2;
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  const VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, 1, &one, 0, nullptr};
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values};
  submit.waitSemaphoreCount = 1, submit.pWaitSemaphores = &timeline, submit.pWaitDstStageMask = &stage;
  submit.commandBufferCount = 1, submit.pCommandBuffers = &never_ended;
  CHECK(p.QueueSubmit(p.queue, 1, &submit, fence) == VK_SUCCESS);
  std::atomic<VkResult> waited = VK_SUCCESS;
  std::thread waits([&] {
    const VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, &timeline, &two};
    waited = p.WaitSemaphores(p.device, &wait, ~uint64_t{0});
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const VkSemaphoreSignalInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, timeline, 1};
  CHECK(p.SignalSemaphore(p.device, &signal) == VK_SUCCESS);
  CHECK(p.WaitForFences(p.device, 1, &fence, VK_TRUE, ~uint64_t{0}) == VK_ERROR_DEVICE_LOST);
  const VkFence both[] = {fence, fence};
  CHECK(p.WaitForFences(p.device, 2, both, VK_FALSE, ~uint64_t{0}) == VK_ERROR_DEVICE_LOST);
  waits.join();
  CHECK(says("a command buffer is not executable; call end before it is submitted"));
  CHECK(waited == VK_ERROR_DEVICE_LOST && p.QueueWaitIdle(p.queue) == VK_ERROR_DEVICE_LOST);
  p.DestroyFence(p.device, fence, nullptr), p.DestroySemaphore(p.device, timeline, nullptr);
}

/// Blocks are read whole: a blit's corners lie anywhere in them, also in an image that shares its memory (which asks where they lie).
void blits_begin_anywhere_in_compressed_blocks() {
  Program p;
  PFN_vkCmdBlitImage blit = nullptr;
  p.load(blit, "vkCmdBlitImage");
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D, info.format = VK_FORMAT_BC1_RGB_UNORM_BLOCK, info.extent = {16, 16, 1},
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT, info.tiling = VK_IMAGE_TILING_LINEAR, info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  VkImage from = nullptr, to = nullptr;
  CHECK(p.CreateImage(p.device, &info, nullptr, &from) == VK_SUCCESS);
  info.format = VK_FORMAT_R8G8B8A8_UNORM, info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  CHECK(p.CreateImage(p.device, &info, nullptr, &to) == VK_SUCCESS);
  const VkDeviceMemory memory = p.allocate(4096);
  // Rows of blocks lie 64 bytes apart: the destination begins with the third.
  CHECK(p.BindImageMemory(p.device, from, memory, 0) == VK_SUCCESS && p.BindImageMemory(p.device, to, memory, 128) == VK_SUCCESS);
  VkImageBlit region{};
  region.srcSubresource = region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.srcOffsets[0] = {3, 3, 0}, region.srcOffsets[1] = {9, 5, 1}, region.dstOffsets[1] = {4, 4, 1};
  VkCommandBuffer c = p.begin();
  blit(c, from, VK_IMAGE_LAYOUT_GENERAL, to, VK_IMAGE_LAYOUT_GENERAL, 1, &region, VK_FILTER_NEAREST);
  CHECK_MESSAGE(p.EndCommandBuffer(c) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());  // the first two rows of blocks alone are read
  region.srcOffsets[0] = {3, 7, 0}, region.srcOffsets[1] = {9, 9, 1};
  c = p.begin();
  blit(c, from, VK_IMAGE_LAYOUT_GENERAL, to, VK_IMAGE_LAYOUT_GENERAL, 1, &region, VK_FILTER_NEAREST);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("overlap"));  // the third too, where the destination begins
  p.DestroyImage(p.device, from, nullptr), p.DestroyImage(p.device, to, nullptr);
  p.FreeMemory(p.device, memory, nullptr);
}

/// A region without texels in its destination is a blit of nothing, beside others that are done.
void blits_may_be_empty() {
  Program p;
  PFN_vkCmdBlitImage blit = nullptr;
  PFN_vkCmdClearColorImage clear = nullptr;
  p.load(blit, "vkCmdBlitImage"), p.load(clear, "vkCmdClearColorImage");
  constexpr VkImageUsageFlags kUse = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  const auto from = p.image(VK_FORMAT_R8G8B8A8_UNORM, 8, 8, kUse), to = p.image(VK_FORMAT_R8G8B8A8_UNORM, 8, 8, kUse);
  const auto out = p.buffer(8 * 8 * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  VkImageBlit regions[2] = {};
  for (VkImageBlit& r : regions) {
    r.srcSubresource = r.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    r.srcOffsets[1] = r.dstOffsets[1] = {8, 8, 1};
  }
  regions[0].dstOffsets[1].x = 0;
  for (const uint32_t count : {1U, 2U}) {
    const VkCommandBuffer c = p.begin();
    const VkClearColorValue red{{1, 0, 0, 1}}, blue{{0, 0, 1, 1}};
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    clear(c, from.image, VK_IMAGE_LAYOUT_GENERAL, &red, 1, &all);
    clear(c, to.image, VK_IMAGE_LAYOUT_GENERAL, &blue, 1, &all);
    blit(c, from.image, VK_IMAGE_LAYOUT_GENERAL, to.image, VK_IMAGE_LAYOUT_GENERAL, count, regions, VK_FILTER_LINEAR);
    p.run_and_read(c, to, 8, out.buffer);
    for (uint32_t i = 0; i < 64; ++i) CHECK(out.data[4 * i] == (count == 2 ? 255 : 0) && out.data[4 * i + 2] == (count == 2 ? 0 : 255));
  }
  p.destroy(from), p.destroy(to), p.destroy(out);
}

}  // namespace

int main() {
  suspended_parts_keep_their_states();
  suspended_parts_may_end_there();
  discarding_pipelines_have_no_samples();
  dynamic_states_of_what_is_not_there();
  merged_subpasses_set_states_of_their_own();
  private_data_ends_with_its_object();
  waits_end_when_the_device_is_lost();
  blits_begin_anywhere_in_compressed_blocks();
  blits_may_be_empty();
  return test::finish("test_vulkan_valid");
}
