// tile/depth_stencil.cpp -- see depth_stencil.hpp.
#include "tile/depth_stencil.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <type_traits>

#include "base/simd.hpp"
#include "tile/depth_plane.hpp"
#include "tile/quad_tests.hpp"
#include "tile/whole_blocks.hpp"
#include "vk/sample_locations.hpp"

namespace tilegpu::tile {

namespace {

// -- the common case: depth test only ------------------------------------------------------------------------------------------

template <VkCompareOp kOp, bool kUnorm, class V>
inline V compare_depth(V now, V old) {
  using Depth = std::conditional_t<kUnorm, V, typename Lanes<V>::Float>;  // words below 2^24: signed comparison is right
  const Depth a = (Depth)now, b = (Depth)old;
  if constexpr (kOp == VK_COMPARE_OP_LESS) return a < b;
  if constexpr (kOp == VK_COMPARE_OP_LESS_OR_EQUAL) return a <= b;
  if constexpr (kOp == VK_COMPARE_OP_GREATER) return a > b;
  if constexpr (kOp == VK_COMPARE_OP_GREATER_OR_EQUAL) return a >= b;
  if constexpr (kOp == VK_COMPARE_OP_EQUAL) return a == b;
}

inline uint32_t* offset(uint32_t* words, size_t at) { return words ? words + at : nullptr; }

// kAnyOrder: of equal depths the primitive that API order lets win, by its number; 0 is what was there before all of them.
template <VkCompareOp kOp, bool kUnorm, bool kWrite, bool kIds, bool kAnyOrder = false>
struct Kernel {
  static constexpr bool kReads = kOp != VK_COMPARE_OP_ALWAYS;
  static constexpr bool kDepth = kReads || kWrite;
  static constexpr bool kBounds = kWrite && (kOp == VK_COMPARE_OP_LESS || kOp == VK_COMPARE_OP_LESS_OR_EQUAL);

  // One vector: compares, writes, returns the lanes that pass. kMasked: only lanes of `mask` take part.
  template <bool kMasked, class V>
  static inline uint32_t test(const TestState& state, typename Lanes<V>::Float z, uint32_t* depth, uint32_t* ids, uint32_t id, V mask,
                              V& after) {
    V pass = mask;
    if constexpr (kDepth) {
      V now;
      if constexpr (kUnorm)
        now = to_unorm(z, state.unorm_scale);
      else
        now = (V)z;
      V old{};
      if constexpr (kReads || kMasked) old = Lanes<V>::load(depth);
      if constexpr (kReads) {
        if constexpr (kAnyOrder) {
          const V number = V{} + static_cast<int32_t>(id), before = Lanes<V>::load(ids);
          const V wins = kOp == VK_COMPARE_OP_LESS ? number < before : number > before;
          pass = compare_depth<VK_COMPARE_OP_LESS, kUnorm>(now, old) | (compare_depth<VK_COMPARE_OP_EQUAL, kUnorm>(now, old) & wins);
        } else {
          pass = compare_depth<kOp, kUnorm>(now, old);
        }
        if constexpr (kMasked) pass &= mask;
      }
      if constexpr (kWrite) {
        after = kReads || kMasked ? select(pass, now, old) : now;
        store(depth, after);
      }
    }
    if constexpr (kIds) {
      const V number = V{} + static_cast<int32_t>(id);
      store(ids, kReads || kMasked ? select(pass, number, Lanes<V>::load(ids)) : number);
    }
    return sign_bits(pass);
  }

  // One sample of a block: depth of its pixels' upper and lower two rows.
  struct Halves {
    f32x8 upper{}, lower{};
  };
  static inline Halves depth_of(const PrimitiveDepth& p, float x, float y, float lower_y) {
    if constexpr (!kDepth) return {};
    const f32x8 term_x = depth_term_x(p, kBlockX + x);
    return {clamp(term_x + depth_term_y(p, kBlockY + y), p.lo, p.hi), clamp(term_x + depth_term_y(p, kBlockY + lower_y), p.lo, p.hi)};
  }
  template <bool kMasked>
  static inline uint32_t test_halves(const TestState& state, const Halves& z, size_t word, uint32_t id, uint32_t covered,
                                     i32x8 (&after)[2]) {
    const i32x8 all = i32x8{} - 1;
    const i32x8 upper = kMasked ? expand8(covered & 0xff) : all, lower = kMasked ? expand8(covered >> 8) : all;
    const uint32_t low = test<kMasked>(state, z.upper, offset(state.depth, word), offset(state.ids, word), id, upper, after[0]);
    const uint32_t high = test<kMasked>(state, z.lower, offset(state.depth, word + 8), offset(state.ids, word + 8), id, lower, after[1]);
    return low | high << 8;
  }

