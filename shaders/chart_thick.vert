#version 450
// A piece of a thick line: four vertices, moved apart across it, a pixel more for the smooth edge.
layout(push_constant) uniform Page { vec2 size_px; vec2 scale; } page;
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 other;
layout(location = 2) in vec2 side;  // x: how far across, with its sign; y: half the width
layout(location = 3) in vec4 color;
layout(location = 0) out vec2 v_across_px;
layout(location = 1) out vec4 v_color;
void main() {
  vec2 along = other - position;
  along /= max(length(along), 1e-6);
  float reach = side.y + 1.0 / page.scale.y;
  vec2 place = position + vec2(-along.y, along.x) * sign(side.x) * reach - along * 0.5 * side.y;
  v_across_px = vec2(reach, side.y) * page.scale.y;
  v_across_px.x *= sign(side.x) * sign(along.x + along.y * 1e-3);
  v_color = color;
  gl_Position = vec4(place / page.size_px * 2.0 - 1.0, 0.0, 1.0);
}
