#version 450
// A rectangle of an interface in pixels, one more on each side for its smooth edge.
layout(push_constant) uniform Panel { vec4 rect_px; vec4 color; vec4 low; vec4 border; vec4 shape_px; vec2 size_px; } panel;
layout(location = 0) out vec2 v_place_px;  // from the middle
void main() {
  vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
  vec2 half_px = panel.rect_px.zw * 0.5 + 1.0;
  v_place_px = (corner * 2.0 - 1.0) * half_px;
  gl_Position = vec4((panel.rect_px.xy + panel.rect_px.zw * 0.5 + v_place_px) / panel.size_px * 2.0 - 1.0, 0.0, 1.0);
}
