// fuzz/driver/wrong_states.cpp -- dynamic states and shader objects with numbers that lead nowhere, states of extensions that are not
// there, and enumerations that are none wherever a program writes one.
//
// In: choices. Out: nothing that stays but messages. Source: Vulkan specification, valid usage of the commands.
#include <algorithm>

#include "driver/formats.hpp"
#include "driver/wrong.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr uint32_t kFar[] = {33, 1000, 65535, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

template <class Enum>
Enum any(World& w) {
  return static_cast<Enum>(w.c.of(kFar));
}

/// A command buffer that is thrown away, whose end may say no.
struct Draft {
  World& w;
  VkCommandBuffer b = nullptr;
  std::shared_ptr<ViewModel> target;

  explicit Draft(World& world) : w(world) {
    const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, w.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           1};
    TILEGPU_MUST(w, AllocateCommandBuffers, w.device, &info, &b);
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    TILEGPU_MUST(w, BeginCommandBuffer, b, &begin);
  }
  bool begin_pass() {
    target = w.target(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, 1);
    if (w.lost) return false;
    VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    color.imageView = target->handle, color.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.renderArea = {{0, 0}, {w.width_px, w.height_px}}, info.layerCount = 1, info.colorAttachmentCount = 1;
    info.pColorAttachments = &color;
    w.vk.CmdBeginRendering(b, &info);
    return true;
  }
  void end() {
    if (target) w.vk.CmdEndRendering(b);
    if (const VkResult result = w.vk.EndCommandBuffer(b); result > 0)
      w.fail("vkEndCommandBuffer gave " + std::to_string(result) + " for what Vulkan forbids");
    w.vk.FreeCommandBuffers(w.device, w.pool, 1, &b);
  }
};

void set_one(World& w, VkCommandBuffer b) {
  const auto& vk = w.vk;
  const uint32_t far = w.c.of(kFar), first = w.c.coin() ? 0 : far;
  const VkDepthBiasInfoEXT bias{VK_STRUCTURE_TYPE_DEPTH_BIAS_INFO_EXT, nullptr, 1, 1e30f, -1};
  const VkDepthClampRangeEXT range{1e30f, -1e30f};
  const VkColorBlendAdvancedEXT advanced{any<VkBlendOp>(w), far, far, any<VkBlendOverlapEXT>(w), far};
  const VkSampleLocationEXT places[4] = {{-1, 2}, {1e30f, 0}, {0, 0}, {0.5f, 0.5f}};
  const VkSampleLocationsInfoEXT locations{
      VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT, nullptr, any<VkSampleCountFlagBits>(w), {far, 1}, w.c.below(5), places};
  const uint32_t numbers[9] = {far, 0, 0, VK_ATTACHMENT_UNUSED, 1, 2, 3, 4, 5};
  const VkRenderingAttachmentLocationInfo to{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO, nullptr, w.c.below(10), numbers};
  const VkRenderingInputAttachmentIndexInfo of{
      VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO, nullptr, w.c.below(10), numbers, numbers, w.c.coin() ? numbers : nullptr};
  const VkRect2D rectangle{{-5, 1}, {far, far}};
  switch (w.c.below(32)) {
      // clang-format off
    case 0: return vk.CmdSetAlphaToOneEnableEXT(b, far);
    case 1: return vk.CmdSetAttachmentFeedbackLoopEnableEXT(b, far);
    case 2: return vk.CmdSetColorBlendAdvancedEXT(b, first, 1, &advanced);
    case 3: return vk.CmdSetConservativeRasterizationModeEXT(b, any<VkConservativeRasterizationModeEXT>(w));
    case 4: return vk.CmdSetDepthBias2EXT(b, &bias);
    case 5: return vk.CmdSetDepthClampRangeEXT(b, any<VkDepthClampModeEXT>(w), w.c.coin() ? &range : nullptr);
    case 6: return vk.CmdSetDepthClampRangeEXT(b, VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT, &range);
    case 7: return vk.CmdSetDepthClipEnableEXT(b, far), vk.CmdSetDepthClipNegativeOneToOneEXT(b, far);
    case 8: return vk.CmdSetDeviceMask(b, far);
    case 9: return vk.CmdSetExtraPrimitiveOverestimationSizeEXT(b, w.c.coin() ? -1.0f : 1e30f);
    case 10: return vk.CmdSetLineRasterizationModeEXT(b, any<VkLineRasterizationModeEXT>(w));
    case 11: return vk.CmdSetLineStippleEnableEXT(b, far), vk.CmdSetLineStipple(b, far, 0xffff);
    case 12: return vk.CmdSetProvokingVertexModeEXT(b, any<VkProvokingVertexModeEXT>(w));
    case 13: return vk.CmdSetRasterizationSamplesEXT(b, any<VkSampleCountFlagBits>(w));
    case 14: return vk.CmdSetRasterizationStreamEXT(b, far);
    case 15: return vk.CmdSetRenderingAttachmentLocations(b, &to);
    case 16: return vk.CmdSetRenderingInputAttachmentIndices(b, &of);
    case 17: return vk.CmdSetSampleLocationsEXT(b, &locations);
    case 18: return vk.CmdSetSampleLocationsEnableEXT(b, far);
    case 19: return vk.CmdSetTessellationDomainOriginEXT(b, any<VkTessellationDomainOrigin>(w));
    case 20: return vk.CmdSetDiscardRectangleEXT(b, first, 1, &rectangle), vk.CmdSetDiscardRectangleModeEXT(b, any<VkDiscardRectangleModeEXT>(w));
    case 21: return vk.CmdSetFrontFace(b, any<VkFrontFace>(w)), vk.CmdSetPolygonModeEXT(b, any<VkPolygonMode>(w));
    case 22: return vk.CmdSetCoverageModulationModeNV(b, any<VkCoverageModulationModeNV>(w));
    case 23: return vk.CmdSetCoverageReductionModeNV(b, any<VkCoverageReductionModeNV>(w));
    case 24: return vk.CmdSetCoverageToColorEnableNV(b, 1), vk.CmdSetCoverageToColorLocationNV(b, far);
    case 25: return vk.CmdSetViewportWScalingEnableNV(b, 1);
    case 26: return vk.CmdSetRepresentativeFragmentTestEnableNV(b, 1), vk.CmdSetShadingRateImageEnableNV(b, 1);
    case 27: return vk.CmdSetCoverageModulationTableEnableNV(b, 1), vk.CmdSetCoverageModulationTableNV(b, 0, nullptr);
    case 28: return vk.CmdSetViewportSwizzleNV(b, first, 0, nullptr);
    case 29: return vk.CmdDrawMeshTasksIndirectEXT(b, w.arena->handle, w.c.coin() ? kArena_B - 4 : far, w.c.coin() ? 1 : far, w.c.coin() ? 12 : far);
    case 30: return vk.CmdDrawMeshTasksIndirectCountEXT(b, w.arena->handle, kIndirect_B, w.arena->handle, w.c.coin() ? kArena_B - 2 : far, 1, 12);
    default: return vk.CmdSetColorBlendAdvancedEXT(b, first, 1, &advanced), vk.CmdSetColorBlendEnableEXT(b, 0, 1, &far);
      // clang-format on
  }
}

