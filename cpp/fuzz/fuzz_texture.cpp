// fuzz/fuzz_texture.cpp -- fuzzer: texels of every format, compressed ones above all, through sampler functions.
//
// In: bytes that choose a format, a view, a sampler and how it is sampled; the image's bytes; coordinates of any bits. Wrong is: other bits
// at 4 lanes than at 8, by quick code than by optimised code; texels that are fetched otherwise than vk/ reads them from the same bytes;
// and with nearest filters another texel than Vulkan's formulas say.
#include <algorithm>
#include <cmath>

#include "common/bench.hpp"
#include "tilegpu/format.hpp"
#include "vk/format.hpp"

using namespace tilegpu;

namespace {

constexpr uint32_t kSize_px = 8, kPixels = kSize_px * kSize_px;
constexpr size_t kMost_B = 4096;
/// Each has 8 rows of the target: code for all of them is made in any case.
enum Mode : uint32_t { lod = 1, fetch = 7, modes };

const char* prefix_of(const vk::FormatInfo& f) { return f.numeric == vk::Numeric::uint ? "u" : f.numeric == vk::Numeric::sint ? "i" : ""; }

/// Pixel n of each mode's asks with coordinates n of the buffer.
std::string fragment_text(const std::string& prefix, VkImageViewType type, bool compares) {
  const bool is_3d = type == VK_IMAGE_VIEW_TYPE_3D, is_cube = type == VK_IMAGE_VIEW_TYPE_CUBE,
             is_array = type == VK_IMAGE_VIEW_TYPE_2D_ARRAY;
  const std::string dim = is_3d      ? "3D"
                          : is_cube  ? "Cube"
                          : is_array ? "2DArray"
                                     : "2D",
                    p = is_3d || is_cube || is_array ? "c.xyz" : "c.xy";
  const std::string d = is_3d || is_cube ? "xyz" : "xy", texel = is_3d || is_array ? "ivec3(n & 7, n >> 3, n & 3)" : "ivec2(n & 7, n >> 3)";
  std::string text = "#version 450\nlayout(binding = 0) uniform " + prefix + "sampler" + dim + " t;\n";
  if (compares) text += "layout(binding = 1) uniform sampler" + dim + "Shadow s;\n";
  text += "layout(binding = 2) readonly buffer C { vec4 all[]; };\n";
  text += "layout(location = 0) out " + prefix + "vec4 o;\nvoid main() {\n  int n = (int(gl_FragCoord.y) & 7) * 8 + int(gl_FragCoord.x);\n";
  text += "  vec4 c = all[n];\n  switch (int(gl_FragCoord.y) >> 3) {\n  case 0: o = texture(t, " + p + "); break;\n";
  text += "  case 1: o = textureLod(t, " + p + ", c.w); break;\n";
  text += "  case 2: o = textureGrad(t, " + p + ", c." + d + " * 0.1, c.wzyx." + d + "); break;\n";
  if (!is_3d) text += "  case 3: o = textureGather(t, " + p + ", 1); break;\n";
  if (!is_cube) text += "  case 4: o = textureOffset(t, " + p + ", ivec" + (is_3d ? "3" : "2") + "(-3), 1.5); break;\n";
  text += "  case 5: o = " + prefix + "vec4(textureQueryLod(t, c." + d + "), textureSize(t, n & 3).xy); break;\n";
  if (compares) text += "  case 6: o = vec4(texture(s, " + std::string(is_array || is_cube ? "c" : "c.xyz") + ")); break;\n";
  if (!is_cube) text += "  case 7: o = texelFetch(t, " + texel + ", 0); break;\n";
  return text + "  default: o = " + prefix + "vec4(3); }\n}";
}

SamplerCreateInfo sampler_info(fuzz::Choices& c, const vk::FormatInfo& format) {
  SamplerCreateInfo s;
  const uint8_t flags = c.byte();
  const bool linear = format.linear_filter;
  s.mag_filter = linear && flags & 1 ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  s.min_filter = linear && flags & 2 ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  s.mipmap_mode = linear && flags & 4 ? VK_SAMPLER_MIPMAP_MODE_LINEAR : VK_SAMPLER_MIPMAP_MODE_NEAREST;
  const uint32_t kind = flags >> 3 & 7;
  if (kind == 5 && format.filters_cubic()) s.mag_filter = VK_FILTER_CUBIC_EXT;
  if ((kind == 5 || kind == 6) && format.filters_cubic()) s.min_filter = VK_FILTER_CUBIC_EXT;
  s.reduction_mode = static_cast<VkSamplerReductionMode>(kind == 7 ? c.below(3) : 0);
  s.max_anisotropy = (flags & 192) == 192 && linear ? static_cast<float>(1 + c.below(16)) : 1;
  const auto mode = [&] { return static_cast<VkSamplerAddressMode>(c.below(5)); };
  s.address_u = mode(), s.address_v = mode(), s.address_w = mode();
  s.non_seamless_cube_map = s.address_w & 1;  // which cubes don't ask for
  s.mip_lod_bias = c.unit() * 4 - 2, s.min_lod = c.unit() * 2, s.max_lod = s.min_lod + c.unit() * 3;
  s.border_color = static_cast<VkBorderColor>(c.below(6));
  return s;
}

struct Case {
  const vk::FormatInfo* format = nullptr;
  VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
  VkComponentMapping swizzle = {};
  SamplerCreateInfo sampler;
  float least_lod = 0;  // of the view
  std::string_view bytes, coordinates;

