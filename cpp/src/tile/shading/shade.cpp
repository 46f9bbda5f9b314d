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

namespace tilegpu::TILEGPU_TILE {

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

inline bool masks_outputs(const Shading& sh) { return sh.sample_mask_out || sh.alpha_to_coverage; }

// Samples that the shader's mask and alpha leave of a quad: four pixels at once, sample by sample.
uint64_t mask_of_outputs(const Shading& sh, const FragmentArgs& args, uint32_t sample_count, uint32_t quad) {
  assert(sample_count >= 1 && sample_count <= kMaxSamples);
  i32x4 left = i32x4{} + static_cast<int32_t>(sample_count), given = ~i32x4{};
  if (sh.alpha_to_coverage) {
    const f32x4 alpha = clamp((f32x4)load4(reinterpret_cast<const uint32_t*>(args.color[0][3]) + 4 * quad), 0, 1);
    left = __builtin_convertvector(alpha * static_cast<float>(sample_count) + 0.5f, i32x4);
  }
  if (sh.sample_mask_out) given = load4(args.sample_mask_out + 4 * quad);
  uint64_t mask = 0;
  for (uint32_t s = 0; s < sample_count; s++) {
    const i32x4 keeps = (left > static_cast<int32_t>(s)) & (given << static_cast<int32_t>(31 - s));
    mask |= uint64_t{sign_bits(keeps)} << 4 * s;
  }
  return mask;
}

// Older primitives of the visibility buffer are hidden by what is written now.
void clear_ids(uint32_t* ids, uint32_t samples, uint32_t tile_pixel, uint64_t live) {
  ids += size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
  for (uint32_t s = 0; s < samples; s++, ids += 16)
    if (const uint32_t bits = live >> 4 * s & 0xf) store(ids, ~expand4(bits) & load4(ids));
}

// The same of a block, by masks of its samples.
void clear_block_ids(uint32_t* ids, uint32_t samples, uint32_t block, const uint16_t* live) {
  ids += size_t{block} * samples * 16;
  for (uint32_t s = 0; s < samples; s++, ids += 16) {
    if (!live[s]) continue;
    store(ids, ~expand8(live[s] & 0xffu) & load8(ids));
    store(ids + 8, ~expand8(uint32_t{live[s]} >> 8) & load8(ids + 8));
  }
}

// Before the epilogue: quads of which all samples are written alike keep one; those that were equal and will not be are expanded.
// The epilogue then sees the first sample's coverage alone, or all of it. A packet holds a place once.
inline void keep_once(const TileContext& t, Packets& p, uint32_t count) {
  assert(t.buffers.equal && t.shape.samples > 1);
  FragmentArgs& args = p.args;
  const Shading& sh = p.shading;
  for (uint32_t q = 0; q < count; q++) {
    const uint64_t live = args.live_coverage[q];
    if (!live) continue;
    const uint32_t block = args.tile_pixel[q] >> 4, quad = args.tile_pixel[q] >> 2 & 3;
    const uint8_t bit = static_cast<uint8_t>(1u << quad);
    uint8_t& equal = t.buffers.equal[block];
    if (live == t.shape.all_samples && sh.keeps_once && (sh.replaces || equal & bit)) {
      equal |= bit;
      args.live_coverage[q] = 0xf;
    } else if (equal & bit) {
      tile_io::expand_quad(t.pass->tile, block, quad, t.buffers.memory.data());
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
uint64_t kept_samples(const TileContext& t, const Shading& sh, uint32_t tile_pixel, uint64_t live, uint32_t id) {
  switch (sh.keeps) {
    case Keeps::owned:
      return live & owned_samples(t.buffers.ids, t.shape.samples, tile_pixel, live, id);
    case Keeps::not_overdrawn:
      return live & ~overdrawn_samples(t.buffers.ids, t.shape.samples, tile_pixel, live, sh.replay_ids);
    case Keeps::none:
      return 0;
    default:
      return live;
  }
}

// How much of each pixel a smooth line covers goes into its alpha.
void multiply_areas(FragmentArgs& args, uint32_t count) {
  for (uint32_t q = 0; q < count; q++) {
    const records::LineRectangle& rectangle = static_cast<const LineSetup*>(args.primitive[q])->rectangle;
    for (uint32_t pixels = alive_pixels(args, q); pixels; pixels &= pixels - 1) {
      const int32_t p = std::countr_zero(pixels);
      float& alpha = args.color[0][3][4 * q + static_cast<uint32_t>(p)];
      alpha *= static_cast<float>(rectangle.area(args.x_px[q] + (p & 1), args.y_px[q] + (p >> 1)));
    }
  }
}

PrimitiveDepth depth_of(const shader::PrimitiveSetup& primitive) {
  PrimitiveDepth depth;
  depth.z0 = primitive.z0, depth.zx = primitive.zx, depth.zy = primitive.zy;
  depth.anchor_x = primitive.anchor_x, depth.anchor_y = primitive.anchor_y;
  depth.lo = primitive.z_lo, depth.hi = primitive.z_hi;
  depth.id = 0;
  depth.face = primitive.front_facing ? 0 : 1;
  return depth;
}

// A block of one primitive, of which nothing but discards, masks and the depth test decides: sixteen pixels at once. Here with one sample.
void finish_block(const TileContext& t, Packets& p, Results& r, const uint64_t* before) {
  FragmentArgs& args = p.args;
  const Shading& sh = p.shading;
  assert(sh.late_block && args.full_block && args.uniform_primitive && (args.tile_pixel[0] & 15) == 0);
  static_assert(shader::kMaxQuads == 4);
  const auto live = static_cast<uint32_t>(before[0] | before[1] << 4 | before[2] << 8 | before[3] << 12);
  uint32_t left = sh.discards ? live & args.alive : live;
  r.counters.fragments_discarded += static_cast<uint32_t>(std::popcount(live & ~left));
  if (masks_outputs(sh))
    for (uint32_t q = 0; q < shader::kMaxQuads; q++)
      left &= static_cast<uint32_t>(mask_of_outputs(sh, args, 1, q)) << 4 * q | ~(0xfu << 4 * q);
  uint32_t passed = 0;
  if (left) {
    passed = sh.late_test->functions.single(*sh.late_test, depth_of(*args.primitive[0]), args.tile_pixel[0] >> 4, args.x_px[0],
                                            args.y_px[0], left);
    r.counters.fragments_late_killed += static_cast<uint32_t>(std::popcount(left & ~passed));
  }
  for (uint32_t q = 0; q < shader::kMaxQuads; q++) args.live_coverage[q] = passed >> 4 * q & 0xf;
  if (!passed) return;
  const auto samples = static_cast<uint32_t>(std::popcount(passed));
  if (sh.query >= 0) r.query_samples[static_cast<uint32_t>(sh.query)] += samples;
  const auto written = static_cast<uint16_t>(passed);
  if (sh.clears_ids) clear_block_ids(t.buffers.ids, 1, args.tile_pixel[0] >> 4, &written);
  if (!sh.slice) r.counters.samples_written += samples;
  if (sh.epilogue) sh.epilogue(&args);
}

// The same with several.
void finish_block_of_samples(const TileContext& t, Packets& p, Results& r, const uint64_t* before) {
  FragmentArgs& args = p.args;
  const Shading& sh = p.shading;
  assert(sh.late_block && args.full_block && args.uniform_primitive && (args.tile_pixel[0] & 15) == 0 && t.shape.samples > 1);
  uint64_t left[shader::kMaxQuads], any = 0;
  for (uint32_t q = 0; q < shader::kMaxQuads; q++) {
    left[q] = sh.discards ? before[q] & spread(alive_pixels(args, q)) : before[q];
    r.counters.fragments_discarded += static_cast<uint32_t>(std::popcount(covered_pixels(before[q]) & ~covered_pixels(left[q])));
    if (left[q] && masks_outputs(sh)) left[q] &= mask_of_outputs(sh, args, t.shape.samples, q);
    any |= args.live_coverage[q] = left[q];
  }
  if (!any) return;
  uint16_t covered[kMaxSamples], passed[kMaxSamples];
  for (uint32_t s = 0; s < t.shape.samples; s++) {
    covered[s] = 0;
    for (uint32_t q = 0; q < shader::kMaxQuads; q++) covered[s] |= static_cast<uint16_t>((left[q] >> 4 * s & 0xf) << 4 * q);
  }
  const TestState& test = *sh.late_test;
  test.functions.block(test, depth_of(*args.primitive[0]), args.tile_pixel[0] >> 4, args.x_px[0], args.y_px[0], covered, passed);
  if (test.far && test.depth_write) test.stale->add(args.tile_pixel[0] >> 4);
  uint32_t samples = 0;
  any = 0;
  for (uint32_t q = 0; q < shader::kMaxQuads; q++) {
    const uint64_t live = gather_quad(passed, t.shape.samples, q);
    r.counters.fragments_late_killed += static_cast<uint32_t>(std::popcount(covered_pixels(left[q]) & ~covered_pixels(live)));
    any |= args.live_coverage[q] = live;
    samples += static_cast<uint32_t>(std::popcount(live));
  }
  if (sh.query >= 0) r.query_samples[static_cast<uint32_t>(sh.query)] += samples;
  if (sh.clears_ids) clear_block_ids(t.buffers.ids, t.shape.samples, args.tile_pixel[0] >> 4, passed);
  if (!sh.slice) r.counters.samples_written += samples;
  if (!sh.epilogue || !any) return;
  if (sh.checks_once) keep_once(t, p, shader::kMaxQuads);
  sh.epilogue(&args);
}

// After the body: what remains of each quad; then the epilogue. `before`: live coverage that the body ran for.
void finish_packet(const TileContext& t, Packets& p, Results& r, uint32_t count, const uint64_t* before) {
  FragmentArgs& args = p.args;
  const Shading& sh = p.shading;
  if constexpr (!kTraced)
    if (sh.late_block && args.full_block && args.uniform_primitive)
      return t.shape.samples == 1 ? finish_block(t, p, r, before) : finish_block_of_samples(t, p, r, before);
  if (sh.smooth_lines) multiply_areas(args, count);
  uint64_t any = 0;
  for (uint32_t q = 0; q < count; q++) {
    uint64_t live = before[q];
    if constexpr (kTraced) trace::shading(*t.traced, q, live);
    if (sh.discards) {
      const uint32_t ran = covered_pixels(live);
      live &= spread(alive_pixels(args, q));
      r.counters.fragments_discarded += static_cast<uint32_t>(std::popcount(ran & ~covered_pixels(live)));
      if constexpr (kTraced) trace::left(*t.traced, q, FragmentStep::discarded, before[q], live);
    }
    if (masks_outputs(sh)) {
      const uint64_t all = live;
      live &= mask_of_outputs(sh, args, t.shape.samples, q);
      if constexpr (kTraced) trace::left(*t.traced, q, FragmentStep::masked, all, live);
    }
    if (sh.late && live) {
      const PrimitiveDepth depth = depth_of(*args.primitive[q]);
      const uint64_t all = live;
      const uint32_t tested = covered_pixels(live);
      live = sh.late_depth
                 ? test_late_depth(*sh.late_test, depth, args.tile_pixel[q], args.x_px[q], args.y_px[q], live)
                 : test_late(*sh.late_test, depth, args.tile_pixel[q], args.x_px[q], args.y_px[q], live,
                             sh.shader_depth ? args.depth + 4 * q : nullptr, sh.shader_stencil ? args.stencil_out + 4 * q : nullptr);
      r.counters.fragments_late_killed += static_cast<uint32_t>(std::popcount(tested & ~covered_pixels(live)));
      if constexpr (kTraced) trace::left(*t.traced, q, FragmentStep::late_test, all, live);
    }
    if (sh.keeps != Keeps::all && live) {
      const uint64_t all = live;
      live = kept_samples(t, sh, args.tile_pixel[q], live, args.primitive[q]->order);
      if constexpr (kTraced) trace::left(*t.traced, q, FragmentStep::not_owned, all, live);
    }
    if (sh.writes_ids && live) {
      assert(t.bin.phase == Phase::pre);
      record_ids(t.buffers.ids, t.buffers.dirty, t.shape.samples, args.tile_pixel[q], live, args.primitive[q]->order);
      if constexpr (kTraced) trace::recorded(*t.traced, q, live);
      r.recorded += static_cast<uint32_t>(std::popcount(covered_pixels(live)));
    }
    if (sh.query >= 0) r.query_samples[static_cast<uint32_t>(sh.query)] += static_cast<uint32_t>(std::popcount(live));
    if (sh.clears_ids && live) {
      if constexpr (kTraced) trace::cleared_ids(*t.traced, q, live);
      clear_ids(t.buffers.ids, t.shape.samples, args.tile_pixel[q], live);
    }
    if constexpr (kTraced) trace::finished(*t.traced, q, live);
    args.live_coverage[q] = live;
    if (!sh.slice) r.counters.samples_written += static_cast<uint32_t>(std::popcount(live));
    any |= live;
  }
  if (!sh.epilogue || !any) return;
  uint64_t written[shader::kMaxQuads];
  if constexpr (kTraced)
    for (uint32_t q = 0; q < count; q++) trace::before_epilogue(*t.traced, q, written[q] = args.live_coverage[q]);
  if (sh.checks_once) keep_once(t, p, count);
  sh.epilogue(&args);
  if constexpr (kTraced)
    for (uint32_t q = 0; q < count; q++) trace::after_epilogue(*t.traced, q, written[q]);
}

// The fragment shader, for the packet.
inline void run_body(const TileContext& t, Packets& p) {
  if constexpr (kTraced) {
    const trace::FragmentReads reads(trace::texel_lines(*t.traced));
    p.shading.fragment(&p.args);
  } else {
    p.shading.fragment(&p.args);
  }
}

void run_per_sample(const TileContext& t, Packets& p, Results& r, uint32_t count) {
  assert(t.shape.samples > 1 && p.shading.per_sample);
  FragmentArgs& args = p.args;
  uint64_t live[shader::kMaxQuads], any = 0;
  for (uint32_t q = 0; q < count; q++) any |= live[q] = args.live_coverage[q];
  for (uint32_t s = 0; s < t.shape.samples; s++) {
    if (!(any >> 4 * s & 0xf)) continue;
    args.sample_index = s;
    uint64_t now[shader::kMaxQuads];
    for (uint32_t q = 0; q < count; q++) {
      now[q] = live[q] & uint64_t{0xf} << 4 * s;
      const uint32_t pixels = static_cast<uint32_t>(now[q] >> 4 * s);
      args.live_coverage[q] = now[q];
      set_alive(args, q, pixels);
      (p.shading.slice ? r.counters.sliced_invocations : r.counters.fragments_shaded) += static_cast<uint32_t>(std::popcount(pixels));
    }
    r.counters.packets++;
    run_body(t, p);
    finish_packet(t, p, r, count, now);
  }
  args.sample_index = 0;
}

// The packet is filled but for `alive`. `checks_once`: whole quads may be kept once, others must be expanded.
inline void run_packet(const TileContext& t, Packets& p, Results& r, uint32_t count, bool checks_once) {
  FragmentArgs& args = p.args;
  const Shading& sh = p.shading;
  if (sh.per_sample) {
    run_per_sample(t, p, r, count);
    return;
  }
  r.counters.packets++;
  run_body(t, p);
  if (sh.simple) {
    if (checks_once) keep_once(t, p, count);
    sh.epilogue(&args);
    return;
  }
  uint64_t before[shader::kMaxQuads];
  for (uint32_t q = 0; q < count; q++) before[q] = args.live_coverage[q];
  finish_packet(t, p, r, count, before);
}

// Nothing but discards, masks of samples and a plain depth test decides.
bool tests_late_depth(const Shading& sh, const TestState& test) {
  return !sh.shader_depth && !sh.shader_stencil && !sh.smooth_lines && sh.keeps == Keeps::all && !sh.writes_ids && !test.bounds_test &&
         !test.stencil_test && !test.filter;
}

void choose_shading(const PassTraits& pass, const command::DrawState& state, const ShadeMoment& moment, Packets& p) {
  Shading& sh = p.shading;
  const pipeline::Resolved& resolved = *state.resolved;
  static_cast<ShadePlan&>(sh) = p.plans.of(state, moment, [&] { return plan_shading(pass, state, moment); });
  sh.state = &state;
  sh.moment = moment;
  sh.resolved = &resolved;
  sh.fragment = sh.slice ? resolved.output.slice : resolved.code<shader::FragmentFunction>();
  sh.epilogue = sh.finish != Epilogue::none ? resolved.output.epilogue : nullptr;
  sh.simple = sh.is_simple();
  sh.pixels = sh.takes_pixels ? resolved.output.pixels : nullptr;
  sh.blocks = sh.takes_blocks ? resolved.output.blocks : nullptr;
  sh.wanted = sh.takes_blocks && !sh.blocks ? resolved.output.blocks.slot() : nullptr;
}

}  // namespace

void finish_shaded(const TileContext& t, Packets& p, Results& r, uint32_t count) {
  FragmentArgs& args = p.args;
  if (p.shading.simple) {
    if (p.shading.checks_once) keep_once(t, p, count);
    p.shading.epilogue(&args);
    return;
  }
  uint64_t before[shader::kMaxQuads];
  for (uint32_t q = 0; q < count; q++) before[q] = args.live_coverage[q];
  finish_packet(t, p, r, count, before);
}

void run_body([[maybe_unused]] const TileContext& t, const Packets& p, FragmentArgs& args) {
  if constexpr (kTraced) {
    const trace::FragmentReads reads(trace::texel_lines(*t.traced));
    p.shading.fragment(&args);
  } else {
    p.shading.fragment(&args);
  }
}

void attribute_fragments(Results& r, uint32_t counted) {
  const uint64_t now = r.counters.fragments_shaded;
  if (r.counted) r.counted_fragments[r.counted] += now - r.counted_from;
  r.counted = counted;
  r.counted_from = now;
}

void bind_shading(const TileContext& t, const LateTests& tests, Packets& p, Results& r, uint32_t draw, ShadeMoment moment) {
  assert(draw < t.pass->draws.size() && p.queue_count == 0 && p.packet_count == 0);
  const command::DrawCall& call = t.pass->draws[draw];
  const command::DrawState& state = *call.state;
  p.block_primitive = nullptr;
  if (r.counted != call.counted) attribute_fragments(r, call.counted);
  moment.counts = call.query >= 0;
  moment.position_only = !t.pass->deferral.empty() && t.pass->deferral[draw].position;
  Shading& sh = p.shading;
  // Ten thousand draws of one state are planned once.
  if (sh.state != &state || sh.moment != moment) choose_shading(t.shape.traits, state, moment, p);
  // What groups of pixels ask for may have come since (Jit::offer): who found it there calls it.
  if (sh.takes_pixels) sh.pixels = state.resolved->output.pixels;
  assert(!sh.late || (tests.test && tests.state == &state));
  sh.late_test = tests.test;
  sh.replay_ids = tests.replay_ids;
  sh.late_depth = sh.late && tests_late_depth(sh, *tests.test);
  sh.late_block = sh.late_depth && !sh.per_sample && t.shape.quads_per_packet == shader::kMaxQuads;
  sh.query = sh.counts ? call.query : -1;
  p.bound_draw = draw;
  if (t.buffers.equal && state.resolved->classification.reads_inputs) tile_io::expand_quads(t.pass->tile, t.buffers.memory.data());
  FragmentArgs& args = p.args;
  args.push_constants = call.push_constants;
  args.sets = state.sets;
  std::memcpy(args.blend_constants, state.blend_constants.data(), sizeof args.blend_constants);
  p.scratch.reserve(state.resolved->traits(VK_SHADER_STAGE_FRAGMENT_BIT).private_memory_B + 64);
  args.scratch = p.scratch.data();
  args.layer = t.bin.layer;
  args.view_index = call.view;
  args.sample_positions = positions_of(t, state);
  args.viewport_index = state.viewport_index;
}

void shade_packet(const TileContext& t, Packets& p, Results& r) {
  assert(p.packet_count >= 1 && p.packet_count <= t.shape.quads_per_packet);
  FragmentArgs& args = p.args;
  const uint32_t count = p.packet_count, place = args.tile_pixel[0];
  const shader::PrimitiveSetup* primitive = args.primitive[0];
  p.packet_count = 0;
  uint32_t different = 0, apart = place & (4 * t.shape.quads_per_packet - 1), samples = 0;
  args.alive = 0;
  for (uint32_t q = 0; q < count; q++) {
    const uint32_t alive = covered_pixels(args.live_coverage[q]);
    set_alive(args, q, alive);
    different |= args.primitive[q] != primitive;
    apart |= args.tile_pixel[q] ^ (place + 4 * q);
    samples += static_cast<uint32_t>(std::popcount(args.live_coverage[q]));
  }
  for (uint32_t q = count; q < t.shape.quads_per_packet; q++) {
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
  args.full_block = count == t.shape.quads_per_packet && !apart;
  if (!p.shading.per_sample) (p.shading.slice ? r.counters.sliced_invocations : r.counters.fragments_shaded) += pixels;
  if (p.shading.simple && !p.shading.per_sample) r.counters.samples_written += samples;
  r.counters.helper_lanes += 4 * count - pixels;
  r.counters.idle_lanes += 4 * (t.shape.quads_per_packet - count);
  run_packet(t, p, r, count, p.shading.checks_once);
}

namespace {

// A primitive whose vertices are shaded once something of it is.
inline void resolve_deferred(const TileContext& t, Packets& p, Results& r, const shader::PrimitiveSetup* primitive) {
  if (!p.shading.deferred || !primitive->deferred) return;
  p.vertices.want(primitive);
  p.vertices.resolve({*t.pass, r.counters, p.loops});
}

}  // namespace

void shade_part(const TileContext& t, Packets& p, Results& r, const shader::PrimitiveSetup* primitive, uint32_t block, uint32_t covered,
                uint32_t live) {
  assert(p.packet_count == 0 && t.shape.samples == 1 && t.shape.quads_per_packet == shader::kMaxQuads && !t.buffers.equal);
  assert((live & 0xf) && !(live & ~covered));
  resolve_deferred(t, p, r, primitive);
  FragmentArgs& args = p.args;
  p.block_primitive = nullptr;
  const int32_t x_px = t.bin.origin_x_px + t.shape.x_px(block), y_px = t.bin.origin_y_px + t.shape.y_px(block);
  // Quads of which nothing is live shade the first one's pixels once more: what lies beyond the primitive may keep a loop busy.
  i32x4 steps_x = {0, 2, 0, 2}, steps_y = {0, 0, 2, 2};
  uint32_t quads = 0;
  for (uint32_t q = 0; q < shader::kMaxQuads; q++) {
    const uint32_t pixels = live >> 4 * q & 0xf;
    args.primitive[q] = primitive;
    args.raster_coverage[q] = pixels ? covered >> 4 * q & 0xf : 0;
    args.live_coverage[q] = pixels;
    if (!pixels) steps_x[q] = steps_y[q] = 0;
    quads += pixels != 0;
  }
  place_packet(args, steps_x + x_px, steps_y + y_px);
  store(args.tile_pixel, i32x4{0, 4, 8, 12} + static_cast<int32_t>(block * 16));
  args.alive = live;
  args.quad_count = shader::kMaxQuads;
  args.uniform_primitive = 1;
  args.full_block = 1;
  const uint32_t pixels = static_cast<uint32_t>(std::popcount(live));
  (p.shading.slice ? r.counters.sliced_invocations : r.counters.fragments_shaded) += pixels;
  if (p.shading.simple) r.counters.samples_written += pixels;
  r.counters.helper_lanes += 4 * quads - pixels;
  r.counters.idle_lanes += 4 * (shader::kMaxQuads - quads);
  run_packet(t, p, r, shader::kMaxQuads, p.shading.checks_once);
}

void shade_gathered(const TileContext& t, const Visibility& v, Packets& p, Results& r, const VisibleQuad* quads) {
  assert(p.packet_count == 0 && t.shape.quads_per_packet == kGatheredQuads && apart(quads));
  static_assert(kGatheredQuads == shader::kMaxQuads);
  FragmentArgs& args = p.args;
  p.block_primitive = nullptr;
  // Columns of four quads: numbers and places, samples.
  const auto load = [&](uint32_t q) { return _mm_load_si128(reinterpret_cast<const __m128i*>(quads + q)); };
  const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
  const i32x4 ids = (i32x4)_mm_unpacklo_epi64(ab, cd), places = (i32x4)_mm_unpackhi_epi64(ab, cd);
  const __m256i live = _mm256_set_m128i(_mm_unpackhi_epi64(c, d), _mm_unpackhi_epi64(a, b));
  for (uint32_t q = 0; q < kGatheredQuads; q++) args.primitive[q] = v.primitives[quads[q].id - 1].setup;
  const i32x4 block = places >> 4, row_shift = i32x4{} + static_cast<int32_t>(t.shape.row_shift);
  place_packet(args, (block & static_cast<int32_t>(t.shape.blocks_per_row - 1)) * 4 + ((places >> 1) & 2) + t.bin.origin_x_px,
               (block >> row_shift) * 4 + ((places >> 2) & 2) + t.bin.origin_y_px);
  store(args.tile_pixel, places);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(args.raster_coverage), live);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(args.live_coverage), live);
  uint32_t alive = 0, samples = 0;
  if (t.shape.samples == 1) {
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
  if (!p.shading.per_sample) (p.shading.slice ? r.counters.sliced_invocations : r.counters.fragments_shaded) += pixels;
  if (p.shading.simple && !p.shading.per_sample) r.counters.samples_written += samples;
  r.counters.helper_lanes += 4 * kGatheredQuads - pixels;
  run_packet(t, p, r, kGatheredQuads, p.shading.checks_once);
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

void shade_block(const TileContext& t, Packets& p, Results& r, const shader::PrimitiveSetup* primitive, uint32_t block) {
  const int32_t x_px = t.bin.origin_x_px + t.shape.x_px(block), y_px = t.bin.origin_y_px + t.shape.y_px(block);
  FragmentArgs& args = p.args;
  const uint32_t n = t.shape.quads_per_packet;
  // What the block before left is right where nobody changes `alive` and live coverage.
  const bool simple = p.shading.simple && !p.shading.per_sample;
  uint64_t live = t.shape.all_samples;
  bool once = false;
  if (t.buffers.equal) {
    once = simple && keep_block_once(p.shading, t.buffers.equal, block);
    if (once)
      live = 0xf;
    else if (t.buffers.equal[block] && !p.shading.checks_once)
      tile_io::expand_block(t.pass->tile, block, t.buffers.memory.data());
  }
  const bool checks = p.shading.checks_once && !once;
  const bool repeats = simple && !checks;
  if (p.block_primitive != primitive || !repeats || args.live_coverage[0] != live) hold_block(p, t.shape, primitive, live);
  for (uint32_t first = 0; first < 4; first += n) {
    // Whole vectors, as the body reads them: a load that spans several stores waits until they left the store buffer.
    const i32x4 quad = i32x4{0, 1, 2, 3} + static_cast<int32_t>(first);
    place_packet(args, (quad & 1) * 2 + x_px, (quad >> 1) * 2 + y_px);
    store(args.tile_pixel, quad * 4 + static_cast<int32_t>(block * 16));
    if (!repeats) {
      for (uint32_t q = 0; q < n; q++) {
        args.live_coverage[q] = live;
      }
      args.alive = (1u << 4 * n) - 1;
    }
    if (simple) r.counters.samples_written += 4 * n * t.shape.samples;
    if (!p.shading.per_sample) (p.shading.slice ? r.counters.sliced_invocations : r.counters.fragments_shaded) += 4 * n;
    run_packet(t, p, r, n, checks);
  }
}

}  // namespace

void shade_blocks(const TileContext& t, Packets& p, Results& r, const shader::PrimitiveSetup* primitive, uint32_t block, uint32_t count) {
  assert(count >= 1 && (block & (t.shape.blocks_per_row - 1)) + count <= t.shape.blocks_per_row && p.packet_count == 0);
  resolve_deferred(t, p, r, primitive);
  if (p.shading.wanted) p.shading.wanted->wanted.store(true, std::memory_order_relaxed);
  const uint32_t n = t.shape.quads_per_packet;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t run = 0;
    if (p.shading.blocks && !t.buffers.equal)
      run = count - i;
    else if (p.shading.blocks)
      while (i + run < count && keep_block_once(p.shading, t.buffers.equal, block + i + run)) run++;
    if (run == 0) {
      shade_block(t, p, r, primitive, block + i);
      continue;
    }
    const uint64_t live = t.buffers.equal ? 0xf : t.shape.all_samples;
    if (p.block_primitive != primitive || p.args.live_coverage[0] != live) hold_block(p, t.shape, primitive, live);
    const int32_t x_px = t.bin.origin_x_px + t.shape.x_px(block + i), y_px = t.bin.origin_y_px + t.shape.y_px(block + i);
    for (uint32_t first = 0; first < 4; first += n) {
      const int32_t quad = static_cast<int32_t>(first);
      p.shading.blocks(&p.args, (block + i) * 16 + first * 4, x_px + (quad & 1) * 2, y_px + (quad >> 1) * 2, run);
    }
    r.counters.packets += uint64_t{run} * (4 / n);
    r.counters.samples_written += uint64_t{run} * 16 * t.shape.samples;
    r.counters.fragments_shaded += uint64_t{run} * 16;
    i += run - 1;
  }
}

}  // namespace tilegpu::TILEGPU_TILE
