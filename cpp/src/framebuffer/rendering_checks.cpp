// framebuffer/rendering_checks.cpp -- every rule that Vulkan has for attachments of dynamic rendering, as errors with a fix.
//
// In: RenderingInfo. Out: the layout's sizes, formats and samples, or the first error. Source: Vulkan specification,
// valid usage of VkRenderingInfo and VkRenderingAttachmentInfo.
#include "framebuffer/rendering_checks.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "base/field_error.hpp"
#include "framebuffer/feedback.hpp"
#include "resource/image_layout.hpp"
#include "vk/format.hpp"

namespace tilegpu::framebuffer {
namespace {

std::string number(int64_t value) { return std::to_string(value); }

struct Extent {
  uint32_t width_px, height_px;
};

Extent view_extent(const ImageView& view) {
  const ImageCreateInfo& image = view.image()->info();
  const uint32_t level = view.info().base_level;
  return {std::max(1u, image.width_px >> level), std::max(1u, image.height_px >> level)};
}

/// A view in use, for the check that no bytes are bound twice.
struct Use {
  TargetBytes bytes;
  std::string name;
};

struct Checker {
  const RenderingInfo& info;
  Layout& layout;
  std::string pass;
  std::vector<Use> uses;
  uint32_t samples = 0;  // of the attachments; 0: none seen yet
  std::string samples_from;

  Status use(const ImageView& view, VkImageAspectFlagBits aspect, const std::string& name) {
    const Use added = {target_bytes(view, aspect, info.layer_count), name};
    for (Use& other : uses) {
      // Transient images get memory while their uses are checked, and what was known of none is let go of: another's may lie there now.
      other.bytes.memory = &other.bytes.view->image()->contents();
      if (overlap(added.bytes, other.bytes)) {
        return Error{VK_ERROR_VALIDATION_FAILED_EXT, pass + ": " + name + " and " + other.name + " are the same part of " +
                                                         object_name("image", view.image()->info().label) + "; bind each subresource once"};
      }
    }
    uses.push_back(added);
    return Ok{};
  }

  Status check_view(const ImageView& view, VkImageAspectFlags aspect, const std::string& name, bool input_only = false) {
    const vk::FormatInfo& format = *vk::find_format(view.info().format);
    const ImageCreateInfo& image = view.image()->info();
    // Of depth and stencil Vulkan ignores a view's aspects (VkImageViewCreateInfo): an attachment has those that it is bound as.
    const bool has = aspect == VK_IMAGE_ASPECT_DEPTH_BIT     ? format.depth_bits != 0
                     : aspect == VK_IMAGE_ASPECT_STENCIL_BIT ? format.stencil_bits != 0
                                                             : (view.info().aspects & aspect) != 0;
    if (!has) {
      return field_error(pass, name + ".view", std::string(format.name) + " without that aspect",
                         aspect == VK_IMAGE_ASPECT_COLOR_BIT   ? "a colour view"
                         : aspect == VK_IMAGE_ASPECT_DEPTH_BIT ? "a view with depth"
                                                               : "a view with stencil",
                         "choose another format or view");
    }
    if (aspect == VK_IMAGE_ASPECT_COLOR_BIT && !format.color_attachment) {
      return field_error(pass, name + ".format", format.name, "a format that can be rendered to",
                         "use r8g8b8a8_unorm or r16g16b16a16_sfloat, for example", VK_ERROR_FORMAT_NOT_SUPPORTED);
    }
    const VkImageUsageFlags needed =
        aspect == VK_IMAGE_ASPECT_COLOR_BIT ? VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT : VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    const bool as_input = input_only && image.usage & VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
    if (image.usage && !(image.usage & needed) && !as_input) {
      const std::string usage = aspect == VK_IMAGE_ASPECT_COLOR_BIT ? "color_attachment" : "depth_stencil_attachment";
      return field_error(pass, name + ": usage of " + object_name("image", image.label), "one without " + usage, "one with " + usage,
                         "create the image with that usage");
    }
    if (view.info().type == VK_IMAGE_VIEW_TYPE_3D) {
      return field_error(pass, name + ".view.type", "3d", "1d or 2d, or an array of them", "make a view of the slices to render to");
    }
    if (view.info().level_count != 1) {
      return field_error(pass, name + ".view.level_count", number(view.info().level_count), "1",
                         "make a view of the one level to render to");
    }
    if (view.info().layer_count < info.layer_count) {
      return field_error(pass, name + ".view.layer_count", number(view.info().layer_count),
                         "at least the pass's layer_count, " + number(info.layer_count), "render fewer layers or view more");
    }
    return Ok{};
  }

