// capture/save.cpp -- stage: writing a capture. In: recordings. Out: bytes: all objects that they name, memory as it is, commands in order.
//
// What is written of a struct stands in capture/fields.hpp; what of commands is read back by capture/load.cpp in the same order.
#include <algorithm>
#include <cassert>
#include <map>

#include "capture/commands.hpp"
#include "capture/fields.hpp"
#include "capture/file.hpp"
#include "capture/objects.hpp"

namespace tilegpu {
namespace capture {
namespace {

using command::Pass;
using descriptor::Kind;
using descriptor::SetMemory;

constexpr size_t kPage_B = 4096;

// ---- which objects there are

// Pipelines with all state fixed: what was dynamic makes several of one. Viewport, scissor, blend constants, stencil reference and depth
// bias may always be set, and are with each state; here they are the pipeline's own.
class FixedPipelines {
 public:
  void add(const command::Bound& bound, const Objects& objects) {
    const auto [known, is_new] = numbers_.try_emplace({bound.pipeline.get(), bound.state.get()}, 0);
    if (!is_new) return;
    GraphicsPipelineCreateInfo info = bound.pipeline->info();
    if (bound.state) {
      GraphicsState state = *bound.state;
      state.viewport = info.viewport, state.scissor = info.scissor, state.blend_constants = info.blend_constants;
      state.depth_stencil.front.reference = info.depth_stencil.front.reference;
      state.depth_stencil.back.reference = info.depth_stencil.back.reference;
      state.rasterization.depth_bias_constant = info.rasterization.depth_bias_constant;
      state.rasterization.depth_bias_clamp = info.rasterization.depth_bias_clamp;
      state.rasterization.depth_bias_slope = info.rasterization.depth_bias_slope;
      static_cast<GraphicsState&>(info) = state;
    }
    Writer w;
    fields(w, info);
    w.put_count(info.stages.size());
    for (const ShaderStage& stage : info.stages) {
      objects.modules.write(w, stage.module);
      w.put_count(stage.specialization.size());
      for (const auto& [id, bits] : stage.specialization) w.put(id), w.put(bits);
    }
    objects.layouts.write(w, info.layout);
    const std::string bytes(reinterpret_cast<const char*>(w.bytes().data()), w.bytes().size());
    const auto [same, first] = written_.try_emplace(bytes, static_cast<uint32_t>(order_.size()));
    if (first) order_.push_back(&same->first);
    known->second = same->second + 1;
  }
  /// As a reference in the file.
  uint32_t number(const command::Bound& bound) const { return numbers_.at({bound.pipeline.get(), bound.state.get()}); }
  void write(Writer& w) const {
    w.put_count(order_.size());
    for (const std::string* bytes : order_) w.put_bytes(bytes->data(), bytes->size());
  }

 private:
  std::map<std::pair<const Pipeline*, const GraphicsState*>, uint32_t> numbers_;
  std::unordered_map<std::string, uint32_t> written_;  // the file's bytes of each, numbered
  std::vector<const std::string*> order_;
};

// Memory of the sets that a recording has bound: what was bound, or, of sets that are updated after that, what they hold now. Each of these
// is asked once, so that the file is of one moment.
class BoundMemories {
 public:
  Ptr<const SetMemory> take(const command::BoundSets& bound, uint32_t number) {
    if (!bound.late[number]) return bound.memory[number];
    Ptr<const SetMemory>& memory = late_[bound.late[number].get()];
    if (!memory) memory = bound.late[number]->memory();
    return memory;
  }
  Ptr<const SetMemory> of(const command::BoundSets& bound, uint32_t number) const {
    return bound.late[number] ? late_.at(bound.late[number].get()) : bound.memory[number];
  }

 private:
  std::unordered_map<const DescriptorSet*, Ptr<const SetMemory>> late_;
};

struct Collector {
  Objects& objects;
  FixedPipelines& pipelines;
  std::unordered_map<const DeviceMemory*, const uint8_t*>& contents;
  BoundMemories& bound_memories;

