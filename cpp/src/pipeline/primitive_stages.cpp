// pipeline/primitive_stages.cpp -- see primitive_stages.hpp.
#include "pipeline/primitive_stages.hpp"

#include <algorithm>
#include <cassert>

#include "pipeline/program.hpp"

namespace tilegpu::pipeline {

namespace {

using shader::InterfaceWord;
using shader::VaryingComponent;
using shader::VaryingLayout;
using Modes = shader::PrimitiveModes;

void add(VaryingLayout& layout, uint32_t location, uint32_t component) {
  if (layout.find(location, component) >= 0) return;
  VaryingComponent c;
  c.location = static_cast<uint8_t>(location), c.component = static_cast<uint8_t>(component);
  layout.components.push_back(c);
}

/// Rows that are words of vertices: what is of a patch travels otherwise.
VaryingLayout of_vertices(const VaryingLayout& layout) {
  VaryingLayout out;
  for (const VaryingComponent& c : layout.components)
    if (!c.patch) out.components.push_back(c);
  return out;
}

std::vector<RowWord> copies(const VaryingLayout& rows, const shader::InterfaceMemory& memory) {
  std::vector<RowWord> out;
  for (const InterfaceWord& word : memory.words) {
    const int row = word.patch ? -1 : rows.find(word.location, word.component);
    if (row >= 0) out.push_back({static_cast<uint32_t>(row), word});
  }
  return out;
}

Error wrong(const std::string& text) { return {VK_ERROR_INITIALIZATION_FAILED, text}; }

/// Each mode stands in one of the two shaders, or in both alike.
Status merge_modes(const Modes& control, const Modes& evaluation, Modes& out) {
  const auto one = [](auto a, auto b, auto none) { return a == none ? b : a; };
  const bool same =
      (control.domain == Modes::Domain::none || evaluation.domain == Modes::Domain::none || control.domain == evaluation.domain) &&
      (control.spacing == Modes::Spacing::none || evaluation.spacing == Modes::Spacing::none || control.spacing == evaluation.spacing) &&
      (control.order == Modes::Order::none || evaluation.order == Modes::Order::none || control.order == evaluation.order);
  if (!same) return wrong("the tessellation control and evaluation shaders name different domains, spacings or vertex orders");
  out = evaluation;
  out.domain = one(evaluation.domain, control.domain, Modes::Domain::none);
  out.spacing = one(one(evaluation.spacing, control.spacing, Modes::Spacing::none), Modes::Spacing::equal, Modes::Spacing::none);
  out.order = one(one(evaluation.order, control.order, Modes::Order::none), Modes::Order::counter_clockwise, Modes::Order::none);
  out.point_mode = evaluation.point_mode || control.point_mode;
  out.output_vertices = control.output_vertices;
  if (out.domain == Modes::Domain::none)
    return wrong("neither tessellation shader names a domain; the evaluation shader says layout(triangles), (quads) or (isolines) in;");
  out.made_vertices = out.point_mode ? 1 : out.domain == Modes::Domain::isolines ? 2 : 3;
  return Ok{};
}

Status add_tessellation(const Program& program, const Stage& control, const Stage& evaluation, PrimitiveStages& out) {
  out.tessellates = true;
  if (Status ok = merge_modes(control.traits.modes, evaluation.traits.modes, out.modes); !ok) return ok;
  out.control_memory = control.traits.reads, out.evaluation_memory = evaluation.traits.reads;
  out.control_outputs_B = control.traits.leaves.size_B;
  out.control_inputs = copies(out.of_vertices, out.control_memory);
  for (const InterfaceWord& to : out.evaluation_memory.words)
    for (const InterfaceWord& from : control.traits.leaves.words)
      if (from.location == to.location && from.component == to.component && from.patch == to.patch) {
        out.evaluation_inputs.push_back({from, to});
        break;
      }
  for (const InterfaceWord& word : control.traits.leaves.words) {
    if (word.location == shader::kOuterLevelLocation && word.component < 4)
      out.level_offset_B[word.component] = static_cast<int32_t>(word.offset_B);
    if (word.location == shader::kInnerLevelLocation && word.component < 2)
      out.level_offset_B[4 + word.component] = static_cast<int32_t>(word.offset_B);
  }
  out.of_evaluation = of_vertices(program.written_by(evaluation.stage));
  return Ok{};
}

Status add_geometry(const Program& program, const Stage& stage, PrimitiveStages& out) {
  const shader::StageTraits& traits = stage.traits;
  out.makes_primitives = true;
  out.geometry = traits.modes;
  out.geometry_memory = traits.reads;
  const uint32_t incoming = out.tessellates ? out.modes.made_vertices : 0;
  if (incoming && incoming != traits.modes.input_vertices)
    return wrong("the geometry shader takes primitives of " + std::to_string(traits.modes.input_vertices) +
                 " vertices; tessellation makes some of " + std::to_string(incoming));
  const Stage* fragment = program.fragment();
  if (fragment && fragment->traits.reads_primitive_id && !traits.writes_primitive_id)
    return wrong("the fragment shader reads gl_PrimitiveID, which the geometry shader does not write");
  out.geometry_inputs = copies(out.tessellates ? out.of_evaluation : out.of_vertices, out.geometry_memory);
  out.emits = with_captured(of_vertices(program.written_by(stage.stage)), traits.transform_feedback);
  for (uint32_t c = 0; c < 4; ++c) add(out.emits, shader::kPositionLocation, c);
  for (uint32_t c = 0; c < traits.clip_distances; ++c) add(out.emits, shader::kClipDistanceLocation, c);
  for (uint32_t c = 0; c < traits.cull_distances; ++c) add(out.emits, shader::kCullDistanceLocation, c);
  if (traits.writes_layer) add(out.emits, shader::kLayerLocation, 0);
  if (traits.writes_viewport_index) add(out.emits, shader::kViewportLocation, 0);
  if (traits.writes_shading_rate) add(out.emits, shader::kShadingRateLocation, 0);
  if (traits.writes_point_size) add(out.emits, shader::kPointSizeLocation, 0);
  if (traits.writes_primitive_id) add(out.emits, shader::kPrimitiveIdLocation, 0);
  const auto emitted =
      std::count_if(out.emits.components.begin(), out.emits.components.end(), [](const auto& c) { return !c.of_primitive(); });
  const uint64_t components = traits.modes.output_vertices * static_cast<uint64_t>(emitted);
  constexpr uint32_t kOwn = 16;  // position, distances and what chooses a place, of each vertex
  if (components > kMaxEmittedComponents + uint64_t{kOwn} * traits.modes.output_vertices)
    return wrong("the geometry shader emits up to " + std::to_string(traits.modes.output_vertices) + " vertices of " +
                 std::to_string(emitted) + " components; at most " + std::to_string(kMaxEmittedComponents) + " are allowed in all");
  return Ok{};
}

Status add_mesh(const Program& program, const Stage& stage, PrimitiveStages& out) {
  const shader::StageTraits& traits = stage.traits;
  assert(traits.modes.made_vertices >= 1 && traits.modes.made_vertices <= 3);  // analyze() refuses others
  assert(traits.modes.output_vertices <= kMaxMeshVertices && traits.modes.output_primitives <= kMaxMeshPrimitives);
  out.meshes = true;
  out.mesh = traits.modes, out.mesh_made = traits.leaves;
  const Stage* fragment = program.fragment();
  if (fragment && fragment->traits.reads_primitive_id && !traits.writes_primitive_id)
    return wrong("the fragment shader reads gl_PrimitiveID, which the mesh shader does not write");
  const VaryingLayout& rows = program.written_by(stage.stage);
  for (const InterfaceWord& word : out.mesh_made.words) {
    const int row = rows.find(word.location, word.component);
    if (row >= 0) out.mesh_rows.push_back({word, static_cast<uint32_t>(row)});
    out.mesh_of_primitives |=
        word.primitive && word.location != shader::kPrimitiveIndicesLocation && word.location != shader::kCullPrimitiveLocation;
  }
  return Ok{};
}

}  // namespace

uint32_t PrimitiveStages::made_vertices() const {
  if (meshes) return mesh.made_vertices;
  if (makes_primitives) return geometry.made_vertices;
  return tessellates ? modes.made_vertices : 0;
}

shader::VaryingLayout with_captured(shader::VaryingLayout layout, const shader::TransformFeedback& captured) {
  for (const shader::CapturedWord& word : captured.words) add(layout, word.location, word.component);
  return layout;
}

Expected<PrimitiveStages> primitive_stages(const Program& program) {
  PrimitiveStages out;
  if (const Stage* mesh = program.find(VK_SHADER_STAGE_MESH_BIT_EXT)) {
    if (Status ok = add_mesh(program, *mesh, out); !ok) return ok.error();
    return out;
  }
  const Stage* vertex = program.find(VK_SHADER_STAGE_VERTEX_BIT);
  const Stage* control = program.find(VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT);
  const Stage* evaluation = program.find(VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT);
  const Stage* geometry = program.find(VK_SHADER_STAGE_GEOMETRY_BIT);
  assert(vertex);
  if (!control != !evaluation)
    return wrong(std::string("a tessellation ") + (control ? "control" : "evaluation") + " shader without a tessellation " +
                 (control ? "evaluation" : "control") + " shader; give both");
  out.captured = program.before_rasterization().traits.transform_feedback;
  out.of_vertices = of_vertices(program.written_by(vertex->stage));
  if (control)
    if (Status ok = add_tessellation(program, *control, *evaluation, out); !ok) return ok.error();
  if (geometry)
    if (Status ok = add_geometry(program, *geometry, out); !ok) return ok.error();
  const VaryingLayout rows =
      geometry ? out.emits : with_captured(of_vertices(program.written_by(program.before_rasterization().stage)), out.captured);
  for (const shader::CapturedWord& word : out.captured.words) {
    const int row = rows.find(word.location, word.component);
    assert(row >= 0);
    out.captured_rows[word.stream].push_back(static_cast<uint32_t>(row));
  }
  return out;
}

}  // namespace tilegpu::pipeline
