// tests/test_vulkan_tile_image.cpp -- VK_EXT_shader_tile_image in dynamic rendering: what the device says of it, colours by the locations
// of attachments, and no descriptor. Oracle: the closed form of what the shaders write. tests/test_tile_images.py has the core's side.
#include <cmath>
#include <set>

#include "shader/spirv/words.hpp"
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM;

const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0.5, 1); })";
const char* const kTwo = R"(#version 450
layout(location = 0) out vec4 a; layout(location = 2) out vec4 b;
void main() { a = vec4(gl_FragCoord.x / 16, 0.25, 0, 1); b = vec4(0, gl_FragCoord.y / 16, 0.5, 1); })";
const char* const kSum = R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput a;
layout(input_attachment_index = 2, set = 0, binding = 1) uniform subpassInput b;
layout(location = 1) out vec4 o; void main() { o = subpassLoad(a) * 0.5 + subpassLoad(b) * 0.5; })";

/// The shader with a tile image for each subpass input, whose index is its location. Numbers: SPV_EXT_shader_tile_image.
std::vector<uint32_t> with_tile_images(const char* text) {
  using shader::head;
  constexpr uint32_t kStorage = 4172, kDim = 4173, kRead = 4160, kCapability = 4166;
  GlslSource source;
  source.text = text, source.stage = VK_SHADER_STAGE_FRAGMENT_BIT;
  auto words = compile_glsl(source);
  if (!CHECK(words)) return {};
  std::set<uint32_t> images, variables;
  shader::each_instruction(*words, [&](std::span<const uint32_t> i) {
    if (shader::op_of(i) == spv::OpTypeImage && i[3] == spv::DimSubpassData) images.insert(i[1]);
    if (shader::op_of(i) == spv::OpVariable && i[3] == spv::StorageClassUniformConstant) variables.insert(i[2]);
    return true;
  });
  std::vector<uint32_t> out(words->begin(), words->begin() + shader::kHeader_words);
  bool said = false;
  shader::each_instruction(*words, [&](std::span<const uint32_t> i) {
    std::vector<uint32_t> made(i.begin(), i.end());
    const spv::Op op = shader::op_of(i);
    if (op == spv::OpCapability && i[1] == spv::CapabilityInputAttachment) made[1] = kCapability;
    if (op != spv::OpCapability && !said) {
      said = true;
      std::vector<uint32_t> name(7, 0);
      std::memcpy(name.data(), "SPV_EXT_shader_tile_image", 25);
      out.push_back(head(spv::OpExtension, 8));
      out.insert(out.end(), name.begin(), name.end());
    }
    if (op == spv::OpDecorate && variables.count(i[1])) {
      if (i[2] != spv::DecorationInputAttachmentIndex) return true;
      made[2] = spv::DecorationLocation;
    }
    if (op == spv::OpTypeImage && images.count(i[1])) made[3] = kDim, made[6] = 0;
    if (op == spv::OpTypePointer && i[2] == spv::StorageClassUniformConstant) made[2] = kStorage;
    if (op == spv::OpVariable && i[3] == spv::StorageClassUniformConstant) made[3] = kStorage;
    if (op == spv::OpImageRead) made = {head(static_cast<spv::Op>(kRead), 4), i[1], i[2], i[3]};
    out.insert(out.end(), made.begin(), made.end());
    return true;
  });
  return out;
}

struct Features {
  VkPhysicalDeviceShaderTileImageFeaturesEXT tiles{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_TILE_IMAGE_FEATURES_EXT, nullptr, VK_TRUE,
                                                   VK_TRUE, VK_TRUE};
  VkPhysicalDeviceDynamicRenderingLocalReadFeatures local{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES, &tiles,
                                                          VK_TRUE};
};

struct Scene : Features, RenderingScene {
  VkPipelineLayout layout = p.pipeline_layout({});

  Scene() : RenderingScene(kSide_px, 4, {"VK_KHR_dynamic_rendering_local_read", "VK_EXT_shader_tile_image"}, &local) {}

