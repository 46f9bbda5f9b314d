// fuzz/common/sampling_shader.hpp -- fragment shaders that sample one texture in one way, with all else from a buffer.
//
// In: how, the view's type, the kind of numbers. Out: GLSL; few different texts, so that a device compiles each once.
#pragma once

#include <cstdint>
#include <string>

#include <vulkan/vulkan_core.h>

namespace tilegpu::fuzz {

enum class SampleOp : uint8_t {
  implicit,
  biased,
  lod,
  gradient,
  clamped,
  offset_lod,
  offset_gradient,
  gather,
  gather_offset,
  query_lod,
  fetch,
  size,
  count
};

struct SampleKind {
  SampleOp op = SampleOp::implicit;
  VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
  const char* prefix = "";  ///< u, i: of integers
  bool compares = false;
  uint32_t component = 0, offset = 0;  ///< of gathers; which of kOffsets
  /// Implicit look-ups of a 2D view alone: each quad of pixels takes one of kTogether that stand side by side, the others are at other
  /// quads' places, so that the result is the same. `component`: whose alpha comes from them, and not from a look-up of its own (all; no
  /// one; the first; the last).
  bool together = false;
};
constexpr uint32_t kTogether = 5;

constexpr uint32_t kOffsetCount = 4;
constexpr int kOffsets[kOffsetCount][3] = {{-3, 2, 1}, {7, -8, -1}, {1, 0, 0}, {0, -1, 5}};
/// Of the target; each pixel is a sample, with four vec4 in the buffer: place and layer, dx and LOD or bias, dy and reference, offsets and
/// the least LOD.
constexpr uint32_t kSamplesWide = 32, kSamplesHigh = 16, kSampleCount = kSamplesWide * kSamplesHigh;
struct SampleInput {
  float at[3], layer, dx[3], lod, dy[3], dref;
  int32_t offset[3];
  float least_lod;
};

/// Whether GLSL has such a function.
bool is_possible(const SampleKind& kind);
std::string sampling_text(const SampleKind& kind);

}  // namespace tilegpu::fuzz
