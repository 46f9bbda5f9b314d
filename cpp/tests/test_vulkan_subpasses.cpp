// tests/test_vulkan_subpasses.cpp -- subpasses that are one tile pass give the bits of subpasses that are passes of their own: random
// render passes with dependencies by region, and the same without; and what keeps subpasses apart.
#include <map>
#include <memory>
#include <random>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 70;
constexpr uint32_t kUnused = VK_ATTACHMENT_UNUSED;

constexpr const char* kVertex = R"(#version 450
layout(push_constant) uniform Push { vec4 a, b; };
layout(location = 0) out vec4 v_color;
void main() {
  vec2 p = gl_VertexIndex == 0 ? a.xy : gl_VertexIndex == 1 ? a.zw : b.xy;
  v_color = vec4(p, b.w, float(gl_VertexIndex)) * 0.5 + 0.4;
  gl_Position = vec4(p, b.z, 1);
})";

struct Attachment {
  VkFormat format;
  bool depth, multisampled;
  VkAttachmentLoadOp load;
  VkAttachmentStoreOp store;
};
struct Subpass {
  std::vector<uint32_t> color, resolve, inputs;
  uint32_t depth = kUnused;
};
struct Description {
  std::vector<Attachment> attachments;
  std::vector<Subpass> subpasses;
  std::vector<VkSubpassDependency> dependencies;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  VkCompareOp compare = VK_COMPARE_OP_LESS_OR_EQUAL;  // of depth
  bool array = false;                                 // each subpass's inputs are one array, indexed by what the compiler does not know

  VkSampleCountFlagBits samples_of(uint32_t attachment) const {
    return attachments[attachment].multisampled ? samples : VK_SAMPLE_COUNT_1_BIT;
  }
  /// Of what it draws to.
  VkSampleCountFlagBits samples_of(const Subpass& s) const {
    for (const uint32_t a : s.color)
      if (a != kUnused) return samples_of(a);
    return s.depth != kUnused ? samples_of(s.depth) : samples;
  }
};

VkSubpassDependency by_region(uint32_t from, uint32_t to) {
  const VkPipelineStageFlags tests = VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
  return {from,
          to,
          VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT | tests,
          VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT | tests,
          VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
          VK_ACCESS_INPUT_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_COLOR_ATTACHMENT_READ_BIT |
              VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT,
          VK_DEPENDENCY_BY_REGION_BIT};
}

VkRenderPass make_pass(Program& p, const Description& d) {
  std::vector<VkAttachmentDescription> attachments;
  for (const Attachment& a : d.attachments) {
    VkAttachmentDescription& out = attachments.emplace_back();
    out.format = a.format, out.samples = a.multisampled ? d.samples : VK_SAMPLE_COUNT_1_BIT;
    out.loadOp = a.load, out.storeOp = a.store;
    out.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
  }
  std::vector<std::vector<VkAttachmentReference>> lists;
  lists.reserve(4 * d.subpasses.size());
  const auto list = [&](const std::vector<uint32_t>& numbers) {
    auto& out = lists.emplace_back();
    for (const uint32_t n : numbers) out.push_back({n, VK_IMAGE_LAYOUT_GENERAL});
    return out.data();
  };
  std::vector<VkSubpassDescription> subpasses;
  for (const Subpass& s : d.subpasses) {
    VkSubpassDescription& out = subpasses.emplace_back();
    out.colorAttachmentCount = static_cast<uint32_t>(s.color.size()), out.pColorAttachments = list(s.color);
    if (!s.resolve.empty()) out.pResolveAttachments = list(s.resolve);
    out.inputAttachmentCount = static_cast<uint32_t>(s.inputs.size()), out.pInputAttachments = list(s.inputs);
    if (s.depth != kUnused) out.pDepthStencilAttachment = list({s.depth});
  }
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = static_cast<uint32_t>(attachments.size()), info.pAttachments = attachments.data();
  info.subpassCount = static_cast<uint32_t>(subpasses.size()), info.pSubpasses = subpasses.data();
  info.dependencyCount = static_cast<uint32_t>(d.dependencies.size()), info.pDependencies = d.dependencies.data();
  VkRenderPass pass = nullptr;
  CHECK_MESSAGE(p.CreateRenderPass(p.device, &info, nullptr, &pass) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());
  return pass;
}

