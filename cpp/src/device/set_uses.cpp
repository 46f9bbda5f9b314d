// device/set_uses.cpp -- see set_uses.hpp.
#include "device/set_uses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/field_error.hpp"
#include "resource/view_abi.hpp"
#include "vk/format.hpp"

namespace tilegpu::device {

namespace {

using command::BoundSets;
using descriptor::Element;
using descriptor::SetMemory;
using descriptor::TexturedView;
using framebuffer::Certainty;
using framebuffer::LevelRange;
using pipeline::Program;
using pipeline::SetGroup;

constexpr uint32_t kKeptElements = 32;  // fewer are asked again sooner than found
constexpr uint64_t kMostPairs = 1 << 22;

Error error_of(const Program& program, const DescriptorName& name, const char* text) {
  return {VK_ERROR_INITIALIZATION_FAILED, describe(program, name) + text};
}

/// What the descriptor's elements are for.
struct Purpose {
  VkImageUsageFlagBits usage;  // of images
  const char* name;
  VkBufferUsageFlagBits texels;  // of texel buffers
  const char* texels_name;
};
Purpose purpose_of(VkDescriptorType type) {
  if (type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE || type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER)
    return {VK_IMAGE_USAGE_STORAGE_BIT, "storage", VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT, "storage_texel_buffer"};
  if (type == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT) return {VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT, "input_attachment", {}, ""};
  return {VK_IMAGE_USAGE_SAMPLED_BIT, "sampled", VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT, "uniform_texel_buffer"};
}

bool is_of(const ReflectedType& type, const ImageView& view) {
  return type.dim == view.info().type && type.multisampled == (view.image()->sample_count() > 1);
}

/// Whether the view is of the type and samples of a variable that stands there. The others of that place are then what the shader chooses
/// not to read (it has the type as a number), or heaps' elements that it does not reach.
bool is_of_types(const pipeline::TextureUse& use, const ImageView& view) {
  return std::any_of(use.types.begin(), use.types.end(), [&](const ReflectedType* type) { return is_of(*type, view); });
}

/// Of an image or a texel buffer: whether texels are integers, and what storage images declare. Bits decide, not names. Another format
/// than the declared one, or the other kind, is what Vulkan calls undefined values (specification, "Image Format and Type Matching"): code
/// goes by the view's.
/// `view`: of an image; variables of other types at the same place say nothing of it.
Status check_format(const DeviceState& device, const Program& program, const pipeline::TextureUse& use, const DescriptorName& name,
                    const std::string& what, const vk::FormatInfo& format, bool integer, const ImageView* view = nullptr) {
  const auto wrong = [&](const std::string& allowed, const char* fix) {
    return field_error(describe(program, name), "format of the view of " + what, format.name, allowed, fix);
  };
  const bool chosen = view && is_of_types(use, *view);
  for (const ReflectedType* type : use.types) {
    if (chosen && !is_of(*type, *view)) continue;
    if ((type->base != ReflectedType::Base::f32) != integer)
      if (Status ok =
              device::forbid(device, wrong(integer ? "one of floats, which the shader reads" : "one of integers, which the shader reads",
                                           "declare the variable with the other kind of texels, or bind a view of another format"));
          !ok)
        return ok;  // else what is read are the bits
    const bool wide = base_size_B(type->base) == 8;
    if (wide != (format.rgba[0].bits == 64)) {
      const Error of_width = wrong(wide ? "one of 64 bits, which the shader reads" : "one of 32 bits, which the shader reads",
                                   "declare the variable with such texels, or bind a view of another format");
      if (wide && use.slot.uses & shader::kUseAddress) return of_width;
      if (Status ok = device::forbid(device, of_width); !ok) return ok;  // else what is read are the bits
    }
    if (type->format == VK_FORMAT_UNDEFINED) continue;
    const vk::FormatInfo& declared = *vk::find_format(type->format);
    const auto same = [](vk::Component a, vk::Component b) { return a.bits == b.bits && a.shift == b.shift; };
    if (declared.numeric != format.numeric || !std::equal(format.rgba.begin(), format.rgba.end(), declared.rgba.begin(), same))
      if (Status ok =
              device::forbid(device, wrong(std::string(declared.name) + ", which the shader declares",
                                           "declare the variable with the view's format or without one, or bind a view of another format"));
          !ok)
        return ok;
  }
  if (use.slot.uses & shader::kUseAddress && !format.is_atomic())
    return wrong("r32_uint, r32_sint, r64_uint or r64_sint, for atomic operations", "bind a view of such a format");
  if (use.slot.uses & shader::kUseStore && !format.storage)
    return wrong("a colour format that is not sRGB, which shaders can write", "bind a view of such a format");
  return Ok{};
}

/// The same of a texel buffer; `descriptor` is the layout's type.
Status check_texels_fit(const DeviceState& device, const Program& program, const pipeline::TextureUse& use, const DescriptorName& name,
                        const BufferView& view, VkDescriptorType descriptor, bool perhaps) {
  const BufferCreateInfo& buffer = view.buffer()->info();
  const Purpose purpose = purpose_of(descriptor);
  if (buffer.usage && !(buffer.usage & purpose.texels))
    return field_error(describe(program, name), "usage of " + object_name("buffer", buffer.label),
                       std::string("one without ") + purpose.texels_name, purpose.texels_name, "create the buffer with that usage");
  if (perhaps) return Ok{};
  const vk::FormatInfo& format = *vk::find_format(view.info().format);
  return check_format(device, program, use, name, object_name("buffer", buffer.label), format, format.is_integer());
}

/// What code of a view can be asked for of what the slot's variables do: one of another type at the same place may do what no instruction
/// does to this one, and where nobody knows that the element is read (`perhaps`), what its format can't.
uint16_t uses_of(uint16_t of_slot, const TexturedView& view, bool perhaps) {
  const vk::FormatInfo& format = *vk::find_format(view.view ? view.view->info().format : view.texels->info().format);
  uint32_t never = 0;
  if (perhaps && !format.is_atomic()) never |= shader::kUseAddress;
  if (perhaps && !format.storage) never |= shader::kUseStore | shader::kUseAddress;
  if (!view.view) return static_cast<uint16_t>(of_slot & ~never);
  const VkImageViewType type = view.view->info().type;
  const bool cube = type == VK_IMAGE_VIEW_TYPE_CUBE || type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, volume = type == VK_IMAGE_VIEW_TYPE_3D;
  if (cube || volume) never |= shader::kUseImplicit | shader::kUseMany;  // by one number for both derivatives
  if (volume) never |= shader::kUseGather;
  if (view.view->image()->sample_count() > 1) never |= shader::kUsesThatSample | shader::kUseGather | shader::kUseQueryLod;
  return static_cast<uint16_t>(of_slot & ~never);
}

/// What the shader's variables say of the view: its type, samples, and whether its texels are integers. Code reads whatever it is given.
/// `perhaps`: nobody knows that the element is read, and others of the array may be what other variables read (a heap of descriptors).
Status check_view_fits(const DeviceState& device, const Program& program, const pipeline::TextureUse& use, const DescriptorName& name,
                       const ImageView& view, VkDescriptorType descriptor, bool perhaps) {
  const ImageViewCreateInfo& info = view.info();
  const ImageCreateInfo& image = view.image()->info();
  const bool multisampled = view.image()->sample_count() > 1;
  const bool integer = vk::find_format(info.format)->is_integer() || info.aspects == VK_IMAGE_ASPECT_STENCIL_BIT;
  const auto wrong = [&](const char* what, const char* value, const char* allowed, const char* fix) {
    return field_error(describe(program, name), std::string(what) + " of the view of " + object_name("image", image.label), value,
                       std::string(allowed) + ", which the shader reads", fix);
  };
  if (image.tiling != ImageTiling::linear)
    return wrong("tiling", "block_compressed", "linear",
                 descriptor == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT
                     ? "create the image with linear tiling: this input attachment is read from memory"
                     : "copy it to a linear image, or read it as an input attachment");
  const Purpose purpose = purpose_of(descriptor);
  if (image.usage && !(image.usage & purpose.usage)) {
    // An image of this format can't have that usage, so that to create it anew would only be refused by the next message.
    const bool never = purpose.usage == VK_IMAGE_USAGE_STORAGE_BIT && !vk::find_format(image.format)->storage;
    const std::string fix = never ? "create an image of a colour format that is not sRGB, such as r8g8b8a8_unorm: shaders can't write " +
                                        std::string(vk::find_format(image.format)->name)
                                  : "create the image with that usage";
    return wrong("usage", (std::string("one without ") + purpose.name).c_str(), purpose.name, fix.c_str());
  }
  if (purpose.usage == VK_IMAGE_USAGE_STORAGE_BIT && vk::find_format(info.format)->is_compressed())
    return wrong("format", vk::find_format(info.format)->name, "a format that is not compressed",
                 "view its texel blocks by a format of their size, with block_texel_view_compatible");
  const bool attachment = descriptor == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;  // of any framebuffer's views, layered or not
  if (attachment && info.aspects == (VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT))
    return wrong("aspects", "depth and stencil", "one of them", "make a view of the one");
  if (perhaps) return Ok{};
  const bool chosen = is_of_types(use, view);
  for (const ReflectedType* type : use.types) {
    if (chosen) break;
    if (type->dim != info.type && !attachment) {
      Error rule = wrong("type", resource::view_type_name(info.type), resource::view_type_name(type->dim), "bind a view of that type");
      if (Status ok = device::forbid(device, std::move(rule)); !ok) return ok;
    }
    if (type->multisampled != multisampled)
      return wrong("samples", multisampled ? "more than 1" : "1", multisampled ? "1" : "more than 1", "bind another image");
  }
  return check_format(device, program, use, name, object_name("image", image.label), *vk::find_format(info.format), integer, &view);
}

/// Of a view or a sampler with a Y'CbCr conversion: what shaders can't do with it.
Status check_conversion(const Program& program, const shader::TextureSlot& slot, const DescriptorName& name, const ImageView& view,
                        const descriptor::NumberedSampler* sampler) {
  const Ptr<SamplerYcbcrConversion> none, &of_sampler = sampler ? sampler->sampler->info().ycbcr : none;
  if (!view.info().ycbcr && !of_sampler) return Ok{};
  const auto wrong = [&](const char* what) {
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, describe(program, name) + ": " + object_name("image", view.image()->info().label) +
                                                     " is viewed or sampled with a sampler Y'CbCr conversion, and the shader " + what};
  };
  if (!slot.uses) return Ok{};  // asks its size
  if (slot.is_alone() || slot.uses & shader::kUseFetch)
    return wrong("fetches texels of it; it can only be sampled (texture, textureLod, textureGrad)");
  if (!slot.combined) return wrong("combines it with a sampler of its own; it must be a combined image sampler (sampler2D)");
  if (!is_same(view.info().ycbcr, of_sampler)) return wrong("finds another one in the sampler; make both with the same");
  if (slot.uses & shader::kUseGather) return wrong("gathers from it; it can only be sampled (texture, textureLod, textureGrad)");
  if (slot.uses & shader::kUseQueryLod) return wrong("asks its level of detail; it can only be sampled (texture, textureLod, textureGrad)");
  if (slot.offsets) return wrong("samples it with texel offsets; it can only be sampled without");
  return Ok{};
}

/// What Vulkan says of samplers with unnormalised coordinates (VUID-vkCmdDraw-None-02702 to 02704, VkSamplerCreateInfo).
Status check_unnormalized(const Program& program, const shader::TextureSlot& slot, const DescriptorName& name, const ImageView& view) {
  const ImageViewCreateInfo& info = view.info();
  const auto wrong = [&](const std::string& what) {
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, describe(program, name) + ": its sampler has unnormalized_coordinates, and " + what};
  };
  if (info.type != VK_IMAGE_VIEW_TYPE_1D && info.type != VK_IMAGE_VIEW_TYPE_2D)
    return wrong("the view of " + object_name("image", view.image()->info().label) + " is " + resource::view_type_name(info.type) +
                 "; bind one that is 1d or 2d");
  if (info.level_count != 1)
    return wrong("the view of " + object_name("image", view.image()->info().label) + " has " + std::to_string(info.level_count) +
                 " levels; bind a view of one");
  if (slot.normalized) return wrong("the shader samples with implicit level of detail, projection or comparison; use textureLod");
  if (slot.offsets) return wrong("the shader samples with texel offsets; add them to the coordinates");
  return Ok{};
}

