// fuzz/fuzz_pass.cpp -- fuzzer: passes of random state beside a model of them, sample by sample.
//
// In: bytes that choose formats, samples, layers, states, topologies, clears, draws and a device. Colours are flat and multiples of 1/64,
// places of 1/16 pixel, most depths of 1/16, so that nearly every number is known. Wrong is: a sample of an attachment or of a resolve, or
// a count of samples, that is not what `common/pass_model` says. What goes beyond it (interpolation, geometry, tessellation, input
// attachments, shading rates, lines), `render` compares between devices.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "common/bench.hpp"
#include "common/panels.hpp"
#include "common/pass_model.hpp"

using namespace tilegpu;
using fuzz::FlatVertex;
using fuzz::Fragment;

namespace {

constexpr size_t kMost_B = 1024;
struct Format {
  VkFormat format;
  const char* name;
};
constexpr Format kColors[] = {{VK_FORMAT_R8G8B8A8_UNORM, "r8g8b8a8_unorm"},
                              {VK_FORMAT_R8G8B8A8_UNORM, "r8g8b8a8_unorm"},
                              {VK_FORMAT_R32G32B32A32_SFLOAT, "r32g32b32a32_sfloat"},
                              {VK_FORMAT_R16G16B16A16_SFLOAT, "r16g16b16a16_sfloat"},
                              {VK_FORMAT_B8G8R8A8_UNORM, "b8g8r8a8_unorm"},
                              {VK_FORMAT_R8G8B8A8_SRGB, "r8g8b8a8_srgb"},
                              {VK_FORMAT_R8_UINT, "r8_uint"},
                              {VK_FORMAT_R16G16_SINT, "r16g16_sint"},
                              {VK_FORMAT_R8G8_SNORM, "r8g8_snorm"},
                              {VK_FORMAT_R8_UNORM, "r8_unorm"},
                              {VK_FORMAT_R16G16B16A16_UNORM, "r16g16b16a16_unorm"},
                              {VK_FORMAT_R5G6B5_UNORM_PACK16, "r5g6b5_unorm_pack16"},
                              {VK_FORMAT_A2B10G10R10_UNORM_PACK32, "a2b10g10r10_unorm_pack32"}};
constexpr Format kDepths[] = {{VK_FORMAT_D32_SFLOAT, "d32_sfloat"},
                              {VK_FORMAT_D32_SFLOAT_S8_UINT, "d32_sfloat_s8_uint"},
                              {VK_FORMAT_D24_UNORM_S8_UINT, "d24_unorm_s8_uint"},
                              {VK_FORMAT_D16_UNORM, "d16_unorm"},
                              {VK_FORMAT_X8_D24_UNORM_PACK32, "x8_d24_unorm_pack32"},
                              {VK_FORMAT_S8_UINT, "s8_uint"},
                              {VK_FORMAT_UNDEFINED, nullptr}};
constexpr VkSampleCountFlagBits kSamples[] = {VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_4_BIT, VK_SAMPLE_COUNT_4_BIT,
                                              VK_SAMPLE_COUNT_2_BIT, VK_SAMPLE_COUNT_8_BIT, VK_SAMPLE_COUNT_16_BIT};

bool has_depth(VkFormat f) { return f != VK_FORMAT_UNDEFINED && f != VK_FORMAT_S8_UINT; }
bool has_stencil(VkFormat f) { return f == VK_FORMAT_S8_UINT || f == VK_FORMAT_D24_UNORM_S8_UINT || f == VK_FORMAT_D32_SFLOAT_S8_UINT; }

// -- what the bytes say

struct Target {
  Format format;
  Ptr<ImageView> view, resolve;
};

struct Made {
  Ptr<Pipeline> pipeline;
  GraphicsState state;
  Fragment fragment;
};

struct Scene {
  fuzz::Choices c;
  Ptr<Device> device;
  uint32_t width = 1, height = 1, views = 1;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  bool plain = false;   ///< opaque, tested and written: then much is hidden
  bool panels = false;  ///< rectangles of two triangles, blended or with holes, as interfaces are drawn: the tile phase joins such
  bool blocks = false;  ///< plain, and rectangles whose sides lie within a pixel of blocks of 4x4: bounds of blocks are met there
  std::vector<Target> colors;
  Target depth{};
  VkResolveModeFlagBits depth_mode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT;
  std::optional<HiddenSurfaceRemoval> hsr;
  std::vector<Made> pipelines;
  std::vector<const char*> names;
  std::optional<fuzz::PassModel> model;
  Ptr<QueryPool> queries = std::make_shared<QueryPool>(QueryType::occlusion, 8);
  uint64_t counted[8] = {};
  bool unknown[8] = {};
  uint32_t query = 0;
  std::string story;  ///< what a finding says of the commands

