// tests/test_vulkan_single_sampled.cpp -- VK_EXT_multisampled_render_to_single_sampled: images of one sample are rendered to with several,
// in dynamic rendering and in subpasses; loaded, cleared, resolved by every mode; beside attachments that have the samples themselves.
// Oracle: the same drawn to multisampled images, with explicit resolves.
#include <cstring>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 45;
constexpr size_t kTexels = size_t{kSide_px} * kSide_px;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM, kInteger = VK_FORMAT_R32_UINT, kDepth = VK_FORMAT_D32_SFLOAT_S8_UINT;
constexpr VkImageUsageFlags kColorUse =
    VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
constexpr VkImageUsageFlags kDepthUse = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;

const char* const kTriangles = R"(#version 450
layout(location = 0) flat out uint number;
void main() {
  const float turn = 0.7 * float(gl_InstanceIndex) + 2.2 * float(gl_VertexIndex);
  const float far = 0.3 + 0.2 * float(gl_InstanceIndex % 3);
  number = uint(gl_InstanceIndex);
  gl_Position = vec4(far * cos(turn) + 0.1, far * sin(turn) - 0.2, 0.2 + 0.12 * float((gl_InstanceIndex + gl_VertexIndex) % 5), 1);
})";
const char* const kNumbers = R"(#version 450
layout(location = 0) flat in uint number;
layout(location = 0) out vec4 a; layout(location = 1) out uint b;
void main() { a = vec4(number % 3, number % 5 * 0.3, gl_FragCoord.z, 0.75); b = 7 + number * 1000; })";
// What is there before: the same in all samples.
const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0.5, 1); })";
const char* const kBefore = R"(#version 450
layout(location = 0) out vec4 a; layout(location = 1) out uint b;
void main() {
  const uvec2 at = uvec2(gl_FragCoord.xy);
  a = vec4(at % 7, at.x % 3, 4) / 7; b = at.x + 100 * at.y; gl_FragDepth = 0.25 + 0.01 * float((at.x + at.y) % 32);
})";
// The second subpass: all samples of the first one's colour, in order.
const char* const kReads = R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInputMS first;
layout(location = 0) out vec4 a;
void main() { vec4 c = vec4(0); for (int i = 0; i < 4; i++) c += subpassLoad(first, i) * float(i + 1) / 10; a = c; })";
const char* const kReadsOne = R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput first;
layout(location = 0) out vec4 a; void main() { a = subpassLoad(first); })";

struct Modes {
  VkResolveModeFlagBits depth, stencil;
};

struct Scene : Program {
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  PFN_vkCreateRenderPass2 create_pass = nullptr;
  VkPipelineLayout layout = nullptr;
  MappedBuffer out{};

  Scene() {
    VkPhysicalDeviceMultisampledRenderToSingleSampledFeaturesEXT single{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_FEATURES_EXT, nullptr, VK_TRUE};
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, &single, VK_TRUE};
    remake_device({"VK_KHR_dynamic_rendering", "VK_EXT_multisampled_render_to_single_sampled", "VK_KHR_create_renderpass2",
                   "VK_KHR_depth_stencil_resolve"},
                  &dynamic);
    load(begin_rendering, "vkCmdBeginRendering"), load(end_rendering, "vkCmdEndRendering");
    load(create_pass, "vkCreateRenderPass2");
    layout = pipeline_layout({});
    out = buffer(kTexels * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }

