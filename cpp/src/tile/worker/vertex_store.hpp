// tile/worker/vertex_store.hpp -- stage: deferred vertex shading, its half of the tile phase. In: primitives that are about to be shaded
// and whose vertices are not. Out: their varyings, of each vertex once in a bin.
//
// Vertices are named by draw, gl_InstanceIndex and gl_VertexIndex, and packed into batches of up to 32 whatever batches the geometry
// phase made of them; vertices of hidden primitives are never asked for. What is kept lives at most until the next bin, so that counts
// do not depend on who draws which bin. Corners that halves of upright rectangles lack are kept here as well
// (records/rectangle_half.hpp). Source: Arm, article on the fragment pre-pass (deferred vertex shading).
#pragma once

#include <memory>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "geometry/draw_setup.hpp"
#include "shader_abi/abi.hpp"
#include "stats/ledger.hpp"
#include "tile/worker/deferred_census.hpp"

namespace tilegpu::tile {

struct PassContext;

/// Floats with stable addresses until reset, undefined at first.
class FloatArena {
 public:
  float* allocate(size_t count);
  void reset() { part_ = used_ = 0; }

 private:
  static constexpr size_t kPart = 1 << 16;  // a batch has at most this many: 4 components at each of 256 locations would be half of it
  std::vector<std::unique_ptr<float[]>> parts_;
  size_t part_ = 0, used_ = 0;
};

class VertexStore {
 public:
  /// Of a worker, traced or not (variant.hpp).
  struct Scope {
    const PassContext& pass;
    stats::FragmentCounters& counters;
    shader::LoopBudget& loops;
  };
  /// `census`: of the same tiles; null: nothing is counted.
  void begin_pass(DeferredCensus* census) { census_ = census; }
  /// Forgets all vertices. No setup that was resolved is used any more.
  void reset();
  /// The same where much is kept, or nothing but corners, which are quickly made again.
  void reset_if_large() {
    if (count_ == 0 || count_ > kLarge) reset();
  }
  /// The corner that half of an upright rectangle lacks, where its vertices are shaded. Once.
  void complete(const PassContext& pass, shader::PrimitiveSetup& setup) {
    if (setup.completes && !setup.deferred) [[unlikely]]
      add_corner(pass, setup);
  }
  /// Its vertices, if they are deferred. Setups are handed on as constants, but they are the worker's own (SetupArena).
  void want(const shader::PrimitiveSetup* setup) {
    if (setup->deferred != 1) return;
    auto* own = const_cast<shader::PrimitiveSetup*>(setup);
    own->deferred = 2;  // once
    wanted_.push_back(own);
  }
  /// Shades what is missing and points the wanted setups at it.
  void resolve(Scope s);

 private:
  static constexpr uint32_t kLarge = 1 << 16;
  static constexpr uint32_t kStride = shader::kBatchStride;
  struct Entry {
    uint64_t owner = 0;  // draw and instance
    uint32_t vertex = 0, age = 0;
    const float* at = nullptr;
  };
  const float* find(Scope s, uint64_t owner, uint32_t vertex);
  void add_corner(const PassContext& pass, shader::PrimitiveSetup& setup);
  void shade(Scope s);
  void grow();
  Entry& slot(uint64_t owner, uint32_t vertex);

  DeferredCensus* census_ = nullptr;
  std::vector<shader::PrimitiveSetup*> wanted_;
  std::vector<Entry> table_;  // open addressing, a power of two
  uint32_t count_ = 0, age_ = 1;
  FloatArena varyings_;
  // Corners: columns of a block with room for so many components.
  float* corners_ = nullptr;
  uint32_t corner_rows_ = 0, corner_count_ = 0;
  // The open batch: slots [from_, to_) are not shaded yet.
  uint64_t owner_ = 0;
  float* block_ = nullptr;
  uint32_t from_ = 0, to_ = 0;
  uint32_t index_[kStride];
  AlignedBuffer scratch_;
  alignas(64) float position_[4 * kStride];
  alignas(64) float point_size_[kStride];  // as the position, for nobody
  alignas(64) float clip_distance_[geometry::kMaxClipComponents * kStride];
};

}  // namespace tilegpu::tile
