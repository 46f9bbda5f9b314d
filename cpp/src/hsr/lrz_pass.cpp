// hsr/lrz_pass.cpp -- see lrz_pass.hpp. Source: lrz.rst, "A650+ (gen3+)": what is kept is valid only for the same depth view.
#include "hsr/lrz_pass.hpp"

#include <algorithm>
#include <cassert>

#include "records/coverage_rule.hpp"
#include "resource/memory_contents.hpp"

namespace tilegpu::hsr {

namespace {

uint64_t depth_version(const Image& image, uint32_t level, uint32_t layer) {
  return resource::content_version(image, {VK_IMAGE_ASPECT_DEPTH_BIT, level, 1, layer, 1});
}

bool covers(const LrzPassInfo& info) {
  return info.render_area.offset.x == 0 && info.render_area.offset.y == 0 && info.render_area.extent.width == info.width_px &&
         info.render_area.extent.height == info.height_px;
}

// The pass's buffers: what the draws test or write, cleared or as the pass before left them.
void ready_buffers(const LrzPassInfo& info, const LrzState& before, bool kept, LrzPass& out) {
  LrzView& view = *out.view;
  const LrzState& s = view.state;
  bool needed[2] = {};
  for (const LrzDecision& d : out.decisions)
    if ((d.test || d.write) && d.direction != LrzDirection::unknown) needed[lrz_index(d.direction)] = true;
  for (uint32_t i = 0; i < 2; i++) {
    out.buffer[i] = nullptr;
    const bool has = kept && view.has_buffer[i] && before.used[i] && !before.closed[i];
    LrzBuffer& buffer = view.buffer[view.pair][i];
    view.has_buffer[i] = has;
    if (!needed[i] && !has) continue;
    if (!has) {
      const LrzDirection direction = i ? LrzDirection::greater : LrzDirection::less;
      // The clear value bounds depth only until depth moves the other way.
      const LrzDirection first = s.closed[0] ? LrzDirection::less : s.closed[1] ? LrzDirection::greater : s.direction;
      const bool known = !kept && (first == direction || first == LrzDirection::unknown);
      const float clear = view.cleared ? view.cleared_to : info.rendering->depth.clear.depthStencil.depth;
      lrz_clear(buffer, info.generation, direction, info.depth_format, info.samples, info.width_px, info.height_px,
                known ? &clear : nullptr);
      view.has_buffer[i] = true;
    }
    out.buffer[i] = &buffer;
  }
}

// Source: lrz.rst, "LRZ Caches", "A7XX".
void add_begin_events(const LrzPassInfo& info, bool clears, LrzPass& out) {
  if (!clears) return;
  if (info.generation >= kLrzBidirectional) {
    out.view->pair ^= 1;
    out.events.push_back("LRZ_FLIP_BUFFER");
  }
  out.events.push_back("LRZ_CLEAR");
  if (info.flush) out.events.push_back("LRZ_FLUSH");
}

uint8_t direction_byte(LrzDirection direction, bool valid) {
  if (!valid) return kLrzDisabled;
  return direction == LrzDirection::less ? kLrzLess : direction == LrzDirection::greater ? kLrzGreater : kLrzUnknown;
}

LowResolutionZ::Buffer describe(const LrzBuffer& b) {
  LowResolutionZ::Buffer out{direction_byte(b.direction, true), b.columns, b.rows, b.texel.width_px(), b.texel.height_px()};
  out.block_columns = (b.columns + kLrzClearBlockX - 1) / kLrzClearBlockX,
  out.block_rows = (b.rows + kLrzClearBlockY - 1) / kLrzClearBlockY;
  out.block_x = kLrzClearBlockX, out.block_y = kLrzClearBlockY;
  out.fast_clear = b.fast_clear;
  out.texels.resize(size_t{b.columns} * b.rows);
  for (uint32_t y = 0; y < b.rows; y++)
    std::copy_n(b.texels.data() + size_t{y} * b.pitch, b.columns,
                out.texels.data() + size_t{y} * b.columns);  // what is not touched is clear
  for (uint32_t y = 0; y < out.block_rows; y++)
    for (uint32_t x = 0; x < out.block_columns; x++) out.modified.push_back(b.is_touched(x * kLrzClearBlockX, y * kLrzClearBlockY));
  return out;
}

}  // namespace

LowResolutionZ describe(const LrzPass& pass) {
  LowResolutionZ out;
  for (const LrzDecision& d : pass.decisions) out.direction_by_draw.push_back(direction_byte(d.tracked, d.valid));
  out.events = pass.events;
  out.direction = kLrzDisabled;
  if (!pass.view) return out;
  out.direction = direction_byte(pass.view->state.direction, pass.view->state.valid);
  out.pair = pass.view->pair;
  for (const LrzBuffer* b : pass.buffer)
    if (b) out.buffers.push_back(describe(*b));
  return out;
}

namespace {

// Without the buffer: scissor and allowed depth.
LrzWriter writer_of(const LrzWriter& base, const command::DrawState& state) {
  LrzWriter w = base;
  if (state.rasterization.depth_clamp) {
    const auto limit = [](float v) { return v > 0 ? std::min(v, 1.0f) : 0.0f; };
    const auto [lo, hi] = state.rasterization.clamp_range(state.viewport);
    w.range_lo = limit(lo), w.range_hi = limit(hi);
  }
  const auto end = [](int32_t offset, uint32_t extent, int32_t most) {
    return static_cast<int32_t>(std::min<int64_t>(int64_t{offset} + extent, most));
  };
  w.x0 = std::max(state.scissor.offset.x, w.area_x0);
  w.y0 = std::max(state.scissor.offset.y, w.area_y0);
  w.x1 = end(state.scissor.offset.x, state.scissor.extent.width, w.area_x1);
  w.y1 = end(state.scissor.offset.y, state.scissor.extent.height, w.area_y1);
  return w;
}

void ready_binning(std::span<const command::DrawCall> draws, LrzPass& out) {
  out.binning.clear();
  const auto used = [](const LrzDecision& d) { return (d.test || d.write) && d.direction != LrzDirection::unknown; };
  if (std::none_of(out.decisions.begin(), out.decisions.end(), used)) return;
  out.binning.resize(draws.size());
  for (size_t i = 0; i < draws.size(); i++) {
    const LrzDecision& d = out.decisions[i];
    if (!used(d)) continue;
    LrzBinDraw& draw = out.binning[i];
    draw.writer = writer_of(out.writer_base, *draws[i].state);
    LrzBuffer* const buffer = out.buffer[lrz_index(d.direction)];
    draw.tested = d.test ? buffer : nullptr;
    draw.writer.buffer = d.write ? buffer : nullptr;
    draw.square = records::coverage_rule(*draws[i].state).kind == records::CoverageKind::square;
  }
}

}  // namespace

LrzView& LrzCache::find(const Ptr<Image>& image) {
  std::erase_if(views_, [](const std::unique_ptr<LrzView>& v) { return v->image.expired(); });
  const auto at = std::find_if(views_.begin(), views_.end(), [&](const std::unique_ptr<LrzView>& v) { return v->key == image.get(); });
  if (at == views_.end()) {
    if (views_.size() == kMostViews) views_.erase(views_.begin());
    views_.push_back(std::make_unique<LrzView>());
    views_.back()->image = image;
    views_.back()->key = image.get();
  } else {
    std::rotate(at, at + 1, views_.end());
  }
  return *views_.back();
}

void LrzCache::read_caches(uint32_t level, uint32_t layer, LrzState& state) const {
  if (!caches_.filled || state.off || !state.valid) return;
  if (caches_.level == level && caches_.layer == layer && !caches_.disabled) {
    state.direction = caches_.direction;
    return;
  }
  state.valid = false;
  state.reason = caches_.disabled ? "the direction byte in a cache that was not flushed is disabled"
                                  : "the depth view in a cache that was not flushed is another one";
}

void LrzCache::begin(const LrzPassInfo& info, std::span<const command::PassCommand> commands, std::span<const command::DrawCall> draws,
                     LrzPass& out) {
  out.view = nullptr;
  out.feedback = false;
  out.in_order = info.sysmem && info.generation >= kLrzFeedback;
  out.buffer[0] = out.buffer[1] = nullptr;
  out.events.clear();
  out.binning.clear();
  out.decisions.assign(draws.size(), {});
  const RenderingInfo& rendering = *info.rendering;
  LrzPassFacts facts;
  facts.depth_attachment = rendering.depth.view && info.depth_format != VK_FORMAT_UNDEFINED;
  facts.load_op = rendering.depth.load_op;
  facts.single_sampled = rendering.single_sampled_samples > 1;
  facts.several_layers = rendering.view_mask;
  facts.secondaries = info.secondaries;
  facts.suspends = info.suspended;
  const pipeline::Resolved* seen = nullptr;
  for (const command::PassCommand& command : commands) {
    const pipeline::Resolved* resolved = command.clear ? seen : draws[command.draw].state->resolved.get();
    if (resolved == seen) continue;
    seen = resolved;
    const shader::StageTraits& vertex = resolved->last_traits();
    facts.several_layers |= vertex.writes_layer;
    facts.several_viewports |= vertex.writes_viewport_index;
  }
  LrzView* view = nullptr;
  uint32_t level = 0, layer = 0;
  if (facts.depth_attachment && info.generation) {
    const Ptr<Image>& image = rendering.depth.view->info().image;
    view = &find(image);
    level = rendering.depth.view->info().base_level;
    layer = rendering.depth.view->info().base_layer;
    facts.same_view = view->level == level && view->layer == layer && view->samples == info.samples && view->format == info.depth_format;
    facts.contents_kept = view->content_version == depth_version(*image, level, layer);
    facts.left_whole = view->whole;
    facts.covers_view = covers(info);
    facts.left_by = view->label;
    // What a command cleared is as good as what the pass clears, where the GPU tracks what belongs to it.
    view->cleared &= info.generation >= kLrzGpuTracking && facts.load_op == VK_ATTACHMENT_LOAD_OP_LOAD && !facts.single_sampled &&
                     view->level == level && view->layer == layer && facts.contents_kept;
    if (view->cleared) facts.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  }
  const LrzState before = view ? view->state : LrzState{};
  LrzState state = lrz_begin_pass(info.generation, facts, view && view->samples ? &before : nullptr, info.bidirectional);
  if (view && facts.load_op == VK_ATTACHMENT_LOAD_OP_LOAD) read_caches(level, layer, state);
  out.culprit_pass = state.cause_pass;
  const bool kept = state.valid && facts.load_op == VK_ATTACHMENT_LOAD_OP_LOAD;

  const command::DrawState* last = nullptr;  // facts are those of the state; a query is the draw's
  LrzDrawFacts draw_facts;
  for (const command::PassCommand& command : commands) {
    if (command.clear) {
      if (command.clear->attachment < 0) lrz_clear_attachment(state, command.clear->aspects);
      continue;
    }
    const command::DrawCall& draw = draws[command.draw];
    if (draw.state != last) draw_facts = lrz_draw_facts(*draw.state, false, facts.depth_attachment, info.has_stencil);
    last = draw.state;
    draw_facts.query = draw.query >= 0;
    LrzDecision& decision = out.decisions[command.draw];
    decision = lrz_draw(state, draw_facts, static_cast<int32_t>(command.draw));
    out.feedback |= decision.feedback || (out.in_order && decision.write);
  }
  if (!view) return;
  view->level = level;
  view->layer = layer;
  view->samples = info.samples;
  view->format = info.depth_format;
  view->whole = false;  // until the pass has ended
  view->label = rendering.label;
  view->state = state;
  if (state.off) return;
  out.view = view;
  add_begin_events(info, rendering.depth.load_op == VK_ATTACHMENT_LOAD_OP_CLEAR, out);
  ready_buffers(info, before, kept, out);
  view->cleared = false;
  if (kept && caches_.filled && caches_.direction != LrzDirection::unknown)
    if (LrzBuffer* buffer = out.buffer[lrz_index(caches_.direction)])
      lrz_read_through_cache(caches_, view->memory[view->pair][lrz_index(caches_.direction)], *buffer);
  LrzWriter& w = out.writer_base;
  w = {};
  w.area_x0 = info.render_area.offset.x;
  w.area_y0 = info.render_area.offset.y;
  w.area_x1 = w.area_x0 + static_cast<int32_t>(info.render_area.extent.width);
  w.area_y1 = w.area_y0 + static_cast<int32_t>(info.render_area.extent.height);
  if (info.samples > 1) w.first_sample = 0, w.last_sample = 255;
  if (!info.sysmem) ready_binning(draws, out);
}

void LrzCache::clear_image(const Ptr<Image>& image, float depth, std::span<const VkImageSubresourceRange> ranges) {
  const auto has_depth = [](const VkImageSubresourceRange& range) { return range.aspectMask & VK_IMAGE_ASPECT_DEPTH_BIT; };
  const auto range = std::find_if(ranges.begin(), ranges.end(), has_depth);
  if (range == ranges.end()) return;
  LrzView& view = find(image);
  view.level = range->baseMipLevel, view.layer = range->baseArrayLayer;
  view.samples = 0, view.format = VK_FORMAT_UNDEFINED;  // no pass left anything
  view.content_version = depth_version(*image, view.level, view.layer);
  view.whole = true;
  view.label.clear();
  view.state = {};
  view.has_buffer[0] = view.has_buffer[1] = false;
  view.cleared = true, view.cleared_to = depth > 0 ? std::min(depth, 1.0f) : 0.0f;  // as the image has it (transfer/clear.cpp)
}

void LrzCache::end(const LrzPassInfo& info, LrzPass& pass, bool stored, std::span<const uint32_t> numbers) {
  if (!pass.view) return;
  LrzView& view = *pass.view;
  view.whole = stored && covers(info);
  if (view.state.cause_pass.empty() && view.state.cause >= 0 && !numbers.empty())
    view.state.cause = static_cast<int32_t>(numbers[static_cast<size_t>(view.state.cause)]);
  caches_.filled = !info.flush;
  if (info.flush) {
    pass.events.push_back("LRZ_FLUSH");
  } else {
    caches_.level = view.level, caches_.layer = view.layer;
    caches_.direction = view.state.direction, caches_.disabled = !view.state.valid;
    caches_.modified.clear();
    for (uint32_t i = 0; i < 2; i++)
      if (pass.buffer[i] && i == lrz_index(view.state.direction)) lrz_leave_in_cache(caches_, *pass.buffer[i], view.memory[view.pair][i]);
  }
  const Ptr<Image> image = view.image.lock();
  view.content_version = image ? depth_version(*image, view.level, view.layer) : 0;
}

}  // namespace tilegpu::hsr
