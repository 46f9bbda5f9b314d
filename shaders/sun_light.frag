#version 450
// A g-buffer in the light of the sun.
#include "blocks_view.glsl"
layout(set = 0, binding = 1) uniform sampler2D color_map;
layout(set = 0, binding = 2) uniform sampler2D normal_map;
layout(set = 0, binding = 3) uniform sampler2D depth_map;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
#include "place_at.glsl"
void main() {
  float z = texture(depth_map, v_uv).r;
  if (z == 1.0) {
    o_color = vec4(mix(vec3(0.20, 0.38, 0.70), vec3(0.65, 0.75, 0.85), v_uv.y * 1.6), 1.0);
    return;
  }
  vec3 at = place_at(v_uv, z), base = texture(color_map, v_uv).rgb, n = normalize(texture(normal_map, v_uv).xyz * 2.0 - 1.0);
  vec3 sun = normalize(view.sun.xyz), to_eye = normalize(view.eye.xyz - at);
  vec3 light = vec3(1.25, 1.15, 0.95) * max(dot(n, sun), 0.0) + vec3(0.30, 0.34, 0.42) * (0.6 + 0.4 * n.y);
  float shine = 0.10 * pow(max(dot(n, normalize(sun + to_eye)), 0.0), 20.0);
  o_color = vec4(base * base * light + shine, 1.0);
}
