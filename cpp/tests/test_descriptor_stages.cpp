// tests/test_descriptor_stages.cpp -- every stage that draws have reads sets alike: dynamic offsets, push descriptors, arrays with holes,
// texel buffers, inline blocks, what is written after it was bound. (More of arrays and textures: tests/test_descriptors_in_stages.py.)
#include "descriptor_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr VkShaderStageFlagBits kStages[] = {VK_SHADER_STAGE_VERTEX_BIT, VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT,
                                             VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, VK_SHADER_STAGE_GEOMETRY_BIT,
                                             VK_SHADER_STAGE_FRAGMENT_BIT};

// A draw over the whole target, of which each pixel gets `expression` as `stage` found it.
struct StageBench {
  Ptr<Device> device;
  Ptr<const PipelineLayout> layout;
  Ptr<Pipeline> pipeline;
  Ptr<Image> target;

  StageBench(VkShaderStageFlagBits stage, uint32_t lanes, const std::string& declarations, const std::string& expression,
             std::vector<DescriptorBinding> bindings, VkDescriptorSetLayoutCreateFlags flags = 0) {
    device = take(Device::create({.threads = 2, .lanes = lanes, .cache_dir = "off"}));
    for (DescriptorBinding& b : bindings) b.stages = static_cast<VkShaderStageFlags>(stage);
    layout = std::make_shared<PipelineLayout>(PipelineLayout{{take(DescriptorSetLayout::create(bindings, flags))}, 0});
    GraphicsPipelineCreateInfo info;
    const auto add = [&](VkShaderStageFlagBits of, const std::string& head, const std::string& body, const std::string& found) {
      const std::string looks = found + " = " + expression + "; ";
      const size_t at = body.find("LOOK");
      std::string text = head + body;
      text.replace(head.size() + at, 4, of == stage ? looks : "");
      info.stages.push_back({module((of == stage ? declarations : "") + text, of), {}});
    };
    const bool control = stage == VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT;
    const std::string out = "layout(location=0) flat out uint r; ";
    add(VK_SHADER_STAGE_VERTEX_BIT, stage == VK_SHADER_STAGE_VERTEX_BIT ? out : "",
        "void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); LOOK }", "r");
    if (control || stage == VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT) {
      add(VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, control ? "layout(location=0) patch out uint p; " : "",
          "layout(vertices=3) out; void main() { gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position; "
          "gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 3; LOOK }",
          "p");
      const std::string hands = control ? "layout(location=0) patch in uint p; " : "";
      add(VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, hands + out,
          "layout(triangles) in; void main() { gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position "
          "+ gl_TessCoord.z * gl_in[2].gl_Position; LOOK " +
              std::string(control ? "r = p; " : "") + "}",
          "r");
      info.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
      info.patch_control_points = 3;
    }
    if (stage == VK_SHADER_STAGE_GEOMETRY_BIT)
      add(stage, out,
          "layout(triangles) in; layout(triangle_strip, max_vertices=3) out; void main() { for (int k = 0; k < 3; ++k) { gl_Position = "
          "gl_in[k].gl_Position; LOOK EmitVertex(); } }",
          "r");
    const bool fragment = stage == VK_SHADER_STAGE_FRAGMENT_BIT;
    add(VK_SHADER_STAGE_FRAGMENT_BIT,
        std::string(fragment ? "" : "layout(location=0) flat in uint r; ") + "layout(location=0) out uint o; ",
        std::string("void main() { LOOK ") + (fragment ? "" : "o = r; ") + "}", "o");
    info.color_formats = {VK_FORMAT_R32_UINT};
    info.layout = layout;
    info.label = "p";
    pipeline = take(device->create_pipeline(info));
    target = take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = kWidth_px, .label = "target"}));
    must(target->ensure_memory());
  }
  Ptr<DescriptorSet> set() const { return take(device->create_descriptor_set(layout->sets[0])); }
  /// Draws pixel after pixel; bind(cb, x) binds what the draw of pixel x finds.
  template <class Bind>
  std::vector<uint32_t> found(uint32_t count, Bind bind) const {
    auto cb = begin_pass(device, target, pipeline);
    for (uint32_t x = 0; x < count; ++x) {
      bind(*cb, x);
      cb->set_scissor({{static_cast<int32_t>(x), 0}, {1, 1}});
      must(cb->draw(3, 1, 0, 0));
    }
    must(cb->end_rendering()), must(cb->end());
    take(device->submit_and_wait({.command_buffers = {cb}}, {}));
    std::vector<uint32_t> row(count);
    std::memcpy(row.data(), target->data(), 4 * count);
    return row;
  }
};

