// tile/worker/fragment_trace.cpp -- see fragment_trace.hpp.
#include "tile/worker/fragment_trace.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "tile/worker/worker.hpp"
#include "vk/format.hpp"

namespace tilegpu::tile::trace {

namespace {

Id id_of(const Source& source) {
  Id id;
  id.draw = source.record->draw_flags & records::kDrawMask;
  const records::Chunk& chunk = *source.chunk;
  const size_t index = static_cast<size_t>(source.record - chunk.records.data());
  if (index < chunk.primitive_id.size()) id.primitive = chunk.primitive_id.data()[index];
  const auto& runs = chunk.instances;
  const auto after = std::upper_bound(runs.begin(), runs.end(), index, [](size_t i, const auto& run) { return i < run.first_record; });
  if (after != runs.begin()) id.instance = std::prev(after)->instance;
  return id;
}
Id id_of_quad(const Worker& w, uint32_t quad) { return id_of(w.trace.sources.at(w.packets.args.primitive[quad])); }

FragmentId reported(const Worker& w, const Id& id) {
  if (id.draw == ~0u) return {};
  assert(id.draw < w.trace.pass->draw_number.size());
  return {w.trace.pass->draw_number[id.draw], id.primitive, id.instance};
}

uint32_t pixel_in_bin_x(const Worker& w, uint32_t tile_pixel) {
  return (tile_pixel >> 4 & (w.shape.blocks_per_row - 1)) * 4 + (tile_pixel >> 1 & 2) + (tile_pixel & 1);
}
uint32_t pixel_in_bin_y(const Worker& w, uint32_t tile_pixel) {
  return (tile_pixel >> 4 >> w.shape.row_shift) * 4 + (tile_pixel >> 2 & 2) + (tile_pixel >> 1 & 1);
}

// One more (or less) for each of the quad's pixels.
void count(Worker& w, FragmentMap map, uint32_t tile_pixel, uint32_t pixels, int32_t more = 1) {
  State& pass = *w.trace.pass;
  if (!pass.maps) return;
  std::vector<int32_t>& out = pass.result.maps[static_cast<size_t>(map)];
  for (; pixels; pixels &= pixels - 1) {
    const uint32_t at = tile_pixel + static_cast<uint32_t>(std::countr_zero(pixels));
    const int64_t x = w.bin.origin_x_px - pass.map_x_px + static_cast<int32_t>(pixel_in_bin_x(w, at)),
                  y = w.bin.origin_y_px - pass.map_y_px + static_cast<int32_t>(pixel_in_bin_y(w, at));
    if (x >= 0 && y >= 0 && x < pass.result.width_px && y < pass.result.height_px)
      out[static_cast<size_t>(y * pass.result.width_px + x)] += more;
  }
}
uint64_t bits(uint32_t pixels) { return static_cast<uint64_t>(std::popcount(pixels)); }

template <class F>
void for_watched(Worker& w, uint32_t tile_pixel, uint64_t coverage, const F& f) {
  for (Watched& watched : w.trace.watched) {
    if (watched.quad != tile_pixel) continue;
    for (uint32_t s = 0; s < w.shape.samples; s++)
      if (coverage >> (4 * s + watched.lane) & 1) f(watched, s);
  }
}

FragmentEvent& note(Worker& w, const Watched& watched, uint32_t sample, FragmentStep step, const Id& id, const Id& by = {}) {
  assert(watched.number < w.trace.pass->result.events.size() && sample < w.shape.samples);
  FragmentEvent& event = w.trace.pass->result.events[watched.number].emplace_back();
  event.step = step;
  event.sample = static_cast<uint8_t>(sample);
  event.fragment = reported(w, id);
  event.by = reported(w, by);
  return event;
}

float depth_at(const Worker& w, const PrimitiveDepth& p, const Watched& watched, uint32_t sample) {
  const float* at = (w.draw.state ? positions_of(w, *w.draw.state) : sample_positions(w.shape.samples)) + 2 * sample;
  const float x = static_cast<float>(w.bin.origin_x_px + watched.x_px) + at[0],
              y = static_cast<float>(w.bin.origin_y_px + watched.y_px) + at[1];
  const float z = (p.z0 + p.zx * (x - p.anchor_x)) + p.zy * (y - p.anchor_y);
  return z > p.lo ? (z < p.hi ? z : p.hi) : p.lo;
}

// In the plane, or in what stands for it.
float stored_depth(const Worker& w, const Watched& watched, uint32_t sample) {
  const framebuffer::TilePlane& plane = w.pass->tile.depth;
  if (!plane.words) return 0;
  const uint32_t* words = reinterpret_cast<const uint32_t*>(w.buffers.memory.data() + plane.offset_B);
  const uint32_t pixel = watched.quad + watched.lane, block = pixel >> 4;
  uint32_t word = words[framebuffer::tile_word_index(pixel, sample, 0, w.shape.samples, 1)];
  if (w.covers.any && w.covers.plane[block]) return depth_at(w, w.covers.planes[w.covers.plane[block] - 1], watched, sample);
  if (w.lists.active && w.lists.count[block] != kInBuffers) {
    const BlockEntry* list = w.lists.entries + size_t{block} * kBlockEntries;
    for (uint32_t i = 0; i < w.lists.count[block]; i++)
      if (list[i].masks[sample] >> (pixel & 15) & 1) return depth_at(w, w.lists.planes[list[i].plane], watched, sample);
    word = w.lists.background;
  }
  bool unorm;
  double scale;
  depth_encoding(w.pass->tile.depth_format, unorm, scale);
  return unorm ? static_cast<float>(word / scale) : std::bit_cast<float>(word);
}
uint32_t stored_stencil(Worker& w, const Watched& watched, uint32_t sample) {
  const framebuffer::TilePlane& plane = w.pass->tile.stencil;
  if (!plane.words) return 0;
  const uint32_t* words = reinterpret_cast<const uint32_t*>(w.buffers.memory.data() + plane.offset_B);
  return words[framebuffer::tile_word_index(watched.quad + watched.lane, sample, 0, w.shape.samples, 1)] & 0xff;
}
void snapshot(Worker& w, Watched& watched, uint32_t sample) {
  watched.depth_before[sample] = stored_depth(w, watched, sample);
  watched.stencil_before[sample] = stored_stencil(w, watched, sample);
}
void add_stored(Worker& w, const Watched& watched, FragmentEvent& event) {
  event.depth_before = watched.depth_before[event.sample];
  event.stencil_before = watched.stencil_before[event.sample];
  event.depth_after = stored_depth(w, watched, event.sample);
  event.stencil_after = stored_stencil(w, watched, event.sample);
}

std::vector<std::array<double, 4>> stored_colors(Worker& w, const Watched& watched, uint32_t sample) {
  std::vector<std::array<double, 4>> colors;
  const tile_io::HostTile& tile = w.pass->tile;
  if (w.buffers.equal && w.buffers.equal[watched.quad >> 4] >> (watched.quad >> 2 & 3) & 1) sample = 0;
  for (uint32_t t = 0; t < tile.color.size(); t++) {
    const framebuffer::TilePlane& plane = tile.color[t];
    if (!plane.words) continue;
    const uint32_t* all = reinterpret_cast<const uint32_t*>(w.buffers.memory.data() + plane.offset_B);
    uint32_t words[4] = {};
    for (uint32_t i = 0; i < plane.words; i++)
      words[i] = all[framebuffer::tile_word_index(watched.quad + watched.lane, sample, i, w.shape.samples, plane.words)];
    const vk::FormatInfo& format = *vk::find_format(tile.color_format[t]);
    const vk::Texel texel = vk::unpack_texel(format, reinterpret_cast<const uint8_t*>(words));
    std::array<double, 4>& color = colors.emplace_back();
    for (uint32_t c = 0; c < 4; c++)
      color[c] = format.numeric == vk::Numeric::uint ? texel.u[c] : format.numeric == vk::Numeric::sint ? texel.i[c] : texel.f[c];
  }
  return colors;
}

float depth_of(Worker& w, const Source& source, const Watched& watched, uint32_t sample) {
  PrimitiveDepth p;
  records::set_up_depth(*source.record, w.draw.late_test, p);
  return depth_at(w, p, watched, sample);
}

Id owner(const Worker& w, uint32_t tile_pixel, uint32_t sample, uint32_t lane) {
  assert(w.buffers.ids);
  const uint32_t id = w.buffers.ids[size_t{tile_pixel >> 4} * w.shape.samples * 16 + 16 * sample + (tile_pixel & 15) + lane];
  if (!id) return {};
  assert(id <= w.visibility.primitives.size());
  const VisiblePrimitive& seen = w.visibility.primitives[id - 1];
  return id_of({seen.record, seen.chunk});
}

void covered_by(Worker& w, uint32_t tile_pixel, const Id& hidden, const Id& by) {
  assert(hidden.draw < w.trace.draws.size());
  w.trace.draws[hidden.draw].overwritten++;
  w.trace.covers[{hidden.draw, by}]++;
  count(w, FragmentMap::overwritten, tile_pixel & ~3u, 1u << (tile_pixel & 3));
}

// Samples of a pixel get something new in some attachments: what was there is gone.
void take(Worker& w, std::vector<Contributor>& pixel, uint32_t tile_pixel, uint16_t samples, uint32_t colors, const Id& by,
          FragmentStep step) {
  size_t kept = 0;
  for (size_t i = 0; i < pixel.size(); i++) {
    Contributor& old = pixel[i];
    uint16_t had = 0, has = 0;
    for (uint32_t t = 0; t < 8; t++) {
      had = static_cast<uint16_t>(had | old.samples[t]);
      if (colors >> t & 1) old.samples[t] = static_cast<uint16_t>(old.samples[t] & ~samples);
      has = static_cast<uint16_t>(has | old.samples[t]);
    }
    if (had != has)
      for_watched(w, tile_pixel & ~3u, ~uint64_t{0}, [&](Watched& watched, uint32_t s) {
        if (watched.lane == (tile_pixel & 3) && (had & ~has) >> s & 1) note(w, watched, s, step, old.id, by);
      });
    if (has)
      pixel[kept++] = old;
    else
      covered_by(w, tile_pixel, old.id, by);
  }
  pixel.resize(kept);
}

bool is_watched(const Worker& w, uint32_t tile_pixel) {
  return std::any_of(w.trace.watched.begin(), w.trace.watched.end(),
                     [&](const Watched& watched) { return watched.quad + watched.lane == tile_pixel; });
}

// The samples of a watched pixel that a primitive covers, with their depths: what low-resolution Z turned away before the raster.
void note_covered(Worker& w, Watched& watched, Source source, FragmentStep step) {
  const uint64_t coverage =
      raster_coverage(w, draw_of(*source.record), *source.record, *source.chunk, watched.x_px & ~1, watched.y_px & ~1);
  for (uint32_t s = 0; s < w.shape.samples; s++)
    if (coverage >> (4 * s + watched.lane) & 1) note(w, watched, s, step, id_of(source)).depth = depth_of(w, source, watched, s);
}

}  // namespace

void begin_pass(State& state, const TraceRequest& request, const VkRect2D& held, const records::BinGrid& grid,
                std::vector<uint32_t> draw_number) {
  state = State{};
  PassTrace& result = state.result;
  result.request = request;
  result.width_px = held.extent.width;
  result.height_px = held.extent.height;
  state.map_x_px = held.offset.x, state.map_y_px = held.offset.y;
  state.maps = request.maps;
  if (request.maps)
    for (auto& map : result.maps) map.assign(size_t{held.extent.width} * held.extent.height, 0);
  result.events.resize(request.pixels.size());
  state.width_px = grid.width_px;
  state.height_px = grid.height_px;
  state.columns = grid.columns;
  state.origin_x_px = grid.origin_x_px;
  state.origin_y_px = grid.origin_y_px;
  uint32_t draws = 0;
  for (uint32_t number : draw_number) draws = std::max(draws, number + 1);
  result.draws.resize(draws);
  state.draw_number = std::move(draw_number);
  state.contributors.resize(grid.bins());
  if (request.timed)
    for (uint32_t bin = 0; bin < grid.bins_of_layer(); bin++)
      result.tile_ms.push_back({grid.x_px(bin), grid.y_px(bin), grid.width_px, grid.height_px, 0});
}

void WorkerTrace::add_to(State& pass, Covers& all) const {
  assert(draws.size() <= pass.draw_number.size());
  for (size_t i = 0; i < draws.size(); i++) {
    DrawTrace& sum = pass.result.draws[pass.draw_number[i]];
    sum.rasterized += draws[i].rasterized;
    sum.shaded += draws[i].shaded;
    sum.pixels_shaded += draws[i].pixels_shaded;
    sum.sliced += draws[i].sliced;
    sum.discarded += draws[i].discarded;
    sum.late_killed += draws[i].late_killed;
    sum.helpers += draws[i].helpers, sum.sliced_helpers += draws[i].sliced_helpers;
    sum.overwritten += draws[i].overwritten;
  }
  for (const auto& [cover, fragments] : covers) all[cover] += fragments;
}

void finish_pass(State& state, const Covers& covers) {
  state.contributors.clear();
  for (const auto& [cover, fragments] : covers) {
    const int64_t by = cover.by.draw == ~0u ? -1 : static_cast<int64_t>(state.draw_number[cover.by.draw]);
    std::vector<TraceCover>& list = state.result.draws[state.draw_number[cover.draw]].covers;
    auto at = std::find_if(list.begin(), list.end(), [&](const TraceCover& c) { return c.by_draw == by; });
    if (at == list.end()) at = list.insert(list.end(), TraceCover{by, 0, {}, 0});
    at->fragments += fragments;
    const FragmentId top{by, cover.by.primitive, cover.by.instance};
    const auto before = [](const FragmentId& a, const FragmentId& b) {
      return a.instance != b.instance ? a.instance < b.instance : a.primitive < b.primitive;
    };
    if (fragments > at->top_fragments || (fragments == at->top_fragments && before(top, at->top))) {
      at->top = top;
      at->top_fragments = fragments;
    }
  }
  for (DrawTrace& draw : state.result.draws)
    std::sort(draw.covers.begin(), draw.covers.end(), [](const TraceCover& a, const TraceCover& b) {
      return a.fragments != b.fragments ? a.fragments > b.fragments : a.by_draw < b.by_draw;
    });
}

bool watches(const State& state, uint32_t layer, int32_t x_px, int32_t y_px) {
  if (layer != state.result.request.layer) return false;
  const auto width = static_cast<int32_t>(state.width_px), height = static_cast<int32_t>(state.height_px);
  return std::any_of(state.result.request.pixels.begin(), state.result.request.pixels.end(), [&](const auto& pixel) {
    return pixel[0] >= x_px && pixel[0] < x_px + width && pixel[1] >= y_px && pixel[1] < y_px + height;
  });
}

TexelLines* texel_lines(Worker& w) { return w.trace.pass->texels ? &w.trace.texels : nullptr; }

void begin_bin(Worker& w, uint32_t bin) {
  WorkerTrace& t = w.trace;
  State& pass = *t.pass;
  assert(bin < pass.contributors.size());
  t.draws.resize(pass.draw_number.size());
  if (pass.texels) t.texels.begin_bin(pass.has_tiles ? nullptr : &w.packets.args, w.bin.origin_x_px, w.bin.origin_y_px);
  t.sources.clear();
  t.watched.clear();
  t.muted = false;
  t.pixels = &pass.contributors[bin];
  // As far as blocks of the bin lie in the square.
  t.pixels->resize(((w.shape.height_px / 4 - 1) * size_t{w.shape.blocks_per_row} + w.shape.width_px / 4) * 16);
  for (size_t i = 0; i < pass.result.request.pixels.size() && w.bin.layer == pass.result.request.layer; i++) {
    const int32_t x = pass.result.request.pixels[i][0] - w.bin.origin_x_px, y = pass.result.request.pixels[i][1] - w.bin.origin_y_px;
    if (x < 0 || y < 0 || x >= static_cast<int32_t>(w.shape.width_px) || y >= static_cast<int32_t>(w.shape.height_px)) continue;
    const uint32_t at = framebuffer::tile_pixel_index(static_cast<uint32_t>(x), static_cast<uint32_t>(y), w.shape.bin_px);
    Watched& watched = t.watched.emplace_back();
    watched.number = i;
    watched.quad = at & ~3u;
    watched.lane = at & 3;
    watched.x_px = x;
    watched.y_px = y;
  }
}

void end_bin(Worker& w, uint32_t bin) {
  if (w.trace.pass->texels) w.trace.texels.end_bin();
  if (!w.trace.pass->keeps_bins) w.trace.pass->contributors[bin] = {};
}

void mute(Worker& w, bool muted) { w.trace.muted = muted; }

void cleared(Worker& w, const command::ClearCall& clear) {
  if (clear.attachment < 0 || clear.attachment >= 8) return;
  const int64_t x0 = clear.rect.offset.x - w.bin.origin_x_px, y0 = clear.rect.offset.y - w.bin.origin_y_px;
  const uint16_t all = static_cast<uint16_t>((1u << w.shape.samples) - 1);
  for (uint32_t at = 0; at < w.trace.pixels->size(); at++) {
    const int64_t x = pixel_in_bin_x(w, at) - x0, y = pixel_in_bin_y(w, at) - y0;
    if (x < 0 || y < 0 || x >= clear.rect.extent.width || y >= clear.rect.extent.height) continue;
    take(w, (*w.trace.pixels)[at], at, all, 1u << clear.attachment, {}, FragmentStep::cleared);
  }
}

void lrz_primitive(Worker& w, Source source) {
  for (Watched& watched : w.trace.watched) note_covered(w, watched, source, FragmentStep::lrz_primitive);
}

void lrz_block(Worker& w, Source source, int32_t block_x, int32_t block_y) {
  for (Watched& watched : w.trace.watched)
    if (watched.x_px >> 2 == block_x && watched.y_px >> 2 == block_y) note_covered(w, watched, source, FragmentStep::lrz_block);
}

void rasterized(Worker& w, Source source, uint32_t tile_pixel, uint64_t coverage) {
  const uint32_t pixels = covered_pixels(coverage);
  if (!w.trace.muted) {
    count(w, FragmentMap::rasterized, tile_pixel, pixels);
    w.trace.draws[draw_of(*source.record)].rasterized += bits(pixels);
  }
  for_watched(w, tile_pixel, coverage, [&](Watched& watched, uint32_t s) {
    snapshot(w, watched, s);
    FragmentEvent& event = note(w, watched, s, FragmentStep::rasterized, id_of(source));
    event.depth = depth_of(w, source, watched, s);
    add_stored(w, watched, event);
  });
}

void rasterized_block(Worker& w, Source source, uint32_t block, const uint16_t* masks) {
  for (uint32_t q = 0; q < 4; q++)
    if (const uint64_t coverage = gather_quad(masks, w.shape.samples, q)) rasterized(w, source, block * 16 + q * 4, coverage);
}

void hierarchical_z(Worker& w, Source source, uint32_t block, const uint16_t* masks) {
  assert(w.draw.test.far);  // bounds hid it
  for (uint32_t q = 0; q < 4; q++) {
    const uint32_t tile_pixel = block * 16 + q * 4;
    const uint64_t coverage = gather_quad(masks, w.shape.samples, q);
    if (!w.trace.muted) {
      count(w, FragmentMap::early_killed, tile_pixel, covered_pixels(coverage));
      count(w, FragmentMap::hierarchical_z, tile_pixel, covered_pixels(coverage));
    }
    for_watched(w, tile_pixel, coverage, [&](Watched& watched, uint32_t s) {
      add_stored(w, watched, note(w, watched, s, FragmentStep::hierarchical_z, id_of(source)));
    });
  }
}

void tested(Worker& w, Source source, uint32_t tile_pixel, uint64_t coverage, uint64_t live) {
  const bool ids = w.draw.plan.route == Route::visibility;
  const bool pre = w.bin.phase == Phase::pre;
  if (!w.trace.muted) count(w, FragmentMap::early_killed, tile_pixel, covered_pixels(coverage) & ~covered_pixels(live));
  if (ids && !(pre && w.prepass.runs_all))
    count(w, pre ? FragmentMap::pre_pass : FragmentMap::visibility_buffer, tile_pixel, covered_pixels(live));
  for_watched(w, tile_pixel, coverage, [&](Watched& watched, uint32_t s) {
    const Id id = id_of(source);
    const bool passed = live >> (4 * s + watched.lane) & 1;
    add_stored(w, watched, note(w, watched, s, passed ? FragmentStep::early_pass : FragmentStep::early_test, id));
    if (!passed) return;
    if (ids) {
      if (watched.pending[s].draw != ~0u)
        note(w, watched, s, pre ? FragmentStep::hidden_pre_pass : FragmentStep::hidden_visibility, watched.pending[s], id);
      watched.pending[s] = id;
    } else if (w.draw.plan.route == Route::nothing && !(pre && w.prepass.replays_draw)) {
      note(w, watched, s, FragmentStep::depth_stencil_only, id);
    }
  });
}

void tested_block(Worker& w, Source source, uint32_t block, const uint16_t* masks, const uint16_t* live) {
  for (uint32_t q = 0; q < 4; q++)
    if (const uint64_t coverage = gather_quad(masks, w.shape.samples, q))
      tested(w, source, block * 16 + q * 4, coverage, gather_quad(live, w.shape.samples, q));
}

void set_up(Worker& w, const shader::PrimitiveSetup* setup, Source source) { w.trace.sources[setup] = source; }

void killed_main_pass(Worker& w, Source source, uint32_t tile_pixel, uint64_t live, uint64_t killed) {
  count(w, FragmentMap::pre_pass, tile_pixel, covered_pixels(live) & ~covered_pixels(live & ~killed));
  for_watched(w, tile_pixel, killed & live, [&](Watched& watched, uint32_t s) {
    note(w, watched, s, FragmentStep::killed_main_pass, id_of(source), owner(w, tile_pixel, s, watched.lane));
  });
}

void killed_waiting(Worker& w, const WaitingQuad& old, uint64_t left, const WaitingQuad& by) {
  assert(old.tile_pixel == by.tile_pixel && !(left & ~old.live));
  count(w, FragmentMap::forward_kill, old.tile_pixel, covered_pixels(old.live) & ~covered_pixels(left));
  for_watched(w, old.tile_pixel, old.live & ~left, [&](Watched& watched, uint32_t s) {
    note(w, watched, s, FragmentStep::forward_pixel_kill, id_of(w.trace.sources.at(old.primitive)),
         id_of(w.trace.sources.at(by.primitive)));
  });
}

void seen(Worker& w, uint32_t tile_pixel, uint64_t live) {
  count(w, w.bin.phase == Phase::main ? FragmentMap::pre_pass : FragmentMap::visibility_buffer, tile_pixel, covered_pixels(live), -1);
}

void flushed(Worker& w) {
  for (Watched& watched : w.trace.watched) std::fill(std::begin(watched.pending), std::end(watched.pending), Id{});
}

void shading(Worker& w, uint32_t quad, uint64_t live) {
  if (!live) return;
  const uint32_t tile_pixel = w.packets.args.tile_pixel[quad], pixels = covered_pixels(live);
  const bool slice = w.packets.shading.slice;
  const uint32_t draw = w.packets.bound_draw;
  assert(draw < w.trace.draws.size());  // bind_shading came before
  if (!slice) w.trace.draws[draw].pixels_shaded += bits(pixels);
  if (const CoarsePackets& coarse = w.packets.coarse; coarse.spreads) {
    // An invocation is counted where its fragment's first pixel is; its helpers were counted when it ran.
    const uint32_t leaders = pixels & coarse.leaders >> 4 * quad;
    count(w, FragmentMap::shaded, tile_pixel, leaders);
    w.trace.draws[draw].shaded += bits(leaders);
  } else {
    count(w, slice ? FragmentMap::sliced : FragmentMap::shaded, tile_pixel, pixels);
    (slice ? w.trace.draws[draw].sliced : w.trace.draws[draw].shaded) += bits(pixels);
    (slice ? w.trace.draws[draw].sliced_helpers : w.trace.draws[draw].helpers) += 4 - bits(pixels);
  }
  for_watched(w, tile_pixel, live, [&](Watched& watched, uint32_t s) {
    snapshot(w, watched, s);
    FragmentEvent& event = note(w, watched, s, slice ? FragmentStep::sliced : FragmentStep::shaded, id_of_quad(w, quad));
    if (w.packets.shading.shader_depth) event.depth = w.packets.args.depth[4 * quad + watched.lane];
  });
}

void coarse_helpers(Worker& w, uint32_t count) { w.trace.draws[w.packets.bound_draw].helpers += count; }

void left(Worker& w, uint32_t quad, FragmentStep step, uint64_t before, uint64_t after) {
  assert(!(after & ~before));  // a step takes away
  if (before == after) return;
  const uint32_t tile_pixel = w.packets.args.tile_pixel[quad];
  const uint32_t gone = covered_pixels(before) & ~covered_pixels(after);
  DrawTrace& draw = w.trace.draws[w.packets.bound_draw];
  if (step == FragmentStep::discarded) count(w, FragmentMap::discarded, tile_pixel, gone), draw.discarded += bits(gone);
  if (step == FragmentStep::late_test) count(w, FragmentMap::late_killed, tile_pixel, gone), draw.late_killed += bits(gone);
  const bool owned = step == FragmentStep::not_owned;
  for_watched(w, tile_pixel, before & ~after, [&](Watched& watched, uint32_t s) {
    FragmentEvent& event =
        note(w, watched, s, step, id_of_quad(w, quad), owned && w.buffers.ids ? owner(w, tile_pixel, s, watched.lane) : Id{});
    if (step == FragmentStep::late_test) add_stored(w, watched, event);
  });
  if (owned && w.packets.shading.epilogue)
    for (uint32_t p = 0; p < 4; p++)
      if (gone >> p & 1) {
        const uint32_t s = static_cast<uint32_t>(std::countr_zero(before >> p & 0x1111111111111111ull)) / 4;
        covered_by(w, tile_pixel + p, id_of_quad(w, quad), owner(w, tile_pixel, s, p));
      }
}

void recorded(Worker& w, uint32_t quad, uint64_t live) {
  const uint32_t tile_pixel = w.packets.args.tile_pixel[quad];
  if (!w.prepass.runs_all) count(w, FragmentMap::pre_pass, tile_pixel, covered_pixels(live));
  for_watched(w, tile_pixel, live, [&](Watched& watched, uint32_t s) {
    const Id id = id_of_quad(w, quad);
    if (watched.pending[s].draw != ~0u) note(w, watched, s, FragmentStep::hidden_pre_pass, watched.pending[s], id);
    watched.pending[s] = id;
  });
}

void finished(Worker& w, uint32_t quad, uint64_t live) {
  if (w.packets.shading.slice || w.packets.shading.epilogue) return;
  for_watched(w, w.packets.args.tile_pixel[quad], live, [&](Watched& watched, uint32_t s) {
    add_stored(w, watched, note(w, watched, s, FragmentStep::depth_stencil_only, id_of_quad(w, quad)));
  });
}

void before_epilogue(Worker& w, uint32_t quad, uint64_t live) {
  for_watched(w, w.packets.args.tile_pixel[quad], live,
              [&](Watched& watched, uint32_t s) { watched.color_before[s] = stored_colors(w, watched, s); });
}

void after_epilogue(Worker& w, uint32_t quad, uint64_t live) {
  if (!live) return;
  const uint32_t tile_pixel = w.packets.args.tile_pixel[quad];
  const pipeline::Resolved& resolved = *w.packets.shading.resolved;
  const uint32_t written = resolved.output.written_targets & 0xff;
  const uint32_t overwritten = resolved.classification.overwritten_colors & written;
  const uint32_t replaced = resolved.classification.reads_inputs ? 0 : overwritten;  // what was there went into an input attachment
  const Id id = id_of_quad(w, quad);
  for (uint32_t p = 0; p < 4; p++) {
    uint16_t samples = 0;
    for (uint32_t s = 0; s < w.shape.samples; s++) samples = static_cast<uint16_t>(samples | (live >> (4 * s + p) & 1) << s);
    if (!samples || (!w.trace.pass->maps && !is_watched(w, tile_pixel + p))) continue;
    std::vector<Contributor>& pixel = (*w.trace.pixels)[tile_pixel + p];
    take(w, pixel, tile_pixel + p, samples, replaced, id, FragmentStep::overwritten);
    Contributor& now = pixel.emplace_back(Contributor{id, {}});
    for (uint32_t t = 0; t < 8; t++)
      if (written >> t & 1) now.samples[t] = samples;
  }
  for_watched(w, tile_pixel, live, [&](Watched& watched, uint32_t s) {
    FragmentEvent& event = note(w, watched, s, written & ~overwritten ? FragmentStep::blended : FragmentStep::written, id);
    event.color_before = watched.color_before[s];
    event.color_after = stored_colors(w, watched, s);
    add_stored(w, watched, event);
  });
}

void cleared_ids(Worker& w, uint32_t quad, uint64_t live) {
  for_watched(w, w.packets.args.tile_pixel[quad], live, [&](Watched& watched, uint32_t s) {
    if (watched.pending[s].draw == ~0u) return;
    note(w, watched, s, FragmentStep::hidden_visibility, watched.pending[s], id_of_quad(w, quad));
    watched.pending[s] = {};
  });
}

}  // namespace tilegpu::tile::trace
