#version 450
// Occlusion: 24 places in the hemisphere above a pixel, turned by its place in 4x4, against the depth there.
#include "blocks_view.glsl"
layout(set = 0, binding = 1) uniform sampler2D normal_map;
layout(set = 0, binding = 2) uniform sampler2D depth_map;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_open;
#include "place_at.glsl"
void main() {
  float z = texture(depth_map, v_uv).r;
  if (z == 1.0) {
    o_open = vec4(1.0);
    return;
  }
  vec3 at = place_at(v_uv, z), n = normalize(texture(normal_map, v_uv).xyz * 2.0 - 1.0);
  vec2 cell = mod(floor(gl_FragCoord.xy), 4.0);
  float turn = (cell.x + 4.0 * cell.y) * 0.392699, shut = 0.0;
  vec3 side = normalize(abs(n.y) < 0.9 ? cross(n, vec3(0, 1, 0)) : cross(n, vec3(1, 0, 0))), up = cross(side, n);
  for (int i = 0; i < 24; i++) {
    float part = (float(i) + 0.5) / 24.0, angle = float(i) * 2.399963 + turn;
    float high = 1.0 - 0.92 * part, wide = sqrt(1.0 - high * high);
    vec3 way = side * (wide * cos(angle)) + up * (wide * sin(angle)) + n * high;
    vec3 there = at + way * (0.06 + 0.75 * fract(part * 7.3 + 0.1 * turn));
    vec4 h = view.view_projection * vec4(there, 1.0);
    vec2 uv = h.xy / h.w * 0.5 + 0.5;
    float stored = texture(depth_map, uv).r;
    vec3 hit = place_at(uv, stored);
    float range = smoothstep(0.0, 1.0, 0.8 / (0.05 + distance(hit, at)));
    shut += (h.z / h.w > stored + 0.00006 ? 1.0 : 0.0) * range;
  }
  o_open = vec4(1.0 - shut / 24.0);
}
