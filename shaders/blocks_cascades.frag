#version 450
// The sun through four shadow maps by distance, 3x3 filtered comparisons each, and haze.
#include "blocks_view.glsl"
layout(std140, set = 0, binding = 2) uniform Cascades { mat4 cascade0; mat4 cascade1; mat4 cascade2; mat4 cascade3; vec4 splits; vec4 forward; } light;
layout(set = 0, binding = 3) uniform sampler2DShadow map0;
layout(set = 0, binding = 4) uniform sampler2DShadow map1;
layout(set = 0, binding = 5) uniform sampler2DShadow map2;
layout(set = 0, binding = 6) uniform sampler2DShadow map3;
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec4 v_paint;
layout(location = 0) out vec4 o_color;
#include "painted.glsl"
float lit(sampler2DShadow map, vec4 at) {
  vec2 uv = at.xy * 0.5 + 0.5, texel = 1.0 / vec2(textureSize(map, 0));
  float sum = 0.0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++) sum += texture(map, vec3(uv + vec2(x, y) * texel, at.z));
  return sum / 9.0;
}
void main() {
  vec3 n = normalize(v_normal), sun = normalize(view.sun.xyz);
  float far = dot(v_place - view.eye.xyz, light.forward.xyz), sunny;
  vec4 at = vec4(v_place + 0.03 * n, 1.0);
  if (far < light.splits.x) sunny = lit(map0, light.cascade0 * at);
  else if (far < light.splits.y) sunny = lit(map1, light.cascade1 * at);
  else if (far < light.splits.z) sunny = lit(map2, light.cascade2 * at);
  else sunny = lit(map3, light.cascade3 * at);
  vec3 base = painted(v_place, n, v_paint);
  vec3 color = base * base * (vec3(1.75, 1.30, 1.05) * max(dot(n, sun), 0.0) * sunny + vec3(0.24, 0.30, 0.40) * (0.6 + 0.4 * n.y));
  o_color = vec4(mix(color, vec3(0.55, 0.68, 0.85), 1.0 - exp(-0.00035 * far * far)), 1.0);
}
