// icd/pipelines.cpp -- shader modules, pipeline layouts and caches, graphics pipelines.
//
// In: Vulkan's create infos. Out: the core's pipelines; what the core does not have is refused here, with its message.
// Source: Vulkan specification, "Shaders", "Pipelines".
#include <algorithm>
#include <cstring>

#include "icd/debug_utils.hpp"
#include "icd/dynamic_state.hpp"
#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "icd/pipeline_library.hpp"
#include "icd/shader_stage.hpp"
#include "icd/subpass.hpp"
#include "shader/module/stage_entry.hpp"
#include "shader/spirv/module.hpp"
#include "vk/format.hpp"

namespace tilegpu::icd {

VkResult VKAPI_CALL CreateShaderModule(VkDevice, const VkShaderModuleCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                       VkShaderModule* out) {
  auto* module = new VkShaderModule_T;
  module->words.assign(pCreateInfo->pCode, pCreateInfo->pCode + pCreateInfo->codeSize / 4);
  *out = module;
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyShaderModule(VkDevice device, VkShaderModule shaderModule, const VkAllocationCallbacks*) {
  discard(device, shaderModule);
}

Expected<Ptr<const PipelineLayout>> layout_of(const char* who, std::span<const VkDescriptorSetLayout> sets,
                                              std::span<const VkPushConstantRange> ranges) {
  const std::string of = std::string(who) + ": ";
  if (sets.size() > kMaxDescriptorSets)
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, of + "setLayoutCount is " + std::to_string(sets.size()) + "; maxBoundDescriptorSets is " +
                                                     std::to_string(kMaxDescriptorSets)};
  auto layout = std::make_shared<PipelineLayout>();
  for (const VkDescriptorSetLayout set : sets) layout->sets.push_back(set ? set->core : nullptr);
  uint64_t end_B = 0;
  for (const VkPushConstantRange& range : ranges) end_B = std::max(end_B, uint64_t{range.offset} + range.size);
  if (end_B > kMaxPushConstants_B)
    return Error{VK_ERROR_INITIALIZATION_FAILED, of + "push constants end at byte " + std::to_string(end_B) + "; maxPushConstantsSize is " +
                                                     std::to_string(kMaxPushConstants_B)};
  layout->push_constants_B = static_cast<uint32_t>(end_B);
  return Ptr<const PipelineLayout>(std::move(layout));
}

VkResult VKAPI_CALL CreatePipelineLayout(VkDevice device, const VkPipelineLayoutCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                         VkPipelineLayout* pPipelineLayout) {
  auto layout = layout_of("pipeline layout", {pCreateInfo->pSetLayouts, pCreateInfo->setLayoutCount},
                          {pCreateInfo->pPushConstantRanges, pCreateInfo->pushConstantRangeCount});
  if (!layout) return fail(device, layout.error(), layout.error().code);
  *pPipelineLayout = new VkPipelineLayout_T{std::move(*layout)};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyPipelineLayout(VkDevice device, VkPipelineLayout pipelineLayout, const VkAllocationCallbacks*) {
  discard(device, pipelineLayout);
}

// --- caches: code is kept by the device and on disk anyway; what a program keeps is the header, so that it can tell whose it is

VkResult VKAPI_CALL CreatePipelineCache(VkDevice, const VkPipelineCacheCreateInfo*, const VkAllocationCallbacks*, VkPipelineCache* out) {
  *out = new VkPipelineCache_T;
  return VK_SUCCESS;
}
void VKAPI_CALL DestroyPipelineCache(VkDevice device, VkPipelineCache pipelineCache, const VkAllocationCallbacks*) {
  discard(device, pipelineCache);
}
VkResult VKAPI_CALL MergePipelineCaches(VkDevice, VkPipelineCache, uint32_t, const VkPipelineCache*) { return VK_SUCCESS; }

VkResult VKAPI_CALL GetPipelineCacheData(VkDevice, VkPipelineCache, size_t* pDataSize, void* pData) {
  VkPipelineCacheHeaderVersionOne header{
      sizeof header, VK_PIPELINE_CACHE_HEADER_VERSION_ONE, capabilities().core.vendorID, capabilities().core.deviceID, {}};
  std::memcpy(header.pipelineCacheUUID, capabilities().core.pipelineCacheUUID, VK_UUID_SIZE);
  if (!pData) {
    *pDataSize = sizeof header;
    return VK_SUCCESS;
  }
  if (*pDataSize < sizeof header) {
    *pDataSize = 0;
    return VK_INCOMPLETE;
  }
  std::memcpy(pData, &header, sizeof header);
  *pDataSize = sizeof header;
  return VK_SUCCESS;
}

// --- graphics pipelines

namespace {

Expected<Ptr<ShaderModule>> module_of(VkDevice device, const VkPipelineShaderStageCreateInfo& stage) {
  const auto make = [&](std::vector<uint32_t> words) {
    shader::to_native_order(words);
    shader::keep_entry_of_stage(words, stage.pName, given(stage.stage));
    return device->core->create_shader_module(std::move(words), stage.pName, stage.pName);
  };
  if (!stage.module) {
    const auto* code = find_next<VkShaderModuleCreateInfo>(stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    if (!code) return Error{VK_ERROR_INITIALIZATION_FAILED, "pipeline: a stage has no module"};
    return make({code->pCode, code->pCode + code->codeSize / 4});
  }
  const std::lock_guard guard(stage.module->lock);
  auto& known = stage.module->entry_points[{stage.pName, stage.stage}];
  if (known) return known;
  auto made = make(stage.module->words);
  if (made) known = *made;
  return made;
}

}  // namespace

Expected<ShaderStage> stage_of(VkDevice device, const VkPipelineShaderStageCreateInfo& in) {
  auto module = module_of(device, in);
  if (!module) return module.error();
  ShaderStage stage{*module, {}};
  const VkSpecializationInfo* info = in.pSpecializationInfo;
  if (info && info->mapEntryCount && (!info->pMapEntries || (!info->pData && info->dataSize)))
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, "pipeline: pSpecializationInfo has " + std::to_string(info->mapEntryCount) +
                                                     " constants, and pMapEntries or pData is null"};
  for (uint32_t i = 0; info && i < info->mapEntryCount; ++i) {
    const VkSpecializationMapEntry& entry = info->pMapEntries[i];
    if (entry.offset > info->dataSize || entry.size > info->dataSize - entry.offset)
      return Error{VK_ERROR_VALIDATION_FAILED_EXT, "pipeline: specialization constant " + std::to_string(entry.constantID) +
                                                       " lies beyond its " + std::to_string(info->dataSize) + " bytes of data"};
    if (entry.size > 8)
      return Error{VK_ERROR_VALIDATION_FAILED_EXT, "pipeline: specialization constant " + std::to_string(entry.constantID) + " has " +
                                                       std::to_string(entry.size) + " bytes of data; at most 8 are allowed"};
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const uint8_t*>(info->pData) + entry.offset, entry.size);
    stage.specialization.emplace_back(entry.constantID, bits);
  }
  return stage;
}

namespace {

bool is_dynamic(const VkGraphicsPipelineCreateInfo& in, std::initializer_list<VkDynamicState> states) {
  const VkPipelineDynamicStateCreateInfo* dynamic = in.pDynamicState;
  for (uint32_t i = 0; dynamic && i < dynamic->dynamicStateCount; ++i)
    if (std::find(states.begin(), states.end(), given(dynamic->pDynamicStates[i])) != states.end()) return true;
  return false;
}

constexpr std::pair<VkDynamicState, DynamicState> kColorStates[] = {
    {VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT, DynamicState::color_blend_enable},
    {VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT, DynamicState::color_blend_equation},
    {VK_DYNAMIC_STATE_COLOR_BLEND_ADVANCED_EXT, DynamicState::color_blend_advanced},
    {VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT, DynamicState::color_write_mask},
    {VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT, DynamicState::color_write_enable},
};

void take_vertex_input(const VkPipelineVertexInputStateCreateInfo& in, GraphicsState& out) {
  using Divisors = VkPipelineVertexInputDivisorStateCreateInfoEXT;
  const auto* divisors = find_next<Divisors>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT);
  for (uint32_t i = 0; i < in.vertexBindingDescriptionCount; ++i) {
    VertexInputBinding binding{given(in.pVertexBindingDescriptions[i])};
    for (uint32_t k = 0; divisors && k < divisors->vertexBindingDivisorCount; ++k)
      if (divisors->pVertexBindingDivisors[k].binding == binding.binding) binding.divisor = divisors->pVertexBindingDivisors[k].divisor;
    out.vertex_bindings.push_back(binding);
  }
  const auto attributes = given(in.pVertexAttributeDescriptions, in.vertexAttributeDescriptionCount);
  out.vertex_attributes.assign(attributes.begin(), attributes.end());
}

// `stipples`: lines may come to have a stipple that is fixed, though it is not enabled here.
void take_rasterization(const VkPipelineRasterizationStateCreateInfo& in, bool stipples, RasterizationState& out) {
  out.depth_clamp = in.depthClampEnable;
  out.rasterizer_discard = in.rasterizerDiscardEnable;
  out.polygon_mode = given(in.polygonMode);
  out.cull_mode = in.cullMode;
  out.front_face = given(in.frontFace);
  out.depth_bias_enable = in.depthBiasEnable;
  out.depth_bias_constant = in.depthBiasConstantFactor;
  out.depth_bias_clamp = in.depthBiasClamp;
  out.depth_bias_slope = in.depthBiasSlopeFactor;
  using Bias = VkDepthBiasRepresentationInfoEXT;
  if (const auto* bias = find_next<Bias>(in.pNext, VK_STRUCTURE_TYPE_DEPTH_BIAS_REPRESENTATION_INFO_EXT))
    out.depth_bias_representation = static_cast<DepthBiasRepresentation>(given(bias->depthBiasRepresentation));
  out.line_width = in.lineWidth;
  using Clip = VkPipelineRasterizationDepthClipStateCreateInfoEXT;
  if (const auto* clip = find_next<Clip>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT))
    out.depth_clip = clip->depthClipEnable ? DepthClip::enabled : DepthClip::disabled;
  using Stream = VkPipelineRasterizationStateStreamCreateInfoEXT;
  if (const auto* stream = find_next<Stream>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_STREAM_CREATE_INFO_EXT))
    out.rasterization_stream = stream->rasterizationStream;
  using Provoking = VkPipelineRasterizationProvokingVertexStateCreateInfoEXT;
  if (const auto* vertex = find_next<Provoking>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT))
    out.provoking_vertex_last = given(vertex->provokingVertexMode) == VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT;
  using Conservative = VkPipelineRasterizationConservativeStateCreateInfoEXT;
  if (const auto* state = find_next<Conservative>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_CONSERVATIVE_STATE_CREATE_INFO_EXT)) {
    out.conservative_mode = given(state->conservativeRasterizationMode);
    out.extra_overestimation_px = state->extraPrimitiveOverestimationSize;
  }
  using Line = VkPipelineRasterizationLineStateCreateInfoEXT;
  if (const auto* line = find_next<Line>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT)) {
    out.line_mode = given(line->lineRasterizationMode);
    out.line_stipple = line->stippledLineEnable;
    if (out.line_stipple || stipples)
      out.line_stipple_factor = line->lineStippleFactor, out.line_stipple_pattern = line->lineStipplePattern;
  }
}

