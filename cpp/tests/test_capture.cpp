// tests/test_capture.cpp -- captures keep what was recorded, dynamic state, secondary command buffers, parts of passes, and results of
// queries; a capture that is loaded and captured again is the same file, drawn with the same bits and explained in the same words; hostile
// files are errors.
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <random>

#include "capture/draw_state.hpp"
#include "capture/file.hpp"
#include "check.hpp"
#include "command/recording.hpp"

using namespace tilegpu;

namespace {

const char* kVertex = R"(#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(push_constant) uniform Push { float turn; };
layout(location = 0) out vec4 v_color;
void main() {
  float c = cos(turn), s = sin(turn);
  gl_Position = vec4(position.x * c - position.y * s, position.x * s + position.y * c, position.z, 1.0);
  v_color = color;
})";
const char* kFragment = R"(#version 450
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = v_color; })";
constexpr uint32_t kWidth_px = 90, kHeight_px = 70, kVertices = 48, kStride_B = 28;
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM, kDepth = VK_FORMAT_D32_SFLOAT_S8_UINT;
const std::string kPath = "test_capture.tgcap";

template <class T>
T take(Expected<T> result) {
  if (!result) std::fprintf(stderr, "%s\n", result.error().message.c_str()), std::abort();
  return std::move(*result);
}
bool must(const Status& status) { return CHECK_MESSAGE(status, status ? "" : status.error().message); }

struct Random : std::mt19937 {
  using std::mt19937::mt19937;
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((*this)() % n); }
  bool coin() { return below(2); }
  float unit() { return static_cast<float>(below(1001)) / 1000.0f; }
};

VkStencilOpState random_face(Random& r) {
  const auto op = [&] { return static_cast<VkStencilOp>(r.below(8)); };
  return {op(), op(), op(), static_cast<VkCompareOp>(r.below(8)), r.below(256), r.below(256), r.below(4)};
}

// Any state that this test's pass can be drawn with.
GraphicsState random_state(Random& r) {
  GraphicsState s;
  const VkPrimitiveTopology topologies[] = {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
                                            VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN, VK_PRIMITIVE_TOPOLOGY_LINE_STRIP};
  s.topology = topologies[r.below(4)];
  s.primitive_restart = false;
  s.rasterization = {.depth_clamp = r.coin(),
                     .depth_clip = static_cast<DepthClip>(r.below(3)),
                     .depth_clip_negative_one_to_one = r.below(2) != 0,
                     .rasterizer_discard = r.below(6) == 0,
                     .polygon_mode = r.below(4) ? VK_POLYGON_MODE_FILL : VK_POLYGON_MODE_LINE,
                     .cull_mode = r.below(4) ? VK_CULL_MODE_NONE : VK_CULL_MODE_BACK_BIT,
                     .front_face = static_cast<VkFrontFace>(r.below(2)),
                     .depth_bias_enable = r.coin(),
                     .depth_bias_constant = r.unit(),
                     .depth_bias_clamp = 0.5f * r.unit(),
                     .depth_bias_slope = r.unit(),
                     .line_width = 1,
                     .provoking_vertex_last = r.coin(),
                     .rasterization_stream = r.below(8) == 0,
                     .conservative_mode = static_cast<VkConservativeRasterizationModeEXT>(r.below(8) < 3 ? r.below(3) : 0),
                     .extra_overestimation_px = 0.5f * r.unit(),
                     .line_mode = static_cast<VkLineRasterizationModeEXT>(1 + r.below(3)),  // the default has no stipple
                     .line_stipple = r.below(4) == 0,
                     .line_stipple_pattern = static_cast<uint16_t>(r.below(0x10000)),
                     .line_stipple_factor = 1 + r.below(3)};
  s.multisample.sample_locations = {2, {0.25f, static_cast<float>(r.below(16)) / 16, 0.5f, 0.75f}};
  s.multisample.sample_mask = r.below(8) ? ~0u : 0;
  if (const uint32_t n = s.rasterization.line_stipple_factor; n < 3)  // no number of r's: the rest of the scene stays what it was
    s.shading_rate = {1u << n, n, {VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR, VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MAX_KHR}};
  if (s.rasterization.line_stipple_factor == 2)
    s.discard_rectangles = {.enable = true,
                            .mode = VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT,
                            .count = 2,
                            .rectangles = {VkRect2D{{3, 4}, {20, 11}}, VkRect2D{{30, 0}, {5, 90}}}};
  s.depth_stencil = {.depth_test = r.coin(),
                     .depth_write = r.coin(),
                     .depth_compare = static_cast<VkCompareOp>(r.below(8)),
                     .depth_bounds_test = r.below(4) == 0,
                     .min_depth_bounds = 0.3f * r.unit(),
                     .max_depth_bounds = 0.5f + 0.5f * r.unit(),
                     .stencil_test = r.coin(),
                     .front = random_face(r),
                     .back = random_face(r)};
  s.viewports = {VkViewport{5 * r.unit(), 3, kWidth_px - 9.0f, kHeight_px - 5.0f, 0.1f * r.unit(), 1}};
  s.scissors = {VkRect2D{{static_cast<int32_t>(r.below(9)) - 4, 2}, {kWidth_px - r.below(30), kHeight_px}}};
  for (float& c : s.blend_constants) c = r.unit();
  s.vertex_bindings = {{0, kStride_B * (1 + r.below(2)), VK_VERTEX_INPUT_RATE_VERTEX}};
  s.vertex_attributes = {{0, 0, VK_FORMAT_R32G32B32_SFLOAT, 0}, {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 12}};
  s.blend.logic_op_enable = r.below(5) == 0;
  s.blend.logic_op = static_cast<VkLogicOp>(r.below(16));
  s.blend.color_write_enables = r.below(8) ? ~0u : ~1u;
  const auto factor = [&] { return static_cast<VkBlendFactor>(r.below(VK_BLEND_FACTOR_SRC_ALPHA_SATURATE + 1)); };
  const auto op = [&] { return static_cast<VkBlendOp>(r.below(5)); };
  s.blend.attachments = {{r.coin(), factor(), factor(), op(), factor(), factor(), op(), r.below(16)}};
  return s;
}

