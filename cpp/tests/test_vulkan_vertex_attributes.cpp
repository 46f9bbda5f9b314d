// tests/test_vulkan_vertex_attributes.cpp -- vertex attributes that are not there (VK_EXT_vertex_attribute_robustness), and such as
// Vulkan 1.0 forbids: of another numeric type than the input, at any place and stride (VK_EXT_legacy_vertex_attributes). Oracle: zeros,
// and the bits that the test put there.
#include <array>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 4;
constexpr VkFormat kColor = VK_FORMAT_R32G32B32A32_UINT;

const char* const kFragment = R"(#version 450
layout(location = 0) flat in uvec4 seen; layout(location = 0) out uvec4 o;
void main() { o = seen; })";
std::string vertex_of(const std::string& inputs, const std::string& seen) {
  return "#version 450\n" + inputs + R"(layout(location = 0) flat out uvec4 seen;
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0.5, 1); seen = )" +
         seen + "; }";
}

struct Features {
  VkPhysicalDeviceVertexAttributeRobustnessFeaturesEXT robustness{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_ROBUSTNESS_FEATURES_EXT};
  VkPhysicalDeviceLegacyVertexAttributesFeaturesEXT old{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LEGACY_VERTEX_ATTRIBUTES_FEATURES_EXT,
                                                        &robustness};
  VkPhysicalDeviceVertexInputDynamicStateFeaturesEXT input{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_INPUT_DYNAMIC_STATE_FEATURES_EXT, &old,
                                                           VK_TRUE};
  Features(bool robust, bool legacy) { robustness.vertexAttributeRobustness = robust, old.legacyVertexAttributes = legacy; }
};

struct Scene : Features, RenderingScene {
  PFN_vkCmdSetVertexInputEXT set_vertex_input = nullptr;
  VkPipelineLayout layout = p.pipeline_layout({});
  Program::MappedBuffer vertices = p.buffer(64, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
  Program::BoundImage image{};

  Scene(bool robust, bool legacy)
      : Features(robust, legacy),
        RenderingScene(kSide_px, 16,
                       {"VK_EXT_vertex_input_dynamic_state", "VK_EXT_vertex_attribute_robustness", "VK_EXT_legacy_vertex_attributes"},
                       &input) {
    p.load(set_vertex_input, "vkCmdSetVertexInputEXT");
    for (uint32_t i = 0; i < 64; ++i) vertices.data[i] = static_cast<uint8_t>(i * 37 + 1);
    image = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  }

  VkPipeline pipeline(const std::string& vertex) {
    return make_pipeline(p, vertex.c_str(), kFragment, layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
      static const VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 1, &kColor};
      static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_VERTEX_INPUT_EXT};
      info.pNext = &rendering;
      auto* dynamic = const_cast<VkPipelineDynamicStateCreateInfo*>(info.pDynamicState);
      dynamic->dynamicStateCount = 3, dynamic->pDynamicStates = states;
    });
  }

  /// What the first pixel holds of a draw with these attributes of the one binding; what is said stays in p.said.
  std::array<uint32_t, 4> drawn(VkPipeline with, uint32_t stride_B, const std::vector<VkVertexInputAttributeDescription2EXT>& attributes) {
    const VkVertexInputBindingDescription2EXT binding{
        VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, 0, stride_B, VK_VERTEX_INPUT_RATE_VERTEX, 1};
    const VkCommandBuffer c = p.begin();
    begin(c, {attachment(image.view, VK_ATTACHMENT_STORE_OP_STORE)});
    bind(c, with);
    set_vertex_input(c, 1, &binding, static_cast<uint32_t>(attributes.size()), attributes.data());
    const VkDeviceSize from_B = 3;
    p.CmdBindVertexBuffers(c, 0, 1, &vertices.buffer, &from_B);
    p.CmdDraw(c, 3, 1, 0, 0);
    end_rendering(c);
    p.run_and_copy(c, image, kSide_px, out.buffer);
    std::array<uint32_t, 4> texel{};
    std::memcpy(texel.data(), out.data, sizeof texel);
    return texel;
  }
};

VkVertexInputAttributeDescription2EXT attribute(uint32_t location, VkFormat format, uint32_t offset_B) {
  return {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, location, 0, format, offset_B};
}

