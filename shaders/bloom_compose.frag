#version 450
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1) uniform sampler2D glow;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 x = (texture(source, v_uv).rgb + 0.13 * texture(glow, v_uv).rgb) * 1.7;
  o_color = vec4(clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0), 1.0);
}
