// pipeline/program.cpp -- see program.hpp. In: GraphicsPipelineCreateInfo. Out: Program.
#include "pipeline/program.hpp"

#include <algorithm>
#include <atomic>

#include "pipeline/create.hpp"
#include "pipeline/input_attachments.hpp"

namespace tilegpu::pipeline {

namespace {

struct Kind {
  VkShaderStageFlagBits stage;
  const char* name;
  bool compiled;  // the shader compiler knows it
};
// Each stage's neighbours are those that a program has before and after it here.
constexpr Kind kOrder[] = {
    {VK_SHADER_STAGE_VERTEX_BIT, "vertex", true},
    {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, "tessellation_control", true},
    {VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, "tessellation_evaluation", true},
    {VK_SHADER_STAGE_GEOMETRY_BIT, "geometry", true},
    {VK_SHADER_STAGE_TASK_BIT_EXT, "task", true},
    {VK_SHADER_STAGE_MESH_BIT_EXT, "mesh", true},
    {VK_SHADER_STAGE_FRAGMENT_BIT, "fragment", true},
};

size_t place_of(VkShaderStageFlagBits stage) {
  return static_cast<size_t>(std::find_if(std::begin(kOrder), std::end(kOrder), [&](const Kind& k) { return k.stage == stage; }) -
                             std::begin(kOrder));
}

Status find_stages(const GraphicsPipelineCreateInfo& info, Program& program) {
  const auto wrong = [&](const std::string& text, VkResult code = VK_ERROR_INITIALIZATION_FAILED) {
    return Error{code, "pipeline '" + info.label + "': " + text};
  };
  std::vector<Stage> stages;
  for (const ShaderStage& given : info.stages) {
    if (!given.module) continue;
    Stage stage{given.module->reflection().stage, given.module, given.specialization, nullptr, {}, {}};
    const size_t place = place_of(stage.stage);
    if (place == std::size(kOrder) || !kOrder[place].compiled)
      return wrong("module '" + given.module->label() + "' is a " + stage_name(stage.stage) +
                       " shader; graphics pipelines of tilegpu have vertex, tessellation, geometry, task, mesh and fragment shaders",
                   VK_ERROR_FEATURE_NOT_PRESENT);
    if (std::any_of(stages.begin(), stages.end(), [&](const Stage& other) { return other.stage == stage.stage; }))
      return wrong(std::string("two ") + stage_name(stage.stage) + " shaders; give one");
    auto reflection = given.module->reflect(given.specialization);
    if (!reflection) return wrong(reflection.error().message, reflection.error().code);
    stage.reflection = std::move(*reflection);
    stages.push_back(std::move(stage));
  }
  std::sort(stages.begin(), stages.end(), [](const Stage& a, const Stage& b) { return place_of(a.stage) < place_of(b.stage); });
  for (Stage& stage : stages) program.stages.add(std::move(stage));
  const bool mesh = program.find(VK_SHADER_STAGE_MESH_BIT_EXT);
  for (const Stage& stage : program.stages)
    if (mesh && place_of(stage.stage) < place_of(VK_SHADER_STAGE_TASK_BIT_EXT))
      return wrong(std::string("a mesh shader and a ") + stage_name(stage.stage) +
                   " shader; a mesh shader makes the primitives itself: leave out one of both");
  if (!mesh && program.find(VK_SHADER_STAGE_TASK_BIT_EXT)) return wrong("a task shader without the mesh shader that it starts; give both");
  if (!mesh && !program.find(VK_SHADER_STAGE_VERTEX_BIT)) return wrong("no vertex shader, and no mesh shader");
  return Ok{};
}

SetGroup& group_of(Program& program, uint32_t set, uint32_t sampler_set) {
  for (SetGroup& group : program.set_groups)
    if (group.set == set && group.sampler_set == sampler_set) return group;
  return program.set_groups.emplace_back(SetGroup{set, sampler_set, {}, {}, 0});
}

/// Of the variables that are one slot.
std::vector<const ReflectedType*> image_types(const Program& program, const shader::TextureSlot& slot) {
  using Kind = ReflectedType::Kind;
  std::vector<const ReflectedType*> types;
  for (const Stage& stage : program.stages)
    for (const ReflectedBinding& b : stage.reflection->bindings)
      if (b.set == slot.image_set && b.binding == slot.image_binding && b.used && b.descriptor == slot.type &&
          (b.type.kind == Kind::image || b.type.kind == Kind::sampled_image))
        types.push_back(&b.type);
  return types;
}

void group_by_sets(Program& program) {
  for (const shader::BufferSlot& slot : program.resources.buffers) {
    program.used_sets |= 1u << slot.set;
    if (slot.table == shader::kDynamicSet) {
      program.dynamic_buffers.push_back(slot);
      continue;
    }
    SetGroup& group = group_of(program, slot.set, slot.set);
    group.buffers.push_back(slot);
    group.elements += slot.count;
  }
  for (const shader::TextureSlot& slot : program.resources.textures) {
    const uint32_t sampler_set = slot.is_alone() ? slot.image_set : slot.sampler_set;
    assert(slot.image_set < kMaxDescriptorSets && sampler_set < kMaxDescriptorSets);
    program.used_sets |= 1u << slot.image_set | 1u << sampler_set;
    SetGroup& group = group_of(program, slot.image_set, sampler_set);
    group.textures.push_back({slot, image_types(program, slot)});
    group.elements += slot.image_count;
  }
}

// Descriptors of the stages in their places, and which of them are written.
Status find_resources(Program& program) {
  const auto find = [&](std::span<const shader::StageModule> modules, shader::ResourceTable& out) -> Status {
    auto table = shader::resource_table(modules);
    if (!table) return table.error();
    const Stage* fragment = program.fragment();
    if (fragment && modules.back().module == fragment->module.get()) add_inputs_in_memory(program.inputs, fragment->traits, *table);
    if (Status placed = place(*table, *program.layout); !placed) return placed;
    out = std::move(*table);
    return Ok{};
  };
  std::vector<shader::StageModule> modules;
  for (const Stage& stage : program.stages) modules.push_back({stage.module.get(), &stage.specialization});
  if (Status done = find(modules, program.resources); !done) return done;
  for (size_t i = 0; i < modules.size(); i++)
    if (Status done = find({&modules[i], 1}, program.stages[i].resources); !done) return done;
  for (const shader::BufferSlot& slot : program.resources.buffers)
    for (const Stage& stage : program.stages)
      for (const auto& [set, binding] : stage.traits.written_bindings)
        if (slot.set == set && slot.binding == binding) program.written_buffers.push_back(slot);
  for (const shader::TextureSlot& slot : program.resources.textures)
    if (slot.is_written()) program.written_images.push_back(slot);
  for (const Stage& stage : program.stages) {
    program.uses_addresses |= stage.traits.uses_addresses();
    program.writes_addresses |= stage.traits.writes_addresses;
  }
  group_by_sets(program);
  return Ok{};
}

Status find_traits(Program& program) {
  for (Stage& stage : program.stages) {
    auto traits = shader::analyze(*stage.module, stage.specialization);
    if (!traits) return traits.error();
    stage.traits = std::move(*traits);
  }
  return Ok{};
}

// What the stages do, and the tables that they share.
Status analyze_stages(const GraphicsPipelineCreateInfo& info, Program& program) {
  if (Status ok = find_traits(program); !ok) return ok;
  const Stage* fragment = program.fragment();
  if (fragment) {
    auto inputs = input_sources(info, fragment->traits, program.leniency.tolerate);
    if (!inputs) return inputs.error();
    program.inputs = std::move(*inputs);
  }
  return find_resources(program);
}

}  // namespace

bool Program::writes(size_t attachment) const {
  assert(attachment < color_formats.size());
  const uint32_t location = attachment_locations[attachment];
  if (color_formats[attachment] == VK_FORMAT_UNDEFINED || location == VK_ATTACHMENT_UNUSED || !fragment()) return false;
  return fragment()->traits.outputs_written >> location & 1;
}

bool Program::fetches(uint32_t set, uint32_t binding) const {
  return std::any_of(resources.textures.begin(), resources.textures.end(),
                     [&](const shader::TextureSlot& slot) { return slot.image_set == set && slot.image_binding == binding; });
}

const char* stage_name(VkShaderStageFlagBits stage) {
  const size_t place = place_of(stage);
  if (stage == VK_SHADER_STAGE_COMPUTE_BIT) return "compute";
  return place < std::size(kOrder) ? kOrder[place].name : "unknown";
}

const Stage& Program::before_rasterization() const {
  assert(!stages.empty() && stages.front().stage != VK_SHADER_STAGE_FRAGMENT_BIT);
  return stages.back().stage == VK_SHADER_STAGE_FRAGMENT_BIT ? stages[stages.size() - 2] : stages.back();
}

const shader::VaryingLayout& Program::written_by(VkShaderStageFlagBits stage) const {
  static const shader::VaryingLayout kNothing;
  for (const StageInterface& i : interfaces)
    if (i.writer == stage) return i.layout;
  return kNothing;
}

namespace {

constexpr uint64_t kProgram_B = 20u << 10;  // measured, of two small shaders, with the pipeline and what is resolved

Expected<std::shared_ptr<Program>> begin_program(const std::string& label, const Ptr<const PipelineLayout>& layout) {
  static std::atomic<uint64_t> programs{0};
  auto program = std::make_shared<Program>();
  program->id = ++programs;
  program->label = label;
  program->layout = layout;
  program->memory = MemoryShare(kProgram_B);
  if (!program->memory) return MemoryShare::refused("pipeline '" + label + "'", kProgram_B);
  return program;
}

// Behind all checks: descriptors and interfaces are those of the program with all of its targets.
void leave_out_targets(uint32_t absent, Program& program) {
  program.leaves_colors = absent & kOtherColors;
  for (size_t i = 0; i < program.color_formats.size(); i++)
    if (absent >> i & 1) program.color_formats[i] = VK_FORMAT_UNDEFINED;
  if (absent >> shader::kInputDepth & 1) program.depth_format = VK_FORMAT_UNDEFINED;
  if (absent >> shader::kInputStencil & 1) program.stencil_format = VK_FORMAT_UNDEFINED;
  for (shader::InputSource& input : program.inputs)
    if (absent >> input.target & 1) input = {input.variable, input.element, shader::kInputNothing, VK_FORMAT_UNDEFINED};
}

}  // namespace

Expected<Ptr<const Program>> make_compute_program(ComputePipelineCreateInfo& info, const Leniency& leniency) {
  const auto named = [&](const Error& error) { return Error{error.code, "pipeline '" + info.label + "': " + error.message}; };
  const ShaderStage& given = info.stage;
  if (!given.module) return named({VK_ERROR_INITIALIZATION_FAILED, "it has no shader module"});
  const VkShaderStageFlagBits kind = given.module->reflection().stage;
  if (kind != VK_SHADER_STAGE_COMPUTE_BIT)
    return named({VK_ERROR_INITIALIZATION_FAILED, "module '" + given.module->label() + "' is a " + stage_name(kind) +
                                                      " shader; a compute pipeline takes a compute shader"});
  Expected<std::shared_ptr<Program>> begun = begin_program(info.label, info.layout);
  if (!begun) return begun.error();
  const std::shared_ptr<Program> program = std::move(*begun);
  program->leniency = leniency;
  Stage stage{kind, given.module, given.specialization, nullptr, {}, {}};
  auto reflection = given.module->reflect(given.specialization);
  if (!reflection) return named(reflection.error());
  stage.reflection = std::move(*reflection);
  program->stages.add(std::move(stage));
  if (Status ok = check_program(*program); !ok) return ok.error();
  if (Status ok = find_traits(*program); !ok) return named(ok.error());
  if (Status ok = find_resources(*program); !ok) return named(ok.error());
  info.layout = program->layout;
  return Ptr<const Program>(std::move(program));
}

Expected<Ptr<const Program>> make_program(GraphicsPipelineCreateInfo& info, const Leniency& leniency, uint32_t absent) {
  Expected<std::shared_ptr<Program>> begun = begin_program(info.label, info.layout);
  if (!begun) return begun.error();
  const std::shared_ptr<Program> program = std::move(*begun);
  program->color_formats = info.color_formats;
  program->attachment_locations = info.attachment_locations;
  program->leniency = leniency;
  program->depth_format = info.depth_format, program->stencil_format = info.stencil_format;
  if (Status ok = find_stages(info, *program); !ok) return ok.error();
  const auto named = [&](const Error& error) { return Error{error.code, "pipeline '" + info.label + "': " + error.message}; };
  for (size_t i = 1; i < program->stages.size(); i++) {
    auto interface = connect(program->stages[i - 1], program->stages[i]);
    if (!interface) return named(interface.error());
    program->interfaces.push_back(std::move(*interface));
  }
  if (Status ok = check_program(*program); !ok) return ok.error();
  if (Status ok = analyze_stages(info, *program); !ok) return named(ok.error());
  auto primitives = primitive_stages(*program);
  if (!primitives) return named(primitives.error());
  program->primitives = std::move(*primitives);
  info.layout = program->layout;
  leave_out_targets(absent, *program);
  assert(program->interfaces.size() + 1 == program->stages.size());
  return Ptr<const Program>(std::move(program));
}

}  // namespace tilegpu::pipeline