std::string together(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

/// Writes all of the subpass's colours from its colour, its place and its inputs.
std::string fragment_of(const Description& d, const Subpass& s) {
  std::string text = "#version 450\nlayout(location = 0) in vec4 v_color;\n", sum = "v_color + 0.1 * fract(gl_FragCoord.xyxy * 0.137)";
  const auto load = [&](const std::string& n, uint32_t attachment) -> std::string {
    if (d.samples_of(attachment) == 1) return together({"subpassLoad(in", n, ")"});
    if (d.samples_of(s) > 1) return together({"subpassLoad(in", n, ", gl_SampleID)"});
    std::string all;
    for (const char* sample : {"0", "1", "2", "3"}) all += together({all.empty() ? "" : " + ", "subpassLoad(in", n, ", ", sample, ")"});
    return "0.25 * (" + all + ")";
  };
  std::map<uint32_t, std::string> loads;  // by attachment: the sum's bits don't depend on the indices
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const std::string n = std::to_string(i), type = d.samples_of(s.inputs[i]) > 1 ? "subpassInputMS" : "subpassInput";
    if (!d.array)
      text += together({"layout(input_attachment_index = ", n, ", set = 0, binding = ", n, ") uniform ", type, " in", n, ";\n"});
    else if (i == 0)
      text += together(
          {"layout(input_attachment_index = 0, set = 0, binding = 0) uniform ", type, " in_[", std::to_string(s.inputs.size()), "];\n"});
    const std::string element = together({"_[", n, " + min(int(gl_FragCoord.x), 0)]"});
    loads[s.inputs[i]] = together({" + ", load(d.array ? element : n, s.inputs[i]), " * vec4(0.5, -0.25, 0.375, 0.125)"});
  }
  for (const auto& [attachment, expression] : loads) sum += expression;
  std::string body;
  for (size_t i = 0; i < s.color.size(); ++i) {
    if (s.color[i] == kUnused) continue;
    const std::string n = std::to_string(i);
    text += together({"layout(location = ", n, ") out vec4 out", n, ";\n"});
    body += together({"  out", n, " = (", sum, ") * ", std::to_string(1.0 / static_cast<double>(i + 1)), ";\n"});
  }
  return text + "void main() {\n" + body + "}\n";
}

struct Drawn {
  std::vector<std::vector<uint8_t>> images;
  std::string told;  // of the render pass
};

/// All that a render pass needs, made and drawn.
struct Scene {
  Program& p;
  const Description& d;
  VkRenderPass pass = nullptr;
  VkDescriptorPool pool = nullptr;
  std::vector<Program::BoundImage> images;
  std::vector<VkImageView> views;
  std::vector<VkPipelineLayout> layouts;
  std::vector<VkDescriptorSetLayout> set_layouts;
  std::vector<VkDescriptorSet> sets;
  std::vector<VkPipeline> pipelines;

  Scene(Program& program, const Description& description) : p(program), d(description) {
    pass = make_pass(p, d);
    for (const Attachment& a : d.attachments) {
      VkImageUsageFlags usage = a.depth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
      usage |= VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
      const bool stored = a.store == VK_ATTACHMENT_STORE_OP_STORE;
      usage |= stored ? VK_IMAGE_USAGE_TRANSFER_SRC_BIT : VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT;
      images.push_back(p.image(a.format, kSide_px, kSide_px, usage, !stored, a.multisampled ? d.samples : VK_SAMPLE_COUNT_1_BIT));
      views.push_back(images.back().view);
    }
    VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    CHECK(p.CreateDescriptorPool(p.device, &pool_info, nullptr, &pool) == VK_SUCCESS);
    for (uint32_t s = 0; s < d.subpasses.size(); ++s) make_subpass(s);
  }
  ~Scene() {
    for (const VkPipeline pipeline : pipelines) p.DestroyPipeline(p.device, pipeline, nullptr);
    for (const VkPipelineLayout layout : layouts) p.DestroyPipelineLayout(p.device, layout, nullptr);
    for (const VkDescriptorSetLayout layout : set_layouts) p.DestroyDescriptorSetLayout(p.device, layout, nullptr);
    p.DestroyDescriptorPool(p.device, pool, nullptr);
    for (const auto& image : images) p.destroy(image);
    p.DestroyRenderPass(p.device, pass, nullptr);
  }
  Scene(const Scene&) = delete;

