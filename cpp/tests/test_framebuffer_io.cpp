// test_framebuffer_io.cpp -- random passes through load, clear, resolve and store of tiles against a naive model of whole images:
// any format, sample count, render area, tiling, operation, resolve, bin size, split, layer.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/simd.hpp"
#include "check.hpp"
#include "framebuffer/framebuffer.hpp"
#include "resource/texel_rows.hpp"
#include "tile_io/tile_io.hpp"
#include "tile_io/tile_resolve.hpp"

using namespace tilegpu;
namespace fb = tilegpu::framebuffer;

namespace {

using Random = std::mt19937;

using Words = std::array<uint32_t, 4>;  // a sample's value as tile memory holds it

/// One aspect of an image, every sample of every texel of level 0, as tile words.
struct Plane {
  uint32_t width = 0, height = 0, layers = 0, samples = 0;
  std::vector<Words> values;
  std::vector<uint8_t> undefined;
  size_t index(uint32_t layer, uint32_t s, uint32_t x, uint32_t y) const {
    return ((static_cast<size_t>(layer) * samples + s) * height + y) * width + x;
  }
};

Plane snapshot(const Image& image, VkImageAspectFlagBits aspect) {
  const resource::AspectField field = resource::aspect_field(*vk::find_format(image.info().format), aspect);
  Plane p{image.info().width_px, image.info().height_px, image.info().array_layers, image.sample_count(), {}, {}};
  p.values.resize(static_cast<size_t>(p.width) * p.height * p.layers * p.samples);
  p.undefined.resize(p.values.size());
  for (uint32_t layer = 0; layer < p.layers; ++layer) {
    for (uint32_t s = 0; s < p.samples; ++s) {
      const resource::TexelRows t = resource::open_texels(image, aspect, 0, layer, s);
      for (uint32_t y = 0; y < p.height; ++y) {
        for (uint32_t x = 0; x < p.width; ++x) {
          Words w{};
          std::memcpy(w.data(), t.rows.at(x, y), t.rows.texel_B);
          if (field.mask) w[0] = (w[0] & field.mask) >> field.shift;
          p.values[p.index(layer, s, x, y)] = w;
        }
      }
    }
  }
  return p;
}

/// A value that the format can hold, without NaN.
Words random_value(const vk::FormatInfo& format, VkImageAspectFlagBits aspect, Random& random) {
  Words w{};
  if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
    w[0] = random() & 255;
  } else if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT) {
    w[0] = format.depth_bits == 32 ? std::bit_cast<uint32_t>(static_cast<float>(random() % 4096) / 4096.0f)
                                   : random() & ((1u << format.depth_bits) - 1);
  } else if (format.is_integer()) {
    uint8_t bytes[16];
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
    std::memcpy(w.data(), bytes, format.texel_B);
  } else {
    vk::Texel t;
    for (float& f : t.f) f = static_cast<float>(static_cast<int>(random() % 3000) - 1000) / 1024.0f;
    if (format.numeric == vk::Numeric::sfloat && random() % 8 == 0) t.f[0] = 1000.0f * static_cast<float>(random() % 50);
    vk::pack_texel(format, t, reinterpret_cast<uint8_t*>(w.data()));
  }
  return w;
}

void fill_random(Image& image, Random& random) {
  const vk::FormatInfo& format = *vk::find_format(image.info().format);
  for (VkImageAspectFlagBits aspect : {VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT}) {
    if (!(resource::format_aspects(format) & aspect)) continue;
    const resource::AspectField field = resource::aspect_field(format, aspect);
    for (uint32_t layer = 0; layer < image.info().array_layers; ++layer) {
      for (uint32_t s = 0; s < image.sample_count(); ++s) {
        resource::TexelRows t = resource::open_texels(image, aspect, 0, layer, s);
        Words calm = random_value(format, aspect, random);
        for (uint32_t y = 0; y < t.rows.texel_blocks_y; ++y) {
          for (uint32_t x = 0; x < t.rows.texel_blocks_x; ++x) {
            // Patches of one value give the compressor solid superblocks.
            const Words w = (x / 24 + y / 24) % 2 ? calm : random_value(format, aspect, random);
            uint32_t word = 0;
            if (field.mask) {
              std::memcpy(&word, t.rows.at(x, y), 4);
              word = (word & ~field.mask) | (w[0] << field.shift);
              std::memcpy(t.rows.at(x, y), &word, 4);
            } else {
              std::memcpy(t.rows.at(x, y), w.data(), t.rows.texel_B);
            }
          }
        }
        resource::close_texels(t);
      }
    }
  }
}