  Status check_memory(const ImageView& view, bool reads_or_writes, const std::string& name) {
    if (!reads_or_writes || view.image()->data()) return Ok{};
    if (view.image()->info().usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) return view.image()->ensure_memory();
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, pass + ": " + name + ": " + object_name("image", view.image()->info().label) +
                                                     " has no memory; bind memory, or make it transient and neither load nor store it"};
  }

  Status check_samples(const ImageView& view, const std::string& name) {
    const uint32_t count = view.image()->sample_count();
    if (info.single_sampled_samples) {
      if (count == 1 || count == info.single_sampled_samples) return Ok{};
      return field_error(pass, name + ".samples", number(count),
                         "1, or as many, because single_sampled_samples is " + number(info.single_sampled_samples),
                         "use a single-sampled image, or 0 for single_sampled_samples");
    }
    if (samples == 0) {
      samples = count;
      samples_from = name;
    } else if (samples != count) {
      return field_error(pass, name + ".samples", number(count), number(samples) + " as " + samples_from + " has",
                         "give all attachments the same sample count");
    }
    return Ok{};
  }

  Status check_ops(const RenderingAttachment& a, const std::string& name) {
    const bool load_known = a.load_op == VK_ATTACHMENT_LOAD_OP_LOAD || a.load_op == VK_ATTACHMENT_LOAD_OP_CLEAR ||
                            a.load_op == VK_ATTACHMENT_LOAD_OP_DONT_CARE || a.load_op == VK_ATTACHMENT_LOAD_OP_NONE_EXT;
    if (!load_known) return field_error(pass, name + ".load_op", number(a.load_op), "load, clear, dont_care or none", "");
    const bool store_known = a.store_op == VK_ATTACHMENT_STORE_OP_STORE || a.store_op == VK_ATTACHMENT_STORE_OP_DONT_CARE ||
                             a.store_op == VK_ATTACHMENT_STORE_OP_NONE;
    if (!store_known) return field_error(pass, name + ".store_op", number(a.store_op), "store, dont_care or none", "");
    return Ok{};
  }

  /// A format for what is resolved: of depth and stencil one will do that has this aspect, and no other bits of either than the source
  /// (VUID-VkSubpassDescriptionDepthStencilResolve-pDepthStencilResolveAttachment-03181 and -03182).
  static bool is_alike(const vk::FormatInfo& target, const vk::FormatInfo& source, VkImageAspectFlagBits aspect) {
    if (aspect == VK_IMAGE_ASPECT_COLOR_BIT) return target.format == source.format;
    const bool depth = !target.depth_bits || (target.depth_bits == source.depth_bits && target.numeric == source.numeric);
    const bool stencil = !target.stencil_bits || target.stencil_bits == source.stencil_bits;
    return depth && stencil && (aspect == VK_IMAGE_ASPECT_DEPTH_BIT ? target.depth_bits : target.stencil_bits);
  }

