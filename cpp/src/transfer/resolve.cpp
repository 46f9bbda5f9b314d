// transfer/resolve.cpp -- vkCmdResolveImage: all samples of a stored image read back and averaged, in a pass of its own.
//
// In, out: see transfer.hpp. The way that in-tile resolves make unnecessary; honest and vectorised, for comparison.
#include <algorithm>
#include <cassert>

#include "resolve/reduce.hpp"
#include "transfer/transfer.hpp"
#include "transfer/transfer_checks.hpp"

namespace tilegpu::transfer {

Status check_resolve_image(const Image& source, const Image& destination) {
  constexpr const char* kCommand = "resolve_image";
  if (Status ok = check_has_memory(kCommand, source); !ok) return ok.error();
  if (Status ok = check_has_memory(kCommand, destination); !ok) return ok.error();
  const ImageCreateInfo &a = source.info(), &b = destination.info();
  const vk::FormatInfo& format = *vk::find_format(a.format);
  if (format.is_depth_stencil()) {
    return field_error(kCommand, "source format", format.name, "a colour format",
                       "resolve depth and stencil in the pass, with resolve_mode");
  }
  if (source.sample_count() == 1) return field_error(kCommand, "source samples", "1", "2, 4, 8 or 16", "use copy_image");
  if (destination.sample_count() != 1) return multisampled_error(kCommand, destination, "resolve to a single-sampled image");
  if (a.format != b.format) {
    return field_error(kCommand, "destination format", vk::find_format(b.format)->name, std::string(format.name) + " as the source",
                       "resolve, then blit to convert");
  }
  if (a.width_px != b.width_px || a.height_px != b.height_px || a.array_layers > b.array_layers) {
    const auto text = [](const ImageCreateInfo& i) {
      return std::to_string(i.width_px) + "x" + std::to_string(i.height_px) + " px, " + std::to_string(i.array_layers) + " layers";
    };
    return field_error(kCommand, "destination size", text(b), text(a) + " as the source", "");
  }
  return Ok{};
}

void resolve_image(const Image& source, Image& destination, RowRange range) {
  constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;
  const RowRange share = share_of(destination, range, destination.info().height_px);
  if (share.begin == share.end) return;
  const vk::FormatInfo& format = *vk::find_format(source.info().format);
  const resolve::Reducer reducer = resolve::make_reducer(format, kColor, resolve::ReduceMode::average, source.sample_count(), false);
  const bool linear = source.info().tiling == ImageTiling::linear;
  assert(source.sample_count() > 1 && destination.sample_count() == 1);
  for (uint32_t layer = 0; layer < source.info().array_layers; ++layer) {
    const SubresourceLayout layout = source.layout(kColor, 0, layer);
    TexelRows out = open_texels(destination, kColor, 0, layer, 0);
    const size_t row_B = static_cast<size_t>(layout.width_px) * layout.texel_B;
    // Block-compressed samples are decoded side by side first.
    std::vector<uint8_t> decoded;
    const uint8_t* first = linear ? source.data() + layout.offset_B : nullptr;
    size_t pitch_B = layout.row_pitch_B, sample_pitch_B = layout.sample_pitch_B;
    if (!linear) {
      for (uint32_t s = 0; s < source.sample_count(); ++s) {
        const TexelRows in = open_texels(source, kColor, 0, layer, s);
        decoded.insert(decoded.end(), in.decoded.begin(), in.decoded.end());
      }
      first = decoded.data();
      pitch_B = row_B;
      sample_pitch_B = row_B * layout.height_px;
    }
    for (uint32_t y = share.begin; y < share.end; ++y)
      resolve::reduce(reducer, first + pitch_B * y, sample_pitch_B, row_B, out.rows.at(0, y));
    close_texels(out);
  }
  if (share.begin != 0) return;
  mark_written(destination, {kColor, 0, 1, 0, source.info().array_layers}, Writer::transfer);
}

}  // namespace tilegpu::transfer
