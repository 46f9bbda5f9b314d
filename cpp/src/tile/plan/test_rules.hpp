// tile/plan/test_rules.hpp -- what a draw's depth and stencil tests do, as plain values. In: the draw's state, the formats of the tile.
// Out: rules that plan.hpp chooses the way by, and that depth_stencil.hpp, sample_lists.hpp and filtered_tests.hpp carry out. Source:
// Vulkan specification, "Fragment Operations": "Depth Bounds Test", "Stencil Test", "Depth Test".
#pragma once

#include <cstdint>

#include "command/draw.hpp"
#include "records/primitive_setup.hpp"
#include "tile_io/tile_io.hpp"

namespace tilegpu::tile {

struct StencilFace {
  VkCompareOp compare = VK_COMPARE_OP_ALWAYS;
  VkStencilOp fail = VK_STENCIL_OP_KEEP, pass = VK_STENCIL_OP_KEEP, depth_fail = VK_STENCIL_OP_KEEP;
  uint32_t compare_mask = 0xff, write_mask = 0xff, reference = 0;
};

/// With the depth that is allowed.
struct TestRules : records::DepthLimits {
  bool has_depth = false, has_stencil = false;  // attachments
  // False where the attachment is not there.
  bool depth_test = false, depth_write = false, bounds_test = false, stencil_test = false;
  bool unorm = false;  // fixed-point depth
  VkCompareOp compare = VK_COMPARE_OP_ALWAYS;
  double unorm_scale = 0;  // 65535 or 16777215
  float bounds_lo = 0, bounds_hi = 1;
  StencilFace face[2];

  /// Anything at all that may fail or be written.
  bool any() const { return depth_test || stencil_test || bounds_test; }
  /// The test of depth alone.
  bool only_depth() const { return depth_test && !stencil_test && !bounds_test; }
  bool nearer_wins() const { return compare == VK_COMPARE_OP_LESS || compare == VK_COMPARE_OP_LESS_OR_EQUAL; }
  bool farther_wins() const { return compare == VK_COMPARE_OP_GREATER || compare == VK_COMPARE_OP_GREATER_OR_EQUAL; }
  /// A far bound of a block's depth says what is hidden (hidden_blocks).
  bool bounded() const { return only_depth() && nearer_wins(); }
  /// Far bounds would not hold any more: depth may grow.
  bool breaks_far() const;
  /// The same of reverse Z: depth may shrink.
  bool breaks_near() const;
  /// May a failed early test be trusted while quads of the same draw, which will write depth later, still wait? Only where each
  /// write makes the test harder to pass.
  bool kills_early() const;
};

/// `write`: false where depth is tested only.
TestRules make_test_rules(const command::DrawState& state, const tile_io::HostTile& tile, bool write = true);

/// Fixed-point depth, and 2^bits - 1; else floats.
void depth_encoding(VkFormat format, bool& unorm, double& scale);

/// How a draw compares, as one rule on signed words: passes where sign * now < sign * old + bias.
struct ListTest {
  bool always = true;
  int32_t sign = 1, bias = 0;
};
/// Whether lists (sample_lists.hpp) serve a draw with these tests, which goes through the visibility buffer; and its rule.
bool lists_serve(const TestRules& rules, ListTest& out);

/// Why a depth filter must not reject samples of draws with these rules, or null. Their writes are followed all the same. `reverse`: the
/// filter's near is depth 1.
const char* filter_obstacle(const TestRules& rules, bool reverse);

}  // namespace tilegpu::tile
