#version 450
// The end of a frame: exposure, tone curve, grading by a table of 16 slices, fringes towards the corners, grain.
layout(push_constant) uniform Tone { vec4 exposure; };  // factor, time, width, height
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1) uniform sampler2D grading;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
#include "aces.glsl"
void main() {
  vec2 q = v_uv - 0.5;
  vec2 fringe = q * dot(q, q) * 0.008;
  vec3 x = vec3(texture(source, v_uv + fringe).r, texture(source, v_uv).g, texture(source, v_uv - fringe).b) * exposure.x;
  vec3 c = pow(aces(x), vec3(1.0 / 2.2));
  float slice = c.b * 15.0, low = min(floor(slice), 14.0);
  vec2 at = (c.rg * 15.0 + 0.5) / vec2(256.0, 16.0) + vec2(low / 16.0, 0.0);
  c = mix(texture(grading, at).rgb, texture(grading, at + vec2(1.0 / 16.0, 0.0)).rgb, slice - low);
  float grain = fract(52.9829189 * fract(dot(floor(v_uv * exposure.zw) + 5.588 * exposure.y, vec2(0.06711056, 0.00583715)))) - 0.5;
  c *= 1.0 - 0.9 * dot(q, q);
  o_color = vec4(c + 0.018 * grain, 1.0);
}
