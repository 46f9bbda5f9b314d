// tests/test_vulkan_layers.cpp -- layered framebuffers, viewport arrays and multiview on the driver: what each layer holds, by classic
// render passes (subpasses with other views among them), dynamic rendering, static and dynamic viewports, clears of some layers.
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 24, kLayers = 4;
constexpr size_t kLayer_B = size_t{kSide_px} * kSide_px * 4;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
constexpr VkClearValue kClear = {{{0, 0, 1, 1}}};

// A triangle over all of the viewport; the colour says view, layer and viewport.
const char* const kViews = R"(#version 450
#extension GL_EXT_multiview : require
layout(location = 0) flat out int number;
void main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1, 0, 1); number = gl_ViewIndex; })";
const char* const kChooses = R"(#version 450
#extension GL_ARB_shader_viewport_layer_array : require
layout(location = 0) flat out int number;
void main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1, 0, 1); number = gl_InstanceIndex;
              gl_Layer = gl_InstanceIndex; gl_ViewportIndex = gl_InstanceIndex & 1; })";
const char* const kFragment = R"(#version 450
#extension GL_EXT_multiview : require
layout(location = 0) flat in int number; layout(location = 0) out vec4 o;
void main() { o = vec4(number + 1, gl_ViewIndex + 16 * gl_Layer + 128 * gl_ViewportIndex, 0, 255) / 255.0; })";

struct Scene {
  Program p;
  VkImage image = nullptr;
  VkImageView view = nullptr;
  VkDeviceMemory memory = nullptr;
  VkPipelineLayout layout = nullptr;
  Program::MappedBuffer out{};

  Scene() {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D, info.format = VK_FORMAT_R8G8B8A8_UNORM, info.extent = {kSide_px, kSide_px, 1};
    info.mipLevels = 1, info.arrayLayers = kLayers, info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    CHECK(p.CreateImage(p.device, &info, nullptr, &image) == VK_SUCCESS);
    VkMemoryRequirements needs;
    p.GetImageMemoryRequirements(p.device, image, &needs);
    memory = p.allocate(needs.size);
    CHECK(p.BindImageMemory(p.device, image, memory, 0) == VK_SUCCESS);
    VkImageViewCreateInfo of{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    of.image = image, of.viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY, of.format = info.format;
    of.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, kLayers};
    CHECK(p.CreateImageView(p.device, &of, nullptr, &view) == VK_SUCCESS);
    out = p.buffer(kLayer_B * kLayers, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    VkPipelineLayoutCreateInfo none{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(p.CreatePipelineLayout(p.device, &none, nullptr, &layout) == VK_SUCCESS);
  }

  /// `masks`: of each subpass.
  VkRenderPass pass(const std::vector<uint32_t>& masks) {
    VkAttachmentDescription color{};
    color.format = VK_FORMAT_R8G8B8A8_UNORM, color.samples = VK_SAMPLE_COUNT_1_BIT;
    color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1, subpass.pColorAttachments = &reference;
    const std::vector<VkSubpassDescription> subpasses(masks.size(), subpass);
    VkRenderPassMultiviewCreateInfo views{VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO};
    views.subpassCount = static_cast<uint32_t>(masks.size()), views.pViewMasks = masks.data();
    const uint32_t together = 7;
    views.correlationMaskCount = 1, views.pCorrelationMasks = &together;
    VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, &views};
    info.attachmentCount = 1, info.pAttachments = &color;
    info.subpassCount = static_cast<uint32_t>(masks.size()), info.pSubpasses = subpasses.data();
    VkRenderPass made = nullptr;
    CHECK(p.CreateRenderPass(p.device, &info, nullptr, &made) == VK_SUCCESS);
    return made;
  }
  void begin(VkCommandBuffer c, VkRenderPass pass, uint32_t layers) {
    VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
    info.renderPass = pass, info.attachmentCount = 1, info.pAttachments = &view;
    info.width = info.height = kSide_px, info.layers = layers;
    VkFramebuffer framebuffer = nullptr;
    CHECK(p.CreateFramebuffer(p.device, &info, nullptr, &framebuffer) == VK_SUCCESS);
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = kArea;
    begin.clearValueCount = 1, begin.pClearValues = &kClear;
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  }
  void draw(VkCommandBuffer c, VkPipeline pipeline, const VkRect2D& where, uint32_t instances = 1) {
    const VkViewport viewport{static_cast<float>(where.offset.x),
                              static_cast<float>(where.offset.y),
                              static_cast<float>(where.extent.width),
                              static_cast<float>(where.extent.height),
                              0,
                              1};
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    p.CmdSetViewport(c, 0, 1, &viewport);
    p.CmdSetScissor(c, 0, 1, &kArea);
    p.CmdDraw(c, 3, instances, 0, 0);
  }
  /// First and second bytes of a pixel.
  struct Texel {
    int first, second;
    bool operator==(const Texel&) const = default;
  };
  static constexpr Texel kCleared = {0, 0};
  void submit(VkCommandBuffer c) {
    const VkBufferImageCopy all{0, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, kLayers}, {}, {kSide_px, kSide_px, 1}};
    p.CmdCopyImageToBuffer(c, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out.buffer, 1, &all);
    p.run(c);
    for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  }
  Texel texel(uint32_t layer, uint32_t x, uint32_t y) const {
    const uint8_t* at = out.data + layer * kLayer_B + (y * kSide_px + x) * 4;
    return {at[0], at[1]};
  }
};

