#version 450
// Blocks in the sun. MOTION: also how far each pixel moved since the last frame, as part of the picture.
#include "blocks_view.glsl"
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec4 v_paint;
#ifdef MOTION
layout(location = 3) in vec3 v_now;
layout(location = 4) in vec3 v_before;
layout(location = 1) out vec2 o_motion;
#endif
layout(location = 0) out vec4 o_color;
#include "painted.glsl"
void main() {
  vec3 n = normalize(v_normal), paint = painted(v_place, n, v_paint);
  vec3 light = vec3(1.30, 1.18, 0.98) * max(dot(n, normalize(view.sun.xyz)), 0.0) + vec3(0.28, 0.33, 0.42) * (0.6 + 0.4 * n.y);
  float far = distance(v_place, view.eye.xyz);
  o_color = vec4(mix(paint * paint * light, vec3(0.45, 0.62, 0.85), 1.0 - exp(-0.0008 * far * far)), 1.0);
#ifdef MOTION
  o_motion = (v_now.xy / v_now.z - v_before.xy / v_before.z) * 0.5;
#endif
}
