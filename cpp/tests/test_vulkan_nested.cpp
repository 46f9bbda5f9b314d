// tests/test_vulkan_nested.cpp -- VK_EXT_nested_command_buffer: secondary command buffers that execute others, in a pass and outside,
// beside commands of their own; several times, to a depth that is named. Oracle: the closed form of what the draws add up to.
#include <cstring>

#include "tilegpu/capture.hpp"
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 40;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
constexpr VkFormat kColor = VK_FORMAT_R32_UINT;

const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0, 1); })";
// Draws of one pass in order: each bit is set by one.
const char* const kBit = R"(#version 450
layout(push_constant) uniform P { uint bit; };
layout(set = 0, binding = 0) buffer Seen { uint seen[]; };
layout(location = 0) out uint o;
void main() { o = bit; atomicAdd(seen[bit], 1u); })";

struct Scene : Program {
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  PFN_vkCmdPushConstants push = nullptr;
  PFN_vkCmdFillBuffer fill = nullptr;
  VkPipelineLayout layout = nullptr;
  VkPipeline pipeline = nullptr;
  VkDescriptorSet set = nullptr;
  MappedBuffer seen{}, out{};
  BoundImage color{};

  Scene() {
    VkPhysicalDeviceNestedCommandBufferFeaturesEXT nested{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NESTED_COMMAND_BUFFER_FEATURES_EXT, nullptr,
                                                          VK_TRUE, VK_TRUE, VK_TRUE};
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, &nested, VK_TRUE};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &dynamic};
    features.features.fragmentStoresAndAtomics = features.features.occlusionQueryPrecise = VK_TRUE;
    remake_device({"VK_KHR_dynamic_rendering", "VK_EXT_nested_command_buffer"}, &features);
    load(begin_rendering, "vkCmdBeginRendering"), load(end_rendering, "vkCmdEndRendering");
    load(push, "vkCmdPushConstants"), load(fill, "vkCmdFillBuffer");
    const VkDescriptorSetLayout sets = set_layout({{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr}});
    layout = pipeline_layout({sets}, {{VK_SHADER_STAGE_FRAGMENT_BIT, 0, 4}});
    set = descriptor_set(sets);
    seen = buffer(64 * 4, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    std::memset(seen.data, 0, 64 * 4);
    out = buffer(size_t{kSide_px} * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VkDescriptorBufferInfo range{seen.buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set,   0, 0, 1,
                                     VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,      nullptr, &range};
    UpdateDescriptorSets(device, 1, &write, 0, nullptr);
    pipeline = make_pipeline(*this, kWhole, kBit, layout, nullptr, 0, [](VkGraphicsPipelineCreateInfo& info) {
      static const VkFormat format = kColor;
      static const VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 1, &format};
      info.pNext = &rendering;
    });
    color = image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  }
  VkCommandBuffer secondary(bool in_pass, bool query = false) {
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                         1};
    VkCommandBuffer c = nullptr;
    CHECK(AllocateCommandBuffers(device, &allocate, &c) == VK_SUCCESS);
    static const VkFormat format = kColor;
    VkCommandBufferInheritanceRenderingInfo rendering{
        VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO, nullptr, 0, 0, 1, &format};
    rendering.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkCommandBufferInheritanceInfo inheritance{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, in_pass ? &rendering : nullptr};
    inheritance.occlusionQueryEnable = query;
    VkCommandBufferUsageFlags use = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    if (in_pass) use |= VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, use, &inheritance};
    CHECK(BeginCommandBuffer(c, &begin) == VK_SUCCESS);
    return c;
  }
  void draw(VkCommandBuffer c, uint32_t bit, uint32_t from_x) {
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    const VkRect2D scissor{{static_cast<int32_t>(from_x), 0}, {kSide_px - from_x, kSide_px}};
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    CmdSetViewport(c, 0, 1, &viewport), CmdSetScissor(c, 0, 1, &scissor);
    CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
    push(c, layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, 4, &bit);
    CmdDraw(c, 3, 1, 0, 0);
  }
  void begin_pass(VkCommandBuffer c) {
    VkRenderingAttachmentInfo a{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    a.imageView = color.view, a.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, a.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    const VkRenderingInfo info{
        VK_STRUCTURE_TYPE_RENDERING_INFO, nullptr, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT, kArea, 1, 0, 1, &a};
    begin_rendering(c, &info);
  }
  uint32_t drawn(uint32_t bit) const {
    uint32_t count;
    std::memcpy(&count, seen.data + 4 * bit, 4);
    return count;
  }
};

