// pipeline/stage_list.hpp -- things of stages, one of each at most, in the order in which they were added; found by stage at once.
// In: a stage. Out: what is of it, or null.
// What there is for each stage of a program or of what a draw runs lies in such a list: another kind of stage needs no field.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

#include "tilegpu/pipeline.hpp"

namespace tilegpu::pipeline {

/// Vertex to mesh, compute among them: the lowest bits of VkShaderStageFlagBits.
inline constexpr uint32_t kStageKinds = 8;
static_assert(VK_SHADER_STAGE_MESH_BIT_EXT == 1 << (kStageKinds - 1));

/// T has a field `stage`.
template <class T>
class StageList {
 public:
  T& add(T of_stage) {
    const uint32_t bit = bit_of(of_stage.stage);
    assert(std::has_single_bit(static_cast<uint32_t>(of_stage.stage)) && bit < kStageKinds && !place_[bit]);
    items_.push_back(std::move(of_stage));
    place_[bit] = static_cast<uint8_t>(items_.size());
    return items_.back();
  }
  /// Null: there is none.
  const T* find(VkShaderStageFlagBits stage) const {
    const uint32_t bit = bit_of(stage);
    return bit < kStageKinds && place_[bit] ? &items_[place_[bit] - 1u] : nullptr;
  }
  T* find(VkShaderStageFlagBits stage) { return const_cast<T*>(std::as_const(*this).find(stage)); }

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const T& operator[](size_t i) const {
    assert(i < items_.size());
    return items_[i];
  }
  T& operator[](size_t i) {
    assert(i < items_.size());
    return items_[i];
  }
  const T& front() const { return items_.front(); }
  const T& back() const { return items_.back(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  auto rbegin() const { return items_.rbegin(); }
  auto rend() const { return items_.rend(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }

 private:
  static uint32_t bit_of(VkShaderStageFlagBits stage) { return static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(stage))); }
  std::vector<T> items_;
  std::array<uint8_t, kStageKinds> place_{};  // in items_, from 1 on
};

}  // namespace tilegpu::pipeline
