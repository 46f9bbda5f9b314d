#version 450
// Twice the size by a tent of 9 taps; blending adds it to what is there.
layout(set = 0, binding = 0) uniform sampler2D source;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
#include "tap.glsl"
void main() {
  vec3 sum = 4.0 * at(vec2(0)) + 2.0 * (at(vec2(-1, 0)) + at(vec2(1, 0)) + at(vec2(0, -1)) + at(vec2(0, 1)));
  sum += at(vec2(-1, -1)) + at(vec2(1, -1)) + at(vec2(-1, 1)) + at(vec2(1, 1));
  o_color = vec4(sum / 16.0, 1.0);
}
