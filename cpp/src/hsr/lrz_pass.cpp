// hsr/lrz_pass.cpp -- see lrz_pass.hpp. Source: lrz.rst, "A650+ (gen3+)": what is kept is valid only for the same depth view.
#include "hsr/lrz_pass.hpp"

#include <algorithm>
#include <cassert>

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
    view.has_buffer[i] = has;
    if (!needed[i] && !has) continue;
    if (!has) {
      const LrzDirection direction = i ? LrzDirection::greater : LrzDirection::less;
      // The clear value bounds depth only until depth moves the other way.
      const LrzDirection first = s.closed[0] ? LrzDirection::less : s.closed[1] ? LrzDirection::greater : s.direction;
      const bool known = !kept && (first == direction || first == LrzDirection::unknown);
      const float clear = info.rendering->depth.clear.depthStencil.depth;
      lrz_clear(view.buffer[i], info.generation, direction, info.depth_format, info.samples, info.width_px, info.height_px,
                known ? &clear : nullptr);
      view.has_buffer[i] = true;
    }
    out.buffer[i] = &view.buffer[i];
  }
}

}  // namespace

LrzWriter LrzPass::writer(const command::DrawCall& draw, uint32_t index) const {
  LrzWriter w = writer_base;
  assert(!view || index < decisions.size());
  if (!view || !decisions[index].write) return w;
  w.buffer = buffer[lrz_index(decisions[index].direction)];
  const command::DrawState& state = *draw.state;
  if (state.rasterization.depth_clamp) {
    const auto limit = [](float v) { return v > 0 ? std::min(v, 1.0f) : 0.0f; };
    w.range_lo = limit(std::min(state.viewport.minDepth, state.viewport.maxDepth));
    w.range_hi = limit(std::max(state.viewport.minDepth, state.viewport.maxDepth));
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

void LrzCache::begin(const LrzPassInfo& info, std::span<const command::PassCommand> commands, std::span<const command::DrawCall> draws,
                     LrzPass& out) {
  out.view = nullptr;
  out.feedback = false;
  out.buffer[0] = out.buffer[1] = nullptr;
  out.decisions.assign(draws.size(), {});
  const RenderingInfo& rendering = *info.rendering;
  LrzPassFacts facts;
  facts.depth_attachment = rendering.depth.view && info.depth_format != VK_FORMAT_UNDEFINED;
  facts.load_op = rendering.depth.load_op;
  facts.single_sampled = rendering.single_sampled_samples > 1;
  facts.several_layers = rendering.view_mask;
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
  }
  const LrzState before = view ? view->state : LrzState{};
  LrzState state = lrz_begin_pass(info.generation, facts, view && view->kept && covers(info) ? &before : nullptr);
  const bool kept = state.valid && rendering.depth.load_op == VK_ATTACHMENT_LOAD_OP_LOAD;

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
    out.feedback |= decision.feedback;
  }
  if (!view) return;
  view->level = level;
  view->layer = layer;
  view->samples = info.samples;
  view->format = info.depth_format;
  view->kept = false;  // until the pass has ended
  view->state = state;
  if (state.off) return;
  out.view = view;
  ready_buffers(info, before, kept, out);
  LrzWriter& w = out.writer_base;
  w = {};
  w.area_x0 = info.render_area.offset.x;
  w.area_y0 = info.render_area.offset.y;
  w.area_x1 = w.area_x0 + static_cast<int32_t>(info.render_area.extent.width);
  w.area_y1 = w.area_y0 + static_cast<int32_t>(info.render_area.extent.height);
  if (info.samples > 1) w.first_sample = 0, w.last_sample = 255;
}

void LrzCache::end(const LrzPassInfo& info, LrzPass& pass, bool stored) {
  if (!pass.view) return;
  LrzView& view = *pass.view;
  view.kept = info.generation >= kLrzGpuTracking && stored && covers(info) && view.state.valid;
  const Ptr<Image> image = view.image.lock();
  view.content_version = image ? depth_version(*image, view.level, view.layer) : 0;
}

}  // namespace tilegpu::hsr
