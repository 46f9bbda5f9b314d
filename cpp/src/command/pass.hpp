// command/pass.hpp -- a recorded pass: its framebuffer, and draws and clears in order with everything that they point to.
//
// What a draw points to (state, push constants, tables) lies in deques, whose addresses are stable: a pass is made once, in its place,
// and never moved or copied. Once ended it is const, and any number of executions read it at once.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "command/draw.hpp"
#include "framebuffer/feedback.hpp"
#include "framebuffer/framebuffer.hpp"

namespace tilegpu::command {

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

/// A sampler function in a table whose code may still be replaced by better code for the same function.
struct QuickCode {
  const void** address = nullptr;
  const shader::CodeSlot* code = nullptr;
};

/// What somebody worked out from a pass alone, and wants to find again at the next execution.
struct Derived {
  virtual ~Derived() = default;
};

/// Written at most once, read from any thread.
class DerivedSlot {
 public:
  std::shared_ptr<const Derived> get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }
  /// What is there already stays: what follows from the same commands is the same.
  void publish(std::shared_ptr<const Derived> value) const {
    assert(value);
    std::lock_guard lock(mutex_);
    if (!value_) value_ = std::move(value);
  }

 private:
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Derived> value_;
};

struct BoundVertexBuffer {
  uint32_t binding = 0;
  Ptr<Buffer> buffer;
};

struct BoundSets {
  std::array<Ptr<DescriptorSet>, kMaxDescriptorSets> sets;
  std::array<uint64_t, kMaxDescriptorSets> versions{};  // that the tables were made of
};

/// The objects that a state was resolved from.
struct Bound {
  Ptr<Pipeline> pipeline;
  Ptr<const GraphicsState> state;  // where the pipeline leaves some of it to the command buffer: all of it
  Ptr<Buffer> index_buffer;
  uint32_t first_vertex_buffer = 0, vertex_buffers = 0;  // in Pass::vertex_buffers
  uint32_t sets = 0;                                     // in Pass::sets
};

/// What a pipeline must have been made for.
struct Targets {
  std::vector<VkFormat> color;  // UNDEFINED: unused slot
  VkFormat depth = VK_FORMAT_UNDEFINED, stencil = VK_FORMAT_UNDEFINED;
  bool operator==(const Targets&) const = default;
};

struct Pass {
  Pass() = default;
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  RenderingInfo info;
  Targets targets;
  framebuffer::Framebuffer framebuffer;  // absent in the part of a secondary command buffer
  uint32_t width_px = 0, height_px = 0, samples = 1;
  VkRect2D render_area{};
  std::deque<DrawState> states;
  std::vector<Bound> bound;  // of each state
  std::vector<BoundVertexBuffer> vertex_buffers;
  std::vector<BoundSets> sets;
  std::deque<PushBlock> pushes;
  std::deque<BindingTables> tables;
  std::vector<QuickCode> quick_code;
  mutable std::atomic<bool> newest_code{false};  // none of these will change again
  std::deque<ClearCall> clears;
  std::vector<DrawCall> draws;
  std::vector<IndirectDraw> indirects;
  std::vector<RecordedCommand> commands;
  std::vector<size_t> part_ends;  // in commands, of a pass that was suspended and resumed; empty: in one piece
  std::vector<ActiveQuery> queries;
  std::unordered_map<const ImageView*, std::unique_ptr<shader::ImageViewAbi>> views;
  std::map<std::pair<const Sampler*, bool>, std::unique_ptr<shader::SamplerAbi>> samplers;  // bool: integer view
  std::vector<std::shared_ptr<const void>> keep_alive;
  framebuffer::Feedback feedback;         // of the part of a secondary command buffer: without targets
  std::set<Ptr<Buffer>> written_buffers;  // that shaders may write; images may lie there too
  DerivedSlot plan;                       // of the executor
};

}  // namespace tilegpu::command
