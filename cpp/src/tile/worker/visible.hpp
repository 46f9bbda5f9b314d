// tile/worker/visible.hpp -- the state of the host's hidden-surface removal in one bin: which primitives have numbers, what is seen of each
// block where that is kept shorter than by samples (lists, covers), and what a flush gathers. In: what passed. Out: for tile/visibility.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/arena.hpp"
#include "base/simd.hpp"
#include "records/records.hpp"
#include "shader_abi/abi.hpp"
#include "tile/depth_stencil/depth_stencil.hpp"

namespace tilegpu::tile {

inline constexpr uint32_t kMaxVisible = 1u << 16;  // primitives in the visibility buffer before it is flushed

/// A primitive that wrote its number into the visibility buffer.
struct VisiblePrimitive {
  const records::TriangleRecord* record;
  const records::Chunk* chunk;
  const shader::PrimitiveSetup* setup;  // made when its first quad is gathered
  uint32_t draw_slot;
};

// -- several samples: a block as a list of primitives (visibility/sample_lists.hpp)

inline constexpr uint32_t kBlockEntries = 15;
inline constexpr uint8_t kInBuffers = 0xff;  // the block's depth and numbers are in the plain buffers

/// The masks of 16 samples, 16 bits each: bit = pixel in tile order. Samples beyond the pass's are 0.
typedef uint16_t SampleMasks __attribute__((vector_size(32)));
inline bool none(SampleMasks m) { return _mm256_testz_si256((__m256i)m, (__m256i)m); }
inline SampleMasks load_masks(const uint16_t* masks) { return (SampleMasks)_mm256_loadu_si256(reinterpret_cast<const __m256i*>(masks)); }
/// Pixels with any sample.
inline uint32_t pixels_of(SampleMasks m) {
  __m128i v = _mm_or_si128(_mm256_castsi256_si128((__m256i)m), _mm256_extracti128_si256((__m256i)m, 1));
  v = _mm_or_si128(v, _mm_shuffle_epi32(v, 0x4e));
  v = _mm_or_si128(v, _mm_shuffle_epi32(v, 0xb1));
  const uint32_t words = static_cast<uint32_t>(_mm_cvtsi128_si32(v));
  return (words | words >> 16) & 0xffff;
}

struct alignas(64) BlockEntry {
  SampleMasks masks;
  uint32_t id;        // number in the visibility buffer
  uint32_t plane;     // index in BlockLists::planes
  int32_t near, far;  // bounds of its depth words in the block
};

struct BlockLists {
  bool active = false;         // in this bin, until a draw comes that lists don't serve
  std::vector<uint8_t> count;  // per block: entries, or kInBuffers
  AlignedBuffer entry_memory, free_memory;
  BlockEntry* entries = nullptr;  // [block * kBlockEntries]
  SampleMasks* free = nullptr;    // per block: samples of the background
  std::vector<int32_t> most;      // per block: the greatest `far` of its entries; INT32_MIN: there is none
  std::vector<PrimitiveDepth> planes;
  SampleMasks all{};        // every sample of the pass
  uint32_t background = 0;  // depth word where nothing was drawn
  // The tile's planes, and how depth is stored.
  uint32_t* depth = nullptr;  // null: no depth attachment, everything passes
  bool unorm = false;
  double scale = 0;
  const float* positions = nullptr;
  uint32_t samples = 1;
  // Of the current draw, where it takes lists.
  ListTest test;
  int32_t* far = nullptr;  // DepthBounds::far; null: its test has no bounds
};

// -- one sample: a block as the primitive that holds all of it (visibility/whole_blocks.hpp)

struct BlockCovers {
  bool active = false;          // in this bin
  bool any = false;             // blocks may be held
  std::vector<int32_t> near;    // per block: at most every depth word, see DepthBounds::far
  std::vector<uint32_t> plane;  // per block: 1 + index in `planes` of the primitive that holds it; 0: it is in the buffers
  std::vector<PrimitiveDepth> planes;
  // How depth is stored.
  bool unorm = false;
  double scale = 0;
  /// Depth was written by others.
  void forget_near() { std::fill(near.begin(), near.end(), kNearUnknown); }
};

// -- a flush: quads (visibility/quad_strata.hpp), groups of pixels (visibility/pixel_groups.hpp) and their colours

inline constexpr uint32_t kWholeBlock = 0x80000000u;  // mark in VisibleQuad::tile_pixel: all samples of all 16 pixels

/// Samples of a quad where a primitive is seen.
struct VisibleQuad {
  uint32_t id, tile_pixel;
  uint64_t live;
};
static_assert(sizeof(VisibleQuad) == 16);

struct QuadStrata {
  enum Stratum : uint32_t { whole, aligned, first, second, third, rest, kCount };
  Arena<VisibleQuad> of[kCount];

