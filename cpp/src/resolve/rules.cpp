// resolve/rules.cpp -- see rules.hpp. Source: docs/decisions.md, 24. One of the upstream oddities listed in 30
// (in-bounds lowered twice, border never) is not repeated.
#include "resolve/rules.hpp"

#include <cassert>

namespace tilegpu::resolve {
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

bool fold(ResolveSide& in_bounds, ResolveSide& border, MsaaCopy& store, ResolveOp own, bool is_color, bool can_average, uint32_t samples,
          bool has_border) {
  assert(own != ResolveOp::none && own != ResolveOp::image);
  if (samples <= 1 || store != MsaaCopy::sample_zero) return false;
  lower_image(in_bounds);
  lower_image(border);
  if (!has_border) border = in_bounds;
  const bool both_fold = folds(in_bounds, own, is_color, can_average) && folds(border, own, is_color, can_average);
  const bool inside_image = in_bounds.op == ResolveOp::image, border_image = border.op == ResolveOp::image;
  if (!both_fold || (inside_image && border_image)) {
    if (!has_border) border = {};
    return false;
  }
  MsaaCopy copy;
  if (inside_image) {
    copy = border.msaa;
  } else if (border_image || in_bounds.msaa == border.msaa || border.msaa == MsaaCopy::identical) {
    copy = in_bounds.msaa;
  } else if (in_bounds.msaa == MsaaCopy::identical) {
    copy = border.msaa;
  } else {
    return false;
  }
  store = copy == MsaaCopy::identical ? MsaaCopy::sample_zero : copy;
  assert(store != MsaaCopy::all);  // one sample leaves the tile
  if (!inside_image) in_bounds = {};
  if (!border_image) border = {};
  return !inside_image && !border_image;
}

}  // namespace tilegpu::resolve