/// Samples to one, by the definition, one component at a time.
Words naive_reduce(const vk::FormatInfo& format, VkImageAspectFlagBits aspect, VkResolveModeFlagBits mode,
                   const std::vector<Words>& samples) {
  const size_t n = samples.size();
  if (mode == VK_RESOLVE_MODE_SAMPLE_ZERO_BIT) return samples[0];
  const auto pick = [&](auto value_of) {  // the extreme by a key
    size_t best = 0;
    for (size_t s = 1; s < n; ++s) {
      if (mode == VK_RESOLVE_MODE_MAX_BIT ? value_of(s) > value_of(best) : value_of(s) < value_of(best)) best = s;
    }
    return best;
  };
  const auto rounded = [&](int64_t sum) {  // sum / n to nearest even
    const auto count = static_cast<int64_t>(n);
    int64_t q = sum >= 0 ? sum / count : -((-sum + count - 1) / count);
    const int64_t rest = sum - q * count;
    if (2 * rest > count || (2 * rest == count && q % 2 != 0)) ++q;
    return q;
  };
  if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) return samples[pick([&](size_t s) { return samples[s][0]; })];
  if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT) {
    if (mode != VK_RESOLVE_MODE_AVERAGE_BIT) {
      return samples[pick(
          [&](size_t s) { return format.depth_bits == 32 ? static_cast<double>(std::bit_cast<float>(samples[s][0])) : samples[s][0]; })];
    }
    Words out{};
    if (format.depth_bits == 32) {
      double sum = 0;
      for (const Words& w : samples) sum += std::bit_cast<float>(w[0]);
      out[0] = std::bit_cast<uint32_t>(static_cast<float>(sum / static_cast<double>(n)));
    } else {
      int64_t sum = 0;
      for (const Words& w : samples) sum += w[0];
      out[0] = static_cast<uint32_t>(rounded(sum));
    }
    return out;
  }
  Words out{};
  for (int c = 0; c < 4; ++c) {
    const vk::Component component = format.rgba[c];
    if (!component.bits) continue;
    const auto raw = [&](size_t s) {
      return samples[s][component.shift / 32] >> (component.shift % 32) & (component.bits == 32 ? ~0u : (1u << component.bits) - 1);
    };
    const auto as_signed = [&](size_t s) { return static_cast<int32_t>(raw(s) << (32 - component.bits)) >> (32 - component.bits); };
    const auto real = [&](size_t s) { return vk::unpack_texel(format, reinterpret_cast<const uint8_t*>(samples[s].data())).f[c]; };
    uint32_t code = 0;
    const bool equal = std::all_of(samples.begin(), samples.end(), [&](const Words& w) { return w == samples[0]; });
    if (mode != VK_RESOLVE_MODE_AVERAGE_BIT) {
      code = raw(pick([&](size_t s) -> double {
        if (format.numeric == vk::Numeric::uint) return raw(s);
        return format.numeric == vk::Numeric::sint ? as_signed(s) : static_cast<double>(real(s));
      }));
    } else if (equal) {
      code = raw(0);
    } else if (format.numeric == vk::Numeric::unorm || (format.numeric == vk::Numeric::srgb && c == 3)) {
      int64_t sum = 0;
      for (size_t s = 0; s < n; ++s) sum += raw(s);
      code = static_cast<uint32_t>(rounded(sum));
    } else if (format.numeric == vk::Numeric::snorm) {
      int64_t sum = 0;
      for (size_t s = 0; s < n; ++s) sum += std::max(as_signed(s), -((1 << (component.bits - 1)) - 1));
      code = static_cast<uint32_t>(rounded(sum));
    } else {
      std::vector<double> tree;
      for (size_t s = 0; s < n; ++s) tree.push_back(real(s));
      const bool wide = component.bits == 32;
      while (tree.size() > 1) {
        for (size_t i = 0; i < tree.size() / 2; ++i) {
          tree[i] = tree[2 * i] + tree[2 * i + 1];
          if (!wide) tree[i] = static_cast<float>(tree[i]);
        }
        tree.resize(tree.size() / 2);
      }
      vk::Texel t{};
      t.f[c] = static_cast<float>(tree[0] / static_cast<double>(n));
      Words packed{};
      vk::pack_texel(format, t, reinterpret_cast<uint8_t*>(packed.data()));
      code = packed[component.shift / 32] >> (component.shift % 32) & (component.bits == 32 ? ~0u : (1u << component.bits) - 1);
    }
    out[component.shift / 32] |= (component.bits == 32 ? code : code & ((1u << component.bits) - 1)) << (component.shift % 32);
  }
  return out;
}

constexpr VkFormat kColors[] = {VK_FORMAT_R8G8B8A8_UNORM,
                                VK_FORMAT_R8G8B8A8_SRGB,
                                VK_FORMAT_B8G8R8A8_UNORM,
                                VK_FORMAT_R8_UNORM,
                                VK_FORMAT_R8G8_UNORM,
                                VK_FORMAT_R16_SFLOAT,
                                VK_FORMAT_R16G16B16A16_SFLOAT,
                                VK_FORMAT_R32G32B32A32_SFLOAT,
                                VK_FORMAT_R32_UINT,
                                VK_FORMAT_R16G16B16A16_SINT,
                                VK_FORMAT_R5G6B5_UNORM_PACK16,
                                VK_FORMAT_A2B10G10R10_UNORM_PACK32,
                                VK_FORMAT_B10G11R11_UFLOAT_PACK32,
                                VK_FORMAT_R8G8B8A8_SNORM,
                                VK_FORMAT_R16G16_UNORM,
                                VK_FORMAT_R16G16B16A16_SNORM,
                                VK_FORMAT_R8G8B8A8_UINT,
                                VK_FORMAT_R32G32_SFLOAT,
                                VK_FORMAT_R5G5B5A1_UNORM_PACK16,
                                VK_FORMAT_R8_SRGB,
                                VK_FORMAT_R32G32B32A32_SINT,
                                VK_FORMAT_R8_SINT};