  void make_subpass(uint32_t number) {
    const Subpass& s = d.subpasses[number];
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    const auto inputs = static_cast<uint32_t>(s.inputs.size());
    for (uint32_t i = 0; i < (d.array ? std::min(inputs, 1u) : inputs); ++i)
      bindings.push_back({i, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, d.array ? inputs : 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr});
    VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set_info.bindingCount = static_cast<uint32_t>(bindings.size()), set_info.pBindings = bindings.data();
    CHECK(p.CreateDescriptorSetLayout(p.device, &set_info, nullptr, &set_layouts.emplace_back()) == VK_SUCCESS);
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pool, 1, &set_layouts.back()};
    CHECK(p.AllocateDescriptorSets(p.device, &allocate, &sets.emplace_back()) == VK_SUCCESS);
    for (uint32_t i = 0; i < s.inputs.size(); ++i) {
      const VkDescriptorImageInfo read{nullptr, views[s.inputs[i]], VK_IMAGE_LAYOUT_GENERAL};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      write.dstSet = sets.back(), write.dstBinding = d.array ? 0 : i, write.dstArrayElement = d.array ? i : 0, write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, write.pImageInfo = &read;
      p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
    }
    const VkPushConstantRange range{VK_SHADER_STAGE_VERTEX_BIT, 0, 32};
    VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.setLayoutCount = 1, layout_info.pSetLayouts = &set_layouts.back();
    layout_info.pushConstantRangeCount = 1, layout_info.pPushConstantRanges = &range;
    CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layouts.emplace_back()) == VK_SUCCESS);
    make_pipeline(number);
  }

  void make_pipeline(uint32_t number) {
    const Subpass& s = d.subpasses[number];
    VkPipelineShaderStageCreateInfo stages[2] = {{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO},
                                                 {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO}};
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT, stages[0].module = p.shader(kVertex, VK_SHADER_STAGE_VERTEX_BIT);
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].module = p.shader(fragment_of(d, s).c_str(), VK_SHADER_STAGE_FRAGMENT_BIT);
    stages[0].pName = stages[1].pName = "main";
    VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    const VkViewport area{0, 0, kSide_px, kSide_px, 0, 1};
    const VkRect2D scissor{{2, 3}, {kSide_px - 5, kSide_px - 4}};
    VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    viewport.viewportCount = viewport.scissorCount = 1, viewport.pViewports = &area, viewport.pScissors = &scissor;
    VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    samples.rasterizationSamples = d.samples_of(s);
    VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    depth.depthTestEnable = depth.depthWriteEnable = VK_TRUE, depth.depthCompareOp = d.compare;
    std::vector<VkPipelineColorBlendAttachmentState> blends(s.color.size());
    for (size_t i = 0; i < blends.size(); ++i) {
      blends[i].colorWriteMask = (number + i) % 3 == 1 ? 7 : 15;
      blends[i].blendEnable = (number + i) % 3 == 2;
      blends[i].srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA, blends[i].dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
      blends[i].srcAlphaBlendFactor = blends[i].dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    }
    VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blending.attachmentCount = static_cast<uint32_t>(blends.size()), blending.pAttachments = blends.data();
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    info.stageCount = 2, info.pStages = stages;
    info.pVertexInputState = &input, info.pInputAssemblyState = &assembly, info.pViewportState = &viewport;
    info.pRasterizationState = &raster, info.pMultisampleState = &samples;
    // What a subpass does not have Vulkan does not look at: these pointers lead nowhere.
    info.pDepthStencilState = s.depth != kUnused ? &depth : reinterpret_cast<const VkPipelineDepthStencilStateCreateInfo*>(8);
    info.pColorBlendState = !s.color.empty() ? &blending : reinterpret_cast<const VkPipelineColorBlendStateCreateInfo*>(8);
    info.layout = layouts.back(), info.renderPass = pass, info.subpass = number;
    CHECK_MESSAGE(p.CreateGraphicsPipelines(p.device, nullptr, 1, &info, nullptr, &pipelines.emplace_back()) == VK_SUCCESS,
                  p.said.empty() ? "" : p.said.back());
    for (const auto& stage : stages) p.DestroyShaderModule(p.device, stage.module, nullptr);
  }

  void record(VkCommandBuffer c, uint32_t number, std::mt19937& random) {
    const Subpass& s = d.subpasses[number];
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[number]);
    p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layouts[number], 0, 1, &sets[number], 0, nullptr);
    std::uniform_real_distribution<float> anywhere(-1.3F, 1.3F), depth(0.0F, 1.0F);
    for (int i = 0; i < 4; ++i) {
      float push[8];
      for (float& f : push) f = anywhere(random);
      push[6] = depth(random);
      if (i == 0) push[0] = push[1] = -1, push[2] = 3, push[3] = -1, push[4] = -1, push[5] = 3;  // all of it
      p.CmdPushConstants(c, layouts[number], VK_SHADER_STAGE_VERTEX_BIT, 0, 32, push);
      p.CmdDraw(c, 3, 1, 0, 0);
      if (i != 1) continue;
      std::vector<VkClearAttachment> clears;
      for (uint32_t k = 0; k < s.color.size(); ++k)
        clears.push_back({VK_IMAGE_ASPECT_COLOR_BIT, k, {.color = {{depth(random), 0.25F, 0.5F, 1}}}});
      clears.push_back({VK_IMAGE_ASPECT_DEPTH_BIT, 0, {.depthStencil = {depth(random), 0}}});  // nothing where there is none
      const VkClearRect rect{{{static_cast<int32_t>(random() % 40), static_cast<int32_t>(random() % 40)}, {17, 23}}, 0, 1};
      p.CmdClearAttachments(c, static_cast<uint32_t>(clears.size()), clears.data(), 1, &rect);
    }
  }

  Drawn draw(uint32_t seed) {
    const VkFramebuffer framebuffer = p.framebuffer(pass, views, kSide_px);
    std::vector<VkClearValue> clears(views.size());
    for (size_t i = 0; i < clears.size(); ++i) {
      if (d.attachments[i].depth)
        clears[i].depthStencil = {0.9F, 0};
      else
        clears[i].color = {{0.1F * static_cast<float>(i), 0.5F, 0.75F, 1}};
    }
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
    begin.clearValueCount = static_cast<uint32_t>(clears.size()), begin.pClearValues = clears.data();
    const VkCommandBuffer c = p.begin();
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    std::mt19937 random(seed);
    for (uint32_t s = 0; s < d.subpasses.size(); ++s) {
      if (s) p.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
      record(c, s, random);
    }
    p.CmdEndRenderPass(c);
    std::vector<Program::MappedBuffer> buffers;
    for (size_t i = 0; i < images.size(); ++i) {
      const Attachment& a = d.attachments[i];
      if (a.store != VK_ATTACHMENT_STORE_OP_STORE || (a.multisampled && d.samples > 1)) continue;
      buffers.push_back(p.buffer(kSide_px * kSide_px * 8, VK_BUFFER_USAGE_TRANSFER_DST_BIT));
      VkBufferImageCopy region{};
      region.imageSubresource = {static_cast<VkImageAspectFlags>(a.depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT), 0, 0, 1};
      region.imageExtent = {kSide_px, kSide_px, 1};
      p.CmdCopyImageToBuffer(c, images[i].image, VK_IMAGE_LAYOUT_GENERAL, buffers.back().buffer, 1, &region);
    }
    p.run(c);
    Drawn out;
    for (const auto& b : buffers) {
      out.images.emplace_back(b.data, b.data + kSide_px * kSide_px * 8);
      p.destroy(b);
    }
    p.DestroyFramebuffer(p.device, framebuffer, nullptr);
    for (const std::string& text : p.told)
      if (text.find("subpasses are") != std::string::npos || text.find("subpass is") != std::string::npos) out.told = text;
    return out;
  }
};

