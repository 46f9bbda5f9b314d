// hsr/bound_memory.hpp -- which memory a draw's descriptors name.
//
// In: a draw's state, with the sets that are bound. Out: addresses and sizes: rules about what is read and written go by memory, not by
// variables, since one buffer may be bound twice. Source: Arm's article on the fragment pre-pass, rule 3 ("the same buffer").
#pragma once

#include <algorithm>
#include <cassert>

#include "command/draw.hpp"

namespace tilegpu::hsr {

inline constexpr uint64_t kMaxTexel_B = 16;

/// A piece of memory.
struct Bytes {
  const uint8_t* data;
  uint64_t size_B;

  bool operator==(const Bytes&) const = default;
  /// Whether they share a byte.
  bool overlaps(const Bytes& other) const {
    return size_B && other.size_B && other.data < data + size_B && data < other.data + other.size_B;
  }
};

/// Of an array of descriptors in the set that is bound.
inline uint32_t elements_of(const command::DrawState& state, uint32_t set, const shader::DescriptorAddress& at, uint32_t count) {
  return at.counted ? std::min(count, *reinterpret_cast<const uint32_t*>(state.sets[set])) : count;
}

inline const shader::BufferDescriptor& buffer_at(const command::DrawState& state, const shader::BufferSlot& slot, uint32_t element) {
  assert(element < slot.count);
  return *reinterpret_cast<const shader::BufferDescriptor*>(state.sets[slot.table] + slot.at.offset_B + size_t{element} * slot.at.stride_B);
}

inline const shader::SampledImage& image_at(const command::DrawState& state, const shader::TextureSlot& slot, uint32_t element) {
  assert(element < slot.image_count);
  const uint8_t* at = state.sets[slot.image_set] + slot.image.offset_B + size_t{element} * slot.image.stride_B;
  return *(slot.combined ? reinterpret_cast<const shader::CombinedDescriptor*>(at)->image
                         : *reinterpret_cast<const shader::ImageDescriptor*>(at))
              .image;
}

/// Bytes of a level; of a null view 0.
inline uint64_t level_size_B(const shader::ImageViewAbi& view, int32_t level) {
  const shader::ViewLevel& at = view.level[level];
  if (level >= view.level_count) return 0;
  if (!view.layer_pitch_B[level]) return kMaxTexel_B * static_cast<uint64_t>(at.width_px);  // a texel buffer, or less
  return view.layer_pitch_B[level] * static_cast<uint64_t>(std::max(view.layer_count, at.depth_px));
}

/// f(data, size_B) for the bytes of a buffer's slot.
template <class F>
void each_bytes(const command::DrawState& state, const shader::BufferSlot& slot, F&& f) {
  for (uint32_t k = 0; k < elements_of(state, slot.set, slot.at, slot.count); k++) {
    const shader::BufferDescriptor& buffer = buffer_at(state, slot, k);
    f(buffer.data, uint64_t{buffer.size_B});
  }
}

/// The same of an image's slot, level by level.
template <class F>
void each_bytes(const command::DrawState& state, const shader::TextureSlot& slot, F&& f) {
  for (uint32_t k = 0; k < elements_of(state, slot.image_set, slot.image, slot.image_count); k++) {
    const shader::ImageViewAbi& view = *image_at(state, slot, k).alone.view;
    for (int32_t level = 0; level < view.level_count; level++) f(view.level[level].data, level_size_B(view, level));
  }
}

/// The fragment shader writes memory that it reads by another descriptor.
bool reads_what_it_writes(const command::DrawState& state);

}  // namespace tilegpu::hsr