  static uint32_t span(const TestState& state, const PrimitiveDepth& p, uint32_t first_block, uint32_t count, int32_t x_px, int32_t y_px,
                       uint16_t* pass) {
    if constexpr (!kDepth && !kIds) {
      std::fill_n(pass, size_t{count} * state.samples, uint16_t{0xffff});
      return 16 * count;
    }
    const uint32_t samples = state.samples;
    size_t word = size_t{first_block} * samples * 16;
    uint32_t passed = 0;
    f32x8 term_y[32];  // the same in all blocks of the row
    if constexpr (kDepth)
      for (uint32_t s = 0; s < samples; s++) {
        const float sample_y = state.positions[2 * s + 1];
        term_y[2 * s] = depth_term_y(p, kBlockY + (static_cast<float>(y_px) + sample_y));
        term_y[2 * s + 1] = depth_term_y(p, kBlockY + (static_cast<float>(y_px + 2) + sample_y));
      }
    for (uint32_t b = 0; b < count; b++, x_px += 4) {
      uint32_t any = 0;
      i32x8 after[2] = {}, most = i32x8{} + INT32_MIN;
      for (uint32_t s = 0; s < samples; s++, word += 16, pass++) {
        Halves z;
        if constexpr (kDepth) {
          const f32x8 term_x = depth_term_x(p, kBlockX + (static_cast<float>(x_px) + state.positions[2 * s]));
          z = {clamp(term_x + term_y[2 * s], p.lo, p.hi), clamp(term_x + term_y[2 * s + 1], p.lo, p.hi)};
        }
        const uint32_t now = test_halves<false>(state, z, word, p.id, 0xffff, after);
        if constexpr (kBounds) most = maximum(most, maximum(after[0], after[1]));
        any |= now;
        *pass = static_cast<uint16_t>(now);
      }
      passed += static_cast<uint32_t>(std::popcount(any));
      if constexpr (kBounds)
        if (state.far && any) {
          state.far[first_block + b] = largest(most);
          if (state.near) state.near[first_block + b] = smallest(minimum(after[0], after[1]));  // one sample
        }
      if constexpr (kIds) state.dirty[first_block + b] |= any != 0;
    }
    return passed;
  }

  static void block(const TestState& state, const PrimitiveDepth& p, uint32_t block, int32_t x_px, int32_t y_px, const uint16_t* covered,
                    uint16_t* pass) {
    const uint32_t samples = state.samples;
    if constexpr (!kDepth && !kIds) {
      std::copy_n(covered, samples, pass);
      return;
    }
    size_t word = size_t{block} * samples * 16;
    uint32_t any = 0, tested = 0;
    i32x8 after[2] = {}, most = i32x8{} + INT32_MIN;
    for (uint32_t s = 0; s < samples; s++, word += 16) {
      pass[s] = 0;
      if (!covered[s]) continue;
      const float sample_x = state.positions[2 * s], sample_y = state.positions[2 * s + 1];
      const Halves z =
          depth_of(p, static_cast<float>(x_px) + sample_x, static_cast<float>(y_px) + sample_y, static_cast<float>(y_px + 2) + sample_y);
      const uint32_t now = test_halves<true>(state, z, word, p.id, covered[s], after);
      if constexpr (kBounds) most = maximum(most, maximum(after[0], after[1]));
      tested++;
      any |= now;
      pass[s] = static_cast<uint16_t>(now);
    }
    if constexpr (kBounds)
      if (state.far && any && tested == samples) state.far[block] = largest(most);
    if constexpr (kIds) state.dirty[block] |= any != 0;
  }