/// Colours that subpasses share in any order and place, one depth that some of them have, inputs of what was drawn before.
Description random_pass(std::mt19937& random) {
  Description d;
  const auto chance = [&](uint32_t one_in) { return random() % one_in == 0; };
  d.samples = chance(3) ? VK_SAMPLE_COUNT_4_BIT : VK_SAMPLE_COUNT_1_BIT;
  const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_R8_UNORM,
                              VK_FORMAT_A2B10G10R10_UNORM_PACK32};
  const uint32_t colors = 2 + random() % 5;
  for (uint32_t i = 0; i < colors; ++i)
    d.attachments.push_back({formats[random() % 5], false, true, VK_ATTACHMENT_LOAD_OP_CLEAR,
                             chance(3) ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE});
  const uint32_t depth = colors;
  d.attachments.push_back({VK_FORMAT_D32_SFLOAT, true, true, VK_ATTACHMENT_LOAD_OP_CLEAR,
                           chance(2) ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE});
  uint32_t drawn = 0;  // a bit for each
  const uint32_t count = 2 + random() % 4;
  for (uint32_t s = 0; s < count; ++s) {
    Subpass& subpass = d.subpasses.emplace_back();
    uint32_t taken = 0;
    const uint32_t wanted = chance(8) ? 0 : 1 + random() % 3;
    for (uint32_t i = 0; i < wanted; ++i) {
      const uint32_t a = random() % colors;
      if (taken >> a & 1 || chance(6)) {
        subpass.color.push_back(kUnused);
        continue;
      }
      taken |= 1u << a;
      subpass.color.push_back(a);
    }
    if (chance(2) || !taken) subpass.depth = depth;
    for (uint32_t a = 0; a < colors && subpass.inputs.size() < 3; ++a)
      if ((drawn >> a & 1) && !(taken >> a & 1) && chance(2)) subpass.inputs.push_back(a);
    if (subpass.depth == kUnused && (drawn >> depth & 1) && chance(2)) subpass.inputs.push_back(depth);
    drawn |= taken | (subpass.depth != kUnused ? 1u << depth : 0);
    for (uint32_t before = 0; before < s; ++before) d.dependencies.push_back(by_region(before, s));
  }
  if (d.samples > 1)  // the last subpass resolves what it draws
    for (const uint32_t a : d.subpasses.back().color) {
      d.subpasses.back().resolve.push_back(a == kUnused ? kUnused : static_cast<uint32_t>(d.attachments.size()));
      if (a == kUnused) continue;
      d.attachments.push_back({d.attachments[a].format, false, false, VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_ATTACHMENT_STORE_OP_STORE});
    }
  return d;
}

