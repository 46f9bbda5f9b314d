// fuzz/driver/passes.cpp -- render passes of both kinds with subpasses and input attachments, framebuffers, dynamic rendering with parts
// and local reads; draws in them, by secondary command buffers too; dispatches.
//
// In: choices. Out: passes that Vulkan allows. Source: Vulkan specification, "Render Pass", "Drawing Commands", "Dispatching Commands".
#include <algorithm>

#include "driver/formats.hpp"
#include "driver/world.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr uint32_t kMostDraws = 40;
constexpr VkImageAspectFlags kColor = VK_IMAGE_ASPECT_COLOR_BIT;

VkAttachmentLoadOp load_op(Choices& c) { return static_cast<VkAttachmentLoadOp>(c.below(3)); }
VkAttachmentStoreOp store_op(Choices& c) { return c.seldom(4) ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE; }
VkClearValue clear_value(Choices& c, VkFormat format) {
  VkClearValue value{};
  const vk::FormatInfo* const info = vk::find_format(format);
  if (info && info->is_depth_stencil()) return value.depthStencil = {c.unit(), c.byte()}, value;
  if (info && info->is_integer()) return value.color.uint32[0] = c.byte(), value.color.uint32[1] = 3, value;
  for (float& x : value.color.float32) x = c.unit();
  return value;
}
bool has_one_aspect(VkFormat format) {
  const vk::FormatInfo* const info = vk::find_format(format);
  return info && !(info->depth_bits && info->stencil_bits);
}

/// A render pass, by attachments and subpasses.
struct PassPlan {
  std::vector<VkAttachmentDescription2> attachments;
  struct Subpass {
    std::vector<VkAttachmentReference2> colors, resolves, inputs;
    VkAttachmentReference2 depth{};
    bool has_depth = false;
  };
  std::vector<Subpass> subpasses;
  std::vector<VkSubpassDependency2> dependencies;
  uint32_t view_mask = 0, colors = 0;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
};

VkAttachmentReference2 reference(uint32_t attachment, VkImageAspectFlags aspects) {
  return {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, nullptr, attachment, VK_IMAGE_LAYOUT_GENERAL, aspects};
}

void add_attachment(Choices& c, PassPlan& plan, VkFormat format, VkSampleCountFlagBits samples) {
  VkAttachmentDescription2 a{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2};
  a.format = format, a.samples = samples, a.loadOp = load_op(c), a.storeOp = store_op(c);
  a.stencilLoadOp = load_op(c), a.stencilStoreOp = store_op(c);
  a.initialLayout = a.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
  plan.attachments.push_back(a);
}

void plan_subpass(Choices& c, PassPlan& plan, uint32_t s, bool has_depth, bool resolves) {
  PassPlan::Subpass& out = plan.subpasses.emplace_back();
  std::vector<bool> drawn(plan.attachments.size());
  for (uint32_t a = 0; a < plan.colors; ++a) {
    const bool unused = plan.subpasses.capacity() && c.seldom(4);
    out.colors.push_back(reference(unused ? VK_ATTACHMENT_UNUSED : a, kColor));
    drawn[a] = !unused;
  }
  out.has_depth = has_depth && !c.seldom(3);
  out.depth = reference(plan.colors, aspects_of(*vk::find_format(plan.attachments.back().format)));
  if (s > 0)
    for (uint32_t a = 0; a < plan.colors + (has_depth ? 1 : 0) && out.inputs.size() < 4; ++a) {
      const bool depth = a == plan.colors;
      if (depth ? out.has_depth || !has_one_aspect(plan.attachments[a].format) : drawn[a]) continue;
      out.inputs.push_back(reference(a, depth ? aspects_of(*vk::find_format(plan.attachments[a].format)) : kColor));
    }
  if (!resolves) return;
  const auto first = static_cast<uint32_t>(plan.colors + (has_depth ? 1 : 0));
  for (uint32_t a = 0; a < plan.colors; ++a) out.resolves.push_back(reference(drawn[a] && a == 0 ? first : VK_ATTACHMENT_UNUSED, kColor));
}

