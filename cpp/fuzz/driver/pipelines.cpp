// fuzz/driver/pipelines.cpp -- shaders of the fuzzer's own, compiled once for each text, and pipelines of them with states that Vulkan
// allows: whole, or linked of libraries.
//
// In: choices, what a pass draws to. Out: pipelines. Source: Vulkan specification, "Pipelines", "Fixed-Function Vertex Processing".
#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>

#include "driver/formats.hpp"
#include "driver/world.hpp"
#include "tilegpu/shader.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr const char* kInterface =
    "layout(set = 0, binding = 0) uniform U { vec4 scale; };\nlayout(set = 0, binding = 1) uniform sampler2D t;\n"
    "layout(set = 0, binding = 2) buffer C { uint n[]; };\nlayout(set = 0, binding = 3, r32ui) uniform uimage2D s;\n"
    "layout(set = 0, binding = 4) uniform usamplerBuffer b;\nlayout(push_constant) uniform P { vec4 tint; uvec4 bits; };\n";

const std::vector<uint32_t>& words_of(const std::string& text, VkShaderStageFlagBits stage) {
  constexpr size_t kMostKept = 2000;
  static auto* const known = new std::map<std::string, std::vector<uint32_t>>;
  if (known->size() > kMostKept) known->clear();
  auto& words = (*known)[text];
  if (words.empty()) words = take(compile_glsl({text, "fuzzer", stage, {}, {}}), text.c_str());
  return words;
}

const char* head_of(VkShaderStageFlagBits stage) {
  return stage == VK_SHADER_STAGE_MESH_BIT_EXT || stage == VK_SHADER_STAGE_TASK_BIT_EXT
             ? "#version 450\n#extension GL_EXT_mesh_shader : require\n"
             : "#version 450\n";
}

struct Stages {
  std::vector<VkPipelineShaderStageCreateInfo> all;
  std::vector<VkShaderModule> modules;

  void add(World& w, VkShaderStageFlagBits stage, const std::string& body) {
    const std::vector<uint32_t>& words = words_of(head_of(stage) + std::string(kInterface) + body, stage);
    const VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words.size() * 4, words.data()};
    VkPipelineShaderStageCreateInfo out{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    out.stage = stage, out.pName = "main";
    TILEGPU_MUST(w, CreateShaderModule, w.device, &info, nullptr, &out.module);
    modules.push_back(out.module), all.push_back(out);
  }
};

void add(std::string& to, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) to += word;
}

std::string fragment_of(Choices& c, const PassShape& shape, bool& reads_inputs) {
  std::string text = "layout(location = 0) in vec4 color;\n", body;
  const bool samples = c.seldom(3), counts = c.seldom(4), discards = c.seldom(6), depth = shape.depth && c.seldom(8), texel = c.seldom(8);
  reads_inputs = false;
  body = "void main() {\n  vec4 v = color * tint * scale;\n";
  if (samples) body += "  v += texture(t, gl_FragCoord.xy * 0.03);\n";
  if (texel) body += "  v.x += float(texelFetch(b, int(gl_FragCoord.x) & 63).x & 1u);\n";
  const char* const ms = shape.samples > 1 ? "MS" : "";
  for (size_t i = 0; i < shape.inputs.size(); ++i) {
    if (!shape.inputs[i] || !c.coin()) continue;
    reads_inputs = true;
    const std::string number = std::to_string(i), prefix = prefix_of(shape.inputs[i]);
    add(text, {"layout(input_attachment_index = ", number, ", set = 1, binding = ", number, ") uniform ", prefix, "subpassInput", ms, " i",
               number, ";\n"});
    add(body, {"  v += vec4(subpassLoad(i", number, *ms ? ", 0" : "", ")) * 0.5;\n"});
  }
  if (discards) body += "  if (((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) & 3) == 3) discard;\n";
  if (counts) body += "  atomicAdd(n[int(gl_FragCoord.x) & 63], 1u);\n  imageAtomicAdd(s, ivec2(gl_FragCoord.xy) & 7, 1u);\n";
  if (depth) body += "  gl_FragDepth = gl_FragCoord.z * 0.5 + 0.25;\n";
  for (size_t i = 0; i < shape.colors.size(); ++i) {
    if (!shape.colors[i]) continue;
    const std::string prefix = prefix_of(shape.colors[i]), number = std::to_string(i);
    add(text, {"layout(location = ", number, ") out ", prefix, "vec4 o", number, ";\n"});
    add(body, {"  o", number, " = ", prefix, "vec4(", prefix.empty() ? "v" : "clamp(v, 0, 4) * 20", ");\n"});
  }
  return text + body + "}\n";
}