  static uint32_t single(const TestState& state, const PrimitiveDepth& p, uint32_t block, int32_t x_px, int32_t y_px, uint32_t covered) {
    assert(state.samples == 1);
    if constexpr (!kDepth && !kIds) return covered;
    const Halves z = depth_of(p, static_cast<float>(x_px) + 0.5f, static_cast<float>(y_px) + 0.5f, static_cast<float>(y_px + 2) + 0.5f);
    i32x8 after[2] = {};
    const uint32_t pass = test_halves<true>(state, z, size_t{block} * 16, p.id, covered, after);
    if constexpr (kBounds)
      if (state.far && pass) state.stale->add(block);
    if constexpr (kIds) state.dirty[block] |= pass != 0;
    return pass;
  }

  static uint64_t quad(const TestState& state, const PrimitiveDepth& p, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered) {
    if constexpr (!kDepth && !kIds) return covered;
    const uint32_t samples = state.samples;
    size_t word = size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
    uint64_t pass = 0;
    i32x4 after{};
    for (uint32_t s = 0; s < samples; s++, word += 16) {
      const uint32_t bits = covered >> 4 * s & 0xf;
      if (!bits) continue;
      f32x4 z{};
      if constexpr (kDepth) {
        const float sample_x = state.positions[2 * s], sample_y = state.positions[2 * s + 1];
        z = depth_term_x(p, kQuadX + (static_cast<float>(x_px) + sample_x)) +
            depth_term_y(p, kQuadY + (static_cast<float>(y_px) + sample_y));
        z = clamp(z, p.lo, p.hi);
      }
      pass |= static_cast<uint64_t>(test<true>(state, z, offset(state.depth, word), offset(state.ids, word), p.id, expand4(bits), after))
              << 4 * s;
    }
    if constexpr (kBounds)
      if (state.near && pass) state.near[tile_pixel >> 4] = kNearUnknown;
    if constexpr (kIds) state.dirty[tile_pixel >> 4] |= pass != 0;
    return pass;
  }

  static uint32_t window(const TestState& state, const TriangleBatch& batch, uint32_t lane, uint32_t id, uint32_t,
                         const uint32_t* tile_pixels, int32_t x_px, int32_t y_px, uint32_t covered) {
    if constexpr (!kDepth && !kIds) return covered;
    i32x4 z[4] = {}, after{};
    if constexpr (kDepth) {
      // Two rows of quads; the terms as in `quad`.
      const float zx = batch.zx[lane], zy = batch.zy[lane];
      const f32x8 term_x = batch.z0[lane] + zx * ((kBlockX + (static_cast<float>(x_px) + 0.5f)) - batch.anchor_x[lane]);
      const f32x8 y = (kBlockY + (static_cast<float>(y_px) + 0.5f)) - batch.anchor_y[lane];
      const f32x8 y2 = (kBlockY + (static_cast<float>(y_px + 2) + 0.5f)) - batch.anchor_y[lane];
      const __m256 upper = (__m256)clamp(term_x + zy * y, batch.lo[lane], batch.hi[lane]);
      const __m256 lower = (__m256)clamp(term_x + zy * y2, batch.lo[lane], batch.hi[lane]);
      z[0] = (i32x4)_mm256_castps256_ps128(upper);
      z[1] = (i32x4)_mm256_extractf128_ps(upper, 1);
      z[2] = (i32x4)_mm256_castps256_ps128(lower);
      z[3] = (i32x4)_mm256_extractf128_ps(lower, 1);
    }
    uint32_t quads = covered | covered >> 1, pass = 0;
    quads |= quads >> 2;
    for (quads &= 0x1111; quads; quads &= quads - 1) {
      const uint32_t shift = static_cast<uint32_t>(std::countr_zero(quads)), at = tile_pixels[shift >> 2];
      const uint32_t bits = test<true>(state, (f32x4)z[shift >> 2], offset(state.depth, at), offset(state.ids, at), id,
                                       expand4(covered >> shift & 0xf), after);
      if constexpr (kBounds)
        if (state.far && bits) state.stale->add(at >> 4);
      if constexpr (kIds) state.dirty[at >> 4] |= bits != 0;
      pass |= bits << shift;
    }
    return pass;
  }