PassPlan plan_of(Choices& c) {
  PassPlan plan;
  plan.samples = c.seldom(3) ? static_cast<VkSampleCountFlagBits>(1 << c.below(5)) : VK_SAMPLE_COUNT_1_BIT;
  plan.view_mask = c.seldom(6) ? 3 : 0;
  plan.colors = 1 + c.below(3);
  for (uint32_t a = 0; a < plan.colors; ++a) add_attachment(c, plan, c.of(kColorFormats), plan.samples);
  const bool has_depth = c.coin();
  if (has_depth) add_attachment(c, plan, c.of(kDepthFormats), plan.samples);
  const uint32_t count = 1 + c.below(3);
  const bool resolves = plan.samples != VK_SAMPLE_COUNT_1_BIT && !has_depth && c.coin();
  for (uint32_t s = 0; s < count; ++s) plan_subpass(c, plan, s, has_depth, resolves && s + 1 == count);
  if (resolves) add_attachment(c, plan, plan.attachments[0].format, VK_SAMPLE_COUNT_1_BIT);
  constexpr VkPipelineStageFlags kPixels = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
                                           VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  constexpr VkAccessFlags kAccess = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_READ_BIT |
                                    VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                    VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
  for (uint32_t s = 1; s < count; ++s)
    for (uint32_t before = 0; before < s; ++before) {
      const bool region = !c.seldom(3);
      plan.dependencies.push_back({VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2, nullptr, before, s,
                                   region ? kPixels : VkPipelineStageFlags{VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT}, kPixels, kAccess, kAccess,
                                   (region ? VkDependencyFlags{VK_DEPENDENCY_BY_REGION_BIT} : 0) |
                                       (plan.view_mask ? VkDependencyFlags{VK_DEPENDENCY_VIEW_LOCAL_BIT} : 0),
                                   0});
    }
  return plan;
}

VkRenderPass make_second(World& w, const PassPlan& plan) {
  std::vector<VkSubpassDescription2> subpasses;
  for (const PassPlan::Subpass& s : plan.subpasses) {
    VkSubpassDescription2& out = subpasses.emplace_back();
    out = {VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2};
    out.viewMask = plan.view_mask, out.colorAttachmentCount = plan.colors, out.pColorAttachments = s.colors.data();
    out.pResolveAttachments = s.resolves.empty() ? nullptr : s.resolves.data();
    out.inputAttachmentCount = static_cast<uint32_t>(s.inputs.size()), out.pInputAttachments = s.inputs.data();
    out.pDepthStencilAttachment = s.has_depth ? &s.depth : nullptr;
  }
  VkRenderPassCreateInfo2 info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
  info.attachmentCount = static_cast<uint32_t>(plan.attachments.size()), info.pAttachments = plan.attachments.data();
  info.subpassCount = static_cast<uint32_t>(subpasses.size()), info.pSubpasses = subpasses.data();
  info.dependencyCount = static_cast<uint32_t>(plan.dependencies.size()), info.pDependencies = plan.dependencies.data();
  VkRenderPass out = nullptr;
  TILEGPU_MUST(w, CreateRenderPass2, w.device, &info, nullptr, &out);
  return out;
}

