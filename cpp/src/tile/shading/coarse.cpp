// tile/shading/coarse.cpp -- see coarse.hpp.
#include "tile/shading/coarse.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "framebuffer/tile_memory.hpp"
#include "pipeline/shading_rate.hpp"

namespace tilegpu::TILEGPU_TILE {

namespace {

using shader::FragmentArgs;
using vk::FragmentSize;

// Quads of pixels in a quad of fragments: as many as a fragment has pixels.
uint32_t quads_across(const FragmentSize& size) { return size.width_px(); }
uint32_t quads_of(const FragmentSize& size) { return size.width_px() * size.height_px(); }

// The fragments (0 to 3, as lanes of a quad) that the pixels of one of these quads are of: two bits for each pixel.
constexpr auto kFragments = [] {
  std::array<std::array<uint8_t, CoarseQuad::kMostQuads>, 9> table{};
  for (uint32_t w = 0; w < 3; w++)
    for (uint32_t h = 0; h < 3; h++)
      for (uint32_t quad = 0; quad < 1u << (w + h); quad++)
        for (uint32_t p = 0; p < 4; p++) {
          const uint32_t x = (quad & ((1u << w) - 1)) * 2 + (p & 1), y = (quad >> w) * 2 + (p >> 1);
          table[w + 3 * h][quad] = static_cast<uint8_t>(table[w + 3 * h][quad] | (x >> w | (y >> h) << 1) << 2 * p);
        }
  return table;
}();
const std::array<uint8_t, CoarseQuad::kMostQuads>& fragments_of(const FragmentSize& size) {
  assert(size.log2_width < 3 && size.log2_height < 3);
  return kFragments[size.log2_width + 3u * size.log2_height];
}

// Calls for each bit that is set.
template <class Do>
void for_each_bit(uint32_t bits, const Do& with) {
  for (; bits; bits &= bits - 1) with(static_cast<uint32_t>(std::countr_zero(bits)));
}
// The pixel's index in its fragment.
uint32_t index_in_fragment(const FragmentSize& size, uint32_t quad, uint32_t p) {
  const uint32_t x = (quad & (quads_across(size) - 1)) * 2 + (p & 1), y = (quad >> size.log2_width) * 2 + (p >> 1);
  return (x & (size.width_px() - 1)) + (y & (size.height_px() - 1)) * size.width_px();
}

bool covers_any(const uint16_t* covered, uint32_t samples) {
  return std::any_of(covered, covered + samples, [](uint16_t mask) { return mask != 0; });
}

void take_quad(const TileContext& t, Packets& p, Results& r, const shader::PrimitiveSetup* primitive, const FragmentSize& size,
               int32_t x_px, int32_t y_px) {
  CoarsePackets& c = p.coarse;
  const uint32_t samples = t.shape.samples;
  if (c.count == CoarsePackets::kMostWaiting) drain_coarse(t, p, r);
  CoarseQuad& quad = c.queue[c.count];
  quad.primitive = primitive;
  quad.x_px = static_cast<uint16_t>(x_px), quad.y_px = static_cast<uint16_t>(y_px);
  quad.size = size;
  quad.covered_quads = quad.live_quads = 0;
  const auto width = static_cast<int32_t>(quads_across(size)), height = static_cast<int32_t>(size.height_px());
  // Block by block: of small triangles most of the quad's blocks have nothing.
  for (int32_t block_y = y_px >> 2; block_y <= (y_px + 2 * height - 1) >> 2; block_y++)
    for (int32_t block_x = x_px >> 2; block_x <= (x_px + 2 * width - 1) >> 2; block_x++) {
      const size_t first = size_t{t.shape.block_of(block_x, block_y)} * samples;
      uint16_t *const covered = c.covered.data() + first, *const live = c.live.data() + first;
      if (!covers_any(covered, samples)) continue;
      for (uint32_t q = 0; q < 4; q++) {
        const int32_t x = block_x * 2 + static_cast<int32_t>(q & 1) - (x_px >> 1),
                      y = block_y * 2 + static_cast<int32_t>(q >> 1) - (y_px >> 1);
        if (x < 0 || y < 0 || x >= width || y >= height) continue;
        const auto i = static_cast<uint32_t>(x + y * width);
        quad.raster[i] = static_cast<uint16_t>(gather_quad(covered, samples, q));
        quad.live[i] = static_cast<uint16_t>(gather_quad(live, samples, q));
        quad.covered_quads = static_cast<uint16_t>(quad.covered_quads | (quad.raster[i] != 0) << i);
        quad.live_quads = static_cast<uint16_t>(quad.live_quads | (quad.live[i] != 0) << i);
        for (uint32_t s = 0; s < samples; s++)
          covered[s] = static_cast<uint16_t>(covered[s] & ~(0xfu << 4 * q)), live[s] = static_cast<uint16_t>(live[s] & ~(0xfu << 4 * q));
      }
    }
  c.count += quad.live_quads != 0;
}

}  // namespace

void gather_block(CoarsePackets& c, uint32_t block, uint32_t samples, const uint16_t* covered, const uint16_t* live) {
  assert((size_t{block} + 1) * samples <= c.covered.size() && samples <= vk::kMaxShadingRateSamples);
  uint32_t before = 0;
  for (uint32_t s = 0; s < samples; s++) {
    uint16_t &all = c.covered[block * samples + s], &passed = c.live[block * samples + s];
    before |= all;
    all |= covered[s], passed |= live[s];
  }
  if (!before) c.touched.push_back(block);
}

void queue_gathered(const TileContext& t, Packets& p, Results& r, const records::TriangleRecord& record,
                    const shader::PrimitiveSetup* primitive) {
  const FragmentShadingRateState& rate = p.shading.state->shading_rate;
  const uint32_t samples = t.shape.samples;
  const FragmentSize of_primitive =
      pipeline::size_of_primitive(rate, record.draw_flags >> records::kRateShift & records::kRateMask, samples);
  assert(!((t.bin.origin_x_px | t.bin.origin_y_px) & 7));
  for (const uint32_t block : p.coarse.touched) {
    if (!covers_any(&p.coarse.covered[size_t{block} * samples], samples)) continue;  // taken with one before
    const int32_t x = t.shape.x_px(block), y = t.shape.y_px(block);
    const uint32_t texel = t.pass->shading_rates.at(t.bin.origin_x_px + x, t.bin.origin_y_px + y, t.bin.layer);
    const FragmentSize size = pipeline::size_of_fragment(rate, of_primitive, texel, samples);
    const int32_t step_x = 2 << size.log2_width, step_y = 2 << size.log2_height;
    for (int32_t at_y = y & -step_y; at_y < y + 4; at_y += step_y)
      for (int32_t at_x = x & -step_x; at_x < x + 4; at_x += step_x) take_quad(t, p, r, primitive, size, at_x, at_y);
  }
  p.coarse.touched.clear();
}

namespace {

// What is the same for all packets of the draw.
void share_uniforms(const FragmentArgs& from, FragmentArgs& to) {
  to.sample_index = 0;
  to.push_constants = from.push_constants, to.sets = from.sets;
  std::copy_n(from.target, shader::kMaxTargets, to.target);
  to.tile_depth = from.tile_depth, to.tile_stencil = from.tile_stencil;
  to.sample_positions = from.sample_positions;
  to.scratch = from.scratch, to.loops = from.loops;
  std::copy_n(from.blend_constants, 4, to.blend_constants);
  to.area_x0_px = from.area_x0_px, to.area_y0_px = from.area_y0_px, to.area_x1_px = from.area_x1_px, to.area_y1_px = from.area_y1_px;
  to.layer = from.layer, to.view_index = from.view_index, to.viewport_index = from.viewport_index;
}

// gl_SampleMaskIn of the quad's fragments, by coverage index. `coverage`: raster, or live.
void fill_sample_masks(const CoarseQuad& quad, const uint16_t* coverage, uint32_t samples, uint32_t* masks) {
  std::fill_n(masks, 4, 0u);
  for_each_bit(quad.covered_quads, [&](uint32_t i) {
    const uint32_t fragments = fragments_of(quad.size)[i];
    for (uint32_t p = 0; p < 4; p++)
      for (uint32_t s = 0; s < samples; s++) {
        const uint32_t index = s + samples * (quads_of(quad.size) - 1 - index_in_fragment(quad.size, i, p));
        masks[fragments >> 2 * p & 3] |= static_cast<uint32_t>(coverage[i] >> (4 * s + p) & 1) << index;
      }
  });
}

// The centre of fragments that are covered whole, and of helpers; else the first covered sample, pixel by pixel.
void fill_centroids(const TileContext& t, const CoarseQuad& quad, const uint32_t* masks, float* x, float* y) {
  const uint32_t samples = t.shape.samples, width = quad.size.width_px(), height = quad.size.height_px(), pixels = width * height;
  const uint32_t all = ~0u >> (32 - pixels * samples);
  for (uint32_t f = 0; f < 4; f++) {
    const auto x0 = static_cast<float>(t.bin.origin_x_px + quad.x_px + static_cast<int32_t>((f & 1) * width)),
               y0 = static_cast<float>(t.bin.origin_y_px + quad.y_px + static_cast<int32_t>((f >> 1) * height));
    x[f] = x0 + static_cast<float>(width) * 0.5f, y[f] = y0 + static_cast<float>(height) * 0.5f;
    if (masks[f] == 0 || masks[f] == all) continue;
    for (uint32_t i = 0; i < pixels * samples; i++) {
      const uint32_t pixel = i / samples, s = i % samples;
      if (!(masks[f] >> (s + samples * (pixels - 1 - pixel)) & 1)) continue;
      x[f] = x0 + static_cast<float>(pixel % width) + t.shape.positions[2 * s];
      y[f] = y0 + static_cast<float>(pixel / width) + t.shape.positions[2 * s + 1];
      break;
    }
  }
}

// Inputs of one quad of fragments. Returns which of them have a pixel left.
uint32_t fill_inputs(const TileContext& t, const CoarseQuad& quad, const ShadePlan& plan, uint32_t q, FragmentArgs& args) {
  args.primitive[q] = quad.primitive;
  args.x_px[q] = t.bin.origin_x_px + quad.x_px, args.y_px[q] = t.bin.origin_y_px + quad.y_px;
  args.tile_pixel[q] = framebuffer::tile_pixel_index(quad.x_px, quad.y_px, t.shape.bin_px);
  args.raster_coverage[q] = args.live_coverage[q] = 0;
  args.fragment_size[q] = encoded(quad.size);
  uint32_t live = 0;
  for_each_bit(quad.live_quads, [&](uint32_t i) {
    const uint32_t fragments = fragments_of(quad.size)[i];
    for_each_bit(covered_pixels(quad.live[i]), [&](uint32_t p) { live |= 1u << (fragments >> 2 * p & 3); });
  });
  for (uint32_t f = 0; f < 4; f++) {
    const uint32_t x = quad.x_px + (f & 1) * quad.size.width_px() + quad.size.width_px() / 2,
                   y = quad.y_px + (f >> 1) * quad.size.height_px() + quad.size.height_px() / 2;
    args.lane_x_px[4 * q + f] = t.bin.origin_x_px + static_cast<int32_t>(x);
    args.lane_y_px[4 * q + f] = t.bin.origin_y_px + static_cast<int32_t>(y);
    args.lane_pixel[4 * q + f] = framebuffer::tile_pixel_index(x, y, t.shape.bin_px);
  }
  if (!plan.full_raster) return live;
  uint32_t* const masks = args.sample_mask_in + 4 * q;
  fill_sample_masks(quad, quad.raster, t.shape.samples, masks);
  fill_centroids(t, quad, masks, args.centroid_x + 4 * q, args.centroid_y + 4 * q);
  if (plan.post_depth) fill_sample_masks(quad, quad.live, t.shape.samples, masks);
  return live;
}

// Outputs of the fragments, for the pixels of the packet that is filled.
void spread_outputs(const CoarsePackets& c, const Shading& sh, FragmentArgs& to) {
  const FragmentArgs& from = *c.args;
  const auto row = [&](const auto* in, auto* out) {
    for (uint32_t lane = 0; lane < shader::kMaxLanes; lane++) out[lane] = in[c.lane_of[lane]];
  };
  const shader::StageTraits& traits = sh.resolved->traits(VK_SHADER_STAGE_FRAGMENT_BIT);
  for (uint32_t location = 0; location < shader::kMaxTargets; location++)
    if (traits.outputs_written >> location & 1)
      for (uint32_t i = 0; i < 4; i++) row(from.color[location][i], to.color[location][i]);
  if (!(traits.outputs_written & 1)) row(from.color[0][3], to.color[0][3]);  // alpha to coverage reads it
  if (traits.dual_source)
    for (uint32_t i = 0; i < 4; i++) row(from.color_source1[i], to.color_source1[i]);
  if (sh.shader_depth) row(from.depth, to.depth);
  if (sh.shader_stencil) row(from.stencil_out, to.stencil_out);
  if (sh.sample_mask_out) row(from.sample_mask_out, to.sample_mask_out);
}

// The packet of pixels that takes the outputs of a packet of fragments; several, one after the other.
class PixelPacket {
 public:
  PixelPacket(const TileContext& t, Packets& p, Results& r) : t_(t), p_(p), r_(r) { begin(); }

