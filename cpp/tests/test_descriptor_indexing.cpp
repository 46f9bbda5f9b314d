// tests/test_descriptor_indexing.cpp -- arrays of descriptors without a length: indices that differ by lane, sets with a variable count,
// indices beyond them, what a set takes for itself; vertex buffers that are null.
#include "descriptor/set_memory.hpp"
#include "descriptor_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr VkDescriptorBindingFlags kVariable = VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
const std::string kNonuniform =
    "#extension GL_EXT_nonuniform_qualifier : require\n#extension GL_EXT_samplerless_texture_functions : require\n";

std::vector<uint32_t> row_of(uint32_t (*value)(uint32_t x)) {
  std::vector<uint32_t> row;
  for (uint32_t x = 0; x < kWidth_px; ++x) row.push_back(value(x));
  return row;
}

/// Twelve elements of a layout of 2^20; pixels 12 to 15 ask for more, and pixel 15 for number 2^32 - 1.
void test_each_kind() {
  struct Case {
    const char *declaration, *read;
    VkDescriptorType type;
  };
  const Case cases[] = {
      {"uniform utexture2D t[]; layout(set=0, binding=0) uniform sampler s;",
       "r = texture(usampler2D(t[nonuniformEXT(i)], s), vec2(0.5)).x + uint(textureSize(t[nonuniformEXT(i)], 0).x) * 100u;", kImage},
      {"uniform usampler2D t[];", "r = texture(t[nonuniformEXT(i)], vec2(0.5)).x + uint(textureSize(t[nonuniformEXT(i)], 0).x) * 100u;",
       kTexture},
      {"uniform B { uint word; } b[];", "r = b[nonuniformEXT(i)].word + 100u; if (i > 11u) r -= 100u;", kUniform},
      {"buffer B { uint word[]; } b[];", "r = b[nonuniformEXT(i)].word[0] + uint(b[nonuniformEXT(i)].word.length()) * 100u;", kStorage},
      {"uniform writeonly uimage2D t[];", "r = uint(imageSize(t[nonuniformEXT(i)]).x) * (i + 101u);", VK_DESCRIPTOR_TYPE_STORAGE_IMAGE}};
  for (const Case& c : cases) {
    for (const uint32_t lanes : kAllLanes) {
      Bench bench(kNonuniform + "layout(set=0, binding=1) " + c.declaration, std::string("uint i = x == 15 ? ~0u : uint(x); ") + c.read,
                  {{{.binding = 0, .type = kSampler, .immutable_samplers = {nearest()}},
                    {.binding = 1, .type = c.type, .count = kMaxDescriptorsOfSet - 1, .flags = kVariable}}},
                  lanes);
      auto set = bench.set(0, 12);
      CHECK(set->memory()->elements.size() == 14);  // not a million
      for (uint32_t i = 0; i < 12; ++i) {
        if (c.type == kUniform || c.type == kStorage)
          must(set->write(1, i, of(buffer({i + 1}))));
        else
          must(set->write(1, i, {.view = texel(i + 1), .sampler = c.type == kTexture ? nearest() : nullptr}));
      }
      refused(set->write(1, 12, {}), "has 12 elements");
      CHECK(bench.draw({set}) == row_of([](uint32_t x) { return x < 12 ? x + 101 : 0; }));
      if (c.type != kUniform) CHECK(bench.draw({bench.set(0, 0)}) == row_of([](uint32_t) { return 0u; }));
      must(set->write(1, 5, {}));  // null, but written
      CHECK(bench.draw({set})[5] == (c.type == kUniform ? 100 : 0));
    }
  }
}

/// Of a layout that says how many: the last one is taken for what is beyond.
void test_a_layout_with_a_length() {
  Bench bench(kNonuniform + "layout(set=0, binding=0) uniform B { uint word; } b[];", "r = b[nonuniformEXT(x)].word;",
              {{{.binding = 0, .type = kUniform, .count = 5}}});
  auto set = bench.set();
  for (uint32_t i = 0; i < 5; ++i) must(set->write(0, i, of(buffer({10 * i}))));
  CHECK(bench.draw({set}) == row_of([](uint32_t x) { return 10 * std::min(x, 4u); }));
}

