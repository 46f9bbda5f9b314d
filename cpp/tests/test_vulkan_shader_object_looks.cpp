// tests/test_vulkan_shader_object_looks.cpp -- random state and stages, five draws a command buffer, some of them by pipelines: shader
// objects draw the bytes that pipelines draw which fix all of it. Oracle: the pipelines.
#include <random>

#include "shader_object_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr size_t kDraws = 5;
const Stages kPlain = {{kVert, kVertexText}, {kFrag, kFragmentText}}, kDepthAlone = {{kVert, kVertexText}},
             kGeometry = {{kVert, kVertexText}, {VK_SHADER_STAGE_GEOMETRY_BIT, kGeometryText}, {kFrag, kFragmentText}};
const Stages* const kKinds[] = {&kPlain, &kGeometry, &kDepthAlone};

struct Random {
  std::mt19937 generator;
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(generator() % n); }
  bool rarely() { return below(3) == 0; }
  template <class T>
  T one(uint32_t n) {
    return static_cast<T>(below(n));
  }
};

void choose_rasterization(Random& r, bool triangles, bool four, Look& l) {
  constexpr VkPrimitiveTopology kTopologies[] = {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
                                                 VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN,  VK_PRIMITIVE_TOPOLOGY_LINE_STRIP,
                                                 VK_PRIMITIVE_TOPOLOGY_LINE_LIST,     VK_PRIMITIVE_TOPOLOGY_POINT_LIST};
  const uint32_t topology = r.below(triangles ? 3 : 6);
  l.topology = kTopologies[topology];
  l.indexed = r.rarely(), l.restart = l.indexed && topology >= 1 && topology <= 3 && r.rarely();
  l.discard = r.below(12) == 0;
  l.cull = r.below(3), l.front = r.one<VkFrontFace>(2), l.polygon = r.one<VkPolygonMode>(r.below(6) ? 1 : 3);
  l.depth_bias = r.rarely(), l.bias[0] = static_cast<float>(r.below(100)), l.bias[2] = static_cast<float>(r.below(4)) - 2;
  l.depth_clamp = r.rarely(), l.user_clamp = r.rarely(), l.negative_one = r.below(6) == 0;
  if (r.rarely()) l.depth_clip = r.rarely();
  l.line_width = 1 + static_cast<float>(r.below(4)), l.provoking_last = r.rarely();
  l.samples = four ? VK_SAMPLE_COUNT_4_BIT : VK_SAMPLE_COUNT_1_BIT;
  if (r.rarely()) l.sample_mask = 5 + r.below(10);
  l.alpha_to_coverage = four && r.rarely(), l.alpha_to_one = r.rarely(), l.locations = four && r.rarely();
  l.instances = 1 + r.below(3), l.divisor = r.below(3);
  if (r.rarely()) l.viewports = {{static_cast<float>(r.below(10)), static_cast<float>(r.below(10)), 20, 24, 0.125F, 1}};
  if (r.rarely()) l.scissors = {{{static_cast<int32_t>(r.below(10)), static_cast<int32_t>(r.below(10))}, {r.below(22), r.below(22)}}};
  if (r.rarely())
    l.cut = {{{static_cast<int32_t>(r.below(20)), 4}, {r.below(12), 20}}, {{6, static_cast<int32_t>(r.below(20))}, {18, r.below(9)}}};
  l.cut_mode = r.one<VkDiscardRectangleModeEXT>(2);
  if (!four && r.rarely()) l.rate = {1 + r.below(2), 1 + r.below(2)};
}

void choose_output(Random& r, Look& l) {
  l.depth_test = !r.rarely(), l.depth_write = !r.rarely(), l.depth_op = r.one<VkCompareOp>(8);
  l.bounds_test = r.rarely(), l.bounds[0] = 0.125F * static_cast<float>(r.below(4)), l.bounds[1] = 0.625F;
  l.stencil_test = r.rarely();
  l.stencil = {
      r.one<VkStencilOp>(8), r.one<VkStencilOp>(8), r.one<VkStencilOp>(8), r.one<VkCompareOp>(8), r.below(256), r.below(256), r.below(4)};
  l.logic = r.below(5) == 0, l.logic_op = r.one<VkLogicOp>(16);
  for (VkPipelineColorBlendAttachmentState& b : l.blend) {
    b.blendEnable = !l.logic && r.below(2);
    b.srcColorBlendFactor = r.one<VkBlendFactor>(14), b.dstColorBlendFactor = r.one<VkBlendFactor>(14);
    b.srcAlphaBlendFactor = r.one<VkBlendFactor>(14), b.dstAlphaBlendFactor = r.one<VkBlendFactor>(14);
    b.colorBlendOp = r.one<VkBlendOp>(5), b.alphaBlendOp = r.one<VkBlendOp>(5);
    b.colorWriteMask = r.rarely() ? r.below(16) : 15;
  }
  l.advanced = !l.logic && r.below(6) == 0;
  for (VkBool32& enable : l.write_enable) enable = !r.rarely();
}

