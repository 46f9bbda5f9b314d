#version 450
layout(set = 0, binding = 0) uniform sampler2D color_map;
layout(set = 0, binding = 1) uniform sampler2D normal_map;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 base = texture(color_map, v_uv).rgb, n = texture(normal_map, v_uv).xyz * 2.0 - 1.0;
  o_color = vec4(base * base * (0.045 + 0.02 * n.y) * vec3(0.8, 0.9, 1.2) + vec3(0.002, 0.003, 0.006), 1.0);
}
