// exec/depth_filter_positions.cpp -- see depth_filter_positions.hpp.
#include "exec/depth_filter_positions.hpp"

#include <algorithm>

namespace tilegpu::exec {

namespace {

double unorm_scale(VkFormat format) {
  switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D16_UNORM_S8_UINT:
      return 65535;
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D24_UNORM_S8_UINT:
      return 16777215;
    default:
      return 0;
  }
}

// Near is where the first draw says that asks which of two is nearer; planes have one direction in a pass.
bool is_reverse(std::span<const command::DrawCall> draws) {
  for (const command::DrawCall& draw : draws) {
    const DepthStencilState& ds = draw.state->depth_stencil;
    if (!ds.depth_test) continue;
    switch (ds.depth_compare) {
      case VK_COMPARE_OP_LESS:
      case VK_COMPARE_OP_LESS_OR_EQUAL:
        return false;
      case VK_COMPARE_OP_GREATER:
      case VK_COMPARE_OP_GREATER_OR_EQUAL:
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace

hsr::FilterPosition* begin_depth_filter(const command::Pass& pass, FilterPositions& positions, tile::PassContext& context) {
  context.filter_planes = {};
  context.depth_holds_far = false;
  const Ptr<ImageView>& view = pass.info.depth.view;
  if (context.hsr.depth_filter == DepthFilter::off || !view) return nullptr;
  std::erase_if(positions, [](const FilterPositionOf& p) { return p.depth.expired(); });
  const Ptr<Image>& image = view->image();
  auto at = std::find_if(positions.begin(), positions.end(), [&](const FilterPositionOf& p) { return p.depth.lock() == image; });
  if (at == positions.end()) at = positions.insert(positions.end(), {image, {}});
  if (context.hsr.depth_filter_position) at->position = {context.hsr.depth_filter_position};
  hsr::FilterPlacing placing;
  placing.position = at->position.position;
  if (context.hsr.depth_filter_spacing) placing.spacing = context.hsr.depth_filter_spacing;
  placing.reverse = is_reverse(context.draws);
  context.filter_planes = hsr::make_filter_planes(context.hsr.depth_filter, placing, unorm_scale(context.tile.depth_format));
  const framebuffer::LoadTarget& load = pass.framebuffer.load.z;
  context.depth_holds_far =
      load.in_bounds == framebuffer::LoadOp::clear && load.clear.depthStencil.depth == (placing.reverse ? 0.0f : 1.0f);
  return &at->position;
}

}  // namespace tilegpu::exec
