#version 450
// A round mark: four vertices about its middle.
layout(push_constant) uniform Page { vec2 size_px; vec2 scale; } page;
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 other;  // the radius, twice
layout(location = 2) in vec2 side;
layout(location = 3) in vec4 color;
layout(location = 0) out vec3 v_place_px;  // from the middle; radius
layout(location = 1) out vec4 v_color;
void main() {
  float reach = other.x + 1.0 / page.scale.y;
  v_place_px = vec3(side * reach, other.x) * page.scale.y;
  v_color = color;
  gl_Position = vec4((position + side * reach) / page.size_px * 2.0 - 1.0, 0.0, 1.0);
}