  Status check_resolve(const RenderingAttachment& a, VkImageAspectFlagBits aspect, const std::string& name) {
    if (a.resolve_mode == VK_RESOLVE_MODE_NONE) return Ok{};
    const bool known = a.resolve_mode == VK_RESOLVE_MODE_AVERAGE_BIT || a.resolve_mode == VK_RESOLVE_MODE_SAMPLE_ZERO_BIT ||
                       a.resolve_mode == VK_RESOLVE_MODE_MIN_BIT || a.resolve_mode == VK_RESOLVE_MODE_MAX_BIT;
    if (!known) return field_error(pass, name + ".resolve_mode", number(a.resolve_mode), "none, average, sample_zero, min or max", "");
    const bool as_stored = !a.resolve_view && info.single_sampled_samples > 1 && a.view->image()->sample_count() == 1;
    if (!a.resolve_view && !as_stored)
      return field_error(pass, name + ".resolve_view", "null", "a view, because resolve_mode is set", "give the image to resolve to");
    const uint32_t count = info.single_sampled_samples ? info.single_sampled_samples : a.view->image()->sample_count();
    if (count == 1)
      return field_error(pass, name + ".samples", "1", "2, 4, 8 or 16 where resolve_view is set",
                         "drop the resolve, or use a multisampled image");
    const vk::FormatInfo& format = *vk::find_format(a.view->info().format);
    const bool integer = aspect == VK_IMAGE_ASPECT_STENCIL_BIT || (aspect == VK_IMAGE_ASPECT_COLOR_BIT && format.is_integer());
    if (integer && a.resolve_mode == VK_RESOLVE_MODE_AVERAGE_BIT) {
      return field_error(pass, name + ".resolve_mode", "average", "sample_zero, min or max for integers", "integers have no average");
    }
    if (as_stored) return Ok{};
    const std::string resolve_name = name + ".resolve_view";
    if (Status view = check_view(*a.resolve_view, aspect, resolve_name); !view) return view.error();
    if (a.resolve_view->image()->sample_count() != 1) {
      return field_error(pass, resolve_name + ".samples", number(a.resolve_view->image()->sample_count()), "1",
                         "resolve to a single-sampled image");
    }
    if (!is_alike(*vk::find_format(a.resolve_view->info().format), format, aspect)) {
      return field_error(pass, resolve_name + ".format", vk::find_format(a.resolve_view->info().format)->name,
                         std::string(format.name) + " as the attachment",
                         aspect == VK_IMAGE_ASPECT_COLOR_BIT ? "give both views the same format"
                                                             : "give both views the same format, or one with the same bits of this aspect");
    }
    if (Status memory = check_memory(*a.resolve_view, true, resolve_name); !memory) return memory.error();
    return use(*a.resolve_view, aspect, resolve_name);
  }

  /// Of a target's samples; for what is reduced, and what is not.
  Status check_reduction(VkResolveModeFlagBits mode, VkImageAspectFlags aspect, VkFormat format, const std::string& name) {
    const bool integer = aspect == VK_IMAGE_ASPECT_STENCIL_BIT || vk::find_format(format)->is_integer();
    const bool known = mode == VK_RESOLVE_MODE_SAMPLE_ZERO_BIT || mode == VK_RESOLVE_MODE_MIN_BIT || mode == VK_RESOLVE_MODE_MAX_BIT ||
                       (mode == VK_RESOLVE_MODE_AVERAGE_BIT && !integer);
    if (known) return Ok{};
    return field_error(pass, name, mode == VK_RESOLVE_MODE_AVERAGE_BIT ? "average" : number(mode),
                       integer ? "sample_zero, min or max of integers" : "average, sample_zero, min or max of several samples", "");
  }

  /// The image of one piece: a view like the attachment's.
  Status check_piece_view(const ImageView& view, const RenderingAttachment& a, VkImageAspectFlagBits aspect, const std::string& name) {
    if (Status ok = check_view(view, aspect, name); !ok) return ok;
    if (view.info().format != a.view->info().format)
      return field_error(pass, name + ".format", vk::find_format(view.info().format)->name,
                         std::string(vk::find_format(a.view->info().format)->name) + " as the attachment",
                         "pieces don't convert; a resolve does");
    shrink_extent(view);
    return check_memory(view, true, name);
  }