constexpr const char* kVertexOf =
    "layout(location = 0) in vec4 p;\nlayout(location = 1) in vec4 k;\nlayout(location = 0) out vec4 color;\n"
    "void main() { gl_Position = p * scale; color = k; gl_PointSize = 1.0 + float(gl_VertexIndex & 3); }";
constexpr const char* kVertexAlone =
    "layout(location = 0) out vec4 color;\n"
    "void main() { int i = gl_VertexIndex + gl_InstanceIndex * 2; gl_Position = vec4(float((i * 3 & 7) - 3) * 0.3, float((i * 5 & 7) - 4) "
    "* 0.3, "
    "float(i & 3) * 0.25, 1); color = vec4(i & 1, i >> 1 & 1, 0.5, 1); gl_PointSize = 2.0; }";
constexpr const char* kVertexCaptured =
    "layout(xfb_buffer = 0, xfb_stride = 16, xfb_offset = 0) out gl_PerVertex { vec4 gl_Position; float gl_PointSize; };\n"
    "layout(location = 0) out vec4 color;\nvoid main() { gl_Position = vec4(float(gl_VertexIndex & 3) - 1.0, float(gl_VertexIndex >> 1 & "
    "3) - 1.0, 0.5, 1); "
    "color = vec4(1); gl_PointSize = 1.0; }";
constexpr const char* kControl =
    "layout(vertices = 3) out;\nlayout(location = 0) in vec4 color[];\nlayout(location = 0) out vec4 to[];\n"
    "void main() { to[gl_InvocationID] = color[gl_InvocationID]; gl_out[gl_InvocationID].gl_Position = "
    "gl_in[gl_InvocationID].gl_Position;\n"
    "  gl_TessLevelOuter[0] = 2.0; gl_TessLevelOuter[1] = 3.0; gl_TessLevelOuter[2] = 1.0; gl_TessLevelInner[0] = 2.0; }";
constexpr const char* kEvaluation =
    "layout(triangles, fractional_odd_spacing) in;\nlayout(location = 0) in vec4 to[];\nlayout(location = 0) out vec4 color;\n"
    "void main() { gl_Position = gl_in[0].gl_Position * gl_TessCoord.x + gl_in[1].gl_Position * gl_TessCoord.y + gl_in[2].gl_Position * "
    "gl_TessCoord.z; color = to[0] * gl_TessCoord.x + to[1] * gl_TessCoord.y; gl_PointSize = 1.0; }";
constexpr const char* kGeometry =
    "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 6) out;\nlayout(location = 0) in vec4 from[];\nlayout(location = 0) out "
    "vec4 color;\n"
    "void main() { for (int k = 0; k < 2; ++k) { for (int i = 0; i < 3; ++i) { gl_Position = gl_in[i].gl_Position + vec4(0.2 * float(k)); "
    "color = "
    "from[i]; EmitVertex(); } EndPrimitive(); } }";
constexpr const char* kMesh =
    "layout(local_size_x = 4) in;\nlayout(triangles, max_vertices = 4, max_primitives = 2) out;\nlayout(location = 0) out vec4 color[];\n"
    "void main() { uint i = gl_LocalInvocationIndex; SetMeshOutputsEXT(4, 2); gl_MeshVerticesEXT[i].gl_Position = vec4(float(i & 1u) - "
    "0.5, "
    "float(i >> 1) - 0.5, 0.5, 1) * scale; color[i] = vec4(i) * 0.25; if (i < 2u) gl_PrimitiveTriangleIndicesEXT[i] = uvec3(i, i + 1u, i + "
    "2u); }";