struct Scene {
  Random random;
  Ptr<Device> device;
  Ptr<Image> image, depth;
  Ptr<ImageView> view, depth_view;
  Ptr<Buffer> vertices, commands;
  Ptr<QueryPool> queries = std::make_shared<QueryPool>(QueryType::occlusion, 4);
  // Begun around secondaries: of passes that a condition lets through, and of those that it does not.
  Ptr<QueryPool> around = std::make_shared<QueryPool>(QueryType::occlusion, 2);
  Ptr<QueryPool> statistics =
      std::make_shared<QueryPool>(QueryType::pipeline_statistics, 2, VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT);
  std::vector<Ptr<Pipeline>> pipelines;
  std::vector<Ptr<CommandBuffer>> primaries;
  float turn = 0;

  explicit Scene(uint32_t seed) : random(seed), device(take(Device::create({.threads = 2, .lanes = 8, .cache_dir = "off"}))) {
    image = take(Image::create({.format = kColor, .width_px = kWidth_px, .height_px = kHeight_px, .label = "out"}));
    depth = take(Image::create({.format = kDepth,
                                .width_px = kWidth_px,
                                .height_px = kHeight_px,
                                .usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                                .label = "depth"}));
    must(image->ensure_memory()), must(depth->ensure_memory());
    view = take(ImageView::create({.image = image}));
    depth_view = take(ImageView::create({.image = depth}));
    vertices = take(Buffer::create({.size_B = 2 * kVertices * kStride_B, .label = "vertices"}));
    commands = take(Buffer::create({.size_B = 64, .label = "commands"}));
    for (const Ptr<Buffer>& buffer : {vertices, commands}) must(buffer->bind(take(DeviceMemory::allocate(buffer->size_B())), 0));
    std::vector<float> values(2 * kVertices * kStride_B / 4);
    for (float& v : values) v = random.unit();
    for (size_t i = 0; i + 1 < values.size(); i += 7) values[i] = 2 * values[i] - 1, values[i + 1] = 2 * values[i + 1] - 1;
    std::memcpy(vertices->data(), values.data(), values.size() * 4);
    const uint32_t indirect[8] = {6, 2, 1, 0, 9, 1, 3, 0};
    std::memcpy(commands->data(), indirect, sizeof indirect);
    for (int i = 0; i < 4; i++) pipelines.push_back(pipeline(i));
  }