// Then the state of viewports is not there to be read.
bool never_rasterizes(const VkGraphicsPipelineCreateInfo& in) {
  return in.pRasterizationState && in.pRasterizationState->rasterizerDiscardEnable &&
         !is_dynamic(in, {VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE});
}

void take_depth_control(const VkGraphicsPipelineCreateInfo& in, RasterizationState& out) {
  using Control = VkPipelineViewportDepthClipControlCreateInfoEXT;
  if (!in.pViewportState || never_rasterizes(in)) return;
  if (const auto* control =
          find_next<Control>(in.pViewportState->pNext, VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT))
    out.depth_clip_negative_one_to_one = control->negativeOneToOne;
  using Clamp = VkPipelineViewportDepthClampControlCreateInfoEXT;
  if (const auto* clamp =
          find_next<Clamp>(in.pViewportState->pNext, VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLAMP_CONTROL_CREATE_INFO_EXT);
      clamp && given(clamp->depthClampMode) == VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT && clamp->pDepthClampRange) {
    out.depth_clamp_user = true;
    out.min_depth_clamp = clamp->pDepthClampRange->minDepthClamp, out.max_depth_clamp = clamp->pDepthClampRange->maxDepthClamp;
  }
}

Status take_multisample(const VkPipelineMultisampleStateCreateInfo& in, bool takes_locations, MultisampleState& out) {
  out.samples = given(in.rasterizationSamples);
  out.sample_shading = in.sampleShadingEnable;
  out.min_sample_shading = in.minSampleShading;
  if (in.pSampleMask) out.sample_mask = in.pSampleMask[0];
  out.alpha_to_coverage = in.alphaToCoverageEnable;
  out.alpha_to_one = in.alphaToOneEnable;
  using Locations = VkPipelineSampleLocationsStateCreateInfoEXT;
  const auto* state = find_next<Locations>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT);
  if (!state) return Ok{};
  out.sample_locations_enable = state->sampleLocationsEnable;
  if (!takes_locations) return Ok{};
  auto locations = sample_locations_of(state->sampleLocationsInfo, "pipeline: VkPipelineSampleLocationsStateCreateInfoEXT");
  if (!locations) return locations.error();
  out.sample_locations = *locations;
  return Ok{};
}

