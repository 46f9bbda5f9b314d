#version 450
// A rounded rectangle by its distance: filled from color to low, with a border, or soft as a shadow. shape_px: radius, border, softness.
layout(push_constant) uniform Panel { vec4 rect_px; vec4 color; vec4 low; vec4 border; vec4 shape_px; vec2 size_px; } panel;
layout(location = 0) in vec2 v_place_px;
layout(location = 0) out vec4 o_color;
void main() {
  float radius = panel.shape_px.x, soft = max(panel.shape_px.z, 0.5);
  vec2 half_px = panel.rect_px.zw * 0.5;
  vec2 q = abs(v_place_px) - half_px + radius + (soft > 0.5 ? soft : 0.0);
  float outside = length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - radius;
  float cover = clamp(0.5 - outside / (2.0 * soft), 0.0, 1.0);
  vec4 color = mix(panel.color, panel.low, clamp(v_place_px.y / panel.rect_px.w + 0.5, 0.0, 1.0));
  color = mix(color, panel.border, clamp(outside + panel.shape_px.y + 0.5, 0.0, 1.0) * step(0.01, panel.shape_px.y));
  o_color = vec4(color.rgb, color.a * cover);
}