  void add(const CoarseQuad& quad, uint32_t q, uint32_t i, uint32_t pixels, uint32_t& led) {
    FragmentArgs& args = p_.args;
    const int32_t x = quad.x_px + static_cast<int32_t>(i & (quads_across(quad.size) - 1)) * 2,
                  y = quad.y_px + static_cast<int32_t>(i >> quad.size.log2_width) * 2;
    const uint32_t tile_pixel = framebuffer::tile_pixel_index(static_cast<uint32_t>(x), static_cast<uint32_t>(y), t_.shape.bin_px);
    bool held = count_ == t_.shape.quads_per_packet;
    for (uint32_t k = 0; k < count_; k++) held |= args.tile_pixel[k] == tile_pixel;
    if (held) finish();
    const uint32_t at = count_++;
    args.primitive[at] = quad.primitive;
    args.x_px[at] = t_.bin.origin_x_px + x, args.y_px[at] = t_.bin.origin_y_px + y;
    args.tile_pixel[at] = tile_pixel;
    args.raster_coverage[at] = quad.raster[i], args.live_coverage[at] = quad.live[i];
    args.alive |= pixels << 4 * at;
    const uint32_t covered = covered_pixels(quad.live[i]), fragments = fragments_of(quad.size)[i];
    for (uint32_t p = 0; p < 4; p++) {
      const uint32_t fragment = fragments >> 2 * p & 3;
      p_.coarse.lane_of[4 * at + p] = 4 * q + fragment;
      if (!(covered >> p & 1) || led >> fragment & 1) continue;
      led |= 1u << fragment;
      p_.coarse.leaders |= 1u << (4 * at + p);
    }
    masks_[at] = {&quad, i};
  }