void take_depth_stencil(const VkPipelineDepthStencilStateCreateInfo& in, DepthStencilState& out) {
  out.depth_test = in.depthTestEnable;
  out.depth_write = in.depthWriteEnable;
  out.depth_compare = given(in.depthCompareOp);
  out.depth_bounds_test = in.depthBoundsTestEnable;
  out.min_depth_bounds = in.minDepthBounds;
  out.max_depth_bounds = in.maxDepthBounds;
  out.stencil_test = in.stencilTestEnable;
  out.front = given(in.front);
  out.back = given(in.back);
}

// `of_subpass`: by its colours, which are locations. `ignored`: pAttachments, which may lead anywhere then.
void take_blending(const VkPipelineColorBlendStateCreateInfo& in, bool of_subpass, bool ignored, GraphicsPipelineCreateInfo& out) {
  const auto place_of = [&](size_t i) { return of_subpass ? out.attachment_locations[i] : static_cast<uint32_t>(i); };
  out.blend.logic_op_enable = in.logicOpEnable;
  out.blend.logic_op = given(in.logicOp);
  // Vulkan has them by the colours of the subpass or of the pass (`place_of`), the core by the attachments of the tile pass.
  out.blend.attachments.clear();
  for (size_t i = 0; i < out.color_formats.size(); ++i) {
    const uint32_t place = place_of(i);
    const bool is_there = place < in.attachmentCount && !ignored;
    out.blend.attachments.push_back(is_there ? given(in.pAttachments[place]) : VkPipelineColorBlendAttachmentState{});
  }
  using Advanced = VkPipelineColorBlendAdvancedStateCreateInfoEXT;
  if (const auto* state = find_next<Advanced>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_ADVANCED_STATE_CREATE_INFO_EXT))
    out.blend.advanced.fill({state->srcPremultiplied != 0, state->dstPremultiplied != 0, false, given(state->blendOverlap)});
  std::copy(in.blendConstants, in.blendConstants + 4, out.blend_constants.begin());
  const auto* write = find_next<VkPipelineColorWriteCreateInfoEXT>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT);
  for (size_t i = 0; write && i < out.color_formats.size(); ++i)
    if (const uint32_t place = place_of(i); place < write->attachmentCount && !write->pColorWriteEnables[place])
      out.blend.color_write_enables &= ~(1U << i);
}