  /// What a resolve reads: a target that is there, of values that can be converted.
  Status check_source(TileSource source, const RenderingAttachment& a, VkImageAspectFlagBits aspect, const std::string& name) {
    const AttachmentPieces& own = *a.pieces;
    if (source > TileSource::stencil) return field_error(pass, name, number(static_cast<int>(source)), "none, image or an attachment", "");
    if (source == TileSource::none) return Ok{};
    const uint32_t count = a.view->image()->sample_count();
    if (source == TileSource::image) {
      if (!own.resolve_view) return field_error(pass, name + ".view", "null", "a view, because the source is an image", "");
      return own.resolve_view->image()->sample_count() == 1
                 ? Status(Ok{})
                 : check_reduction(own.resolve_mode, aspect, own.resolve_view->info().format, name + ".mode");
    }
    const auto index = static_cast<uint32_t>(source) - static_cast<uint32_t>(TileSource::color0);
    const RenderingAttachment* from = source == TileSource::depth     ? &info.depth
                                      : source == TileSource::stencil ? &info.stencil
                                      : index < info.color.size()     ? &info.color[index]
                                                                      : nullptr;
    const std::string who = target_name(index);
    if (!from || !from->view) return field_error(pass, name + ".source", who, "an attachment of this pass", "");
    const auto kind = [&](TileSource of, VkFormat format) -> std::string {
      if (of == TileSource::stencil) return "unsigned integers";
      if (of == TileSource::depth) return "floats";
      const vk::FormatInfo& f = *vk::find_format(format);
      return !f.is_integer() ? "floats" : f.numeric == vk::Numeric::sint ? "signed integers" : "unsigned integers";
    };
    const TileSource to = aspect == VK_IMAGE_ASPECT_DEPTH_BIT     ? TileSource::depth
                          : aspect == VK_IMAGE_ASPECT_STENCIL_BIT ? TileSource::stencil
                                                                  : TileSource::color0;
    const std::string read = kind(source, from->view->info().format), written = kind(to, a.view->info().format);
    if (read != written)
      return field_error(pass, name + ".source", who + ", which holds " + read, "a target of " + written + " as this one", "");
    if (count == 1) return Ok{};
    return check_reduction(own.resolve_mode,
                           source == TileSource::depth     ? VK_IMAGE_ASPECT_DEPTH_BIT
                           : source == TileSource::stencil ? VK_IMAGE_ASPECT_STENCIL_BIT
                                                           : VK_IMAGE_ASPECT_COLOR_BIT,
                           from->view->info().format, name + ".mode");
  }

  Status check_pieces(const RenderingAttachment& a, VkImageAspectFlagBits aspect, const std::string& name) {
    const AttachmentPieces& own = *a.pieces;
    const uint32_t count = a.view->image()->sample_count();
    if (info.single_sampled_samples)
      return field_error(pass, "single_sampled_samples", number(info.single_sampled_samples), "0 beside pieces of one's own",
                         "give the attachment the samples, and store it reduced");
    const std::string load = name + ".load", store = name + ".store", resolve = name + ".resolve";
    const bool loads = own.load == TileLoad::image || own.load_border == TileLoad::image;
    if (loads != !!own.load_view)
      return field_error(pass, load + ".view", loads ? "null" : "given",
                         loads ? "a view, because an image is loaded" : "none where no image is loaded", "");
    if (own.load_view) {
      if (Status ok = check_piece_view(*own.load_view, a, aspect, load); !ok) return ok;
      const uint32_t from = own.load_view->image()->sample_count();
      if (from != count && from != 1)
        return field_error(pass, load + ".samples", number(from), "1, or " + number(count) + " as the attachment", "");
    }
    if (own.store_view) {
      if (Status ok = check_piece_view(*own.store_view, a, aspect, store); !ok) return ok;
      if (own.store_view != a.view)
        if (Status once = use(*own.store_view, aspect, store); !once) return once;
      const uint32_t to = own.store_view->image()->sample_count();
      const bool reduced = own.store_mode != VK_RESOLVE_MODE_NONE;
      if (to != (reduced ? 1 : count))
        return field_error(pass, store + ".samples", number(to),
                           reduced ? "1, because samples are reduced" : number(count) + " as the attachment",
                           reduced ? "" : "say how the samples are reduced");
      if (reduced && count == 1) return field_error(pass, store + ".mode", "set", "none where the attachment has one sample", "");
      if (reduced)
        if (Status ok = check_reduction(own.store_mode, aspect, a.view->info().format, store + ".mode"); !ok) return ok;
    }
    if (Status ok = check_source(own.resolve, a, aspect, resolve); !ok) return ok;
    if (own.resolve_border)
      if (Status ok = check_source(*own.resolve_border, a, aspect, resolve + ".border"); !ok) return ok;
    return own.resolve_view ? check_piece_view(*own.resolve_view, a, aspect, resolve) : Status(Ok{});
  }

