#version 450
// One ball of the wall, turning slowly.
layout(push_constant) uniform Object { vec4 place; vec4 look; } object;  // place: x, y, z, size; look: scale of the pattern, turn, time
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 eye; } view;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 v_place;
layout(location = 1) out vec3 v_normal;
layout(location = 2) out vec3 v_own;
layout(location = 3) out vec2 v_uv;
#include "turn_y.glsl"
void main() {
  mat3 turn = turn_y(6.283 * object.look.y + 0.5 * object.look.z);
  v_place = turn * position * object.place.w + object.place.xyz;
  v_normal = turn * normal;
  v_own = position * 2.0;
  v_uv = uv * object.look.x;
  gl_Position = view.view_projection * vec4(v_place, 1.0);
}
