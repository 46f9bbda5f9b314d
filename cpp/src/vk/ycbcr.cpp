// vk/ycbcr.cpp -- see ycbcr.hpp.
#include "vk/ycbcr.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <vector>

namespace tilegpu::vk {
namespace {

constexpr size_t kRed = 0, kGreen = 1, kBlue = 2;

SampledPlane texels_of(uint8_t texel_B, uint8_t plane, uint8_t x_log2, uint8_t y_log2) {
  SampledPlane p;
  p.texel.name = "plane";
  p.texel.numeric = Numeric::unorm;
  p.texel.sampled = p.texel.linear_filter = true;
  p.texel.texel_B = texel_B;
  p.plane = plane, p.x_log2 = x_log2, p.y_log2 = y_log2;
  return p;
}

void add(SampledPlane& p, size_t component, Component at) {
  p.texel.rgba[component] = at;
  p.texel.component_count++;
}

std::vector<SampledPlane> planes_of(const FormatInfo& f) {
  assert(f.needs_conversion());
  std::vector<SampledPlane> planes;
  if (!f.is_multi_planar()) {
    // Each half of a block has a G at the same place; what is beside it belongs to the block.
    planes.push_back(texels_of(static_cast<uint8_t>(f.texel_B / 2), 0, 0, 0));
    planes.push_back(texels_of(f.texel_B, 0, f.chroma_x_log2, f.chroma_y_log2));
    add(planes[0], kGreen, f.rgba[kGreen]);
    for (const size_t c : {kRed, kBlue}) add(planes[1], c, f.rgba[c]);
    return planes;
  }
  for (uint8_t k = 0; k < f.plane_count; ++k)
    planes.push_back(texels_of(find_format(f.planes[k].format)->texel_B, k, f.planes[k].x_log2, f.planes[k].y_log2));
  add(planes[0], kGreen, f.rgba[kGreen]);
  add(planes[1], kBlue, f.rgba[kBlue]);
  add(planes.back(), kRed, f.rgba[kRed]);
  return planes;
}

}  // namespace

std::span<const SampledPlane> sampled_planes(const FormatInfo& format) {
  // Kept for threads that still compile while the process ends.
  static const std::map<VkFormat, std::vector<SampledPlane>>& all = *[] {
    auto* made = new std::map<VkFormat, std::vector<SampledPlane>>;
    for (const FormatInfo& f : all_formats())
      if (f.needs_conversion()) made->emplace(f.format, planes_of(f));
    return made;
  }();
  assert(all.count(format.format));
  return all.at(format.format);
}

YcbcrModel ycbcr_model(VkSamplerYcbcrModelConversion model) {
  switch (model) {
    case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_709:
      return {1.5748f, static_cast<float>(0.13397432 / 0.7152), static_cast<float>(0.33480248 / 0.7152), 1.8556f};
    case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_601:
      return {1.402f, static_cast<float>(0.202008 / 0.587), static_cast<float>(0.419198 / 0.587), 1.772f};
    default:
      assert(model == VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_2020);
      return {1.4746f, static_cast<float>(0.11156702 / 0.6780), static_cast<float>(0.38737742 / 0.6780), 1.8814f};
  }
}

YcbcrRange luma_range(VkSamplerYcbcrRange range, uint32_t bits) {
  assert(bits >= 1 && bits <= 16);
  if (range == VK_SAMPLER_YCBCR_RANGE_ITU_FULL) return {0, (1u << bits) - 1};
  assert(bits >= 8);
  return {16u << (bits - 8), 219u << (bits - 8)};
}

YcbcrRange chroma_range(VkSamplerYcbcrRange range, uint32_t bits) {
  assert(bits >= 1 && bits <= 16);
  if (range == VK_SAMPLER_YCBCR_RANGE_ITU_FULL) return {1u << (bits - 1), (1u << bits) - 1};
  assert(bits >= 8);
  return {128u << (bits - 8), 224u << (bits - 8)};
}

}  // namespace tilegpu::vk