  /// An image that one target stores is read by no other: it would find what it had, or what this pass stores, tile by tile.
  Status check_reads() {
    const auto check = [&](const RenderingAttachment& a, VkImageAspectFlagBits aspect, const std::string& name) -> Status {
      if (!a.view || !a.pieces) return Ok{};
      for (const auto& [view, piece] : {std::pair(a.pieces->load_view, ".load"), std::pair(a.pieces->resolve_view, ".resolve")}) {
        if (!view) continue;
        const TargetBytes bytes = target_bytes(*view, aspect, info.layer_count);
        for (const Use& other : uses) {
          const bool own = other.name == name || other.name == name + ".store";
          if (own || !overlap(bytes, other.bytes)) continue;
          return Error{VK_ERROR_VALIDATION_FAILED_EXT, pass + ": " + name + piece + " reads what " + other.name + " writes, a part of " +
                                                           object_name("image", view->image()->info().label) +
                                                           "; give them images of their own"};
        }
      }
      return Ok{};
    };
    for (uint32_t i = 0; i < info.color.size(); ++i)
      if (Status ok = check(info.color[i], VK_IMAGE_ASPECT_COLOR_BIT, "color" + number(i)); !ok) return ok;
    if (Status ok = check(info.depth, VK_IMAGE_ASPECT_DEPTH_BIT, "depth"); !ok) return ok;
    return check(info.stencil, VK_IMAGE_ASPECT_STENCIL_BIT, "stencil");
  }

  void shrink_extent(const ImageView& view) {
    const Extent extent = view_extent(view);
    layout.width_px = layout.width_px ? std::min(layout.width_px, extent.width_px) : extent.width_px;
    layout.height_px = layout.height_px ? std::min(layout.height_px, extent.height_px) : extent.height_px;
  }

  Status check_attachment(const RenderingAttachment& a, VkImageAspectFlagBits aspect, const std::string& name) {
    if (!a.view) {
      if (a.resolve_view) return field_error(pass, name + ".view", "null", "a view, because resolve_view is set", "");
      return Ok{};
    }
    if (Status ops = check_ops(a, name); !ops) return ops.error();
    if (Status view = check_view(*a.view, aspect, name, a.input_only); !view) return view.error();
    if (Status counts = check_samples(*a.view, name); !counts) return counts.error();
    if (Status once = use(*a.view, aspect, name); !once) return once.error();
    const bool touches = a.load_op == VK_ATTACHMENT_LOAD_OP_LOAD || a.store_op == VK_ATTACHMENT_STORE_OP_STORE;
    if (Status memory = check_memory(*a.view, touches, name); !memory) return memory.error();
    if (a.pieces)
      if (Status pieces = check_pieces(a, aspect, name); !pieces) return pieces.error();
    if (Status resolve = check_resolve(a, aspect, name); !resolve) return resolve.error();
    shrink_extent(*a.view);
    if (a.resolve_mode != VK_RESOLVE_MODE_NONE && a.resolve_view) shrink_extent(*a.resolve_view);
    return Ok{};
  }

  /// Attachments that hold a window of a larger framebuffer.
  Status check_window() {
    const VkOffset2D& at = info.window;
    const VkExtent2D& all = info.framebuffer;
    const uint32_t held_x = layout.width_px, held_y = layout.height_px;  // what the attachments hold
    layout.window_px = {at.x, at.y, at.x + static_cast<int32_t>(held_x) - 1, at.y + static_cast<int32_t>(held_y) - 1};
    if (all.width == 0 && all.height == 0 && at.x == 0 && at.y == 0) return Ok{};
    const std::string size = number(all.width) + "x" + number(all.height) + " px";
    if (all.width == 0 || all.height == 0 || all.width > kMaxFramebufferSize_px || all.height > kMaxFramebufferSize_px) {
      return field_error(pass, "framebuffer", size, "1 to " + number(kMaxFramebufferSize_px) + " px each way where a window is set",
                         "give the size of the whole picture");
    }
    const std::string place = number(held_x) + "x" + number(held_y) + " px at (" + number(at.x) + ", " + number(at.y) + ")";
    if (held_x == 0 || at.x < 0 || at.y < 0 || at.x % 64 || at.y % 64 || int64_t{at.x} + held_x > all.width ||
        int64_t{at.y} + held_y > all.height) {
      return field_error(pass, "window", place, "attachments within the framebuffer of " + size + ", from multiples of 64 px on",
                         "move the window, or make the attachments as large as what is left there");
    }
    layout.width_px = all.width, layout.height_px = all.height;
    return Ok{};
  }

