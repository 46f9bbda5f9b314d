// tests/test_descriptor_sets.cpp -- descriptor sets: what a draw sees of them, and when. One pixel a result, each by every number of lanes.
#include <cstdio>
#include <thread>

#include "descriptor_fixture.hpp"
#include "tilegpu/capture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

// -- layouts ------------------------------------------------------------------------------------------------------------------------

void test_layouts() {
  auto layout = take(DescriptorSetLayout::create({{.binding = 4, .type = kTexture, .count = 3},
                                                  {.binding = 1, .type = kUniform},
                                                  {.binding = 7, .type = kDynamic, .count = 2},
                                                  {.binding = 9, .type = kImage}}));
  CHECK(layout->bindings()[0].binding == 1 && layout->elements(0) == 7 && layout->dynamic_buffers() == 2);
  uint32_t end_B = 0;
  for (const DescriptorBinding& b : layout->bindings()) {
    const auto& place = layout->place(b);
    CHECK(place.offset_B >= end_B && place.offset_B % 8 == 0);
    end_B = place.offset_B + place.stride_B * b.count;
  }
  CHECK(end_B <= layout->size_B(0) && !layout->find(5) && layout->find(7)->count == 2);
  const auto refuse = [](std::vector<DescriptorBinding> bindings, VkDescriptorSetLayoutCreateFlags flags, const char* text) {
    auto made = DescriptorSetLayout::create(std::move(bindings), flags);
    if (CHECK_MESSAGE(!made, text)) CHECK_MESSAGE(made.error().message.find(text) != std::string::npos, made.error().message);
  };
  refuse({{.binding = 1}, {.binding = 1}}, 0, "given twice");
  refuse({{.type = VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR}}, 0, "not supported");
  refuse({{.type = kDynamic, .flags = kLate}}, 0, "can't be updated after bind");
  refuse({{.flags = VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT}, {.binding = 1}}, 0, "highest number");
  refuse({{.type = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, .count = 6}}, 0, "multiple of 4");
  refuse({{.type = kTexture, .count = 2, .immutable_samplers = {nearest()}}}, 0, "its count is 2");
  refuse({{.count = kMaxDescriptorsOfSet}, {.binding = 1}}, 0, "at most");
  refuse({{.type = kDynamic}}, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR, "can't be pushed");
}

void test_writes() {
  Bench bench("", "", {{{.binding = 0, .type = kUniform}, {.binding = 4, .type = kStorage, .count = 2}, {.binding = 5, .type = kSampler}}});
  auto set = bench.set();
  auto bare = take(Buffer::create({64, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, "bare"}));
  refused(set->write(0, 0, of(bare)), "needs a buffer with memory");
  auto b = buffer(std::vector<uint32_t>(16));
  CHECK(set->version() == 0 && !set->is_written(0, 0));
  must(set->write(0, 0, of(b, 16, 32)));
  must(set->write(4, 1, of(b, 64)));
  CHECK(set->version() == 2 && set->is_written(0, 0) && set->is_written(4, 1) && !set->is_written(4, 0) && !set->is_written(4, 2));
  refused(set->write(0, 0, of(b, 65)), "outside its buffer");
  refused(set->write(0, 0, of(b, 16, 49)), "has range 49 B");
  refused(set->write(4, 2, of(b)), "element 2 does not exist");
  refused(set->write(1, 0, of(b)), "not in the set's layout");
  refused(set->write(5, 0, of(b)), "needs a sampler");
  refused(set->write(5, 0, {}), "needs a sampler");  // Vulkan has no null sampler
  must(set->write(0, 0, {}));
}

// -- what a draw sees ---------------------------------------------------------------------------------------------------------------

const char* kTwoBuffers = "layout(set=0, binding=0) uniform A { uint a; }; layout(set=0, binding=1) buffer B { uint b[]; };";

// Written after the draw was recorded, executed and recorded again: each draw has what the set held when it was recorded.
void test_recorded_draws_keep_their_set() {
  Bench bench(kTwoBuffers, "r = a + b[0];", {{{.binding = 0, .type = kUniform}, {.binding = 1, .type = kStorage}}});
  auto set = bench.set();
  must(set->write(0, 0, of(buffer({1, 0, 0, 0}))));
  must(set->write(1, 0, of(buffer({10}))));
  auto cb = bench.begin();
  cb->bind_descriptor_set(0, set);
  must(cb->draw(3, 1, 0, 0));
  must(set->write(0, 0, of(buffer({2, 0, 0, 0}))));  // the first draw's buffer lives on
  cb->set_scissor({{8, 0}, {8, 1}});
  must(cb->draw(3, 1, 0, 0));
  must(cb->end_rendering()), must(cb->end());
  must(set->write(0, 0, of(buffer({3, 0, 0, 0}))));
  for (int round = 0; round < 2; ++round) {
    const auto row = bench.execute(cb);
    CHECK(row[0] == 11 && row[7] == 11 && row[8] == 12 && row[15] == 12);
  }
  CHECK(bench.draw({set})[0] == 13);
}

