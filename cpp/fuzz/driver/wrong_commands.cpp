// fuzz/driver/wrong_commands.cpp -- commands that Vulkan forbids and that the driver refuses or does all the same: in a command buffer of
// their own, which mostly ends with an error.
//
// In: choices. Out: nothing that stays but messages. Source: Vulkan specification, valid usage of the commands; docs/vulkan.md, "What is
// there".
#include <algorithm>
#include <cstring>

#include "driver/formats.hpp"
#include "driver/wrong.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr VkImageLayout kLayout = VK_IMAGE_LAYOUT_GENERAL;
/// Numbers that lead nowhere.
constexpr uint32_t kFar[] = {33, 1000, 65535, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

/// A command buffer of a wrong command's own.
struct Scratch {
  World& w;
  VkCommandBuffer b = nullptr;
  bool in_pass = false;
  std::shared_ptr<ViewModel> target;

  explicit Scratch(World& world, VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY) : w(world) {
    const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, w.pool, level, 1};
    TILEGPU_MUST(w, AllocateCommandBuffers, w.device, &info, &b);
    VkCommandBufferInheritanceInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.pInheritanceInfo = &inherited;
    TILEGPU_MUST(w, BeginCommandBuffer, b, &begin);
  }
  /// One colour of four samples or one.
  void begin_pass() {
    target = w.target(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, 1);
    if (w.lost) return;
    VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    color.imageView = target->handle, color.imageLayout = kLayout;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.renderArea = {{0, 0}, {w.width_px, w.height_px}}, info.layerCount = 1, info.colorAttachmentCount = 1,
    info.pColorAttachments = &color;
    w.vk.CmdBeginRendering(b, &info);
    in_pass = true;
  }
  /// The end of it; `refused`: the driver must have said no.
  void end(bool refused) {
    if (in_pass) w.vk.CmdEndRendering(b);
    const VkResult result = w.vk.EndCommandBuffer(b);
    if (result > 0 || (refused && result == VK_SUCCESS))
      w.fail("vkEndCommandBuffer gave " + std::to_string(result) + " for what Vulkan forbids");
    w.vk.FreeCommandBuffers(w.device, w.pool, 1, &b);
  }
};

void buffers(World& w) {
  Scratch s(w);
  const VkBuffer arena = w.arena->handle, to = w.counters->handle;
  const uint64_t far = w.c.coin() ? w.c.of(kFar) * uint64_t{4} + kArena_B : ~uint64_t{3};
  const VkBufferCopy copies[] = {{far, 0, 4}, {0, far, 4}, {0, 0, far}, {kArena_B - 3, 0, 4}, {0, 0, 0}};
  const uint8_t data[64]{};
  switch (w.c.below(6)) {
    case 0:
      w.vk.CmdCopyBuffer(s.b, arena, to, 1, &copies[w.c.below(5)]);
      break;
    case 1:
      w.vk.CmdFillBuffer(s.b, to, w.c.coin() ? far : kCounters_B, 4, 0);
      break;
    case 2:
      w.vk.CmdFillBuffer(s.b, to, w.c.coin() ? 2 : 0, w.c.coin() ? far : 6, 0);
      break;
    case 3:
      w.vk.CmdUpdateBuffer(s.b, to, w.c.coin() ? far : kCounters_B - 32, 64, data);
      break;
    case 4:
      w.vk.CmdCopyBuffer(s.b, arena, to, 0, nullptr);
      break;
    default: {
      const VkBufferCopy overlapping{0, 4, 64};
      w.vk.CmdCopyBuffer(s.b, arena, arena, 1, &overlapping);
    }
  }
  s.end(false);
}

VkImageSubresourceLayers layers_of(World& w, const ImageModel& i) {
  VkImageSubresourceLayers of{first_aspect(*i.format), 0, 0, 1};
  switch (w.c.below(6)) {
    case 0:
      of.aspectMask = w.c.of(kFar);
      break;
    case 1:
      of.mipLevel = w.c.of(kFar);
      break;
    case 2:
      of.baseArrayLayer = w.c.of(kFar);
      break;
    case 3:
      of.layerCount = w.c.coin() ? 0 : w.c.of(kFar) - 1;
      break;
    default:
      break;
  }
  return of;
}

