#version 450
// Curves and areas of a chart, in the pixels of its design.
layout(push_constant) uniform Page { vec2 size_px; vec2 scale; } page;
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() {
  v_color = color;
  gl_Position = vec4(position / page.size_px * 2.0 - 1.0, 0.0, 1.0);
}
