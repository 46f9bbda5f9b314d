// icd/render_pass.cpp -- render passes with subpasses, framebuffers, dynamic rendering.
//
// In: VkRenderPassCreateInfo2, VkRenderingInfo. Out: passes of the core: one for all subpasses that are one tile pass (icd/subpass.hpp).
// Source: Vulkan specification, "Render Pass".
#include <algorithm>
#include <bit>
#include <cstdio>

#include "icd/command_buffer.hpp"
#include "icd/conditional.hpp"
#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "icd/subpass.hpp"
#include "vk/format.hpp"

namespace tilegpu::icd {
namespace {

constexpr VkImageAspectFlags kEveryAspect = ~VkImageAspectFlags{0};

template <class Reference>
uint32_t attachment_of(const Reference* reference) {
  return reference ? reference->attachment : VK_ATTACHMENT_UNUSED;
}

// Vulkan 1.0 says it beside the subpasses, or means all.
VkImageAspectFlags aspects_of(const VkAttachmentReference&) { return kEveryAspect; }
VkImageAspectFlags aspects_of(const VkAttachmentReference2& reference) {
  return reference.aspectMask ? reference.aspectMask : kEveryAspect;
}

template <class Description>
Subpass subpass_of(const Description& in) {
  Subpass out;
  for (uint32_t i = 0; i < in.colorAttachmentCount; ++i) {
    out.color.push_back(in.pColorAttachments[i].attachment);
    out.resolve.push_back(attachment_of(in.pResolveAttachments ? in.pResolveAttachments + i : nullptr));
  }
  for (uint32_t i = 0; i < in.inputAttachmentCount; ++i) {
    out.inputs.push_back(in.pInputAttachments[i].attachment);
    out.input_aspects.push_back(aspects_of(in.pInputAttachments[i]));
  }
  out.depth_stencil = attachment_of(in.pDepthStencilAttachment);
  return out;
}

// With the masks of VK_KHR_synchronization2, where they are given. Those that 32 bits don't hold are no accesses of a tile.
VkSubpassDependency2 dependency_of(const VkSubpassDependency2& in) {
  VkSubpassDependency2 out = in;
  out.pNext = nullptr;
  const auto* barrier = find_next<VkMemoryBarrier2>(in.pNext, VK_STRUCTURE_TYPE_MEMORY_BARRIER_2);
  if (!barrier) return out;
  const auto narrow = [](uint64_t mask, uint32_t otherwise) { return mask >> 32 ? otherwise : static_cast<uint32_t>(mask); };
  out.srcStageMask = narrow(barrier->srcStageMask, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  out.dstStageMask = narrow(barrier->dstStageMask, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  out.srcAccessMask = narrow(barrier->srcAccessMask, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
  out.dstAccessMask = narrow(barrier->dstAccessMask, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
  return out;
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
    for (const uint32_t a : subpass.inputs) note(a, s);
    note(subpass.depth_stencil, s);
    note(subpass.depth_stencil_resolve, s);
    note(subpass.shading_rate, s);
  }
}

// What a program can learn of its subpasses, where it listens to VERBOSE messages.
void explain_tile_passes(VkDevice device, const VkRenderPass_T& pass, const std::vector<std::optional<Apart>>& apart) {
  const bool fetches = std::any_of(pass.subpasses.begin(), pass.subpasses.end(), [](const Subpass& s) { return !s.fetched.empty(); });
  const std::string single_sampled = explain_single_sampled(pass);
  if (pass.subpasses.size() < 2 && !fetches && single_sampled.empty()) return;
  std::string text = "render pass: " + std::to_string(pass.subpasses.size()) +
                     (pass.subpasses.size() == 1 ? " subpass is " : " subpasses are ") + std::to_string(pass.tile_passes.size()) +
                     (pass.tile_passes.size() == 1 ? " tile pass" : " tile passes");
  for (size_t s = 1; s < apart.size(); ++s)
    if (apart[s]) text += "; subpass " + std::to_string(s) + " begins another tile pass: " + apart[s]->why;
  for (size_t s = 0; s < pass.subpasses.size(); ++s)
    for (const uint32_t a : pass.subpasses[s].fetched)
      text += "; subpass " + std::to_string(s) + " reads input attachment " + std::to_string(a) +
              " from memory: " + why_fetched(pass, pass.subpasses[s], a);
  text += single_sampled;
  if (Explained* explained = Explained::asked()) explained->made_pass(text);
  say(device->instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT, text);
}

// VK_EXT_subpass_merge_feedback: the same, where it was asked for in the chains.
void give_feedback(const VkRenderPassCreateInfo2& info, const VkRenderPass_T& pass, const std::vector<std::optional<Apart>>& apart) {
  assert(apart.size() == pass.subpasses.size());
  using OfPass = VkRenderPassCreationFeedbackCreateInfoEXT;
  if (const auto* asked = find_next<OfPass>(info.pNext, VK_STRUCTURE_TYPE_RENDER_PASS_CREATION_FEEDBACK_CREATE_INFO_EXT))
    asked->pRenderPassFeedback->postMergeSubpassCount = static_cast<uint32_t>(pass.tile_passes.size());
  for (uint32_t s = 0; s < info.subpassCount; ++s) {
    using OfSubpass = VkRenderPassSubpassFeedbackCreateInfoEXT;
    const auto* asked = find_next<OfSubpass>(info.pSubpasses[s].pNext, VK_STRUCTURE_TYPE_RENDER_PASS_SUBPASS_FEEDBACK_CREATE_INFO_EXT);
    if (!asked) continue;
    VkRenderPassSubpassFeedbackInfoEXT& out = *asked->pSubpassFeedback;
    out.subpassMergeStatus = apart[s] ? apart[s]->status : VK_SUBPASS_MERGE_STATUS_MERGED_EXT;
    out.postMergeIndex = pass.subpasses[s].tile_pass;
    std::snprintf(out.description, sizeof out.description, "%s", apart[s] ? apart[s]->why.c_str() : "in the tile pass of the one before");
  }
}

bool keeps_apart(const void* next) {
  const auto* control = find_next<VkRenderPassCreationControlEXT>(next, VK_STRUCTURE_TYPE_RENDER_PASS_CREATION_CONTROL_EXT);
  return control && control->disallowMerging;
}

// VK_EXT_multisampled_render_to_single_sampled, of a subpass or of dynamic rendering; 0: not enabled.
uint32_t single_sampled_of(const void* next) {
  using Info = VkMultisampledRenderToSingleSampledInfoEXT;
  const auto* info = find_next<Info>(next, VK_STRUCTURE_TYPE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_INFO_EXT);
  return info && info->multisampledRenderToSingleSampledEnable ? static_cast<uint32_t>(given(info->rasterizationSamples)) : 0;
}

// Every attachment that a subpass names is there: tables are looked up by these numbers from here on.
Status check_references(const VkRenderPass_T& pass) {
  if (pass.subpasses.empty()) return Error{VK_ERROR_VALIDATION_FAILED_EXT, "subpassCount is 0; at least one is needed"};
  for (size_t s = 0; s < pass.subpasses.size(); ++s) {
    const Subpass& subpass = pass.subpasses[s];
    std::vector<uint32_t> named = subpass.color;
    named.insert(named.end(), subpass.resolve.begin(), subpass.resolve.end());
    named.insert(named.end(), subpass.inputs.begin(), subpass.inputs.end());
    named.insert(named.end(), {subpass.depth_stencil, subpass.depth_stencil_resolve, subpass.shading_rate});
    for (const uint32_t a : named)
      if (a != VK_ATTACHMENT_UNUSED && a >= pass.attachments.size())
        return Error{VK_ERROR_VALIDATION_FAILED_EXT, "subpass " + std::to_string(s) + " names attachment " + std::to_string(a) +
                                                         "; there are " + std::to_string(pass.attachments.size())};
  }
  return Ok{};
}

// `info`: null for those of Vulkan 1.0.
VkResult finish(VkDevice device, std::unique_ptr<VkRenderPass_T> pass, const VkRenderPassCreateInfo2* info, VkRenderPass* out) {
  if (Status ok = check_references(*pass); !ok) return fail(device, ok.error().code, "render pass: " + ok.error().message);
  for (size_t i = 0; i < pass->attachments.size(); ++i)
    if (!vk::find_format(pass->attachments[i].format))
      return fail(
          device, VK_ERROR_FORMAT_NOT_SUPPORTED,
          "render pass: attachment " + std::to_string(i) + ": format " + std::to_string(pass->attachments[i].format) + " is not there");
  std::vector<std::optional<Apart>> apart;
  if (Status ok = group_subpasses(*pass, apart); !ok) return fail(device, ok.error().code, "render pass: " + ok.error().message);
  explain_tile_passes(device, *pass, apart);
  if (info) give_feedback(*info, *pass, apart);
  note_uses(*pass);
  *out = pass.release();
  return VK_SUCCESS;
}

}  // namespace

VkResult VKAPI_CALL CreateRenderPass(VkDevice device, const VkRenderPassCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                     VkRenderPass* pRenderPass) {
  auto pass = std::make_unique<VkRenderPass_T>();
  for (uint32_t i = 0; i < pCreateInfo->attachmentCount; ++i) {
    const VkAttachmentDescription& in = pCreateInfo->pAttachments[i];
    VkAttachmentDescription2 a{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2};
    a.flags = in.flags, a.format = given(in.format), a.samples = given(in.samples);
    a.loadOp = given(in.loadOp), a.storeOp = given(in.storeOp);
    a.stencilLoadOp = given(in.stencilLoadOp), a.stencilStoreOp = given(in.stencilStoreOp);
    pass->attachments.push_back(a);
  }
  for (uint32_t i = 0; i < pCreateInfo->subpassCount; ++i) pass->subpasses.push_back(subpass_of(pCreateInfo->pSubpasses[i]));
  const auto* views = find_next<VkRenderPassMultiviewCreateInfo>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO);
  for (uint32_t i = 0; views && i < std::min(views->subpassCount, pCreateInfo->subpassCount); ++i)
    pass->subpasses[i].view_mask = views->pViewMasks[i];
  using Aspects = VkRenderPassInputAttachmentAspectCreateInfo;
  const auto* aspects = find_next<Aspects>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_INPUT_ATTACHMENT_ASPECT_CREATE_INFO);
  for (uint32_t i = 0; aspects && i < aspects->aspectReferenceCount; ++i) {
    const VkInputAttachmentAspectReference& of = aspects->pAspectReferences[i];
    if (of.subpass < pass->subpasses.size() && of.inputAttachmentIndex < pass->subpasses[of.subpass].inputs.size())
      pass->subpasses[of.subpass].input_aspects[of.inputAttachmentIndex] = of.aspectMask;
  }
  for (uint32_t i = 0; i < pCreateInfo->dependencyCount; ++i) {
    const VkSubpassDependency& d = pCreateInfo->pDependencies[i];
    pass->dependencies.push_back({VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2, nullptr, d.srcSubpass, d.dstSubpass, d.srcStageMask,
                                  d.dstStageMask, d.srcAccessMask, d.dstAccessMask, d.dependencyFlags, 0});
  }
  return finish(device, std::move(pass), nullptr, pRenderPass);
}

VkResult VKAPI_CALL CreateRenderPass2(VkDevice device, const VkRenderPassCreateInfo2* pCreateInfo, const VkAllocationCallbacks*,
                                      VkRenderPass* pRenderPass) {
  auto pass = std::make_unique<VkRenderPass_T>();
  pass->attachments.assign(pCreateInfo->pAttachments, pCreateInfo->pAttachments + pCreateInfo->attachmentCount);
  for (VkAttachmentDescription2& a : pass->attachments) {
    a.pNext = nullptr;
    a.format = given(a.format), a.samples = given(a.samples);
    a.loadOp = given(a.loadOp), a.storeOp = given(a.storeOp);
    a.stencilLoadOp = given(a.stencilLoadOp), a.stencilStoreOp = given(a.stencilStoreOp);
  }
  pass->keeps_apart = keeps_apart(pCreateInfo->pNext);
  for (uint32_t i = 0; i < pCreateInfo->subpassCount; ++i) {
    const VkSubpassDescription2& in = pCreateInfo->pSubpasses[i];
    Subpass subpass = subpass_of(in);
    subpass.view_mask = in.viewMask;
    subpass.keeps_apart = keeps_apart(in.pNext);
    using Resolve = VkSubpassDescriptionDepthStencilResolve;
    if (const auto* resolve = find_next<Resolve>(in.pNext, VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE)) {
      subpass.depth_stencil_resolve = attachment_of(resolve->pDepthStencilResolveAttachment);
      subpass.depth_resolve_mode = given(resolve->depthResolveMode), subpass.stencil_resolve_mode = given(resolve->stencilResolveMode);
      if (subpass.depth_stencil_resolve < pass->attachments.size()) {  // of an aspect that the target has not the mode says nothing
        const vk::FormatInfo* const has = vk::find_format(pass->attachments[subpass.depth_stencil_resolve].format);
        if (has && !has->depth_bits) subpass.depth_resolve_mode = VK_RESOLVE_MODE_NONE;
        if (has && !has->stencil_bits) subpass.stencil_resolve_mode = VK_RESOLVE_MODE_NONE;
      }
    }
    subpass.single_sampled = single_sampled_of(in.pNext);
    using Rates = VkFragmentShadingRateAttachmentInfoKHR;
    if (const auto* rates = find_next<Rates>(in.pNext, VK_STRUCTURE_TYPE_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR)) {
      subpass.shading_rate = attachment_of(rates->pFragmentShadingRateAttachment);
      subpass.shading_rate_texel = rates->shadingRateAttachmentTexelSize;
    }
    pass->subpasses.push_back(std::move(subpass));
  }
  for (uint32_t i = 0; i < pCreateInfo->dependencyCount; ++i) pass->dependencies.push_back(dependency_of(pCreateInfo->pDependencies[i]));
  return finish(device, std::move(pass), pCreateInfo, pRenderPass);
}

void VKAPI_CALL DestroyRenderPass(VkDevice device, VkRenderPass renderPass, const VkAllocationCallbacks*) { discard(device, renderPass); }

void VKAPI_CALL GetRenderAreaGranularity(VkDevice, VkRenderPass, VkExtent2D* pGranularity) { *pGranularity = {1, 1}; }

void VKAPI_CALL GetRenderingAreaGranularity(VkDevice, const VkRenderingAreaInfo*, VkExtent2D* pGranularity) { *pGranularity = {1, 1}; }

VkResult VKAPI_CALL CreateFramebuffer(VkDevice, const VkFramebufferCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                      VkFramebuffer* out) {
  auto* framebuffer = new VkFramebuffer_T{{}, pCreateInfo->width, pCreateInfo->height, pCreateInfo->layers};
  if (!(pCreateInfo->flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT))
    framebuffer->views.assign(pCreateInfo->pAttachments, pCreateInfo->pAttachments + pCreateInfo->attachmentCount);
  *out = framebuffer;
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyFramebuffer(VkDevice device, VkFramebuffer framebuffer, const VkAllocationCallbacks*) {
  discard(device, framebuffer);
}

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

// Views of a subpass: those of its mask, or the one that there is.
uint32_t views_of(const Subpass& subpass) { return subpass.view_mask ? subpass.view_mask : 1; }

bool uses(const Subpass& subpass, uint32_t attachment) {
  const auto has = [&](const std::vector<uint32_t>& list) { return std::find(list.begin(), list.end(), attachment) != list.end(); };
  return has(subpass.color) || has(subpass.resolve) || has(subpass.inputs) || subpass.depth_stencil == attachment ||
         subpass.depth_stencil_resolve == attachment || subpass.shading_rate == attachment;
}

// Views of the tile pass that an earlier subpass used the attachment with: their contents are kept.
uint32_t views_before(const VkRenderPass_T& pass, uint32_t attachment, const TilePass& tiles) {
  uint32_t before = 0;
  for (uint32_t s = pass.uses[attachment].first; s < tiles.first; ++s)
    if (uses(pass.subpasses[s], attachment)) before |= views_of(pass.subpasses[s]);
  return before & views_of(pass.subpasses[tiles.first]);
}

// The attachment's own at its first and last use, view by view; between tile passes contents are kept. Where views differ all are loaded,
// and those that are new cleared afterwards.
Ops ops_of(const VkRenderPass_T& pass, uint32_t attachment, const TilePass& tiles, bool stencil) {
  assert(pass.uses.size() == pass.attachments.size());
  const VkAttachmentDescription2& a = pass.attachments[attachment];
  const auto [first, last] = pass.uses[attachment];
  assert(first <= tiles.last && tiles.first <= last);
  return {views_before(pass, attachment, tiles) ? VK_ATTACHMENT_LOAD_OP_LOAD
          : stencil                             ? a.stencilLoadOp
                                                : a.loadOp,
          last > tiles.last ? VK_ATTACHMENT_STORE_OP_STORE
          : stencil         ? a.stencilStoreOp
                            : a.storeOp};
}

// What ops_of left: clears of the views of an attachment that no subpass used before, where others were.
void clear_new_views(VkCommandBuffer commands, const TilePass& tiles, uint32_t attachment, int slot) {
  const OpenPass& open = commands->pass;
  const VkRenderPass_T& pass = *open.render_pass;
  if (attachment == VK_ATTACHMENT_UNUSED || attachment >= open.clears.size()) return;
  const VkAttachmentDescription2& a = pass.attachments[attachment];
  const vk::FormatInfo& format = *vk::find_format(a.format);
  const bool clears = a.loadOp == VK_ATTACHMENT_LOAD_OP_CLEAR;
  VkImageAspectFlags aspects = slot >= 0 && clears ? VK_IMAGE_ASPECT_COLOR_BIT : 0;
  if (slot < 0 && clears && format.depth_bits) aspects |= VK_IMAGE_ASPECT_DEPTH_BIT;
  if (slot < 0 && a.stencilLoadOp == VK_ATTACHMENT_LOAD_OP_CLEAR && format.stencil_bits) aspects |= VK_IMAGE_ASPECT_STENCIL_BIT;
  const uint32_t before = views_before(pass, attachment, tiles);
  if (!before || !aspects) return;
  for (uint32_t left = views_of(pass.subpasses[tiles.first]) & ~before; left; left &= left - 1)
    record(commands, commands->core->clear_attachment(slot, aspects, open.clears[attachment], open.area,
                                                      static_cast<uint32_t>(std::countr_zero(left)), 1, true));
}

// That no subpass of the tile pass draws to it: some read it.
bool is_only_read(const VkRenderPass_T& pass, const TilePass& tiles, uint32_t attachment) {
  assert(attachment < pass.attachments.size() && tiles.last < pass.subpasses.size());
  for (uint32_t s = tiles.first; s <= tiles.last; ++s) {
    const Subpass& subpass = pass.subpasses[s];
    if (subpass.depth_stencil == attachment || location_of(subpass, attachment) != VK_ATTACHMENT_UNUSED) return false;
  }
  return tiles.depth_stencil_resolve != attachment;
}

RenderingAttachment attachment_of(const OpenPass& open, const TilePass& tiles, uint32_t attachment, bool stencil) {
  RenderingAttachment out;
  if (attachment == VK_ATTACHMENT_UNUSED) return out;
  assert(attachment < open.views.size() && open.views[attachment]);
  const Ops ops = ops_of(*open.render_pass, attachment, tiles, stencil);
  out.view = open.views[attachment]->core;
  out.load_op = ops.load, out.store_op = ops.store;
  if (attachment < open.clears.size()) out.clear = open.clears[attachment];
  out.input_only = is_only_read(*open.render_pass, tiles, attachment);
  return out;
}

/// Of this device alone, where it is given (VkDeviceGroupRenderPassBeginInfo).
VkRect2D area_of(const void* next, const VkRect2D& area) {
  const auto* group = find_next<VkDeviceGroupRenderPassBeginInfo>(next, VK_STRUCTURE_TYPE_DEVICE_GROUP_RENDER_PASS_BEGIN_INFO);
  return group && group->deviceRenderAreaCount ? group->pDeviceRenderAreas[0] : area;
}

// What the program calls it: the open labels, or the render pass.
std::string pass_label(VkCommandBuffer commands, VkRenderPass pass) {
  std::string label;
  for (const std::string& open : commands->labels) label += (label.empty() ? "" : " / ") + open;
  return label.empty() && pass ? pass->name : label;
}

// The attachment's clears, and nothing else: a pass of its own.
void clear_apart(VkCommandBuffer commands, const TilePass& tiles, uint32_t attachment, VkImageAspectFlags aspects, uint32_t view_mask) {
  const OpenPass& open = commands->pass;
  assert(attachment < open.views.size() && attachment < open.render_pass->attachments.size());
  const VkAttachmentDescription2& a = open.render_pass->attachments[attachment];
  const vk::FormatInfo& format = *vk::find_format(a.format);
  const bool is_read = attachment != tiles.depth_stencil_resolve;  // by the tile pass
  const auto cleared = [&](bool stencil) {
    RenderingAttachment out = attachment_of(open, tiles, attachment, stencil);
    out.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
    if (is_read) out.store_op = VK_ATTACHMENT_STORE_OP_STORE;
    return out;
  };
  RenderingInfo info;
  info.label = pass_label(commands, open.render_pass);
  info.render_area = open.area;
  info.layer_count = open.layers;
  info.view_mask = view_mask;
  if (!format.is_depth_stencil() && aspects & VK_IMAGE_ASPECT_COLOR_BIT && a.loadOp == VK_ATTACHMENT_LOAD_OP_CLEAR)
    info.color.push_back(cleared(false));
  if (format.depth_bits && aspects & VK_IMAGE_ASPECT_DEPTH_BIT && a.loadOp == VK_ATTACHMENT_LOAD_OP_CLEAR) info.depth = cleared(false);
  if (format.stencil_bits && aspects & VK_IMAGE_ASPECT_STENCIL_BIT && a.stencilLoadOp == VK_ATTACHMENT_LOAD_OP_CLEAR)
    info.stencil = cleared(true);
  if (info.color.empty() && !info.depth.view && !info.stencil.view) return;
  const Status begun = commands->core->begin_rendering(info);
  record(commands, begun ? commands->core->end_rendering() : begun);
}

// What a tile pass uses and has no place for is cleared at its first use as any attachment is: the target of a resolve where no resolve
// writes it (an aspect whose mode is NONE), and inputs that are read from memory.
void clear_outside(VkCommandBuffer commands, const TilePass& tiles) {
  const VkRenderPass_T& pass = *commands->pass.render_pass;
  const uint32_t view_mask = pass.subpasses[tiles.first].view_mask;
  const uint32_t target = tiles.depth_stencil_resolve;
  if (target != VK_ATTACHMENT_UNUSED && pass.uses[target].first >= tiles.first)
    clear_apart(commands, tiles, target,
                (tiles.depth_resolve_mode ? 0 : VK_IMAGE_ASPECT_DEPTH_BIT) | (tiles.stencil_resolve_mode ? 0 : VK_IMAGE_ASPECT_STENCIL_BIT),
                view_mask);
  std::vector<uint32_t> fetched;
  for (uint32_t s = tiles.first; s <= tiles.last; ++s)
    for (const uint32_t a : pass.subpasses[s].fetched)
      if (std::find(fetched.begin(), fetched.end(), a) == fetched.end()) fetched.push_back(a);
  constexpr VkImageAspectFlags kAll = VK_IMAGE_ASPECT_COLOR_BIT | VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
  for (const uint32_t a : fetched) {
    const uint32_t before = views_before(pass, a, tiles);
    if (!view_mask ? !before : (view_mask & ~before) != 0) clear_apart(commands, tiles, a, kAll, view_mask & ~before);
  }
}

void begin_tile_pass(VkCommandBuffer commands) {
  const OpenPass& open = commands->pass;
  assert(open.render_pass && open.subpass < open.render_pass->subpasses.size());
  const TilePass& tiles = open.render_pass->tile_passes[open.render_pass->subpasses[open.subpass].tile_pass];
  assert(tiles.first == open.subpass && tiles.color.size() == tiles.resolve.size() && tiles.color.size() <= kMaxColorAttachments);
  suspend_condition(commands);
  clear_outside(commands, tiles);
  RenderingInfo info;
  info.label = pass_label(commands, open.render_pass);
  info.render_area = open.area;
  info.layer_count = open.layers;
  info.view_mask = open.render_pass->subpasses[open.subpass].view_mask;
  info.single_sampled_samples = tiles.single_sampled;
  for (size_t i = 0; i < tiles.color.size(); ++i) {
    RenderingAttachment color = attachment_of(open, tiles, tiles.color[i], false);
    if (tiles.color[i] != VK_ATTACHMENT_UNUSED && tiles.resolve[i] != VK_ATTACHMENT_UNUSED) {
      color.resolve_mode = color_resolve_mode(open.render_pass->attachments[tiles.color[i]].format);
      color.resolve_view = open.views[tiles.resolve[i]]->core;
    }
    info.color.push_back(std::move(color));
  }
  if (tiles.depth_stencil != VK_ATTACHMENT_UNUSED) {
    const vk::FormatInfo& format = *vk::find_format(open.render_pass->attachments[tiles.depth_stencil].format);
    if (format.depth_bits) info.depth = attachment_of(open, tiles, tiles.depth_stencil, false);
    if (format.stencil_bits) info.stencil = attachment_of(open, tiles, tiles.depth_stencil, true);
    if (tiles.single_sampled && open.render_pass->attachments[tiles.depth_stencil].samples == VK_SAMPLE_COUNT_1_BIT)
      info.depth.resolve_mode = tiles.depth_resolve_mode, info.stencil.resolve_mode = tiles.stencil_resolve_mode;
    if (tiles.depth_stencil_resolve != VK_ATTACHMENT_UNUSED) {
      const Ptr<tilegpu::ImageView>& target = open.views[tiles.depth_stencil_resolve]->core;
      if (format.depth_bits && tiles.depth_resolve_mode)
        info.depth.resolve_mode = tiles.depth_resolve_mode, info.depth.resolve_view = target;
      if (format.stencil_bits && tiles.stencil_resolve_mode)
        info.stencil.resolve_mode = tiles.stencil_resolve_mode, info.stencil.resolve_view = target;
    }
  }
  const Subpass& first = open.render_pass->subpasses[tiles.first];
  if (first.shading_rate != VK_ATTACHMENT_UNUSED) info.shading_rate = {open.views[first.shading_rate]->core, first.shading_rate_texel};
  const Status begun = commands->core->begin_rendering(info);
  record(commands, begun);
  if (!begun) return;
  for (size_t i = 0; i < tiles.color.size(); ++i) clear_new_views(commands, tiles, tiles.color[i], static_cast<int>(i));
  clear_new_views(commands, tiles, tiles.depth_stencil, -1);
  resume_condition(commands);
}

// That there is a view for each attachment that a subpass uses.
Status check_views(const OpenPass& open) {
  assert(open.render_pass);
  const VkRenderPass_T& pass = *open.render_pass;
  for (size_t i = 0; i < pass.attachments.size(); ++i)
    if (pass.uses[i].first != VK_SUBPASS_EXTERNAL && (i >= open.views.size() || !open.views[i]))
      return Error{VK_ERROR_VALIDATION_FAILED_EXT, "vkCmdBeginRenderPass: the framebuffer has no view for attachment " + std::to_string(i) +
                                                       " of " + std::to_string(pass.attachments.size())};
  return Ok{};
}

void end_tile_pass(VkCommandBuffer commands) {
  suspend_condition(commands);
  record(commands, commands->core->end_rendering());
  resume_condition(commands);
}

void write_timestamps(VkCommandBuffer commands) {
  for (const auto& [pool, query] : commands->pass.timestamps) record(commands, commands->core->write_timestamp(pool->core, query));
  commands->pass.timestamps.clear();
}

}  // namespace

void VKAPI_CALL CmdBeginRenderPass2(VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo* begin, const VkSubpassBeginInfo*) {
  OpenPass& open = commandBuffer->pass;
  open = {};
  commandBuffer->shaders.changed = true;
  open.render_pass = begin->renderPass;
  open.rendering = true;
  open.area = area_of(begin->pNext, begin->renderArea);
  open.layers = begin->framebuffer->layers;
  open.views = begin->framebuffer->views;
  if (const auto* given = find_next<VkRenderPassAttachmentBeginInfo>(begin->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO);
      given && open.views.empty())
    open.views.assign(given->pAttachments, given->pAttachments + given->attachmentCount);
  open.clears.assign(begin->pClearValues, begin->pClearValues + begin->clearValueCount);
  if (Status ok = check_views(open); !ok) {
    open = {};
    return record(commandBuffer, ok);
  }
  begin_tile_pass(commandBuffer);
}

void VKAPI_CALL CmdBeginRenderPass(VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo* pRenderPassBegin, VkSubpassContents) {
  CmdBeginRenderPass2(commandBuffer, pRenderPassBegin, nullptr);
}

void VKAPI_CALL CmdNextSubpass2(VkCommandBuffer commandBuffer, const VkSubpassBeginInfo*, const VkSubpassEndInfo*) {
  OpenPass& open = commandBuffer->pass;
  if (!open.render_pass || open.subpass + 1 >= open.render_pass->subpasses.size())
    return record(commandBuffer, Error{VK_ERROR_VALIDATION_FAILED_EXT, "vkCmdNextSubpass: there is no next subpass"});
  const std::vector<Subpass>& subpasses = open.render_pass->subpasses;
  open.subpass++;
  if (subpasses[open.subpass].tile_pass == subpasses[open.subpass - 1].tile_pass) return;
  end_tile_pass(commandBuffer);
  write_timestamps(commandBuffer);
  begin_tile_pass(commandBuffer);
}

void VKAPI_CALL CmdNextSubpass(VkCommandBuffer commandBuffer, VkSubpassContents) { CmdNextSubpass2(commandBuffer, nullptr, nullptr); }

void VKAPI_CALL CmdEndRenderPass2(VkCommandBuffer commandBuffer, const VkSubpassEndInfo*) {
  end_tile_pass(commandBuffer);
  write_timestamps(commandBuffer);
  commandBuffer->pass = {};
}

void VKAPI_CALL CmdEndRenderPass(VkCommandBuffer commandBuffer) { CmdEndRenderPass2(commandBuffer, nullptr); }

// --- dynamic rendering

static RenderingAttachment attachment_of(const VkRenderingAttachmentInfo* in, bool single_sampled) {
  RenderingAttachment out;
  if (!in || !in->imageView) return out;
  out.view = in->imageView->core;
  out.load_op = given(in->loadOp), out.store_op = given(in->storeOp);
  out.clear = in->clearValue;
  const VkResolveModeFlagBits mode = given(in->resolveMode);
  if (mode && in->resolveImageView) out.resolve_mode = mode, out.resolve_view = in->resolveImageView->core;
  if (single_sampled && mode && out.view->image()->sample_count() == 1) out.resolve_mode = mode;
  return out;
}

static RenderingTargets targets_of(const RenderingInfo& info) {
  RenderingTargets out;
  const auto format_of = [](const RenderingAttachment& a) { return a.view ? a.view->info().format : VK_FORMAT_UNDEFINED; };
  out.colors = std::min(static_cast<uint32_t>(info.color.size()), kMaxColorAttachments);
  for (uint32_t i = 0; i < out.colors; ++i) out.color[i] = format_of(info.color[i]);
  out.depth = format_of(info.depth), out.stencil = format_of(info.stencil);
  return out;
}

/// Render passes resolve depth and stencil to formats that have one of them alone, these don't
/// (VUID-VkRenderingAttachmentInfo-imageView-06865).
static Status begin_checked(VkCommandBuffer commands, const RenderingInfo& info) {
  for (const RenderingAttachment* a : {&info.depth, &info.stencil})
    if (a->resolve_view && a->resolve_view->info().format != a->view->info().format)
      return Error{VK_ERROR_VALIDATION_FAILED_EXT, "vkCmdBeginRendering: resolveImageView has the format " +
                                                       format_name(a->resolve_view->info().format) + ", imageView " +
                                                       format_name(a->view->info().format) + "; give both the same, or use a render pass"};
  return commands->core->begin_rendering(info);
}

void VKAPI_CALL CmdBeginRendering(VkCommandBuffer commandBuffer, const VkRenderingInfo* in) {
  RenderingInfo info;
  info.flags = in->flags & (VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT);
  info.label = pass_label(commandBuffer, nullptr);
  info.render_area = area_of(in->pNext, in->renderArea);
  info.layer_count = std::max(1U, in->layerCount);
  info.view_mask = in->viewMask;
  const uint32_t samples = info.single_sampled_samples = single_sampled_of(in->pNext);
  for (uint32_t i = 0; i < in->colorAttachmentCount; ++i) info.color.push_back(attachment_of(&in->pColorAttachments[i], samples));
  info.depth = attachment_of(in->pDepthAttachment, samples);
  info.stencil = attachment_of(in->pStencilAttachment, samples);
  using Rates = VkRenderingFragmentShadingRateAttachmentInfoKHR;
  const auto* rates = find_next<Rates>(in->pNext, VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR);
  if (rates && rates->imageView) info.shading_rate = {rates->imageView->core, rates->shadingRateAttachmentTexelSize};
  commandBuffer->pass = {};
  commandBuffer->pass.rendering = true;
  commandBuffer->pass.area = info.render_area;
  commandBuffer->pass.view_mask = in->viewMask;
  commandBuffer->pass.targets = targets_of(info);
  commandBuffer->shaders.changed = true;
  for (size_t i = 0; i < info.color.size() && i < kMaxColorAttachments; ++i)
    if (!info.color[i].view) commandBuffer->pass.unbacked_colors |= 1U << i;
  commandBuffer->pass.unbacked = (info.depth.view ? 0 : VK_IMAGE_ASPECT_DEPTH_BIT) | (info.stencil.view ? 0 : VK_IMAGE_ASPECT_STENCIL_BIT);
  suspend_condition(commandBuffer);
  record(commandBuffer, begin_checked(commandBuffer, info));
  resume_condition(commandBuffer);
}

void VKAPI_CALL CmdEndRendering(VkCommandBuffer commandBuffer) {
  end_tile_pass(commandBuffer);
  write_timestamps(commandBuffer);
  commandBuffer->pass = {};
}

// Where a colour of the open subpass lies in its pass; VK_ATTACHMENT_UNUSED: nowhere, and a clear does nothing.
static uint32_t slot_of_color(const OpenPass& open, uint32_t color) {
  if (!open.render_pass) return color < kMaxColorAttachments && open.unbacked_colors >> color & 1 ? VK_ATTACHMENT_UNUSED : color;
  const Subpass& subpass = open.render_pass->subpasses[open.subpass];
  if (color >= subpass.color.size() || subpass.color[color] == VK_ATTACHMENT_UNUSED) return VK_ATTACHMENT_UNUSED;
  return slot_of(open.render_pass->tile_passes[subpass.tile_pass], subpass.color[color]);
}

void VKAPI_CALL CmdClearAttachments(VkCommandBuffer commandBuffer, uint32_t attachmentCount, const VkClearAttachment* pAttachments,
                                    uint32_t rectCount, const VkClearRect* pRects) {
  const OpenPass& open = commandBuffer->pass;
  // A pass with views clears each of them, and names layer 0 alone.
  const bool views = open.render_pass ? open.render_pass->subpasses[open.subpass].view_mask : open.view_mask;
  const bool no_depth =
      open.render_pass && open.render_pass->subpasses[open.subpass].depth_stencil == VK_ATTACHMENT_UNUSED;  // of the subpass
  for (uint32_t a = 0; a < attachmentCount; ++a) {
    const VkClearAttachment& clear = pAttachments[a];
    const bool color = clear.aspectMask & VK_IMAGE_ASPECT_COLOR_BIT;
    const uint32_t slot =
        color && clear.colorAttachment != VK_ATTACHMENT_UNUSED ? slot_of_color(open, clear.colorAttachment) : VK_ATTACHMENT_UNUSED;
    const VkImageAspectFlags aspects = clear.aspectMask & ~open.unbacked;  // Vulkan: what no view is behind has no effect
    if (color ? slot == VK_ATTACHMENT_UNUSED : no_depth || !aspects) continue;
    for (uint32_t r = 0; r < rectCount; ++r)
      record(commandBuffer, commandBuffer->core->clear_attachment(color ? static_cast<int>(slot) : -1, aspects, clear.clearValue,
                                                                  pRects[r].rect, views ? 0 : pRects[r].baseArrayLayer,
                                                                  views ? VK_REMAINING_ARRAY_LAYERS : pRects[r].layerCount));
  }
}

}  // namespace tilegpu::icd
