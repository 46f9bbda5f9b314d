#version 450
// Water: lighter above, with beams of light.
layout(push_constant) uniform View { vec4 size; } view;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 color = mix(vec3(0.16, 0.62, 0.72), vec3(0.01, 0.10, 0.22), v_uv.y);
  float across = v_uv.x * view.size.x + 0.35 * v_uv.y;
  float beam = sin(across * 9.0 + view.size.y) * sin(across * 5.3 + 1.0) * sin(across * 23.0);
  color += vec3(0.5, 0.6, 0.5) * max(beam, 0.0) * (1.0 - v_uv.y) * 0.35;
  o_color = vec4(color, 1.0);
}
