// shader/sampler/footprint.hpp -- which cache lines of a texture a call of a sampler function reads.
//
// In: the call's arguments, the view and the sampler. Out: lines, lane by lane, whatever lanes stand beside it: so that they are the same
// for any width of vectors. A line holds a block of texels, as square as it can be: GPUs keep images in tiles (this program's rows are its
// own business). Source: Vulkan specification, "Image Operations"; the rules of levels and wrapping are those of lod.cpp, address.cpp,
// anisotropy.cpp and cube.cpp beside it, written once more for one lane.
#pragma once

#include "shader/sampler/traced.hpp"

namespace tilegpu::shader {

inline constexpr uint32_t kTextureLine_B = 64;

/// A view, and the sampler that it is read with.
struct TracedTexture {
  const ImageViewAbi* view = nullptr;
  const SamplerAbi* sampler = nullptr;  // null: alone
  SamplerKey key;
  uint32_t image = 0;                         // a number for each image
  uint32_t first_level = 0, first_layer = 0;  // of the view, in the image
  struct Line {
    uint32_t width_px = 1, height_px = 1;
  } line, plane_line[2];  // of its texels; of a multi-planar view those of planes 1 and 2
};

/// The texels of a line of a view.
TracedTexture::Line line_of(VkFormat format, VkImageAspectFlagBits aspect, VkImageViewType dim);

/// A number for each line of an image; `image` is in the uppermost bits.
inline constexpr uint32_t kLineImageShift = 52;
using VisitLine = void (*)(void* context, uint32_t lane, uint64_t line);
/// `operation`: what was called.
void each_line(const TracedTexture& texture, const TracedOperation& operation, const TexelCall& call, VisitLine visit, void* context);

}  // namespace tilegpu::shader