  Ptr<Pipeline> pipeline(int number) {
    GraphicsPipelineCreateInfo info;
    static_cast<GraphicsState&>(info) = random_state(random);
    const auto module = [](const char* text, VkShaderStageFlagBits stage) {
      return take(ShaderModule::create(take(compile_glsl({text, "test.glsl", stage, {}, {}})), "test"));
    };
    info.stages = {{module(kVertex, VK_SHADER_STAGE_VERTEX_BIT), {}}, {module(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
    info.color_formats = {kColor};
    info.depth_format = info.stencil_format = kDepth;
    info.label = "p" + std::to_string(number);
    const uint32_t sixteenths = number == 0 ? 0 : number == 1 ? 16 : random.below(17);  // none, all, some
    const bool frames = number % 2;  // the others take the framebuffer's viewport where none is set
    for (uint32_t i = 0; i < kDynamicStates; i++) {
      const DynamicStateInfo& state = dynamic_state_info(static_cast<DynamicState>(i));
      if (random.below(16) < sixteenths && (frames || !pipeline::always_settable().has(state.state)))
        info.dynamic_states.push_back(state.vulkan);
    }
    return take(device->create_pipeline(info));
  }

  // As an application might: some of what is set is set for nothing, pipelines change between, or are bound again.
  void draw(CommandBuffer& cb, bool sets_viewport, int draws) {
    for (int i = 0; i < draws; i++) {
      const Ptr<Pipeline>& pipeline = pipelines[sets_viewport ? random.below(4) : 2 * random.below(2)];
      if (random.below(4) == 0) cb.bind_pipeline(pipelines[random.below(4)]);
      cb.bind_pipeline(pipeline);
      GraphicsState state = random_state(random);
      if (state.rasterization.depth_clip == DepthClip::unless_clamped) state.rasterization.depth_clip = DepthClip::enabled;
      if (!pipeline->dynamic().has(DynamicState::vertex_input)) state.vertex_bindings = pipeline->info().vertex_bindings;
      if (pipeline->dynamic().has(DynamicState::vertex_input_binding_stride)) state.vertex_bindings[0].stride = kStride_B;
      if (pipeline->dynamic().has(DynamicState::color_blend_advanced) &&
          (random.coin() || !pipeline->dynamic().has(DynamicState::color_blend_equation))) {
        auto& a = state.blend.attachments[0];
        a.colorBlendOp = a.alphaBlendOp = static_cast<VkBlendOp>(VK_BLEND_OP_ZERO_EXT + static_cast<int>(random.below(46)));
        state.blend.advanced[0] = {random.coin(), random.coin(), random.coin(), static_cast<VkBlendOverlapEXT>(random.below(3))};
      }
      for (uint64_t left = capture::kept_states(*pipeline).bits; left; left &= left - 1) {
        const auto which = static_cast<DynamicState>(std::countr_zero(left));
        const bool framed = which == DynamicState::viewport || which == DynamicState::scissor;
        if (framed ? sets_viewport : pipeline->dynamic().has(which) || random.coin()) must(capture::set_state(cb, which, state));
      }
      const uint64_t offset_B = kStride_B * random.below(8), size_B = random.coin() ? VK_WHOLE_SIZE : kVertices * kStride_B;
      must(cb.bind_vertex_buffer2(0, vertices, offset_B, size_B, capture::stride_of(*pipeline, state, 0)));
      turn += 0.3f * static_cast<float>(random.below(3));
      must(cb.push_constants(0, &turn, 4));
      must(random.below(4) ? cb.draw(6 + random.below(40), 1, 0, 0) : cb.draw_indirect(commands, 0, 2, 16));
    }
  }
  Ptr<CommandBuffer> begin(VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY) {
    auto cb = std::make_shared<CommandBuffer>(device, level);
    return cb;
  }
  RenderingInfo rendering(const char* label, VkRenderingFlags flags, bool clear) const {
    RenderingAttachment color, ds;
    color.view = view, ds.view = depth_view;
    color.load_op = ds.load_op = clear ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD;
    color.clear.color = {{0.2f, 0.4f, 0.6f, 1.0f}};
    ds.clear.depthStencil = {0.8f, 3};
    return {.flags = flags,
            .render_area = {{3, 5}, {kWidth_px - 20, kHeight_px - 10}},
            .color = {color},
            .depth = ds,
            .stencil = ds,
            .label = label};
  }
  void record() {
    // A part of passes, with a query of its own and a clear; one that runs in a query; a secondary with a whole pass.
    // Some execute others.
    auto part = begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY), counted = begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY),
         whole = begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY), nested = begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY),
         outer = begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    const InheritanceInfo inheritance{{kColor}, kDepth, kDepth, 1, 0, false, "part"};
    InheritanceInfo in_query = inheritance;
    in_query.occlusion_query = true;
    must(nested->begin(inheritance));
    draw(*nested, true, 1);
    must(nested->end());
    must(part->begin(inheritance));
    draw(*part, false, 2);  // the viewport is that of the pass
    must(part->execute_commands({nested}));
    draw(*part, false, 1);
    must(part->begin_query(queries, 1, true));
    draw(*part, random.coin(), 2);
    must(part->end_query(queries, 1));
    must(part->clear_attachment(0, VK_IMAGE_ASPECT_COLOR_BIT, {.color = {{1, 0, 0, 1}}}, {{3, 5}, {12, 12}}));
    must(part->end());
    must(counted->begin(in_query));
    draw(*counted, true, 2);
    must(counted->end());
    const InheritedActivity any{true, statistics->statistics, true};
    must(whole->begin(any));
    must(whole->begin_rendering(rendering("whole", 0, false)));
    draw(*whole, true, 2);
    must(whole->end_rendering());
    must(whole->end());
    must(outer->begin(any)), must(outer->execute_commands({whole})), must(outer->end());