void test_unbound_is_an_error() {
  Bench bench("layout(set=0, binding=2) uniform A { uint a; } named[3];", "r = named[2].a;",
              {{{.binding = 2, .type = kUniform, .count = 3}}});
  auto cb = bench.begin();
  refused(cb->draw(3, 1, 0, 0), "'named' (set 0, binding 2, element 2) is used by the shader, but nothing is bound there");
  auto set = bench.set();
  for (uint32_t i : {0u, 1u}) must(set->write(2, i, of(buffer({i, 0, 0, 0}))));
  cb->bind_descriptor_set(0, set);
  refused(cb->draw(3, 1, 0, 0), "'named' (set 0, binding 2, element 2)");
  must(set->write(2, 2, of(buffer({7, 0, 0, 0}))));
  must(cb->draw(3, 1, 0, 0));
  must(cb->end_rendering()), must(cb->end());
  CHECK(bench.execute(cb)[3] == 7);
  // Another layout, another device.
  Bench other("layout(set=0, binding=2) uniform A { uint a; } named[2];", "r = named[1].a;",
              {{{.binding = 2, .type = kUniform, .count = 2}}});
  cb = bench.begin();
  cb->bind_descriptor_set(0, other.set());
  refused(cb->draw(3, 1, 0, 0), "is of another device");
  cb->bind_descriptor_set(0, take(bench.device->create_descriptor_set(other.layout->sets[0])));
  refused(cb->draw(3, 1, 0, 0), "another layout");
}

void test_layout_types() {
  Bench bench("", "", {{{.binding = 0, .type = kStorage}}});
  GraphicsPipelineCreateInfo info = bench.pipeline->info();
  info.stages[1].module = module("layout(set=0, binding=0) uniform A { uint a; }; layout(location=0) out uint r; void main() { r = a; }",
                                 VK_SHADER_STAGE_FRAGMENT_BIT);
  auto made = bench.device->create_pipeline(info);
  CHECK(!made && made.error().message.find("is a uniform_buffer, the layout has a storage_buffer") != std::string::npos);
}

// -- dynamic offsets, null descriptors, arrays with holes ---------------------------------------------------------------------------

void test_dynamic_offsets() {
  for (uint32_t lanes : kAllLanes) {
    Bench bench(
        "layout(set=0, binding=0) uniform A { uvec4 a; }; layout(set=0, binding=1) uniform B { uint b; } bs[2]; layout(set=0, binding=2) "
        "buffer C { uint c[]; };",
        "r = a.x + a.w * 10u + bs[0].b * 100u + bs[1].b * 1000u + c[x] * 10000u + uint(c.length()) * 100000u;",
        {{{.binding = 0, .type = kDynamic},
          {.binding = 1, .type = kDynamic, .count = 2},
          {.binding = 2, .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC}}},
        lanes);
    auto set = bench.set();
    auto numbers = buffer({1, 2, 3, 4, 5, 6, 7, 8, 9});
    must(set->write(0, 0, of(numbers, 0, 16)));
    must(set->write(1, 0, of(numbers, 4, 4)));
    must(set->write(1, 1, of(numbers, 4, 4)));
    must(set->write(2, 0, of(numbers, 0, 8)));
    CHECK(bench.draw({set}, {0, 0, 4, 0})[0] == 213241u);
    CHECK(bench.draw({set}, {0, 0, 4, 0})[1] == 223241u);
    CHECK(bench.draw({set}, {0, 0, 4, 0})[2] == 203241u);  // beyond the range: 0
    CHECK(bench.draw({set}, {16, 8, 0, 8})[0] == 232485u);
    // Beyond the buffer: cut off, and at the end of all numbers nothing.
    CHECK(bench.draw({set}, {28, 32, 0xffffffffu, 32})[0] == 190008u);
    auto cb = bench.begin();
    cb->bind_descriptor_set(0, set, {0, 0});
    refused(cb->draw(3, 1, 0, 0), "bound with 2 dynamic offsets; its layout has 4");
  }
}

