#version 450
// Letters of an interface, four vertices each, in pixels.
layout(push_constant) uniform Screen { vec2 size_px; } screen;
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 color;
layout(location = 0) out vec2 v_uv;
layout(location = 1) out vec4 v_color;
void main() {
  v_uv = uv;
  v_color = color;
  gl_Position = vec4(position / screen.size_px * 2.0 - 1.0, 0.0, 1.0);
}
