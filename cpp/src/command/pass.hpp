// command/pass.hpp -- a recorded pass: its framebuffer, and draws and clears in order with everything that they point to.
// In: what was recorded between begin and end of rendering. Out: for the executor.
// What a draw points to (state, push constants, addresses of sets) lies in deques, whose addresses are stable: a pass is made once, in its
// place, and never moved or copied. Once ended it is const, and any number of executions read it at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <set>

#include "base/host_memory.hpp"
#include "command/condition.hpp"
#include "command/draw.hpp"
#include "descriptor/set_memory.hpp"
#include "framebuffer/feedback.hpp"
#include "framebuffer/framebuffer.hpp"

namespace tilegpu::command {

struct alignas(16) PushBlock {
  uint8_t bytes[kMaxPushConstants_B] = {};
};

/// What the application asked for, in order; indirect draws are expanded at each execution.
struct RecordedCommand {
  enum class Kind : uint8_t {
    draw,
    clear,
    indirect,
    begin_counting,
    end_counting,
    begin_transform_feedback,
    end_transform_feedback,
    begin_condition,
    end_condition
  } kind = Kind::draw;
  uint32_t index = 0;  // in draws, clears, indirects, counting, transform_feedback or conditions
};

struct IndirectDraw {
  DrawCall base;  // state, push constants, query
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0;
  uint32_t count = 0, stride_B = 0;
  bool by_bytes = false;          // vkCmdDrawIndirectByteCountEXT: the buffer holds a counter, of vertices of `stride_B`
  uint32_t counter_offset_B = 0;  // that the counter is more
  BufferPlace draws_in;           // vkCmdDrawIndirectCount: how many of the `count` there are; null: all
};

/// The sets of a pipeline's draws, with what keeps them.
struct BoundSets {
  std::array<const uint8_t*, shader::kSetTables> address{};
  std::array<Ptr<const descriptor::SetMemory>, kMaxDescriptorSets> memory;
  /// Sets that may be updated after they were bound: their memory is taken when the pass is submitted.
  std::array<Ptr<DescriptorSet>, kMaxDescriptorSets> late;
  std::vector<uint32_t> dynamic_offsets_B;        // of the sets that there are, in the order of the pipeline's layout
  std::vector<shader::BufferDescriptor> dynamic;  // of all of the layout
  bool anisotropic = false;                       // of some sampler that is used with computed derivatives
};

struct BoundVertexBuffer {
  uint32_t binding = 0;
  Ptr<Buffer> buffer;
};

/// The objects that a state was resolved from.
struct Bound {
  Ptr<Pipeline> pipeline;
  Ptr<const GraphicsState> state;  // where the pipeline leaves some of it to the command buffer: all of it
  Ptr<Buffer> index_buffer;
  uint32_t first_vertex_buffer = 0, vertex_buffers = 0;  // in Pass::vertex_buffers
  const BoundSets* sets = nullptr;                       // of this pass, or of a piece that it keeps; null: no shader reads one
  uint32_t feedback_loops = 0;                           // targets that its shaders may read (framebuffer::Feedback::loops)
  uint32_t absent = 0;                                   // targets of the pipeline that the pass lacks: what it runs is without them
};

/// What a pipeline must have been made for.
struct Targets {
  std::vector<VkFormat> color;  // UNDEFINED: unused slot
  VkFormat depth = VK_FORMAT_UNDEFINED, stencil = VK_FORMAT_UNDEFINED;
  bool operator==(const Targets&) const = default;
  bool empty() const {
    return depth == VK_FORMAT_UNDEFINED && stencil == VK_FORMAT_UNDEFINED &&
           std::all_of(color.begin(), color.end(), [](VkFormat f) { return f == VK_FORMAT_UNDEFINED; });
  }
};

/// Never the same twice in a process.
inline uint64_t new_pass_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

struct Recording;

/// vkCmdExecuteCommands inside of a pass: the secondary's draws became the pass's own, in one run of commands.
struct ExecutedPart {
  Ptr<const Recording> recording;  // with a part
  size_t first_command = 0;        // in commands; as many as the part has
  size_t first_query = 0;          // in queries; the same
  int32_t active_query = -1;       // of the pass, around it
};

struct Pass {
  Pass() = default;
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  const uint64_t id = new_pass_id();  // by which others keep what they worked out from it (exec/plan_cache.hpp)
  RenderingInfo info;
  Targets targets;
  framebuffer::Framebuffer framebuffer;  // absent in the part of a secondary command buffer
  uint32_t width_px = 0, height_px = 0, samples = 1;
  VkRect2D render_area{};
  /// What scissors are cut with. In a window it is the whole framebuffer, so that primitives are clipped as in a pass over all of it.
  VkRect2D scissor_area() const { return framebuffer.layout.is_window() ? VkRect2D{{0, 0}, {width_px, height_px}} : render_area; }
  HostDeque<DrawState> states;
  HostVector<Bound> bound;                           // of each state
  HostVector<Ptr<const pipeline::Resolved>> coming;  // of states: whose code was not there when they were recorded
  HostVector<BoundVertexBuffer> vertex_buffers;
  HostDeque<PushBlock> pushes;
  HostDeque<BoundSets> sets;
  bool has_late_sets = false;
  bool uses_addresses = false, writes_addresses = false;  // some draw: memory by address
  HostDeque<ClearCall> clears;
  HostVector<DrawCall> draws;
  uint64_t executed_draws = 0;  // one for each view and viewport, indirect ones too
  HostVector<IndirectDraw> indirects;
  HostVector<RecordedCommand> commands;
  HostVector<ExecutedPart> executed;
  HostVector<size_t> part_ends;      // in commands, of a pass that was suspended and resumed; empty: in one piece
  HostVector<ActiveQuery> queries;   // occlusion
  HostVector<ActiveQuery> counting;  // of other types
  HostVector<TransformFeedback> transform_feedback;
  HostVector<Condition> conditions;
  HostVector<std::shared_ptr<const void>> keep_alive;
  std::string behind_barrier;              // of a pass that goes on where another was split: who reads what was drawn before
  framebuffer::Feedback feedback;          // of the part of a secondary command buffer: without targets
  std::set<Ptr<Buffer>> written_buffers;   // that shaders may write; images may lie there too
  std::set<Ptr<ImageView>> written_views;  // the same of storage images
};

}  // namespace tilegpu::command