// Inputs that nothing feeds are zeros, those beside them are not; without the feature a warning says so.
void test_missing(bool robust) {
  Scene s(robust, false);
  const VkPipeline with = s.pipeline(vertex_of(
      "layout(location = 0) in uint there; layout(location = 1) in vec4 a; layout(location = 2) in ivec2 b; layout(location = 4) in mat2 "
      "c;\n",
      "uvec4(there, floatBitsToUint(a.x) + floatBitsToUint(a.w), uint(b.x + b.y), floatBitsToUint(c[0].x) + floatBitsToUint(c[1].y))"));
  if (!CHECK(with)) return;
  const std::array<uint32_t, 4> got = s.drawn(with, 4, {attribute(0, VK_FORMAT_R8_UINT, 0)});
  CHECK(got[0] == s.vertices.data[3] && got[1] == 0 && got[2] == 0 && got[3] == 0);
  const bool told = s.p.heard("no vertex attribute feeds that location");
  CHECK(told == !robust);
}

// Bits of another type, at bytes 3 + 2 + 5 * vertex: the provoking vertex is the first.
void test_legacy(bool legacy) {
  Scene s(false, legacy);
  const VkPipeline with =
      s.pipeline(vertex_of("layout(location = 0) in float a; layout(location = 1) in int b; layout(location = 2) in uvec2 c;\n",
                           "uvec4(floatBitsToUint(a), uint(b), c)"));
  if (!CHECK(with)) return;
  const std::array<uint32_t, 4> got =
      s.drawn(with, 5, {attribute(0, VK_FORMAT_R32_UINT, 2), attribute(1, VK_FORMAT_R8_UINT, 1), attribute(2, VK_FORMAT_R32G32_SFLOAT, 6)});
  uint32_t words[3] = {};
  std::memcpy(&words[0], s.vertices.data + 5, 4), std::memcpy(&words[1], s.vertices.data + 9, 8);
  CHECK(got[0] == words[0] && got[1] == s.vertices.data[4] && got[2] == words[1] && got[3] == words[2]);
  const bool told = s.p.heard("use a format of that kind");
  CHECK(told == !legacy);
}

// Words of 64 bits: in an input of 32 bits they are the lower one's, in one of 64 bits the words that are there; both are told, whatever
// the feature says. A vector that takes two locations has the attribute of the first.
void test_widths(bool legacy) {
  Scene s(false, legacy);
  const VkPipeline with =
      s.pipeline(vertex_of("#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
                           "layout(location = 0) in uint a; layout(location = 1) in u64vec3 b; layout(location = 3) in uint64_t c;\n",
                           "uvec4(a, unpack32(b.z).x, unpack32(c))"));
  if (!CHECK(with)) return;
  const auto word = [&](uint32_t at_B) {
    uint32_t w;
    std::memcpy(&w, s.vertices.data + 3 + at_B, 4);
    return w;
  };
  const VkVertexInputAttributeDescription2EXT longs = attribute(1, VK_FORMAT_R64G64B64_UINT, 5);
  std::array<uint32_t, 4> got = s.drawn(with, 2, {attribute(0, VK_FORMAT_R32_UINT, 1), longs, attribute(3, VK_FORMAT_R64_UINT, 7)});
  CHECK(got[0] == word(1) && got[1] == word(21) && got[2] == word(7) && got[3] == word(11));
  CHECK(!s.p.heard("bits"));
  got = s.drawn(with, 2, {attribute(0, VK_FORMAT_R64_UINT, 1), longs, attribute(3, VK_FORMAT_R32G32_UINT, 7)});
  CHECK(got[0] == word(1) && got[1] == word(21) && got[2] == word(7) && got[3] == word(11));
  CHECK(s.p.heard("use a format of as many bits"));
  s.p.said.clear();
  got =
      s.drawn(with, 2, {attribute(0, VK_FORMAT_R32_UINT, 1), attribute(1, VK_FORMAT_R64G64_UINT, 5), attribute(3, VK_FORMAT_R64_UINT, 7)});
  CHECK(got[0] == word(1) && got[1] == 0 && got[3] == word(11));
  CHECK(s.p.heard("and reads 3 components; use a format with as many"));
}

}  // namespace

int main() {
  test_missing(false);
  test_missing(true);
  test_legacy(false);
  test_legacy(true);
  test_widths(false);
  test_widths(true);
  return finish("test_vulkan_vertex_attributes");
}
