// capture/load.cpp -- stage: reading a capture. In: bytes, of which nothing is believed. Out: objects and command buffers, made and
// recorded by the functions that applications call, so that what is wrong in a file is the error that an application would get.
#include <algorithm>
#include <bit>
#include <cassert>

#include "base/replaying.hpp"
#include "capture/commands.hpp"
#include "capture/draw_order.hpp"
#include "capture/draw_state.hpp"
#include "capture/file.hpp"
#include "capture/load_objects.hpp"
#include "pipeline/program.hpp"

namespace tilegpu {
namespace capture {
namespace {

struct Loader : ObjectLoader {
  // What secondaries that hold whole passes have of them.
  struct OfSecondary {
    std::vector<Ptr<ImageView>> pictures;
    std::vector<CapturedPass> passes;
  };
  std::unordered_map<const CommandBuffer*, OfSecondary> of_secondaries{};
  const std::vector<DrawOrder>* orders = nullptr;  // null while secondaries are read: their passes have no numbers yet

  // -- passes

  struct VertexSource {
    uint32_t binding = 0;
    Ptr<Buffer> buffer;
    uint64_t offset_B = 0, size_B = 0;
  };
  struct State {
    Ptr<Pipeline> pipeline;
    bool whole_viewport = false;
    GraphicsState set;  // what the pipeline fixes, and what draws found set
    std::vector<VertexSource> vertex_buffers;
    Ptr<Buffer> index_buffer;
    uint64_t index_offset_B = 0, index_size_B = 0;
    VkIndexType index_type = VK_INDEX_TYPE_UINT32;
    struct Set {
      Ptr<DescriptorSet> set;
      std::vector<uint32_t> dynamic_offsets_B;
    };
    using Sets = std::array<Set, kMaxDescriptorSets>;
    Sets sets;
  };
  struct Query {
    Ptr<QueryPool> pool;
    uint32_t query = 0;
    bool outer = false;
  };
  struct PassInFile {
    std::vector<Query> queries;
    std::vector<State> states;
    std::vector<std::array<uint8_t, kMaxPushConstants_B>> pushes;
    // While it is recorded again:
    int64_t state = -1, push = -1;
    int32_t query = -1;     // that is active
    size_t next_query = 0;  // that was not begun yet
  };

  void attachment(RenderingAttachment& a) {
    a.view = o.views.read(r, "view"), a.resolve_view = o.views.read(r, "view");
    fields(r, a);
    bool own = false;
    r.flag(own, "pieces");
    if (!own || !ok()) return;
    AttachmentPieces& p = a.pieces.emplace();
    for (Ptr<ImageView>* view : {&p.load_view, &p.store_view, &p.resolve_view}) *view = o.views.read(r, "view of a piece");
    fields(r, p);
  }

  void state(State& s) {
    s.pipeline = o.pipelines.read(r, "pipeline");
    if (r.ok() && !s.pipeline) r.fail("a state has no pipeline");
    r.flag(s.whole_viewport, "whole viewport");
    if (!ok()) return;
    s.set = static_cast<const GraphicsState&>(s.pipeline->info());
    for (uint64_t left = kept_states(*s.pipeline).bits; left; left &= left - 1) {
      const auto which = static_cast<DynamicState>(std::countr_zero(left));
      if (which != DynamicState::viewport || !s.whole_viewport) state_fields(r, which, s.set);
    }
    r.list(s.vertex_buffers, 24, kMaxVertexBindings, "vertex buffers", [&](VertexSource& v) {
      r.number(v.binding, "binding");
      if (v.binding >= kMaxVertexBindings) r.fail("a vertex binding is " + std::to_string(v.binding));
      v.buffer = o.buffers.read(r, "buffer");
      if (r.ok() && !v.buffer) r.fail("a vertex binding has no buffer");
      if (r.ok()) range(*v.buffer, v.offset_B, v.size_B);
    });
    s.index_buffer = o.buffers.read(r, "buffer");
    if (s.index_buffer) range(*s.index_buffer, s.index_offset_B, s.index_size_B);
    r.among(s.index_type, {VK_INDEX_TYPE_UINT16, VK_INDEX_TYPE_UINT32, VK_INDEX_TYPE_UINT8_EXT}, "index type");
    bound_sets(s.sets);
  }

