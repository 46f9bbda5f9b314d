// tests/test_programs.cpp -- programs: interfaces between neighbours; dynamic state: what makes something new to resolve, and what not.
#include <thread>

#include "check.hpp"
#include "command/recording.hpp"
#include "command/same_state.hpp"
#include "device/device_state.hpp"
#include "pipeline/dynamic_state.hpp"
#include "tilegpu/device.hpp"

using namespace tilegpu;

namespace {

const char* kVertex = R"(#version 450
layout(location = 0) in vec4 position;
layout(location = 2) out vec3 v_color;
layout(location = 5) out vec4 v_unread;
void main() { gl_Position = position; v_color = position.xyz; v_unread = position; })";
const char* kFragment = R"(#version 450
layout(location = 2) in vec3 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color, 0.5); })";
const char* kHungry = R"(#version 450
layout(location = 3) in vec3 v_normal;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_normal, 0.5); })";

Ptr<ShaderModule> module(const char* text, VkShaderStageFlagBits stage) {
  auto words = compile_glsl({text, "test.glsl", stage, {}, {}});
  if (!CHECK_MESSAGE(words, words ? "" : words.error().message)) return nullptr;
  return *ShaderModule::create(*words, "test");
}

pipeline::Stage stage_of(const char* text, VkShaderStageFlagBits stage) {
  pipeline::Stage s{stage, module(text, stage), {}, nullptr, {}, {}};
  s.reflection = *s.module->reflect({});
  return s;
}

GraphicsPipelineCreateInfo info_of(std::vector<VkDynamicState> dynamic) {
  GraphicsPipelineCreateInfo info;
  info.stages = {{module(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT), {}}, {module(kVertex, VK_SHADER_STAGE_VERTEX_BIT), {}}};
  info.vertex_bindings = {{0, 16, VK_VERTEX_INPUT_RATE_VERTEX}};
  info.vertex_attributes = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0}};
  info.color_formats = {VK_FORMAT_R8G8B8A8_UNORM};
  info.dynamic_states = std::move(dynamic);
  info.label = "p";
  return info;
}

bool says(const Error& error, const char* part) { return CHECK_MESSAGE(error.message.find(part) != std::string::npos, error.message); }

void neighbours_are_connected() {
  const pipeline::Stage vertex = stage_of(kVertex, VK_SHADER_STAGE_VERTEX_BIT);
  auto interface = pipeline::connect(vertex, stage_of(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT));
  CHECK(interface && interface->layout.components.size() == 3);  // what nobody reads is not laid out
  CHECK(interface && interface->layout.find(2, 0) == 0 && interface->layout.find(5, 0) == -1);
  CHECK(interface && interface->writer == VK_SHADER_STAGE_VERTEX_BIT && interface->reader == VK_SHADER_STAGE_FRAGMENT_BIT);
  auto hungry = pipeline::connect(vertex, stage_of(kHungry, VK_SHADER_STAGE_FRAGMENT_BIT));
  CHECK(!hungry);
  says(hungry.error(), "the fragment shader reads 'v_normal' (location 3), which the vertex shader does not write");
}

void stages_come_in_any_order_and_once(Device& device) {
  auto made = device.create_pipeline(info_of({}));
  if (!CHECK_MESSAGE(made, made ? "" : made.error().message)) return;
  const pipeline::Program& program = (*made)->program();
  CHECK(program.stages.size() == 2 && program.stages[0].stage == VK_SHADER_STAGE_VERTEX_BIT);
  CHECK(program.interfaces.size() == 1 && program.fragment() == &program.stages[1]);
  CHECK(&program.before_rasterization() == &program.stages[0]);
  CHECK((*made)->resolved() != nullptr);
  GraphicsPipelineCreateInfo twice = info_of({});
  twice.stages.push_back(twice.stages[0]);
  auto refused = device.create_pipeline(twice);
  CHECK(!refused);
  says(refused.error(), "two fragment shaders");
}

