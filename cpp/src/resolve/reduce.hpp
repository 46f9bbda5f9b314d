// resolve/reduce.hpp -- many samples to one: average, minimum, maximum, sample zero, for every format; vectorised.
//
// In: the same texels of each sample, a fixed distance apart (tile memory or an image). Out: one sample. Rules: average is of decoded
// values, rounded once to nearest even: fixed point exactly (integers), sRGB in linear space, floats as a pairwise tree (32-bit floats
// in double); equal samples keep their bits. Minimum and maximum by component; NaN loses. A result depends on nothing but its own
// texel's samples.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vk/format.hpp"

namespace tilegpu::resolve {

enum class ReduceMode : uint8_t { sample_zero, average, min, max };

/// How the bytes are to be read: as equal elements, whatever texels they make up, or texel by texel.
enum class ReduceKind : uint8_t {
  copy,
  unorm8,
  snorm8,
  unorm16,
  snorm16,
  unorm32,
  half,
  float32,
  srgb8,
  uint8,
  sint8,
  uint16,
  sint16,
  uint32,
  sint32,
  texel
};

struct Reducer {
  const vk::FormatInfo* format = nullptr;
  ReduceKind kind = ReduceKind::copy;
  ReduceMode mode = ReduceMode::sample_zero;
  uint32_t samples = 1;
  uint32_t texel_stride_B = 4;  // from texel to texel; for ReduceKind::texel
};

/// `words`: texels lie in tile memory, one or more 32-bit words each (depth as UNORM or float word, stencil as word); else as in images.
Reducer make_reducer(const vk::FormatInfo& format, VkImageAspectFlags aspect, ReduceMode mode, uint32_t samples, bool words);
/// Equal samples reduce to their own bits, whatever they are (-128 of 8-bit SNORM and odd NaNs do not).
inline bool keeps_equal(const Reducer& r) {
  switch (r.kind) {
    case ReduceKind::snorm8:
    case ReduceKind::snorm16:
    case ReduceKind::half:
    case ReduceKind::float32:
    case ReduceKind::texel:
      return false;
    default:
      return true;
  }
}
/// `bytes` of each sample, of which sample s begins at source + s * sample_stride_B.
void reduce(const Reducer& reducer, const uint8_t* source, size_t sample_stride_B, size_t bytes, uint8_t* out);
/// `count` pieces of `bytes` (a multiple of 32) that are piece_stride_B apart in the source and packed in the result: tile blocks.
void reduce_pieces(const Reducer& reducer, const uint8_t* source, size_t sample_stride_B, size_t bytes, size_t piece_stride_B,
                   uint32_t count, uint8_t* out);

}  // namespace tilegpu::resolve
