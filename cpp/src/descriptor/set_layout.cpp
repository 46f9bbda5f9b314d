// descriptor/set_layout.cpp -- set layouts: where each binding's descriptors lie in the memory of a set.
//
// In: bindings. Out: DescriptorSetLayout, with the first thing that is wrong with them as an Error. The places follow from the bindings
// alone, so that sets of identically defined layouts have the same. Source: Vulkan specification, VUIDs of
// VkDescriptorSetLayoutCreateInfo and VkDescriptorSetLayoutBindingFlagsCreateInfo.
#include <algorithm>
#include <bit>

#include "descriptor/set_memory.hpp"

namespace tilegpu {

namespace descriptor {

const char* name_of(VkDescriptorType type) {
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
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
      return "uniform_buffer_dynamic";
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
      return "storage_buffer_dynamic";
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
      return "input_attachment";
    case VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK:
      return "inline_uniform_block";
    case VK_DESCRIPTOR_TYPE_MUTABLE_EXT:
      return "mutable";
    default:
      return "unknown descriptor";
  }
}

Kind kind_of(VkDescriptorType type) {
  switch (type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
      return Kind::sampler;
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
      return Kind::combined;
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
      return Kind::image;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
      return Kind::texel_buffer;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
      return Kind::buffer;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
      return Kind::dynamic_buffer;
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
      return Kind::attachment;
    case VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK:
      return Kind::inline_block;
    case VK_DESCRIPTOR_TYPE_MUTABLE_EXT:
      return Kind::mutable_;
    default:
      return Kind::unsupported;
  }
}

}  // namespace descriptor

namespace {

using descriptor::Kind;

constexpr uint32_t kHeader_B = 16;  // of sets with a variable count

uint32_t stride_of(Kind kind) {
  assert(kind != Kind::mutable_);
  switch (kind) {
    case Kind::buffer:
    case Kind::inline_block:
      return sizeof(shader::BufferDescriptor);
    case Kind::image:
    case Kind::attachment:
    case Kind::texel_buffer:
      return sizeof(shader::ImageDescriptor);
    case Kind::sampler:
      return sizeof(shader::SamplerDescriptor);
    case Kind::combined:
      return sizeof(shader::CombinedDescriptor);
    default:
      return 0;  // nothing in the set's memory
  }
}

/// What an element takes: of a mutable one a place for each type that it may have.
uint32_t stride_of(const DescriptorBinding& b, Kind kind) {
  if (kind != Kind::mutable_) return stride_of(kind);
  uint32_t stride_B = 0;
  for (const VkDescriptorType type : b.mutable_types) stride_B += stride_of(descriptor::kind_of(type));
  return stride_B;
}

bool is_texture(Kind kind) {
  return kind == Kind::image || kind == Kind::attachment || kind == Kind::texel_buffer || kind == Kind::combined || kind == Kind::sampler;
}

std::string check_types(const std::vector<VkDescriptorType>& types) {
  if (types.empty()) return "says no type that its elements may have";
  for (const VkDescriptorType& type : types) {
    const Kind kind = descriptor::kind_of(type);
    if (kind == Kind::unsupported || kind == Kind::mutable_ || kind == Kind::dynamic_buffer || kind == Kind::inline_block ||
        kind == Kind::attachment)
      return std::string("can't have elements of type ") + descriptor::name_of(type);
    if (std::find(types.data(), &type, type) != &type) return std::string("says type ") + descriptor::name_of(type) + " twice";
  }
  return {};
}

std::string check(const DescriptorBinding& b, Kind kind, bool last, bool push) {
  if (kind == Kind::unsupported) return "is not supported";
  if (kind == Kind::inline_block && (b.count % 4 || b.count > kMaxInlineUniformBlock_B))
    return "has " + std::to_string(b.count) + " bytes; a multiple of 4 up to " + std::to_string(kMaxInlineUniformBlock_B) + " is allowed";
  const bool late = b.flags & VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT;
  const bool variable = b.flags & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
  if (late && (kind == Kind::dynamic_buffer || kind == Kind::attachment)) return "can't be updated after bind; only other types can";
  if (late && push) return "can't be updated after bind: the layout is for push descriptors";
  if (variable && !last) return "has a variable count, but isn't the binding with the highest number";
  if (variable && (kind == Kind::dynamic_buffer || push)) return "can't have a variable count: it is dynamic or pushed";
  if (push && (kind == Kind::dynamic_buffer || kind == Kind::inline_block)) return "can't be pushed";
  if (push && kind == Kind::mutable_) return "can't be pushed: it is mutable";
  if (kind == Kind::mutable_)
    if (std::string wrong = check_types(b.mutable_types); !wrong.empty()) return wrong;
  if (b.immutable_samplers.empty()) return {};
  if (kind != Kind::sampler && kind != Kind::combined) return "has immutable samplers, but no sampler";
  if (b.immutable_samplers.size() != b.count)
    return "has " + std::to_string(b.immutable_samplers.size()) + " immutable samplers; its count is " + std::to_string(b.count);
  for (const Ptr<Sampler>& sampler : b.immutable_samplers)
    if (!sampler) return "has an immutable sampler that is null";
  return {};
}

}  // namespace

