// tests/test_vulkan_draws.cpp -- VK_EXT_multi_draw (gl_DrawID, offsets, strides), VK_EXT_primitive_topology_list_restart,
// VK_EXT_image_2d_view_of_3d: each against the plain draws, or numbers.
#include <array>
#include <functional>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;

const char* const kCells = R"(#version 460
layout(location = 0) flat out uvec4 v;
const vec2 corners[3] = vec2[](vec2(0), vec2(2, 0), vec2(0, 2));
void main() {
  uint cell = uint(gl_VertexIndex) / 3u;
  vec2 at = vec2(cell % 4u, cell / 4u) + corners[gl_VertexIndex % 3] * 0.5;
  v = uvec4(gl_DrawID, cell, gl_InstanceIndex, 7);
  gl_Position = vec4(at / 2 - 1, 0, 1);
})";
const char* const kNumbers = R"(#version 450
layout(location = 0) flat in uvec4 v; layout(location = 0) out uvec4 o; void main() { o = v; })";

struct Scene : Program {
  PFN_vkCmdDrawMultiEXT multi = nullptr;
  PFN_vkCmdDrawMultiIndexedEXT multi_indexed = nullptr;
  PFN_vkCmdBindIndexBuffer bind_indices = nullptr;
  PFN_vkCmdDrawIndexed draw_indexed = nullptr;
  VkRenderPass pass = nullptr;
  VkPipelineLayout layout = nullptr;
  BoundImage target{};
  MappedBuffer out{}, indices{};

  Scene() {
    VkPhysicalDeviceMultiDrawFeaturesEXT draws{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT, nullptr, VK_TRUE};
    VkPhysicalDevicePrimitiveTopologyListRestartFeaturesEXT restart{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIMITIVE_TOPOLOGY_LIST_RESTART_FEATURES_EXT, &draws, VK_TRUE, VK_TRUE};
    VkPhysicalDeviceImage2DViewOf3DFeaturesEXT slices{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_2D_VIEW_OF_3D_FEATURES_EXT, &restart, VK_TRUE,
                                                      VK_TRUE};
    VkPhysicalDeviceImageSlicedViewOf3DFeaturesEXT sliced{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_SLICED_VIEW_OF_3D_FEATURES_EXT, &slices,
                                                          VK_TRUE};
    remake_device(
        {"VK_EXT_multi_draw", "VK_EXT_primitive_topology_list_restart", "VK_EXT_image_2d_view_of_3d", "VK_EXT_image_sliced_view_of_3d"},
        &sliced);
    load(multi, "vkCmdDrawMultiEXT"), load(multi_indexed, "vkCmdDrawMultiIndexedEXT");
    load(bind_indices, "vkCmdBindIndexBuffer"), load(draw_indexed, "vkCmdDrawIndexed");
    pass = one_subpass(VK_FORMAT_R8G8B8A8_UINT);
    target = image(VK_FORMAT_R8G8B8A8_UINT, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    out = buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT), indices = buffer(256, VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
    layout = pipeline_layout({});
  }

  /// Texels of the 16 cells' inner pixels: draw, cell, instance, 7; zeros where nothing was drawn.
  std::vector<std::array<uint8_t, 4>> cells(VkPipeline with, const std::function<void(VkCommandBuffer)>& draws) {
    const VkFramebuffer frame = framebuffer(pass, {target.view}, kSide_px);
    const VkClearValue zero{};
    VkRenderPassBeginInfo begin_info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, nullptr, pass, frame,
                                     {{0, 0}, {kSide_px, kSide_px}},           1,       &zero};
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    const VkCommandBuffer c = begin();
    CmdBeginRenderPass(c, &begin_info, VK_SUBPASS_CONTENTS_INLINE);
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    CmdSetViewport(c, 0, 1, &viewport), CmdSetScissor(c, 0, 1, &begin_info.renderArea);
    draws(c);
    CmdEndRenderPass(c);
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
    CmdCopyImageToBuffer(c, target.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out.buffer, 1, &region);
    run(c);
    for (const std::string& text : said) CHECK_MESSAGE(false, text);
    said.clear();
    std::vector<std::array<uint8_t, 4>> seen(16);
    for (uint32_t cell = 0; cell < 16; ++cell)
      std::memcpy(seen[cell].data(), out.data + ((cell / 4 * 4 + 1) * kSide_px + cell % 4 * 4 + 1) * 4, 4);
    DestroyFramebuffer(device, frame, nullptr);
    return seen;
  }
};

