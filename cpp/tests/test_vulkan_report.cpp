// tests/test_vulkan_report.cpp -- TILEGPU_REPORT and TILEGPU_CAPTURE of a program that ends without a word: its device is left, its code
// is still being optimised. The report is looked at when everything else of the process is over.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "tilegpu/capture.hpp"
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

std::string folder, report, capture;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Registered first, so called last.
void look() {
  const std::string text = text_of(report);
  for (const char* part : {"<!doctype html>", "\"label\": \"shadow / cascade 0\"", "\"triangle pipeline\"", "\"target\"", "\"draws\": 1,",
                           "\"color0\": {\"load\": 0, \"clear\": 0, \"store\": 6400", "\"techniques\": [", "\"passes_left_out\": 0",
                           "2 subpasses are 2 tile passes; subpass 1 begins another tile pass: a subpass without attachments",
                           "\"made\": 2", "size_B is 0, allowed is 1 to 2^40; give the buffer the size of its data\", \"",
                           "\"warnings\": [\"", "is one without transfer_dst"})
    CHECK_MESSAGE(text.find(part) != std::string::npos,
                  std::string(part) + " is not in the report of " + std::to_string(text.size()) + " B");
  const bool captured = !text_of(capture).empty();
  CHECK(captured);
  (void)std::system(("rm -rf " + folder).c_str());
  if (test::finish("test_vulkan_report") != 0) _exit(1);
}

constexpr const char* kVertex = R"(#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); })";
// Long enough that optimising it outlasts the program.
constexpr const char* kFragment = R"(#version 450
layout(location = 0) out vec4 color;
void main() {
  vec4 v = gl_FragCoord / 40.0;
  for (int i = 0; i < 20; i++) {
    v = fract(sin(v.yzwx * 12.9 + cos(v.zwxy) * 78.2) * 43758.5) + exp2(-abs(v)) * pow(abs(v) + 0.1, vec4(1.3));
    v += atan(v.x, v.y) * asin(clamp(v.z, -1.0, 1.0)) + log2(abs(v.w) + 1.0);
  }
  color = v;
})";

VkPipeline pipeline(Program& p, VkRenderPass pass) {
  VkPipelineShaderStageCreateInfo stages[2] = {{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO},
                                               {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO}};
  stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT, stages[0].module = p.shader(kVertex, VK_SHADER_STAGE_VERTEX_BIT);
  stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT, stages[1].module = p.shader(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT);
  stages[0].pName = stages[1].pName = "main";
  VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  const VkViewport area{0, 0, 40, 40, 0, 1};
  const VkRect2D scissor{{0, 0}, {40, 40}};
  VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  viewport.viewportCount = viewport.scissorCount = 1, viewport.pViewports = &area, viewport.pScissors = &scissor;
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  raster.lineWidth = 1;
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  VkPipelineColorBlendAttachmentState blend{};
  blend.colorWriteMask = 15;
  VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  blending.attachmentCount = 1, blending.pAttachments = &blend;
  VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  VkPipelineLayout layout = nullptr;
  CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layout) == VK_SUCCESS);
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  info.stageCount = 2, info.pStages = stages;
  info.pVertexInputState = &input, info.pInputAssemblyState = &assembly, info.pViewportState = &viewport;
  info.pRasterizationState = &raster, info.pMultisampleState = &samples, info.pColorBlendState = &blending;
  info.layout = layout, info.renderPass = pass;
  VkPipeline out = nullptr;
  CHECK(p.CreateGraphicsPipelines(p.device, nullptr, 1, &info, nullptr, &out) == VK_SUCCESS);
  return out;
}

template <class Handle>
void name(Program& p, VkObjectType type, Handle handle, const char* text) {
  const VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT, nullptr, type,
                                           reinterpret_cast<uint64_t>(handle), text};
  CHECK(p.SetDebugUtilsObjectNameEXT(p.device, &info) == VK_SUCCESS);
}

// Two subpasses of nothing, which are told of.
void make_subpasses(Program& p) {
  const VkSubpassDescription subpasses[2] = {};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.subpassCount = 2, info.pSubpasses = subpasses;
  VkRenderPass pass = nullptr;
  CHECK(p.CreateRenderPass(p.device, &info, nullptr, &pass) == VK_SUCCESS);
  p.DestroyRenderPass(p.device, pass, nullptr);
}

// What is refused, and what is done although Vulkan forbids it: a report has both.
void make_mistakes(Program& p) {
  const VkBufferCreateInfo nothing{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  VkBuffer none = nullptr;
  for (int k = 0; k < 2; k++) CHECK(p.CreateBuffer(p.device, &nothing, nullptr, &none) < 0);
  const auto words = p.buffer(64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  const VkCommandBuffer c = p.begin();
  p.CmdFillBuffer(c, words.buffer, 0, VK_WHOLE_SIZE, 7);
  p.run(c);
  p.destroy(words);
}

void draw(Program& p) {
  make_mistakes(p);
  make_subpasses(p), make_subpasses(p);
  const VkRenderPass pass = p.one_subpass();
  const auto target = p.image(VK_FORMAT_R8G8B8A8_UNORM, 40, 40, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {target.view}, 40);
  const VkPipeline made = pipeline(p, pass);
  name(p, VK_OBJECT_TYPE_PIPELINE, made, "triangle pipeline");
  name(p, VK_OBJECT_TYPE_IMAGE, target.image, "target");
  const VkCommandBuffer c = p.begin();
  VkDebugUtilsLabelEXT label{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
  for (const char* text : {"shadow", "cascade 0"}) {
    label.pLabelName = text;
    p.CmdBeginDebugUtilsLabelEXT(c, &label);
  }
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  const VkClearValue clear{};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {40, 40}};
  begin.clearValueCount = 1, begin.pClearValues = &clear;
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made);
  p.CmdDraw(c, 3, 1, 0, 0);
  p.CmdEndRenderPass(c);
  p.CmdEndDebugUtilsLabelEXT(c), p.CmdEndDebugUtilsLabelEXT(c);
  CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1, submit.pCommandBuffers = &c;
  CHECK(p.QueueSubmit(p.queue, 1, &submit, nullptr) == VK_SUCCESS);
}

}  // namespace

int main() {
  char name[] = "/tmp/tilegpu_report_XXXXXX";
  CHECK(mkdtemp(name));
  folder = name, report = folder + "/frames.html", capture = folder + "/first.tgcap";
  setenv("TILEGPU_REPORT", report.c_str(), 1);
  setenv("TILEGPU_CAPTURE", capture.c_str(), 1);
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);  // nothing is known of the shader
  std::atexit(look);
  draw(*new Program);
  return 0;
}
