#version 450
// The sky's picture behind everything.
layout(set = 0, binding = 1) uniform sampler2D sky;
layout(location = 0) in vec3 v_way;
layout(location = 0) out vec4 o_color;
#include "sky_around.glsl"
#include "aces.glsl"
void main() { o_color = vec4(aces(textureLod(sky, around(normalize(v_way)), 0.0).rgb * 0.62), 1.0); }