/// What Vulkan says of cubic filters (VUID-vkCmdDraw-None-02692, filterCubic-02694): such a view is filtered linearly, or not at all.
Status check_cubic(const Program& program, const shader::TextureSlot& slot, const DescriptorName& name, const ImageView& view,
                   const SamplerCreateInfo& sampler) {
  if (sampler.mag_filter != VK_FILTER_CUBIC_EXT && sampler.min_filter != VK_FILTER_CUBIC_EXT) return Ok{};
  if (!(slot.uses & shader::kUsesThatSample)) return Ok{};
  const ImageViewCreateInfo& info = view.info();
  const auto wrong = [&](const std::string& is, const char* allowed) {
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, describe(program, name) + ": its sampler has a cubic filter, and the view of " +
                                                     object_name("image", view.image()->info().label) + " is " + is + "; " + allowed};
  };
  if (info.type == VK_IMAGE_VIEW_TYPE_CUBE || info.type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY)
    return wrong(resource::view_type_name(info.type), "bind one that is 1d, 2d, 3d or an array, or filter linearly");
  const vk::FormatInfo& format = *vk::find_format(info.format);
  if (!format.filters_cubic() || info.aspects == VK_IMAGE_ASPECT_STENCIL_BIT)
    return wrong(std::string("of ") + (info.aspects == VK_IMAGE_ASPECT_STENCIL_BIT ? "stencil" : format.name) + ", which can't be filtered",
                 "give the sampler nearest filters");
  return Ok{};
}

