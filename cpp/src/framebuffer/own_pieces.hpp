// framebuffer/own_pieces.hpp -- a framebuffer of the user's own: pieces with views of their own, and the parallel copy of resolves.
//
// In: AttachmentPieces (checked by rendering_checks.cpp). Out: a target of load, store and resolve. Source: PanVK's framebuffer
// abstraction, "A new framebuffer abstraction" (pieces are decoupled; views need not be the same; in bounds and border).
#pragma once

#include "framebuffer/framebuffer.hpp"

namespace tilegpu::framebuffer {

/// One target of the three pieces that have views.
struct PieceTarget {
  LoadTarget* load;
  StoreTarget* store;
  ResolveTarget* resolve;
};

/// Null: Vulkan's operations say what happens to this target. `index`: colour, then depth, then stencil.
inline const AttachmentPieces* pieces_of(const RenderingInfo& info, uint32_t index) {
  assert(index < kMaxColorAttachments + 2);
  const RenderingAttachment* a = index == kMaxColorAttachments  ? &info.depth
                                 : index > kMaxColorAttachments ? &info.stencil
                                 : index < info.color.size()    ? &info.color[index]
                                                                : nullptr;
  return a && a->pieces ? &*a->pieces : nullptr;
}

inline bool has_own_pieces(const RenderingInfo& info) {
  for (uint32_t i = 0; i < kMaxColorAttachments + 2; ++i)
    if (pieces_of(info, i)) return true;
  return false;
}

constexpr ResolveOp resolve_op(TileSource source) { return static_cast<ResolveOp>(source); }
static_assert(resolve_op(TileSource::color7) == ResolveOp::rt7 && resolve_op(TileSource::stencil) == ResolveOp::s);

/// Inside the render area. `samples`: the pass's.
void map_pieces(const RenderingAttachment& a, uint32_t samples, const PieceTarget& t);
/// Around it, where the stored image is `in_blocks` and the tiling area is larger; then the resolve goes into the store if it can. Error:
/// what the stored image has there can't be kept. `name`: of the attachment, with its pass.
Status map_border(const AttachmentPieces& own, const Layout& layout, bool in_blocks, const PieceTarget& t, ResolveOp op, bool is_color,
                  const std::string& name);

}  // namespace tilegpu::framebuffer
