// test_framebuffer_resolve.cpp -- the resolve piece as it is, beyond what Vulkan's operations ask for: a parallel copy from any render
// target, depth or stencil to any other, inside and in the border, and views of load, store and resolve that all differ.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "framebuffer/framebuffer.hpp"
#include "resource/texel_rows.hpp"
#include "tile_io/tile_io.hpp"
#include "tile_io/tile_resolve.hpp"

using namespace tilegpu;
namespace fb = tilegpu::framebuffer;

namespace {

constexpr uint32_t kWidth = 70, kHeight = 45;
constexpr uint32_t kCount = 5;  // three colours, depth, stencil
constexpr VkFormat kFormats[kCount] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_SFLOAT, VK_FORMAT_R8_UINT, VK_FORMAT_D32_SFLOAT,
                                       VK_FORMAT_S8_UINT};
constexpr VkImageAspectFlagBits kAspects[kCount] = {VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_COLOR_BIT,
                                                    VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT};
constexpr fb::ResolveOp kOps[kCount] = {fb::ResolveOp::rt0, fb::ResolveOp::rt1, fb::ResolveOp::rt2, fb::ResolveOp::z, fb::ResolveOp::s};

using Random = std::mt19937;
using Words = std::vector<uint32_t>;  // of sample s, pixel (x, y): [(s * kHeight + y) * kWidth + x]

template <class T>
T must(Expected<T> value) {
  if (!value) {
    std::printf("%s\n", value.error().message.c_str());
    std::exit(1);
  }
  return *value;
}

Ptr<ImageView> make_view(uint32_t target, uint32_t samples, bool blocks) {
  ImageCreateInfo info;
  info.format = kFormats[target];
  info.width_px = kWidth;
  info.height_px = kHeight;
  info.samples = static_cast<VkSampleCountFlagBits>(samples);
  info.tiling = blocks ? ImageTiling::block_compressed : ImageTiling::linear;
  const Ptr<Image> image = must(Image::create(info));
  must(image->ensure_memory());
  ImageViewCreateInfo view;
  view.image = image;
  return must(ImageView::create(view));
}

/// Values that lie between 0 and 1 exactly in every float format here; numbers 0 to 15 where whole ones are meant.
uint32_t random_word(uint32_t target, Random& random) {
  const uint32_t n = static_cast<uint32_t>(random()) % 16;
  if (target == 0) return static_cast<uint32_t>(random());
  if (target == 1 || target == 3) return std::bit_cast<uint32_t>(static_cast<float>(n) / 16.0f);
  return n;
}

Words fill(const ImageView& view, uint32_t target, Random& random) {
  Words words;
  for (uint32_t s = 0; s < view.image()->sample_count(); ++s) {
    resource::TexelRows t = resource::open_texels(*view.image(), kAspects[target], 0, 0, s);
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        words.push_back(random_word(target, random));
        std::memcpy(t.rows.at(x, y), &words.back(), t.rows.texel_B);
      }
    }
    resource::close_texels(t);
  }
  return words;
}

Words read(const ImageView& view, uint32_t target) {
  Words words;
  for (uint32_t s = 0; s < view.image()->sample_count(); ++s) {
    const resource::TexelRows t = resource::open_texels(*view.image(), kAspects[target], 0, 0, s);
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        words.push_back(0);
        std::memcpy(&words.back(), t.rows.at(x, y), t.rows.texel_B);
      }
    }
  }
  return words;
}

/// One pixel's value of one target as another stores it.
uint32_t convert(uint32_t from, uint32_t to, uint32_t word) {
  if (kFormats[from] == kFormats[to]) return word;
  vk::Texel texel{};
  if (from == 0) {
    texel = vk::unpack_texel(*vk::find_format(kFormats[0]), reinterpret_cast<const uint8_t*>(&word));
  } else if (from == 1) {
    texel.f[0] = std::bit_cast<float>(word), texel.f[3] = 1;
  } else {
    texel.u[0] = word;  // depth too: its bits
  }
  if (to == 1 || to == 3) return texel.u[0];
  if (to == 0) {
    uint32_t out = 0;
    vk::pack_texel(*vk::find_format(kFormats[0]), texel, reinterpret_cast<uint8_t*>(&out));
    return out;
  }
  return texel.u[0] & 0xff;
}

/// Floats go to floats and whole numbers to whole numbers.
bool same_kind(uint32_t a, uint32_t b) {
  const auto whole = [](uint32_t t) { return t == 2 || t == 4; };
  return whole(a) == whole(b);
}

/// The greater of two words of a kind: the first has four bytes, the others are ordered as their values are.
uint32_t most_of(uint32_t kind, uint32_t a, uint32_t b) {
  if (kind != 0) return std::max(a, b);
  uint32_t most = 0;
  for (uint32_t c = 0; c < 32; c += 8) most |= std::max(a >> c & 255, b >> c & 255) << c;
  return most;
}

