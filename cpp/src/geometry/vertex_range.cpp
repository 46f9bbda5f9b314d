// geometry/vertex_range.cpp -- see vertex_range.hpp.
#include "geometry/vertex_range.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "base/prefetch.hpp"
#include "base/simd.hpp"

namespace tilegpu::geometry {

bool VertexRange::begin(const uint8_t* triples, uint32_t primitive_count) {
  assert(triples && primitive_count > 0);
  const size_t indices = size_t{primitive_count} * 3;
  uint32_t low = ~0u, high = 0;
  size_t i = 0;
  if (indices >= 32) {
    __m256i least[4], most[4];
    const auto at = [&](size_t k) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(triples + 4 * k)); };
    for (size_t k = 0; k < 4; k++) least[k] = most[k] = at(8 * k);
    for (i = 32; i + 32 <= indices; i += 32)
      for (size_t k = 0; k < 4; k++) {
        const __m256i v = at(i + 8 * k);
        least[k] = _mm256_min_epu32(least[k], v);
        most[k] = _mm256_max_epu32(most[k], v);
      }
    alignas(32) uint32_t lows[4][8], highs[4][8];
    for (size_t k = 0; k < 4; k++) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(lows[k]), least[k]);
      _mm256_store_si256(reinterpret_cast<__m256i*>(highs[k]), most[k]);
      for (size_t l = 0; l < 8; l++) {
        low = lows[k][l] < low ? lows[k][l] : low;
        high = highs[k][l] > high ? highs[k][l] : high;
      }
    }
  }
  for (; i < indices; i++) {
    uint32_t index;
    std::memcpy(&index, triples + 4 * i, 4);
    low = index < low ? index : low;
    high = index > high ? index : high;
  }
  // Batches shade about one vertex for each triangle of a mesh.
  if (high - low >= primitive_count) return false;
  listed_ = false;
  first = low;
  size = high - low + 1;
  used_.resize(size_t{blocks()} * kBatchStride);
  uint8_t* const used = used_.data();
  std::memset(used, 0, used_.size());
  for (i = 0; i < indices; i++) {
    uint32_t index;
    std::memcpy(&index, triples + 4 * i, 4);
    used[index - low] = 1;
  }
  return true;
}

uint32_t VertexRange::begin_batch(const uint8_t* triples, uint32_t primitive_count, uint32_t limit) {
  assert(triples && primitive_count > 0 && limit > kBatchStride && limit <= kMaxVertexBatch);
  constexpr uint8_t kFree = 0xff;
  uint8_t table[256];
  std::memset(table, kFree, sizeof table);
  primitive_count = std::min(primitive_count, kMaxBatchPrimitives);
  slots_.resize(size_t{primitive_count} * 3 + 48);  // triples are read sixteen at a time
  uint32_t* const slots = slots_.data();
  uint32_t vertices = 0, done = 0;
  const auto take = [&](uint32_t index) -> uint32_t {
    uint32_t at = index * 0x9e3779b1u >> 24;
    for (; table[at] != kFree; at = (at + 1) % sizeof table)
      if (list_[table[at]] == index) return table[at];
    table[at] = static_cast<uint8_t>(vertices);
    list_[vertices] = index;
    return vertices++;
  };
  for (; done < primitive_count; done++) {
    uint32_t index[3];
    std::memcpy(index, triples + size_t{done} * 12, 12);
    const uint32_t before = vertices;
    for (uint32_t k = 0; k < 3; k++) slots[done * 3 + k] = take(index[k]);
    if (vertices > limit) {
      vertices = before;  // this one begins the next batch
      break;
    }
  }
  std::fill(slots + size_t{done} * 3, slots + size_t{done} * 3 + 48, 0);
  first = 0, size = vertices, listed_ = true;
  used_.resize(size_t{blocks()} * kBatchStride);
  std::fill(used_.data(), used_.data() + vertices, uint8_t{1});
  std::fill(used_.data() + vertices, used_.data() + used_.size(), uint8_t{0});
  std::fill(list_ + vertices, list_ + used_.size(), list_[0]);
  return done;
}