    auto cb = begin();
    must(cb->begin());
    must(cb->begin_rendering(rendering("first", 0, true)));
    draw(*cb, false, 2);
    must(cb->execute_commands({part}));
    must(cb->begin_query(queries, 0, true));
    draw(*cb, true, 1);
    must(cb->execute_commands({counted, counted}));
    must(cb->end_query(queries, 0));
    draw(*cb, true, 2);
    must(cb->execute_commands({}));
    must(cb->end_rendering());
    must(cb->execute_commands({outer}));
    for (const uint32_t query : {0u, 1u}) {
      must(cb->begin_query(around, query, true)), must(cb->begin_query(statistics, query, true));
      must(cb->begin_conditional_rendering({commands, 0}, query != 0));
      must(cb->execute_commands({outer}));
      must(cb->end_conditional_rendering());
      must(cb->end_query(around, query)), must(cb->end_query(statistics, query));
    }
    must(cb->end());
    primaries.push_back(cb);
    for (uint32_t i = 0; i < 3; i++) {  // one pass in three parts
      cb = begin();
      must(cb->begin());
      const VkRenderingFlags flags = (i > 0 ? VK_RENDERING_RESUMING_BIT : 0) | (i < 2 ? VK_RENDERING_SUSPENDING_BIT : 0);
      must(cb->begin_rendering(rendering("parts", flags, false)));
      if (i == 1) must(cb->execute_commands({part}));
      draw(*cb, true, 1 + static_cast<int>(i));
      must(cb->end_rendering());
      must(cb->end());
      primaries.push_back(cb);
    }
  }
};

std::vector<uint8_t> saved(const Ptr<Device>& device, const std::vector<Ptr<CommandBuffer>>& list) {
  if (!must(save_capture(device, list, kPath))) return {};
  std::vector<uint8_t> payload = take(capture::read_file(kPath)).payload;
  std::remove(kPath.c_str());
  return payload;
}
Capture loaded(const Ptr<Device>& device, const std::vector<uint8_t>& payload) {
  must(capture::write_file(kPath, "host", payload));
  Capture capture = take(load_capture(device, kPath));
  std::remove(kPath.c_str());
  return capture;
}

