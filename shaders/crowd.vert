#version 450
// A person of the crowd: two bones a vertex, three rows of a matrix each, ten bones a person.
#include "outdoors_view.glsl"
layout(std430, set = 0, binding = 1) readonly buffer Bones { vec4 row[]; };
struct Person { vec4 place; vec4 look; };
layout(std430, set = 0, binding = 2) readonly buffer People { Person person[]; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in uvec4 bone;
layout(location = 3) in vec2 weight;
layout(location = 4) in float part;
layout(location = 0) out vec3 v_place;
layout(location = 1) out vec3 v_normal;
layout(location = 2) out vec3 v_paint;
vec3 moved(uint number, vec4 v) {
  uint at = 3u * (10u * uint(gl_InstanceIndex) + number);
  return vec3(dot(row[at], v), dot(row[at + 1u], v), dot(row[at + 2u], v));
}
#include "turn_y.glsl"
void main() {
  Person p = person[gl_InstanceIndex];
  vec3 at = weight.x * moved(bone.x, vec4(position, 1.0)) + weight.y * moved(bone.y, vec4(position, 1.0));
  vec3 n = weight.x * moved(bone.x, vec4(normal, 0.0)) + weight.y * moved(bone.y, vec4(normal, 0.0));
  mat3 turn = turn_y(p.place.w);
  v_place = turn * at + p.place.xyz;
  v_normal = turn * n;
  vec3 skin = mix(vec3(0.20, 0.10, 0.06), vec3(0.72, 0.48, 0.35), fract(p.look.w * 7.0));
  vec3 hair = mix(vec3(0.02, 0.015, 0.01), vec3(0.30, 0.18, 0.07), fract(p.look.w * 3.0));
  vec3 trousers = mix(vec3(0.03, 0.05, 0.12), vec3(0.25, 0.20, 0.15), fract(p.look.w * 5.0));
  v_paint = part < 0.5 ? p.look.rgb : part < 1.5 ? trousers : part < 2.5 ? skin : hair;
  gl_Position = view.view_projection * vec4(v_place, 1.0);
}
