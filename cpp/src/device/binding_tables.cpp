// device/binding_tables.cpp -- stage: recording, and the beginning of an execution. In: a program and the bound sets. Out: the sets'
// addresses; dynamic buffers with their offsets; what the pass reads and writes of its own targets.
// Source: Vulkan specification, "Descriptor Set Binding", "Pipeline Layout Compatibility", "Render Pass Feedback Loop".
#include "device/binding_tables.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_set>

#include "device/feedback_loops.hpp"
#include "pipeline/create.hpp"
#include "tilegpu/image_reads.hpp"

namespace tilegpu::device {

namespace {

using command::BoundSets;
using descriptor::Element;
using descriptor::SetMemory;
using pipeline::Program;

using framebuffer::ReadParts;

/// What a shader does with an element.
struct Access {
  bool writes;
  framebuffer::Certainty certainty;
};

/// Parts that a shader reads some of, and may write them.
Status note_parts(command::Pass& pass, const Program& program, const DescriptorName& name, const ReadParts& parts, Access access,
                  bool of_buffer) {
  if (!framebuffer::meets_targets(parts)) return Ok{};
  return framebuffer::note_read(pass.feedback, parts, {describe(program, name), access.writes, access.certainty, of_buffer});
}

Status note_range(command::Pass& pass, const Program& program, const DescriptorName& name, const Buffer& buffer,
                  resource::MemoryRange range, Access access) {
  return note_parts(pass, program, name, framebuffer::targets_read(pass.feedback, buffer.memory()->contents(), range), access, true);
}

void note_written(command::Pass& pass, const Element& e) {
  if (e.buffer) pass.written_buffers.insert(e.buffer);
  if (e.view && e.view->texels) pass.written_buffers.insert(e.view->texels->buffer());
  if (e.view && e.view->view) pass.written_views.insert(e.view->view);
}

/// Of the levels that the view's samplers let through, those that the stages' code can ask for: constant levels (textureLod, texelFetch)
/// are known. Asked only where the view shares memory with a target, since it reads the module.
framebuffer::LevelRange levels_of_code(const Program& program, const SetUse::Read& read, const ImageView& view) {
  const framebuffer::LevelRange all = read.levels;
  if (std::min(all.count, view.info().level_count) <= 1 || read.written) return all;
  const uint32_t last = std::min(all.first + (all.count - 1), view.info().level_count - 1);
  uint32_t first = ~0u, end = 0;
  const auto add = [&](uint32_t from, uint32_t to) { first = std::min(first, from), end = std::max(end, to); };
  for (const pipeline::Stage& stage : program.stages) {
    if (!stage.module->parse()) return all;
    const ImageReads code = image_reads(*stage.module, read.name.set, read.name.binding, stage.specialization);
    if (code.samples || code.loads || code.stores || code.fetched_levels > view.info().level_count) return all;
    if (code.samples_constant && !read.sampler) return all;
    if (code.samples_constant) {
      const framebuffer::LevelRange sampled = levels_sampled(*read.sampler, view.info().level_count, code.least_lod, code.greatest_lod);
      add(sampled.first, sampled.first + sampled.count);
    }
    if (code.gathers) add(0, 1);
    if (code.fetched_levels) add(0, code.fetched_levels);
  }
  if (first >= end) return all;
  first = std::clamp(first, all.first, last);
  return {first, std::clamp(end - 1, first, last) - first + 1};
}

Status note_use(const DeviceState& device, command::Pass& pass, const Program& program, const SetUse& use) {
  for (const SetUse::Read& read : use.reads) {
    const Element& e = *read.element;
    if (read.written) note_written(pass, e);
    const auto& targets = pass.feedback.targets;
    if (std::none_of(targets.begin(), targets.end(), [&](const auto& t) { return t.memory == read.memory; })) continue;
    Status ok = Ok{};
    const Access access{read.written, read.certainty};
    if (e.buffer) {
      const uint64_t begin_B = e.buffer->memory_offset_B() + e.offset_B;
      if (e.range_B) ok = note_range(pass, program, read.name, *e.buffer, {begin_B, begin_B + e.range_B}, access);
    } else if (e.view->texels) {
      const BufferViewCreateInfo& texels = e.view->texels->info();
      const uint64_t begin_B = texels.buffer->memory_offset_B() + texels.offset_B;
      ok = note_range(pass, program, read.name, *texels.buffer, {begin_B, begin_B + texels.range_B}, access);
    } else {
      const framebuffer::LevelRange levels = levels_of_code(program, read, *e.view->view);
      ok = note_parts(pass, program, read.name, framebuffer::targets_read(pass.feedback, *e.view->view, levels), access, false);
      ok = allow_loops(device, pass.feedback, std::move(ok));
    }
    if (!ok) return ok;
  }
  return Ok{};
}

Status note_dynamic(command::Pass& pass, const Program& program, const BoundSets& bound, const shader::BufferSlot& slot, uint32_t element,
                    framebuffer::Certainty certainty) {
  const DescriptorName name{slot.set, slot.binding, element};
  auto found = find_element(program, bound, name, slot.type);
  if (!found) return found.error();
  if (!*found || !(*found)->buffer) return Ok{};
  const Buffer& buffer = *(*found)->buffer;
  if (slot.writable) pass.written_buffers.insert((*found)->buffer);
  const uint8_t* at = bound.address[slot.table] + slot.at.offset_B + size_t{element} * slot.at.stride_B;
  const auto& code = *reinterpret_cast<const shader::BufferDescriptor*>(at);
  if (!code.size_B) return Ok{};
  const uint64_t begin_B = buffer.memory_offset_B() + static_cast<uint64_t>(code.data - buffer.data());
  return note_range(pass, program, name, buffer, {begin_B, begin_B + code.size_B}, {slot.writable, certainty});
}

/// Dynamic buffers are where the draw's offsets put them.
Status note_dynamic(command::Pass& pass, const Program& program, const BoundSets& bound, bool late) {
  for (const shader::BufferSlot& slot : program.dynamic_buffers)
    if ((bound.late[slot.set] != nullptr) == late) {
      const auto one = [&](uint32_t i, framebuffer::Certainty certainty) { return note_dynamic(pass, program, bound, slot, i, certainty); };
      if (Status ok = each_element(slot.named, slot.count, slot.count, one); !ok) return ok;
    }
  return Ok{};
}

/// What shaders read and write through their sets, of which `late` ones may be updated after they were bound. `anisotropic` becomes true
/// where one of them samples so.
Status note_sets(NotedUses& noted, const SetUses& uses, command::Pass& pass, const Program& program, const BoundSets& bound, bool late,
                 bool& anisotropic) {
  for (size_t i = 0; i < program.set_groups.size(); i++) {
    const pipeline::SetGroup& group = program.set_groups[i];
    if ((bound.late[group.set] || bound.late[group.sampler_set]) != late) continue;
    auto use = uses.find(program, i, bound);
    if (!use) return use.error();
    anisotropic |= (*use)->anisotropic;
    if ((*use)->kept && !noted.insert(*use).second) continue;
    if (Status ok = note_use(uses.device, pass, program, **use); !ok) return ok;
  }
  return note_dynamic(pass, program, bound, late);
}

/// The set at `number` as the pipeline's layout has it.
Status check_set(const device::DeviceState& device, const Program& program, uint32_t number, const DescriptorSet& set,
                 const SetMemory& memory, std::span<const uint32_t> offsets_B) {
  const std::string who = "pipeline '" + program.label + "': descriptor set " + std::to_string(number);
  if (memory.textures != device.textures) return Error{VK_ERROR_INITIALIZATION_FAILED, who + " is of another device"};
  if (!set.layout().is_compatible(*program.layout->sets[number]))
    return Error{VK_ERROR_INITIALIZATION_FAILED,
                 who +
                     " was made with another layout than the pipeline's: bindings, types, counts, stages, flags and immutable samplers "
                     "must be the same"};
  if (offsets_B.size() != set.layout().dynamic_buffers())
    return Error{VK_ERROR_INITIALIZATION_FAILED, who + " was bound with " + std::to_string(offsets_B.size()) +
                                                     " dynamic offsets; its layout has " + std::to_string(set.layout().dynamic_buffers()) +
                                                     " dynamic buffers"};
  for (const uint32_t offset_B : offsets_B)
    if (offset_B % kBufferOffsetAlignment_B)
      return forbid(device,
                    Error{VK_ERROR_INITIALIZATION_FAILED, who + " was bound with dynamic offset " + std::to_string(offset_B) +
                                                              "; it must be a multiple of " + std::to_string(kBufferOffsetAlignment_B)});
  return Ok{};
}

/// The dynamic buffers of the layout, in order; what an offset pushes out of the buffer is cut off.
void resolve_dynamic(BoundSets& bound, const PipelineLayout& layout) {
  bound.dynamic.clear();
  size_t next = 0;
  for (uint32_t set = 0; set < layout.sets.size(); set++) {
    if (!layout.sets[set] || !layout.sets[set]->dynamic_buffers()) continue;
    assert(bound.dynamic.size() == pipeline::first_dynamic_buffer(layout, set));
    const SetMemory* memory = bound.memory[set].get();
    if (!memory) {  // no shader of the pipeline uses it
      bound.dynamic.resize(bound.dynamic.size() + layout.sets[set]->dynamic_buffers());
      continue;
    }
    for (const DescriptorBinding& b : memory->layout->bindings())
      for (uint32_t i = 0; descriptor::kind_of(b.type) == descriptor::Kind::dynamic_buffer && i < b.count; i++) {
        const Element& e = memory->element(b, i);
        const uint64_t offset_B = e.offset_B + bound.dynamic_offsets_B[next++];
        const bool inside = e.buffer && offset_B < e.buffer->size_B();
        bound.dynamic.push_back(
            inside ? shader::BufferDescriptor{e.buffer->data() + offset_B, std::min(e.range_B, e.buffer->size_B() - offset_B)}
                   : shader::BufferDescriptor{});
      }
  }
  assert(next == bound.dynamic_offsets_B.size());
  bound.address[shader::kDynamicSet] = reinterpret_cast<const uint8_t*>(bound.dynamic.data());
}

bool is_late(const BoundSets& bound) {
  return std::any_of(bound.late.begin(), bound.late.end(), [](const auto& set) { return set != nullptr; });
}

}  // namespace

Status bind_sets(const device::DeviceState& device, const SetBindings& sets, const Program& program, BoundSets& bound) {
  assert(program.reads_sets());
  const PipelineLayout& layout = *program.layout;
  for (uint32_t i = 0; i < layout.sets.size(); i++) {
    // What no shader uses may be missing, or of another layout.
    if (!(program.used_sets >> i & 1) || !sets.set[i]) continue;
    bound.memory[i] = sets.set[i]->memory();
    if (Status ok = check_set(device, program, i, *sets.set[i], *bound.memory[i], sets.dynamic_offsets_B[i]); !ok) return ok;
    bound.address[i] = bound.memory[i]->data();
    bound.dynamic_offsets_B.insert(bound.dynamic_offsets_B.end(), sets.dynamic_offsets_B[i].begin(), sets.dynamic_offsets_B[i].end());
    if (sets.set[i]->layout().updates_after_bind()) bound.late[i] = sets.set[i];
  }
  resolve_dynamic(bound, layout);
  bound.address[shader::kAddressSet] = reinterpret_cast<const uint8_t*>(device.addresses->table());
  return Ok{};
}

Status bind_sets_of_draw(Recorder& r) {
  assert(r.open && r.dynamic.pipeline());
  const Program& program = r.dynamic.pipeline()->program();
  r.state.sets = nullptr, r.bound_sets = nullptr, r.state.anisotropic = false;
  if (!program.reads_sets()) return Ok{};
  command::Pass& pass = *r.open;
  BoundSets& bound = pass.sets.emplace_back();
  Status ok = bind_sets(r.device->state(), r.sets, program, bound);
  if (ok) ok = note_sets(r.noted_uses, {r.device->state(), r.use}, pass, program, bound, false, bound.anisotropic);
  if (!ok) {
    pass.sets.pop_back();
    return ok;
  }
  pass.has_late_sets |= is_late(bound);
  pass.uses_addresses |= program.uses_addresses, pass.writes_addresses |= program.writes_addresses;
  r.state.sets = bound.address.data(), r.bound_sets = &bound, r.state.anisotropic = bound.anisotropic;
  return Ok{};
}

Status bind_late_sets(device::DeviceState& device, command::Pass& pass) {
  assert(pass.states.size() == pass.bound.size());
  const BoundSets *from = nullptr, *to = nullptr;
  SetUse scratch;
  NotedUses noted;
  for (size_t k = 0; k < pass.states.size(); k++) {
    command::Bound& of_state = pass.bound[k];
    if (!of_state.sets || !is_late(*of_state.sets)) continue;
    if (of_state.sets != from) {
      from = of_state.sets;
      const Program& program = of_state.pipeline->program();
      BoundSets& bound = pass.sets.emplace_back(*from);
      to = &bound;
      pass.feedback.loops = of_state.feedback_loops;
      for (uint32_t i = 0; i < kMaxDescriptorSets; i++)
        if (bound.late[i]) bound.memory[i] = bound.late[i]->memory(), bound.address[i] = bound.memory[i]->data();
      resolve_dynamic(bound, *program.layout);
      if (Status ok = note_sets(noted, {device, scratch}, pass, program, bound, true, bound.anisotropic); !ok) return ok;
    }
    of_state.sets = to, pass.states[k].sets = to->address.data(), pass.states[k].anisotropic = to->anisotropic;
  }
  return Ok{};
}

namespace {

void note_written(command::ComputeSets& sets, const Element& e) {
  if (e.buffer) sets.written.push_back(e.buffer);
  if (e.view && e.view->texels) sets.written.push_back(e.view->texels->buffer());
  if (e.view && e.view->view) sets.written_views.push_back(e.view->view);
}

}  // namespace

Status check_compute_sets(device::DeviceState& device, SetUse& scratch, const Program& program, command::ComputeSets& sets, bool late) {
  const BoundSets& bound = sets.bound;
  const SetUses uses{device, scratch};
  for (size_t i = 0; i < program.set_groups.size(); i++) {
    const pipeline::SetGroup& group = program.set_groups[i];
    if ((bound.late[group.set] || bound.late[group.sampler_set]) != late) continue;
    auto use = uses.find(program, i, bound);
    if (!use) return use.error();
    for (const SetUse::Read& read : (*use)->reads)
      if (read.written) note_written(sets, *read.element);
  }
  for (const shader::BufferSlot& slot : program.dynamic_buffers)
    if ((bound.late[slot.set] != nullptr) == late) {
      const auto one = [&](uint32_t i, framebuffer::Certainty) -> Status {
        auto found = find_element(program, bound, {slot.set, slot.binding, i}, slot.type);
        if (!found) return found.error();
        if (slot.writable && *found && (*found)->buffer) sets.written.push_back((*found)->buffer);
        return Ok{};
      };
      if (Status ok = each_element(slot.named, slot.count, slot.count, one); !ok) return ok;
    }
  sets.late |= is_late(bound);
  return Ok{};
}

Status bind_late_sets(device::DeviceState& device, const Program& program, command::ComputeSets& sets) {
  assert(sets.late);
  BoundSets& bound = sets.bound;
  for (uint32_t i = 0; i < kMaxDescriptorSets; i++)
    if (bound.late[i]) bound.memory[i] = bound.late[i]->memory(), bound.address[i] = bound.memory[i]->data();
  resolve_dynamic(bound, *program.layout);
  SetUse scratch;
  return check_compute_sets(device, scratch, program, sets, true);
}

Status note_buffer(command::Pass& pass, const Pipeline& pipeline, const char* what, const Buffer& buffer, const uint8_t* data,
                   uint64_t size_B) {
  if (size_B == 0) return Ok{};  // bound beyond its end, or without memory: zeros are read
  assert(data >= buffer.data() && size_B <= buffer.size_B());
  const uint64_t begin_B = buffer.memory_offset_B() + static_cast<uint64_t>(data - buffer.data());
  const ReadParts read = framebuffer::targets_read(pass.feedback, buffer.memory()->contents(), {begin_B, begin_B + size_B});
  if (!framebuffer::meets_targets(read)) return Ok{};
  const std::string who = "pipeline '" + pipeline.info().label + "': " + what + " '" + buffer.info().label + "'";
  return framebuffer::note_read(pass.feedback, read, {.who = who, .of_buffer = true});
}

namespace {

/// What a secondary's draws read and write: it was recorded without knowing the pass's targets.
Status note_draws_of_part(device::DeviceState& device, command::Pass& pass, const command::Pass& part) {
  assert(part.bound.size() == part.states.size());
  SetUse scratch;
  NotedUses noted;
  const BoundSets* last_sets = nullptr;
  bool anisotropic = false;                               // known since the part was recorded
  std::unordered_set<const command::DrawState*> indexed;  // states of which indices are read
  for (const command::DrawCall& draw : part.draws)
    if (draw.indexed) indexed.insert(draw.state);
  for (const command::IndirectDraw& draw : part.indirects)
    if (draw.base.indexed) indexed.insert(draw.base.state);
  for (size_t k = 0; k < part.bound.size(); k++) {
    const command::Bound& bound = part.bound[k];
    const command::DrawState& state = part.states[k];
    const Pipeline& pipeline = *bound.pipeline;
    for (const auto& input : state.resolved->vertex_input)
      for (uint32_t i = 0; i < bound.vertex_buffers; i++) {
        const command::BoundVertexBuffer& vertices = part.vertex_buffers[bound.first_vertex_buffer + i];
        const shader::VertexBinding& at = state.vertex_bindings[vertices.binding];
        if (vertices.binding != input.binding) continue;
        if (Status ok = note_buffer(pass, pipeline, "vertex buffer", *vertices.buffer, at.data, at.size_B); !ok) return ok;
      }
    if (indexed.count(&state))
      if (Status ok = note_buffer(pass, pipeline, "index buffer", *bound.index_buffer, state.index_data, state.index_size_B); !ok)
        return ok;
    if (!bound.sets || bound.sets == last_sets) continue;
    last_sets = bound.sets;
    pass.feedback.loops = bound.feedback_loops;
    if (Status ok = note_sets(noted, {device, scratch}, pass, pipeline.program(), *last_sets, false, anisotropic); !ok) return ok;
  }
  for (const command::IndirectDraw& draw : part.indirects) {
    const uint64_t commands_B = draw.count == 0 ? 0 : uint64_t{draw.count - 1} * draw.stride_B + (draw.base.indexed ? 20 : 16);
    for (const auto& [place, size_B] :
         {std::pair(BufferPlace{draw.buffer, draw.offset_B}, draw.by_bytes ? 4 : commands_B), std::pair(draw.draws_in, uint64_t{4})}) {
      if (!place.buffer) continue;
      const Status ok =
          note_buffer(pass, *part.bound.front().pipeline, "indirect buffer", *place.buffer, place.buffer->data() + place.offset_B, size_B);
      if (!ok) return ok;
    }
  }
  return Ok{};
}

}  // namespace

Status note_part(device::DeviceState& device, command::Pass& pass, const command::Pass& part) {
  if (Status ok = note_draws_of_part(device, pass, part); !ok) return ok;
  for (const command::Condition& condition : part.conditions)
    if (Status ok = note_condition(pass.feedback, condition); !ok) return ok;
  return allow_loops(device, pass.feedback, framebuffer::note_part(pass.feedback, part.feedback));
}

}  // namespace tilegpu::device