// VK_KHR_dynamic_rendering_local_read: which locations write the attachments, and which indices read them.
void take_local_read(const VkGraphicsPipelineCreateInfo& in, GraphicsPipelineCreateInfo& out) {
  assert(!in.renderPass);
  using Locations = VkRenderingAttachmentLocationInfo;
  if (const auto* info = find_next<Locations>(in.pNext, VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO))
    take_numbers(info->pColorAttachmentLocations, info->colorAttachmentCount, out.attachment_locations);
  using Indices = VkRenderingInputAttachmentIndexInfo;
  if (const auto* info = find_next<Indices>(in.pNext, VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO)) {
    take_numbers(info->pColorAttachmentInputIndices, info->colorAttachmentCount, out.input_attachments.color);
    if (info->pDepthInputAttachmentIndex) out.input_attachments.depth = *info->pDepthInputAttachmentIndex;
    if (info->pStencilInputAttachmentIndex) out.input_attachments.stencil = *info->pStencilInputAttachmentIndex;
  }
}

// Attachments that the subpass names as inputs more than once.
void take_aliases(const Subpass& subpass, const TilePass& tiles, const SubpassTargets& targets, InputAttachmentIndices& out) {
  out.aliases.clear();
  const auto add = [&](uint32_t attachment, std::optional<uint32_t> first, uint32_t index) {
    if (first != index && out.aliases.size() < InputAttachmentIndices::kMost) out.aliases.push_back({attachment, index});
  };
  for (uint32_t i = 0; i < subpass.inputs.size(); ++i) {
    const uint32_t a = subpass.inputs[i];
    if (a == VK_ATTACHMENT_UNUSED || is_fetched(subpass, a)) continue;
    if (a == tiles.depth_stencil) {
      const VkImageAspectFlags aspects = subpass.input_aspects[i];
      if (aspects & VK_IMAGE_ASPECT_DEPTH_BIT && targets.depth) add(InputAttachmentIndices::kDepth, out.depth, i);
      if (aspects & VK_IMAGE_ASPECT_STENCIL_BIT && targets.stencil) add(InputAttachmentIndices::kStencil, out.stencil, i);
    } else if (const uint32_t slot = slot_of(tiles, a); slot != VK_ATTACHMENT_UNUSED) {
      add(slot, out.color[slot], i);
    }
  }
}