  /// Block-compressed images are written in blocks from their own corner on.
  Status check_window_tiling() {
    if (!layout.is_window()) return Ok{};
    const auto check = [&](const Ptr<ImageView>& view, const std::string& name) -> Status {
      if (!view || view->image()->info().tiling != ImageTiling::block_compressed) return Ok{};
      return field_error(pass, name + ".tiling", "block_compressed", "linear where the attachments are a window of a larger framebuffer",
                         "make the image with linear tiling");
    };
    const auto both = [&](const RenderingAttachment& a, const std::string& name) -> Status {
      if (Status ok = check(a.view, name + ".view"); !ok) return ok;
      if (a.pieces)
        if (Status ok = check(a.pieces->store_view, name + ".store"); !ok) return ok;
      return check(a.resolve_view, name + ".resolve_view");
    };
    for (size_t i = 0; i < info.color.size(); ++i)
      if (Status ok = both(info.color[i], "color" + number(static_cast<int64_t>(i))); !ok) return ok;
    if (Status ok = both(info.depth, "depth"); !ok) return ok;
    return both(info.stencil, "stencil");
  }

  /// Source: valid usage of VkRenderingFragmentShadingRateAttachmentInfoKHR.
  Status check_shading_rate() {
    const ShadingRateAttachment& a = info.shading_rate;
    if (!a.view) return Ok{};
    const std::string name = "shading_rate";
    const ImageCreateInfo& image = a.view->image()->info();
    const ImageViewCreateInfo& view = a.view->info();
    if (view.format != VK_FORMAT_R8_UINT)
      return field_error(pass, name + ".format", vk::find_format(view.format)->name, "r8_uint", "make the image with that format",
                         VK_ERROR_FORMAT_NOT_SUPPORTED);
    if (image.usage && !(image.usage & VK_IMAGE_USAGE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR))
      return field_error(pass, name + ": usage of " + object_name("image", image.label), "one without fragment_shading_rate_attachment",
                         "one with fragment_shading_rate_attachment", "create the image with that usage");
    if (a.view->image()->sample_count() != 1)
      return field_error(pass, name + ".samples", number(a.view->image()->sample_count()), "1", "use a single-sampled image");
    if (image.tiling != ImageTiling::linear)
      return field_error(pass, name + ".tiling", "block_compressed", "linear", "make the image with linear tiling");
    if (view.type == VK_IMAGE_VIEW_TYPE_3D || view.level_count != 1)
      return field_error(pass, name + ".view", view.type == VK_IMAGE_VIEW_TYPE_3D ? "3d" : number(view.level_count) + " levels",
                         "one level of a 2d image, or of an array of them", "make a view of the one level to read");
    const auto side = [&](const char* axis, uint32_t size) -> Status {
      if (std::has_single_bit(size) && size >= kMinShadingRateTexel_px && size <= kMaxShadingRateTexel_px) return Ok{};
      return field_error(pass, name + ".texel_size." + axis, number(size),
                         "a power of two from " + number(kMinShadingRateTexel_px) + " to " + number(kMaxShadingRateTexel_px),
                         "say how many pixels of the framebuffer a texel is for");
    };
    if (Status ok = side("width", a.texel_size.width); !ok) return ok;
    if (Status ok = side("height", a.texel_size.height); !ok) return ok;
    if (view.layer_count != 1 && view.layer_count < info.layer_count)
      return field_error(pass, name + ".view.layer_count", number(view.layer_count),
                         "1, or at least the pass's layer_count, " + number(info.layer_count), "view one layer, or all");
    assert(view.layer_count > 0);
    const Extent extent = view_extent(*a.view);
    const Box& area = layout.render_area_px;
    const auto needed = [](int32_t last, uint32_t size) { return static_cast<uint32_t>(last) / size + 1; };
    const uint32_t width = needed(area.max_x, a.texel_size.width), height = needed(area.max_y, a.texel_size.height);
    if (extent.width_px < width || extent.height_px < height)
      return field_error(pass, name + ".extent", number(extent.width_px) + "x" + number(extent.height_px) + " texels",
                         "at least " + number(width) + "x" + number(height) + ", for all of the render area",
                         "make the image larger, or let a texel be for more pixels");
    const Feedback feedback = begin_feedback(info);
    for (const TargetBytes& rates : feedback.targets)
      for (const TargetBytes& other : feedback.targets)
        if (rates.target == kFeedbackShadingRate && other.target != kFeedbackShadingRate && overlap(rates, other))
          return field_error(pass, name, object_name("image", image.label) + ", which is " + target_name(other.target) + " too",
                             "an image that is no other attachment of the pass", "read the sizes from another image, level or layer");
    return check_memory(*a.view, true, name);
  }

