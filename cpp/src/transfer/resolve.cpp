// transfer/resolve.cpp -- vkCmdResolveImage: samples of a stored image read
// back and averaged, in a pass of its own.
//
// In, out: see transfer.hpp. The way that in-tile resolves make unnecessary;
// honest and vectorised, for comparison.
#include <vector>

#include "resolve/reduce.hpp"
#include "transfer/regions.hpp"

namespace tilegpu::transfer {
namespace {

constexpr const char* kCommand = "resolve_image";
constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;

Side source_side(size_t i, const Image& image, const VkImageResolve2& r) {
  return {kCommand, i, "src", image, r.srcSubresource, r.srcOffset, r.extent};
}
Side destination_side(size_t i, const Image& image, const VkImageResolve2& r) {
  return {kCommand, i, "dst", image, r.dstSubresource, r.dstOffset, r.extent};
}

/// All samples of one layer, one behind the other.
struct Samples {
  const uint8_t* first = nullptr;
  size_t row_B = 0, sample_B = 0;
  std::vector<uint8_t> decoded;  // of a block-compressed image
};

Samples open_samples(const Image& image, uint32_t level, uint32_t layer) {
  const SubresourceLayout layout = image.layout(kColor, level, layer);
  Samples s;
  if (image.info().tiling == ImageTiling::linear) {
    s.first = image.data() + layout.offset_B;
    s.row_B = layout.row_pitch_B, s.sample_B = layout.sample_pitch_B;
    return s;
  }
  for (uint32_t i = 0; i < image.sample_count(); ++i) {
    const TexelRows in = open_texels(image, kColor, level, layer, i);
    s.decoded.insert(s.decoded.end(), in.decoded.begin(), in.decoded.end());
  }
  s.row_B = static_cast<size_t>(layout.width_px) * layout.texel_B;
  s.sample_B = s.row_B * layout.height_px;
  s.first = s.decoded.data();
  return s;
}

}  // namespace

Status check_resolve_image(const Image& source, const Image& destination, std::span<const VkImageResolve2> regions) {
  if (Status ok = check_regions(kCommand, regions.size()); !ok) return ok;
  for (const Image* image : {&source, &destination})
    if (Status ok = check_has_memory(kCommand, *image); !ok) return ok;
  const vk::FormatInfo &a = format_of(source), &b = format_of(destination);
  if (a.is_depth_stencil()) {
    return field_error(kCommand, "source format", a.name, "a colour format", "resolve depth and stencil in the pass, with resolve_mode");
  }
  if (source.sample_count() == 1) return field_error(kCommand, "source samples", "1", "2, 4, 8 or 16", "use copy_image");
  if (destination.sample_count() != 1) return multisampled_error(kCommand, destination, "resolve to a single-sampled image");
  if (a.format != b.format) {
    return field_error(kCommand, "destination format", b.name, std::string(a.name) + " as the source", "resolve, then blit to convert");
  }
  for (size_t i = 0; i < regions.size(); ++i) {
    const Side from = source_side(i, source, regions[i]), to = destination_side(i, destination, regions[i]);
    for (const Side* side : {&from, &to})
      if (Status ok = check_box(*side); !ok) return ok;
    if (regions[i].extent.depth != 1)
      return region_error(kCommand, i, "extent.depth", number(regions[i].extent.depth), "1", "multisampled images have layers");
    const uint32_t in = slabs_of(from).count, out = slabs_of(to).count;
    if (in != out) return region_error(kCommand, i, "dstSubresource.layerCount", number(out), number(in) + " as the source", "");
  }
  return check_apart(
      source, destination, regions.size(), [&](size_t i) { return source_side(i, source, regions[i]); },
      [&](size_t i) { return destination_side(i, destination, regions[i]); }, "bind the images apart");
}

void resolve_image(const Image& source, const Image& destination, std::span<const VkImageResolve2> regions, const ShareRows& share) {
  assert(source.sample_count() > 1 && destination.sample_count() == 1);
  const resolve::Reducer reducer =
      resolve::make_reducer(format_of(source), kColor, resolve::ReduceMode::average, source.sample_count(), false);
  const size_t texel_B = format_of(source).texel_B;
  for (const VkImageResolve2& r : regions) {
    const Side to = destination_side(0, destination, r);
    const Slabs in_slabs = slabs_of(source_side(0, source, r)), out_slabs = slabs_of(to);
    assert(in_slabs.count == out_slabs.count);
    run_slabs(share, &destination, out_slabs.count, r.extent.height, [&](uint32_t slab, uint32_t y0, uint32_t y1) {
      const Samples in = open_samples(source, r.srcSubresource.mipLevel, in_slabs.first + slab);
      TexelRows out = open_texels(destination, kColor, r.dstSubresource.mipLevel, out_slabs.first + slab, 0);
      assert(static_cast<uint32_t>(r.dstOffset.x) + r.extent.width <= out.rows.texel_blocks_x);
      for (uint32_t y = y0; y < y1; ++y) {
        const uint8_t* row =
            in.first + in.row_B * (static_cast<uint32_t>(r.srcOffset.y) + y) + static_cast<uint32_t>(r.srcOffset.x) * texel_B;
        resolve::reduce(reducer, row, in.sample_B, r.extent.width * texel_B,
                        out.rows.at(static_cast<uint32_t>(r.dstOffset.x), static_cast<uint32_t>(r.dstOffset.y) + y));
      }
      close_texels(out);
    });
    mark_box_written(destination, box_of(to, kColor), Writer::transfer);
  }
}

}  // namespace tilegpu::transfer