/// All from the first of both to the last.
void join(LevelRange& levels, LevelRange more) {
  if (!more.count) return;
  if (!levels.count) levels = more;
  const uint32_t end = std::max(levels.first + levels.count, more.first + more.count);
  levels.first = std::min(levels.first, more.first), levels.count = end - levels.first;
}

/// Code asks a storage image or an input attachment for texels of its first level, any other image for those of a level that it says.
LevelRange levels_fetched(VkDescriptorType type) {
  return type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE || type == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT ? LevelRange{0, 1} : LevelRange{};
}

/// From the view's first level on.
float least_lod_of(const ImageView& view) { return std::max(view.info().min_lod - static_cast<float>(view.info().base_level), 0.0f); }

LevelLimits limits_of(const SamplerCreateInfo& sampler, const ImageView& view) {
  return {sampler.min_lod, sampler.max_lod, sampler.mipmap_mode == VK_SAMPLER_MIPMAP_MODE_LINEAR, least_lod_of(view)};
}

/// Levels of the view that `uses` can read with the sampler, whatever the level of detail (shader/sampler/lod.cpp); none: nothing is read.
LevelRange levels_read(uint16_t uses, const SamplerCreateInfo& sampler, const ImageView& view) {
  if (uses & shader::kUseFetch) return {0, view.info().level_count};
  LevelRange levels{0, uses & shader::kUseGather && least_lod_of(view) < 1 ? 1u : 0u};
  if (!(uses & shader::kUsesThatSample)) return levels;
  constexpr float kAny = std::numeric_limits<float>::infinity();
  join(levels, levels_sampled(limits_of(sampler, view), view.info().level_count, -kAny, kAny));
  return levels;
}

