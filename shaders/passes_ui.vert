#version 450
// Rectangles of a user interface, two triangles each, in pixels.
layout(push_constant) uniform Screen { vec2 size_px; } screen;
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() {
  gl_Position = vec4(position / screen.size_px * 2.0 - 1.0, 0.0, 1.0);
  v_color = color;
}
