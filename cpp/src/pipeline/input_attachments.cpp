// pipeline/input_attachments.cpp -- stage: pipeline creation. In: the fragment stage's input attachments, the pipeline's formats, and
// its InputAttachmentIndices. Out: the plane of the tile and the format that each reads, or that it reads memory, or what does not fit.
//
// Source: Vulkan specification, "Fragment Input Attachment Interface", VkRenderingInputAttachmentIndexInfo (dynamic rendering local
// read). What is read in the tile has the tile's samples: a subpassInput there is an error in a multisampled pass, and a subpassInputMS
// the other way round. What is read from memory has its image's.
#include "pipeline/input_attachments.hpp"

#include <algorithm>
#include <cassert>

#include "base/replaying.hpp"
#include "pipeline/program.hpp"
#include "shader/spirv/tile_images.hpp"
#include "tilegpu/resource.hpp"
#include "vk/format.hpp"

namespace tilegpu::pipeline {

namespace {

using Base = ReflectedType::Base;

constexpr uint32_t kNoIndex = ~0u;
static_assert(InputAttachmentIndices::kDepth == shader::kInputDepth && InputAttachmentIndices::kStencil == shader::kInputStencil);

Base base_of(VkFormat format, uint32_t target) {
  if (target == shader::kInputDepth) return Base::f32;
  if (target == shader::kInputStencil) return Base::u32;
  const vk::FormatInfo& f = *vk::find_format(format);
  return f.numeric == vk::Numeric::uint ? Base::u32 : f.numeric == vk::Numeric::sint ? Base::i32 : Base::f32;
}

std::string target_name(uint32_t target) {
  if (target == shader::kInputDepth) return "depth";
  return target == shader::kInputStencil ? std::string("stencil") : "color[" + std::to_string(target) + "]";
}

VkFormat format_of(const GraphicsPipelineCreateInfo& info, uint32_t target) {
  if (target == shader::kInputDepth) return info.depth_format;
  if (target == shader::kInputStencil) return info.stencil_format;
  return target < info.color_formats.size() ? info.color_formats[target] : VK_FORMAT_UNDEFINED;
}

/// The attachments that have this index; kNoIndex: those that are read without one.
std::vector<uint32_t> targets_at(const GraphicsPipelineCreateInfo& info, uint32_t index, Base base) {
  const InputAttachmentIndices& indices = info.input_attachments;
  std::vector<uint32_t> targets;
  if (index == kNoIndex) {
    if (base == Base::f32 && !indices.depth) targets.push_back(shader::kInputDepth);
    if (base != Base::f32 && !indices.stencil) targets.push_back(shader::kInputStencil);
    return targets;
  }
  for (uint32_t i = 0; i < kMaxColorAttachments && i < info.color_formats.size(); i++)
    if (indices.color[i] == index) targets.push_back(i);
  bool depth = indices.depth == index, stencil = indices.stencil == index;
  for (const InputAttachmentIndices::Alias& alias : indices.aliases) {
    if (alias.index != index) continue;
    depth |= alias.attachment == InputAttachmentIndices::kDepth, stencil |= alias.attachment == InputAttachmentIndices::kStencil;
    if (alias.attachment < info.color_formats.size() && alias.attachment < kMaxColorAttachments) targets.push_back(alias.attachment);
  }
  // Both aspects of one attachment have one index; the variable's type says which it reads.
  if (depth && (!stencil || base == Base::f32)) targets.push_back(shader::kInputDepth);
  if (stencil && (!depth || base != Base::f32)) targets.push_back(shader::kInputStencil);
  return targets;
}

std::string mapping_text(const GraphicsPipelineCreateInfo& info) {
  std::string text;
  const auto add = [&](uint32_t target, std::optional<uint32_t> index) {
    if (format_of(info, target) == VK_FORMAT_UNDEFINED || index == VK_ATTACHMENT_UNUSED) return;
    text +=
        (text.empty() ? "" : ", ") + (index ? "index " + std::to_string(*index) : std::string("no index")) + " is " + target_name(target);
  };
  for (uint32_t i = 0; i < kMaxColorAttachments; i++) add(i, info.input_attachments.color[i]);
  add(shader::kInputDepth, info.input_attachments.depth);
  add(shader::kInputStencil, info.input_attachments.stencil);
  for (const InputAttachmentIndices::Alias& alias : info.input_attachments.aliases) add(alias.attachment, alias.index);
  return text.empty() ? "none" : text;
}

/// What element `element` of a tile image is: the attachment of its location, depth or stencil; zeros where the pipeline has none
/// (undefined, Vulkan says).
Expected<shader::InputSource> tile_source(const GraphicsPipelineCreateInfo& info, const shader::InputAttachment& input, uint32_t element,
                                          const std::function<void(const std::string&)>& tolerate) {
  assert(input.tile_image && input.index >= shader::kTileColor);
  const bool depth = input.index == shader::kTileDepth, stencil = input.index == shader::kTileStencil;
  const uint32_t location = input.index - shader::kTileColor + element;
  uint32_t target = depth ? shader::kInputDepth : stencil ? shader::kInputStencil : shader::kInputNothing;
  for (uint32_t i = 0; !depth && !stencil && i < kMaxColorAttachments; i++)
    if (info.attachment_locations[i] == location && format_of(info, i) != VK_FORMAT_UNDEFINED) target = i;
  const VkFormat format = target == shader::kInputNothing ? VK_FORMAT_UNDEFINED : format_of(info, target);
  if (format == VK_FORMAT_UNDEFINED) return shader::InputSource{input.variable, element, shader::kInputNothing, VK_FORMAT_UNDEFINED};
  const Status rule = [&]() -> Status {
    if (base_of(format, target) == input.base) return Ok{};
    return Error{VK_ERROR_INITIALIZATION_FAILED, "tile image '" + input.name + "' (location " + std::to_string(location) +
                                                     ") is of base type " + base_name(input.base) + ", but " + target_name(target) +
                                                     " has format " + format_name(format) + ", which reads as " +
                                                     base_name(base_of(format, target))};
  }();
  if (Status ok = forbid(tolerate, rule); !ok) return ok.error();
  return shader::InputSource{input.variable, element, target, format};
}

}  // namespace

Expected<std::vector<shader::InputSource>> input_sources(const GraphicsPipelineCreateInfo& info, const shader::StageTraits& fragment,
                                                         const std::function<void(const std::string&)>& tolerate) {
  std::vector<shader::InputSource> sources;
  const auto wrong = [](const std::string& text) { return Error{VK_ERROR_INITIALIZATION_FAILED, text}; };
  for (const shader::InputAttachment& input : fragment.input_attachments) {
    const std::string name = "input attachment '" + input.name + "'";
    for (uint32_t element = 0; element < input.count; element++) {
      if (input.tile_image) {
        auto source = tile_source(info, input, element, tolerate);
        if (!source) return source.error();
        sources.push_back(*source);
        continue;
      }
      const uint32_t index = input.index == kNoIndex ? kNoIndex : input.index + element;
      const std::string at =
          index == kNoIndex ? name + " (without input_attachment_index)" : name + " (input_attachment_index " + std::to_string(index) + ")";
      const std::vector<uint32_t> targets = targets_at(info, index, input.base);
      if (targets.size() > 1)
        return wrong(at + " names " + target_name(targets[0]) + " and " + target_name(targets[1]) + "; give each an index of its own");
      const bool in_tile = !targets.empty() && format_of(info, targets[0]) != VK_FORMAT_UNDEFINED;
      if (!in_tile && index != kNoIndex && info.input_attachments.others_in_memory) {
        sources.push_back({input.variable, element, shader::kInputMemory, VK_FORMAT_UNDEFINED});
        continue;
      }
      if (!in_tile) return wrong(at + " reads no attachment of this pipeline; there are: " + mapping_text(info));
      const VkFormat format = format_of(info, targets[0]);
      if (base_of(format, targets[0]) != input.base)
        return wrong(at + " is of base type " + base_name(input.base) + ", but " + target_name(targets[0]) + " has format " +
                     format_name(format) + ", which reads as " + base_name(base_of(format, targets[0])));
      sources.push_back({input.variable, element, targets[0], format});
    }
  }
  return sources;
}

Status check_input_samples(const Program& program, uint32_t samples) {
  assert(program.fragment());
  const bool multisampled = samples > 1;
  for (const shader::InputAttachment& input : program.fragment()->traits.input_attachments) {
    const bool in_tile = std::any_of(program.inputs.begin(), program.inputs.end(), [&](const shader::InputSource& source) {
      return source.variable == input.variable && source.in_tile();
    });
    if (!in_tile || input.tile_image || input.multisampled == multisampled) continue;
    return Error{VK_ERROR_INITIALIZATION_FAILED,
                 "input attachment '" + input.name + "' is a " + (input.multisampled ? "subpassInputMS" : "subpassInput") +
                     ", and the pipeline has " + std::to_string(samples) + " samples; " +
                     (multisampled ? "declare it subpassInputMS and read subpassLoad(" + input.name + ", gl_SampleID)"
                                   : std::string("declare it subpassInput"))};
  }
  return Ok{};
}

void add_inputs_in_memory(const std::vector<shader::InputSource>& sources, const shader::StageTraits& fragment,
                          shader::ResourceTable& table) {
  for (const shader::InputAttachment& input : fragment.input_attachments) {
    std::vector<uint32_t> elements;
    for (const shader::InputSource& source : sources)
      if (source.variable == input.variable && source.target == shader::kInputMemory) elements.push_back(source.element);
    if (elements.empty()) continue;
    const auto same = [&](const shader::TextureSlot& slot) { return slot.image_set == input.set && slot.image_binding == input.binding; };
    auto slot = std::find_if(table.textures.begin(), table.textures.end(), same);
    if (slot == table.textures.end()) {
      slot = table.textures.insert(slot, shader::TextureSlot{});
      slot->image_set = input.set, slot->image_binding = input.binding;
      slot->sampler_set = slot->sampler_binding = ~0u;
      slot->uses = shader::kUseFetch, slot->type = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;
    }
    // Several variables may be of one binding.
    slot->image_count = std::max(slot->image_count, input.count);
    std::vector<uint32_t>& named = slot->named.constant;
    named.insert(named.end(), elements.begin(), elements.end());
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
  }
}

}  // namespace tilegpu::pipeline