constexpr VkFormat kDepths[] = {VK_FORMAT_D16_UNORM,  VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D24_UNORM_S8_UINT,
                                VK_FORMAT_D32_SFLOAT, VK_FORMAT_D32_SFLOAT_S8_UINT,  VK_FORMAT_S8_UINT};

template <class T>
T must(Expected<T> value, const char* what) {
  if (!value) {
    std::printf("%s: %s\n", what, value.error().message.c_str());
    std::exit(1);
  }
  return *value;
}

Ptr<ImageView> make_view(VkFormat format, uint32_t width, uint32_t height, uint32_t layers, uint32_t samples, bool blocks, bool bound,
                         Random& random) {
  ImageCreateInfo info;
  info.format = format;
  info.width_px = width + random() % 9;
  info.height_px = height + random() % 9;
  info.array_layers = layers + random() % 2;
  info.samples = static_cast<VkSampleCountFlagBits>(samples);
  info.tiling = blocks ? ImageTiling::block_compressed : ImageTiling::linear;
  info.label = "random";
  const Ptr<Image> image = must(Image::create(info), "image");
  if (bound) {
    must(image->ensure_memory(), "memory");
    fill_random(*image, random);
  }
  ImageViewCreateInfo view;
  view.image = image;
  view.base_layer = info.array_layers - layers;
  view.type = layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
  return must(ImageView::create(view), "view");
}

/// One attachment aspect of a random pass, with the model's images.
struct Slot {
  uint32_t target;  // 0..7 colour, 8 depth, 9 stencil
  RenderingAttachment a;
  VkImageAspectFlagBits aspect;
  const vk::FormatInfo* format;
  Plane image, resolved;  // the model's
  Plane tile;             // the model's samples in the pass, framebuffer-sized
};

/// A draw of the test: random values into random samples of random pixels of some bins.
struct Write {
  uint32_t x, y, layer, sample;
  size_t slot;
  Words value;
};

VkClearValue random_clear(const vk::FormatInfo& format, VkImageAspectFlagBits aspect, Random& random) {
  VkClearValue value{};
  if (aspect == VK_IMAGE_ASPECT_COLOR_BIT) {
    for (int c = 0; c < 4; ++c) {
      if (format.is_integer()) {
        value.color.uint32[c] = random() % 100;
      } else {
        value.color.float32[c] = static_cast<float>(random() % 1000) / 999.0f;
      }
    }
  } else {
    value.depthStencil = {static_cast<float>(random() % 1000) / 999.0f, static_cast<uint32_t>(random() % 256)};
  }
  return value;
}

Words naive_clear(const vk::FormatInfo& format, VkImageAspectFlagBits aspect, const VkClearValue& clear) {
  Words w{};
  if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
    w[0] = clear.depthStencil.stencil;
  } else if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT) {
    vk::Texel t{};
    t.f[0] = clear.depthStencil.depth;
    vk::pack_texel(format, t, reinterpret_cast<uint8_t*>(w.data()));
  } else {
    vk::Texel t;
    std::memcpy(&t, &clear, sizeof t);
    vk::pack_texel(format, t, reinterpret_cast<uint8_t*>(w.data()));
  }
  return w;
}

struct Pass {
  RenderingInfo info;
  std::vector<Slot> slots;
  uint32_t samples = 1, layers = 1, width = 1, height = 1;
  std::string text;
};

void add_slot(Pass& pass, uint32_t target, const RenderingAttachment& a, VkImageAspectFlagBits aspect) {
  Slot slot{target, a, aspect, vk::find_format(a.view->info().format), {}, {}, {}};
  if (a.view->image()->data()) slot.image = snapshot(*a.view->image(), aspect);
  if (a.resolve_view) slot.resolved = snapshot(*a.resolve_view->image(), aspect);
  pass.slots.push_back(std::move(slot));
}

