#version 450
// A conifer of the forest: place and height from a buffer, its turn from its number.
#include "outdoors_view.glsl"
layout(std430, set = 0, binding = 1) readonly buffer Woods { vec4 tree[]; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 v_normal;
layout(location = 1) out vec3 v_paint;
layout(location = 2) out float v_far;
#include "turn_y.glsl"
void main() {
  vec4 place = tree[gl_InstanceIndex];
  mat3 turn = turn_y(2.399963 * float(gl_InstanceIndex));
  vec3 at = turn * position * place.w + place.xyz;
  v_normal = turn * normal;
  float tint = fract(0.618034 * float(gl_InstanceIndex));
  vec3 needles = mix(vec3(0.02, 0.075, 0.03), vec3(0.085, 0.16, 0.045), tint) * (0.45 + 1.6 * uv.x + 0.5 * uv.y);
  v_paint = uv.y < 0.0 ? vec3(0.10, 0.065, 0.04) : needles;
  v_far = distance(at, view.eye.xyz);
  gl_Position = view.view_projection * vec4(at, 1.0);
}
