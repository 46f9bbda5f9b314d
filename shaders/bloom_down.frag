#version 450
// Half the size by 13 taps (Jimenez, "Next Generation Post Processing in Call of Duty", 2014). BRIGHT: only what is bright.
layout(set = 0, binding = 0) uniform sampler2D source;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
#include "tap.glsl"
void main() {
  vec3 middle = at(vec2(-1, -1)) + at(vec2(1, -1)) + at(vec2(-1, 1)) + at(vec2(1, 1));
  vec3 cross_ = at(vec2(0, -2)) + at(vec2(-2, 0)) + at(vec2(2, 0)) + at(vec2(0, 2));
  vec3 corners = at(vec2(-2, -2)) + at(vec2(2, -2)) + at(vec2(-2, 2)) + at(vec2(2, 2));
  vec3 color = 0.125 * middle + 0.0625 * cross_ + 0.03125 * corners + 0.125 * at(vec2(0));
#ifdef BRIGHT
  color *= smoothstep(0.35, 1.5, max(color.r, max(color.g, color.b)));
  color = min(color, 5.0);
#endif
  o_color = vec4(color, 1.0);
}