  void finish() {
    if (!count_) return;
    FragmentArgs& args = p_.args;
    const uint32_t place = args.tile_pixel[0], n = t_.shape.quads_per_packet;
    uint32_t different = 0, apart = place & (4 * n - 1), samples = 0;
    for (uint32_t k = 0; k < count_; k++) {
      different |= args.primitive[k] != args.primitive[0];
      apart |= args.tile_pixel[k] ^ (place + 4 * k);
      samples += static_cast<uint32_t>(std::popcount(args.live_coverage[k]));
    }
    for (uint32_t k = count_; k < n; k++) {
      args.primitive[k] = args.primitive[0];
      args.x_px[k] = args.x_px[0], args.y_px[k] = args.y_px[0];
      args.tile_pixel[k] = place;
      args.raster_coverage[k] = args.live_coverage[k] = 0;
    }
    args.quad_count = count_;
    args.uniform_primitive = !different;
    args.full_block = count_ == n && !apart;
    spread_outputs(p_.coarse, p_.shading, args);
    if (p_.shading.sample_mask_out) cut_sample_masks();
    if (p_.shading.simple) r_.counters.samples_written += samples;
    p_.block_primitive = nullptr;
    p_.coarse.spreads = true;
    finish_shaded(t_, p_, r_, count_);
    p_.coarse.spreads = false;
    begin();
  }

