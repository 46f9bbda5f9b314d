#version 450
// A clear sky with a sun and a few bands of cloud.
#include "outdoors_view.glsl"
layout(location = 0) in vec3 v_way;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 way = normalize(v_way);
  float up = clamp(way.y, 0.0, 1.0);
  vec3 color = mix(vec3(0.62, 0.72, 0.82), vec3(0.10, 0.26, 0.62), sqrt(up));
  float toward = max(dot(way, normalize(view.sun.xyz)), 0.0);
  color += vec3(1.0, 0.8, 0.5) * (0.25 * pow(toward, 8.0) + 2.0 * pow(toward, 900.0));
  vec2 at = way.xz / (way.y + 0.15) * 2.0;
  float cloud = 0.5 * sin(at.x * 1.7 + 0.6 * sin(at.y * 2.3)) + 0.3 * sin(at.y * 4.1 + at.x) + 0.2 * sin(at.x * 9.0 - at.y * 7.0);
  color = mix(color, vec3(0.95), 0.55 * smoothstep(0.15, 0.8, cloud) * smoothstep(0.02, 0.25, up));
  o_color = vec4(color, 1.0);
}
