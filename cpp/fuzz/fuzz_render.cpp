// fuzz/fuzz_render.cpp -- fuzzer: passes of random state, by two devices that may differ in everything but the result.
//
// In: bytes that choose formats, samples, states, draws, and what the second device has: threads, lanes, bins, heap, profile,
// hidden-surface removal, kept samples; how its passes are split, and which states its commands say instead of its pipelines. Wrong is: one
// bit of an attachment, a resolve, a count of samples or a buffer that differs, or a pass that one device alone refuses. What the right
// picture is, `tests/test_framebuffer_model.py` asks.
#include <algorithm>
#include <cassert>

#include "common/bench.hpp"
#include "common/dynamic_states.hpp"
#include "common/panels.hpp"
#include "common/render_stages.hpp"

using namespace tilegpu;
using fuzz::is_integer;

namespace {

constexpr size_t kMost_B = 1024;
constexpr VkFormat kColors[] = {VK_FORMAT_R8G8B8A8_UNORM,
                                VK_FORMAT_R8G8B8A8_SRGB,
                                VK_FORMAT_R16G16B16A16_SFLOAT,
                                VK_FORMAT_R32G32B32A32_SFLOAT,
                                VK_FORMAT_B5G6R5_UNORM_PACK16,
                                VK_FORMAT_A2B10G10R10_UNORM_PACK32,
                                VK_FORMAT_R8_UINT,
                                VK_FORMAT_R16G16_SINT,
                                VK_FORMAT_R8G8_SNORM,
                                VK_FORMAT_B8G8R8A8_UNORM,
                                VK_FORMAT_B10G11R11_UFLOAT_PACK32,
                                VK_FORMAT_R32_UINT,
                                VK_FORMAT_R16G16B16A16_UNORM,
                                VK_FORMAT_R8_UNORM,
                                VK_FORMAT_UNDEFINED};
constexpr VkFormat kDepths[] = {
    VK_FORMAT_UNDEFINED,          VK_FORMAT_D16_UNORM,           VK_FORMAT_D32_SFLOAT, VK_FORMAT_D24_UNORM_S8_UINT,
    VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_S8_UINT};
constexpr VkSampleCountFlagBits kSamples[] = {VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_4_BIT,
                                              VK_SAMPLE_COUNT_2_BIT, VK_SAMPLE_COUNT_8_BIT, VK_SAMPLE_COUNT_16_BIT};
constexpr VkPrimitiveTopology kTopologies[] = {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,  VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                               VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN,
                                               VK_PRIMITIVE_TOPOLOGY_LINE_LIST,      VK_PRIMITIVE_TOPOLOGY_LINE_STRIP,
                                               VK_PRIMITIVE_TOPOLOGY_POINT_LIST};

bool has_depth(VkFormat f) { return f != VK_FORMAT_UNDEFINED && f != VK_FORMAT_S8_UINT; }
bool has_stencil(VkFormat f) { return f == VK_FORMAT_S8_UINT || f == VK_FORMAT_D24_UNORM_S8_UINT || f == VK_FORMAT_D32_SFLOAT_S8_UINT; }

struct Vertex {
  float position[4], color[4];
};

constexpr uint64_t kCounts_B = 64;

// -- what the bytes say

VkStencilOpState face(fuzz::Choices& c) {
  const auto op = [&] { return static_cast<VkStencilOp>(c.below(8)); };
  return {op(), op(), op(), static_cast<VkCompareOp>(c.below(8)), c.byte(), c.byte(), c.byte()};
}

void raster_state(fuzz::Choices& c, GraphicsState& s) {
  RasterizationState& r = s.rasterization;
  const uint8_t flags = c.byte();
  r.depth_clamp = flags & 1, r.depth_bias_enable = flags & 2, r.provoking_vertex_last = flags & 4;
  r.front_face = static_cast<VkFrontFace>(flags >> 3 & 1);
  r.cull_mode = (flags >> 4 & 3) == 3 ? (flags >> 6 & 3) : 0;
  r.depth_bias_constant = c.unit() * 8 - 4, r.depth_bias_slope = c.unit() * 2, r.depth_bias_clamp = c.unit();
  r.line_width = 1 + c.unit() * 4;
  if (c.seldom(8)) r.polygon_mode = c.coin() ? VK_POLYGON_MODE_LINE : VK_POLYGON_MODE_POINT;
  if (c.seldom(8)) r.conservative_mode = static_cast<VkConservativeRasterizationModeEXT>(c.below(3));
  r.line_mode = static_cast<VkLineRasterizationModeEXT>(c.below(4));
  if (r.line_mode != VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT && c.seldom(4)) {
    r.line_stipple = true, r.line_stipple_pattern = c.half(), r.line_stipple_factor = 1 + c.below(4);
  }
  if (!c.seldom(4)) return;
  r.depth_clip = static_cast<DepthClip>(c.below(3)), r.depth_clip_negative_one_to_one = c.coin();
  r.rasterizer_discard = c.seldom(8), r.extra_overestimation_px = c.unit() * kMaxExtraOverestimation_px;
  r.depth_bias_representation = static_cast<DepthBiasRepresentation>(c.below(3));
  if (c.coin()) r.depth_clamp_user = true, r.min_depth_clamp = c.unit() * 0.5f, r.max_depth_clamp = r.min_depth_clamp + c.unit() * 0.5f;
  if (c.seldom(3)) {
    DiscardRectangleState& d = s.discard_rectangles;
    d.enable = true, d.mode = static_cast<VkDiscardRectangleModeEXT>(c.below(2)), d.count = 1 + c.below(kMaxDiscardRectangles);
    for (uint32_t k = 0; k < d.count; k++)
      d.rectangles.push_back({{static_cast<int32_t>(c.byte()), static_cast<int32_t>(c.byte())}, {c.byte(), c.byte()}});
  }
  if (!c.seldom(2)) return;
  const auto op = [&] { return static_cast<VkFragmentShadingRateCombinerOpKHR>(c.below(5)); };
  s.shading_rate = {1u << c.below(3), 1u << c.below(3), {op(), op()}};
}

void blend_state(fuzz::Choices& c, const std::vector<VkFormat>& colors, GraphicsState& s) {
  const auto factor = [&] { return static_cast<VkBlendFactor>(c.below(VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA + 1)); };
  for (VkFormat format : colors) {
    VkPipelineColorBlendAttachmentState a{};
    const uint8_t flags = c.byte();
    a.colorWriteMask = flags & 16 ? flags & 15 : 15;
    a.blendEnable = format != VK_FORMAT_UNDEFINED && !is_integer(format) && flags & 32;
    if (a.blendEnable) {
      a.srcColorBlendFactor = factor(), a.dstColorBlendFactor = factor(), a.colorBlendOp = static_cast<VkBlendOp>(c.below(5));
      a.srcAlphaBlendFactor = factor(), a.dstAlphaBlendFactor = factor(), a.alphaBlendOp = static_cast<VkBlendOp>(c.below(5));
      if (c.seldom(8)) a.colorBlendOp = a.alphaBlendOp = static_cast<VkBlendOp>(VK_BLEND_OP_ZERO_EXT + static_cast<int>(c.below(46)));
    }
    s.blend.attachments.push_back(a);
    const bool is_advanced = a.colorBlendOp >= VK_BLEND_OP_ZERO_EXT;
    if (is_advanced && c.coin()) {
      AdvancedBlend& advanced = s.blend.advanced[s.blend.attachments.size() - 1];
      const uint8_t bits = c.byte();
      advanced = {bool(bits & 1), bool(bits & 2), bool(bits & 4), static_cast<VkBlendOverlapEXT>((bits >> 3) % 3)};
    }
  }
  if (c.seldom(8)) s.blend.color_write_enables = c.byte();
  if (c.seldom(8)) s.blend.logic_op_enable = true, s.blend.logic_op = static_cast<VkLogicOp>(c.below(16));
  for (float& x : s.blend_constants) x = c.unit();
}

/// As most passes are: opaque, tested and written depth, no more. Where everything is random little is ever hidden.
void make_plain(fuzz::Choices& c, GraphicsPipelineCreateInfo& info) {
  constexpr VkCompareOp kOrders[] = {
      VK_COMPARE_OP_LESS,  VK_COMPARE_OP_LESS, VK_COMPARE_OP_LESS_OR_EQUAL, VK_COMPARE_OP_GREATER, VK_COMPARE_OP_GREATER_OR_EQUAL,
      VK_COMPARE_OP_ALWAYS};
  const MultisampleState multisample{.samples = info.multisample.samples};
  info.rasterization = {}, info.multisample = multisample, info.blend = {}, info.primitive_restart = false;
  info.depth_stencil = {.depth_test = has_depth(info.depth_format), .depth_write = has_depth(info.depth_format)};
  info.depth_stencil.depth_compare = c.of(kOrders);
}

/// As interfaces are drawn: no tests most often, blended.
void make_flat(fuzz::Choices& c, GraphicsPipelineCreateInfo& info) {
  const uint8_t ways = c.byte();
  if (ways & 3) info.rasterization = {}, info.multisample = {.samples = info.multisample.samples}, info.depth_stencil = {};
  if ((ways & 12) == 0) return;
  for (size_t k = 0; k < info.blend.attachments.size(); k++) {
    VkPipelineColorBlendAttachmentState& a = info.blend.attachments[k];
    if (info.color_formats[k] == VK_FORMAT_UNDEFINED || is_integer(info.color_formats[k]) || a.blendEnable) continue;
    a.blendEnable = true;
    a.srcColorBlendFactor = a.srcAlphaBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
    a.dstColorBlendFactor = a.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
  }
}

GraphicsPipelineCreateInfo pipeline_info(fuzz::Choices& c, const std::vector<VkFormat>& colors, VkFormat depth,
                                         VkSampleCountFlagBits samples, bool plain, bool is_flat) {
  assert(!(plain && is_flat));
  GraphicsPipelineCreateInfo info;
  info.label = "p", info.color_formats = colors;
  info.vertex_bindings = {{{0, sizeof(Vertex), VK_VERTEX_INPUT_RATE_VERTEX}, 1}};
  info.vertex_attributes = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0}, {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 16}};
  info.topology = plain || is_flat ? VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST : c.of(kTopologies);
  info.stages = fuzz::render_stages(c, colors, samples, plain, info.topology);
  info.primitive_restart = c.coin() && info.topology != VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
  raster_state(c, info);
  MultisampleState& m = info.multisample;
  const uint8_t flags = c.byte();
  m.samples = samples;
  m.sample_shading = (flags & 3) == 3, m.min_sample_shading = flags & 128 ? c.unit() : 1;
  m.sample_mask = flags & 4 ? uint32_t{c.half()} : ~0u;
  m.alpha_to_coverage = (flags & 24) == 24, m.alpha_to_one = (flags & 96) == 96;
  if (info.rasterization.line_mode > VK_LINE_RASTERIZATION_MODE_RECTANGULAR_EXT)  // Vulkan's rule
    m.sample_shading = m.alpha_to_coverage = m.alpha_to_one = false;
  if (samples > 1 && c.seldom(8)) {
    m.sample_locations_enable = true, m.sample_locations.count = samples;
    for (uint32_t k = 0; k < 2u * samples; k++) m.sample_locations.at_px[k] = static_cast<float>(c.below(16)) / 16.0f;
  }
  if (has_depth(depth)) {
    const uint8_t tests = c.byte();
    DepthStencilState& d = info.depth_stencil;
    d.depth_test = tests & 1, d.depth_write = tests & 2, d.depth_compare = static_cast<VkCompareOp>(tests >> 2 & 7);
    d.depth_bounds_test = (tests & 96) == 96, d.min_depth_bounds = 0.25f, d.max_depth_bounds = 0.75f;
    info.depth_format = depth;
  }
  if (has_stencil(depth)) {
    info.depth_stencil.stencil_test = c.coin(), info.depth_stencil.front = face(c), info.depth_stencil.back = face(c);
    info.stencil_format = depth;
  }
  blend_state(c, colors, info);
  if (c.seldom(8) && !colors.empty()) info.color_formats[c.below(static_cast<uint32_t>(colors.size()))] = VK_FORMAT_UNDEFINED;
  if (plain) make_plain(c, info);
  if (is_flat) make_flat(c, info);
  return info;
}

