// descriptor/textures.cpp -- see textures.hpp.
#include "descriptor/textures.hpp"

#include <algorithm>

#include "resource/view_abi.hpp"
#include "shader/jit/compile_crew.hpp"
#include "shader/jit/jit.hpp"
#include "vk/format.hpp"

namespace tilegpu::descriptor {

namespace {

using shader::CodeSlot;

// Code reads these words while others write them.
template <class T>
void publish(T*& word, T* value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

void copy_functions(shader::TextureDescriptor& to, const shader::TextureDescriptor& from) {
  to.sample_gradient = from.sample_gradient, to.sample_lod = from.sample_lod, to.fetch = from.fetch;
  to.gather = from.gather, to.sample_implicit = from.sample_implicit;
  to.store = from.store, to.address = from.address, to.query_lod = from.query_lod, to.sample_min_lod = from.sample_min_lod;
  to.sample_many = from.sample_many;
}

template <class... T>
std::string bytes_of(const T&... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

std::string conversion_bytes(const Ptr<SamplerYcbcrConversion>& conversion) {
  if (!conversion) return {};
  const SamplerYcbcrConversionCreateInfo& i = conversion->info();
  return bytes_of(i.format, i.model, i.range, i.components, i.x_chroma_offset, i.y_chroma_offset, i.chroma_filter,
                  i.force_explicit_reconstruction);
}

// Of what a function depends on; bias, lods, the exact border and how much anisotropy are read at run time.
std::string function_bytes(const SamplerCreateInfo& i) {
  return bytes_of(i.mag_filter, i.min_filter, i.mipmap_mode, i.address_u, i.address_v, i.address_w, i.compare_enable, i.compare_op,
                  i.border_color, i.unnormalized_coordinates, i.non_seamless_cube_map, i.reduction_mode, i.max_anisotropy > 1) +
         conversion_bytes(i.ycbcr);
}
std::string sampler_bytes(const SamplerCreateInfo& i) {
  return function_bytes(i) + bytes_of(i.mip_lod_bias, i.min_lod, i.max_lod, i.max_anisotropy, i.custom_border_color);
}

std::string bytes_of_key(const shader::SamplerKey& key) {
  return bytes_of(key.format, key.aspect, key.dim, key.multisampled, key.one_level, key.has_sampler, key.min_lod, key.swizzle) +
         function_bytes(key.sampler);
}

void install(shader::TextureDescriptor& abi, const shader::SamplerFunctions& code) {
  const auto put = [](const CodeSlot*& word, const CodeSlot* slot) {
    if (slot) publish(word, slot);
  };
  put(abi.sample_gradient, code.gradient), put(abi.sample_lod, code.lod), put(abi.fetch, code.fetch);
  put(abi.gather, code.gather), put(abi.sample_implicit, code.implicit);
  put(abi.store, code.store), put(abi.address, code.address), put(abi.query_lod, code.query_lod);
  put(abi.sample_min_lod, code.min_lod), put(abi.sample_many, code.many);
}

/// No functions, no pairs.
void begin_as_null(TexturedView& view) {
  const shader::SampledImage& null = view.textures->null_image();
  view.image.alone.view = &view.abi;
  copy_functions(view.image.alone, null.alone);
  std::copy(std::begin(null.page), std::end(null.page), view.image.page);
}

}  // namespace

shader::SamplerKey Textures::key_of(const TexturedView& textured, const NumberedSampler* sampler) {
  shader::SamplerKey key;
  if (textured.texels) {
    assert(!sampler);
    key.format = textured.texels->info().format, key.dim = VK_IMAGE_VIEW_TYPE_1D;
    key.sampler.max_lod = VK_LOD_CLAMP_NONE;
    return key;
  }
  const ImageView& view = *textured.view;
  key.format = view.info().format;
  if (view.info().aspects == VK_IMAGE_ASPECT_STENCIL_BIT)
    key.aspect = VK_IMAGE_ASPECT_STENCIL_BIT;
  else if (vk::find_format(key.format)->depth_bits)
    key.aspect = VK_IMAGE_ASPECT_DEPTH_BIT;
  key.dim = view.info().type;
  const VkComponentMapping& swizzle = view.info().swizzle;
  key.swizzle = {swizzle.r, swizzle.g, swizzle.b, swizzle.a};
  key.multisampled = view.image()->sample_count() > 1;
  key.has_sampler = sampler != nullptr;
  if (sampler) key.sampler = sampler->sampler->info();
  if (sampler && key.sampler.ycbcr) {  // in place of the view's, which is none
    const VkComponentMapping& components = key.sampler.ycbcr->info().components;
    key.swizzle = {components.r, components.g, components.b, components.a};
  }
  // To the nearest level, lambda of up to 1/2 is level 0: what OpenGL's filters without levels become has 1/4.
  const float level_0_up_to = key.sampler.mipmap_mode == VK_SAMPLER_MIPMAP_MODE_NEAREST ? 0.5f : 0;
  key.min_lod = view.info().min_lod > static_cast<float>(view.info().base_level);
  key.one_level = view.info().level_count == 1 || (sampler && !key.min_lod && key.sampler.max_lod <= level_0_up_to);
  key.sampler.mip_lod_bias = key.sampler.min_lod = 0;
  key.sampler.max_lod = VK_LOD_CLAMP_NONE;
  return key;
}

NumberedSampler::~NumberedSampler() {
  std::lock_guard lock(textures->mutex_);
  const auto at = textures->samplers_.find(sampler_bytes(sampler->info()));
  if (at != textures->samplers_.end() && at->second.first == serial) textures->samplers_.erase(at);  // else another has taken the entry
  textures->free_numbers_.push_back(number);
}

TexturedView::TexturedView(Ptr<Textures> owner, Ptr<ImageView> of) : textures(std::move(owner)), view(std::move(of)) {
  integer = vk::find_format(view->info().format)->is_integer() || view->info().aspects == VK_IMAGE_ASPECT_STENCIL_BIT;
  resource::fill_view_abi(*view, abi);
  filled = view->image()->data();
  if (const size_t count = view->image()->planes().size()) {
    planes = std::make_unique<std::array<shader::ImageViewAbi, 2>>();
    for (uint32_t k = 1; k < count; ++k) {
      resource::fill_view_abi(*view, (*planes)[k - 1], k);
      abi.plane[k - 1] = &(*planes)[k - 1];
    }
  }
  begin_as_null(*this);
}

TexturedView::TexturedView(Ptr<Textures> owner, Ptr<BufferView> of) : textures(std::move(owner)), texels(std::move(of)) {
  integer = vk::find_format(texels->info().format)->is_integer();
  resource::fill_view_abi(*texels, abi);
  begin_as_null(*this);
}

TexturedView::~TexturedView() {
  std::lock_guard lock(textures->mutex_);
  const auto at = textures->views_.find(texels ? static_cast<const void*>(texels.get()) : view.get());
  if (at != textures->views_.end() && at->second.expired()) textures->views_.erase(at);
}

Status Textures::make_null() {
  if (null_ready_.load(std::memory_order_acquire)) return Ok{};
  auto code = shader::compile_null_sampler(jit_);  // one compile for threads that ask at once
  if (!code) return Error{code.error().code, "textures that give zeros: " + code.error().message};
  std::lock_guard lock(mutex_);
  if (null_) return Ok{};
  auto null = std::make_unique<Null>();
  resource::fill_null_view_abi(null->view);
  // Sizes of 0: what VK_EXT_robustness2 wants of a null descriptor's queries. Nobody reads texels of it.
  null->view.level_count = null->view.layer_count = null->view.sample_count = 0;
  resource::fill_null_sampler_abi(null->sampler);
  null->image.alone.view = &null->view, null->image.alone.sampler = &null->sampler;
  install(null->image.alone, *code);
  null->page.fill(&null->image.alone);
  std::fill(std::begin(null->image.page), std::end(null->image.page), null->page.data());
  null_ = std::move(null);
  null_ready_.store(true, std::memory_order_release);
  return Ok{};
}

template <class View>
Ptr<TexturedView> Textures::view_of(const Ptr<View>& view) {
  assert(view && null_ready_);
  std::lock_guard lock(mutex_);
  std::weak_ptr<TexturedView>& entry = views_[view.get()];
  if (auto known = entry.lock()) return known;
  auto made = std::make_shared<TexturedView>(shared_from_this(), view);
  entry = made;
  return made;
}

Ptr<TexturedView> Textures::view(const Ptr<ImageView>& view) {
  assert(view->image()->data());
  Ptr<TexturedView> textured = view_of(view);
  const Status filled = take_memory(*textured);  // where it was an attachment's before, without memory
  assert(filled);
  (void)filled;
  return textured;
}

Ptr<TexturedView> Textures::attachment(const Ptr<ImageView>& view) { return view_of(view); }

Status Textures::take_memory(TexturedView& attachment) {
  assert(attachment.view);
  std::lock_guard lock(mutex_);
  if (attachment.filled) return Ok{};
  if (Status there = attachment.view->image()->ensure_memory(); !there) return there;
  resource::fill_view_abi(*attachment.view, attachment.abi);
  attachment.filled = true;
  return Ok{};
}

Ptr<TexturedView> Textures::view(const Ptr<BufferView>& texels) { return view_of(texels); }

Expected<Ptr<NumberedSampler>> Textures::sampler(const Ptr<Sampler>& sampler) {
  assert(sampler);
  std::lock_guard lock(mutex_);
  auto& [serial, entry] = samplers_[sampler_bytes(sampler->info())];
  if (auto known = entry.lock()) return known;
  if (free_numbers_.empty()) {
    if (last_number_ == shader::kMaxSamplers) {
      if (entry.expired()) samplers_.erase(sampler_bytes(sampler->info()));
      return Error{VK_ERROR_TOO_MANY_OBJECTS, "more than " + std::to_string(shader::kMaxSamplers) +
                                                  " samplers of different parameters are in descriptor sets at once; let go of some sets"};
    }
    free_numbers_.push_back(++last_number_);
  }
  serial = ++serials_;
  auto made = std::make_shared<NumberedSampler>(shared_from_this(), sampler, free_numbers_.back(), serial);
  free_numbers_.pop_back();
  entry = made;
  return made;
}

Texture& Textures::pair(TexturedView& view, const NumberedSampler& sampler) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Texture>& texture = view.pairs[sampler.number];
  if (texture && texture->serial == sampler.serial) return *texture;
  auto made = std::make_unique<Texture>();
  made->serial = sampler.serial;
  resource::fill_sampler_abi(sampler.sampler->info(), view.integer, *vk::find_format(view.view->info().format), made->sampler);
  made->abi.view = &view.abi, made->abi.sampler = &made->sampler;
  copy_functions(made->abi, null_->image.alone);
  const uint32_t page_number = sampler.number / shader::kSamplersOfPage, entry = sampler.number % shader::kSamplersOfPage;
  std::unique_ptr<TexturedView::Page>& page = view.pages[page_number];
  const bool fresh = !page;
  if (fresh) page = std::make_unique<TexturedView::Page>(null_->page);
  publish((*page)[entry], static_cast<const shader::TextureDescriptor*>(&made->abi));
  if (fresh) publish(view.image.page[page_number], static_cast<const shader::TextureDescriptor* const*>(page->data()));
  // A pair of another sampler that had the number before: with that sampler all went that could name it.
  texture = std::move(made);
  return *texture;
}

Status Textures::compile_missing(std::span<const Request> requests, const std::vector<std::string>& keys,
                                 const std::function<std::string(size_t)>& name) {
  std::map<std::string, std::pair<size_t, uint16_t>> missing;  // the first request of them, uses
  {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < requests.size(); i++) {
      const auto lacks = static_cast<uint16_t>(requests[i].uses & ~functions_[keys[i]].have);
      if (lacks) missing.try_emplace(keys[i], i, 0).first->second.second |= lacks;
    }
  }
  std::vector<std::function<Status()>> compiles;
  for (const auto& [bytes, wanted] : missing)
    for (uint16_t use = 1; use && use <= wanted.second; use = static_cast<uint16_t>(use << 1)) {
      if (!(wanted.second & use)) continue;
      compiles.emplace_back([this, requests, &name, &bytes = bytes, i = wanted.first, use]() -> Status {
        auto made = shader::compile_sampler(jit_, key_of(*requests[i].view, requests[i].sampler), use);
        if (!made) return Error{made.error().code, name(i) + ": " + made.error().message};
        std::lock_guard lock(mutex_);
        Functions& functions = functions_[bytes];
        functions.have |= use;
        if (made->gradient) functions.code.gradient = made->gradient;
        if (made->lod) functions.code.lod = made->lod;
        if (made->fetch) functions.code.fetch = made->fetch;
        if (made->gather) functions.code.gather = made->gather;
        if (made->implicit) functions.code.implicit = made->implicit;
        if (made->store) functions.code.store = made->store;
        if (made->address) functions.code.address = made->address;
        if (made->query_lod) functions.code.query_lod = made->query_lod;
        if (made->min_lod) functions.code.min_lod = made->min_lod;
        if (made->many) functions.code.many = made->many;
        return Ok{};
      });
    }
  return compiles.empty() ? Ok{} : shader::run_compiles(threads_, compiles);
}

Status Textures::ensure(std::span<const Request> requests, const std::function<std::string(size_t)>& name) {
  std::vector<std::string> keys(requests.size());
  for (size_t i = 0; i < requests.size(); i++) {
    assert(requests[i].abi && requests[i].have && requests[i].view);
    keys[i] = bytes_of_key(key_of(*requests[i].view, requests[i].sampler));
  }
  if (Status done = compile_missing(requests, keys, name); !done) return done;
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < requests.size(); i++) {
    const Functions& functions = functions_[keys[i]];
    assert((functions.have & requests[i].uses) == requests[i].uses);
    install(*requests[i].abi, functions.code);
    requests[i].have->fetch_or(functions.have, std::memory_order_acq_rel);
  }
  return Ok{};
}

}  // namespace tilegpu::descriptor