/// Some of them, and a draw.
void states(World& w) {
  Draft d(w);
  const bool draws = w.c.coin();
  if (draws && !d.begin_pass()) return;
  const auto pipeline = w.pick(w.pipelines, [](const PipelineModel& p) { return !p.compute; });
  if (pipeline && draws) w.vk.CmdBindPipeline(d.b, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline->handle);
  for (uint32_t k = 0, count = 1 + w.c.below(3); k < count; ++k) set_one(w, d.b);
  if (draws) w.vk.CmdDraw(d.b, 3, 1, 0, 0);
  d.end();
}

/// Create infos of shader objects with one number that leads nowhere, and binds that do not fit.
void shaders(World& w) {
  bool reads = false;
  PassShape shape;
  shape.colors = {VK_FORMAT_R8G8B8A8_UNORM};
  const VkShaderStageFlagBits stages[] = {VK_SHADER_STAGE_VERTEX_BIT, VK_SHADER_STAGE_GEOMETRY_BIT, VK_SHADER_STAGE_FRAGMENT_BIT};
  VkShaderStageFlagBits stage = w.c.of(stages);
  std::vector<uint32_t> words = w.shader_words(stage, shape, false, reads);
  const VkDescriptorSetLayout sets[] = {w.set_layout, w.input_layout};
  VkPushConstantRange range{VK_SHADER_STAGE_ALL, 0, 32};
  VkShaderCreateInfoEXT info{VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT};
  info.stage = stage, info.codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT, info.codeSize = words.size() * 4, info.pCode = words.data();
  info.pName = "main", info.setLayoutCount = 2, info.pSetLayouts = sets, info.pushConstantRangeCount = 1, info.pPushConstantRanges = &range;
  switch (w.c.below(9)) {
    case 0:
      info.stage = any<VkShaderStageFlagBits>(w);
      break;
    case 1:
      info.codeType = any<VkShaderCodeTypeEXT>(w);
      break;
    case 2:
      info.codeType = VK_SHADER_CODE_TYPE_BINARY_EXT;
      break;
    case 3:
      info.codeSize = w.c.below(64);
      break;
    case 4:
      info.flags = w.c.of(kFar);
      break;
    case 5:
      info.pName = "no such entry";
      break;
    case 6:
      info.nextStage = w.c.of(kFar);
      break;
    case 7:
      info.setLayoutCount = 0, range.offset = w.c.of(kFar);
      break;
    default:
      words[w.c.half() % words.size()] = w.c.word();
      break;
  }
  VkShaderEXT made = nullptr;
  const VkResult r = w.vk.CreateShadersEXT(w.device, 1, &info, nullptr, &made);
  if ((r == VK_SUCCESS) != (made != nullptr)) w.fail("vkCreateShadersEXT gave " + std::to_string(r) + " and the other kind of shader");
  Draft d(w);
  if (!d.begin_pass()) return;
  stage = w.c.coin() ? stage : any<VkShaderStageFlagBits>(w);
  w.vk.CmdBindShadersEXT(d.b, 1, &stage, &made);
  if (w.c.coin()) set_one(w, d.b);
  w.vk.CmdDraw(d.b, 3, 1, 0, 0);  // without a state
  d.end();
  if (made) w.vk.DestroyShaderEXT(w.device, made, nullptr);
}