/// Upright rectangles, also with perspective's divisor.
std::vector<Vertex> panels(fuzz::Choices& c) {
  std::vector<Vertex> all;
  for (uint32_t count = 1 + c.below(6); count; count--) {
    const fuzz::Panel panel(c);
    const float x = c.unit() * 2.2f - 1.2f, y = c.unit() * 2.2f - 1.2f, right = 0.3f + c.unit(), lower = 0.3f + c.unit();
    const float z = c.unit() * 1.1f - 0.05f, w = c.seldom(4) ? 0.5f + c.unit() : 1.0f;
    const uint32_t base = c.byte();
    for (uint32_t k = 0; k < fuzz::Panel::kVertices; k++) {
      const fuzz::PanelVertex at = panel.vertex(k);
      const float px = x + (at.right ? right : 0) + at.moved_x * 0.004f, py = y + (at.lower ? lower : 0) + at.moved_y * 0.004f;
      Vertex v{{px * w, py * w, (z + (at.deeper ? 0.03f : 0)) * w, w}, {}};
      for (uint32_t i = 0; i < 4; i++) {
        v.color[i] = static_cast<float>(base * (i + 3) % 120) / 255.0f + static_cast<float>(panel.step(i, at)) * 0.07f;
        if (at.recoloured == i) v.color[i] += 0.05f;
      }
      all.push_back(v);
    }
  }
  return all;
}

