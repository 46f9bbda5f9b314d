#version 450
// A texture, lit by one lamp and the sky. The attachment is sRGB, so all of this is in linear light.
layout(set = 0, binding = 0) uniform sampler2D albedo;
layout(location = 0) in vec3 v_normal;
layout(location = 1) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 n = normalize(v_normal);
  float lamp = max(dot(n, normalize(vec3(0.5, 0.8, 0.6))), 0.0);
  float sky = 0.5 + 0.5 * n.y;
  o_color = vec4(texture(albedo, v_uv).rgb * (0.85 * lamp + 0.3 * sky), 1.0);
}
