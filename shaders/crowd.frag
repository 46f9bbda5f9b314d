#version 450
#include "outdoors_view.glsl"
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec3 v_paint;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 n = normalize(v_normal), to_eye = normalize(view.eye.xyz - v_place), sun = normalize(view.sun.xyz);
  vec3 light = vec3(1.5, 1.4, 1.2) * max(dot(n, sun), 0.0) + mix(vec3(0.14, 0.12, 0.10), vec3(0.32, 0.38, 0.48), 0.5 + 0.5 * n.y);
  light *= 0.45 + 0.55 * clamp(v_place.y * 0.9 + 0.15, 0.0, 1.0);
  float shine = 0.12 * pow(max(dot(n, normalize(sun + to_eye)), 0.0), 24.0);
  o_color = vec4(v_paint * light + shine, 1.0);
}