/// What comes of them stands in test_vulkan_subpasses.cpp.
void locations_are_given_once(Device& device) {
  GraphicsPipelineCreateInfo info = info_of({});
  info.color_formats = {VK_FORMAT_R32_UINT, VK_FORMAT_R8G8B8A8_UNORM};
  info.attachment_locations = {VK_ATTACHMENT_UNUSED, 0, 2, 3, 4, 5, 6, 7};  // integers, which the shader does not write
  auto made = device.create_pipeline(info);
  if (CHECK_MESSAGE(made, made ? "" : made.error().message)) CHECK((*made)->resolved()->output.written_targets == 2);
  info.attachment_locations[0] = 0;
  auto refused = device.create_pipeline(info);
  CHECK(!refused);
  says(refused.error(), "color[0] has format r32_uint, but the fragment shader's 'o_color' is of base type float");
  info.color_formats[0] = VK_FORMAT_R8G8B8A8_UNORM;
  refused = device.create_pipeline(info);
  CHECK(!refused);
  says(refused.error(), "attachment_locations of color[1] is 0, as of another attachment; give each its own");
  info.attachment_locations[0] = 8;
  refused = device.create_pipeline(info);
  CHECK(!refused);
  says(refused.error(), "attachment_locations of color[0] is 8; locations go from 0 to 7");
  info.attachment_locations[0] = 1;
  info.untested_aspects = VK_IMAGE_ASPECT_COLOR_BIT;
  refused = device.create_pipeline(info);
  CHECK(!refused);
  says(refused.error(), "untested_aspects is 1; depth (2) and stencil (4) are allowed");
}

void every_state_is_known() {
  for (uint32_t i = 0; i < kDynamicStates; i++) {
    const DynamicStateInfo& info = dynamic_state_info(static_cast<DynamicState>(i));
    CHECK(find_dynamic_state(info.vulkan) == &info && find_dynamic_state(std::string(info.name)) == &info);
    CHECK(find_dynamic_state(pipeline::names_of({DynamicStates::bit(info.state)})) == &info);
    CHECK(pipeline::dynamic_states({info.vulkan}));
  }
  auto unknown = pipeline::dynamic_states({VK_DYNAMIC_STATE_RAY_TRACING_PIPELINE_STACK_SIZE_KHR});
  CHECK(!unknown);
  says(unknown.error(), "which tilegpu does not know");
}

