// tile/sample_lists.hpp -- stage: tile phase, several samples. What is seen of a 4x4 block as a short list: for each primitive its
// number, its depth plane and a mask of its samples, instead of a depth and a number for every sample.
//
// In: coverage of a primitive in a block. Out: what of it passes the depth test; the list brought up to date. Most tests are decided
// by bounds of the planes over the block; where two planes may cross, both are evaluated at the samples concerned, by the expression
// that all tests use, so that results are those of the plain buffers, bit for bit. Depth starts as the clear value; the plain
// buffers are written (expand) when a draw comes that lists don't serve, when a block's list is full, or when depth leaves the tile.
// Sources: docs/decisions.md, 6; Jouppi and Chang, "Z3: an economical hardware technique for antialiasing and transparency".
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "tile/depth_plane.hpp"
#include "tile/variant.hpp"

namespace tilegpu::tile {
struct CoveredBlocks;
struct TriangleBatch;
struct Worker;
}  // namespace tilegpu::tile

namespace tilegpu::tile {

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
uint32_t count_samples(SampleMasks m);

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
};

/// Before the first draw of a bin. `background`: the depth word that the plane was not cleared to.
void begin_lists(Worker& w, uint32_t background);
/// Tests `covered` (not none) of a primitive and puts what passes into the list of a block that has one.
SampleMasks insert(Worker& w, const PrimitiveDepth& p, uint32_t plane, uint32_t block, int32_t x_px, int32_t y_px, SampleMasks covered);
/// What was done of the blocks of a batch, in pixels with any sample.
struct ListedBlocks {
  uint32_t covered, passed;
  uint32_t hidden;  // by the bound of their block: hierarchical Z
  uint32_t seen;    // bit: lane of the batch; they have the numbers from the first one on, in their order
};
/// Draws block i of a batch, which has no list (any more), of the triangle with this number. Whether anything of it is seen.
using DrawBlock = bool (*)(Worker& w, const TriangleBatch& batch, const CoveredBlocks& blocks, uint32_t i, uint32_t number, void* context);
/// `insert` for the blocks of a batch.
ListedBlocks insert_blocks(Worker& w, const TriangleBatch& batch, const CoveredBlocks& blocks, uint32_t first_number, DrawBlock draw,
                           void* context);
/// Writes one block's depth and numbers to the plain buffers.
void expand_list(Worker& w, uint32_t block);
/// Ends the lists of the bin: all blocks are in the plain buffers.
void expand_lists(Worker& w);

}  // namespace tilegpu::tile