  fuzz::Code code;

  Scene(fuzz::Choices choices, fuzz::Code of) : c(choices), code(of) {}

  Ptr<ImageView> image(VkFormat format, VkSampleCountFlagBits of) const { return fuzz::target(format, of, width, height, 0, views); }

  void choose_device() {
    DeviceCreateInfo info;
    info.lanes = 4u << c.below(3), info.threads = 1 + c.below(2);
    const uint32_t number = c.below(8);
    constexpr const char* kProfiles[] = {"mali-g57", "adreno-a650", "immortalis-g925"};
    if (number < 3)
      info.profile = kProfiles[number];
    else
      info.bin_px = number < 6 ? 32 : 64, info.compress_samples = number & 1;
    device = fuzz::device(info, code);
    if (c.seldom(3)) return;
    const uint8_t bits = c.byte();
    HiddenSurfaceRemoval h;
    h.visibility_buffer = bits & 1, h.hierarchical_z = bits & 2, h.pre_pass = bits & 4, h.forward_pixel_kill = bits & 8;
    h.deferred_vertex_shading = bits & 16, h.low_resolution_z = bits & 32, h.lrz_bidirectional = (bits & 96) == 96;
    if (bits & 128) h.depth_filter = static_cast<DepthFilter>(c.below(5));
    hsr = h;
  }

  void choose_images() {
    width = 1 + c.below(70), height = 1 + c.below(50), views = c.seldom(6) ? 2 : 1, samples = c.of(kSamples);
    const uint8_t kind = c.byte();
    plain = kind % 3 == 2, panels = kind % 6 == 1;
    blocks = plain && c.coin();
    if (panels) {
      width = std::max(width, 24u), height = std::max(height, 24u);
      if (kind & 64) samples = VK_SAMPLE_COUNT_1_BIT;
    }
    if (blocks) {
      constexpr VkSampleCountFlagBits kSeveral[] = {VK_SAMPLE_COUNT_2_BIT, VK_SAMPLE_COUNT_4_BIT, VK_SAMPLE_COUNT_4_BIT,
                                                    VK_SAMPLE_COUNT_8_BIT};
      width = 4 + 2 * c.below(9), height = 4 + c.below(13), samples = c.of(kSeveral);
      if (c.coin()) hsr.reset();
    }
    colors.resize(c.below(4) ? 1 + c.below(2) : 0);
    depth.format = c.of(kDepths);
    if (colors.empty() && !depth.format.name) depth.format = kDepths[0];
    if (plain && !has_depth(depth.format.format)) depth.format = kDepths[c.below(5)];
    if (panels && colors.empty()) colors.resize(1);
    for (Target& t : colors) {
      t.format = c.of(kColors), names.push_back(t.format.name), t.view = image(t.format.format, samples);
      if (samples > 1 && c.coin()) t.resolve = image(t.format.format, VK_SAMPLE_COUNT_1_BIT);
    }
    constexpr VkResolveModeFlagBits kModes[] = {VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, VK_RESOLVE_MODE_MIN_BIT, VK_RESOLVE_MODE_MAX_BIT};
    depth_mode = c.of(kModes);
    if (depth.format.name) depth.view = image(depth.format.format, samples);
    if (depth.format.name && samples > 1 && c.coin()) depth.resolve = image(depth.format.format, VK_SAMPLE_COUNT_1_BIT);
    model.emplace(width, height, views, samples, names, depth.format.name);
  }

  VkStencilOpState face() {
    const auto op = [&] { return static_cast<VkStencilOp>(c.below(8)); };
    constexpr uint32_t kMasks[] = {255, 255, 15, 0xa5, 1, 254};
    return {op(), op(), op(), static_cast<VkCompareOp>(c.below(8)), c.of(kMasks), c.of(kMasks), c.coin() ? c.below(4) : 252 + c.below(4)};
  }

