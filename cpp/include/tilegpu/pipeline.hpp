// tilegpu/pipeline.hpp -- set and pipeline layouts, descriptor sets, graphics pipelines.
//
// Source: Vulkan specification, chapters "Pipelines", "Resource Descriptors", "Fixed-Function Vertex Processing",
// "Rasterization", "Fragment Operations", "The Framebuffer".
#pragma once

#include <array>
#include <optional>

#include "tilegpu/resource.hpp"
#include "tilegpu/shader.hpp"

namespace tilegpu {

inline constexpr uint32_t kMaxColorAttachments = 8;
inline constexpr uint32_t kMaxVertexBindings = 16;
inline constexpr uint32_t kMaxVertexAttributes = 16;
inline constexpr uint32_t kMaxDescriptorSets = 8;
inline constexpr uint32_t kMaxPushConstants_B = 256;
inline constexpr uint32_t kMaxImageSize_px = 16384;
inline constexpr uint32_t kMaxVaryingComponents = 128;

struct DescriptorBinding {
  uint32_t binding = 0;
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
  uint32_t count = 1;
  VkShaderStageFlags stages = VK_SHADER_STAGE_ALL_GRAPHICS;
};

struct DescriptorSetLayout {
  std::vector<DescriptorBinding> bindings;  ///< sorted by binding
};

/// One descriptor as written by the application.
struct Descriptor {
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0, range_B = VK_WHOLE_SIZE;
  Ptr<ImageView> view;
  Ptr<Sampler> sampler;
};

class TILEGPU_API DescriptorSet {
 public:
  explicit DescriptorSet(Ptr<const DescriptorSetLayout> layout);
  Status write(uint32_t binding, uint32_t element, Descriptor descriptor);
  const DescriptorSetLayout& layout() const { return *layout_; }
  /// Null where nothing was written.
  const Descriptor* find(uint32_t binding, uint32_t element) const;
  uint64_t version() const { return version_; }  ///< grows with every write

 private:
  Ptr<const DescriptorSetLayout> layout_;
  std::vector<uint32_t> first_;  // of each binding in descriptors_
  std::vector<Descriptor> descriptors_;
  std::vector<bool> written_;
  uint64_t version_ = 0;
};

struct PipelineLayout {
  std::vector<Ptr<const DescriptorSetLayout>> sets;
  uint32_t push_constants_B = 0;
};

struct ShaderStage {
  Ptr<ShaderModule> module;
  std::vector<std::pair<uint32_t, uint32_t>> specialization;  ///< (constant_id, 32-bit pattern)
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
  std::vector<VkPipelineColorBlendAttachmentState> attachments;
  std::array<float, 4> constants = {};
};

/// VkRenderingInputAttachmentIndexInfo: which attachment a shader's InputAttachmentIndex reads, in the tile, at its own pixel.
struct InputAttachmentIndices {
  std::array<uint32_t, kMaxColorAttachments> color = {0, 1, 2, 3, 4, 5, 6, 7};  ///< of each attachment; VK_ATTACHMENT_UNUSED: not read
  /// Absent: variables without InputAttachmentIndex read it (float: depth, uint: stencil). VK_ATTACHMENT_UNUSED: not read.
  std::optional<uint32_t> depth, stencil;
};

struct GraphicsPipelineCreateInfo {
  ShaderStage vertex, fragment;  ///< fragment.module may be null (depth only)
  Ptr<const PipelineLayout> layout;
  std::vector<VkVertexInputBindingDescription> vertex_bindings;
  std::vector<VkVertexInputAttributeDescription> vertex_attributes;
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  bool primitive_restart = false;
  RasterizationState rasterization;
  MultisampleState multisample;
  DepthStencilState depth_stencil;
  ColorBlendState blend;
  std::vector<VkFormat> color_formats;  ///< UNDEFINED: attachment unused by this pipeline
  VkFormat depth_format = VK_FORMAT_UNDEFINED, stencil_format = VK_FORMAT_UNDEFINED;
  InputAttachmentIndices input_attachments;
  std::string label;
};

namespace pipeline {
struct Compiled;  // machine code and what classification found (cpp/src/pipeline/compiled.hpp)
}

class TILEGPU_API Pipeline {
 public:
  Pipeline(GraphicsPipelineCreateInfo info, std::unique_ptr<pipeline::Compiled> compiled);
  ~Pipeline();
  const GraphicsPipelineCreateInfo& info() const { return info_; }
  const pipeline::Compiled& compiled() const { return *compiled_; }

 private:
  GraphicsPipelineCreateInfo info_;
  std::unique_ptr<pipeline::Compiled> compiled_;
};

}  // namespace tilegpu