int32_t odd(World& w) {
  constexpr int32_t kOdd[] = {-1, 0, 0, 0, 1, 3, 64, 0x7fffffff, -0x7fffffff - 1};
  return w.c.of(kOdd);
}
uint32_t odd_extent(World& w) {
  constexpr uint32_t kOdd[] = {0, 1, 1, 1, 4, 64, 0x7fffffff, 0x80000000, 0xffffffff};
  return w.c.of(kOdd);
}

/// A copy that is right but for a box that ends one pixel beyond its level.
void one_beyond(World& w, const ImageModel& image, bool below) {
  Scratch s(w);
  VkBufferImageCopy region{};
  region.imageSubresource = {first_aspect(*image.format), 0, 0, 1};
  region.imageExtent = image.extent(0);
  ++(below ? region.imageExtent.height : region.imageExtent.width);
  w.vk.CmdCopyBufferToImage(s.b, w.arena->handle, image.handle, kLayout, 1, &region);
  s.end(true);
}

void images(World& w) {
  const auto from = w.pick(w.images), to = w.pick(w.images);
  one_beyond(w, *from, from == to);
  Scratch s(w);
  const VkOffset3D a{odd(w), odd(w), odd(w)}, b{odd(w), odd(w), odd(w)};
  const VkExtent3D e{odd_extent(w), odd_extent(w), odd_extent(w)};
  const VkImageSubresourceLayers x = layers_of(w, *from), y = layers_of(w, *to);
  switch (w.c.below(5)) {
    case 0: {
      const VkImageCopy region{x, a, y, b, e};
      w.vk.CmdCopyImage(s.b, from->handle, kLayout, to->handle, kLayout, 1, &region);
      break;
    }
    case 1: {
      const VkBufferImageCopy region{w.c.coin() ? 0 : w.c.of(kFar), w.c.coin() ? 0 : w.c.of(kFar), w.c.coin() ? 0 : w.c.of(kFar), x, a, e};
      w.vk.CmdCopyImageToBuffer(s.b, from->handle, kLayout, w.counters->handle, 1, &region);
      w.vk.CmdCopyBufferToImage(s.b, w.arena->handle, from->handle, kLayout, 1, &region);
      break;
    }
    case 2: {
      const VkImageBlit region{x, {a, {odd(w), odd(w), 1}}, y, {b, {odd(w), odd(w), 1}}};
      w.vk.CmdBlitImage(s.b, from->handle, kLayout, to->handle, kLayout, 1, &region, static_cast<VkFilter>(w.c.below(3)));
      break;
    }
    case 3: {
      const VkImageResolve region{x, a, y, b, e};
      w.vk.CmdResolveImage(s.b, from->handle, kLayout, to->handle, kLayout, 1, &region);
      break;
    }
    default: {
      const VkImageSubresourceRange range{x.aspectMask, x.mipLevel, w.c.coin() ? 1 : w.c.of(kFar), x.baseArrayLayer, x.layerCount};
      const VkClearColorValue color{};
      const VkClearDepthStencilValue depth{0.5f, 3};
      if (w.c.coin())
        w.vk.CmdClearColorImage(s.b, from->handle, kLayout, &color, 1, &range);
      else
        w.vk.CmdClearDepthStencilImage(s.b, from->handle, kLayout, &depth, 1, &range);
    }
  }
  s.end(false);
}

