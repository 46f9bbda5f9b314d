#version 450
// What one light adds, where its ball covers the picture.
#include "blocks_view.glsl"
layout(set = 0, binding = 2) uniform sampler2D color_map;
layout(set = 0, binding = 3) uniform sampler2D normal_map;
layout(set = 0, binding = 4) uniform sampler2D depth_map;
layout(location = 0) flat in vec4 v_place;
layout(location = 1) flat in vec3 v_color;
layout(location = 0) out vec4 o_color;
#include "place_at.glsl"
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  vec3 at = place_at(gl_FragCoord.xy * view.size_px.zw, texelFetch(depth_map, pixel, 0).r), way = v_place.xyz - at;
  float distance2 = dot(way, way), reach = clamp(1.0 - distance2 / (v_place.w * v_place.w), 0.0, 1.0);
  vec3 base = texelFetch(color_map, pixel, 0).rgb, n = normalize(texelFetch(normal_map, pixel, 0).xyz * 2.0 - 1.0);
  vec3 l = way * inversesqrt(distance2), to_eye = normalize(view.eye.xyz - at);
  float shine = 0.35 * pow(max(dot(n, normalize(l + to_eye)), 0.0), 32.0);
  o_color = vec4(v_color * reach * reach * (base * base * max(dot(n, l), 0.0) + shine) * 1.6, 0.0);
}
