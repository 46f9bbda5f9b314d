// tests/test_vulkan_unused_attachments.cpp -- VK_EXT_dynamic_rendering_unused_attachments: pipelines with formats where the pass has no
// attachment, passes with attachments where the pipeline has no format, and secondary command buffers between both; what is not there
// changes nothing of what is. Oracle: closed forms of what the shaders write.
#include <unistd.h>

#include <array>
#include <cstring>
#include <set>

#include "icd/objects.hpp"
#include "tilegpu/capture.hpp"
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 24;
constexpr size_t kTexels = size_t{kSide_px} * kSide_px;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
constexpr VkFormat kColor = VK_FORMAT_R32_UINT, kDepth = VK_FORMAT_D32_SFLOAT;
constexpr uint32_t kColors = 3, kCleared = 5;

// Depth 0.25; with the clear of 0.5 GREATER passes nowhere, and everywhere without a depth attachment.
const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0.25, 1); })";
const char* const kThree = R"(#version 450
layout(location = 0) out uint a; layout(location = 1) out uint b; layout(location = 2) out uint c;
void main() { uint at = uint(gl_FragCoord.x) + 100 * uint(gl_FragCoord.y); a = 10000 + at; b = 20000 + at; c = 30000 + at; })";
const char* const kReads = R"(#version 450
layout(input_attachment_index = 1, set = 0, binding = 0) uniform usubpassInput b;
layout(location = 0) out uint a; void main() { a = 7 + subpassLoad(b).x; })";

uint32_t written(uint32_t color, size_t texel) {
  return (color + 1) * 10000 + static_cast<uint32_t>(texel % kSide_px) + 100 * static_cast<uint32_t>(texel / kSide_px);
}

struct Scene : Program {
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  PFN_vkCmdSetDepthTestEnable set_depth_test = nullptr;
  VkPipelineLayout layout = nullptr;
  std::array<BoundImage, kColors> colors{};
  BoundImage depth{};
  MappedBuffer out{};

  explicit Scene(bool enabled = true) {
    VkPhysicalDeviceDynamicRenderingUnusedAttachmentsFeaturesEXT unused{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_UNUSED_ATTACHMENTS_FEATURES_EXT, nullptr, enabled};
    VkPhysicalDeviceDynamicRenderingLocalReadFeatures local{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES,
                                                            &unused, VK_TRUE};
    VkPhysicalDeviceNestedCommandBufferFeaturesEXT nested{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NESTED_COMMAND_BUFFER_FEATURES_EXT, &local,
                                                          VK_TRUE, VK_TRUE, VK_TRUE};
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, &nested, VK_TRUE};
    remake_device({"VK_KHR_dynamic_rendering", "VK_EXT_dynamic_rendering_unused_attachments", "VK_EXT_nested_command_buffer",
                   "VK_KHR_dynamic_rendering_local_read", "VK_EXT_extended_dynamic_state"},
                  &dynamic);
    load(begin_rendering, "vkCmdBeginRendering"), load(end_rendering, "vkCmdEndRendering");
    load(set_depth_test, "vkCmdSetDepthTestEnableEXT");
    layout = pipeline_layout({});
    for (BoundImage& color : colors)
      color = image(kColor, kSide_px, kSide_px,
                    VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT);
    depth = image(kDepth, kSide_px, kSide_px, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);
    out = buffer(kTexels * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }

