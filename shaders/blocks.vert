#version 450
// An instance of a box: turned about y by place.w, leaning by paint.w. DEPTH: nothing but its place; MOTION: also where it was before.
#include "blocks_view.glsl"
struct Block { vec4 place; vec4 size; vec4 paint; };  // size.w: pattern
layout(std430, set = 0, binding = 1) readonly buffer Blocks { Block block[]; };
layout(location = 0) in vec3 aPos;
#ifndef DEPTH
layout(location = 1) in vec3 aNormal;
layout(location = 0) out vec3 v_place;
layout(location = 1) out vec3 v_normal;
layout(location = 2) out vec4 v_paint;
#endif
#ifdef MOTION
layout(location = 3) out vec3 v_now;
layout(location = 4) out vec3 v_before;
#endif
#include "turn_y.glsl"
void main() {
  Block b = block[gl_InstanceIndex];
  float cl = cos(b.paint.w), sl = sin(b.paint.w);
  mat3 turn = turn_y(b.place.w) * mat3(cl, sl, 0.0, -sl, cl, 0.0, 0.0, 0.0, 1.0);
  vec3 at = turn * (aPos * b.size.xyz) + b.place.xyz;
  gl_Position = view.view_projection * vec4(at, 1.0);
#ifndef DEPTH
  v_place = at;
  v_normal = turn * aNormal;
  v_paint = vec4(b.paint.rgb, b.size.w);
#endif
#ifdef MOTION
  v_now = gl_Position.xyw;
  v_before = (view.before * vec4(at, 1.0)).xyw;
#endif
}
