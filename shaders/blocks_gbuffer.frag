#version 450
// Colour and normal of a block, with the pattern that its paint names.
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec4 v_paint;
layout(location = 0) out vec4 o_color;
layout(location = 1) out vec4 o_normal;
#include "painted.glsl"
void main() {
  vec3 n = normalize(v_normal);
  o_color = vec4(sqrt(painted(v_place, n, v_paint)), 1.0);
  o_normal = vec4(n * 0.5 + 0.5, 1.0);
}