/// Both differ by lane: pairs of them, and of none of both.
void test_images_and_samplers() {
  const std::string declarations =
      kNonuniform + "layout(set=0, binding=0) uniform utexture2D t[]; layout(set=1, binding=0) uniform sampler s[];";
  Bench bench(declarations, "r = texture(usampler2D(t[nonuniformEXT(x & 7)], s[nonuniformEXT(x >> 2)]), vec2(0.5)).x;",
              {{{.binding = 0, .type = kImage, .count = 1 << 16, .flags = kVariable}},
               {{.binding = 0, .type = kSampler, .count = 100, .flags = kVariable}}});
  auto images = bench.set(0, 7), samplers = bench.set(1, 3);
  for (uint32_t i = 0; i < 7; ++i) must(images->write(0, i, {.view = texel(i + 1)}));
  for (uint32_t i = 0; i < 3; ++i) must(samplers->write(0, i, {.sampler = nearest(static_cast<float>(i))}));
  CHECK(bench.draw({images, samplers}) == row_of([](uint32_t x) { return (x & 7) < 7 && x < 12 ? (x & 7) + 1 : 0; }));
  // More pairs than anybody could make ready.
  auto many = bench.set(0, 1 << 16), all = bench.set(1, 100);
  for (uint32_t i = 0; i < 1 << 16; ++i) must(many->write(0, i, {}));
  for (uint32_t i = 0; i < 100; ++i) must(all->write(0, i, {.sampler = nearest()}));
  auto cb = bench.begin();
  cb->bind_descriptor_set(0, many), cb->bind_descriptor_set(1, all);
  refused(cb->draw(3, 1, 0, 0), "6553600 pairs; at most 4194304");
}

/// Stores and atomics beyond the count reach nothing.
void test_writes_beyond() {
  for (const uint32_t lanes : kAllLanes) {
    Bench bench(kNonuniform + "layout(set=0, binding=0) buffer B { uint word[4]; } b[];",
                "int i = x < 8 ? x : -x; b[nonuniformEXT(i)].word[1] = uint(x) + 1u; r = atomicAdd(b[nonuniformEXT(i)].word[2], 1u);",
                {{{.binding = 0, .type = kStorage, .count = 64, .flags = kVariable}}}, lanes);
    auto set = bench.set(0, 3);
    std::vector<Ptr<Buffer>> buffers;
    for (uint32_t i = 0; i < 3; ++i) {
      buffers.push_back(buffer({7, 7, 7, 7}));
      must(set->write(0, i, of(buffers[i])));
    }
    const auto row = bench.draw({set});
    for (uint32_t i = 0; i < 3; ++i)
      CHECK(word(buffers[i], 0) == 7 && word(buffers[i], 1) == i + 1 && word(buffers[i], 2) == 8 && word(buffers[i], 3) == 7);
    for (uint32_t x = 0; x < kWidth_px; ++x) CHECK(row[x] == (x < 3 ? 7 : 0));
  }
}

/// A set that is updated after it was bound; an inline block too.
void test_update_after_bind() {
  const std::string blocks = "layout(set=0, binding=0) uniform A { uint add; }; layout(set=0, binding=1) uniform B { uint word; } b[];";
  Bench bench(kNonuniform + blocks, "r = b[nonuniformEXT(x)].word + add;",
              {{{.binding = 0, .type = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, .count = 16, .flags = kLate},
                {.binding = 1, .type = kUniform, .count = 1000, .flags = kLate | kPartial | kVariable}}},
              8, 1, VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT);
  auto set = bench.set(0, 100);
  auto cb = bench.begin();
  cb->bind_descriptor_set(0, set);
  must(cb->draw(3, 1, 0, 0));
  must(cb->end_rendering()), must(cb->end());
  for (uint32_t round = 1; round < 3; ++round) {
    const uint32_t add[4] = {1000 * round};
    must(set->write_inline(0, 0, add, 16));
    must(set->write(1, round, of(buffer({round}))));
    const auto row = bench.execute(cb);
    for (uint32_t x = 0; x < kWidth_px; ++x) CHECK(row[x] == 1000 * round + (x && x <= round ? x : 0));
  }
}

