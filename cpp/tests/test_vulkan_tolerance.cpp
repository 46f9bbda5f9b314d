// tests/test_vulkan_tolerance.cpp -- the driver does what Vulkan forbids though its outcome is plain, and says so, once each.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "shader/module/implied_capabilities.hpp"
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8;

/// A picture of one subpass, and the buffer that it is copied to.
struct Picture {
  Program& p;
  Program::BoundImage target;
  Program::MappedBuffer texels;
  VkRenderPass pass = p.one_subpass();
  VkFramebuffer framebuffer = p.framebuffer(pass, {target.view}, kSide_px);

  Picture(Program& on, VkImageUsageFlags target_usage, VkBufferUsageFlags texels_usage)
      : p(on),
        target(p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, target_usage)),
        texels(p.buffer(4 * kSide_px * kSide_px, texels_usage)) {}
  Picture(const Picture&) = delete;
  ~Picture() {
    p.DestroyFramebuffer(p.device, framebuffer, nullptr);
    p.DestroyRenderPass(p.device, pass, nullptr);
    p.destroy(target);
    p.destroy(texels);
  }

  void begin(VkCommandBuffer c, const VkClearValue& clear) const {
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
    begin.clearValueCount = 1, begin.pClearValues = &clear;
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  }
  std::vector<uint32_t> ended(VkCommandBuffer c) const {
    p.CmdEndRenderPass(c);
    p.run_and_copy(c, target, kSide_px, texels.buffer);
    std::vector<uint32_t> pixels(size_t{kSide_px} * kSide_px);
    std::memcpy(pixels.data(), texels.data, 4 * pixels.size());
    return pixels;
  }
};

