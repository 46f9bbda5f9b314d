// shader/lower/stage_modes.hpp -- what a stage before the rasterizer says of primitives: how many vertices come and go, how patches are
// cut, what transform feedback captures.
//
// In: a specialised Module. Out: PrimitiveModes, TransformFeedback. Source: SPIR-V specification 1.6, "Execution Mode", "Decoration"
// (Stream, XfbBuffer, XfbStride, Offset); Vulkan specification, "Tessellation", "Geometry Shading", "Transform Feedback".
#pragma once

#include "shader/compiler.hpp"
#include "shader/spirv/interface.hpp"

namespace tilegpu::shader {

PrimitiveModes primitive_modes(const Module& module);
Status check_modes(const Module& module, const PrimitiveModes& modes);
/// Arrays of vertices have as many as the modes say.
Status check_lengths(const Module& module, const Constants& constants, const PrimitiveModes& modes);
/// Of inputs of several vertices or of a patch; of what a control shader leaves.
InterfaceMemory input_memory(const Module& module, const Constants& constants);
InterfaceMemory output_memory(const Module& module, const Constants& constants);
/// Nothing where the entry point has no mode Xfb.
Expected<TransformFeedback> transform_feedback_of(const Module& module, const Constants& constants);

}  // namespace tilegpu::shader