std::string words_of(const Submission& done) {
  std::string text;
  for (size_t pass = 0; pass < done.pass_count(); pass++) {
    const PassStats& stats = done.pass_stats(pass);
    text += "pass of " + std::to_string(done.pass_parts(pass)) + ", " + std::to_string(stats.draws) + " draws, " +
            std::to_string(stats.fragments_shaded) + " fragments\n";
    for (const DrawExplanation& e : done.explain(pass)) {
      text += std::to_string(e.first_draw) + "+" + std::to_string(e.draw_count) + " in " + std::to_string(e.part) + " " + e.pipeline + "|" +
              e.early_tests_off + "|" + e.visibility_off + "|" + e.low_resolution_z_off + "|" + e.plan;
      for (const TechniqueExplanation& t : e.techniques)
        text += "|" + t.technique + t.state + t.rule + t.reason + std::to_string(t.by_draw);
      text += "\n";
    }
  }
  return text;
}

bool is_same(const Image& a, const Image& b, uint32_t texel_B) {
  const SubresourceLayout layout = a.layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
  for (uint32_t y = 0; y < kHeight_px; y++) {
    const uint64_t at_B = layout.offset_B + y * layout.row_pitch_B;
    if (std::memcmp(a.data() + at_B, b.data() + at_B, size_t{kWidth_px} * texel_B) != 0) return false;
  }
  return true;
}

void what_was_recorded_is_kept(uint32_t seed) {
  Scene scene(seed);
  scene.record();
  const std::vector<uint8_t> before = saved(scene.device, scene.primaries);
  const Ptr<Submission> done = take(scene.device->submit_and_wait({scene.primaries, {}}, {}));
  const std::vector<uint8_t> after = saved(scene.device, scene.primaries);
  for (uint32_t lanes : {8u, 4u}) {
    const auto device = take(Device::create({.threads = 2, .lanes = lanes, .cache_dir = "off"}));
    const Capture capture = loaded(device, before);
    if (!CHECK(capture.command_buffers.size() == scene.primaries.size() && capture.pictures.size() == 1)) return;
    CHECK(saved(device, capture.command_buffers) == before);
    const Ptr<Submission> again = take(device->submit_and_wait({capture.command_buffers, {}}, {}));
    CHECK(is_same(*scene.image, *capture.pictures[0]->image(), 4));
    CHECK(saved(device, capture.command_buffers) == after);
    CHECK(scene.statistics->values[0] > 0 && scene.statistics->values[1] == 0 && scene.statistics->available[1]);
    CHECK(scene.around->available[0] && scene.around->values[1] == 0 && scene.around->available[1]);
    const std::string was = words_of(*done), is = words_of(*again);
    if (lanes == 8) CHECK_MESSAGE(was == is, std::string(was).append("\nreplayed:\n").append(is));
  }
}

// Pipelines have the dynamic states that they were created with, and no more of them are made.
void pipelines_are_those_that_were_created() {
  Scene scene(5);
  scene.record();
  const auto device = take(Device::create({.threads = 1, .cache_dir = "off"}));
  const Capture capture = loaded(device, saved(scene.device, scene.primaries));
  std::map<std::string, DynamicStates> found;
  const command::Recording& first = *capture.command_buffers[0]->recording();
  const auto& pass = *std::get<Ptr<const command::Pass>>(first.commands[0]);
  CHECK(pass.executed.size() == 3 && pass.executed[1].recording == pass.executed[2].recording);
  CHECK(pass.executed[0].active_query == -1 && pass.executed[1].active_query == pass.executed[2].active_query);
  CHECK(std::holds_alternative<command::ExecuteCommands>(first.commands[1]));
  for (const command::Bound& bound : pass.bound) found[bound.pipeline->info().label] = bound.pipeline->dynamic();
  for (const Ptr<Pipeline>& pipeline : scene.pipelines)
    if (found.count(pipeline->info().label)) CHECK(found[pipeline->info().label].bits == pipeline->dynamic().bits);
  CHECK(found.size() > 1 && found.size() <= scene.pipelines.size());
}

