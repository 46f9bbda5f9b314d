// fuzz/common/captured_work.cpp -- see captured_work.hpp.
#include "common/captured_work.hpp"

#include <algorithm>
#include <cassert>

#include "common/bench.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr uint32_t kWidth_px = 12, kHeight_px = 9, kVertices = 24, kStride_B = 32, kWords = 64;
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM, kDepth = VK_FORMAT_D32_SFLOAT_S8_UINT;

const char* const kVertex = R"(#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(push_constant) uniform Push { vec4 shift; };
layout(set = 0, binding = 0) uniform Block { vec4 scale; };
layout(location = 0) out vec4 v_color;
void main() { gl_Position = position * vec4(0.5 + scale.xy / 16.0, 1.0, 1.0) + vec4(shift.xy * 0.1, 0.0, 0.0); v_color = color; })";
const char* const kCapturing = R"(#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16, location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color + float(gl_InstanceIndex); })";
const char* const kFragment = R"(#version 450
layout(constant_id = 3) const float KIND = 0.5;
layout(location = 0) in vec4 v_color;
layout(push_constant) uniform Push { vec4 shift; };
layout(set = 0, binding = 1) uniform sampler2D texels;
layout(set = 0, binding = 2) buffer Counts { uint counts[]; };
layout(location = 0) out vec4 o_color;
void main() {
  if (v_color.a < 0.1) discard;
  atomicAdd(counts[uint(gl_FragCoord.x) & 7u], 1u);
  o_color = v_color * KIND + texture(texels, v_color.xy) * shift.w;
})";
const char* const kPlain = R"(#version 450
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = v_color; })";
const char* const kMesh = R"(#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
layout(location = 0) out vec4 v_color[];
void main() {
  SetMeshOutputsEXT(3, 1);
  for (int k = 0; k < 3; ++k) {
    gl_MeshVerticesEXT[k].gl_Position = vec4(float(k & 1) - 0.5, float(k >> 1) + float(gl_WorkGroupID.x) * 0.2 - 0.5, 0.5, 1.0);
    v_color[k] = vec4(float(gl_WorkGroupID.y) * 0.3, 0.5, float(k), 1.0);
  }
  gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
})";
const char* const kKernel = R"(#version 450
layout(local_size_x_id = 1, local_size_y = 2) in;
layout(constant_id = 1) const uint SIDE = 4;
layout(push_constant) uniform Push { vec4 shift; };
layout(set = 0, binding = 0) buffer Data { uint data[]; };
layout(set = 0, binding = 1) uniform samplerBuffer texels;
layout(set = 0, binding = 2, r32ui) uniform uimage2D image;
layout(set = 0, binding = 3) uniform InlineBlock { uvec4 more; };
void main() {
  uint at = gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * 8u;
  uint value = floatBitsToUint(texelFetch(texels, int(at & 15u)).x + shift.z) + more.y;
  if (at < data.length()) data[at] = value + gl_NumWorkGroups.x;
  imageStore(image, ivec2(at & 3u, at >> 2), uvec4(value));
})";

struct Maker {
  Choices c;
  const Ptr<Device>& device;
  CapturedWork out = {};
  Ptr<ImageView> color = {}, multisampled = {}, depth = {}, texture = {}, words_image = {};
  Ptr<Buffer> vertices = {}, indices = {}, arguments = {}, block = {}, counts = {}, data = {}, results = {};
  Ptr<QueryPool> occlusion = std::make_shared<QueryPool>(QueryType::occlusion, 4);
  Ptr<QueryPool> generated = std::make_shared<QueryPool>(QueryType::primitives_generated, 2);
  uint32_t objects = 0, next_query = 0;

  bool check(const Status& status) {
    if (!status && out.refused.empty()) out.refused = status.error().message;
    return out.refused.empty();
  }
  template <class T>
  T made(Expected<T> result) {
    if (result) return std::move(*result);
    check(result.error());
    return {};
  }
  std::string label(const char* what) { return what + std::to_string(objects++); }

