// device/image_uses.cpp -- which images the steps of a submission read and write. In: an execution. Out: a row for each use, in the order
// of the steps, for advice about what passes store (captures name no image by itself). What shaders reach by address is not seen.
#include <algorithm>
#include <cassert>
#include <set>

#include "descriptor/set_memory.hpp"
#include "exec/queue.hpp"
#include "pipeline/program.hpp"
#include "vk/format.hpp"

namespace tilegpu {

namespace {

struct Rows {
  uint32_t step = 0;
  std::vector<ImageUse> found;

  ImageUse& add(const Image& image, bool write, VkImageAspectFlags aspects, uint32_t level, uint32_t levels, uint32_t layer,
                uint32_t layers) {
    ImageUse use{.step = step, .write = write};
    use.image = reinterpret_cast<uintptr_t>(&image);
    use.memory = reinterpret_cast<uintptr_t>(&image.contents());
    use.first_B = image.memory_offset_B(), use.end_B = use.first_B + image.required_B();
    const vk::FormatInfo& format = *vk::find_format(image.info().format);
    use.aspects = (aspects & VK_IMAGE_ASPECT_DEPTH_BIT && format.depth_bits ? VK_IMAGE_ASPECT_DEPTH_BIT : 0) |
                  (aspects & VK_IMAGE_ASPECT_STENCIL_BIT && format.stencil_bits ? VK_IMAGE_ASPECT_STENCIL_BIT : 0);
    if (!use.aspects) use.aspects = VK_IMAGE_ASPECT_COLOR_BIT;  // planes too: they lie apart, and are asked by their memory
    use.first_level = level, use.end_level = level + std::min(levels, image.info().mip_levels - level);
    use.first_layer = layer, use.end_layer = layers == VK_REMAINING_ARRAY_LAYERS ? UINT32_MAX : layer + layers;
    return found.emplace_back(use);
  }

  ImageUse& view(const ImageView& view, bool write, VkImageAspectFlags aspects = 0) {
    const ImageViewCreateInfo& info = view.info();
    const bool volume = info.type == VK_IMAGE_VIEW_TYPE_3D;
    return add(*view.image(), write, aspects ? aspects : info.aspects, info.base_level, info.level_count, volume ? 0 : info.base_layer,
               volume ? VK_REMAINING_ARRAY_LAYERS : info.layer_count);
  }