/// What one group of descriptors is used for.
struct Checker {
  device::DeviceState& device;
  const Program& program;
  const BoundSets& bound;
  SetUse& out;
  std::vector<descriptor::Textures::Request> requests;
  std::vector<DescriptorName> names;

  void need(const TexturedView& view, shader::TextureDescriptor& abi, std::atomic<uint16_t>& have,
            const descriptor::NumberedSampler* sampler, uint16_t uses, const DescriptorName& at) {
    if (!(uses & ~have.load(std::memory_order_acquire))) return;
    requests.push_back({&abi, &have, &view, sampler, uses});
    names.push_back(at);
  }

  /// Texels of the view are read, of these levels, or written.
  void add_view(const TexturedView& view, const Element& e, const DescriptorName& at, const shader::TextureSlot& slot, Certainty certainty,
                LevelRange levels, std::optional<LevelLimits> sampler = std::nullopt) {
    out.reads.push_back({&view.contents(), &e, at, slot.is_written(), certainty, levels, sampler});
    if (view.view)  // planes may have memories of their own
      for (const Ptr<Image>& plane : view.view->image()->planes())
        if (&plane->contents() != &view.contents()) out.reads.push_back({&plane->contents(), &e, at, false, certainty, levels});
  }

  /// Elements that there are of a binding; all that the shader names where no set is bound.
  uint32_t count_of(uint32_t set, uint32_t binding, uint32_t of_slot) const {
    const SetMemory* memory = bound.memory[set].get();
    return memory ? std::min(of_slot, memory->count_of(*memory->layout->find(binding))) : of_slot;
  }

