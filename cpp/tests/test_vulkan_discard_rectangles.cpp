// tests/test_vulkan_discard_rectangles.cpp -- VK_EXT_discard_rectangles by the driver: of pipelines, of their libraries, set by commands
// one by one, as revision 2 has them. Oracle: where pixels lie. With depth and hidden surfaces: tests/test_discard_rectangles.py.
#include <algorithm>
#include <array>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 48;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0.5, 1); })";
const char* const kWhite = R"(#version 450
layout(location = 0) out vec4 o; void main() { o = vec4(1); })";
constexpr VkDynamicState kStates[] = {VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT, VK_DYNAMIC_STATE_DISCARD_RECTANGLE_ENABLE_EXT,
                                      VK_DYNAMIC_STATE_DISCARD_RECTANGLE_MODE_EXT};

/// What a pipeline says, and what commands say.
struct Case {
  const char* name;
  std::vector<VkRect2D> fixed;
  bool inclusive = false;
  std::array<bool, 3> dynamic{};  // of kStates
  std::vector<VkRect2D> set;      // by one command each, the last first
  bool enable = true, set_inclusive = false;
  bool libraries = false;
  bool chained = true;  // the structure is there
  std::vector<VkRect2D> want;
  bool want_inclusive = false;
};

struct Scene : Program {
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  PFN_vkCmdSetDiscardRectangleEXT set_rectangles = nullptr;
  PFN_vkCmdSetDiscardRectangleEnableEXT set_enable = nullptr;
  PFN_vkCmdSetDiscardRectangleModeEXT set_mode = nullptr;
  VkPipelineLayout layout = nullptr;
  BoundImage color{};
  MappedBuffer out{};

  Scene() {
    VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT library{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT,
                                                               nullptr, VK_TRUE};
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, &library, VK_TRUE};
    remake_device({"VK_KHR_dynamic_rendering", "VK_KHR_pipeline_library", "VK_EXT_graphics_pipeline_library", "VK_EXT_discard_rectangles"},
                  &dynamic);
    load(begin_rendering, "vkCmdBeginRendering"), load(end_rendering, "vkCmdEndRendering");
    load(set_rectangles, "vkCmdSetDiscardRectangleEXT");
    load(set_enable, "vkCmdSetDiscardRectangleEnableEXT"), load(set_mode, "vkCmdSetDiscardRectangleModeEXT");
    layout = pipeline_layout({}, {});
    color = image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    out = buffer(size_t{kSide_px} * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }
  ~Scene() {
    DestroyPipelineLayout(device, layout, nullptr);
    destroy(color), destroy(out);
  }

  VkPipeline pipeline(const Case& one) {
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 1, &format};
    VkPipelineDiscardRectangleStateCreateInfoEXT rectangles{
        VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT,
        &rendering,
        0,
        one.inclusive ? VK_DISCARD_RECTANGLE_MODE_INCLUSIVE_EXT : VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT,
        static_cast<uint32_t>(one.fixed.size()),
        one.dynamic[0] ? nullptr : one.fixed.data()};
    std::vector<VkDynamicState> states{VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    for (size_t i = 0; i < 3; ++i)
      if (one.dynamic[i]) states.push_back(kStates[i]);
    std::vector<VkPipeline> parts;
    const auto adapt = [&](VkGraphicsPipelineCreateInfo& info) {
      info.pNext = one.chained ? static_cast<const void*>(&rectangles) : &rendering;
      auto* dynamic = const_cast<VkPipelineDynamicStateCreateInfo*>(info.pDynamicState);
      dynamic->dynamicStateCount = static_cast<uint32_t>(states.size()), dynamic->pDynamicStates = states.data();
      if (!one.libraries) return;
      for (const VkGraphicsPipelineLibraryFlagsEXT part : {1, 2, 4, 8}) {
        VkGraphicsPipelineCreateInfo of = info;
        const VkGraphicsPipelineLibraryCreateInfoEXT which{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
                                                           const_cast<void*>(info.pNext), part};
        of.pNext = &which, of.flags |= VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
        CHECK(CreateGraphicsPipelines(device, nullptr, 1, &of, nullptr, &parts.emplace_back()) == VK_SUCCESS);
      }
    };
    VkPipeline made = make_pipeline(*this, kWhole, kWhite, layout, nullptr, 0, adapt);
    if (!one.libraries) return made;
    DestroyPipeline(device, made, nullptr);
    const VkPipelineLibraryCreateInfoKHR libraries{VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR, nullptr, 4, parts.data()};
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &libraries};
    info.layout = layout;
    CHECK(CreateGraphicsPipelines(device, nullptr, 1, &info, nullptr, &made) == VK_SUCCESS);
    for (const VkPipeline part : parts) DestroyPipeline(device, part, nullptr);
    return made;
  }

  void draw(const Case& one) {
    const VkPipeline made = pipeline(one);
    VkRenderingAttachmentInfo target{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    target.imageView = color.view, target.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, target.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.renderArea = kArea, info.layerCount = 1, info.colorAttachmentCount = 1, info.pColorAttachments = &target;
    const VkCommandBuffer c = begin();
    begin_rendering(c, &info);
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made);
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    CmdSetViewport(c, 0, 1, &viewport), CmdSetScissor(c, 0, 1, &kArea);
    if (one.dynamic[0])
      for (size_t i = one.set.size(); i-- > 0;) set_rectangles(c, static_cast<uint32_t>(i), 1, &one.set[i]);
    if (one.dynamic[1]) set_enable(c, one.enable);
    if (one.dynamic[2]) set_mode(c, one.set_inclusive ? VK_DISCARD_RECTANGLE_MODE_INCLUSIVE_EXT : VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT);
    CmdDraw(c, 3, 1, 0, 0);
    end_rendering(c);
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
    CmdCopyImageToBuffer(c, color.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out.buffer, 1, &region);
    run(c);
    for (const std::string& text : said) CHECK_MESSAGE(false, text);
    said.clear();
    for (uint32_t y = 0; y < kSide_px; ++y)
      for (uint32_t x = 0; x < kSide_px; ++x) {
        const bool inside = std::any_of(one.want.begin(), one.want.end(), [&](const VkRect2D& r) {
          return x - static_cast<uint32_t>(r.offset.x) < r.extent.width && y - static_cast<uint32_t>(r.offset.y) < r.extent.height;
        });
        const uint8_t want = inside == one.want_inclusive ? 255 : 0, got = out.data[4 * (y * kSide_px + x)];
        if (got != want)
          return CHECK(false, "%s: (%u, %u) is %d, not %d", one.name, x, y, got, want), DestroyPipeline(device, made, nullptr);
      }
    CHECK(true);
    DestroyPipeline(device, made, nullptr);
  }
};

