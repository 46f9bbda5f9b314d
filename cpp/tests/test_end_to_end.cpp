// tests/test_end_to_end.cpp -- the whole core without Python: GLSL to pixels through a pass with in-tile resolve.
#include <cstring>

#include "check.hpp"
#include "tilegpu/device.hpp"

using namespace tilegpu;

namespace {

const char* kVertex = R"(#version 450
layout(location = 0) in vec2 position;
layout(location = 1) in vec3 color;
layout(location = 0) out vec3 v_color;
void main() { gl_Position = vec4(position, 0.0, 1.0); v_color = color; })";
const char* kFragment = R"(#version 450
layout(location = 0) in vec3 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color, 1.0); })";

struct Vertex {
  float position[2], color[3];
};

Ptr<ShaderModule> module(const char* text, VkShaderStageFlagBits stage) {
  auto words = compile_glsl({text, "test.glsl", stage, {}, {}});
  if (!words) std::fprintf(stderr, "%s\n", words.error().message.c_str());
  auto result = ShaderModule::create(*words, "test");
  if (!result) std::fprintf(stderr, "%s\n", result.error().message.c_str());
  return *result;
}

Ptr<Image> image(VkFormat format, VkSampleCountFlagBits samples, uint32_t width_px, uint32_t height_px) {
  auto result = Image::create({.format = format,
                               .width_px = width_px,
                               .height_px = height_px,
                               .samples = samples,
                               .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
                               .label = "image"});
  CHECK(result);
  if ((*result)->info().samples == VK_SAMPLE_COUNT_1_BIT) CHECK((*result)->ensure_memory());
  return *result;
}

Ptr<ImageView> view(Ptr<Image> of) {
  auto result = ImageView::create({.image = of});
  CHECK(result);
  return *result;
}

std::vector<uint8_t> render(uint32_t lanes, uint32_t threads, uint32_t bin_px, VkSampleCountFlagBits samples) {
  auto device = Device::create({.threads = threads, .lanes = lanes, .bin_px = bin_px, .cache_dir = "off"});
  if (!CHECK_MESSAGE(device, device ? "" : device.error().message)) return {};
  const uint32_t width_px = 200, height_px = 130;
  GraphicsPipelineCreateInfo info;
  info.stages = {{module(kVertex, VK_SHADER_STAGE_VERTEX_BIT), {}}, {module(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
  info.vertex_bindings = {{0, sizeof(Vertex), VK_VERTEX_INPUT_RATE_VERTEX}};
  info.vertex_attributes = {{0, 0, VK_FORMAT_R32G32_SFLOAT, 0}, {1, 0, VK_FORMAT_R32G32B32_SFLOAT, 8}};
  info.color_formats = {VK_FORMAT_R8G8B8A8_UNORM};
  info.multisample.samples = samples;
  info.label = "triangle";
  auto pipeline = (*device)->create_pipeline(info);
  if (!CHECK_MESSAGE(pipeline, pipeline ? "" : pipeline.error().message)) return {};
  const Vertex vertices[3] = {{{0, -.5f}, {1, 0, 0}}, {{.5f, .5f}, {0, 1, 0}}, {{-.5f, .5f}, {0, 0, 1}}};
  auto buffer = Buffer::create({sizeof vertices, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, "vertices"});
  auto memory = DeviceMemory::allocate(sizeof vertices);
  CHECK((*buffer)->bind(*memory, 0));
  std::memcpy((*buffer)->data(), vertices, sizeof vertices);

  auto out = image(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, width_px, height_px);
  RenderingAttachment attachment;
  attachment.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  attachment.clear.color = {{0.2f, 0.4f, 0.6f, 1.0f}};
  attachment.view = view(samples == VK_SAMPLE_COUNT_1_BIT ? out : image(VK_FORMAT_R8G8B8A8_UNORM, samples, width_px, height_px));
  if (samples != VK_SAMPLE_COUNT_1_BIT) {
    attachment.store_op = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    attachment.resolve_mode = VK_RESOLVE_MODE_AVERAGE_BIT;
    attachment.resolve_view = view(out);
  }
  auto cb = std::make_shared<CommandBuffer>(*device);
  CHECK(cb->begin());
  Status ok = cb->begin_rendering({.color = {attachment}, .label = "main"});
  if (!CHECK_MESSAGE(ok, ok ? "" : ok.error().message)) return {};
  cb->bind_pipeline(*pipeline);
  cb->bind_vertex_buffer(0, *buffer, 0);
  ok = cb->draw(3, 1, 0, 0);
  if (!CHECK_MESSAGE(ok, ok ? "" : ok.error().message)) return {};
  CHECK(cb->end_rendering());
  CHECK(cb->end());
  auto submission = (*device)->submit({{cb}, {}});
  CHECK(submission);
  (*submission)->wait(-1);
  CHECK(!(*submission)->error());
  CHECK((*submission)->pass_count() == 1);
  CHECK((*submission)->pass_stats(0).primitives_out == 1);
  CHECK((*submission)->pass_stats(0).vertices_shaded >= 3);
  std::vector<uint8_t> pixels;
  const SubresourceLayout layout = out->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
  for (uint32_t y = 0; y < height_px; y++) {
    const uint8_t* row = out->data() + layout.offset_B + y * layout.row_pitch_B;
    pixels.insert(pixels.end(), row, row + width_px * 4);
  }
  return pixels;
}

void triangle_has_its_colours() {
  const auto pixels = render(8, 2, 0, VK_SAMPLE_COUNT_1_BIT);
  if (!CHECK(pixels.size() == 200 * 130 * 4)) return;
  const auto at = [&](int x, int y) { return &pixels[(y * 200 + x) * 4]; };
  CHECK(at(5, 5)[0] == 51 && at(5, 5)[1] == 102 && at(5, 5)[2] == 153 && at(5, 5)[3] == 255);  // the clear colour
  const uint8_t* middle = at(100, 76);  // about the centroid: all three about a third
  CHECK_MESSAGE(middle[0] > 60 && middle[1] > 60 && middle[2] > 60 && middle[3] == 255,
                std::to_string(middle[0]) + " " + std::to_string(middle[1]) + " " + std::to_string(middle[2]));
  CHECK(at(100, 36)[0] > 200);  // the top corner is red
}

void one_result_for_lanes_threads_bins() {
  for (VkSampleCountFlagBits samples : {VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_4_BIT, VK_SAMPLE_COUNT_16_BIT}) {
    const auto first = render(8, 1, 64, samples);
    for (uint32_t lanes : {4u, 16u}) CHECK(render(lanes, 1, 64, samples) == first);
    CHECK(render(8, 2, 64, samples) == first);
    CHECK(render(8, 8, 32, samples) == first);
  }
}

}  // namespace

int main() {
  triangle_has_its_colours();
  one_result_for_lanes_threads_bins();
  return test::finish("test_end_to_end");
}
