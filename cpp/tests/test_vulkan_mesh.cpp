// tests/test_vulkan_mesh.cpp -- task and mesh shaders on the driver: pipelines whose state of vertex input leads nowhere, draws from
// memory, queries, libraries of pipelines, properties. What they compute: tests/test_mesh_shaders.py.
#include <array>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
// clang-format off
constexpr const char* kTask = R"(#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 2) in;
struct Row { uint row; }; taskPayloadSharedEXT Row chosen;
void main() { chosen.row = gl_WorkGroupID.x; EmitMeshTasksEXT(gl_WorkGroupID.x + 1, 1, 1); })";
// A pixel in each row's column; the colour is the number of the draw.
constexpr const char* kMesh = R"(#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 3) in;
layout(points, max_vertices = 1, max_primitives = 1) out;
struct Row { uint row; }; taskPayloadSharedEXT Row chosen;
layout(location = 0) perprimitiveEXT out float number[];
void main() {
  SetMeshOutputsEXT(1, 1);
  gl_MeshVerticesEXT[0].gl_Position = vec4((vec2(gl_WorkGroupID.x, chosen.row + 4 * gl_DrawID) + 0.5) / 8 - 1, 0, 1);
  gl_MeshVerticesEXT[0].gl_PointSize = 1;
  gl_PrimitivePointIndicesEXT[0] = 0;
  number[0] = (gl_DrawID + 1) / 255.0;
})";
constexpr const char* kFragment = R"(#version 460
#extension GL_EXT_mesh_shader : require
layout(location = 0) perprimitiveEXT in float number;
layout(location = 0) out vec4 o; void main() { o = vec4(number, 1, 0, 1); })";
constexpr const char* kVertex = "#version 450\nvoid main() { gl_Position = vec4(0); }";
#define TILEGPU_MORE(X) X(CmdDrawMeshTasksEXT) X(CmdDrawMeshTasksIndirectEXT) X(CmdDrawMeshTasksIndirectCountEXT) X(GetPhysicalDeviceProperties2) \
  X(GetPhysicalDeviceFeatures2)
// clang-format on

struct Scene : Program {
#define TILEGPU_VK(name) PFN_vk##name name = nullptr;
  TILEGPU_MORE(TILEGPU_VK)
#undef TILEGPU_VK
  VkRenderPass pass = nullptr;
  BoundImage target{};
  VkFramebuffer view = nullptr;
  VkPipelineLayout layout = nullptr;
  MappedBuffer pixels{}, commands{};

  Scene() {
#define TILEGPU_VK(name) load(name, "vk" #name);
    TILEGPU_MORE(TILEGPU_VK)
#undef TILEGPU_VK
    VkPhysicalDeviceMeshShaderFeaturesEXT features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT};
    features.taskShader = features.meshShader = features.meshShaderQueries = VK_TRUE;
    remake_device({"VK_EXT_mesh_shader", "VK_EXT_graphics_pipeline_library", "VK_KHR_pipeline_library"}, &features);
    pass = one_subpass();
    target = image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    view = framebuffer(pass, {target.view}, kSide_px);
    layout = pipeline_layout({});
    pixels = buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    commands = buffer(256, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
  }
  std::array<VkPipelineShaderStageCreateInfo, 3> stages() {
    std::array<VkPipelineShaderStageCreateInfo, 3> out{};
    size_t k = 0;
    for (const auto& [text, stage] :
         {std::pair(kTask, VK_SHADER_STAGE_TASK_BIT_EXT), {kMesh, VK_SHADER_STAGE_MESH_BIT_EXT}, {kFragment, VK_SHADER_STAGE_FRAGMENT_BIT}})
      out[k++] = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, stage, shader(text, stage), "main", nullptr};
    return out;
  }
  VkPipeline pipeline() {
    const auto all = stages();
    return make_pipeline(*this, kVertex, kFragment, layout, pass, 0, [&](VkGraphicsPipelineCreateInfo& info) {
      info.stageCount = 3, info.pStages = all.data();
      // Ignored beside a mesh shader, wherever they lead.
      info.pVertexInputState = reinterpret_cast<const VkPipelineVertexInputStateCreateInfo*>(16);
      info.pInputAssemblyState = reinterpret_cast<const VkPipelineInputAssemblyStateCreateInfo*>(16);
    });
  }
  void begin_pass(VkCommandBuffer c, VkPipeline with) const {
    const VkClearValue clear{};
    VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    info.renderPass = pass, info.framebuffer = view, info.renderArea = kArea, info.clearValueCount = 1, info.pClearValues = &clear;
    CmdBeginRenderPass(c, &info, VK_SUBPASS_CONTENTS_INLINE);
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    CmdSetViewport(c, 0, 1, &viewport);
    CmdSetScissor(c, 0, 1, &kArea);
  }
  /// The pixels of `draws` draws of `rows` workgroups each; nothing else.
  void expect(const std::vector<uint32_t>& rows) const {
    for (uint32_t y = 0; y < kSide_px; ++y)
      for (uint32_t x = 0; x < kSide_px; ++x) {
        const uint32_t draw = y / 4, row = y % 4;
        const bool drawn = draw < rows.size() && row < rows[draw] && x <= row;
        const uint8_t* at = pixels.data + (y * kSide_px + x) * 4;
        CHECK(at[1] == (drawn ? 255 : 0) && at[0] == (drawn ? draw + 1 : 0), "pixel %u, %u: %u %u", x, y, at[0], at[1]);
      }
  }
};