  bool read(fuzz::Choices c) {
    static const auto* const formats = [] {
      auto* const all = new std::vector<const vk::FormatInfo*>;
      // Compressed ones three times: their decoders are the most code.
      for (const vk::FormatInfo& f : vk::all_formats())
        if (f.sampled && !f.needs_conversion()) all->insert(all->end(), f.is_compressed() ? 3 : 1, &f);
      return all;
    }();
    constexpr VkImageViewType kTypes[] = {VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D_ARRAY,
                                          VK_IMAGE_VIEW_TYPE_CUBE, VK_IMAGE_VIEW_TYPE_3D};
    format = (*formats)[c.below(static_cast<uint32_t>(formats->size()) + 300) % formats->size()];
    type = c.of(kTypes);
    sampler = sampler_info(c, *format);
    if (c.seldom(4)) {
      for (VkComponentSwizzle* s : {&swizzle.r, &swizzle.g, &swizzle.b, &swizzle.a}) *s = static_cast<VkComponentSwizzle>(c.below(7));
    }
    if (c.seldom(4)) least_lod = c.unit() * 2;
    const std::string_view rest = c.rest();
    coordinates = rest.substr(0, std::min<size_t>(rest.size(), 256)), bytes = rest.substr(coordinates.size());
    return true;
  }
};

Ptr<ImageView> view_of(const Case& of) {
  ImageCreateInfo info;
  info.format = of.format->format, info.width_px = info.height_px = kSize_px, info.label = "texture", info.mip_levels = 3;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  if (of.type == VK_IMAGE_VIEW_TYPE_3D) info.type = VK_IMAGE_TYPE_3D, info.depth_px = 4;
  if (of.type == VK_IMAGE_VIEW_TYPE_2D_ARRAY) info.array_layers = 4;
  if (of.type == VK_IMAGE_VIEW_TYPE_CUBE) info.array_layers = 6, info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
  Expected<Ptr<Image>> image = Image::create(info);
  if (!image) return nullptr;
  fuzz::take((*image)->ensure_memory(), "memory of a texture");
  uint8_t* const to = (*image)->data();
  for (uint64_t k = 0; k < (*image)->required_B(); k++)
    to[k] = of.bytes.empty() ? static_cast<uint8_t>(k * 37) : static_cast<uint8_t>(of.bytes[k % of.bytes.size()]);
  ImageViewCreateInfo view{.image = *image, .type = of.type, .swizzle = of.swizzle};
  view.min_lod = of.least_lod;
  if (of.format->is_depth_stencil()) view.aspects = of.format->depth_bits ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_STENCIL_BIT;
  Expected<Ptr<ImageView>> made = ImageView::create(view);
  return made ? *made : nullptr;
}

struct Drawn {
  bool ran = false;
  std::string refused;
  std::vector<uint8_t> pixels;
};

Drawn draw(const Ptr<Device>& device, const Case& of, const Ptr<ImageView>& texture) {
  Drawn result;
  GraphicsPipelineCreateInfo info;
  const bool stencil = of.format->is_depth_stencil() && !of.format->depth_bits;
  const std::string prefix = stencil ? "u" : prefix_of(*of.format);
  const bool compares = of.format->depth_bits && of.type != VK_IMAGE_VIEW_TYPE_3D;
  const Ptr<ShaderModule> fragment = fuzz::own_shader(fragment_text(prefix, of.type, compares), VK_SHADER_STAGE_FRAGMENT_BIT);
  const Ptr<ShaderModule> vertex = fuzz::own_shader(
      "#version 450\nvoid main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }",
      VK_SHADER_STAGE_VERTEX_BIT);
  if (!fragment || !vertex) fuzz::finding("a shader of the fuzzer's own does not compile");
  info.label = "sample", info.stages = {{vertex, {}}, {fragment, {}}};
  info.color_formats = {prefix == "u"   ? VK_FORMAT_R32G32B32A32_UINT
                        : prefix == "i" ? VK_FORMAT_R32G32B32A32_SINT
                                        : VK_FORMAT_R32G32B32A32_SFLOAT};
  const Ptr<Pipeline> pipeline = fuzz::take(device->create_pipeline(info), "a pipeline");
  const Ptr<DescriptorSet> set = fuzz::take(device->create_descriptor_set(pipeline->info().layout->sets[0]), "a set");
  Expected<Ptr<Sampler>> sampler = Sampler::create(of.sampler);
  if (!sampler) return result.refused = sampler.error().message, result;
  Descriptor t, s, coordinates;
  t.view = texture, t.sampler = *sampler;
  Status ok = set->write(0, 0, t);
  if (ok && compares) {
    SamplerCreateInfo compare = of.sampler;
    compare.compare_enable = true, compare.compare_op = VK_COMPARE_OP_LESS;
    compare.reduction_mode = VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
    s.view = texture, s.sampler = fuzz::take(Sampler::create(compare), "a comparing sampler");
    ok = set->write(1, 0, s);
  }
  coordinates.buffer = fuzz::patterned_buffer(kSize_px * kSize_px * 16, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  std::memcpy(coordinates.buffer->data(), of.coordinates.data(), of.coordinates.size());
  if (ok) ok = set->write(2, 0, coordinates);
  RenderingInfo pass;
  pass.label = "sample";
  RenderingAttachment& a = pass.color.emplace_back();
  a.view = fuzz::target(info.color_formats[0], VK_SAMPLE_COUNT_1_BIT, kSize_px, kSize_px * modes), a.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  auto cb = std::make_shared<CommandBuffer>(device);
  if (ok) ok = cb->begin();
  if (ok) ok = cb->begin_rendering(pass);
  if (ok) {
    cb->bind_pipeline(pipeline), cb->bind_descriptor_set(0, set);
    ok = cb->draw(3, 1, 0, 0);
  }
  if (ok) ok = cb->end_rendering();
  if (ok) ok = cb->end();
  if (!ok) return result.refused = ok.error().message, result;
  auto done = device->submit_and_wait({{cb}, {}}, {});
  if (!done) return result.refused = done.error().message, result;
  result.ran = true;
  fuzz::append(result.pixels, *a.view->image());
  return result;
}

// -- an oracle for nearest filters, from Vulkan's formulas ("Texel Coordinate Systems", "Wrapping Operation")

int mirror(int n) { return n >= 0 ? n : -(1 + n); }

/// -1: the border.
int wrapped(VkSamplerAddressMode mode, int i, int n) {
  switch (mode) {
    case VK_SAMPLER_ADDRESS_MODE_REPEAT:
      return ((i % n) + n) % n;
    case VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT:
      return (n - 1) - mirror(((i % (2 * n)) + 2 * n) % (2 * n) - n);
    case VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE:
      return std::clamp(i, 0, n - 1);
    case VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE:
      return std::clamp(mirror(i), 0, n - 1);
    default:
      return i < 0 || i >= n ? -1 : i;
  }
}

/// A coordinate's texel; false where it is so near to another one, or so far from all, that roundings decide.
bool texel_of(float coordinate, VkSamplerAddressMode mode, int n, int& texel) {
  const double at = static_cast<double>(coordinate) * n;
  if (!(at > -1000 && at < 1000) || at - std::floor(at) < 0.01 || at - std::floor(at) > 0.99) return false;
  texel = wrapped(mode, static_cast<int>(std::floor(at)), n);
  return true;
}

vk::Texel swizzled(const vk::Texel& texel, const VkComponentMapping& swizzle, bool is_integer) {
  const VkComponentSwizzle by[4] = {swizzle.r, swizzle.g, swizzle.b, swizzle.a};
  vk::Texel out = texel;
  for (int k = 0; k < 4; k++) {
    if (by[k] == VK_COMPONENT_SWIZZLE_ZERO) out.u[k] = 0;
    if (by[k] == VK_COMPONENT_SWIZZLE_ONE) out.u[k] = is_integer ? 1 : 0x3f800000;
    if (by[k] >= VK_COMPONENT_SWIZZLE_R) out.u[k] = texel.u[by[k] - VK_COMPONENT_SWIZZLE_R];
  }
  return out;
}

void check_nearest(const Case& of, const Ptr<ImageView>& texture, const std::vector<uint8_t>& pixels) {
  const SamplerCreateInfo& s = of.sampler;
  if (of.type != VK_IMAGE_VIEW_TYPE_2D || of.format->is_depth_stencil() || s.mag_filter || s.min_filter || s.mipmap_mode ||
      s.max_anisotropy > 1 || of.least_lod > 0)
    return;
  const bool has_nan = of.format->numeric == vk::Numeric::sfloat || of.format->numeric == vk::Numeric::ufloat;
  for (size_t pixel = 0; pixel < std::min<size_t>(of.coordinates.size() / 16, kPixels); pixel++) {
    float c[4];
    std::memcpy(c, of.coordinates.data() + pixel * 16, 16);
    const float level_f = std::clamp(c[3] + s.mip_lod_bias, s.min_lod, std::max(s.min_lod, s.max_lod));
    if (!(level_f >= 0 && level_f < 10) || std::abs(level_f - std::floor(level_f) - 0.5f) < 0.01f) continue;
    const int level = std::min(static_cast<int>(std::floor(level_f + 0.5f)), 2), n = static_cast<int>(kSize_px) >> level;
    int x = 0, y = 0;
    if (!texel_of(c[0], s.address_u, n, x) || !texel_of(c[1], s.address_v, n, y) || x < 0 || y < 0) continue;
    const SubresourceLayout layout = texture->image()->layout(VK_IMAGE_ASPECT_COLOR_BIT, static_cast<uint32_t>(level), 0);
    vk::Texel row[kSize_px];
    vk::unpack_image_row(*of.format, texture->image()->data() + layout.offset_B, layout.row_pitch_B, static_cast<uint32_t>(y),
                         static_cast<uint32_t>(n), row);
    const vk::Texel chosen = swizzled(row[x], of.swizzle, of.format->is_integer());
    float wanted[4], found[4];
    std::memcpy(wanted, &chosen, 16), std::memcpy(found, pixels.data() + (lod * kPixels + pixel) * 16, 16);
    for (int k = 0; k < 4; k++)
      if (std::memcmp(&wanted[k], &found[k], 4) != 0 && !(has_nan && wanted[k] != wanted[k] && found[k] != found[k]))
        fuzz::finding(std::string(of.format->name) + ": texel (" + std::to_string(x) + ", " + std::to_string(y) + ") of level " +
                      std::to_string(level) + " is nearest to (" + std::to_string(c[0]) + ", " + std::to_string(c[1]) + "), lod " +
                      std::to_string(level_f) + ", but another one is sampled");
  }
}

/// Texels of layer 0 as the core's own rows have them.
void check_fetched(const Case& of, const Ptr<ImageView>& texture, const std::vector<uint8_t>& pixels) {
  const VkComponentMapping& w = of.swizzle;
  if (of.type != VK_IMAGE_VIEW_TYPE_2D || of.format->is_depth_stencil() || w.r || w.g || w.b || w.a || of.least_lod > 0) return;
  const SubresourceLayout layout = texture->image()->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
  std::vector<uint8_t> wanted;
  for (uint32_t y = 0; y < kSize_px; y++) {
    vk::Texel row[kSize_px];
    vk::unpack_image_row(*of.format, texture->image()->data() + layout.offset_B, layout.row_pitch_B, y, kSize_px, row);
    wanted.insert(wanted.end(), reinterpret_cast<const uint8_t*>(row), reinterpret_cast<const uint8_t*>(row + kSize_px));
  }
  if (of.format->numeric == vk::Numeric::sfloat || of.format->numeric == vk::Numeric::ufloat)  // one NaN in attachments
    for (size_t k = 0; k + 4 <= wanted.size(); k += 4) {
      float value = 0;
      std::memcpy(&value, &wanted[k], 4);
      const uint32_t nan = 0x7fc00000;
      if (value != value) std::memcpy(&wanted[k], &nan, 4);
    }
  const auto first = pixels.begin() + fetch * kPixels * 16;
  if (const std::string text = fuzz::difference({first, first + kPixels * 16}, wanted); !text.empty())
    fuzz::finding(std::string(of.format->name) + " is fetched otherwise than it is read: " + text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  if (size_B > kMost_B || size_B < 16) return -1;
  Case of;
  if (!of.read({data, size_B})) return -1;
  const Ptr<ImageView> texture = view_of(of);
  if (!texture) return 0;
  const bool optimises = fuzz::hash_of(data, size_B) % 16 == 0;
  DeviceCreateInfo info;
  info.threads = 1, info.lanes = 4;
  const Drawn one = draw(fuzz::device(info, fuzz::Code::quick), of, texture);
  info.lanes = 8;
  const Drawn two = draw(fuzz::device(info, optimises ? fuzz::Code::optimised : fuzz::Code::quick), of, texture);
  if (one.ran != two.ran) fuzz::finding("sampled at one number of lanes alone: " + one.refused + two.refused);
  if (!one.ran) return 0;
  if (const std::string text = fuzz::difference(one.pixels, two.pixels); !text.empty())
    fuzz::finding(std::string(of.format->name) + ": 4 and 8 lanes" + (optimises ? " (optimised)" : "") + " differ: " + text);
  check_fetched(of, texture, one.pixels);
  check_nearest(of, texture, one.pixels);
  return 0;
}