  using Change = std::function<void(VkGraphicsPipelineCreateInfo&)>;
  VkPipeline pipeline(const char* vertex, const char* fragment, uint32_t samples, const Change& change, VkPipelineLayout with = nullptr,
                      VkRenderPass pass = nullptr, uint32_t subpass = 0) {
    return make_pipeline(*this, vertex, fragment, with ? with : layout, pass, subpass, [&](VkGraphicsPipelineCreateInfo& info) {
      static VkPipelineColorBlendAttachmentState blends[2];
      for (auto& blend : blends) blend.colorWriteMask = 15;
      auto* blend = const_cast<VkPipelineColorBlendStateCreateInfo*>(info.pColorBlendState);
      blend->attachmentCount = 2, blend->pAttachments = blends;
      const_cast<VkPipelineMultisampleStateCreateInfo*>(info.pMultisampleState)->rasterizationSamples =
          static_cast<VkSampleCountFlagBits>(samples);
      auto* tests = const_cast<VkPipelineDepthStencilStateCreateInfo*>(info.pDepthStencilState);
      const bool all = fragment == kBefore;
      tests->depthTestEnable = tests->depthWriteEnable = tests->stencilTestEnable = VK_TRUE;
      tests->depthCompareOp = all ? VK_COMPARE_OP_ALWAYS : VK_COMPARE_OP_LESS;
      tests->front = {VK_STENCIL_OP_KEEP, VK_STENCIL_OP_INCREMENT_AND_CLAMP, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_ALWAYS, 255, 255, 0};
      if (all) tests->front.passOp = VK_STENCIL_OP_REPLACE, tests->front.reference = 9;
      tests->back = tests->front;
      change(info);
    });
  }
  VkPipeline of_dynamic(const char* vertex, const char* fragment, uint32_t samples) {
    return pipeline(vertex, fragment, samples, [](VkGraphicsPipelineCreateInfo& info) {
      static const VkFormat formats[] = {kColor, kInteger};
      static VkPipelineRenderingCreateInfo rendering;
      rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 2, formats, kDepth, kDepth};
      info.pNext = &rendering;
    });
  }

  struct Targets {
    BoundImage color, integer, depth;
  };
  Targets targets(uint32_t samples) {
    const auto n = static_cast<VkSampleCountFlagBits>(samples);
    return {image(kColor, kSide_px, kSide_px, kColorUse, false, n), image(kInteger, kSide_px, kSide_px, kColorUse, false, n),
            image(kDepth, kSide_px, kSide_px, kDepthUse, false, n)};
  }

  /// `samples`: of VkMultisampledRenderToSingleSampledInfoEXT; 0: without. `resolves`: what is resolved to; null: nothing is.
  /// Colours of `integer_apart` have samples and a resolve of their own.
  void begin_pass(VkCommandBuffer c, const Targets& to, uint32_t samples, const Targets* resolves, bool loads, Modes modes,
                  bool integer_apart = false) {
    VkRenderingAttachmentInfo a[2], d{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    a[0] = a[1] = d;
    for (VkRenderingAttachmentInfo* each : {a, a + 1, &d})
      each->loadOp = loads ? VK_ATTACHMENT_LOAD_OP_LOAD : VK_ATTACHMENT_LOAD_OP_CLEAR, each->storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    a[0].imageView = to.color.view, a[1].imageView = to.integer.view, d.imageView = to.depth.view;
    a[0].clearValue.color = {{0.1F, 0.2F, 0.3F, 0.4F}}, a[1].clearValue.color.uint32[0] = 77;
    d.clearValue.depthStencil = {0.6F, 3};
    if (samples || resolves) {
      a[0].resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT, a[1].resolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT;
      d.resolveMode = modes.depth;
    }
    if (resolves && !integer_apart) a[0].resolveImageView = resolves->color.view, d.resolveImageView = resolves->depth.view;
    if (resolves) a[1].resolveImageView = resolves->integer.view;
    VkRenderingAttachmentInfo s = d;
    if (samples || resolves) s.resolveMode = modes.stencil;
    const VkMultisampledRenderToSingleSampledInfoEXT single{VK_STRUCTURE_TYPE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_INFO_EXT, nullptr,
                                                            samples != 0, static_cast<VkSampleCountFlagBits>(samples)};
    const VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, samples ? &single : nullptr, 0, kArea, 1, 0, 2, a, &d, &s};
    begin_rendering(c, &info);
  }
  void draw(VkCommandBuffer c, VkPipeline with, uint32_t instances = 1) {
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    CmdSetViewport(c, 0, 1, &viewport), CmdSetScissor(c, 0, 1, &kArea);
    CmdDraw(c, 3, instances, 0, 0);
  }

  std::vector<uint8_t> read(const BoundImage& from, VkImageAspectFlagBits aspect) {
    VkBufferImageCopy region{};
    region.imageSubresource = {static_cast<VkImageAspectFlags>(aspect), 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
    std::memset(out.data, 0, kTexels * 4);
    const VkCommandBuffer c = begin();
    CmdCopyImageToBuffer(c, from.image, VK_IMAGE_LAYOUT_GENERAL, out.buffer, 1, &region);
    run(c);
    for (const std::string& text : said) CHECK_MESSAGE(false, text);
    said.clear();
    return {out.data, out.data + kTexels * 4};
  }
  void compare(const Targets& got, const Targets& want, const std::string& what) {
    CHECK_MESSAGE(read(got.color, VK_IMAGE_ASPECT_COLOR_BIT) == read(want.color, VK_IMAGE_ASPECT_COLOR_BIT), what + ": colour");
    CHECK_MESSAGE(read(got.integer, VK_IMAGE_ASPECT_COLOR_BIT) == read(want.integer, VK_IMAGE_ASPECT_COLOR_BIT), what + ": integers");
    CHECK_MESSAGE(read(got.depth, VK_IMAGE_ASPECT_DEPTH_BIT) == read(want.depth, VK_IMAGE_ASPECT_DEPTH_BIT), what + ": depth");
    CHECK_MESSAGE(read(got.depth, VK_IMAGE_ASPECT_STENCIL_BIT) == read(want.depth, VK_IMAGE_ASPECT_STENCIL_BIT), what + ": stencil");
  }
};

