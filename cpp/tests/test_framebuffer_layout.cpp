// test_framebuffer_layout.cpp -- the golden table of tile sizes, Vulkan's operations to the five pieces, folding, and every error.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.hpp"
#include "framebuffer/describe.hpp"
#include "framebuffer/framebuffer.hpp"
#include "tile_io/tile_io.hpp"

using namespace tilegpu;
using namespace tilegpu::framebuffer;
using namespace tilegpu::tile_io;

namespace {

struct Golden {
  const char* profile;
  VkFormat format;
  uint32_t count, samples, width, height;
  bool pipelining_lost;
};

constexpr VkFormat kRgba8 = VK_FORMAT_R8G8B8A8_UNORM, kRgba16f = VK_FORMAT_R16G16B16A16_SFLOAT, kRgba32f = VK_FORMAT_R32G32B32A32_SFLOAT;

// docs/decisions.md, 21, and the thresholds of the article in 29.
constexpr Golden kGolden[] = {
    {"mali-g57", kRgba8, 1, 1, 16, 16, false},
    {"mali-g57", kRgba8, 1, 4, 16, 16, false},
    {"mali-g57", kRgba8, 1, 8, 16, 8, false},
    {"mali-g57", kRgba8, 1, 16, 8, 8, false},
    {"mali-g57", kRgba32f, 1, 1, 16, 16, false},
    {"mali-g57", kRgba32f, 1, 4, 16, 8, false},
    {"mali-g57", kRgba32f, 1, 8, 8, 8, false},
    {"mali-g57", kRgba32f, 1, 16, 8, 4, false},
    {"mali-g57", kRgba8, 4, 1, 16, 16, false},
    {"mali-g57", kRgba8, 4, 4, 16, 8, false},
    {"mali-g57", kRgba8, 4, 8, 8, 8, false},
    {"mali-g57", kRgba8, 4, 16, 8, 4, false},
    {"mali-g57", kRgba32f, 8, 1, 8, 8, false},
    {"mali-g57", kRgba32f, 8, 4, 4, 4, false},
    {"mali-g57", kRgba32f, 8, 8, 4, 4, true},
    {"mali-g57", kRgba32f, 8, 16, 0, 0, false},
    {"mali-g610", kRgba8, 1, 1, 32, 32, false},
    {"mali-g610", kRgba8, 1, 4, 32, 16, false},
    {"mali-g610", kRgba8, 1, 8, 16, 16, false},
    {"mali-g610", kRgba8, 1, 16, 16, 8, false},
    {"mali-g610", kRgba16f, 1, 1, 32, 32, false},
    {"mali-g610", kRgba16f, 1, 4, 32, 16, false},
    {"mali-g610", kRgba16f, 1, 8, 16, 16, false},
    {"mali-g610", kRgba16f, 1, 16, 16, 8, false},
    {"mali-g610", kRgba8, 4, 1, 32, 32, false},
    {"mali-g610", kRgba8, 4, 4, 16, 16, false},
    {"mali-g610", kRgba8, 4, 8, 16, 8, false},
    {"mali-g610", kRgba8, 4, 16, 8, 8, false},
    {"mali-g610", kRgba32f, 8, 1, 16, 8, false},
    {"mali-g610", kRgba32f, 8, 4, 8, 4, false},
    {"mali-g610", kRgba32f, 8, 8, 4, 4, false},
    {"mali-g610", kRgba32f, 8, 16, 4, 4, true},
    {"mali-g720", kRgba8, 1, 1, 64, 64, false},
    {"mali-g720", kRgba8, 1, 4, 32, 32, false},
    {"mali-g720", kRgba8, 1, 8, 32, 16, false},
    {"mali-g720", kRgba8, 1, 16, 16, 16, false},
    {"mali-g720", kRgba16f, 1, 1, 64, 64, false},
    {"mali-g720", kRgba16f, 1, 4, 32, 32, false},
    {"mali-g720", kRgba16f, 1, 8, 32, 16, false},
    {"mali-g720", kRgba16f, 1, 16, 16, 16, false},
    {"mali-g725", kRgba8, 1, 1, 64, 64, false},
    {"mali-g725", kRgba8, 1, 4, 64, 32, false},
    {"mali-g725", kRgba8, 1, 8, 32, 32, false},
    {"mali-g725", kRgba8, 1, 16, 32, 16, false},
    {"mali-g725", kRgba16f, 1, 1, 64, 64, false},
    {"mali-g725", kRgba16f, 1, 4, 32, 32, false},
    {"mali-g725", kRgba16f, 1, 8, 32, 16, false},
    {"mali-g725", kRgba16f, 1, 16, 16, 16, false},
    {"mali-g725", kRgba8, 4, 1, 64, 32, false},
    {"mali-g725", kRgba8, 4, 4, 32, 16, false},
    {"mali-g725", kRgba8, 4, 8, 16, 16, false},
    {"mali-g725", kRgba8, 4, 16, 16, 8, false},
    {"mali-g725", kRgba32f, 8, 1, 16, 16, false},
    {"mali-g725", kRgba32f, 8, 4, 8, 8, false},
    {"mali-g725", kRgba32f, 8, 8, 8, 4, false},
    {"mali-g725", kRgba32f, 8, 16, 4, 4, false},
    {"immortalis-g925", kRgba32f, 1, 1, 64, 64, false},  // 128 bits a pixel
    {"immortalis-g925", kRgba32f, 2, 1, 64, 32, false},  // 256
    {"immortalis-g925", kRgba8, 5, 1, 64, 32, false},    // beyond 128
    {"immortalis-g925", kRgba32f, 3, 1, 32, 32, false},  // beyond 256
};

void tile_sizes_are_golden() {
  for (const Golden& g : kGolden) {
    Layout layout;
    layout.profile = find_profile(g.profile);
    layout.sample_count = g.samples;
    layout.rt_count = g.count;
    for (uint32_t i = 0; i < g.count; ++i) layout.rt_formats[i] = g.format;
    const Status status = choose_tile_size(layout, "golden");
    if (g.width == 0) {
      CHECK(!status, "%s: fits, but must not", g.profile);
      CHECK(!status && status.error().message.find("mali-g57") != std::string::npos, "the error names the profile");
      continue;
    }
    CHECK(bool(status), "%s", g.profile);
    CHECK(layout.tile_width_px == g.width && layout.tile_height_px == g.height && layout.pipelining_lost == g.pipelining_lost,
          "%s %u x format %d, %u samples: %ux%u%s", g.profile, g.count, g.format, g.samples, layout.tile_width_px, layout.tile_height_px,
          layout.pipelining_lost ? " np" : "");
    CHECK(layout.tile_rt_alloc_B % 1024 == 0, "allocation");
  }
}

void tile_bytes_as_the_driver_counts() {
  CHECK(tile_bytes(VK_FORMAT_R8_UNORM) == 4 && tile_bytes(VK_FORMAT_R5G6B5_UNORM_PACK16) == 4 && tile_bytes(VK_FORMAT_R8G8B8A8_SRGB) == 4,
        "blendable");
  CHECK(tile_bytes(VK_FORMAT_R16_SFLOAT) == 2 && tile_bytes(VK_FORMAT_R8_UINT) == 1 && tile_bytes(kRgba32f) == 16 &&
            tile_bytes(VK_FORMAT_R16_UNORM) == 2,
        "raw");
}

Ptr<ImageView> view(VkFormat format, uint32_t samples = 1, uint32_t width = 100, uint32_t height = 60,
                    ImageTiling tiling = ImageTiling::linear, VkImageUsageFlags usage = 0, bool memory = true) {
  ImageCreateInfo info;
  info.format = format;
  info.width_px = width;
  info.height_px = height;
  info.samples = static_cast<VkSampleCountFlagBits>(samples);
  info.tiling = tiling;
  info.usage = usage;
  info.label = "thing";
  auto image = Image::create(info);
  if (!image) std::printf("%s\n", image.error().message.c_str()), std::abort();
  if (memory) (void)(*image)->ensure_memory();
  ImageViewCreateInfo v;
  v.image = *image;
  return *ImageView::create(v);
}

RenderingAttachment attachment(Ptr<ImageView> v, VkAttachmentLoadOp load, VkAttachmentStoreOp store) {
  RenderingAttachment a;
  a.view = std::move(v);
  a.load_op = load;
  a.store_op = store;
  return a;
}

constexpr auto kLoad = VK_ATTACHMENT_LOAD_OP_LOAD, kClear = VK_ATTACHMENT_LOAD_OP_CLEAR, kLoadDontCare = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
               kLoadNone = VK_ATTACHMENT_LOAD_OP_NONE_EXT;
constexpr auto kStore = VK_ATTACHMENT_STORE_OP_STORE, kDontCare = VK_ATTACHMENT_STORE_OP_DONT_CARE, kNone = VK_ATTACHMENT_STORE_OP_NONE;

Framebuffer make(const RenderingInfo& info, const char* profile = "host") {
  auto f = make_framebuffer(info, profile);
  if (!f) {
    CHECK(false, "%s", f.error().message.c_str());
    std::exit(1);
  }
  return *f;
}

void loads_are_mapped() {
  struct Row {
    VkAttachmentLoadOp load;
    VkAttachmentStoreOp store;
    LoadOp in_bounds;
    bool always;
  };
  const Row rows[] = {{kClear, kStore, LoadOp::clear, true},        {kClear, kNone, LoadOp::clear, true},
                      {kLoad, kStore, LoadOp::image, false},        {kLoad, kDontCare, LoadOp::image, false},
                      {kLoadDontCare, kStore, LoadOp::none, false}, {kLoadDontCare, kDontCare, LoadOp::none, false},
                      {kLoadDontCare, kNone, LoadOp::image, false}, {kLoadNone, kNone, LoadOp::image, false},
                      {kLoadNone, kStore, LoadOp::none, false}};
  for (const Row& row : rows) {
    RenderingInfo info;
    info.color.push_back(attachment(view(kRgba8), row.load, row.store));
    const Framebuffer f = make(info);
    const LoadTarget& load = f.load.rts[0];
    CHECK(load.in_bounds == row.in_bounds && load.always == row.always && load.border == LoadOp::none, "load %d store %d", row.load,
          row.store);
    CHECK((load.view != nullptr) == (row.in_bounds == LoadOp::image), "view only for images");
    CHECK(f.store.rts[0].store == (row.store == kStore) && !f.store.rts[0].always && f.store.rts[0].msaa == MsaaCopy::all, "store");
    CHECK(f.spill_load.rts[0].in_bounds == LoadOp::image && f.spill_store.rts[0].store && !f.spill_store.rts[0].always,
          "spills always go to the bound view");
    CHECK(f.spill_store.rts[0].view == info.color[0].view, "spill view");
  }
}

void resolves_are_mapped_and_folded() {
  RenderingInfo info;
  info.color.push_back(attachment(view(kRgba8, 4), kClear, kDontCare));
  info.color[0].resolve_mode = VK_RESOLVE_MODE_AVERAGE_BIT;
  info.color[0].resolve_view = view(kRgba8);
  Framebuffer f = make(info);
  CHECK(!f.store.rts[0].store, "samples never leave the tile");
  CHECK(f.store.resolved_rts[0].store && f.store.resolved_rts[0].always && f.store.resolved_rts[0].msaa == MsaaCopy::average,
        "folded into the store");
  CHECK(f.resolve.rts[0].in_bounds.op == ResolveOp::none && f.resolve.rts[0].border.op == ResolveOp::none, "nothing left to resolve");
  info.color[0].store_op = kStore;
  f = make(info);
  CHECK(f.store.rts[0].store && f.store.rts[0].msaa == MsaaCopy::all && f.store.resolved_rts[0].msaa == MsaaCopy::average,
        "both in one go");

  // A block-compressed resolve image and an unaligned area: the border comes from the resolve image.
  info.color[0].resolve_view = view(kRgba8, 1, 100, 60, ImageTiling::block_compressed);
  info.render_area = {{3, 5}, {40, 20}};
  info.color[0].store_op = kDontCare;
  f = make(info);
  CHECK(f.layout.tiling_area_px == (Box{0, 0, 47, 31}), "tiling area %d..%d %d..%d", f.layout.tiling_area_px.min_x,
        f.layout.tiling_area_px.max_x, f.layout.tiling_area_px.min_y, f.layout.tiling_area_px.max_y);
  CHECK(f.resolve.rts[0].border.op == ResolveOp::image && f.resolve.rts[0].in_bounds.op == ResolveOp::none &&
            f.store.resolved_rts[0].msaa == MsaaCopy::average,
        "inside folds, the border is read");
  info.color[0].store_op = kStore;
  f = make(info);
  CHECK(f.resolve.rts[0].own_plane && f.resolve.rts[0].in_bounds.op == ResolveOp::rt0 &&
            f.store.resolved_rts[0].msaa == MsaaCopy::sample_zero,
        "the samples survive in a plane apart");
  CHECK(make_host_tile(f, 32, 1 << 19).resolved_color[0].words == 1, "plane");
  info.render_area = {{0, 0}, {100, 60}};
  f = make(info);
  CHECK(!f.layout.has_border() && f.layout.fully_covered(), "the whole image has no border");
}

void fold_rules() {
  struct Row {
    ResolveSide in_bounds, border;
    bool has_border, folds;
    MsaaCopy store;
  };
  const ResolveSide own_average = {ResolveOp::rt2, MsaaCopy::average}, own_zero = {ResolveOp::rt2, MsaaCopy::sample_zero},
                    own_same = {ResolveOp::rt2, MsaaCopy::identical}, other = {ResolveOp::rt1, MsaaCopy::average},
                    image = {ResolveOp::image, MsaaCopy::single}, image_all = {ResolveOp::image, MsaaCopy::all};
  const Row rows[] = {{own_average, {}, false, true, MsaaCopy::average},
                      {own_average, own_average, true, true, MsaaCopy::average},
                      {own_average, own_zero, true, false, MsaaCopy::sample_zero},
                      {own_average, own_same, true, true, MsaaCopy::average},
                      {own_same, own_average, true, true, MsaaCopy::average},
                      {own_same, own_same, true, true, MsaaCopy::sample_zero},
                      {other, {}, false, false, MsaaCopy::sample_zero},
                      {image, image, true, false, MsaaCopy::sample_zero},
                      {own_average, image, true, false, MsaaCopy::average},
                      {own_average, image_all, true, false, MsaaCopy::average}};
  int index = 0;
  for (const Row& row : rows) {
    ResolveTarget resolve;
    resolve.in_bounds = row.in_bounds;
    resolve.border = row.border;
    StoreTarget store;
    store.store = true;
    store.msaa = MsaaCopy::sample_zero;
    const bool done = fold_resolve(resolve, store, ResolveOp::rt2, true, true, 4, row.has_border);
    CHECK(done == row.folds && store.msaa == row.store, "row %d: folded %d, store %d", index, done, static_cast<int>(store.msaa));
    if (row.in_bounds.op == ResolveOp::rt2 && row.border.op == ResolveOp::image)
      CHECK(resolve.in_bounds.op == ResolveOp::none && resolve.border.op == ResolveOp::image, "row %d", index);
    ++index;
  }
  ResolveTarget resolve;
  resolve.in_bounds = own_average;
  StoreTarget store;
  store.store = true;
  store.msaa = MsaaCopy::sample_zero;
  CHECK(!fold_resolve(resolve, store, ResolveOp::rt2, true, true, 1, false), "one sample has nothing to fold");
  CHECK(!fold_resolve(resolve, store, ResolveOp::rt2, true, false, 4, false) && resolve.in_bounds.op == ResolveOp::rt2,
        "a format that the store cannot average");
}

void borders_only_for_blocks() {
  RenderingInfo info;
  info.color.push_back(attachment(view(kRgba8), kClear, kStore));
  info.color.push_back(attachment(view(kRgba8, 1, 100, 60, ImageTiling::block_compressed), kClear, kStore));
  info.render_area = {{17, 1}, {20, 20}};
  const Framebuffer f = make(info);
  CHECK(f.layout.tiling_area_px == (Box{16, 0, 47, 31}), "aligned to 16x16");
  CHECK(f.load.rts[0].border == LoadOp::none && f.load.rts[1].border == LoadOp::image && f.load.rts[1].in_bounds == LoadOp::clear,
        "clear inside, load the border, of blocks only");
  info.render_area = {{90, 50}, {10, 10}};
  CHECK(make(info).layout.tiling_area_px == (Box{80, 48, 99, 59}), "cut with the framebuffer");
}

void descriptor_info() {
  RenderingInfo info;
  info.color.push_back(attachment(view(kRgba8, 4), kClear, kStore));
  info.depth = attachment(view(VK_FORMAT_D32_SFLOAT, 4), kClear, kDontCare);
  CHECK(make(info, "mali-g725").desc.allow_hsr_prepass == false, "G725, RGBA8 at 4 samples loses the pre-pass: the test is strictly less");
  RenderingInfo single;
  single.color.push_back(attachment(view(kRgba8), kClear, kStore));
  single.depth = attachment(view(VK_FORMAT_D32_SFLOAT), kClear, kDontCare);
  CHECK(make(single, "mali-g725").desc.allow_hsr_prepass, "one sample has room");
  CHECK(!make(single, "mali-g610").desc.allow_hsr_prepass, "profile");
  CHECK(make(info, "immortalis-g925").desc.allow_hsr_prepass, "Arm's article names no limit");
  CHECK(make(info).desc.sample_positions[1].x == 14, "standard locations");
}

void expect_error(const RenderingInfo& info, const std::string& words, const char* profile = "host") {
  const auto f = make_framebuffer(info, profile);
  CHECK(!f, "no error, expected '%s'", words.c_str());
  if (!f) CHECK(f.error().message.find(words) != std::string::npos, "'%s' does not say '%s'", f.error().message.c_str(), words.c_str());
}

void errors_are_clear() {
  const auto one = [](RenderingAttachment a) {
    RenderingInfo info;
    info.label = "main";
    info.color.push_back(std::move(a));
    return info;
  };
  expect_error(one(attachment(view(VK_FORMAT_D32_SFLOAT), kClear, kStore)), "a colour view");
  expect_error(one(attachment(view(VK_FORMAT_E5B9G9R9_UFLOAT_PACK32), kClear, kStore)), "can be rendered to");
  RenderingInfo info = one(attachment(view(kRgba8, 4), kClear, kStore));
  info.depth = attachment(view(VK_FORMAT_D32_SFLOAT, 2), kClear, kStore);
  expect_error(info, "4 as color0 has");
  info = one(attachment(view(kRgba8, 4), kClear, kStore));
  info.color[0].resolve_mode = VK_RESOLVE_MODE_AVERAGE_BIT;
  expect_error(info, "resolve_view is null");
  info.color[0].resolve_view = view(VK_FORMAT_R8G8B8A8_SRGB);
  expect_error(info, "resolve_view.format is r8g8b8a8_srgb, allowed is r8g8b8a8_unorm");
  info.color[0].resolve_view = view(kRgba8, 4);
  expect_error(info, "resolve_view.samples is 4");
  info.color[0].view = view(kRgba8);
  expect_error(info, "color0.samples is 1");
  info = one(attachment(view(VK_FORMAT_R32_UINT, 4), kClear, kStore));
  info.color[0].resolve_mode = VK_RESOLVE_MODE_AVERAGE_BIT;
  info.color[0].resolve_view = view(VK_FORMAT_R32_UINT);
  expect_error(info, "integers have no average");
  info = one(attachment(view(kRgba8), kClear, kStore));
  info.color.push_back(info.color[0]);
  expect_error(info, "color1 and color0 are the same part of image 'thing'");
  info = one(attachment(view(kRgba8), kClear, kStore));
  info.render_area = {{90, 0}, {20, 10}};
  expect_error(info, "within the framebuffer of 100x60 px");
  info.render_area = {{-1, 0}, {20, 10}};
  expect_error(info, "pass 'main': render_area");
  info.render_area = {{2147483647, 0}, {4294967295u, 10}};
  expect_error(info, "render_area");
  info.render_area = {};
  info.layer_count = 2;
  expect_error(info, "view.layer_count is 1");
  info.layer_count = 0;
  expect_error(info, "layer_count is 0");
  expect_error(one(attachment(view(kRgba8, 1, 100, 60, ImageTiling::linear, 0, false), kClear, kStore)), "has no memory");
  expect_error(one(attachment(view(kRgba8, 1, 100, 60, ImageTiling::linear, VK_IMAGE_USAGE_SAMPLED_BIT), kClear, kStore)),
               "color_attachment");
  expect_error(one(attachment(view(kRgba8), static_cast<VkAttachmentLoadOp>(77), kStore)), "load_op is 77");
  expect_error(one(attachment(view(kRgba8), kClear, static_cast<VkAttachmentStoreOp>(77))), "store_op is 77");
  expect_error(one(attachment(view(kRgba8), kClear, kStore)), "profile is 'nothing'", "nothing");
  info = RenderingInfo{};
  expect_error(info, "set render_area");
  info.color.resize(9);
  expect_error(info, "at most 8");
  info = RenderingInfo{};
  info.stencil = attachment(view(VK_FORMAT_D32_SFLOAT), kClear, kStore);
  expect_error(info, "a view with stencil");
  info = one(attachment(view(kRgba8, 2), kClear, kStore));
  info.single_sampled_samples = 4;
  expect_error(info, "single_sampled_samples is 4");
  info.single_sampled_samples = 3;
  expect_error(info, "single_sampled_samples is 3");
  RenderingInfo fat;
  for (int i = 0; i < 8; ++i) fat.color.push_back(attachment(view(kRgba32f, 16), kClear, kStore));
  expect_error(fat, "profile mali-g57", "mali-g57");
  CHECK(make(fat).layout.sample_count == 16, "the host holds it");
}

void transient_images_get_memory_only_for_spills() {
  RenderingInfo info;
  const VkImageUsageFlags usage = VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  info.color.push_back(attachment(view(kRgba8, 4, 100, 60, ImageTiling::linear, usage, false), kClear, kDontCare));
  info.color[0].resolve_mode = VK_RESOLVE_MODE_AVERAGE_BIT;
  info.color[0].resolve_view = view(kRgba8);
  const Framebuffer f = make(info);
  CHECK(info.color[0].view->image()->data() == nullptr, "none yet");
  CHECK(bool(ensure_spill_memory(f)) && info.color[0].view->image()->data() != nullptr, "the spill needs it");
}

void contents_are_marked() {
  RenderingInfo info;
  info.color.push_back(attachment(view(kRgba8, 4), kClear, kDontCare));
  info.color[0].resolve_mode = VK_RESOLVE_MODE_AVERAGE_BIT;
  info.color[0].resolve_view = view(kRgba8);
  info.depth = attachment(view(VK_FORMAT_D24_UNORM_S8_UINT, 4), kClear, kStore);
  const Framebuffer f = make(info);
  end_contents(f, 0, "main", begin_contents(f).get());
  const std::string why = info.color[0].view->image()->why_undefined(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
  CHECK(why.find("pass 'main' was dont_care") != std::string::npos, "reason: %s", why.c_str());
  CHECK(info.color[0].resolve_view->image()->is_defined(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0), "resolved");
  CHECK(info.depth.view->image()->is_defined(VK_IMAGE_ASPECT_DEPTH_BIT, 0, 0), "depth");
  CHECK(!info.depth.view->image()->is_defined(VK_IMAGE_ASPECT_STENCIL_BIT, 0, 0), "depth only");
}

void clean_tiles() {
  RenderingInfo info;
  info.color.push_back(attachment(view(kRgba8), kLoad, kStore));
  info.depth = attachment(view(VK_FORMAT_D32_SFLOAT), kClear, kDontCare);
  const TileRegion empty{0, 0, 0, false};
  CHECK(tile_is_clean(make(info), empty), "a clear of what is not stored asks for nothing");
  info.depth.store_op = kStore;
  CHECK(!tile_is_clean(make(info), empty), "a stored clear does");
  info.depth.load_op = kLoad;
  CHECK(tile_is_clean(make(info), empty) && !tile_is_clean(make(info), {0, 0, 0, true}), "loads alone do not; primitives do");
}

// Counts of a GPU without tiles know neither the device's option nor this machine's caches.
void bins_without_tiles() {
  RenderingInfo info;
  info.color.push_back(attachment(view(kRgba8), kClear, kStore));
  const Framebuffer desktop = make(info, "desktop-immediate"), host = make(info);
  for (uint32_t forced_bin_px : {0u, 32u, 128u})
    for (uint32_t l2_B : {1u << 16, 1u << 21}) {
      CHECK(make_host_tile(desktop, forced_bin_px, l2_B).bin_px == 64, "%u px, L2 of %u B", forced_bin_px, l2_B);
      if (forced_bin_px) CHECK(make_host_tile(host, forced_bin_px, l2_B).bin_px == forced_bin_px, "%u px", forced_bin_px);
    }
}

// Nothing is loaded and stored in memory; that no GMEM holds the attachments is said all the same, with tiles that less would have.
void lint_in_memory() {
  RenderingInfo info;
  for (int k = 0; k < 8; k++) info.color.push_back(attachment(view(kRgba32f, 8), kClear, kStore));
  info.depth = attachment(view(VK_FORMAT_D32_SFLOAT, 8), kLoad, kStore);
  const Framebuffer large = make(info, "adreno-a650");
  PassStats stats;
  stats.rendered_in_sysmem = 1;
  const std::vector<std::string> lines = lint(large, stats, 1u << 8);
  CHECK(lines.size() == 1 && lines[0].find("do not fit") != std::string::npos, "%zu lines", lines.size());
  CHECK(lines[0].ends_with("one sample a pixel gives 96x64 px, colour formats of 4 bytes a sample give 96x32 px, both 192x64 px"), "%s",
        lines[0].c_str());
  info.color.resize(1);
  const Framebuffer small = make(info, "adreno-a650");
  CHECK(lint(small, stats, 1u << 8).empty(), "sysmem");
  stats.rendered_in_sysmem = 0;
  CHECK(lint(small, stats, 1u << 8).size() == 3, "GMEM: samples, depth that is stored, depth that is cleared");
}

}  // namespace

int main() {
  lint_in_memory();
  tile_sizes_are_golden();
  tile_bytes_as_the_driver_counts();
  loads_are_mapped();
  resolves_are_mapped_and_folded();
  bins_without_tiles();
  fold_rules();
  borders_only_for_blocks();
  descriptor_info();
  errors_are_clear();
  transient_images_get_memory_only_for_spills();
  contents_are_marked();
  clean_tiles();
  return test::finish("test_framebuffer_layout");
}
