// framebuffer/contents.cpp -- what a pass says of its images' contents: before its first tile, and after its last.
//
// In: the five pieces. Out: told to the images' memory (resource/memory_contents.hpp), once for each target. Source: Vulkan
// specification, "Render Pass Store Operations".
#include <bit>

#include "base/field_error.hpp"
#include "framebuffer/framebuffer.hpp"

namespace tilegpu::framebuffer {
namespace {

VkImageSubresourceRange part_of(const Framebuffer& f, const ImageView& view, VkImageAspectFlags aspect) {
  return {aspect, view.info().base_level, 1, view.info().base_layer, f.layout.layer_count};
}

/// Calls each(first, count) for layers that follow one another and are rendered to.
template <class Each>
void for_each_layers(const Framebuffer& f, Each each) {
  const uint32_t mask = f.layout.view_mask;
  if (!mask) return each(0u, f.layout.layer_count);
  for (uint32_t first = 0; first < f.layout.layer_count; ++first) {
    const auto count = static_cast<uint32_t>(std::countr_one(mask >> first));
    if (count) each(first, count);
    first += count;
  }
}

/// What the pass stores or loses of some layers of a view: its area.
resource::ImageBox box_of(const Framebuffer& f, const ImageView& view, VkImageAspectFlags aspect, uint32_t first_layer, uint32_t layers) {
  const Box &held = f.layout.window_px, &drawn = f.layout.render_area_px;
  const Box area = {drawn.min_x - held.min_x, drawn.min_y - held.min_y, drawn.max_x - held.min_x, drawn.max_y - held.min_y};  // texels
  assert(area.min_x >= 0 && area.min_y >= 0 && area.max_x >= area.min_x && area.max_y >= area.min_y);
  return {aspect,
          view.info().base_level,
          view.info().base_layer + first_layer,
          layers,
          static_cast<uint32_t>(area.min_x),
          static_cast<uint32_t>(area.min_y),
          static_cast<uint32_t>(area.max_x - area.min_x + 1),
          static_cast<uint32_t>(area.max_y - area.min_y + 1)};
}

template <class Each>
void for_each_store(const Store& store, Each each) {
  for (uint32_t i = 0; i < kMaxColorAttachments; ++i) {
    each(store.rts[i], VK_IMAGE_ASPECT_COLOR_BIT);
    each(store.resolved_rts[i], VK_IMAGE_ASPECT_COLOR_BIT);
  }
  each(store.z, VK_IMAGE_ASPECT_DEPTH_BIT);
  each(store.resolved_z, VK_IMAGE_ASPECT_DEPTH_BIT);
  each(store.s, VK_IMAGE_ASPECT_STENCIL_BIT);
  each(store.resolved_s, VK_IMAGE_ASPECT_STENCIL_BIT);
}

}  // namespace

std::shared_ptr<resource::BlockSignatures> begin_contents(const Framebuffer& f) {
  std::shared_ptr<resource::BlockSignatures> signatures;
  for_each_store(f.store, [&](const StoreTarget& t, VkImageAspectFlagBits) {
    if (!t.store || !t.eliminate) return;
    assert(!signatures);
    const Image& image = *t.view->image();
    const ImageCreateInfo& info = image.info();
    resource::BlockSignatures shape;
    shape.range = resource::range_of(image, VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, image.layer_count(0));
    shape.width_px = info.width_px, shape.height_px = info.height_px, shape.layers = image.layer_count(0);
    shape.texel_B = image.layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0).texel_B;
    signatures = image.contents().signatures(shape);
  });
  const auto touch = [&](const StoreTarget& t, VkImageAspectFlags aspect) {
    if (t.store && t.view->image()->data())
      resource::mark_touched(*t.view->image(), part_of(f, *t.view, aspect), t.eliminate ? signatures.get() : nullptr);
  };
  for_each_store(f.store, touch);
  for_each_store(f.spill_store, [&](const StoreTarget& t, VkImageAspectFlags aspect) {
    if (t.store && t.view == t.bound) touch(t, aspect);
  });
  return signatures;
}

