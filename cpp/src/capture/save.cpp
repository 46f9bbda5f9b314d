// capture/save.cpp -- stage: writing a capture. In: recordings. Out: bytes: all objects that they name, memory as it is, commands in order.
//
// What is written of a struct stands in capture/fields.hpp; what of commands is read back by capture/load.cpp in the same order.
#include <algorithm>
#include <bit>
#include <cassert>
#include <string_view>

#include "capture/collect.hpp"
#include "capture/commands.hpp"
#include "capture/draw_state.hpp"
#include "capture/fields.hpp"
#include "capture/file.hpp"
#include "capture/objects.hpp"
#include "device/device_state.hpp"
#include "pipeline/program.hpp"
#include "resource/address_space.hpp"

namespace tilegpu {
namespace capture {
namespace {

using command::Pass;
using descriptor::Kind;
using descriptor::SetMemory;

constexpr size_t kPage_B = 4096;

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
    w.put_count(b.mutable_types.size());
    for (const VkDescriptorType type : b.mutable_types) w.put(type);
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
      if (is_whole) continue;
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
        w.put(b.binding), w.put(number), w.put(e.type);
        o.buffers.write(w, e.buffer), w.put(e.offset_B), w.put(e.range_B);
        o.views.write(w, e.view ? e.view->view : nullptr), o.buffer_views.write(w, e.view ? e.view->texels : nullptr);
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

void write_stage(Writer& w, const Objects& o, const ShaderStage& stage) {
  o.modules.write(w, stage.module);
  w.put_count(stage.specialization.size());
  for (const auto& [id, bits] : stage.specialization) w.put(id), w.put(bits);
}

void write_pipeline(Writer& w, const Objects& o, const Pipeline& pipeline) {
  GraphicsPipelineCreateInfo info = pipeline.info();
  fields(w, info);
  w.put_count(info.stages.size());
  for (const ShaderStage& stage : info.stages) write_stage(w, o, stage);
  o.layouts.write(w, info.layout);
}

// With the queries that are not as in a new pool. The host may reset some meanwhile: each is looked at once.
void write_pool(Writer& w, const QueryPool& pool) {
  w.put<uint32_t>(static_cast<uint32_t>(pool.type)), w.put<uint32_t>(pool.statistics);
  w.put_count(pool.count());
  std::vector<QueryInFile> kept;
  for (uint32_t i = 0; i < pool.count(); i++) {
    const auto first = pool.values.begin() + static_cast<std::ptrdiff_t>(size_t{i} * pool.results);
    QueryInFile query{i, pool.available[i], {first, first + pool.results}};
    if (query.available || std::any_of(query.values.begin(), query.values.end(), [](uint64_t value) { return value != 0; }))
      kept.push_back(std::move(query));
  }
  query_list(w, kept, pool.results);
}

void write_objects(Writer& w, const Objects& o, const std::unordered_map<const DeviceMemory*, const uint8_t*>& contents) {
  write_table(w, o.memories, [&](const DeviceMemory& memory) { write_memory(w, contents.at(&memory), memory.size_B()); });
  write_table(w, o.buffers, [&](const Buffer& buffer) {
    BufferCreateInfo info = buffer.info();
    fields(w, info);
    o.memories.write(w, buffer.memory()), w.put(buffer.memory_offset_B());
    w.put<uint64_t>(o.addressed ? resource::AddressSpace::address_of(buffer) : 0);
  });
  write_table(w, o.images, [&](const Image& image) {
    ImageCreateInfo info = image.info();
    fields(w, info);
    const auto write_place = [&](const Image& part) { o.memories.write(w, part.memory()), w.put(part.memory_offset_B()); };
    if (!image.is_disjoint()) return write_place(image);
    for (const Ptr<Image>& plane : image.planes()) write_place(*plane);
  });
  write_table(w, o.views, [&](const ImageView& view) {
    ImageViewCreateInfo info = view.info();
    o.images.write(w, info.image);
    fields(w, info);
  });
  write_table(w, o.buffer_views, [&](const BufferView& view) {
    BufferViewCreateInfo info = view.info();
    o.buffers.write(w, info.buffer);
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
  write_table(w, o.pipelines, [&](const Pipeline& pipeline) { write_pipeline(w, o, pipeline); });
  write_table(w, o.compute_pipelines, [&](const ComputePipeline& pipeline) {
    w.put_text(pipeline.info().label);
    write_stage(w, o, pipeline.info().stage);
    o.layouts.write(w, pipeline.info().layout);
  });
  write_table(w, o.set_memories, [&](const SetMemory& set) { write_set(w, o, set); });
  write_table(w, o.pools, [&](const QueryPool& pool) { write_pool(w, pool); });
}

// ---- commands

// The sets that draws or a dispatch found bound; null: no shader reads one.
void write_bound_sets(Writer& w, const Objects& o, const BoundMemories& bound_memories, const command::BoundSets* bound) {
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

void write_condition(Writer& w, const Objects& o, command::Condition condition) {
  References<Writer> references{w, o};
  condition_fields(references, condition);
}

// A pass's own states, push constants, queries and commands; those of the secondaries that it executes stand in their recordings.
class PassWriter {
 public:
  PassWriter(Writer& w, const Objects& o, const BoundMemories& bound_memories, const Pass& pass)
      : w_(w), o_(o), bound_memories_(bound_memories), pass_(pass) {}
  void write() {
    assert(pass_.part_ends.empty());  // parts are recordings of their own until they are submitted
    find_own();
    w_.put_count(own_queries_.size());
    for (const command::ActiveQuery* query : own_queries_) {
      o_.pools.write(w_, query->pool), w_.put(query->query), w_.put_bool(query->outer);
    }
    w_.put_count(own_states_.size());
    for (const size_t i : own_states_) state(i);
    w_.put_count(blocks_.size());
    for (const uint8_t* block : blocks_) w_.put_bytes(block, kMaxPushConstants_B);
    w_.put_count(own_commands_);
    each_own([&](const command::RecordedCommand& c) { command(c); }, [&](const command::ExecutedPart& part) { executed(part); });
  }

 private:
  // Commands in order: the pass's own, and calls of secondaries as one.
  template <class Own, class Executed>
  void each_own(Own own, Executed executed) const {
    size_t at = 0;
    const auto own_until = [&](size_t end) {
      assert(at <= end && end <= pass_.commands.size());
      for (; at < end; at++) own(pass_.commands[at]);
    };
    for (const command::ExecutedPart& part : pass_.executed) {
      own_until(part.first_command);
      at += part.recording->part->commands.size();
      executed(part);
    }
    own_until(pass_.commands.size());
  }
  void find_own() {
    size_t query = 0;
    own_query_of_.assign(pass_.queries.size(), -1);
    const auto queries_until = [&](size_t end) {
      for (; query < end; query++) {
        own_query_of_[query] = static_cast<int32_t>(own_queries_.size());
        own_queries_.push_back(&pass_.queries[query]);
      }
    };
    for (const command::ExecutedPart& part : pass_.executed) {
      queries_until(part.first_query);
      query += part.recording->part->queries.size();
    }
    queries_until(pass_.queries.size());
    std::unordered_map<const void*, size_t> places;  // of all states
    for (size_t i = 0; i < pass_.states.size(); i++) places.emplace(&pass_.states[i], i);
    const auto note = [&](const command::DrawCall& d) {
      if (states_.emplace(d.state, static_cast<uint32_t>(own_states_.size())).second) own_states_.push_back(places.at(d.state));
      if (pushes_.count(d.push_constants)) return;
      // Equal ones are one: setting what is set already leaves no trace.
      const std::string_view bytes(reinterpret_cast<const char*>(d.push_constants), kMaxPushConstants_B);
      const auto [same, is_new] = contents_.try_emplace(bytes, static_cast<uint32_t>(blocks_.size()));
      if (is_new) blocks_.push_back(d.push_constants);
      pushes_.emplace(d.push_constants, same->second);
    };
    each_own(
        [&](const command::RecordedCommand& c) {
          own_commands_ += is_written(c);
          if (c.kind == command::RecordedCommand::Kind::draw) note(pass_.draws[c.index]);
          if (c.kind == command::RecordedCommand::Kind::indirect) note(pass_.indirects[c.index].base);
        },
        [&](const command::ExecutedPart&) { own_commands_++; });
  }
  // Queries that were begun outside are active when the pass begins.
  bool is_written(const command::RecordedCommand& c) const {
    const bool counts = c.kind == command::RecordedCommand::Kind::begin_counting || c.kind == command::RecordedCommand::Kind::end_counting;
    return !counts || !pass_.counting[c.index].outer;
  }
  int32_t own_query(int32_t query) const { return query < 0 ? -1 : own_query_of_[static_cast<size_t>(query)]; }

  void state(size_t i) {
    const command::DrawState& state = pass_.states[i];
    assert(i < pass_.bound.size() && pass_.bound.size() == pass_.states.size());
    const command::Bound& bound = pass_.bound[i];
    o_.pipelines.write(w_, bound.pipeline);
    GraphicsState set = bound.state ? *bound.state : static_cast<const GraphicsState&>(bound.pipeline->info());
    static_cast<FixedFunctionState&>(set) = static_cast<const FixedFunctionState&>(state);
    set.viewports = {state.viewport}, set.scissors = {state.scissor};
    if (state.all) {
      set.viewports.assign(state.all->viewport.begin(), state.all->viewport.begin() + state.all->count);
      set.scissors.assign(state.all->scissor.begin(), state.all->scissor.begin() + state.all->count);
    }
    w_.put_bool(state.whole_viewport);
    for (uint64_t left = kept_states(*bound.pipeline).bits; left; left &= left - 1) {
      const auto which = static_cast<DynamicState>(std::countr_zero(left));
      if (which != DynamicState::viewport || !state.whole_viewport) state_fields(w_, which, set);
    }
    w_.put_count(bound.vertex_buffers);
    for (uint32_t k = 0; k < bound.vertex_buffers; k++) {
      const command::BoundVertexBuffer& vertex = pass_.vertex_buffers[bound.first_vertex_buffer + k];
      const shader::VertexBinding& binding = state.vertex_bindings[vertex.binding];
      w_.put(vertex.binding), o_.buffers.write(w_, vertex.buffer);
      range(*vertex.buffer, binding.size_B ? binding.data : nullptr, binding.size_B);
    }
    o_.buffers.write(w_, bound.index_buffer);
    if (bound.index_buffer) range(*bound.index_buffer, state.index_size_B ? state.index_data : nullptr, state.index_size_B);
    w_.put<uint32_t>(state.index_type);
    write_bound_sets(w_, o_, bound_memories_, bound.sets);
  }
  // Offset and size; null: behind the end.
  void range(const Buffer& buffer, const uint8_t* data, uint64_t size_B) {
    const uint64_t offset_B = data ? static_cast<uint64_t>(data - buffer.data()) : buffer.size_B();
    assert(offset_B <= buffer.size_B() && size_B <= buffer.size_B() - offset_B);
    w_.put(offset_B), w_.put(size_B);
  }
  void draw(const command::DrawCall& d) {
    w_.put(states_.at(d.state)), w_.put(pushes_.at(d.push_constants)), w_.put_bool(d.indexed), w_.put(own_query(d.query));
    w_.put(d.first), w_.put(d.count), w_.put(d.instance_count), w_.put(d.first_instance), w_.put(d.vertex_offset), w_.put(d.draw_index);
    w_.put_bool(d.state->resolved->primitives.meshes);
    for (const uint32_t count : d.groups) w_.put(count);
  }
  void command(const command::RecordedCommand& c) {
    switch (c.kind) {
      case command::RecordedCommand::Kind::draw:
        w_.put(PassTag::draw);
        return draw(pass_.draws[c.index]);
      case command::RecordedCommand::Kind::indirect: {
        const command::IndirectDraw& d = pass_.indirects[c.index];
        w_.put(d.by_bytes ? PassTag::byte_count : PassTag::indirect);
        draw(d.base);
        o_.buffers.write(w_, d.buffer), w_.put(d.offset_B), w_.put(d.by_bytes ? d.counter_offset_B : d.count), w_.put(d.stride_B);
        o_.buffers.write(w_, d.draws_in.buffer), w_.put(d.draws_in.offset_B);
        return;
      }
      case command::RecordedCommand::Kind::clear: {
        command::ClearCall clear = pass_.clears[c.index];
        w_.put(PassTag::clear);
        w_.put<int32_t>(clear.attachment), w_.put(clear.aspects);
        fields(w_, clear.value), fields(w_, clear.rect);
        w_.put(clear.base_layer), w_.put(clear.layer_count), w_.put_bool(clear.of_load);
        return;
      }
      case command::RecordedCommand::Kind::begin_counting:
      case command::RecordedCommand::Kind::end_counting: {
        const command::ActiveQuery& query = pass_.counting[c.index];
        if (!is_written(c)) return;
        w_.put(c.kind == command::RecordedCommand::Kind::begin_counting ? PassTag::begin_query : PassTag::end_query);
        o_.pools.write(w_, query.pool), w_.put(query.query), w_.put(query.stream);
        return;
      }
      case command::RecordedCommand::Kind::begin_transform_feedback: {
        const command::TransformFeedback& t = pass_.transform_feedback[c.index];
        w_.put(PassTag::begin_transform_feedback);
        places(t.bound), places(t.resumed);
        return;
      }
      case command::RecordedCommand::Kind::end_transform_feedback:
        w_.put(PassTag::end_transform_feedback);
        places(pass_.transform_feedback[c.index].kept);
        return;
      case command::RecordedCommand::Kind::begin_condition:
        w_.put(PassTag::begin_condition);
        return write_condition(w_, o_, pass_.conditions[c.index]);
      case command::RecordedCommand::Kind::end_condition:
        w_.put(PassTag::end_condition);
    }
  }
  void places(const std::array<BufferPlace, kMaxTransformFeedbackBuffers>& of) {
    for (const BufferPlace& place : of) o_.buffers.write(w_, place.buffer), w_.put(place.offset_B), w_.put(place.size_B);
  }
  void executed(const command::ExecutedPart& part) {
    w_.put(PassTag::execute_commands);
    o_.secondaries.write(w_, part.recording), w_.put(own_query(part.active_query));
  }

  Writer& w_;
  const Objects& o_;
  const BoundMemories& bound_memories_;
  const Pass& pass_;
  std::vector<const command::ActiveQuery*> own_queries_;
  std::vector<int32_t> own_query_of_;   // of each of the pass's; -1: a secondary's
  std::vector<size_t> own_states_;      // in the pass's
  std::vector<const uint8_t*> blocks_;  // push constants
  std::unordered_map<const void*, uint32_t> states_, pushes_;
  std::unordered_map<std::string_view, uint32_t> contents_;
  size_t own_commands_ = 0;
};

struct CommandWriter {
  Writer& w;
  const Objects& o;
  const BoundMemories& bound_memories;

  void attachment(RenderingAttachment a) {
    o.views.write(w, a.view), o.views.write(w, a.resolve_view);
    fields(w, a);
    w.put_bool(a.pieces.has_value());
    if (!a.pieces) return;
    AttachmentPieces& p = *a.pieces;
    for (const Ptr<ImageView>* view : {&p.load_view, &p.store_view, &p.resolve_view}) o.views.write(w, *view);
    fields(w, p);
  }
  void recording(const command::Recording& recording) {
    w.put_bool(recording.part != nullptr);
    if (recording.part) {
      assert(recording.commands.empty());
      const Pass& part = *recording.part;
      const InheritedActivity& active = recording.active;
      InheritanceInfo inheritance{part.targets.color, part.targets.depth,         part.targets.stencil,
                                  part.samples,       part.info.view_mask,        active.occlusion_query,
                                  part.info.label,    active.pipeline_statistics, active.conditional_rendering};
      fields(w, inheritance);
      PassWriter(w, o, bound_memories, part).write();
      return;
    }
    if (recording.level == VK_COMMAND_BUFFER_LEVEL_SECONDARY) {
      InheritedActivity active = recording.active;
      fields(w, active);
    }
    for (const command::Command& command : recording.commands) std::visit(*this, command);
    w.put(Tag::end);
  }
  void operator()(const Ptr<const Pass>& c) {
    w.put(Tag::pass);
    RenderingInfo info = c->info;
    fields(w, info);
    w.put_count(info.color.size());
    for (const RenderingAttachment& color : info.color) attachment(color);
    attachment(info.depth), attachment(info.stencil);
    o.views.write(w, info.shading_rate.view);
    PassWriter(w, o, bound_memories, *c).write();
  }
  void operator()(const command::ExecuteCommands& c) {
    assert(c.recording && !c.recording->part);  // a part stands in its pass
    w.put(Tag::execute_commands);
    o.secondaries.write(w, c.recording);
    write_condition(w, o, c.condition.value_or(command::Condition{}));
  }
  void operator()(const Ptr<const command::Dispatch>& c) {
    w.put(Tag::dispatch);
    o.compute_pipelines.write(w, c->pipeline);
    for (uint32_t k : c->base) w.put(k);
    for (uint32_t k : c->groups) w.put(k);
    o.buffers.write(w, c->indirect), w.put(c->indirect_offset_B);
    write_condition(w, o, c->condition.value_or(command::Condition{}));
    w.put_bytes(c->push->bytes, kMaxPushConstants_B);
    write_bound_sets(w, o, bound_memories, c->sets ? &c->sets->bound : nullptr);
  }
  template <class C>
  void operator()(const C& c) {
    if constexpr (!std::is_same_v<C, command::SetEvent> && !std::is_same_v<C, command::WaitEvents>) {
      C copy = c;
      w.put(tag_of<C>());
      References<Writer> references{w, o};
      transfer_fields(references, copy);
    }
  }
};

}  // namespace

std::vector<uint8_t> bytes_of(Device& device, const std::vector<Ptr<const command::Recording>>& recordings) {
  const Collected collected = collect(device, recordings);
  const Objects& objects = collected.objects;
  const BoundMemories& bound_memories = collected.bound_memories;
  Writer writer;
  write_objects(writer, objects, collected.contents);
  CommandWriter commands{writer, objects, bound_memories};
  writer.put_count(objects.secondaries.items.size());
  for (const auto& secondary : objects.secondaries.items) commands.recording(*secondary);
  writer.put_count(recordings.size());
  for (const auto& recording : recordings) commands.recording(*recording);
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
  const Error refused{VK_ERROR_OUT_OF_HOST_MEMORY, "capture '" + path + "': the system refused memory for what is to be written"};
  try {
    std::vector<uint8_t> payload;
    const auto collect = [&]() -> Status {
      try {
        payload = capture::bytes_of(*device, recordings);
        return Ok{};
      } catch (const std::bad_alloc&) {
        return refused;
      }
    };
    if (Status done = device::between_submissions(*device, collect); !done) return done;
    return capture::write_file(path, device->info().profile, payload);
  } catch (const std::bad_alloc&) {
    return refused;
  }
}

}  // namespace tilegpu
