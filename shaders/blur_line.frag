#version 450
// 13 taps of a Gaussian along one direction.
layout(push_constant) uniform Line { vec4 texel_step; };
layout(set = 0, binding = 0) uniform sampler2D source;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  const float weight[7] = float[](0.13298, 0.12579, 0.10648, 0.08065, 0.05467, 0.03315, 0.01799);
  vec3 sum = texture(source, v_uv).rgb * weight[0];
  for (int i = 1; i < 7; i++) {
    vec2 away = texel_step.xy * float(i);
    sum += (texture(source, v_uv + away).rgb + texture(source, v_uv - away).rgb) * weight[i];
  }
  o_color = vec4(sum * 1.0254, 1.0);
}