void end_contents(const Framebuffer& f, uint32_t written, const std::string& pass_label, const resource::BlockSignatures* signatures) {
  const auto discard = [&](const StoreTarget& t, const LoadTarget& load, bool wrote, VkImageAspectFlags aspect) {
    const bool lost = t.discard || (!t.store && (wrote || load.in_bounds == LoadOp::clear));
    if (!lost || !t.bound) return;
    const char* why = t.discard ? " was dont_care; set it to store" : " was none, but the pass wrote to it; set it to store";
    for_each_layers(f, [&](uint32_t first, uint32_t count) {
      resource::mark_box_discarded(*t.bound->image(), box_of(f, *t.bound, aspect, first, count),
                                   "store_op of " + object_name("pass", pass_label) + why);
    });
  };
  for (uint32_t i = 0; i < kMaxColorAttachments; ++i) discard(f.store.rts[i], f.load.rts[i], written >> i & 1, VK_IMAGE_ASPECT_COLOR_BIT);
  discard(f.store.z, f.load.z, written >> kMaxColorAttachments & 1, VK_IMAGE_ASPECT_DEPTH_BIT);
  discard(f.store.s, f.load.s, written >> (kMaxColorAttachments + 1) & 1, VK_IMAGE_ASPECT_STENCIL_BIT);
  // What is stored of a target that was neither loaded nor cleared, nor drawn to, is as undefined as it was in the tile.
  uint32_t resolved_to = 0;  // from another target or an image
  const auto note = [&](uint32_t index, const ResolveTarget& r, ResolveOp own) {
    if (r.in_bounds.op != ResolveOp::none && r.in_bounds.op != own) resolved_to |= 1u << index;
  };
  for (uint32_t i = 0; i < kMaxColorAttachments; ++i) note(i, f.resolve.rts[i], resolve_rt(i));
  note(kMaxColorAttachments, f.resolve.z, ResolveOp::z), note(kMaxColorAttachments + 1, f.resolve.s, ResolveOp::s);
  const auto keep = [&](uint32_t index, const StoreTarget& t, const LoadTarget& load, VkImageAspectFlags aspect) {
    if (!t.store) return;
    const bool undefined = (load.in_bounds == LoadOp::none || load.for_splits) && !(written >> index & 1) && !(resolved_to >> index & 1);
    for_each_layers(f, [&](uint32_t first, uint32_t count) {
      const resource::ImageBox box = box_of(f, *t.view, aspect, first, count);
      if (undefined)
        resource::mark_box_discarded(
            *t.view->image(), box,
            "load_op of " + object_name("pass", pass_label) + " was dont_care, and nothing was drawn there; clear it, or draw to it");
      else
        resource::mark_box_written(*t.view->image(), box, resource::Writer::pass, t.eliminate ? signatures : nullptr);
    });
  };
  const auto keep_both = [&](uint32_t index, const StoreTarget& t, const StoreTarget& resolved, const LoadTarget& load,
                             VkImageAspectFlags aspect) {
    keep(index, t, load, aspect);
    keep(index, resolved, load, aspect);
  };
  for (uint32_t i = 0; i < kMaxColorAttachments; ++i)
    keep_both(i, f.store.rts[i], f.store.resolved_rts[i], f.load.rts[i], VK_IMAGE_ASPECT_COLOR_BIT);
  keep_both(kMaxColorAttachments, f.store.z, f.store.resolved_z, f.load.z, VK_IMAGE_ASPECT_DEPTH_BIT);
  keep_both(kMaxColorAttachments + 1, f.store.s, f.store.resolved_s, f.load.s, VK_IMAGE_ASPECT_STENCIL_BIT);
}

}  // namespace tilegpu::framebuffer