  Status buffers(const shader::BufferSlot& slot) {
    assert(slot.table == slot.set);
    return each_element(slot.named, slot.count, count_of(slot.set, slot.binding, slot.count),
                        [&](uint32_t i, Certainty certainty) -> Status {
                          const DescriptorName at{slot.set, slot.binding, i};
                          auto found = find_element(program, bound, at, slot.type);
                          if (!found) return found.error();
                          const Element* e = *found;
                          if (e && e->buffer) out.reads.push_back({&e->buffer->memory()->contents(), e, at, slot.writable, certainty});
                          return Ok{};
                        });
  }

  Status texture(const pipeline::TextureUse& use, uint32_t i, Certainty certainty) {
    const shader::TextureSlot& slot = use.slot;
    const DescriptorName at{slot.image_set, slot.image_binding, i};
    auto found = find_element(program, bound, at, slot.type);
    if (!found) return found.error();
    const Element* image = *found;
    if (!image || !image->view) return Ok{};
    TexturedView& view = *image->view;
    const DescriptorBinding& binding = *bound.memory[at.set]->layout->find(at.binding);
    const VkDescriptorType of_layout = binding.type;
    const bool perhaps = certainty == Certainty::by_index && binding.flags & VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT;
    const VkDescriptorType type = of_layout == VK_DESCRIPTOR_TYPE_MUTABLE_EXT ? slot.type : of_layout;
    Status fits = view.texels ? check_texels_fit(device, program, use, at, *view.texels, type, perhaps)
                              : check_view_fits(device, program, use, at, *view.view, type, perhaps);
    if (!fits) return fits;
    // One that is of no variable's type is for another pipeline: it gets no code for this one, which would read a null descriptor.
    if (perhaps && view.view && type != VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT && !is_of_types(use, *view.view)) return Ok{};
    if (type == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT)
      if (Status there = device.textures->take_memory(view); !there) return there;
    if (slot.is_alone()) {
      if (slot.uses) add_view(view, *image, at, slot, certainty, levels_fetched(type));
      if (view.view)
        if (Status ok = check_conversion(program, slot, at, *view.view, nullptr); !ok) return ok;
      need(view, view.image.alone, view.alone_uses, nullptr, uses_of(slot.uses, view, perhaps), at);
      return Ok{};
    }
    const uint32_t samplers = count_of(slot.sampler_set, slot.sampler_binding, slot.sampler_count);
    LevelRange levels{0, 0};
    std::optional<LevelLimits> only;
    for (uint32_t j = 0; j < samplers; j++) {
      const Element* with = image;
      if (!slot.combined) {
        auto sampler = find_element(program, bound, {slot.sampler_set, slot.sampler_binding, j}, VK_DESCRIPTOR_TYPE_SAMPLER);
        if (!sampler) return sampler.error();
        with = *sampler;
      }
      if (!with || !with->sampler) continue;
      if (Status ok = check_conversion(program, slot, at, *view.view, with->sampler.get()); !ok) return ok;
      if (with->sampler->sampler->info().unnormalized_coordinates && slot.uses)
        if (Status ok = device::forbid(device, check_unnormalized(program, slot, at, *view.view)); !ok) return ok;
      if (Status ok = device::forbid(device, check_cubic(program, slot, at, *view.view, with->sampler->sampler->info())); !ok) return ok;
      join(levels, levels_read(slot.uses, with->sampler->sampler->info(), *view.view));
      if (const SamplerCreateInfo& info = with->sampler->sampler->info();
          samplers == 1 && info.mip_lod_bias == 0)  // added to constants too
        only = limits_of(info, *view.view);
      if (slot.uses & shader::kUseImplicit) out.anisotropic |= with->sampler->sampler->info().max_anisotropy > 1;
      descriptor::Texture& pair = device.textures->pair(view, *with->sampler);
      need(view, pair.abi, pair.uses, with->sampler.get(), uses_of(slot.uses, view, perhaps), at);
    }
    if (levels.count) add_view(view, *image, at, slot, certainty, levels, only);
    return Ok{};
  }

