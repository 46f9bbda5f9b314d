// exec/pass_record.hpp -- a recorded render pass and the command buffer's state while it is recorded.
//
// Everything that a draw points to (state, push constants, tables) lives in the pass's deques, whose addresses are stable, so that
// a recorded pass can be executed again and again without touching it.
#pragma once

#include <map>
#include <unordered_map>

#include "command/recording.hpp"
#include "framebuffer/framebuffer.hpp"
#include "geometry/census.hpp"
#include "hsr/lrz_state.hpp"
#include "hsr/vertex_deferral.hpp"
#include "tilegpu/trace.hpp"

namespace tilegpu::exec {

using command::ActiveQuery;
using command::ClearCall;
using command::DrawCall;
using command::DrawState;

class ThreadPool;

struct alignas(16) PushBlock {
  uint8_t bytes[kMaxPushConstants_B] = {};
};

/// What the application asked for, in order; indirect draws are expanded at each execution.
struct RecordedCommand {
  enum class Kind : uint8_t { draw, clear, indirect } kind = Kind::draw;
  uint32_t index = 0;  // in draws, clears or indirects
};

struct IndirectDraw {
  DrawCall base;  // state, push constants, query
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0;
  uint32_t count = 0, stride_B = 0;
};

/// Descriptors as code sees them; kept by the pass, with the objects that they point into.
struct BindingTables {
  std::vector<shader::BufferDescriptor> buffers;
  std::vector<shader::TextureDescriptor> textures;
};

/// What follows from a pass's draws alone. Made by its first execution, and by each where the draws are only known then (indirect ones).
struct PassPlan {
  bool ready = false;
  std::vector<DrawCall> expanded;  // only where the pass has indirect draws
  std::vector<command::PassCommand> commands;
  uint32_t draw_count = 0;
  uint32_t written_targets = 0;   // that a draw or a clear may write: bit i colour i, 8 depth, 9 stencil
  uint32_t chunk_primitives = 0;  // that suit the pass where the heap is large enough
  geometry::CensusLayout census;
  geometry::ChunkPlans chunks;
  uint32_t chunks_of = 0;  // primitives that these were cut by; 0: not cut
};

struct PassRecord {
  RenderingInfo info;
  framebuffer::Framebuffer framebuffer;
  uint32_t width_px = 0, height_px = 0, samples = 1;
  VkRect2D render_area{};
  std::deque<DrawState> states;
  std::deque<PushBlock> pushes;
  std::deque<BindingTables> tables;
  // Sampler functions in the tables whose code may still be replaced; looked at before each execution.
  std::vector<std::pair<const void**, const shader::CodeSlot*>> quick_code;
  std::deque<ClearCall> clears;
  std::vector<DrawCall> draws;
  std::vector<IndirectDraw> indirects;
  std::vector<RecordedCommand> commands;
  std::vector<ActiveQuery> queries;
  std::unordered_map<const ImageView*, std::unique_ptr<shader::ImageViewAbi>> views;
  std::map<std::pair<const Sampler*, bool>, std::unique_ptr<shader::SamplerAbi>> samplers;  // bool: integer view
  std::vector<std::shared_ptr<const void>> keep_alive;
  PassPlan plan;
  PassStats stats;
  std::vector<TileTrace> tile_trace;
  std::optional<TraceRequest> trace_request;         // of the next execution
  std::optional<PassTrace> trace;                    // of the last one that was traced
  std::vector<hsr::LrzDecision> lrz_decisions;       // of the last execution, by draw (indirect ones expanded); empty: switched off
  std::vector<hsr::VertexDeferral> vertex_deferral;  // the same for deferred vertex shading
};

struct Recording {
  Ptr<Device> device;
  /// Passes and transfers in order; exactly one of the two is set.
  struct Command {
    std::unique_ptr<PassRecord> pass;
    std::function<void(ThreadPool&)> transfer;
  };
  std::vector<Command> commands;
  std::vector<PassRecord*> finished_passes;

  // State that the next draw takes. The flags say what the last DrawState and PushBlock no longer hold.
  std::unique_ptr<PassRecord> open;
  Ptr<Pipeline> pipeline;
  DrawState state;
  std::array<Ptr<Buffer>, kMaxVertexBindings> vertex_buffers;
  Ptr<Buffer> index_buffer;
  std::array<Ptr<DescriptorSet>, kMaxDescriptorSets> sets;
  std::array<uint64_t, kMaxDescriptorSets> set_versions{};
  PushBlock push;
  bool viewport_set = false, scissor_set = false;
  VkRect2D scissor{};
  bool state_dirty = true, push_dirty = true, tables_dirty = true;
  int32_t active_query = -1;
};

}  // namespace tilegpu::exec
