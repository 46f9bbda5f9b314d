// tests/test_lower_texture.cpp -- texture instructions from GLSL through the sampler functions: levels, offsets, arrays of textures,
// separate samplers, projection, comparison, fetch, gather. Filtering itself is tested by test_sampler.
#include <algorithm>

#include "lower_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kWidths[] = {4, 8, 16};

/// A 16x16 texture with 5 levels and 2 layers; texel (x, y) of a level and layer is (x, y, level * 16 + layer, tag) / 255.
struct Texture {
  std::vector<uint8_t> memory;
  ImageViewAbi view{};
  SamplerAbi sampler{};

  explicit Texture(uint8_t tag) {
    std::vector<size_t> at;
    for (uint32_t level = 0; level < 5; ++level) {
      const uint32_t size = 16u >> level;
      at.push_back(memory.size());
      for (uint32_t layer = 0; layer < 2; ++layer) {
        for (uint32_t k = 0; k < size * size; ++k) {
          const uint8_t texel[4] = {static_cast<uint8_t>(k % size), static_cast<uint8_t>(k / size),
                                    static_cast<uint8_t>(level * 16 + layer), tag};
          memory.insert(memory.end(), texel, texel + 4);
        }
      }
      view.layer_pitch_B[level] = size * size * 4;
    }
    for (uint32_t level = 0; level <= kMaxMipLevels; ++level) {
      const uint32_t from = std::min(level, 4u);
      view.level[level] = {memory.data() + at[from], (16u >> from) * 4, static_cast<int32_t>(16 >> from), static_cast<int32_t>(16 >> from),
                           0};
      view.layer_pitch_B[level] = view.layer_pitch_B[from];
    }
    view.level_count = 5, view.layer_count = 2, view.sample_count = 1;
    fill_level_tables(view);
    sampler.min_lod = 0, sampler.max_lod = 1000;
    fill_lod_limits(sampler);
  }

  /// The base level as depth: (x + (y & 1) / 2) / 255.
  void make_depth() {
    for (uint32_t k = 0; k < 256; ++k) {
      const float depth = (static_cast<float>(k % 16) + 0.5f * static_cast<float>(k / 16 & 1)) / 255;
      std::memcpy(&memory[4 * k], &depth, 4);
    }
    view.level_count = 1;
    fill_level_tables(view);
  }

  TextureDescriptor descriptor(uint32_t lanes, VkImageViewType dim, bool compares = false) {
    SamplerKey key;
    key.format = compares ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_R8G8B8A8_UNORM;
    if (compares) key.aspect = VK_IMAGE_ASPECT_DEPTH_BIT;
    key.dim = dim;
    key.has_sampler = true;
    key.sampler.mag_filter = key.sampler.min_filter = VK_FILTER_NEAREST;
    key.sampler.mipmap_mode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
    key.sampler.address_u = key.sampler.address_v = key.sampler.address_w = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    key.sampler.compare_enable = compares, key.sampler.compare_op = VK_COMPARE_OP_LESS;
    Expected<SamplerFunctions> f =
        compile_sampler(jit_of(lanes), key, kUseGradient | kUseLod | kUseFetch | kUseGather | kUseImplicit | kUseQueryLod);
    if (!f) {
      CHECK_MESSAGE(false, f.error().message);
      return {};
    }
    return {&view, &sampler, f->gradient, f->lod, f->fetch, f->gather, f->implicit, nullptr, nullptr, f->query_lod};
  }
};