  /// With formats for the colours whose bits are set; `count`: of the array, behind which there is nothing.
  VkPipeline pipeline(uint32_t formats, uint32_t count, bool has_depth, const char* fragment = kThree, bool dynamic = false,
                      VkPipelineLayout with = nullptr) {
    return make_pipeline(*this, kWhole, fragment, with ? with : layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
      static VkFormat of[kColors];
      static VkPipelineColorBlendAttachmentState blends[kColors];
      static VkPipelineRenderingCreateInfo rendering;
      static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE};
      for (uint32_t i = 0; i < kColors; ++i) of[i] = formats >> i & 1 ? kColor : VK_FORMAT_UNDEFINED, blends[i].colorWriteMask = 15;
      rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, count, of};
      rendering.depthAttachmentFormat = has_depth ? kDepth : VK_FORMAT_UNDEFINED;
      info.pNext = &rendering;
      auto* blend = const_cast<VkPipelineColorBlendStateCreateInfo*>(info.pColorBlendState);
      blend->attachmentCount = count, blend->pAttachments = blends;
      auto* tests = const_cast<VkPipelineDepthStencilStateCreateInfo*>(info.pDepthStencilState);
      tests->depthTestEnable = VK_TRUE, tests->depthCompareOp = VK_COMPARE_OP_GREATER;
      auto* open = const_cast<VkPipelineDynamicStateCreateInfo*>(info.pDynamicState);
      if (dynamic) open->dynamicStateCount = 3, open->pDynamicStates = states;
    });
  }

  void begin_pass(VkCommandBuffer c, uint32_t views, uint32_t count, bool has_depth, VkRenderingFlags flags = 0) {
    VkRenderingAttachmentInfo a[kColors], d{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    for (uint32_t i = 0; i < kColors; ++i) {
      a[i] = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
      a[i].imageView = views >> i & 1 ? colors[i].view : nullptr;
      a[i].loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, a[i].storeOp = VK_ATTACHMENT_STORE_OP_STORE;
      a[i].clearValue.color.uint32[0] = kCleared;
    }
    d.imageView = depth.view, d.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, d.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    d.clearValue.depthStencil.depth = 0.5F;
    const VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, nullptr, flags, kArea, 1, 0, count, a, has_depth ? &d : nullptr};
    begin_rendering(c, &info);
  }
  void draw(VkCommandBuffer c, VkPipeline with) {
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    CmdSetViewport(c, 0, 1, &viewport), CmdSetScissor(c, 0, 1, &kArea);
    CmdDraw(c, 3, 1, 0, 0);
  }
  VkCommandBuffer secondary(uint32_t formats, uint32_t count, bool has_depth) {
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                         1};
    VkCommandBuffer c = nullptr;
    CHECK(AllocateCommandBuffers(device, &allocate, &c) == VK_SUCCESS);
    VkFormat of[kColors];
    for (uint32_t i = 0; i < kColors; ++i) of[i] = formats >> i & 1 ? kColor : VK_FORMAT_UNDEFINED;
    VkCommandBufferInheritanceRenderingInfo rendering{
        VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO, nullptr, 0, 0, count, of};
    rendering.depthAttachmentFormat = has_depth ? kDepth : VK_FORMAT_UNDEFINED;
    rendering.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkCommandBufferInheritanceInfo inheritance{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, &rendering};
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT | VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
                                         &inheritance};
    CHECK(BeginCommandBuffer(c, &begin) == VK_SUCCESS);
    return c;
  }
  VkCommandBuffer ended(VkCommandBuffer c) {
    CHECK(EndCommandBuffer(c) == VK_SUCCESS);
    return c;
  }

  uint32_t at(size_t texel) const {
    uint32_t value;
    std::memcpy(&value, out.data + texel * 4, 4);
    return value;
  }
  /// Runs the commands; each colour of `views` is what the draw wrote, where it is among `drawn`, or its clear.
  void check(VkCommandBuffer c, uint32_t views, uint32_t drawn) {
    run(c);
    for (uint32_t i = 0; i < kColors; ++i) {
      if (!(views >> i & 1)) continue;
      run_and_read(begin(), colors[i], kSide_px, out.buffer);
      size_t wrong = 0;
      for (size_t t = 0; t < kTexels; ++t) wrong += at(t) != (drawn >> i & 1 ? written(i, t) : kCleared);
      CHECK_MESSAGE(wrong == 0, "colour " + std::to_string(i) + " of views " + std::to_string(views) + ", drawn " + std::to_string(drawn) +
                                    ": " + std::to_string(wrong) + " texels");
    }
  }
};