std::vector<Vertex> vertices(fuzz::Choices& c) {
  std::vector<Vertex> all(3 + c.below(30));
  constexpr float kOddW[] = {0, -1, 0.5f, 1e-6f, 3};
  const float size = c.seldom(6) ? 1 + static_cast<float>(c.byte()) : 1;  // far beyond the framebuffer: the guard band
  for (size_t k = 0; k < all.size(); k++) {
    Vertex& v = all[k];
    for (int i = 0; i < 2; i++) v.position[i] = static_cast<float>(static_cast<int8_t>(c.byte())) / 80.0f * size;
    const uint8_t z = c.byte(), color = c.byte();
    v.position[2] = static_cast<float>(z) / 240.0f - 0.02f;
    v.position[3] = (color & 31) == 31 ? kOddW[z % 5] : 1.0f;
    for (int i = 0; i < 4; i++) v.color[i] = static_cast<float>((color * (i + 3) + k * 11) & 255) / 255.0f;
  }
  return all;
}

// -- one device

struct Result {
  std::string refused;
  std::vector<uint8_t> bytes;
};

/// What may be done otherwise without another picture.
struct Otherwise {
  uint64_t open = 0;  ///< states that commands say
  FramebufferDesc desc;
  std::optional<HiddenSurfaceRemoval> hsr;
};

