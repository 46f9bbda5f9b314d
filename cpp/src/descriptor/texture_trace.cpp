// descriptor/texture_trace.cpp -- see texture_trace.hpp.
#include "descriptor/texture_trace.hpp"

#include <algorithm>

namespace tilegpu::descriptor {

namespace {

using shader::CodeSlot;
using shader::TextureDescriptor;

}  // namespace

uint32_t TextureTrace::number_of(const TexturedView& view) {
  constexpr size_t kMost = 1u << (64 - shader::kLineImageShift);  // those beyond are one
  const uint64_t image =
      view.texels ? reinterpret_cast<uintptr_t>(view.texels->info().buffer.get()) : reinterpret_cast<uintptr_t>(view.view->image().get());
  const auto [at, fresh] = numbers_.try_emplace(image, static_cast<uint32_t>(std::min(images_.size(), kMost - 1)));
  if (fresh && images_.size() < kMost) images_.push_back(image);
  return at->second;
}

void TextureTrace::add(TextureDescriptor& abi, const TexturedView& view, const NumberedSampler* sampler,
                       const shader::TracedSamplers& functions, Note note) {
  const shader::TracedTexture* texture = nullptr;
  for (size_t i = 0; i < std::size(shader::kTracedOperations); i++) {
    const shader::TracedOperation& operation = shader::kTracedOperations[i];
    const CodeSlot*& word = abi.*operation.slot;
    if (word == textures_.null_->image.alone.*operation.slot) continue;  // nobody asked for it
    if (!texture) {
      shader::TracedTexture& made = traced_.emplace_back();
      made.view = abi.view, made.sampler = sampler ? abi.sampler : nullptr;
      made.key = Textures::key_of(view, sampler);
      made.image = number_of(view);
      if (view.view) made.first_level = view.view->info().base_level, made.first_layer = view.view->info().base_layer;
      made.line = shader::line_of(made.key.format, made.key.aspect, made.key.dim);
      if (view.view) {
        const std::vector<Ptr<Image>>& planes = view.view->image()->planes();
        if (!planes.empty()) made.line = shader::line_of(planes[0]->info().format, made.key.aspect, made.key.dim);
        for (size_t k = 1; k < planes.size(); k++)
          made.plane_line[k - 1] = shader::line_of(planes[k]->info().format, made.key.aspect, made.key.dim);
      }
      texture = &made;
    }
    Replaced& replaced = replaced_.emplace_back();
    replaced.word = &word;
    replaced.traced.slot.address = functions[i]->address.load();
    replaced.traced.original = word, replaced.traced.note = note, replaced.traced.operation = &operation, replaced.traced.texture = texture;
    std::atomic_ref(word).store(&replaced.traced.slot, std::memory_order_release);
  }
  const CodeSlot* one_by_one = textures_.null_->image.alone.sample_many;
  if (abi.sample_many == one_by_one) return;
  Replaced& replaced = replaced_.emplace_back();  // by calls of sample_implicit, which note themselves
  replaced.word = &abi.sample_many;
  replaced.traced.slot.address = one_by_one->address.load(), replaced.traced.original = abi.sample_many;
  std::atomic_ref(abi.sample_many).store(&replaced.traced.slot, std::memory_order_release);
}

Expected<std::unique_ptr<TextureTrace>> TextureTrace::begin(Textures& textures, Note note) {
  std::unique_ptr<TextureTrace> trace(new TextureTrace(textures));
  if (!textures.null_ready_) return trace;  // there are none
  auto functions = shader::compile_traced_samplers(textures.jit_);
  if (!functions) return functions.error();
  std::lock_guard lock(textures.mutex_);
  for (const auto& [object, entry] : textures.views_)
    if (Ptr<TexturedView> view = entry.lock()) trace->views_.push_back(std::move(view));
  for (const auto& [parameters, entry] : textures.samplers_)
    if (Ptr<NumberedSampler> sampler = entry.second.lock()) trace->samplers_.emplace(entry.first, std::move(sampler));
  for (const Ptr<TexturedView>& view : trace->views_) {
    trace->add(view->image.alone, *view, nullptr, *functions, note);
    for (const auto& [number, pair] : view->pairs)
      if (const auto sampler = trace->samplers_.find(pair->serial); sampler != trace->samplers_.end())
        trace->add(pair->abi, *view, sampler->second.get(), *functions, note);
  }
  return trace;
}

TextureTrace::~TextureTrace() {
  {
    std::lock_guard lock(textures_.mutex_);
    for (Replaced& replaced : replaced_)
      if (std::atomic_ref(*replaced.word).load() == &replaced.traced.slot)  // else it was installed meanwhile
        std::atomic_ref(*replaced.word).store(replaced.traced.original, std::memory_order_release);
  }
  samplers_.clear(), views_.clear();  // whose destructors take the mutex
}

}  // namespace tilegpu::descriptor