  void raster_state(GraphicsState& s) {
    RasterizationState& r = s.rasterization;
    const uint8_t flags = c.byte();
    r.depth_clamp = flags & 1, r.provoking_vertex_last = flags & 4, r.front_face = static_cast<VkFrontFace>(flags >> 3 & 1);
    r.cull_mode = (flags >> 4 & 3) == 3 ? flags >> 6 & 3 : 0;
    if ((flags & 2) && c.coin()) {
      r.depth_bias_enable = true, r.depth_bias_constant = static_cast<float>(static_cast<int>(c.below(64)) - 32);
      if (c.coin()) r.depth_bias_slope = static_cast<float>(static_cast<int>(c.below(16)) - 8) / 4;
      if (c.seldom(4)) r.depth_bias_clamp = static_cast<float>(static_cast<int>(c.below(16)) - 8) / 1024;
      if (c.seldom(4)) r.depth_bias_representation = static_cast<DepthBiasRepresentation>(c.below(3));
      if (r.depth_bias_representation == DepthBiasRepresentation::floating) r.depth_bias_constant /= 256;  // less than the whole range
    }
    if (r.depth_clamp && c.coin())
      r.depth_clamp_user = true, r.min_depth_clamp = c.unit() * 0.5f, r.max_depth_clamp = r.min_depth_clamp + c.unit() * 0.5f;
    MultisampleState& m = s.multisample;
    m.samples = samples;
    const uint8_t bits = c.byte();
    if ((bits & 7) == 7) m.sample_mask = c.half();
    const bool has_alpha = !colors.empty() && !model->color(0).is_integer();
    m.alpha_to_coverage = has_alpha && (bits & 24) == 24, m.alpha_to_one = (bits & 96) == 96;
    DepthStencilState& d = s.depth_stencil;
    if (has_depth(depth.format.format)) {
      const uint8_t tests = c.byte();
      d.depth_test = tests & 3, d.depth_write = tests & 12, d.depth_compare = static_cast<VkCompareOp>(tests >> 4 & 7);
      if (c.seldom(6))
        d.depth_bounds_test = true, d.min_depth_bounds = 3 / 16.0f + c.unit() / 64, d.max_depth_bounds = c.coin() ? 0.75f : 0.5f;
    }
    if (has_stencil(depth.format.format)) d.stencil_test = c.coin(), d.front = face(), d.back = c.coin() ? d.front : face();
  }

  void blend_state(GraphicsState& s) {
    const auto factor = [&] { return static_cast<VkBlendFactor>(c.below(VK_BLEND_FACTOR_SRC_ALPHA_SATURATE + 1)); };
    for (const Target& t : colors) {
      VkPipelineColorBlendAttachmentState a{};
      const uint8_t flags = c.byte();
      a.colorWriteMask = flags & 16 ? flags & 15 : 15;
      a.blendEnable = !fuzz::TexelModel(t.format.name, false).is_integer() && flags & 32;
      a.srcColorBlendFactor = factor(), a.dstColorBlendFactor = factor(), a.colorBlendOp = static_cast<VkBlendOp>(c.below(5));
      a.srcAlphaBlendFactor = factor(), a.dstAlphaBlendFactor = factor(), a.alphaBlendOp = static_cast<VkBlendOp>(c.below(5));
      if (!a.blendEnable) a = {.colorWriteMask = a.colorWriteMask};
      s.blend.attachments.push_back(a);
    }
    if (c.seldom(6)) s.blend.logic_op_enable = true, s.blend.logic_op = static_cast<VkLogicOp>(c.below(16));
    for (float& x : s.blend_constants) x = c.unit();
  }

