// transfer/blit.cpp -- scaled copies with conversion, nearest or linear, mirrored where corners are swapped.
//
// In, out: see transfer.hpp. Source: Vulkan specification, "Image Copies With Scaling" (vkCmdBlitImage): u = (x + 1/2 - dst0) * scale +
// src0, addresses clamp to the source region; sRGB is filtered in linear space.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "transfer/transfer.hpp"
#include "transfer/transfer_checks.hpp"

namespace tilegpu::transfer {
namespace {

/// For one destination column or row: the two source texels and the weight of the second.
struct Tap {
  uint32_t first, second;
  float weight;
};

/// Doubles with exact small integers: the same on every machine.
std::vector<Tap> make_taps(int32_t source0, int32_t source1, int32_t destination0, int32_t destination1, bool linear) {
  const int32_t begin = std::min(destination0, destination1), end = std::max(destination0, destination1);
  const int32_t low = std::min(source0, source1), high = std::max(source0, source1) - 1;
  const double scale = static_cast<double>(source1 - source0) / static_cast<double>(destination1 - destination0);
  assert(begin < end && low <= high);  // checked when the blit was recorded
  std::vector<Tap> taps;
  taps.reserve(static_cast<size_t>(end - begin));
  for (int32_t x = begin; x < end; ++x) {
    const double u = (x + 0.5 - destination0) * scale + source0;
    const double at = linear ? u - 0.5 : u;
    const double floor = std::floor(at);
    const auto clamp = [&](double value) { return static_cast<uint32_t>(std::clamp<double>(value, low, high)); };
    taps.push_back({clamp(floor), clamp(floor + 1), linear ? static_cast<float>(at - floor) : 0.0f});
  }
  return taps;
}

enum class Class { real, unsigned_integer, signed_integer, depth };

Class class_of(const vk::FormatInfo& f) {
  if (f.is_depth_stencil()) return Class::depth;
  if (f.numeric == vk::Numeric::uint) return Class::unsigned_integer;
  return f.numeric == vk::Numeric::sint ? Class::signed_integer : Class::real;
}

/// Source rows as floats, kept while the destination still needs them.
struct RowCache {
  std::vector<vk::Texel> texels[2];
  int64_t row[2] = {-1, -1};
  const vk::Texel* get(const vk::FormatInfo& format, const Rows& rows, uint32_t y, uint32_t keep) {
    for (int i = 0; i < 2; ++i) {
      if (row[i] == y) return texels[i].data();
    }
    const int slot = row[0] == keep ? 1 : 0;
    texels[slot].resize(rows.width_px);
    vk::unpack_row(format, rows.at(0, y), rows.width_px, texels[slot].data());
    row[slot] = y;
    return texels[slot].data();
  }
};

void copy_nearest(const Rows& in, const Rows& out, const std::vector<Tap>& columns, uint32_t source_y, uint32_t x0, uint32_t y,
                  AspectField field) {
  const uint8_t* row = in.at(0, source_y);
  uint8_t* target = out.at(x0, y);
  const uint32_t texel_B = in.texel_B;
  for (size_t i = 0; i < columns.size(); ++i) {
    const uint8_t* texel = row + static_cast<size_t>(columns[i].first) * texel_B;
    if (field.mask) {
      uint32_t a, b;
      std::memcpy(&a, texel, 4);
      std::memcpy(&b, target + 4 * i, 4);
      b = (b & ~field.mask) | (a & field.mask);
      std::memcpy(target + 4 * i, &b, 4);
    } else {
      std::memcpy(target + i * texel_B, texel, texel_B);
    }
  }
}

void blit_aspect(const Image& source, uint32_t source_level, uint32_t source_layer, const VkOffset3D s[2], Image& destination,
                 uint32_t destination_level, uint32_t destination_layer, const VkOffset3D d[2], VkFilter filter, RowRange range,
                 VkImageAspectFlagBits aspect) {
  const RowRange share = share_of(destination, range, static_cast<uint32_t>(std::abs(d[1].y - d[0].y)));
  assert(share.begin <= share.end);
  if (share.begin == share.end) return;
  const vk::FormatInfo &from = *vk::find_format(source.info().format), &to = *vk::find_format(destination.info().format);
  const TexelRows in = open_texels(source, aspect, source_level, source_layer, 0);
  TexelRows out = open_texels(destination, aspect, destination_level, destination_layer, 0);
  const bool linear = filter == VK_FILTER_LINEAR;
  const std::vector<Tap> columns = make_taps(s[0].x, s[1].x, d[0].x, d[1].x, linear),
                         lines = make_taps(s[0].y, s[1].y, d[0].y, d[1].y, linear);
  const auto x0 = static_cast<uint32_t>(std::min(d[0].x, d[1].x)), y0 = static_cast<uint32_t>(std::min(d[0].y, d[1].y));
  const auto count = static_cast<uint32_t>(columns.size());
  assert(in.rows.data && out.rows.data && x0 + count <= out.rows.width_px);
  RowCache cache;
  std::vector<vk::Texel> row(count);
  for (uint32_t i = share.begin; i < share.end; ++i) {
    const Tap& line = lines[i];
    if (!linear && from.format == to.format) {
      copy_nearest(in.rows, out.rows, columns, line.first, x0, y0 + i, aspect_field(from, aspect));
      continue;
    }
    const vk::Texel* first = cache.get(from, in.rows, line.first, line.second);
    if (!linear) {
      for (uint32_t x = 0; x < count; ++x) row[x] = first[columns[x].first];
    } else {
      const vk::Texel* second = cache.get(from, in.rows, line.second, line.first);
      first = cache.get(from, in.rows, line.first, line.second);
      for (uint32_t x = 0; x < count; ++x) {
        const Tap& column = columns[x];
        for (int c = 0; c < 4; ++c) {
          const auto mix = [](float a, float b, float w) { return a * (1.0f - w) + b * w; };
          const float top = mix(first[column.first].f[c], first[column.second].f[c], column.weight);
          const float bottom = mix(second[column.first].f[c], second[column.second].f[c], column.weight);
          row[x].f[c] = mix(top, bottom, line.weight);
        }
      }
    }
    vk::pack_row(to, row.data(), count, out.rows.at(x0, y0 + i));
  }
  close_texels(out);
  if (share.begin != 0) return;
  mark_written(destination, {static_cast<VkImageAspectFlags>(aspect), destination_level, 1, destination_layer, 1}, Writer::transfer);
}

std::string corner_text(const VkOffset3D corners[2]) {
  std::string text;
  for (int i = 0; i < 2; ++i)
    text.append(i ? " to (" : "(").append(std::to_string(corners[i].x)).append(", ").append(std::to_string(corners[i].y)).append(")");
  return text;
}

Status check_corners(const Image& image, uint32_t level, const VkOffset3D corners[2], const char* side) {
  const auto width = static_cast<int32_t>(std::max(1u, image.info().width_px >> level)),
             height = static_cast<int32_t>(std::max(1u, image.info().height_px >> level));
  bool inside = corners[0].x != corners[1].x && corners[0].y != corners[1].y;
  for (int i = 0; i < 2; ++i) inside = inside && corners[i].x >= 0 && corners[i].x <= width && corners[i].y >= 0 && corners[i].y <= height;
  if (inside) return Ok{};
  return field_error("blit_image", std::string(side) + " corners", corner_text(corners),
                     "different corners within the level's " + std::to_string(width) + "x" + std::to_string(height) + " px", "");
}

}  // namespace

Status check_blit_image(const Image& source, uint32_t source_level, uint32_t source_layer, const VkOffset3D source_corners[2],
                        const Image& destination, uint32_t destination_level, uint32_t destination_layer,
                        const VkOffset3D destination_corners[2], VkFilter filter) {
  constexpr const char* kCommand = "blit_image";
  const vk::FormatInfo &a = *vk::find_format(source.info().format), &b = *vk::find_format(destination.info().format);
  const auto one_aspect = [](VkImageAspectFlags aspects) { return aspects & (~aspects + 1); };
  if (Status ok = check_subresource(kCommand, source, one_aspect(format_aspects(a)), source_level, source_layer, "source"); !ok)
    return ok.error();
  if (Status ok =
          check_subresource(kCommand, destination, one_aspect(format_aspects(b)), destination_level, destination_layer, "destination");
      !ok)
    return ok.error();
  for (const Image* image : {&source, &destination}) {
    if (image->sample_count() != 1) return multisampled_error(kCommand, *image, "resolve it first");
  }
  if (class_of(a) != class_of(b) || (class_of(a) == Class::depth && a.format != b.format)) {
    return field_error(kCommand, "destination format", b.name,
                       std::string("a format of the same kind as ") + a.name + " (unsigned, signed, other; depth and stencil: the same)",
                       "");
  }
  if (!b.is_depth_stencil() && !b.color_attachment) {
    return field_error(kCommand, "destination format", b.name, "a format that can be rendered to", "", VK_ERROR_FORMAT_NOT_SUPPORTED);
  }
  if (filter != VK_FILTER_NEAREST && filter != VK_FILTER_LINEAR)
    return field_error(kCommand, "filter", std::to_string(filter), "nearest or linear", "");
  if (filter == VK_FILTER_LINEAR && class_of(a) != Class::real) {
    return field_error(kCommand, "filter", "linear", std::string("nearest for ") + a.name,
                       "integers, depth and stencil are not interpolated");
  }
  if (Status ok = check_corners(source, source_level, source_corners, "source"); !ok) return ok.error();
  if (Status ok = check_corners(destination, destination_level, destination_corners, "destination"); !ok) return ok.error();
  if (&source == &destination && source_level == destination_level && source_layer == destination_layer) {
    const auto apart = [](int32_t a0, int32_t a1, int32_t b0, int32_t b1) {
      return std::max(a0, a1) <= std::min(b0, b1) || std::max(b0, b1) <= std::min(a0, a1);
    };
    if (!apart(source_corners[0].x, source_corners[1].x, destination_corners[0].x, destination_corners[1].x) &&
        !apart(source_corners[0].y, source_corners[1].y, destination_corners[0].y, destination_corners[1].y)) {
      return Error{VK_ERROR_VALIDATION_FAILED_EXT, std::string(kCommand) + ": source and destination overlap in " +
                                                       object_name("image", source.info().label) + "; blit through another image"};
    }
  }
  return Ok{};
}

void blit_image(const Image& source, uint32_t source_level, uint32_t source_layer, const VkOffset3D source_corners[2], Image& destination,
                uint32_t destination_level, uint32_t destination_layer, const VkOffset3D destination_corners[2], VkFilter filter,
                RowRange rows) {
  const VkImageAspectFlags aspects = format_aspects(*vk::find_format(source.info().format));
  for (VkImageAspectFlagBits aspect : {VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT}) {
    if (aspects & aspect) {
      blit_aspect(source, source_level, source_layer, source_corners, destination, destination_level, destination_layer,
                  destination_corners, filter, rows, aspect);
    }
  }
}

}  // namespace tilegpu::transfer