  void bound_sets(State::Sets& sets) {
    for (State::Set& of : sets) {
      of.set = o.sets.read(r, "set");
      r.list(of.dynamic_offsets_B, 4, kMaxDynamicBuffers, "dynamic offsets",
             [&](uint32_t& offset_B) { r.number(offset_B, "dynamic offset"); });
    }
  }

  void range(const Buffer& buffer, uint64_t& offset_B, uint64_t& size_B) {
    r.number(offset_B, "offset"), r.number(size_B, "size");
    if (r.ok() && (offset_B > buffer.size_B() || size_B > buffer.size_B() - offset_B)) r.fail("a range lies outside of its buffer");
  }

  // What draws of this state find bound and set.
  void apply(CommandBuffer& cb, const State& s) {
    cb.bind_pipeline(s.pipeline);
    if (s.whole_viewport) cb.reset_viewport();
    uint32_t bound = 0;
    for (const VertexSource& v : s.vertex_buffers) bound |= 1u << v.binding;
    for (uint32_t i = 0; i < kMaxVertexBindings; i++)
      if (!(bound >> i & 1)) cb.bind_vertex_buffer(i, nullptr, 0);
    for (const VertexSource& v : s.vertex_buffers)
      check(cb.bind_vertex_buffer2(v.binding, v.buffer, v.offset_B, v.size_B, stride_of(*s.pipeline, s.set, v.binding)));
    check(cb.bind_index_buffer2(s.index_buffer, s.index_offset_B, s.index_size_B, s.index_type));
    for (uint32_t i = 0; i < kMaxDescriptorSets; i++) cb.bind_descriptor_set(i, s.sets[i].set, s.sets[i].dynamic_offsets_B);
    for (uint64_t left = kept_states(*s.pipeline).bits; left; left &= left - 1) {
      const auto which = static_cast<DynamicState>(std::countr_zero(left));
      if (which != DynamicState::viewport || !s.whole_viewport) check(set_state(cb, which, s.set));
    }
  }

  // Ends the active query and begins those up to `wanted`; -1: none is active afterwards. Queries without draws count 0, as they did.
  void change_query(CommandBuffer& cb, PassInFile& pass, int32_t wanted) {
    if (wanted == pass.query) return;
    assert(pass.query < static_cast<int64_t>(pass.queries.size()) && wanted < static_cast<int64_t>(pass.queries.size()));
    if (pass.query >= 0) check(cb.end_query(pass.queries[pass.query].pool, pass.queries[pass.query].query));
    pass.query = -1;
    if (wanted < 0) return;
    if (static_cast<size_t>(wanted) < pass.next_query) return r.fail("queries of a pass are not in order");
    begin_queries(cb, pass, static_cast<size_t>(wanted) + 1);
    if (ok()) pass.query = wanted;
  }
  // All before `end` are begun and ended, but for the last one, which is only begun.
  void begin_queries(CommandBuffer& cb, PassInFile& pass, size_t end) {
    assert(end <= pass.queries.size());
    for (; pass.next_query < end && ok(); pass.next_query++) {
      const Query& query = pass.queries[pass.next_query];
      if (!check(cb.begin_query(query.pool, query.query, true))) return;
      if (pass.next_query + 1 < end) check(cb.end_query(query.pool, query.query));
    }
  }

