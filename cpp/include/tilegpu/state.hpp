// tilegpu/state.hpp -- the state that a draw is made with: what Vulkan 1.3, VK_EXT_extended_dynamic_state3 and
// VK_KHR_fragment_shading_rate let vary, as far as Khronos's extensions have it. The ten that belong to extensions of NVIDIA's (from
// viewport W scaling to the shading rate image) are no DynamicState, as those extensions are not offered. Plain data, hashed freely.
// Source: Vulkan specification, chapters "Fixed-Function Vertex Processing", "Rasterization", "Fragment Operations", "The Framebuffer", and
// VkDynamicState.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "tilegpu/types.hpp"

namespace tilegpu {

inline constexpr uint32_t kMaxColorAttachments = 8;
inline constexpr uint32_t kMaxVertexBindings = 16;
inline constexpr uint32_t kMaxVertexAttributes = 16;
inline constexpr uint32_t kMaxViewports = 16;
inline constexpr uint32_t kMaxDiscardRectangles = 8;
inline constexpr uint32_t kMaxLineStippleFactor = 256;
inline constexpr float kMaxLineWidth_px = 64;  ///< lineWidthRange, from 1 on: widths are cut to it
/// pointSizeRange; in steps of 1/128 px. What shaders write is cut to it.
inline constexpr float kMinPointSize_px = 1, kMaxPointSize_px = 1024;
/// maxExtraPrimitiveOverestimationSize; sizes are rounded up to 1/256 px.
inline constexpr float kMaxExtraOverestimation_px = 0.75f;

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

/// VkDynamicState, one number each. Where a comment below says "X", the state is VK_DYNAMIC_STATE_X.
enum class DynamicState : uint8_t {
  // Vulkan 1.0
  viewport,
  scissor,
  line_width,
  depth_bias,
  blend_constants,
  depth_bounds,
  stencil_compare_mask,
  stencil_write_mask,
  stencil_reference,
  // Vulkan 1.3
  cull_mode,
  front_face,
  primitive_topology,
  viewport_with_count,
  scissor_with_count,
  vertex_input_binding_stride,
  depth_test_enable,
  depth_write_enable,
  depth_compare_op,
  depth_bounds_test_enable,
  stencil_test_enable,
  stencil_op,
  rasterizer_discard_enable,
  depth_bias_enable,
  primitive_restart_enable,
  // VK_EXT_extended_dynamic_state2, VK_EXT_vertex_input_dynamic_state, VK_EXT_color_write_enable
  patch_control_points,
  logic_op,
  vertex_input,
  color_write_enable,
  // VK_EXT_extended_dynamic_state3, and what goes with it
  tessellation_domain_origin,
  depth_clamp_enable,
  polygon_mode,
  rasterization_samples,
  sample_mask,
  alpha_to_coverage_enable,
  alpha_to_one_enable,
  logic_op_enable,
  color_blend_enable,
  color_blend_equation,
  color_write_mask,
  rasterization_stream,
  conservative_rasterization_mode,
  extra_primitive_overestimation_size,
  depth_clip_enable,
  sample_locations_enable,
  sample_locations,
  color_blend_advanced,
  provoking_vertex_mode,
  line_rasterization_mode,
  line_stipple_enable,
  line_stipple,
  depth_clip_negative_one_to_one,
  // VK_EXT_depth_clamp_control
  depth_clamp_range,
  // VK_KHR_fragment_shading_rate
  fragment_shading_rate,
  // VK_EXT_discard_rectangles
  discard_rectangle,
  discard_rectangle_enable,
  discard_rectangle_mode,
  count
};
inline constexpr uint32_t kDynamicStates = static_cast<uint32_t>(DynamicState::count);

/// Some of them.
struct DynamicStates {
  uint64_t bits = 0;
  static constexpr uint64_t bit(DynamicState state) { return uint64_t{1} << static_cast<uint32_t>(state); }
  constexpr bool has(DynamicState state) const { return bits & bit(state); }
  constexpr void add(DynamicState state) { bits |= bit(state); }
};
static_assert(kDynamicStates <= 64);

struct DynamicStateInfo {
  DynamicState state;
  VkDynamicState vulkan;
  const char* name;  ///< Vulkan's, short and in small letters: "cull_mode"
};
/// By Vulkan's number, or by name ("cull_mode", "VK_DYNAMIC_STATE_CULL_MODE"); null: not a state of a graphics pipeline that is known here.
TILEGPU_API const DynamicStateInfo* find_dynamic_state(VkDynamicState state);
TILEGPU_API const DynamicStateInfo* find_dynamic_state(const std::string& name);
TILEGPU_API const DynamicStateInfo& dynamic_state_info(DynamicState state);

struct DepthStencilState {
  bool depth_test = false;                           ///< DEPTH_TEST_ENABLE
  bool depth_write = false;                          ///< DEPTH_WRITE_ENABLE
  VkCompareOp depth_compare = VK_COMPARE_OP_LESS;    ///< DEPTH_COMPARE_OP
  bool depth_bounds_test = false;                    ///< DEPTH_BOUNDS_TEST_ENABLE
  float min_depth_bounds = 0, max_depth_bounds = 1;  ///< DEPTH_BOUNDS
  bool stencil_test = false;                         ///< STENCIL_TEST_ENABLE
  /// Operations: STENCIL_OP; the others: STENCIL_COMPARE_MASK, STENCIL_WRITE_MASK, STENCIL_REFERENCE.
  VkStencilOpState front = {}, back = {};
};

/// Whether the near and the far plane cut.
enum class DepthClip : uint8_t { unless_clamped, disabled, enabled };

/// VkDepthBiasRepresentationEXT, by its numbers; headers before 1.3.255 have it not.
enum class DepthBiasRepresentation : uint8_t { least_representable_value_format, least_representable_value_force_unorm, floating };

struct RasterizationState {
  bool depth_clamp = false;       ///< DEPTH_CLAMP_ENABLE
  bool depth_clamp_user = false;  ///< DEPTH_CLAMP_RANGE: to these two, not to the viewport's depths
  float min_depth_clamp = 0, max_depth_clamp = 1;
  DepthClip depth_clip = DepthClip::unless_clamped;          ///< DEPTH_CLIP_ENABLE
  bool depth_clip_negative_one_to_one = false;               ///< DEPTH_CLIP_NEGATIVE_ONE_TO_ONE: the near plane is z = -w, not z = 0
  bool rasterizer_discard = false;                           ///< RASTERIZER_DISCARD_ENABLE
  VkPolygonMode polygon_mode = VK_POLYGON_MODE_FILL;         ///< POLYGON_MODE
  VkCullModeFlags cull_mode = VK_CULL_MODE_NONE;             ///< CULL_MODE
  VkFrontFace front_face = VK_FRONT_FACE_COUNTER_CLOCKWISE;  ///< FRONT_FACE
  bool depth_bias_enable = false;                            ///< DEPTH_BIAS_ENABLE
  float depth_bias_constant = 0, depth_bias_clamp = 0, depth_bias_slope = 0;  ///< DEPTH_BIAS, this and the next
  /// What the constant is a multiple of. It is exact, whether that is asked for (depthBiasExact) or not.
  DepthBiasRepresentation depth_bias_representation = DepthBiasRepresentation::least_representable_value_format;
  float line_width = 1;                ///< LINE_WIDTH
  bool provoking_vertex_last = false;  ///< PROVOKING_VERTEX_MODE
  uint32_t rasterization_stream = 0;   ///< RASTERIZATION_STREAM: of the geometry shader's; without one all is stream 0
  VkConservativeRasterizationModeEXT conservative_mode =
      VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT;                            ///< CONSERVATIVE_RASTERIZATION_MODE
  float extra_overestimation_px = 0;                                              ///< EXTRA_PRIMITIVE_OVERESTIMATION_SIZE
  VkLineRasterizationModeEXT line_mode = VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT;  ///< LINE_RASTERIZATION_MODE
  bool line_stipple = false;                                                      ///< LINE_STIPPLE_ENABLE
  uint16_t line_stipple_pattern = 0xffff;                                         ///< LINE_STIPPLE, this and the next
  uint32_t line_stipple_factor = 1;