  /// Of three attachments. `tile`: the fragment shader's inputs are tile images. `locations`: of the attachments, or empty.
  VkPipeline pipeline(const char* fragment, bool tile, const std::vector<uint32_t>& locations = {}) {
    return make_pipeline(p, kWhole, tile ? kTwo : fragment, layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
      static const VkFormat formats[3] = {kColor, kColor, kColor};
      static const VkPipelineColorBlendAttachmentState writes[3] = {{.colorWriteMask = 15}, {.colorWriteMask = 15}, {.colorWriteMask = 15}};
      static VkRenderingAttachmentLocationInfo mapping;
      static VkPipelineRenderingCreateInfo rendering;
      mapping = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO, nullptr, 3, locations.data()};
      rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, locations.empty() ? nullptr : &mapping, 0, 3, formats};
      info.pNext = &rendering;
      auto* blend = const_cast<VkPipelineColorBlendStateCreateInfo*>(info.pColorBlendState);
      blend->attachmentCount = 3, blend->pAttachments = writes;
      if (!tile) return;
      const std::vector<uint32_t> words = with_tile_images(fragment);
      const VkShaderModuleCreateInfo code{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words.size() * 4, words.data()};
      auto& stage = const_cast<VkPipelineShaderStageCreateInfo&>(info.pStages[1]);
      p.DestroyShaderModule(p.device, stage.module, nullptr);
      CHECK(p.CreateShaderModule(p.device, &code, nullptr, &stage.module) == VK_SUCCESS);
    });
  }

  void draw(VkCommandBuffer c, VkPipeline with) {
    bind(c, with);
    p.CmdDraw(c, 3, 1, 0, 0);
  }
};

int near(float value) { return static_cast<int>(std::lrint(value * 255)); }

// Two transient attachments are written, and a third made of them. `turned`: location k of the shaders is attachment 2 - k.
void test_colors(bool turned) {
  Scene s;
  Program& p = s.p;
  const VkImageUsageFlags transient = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT;
  const auto a = p.image(kColor, kSide_px, kSide_px, transient, true), b = p.image(kColor, kSide_px, kSide_px, transient, true);
  const auto lit = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const std::vector<uint32_t> locations = turned ? std::vector<uint32_t>{2, 1, 0} : std::vector<uint32_t>{};
  const VkPipeline first = s.pipeline(kTwo, false, locations), second = s.pipeline(kSum, true, locations);
  if (!CHECK(first && second)) return;
  const VkCommandBuffer c = p.begin();
  s.begin(c, {Scene::attachment(a.view, VK_ATTACHMENT_STORE_OP_DONT_CARE), Scene::attachment(lit.view, VK_ATTACHMENT_STORE_OP_STORE),
              Scene::attachment(b.view, VK_ATTACHMENT_STORE_OP_DONT_CARE)});
  if (turned) {
    PFN_vkCmdSetRenderingAttachmentLocations set_locations = nullptr;
    p.load(set_locations, "vkCmdSetRenderingAttachmentLocations");
    const VkRenderingAttachmentLocationInfo mapping{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO, nullptr, 3, locations.data()};
    set_locations(c, &mapping);
  }
  s.draw(c, first);
  s.barrier(c, VK_ACCESS_COLOR_ATTACHMENT_READ_BIT);
  s.draw(c, second);
  s.end_rendering(c);
  p.run_and_read(c, lit, kSide_px, s.out.buffer);
  for (uint32_t y = 0; y < kSide_px; ++y)
    for (uint32_t x = 0; x < kSide_px; ++x) {
      const uint8_t* texel = s.out.data + (y * kSide_px + x) * 4;
      const auto half_of = [](uint32_t at) { return static_cast<float>(near((static_cast<float>(at) + 0.5F) / 16)) / 255 * 0.5F; };
      CHECK(std::abs(texel[0] - near(half_of(x))) <= 1);
      CHECK(std::abs(texel[1] - near(0.5F * 64 / 255 + half_of(y))) <= 1);
      CHECK(std::abs(texel[2] - near(0.25F)) <= 1 && texel[3] == 255);
    }
}

void test_what_the_device_says() {
  Scene s;
  PFN_vkGetPhysicalDeviceProperties2 get = nullptr;
  s.p.load(get, "vkGetPhysicalDeviceProperties2");
  VkPhysicalDeviceShaderTileImagePropertiesEXT tiles{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_TILE_IMAGE_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &tiles};
  if (!CHECK(get)) return;
  get(s.p.physical_device, &all);
  CHECK(tiles.shaderTileImageCoherentReadAccelerated && tiles.shaderTileImageReadSampleFromPixelRateInvocation &&
        tiles.shaderTileImageReadFromHelperInvocation);
}

}  // namespace

int main() {
  test_what_the_device_says();
  test_colors(false);
  test_colors(true);
  return finish("test_vulkan_tile_image");
}