// What the pass has: of a subpass, or of dynamic rendering, whose formats are the output's alone.
void take_targets(const VkGraphicsPipelineCreateInfo& in, VkGraphicsPipelineLibraryFlagsEXT parts, GraphicsPipelineCreateInfo& out) {
  if (!in.renderPass) {
    const auto* rendering = find_next<VkPipelineRenderingCreateInfo>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
    if (rendering && parts & kFragmentOutput) {
      out.color_formats = given(rendering->pColorAttachmentFormats, rendering->colorAttachmentCount);
      out.depth_format = given(rendering->depthAttachmentFormat);
      out.stencil_format = given(rendering->stencilAttachmentFormat);
    }
    take_local_read(in, out);
    return;
  }
  const VkRenderPass_T& pass = *in.renderPass;
  const Subpass& subpass = pass.subpasses[in.subpass];
  const TilePass& tiles = pass.tile_passes[subpass.tile_pass];
  const SubpassTargets targets = targets_of(pass, in.subpass);
  assert(targets.color.size() == tiles.color.size() && tiles.color.size() <= out.input_attachments.color.size());
  out.color_formats = targets.color;
  out.depth_format = targets.depth, out.stencil_format = targets.stencil;
  out.input_attachments.color.fill(VK_ATTACHMENT_UNUSED);
  out.attachment_locations.fill(VK_ATTACHMENT_UNUSED);
  for (size_t i = 0; i < tiles.color.size(); ++i)
    if (tiles.color[i] != VK_ATTACHMENT_UNUSED) {
      out.input_attachments.color[i] = input_of(subpass, tiles.color[i]);
      out.attachment_locations[i] = location_of(subpass, tiles.color[i]);
    }
  // Inputs that are not in the tile; an unused one has undefined values.
  const auto in_tile = [&](uint32_t a) { return a != VK_ATTACHMENT_UNUSED && !is_fetched(subpass, a); };
  out.input_attachments.others_in_memory = !std::all_of(subpass.inputs.begin(), subpass.inputs.end(), in_tile);
  if (subpass.depth_stencil == VK_ATTACHMENT_UNUSED)  // of the subpass; the others of its tile pass may have one
    out.untested_aspects = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
  if (tiles.depth_stencil != VK_ATTACHMENT_UNUSED) {
    const auto input = [&](VkImageAspectFlagBits aspect) { return input_of(subpass, tiles.depth_stencil, aspect); };
    if (targets.depth != VK_FORMAT_UNDEFINED) out.input_attachments.depth = input(VK_IMAGE_ASPECT_DEPTH_BIT);
    if (targets.stencil != VK_FORMAT_UNDEFINED) out.input_attachments.stencil = input(VK_IMAGE_ASPECT_STENCIL_BIT);
  }
  take_aliases(subpass, tiles, targets, out.input_attachments);
}

// Vulkan ignores tests of what the pass does not have, also those that commands switch on.
void drop_missing_tests(GraphicsPipelineCreateInfo& info) {
  const auto is_open = [&](VkDynamicState state) {
    return std::find(info.dynamic_states.begin(), info.dynamic_states.end(), state) != info.dynamic_states.end();
  };
  if (info.depth_format == VK_FORMAT_UNDEFINED) {
    info.depth_stencil.depth_test = info.depth_stencil.depth_write = info.depth_stencil.depth_bounds_test = false;
    if (is_open(VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE) || is_open(VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE))
      info.untested_aspects |= VK_IMAGE_ASPECT_DEPTH_BIT;
  }
  if (info.stencil_format == VK_FORMAT_UNDEFINED) {
    info.depth_stencil.stencil_test = false;
    if (is_open(VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE)) info.untested_aspects |= VK_IMAGE_ASPECT_STENCIL_BIT;
  }
}

