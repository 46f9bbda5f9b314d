// fuzz/common/pass_model.hpp -- a render pass on whole images, sample by sample in the order of the commands, in double precision.
//
// In: attachments' formats, clears and draws with their states and flat values. Out: what each sample of each layer holds, and whether that
// is known: a comparison or a rounding so near to a tie that floats decide makes the sample unknown from then on. No bins, no blocks, no
// hidden-surface removal. Source: Vulkan specification, "Basic Polygon Rasterization", "Points", "Multisampling", "Depth Bias", "Fragment
// Operations", "Blending", "Logical Operations", "Render Pass Multisample Resolve Operations", "Primitive Topologies".
#pragma once

#include <optional>
#include <span>

#include "common/texel_model.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::fuzz {

/// What a fragment shader does beside writing its flat colour; smooth: the colour is interpolated, with perspective.
enum class Fragment : uint8_t { plain, holes, depth, mask, facing, early_holes, sample_number, smooth, count };

struct FlatVertex {
  float position[4], color[4];
};

struct ModelDraw {
  const GraphicsState* state = nullptr;
  Fragment fragment = Fragment::plain;
  VkViewport viewport{};
  VkRect2D scissor{};
  std::vector<FlatVertex> vertices;
  std::vector<uint32_t> indices;  ///< empty: the vertices one after the other; ~0: a restart
  uint64_t* counted = nullptr;    ///< samples that pass, added up
  bool* counted_unknown = nullptr;
};

/// A colour's, or depth's and stencil's number at a sample: codes of fixed point, else values.
struct ModelSample {
  Color color[2] = {};
  double depth = 0, depth_slack = 0;
  uint32_t stencil = 0;
  bool unknown = false;    ///< whether it passed some test is
  float slack[2] = {};     ///< of a colour of floats that was interpolated
  uint8_t unsure[2] = {};  ///< components of a colour whose rounding is
};

class PassModel {
 public:
  PassModel(uint32_t width, uint32_t height, uint32_t layers, uint32_t samples, std::span<const char* const> colors, const char* depth);
  void clear_color(uint32_t target, const VkClearValue& value, const VkRect2D& area);
  void clear_depth(float depth, const VkRect2D& area);
  void clear_stencil(uint32_t stencil, const VkRect2D& area);
  void draw(const ModelDraw& draw, const VkRect2D& area);
  const ModelSample& at(uint32_t layer, uint32_t x, uint32_t y, uint32_t sample) const { return samples_[index(layer, x, y) + sample]; }
  /// A resolve's; `unsure`: components that are not known.
  Color average(uint32_t target, uint32_t layer, uint32_t x, uint32_t y, uint32_t& unsure) const;
  const TexelModel& color(uint32_t target) const { return colors_[target]; }
  uint32_t depth_bits() const { return depth_bits_; }
  double depth_most() const { return depth_bits_ == 32 ? 1 : static_cast<double>((1u << depth_bits_) - 1); }

 private:
  struct Primitive {
    const FlatVertex* corner[3];
    const FlatVertex* provoking;
    uint32_t number;
  };
  struct Placed;
  size_t index(uint32_t layer, uint32_t x, uint32_t y) const {
    return ((static_cast<size_t>(layer) * height_ + y) * width_ + x) * sample_count_;
  }
  template <class F>
  void each(const VkRect2D& area, F&& f);
  void primitive(const ModelDraw& draw, const Primitive& p, const VkRect2D& area, uint32_t layer);
  void fragment(const ModelDraw& draw, const Placed& placed, uint32_t x, uint32_t y, uint32_t layer);
  bool tests(const ModelDraw& draw, const Placed& placed, ModelSample& sample, double x, double y);
  void blend(const ModelDraw& draw, ModelSample& sample, const Color& source, double slack);
  double depth_code(double z, double& slack) const;

  uint32_t width_, height_, layers_, sample_count_, depth_bits_ = 0;
  bool has_stencil_ = false;
  std::vector<TexelModel> colors_;
  std::vector<ModelSample> samples_;
};

/// GLSL, with the outputs that the formats want; `views`: gl_ViewIndex turns the colour.
std::string flat_vertex_text(Fragment fragment, bool views);
std::string flat_fragment_text(Fragment fragment, std::span<const char* const> colors);
/// Places of samples in sixteenths, from the specification's table.
std::span<const int[2]> sample_places(uint32_t samples);

}  // namespace tilegpu::fuzz
