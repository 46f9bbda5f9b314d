// resource/view_abi.hpp -- views and samplers as generated code sees them.
//
// In: ImageView, Sampler. Out: the plain structs of shader_abi/abi.hpp. What is filled here is safe to index with any level, layer and
// sample that was clamped to the counts given.
#pragma once

#include "shader_abi/abi.hpp"
#include "tilegpu/resource.hpp"
#include "vk/format.hpp"

namespace tilegpu::resource {

/// As messages have it: "2d_array".
const char* view_type_name(VkImageViewType type);
/// What a shader reads of a view: its depth where it has depth, else its stencil or colour.
VkImageAspectFlagBits sampled_aspect(VkImageAspectFlags aspects);
/// A view without memory or of a tiling that code can't read becomes the null view. `plane`: of a multi-planar view.
void fill_view_abi(const ImageView& view, shader::ImageViewAbi& abi, uint32_t plane = 0);
/// One texel of zeros, one level, one layer, one sample.
void fill_null_view_abi(shader::ImageViewAbi& abi);
/// `integer`: the view's format is UINT or SINT (or stencil), so that opaque border colours are integer ones.
/// `format`: of the view that is sampled; a custom border colour is clamped to what it can hold.
void fill_sampler_abi(const SamplerCreateInfo& info, bool integer, const vk::FormatInfo& format, shader::SamplerAbi& abi);
/// One row of texels.
void fill_view_abi(const BufferView& view, shader::ImageViewAbi& abi);
void fill_null_sampler_abi(shader::SamplerAbi& abi);

}  // namespace tilegpu::resource
