// pipeline/pipeline.cpp -- stage: pipeline creation. In: GraphicsPipelineCreateInfo. Out: a Pipeline with its machine code.
#include <map>
#include <mutex>

#include "pipeline/classify.hpp"
#include "pipeline/create.hpp"
#include "pipeline/input_attachments.hpp"
#include "shader/jit.hpp"

namespace tilegpu {

Pipeline::Pipeline(GraphicsPipelineCreateInfo info, std::unique_ptr<pipeline::Compiled> compiled)
    : info_(std::move(info)), compiled_(std::move(compiled)) {}
Pipeline::~Pipeline() = default;

}  // namespace tilegpu

namespace tilegpu::pipeline {

namespace {

// Quads of pipelines with the same code may share a packet; the number is an identity, nothing depends on its value.
uint64_t shader_identity(shader::FragmentFunction body, shader::FragmentFunction epilogue) {
  static std::mutex mutex;
  static std::map<std::pair<shader::FragmentFunction, shader::FragmentFunction>, uint64_t> identities;
  std::lock_guard lock(mutex);
  return identities.try_emplace({body, epilogue}, identities.size() + 1).first->second;
}

}  // namespace

Expected<Ptr<Pipeline>> create_pipeline(shader::Jit& jit, GraphicsPipelineCreateInfo info) {
  if (Status ok = validate(info); !ok) return ok.error();
  auto compiled = std::make_unique<Compiled>();
  compiled->samples = static_cast<uint32_t>(info.multisample.samples);
  const std::string who = "pipeline '" + info.label + "': ";

  auto vertex_traits = shader::analyze(*info.vertex.module, info.vertex.specialization);
  if (!vertex_traits) return Error{vertex_traits.error().code, who + vertex_traits.error().message};
  compiled->vertex_traits = *vertex_traits;
  if (info.fragment.module) {
    auto traits = shader::analyze(*info.fragment.module, info.fragment.specialization);
    if (!traits) return Error{traits.error().code, who + traits.error().message};
    compiled->fragment_traits = *traits;
    auto varyings = shader::varying_layout(*info.fragment.module, info.fragment.specialization);
    if (!varyings) return Error{varyings.error().code, who + varyings.error().message};
    compiled->varyings = *varyings;
  }
  auto resources = shader::resource_table(*info.vertex.module, info.fragment.module.get());
  if (!resources) return Error{resources.error().code, who + resources.error().message};
  compiled->resources = *resources;
  auto inputs = input_sources(info, compiled->fragment_traits);
  if (!inputs) return Error{inputs.error().code, who + inputs.error().message};
  compiled->inputs = std::move(*inputs);
  compiled->classification = classify(info, compiled->fragment_traits, compiled->inputs);

  compiled->written_targets = written_targets(info, compiled->fragment_traits);

  shader::VertexKey vertex;
  vertex.module = info.vertex.module.get();
  vertex.specialization = info.vertex.specialization;
  vertex.bindings = info.vertex_bindings;
  vertex.attributes = info.vertex_attributes;
  vertex.varyings = compiled->varyings;
  vertex.resources = compiled->resources;
  auto vertex_code = shader::compile_vertex(jit, vertex);
  if (!vertex_code) return Error{vertex_code.error().code, who + "vertex shader: " + vertex_code.error().message};
  compiled->vertex = *vertex_code;

  if (info.fragment.module) {
    shader::FragmentKey fragment;
    fragment.module = info.fragment.module.get();
    fragment.specialization = info.fragment.specialization;
    fragment.varyings = compiled->varyings;
    fragment.resources = compiled->resources;
    fragment.inputs = compiled->inputs;
    fragment.samples = compiled->samples;
    fragment.per_sample = compiled->classification.per_sample;
    auto code = shader::compile_fragment(jit, fragment);
    if (!code) return Error{code.error().code, who + "fragment shader: " + code.error().message};
    compiled->fragment = *code;
    if (compiled->classification.needs_slice) {
      fragment.coverage_only = true;
      fragment.coverage_needs_alpha = info.multisample.alpha_to_coverage;
      auto slice = shader::compile_fragment(jit, fragment);
      if (!slice) return Error{slice.error().code, who + "fragment shader: " + slice.error().message};
      compiled->slice = *slice;
    }
    if (compiled->classification.writes_color) {
      auto epilogue = shader::compile_epilogue(jit, epilogue_key(info, compiled->fragment_traits, compiled->classification));
      if (!epilogue) return Error{epilogue.error().code, who + "epilogue: " + epilogue.error().message};
      compiled->epilogue = *epilogue;
    }
    // A fragment shader without any effect need not run.
    const auto& c = compiled->classification;
    const auto& t = compiled->fragment_traits;
    if (!c.writes_color && !c.side_effects && !c.late_test && !t.discards && !t.writes_sample_mask && !info.multisample.alpha_to_coverage)
      compiled->fragment = nullptr;
  }
  compiled->shader_id = shader_identity(compiled->fragment, compiled->epilogue);
  return std::make_shared<Pipeline>(std::move(info), std::move(compiled));
}

}  // namespace tilegpu::pipeline
