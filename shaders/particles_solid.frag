#version 450
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 right; vec4 up; vec4 eye; } view;
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec3 v_paint;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 n = normalize(v_normal);
  float grain = 0.94 + 0.06 * sin(v_place.y * 61.0 + 4.0 * sin(v_place.x * 17.0)) * sin(v_place.x * 43.0 + v_place.z * 37.0);
  vec3 light = vec3(1.0, 0.92, 0.8) * max(dot(n, normalize(vec3(0.5, 0.6, 0.6))), 0.0) + vec3(0.42, 0.48, 0.58) * (0.55 + 0.45 * n.y);
  float far = distance(v_place, view.eye.xyz);
  o_color = vec4(mix(sqrt(v_paint * light * grain), vec3(0.42, 0.50, 0.62), clamp(1.0 - exp(-0.0035 * far * far), 0.0, 1.0) * step(0.3, v_paint.b + v_paint.g)), 1.0);
}
