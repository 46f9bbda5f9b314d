// icd/shader_pipelines.cpp -- see shader_pipelines.hpp; decisions.md, 535 and 536. In: bound shaders, the open pass. Out: pipelines.
#include "icd/shader_pipelines.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "icd/explained.hpp"
#include "pipeline/dynamic_state.hpp"
#include "pipeline/program.hpp"

namespace tilegpu::icd {

// --- those that are kept

size_t ShaderPipelines::Hash::operator()(const Key& key) const {
  static_assert(std::has_unique_object_representations_v<Key> && sizeof(Key) % 8 == 0);
  uint64_t words[sizeof(Key) / 8], hash = 0;
  std::memcpy(words, &key, sizeof key);
  for (const uint64_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
  return hash;
}

Ptr<Pipeline> ShaderPipelines::find(const Key& key) const {
  const std::lock_guard guard(lock_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.pipeline;
}

void ShaderPipelines::drop(const Key& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  for (const uint64_t number : key.shaders)
    if (const auto of = of_shader_.find(number); number && of != of_shader_.end()) {
      of->second.erase(&found->first);
      if (of->second.empty()) of_shader_.erase(of);
    }
  entries_.erase(found);
}

namespace {

/// Of a report: the names of the shaders, as far as they have some.
void tell_names(const Pipeline& pipeline, const ShaderPipelines::Shaders& shaders) {
  Explained* const explained = Explained::asked();
  if (!explained || std::none_of(shaders.begin(), shaders.end(), [](const auto& shader) { return shader && !shader->name.empty(); }))
    return;
  std::string names;
  for (const auto& shader : shaders)
    if (shader) names += (names.empty() ? "" : " + ") + (shader->name.empty() ? shader->label : shader->name);
  explained->named(pipeline.info().label, names);
}

}  // namespace

Ptr<Pipeline> ShaderPipelines::add(const Key& key, const Shaders& shaders, Ptr<Pipeline> pipeline) {
  assert(pipeline);
  const std::lock_guard guard(lock_);
  while (entries_.size() >= kMost) drop(Key(entries_.begin()->first));  // recordings keep what they use
  const auto [at, fresh] = entries_.try_emplace(key, Entry{std::move(pipeline), shaders});
  if (fresh) {
    for (const uint64_t number : key.shaders)
      if (number) of_shader_[number].insert(&at->first);
    tell_names(*at->second.pipeline, shaders);
  }
  return at->second.pipeline;
}

void ShaderPipelines::forget(uint64_t number) {
  const std::lock_guard guard(lock_);
  const auto found = of_shader_.find(number);
  if (found == of_shader_.end()) return;
  std::vector<Key> keys;
  for (const Key* key : found->second) keys.push_back(*key);
  for (const Key& key : keys) drop(key);
}

void ShaderPipelines::name(ShaderObject& shader, const std::string& name) {
  const std::lock_guard guard(lock_);
  shader.name = name;
  if (const auto found = of_shader_.find(shader.number); found != of_shader_.end())
    for (const Key* key : found->second) {
      const Entry& entry = entries_.at(*key);
      tell_names(*entry.pipeline, entry.shaders);
    }
}

size_t ShaderPipelines::size() const {
  const std::lock_guard guard(lock_);
  return entries_.size();
}

// --- what a draw asks for

namespace {

using S = DynamicState;

constexpr size_t kVertex = 0, kGeometry = 3, kTask = 4, kMesh = 5, kFragment = 6;
static_assert(kShaderStages[kVertex] == VK_SHADER_STAGE_VERTEX_BIT && kShaderStages[kGeometry] == VK_SHADER_STAGE_GEOMETRY_BIT &&
              kShaderStages[kTask] == VK_SHADER_STAGE_TASK_BIT_EXT && kShaderStages[kMesh] == VK_SHADER_STAGE_MESH_BIT_EXT &&
              kShaderStages[kFragment] == VK_SHADER_STAGE_FRAGMENT_BIT);

constexpr DynamicStates states(std::initializer_list<S> list) {
  DynamicStates out;
  for (const S state : list) out.add(state);
  return out;
}

constexpr DynamicStates kColors =
    states({S::color_blend_enable, S::color_blend_equation, S::color_blend_advanced, S::color_write_mask, S::color_write_enable});
// Viewports and scissors have counts.
constexpr DynamicStates kAll{((uint64_t{1} << kDynamicStates) - 1) & ~states({S::viewport, S::scissor}).bits};

Error wrong(const std::string& text) { return {VK_ERROR_VALIDATION_FAILED_EXT, "draw with shader objects: " + text}; }

std::string name_of(const ShaderObject& shader) {
  return std::string(pipeline::stage_name(shader.stage)) + " shader '" + shader.label + "'";
}

bool is_bound(const BoundShaders& bound, uint64_t number) {
  return std::any_of(bound.graphics.begin(), bound.graphics.end(), [&](const auto& s) { return s && s->number == number; });
}

/// Those that were linked go together, and with nobody between them.
Status check_linked(VkDevice device, const BoundShaders& bound) {
  const ShaderObject* before = nullptr;
  for (const auto& shader : bound.graphics) {
    if (!shader) continue;
    if (shader->is_destroyed) return wrong("the " + name_of(*shader) + " was destroyed since it was bound");
    for (const auto& [number, stage] : shader->linked)
      if (!is_bound(bound, number))
        return wrong("the " + name_of(*shader) + " was linked with a " + pipeline::stage_name(stage) +
                     " shader, which is not bound; bind all that were linked");
    if (before) {
      const bool links_next = std::any_of(before->linked.begin(), before->linked.end(),
                                          [&](const auto& other) { return other.second & before->next && other.first != shader->number; });
      const bool is_next =
          std::any_of(before->linked.begin(), before->linked.end(), [&](const auto& other) { return other.first == shader->number; });
      if (links_next && !is_next)
        return wrong("the " + name_of(*shader) + " is bound between the " + name_of(*before) + " and the one that it was linked with");
      if (!is_next && !(before->next & shader->stage))
        say_misuse(device, "draw with shader objects: the " + name_of(*before) + " is followed by a " +
                               pipeline::stage_name(shader->stage) + " shader, which its nextStage does not have");
    }
    before = shader.get();
  }
  return Ok{};
}

Status check_bound(VkDevice device, const BoundShaders& bound) {
  assert(device && bound.in_use);
  const ShaderObject *vertex = bound.graphics[kVertex].get(), *mesh = bound.graphics[kMesh].get(), *task = bound.graphics[kTask].get();
  if (!vertex && !mesh) return wrong("neither a vertex nor a mesh shader is bound; call vkCmdBindShadersEXT with one");
  if (vertex && (mesh || task))
    return wrong("the " + name_of(*vertex) + " and the " + name_of(mesh ? *mesh : *task) +
                 " are bound; unbind one of both (VK_NULL_HANDLE)");
  const bool alone = mesh && mesh->flags & VK_SHADER_CREATE_NO_TASK_SHADER_BIT_EXT;
  if (mesh && alone == (task != nullptr) && (alone || device->features.taskShader))
    say_misuse(device, "draw with shader objects: the " + name_of(*mesh) + " was created " + (alone ? "with" : "without") +
                           " VK_SHADER_CREATE_NO_TASK_SHADER_BIT_EXT, and " + (task ? "a" : "no") + " task shader is bound");
  return check_linked(device, bound);
}

Status check_pass(const VkCommandBuffer_T& commands) {
  const OpenPass& open = commands.pass;
  if (!open.rendering) return wrong("no render pass is open; call vkCmdBeginRendering first");
  if (open.render_pass)
    return wrong("the pass was begun by vkCmdBeginRenderPass; they draw in dynamic rendering alone (vkCmdBeginRendering)");
  if (open.view_mask) return wrong("the pass has a viewMask; they draw where it is 0");
  const BoundShaders& bound = commands.shaders;
  if (bound.viewports_fixed || bound.scissors_fixed)
    return wrong(std::string(bound.viewports_fixed ? "VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT" : "VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT") +
                 " was fixed by a pipeline that was bound before; set it before the draw");
  return Ok{};
}

/// What all of them say of sets is one layout.
Expected<Ptr<const PipelineLayout>> layout_of_all(const ShaderPipelines::Shaders& shaders) {
  Ptr<const PipelineLayout> all;
  std::shared_ptr<PipelineLayout> sum;  // of several that differ
  const ShaderObject* first = nullptr;
  for (const auto& shader : shaders) {
    if (!shader) continue;
    const PipelineLayout& of = *shader->layout;
    if (!all) {
      all = shader->layout, first = shader.get();
      continue;
    }
    if (!sum) sum = std::make_shared<PipelineLayout>(*all), all = sum;
    sum->push_constants_B = std::max(sum->push_constants_B, of.push_constants_B);
    if (sum->sets.size() < of.sets.size()) sum->sets.resize(of.sets.size());
    for (size_t i = 0; i < of.sets.size(); ++i) {
      if (sum->sets[i] && of.sets[i] && sum->sets[i] != of.sets[i] && !sum->sets[i]->is_compatible(*of.sets[i]))
        return wrong("the " + name_of(*first) + " and the " + name_of(*shader) + " have different layouts for set " + std::to_string(i) +
                     "; create them with the same pSetLayouts");
      if (!sum->sets[i]) sum->sets[i] = of.sets[i];
    }
  }
  assert(all);
  return all;
}

ShaderPipelines::Key key_of(const BoundShaders& bound, const RenderingTargets& to, DynamicStates dynamic) {
  ShaderPipelines::Key key;
  for (size_t i = 0; i < bound.graphics.size(); ++i) key.shaders[i] = bound.graphics[i] ? bound.graphics[i]->number : 0;
  key.dynamic = dynamic.bits;
  for (size_t i = 0; i < key.color.size(); ++i) key.color[i] = to.color[i];
  key.locations = to.locations, key.inputs = to.inputs;
  key.colors = to.colors, key.depth = to.depth, key.stencil = to.stencil;
  key.depth_input = to.depth_input, key.stencil_input = to.stencil_input;
  return key;
}

/// With colours and samples as they are now: as a rule what is compiled at once is what the first draw takes.
Expected<Ptr<Pipeline>> make(VkCommandBuffer commands, DynamicStates dynamic) {
  const BoundShaders& bound = commands->shaders;
  const RenderingTargets& to = commands->pass.targets;
  GraphicsPipelineCreateInfo info;
  auto layout = layout_of_all(bound.graphics);
  if (!layout) return layout.error();
  info.layout = std::move(*layout);
  for (const auto& shader : bound.graphics)
    if (shader) info.stages.push_back(shader->core), info.label += (info.label.empty() ? "" : " + ") + shader->label;
  for (uint32_t i = 0; i < kDynamicStates; ++i)
    if (dynamic.has(static_cast<S>(i))) info.dynamic_states.push_back(dynamic_state_info(static_cast<S>(i)).vulkan);
  if (bound.graphics[kFragment]) info.blend = blend_state(commands->colors, to.colors);
  info.multisample.samples = bound.samples;
  info.color_formats.assign(to.color.begin(), to.color.begin() + to.colors);
  info.depth_format = to.depth, info.stencil_format = to.stencil;
  info.attachment_locations = to.locations;
  info.input_attachments.color = to.inputs;
  if (to.depth_input != RenderingTargets::kByType) info.input_attachments.depth = to.depth_input;
  if (to.stencil_input != RenderingTargets::kByType) info.input_attachments.stencil = to.stencil_input;
  // Tests of what the pass does not have are ignored.
  if (to.depth == VK_FORMAT_UNDEFINED) info.untested_aspects |= VK_IMAGE_ASPECT_DEPTH_BIT;
  if (to.stencil == VK_FORMAT_UNDEFINED) info.untested_aspects |= VK_IMAGE_ASPECT_STENCIL_BIT;
  info.feedback_loop_dynamic = commands->device->features.attachmentFeedbackLoopDynamicState;
  return commands->device->core->create_pipeline(std::move(info));
}

}  // namespace

Status take_shaders(VkCommandBuffer commands) {
  BoundShaders& bound = commands->shaders;
  assert(bound.in_use && commands->device->shader_pipelines);
  if (Status ok = check_pass(*commands); !ok) return ok;
  if (Status ok = check_bound(commands->device, bound); !ok) return ok;
  VkShaderStageFlags stages = 0;
  for (const auto& shader : bound.graphics)
    if (shader) stages |= shader->stage;
  const DynamicStates optional = optional_states(*commands->device, stages);
  const DynamicStates taken{bound.given.bits & optional.bits};
  DynamicStates dynamic{kAll.bits & ~(optional.bits & ~taken.bits)};
  const bool colors = bound.graphics[kFragment] && commands->pass.targets.colors;
  if (!colors) dynamic.bits &= ~kColors.bits;  // nothing is written: nobody need set them
  ShaderPipelines& kept = *commands->device->shader_pipelines;
  const ShaderPipelines::Key key = key_of(bound, commands->pass.targets, dynamic);
  Ptr<Pipeline> pipeline = kept.find(key);
  commands->colors.pipeline_takes = {dynamic.bits & kColors.bits};
  if (!pipeline) {
    auto made = make(commands, dynamic);
    if (!made) return made.error();
    pipeline = kept.add(key, bound.graphics, std::move(*made));
  }
  commands->core->bind_pipeline(std::move(pipeline));
  if (colors && bound.colors_lost) commands->colors.changed = true;
  bound.colors_lost = !colors;
  bound.optional = optional, bound.taken = taken;
  bound.changed = false;
  return Ok{};
}

}  // namespace tilegpu::icd