using Cell = std::array<uint8_t, 4>;

void test_multi_draw(Scene& p) {
  const VkPipeline with = make_pipeline(p, kCells, kNumbers, p.layout, p.pass, 0);
  // Every other one of these is a draw: the stride skips what lies between.
  const VkMultiDrawInfoEXT draws[] = {{0, 3}, {99, 99}, {9, 6}, {99, 99}, {30, 0}, {99, 99}, {45, 3}};
  auto seen = p.cells(with, [&](VkCommandBuffer c) { p.multi(c, 4, draws, 1, 5, 2 * sizeof draws[0]); });
  for (uint8_t cell = 0; cell < 16; ++cell) {
    const int draw = cell == 0 ? 0 : cell == 3 || cell == 4 ? 1 : cell == 15 ? 3 : -1;
    CHECK((seen[cell] == (draw < 0 ? Cell{} : Cell{static_cast<uint8_t>(draw), cell, 5, 7})));
  }
  auto* numbers = reinterpret_cast<uint16_t*>(p.indices.data);
  for (uint16_t i = 0; i < 24; ++i) numbers[i] = i;
  const VkMultiDrawIndexedInfoEXT indexed[] = {{0, 3, 3}, {3, 3, 6}, {6, 3, -6}};
  for (const int32_t all : {1000, 12}) {
    seen = p.cells(with, [&](VkCommandBuffer c) {
      p.bind_indices(c, p.indices.buffer, 0, VK_INDEX_TYPE_UINT16);
      p.multi_indexed(c, 3, indexed, 1, 0, sizeof indexed[0], all == 1000 ? nullptr : &all);
      p.CmdDraw(c, 3, 1, 42, 0);  // a plain draw has number 0 again
    });
    const std::array<uint8_t, 3> cells = all == 1000 ? std::array<uint8_t, 3>{1, 3, 0} : std::array<uint8_t, 3>{4, 5, 6};
    for (uint8_t k = 0; k < 3; ++k) CHECK((seen[cells[k]] == Cell{k, cells[k], 0, 7}));
    CHECK((seen[14] == Cell{0, 14, 0, 7} && seen[13] == Cell{}));
  }
}

void test_wrong_stride(Scene& p) {
  const VkMultiDrawInfoEXT draws[] = {{0, 3}, {3, 3}};
  const VkMultiDrawIndexedInfoEXT indexed[] = {{0, 3, 0}, {3, 3, 0}};
  for (const uint32_t stride : {0U, 4U, 10U}) {
    const VkCommandBuffer c = p.begin(), d = p.begin();
    p.multi(c, 2, draws, 1, 0, stride), p.multi_indexed(d, 2, indexed, 1, 0, stride, nullptr);
    CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("vkCmdDrawMultiEXT: stride is"));
    CHECK(p.EndCommandBuffer(d) != VK_SUCCESS && p.heard("vkCmdDrawMultiIndexedEXT: stride is"));
    p.said.clear();
  }
}

// Of a list, a restart drops the primitive that is not whole yet.
void test_list_restart(Scene& p) {
  for (const VkIndexType type : {VK_INDEX_TYPE_UINT16, VK_INDEX_TYPE_UINT32}) {
    const uint32_t none = type == VK_INDEX_TYPE_UINT16 ? 0xffff : ~0U;
    const std::vector<uint32_t> list = {0, 1, 2, 3, none, 6, 7, 8, none, none, 9, 10, none, 12, 13, 14, 15, 16, 17, 18};
    for (size_t i = 0; i < list.size(); ++i) {
      if (type == VK_INDEX_TYPE_UINT16) {
        const auto narrow = static_cast<uint16_t>(list[i]);
        std::memcpy(p.indices.data + 2 * i, &narrow, 2);
      } else {
        std::memcpy(p.indices.data + 4 * i, &list[i], 4);
      }
    }
    const VkPipeline with = make_pipeline(p, kCells, kNumbers, p.layout, p.pass, 0, [](VkGraphicsPipelineCreateInfo& info) {
      const_cast<VkPipelineInputAssemblyStateCreateInfo*>(info.pInputAssemblyState)->primitiveRestartEnable = VK_TRUE;
    });
    const auto seen = p.cells(with, [&](VkCommandBuffer c) {
      p.bind_indices(c, p.indices.buffer, 0, type);
      p.draw_indexed(c, static_cast<uint32_t>(list.size()), 1, 0, 0, 0);
    });
    for (uint8_t cell = 0; cell < 16; ++cell) {
      const bool drawn = cell == 0 || cell == 2 || cell == 4 || cell == 5;
      CHECK((seen[cell] == (drawn ? Cell{0, cell, 0, 7} : Cell{})));
    }
  }
}

