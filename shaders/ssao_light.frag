#version 450
#include "blocks_view.glsl"
layout(set = 0, binding = 1) uniform sampler2D color_map;
layout(set = 0, binding = 2) uniform sampler2D normal_map;
layout(set = 0, binding = 3) uniform sampler2D depth_map;
layout(set = 0, binding = 4) uniform sampler2D occlusion;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  if (texture(depth_map, v_uv).r == 1.0) {
    o_color = vec4(0.75, 0.78, 0.82, 1.0);
    return;
  }
  vec3 base = texture(color_map, v_uv).rgb, n = normalize(texture(normal_map, v_uv).xyz * 2.0 - 1.0);
  float open = texture(occlusion, v_uv).r;
  vec3 light = open * open * mix(vec3(0.50, 0.46, 0.42), vec3(0.85, 0.87, 0.90), 0.5 + 0.5 * n.y) + 0.28 * open * max(dot(n, normalize(view.sun.xyz)), 0.0);
  o_color = vec4(base * base * light, 1.0);
}