using Row = std::vector<uint32_t>;
const char* name_of(VkShaderStageFlagBits stage) {
  return stage == VK_SHADER_STAGE_VERTEX_BIT                    ? "vertex"
         : stage == VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT    ? "tessellation control"
         : stage == VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT ? "tessellation evaluation"
         : stage == VK_SHADER_STAGE_GEOMETRY_BIT                ? "geometry"
                                                                : "fragment";
}
void check_row(const Row& row, const Row& right, VkShaderStageFlagBits stage, uint32_t lanes) {
  for (size_t x = 0; x < right.size(); x++)
    CHECK(row[x] == right[x], "%s, %u lanes, draw %zu: %u, not %u", name_of(stage), lanes, x, row[x], right[x]);
}

void test_dynamic_offsets(VkShaderStageFlagBits stage, uint32_t lanes) {
  const StageBench bench(stage, lanes,
                         "layout(set=0, binding=0) uniform A { uint a; } as[2]; layout(set=0, binding=1) readonly buffer B { uint b[]; };",
                         "as[0].a + 10u * as[1].a + b[0] + (b.length() == 8 ? 0u : 7000u) + b[8]",
                         {{.binding = 0, .type = kDynamic, .count = 2}, {.binding = 1, .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC}});
  Row uniforms(256), storage(64);
  for (uint32_t i = 0; i < 4; i++) uniforms[i * 64] = i + 1;
  for (uint32_t i = 0; i < 8; i++) storage[i * 8] = 100 * (i + 1);
  const auto set = bench.set();
  const auto a = buffer(uniforms), b = buffer(storage);
  must(set->write(0, 0, of(a, 0, 16)));
  must(set->write(0, 1, of(a, 256, 16)));
  must(set->write(1, 0, of(b, 32, 32)));  // 8 words: the ninth is the next one's, and is not read
  const auto row = bench.found(3, [&](CommandBuffer& cb, uint32_t x) { cb.bind_descriptor_set(0, set, {256 * x, 512 - 256 * x, 32 * x}); });
  check_row(row, {1 + 40 + 200, 2 + 30 + 300, 3 + 20 + 400}, stage, lanes);
}