constexpr const char* kCompute[] = {
    "layout(local_size_x_id = 0) in;\nvoid main() { uint i = gl_GlobalInvocationID.x & 127u; n[i] = n[i] * 3u + bits.x + uint(scale.x); }",
    ("layout(local_size_x = 8, local_size_y = 2) in;\nshared uint a[16];\nvoid main() { uint i = gl_LocalInvocationIndex; a[i] = "
     "texelFetch(b, "
     "int(i)).x; barrier(); if (gl_WorkGroupID.x == 0u) n[128u + i] = a[15u - i] + bits.y; }"),
    ("layout(local_size_x = 4) in;\nvoid main() { imageAtomicAdd(s, ivec2(gl_GlobalInvocationID.xy) & 7, 2u); atomicMax(n[200], "
     "uint(textureLod(t, vec2(0.3), 0.0).x * 255.0)); }"),
};

constexpr VkDynamicState kDynamic[] = {VK_DYNAMIC_STATE_VIEWPORT,
                                       VK_DYNAMIC_STATE_SCISSOR,
                                       VK_DYNAMIC_STATE_LINE_WIDTH,
                                       VK_DYNAMIC_STATE_DEPTH_BIAS,
                                       VK_DYNAMIC_STATE_BLEND_CONSTANTS,
                                       VK_DYNAMIC_STATE_DEPTH_BOUNDS,
                                       VK_DYNAMIC_STATE_STENCIL_REFERENCE,
                                       VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK,
                                       VK_DYNAMIC_STATE_STENCIL_WRITE_MASK,
                                       VK_DYNAMIC_STATE_CULL_MODE,
                                       VK_DYNAMIC_STATE_FRONT_FACE,
                                       VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE,
                                       VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE,
                                       VK_DYNAMIC_STATE_DEPTH_COMPARE_OP,
                                       VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE,
                                       VK_DYNAMIC_STATE_STENCIL_OP,
                                       VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE,
                                       VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE,
                                       VK_DYNAMIC_STATE_LOGIC_OP_EXT,
                                       VK_DYNAMIC_STATE_POLYGON_MODE_EXT,
                                       VK_DYNAMIC_STATE_DEPTH_CLAMP_ENABLE_EXT,
                                       VK_DYNAMIC_STATE_SAMPLE_MASK_EXT,
                                       VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT,
                                       VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT,
                                       VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT,
                                       VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT,
                                       VK_DYNAMIC_STATE_DISCARD_RECTANGLE_ENABLE_EXT,
                                       VK_DYNAMIC_STATE_DISCARD_RECTANGLE_MODE_EXT};

/// All that a create info points to.
struct State {
  Stages stages;
  VkVertexInputBindingDescription binding{0, 32, VK_VERTEX_INPUT_RATE_VERTEX};
  VkVertexInputAttributeDescription attributes[2] = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0}, {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 16}};
  VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  VkPipelineTessellationStateCreateInfo tessellation{VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO};
  VkViewport viewport{};
  VkRect2D scissor{};
  VkPipelineViewportStateCreateInfo viewports{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  VkRect2D rectangle{};
  VkPipelineDiscardRectangleStateCreateInfoEXT discard{VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT};
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  VkSampleMask mask = ~0U;
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  VkPipelineColorBlendAttachmentState blends[8]{};
  VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  std::vector<VkDynamicState> states;
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
};

void take_stages(World& w, State& s, PipelineModel& made) {
  Choices& c = w.c;
  const uint32_t kind = c.below(8);
  s.assembly.topology = c.seldom(3) ? static_cast<VkPrimitiveTopology>(c.below(6)) : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  made.mesh = kind == 7;
  if (made.mesh) {
    s.stages.add(w, VK_SHADER_STAGE_MESH_BIT_EXT, kMesh);
  } else {
    const bool attributes = c.coin();
    made.captures = kind == 4;
    s.stages.add(w, VK_SHADER_STAGE_VERTEX_BIT, made.captures ? kVertexCaptured : attributes ? kVertexOf : kVertexAlone);
    if (attributes) {
      s.input.vertexBindingDescriptionCount = 1, s.input.pVertexBindingDescriptions = &s.binding;
      s.input.vertexAttributeDescriptionCount = 2, s.input.pVertexAttributeDescriptions = s.attributes;
    }
  }
  if (kind == 5) {
    s.assembly.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST, s.tessellation.patchControlPoints = 3,
    s.info.pTessellationState = &s.tessellation;
    s.stages.add(w, VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, kControl);
    s.stages.add(w, VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, kEvaluation);
  }
  if (kind == 6) {
    s.assembly.topology = c.coin() ? VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    s.stages.add(w, VK_SHADER_STAGE_GEOMETRY_BIT, kGeometry);
  }
  const VkPrimitiveTopology t = s.assembly.topology;
  const bool strip =
      t == VK_PRIMITIVE_TOPOLOGY_LINE_STRIP || t == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP || t == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN;
  s.assembly.primitiveRestartEnable = strip && c.coin();
  s.stages.add(w, VK_SHADER_STAGE_FRAGMENT_BIT, fragment_of(c, made.shape, made.reads_inputs));
  s.info.stageCount = static_cast<uint32_t>(s.stages.all.size()), s.info.pStages = s.stages.all.data();
}

