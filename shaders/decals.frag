#version 450
// What a decal paints on the surface that lies in its box: a splash, a target, a star or an arrow.
#include "blocks_view.glsl"
struct Decal { vec4 middle; vec4 half_size; vec4 color; };
layout(std430, set = 0, binding = 1) readonly buffer Decals { Decal decal[]; };
layout(set = 0, binding = 2) uniform sampler2D depth_map;
layout(location = 0) flat in uint v_number;
layout(location = 0) out vec4 o_color;
#include "place_at.glsl"
void main() {
  Decal d = decal[v_number];
  float z = texelFetch(depth_map, ivec2(gl_FragCoord.xy), 0).r;
  vec3 away = (place_at(gl_FragCoord.xy * view.size_px.zw, z) - d.middle.xyz) / d.half_size.xyz;
  vec2 q = d.color.w < 0.5 ? vec2(away.z, -away.y) : d.color.w < 1.5 ? away.xz : vec2(away.x, -away.y);
  float along = d.color.w < 0.5 ? away.x : d.color.w < 1.5 ? away.y : away.z;
  float c = cos(d.middle.w), s = sin(d.middle.w);
  q = vec2(c * q.x - s * q.y, s * q.x + c * q.y);
  if (abs(along) > 1.0 || max(abs(q.x), abs(q.y)) > 1.0) discard;
  float r = length(q), angle = atan(q.y, q.x), alpha;
  vec3 color = d.color.rgb;
  if (d.half_size.w < 0.5) {
    float edge = 0.62 + 0.16 * sin(angle * 5.0 + d.middle.x * 9.0) + 0.10 * sin(angle * 11.0 + d.middle.z * 7.0) + 0.06 * sin(angle * 23.0);
    alpha = smoothstep(edge, edge - 0.04, r);
    color *= 0.75 + 0.4 * smoothstep(0.1, edge, r);
  } else if (d.half_size.w < 1.5) {
    alpha = smoothstep(0.95, 0.92, r);
    color = fract(r * 2.6) < 0.5 ? vec3(0.92) : color;
  } else if (d.half_size.w < 2.5) {
    float point = abs(mod(angle + 1.5708, 1.2566) / 0.6283 - 1.0), edge = 0.38 + 0.52 * point * point;
    alpha = smoothstep(edge, edge - 0.03, r);
    color = mix(color, vec3(1.0, 0.95, 0.7), smoothstep(0.5, 0.0, r));
  } else {
    float shaft = max(abs(q.x) - 0.16, abs(q.y + 0.1) - 0.75), head = max(q.y * -1.0 + 0.0, abs(q.x) * 1.1 + q.y - 0.88);
    alpha = smoothstep(0.02, -0.02, min(shaft, head));
  }
  o_color = vec4(color, alpha * 0.92);
}
