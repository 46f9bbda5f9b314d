// tilegpu/pipeline.hpp -- graphics pipelines.
//
// Source: Vulkan specification, chapters "Pipelines", "Fixed-Function Vertex Processing",
// "Rasterization", "Fragment Operations", "The Framebuffer".
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "tilegpu/descriptor.hpp"
#include "tilegpu/fork_mutex.hpp"
#include "tilegpu/shader.hpp"
#include "tilegpu/state.hpp"

namespace tilegpu {

inline constexpr uint32_t kMaxPushConstants_B = 256;
inline constexpr uint32_t kMaxImageSize_px = 16384;
/// Of a framebuffer that attachments hold a window of (RenderingInfo::framebuffer): what the guard band reaches round its middle.
inline constexpr uint32_t kMaxFramebufferSize_px = 65534;
inline constexpr uint32_t kMaxVaryingComponents = 128;
inline constexpr uint32_t kMaxPatchVertices = 32;
inline constexpr uint32_t kMaxEmittedVertices = 256;     ///< by an invocation of a geometry shader
inline constexpr uint32_t kMaxEmittedComponents = 1024;  ///< of all of them
inline constexpr uint32_t kMaxGeometryInvocations = 32;
inline constexpr uint32_t kMaxMeshVertices = 256, kMaxMeshPrimitives = 256;  ///< of a workgroup of a mesh shader
inline constexpr uint32_t kMaxMeshOutput_B = 64u << 10;                      ///< all of them: 4 bytes for each number
inline constexpr uint32_t kMaxTaskPayload_B = 16u << 10;                     ///< from a task shader to the mesh shaders that it starts
/// Workgroups of a draw, and of mesh shaders that one workgroup of a task shader starts: in all; in x, y and z kMaxWorkgroups.
inline constexpr uint32_t kMaxMeshWorkgroups = 1u << 22;
inline constexpr uint32_t kMaxTransformFeedbackBuffers = 4, kMaxStreams = 4;
inline constexpr uint32_t kMaxTransformFeedbackStride_B = 2048;  ///< from vertex to vertex
inline constexpr uint32_t kMaxWorkgroupInvocations = 1024;       ///< of one workgroup, and of each of its sides
inline constexpr uint32_t kMaxSharedMemory_B = 64u << 10;        ///< of one workgroup
inline constexpr uint32_t kMaxWorkgroups = 65535;                ///< of a dispatch, in x, y and z

struct ShaderStage {
  Ptr<ShaderModule> module;
  std::vector<std::pair<uint32_t, uint64_t>> specialization;  ///< (constant_id, bit pattern)
};

/// VkRenderingInputAttachmentIndexInfo: which attachment a shader's InputAttachmentIndex reads, in the tile, at its own pixel.
struct InputAttachmentIndices {
  std::array<uint32_t, kMaxColorAttachments> color = {0, 1, 2, 3, 4, 5, 6, 7};  ///< of each attachment; VK_ATTACHMENT_UNUSED: not read
  /// Absent: variables without InputAttachmentIndex read it (float: depth, uint: stencil). VK_ATTACHMENT_UNUSED: not read.
  std::optional<uint32_t> depth, stencil;
  /// Further indices of attachments that have one above: a subpass may name an attachment more than once.
  struct Alias {
    uint32_t attachment = 0;  ///< a colour, kDepth or kStencil
    uint32_t index = 0;
  };
  static constexpr uint32_t kDepth = kMaxColorAttachments, kStencil = kMaxColorAttachments + 1;
  static constexpr uint32_t kMost = 1024;
  std::vector<Alias> aliases;  ///< at most kMost
  /// What no attachment has is read from memory, through the descriptor, at the pixel's own place and layer. False: it is an error.
  bool others_in_memory = false;
};

/// The stages, the state that the pipeline fixes, and what it leaves to the command buffer.
struct GraphicsPipelineCreateInfo : GraphicsState {
  /// Which VkShaderStageFlagBits each is, its module says; without a fragment shader only depth and stencil are drawn.
  std::vector<ShaderStage> stages;
  /// What the command buffer sets; of these the state above is not read. Never in the list, and yet set by a command buffer that wishes
  /// to: viewport, scissor, blend constants, stencil reference and depth bias; they begin with the pipeline's (viewport and scissor: the
  /// whole framebuffer).
  std::vector<VkDynamicState> dynamic_states;
  Ptr<const PipelineLayout> layout;
  std::vector<VkFormat> color_formats;  ///< UNDEFINED: attachment unused by this pipeline
  VkFormat depth_format = VK_FORMAT_UNDEFINED, stencil_format = VK_FORMAT_UNDEFINED;
  InputAttachmentIndices input_attachments;
  /// VkRenderingAttachmentLocationInfo: the shader's location that each colour attachment takes, no two the same; VK_ATTACHMENT_UNUSED: the
  /// attachment is not written.
  std::array<uint32_t, kMaxColorAttachments> attachment_locations = {0, 1, 2, 3, 4, 5, 6, 7};
  /// Depth, stencil: left alone, whatever the state says. A subpass may be without what the pass that it is part of has.
  VkImageAspectFlags untested_aspects = 0;
  /// VK_EXT_attachment_feedback_loop_layout: aspects of attachments that shaders may read as textures while they are drawn to: at its own
  /// pixel a fragment reads what was there when the pass began, or at the last barrier in it. `feedback_loop_dynamic`: as the command
  /// buffer says.
  VkImageAspectFlags feedback_loops = 0;
  bool feedback_loop_dynamic = false;
  std::string label;
};

namespace pipeline {
struct Program;   // stages and what lies between them (cpp/src/pipeline/program.hpp)
struct Resolved;  // machine code and what classification found (cpp/src/pipeline/resolved.hpp)
}  // namespace pipeline

class Device;

/// Who made a pipeline: its code is for the lanes of that device.
class MadeBy {
 public:
  void set(std::weak_ptr<const Device> device) { device_ = std::move(device); }
  /// Compared by owner: another device at the same address is another one.
  bool is_another(const Ptr<Device>& device) const { return device_.owner_before(device) || device.owner_before(device_); }

 private:
  std::weak_ptr<const Device> device_;
};

class TILEGPU_API Pipeline {
 public:
  MadeBy made_by;  ///< set by Device::create_pipeline
  Pipeline(GraphicsPipelineCreateInfo info, DynamicStates dynamic, Ptr<const pipeline::Program> program,
           Ptr<const pipeline::Resolved> resolved);
  ~Pipeline();
  const GraphicsPipelineCreateInfo& info() const { return info_; }
  DynamicStates dynamic() const { return dynamic_; }
  const pipeline::Program& program() const { return *program_; }
  const Ptr<const pipeline::Program>& shared_program() const { return program_; }
  /// The program as it is in a pass that lacks some of the targets, a bit for each (colours, depth, stencil): it does not write them, and
  /// reads them as zeros. Made when it is asked for first.
  Expected<Ptr<const pipeline::Program>> without(uint32_t absent) const;
  /// Where no dynamic state decides about code or classification; else null.
  const Ptr<const pipeline::Resolved>& resolved() const { return resolved_; }

 private:
  GraphicsPipelineCreateInfo info_;
  DynamicStates dynamic_;
  Ptr<const pipeline::Program> program_;
  Ptr<const pipeline::Resolved> resolved_;
  mutable ForkMutex variants_mutex_;
  mutable std::map<uint32_t, Ptr<const pipeline::Program>> variants_;  // by `absent`
};

}  // namespace tilegpu