  // Everything that a draw has beside its parameters. False: something is wrong.
  bool begin_draw(CommandBuffer& cb, PassInFile& pass, bool& indexed) {
    const uint32_t state = r.get<uint32_t>(), push = r.get<uint32_t>();
    r.flag(indexed, "indexed");
    const int32_t query = r.get<int32_t>();
    if (state >= pass.states.size() || push >= pass.pushes.size() || query < -1 || query >= static_cast<int64_t>(pass.queries.size()))
      r.fail("a draw names a state, push constants or a query that is not in the file");
    if (!ok()) return false;
    change_query(cb, pass, query);
    if (pass.state != state) apply(cb, pass.states[state]);
    if (pass.push != push) check(cb.push_constants(0, pass.pushes[push].data(), kMaxPushConstants_B));
    pass.state = state, pass.push = push;
    return ok();
  }

  // Null ones are not bound.
  std::array<BufferPlace, kMaxTransformFeedbackBuffers> places() {
    std::array<BufferPlace, kMaxTransformFeedbackBuffers> out;
    for (BufferPlace& place : out) {
      place.buffer = o.buffers.read(r, "buffer");
      place.offset_B = r.get<uint64_t>(), place.size_B = r.get<uint64_t>();
    }
    return out;
  }
  void change_transform_feedback(CommandBuffer& cb, bool begins) {
    const auto bound = begins ? places() : std::array<BufferPlace, kMaxTransformFeedbackBuffers>{};
    const auto counters = places();
    for (uint32_t i = 0; i < bound.size() && begins && ok(); i++)
      if (bound[i].buffer) check(cb.bind_transform_feedback_buffers(i, std::span(&bound[i], 1)));
    if (ok()) check(begins ? cb.begin_transform_feedback(0, counters) : cb.end_transform_feedback(0, counters));
  }

  void draw(CommandBuffer& cb, PassInFile& pass, PassTag tag) {
    const bool indirect = tag != PassTag::draw;
    bool indexed = false;
    if (!begin_draw(cb, pass, indexed)) return;
    const uint32_t first = r.get<uint32_t>(), count = r.get<uint32_t>(), instances = r.get<uint32_t>(), first_instance = r.get<uint32_t>();
    const int32_t vertex_offset = r.get<int32_t>();
    const uint32_t draw_index = r.get<uint32_t>();
    bool meshes = false;
    r.flag(meshes, "mesh shaders");
    const uint32_t groups_x = r.get<uint32_t>(), groups_y = r.get<uint32_t>(), groups_z = r.get<uint32_t>();
    if (!indirect) {
      if (ok() && meshes)
        check(cb.draw_mesh_tasks(groups_x, groups_y, groups_z, draw_index));
      else if (ok())
        check(indexed ? cb.draw_indexed(count, instances, first, vertex_offset, first_instance, draw_index)
                      : cb.draw(count, instances, first, first_instance, draw_index));
      return;
    }
    const Ptr<Buffer> buffer = o.buffers.read(r, "buffer");
    const uint64_t offset_B = r.get<uint64_t>();
    const uint32_t draws = r.get<uint32_t>(), stride_B = r.get<uint32_t>();
    BufferPlace places;
    places.buffer = o.buffers.read(r, "buffer"), places.offset_B = r.get<uint64_t>();
    if (!ok()) return;
    if (tag == PassTag::byte_count) {
      check(cb.draw_indirect_byte_count(instances, first_instance, buffer, offset_B, draws, stride_B));
    } else if (meshes) {
      check(places.buffer ? cb.draw_mesh_tasks_indirect_count(buffer, offset_B, places, draws, stride_B)
                          : cb.draw_mesh_tasks_indirect(buffer, offset_B, draws, stride_B));
    } else if (places.buffer) {
      check(indexed ? cb.draw_indexed_indirect_count(buffer, offset_B, places, draws, stride_B)
                    : cb.draw_indirect_count(buffer, offset_B, places, draws, stride_B));
    } else {
      check(indexed ? cb.draw_indexed_indirect(buffer, offset_B, draws, stride_B) : cb.draw_indirect(buffer, offset_B, draws, stride_B));
    }
  }

