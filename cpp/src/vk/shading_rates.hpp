// vk/shading_rates.hpp -- which fragment sizes there are for each sample count, how sizes are clamped to them, and how three of them are
// combined. In: sizes of the pipeline, of a primitive, of an attachment's texel. Out: the size of a fragment.
// Source: Vulkan specification, "Fragment Shading Rates" (vkGetPhysicalDeviceFragmentShadingRatesKHR, "Combining the Fragment Shading
// Rates"); docs/decisions.md, 428.
#pragma once

#include <vulkan/vulkan_core.h>

#include <array>
#include <cassert>
#include <cstdint>

namespace tilegpu::vk {

/// A fragment's width and height as powers of two.
struct FragmentSize {
  uint32_t log2_width = 0, log2_height = 0;

  uint32_t width_px() const { return 1u << log2_width; }
  uint32_t height_px() const { return 1u << log2_height; }
  bool is_one_pixel() const { return !(log2_width | log2_height); }
  bool operator==(const FragmentSize&) const = default;
};

/// maxFragmentSize, maxFragmentSizeAspectRatio, maxFragmentShadingRateCoverageSamples, maxFragmentShadingRateRasterizationSamples.
inline constexpr uint32_t kMaxFragmentSize_px = 4, kMaxFragmentAspectRatio = 2, kMaxFragmentCoverageSamples = 32,
                          kMaxShadingRateSamples = 4;

/// SPIR-V's Fragment Shading Rate, which texels of attachments have too: other bits are not looked at.
constexpr FragmentSize fragment_size_of(uint32_t encoded) { return {encoded >> 2 & 3, encoded & 3}; }
constexpr uint32_t encoded(const FragmentSize& size) { return size.log2_width << 2 | size.log2_height; }

/// Whether fragments may have that size where pixels have so many samples.
constexpr bool is_supported(const FragmentSize& size, uint32_t samples) {
  if (!(size.log2_width | size.log2_height)) return true;
  const uint32_t width = 1u << size.log2_width, height = 1u << size.log2_height;
  return width <= kMaxFragmentSize_px && height <= kMaxFragmentSize_px && samples <= kMaxShadingRateSamples &&
         width <= kMaxFragmentAspectRatio * height && height <= kMaxFragmentAspectRatio * width &&
         width * height * samples <= kMaxFragmentCoverageSamples;
}

/// The largest area of what is supported and no wider or higher; of those of one area the squarest. Where a wide and a tall one are left,
/// the wide one.
constexpr FragmentSize clamped(const FragmentSize& size, uint32_t samples) {
  if (is_supported(size, samples)) return size;
  FragmentSize best;
  const auto least = [](uint32_t a, uint32_t b) { return a < b ? a : b; };
  for (uint32_t w = 0; w <= least(size.log2_width, 2); w++)
    for (uint32_t h = 0; h <= least(size.log2_height, 2); h++) {
      const FragmentSize at{w, h};
      if (!is_supported(at, samples)) continue;
      const uint32_t area = w + h, best_area = best.log2_width + best.log2_height;
      const uint32_t sides = (1u << w) + (1u << h), best_sides = (1u << best.log2_width) + (1u << best.log2_height);
      if (area > best_area || (area == best_area && sides <= best_sides)) best = at;
    }
  return best;
}

/// "Performed in a component-wise fashion." Not clamped.
constexpr FragmentSize combined(VkFragmentShadingRateCombinerOpKHR op, const FragmentSize& a, const FragmentSize& b) {
  const auto one = [op](uint32_t x, uint32_t y) {
    switch (op) {
      case VK_FRAGMENT_SHADING_RATE_COMBINER_OP_REPLACE_KHR:
        return y;
      case VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MIN_KHR:
        return x < y ? x : y;
      case VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MAX_KHR:
        return x < y ? y : x;
      case VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MUL_KHR:
        return x + y;  // fragmentShadingRateStrictMultiplyCombiner
      default:
        return x;
    }
  };
  return {one(a.log2_width, b.log2_width), one(a.log2_height, b.log2_height)};
}

/// One of the two combinations; its inputs and its result are clamped (fragmentShadingRateClampCombinerInputs).
constexpr FragmentSize combined_and_clamped(VkFragmentShadingRateCombinerOpKHR op, const FragmentSize& a, const FragmentSize& b,
                                            uint32_t samples) {
  return clamped(combined(op, clamped(a, samples), clamped(b, samples)), samples);
}

/// A size in pixels, each side 1, 2 or 4.
constexpr FragmentSize fragment_size(uint32_t width_px, uint32_t height_px) {
  const auto log2 = [](uint32_t v) { return v >= 4 ? 2u : v >= 2 ? 1u : 0u; };
  return {log2(width_px), log2(height_px)};
}

/// What vkGetPhysicalDeviceFragmentShadingRatesKHR gives, in its order.
struct ShadingRateRow {
  FragmentSize size;
  VkSampleCountFlags sample_counts = 0;  // ~0: of 1x1
};
inline constexpr uint32_t kShadingRates = 7;
constexpr std::array<ShadingRateRow, kShadingRates> shading_rates() {
  std::array<ShadingRateRow, kShadingRates> rows{};
  uint32_t used = 0;
  for (uint32_t w = 3; w-- > 0;)
    for (uint32_t h = 3; h-- > 0;) {
      VkSampleCountFlags counts = 0;
      for (uint32_t samples = 1; samples <= kMaxShadingRateSamples; samples *= 2)
        if (is_supported({w, h}, samples)) counts |= samples;
      if (!counts) continue;
      rows[used++] = {{w, h}, w + h == 0 ? ~0u : counts};
    }
  return rows;
}
static_assert(shading_rates()[kShadingRates - 1].sample_counts == ~0u);

}  // namespace tilegpu::vk
