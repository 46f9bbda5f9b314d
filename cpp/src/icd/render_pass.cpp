// icd/render_pass.cpp -- render passes with subpasses, framebuffers, dynamic rendering.
//
// In: VkRenderPassCreateInfo2, VkRenderingInfo. Out: passes of the core: each subpass is one, that loads what an earlier one stored.
// Source: Vulkan specification, "Render Pass".
#include <algorithm>

#include "icd/command_buffer.hpp"
#include "icd/generated/commands.hpp"
#include "icd/subpass.hpp"
#include "vk/format.hpp"

namespace tilegpu::icd {
namespace {

template <class Reference>
uint32_t attachment_of(const Reference* reference) {
  return reference ? reference->attachment : VK_ATTACHMENT_UNUSED;
}

template <class Description>
Subpass subpass_of(const Description& in) {
  Subpass out;
  for (uint32_t i = 0; i < in.colorAttachmentCount; ++i) {
    out.color.push_back(in.pColorAttachments[i].attachment);
    out.resolve.push_back(attachment_of(in.pResolveAttachments ? in.pResolveAttachments + i : nullptr));
  }
  for (uint32_t i = 0; i < in.inputAttachmentCount; ++i) out.inputs.push_back(in.pInputAttachments[i].attachment);
  out.depth_stencil = attachment_of(in.pDepthStencilAttachment);
  return out;
}

// Inputs that are not attachments of the subpass otherwise become some: they are read where they lie, in tile memory.
void add_inputs(Subpass& subpass, const std::vector<VkAttachmentDescription2>& attachments) {
  assert(subpass.color.size() == subpass.resolve.size());
  for (const uint32_t input : subpass.inputs) {
    if (input == VK_ATTACHMENT_UNUSED) continue;
    const vk::FormatInfo* format = vk::find_format(attachments[input].format);
    if (format && format->is_depth_stencil()) {
      if (subpass.depth_stencil == VK_ATTACHMENT_UNUSED) subpass.depth_stencil = input;
    } else if (std::find(subpass.color.begin(), subpass.color.end(), input) == subpass.color.end()) {
      subpass.color.push_back(input);
      subpass.resolve.push_back(VK_ATTACHMENT_UNUSED);
    }
  }
}

void note_uses(VkRenderPass_T& pass) {
  pass.uses.assign(pass.attachments.size(), {VK_SUBPASS_EXTERNAL, 0});
  const auto note = [&](uint32_t attachment, uint32_t subpass) {
    if (attachment == VK_ATTACHMENT_UNUSED) return;
    auto& [first, last] = pass.uses[attachment];
    first = std::min(first, subpass);
    last = std::max(last, subpass);
  };
  for (uint32_t s = 0; s < pass.subpasses.size(); ++s) {
    const Subpass& subpass = pass.subpasses[s];
    for (const uint32_t a : subpass.color) note(a, s);
    for (const uint32_t a : subpass.resolve) note(a, s);
    note(subpass.depth_stencil, s);
    note(subpass.depth_stencil_resolve, s);
  }
}

VkResult finish(VkDevice device, std::unique_ptr<VkRenderPass_T> pass, VkRenderPass* out) {
  for (size_t i = 0; i < pass->attachments.size(); ++i)
    if (!vk::find_format(pass->attachments[i].format))
      return fail(
          device, VK_ERROR_FORMAT_NOT_SUPPORTED,
          "render pass: attachment " + std::to_string(i) + ": format " + std::to_string(pass->attachments[i].format) + " is not there");
  for (Subpass& subpass : pass->subpasses) {
    add_inputs(subpass, pass->attachments);
    if (subpass.color.size() > kMaxColorAttachments)
      return fail(device, VK_ERROR_INITIALIZATION_FAILED,
                  "render pass: a subpass has " + std::to_string(subpass.color.size()) + " colour and input attachments; at most " +
                      std::to_string(kMaxColorAttachments) + " are there");
  }
  note_uses(*pass);
  *out = pass.release();
  return VK_SUCCESS;
}

}  // namespace

SubpassTargets targets_of(const VkRenderPass_T& pass, uint32_t number) {
  assert(number < pass.subpasses.size());
  const Subpass& subpass = pass.subpasses[number];
  SubpassTargets out;
  for (const uint32_t a : subpass.color) {
    out.color.push_back(a == VK_ATTACHMENT_UNUSED ? VK_FORMAT_UNDEFINED : pass.attachments[a].format);
    if (a != VK_ATTACHMENT_UNUSED) out.samples = pass.attachments[a].samples;
  }
  if (subpass.depth_stencil == VK_ATTACHMENT_UNUSED) return out;
  const VkAttachmentDescription2& a = pass.attachments[subpass.depth_stencil];
  assert(vk::find_format(a.format));  // else there were no pass
  const vk::FormatInfo& info = *vk::find_format(a.format);
  if (info.depth_bits) out.depth = a.format;
  if (info.stencil_bits) out.stencil = a.format;
  out.samples = a.samples;
  return out;
}

uint32_t input_of(const Subpass& subpass, uint32_t attachment) {
  const auto found = std::find(subpass.inputs.begin(), subpass.inputs.end(), attachment);
  return found == subpass.inputs.end() ? VK_ATTACHMENT_UNUSED : static_cast<uint32_t>(found - subpass.inputs.begin());
}

VkResult VKAPI_CALL CreateRenderPass(VkDevice device, const VkRenderPassCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                     VkRenderPass* pRenderPass) {
  if (const auto* views =
          find_next<VkRenderPassMultiviewCreateInfo>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO);
      views && std::any_of(views->pViewMasks, views->pViewMasks + views->subpassCount, [](uint32_t mask) { return mask != 0; }))
    return fail(device, VK_ERROR_FEATURE_NOT_PRESENT, "render pass: multiview is not there");
  auto pass = std::make_unique<VkRenderPass_T>();
  for (uint32_t i = 0; i < pCreateInfo->attachmentCount; ++i) {
    const VkAttachmentDescription& in = pCreateInfo->pAttachments[i];
    VkAttachmentDescription2 a{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2};
    a.format = in.format, a.samples = in.samples;
    a.loadOp = in.loadOp, a.storeOp = in.storeOp, a.stencilLoadOp = in.stencilLoadOp, a.stencilStoreOp = in.stencilStoreOp;
    pass->attachments.push_back(a);
  }
  for (uint32_t i = 0; i < pCreateInfo->subpassCount; ++i) pass->subpasses.push_back(subpass_of(pCreateInfo->pSubpasses[i]));
  return finish(device, std::move(pass), pRenderPass);
}

