#version 450
// The sky's picture behind everything.
layout(set = 0, binding = 1) uniform sampler2D sky;
layout(location = 0) in vec3 v_way;
layout(location = 0) out vec4 o_color;
vec2 around(vec3 way) { return vec2(atan(way.x, -way.z) * 0.15915494 + 0.5, 0.5 - 0.5 * way.y); }  // the picture is even in height
vec3 curve(vec3 x) { return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0); }
void main() { o_color = vec4(curve(textureLod(sky, around(normalize(v_way)), 0.0).rgb * 0.62), 1.0); }