Pass random_pass(Random& random) {
  Pass pass;
  pass.samples = 1u << random() % 5;
  pass.layers = 1 + (random() % 6 == 0);
  pass.width = 1 + random() % 100;
  pass.height = 1 + random() % 100;
  const bool single_sampled = pass.samples > 1 && random() % 6 == 0;
  const bool any_blocks = random() % 3 == 0;
  RenderingInfo& info = pass.info;
  info.layer_count = pass.layers;
  info.single_sampled_samples = single_sampled ? pass.samples : 0;
  const uint32_t x = random() % pass.width, y = random() % pass.height;
  if (random() % 3)
    info.render_area = {{static_cast<int32_t>(x), static_cast<int32_t>(y)},
                        {1 + static_cast<uint32_t>(random()) % (pass.width - x), 1 + static_cast<uint32_t>(random()) % (pass.height - y)}};
  const auto attachment = [&](VkFormat format, bool depth_or_stencil, bool integer) {
    RenderingAttachment a;
    const VkAttachmentLoadOp loads[] = {VK_ATTACHMENT_LOAD_OP_LOAD, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_LOAD_OP_CLEAR,
                                        VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_ATTACHMENT_LOAD_OP_NONE_EXT};
    const VkAttachmentStoreOp stores[] = {VK_ATTACHMENT_STORE_OP_STORE, VK_ATTACHMENT_STORE_OP_STORE, VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                          VK_ATTACHMENT_STORE_OP_NONE};
    a.load_op = loads[random() % 5];
    a.store_op = stores[random() % 4];
    const uint32_t image_samples = single_sampled ? 1 : pass.samples;
    a.view = make_view(format, pass.width, pass.height, pass.layers, image_samples, any_blocks && random() % 2, true, random);
    if (pass.samples > 1 && !single_sampled && random() % 2) {
      const VkResolveModeFlagBits modes[] = {VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, VK_RESOLVE_MODE_MIN_BIT, VK_RESOLVE_MODE_MAX_BIT,
                                             VK_RESOLVE_MODE_AVERAGE_BIT, VK_RESOLVE_MODE_AVERAGE_BIT};
      a.resolve_mode = modes[random() % (integer || depth_or_stencil ? 3 : 5)];
      a.resolve_view = make_view(format, pass.width, pass.height, pass.layers, 1, any_blocks && random() % 2, true, random);
    }
    return a;
  };
  const uint32_t colors = random() % 4;
  for (uint32_t i = 0; i < colors; ++i) {
    const VkFormat format = kColors[random() % std::size(kColors)];
    RenderingAttachment a;
    if (random() % 8) {
      a = attachment(format, false, vk::find_format(format)->is_integer());
      a.clear = random_clear(*vk::find_format(format), VK_IMAGE_ASPECT_COLOR_BIT, random);
    }
    info.color.push_back(a);
    if (a.view) add_slot(pass, i, a, VK_IMAGE_ASPECT_COLOR_BIT);
  }
  if (random() % 2) {
    const VkFormat format = kDepths[random() % std::size(kDepths)];
    const vk::FormatInfo& f = *vk::find_format(format);
    RenderingAttachment depth = attachment(format, true, false);
    RenderingAttachment stencil = depth;  // the same images, operations of its own
    stencil.load_op = random() % 2 ? VK_ATTACHMENT_LOAD_OP_LOAD : VK_ATTACHMENT_LOAD_OP_CLEAR;
    depth.clear = random_clear(f, VK_IMAGE_ASPECT_DEPTH_BIT, random);
    stencil.clear = random_clear(f, VK_IMAGE_ASPECT_STENCIL_BIT, random);
    const bool use_depth = f.depth_bits && (!f.stencil_bits || random() % 4), use_stencil = f.stencil_bits && (!use_depth || random() % 4);
    if (use_depth) {
      info.depth = depth;
      add_slot(pass, 8, depth, VK_IMAGE_ASPECT_DEPTH_BIT);
    }
    if (use_stencil) {
      info.stencil = stencil;
      add_slot(pass, 9, stencil, VK_IMAGE_ASPECT_STENCIL_BIT);
    }
  }
  return pass;
}

void model_begin(Pass& pass, const fb::Layout& layout) {
  for (Slot& slot : pass.slots) {
    Plane& tile = slot.tile;
    tile = {layout.width_px, layout.height_px, pass.layers, pass.samples, {}, {}};
    tile.values.resize(static_cast<size_t>(tile.width) * tile.height * tile.layers * tile.samples);
    tile.undefined.resize(tile.values.size());
    const uint32_t base_layer = slot.a.view->info().base_layer;
    const bool loads = slot.a.load_op == VK_ATTACHMENT_LOAD_OP_LOAD ||
                       (slot.a.load_op != VK_ATTACHMENT_LOAD_OP_CLEAR && slot.a.store_op == VK_ATTACHMENT_STORE_OP_NONE);
    for (uint32_t layer = 0; layer < pass.layers; ++layer) {
      for (uint32_t s = 0; s < pass.samples; ++s) {
        for (uint32_t y = 0; y < tile.height; ++y) {
          for (uint32_t x = 0; x < tile.width; ++x) {
            const size_t at = tile.index(layer, s, x, y);
            if (slot.a.load_op == VK_ATTACHMENT_LOAD_OP_CLEAR) {
              tile.values[at] = naive_clear(*slot.format, slot.aspect, slot.a.clear);
            } else if (loads) {
              tile.values[at] = slot.image.values[slot.image.index(base_layer + layer, std::min(s, slot.image.samples - 1), x, y)];
            } else {
              tile.undefined[at] = 1;  // zero in bins that are touched, what the image had in others
            }
          }
        }
      }
    }
  }
}