VkRenderPass make_first(World& w, const PassPlan& plan) {
  std::vector<VkAttachmentDescription> attachments;
  for (const VkAttachmentDescription2& a : plan.attachments)
    attachments.push_back(
        {a.flags, a.format, a.samples, a.loadOp, a.storeOp, a.stencilLoadOp, a.stencilStoreOp, a.initialLayout, a.finalLayout});
  std::vector<std::vector<VkAttachmentReference>> lists;
  lists.reserve(plan.subpasses.size() * 4);
  const auto list = [&](const std::vector<VkAttachmentReference2>& from) -> const VkAttachmentReference* {
    auto& out = lists.emplace_back();
    for (const VkAttachmentReference2& r : from) out.push_back({r.attachment, r.layout});
    return out.empty() ? nullptr : out.data();
  };
  std::vector<VkSubpassDescription> subpasses;
  for (const PassPlan::Subpass& s : plan.subpasses) {
    VkSubpassDescription& out = subpasses.emplace_back();
    out.colorAttachmentCount = plan.colors, out.pColorAttachments = list(s.colors), out.pResolveAttachments = list(s.resolves);
    out.inputAttachmentCount = static_cast<uint32_t>(s.inputs.size()), out.pInputAttachments = list(s.inputs);
    out.pDepthStencilAttachment = s.has_depth ? list({s.depth}) : nullptr;
  }
  std::vector<VkSubpassDependency> dependencies;
  for (const VkSubpassDependency2& d : plan.dependencies)
    dependencies.push_back(
        {d.srcSubpass, d.dstSubpass, d.srcStageMask, d.dstStageMask, d.srcAccessMask, d.dstAccessMask, d.dependencyFlags});
  const std::vector<uint32_t> masks(subpasses.size(), plan.view_mask);
  VkRenderPassMultiviewCreateInfo views{VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO};
  views.subpassCount = static_cast<uint32_t>(masks.size()), views.pViewMasks = masks.data();
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, plan.view_mask ? &views : nullptr};
  info.attachmentCount = static_cast<uint32_t>(attachments.size()), info.pAttachments = attachments.data();
  info.subpassCount = static_cast<uint32_t>(subpasses.size()), info.pSubpasses = subpasses.data();
  info.dependencyCount = static_cast<uint32_t>(dependencies.size()), info.pDependencies = dependencies.data();
  VkRenderPass out = nullptr;
  TILEGPU_MUST(w, CreateRenderPass, w.device, &info, nullptr, &out);
  return out;
}

/// What the open subpass draws to and reads.
void enter(Recording& r, const PassPlan& plan, uint32_t subpass) {
  const PassPlan::Subpass& of = plan.subpasses[subpass];
  PassShape& shape = *r.shape;
  shape.subpass = subpass, shape.colors.clear(), shape.inputs.clear(), r.inputs.clear();
  for (const auto& ref : of.colors)
    shape.colors.push_back(ref.attachment == VK_ATTACHMENT_UNUSED ? VK_FORMAT_UNDEFINED : plan.attachments[ref.attachment].format);
  shape.depth = of.has_depth ? plan.attachments[plan.colors].format : VK_FORMAT_UNDEFINED;
  for (const auto& ref : of.inputs)
    shape.inputs.push_back(plan.attachments[ref.attachment].format), r.inputs.push_back(r.views[ref.attachment]);
}

/// Plans of the passes that are open; by the render pass, so that subpasses find theirs.
struct OpenPlan {
  VkRenderPass render_pass = nullptr;
  PassPlan plan;
};
OpenPlan& open_plan() {
  static OpenPlan plan;
  return plan;
}

