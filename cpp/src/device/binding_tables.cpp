// device/binding_tables.cpp -- stage: recording, and the beginning of an execution. In: a pipeline's ResourceTable and the bound sets. Out:
// the sets' addresses, with all that code will ask of them checked and compiled; dynamic buffers with their offsets.
// Source: Vulkan specification, "Descriptor Set Binding", "Pipeline Layout Compatibility"; VK_EXT_descriptor_indexing.
#include "device/binding_tables.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/field_error.hpp"
#include "pipeline/create.hpp"
#include "pipeline/program.hpp"
#include "resource/view_abi.hpp"
#include "vk/format.hpp"

namespace tilegpu::device {

namespace {

using command::BoundSets;
using descriptor::Element;
using descriptor::SetMemory;
using descriptor::TexturedView;

std::string binding_name(const Pipeline& pipeline, uint32_t set, uint32_t binding, uint32_t element) {
  std::string name;
  const auto& stages = pipeline.program().stages;
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage)
    if (name.empty())
      for (const ReflectedBinding& b : stage->reflection->bindings)
        if (b.set == set && b.binding == binding) name = b.name.empty() ? b.block_name : b.name;
  return "pipeline '" + pipeline.info().label + "': '" + name + "' (set " + std::to_string(set) + ", binding " + std::to_string(binding) +
         (element ? ", element " + std::to_string(element) : "") + ")";
}

/// What the shader's variable says of the view: its type, samples, and whether its texels are integers. Code reads whatever it is given.
Status check_view_fits(const Pipeline& pipeline, uint32_t set, uint32_t binding, uint32_t element, const ImageView& view) {
  using Kind = ReflectedType::Kind;
  const ImageViewCreateInfo& info = view.info();
  const ImageCreateInfo& image = view.image()->info();
  const bool multisampled = view.image()->sample_count() > 1;
  const bool integer = vk::find_format(info.format)->is_integer() || info.aspects == VK_IMAGE_ASPECT_STENCIL_BIT;
  const auto wrong = [&](const char* what, const char* value, const char* allowed, const char* fix) {
    return field_error(binding_name(pipeline, set, binding, element),
                       std::string(what) + " of the view of " + object_name("image", image.label), value,
                       std::string(allowed) + ", which the shader reads", fix);
  };
  if (image.tiling != ImageTiling::linear)
    return wrong("tiling", "block_compressed", "linear", "copy it to a linear image, or read it as an input attachment");
  if (image.usage && !(image.usage & VK_IMAGE_USAGE_SAMPLED_BIT))
    return wrong("usage", "one without sampled", "sampled", "create the image with that usage");
  for (const auto& stage : pipeline.program().stages)
    for (const ReflectedBinding& b : stage.reflection->bindings) {
      const ReflectedType& type = b.type;
      if (b.set != set || b.binding != binding || !b.used || (type.kind != Kind::image && type.kind != Kind::sampled_image)) continue;
      if (type.dim != info.type)
        return wrong("type", resource::view_type_name(info.type), resource::view_type_name(type.dim), "bind a view of that type");
      if (type.multisampled != multisampled)
        return wrong("samples", multisampled ? "more than 1" : "1", multisampled ? "1" : "more than 1", "bind another image");
      if ((type.base != ReflectedType::Base::f32) != integer)
        return wrong("format", vk::find_format(info.format)->name, integer ? "one of floats" : "one of integers",
                     "declare the variable with the other kind of texels, or bind a view of another format");
    }
  return Ok{};
}

/// What the pass changes besides is no matter of sets: notes what a buffer's descriptor lets it read and write of the pass's targets.
Status note_descriptor(command::Pass& pass, const Pipeline& pipeline, const BoundSets& bound, const shader::BufferSlot& slot, uint32_t i,
                       const Buffer& buffer) {
  const uint8_t* at = bound.address[slot.table] + slot.at.offset_B + size_t{i} * slot.at.stride_B;
  const auto& code = *reinterpret_cast<const shader::BufferDescriptor*>(at);
  if (!code.size_B) return Ok{};
  const uint64_t begin_B = buffer.memory_offset_B() + static_cast<uint64_t>(code.data - buffer.data());
  const uint32_t read = framebuffer::targets_read(pass.feedback, buffer.memory()->contents(), {begin_B, begin_B + code.size_B});
  if (!read) return Ok{};
  const std::string who = binding_name(pipeline, slot.set, slot.binding, i);
  Status ok = framebuffer::note_read(pass.feedback, read, who);
  return ok && slot.writable ? framebuffer::note_written(pass.feedback, read, who) : ok;
}

/// What a pipeline asks of the sets that it gets.
struct Checker {
  exec::DeviceState& device;
  command::Pass& pass;
  const Pipeline& pipeline;
  const BoundSets& bound;
  bool late;  // only of the sets that may be updated after they were bound, else only of the others
  struct Name {
    uint32_t set, binding, element;
  };
  std::vector<descriptor::Textures::Request> requests;
  std::vector<Name> names;