void bindings(World& w) {
  Scratch s(w);
  const uint32_t far = w.c.of(kFar);
  const VkDeviceSize offset_B = w.c.coin() ? kArena_B : ~uint64_t{0}, sizes_B[] = {far, 64}, offsets_B[] = {offset_B, 0};
  const VkBuffer both[] = {w.arena->handle, w.arena->handle};
  const uint8_t data[64]{};
  switch (w.c.below(8)) {
    case 0:
      w.vk.CmdBindVertexBuffers(s.b, far, 1, both, offsets_B);
      return s.end(true);
    case 1:
      w.vk.CmdBindVertexBuffers2(s.b, far, 1, both, offsets_B, sizes_B, nullptr);
      return s.end(true);
    case 2:
      w.vk.CmdBindVertexBuffers2(s.b, 31, 2, both, offsets_B, sizes_B, sizes_B);
      return s.end(false);
    case 3:
      w.vk.CmdBindIndexBuffer2(s.b, w.arena->handle, offset_B, far, w.c.coin() ? VK_INDEX_TYPE_UINT32 : static_cast<VkIndexType>(far));
      return s.end(false);
    case 4:
      w.vk.CmdPushConstants(s.b, w.layout, VK_SHADER_STAGE_ALL, w.c.coin() ? far : 0, w.c.coin() ? 64 : 0, data);
      return s.end(false);
    case 5: {
      const VkDescriptorSet none[2] = {nullptr, nullptr};
      w.vk.CmdBindDescriptorSets(s.b, VK_PIPELINE_BIND_POINT_GRAPHICS, w.layout, far, 1, none, 0, nullptr);
      return s.end(true);
    }
    case 6: {
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      const VkDescriptorBufferInfo info{w.counters->handle, 0, VK_WHOLE_SIZE};
      write.dstBinding = w.c.coin() ? far : 2, write.dstArrayElement = w.c.coin() ? far : 0, write.descriptorCount = 1;
      write.descriptorType = w.c.coin() ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, write.pBufferInfo = &info;
      w.vk.CmdPushDescriptorSet(s.b, VK_PIPELINE_BIND_POINT_COMPUTE, w.c.coin() ? w.layout : w.pushed_layout, w.c.coin() ? far : 0, 1,
                                &write);
      return s.end(false);
    }
    default: {
      const VkViewport viewport{0, 0, 0, -1, 7, -3};
      const VkRect2D scissor{{-5, -5}, {far, far}};
      if (w.c.coin())
        w.vk.CmdSetViewport(s.b, far, 1, &viewport);
      else
        w.vk.CmdSetScissor(s.b, w.c.coin() ? far : 0, 1, &scissor);
      return s.end(false);
    }
  }
}

void states(World& w) {
  Scratch s(w);
  const uint32_t far = w.c.of(kFar);
  const VkBool32 enables[] = {1, 1};
  const VkColorBlendEquationEXT equation{static_cast<VkBlendFactor>(far),
                                         VK_BLEND_FACTOR_ONE,
                                         static_cast<VkBlendOp>(far),
                                         VK_BLEND_FACTOR_ONE,
                                         VK_BLEND_FACTOR_ONE,
                                         VK_BLEND_OP_ADD};
  const VkVertexInputBindingDescription2EXT binding{
      VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, far, far, static_cast<VkVertexInputRate>(far), far};
  const VkVertexInputAttributeDescription2EXT attribute{
      VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, w.c.coin() ? far : 0, far, static_cast<VkFormat>(far), far};
  const VkFragmentShadingRateCombinerOpKHR ops[2] = {static_cast<VkFragmentShadingRateCombinerOpKHR>(far),
                                                     VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR};
  const VkExtent2D rate{w.c.coin() ? far : 3, 5};
  switch (w.c.below(10)) {
    case 0:
      w.vk.CmdSetColorBlendEnableEXT(s.b, far, 2, enables);
      return s.end(true);
    case 1:
      w.vk.CmdSetColorWriteEnableEXT(s.b, 2, enables);
      w.vk.CmdSetColorBlendEquationEXT(s.b, w.c.coin() ? far : 0, 1, &equation);
      break;
    case 2:
      w.vk.CmdSetVertexInputEXT(s.b, 1, &binding, 1, &attribute);
      break;
    case 3:
      w.vk.CmdSetPatchControlPointsEXT(s.b, w.c.coin() ? far : 0);
      break;
    case 4:
      w.vk.CmdSetFragmentShadingRateKHR(s.b, &rate, ops);
      break;
    case 5:
      w.vk.CmdSetLineStipple(s.b, w.c.coin() ? far : 0, 0);
      break;
    case 6:
      w.vk.CmdSetPrimitiveTopology(s.b, static_cast<VkPrimitiveTopology>(far)), w.vk.CmdSetCullMode(s.b, far);
      break;
    case 7:
      w.vk.CmdSetDepthCompareOp(s.b, static_cast<VkCompareOp>(far)), w.vk.CmdSetLogicOpEXT(s.b, static_cast<VkLogicOp>(far));
      break;
    case 8:
      w.vk.CmdSetStencilOp(s.b, far, static_cast<VkStencilOp>(far), VK_STENCIL_OP_KEEP, VK_STENCIL_OP_KEEP, static_cast<VkCompareOp>(far));
      break;
    default:
      w.vk.CmdSetViewportWithCount(s.b, 0, nullptr), w.vk.CmdSetPolygonModeEXT(s.b, static_cast<VkPolygonMode>(far));
      break;
  }
  s.end(false);
}

