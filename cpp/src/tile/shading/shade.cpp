// tile/shading/shade.cpp -- stage: tile phase, shading. In: packed quads. Out: tile memory.
//
// The body runs for the packet; then, where the draw has them: discard and the shader's sample mask, alpha to coverage, late
// depth and stencil tests, occlusion counts; then the epilogue writes what is live. Alpha to coverage is free of dither: the
// first round(alpha * samples) samples (halves up) stay. Per-sample pipelines run once for each sample that is live anywhere
// in the packet. Source: Vulkan specification, "Fragment Operations", "Multisample Coverage", "Sample Shading".
#include "tile/shading/shade.hpp"

#include <cassert>
#include <cstring>

#include "hsr/vertex_deferral.hpp"
#include "tile/shading/numbers.hpp"
#include "tile_io/equal_quads.hpp"

namespace tilegpu::tile {

namespace {

using shader::FragmentArgs;

inline void set_alive(FragmentArgs& args, uint32_t quad, uint32_t pixels) {
  args.alive = (args.alive & ~(0xfu << 4 * quad)) | pixels << 4 * quad;
}
inline uint32_t alive_pixels(const FragmentArgs& args, uint32_t quad) { return args.alive >> 4 * quad & 0xf; }
inline void place_packet(FragmentArgs& args, i32x4 x_px, i32x4 y_px) {
  store(reinterpret_cast<uint32_t*>(args.x_px), x_px);
  store(reinterpret_cast<uint32_t*>(args.y_px), y_px);
}
// The same four pixels for every sample.
inline uint64_t spread(uint32_t pixels) { return pixels * 0x1111111111111111ull; }

// Samples that the shader's mask and alpha leave of a quad.
uint64_t mask_of_outputs(const Shading& sh, const FragmentArgs& args, uint32_t sample_count, uint32_t quad) {
  uint64_t mask = ~uint64_t{0};
  for (uint32_t p = 0; p < 4; p++) {
    const uint32_t lane = 4 * quad + p;
    uint32_t samples = ~0u;
    if (sh.sample_mask_out) samples &= args.sample_mask_out[lane];
    if (sh.alpha_to_coverage) {
      const float alpha = args.color[0][3][lane];
      const float count = (alpha > 0 ? (alpha < 1 ? alpha : 1.0f) : 0.0f) * static_cast<float>(sample_count) + 0.5f;
      samples &= (1u << static_cast<uint32_t>(count)) - 1;
    }
    for (uint32_t s = 0; s < sample_count; s++)
      if (!(samples >> s & 1)) mask &= ~(uint64_t{1} << (4 * s + p));
  }
  return mask;
}

// Older primitives of the visibility buffer are hidden by what is written now.
void clear_ids(uint32_t* ids, uint32_t samples, uint32_t tile_pixel, uint64_t live) {
  ids += size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
  for (uint32_t s = 0; s < samples; s++, ids += 16)
    if (const uint32_t bits = live >> 4 * s & 0xf) store(ids, ~expand4(bits) & load4(ids));
}

// Before the epilogue: quads of which all samples are written alike keep one; those that were equal and will not be are expanded.
// The epilogue then sees the first sample's coverage alone, or all of it. A packet holds a place once.
inline void keep_once(Packets& p, const TileShape& shape, TileBuffers& buffers, const tile_io::HostTile& tile, uint32_t count) {
  assert(buffers.equal && shape.samples > 1);
  FragmentArgs& args = p.args;
  const Shading& sh = p.shading;
  for (uint32_t q = 0; q < count; q++) {
    const uint64_t live = args.live_coverage[q];
    if (!live) continue;
    const uint32_t block = args.tile_pixel[q] >> 4, quad = args.tile_pixel[q] >> 2 & 3;
    const uint8_t bit = static_cast<uint8_t>(1u << quad);
    uint8_t& equal = buffers.equal[block];
    if (live == shape.all_samples && sh.keeps_once && (sh.replaces || equal & bit)) {
      equal |= bit;
      args.live_coverage[q] = 0xf;
    } else if (equal & bit) {
      tile_io::expand_quad(tile, block, quad, buffers.memory.data());
      equal = static_cast<uint8_t>(equal & ~bit);
    }
  }
}

// The pre-pass: this primitive is seen there now.
void record_ids(uint32_t* ids, uint8_t* dirty, uint32_t samples, uint32_t tile_pixel, uint64_t live, uint32_t id) {
  assert(id && live);
  ids += size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
  for (uint32_t s = 0; s < samples; s++, ids += 16)
    if (const uint32_t bits = live >> 4 * s & 0xf) store(ids, select(expand4(bits), i32x4{} + static_cast<int32_t>(id), load4(ids)));
  dirty[tile_pixel >> 4] = 1;
}

// The main phase: what is left of a quad that had to run whatever is seen of it.
uint64_t kept_samples(const Worker& w, uint32_t tile_pixel, uint64_t live, uint32_t id) {
  switch (w.packets.shading.keeps) {
    case Keeps::owned:
      return live & owned_samples(w.buffers.ids, w.shape.samples, tile_pixel, live, id);
    case Keeps::not_overdrawn:
      return live & ~overdrawn_samples(w.buffers.ids, w.shape.samples, tile_pixel, live, w.prepass.replay_ids);
    case Keeps::none:
      return 0;
    default:
      return live;
  }
}

// After the body: what remains of each quad; then the epilogue. `before`: live coverage that the body ran for.
void finish_packet(Worker& w, uint32_t count, const uint64_t* before) {
  FragmentArgs& args = w.packets.args;
  const Shading& sh = w.packets.shading;
  uint64_t any = 0;
  for (uint32_t q = 0; q < count; q++) {
    uint64_t live = before[q];
    if constexpr (kTraced) trace::shading(w, q, live);
    if (sh.discards) {
      const uint32_t ran = covered_pixels(live);
      live &= spread(alive_pixels(args, q));
      w.results.counters.fragments_discarded += static_cast<uint32_t>(std::popcount(ran & ~covered_pixels(live)));
      if constexpr (kTraced) trace::left(w, q, FragmentStep::discarded, before[q], live);
    }
    if (sh.sample_mask_out || sh.alpha_to_coverage) {
      const uint64_t all = live;
      live &= mask_of_outputs(sh, args, w.shape.samples, q);
      if constexpr (kTraced) trace::left(w, q, FragmentStep::masked, all, live);
    }
    if (sh.late && live) {
      const shader::PrimitiveSetup& p = *args.primitive[q];
      PrimitiveDepth depth;
      depth.z0 = p.z0;
      depth.zx = p.zx;
      depth.zy = p.zy;
      depth.anchor_x = p.anchor_x;
      depth.anchor_y = p.anchor_y;
      depth.lo = p.z_lo;
      depth.hi = p.z_hi;
      depth.id = 0;
      depth.face = p.front_facing ? 0 : 1;
      const uint64_t all = live;
      const uint32_t tested = covered_pixels(live);
      live = test_late(w.draw.late_test, depth, args.tile_pixel[q], args.x_px[q], args.y_px[q], live,
                       sh.shader_depth ? args.depth + 4 * q : nullptr, sh.shader_stencil ? args.stencil_out + 4 * q : nullptr);
      w.results.counters.fragments_late_killed += static_cast<uint32_t>(std::popcount(tested & ~covered_pixels(live)));
      if constexpr (kTraced) trace::left(w, q, FragmentStep::late_test, all, live);
    }
    if (sh.keeps != Keeps::all && live) {
      const uint64_t all = live;
      live = kept_samples(w, args.tile_pixel[q], live, args.primitive[q]->order);
      if constexpr (kTraced) trace::left(w, q, FragmentStep::not_owned, all, live);
    }
    if (sh.writes_ids && live) {
      assert(w.bin.phase == Phase::pre);
      record_ids(w.buffers.ids, w.visibility.dirty.data(), w.shape.samples, args.tile_pixel[q], live, args.primitive[q]->order);
      if constexpr (kTraced) trace::recorded(w, q, live);
      w.prepass.recorded += static_cast<uint32_t>(std::popcount(covered_pixels(live)));
    }
    if (sh.query >= 0) w.results.query_samples[static_cast<uint32_t>(sh.query)] += static_cast<uint32_t>(std::popcount(live));
    if (sh.clears_ids && live) {
      if constexpr (kTraced) trace::cleared_ids(w, q, live);
      clear_ids(w.buffers.ids, w.shape.samples, args.tile_pixel[q], live);
    }
    if constexpr (kTraced) trace::finished(w, q, live);
    args.live_coverage[q] = live;
    if (!sh.slice) w.results.counters.samples_written += static_cast<uint32_t>(std::popcount(live));
    any |= live;
  }
  if (!sh.epilogue || !any) return;
  uint64_t written[shader::kMaxQuads];
  if constexpr (kTraced)
    for (uint32_t q = 0; q < count; q++) trace::before_epilogue(w, q, written[q] = args.live_coverage[q]);
  if (sh.checks_once) keep_once(w.packets, w.shape, w.buffers, w.pass->tile, count);
  sh.epilogue(&args);
  if constexpr (kTraced)
    for (uint32_t q = 0; q < count; q++) trace::after_epilogue(w, q, written[q]);
}

void run_per_sample(Worker& w, uint32_t count) {
  assert(w.shape.samples > 1 && w.packets.shading.per_sample);
  FragmentArgs& args = w.packets.args;
  uint64_t live[shader::kMaxQuads], any = 0;
  for (uint32_t q = 0; q < count; q++) any |= live[q] = args.live_coverage[q];
  for (uint32_t s = 0; s < w.shape.samples; s++) {
    if (!(any >> 4 * s & 0xf)) continue;
    args.sample_index = s;
    args.loop_budget = w.pass->loop_budget;
    uint64_t now[shader::kMaxQuads];
    for (uint32_t q = 0; q < count; q++) {
      now[q] = live[q] & uint64_t{0xf} << 4 * s;
      const uint32_t pixels = static_cast<uint32_t>(now[q] >> 4 * s);
      args.live_coverage[q] = now[q];
      set_alive(args, q, pixels);
      (w.packets.shading.slice ? w.results.counters.sliced_invocations : w.results.counters.fragments_shaded) +=
          static_cast<uint32_t>(std::popcount(pixels));
    }
    w.results.counters.packets++;
    w.packets.shading.fragment(&args);
    finish_packet(w, count, now);
  }
  args.sample_index = 0;
}

// The packet is filled but for `alive`. `checks_once`: whole quads may be kept once, others must be expanded.
inline void run_packet(Worker& w, uint32_t count, bool checks_once) {
  FragmentArgs& args = w.packets.args;
  const Shading& sh = w.packets.shading;
  if (sh.per_sample) {
    run_per_sample(w, count);
    return;
  }
  w.results.counters.packets++;
  args.loop_budget = w.pass->loop_budget;
  sh.fragment(&args);
  if (sh.simple) {
    if (checks_once) keep_once(w.packets, w.shape, w.buffers, w.pass->tile, count);
    sh.epilogue(&args);
    return;
  }
  uint64_t before[shader::kMaxQuads];
  for (uint32_t q = 0; q < count; q++) before[q] = args.live_coverage[q];
  finish_packet(w, count, before);
}

void choose_shading(const PassTraits& pass, const command::DrawState& state, const ShadeMoment& moment, Shading& sh) {
  const pipeline::Resolved& resolved = *state.resolved;
  static_cast<ShadePlan&>(sh) = plan_shading(pass, state, moment);
  sh.state = &state;
  sh.moment = moment;
  sh.resolved = &resolved;
  sh.fragment = sh.slice ? resolved.slice : resolved.fragment;
  sh.epilogue = sh.finish != Epilogue::none ? resolved.epilogue : nullptr;
  sh.simple = sh.is_simple();
  sh.pixels = sh.takes_pixels ? resolved.pixels : nullptr;
  sh.blocks = sh.takes_blocks ? resolved.blocks : nullptr;
  sh.wanted = sh.takes_blocks && !sh.blocks ? resolved.blocks.slot() : nullptr;
}

}  // namespace

void bind_shading(Worker& w, uint32_t draw, EarlyTests early, bool from_ids) {
  assert(draw < w.pass->draws.size() && w.packets.queue_count == 0 && w.packets.packet_count == 0);
  const command::DrawCall& call = w.pass->draws[draw];
  const command::DrawState& state = *call.state;
  const shader::StageTraits& traits = state.resolved->fragment_traits;
  w.packets.block_primitive = nullptr;
  ShadeMoment moment;
  moment.early = early;
  moment.phase = w.bin.phase;
  moment.from_ids = from_ids;
  moment.ids_below = !w.visibility.primitives.empty();
  moment.opaque = w.prepass.verdict.opaque;
  moment.opaque_replay = w.prepass.opaque_replay;
  moment.late = w.draw.plan.late;
  moment.counts = call.query >= 0;
  moment.position_only = !w.pass->deferral.empty() && w.pass->deferral[draw].position;
  Shading& sh = w.packets.shading;
  // Ten thousand draws of one state are planned once.
  if (sh.state != &state || sh.moment != moment) choose_shading(w.shape.traits, state, moment, sh);
  sh.query = sh.counts ? call.query : -1;
  w.packets.bound_draw = draw;
  if (w.buffers.equal && traits.reads_tile) tile_io::expand_quads(w.pass->tile, w.buffers.memory.data());
  FragmentArgs& args = w.packets.args;
  args.push_constants = call.push_constants;
  args.sets = state.sets;
  std::memcpy(args.blend_constants, state.blend_constants.data(), sizeof args.blend_constants);
  w.buffers.scratch.reserve(traits.private_memory_B + 64);
  args.scratch = w.buffers.scratch.data();
  args.layer = w.pass->layer;
}

void shade_packet(Worker& w) {
  assert(w.packets.packet_count >= 1 && w.packets.packet_count <= w.shape.quads_per_packet);
  FragmentArgs& args = w.packets.args;
  const uint32_t count = w.packets.packet_count, place = args.tile_pixel[0];
  const shader::PrimitiveSetup* primitive = args.primitive[0];
  w.packets.packet_count = 0;
  uint32_t different = 0, apart = place & (4 * w.shape.quads_per_packet - 1), samples = 0;
  args.alive = 0;
  for (uint32_t q = 0; q < count; q++) {
    const uint32_t alive = covered_pixels(args.live_coverage[q]);
    set_alive(args, q, alive);
    different |= args.primitive[q] != primitive;
    apart |= args.tile_pixel[q] ^ (place + 4 * q);
    samples += static_cast<uint32_t>(std::popcount(args.live_coverage[q]));
  }
  for (uint32_t q = count; q < w.shape.quads_per_packet; q++) {
    args.primitive[q] = primitive;
    args.x_px[q] = args.x_px[0];
    args.y_px[q] = args.y_px[0];
    args.tile_pixel[q] = place;
    args.raster_coverage[q] = args.live_coverage[q] = 0;
  }
  // As whole vectors: see shade_block.
  place_packet(args, i32x4{args.x_px[0], args.x_px[1], args.x_px[2], args.x_px[3]},
               i32x4{args.y_px[0], args.y_px[1], args.y_px[2], args.y_px[3]});
  const uint32_t pixels = static_cast<uint32_t>(std::popcount(args.alive));
  args.quad_count = count;
  args.uniform_primitive = !different;
  args.full_block = count == w.shape.quads_per_packet && !apart;
  if (!w.packets.shading.per_sample)
    (w.packets.shading.slice ? w.results.counters.sliced_invocations : w.results.counters.fragments_shaded) += pixels;
  if (w.packets.shading.simple && !w.packets.shading.per_sample) w.results.counters.samples_written += samples;
  w.results.counters.helper_lanes += 4 * count - pixels;
  w.results.counters.idle_lanes += 4 * (w.shape.quads_per_packet - count);
  run_packet(w, count, w.packets.shading.checks_once);
}

void shade_gathered(Worker& w, const VisibleQuad* quads) {
  assert(w.packets.packet_count == 0 && w.shape.quads_per_packet == kGatheredQuads && apart(quads));
  static_assert(kGatheredQuads == shader::kMaxQuads);
  FragmentArgs& args = w.packets.args;
  w.packets.block_primitive = nullptr;
  // Columns of four quads: numbers and places, samples.
  const auto load = [&](uint32_t q) { return _mm_load_si128(reinterpret_cast<const __m128i*>(quads + q)); };
  const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
  const i32x4 ids = (i32x4)_mm_unpacklo_epi64(ab, cd), places = (i32x4)_mm_unpackhi_epi64(ab, cd);
  const __m256i live = _mm256_set_m128i(_mm_unpackhi_epi64(c, d), _mm_unpackhi_epi64(a, b));
  for (uint32_t q = 0; q < kGatheredQuads; q++) args.primitive[q] = w.visibility.primitives[quads[q].id - 1].setup;
  const i32x4 block = places >> 4, row_shift = i32x4{} + static_cast<int32_t>(w.shape.row_shift);
  place_packet(args, (block & static_cast<int32_t>(w.shape.blocks_per_row - 1)) * 4 + ((places >> 1) & 2) + w.bin.origin_x_px,
               (block >> row_shift) * 4 + ((places >> 2) & 2) + w.bin.origin_y_px);
  store(args.tile_pixel, places);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(args.raster_coverage), live);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(args.live_coverage), live);
  uint32_t alive = 0, samples = 0;
  if (w.shape.samples == 1) {
    alive = static_cast<uint32_t>(quads[0].live | quads[1].live << 4 | quads[2].live << 8 | quads[3].live << 12);
    samples = static_cast<uint32_t>(std::popcount(alive));
  } else {
    for (uint32_t q = 0; q < kGatheredQuads; q++) {
      alive |= covered_pixels(quads[q].live) << 4 * q;
      samples += static_cast<uint32_t>(std::popcount(quads[q].live));
    }
  }
  args.alive = alive;
  args.quad_count = kGatheredQuads;
  args.uniform_primitive = sign_bits(ids == (i32x4)_mm_shuffle_epi32((__m128i)ids, 0)) == 0xf;
  const i32x4 whole = (i32x4)_mm_and_si128(_mm_shuffle_epi32((__m128i)places, 0), _mm_set1_epi32(~15)) + i32x4{0, 4, 8, 12};
  args.full_block = sign_bits(places == whole) == 0xf;
  const uint32_t pixels = static_cast<uint32_t>(std::popcount(alive));
  if (!w.packets.shading.per_sample)
    (w.packets.shading.slice ? w.results.counters.sliced_invocations : w.results.counters.fragments_shaded) += pixels;
  if (w.packets.shading.simple && !w.packets.shading.per_sample) w.results.counters.samples_written += samples;
  w.results.counters.helper_lanes += 4 * kGatheredQuads - pixels;
  run_packet(w, kGatheredQuads, w.packets.shading.checks_once);
}