  /// Each image may meet each sampler.
  Status check_pairs(const shader::TextureSlot& slot, uint32_t images) const {
    if (slot.is_alone() || slot.combined) return Ok{};
    const uint64_t pairs = uint64_t{images} * count_of(slot.sampler_set, slot.sampler_binding, slot.sampler_count);
    if (pairs <= kMostPairs) return Ok{};
    return Error{VK_ERROR_OUT_OF_POOL_MEMORY, describe(program, {slot.image_set, slot.image_binding, 0}) +
                                                  " is sampled with any of an array of samplers: " + std::to_string(pairs) +
                                                  " pairs; at most " + std::to_string(kMostPairs) + " are allowed"};
  }

  Status run(const SetGroup& group) {
    out.reads.clear();
    out.anisotropic = false;
    for (const shader::BufferSlot& slot : group.buffers)
      if (Status done = buffers(slot); !done) return done;
    for (const pipeline::TextureUse& use : group.textures) {
      const uint32_t count = count_of(use.slot.image_set, use.slot.image_binding, use.slot.image_count);
      if (Status ok = check_pairs(use.slot, count); !ok) return ok;
      const Status done = each_element(use.slot.named, use.slot.image_count, count,
                                       [&](uint32_t i, Certainty certainty) { return texture(use, i, certainty); });
      if (!done) return done;
    }
    if (requests.empty()) return Ok{};
    return device.textures->ensure(requests, [&](size_t k) { return describe(program, names[k]); });
  }
};

}  // namespace

LevelRange levels_sampled(const LevelLimits& sampler, uint32_t count, float least, float greatest) {
  assert(count && least <= greatest && sampler.min_lod <= sampler.max_lod);
  const float high = std::clamp(sampler.max_lod, 0.0f, static_cast<float>(count - 1)), low = std::clamp(sampler.min_lod, 0.0f, high);
  const auto within = [&](float lod) { return std::max(std::clamp(lod, low, high), sampler.view_min_lod); };
  const float from = within(least), to = within(greatest);
  const auto nearest = [](float lod) { return std::max(std::ceil(lod + 0.5f) - 1, 0.0f); };
  const auto begin = static_cast<uint32_t>(sampler.linear ? std::floor(from) : nearest(from)),
             end = static_cast<uint32_t>(sampler.linear ? std::ceil(to) : nearest(to)) + 1;
  return {begin, end - begin};
}