namespace {

// What a block of vertices is made from, on its way while the ones before are shaded.
inline void prefetch_vertices(const DrawSetup& draw, const shader::VertexArgs& args, uint32_t first) {
  for (const VertexInputBinding& binding : draw.resolved->vertex_input) {
    if (binding.inputRate != VK_VERTEX_INPUT_RATE_VERTEX) continue;
    const auto at = reinterpret_cast<uintptr_t>(args.bindings[binding.binding].data) + uint64_t{first} * binding.stride;
    for (uint32_t i = 0; i < kBatchStride * binding.stride; i += 64) prefetch(at + i);
  }
}

}  // namespace

VertexRange::Shaded VertexRange::shade(const DrawSetup& draw, shader::VertexArgs& args, uint32_t vertex_offset, Ahead ahead) {
  const uint32_t count = blocks();
  block_floats_ = size_t{draw.components} * kBatchStride;
  post.resize(size_t{count} * kBatchStride);
  code.resize(size_t{count} * kBatchStride);
  position_.resize(size_t{count} * 4 * kBatchStride);
  varyings_.resize(std::max<size_t>(count * block_floats_, kBatchStride));
  kept_.resize(count);
  code_or = 0;
  uint32_t* const index = index_;
  args.vertex_index = index_;
  Shaded sum{0, 0};
  for (uint32_t block = 0; block < count; block++) {
    kept_.data()[block] = kNot;
    if (ahead.bytes)
      for (size_t at = ahead.size_B * block / count & ~size_t{63}; at < ahead.size_B * (block + 1) / count; at += 64)
        prefetch_outside(ahead.bytes + at);
    const uint32_t begin = block * kBatchStride;
    const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(used_.data() + begin));
    const auto named = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7)));
    if (!named) continue;
    // Vertices that nobody names are not shaded: another one is, again.
    const uint32_t base = first + begin + vertex_offset;  // wraps, as Vulkan's vertex offset does
    if (listed_) {
      for (uint32_t v = 0; v < kBatchStride; v++) index[v] = list_[begin + v] + vertex_offset;
    } else {
      for (uint32_t v = 0; v < kBatchStride; v++) index[v] = base + v;
      if (named != ~0u)
        for (uint32_t v = 0; v < kBatchStride; v++)
          if (!(named >> v & 1)) index[v] = base + static_cast<uint32_t>(std::countr_zero(named));
      prefetch_vertices(draw, args, base + 4 * kBatchStride);
    }
    args.count = kBatchStride - static_cast<uint32_t>(std::countl_zero(named));
    args.position = position_.data() + size_t{begin} * 4;
    args.varyings = varyings_.data() + block * block_floats_;
    draw.shade(&args);
    code_or |= transform_block(draw, args.position, args.count, post.data() + begin, code.data() + begin);
    sum.vertices += static_cast<uint32_t>(std::popcount(named));
    sum.calls++;
  }
  return sum;
}

void VertexRange::mark(VertexCensus& census, uint32_t draw) const {
  for (uint32_t block = 0; block < blocks(); block++)
    census.mark_block(draw, first + block * kBatchStride, used_.data() + size_t{block} * kBatchStride);
}

void VertexRange::keep_block(uint32_t block, Chunk& chunk) {
  assert(block < blocks());
  kept_.data()[block] = static_cast<uint32_t>(chunk.varyings.size());
  chunk.varyings.append(varyings_.data() + block * block_floats_, block_floats_);
}

const Batch& VertexRange::corners(const uint32_t slot[3], Chunk& chunk) {
  for (uint32_t k = 0; k < 3; k++) {
    const uint32_t block = slot[k] / kBatchStride, in_block = slot[k] % kBatchStride;
    assert(slot[k] < size);
    for (uint32_t c = 0; c < 4; c++)
      corners_.position[c * kBatchStride + k] = position_.data()[(size_t{block} * 4 + c) * kBatchStride + in_block];
    corners_.post[k] = post.data()[slot[k]];
    corners_.code[k] = code.data()[slot[k]];
    corner_varyings_[k] = keep(slot[k], chunk);
  }
  corners_.each_varyings = corner_varyings_;
  return corners_;
}

}  // namespace tilegpu::geometry
