// icd/pipeline_library.hpp -- VK_EXT_graphics_pipeline_library: parts of graphics pipelines, and pipelines linked of them.
// In: which parts a create info has, libraries. Out: one create info of the core.
// Nothing is compiled before all parts are there: the core compiles while the program goes on, whether a pipeline is linked or made at
// once. Source: Vulkan specification, "Graphics Pipelines" (Generating Complete Graphics Pipelines), "Pipeline Libraries".
#pragma once

#include <string>

#include "icd/objects.hpp"

namespace tilegpu::icd {

inline constexpr VkGraphicsPipelineLibraryFlagsEXT kVertexInput = VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT,
                                                   kPreRasterization = VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT,
                                                   kFragmentShader = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT,
                                                   kFragmentOutput = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT,
                                                   kAllParts = kVertexInput | kPreRasterization | kFragmentShader | kFragmentOutput;

/// Those that the create info has itself: all, but where it is a library or is linked of some.
VkGraphicsPipelineLibraryFlagsEXT own_parts(const VkGraphicsPipelineCreateInfo& info);
bool is_library(const VkGraphicsPipelineCreateInfo& info);
/// For messages.
std::string names_of(VkGraphicsPipelineLibraryFlagsEXT parts);
/// Of the parts, the states that are theirs; what else stands in the list is ignored.
std::vector<VkDynamicState> dynamic_states_of(const VkGraphicsPipelineCreateInfo& info, VkGraphicsPipelineLibraryFlagsEXT parts);
/// Takes what the parts of `from` are into `into`, which has none of them yet.
void add_parts(PipelineParts& into, const PipelineParts& from);
/// The libraries that the create info names. Error: a part comes twice, or something named is no library.
Status add_libraries(const VkGraphicsPipelineCreateInfo& info, PipelineParts& into);

}  // namespace tilegpu::icd