  // -- objects

  Ptr<Buffer> buffer(uint64_t size_B) {
    assert(size_B % 4 == 0);
    Ptr<Buffer> one = patterned_buffer(size_B, 0);
    for (uint64_t k = 0; k < size_B && c.left_B(); k += 4) one->data()[k] = static_cast<uint8_t>(k * 5);
    return one;
  }
  Ptr<ImageView> image(ImageCreateInfo info, ImageViewCreateInfo view = {}) {
    info.label = label("image ");
    view.image = take(Image::create(info), "an image");
    take(view.image->ensure_memory(), "memory of an image");
    return take(ImageView::create(view), "a view");
  }
  void make_objects() {
    const VkImageCreateFlags flags = c.coin() ? VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT : 0;
    color = image({.format = kColor, .width_px = kWidth_px, .height_px = kHeight_px, .mip_levels = 1 + c.below(2), .flags = flags},
                  {.level_count = 1});
    multisampled = image({.format = kColor, .width_px = kWidth_px, .height_px = kHeight_px, .samples = VK_SAMPLE_COUNT_4_BIT});
    depth = image({.format = kDepth, .width_px = kWidth_px, .height_px = kHeight_px, .samples = VK_SAMPLE_COUNT_1_BIT});
    const auto swizzle = [&] { return static_cast<VkComponentSwizzle>(c.below(VK_COMPONENT_SWIZZLE_A + 1)); };
    ImageViewCreateInfo view{.format = c.coin() ? VK_FORMAT_R8G8B8A8_SRGB : kColor,
                             .swizzle = {swizzle(), swizzle(), swizzle(), swizzle()}};
    view.min_lod = c.unit();
    texture = image({.format = kColor, .width_px = 8, .height_px = 4, .mip_levels = 3, .flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT}, view);
    Image& texels = *texture->image();
    for (uint64_t k = 0; k < texels.required_B(); ++k) texels.data()[k] = static_cast<uint8_t>(k * 37 + (k >> 5));
    words_image = image({.format = VK_FORMAT_R32_UINT,
                         .width_px = 4,
                         .height_px = 16,
                         .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT});
    vertices = buffer(kVertices * kStride_B), indices = buffer(64), arguments = buffer(128), block = buffer(512), counts = buffer(256);
    data = buffer(kWords * 4), results = buffer(1024);
    float values[kVertices * kStride_B / 4];
    for (float& v : values) v = c.left_B() ? c.unit() * 2 - 1 : 0.5f;
    for (uint32_t k = 0; k < kVertices; ++k) values[k * 8 + 2] = c.unit(), values[k * 8 + 3] = 1;
    std::memcpy(vertices->data(), values, sizeof values);
    for (uint32_t k = 0; k < 32; ++k) indices->data()[k * 2] = static_cast<uint8_t>(k % kVertices), indices->data()[k * 2 + 1] = 0;
    // A draw, an indexed one, groups, and numbers of draws: each is small, whichever is read as which.
    for (uint32_t k = 0; k < 32; ++k) {
      const uint32_t number = k % 5 == 4 ? 0 : 1 + c.below(6);
      std::memcpy(arguments->data() + k * 4, &number, 4);
    }
  }
  Ptr<Sampler> random_sampler() {
    SamplerCreateInfo info;
    const uint8_t bits = c.byte();
    info.mag_filter = static_cast<VkFilter>(bits & 1), info.min_filter = static_cast<VkFilter>(bits >> 1 & 1);
    info.mipmap_mode = static_cast<VkSamplerMipmapMode>(bits >> 2 & 1);
    for (VkSamplerAddressMode* mode : {&info.address_u, &info.address_v, &info.address_w})
      *mode = static_cast<VkSamplerAddressMode>(c.below(VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE + 1));
    info.mip_lod_bias = c.unit() * 2 - 1, info.min_lod = c.unit(), info.max_lod = c.coin() ? 2 : VK_LOD_CLAMP_NONE;
    info.border_color = c.coin() ? VK_BORDER_COLOR_FLOAT_CUSTOM_EXT : static_cast<VkBorderColor>(2 * c.below(3));
    for (float& value : info.custom_border_color.float32) value = c.unit();
    info.max_anisotropy = c.seldom(4) && info.min_filter == VK_FILTER_LINEAR ? 4.0f : 1.0f;
    return made(Sampler::create(info));
  }

