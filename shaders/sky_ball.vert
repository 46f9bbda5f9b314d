#version 450
// Balls in three rows of nine: roughness grows to the right, metal above. FLOOR: one disc.
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 eye; vec4 way[3]; } view;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec3 v_place;
layout(location = 1) out vec3 v_normal;
layout(location = 2) flat out vec3 v_paint;
layout(location = 3) flat out vec2 v_look;  // roughness, metal
void main() {
#ifdef FLOOR
  v_place = position;
  v_paint = vec3(0.16, 0.15, 0.15);
  v_look = vec2(0.22, 0.0);
#else
  float column = float(gl_InstanceIndex % 9), row = float(gl_InstanceIndex / 9);
  v_place = position * 0.86 + vec3((column - 4.0) * 0.98, 0.45 + 0.93 * row, -0.5 * row);
  v_paint = row < 0.5 ? vec3(0.60, 0.06, 0.05) : row < 1.5 ? vec3(1.0, 0.72, 0.30) : vec3(0.93, 0.93, 0.95);
  v_look = vec2(column / 8.0, row < 0.5 ? 0.0 : 1.0);
#endif
  v_normal = normal;
  gl_Position = view.view_projection * vec4(v_place, 1.0);
}
