#version 450
// Image-based light: levels of the sky's picture for roughness, its least level for diffuse light, and a fit of the split sum
// (Karis, "Physically Based Shading on Mobile", 2014).
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 eye; vec4 way[3]; } view;
layout(set = 0, binding = 1) uniform sampler2D sky;
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) flat in vec3 v_paint;
layout(location = 3) flat in vec2 v_look;
layout(location = 0) out vec4 o_color;
#include "sky_around.glsl"
#include "aces.glsl"
void main() {
  vec3 n = normalize(v_normal), to_eye = normalize(view.eye.xyz - v_place);
  float rough = v_look.x, facing = max(dot(n, to_eye), 0.0);
  vec3 f0 = mix(vec3(0.04), v_paint, v_look.y);
  vec4 r = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a = min(r.x * r.x, exp2(-9.28 * facing)) * r.x + r.y;
  vec2 split = vec2(-1.04, 1.04) * a + r.zw;
  vec3 mirrored = textureLod(sky, around(reflect(-to_eye, n)), 6.2 * sqrt(rough)).rgb;
  vec3 diffuse = textureLod(sky, around(normalize(n + vec3(0.02, 0.0, 0.01))), 6.0).rgb;
  vec3 color = mirrored * (f0 * split.x + split.y) + diffuse * v_paint * (1.0 - v_look.y);
#ifdef FLOOR
  vec2 slab = abs(fract(v_place.xz * 0.7) - 0.5);
  color *= mix(1.0, 0.6, smoothstep(0.48, 0.49, max(slab.x, slab.y)));
  for (int i = 0; i < 9; i++) color *= 1.0 - 0.75 * exp(-5.0 * length(v_place.xz - vec2((float(i) - 4.0) * 0.98, 0.0)));
#endif
  o_color = vec4(aces(color * 0.62), 1.0);
}