// outer: draw 1, inner (draw 2, innermost (draw 3), draw 4), draw 5, inner again. Columns tell their order: each begins further right.
void test_in_a_pass() {
  Scene s;
  const VkCommandBuffer innermost = s.secondary(true, true), inner = s.secondary(true, true), outer = s.secondary(true, true);
  s.draw(innermost, 3, 20);
  CHECK(s.EndCommandBuffer(innermost) == VK_SUCCESS);
  s.draw(inner, 2, 10);
  s.CmdExecuteCommands(inner, 1, &innermost);
  s.draw(inner, 4, 30);
  CHECK(s.EndCommandBuffer(inner) == VK_SUCCESS);
  s.draw(outer, 1, 0);
  s.CmdExecuteCommands(outer, 1, &inner);
  s.draw(outer, 5, 35);
  s.CmdExecuteCommands(outer, 1, &inner);
  CHECK(s.EndCommandBuffer(outer) == VK_SUCCESS);
  VkQueryPoolCreateInfo queries{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_OCCLUSION, 1};
  VkQueryPool pool = nullptr;
  CHECK(s.CreateQueryPool(s.device, &queries, nullptr, &pool) == VK_SUCCESS);
  const VkCommandBuffer c = s.begin();
  s.CmdResetQueryPool(c, pool, 0, 1);
  s.begin_pass(c);
  s.CmdBeginQuery(c, pool, 0, VK_QUERY_CONTROL_PRECISE_BIT);
  s.CmdExecuteCommands(c, 1, &outer);
  s.CmdEndQuery(c, pool, 0);
  s.end_rendering(c);
  s.run_and_read(c, s.color, kSide_px, s.out.buffer);
  for (uint32_t y = 0; y < kSide_px; ++y)
    for (uint32_t x = 0; x < kSide_px; ++x) {
      uint32_t got;
      std::memcpy(&got, s.out.data + (size_t{y} * kSide_px + x) * 4, 4);
      CHECK(got == (x < 10 ? 1U : x < 20 ? 2U : x < 30 ? 3U : 4U));  // the second inner lies over draw 5
    }
  const uint32_t column = kSide_px;
  CHECK(s.drawn(1) == 40 * column && s.drawn(2) == 2 * 30 * column && s.drawn(3) == 2 * 20 * column && s.drawn(4) == 2 * 10 * column &&
        s.drawn(5) == 5 * column);
  uint64_t samples = 0;
  CHECK(s.GetQueryPoolResults(s.device, pool, 0, 1, 8, &samples, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
  CHECK(samples == uint64_t{40 + 60 + 40 + 20 + 5} * column);
  s.DestroyQueryPool(s.device, pool, nullptr);
}

// Outside of passes: passes of their own, fills.
void test_outside() {
  Scene s;
  const VkCommandBuffer inner = s.secondary(false), outer = s.secondary(false);
  s.fill(inner, s.seen.buffer, 0, 4, 7);
  CHECK(s.EndCommandBuffer(inner) == VK_SUCCESS);
  s.fill(outer, s.seen.buffer, 4, 4, 8);
  s.CmdExecuteCommands(outer, 1, &inner);
  s.fill(outer, s.seen.buffer, 8, 4, 9);
  CHECK(s.EndCommandBuffer(outer) == VK_SUCCESS);
  const VkCommandBuffer c = s.begin();
  s.CmdExecuteCommands(c, 1, &outer);
  s.run(c);
  CHECK(s.drawn(0) == 7 && s.drawn(1) == 8 && s.drawn(2) == 9);
  for (const std::string& text : s.said) CHECK_MESSAGE(false, text);
}

// As deep as the property says, and no deeper; a part that an active query is not announced to.
void test_limits() {
  Scene s;
  PFN_vkGetPhysicalDeviceProperties2 properties = nullptr;
  s.load(properties, "vkGetPhysicalDeviceProperties2");
  VkPhysicalDeviceNestedCommandBufferPropertiesEXT nested{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NESTED_COMMAND_BUFFER_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &nested};
  properties(s.physical_device, &all);
  const uint32_t most = nested.maxCommandBufferNestingLevel;
  CHECK(most >= 1);
  for (const uint32_t depth : {most, most + 1}) {
    VkCommandBuffer last = s.secondary(false);
    s.fill(last, s.seen.buffer, 0, 4, depth);
    CHECK(s.EndCommandBuffer(last) == VK_SUCCESS);
    for (uint32_t i = 1; i <= depth; ++i) {  // `i` levels of secondary command buffers lie below
      const VkCommandBuffer next = s.secondary(false);
      s.CmdExecuteCommands(next, 1, &last);
      const bool fits = i <= most;
      CHECK((s.EndCommandBuffer(next) == VK_SUCCESS) == fits);
      if (!fits) CHECK(s.heard("maxCommandBufferNestingLevel"));
      last = next;
    }
    if (depth > most) continue;
    const VkCommandBuffer c = s.begin();
    s.CmdExecuteCommands(c, 1, &last);
    s.run(c);
    CHECK(s.drawn(0) == depth);
  }
  const VkCommandBuffer silent = s.secondary(true, false), counted = s.secondary(true, true);
  s.draw(silent, 1, 0);
  CHECK(s.EndCommandBuffer(silent) == VK_SUCCESS);
  s.CmdExecuteCommands(counted, 1, &silent);
  CHECK(s.EndCommandBuffer(counted) == VK_SUCCESS);  // there need be no query: test_vulkan_inherited asks where there is
}

}  // namespace

int main() {
  test_in_a_pass();
  test_outside();
  test_limits();
  return test::finish("test_vulkan_nested");
}