VkStencilOpState face(Choices& c) {
  const auto op = [&] { return static_cast<VkStencilOp>(c.below(8)); };
  return {op(), op(), op(), static_cast<VkCompareOp>(c.below(8)), c.byte(), c.byte(), c.byte()};
}

void take_raster(World& w, State& s, const PassShape& shape) {
  Choices& c = w.c;
  s.viewport = {0, 0, static_cast<float>(w.width_px), static_cast<float>(w.height_px), 0, 1};
  s.scissor = {{0, 0}, {w.width_px, w.height_px}};
  if (c.seldom(4)) s.viewport.y = s.viewport.height, s.viewport.height = -s.viewport.height;
  if (c.seldom(4)) s.scissor = {{1, 0}, {c.below(40), c.below(40)}};
  s.viewports.viewportCount = s.viewports.scissorCount = 1, s.viewports.pViewports = &s.viewport, s.viewports.pScissors = &s.scissor;
  const uint8_t flags = c.byte();
  s.raster.lineWidth = 1, s.raster.frontFace = static_cast<VkFrontFace>(flags & 1), s.raster.cullMode = (flags & 6) == 6 ? 1 : 0;
  s.raster.depthClampEnable = (flags & 24) == 24, s.raster.depthBiasEnable = (flags & 48) == 48, s.raster.depthBiasConstantFactor = 2;
  s.raster.rasterizerDiscardEnable = c.seldom(24);
  if (c.seldom(8)) s.raster.polygonMode = c.coin() ? VK_POLYGON_MODE_LINE : VK_POLYGON_MODE_POINT;
  s.samples.rasterizationSamples = shape.samples, s.samples.pSampleMask = &s.mask;
  if (c.seldom(8)) s.mask = c.half();
  s.samples.sampleShadingEnable = c.seldom(8), s.samples.minSampleShading = c.unit(),
  s.samples.alphaToCoverageEnable = c.seldom(8) && !shape.colors.empty() && shape.colors[0] && !*prefix_of(shape.colors[0]);
  const uint8_t tests = c.byte();
  s.depth.depthTestEnable = tests & 1, s.depth.depthWriteEnable = tests & 2,
  s.depth.depthCompareOp = static_cast<VkCompareOp>(tests >> 2 & 7);
  s.depth.depthBoundsTestEnable = (tests & 96) == 96, s.depth.maxDepthBounds = 0.75f, s.depth.stencilTestEnable = tests >> 7;
  s.depth.front = face(c), s.depth.back = face(c);
}

void take_blending(World& w, State& s, const PassShape& shape) {
  Choices& c = w.c;
  const auto factor = [&] { return static_cast<VkBlendFactor>(c.below(VK_BLEND_FACTOR_SRC_ALPHA_SATURATE + 1)); };
  bool logic = c.seldom(12);
  for (size_t i = 0; i < shape.colors.size(); ++i) {
    const vk::FormatInfo* const format = vk::find_format(shape.colors[i]);
    VkPipelineColorBlendAttachmentState& a = s.blends[i];
    a.colorWriteMask = c.seldom(4) ? c.below(16) : 15;
    a.blendEnable = format && format->blend && c.seldom(3);
    a.srcColorBlendFactor = factor(), a.dstColorBlendFactor = factor(), a.colorBlendOp = static_cast<VkBlendOp>(c.below(5));
    a.srcAlphaBlendFactor = factor(), a.dstAlphaBlendFactor = factor(), a.alphaBlendOp = static_cast<VkBlendOp>(c.below(5));
  }
  s.blending.attachmentCount = static_cast<uint32_t>(shape.colors.size()), s.blending.pAttachments = s.blends;
  s.blending.logicOpEnable = logic, s.blending.logicOp = static_cast<VkLogicOp>(c.below(16));
  for (float& x : s.blending.blendConstants) x = c.unit();
}