void joined_is_as_apart() {
  std::mt19937 random(20261122);
  uint32_t joined = 0;
  for (uint32_t round = 0; round < 24; ++round) {
    Program p;
    Description d = random_pass(random);
    const Drawn one = Scene(p, d).draw(round);
    for (VkSubpassDependency& dependency : d.dependencies) dependency.dependencyFlags = 0;
    const Drawn many = Scene(p, d).draw(round);
    const std::string count = std::to_string(d.subpasses.size());
    joined += one.told.find(" are 1 tile pass") != std::string::npos;
    CHECK_MESSAGE(many.told.find(together({count, " subpasses are ", count, " tile passes"})) != std::string::npos, many.told);
    CHECK(one.images.size() == many.images.size());
    for (size_t i = 0; i < one.images.size() && i < many.images.size(); ++i)
      CHECK_MESSAGE(one.images[i] == many.images[i],
                    together({"round ", std::to_string(round), ", image ", std::to_string(i), ": ", one.told}));
    CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said[0]);
  }
  std::printf("%u of 24 render passes were one tile pass\n", joined);
  CHECK(joined >= 20);
}

/// Two subpasses that would be one, but for one thing.
void what_keeps_apart() {
  const auto told = [](const Description& d) {
    Program p;
    const VkRenderPass pass = make_pass(p, d);
    p.DestroyRenderPass(p.device, pass, nullptr);
    CHECK(p.said.empty());
    return p.told.empty() ? std::string() : p.told.back();
  };
  const auto says = [&](const Description& d, const char* part) {
    const std::string text = told(d);
    CHECK_MESSAGE(text.find(part) != std::string::npos, std::string(part) + " is not in: " + text);
  };
  const Attachment color{VK_FORMAT_R8G8B8A8_UNORM, false, true, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_STORE};
  const Attachment single{VK_FORMAT_R8G8B8A8_UNORM, false, false, VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_ATTACHMENT_STORE_OP_STORE};
  const Attachment depth{VK_FORMAT_D32_SFLOAT, true, true, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_STORE};
  Description base;
  base.attachments = {color, color, depth, depth};
  base.subpasses = {{{0}, {}, {}, 2}, {{1}, {}, {0}, kUnused}};
  base.dependencies = {by_region(0, 1)};
  says(base, "2 subpasses are 1 tile pass");

  Description d = base;
  d.dependencies.clear();  // nothing to wait for
  says(d, "1 tile pass");
  d = base;
  d.dependencies[0].dependencyFlags = 0;
  says(d, "subpass 1 begins another tile pass: its dependency on subpass 0 is not by region");
  d = base;
  d.dependencies[0].dstStageMask |= VK_PIPELINE_STAGE_VERTEX_SHADER_BIT;
  says(d, "names stages that are not of pixels");
  d = base;
  d.dependencies[0].dstAccessMask |= VK_ACCESS_SHADER_READ_BIT;
  says(d, "names accesses beside those of attachments");
  d = base;
  d.subpasses[1].depth = 3;
  says(d, "depth and stencil are attachment 3 and attachment 2; a tile has one of them");
  d = base;
  d.attachments.resize(12, color);
  d.subpasses[0].color = {0, 4, 5, 6, 7};
  d.subpasses[1].color = {1, 8, 9, 10};
  says(d, "a tile has at most 8");
  d = base;
  d.samples = VK_SAMPLE_COUNT_4_BIT;
  d.attachments[1].multisampled = false;
  d.subpasses[1].inputs.clear();
  says(d, "attachments have different numbers of samples");
  d = base;
  d.samples = VK_SAMPLE_COUNT_4_BIT;
  d.attachments.push_back(single);
  d.subpasses[0].resolve = {4};
  says(d, "1 tile pass");
  d.subpasses[1].color = {0}, d.subpasses[1].inputs = {};
  says(d, "attachment 0 is written after an earlier subpass resolved it");
  d.subpasses[1].color = {4};
  says(d, "attachment 4 is what an earlier subpass resolved to");
}