  command::Condition read_condition() {
    command::Condition condition;
    References<Reader> references{r, o};
    condition_fields(references, condition);
    return condition;
  }
  void begin_condition(CommandBuffer& cb) {
    const command::Condition condition = read_condition();
    if (ok()) check(cb.begin_conditional_rendering({condition.buffer, condition.offset_B}, condition.inverted));
  }

  // Of what stages do.
  void change_counting(CommandBuffer& cb, bool begins) {
    const Ptr<QueryPool> pool = o.pools.read(r, "query pool");
    const uint32_t query = r.get<uint32_t>(), stream = r.get<uint32_t>();
    if (r.ok() && (!pool || pool->type == QueryType::occlusion)) r.fail("a query of a pass has a pool of another type");
    if (ok()) check(begins ? cb.begin_query_indexed(pool, query, false, stream) : cb.end_query(pool, query));
  }

  void clear(CommandBuffer& cb) {
    const int32_t attachment = r.get<int32_t>();
    VkImageAspectFlags aspects = 0;
    r.number(aspects, "aspects");
    if (attachment < -1 || aspects > 7) r.fail("a clear names an attachment or aspects that can't be");
    VkClearValue value{};
    VkRect2D rect{};
    fields(r, value), fields(r, rect);
    const uint32_t base_layer = r.get<uint32_t>(), layer_count = r.get<uint32_t>();
    bool of_load = false;
    r.flag(of_load, "of a load operation");
    if (ok()) check(cb.clear_attachment(attachment, aspects, value, rect, base_layer, layer_count, of_load));
  }

  void pass(CommandBuffer& cb) {
    RenderingInfo info;
    fields(r, info);
    r.list(info.color, 24, kMaxColorAttachments, "color attachments", [&](RenderingAttachment& a) { attachment(a); });
    attachment(info.depth), attachment(info.stencil);
    info.shading_rate.view = o.views.read(r, "view");
    if (!ok() || !check(cb.begin_rendering(info))) return;
    CapturedPass found;
    body(cb, &found);
    if (ok()) check(cb.end_rendering());
    if (!ok()) return;
    remember_pictures(info);
    while (!found.runs.empty() && found.runs.back() == 0) found.runs.pop_back();
    note_pass(std::move(found));
  }

  // -- draws in another order

  void note_pass(CapturedPass pass) {
    if (out.passes.size() < kMostPasses) out.passes.push_back(std::move(pass));
  }

  // The order that is wanted of the pass that is read; null: the file's.
  const DrawOrder* wanted_order() const {
    for (size_t i = 0; orders && i < orders->size(); i++)
      if ((*orders)[i].pass == out.passes.size()) return &(*orders)[i];
    return nullptr;
  }

  void note(const PassInFile& pass, PassTag tag, CapturedPass& found) const {
    if (tag != PassTag::draw) return note_between(tag, found);
    const State& state = pass.states[static_cast<size_t>(pass.state)];
    note_draw(state.pipeline->program(), state.set.depth_stencil, found);
  }

  // Draws one behind the other from here on, at most `most`, in the order that is wanted; the first of them is number `first` of its pass,
  // and its tag was read. How many: at least one.
  uint32_t run_in_order(CommandBuffer& cb, PassInFile& pass, CapturedPass& found, const DrawOrder& order, uint32_t first, uint32_t most) {
    constexpr size_t kDraw_B = 50;  // without its tag (draw())
    std::vector<std::span<const uint8_t>> places;
    std::span<const uint8_t> end = r.place();
    do {
      places.push_back(r.place());
      if (!r.take(kDraw_B)) return 1;
      end = r.place();
    } while (places.size() < most && r.get<uint8_t>() == static_cast<uint8_t>(PassTag::draw));
    std::vector<bool> seen(places.size());
    for (size_t k = 0; k < places.size() && ok(); k++) {
      const uint64_t wanted = first + k < order.draws.size() ? uint64_t{order.draws[first + k]} - first : places.size();
      if (wanted >= places.size() || seen[wanted]) {
        wrong = out_of_run(order, first, static_cast<uint32_t>(places.size()));
        break;
      }
      seen[wanted] = true;
      r.go_to(places[wanted]);
      draw(cb, pass, PassTag::draw);
      if (ok()) note(pass, PassTag::draw, found);
    }
    r.go_to(end);
    return static_cast<uint32_t>(places.size());
  }