  Error error(const Name& at, const std::string& text) const {
    return {VK_ERROR_INITIALIZATION_FAILED, binding_name(pipeline, at.set, at.binding, at.element) + text};
  }
  /// Null with an error: it was not written and has to be. Null without: it need not.
  Expected<const Element*> element(const Name& at) const {
    const SetMemory* memory = bound.memory[at.set].get();
    if (!memory) return error(at, " is used by the shader, but nothing is bound there");
    const DescriptorBinding& binding = *memory->layout->find(at.binding);
    const bool partial = binding.flags & VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT;
    const bool exists = at.element < memory->count_of(binding);
    const Element* found = exists ? &memory->element(binding, at.element) : nullptr;
    if (found && found->written) return found;
    if (partial || !exists) return static_cast<const Element*>(nullptr);  // elements beyond a variable count are null descriptors
    return error(at, " is used by the shader, but nothing is bound there");
  }
  void need(const TexturedView& view, shader::TextureDescriptor& abi, std::atomic<uint8_t>& have,
            const descriptor::NumberedSampler* sampler, uint8_t uses, const Name& at) {
    if (!(uses & ~have.load(std::memory_order_acquire))) return;
    requests.push_back({&abi, &have, &view, sampler, uses});
    names.push_back(at);
  }

  Status buffers() {
    for (const shader::BufferSlot& slot : pipeline.program().resources.buffers)
      for (uint32_t i = 0; (bound.late[slot.set] != nullptr) == late && i < slot.count; i++) {
        auto found = element({slot.set, slot.binding, i});
        if (!found) return found.error();
        const Element* e = *found;
        if (!e || !e->buffer) continue;
        if (slot.writable) pass.written_buffers.insert(e->buffer);
        if (Status ok = note_descriptor(pass, pipeline, bound, slot, i, *e->buffer); !ok) return ok;
      }
    return Ok{};
  }

  Status texture(const shader::TextureSlot& slot, uint32_t i) {
    const Name at{slot.image_set, slot.image_binding, i};
    auto found = element(at);
    if (!found) return found.error();
    const Element* image = *found;
    if (!image || !image->view) return Ok{};
    TexturedView& view = *image->view;
    if (Status fits = check_view_fits(pipeline, at.set, at.binding, at.element, *view.view); !fits) return fits;
    if (const uint32_t read = framebuffer::targets_read(pass.feedback, *view.view))
      if (Status ok = framebuffer::note_read(pass.feedback, read, binding_name(pipeline, at.set, at.binding, at.element)); !ok) return ok;
    pass.read_views.push_back(view.view);
    if (slot.is_alone()) {
      need(view, view.image.alone, view.alone_uses, nullptr, slot.uses, at);
      return Ok{};
    }
    for (uint32_t j = 0; j < slot.sampler_count; j++) {
      const Element* with = image;
      if (!slot.combined) {
        auto sampler = element({slot.sampler_set, slot.sampler_binding, j});
        if (!sampler) return sampler.error();
        with = *sampler;
      }
      if (!with || !with->sampler) continue;
      descriptor::Texture& pair = device.textures->pair(view, *with->sampler);
      need(view, pair.abi, pair.uses, with->sampler.get(), slot.uses, at);
    }
    return Ok{};
  }