constexpr VkResolveModeFlagBits kZero = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, kLeast = VK_RESOLVE_MODE_MIN_BIT, kMost = VK_RESOLVE_MODE_MAX_BIT;

// Cleared or loaded, drawn, resolved: as with multisampled images, and edges are not those of one sample.
void test_dynamic() {
  Scene s;
  const Scene::Targets one = s.targets(1), want = s.targets(1);
  for (const uint32_t samples : {2U, 4U, 8U, 16U}) {
    const Scene::Targets many = s.targets(samples);
    const VkPipeline triangles = s.of_dynamic(kTriangles, kNumbers, samples), before = s.of_dynamic(kWhole, kBefore, samples);
    const VkPipeline before_one = s.of_dynamic(kWhole, kBefore, 1);
    for (const Modes modes : {Modes{kZero, kZero}, Modes{kLeast, kMost}, Modes{kMost, kLeast}, Modes{VK_RESOLVE_MODE_AVERAGE_BIT, kZero}})
      for (const bool loads : {false, true}) {
        const VkCommandBuffer c = s.begin();
        s.begin_pass(c, many, 0, &want, false, modes);
        if (loads) s.draw(c, before);
        s.draw(c, triangles, 7);
        s.end_rendering(c);
        if (loads) {
          s.begin_pass(c, one, 0, nullptr, false, modes);
          s.draw(c, before_one);
          s.end_rendering(c);
        }
        s.begin_pass(c, one, samples, nullptr, loads, modes);
        s.draw(c, triangles, 7);
        s.end_rendering(c);
        s.run(c);
        s.compare(one, want,
                  std::to_string(samples) + " samples, modes " + std::to_string(modes.depth) + (loads ? ", loaded" : ", cleared"));
      }
  }
  // Edges have colours between.
  const std::vector<uint8_t> colors = s.read(one.color, VK_IMAGE_ASPECT_COLOR_BIT);
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c, one, 0, nullptr, false, {kZero, kZero});
  s.draw(c, s.of_dynamic(kTriangles, kNumbers, 1), 7);
  s.end_rendering(c);
  s.run(c);
  CHECK(s.read(one.color, VK_IMAGE_ASPECT_COLOR_BIT) != colors);
}

// Attachments with the samples of their own, with an explicit resolve, beside those of one.
void test_mixed() {
  Scene s;
  const Scene::Targets one = s.targets(1), want = s.targets(1), many = s.targets(4);
  const VkPipeline triangles = s.of_dynamic(kTriangles, kNumbers, 4);
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c, many, 0, &want, false, {kLeast, kMost});
  s.draw(c, triangles, 7);
  s.end_rendering(c);
  const Scene::Targets mixed{one.color, many.integer, one.depth};
  s.begin_pass(c, mixed, 4, &one, false, {kLeast, kMost}, true);
  s.draw(c, triangles, 7);
  s.end_rendering(c);
  s.run(c);
  s.compare(one, want, "mixed");
}

