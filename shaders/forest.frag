#version 450
#include "outdoors_view.glsl"
layout(location = 0) in vec3 v_normal;
layout(location = 1) in vec3 v_paint;
layout(location = 2) in float v_far;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 n = normalize(v_normal);
  vec3 light = vec3(2.2, 2.0, 1.6) * max(dot(n, normalize(view.sun.xyz)), 0.0) + vec3(0.35, 0.42, 0.52) * (0.5 + 0.5 * n.y);
  o_color = vec4(mix(v_paint * light, vec3(0.62, 0.72, 0.82), 1.0 - exp(-0.00018 * v_far * v_far)), 1.0);
}