// What submissions before left in query pools of each type, and with which availability: a recording that copies it finds it there.
void results_of_queries_are_kept() {
  Scene scene(6);  // some of whose samples pass
  scene.record();
  take(scene.device->submit_and_wait({scene.primaries, {}}, {}));
  CHECK(scene.queries->available[0] && scene.queries->available[1] && !scene.queries->available[3]);
  const auto pool = [](QueryType type, VkQueryPipelineStatisticFlags statistics = 0) {
    auto made = std::make_shared<QueryPool>(type, 4, statistics);
    for (size_t i = 0; i + made->results < made->values.size(); i++) made->values[i] = 0x1122334455667788 + i;
    made->available[0] = made->available[3] = true;  // 1 and 2 have partial results, 3 is 0
    return made;
  };
  constexpr VkQueryPipelineStatisticFlags kThree = VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT |
                                                   VK_QUERY_PIPELINE_STATISTIC_CLIPPING_PRIMITIVES_BIT |
                                                   VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT;
  const auto marked = pool(QueryType::occlusion);
  const std::vector<Ptr<QueryPool>> pools = {scene.queries,
                                             marked,
                                             pool(QueryType::timestamp),
                                             pool(QueryType::pipeline_statistics, kThree),
                                             pool(QueryType::primitives_generated),
                                             pool(QueryType::transform_feedback_stream)};
  constexpr uint64_t kPool_B = 4 * 4 * 8;  // at most three results and the availability
  const auto results = take(Buffer::create({.size_B = pools.size() * kPool_B, .label = "results"}));
  must(results->bind(take(DeviceMemory::allocate(results->size_B())), 0));
  auto copies = scene.begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY), cb = scene.begin();
  must(copies->begin());
  for (size_t i = 0; i < pools.size(); i++)
    must(copies->copy_query_pool_results(pools[i], 0, 4, results, i * kPool_B, (pools[i]->results + 1) * 8,
                                         VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT | VK_QUERY_RESULT_PARTIAL_BIT));
  must(copies->end());
  must(cb->begin()), must(cb->execute_commands({copies})), must(cb->end());

  const std::vector<uint8_t> before = saved(scene.device, {cb});
  take(scene.device->submit_and_wait({{cb}, {}}, {}));
  const auto device = take(Device::create({.threads = 1, .cache_dir = "off"}));
  const Capture capture = loaded(device, before);
  CHECK(saved(device, capture.command_buffers) == before);
  take(device->submit_and_wait({capture.command_buffers, {}}, {}));
  const auto& executed = std::get<command::ExecuteCommands>(capture.command_buffers[0]->recording()->commands[0]);
  const auto& copy = std::get<command::CopyQueryPoolResults>(executed.recording->commands[0]);
  CHECK(copy.pool->values[1] > 0 && copy.pool->values[1] == scene.queries->values[1]);
  CHECK(std::memcmp(copy.destination->data(), results->data(), results->size_B()) == 0);

  // Results of a query that the pool has not.
  std::vector<uint8_t> wrong = before;
  const uint64_t first_value = marked->values[0];
  const uint8_t* value = reinterpret_cast<const uint8_t*>(&first_value);
  const auto at = std::search(wrong.begin(), wrong.end(), value, value + 8);
  if (!CHECK(at - wrong.begin() > 5 && at != wrong.end())) return;
  *(at - 5) = 4;  // number, availability, value
  must(capture::write_file(kPath, "host", wrong));
  const auto refused = load_capture(device, kPath);
  std::remove(kPath.c_str());
  CHECK(!refused && refused.error().message.find("a query pool of 4 has results of query 4") != std::string::npos);
}

// A replay is one command after the other: what an event orders is in order there, and nothing waits for a host that isn't.
void a_replay_waits_for_no_event() {
  Scene scene(4);
  const auto set_by_host = std::make_shared<Event>(), set_before = std::make_shared<Event>();
  auto cb = scene.begin();
  must(cb->begin());
  must(cb->set_event(set_before));
  must(cb->wait_events({set_by_host, set_before}));
  must(cb->begin_rendering(scene.rendering("main", 0, true)));
  scene.draw(*cb, true, 2);
  must(cb->wait_events({set_by_host}));
  must(cb->end_rendering());
  must(cb->reset_event(set_before));
  must(cb->end());
  const std::vector<uint8_t> before = saved(scene.device, {cb});
  set_by_host->set();
  take(scene.device->submit_and_wait({{cb}, {}}, {}));
  const Capture capture = loaded(scene.device, before);
  CHECK(capture.command_buffers[0]->recording()->commands.size() == 1);
  take(scene.device->submit_and_wait({capture.command_buffers, {}}, {}));
  CHECK(is_same(*scene.image, *capture.pictures[0]->image(), 4));
}