void take_dynamic(World& w, State& s, bool mesh) {
  const uint32_t few = w.c.seldom(3) ? 2 : 8;
  for (const VkDynamicState state : kDynamic)
    if (w.c.seldom(few)) s.states.push_back(state);
  (void)mesh;
  s.dynamic.dynamicStateCount = static_cast<uint32_t>(s.states.size()), s.dynamic.pDynamicStates = s.states.data();
}

/// Of four libraries, each with a part.
void link(World& w, const VkGraphicsPipelineCreateInfo& whole, VkPipeline& out) {
  constexpr VkGraphicsPipelineLibraryFlagBitsEXT kParts[] = {
      VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT, VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT,
      VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT, VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT};
  std::vector<VkPipeline> made;
  for (const auto part : kParts) {
    VkGraphicsPipelineCreateInfo info = whole;
    const VkGraphicsPipelineLibraryCreateInfoEXT of{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
                                                    const_cast<void*>(whole.pNext), part};
    info.pNext = &of, info.flags |= VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
    TILEGPU_MUST(w, CreateGraphicsPipelines, w.device, w.cache, 1, &info, nullptr, &made.emplace_back());
  }
  w.libraries.insert(w.libraries.end(), made.begin(), made.end());
  const VkPipelineLibraryCreateInfoKHR libraries{VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR, nullptr, 4, made.data()};
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &libraries};
  info.layout = whole.layout;
  TILEGPU_MUST(w, CreateGraphicsPipelines, w.device, w.cache, 1, &info, nullptr, &out);
}

}  // namespace

const std::vector<uint32_t>& World::shader_words(VkShaderStageFlagBits stage, const PassShape& shape, bool attributes, bool& reads_inputs) {
  std::string body;
  switch (stage) {
    case VK_SHADER_STAGE_VERTEX_BIT:
      body = attributes ? kVertexOf : kVertexAlone;
      break;
    case VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT:
      body = kControl;
      break;
    case VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT:
      body = kEvaluation;
      break;
    case VK_SHADER_STAGE_GEOMETRY_BIT:
      body = kGeometry;
      break;
    case VK_SHADER_STAGE_MESH_BIT_EXT:
      body = kMesh;
      break;
    case VK_SHADER_STAGE_COMPUTE_BIT:
      body = c.of(kCompute);
      break;
    default:
      body = fragment_of(c, shape, reads_inputs);
      break;
  }
  return words_of(head_of(stage) + std::string(kInterface) + body, stage);
}