// Of the pre-rasterization or the fragment part: either may give it, and both must give the same.
void take_shading_rate(const VkGraphicsPipelineCreateInfo& in, GraphicsPipelineCreateInfo& out) {
  using Rate = VkPipelineFragmentShadingRateStateCreateInfoKHR;
  const auto* rate = find_next<Rate>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_FRAGMENT_SHADING_RATE_STATE_CREATE_INFO_KHR);
  if (!rate || is_dynamic(in, {VK_DYNAMIC_STATE_FRAGMENT_SHADING_RATE_KHR})) return;
  out.shading_rate = {rate->fragmentSize.width, rate->fragmentSize.height, {given(rate->combinerOps[0]), given(rate->combinerOps[1])}};
}

void take_pre_rasterization(const VkGraphicsPipelineCreateInfo& in, GraphicsPipelineCreateInfo& out) {
  const VkShaderStageFlags tessellation = VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT | VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT;
  const bool tessellates =
      std::any_of(in.pStages, in.pStages + in.stageCount, [&](const auto& stage) { return given(stage.stage) & tessellation; });
  if (in.pTessellationState && tessellates) {
    out.patch_control_points = in.pTessellationState->patchControlPoints;
    using Origin = VkPipelineTessellationDomainOriginStateCreateInfo;
    const auto* origin =
        find_next<Origin>(in.pTessellationState->pNext, VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_DOMAIN_ORIGIN_STATE_CREATE_INFO);
    if (origin) out.domain_origin = given(origin->domainOrigin);
  }
  const bool stipples = is_dynamic(in, {VK_DYNAMIC_STATE_LINE_STIPPLE_ENABLE_EXT}) && !is_dynamic(in, {VK_DYNAMIC_STATE_LINE_STIPPLE_EXT});
  if (in.pRasterizationState) take_rasterization(*in.pRasterizationState, stipples, out.rasterization);
  take_depth_control(in, out.rasterization);
}

Status take_samples(const VkGraphicsPipelineCreateInfo& in, GraphicsPipelineCreateInfo& out) {
  if (!in.pMultisampleState) return Ok{};
  const VkPipelineMultisampleStateCreateInfo& state = *in.pMultisampleState;
  // Ignored, and perhaps not there to be read, where they are not enabled.
  using Locations = VkPipelineSampleLocationsStateCreateInfoEXT;
  const auto* locations = find_next<Locations>(state.pNext, VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT);
  const bool perhaps_enabled =
      locations && (locations->sampleLocationsEnable || is_dynamic(in, {VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_ENABLE_EXT}));
  const bool takes = perhaps_enabled && !is_dynamic(in, {VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_EXT});
  return take_multisample(state, takes, out.multisample);
}

// Nothing is assembled before a mesh shader: the state of vertex input is ignored, and its pointers may lead anywhere.
bool has_mesh_shader(const VkGraphicsPipelineCreateInfo& in) {
  return std::any_of(in.pStages, in.pStages + in.stageCount,
                     [](const auto& stage) { return given(stage.stage) == VK_SHADER_STAGE_MESH_BIT_EXT; });
}

// VK_EXT_discard_rectangles. How many there are is the pipeline's even where which they are is not.
Status take_discard_rectangles(const VkGraphicsPipelineCreateInfo& in, DiscardRectangleState& out) {
  using State = VkPipelineDiscardRectangleStateCreateInfoEXT;
  const auto* state = find_next<State>(in.pNext, VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT);
  if (!state || never_rasterizes(in)) return Ok{};
  const uint32_t count = state->discardRectangleCount;
  if (count > kMaxDiscardRectangles)
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, "pipeline: discardRectangleCount is " + std::to_string(count) +
                                                     "; maxDiscardRectangles is " + std::to_string(kMaxDiscardRectangles)};
  if (static_cast<uint32_t>(given(state->discardRectangleMode)) > VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT)
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, "pipeline: discardRectangleMode is " + std::to_string(given(state->discardRectangleMode)) +
                                                     "; it must be INCLUSIVE or EXCLUSIVE"};
  out.enable = count, out.mode = given(state->discardRectangleMode), out.count = count;
  if (is_dynamic(in, {VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT})) return Ok{};
  for (uint32_t i = 0; i < count; ++i) {
    if (Status ok = check_discard_rectangle(state->pDiscardRectangles[i], "pipeline: pDiscardRectangles[" + std::to_string(i) + "]"); !ok)
      return ok;
    out.rectangles.push_back(state->pDiscardRectangles[i]);
  }
  return Ok{};
}