  static TestFunctions functions() { return {span, block, single, quad, window}; }
};

// -- the general case, four pixels of one sample at a time ---------------------------------------------------------------------

template <class V>
i32x4 compare_with(VkCompareOp op, V a, V b) {
  switch (op) {
    case VK_COMPARE_OP_NEVER:
      return i32x4{};
    case VK_COMPARE_OP_LESS:
      return a < b;
    case VK_COMPARE_OP_EQUAL:
      return a == b;
    case VK_COMPARE_OP_LESS_OR_EQUAL:
      return a <= b;
    case VK_COMPARE_OP_GREATER:
      return a > b;
    case VK_COMPARE_OP_NOT_EQUAL:
      return a != b;
    case VK_COMPARE_OP_GREATER_OR_EQUAL:
      return a >= b;
    default:
      return i32x4{} - 1;
  }
}

i32x4 stencil_op(VkStencilOp op, i32x4 old, i32x4 reference) {
  switch (op) {
    case VK_STENCIL_OP_ZERO:
      return i32x4{};
    case VK_STENCIL_OP_REPLACE:
      return reference;
    case VK_STENCIL_OP_INCREMENT_AND_CLAMP:
      return select(old == 255, old, old + 1);
    case VK_STENCIL_OP_DECREMENT_AND_CLAMP:
      return select(old == 0, old, old - 1);
    case VK_STENCIL_OP_INVERT:
      return ~old & 255;
    case VK_STENCIL_OP_INCREMENT_AND_WRAP:
      return (old + 1) & 255;
    case VK_STENCIL_OP_DECREMENT_AND_WRAP:
      return (old - 1) & 255;
    default:
      return old;
  }
}

i32x4 test_general(const TestState& state, uint32_t face, f32x4 z, i32x4 reference, size_t word, i32x4 mask) {
  i32x4 old{};
  if (state.depth) old = load4(state.depth + word);
  if (state.bounds_test) {
    const f32x4 stored = state.unorm ? __builtin_convertvector(old, f32x4) / static_cast<float>(state.unorm_scale) : (f32x4)old;
    mask &= (stored >= state.bounds_lo) & (stored <= state.bounds_hi);
  }
  i32x4 stencil_pass = mask, stencil_old{};
  const StencilFace& f = state.face[face];
  const bool stencils = state.stencil_test;
  if (stencils) {
    stencil_old = load4(state.stencil + word) & 255;
    const int32_t compare_mask = static_cast<int32_t>(f.compare_mask & 255);
    stencil_pass = mask & compare_with(f.compare, reference & compare_mask, stencil_old & compare_mask);
  }
  i32x4 pass = stencil_pass;
  if (state.depth_test) {
    i32x4 now;
    if (state.unorm) {
      now = to_unorm(z, state.unorm_scale);
      pass &= compare_with(state.compare, now, old);
    } else {
      now = (i32x4)z;
      pass &= compare_with(state.compare, z, (f32x4)old);
    }
    if (state.depth_write) store(state.depth + word, select(pass, now, old));
  }
  if (stencils) {
    const int32_t write_mask = static_cast<int32_t>(f.write_mask & 255);
    i32x4 next = select(pass, stencil_op(f.pass, stencil_old, reference), stencil_op(f.depth_fail, stencil_old, reference));
    next = select(stencil_pass, next, stencil_op(f.fail, stencil_old, reference));
    next = select(mask, (stencil_old & ~write_mask) | (next & write_mask), stencil_old);
    store(state.stencil + word, next);
  }
  return pass;
}

uint64_t quad_general(const TestState& state, const PrimitiveDepth& p, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered) {
  assert(covered && (tile_pixel & 3) == 0);
  const uint32_t samples = state.samples;
  size_t word = size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
  const i32x4 reference = i32x4{} + static_cast<int32_t>(state.face[p.face].reference & 255);
  uint64_t pass = 0;
  for (uint32_t s = 0; s < samples; s++, word += 16) {
    const uint32_t bits = covered >> 4 * s & 0xf;
    if (!bits) continue;
    const float sample_x = state.positions[2 * s], sample_y = state.positions[2 * s + 1];
    f32x4 z =
        depth_term_x(p, kQuadX + (static_cast<float>(x_px) + sample_x)) + depth_term_y(p, kQuadY + (static_cast<float>(y_px) + sample_y));
    z = clamp(z, p.lo, p.hi);
    const i32x4 lanes = test_general(state, p.face, z, reference, word, expand4(bits));
    if (state.ids) store(state.ids + word, select(lanes, i32x4{} + static_cast<int32_t>(p.id), load4(state.ids + word)));
    pass |= static_cast<uint64_t>(sign_bits(lanes)) << 4 * s;
  }
  if (state.ids) state.dirty[tile_pixel >> 4] |= pass != 0;
  return pass;
}

template <VkCompareOp kOp>
TestFunctions choose(bool unorm, bool write, bool ids) {
  if (unorm) {
    if (write) return ids ? Kernel<kOp, true, true, true>::functions() : Kernel<kOp, true, true, false>::functions();
    return ids ? Kernel<kOp, true, false, true>::functions() : Kernel<kOp, true, false, false>::functions();
  }
  if (write) return ids ? Kernel<kOp, false, true, true>::functions() : Kernel<kOp, false, true, false>::functions();
  return ids ? Kernel<kOp, false, false, true>::functions() : Kernel<kOp, false, false, false>::functions();
}

TestFunctions choose_functions(const TestState& state) {
  const TestFunctions general = by_quads<quad_general>();
  if (state.bounds_test || state.stencil_test) return general;
  const bool ids = state.ids != nullptr;
  if (!state.depth_test) return choose<VK_COMPARE_OP_ALWAYS>(false, false, ids);
  switch (state.compare) {
    case VK_COMPARE_OP_LESS:
      return choose<VK_COMPARE_OP_LESS>(state.unorm, state.depth_write, ids);
    case VK_COMPARE_OP_LESS_OR_EQUAL:
      return choose<VK_COMPARE_OP_LESS_OR_EQUAL>(state.unorm, state.depth_write, ids);
    case VK_COMPARE_OP_GREATER:
      return choose<VK_COMPARE_OP_GREATER>(state.unorm, state.depth_write, ids);
    case VK_COMPARE_OP_GREATER_OR_EQUAL:
      return choose<VK_COMPARE_OP_GREATER_OR_EQUAL>(state.unorm, state.depth_write, ids);
    case VK_COMPARE_OP_EQUAL:
      return choose<VK_COMPARE_OP_EQUAL>(state.unorm, state.depth_write, ids);
    case VK_COMPARE_OP_ALWAYS:
      return choose<VK_COMPARE_OP_ALWAYS>(state.unorm, state.depth_write, ids);
    default:
      return general;
  }
}

template <VkCompareOp kOp>
TestFunctions choose_any_order(bool unorm) {
  return unorm ? Kernel<kOp, true, true, true, true>::functions() : Kernel<kOp, false, true, true, true>::functions();
}

template <uint32_t kSamples>
constexpr std::array<float, 2 * kSamples> make_positions() {
  std::array<float, 2 * kSamples> at{};
  for (uint32_t s = 0; s < kSamples; s++) {
    at[2 * s] = vk::sample_locations(kSamples)[s].x / 16.0f;
    at[2 * s + 1] = vk::sample_locations(kSamples)[s].y / 16.0f;
  }
  return at;
}
alignas(64) constexpr auto kPositions1 = make_positions<1>();
alignas(64) constexpr auto kPositions2 = make_positions<2>();
alignas(64) constexpr auto kPositions4 = make_positions<4>();
alignas(64) constexpr auto kPositions8 = make_positions<8>();
alignas(64) constexpr auto kPositions16 = make_positions<16>();

}  // namespace

const float* sample_positions(uint32_t samples) {
  switch (samples) {
    case 2:
      return kPositions2.data();
    case 4:
      return kPositions4.data();
    case 8:
      return kPositions8.data();
    case 16:
      return kPositions16.data();
    default:
      return kPositions1.data();
  }
}

TestFunctions any_order_functions(const TestState& state) {
  assert(state.samples == 1 && state.ids && state.depth_write);
  return state.compare == VK_COMPARE_OP_LESS ? choose_any_order<VK_COMPARE_OP_LESS>(state.unorm)
                                             : choose_any_order<VK_COMPARE_OP_LESS_OR_EQUAL>(state.unorm);
}

uint32_t hidden_blocks(const TestState& state, const PrimitiveDepth& p, uint32_t first_block, int32_t x_px, int32_t y_px) {
  assert(state.far && state.bounded());
  if (!std::isfinite(p.z0) || !std::isfinite(p.zx) || !std::isfinite(p.zy)) return 0;
  // The corner with the least depth: a sample point with one sample, else the block's edge.
  const float near = state.samples == 1 ? 0.5f : 0.0f, wide = state.samples == 1 ? 3.5f : 4.0f;
  const f32x8 block_x = {0, 4, 8, 12, 16, 20, 24, 28};
  const f32x8 x = block_x + (static_cast<float>(x_px) + (p.zx >= 0 ? near : wide));
  const f32x8 y = f32x8{} + (static_cast<float>(y_px) + (p.zy >= 0 ? near : wide));
  const f32x8 z = clamp(depth_term_x(p, x) + depth_term_y(p, y), p.lo, p.hi);
  const i32x8 least = state.unorm ? to_unorm(z, state.unorm_scale) : (i32x8)z;
  const i32x8 bound = load8(reinterpret_cast<const uint32_t*>(state.far + first_block));
  return sign_bits(state.compare == VK_COMPARE_OP_LESS ? least >= bound : least > bound);
}

TestState make_test_state(const TestRules& rules, const tile_io::HostTile& tile, uint8_t* memory, uint32_t* ids, uint8_t* dirty,
                          int32_t* far) {
  assert(rules.has_depth == (tile.depth.words != 0) && rules.has_stencil == (tile.stencil.words != 0) && (!ids || dirty));
  TestState t{rules};
  t.samples = tile.samples;
  t.positions = sample_positions(tile.samples);
  if (rules.has_depth) t.depth = reinterpret_cast<uint32_t*>(memory + tile.depth.offset_B);
  if (rules.has_stencil) t.stencil = reinterpret_cast<uint32_t*>(memory + tile.stencil.offset_B);
  t.ids = ids;
  t.dirty = dirty;
  if (rules.bounded()) t.far = far;
  t.functions = choose_functions(t);
  return t;
}

uint64_t test_late(const TestState& state, const PrimitiveDepth& p, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered,
                   const float* depth, const uint32_t* stencil_reference) {
  assert(covered && !state.ids);  // numbers are only written early
  const uint32_t samples = state.samples;
  size_t word = size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
  i32x4 reference = i32x4{} + static_cast<int32_t>(state.face[p.face].reference & 255);
  if (stencil_reference) reference = load4(stencil_reference) & 255;
  uint64_t pass = 0;
  for (uint32_t s = 0; s < samples; s++, word += 16) {
    const uint32_t bits = covered >> 4 * s & 0xf;
    if (!bits) continue;
    f32x4 z;
    if (depth) {
      z = clamp((f32x4)_mm_loadu_ps(depth), state.range_lo, state.range_hi);
    } else {
      const float sample_x = state.positions[2 * s], sample_y = state.positions[2 * s + 1];
      z = depth_term_x(p, kQuadX + (static_cast<float>(x_px) + sample_x)) + depth_term_y(p, kQuadY + (static_cast<float>(y_px) + sample_y));
      z = clamp(z, p.lo, p.hi);
    }
    const uint32_t passed = sign_bits(test_general(state, p.face, z, reference, word, expand4(bits)));
    if (state.filter && state.depth_write) {
      const i32x4 now = state.unorm ? to_unorm(z, state.unorm_scale) : (i32x4)z;
      state.filter->raise(word, reinterpret_cast<const int32_t*>(&now), passed);
    }
    pass |= static_cast<uint64_t>(passed) << 4 * s;
  }
  return pass;
}

}  // namespace tilegpu::tile