namespace {

// The packet is a whole block of the primitive, but for its place.
void hold_block(Packets& p, const TileShape& shape, const shader::PrimitiveSetup* primitive, uint64_t live) {
  FragmentArgs& args = p.args;
  const uint32_t n = shape.quads_per_packet;
  for (uint32_t q = 0; q < n; q++) {
    args.primitive[q] = primitive;
    args.raster_coverage[q] = shape.all_samples;
    args.live_coverage[q] = live;
  }
  args.alive = (1u << 4 * n) - 1;
  args.quad_count = n;
  args.uniform_primitive = 1;
  args.full_block = 1;
  p.block_primitive = primitive;
}

// Where equal samples may be kept once: colours of the block are from here on, all of a quad's being written alike.
inline bool keep_block_once(const ShadePlan& plan, uint8_t* equal, uint32_t block) {
  if (!plan.keeps_once || !(plan.replaces || equal[block] == 0xf)) return false;
  equal[block] = 0xf;
  return true;
}

void shade_block(Worker& w, const shader::PrimitiveSetup* primitive, uint32_t block, int32_t x_px, int32_t y_px) {
  FragmentArgs& args = w.packets.args;
  const uint32_t n = w.shape.quads_per_packet;
  // What the block before left is right where nobody changes `alive` and live coverage.
  const bool simple = w.packets.shading.simple && !w.packets.shading.per_sample;
  uint64_t live = w.shape.all_samples;
  bool once = false;
  if (w.buffers.equal) {
    once = simple && keep_block_once(w.packets.shading, w.buffers.equal, block);
    if (once)
      live = 0xf;
    else if (w.buffers.equal[block] && !w.packets.shading.checks_once)
      tile_io::expand_block(w.pass->tile, block, w.buffers.memory.data());
  }
  const bool checks = w.packets.shading.checks_once && !once;
  const bool repeats = simple && !checks;
  if (w.packets.block_primitive != primitive || !repeats || args.live_coverage[0] != live) hold_block(w.packets, w.shape, primitive, live);
  for (uint32_t first = 0; first < 4; first += n) {
    // Whole vectors, as the body reads them: a load that spans several stores waits until they left the store buffer.
    const i32x4 quad = i32x4{0, 1, 2, 3} + static_cast<int32_t>(first);
    place_packet(args, (quad & 1) * 2 + (w.bin.origin_x_px + x_px), (quad >> 1) * 2 + (w.bin.origin_y_px + y_px));
    store(args.tile_pixel, quad * 4 + static_cast<int32_t>(block * 16));
    if (!repeats) {
      for (uint32_t q = 0; q < n; q++) {
        args.live_coverage[q] = live;
      }
      args.alive = (1u << 4 * n) - 1;
    }
    if (simple) w.results.counters.samples_written += 4 * n * w.shape.samples;
    if (!w.packets.shading.per_sample)
      (w.packets.shading.slice ? w.results.counters.sliced_invocations : w.results.counters.fragments_shaded) += 4 * n;
    run_packet(w, n, checks);
  }
}

}  // namespace