// Every set of formats with every set of attachments, in arrays as long as they need be and longer; depth on either side. One command
// buffer binds each pipeline once and draws with it in two passes with other attachments.
void test_all_sets() {
  Scene s;
  for (uint32_t formats = 0; formats < 8; ++formats) {
    for (const bool tests : {false, true}) {
      const uint32_t count = formats & 4 ? 3 : formats & 2 ? 2 : formats;
      const VkPipeline with = s.pipeline(formats, tests ? kColors : count, tests, kThree, tests && formats & 1);
      for (uint32_t views = 1; views < 8; ++views) {
        const bool has_depth = (views + formats) % 2 == 0;
        const VkCommandBuffer c = s.begin();
        s.begin_pass(c, views, tests ? kColors : views & 4 ? 3 : views & 2 ? 2 : 1, has_depth);
        if (tests && formats & 1) s.set_depth_test(c, VK_TRUE);
        s.draw(c, with);
        s.end_rendering(c);
        // Tests hide it where both have depth.
        s.check(c, views, tests && has_depth ? 0 : formats & views);
      }
      s.DestroyPipeline(s.device, with, nullptr);
    }
  }
  // The same pipeline, bound once.
  const VkPipeline all = s.pipeline(7, 3, true);
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c, 2, 3, false);
  s.draw(c, all);
  s.end_rendering(c);
  for (const uint32_t views : {1U, 4U}) {
    s.begin_pass(c, views, 3, false);
    s.CmdDraw(c, 3, 1, 0, 0);
    s.end_rendering(c);
  }
  s.check(c, 7, 7);
}

// Recordings as they are in a file, replayed on a device that enabled nothing: the same pictures. `views`: what the passes store.
void check_replayed(const VkCommandBuffer c, const Scene& s, uint32_t views, uint32_t drawn) {
  char name[] = "/tmp/tilegpu_unused_XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0);
  close(file);
  CHECK(save_capture(s.device->core, {c->core}, name));
  auto device = Device::create({.threads = 2, .cache_dir = "off"});
  CHECK(device);
  auto loaded = load_capture(*device, name);
  if (CHECK_MESSAGE(loaded, loaded ? "" : loaded.error().message)) {
    auto done = (*device)->submit_and_wait({loaded->command_buffers, {}}, {});
    CHECK(done);
    std::multiset<uint32_t> want, got;  // of the corners
    for (uint32_t i = 0; i < kColors; ++i)
      if (views >> i & 1) want.insert(drawn >> i & 1 ? written(i, 0) : kCleared);
    for (const Ptr<ImageView>& view : loaded->stored) {
      if (view->info().format != kColor) continue;
      uint32_t corner;
      std::memcpy(&corner, view->image()->data(), 4);
      got.insert(corner);
    }
    CHECK(want == got);
  }
  unlink(name);
}