void test_null_descriptors() {
  const std::string declarations =
      "#extension GL_EXT_samplerless_texture_functions : require\n"
      "layout(set=0, binding=0) uniform A { uint a; }; layout(set=0, binding=1) buffer B { uint b[]; };"
      "layout(set=0, binding=2) uniform usampler2D t; layout(set=0, binding=3) uniform utexture2D u; layout(set=0, binding=4) uniform "
      "sampler s; layout(set=0, binding=5) uniform D { uint d; };";
  const std::string body =
      "r = a + b[x] + d; b[x] = 9u; r += atomicAdd(b[0], 5u); r += texture(t, vec2(0.5)).x + textureLod(t, vec2(0.5), 1.0).x + "
      "textureGrad(t, vec2(0.5), vec2(1), vec2(2)).x + texelFetch(t, ivec2(0), 0).x + textureGather(t, vec2(0.5)).y;"
      "r += texture(usampler2D(u, s), vec2(0.5)).x + texelFetch(u, ivec2(0), 0).x; r += uint(b.length() + textureSize(t, 0).x + "
      "textureSize(u, 0).y + textureQueryLevels(t));";
  const std::vector<DescriptorBinding> bindings = {{.binding = 0, .type = kUniform}, {.binding = 1, .type = kStorage},
                                                   {.binding = 2, .type = kTexture}, {.binding = 3, .type = kImage},
                                                   {.binding = 4, .type = kSampler}, {.binding = 5, .type = kDynamic}};
  for (uint32_t lanes : kAllLanes) {
    Bench bench(declarations, body, {bindings}, lanes);
    auto set = bench.set();
    for (uint32_t b : {0u, 1u, 5u, 3u}) must(set->write(b, 0, {}));
    must(set->write(2, 0, {.sampler = nearest()}));
    must(set->write(4, 0, {.sampler = nearest()}));
    for (uint32_t r : bench.draw({set}, {0})) CHECK(r == 0);
    // The same with something there: 1 + 2 + 3, atomics after the store, five times 7, twice 11, lengths 16, 1, 1, 1.
    must(set->write(0, 0, of(buffer({1, 0, 0, 0})))), must(set->write(1, 0, of(buffer(std::vector<uint32_t>(16, 2)))));
    must(set->write(5, 0, of(buffer({3, 0, 0, 0})))), must(set->write(2, 0, {.view = texel(7), .sampler = nearest()}));
    must(set->write(3, 0, {.view = texel(11)}));
    CHECK(bench.draw({set}, {0})[5] >= 6 + 35 + 22 + 19);
  }
}

void test_partially_bound_arrays() {
  const std::string declarations =
      "#extension GL_EXT_nonuniform_qualifier : require\n#extension GL_EXT_samplerless_texture_functions : require\n"
      "layout(set=0, binding=0) buffer B { uint v[]; } b[16]; layout(set=0, binding=1) uniform usampler2D t[16]; layout(set=0, binding=2) "
      "uniform utexture2D u[16]; layout(set=0, binding=3) uniform sampler s[2]; layout(push_constant) uniform P { int p; };";
  const std::string body =
      "r = b[nonuniformEXT(x)].v[0] + texture(t[nonuniformEXT(x)], vec2(0.5)).x + textureLod(usampler2D(u[nonuniformEXT(x)], "
      "s[nonuniformEXT(x & 1)]), vec2(0.5), 0.0).x; r += texelFetch(u[p], ivec2(0), 0).x + b[p].v[0]; b[nonuniformEXT(x)].v[1] = r;";
  const std::vector<DescriptorBinding> bindings = {{.binding = 0, .type = kStorage, .count = 16, .flags = kPartial},
                                                   {.binding = 1, .type = kTexture, .count = 16, .flags = kPartial},
                                                   {.binding = 2, .type = kImage, .count = 16, .flags = kPartial},
                                                   {.binding = 3, .type = kSampler, .count = 2}};
  std::vector<uint32_t> first;
  for (uint32_t lanes : kAllLanes)
    for (uint32_t threads : {1u, 3u}) {
      Bench bench(declarations, body, {bindings}, lanes, threads);
      auto set = bench.set();
      std::vector<Ptr<Buffer>> buffers;
      for (uint32_t i = 0; i < 16; i += 3) {
        buffers.push_back(buffer({i + 1, 0, 77}));
        must(set->write(0, i, of(buffers.back(), 0, 8)));
        must(set->write(1, i, {.view = texel(100 * i), .sampler = nearest(static_cast<float>(i))}));
        must(set->write(2, i, {.view = texel(10000 * i)}));
      }
      for (uint32_t i : {0u, 1u}) must(set->write(3, i, {.sampler = nearest(0.125f * static_cast<float>(i))}));
      const auto row = bench.draw({set});
      for (uint32_t x = 0; x < 16; ++x) CHECK(row[x] == (x % 3 ? 1 : x + 1 + 100 * x + 10000 * x + 1));
      for (uint32_t i = 0; i < buffers.size(); ++i) CHECK(word(buffers[i], 1) == row[3 * i] && word(buffers[i], 2) == 77);  // canaries
      if (first.empty()) first = row;
      CHECK(row == first);
    }
}