  // Of a pass, or of a part of one (`found`: null), which is open.
  void body(CommandBuffer& cb, CapturedPass* found) {
    PassInFile pass;
    r.list(pass.queries, 9, kMostItems, "queries", [&](Query& query) {
      query.pool = o.pools.read(r, "query pool");
      r.number(query.query, "query");
      r.flag(query.outer, "outer");
    });
    // It is active already, and no other can be while it is.
    const bool outer = !pass.queries.empty() && pass.queries.front().outer;
    if (outer) pass.query = 0, pass.next_query = 1;
    if (outer && pass.queries.size() > 1) r.fail("a pass has queries inside of one that was begun before it");
    r.list(pass.states, 130, kMostItems, "states", [&](State& s) { state(s); });
    r.list(pass.pushes, kMaxPushConstants_B, kMostItems, "push constants", [&](auto& block) {
      if (const uint8_t* from = r.take(block.size())) std::memcpy(block.data(), from, block.size());
    });
    if (found && !pass.queries.empty()) found->fixed = "it has queries";
    const DrawOrder* const order = found && found->fixed.empty() ? wanted_order() : nullptr;  // else it is refused when all is read
    const uint32_t count = r.get_count(7, kMostItems, "commands of a pass");
    for (uint32_t i = 0; i < count && ok(); i++) {
      PassTag tag{};
      r.number(tag, "command of a pass");
      if (tag >= PassTag::count) r.fail("a command of a pass is of no known kind");
      if (!ok()) return;
      if (order && tag == PassTag::draw) {
        i += run_in_order(cb, pass, *found, *order, static_cast<uint32_t>(found->ordered.size()), count - i) - 1;
        continue;
      }
      if (tag == PassTag::clear) clear(cb);
      if (tag == PassTag::begin_query || tag == PassTag::end_query) change_counting(cb, tag == PassTag::begin_query);
      if (tag == PassTag::execute_commands) execute_in(cb, pass);
      if (tag == PassTag::draw || tag == PassTag::indirect || tag == PassTag::byte_count) draw(cb, pass, tag);
      if (tag == PassTag::begin_condition) begin_condition(cb);
      if (tag == PassTag::end_condition) check(cb.end_conditional_rendering());
      if (tag == PassTag::begin_transform_feedback || tag == PassTag::end_transform_feedback)
        change_transform_feedback(cb, tag == PassTag::begin_transform_feedback);
      if (found && ok()) note(pass, tag, *found);
    }
    if (ok() && !outer) change_query(cb, pass, -1);
    if (ok() && pass.next_query < pass.queries.size()) {
      begin_queries(cb, pass, pass.queries.size());
      if (ok()) check(cb.end_query(pass.queries.back().pool, pass.queries.back().query));
    }
  }

  void execute_in(CommandBuffer& cb, PassInFile& pass) {
    const Ptr<CommandBuffer> secondary = o.secondary_buffers.read(r, "secondary command buffer");
    const int32_t query = r.get<int32_t>();
    if (query < -1 || query >= static_cast<int64_t>(pass.queries.size())) r.fail("a query that is not in the file is active");
    if (!ok()) return;
    change_query(cb, pass, query);
    if (ok()) check(cb.execute_commands({secondary}));
    pass.state = pass.push = -1;
  }

