// tests/lower_fixture.hpp -- runs shaders through the JIT without a device: GLSL in, vertex batches and fragment packets out.
#pragma once

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <spirv-tools/optimizer.hpp>

#include "check.hpp"
#include "shader/compiler.hpp"
#include "shader/jit/jit.hpp"
#include "shader/spirv/module.hpp"

namespace tilegpu::test {

using namespace tilegpu::shader;

inline Jit& jit_of(uint32_t lanes) {
  static std::map<uint32_t, std::unique_ptr<Jit>> jits;
  auto& jit = jits[lanes];
  if (!jit) {
    JitCreateInfo info;
    info.lanes = lanes;
    info.cache_dir = "off";
    Expected<std::unique_ptr<Jit>> made = Jit::create(info);
    if (!made) {
      std::fprintf(stderr, "%s\n", made.error().message.c_str());
      std::abort();
    }
    jit = std::move(*made);
  }
  return *jit;
}

/// `optimized`: through spirv-opt -O, which turns variables into OpPhi and inlines functions.
inline Ptr<ShaderModule> shader_of(const std::string& text, VkShaderStageFlagBits stage, bool optimized = false) {
  GlslSource source;
  source.text = text, source.stage = stage;
  Expected<std::vector<uint32_t>> words = compile_glsl(source);
  if (!words) {
    CHECK_MESSAGE(false, words.error().message);
    return nullptr;
  }
  if (optimized) {
    spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_3);
    optimizer.RegisterPerformancePasses();
    std::vector<uint32_t> better;
    CHECK(optimizer.Run(words->data(), words->size(), &better));
    *words = better;
  }
  Expected<Ptr<ShaderModule>> module = ShaderModule::create(*words, "test");
  if (!module) {
    CHECK_MESSAGE(false, module.error().message);
    return nullptr;
  }
  return *module;
}

/// Memory that stands behind descriptors: zeros around, so that writes out of range are seen.
struct TestBuffer {
  std::vector<uint32_t> words;
  uint32_t size_B = 0;
  explicit TestBuffer(uint32_t word_count) : words(word_count + 128, 0), size_B(word_count * 4) {}
  uint32_t* data() { return words.data() + 64; }
  BufferDescriptor descriptor() { return {reinterpret_cast<uint8_t*>(data()), size_B}; }
  bool guards_untouched() const {
    for (size_t k = 0; k < 64; ++k) {
      if (words[k] || words[words.size() - 1 - k]) return false;
    }
    return true;
  }
};

/// Memory of one set for a stage's table, in place of those that the pipeline's layout would say: descriptors in the table's order.
struct TestSets {
  std::vector<BufferDescriptor> buffers;
  std::vector<CombinedDescriptor> textures;
  std::vector<SampledImage> images;
  std::vector<std::array<const TextureDescriptor*, kSamplersOfPage>> pages;
  const uint8_t* address[kSetTables] = {};

  /// Buffers are found through the table of dynamic ones, textures in every set: each kind has its own memory. `flat`: of each texture slot
  /// image by image, sampler by sampler.
  void place(ResourceTable& table, const std::vector<BufferDescriptor>& all, const std::vector<TextureDescriptor>& flat) {
    buffers = all;
    uint32_t next = 0;
    for (BufferSlot& s : table.buffers) {
      s.table = kDynamicSet, s.at = {next * static_cast<uint32_t>(sizeof(BufferDescriptor)), sizeof(BufferDescriptor)};
      next += s.count;
    }
    textures.assign(flat.size(), {}), images.assign(flat.size(), {}), pages.assign(flat.size(), {});
    next = 0;
    for (TextureSlot& s : table.textures) {
      constexpr uint32_t kSize_B = sizeof(CombinedDescriptor);
      s.image = {next * kSize_B, kSize_B * s.sampler_count};
      s.sampler = {next * kSize_B + static_cast<uint32_t>(offsetof(CombinedDescriptor, sampler)), kSize_B};
      if (!s.combined) s.image.offset_B += offsetof(CombinedDescriptor, image);
      for (uint32_t i = 0; i < s.image_count; ++i)
        for (uint32_t j = 0; j < s.sampler_count && next < flat.size(); ++j, ++next) {
          images[next].alone = flat[next];
          pages[next].fill(&flat[next]);
          if (j) pages[next - j][j] = &flat[next];
          for (auto& page : images[next].page) page = pages[next].data();
          textures[next] = {&flat[next], {&images[next]}, {static_cast<uint32_t>(offsetof(SampledImage, page)), 8 * j}};
        }
    }
    for (const uint8_t*& set : address) set = reinterpret_cast<const uint8_t*>(textures.data());
    address[kDynamicSet] = reinterpret_cast<const uint8_t*>(buffers.data());
  }
};