  /// Cut to lineWidthRange, as Vulkan has it; what is no number is 1.
  float allowed_line_width_px() const { return line_width > 1 ? std::min(line_width, kMaxLineWidth_px) : 1.0f; }
  /// Where depth clamp holds depths, before the limits of their format: the lower first.
  std::pair<float, float> clamp_range(const VkViewport& viewport) const {
    const float a = depth_clamp_user ? min_depth_clamp : viewport.minDepth, b = depth_clamp_user ? max_depth_clamp : viewport.maxDepth;
    return a < b ? std::pair(a, b) : std::pair(b, a);
  }
  bool clips_depth() const { return depth_clip == DepthClip::unless_clamped ? !depth_clamp : depth_clip == DepthClip::enabled; }
};

/// Where samples lie in each pixel.
struct SampleLocations {
  uint32_t count = 0;                ///< 0: never given
  std::array<float, 32> at_px = {};  ///< x, y of each from the pixel's corner: multiples of 1/16, 0 to 15/16

  bool operator==(const SampleLocations&) const = default;
};
/// Of Vulkan's: one pixel by one, 1, 2, 4, 8 or 16 samples; places are rounded to 1/16 of a pixel and cut to 0 .. 15/16. `what`: for
/// errors.
TILEGPU_API Expected<SampleLocations> sample_locations_of(const VkSampleLocationsInfoEXT& info, const std::string& what);

struct MultisampleState {
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;  ///< RASTERIZATION_SAMPLES
  bool sample_shading = false;                            ///< never dynamic
  float min_sample_shading = 1;                           ///< never dynamic
  uint32_t sample_mask = 0xffffffffu;                     ///< SAMPLE_MASK
  bool alpha_to_coverage = false;                         ///< ALPHA_TO_COVERAGE_ENABLE
  bool alpha_to_one = false;                              ///< ALPHA_TO_ONE_ENABLE
  bool sample_locations_enable = false;                   ///< SAMPLE_LOCATIONS_ENABLE: else the standard ones
  SampleLocations sample_locations;                       ///< SAMPLE_LOCATIONS
};

/// What an advanced blend operation has beyond the operator, which stands in colorBlendOp and alphaBlendOp.
struct AdvancedBlend {
  bool src_premultiplied = true, dst_premultiplied = true, clamp_results = false;
  VkBlendOverlapEXT overlap = VK_BLEND_OVERLAP_UNCORRELATED_EXT;

