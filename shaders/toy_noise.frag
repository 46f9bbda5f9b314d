#version 450
// Clouds at sunset: value noise warped by value noise, over a sky and a sun.
layout(push_constant) uniform Toy { vec4 toy; };  // width, height, time
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
#include "hash.glsl"
float noise(vec2 p) {
  vec2 i = floor(p), f = fract(p);
  f = f * f * (3.0 - 2.0 * f);
  return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x), mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), f.x), f.y);
}
float octaves(vec2 p) {
  float sum = 0.0, weight = 0.5;
  for (int i = 0; i < 7; i++) {
    sum += weight * noise(p);
    p = mat2(1.6, 1.2, -1.2, 1.6) * p + 3.1;
    weight *= 0.5;
  }
  return sum;
}
void main() {
  vec2 q = (v_uv - vec2(0.5, 0.72)) * vec2(toy.x / toy.y, 1.0);
  float high = 0.78 - v_uv.y;
  vec2 p = vec2(q.x / (high + 0.35), 1.6 / (high + 0.35)) * 2.3 + vec2(0.04 * toy.z, 0.0);
  vec2 warp = vec2(octaves(p), octaves(p + 5.2));
  float cloud = octaves(p + 1.9 * warp);
  float lit = octaves(p + 1.9 * warp + vec2(0.10, -0.16));
  vec3 sky = mix(vec3(1.0, 0.55, 0.25), mix(vec3(0.72, 0.32, 0.38), vec3(0.12, 0.16, 0.38), smoothstep(0.15, 0.75, high)), smoothstep(-0.05, 0.3, high));
  float sun = length(q - vec2(0.25, -0.02));
  sky += vec3(1.2, 0.7, 0.3) * (smoothstep(0.075, 0.068, sun) + 0.35 * exp(-5.0 * sun));
  float cover = smoothstep(0.42, 0.72, cloud);
  vec3 paint = mix(vec3(1.05, 0.72, 0.50), vec3(0.30, 0.20, 0.30), clamp(0.5 + 3.5 * (lit - cloud) + 0.7 * cover, 0.0, 1.0));
  vec3 color = mix(sky, paint + 0.5 * vec3(1.0, 0.5, 0.2) * exp(-4.0 * sun), cover * smoothstep(-0.02, 0.2, high));
  if (v_uv.y > 0.80) {
    float deep = (v_uv.y - 0.80) * 5.0;
    float wave = noise(vec2(q.x * 14.0 / (0.15 + deep), 22.0 * sqrt(deep) + toy.z)) + 0.5 * noise(vec2(q.x * 40.0 / (0.15 + deep), 60.0 * sqrt(deep)));
    color = mix(vec3(0.95, 0.50, 0.26), vec3(0.06, 0.07, 0.16), clamp(deep * 0.9 + 0.35 * wave, 0.0, 1.0));
    color += vec3(1.2, 0.7, 0.35) * exp(-26.0 * abs(q.x - 0.25) / (0.5 + deep)) * smoothstep(0.6, 1.0, wave);
  }
  o_color = vec4(color, 1.0);
}
