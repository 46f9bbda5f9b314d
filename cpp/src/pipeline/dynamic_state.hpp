// pipeline/dynamic_state.hpp -- which state a pipeline fixes, which the command buffer sets, and which of it decides about code.
//
// In: VkDynamicState. Out: masks; one state's fields copied from one GraphicsState to another. Source: Vulkan specification, "Dynamic
// State", and the valid usage of vkCmdDraw (VUID-vkCmdDraw-None-07831 and those that follow it).
#pragma once

#include "pipeline/primitive_stages.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::pipeline {

/// The list as a mask, or an Error that names what is unknown, or not there yet.
Expected<DynamicStates> dynamic_states(const std::vector<VkDynamicState>& states);

/// Set by command buffers whether a pipeline lists them or not.
DynamicStates always_settable();
/// What code, or the classification of draws, depends on: a change makes another Resolved.
DynamicStates resolving_states();
/// Of what stands before mesh shaders: pipelines with one neither fix it nor read it.
DynamicStates ignored_by_meshes();
/// Of the dynamic ones, those that a draw with this state reads.
/// `stages`: what makes the primitives. Mesh shaders ask for nothing of what is before them. `reads_front_facing`: the fragment shader.
DynamicStates needed_states(const GraphicsState& state, DynamicStates dynamic, const PrimitiveStages& stages, bool reads_front_facing);

/// Lines are what is rasterized, by topology, by the stages before, or by the polygon mode.
bool draws_lines(const FixedFunctionState& state, uint32_t made_vertices);

/// The fields of one state.
void copy_state(DynamicState which, const GraphicsState& from, GraphicsState& to);

/// "VK_DYNAMIC_STATE_CULL_MODE, ..." of a mask.
std::string names_of(DynamicStates states);

}  // namespace tilegpu::pipeline