void model_end(Pass& pass, const fb::Layout& layout) {
  const fb::Box& area = layout.render_area_px;
  for (Slot& slot : pass.slots) {
    const Plane& tile = slot.tile;
    const auto samples_at = [&](uint32_t layer, uint32_t x, uint32_t y, bool& undefined) {
      std::vector<Words> values;
      for (uint32_t s = 0; s < pass.samples; ++s) {
        values.push_back(tile.values[tile.index(layer, s, x, y)]);
        undefined |= tile.undefined[tile.index(layer, s, x, y)] != 0;
      }
      return values;
    };
    for (uint32_t layer = 0; layer < pass.layers; ++layer) {
      for (auto y = static_cast<uint32_t>(area.min_y); y <= static_cast<uint32_t>(area.max_y); ++y) {
        for (auto x = static_cast<uint32_t>(area.min_x); x <= static_cast<uint32_t>(area.max_x); ++x) {
          bool undefined = false;
          const std::vector<Words> values = samples_at(layer, x, y, undefined);
          const uint32_t to = slot.a.view->info().base_layer + layer;
          Plane& image = slot.image;
          if (slot.a.store_op == VK_ATTACHMENT_STORE_OP_STORE && image.samples == pass.samples) {
            for (uint32_t s = 0; s < pass.samples; ++s) {
              image.values[image.index(to, s, x, y)] = values[s];
              image.undefined[image.index(to, s, x, y)] = tile.undefined[tile.index(layer, s, x, y)];
            }
          } else if (slot.a.store_op == VK_ATTACHMENT_STORE_OP_STORE) {
            const bool average = slot.aspect == VK_IMAGE_ASPECT_COLOR_BIT && !slot.format->is_integer();
            image.values[image.index(to, 0, x, y)] =
                naive_reduce(*slot.format, slot.aspect, average ? VK_RESOLVE_MODE_AVERAGE_BIT : VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, values);
            image.undefined[image.index(to, 0, x, y)] = undefined;
          } else if (slot.a.store_op == VK_ATTACHMENT_STORE_OP_DONT_CARE) {
            for (uint32_t s = 0; s < image.samples; ++s) image.undefined[image.index(to, s, x, y)] = 1;
          } else if (slot.a.store_op == VK_ATTACHMENT_STORE_OP_NONE) {
            // Unwritten contents survive; what the pass wrote is undefined after a spill and untouched without one.
            for (uint32_t s = 0; s < image.samples; ++s) image.undefined[image.index(to, s, x, y)] = 1;
          }
          if (slot.a.resolve_mode != VK_RESOLVE_MODE_NONE) {
            Plane& resolved = slot.resolved;
            const size_t at = resolved.index(slot.a.resolve_view->info().base_layer + layer, 0, x, y);
            resolved.values[at] = naive_reduce(*slot.format, slot.aspect, slot.a.resolve_mode, values);
            resolved.undefined[at] = undefined;
          }
        }
      }
    }
  }
}

void compare(const Plane& want, const Image& image, VkImageAspectFlagBits aspect, const std::string& text, const char* what) {
  const Plane got = snapshot(image, aspect);
  int wrong = 0;
  for (uint32_t layer = 0; layer < want.layers; ++layer) {
    for (uint32_t s = 0; s < want.samples; ++s) {
      for (uint32_t y = 0; y < want.height; ++y) {
        for (uint32_t x = 0; x < want.width; ++x) {
          const size_t at = want.index(layer, s, x, y);
          if (want.undefined[at] || want.values[at] == got.values[at]) continue;
          if (wrong++ == 0) {
            CHECK(false, "%s %s %s layer %u sample %u (%u, %u): %08x %08x, want %08x %08x", text.c_str(), what,
                  vk::find_format(image.info().format)->name, layer, s, x, y, got.values[at][0], got.values[at][1], want.values[at][0],
                  want.values[at][1]);
          }
        }
      }
    }
  }
}

fb::TilePlane plane_of(const tile_io::HostTile& tile, uint32_t target) {
  return target < 8 ? tile.color[target] : target == 8 ? tile.depth : tile.stencil;
}

/// A clear inside the pass, of one slot: by the code and in the model.
void clear_in_pass(Pass& pass, const tile_io::HostTile& tile, const tile_io::TileRegion& region, const fb::Box& inside, Random& random,
                   uint8_t* memory) {
  Slot& slot = pass.slots[random() % pass.slots.size()];
  const VkClearValue clear = random_clear(*slot.format, slot.aspect, random);
  const VkRect2D rect = {{inside.min_x + static_cast<int32_t>(random() % inside.width_px()), inside.min_y}, {5, 7}};
  const fb::Box box = fb::intersect(inside, {rect.offset.x, rect.offset.y, rect.offset.x + 4, rect.offset.y + 6});
  const VkRect2D cut = {{box.min_x, box.min_y}, {box.width_px(), box.height_px()}};
  tile_io::clear_in_tile(tile, region, slot.target < 8 ? static_cast<int>(slot.target) : -1, slot.aspect, clear, cut, memory);
  for (int32_t y = box.min_y; y <= box.max_y; ++y) {
    for (int32_t x = box.min_x; x <= box.max_x; ++x) {
      for (uint32_t s = 0; s < pass.samples; ++s) {
        const size_t at = slot.tile.index(region.layer, s, static_cast<uint32_t>(x), static_cast<uint32_t>(y));
        slot.tile.values[at] = naive_clear(*slot.format, slot.aspect, clear);
        slot.tile.undefined[at] = 0;
      }
    }
  }
}

