// descriptor/textures.hpp -- a device's textures: views and samplers as shaders see them, and the functions for each pair of them.
//
// In: ImageViews, BufferViews and Samplers. Out: shader::SampledImage of each view, with a table of pairs by the sampler's number; machine
// code for what draws ask of a pair. A combined descriptor points to its pair, a separate image to the view, whose table is indexed by the
// number that the separate sampler's descriptor holds: one more load than a combined one. Pairs are made when a draw could use them; one
// that nobody made gives zeros. Source: Vulkan specification, "Resource Descriptors"; "Image Operations".
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <span>

#include "base/host_memory.hpp"
#include "resource/memory_contents.hpp"
#include "shader/compiler.hpp"
#include "tilegpu/descriptor.hpp"
#include "tilegpu/fork_mutex.hpp"

namespace tilegpu::descriptor {

class Textures;

/// Samplers of equal parameters share it; while it lives, nobody else has its number.
struct NumberedSampler {
  NumberedSampler(Ptr<Textures> owner, Ptr<Sampler> of, uint32_t its_number, uint64_t its_serial)
      : textures(std::move(owner)), sampler(std::move(of)), number(its_number), serial(its_serial) {}
  ~NumberedSampler();
  NumberedSampler(const NumberedSampler&) = delete;
  Ptr<Textures> textures;
  Ptr<Sampler> sampler;  // the first of them
  uint32_t number;
  uint64_t serial;  // never given again
};

/// A view with a sampler.
struct Texture {
  shader::TextureDescriptor abi{};
  shader::SamplerAbi sampler{};
  uint64_t serial = 0;            // of the sampler
  std::atomic<uint16_t> uses{0};  // TextureUse bits: functions that are there
};

/// A view as sets of this device name it; one for all of them.
struct TexturedView {
  TexturedView(Ptr<Textures> owner, Ptr<ImageView> view);
  TexturedView(Ptr<Textures> owner, Ptr<BufferView> texels);
  ~TexturedView();
  TexturedView(const TexturedView&) = delete;
  Ptr<Textures> textures;
  Ptr<ImageView> view;     // of an image,
  Ptr<BufferView> texels;  // or of a buffer
  const resource::MemoryContents& contents() const { return texels ? texels->buffer()->memory()->contents() : view->image()->contents(); }
  bool integer;         // opaque border colours are integer ones
  bool filled = false;  // `abi`: the image has memory; under the mutex of `textures`
  shader::ImageViewAbi abi;
  std::unique_ptr<std::array<shader::ImageViewAbi, 2>> planes;  // 1 and 2 of a multi-planar image
  shader::SampledImage image{};
  std::atomic<uint16_t> alone_uses{0};
  using Page = std::array<const shader::TextureDescriptor*, shader::kSamplersOfPage>;
  std::map<uint32_t, std::unique_ptr<Page>> pages;
  std::map<uint32_t, std::unique_ptr<Texture>> pairs;  // by the sampler's number; under the mutex of `textures`
};

class Textures : public std::enable_shared_from_this<Textures> {
 public:
  /// `jit` must live as long as functions are asked for.
  Textures(shader::Jit& jit, uint32_t threads) : jit_(jit), threads_(threads) {}

  /// DeviceCreateInfo::tolerate: what sets of this device may hold though Vulkan forbids it.
  std::function<void(const std::string& message)> tolerate;

  /// To be called before the first descriptor of a texture is made.
  Status make_null();
  /// Gives zeros, alone and with every sampler.
  const shader::SampledImage& null_image() const {
    assert(null_ready_);
    return null_->image;
  }

  Ptr<TexturedView> view(const Ptr<ImageView>& view);
  /// Of an input attachment, whose image may be transient and without memory: it is read in the tile.
  Ptr<TexturedView> attachment(const Ptr<ImageView>& view);
  /// That it is read from memory: its image has some from now on.
  Status take_memory(TexturedView& attachment);
  Ptr<TexturedView> view(const Ptr<BufferView>& texels);
  Expected<Ptr<NumberedSampler>> sampler(const Ptr<Sampler>& sampler);
  /// Made where it is missing. Lives as long as both of the arguments.
  Texture& pair(TexturedView& view, const NumberedSampler& sampler);

  /// Of a pair, or of a view alone, where the sampler is null.
  struct Request {
    shader::TextureDescriptor* abi = nullptr;
    std::atomic<uint16_t>* have = nullptr;
    const TexturedView* view = nullptr;
    const NumberedSampler* sampler = nullptr;
    uint16_t uses = 0;
  };
  /// The functions of the requests. What was never asked for is compiled, on all threads at once; an error begins with what `name` says of
  /// the request.
  Status ensure(std::span<const Request> requests, const std::function<std::string(size_t)>& name);

 private:
  friend struct NumberedSampler;
  friend struct TexturedView;
  friend class TextureTrace;
  struct Null {
    shader::ImageViewAbi view;
    shader::SamplerAbi sampler;
    TexturedView::Page page;
    shader::SampledImage image;
  };
  struct Functions {
    uint16_t have = 0;
    shader::SamplerFunctions code;
  };
  /// What the functions of a pair, or of a view alone, depend on.
  static shader::SamplerKey key_of(const TexturedView& textured, const NumberedSampler* sampler);
  template <class View>
  Ptr<TexturedView> view_of(const Ptr<View>& view);
  Status compile_missing(std::span<const Request> requests, const std::vector<std::string>& keys,
                         const std::function<std::string(size_t)>& name);
  shader::Jit& jit_;
  uint32_t threads_;
  ForkMutex mutex_;
  std::unique_ptr<Null> null_;
  std::atomic<bool> null_ready_{false};
  std::map<const void*, std::weak_ptr<TexturedView>> views_;                             // by the ImageView or BufferView
  std::map<std::string, std::pair<uint64_t, std::weak_ptr<NumberedSampler>>> samplers_;  // by their parameters' bytes; with the serial
  std::vector<uint32_t> free_numbers_;
  uint32_t last_number_ = 0;  // that was given; 0 is no sampler
  uint64_t serials_ = 0;
  std::map<std::string, Functions> functions_;  // by the key's bytes
};

}  // namespace tilegpu::descriptor
