// descriptor/texture_trace.hpp -- while a pass is traced, sampler functions say what they are asked.
//
// In: a device's textures, and who is told. Out: slots in their descriptors that note and then call what was there (shader/sampler/
// traced.hpp); afterwards the ordinary ones. Submissions of a device run one after the other: nobody else reads these slots meanwhile. A
// function that a recording asks for just then is not told of.
#pragma once

#include <deque>
#include <map>

#include "descriptor/textures.hpp"
#include "shader/sampler/footprint.hpp"

namespace tilegpu::descriptor {

class TextureTrace {
 public:
  using Note = void (*)(const shader::TracedSlot* slot, const shader::TexelCall* call);
  /// TracedSlot::texture is a shader::TracedTexture.
  static Expected<std::unique_ptr<TextureTrace>> begin(Textures& textures, Note note);
  ~TextureTrace();
  TextureTrace(const TextureTrace&) = delete;
  /// Of each number that TracedTexture::image has: the Image, or the Buffer of texels.
  const std::vector<uint64_t>& images() const { return images_; }

 private:
  explicit TextureTrace(Textures& textures) : textures_(textures) {}
  struct Replaced {
    const shader::CodeSlot** word;
    shader::TracedSlot traced;
  };
  void add(shader::TextureDescriptor& abi, const TexturedView& view, const NumberedSampler* sampler,
           const shader::TracedSamplers& functions, Note note);
  uint32_t number_of(const TexturedView& view);

  Textures& textures_;
  // Which must not go meanwhile; samplers by their serial.
  std::vector<Ptr<TexturedView>> views_;
  std::map<uint64_t, Ptr<NumberedSampler>> samplers_;
  std::deque<shader::TracedTexture> traced_;
  std::deque<Replaced> replaced_;
  std::vector<uint64_t> images_;
  std::map<uint64_t, uint32_t> numbers_;
};

}  // namespace tilegpu::descriptor
