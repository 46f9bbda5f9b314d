// pipeline/place.cpp -- stage: pipeline creation. In: what a stage's code reads, the pipeline's layout. Out: the same with its places in
// the memory of the sets, which generated code has as constants. Source: Vulkan specification, "Descriptor Set Binding" (dynamic offsets).
#include <algorithm>
#include <cassert>

#include "descriptor/set_memory.hpp"
#include "pipeline/create.hpp"

namespace tilegpu::pipeline {

namespace {

using descriptor::Kind;

struct Found {
  const DescriptorSetLayout& layout;
  const DescriptorBinding& binding;
  const DescriptorSetLayout::Place& place;
  Kind kind;
  uint32_t count;
  bool counted;
  /// Of an element that the shader has as `type`.
  shader::DescriptorAddress at(VkDescriptorType type, uint32_t part_B = 0) const {
    return {place.offset_B + layout.part_B(binding, type) + part_B, place.stride_B, counted};
  }
};

// Variables are checked by their reflection before (pipeline/validate.cpp); what that does not know has no place either.
Expected<Found> find(const PipelineLayout& layout, uint32_t set, uint32_t number) {
  const DescriptorSetLayout* of_set = set < layout.sets.size() ? layout.sets[set].get() : nullptr;
  const DescriptorBinding* binding = of_set ? of_set->find(number) : nullptr;
  if (!binding || !binding->count)
    return Error{VK_ERROR_INITIALIZATION_FAILED, "the shader uses (set " + std::to_string(set) + ", binding " + std::to_string(number) +
                                                     "), which the pipeline layout does not have"};
  const Kind kind = descriptor::kind_of(binding->type);
  const bool counted = of_set->has_variable_count() && binding == &of_set->bindings().back();
  return Found{*of_set, *binding, of_set->place(*binding), kind, kind == Kind::inline_block ? 1 : binding->count, counted};
}

// The code clamps indices to the counts, so that they must not be more than there is memory for. kUnbounded: all of the layout's.
uint32_t least(uint32_t of_shader, uint32_t of_layout) {
  assert(of_layout > 0);
  return std::min(of_shader, of_layout);
}

}  // namespace

uint32_t first_dynamic_buffer(const PipelineLayout& layout, uint32_t set) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < set && i < layout.sets.size(); i++) first += layout.sets[i] ? layout.sets[i]->dynamic_buffers() : 0;
  return first;
}

Status place(shader::ResourceTable& table, const PipelineLayout& layout) {
  for (shader::BufferSlot& slot : table.buffers) {
    auto found = find(layout, slot.set, slot.binding);
    if (!found) return found.error();
    slot.count = least(slot.count, found->count);
    slot.table = slot.set, slot.at = found->at(slot.type);
    if (found->kind != Kind::dynamic_buffer) continue;
    const uint32_t number = first_dynamic_buffer(layout, slot.set) + found->place.first_dynamic;
    constexpr uint32_t kSize_B = sizeof(shader::BufferDescriptor);
    slot.table = shader::kDynamicSet, slot.at = {number * kSize_B, kSize_B};
  }
  for (shader::TextureSlot& slot : table.textures) {
    auto image = find(layout, slot.image_set, slot.image_binding);
    if (!image) return image.error();
    slot.image_count = least(slot.image_count, image->count);
    // A shader that takes a combined descriptor apart.
    slot.image = image->at(slot.type, image->kind == Kind::combined && !slot.combined ? offsetof(shader::CombinedDescriptor, image) : 0);
    if (slot.is_alone() || slot.combined) continue;
    auto sampler = find(layout, slot.sampler_set, slot.sampler_binding);
    if (!sampler) return sampler.error();
    slot.sampler_count = least(slot.sampler_count, sampler->count);
    slot.sampler =
        sampler->at(VK_DESCRIPTOR_TYPE_SAMPLER, sampler->kind == Kind::combined ? offsetof(shader::CombinedDescriptor, sampler) : 0);
  }
  return Ok{};
}

}  // namespace tilegpu::pipeline
