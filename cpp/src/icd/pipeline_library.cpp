// icd/pipeline_library.cpp -- see pipeline_library.hpp. In: parts. Out: their sum.
#include "icd/pipeline_library.hpp"

#include <algorithm>
#include <cassert>

#include "icd/shader_stage.hpp"

namespace tilegpu::icd {
namespace {

constexpr VkGraphicsPipelineLibraryFlagsEXT kBothFragments = kFragmentShader | kFragmentOutput;

/// Whose a state is; what is not in the list is of the stages before the rasterizer.
constexpr std::pair<VkDynamicState, VkGraphicsPipelineLibraryFlagsEXT> kOwners[] = {
    {VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY, kVertexInput},
    {VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE, kVertexInput},
    {VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE, kVertexInput},
    {VK_DYNAMIC_STATE_VERTEX_INPUT_EXT, kVertexInput},
    {VK_DYNAMIC_STATE_DEPTH_BOUNDS, kFragmentShader},
    {VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK, kFragmentShader},
    {VK_DYNAMIC_STATE_STENCIL_WRITE_MASK, kFragmentShader},
    {VK_DYNAMIC_STATE_STENCIL_REFERENCE, kFragmentShader},
    {VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE, kFragmentShader},
    {VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE, kFragmentShader},
    {VK_DYNAMIC_STATE_DEPTH_COMPARE_OP, kFragmentShader},
    {VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE, kFragmentShader},
    {VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE, kFragmentShader},
    {VK_DYNAMIC_STATE_STENCIL_OP, kFragmentShader},
    // The state of samples is given with both.
    {VK_DYNAMIC_STATE_RASTERIZATION_SAMPLES_EXT, kBothFragments},
    {VK_DYNAMIC_STATE_SAMPLE_MASK_EXT, kBothFragments},
    {VK_DYNAMIC_STATE_ALPHA_TO_COVERAGE_ENABLE_EXT, kBothFragments},
    {VK_DYNAMIC_STATE_ALPHA_TO_ONE_ENABLE_EXT, kBothFragments},
    {VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_EXT, kBothFragments},
    {VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_ENABLE_EXT, kBothFragments},
    {VK_DYNAMIC_STATE_BLEND_CONSTANTS, kFragmentOutput},
    {VK_DYNAMIC_STATE_LOGIC_OP_EXT, kFragmentOutput},
    {VK_DYNAMIC_STATE_LOGIC_OP_ENABLE_EXT, kFragmentOutput},
    {VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT, kFragmentOutput},
    {VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT, kFragmentOutput},
    {VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT, kFragmentOutput},
    {VK_DYNAMIC_STATE_COLOR_BLEND_ADVANCED_EXT, kFragmentOutput},
    {VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT, kFragmentOutput},
};

VkGraphicsPipelineLibraryFlagsEXT owners_of(VkDynamicState state) {
  for (const auto& [of, owners] : kOwners)
    if (of == state) return owners;
  return kPreRasterization;
}

/// Layouts that leave out sets of each other (INDEPENDENT_SETS) make one.
Ptr<const tilegpu::PipelineLayout> sum(const Ptr<const tilegpu::PipelineLayout>& a, const Ptr<const tilegpu::PipelineLayout>& b) {
  if (!a || !b || a == b) return a ? a : b;
  assert(a->sets.size() <= kMaxDescriptorSets && b->sets.size() <= kMaxDescriptorSets);
  auto both = std::make_shared<tilegpu::PipelineLayout>(*a);
  both->push_constants_B = std::max(a->push_constants_B, b->push_constants_B);
  if (both->sets.size() < b->sets.size()) both->sets.resize(b->sets.size());
  for (size_t i = 0; i < b->sets.size(); ++i)
    if (!both->sets[i]) both->sets[i] = b->sets[i];
  return both;
}

void add_vertex_input(GraphicsPipelineCreateInfo& into, const GraphicsPipelineCreateInfo& from) {
  into.vertex_bindings = from.vertex_bindings, into.vertex_attributes = from.vertex_attributes;
  into.topology = from.topology, into.primitive_restart = from.primitive_restart;
}

void add_pre_rasterization(GraphicsPipelineCreateInfo& into, const GraphicsPipelineCreateInfo& from) {
  into.patch_control_points = from.patch_control_points, into.domain_origin = from.domain_origin;
  into.rasterization = from.rasterization;
  into.shading_rate = from.shading_rate;
  into.discard_rectangles = from.discard_rectangles;
}

void add_fragment_shader(GraphicsPipelineCreateInfo& into, const GraphicsPipelineCreateInfo& from) {
  into.depth_stencil = from.depth_stencil;
  const FragmentShadingRateState& rate = from.shading_rate;
  constexpr auto kKeep = VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR;
  if (rate.width_px * rate.height_px > 1 || rate.combiner_ops[0] != kKeep || rate.combiner_ops[1] != kKeep) into.shading_rate = rate;
  into.input_attachments = from.input_attachments;
}

void add_fragment_output(GraphicsPipelineCreateInfo& into, const GraphicsPipelineCreateInfo& from) {
  assert(into.color_formats.empty());
  into.blend = from.blend, into.blend_constants = from.blend_constants;
  into.color_formats = from.color_formats;
  into.depth_format = from.depth_format, into.stencil_format = from.stencil_format;
  into.attachment_locations = from.attachment_locations;
}

// Given with both parts of fragments: the output's holds where there is one. Either may ask for sample shading.
void add_samples(PipelineParts& into, const PipelineParts& from) {
  const MultisampleState &a = into.info.multisample, &b = from.info.multisample;
  MultisampleState sum = from.parts & kFragmentOutput || !(into.parts & kFragmentOutput) ? b : a;
  sum.sample_shading = a.sample_shading || b.sample_shading;
  const float least_a = a.sample_shading ? a.min_sample_shading : 0, least_b = b.sample_shading ? b.min_sample_shading : 0;
  if (sum.sample_shading) sum.min_sample_shading = std::max(least_a, least_b);
  into.info.multisample = sum;
}

}  // namespace

std::string names_of(VkGraphicsPipelineLibraryFlagsEXT parts) {
  constexpr std::pair<VkGraphicsPipelineLibraryFlagsEXT, const char*> kNames[] = {{kVertexInput, "VERTEX_INPUT_INTERFACE"},
                                                                                  {kPreRasterization, "PRE_RASTERIZATION_SHADERS"},
                                                                                  {kFragmentShader, "FRAGMENT_SHADER"},
                                                                                  {kFragmentOutput, "FRAGMENT_OUTPUT_INTERFACE"}};
  std::string text;
  for (const auto& [part, name] : kNames)
    if (parts & part) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

bool is_library(const VkGraphicsPipelineCreateInfo& info) { return flags_of(info) & VK_PIPELINE_CREATE_2_LIBRARY_BIT_KHR; }

VkGraphicsPipelineLibraryFlagsEXT own_parts(const VkGraphicsPipelineCreateInfo& info) {
  using Parts = VkGraphicsPipelineLibraryCreateInfoEXT;
  const auto* parts = find_next<Parts>(info.pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
  if (parts) return parts->flags;
  const auto* libraries = find_next<VkPipelineLibraryCreateInfoKHR>(info.pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
  return is_library(info) || (libraries && libraries->libraryCount) ? 0 : kAllParts;
}

std::vector<VkDynamicState> dynamic_states_of(const VkGraphicsPipelineCreateInfo& info, VkGraphicsPipelineLibraryFlagsEXT parts) {
  std::vector<VkDynamicState> states;
  for (uint32_t i = 0; info.pDynamicState && i < info.pDynamicState->dynamicStateCount; ++i) {
    const VkDynamicState state = given(info.pDynamicState->pDynamicStates[i]);
    if (state == VK_DYNAMIC_STATE_ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT) continue;  // of all parts, and beside the core's states
    if (owners_of(state) & parts) states.push_back(state);
  }
  return states;
}

void add_parts(PipelineParts& into, const PipelineParts& from) {
  assert((into.parts & from.parts) == 0);
  GraphicsPipelineCreateInfo& to = into.info;
  if (from.parts & kVertexInput) add_vertex_input(to, from.info);
  if (from.parts & kPreRasterization) {
    add_pre_rasterization(to, from.info);
    into.viewports = from.viewports, into.scissors = from.scissors;
  }
  if (from.parts & kFragmentShader) add_fragment_shader(to, from.info);
  if (from.parts & kFragmentOutput) add_fragment_output(to, from.info);
  if (from.parts & kBothFragments) {
    add_samples(into, from);
    to.untested_aspects |= from.info.untested_aspects;
  }
  to.stages.insert(to.stages.end(), from.info.stages.begin(), from.info.stages.end());
  for (const VkDynamicState state : from.info.dynamic_states)
    if (std::find(to.dynamic_states.begin(), to.dynamic_states.end(), state) == to.dynamic_states.end()) to.dynamic_states.push_back(state);
  to.layout = sum(to.layout, from.info.layout);
  to.feedback_loops |= from.info.feedback_loops;
  to.feedback_loop_dynamic = to.feedback_loop_dynamic || from.info.feedback_loop_dynamic;
  into.dynamic_colors.bits |= from.dynamic_colors.bits;
  into.parts |= from.parts;
}

Status add_libraries(const VkGraphicsPipelineCreateInfo& info, PipelineParts& into) {
  const auto* libraries = find_next<VkPipelineLibraryCreateInfoKHR>(info.pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
  assert(into.parts == 0);
  for (uint32_t i = 0; libraries && i < libraries->libraryCount; ++i) {
    const VkPipeline library = libraries->pLibraries[i];
    const auto wrong = [&](const std::string& what) {
      return Error{VK_ERROR_VALIDATION_FAILED_EXT, "pipeline: pLibraries[" + std::to_string(i) + "] " + what};
    };
    if (!library || !library->library) return wrong("is no pipeline library; create it with VK_PIPELINE_CREATE_LIBRARY_BIT_KHR");
    if (const auto twice = into.parts & library->library->parts)
      return wrong("has parts that a library before it has too: " + names_of(twice));
    add_parts(into, *library->library);
  }
  return Ok{};
}

}  // namespace tilegpu::icd