  Status check_area() {
    const VkRect2D& area = info.render_area;
    const std::string text = number(area.extent.width) + "x" + number(area.extent.height) + " px at (" + number(area.offset.x) + ", " +
                             number(area.offset.y) + ")";
    const bool whole = area.extent.width == 0 && area.extent.height == 0;
    if (layout.width_px == 0) {
      if (whole) return field_error(pass, "render_area", text, "a size where no attachment gives one", "set render_area");
      layout.width_px = layout.height_px = kMaxImageSize_px;
      layout.window_px = {0, 0, static_cast<int32_t>(kMaxImageSize_px) - 1, static_cast<int32_t>(kMaxImageSize_px) - 1};
    }
    if (whole && area.offset.x == 0 && area.offset.y == 0) {
      layout.render_area_px = layout.window_px;
      return Ok{};
    }
    const int64_t end_x = static_cast<int64_t>(area.offset.x) + area.extent.width,
                  end_y = static_cast<int64_t>(area.offset.y) + area.extent.height;
    const Box& held = layout.window_px;
    if (area.offset.x < held.min_x || area.offset.y < held.min_y || end_x > int64_t{held.max_x} + 1 || end_y > int64_t{held.max_y} + 1 ||
        area.extent.width == 0 || area.extent.height == 0) {
      const std::string from = layout.is_window() ? " from (" + number(held.min_x) + ", " + number(held.min_y) + ") on" : "";
      return field_error(
          pass, "render_area", text,
          "at least 1x1 px within the framebuffer of " + number(held.width_px()) + "x" + number(held.height_px()) + " px" + from,
          "cut it with the smallest attachment");
    }
    layout.render_area_px = {area.offset.x, area.offset.y, static_cast<int32_t>(end_x - 1), static_cast<int32_t>(end_y - 1)};
    return Ok{};
  }
};

}  // namespace