std::shared_ptr<PipelineModel> World::graphics_pipeline(const PassShape& shape) {
  if (!c.seldom(3))
    if (auto found = pick(pipelines, [&](const PipelineModel& p) { return !p.compute && p.shape == shape; })) return found;
  auto made = std::make_shared<PipelineModel>();
  made->shape = shape, made->layout = c.seldom(3) ? pushed_layout : layout;
  State s;
  take_stages(*this, s, *made);
  take_raster(*this, s, shape);
  take_blending(*this, s, shape);
  take_dynamic(*this, s, made->mesh);
  s.info.pVertexInputState = &s.input, s.info.pInputAssemblyState = &s.assembly, s.info.pViewportState = &s.viewports;
  s.info.pRasterizationState = &s.raster, s.info.pMultisampleState = &s.samples, s.info.pDepthStencilState = &s.depth;
  s.info.pColorBlendState = &s.blending, s.info.pDynamicState = &s.dynamic;
  s.info.layout = made->layout, s.info.renderPass = shape.render_pass, s.info.subpass = shape.subpass;
  if (!shape.render_pass) {
    s.rendering.viewMask = shape.view_mask, s.rendering.colorAttachmentCount = static_cast<uint32_t>(shape.colors.size());
    s.rendering.pColorAttachmentFormats = shape.colors.data();
    const vk::FormatInfo* const depth = vk::find_format(shape.depth);
    if (depth && depth->depth_bits) s.rendering.depthAttachmentFormat = shape.depth;
    if (depth && depth->stencil_bits) s.rendering.stencilAttachmentFormat = shape.depth;
    s.info.pNext = &s.rendering;
  }
  if (c.seldom(6)) {
    s.rectangle = {{static_cast<int32_t>(c.below(20)), static_cast<int32_t>(c.below(20))}, {c.below(60), c.below(60)}};
    s.discard.discardRectangleMode = static_cast<VkDiscardRectangleModeEXT>(c.below(2));
    s.discard.discardRectangleCount = 1, s.discard.pDiscardRectangles = &s.rectangle;
    s.discard.pNext = s.info.pNext, s.info.pNext = &s.discard;
  }
  if (c.seldom(8)) s.info.flags = VK_PIPELINE_CREATE_ALLOW_DERIVATIVES_BIT;
  if (!made->mesh && c.seldom(8))
    link(*this, s.info, made->handle);
  else
    TILEGPU_MUST(*this, CreateGraphicsPipelines, device, cache, 1, &s.info, nullptr, &made->handle);
  for (const VkShaderModule m : s.stages.modules) vk.DestroyShaderModule(device, m, nullptr);
  made->dynamic = s.states;
  pipelines.push_back(made);
  return made;
}

namespace {

/// One number of a create info that is otherwise as it must be.
void spoil(World& w, State& s, uint32_t far) {
  const auto any = [&](auto& field) { field = static_cast<std::decay_t<decltype(field)>>(far); };
  VkPipelineColorBlendAttachmentState& blend = s.blends[0];
  switch (w.c.below(24)) {
      // clang-format off
    case 0: return any(s.assembly.topology);
    case 1: return any(s.raster.polygonMode);
    case 2: return any(s.raster.cullMode);
    case 3: return any(s.raster.frontFace);
    case 4: return any(s.samples.rasterizationSamples);
    case 5: return any(s.depth.depthCompareOp);
    case 6: s.depth.stencilTestEnable = VK_TRUE; return any(s.depth.front.passOp);
    case 7: s.depth.stencilTestEnable = VK_TRUE; return any(s.depth.back.compareOp);
    case 8: s.blending.logicOpEnable = VK_TRUE; return any(s.blending.logicOp);
    case 9: blend.blendEnable = VK_TRUE; return any(blend.colorBlendOp);
    case 10: blend.blendEnable = VK_TRUE; return any(blend.srcColorBlendFactor);
    case 11: return any(blend.colorWriteMask);
    case 12: return any(s.binding.binding);
    case 13: return any(s.binding.stride);
    case 14: return any(s.binding.inputRate);
    case 15: return any(s.attributes[1].location);
    case 16: return any(s.attributes[1].format);
    case 17: return any(s.attributes[1].offset);
    case 18: return any(s.attributes[1].binding);
    case 19: return any(s.tessellation.patchControlPoints);
    case 20: s.states = {static_cast<VkDynamicState>(far)}, s.dynamic.dynamicStateCount = 1, s.dynamic.pDynamicStates = s.states.data(); return;
    case 21: return any(s.rendering.depthAttachmentFormat);
    case 22: return any(s.rendering.viewMask);
    default: return any(s.raster.lineWidth);
      // clang-format on
  }
}

}  // namespace

// Drawn with, where it is made all the same, but not submitted.
VkPipeline World::spoilt_pipeline(uint32_t far) {
  PipelineModel made;
  made.shape.colors = {VK_FORMAT_R8G8B8A8_UNORM}, made.layout = layout;
  State s;
  take_stages(*this, s, made);
  take_raster(*this, s, made.shape);
  take_blending(*this, s, made.shape);
  s.info.pVertexInputState = &s.input, s.info.pInputAssemblyState = &s.assembly, s.info.pViewportState = &s.viewports;
  s.info.pRasterizationState = &s.raster, s.info.pMultisampleState = &s.samples, s.info.pDepthStencilState = &s.depth;
  s.info.pColorBlendState = &s.blending, s.info.pDynamicState = &s.dynamic, s.info.layout = layout, s.info.pNext = &s.rendering;
  s.rendering.colorAttachmentCount = 1, s.rendering.pColorAttachmentFormats = made.shape.colors.data();
  spoil(*this, s, far);
  VkPipeline out = nullptr;
  wrong("CreateGraphicsPipelines", vk.CreateGraphicsPipelines(device, cache, 1, &s.info, nullptr, &out), true);
  for (const VkShaderModule m : s.stages.modules) vk.DestroyShaderModule(device, m, nullptr);
  return out;
}