/// One sample of one slot, as a fragment would write it.
void write_in_pass(Pass& pass, const tile_io::HostTile& tile, const tile_io::TileRegion& region, const fb::Box& inside, Random& random,
                   uint8_t* memory) {
  Slot& slot = pass.slots[random() % pass.slots.size()];
  const uint32_t x = static_cast<uint32_t>(inside.min_x) + static_cast<uint32_t>(random()) % inside.width_px(),
                 y = static_cast<uint32_t>(inside.min_y) + static_cast<uint32_t>(random()) % inside.height_px();
  const uint32_t s = static_cast<uint32_t>(random()) % pass.samples;
  const Words value = random_value(*slot.format, slot.aspect, random);
  const fb::TilePlane plane = plane_of(tile, slot.target);
  const uint32_t pixel = fb::tile_pixel_index(x - static_cast<uint32_t>(region.x_px), y - static_cast<uint32_t>(region.y_px), tile.bin_px);
  for (uint32_t word = 0; word < plane.words; ++word) {
    const size_t at = fb::tile_word_index(pixel, s, word, pass.samples, plane.words);
    std::memcpy(memory + plane.offset_B + 4 * at, &value[word], 4);
  }
  const size_t at = slot.tile.index(region.layer, s, x, y);
  slot.tile.values[at] = value;
  slot.tile.undefined[at] = 0;
}

void run_pass(uint32_t seed, stats::Ledger& ledger) {
  Random random(seed);
  Pass pass = random_pass(random);
  if (pass.slots.empty()) return;
  pass.text = "seed " + std::to_string(seed);
  const fb::Framebuffer f = must(fb::make_framebuffer(pass.info, "host"), pass.text.c_str());
  CHECK(f.layout.sample_count == pass.samples, "%s", pass.text.c_str());
  model_begin(pass, f.layout);
  const uint32_t bins_px[] = {32, 64, 128};
  const uint32_t bin_px = bins_px[random() % 3];
  tile_io::HostTile tile = tile_io::make_host_tile(f, bin_px, 512 * 1024);
  if (random() % 2) tile.width_px = 4u << random() % 4, tile.height_px = std::max(4u, tile.width_px >> random() % 2);  // a profile's tile
  const auto width = static_cast<int32_t>(tile.width_px), height = static_cast<int32_t>(tile.height_px);
  tile.wide = seed % 3 != 0 && wide_vectors(16);
  auto* memory = static_cast<uint8_t*>(std::aligned_alloc(64, (tile.size_B + 127) / 64 * 64));
  const int parts = random() % 3 == 0 ? 2 + static_cast<int>(random() % 2) : 1;
  if (parts > 1) must(fb::ensure_spill_memory(f), "spill");
  const fb::Box area = f.layout.render_area_px;
  const int32_t grid_x = f.layout.tiling_area_px.min_x / width * width;
  const int32_t grid_y = f.layout.tiling_area_px.min_y / height * height;
  const uint32_t density = random() % 4;
  for (int p = 0; p < parts; ++p) {
    const fb::Part part = parts == 1 ? fb::Part::normal : p == 0 ? fb::Part::first : p == parts - 1 ? fb::Part::last : fb::Part::middle;
    for (uint32_t layer = 0; layer < pass.layers; ++layer) {
      for (int32_t by = grid_y; by <= f.layout.tiling_area_px.max_y; by += height) {
        for (int32_t bx = grid_x; bx <= f.layout.tiling_area_px.max_x; bx += width) {
          tile_io::TileRegion region{bx, by, layer, density != 0 && random() % 4 < density};
          std::memset(memory, 0xcd, tile.size_B);
          if (tile_io::tile_is_clean(f, region, part)) {
            tile_io::skip_clean_tile(f, tile, region, ledger, part);
            continue;
          }
          tile_io::load_tile(f, tile, region, memory, ledger, part);
          const uint32_t writes = region.has_primitives ? random() % 300 : 0;
          const fb::Box inside = fb::intersect(area, {bx, by, bx + width - 1, by + height - 1});
          if (writes && !inside.empty() && random() % 4 == 0) clear_in_pass(pass, tile, region, inside, random, memory);
          for (uint32_t w = 0; w < writes && !inside.empty(); ++w) write_in_pass(pass, tile, region, inside, random, memory);
          tile_io::resolve_tile(f, tile, region, memory, ledger, part);
          tile_io::store_tile(f, tile, region, memory, ledger, part);
        }
      }
    }
  }
  std::free(memory);
  model_end(pass, f.layout);
  for (const Slot& slot : pass.slots) {
    compare(slot.image, *slot.a.view->image(), slot.aspect, pass.text, "attachment");
    if (slot.a.resolve_view) compare(slot.resolved, *slot.a.resolve_view->image(), slot.aspect, pass.text, "resolve");
  }
}