void test_looks(ShaderObjectScene& s, uint32_t seed, uint32_t cases) {
  Random r{std::mt19937(seed)};
  std::vector<VkShaderEXT> lists[std::size(kKinds)];
  for (size_t i = 0; i < std::size(kKinds); ++i) lists[i] = s.shaders(*kKinds[i], i % 2);
  for (uint32_t k = 0; k < cases; ++k) {
    if (!tries_next()) continue;
    const bool four = r.rarely();
    Look looks[kDraws];
    uint32_t kinds[kDraws];
    VkPipeline made[kDraws];
    for (size_t d = 0; d < kDraws; ++d) {
      kinds[d] = r.below(std::size(kKinds));
      choose_rasterization(r, kinds[d] == 1, four, looks[d]);
      choose_output(r, looks[d]);
      made[d] = s.pipeline(*kKinds[kinds[d]], looks[d]);
    }
    const auto picture = [&](bool objects) {
      const VkCommandBuffer c = s.begin();
      s.begin_pass(c, four);
      for (size_t d = 0; d < kDraws; ++d) {
        // In every other command buffer, every other draw by its pipeline.
        if (!objects || (k % 2 && d % 2))
          s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made[d]);
        else
          s.bind(c, *kKinds[kinds[d]], lists[kinds[d]]), s.set(c, looks[d]);
        s.draw(c, *kKinds[kinds[d]], looks[d]);
      }
      s.CmdEndRenderingKHR(c);
      return s.picture(c);
    };
    CHECK(picture(true) == picture(false), "case %u of seed %u", k, seed);
    for (const VkPipeline pipeline : made) s.DestroyPipeline(s.device, pipeline, nullptr);
  }
  for (const auto& list : lists) s.destroy(list);
}

/// Values that no enumeration has, a shader that is gone: said, and no draw.
void test_what_is_none(ShaderObjectScene& s) {
  const auto refused = [&](const char* why, const std::function<void(VkCommandBuffer)>& body) {
    s.said.clear();
    const VkCommandBuffer c = s.begin();
    body(c);
    CHECK_MESSAGE(s.EndCommandBuffer(c) != VK_SUCCESS && s.heard(why), why);
    s.said.clear();
  };
#define TILEGPU_VALUE(command, Type) \
  for (const int value : {77, -1}) refused(": the value is", [&](VkCommandBuffer c) { s.command(c, static_cast<Type>(value)); });
  TILEGPU_VALUE(CmdSetCullModeEXT, VkCullModeFlags)
  TILEGPU_VALUE(CmdSetFrontFaceEXT, VkFrontFace)
  TILEGPU_VALUE(CmdSetPrimitiveTopologyEXT, VkPrimitiveTopology)
  TILEGPU_VALUE(CmdSetDepthCompareOpEXT, VkCompareOp)
  TILEGPU_VALUE(CmdSetLogicOpEXT, VkLogicOp)
  TILEGPU_VALUE(CmdSetPolygonModeEXT, VkPolygonMode)
  TILEGPU_VALUE(CmdSetProvokingVertexModeEXT, VkProvokingVertexModeEXT)
  TILEGPU_VALUE(CmdSetTessellationDomainOriginEXT, VkTessellationDomainOrigin)
  TILEGPU_VALUE(CmdSetConservativeRasterizationModeEXT, VkConservativeRasterizationModeEXT)
  TILEGPU_VALUE(CmdSetDiscardRectangleModeEXT, VkDiscardRectangleModeEXT)
  TILEGPU_VALUE(CmdSetLineRasterizationModeEXT, VkLineRasterizationModeEXT)
#undef TILEGPU_VALUE
  refused("vkCmdSetStencilOp: the value is 8", [&](VkCommandBuffer c) {
    s.CmdSetStencilOpEXT(c, VK_STENCIL_FACE_FRONT_BIT, VK_STENCIL_OP_KEEP, static_cast<VkStencilOp>(8), VK_STENCIL_OP_KEEP,
                         VK_COMPARE_OP_LESS);
  });
  const auto list = s.shaders(*kKinds[0], false);
  refused("was destroyed since it was bound", [&](VkCommandBuffer c) {
    s.begin_pass(c);
    s.set(c, Look{}), s.bind(c, *kKinds[0], list);
    s.destroy(list);
    s.draw(c, *kKinds[0], Look{});
    s.CmdEndRenderingKHR(c);
  });
}

}  // namespace

int main() {
  struct Way {
    const char *lanes, *threads;
  };
  uint32_t seed = 1;
  for (const Way& way : {Way{"8", "2"}, {"4", "1"}, {"16", "3"}}) {
    setenv("TILEGPU_LANES", way.lanes, 1), setenv("TILEGPU_THREADS", way.threads, 1);
    ShaderObjectScene s;
    test_looks(s, seed++, 20);
    test_what_is_none(s);
  }
  return finish("test_vulkan_shader_object_looks");
}