// A sampler that is not there gives zeros with every image, whatever other samplers the image was used with.
void test_no_sampler() {
  Bench bench("layout(set=0, binding=0) uniform utexture2D u; layout(set=0, binding=1) uniform sampler s[2];",
              "r = texture(usampler2D(u, s[x & 1]), vec2(0.5)).x;",
              {{{.binding = 0, .type = kImage}, {.binding = 1, .type = kSampler, .count = 2, .flags = kPartial}}});
  auto view = texel(5);
  auto both = bench.set(), one = bench.set();
  for (auto& set : {both, one}) must(set->write(0, 0, {.view = view})), must(set->write(1, 1, {.sampler = nearest(1)}));
  must(both->write(1, 0, {.sampler = nearest(0)}));
  for (int round = 0; round < 2; ++round) {
    CHECK(bench.draw({both})[0] == 5 && bench.draw({both})[1] == 5);
    CHECK(bench.draw({one})[0] == 0 && bench.draw({one})[1] == 5);
  }
}

// Indices from nowhere stay in the binding, offsets in the descriptor's range.
void test_clamps() {
  for (uint32_t lanes : kAllLanes) {
    Bench bench(
        "#extension GL_EXT_nonuniform_qualifier : require\nlayout(set=0, binding=1) buffer B { uint v[]; } b[2]; layout(set=0, binding=2) "
        "uniform usampler2D t[2]; layout(set=0, binding=3) buffer C { uint v[]; } c[2]; layout(push_constant) uniform P { int p; int q; };",
        "r = b[p].v[q] + b[nonuniformEXT(x * p)].v[q] * 3u + texture(t[p], vec2(0.5)).x + texture(t[nonuniformEXT(x * p)], vec2(0.5)).x; "
        "b[p].v[q] = 5u; b[nonuniformEXT(p + x)].v[q + x] = 6u;",
        {{{.binding = 1, .type = kStorage, .count = 2},
          {.binding = 2, .type = kTexture, .count = 2},
          {.binding = 3, .type = kStorage, .count = 2}}},
        lanes);
    auto set = bench.set();
    std::vector<Ptr<Buffer>> all;
    for (uint32_t i : {0u, 1u}) {
      all.push_back(buffer(std::vector<uint32_t>(64, 40 + i)));
      must(set->write(1, i, of(all[i], 64, 128)));
      must(set->write(2, i, {.view = texel(i + 1), .sampler = nearest()}));
      must(set->write(3, i, of(all[i])));
    }
    for (int32_t p : {2, 7, 100000, -1, 0x7fffffff, static_cast<int32_t>(0x80000000)})
      for (int32_t q : {32, 1 << 28, 0x3fffffff, -1, -16}) {
        auto cb = bench.begin();
        cb->bind_descriptor_set(0, set);
        const int32_t push[2] = {p, q};
        must(cb->push_constants(0, push, 8));
        must(cb->draw(3, 1, 0, 0));
        must(cb->end_rendering()), must(cb->end());
        CHECK(bench.execute(cb)[1] == 2 + 2);
        for (uint32_t i : {0u, 1u})
          for (uint32_t k = 0; k < 16; ++k) CHECK(word(all[i], k) == 40 + i && word(all[i], 48 + k) == 40 + i);
      }
  }
}

// -- update after bind, push descriptors, variable counts, copies -------------------------------------------------------------------

void test_update_after_bind() {
  const std::vector<DescriptorBinding> bindings = {{.binding = 0, .type = kUniform, .flags = kLate},
                                                   {.binding = 1, .type = kTexture, .count = 2, .flags = kLate | kPartial}};
  for (uint32_t lanes : kAllLanes) {
    Bench bench("layout(set=0, binding=0) uniform A { uint a; }; layout(set=0, binding=1) uniform usampler2D t[2];",
                "r = a + texture(t[0], vec2(0.5)).x + texelFetch(t[1], ivec2(0), 0).x;", {bindings}, lanes, 1, 0, nullptr);
    auto set = bench.set();
    auto cb = bench.begin();
    cb->bind_descriptor_set(0, set);
    must(cb->draw(3, 1, 0, 0));  // nothing is written yet
    must(cb->end_rendering()), must(cb->end());
    refused(bench.submit(cb), "(set 0, binding 0) is used by the shader, but nothing is bound there");
    must(set->write(0, 0, of(buffer({1, 0, 0, 0}))));
    CHECK(bench.execute(cb)[0] == 1);
    must(set->write(1, 0, {.view = texel(20), .sampler = nearest()}));
    CHECK(bench.execute(cb)[0] == 21);
    must(set->write(1, 1, {.view = texel(300), .sampler = nearest()}));
    must(set->write(0, 0, of(buffer({2, 0, 0, 0}))));
    CHECK(bench.execute(cb)[0] == 322);
    must(set->write(1, 0, {.view = take(ImageView::create({.image = bench.target})), .sampler = nearest()}));
    refused(bench.submit(cb), "(set 0, binding 1)");
  }
}

