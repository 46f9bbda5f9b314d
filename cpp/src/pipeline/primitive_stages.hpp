// pipeline/primitive_stages.hpp -- what lies between the vertex shader and the rasterizer: tessellation, geometry shader, transform
// feedback; or in place of all of it: task and mesh shaders.
//
// In: a program. Out: the words that each stage hands to the next, and where both keep them. Source: Vulkan specification, "Tessellation",
// "Geometry Shading", "Mesh Shading", "Transform Feedback", "Interface Matching".
#pragma once

#include "shader/compiler.hpp"

namespace tilegpu::pipeline {

struct Program;

/// From a row of a stage's varyings to the memory of the next.
struct RowWord {
  uint32_t row = 0;
  shader::InterfaceWord to;
};
/// From a control shader's outputs to an evaluation shader's inputs.
struct PatchWord {
  shader::InterfaceWord from, to;
};

/// From a mesh shader's outputs to a row of the rasterizer's.
struct MadeWord {
  shader::InterfaceWord from;
  uint32_t row = 0;
};

struct PrimitiveStages {
  bool tessellates = false, makes_primitives = false;  // has control and evaluation shaders; a geometry shader
  bool meshes = false;                                 // has a mesh shader, perhaps a task shader, and none of all others
  shader::PrimitiveModes modes;                        // of tessellation: both shaders', and the patch's vertices that come out
  shader::PrimitiveModes geometry;                     // of the geometry shader
  shader::VaryingLayout of_vertices;                   // rows that the vertex shader writes
  shader::VaryingLayout of_evaluation;                 // rows that the evaluation shader writes
  shader::VaryingLayout emits;                         // words of a vertex that the geometry shader emits: the rasterizer's rows come first
  std::vector<RowWord> control_inputs, geometry_inputs;
  std::vector<PatchWord> evaluation_inputs;
  shader::InterfaceMemory control_memory, evaluation_memory, geometry_memory;
  uint32_t control_outputs_B = 0;
  std::array<int32_t, 6> level_offset_B = {-1, -1, -1, -1, -1, -1};  // outer, inner, in the control shader's memory; -1: not written
  shader::TransformFeedback captured;                                // of the last stage
  std::array<std::vector<uint32_t>, kMaxStreams> captured_rows;      // by stream: of `captured.words`, in the last stage's rows

  shader::PrimitiveModes mesh;        // of the mesh shader
  shader::InterfaceMemory mesh_made;  // words that it leaves of each vertex and of each primitive
  std::vector<MadeWord> mesh_rows;    // those of them that the fragment shader reads
  bool mesh_of_primitives = false;    // some word but the indices and what is culled is a primitive's

  bool any() const { return tessellates || makes_primitives || meshes; }
  /// Vertices of a primitive that goes in; 0: the state's topology says so.
  uint32_t made_vertices() const;
};

/// Modes and interfaces must match (make_program has connected the stages).
Expected<PrimitiveStages> primitive_stages(const Program& program);

/// With what transform feedback captures behind what the next stage reads.
shader::VaryingLayout with_captured(shader::VaryingLayout layout, const shader::TransformFeedback& captured);

}  // namespace tilegpu::pipeline
