#version 450
// Instances of a box. scene 0: logs of a fire; 1: a ring of standing stones with beams, and the ground.
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 right; vec4 up; vec4 eye; } view;
layout(push_constant) uniform Scene { vec4 scene; };
layout(location = 0) in vec3 aPos;
layout(location = 1) in vec3 aNormal;
layout(location = 0) out vec3 v_place;
layout(location = 1) out vec3 v_normal;
layout(location = 2) out vec3 v_paint;
#include "turn_y.glsl"
void main() {
  float k = float(gl_InstanceIndex);
  vec3 size, at = vec3(0.0);
  float angle, lean = 0.0;
  if (scene.x < 0.5) {
    angle = k * 0.698;
    size = vec3(0.17, 0.95, 0.17);
    at = vec3(0.42 * sin(angle), 0.30, 0.42 * cos(angle));
    lean = -1.0;
    v_paint = vec3(0.13, 0.075, 0.04);
  } else if (gl_InstanceIndex == 27) {
    angle = 0.0;
    size = vec3(40.0, 0.1, 40.0);
    at = vec3(0.0, -0.05, 0.0);
    v_paint = vec3(0.16, 0.22, 0.10);
  } else {
    float ring = k < 15.0 ? k : k < 22.0 ? k - 15.0 : k - 22.0;
    bool beam = k >= 15.0 && k < 22.0;
    angle = (k < 15.0 ? ring * 0.41888 : beam ? (ring * 2.0 + 0.5) * 0.41888 : ring * 1.2566 + 0.3) + 0.1 * sin(k * 5.0) * (beam ? 0.0 : 1.0);
    float far = k < 22.0 ? 3.4 : 1.4;
    size = beam ? vec3(1.75, 0.32, 0.48) : vec3(0.62, k < 22.0 ? 2.3 : 1.5 + 0.4 * sin(k * 3.0), 0.42);
    at = vec3(far * sin(angle), beam ? 2.46 : size.y * 0.5 - 0.02, far * cos(angle));
    v_paint = vec3(0.40, 0.39, 0.37) * (0.85 + 0.2 * sin(k * 12.9));
  }
  vec3 p = aPos * size, n = aNormal;
  if (lean != 0.0) {
    float c = cos(0.95), s = sin(0.95) * lean;
    p = vec3(p.x, c * p.y - s * p.z, s * p.y + c * p.z);
    n = vec3(n.x, c * n.y - s * n.z, s * n.y + c * n.z);
  }
  mat3 turn = turn_y(angle);
  v_place = turn * p + at;
  v_normal = turn * n;
  gl_Position = view.view_projection * vec4(v_place, 1.0);
}