VkResult VKAPI_CALL CreateRenderPass2(VkDevice device, const VkRenderPassCreateInfo2* pCreateInfo, const VkAllocationCallbacks*,
                                      VkRenderPass* pRenderPass) {
  auto pass = std::make_unique<VkRenderPass_T>();
  pass->attachments.assign(pCreateInfo->pAttachments, pCreateInfo->pAttachments + pCreateInfo->attachmentCount);
  for (VkAttachmentDescription2& a : pass->attachments) a.pNext = nullptr;
  for (uint32_t i = 0; i < pCreateInfo->subpassCount; ++i) {
    const VkSubpassDescription2& in = pCreateInfo->pSubpasses[i];
    if (in.viewMask) return fail(device, VK_ERROR_FEATURE_NOT_PRESENT, "render pass: multiview is not there");
    Subpass subpass = subpass_of(in);
    using Resolve = VkSubpassDescriptionDepthStencilResolve;
    if (const auto* resolve = find_next<Resolve>(in.pNext, VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE)) {
      subpass.depth_stencil_resolve = attachment_of(resolve->pDepthStencilResolveAttachment);
      subpass.depth_resolve_mode = resolve->depthResolveMode, subpass.stencil_resolve_mode = resolve->stencilResolveMode;
    }
    pass->subpasses.push_back(std::move(subpass));
  }
  return finish(device, std::move(pass), pRenderPass);
}

void VKAPI_CALL DestroyRenderPass(VkDevice, VkRenderPass renderPass, const VkAllocationCallbacks*) { delete renderPass; }

void VKAPI_CALL GetRenderAreaGranularity(VkDevice, VkRenderPass, VkExtent2D* pGranularity) { *pGranularity = {1, 1}; }