  // -- states and pipelines

  VkStencilOpState face() {
    const auto op = [&] { return static_cast<VkStencilOp>(c.below(8)); };
    return {op(), op(), op(), static_cast<VkCompareOp>(c.below(8)), c.byte(), c.byte(), c.byte()};
  }
  GraphicsState state() {
    GraphicsState s;
    constexpr VkPrimitiveTopology kTopologies[] = {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
                                                   VK_PRIMITIVE_TOPOLOGY_LINE_LIST, VK_PRIMITIVE_TOPOLOGY_POINT_LIST};
    s.topology = c.of(kTopologies);
    const uint8_t bits = c.byte();
    RasterizationState& r = s.rasterization;
    r.depth_clamp = bits & 1, r.depth_bias_enable = bits & 2, r.provoking_vertex_last = bits & 4;
    r.front_face = static_cast<VkFrontFace>(bits >> 3 & 1), r.cull_mode = bits & 16 ? c.below(3) : 0;
    r.rasterizer_discard = (bits & 224) == 224;
    r.depth_bias_constant = c.unit(), r.depth_bias_slope = c.unit(), r.depth_bias_clamp = c.unit(), r.line_width = 1 + c.unit();
    r.line_mode = VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT;
    r.line_stipple = c.coin(), r.line_stipple_pattern = c.half(), r.line_stipple_factor = 1 + c.below(3);
    DepthStencilState& d = s.depth_stencil;
    const uint8_t tests = c.byte();
    d.depth_test = tests & 1, d.depth_write = tests & 2, d.depth_compare = static_cast<VkCompareOp>(tests >> 2 & 7);
    d.depth_bounds_test = (tests & 96) == 96, d.min_depth_bounds = c.unit() / 2, d.max_depth_bounds = 0.5f + c.unit() / 2;
    d.stencil_test = tests & 128, d.front = face(), d.back = face();
    const auto factor = [&] { return static_cast<VkBlendFactor>(c.below(VK_BLEND_FACTOR_SRC_ALPHA_SATURATE + 1)); };
    const auto op = [&] { return static_cast<VkBlendOp>(c.below(5)); };
    s.blend.attachments = {{c.coin(), factor(), factor(), op(), factor(), factor(), op(), 15u & ~c.below(8)}};
    for (float& constant : s.blend_constants) constant = c.unit();
    s.multisample.sample_mask = c.coin() ? ~0u : uint32_t{c.half()};
    s.viewports = {{c.unit(), c.unit(), kWidth_px - c.unit(), kHeight_px - c.unit(), c.unit() / 4, 1 - c.unit() / 4}};
    s.scissors = {{{static_cast<int32_t>(c.below(3)), 0}, {kWidth_px - c.below(4), kHeight_px - c.below(3)}}};
    s.vertex_bindings = {{{0, kStride_B, VK_VERTEX_INPUT_RATE_VERTEX}, 1}};
    s.vertex_attributes = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0}, {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 16}};
    return s;
  }
  enum class Kind : uint8_t { drawing, capturing, mesh };
  Ptr<Pipeline> pipeline(Kind kind, VkSampleCountFlagBits samples) {
    GraphicsPipelineCreateInfo info;
    static_cast<GraphicsState&>(info) = state();
    info.multisample.samples = samples;
    const bool draws = kind == Kind::drawing;
    const char* const first = draws ? kVertex : kind == Kind::mesh ? kMesh : kCapturing;
    info.stages = {{own_shader(first, kind == Kind::mesh ? VK_SHADER_STAGE_MESH_BIT_EXT : VK_SHADER_STAGE_VERTEX_BIT), {}},
                   {own_shader(draws ? kFragment : kPlain, VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
    if (draws && c.coin()) {
      const float number = c.unit();
      uint32_t word = 0;
      std::memcpy(&word, &number, 4);
      info.stages[1].specialization = {{3, word}};
    }
    if (kind == Kind::mesh)
      info.vertex_bindings.clear(), info.vertex_attributes.clear(), info.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    if (draws) info.layout = layout;
    info.color_formats = {kColor};
    if (samples == VK_SAMPLE_COUNT_1_BIT)
      info.depth_format = info.stencil_format = kDepth;
    else
      info.depth_stencil = {};
    if (draws && c.coin()) info.dynamic_states.push_back(VK_DYNAMIC_STATE_CULL_MODE);
    if (draws && c.coin()) info.dynamic_states.push_back(VK_DYNAMIC_STATE_DEPTH_COMPARE_OP);
    info.label = label("pipeline ");
    return made(device->create_pipeline(info));
  }
  Ptr<const PipelineLayout> layout = {};
  Ptr<DescriptorSet> set = {};
  void make_set() {
    const Ptr<Sampler> sampler = random_sampler();
    if (!sampler) return;
    const bool immutable = c.coin();
    std::vector<DescriptorBinding> bindings = {{0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC},
                                               {1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER},
                                               {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER}};
    if (immutable) bindings[1].immutable_samplers = {sampler};
    const auto of = made(DescriptorSetLayout::create(bindings));
    if (!of) return;
    layout = std::make_shared<PipelineLayout>(PipelineLayout{{of}, 16});
    set = made(device->create_descriptor_set(of));
    if (!set) return;
    Descriptor uniform, texels, storage;
    uniform.buffer = block, uniform.range_B = 64, texels.view = texture, storage.buffer = counts, storage.offset_B = 64 * c.below(3);
    if (!immutable) texels.sampler = sampler;
    check(set->write(0, 0, uniform)), check(set->write(1, 0, texels)), check(set->write(2, 0, storage));
  }

  // -- commands

  void draw(CommandBuffer& cb, VkSampleCountFlagBits samples) {
    const Ptr<Pipeline> one = pipeline(Kind::drawing, samples);
    if (!one) return;
    cb.bind_pipeline(one);
    const GraphicsState other = state();
    if (one->dynamic().has(DynamicState::cull_mode)) cb.set_cull_mode(other.rasterization.cull_mode);
    if (one->dynamic().has(DynamicState::depth_compare_op)) cb.set_depth_compare_op(other.depth_stencil.depth_compare);
    if (c.coin()) cb.set_viewport(other.viewports[0]);
    if (c.coin()) cb.set_stencil_reference(VK_STENCIL_FACE_FRONT_AND_BACK, c.byte());
    cb.bind_descriptor_set(0, set, {64 * c.below(4)});
    const float push[4] = {c.unit(), c.unit(), c.unit(), c.unit()};
    check(cb.push_constants(0, push, sizeof push));
    const uint32_t places[] = {c.below(3), c.below(4), c.byte(), 6 + c.below(12)};
    check(cb.bind_vertex_buffer2(0, vertices, kStride_B * places[0], places[2] & 1 ? VK_WHOLE_SIZE : kStride_B * places[3]));
    check(cb.bind_index_buffer2(indices, 2 * places[1], places[2] & 2 ? VK_WHOLE_SIZE : 32, VK_INDEX_TYPE_UINT16));
    // In a list: the arguments of a call are worked out in any order.
    const uint32_t n[] = {3 + c.below(9), 1 + c.below(2), c.below(3), c.below(2), c.below(3), c.below(3)};
    const BufferPlace how_many{arguments, 4 * n[2], 4};
    switch (c.below(6)) {
      case 0:
        check(cb.draw(n[0], n[1], n[2], n[3], n[4]));
        break;
      case 1:
        check(cb.draw_indexed(n[0], n[1], n[2], static_cast<int32_t>(n[5]) - 1, n[3], n[4]));
        break;
      case 2:
        check(cb.draw_indirect(arguments, 4 * n[4], n[1], 16));
        break;
      case 3:
        check(cb.draw_indexed_indirect(arguments, 20 * n[3], n[1], 20));
        break;
      case 4:
        check(cb.draw_indirect_count(arguments, 16, how_many, 1 + n[4], 16));
        break;
      default:
        check(cb.draw_indexed_indirect_count(arguments, 20, how_many, n[1], 20));
        break;
    }
  }
  void feedback(CommandBuffer& cb) {
    const Ptr<Pipeline> one = pipeline(Kind::capturing, VK_SAMPLE_COUNT_1_BIT);
    if (!one) return;
    cb.bind_pipeline(one);
    cb.bind_vertex_buffer(0, vertices, 0);
    const BufferPlace to{results, 512, 256}, counter{results, 1000, 4};
    check(cb.bind_transform_feedback_buffers(0, std::span(&to, 1)));
    const bool counts_on = c.coin();
    const std::span<const BufferPlace> counters(&counter, counts_on ? 1 : 0);
    const bool counted = c.coin();
    if (counted) check(cb.begin_query_indexed(generated, 0, false, 0));
    check(cb.begin_transform_feedback(0, counters));
    check(cb.draw(3, 1 + c.below(2), c.below(4), 0));
    check(cb.end_transform_feedback(0, counters));
    if (counted) check(cb.end_query(generated, 0));
  }
  RenderingInfo rendering(bool first, VkSampleCountFlagBits samples, VkRenderingFlags flags) {
    RenderingInfo info;
    info.flags = flags, info.label = label("pass ");
    RenderingAttachment a, ds;
    a.view = samples == VK_SAMPLE_COUNT_1_BIT ? color : multisampled;
    a.load_op = first || samples != VK_SAMPLE_COUNT_1_BIT ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD;
    for (float& value : a.clear.color.float32) value = c.unit();
    if (samples != VK_SAMPLE_COUNT_1_BIT) a.resolve_view = color, a.resolve_mode = VK_RESOLVE_MODE_AVERAGE_BIT;
    info.color = {a};
    if (samples == VK_SAMPLE_COUNT_1_BIT) {
      ds.view = depth, ds.load_op = first ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD;
      ds.clear.depthStencil = {c.unit(), c.byte()};
      info.depth = info.stencil = ds;
    }
    const uint32_t x = first ? 0 : c.below(4);
    info.render_area = {{static_cast<int32_t>(x), 0}, {kWidth_px - x, kHeight_px}};
    info.desc.draws_a_part = c.below(3), info.desc.transaction_elimination = c.coin();
    return info;
  }
  void clear(CommandBuffer& cb) {
    VkClearValue value{};
    if (c.coin()) {
      value.depthStencil = {c.unit(), c.byte()};
      check(cb.clear_attachment(-1, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT, value, {{4, 1}, {3 + c.below(4), 4}}));
    } else {
      for (float& part : value.color.float32) part = c.unit();
      check(cb.clear_attachment(0, VK_IMAGE_ASPECT_COLOR_BIT, value, {{4, 2}, {3, 2 + c.below(4)}}));
    }
  }
  Ptr<CommandBuffer> part() {
    auto secondary = std::make_shared<CommandBuffer>(device, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    check(secondary->begin(InheritanceInfo{{kColor}, kDepth, kDepth, 1, 0, false, label("part ")}));
    draw(*secondary, VK_SAMPLE_COUNT_1_BIT);
    if (c.coin()) clear(*secondary);
    if (!check(secondary->end())) return nullptr;
    return secondary;
  }
  void one_of_a_pass(CommandBuffer& cb, VkSampleCountFlagBits samples) {
    const bool single = samples == VK_SAMPLE_COUNT_1_BIT;
    const uint32_t which = c.below(8);
    if (which == 0 && single) {
      if (const Ptr<CommandBuffer> secondary = part()) check(cb.execute_commands({secondary}));
    } else if (which == 1 && single) {
      clear(cb);
    } else if (which == 2) {
      const BufferPlace word{counts, 4 * c.below(8), 4};
      check(cb.begin_conditional_rendering(word, c.coin()));
      draw(cb, samples);
      check(cb.end_conditional_rendering());
    } else if (which == 3 && next_query < 4) {
      check(cb.begin_query(occlusion, next_query, true));
      draw(cb, samples);
      check(cb.end_query(occlusion, next_query++));
    } else if (which == 4 && single) {
      if (const Ptr<Pipeline> mesh = pipeline(Kind::mesh, samples)) {
        cb.bind_pipeline(mesh);
        const uint32_t groups = 1 + c.below(3);
        check(c.coin() ? cb.draw_mesh_tasks(groups, 2, 1) : cb.draw_mesh_tasks_indirect(arguments, 0, groups, 12));
      }
    } else {
      draw(cb, samples);
    }
  }
  void pass(CommandBuffer& cb, bool first) {
    const VkSampleCountFlagBits samples = first || !c.seldom(3) ? VK_SAMPLE_COUNT_1_BIT : VK_SAMPLE_COUNT_4_BIT;
    if (!check(cb.begin_rendering(rendering(first, samples, 0)))) return;
    for (uint32_t k = 1 + c.below(3); k > 0 && out.refused.empty(); --k) one_of_a_pass(cb, samples);
    check(cb.end_rendering());
  }

  void dispatch(CommandBuffer& cb) {
    std::vector<DescriptorBinding> bindings = {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER},
                                               {1, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER},
                                               {2, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE},
                                               {3, VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, 16}};
    for (DescriptorBinding& binding : bindings) binding.stages = VK_SHADER_STAGE_COMPUTE_BIT;
    const auto of = made(DescriptorSetLayout::create(bindings));
    if (!of) return;
    ComputePipelineCreateInfo info;
    info.stage = {own_shader(kKernel, VK_SHADER_STAGE_COMPUTE_BIT), {{1, 1 + c.below(4)}}};
    info.layout = std::make_shared<PipelineLayout>(PipelineLayout{{of}, 16}), info.label = label("kernel ");
    const auto kernel = made(device->create_pipeline(info));
    const auto of_kernel = made(device->create_descriptor_set(of));
    if (!kernel || !of_kernel) return;
    Descriptor storage, texels, storage_image;
    storage.buffer = data, storage.range_B = 64 + 64 * c.below(3), storage_image.view = words_image;
    texels.texels = made(BufferView::create({.buffer = block, .format = VK_FORMAT_R32_SFLOAT, .offset_B = 256 * c.below(2)}));
    const uint32_t words[4] = {c.byte(), c.byte(), 2, 3};
    check(of_kernel->write(0, 0, storage)), check(of_kernel->write(1, 0, texels)), check(of_kernel->write(2, 0, storage_image));
    check(of_kernel->write_inline(3, 0, words, sizeof words));
    cb.bind_pipeline(kernel);
    cb.bind_descriptor_set(0, of_kernel, {}, VK_PIPELINE_BIND_POINT_COMPUTE);
    const float push[4] = {c.unit(), c.unit(), c.unit(), c.unit()};
    check(cb.push_constants(0, push, sizeof push));
    const uint32_t n[] = {c.below(3), c.below(2), c.below(2)};
    switch (c.below(3)) {
      case 0:
        check(cb.dispatch(1 + n[0], 1 + n[1], 1));
        break;
      case 1:
        check(cb.dispatch_base(n[1], n[2], 0, 1 + n[0], 1, 1));
        break;
      default:
        check(cb.dispatch_indirect(arguments, 4 * n[1]));
        break;
    }
  }
  void transfer(CommandBuffer& cb) {
    constexpr VkImageSubresourceLayers kLayers{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const auto below3 = [&] { return static_cast<int32_t>(c.below(3)); };
    const VkBufferCopy2 copy{{}, {}, 4 * c.below(8), 4 * c.below(8), 4 + 4 * c.below(16)};
    const VkBufferImageCopy2 picture{{}, {}, 16 * c.below(3), 0, 0, kLayers, {below3(), below3(), 0}, {2 + c.below(3), 1 + c.below(2), 1}};
    const VkImageCopy2 images{{}, {}, kLayers, {below3(), below3(), 0}, kLayers, {below3(), 0, 0}, {1 + c.below(4), 1 + c.below(2), 1}};
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, c.below(2), 1, 0, 1};
    const uint8_t bytes[8] = {c.byte(), 2, 3, 4, c.byte(), 6, 7, 8};
    const VkImageBlit2 blit{{}, {}, kLayers, {{0, 0, 0}, {4 + below3(), 4, 1}}, kLayers, {{0, 1, 0}, {6 + below3(), 3, 1}}};
    const Ptr<Image>&to = color->image(), &from = texture->image();
    switch (c.below(11)) {
      case 0:
        return void(check(cb.copy_buffer(vertices, results, std::span(&copy, 1))));
      case 1:
        return void(check(cb.copy_buffer_to_image(block, from, std::span(&picture, 1))));
      case 2:
        return void(check(cb.copy_image_to_buffer(from, results, std::span(&picture, 1))));
      case 3:
        return void(check(cb.copy_image(from, to, std::span(&images, 1))));
      case 4:
        return void(check(cb.blit_image(from, to, std::span(&blit, 1), static_cast<VkFilter>(c.below(2)))));
      case 5:
        return void(check(cb.fill_buffer(results, copy.srcOffset, copy.size, c.word())));
      case 6:
        return void(check(cb.update_buffer(data, copy.dstOffset, bytes)));
      case 7:
        return void(check(cb.clear_color_image(from, {{c.unit(), c.unit(), c.unit(), c.unit()}}, std::span(&all, 1))));
      case 8:
        return void(check(cb.generate_mipmaps(from)));
      case 9:
        return void(check(
            cb.copy_query_pool_results(occlusion, 0, 4, results, 768, 16, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)));
      default:
        return cb.pipeline_barrier();
    }
  }

  void record() {
    for (uint32_t k = 1 + c.below(2); k > 0 && out.refused.empty(); --k) {
      auto cb = std::make_shared<CommandBuffer>(device);
      check(cb->begin());
      const bool first = out.command_buffers.empty();
      if (first) check(cb->reset_query_pool(occlusion, 0, 4)), check(cb->reset_query_pool(generated, 0, 2));
      pass(*cb, first);
      for (uint32_t more = c.below(4); more > 0 && out.refused.empty(); --more) {
        const uint32_t which = c.below(5);
        if (which == 0) pass(*cb, false);
        if (which == 1) dispatch(*cb);
        if (which > 2) transfer(*cb);
        if (which == 2) {
          if (!check(cb->begin_rendering(rendering(false, VK_SAMPLE_COUNT_1_BIT, 0)))) return;
          feedback(*cb);
          check(cb->end_rendering());
        }
      }
      check(cb->end());
      out.command_buffers.push_back(cb);
    }
  }
};

}  // namespace

CapturedWork captured_work(Choices choices, const Ptr<Device>& device) {
  assert(device);
  Maker maker{choices, device};
  maker.make_objects();
  maker.make_set();
  if (maker.out.refused.empty()) maker.record();
  return std::move(maker.out);
}

}  // namespace tilegpu::fuzz