  void add(const Ptr<Buffer>& buffer) {
    if (!buffer) return;
    if (objects.memories.add(buffer->memory())) contents[buffer->memory().get()] = buffer->data() - buffer->memory_offset_B();
    objects.buffers.add(buffer);
  }
  void add(const Ptr<Image>& image) {
    if (!image) return;
    if (objects.memories.add(image->memory())) contents[image->memory().get()] = image->data() - image->memory_offset_B();
    objects.images.add(image);
  }
  void add(const Ptr<ImageView>& view) {
    if (!view) return;
    add(view->image());
    objects.views.add(view);
  }
  void add(const command::Bound& bound) {
    const GraphicsPipelineCreateInfo& info = bound.pipeline->info();
    for (const ShaderStage& stage : info.stages) objects.modules.add(stage.module);
    if (info.layout && objects.layouts.add(info.layout))
      for (const auto& set : info.layout->sets) add(set);
    pipelines.add(bound, objects);
    add(bound.index_buffer);
    for (uint32_t i = 0; bound.sets && i < kMaxDescriptorSets; i++) add(bound_memories.take(*bound.sets, i));
  }
  void add(const Ptr<const DescriptorSetLayout>& layout) {
    if (!layout || !objects.set_layouts.add(layout)) return;
    for (const DescriptorBinding& binding : layout->bindings())
      for (const Ptr<Sampler>& sampler : binding.immutable_samplers) objects.samplers.add(sampler);
  }
  void add(const Ptr<const SetMemory>& memory) {
    if (!memory || !objects.set_memories.add(memory)) return;
    add(memory->layout);
    for (const descriptor::Element& e : memory->elements) {
      add(e.buffer);
      if (e.view) add(e.view->view);
      if (e.sampler) objects.samplers.add(e.sampler->sampler);
    }
  }
  void add(const RenderingAttachment& attachment) { add(attachment.view), add(attachment.resolve_view); }
  void add(const Pass& pass) {
    for (const RenderingAttachment& color : pass.info.color) add(color);
    add(pass.info.depth), add(pass.info.stencil);
    for (const command::Bound& bound : pass.bound) add(bound);
    for (const command::BoundVertexBuffer& bound : pass.vertex_buffers) add(bound.buffer);
    for (const command::IndirectDraw& indirect : pass.indirects) add(indirect.buffer);
    for (const command::ActiveQuery& query : pass.queries) objects.pools.add(query.pool);
  }
  void operator()(const Ptr<const Pass>& c) { add(*c); }
  void operator()(const command::CopyBuffer& c) { add(c.source), add(c.destination); }
  void operator()(const command::FillBuffer& c) { add(c.buffer); }
  void operator()(const command::UpdateBuffer& c) { add(c.buffer); }
  void operator()(const command::CopyBufferToImage& c) { add(c.source), add(c.destination); }
  void operator()(const command::CopyImageToBuffer& c) { add(c.source), add(c.destination); }
  void operator()(const command::CopyImage& c) { add(c.source), add(c.destination); }
  void operator()(const command::BlitImage& c) { add(c.source), add(c.destination); }
  void operator()(const command::ResolveImage& c) { add(c.source), add(c.destination); }
  void operator()(const command::ClearColorImage& c) { add(c.image); }
  void operator()(const command::ClearDepthStencilImage& c) { add(c.image); }
  void operator()(const command::GenerateMipmaps& c) { add(c.image); }
  void operator()(const command::ResetQueryPool& c) { objects.pools.add(c.pool); }
  void operator()(const command::BeginQuery& c) { objects.pools.add(c.pool); }
  void operator()(const command::EndQuery& c) { objects.pools.add(c.pool); }
  void operator()(const command::WriteTimestamp& c) { objects.pools.add(c.pool); }
  void operator()(const command::CopyQueryPoolResults& c) { objects.pools.add(c.pool), add(c.destination); }
  void operator()(const command::ExecuteCommands& c) {
    for (const command::Command& inner : c.recording->commands) std::visit(*this, inner);
  }
};

// ---- objects

// Runs of pages that are not all zero, which fresh memory is.
void write_memory(Writer& w, const uint8_t* data, uint64_t size_B) {
  assert(data);
  const auto is_zero = [&](uint64_t at) {
    const uint64_t end = std::min<uint64_t>(size_B, at + kPage_B);
    return std::all_of(data + at, data + end, [](uint8_t byte) { return byte == 0; });
  };
  w.put(size_B);
  for (uint64_t at = 0; at < size_B;) {
    uint64_t end = at;
    while (end < size_B && !is_zero(end)) end = std::min<uint64_t>(size_B, end + kPage_B);
    if (end == at) {
      at += kPage_B;
      continue;
    }
    w.put<uint64_t>(end - at), w.put(at);
    w.put_bytes(data + at, end - at);
    at = end;
  }
  w.put<uint64_t>(0);
}

void write_layout(Writer& w, const Objects& o, const DescriptorSetLayout& layout) {
  w.put(layout.flags());
  w.put_count(layout.bindings().size());
  for (const DescriptorBinding& b : layout.bindings()) {
    w.put(b.binding), w.put(b.type), w.put(b.count), w.put(b.stages), w.put(b.flags);
    w.put_count(b.immutable_samplers.size());
    for (const Ptr<Sampler>& sampler : b.immutable_samplers) o.samplers.write(w, sampler);
  }
}

// What has to be written to a new set of the layout for the same contents: elements, and the bytes of inline blocks.
void write_set(Writer& w, const Objects& o, const SetMemory& set) {
  o.set_layouts.write(w, set.layout);
  w.put(set.variable_count);
  uint32_t elements = 0, blocks = 0;
  const auto each = [&](const auto& visit_element, const auto& visit_block) {
    for (const DescriptorBinding& b : set.layout->bindings()) {
      const Kind kind = descriptor::kind_of(b.type);
      const bool is_whole = kind == Kind::sampler && !b.immutable_samplers.empty();  // from the beginning
      if (kind == Kind::nothing || is_whole) continue;
      const uint32_t count = kind == Kind::inline_block ? 1 : set.count_of(b);
      for (uint32_t i = 0; i < count; i++) {
        const descriptor::Element& e = set.element(b, i);
        if (!e.written) continue;
        if (kind == Kind::inline_block)
          visit_block(b);
        else
          visit_element(b, i, e);
      }
    }
  };
  each([&](const auto&, uint32_t, const auto&) { elements++; }, [&](const auto&) { blocks++; });
  w.put_count(elements), w.put_count(blocks);
  const auto ignore_element = [](const auto&, uint32_t, const auto&) {};
  const auto ignore_block = [](const auto&) {};
  each(
      [&](const DescriptorBinding& b, uint32_t number, const descriptor::Element& e) {
        w.put(b.binding), w.put(number);
        o.buffers.write(w, e.buffer), w.put(e.offset_B), w.put(e.range_B);
        o.views.write(w, e.view ? e.view->view : nullptr);
        o.samplers.write(w, e.sampler && b.immutable_samplers.empty() ? e.sampler->sampler : nullptr);
      },
      ignore_block);
  each(ignore_element, [&](const DescriptorBinding& b) {
    const std::span<const uint8_t> bytes = set.inline_bytes(b);
    w.put(b.binding), w.put_count(bytes.size());
    w.put_bytes(bytes.data(), bytes.size());
  });
}

template <class T, class Write>
void write_table(Writer& w, const Table<T>& table, Write write) {
  w.put_count(table.items.size());
  for (const Ptr<T>& item : table.items) write(*item);
}

void write_objects(Writer& w, const Objects& o, const FixedPipelines& pipelines,
                   const std::unordered_map<const DeviceMemory*, const uint8_t*>& contents) {
  write_table(w, o.memories, [&](const DeviceMemory& memory) { write_memory(w, contents.at(&memory), memory.size_B()); });
  write_table(w, o.buffers, [&](const Buffer& buffer) {
    BufferCreateInfo info = buffer.info();
    fields(w, info);
    o.memories.write(w, buffer.memory()), w.put(buffer.memory_offset_B());
  });
  write_table(w, o.images, [&](const Image& image) {
    ImageCreateInfo info = image.info();
    fields(w, info);
    o.memories.write(w, image.memory()), w.put(image.memory_offset_B());
  });
  write_table(w, o.views, [&](const ImageView& view) {
    ImageViewCreateInfo info = view.info();
    o.images.write(w, info.image);
    fields(w, info);
  });
  write_table(w, o.samplers, [&](const Sampler& sampler) {
    SamplerCreateInfo info = sampler.info();
    fields(w, info);
  });
  write_table(w, o.set_layouts, [&](const DescriptorSetLayout& layout) { write_layout(w, o, layout); });
  write_table(w, o.layouts, [&](const PipelineLayout& layout) {
    w.put_count(layout.sets.size());
    for (const auto& set : layout.sets) o.set_layouts.write(w, set);
    w.put(layout.push_constants_B);
  });
  write_table(w, o.modules, [&](const ShaderModule& module) {
    w.put_text(module.label()), w.put_text(module.reflection().entry_point);
    w.put_count(module.words().size());
    w.put_bytes(module.words().data(), module.words().size() * 4);
  });
  pipelines.write(w);
  write_table(w, o.set_memories, [&](const SetMemory& set) { write_set(w, o, set); });
  write_table(w, o.pools, [&](const QueryPool& pool) {
    w.put<uint32_t>(pool.type == QueryType::timestamp);
    w.put_count(pool.values.size());
  });
}

// ---- commands

struct CommandWriter {
  Writer& w;
  const Objects& o;
  const FixedPipelines& pipelines;
  const BoundMemories& bound_memories;

