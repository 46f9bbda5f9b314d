#version 450
// Leaves: alpha test, or with COVERAGE alpha made sharp for alpha to coverage. Light shines through them.
#include "outdoors_view.glsl"
layout(set = 0, binding = 1) uniform sampler2D map;
layout(location = 0) in vec3 v_normal;
layout(location = 1) in vec2 v_uv;
layout(location = 2) in float v_low;
layout(location = 0) out vec4 o_color;
void main() {
  vec4 texel = texture(map, v_uv);
#ifdef COVERAGE
  float alpha = clamp((texel.a - 0.4) / max(fwidth(texel.a), 1e-3) + 0.5, 0.0, 1.0);
#else
  float alpha = 1.0;
  if (texel.a < 0.4) discard;
#endif
  vec3 n = normalize(v_normal);
  float facing = dot(n, normalize(view.sun.xyz));
  vec3 light = vec3(1.6, 1.5, 1.2) * (max(facing, 0.0) + 0.25 * max(-facing, 0.0)) + vec3(0.26, 0.32, 0.36) * (0.6 + 0.4 * n.y);
  o_color = vec4(texel.rgb * light * (0.35 + 0.65 * v_low), alpha);
}
