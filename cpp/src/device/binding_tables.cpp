// device/binding_tables.cpp -- stage: recording. In: a pipeline's ResourceTable and the bound sets. Out: BufferDescriptor[] and
// TextureDescriptor[] with the functions for each (view, sampler) pair. Source: Vulkan specification, "Resource Descriptors".
#include "device/binding_tables.hpp"

#include <algorithm>

#include "pipeline/program.hpp"
#include "resource/view_abi.hpp"
#include "vk/format.hpp"

namespace tilegpu::device {

namespace {

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

const Descriptor* find(const std::array<Ptr<DescriptorSet>, kMaxDescriptorSets>& sets, uint32_t set, uint32_t binding, uint32_t element) {
  return set < sets.size() && sets[set] ? sets[set]->find(binding, element) : nullptr;
}

Error unbound(const Pipeline& pipeline, uint32_t set, uint32_t binding, uint32_t element) {
  return {VK_ERROR_INITIALIZATION_FAILED,
          binding_name(pipeline, set, binding, element) + " is used by the shader, but nothing is bound there"};
}

const shader::ImageViewAbi* view_abi(command::Pass& pass, const Ptr<ImageView>& view) {
  auto& entry = pass.views[view.get()];
  if (!entry) {
    entry = std::make_unique<shader::ImageViewAbi>();
    resource::fill_view_abi(*view, *entry);
    pass.keep_alive.push_back(view);
  }
  return entry.get();
}

const shader::SamplerAbi* sampler_abi(command::Pass& pass, const Ptr<Sampler>& sampler, const ImageView& view) {
  // Opaque border colours are integer ones for integer views.
  const bool integer = vk::find_format(view.info().format)->is_integer() || view.info().aspects == VK_IMAGE_ASPECT_STENCIL_BIT;
  auto& entry = pass.samplers[{sampler.get(), integer}];
  if (!entry) {
    entry = std::make_unique<shader::SamplerAbi>();
    resource::fill_sampler_abi(*sampler, integer, *entry);
    pass.keep_alive.push_back(sampler);
  }
  return entry.get();
}

}  // namespace

Status note_part(command::Pass& pass, const command::Pass& part) {
  const std::string who = "the secondary command buffer '" + part.info.label + "'";
  for (const auto& [view, abi] : part.views)
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

Status build_tables(exec::DeviceState& device, command::Pass& pass, const Pipeline& pipeline,
                    const std::array<Ptr<DescriptorSet>, kMaxDescriptorSets>& sets, command::DrawState& state) {
  const shader::ResourceTable& resources = pipeline.program().resources;
  command::BindingTables& tables = pass.tables.emplace_back();
  tables.buffers.resize(resources.buffer_entries);
  tables.textures.resize(resources.texture_entries);
  for (const shader::BufferSlot& slot : resources.buffers)
    for (uint32_t element = 0; element < slot.count; element++) {
      const Descriptor* d = find(sets, slot.set, slot.binding, element);
      if (!d || !d->buffer) return unbound(pipeline, slot.set, slot.binding, element);
      if (!d->buffer->data())
        return Error{VK_ERROR_INITIALIZATION_FAILED, binding_name(pipeline, slot.set, slot.binding, element) + ": buffer '" +
                                                         d->buffer->info().label + "' has no memory bound"};
      const uint64_t offset_B = std::min(d->offset_B, d->buffer->size_B());
      tables.buffers[slot.first + element] = {d->buffer->data() + offset_B, std::min(d->range_B, d->buffer->size_B() - offset_B)};
      pass.keep_alive.push_back(d->buffer);
      if (slot.writable) pass.written_buffers.insert(d->buffer);
      const uint64_t begin_B = d->buffer->memory_offset_B() + offset_B;
      const resource::MemoryRange bytes = {begin_B, begin_B + tables.buffers[slot.first + element].size_B};
      if (const uint32_t read = framebuffer::targets_read(pass.feedback, d->buffer->memory()->contents(), bytes)) {
        const std::string who = binding_name(pipeline, slot.set, slot.binding, element);
        Status ok = framebuffer::note_read(pass.feedback, read, who);
        if (ok && slot.writable) ok = framebuffer::note_written(pass.feedback, read, who);
        if (!ok) return ok.error();
      }
    }
  // Sampler functions are asked for all at once: those that are missing are compiled beside each other.
  std::vector<exec::DeviceState::SamplerRequest> requests;
  struct Place {
    const shader::TextureSlot* slot;
    uint32_t element, at;
  };
  std::vector<Place> places;
  requests.reserve(tables.textures.size()), places.reserve(tables.textures.size());
  const auto name = [&](const shader::TextureSlot& slot, uint32_t i) {
    return binding_name(pipeline, slot.image_set, slot.image_binding, i);
  };
  for (const shader::TextureSlot& slot : resources.textures)
    for (uint32_t i = 0; i < slot.image_count; i++) {
      const Descriptor* image = find(sets, slot.image_set, slot.image_binding, i);
      if (!image || !image->view) return unbound(pipeline, slot.image_set, slot.image_binding, i);
      if (!image->view->image()->data())
        return Error{VK_ERROR_INITIALIZATION_FAILED,
                     name(slot, i) + ": image '" + image->view->image()->info().label + "' has no memory bound"};
      if (const uint32_t read = framebuffer::targets_read(pass.feedback, *image->view))
        if (Status ok = framebuffer::note_read(pass.feedback, read, name(slot, i)); !ok) return ok.error();
      const bool sampled = slot.sampler_set != ~0u;
      for (uint32_t j = 0; j < slot.sampler_count; j++) {
        const uint32_t at = slot.first + i * slot.sampler_count + j;
        shader::TextureDescriptor& texture = tables.textures[at];
        const Sampler* sampler = nullptr;
        if (sampled) {
          // Where an array of samplers lies at the textures' own place, each has its own.
          const bool combined = slot.sampler_set == slot.image_set && slot.sampler_binding == slot.image_binding && slot.sampler_count == 1;
          const Descriptor* d = combined ? image : find(sets, slot.sampler_set, slot.sampler_binding, j);
          if (!d || !d->sampler) return unbound(pipeline, slot.sampler_set, slot.sampler_binding, j);
          sampler = d->sampler.get();
          texture.sampler = sampler_abi(pass, d->sampler, *image->view);
        }
        texture.view = view_abi(pass, image->view);
        requests.push_back({image->view.get(), sampler, slot.uses});
        places.push_back({&slot, i, at});
      }
    }
  if (!requests.empty()) {
    auto functions = device.samplers(requests, [&](size_t k) { return name(*places[k].slot, places[k].element); });
    if (!functions) return functions.error();
    for (size_t k = 0; k < places.size(); k++) {
      const auto put = [&pass](const void*& address, const shader::CodeSlot* code) {
        if (!code) return;
        if (!code->last.load(std::memory_order_acquire)) pass.quick_code.push_back({&address, code});
        address = code->address.load(std::memory_order_acquire);
      };
      shader::TextureDescriptor& texture = tables.textures[places[k].at];
      put(texture.sample_gradient, (*functions)[k].gradient), put(texture.sample_lod, (*functions)[k].lod);
      put(texture.fetch, (*functions)[k].fetch), put(texture.gather, (*functions)[k].gather);
      put(texture.sample_implicit, (*functions)[k].implicit);
    }
  }
  state.buffers = tables.buffers.data();
  state.textures = tables.textures.data();
  return Ok{};
}

}  // namespace tilegpu::device
