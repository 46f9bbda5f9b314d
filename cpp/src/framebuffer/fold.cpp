// framebuffer/fold.cpp -- folding a resolve into the store: samples are reduced on their way out, and no resolve runs.
//
// In: a target's resolve and store. Out: both, changed. Source: docs/decisions.md, 24. One of the upstream oddities listed in 30
// (in-bounds lowered twice, border never) is not repeated.
#include "framebuffer/resolve.hpp"

namespace tilegpu::framebuffer {
namespace {

/// Only sample 0 leaves the tile, so that an image copy of all samples need only bring that one.
void lower_image(ResolveSide& side) {
  if (side.op == ResolveOp::image && side.msaa == MsaaCopy::all) side.msaa = MsaaCopy::sample_zero;
}

bool folds(const ResolveSide& side, ResolveOp own, bool is_color, bool can_average) {
  if (side.op == ResolveOp::image) return side.msaa != MsaaCopy::all;
  if (side.op != own) return false;
  switch (side.msaa) {
    case MsaaCopy::identical:
    case MsaaCopy::sample_zero:
      return true;
    case MsaaCopy::average:
      return can_average;
    case MsaaCopy::min:
    case MsaaCopy::max:
      return can_average || !is_color;
    default:
      return false;
  }
}

}  // namespace

bool fold_resolve(ResolveTarget& resolve, StoreTarget& store, ResolveOp own, bool is_color, bool can_average, uint32_t samples,
                  bool has_border) {
  if (samples <= 1 || !store.store || store.msaa != MsaaCopy::sample_zero) return false;
  lower_image(resolve.in_bounds);
  lower_image(resolve.border);
  if (!has_border) resolve.border = resolve.in_bounds;
  const bool both_fold = folds(resolve.in_bounds, own, is_color, can_average) && folds(resolve.border, own, is_color, can_average);
  const bool inside_image = resolve.in_bounds.op == ResolveOp::image, border_image = resolve.border.op == ResolveOp::image;
  if (!both_fold || (inside_image && border_image)) {
    if (!has_border) resolve.border = {};
    return false;
  }
  MsaaCopy copy;
  if (inside_image) {
    copy = resolve.border.msaa;
  } else if (border_image || resolve.in_bounds.msaa == resolve.border.msaa || resolve.border.msaa == MsaaCopy::identical) {
    copy = resolve.in_bounds.msaa;
  } else if (resolve.in_bounds.msaa == MsaaCopy::identical) {
    copy = resolve.border.msaa;
  } else {
    return false;
  }
  store.msaa = copy == MsaaCopy::identical ? MsaaCopy::sample_zero : copy;
  if (!inside_image) resolve.in_bounds = {};
  if (!border_image) resolve.border = {};
  return !inside_image && !border_image;
}

}  // namespace tilegpu::framebuffer