  Expected<Made> pipeline() {
    assert(device && model && names.size() == colors.size());
    GraphicsPipelineCreateInfo info;
    info.label = "p";
    constexpr VkPrimitiveTopology kTopologies[] = {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                                   VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN,
                                                   VK_PRIMITIVE_TOPOLOGY_POINT_LIST};
    for (const Target& t : colors) info.color_formats.push_back(t.format.format);
    info.vertex_bindings = {{{0, sizeof(FlatVertex), VK_VERTEX_INPUT_RATE_VERTEX}, 1}};
    info.vertex_attributes = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0}, {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 16}};
    info.topology = c.of(kTopologies), info.primitive_restart = c.coin();
    if (blocks || panels) info.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    if (has_depth(depth.format.format)) info.depth_format = depth.format.format;
    if (has_stencil(depth.format.format)) info.stencil_format = depth.format.format;
    raster_state(info);
    blend_state(info);
    Fragment fragment = static_cast<Fragment>(c.below(2) ? 0 : c.below(static_cast<uint32_t>(Fragment::count)));
    if (fragment == Fragment::smooth) info.multisample.alpha_to_coverage = false;
    if (fragment == Fragment::depth) info.rasterization.depth_clamp = false;
    if (fragment == Fragment::depth && !has_depth(depth.format.format)) fragment = Fragment::plain;
    if (plain) {
      constexpr VkCompareOp kOrders[] = {VK_COMPARE_OP_LESS, VK_COMPARE_OP_LESS_OR_EQUAL, VK_COMPARE_OP_GREATER,
                                         VK_COMPARE_OP_GREATER_OR_EQUAL};
      const MultisampleState multisample{.samples = samples};
      info.multisample = multisample, info.depth_stencil = {.depth_test = true, .depth_write = true};
      info.depth_stencil.depth_compare = kOrders[(width & 1) * 2 + c.below(2)];  // one direction in a pass
      info.blend.logic_op_enable = false;
      for (auto& a : info.blend.attachments) a = {.colorWriteMask = 15};
      constexpr Fragment kKills[] = {Fragment::plain,       Fragment::plain, Fragment::plain, Fragment::holes,
                                     Fragment::early_holes, Fragment::mask,  Fragment::depth};
      fragment = blocks ? Fragment::plain : c.of(kKills);
    }
    if (panels) {
      constexpr Fragment kBlended[] = {Fragment::plain, Fragment::smooth, Fragment::smooth, Fragment::holes, Fragment::facing};
      fragment = c.of(kBlended);
      if (!c.seldom(4)) info.multisample = {.samples = samples}, info.depth_stencil = {};
      if (fragment == Fragment::smooth) info.multisample.alpha_to_coverage = false;
    }
    if (c.seldom(panels ? 8 : 4)) discard_rectangles(info.discard_rectangles);
    const Ptr<ShaderModule> vertex = fuzz::own_shader(fuzz::flat_vertex_text(fragment, views > 1), VK_SHADER_STAGE_VERTEX_BIT);
    const Ptr<ShaderModule> shader = fuzz::own_shader(fuzz::flat_fragment_text(fragment, names), VK_SHADER_STAGE_FRAGMENT_BIT);
    if (!vertex || !shader) fuzz::finding("a shader of the fuzzer's own does not compile: " + fuzz::flat_fragment_text(fragment, names));
    info.stages = {{vertex, {}}, {shader, {}}};
    Expected<Ptr<Pipeline>> made = device->create_pipeline(info);
    if (!made) return made.error();
    return Made{*made, info, fragment};
  }

  void discard_rectangles(DiscardRectangleState& state) {
    state.enable = true;
    state.mode = c.coin() ? VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT : VK_DISCARD_RECTANGLE_MODE_INCLUSIVE_EXT;
    state.count = 1 + c.below(kMaxDiscardRectangles);
    for (uint32_t k = 0; k < state.count; k++) state.rectangles.push_back(rect({{0, 0}, {width + 4, height + 4}}));
  }

  VkRect2D rect(const VkRect2D& of) {
    assert(of.extent.width >= 1 && of.extent.height >= 1);
    const uint32_t x = c.below(of.extent.width), y = c.below(of.extent.height);
    const uint32_t w = 1 + c.below(of.extent.width - x), h = 1 + c.below(of.extent.height - y);
    return {{of.offset.x + static_cast<int32_t>(x), of.offset.y + static_cast<int32_t>(y)}, {w, h}};
  }

  VkClearValue color_value(const Target& t) {
    VkClearValue value{};
    for (int k = 0; k < 4; k++)
      fuzz::TexelModel(t.format.name, false).is_integer() ? void(value.color.int32[k] = static_cast<int32_t>(c.below(100)))
                                                          : void(value.color.float32[k] = static_cast<float>(c.below(65)) / 64);
    return value;
  }
  VkClearValue depth_value() {
    VkClearValue value{};
    float z = static_cast<float>(c.below(17)) / 16;
    if (plain && c.coin()) z = width & 1 ? 0 : 1;  // as kOrders goes
    constexpr uint8_t kEnds[] = {0, 255, 1, 254};  // where operations clamp and wrap
    value.depthStencil = {z, c.coin() ? c.of(kEnds) : c.byte()};
    return value;
  }
  void clear_depth(const VkClearValue& value, const VkRect2D& area) {
    if (has_depth(depth.format.format)) model->clear_depth(value.depthStencil.depth, area);
    if (has_stencil(depth.format.format)) model->clear_stencil(value.depthStencil.stencil, area);
  }

  // -- commands, of the device and of the model

  template <class... Numbers>
  void tell(const char* format, Numbers... numbers) {
    char text[512];
    if constexpr (sizeof...(numbers) > 0)
      std::snprintf(text, sizeof text, format, numbers...);
    else
      std::snprintf(text, sizeof text, "%s", format);
    story += text;
  }
  void tell(const VkRect2D& r) { tell(" (%d, %d) + (%u, %u)", r.offset.x, r.offset.y, r.extent.width, r.extent.height); }
  void tell(const Made& made) {
    const GraphicsState& s = made.state;
    const DepthStencilState& d = s.depth_stencil;
    tell(
        "\n  draw: topology %d, fragment %d, restart %d, clamp %d, bias %d (%g, %g, %g), last %d, front %d, cull %d, mask %x, to coverage "
        "%d, one %d",
        s.topology, static_cast<int>(made.fragment), s.primitive_restart, s.rasterization.depth_clamp, s.rasterization.depth_bias_enable,
        s.rasterization.depth_bias_constant, s.rasterization.depth_bias_slope, s.rasterization.depth_bias_clamp,
        s.rasterization.provoking_vertex_last, s.rasterization.front_face, s.rasterization.cull_mode, s.multisample.sample_mask,
        s.multisample.alpha_to_coverage, s.multisample.alpha_to_one);
    tell("\n    depth %d %d %d, bounds %d (%g, %g), stencil %d", d.depth_test, d.depth_write, d.depth_compare, d.depth_bounds_test,
         d.min_depth_bounds, d.max_depth_bounds, d.stencil_test);
    if (s.discard_rectangles.enable) tell(s.discard_rectangles.mode ? "\n    without" : "\n    within");
    for (const VkRect2D& r : s.discard_rectangles.rectangles) tell(r);
    for (const VkStencilOpState* f : {&d.front, &d.back})
      tell(" (%d %d %d, %d, %x %x %x)", f->failOp, f->passOp, f->depthFailOp, f->compareOp, f->compareMask, f->writeMask, f->reference);
    tell(", logic %d %d", s.blend.logic_op_enable, s.blend.logic_op);
    for (const auto& a : s.blend.attachments)
      tell(" blend %d (%d %d %d, %d %d %d) %x", a.blendEnable, a.srcColorBlendFactor, a.dstColorBlendFactor, a.colorBlendOp,
           a.srcAlphaBlendFactor, a.dstAlphaBlendFactor, a.alphaBlendOp, a.colorWriteMask);
  }

  RenderingInfo begin(bool first) {
    RenderingInfo info;
    info.label = "pass", info.hsr = hsr, info.view_mask = views > 1 ? 3 : 0;
    info.render_area = {{0, 0}, {width, height}};
    if (!first && c.coin()) info.render_area = rect(info.render_area);
    const auto clears = [&] { return first || c.seldom(3); };
    for (uint32_t k = 0; k < colors.size(); k++) {
      RenderingAttachment& a = info.color.emplace_back();
      a.view = colors[k].view, a.load_op = clears() ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD,
      a.clear = color_value(colors[k]);
      if (a.load_op == VK_ATTACHMENT_LOAD_OP_CLEAR) model->clear_color(k, a.clear, info.render_area);
      if (!colors[k].resolve) continue;
      a.resolve_view = colors[k].resolve;
      a.resolve_mode = model->color(k).is_integer() ? VK_RESOLVE_MODE_SAMPLE_ZERO_BIT : VK_RESOLVE_MODE_AVERAGE_BIT;
    }
    tell("\n pass"), tell(info.render_area);
    if (!depth.view) return info;
    RenderingAttachment a;
    a.view = depth.view, a.load_op = clears() ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD, a.clear = depth_value();
    if (a.load_op == VK_ATTACHMENT_LOAD_OP_CLEAR) clear_depth(a.clear, info.render_area);
    if (depth.resolve) a.resolve_view = depth.resolve, a.resolve_mode = depth_mode;
    if (has_depth(depth.format.format)) info.depth = a;
    if (has_stencil(depth.format.format)) info.stencil = a;
    return info;
  }

  bool clear(CommandBuffer& cb, const VkRect2D& of) {
    const VkRect2D area = rect(of);
    tell("\n  clear"), tell(area);
    const uint32_t target = c.below(static_cast<uint32_t>(colors.size()) + 1);
    if (target < colors.size()) {
      const VkClearValue value = color_value(colors[target]);
      model->clear_color(target, value, area);
      return static_cast<bool>(cb.clear_attachment(static_cast<int>(target), VK_IMAGE_ASPECT_COLOR_BIT, value, area));
    }
    if (!depth.view) return true;
    const VkClearValue value = depth_value();
    VkImageAspectFlags aspects = 0;
    if (has_depth(depth.format.format) && c.below(4))
      aspects |= VK_IMAGE_ASPECT_DEPTH_BIT, model->clear_depth(value.depthStencil.depth, area);
    if (has_stencil(depth.format.format) && c.below(4))
      aspects |= VK_IMAGE_ASPECT_STENCIL_BIT, model->clear_stencil(value.depthStencil.stencil, area);
    return !aspects || cb.clear_attachment(-1, aspects, value, area);
  }

  /// Corners in sixteenths of a pixel, as positions that are exact: the viewport's sizes are powers of two.
  /// `shared`: corners are several triangles', which then are neither flat nor all beyond the depth range.
  std::vector<FlatVertex> vertices(const VkViewport& v, const Made& made, bool shared) {
    const bool is_list = made.state.topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, lone = is_list && !shared;
    std::vector<FlatVertex> all(3 * (1 + c.below(7)));
    const bool sloped = c.seldom(4) && !blocks, coarse = c.coin(), small = c.seldom(3);
    constexpr float kBeyond[] = {-0.25f, 1.25f}, kFar[] = {1, 1, 2, 0.5f, 4};
    float z = static_cast<float>(1 + c.below(15)) / 16;
    float x0 = 0, y0 = 0, sides[4] = {};
    if (blocks) all.resize(6 * (1 + c.below(5)));
    for (size_t k = 0; k < all.size(); k++) {
      if (k % 3 == 0 && lone)
        z = c.seldom(12) && made.fragment != Fragment::depth ? c.of(kBeyond) : static_cast<float>(1 + c.below(15)) / 16;
      const uint32_t px = c.half(), py = c.half();
      float at[2] = {static_cast<float>(static_cast<int>(px % ((width + 16) * 16)) - 128) / 16,
                     static_cast<float>(static_cast<int>(py % ((height + 16) * 16)) - 128) / 16};
      if (coarse) at[0] = std::floor(at[0]) + 0.5f, at[1] = std::floor(at[1]) + 0.5f;
      if (k % 3 == 0) x0 = at[0], y0 = at[1];
      if (small && k % 3) at[0] = x0 + static_cast<float>(px % 128) / 16 - 4, at[1] = y0 + static_cast<float>(py % 128) / 16 - 4;
      if (blocks) {
        if (k % 6 == 0)
          for (float& side : sides)
            side = static_cast<float>(4 * static_cast<int>(c.below(8)) - 4) + static_cast<float>(static_cast<int>(c.below(33)) - 16) / 16;
        constexpr int kSides[6][2] = {{0, 2}, {1, 2}, {0, 3}, {1, 2}, {1, 3}, {0, 3}};
        for (int i = 0; i < 2; i++) at[i] = sides[kSides[k % 6][i]];
        if (k % 6 == 3) z = all[k - 1].position[2];
      }
      const float own = sloped ? static_cast<float>(2 + c.below(13)) / 16 : z;
      const float w = made.fragment == Fragment::smooth ? c.of(kFar) : 1;
      all[k] = {{((at[0] - v.x) / v.width * 2 - 1) * w, ((at[1] - v.y) / v.height * 2 - 1) * w, own * w, w}, {}};
      const uint32_t seed = c.byte();
      for (uint32_t i = 0; i < 4; i++) all[k].color[i] = static_cast<float>((seed * (2 * i + 3) + i * 17) % 65) / 64;
      all[k].color[0] = std::floor(all[k].color[0] * 16) / 16;
    }
    return all;
  }

  bool draw(CommandBuffer& cb, const Made& made, const VkRect2D& area) {
    assert(model && query <= 8);
    fuzz::ModelDraw d;
    d.state = &made.state, d.fragment = made.fragment;
    constexpr float kSizes[] = {64, 128, 256};
    const float vw = c.of(kSizes), vh = c.of(kSizes);
    // It covers the framebuffer, so that nothing is cut at its sides.
    d.viewport = {
        -static_cast<float>(c.below(8)) - 8, -static_cast<float>(c.below(8)) - 8, std::max(vw, 128.0f), std::max(vh, 128.0f), 0, 1};
    if (c.coin()) d.viewport.y += d.viewport.height, d.viewport.height = -d.viewport.height;
    if (c.seldom(4) && made.fragment != Fragment::depth) {
      d.viewport.minDepth = static_cast<float>(c.below(5)) / 8, d.viewport.maxDepth = 1 - static_cast<float>(c.below(5)) / 8;
      if (c.coin()) std::swap(d.viewport.minDepth, d.viewport.maxDepth);
    }
    d.scissor = c.seldom(3) ? rect({{0, 0}, {width, height}}) : VkRect2D{{0, 0}, {width, height}};
    const bool indexed = !blocks && !panels && c.seldom(3);
    d.vertices =
        panels ? fuzz::flat_panels(c, d.viewport, {width, height}, made.fragment == Fragment::smooth) : vertices(d.viewport, made, indexed);
    tell(made), tell("\n    scissor"), tell(d.scissor),
        tell(", viewport %g %g %g %g, %g to %g, %zu vertices", d.viewport.x, d.viewport.y, d.viewport.width, d.viewport.height,
             d.viewport.minDepth, d.viewport.maxDepth, d.vertices.size());
    cb.bind_pipeline(made.pipeline);
    cb.set_viewport(d.viewport), cb.set_scissor(d.scissor);
    const Ptr<Buffer> buffer = fuzz::patterned_buffer(d.vertices.size() * sizeof(FlatVertex), VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    std::memcpy(buffer->data(), d.vertices.data(), d.vertices.size() * sizeof(FlatVertex));
    cb.bind_vertex_buffer(0, buffer, 0);
    const bool counts = query < 8 && views == 1 && c.seldom(4);
    if (counts) {
      d.counted = &counted[query], d.counted_unknown = &unknown[query];
      if (!cb.begin_query(queries, query, true)) return false;
    }
    const auto count = static_cast<uint32_t>(d.vertices.size());
    bool fine;
    if (indexed) {
      const bool small = c.coin();
      for (uint32_t k = 0, n = 3 + c.below(24); k < n; k++)
        d.indices.push_back(made.state.primitive_restart && c.seldom(6) ? ~0u : c.below(count));
      const uint32_t index_B = small ? 2 : 4, number = static_cast<uint32_t>(d.indices.size());
      const Ptr<Buffer> indices = fuzz::patterned_buffer(number * index_B + 4, VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
      for (uint32_t k = 0; k < number; k++) std::memcpy(indices->data() + k * index_B, &d.indices[k], index_B);
      cb.bind_index_buffer(indices, 0, small ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32);
      fine = static_cast<bool>(cb.draw_indexed(number, 1, 0, 0, 0));
    } else {
      fine = static_cast<bool>(cb.draw(count, 1, 0, 0));
    }
    if (counts) fine = fine && cb.end_query(queries, query++);
    model->draw(d, area);
    return fine;
  }

  // -- what is left

  [[noreturn]] void wrong(const Target& t, const char* what, uint32_t x, uint32_t y, uint32_t s, uint32_t layer, size_t k, double got,
                          double want) const {
    char text[256];
    std::snprintf(text, sizeof text, "%s, %s: pixel (%u, %u), sample %u of %u, layer %u, component %zu is %.9g, not %.9g", t.format.name,
                  what, x, y, s, static_cast<uint32_t>(samples), layer, k, got, want);
    fuzz::finding(text + story);
  }

  template <class F>
  void each_texel(const Ptr<ImageView>& view, VkImageAspectFlagBits aspect, uint32_t texel_B, F&& f) const {
    assert(view && texel_B >= 1);
    const Image& image = *view->image();
    for (uint32_t layer = 0; layer < views; layer++) {
      const SubresourceLayout l = image.layout(aspect, 0, layer);
      for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
          for (uint32_t s = 0; s < static_cast<uint32_t>(image.info().samples); s++)
            f(layer, x, y, s, image.data() + l.offset_B + s * l.sample_pitch_B + y * l.row_pitch_B + x * texel_B);
    }
  }

  void check_color(uint32_t number, const VkRect2D& resolved) const {
    const Target& t = colors[number];
    const fuzz::TexelModel& format = model->color(number);
    const auto compare = [&](const fuzz::Color& codes, double more, uint32_t unsure, const uint8_t* at, const char* what, uint32_t x,
                             uint32_t y, uint32_t s, uint32_t layer) {
      const fuzz::Color got = format.read(at);
      for (uint32_t k = 0; k < 4; k++) {
        if (!format.bits_of(k) || unsure >> k & 1) continue;
        const double want = format.value_of(k, codes[k]), slack = more + (format.is_float() ? 3e-5 * std::max(1.0, std::abs(want)) : 1e-7);
        const bool half = format.is_float() && format.bits_of(k) == 16;
        if (std::abs(got[k] - want) > slack + (half ? std::abs(want) * 0x1p-10 : 0)) wrong(t, what, x, y, s, layer, k, got[k], want);
      }
    };
    each_texel(t.view, VK_IMAGE_ASPECT_COLOR_BIT, format.size_B(),
               [&](uint32_t layer, uint32_t x, uint32_t y, uint32_t s, const uint8_t* at) {
                 const fuzz::ModelSample& sample = model->at(layer, x, y, s);
                 if (!sample.unknown)
                   compare(sample.color[number], sample.slack[number], sample.unsure[number], at, "attachment", x, y, s, layer);
               });
    if (!t.resolve) return;
    each_texel(t.resolve, VK_IMAGE_ASPECT_COLOR_BIT, format.size_B(),
               [&](uint32_t layer, uint32_t x, uint32_t y, uint32_t, const uint8_t* at) {
                 if (!inside(resolved, x, y)) return;
                 uint32_t unsure = 0;
                 float slack = 0;
                 for (uint32_t s = 0; s < static_cast<uint32_t>(samples); s++)
                   slack = std::max(slack, model->at(layer, x, y, s).slack[number]);
                 const fuzz::Color mean =
                     format.is_integer() ? model->at(layer, x, y, 0).color[number] : model->average(number, layer, x, y, unsure);
                 if (format.is_integer() && model->at(layer, x, y, 0).unknown) return;
                 if (format.is_integer()) unsure = model->at(layer, x, y, 0).unsure[number];
                 compare(mean, slack, unsure, at, "resolve", x, y, 0, layer);
               });
  }

  static bool inside(const VkRect2D& r, uint32_t x, uint32_t y) {
    const auto px = static_cast<int32_t>(x) - r.offset.x, py = static_cast<int32_t>(y) - r.offset.y;
    return px >= 0 && py >= 0 && px < static_cast<int32_t>(r.extent.width) && py < static_cast<int32_t>(r.extent.height);
  }

  /// Of depth (or stencil) by the mode of the resolve.
  template <class Number>
  bool reduced(uint32_t layer, uint32_t x, uint32_t y, Number&& number, double& value) const {
    for (uint32_t s = 0; s < static_cast<uint32_t>(samples); s++) {
      const fuzz::ModelSample& sample = model->at(layer, x, y, s);
      if (sample.unknown) return false;
      const double now = number(sample);
      if (s == 0) value = now;
      if (depth_mode == VK_RESOLVE_MODE_MIN_BIT) value = std::min(value, now);
      if (depth_mode == VK_RESOLVE_MODE_MAX_BIT) value = std::max(value, now);
    }
    return true;
  }

  template <class Number>
  void check_aspect(VkImageAspectFlagBits aspect, const VkRect2D& resolved, Number&& number) const {
    assert(depth.format.name && depth.view);
    const bool is_stencil = aspect == VK_IMAGE_ASPECT_STENCIL_BIT;
    const fuzz::TexelModel format(depth.format.name, is_stencil);
    const double most = is_stencil ? 1 : model->depth_most();
    const char* const what = is_stencil ? "stencil" : "depth";
    const auto slack_of = [&](const fuzz::ModelSample& s) {
      return is_stencil ? 0 : s.depth_slack + (model->depth_bits() == 32 ? 0 : 1e-3);
    };
    each_texel(depth.view, aspect, format.size_B(), [&](uint32_t layer, uint32_t x, uint32_t y, uint32_t s, const uint8_t* at) {
      const fuzz::ModelSample& sample = model->at(layer, x, y, s);
      const double got = format.read(at)[0] * most;
      if (!sample.unknown && std::abs(got - number(sample)) > slack_of(sample)) wrong(depth, what, x, y, s, layer, 0, got, number(sample));
    });
    if (!depth.resolve) return;
    each_texel(depth.resolve, aspect, format.size_B(), [&](uint32_t layer, uint32_t x, uint32_t y, uint32_t, const uint8_t* at) {
      double want = 0, slack = 0;
      for (uint32_t s = 0; s < static_cast<uint32_t>(samples); s++) slack = std::max(slack, slack_of(model->at(layer, x, y, s)));
      if (!inside(resolved, x, y) || !reduced(layer, x, y, number, want)) return;
      if (const double got = format.read(at)[0] * most; std::abs(got - want) > slack)
        wrong(depth, "resolve", x, y, 0, layer, is_stencil, got, want);
    });
  }

  void check(const VkRect2D& resolved) const {
    for (uint32_t k = 0; k < colors.size(); k++) check_color(k, resolved);
    if (has_depth(depth.format.format))
      check_aspect(VK_IMAGE_ASPECT_DEPTH_BIT, resolved, [](const fuzz::ModelSample& s) { return s.depth; });
    if (has_stencil(depth.format.format))
      check_aspect(VK_IMAGE_ASPECT_STENCIL_BIT, resolved, [](const fuzz::ModelSample& s) { return static_cast<double>(s.stencil); });
    for (uint32_t k = 0; k < query; k++)
      if (!unknown[k] && queries->values[k] != counted[k])
        fuzz::finding("query " + std::to_string(k) + " counts " + std::to_string(queries->values[k]) + " samples, not " +
                      std::to_string(counted[k]) + story);
  }

  /// False: the core refuses something.
  bool run() {
    choose_device(), choose_images();
    for (uint32_t k = 0, count = 1 + c.below(4); k < count; k++) {
      Expected<Made> made = pipeline();
      if (!made) return false;
      pipelines.push_back(*made);
    }
    auto cb = std::make_shared<CommandBuffer>(device);
    if (!cb->begin() || !cb->reset_query_pool(queries, 0, 8)) return false;
    VkRect2D area{};
    for (uint32_t p = 0, passes = 1 + c.below(2); p < passes; p++) {
      const RenderingInfo info = begin(p == 0);
      area = info.render_area;
      if (!cb->begin_rendering(info)) return false;
      for (uint32_t k = 0, draws = 1 + c.below(plain ? 14 : 8); k < draws; k++) {
        if (c.seldom(6) && !clear(*cb, area)) return false;
        if (!draw(*cb, pipelines[c.below(static_cast<uint32_t>(pipelines.size()))], area)) return false;
      }
      if (!cb->end_rendering()) return false;
    }
    if (!cb->end() || !device->submit_and_wait({{cb}, {}}, {})) return false;
    check(area);
    return true;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  if (size_B > kMost_B || size_B < 16) return -1;
  // Optimised code takes ten times as long to make, and has what quick code never has (pixel packets).
  const bool optimises = fuzz::hash_of(data, size_B) % 8 == 0;
  (void)Scene(fuzz::Choices(data, size_B), optimises ? fuzz::Code::optimised : fuzz::Code::quick).run();
  return 0;
}