 private:
  void begin() {
    count_ = 0;
    p_.args.alive = 0;
    p_.coarse.leaders = 0;
    std::fill_n(p_.coarse.lane_of, shader::kMaxLanes, 0u);
  }
  // gl_SampleMask has the samples of all of the fragment's pixels, by coverage index.
  void cut_sample_masks() {
    const uint32_t samples = t_.shape.samples;
    for (uint32_t k = 0; k < count_; k++)
      for (uint32_t p = 0; p < 4; p++) {
        const FragmentSize& size = masks_[k].quad->size;
        const uint32_t first = samples * (quads_of(size) - 1 - index_in_fragment(size, masks_[k].i, p));
        p_.args.sample_mask_out[4 * k + p] = p_.args.sample_mask_out[4 * k + p] >> first & ((1u << samples) - 1);
      }
  }

  const TileContext& t_;
  Packets& p_;
  Results& r_;
  uint32_t count_ = 0;
  struct Of {
    const CoarseQuad* quad;
    uint32_t i;
  } masks_[shader::kMaxQuads] = {};
};

// One packet of fragments: the body, then all their pixels.
void shade_coarse(const TileContext& t, Packets& p, Results& r, const CoarseQuad* quads, uint32_t count) {
  assert(count >= 1 && count <= t.shape.quads_per_packet && p.packet_count == 0 && !p.shading.slice && !p.shading.per_sample);
  FragmentArgs& args = *p.coarse.args;
  uint32_t alive = 0, different = 0, pixels = 0;
  for (uint32_t q = 0; q < t.shape.quads_per_packet; q++) {
    // Lanes beyond the packet shade its first quad once more.
    const uint32_t live = fill_inputs(t, quads[q < count ? q : 0], p.shading, q, args);
    if (q >= count) continue;
    alive |= live << 4 * q;
    different |= quads[q].primitive != quads[0].primitive;
    for_each_bit(quads[q].live_quads,
                 [&](uint32_t i) { pixels += static_cast<uint32_t>(std::popcount(covered_pixels(quads[q].live[i]))); });
  }
  args.quad_count = count;
  args.uniform_primitive = !different;
  args.full_block = 0;
  args.alive = alive;
  const auto ran = static_cast<uint32_t>(std::popcount(alive));
  r.counters.packets++;
  r.counters.fragments_shaded += ran;
  r.counters.coarse_fragments += ran;
  r.counters.coarse_pixels += pixels;
  r.counters.helper_lanes += 4 * count - ran;
  r.counters.idle_lanes += 4 * (t.shape.quads_per_packet - count);
  if constexpr (kTraced) {
    trace::coarse_helpers(*t.traced, 4 * count - ran);
    std::copy_n(args.x_px, shader::kMaxQuads, p.args.x_px);  // texel lines are noted by the packet's place
    std::copy_n(args.y_px, shader::kMaxQuads, p.args.y_px);
  }
  run_body(t, p, args);
  PixelPacket packet(t, p, r);
  for (uint32_t q = 0; q < count; q++) {
    uint32_t led = 0;
    for_each_bit(quads[q].live_quads, [&](uint32_t i) {
      const uint32_t fragments = fragments_of(quads[q].size)[i];
      uint32_t left = 0;  // pixels whose fragments the body left
      for (uint32_t pixel = 0; pixel < 4; pixel++) left |= (args.alive >> (4 * q + (fragments >> 2 * pixel & 3)) & 1) << pixel;
      packet.add(quads[q], q, i, left & covered_pixels(quads[q].live[i]), led);
    });
  }
  packet.finish();
}

bool overlap(const CoarseQuad& a, const CoarseQuad& b) {
  const auto apart = [](uint32_t p, uint32_t p_px, uint32_t q, uint32_t q_px) { return p + p_px <= q || q + q_px <= p; };
  return !apart(a.x_px, 2 * a.size.width_px(), b.x_px, 2 * b.size.width_px()) &&
         !apart(a.y_px, 2 * a.size.height_px(), b.y_px, 2 * b.size.height_px());
}

}  // namespace

void drain_coarse(const TileContext& t, Packets& p, Results& r) {
  CoarsePackets& c = p.coarse;
  assert(p.queue_count == 0 && c.count <= CoarsePackets::kMostWaiting);
  // A shader that reads the tile sees what is below it: of what lies there none is in its packet.
  const bool reads = p.shading.resolved->classification.reads_inputs;
  share_uniforms(p.args, *c.args);
  for (uint32_t first = 0; first < c.count;) {
    uint32_t n = 1;
    for (; n < t.shape.quads_per_packet && first + n < c.count; n++)
      if (reads &&
          std::any_of(&c.queue[first], &c.queue[first + n], [&](const CoarseQuad& quad) { return overlap(quad, c.queue[first + n]); }))
        break;
    shade_coarse(t, p, r, &c.queue[first], n);
    first += n;
  }
  c.count = 0;
}

}  // namespace tilegpu::TILEGPU_TILE
