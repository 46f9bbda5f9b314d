#version 450
// High range to the screen's: a fit of the ACES curve, and a little darkness in the corners.
layout(push_constant) uniform Tone { vec4 exposure; };
layout(set = 0, binding = 0) uniform sampler2D source;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
#include "aces.glsl"
void main() {
  vec3 x = texture(source, v_uv).rgb * exposure.x;
  vec3 color = aces(x);
  vec2 q = v_uv - 0.5;
  o_color = vec4(color * (1.0 - 0.55 * dot(q, q)), 1.0);
}