Otherwise otherwise(fuzz::Choices& c) {
  Otherwise o;
  const uint8_t ways = c.byte();
  const uint64_t low = c.word(), high = c.word();
  const uint8_t bits = c.byte(), filter = c.byte(), split = c.byte();
  if (ways & 1) o.open = low | high << 32;
  if (ways & 2) {
    HiddenSurfaceRemoval h;
    h.visibility_buffer = bits & 1, h.hierarchical_z = bits & 2, h.pre_pass = bits & 4, h.forward_pixel_kill = bits & 8;
    h.kill_single_samples = bits & 16, h.deferred_vertex_shading = bits & 32, h.low_resolution_z = bits & 64;
    h.lrz_bidirectional = bits & 128 && bits & 64;
    h.depth_filter = static_cast<DepthFilter>(filter % 5);
    h.depth_filter_position = filter / 5 % 16, h.depth_filter_spacing = filter % 17, h.depth_filter_counters = filter & 128;
    o.hsr = h;
  }
  if ((ways & 12) == 12) o.desc.draws_a_part = 1 + split % 3;
  if ((ways & 48) == 48) o.desc.tiler_heap_B = 1 + split;
  return o;
}

/// A pipeline, and what commands say for it.
struct Made {
  Ptr<Pipeline> pipeline;
  GraphicsState wanted;
};

struct Scene {
  fuzz::Choices c;
  Otherwise how;
  Ptr<Device> device;
  uint32_t width_px, height_px, views;
  VkSampleCountFlagBits samples;
  std::vector<VkFormat> colors;
  VkFormat depth;
  std::vector<Ptr<ImageView>> color_views, resolves;
  Ptr<ImageView> depth_view, depth_resolve;
  bool plain;    ///< opaque, and tested
  bool is_flat;  ///< rectangles, blended or with holes
  Ptr<QueryPool> queries = std::make_shared<QueryPool>(QueryType::occlusion, 8);
  Result result;