void test_a_capture_keeps_the_count() {
  Bench bench(kNonuniform + "layout(set=0, binding=0) uniform B { uint word; } b[];", "r = b[nonuniformEXT(x)].word;",
              {{{.binding = 0, .type = kUniform, .count = 1 << 16, .flags = kVariable}}});
  auto set = bench.set(0, 4);
  for (uint32_t i = 0; i < 4; ++i) must(set->write(0, i, of(buffer({i + 5}))));
  auto cb = bench.begin();
  cb->bind_descriptor_set(0, set);
  must(cb->draw(3, 1, 0, 0));
  must(cb->end_rendering()), must(cb->end());
  CHECK(bench.execute(cb) == row_of([](uint32_t x) { return x < 4 ? x + 5 : 0; }));
}

/// Attributes of a null vertex buffer are zeros, and 1 where the format has no fourth component; nothing bound is still an error.
void test_null_vertex_buffers() {
  for (const uint32_t lanes : kAllLanes) {
    Bench bench("", "r = 1u;", {}, lanes);
    GraphicsPipelineCreateInfo info;
    info.stages = {
        {module("layout(location=0) in vec4 v; layout(location=1) in uvec2 w; layout(location=0) flat out uint o;"
                "void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1, 0.5, 1);"
                "o = uint(v.x + v.y + v.z) + uint(v.w) * 10u + w.x * 100u + w.y * 1000u; }",
                VK_SHADER_STAGE_VERTEX_BIT),
         {}},
        {module("layout(location=0) flat in uint o; layout(location=0) out uint r; void main() { r = o; }", VK_SHADER_STAGE_FRAGMENT_BIT),
         {}}};
    info.color_formats = {VK_FORMAT_R32_UINT};
    info.vertex_bindings = {{0, 12, VK_VERTEX_INPUT_RATE_VERTEX}, {1, 8, VK_VERTEX_INPUT_RATE_INSTANCE}};
    info.vertex_attributes = {{0, 0, VK_FORMAT_R32G32B32_SFLOAT, 0}, {1, 1, VK_FORMAT_R32G32_UINT, 0}};
    info.label = "fetch";
    auto pipeline = take(bench.device->create_pipeline(info));
    auto cb = bench.begin();
    cb->bind_pipeline(pipeline);
    cb->bind_vertex_buffer(0, nullptr, 0);
    refused(cb->draw(3, 1, 0, 0), "vertex buffer binding 1 is not bound");
    cb->bind_vertex_buffer(1, buffer({3, 4}), 0);
    must(cb->draw(3, 1, 0, 0));
    must(cb->end_rendering()), must(cb->end());
    CHECK(bench.execute(cb) == row_of([](uint32_t) { return 4310u; }));
  }
}

void test_no_length_anywhere() {
  auto device = take(Device::create({.threads = 1, .cache_dir = "off"}));
  ComputePipelineCreateInfo info;
  info.label = "sums";
  info.stage.module = module(kNonuniform +
                                 "layout(local_size_x = 1) in; layout(set=0, binding=0) buffer B { uint word; } b[];"
                                 "void main() { b[gl_WorkGroupID.x].word = 1u; }",
                             VK_SHADER_STAGE_COMPUTE_BIT);
  CHECK(info.stage.module->reflection().bindings[0].count == 0);
  auto made = device->create_pipeline(std::move(info));
  CHECK(!made && made.error().message.find("'b' (set 0, binding 0) is an array without a length") != std::string::npos);
}

}  // namespace

int main() {
  test_each_kind();
  test_a_layout_with_a_length();
  test_images_and_samplers();
  test_writes_beyond();
  test_update_after_bind();
  test_a_capture_keeps_the_count();
  test_null_vertex_buffers();
  test_no_length_anywhere();
  return tilegpu::test::finish("test_descriptor_indexing");
}