void test_all() {
  Scene s;
  VkPhysicalDeviceDiscardRectanglePropertiesEXT has{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DISCARD_RECTANGLE_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &has};
  PFN_vkGetPhysicalDeviceProperties2 get = nullptr;
  s.load(get, "vkGetPhysicalDeviceProperties2");
  get(s.physical_device, &properties);
  CHECK(has.maxDiscardRectangles == 8);
  const std::vector<VkRect2D> some{{{3, 5}, {17, 9}}, {{16, 0}, {8, 40}}, {{0, 45}, {60, 60}}},
      others{{{1, 1}, {30, 30}}, {{40, 2}, {3, 9}}}, eight(8, {{2, 2}, {5, 5}}), none;
  const std::vector<VkRect2D> first{others[0]};
  for (const bool libraries : {false, true})
    for (const bool inclusive : {false, true}) {
      const Case cases[] = {
          {"fixed", some, inclusive, {}, {}, true, false, libraries, true, some, inclusive},
          {"eight", eight, inclusive, {}, {}, true, false, libraries, true, eight, inclusive},
          {"none", none, inclusive, {}, {}, true, false, libraries, true, none, false},
          {"rectangles", {{}, {}}, inclusive, {true}, others, true, false, libraries, true, others, inclusive},
          {"the first of two", {{}}, inclusive, {true}, others, true, false, libraries, true, first, inclusive},
          {"enabled", some, inclusive, {false, true}, {}, true, false, libraries, true, some, inclusive},
          {"not enabled", some, inclusive, {false, true}, {}, false, false, libraries, true, none, false},
          {"mode", some, !inclusive, {false, false, true}, {}, true, inclusive, libraries, true, some, inclusive},
          {"all", {{}, {}}, !inclusive, {true, true, true}, others, true, inclusive, libraries, true, others, inclusive},
          {"all, of no structure", {}, false, {true, true, true}, others, true, inclusive, libraries, false, others, inclusive},
      };
      for (const Case& one : cases) s.draw(one);
    }
}

// Numbers beyond the limit, and rectangles that Vulkan forbids.
void test_refusals() {
  Scene s;
  const VkPipeline made = make_pipeline(s, kWhole, kWhite, s.layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
    static const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    static VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 1, &format};
    const std::vector<VkRect2D> nine(9, {{0, 0}, {1, 1}});
    const VkPipelineDiscardRectangleStateCreateInfoEXT rectangles{VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT,
                                                                  &rendering,
                                                                  0,
                                                                  VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT,
                                                                  9,
                                                                  nine.data()};
    info.pNext = &rectangles;
    VkPipeline refused = nullptr;
    CHECK(s.CreateGraphicsPipelines(s.device, nullptr, 1, &info, nullptr, &refused) != VK_SUCCESS && !refused);
    CHECK(s.heard("discardRectangleCount is 9; maxDiscardRectangles is 8"));
    s.said.clear();
    VkPipelineDiscardRectangleStateCreateInfoEXT mode = rectangles;
    mode.discardRectangleCount = 1, mode.discardRectangleMode = static_cast<VkDiscardRectangleModeEXT>(77);
    info.pNext = &mode;
    CHECK(s.CreateGraphicsPipelines(s.device, nullptr, 1, &info, nullptr, &refused) != VK_SUCCESS && !refused);
    CHECK(s.heard("discardRectangleMode is 77; it must be"));
    s.said.clear();
    info.pNext = &rendering;
  });
  s.DestroyPipeline(s.device, made, nullptr);
  const auto refused = [&](const VkRect2D& rectangle, uint32_t first, const char* why) {
    const VkCommandBuffer c = s.begin();
    s.set_rectangles(c, first, 1, &rectangle);
    CHECK(s.EndCommandBuffer(c) != VK_SUCCESS);
    CHECK_MESSAGE(s.heard(why), why);
    s.said.clear();
  };
  refused({{0, 0}, {1, 1}}, 8, "0 to 8 are allowed");
  refused({{-1, 0}, {1, 1}}, 0, "must begin at no negative pixel");
  refused({{4, 0}, {0x7fffffff, 1}}, 0, "end within 31 bits");
}

}  // namespace

int main() {
  test_all();
  test_refusals();
  return test::finish("test_vulkan_discard_rectangles");
}