void test_sampling() {
  Ptr<ShaderModule> module = shader_of(
      "#version 450\n#extension GL_EXT_nonuniform_qualifier : require\n#extension GL_EXT_samplerless_texture_functions : require\n"
      "layout(set=0, binding=0) uniform sampler2D t[3]; layout(set=1, binding=0) uniform texture2D u; layout(set=1, binding=1) uniform "
      "sampler v;\n"
      "layout(set=1, binding=2) uniform sampler2DShadow w;\n"
      "layout(location=0) out vec4 o0; layout(location=1) out vec4 o1; layout(location=2) out vec4 o2; layout(location=3) out vec4 o3; "
      "layout(location=4) out vec4 o4; layout(location=5) out vec4 o5;\n"
      "layout(location=6) out vec4 o6;\n"
      "vec4 look(sampler2D s, vec2 p) { return textureLod(s, p, 1.0); }\n"
      "void main() { vec2 p = gl_FragCoord.xy / 16.0; int x = int(gl_FragCoord.x);\n"
      "o0 = texture(t[0], p * 4.0 * 0.25) * 255.0; o1 = texture(t[nonuniformEXT(x % 3)], p * 2.0, 1.0) * 255.0; if (x > 5) o2 = "
      "textureLodOffset(t[1], p, 0.0, ivec2(1, -1)) * 255.0; else o2 = look(t[2], p) * 255.0;\n"
      "o3 = texture(sampler2D(u, v), p * 4.0) * 255.0; o4 = vec4(texelFetch(u, ivec2(x, 3), 0).xyz * 255.0, textureProj(t[1], vec4(p * "
      "2.0, 7.0, 2.0)).x * 255.0);\n"
      "o5 = textureGather(t[0], vec2(0.5, 0.5), 0) * 255.0; o6 = vec4(texture(w, vec3(p, 0.25 / 255.0 + float(x) / 255.0)), "
      "textureGrad(t[0], p, vec2(0.5, 0), vec2(0)).z * 255.0, textureQueryLod(t[0], p * 4.0)); }\n",
      VK_SHADER_STAGE_FRAGMENT_BIT);
  if (!module) return;
  Texture t0(10), t1(11), t2(12), u(13), w(14);
  w.make_depth();
  for (uint32_t lanes : kWidths) {
    auto run = std::make_unique<FragmentRun>();
    const auto flat = VK_IMAGE_VIEW_TYPE_2D;
    Expected<ResourceTable> table = resource_table(*module, {});
    if (!table) return void(CHECK_MESSAGE(false, table.error().message));
    for (const TextureSlot& s : table->textures) {
      if (s.image_set == 0) {
        for (Texture* t : {&t0, &t1, &t2}) run->textures.push_back(t->descriptor(lanes, flat));
      } else {
        run->textures.push_back(s.image_binding == 2 ? w.descriptor(lanes, flat, true) : u.descriptor(lanes, flat));
      }
    }
    if (!run->run(*module, lanes)) return void(CHECK_MESSAGE(false, run->error));
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const int x = FragmentRun::lane_x(lane), y = FragmentRun::lane_y(lane);
      const auto is = [&](uint32_t location, float a, float b, float c, float e) {
        const float want[4] = {a, b, c, e};
        for (uint32_t k = 0; k < 4; ++k) {
          CHECK_MESSAGE(std::fabs(run->out(location, k, lane) - want[k]) < 1e-3f,
                        "lanes " + std::to_string(lanes) + " lane " + std::to_string(lane) + " output " + std::to_string(location) + "." +
                            std::to_string(k) + " got " + std::to_string(run->out(location, k, lane)) + " want " + std::to_string(want[k]));
        }
      };
      const auto c = [](int v, int size) { return static_cast<float>(std::min(std::max(v, 0), size - 1)); };
      is(0, static_cast<float>(x), static_cast<float>(y), 0, 10);
      // lod 1 of the gradients (2 texels a pixel) and a bias of 1: level 2, 4 texels wide
      is(1, c((2 * x + 1) * 4 / 16, 4), c((2 * y + 1) * 4 / 16, 4), 32, static_cast<float>(10 + x % 3));
      if (x > 5)
        is(2, c(x + 1, 16), c(y - 1, 16), 0, 11);
      else
        is(2, static_cast<float>(x >> 1), static_cast<float>(y >> 1), 16, 12);
      is(3, c((4 * x + 2) * 4 / 16, 4), c((4 * y + 2) * 4 / 16, 4), 32, 13);
      is(4, x < 16 ? static_cast<float>(x) : 0, x < 16 ? 3 : 0, 0, static_cast<float>(x));
      is(5, 7, 8, 8, 7);
      is(6, x < 16 ? static_cast<float>(y & 1) : 0, 48, 2, 2);
    }
  }
}

}  // namespace

int main() {
  test_sampling();
  return finish("test_lower_texture");
}