// Every word may be another: an error, or something that could be drawn.
void hostile_files_are_errors() {
  Scene scene(9);
  scene.record();
  take(scene.device->submit_and_wait({scene.primaries, {}}, {}));  // queries have results
  const std::vector<uint8_t> payload = saved(scene.device, scene.primaries);
  const auto device = take(Device::create({.threads = 1, .cache_dir = "off"}));
  // What this version added stands behind the objects; before them is the memory, in which every value is right.
  const std::string first_label = "vertices";
  const auto labels = std::search(payload.begin(), payload.end(), first_label.begin(), first_label.end());
  const auto begin = static_cast<size_t>(labels - payload.begin());
  if (!CHECK(begin + 1000 < payload.size())) return;
  uint32_t refused = 0;
  constexpr uint32_t kRounds = 250;
  for (uint32_t round = 0; round < kRounds; round++) {
    std::vector<uint8_t> wrong = payload;
    if (round % 10 == 9) {
      wrong.resize(scene.random.below(static_cast<uint32_t>(payload.size())) + 1);
    } else {
      for (uint32_t k = 1 + scene.random.below(3); k > 0; k--) {
        const uint32_t values[] = {0, 1, 2, 3, 7, 0x7fffffff, 0xffffffff, scene.random.below(~0u)};
        const size_t at = begin + scene.random.below(static_cast<uint32_t>(payload.size() - begin - 4));
        std::memcpy(&wrong[at], &values[scene.random.below(8)], scene.random.coin() ? 4 : 1);
      }
    }
    must(capture::write_file(kPath, "host", wrong));
    const auto capture = load_capture(device, kPath);  // what is none is not run: it may draw for hours
    refused += !capture;
    if (!capture) CHECK_MESSAGE(capture.error().message.find(kPath) != std::string::npos, capture.error().message);
  }
  std::remove(kPath.c_str());
  CHECK_MESSAGE(refused > kRounds / 5 && refused < kRounds, std::to_string(refused));
}

// Who wrote it is said, and how to get that one; older files don't say it, and others may say anything.
void other_versions_are_refused_by_name() {
  Scene scene(1);
  scene.record();
  must(save_capture(scene.device, scene.primaries, kPath));
  const auto refusal = [&](uint32_t format, std::string_view writer) {
    std::FILE* file = std::fopen(kPath.c_str(), "r+b");
    if (!CHECK(file)) return std::string();
    const uint32_t length = static_cast<uint32_t>(writer.size());
    CHECK(std::fseek(file, 8, SEEK_SET) == 0 && std::fwrite(&format, 4, 1, file) == 1 && std::fwrite(&length, 4, 1, file) == 1 &&
          std::fwrite(writer.data(), 1, length, file) == length);
    std::fclose(file);
    const auto refused = load_capture(scene.device, kPath);
    return CHECK(!refused) ? refused.error().message : std::string();
  };
  const auto says = [](const std::string& message, const std::string& part) {
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
  };
  const uint32_t own = capture::kVersion;
  const std::string reads = std::string("; this is tilegpu ") + version() + ", which reads format version " + std::to_string(own) + "; ";
  const std::string next = "its format is version " + std::to_string(own + 1) + ", written by ";
  says(refusal(own + 1, "2.13.0"),
       next + "tilegpu 2.13.0" + reads + "replay it with that one (pip install tilegpu==2.13.0), or capture it anew");
  says(refusal(own + 1, version()),
       next + "tilegpu " + version() + reads + "capture it anew, or replay it with the state of tilegpu " + version());
  const std::string silent =
      "a tilegpu that did not say its own version" + reads + "capture it anew, or replay it with the tilegpu that wrote it";
  for (const std::string& writer : {std::string(), std::string("1.0;rm -rf"), std::string("\n1"), std::string(40, '1')})
    says(refusal(own + 1, writer), next + silent);
  says(refusal(12, "2.13.0"), "its format is version 12, written by " + silent);
  std::remove(kPath.c_str());
}

}  // namespace

int main() {
  for (uint32_t seed = 1; seed <= 8; seed++) what_was_recorded_is_kept(seed);
  pipelines_are_those_that_were_created();
  results_of_queries_are_kept();
  a_replay_waits_for_no_event();
  hostile_files_are_errors();
  other_versions_are_refused_by_name();
  return test::finish("test_capture");
}
