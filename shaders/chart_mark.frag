#version 450
layout(location = 0) in vec3 v_place_px;
layout(location = 1) in vec4 v_color;
layout(location = 0) out vec4 o_color;
void main() {
  float outside = length(v_place_px.xy) - v_place_px.z;
  float rim = clamp(1.5 - abs(outside + 1.0), 0.0, 1.0);
  o_color = vec4(v_color.rgb * (1.0 - 0.4 * rim), clamp(0.5 - outside, 0.0, 1.0) * (v_color.a + 0.25 * rim));
}
