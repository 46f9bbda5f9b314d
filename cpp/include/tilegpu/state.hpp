// tilegpu/state.hpp -- the state that a draw is made with: all that Vulkan 1.3 and VK_EXT_extended_dynamic_state3 let vary.
//
// Plain data: compared, copied and hashed freely. Source: Vulkan specification, chapters "Fixed-Function Vertex Processing",
// "Rasterization", "Fragment Operations", "The Framebuffer", and VkDynamicState.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>

#include "tilegpu/types.hpp"

namespace tilegpu {

inline constexpr uint32_t kMaxColorAttachments = 8;
inline constexpr uint32_t kMaxVertexBindings = 16;
inline constexpr uint32_t kMaxVertexAttributes = 16;

/// A list with a limit, inside its owner.
template <class T, uint32_t N>
class FixedList {
 public:
  FixedList() = default;
  FixedList(std::initializer_list<T> items) { assign(items.begin(), items.end()); }
  template <class It>
  void assign(It first, It last) {
    clear();
    for (; first != last; ++first) push_back(*first);
  }
  void push_back(const T& item) {
    if (wanted_ < N) items_[wanted_] = item;
    wanted_++;
  }
  void clear() { wanted_ = 0; }
  uint32_t size() const { return std::min(wanted_, N); }
  bool empty() const { return wanted_ == 0; }
  /// How many were given; more than capacity() is for who checks to complain of.
  uint32_t wanted() const { return wanted_; }
  static constexpr uint32_t capacity() { return N; }
  const T& operator[](size_t i) const {
    assert(i < size());
    return items_[i];
  }
  T& operator[](size_t i) {
    assert(i < size());
    return items_[i];
  }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size(); }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size(); }

 private:
  std::array<T, N> items_{};
  uint32_t wanted_ = 0;
};

struct DepthStencilState {
  bool depth_test = false, depth_write = false;
  VkCompareOp depth_compare = VK_COMPARE_OP_LESS;
  bool depth_bounds_test = false;
  float min_depth_bounds = 0, max_depth_bounds = 1;
  bool stencil_test = false;
  VkStencilOpState front = {}, back = {};
};

struct RasterizationState {
  bool depth_clamp = false, rasterizer_discard = false;
  VkPolygonMode polygon_mode = VK_POLYGON_MODE_FILL;
  VkCullModeFlags cull_mode = VK_CULL_MODE_NONE;
  VkFrontFace front_face = VK_FRONT_FACE_COUNTER_CLOCKWISE;
  bool depth_bias_enable = false;
  float depth_bias_constant = 0, depth_bias_clamp = 0, depth_bias_slope = 0;
  float line_width = 1;
  bool provoking_vertex_last = false;
};

struct MultisampleState {
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  bool sample_shading = false;
  float min_sample_shading = 1;
  uint32_t sample_mask = 0xffffffffu;
  bool alpha_to_coverage = false, alpha_to_one = false;
};

struct ColorBlendState {
  bool logic_op_enable = false;
  VkLogicOp logic_op = VK_LOGIC_OP_COPY;
  /// Of each colour attachment; those beyond the list are not blended, and all their components are written.
  FixedList<VkPipelineColorBlendAttachmentState, kMaxColorAttachments> attachments;
};

/// What fixed functions read while a draw runs.
struct FixedFunctionState {
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  bool primitive_restart = false;
  RasterizationState rasterization;
  MultisampleState multisample;
  DepthStencilState depth_stencil;
  VkViewport viewport = {};
  VkRect2D scissor = {};
  std::array<float, 4> blend_constants = {};
};

/// All of it: the fixed functions', and what goes into code (vertex fetch, blending).
struct GraphicsState : FixedFunctionState {
  FixedList<VkVertexInputBindingDescription, kMaxVertexBindings> vertex_bindings;
  FixedList<VkVertexInputAttributeDescription, kMaxVertexAttributes> vertex_attributes;
  ColorBlendState blend;
};

}  // namespace tilegpu