struct PassWanted {
  uint32_t of_images, single_sampled, first_of_second;  // the second subpass's samples of VkMultisampledRender...; 0: it has none
  bool second;
};

// One or two subpasses over colour, depth, and the second's colour; explicit ones resolve to the three behind.
VkRenderPass make_pass(Scene& s, const PassWanted& w) {
  const auto n = static_cast<VkSampleCountFlagBits>(w.of_images);
  const bool explicit_resolve = w.of_images > 1;
  std::vector<VkAttachmentDescription2> attachments;
  const auto attachment = [&](VkFormat format, VkSampleCountFlagBits samples) {
    VkAttachmentDescription2 a{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2, nullptr, 0, format, samples};
    a.loadOp = a.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, a.storeOp = a.stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE;
    a.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
    attachments.push_back(a);
  };
  attachment(kColor, n), attachment(kDepth, n);
  if (w.second) attachment(kColor, explicit_resolve ? n : VK_SAMPLE_COUNT_1_BIT);
  if (explicit_resolve) attachment(kColor, VK_SAMPLE_COUNT_1_BIT), attachment(kDepth, VK_SAMPLE_COUNT_1_BIT);
  if (explicit_resolve && w.second) attachment(kColor, VK_SAMPLE_COUNT_1_BIT);
  const auto reference = [](uint32_t a, VkImageAspectFlags aspects = 0) {
    return VkAttachmentReference2{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, nullptr, a, VK_IMAGE_LAYOUT_GENERAL, aspects};
  };
  const uint32_t behind = w.second ? 3 : 2;
  const VkAttachmentReference2 color = reference(0), depth = reference(1), second = reference(2),
                               input = reference(0, VK_IMAGE_ASPECT_COLOR_BIT);
  const VkAttachmentReference2 resolve = reference(behind), depth_resolve = reference(behind + 1), second_resolve = reference(behind + 2);
  VkMultisampledRenderToSingleSampledInfoEXT single{VK_STRUCTURE_TYPE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_INFO_EXT, nullptr, VK_TRUE,
                                                    static_cast<VkSampleCountFlagBits>(w.single_sampled)};
  VkMultisampledRenderToSingleSampledInfoEXT other = single;
  other.rasterizationSamples = static_cast<VkSampleCountFlagBits>(w.first_of_second);
  VkSubpassDescriptionDepthStencilResolve modes{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE, nullptr, kMost, kLeast,
                                                nullptr};
  if (w.single_sampled) modes.pNext = &single;
  if (explicit_resolve) modes.pDepthStencilResolveAttachment = &depth_resolve;
  VkSubpassDescription2 subpasses[2] = {{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2}, {VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2}};
  subpasses[0].pNext = &modes;
  subpasses[0].colorAttachmentCount = 1, subpasses[0].pColorAttachments = &color, subpasses[0].pDepthStencilAttachment = &depth;
  subpasses[1].colorAttachmentCount = 1, subpasses[1].pColorAttachments = &second;
  subpasses[1].inputAttachmentCount = 1, subpasses[1].pInputAttachments = &input;
  if (w.first_of_second) subpasses[1].pNext = &other;
  if (explicit_resolve) subpasses[0].pResolveAttachments = &resolve, subpasses[1].pResolveAttachments = &second_resolve;
  const VkSubpassDependency2 dependency{VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
                                        nullptr,
                                        0,
                                        1,
                                        VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                        VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                                        VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                        VK_ACCESS_INPUT_ATTACHMENT_READ_BIT,
                                        VK_DEPENDENCY_BY_REGION_BIT,
                                        0};
  VkRenderPassCreateInfo2 info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
  info.attachmentCount = static_cast<uint32_t>(attachments.size()), info.pAttachments = attachments.data();
  info.subpassCount = w.second ? 2 : 1, info.pSubpasses = subpasses;
  if (w.second) info.dependencyCount = 1, info.pDependencies = &dependency;
  VkRenderPass out = nullptr;
  (void)s.create_pass(s.device, &info, nullptr, &out);
  return out;
}

