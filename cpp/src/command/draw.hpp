// command/draw.hpp -- what a pass is made of: draws with their state resolved, clears, queries. Plain data.
#pragma once

#include <array>

#include "pipeline/resolved.hpp"
#include "shader/abi/abi.hpp"
#include "tilegpu/pipeline.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::command {

/// Of one draw, over all instances: its plan must fit memory. More is an error; in indirect draws the instances are cut.
inline constexpr uint64_t kMaxDrawVertices = uint64_t{1} << 36;

/// State that consecutive draws usually share; a draw points to it, so that ten thousand draws copy it once. Its scissor is cut with the
/// framebuffer and the render area.
struct DrawState : FixedFunctionState {
  Ptr<const pipeline::Resolved> resolved;
  std::array<shader::VertexBinding, kMaxVertexBindings> vertex_bindings{};
  bool whole_viewport = false;  // nobody set it: the framebuffer's
  const uint8_t* index_data = nullptr;
  uint64_t index_size_B = 0;  // from index_data on; reads outside give 0
  VkIndexType index_type = VK_INDEX_TYPE_UINT32;
  const uint8_t* const* sets = nullptr;  // [shader::kSetTables]; null: no shader reads one
  bool anisotropic = false;              // samplers of them want the quad's coordinates: no packets of pixels
};

struct DrawCall {
  const DrawState* state = nullptr;
  const uint8_t* push_constants = nullptr;  // kMaxPushConstants_B bytes, 16-byte aligned
  bool indexed = false;
  uint32_t first = 0, count = 0;  // vertices or indices
  uint32_t instance_count = 1, first_instance = 0;
  int32_t vertex_offset = 0;
  uint32_t draw_index = 0;  // gl_DrawID of indirect draws
  int32_t query = -1;       // active occlusion query, index in Pass::queries, or -1
};

/// vkCmdClearAttachments, in order with the draws.
struct ClearCall {
  int attachment = 0;  // colour index; -1: depth/stencil
  VkImageAspectFlags aspects = 0;
  VkClearValue value{};
  VkRect2D rect{};
};

/// Draws and clears of a pass in the order of recording.
struct PassCommand {
  uint32_t draw = 0;                 // index in the pass's draws
  const ClearCall* clear = nullptr;  // set: a clear, `draw` is unused
};

struct ActiveQuery {
  Ptr<QueryPool> pool;
  uint32_t query = 0;
  bool outer = false;  // begun outside of the pass, whose samples are added (command/transfer.hpp, BeginQuery)
};

}  // namespace tilegpu::command