  void remember_pictures(const RenderingInfo& info) {
    out.pictures.clear();
    for (const RenderingAttachment& a : info.color)
      if (a.pieces && a.pieces->store_view)
        out.pictures.push_back(a.pieces->store_view);
      else if (a.resolve_view)
        out.pictures.push_back(a.resolve_view);
      else if (a.view && a.store_op == VK_ATTACHMENT_STORE_OP_STORE)
        out.pictures.push_back(a.view);
    remember_stored(info);
  }
  void remember_stored(const RenderingInfo& info) {
    const auto add = [&](const Ptr<ImageView>& view) {
      if (view && std::find(out.stored.begin(), out.stored.end(), view) == out.stored.end()) out.stored.push_back(view);
    };
    const auto add_all = [&](const RenderingAttachment& a) {
      if (a.pieces) return add(a.pieces->store_view), add(a.pieces->resolve_view);
      add(a.resolve_view);
      if (a.store_op == VK_ATTACHMENT_STORE_OP_STORE) add(a.view);
    };
    for (const RenderingAttachment& a : info.color) add_all(a);
    add_all(info.depth), add_all(info.stencil);
  }

  // -- commands outside passes

  template <class C>
  C read() {
    C c;
    References<Reader> references{r, o};
    transfer_fields(references, c);
    return c;
  }

  Status transfer(CommandBuffer& cb, Tag tag) {
    const auto record = [&](auto c, auto call) -> Status { return ok() ? call(c) : Status(Ok{}); };
    switch (tag) {
      case Tag::copy_buffer:
        return record(read<command::CopyBuffer>(), [&](auto& c) { return cb.copy_buffer(c.source, c.destination, c.regions); });
      case Tag::fill_buffer:
        return record(read<command::FillBuffer>(), [&](auto& c) { return cb.fill_buffer(c.buffer, c.offset_B, c.size_B, c.word); });
      case Tag::update_buffer:
        return record(read<command::UpdateBuffer>(), [&](auto& c) { return cb.update_buffer(c.buffer, c.offset_B, c.bytes); });
      case Tag::copy_buffer_to_image:
        return record(read<command::CopyBufferToImage>(),
                      [&](auto& c) { return cb.copy_buffer_to_image(c.source, c.destination, c.regions); });
      case Tag::copy_image_to_buffer:
        return record(read<command::CopyImageToBuffer>(),
                      [&](auto& c) { return cb.copy_image_to_buffer(c.source, c.destination, c.regions); });
      case Tag::copy_image:
        return record(read<command::CopyImage>(), [&](auto& c) { return cb.copy_image(c.source, c.destination, c.regions); });
      case Tag::blit_image:
        return record(read<command::BlitImage>(), [&](auto& c) { return cb.blit_image(c.source, c.destination, c.regions, c.filter); });
      case Tag::resolve_image:
        return record(read<command::ResolveImage>(), [&](auto& c) { return cb.resolve_image(c.source, c.destination, c.regions); });
      case Tag::clear_color_image:
        return record(read<command::ClearColorImage>(), [&](auto& c) { return cb.clear_color_image(c.image, c.value, c.ranges); });
      case Tag::clear_depth_stencil_image:
        return record(read<command::ClearDepthStencilImage>(),
                      [&](auto& c) { return cb.clear_depth_stencil_image(c.image, c.value, c.ranges); });
      case Tag::generate_mipmaps:
        return record(read<command::GenerateMipmaps>(), [&](auto& c) { return cb.generate_mipmaps(c.image); });
      case Tag::reset_query_pool:
        return record(read<command::ResetQueryPool>(), [&](auto& c) { return cb.reset_query_pool(c.pool, c.first, c.count); });
      case Tag::write_timestamp:
        return record(read<command::WriteTimestamp>(), [&](auto& c) { return cb.write_timestamp(c.pool, c.query); });
      case Tag::begin_query:
        return record(read<command::BeginQuery>(), [&](auto& c) { return cb.begin_query_indexed(c.pool, c.query, true, c.stream); });
      case Tag::end_query:
        return record(read<command::EndQuery>(), [&](auto& c) { return cb.end_query(c.pool, c.query); });
      case Tag::copy_query_pool_results:
        return record(read<command::CopyQueryPoolResults>(), [&](auto& c) {
          return cb.copy_query_pool_results(c.pool, c.first, c.count, c.destination, c.offset_B, c.stride_B, c.flags);
        });
      case Tag::execute_commands:
        return execute(cb);
      case Tag::dispatch:
        return dispatch(cb);
      case Tag::end:
      case Tag::pass:
      case Tag::count:
        break;
    }
    r.fail("a command is of no known kind");
    return Ok{};
  }