/// A vertex shader used as a kernel: attributes in, varyings out, 32 vertices.
struct VertexRun {
  uint32_t count = kBatchStride;
  std::map<uint32_t, std::vector<float>> attributes;  // location -> 4 * count floats (or bits)
  std::vector<BufferDescriptor> buffers;
  TestSets sets;
  std::vector<uint8_t> push = std::vector<uint8_t>(256, 0);
  Specialization specialization;
  uint32_t instance_index = 0;
  LoopBudget loops{1 << 20};
  // out
  float position[4 * kBatchStride] = {};
  std::vector<float> varyings;  // (location * 4 + component) * kBatchStride + vertex
  float clip[8 * kBatchStride] = {}, point_size[kBatchStride] = {};
  std::string error;

  uint32_t bits(uint32_t location, uint32_t component, uint32_t vertex) const {
    return std::bit_cast<uint32_t>(varyings[(location * 4 + component) * kBatchStride + vertex]);
  }
  float value(uint32_t location, uint32_t component, uint32_t vertex) const {
    return varyings[(location * 4 + component) * kBatchStride + vertex];
  }

  bool run(const ShaderModule& module, uint32_t lanes, uint32_t locations) {
    VertexKey key;
    key.module = Ptr<const ShaderModule>(Ptr<void>(), &module);
    key.specialization = specialization;
    for (uint32_t location = 0; location < locations; ++location) {
      for (uint32_t c = 0; c < 4; ++c) key.varyings.components.push_back({static_cast<uint8_t>(location), static_cast<uint8_t>(c)});
    }
    std::vector<VertexBinding> bindings(16);
    for (auto& [location, data] : attributes) {
      key.bindings.push_back({location, 16, VK_VERTEX_INPUT_RATE_VERTEX});
      key.attributes.push_back({location, location, VK_FORMAT_R32G32B32A32_SFLOAT, 0});
      bindings[location] = {reinterpret_cast<const uint8_t*>(data.data()), data.size() * 4};
    }
    Expected<ResourceTable> table = resource_table(module, specialization);
    if (!table) return error = table.error().message, false;
    sets.place(*table, buffers, {});
    key.resources = *table;
    auto f = compile_vertex(jit_of(lanes), key);
    if (!f) return error = f.error().message, false;
    varyings.assign(locations * 4 * kBatchStride, -77.0f);
    uint32_t index[kBatchStride];
    for (uint32_t k = 0; k < kBatchStride; ++k) index[k] = k;
    std::vector<uint8_t> scratch(1 << 21);
    VertexArgs args{};
    args.bindings = bindings.data(), args.push_constants = push.data(), args.sets = sets.address, args.vertex_index = index,
    args.count = count;
    args.instance_index = instance_index;
    args.position = position, args.varyings = varyings.data(), args.clip_distance = clip, args.point_size = point_size;
    args.scratch = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~uintptr_t{63});
    args.loops = &loops;
    (*f)(&args);
    return true;
  }
};

/// One packet of a fragment shader on a primitive with given vertices.
struct FragmentRun {
  uint32_t samples = 1;
  bool per_sample = false, coverage_only = false, coverage_needs_alpha = false, mixed = false;
  std::vector<BufferDescriptor> buffers;
  std::vector<TextureDescriptor> textures;
  TestSets sets;
  std::vector<uint8_t> push = std::vector<uint8_t>(256, 0);
  Specialization specialization;
  float vertex[3][64] = {};     // row of the varying layout -> value at each vertex
  float weight[3] = {1, 1, 1};  // w of each vertex
  uint64_t coverage = ~0ull;    // for every quad
  uint32_t alive = ~0u;         // bit for each lane
  std::vector<float> sample_positions = {0.5f, 0.5f};
  uint32_t sample_index = 0;
  FragmentArgs args{};
  LoopBudget loops{1 << 20};
  VaryingLayout layout;
  std::string error;

