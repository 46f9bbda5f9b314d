// pipeline/pipeline.cpp -- stage: pipeline creation. In: GraphicsPipelineCreateInfo. Out: a Pipeline with its machine code.
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "pipeline/classify.hpp"
#include "pipeline/create.hpp"
#include "pipeline/input_attachments.hpp"
#include "shader/jit/compile_crew.hpp"
#include "shader/module/module_record.hpp"

namespace tilegpu {

Pipeline::Pipeline(GraphicsPipelineCreateInfo info, Ptr<const pipeline::Resolved> resolved)
    : info_(std::move(info)), resolved_(std::move(resolved)) {}
Pipeline::~Pipeline() = default;

}  // namespace tilegpu

namespace tilegpu::pipeline {

namespace {

// Quads of pipelines with the same code may share a packet; the number is an identity, nothing depends on its value.
uint64_t shader_identity(const shader::Code<shader::FragmentFunction>& body, const shader::Code<shader::FragmentFunction>& epilogue) {
  static std::mutex mutex;
  static std::map<std::pair<const void*, const void*>, uint64_t> identities;
  std::lock_guard lock(mutex);
  return identities.try_emplace({body.identity(), epilogue.identity()}, identities.size() + 1).first->second;
}

shader::VertexKey vertex_key(const GraphicsPipelineCreateInfo& info, const Resolved& resolved) {
  shader::VertexKey key;
  key.module = info.vertex.module;
  key.specialization = info.vertex.specialization;
  key.bindings.assign(info.vertex_bindings.begin(), info.vertex_bindings.end());
  key.attributes.assign(info.vertex_attributes.begin(), info.vertex_attributes.end());
  key.varyings = resolved.varyings;
  key.resources = resolved.resources;
  return key;
}

// Which parts of the tables the vertex shader reads and which are written.
Status find_memory(const GraphicsPipelineCreateInfo& info, Resolved& resolved) {
  auto of_vertex = shader::resource_table(*info.vertex.module, info.vertex.specialization, nullptr, {});
  if (!of_vertex) return of_vertex.error();
  for (const shader::BufferSlot& slot : resolved.resources.buffers) {
    const auto same = [&](const shader::BufferSlot& other) { return other.set == slot.set && other.binding == slot.binding; };
    const auto& read = of_vertex->buffers;
    if (std::any_of(read.begin(), read.end(), same)) resolved.vertex_buffers.push_back(slot);
    for (const shader::StageTraits* traits : {&resolved.vertex_traits, &resolved.fragment_traits})
      for (const auto& [set, binding] : traits->written_bindings)
        if (slot.set == set && slot.binding == binding) resolved.written_buffers.push_back(slot);
  }
  for (const shader::TextureSlot& slot : resolved.resources.textures) {
    const auto same = [&](const shader::TextureSlot& other) {
      return other.image_set == slot.image_set && other.image_binding == slot.image_binding;
    };
    if (std::any_of(of_vertex->textures.begin(), of_vertex->textures.end(), same)) resolved.vertex_textures.push_back(slot);
  }
  return Ok{};
}

}  // namespace

Status position_shader(shader::Jit& jit, const Pipeline& pipeline) {
  const Resolved& resolved = *pipeline.resolved();
  if (std::atomic_ref(resolved.position).load(std::memory_order_acquire)) return Ok{};
  shader::VertexKey key = vertex_key(pipeline.info(), resolved);
  key.position_only = true;
  auto code = shader::compile_vertex(jit, key);  // one compile for threads that ask at once
  if (!code)
    return Error{code.error().code, "pipeline '" + pipeline.info().label + "': vertex shader, positions only: " + code.error().message};
  std::atomic_ref(resolved.position).store(code->slot(), std::memory_order_release);
  return Ok{};
}

Expected<Ptr<Pipeline>> create_pipeline(shader::Jit& jit, GraphicsPipelineCreateInfo info, uint32_t threads) {
  if (Status ok = validate(info); !ok) return ok.error();
  auto resolved = std::make_shared<Resolved>();
  resolved->label = info.label;
  resolved->vertex_input = info.vertex_bindings;
  resolved->depth_format = info.depth_format;
  resolved->samples = static_cast<uint32_t>(info.multisample.samples);
  const std::string who = "pipeline '" + info.label + "': ";

  auto vertex_traits = shader::analyze(*info.vertex.module, info.vertex.specialization);
  if (!vertex_traits) return Error{vertex_traits.error().code, who + vertex_traits.error().message};
  resolved->vertex_traits = *vertex_traits;
  if (info.fragment.module) {
    auto traits = shader::analyze(*info.fragment.module, info.fragment.specialization);
    if (!traits) return Error{traits.error().code, who + traits.error().message};
    resolved->fragment_traits = *traits;
    auto varyings = shader::varying_layout(*info.fragment.module, info.fragment.specialization);
    if (!varyings) return Error{varyings.error().code, who + varyings.error().message};
    resolved->varyings = *varyings;
  }
  auto resources =
      shader::resource_table(*info.vertex.module, info.vertex.specialization, info.fragment.module.get(), info.fragment.specialization);
  if (!resources) return Error{resources.error().code, who + resources.error().message};
  resolved->resources = *resources;
  auto inputs = input_sources(info, resolved->fragment_traits);
  if (!inputs) return Error{inputs.error().code, who + inputs.error().message};
  resolved->inputs = std::move(*inputs);
  resolved->classification = classify(info, resolved->fragment_traits, resolved->inputs);

  resolved->written_targets = written_targets(info, resolved->fragment_traits);

  if (Status found = find_memory(info, *resolved); !found) return Error{found.error().code, who + found.error().message};
  // The longest first: the body of the fragment shader takes about half of the time.
  std::vector<std::function<Status()>> compiles;
  const auto add = [&](auto& slot, const char* what, auto compile) {
    compiles.push_back([&slot, &who, what, compile]() -> Status {
      auto code = compile();
      if (!code) return Error{code.error().code, who + what + ": " + code.error().message};
      slot = *code;
      return Ok{};
    });
  };
  shader::FragmentKey fragment, slice;
  shader::EpilogueKey epilogue;
  if (info.fragment.module) {
    fragment.module = info.fragment.module;
    fragment.specialization = info.fragment.specialization;
    fragment.varyings = resolved->varyings;
    fragment.resources = resolved->resources;
    fragment.inputs = resolved->inputs;
    fragment.samples = resolved->samples;
    fragment.per_sample = resolved->classification.per_sample;
    add(resolved->fragment, "fragment shader", [&] { return shader::compile_fragment(jit, fragment); });
    if (resolved->classification.needs_slice) {
      slice = fragment;
      slice.coverage_only = true;
      slice.coverage_needs_alpha = info.multisample.alpha_to_coverage;
      add(resolved->slice, "fragment shader", [&] { return shader::compile_fragment(jit, slice); });
    }
  }
  const shader::VertexKey vertex = vertex_key(info, *resolved);
  add(resolved->vertex, "vertex shader", [&] { return shader::compile_vertex(jit, vertex); });
  if (info.fragment.module && resolved->classification.writes_color) {
    epilogue = epilogue_key(info, resolved->fragment_traits, resolved->classification);
    add(resolved->epilogue, "epilogue", [&] { return shader::compile_epilogue(jit, epilogue); });
    if (!info.multisample.alpha_to_coverage && shader::suits_blocks(fragment, resolved->fragment_traits))
      add(resolved->blocks, "fragment shader and epilogue",
          [&] { return shader::compile_blocks(jit, fragment, resolved->fragment_traits, epilogue); });
    if (!info.multisample.alpha_to_coverage && shader::suits_pixels(jit, fragment, resolved->fragment_traits, epilogue))
      resolved->pixels = shader::offer_pixels(jit, fragment, epilogue);
  }
  if (Status ok = shader::run_compiles(threads, compiles); !ok) return ok.error();
  shader::keep_record(jit, *info.vertex.module);
  if (info.fragment.module) shader::keep_record(jit, *info.fragment.module);

  if (info.fragment.module) {
    // A fragment shader without any effect need not run.
    const auto& c = resolved->classification;
    const auto& t = resolved->fragment_traits;
    if (!c.writes_color && !c.side_effects && !c.late_test && !t.discards && !t.writes_sample_mask && !info.multisample.alpha_to_coverage)
      resolved->fragment = nullptr;
  }
  resolved->shader_id = shader_identity(resolved->fragment, resolved->epilogue);
  return std::make_shared<Pipeline>(std::move(info), std::move(resolved));
}

}  // namespace tilegpu::pipeline