  /// Outside of passes: a command that is executed under a condition, where there is one.
  template <class Record>
  Status under(CommandBuffer& cb, const command::Condition& condition, const Record& record) {
    assert(cb.state() == CommandBufferState::recording || !ok());
    if (!ok() || !condition.buffer) return ok() ? record() : Status(Ok{});
    if (Status begun = cb.begin_conditional_rendering({condition.buffer, condition.offset_B}, condition.inverted); !begun) return begun;
    if (Status done = record(); !done) return done;
    return cb.end_conditional_rendering();
  }

  Status dispatch(CommandBuffer& cb) {
    const Ptr<ComputePipeline> pipeline = o.compute_pipelines.read(r, "compute pipeline");
    if (r.ok() && !pipeline) r.fail("a dispatch has no pipeline");
    uint32_t base[3] = {}, groups[3] = {};
    for (uint32_t& k : base) r.number(k, "base");
    for (uint32_t& k : groups) r.number(k, "workgroups");
    const Ptr<Buffer> indirect = o.buffers.read(r, "buffer");
    const uint64_t offset_B = r.get<uint64_t>();
    const command::Condition condition = read_condition();
    const uint8_t* push = r.take(kMaxPushConstants_B);
    State::Sets sets;
    bound_sets(sets);
    if (!ok() || !push) return Ok{};
    cb.bind_pipeline(pipeline);
    for (uint32_t i = 0; i < kMaxDescriptorSets; i++)
      cb.bind_descriptor_set(i, sets[i].set, sets[i].dynamic_offsets_B, VK_PIPELINE_BIND_POINT_COMPUTE);
    if (Status done = cb.push_constants(0, push, kMaxPushConstants_B); !done) return done;
    const Status done = under(cb, condition, [&] {
      return indirect ? cb.dispatch_indirect(indirect, offset_B)
                      : cb.dispatch_base(base[0], base[1], base[2], groups[0], groups[1], groups[2]);
    });
    if (done) remember_written(pipeline->program(), sets);
    return done;
  }

  // The sets are what they were when it was captured.
  void remember_written(const pipeline::Program& program, const State::Sets& sets) {
    const auto each = [&](uint32_t set, uint32_t binding, uint32_t most, const auto& visit) {
      const Ptr<const descriptor::SetMemory> memory = sets[set].set ? sets[set].set->memory() : nullptr;
      const DescriptorBinding* of = memory ? memory->layout->find(binding) : nullptr;
      for (uint32_t i = 0; of && i < std::min(most, memory->count_of(*of)); i++) visit(memory->element(*of, i));
    };
    const auto add_buffer = [&](const Ptr<Buffer>& buffer) {
      if (buffer && std::find(out.buffers.begin(), out.buffers.end(), buffer) == out.buffers.end()) out.buffers.push_back(buffer);
    };
    for (const shader::BufferSlot& slot : program.written_buffers)
      each(slot.set, slot.binding, slot.count, [&](const descriptor::Element& e) { add_buffer(e.buffer); });
    for (const Ptr<Buffer>& buffer : out.addressed)
      if (program.writes_addresses) add_buffer(buffer);
    std::vector<Ptr<ImageView>> pictures;
    for (const shader::TextureSlot& slot : program.written_images)
      each(slot.image_set, slot.image_binding, slot.image_count, [&](const descriptor::Element& e) {
        if (e.view && e.view->texels) add_buffer(e.view->texels->buffer());
        if (e.view && e.view->view) pictures.push_back(e.view->view);
      });
    if (!pictures.empty()) out.pictures = std::move(pictures);
  }

