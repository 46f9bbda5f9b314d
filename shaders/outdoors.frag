#version 450
// One sRGB texture in the light of sun and sky. HAZE: far things fade.
#include "outdoors_view.glsl"
layout(set = 0, binding = 1) uniform sampler2D map;
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 n = normalize(v_normal);
  vec3 light = vec3(1.5, 1.4, 1.2) * max(dot(n, normalize(view.sun.xyz)), 0.0) + mix(vec3(0.12, 0.11, 0.09), vec3(0.30, 0.36, 0.48), 0.5 + 0.5 * n.y);
  vec3 color = texture(map, v_uv).rgb * light;
#ifdef HAZE
  float far = distance(v_place, view.eye.xyz);
  color = mix(color, vec3(0.62, 0.72, 0.82), 1.0 - exp(-0.00018 * far * far));
#endif
  o_color = vec4(color, 1.0);
}
