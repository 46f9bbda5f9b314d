// fuzz/common/sampling_model.hpp -- what a sampler makes of an image, one sample at a time, in double precision.
//
// In: a view's texels, a sampler, coordinates and derivatives. Out: the four numbers, how far floats and weights of 14 bits may be from
// them, and whether the sample is too near to a place where they jump to say anything. Source: Vulkan specification, chapter "Image
// Operations"; where it leaves a choice, the one that tilegpu's sources state: N of anisotropic filtering rounded up, Catmull-Rom weights,
// the longer of two derivatives' lengths as rho, the level ceil(d + 1/2) - 1, layers to nearest even.
#pragma once

#include <vector>

#include "common/texel_model.hpp"
#include "tilegpu/resource.hpp"

namespace tilegpu::fuzz {

struct ModelLevel {
  int width = 1, height = 1, depth = 1;  ///< depth: slices, or layers (faces of cubes)
  std::vector<Color> texels;
  const Color& at(int x, int y, int z) const { return texels[static_cast<size_t>((z * height + y) * width + x)]; }
};

struct ModelView {
  VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
  std::vector<ModelLevel> levels;
  std::array<bool, 4> present{};                                ///< components
  bool is_integer = false, is_depth = false, is_fixed = false;  ///< is_fixed: depth of UNORM, which clamps what it is compared with
  VkComponentMapping swizzle = {};
  float least_lod = 0;
};

struct SampleRequest {
  double at[3] = {}, layer = 0, dx[3] = {}, dy[3] = {};
  double lod = 0, bias = 0, dref = 0, least_lod = -1e30;
  int offset[3] = {}, component = 0;
};

struct SampleAnswer {
  Color value{}, slack{};
  bool unsure = false;
};

class SamplingModel {
 public:
  SamplingModel(const ModelView& view, const SamplerCreateInfo& sampler, bool compares) : v_(view), s_(sampler), compares_(compares) {}
  /// `explicit_lod`: the request's, no derivatives.
  SampleAnswer sample(const SampleRequest& q, bool explicit_lod) const;
  SampleAnswer gather(const SampleRequest& q) const;
  SampleAnswer query_lod(const SampleRequest& q) const;
  /// at: whole numbers, lod: the level; texels that there are not are zeros.
  SampleAnswer fetch(const SampleRequest& q) const;

  bool is_cube() const { return v_.type == VK_IMAGE_VIEW_TYPE_CUBE || v_.type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY; }
  bool is_array() const {
    return v_.type == VK_IMAGE_VIEW_TYPE_1D_ARRAY || v_.type == VK_IMAGE_VIEW_TYPE_2D_ARRAY || v_.type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
  }
  bool is_volume() const { return v_.type == VK_IMAGE_VIEW_TYPE_3D; }
  bool is_line() const { return v_.type == VK_IMAGE_VIEW_TYPE_1D || v_.type == VK_IMAGE_VIEW_TYPE_1D_ARRAY; }

 private:
  /// What is known of a sum on the way.
  struct Sum {
    Color value{}, least{}, most{}, slack{};
    bool unsure = false;
  };
  struct Place {
    double at[3];
    int face;
  };
  struct Levels {
    double lambda = 0, slack = 0, count = 1, d = 0, fraction = 0;
    int first = 0;
    bool along_x = false, unsure = false, magnified = false;
  };
  struct Tap {
    int index;
    double weight, slack;
    bool outside;
  };
  Place place(const double at[3], bool& unsure) const;
  Levels levels_of(const SampleRequest& q, bool explicit_lod) const;
  std::vector<Tap> taps(VkSamplerAddressMode mode, double coordinate, int size, int offset, VkFilter filter, bool clamps,
                        bool& unsure) const;
  Color texel(const ModelLevel& level, int x, int y, int z, bool outside, double dref) const;
  Color face_texel(const ModelLevel& level, int layer, int face, int x, int y, double dref, bool& corner) const;
  Sum filtered(const ModelLevel& level, const Place& at, const SampleRequest& q, VkFilter filter) const;
  Sum one(const Place& at, const SampleRequest& q, const Levels& levels) const;
  void add(Sum& sum, const Color& color, double weight, bool first) const;
  int layer_of(double layer) const;
  bool seamless() const { return is_cube() && !s_.non_seamless_cube_map; }
  Color swizzled(const Color& color) const;

  const ModelView& v_;
  const SamplerCreateInfo& s_;
  bool compares_;
};

}  // namespace tilegpu::fuzz
