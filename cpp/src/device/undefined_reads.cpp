// device/undefined_reads.cpp -- see undefined_reads.hpp. Source: Vulkan specification, "Render Pass Load Operations".
#include "device/undefined_reads.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <unordered_map>

#include "device/recorder.hpp"
#include "pipeline/target_reads.hpp"

namespace tilegpu::device {

namespace {

using command::DrawCall;
using command::DrawState;
using command::RecordedCommand;

constexpr uint32_t kTargets = kMaxColorAttachments + 2;
constexpr size_t kMostRects = 64;  // more pieces than these are taken for written: nothing is said of them

/// Where a target holds nothing defined.
using Rects = std::vector<VkRect2D>;

bool is_empty(const VkRect2D& r) { return r.extent.width == 0 || r.extent.height == 0; }

VkRect2D rect_of(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
  if (x1 <= x0 || y1 <= y0) return {};
  return {{static_cast<int32_t>(x0), static_cast<int32_t>(y0)}, {static_cast<uint32_t>(x1 - x0), static_cast<uint32_t>(y1 - y0)}};
}

bool meets(const Rects& rects, const VkRect2D& with) {
  return std::any_of(rects.begin(), rects.end(), [&](const VkRect2D& r) { return !is_empty(intersect(r, with)); });
}

/// Of each rect what lies above, below, left and right of the cut.
void subtract(Rects& rects, const VkRect2D& cut) {
  if (is_empty(cut) || rects.empty()) return;
  Rects left;
  for (const VkRect2D& r : rects) {
    const VkRect2D c = intersect(r, cut);
    if (is_empty(c)) {
      left.push_back(r);
      continue;
    }
    const int64_t x0 = r.offset.x, y0 = r.offset.y, x1 = x0 + r.extent.width, y1 = y0 + r.extent.height;
    const int64_t cx0 = c.offset.x, cy0 = c.offset.y, cx1 = cx0 + c.extent.width, cy1 = cy0 + c.extent.height;
    for (const VkRect2D& piece :
         {rect_of(x0, y0, x1, cy0), rect_of(x0, cy1, x1, y1), rect_of(x0, cy0, cx0, cy1), rect_of(cx1, cy0, x1, cy1)})
      if (!is_empty(piece)) left.push_back(piece);
  }
  if (left.size() > kMostRects) left.clear();
  rects = std::move(left);
}

/// Pixels that a draw may cover: its scissor, and of triangles its viewport.
VkRect2D region_of(const DrawState& state) {
  if (state.all && state.all->count > 1) return state.scissor;
  const VkViewport& v = state.viewport;
  const double y0 = std::min(v.y, v.y + v.height), y1 = std::max(v.y, v.y + v.height);
  const VkRect2D viewport = rect_of(std::llround(std::floor(double{v.x})), std::llround(std::floor(y0)),
                                    std::llround(std::ceil(double{v.x} + v.width)), std::llround(std::ceil(y1)));
  return intersect(state.scissor, viewport);
}

std::string target_name(uint32_t target) {
  if (target == shader::kInputDepth) return "depth";
  return target == shader::kInputStencil ? std::string("stencil") : "color" + std::to_string(target);
}

bool begins_undefined(const RenderingAttachment& a) {
  return a.view && (a.load_op == VK_ATTACHMENT_LOAD_OP_DONT_CARE || a.load_op == VK_ATTACHMENT_LOAD_OP_NONE_EXT);
}

class Walk {
 public:
  explicit Walk(const command::Pass& pass) : pass_(pass) {
    const auto begin = [&](const RenderingAttachment& a, uint32_t target) {
      if (!begins_undefined(a)) return;
      undefined_[target] = {pass_.render_area};
      op_[target] = a.load_op == VK_ATTACHMENT_LOAD_OP_DONT_CARE ? "dont_care" : "none";
    };
    for (uint32_t i = 0; i < pass_.info.color.size() && i < kMaxColorAttachments; i++) begin(pass_.info.color[i], i);
    begin(pass_.info.depth, shader::kInputDepth);
    begin(pass_.info.stencil, shader::kInputStencil);
  }

  /// Whether something is left that might be read.
  bool goes_on() const {
    return std::any_of(undefined_.begin(), undefined_.end(), [](const Rects& rects) { return !rects.empty(); });
  }

  void clear(const command::ClearCall& clear) {
    const VkRect2D rect = intersect(clear.rect, pass_.render_area);
    if (clear.attachment >= 0) subtract(undefined_[static_cast<uint32_t>(clear.attachment)], rect);
    if (clear.attachment < 0 && (clear.aspects & VK_IMAGE_ASPECT_DEPTH_BIT)) subtract(undefined_[shader::kInputDepth], rect);
    if (clear.attachment < 0 && (clear.aspects & VK_IMAGE_ASPECT_STENCIL_BIT)) subtract(undefined_[shader::kInputStencil], rect);
  }