// One thread writes while another executes: every execution sees one whole state of the set.
void test_writes_while_executing() {
  Bench bench("layout(set=0, binding=0) uniform A { uint a; } a[2];", "r = a[0].a - a[1].a;",
              {{{.binding = 0, .type = kUniform, .count = 2, .flags = kLate}}});
  auto set = bench.set();
  for (uint32_t i : {0u, 1u}) must(set->write(0, i, of(buffer({5, 0, 0, 0}))));
  auto cb = bench.begin();
  cb->bind_descriptor_set(0, set);
  must(cb->draw(3, 1, 0, 0));
  must(cb->end_rendering()), must(cb->end());
  std::thread writer([&] {
    for (uint32_t i = 0; i < 500; ++i) must(set->write(0, 0, of(buffer({i, 0, 0, 0}))));
  });
  for (int round = 0; round < 50; ++round) {
    const auto row = bench.execute(cb);
    for (uint32_t r : row) CHECK(r == row[0]);
  }
  writer.join();
  CHECK(bench.execute(cb)[0] == 499 - 5);
}

void test_push_descriptors() {
  Bench bench(kTwoBuffers, "r = a + b[0];", {{{.binding = 0, .type = kUniform}, {.binding = 1, .type = kStorage}}}, 8, 1,
              VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
  auto cb = bench.begin();
  must(cb->push_descriptor(bench.layout, 0, 0, 0, of(buffer({1, 0, 0, 0}))));
  refused(cb->draw(3, 1, 0, 0), "(set 0, binding 1)");
  must(cb->push_descriptor(bench.layout, 0, 1, 0, of(buffer({10}))));
  must(cb->draw(3, 1, 0, 0));
  cb->set_scissor({{8, 0}, {8, 1}});
  must(cb->push_descriptor(bench.layout, 0, 0, 0, of(buffer({2, 0, 0, 0}))));  // the other stays
  must(cb->draw(3, 1, 0, 0));
  refused(cb->push_descriptor(bench.layout, 1, 0, 0, of(buffer({2}))), "set 1");
  must(cb->end_rendering()), must(cb->end());
  const auto row = bench.execute(cb);
  CHECK(row[0] == 11 && row[8] == 12);
  auto made = bench.device->create_descriptor_set(bench.layout->sets[0]);
  CHECK(!made && made.error().message.find("push") != std::string::npos);
}

void test_variable_count_and_immutable_samplers() {
  constexpr VkDescriptorBindingFlags kVariable = VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
  Bench bench(
      "layout(set=0, binding=0) uniform utexture2D u; layout(set=0, binding=1) uniform sampler s; layout(set=0, binding=2) uniform "
      "usampler2D t[4];",
      "r = texture(usampler2D(u, s), vec2(0.5)).x + texture(t[x & 3], vec2(0.5)).x;",
      {{{.binding = 0, .type = kImage},
        {.binding = 1, .type = kSampler, .immutable_samplers = {nearest()}},
        {.binding = 2,
         .type = kTexture,
         .count = 4,
         .flags = kVariable,
         .immutable_samplers = {nearest(), nearest(), nearest(), nearest()}}}});
  auto set = bench.set(0, 2);
  must(set->write(0, 0, {.view = texel(1)}));
  refused(set->write(1, 0, {.sampler = nearest()}), "immutable");
  refused(set->write(2, 0, {.view = texel(1), .sampler = nearest()}), "leave the sampler out");
  for (uint32_t i : {0u, 1u}) must(set->write(2, i, {.view = texel(10 * (i + 1))}));
  refused(set->write(2, 2, {.view = texel(1)}), "has 2 elements");
  const auto row = bench.draw({set});
  CHECK(row[0] == 11 && row[1] == 21 && row[2] == 1 && row[3] == 1);
  auto many = bench.device->create_descriptor_set(bench.layout->sets[0], 5);
  CHECK(!many && many.error().message.find("variable count is 5") != std::string::npos);
}

void test_inline_blocks_and_copies() {
  constexpr VkDescriptorType kInline = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
  Bench bench("layout(set=0, binding=0) uniform A { uvec4 a; uint b; }; layout(set=0, binding=1) uniform usampler2D t[2];",
              "r = a.x + a.w * 10u + b * 100u + texture(t[1], vec2(0.5)).x * 1000u;",
              {{{.binding = 0, .type = kInline, .count = 20}, {.binding = 1, .type = kTexture, .count = 2}}});
  auto set = bench.set(), other = bench.set();
  const uint32_t words[5] = {1, 2, 3, 4, 5};
  must(set->write_inline(0, 0, words, 20));
  refused(set->write_inline(0, 16, words, 8), "multiples of 4 up to 20");
  for (uint32_t i : {0u, 1u}) must(set->write(1, i, {.view = texel(6 + i), .sampler = nearest()}));
  CHECK(bench.draw({set})[0] == 7541u);
  must(other->copy(*set, 0, 0, 0, 0, 16));
  must(other->copy(*set, 0, 0, 0, 16, 4));
  must(other->copy(*set, 1, 0, 1, 0, 2));
  must(other->copy(*other, 1, 0, 1, 1, 1));
  CHECK(bench.draw({other})[0] == 6141u && bench.draw({set})[0] == 7541u);
  refused(other->copy(*set, 1, 1, 1, 0, 2), "which has 2");
  refused(other->copy(*set, 0, 16, 0, 0, 8), "8 bytes from byte 16");
  refused(other->copy(*set, 0, 0, 0, 4, 20), "multiples of 4 up to 20");
  refused(other->copy(*set, 0, 0, 1, 0, 1), "the types must be the same");
}

// Elements past a binding's end are those of the bindings that follow, on both sides, whatever their sizes are.
void test_copies_over_several_bindings() {
  const std::vector<DescriptorBinding> sizes = {{.binding = 0, .type = kUniform, .count = 2},
                                                {.binding = 2, .type = kUniform, .count = 0},
                                                {.binding = 3, .type = kUniform},
                                                {.binding = 7, .type = kUniform, .count = 3},
                                                {.binding = 8, .type = kTexture}};
  Bench bench(
      "layout(set=0, binding=0) uniform A { uint v; } a[2]; layout(set=0, binding=3) uniform B { uint v; } b; "
      "layout(set=0, binding=7) uniform C { uint v; } c[3];",
      "r = a[0].v + a[1].v * 10u + b.v * 100u + c[0].v * 1000u + c[1].v * 10000u + c[2].v * 100000u;", {sizes});
  auto set = bench.set(), other = bench.set();
  const uint32_t place[6][2] = {{0, 0}, {0, 1}, {3, 0}, {7, 0}, {7, 1}, {7, 2}};
  for (uint32_t i = 0; i < 6; ++i) {
    must(set->write(place[i][0], place[i][1], of(buffer({i + 1, 0, 0, 0}))));
    must(other->write(place[i][0], place[i][1], of(buffer({9, 0, 0, 0}))));
  }
  must(other->copy(*set, 0, 1, 3, 0, 4));  // 2, 3, 4, 5 to b, c[0], c[1], c[2]
  CHECK(bench.draw({other})[0] == 543299u);
  must(other->copy(*set, 0, 5, 0, 1, 1));  // c[2], counted from the first binding
  CHECK(bench.draw({other})[0] == 543269u);
  must(other->copy(*other, 0, 0, 0, 0, 6));
  must(other->copy(*set, 0, 0, 0, 0, 6));
  CHECK(bench.draw({other})[0] == 654321u);
  refused(other->copy(*set, 0, 0, 0, 1, 6), "the types must be the same");
  refused(other->copy(*set, 7, 0, 0, 0, 4), "the types must be the same");
  refused(other->copy(*set, 8, 0, 8, 0, 2), "they and the bindings behind them have fewer");
  CHECK(bench.draw({other})[0] == 654321u);  // nothing of what was refused
}

// Two pipelines whose layouts have the same set 0: it stays bound; what the second does not use may be anything.
void test_compatible_layouts() {
  const std::vector<DescriptorBinding> shared = {{.binding = 0, .type = kUniform}, {.binding = 3, .type = kTexture}};
  Bench bench(
      "layout(set=0, binding=0) uniform A { uint a; }; layout(set=0, binding=3) uniform usampler2D t; layout(set=1, binding=0) uniform "
      "B { uint b; };",
      "r = a + b + texture(t, vec2(0.5)).x;", {shared, {{.binding = 0, .type = kUniform}}});
  auto set = bench.set(0), second = bench.set(1);
  must(set->write(0, 0, of(buffer({1, 0, 0, 0})))), must(set->write(3, 0, {.view = texel(100), .sampler = nearest()}));
  must(second->write(0, 0, of(buffer({10, 0, 0, 0}))));
  auto first = bench.pipeline;
  auto layout = std::make_shared<PipelineLayout>();
  layout->sets = {take(DescriptorSetLayout::create(shared)), take(DescriptorSetLayout::create({{.binding = 0, .type = kImage}}))};
  bench.layout = layout;
  auto other = bench.make("layout(set=0, binding=3) uniform usampler2D t;", "r = texelFetch(t, ivec2(0), 0).x + 5u;");
  auto cb = bench.begin();
  cb->bind_descriptor_set(0, set), cb->bind_descriptor_set(1, second);
  must(cb->draw(3, 1, 0, 0));
  cb->bind_pipeline(other);
  cb->set_scissor({{4, 0}, {4, 1}});
  must(cb->draw(3, 1, 0, 0));
  cb->bind_pipeline(first);
  cb->set_scissor({{8, 0}, {4, 1}});
  must(cb->draw(3, 1, 0, 0));
  must(cb->end_rendering()), must(cb->end());
  const auto row = bench.execute(cb);
  CHECK(row[0] == 111 && row[4] == 105 && row[8] == 111 && row[12] == 111);
}

// Samplers take numbers and give them back: more than there are, one after the other, and pairs of old numbers are made anew.
void test_sampler_numbers() {
  Bench bench("layout(set=0, binding=0) uniform utexture2D u; layout(set=0, binding=1) uniform sampler s;",
              "r = texture(usampler2D(u, s), vec2(x < 8 ? 0.5 : 2.5, 0.5)).x;",
              {{{.binding = 0, .type = kImage}, {.binding = 1, .type = kSampler}}});
  auto set = bench.set();
  must(set->write(0, 0, {.view = texel(5)}));
  for (uint32_t i = 0; i < 5000; ++i) {
    SamplerCreateInfo info = nearest(static_cast<float>(i) * 0.001f)->info();
    const bool border = i % 2;
    info.address_u = border ? VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER : VK_SAMPLER_ADDRESS_MODE_REPEAT;
    must(set->write(1, 0, {.sampler = take(Sampler::create(info))}));
    if (i % 617 > 1) continue;
    const auto row = bench.draw({set});
    CHECK_MESSAGE(row[0] == 5 && row[15] == (border ? 0u : 5u), std::to_string(i) + ": " + std::to_string(row[15]));
  }
  std::vector<Ptr<DescriptorSet>> held;
  Status full = Ok{};
  for (uint32_t i = 0; i < 4200 && full; ++i) {
    held.push_back(bench.set());
    full = held.back()->write(1, 0, {.sampler = nearest(10 + static_cast<float>(i) * 0.01f)});
  }
  refused(full, "more than 4095 samplers");
  held.clear();
  must(set->write(1, 0, {.sampler = nearest(0.5f)}));
}

// Several threads record with the same objects at once.
void test_recording_threads() {
  Bench bench(
      "layout(set=0, binding=0) uniform utexture2D u; layout(set=0, binding=1) uniform sampler s; layout(set=0, binding=2) uniform A { "
      "uint a; };",
      "r = a + textureLod(usampler2D(u, s), vec2(0.5), 0.0).x;",
      {{{.binding = 0, .type = kImage}, {.binding = 1, .type = kSampler}, {.binding = 2, .type = kUniform}}});
  auto view = texel(100);
  std::vector<std::thread> threads;
  std::vector<Ptr<CommandBuffer>> recorded(4);
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 50; ++i) {
        auto set = bench.set();
        must(set->write(0, 0, {.view = view})), must(set->write(1, 0, {.sampler = nearest(static_cast<float>(i % 5))}));
        must(set->write(2, 0, of(buffer({t, 0, 0, 0}))));
        recorded[t] = bench.begin();
        recorded[t]->bind_descriptor_set(0, set);
        must(recorded[t]->draw(3, 1, 0, 0));
        must(recorded[t]->end_rendering()), must(recorded[t]->end());
      }
    });
  for (auto& thread : threads) thread.join();
  for (uint32_t t = 0; t < 4; ++t) CHECK(bench.execute(recorded[t])[9] == 100 + t);
}