// Of the parts alone: pointers to the state of others may lead anywhere, and behind a discard those of fragments too.
Status take_state(const VkGraphicsPipelineCreateInfo& in, VkGraphicsPipelineLibraryFlagsEXT parts, bool discards,
                  GraphicsPipelineCreateInfo& out) {
  if (parts & kVertexInput && !has_mesh_shader(in)) {
    if (in.pVertexInputState) take_vertex_input(*in.pVertexInputState, out);
    if (in.pInputAssemblyState) {
      out.topology = given(in.pInputAssemblyState->topology);
      out.primitive_restart = in.pInputAssemblyState->primitiveRestartEnable;
    }
  }
  if (parts & kPreRasterization) {
    take_pre_rasterization(in, out);
    if (Status ok = take_discard_rectangles(in, out.discard_rectangles); !ok) return ok;
  }
  if (parts & (kPreRasterization | kFragmentShader)) take_shading_rate(in, out);
  discards = discards || (out.rasterization.rasterizer_discard && !is_dynamic(in, {VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE}));
  if (discards || !(parts & (kFragmentShader | kFragmentOutput))) return Ok{};
  if (Status ok = take_samples(in, out); !ok) return ok;
  // Without a render pass the formats are the output's: tests of what is not there are dropped once all parts are.
  const bool formats = out.depth_format != VK_FORMAT_UNDEFINED || out.stencil_format != VK_FORMAT_UNDEFINED;
  const bool depth_stencil = (formats || (!in.renderPass && !(parts & kFragmentOutput))) && !out.untested_aspects;
  if (parts & kFragmentShader && in.pDepthStencilState && depth_stencil) take_depth_stencil(*in.pDepthStencilState, out.depth_stencil);
  const bool colors = in.renderPass ? !in.renderPass->subpasses[in.subpass].color.empty() : !out.color_formats.empty();
  const bool sets_all = is_dynamic(in, {VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT}) &&
                        is_dynamic(in, {VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT}) &&
                        is_dynamic(in, {VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT});
  if (parts & kFragmentOutput && in.pColorBlendState && colors) take_blending(*in.pColorBlendState, in.renderPass, sets_all, out);
  return Ok{};
}

// VK_EXT_attachment_feedback_loop_layout, and _dynamic_state.
void take_feedback_loops(const VkGraphicsPipelineCreateInfo& in, GraphicsPipelineCreateInfo& out) {
  const VkPipelineCreateFlags2 flags = flags_of(in);
  out.feedback_loops = 0;
  if (flags & VK_PIPELINE_CREATE_2_COLOR_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT) out.feedback_loops |= VK_IMAGE_ASPECT_COLOR_BIT;
  if (flags & VK_PIPELINE_CREATE_2_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT)
    out.feedback_loops |= VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
  out.feedback_loop_dynamic = is_dynamic(in, {VK_DYNAMIC_STATE_ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT});
}

void take_viewports(const VkGraphicsPipelineCreateInfo& in, PipelineParts& out) {
  const VkPipelineViewportStateCreateInfo* state = in.pViewportState;
  if (!state || never_rasterizes(in)) return;
  if (!is_dynamic(in, {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT}) && state->pViewports)
    out.viewports.assign(state->pViewports, state->pViewports + state->viewportCount);
  if (!is_dynamic(in, {VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT}) && state->pScissors)
    out.scissors.assign(state->pScissors, state->pScissors + state->scissorCount);
}