void draws_from_the_command_buffer_and_from_memory() {
  Scene s;
  const VkPipeline all = s.pipeline();
  const uint32_t words[] = {3, 1, 1, 7, 2, 1, 1, 7, 65536, 1, 1, 7, 4, 1, 1, 7, /* how many: */ 2};
  std::memcpy(s.commands.data, words, sizeof words);
  const auto draw = [&](const std::vector<uint32_t>& rows, auto record) {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c, all);
    record(c);
    s.CmdEndRenderPass(c);
    s.run_and_read(c, s.target, kSide_px, s.pixels.buffer);
    s.expect(rows);
  };
  draw({4}, [&](VkCommandBuffer c) { s.CmdDrawMeshTasksEXT(c, 4, 1, 1); });
  draw({3, 2, 0, 4}, [&](VkCommandBuffer c) { s.CmdDrawMeshTasksIndirectEXT(c, s.commands.buffer, 0, 4, 16); });
  draw({3, 2}, [&](VkCommandBuffer c) { s.CmdDrawMeshTasksIndirectCountEXT(c, s.commands.buffer, 0, s.commands.buffer, 64, 4, 16); });
}

void queries_count_invocations_and_primitives() {
  Scene s;
  const VkPipeline all = s.pipeline();
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS, info.queryCount = 1;
  info.pipelineStatistics =
      VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT | VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT |
      VK_QUERY_PIPELINE_STATISTIC_TASK_SHADER_INVOCATIONS_BIT_EXT | VK_QUERY_PIPELINE_STATISTIC_MESH_SHADER_INVOCATIONS_BIT_EXT;
  VkQueryPool statistics = nullptr, generated = nullptr;
  CHECK(s.CreateQueryPool(s.device, &info, nullptr, &statistics) == VK_SUCCESS);
  info.queryType = VK_QUERY_TYPE_MESH_PRIMITIVES_GENERATED_EXT;
  CHECK(s.CreateQueryPool(s.device, &info, nullptr, &generated) == VK_SUCCESS);
  const VkCommandBuffer c = s.begin();
  for (const VkQueryPool pool : {statistics, generated}) s.CmdResetQueryPool(c, pool, 0, 1);
  s.begin_pass(c, all);
  for (const VkQueryPool pool : {statistics, generated}) s.CmdBeginQuery(c, pool, 0, 0);
  s.CmdDrawMeshTasksEXT(c, 4, 1, 1);
  for (const VkQueryPool pool : {statistics, generated}) s.CmdEndQuery(c, pool, 0);
  s.CmdDrawMeshTasksEXT(c, 2, 1, 1);
  s.CmdEndRenderPass(c);
  s.run(c);
  uint64_t counts[4] = {}, primitives = 0;
  CHECK(s.GetQueryPoolResults(s.device, statistics, 0, 1, sizeof counts, counts, sizeof counts, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
  CHECK(s.GetQueryPoolResults(s.device, generated, 0, 1, 8, &primitives, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
  CHECK(counts[0] == 0 && counts[1] == 10 && counts[2] == 8 && counts[3] == 30, "%llu %llu %llu %llu",
        static_cast<unsigned long long>(counts[0]), static_cast<unsigned long long>(counts[1]), static_cast<unsigned long long>(counts[2]),
        static_cast<unsigned long long>(counts[3]));
  CHECK(primitives == 10);
  for (const std::string& text : s.said) CHECK_MESSAGE(false, text);
}

// Of libraries no part of vertex input is wanted.
void libraries_need_no_vertex_input() {
  Scene s;
  const auto all = s.stages();
  const auto part = [&](VkGraphicsPipelineLibraryFlagsEXT which, uint32_t first, uint32_t count) {
    const VkGraphicsPipelineLibraryCreateInfoEXT kind{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT, nullptr, which};
    return make_pipeline(s, kVertex, kFragment, s.layout, s.pass, 0, [&](VkGraphicsPipelineCreateInfo& info) {
      info.pNext = &kind, info.flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
      info.stageCount = count, info.pStages = all.data() + first;
      info.pVertexInputState = nullptr, info.pInputAssemblyState = nullptr;
    });
  };
  const std::array<VkPipeline, 3> parts = {part(VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT, 0, 2),
                                           part(VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT, 2, 1),
                                           part(VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT, 2, 0)};
  const VkPipelineLibraryCreateInfoKHR linked{VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR, nullptr, 3, parts.data()};
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &linked};
  info.layout = s.layout;
  VkPipeline whole = nullptr;
  CHECK_MESSAGE(s.CreateGraphicsPipelines(s.device, nullptr, 1, &info, nullptr, &whole) == VK_SUCCESS, s.said.empty() ? "" : s.said.back());
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c, whole);
  s.CmdDrawMeshTasksEXT(c, 4, 1, 1);
  s.CmdEndRenderPass(c);
  s.run_and_read(c, s.target, kSide_px, s.pixels.buffer);
  s.expect({4});
}

void wrong_use_is_said() {
  Scene s;
  const VkPipeline all = s.pipeline();
  const VkPipeline plain = make_pipeline(s, kVertex, "#version 450\nvoid main() {}", s.layout, s.pass, 0);
  const auto refused = [&](const char* what, VkPipeline with, auto record) {
    s.said.clear();
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c, with);
    record(c);
    s.CmdEndRenderPass(c);
    CHECK(s.EndCommandBuffer(c) != VK_SUCCESS);
    CHECK_MESSAGE(s.heard(what), what);
  };
  refused("it has a mesh shader", all, [&](VkCommandBuffer c) { s.CmdDraw(c, 3, 1, 0, 0); });
  refused("it has no mesh shader", plain, [&](VkCommandBuffer c) { s.CmdDrawMeshTasksEXT(c, 1, 1, 1); });
  refused("at most 65535", all, [&](VkCommandBuffer c) { s.CmdDrawMeshTasksEXT(c, 1, 65536, 1); });
  refused("at most 4194304", all, [&](VkCommandBuffer c) { s.CmdDrawMeshTasksEXT(c, 65535, 65535, 1); });
  for (const VkDeviceSize far : {VkDeviceSize{248}, ~VkDeviceSize{3}})
    refused("draw_indirect:", all, [&](VkCommandBuffer c) { s.CmdDrawMeshTasksIndirectEXT(c, s.commands.buffer, far, 1, 12); });
}

void properties_are_those_of_the_extension() {
  Scene s;
  VkPhysicalDeviceMeshShaderPropertiesEXT mesh{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &mesh, {}};
  s.GetPhysicalDeviceProperties2(s.physical_device, &properties);
  CHECK(mesh.maxTaskWorkGroupTotalCount == 1U << 22 && mesh.maxTaskWorkGroupCount[2] == 65535 && mesh.maxTaskPayloadSize == 16384);
  CHECK(mesh.maxMeshOutputVertices == 256 && mesh.maxMeshOutputPrimitives == 256 && mesh.maxMeshOutputComponents >= 127);
  CHECK(mesh.maxMeshSharedMemorySize >= 28672 && mesh.maxMeshOutputMemorySize >= 32768 && mesh.maxMeshPayloadAndOutputMemorySize >= 48128);
  CHECK(mesh.maxTaskPayloadAndSharedMemorySize >= 32768 && mesh.maxMeshMultiviewViewCount >= 1 && mesh.maxMeshOutputLayers >= 8);
  VkPhysicalDeviceMeshShaderFeaturesEXT features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT};
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features, {}};
  s.GetPhysicalDeviceFeatures2(s.physical_device, &all);
  CHECK(features.taskShader && features.meshShader && features.meshShaderQueries && features.multiviewMeshShader);
  CHECK(features.primitiveFragmentShadingRateMeshShader);
}

}  // namespace

int main() {
  draws_from_the_command_buffer_and_from_memory();
  queries_count_invocations_and_primitives();
  libraries_need_no_vertex_input();
  wrong_use_is_said();
  properties_are_those_of_the_extension();
  return finish("test_vulkan_mesh");
}
