#version 450
// The box of a decal, inside out, so that the eye may be in it.
#include "blocks_view.glsl"
struct Decal { vec4 middle; vec4 half_size; vec4 color; };
layout(std430, set = 0, binding = 1) readonly buffer Decals { Decal decal[]; };
layout(location = 0) in vec3 aPos;
layout(location = 0) flat out uint v_number;
void main() {
  Decal d = decal[gl_InstanceIndex];
  v_number = uint(gl_InstanceIndex);
  vec3 reach = d.half_size.xyz * (vec3(d.color.w == 0.0 ? 1.0 : 1.45, d.color.w == 1.0 ? 1.0 : 1.45, d.color.w == 2.0 ? 1.0 : 1.45));
  gl_Position = view.view_projection * vec4(d.middle.xyz + aPos * 2.0 * reach, 1.0);
}