/// An aspect that the pass does not bind keeps its bits.
void unbound_aspect_survives() {
  for (bool blocks : {false, true}) {
    Random random(7);
    const Ptr<ImageView> view = make_view(VK_FORMAT_D24_UNORM_S8_UINT, 70, 50, 1, 1, blocks, true, random);
    const Plane before = snapshot(*view->image(), VK_IMAGE_ASPECT_STENCIL_BIT);
    RenderingInfo info;
    info.render_area = {{3, 5}, {50, 40}};
    info.depth.view = view;
    info.depth.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
    info.depth.clear.depthStencil = {0.5f, 99};
    const fb::Framebuffer f = must(fb::make_framebuffer(info, "host"), "framebuffer");
    const tile_io::HostTile tile = tile_io::make_host_tile(f, 64, 512 * 1024);
    std::vector<uint8_t> memory(tile.size_B + 64);
    auto* data = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t{63});
    stats::Ledger ledger;
    for (bool primitives : {false, true}) {
      for (int32_t x : {0, 64}) {
        const tile_io::TileRegion region{x, 0, 0, primitives};
        tile_io::load_tile(f, tile, region, data, ledger);
        tile_io::store_tile(f, tile, region, data, ledger);
      }
      compare(before, *view->image(), VK_IMAGE_ASPECT_STENCIL_BIT, "unbound stencil", blocks ? "blocks" : "linear");
    }
    const Plane depth = snapshot(*view->image(), VK_IMAGE_ASPECT_DEPTH_BIT);
    CHECK(depth.values[depth.index(view->info().base_layer, 0, 3, 5)][0] == 0x800000, "cleared depth");
  }
}

/// "Don't care" is zero where primitives are, never what another bin left in the worker's buffer.
void undefined_is_not_random() {
  Random random(9);
  RenderingInfo info;
  info.color.resize(1);
  info.color[0].view = make_view(VK_FORMAT_R8G8B8A8_UNORM, 64, 64, 1, 1, false, true, random);
  info.color[0].load_op = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  info.render_area = {{0, 0}, {64, 64}};
  const fb::Framebuffer f = must(fb::make_framebuffer(info, "host"), "framebuffer");
  const tile_io::HostTile tile = tile_io::make_host_tile(f, 64, 512 * 1024);
  auto* memory = static_cast<uint8_t*>(std::aligned_alloc(64, tile.size_B));
  std::memset(memory, 0xcd, tile.size_B);
  stats::Ledger ledger;
  tile_io::load_tile(f, tile, {0, 0, 0, true}, memory, ledger);
  tile_io::store_tile(f, tile, {0, 0, 0, true}, memory, ledger);
  std::free(memory);
  const Plane plane = snapshot(*info.color[0].view->image(), VK_IMAGE_ASPECT_COLOR_BIT);
  CHECK(plane.values[plane.index(info.color[0].view->info().base_layer, 0, 63, 63)][0] == 0, "leftovers of another bin");
}

/// Transaction elimination: equal blocks are not written, changed ones are, writes from outside are noticed, and the image is the same.
void equal_blocks_are_not_written() {
  Random random(11);
  ImageCreateInfo create;
  create.format = VK_FORMAT_R8G8B8A8_UNORM;
  create.width_px = 100;
  create.height_px = 75;
  const Ptr<Image> image = must(Image::create(create), "image");
  must(image->ensure_memory(), "memory");
  ImageViewCreateInfo v;
  v.image = image;
  RenderingInfo info;
  info.color.resize(1);
  info.color[0].view = must(ImageView::create(v), "view");
  info.color[0].load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  info.color[0].clear.color = {{0.5f, 0.25f, 0.0f, 1.0f}};
  const fb::Framebuffer f = must(fb::make_framebuffer(info, "mali-g725"), "framebuffer");
  CHECK(f.desc.transaction_elimination && f.store.rts[0].eliminate, "the profile eliminates");
  CHECK(!must(fb::make_framebuffer(info, "host"), "framebuffer").desc.transaction_elimination, "the host does not");
  tile_io::HostTile tile = tile_io::make_host_tile(f, 0, 512 * 1024);
  auto* memory = static_cast<uint8_t*>(std::aligned_alloc(64, tile.size_B));
  const uint32_t side = tile.width_px;  // the profile's tile
  // A frame with one pixel that is not the clear colour; the bytes stored and saved.
  const auto frame = [&](uint32_t px, uint32_t py, bool primitives) {
    stats::Ledger ledger;
    const auto signatures = fb::begin_contents(f);
    tile.signatures = signatures->of_block;
    for (uint32_t y = 0; y < create.height_px; y += side) {
      for (uint32_t x = 0; x < create.width_px; x += side) {
        const tile_io::TileRegion region{static_cast<int32_t>(x), static_cast<int32_t>(y), 0, primitives};
        tile_io::load_tile(f, tile, region, memory, ledger);
        if (primitives && px / side == x / side && py / side == y / side)
          std::memset(memory + 4 * fb::tile_word_index(fb::tile_pixel_index(px - x, py - y, side), 0, 0, 1, 1), 0x77, 4);
        tile_io::store_tile(f, tile, region, memory, ledger);
      }
    }
    const Plane plane = snapshot(*image, VK_IMAGE_ASPECT_COLOR_BIT);
    for (uint32_t y = 0; y < create.height_px; ++y) {
      for (uint32_t x = 0; x < create.width_px; ++x) {
        const uint32_t want = primitives && x == px && y == py ? 0x77777777u : 0xff004080u;
        CHECK(plane.values[plane.index(0, 0, x, y)][0] == want, "(%u, %u): %08x", x, y, plane.values[plane.index(0, 0, x, y)][0]);
      }
    }
    return std::pair(ledger.bytes[0][static_cast<size_t>(TrafficCause::store)],
                     ledger.bytes[0][static_cast<size_t>(TrafficCause::saved_transaction_elimination)]);
  };
  const uint64_t all_B = 100 * 75 * 4;
  CHECK(frame(5, 5, true) == (std::pair{all_B, uint64_t{0}}), "the first frame is written");
  CHECK(frame(5, 5, true) == (std::pair{uint64_t{0}, all_B}), "the same frame is not");
  CHECK(frame(6, 6, true) == (std::pair{uint64_t{1024}, all_B - 1024}), "one block changed");
  CHECK(frame(99, 74, true) == (std::pair{uint64_t{1024 + 4 * 11 * 4}, all_B - 1024 - 4 * 11 * 4}),
        "one block back, one cut block at the corner");
  CHECK(frame(0, 0, false) == (std::pair{uint64_t{4 * 11 * 4}, all_B - 4 * 11 * 4}), "cleared bins without primitives too");
  image->data()[0] ^= 1;
  CHECK(frame(0, 0, false).first == 1024, "a write from outside that nobody announced");
  resource::mark_written(*image, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}, resource::Writer::transfer);
  CHECK(frame(0, 0, false).first == all_B, "forgotten signatures");
  std::free(memory);
}