std::shared_ptr<PipelineModel> World::compute_pipeline() {
  if (!c.seldom(3))
    if (auto found = pick(pipelines, [](const PipelineModel& p) { return p.compute; })) return found;
  auto made = std::make_shared<PipelineModel>();
  made->compute = true, made->layout = c.seldom(3) ? pushed_layout : layout;
  Stages stages;
  stages.add(*this, VK_SHADER_STAGE_COMPUTE_BIT, c.of(kCompute));
  const uint32_t size = 1 + c.below(40);
  const VkSpecializationMapEntry entry{0, 0, 4};
  const VkSpecializationInfo constants{1, &entry, 4, &size};
  stages.all[0].pSpecializationInfo = &constants;
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage = stages.all[0], info.layout = made->layout;
  TILEGPU_MUST(*this, CreateComputePipelines, device, cache, 1, &info, nullptr, &made->handle);
  vk.DestroyShaderModule(device, stages.modules[0], nullptr);
  pipelines.push_back(made);
  return made;
}

void World::set_dynamic(Recording& r, const PipelineModel& pipeline) {
  const VkViewport viewport{0, 0, static_cast<float>(width_px), static_cast<float>(1 + c.below(60)), c.unit(), 1};
  const VkRect2D scissor{{static_cast<int32_t>(c.below(4)), 0}, {c.below(60), height_px}};
  const VkRect2D rectangles[2] = {{{static_cast<int32_t>(c.below(9)), 2}, {c.below(40), 20}}, {{30, 0}, {8, c.below(60)}}};
  const float constants[4] = {c.unit(), 0.5f, c.unit(), 1};
  const uint32_t count = static_cast<uint32_t>(std::max<size_t>(1, pipeline.shape.colors.size()));
  VkBool32 enables[8];
  VkColorComponentFlags masks[8];
  const VkSampleMask mask = c.half();
  for (int i = 0; i < 8; ++i) enables[i] = c.coin(), masks[i] = c.below(16);
  const VkCommandBuffer b = r.handle;
  const auto compare = [&] { return static_cast<VkCompareOp>(c.below(8)); };
  for (const VkDynamicState state : pipeline.dynamic) switch (static_cast<int>(state)) {
        // clang-format off
      case VK_DYNAMIC_STATE_VIEWPORT: vk.CmdSetViewport(b, 0, 1, &viewport); break;
      case VK_DYNAMIC_STATE_SCISSOR: vk.CmdSetScissor(b, 0, 1, &scissor); break;
      case VK_DYNAMIC_STATE_LINE_WIDTH: vk.CmdSetLineWidth(b, 1 + c.unit() * 3); break;
      case VK_DYNAMIC_STATE_DEPTH_BIAS: vk.CmdSetDepthBias(b, c.unit() * 4, 0, c.unit()); break;
      case VK_DYNAMIC_STATE_BLEND_CONSTANTS: vk.CmdSetBlendConstants(b, constants); break;
      case VK_DYNAMIC_STATE_DEPTH_BOUNDS: vk.CmdSetDepthBounds(b, 0.1f, 0.9f); break;
      case VK_DYNAMIC_STATE_STENCIL_REFERENCE: vk.CmdSetStencilReference(b, VK_STENCIL_FACE_FRONT_AND_BACK, c.byte()); break;
      case VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK: vk.CmdSetStencilCompareMask(b, VK_STENCIL_FACE_FRONT_AND_BACK, c.byte()); break;
      case VK_DYNAMIC_STATE_STENCIL_WRITE_MASK: vk.CmdSetStencilWriteMask(b, VK_STENCIL_FACE_FRONT_AND_BACK, c.byte()); break;
      case VK_DYNAMIC_STATE_CULL_MODE: vk.CmdSetCullMode(b, c.below(3)); break;
      case VK_DYNAMIC_STATE_FRONT_FACE: vk.CmdSetFrontFace(b, static_cast<VkFrontFace>(c.below(2))); break;
      case VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE: vk.CmdSetDepthTestEnable(b, c.coin()); break;
      case VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE: vk.CmdSetDepthWriteEnable(b, c.coin()); break;
      case VK_DYNAMIC_STATE_DEPTH_COMPARE_OP: vk.CmdSetDepthCompareOp(b, compare()); break;
      case VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE: vk.CmdSetStencilTestEnable(b, c.coin()); break;
      case VK_DYNAMIC_STATE_STENCIL_OP: vk.CmdSetStencilOp(b, VK_STENCIL_FACE_FRONT_AND_BACK, static_cast<VkStencilOp>(c.below(8)), VK_STENCIL_OP_ZERO, VK_STENCIL_OP_KEEP, compare()); break;
      case VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE: vk.CmdSetDepthBiasEnable(b, c.coin()); break;
      case VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE: vk.CmdSetRasterizerDiscardEnable(b, c.seldom(8)); break;
      case VK_DYNAMIC_STATE_LOGIC_OP_EXT: vk.CmdSetLogicOpEXT(b, static_cast<VkLogicOp>(c.below(16))); break;
      case VK_DYNAMIC_STATE_POLYGON_MODE_EXT: vk.CmdSetPolygonModeEXT(b, static_cast<VkPolygonMode>(c.below(3))); break;
      case VK_DYNAMIC_STATE_DEPTH_CLAMP_ENABLE_EXT: vk.CmdSetDepthClampEnableEXT(b, c.coin()); break;
      case VK_DYNAMIC_STATE_SAMPLE_MASK_EXT: vk.CmdSetSampleMaskEXT(b, pipeline.shape.samples, &mask); break;
      case VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT: vk.CmdSetColorWriteEnableEXT(b, count, enables); break;
      case VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT: vk.CmdSetColorWriteMaskEXT(b, 0, count, masks); break;
      case VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT: vk.CmdSetDiscardRectangleEXT(b, 0, 2, rectangles); break;
      case VK_DYNAMIC_STATE_DISCARD_RECTANGLE_ENABLE_EXT: vk.CmdSetDiscardRectangleEnableEXT(b, c.coin()); break;
      case VK_DYNAMIC_STATE_DISCARD_RECTANGLE_MODE_EXT: vk.CmdSetDiscardRectangleModeEXT(b, static_cast<VkDiscardRectangleModeEXT>(c.below(2))); break;
      case VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT: {
        for (size_t i = 0; i < pipeline.shape.colors.size(); ++i) {
          const vk::FormatInfo* const format = vk::find_format(pipeline.shape.colors[i]);
          enables[i] = enables[i] && format && format->blend;
        }
        vk.CmdSetColorBlendEnableEXT(b, 0, count, enables);
        break;
      }
      default: break;
        // clang-format on
    }
}

