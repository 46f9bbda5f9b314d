// device/draw_programs.cpp -- what the draws of a pass run: shaders and the textures that they read. In: an execution. Out: a row for each
// run of draws with the same state, for models of what they cost (docs/costs.md).
#include <algorithm>
#include <cassert>

#include "descriptor/set_memory.hpp"
#include "exec/queue.hpp"
#include "framebuffer/blend_unit.hpp"
#include "hsr/explain.hpp"
#include "pipeline/program.hpp"
#include "vk/format.hpp"

namespace tilegpu {

namespace {

// Texels of one layer of a level, of all slices of a 3D image and all samples; this program's rows may be longer.
uint64_t texels_B(const ImageCreateInfo& image, VkImageAspectFlags aspects, uint32_t level) {
  const vk::FormatInfo& format = *vk::find_format(image.format);
  const auto blocks = [&](uint32_t size_px, uint32_t block_px) { return (std::max(1u, size_px >> level) + block_px - 1) / block_px; };
  const uint64_t depth = image.type == VK_IMAGE_TYPE_3D ? std::max(1u, image.depth_px >> level) : 1;
  uint32_t texel_B = format.texel_B;
  if (format.depth_bits == 32 && format.stencil_bits) texel_B = aspects & VK_IMAGE_ASPECT_DEPTH_BIT ? 4 : 1;  // they lie apart
  return uint64_t{blocks(image.width_px, format.block_width_px)} * blocks(image.height_px, format.block_height_px) * depth * image.samples *
         texel_B;
}

// The same of all planes of an image that has some.
uint64_t layer_B(const Image& image, const ImageViewCreateInfo& view, uint32_t level) {
  uint64_t sum_B = 0;
  for (const Ptr<Image>& plane : image.planes()) sum_B += texels_B(plane->info(), VK_IMAGE_ASPECT_COLOR_BIT, level);
  return image.planes().empty() ? texels_B(image.info(), view.aspects, level) : sum_B;
}

void add_view(const ImageView& view, DrawTexture texture, std::vector<DrawTexture>& out) {
  const Image& image = *view.image();
  const ImageViewCreateInfo& info = view.info();
  texture.format = info.format;
  texture.image = reinterpret_cast<uintptr_t>(&image);
  texture.width_px = std::max(1u, image.info().width_px >> info.base_level);
  texture.height_px = std::max(1u, image.info().height_px >> info.base_level);
  texture.levels = info.level_count;
  for (uint32_t level = 0; level < info.level_count; level++) {
    const uint64_t level_B = layer_B(image, info, info.base_level + level) * info.layer_count;
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
      if (binding->type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT && element.type != slot.type) return;
      if (element.view && element.view->view)
        add_view(*element.view->view, {.stage = stage.stage, .set = slot.image_set, .binding = slot.image_binding}, out);
    };
    if (slot.named.any)
      for (uint32_t i = 0; i < std::min(slot.image_count, kMost); i++) add(i);
    else
      for (const uint32_t i : slot.named.constant) add(i);
  }
}

DrawPrograms programs_of(const command::DrawState& state, const command::Bound* objects, bool has_blend_unit) {
  const command::BoundSets* const bound = objects ? objects->sets : nullptr;
  const pipeline::Resolved& resolved = *state.resolved;
  const pipeline::Classification& c = resolved.classification;
  DrawPrograms out;
  out.pipeline = resolved.label;
  out.varyings_B = static_cast<uint32_t>(resolved.varyings.components.size() * sizeof(float));
  out.opaque = c.opaque, out.reads_tile = c.reads_tile || c.reads_inputs, out.early_test = c.early_test;
  out.decides_coverage = c.needs_slice, out.per_sample = c.per_sample, out.writes_color = c.writes_color;
  out.vertex_writes_memory = resolved.traits(VK_SHADER_STAGE_VERTEX_BIT).writes_memory;
  out.written_targets = resolved.output.written_targets;
  for (uint32_t i = 0; i < kMaxColorAttachments && has_blend_unit; i++) {
    if (!hsr::blend_shader_reason(state, i)) continue;
    out.blend_shader_targets++;
    out.blend_shader_operations += resolved.blend_operations[i];
  }
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
  const bool has_blend_unit = framebuffer::has_blend_unit(*record.framebuffer.layout.profile);
  const auto add = [&](const command::DrawCall& draw) {
    if (draw.state == last) {
      rows.back().draw_count++, number++;
      return;
    }
    last = draw.state;
    const command::Bound* objects = nullptr;
    for (size_t i = 0; i < record.states.size() && i < record.bound.size(); i++)
      if (&record.states[i] == draw.state) objects = &record.bound[i];
    rows.push_back(programs_of(*draw.state, objects, has_blend_unit));
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