// Draws of a secondary that inherits other attachments than the pass has, with a pipeline that has others again; in another secondary.
void test_secondaries() {
  Scene s;
  const VkPipeline all = s.pipeline(7, 3, true), two = s.pipeline(3, 2, false);
  for (const uint32_t inherited : {7U, 5U, 2U})
    for (const uint32_t views : {1U, 3U, 6U, 7U}) {
      const VkCommandBuffer inner = s.secondary(inherited, 3, true), outer = s.secondary(7, 3, false);
      s.draw(inner, all);
      s.CmdExecuteCommands(outer, 1, &(const VkCommandBuffer&)s.ended(inner));
      s.ended(outer);
      for (const bool nests : {false, true}) {
        const VkCommandBuffer c = s.begin();
        s.begin_pass(c, views, 3, false, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
        s.CmdExecuteCommands(c, 1, nests ? &outer : &inner);
        s.end_rendering(c);
        s.check(c, views, inherited & views);
        check_replayed(c, s, views, inherited & views);
      }
      // Behind a draw that is hidden, with depth on both sides.
      const VkCommandBuffer c = s.begin();
      s.begin_pass(c, views, 3, true, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
      s.CmdExecuteCommands(c, 1, &inner);
      s.end_rendering(c);
      s.check(c, views, 0);
    }
  // Clears of what the pass has not; others are done.
  const VkCommandBuffer clears = s.secondary(7, 3, true);
  s.draw(clears, two);
  for (const uint32_t i : {1U, 2U}) {
    VkClearAttachment clear{VK_IMAGE_ASPECT_COLOR_BIT, i, {}};
    clear.clearValue.color.uint32[0] = kCleared;
    const VkClearRect rect{kArea, 0, 1};
    s.CmdClearAttachments(clears, 1, &clear, 1, &rect);
  }
  const VkClearAttachment depth{VK_IMAGE_ASPECT_DEPTH_BIT, 0, {}};
  const VkClearRect rect{kArea, 0, 1};
  s.CmdClearAttachments(clears, 1, &depth, 1, &rect);
  s.ended(clears);
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c, 3, 3, false, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
  s.CmdExecuteCommands(c, 1, &clears);
  s.end_rendering(c);
  s.check(c, 3, 1);
}

// An input attachment that is not there reads as zeros.
void test_inputs() {
  Scene s;
  const VkDescriptorSetLayout sets = s.set_layout({{0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr}});
  const VkPipelineLayout layout = s.pipeline_layout({sets});
  const VkDescriptorSet set = s.descriptor_set(sets);
  const VkPipeline reads = s.pipeline(3, 2, false, kReads, false, layout);
  for (const uint32_t views : {3U, 1U}) {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c, views, 2, false);
    s.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
    s.draw(c, reads);
    s.end_rendering(c);
    s.run_and_read(c, s.colors[0], kSide_px, s.out.buffer);
    CHECK(s.at(0) == 7 + (views == 3 ? kCleared : 0) && s.at(kTexels - 1) == s.at(0));
  }
}

// Two formats that are both there must be the same, and a device that did not enable it hears that it is forbidden.
void test_messages() {
  Scene s;
  VkPhysicalDeviceDynamicRenderingUnusedAttachmentsFeaturesEXT have{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_UNUSED_ATTACHMENTS_FEATURES_EXT};
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &have};
  PFN_vkGetPhysicalDeviceFeatures2 features = nullptr;
  s.load(features, "vkGetPhysicalDeviceFeatures2");
  features(s.physical_device, &all);
  CHECK(have.dynamicRenderingUnusedAttachments);
  const Scene::BoundImage other = s.image(VK_FORMAT_R32_SINT, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
  const VkImageView own = s.colors[1].view;
  s.colors[1].view = other.view;
  VkCommandBuffer c = s.begin();
  s.begin_pass(c, 3, 2, false);
  s.draw(c, s.pipeline(7, 3, false));
  s.end_rendering(c);
  CHECK(s.EndCommandBuffer(c) != VK_SUCCESS && s.heard("color[1] has format r32_sint in the pass and r32_uint in the pipeline"));
  s.said.clear();
  c = s.begin();
  s.begin_pass(c, 3, 2, false, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
  const VkCommandBuffer part = s.ended(s.secondary(7, 3, false));
  s.CmdExecuteCommands(c, 1, &part);
  s.end_rendering(c);
  CHECK(s.EndCommandBuffer(c) != VK_SUCCESS && s.heard("other formats or samples"));
  s.colors[1].view = own;

  Scene plain(false);
  c = plain.begin();
  plain.begin_pass(c, 1, 2, false);
  plain.draw(c, plain.pipeline(3, 2, true));
  plain.end_rendering(c);
  plain.run(c);
  CHECK(plain.heard("color[1] has format none in the pass and r32_uint in the pipeline"));
  CHECK(plain.heard("the pipeline tests depth, but the pass has no depth attachment"));
  plain.said.clear();
  plain.run_and_read(plain.begin(), plain.colors[0], kSide_px, plain.out.buffer);
  CHECK(plain.at(3) == written(0, 3));
}

// Several samples, overlapping triangles: a colour that the pipeline has no format for stays what it was cleared to, though what is drawn
// covers all colours that the pipeline has.
constexpr char kTriangles[] = R"(#version 450
void main() {
  const float turn = 0.7 * float(gl_InstanceIndex) + 2.2 * float(gl_VertexIndex), far = 0.3 + 0.2 * float(gl_InstanceIndex % 3);
  gl_Position = vec4(far * cos(turn) + 0.1, far * sin(turn) - 0.2, 0.5, 1);
})";
constexpr char kTwo[] = R"(#version 450
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
void main() { a = b = vec4(1, 0.5, 0.25, 1); })";