// -- captures -----------------------------------------------------------------------------------------------------------------------

/// What a device with other lanes draws of the file.
std::vector<uint32_t> replayed(const Ptr<Device>& device, const Ptr<CommandBuffer>& recorded) {
  const std::string path = "test_descriptor_sets.tgcap";
  must(save_capture(device, {recorded}, path));
  auto other = take(Device::create({.threads = 2, .lanes = 4, .cache_dir = "off"}));
  auto capture = load_capture(other, path);
  std::remove(path.c_str());
  std::vector<uint32_t> row(kWidth_px, 0xdead);
  if (!CHECK_MESSAGE(capture, capture ? "" : capture.error().message)) return row;
  auto done = other->submit_and_wait({.command_buffers = capture->command_buffers}, {});
  if (!CHECK_MESSAGE(done, done ? "" : done.error().message)) return row;
  std::memcpy(row.data(), capture->pictures[0]->image()->data(), 4 * kWidth_px);
  return row;
}

// A set is rewritten between draws and after them; null, inline, dynamic, immutable and variable descriptors are in it.
void test_captured_sets() {
  constexpr VkDescriptorBindingFlags kVariable = VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
  Bench bench(
      "layout(set=1, binding=0) uniform A { uint a; }; layout(set=1, binding=1) uniform B { uint b[2]; }; layout(set=1, binding=2) uniform "
      "C { uvec4 c; }; layout(set=2, binding=0) uniform utexture2D u; layout(set=2, binding=1) uniform sampler s; layout(set=1, binding=5) "
      "uniform usampler2D t[4];",
      "r = a + b[0] * 10u + c.w * 100u + texture(usampler2D(u, s), vec2(0.5)).x * 1000u + texture(t[x & 3], vec2(0.5)).x * 10000u;",
      {{},
       {{.binding = 0, .type = kUniform, .flags = kPartial},
        {.binding = 1, .type = kDynamic},
        {.binding = 2, .type = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, .count = 16},
        {.binding = 5, .type = kTexture, .count = 4, .flags = kVariable | kPartial}},
       {{.binding = 0, .type = kImage}, {.binding = 1, .type = kSampler, .immutable_samplers = {nearest()}}}});
  auto set = bench.set(1, 3), images = bench.set(2);
  const uint32_t words[4] = {9, 9, 9, 3};
  must(set->write(1, 0, of(buffer({0, 5, 6, 0, 0, 0, 0, 0}), 4, 16)));
  must(set->write_inline(2, 0, words, 16));
  must(set->write(5, 0, {.view = texel(7), .sampler = nearest()}));
  must(images->write(0, 0, {.view = texel(4)}));
  auto cb = bench.begin();
  cb->bind_descriptor_set(1, set, {4}), cb->bind_descriptor_set(2, images);
  must(cb->draw(3, 1, 0, 0));
  must(set->write(0, 0, of(buffer({8, 0, 0, 0}))));
  must(set->write(5, 1, {.view = texel(2), .sampler = nearest()}));
  must(images->write(0, 0, {}));
  cb->bind_descriptor_set(1, set, {0});
  cb->set_scissor({{8, 0}, {8, 1}});
  must(cb->draw(3, 1, 0, 0));
  must(cb->end_rendering()), must(cb->end());
  must(set->write(0, 0, {})), must(images->write(0, 0, {.view = texel(1)}));
  must(set->write_inline(2, 12, words, 4));
  const auto row = bench.execute(cb);
  CHECK(row[0] == 74360 && row[1] == 4360 && row[8] == 70358 && row[9] == 20358 && row[10] == 358 && row[11] == 358);
  CHECK(replayed(bench.device, cb) == row);
}

