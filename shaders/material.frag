#version 450
// PATTERN: what is painted over the texture (0 to 7). FINISH: dull, lacquer, metal.
layout(push_constant) uniform Object { vec4 place; vec4 look; } object;
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 eye; } view;
layout(set = 0, binding = 1) uniform sampler2D surface;
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec3 v_own;
layout(location = 3) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 base = texture(surface, v_uv).rgb, n = normalize(v_normal), to_eye = normalize(view.eye.xyz - v_place);
  vec3 other = vec3(0.75, 0.68, 0.55);
#if PATTERN == 1
  base = mix(base, other, smoothstep(-0.05, 0.05, sin(v_own.y * 12.0)));
#elif PATTERN == 2
  base = mix(base, other, step(0.0, sin(v_own.x * 9.0) * sin(v_own.y * 9.0) * sin(v_own.z * 9.0)));
#elif PATTERN == 3
  vec3 cell = fract(v_own * 2.6) - 0.5;
  base = mix(other, base, smoothstep(0.28, 0.32, length(cell)));
#elif PATTERN == 4
  n = normalize(n + 0.25 * vec3(sin(v_own.y * 24.0), sin(v_own.z * 24.0), sin(v_own.x * 24.0)));
#elif PATTERN == 5
  float turn = atan(v_own.z, v_own.x) * 3.0 + v_own.y * 7.0;
  base = mix(base, other * 0.5, smoothstep(0.2, 0.3, sin(turn)));
#elif PATTERN == 6
  base *= 0.4 + 0.6 * smoothstep(0.02, 0.08, abs(fract(v_own.y * 3.0) - 0.5)) * smoothstep(0.02, 0.08, abs(fract(v_own.x * 3.0) - 0.5));
#elif PATTERN == 7
  base = mix(base, 0.5 + 0.5 * cos(6.2832 * (dot(n, to_eye) + vec3(0.0, 0.33, 0.67))), 0.6);
#endif
  vec3 light = vec3(0.0);
#if FINISH == 2
  vec3 f0 = base, body = vec3(0.0);
  float power = 48.0;
#elif FINISH == 1
  vec3 f0 = vec3(0.06), body = base;
  float power = 90.0;
#else
  vec3 f0 = vec3(0.02), body = base;
  float power = 8.0;
#endif
  vec3 way[3] = vec3[](normalize(vec3(-0.5, 0.7, 0.6)), normalize(vec3(0.8, 0.1, 0.5)), normalize(vec3(0.0, -0.7, 0.4)));
  vec3 tone[3] = vec3[](vec3(1.5, 1.4, 1.25), vec3(0.45, 0.5, 0.65), vec3(0.16, 0.14, 0.12));
  for (int i = 0; i < 3; i++) {
    float facing = max(dot(n, way[i]), 0.0), shine = pow(max(dot(n, normalize(way[i] + to_eye)), 0.0), power);
    light += tone[i] * (body * facing + f0 * shine * (power * 0.10 + 0.4) * facing);
  }
  float rim = pow(1.0 - max(dot(n, to_eye), 0.0), 5.0), up = 0.5 + 0.5 * reflect(-to_eye, n).y;
  light += mix(vec3(0.10, 0.09, 0.08), vec3(0.50, 0.58, 0.70), up * up) * (f0 + (1.0 - f0) * rim * 0.5) + body * 0.06;
  o_color = vec4(light / (1.0 + 0.35 * light), 1.0);
}