void begin_render_pass(World& w, Recording& r) {
  Choices& c = w.c;
  OpenPlan& open = open_plan();
  open.plan = plan_of(c);
  PassPlan& plan = open.plan;
  open.render_pass = c.coin() ? make_first(w, plan) : make_second(w, plan);
  if (w.lost) return;
  w.render_passes.push_back(open.render_pass);
  const uint32_t layers = plan.view_mask ? 2 : 1;
  r.views.clear();
  std::vector<VkImageView> handles;
  std::vector<VkClearValue> clears;
  for (const auto& a : plan.attachments) {
    r.views.push_back(w.target(a.format, a.samples, layers));
    if (w.lost) return;
    handles.push_back(r.views.back()->handle), clears.push_back(clear_value(c, a.format));
  }
  const bool imageless = c.seldom(3);
  std::vector<VkFramebufferAttachmentImageInfo> images;
  for (const auto& v : r.views)
    images.push_back({VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENT_IMAGE_INFO, nullptr, v->image->info.flags, v->image->info.usage, w.width_px,
                      w.height_px, layers, 1, &v->info.format});
  const auto count = static_cast<uint32_t>(handles.size());
  const VkFramebufferAttachmentsCreateInfo later{VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO, nullptr, count, images.data()};
  VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  if (imageless) info.pNext = &later, info.flags = VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT;
  info.renderPass = open.render_pass, info.attachmentCount = count, info.pAttachments = imageless ? nullptr : handles.data();
  info.width = w.width_px, info.height = w.height_px, info.layers = 1;
  VkFramebuffer framebuffer = nullptr;
  TILEGPU_MUST(w, CreateFramebuffer, w.device, &info, nullptr, &framebuffer);
  w.framebuffers.push_back(framebuffer);
  const VkRenderPassAttachmentBeginInfo now{VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO, nullptr, count, handles.data()};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, imageless ? &now : nullptr};
  begin.renderPass = open.render_pass, begin.framebuffer = framebuffer, begin.renderArea = r.area;
  begin.clearValueCount = count, begin.pClearValues = clears.data();
  r.contents = c.seldom(4) ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS : VK_SUBPASS_CONTENTS_INLINE;
  const VkSubpassBeginInfo subpass{VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO, nullptr, r.contents};
  if (c.coin())
    w.vk.CmdBeginRenderPass(r.handle, &begin, r.contents);
  else
    w.vk.CmdBeginRenderPass2(r.handle, &begin, &subpass);
  r.in_pass = true, r.dynamic = false, r.subpasses = static_cast<uint32_t>(plan.subpasses.size());
  r.shape = PassShape{};
  r.shape->render_pass = open.render_pass, r.shape->samples = plan.samples, r.shape->view_mask = plan.view_mask;
  enter(r, plan, 0);
}