  Status execute(CommandBuffer& cb) {
    const Ptr<CommandBuffer> secondary = o.secondary_buffers.read(r, "secondary command buffer");
    if (!ok()) return Ok{};
    if (const auto found = of_secondaries.find(secondary.get()); found != of_secondaries.end()) {
      if (!found->second.pictures.empty()) out.pictures = found->second.pictures;
      for (const CapturedPass& pass : found->second.passes) note_pass(pass);
    }
    return under(cb, read_condition(), [&] { return cb.execute_commands({secondary}); });
  }

  Ptr<CommandBuffer> recording(VkCommandBufferLevel level) {
    auto cb = std::make_shared<CommandBuffer>(device, level);
    bool part = false;
    r.flag(part, "part of a pass");
    if (part) {
      InheritanceInfo inheritance;
      fields(r, inheritance);
      if (ok() && check(cb->begin(inheritance))) body(*cb, nullptr);
    } else {
      InheritedActivity active;
      if (level == VK_COMMAND_BUFFER_LEVEL_SECONDARY) fields(r, active);
      if (ok()) check(level == VK_COMMAND_BUFFER_LEVEL_SECONDARY ? cb->begin(active) : cb->begin());
      while (ok()) {
        const Tag tag = static_cast<Tag>(r.get<uint8_t>());
        if (!r.ok() || tag == Tag::end) break;
        if (tag == Tag::pass)
          pass(*cb);
        else
          check(transfer(*cb, tag));
      }
    }
    if (ok()) check(cb->end());
    return cb;
  }

  void commands(const std::vector<DrawOrder>& wanted) {
    table(o.secondary_buffers, 1, "secondary command buffers", [&] {
      out.pictures.clear(), out.passes.clear();
      Ptr<CommandBuffer> secondary = recording(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
      for (CapturedPass& pass : out.passes) pass.fixed = "it is in a secondary command buffer";
      if (!out.pictures.empty() || !out.passes.empty()) of_secondaries[secondary.get()] = {out.pictures, out.passes};
      return secondary;
    });
    out.pictures.clear(), out.passes.clear();
    orders = &wanted;
    const uint32_t count = r.get_count(1, kMostItems, "command buffers");
    for (uint32_t i = 0; i < count && ok(); i++) out.command_buffers.push_back(recording(VK_COMMAND_BUFFER_LEVEL_PRIMARY));
    for (const DrawOrder& order : wanted)
      if (ok()) check(is_possible(order, out.passes, wanted));
    if (r.ok() && !r.at_end()) r.fail("bytes follow the last command buffer");
  }
};

}  // namespace
}  // namespace capture

Expected<Capture> load_capture(const Ptr<Device>& device, const std::string& path, const std::vector<DrawOrder>& orders) {
  assert(device);
  const auto invalid = [&](const Error& error) { return Error{error.code, "capture '" + path + "': " + error.message}; };
  const Replaying replaying;
  try {
    auto file = capture::read_file(path);
    if (!file) return file.error();
    capture::Reader reader(file->payload);
    capture::Loader loader{{reader, device, {}, {}}};
    loader.file_B = file->payload.size();
    loader.objects();
    if (loader.ok()) loader.commands(orders);
    if (!loader.wrong) return invalid(loader.wrong.error());  // what comes behind it in the file was not read in its place
    if (!reader.ok()) return invalid({VK_ERROR_INITIALIZATION_FAILED, reader.why()});
    return std::move(loader.out);
  } catch (const std::bad_alloc&) {
    return Error{VK_ERROR_OUT_OF_HOST_MEMORY, "capture '" + path + "': the system refused memory for what it names"};
  }
}

Expected<std::string> capture_profile(const std::string& path) {
  try {
    auto file = capture::read_file(path);
    if (!file) return file.error();
    return file->profile;
  } catch (const std::bad_alloc&) {
    return Error{VK_ERROR_OUT_OF_HOST_MEMORY, "capture '" + path + "': the system refused memory for its bytes"};
  }
}

}  // namespace tilegpu