// What decides about code makes a new one; what fixed functions read does not, and what repeats a value neither.
void few_states_are_resolved(const Ptr<Device>& device) {
  std::vector<VkDynamicState> all;
  for (uint32_t i = 0; i < kDynamicStates; i++) all.push_back(dynamic_state_info(static_cast<DynamicState>(i)).vulkan);
  auto made = device->create_pipeline(info_of(all));
  if (!CHECK_MESSAGE(made, made ? "" : made.error().message)) return;
  CHECK((*made)->resolved() == nullptr);
  Ptr<Image> image = *Image::create({.format = VK_FORMAT_R8G8B8A8_UNORM, .width_px = 16, .height_px = 16, .label = "out"});
  CHECK(image->ensure_memory());
  Ptr<Buffer> buffer = *Buffer::create({48, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, "vertices"});
  CHECK(buffer->bind(*DeviceMemory::allocate(48), 0));
  RenderingAttachment color;
  color.view = *ImageView::create({.image = image});
  color.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;

  CommandBuffer cb(device);
  CHECK(cb.begin());
  CHECK(cb.begin_rendering({.color = {color}, .label = "main"}));
  cb.bind_pipeline(*made);
  const VkVertexInputBindingDescription2EXT binding{
      VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, 0, 16, VK_VERTEX_INPUT_RATE_VERTEX, 1};
  const VkVertexInputAttributeDescription2EXT attribute{
      VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, 0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0};
  const VkColorBlendEquationEXT equation{VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD,
                                         VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD};
  const VkBool32 on = VK_TRUE, off = VK_FALSE;
  const VkColorComponentFlags rgba = 0xf;
  const auto everything = [&](VkCullModeFlags cull, VkPrimitiveTopology topology, VkBool32 blend) {
    CHECK(cb.set_vertex_input({&binding, 1}, {&attribute, 1}));
    cb.bind_vertex_buffer(0, buffer, 0);
    cb.set_viewport({0, 0, 16, 16, 0, 1}), cb.set_scissor({{0, 0}, {16, 16}});
    cb.set_cull_mode(cull), cb.set_front_face(VK_FRONT_FACE_CLOCKWISE), cb.set_primitive_topology(topology);
    cb.set_primitive_restart_enable(false), cb.set_rasterizer_discard_enable(false), cb.set_polygon_mode(VK_POLYGON_MODE_FILL);
    cb.set_line_width(1), cb.set_depth_bias_enable(false), cb.set_depth_clamp_enable(false), cb.set_depth_clip_enable(true);
    cb.set_depth_clip_negative_one_to_one(false);
    CHECK(cb.set_rasterization_stream(0) && !cb.set_rasterization_stream(4));
    cb.set_conservative_rasterization_mode(VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT);
    CHECK(cb.set_extra_primitive_overestimation_size(0.5f) && !cb.set_extra_primitive_overestimation_size(1));
    cb.set_line_rasterization_mode(VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT), cb.set_line_stipple_enable(false);
    CHECK(cb.set_line_stipple(256, 0xff00) && !cb.set_line_stipple(0, 1) && !cb.set_line_stipple(257, 1));
    cb.set_sample_locations_enable(false), cb.set_discard_rectangle_enable(false);
    cb.set_provoking_vertex_mode(VK_PROVOKING_VERTEX_MODE_FIRST_VERTEX_EXT);
    constexpr auto kKeep = VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR;
    CHECK(cb.set_fragment_shading_rate({1, 1}, {kKeep, kKeep}) && !cb.set_fragment_shading_rate({3, 1}, {kKeep, kKeep}));
    cb.set_depth_test_enable(false), cb.set_depth_bounds_test_enable(false), cb.set_stencil_test_enable(false);
    cb.set_rasterization_samples(VK_SAMPLE_COUNT_1_BIT), cb.set_sample_mask(~0u);
    cb.set_alpha_to_coverage_enable(false), cb.set_alpha_to_one_enable(false), cb.set_logic_op_enable(false);
    CHECK(cb.set_color_blend_enable(0, {&blend, 1}));
    CHECK(cb.set_color_blend_equation(0, {&equation, 1}));
    CHECK(cb.set_color_write_mask(0, {&rgba, 1}));
    CHECK(cb.set_color_write_enable({&on, 1}));
  };
  const auto draw = [&] {
    const Status drawn = cb.draw(3, 1, 0, 0);
    CHECK_MESSAGE(drawn, drawn ? "" : drawn.error().message);
    return device->state().resolved.misses();
  };
  everything(VK_CULL_MODE_NONE, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, off);
  const uint64_t first = draw();
  everything(VK_CULL_MODE_NONE, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, off);
  CHECK(draw() == first);
  everything(VK_CULL_MODE_BACK_BIT, VK_PRIMITIVE_TOPOLOGY_LINE_STRIP, off);
  CHECK(draw() == first);
  everything(VK_CULL_MODE_BACK_BIT, VK_PRIMITIVE_TOPOLOGY_LINE_STRIP, on);
  CHECK(draw() == first + 1);
  everything(VK_CULL_MODE_NONE, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, off);
  CHECK(draw() == first + 1);
  CHECK(cb.set_color_write_enable({&off, 1}));
  CHECK(draw() == first + 2);
  CHECK(!cb.set_color_blend_enable(8, {&on, 1}));
  CHECK(!cb.set_viewport_with_count({}));
  const VkSampleLocationEXT places[2] = {{0.25f, 0}, {0.5f, 2}};
  VkSampleLocationsInfoEXT locations{VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT, nullptr, VK_SAMPLE_COUNT_2_BIT, {1, 1}, 2, places};
  CHECK(cb.set_sample_locations(locations));
  locations.sampleLocationGridSize.width = 2;
  const Status grid = cb.set_sample_locations(locations);
  CHECK(!grid);
  says(grid.error(), "maxSampleLocationGridSize is 1 x 1");
  CHECK(cb.end_rendering());
  CHECK(cb.end());
  // Four states were drawn with, one of them three times.
  const auto& pass = *std::get<Ptr<const command::Pass>>(cb.recording()->commands.front());
  CHECK(pass.draws.size() == 6 && pass.states.size() == 4 && pass.bound.size() == 4);
  CHECK(pass.draws[0].state == pass.draws[1].state && pass.draws[0].state == pass.draws[4].state);
}

