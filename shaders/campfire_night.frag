#version 450
// A night with stars over dark ground that the fire lights.
layout(push_constant) uniform Night { vec4 size; };
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
#include "hash.glsl"
void main() {
  vec3 color = mix(vec3(0.010, 0.014, 0.045), vec3(0.07, 0.06, 0.12), v_uv.y);
  vec2 cell = floor(v_uv * vec2(size.x, 1.0) * 70.0), at = fract(v_uv * vec2(size.x, 1.0) * 70.0) - 0.5;
  float r = hash(cell);
  if (r > 0.93) color += (r - 0.93) * 14.0 * exp(-60.0 * dot(at, at)) * vec3(0.9, 0.95, 1.0);
  if (v_uv.y > 0.62) {
    float deep = (v_uv.y - 0.62) / 0.38;
    vec2 q = vec2((v_uv.x - 0.5) * size.x * 1.3, deep - 0.32);
    color = vec3(0.018, 0.016, 0.014) * (1.0 + deep) + vec3(0.55, 0.22, 0.05) * exp(-3.5 * dot(q, q) * vec3(1.0, 1.3, 1.6));
  }
  o_color = vec4(color, 1.0);
}
