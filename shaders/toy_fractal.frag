#version 450
// The Mandelbrot set near a spiral, smoothly coloured by how soon a point escapes.
layout(push_constant) uniform Toy { vec4 toy; };  // width, height, time
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec2 q = (v_uv * 2.0 - 1.0) * vec2(toy.x / toy.y, -1.0);
  vec2 c = vec2(-0.74515, 0.1131) + q * 0.0052 / (1.0 + 0.2 * toy.z), z = vec2(0.0);
  float rounds = 0.0, size = 0.0;
  for (int i = 0; i < 220; i++) {
    z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    size = dot(z, z);
    if (size > 256.0) break;
    rounds += 1.0;
  }
  float smooth_rounds = rounds - log2(log2(max(size, 2.0)) * 0.5) + 3.0;
  vec3 color = 0.5 + 0.5 * cos(6.2832 * (0.022 * smooth_rounds + vec3(0.60, 0.70, 0.85)));
  color *= 0.35 + 0.65 * smoothstep(0.0, 60.0, smooth_rounds);
  o_color = vec4(rounds >= 219.5 ? vec3(0.01, 0.01, 0.02) : color, 1.0);
}