/// Draws and dispatches where they may not be, and of what is not there.
void draws(World& w) {
  Scratch s(w);
  const uint32_t far = w.c.of(kFar);
  const VkBuffer arena = w.arena->handle;
  const uint32_t kind = w.c.below(10);
  if (kind >= 3) s.begin_pass();
  if (w.lost) return;
  // Of another pass, or none.
  const auto pipeline = w.pick(w.pipelines, [](const PipelineModel& p) { return !p.compute; });
  if (pipeline && w.c.coin()) w.vk.CmdBindPipeline(s.b, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline->handle);
  switch (kind) {
    case 0:
      w.vk.CmdDraw(s.b, 3, 1, 0, 0);
      return s.end(true);
    case 1:
      w.vk.CmdDispatch(s.b, w.c.coin() ? 1 : far, 1, 1);
      return s.end(true);
    case 2:
      w.vk.CmdDispatchIndirect(s.b, arena, w.c.coin() ? kArena_B - 4 : far);
      return s.end(true);
    case 3:
      w.vk.CmdDispatch(s.b, 1, 1, 1);
      return s.end(true);
    case 4:
      w.vk.CmdDrawIndexed(s.b, 3, 1, far, -5, 0);  // no indices are bound
      break;
    case 5:
      w.vk.CmdDrawIndirect(s.b, arena, w.c.coin() ? kArena_B - 8 : far * uint64_t{4}, w.c.coin() ? 1 : far, w.c.coin() ? 16 : far);
      break;
    case 6:
      w.vk.CmdDrawIndexedIndirectCount(s.b, arena, kIndirect_B, arena, w.c.coin() ? kArena_B - 2 : far, w.c.coin() ? 1 : far,
                                       w.c.coin() ? 20 : 2);
      break;
    case 7: {
      const VkMultiDrawInfoEXT info{0, 3};
      w.vk.CmdDrawMultiEXT(s.b, w.c.coin() ? 1 : 2, &info, 1, 0, w.c.below(3));
      break;
    }
    case 8:
      w.vk.CmdDrawMeshTasksEXT(s.b, far, w.c.coin() ? far : 1, 1);
      break;
    default:
      w.vk.CmdDrawIndirectByteCountEXT(s.b, 1, 0, arena, w.c.coin() ? kArena_B : 2, far, w.c.coin() ? 0 : far);
      break;
  }
  s.end(false);
}