  void part(const Image& image, bool write, const VkImageSubresourceLayers& part) {
    const bool volume = image.info().type == VK_IMAGE_TYPE_3D;
    add(image, write, part.aspectMask, part.mipLevel, 1, volume ? 0 : part.baseArrayLayer,
        volume ? VK_REMAINING_ARRAY_LAYERS : part.layerCount);
  }
};

// What a stage's used bindings hold, all elements; what it only writes is no read. `seen`: memory and binding that were listed.
void add_sets(const pipeline::Program& program, const command::BoundSets& sets, std::set<std::tuple<const void*, uint32_t, uint32_t>>& seen,
              Rows& rows) {
  for (const pipeline::Stage& stage : program.stages) {
    for (const ReflectedBinding& b : stage.reflection->bindings) {
      const bool in_tile = b.descriptor == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT && !program.fetches(b.set, b.binding);
      if (!b.used || in_tile || b.set >= sets.memory.size() || !sets.memory[b.set]) continue;
      const descriptor::SetMemory& memory = *sets.memory[b.set];
      const DescriptorBinding* const binding = memory.layout->find(b.binding);
      if (!binding || !seen.insert({&memory, b.binding, b.writeonly}).second) continue;
      const bool is_mutable = binding->type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT;
      const descriptor::Kind kind = descriptor::kind_of(is_mutable ? b.descriptor : binding->type);
      if (kind != descriptor::Kind::image && kind != descriptor::Kind::combined && kind != descriptor::Kind::attachment) continue;
      for (uint32_t i = 0; i < memory.count_of(*binding); i++) {
        const descriptor::Element& element = memory.element(*binding, i);
        if (is_mutable && element.type != b.descriptor) continue;
        if (element.view && element.view->view) rows.view(*element.view->view, b.writeonly);
      }
    }
  }
}

// Of a target that is not stored: the image that the pass has there, which may keep what it had.
void add_attachment(const char* name, const framebuffer::LoadTarget& load, const framebuffer::StoreTarget& store,
                    const framebuffer::StoreTarget& resolved, const framebuffer::ResolveTarget& resolve, VkImageAspectFlags aspect,
                    Rows& rows) {
  using framebuffer::LoadOp;
  const auto add = [&](const Ptr<ImageView>& view, bool write, const char* how) {
    if (!view) return;
    ImageUse& use = rows.view(*view, write, aspect);
    use.attachment = name, use.how = how;
  };
  if (load.in_bounds == LoadOp::image || load.border == LoadOp::image) add(load.view, false, "load");
  add(resolve.view, false, "resolve_source");
  if (store.store) add(store.view, true, "store");
  if (!store.store) add(store.bound ? store.bound : load.view, false, "bound");
  if (resolved.store) add(resolved.view, true, "resolve");
}

void add_pass(const command::Pass& pass, Rows& rows) {
  const framebuffer::Framebuffer& f = pass.framebuffer;
  static constexpr const char* kColors[] = {"color0", "color1", "color2", "color3", "color4", "color5", "color6", "color7"};
  static_assert(std::size(kColors) == kMaxColorAttachments);
  for (uint32_t i = 0; i < f.layout.rt_count; i++)
    add_attachment(kColors[i], f.load.rts[i], f.store.rts[i], f.store.resolved_rts[i], f.resolve.rts[i], VK_IMAGE_ASPECT_COLOR_BIT, rows);
  add_attachment("depth", f.load.z, f.store.z, f.store.resolved_z, f.resolve.z, VK_IMAGE_ASPECT_DEPTH_BIT, rows);
  add_attachment("stencil", f.load.s, f.store.s, f.store.resolved_s, f.resolve.s, VK_IMAGE_ASPECT_STENCIL_BIT, rows);
  std::set<std::tuple<const void*, uint32_t, uint32_t>> seen;
  const auto add = [&](const command::Pass& of) {
    for (const command::Bound& bound : of.bound)
      if (bound.pipeline && bound.sets) add_sets(bound.pipeline->program(), *bound.sets, seen, rows);
  };
  add(pass);
  for (const command::ExecutedPart& executed : pass.executed)
    if (executed.recording && executed.recording->part) add(*executed.recording->part);
}

struct Visitor {
  Rows& rows;

  void operator()(const Ptr<const command::Pass>&) const {}  // as it was executed: the caller's
  void operator()(const Ptr<const command::Dispatch>& d) const {
    std::set<std::tuple<const void*, uint32_t, uint32_t>> seen;
    if (d->sets) add_sets(d->pipeline->program(), d->sets->bound, seen, rows);
  }
  void operator()(const command::CopyBufferToImage& c) const {
    for (const VkBufferImageCopy2& r : c.regions) rows.part(*c.destination, true, r.imageSubresource);
  }
  void operator()(const command::CopyImageToBuffer& c) const {
    for (const VkBufferImageCopy2& r : c.regions) rows.part(*c.source, false, r.imageSubresource);
  }
  template <class Regions>
  void both(const Image& source, const Image& destination, const Regions& regions) const {
    for (const auto& r : regions) rows.part(source, false, r.srcSubresource), rows.part(destination, true, r.dstSubresource);
  }
  void operator()(const command::CopyImage& c) const { both(*c.source, *c.destination, c.regions); }
  void operator()(const command::BlitImage& c) const { both(*c.source, *c.destination, c.regions); }
  void operator()(const command::ResolveImage& c) const { both(*c.source, *c.destination, c.regions); }
  void operator()(const command::GenerateMipmaps& c) const {
    rows.add(*c.image, false, VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS);
  }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

std::vector<ImageUse> Submission::image_uses() const {
  Rows rows;
  size_t pass = 0, dispatch = 0;
  for (const command::Command* step : state->execution.steps) {
    if (std::holds_alternative<Ptr<const command::Pass>>(*step)) {
      add_pass(*state->execution.passes[pass].pass, rows);
      for (ImageUse& use : rows.found)
        if (use.step == rows.step) use.pass = static_cast<int32_t>(pass);
      pass++;
    } else if (std::holds_alternative<Ptr<const command::Dispatch>>(*step)) {
      Visitor{rows}(state->execution.dispatches[dispatch++].dispatch);
    } else {
      std::visit(Visitor{rows}, *step);
    }
    rows.step++;
  }
  return rows.found;
}

}  // namespace tilegpu