const char* last_told(const Scene& s, const char* part) {
  for (auto text = s.told.rbegin(); text != s.told.rend(); ++text)
    if (text->find(part) != std::string::npos) return text->c_str();
  return nullptr;
}

// A subpass alone; two that are one tile pass, of which the second reads all samples; and one that reads the resolved image.
void test_subpasses() {
  Scene s;
  const VkDescriptorSetLayout sets = s.set_layout({{0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr}});
  const VkPipelineLayout layout = s.pipeline_layout({sets});
  const Scene::Targets one = s.targets(1), want = s.targets(1), many = s.targets(4);
  const Scene::BoundImage one_second = s.image(kColor, kSide_px, kSide_px, kColorUse),
                          want_second = s.image(kColor, kSide_px, kSide_px, kColorUse),
                          many_second = s.image(kColor, kSide_px, kSide_px, kColorUse, false, VK_SAMPLE_COUNT_4_BIT);
  const auto draw_pass = [&](VkRenderPass pass, const std::vector<VkImageView>& views, uint32_t samples, uint32_t samples_of_second,
                             const char* second, VkImageView input) {
    const Scene::Change none = [](VkGraphicsPipelineCreateInfo&) {};
    const VkPipeline first = s.pipeline(kTriangles, kNumbers, samples, none, nullptr, pass, 0);
    const VkFramebuffer frame = s.framebuffer(pass, views, kSide_px);
    VkClearValue clears[6]{};
    clears[0].color = {{0.1F, 0.2F, 0.3F, 0.4F}}, clears[1].depthStencil = {0.6F, 3};
    const VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, nullptr, pass, frame, kArea, 6, clears};
    const VkCommandBuffer c = s.begin();
    s.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    s.draw(c, first, 7);
    if (second) {
      const VkDescriptorSet set = s.descriptor_set(sets);
      const VkDescriptorImageInfo info{nullptr, input, VK_IMAGE_LAYOUT_GENERAL};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, 0, 0, 1, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT};
      write.pImageInfo = &info;
      s.UpdateDescriptorSets(s.device, 1, &write, 0, nullptr);
      const VkPipeline reads = s.pipeline(kWhole, second, samples_of_second, none, layout, pass, 1);
      s.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
      s.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
      s.draw(c, reads);
    }
    s.CmdEndRenderPass(c);
    s.run(c);
    for (const std::string& text : s.said) CHECK_MESSAGE(false, text);
  };
  const auto compare = [&](const char* what) {
    CHECK_MESSAGE(s.read(one.color, VK_IMAGE_ASPECT_COLOR_BIT) == s.read(want.color, VK_IMAGE_ASPECT_COLOR_BIT), what);
    for (const auto aspect : {VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT})
      CHECK_MESSAGE(s.read(one.depth, aspect) == s.read(want.depth, aspect), what);
  };
  draw_pass(make_pass(s, {4, 0, 0, false}), {many.color.view, many.depth.view, want.color.view, want.depth.view}, 4, 0, nullptr, nullptr);
  draw_pass(make_pass(s, {1, 4, 0, false}), {one.color.view, one.depth.view}, 4, 0, nullptr, nullptr);
  compare("a subpass");
  CHECK(last_told(s, "subpass 0 renders with 4 samples to attachments of one: of each pixel 27 bytes stay in the tile"));

  draw_pass(make_pass(s, {4, 0, 0, true}),
            {many.color.view, many.depth.view, many_second.view, want.color.view, want.depth.view, want_second.view}, 4, 4, kReads,
            many.color.view);
  draw_pass(make_pass(s, {1, 4, 4, true}), {one.color.view, one.depth.view, one_second.view}, 4, 4, kReads, one.color.view);
  CHECK(last_told(s, "2 subpasses are 1 tile pass;"));
  compare("two subpasses");
  CHECK(s.read(one_second, VK_IMAGE_ASPECT_COLOR_BIT) == s.read(want_second, VK_IMAGE_ASPECT_COLOR_BIT));

  // The second subpass has one sample: it reads what the first resolved.
  draw_pass(make_pass(s, {1, 4, 0, true}), {one.color.view, one.depth.view, one_second.view}, 4, 1, kReadsOne, one.color.view);
  CHECK(last_told(s, "2 subpasses are 2 tile passes; subpass 1 begins another tile pass: it renders to attachments of one sample"));
  CHECK(s.read(one_second, VK_IMAGE_ASPECT_COLOR_BIT) == s.read(want.color, VK_IMAGE_ASPECT_COLOR_BIT));
}

