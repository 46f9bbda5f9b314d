// framebuffer/own_pieces.cpp -- see own_pieces.hpp.
#include "framebuffer/own_pieces.hpp"

#include <cassert>

#include "base/field_error.hpp"

namespace tilegpu::framebuffer {
namespace {

constexpr LoadOp load_op(TileLoad load) { return static_cast<LoadOp>(load); }
static_assert(load_op(TileLoad::none) == LoadOp::none && load_op(TileLoad::image) == LoadOp::image);

ResolveSide side_of(TileSource source, const AttachmentPieces& own) {
  if (source == TileSource::none) return {};
  const bool single = source == TileSource::image && own.resolve_view->image()->sample_count() == 1;
  return {resolve_op(source), single ? MsaaCopy::single : reduction(own.resolve_mode)};
}

}  // namespace

void map_pieces(const RenderingAttachment& a, uint32_t samples, const PieceTarget& t) {
  assert(a.pieces && a.view && samples >= 1);
  const AttachmentPieces& own = *a.pieces;
  LoadTarget& load = *t.load;
  load.in_bounds = load_op(own.load);
  load.always = own.load == TileLoad::clear;
  load.clear = a.clear;
  load.view = own.load_view;
  if (load.view) load.msaa = load.view->image()->sample_count() == samples ? MsaaCopy::all : MsaaCopy::single;

  t.resolve->in_bounds = side_of(own.resolve, own);
  t.resolve->view = own.resolve_view;

  StoreTarget& store = *t.store;
  store.bound = a.view;
  store.discard = own.store_view != a.view;  // what it holds is a spill's, if there was one
  if (!own.store_view) return;
  store.store = true;
  store.view = own.store_view;
  store.msaa = own.store_mode == VK_RESOLVE_MODE_NONE ? MsaaCopy::all : reduction(own.store_mode);
  // A tile that no primitive touches must be stored where the image has not its values: they come from elsewhere, or a split left them in
  // the attachment. Else the picture would depend on the size of tiles.
  const bool elsewhere = own.load == TileLoad::image && own.load_view != own.store_view;
  store.always = own.store_always || elsewhere || own.resolve != TileSource::none || own.store_view != a.view;
}

Status map_border(const AttachmentPieces& own, const Layout& layout, bool in_blocks, const PieceTarget& t, ResolveOp op, bool is_color,
                  const std::string& name) {
  assert(!layout.tiling_area_px.empty());
  const bool border = layout.has_border() && in_blocks;
  if (border) {
    // The pixels of the stored image are kept by loading them: at the start if that is where the load reads anyway, else at the end.
    const bool same = own.load != TileLoad::image || own.load_view == own.store_view;
    const bool one_sample = own.store_mode != VK_RESOLVE_MODE_NONE;
    const bool by_load = !own.load_border && !own.resolve_border && same && !one_sample && own.resolve == TileSource::none;
    t.load->border = own.load_border ? load_op(*own.load_border) : by_load ? LoadOp::image : LoadOp::none;
    if (by_load && !t.load->view) t.load->view = own.store_view, t.load->msaa = MsaaCopy::all;
    if (own.resolve_border) {
      t.resolve->border = side_of(*own.resolve_border, own);
    } else if (!by_load && !own.load_border) {
      const bool from_own = own.resolve == TileSource::image;
      if ((from_own && own.resolve_view != own.store_view) || (layout.sample_count > 1 && !one_sample))
        return Error{
            VK_ERROR_VALIDATION_FAILED_EXT,
            name + ": what the stored " + object_name("image", own.store_view->image()->info().label) +
                " has outside of the render area can't be kept: it is written in blocks of 16x16 px, and the tile reads another image; "
                "give the border of load or resolve, align the area to 16 px, or store to an image with linear tiling"};
      t.resolve->border = {ResolveOp::image, MsaaCopy::single};
      if (!from_own) t.resolve->view = own.store_view;
    }
  }
  if (t.load->in_bounds != LoadOp::image && t.load->border != LoadOp::image) t.load->view = nullptr;
  if (t.resolve->in_bounds.op != ResolveOp::none) fold_resolve(*t.resolve, *t.store, op, is_color, true, layout.sample_count, border);
  return Ok{};
}

}  // namespace tilegpu::framebuffer