void check_told(const Program& p, const Drawn& drawn, std::initializer_list<const char*> parts) {
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said[0]);
  for (const char* part : parts) CHECK_MESSAGE(drawn.told.find(part) != std::string::npos, std::string(part) + " is not in: " + drawn.told);
}

bool is_uniform(const std::vector<uint8_t>& image) {
  return std::all_of(image.begin(), image.begin() + kSide_px * kSide_px * 4, [&](uint8_t v) { return v == image[0]; });
}

/// Inputs for which the tile has no place are read from memory: the same bits whichever of them it is.
void too_many_inputs() {
  const Attachment color{VK_FORMAT_R8G8B8A8_UNORM, false, true, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE};
  for (const VkSampleCountFlagBits samples : {VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_4_BIT}) {
    Description d;
    d.samples = samples;
    d.attachments.assign(9, color);
    d.attachments[8].store = VK_ATTACHMENT_STORE_OP_STORE;
    d.subpasses = {{{0, 1, 2}, {}, {}, kUnused}, {{4, 5, 6, 7}, {}, {}, kUnused}, {{8}, {}, {0, 1, 2, 3, 4, 5, 6, 7}, kUnused}};
    if (samples > 1) {
      d.attachments.push_back({VK_FORMAT_R8G8B8A8_UNORM, false, false, VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_ATTACHMENT_STORE_OP_STORE});
      d.subpasses[2].resolve = {9};
    }
    d.dependencies = {by_region(0, 1), by_region(0, 2), by_region(1, 2)};
    Program p;
    const Drawn last = Scene(p, d).draw(3);
    check_told(p, last,
               {"are 2 tile passes", "subpass 2 begins another tile pass: input attachment 7 is read from memory",
                "subpass 2 reads input attachment 7 from memory: a tile has at most 8 colours"});
    for (uint32_t first :
         {1u, 3u}) {  // 3: nobody draws it; it is cleared where it is read first, so that nothing keeps the subpasses apart
      std::rotate(d.subpasses[2].inputs.begin(), std::find(d.subpasses[2].inputs.begin(), d.subpasses[2].inputs.end(), first + 1),
                  d.subpasses[2].inputs.end());
      CHECK(d.subpasses[2].inputs.back() == first);
      const Drawn other = Scene(p, d).draw(3);
      const std::string reads = together({"reads input attachment ", std::to_string(first), " from memory"});
      check_told(p, other, {first == 1 ? "are 2 tile passes" : "are 1 tile pass;", reads.c_str()});
      CHECK(other.images == last.images);
      CHECK(!is_uniform(other.images[0]));
      d.array = true;  // partly in the tile, partly in memory
      const Drawn elements = Scene(p, d).draw(3);
      check_told(p, elements, {reads.c_str()});
      CHECK(elements.images == last.images);
      d.array = false;
    }
  }
}