void test_push_descriptors(VkShaderStageFlagBits stage, uint32_t lanes) {
  const StageBench bench(stage, lanes,
                         "layout(set=0, binding=0) uniform A { uint a; }; layout(set=0, binding=1) readonly buffer B { uint b[]; } bs[2]; "
                         "layout(set=0, binding=2) uniform usampler2D t;",
                         "a + bs[0].b[0] + bs[1].b[0] + texelFetch(t, ivec2(0), 0).x",
                         {{.binding = 0, .type = kUniform}, {.binding = 1, .type = kStorage, .count = 2}, {.binding = 2, .type = kTexture}},
                         VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
  const auto row = bench.found(4, [&](CommandBuffer& cb, uint32_t x) {
    if (x == 0) {
      must(cb.push_descriptor(bench.layout, 0, 0, 0, of(buffer({1, 0, 0, 0}))));
      must(cb.push_descriptor(bench.layout, 0, 1, 0, of(buffer({10}))));
      must(cb.push_descriptor(bench.layout, 0, 1, 1, of(buffer({100}))));
      must(cb.push_descriptor(bench.layout, 0, 2, 0, {{}, 0, VK_WHOLE_SIZE, texel(1000), nearest()}));
    }
    if (x == 1) must(cb.push_descriptor(bench.layout, 0, 1, 1, of(buffer({200}))));  // the others stay
    if (x == 2) must(cb.push_descriptor(bench.layout, 0, 2, 0, {}));
    if (x == 3) must(cb.push_descriptor(bench.layout, 0, 0, 0, of(buffer({2, 0, 0, 0}))));
  });
  check_row(row, {1111, 1211, 211, 212}, stage, lanes);
}

void test_arrays_with_holes(VkShaderStageFlagBits stage, uint32_t lanes) {
  const StageBench bench(
      stage, lanes,
      "layout(set=0, binding=0) uniform A { uint i; uint v; } as[3]; layout(set=0, binding=1) uniform usamplerBuffer t[3]; "
      "layout(set=0, binding=2) uniform I { uint inlined[4]; };",
      "as[as[0].i].v + texelFetch(t[as[0].i], 1).x + uint(textureSize(t[as[0].i])) + inlined[as[0].i]",
      {{.binding = 0, .type = kUniform, .count = 3, .flags = kPartial},
       {.binding = 1, .type = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, .count = 3, .flags = kPartial},
       {.binding = 2, .type = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, .count = 64}});
  const auto words = take(Buffer::create({12, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT, "texels"}));
  must(words->bind(take(DeviceMemory::allocate(12)), 0));
  const uint32_t values[3] = {0, 50, 60};
  std::memcpy(words->data(), values, sizeof values);
  const auto texels = take(BufferView::create({.buffer = words, .format = VK_FORMAT_R32_UINT}));
  std::vector<Ptr<DescriptorSet>> sets;
  for (uint32_t i = 0; i < 4; i++) {  // 1 was never written, 2 is null but in its texels, 3 is none: the last one is taken
    sets.push_back(bench.set());
    must(sets[i]->write(0, 0, of(buffer({i, 7, 0, 0}))));
    must(sets[i]->write(0, 2, {}));
    must(sets[i]->write(1, 2, {{}, 0, VK_WHOLE_SIZE, {}, {}, texels}));
    const uint32_t inlined[16] = {1000, 0, 0, 0, 2000, 0, 0, 0, 3000, 0, 0, 0, 4000, 0, 0, 0};
    must(sets[i]->write_inline(2, 0, inlined, sizeof inlined));
  }
  const auto row = bench.found(4, [&](CommandBuffer& cb, uint32_t x) { cb.bind_descriptor_set(0, sets[x]); });
  check_row(row, {1007, 2000, 3053, 4053}, stage, lanes);
}

void test_update_after_bind(VkShaderStageFlagBits stage, uint32_t lanes) {
  const StageBench bench(stage, lanes, "layout(set=0, binding=0) readonly buffer A { uint a; } as[2];", "as[0].a + as[1].a",
                         {{.binding = 0, .type = kStorage, .count = 2, .flags = kLate}},
                         VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT);
  const auto set = bench.set();
  must(set->write(0, 0, of(buffer({1}))));
  const auto row = bench.found(2, [&](CommandBuffer& cb, uint32_t x) {
    cb.bind_descriptor_set(0, set);
    must(set->write(0, 1, of(buffer({10 + x}))));
    if (x == 1) must(set->write(0, 0, of(buffer({5}))));  // both draws see it
  });
  check_row(row, {16, 16}, stage, lanes);
}

}  // namespace

int main() {
  for (const VkShaderStageFlagBits stage : kStages)
    for (const uint32_t lanes : kAllLanes) {
      test_dynamic_offsets(stage, lanes);
      test_push_descriptors(stage, lanes);
      test_arrays_with_holes(stage, lanes);
      test_update_after_bind(stage, lanes);
    }
  return finish("test_descriptor_stages");
}
