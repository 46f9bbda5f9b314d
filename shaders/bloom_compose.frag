#version 450
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1) uniform sampler2D glow;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
#include "aces.glsl"
void main() {
  vec3 x = (texture(source, v_uv).rgb + 0.13 * texture(glow, v_uv).rgb) * 1.7;
  o_color = vec4(aces(x), 1.0);
}