  bool operator==(const AdvancedBlend&) const = default;
};

struct ColorBlendState {
  bool logic_op_enable = false;           ///< LOGIC_OP_ENABLE
  VkLogicOp logic_op = VK_LOGIC_OP_COPY;  ///< LOGIC_OP
  /// Of each colour attachment: COLOR_BLEND_ENABLE, COLOR_BLEND_EQUATION, COLOR_WRITE_MASK. Those beyond the list are not blended, and
  /// all their components are written.
  FixedList<VkPipelineColorBlendAttachmentState, kMaxColorAttachments> attachments;
  /// Of each colour attachment, with its operator: COLOR_BLEND_ADVANCED. Of an attachment that is set by equation and as advanced, the
  /// later command holds.
  std::array<AdvancedBlend, kMaxColorAttachments> advanced;
  uint32_t color_write_enables = ~0u;  ///< COLOR_WRITE_ENABLE, a bit for each colour attachment
};

/// VK_KHR_fragment_shading_rate: how many pixels a fragment has, FRAGMENT_SHADING_RATE_KHR. The pipeline's size is combined with that of
/// the primitive (PrimitiveShadingRateKHR), and what comes of it with that of the pass's attachment (ShadingRateAttachment).
struct FragmentShadingRateState {
  uint32_t width_px = 1, height_px = 1;
  std::array<VkFragmentShadingRateCombinerOpKHR, 2> combiner_ops = {VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR,
                                                                    VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR};
};

/// VK_EXT_discard_rectangles: pixels of the framebuffer where nothing is drawn, whatever the viewport. No sample there is covered.
struct DiscardRectangleState {
  bool enable = false;                                                       ///< DISCARD_RECTANGLE_ENABLE
  VkDiscardRectangleModeEXT mode = VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT;  ///< DISCARD_RECTANGLE_MODE: what of a pixel is drawn
  uint32_t count = 0;                                     ///< so many of the first, as a pipeline has it; 0: all that are given
  FixedList<VkRect2D, kMaxDiscardRectangles> rectangles;  ///< DISCARD_RECTANGLE

