// command/draw.hpp -- what a pass is made of: draws with their state resolved, clears, queries. In: recorded commands. Out: for phases.
#pragma once

#include <array>

#include "pipeline/resolved.hpp"
#include "shader_abi/abi.hpp"
#include "tilegpu/pipeline.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::command {

/// Of one draw, over all instances: its plan must fit memory. More is an error; in indirect draws the instances are cut.
inline constexpr uint64_t kMaxDrawVertices = uint64_t{1} << 36;

/// Of a program that writes gl_ViewportIndex: all that there are. Scissors are cut with the framebuffer and the render area.
struct Viewports {
  uint32_t count = 1;
  std::array<VkViewport, kMaxViewports> viewport{};
  std::array<VkRect2D, kMaxViewports> scissor{};
};

/// State that consecutive draws usually share; a draw points to it, so that ten thousand draws copy it once. Its scissor is cut with the
/// framebuffer and the render area.
struct DrawState : FixedFunctionState {
  Ptr<const pipeline::Resolved> resolved;
  std::array<shader::VertexBinding, kMaxVertexBindings> vertex_bindings{};
  VkViewport viewport = {};
  VkRect2D scissor = {};
  bool whole_viewport = false;           // nobody set it: the framebuffer's
  uint32_t viewport_index = 0;           // of these two; others than 0 are made by the plan (exec/pass_plan.hpp)
  std::shared_ptr<const Viewports> all;  // null: there is no choice
  const uint8_t* index_data = nullptr;
  uint64_t index_size_B = 0;  // from index_data on; reads outside give 0
  VkIndexType index_type = VK_INDEX_TYPE_UINT32;
  const uint8_t* const* sets = nullptr;  // [shader::kSetTables]; null: no shader reads one
  bool anisotropic = false;              // samplers of them want the quad's coordinates: no packets of pixels
};

/// Workgroups in all; 0 where there are more than a draw, or a workgroup of a task shader, may have: they are left out as a whole.
inline uint64_t mesh_workgroups(const std::array<uint32_t, 3>& groups) {
  for (const uint32_t count : groups)
    if (count > kMaxWorkgroups) return 0;
  const uint64_t of_layer = uint64_t{groups[0]} * groups[1];
  return of_layer > kMaxMeshWorkgroups || of_layer * groups[2] > kMaxMeshWorkgroups ? 0 : of_layer * groups[2];
}

struct DrawCall {
  const DrawState* state = nullptr;
  const uint8_t* push_constants = nullptr;  // kMaxPushConstants_B bytes, 16-byte aligned
  bool indexed = false;
  uint32_t first = 0, count = 0;     // vertices or indices; of mesh shaders: all workgroups
  std::array<uint32_t, 3> groups{};  // mesh shaders: workgroups in x, y and z
  uint32_t instance_count = 1, first_instance = 0;
  int32_t vertex_offset = 0;
  uint32_t draw_index = 0;          // gl_DrawID
  int32_t query = -1;               // active occlusion query, index in Pass::queries, or -1; of the first view
  int32_t transform_feedback = -1;  // what captures its vertices, index in Pass::transform_feedback, or -1
  uint32_t counted = 0;             // made by the plan: 1 + the place of the draw's counts among those of the pass; 0: no query wants them
  // Made by the plan (exec/pass_plan.hpp). Of a pass with views, one draw for each: gl_ViewIndex, and the layer.
  uint32_t view = 0;
  uint32_t viewport_draws = 0;  // of the draw for viewport 1, the next one behind it; where state->all has more than one
};

/// vkCmdClearAttachments, in order with the draws.
struct ClearCall {
  int attachment = 0;  // colour index; -1: depth/stencil
  VkImageAspectFlags aspects = 0;
  VkClearValue value{};
  VkRect2D rect{};
  uint32_t base_layer = 0, layer_count = VK_REMAINING_ARRAY_LAYERS;  // as far as they are rendered to
  bool of_load = false;                                              // a load operation's: no condition is asked
};

/// Draws and clears of a pass in the order of recording.
struct PassCommand {
  uint32_t draw = 0;                 // index in the pass's draws
  const ClearCall* clear = nullptr;  // set: a clear, `draw` is unused
};

/// What lies between vkCmdBeginTransformFeedbackEXT and its end.
struct TransformFeedback {
  std::array<BufferPlace, kMaxTransformFeedbackBuffers> bound;          // null: nothing fits
  std::array<BufferPlace, kMaxTransformFeedbackBuffers> resumed, kept;  // counters at its beginning and at its end; null: none
};

struct ActiveQuery {
  Ptr<QueryPool> pool;
  uint32_t query = 0;
  bool outer = false;   // begun outside of the pass, whose samples are added (command/transfer.hpp, BeginQuery)
  uint32_t stream = 0;  // of transform feedback and primitives generated
};

}  // namespace tilegpu::command