Status check_rendering(const RenderingInfo& info, Layout& layout) {
  Checker checker{info, layout, object_name("pass", info.label), {}, 0, {}};
  if (info.color.size() > kMaxColorAttachments) {
    return field_error(checker.pass, "color attachments", number(static_cast<int64_t>(info.color.size())), "at most 8",
                       "render in two passes");
  }
  if (info.layer_count == 0 || info.layer_count > resource::kMaxImageLayers) {
    return field_error(checker.pass, "layer_count", number(info.layer_count),
                       "1 to " + number(resource::kMaxImageLayers) + ", as of images", "render the others in a pass of their own");
  }
  const uint32_t forced = info.single_sampled_samples;
  if (forced && (forced > 16 || !std::has_single_bit(forced))) {
    return field_error(checker.pass, "single_sampled_samples", number(forced), "0, 1, 2, 4, 8 or 16", "");
  }
  for (uint32_t i = 0; i < info.color.size(); ++i) {
    if (Status ok = checker.check_attachment(info.color[i], VK_IMAGE_ASPECT_COLOR_BIT, "color" + number(i)); !ok) return ok.error();
    if (info.color[i].view) layout.rt_formats[i] = info.color[i].view->info().format;
  }
  if (Status ok = checker.check_attachment(info.depth, VK_IMAGE_ASPECT_DEPTH_BIT, "depth"); !ok) return ok.error();
  if (Status ok = checker.check_attachment(info.stencil, VK_IMAGE_ASPECT_STENCIL_BIT, "stencil"); !ok) return ok.error();
  if (Status reads = checker.check_reads(); !reads) return reads.error();
  if (info.depth.view) layout.z_format = info.depth.view->info().format;
  if (info.stencil.view) layout.s_format = info.stencil.view->info().format;
  layout.rt_count = std::max<uint32_t>(1, static_cast<uint32_t>(info.color.size()));
  layout.layer_count = info.layer_count;
  layout.view_mask = info.view_mask;
  layout.unrestricted_depth = info.unrestricted_depth;
  assert(!info.view_mask || info.layer_count == static_cast<uint32_t>(std::bit_width(info.view_mask)));
  layout.sample_count = forced ? forced : std::max(1u, checker.samples);
  if (Status window = checker.check_window(); !window) return window.error();
  if (Status tiling = checker.check_window_tiling(); !tiling) return tiling.error();
  if (Status area = checker.check_area(); !area) return area.error();
  if (Status rates = checker.check_shading_rate(); !rates) return rates.error();
  if (!info.depth.view && !info.stencil.view && std::all_of(info.color.begin(), info.color.end(), [](const auto& a) { return !a.view; })) {
    layout.width_px = static_cast<uint32_t>(layout.render_area_px.max_x) + 1;
    layout.height_px = static_cast<uint32_t>(layout.render_area_px.max_y) + 1;
    layout.window_px = {0, 0, layout.render_area_px.max_x, layout.render_area_px.max_y};
  }
  return Ok{};
}

namespace {

bool is_same_part(const ImageView& a, const ImageView& b) {
  return a.image() == b.image() && a.info().base_level == b.info().base_level && a.info().base_layer == b.info().base_layer;
}

/// VUID-VkRenderingInfo-pDepthAttachment-06085 and 06086.
Status check_one_image(const std::string& pass, const char* what, const Ptr<ImageView>& depth, const Ptr<ImageView>& stencil) {
  if (!depth || !stencil || is_same_part(*depth, *stencil)) return Ok{};
  const auto text = [](const ImageView& view) {
    return object_name("image", view.image()->info().label) + ", layer " + number(view.info().base_layer);
  };
  return field_error(pass, what, text(*depth) + " and " + text(*stencil), "one image, level and layer for both",
                     "take a format with both, such as d24_unorm_s8_uint");
}

}  // namespace

Status forbidden_of(const RenderingInfo& info) {
  const std::string pass = object_name("pass", info.label);
  for (uint32_t i = 0; i < info.color.size(); ++i) {
    const RenderingAttachment& a = info.color[i];
    if (!a.view || a.resolve_mode == VK_RESOLVE_MODE_NONE) continue;
    const bool integer = vk::find_format(a.view->info().format)->is_integer();
    if (a.resolve_mode == (integer ? VK_RESOLVE_MODE_SAMPLE_ZERO_BIT : VK_RESOLVE_MODE_AVERAGE_BIT)) continue;
    const char* const name = a.resolve_mode == VK_RESOLVE_MODE_MIN_BIT       ? "min"
                             : a.resolve_mode == VK_RESOLVE_MODE_MAX_BIT     ? "max"
                             : a.resolve_mode == VK_RESOLVE_MODE_AVERAGE_BIT ? "average"
                                                                             : "sample_zero";
    return field_error(pass, "color" + number(i) + ".resolve_mode", name,
                       integer ? "sample_zero, for integers" : "average, for colours that are no integers",
                       "min, max and sample_zero are for depth and stencil; of colours store the samples, and let a shader read them");
  }
  if (Status ok = check_one_image(pass, "image of depth and stencil", info.depth.view, info.stencil.view); !ok) return ok;
  const bool resolves = info.depth.resolve_mode != VK_RESOLVE_MODE_NONE && info.stencil.resolve_mode != VK_RESOLVE_MODE_NONE;
  return resolves ? check_one_image(pass, "resolve of depth and stencil", info.depth.resolve_view, info.stencil.resolve_view)
                  : Status(Ok{});
}

}  // namespace tilegpu::framebuffer
