// transfer/blit.cpp -- scaled copies with conversion, nearest, linear or cubic,
// mirrored where corners are swapped.
//
// In, out: see transfer.hpp. Source: Vulkan specification, "Image Copies With
// Scaling" (vkCmdBlitImage): u = (x + 1/2 - dst0) * scale + src0, addresses
// clamp to the source region; sRGB is filtered in linear space. Cubic: "Texel
// Cubic Filtering", Catmull-Rom weights, as shader/sampler/cubic.cpp has them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "transfer/regions.hpp"
#include "vk/compressed/texels.hpp"

namespace tilegpu::transfer {
namespace {

/// For one destination column, row or slice: the two source texels and the
/// weight of the second.
struct Tap {
  uint32_t first, second;
  float weight;
};

/// Where the middles of a destination's columns, rows or slices lie in the
/// source. Doubles with exact small integers: the same on every machine.
std::vector<double> source_positions(int32_t source0, int32_t source1, int32_t destination0, int32_t destination1) {
  const int32_t begin = std::min(destination0, destination1), end = std::max(destination0, destination1);
  const double scale = static_cast<double>(source1 - source0) / static_cast<double>(destination1 - destination0);
  assert(begin < end);  // an empty destination is not recorded
  std::vector<double> positions;
  positions.reserve(static_cast<size_t>(end - begin));
  for (int32_t x = begin; x < end; ++x) positions.push_back((x + 0.5 - destination0) * scale + source0);
  return positions;
}

/// The first and the last texel that a filter reads: of the source region. Where
/// that is empty all texels of the destination lie at its corner, and the image's
/// edge is all that there is to clamp to.
std::pair<int32_t, int32_t> edges(int32_t source0, int32_t source1, uint32_t level_size) {
  assert(level_size > 0);
  if (source0 == source1) return {0, static_cast<int32_t>(level_size) - 1};
  return {std::min(source0, source1), std::max(source0, source1) - 1};
}

std::vector<Tap> make_taps(int32_t source0, int32_t source1, uint32_t level_size, int32_t destination0, int32_t destination1, bool linear) {
  const auto [low, high] = edges(source0, source1, level_size);
  const std::vector<double> positions = source_positions(source0, source1, destination0, destination1);
  std::vector<Tap> taps;
  taps.reserve(positions.size());
  for (const double u : positions) {
    const double at = linear ? u - 0.5 : u;
    const double floor = std::floor(at);
    const auto clamp = [low = low, high = high](double value) { return static_cast<uint32_t>(std::clamp<double>(value, low, high)); };
    taps.push_back({clamp(floor), clamp(floor + 1), linear ? static_cast<float>(at - floor) : 0.0f});
  }
  return taps;
}

/// The same of a cubic filter: the second texel keeps what the others' weights
/// leave.
struct CubicTap {
  uint32_t at[4];
  float weight[4];
};

std::vector<CubicTap> make_cubic_taps(int32_t source0, int32_t source1, uint32_t level_size, int32_t destination0, int32_t destination1) {
  const auto [low, high] = edges(source0, source1, level_size);
  const std::vector<double> positions = source_positions(source0, source1, destination0, destination1);
  std::vector<CubicTap> taps;
  taps.reserve(positions.size());
  for (const double u : positions) {
    const double floor = std::floor(u - 0.5), a = u - 0.5 - floor;
    CubicTap tap{};
    for (int k = 0; k < 4; ++k) tap.at[k] = static_cast<uint32_t>(std::clamp<double>(floor + k - 1, low, high));
    tap.weight[0] = static_cast<float>(a * (a * (1 - a / 2) - 0.5));
    tap.weight[2] = static_cast<float>(a * (a * (2 - 1.5 * a) + 0.5));
    tap.weight[3] = static_cast<float>(a * a * (a / 2 - 0.5));
    taps.push_back(tap);
  }
  return taps;
}

constexpr const char* kCommand = "blit_image";

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
  const vk::Texel* get(const vk::FormatInfo& format, const TexelRows& in, uint32_t y, uint32_t keep) {
    for (int i = 0; i < 2; ++i) {
      if (row[i] == y) return texels[i].data();
    }
    const int slot = row[0] == keep ? 1 : 0;
    texels[slot].resize(in.layout.width_px);
    vk::unpack_image_row(format, in.rows.data, in.rows.pitch_B, y, in.layout.width_px, texels[slot].data());
    row[slot] = y;
    return texels[slot].data();
  }
};

void copy_nearest(const Rows& in, const Rows& out, const std::vector<Tap>& columns, uint32_t source_y, uint32_t x0, uint32_t y,
                  AspectField field) {
  assert(in.texel_B == out.texel_B && source_y < in.texel_blocks_y && (!field.mask || in.texel_B == 4));
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

/// Interpolated rows of one source slab, from which the destination's are
/// mixed.
struct LinearRows {
  const vk::FormatInfo& format;
  const TexelRows& in;
  RowCache cache;
  /// One destination row: columns mixed in two rows, and the two rows.
  void get(const Tap& line, const std::vector<Tap>& columns, vk::Texel* out) {
    assert(line.first < in.layout.height_px && line.second < in.layout.height_px);
    const vk::Texel* second = cache.get(format, in, line.second, line.first);
    const vk::Texel* first = cache.get(format, in, line.first, line.second);
    second = cache.get(format, in, line.second, line.first);
    const auto mix = [](float a, float b, float w) { return a * (1.0f - w) + b * w; };
    for (size_t x = 0; x < columns.size(); ++x) {
      const Tap& column = columns[x];
      for (int c = 0; c < 4; ++c) {
        const float top = mix(first[column.first].f[c], first[column.second].f[c], column.weight);
        const float bottom = mix(second[column.first].f[c], second[column.second].f[c], column.weight);
        out[x].f[c] = mix(top, bottom, line.weight);
      }
    }
  }
};

/// The second texel, and the others' distances from it times their weights.
float cubic_sum(const float (&t)[4], const float (&weight)[4]) {
  return ((t[1] + weight[0] * (t[0] - t[1])) + weight[2] * (t[2] - t[1])) + weight[3] * (t[3] - t[1]);
}

/// Source rows of which columns are filtered, kept while the destination still
/// needs them: the four of a line have places of their own unless they are one.
struct CubicRows {
  const vk::FormatInfo& format;
  const TexelRows& in;
  std::vector<vk::Texel> source;
  std::vector<vk::Texel> filtered[4];
  int64_t row[4] = {-1, -1, -1, -1};
  const vk::Texel* get(uint32_t y, const std::vector<CubicTap>& columns, const CubicTap& line) {
    const auto is_wanted = [&](int64_t other) { return std::any_of(line.at, line.at + 4, [&](uint32_t at) { return at == other; }); };
    int slot = -1;
    for (int i = 0; i < 4; ++i) {
      if (row[i] == y) return filtered[i].data();
      if (!is_wanted(row[i])) slot = i;
    }
    assert(slot >= 0 && y < in.layout.height_px);
    source.resize(in.layout.width_px), filtered[slot].resize(columns.size());
    vk::unpack_image_row(format, in.rows.data, in.rows.pitch_B, y, in.layout.width_px, source.data());
    for (size_t x = 0; x < columns.size(); ++x) {
      const CubicTap& c = columns[x];
      for (int k = 0; k < 4; ++k) {
        const float t[4] = {source[c.at[0]].f[k], source[c.at[1]].f[k], source[c.at[2]].f[k], source[c.at[3]].f[k]};
        filtered[slot][x].f[k] = cubic_sum(t, c.weight);
      }
    }
    row[slot] = y;
    return filtered[slot].data();
  }
};

/// One region, ready for all threads.
struct Blit {
  const Image &source, &destination;
  const VkImageBlit2& region;
  bool linear;
  std::vector<Tap> columns, lines,
      slabs;                    // slabs: from a source slab number to that of the tap, in the
                                // images' own counting
  uint32_t x0, y0, first_slab;  // of the destination
  std::vector<CubicTap> cubic_columns, cubic_lines;
};

Blit make_blit(const Image& source, const Image& destination, const VkImageBlit2& r, VkFilter filter) {
  const VkOffset3D *s = r.srcOffsets, *d = r.dstOffsets;
  const VkExtent3D size = source.extent(r.srcSubresource.mipLevel);
  const bool linear = filter == VK_FILTER_LINEAR;
  Blit b = {source,
            destination,
            r,
            linear,
            make_taps(s[0].x, s[1].x, size.width, d[0].x, d[1].x, linear),
            make_taps(s[0].y, s[1].y, size.height, d[0].y, d[1].y, linear),
            {},
            0,
            0,
            0,
            {},
            {}};
  if (filter == VK_FILTER_CUBIC_EXT)
    b.cubic_columns = make_cubic_taps(s[0].x, s[1].x, size.width, d[0].x, d[1].x),
    b.cubic_lines = make_cubic_taps(s[0].y, s[1].y, size.height, d[0].y, d[1].y);
  b.x0 = static_cast<uint32_t>(std::min(d[0].x, d[1].x)), b.y0 = static_cast<uint32_t>(std::min(d[0].y, d[1].y));
  if (source.info().type == VK_IMAGE_TYPE_3D || destination.info().type == VK_IMAGE_TYPE_3D) {
    b.slabs = make_taps(s[0].z, s[1].z, size.depth, d[0].z, d[1].z, linear);
    b.first_slab = static_cast<uint32_t>(std::min(d[0].z, d[1].z));
    // A side that is not 3D has one layer, whatever z says.
    if (source.info().type != VK_IMAGE_TYPE_3D)
      for (Tap& tap : b.slabs) tap = {r.srcSubresource.baseArrayLayer, r.srcSubresource.baseArrayLayer, 0.0f};
    if (destination.info().type != VK_IMAGE_TYPE_3D) b.first_slab = r.dstSubresource.baseArrayLayer;
    return b;
  }
  const uint32_t count = r.srcSubresource.layerCount;
  const uint32_t layers = count == VK_REMAINING_ARRAY_LAYERS ? source.info().array_layers - r.srcSubresource.baseArrayLayer : count;
  for (uint32_t i = 0; i < layers; ++i) b.slabs.push_back({r.srcSubresource.baseArrayLayer + i, r.srcSubresource.baseArrayLayer + i, 0.0f});
  b.first_slab = r.dstSubresource.baseArrayLayer;
  return b;
}

void blit_rows_nearest(const Blit& b, VkImageAspectFlagBits aspect, uint32_t slab, uint32_t y0, uint32_t y1) {
  const vk::FormatInfo &from = format_of(b.source), &to = format_of(b.destination);
  const TexelRows in = open_texels(b.source, aspect, b.region.srcSubresource.mipLevel, b.slabs[slab].first, 0);
  TexelRows out = open_texels(b.destination, aspect, b.region.dstSubresource.mipLevel, b.first_slab + slab, 0);
  assert(b.x0 + b.columns.size() <= out.rows.texel_blocks_x && b.y0 + y1 <= out.rows.texel_blocks_y);
  RowCache cache;
  std::vector<vk::Texel> row(b.columns.size());
  for (uint32_t y = y0; y < y1; ++y) {
    const uint32_t source_y = b.lines[y].first;
    if (from.format == to.format) {
      copy_nearest(in.rows, out.rows, b.columns, source_y, b.x0, b.y0 + y, aspect_field(from, aspect));
      continue;
    }
    const vk::Texel* texels = cache.get(from, in, source_y, source_y);
    for (size_t x = 0; x < row.size(); ++x) row[x] = texels[b.columns[x].first];
    vk::pack_row(to, row.data(), static_cast<uint32_t>(row.size()), out.rows.at(b.x0, b.y0 + y));
  }
  close_texels(out);
}

void blit_rows_linear(const Blit& b, VkImageAspectFlagBits aspect, uint32_t slab, uint32_t y0, uint32_t y1) {
  const vk::FormatInfo &from = format_of(b.source), &to = format_of(b.destination);
  const Tap& tap = b.slabs[slab];
  const TexelRows near = open_texels(b.source, aspect, b.region.srcSubresource.mipLevel, tap.first, 0),
                  far = open_texels(b.source, aspect, b.region.srcSubresource.mipLevel, tap.second, 0);
  LinearRows front = {from, near, {}}, back = {from, far, {}};
  TexelRows out = open_texels(b.destination, aspect, b.region.dstSubresource.mipLevel, b.first_slab + slab, 0);
  assert(b.x0 + b.columns.size() <= out.rows.texel_blocks_x && b.y0 + y1 <= out.rows.texel_blocks_y);
  assert(tap.weight == 0 || b.source.info().type == VK_IMAGE_TYPE_3D);  // layers are not interpolated
  std::vector<vk::Texel> row(b.columns.size()), behind(tap.weight != 0 ? row.size() : 0);
  for (uint32_t y = y0; y < y1; ++y) {
    front.get(b.lines[y], b.columns, row.data());
    if (tap.weight != 0) {
      back.get(b.lines[y], b.columns, behind.data());
      for (size_t x = 0; x < row.size(); ++x)
        for (int c = 0; c < 4; ++c) row[x].f[c] = row[x].f[c] * (1.0f - tap.weight) + behind[x].f[c] * tap.weight;
    }
    vk::pack_row(to, row.data(), static_cast<uint32_t>(row.size()), out.rows.at(b.x0, b.y0 + y));
  }
  close_texels(out);
}

void blit_rows_cubic(const Blit& b, VkImageAspectFlagBits aspect, uint32_t slab, uint32_t y0, uint32_t y1) {
  const vk::FormatInfo &from = format_of(b.source), &to = format_of(b.destination);
  const TexelRows in = open_texels(b.source, aspect, b.region.srcSubresource.mipLevel, b.slabs[slab].first, 0);
  TexelRows out = open_texels(b.destination, aspect, b.region.dstSubresource.mipLevel, b.first_slab + slab, 0);
  assert(b.x0 + b.columns.size() <= out.rows.texel_blocks_x && b.y0 + y1 <= out.rows.texel_blocks_y);
  assert(b.source.info().type == VK_IMAGE_TYPE_2D && b.cubic_columns.size() == b.columns.size());
  CubicRows rows = {from, in, {}, {}};
  std::vector<vk::Texel> row(b.columns.size());
  for (uint32_t y = y0; y < y1; ++y) {
    const CubicTap& line = b.cubic_lines[y];
    const vk::Texel* of[4];
    for (int k = 0; k < 4; ++k) of[k] = rows.get(line.at[k], b.cubic_columns, line);
    for (size_t x = 0; x < row.size(); ++x)
      for (int c = 0; c < 4; ++c) {
        const float t[4] = {of[0][x].f[c], of[1][x].f[c], of[2][x].f[c], of[3][x].f[c]};
        row[x].f[c] = cubic_sum(t, line.weight);
      }
    vk::pack_row(to, row.data(), static_cast<uint32_t>(row.size()), out.rows.at(b.x0, b.y0 + y));
  }
  close_texels(out);
}

std::string corner_text(const VkOffset3D corners[2]) { return offset_text(corners[0]) + " to " + offset_text(corners[1]); }

/// The box between two corners, as the other commands have it.
Side side_of(size_t i, const char* name, const Image& image, const VkImageSubresourceLayers& part, const VkOffset3D corners[2]) {
  const VkOffset3D &a = corners[0], &b = corners[1];
  const auto size = [](int32_t p, int32_t q) { return static_cast<uint32_t>(std::abs(int64_t{p} - q)); };
  return {kCommand,
          i,
          name,
          image,
          part,
          {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)},
          {size(a.x, b.x), size(a.y, b.y), size(a.z, b.z)}};
}

Status check_corners(const Side& side, const VkOffset3D corners[2]) {
  if (Status part = check_part(side); !part) return part;
  const VkExtent3D level = side.image.extent(side.part.mipLevel);
  // Regions may be empty, but not along what the image's type has no other place for.
  const auto inside = [](int32_t a, int32_t b, uint32_t limit, bool fixed) {
    return (a != b || !fixed) && std::min(a, b) >= 0 && int64_t{std::max(a, b)} <= limit;
  };
  if (inside(corners[0].x, corners[1].x, level.width, false) &&
      inside(corners[0].y, corners[1].y, level.height, side.image.info().type == VK_IMAGE_TYPE_1D) &&
      inside(corners[0].z, corners[1].z, level.depth, !side.is_3d()))
    return Ok{};
  return region_error(kCommand, side.region, std::string(side.name) + "Offsets of " + object_name("image", side.image.info().label),
                      corner_text(corners), "corners within the level's " + extent_text(level),
                      side.is_3d() ? "" : "z is 0 and 1 where the image is not 3d");
}

/// Of an empty source what its filter may read: up to the image's edges.
void widen_source(const VkExtent3D& level, VkImageBlit2& r) {
  VkOffset3D &a = r.srcOffsets[0], &b = r.srcOffsets[1];
  if (a.x == b.x) a.x = 0, b.x = static_cast<int32_t>(level.width);
  if (a.y == b.y) a.y = 0, b.y = static_cast<int32_t>(level.height);
  if (a.z == b.z) a.z = 0, b.z = static_cast<int32_t>(level.depth);
}

Status check_formats(const Image& source, const Image& destination, VkFilter filter) {
  const vk::FormatInfo &a = format_of(source), &b = format_of(destination);
  for (const Image* image : {&source, &destination})
    if (image->sample_count() != 1) return multisampled_error(kCommand, *image, "resolve it first");
  for (const vk::FormatInfo* format : {&a, &b})
    if (format->needs_conversion())
      return field_error(kCommand, format == &a ? "source format" : "destination format", format->name,
                         "a format that needs no sampler Y'CbCr conversion", "sample it, or copy its planes",
                         VK_ERROR_FORMAT_NOT_SUPPORTED);
  if (class_of(a) != class_of(b) || (class_of(a) == Class::depth && a.format != b.format)) {
    return field_error(kCommand, "destination format", b.name,
                       std::string("a format of the same kind as ") + a.name + " (unsigned, signed, other; depth and stencil: the same)",
                       "");
  }
  if (!b.is_depth_stencil() && !b.color_attachment)
    return field_error(kCommand, "destination format", b.name, "a format that can be rendered to", "", VK_ERROR_FORMAT_NOT_SUPPORTED);
  if (filter != VK_FILTER_NEAREST && filter != VK_FILTER_LINEAR && filter != VK_FILTER_CUBIC_EXT)
    return field_error(kCommand, "filter", number(static_cast<uint32_t>(filter)), "nearest, linear or cubic", "");
  const char* name = filter == VK_FILTER_LINEAR ? "linear" : "cubic";
  if (filter == VK_FILTER_CUBIC_EXT && source.info().type != VK_IMAGE_TYPE_2D)
    return field_error(kCommand, "filter", name, "nearest or linear where the source is no 2d image", "");
  if (filter != VK_FILTER_NEAREST && class_of(a) != Class::real) {
    return field_error(kCommand, "filter", name, std::string("nearest for ") + a.name, "integers, depth and stencil are not interpolated");
  }
  return Ok{};
}

Status check_pair(const Side& from, const Side& to) {
  if (from.part.aspectMask != to.part.aspectMask)
    return region_error(kCommand, from.region, "dstSubresource.aspectMask", number(to.part.aspectMask),
                        number(from.part.aspectMask) + " as the source", "");
  const auto layers = [](const Side& side) { return side.is_3d() ? 1u : slabs_of(side).count; };
  const bool volume = from.is_3d() || to.is_3d();
  if (layers(from) == layers(to) && (!volume || layers(from) == 1)) return Ok{};
  return region_error(kCommand, from.region, "dstSubresource.layerCount", number(layers(to)),
                      volume ? "1 where an image is 3d" : number(layers(from)) + " as the source", "");
}

}  // namespace