const char* const kSlices = R"(#version 450
layout(local_size_x = 4, local_size_y = 4) in;
layout(set = 0, binding = 0) uniform sampler2D sampled;
layout(set = 0, binding = 1, rgba8) uniform image2D stored;
void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  imageStore(stored, at, texelFetch(sampled, at, 0).wzyx);
})";

// Slice 2 is read as a 2D image, slice 1 written as one; the others stay.
void test_slices(Scene& p) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.flags = VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT;
  info.imageType = VK_IMAGE_TYPE_3D, info.format = VK_FORMAT_R8G8B8A8_UNORM, info.extent = {4, 4, 4};
  info.mipLevels = info.arrayLayers = 1, info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  VkImage image = nullptr;
  CHECK(p.CreateImage(p.device, &info, nullptr, &image) == VK_SUCCESS);
  VkMemoryRequirements needs;
  p.GetImageMemoryRequirements(p.device, image, &needs);
  const VkDeviceMemory memory = p.allocate(needs.size);
  CHECK(p.BindImageMemory(p.device, image, memory, 0) == VK_SUCCESS);
  VkImageView views[2] = {};
  for (uint32_t i = 0; i < 2; ++i) {
    VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = image, view.viewType = VK_IMAGE_VIEW_TYPE_2D, view.format = info.format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 2 - i, 1};
    CHECK(p.CreateImageView(p.device, &view, nullptr, &views[i]) == VK_SUCCESS);
  }
  VkSamplerCreateInfo samplers{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  VkSampler sampler = nullptr;
  CHECK(p.CreateSampler(p.device, &samplers, nullptr, &sampler) == VK_SUCCESS);
  const std::vector<VkDescriptorSetLayoutBinding> bindings = {
      {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
      {1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
  const VkDescriptorSetLayout set_layout = p.set_layout(bindings);
  const VkPipelineLayout layout = p.pipeline_layout({set_layout});
  const VkDescriptorSet set = p.descriptor_set(set_layout);
  for (uint32_t i = 0; i < 2; ++i) {
    const VkDescriptorImageInfo of{sampler, views[i], VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, i, 0, 1, bindings[i].descriptorType, &of};
    p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  }
  const VkPipeline with = p.compute_pipeline(kSlices, layout);
  PFN_vkCmdCopyBufferToImage upload = nullptr;
  p.load(upload, "vkCmdCopyBufferToImage");
  const auto bytes = p.buffer(4 * 4 * 4 * 4, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (uint32_t i = 0; i < 256; ++i) bytes.data[i] = static_cast<uint8_t>(i * 37 + 11);
  const std::vector<uint8_t> before(bytes.data, bytes.data + 256);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {4, 4, 4};
  const VkCommandBuffer c = p.begin();
  upload(c, bytes.buffer, image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, with);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
  p.CmdDispatch(c, 1, 1, 1);
  p.CmdCopyImageToBuffer(c, image, VK_IMAGE_LAYOUT_GENERAL, bytes.buffer, 1, &region);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  for (uint32_t i = 0; i < 256; ++i) {
    const uint32_t from = i / 64 == 1 ? 128 + (i % 64) / 4 * 4 + 3 - i % 4 : i;
    CHECK(bytes.data[i] == before[from]);
  }
}

const char* const kSliced = R"(#version 450
layout(local_size_x = 4, local_size_y = 4) in;
layout(set = 0, binding = 0) uniform usampler3D sampled;
layout(set = 0, binding = 1, r32ui) uniform uimage3D stored;
void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  uint sizes = uint(textureSize(sampled, 0).z) * 1000 + uint(imageSize(stored).z) * 100;
  for (int z = -1; z < 4; z++) imageStore(stored, ivec3(at, z), uvec4(sizes + imageLoad(stored, ivec3(at, z)).x + uint(z)));
})";

// A view of slices 1 and 2 of level 1 is these as a storage image, and all four as a texture; what lies beside them stays.
void test_sliced_volumes(Scene& p) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_3D, info.format = VK_FORMAT_R32_UINT, info.extent = {8, 8, 8};
  info.mipLevels = 2, info.arrayLayers = 1, info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  VkImage image = nullptr;
  CHECK(p.CreateImage(p.device, &info, nullptr, &image) == VK_SUCCESS);
  VkMemoryRequirements needs;
  p.GetImageMemoryRequirements(p.device, image, &needs);
  CHECK(p.BindImageMemory(p.device, image, p.allocate(needs.size), 0) == VK_SUCCESS);
  VkImageViewSlicedCreateInfoEXT part{VK_STRUCTURE_TYPE_IMAGE_VIEW_SLICED_CREATE_INFO_EXT, nullptr, 1, 2};
  VkImageViewCreateInfo of_part{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, &part, 0, image, VK_IMAGE_VIEW_TYPE_3D, info.format};
  of_part.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 0, 1};
  VkImageView view = nullptr;
  CHECK(p.CreateImageView(p.device, &of_part, nullptr, &view) == VK_SUCCESS);
  VkSamplerCreateInfo nearest{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  VkSampler sampler = nullptr;
  CHECK(p.CreateSampler(p.device, &nearest, nullptr, &sampler) == VK_SUCCESS);
  const VkDescriptorType types[2] = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE};
  const VkDescriptorSetLayout set_layout =
      p.set_layout({{0, types[0], 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}, {1, types[1], 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
  const VkPipelineLayout layout = p.pipeline_layout({set_layout});
  const VkDescriptorSet set = p.descriptor_set(set_layout);
  for (uint32_t i = 0; i < 2; ++i) {
    const VkDescriptorImageInfo of{sampler, view, VK_IMAGE_LAYOUT_GENERAL};
    const VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, i, 0, 1, types[i], &of};
    p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  }
  PFN_vkCmdClearColorImage clear = nullptr;
  p.load(clear, "vkCmdClearColorImage");
  const auto out = p.buffer(4 * 4 * 4 * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 0, 1}, region.imageExtent = {4, 4, 4};
  const VkCommandBuffer c = p.begin();
  VkClearColorValue seven{};
  seven.uint32[0] = 7;
  const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 2, 0, 1};
  clear(c, image, VK_IMAGE_LAYOUT_GENERAL, &seven, 1, &all);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, p.compute_pipeline(kSliced, layout));
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
  p.CmdDispatch(c, 1, 1, 1);
  p.CmdCopyImageToBuffer(c, image, VK_IMAGE_LAYOUT_GENERAL, out.buffer, 1, &region);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  for (uint32_t i = 0; i < 64; ++i) {
    uint32_t got;
    std::memcpy(&got, out.data + 4 * i, 4);
    const uint32_t z = i / 16;
    CHECK(got == (z == 1 || z == 2 ? 4000 + 200 + 7 + (z - 1) : 7));
  }
  for (const auto& [first, count] : {std::pair(4U, 1U), std::pair(2U, 3U), std::pair(0U, 0U)}) {
    part.sliceOffset = first, part.sliceCount = count;
    VkImageView none = nullptr;
    CHECK(p.CreateImageView(p.device, &of_part, nullptr, &none) != VK_SUCCESS && p.heard("slice"));
  }
}

}  // namespace

int main() {
  Scene p;
  test_multi_draw(p);
  test_wrong_stride(p);
  test_list_restart(p);
  test_slices(p);
  test_sliced_volumes(p);
  return finish("test_vulkan_draws");
}
