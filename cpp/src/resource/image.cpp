// resource/image.cpp -- images: checks at creation, layout in memory, binding; views and their checks.
//
// In: create infos. Out: Image with offsets of every level, layer and sample; ImageView with all defaults resolved.
// Source: Vulkan specification, "Resource Creation" (images, image views, image layouts of linear tiling).
#include <algorithm>
#include <bit>
#include <cassert>

#include "base/field_error.hpp"
#include "base/float_text.hpp"
#include "resource/image_layout.hpp"
#include "resource/memory_contents.hpp"
#include "resource/texel_blocks.hpp"
#include "resource/view_abi.hpp"
#include "tilegpu/pipeline.hpp"
#include "vk/ycbcr.hpp"

namespace tilegpu {
namespace {

constexpr uint32_t kMaxDepth_px = 2048;
constexpr uint32_t kMaxSamples = 16;
constexpr uint64_t kAlignment_B = 64;
constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;

uint32_t level_extent(uint32_t base_px, uint32_t level) { return std::max(1u, base_px >> level); }

std::string number(uint64_t value) { return std::to_string(value); }

struct UsageRule {
  VkImageUsageFlags usage;
  const char* name;
  bool allowed;
  const char* fix;
};

Status check_usage(const ImageCreateInfo& info, const vk::FormatInfo& format, const std::string& name) {
  const bool any = format.color_attachment || format.sampled || format.storage || format.is_depth_stencil();
  if (!any) {
    return field_error(name, "format", format.name, "a format for images",
                       "this one is for vertex buffers; use the one with four components", VK_ERROR_FORMAT_NOT_SUPPORTED);
  }
  // Views of another format may do what the image's own can't.
  const bool other_views = !format.is_compressed() || info.flags & VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT;
  const bool extended = info.flags & VK_IMAGE_CREATE_EXTENDED_USAGE_BIT && !format.is_depth_stencil() && other_views;
  const bool color = format.color_attachment || extended;
  const bool attachment = color || format.is_depth_stencil();
  const UsageRule rules[] = {
      {VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, "color_attachment", color, "take another format"},
      {VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, "depth_stencil_attachment", format.is_depth_stencil(),
       "take a depth or stencil format"},
      {VK_IMAGE_USAGE_SAMPLED_BIT, "sampled", format.sampled && info.tiling == ImageTiling::linear,
       "block-compressed images are attachments and copies only: copy to a linear image"},
      {VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT, "input_attachment", attachment, "take a format that can be an attachment"},
      {VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT, "transient_attachment", attachment && !format.is_compressed(),
       "take a format that can be an attachment"},
      {VK_IMAGE_USAGE_STORAGE_BIT, "storage", (format.storage || extended) && info.tiling == ImageTiling::linear,
       "take a colour format that is not sRGB, and linear tiling"},
      {VK_IMAGE_USAGE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR, "fragment_shading_rate_attachment",
       info.format == VK_FORMAT_R8_UINT && info.tiling == ImageTiling::linear, "take r8_uint, and linear tiling"},
  };
  for (const UsageRule& rule : rules) {
    if ((info.usage & rule.usage) && !rule.allowed) {
      return field_error(name, "usage", std::string(rule.name) + " with format " + format.name, "what the format can do", rule.fix,
                         VK_ERROR_FORMAT_NOT_SUPPORTED);
    }
  }
  constexpr VkImageUsageFlags kAttachmentUses = VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  if ((info.usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) && (info.usage & ~kAttachmentUses)) {
    return field_error(name, "usage", "transient_attachment with sampled, storage or transfer", "transient with attachment usages only",
                       "drop transient: a transient image has no memory before a pass stores it");
  }
  if ((info.usage & kAttachmentUses) == VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) {
    return field_error(name, "usage", "transient_attachment alone",
                       "transient_attachment with color_attachment, depth_stencil_attachment or input_attachment",
                       "say which attachment it is");
  }
  return Ok{};
}

/// What only some types can have.
Status check_dimensions(const ImageCreateInfo& info, const std::string& name) {
  const bool is_3d = info.type == VK_IMAGE_TYPE_3D;
  if (info.type != VK_IMAGE_TYPE_1D && info.type != VK_IMAGE_TYPE_2D && !is_3d)
    return field_error(name, "type", number(static_cast<uint32_t>(info.type)), "1d, 2d or 3d", "");
  if (info.type == VK_IMAGE_TYPE_1D && info.height_px != 1)
    return field_error(name, "height_px", number(info.height_px), "1 for a 1d image", "make it 2d, or one row high");
  if (info.depth_px == 0 || info.depth_px > (is_3d ? kMaxDepth_px : 1))
    return field_error(name, "depth_px", number(info.depth_px), is_3d ? "1 to 2048" : "1 for a 1d or 2d image",
                       "make it 3d, or an array of layers");
  if (is_3d && info.array_layers != 1)
    return field_error(name, "array_layers", number(info.array_layers), "1 for a 3d image", "its slices are depth_px");
  if (info.type != VK_IMAGE_TYPE_2D && info.samples != VK_SAMPLE_COUNT_1_BIT)
    return field_error(name, "samples", number(static_cast<uint32_t>(info.samples)), "1 for a 1d or 3d image",
                       "multisampled images are 2d");
  if (info.type != VK_IMAGE_TYPE_2D && info.tiling != ImageTiling::linear)
    return field_error(name, "tiling", "block_compressed", "linear for a 1d or 3d image", "block-compressed images are 2d");
  if ((info.flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) && info.type != VK_IMAGE_TYPE_2D)
    return field_error(name, "flags", "cube_compatible with a 1d or 3d image", "a 2d image", "make it 2d, with a layer for each face");
  constexpr VkImageCreateFlags kKnownFlags =
      VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT | VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT | VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT |
      VK_IMAGE_CREATE_ALIAS_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT | VK_IMAGE_CREATE_DISJOINT_BIT |
      VK_IMAGE_CREATE_SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_BIT_EXT | VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT;
  if (info.flags & ~kKnownFlags)
    return field_error(name, "flags", number(info.flags),
                       "cube_compatible, 2d_array_compatible, mutable_format, extended_usage, alias, disjoint, "
                       "block_texel_view_compatible and sample_locations_compatible_depth",
                       "drop the others", VK_ERROR_FEATURE_NOT_PRESENT);
  if ((info.flags & VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT) && !is_3d)
    return field_error(name, "flags", "2d_array_compatible with a 1d or 2d image", "a 3d image", "drop the flag: only slices need it");
  return Ok{};
}

/// What images of formats that need a sampler Y'CbCr conversion can't have.
Status check_ycbcr(const ImageCreateInfo& info, const vk::FormatInfo& format, const std::string& name) {
  if ((info.flags & VK_IMAGE_CREATE_DISJOINT_BIT) && !format.is_multi_planar())
    return field_error(name, "flags", std::string("disjoint with format ") + format.name, "disjoint with multi-planar formats",
                       "drop the flag: there is one plane", VK_ERROR_FORMAT_NOT_SUPPORTED);
  if (!format.needs_conversion()) return Ok{};
  const auto refuse = [&](const char* field, const std::string& value, const char* allowed, const char* fix) {
    return field_error(name, field, value, std::string(allowed) + " with format " + format.name, fix, VK_ERROR_FORMAT_NOT_SUPPORTED);
  };
  if (info.type != VK_IMAGE_TYPE_2D) return refuse("type", "1d or 3d", "2d", "make it 2d");
  if (info.mip_levels != 1) return refuse("mip_levels", number(info.mip_levels), "1", "draw smaller ones to images of another format");
  if (info.samples != VK_SAMPLE_COUNT_1_BIT) return refuse("samples", number(static_cast<uint32_t>(info.samples)), "1", "");
  if (info.tiling != ImageTiling::linear) return refuse("tiling", "block_compressed", "linear", "");
  if (info.flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) return refuse("flags", "cube_compatible", "no cube", "sample it as 2d or 2d_array");
  if (info.usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) return refuse("usage", "transient_attachment", "no transient_attachment", "");
  if (info.width_px >> format.chroma_x_log2 << format.chroma_x_log2 != info.width_px)
    return refuse("width_px", number(info.width_px), "an even number", "4:2:2 and 4:2:0 have chroma for two columns each");
  if (info.height_px >> format.chroma_y_log2 << format.chroma_y_log2 != info.height_px)
    return refuse("height_px", number(info.height_px), "an even number", "4:2:0 has chroma for two rows each");
  return Ok{};
}

Status check_shape(const ImageCreateInfo& info, const std::string& name) {
  if (info.width_px == 0 || info.width_px > kMaxImageSize_px || info.height_px == 0 || info.height_px > kMaxImageSize_px) {
    return field_error(name, "size", number(info.width_px) + "x" + number(info.height_px) + " px", "1 to 16384 px each way",
                       "give the image at least one pixel, or split it");
  }
  if (Status dimensions = check_dimensions(info, name); !dimensions) return dimensions;
  const auto level_limit = static_cast<uint32_t>(std::bit_width(std::max({info.width_px, info.height_px, info.depth_px})));
  if (info.mip_levels == 0 || info.mip_levels > level_limit) {
    return field_error(name, "mip_levels", number(info.mip_levels), "1 to " + number(level_limit) + " for this size",
                       "a full chain ends at 1x1");
  }
  if (info.array_layers == 0 || info.array_layers > resource::kMaxImageLayers) {
    return field_error(name, "array_layers", number(info.array_layers), "1 to " + number(resource::kMaxImageLayers), "");
  }
  const auto samples = static_cast<uint32_t>(info.samples);
  if (samples == 0 || samples > kMaxSamples || !std::has_single_bit(samples)) {
    return field_error(name, "samples", number(samples), "1, 2, 4, 8 or 16", "");
  }
  const vk::FormatInfo& format = *vk::find_format(info.format);
  if (Status planes = check_ycbcr(info, format, name); !planes) return planes;
  if (format.is_compressed() && (samples > 1 || info.tiling != ImageTiling::linear)) {
    return field_error(name, samples > 1 ? "samples" : "tiling", samples > 1 ? number(samples) : "block_compressed",
                       std::string(samples > 1 ? "1" : "linear") + " with format " + format.name, "compressed formats are for textures",
                       VK_ERROR_FORMAT_NOT_SUPPORTED);
  }
  if (samples > 1 && info.mip_levels > 1) {
    return field_error(name, "mip_levels", number(info.mip_levels), "1 with " + number(samples) + " samples",
                       "resolve to an image with levels");
  }
  if (info.flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) {
    if (info.width_px != info.height_px || info.array_layers < 6 || samples > 1) {
      return field_error(name, "flags",
                         "cube_compatible with " + number(info.width_px) + "x" + number(info.height_px) + " px, " +
                             number(info.array_layers) + " layers, " + number(samples) + " samples",
                         "a square with at least 6 layers and 1 sample", "make it square, with a layer for each face");
    }
  }
  return Ok{};
}

}  // namespace

namespace resource {

uint32_t plane_count(const vk::FormatInfo& format) { return format.format == VK_FORMAT_D32_SFLOAT_S8_UINT ? 2 : 1; }

uint32_t plane_texel_B(const vk::FormatInfo& format, uint32_t plane) {
  assert(plane < plane_count(format));
  if (format.format == VK_FORMAT_D32_SFLOAT_S8_UINT) return plane == 0 ? 4 : 1;
  return format.texel_B;
}

uint32_t plane_of(const vk::FormatInfo& format, VkImageAspectFlags aspect) {
  return plane_count(format) == 2 && !(aspect & VK_IMAGE_ASPECT_DEPTH_BIT) && (aspect & VK_IMAGE_ASPECT_STENCIL_BIT) ? 1 : 0;
}

const Image& part_of(const Image& image, VkImageAspectFlags& aspects) {
  const int plane = vk::plane_number(aspects);
  if (plane < 0 || static_cast<size_t>(plane) >= image.planes().size())
    return image;  // NOLINT(bugprone-return-const-ref-from-parameter): of the caller's image, or a plane that it keeps
  aspects = VK_IMAGE_ASPECT_COLOR_BIT;
  return *image.planes()[static_cast<size_t>(plane)];
}

VkImageAspectFlags format_aspects(const vk::FormatInfo& format) {
  VkImageAspectFlags aspects = 0;
  if (format.depth_bits) aspects |= VK_IMAGE_ASPECT_DEPTH_BIT;
  if (format.stencil_bits) aspects |= VK_IMAGE_ASPECT_STENCIL_BIT;
  if (!aspects) aspects = VK_IMAGE_ASPECT_COLOR_BIT;
  constexpr VkImageAspectFlags kPlanes[] = {0, VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_0_BIT | VK_IMAGE_ASPECT_PLANE_1_BIT,
                                            vk::kPlaneAspects};
  if (format.is_multi_planar()) aspects |= kPlanes[format.plane_count];
  return aspects;
}

SubresourceLayout level_layout(const ImageCreateInfo& info, uint32_t plane, uint32_t level) {
  const vk::FormatInfo& format = *vk::find_format(info.format);
  const uint32_t texel_B = plane_texel_B(format, plane);
  assert(texel_B > 0 && level < info.mip_levels);
  SubresourceLayout out;
  out.width_px = level_extent(info.width_px, level);
  out.height_px = level_extent(info.height_px, level);
  out.texel_B = texel_B;
  if (info.tiling == ImageTiling::linear) {
    out.row_pitch_B = (static_cast<uint64_t>(format.blocks_x(out.width_px)) * texel_B + kAlignment_B - 1) / kAlignment_B * kAlignment_B;
    out.sample_pitch_B = out.row_pitch_B * format.blocks_y(out.height_px);
  } else {
    out.superblocks_x = (out.width_px + kSuperblock_px - 1) / kSuperblock_px;
    out.superblocks_y = (out.height_px + kSuperblock_px - 1) / kSuperblock_px;
    out.header_B = texel_B > 8 ? 32 : 16;
    out.payload_slot_B = kSuperblock_px * kSuperblock_px * texel_B;
    const uint64_t count = static_cast<uint64_t>(out.superblocks_x) * out.superblocks_y;
    out.payload_offset_B = (count * out.header_B + kAlignment_B - 1) / kAlignment_B * kAlignment_B;
    out.row_pitch_B = static_cast<uint64_t>(out.superblocks_x) * out.payload_slot_B;
    out.sample_pitch_B = out.payload_offset_B + count * out.payload_slot_B;
  }
  out.size_B = out.sample_pitch_B * static_cast<uint32_t>(info.samples);
  return out;
}

}  // namespace resource

Expected<Ptr<Image>> Image::create(const ImageCreateInfo& info) {
  const std::string name = object_name("image", info.label);
  const vk::FormatInfo* format = vk::find_format(info.format);
  if (!format) {
    return field_error(name, "format", number(static_cast<uint32_t>(info.format)), "a format that this device knows",
                       "r8g8b8a8_unorm and d32_sfloat always work", VK_ERROR_FORMAT_NOT_SUPPORTED);
  }
  if (Status shape = check_shape(info, name); !shape) return shape.error();
  if (Status usage = check_usage(info, *format, name); !usage) return usage.error();
  auto image = std::make_shared<Image>();
  image->info_ = info;
  image->contents_ = std::make_shared<resource::MemoryContents>();
  if (format->is_multi_planar()) {
    if (Status made = image->make_planes(*format); !made) return made.error();
    return image;
  }
  uint64_t end_B = 0;
  for (uint32_t plane = 0; plane < resource::plane_count(*format); ++plane) {
    for (uint32_t level = 0; level < info.mip_levels; ++level) {
      image->plane_offsets_B_.push_back(end_B);
      // At most 2^14 * 2^14 * 2^4 B * 2^4 samples * 2^11 layers = 2^47: no overflow in 64 bits.
      const uint64_t layer_B = resource::level_layout(info, plane, level).size_B;
      end_B += layer_B * image->layer_count(level);
      end_B = (end_B + kAlignment_B - 1) / kAlignment_B * kAlignment_B;
    }
  }
  // Samplers reach the levels of a view from its first one, by signed 32-bit numbers of texels; that of a lower row is up to 65536 too
  // high before their base takes it back (load_rows).
  constexpr uint64_t kLevelsLimit_B = (1ull << 33) - (1u << 18);
  if (info.mip_levels > 1 && (info.usage & VK_IMAGE_USAGE_SAMPLED_BIT) && end_B > kLevelsLimit_B) {
    return field_error(name, "size, layers and mip_levels", number(end_B) + " B",
                       "at most " + number(kLevelsLimit_B) + " B with mip levels", "use fewer layers, or one level");
  }
  image->required_B_ = end_B;
  if (info.flags & VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT)
    if (Status made = image->make_texel_blocks(*format); !made) return made.error();
  return image;
}

/// One behind the other, where they share memory.
Status Image::make_planes(const vk::FormatInfo& format) {
  for (uint32_t k = 0; k < format.plane_count; ++k) {
    ImageCreateInfo part = info_;
    part.format = format.planes[k].format;
    part.width_px >>= format.planes[k].x_log2, part.height_px >>= format.planes[k].y_log2;
    part.flags = info_.flags & (VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT);  // of views of the plane
    part.label = (info_.label.empty() ? std::string(format.name) : info_.label) + " (plane " + number(k) + ")";
    Expected<Ptr<Image>> plane = Image::create(part);
    if (!plane) return plane.error();
    plane_offsets_B_.push_back(required_B_);
    required_B_ += (*plane)->required_B();
    planes_.push_back(std::move(*plane));
  }
  return Ok{};
}

/// Once all have memory, the image has that of its first.
void Image::take_planes_memory() {
  for (const Ptr<Image>& plane : planes_)
    if (!plane->data()) return;
  const Image& first = *planes_.front();
  memory_ = first.memory_, memory_offset_B_ = first.memory_offset_B_, data_ = first.data_, contents_ = first.contents_;
}

Status Image::bind_plane(uint32_t plane, Ptr<DeviceMemory> memory, uint64_t offset_B) {
  const std::string name = object_name("image", info_.label);
  if (!is_disjoint() || plane >= planes_.size())
    return field_error(name, "plane", number(plane),
                       is_disjoint() ? "0 to " + number(planes_.size() - 1) : "none: the image is not disjoint",
                       "bind memory to the whole image, or create it with disjoint");
  if (Status bound = planes_[plane]->bind(std::move(memory), offset_B); !bound) return bound;
  take_planes_memory();
  return Ok{};
}

Status Image::bind(Ptr<DeviceMemory> memory, uint64_t offset_B) {
  const std::string name = object_name("image", info_.label);
  if (is_disjoint()) return Error{VK_ERROR_VALIDATION_FAILED_EXT, name + ": it is disjoint; bind memory to each of its planes"};
  if (data_) return Error{VK_ERROR_VALIDATION_FAILED_EXT, name + ": memory is bound already; create another image to alias memory"};
  if (!memory) return field_error(name, "memory", "null", "device memory", "allocate required_B bytes and bind them");
  if (offset_B % kAlignment_B) return field_error(name, "offset_B", number(offset_B), "a multiple of 64", "round the offset up");
  if (offset_B > memory->size_B() || required_B_ > memory->size_B() - offset_B) {
    return field_error(name, "offset_B + required_B", number(offset_B) + " + " + number(required_B_),
                       "at most the memory's " + number(memory->size_B()), "allocate more memory");
  }
  if (!planes_.empty()) {
    for (size_t k = 0; k < planes_.size(); ++k)
      if (Status bound = planes_[k]->bind(memory, offset_B + plane_offsets_B_[k]); !bound) return bound;
    take_planes_memory();
    return Ok{};
  }
  for (size_t level = 0; level < texel_blocks_.size(); ++level)
    if (Status bound = texel_blocks_[level]->bind(memory, offset_B + plane_offsets_B_[level]); !bound) return bound;
  memory->contents_->adopt(*contents_, offset_B);
  contents_ = memory->contents_;
  memory_offset_B_ = offset_B;
  data_ = memory->data_ + offset_B;
  memory_ = std::move(memory);
  return Ok{};
}

Status Image::ensure_memory() {
  if (data_) return Ok{};
  if (is_disjoint()) {
    for (const Ptr<Image>& plane : planes_)
      if (Status there = plane->ensure_memory(); !there) return there;
    take_planes_memory();
    return Ok{};
  }
  Expected<Ptr<DeviceMemory>> memory = DeviceMemory::allocate(required_B_);
  if (!memory) return Error{memory.error().code, object_name("image", info_.label) + ": " + memory.error().message};
  return bind(*memory, 0);
}

/// The first reason of the planes that the aspect means; `why` is told how much smaller each is than what is asked for.
template <class Why>
std::string Image::why_planes_undefined(VkImageAspectFlags aspect, Why why) const {
  const Image& part = resource::part_of(*this, aspect);
  if (&part != this) return why(part, vk::Plane{});
  const vk::FormatInfo& format = *vk::find_format(info_.format);
  for (size_t k = 0; k < planes_.size(); ++k)
    if (std::string found = why(*planes_[k], format.planes[k]); !found.empty()) return found;
  return {};
}

std::string Image::why_undefined(VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer) const {
  if (!planes_.empty())
    return why_planes_undefined(aspect, [&](const Image& plane, const vk::Plane&) { return plane.why_undefined(kColor, level, layer); });
  return contents_->why_undefined(resource::range_of(*this, aspect, level, layer, 1), resource::fields_of(*this, aspect));
}

std::string Image::why_undefined(VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer, const VkRect2D& rect) const {
  if (!planes_.empty())
    return why_planes_undefined(aspect, [&](const Image& plane, const vk::Plane& smaller) {
      const auto cut = [](int32_t begin_px, uint32_t size_px, uint32_t log2) {
        const uint32_t begin = static_cast<uint32_t>(begin_px) >> log2, end = (static_cast<uint32_t>(begin_px) + size_px - 1) >> log2;
        return std::pair(static_cast<int32_t>(begin), end - begin + 1);
      };
      const auto [x, width] = cut(rect.offset.x, rect.extent.width, smaller.x_log2);
      const auto [y, height] = cut(rect.offset.y, rect.extent.height, smaller.y_log2);
      return plane.why_undefined(kColor, level, layer, {{x, y}, {width, height}});
    });
  assert(rect.offset.x >= 0 && rect.offset.y >= 0);
  return resource::why_undefined(*this, {static_cast<VkImageAspectFlags>(aspect), level, layer, 1, static_cast<uint32_t>(rect.offset.x),
                                         static_cast<uint32_t>(rect.offset.y), rect.extent.width, rect.extent.height});
}

VkExtent3D Image::extent(uint32_t level) const {
  assert(level < info_.mip_levels);
  return {level_extent(info_.width_px, level), level_extent(info_.height_px, level), level_extent(info_.depth_px, level)};
}

uint32_t Image::layer_count(uint32_t level) const {
  return info_.type == VK_IMAGE_TYPE_3D ? level_extent(info_.depth_px, level) : info_.array_layers;
}

SubresourceLayout Image::layout(VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer) const {
  assert(level < info_.mip_levels && layer < layer_count(level));
  if (!planes_.empty()) {
    const int plane = vk::plane_number(aspect);
    assert(plane >= 0 && static_cast<size_t>(plane) < planes_.size());
    const auto k = static_cast<size_t>(plane);
    SubresourceLayout of_plane = planes_[k]->layout(kColor, level, layer);
    if (!is_disjoint()) of_plane.offset_B += plane_offsets_B_[k];
    return of_plane;
  }
  const vk::FormatInfo& format = *vk::find_format(info_.format);
  const uint32_t plane = resource::plane_of(format, aspect);
  SubresourceLayout out = resource::level_layout(info_, plane, level);
  out.offset_B = plane_offsets_B_[plane * info_.mip_levels + level] + out.size_B * layer;
  assert(out.offset_B + out.size_B <= required_B_);
  return out;
}

namespace {

bool views_layers(VkImageViewType type, uint32_t layers) {
  switch (type) {
    case VK_IMAGE_VIEW_TYPE_1D:
    case VK_IMAGE_VIEW_TYPE_2D:
    case VK_IMAGE_VIEW_TYPE_3D:
      return layers == 1;
    case VK_IMAGE_VIEW_TYPE_1D_ARRAY:
    case VK_IMAGE_VIEW_TYPE_2D_ARRAY:
      return layers >= 1;
    case VK_IMAGE_VIEW_TYPE_CUBE:
      return layers == 6;
    case VK_IMAGE_VIEW_TYPE_CUBE_ARRAY:
      return layers >= 6 && layers % 6 == 0;
    default:
      return false;
  }
}

/// Which views a type of image has.
Status check_view_type(const ImageViewCreateInfo& view, const ImageCreateInfo& image, const std::string& name) {
  const VkImageViewType type = view.type;
  const auto refuse = [&](const char* allowed, const char* fix) {
    return field_error(name, "type", resource::view_type_name(type), allowed, fix);
  };
  const bool line = type == VK_IMAGE_VIEW_TYPE_1D || type == VK_IMAGE_VIEW_TYPE_1D_ARRAY, volume = type == VK_IMAGE_VIEW_TYPE_3D;
  if (type < VK_IMAGE_VIEW_TYPE_1D || type > VK_IMAGE_VIEW_TYPE_CUBE_ARRAY) return refuse("1d, 2d, 3d, cube, or an array of them", "");
  if (image.type == VK_IMAGE_TYPE_1D && !line) return refuse("1d or 1d_array for a 1d image", "create a 2d image of one row");
  if (image.type == VK_IMAGE_TYPE_2D && (line || volume))
    return refuse("2d, 2d_array, cube or cube_array for a 2d image", "create the image with that type");
  if (image.type != VK_IMAGE_TYPE_3D || volume) return Ok{};
  if (type != VK_IMAGE_VIEW_TYPE_2D && type != VK_IMAGE_VIEW_TYPE_2D_ARRAY)
    return refuse("3d, or slices as 2d or 2d_array, for a 3d image", "choose one of these");
  if (!(image.flags & VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT))
    return refuse("3d for a 3d image without 2d_array_compatible", "create the image with 2d_array_compatible to view its slices");
  if (view.level_count != 1)
    return field_error(name, "level_count", number(view.level_count), "1 where slices of a 3d image are viewed",
                       "make a view of each level");
  return Ok{};
}

/// A part of a volume's slices (VK_EXT_image_sliced_view_of_3d).
Status check_slices(const ImageViewCreateInfo& view, const std::string& name) {
  const bool all = view.slice_count == VK_REMAINING_ARRAY_LAYERS;
  if (all && view.first_slice == 0) return Ok{};
  if (view.type != VK_IMAGE_VIEW_TYPE_3D)
    return field_error(name, "slice_count", number(view.slice_count), "all slices where the view is not 3d",
                       "view them as 2d_array by base_layer and layer_count");
  if (view.level_count != 1)
    return field_error(name, "level_count", number(view.level_count), "1 where some slices of a 3d image are viewed",
                       "make a view of each level");
  const uint32_t there = view.image->layer_count(view.base_level);
  if (view.first_slice >= there) return field_error(name, "first_slice", number(view.first_slice), "0 to " + number(there - 1), "");
  if (all || (view.slice_count > 0 && view.slice_count <= there - view.first_slice)) return Ok{};
  return field_error(name, "slice_count", number(view.slice_count), "1 to " + number(there - view.first_slice), "");
}

bool valid_swizzle(VkComponentSwizzle swizzle) { return swizzle >= VK_COMPONENT_SWIZZLE_IDENTITY && swizzle <= VK_COMPONENT_SWIZZLE_A; }

/// With a sampler Y'CbCr conversion, or where there must be one.
Status check_view_conversion(const ImageViewCreateInfo& view, const vk::FormatInfo& format, const std::string& name) {
  if (format.needs_conversion()) {
    if (view.type != VK_IMAGE_VIEW_TYPE_2D && view.type != VK_IMAGE_VIEW_TYPE_2D_ARRAY)
      return field_error(name, "type", resource::view_type_name(view.type), std::string("2d or 2d_array with format ") + format.name, "");
    if (!view.ycbcr)
      return field_error(name, "ycbcr", "null", std::string("a sampler Y'CbCr conversion with format ") + format.name,
                         format.is_multi_planar() ? "give one, or view a plane alone by aspect plane_0, plane_1 or plane_2" : "give one");
  }
  if (!view.ycbcr) return Ok{};
  if (view.ycbcr->info().format != format.format)
    return field_error(name, "ycbcr", std::string("a conversion of ") + vk::find_format(view.ycbcr->info().format)->name,
                       std::string("one of ") + format.name, "make it for the view's format");
  const VkComponentMapping& s = view.swizzle;
  const VkComponentSwizzle of[4] = {s.r, s.g, s.b, s.a};
  for (int k = 0; k < 4; k++)
    if (of[k] != VK_COMPONENT_SWIZZLE_IDENTITY && of[k] != VK_COMPONENT_SWIZZLE_R + k)
      return field_error(name, "swizzle", "another than identity", "identity where there is a sampler Y'CbCr conversion",
                         "give the conversion components in its place");
  return Ok{};
}

}  // namespace

Expected<Ptr<ImageView>> ImageView::create(const ImageViewCreateInfo& info) {
  if (!info.image) return field_error("image view", "image", "null", "an image", "give the view its image");
  if (VkImageAspectFlags aspects = info.aspects; &resource::part_of(*info.image, aspects) != info.image.get()) {
    if (!(info.image->info().flags & VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT))
      return field_error("view of " + object_name("image", info.image->info().label), "aspects", "a plane's",
                         "color without mutable_format", "create the image with mutable_format");
    ImageViewCreateInfo of_plane = info;
    of_plane.image = info.image->planes()[static_cast<size_t>(vk::plane_number(info.aspects))];
    of_plane.aspects = aspects;
    return create(of_plane);
  }
  if (resource::views_texel_blocks(info)) {
    Expected<ImageViewCreateInfo> of_blocks = resource::of_texel_blocks(info);
    if (!of_blocks) return of_blocks.error();
    return create(*of_blocks);
  }
  const ImageCreateInfo& image = info.image->info();
  const std::string name = "view of " + object_name("image", image.label);
  auto view = std::make_shared<ImageView>();
  view->info_ = info;
  ImageViewCreateInfo& out = view->info_;
  if (out.format == VK_FORMAT_UNDEFINED) out.format = image.format;
  const vk::FormatInfo* format = vk::find_format(out.format);
  const vk::FormatInfo& image_format = *vk::find_format(image.format);
  const bool same_class = format && !format->is_depth_stencil() && !image_format.is_depth_stencil() &&
                          format->texel_B == image_format.texel_B && (format->color_attachment || format->sampled) &&
                          !format->needs_conversion() && !image_format.needs_conversion() &&
                          format->compression == image_format.compression && format->block_width_px == image_format.block_width_px &&
                          format->block_height_px == image_format.block_height_px;
  if (!format || (out.format != image.format && !same_class)) {
    return field_error(name, "format", format ? format->name : number(static_cast<uint32_t>(out.format)),
                       std::string(image_format.name) + (image_format.is_compressed() ? resource::views_beside(*info.image)
                                                         : image_format.needs_conversion()
                                                             ? std::string(" alone")
                                                             : ", or for colour any format of " + number(image_format.texel_B) + " bytes"),
                       "use the image's format", VK_ERROR_FORMAT_NOT_SUPPORTED);
  }
  const VkImageAspectFlags all = resource::format_aspects(*format) & ~vk::kPlaneAspects;
  if (out.aspects == 0) out.aspects = all;
  if (out.aspects & ~all)
    return field_error(name, "aspects", number(out.aspects), "within " + number(all) + " for " + format->name, "leave it 0 for all");
  if (out.base_level >= image.mip_levels) {
    return field_error(name, "base_level", number(out.base_level), "0 to " + number(image.mip_levels - 1), "");
  }
  if (out.level_count == VK_REMAINING_MIP_LEVELS) out.level_count = image.mip_levels - out.base_level;
  if (out.level_count == 0 || out.level_count > image.mip_levels - out.base_level) {
    return field_error(name, "level_count", number(out.level_count), "1 to " + number(image.mip_levels - out.base_level), "");
  }
  if (Status type = check_view_type(out, image, name); !type) return type.error();
  const bool slices = image.type == VK_IMAGE_TYPE_3D && out.type != VK_IMAGE_VIEW_TYPE_3D;
  const uint32_t layers = slices ? info.image->layer_count(out.base_level) : image.array_layers;
  if (out.base_layer >= layers) {
    return field_error(name, "base_layer", number(out.base_layer), "0 to " + number(layers - 1), "");
  }
  if (out.layer_count == VK_REMAINING_ARRAY_LAYERS) out.layer_count = layers - out.base_layer;
  if (out.layer_count == 0 || out.layer_count > layers - out.base_layer) {
    return field_error(name, "layer_count", number(out.layer_count), "1 to " + number(layers - out.base_layer), "");
  }
  if (!views_layers(out.type, out.layer_count)) {
    return field_error(name, "type", std::string(resource::view_type_name(out.type)) + " with " + number(out.layer_count) + " layers",
                       "1d, 2d or 3d (1 layer), 1d_array, 2d_array, cube (6 layers) or cube_array (a multiple of 6)",
                       "choose the type or the layers to match");
  }
  const bool cube = out.type == VK_IMAGE_VIEW_TYPE_CUBE || out.type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
  if (cube && !(image.flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT)) {
    return field_error(name, "type", "cube", "2d or 2d_array", "create the image with cube_compatible");
  }
  for (VkComponentSwizzle swizzle : {out.swizzle.r, out.swizzle.g, out.swizzle.b, out.swizzle.a}) {
    if (!valid_swizzle(swizzle))
      return field_error(name, "swizzle", number(static_cast<uint32_t>(swizzle)), "identity, zero, one, r, g, b or a", "");
  }
  const uint32_t last_level = out.base_level + out.level_count - 1;
  if (!(out.min_lod <= static_cast<float>(last_level)))
    return field_error(name, "min_lod", float_text(out.min_lod), "at most " + number(last_level) + ", the view's last level in its image",
                       "a view's least level of detail counts from the image's first level");
  if (Status conversion = check_view_conversion(out, *format, name); !conversion) return conversion.error();
  if (Status slices_fit = check_slices(out, name); !slices_fit) return slices_fit.error();
  return view;
}

}  // namespace tilegpu