  Status run() {
    if (Status done = buffers(); !done) return done;
    for (const shader::TextureSlot& slot : pipeline.program().resources.textures) {
      const bool is_late = bound.late[slot.image_set] || (!slot.is_alone() && bound.late[slot.sampler_set]);
      if (is_late != late) continue;
      for (uint32_t i = 0; i < slot.image_count; i++)
        if (Status done = texture(slot, i); !done) return done;
    }
    if (requests.empty()) return Ok{};
    return device.textures->ensure(requests,
                                   [&](size_t k) { return binding_name(pipeline, names[k].set, names[k].binding, names[k].element); });
  }
};

/// The set at `number` as the pipeline's layout has it.
Status check_set(const exec::DeviceState& device, const Pipeline& pipeline, uint32_t number, const DescriptorSet& set,
                 const SetMemory& memory, size_t offsets) {
  const std::string who = "pipeline '" + pipeline.info().label + "': descriptor set " + std::to_string(number);
  if (memory.textures != device.textures) return Error{VK_ERROR_INITIALIZATION_FAILED, who + " is of another device"};
  if (!set.layout().is_compatible(*pipeline.program().layout->sets[number]))
    return Error{VK_ERROR_INITIALIZATION_FAILED,
                 who +
                     " was made with another layout than the pipeline's: bindings, types, counts, stages, flags and immutable samplers "
                     "must be the same"};
  if (offsets != set.layout().dynamic_buffers())
    return Error{VK_ERROR_INITIALIZATION_FAILED, who + " was bound with " + std::to_string(offsets) + " dynamic offsets; its layout has " +
                                                     std::to_string(set.layout().dynamic_buffers()) + " dynamic buffers"};
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

Status fill(Recorder& r, BoundSets& bound) {
  exec::DeviceState& device = r.device->state();
  const Pipeline& pipeline = *r.dynamic.pipeline();
  const PipelineLayout& layout = *pipeline.program().layout;
  for (uint32_t i = 0; i < layout.sets.size(); i++) {
    // What no shader uses may be missing, or of another layout.
    if (!(pipeline.program().used_sets >> i & 1) || !r.sets[i]) continue;
    bound.memory[i] = r.sets[i]->memory();
    if (Status ok = check_set(device, pipeline, i, *r.sets[i], *bound.memory[i], r.dynamic_offsets_B[i].size()); !ok) return ok;
    bound.address[i] = bound.memory[i]->data();
    bound.dynamic_offsets_B.insert(bound.dynamic_offsets_B.end(), r.dynamic_offsets_B[i].begin(), r.dynamic_offsets_B[i].end());
    if (r.sets[i]->layout().updates_after_bind()) bound.late[i] = r.sets[i];
  }
  resolve_dynamic(bound, layout);
  return Checker{device, *r.open, pipeline, bound, false, {}, {}}.run();
}

bool is_late(const BoundSets& bound) {
  return std::any_of(bound.late.begin(), bound.late.end(), [](const auto& set) { return set != nullptr; });
}

}  // namespace

Status bind_sets(Recorder& r) {
  assert(r.open && r.dynamic.pipeline());
  r.state.sets = nullptr, r.bound_sets = nullptr;
  if (!r.dynamic.pipeline()->program().used_sets) return Ok{};
  command::Pass& pass = *r.open;
  BoundSets& bound = pass.sets.emplace_back();
  if (Status ok = fill(r, bound); !ok) {
    pass.sets.pop_back();
    return ok;
  }
  pass.has_late_sets |= is_late(bound);
  r.state.sets = bound.address.data(), r.bound_sets = &bound;
  return Ok{};
}

Status bind_late_sets(exec::DeviceState& device, command::Pass& pass) {
  assert(pass.states.size() == pass.bound.size());
  const BoundSets *from = nullptr, *to = nullptr;
  for (size_t k = 0; k < pass.states.size(); k++) {
    command::Bound& of_state = pass.bound[k];
    if (!of_state.sets || !is_late(*of_state.sets)) continue;
    if (of_state.sets != from) {
      from = of_state.sets;
      BoundSets& bound = pass.sets.emplace_back(*from);
      to = &bound;
      for (uint32_t i = 0; i < kMaxDescriptorSets; i++)
        if (bound.late[i]) bound.memory[i] = bound.late[i]->memory(), bound.address[i] = bound.memory[i]->data();
      resolve_dynamic(bound, *of_state.pipeline->program().layout);
      if (Status ok = Checker{device, pass, *of_state.pipeline, bound, true, {}, {}}.run(); !ok) return ok;
    }
    of_state.sets = to, pass.states[k].sets = to->address.data();
  }
  return Ok{};
}

Status note_buffer(command::Pass& pass, const Pipeline& pipeline, const char* what, const Buffer& buffer, const uint8_t* data,
                   uint64_t size_B) {
  if (size_B == 0) return Ok{};  // bound beyond its end, or without memory: zeros are read
  assert(data >= buffer.data() && size_B <= buffer.size_B());
  const uint64_t begin_B = buffer.memory_offset_B() + static_cast<uint64_t>(data - buffer.data());
  const uint32_t read = framebuffer::targets_read(pass.feedback, buffer.memory()->contents(), {begin_B, begin_B + size_B});
  if (!read) return Ok{};
  return framebuffer::note_read(pass.feedback, read,
                                "pipeline '" + pipeline.info().label + "': " + what + " '" + buffer.info().label + "'");
}

namespace {

/// Buffers that a secondary's draws read: it was recorded without knowing the pass's targets.
Status note_buffers_of_part(command::Pass& pass, const command::Pass& part) {
  assert(part.bound.size() == part.states.size());
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
    if (!bound.sets) continue;
    for (const shader::BufferSlot& slot : pipeline.program().resources.buffers)
      for (uint32_t i = 0; bound.sets->memory[slot.set] && i < slot.count; i++) {
        const SetMemory& memory = *bound.sets->memory[slot.set];
        const DescriptorBinding& binding = *memory.layout->find(slot.binding);
        if (i >= memory.count_of(binding)) break;
        const Element& e = memory.element(binding, i);
        if (!e.buffer) continue;
        if (Status ok = note_descriptor(pass, pipeline, *bound.sets, slot, i, *e.buffer); !ok) return ok;
      }
  }
  for (const command::IndirectDraw& draw : part.indirects)
    if (Status ok = note_buffer(pass, *part.bound.front().pipeline, "indirect buffer", *draw.buffer, draw.buffer->data() + draw.offset_B,
                                draw.buffer->size_B() - draw.offset_B);
        !ok)
      return ok;
  return Ok{};
}

}  // namespace

Status note_part(command::Pass& pass, const command::Pass& part) {
  if (Status ok = note_buffers_of_part(pass, part); !ok) return ok;
  const std::string who = "the secondary command buffer '" + part.info.label + "'";
  for (const Ptr<ImageView>& view : part.read_views)
    if (const uint32_t read = framebuffer::targets_read(pass.feedback, *view))
      if (Status ok = framebuffer::note_read(pass.feedback, read, who); !ok) return ok;
  for (const Ptr<Buffer>& buffer : part.written_buffers) {
    const uint64_t begin_B = buffer->memory_offset_B();
    const uint32_t both = framebuffer::targets_read(pass.feedback, buffer->memory()->contents(), {begin_B, begin_B + buffer->size_B()});
    if (!both) continue;
    if (Status ok = framebuffer::note_read(pass.feedback, both, who); !ok) return ok;
    if (Status ok = framebuffer::note_written(pass.feedback, both, who); !ok) return ok;
  }
  return framebuffer::note_part(pass.feedback, part.feedback);
}

}  // namespace tilegpu::device