constexpr VkRect2D kLeft = {{0, 0}, {12, kSide_px}}, kTop = {{0, 0}, {kSide_px, 12}};

// An attachment is cleared for each view by the first subpass that has it.
void views_of_subpasses() {
  Scene s;
  const VkRenderPass pass = s.pass({0b011, 0b110});
  const VkPipeline first = make_pipeline(s.p, kViews, kFragment, s.layout, pass, 0);
  const VkPipeline second = make_pipeline(s.p, kViews, kFragment, s.layout, pass, 1);
  const VkCommandBuffer c = s.p.begin();
  s.begin(c, pass, 1);
  s.draw(c, first, kLeft);
  s.p.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
  s.draw(c, second, kTop);
  s.p.CmdEndRenderPass(c);
  s.submit(c);
  for (int view = 0; view < 3; view++) {
    const Scene::Texel drawn{view + 1, view + 16 * view};
    const bool left = view < 2, top = view > 0;
    CHECK(s.texel(view, 2, 20) == (left ? drawn : Scene::kCleared));
    CHECK(s.texel(view, 20, 2) == (top ? drawn : Scene::kCleared));
    CHECK(s.texel(view, 20, 20) == Scene::kCleared && s.out.data[view * kLayer_B + kLayer_B - 2] == 255);
  }
}

void views_of_dynamic_rendering() {
  Scene s;
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  s.p.load(begin_rendering, "vkCmdBeginRendering"), s.p.load(end_rendering, "vkCmdEndRendering");
  const VkRenderPass like = s.pass({0b1001});
  const VkPipeline pipeline = make_pipeline(s.p, kViews, kFragment, s.layout, like, 0);
  VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  color.imageView = s.view, color.imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, color.storeOp = VK_ATTACHMENT_STORE_OP_STORE, color.clearValue = kClear;
  VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea = kArea, info.viewMask = 0b1001, info.colorAttachmentCount = 1, info.pColorAttachments = &color;
  const VkCommandBuffer c = s.p.begin();
  begin_rendering(c, &info);
  s.draw(c, pipeline, kLeft);
  const VkClearAttachment clear{VK_IMAGE_ASPECT_COLOR_BIT, 0, {{{1, 1, 1, 1}}}};
  const VkClearRect rect{{{20, 20}, {4, 4}}, 0, 1};  // layer 0 alone names all views
  s.p.CmdClearAttachments(c, 1, &clear, 1, &rect);
  end_rendering(c);
  s.submit(c);
  for (const int view : {0, 3}) {
    CHECK((s.texel(view, 2, 2) == Scene::Texel{view + 1, view + 16 * view}));
    CHECK(s.texel(view, 20, 2) == Scene::kCleared && (s.texel(view, 21, 21) == Scene::Texel{255, 255}));
  }
}

