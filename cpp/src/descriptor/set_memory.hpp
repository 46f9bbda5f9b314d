// descriptor/set_memory.hpp -- what a descriptor set holds: memory that shaders read, and what keeps it valid.
//
// In: a layout and descriptors. Out: plain descriptors (shader_abi/abi.hpp) at the layout's places. A SetMemory that anybody but its set
// holds (recordings, executions) is never written again: the set goes on with a copy. So recorded work sees what it was recorded with,
// no thread reads what another writes, and the holder keeps all that it names alive.
#pragma once

#include <array>
#include <deque>

#include "descriptor/textures.hpp"
#include "tilegpu/fork_mutex.hpp"

namespace tilegpu::descriptor {

enum class Kind : uint8_t {
  buffer,
  dynamic_buffer,
  inline_block,
  image,
  texel_buffer,
  sampler,
  combined,
  attachment,
  mutable_,
  unsupported
};
Kind kind_of(VkDescriptorType type);
/// Vulkan's name in lower case.
const char* name_of(VkDescriptorType type);

/// Whether elements of the binding may be of the type: it is the binding's, or one of a mutable one's.
bool may_be_written_as(const DescriptorBinding& binding, VkDescriptorType type);

/// One element of a binding.
struct Element {
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_MAX_ENUM;  // what it was written as; MAX_ENUM: it was not
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0, range_B = 0;  // of dynamic buffers, which have no place in memory; the range fits the buffer
  Ptr<TexturedView> view;
  Ptr<NumberedSampler> sampler;
  bool written = false;
};

/// What somebody worked out from contents alone and wants to find again, by a key of three numbers. Any thread.
class Findings {
 public:
  using Key = std::array<uint64_t, 3>;
  std::shared_ptr<const void> find(const Key& key) const;
  void keep(const Key& key, std::shared_ptr<const void> found) const;
  void forget();

 private:
  static constexpr size_t kMost = 32;  // the oldest goes
  mutable ForkMutex mutex_;
  mutable std::deque<std::pair<Key, std::shared_ptr<const void>>> found_;
};

struct SetMemory {
  /// All null but for immutable samplers. `variable_count`: elements of a last binding with a variable count.
  static Expected<Ptr<SetMemory>> create(Ptr<const DescriptorSetLayout> layout, Ptr<Textures> textures, uint32_t variable_count);
  SetMemory(Ptr<const DescriptorSetLayout> layout, Ptr<Textures> textures, uint32_t variable_count);
  SetMemory(const SetMemory& other);
  SetMemory& operator=(const SetMemory&) = delete;

  const uint8_t* data() const { return bytes.get(); }
  /// Elements that there are: of a variable count those that the set was made with.
  static uint32_t count_of(const DescriptorBinding& binding, uint32_t variable_count);
  uint32_t count_of(const DescriptorBinding& binding) const { return count_of(binding, variable_count); }
  const Element& element(const DescriptorBinding& binding, uint32_t number) const;
  Element& element(const DescriptorBinding& binding, uint32_t number);
  template <class T>
  T& place(const DescriptorBinding& binding, uint32_t number, uint32_t part_B = 0) {
    const DescriptorSetLayout::Place& at = layout->place(binding);
    assert(part_B + sizeof(T) <= at.stride_B && at.offset_B + (number + 1) * at.stride_B <= layout->size_B(variable_count));
    return *reinterpret_cast<T*>(bytes.get() + at.offset_B + size_t{number} * at.stride_B + part_B);
  }
  /// Of an inline uniform block.
  std::span<const uint8_t> inline_bytes(const DescriptorBinding& binding) const;
  /// Takes what memory put() of this element would need, so that it can't fail: what is half written must not be read.
  void prepare(const DescriptorBinding& binding, const Element& element) const;
  /// Puts into the memory what the element says.
  void put(const DescriptorBinding& binding, uint32_t number);

  /// The same of one place of an element.
  void put_as(const DescriptorBinding& binding, uint32_t number, VkDescriptorType type, const Element& element);

  /// The contents are about to change.
  void changes();

  Ptr<const DescriptorSetLayout> layout;
  Ptr<Textures> textures;
  uint32_t variable_count = 0;
  HostBytes bytes;
  std::vector<Element> elements;
  uint64_t serial;    // of these contents; never given again
  Findings findings;  // about these contents
};

}  // namespace tilegpu::descriptor