// Caches.
void World::step_pipeline_objects() {
  const VkPipelineCacheCreateInfo empty{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  VkPipelineCache other = nullptr;
  TILEGPU_MUST(*this, CreatePipelineCache, device, &empty, nullptr, &other);
  TILEGPU_MUST(*this, MergePipelineCaches, device, cache, 1, &other);
  uint8_t data[256];
  size_t size_B = 0;
  TILEGPU_MUST(*this, GetPipelineCacheData, device, cache, &size_B, nullptr);
  if (size_B > sizeof data) fail("a pipeline cache has more than its header");
  size_B = c.byte();
  const bool fits = size_B >= 32;
  const VkResult r = TILEGPU_CHECKED(*this, GetPipelineCacheData, device, cache, &size_B, data);
  if ((r == VK_SUCCESS) != fits) fail("vkGetPipelineCacheData gave " + std::to_string(r) + " with room for " + std::to_string(size_B));
  const VkPipelineCacheCreateInfo again{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, nullptr, 0, size_B, data};
  vk.DestroyPipelineCache(device, other, nullptr);
  TILEGPU_MUST(*this, CreatePipelineCache, device, &again, nullptr, &other);
  vk.DestroyPipelineCache(device, other, nullptr);
}

}  // namespace tilegpu::fuzz
