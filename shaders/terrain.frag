#version 450
// Four layers, each a trilinear sRGB texture, by height and slope.
#include "outdoors_view.glsl"
layout(set = 0, binding = 1) uniform sampler2D grass;
layout(set = 0, binding = 2) uniform sampler2D rock;
layout(set = 0, binding = 3) uniform sampler2D sand;
layout(set = 0, binding = 4) uniform sampler2D snow;
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 n = normalize(v_normal);
  vec3 green = texture(grass, v_uv).rgb, grey = texture(rock, v_uv * 0.7).rgb, yellow = texture(sand, v_uv).rgb, white = texture(snow, v_uv * 0.5).rgb;
  float steep = smoothstep(0.80, 0.62, n.y), high = v_place.y + 0.8 * (grey.r - 0.2);
  vec3 base = mix(yellow, green, smoothstep(0.2, 0.9, high));
  base = mix(base, white, smoothstep(3.6, 4.6, high));
  base = mix(base, grey, steep);
  vec3 light = vec3(1.6, 1.45, 1.2) * max(dot(n, normalize(view.sun.xyz)), 0.0) + vec3(0.22, 0.27, 0.36) * (0.5 + 0.5 * n.y);
  float far = distance(v_place, view.eye.xyz);
  o_color = vec4(mix(base * light, vec3(0.62, 0.72, 0.82), 1.0 - exp(-0.0003 * far * far)), 1.0);
}
