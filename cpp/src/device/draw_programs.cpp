// device/draw_programs.cpp -- what the draws of a pass run: shaders and the textures that they read. In: an execution. Out: a row for each
// run of draws with the same state, for models of what they cost (docs/costs.md).
#include <algorithm>
#include <cassert>

#include "descriptor/set_memory.hpp"
#include "exec/queue.hpp"
#include "pipeline/program.hpp"
#include "vk/format.hpp"

namespace tilegpu {

namespace {

void add_view(const ImageView& view, DrawTexture texture, std::vector<DrawTexture>& out) {
  const Image& image = *view.image();
  const ImageViewCreateInfo& info = view.info();
  texture.format = info.format;
  texture.image = reinterpret_cast<uintptr_t>(&image);
  texture.width_px = std::max(1u, image.info().width_px >> info.base_level);
  texture.height_px = std::max(1u, image.info().height_px >> info.base_level);
  texture.levels = info.level_count;
  const auto aspect = static_cast<VkImageAspectFlagBits>(info.aspects & (~info.aspects + 1));
  for (uint32_t level = 0; level < info.level_count; level++) {
    const uint64_t slices = image.info().type == VK_IMAGE_TYPE_3D ? std::max(1u, image.info().depth_px >> (info.base_level + level)) : 1;
    const uint64_t level_B = image.layout(aspect, info.base_level + level, info.base_layer).size_B * info.layer_count * slices;
    if (level == 0) texture.level_B = level_B;
    texture.size_B += level_B;
  }
  out.push_back(texture);
}

// The textures of a stage, as far as sets hold them; elements of arrays that the shader picks at run time are all of them.
void add_textures(const pipeline::ResolvedStage& stage, const command::BoundSets& bound, std::vector<DrawTexture>& out) {
  constexpr uint32_t kMost = 256;
  for (const shader::TextureSlot& slot : stage.resources.textures) {
    if (slot.image_set >= bound.memory.size() || !bound.memory[slot.image_set]) continue;
    const descriptor::SetMemory& memory = *bound.memory[slot.image_set];
    const DescriptorBinding* const binding = memory.layout->find(slot.image_binding);
    if (!binding) continue;
    const auto add = [&](uint32_t i) {
      if (i >= memory.count_of(*binding)) return;
      const descriptor::Element& element = memory.element(*binding, i);
      if (element.view && element.view->view)
        add_view(*element.view->view, {.stage = stage.stage, .set = slot.image_set, .binding = slot.image_binding}, out);
    };
    if (slot.named.any)
      for (uint32_t i = 0; i < std::min(slot.image_count, kMost); i++) add(i);
    else
      for (const uint32_t i : slot.named.constant) add(i);
  }
}

DrawPrograms programs_of(const command::DrawState& state, const command::Bound* objects) {
  const command::BoundSets* const bound = objects ? objects->sets : nullptr;
  const pipeline::Resolved& resolved = *state.resolved;
  const pipeline::Classification& c = resolved.classification;
  DrawPrograms out;
  out.pipeline = resolved.label;
  out.varyings_B = static_cast<uint32_t>(resolved.varyings.components.size() * sizeof(float));
  out.opaque = c.opaque, out.reads_tile = c.reads_tile || c.reads_inputs, out.early_test = c.early_test;
  out.decides_coverage = c.needs_slice, out.per_sample = c.per_sample, out.writes_color = c.writes_color;
  out.written_targets = resolved.output.written_targets;
  const bool has_depth = resolved.depth_format != VK_FORMAT_UNDEFINED;
  out.tests_depth = has_depth && state.depth_stencil.depth_test;
  out.writes_depth = out.tests_depth && state.depth_stencil.depth_write;
  for (size_t i = 0; i < resolved.stages.size(); i++) {
    const pipeline::ResolvedStage& stage = resolved.stages[i];
    DrawStage made{static_cast<uint32_t>(stage.stage), &stage.module->words(), {}};
    if (objects && objects->pipeline)
      if (const pipeline::Stage* const of = objects->pipeline->program().find(stage.stage)) made.specialization = of->specialization;
    out.stages.push_back(std::move(made));
    if (bound) add_textures(stage, *bound, out.textures);
  }
  return out;
}

}  // namespace

std::vector<DrawPrograms> Submission::draw_programs(size_t pass) const {
  assert(pass < pass_count() && signaled());
  const command::Pass& record = *state->execution.passes[pass].pass;
  std::vector<DrawPrograms> rows;
  const command::DrawState* last = nullptr;
  uint32_t number = 0;
  const auto add = [&](const command::DrawCall& draw) {
    if (draw.state == last) {
      rows.back().draw_count++, number++;
      return;
    }
    last = draw.state;
    const command::Bound* objects = nullptr;
    for (size_t i = 0; i < record.states.size() && i < record.bound.size(); i++)
      if (&record.states[i] == draw.state) objects = &record.bound[i];
    rows.push_back(programs_of(*draw.state, objects));
    rows.back().first_draw = number++, rows.back().draw_count = 1;
  };
  for (const command::RecordedCommand& command : record.commands) {
    if (command.kind == command::RecordedCommand::Kind::draw) add(record.draws[command.index]);
    if (command.kind != command::RecordedCommand::Kind::indirect) continue;
    const command::IndirectDraw& indirect = record.indirects[command.index];
    for (uint32_t k = 0; k < indirect.count; k++) add(indirect.base);
  }
  return rows;
}

}  // namespace tilegpu