  void clear() {
    for (auto& stratum : of) stratum.clear();
  }
  void add_whole(uint32_t id, uint32_t block) {
    assert(id);
    of[whole].push_back({id, block * 16 | kWholeBlock, 0});
  }
};

/// Of a flush. PixelGroups::loose has for each entry of a block, in order of blocks: where its colours begin, its pixels << 32.
struct PixelColors {
  bool apart = false;     // packets leave their colours in `words`
  bool averages = false;  // listed blocks whose samples are kept once afterwards (equal_quads.hpp) are averaged, the others written
  Arena<uint32_t> words;  // in order of PixelGroups::pixels; the k-th word of a pixel's colours at k * pitch
  size_t pitch = 0;
};

inline constexpr uint32_t kGroupPixels = 4;

struct PixelGroups {
  Arena<uint32_t> blocks;   // with several primitives, or one and background; what is seen is in the buffer of numbers
  Arena<uint32_t> listed;   // the same, of those with lists
  Arena<uint64_t> of;       // of each group: number, and how many pixels << 32
  Arena<uint32_t> pixels;   // four for each group: tile pixel, its samples << 16; and room for a packet more
  Arena<BlockEntry> found;  // several samples: what is seen in `blocks`, as in lists; `plane` is the block
  // One sample: number, tile pixel << 32; several, of each entry: number, how many pixels << 32, or which (pixel_colors.hpp).
  Arena<uint64_t> loose;
  Arena<uint32_t> words;       // as `pixels`
  Arena<uint32_t> entries;     // several samples: where those of the lists of `listed` are; and room for 16 more
  std::vector<uint32_t> next;  // by number: how many loose pixels, then where the next one goes
  Arena<uint64_t> sorted_of;
  Arena<uint32_t> sorted_pixels;
  PixelColors colors;

  void clear() { blocks.clear(), listed.clear(), of.clear(), pixels.clear(), found.clear(), loose.clear(), entries.clear(); }
};

// -- all of it

/// The host's hidden-surface removal: primitives that have numbers, and what a flush gathers of them.
struct Visibility {
  bool enabled = false;
  bool queued = false;  // what the main phase of a pre-pass shades goes to the kill queue: setups stay until it is empty
  std::vector<VisiblePrimitive> primitives;  // id - 1
  std::vector<uint32_t> draws;               // by slot
  // A flush:
  Arena<uint32_t> dirty_blocks;  // that are gathered
  QuadStrata strata;
  PixelGroups groups;  // in place of quads
  Arena<VisibleQuad> gathered, sorted;
  std::vector<uint8_t> seen;  // of `primitives`: 1 where a quad or pixel was gathered
  std::vector<uint32_t> slot_first;
  shader::PrimitiveSetup unused_setup;  // where the lanes of an incomplete batch write

  void begin_pass(bool on) {
    enabled = on;
    primitives.clear();
    draws.clear();
  }
};
/// No number is given any more.
inline void forget_primitives(Visibility& v) {
  v.primitives.clear();
  v.draws.clear();
}
/// Of the next primitive in the visibility buffer, which is of this draw.
inline uint32_t visible_slot(Visibility& v, uint32_t draw) {
  assert(v.primitives.size() < kMaxVisible);  // or the buffer would have been flushed
  if (v.draws.empty() || v.draws.back() != draw) v.draws.push_back(draw);
  return static_cast<uint32_t>(v.draws.size() - 1);
}

}  // namespace tilegpu::tile