/// A depth that is read beside another one that is tested.
void another_depth() {
  const Attachment color{VK_FORMAT_R8G8B8A8_UNORM, false, true, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_STORE};
  const Attachment depth{VK_FORMAT_D32_SFLOAT, true, true, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE};
  Description d;
  d.compare = VK_COMPARE_OP_ALWAYS;
  d.attachments = {color, color, depth, depth};
  d.subpasses = {{{0}, {}, {}, 2}, {{1}, {}, {2}, 3}};
  d.dependencies = {by_region(0, 1)};
  Program p;
  const Drawn fetched = Scene(p, d).draw(5);
  check_told(p, fetched, {"are 2 tile passes", "reads input attachment 2 from memory: the tile has another depth"});
  d.subpasses[1].depth = kUnused;
  const Drawn in_tile = Scene(p, d).draw(5);
  check_told(p, in_tile, {"are 1 tile pass"});
  CHECK(fetched.images == in_tile.images);
  CHECK(!is_uniform(in_tile.images[1]));
}

/// Inputs of other samples than what is drawn to; near to what a resolve gives.
void other_samples() {
  const Attachment many{VK_FORMAT_R16G16B16A16_SFLOAT, false, true, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE};
  const Attachment one{VK_FORMAT_R16G16B16A16_SFLOAT, false, false, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE};
  const Attachment kept{VK_FORMAT_R8G8B8A8_UNORM, false, false, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_STORE};
  Description d;
  d.samples = VK_SAMPLE_COUNT_4_BIT;
  d.attachments = {many, kept, one};
  d.subpasses = {{{0}, {2}, {}, kUnused}, {{1}, {}, {0}, kUnused}};
  d.dependencies = {by_region(0, 1)};
  Program p;
  const Drawn fetched = Scene(p, d).draw(7);
  check_told(p, fetched,
             {"are 2 tile passes",
              "subpass 1 reads input attachment 0 from memory: it has 4 samples, and what the subpass draws "
              "to has 1"});
  d.subpasses[1].inputs = {2};
  const Drawn resolved = Scene(p, d).draw(7);
  check_told(p, resolved, {"are 2 tile passes"});
  CHECK(fetched.images.size() == 1 && resolved.images.size() == 1 && !is_uniform(fetched.images[0]));
  int most = 0;
  for (size_t i = 0; i < kSide_px * kSide_px * 4; ++i) most = std::max(most, std::abs(fetched.images[0][i] - resolved.images[0][i]));
  CHECK_MESSAGE(most <= 1, std::to_string(most));
}

}  // namespace

int main() {
  too_many_inputs();
  another_depth();
  other_samples();
  what_keeps_apart();
  joined_is_as_apart();
  return test::finish("test_vulkan_subpasses");
}