// What the create info has itself. `discards`: a library that it is linked with never rasterizes.
Status take_parts(VkDevice device, const VkGraphicsPipelineCreateInfo& in, bool discards, PipelineParts& out) {
  assert(out.info.stages.empty());
  GraphicsPipelineCreateInfo& info = out.info;
  const bool shades = !discards && !(out.parts & kPreRasterization && never_rasterizes(in));
  for (uint32_t i = 0; i < in.stageCount; ++i) {
    const bool fragment = given(in.pStages[i].stage) == VK_SHADER_STAGE_FRAGMENT_BIT;
    if (!(out.parts & (fragment ? kFragmentShader : kPreRasterization)) || (fragment && !shades)) continue;
    auto stage = stage_of(device, in.pStages[i]);
    if (!stage) return stage.error();
    info.stages.push_back(std::move(*stage));
  }
  if (out.parts & (kFragmentShader | kFragmentOutput)) take_targets(in, out.parts, info);
  if (Status ok = take_state(in, out.parts, discards, info); !ok) return ok;
  take_feedback_loops(in, info);
  info.dynamic_states = dynamic_states_of(in, out.parts);
  if (in.layout && out.parts & (kPreRasterization | kFragmentShader)) info.layout = in.layout->core;
  for (const auto& [vulkan, state] : kColorStates)
    if (out.parts & kFragmentOutput && is_dynamic(in, {vulkan})) out.dynamic_colors.add(state);
  if (out.parts & kPreRasterization) take_viewports(in, out);
  return Ok{};
}

bool discards_all(const GraphicsPipelineCreateInfo& info) {
  const auto& states = info.dynamic_states;
  return info.rasterization.rasterizer_discard &&
         std::find(states.begin(), states.end(), VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE) == states.end();
}

VkResult create(VkDevice device, const VkGraphicsPipelineCreateInfo& in, VkPipeline* out) {
  PipelineParts all, own{.parts = own_parts(in)};
  if (own.parts && in.renderPass && in.subpass >= in.renderPass->subpasses.size())
    return fail(
        device, VK_ERROR_VALIDATION_FAILED_EXT,
        "pipeline: subpass is " + std::to_string(in.subpass) + "; the render pass has " + std::to_string(in.renderPass->subpasses.size()));
  assert((own.parts & ~kAllParts) == 0);
  all.info.label = next_label();
  if (Status ok = add_libraries(in, all); !ok) return fail(device, ok.error());
  if (const auto twice = all.parts & own.parts)
    return fail(device, VK_ERROR_VALIDATION_FAILED_EXT, "pipeline: a library has parts that the create info has too: " + names_of(twice));
  if (Status ok = take_parts(device, in, discards_all(all.info), own); !ok) return fail(device, ok.error(), VK_ERROR_INITIALIZATION_FAILED);
  add_parts(all, own);
  if (is_library(in)) {
    *out = new VkPipeline_T{nullptr, nullptr, {}, {}, {}, {}, std::make_unique<const PipelineParts>(std::move(all))};
    return VK_SUCCESS;
  }
  const bool meshes = std::any_of(all.info.stages.begin(), all.info.stages.end(), [](const ShaderStage& stage) {
    return stage.module && stage.module->reflection().stage == VK_SHADER_STAGE_MESH_BIT_EXT;
  });
  const VkGraphicsPipelineLibraryFlagsEXT needed =
      (discards_all(all.info) ? kVertexInput | kPreRasterization : kAllParts) & (meshes ? ~VkFlags{kVertexInput} : ~VkFlags{0});
  if ((all.parts & needed) != needed)
    return fail(device, VK_ERROR_VALIDATION_FAILED_EXT,
                "pipeline: parts are missing: " + names_of(needed & ~all.parts) + "; give them here or by a library");
  drop_missing_tests(all.info);
  VkShaderStageFlags stages = 0;
  for (const ShaderStage& stage : all.info.stages)
    if (stage.module) stages |= stage.module->reflection().stage;
  if (in.layout) all.info.layout = in.layout->core;
  auto core = device->core->create_pipeline(std::move(all.info));
  if (!core) return fail(device, core.error(), VK_ERROR_INITIALIZATION_FAILED);
  const DynamicStates optional{optional_states(*device, stages).bits & (*core)->dynamic().bits};
  *out = new VkPipeline_T{*core, nullptr, std::move(all.viewports), std::move(all.scissors), all.dynamic_colors, optional};
  return VK_SUCCESS;
}

}  // namespace

VkResult VKAPI_CALL CreateGraphicsPipelines(VkDevice device, VkPipelineCache, uint32_t createInfoCount,
                                            const VkGraphicsPipelineCreateInfo* pCreateInfos, const VkAllocationCallbacks*,
                                            VkPipeline* pPipelines) {
  return create_each(createInfoCount, pCreateInfos, pPipelines, [&](const auto& in, VkPipeline* out) { return create(device, in, out); });
}

void VKAPI_CALL DestroyPipeline(VkDevice device, VkPipeline pipeline, const VkAllocationCallbacks*) { discard(device, pipeline); }

}  // namespace tilegpu::icd
