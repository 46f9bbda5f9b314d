// tile/plan/clear_texels.hpp -- where a texture that decides whether anything is seen of a fragment (pipeline::FaintTexture) has nothing.
//
// In: a draw; its texture's texels, which nobody writes while the pass goes on. Out: bits, made once by each thread that asks; of a
// primitive, whether a block of 4x4 pixels can show anything at all. A block is passed by only where it is sure, whatever rounding does,
// that each texel that a filter could take has a code of 0, or one so small that the shader discards the fragment: then the shader's
// colour is 0 or no number, and blending leaves what is there, bit for bit; or nothing is left to be written. Source: docs/decisions.md,
// 550 and 552; Vulkan specification, "Image Operations" (levels, texel filtering), "Basic Polygon Rasterization" (perspective).
#pragma once

#include <array>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/simd.hpp"
#include "records/coverage_rule.hpp"
#include "tile/plan/pass_context.hpp"

namespace tilegpu::tile {

/// One level's planes of bits, one behind the other: whether of a square that begins at a texel, beyond the edges too, some texel shows.
/// One for each size of squares.
struct ClearLevel {
  int32_t width = 0, height = 0;
  uint32_t pitch_B = 0;
  const uint8_t* rows = nullptr;
};
struct TexelMap {
  const shader::ImageViewAbi* view = nullptr;
  uint32_t component = 0, most = 0;  // codes above that show
  std::array<ClearLevel, shader::kMaxMipLevels + 1> levels;
  std::vector<uint8_t> bits;
};

std::unique_ptr<TexelMap> read_texels(const shader::ImageViewAbi& view, uint32_t component, uint32_t most);

/// What a draw's blocks are asked about; no map: nothing.
struct FaintDraw {
  const TexelMap* map = nullptr;
  int32_t lowest = 0, highest = 0;  // of levels that the sampler allows
  std::array<uint32_t, 2> rows{};   // of the coordinate's varyings
  double beyond_px = 0;             // as far as pixels that count may lie outside of the primitive, by axis
};

/// Those of a pass that one thread has looked at.
class ClearTexels {
 public:
  /// Whatever was there may have been written since.
  void begin_pass(const PassContext& pass) {
    pass_ = &pass;
    maps_.clear();
    kept_.clear();
    asked_ = chosen_ = false;
  }
  /// Of a draw that goes in order, straight from its tests to a shader without which nothing else happens; `rule`: how it is covered.
  FaintDraw of(const command::DrawCall& draw, const records::CoverageRule& rule);

 private:
  bool stays();
  bool is_kept(const shader::ImageViewAbi& view);
  const TexelMap& map_of(const shader::ImageViewAbi& view, uint32_t component, uint32_t most);

  const PassContext* pass_ = nullptr;
  bool asked_ = false, stays_ = false;  // whether texels stay as they are while the pass goes on
  bool chosen_ = false;
  std::unordered_set<const shader::ImageViewAbi*> kept_;  // textures that have maps when somebody asks
  std::vector<std::unique_ptr<TexelMap>> maps_;
};

/// The blocks of one primitive.
class FaintBlocks {
 public:
  /// `setup`: of the record, its vertices shaded.
  FaintBlocks(const FaintDraw& draw, const records::TriangleRecord& record, const shader::PrimitiveSetup& setup);
  /// Whether the block with the framebuffer's pixel (x, y) as its first may show something.
  bool shows(int32_t x_px, int32_t y_px) const;

 private:
  // Two levels, which may be the same. Lanes: column and row in each of the texel at which a block's square begins.
  struct Levels {
    f32x4 at, from, x, y;  // at + (from + x * X + y * Y) / q; where that is 1, at + x * X + y * Y
    f32x4 least, most;     // of all pixels that count
    f32x4 limit;           // the last texel from which a square lies among those that are known
    int32_t first, last;   // levels, with the number of their squares' plane << 8
    bool ends;             // some squares of the primitive's do not
  };
  struct Footprint;
  bool find_footprint(Footprint& of, const records::TriangleRecord& record, const shader::PrimitiveSetup& setup);
  bool fill(Levels& of, const Footprint& footprint, int32_t first, int32_t last) const;
  bool shows_at(const Levels& of, f32x4 places) const;
  bool shows_otherwise(float x_px, float y_px) const;

  const FaintDraw* draw_ = nullptr;
  uint32_t pairs_ = 0;               // of levels; 0: everything may show
  bool perspective_ = false;         // else q is 1
  bool plain_ = false;               // one pair, q is 1, and all squares lie among texels that are known
  int32_t x_px_ = 0, y_px_ = 0;      // a pixel near the primitive, from which X and Y count
  float q_ = 1, q_x_ = 0, q_y_ = 0;  // there, and from pixel to pixel
  std::array<Levels, 2> levels_;
};

}  // namespace tilegpu::tile
