// framebuffer/from_vulkan.cpp -- Vulkan's attachments with load, store and resolve operations to the five pieces.
//
// In: RenderingInfo (checked by rendering_checks.cpp) and the profile. Out: Framebuffer. Source: docs/decisions.md, 22, 23, 27.
// Pieces that users give themselves: own_pieces.cpp.
// Where the host can do more than PanVK: the store reduces any format by any mode, and writes all samples and the reduced one
// in one go; interleaved depth/stencil images are written one aspect at a time, so that nothing unbound is loaded or stored.
#include <cassert>

#include "base/field_error.hpp"
#include "framebuffer/feedback.hpp"
#include "framebuffer/framebuffer.hpp"
#include "framebuffer/make_in_place.hpp"
#include "framebuffer/own_pieces.hpp"
#include "framebuffer/rendering_checks.hpp"
#include "tilegpu/device_info.hpp"
#include "vk/format.hpp"

namespace tilegpu::framebuffer {
namespace {

bool stored_in_blocks(const Ptr<ImageView>& view) { return view && view->image()->info().tiling == ImageTiling::block_compressed; }

/// One target of all pieces at once.
struct Target {
  LoadTarget* load;
  StoreTarget* store;
  StoreTarget* resolved;
  ResolveTarget* resolve;
  LoadTarget* spill_load;
  StoreTarget* spill_store;
  ResolveOp own;
  bool is_color;
};

struct PassShape {
  uint32_t samples;
  bool single_sampled;  // multisampled rendering to single-sampled images
};

/// How the pass's samples meet an image of the attachment.
MsaaCopy load_copy(const ImageView& view, uint32_t samples) {
  return view.image()->sample_count() == samples ? MsaaCopy::all : MsaaCopy::single;
}

void map_load(const RenderingAttachment& a, const PassShape& shape, LoadTarget& load) {
  assert(a.view && shape.samples >= 1);
  load.clear = a.clear;
  switch (a.load_op) {
    case VK_ATTACHMENT_LOAD_OP_CLEAR:
      load.in_bounds = LoadOp::clear;
      load.always = true;
      break;
    case VK_ATTACHMENT_LOAD_OP_LOAD:
      load.in_bounds = LoadOp::image;
      break;
    default:
      // "Don't care" with store op NONE loads: a spill would write the tile over contents that the pass promised to leave alone.
      load.for_splits = a.store_op == VK_ATTACHMENT_STORE_OP_NONE;
      load.in_bounds = load.for_splits ? LoadOp::image : LoadOp::none;
      load.zeroes = !load.for_splits;
      break;
  }
  load.msaa = load_copy(*a.view, shape.samples);
  load.view = a.view;
}

void map_store_and_resolve(const RenderingAttachment& a, const PassShape& shape, const Target& t) {
  StoreTarget& store = *t.store;
  store.bound = a.view;
  store.discard = a.store_op == VK_ATTACHMENT_STORE_OP_DONT_CARE;
  const bool stores = a.store_op == VK_ATTACHMENT_STORE_OP_STORE;
  if (stores) {
    store.store = true;
    store.view = a.view;
    if (shape.single_sampled && a.view->image()->sample_count() == 1) {
      const bool average = t.is_color ? !vk::find_format(a.view->info().format)->is_integer() : false;
      store.msaa = average ? MsaaCopy::average : MsaaCopy::sample_zero;
      if (a.resolve_mode != VK_RESOLVE_MODE_NONE && !a.resolve_view) store.msaa = reduction(a.resolve_mode);
      store.always = true;  // after a split, bins without primitives in the last part still wait in the spill image
    }
  }
  if (a.resolve_mode == VK_RESOLVE_MODE_NONE || !a.resolve_view) return;
  ResolveTarget& resolve = *t.resolve;
  resolve.in_bounds = {t.own, reduction(a.resolve_mode)};
  resolve.border = {ResolveOp::image, MsaaCopy::single};
  resolve.view = a.resolve_view;
  resolve.own_plane = stores;
  assert(a.resolve_view);  // checked with the mode
  StoreTarget& resolved = *t.resolved;
  resolved.store = resolved.always = true;
  resolved.msaa = MsaaCopy::sample_zero;
  resolved.view = a.resolve_view;
}

void map_spill(const RenderingAttachment& a, const Ptr<ImageView>& spill_view, const Target& t) {
  assert(spill_view);
  t.spill_load->in_bounds = t.spill_load->border = LoadOp::image;
  t.spill_load->msaa = MsaaCopy::all;
  t.spill_load->view = spill_view;
  t.spill_load->clear = a.clear;
  t.spill_store->store = true;
  t.spill_store->msaa = MsaaCopy::all;
  t.spill_store->view = spill_view;
  t.spill_store->always = spill_view != a.view;  // an image of its own holds nothing yet
}

/// The end of the pass reads what the attachment's image had before it: a split must not write there.
bool reads_own_image(const RenderingAttachment& a) {
  if (!a.pieces || a.pieces->store_view != a.view) return false;
  const bool border = stored_in_blocks(a.view) && a.pieces->load == TileLoad::image && a.pieces->load_view != a.view;
  return border || a.pieces->resolve_view == a.view;
}

/// Rendering many samples to an image of one has nowhere to spill: an image of its own, without memory until then.
Expected<Ptr<ImageView>> spill_view_of(const RenderingAttachment& a, const Layout& layout) {
  assert(a.view && layout.sample_count >= a.view->image()->sample_count());
  if (a.view->image()->sample_count() == layout.sample_count && !reads_own_image(a)) return a.view;
  ImageCreateInfo info;
  info.format = a.view->info().format;
  info.width_px = layout.window_px.width_px();
  info.height_px = layout.window_px.height_px();
  info.array_layers = layout.layer_count;
  info.samples = static_cast<VkSampleCountFlagBits>(layout.sample_count);
  info.tiling = a.view->image()->info().tiling;  // so that the border is spilled where the image has one
  info.label = "spill of " + a.view->image()->info().label;
  Expected<Ptr<Image>> image = Image::create(info);
  if (!image) return image.error();
  ImageViewCreateInfo view;
  view.image = *image;
  view.type = layout.layer_count > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
  return ImageView::create(view);
}

Target target_of(Framebuffer& f, uint32_t index) {
  assert(index < kMaxColorAttachments + 2);  // colours, depth, stencil
  if (index < kMaxColorAttachments) {
    return {&f.load.rts[index],
            &f.store.rts[index],
            &f.store.resolved_rts[index],
            &f.resolve.rts[index],
            &f.spill_load.rts[index],
            &f.spill_store.rts[index],
            resolve_rt(index),
            true};
  }
  if (index == kMaxColorAttachments) {
    return {&f.load.z, &f.store.z, &f.store.resolved_z, &f.resolve.z, &f.spill_load.z, &f.spill_store.z, ResolveOp::z, false};
  }
  return {&f.load.s, &f.store.s, &f.store.resolved_s, &f.resolve.s, &f.spill_load.s, &f.spill_store.s, ResolveOp::s, false};
}

/// The tiling area: what stored images need, the API's and the spill's, cut with the framebuffer.
Box tiling_area(const Framebuffer& f) {
  bool blocks = false;
  const auto visit = [&](const Store& store) {
    for (const auto& t : store.rts) blocks |= t.store && stored_in_blocks(t.view);
    for (const auto& t : store.resolved_rts) blocks |= t.store && stored_in_blocks(t.view);
    for (const StoreTarget* t : {&store.z, &store.s, &store.resolved_z, &store.resolved_s}) blocks |= t->store && stored_in_blocks(t->view);
  };
  visit(f.store);
  visit(f.spill_store);
  const Box& area = f.layout.render_area_px;
  if (!blocks) return area;
  return intersect(align(area, 16, 16), f.layout.window_px);
}

/// An image that transaction elimination can watch: one sample, one level, kept in memory, in rows.
bool can_eliminate(const StoreTarget& t, VkImageUsageFlags never) {
  if (!t.store) return false;
  const ImageCreateInfo& image = t.view->image()->info();
  return image.samples == VK_SAMPLE_COUNT_1_BIT && image.mip_levels == 1 && image.tiling == ImageTiling::linear && !(image.usage & never);
}

bool has_signatures(const Image& image) {
  return image.contents().has_signatures(resource::range_of(image, VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, image.layer_count(0)));
}

/// One colour target of the pass, one with signatures if there is one (docs/decisions.md, 28). Tiles must hold whole 16x16 blocks.
void choose_elimination(Framebuffer& f) {
  const Layout& layout = f.layout;
  f.desc.transaction_elimination = false;
  if (!layout.profile->transaction_elimination || layout.tile_width_px < 16 || layout.tile_height_px < 16) return;
  if (layout.is_window()) return;  // blocks are counted from the image's corner
  StoreTarget* chosen = nullptr;
  for (uint32_t i = 0; i < layout.rt_count; ++i) {
    for (StoreTarget* t : {&f.store.rts[i], &f.store.resolved_rts[i]}) {
      if (!can_eliminate(*t, VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT)) continue;
      if (!chosen || (!has_signatures(*chosen->view->image()) && has_signatures(*t->view->image()))) chosen = t;
    }
  }
  if (chosen) chosen->eliminate = f.desc.transaction_elimination = true;
}

}  // namespace

Expected<Framebuffer> make_framebuffer(const RenderingInfo& info, const std::string& profile_name) {
  Framebuffer made;
  if (Status ok = make_in_place(info, profile_name, made); !ok) return ok.error();
  return made;
}

Status make_in_place(const RenderingInfo& info, const std::string& profile_name, Framebuffer& f) {
  const std::string pass = object_name("pass", info.label);
  const Profile* profile = find_profile(profile_name);
  if (!profile) return field_error(pass, "profile", "'" + profile_name + "'", profile_names(), "");
  f.layout.profile = profile;
  if (Status checked = check_rendering(info, f.layout); !checked) return checked.error();
  const PassShape shape = {f.layout.sample_count, info.single_sampled_samples != 0};

  const auto map = [&](const RenderingAttachment& a, uint32_t index) -> Status {
    const Target t = target_of(f, index);
    if (a.pieces) {
      map_pieces(a, shape.samples, {t.load, t.store, t.resolve});
    } else {
      map_load(a, shape, *t.load);
      map_store_and_resolve(a, shape, t);
    }
    Expected<Ptr<ImageView>> spill = spill_view_of(a, f.layout);
    if (!spill) return spill.error();
    map_spill(a, *spill, t);
    // What the first part takes from elsewhere, the later ones find where it spills to.
    if (a.pieces) t.spill_store->always |= a.pieces->store_view != *spill || (a.pieces->load_view && a.pieces->load_view != *spill);
    return Ok{};
  };
  for (uint32_t i = 0; i < info.color.size(); ++i) {
    if (!info.color[i].view) continue;
    if (Status mapped = map(info.color[i], i); !mapped) return mapped.error();
  }
  if (info.depth.view) {
    if (Status mapped = map(info.depth, kMaxColorAttachments); !mapped) return mapped.error();
  }
  if (info.stencil.view) {
    if (Status mapped = map(info.stencil, kMaxColorAttachments + 1); !mapped) return mapped.error();
  }

  f.layout.tiling_area_px = tiling_area(f);
  assert(f.layout.tiling_area_px.contains(f.layout.render_area_px));
  if (Status size = choose_tile_size(f.layout, info.label); !size) return size.error();
  for (uint32_t i = 0; i < kMaxColorAttachments + 2; ++i) {
    const Target t = target_of(f, i);
    if (!t.load->view && !t.spill_load->view) continue;
    if (const AttachmentPieces* own = pieces_of(info, i)) {
      const std::string name = pass + ": " + target_name(i);
      const bool blocks = stored_in_blocks(t.store->view);
      if (Status ok = map_border(*own, f.layout, blocks, {t.load, t.store, t.resolve}, t.own, t.is_color, name); !ok) return ok.error();
      continue;
    }
    // The border exists only for images written in whole blocks; others are neither read nor written there.
    const bool blocks = stored_in_blocks(t.spill_store->view) || (t.store->store && stored_in_blocks(t.store->view));
    if (f.layout.has_border() && blocks) t.load->border = LoadOp::image;
    if (t.resolve->in_bounds.op != ResolveOp::none) {
      const bool border = f.layout.has_border() && stored_in_blocks(t.resolved->view);
      if (!border) t.resolve->border = {};
      // Samples that are stored too must survive: a border read from the resolve image then needs a plane of its own, unfolded.
      if (!border || !t.resolve->own_plane) fold_resolve(*t.resolve, *t.resolved, t.own, t.is_color, true, f.layout.sample_count, border);
    }
    if (t.load->in_bounds != LoadOp::image && t.load->border != LoadOp::image) t.load->view = nullptr;
  }
  // A resolve of the user's own may read any target's border.
  const bool own_pieces = has_own_pieces(info);
  for (uint32_t i = 0; i < kMaxColorAttachments + 2; ++i) {
    LoadTarget& load = *target_of(f, i).load;
    load.fills_border = own_pieces && f.layout.has_border() && load.border != LoadOp::image;
  }

  f.desc.own_heap = info.desc.tiler_heap_B != 0;
  f.desc.tiler_heap_B = f.desc.own_heap ? info.desc.tiler_heap_B : profile->heap_B;
  f.desc.draws_a_part = info.desc.draws_a_part;
  f.desc.refuses_prepass = !info.desc.hsr_prepass;
  f.desc.sample_count = f.layout.sample_count;
  f.desc.sample_positions = vk::sample_locations(f.layout.sample_count);
  f.desc.layer_count = f.layout.layer_count;
  // Where half of the buffer is kept, depth must fit twice; strictly less, as the driver tests it. Arm's article names no such limit.
  const uint64_t depth_tile_B = 4ull * f.layout.sample_count * f.layout.tile_size_px;
  f.desc.allow_hsr_prepass =
      profile->fragment_prepass && info.desc.hsr_prepass &&
      (profile->budget_divisor == 1 || (f.layout.z_format != VK_FORMAT_UNDEFINED && depth_tile_B < f.layout.tile_z_budget_B));
  if (info.desc.transaction_elimination) choose_elimination(f);
  return Ok{};
}

HiddenSurfaceRemoval allowed_hsr(const Framebuffer& f, HiddenSurfaceRemoval asked) {
  assert(f.layout.profile);
  if (f.layout.profile->fragment_prepass && !f.desc.allow_hsr_prepass) asked.pre_pass = false;
  return asked;
}

const char* prepass_obstacle(const Framebuffer& f) {
  if (!f.layout.profile->fragment_prepass || f.desc.allow_hsr_prepass) return nullptr;
  if (f.desc.refuses_prepass) return "the pass's desc says so (desc.allow_hsr_prepass)";
  return f.layout.z_format == VK_FORMAT_UNDEFINED ? "the pass has no depth attachment (desc.allow_hsr_prepass)"
                                                  : "the tile's depth does not fit twice in the profile's buffer (desc.allow_hsr_prepass)";
}

Status ensure_spill_memory(const Framebuffer& f) {
  const auto ensure = [](const StoreTarget& t) -> Status {
    if (!t.view) return Ok{};
    return t.view->image()->ensure_memory();
  };
  for (const StoreTarget& t : f.spill_store.rts) {
    if (Status status = ensure(t); !status) return status.error();
  }
  if (Status status = ensure(f.spill_store.z); !status) return status.error();
  return ensure(f.spill_store.s);
}

}  // namespace tilegpu::framebuffer
