// first_triangle.cpp -- GLSL to a picture with the C++ API: four samples, resolved in tile memory. Writes a PPM file, or to where
// argument 1 says. Every function that can fail returns a value or an Error; or_stop shows the Error and ends the program.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tilegpu/device.hpp"

using namespace tilegpu;

static const char* const kVertex = R"(#version 450
layout(location = 0) in vec2 position;
layout(location = 1) in vec3 color;
layout(location = 0) out vec3 v_color;
void main() { gl_Position = vec4(position, 0.0, 1.0); v_color = color; })";
static const char* const kFragment = R"(#version 450
layout(location = 0) in vec3 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color, 1.0); })";

struct Vertex {
  float position[2], color[3];
};

template <class T>
static T or_stop(Expected<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  return std::move(*result);
}

static Ptr<ShaderModule> module_of(Device& device, const char* text, const char* name, VkShaderStageFlagBits stage) {
  return or_stop(device.create_shader_module(or_stop(device.compile_glsl({text, name, stage, {}, {}})), name));
}

static Ptr<Image> image(VkSampleCountFlagBits samples, VkImageUsageFlags usage) {
  return or_stop(Image::create(
      {.format = VK_FORMAT_R8G8B8A8_SRGB, .width_px = 512, .height_px = 512, .samples = samples, .usage = usage, .label = "image"}));
}

int main(int argc, char** argv) {
  or_stop(check_cpu());
  const Ptr<Device> device = or_stop(Device::create({}));

  GraphicsPipelineCreateInfo info;
  info.stages = {{module_of(*device, kVertex, "first.vert", VK_SHADER_STAGE_VERTEX_BIT), {}},
                 {module_of(*device, kFragment, "first.frag", VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
  info.vertex_bindings = {{0, sizeof(Vertex), VK_VERTEX_INPUT_RATE_VERTEX}};
  info.vertex_attributes = {{0, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(Vertex, position)},
                            {1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(Vertex, color)}};
  info.color_formats = {VK_FORMAT_R8G8B8A8_SRGB};
  info.multisample.samples = VK_SAMPLE_COUNT_4_BIT;
  info.label = "triangle";
  const Ptr<Pipeline> pipeline = or_stop(device->create_pipeline(info));

  const Vertex triangle[3] = {{{0, -.5f}, {1, 0, 0}}, {{.5f, .5f}, {0, 1, 0}}, {{-.5f, .5f}, {0, 0, 1}}};
  const Ptr<Buffer> vertices = or_stop(Buffer::create({sizeof triangle, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, "vertices"}));
  or_stop(vertices->bind(or_stop(DeviceMemory::allocate(sizeof triangle)), 0));
  std::memcpy(vertices->data(), triangle, sizeof triangle);

  // The multisampled image is never written: its samples live in tile memory, and `out` gets their average.
  const Ptr<Image> samples = image(VK_SAMPLE_COUNT_4_BIT, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT);
  const Ptr<Image> out = image(VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
  or_stop(out->ensure_memory());
  RenderingAttachment color;
  color.view = or_stop(ImageView::create({.image = samples}));
  color.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  color.store_op = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  color.clear.color = {{0, 0, 0, 1}};
  color.resolve_mode = VK_RESOLVE_MODE_AVERAGE_BIT;
  color.resolve_view = or_stop(ImageView::create({.image = out}));

  const auto commands = std::make_shared<CommandBuffer>(device);
  or_stop(commands->begin());
  or_stop(commands->begin_rendering({.color = {color}, .label = "main"}));
  commands->bind_pipeline(pipeline);
  commands->bind_vertex_buffer(0, vertices, 0);
  or_stop(commands->draw(3, 1, 0, 0));
  or_stop(commands->end_rendering());
  or_stop(commands->end());
  or_stop(device->submit_and_wait({.command_buffers = {commands}}, {}));

  std::FILE* file = std::fopen(argc > 1 ? argv[1] : "triangle.ppm", "wb");
  if (!file) return std::perror("triangle.ppm"), 1;
  std::fprintf(file, "P6 512 512 255\n");
  const SubresourceLayout layout = out->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
  for (uint32_t y = 0; y < 512; y++) {
    const uint8_t* row = out->data() + layout.offset_B + y * layout.row_pitch_B;
    for (uint32_t x = 0; x < 512; x++) std::fwrite(row + 4 * x, 1, 3, file);
  }
  return std::fclose(file) == 0 ? 0 : 1;
}
