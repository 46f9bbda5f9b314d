// pipeline/resolve.cpp -- stage: pipeline creation, and the first draw with a state. In: Program, GraphicsState. Out: Resolved, with its
// machine code.
#include "pipeline/resolve.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <vector>

#include "framebuffer/blend_unit.hpp"
#include "pipeline/classify.hpp"
#include "pipeline/create.hpp"
#include "shader/epilogue/keeps_below.hpp"
#include "shader/jit/compile_crew.hpp"
#include "shader/module/faint_sample.hpp"
#include "shader/module/module_record.hpp"

namespace tilegpu::pipeline {

namespace {

shader::VertexKey vertex_key(const Program& program, const GraphicsState& state) {
  const Stage& vertex = *program.find(VK_SHADER_STAGE_VERTEX_BIT);
  assert(vertex.module);
  shader::VertexKey key;
  key.module = vertex.module;
  key.specialization = vertex.specialization;
  key.bindings.assign(state.vertex_bindings.begin(), state.vertex_bindings.end());
  key.attributes.assign(state.vertex_attributes.begin(), state.vertex_attributes.end());
  const bool last = program.before_rasterization().stage == vertex.stage;
  key.varyings = last ? with_captured(program.primitives.of_vertices, program.primitives.captured) : program.primitives.of_vertices;
  key.resources = vertex.resources;
  return key;
}

shader::VertexKey evaluation_key(const Program& program) {
  const Stage& stage = *program.find(VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT);
  shader::VertexKey key;
  key.module = stage.module;
  key.specialization = stage.specialization;
  const bool last = program.before_rasterization().stage == stage.stage;
  key.varyings = last ? with_captured(program.primitives.of_evaluation, program.primitives.captured) : program.primitives.of_evaluation;
  key.resources = stage.resources;
  return key;
}

shader::FragmentKey fragment_key(const Program& program, const Resolved& resolved) {
  const Stage& fragment = *program.fragment();
  shader::FragmentKey key;
  key.module = fragment.module;
  key.specialization = fragment.specialization;
  key.varyings = resolved.varyings;
  key.resources = fragment.resources;
  key.inputs = program.inputs;
  key.samples = resolved.samples;
  key.per_sample = resolved.classification.per_sample;
  key.coarse = resolved.classification.coarse;
  return key;
}

// What needs no code.
std::shared_ptr<Resolved> describe(const Program& program, const GraphicsState& state) {
  auto resolved = std::make_shared<Resolved>();
  resolved->label = program.label;
  if (!program.primitives.meshes) resolved->vertex_input = state.vertex_bindings;
  resolved->depth_format = program.depth_format;
  resolved->samples = static_cast<uint32_t>(state.multisample.samples);
  for (const Stage& stage : program.stages) resolved->stages.add({stage.stage, stage.traits, stage.resources, {}, stage.module});
  resolved->primitives = program.primitives;
  resolved->varyings = with_captured(program.written_by(program.before_rasterization().stage), program.primitives.captured);
  for (const shader::VaryingComponent& c : resolved->varyings.components)
    resolved->has_flat |= c.interpolation == shader::Interpolation::flat;
  resolved->has_own_vertices = resolved->varyings.of_primitive();
  resolved->inputs = program.inputs;
  resolved->written_buffers = program.written_buffers, resolved->written_images = program.written_images;
  resolved->classification = classify(program, state);
  resolved->output.written_targets = written_targets(program, state);
  const auto blends = blend_attachments(program, state);
  for (uint32_t i = 0; i < blends.size() && i < program.color_formats.size(); i++) {
    if (!(resolved->output.written_targets >> i & 1)) continue;
    const VkFormat format = program.color_formats[i];
    const VkLogicOp op = logic_op_of(state.blend, format);
    resolved->blend_shader[i] =
        framebuffer::needs_blend_shader(blends[i], state.blend.logic_op_enable, state.multisample.alpha_to_one, format);
    resolved->blend_operations[i] = framebuffer::blend_operations(blends[i], op, format);
    resolved->blends |= static_cast<uint32_t>(blends[i].blendEnable || op != VK_LOGIC_OP_COPY || resolved->blend_shader[i]) << i;
    resolved->blend_formats[i] = format;
    resolved->blend_constants_asked[i] = framebuffer::blend_constants_asked(blends[i]);
  }
  return resolved;
}

// Where one texture may leave nothing of all that a fragment does: a blend, or whatever its shader or its alpha may end. `epilogue`: null
// where no colour is written.
std::optional<FaintTexture> find_faint_texture(const Stage& fragment, const Resolved& resolved, const shader::EpilogueKey* epilogue,
                                               bool alpha_to_coverage) {
  assert(fragment.module && fragment.stage == VK_SHADER_STAGE_FRAGMENT_BIT);
  const Classification& c = resolved.classification;
  if (!fragment.traits.uses_images || c.side_effects || c.per_sample || c.coarse || c.smooth_alpha) return {};
  const uint32_t decides = epilogue && !c.kills && !alpha_to_coverage ? shader::keeps_targets_below(*epilogue) : 0;
  if (!decides && !fragment.traits.discards && !alpha_to_coverage) return {};
  auto samples = shader::faint_samples(*fragment.module, fragment.specialization);
  if (!samples) return {};
  for (const shader::FaintSample& sample : samples->list) {
    assert(sample.component < 4 && sample.most < 255 && (sample.becomes != shader::Faint::colors || (sample.colors && !sample.most)));
    if (sample.becomes == shader::Faint::colors && (!decides || (decides & ~sample.colors))) continue;
    if (sample.becomes == shader::Faint::no_alpha && !alpha_to_coverage) continue;
    FaintTexture faint;
    faint.component = sample.component, faint.most = sample.most;
    faint.ends = sample.becomes != shader::Faint::colors, faint.neighbours = sample.neighbours;
    bool there = false;
    for (const shader::TextureSlot& slot : fragment.resources.textures)
      if (slot.combined && slot.image_set == sample.set && slot.image_binding == sample.binding && !slot.image.counted)
        there = true, faint.set = slot.image_set, faint.offset_B = slot.image.offset_B;
    for (uint32_t axis = 0; axis < 2 && there; axis++) {
      const int row = resolved.varyings.find(sample.location[axis], sample.word[axis]);
      there = row >= 0;
      if (!there) break;
      const shader::VaryingComponent& varying = resolved.varyings.components[static_cast<size_t>(row)];
      there = varying.interpolation == shader::Interpolation::smooth && !varying.centroid && !varying.sample && !varying.of_primitive();
      faint.rows[axis] = static_cast<uint32_t>(row);
    }
    if (there) return faint;
  }
  return {};
}

template <class T>
void put(std::string& key, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

const shader::StageTraits Resolved::kNoTraits;

std::string resolve_key(const Program& program, const GraphicsState& state) {
  std::string key;
  key.reserve(256);
  put(key, program.id);
  put(key, state.vertex_bindings.size());
  for (const VertexInputBinding& b : state.vertex_bindings)
    put(key, b.binding), put(key, b.stride), put(key, b.inputRate), put(key, b.divisor);
  put(key, state.vertex_attributes.size());
  for (const VkVertexInputAttributeDescription& a : state.vertex_attributes)
    put(key, a.location), put(key, a.binding), put(key, a.format), put(key, a.offset);
  const MultisampleState& m = state.multisample;
  const bool shades_samples = m.sample_shading && m.min_sample_shading > 0;
  const DepthStencilState& ds = state.depth_stencil;
  const uint32_t flags = static_cast<uint32_t>(m.alpha_to_coverage) | m.alpha_to_one << 1 | shades_samples << 2 |
                         (ds.depth_test && ds.depth_write) << 3 | writes_stencil(ds) << 4 | state.blend.logic_op_enable << 5 |
                         smooth_lines(program, state) << 6 | (m.alpha_to_coverage && state.rasterization.rasterizer_discard) << 7 |
                         shades_coarsely(program, state) << 8;
  put(key, static_cast<uint32_t>(m.samples));
  put(key, flags);
  put(key, static_cast<uint32_t>(state.blend.logic_op_enable ? state.blend.logic_op : VK_LOGIC_OP_COPY));
  for (const VkPipelineColorBlendAttachmentState& a : blend_attachments(program, state)) put(key, a);
  for (const AdvancedBlend& a : advanced_blends(program, state))
    put(key, static_cast<uint8_t>(a.src_premultiplied | a.dst_premultiplied << 1 | a.clamp_results << 2 | a.overlap << 3));
  return key;
}

Status position_shader(shader::Jit& jit, const Resolved& resolved) {
  const PositionShader& position = resolved.position;
  if (position.code) return Ok{};
  assert(position.key.module && position.key.position_only);
  auto code = shader::compile_vertex(jit, position.key);  // one compile for threads that ask at once
  if (!code) return Error{code.error().code, "pipeline '" + resolved.label + "': vertex shader, positions only: " + code.error().message};
  assert(code->identity() == position.code.identity());
  return Ok{};
}

Expected<Ptr<const Resolved>> resolve(shader::Jit& jit, const Ptr<const Program>& program_, const GraphicsState& state, uint32_t threads) {
  assert(program_ && threads > 0);
  const Program& program = *program_;
  if (Status ok = check_state(program, state); !ok) return ok.error();
  const std::string who = "pipeline '" + program.label + "': ";
  const bool alpha_to_coverage = alpha_covers(program, state.multisample);
  auto resolved = describe(program, state);
  const Classification& c = resolved->classification;

  // The longest first: the body of the fragment shader takes about half of the time.
  std::vector<std::function<Status()>> compiles;
  std::vector<std::function<void()>> begun;
  const auto add = [&](auto& slot, const char* what, auto compile) {
    begun.push_back([&slot, what, &coming = resolved->coming] { coming.add(slot, what); });
    compiles.push_back([&slot, &who, what, compile]() -> Status {
      auto code = compile();
      if (!code) return Error{code.error().code, who + what + ": " + code.error().message};
      slot = code->template as<typename std::decay_t<decltype(slot)>::Function>();
      return Ok{};
    });
  };
  shader::FragmentKey fragment, slice;
  shader::EpilogueKey epilogue;
  FragmentOutput& output = resolved->output;
  ResolvedStage* const shading = resolved->stages.find(VK_SHADER_STAGE_FRAGMENT_BIT);
  if (shading) {
    fragment = fragment_key(program, *resolved);
    add(shading->code, "fragment shader", [&] { return shader::compile_fragment(jit, fragment, shader::When::later); });
    if (c.needs_slice && !c.coarse) {
      slice = fragment;
      slice.coverage_only = true;
      slice.coverage_needs_alpha = alpha_to_coverage;
      add(output.slice, "fragment shader", [&] { return shader::compile_fragment(jit, slice, shader::When::later); });
    }
  }
  shader::VertexKey vertex;
  if (program.find(VK_SHADER_STAGE_VERTEX_BIT)) {
    vertex = vertex_key(program, state);
    add(resolved->stages.find(VK_SHADER_STAGE_VERTEX_BIT)->code, "vertex shader",
        [&] { return shader::compile_vertex(jit, vertex, shader::When::later); });
  }
  shader::VertexKey evaluation;
  shader::ComputeKey control;
  shader::GeometryKey geometry;
  if (const Stage* stage = program.find(VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT)) {
    control = {stage->module, stage->specialization, stage->resources};
    add(resolved->stages.find(stage->stage)->code, "tessellation control shader",
        [&, stage] { return shader::compile_compute(jit, control, stage->traits, shader::When::later); });
    evaluation = evaluation_key(program);
    add(resolved->stages.find(VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT)->code, "tessellation evaluation shader",
        [&] { return shader::compile_vertex(jit, evaluation, shader::When::later); });
  }
  if (const Stage* stage = program.find(VK_SHADER_STAGE_GEOMETRY_BIT)) {
    geometry = {stage->module, stage->specialization, program.primitives.emits, stage->resources};
    add(resolved->stages.find(stage->stage)->code, "geometry shader",
        [&] { return shader::compile_geometry(jit, geometry, shader::When::later); });
  }
  std::array<shader::ComputeKey, 2> workgroups;
  for (size_t k = 0; k < workgroups.size(); k++) {
    const Stage* stage = program.find(k ? VK_SHADER_STAGE_MESH_BIT_EXT : VK_SHADER_STAGE_TASK_BIT_EXT);
    if (!stage) continue;
    workgroups[k] = {stage->module, stage->specialization, stage->resources};
    add(resolved->stages.find(stage->stage)->code, k ? "mesh shader" : "task shader",
        [&, stage, k] { return shader::compile_compute(jit, workgroups[k], stage->traits, shader::When::later); });
  }
  resolved->lanes = jit.lanes();
  if (vertex.module) {
    resolved->position.key = vertex;
    resolved->position.key.position_only = true;
    resolved->position.code = shader::reserve_vertex(jit, resolved->position.key);
  }
  if (shading && c.writes_color) {
    epilogue = epilogue_key(program, state, c);
    add(output.epilogue, "epilogue", [&] { return shader::compile_epilogue(jit, epilogue, shader::When::later); });
    if (!alpha_to_coverage && !c.coarse && shader::suits_blocks(fragment, shading->traits))
      add(output.blocks, "fragment shader and epilogue",
          [&] { return shader::compile_blocks(jit, fragment, shading->traits, epilogue, shader::When::later); });
    if (!alpha_to_coverage && !c.coarse && shader::suits_pixels(jit, fragment, shading->traits, epilogue))
      output.pixels = shader::offer_pixels(jit, fragment, epilogue);
  }
  if (shading)
    resolved->faint = find_faint_texture(*program.fragment(), *resolved, c.writes_color ? &epilogue : nullptr, alpha_to_coverage);
  if (Status ok = shader::run_compiles(threads, compiles); !ok) return ok.error();
  for (const Stage& stage : program.stages) shader::keep_record(jit, *stage.module);

  if (shading) {
    // A fragment shader without any effect need not run.
    const auto& t = shading->traits;
    if (!c.writes_color && !c.side_effects && !c.late_test && !t.discards && !t.writes_sample_mask && !alpha_to_coverage)
      shading->code = nullptr;
  }
  resolved->coming.label = program.label;
  for (const auto& note : begun) note();
  return Ptr<const Resolved>(std::move(resolved));
}

}  // namespace tilegpu::pipeline