void begin_rendering(World& w, Recording& r) {
  Choices& c = w.c;
  PassShape shape;
  shape.samples = c.seldom(3) ? static_cast<VkSampleCountFlagBits>(1 << c.below(5)) : VK_SAMPLE_COUNT_1_BIT;
  shape.view_mask = c.seldom(8) ? 3 : 0;
  const uint32_t layers = shape.view_mask ? 2 : 1;
  r.views.clear(), r.inputs.clear();
  std::vector<VkRenderingAttachmentInfo> colors(c.below(4));
  const bool local = c.seldom(4);
  const auto attachment = [&](VkFormat format, bool resolves) {
    VkRenderingAttachmentInfo a{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    const auto view = w.target(format, shape.samples, layers);
    if (w.lost) return a;
    r.views.push_back(view);
    a.imageView = view->handle, a.imageLayout = VK_IMAGE_LAYOUT_GENERAL, a.loadOp = load_op(c), a.storeOp = store_op(c);
    a.clearValue = clear_value(c, format);
    if (!resolves || shape.samples == VK_SAMPLE_COUNT_1_BIT || !c.coin()) return a;
    const auto to = w.target(format, VK_SAMPLE_COUNT_1_BIT, layers);
    if (w.lost) return a;
    r.views.push_back(to);
    const bool integer = vk::find_format(format)->is_integer() || vk::find_format(format)->is_depth_stencil();
    a.resolveMode = integer ? VK_RESOLVE_MODE_SAMPLE_ZERO_BIT : VK_RESOLVE_MODE_AVERAGE_BIT;
    a.resolveImageView = to->handle, a.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
    return a;
  };
  for (auto& a : colors) {
    a = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    const VkFormat format = c.seldom(8) ? VK_FORMAT_UNDEFINED : c.of(kColorFormats);
    shape.colors.push_back(format);
    const size_t at = r.views.size();
    if (format) a = attachment(format, true);
    if (w.lost) return;
    if (local) shape.inputs.push_back(format), r.inputs.push_back(format ? r.views[at] : nullptr);
  }
  VkRenderingAttachmentInfo depth{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  if (c.coin() || colors.empty()) shape.depth = c.of(kDepthFormats), depth = attachment(shape.depth, true);
  if (w.lost) return;
  const vk::FormatInfo* const format = vk::find_format(shape.depth);
  VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea = r.area, info.layerCount = 1, info.viewMask = shape.view_mask;
  info.colorAttachmentCount = static_cast<uint32_t>(colors.size()), info.pColorAttachments = colors.data();
  if (format && format->depth_bits) info.pDepthAttachment = &depth;
  if (format && format->stencil_bits) info.pStencilAttachment = &depth;
  r.contents = c.seldom(4) ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS : VK_SUBPASS_CONTENTS_INLINE;
  if (r.contents) info.flags = VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT;
  r.in_pass = r.dynamic = true, r.shape = shape;
  if (!c.seldom(4)) return w.vk.CmdBeginRendering(r.handle, &info);
  // In two parts, of which the first is suspended.
  info.flags |= VK_RENDERING_SUSPENDING_BIT;
  w.vk.CmdBeginRendering(r.handle, &info);
  w.draw(r);
  w.end_queries(r);
  w.vk.CmdEndRendering(r.handle);
  info.flags = (info.flags & ~static_cast<VkRenderingFlags>(VK_RENDERING_SUSPENDING_BIT)) | VK_RENDERING_RESUMING_BIT;
  w.vk.CmdBeginRendering(r.handle, &info);
}

void clear_in_pass(World& w, Recording& r) {
  const PassShape& shape = *r.shape;
  VkClearAttachment clear{};
  const vk::FormatInfo* const depth = vk::find_format(shape.depth);
  if (!shape.colors.empty() && (!depth || w.c.coin())) {
    clear.colorAttachment = w.c.below(static_cast<uint32_t>(shape.colors.size())), clear.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
    clear.clearValue = clear_value(w.c, shape.colors[clear.colorAttachment]);
  } else if (depth) {
    clear.aspectMask = aspects_of(*depth), clear.clearValue = clear_value(w.c, shape.depth);
  } else {
    return;
  }
  VkClearRect rect{r.area, 0, 1};
  if (w.c.coin()) rect.rect.extent.width = 1 + w.c.below(r.area.extent.width);
  w.vk.CmdClearAttachments(r.handle, 1, &clear, 1, &rect);
}

void draw_call(World& w, Recording& r, const PipelineModel& pipeline) {
  Choices& c = w.c;
  const VkBuffer arena = w.arena->handle;
  const uint32_t count = c.below(25), instances = c.below(3), first = c.below(8);
  if (pipeline.mesh) return w.vk.CmdDrawMeshTasksEXT(r.handle, c.below(3), 1, 1);
  constexpr std::pair<VkIndexType, uint64_t> kIndexed[] = {
      {VK_INDEX_TYPE_UINT8, 0}, {VK_INDEX_TYPE_UINT16, 128}, {VK_INDEX_TYPE_UINT32, 512}};
  const auto& [type, at_B] = kIndexed[c.below(3)];
  const uint32_t kind = c.below(10);
  const bool indexed = kind == 1 || kind == 3 || kind == 5 || kind == 7;
  if (indexed && c.coin())
    w.vk.CmdBindIndexBuffer(r.handle, arena, kIndices_B + at_B, type);
  else if (indexed)
    w.vk.CmdBindIndexBuffer2(r.handle, arena, kIndices_B + at_B, 64 + 4 * c.below(16), type);
  const VkMultiDrawInfoEXT draws[] = {{first, count}, {0, 3}, {1, 6}};
  const VkMultiDrawIndexedInfoEXT indexes[] = {{first, count, 0}, {0, 3, 1}, {1, 6, 2}};
  const int32_t offset = static_cast<int32_t>(c.below(3));
  switch (kind) {
    case 1:
      return w.vk.CmdDrawIndexed(r.handle, count, instances, first, offset, 0);
    case 2:
      return w.vk.CmdDrawIndirect(r.handle, arena, kIndirect_B, c.below(5), 16);
    case 3:
      return w.vk.CmdDrawIndexedIndirect(r.handle, arena, kIndirect_B + 128, c.below(5), 20);
    case 4:
      return w.vk.CmdDrawIndirectCount(r.handle, arena, kIndirect_B, arena, kCount_B, c.below(5), 16);
    case 5:
      return w.vk.CmdDrawIndexedIndirectCount(r.handle, arena, kIndirect_B + 128, arena, kCount_B, c.below(5), 20);
    case 6:
      return w.vk.CmdDrawMultiEXT(r.handle, c.below(4), draws, instances, 0, sizeof draws[0]);
    case 7:
      return w.vk.CmdDrawMultiIndexedEXT(r.handle, c.below(4), indexes, instances, 0, sizeof indexes[0], c.coin() ? &offset : nullptr);
    default:
      return w.vk.CmdDraw(r.handle, count, instances, first, 0);
  }
}

void draw_inline(World& w, Recording& r) {
  Choices& c = w.c;
  if (c.seldom(5)) clear_in_pass(w, r);
  const auto pipeline = w.graphics_pipeline(*r.shape);
  if (w.lost) return;
  w.vk.CmdBindPipeline(r.handle, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline->handle);
  w.set_dynamic(r, *pipeline);
  w.bind_sets(r, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline->layout, pipeline->reads_inputs);
  const uint32_t words[8] = {0x3f800000, 0x3f000000, 0x3f400000, 0x3f800000, c.byte(), c.byte(), 0, 1};
  w.vk.CmdPushConstants(r.handle, pipeline->layout, VK_SHADER_STAGE_ALL, 0, 32, words);
  const VkDeviceSize offset_B = 32 * c.below(4), size_B = 2048 - 32 * c.below(40) - offset_B;
  if (c.coin())
    w.vk.CmdBindVertexBuffers(r.handle, 0, 1, &w.arena->handle, &offset_B);
  else
    w.vk.CmdBindVertexBuffers2(r.handle, 0, 1, &w.arena->handle, &offset_B, &size_B, nullptr);
  if (r.dynamic && !r.secondary && pipeline->reads_inputs) {  // between what was written and what is read
    const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                  VK_ACCESS_INPUT_ATTACHMENT_READ_BIT};
    w.vk.CmdPipelineBarrier(r.handle, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                            VK_DEPENDENCY_BY_REGION_BIT, 1, &barrier, 0, nullptr, 0, nullptr);
  }
  const bool captures = pipeline->captures && !r.shape->view_mask;
  constexpr VkDeviceSize kBegin_B = 0, kCounter_B = 2048;
  if (captures) {
    w.vk.CmdBindTransformFeedbackBuffersEXT(r.handle, 0, 1, &w.captured->handle, &kBegin_B, nullptr);
    w.vk.CmdBeginTransformFeedbackEXT(r.handle, 0, 0, nullptr, nullptr);
  }
  draw_call(w, r, *pipeline);
  if (captures) w.vk.CmdEndTransformFeedbackEXT(r.handle, 0, 1, &w.captured->handle, &kCounter_B);
  ++r.draws;
}

void draw_secondary(World& w, Recording& r) {
  if (r.conditional) return;  // it is not inherited
  w.end_queries(r);
  Recording part = r;
  part.secondary = true;
  const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, w.pool,
                                             VK_COMMAND_BUFFER_LEVEL_SECONDARY, 1};
  TILEGPU_MUST(w, AllocateCommandBuffers, w.device, &allocate, &part.handle);
  w.recorded.push_back(part.handle);
  const PassShape& shape = *r.shape;
  const vk::FormatInfo* const depth = vk::find_format(shape.depth);
  VkCommandBufferInheritanceRenderingInfo rendering{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO};
  rendering.colorAttachmentCount = static_cast<uint32_t>(shape.colors.size()), rendering.pColorAttachmentFormats = shape.colors.data();
  if (depth && depth->depth_bits) rendering.depthAttachmentFormat = shape.depth;
  if (depth && depth->stencil_bits) rendering.stencilAttachmentFormat = shape.depth;
  rendering.rasterizationSamples = shape.samples, rendering.viewMask = shape.view_mask;
  rendering.flags = VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT;
  VkCommandBufferInheritanceInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, r.dynamic ? &rendering : nullptr};
  inherited.renderPass = shape.render_pass, inherited.subpass = shape.subpass;
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT | VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
  begin.pInheritanceInfo = &inherited;
  TILEGPU_MUST(w, BeginCommandBuffer, part.handle, &begin);
  for (uint32_t k = 0, draws = 1 + w.c.below(3); k < draws && !w.lost; ++k) draw_inline(w, part);
  TILEGPU_MUST(w, EndCommandBuffer, part.handle);
  if (w.lost) return;
  const VkCommandBuffer twice[] = {part.handle, part.handle};
  w.vk.CmdExecuteCommands(r.handle, 1 + w.c.below(2), twice);
  r.draws += part.draws;
}

}  // namespace