bool blits_nothing(const VkImageBlit2& region) {
  const VkOffset3D &a = region.dstOffsets[0], &b = region.dstOffsets[1];
  return a.x == b.x || a.y == b.y || a.z == b.z;
}

Status check_blit_image(const Image& source, const Image& destination, std::span<const VkImageBlit2> regions, VkFilter filter) {
  if (Status ok = check_regions(kCommand, regions.size()); !ok) return ok;
  for (const Image* image : {&source, &destination})
    if (Status ok = check_has_memory(kCommand, *image); !ok) return ok;
  if (Status ok = check_formats(source, destination, filter); !ok) return ok;
  std::vector<VkImageBlit2> read(regions.begin(), regions.end());  // what is read of them, and written
  const auto from = [&](size_t i) { return side_of(i, "src", source, read[i].srcSubresource, read[i].srcOffsets); };
  const auto to = [&](size_t i) { return side_of(i, "dst", destination, read[i].dstSubresource, read[i].dstOffsets); };
  for (size_t i = 0; i < regions.size(); ++i) {
    if (Status ok = check_corners(from(i), regions[i].srcOffsets); !ok) return ok;
    if (Status ok = check_corners(to(i), regions[i].dstOffsets); !ok) return ok;
    if (Status ok = check_pair(from(i), to(i)); !ok) return ok;
  }
  std::erase_if(read, blits_nothing);
  for (VkImageBlit2& r : read) widen_source(source.extent(r.srcSubresource.mipLevel), r);
  return check_apart(source, destination, read.size(), from, to, "blit through another image");
}