  uint32_t used() const { return count ? std::min(count, rectangles.size()) : rectangles.size(); }
  /// Whether it may take a pixel away.
  bool acts() const { return enable && (mode == VK_DISCARD_RECTANGLE_MODE_INCLUSIVE_EXT || used()); }
  bool draws(int32_t x_px, int32_t y_px) const {
    const bool inside = std::any_of(rectangles.begin(), rectangles.begin() + used(), [&](const VkRect2D& r) {
      return x_px >= r.offset.x && x_px < int64_t{r.offset.x} + r.extent.width && y_px >= r.offset.y &&
             y_px < int64_t{r.offset.y} + r.extent.height;
    });
    return inside == (mode == VK_DISCARD_RECTANGLE_MODE_INCLUSIVE_EXT);
  }
};

/// That it begins at no negative pixel and ends within 31 bits. `what`: for errors.
TILEGPU_API Status check_discard_rectangle(const VkRect2D& rectangle, const std::string& what);

struct VertexInputBinding : VkVertexInputBindingDescription {
  uint32_t divisor = 1;  ///< by instance: instances that share an element; 0: all of them
};

/// What fixed functions read while a draw runs.
struct FixedFunctionState {
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;                   ///< PRIMITIVE_TOPOLOGY
  bool primitive_restart = false;                                                       ///< PRIMITIVE_RESTART_ENABLE
  uint32_t patch_control_points = 3;                                                    ///< PATCH_CONTROL_POINTS_EXT
  VkTessellationDomainOrigin domain_origin = VK_TESSELLATION_DOMAIN_ORIGIN_UPPER_LEFT;  ///< TESSELLATION_DOMAIN_ORIGIN_EXT
  RasterizationState rasterization;
  MultisampleState multisample;
  DepthStencilState depth_stencil;
  std::array<float, 4> blend_constants = {};  ///< BLEND_CONSTANTS
  FragmentShadingRateState shading_rate;
  DiscardRectangleState discard_rectangles;
};

/// All of it: the fixed functions', viewports, and what goes into code (vertex fetch, blending).
struct GraphicsState : FixedFunctionState {
  FixedList<VkViewport, kMaxViewports> viewports;  ///< VIEWPORT, VIEWPORT_WITH_COUNT
  FixedList<VkRect2D, kMaxViewports> scissors;     ///< SCISSOR, SCISSOR_WITH_COUNT
  /// VERTEX_INPUT; strides alone: VERTEX_INPUT_BINDING_STRIDE
  FixedList<VertexInputBinding, kMaxVertexBindings> vertex_bindings;
  FixedList<VkVertexInputAttributeDescription, kMaxVertexAttributes> vertex_attributes;
  ColorBlendState blend;
};

}  // namespace tilegpu