void run(uint32_t seed) {
  Random random(seed);
  const uint32_t samples = random() % 2 ? 4 : 1;
  const bool border = random() % 2;
  RenderingInfo info;
  info.color.resize(3);
  info.label = "parallel copy";
  Ptr<ImageView> loads[kCount], stores[kCount], images[kCount];
  Words tile_words[kCount], before[kCount], resolve_words[kCount];
  for (uint32_t i = 0; i < kCount; ++i) {
    loads[i] = make_view(i, samples, false);
    stores[i] = make_view(i, samples, border);  // another image than that which is loaded
    images[i] = make_view(i, 1, false);
    tile_words[i] = fill(*loads[i], i, random);
    before[i] = fill(*stores[i], i, random);
    resolve_words[i] = fill(*images[i], i, random);
    RenderingAttachment& a = i < 3 ? info.color[i] : i == 3 ? info.depth : info.stencil;
    a.view = stores[i];
  }
  const VkRect2D area = border ? VkRect2D{{9, 5}, {40, 31}} : VkRect2D{{0, 0}, {kWidth, kHeight}};
  info.render_area = area;
  fb::Framebuffer f = must(fb::make_framebuffer(info, "host"));
  // From here on the pieces themselves.
  const auto side = [&](uint32_t to) -> fb::ResolveSide {
    for (;;) {
      const uint32_t from = static_cast<uint32_t>(random()) % (kCount + 2);
      if (from == kCount) return {};
      if (from == kCount + 1) return {fb::ResolveOp::image, fb::MsaaCopy::single};
      if (!same_kind(from, to)) continue;
      return {kOps[from], random() % 2 ? fb::MsaaCopy::max : fb::MsaaCopy::sample_zero};
    }
  };
  for (uint32_t i = 0; i < kCount; ++i) {
    fb::LoadTarget& load = i < 3 ? f.load.rts[i] : i == 3 ? f.load.z : f.load.s;
    fb::StoreTarget& store = i < 3 ? f.store.rts[i] : i == 3 ? f.store.z : f.store.s;
    fb::ResolveTarget& resolve = i < 3 ? f.resolve.rts[i] : i == 3 ? f.resolve.z : f.resolve.s;
    load.in_bounds = load.border = fb::LoadOp::image;
    load.view = loads[i];
    store.always = true;
    resolve = {side(i), border ? side(i) : fb::ResolveSide{}, images[i], false};
  }

  const uint32_t bin_px = random() % 2 ? 32 : 64;
  const tile_io::HostTile tile = tile_io::make_host_tile(f, bin_px, 512 * 1024);
  auto* memory = static_cast<uint8_t*>(std::aligned_alloc(64, (tile.size_B + 63) & ~63u));
  stats::Ledger ledger;
  for (uint32_t y = 0; y < kHeight; y += bin_px) {
    for (uint32_t x = 0; x < kWidth; x += bin_px) {
      const tile_io::TileRegion region{static_cast<int32_t>(x), static_cast<int32_t>(y), 0, random() % 2 != 0};
      tile_io::load_tile(f, tile, region, memory, ledger);
      tile_io::resolve_tile(f, tile, region, memory, ledger);
      tile_io::store_tile(f, tile, region, memory, ledger);
    }
  }
  std::free(memory);

  // The model: all reads, then all writes.
  Words want[kCount];
  const auto at = [](uint32_t s, uint32_t x, uint32_t y) { return (static_cast<size_t>(s) * kHeight + y) * kWidth + x; };
  for (uint32_t i = 0; i < kCount; ++i) {
    want[i] = before[i];
    const fb::ResolveTarget& resolve = i < 3 ? f.resolve.rts[i] : i == 3 ? f.resolve.z : f.resolve.s;
    const fb::Box tiling = f.layout.tiling_area_px, inside = f.layout.render_area_px;
    for (int32_t y = tiling.min_y; y <= tiling.max_y; ++y) {
      for (int32_t x = tiling.min_x; x <= tiling.max_x; ++x) {
        const bool in = x >= inside.min_x && x <= inside.max_x && y >= inside.min_y && y <= inside.max_y;
        const fb::ResolveSide& s = in ? resolve.in_bounds : resolve.border;
        const auto px = static_cast<uint32_t>(x), py = static_cast<uint32_t>(y);
        for (uint32_t k = 0; k < samples; ++k) {
          uint32_t& out = want[i][at(k, px, py)];
          if (s.op == fb::ResolveOp::none) {
            out = tile_words[i][at(k, px, py)];
          } else if (s.op == fb::ResolveOp::image) {
            out = resolve_words[i][at(0, px, py)];
          } else {
            uint32_t from = 0;
            while (kOps[from] != s.op) ++from;
            uint32_t word = tile_words[from][at(0, px, py)];
            for (uint32_t j = 1; s.msaa == fb::MsaaCopy::max && j < samples; ++j)
              word = most_of(from, word, tile_words[from][at(j, px, py)]);
            out = convert(from, i, word);
          }
        }
      }
    }
    if (!CHECK_MESSAGE(read(*stores[i], i) == want[i], "seed " + std::to_string(seed) + ", target " + std::to_string(i) +
                                                           (border ? ", border" : "") + ", samples " + std::to_string(samples)))
      return;
    CHECK(read(*loads[i], i) == tile_words[i]);
    CHECK(read(*images[i], i) == resolve_words[i]);
  }
}

}  // namespace

int main() {
  for (uint32_t seed = 0; seed < 120; ++seed) run(seed);
  return test::finish("test_framebuffer_resolve");
}