void World::end_pass() {
  Recording& r = recording;
  end_queries(r);
  if (r.dynamic) {
    vk.CmdEndRendering(r.handle);
  } else {
    while (r.shape->subpass + 1 < r.subpasses) {
      vk.CmdNextSubpass(r.handle, VK_SUBPASS_CONTENTS_INLINE);
      ++r.shape->subpass;
    }
    const VkSubpassEndInfo end{VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    if (c.coin())
      vk.CmdEndRenderPass(r.handle);
    else
      vk.CmdEndRenderPass2(r.handle, &end);
  }
  r.in_pass = false;
  r.shape.reset(), r.views.clear(), r.inputs.clear();
}

void World::step_pass() {
  Recording& r = commands();
  if (lost) return;
  if (r.in_pass) {
    if (r.dynamic || r.shape->subpass + 1 >= r.subpasses) return end_pass();
    end_queries(r);
    r.contents = c.seldom(4) ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS : VK_SUBPASS_CONTENTS_INLINE;
    const VkSubpassBeginInfo begin{VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO, nullptr, r.contents};
    const VkSubpassEndInfo end{VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    if (c.coin())
      vk.CmdNextSubpass(r.handle, r.contents);
    else
      vk.CmdNextSubpass2(r.handle, &begin, &end);
    return enter(r, open_plan().plan, r.shape->subpass + 1);
  }
  if (r.draws >= kMostDraws) return submit();
  r.area = {{0, 0}, {width_px, height_px}};
  if (c.seldom(3)) {
    const uint32_t x = c.below(width_px), y = c.below(height_px);
    r.area = {{static_cast<int32_t>(x), static_cast<int32_t>(y)}, {1 + c.below(width_px - x), 1 + c.below(height_px - y)}};
  }
  if (c.coin())
    begin_render_pass(*this, r);
  else
    begin_rendering(*this, r);
}

void World::draw(Recording& r) {
  if (r.draws >= kMostDraws) return;
  if (r.contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS) return draw_secondary(*this, r);
  if (active_queries.empty() && !r.shape->view_mask && c.seldom(4)) begin_query(r);
  draw_inline(*this, r);
  if (c.coin()) end_queries(r);
}

void World::step_draws() {
  if (!recording.in_pass) step_pass();
  if (!recording.in_pass || lost) return;
  for (uint32_t k = 0, count = 1 + c.below(3); k < count && !lost; ++k) draw(recording);
}

void World::step_dispatch() {
  Recording* const r = outside();
  if (!r) return;
  const auto pipeline = compute_pipeline();
  if (lost) return;
  vk.CmdBindPipeline(r->handle, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
  bind_sets(*r, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, false);
  const uint32_t words[8] = {0x3f800000, 0, 0, 0, c.byte(), c.byte(), 0, 1};
  vk.CmdPushConstants(r->handle, pipeline->layout, VK_SHADER_STAGE_ALL, 0, 32, words);
  const uint32_t groups = c.below(3);
  switch (c.below(3)) {
    case 0:
      return vk.CmdDispatch(r->handle, groups, 1, 1);
    case 1:
      return vk.CmdDispatchBase(r->handle, 0, 0, 0, groups, 1, 1);
    default:
      return vk.CmdDispatchIndirect(r->handle, arena->handle, kIndirect_B + 384);
  }
}

}  // namespace tilegpu::fuzz
