// pipeline/descriptor_set.cpp -- descriptor sets: what the application wrote, checked against the layout at the write.
//
// In: DescriptorSetLayout and writes. Out: a flat array of descriptors that draws read. Source: Vulkan specification, "Resource
// Descriptors", VkWriteDescriptorSet. What the descriptors hold stays alive with the set.
#include <algorithm>

#include "pipeline/create.hpp"

namespace tilegpu::pipeline {

const char* descriptor_name(VkDescriptorType type) {
  switch (type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
      return "sampler";
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
      return "combined_image_sampler";
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
      return "sampled_image";
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
      return "storage_image";
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
      return "uniform_texel_buffer";
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
      return "storage_texel_buffer";
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
      return "uniform_buffer";
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
      return "storage_buffer";
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
      return "input_attachment";
    default:
      return "unknown descriptor";
  }
}

}  // namespace tilegpu::pipeline

namespace tilegpu {
namespace {

using pipeline::descriptor_name;

Error invalid(const std::string& message) { return {VK_ERROR_VALIDATION_FAILED_EXT, message}; }

/// What the type of the binding asks of the descriptor; empty when it is right.
std::string check(VkDescriptorType type, const Descriptor& descriptor) {
  const bool buffer = descriptor.buffer != nullptr, view = descriptor.view != nullptr, sampler = descriptor.sampler != nullptr;
  switch (type) {
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
      if (!buffer || view || sampler) return "needs a buffer";
      if (!descriptor.buffer->data()) return "needs a buffer with memory; bind memory to it first";
      if (descriptor.offset_B > descriptor.buffer->size_B())
        return "has offset " + std::to_string(descriptor.offset_B) + " B outside its buffer of " +
               std::to_string(descriptor.buffer->size_B()) + " B";
      if (descriptor.range_B != VK_WHOLE_SIZE && descriptor.range_B > descriptor.buffer->size_B() - descriptor.offset_B)
        return "has range " + std::to_string(descriptor.range_B) + " B from offset " + std::to_string(descriptor.offset_B) +
               " B; its buffer has " + std::to_string(descriptor.buffer->size_B()) + " B";
      return {};
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
      return view && sampler && !buffer ? "" : "needs an image view and a sampler";
    case VK_DESCRIPTOR_TYPE_SAMPLER:
      return sampler && !buffer ? "" : "needs a sampler";
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
      return view && !buffer ? "" : "needs an image view";
    default:
      return "is of a type that tilegpu does not know";
  }
}

}  // namespace

DescriptorSet::DescriptorSet(Ptr<const DescriptorSetLayout> layout) : layout_(std::move(layout)) {
  assert(layout_);
  uint32_t count = 0;
  for (const DescriptorBinding& binding : layout_->bindings) {
    first_.push_back(count);
    count += binding.count;
  }
  descriptors_.resize(count);
  written_.resize(count, false);
}

Status DescriptorSet::write(uint32_t binding, uint32_t element, Descriptor descriptor) {
  const auto& bindings = layout_->bindings;
  const auto found = std::find_if(bindings.begin(), bindings.end(), [&](const DescriptorBinding& b) { return b.binding == binding; });
  if (found == bindings.end()) return invalid("binding " + std::to_string(binding) + " is not in the set's layout");
  const std::string object = "binding " + std::to_string(binding) + " (" + descriptor_name(found->type) + ")";
  if (element >= found->count)
    return invalid(object + " has " + std::to_string(found->count) + " elements; element " + std::to_string(element) + " does not exist");
  if (const std::string wrong = check(found->type, descriptor); !wrong.empty()) return invalid(object + " " + wrong);
  const uint32_t index = first_[static_cast<size_t>(found - bindings.begin())] + element;
  descriptors_[index] = std::move(descriptor);
  written_[index] = true;
  ++version_;
  return Ok{};
}

const Descriptor* DescriptorSet::find(uint32_t binding, uint32_t element) const {
  const auto& bindings = layout_->bindings;
  const auto found = std::find_if(bindings.begin(), bindings.end(), [&](const DescriptorBinding& b) { return b.binding == binding; });
  if (found == bindings.end() || element >= found->count) return nullptr;
  const uint32_t index = first_[static_cast<size_t>(found - bindings.begin())] + element;
  return written_[index] ? &descriptors_[index] : nullptr;
}

}  // namespace tilegpu