void shade_blocks(Worker& w, const shader::PrimitiveSetup* primitive, uint32_t block, uint32_t count, int32_t x_px, int32_t y_px) {
  assert(count >= 1 && block + count <= w.shape.blocks() && w.packets.packet_count == 0);
  if (w.packets.shading.deferred && primitive->deferred) {
    w.vertices.want(primitive);
    w.vertices.resolve({*w.pass, w.results.counters});
  }
  if (w.packets.shading.wanted) w.packets.shading.wanted->wanted.store(true, std::memory_order_relaxed);
  const uint32_t n = w.shape.quads_per_packet;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t run = 0;
    if (w.packets.shading.blocks && !w.buffers.equal)
      run = count - i;
    else if (w.packets.shading.blocks)
      while (i + run < count && keep_block_once(w.packets.shading, w.buffers.equal, block + i + run)) run++;
    const int32_t x = x_px + static_cast<int32_t>(i) * 4;
    if (run == 0) {
      shade_block(w, primitive, block + i, x, y_px);
      continue;
    }
    const uint64_t live = w.buffers.equal ? 0xf : w.shape.all_samples;
    if (w.packets.block_primitive != primitive || w.packets.args.live_coverage[0] != live) hold_block(w.packets, w.shape, primitive, live);
    for (uint32_t first = 0; first < 4; first += n) {
      const int32_t quad = static_cast<int32_t>(first);
      w.packets.shading.blocks(&w.packets.args, (block + i) * 16 + first * 4, w.bin.origin_x_px + x + (quad & 1) * 2,
                               w.bin.origin_y_px + y_px + (quad >> 1) * 2, run);
    }
    w.results.counters.packets += uint64_t{run} * (4 / n);
    w.results.counters.samples_written += uint64_t{run} * 16 * w.shape.samples;
    w.results.counters.fragments_shaded += uint64_t{run} * 16;
    i += run - 1;
  }
}

}  // namespace tilegpu::tile