  /// Triangle (0,0), (64,0), (0,64); quads from (x_px, y_px) to the right.
  bool run(const ShaderModule& module, uint32_t lanes, int32_t x_px = 4, int32_t y_px = 6) {
    Expected<VaryingLayout> varyings = varying_layout(module, specialization);
    if (!varyings) return error = varyings.error().message, false;
    layout = *varyings;
    Expected<ResourceTable> table = resource_table(module, specialization);
    if (!table) return error = table.error().message, false;
    sets.place(*table, buffers, textures);
    FragmentKey key;
    key.module = Ptr<const ShaderModule>(Ptr<void>(), &module), key.specialization = specialization, key.varyings = layout,
    key.resources = *table;
    key.samples = samples, key.per_sample = per_sample, key.coverage_only = coverage_only, key.coverage_needs_alpha = coverage_needs_alpha;
    auto f = compile_fragment(jit_of(lanes), key);
    if (!f) return error = f.error().message, false;
    static float rows[3][64 * kBatchStride];
    for (int v = 0; v < 3; ++v) {
      for (uint32_t r = 0; r < 64; ++r) rows[v][r * kBatchStride] = vertex[v][r];
    }
    static PrimitiveSetup setup;
    setup = {};
    const float q[3] = {1 / weight[0], 1 / weight[1], 1 / weight[2]};
    setup.anchor_x = 2.5f, setup.anchor_y = 3.5f;
    // lambda1 = x / 64, lambda2 = y / 64, lambda0 = 1 - lambda1 - lambda2; q is linear.
    setup.qx = (q[1] - q[0]) / 64, setup.qy = (q[2] - q[0]) / 64, setup.q0 = q[0] + setup.qx * setup.anchor_x + setup.qy * setup.anchor_y;
    setup.ix = q[1] / 64, setup.i0 = setup.ix * setup.anchor_x;
    setup.jy = q[2] / 64, setup.j0 = setup.jy * setup.anchor_y;
    setup.z0 = 0.25f, setup.zx = 0.001f, setup.zy = 0.002f;
    setup.w1 = weight[1], setup.w2 = weight[2];
    for (int v = 0; v < 3; ++v) setup.varying[v] = rows[v];
    setup.provoking = rows[0];
    setup.primitive_id = 7, setup.front_facing = 1;
    for (uint32_t k = 0; k < kMaxQuads; ++k) {
      args.primitive[k] = &setup;
      args.x_px[k] = x_px + static_cast<int32_t>(2 * k), args.y_px[k] = y_px;
      args.raster_coverage[k] = args.live_coverage[k] = coverage;
    }
    args.alive = alive;
    args.quad_count = lanes / 4, args.uniform_primitive = !mixed, args.sample_index = sample_index;
    args.push_constants = push.data(), args.sets = sets.address, args.sample_positions = sample_positions.data();
    static std::vector<uint8_t> scratch(1 << 21);
    args.scratch = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~uintptr_t{63});
    args.loops = &loops;
    (*f)(&args);
    return true;
  }
  float out(uint32_t location, uint32_t component, uint32_t lane) const { return args.color[location][component][lane]; }
  uint32_t out_bits(uint32_t location, uint32_t component, uint32_t lane) const {
    return std::bit_cast<uint32_t>(args.color[location][component][lane]);
  }
  static int32_t lane_x(uint32_t lane, int32_t x_px = 4) { return x_px + static_cast<int32_t>(2 * (lane / 4) + (lane & 1)); }
  static int32_t lane_y(uint32_t lane, int32_t y_px = 6) { return y_px + static_cast<int32_t>((lane >> 1) & 1); }
};

}  // namespace tilegpu::test