  void attachment(RenderingAttachment a) {
    o.views.write(w, a.view), o.views.write(w, a.resolve_view);
    fields(w, a);
  }
  void state(const Pass& pass, size_t i) {
    const command::DrawState& state = pass.states[i];
    assert(i < pass.bound.size() && pass.bound.size() == pass.states.size());
    const command::Bound& bound = pass.bound[i];
    w.put(pipelines.number(bound));
    FixedFunctionState fixed = static_cast<const FixedFunctionState&>(state);
    fields(w, fixed);
    w.put_count(bound.vertex_buffers);
    for (uint32_t k = 0; k < bound.vertex_buffers; k++) {
      const command::BoundVertexBuffer& vertex = pass.vertex_buffers[bound.first_vertex_buffer + k];
      const shader::VertexBinding& binding = state.vertex_bindings[vertex.binding];
      assert(vertex.buffer && binding.size_B <= vertex.buffer->size_B());
      w.put(vertex.binding), o.buffers.write(w, vertex.buffer);
      w.put<uint64_t>(vertex.buffer->size_B() - binding.size_B);
    }
    o.buffers.write(w, bound.index_buffer);
    assert(!bound.index_buffer || state.index_size_B <= bound.index_buffer->size_B());
    w.put<uint64_t>(bound.index_buffer ? bound.index_buffer->size_B() - state.index_size_B : 0);
    w.put<uint32_t>(state.index_type);
    sets(bound.sets);
  }
  void sets(const command::BoundSets* bound) {
    const uint32_t* offset_B = bound ? bound->dynamic_offsets_B.data() : nullptr;
    for (uint32_t i = 0; i < kMaxDescriptorSets; i++) {
      const Ptr<const SetMemory> memory = bound ? bound_memories.of(*bound, i) : nullptr;
      o.set_memories.write(w, memory);
      const uint32_t offsets = memory ? memory->layout->dynamic_buffers() : 0;
      w.put_count(offsets);
      for (uint32_t k = 0; k < offsets; k++) w.put(*offset_B++);
    }
    assert(!bound || offset_B == bound->dynamic_offsets_B.data() + bound->dynamic_offsets_B.size());
  }
  void draw(const std::unordered_map<const void*, uint32_t>& states, const std::unordered_map<const void*, uint32_t>& pushes,
            const command::DrawCall& d) {
    assert(states.count(d.state) && pushes.count(d.push_constants));
    w.put(states.at(d.state)), w.put(pushes.at(d.push_constants)), w.put_bool(d.indexed), w.put(d.query);
    w.put(d.first), w.put(d.count), w.put(d.instance_count), w.put(d.first_instance), w.put(d.vertex_offset);
  }
  void operator()(const Ptr<const Pass>& c) {
    const Pass& pass = *c;
    w.put(Tag::pass);
    RenderingInfo info = pass.info;
    fields(w, info);
    w.put_count(info.color.size());
    for (const RenderingAttachment& color : info.color) attachment(color);
    attachment(info.depth), attachment(info.stencil);
    w.put_count(pass.queries.size());
    for (const command::ActiveQuery& query : pass.queries) o.pools.write(w, query.pool), w.put(query.query), w.put_bool(query.outer);
    std::unordered_map<const void*, uint32_t> states, pushes;
    w.put_count(pass.states.size());
    for (size_t i = 0; i < pass.states.size(); i++) {
      states.emplace(&pass.states[i], static_cast<uint32_t>(i));
      state(pass, i);
    }
    std::vector<const uint8_t*> blocks;  // of a secondary's draws they lie in its own recording
    const auto add_push = [&](const command::DrawCall& d) {
      if (pushes.emplace(d.push_constants, static_cast<uint32_t>(blocks.size())).second) blocks.push_back(d.push_constants);
    };
    for (const command::DrawCall& d : pass.draws) add_push(d);
    for (const command::IndirectDraw& d : pass.indirects) add_push(d.base);
    w.put_count(blocks.size());
    for (const uint8_t* block : blocks) w.put_bytes(block, kMaxPushConstants_B);
    w.put_count(pass.commands.size());
    for (const command::RecordedCommand& r : pass.commands) {
      w.put(r.kind);
      if (r.kind == command::RecordedCommand::Kind::draw) {
        draw(states, pushes, pass.draws[r.index]);
      } else if (r.kind == command::RecordedCommand::Kind::indirect) {
        const command::IndirectDraw& d = pass.indirects[r.index];
        draw(states, pushes, d.base);
        o.buffers.write(w, d.buffer), w.put(d.offset_B), w.put(d.count), w.put(d.stride_B);
      } else {
        command::ClearCall clear = pass.clears[r.index];
        w.put<int32_t>(clear.attachment), w.put(clear.aspects);
        fields(w, clear.value), fields(w, clear.rect);
      }
    }
  }
  template <class C>
  void operator()(const C& c) {
    if constexpr (std::is_same_v<C, command::ExecuteCommands>) {
      for (const command::Command& inner : c.recording->commands) std::visit(*this, inner);
    } else {
      C copy = c;
      w.put(tag_of<C>());
      References<Writer> references{w, o};
      transfer_fields(references, copy);
    }
  }
};

}  // namespace

std::vector<uint8_t> bytes_of(const std::vector<Ptr<const command::Recording>>& recordings) {
  Objects objects;
  FixedPipelines pipelines;
  std::unordered_map<const DeviceMemory*, const uint8_t*> contents;
  BoundMemories bound_memories;
  Collector collector{objects, pipelines, contents, bound_memories};
  for (const auto& recording : recordings)
    for (const command::Command& command : recording->commands) std::visit(collector, command);
  Writer writer;
  write_objects(writer, objects, pipelines, contents);
  writer.put_count(recordings.size());
  for (const auto& recording : recordings) {
    CommandWriter commands{writer, objects, pipelines, bound_memories};
    for (const command::Command& command : recording->commands) std::visit(commands, command);
    writer.put(Tag::end);
  }
  return writer.bytes();
}

}  // namespace capture

Status save_capture(const Ptr<Device>& device, const std::vector<Ptr<CommandBuffer>>& command_buffers, const std::string& path) {
  const auto invalid = [&](const char* why) { return Error{VK_ERROR_INITIALIZATION_FAILED, "capture '" + path + "': " + why}; };
  std::vector<Ptr<const command::Recording>> recordings;
  for (const Ptr<CommandBuffer>& commands : command_buffers) {
    if (!commands || commands->state() != CommandBufferState::executable) return invalid("a command buffer is null or not executable");
    if (commands->level() != VK_COMMAND_BUFFER_LEVEL_PRIMARY) return invalid("a command buffer is secondary; name those that execute it");
    recordings.push_back(commands->recording());
  }
  device->wait_idle();
  try {
    const std::vector<uint8_t> payload = capture::bytes_of(recordings);
    return capture::write_file(path, device->info().profile, payload);
  } catch (const std::bad_alloc&) {
    return Error{VK_ERROR_OUT_OF_HOST_MEMORY, "capture '" + path + "': the system refused memory for what is to be written"};
  }
}

}  // namespace tilegpu