Expected<Ptr<const DescriptorSetLayout>> DescriptorSetLayout::create(std::vector<DescriptorBinding> bindings,
                                                                     VkDescriptorSetLayoutCreateFlags flags) {
  auto layout = std::make_shared<DescriptorSetLayout>();
  const auto by_number = [](const DescriptorBinding& a, const DescriptorBinding& b) { return a.binding < b.binding; };
  std::sort(bindings.begin(), bindings.end(), by_number);
  layout->bindings_ = std::move(bindings), layout->flags_ = flags;
  uint64_t size_B = layout->has_variable_count() ? kHeader_B : 0, elements = 0;
  for (const DescriptorBinding& b : layout->bindings_) {
    const Kind kind = descriptor::kind_of(b.type);
    const bool last = &b == &layout->bindings_.back();
    const std::string name = "set layout: binding " + std::to_string(b.binding) + " (" + descriptor::name_of(b.type) + ") ";
    if (!last && (&b)[1].binding == b.binding) return Error{VK_ERROR_VALIDATION_FAILED_EXT, name + "is given twice"};
    if (const std::string wrong = check(b, kind, last, layout->is_push()); !wrong.empty())
      return Error{VK_ERROR_VALIDATION_FAILED_EXT, name + wrong};
    Place place{static_cast<uint32_t>(size_B), stride_of(b, kind), static_cast<uint32_t>(elements), layout->dynamic_buffers_};
    const uint32_t count = kind == Kind::inline_block ? 1 : b.count;
    elements += count;
    if (elements > kMaxDescriptorsOfSet)
      return Error{VK_ERROR_OUT_OF_POOL_MEMORY, name + "makes " + std::to_string(elements) + " descriptors in the set; at most " +
                                                    std::to_string(kMaxDescriptorsOfSet) + " are allowed"};
    if (last && layout->has_variable_count())
      elements -= count;
    else
      size_B += uint64_t{place.stride_B} * count;
    if (kind == Kind::inline_block) size_B += (b.count + 15) & ~uint64_t{15};
    size_B = (size_B + 15) & ~uint64_t{15};
    if (kind == Kind::dynamic_buffer) layout->dynamic_buffers_ += count;
    layout->has_textures_ |= is_texture(kind);
    for (const VkDescriptorType type : b.mutable_types) layout->has_textures_ |= is_texture(descriptor::kind_of(type));
    layout->updates_after_bind_ |= (b.flags & VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT) != 0;
    layout->places_.push_back(place);
  }
  layout->size_B_ = static_cast<uint32_t>(size_B), layout->elements_ = static_cast<uint32_t>(elements);
  assert(layout->places_.size() == layout->bindings_.size());
  return Ptr<const DescriptorSetLayout>(layout);
}

uint32_t DescriptorSetLayout::size_B(uint32_t variable_count) const {
  assert(!has_variable_count() || variable_count <= bindings_.back().count);
  return has_variable_count() ? size_B_ + (variable_count + 1) * places_.back().stride_B : size_B_;
}
uint32_t DescriptorSetLayout::elements(uint32_t variable_count) const {
  return has_variable_count() ? elements_ + variable_count + 1 : elements_;
}

const DescriptorBinding* DescriptorSetLayout::find(uint32_t binding) const {
  const auto at =
      std::lower_bound(bindings_.begin(), bindings_.end(), binding, [](const DescriptorBinding& b, uint32_t n) { return b.binding < n; });
  return at != bindings_.end() && at->binding == binding ? &*at : nullptr;
}

uint32_t DescriptorSetLayout::part_B(const DescriptorBinding& binding, VkDescriptorType type) const {
  if (binding.type != VK_DESCRIPTOR_TYPE_MUTABLE_EXT) return 0;
  uint32_t part_B = 0;
  for (const VkDescriptorType other : binding.mutable_types) {
    if (other == type) return part_B;
    part_B += stride_of(descriptor::kind_of(other));
  }
  assert(false && "the binding's elements can't be of this type");
  return 0;
}

bool DescriptorSetLayout::is_compatible(const DescriptorSetLayout& other) const {
  if (this == &other) return true;
  const auto same = [](const DescriptorBinding& a, const DescriptorBinding& b) {
    return a.binding == b.binding && a.type == b.type && a.count == b.count && a.stages == b.stages && a.flags == b.flags &&
           a.immutable_samplers == b.immutable_samplers && a.mutable_types == b.mutable_types;
  };
  return flags_ == other.flags_ && std::equal(bindings_.begin(), bindings_.end(), other.bindings_.begin(), other.bindings_.end(), same);
}

}  // namespace tilegpu