/// Presents and waits that do not fit.
void presents(World& w) {
  const auto chain = w.pick(w.swapchains);
  if (!chain) return;
  const uint32_t far = w.c.of(kFar);
  const VkReleaseSwapchainImagesInfoEXT release{VK_STRUCTURE_TYPE_RELEASE_SWAPCHAIN_IMAGES_INFO_EXT, nullptr, chain->handle, 1, &far};
  TILEGPU_WRONG(w, ReleaseSwapchainImagesEXT, w.device, &release);
  VkResult r = w.vk.WaitForPresentKHR(w.device, chain->handle, w.c.word() | 1U << 31, w.c.below(2000));
  if (r == VK_SUCCESS) w.fail("vkWaitForPresentKHR waited for what nobody presents");
  VkPhysicalDeviceSurfaceInfo2KHR info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SURFACE_INFO_2_KHR, nullptr, chain->surface};
  const VkSurfacePresentModeEXT mode{VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_EXT, nullptr, any<VkPresentModeKHR>(w)};
  info.pNext = &mode;
  VkPresentModeKHR modes[8];
  VkSurfacePresentModeCompatibilityEXT fitting{VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_COMPATIBILITY_EXT, nullptr, 8, modes};
  VkSurfaceCapabilities2KHR can{VK_STRUCTURE_TYPE_SURFACE_CAPABILITIES_2_KHR, &fitting, {}};
  r = w.vk.GetPhysicalDeviceSurfaceCapabilities2KHR(w.gpu, &info, &can);
  VkSwapchainCreateInfoKHR create{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
  const VkHeadlessSurfaceCreateInfoEXT headless{VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
  TILEGPU_MUST(w, CreateHeadlessSurfaceEXT, w.instance, &headless, nullptr, &create.surface);
  create.minImageCount = 2, create.imageFormat = VK_FORMAT_B8G8R8A8_UNORM, create.imageExtent = {w.width_px, w.height_px};
  create.imageArrayLayers = 1, create.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, create.presentMode = VK_PRESENT_MODE_FIFO_KHR;
  create.preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR, create.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  switch (w.c.below(4)) {
    case 0:
      create.presentMode = any<VkPresentModeKHR>(w);
      break;
    case 1:
      create.imageFormat = any<VkFormat>(w);
      break;
    case 2:
      create.imageColorSpace = any<VkColorSpaceKHR>(w);
      break;
    default:
      create.imageExtent = {w.c.coin() ? 0 : 0xffffffff, w.c.coin() ? 1 : 0x80000000};
      break;
  }
  VkSwapchainKHR made = nullptr;
  TILEGPU_WRONG(w, CreateSwapchainKHR, w.device, &create, nullptr, &made);
  w.vk.DestroySurfaceKHR(w.instance, create.surface, nullptr);
}

/// Enumerations that are none, in the create infos of objects.
void enumerations(World& w) {
  VkSamplerCreateInfo sampler{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  VkSampler made = nullptr;
  switch (w.c.below(8)) {
    case 0:
      sampler.magFilter = any<VkFilter>(w);
      break;
    case 1:
      sampler.minFilter = any<VkFilter>(w);
      break;
    case 2:
      sampler.mipmapMode = any<VkSamplerMipmapMode>(w);
      break;
    case 3:
      sampler.addressModeU = any<VkSamplerAddressMode>(w);
      break;
    case 4:
      sampler.addressModeW = any<VkSamplerAddressMode>(w);
      break;
    case 5:
      sampler.compareEnable = VK_TRUE, sampler.compareOp = any<VkCompareOp>(w);
      break;
    case 6:
      sampler.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, sampler.borderColor = any<VkBorderColor>(w);
      break;
    default: {
      VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
      view.image = w.texture->image->handle, view.format = w.texture->info.format, view.viewType = w.texture->info.viewType;
      view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
      const uint32_t which = w.c.below(3);
      if (which == 0) view.viewType = any<VkImageViewType>(w);
      if (which == 1) view.format = any<VkFormat>(w);
      if (which == 2) view.components.g = any<VkComponentSwizzle>(w);
      VkImageView of = nullptr;
      return TILEGPU_WRONG(w, CreateImageView, w.device, &view, nullptr, &of);
    }
  }
  TILEGPU_WRONG(w, CreateSampler, w.device, &sampler, nullptr, &made);
}

}  // namespace

void wrong_state(World& w) {
  using Wrong = void (*)(World&);
  constexpr Wrong kAll[] = {states, states, shaders, presents, enumerations};
  w.c.of(kAll)(w);
}

}  // namespace tilegpu::fuzz