Status each_element(const shader::NamedElements& named, uint32_t of_slot, uint32_t count,
                    const std::function<Status(uint32_t element, Certainty certainty)>& visit) {
  assert(count <= of_slot && std::is_sorted(named.constant.begin(), named.constant.end()));
  assert(std::includes(named.constant.begin(), named.constant.end(), named.always.begin(), named.always.end()));
  const auto in = [&](const std::vector<uint32_t>& list, uint32_t i) {  // as the code has it: the last stands for those behind it
    const auto at = std::lower_bound(list.begin(), list.end(), i);
    return at != list.end() && (*at == i || i == of_slot - 1);
  };
  const auto certainty = [&](uint32_t i) {
    if (in(named.always, i) || (named.any_always && of_slot == 1)) return Certainty::certain;
    return in(named.constant, i) || of_slot == 1 ? Certainty::by_condition : Certainty::by_index;
  };
  if (named.any) {
    for (uint32_t i = 0; i < count; i++)
      if (Status done = visit(i, certainty(i)); !done) return done;
    return Ok{};
  }
  for (size_t k = 0; k < named.constant.size(); k++) {
    const uint32_t i = std::min(named.constant[k], of_slot - 1);
    if (i >= count || (k && i == std::min(named.constant[k - 1], of_slot - 1))) continue;
    if (Status done = visit(i, certainty(i)); !done) return done;
  }
  return Ok{};
}

std::string describe(const Program& program, const DescriptorName& at) {
  std::string name;
  for (auto stage = program.stages.rbegin(); stage != program.stages.rend(); ++stage)
    if (name.empty())
      for (const ReflectedBinding& b : stage->reflection->bindings)
        if (b.set == at.set && b.binding == at.binding) name = b.name.empty() ? b.block_name : b.name;
  return "pipeline '" + program.label + "': '" + name + "' (set " + std::to_string(at.set) + ", binding " + std::to_string(at.binding) +
         (at.element ? ", element " + std::to_string(at.element) : "") + ")";
}

Expected<const Element*> find_element(const Program& program, const BoundSets& bound, const DescriptorName& at, VkDescriptorType type) {
  assert(at.set < kMaxDescriptorSets);
  const SetMemory* memory = bound.memory[at.set].get();
  if (!memory) return error_of(program, at, " is used by the shader, but nothing is bound there");
  const DescriptorBinding& binding = *memory->layout->find(at.binding);
  const bool partial = binding.flags & VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT;
  const bool exists = at.element < memory->count_of(binding);
  const Element* found = exists ? &memory->element(binding, at.element) : nullptr;
  // What a mutable element was not written as it is not there as.
  const bool is_mutable = binding.type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT;
  if (found && found->written) return is_mutable && found->type != type ? nullptr : found;
  if (partial || !exists) return static_cast<const Element*>(nullptr);  // elements beyond a variable count are null descriptors
  return error_of(program, at, " is used by the shader, but nothing is bound there");
}

Expected<Ptr<const SetUse>> SetUses::find(const Program& program, size_t number, const BoundSets& bound) const {
  assert(number < program.set_groups.size());
  const SetGroup& group = program.set_groups[number];
  const SetMemory *memory = bound.memory[group.set].get(), *of_samplers = bound.memory[group.sampler_set].get();
  if (group.elements < kKeptElements || !memory || !of_samplers) {
    if (Status ok = Checker{device, program, bound, scratch, {}, {}}.run(group); !ok) return ok.error();
    return Ptr<const SetUse>(Ptr<const SetUse>(), &scratch);
  }
  const descriptor::Findings::Key key{program.id, number, of_samplers->serial};
  if (auto found = memory->findings.find(key)) return std::static_pointer_cast<const SetUse>(found);
  auto made = std::make_shared<SetUse>();
  device.large_sets_checked++;
  if (Status ok = Checker{device, program, bound, *made, {}, {}}.run(group); !ok) return ok.error();
  made->kept = true;
  memory->findings.keep(key, made);
  return Ptr<const SetUse>(std::move(made));
}

}  // namespace tilegpu::device
