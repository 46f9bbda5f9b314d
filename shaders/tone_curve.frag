#version 450
// High range to the screen's: a fit of the ACES curve, and a little darkness in the corners.
layout(push_constant) uniform Tone { vec4 exposure; };
layout(set = 0, binding = 0) uniform sampler2D source;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 x = texture(source, v_uv).rgb * exposure.x;
  vec3 color = clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
  vec2 q = v_uv - 0.5;
  o_color = vec4(color * (1.0 - 0.55 * dot(q, q)), 1.0);
}