void test_queries_and_messages() {
  Scene s;
  PFN_vkGetPhysicalDeviceFormatProperties2 of_format = nullptr;
  PFN_vkGetPhysicalDeviceImageFormatProperties2 of_image = nullptr;
  s.load(of_format, "vkGetPhysicalDeviceFormatProperties2"), s.load(of_image, "vkGetPhysicalDeviceImageFormatProperties2");
  VkSubpassResolvePerformanceQueryEXT resolve{VK_STRUCTURE_TYPE_SUBPASS_RESOLVE_PERFORMANCE_QUERY_EXT};
  VkFormatProperties2 format{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, &resolve};
  of_format(s.physical_device, kDepth, &format);
  CHECK(resolve.optimal);
  VkPhysicalDeviceImageFormatInfo2 asked{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
                                         nullptr,
                                         kColor,
                                         VK_IMAGE_TYPE_2D,
                                         VK_IMAGE_TILING_OPTIMAL,
                                         VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
                                         VK_IMAGE_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_BIT_EXT};
  VkImageFormatProperties2 found{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
  CHECK(of_image(s.physical_device, &asked, &found) == VK_SUCCESS && found.imageFormatProperties.sampleCounts == 31);
  asked.format = VK_FORMAT_BC1_RGBA_UNORM_BLOCK, asked.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  CHECK(of_image(s.physical_device, &asked, &found) == VK_ERROR_FORMAT_NOT_SUPPORTED);
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.flags = VK_IMAGE_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_BIT_EXT;
  info.imageType = VK_IMAGE_TYPE_2D, info.format = kColor, info.extent = {8, 8, 1};
  info.mipLevels = info.arrayLayers = 1, info.samples = VK_SAMPLE_COUNT_1_BIT, info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  VkImage made = nullptr;
  CHECK(s.CreateImage(s.device, &info, nullptr, &made) == VK_SUCCESS);
  s.DestroyImage(s.device, made, nullptr);
  info.samples = VK_SAMPLE_COUNT_4_BIT;
  CHECK(s.CreateImage(s.device, &info, nullptr, &made) != VK_SUCCESS && s.heard("it must be 1"));

  CHECK(!make_pass(s, {1, 1, 0, false}) && s.heard("rasterizationSamples of VkMultisampledRenderToSingleSampledInfoEXT is 1"));
  CHECK(!make_pass(s, {2, 4, 0, false}) && s.heard("attachment 0 has 2 samples, and the subpass renders with 4; 1 and 4 are allowed"));
  const Scene::Targets two = s.targets(2), one = s.targets(1);
  VkCommandBuffer c = s.begin();
  s.begin_pass(c, {one.color, two.integer, one.depth}, 4, nullptr, false, {kZero, kZero});
  CHECK(s.EndCommandBuffer(c) != VK_SUCCESS && s.heard("because single_sampled_samples is 4"));
  c = s.begin();
  s.begin_pass(c, one, 4, nullptr, false, {kZero, VK_RESOLVE_MODE_AVERAGE_BIT});
  CHECK(s.EndCommandBuffer(c) != VK_SUCCESS && s.heard("integers have no average"));
}

}  // namespace

int main() {
  setenv("TILEGPU_VULKAN_WITH", "VK_EXT_multisampled_render_to_single_sampled", 1);  // not listed by itself
  test_dynamic();
  test_mixed();
  test_subpasses();
  test_queries_and_messages();
  return test::finish("test_vulkan_single_sampled");
}