void test_captured_pushes_and_late_sets() {
  Bench pushes(kTwoBuffers, "r = a + b[0];", {{{.binding = 0, .type = kUniform}, {.binding = 1, .type = kStorage}}}, 8, 1,
               VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
  auto cb = pushes.begin();
  for (uint32_t i = 0; i < 3; ++i) {
    must(cb->push_descriptor(pushes.layout, 0, i & 1, 0, of(buffer({i + 1, 0, 0, 0}))));
    if (i == 0) must(cb->push_descriptor(pushes.layout, 0, 1, 0, {}));
    cb->set_scissor({{static_cast<int32_t>(4 * i), 0}, {4, 1}});
    must(cb->draw(3, 1, 0, 0));
  }
  must(cb->end_rendering()), must(cb->end());
  auto row = pushes.execute(cb);
  CHECK(row[0] == 1 && row[4] == 3 && row[8] == 5 && row[12] == 0);
  CHECK(replayed(pushes.device, cb) == row);

  Bench late("layout(set=0, binding=0) uniform A { uint a; };", "r = a;", {{{.binding = 0, .type = kUniform, .flags = kLate}}});
  auto set = late.set();
  must(set->write(0, 0, of(buffer({1, 0, 0, 0}))));
  cb = late.begin();
  cb->bind_descriptor_set(0, set);
  must(cb->draw(3, 1, 0, 0));
  must(cb->end_rendering()), must(cb->end());
  must(set->write(0, 0, of(buffer({2, 0, 0, 0}))));
  CHECK(replayed(late.device, cb)[3] == 2 && late.execute(cb)[3] == 2);
}

}  // namespace

int main() {
  test_layouts();
  test_writes();
  test_recorded_draws_keep_their_set();
  test_unbound_is_an_error();
  test_layout_types();
  test_dynamic_offsets();
  test_null_descriptors();
  test_partially_bound_arrays();
  test_no_sampler();
  test_clamps();
  test_update_after_bind();
  test_writes_while_executing();
  test_push_descriptors();
  test_variable_count_and_immutable_samplers();
  test_inline_blocks_and_copies();
  test_copies_over_several_bindings();
  test_compatible_layouts();
  test_sampler_numbers();
  test_recording_threads();
  test_captured_sets();
  test_captured_pushes_and_late_sets();
  return tilegpu::test::finish("test_descriptor_sets");
}