  void draw(const DrawCall& draw, uint32_t number) {
    assert(draw.state && draw.state->resolved);
    if (draw.state->rasterization.rasterizer_discard) return;
    const pipeline::TargetReads reads = reads_of(*draw.state);
    const uint32_t written = draw.state->resolved->output.written_targets;
    const VkRect2D region = region_of(*draw.state);
    for (uint32_t target = 0; target < kTargets; target++) {
      Rects& rects = undefined_[target];
      if (rects.empty() || !((reads.all() | written) >> target & 1)) continue;
      if ((reads.all() >> target & 1) && meets(rects, region)) {
        const char* how = reads.input >> target & 1 ? "reads" : reads.tested >> target & 1 ? "tests against" : "blends with";
        lines.push_back(target_name(target) + ": draw " + std::to_string(number) + ", pipeline '" + draw.state->resolved->label + "', " +
                        how + " what load_op " + op_[target] +
                        " left there, which is undefined; give it load_op clear, or clear what is read before the draw");
        rects.clear();  // once for each attachment
      } else if (written >> target & 1) {
        subtract(rects, region);
      }
    }
  }

  std::vector<std::string> lines;

 private:
  const pipeline::TargetReads& reads_of(const DrawState& state) {
    if (places_.empty())
      for (size_t i = 0; i < pass_.states.size(); i++) places_.emplace(&pass_.states[i], i);
    assert(places_.count(&state) && pass_.bound.size() == pass_.states.size());
    const command::Bound& bound = pass_.bound[places_.find(&state)->second];
    const GraphicsState& whole = bound.state ? *bound.state : bound.pipeline->info();
    const auto [known, is_new] = reads_.try_emplace(&whole);
    if (is_new) known->second = pipeline::target_reads(bound.pipeline->program(), whole);
    return known->second;
  }

  const command::Pass& pass_;
  std::array<Rects, kTargets> undefined_;
  std::array<const char*, kTargets> op_{};
  std::unordered_map<const DrawState*, size_t> places_;
  std::unordered_map<const GraphicsState*, pipeline::TargetReads> reads_;
};

}  // namespace

std::vector<std::string> undefined_reads(const command::Pass& pass) {
  Walk walk(pass);
  uint32_t number = 0;
  for (const RecordedCommand& command : pass.commands) {
    if (!walk.goes_on()) break;
    if (command.kind == RecordedCommand::Kind::clear) walk.clear(pass.clears[command.index]);
    if (command.kind == RecordedCommand::Kind::draw) {
      const DrawCall& draw = pass.draws[command.index];
      if (draw.count && draw.instance_count) walk.draw(draw, number);
      number++;
    }
    if (command.kind == RecordedCommand::Kind::indirect) {
      const command::IndirectDraw& indirect = pass.indirects[command.index];
      if (indirect.count) walk.draw(indirect.base, number);
      number += indirect.count;
    }
  }
  return std::move(walk.lines);
}

std::vector<std::string> lost_primitives(const command::Pass& pass) {
  const auto has_more = [](const RenderingAttachment& a) {
    return a.view && a.view->info().base_layer + 1 < a.view->image()->layer_count(a.view->info().base_level);
  };
  bool more_layers = has_more(pass.info.depth) || has_more(pass.info.stencil);
  for (const RenderingAttachment& a : pass.info.color) more_layers |= has_more(a);
  const bool one_layer = more_layers && pass.info.layer_count == 1 && !pass.info.view_mask;
  std::vector<std::string> lines;
  const pipeline::Resolved* last = nullptr;
  for (const DrawState& state : pass.states) {
    const pipeline::Resolved* resolved = state.resolved.get();
    assert(resolved);
    if (resolved == last || state.rasterization.rasterizer_discard) continue;
    last = resolved;
    const shader::StageTraits& traits = resolved->last_traits();
    const auto add = [&](const char* what, const char* have, const char* fix) {
      std::string line = "pipeline '" + resolved->label + "' writes " + what + ", and the pass has one " + have +
                         ": what goes to another is drawn nowhere; " + fix;
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
    };
    if (traits.writes_layer && one_layer) add("gl_Layer", "layer", "give the pass more layers");
    if (traits.writes_viewport_index && (!state.all || state.all->count == 1))
      add("gl_ViewportIndex", "viewport", "set as many viewports as it chooses from");
  }
  return lines;
}

}  // namespace tilegpu::device