// Numbers are compared by their bits: 0 and -0 give different pictures.
void states_are_one_by_their_bits() {
  command::DrawState a;
  a.all = std::make_shared<const command::Viewports>();
  const auto differs = [&](auto change) {
    command::DrawState b = a;
    b.all = std::make_shared<const command::Viewports>(*a.all);
    CHECK(command::is_same(a, b));
    change(b);
    return !command::is_same(a, b) && !command::is_same(b, a);
  };
  CHECK(differs([](auto& s) { s.blend_constants[3] = -0.0f; }));
  CHECK(differs([](auto& s) { s.rasterization.depth_bias_clamp = -0.0f; }));
  CHECK(differs([](auto& s) { s.depth_stencil.back.reference = 1; }));
  CHECK(differs([](auto& s) { s.viewport.maxDepth = 1; }));
  CHECK(differs([](auto& s) { s.scissor.extent.height = 1; }));
  CHECK(differs([](auto& s) { s.vertex_bindings[15].size_B = 1; }));
  CHECK(differs([](auto& s) { s.all = nullptr; }));
  CHECK(differs([](auto& s) {
    command::Viewports other;
    other.scissor[15].offset.x = 1;
    s.all = std::make_shared<const command::Viewports>(other);
  }));
}

void the_cache_is_bounded_and_compiles_once(Device& device) {
  auto made = device.create_pipeline(info_of({}));
  if (!CHECK(made)) return;
  const Ptr<const pipeline::Program>& program = (*made)->shared_program();
  shader::Jit& jit = *device.state().jit;
  pipeline::ResolveCache cache(3);
  GraphicsState state = static_cast<const GraphicsState&>((*made)->info());
  std::vector<Ptr<const pipeline::Resolved>> found(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); i++)
    threads.emplace_back([&, i] {
      auto resolved = cache.find(jit, program, state, 1);
      if (resolved) found[i] = *resolved;
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : found) CHECK(one && one == found[0]);
  CHECK(cache.misses() == 1 && cache.size() == 1);
  for (uint32_t mask = 0; mask < 8; mask++) {
    VkPipelineColorBlendAttachmentState blend{};
    blend.colorWriteMask = mask;
    state.blend.attachments = {blend};
    auto resolved = cache.find(jit, program, state, 1);
    CHECK_MESSAGE(resolved, resolved ? "" : resolved.error().message);
    CHECK(cache.size() <= 3);
  }
  state.multisample.samples = static_cast<VkSampleCountFlagBits>(3);
  auto refused = cache.find(jit, program, state, 1);
  CHECK(!refused);
  says(refused.error(), "samples is 3");
}

}  // namespace

int main() {
  auto device = Device::create({.threads = 2, .cache_dir = "off"});
  if (!CHECK(device)) return test::finish("test_programs");
  neighbours_are_connected();
  stages_come_in_any_order_and_once(**device);
  locations_are_given_once(**device);
  every_state_is_known();
  few_states_are_resolved(*device);
  states_are_one_by_their_bits();
  the_cache_is_bounded_and_compiles_once(**device);
  return test::finish("test_programs");
}
