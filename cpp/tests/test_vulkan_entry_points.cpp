// tests/test_vulkan_entry_points.cpp -- a module with a vertex, a fragment and a compute shader, all of them called "main": each stage of a
// pipeline has its own. Source: SPIR-V specification, 2.16.1 (names are unique by execution model); VkPipelineShaderStageCreateInfo.
#include <algorithm>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8;
constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;

// The vertex shader makes a triangle over everything of gl_VertexIndex, the fragment shader writes (1, 0.5, 0, 1), the compute shader does
// nothing. Assembled by spirv-as, whose text begins: OpEntryPoint Vertex %1 "main" %2 %3, OpEntryPoint Fragment %4 "main" %5,
// OpEntryPoint GLCompute %6 "main", OpExecutionMode %4 OriginUpperLeft, OpExecutionMode %6 LocalSize 1 1 1.
constexpr uint32_t kWords[] = {
    0x7230203,  0x10000, 0x70000, 33,      0,       0x20011,    1,       0x3000e,    0,       1,          0x7000f, 0,       1,
    0x6e69616d, 0,       2,       3,       0x6000f, 4,          4,       0x6e69616d, 0,       5,          0x5000f, 5,       6,
    0x6e69616d, 0,       0x30010, 4,       7,       0x60010,    6,       17,         1,       1,          1,       0x40047, 2,
    11,         42,      0x40047, 3,       11,      0,          0x40047, 5,          30,      0,          0x20013, 7,       0x30021,
    8,          7,       0x40015, 9,       32,      1,          0x30016, 10,         32,      0x40017,    11,      10,      4,
    0x40020,    12,      1,       9,       0x40020, 13,         3,       11,         0x4003b, 12,         2,       1,       0x4003b,
    13,         3,       3,       0x4003b, 13,      5,          3,       0x4002b,    9,       14,         1,       0x4002b, 10,
    15,         0,       0x4002b, 10,      16,      0x3f000000, 0x4002b, 10,         17,      0x3f800000, 0x4002b, 10,      18,
    0x40800000, 0x7002c, 11,      19,      17,      16,         15,      17,         0x50036, 7,          1,       0,       8,
    0x200f8,    20,      0x4003d, 9,       21,      2,          0x500c7, 9,          22,      21,         14,      0x500c3, 9,
    23,         21,      14,      0x4006f, 10,      24,         22,      0x4006f,    10,      25,         23,      0x50085, 10,
    26,         24,      18,      0x50085, 10,      27,         25,      18,         0x50083, 10,         28,      26,      17,
    0x50083,    10,      29,      27,      17,      0x70050,    11,      30,         28,      29,         16,      17,      0x3003e,
    3,          30,      0x100fd, 0x10038, 0x50036, 7,          4,       0,          8,       0x200f8,    31,      0x3003e, 5,
    19,         0x100fd, 0x10038, 0x50036, 7,       6,          0,       8,          0x200f8, 32,         0x100fd, 0x10038};

const char* const kOtherVertex = "#version 450\nvoid main() { gl_Position = vec4(2); }";
const char* const kOtherFragment = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(0); }";

struct Scene : Program {
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  VkPipelineLayout layout = nullptr;
  MappedBuffer out{};

  Scene() {
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, nullptr, VK_TRUE};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &dynamic};
    remake_device({"VK_KHR_dynamic_rendering"}, &features);
    load(begin_rendering, "vkCmdBeginRendering"), load(end_rendering, "vkCmdEndRendering");
    layout = pipeline_layout({});
    out = buffer(size_t{kSide_px} * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }
  ~Scene() {
    DestroyPipelineLayout(device, layout, nullptr);
    destroy(out);
  }

  VkShaderModule module_of(const std::vector<uint32_t>& words) {
    const VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words.size() * 4, words.data()};
    VkShaderModule made = nullptr;
    CHECK(CreateShaderModule(device, &info, nullptr, &made) == VK_SUCCESS);
    return made;
  }

  /// Both stages of one module. Null: refused.
  VkPipeline pipeline(VkShaderModule module) {
    VkPipeline made = nullptr;
    const VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 1, &kFormat};
    const VkPipeline other =
        make_pipeline(*this, kOtherVertex, kOtherFragment, layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
          info.pNext = &rendering;
          VkGraphicsPipelineCreateInfo own = info;
          VkPipelineShaderStageCreateInfo stages[2] = {info.pStages[0], info.pStages[1]};
          stages[0].module = stages[1].module = module;
          own.pStages = stages;
          if (CreateGraphicsPipelines(device, nullptr, 1, &own, nullptr, &made) != VK_SUCCESS) made = nullptr;
        });
    DestroyPipeline(device, other, nullptr);
    return made;
  }

  uint32_t pixel_of(VkPipeline made) {
    const BoundImage target = image(kFormat, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    color.imageView = target.view, color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.renderArea = {{0, 0}, {kSide_px, kSide_px}}, info.layerCount = 1, info.colorAttachmentCount = 1, info.pColorAttachments = &color;
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    const VkCommandBuffer c = begin();
    begin_rendering(c, &info);
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made);
    CmdSetViewport(c, 0, 1, &viewport);
    CmdSetScissor(c, 0, 1, &info.renderArea);
    CmdDraw(c, 3, 1, 0, 0);
    end_rendering(c);
    run_and_read(c, target, kSide_px, out.buffer);
    destroy(target);
    uint32_t pixel = 0;
    std::memcpy(&pixel, out.data, sizeof pixel);
    return pixel;
  }
};

/// Whatever stage asks first.
void test_each_stage_has_its_own(Scene& s) {
  const std::vector<uint32_t> words(std::begin(kWords), std::end(kWords));
  for (const bool compute_first : {false, true}) {
    const VkShaderModule module = s.module_of(words);
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, module, "main", nullptr};
    info.layout = s.layout;
    VkPipeline compute = nullptr, graphics = nullptr;
    for (const bool now : {compute_first, !compute_first}) {
      if (now)
        CHECK(s.CreateComputePipelines(s.device, nullptr, 1, &info, nullptr, &compute) == VK_SUCCESS);
      else
        graphics = s.pipeline(module);
    }
    if (CHECK(graphics && compute)) CHECK(s.pixel_of(graphics) == 0xff0080ffu);
    s.DestroyPipeline(s.device, compute, nullptr);
    s.DestroyPipeline(s.device, graphics, nullptr);
    s.DestroyShaderModule(s.device, module, nullptr);
  }
}

/// A stage that has none of the name, a module that is none: refused, and said.
void test_what_is_not_there(Scene& s) {
  std::vector<uint32_t> words(std::begin(kWords), std::end(kWords));
  const auto fragment = std::find(words.begin(), words.end(), 0x6000fu);
  if (!CHECK(fragment != words.end())) return;
  fragment[3] = 0x6e69616e;  // "nain"
  std::vector<uint32_t> cut(std::begin(kWords), std::end(kWords) - 3);
  for (const std::vector<uint32_t>& wrong : {words, cut}) {
    const VkShaderModule module = s.module_of(wrong);
    CHECK(!s.pipeline(module) && !s.said.empty());
    s.said.clear();
    s.DestroyShaderModule(s.device, module, nullptr);
  }
}

}  // namespace

int main() {
  Scene s;
  test_each_stage_has_its_own(s);
  test_what_is_not_there(s);
  return finish("test_vulkan_entry_points");
}