VkResult VKAPI_CALL CreateFramebuffer(VkDevice, const VkFramebufferCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                      VkFramebuffer* out) {
  auto* framebuffer = new VkFramebuffer_T{{}, pCreateInfo->width, pCreateInfo->height, pCreateInfo->layers};
  if (!(pCreateInfo->flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT))
    framebuffer->views.assign(pCreateInfo->pAttachments, pCreateInfo->pAttachments + pCreateInfo->attachmentCount);
  *out = framebuffer;
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyFramebuffer(VkDevice, VkFramebuffer framebuffer, const VkAllocationCallbacks*) { delete framebuffer; }

// --- commands

namespace {

VkResolveModeFlagBits color_resolve_mode(VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  return info && info->is_integer() ? VK_RESOLVE_MODE_SAMPLE_ZERO_BIT : VK_RESOLVE_MODE_AVERAGE_BIT;
}

struct Ops {
  VkAttachmentLoadOp load;
  VkAttachmentStoreOp store;
};

// The attachment's own at its first and last use; between subpasses contents are kept.
Ops ops_of(const VkRenderPass_T& pass, uint32_t attachment, uint32_t subpass, bool stencil) {
  assert(pass.uses.size() == pass.attachments.size());
  const VkAttachmentDescription2& a = pass.attachments[attachment];
  const auto [first, last] = pass.uses[attachment];
  assert(first <= subpass && subpass <= last);
  return {first != subpass ? VK_ATTACHMENT_LOAD_OP_LOAD
          : stencil        ? a.stencilLoadOp
                           : a.loadOp,
          last != subpass ? VK_ATTACHMENT_STORE_OP_STORE
          : stencil       ? a.stencilStoreOp
                          : a.storeOp};
}

RenderingAttachment attachment_of(const OpenPass& open, uint32_t attachment, bool stencil) {
  RenderingAttachment out;
  if (attachment == VK_ATTACHMENT_UNUSED) return out;
  assert(attachment < open.views.size() && open.views[attachment]);
  const Ops ops = ops_of(*open.render_pass, attachment, open.subpass, stencil);
  out.view = open.views[attachment]->core;
  out.load_op = ops.load, out.store_op = ops.store;
  if (attachment < open.clears.size()) out.clear = open.clears[attachment];
  return out;
}

void begin_subpass(VkCommandBuffer commands) {
  const OpenPass& open = commands->pass;
  assert(open.render_pass && open.subpass < open.render_pass->subpasses.size());
  const Subpass& subpass = open.render_pass->subpasses[open.subpass];
  assert(subpass.color.size() == subpass.resolve.size() && subpass.color.size() <= kMaxColorAttachments);
  RenderingInfo info;
  info.render_area = open.area;
  info.layer_count = open.layers;
  for (size_t i = 0; i < subpass.color.size(); ++i) {
    RenderingAttachment color = attachment_of(open, subpass.color[i], false);
    if (subpass.color[i] != VK_ATTACHMENT_UNUSED && subpass.resolve[i] != VK_ATTACHMENT_UNUSED) {
      color.resolve_mode = color_resolve_mode(open.render_pass->attachments[subpass.color[i]].format);
      color.resolve_view = open.views[subpass.resolve[i]]->core;
    }
    info.color.push_back(std::move(color));
  }
  if (subpass.depth_stencil != VK_ATTACHMENT_UNUSED) {
    const vk::FormatInfo& format = *vk::find_format(open.render_pass->attachments[subpass.depth_stencil].format);
    if (format.depth_bits) info.depth = attachment_of(open, subpass.depth_stencil, false);
    if (format.stencil_bits) info.stencil = attachment_of(open, subpass.depth_stencil, true);
    if (subpass.depth_stencil_resolve != VK_ATTACHMENT_UNUSED) {
      const Ptr<tilegpu::ImageView>& target = open.views[subpass.depth_stencil_resolve]->core;
      if (format.depth_bits && subpass.depth_resolve_mode)
        info.depth.resolve_mode = subpass.depth_resolve_mode, info.depth.resolve_view = target;
      if (format.stencil_bits && subpass.stencil_resolve_mode)
        info.stencil.resolve_mode = subpass.stencil_resolve_mode, info.stencil.resolve_view = target;
    }
  }
  record(commands, commands->core->begin_rendering(info));
}

void end_subpass(VkCommandBuffer commands) { record(commands, commands->core->end_rendering()); }

void write_timestamps(VkCommandBuffer commands) {
  for (const auto& [pool, query] : commands->pass.timestamps) record(commands, commands->core->write_timestamp(pool->core, query));
  commands->pass.timestamps.clear();
}

}  // namespace

void VKAPI_CALL CmdBeginRenderPass2(VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo* begin, const VkSubpassBeginInfo*) {
  OpenPass& open = commandBuffer->pass;
  open = {};
  open.render_pass = begin->renderPass;
  open.rendering = true;
  open.area = begin->renderArea;
  open.layers = begin->framebuffer->layers;
  open.views = begin->framebuffer->views;
  if (const auto* given = find_next<VkRenderPassAttachmentBeginInfo>(begin->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO);
      given && open.views.empty())
    open.views.assign(given->pAttachments, given->pAttachments + given->attachmentCount);
  open.clears.assign(begin->pClearValues, begin->pClearValues + begin->clearValueCount);
  begin_subpass(commandBuffer);
}

void VKAPI_CALL CmdBeginRenderPass(VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo* pRenderPassBegin, VkSubpassContents) {
  CmdBeginRenderPass2(commandBuffer, pRenderPassBegin, nullptr);
}

void VKAPI_CALL CmdNextSubpass2(VkCommandBuffer commandBuffer, const VkSubpassBeginInfo*, const VkSubpassEndInfo*) {
  end_subpass(commandBuffer);
  write_timestamps(commandBuffer);
  commandBuffer->pass.subpass++;
  begin_subpass(commandBuffer);
}

void VKAPI_CALL CmdNextSubpass(VkCommandBuffer commandBuffer, VkSubpassContents) { CmdNextSubpass2(commandBuffer, nullptr, nullptr); }

void VKAPI_CALL CmdEndRenderPass2(VkCommandBuffer commandBuffer, const VkSubpassEndInfo*) {
  end_subpass(commandBuffer);
  write_timestamps(commandBuffer);
  commandBuffer->pass = {};
}

void VKAPI_CALL CmdEndRenderPass(VkCommandBuffer commandBuffer) { CmdEndRenderPass2(commandBuffer, nullptr); }

// --- dynamic rendering

static RenderingAttachment attachment_of(const VkRenderingAttachmentInfo* in) {
  RenderingAttachment out;
  if (!in || !in->imageView) return out;
  out.view = in->imageView->core;
  out.load_op = in->loadOp, out.store_op = in->storeOp;
  out.clear = in->clearValue;
  if (in->resolveMode && in->resolveImageView) out.resolve_mode = in->resolveMode, out.resolve_view = in->resolveImageView->core;
  return out;
}

void VKAPI_CALL CmdBeginRendering(VkCommandBuffer commandBuffer, const VkRenderingInfo* in) {
  if (in->viewMask) return record_missing(commandBuffer, "vkCmdBeginRendering: multiview is not there");
  RenderingInfo info;
  info.flags = in->flags & (VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT);
  info.render_area = in->renderArea;
  info.layer_count = in->layerCount;
  for (uint32_t i = 0; i < in->colorAttachmentCount; ++i) info.color.push_back(attachment_of(&in->pColorAttachments[i]));
  info.depth = attachment_of(in->pDepthAttachment);
  info.stencil = attachment_of(in->pStencilAttachment);
  commandBuffer->pass = {};
  commandBuffer->pass.rendering = true;
  commandBuffer->pass.area = in->renderArea;
  record(commandBuffer, commandBuffer->core->begin_rendering(info));
}

void VKAPI_CALL CmdEndRendering(VkCommandBuffer commandBuffer) {
  end_subpass(commandBuffer);
  write_timestamps(commandBuffer);
  commandBuffer->pass = {};
}

void VKAPI_CALL CmdClearAttachments(VkCommandBuffer commandBuffer, uint32_t attachmentCount, const VkClearAttachment* pAttachments,
                                    uint32_t rectCount, const VkClearRect* pRects) {
  for (uint32_t a = 0; a < attachmentCount; ++a) {
    const VkClearAttachment& clear = pAttachments[a];
    const bool color = clear.aspectMask & VK_IMAGE_ASPECT_COLOR_BIT;
    if (color && clear.colorAttachment == VK_ATTACHMENT_UNUSED) continue;
    for (uint32_t r = 0; r < rectCount; ++r)
      record(commandBuffer, commandBuffer->core->clear_attachment(color ? static_cast<int>(clear.colorAttachment) : -1, clear.aspectMask,
                                                                  clear.clearValue, pRects[r].rect));
  }
}

}  // namespace tilegpu::icd