void usages_that_nobody_named() {
  Program p;
  const Picture picture(p, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  for (int round = 0; round < 2; round++) {
    const VkCommandBuffer c = p.begin();
    p.CmdFillBuffer(c, picture.texels.buffer, 0, VK_WHOLE_SIZE, 7);
    const VkClearValue white{.color = {{1, 1, 1, 1}}}, blue{.color = {{0, 0, 1, 1}}};
    picture.begin(c, white);
    const VkClearAttachment clear{VK_IMAGE_ASPECT_COLOR_BIT, 0, blue};
    const VkClearRect beyond{{{4, 0}, {100, 100}}, 0, 1};
    p.CmdClearAttachments(c, 1, &clear, 1, &beyond);
    const std::vector<uint32_t> pixels = picture.ended(c);
    for (uint32_t i = 0; i < kSide_px * kSide_px; i++) CHECK(pixels[i] == (i % kSide_px < 4 ? 0xffffffffu : 0xffff0000u));
  }
  CHECK(p.heard("is one without transfer_dst, allowed") && p.heard("is one without transfer_src, allowed"));
  CHECK(p.heard("rect of clear_attachment is 100x100 px at (4, 0)") &&
        p.heard("(Vulkan forbids it, or leaves it undefined; it is done all the same)"));
  CHECK(p.said.size() == 4);  // fill, clear, and both sides of the copy; the second round says nothing new
}

// Zink of Mesa 22.3 reads framebuffers so that were given several samples: the first one of each texel.
void samples_that_are_copied_to_a_buffer() {
  Program p;
  constexpr VkImageUsageFlags kUses =
      VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  const auto many = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, kUses, false, VK_SAMPLE_COUNT_4_BIT);
  const auto words = p.buffer(4 * kSide_px * kSide_px, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkCommandBuffer c = p.begin();
  const VkClearColorValue green{.float32 = {0, 1, 0, 1}};
  const VkImageSubresourceRange all_of_it{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  p.CmdClearColorImage(c, many.image, VK_IMAGE_LAYOUT_GENERAL, &green, 1, &all_of_it);
  p.run_and_copy(c, many, kSide_px, words.buffer);
  for (uint32_t i = 0; i < kSide_px * kSide_px; i++) {
    uint32_t texel = 0;
    std::memcpy(&texel, words.data + 4 * i, 4);
    CHECK(texel == 0xff00ff00u);
  }
  CHECK(p.heard(".samples is 4, allowed is 1; resolve it first: of several samples the first of each texel is copied"));
  CHECK(p.said.size() == 1);
  p.destroy(many);
  p.destroy(words);
}

constexpr char kCorners[] = R"(#version 450
layout(location = 0) in vec2 place;
void main() { gl_Position = vec4(place, 0, 1); })";

// Places are floats that an attribute of integers holds. What one triangle left of blue.
std::vector<uint32_t> drawn_corners(Program& p, const char* fragment, VkShaderModule other = nullptr,
                                    const VkPipelineColorBlendAttachmentState* blend = nullptr) {
  const Picture picture(p, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const auto corners = p.buffer(24, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
  const float places[] = {-1, -1, 3, -1, -1, 3};
  std::memcpy(corners.data, places, sizeof places);
  const VkPipelineLayout layout = p.pipeline_layout({});
  const VkVertexInputBindingDescription binding{0, 8, VK_VERTEX_INPUT_RATE_VERTEX};
  const VkVertexInputAttributeDescription attribute{0, 0, VK_FORMAT_R32G32_UINT, 0};
  VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  input.vertexBindingDescriptionCount = input.vertexAttributeDescriptionCount = 1;
  input.pVertexBindingDescriptions = &binding, input.pVertexAttributeDescriptions = &attribute;
  std::vector<VkPipelineShaderStageCreateInfo> stages;
  VkPipelineColorBlendStateCreateInfo blends;
  const VkPipeline pipeline = make_pipeline(p, kCorners, fragment, layout, picture.pass, 0, [&](VkGraphicsPipelineCreateInfo& info) {
    stages.assign(info.pStages, info.pStages + info.stageCount);
    if (other) stages[1].module = other;
    info.pVertexInputState = &input, info.pStages = stages.data();
    if (!blend) return;
    blends = *info.pColorBlendState, blends.pAttachments = blend;
    info.pColorBlendState = &blends;
  });
  const VkCommandBuffer c = p.begin();
  picture.begin(c, {.color = {{0, 0, 1, 1}}});
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  const VkRect2D scissor{{0, 0}, {kSide_px, kSide_px}};
  const VkDeviceSize zero = 0;
  p.CmdSetViewport(c, 0, 1, &viewport);
  p.CmdSetScissor(c, 0, 1, &scissor);
  p.CmdBindVertexBuffers(c, 0, 1, &corners.buffer, &zero);
  p.CmdDraw(c, 3, 1, 0, 0);
  std::vector<uint32_t> pixels = picture.ended(c);
  p.DestroyPipeline(p.device, pipeline, nullptr);
  p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.destroy(corners);
  return pixels;
}

bool all(const std::vector<uint32_t>& pixels, uint32_t texel) {
  return std::all_of(pixels.begin(), pixels.end(), [&](uint32_t p) { return p == texel; });
}

void types_that_do_not_agree() {
  Program p;
  CHECK(all(drawn_corners(p, "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = vec4(1); }"), 0xffffffffU));
  CHECK(p.heard("vertex attribute at location 0 has format r32g32_uint, but the shader's 'place' is of base type float"));
  const char* const bits = "#version 450\nlayout(location = 0) out uvec4 c;\nvoid main() { c = uvec4(0x3f800000u, 0, 0, 0x3f800000u); }";
  CHECK(all(drawn_corners(p, bits), 0xff0000ffU));  // the bits of 1.0
  CHECK(p.heard("color[0] has format r8g8b8a8_unorm, but the fragment shader's 'c' is of base type uint"));
}

void capabilities_that_nobody_declared() {
  Program p;
  GlslSource source;
  source.text = "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = vec4(float(gl_SampleID), 1, 0, 1); }";
  source.stage = VK_SHADER_STAGE_FRAGMENT_BIT;
  auto words = compile_glsl(source);
  if (!CHECK(words)) return;
  constexpr uint32_t kCapability = 2U << 16 | 17, kSampleRateShading = 35;  // OpCapability SampleRateShading
  const uint32_t declares[] = {kCapability, kSampleRateShading};
  const auto at = std::search(words->begin(), words->end(), std::begin(declares), std::end(declares));
  if (!CHECK(at != words->end())) return;
  words->erase(at, at + 2);
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words->size() * 4, words->data()};
  VkShaderModule module = nullptr;
  CHECK(p.CreateShaderModule(p.device, &info, nullptr, &module) == VK_SUCCESS);
  CHECK(all(drawn_corners(p, source.text.c_str(), module), 0xff00ff00U));
  CHECK(p.heard("does not declare the capability SampleRateShading, which one of its decorations or instructions needs"));
  p.DestroyShaderModule(p.device, module, nullptr);
}

// Structures of push constants and buffers that no decoration calls a Block (DXVK's own): they are ones all the same.
void blocks_that_nobody_declared() {
  Program p;
  GlslSource source;
  source.text = R"(#version 450
layout(local_size_x = 1) in;
layout(push_constant) uniform Push { uint first, second; };
layout(binding = 0) uniform Plain { uint third; } plain[2];
layout(binding = 1) buffer Words { uint words[]; };
void main() { words[0] = second; words[1] = plain[1].third; })";
  source.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  auto words = compile_glsl(source);
  if (!CHECK(words)) return;
  uint32_t removed = 0;
  for (size_t at = 5; at < words->size();) {
    const uint32_t length = (*words)[at] >> 16, op = (*words)[at] & 0xffff;
    constexpr uint32_t kDecorate = 71, kBlock = 2;
    if (op == kDecorate && (*words)[at + 2] == kBlock) {
      words->erase(words->begin() + static_cast<std::ptrdiff_t>(at), words->begin() + static_cast<std::ptrdiff_t>(at + length));
      removed++;
    } else {
      at += length;
    }
  }
  CHECK(removed == 3);
  CHECK(!ShaderModule::create(*words, "as it is"));
  std::vector<uint32_t> again = *words;
  CHECK(shader::declare_implied_blocks(again) == removed && again.size() == words->size() + size_t{3} * removed);
  CHECK(shader::declare_implied_blocks(again) == 0 && ShaderModule::create(again, "as it is meant"));
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words->size() * 4, words->data()};
  VkShaderModule module = nullptr;
  CHECK(p.CreateShaderModule(p.device, &info, nullptr, &module) == VK_SUCCESS);
  const VkDescriptorSetLayout sets = p.set_layout({{0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 2, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                   {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
  const VkPipelineLayout layout = p.pipeline_layout({sets}, {{VK_SHADER_STAGE_COMPUTE_BIT, 0, 8}});
  VkComputePipelineCreateInfo kernel{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  kernel.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, module, "main", nullptr};
  kernel.layout = layout;
  VkPipeline pipeline = nullptr;
  CHECK(p.CreateComputePipelines(p.device, nullptr, 1, &kernel, nullptr, &pipeline) == VK_SUCCESS);
  CHECK(p.said.size() == 1 && p.heard("has a structure of push constants or of a buffer that is not decorated as a Block"));
  p.DestroyPipeline(p.device, pipeline, nullptr), p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyDescriptorSetLayout(p.device, sets, nullptr), p.DestroyShaderModule(p.device, module, nullptr);
  std::vector<uint32_t> none = {1, 2, 3};
  CHECK(shader::declare_implied_blocks(none) == 0 && none.size() == 3);
}

// A factor of the second source, of which the shader has none: it is 0, whatever the draw before left. Blue, multiplied by 1 - 0.
void second_sources_that_nobody_writes() {
  Program p;
  VkPipelineColorBlendAttachmentState blend{};
  blend.blendEnable = VK_TRUE, blend.colorWriteMask = 15;
  blend.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR, blend.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA;
  const char* const magenta = "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = vec4(1, 0, 1, 1); }";
  CHECK(all(drawn_corners(p, magenta, nullptr, &blend), 0xffff0000U));
  CHECK(p.heard("blend of color[0] has a factor of a second source, which the fragment shader does not write"));
}

// Of instructions: Mesa 22.3's Zink demotes without a word.
void capabilities_of_instructions() {
  struct Case {
    const char* name;
    uint32_t capability;
    VkShaderStageFlagBits stage;
    const char *extension, *head, *body;
  };
  constexpr VkShaderStageFlagBits kFragment = VK_SHADER_STAGE_FRAGMENT_BIT;
  const Case cases[] = {
      {"DemoteToHelperInvocation", 5379, kFragment, "GL_EXT_demote_to_helper_invocation", "", "if (v.x < 0) demote;"},
      {"DemoteToHelperInvocation", 5379, kFragment, "GL_EXT_demote_to_helper_invocation", "", "if (helperInvocationEXT()) c.x = 1;"},
      {"DerivativeControl", 51, kFragment, "GL_ARB_derivative_control", "", "c += dFdxFine(v) + fwidthCoarse(v);"},
      {"ImageQuery", 50, kFragment, "GL_ARB_gpu_shader5", "layout(binding = 0) uniform sampler2D t;",
       "c.xy = vec2(textureSize(t, 0) + textureQueryLevels(t));"},
      {"InterpolationFunction", 52, kFragment, "GL_ARB_gpu_shader5", "", "c += interpolateAtCentroid(v);"},
      {"GeometryStreams", 54, VK_SHADER_STAGE_GEOMETRY_BIT, "GL_ARB_gpu_shader5", "", "EmitStreamVertex(0); EndStreamPrimitive(0);"},
  };
  for (const Case& of : cases) {
    GlslSource source;
    source.text = "#version 450\n#extension " + std::string(of.extension) + " : require\n" + of.head;
    source.text += of.stage == kFragment ? "\nlayout(location = 0) in vec4 v; layout(location = 0) out vec4 c;"
                                         : "\nlayout(points) in; layout(points, max_vertices = 2) out;";
    source.text += "\nvoid main() { " + std::string(of.stage == kFragment ? "c = v; " : "gl_Position = vec4(0); ") + of.body + " }";
    source.stage = of.stage;
    auto words = compile_glsl(source);
    if (!CHECK(words, of.name)) continue;
    const uint32_t declares[] = {2U << 16 | 17, of.capability};
    const auto at = std::search(words->begin(), words->end(), std::begin(declares), std::end(declares));
    if (!CHECK(at != words->end(), of.name)) continue;
    words->erase(at, at + 2);
    CHECK(!ShaderModule::create(*words, "as it is"), of.name);
    const auto names = shader::declare_implied_capabilities(*words);
    CHECK(names.size() == 1 && std::string_view(names[0]) == of.name, of.name);
    const auto module = ShaderModule::create(*words, "as it is meant");
    CHECK(module, module ? of.name : module.error().message.c_str());
    CHECK(shader::declare_implied_capabilities(*words).empty());
  }
}

// ShaderLayer and ShaderViewportIndex are of SPIR-V 1.5: a module of 1.3 means the extension's capability.
void capabilities_of_a_later_version() {
  GlslSource source;
  source.text =
      "#version 450\n#extension GL_ARB_shader_viewport_layer_array : require\nvoid main() { gl_Position = vec4(0); gl_Layer = 0; }";
  source.stage = VK_SHADER_STAGE_VERTEX_BIT;
  auto words = compile_glsl(source);
  if (!CHECK(words)) return;
  constexpr uint32_t kCapability = 2U << 16 | 17, kShaderLayer = 69;
  const uint32_t declares[] = {kCapability, kShaderLayer};
  CHECK(std::search(words->begin(), words->end(), std::begin(declares), std::end(declares)) != words->end());
  (*words)[1] = 0x00010300;
  const std::vector<uint32_t> before = *words;
  const auto names = shader::declare_implied_capabilities(*words);
  CHECK(names.size() == 1 && std::string_view(names[0]) == "ShaderViewportIndexLayerEXT" && words->size() == before.size() + 10);
  CHECK(!ShaderModule::create(before, "as it was") && ShaderModule::create(*words, "as it is meant"));
  CHECK(shader::declare_implied_capabilities(*words).empty());
}

// What Zink binds: one layer where the shader has an array, and the other way round. Layer 0 is what there is.
void views_that_are_arrays_or_not() {
  Program p;
  constexpr VkImageUsageFlags kUses = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
  const auto image = p.image(VK_FORMAT_R32_UINT, kSide_px, kSide_px, kUses);
  const auto out = p.buffer(64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  info.image = image.image, info.viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY, info.format = VK_FORMAT_R32_UINT;
  info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkImageView layered = nullptr;
  CHECK(p.CreateImageView(p.device, &info, nullptr, &layered) == VK_SUCCESS);
  const auto storage_image = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
  const VkDescriptorSetLayout sets = p.set_layout({{0, storage_image, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                   {1, storage_image, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                   {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
  const VkPipelineLayout layout = p.pipeline_layout({sets});
  const VkDescriptorSet set = p.descriptor_set(sets);
  const VkDescriptorImageInfo views[] = {{nullptr, image.view, VK_IMAGE_LAYOUT_GENERAL}, {nullptr, layered, VK_IMAGE_LAYOUT_GENERAL}};
  const VkDescriptorBufferInfo words{out.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet writes[3] = {};
  for (uint32_t k = 0; k < 3; k++) {
    writes[k].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, writes[k].dstSet = set, writes[k].dstBinding = k,
    writes[k].descriptorCount = 1;
    writes[k].descriptorType = k < 2 ? storage_image : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    if (k < 2) writes[k].pImageInfo = &views[k];
    if (k == 2) writes[k].pBufferInfo = &words;
  }
  p.UpdateDescriptorSets(p.device, 3, writes, 0, nullptr);
  const VkPipeline kernel = p.compute_pipeline(R"(#version 450
layout(local_size_x = 1) in;
layout(binding = 0, r32ui) uniform uimage2DArray many;
layout(binding = 1, r32ui) uniform uimage2D one;
layout(binding = 2) buffer Words { uint words[]; };
void main() {
  imageStore(many, ivec3(1, 2, 0), uvec4(11));
  imageStore(many, ivec3(3, 2, 1), uvec4(99));
  imageStore(one, ivec2(5, 6), uvec4(22));
  words[0] = imageLoad(one, ivec2(1, 2)).x;
  words[1] = imageLoad(many, ivec3(5, 6, 0)).x;
  words[2] = imageLoad(one, ivec2(3, 2)).x;
  words[3] = uint(imageSize(many).z);
})",
                                               layout);
  const VkCommandBuffer c = p.begin();
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, kernel);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
  p.CmdDispatch(c, 1, 1, 1);
  p.run(c);
  uint32_t found[4];
  std::memcpy(found, out.data, sizeof found);
  CHECK(found[0] == 11 && found[1] == 22 && found[2] == 99 && found[3] == 1);  // of a view without layers any is the one
  CHECK(p.heard("type of the view of image") && p.heard("is 2d, allowed is 2d_array") && p.heard("is 2d_array, allowed is 2d"));
  p.DestroyPipeline(p.device, kernel, nullptr);
  p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyDescriptorSetLayout(p.device, sets, nullptr);
  p.DestroyImageView(p.device, layered, nullptr);
  p.destroy(image);
  p.destroy(out);
}

// A view of another type than the variable's is read as it is: what it has no coordinate for says nothing.
void views_of_another_type() {
  Program p;
  const auto image = p.image(VK_FORMAT_R32_UINT, kSide_px, kSide_px, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT);
  const auto out = p.buffer(64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  const VkDescriptorType kinds[] = {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                    VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t k = 0; k < 4; k++) bindings.push_back({k, kinds[k], 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  const VkDescriptorSetLayout sets = p.set_layout(bindings);
  const VkPipelineLayout layout = p.pipeline_layout({sets});
  const VkDescriptorSet set = p.descriptor_set(sets);
  const VkDescriptorImageInfo view{nullptr, image.view, VK_IMAGE_LAYOUT_GENERAL};
  const VkDescriptorBufferInfo words{out.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet writes[4] = {};
  for (uint32_t k = 0; k < 4; k++) {
    writes[k].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, writes[k].dstSet = set, writes[k].dstBinding = k;
    writes[k].descriptorCount = 1, writes[k].descriptorType = kinds[k];
    (k < 3 ? writes[k].pImageInfo = &view : nullptr), (k == 3 ? writes[k].pBufferInfo = &words : nullptr);
  }
  p.UpdateDescriptorSets(p.device, 4, writes, 0, nullptr);
  const VkPipeline kernel = p.compute_pipeline(R"(#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 1) in;
layout(binding = 0, r32ui) uniform uimage3D many;
layout(binding = 1) uniform utexture3D deep;
layout(binding = 2) uniform utexture1D line;
layout(binding = 3) buffer Words { uint words[]; };
void main() {
  imageStore(many, ivec3(1, 0, 3), uvec4(11));
  imageStore(many, ivec3(5, 6, 0), uvec4(22));
  memoryBarrierImage();
  words[0] = texelFetch(deep, ivec3(5, 6, 2), 0).x;
  words[1] = texelFetch(line, 1, 0).x;
  words[2] = imageLoad(many, ivec3(5, 6, 7)).x;
})",
                                               layout);
  const VkCommandBuffer c = p.begin();
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, kernel);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
  p.CmdDispatch(c, 1, 1, 1);
  p.run(c);
  uint32_t found[3];
  std::memcpy(found, out.data, sizeof found);
  CHECK(found[0] == 22 && found[1] == 11 && found[2] == 22);
  CHECK(p.heard("is 2d, allowed is 3d") && p.heard("is 2d, allowed is 1d") && p.said.size() == 3);
  p.DestroyPipeline(p.device, kernel, nullptr);
  p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyDescriptorSetLayout(p.device, sets, nullptr);
  p.destroy(image);
  p.destroy(out);
}

}  // namespace

int main() {
  usages_that_nobody_named();
  samples_that_are_copied_to_a_buffer();
  views_that_are_arrays_or_not();
  views_of_another_type();
  capabilities_of_a_later_version();
  types_that_do_not_agree();
  capabilities_that_nobody_declared();
  capabilities_of_instructions();
  blocks_that_nobody_declared();
  second_sources_that_nobody_writes();
  return finish("test_vulkan_tolerance");
}