// Static viewports are those of the pipeline; dynamic ones are set one by one.
void layers_and_viewports() {
  Scene s;
  const VkRenderPass pass = s.pass({0});
  const VkPipeline pipeline = make_pipeline(s.p, kChooses, kFragment, s.layout, pass, 0);
  const VkCommandBuffer c = s.p.begin();
  s.begin(c, pass, kLayers);
  const VkViewport second{12, 0, 12, kSide_px, 0, 1};
  const VkRect2D low{{0, 12}, {kSide_px, 12}};
  s.p.CmdSetViewport(c, 1, 1, &second);
  s.p.CmdSetScissor(c, 1, 1, &low);
  s.draw(c, pipeline, kLeft, kLayers + 1);  // the last one has no layer
  const VkClearAttachment clear{VK_IMAGE_ASPECT_COLOR_BIT, 0, {{{1, 1, 1, 1}}}};
  const VkClearRect rect{{{0, 0}, {2, 2}}, 1, 2};
  s.p.CmdClearAttachments(c, 1, &clear, 1, &rect);
  s.p.CmdEndRenderPass(c);
  s.submit(c);
  for (int layer = 0; layer < static_cast<int>(kLayers); layer++) {
    const Scene::Texel drawn{layer + 1, 16 * layer + 128 * (layer & 1)}, white{255, 255};
    CHECK(s.texel(layer, 4, 20) == (layer & 1 ? Scene::kCleared : drawn));
    CHECK(s.texel(layer, 20, 20) == (layer & 1 ? drawn : Scene::kCleared));
    CHECK(s.texel(layer, 20, 2) == Scene::kCleared);  // outside of the second scissor
    CHECK(s.texel(layer, 1, 1) == (layer == 1 || layer == 2 ? white : layer & 1 ? Scene::kCleared : drawn));
  }
}

// Within a pass with views a timestamp takes as many queries as there are views, by either kind of pass.
void timestamps_of_views() {
  Scene s;
  Program& p = s.p;
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TIMESTAMP, info.queryCount = 8;
  VkQueryPool stamps = nullptr;
  CHECK(p.CreateQueryPool(p.device, &info, nullptr, &stamps) == VK_SUCCESS);
  const VkCommandBuffer c = p.begin();
  p.CmdResetQueryPool(c, stamps, 0, 8);
  s.begin(c, s.pass({5, 1}), 1);
  p.CmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, 1);  // and 2
  p.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, 4);
  p.CmdEndRenderPass(c);
  p.CmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, 6);
  s.submit(c);
  uint64_t results[8][2] = {};
  const VkQueryResultFlags flags = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT;
  CHECK(p.GetQueryPoolResults(p.device, stamps, 0, 8, sizeof results, results, 16, flags) == VK_NOT_READY);
  for (uint32_t k = 0; k < 8; k++) CHECK_MESSAGE(results[k][1] == (k == 1 || k == 2 || k == 4 || k == 6), "query " + std::to_string(k));
  p.DestroyQueryPool(p.device, stamps, nullptr);
}

void what_is_claimed() {
  Program p;
  VkPhysicalDeviceProperties properties;
  p.GetPhysicalDeviceProperties(p.physical_device, &properties);
  CHECK(properties.limits.maxViewports == 16 && properties.limits.maxFramebufferLayers >= 256);
  VkPhysicalDeviceFeatures features;
  p.GetPhysicalDeviceFeatures(p.physical_device, &features);
  CHECK(features.multiViewport);
}

}  // namespace

int main() {
  views_of_subpasses();
  views_of_dynamic_rendering();
  layers_and_viewports();
  timestamps_of_views();
  what_is_claimed();
  return finish("test_vulkan_layers");
}
