// tile/depth_stencil/depth_stencil.cpp -- see depth_stencil.hpp.
#include "tile/depth_stencil/depth_stencil.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/simd.hpp"
#include "tile/depth_stencil/depth_plane.hpp"
#include "tile/depth_stencil/quad_tests.hpp"
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

// The pixels of a place by vectors: of a block, the lower of which is two rows down; of a quad.
template <class V>
struct Pixels;
template <>
struct Pixels<i32x8> {
  static constexpr uint32_t kVectors = 2, kAll = 0xffff;
  static const f32x8& x() { return kBlockX; }
  static const f32x8& y() { return kBlockY; }
  static i32x8 expand(uint32_t bits) { return expand8(bits & 0xff); }
};
template <>
struct Pixels<i32x4> {
  static constexpr uint32_t kVectors = 1, kAll = 0xf;
  static const f32x4& x() { return kQuadX; }
  static const f32x4& y() { return kQuadY; }
  static i32x4 expand(uint32_t bits) { return expand4(bits); }
};

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

  // One sample of a place: a block, two vectors of eight pixels, or a quad, one of four. Returns the pixels that pass of `covered`.
  template <bool kMasked, class V, class Depth>
  static inline uint32_t sample(const TestState& state, size_t word, uint32_t id, Depth&& depth, uint32_t covered, V (&after)[2]) {
    uint32_t pass = 0;
    for (uint32_t v = 0; v < Pixels<V>::kVectors; v++) {
      const size_t at = word + v * 8;
      const V mask = kMasked ? Pixels<V>::expand(covered >> 8 * v) : V{} - 1;
      pass |= test<kMasked>(state, depth(v), offset(state.depth, at), offset(state.ids, at), id, mask, after[v]) << 8 * v;
    }
    return pass;
  }

  // All samples of a place whose first word is `word`. kWhole: every one is covered; kOne: there is one. covered(s): pixels of sample s;
  // passed(s, pixels): what of them passes.
  template <class V>
  struct Tested {
    uint32_t any = 0, samples = 0;            // pixels with a sample that passed; samples that were tested
    V after[2] = {}, most = V{} + INT32_MIN;  // depth words of the last sample; by lane the most of all
  };
  template <class V, bool kWhole, bool kOne, class Covered, class Passed>
  [[gnu::always_inline]] static inline Tested<V> place(const TestState& state, const PrimitiveDepth& p, size_t word, int32_t x_px,
                                                       int32_t y_px, Covered&& covered, Passed&& passed) {
    Tested<V> done;
    const uint32_t samples = kOne ? 1 : state.samples;
    for (uint32_t s = 0; s < samples; s++, word += 16) {
      const uint32_t bits = kWhole ? Pixels<V>::kAll : covered(s);
      if (!kWhole && !kOne && !bits) {
        passed(s, 0);
        continue;
      }
      const float sample_x = kOne ? 0.5f : state.positions[2 * s], sample_y = kOne ? 0.5f : state.positions[2 * s + 1];
      const auto term_x = depth_term_x(p, Pixels<V>::x() + (static_cast<float>(x_px) + sample_x));
      const auto depth = [&](uint32_t v) {
        if constexpr (!kDepth) return typename Lanes<V>::Float{};
        const float y = static_cast<float>(y_px + static_cast<int32_t>(2 * v)) + sample_y;
        return clamp(term_x + depth_term_y(p, Pixels<V>::y() + y), p.lo, p.hi);
      };
      const uint32_t pass = sample<!kWhole>(state, word, p.id, depth, bits, done.after);
      if constexpr (kBounds && Pixels<V>::kVectors == 2) done.most = maximum(done.most, maximum(done.after[0], done.after[1]));
      done.any |= pass;
      done.samples++;
      passed(s, pass);
    }
    return done;
  }

  // -- the five shapes

  static uint32_t span(const TestState& state, const PrimitiveDepth& p, uint32_t first_block, uint32_t count, int32_t x_px, int32_t y_px,
                       uint16_t* pass) {
    if constexpr (!kDepth && !kIds) {
      std::fill_n(pass, size_t{count} * state.samples, uint16_t{0xffff});
      return 16 * count;
    }
    if constexpr (!kDepth) {  // numbers alone, and all of them pass
      std::fill_n(pass, size_t{count} * state.samples, uint16_t{0xffff});
      std::fill_n(state.ids + size_t{first_block} * state.samples * 16, size_t{count} * state.samples * 16, p.id);
      std::memset(state.dirty + first_block, 1, count);
      return 16 * count;
    }
    uint32_t pixels = 0;
    for (uint32_t b = first_block; b < first_block + count; b++, x_px += 4, pass += state.samples) {
      const auto put = [&](uint32_t s, uint32_t passed) { pass[s] = static_cast<uint16_t>(passed); };
      const auto done = place<i32x8, true, false>(state, p, size_t{b} * state.samples * 16, x_px, y_px, [](uint32_t) { return 0u; }, put);
      pixels += static_cast<uint32_t>(std::popcount(done.any));
      if constexpr (kBounds)
        if (state.far && done.any) {
          state.far[b] = largest(done.most);
          if (state.near) state.near[b] = smallest(minimum(done.after[0], done.after[1]));  // one sample
        }
      if constexpr (kIds) state.dirty[b] |= done.any != 0;
    }
    return pixels;
  }

  static void block(const TestState& state, const PrimitiveDepth& p, uint32_t block, int32_t x_px, int32_t y_px, const uint16_t* covered,
                    uint16_t* pass) {
    if constexpr (!kDepth && !kIds) {
      std::copy_n(covered, state.samples, pass);
      return;
    }
    const auto done = place<i32x8, false, false>(
        state, p, size_t{block} * state.samples * 16, x_px, y_px, [&](uint32_t s) { return uint32_t{covered[s]}; },
        [&](uint32_t s, uint32_t passed) { pass[s] = static_cast<uint16_t>(passed); });
    if constexpr (kBounds)
      if (state.far && done.any && done.samples == state.samples) state.far[block] = largest(done.most);
    if constexpr (kIds) state.dirty[block] |= done.any != 0;
  }

  static uint32_t single(const TestState& state, const PrimitiveDepth& p, uint32_t block, int32_t x_px, int32_t y_px, uint32_t covered) {
    assert(state.samples == 1);
    if constexpr (!kDepth && !kIds) return covered;
    const auto done =
        place<i32x8, false, true>(state, p, size_t{block} * 16, x_px, y_px, [&](uint32_t) { return covered; }, [](uint32_t, uint32_t) {});
    if constexpr (kBounds)
      if (state.far && done.any) state.stale->add(block);
    if constexpr (kIds) state.dirty[block] |= done.any != 0;
    return done.any;
  }

  static uint64_t quad(const TestState& state, const PrimitiveDepth& p, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered) {
    if constexpr (!kDepth && !kIds) return covered;
    uint64_t pass = 0;
    place<i32x4, false, false>(
        state, p, size_t{tile_pixel >> 4} * state.samples * 16 + (tile_pixel & 15), x_px, y_px,
        [&](uint32_t s) { return static_cast<uint32_t>(covered >> 4 * s & 0xf); },
        [&](uint32_t s, uint32_t passed) { pass |= uint64_t{passed} << 4 * s; });
    if constexpr (kBounds)
      if (state.near && pass) state.near[tile_pixel >> 4] = kNearUnknown;
    if constexpr (kIds) state.dirty[tile_pixel >> 4] |= pass != 0;
    return pass;
  }

  // Four quads of one sample, side by side, that may lie in four blocks.
  static uint32_t window(const TestState& state, const TriangleBatch& batch, uint32_t lane, uint32_t id, uint32_t,
                         const uint32_t* tile_pixels, int32_t x_px, int32_t y_px, uint32_t covered) {
    assert(state.samples == 1 && covered && covered <= 0xffff);
    if constexpr (!kDepth && !kIds) return covered;
    const PrimitiveDepth p = batch_depth(batch, lane, id, 0);
    uint32_t quads = covered | covered >> 1, pass = 0;
    quads |= quads >> 2;
    for (quads &= 0x1111; quads; quads &= quads - 1) {
      const uint32_t shift = static_cast<uint32_t>(std::countr_zero(quads)), q = shift >> 2, at = tile_pixels[q];
      const int32_t x = x_px + static_cast<int32_t>(q & 1) * 2, y = y_px + static_cast<int32_t>(q >> 1) * 2;
      const auto done =
          place<i32x4, false, true>(state, p, at, x, y, [&](uint32_t) { return covered >> shift & 0xf; }, [](uint32_t, uint32_t) {});
      if constexpr (kBounds)
        if (state.far && done.any) state.stale->add(at >> 4);
      if constexpr (kIds) state.dirty[at >> 4] |= done.any != 0;
      pass |= done.any << shift;
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
  assert((state.depth || !(state.depth_test || state.bounds_test)) && (state.stencil || !state.stencil_test));
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

// What the fragment shader decides of a quad, or null: a depth and a stencil reference for each pixel.
struct ShaderValues {
  const float* depth = nullptr;
  const uint32_t* stencil_reference = nullptr;
};

// All samples of a quad. kLate: after shading, where no numbers are written, and a depth filter learns what is.
template <bool kLate>
uint64_t test_samples(const TestState& state, const PrimitiveDepth& p, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered,
                      const ShaderValues& values) {
  assert(covered && (tile_pixel & 3) == 0);
  const uint32_t samples = state.samples;
  size_t word = size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
  i32x4 reference = i32x4{} + static_cast<int32_t>(state.face[p.face].reference & 255);
  if (kLate && values.stencil_reference) reference = load4(values.stencil_reference) & 255;
  uint64_t pass = 0;
  for (uint32_t s = 0; s < samples; s++, word += 16) {
    const uint32_t bits = covered >> 4 * s & 0xf;
    if (!bits) continue;
    const f32x4 z = kLate && values.depth ? clamp((f32x4)_mm_loadu_ps(values.depth), state.range_lo, state.range_hi)
                                          : quad_depth(state, p, x_px, y_px, s);
    const i32x4 lanes = test_general(state, p.face, z, reference, word, expand4(bits));
    if (!kLate && state.ids) store(state.ids + word, select(lanes, i32x4{} + static_cast<int32_t>(p.id), load4(state.ids + word)));
    const uint32_t passed = sign_bits(lanes);
    if (kLate && state.filter && state.depth_write) {
      const i32x4 now = state.unorm ? to_unorm(z, state.unorm_scale) : (i32x4)z;
      state.filter->raise(word, reinterpret_cast<const int32_t*>(&now), passed);
    }
    pass |= static_cast<uint64_t>(passed) << 4 * s;
  }
  if (!kLate && state.ids) state.dirty[tile_pixel >> 4] |= pass != 0;
  if (kLate && state.far && state.depth_write && pass) state.stale->add(tile_pixel >> 4);
  return pass;
}

uint64_t quad_general(const TestState& state, const PrimitiveDepth& p, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered) {
  return test_samples<false>(state, p, tile_pixel, x_px, y_px, covered, {});
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
  assert(!state.ids);  // numbers are only written early
  return test_samples<true>(state, p, tile_pixel, x_px, y_px, covered, {depth, stencil_reference});
}

}  // namespace tilegpu::tile
