// tilegpu/descriptor.hpp -- descriptor set layouts and descriptor sets.
//
// Source: Vulkan specification, chapter "Resource Descriptors"; VK_EXT_descriptor_indexing, VK_EXT_robustness2 (nullDescriptor),
// VK_EXT_inline_uniform_block. What Vulkan leaves undefined is defined here:
//   - A draw sees what its sets held when it was recorded, whatever is written to them afterwards. Sets whose layout has a binding with
//     UPDATE_AFTER_BIND are seen as they are when the command buffer is submitted. No write, at any time and from any thread, reaches what
//     was submitted.
//   - What a set names stays alive with it, and with the recordings and executions that use it.
//   - An element that nobody wrote is a null descriptor: buffers of 0 bytes, images and texel buffers that give 0, keep nothing
//     and have size 0. So is every element beyond a variable count. Beyond the elements of another binding the last one is taken.
//   - A mutable element that a shader reads as what it was not written as is a null descriptor.
#pragma once

#include <atomic>

#include "tilegpu/fork_mutex.hpp"
#include "tilegpu/resource.hpp"

namespace tilegpu {

inline constexpr uint32_t kMaxDescriptorSets = 8;
inline constexpr uint32_t kMaxDescriptorsOfSet = 1u << 20;  ///< elements of all bindings together
inline constexpr uint32_t kMaxDynamicBuffers = 64;          ///< elements, of all sets of a pipeline layout
inline constexpr uint32_t kMaxInlineUniformBlock_B = 4096;

struct DescriptorBinding {
  uint32_t binding = 0;
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
  uint32_t count = 1;  ///< of an inline uniform block: its bytes
  VkShaderStageFlags stages = VK_SHADER_STAGE_ALL_GRAPHICS;
  /// PARTIALLY_BOUND: elements that were not written may be there. UPDATE_AFTER_BIND, VARIABLE_DESCRIPTOR_COUNT (of the last binding).
  VkDescriptorBindingFlags flags = 0;
  std::vector<Ptr<Sampler>> immutable_samplers;  ///< none, or `count`
  /// Of VK_DESCRIPTOR_TYPE_MUTABLE_EXT, what each element may be written as.
  std::vector<VkDescriptorType> mutable_types = {};
};

/// The memory that sets of it have: an offset for each binding.
class TILEGPU_API DescriptorSetLayout {
 public:
  static Expected<Ptr<const DescriptorSetLayout>> create(std::vector<DescriptorBinding> bindings,
                                                         VkDescriptorSetLayoutCreateFlags flags = 0);
  /// Where a binding's elements lie.
  struct Place {
    uint32_t offset_B = 0, stride_B = 0;
    uint32_t first = 0;          // number of element 0 among all of the set
    uint32_t first_dynamic = 0;  // dynamic buffers: the same among those
  };
  const std::vector<DescriptorBinding>& bindings() const { return bindings_; }  ///< sorted by binding
  const DescriptorBinding* find(uint32_t binding) const;                        ///< null: there is none
  /// Where within an element one of that type lies, of those that the binding may have: a place for each, of which one at most is not null.
  uint32_t part_B(const DescriptorBinding& binding, VkDescriptorType type) const;
  const Place& place(const DescriptorBinding& binding) const { return places_[static_cast<size_t>(&binding - bindings_.data())]; }
  /// Of a set with so many elements of the last binding, where its count is variable (else whatever is given), and one that is null.
  uint32_t size_B(uint32_t variable_count) const;
  uint32_t elements(uint32_t variable_count) const;
  /// Sets begin with a uint32_t, the variable count.
  bool has_variable_count() const {
    return !bindings_.empty() && bindings_.back().flags & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT &&
           bindings_.back().type != VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
  }
  uint32_t dynamic_buffers() const { return dynamic_buffers_; }
  VkDescriptorSetLayoutCreateFlags flags() const { return flags_; }
  bool is_push() const { return flags_ & VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR; }
  bool updates_after_bind() const { return updates_after_bind_; }
  bool has_textures() const { return has_textures_; }
  /// "Identically defined": a set of one may be bound where the other is asked for.
  bool is_compatible(const DescriptorSetLayout& other) const;

 private:
  std::vector<DescriptorBinding> bindings_;
  std::vector<Place> places_;
  VkDescriptorSetLayoutCreateFlags flags_ = 0;
  uint32_t size_B_ = 0, elements_ = 0;  // but for a variable count
  uint32_t dynamic_buffers_ = 0;
  bool updates_after_bind_ = false, has_textures_ = false;
};

/// One descriptor as written by the application. Nothing in it: a null descriptor.
struct Descriptor {
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0, range_B = VK_WHOLE_SIZE;
  Ptr<ImageView> view;
  Ptr<Sampler> sampler;
  Ptr<BufferView> texels;                               ///< of texel buffers
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_MAX_ENUM;  ///< what a mutable binding's element becomes; of all others it is the binding's
};

namespace descriptor {
struct SetMemory;  // cpp/src/descriptor/set_memory.hpp
class Textures;    // cpp/src/descriptor/textures.hpp
}  // namespace descriptor

/// Made by Device::create_descriptor_set. Any thread may write while others record and execute.
class TILEGPU_API DescriptorSet {
 public:
  explicit DescriptorSet(Ptr<descriptor::SetMemory> memory);
  ~DescriptorSet();
  Status write(uint32_t binding, uint32_t element, const Descriptor& descriptor);
  /// VkWriteDescriptorSetInlineUniformBlock.
  Status write_inline(uint32_t binding, uint32_t offset_B, const void* data, uint32_t size_B);
  /// VkCopyDescriptorSet: what the source holds now.
  Status copy(const DescriptorSet& source, uint32_t source_binding, uint32_t source_element, uint32_t binding, uint32_t element,
              uint32_t count);
  const DescriptorSetLayout& layout() const { return *layout_; }
  bool is_written(uint32_t binding, uint32_t element) const;
  uint64_t version() const { return version_.load(std::memory_order_acquire); }  ///< grows with every write
  /// What the set holds now; later writes go to a copy.
  Ptr<const descriptor::SetMemory> memory() const;

 private:
  Status write_element(uint32_t binding, uint32_t element, const Descriptor& descriptor);
  descriptor::SetMemory& own_memory();  // the mutex is held
  uint32_t count_of(const DescriptorBinding& binding) const;
  const Ptr<const DescriptorSetLayout> layout_;
  const Ptr<descriptor::Textures> textures_;
  const uint32_t variable_count_;
  mutable ForkMutex mutex_;
  Ptr<descriptor::SetMemory> memory_;
  std::atomic<uint64_t> version_{0};
};

struct PipelineLayout {
  std::vector<Ptr<const DescriptorSetLayout>> sets;
  uint32_t push_constants_B = 0;
  /// Not Vulkan's: sets that are null here, and push constants, are made as the shaders ask for them when the pipeline is created.
  bool complete_by_reflection = false;
};

}  // namespace tilegpu
