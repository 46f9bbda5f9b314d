// tile/plan/test_rules.cpp -- see test_rules.hpp.
#include "tile/plan/test_rules.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace tilegpu::tile {

namespace {

StencilFace make_face(const VkStencilOpState& op) {
  return {op.compareOp, op.failOp, op.passOp, op.depthFailOp, op.compareMask, op.writeMask, op.reference};
}

}  // namespace

void depth_encoding(VkFormat format, bool& unorm, double& scale) {
  switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D16_UNORM_S8_UINT:
      unorm = true, scale = 65535;
      break;
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D24_UNORM_S8_UINT:
      unorm = true, scale = 16777215;
      break;
    default:
      unorm = false, scale = 0;
  }
}

TestRules make_test_rules(const command::DrawState& state, const tile_io::HostTile& tile, bool write) {
  TestRules t;
  const DepthStencilState& ds = state.depth_stencil;
  t.has_depth = tile.depth.words != 0;
  t.has_stencil = tile.stencil.words != 0;
  t.depth_test = ds.depth_test && t.has_depth;
  t.depth_write = ds.depth_write && t.depth_test && write;
  t.bounds_test = ds.depth_bounds_test && t.has_depth;
  t.stencil_test = ds.stencil_test && t.has_stencil;
  assert(!ds.depth_test || ds.depth_compare <= VK_COMPARE_OP_ALWAYS);
  assert(!ds.stencil_test || (ds.front.compareOp <= VK_COMPARE_OP_ALWAYS && ds.back.compareOp <= VK_COMPARE_OP_ALWAYS));
  t.compare = ds.depth_compare;
  depth_encoding(tile.depth_format, t.unorm, t.unorm_scale);
  // Without depth clamp Vulkan still limits depth to 0..1, but for floats of VK_EXT_depth_range_unrestricted.
  if (tile.unrestricted_depth) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const auto [lo, hi] = state.rasterization.clamp_range(state.viewport);
    t.range_lo = state.rasterization.depth_clamp ? lo : -kInfinity;
    t.range_hi = state.rasterization.depth_clamp ? hi : kInfinity;
  } else if (state.rasterization.depth_clamp) {
    const auto limit = [](float v) { return v > 0 ? std::min(v, 1.0f) : 0.0f; };
    const auto [lo, hi] = state.rasterization.clamp_range(state.viewport);
    t.range_lo = limit(lo), t.range_hi = limit(hi);
  }
  t.bounds_lo = ds.min_depth_bounds;
  t.bounds_hi = ds.max_depth_bounds;
  t.face[0] = make_face(ds.front);
  t.face[1] = make_face(ds.back);
  return t;
}

bool TestRules::breaks_far() const {
  return depth_test && depth_write && !nearer_wins() && compare != VK_COMPARE_OP_NEVER && compare != VK_COMPARE_OP_EQUAL;
}

bool TestRules::breaks_near() const {
  return depth_test && depth_write && !farther_wins() && compare != VK_COMPARE_OP_NEVER && compare != VK_COMPARE_OP_EQUAL;
}

bool TestRules::kills_early() const { return only_depth() && (nearer_wins() || farther_wins() || !depth_write); }

bool lists_serve(const TestRules& rules, ListTest& out) {
  out = {};
  if (rules.stencil_test || rules.bounds_test) return false;
  if (!rules.has_depth) return true;
  if (!rules.depth_test || !rules.depth_write) return false;
  out.always = rules.compare == VK_COMPARE_OP_ALWAYS;
  out.sign = rules.farther_wins() ? -1 : 1;
  out.bias = rules.compare == VK_COMPARE_OP_LESS_OR_EQUAL || rules.compare == VK_COMPARE_OP_GREATER_OR_EQUAL ? 1 : 0;
  return out.always || rules.nearer_wins() || rules.farther_wins();
}

const char* filter_obstacle(const TestRules& rules, bool reverse) {
  if (!rules.depth_test) return "no depth test";
  if (reverse && !rules.farther_wins())
    return "depth compare is neither GREATER nor GREATER_OR_EQUAL, as the pass's planes go: being behind one does not mean being hidden";
  if (!reverse && !rules.nearer_wins())
    return "depth compare is neither LESS nor LESS_OR_EQUAL, as the pass's planes go: being behind one does not mean being hidden";
  if (rules.stencil_test) return "stencil test: a sample that fails may still change the stencil";
  if (rules.bounds_test) return "depth bounds test: it looks at the stored depth";
  return nullptr;
}

}  // namespace tilegpu::tile