/// The ledger's sums, recomputed from the geometry: a frame whose size is no multiple of the bin.
void ledger_is_exact() {
  for (uint32_t samples : {1u, 2u, 4u, 8u, 16u}) {
    Random random(samples);
    constexpr uint32_t kWidth = 333, kHeight = 217;
    const auto image = [&](uint32_t count) {
      ImageCreateInfo info;
      info.format = VK_FORMAT_R8G8B8A8_UNORM;
      info.width_px = kWidth;
      info.height_px = kHeight;
      info.samples = static_cast<VkSampleCountFlagBits>(count);
      const Ptr<Image> made = must(Image::create(info), "image");
      must(made->ensure_memory(), "memory");
      ImageViewCreateInfo view;
      view.image = made;
      return must(ImageView::create(view), "view");
    };
    RenderingInfo info;
    info.color.resize(1);
    RenderingAttachment& a = info.color[0];
    a.view = image(samples);
    a.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
    a.store_op = samples > 1 ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE;
    if (samples > 1) {
      a.resolve_mode = VK_RESOLVE_MODE_AVERAGE_BIT;
      a.resolve_view = image(1);
    }
    for (bool store_too : {false, true}) {
      if (store_too) a.store_op = VK_ATTACHMENT_STORE_OP_STORE;
      const fb::Framebuffer f = must(fb::make_framebuffer(info, "host"), "framebuffer");
      const tile_io::HostTile tile = tile_io::make_host_tile(f, 32, 512 * 1024);
      auto* memory = static_cast<uint8_t*>(std::aligned_alloc(64, tile.size_B));
      stats::Ledger ledger;
      for (uint32_t y = 0; y < kHeight; y += 32) {
        for (uint32_t x = 0; x < kWidth; x += 32) {
          const tile_io::TileRegion region{static_cast<int32_t>(x), static_cast<int32_t>(y), 0, random() % 2 == 0};
          tile_io::load_tile(f, tile, region, memory, ledger);
          tile_io::resolve_tile(f, tile, region, memory, ledger);
          tile_io::store_tile(f, tile, region, memory, ledger);
        }
      }
      std::free(memory);
      const uint64_t frame_B = uint64_t{kWidth} * kHeight * 4;
      const auto sum = [&](TrafficCause cause) { return ledger.bytes[0][static_cast<size_t>(cause)]; };
      CHECK(sum(TrafficCause::load) == 0, "clears load nothing");
      CHECK(sum(TrafficCause::store) == (samples > 1 && !store_too ? 0 : samples * frame_B), "%u samples: stored %llu", samples,
            static_cast<unsigned long long>(sum(TrafficCause::store)));
      CHECK(sum(TrafficCause::resolve) == (samples > 1 ? frame_B : 0), "%u samples: resolved %llu", samples,
            static_cast<unsigned long long>(sum(TrafficCause::resolve)));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  stats::Ledger ledger;
  if (argc > 1) {
    // One seed, or the first and the last.
    for (int seed = std::atoi(argv[1]); seed <= std::atoi(argv[argc > 2 ? 2 : 1]); ++seed) run_pass(static_cast<uint32_t>(seed), ledger);
  } else {
    for (uint32_t seed = 1; seed <= 400; ++seed) run_pass(seed, ledger);
    unbound_aspect_survives();
    undefined_is_not_random();
    equal_blocks_are_not_written();
    ledger_is_exact();
  }
  return test::finish("test_framebuffer_io");
}
