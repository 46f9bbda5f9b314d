// framebuffer/describe.cpp -- JSON of the five pieces; lint.
//
// In, out: see describe.hpp.
#include "framebuffer/describe.hpp"

#include <algorithm>
#include <cassert>

#include "base/json.hpp"
#include "framebuffer/tile_limits.hpp"
#include "vk/format.hpp"

namespace tilegpu::framebuffer {
namespace {

using Object = JsonObject;

std::string name_of(VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  return info ? info->name : "none";
}

std::string box_json(const Box& box) {
  std::string out = "[";
  for (int32_t value : {box.min_x, box.min_y, box.max_x, box.max_y}) out.append(out.size() > 1 ? ", " : "").append(std::to_string(value));
  out += ']';
  return out;
}

const char* name_of(LoadOp op) {
  constexpr const char* kNames[] = {"none", "clear", "image"};
  return kNames[static_cast<int>(op)];
}

const char* name_of(MsaaCopy copy) {
  constexpr const char* kNames[] = {"all", "single", "identical", "sample_zero", "average", "min", "max"};
  return kNames[static_cast<int>(copy)];
}

const char* name_of(ResolveOp op) {
  constexpr const char* kNames[] = {"none",   "image",  "color0", "color1", "color2", "color3",
                                    "color4", "color5", "color6", "color7", "depth",  "stencil"};
  return kNames[static_cast<int>(op)];
}

std::string name_of(const Ptr<ImageView>& view) {
  if (!view) return "none";
  const std::string& label = view->image()->info().label;
  return label.empty() ? std::string("image ") + name_of(view->info().format) : label;
}

std::string json_of(const LoadTarget& t) {
  return Object()
      .text("in_bounds", name_of(t.in_bounds))
      .text("border", name_of(t.border))
      .boolean("for_splits", t.for_splits)
      .boolean("always", t.always)
      .text("msaa", name_of(t.msaa))
      .text("image", name_of(t.view))
      .json();
}

std::string json_of(const StoreTarget& t) {
  return Object()
      .boolean("store", t.store)
      .boolean("always", t.always)
      .text("msaa", t.store ? name_of(t.msaa) : "none")
      .text("image", name_of(t.view))
      .json();
}

std::string json_of(const ResolveSide& side) {
  return Object().text("from", name_of(side.op)).text("msaa", side.op == ResolveOp::none ? "none" : name_of(side.msaa)).json();
}

std::string json_of(const ResolveTarget& t) {
  return Object()
      .raw("in_bounds", json_of(t.in_bounds))
      .raw("border", json_of(t.border))
      .text("image", name_of(t.view))
      .boolean("own_plane", t.own_plane)
      .json();
}

std::string attachment_name(uint32_t index) {
  if (index == kMaxColorAttachments) return "depth";
  return index > kMaxColorAttachments ? std::string("stencil") : std::string("color").append(std::to_string(index));
}

/// One member for each target that the layout has: "color0", ..., "depth", "stencil".
template <class Get>
std::string targets_json(const Layout& layout, Get get) {
  Object out;
  for (uint32_t i = 0; i < layout.rt_count; ++i) {
    if (layout.rt_formats[i] != VK_FORMAT_UNDEFINED) out.raw(attachment_name(i), get(i));
  }
  if (layout.z_format != VK_FORMAT_UNDEFINED) out.raw("depth", get(kMaxColorAttachments));
  if (layout.s_format != VK_FORMAT_UNDEFINED) out.raw("stencil", get(kMaxColorAttachments + 1));
  return out.json();
}

template <class Pieces>
const auto& target_of(const Pieces& pieces, uint32_t index) {
  assert(index < kMaxColorAttachments + 2);
  return index < kMaxColorAttachments ? pieces.rts[index] : index == kMaxColorAttachments ? pieces.z : pieces.s;
}

const StoreTarget& resolved_of(const Store& store, uint32_t index) {
  return index < kMaxColorAttachments ? store.resolved_rts[index] : index == kMaxColorAttachments ? store.resolved_z : store.resolved_s;
}

std::string mebibytes(uint64_t bytes) {
  const uint64_t tenths = (bytes * 10 + (1 << 19)) >> 20;
  if (tenths == 0) return std::to_string(bytes) + " B";
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

uint64_t traffic(const PassStats& stats, const std::string& attachment, TrafficCause cause) {
  for (const AttachmentTraffic& row : stats.traffic) {
    if (row.attachment == attachment) return row.bytes[static_cast<size_t>(cause)];
  }
  return 0;
}

}  // namespace

std::string describe(const Layout& layout) {
  std::string formats = "[", offsets = "[";
  for (uint32_t i = 0; i < layout.rt_count; ++i) {
    formats.append(i ? ", " : "").append(json_text(name_of(layout.rt_formats[i])));
    offsets.append(i ? ", " : "").append(std::to_string(layout.rt_offset_B[i]));
  }
  return Object()
      .text("profile", layout.profile ? layout.profile->name : "none")
      .text("profile_source", layout.profile ? layout.profile->source : "")
      .number("width_px", layout.width_px)
      .number("height_px", layout.height_px)
      .number("layers", layout.layer_count)
      .number("view_mask", layout.view_mask)
      .number("samples", layout.sample_count)
      .raw("color_formats", formats + "]")
      .text("depth_format", name_of(layout.z_format))
      .text("stencil_format", name_of(layout.s_format))
      .raw("window_px", box_json(layout.window_px))
      .raw("render_area_px", box_json(layout.render_area_px))
      .raw("tiling_area_px", box_json(layout.tiling_area_px))
      .boolean("has_border", layout.has_border())
      .number("tile_width_px", layout.tile_width_px)
      .number("tile_height_px", layout.tile_height_px)
      .number("tile_color_B", layout.tile_rt_alloc_B)
      .number("tile_color_budget_B", layout.tile_rt_budget_B)
      .number("tile_depth_budget_B", layout.tile_z_budget_B)
      .raw("color_offsets_B", offsets + "]")
      .boolean("pipelining_lost", layout.pipelining_lost)
      .json();
}

std::string describe(const Load& load, const Layout& layout) {
  return targets_json(layout, [&](uint32_t i) { return json_of(target_of(load, i)); });
}

std::string describe(const Store& store, const Layout& layout) {
  return targets_json(layout, [&](uint32_t i) {
    return Object().raw("samples", json_of(target_of(store, i))).raw("resolved", json_of(resolved_of(store, i))).json();
  });
}

std::string describe(const Resolve& resolve, const Layout& layout) {
  return targets_json(layout, [&](uint32_t i) { return json_of(target_of(resolve, i)); });
}

std::string describe(const DescInfo& desc) {
  std::string positions = "[";
  for (uint32_t s = 0; s < desc.sample_count && desc.sample_positions; ++s) {
    positions.append(s ? ", [" : "[")
        .append(std::to_string(desc.sample_positions[s].x))
        .append(", ")
        .append(std::to_string(desc.sample_positions[s].y))
        .append("]");
  }
  return Object()
      .number("tiler_heap_B", desc.tiler_heap_B)
      .number("draws_a_part", desc.draws_a_part)
      .raw("sample_positions_16ths", positions + "]")
      .boolean("allow_hsr_prepass", desc.allow_hsr_prepass)
      .boolean("transaction_elimination", desc.transaction_elimination)
      .number("layers", desc.layer_count)
      .json();
}

std::string describe(const Framebuffer& f) {
  return Object()
      .raw("layout", describe(f.layout))
      .raw("load", describe(f.load, f.layout))
      .raw("store", describe(f.store, f.layout))
      .raw("resolve", describe(f.resolve, f.layout))
      .raw("desc", describe(f.desc))
      .raw("spill_load", describe(f.spill_load, f.layout))
      .raw("spill_store", describe(f.spill_store, f.layout))
      .json();
}

constexpr uint32_t kNarrowColor_B = 4;  // of a sample in tile memory: what all 8 and 10-bit unorm formats take

// Of a layout that is laid out anew: with one sample a pixel, with colours of at most 4 bytes, or with both.
static Layout laid_out(Layout layout, bool one_sample, bool narrow) {
  layout.tile_width_px = layout.tile_height_px = layout.tile_size_px = 0;
  if (one_sample) layout.sample_count = 1;
  for (uint32_t i = 0; narrow && i < layout.rt_count; ++i)
    if (tile_bytes(layout.rt_formats[i]) > kNarrowColor_B) layout.rt_formats[i] = VK_FORMAT_R8G8B8A8_UNORM;
  const bool fits = bool{choose_tile_size(layout, "")};
  assert(fits && "less of the same is laid out where more was");
  static_cast<void>(fits);
  return layout;
}

// What following each advice gives, by laying the framebuffer out: only what makes the tile larger, or makes there be one, is said.
static std::string larger_tiles(const Layout& layout) {
  const bool wide = std::any_of(layout.rt_formats.begin(), layout.rt_formats.begin() + layout.rt_count,
                                [](VkFormat format) { return tile_bytes(format) > kNarrowColor_B; });
  const std::string narrow_words = "colour formats of " + std::to_string(kNarrowColor_B) + " bytes a sample";
  uint32_t best_px = layout.fits_gmem ? layout.tile_size_px : 0;
  const uint32_t now_px = best_px;
  std::string out;
  const auto add = [&](const std::string& words, bool one_sample, bool narrow) {
    const Layout then = laid_out(layout, one_sample, narrow);
    // Both together are said where they give more than each.
    if (!then.fits_gmem || then.tile_size_px <= (one_sample && narrow ? best_px : now_px)) return;
    best_px = std::max(best_px, then.tile_size_px);
    out += (out.empty() ? "" : ", ") + words + " " + std::to_string(then.tile_width_px) + "x" + std::to_string(then.tile_height_px) + " px";
  };
  if (layout.sample_count > 1) add("one sample a pixel gives", true, false);
  if (wide) add(narrow_words + " give", false, true);
  if (wide && layout.sample_count > 1) add("both", true, true);
  const uint32_t largest_px = layout.profile->max_tile_px;  // 0: of GMEM, where a tile is as large as the driver cuts it
  if (out.empty()) return "fewer targets give a larger one";
  return best_px < largest_px ? out + "; with fewer targets more" : out;
}

// Which of the two budgets makes the tile small, and what gives some of it back.
static std::string small_tile_line(const Layout& layout) {
  const TileLimits limits = tile_limits(layout);
  const std::string to = " a pixel shrink the tile of " + std::string(layout.profile->name) + " to " +
                         std::to_string(layout.tile_width_px) + "x" + std::to_string(layout.tile_height_px) + " px";
  const std::string color = std::to_string(limits.color_B) + " bytes of colour";
  if (limits.depth_px > limits.color_px) return "layout: " + color + to + "; " + larger_tiles(layout);
  const bool both = limits.depth_px == limits.color_px;
  return "layout: " + std::to_string(limits.depth_B) + " bytes of depth" + to + (both ? ", and so do its " + color : "") +
         " (depth takes " + std::to_string(kTileDepthBytes) + " a sample, with and without a depth attachment); " + larger_tiles(layout) +
         "; smaller colour formats alone give nothing";
}

std::vector<std::string> lint(const Framebuffer& f, const PassStats& stats, uint32_t cleared_in_pass) {
  std::vector<std::string> lines;
  if (f.layout.profile && f.layout.profile->tile_model == TileModel::immediate) return lines;  // nothing is loaded and stored there
  for (uint32_t i = 0; i < kMaxColorAttachments + 2; ++i) {
    if (stats.rendered_in_sysmem) break;  // nor here
    const StoreTarget& store = target_of(f.store, i);
    const LoadTarget& load = target_of(f.load, i);
    const std::string name = attachment_name(i);
    const uint64_t stored_B = traffic(stats, name, TrafficCause::store), loaded_B = traffic(stats, name, TrafficCause::load);
    if (store.store && resolved_of(f.store, i).store) {
      lines.push_back(name + ": all samples are stored although the pass resolves them; store_op dont_care saves " + mebibytes(stored_B));
    } else if (store.store && i >= kMaxColorAttachments) {
      lines.push_back(name + ": is stored; if nothing reads it after the pass, store_op dont_care saves " + mebibytes(stored_B));
    } else if (store.store && f.layout.sample_count > 1 && store.msaa == MsaaCopy::all) {
      lines.push_back(name + ": all samples are stored; resolving in the pass with store_op dont_care saves " +
                      mebibytes(stored_B - stored_B / f.layout.sample_count) + ", and reading them back");
    }
    if (load.in_bounds == LoadOp::image && (cleared_in_pass >> i & 1)) {
      lines.push_back(name + ": is loaded and then cleared; load_op clear saves " + mebibytes(loaded_B));
    } else if (load.in_bounds == LoadOp::image && !store.store && !store.discard && loaded_B &&
               (load.for_splits || !resolved_of(f.store, i).store)) {
      lines.push_back(name + ": store_op none makes the pass load it, so that its contents survive a split; store_op dont_care saves " +
                      mebibytes(loaded_B));
    }
    const uint64_t border_B = traffic(stats, name, TrafficCause::border_load) + traffic(stats, name, TrafficCause::border_store);
    if (border_B) lines.push_back(name + ": the render area is not aligned to 16x16 px; aligning it saves " + mebibytes(border_B));
  }
  if (f.layout.profile && f.layout.profile->tile_model == TileModel::buffer && f.layout.tile_size_px < f.layout.profile->max_tile_px)
    lines.push_back(small_tile_line(f.layout));
  if (!f.layout.fits_gmem)
    lines.push_back("layout: " + std::to_string(f.layout.tile_rt_alloc_B / f.layout.tile_size_px) +
                    " bytes a pixel do not fit into the GMEM of " + f.layout.profile->name + " (" +
                    std::to_string(f.layout.tile_rt_budget_B) + " bytes for " + std::to_string(f.layout.tile_width_px) + "x" +
                    std::to_string(f.layout.tile_height_px) + " px, the least tile): the pass is rendered in memory, without tiles; " +
                    larger_tiles(f.layout));
  if (f.layout.pipelining_lost) {
    lines.push_back("layout: the tile takes " + std::to_string(f.layout.tile_rt_alloc_B) +
                    " bytes of colour, the half of the tile buffer is " + std::to_string(f.layout.tile_rt_budget_B) +
                    "; the next tile has no room, tiles do not overlap");
  }
  if (stats.splits) {
    uint64_t spilled_B = 0;
    for (uint32_t i = 0; i < kMaxColorAttachments + 2; ++i)
      spilled_B +=
          traffic(stats, attachment_name(i), TrafficCause::spill_load) + traffic(stats, attachment_name(i), TrafficCause::spill_store);
    const uint32_t limit = f.desc.draws_a_part;
    const std::string often = stats.splits == 1 ? "once" : std::to_string(stats.splits) + " times";
    const std::string why =
        limit ? "it was split " + often + ", after " + std::to_string(limit) + " draws (desc.draws_a_part) or by a full heap"
              : "the tiler heap was full " + often;
    lines.push_back("pass: " + why + "; splits spilled and loaded again " + mebibytes(spilled_B) +
                    (limit ? "; allow more draws in one part" : "; draw less geometry in one pass"));
  }
  return lines;
}

std::string describe_split(const Framebuffer& f, const PassStats& stats, const std::string& reader) {
  assert(!reader.empty());
  uint64_t loaded_B = 0;
  for (uint32_t i = 0; i < kMaxColorAttachments + 2; ++i) loaded_B += traffic(stats, attachment_name(i), TrafficCause::load);
  std::string line =
      reader + " reads what was drawn before a barrier, so that the pass goes on here: the part before stored all that it had";
  if (f.layout.profile && f.layout.profile->tile_model == TileModel::immediate) return line;
  return line + ", and this one loads it, " + mebibytes(loaded_B) + "; an input attachment is read in the tile";
}

}  // namespace tilegpu::framebuffer
