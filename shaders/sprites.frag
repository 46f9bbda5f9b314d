#version 450
layout(set = 0, binding = 0) uniform sampler2D atlas;
layout(location = 0) in vec2 v_uv;
layout(location = 1) in vec2 v_look;
layout(location = 0) out vec4 o_color;
void main() {
  vec4 texel = texture(atlas, v_uv);
  vec3 color = texel.rgb * (0.8 + 0.35 * v_look.y);
  o_color = vec4(mix(color, vec3(0.03, 0.30, 0.42), 0.85 * v_look.x), texel.a * (1.0 - 0.25 * v_look.x));
}