  Ptr<Buffer> counts = fuzz::patterned_buffer(kCounts_B, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  Ptr<ImageView> map = fuzz::patterned_view({});  // 8x8, three levels

  Scene(fuzz::Choices choices, Ptr<Device> of, Otherwise way) : c(choices), how(std::move(way)), device(std::move(of)) {
    width_px = 1 + c.below(75), height_px = 1 + c.below(70);
    views = c.seldom(8) ? 2 : 1;
    samples = c.of(kSamples);
    colors.resize(c.below(3) + (c.seldom(8) ? 2 : 0));
    for (VkFormat& f : colors) f = c.of(kColors);
    depth = c.of(kDepths);
    const uint8_t kind = c.byte();
    plain = kind & 1, is_flat = (kind & 7) == 2;
    if (is_flat && kind & 8) samples = VK_SAMPLE_COUNT_1_BIT, depth = VK_FORMAT_UNDEFINED;
    if (is_flat && colors.empty()) colors.push_back(c.of(kColors));
    if (colors.empty() && depth == VK_FORMAT_UNDEFINED) depth = VK_FORMAT_D32_SFLOAT;
    for (VkFormat f : colors) {
      color_views.push_back(f ? image(f, samples) : nullptr);
      resolves.push_back(f && samples > 1 && c.coin() ? image(f, VK_SAMPLE_COUNT_1_BIT) : nullptr);
    }
    if (depth) depth_view = image(depth, samples);
    if (depth && samples > 1 && c.coin()) depth_resolve = image(depth, VK_SAMPLE_COUNT_1_BIT);
  }

  Ptr<ImageView> image(VkFormat format, VkSampleCountFlagBits of) const { return fuzz::target(format, of, width_px, height_px, 0, views); }

  bool check(const Status& status) {
    if (!status && result.refused.empty()) result.refused = status.error().message;
    return static_cast<bool>(status);
  }

  VkClearValue clear_of(VkFormat format) {
    VkClearValue value{};
    for (int k = 0; k < 4; k++) {
      const uint8_t byte = c.byte();
      if (is_integer(format))
        value.color.uint32[k] = byte;
      else
        value.color.float32[k] = static_cast<float>(byte) / 200.0f - 0.1f;
    }
    return value;
  }
  VkClearValue depth_clear() {
    VkClearValue value{};
    const float z = c.unit();  // one order of bytes, whatever the compiler
    value.depthStencil = {z, c.byte()};
    return value;
  }
  VkRect2D rect(uint32_t width, uint32_t height, VkOffset2D from = {}) {
    const uint32_t x = c.below(width), y = c.below(height);
    const uint32_t w = 1 + c.below(width - x), h = 1 + c.below(height - y);
    return {{from.x + static_cast<int32_t>(x), from.y + static_cast<int32_t>(y)}, {w, h}};
  }

  RenderingInfo pass(bool first) {
    RenderingInfo info;
    info.label = "pass", info.desc = how.desc, info.hsr = how.hsr;
    info.view_mask = views > 1 ? 3 : 0;
    info.render_area = c.seldom(3) ? rect(width_px, height_px) : VkRect2D{{0, 0}, {width_px, height_px}};
    if (first) info.render_area = {{0, 0}, {width_px, height_px}};  // nothing that is loaded later is undefined
    for (size_t k = 0; k < colors.size(); k++) {
      RenderingAttachment& a = info.color.emplace_back();
      if (!colors[k]) continue;
      a.view = color_views[k];
      a.load_op = first || c.seldom(3) ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD;
      a.clear = clear_of(colors[k]);
      if (!resolves[k]) continue;
      a.resolve_view = resolves[k], a.resolve_mode = is_integer(colors[k]) ? VK_RESOLVE_MODE_SAMPLE_ZERO_BIT : VK_RESOLVE_MODE_AVERAGE_BIT;
    }
    if (!depth) return info;
    constexpr VkResolveModeFlagBits kModes[] = {VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, VK_RESOLVE_MODE_MIN_BIT, VK_RESOLVE_MODE_MAX_BIT};
    RenderingAttachment a;
    a.view = depth_view;
    a.load_op = first || c.seldom(3) ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD;
    a.clear = depth_clear();
    if (depth_resolve) a.resolve_view = depth_resolve, a.resolve_mode = c.of(kModes);
    if (has_depth(depth)) info.depth = a;
    if (has_stencil(depth)) info.stencil = a;
    return info;
  }

  void clear(CommandBuffer& cb, const RenderingInfo& info) {
    const VkRect2D area = rect(info.render_area.extent.width, info.render_area.extent.height, info.render_area.offset);
    const bool of_depth = colors.empty() || !colors[0] || c.coin();
    if (!of_depth)
      check(cb.clear_attachment(0, VK_IMAGE_ASPECT_COLOR_BIT, clear_of(colors[0]), area));
    else if (depth)
      check(cb.clear_attachment(-1,
                                (has_depth(depth) ? VK_IMAGE_ASPECT_DEPTH_BIT : 0) | (has_stencil(depth) ? VK_IMAGE_ASPECT_STENCIL_BIT : 0),
                                depth_clear(), area));
  }

  void draw(CommandBuffer& cb) {
    if (!plain && c.seldom(3)) {
      const float w = static_cast<float>(width_px), h = static_cast<float>(height_px);
      VkViewport viewport{0, 0, 0, 0, 0, 0};
      viewport.x = w * (c.unit() - 0.5f), viewport.y = h * (c.unit() - 0.5f);
      viewport.width = w * (c.unit() + 0.1f), viewport.height = h * (c.unit() * 2 - 1);
      viewport.minDepth = c.unit(), viewport.maxDepth = c.unit();
      if (viewport.height == 0) viewport.height = 1;
      cb.set_viewport(viewport);
    }
    if (!plain && c.seldom(3)) cb.set_scissor(rect(width_px, height_px));
    const std::vector<Vertex> all = is_flat ? panels(c) : vertices(c);
    const uint32_t count = static_cast<uint32_t>(all.size()), instances = 1 + c.below(3);
    const Ptr<Buffer> buffer = fuzz::patterned_buffer(all.size() * sizeof(Vertex), VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    std::memcpy(buffer->data(), all.data(), all.size() * sizeof(Vertex));
    cb.bind_vertex_buffer(0, buffer, 0);
    if (is_flat || !c.seldom(3)) {
      check(cb.draw(count, instances, 0, c.below(3)));
      return;
    }
    const Ptr<Buffer> indices = fuzz::patterned_buffer(64, VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
    for (uint32_t k = 0; k < 32; k++) {
      const uint32_t chosen = c.below(34);
      const uint16_t index = chosen == 33 ? 0xffff : static_cast<uint16_t>(chosen);
      std::memcpy(indices->data() + k * 2, &index, 2);
    }
    cb.bind_index_buffer(indices, 0, VK_INDEX_TYPE_UINT16);
    check(cb.draw_indexed(32, instances, 0, 0, 0));
  }

  void bind(CommandBuffer& cb, const Made& made) {
    cb.bind_pipeline(made.pipeline);
    check(fuzz::say_open(cb, made.pipeline->info(), made.wanted));
    const auto& layouts = made.pipeline->info().layout->sets;
    for (uint32_t k = 1; k < layouts.size(); k++) {
      if (!layouts[k]) continue;
      const Ptr<DescriptorSet> set = fuzz::take(device->create_descriptor_set(layouts[k]), "a set");
      Descriptor to;
      if (k == 1)
        to.buffer = counts;
      else
        to.view = map, to.sampler = fuzz::sampler(false);
      check(set->write(0, 0, to));
      cb.bind_descriptor_set(k, set);
    }
  }

  void run() {
    std::vector<Made> pipelines;
    for (uint32_t k = 0, count = 1 + c.below(3); k < count; k++) {
      GraphicsPipelineCreateInfo info = pipeline_info(c, colors, depth, samples, plain, is_flat);
      const GraphicsState wanted = info;
      fuzz::leave_open(how.open >> k, info);
      auto made = device->create_pipeline(info);
      if (!made) {
        result.refused = made.error().message;
        return;
      }
      pipelines.push_back({*made, wanted});
    }
    auto cb = std::make_shared<CommandBuffer>(device);
    check(cb->begin());
    check(cb->reset_query_pool(queries, 0, 8));
    const uint32_t passes = 1 + c.below(2);
    uint32_t query = 0;
    for (uint32_t p = 0; p < passes; p++) {
      const RenderingInfo info = pass(p == 0);
      if (!check(cb->begin_rendering(info))) return;
      for (uint32_t k = 0, draws = 1 + c.below(plain ? 12 : 5); k < draws && result.refused.empty(); k++) {
        if (c.seldom(6)) clear(*cb, info);
        bind(*cb, pipelines[c.below(static_cast<uint32_t>(pipelines.size()))]);
        const bool counts = query < 8 && views == 1 && c.seldom(4);
        if (counts) check(cb->begin_query(queries, query, true));
        draw(*cb);
        if (counts) check(cb->end_query(queries, query++));
      }
      if (!check(cb->end_rendering())) return;
    }
    if (!result.refused.empty() || !check(cb->end())) return;
    auto done = device->submit_and_wait({{cb}, {}}, {});
    if (!done) {
      result.refused = done.error().message;
      return;
    }
    for (const auto& list : {color_views, resolves, {depth_view, depth_resolve}})
      for (const auto& view : list)
        if (view) fuzz::append(result.bytes, *view->image());
    fuzz::append(result.bytes, *counts);
    for (uint32_t k = 0; k < query; k++) {
      const uint64_t value = queries->values[k];
      result.bytes.insert(result.bytes.end(), reinterpret_cast<const uint8_t*>(&value), reinterpret_cast<const uint8_t*>(&value) + 8);
    }
  }
};

DeviceCreateInfo plain_device() {
  DeviceCreateInfo info;
  info.threads = 1, info.lanes = 4, info.bin_px = 64, info.compress_samples = false;
  info.unused_attachments = true;
  info.tolerate = [](const std::string&) {};  // what Vulkan leaves undefined has one result too
  info.hsr = HiddenSurfaceRemoval{.visibility_buffer = false, .hierarchical_z = false};
  return info;
}

DeviceCreateInfo other_device(uint32_t number) {
  DeviceCreateInfo info;
  info.threads = 1 + number % 2, info.lanes = number % 3 ? 8 : 16, info.bin_px = 32;
  info.unused_attachments = true, info.tolerate = [](const std::string&) {};
  HiddenSurfaceRemoval all{.pre_pass = true, .forward_pixel_kill = true};
  switch (number) {
    case 0:
      break;
    case 1:
      info.hsr = all, info.tiler_heap_B = 1;
      break;
    case 2:
      info.hsr = HiddenSurfaceRemoval{.low_resolution_z = true, .lrz_bidirectional = true};
      break;
    case 3:
      info.hsr = HiddenSurfaceRemoval{.deferred_vertex_shading = true, .depth_filter = DepthFilter::two_plane};
      break;
    case 4:
      info.profile = "mali-g57", info.bin_px = 0;
      break;
    case 5:
      info.profile = "adreno-a650", info.bin_px = 0;
      break;
    case 6:
      info.compress_samples = false, info.hsr = HiddenSurfaceRemoval{.hierarchical_z = false};
      break;
    case 7:
      info.profile = "immortalis-g925", info.bin_px = 0;
      break;
    default:
      info.hsr = HiddenSurfaceRemoval{.visibility_buffer = false}, info.vertex_batch = 4;
      break;
  }
  return info;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  if (size_B > kMost_B || size_B < 12) return -1;
  fuzz::Choices choices(data, size_B);
  const uint32_t number = choices.below(9);
  const Otherwise way = otherwise(choices);
  // Optimised code takes ten times as long to make, and has what quick code never has (pixel packets).
  const bool optimises = fuzz::hash_of(data, size_B) % 8 == 0;
  const auto run = [&](const DeviceCreateInfo& info, const Otherwise& how, fuzz::Code code) {
    Scene scene(choices, fuzz::device(info, code), how);
    scene.run();
    return scene.result;
  };
  const Result one = run(plain_device(), {}, fuzz::Code::quick);
  if (way.open && !one.refused.empty()) return 0;  // a pipeline is looked at as a whole; what commands say, one by one
  const Result two = run(other_device(number), way, optimises ? fuzz::Code::optimised : fuzz::Code::quick);
  if (one.refused.empty() != two.refused.empty())
    fuzz::finding("device " + std::to_string(number) + ": refused by one device alone: " + one.refused + two.refused);
  if (const std::string text = fuzz::difference(one.bytes, two.bytes); !text.empty())
    fuzz::finding("device " + std::to_string(number) + (optimises ? " by optimised code" : "") + " draws another picture: " + text);
  return 0;
}