void blit_image(const Image& source, const Image& destination, std::span<const VkImageBlit2> regions, VkFilter filter,
                const ShareRows& share) {
  for (const VkImageBlit2& region : regions) {
    const Blit blit = make_blit(source, destination, region, filter);
    const auto slabs = static_cast<uint32_t>(blit.slabs.size());
    for_each_aspect(region.srcSubresource.aspectMask, [&](VkImageAspectFlagBits aspect) {
      run_slabs(share, &destination, slabs, static_cast<uint32_t>(blit.lines.size()), [&](uint32_t slab, uint32_t y0, uint32_t y1) {
        assert(slab < slabs && y1 <= blit.lines.size());
        if (filter == VK_FILTER_CUBIC_EXT) {
          blit_rows_cubic(blit, aspect, slab, y0, y1);
        } else if (blit.linear) {
          blit_rows_linear(blit, aspect, slab, y0, y1);
        } else {
          blit_rows_nearest(blit, aspect, slab, y0, y1);
        }
      });
    });
    ImageBox box = {region.dstSubresource.aspectMask, region.dstSubresource.mipLevel, blit.first_slab, slabs, blit.x0, blit.y0};
    box.width_px = static_cast<uint32_t>(blit.columns.size()), box.height_px = static_cast<uint32_t>(blit.lines.size());
    mark_box_written(destination, box, Writer::transfer);
  }
}

}  // namespace tilegpu::transfer