void test_samples() {
  constexpr uint32_t kSize_px = 45;
  constexpr VkFormat kUnorm = VK_FORMAT_R8G8B8A8_UNORM;
  constexpr VkImageUsageFlags kUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  Scene s;
  const auto out = s.buffer(kSize_px * kSize_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (const VkSampleCountFlagBits samples : {VK_SAMPLE_COUNT_2_BIT, VK_SAMPLE_COUNT_4_BIT, VK_SAMPLE_COUNT_16_BIT})
    for (const uint32_t instances : {1u, 4u, 9u}) {
      const VkFormat formats[] = {VK_FORMAT_UNDEFINED, kUnorm};
      const VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 2, formats};
      VkPipelineColorBlendAttachmentState blends[2] = {};
      for (auto& blend : blends) blend.colorWriteMask = 15;
      const VkPipeline pipeline = make_pipeline(s, kTriangles, kTwo, s.layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
        info.pNext = &rendering;
        auto* blend = const_cast<VkPipelineColorBlendStateCreateInfo*>(info.pColorBlendState);
        blend->attachmentCount = 2, blend->pAttachments = blends;
        const_cast<VkPipelineMultisampleStateCreateInfo*>(info.pMultisampleState)->rasterizationSamples = samples;
      });
      VkRenderingAttachmentInfo a[2];
      Program::BoundImage drawn[2], resolved[2];
      for (int k = 0; k < 2; ++k) {
        drawn[k] = s.image(kUnorm, kSize_px, kSize_px, kUsage, false, samples), resolved[k] = s.image(kUnorm, kSize_px, kSize_px, kUsage);
        a[k] = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
        a[k].imageView = drawn[k].view, a[k].loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, a[k].storeOp = VK_ATTACHMENT_STORE_OP_STORE;
        a[k].clearValue.color = {{0.2F, 0.4F, 0.6F, 0.8F}};
        a[k].resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT, a[k].resolveImageView = resolved[k].view;
        a[k].imageLayout = a[k].resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
      }
      const VkRect2D area{{0, 0}, {kSize_px, kSize_px}};
      const VkViewport viewport{0, 0, kSize_px, kSize_px, 0, 1};
      const VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, nullptr, 0, area, 1, 0, 2, a};
      const VkCommandBuffer c = s.begin();
      s.begin_rendering(c, &info);
      s.CmdSetViewport(c, 0, 1, &viewport), s.CmdSetScissor(c, 0, 1, &area);
      s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      s.CmdDraw(c, 3, instances, 0, 0);
      s.end_rendering(c);
      s.run_and_read(c, resolved[0], kSize_px, out.buffer);
      uint32_t wrong = 0;
      for (uint32_t k = 0; k < kSize_px * kSize_px; ++k) wrong += std::memcmp(out.data + 4 * size_t{k}, "\x33\x66\x99\xcc", 4) != 0;
      CHECK_MESSAGE(wrong == 0,
                    std::to_string(samples) + " samples, " + std::to_string(instances) + " triangles: " + std::to_string(wrong));
      for (int k = 0; k < 2; ++k) s.destroy(drawn[k]), s.destroy(resolved[k]);
      s.DestroyPipeline(s.device, pipeline, nullptr);
    }
  s.destroy(out);
}

}  // namespace

int main() {
  test_all_sets();
  test_secondaries();
  test_inputs();
  test_messages();
  test_samples();
  return test::finish("test_vulkan_unused_attachments");
}