/// A pipeline with a number that leads nowhere, where it was made all the same.
void spoilt(World& w) {
  const uint32_t far = w.c.coin() ? w.c.of(kFar) : w.c.byte();
  const VkPipeline pipeline = w.spoilt_pipeline(far);
  if (!pipeline || w.lost) return;
  Scratch s(w);
  s.begin_pass();
  if (w.lost) return;
  w.vk.CmdBindPipeline(s.b, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  w.vk.CmdDraw(s.b, 3, 1, 0, 0);
  s.end(false);
  w.vk.DestroyPipeline(w.device, pipeline, nullptr);
}

/// Passes that are begun and ended where they may not be, and clears in them.
void passes(World& w) {
  const uint32_t kind = w.c.below(12);
  Scratch s(w, kind == 0 || kind == 1 ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  const uint32_t far = w.c.of(kFar);
  if (kind > 4) s.begin_pass();
  if (w.lost) return;
  VkClearAttachment clear{VK_IMAGE_ASPECT_COLOR_BIT, 0, {}};
  VkClearRect rect{{{0, 0}, {w.width_px, w.height_px}}, 0, 1};
  VkRenderingAttachmentInfo colors[9];
  std::fill(std::begin(colors), std::end(colors), VkRenderingAttachmentInfo{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO});
  VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea = rect.rect, info.layerCount = 1, info.pColorAttachments = colors;
  switch (kind) {
    case 0:
      w.vk.CmdNextSubpass(s.b, VK_SUBPASS_CONTENTS_INLINE);
      return s.end(true);
    case 1:
      w.vk.CmdEndRenderPass(s.b);
      return s.end(true);
    case 2:
      w.vk.CmdEndRendering(s.b);
      return s.end(true);
    case 3: {  // what is no attachment, of other sizes and samples, areas beyond
      const auto a = w.pick(w.views), b = w.pick(w.targets);
      info.colorAttachmentCount = w.c.coin() ? 2 : 9, info.viewMask = w.c.seldom(4) ? far : 0, info.layerCount = w.c.seldom(4) ? far : 1;
      colors[0].imageView = a ? a->handle : nullptr, colors[1].imageView = b ? b->handle : nullptr;
      colors[0].loadOp = static_cast<VkAttachmentLoadOp>(w.c.coin() ? far : 0);
      colors[1].resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT, colors[1].resolveImageView = w.c.coin() && a ? a->handle : nullptr;
      if (w.c.coin()) info.renderArea = {{odd(w), odd(w)}, {odd_extent(w), odd_extent(w)}};
      if (w.c.coin()) info.pDepthAttachment = &colors[1];
      w.vk.CmdBeginRendering(s.b, &info);
      s.in_pass = true;
      return s.end(false);
    }
    case 4:
      w.vk.CmdClearAttachments(s.b, 1, &clear, 1, &rect);
      return s.end(true);
    case 5:
      w.vk.CmdBeginRendering(s.b, &info);
      return s.end(true);
    case 6:
      w.vk.CmdNextSubpass(s.b, VK_SUBPASS_CONTENTS_INLINE);
      return s.end(true);
    case 7:  // the pass is still open
      s.in_pass = false;
      return s.end(true);
    case 8:
      rect.rect = {{odd(w), odd(w)}, {odd_extent(w), odd_extent(w)}}, rect.baseArrayLayer = w.c.coin() ? far : 0,
      rect.layerCount = w.c.coin() ? far : 1;
      break;
    case 9:
      clear.colorAttachment = far;
      break;
    case 10:
      clear.aspectMask = w.c.coin() ? far : VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_COLOR_BIT;
      break;
    default:
      w.vk.CmdFillBuffer(s.b, w.counters->handle, 0, 4, 0);
      return s.end(true);
  }
  w.vk.CmdClearAttachments(s.b, 1, &clear, 1, &rect);
  s.end(false);
}

/// Render passes of the program's with too few views, other sizes, in the wrong command buffer.
void render_passes(World& w) {
  if (w.render_passes.empty() || w.framebuffers.empty()) return;
  Scratch s(w, w.c.seldom(4) ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = w.render_passes[w.c.below(static_cast<uint32_t>(w.render_passes.size()))];
  begin.renderArea = {{odd(w), odd(w)}, {odd_extent(w), odd_extent(w)}};
  std::vector<VkImageView> handles;
  for (uint32_t i = 0, count = w.c.below(6); i < count; ++i) {
    const auto v = w.c.coin() ? w.pick(w.targets) : w.pick(w.views);
    handles.push_back(v ? v->handle : nullptr);
  }
  VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  info.renderPass = begin.renderPass, info.attachmentCount = static_cast<uint32_t>(handles.size()), info.pAttachments = handles.data();
  info.width = odd_extent(w), info.height = odd_extent(w), info.layers = odd_extent(w);
  const VkResult made = w.vk.CreateFramebuffer(w.device, &info, nullptr, &begin.framebuffer);
  if (made != VK_SUCCESS) return s.end(false);
  w.vk.CmdBeginRenderPass(s.b, &begin, VK_SUBPASS_CONTENTS_INLINE);
  const VkClearAttachment clear{VK_IMAGE_ASPECT_COLOR_BIT, 1, {}};
  const VkClearRect rect{{{0, 0}, {1, 1}}, 0, 1};
  w.vk.CmdClearAttachments(s.b, 1, &clear, 1, &rect);
  w.vk.CmdNextSubpass(s.b, VK_SUBPASS_CONTENTS_INLINE);
  w.vk.CmdEndRenderPass(s.b);
  s.end(false);
  w.vk.DestroyFramebuffer(w.device, begin.framebuffer, nullptr);
}

void queries(World& w) {
  const auto q = w.pick(w.queries);
  if (!q) return;
  Scratch s(w);
  const uint32_t far = w.c.of(kFar);
  switch (w.c.below(8)) {
    case 0:
      w.vk.CmdResetQueryPool(s.b, q->handle, w.c.coin() ? far : 0, far);
      return s.end(true);
    case 1:
      w.vk.CmdBeginQuery(s.b, q->handle, far, 0);
      return s.end(true);
    case 2:
      w.vk.CmdEndQuery(s.b, q->handle, w.c.coin() ? far : 0);
      return s.end(true);
    case 3:  // never ended
      w.vk.CmdBeginQuery(s.b, q->handle, 0, 0), w.vk.CmdBeginQuery(s.b, q->handle, 0, 0);
      return s.end(true);
    case 4:
      w.vk.CmdWriteTimestamp(s.b, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, q->handle, far);
      return s.end(true);
    case 5:
      w.vk.CmdCopyQueryPoolResults(s.b, q->handle, 0, w.c.coin() ? q->count : far, w.counters->handle, w.c.coin() ? far : 4092,
                                   w.c.coin() ? far : 8, VK_QUERY_RESULT_64_BIT);
      return s.end(false);
    case 6:
      s.begin_pass();
      if (w.lost) return;
      w.vk.CmdResetQueryPool(s.b, q->handle, 0, 1), w.vk.CmdWriteTimestamp(s.b, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, q->handle, far);
      return s.end(true);
    default:
      w.vk.CmdBeginQueryIndexedEXT(s.b, q->handle, 0, 0, far), w.vk.CmdEndQueryIndexedEXT(s.b, q->handle, 0, far);
      return s.end(false);
  }
}

void secondaries(World& w) {
  Scratch s(w);
  if (w.c.coin()) s.begin_pass();
  if (w.lost) return;
  const VkCommandBufferLevel level = w.c.coin() ? VK_COMMAND_BUFFER_LEVEL_PRIMARY : VK_COMMAND_BUFFER_LEVEL_SECONDARY;
  Scratch other(w, level);
  const bool ended = level == VK_COMMAND_BUFFER_LEVEL_PRIMARY || w.c.coin();
  if (ended) TILEGPU_MUST(w, EndCommandBuffer, other.b);
  w.vk.CmdExecuteCommands(s.b, 1, &other.b);
  const bool refused = level == VK_COMMAND_BUFFER_LEVEL_PRIMARY || !ended || s.in_pass;
  s.end(refused);
  w.vk.FreeCommandBuffers(w.device, w.pool, 1, &other.b);
}

void others(World& w) {
  Scratch s(w);
  const uint32_t far = w.c.of(kFar);
  const VkBuffer arena = w.arena->handle;
  const VkDeviceSize offset_B = far;
  const VkConditionalRenderingBeginInfoEXT begin{VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT, nullptr, arena,
                                                 w.c.coin() ? 2 : offset_B, 0};
  switch (w.c.below(6)) {
    case 0:
      w.vk.CmdEndConditionalRenderingEXT(s.b);
      return s.end(true);
    case 1:
      w.vk.CmdBeginConditionalRenderingEXT(s.b, &begin);
      return s.end(true);
    case 2:
      w.vk.CmdEndTransformFeedbackEXT(s.b, 0, 0, nullptr, nullptr);
      return s.end(true);
    case 3:
      w.vk.CmdBindTransformFeedbackBuffersEXT(s.b, w.c.coin() ? far : 0, 1, &arena, &offset_B, w.c.coin() ? &offset_B : nullptr);
      return s.end(false);
    case 4:
      s.begin_pass();
      if (w.lost) return;
      w.vk.CmdBeginTransformFeedbackEXT(s.b, far, 1, &arena, &offset_B);
      return s.end(true);
    default:
      w.vk.CmdEndDebugUtilsLabelEXT(s.b);
      return s.end(false);
  }
}

}  // namespace

void wrong_command(World& w) {
  using Wrong = void (*)(World&);
  constexpr Wrong kAll[] = {buffers, images, images, bindings,      states,  spoilt,      spoilt, draws,
                            draws,   passes, passes, render_passes, queries, secondaries, others};
  w.c.of(kAll)(w);
}

}  // namespace tilegpu::fuzz
