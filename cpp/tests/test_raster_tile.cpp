// test_raster_tile.cpp -- the tile phase against a scalar reference that draws one sample after another: depth, stencil, discard,
// late tests, blending order, per-sample shading, sample masks, occlusion queries; and the same bits for 4, 8 and 16 lanes, bins
// of 32, 64 and 128 pixels, hidden-surface removal on and off. Shader and epilogue are plain functions.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "records/primitive_setup.hpp"
#include "tile/depth_stencil/depth_stencil.hpp"
#include "tile/tile_job.hpp"
#include "vk/sample_locations.hpp"

using namespace tilegpu;

namespace {

constexpr int32_t kImage_px = 128;

uint32_t hash(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca6bu ^ c * 0xc2b2ae35u ^ d * 0x27d4eb2fu;
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  return h ^ h >> 13;
}

enum Flag : uint32_t { kDiscard = 1, kDepth = 2, kMask = 4, kAlpha = 8, kPerSample = 16, kReadsCoverage = 32, kStencilOut = 64 };
struct Push {
  uint32_t draw = 0, flags = 0, lanes = 0, samples = 0;
};

uint32_t shade_color(const Push& push, uint32_t primitive, int32_t x, int32_t y, uint32_t sample, uint32_t coverage) {
  return hash(push.draw * 64 + sample, primitive, static_cast<uint32_t>(x), static_cast<uint32_t>(y)) + coverage * 977;
}

bool repeated_place = false;

void body(shader::FragmentArgs* args) {
  Push push;
  std::memcpy(&push, args->push_constants, sizeof push);
  for (uint32_t q = 0; q < args->quad_count; q++) {
    for (uint32_t o = 0; o < q; o++) repeated_place |= args->tile_pixel[o] == args->tile_pixel[q];
    for (uint32_t p = 0; p < 4; p++) {
      const uint32_t lane = q * 4 + p;
      const int32_t x = args->x_px[q] + static_cast<int32_t>(p & 1), y = args->y_px[q] + static_cast<int32_t>(p >> 1);
      uint32_t coverage = 0;
      for (uint32_t s = 0; s < push.samples; s++) coverage |= static_cast<uint32_t>(args->raster_coverage[q] >> (4 * s + p) & 1) << s;
      const uint32_t c =
          shade_color(push, args->primitive[q]->primitive_id, x, y, args->sample_index, push.flags & kReadsCoverage ? coverage : 0);
      std::memcpy(&args->color[0][0][lane], &c, 4);
      args->color[0][3][lane] = static_cast<float>(c & 255) / 255.0f;
      if (push.flags & kDiscard && (c >> 8 & 3) == 0) args->alive &= ~(1u << lane);
      if (push.flags & kDepth) args->depth[lane] = static_cast<float>(c >> 16) / 65535.0f;
      if (push.flags & kMask) args->sample_mask_out[lane] = c >> 4;
      if (push.flags & kStencilOut) args->stencil_out[lane] = c >> 7;
    }
  }
}

uint32_t blend(uint32_t old, uint32_t now) { return old * 3 + now; }

// Reads everything before it writes anything, as vector code may.
template <bool kBlend>
void epilogue(shader::FragmentArgs* args) {
  Push push;
  std::memcpy(&push, args->push_constants, sizeof push);
  uint32_t old[16][16], *target = reinterpret_cast<uint32_t*>(args->target[0]);
  const auto word = [&](uint32_t q, uint32_t s) { return (args->tile_pixel[q] / 16 * push.samples + s) * 16 + args->tile_pixel[q] % 16; };
  for (uint32_t q = 0; q < args->quad_count; q++)
    for (uint32_t s = 0; s < push.samples; s++) std::memcpy(&old[s][4 * q], target + word(q, s), 16);
  for (uint32_t q = 0; q < args->quad_count; q++)
    for (uint32_t s = 0; s < push.samples; s++)
      for (uint32_t p = 0; p < 4; p++) {
        const uint32_t lane = 4 * q + p;
        uint32_t now;
        std::memcpy(&now, &args->color[0][0][lane], 4);
        const bool live = args->alive >> lane & 1 && args->live_coverage[q] >> (4 * s + p) & 1;
        target[word(q, s) + p] = live ? (kBlend ? blend(old[s][lane], now) : now) : old[s][lane];
      }
}

struct Scene {
  uint32_t samples = 1;
  VkFormat depth_format = VK_FORMAT_D32_SFLOAT;
  std::vector<std::unique_ptr<command::DrawState>> states;
  std::vector<Push> push;
  std::vector<command::DrawCall> draws;
  records::Chunk chunk;  // all records, in order
  uint32_t query_count = 0;
  uint32_t clear_before = ~0u;  // record before which a rectangle of the colour attachment is cleared
  command::ClearCall clear;
};

struct Image {
  std::vector<uint32_t> color, depth, stencil;
  std::vector<uint64_t> queries;
  bool operator==(const Image&) const = default;
  void clear(uint32_t samples, VkFormat format) {
    const size_t n = static_cast<size_t>(kImage_px * kImage_px) * samples;
    const float one = 1.0f;
    uint32_t far_word;
    std::memcpy(&far_word, &one, 4);
    if (format == VK_FORMAT_D16_UNORM) far_word = 65535;
    if (format == VK_FORMAT_X8_D24_UNORM_PACK32) far_word = 16777215;
    color.assign(n, 0x11223344);
    depth.assign(n, far_word - far_word / 4);
    stencil.assign(n, 5);
  }
};

// -- the reference ---------------------------------------------------------------------------------------------------------------

bool compare(VkCompareOp op, double a, double b) {
  switch (op) {
    case VK_COMPARE_OP_NEVER:
      return false;
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
      return true;
  }
}

uint32_t apply(VkStencilOp op, uint32_t old, uint32_t reference) {
  switch (op) {
    case VK_STENCIL_OP_ZERO:
      return 0;
    case VK_STENCIL_OP_REPLACE:
      return reference & 255;
    case VK_STENCIL_OP_INCREMENT_AND_CLAMP:
      return old == 255 ? 255 : old + 1;
    case VK_STENCIL_OP_DECREMENT_AND_CLAMP:
      return old == 0 ? 0 : old - 1;
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

struct Reference {
  const Scene& scene;
  Image& image;

  double stored_depth(uint32_t word) const {
    if (scene.depth_format == VK_FORMAT_D16_UNORM || scene.depth_format == VK_FORMAT_X8_D24_UNORM_PACK32) return word;
    float f;
    std::memcpy(&f, &word, 4);
    return f;
  }
  uint32_t depth_word(float z) const {
    if (scene.depth_format == VK_FORMAT_D16_UNORM) return static_cast<uint32_t>(std::nearbyint(double{z} * 65535));
    if (scene.depth_format == VK_FORMAT_X8_D24_UNORM_PACK32) return static_cast<uint32_t>(std::nearbyint(double{z} * 16777215));
    uint32_t w;
    std::memcpy(&w, &z, 4);
    return w;
  }

  // Bounds, stencil and depth tests of one sample, with all writes.
  bool test(const command::DrawCall& draw, bool front, float z, uint32_t stencil_reference, size_t at) {
    const DepthStencilState& ds = draw.state->depth_stencil;
    if (ds.depth_bounds_test) {
      double stored = stored_depth(image.depth[at]);
      if (scene.depth_format == VK_FORMAT_D16_UNORM) stored = static_cast<float>(stored) / 65535.0f;
      if (scene.depth_format == VK_FORMAT_X8_D24_UNORM_PACK32) stored = static_cast<float>(stored) / 16777215.0f;
      if (!(stored >= ds.min_depth_bounds && stored <= ds.max_depth_bounds)) return false;
    }
    const VkStencilOpState& face = front ? ds.front : ds.back;
    const uint32_t old = image.stencil[at];
    const auto write = [&](VkStencilOp op) {
      if (ds.stencil_test) image.stencil[at] = (old & ~face.writeMask) | (apply(op, old, stencil_reference) & face.writeMask & 255);
    };
    if (ds.stencil_test && !compare(face.compareOp, stencil_reference & face.compareMask & 255, old & face.compareMask)) {
      write(face.failOp);
      return false;
    }
    if (ds.depth_test && !compare(ds.depth_compare, stored_depth(depth_word(z)), stored_depth(image.depth[at]))) {
      write(face.depthFailOp);
      return false;
    }
    write(face.passOp);
    if (ds.depth_test && ds.depth_write) image.depth[at] = depth_word(z);
    return true;
  }

  void draw_record(const records::TriangleRecord& r, uint32_t index) {
    const command::DrawCall& draw = scene.draws[r.draw_flags & records::kDrawMask];
    const Push& push = scene.push[r.draw_flags & records::kDrawMask];
    const pipeline::Resolved& resolved = *draw.state->resolved;
    const pipeline::Classification& c = resolved.classification;
    const VkRect2D& scissor = draw.state->scissor;
    const bool front = r.draw_flags & records::kFrontFacing;
    const bool early = c.early_test && c.early_write;
    tile::TestState range;
    if (draw.state->rasterization.depth_clamp) {
      range.range_lo = std::min(draw.state->viewport.minDepth, draw.state->viewport.maxDepth);
      range.range_hi = std::max(draw.state->viewport.minDepth, draw.state->viewport.maxDepth);
    }
    tile::PrimitiveDepth plane;
    records::set_up_depth(r, range, plane);
    const vk::SampleLocation* at = vk::sample_locations(scene.samples);
    for (int32_t y = 0; y < kImage_px; y++)
      for (int32_t x = 0; x < kImage_px; x++) {
        const int32_t left = scissor.offset.x, top = scissor.offset.y;
        if (x < left || y < top || x >= left + static_cast<int32_t>(scissor.extent.width) ||
            y >= top + static_cast<int32_t>(scissor.extent.height))
          continue;
        const uint64_t quad = records::cover_quad(r, x & ~1, y & ~1, scene.samples);
        uint32_t coverage = 0;
        for (uint32_t s = 0; s < scene.samples; s++)
          coverage |= static_cast<uint32_t>(quad >> (4 * s + static_cast<uint32_t>((y & 1) * 2 + (x & 1))) & 1) << s;
        coverage &= draw.state->multisample.sample_mask;
        if (!coverage) continue;
        uint32_t live = coverage;
        const auto index_of = [&](uint32_t s) { return static_cast<size_t>(y * kImage_px + x) * scene.samples + s; };
        const auto plane_depth = [&](uint32_t s) {
          const float px = static_cast<float>(x) + at[s].x / 16.0f, py = static_cast<float>(y) + at[s].y / 16.0f;
          float z = (plane.z0 + plane.zx * (px - plane.anchor_x)) + plane.zy * (py - plane.anchor_y);
          z = z > plane.lo ? z : plane.lo;
          return z < plane.hi ? z : plane.hi;
        };
        const uint32_t reference = front ? draw.state->depth_stencil.front.reference : draw.state->depth_stencil.back.reference;
        if (early) {
          for (uint32_t s = 0; s < scene.samples; s++)
            if (live >> s & 1 && !test(draw, front, plane_depth(s), reference, index_of(s))) live &= ~(1u << s);
          if (draw.query >= 0) image.queries[static_cast<size_t>(draw.query)] += static_cast<uint32_t>(__builtin_popcount(live));
        }
        if (!resolved.shades()) continue;
        uint32_t color[16];
        for (uint32_t s = 0; s < scene.samples; s++) {
          color[s] = shade_color(push, chunk_id(index), x, y, push.flags & kPerSample ? s : 0, push.flags & kReadsCoverage ? coverage : 0);
          const uint32_t v = color[s];
          bool keep = true;
          if (push.flags & kDiscard && (v >> 8 & 3) == 0) keep = false;
          if (push.flags & kMask && !(v >> 4 >> s & 1)) keep = false;
          const float covered = static_cast<float>(v & 255) / 255.0f * static_cast<float>(scene.samples);
          if (push.flags & kAlpha && static_cast<float>(s) + 0.5f > covered) keep = false;
          if (!keep) live &= ~(1u << s);
        }
        if (!early) {
          for (uint32_t s = 0; s < scene.samples; s++) {
            float z = plane_depth(s);
            if (push.flags & kDepth) z = std::clamp(static_cast<float>(color[s] >> 16) / 65535.0f, range.range_lo, range.range_hi);
            const uint32_t exported = push.flags & kStencilOut ? color[s] >> 7 & 255 : reference;
            if (live >> s & 1 && !test(draw, front, z, exported, index_of(s))) live &= ~(1u << s);
          }
          if (draw.query >= 0) image.queries[static_cast<size_t>(draw.query)] += static_cast<uint32_t>(__builtin_popcount(live));
        }
        if (!c.writes_color) continue;
        for (uint32_t s = 0; s < scene.samples; s++)
          if (live >> s & 1) image.color[index_of(s)] = c.reads_tile ? blend(image.color[index_of(s)], color[s]) : color[s];
      }
  }
  uint32_t chunk_id(uint32_t index) const { return scene.chunk.primitive_id[index]; }
};

Image render_reference(const Scene& scene) {
  Image image;
  image.clear(scene.samples, scene.depth_format);
  image.queries.assign(scene.query_count, 0);
  Reference reference{scene, image};
  for (uint32_t i = 0; i < scene.chunk.records.size(); i++) {
    if (i == scene.clear_before)
      for (int32_t y = 0; y < kImage_px; y++)
        for (int32_t x = 0; x < kImage_px; x++) {
          const VkRect2D& r = scene.clear.rect;
          if (x < r.offset.x || y < r.offset.y || x >= r.offset.x + static_cast<int32_t>(r.extent.width) ||
              y >= r.offset.y + static_cast<int32_t>(r.extent.height))
            continue;
          for (uint32_t s = 0; s < scene.samples; s++) {
            const size_t at = static_cast<size_t>(y * kImage_px + x) * scene.samples + s;
            if (scene.clear.attachment == 0) image.color[at] = scene.clear.value.color.uint32[0];
            if (scene.clear.attachment < 0) image.depth[at] = reference.depth_word(scene.clear.value.depthStencil.depth);
          }
        }
    reference.draw_record(scene.chunk.records[i], i);
  }
  return image;
}

// -- the tile phase ----------------------------------------------------------------------------------------------------------------

struct BinSize {
  uint32_t width_px, height_px;
};

Image render_tiles(const Scene& scene, uint32_t lanes, BinSize size, bool hidden_surface_removal, bool hierarchical_z,
                   stats::FragmentCounters* counters = nullptr) {
  Image image;
  image.clear(scene.samples, scene.depth_format);
  records::Chunk chunk = scene.chunk, clear_chunk;
  clear_chunk.clear = &scene.clear;
  records::BinnedGeometry binned;
  const uint32_t bin_px = std::max(framebuffer::kLeastBin_px, std::max(size.width_px, size.height_px));
  const uint32_t columns = kImage_px / size.width_px, rows = kImage_px / size.height_px;
  binned.grid = {size.width_px, size.height_px, columns, rows, 0, 0};
  for (uint32_t bin = 0; bin < columns * rows; bin++) {
    binned.first_segment.push_back(static_cast<uint32_t>(binned.segments.size()));
    const uint32_t first = static_cast<uint32_t>(chunk.entries.size());
    for (uint32_t i = 0; i < chunk.records.size(); i++) chunk.entries.push_back(i);  // bins decide themselves what they see
    const uint32_t count = static_cast<uint32_t>(chunk.records.size()), cut = std::min(scene.clear_before, count);
    binned.segments.push_back({&chunk, first, cut});
    if (cut < count) {
      binned.segments.push_back({&clear_chunk, 0, 0});
      binned.segments.push_back({&chunk, first + cut, count - cut});
    }
  }
  binned.first_segment.push_back(static_cast<uint32_t>(binned.segments.size()));

  tile::PassContext pass;
  pass.draws = scene.draws;
  pass.geometry = &binned;
  pass.samples = scene.samples;
  pass.lanes = lanes;
  pass.query_count = scene.query_count;
  pass.render_area = {{0, 0}, {kImage_px, kImage_px}};
  pass.hsr.visibility_buffer = hidden_surface_removal;
  pass.hsr.hierarchical_z = hierarchical_z;
  pass.tile.bin_px = bin_px, pass.tile.width_px = size.width_px, pass.tile.height_px = size.height_px;
  pass.tile.samples = scene.samples;
  const uint32_t plane_B = bin_px * bin_px * scene.samples * 4, block_B = scene.samples * 64;
  pass.tile.color[0] = {0, 1, block_B};
  pass.tile.depth = {plane_B, 1, block_B};
  pass.tile.stencil = {2 * plane_B, 1, block_B};
  pass.tile.color_format[0] = VK_FORMAT_R32_UINT;
  pass.tile.depth_format = scene.depth_format;
  pass.tile.stencil_format = VK_FORMAT_S8_UINT;
  pass.tile.size_B = 3 * plane_B;
  tile::TileWorker worker;
  worker.begin_pass(pass, 1);
  const auto copy = [&](uint32_t bin, bool load) {
    uint32_t* words = reinterpret_cast<uint32_t*>(worker.memory());
    const auto left = static_cast<uint32_t>(binned.grid.x_px(bin)), top = static_cast<uint32_t>(binned.grid.y_px(bin));
    for (uint32_t y = 0; y < size.height_px; y++)
      for (uint32_t x = 0; x < size.width_px; x++)
        for (uint32_t s = 0; s < scene.samples; s++) {
          const size_t at = (static_cast<size_t>(top + y) * kImage_px + left + x) * scene.samples + s;
          const size_t word = framebuffer::tile_word_index(framebuffer::tile_pixel_index(x, y, bin_px), s, 0, scene.samples, 1);
          uint32_t* plane[3] = {&image.color[at], &image.depth[at], &image.stencil[at]};
          for (uint32_t k = 0; k < 3; k++) {
            uint32_t& tile = words[k * plane_B / 4 + word];
            if (load)
              tile = *plane[k];
            else
              *plane[k] = tile;
          }
        }
  };
  for (uint32_t bin = 0; bin < columns * rows; bin++) {
    copy(bin, true);
    worker.run(pass, bin);
    copy(bin, false);
  }
  for (uint32_t q = 0; q < scene.query_count; q++) image.queries.push_back(worker.query_samples(q));
  if (counters) *counters = worker.counters();
  return image;
}

void compare_all(const Scene& scene, const char* what) {
  const Image expected = render_reference(scene);
  for (BinSize size : {BinSize{32, 32}, {64, 64}, {128, 128}, {64, 32}, {16, 8}, {8, 4}})
    for (uint32_t lanes : {4u, 8u, 16u})
      for (bool hsr : {false, true}) {
        const Image image = render_tiles(scene, lanes, size, hsr, lanes != 16);
        const bool equal = image == expected;
        if (!equal) {
          size_t differ[3] = {};
          for (size_t i = 0; i < image.color.size(); i++) {
            differ[0] += image.color[i] != expected.color[i];
            differ[1] += image.depth[i] != expected.depth[i];
            differ[2] += image.stencil[i] != expected.stencil[i];
          }
          std::printf("%s: %u samples, bins %ux%u, lanes %u, hsr %d: %zu colours, %zu depths, %zu stencils differ, queries %s\n", what,
                      scene.samples, size.width_px, size.height_px, lanes, hsr, differ[0], differ[1], differ[2],
                      image.queries == expected.queries ? "equal" : "differ");
        }
        CHECK(equal);
        if (test::failures > 5) return;
      }
}

// -- scenes --------------------------------------------------------------------------------------------------------------------------

struct DrawOptions {
  DepthStencilState depth_stencil;
  uint32_t flags = 0;
  bool blends = false, color = true, shaded = true, early_fragment_tests = false, depth_clamp = false;
  uint32_t sample_mask = ~0u;
  VkRect2D scissor = {{0, 0}, {kImage_px, kImage_px}};
  int32_t query = -1;
};

void add_draw(Scene& scene, const DrawOptions& o) {
  auto state = std::make_unique<command::DrawState>();
  state->depth_stencil = o.depth_stencil;
  state->depth_stencil.front.reference = 5;
  state->depth_stencil.back.reference = 9;
  state->multisample.samples = static_cast<VkSampleCountFlagBits>(scene.samples);
  state->multisample.sample_mask = o.sample_mask;
  state->multisample.alpha_to_coverage = o.flags & kAlpha;
  state->rasterization.depth_clamp = o.depth_clamp;
  auto resolved = std::make_shared<pipeline::Resolved>();
  resolved->samples = scene.samples;
  shader::StageTraits& t = resolved->stages.add({VK_SHADER_STAGE_FRAGMENT_BIT, {}, {}, {}}).traits;
  t.discards = o.flags & kDiscard;
  t.writes_depth = o.flags & kDepth;
  t.writes_sample_mask = o.flags & kMask;
  t.writes_stencil = o.flags & kStencilOut;
  t.reads_sample_mask = o.flags & kReadsCoverage;
  t.early_fragment_tests = o.early_fragment_tests;
  pipeline::Classification& c = resolved->classification;
  const bool kills = o.shaded && o.flags & (kDiscard | kMask | kAlpha);
  if (!o.early_fragment_tests) {
    c.late_test = o.shaded && o.flags & (kDepth | kStencilOut);
    c.early_test = !c.late_test;
    c.early_write = c.early_test && !kills;
  }
  c.per_sample = scene.samples > 1 && o.flags & kPerSample;
  c.writes_color = o.shaded && o.color;
  c.reads_tile = c.writes_color && o.blends;
  c.opaque = c.writes_color && !o.blends;
  if (o.shaded) resolved->stages.find(VK_SHADER_STAGE_FRAGMENT_BIT)->code = shader::Code(body).as<shader::AnyFunction>();
  resolved->output.epilogue = !c.writes_color ? nullptr : o.blends ? epilogue<true> : epilogue<false>;
  state->resolved = std::move(resolved);
  state->scissor = o.scissor;
  state->viewport = {0, 0, kImage_px, kImage_px, 0.25f, 0.75f};
  command::DrawCall call;
  call.state = state.get();
  call.query = o.query;
  if (o.query >= 0) scene.query_count = std::max(scene.query_count, static_cast<uint32_t>(o.query) + 1);
  scene.states.push_back(std::move(state));
  scene.draws.push_back(call);
  scene.push.push_back({static_cast<uint32_t>(scene.draws.size()), scene.samples > 1 ? o.flags : o.flags & ~kPerSample, 0, scene.samples});
}

void add_triangle(Scene& scene, std::mt19937& rng, int32_t reach) {
  const auto between = [&](int32_t lo, int32_t hi) { return std::uniform_int_distribution<int32_t>(lo, hi)(rng); };
  records::TriangleRecord r{};
  const int32_t cx = between(0, kImage_px * 256), cy = between(0, kImage_px * 256);
  for (int k = 0; k < 3; k++) {
    r.x[k] = cx + between(-reach, reach);
    r.y[k] = cy + between(-reach, reach);
    r.z[k] = static_cast<float>(between(-200, 1200)) / 1000.0f;
    r.q[k] = static_cast<float>(between(1, 1000)) / 100.0f;
  }
  if (between(0, 3) == 0) r.z[1] = r.z[2] = r.z[0] = static_cast<float>(between(0, 4)) / 4.0f;  // equal depths
  if (between(0, 40) == 0) r.z[between(0, 2)] = std::numeric_limits<float>::quiet_NaN();
  if (between(0, 40) == 0) r.z[between(0, 2)] = std::numeric_limits<float>::infinity();
  const int64_t area = int64_t{r.x[1] - r.x[0]} * (r.y[2] - r.y[0]) - int64_t{r.x[2] - r.x[0]} * (r.y[1] - r.y[0]);
  if (area == 0) return;
  if (area < 0) {
    std::swap(r.x[1], r.x[2]);
    std::swap(r.y[1], r.y[2]);
  }
  r.draw_flags = static_cast<uint32_t>(scene.draws.size() - 1) | (between(0, 1) ? records::kFrontFacing : 0);
  scene.chunk.primitive_id.push_back(static_cast<uint32_t>(scene.chunk.records.size()) * 7 + 1);
  scene.chunk.records.push_back(r);
}

void finish(Scene& scene) {
  scene.chunk.varyings.resize(64);
  for (size_t i = 0; i < scene.draws.size(); i++) scene.draws[i].push_constants = reinterpret_cast<const uint8_t*>(&scene.push[i]);
}

DepthStencilState depth_state(VkCompareOp op, bool write = true) {
  DepthStencilState ds;
  ds.depth_test = true;
  ds.depth_write = write;
  ds.depth_compare = op;
  return ds;
}

int32_t some_reach(std::mt19937& rng) {
  const int32_t reaches[] = {400, 400, 1200, 4000, 12000, 40000, 300000};
  return reaches[rng() % std::size(reaches)];
}

void depth_operations() {
  std::mt19937 rng(1);
  for (VkFormat format : {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM, VK_FORMAT_X8_D24_UNORM_PACK32})
    for (uint32_t op = 0; op < 8; op++) {
      Scene scene;
      scene.samples = op & 1 ? 4 : 1;
      scene.depth_format = format;
      for (int d = 0; d < 4; d++) {
        DrawOptions o;
        o.depth_stencil = depth_state(static_cast<VkCompareOp>(op), d != 2);
        o.depth_clamp = d == 1;
        o.query = d == 3 ? 0 : -1;
        add_draw(scene, o);
        for (int i = 0; i < 12; i++) add_triangle(scene, rng, some_reach(rng));
      }
      finish(scene);
      compare_all(scene, "depth operations");
    }
}

void stencil_operations() {
  std::mt19937 rng(2);
  for (int round = 0; round < 10; round++) {
    Scene scene;
    scene.samples = round & 1 ? 2 : 1;
    for (int d = 0; d < 5; d++) {
      DrawOptions o;
      o.depth_stencil = depth_state(static_cast<VkCompareOp>(rng() % 8));
      o.depth_stencil.stencil_test = true;
      for (VkStencilOpState* face : {&o.depth_stencil.front, &o.depth_stencil.back}) {
        face->compareOp = static_cast<VkCompareOp>(rng() % 8);
        face->failOp = static_cast<VkStencilOp>(rng() % 8);
        face->passOp = static_cast<VkStencilOp>(rng() % 8);
        face->depthFailOp = static_cast<VkStencilOp>(rng() % 8);
        face->compareMask = d & 1 ? 0xff : rng() & 0xff;
        face->writeMask = d & 2 ? 0xff : rng() & 0xff;
      }
      o.depth_stencil.depth_bounds_test = rng() % 3 == 0;
      o.depth_stencil.min_depth_bounds = 0.2f;
      o.depth_stencil.max_depth_bounds = 0.8f;
      if (d == 3) o.flags = kDiscard;
      if (d == 4) o.flags = kStencilOut;
      o.query = d;
      add_draw(scene, o);
      for (int i = 0; i < 10; i++) add_triangle(scene, rng, some_reach(rng));
    }
    finish(scene);
    compare_all(scene, "stencil operations");
  }
}

void order_of_blending() {
  std::mt19937 rng(3);
  for (uint32_t samples : {1u, 4u}) {
    Scene scene;
    scene.samples = samples;
    DrawOptions o;
    o.blends = true;
    add_draw(scene, o);
    for (int i = 0; i < 150; i++) add_triangle(scene, rng, i % 3 ? 700 : some_reach(rng));
    finish(scene);
    compare_all(scene, "blending");
  }
}

void everything_mixed() {
  std::mt19937 rng(4);
  const VkCompareOp ops[] = {VK_COMPARE_OP_LESS,   VK_COMPARE_OP_LESS,  VK_COMPARE_OP_LESS_OR_EQUAL, VK_COMPARE_OP_GREATER,
                             VK_COMPARE_OP_ALWAYS, VK_COMPARE_OP_EQUAL, VK_COMPARE_OP_NOT_EQUAL};
  for (int round = 0; round < 15; round++) {
    Scene scene;
    scene.samples = 1u << round % 5;
    const int draws = scene.samples > 4 ? 8 : 14;
    for (int d = 0; d < draws; d++) {
      DrawOptions o;
      if (rng() % 5) o.depth_stencil = depth_state(ops[rng() % std::size(ops)], rng() % 4 != 0);
      if (rng() % 8 == 0) {
        o.depth_stencil.stencil_test = true;
        o.depth_stencil.front = {
            VK_STENCIL_OP_INVERT, VK_STENCIL_OP_INCREMENT_AND_WRAP, VK_STENCIL_OP_ZERO, VK_COMPARE_OP_NOT_EQUAL, 0xff, 0xff, 0};
        o.depth_stencil.back = {VK_STENCIL_OP_REPLACE, VK_STENCIL_OP_KEEP, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_EQUAL, 0x0f, 0xff, 0};
      }
      if (rng() % 2) {
        const uint32_t flags[] = {
            kDiscard, kDepth, kMask, kAlpha, kPerSample, kReadsCoverage, kDiscard | kPerSample, kDepth | kDiscard, kMask | kReadsCoverage};
        o.flags = flags[rng() % std::size(flags)];
      }
      o.blends = rng() % 4 == 0;
      o.color = rng() % 8 != 0;
      o.shaded = rng() % 8 != 0;
      o.early_fragment_tests = rng() % 8 == 0 && !(o.flags & kDepth);
      o.depth_clamp = rng() % 6 == 0;
      if (rng() % 6 == 0) o.sample_mask = rng();
      if (rng() % 4 == 0)
        o.scissor = {{static_cast<int32_t>(rng() % 50), static_cast<int32_t>(rng() % 50)},
                     {static_cast<uint32_t>(rng() % 78), static_cast<uint32_t>(rng() % 78)}};
      if (rng() % 3 == 0) o.query = static_cast<int32_t>(rng() % 3);
      if (!o.shaded) o.flags = 0;
      add_draw(scene, o);
      const int triangles = 4 + static_cast<int>(rng() % 12);
      for (int i = 0; i < triangles; i++) add_triangle(scene, rng, some_reach(rng));
    }
    if (round & 1) {
      scene.clear_before = static_cast<uint32_t>(scene.chunk.records.size() / 2);
      scene.clear.attachment = round & 2 ? 0 : -1;
      scene.clear.aspects = round & 2 ? VK_IMAGE_ASPECT_COLOR_BIT : VK_IMAGE_ASPECT_DEPTH_BIT;
      if (round & 2)
        scene.clear.value.color.uint32[0] = 0x5a5a5a5a;
      else
        scene.clear.value.depthStencil.depth = 0.5f;
      scene.clear.rect = {{10, 21}, {77, 60}};
    }
    finish(scene);
    compare_all(scene, "mixed");
    if (test::failures) return;
  }
}

// Large triangles in layers: most blocks are hidden or wholly in front.
void layers() {
  std::mt19937 rng(8);
  for (uint32_t round = 0; round < 8; round++) {
    Scene scene;
    scene.samples = round % 3 == 2 ? 4 : 1;
    scene.depth_format = round & 1 ? VK_FORMAT_D16_UNORM : VK_FORMAT_D32_SFLOAT;
    for (uint32_t d = 0; d < 6; d++) {
      DrawOptions o;
      const VkCompareOp ops[] = {VK_COMPARE_OP_LESS, VK_COMPARE_OP_LESS_OR_EQUAL,
                                 round % 4 == 3 ? VK_COMPARE_OP_GREATER : VK_COMPARE_OP_LESS};
      o.depth_stencil = depth_state(ops[rng() % 3], rng() % 4 != 0);
      if (rng() % 4 == 0) o.flags = kDiscard;
      o.blends = rng() % 4 == 0;
      o.query = static_cast<int32_t>(d);
      add_draw(scene, o);
      for (int i = 0; i < 6; i++) add_triangle(scene, rng, 60000);
    }
    finish(scene);
    compare_all(scene, "layers");
  }
}

// Depth at random samples inside is near the exact plane, and the planes of 1/w and the barycentrics give back the vertices.
void planes() {
  std::mt19937 rng(5);
  Scene scene;
  add_draw(scene, {});
  for (int i = 0; i < 300; i++) add_triangle(scene, rng, 20000);
  finish(scene);
  tile::TestState range;
  for (const records::TriangleRecord& r : scene.chunk.records) {
    shader::PrimitiveSetup p;
    records::set_up_primitive(r, scene.chunk, range, 0, false, p);
    bool finite = true;
    for (int k = 0; k < 3; k++) finite &= std::isfinite(r.z[k]);
    const double area = double(r.x[1] - r.x[0]) * (r.y[2] - r.y[0]) - double(r.x[2] - r.x[0]) * (r.y[1] - r.y[0]);
    if (!finite || area < 1e6) continue;
    for (int k = 0; k < 3; k++) {
      const float dx = static_cast<float>(r.x[k]) / 256 - p.anchor_x, dy = static_cast<float>(r.y[k]) / 256 - p.anchor_y;
      const float q = p.q0 + p.qx * dx + p.qy * dy, i = p.i0 + p.ix * dx + p.iy * dy, j = p.j0 + p.jx * dx + p.jy * dy;
      CHECK(std::abs(q - r.q[k]) < 2e-4f * 10);
      CHECK(std::abs(p.z0 + p.zx * dx + p.zy * dy - r.z[k]) < 1e-4f);
      const float b1 = i / q, b2 = j / q, sum = b1 + b2;
      CHECK(std::abs(b1 * b2) < 1e-2f && (std::abs(sum) < 1e-2f || std::abs(sum - 1) < 1e-2f));
    }
    CHECK(p.w1 > 0 && p.w2 > 0);
  }
}

void counters_are_sums() {
  std::mt19937 rng(6);
  Scene scene;
  DrawOptions o;
  o.depth_stencil = depth_state(VK_COMPARE_OP_ALWAYS);
  add_draw(scene, o);
  for (int i = 0; i < 60; i++) add_triangle(scene, rng, 4000);
  finish(scene);
  stats::FragmentCounters first, other;
  render_tiles(scene, 8, {64, 64}, false, true, &first);
  CHECK(first.fragments_rasterized == first.fragments_early_killed + first.fragments_shaded);
  CHECK(first.samples_written == first.fragments_shaded && first.fragments_shaded > 1000);
  CHECK(first.packets * 8 == first.fragments_shaded + first.helper_lanes + first.idle_lanes);
  render_tiles(scene, 16, {32, 32}, false, false, &other);
  CHECK(other.fragments_rasterized == first.fragments_rasterized && other.fragments_shaded == first.fragments_shaded);
  render_tiles(scene, 8, {64, 64}, true, true, &other);
  CHECK(other.fragments_rasterized == first.fragments_rasterized && other.fragments_shaded < first.fragments_shaded);
  CHECK(other.packets * 8 == other.fragments_shaded + other.helper_lanes + other.idle_lanes);
}

}  // namespace

int main() {
  planes();
  counters_are_sums();
  depth_operations();
  stencil_operations();
  order_of_blending();
  layers();
  everything_mixed();
  CHECK(!repeated_place);
  return test::finish("test_raster_tile");
}
