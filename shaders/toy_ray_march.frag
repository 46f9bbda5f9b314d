#version 450
// Distance fields: a hall of columns without end over a sea that moves, one ball in each square. Steps end early where a ray hits.
layout(push_constant) uniform Toy { vec4 toy; };  // width, height, time
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
float column(vec3 p) {
  vec2 q = mod(p.xz + 2.0, 4.0) - 2.0;
  float angle = atan(q.y, q.x);
  float shaft = length(q) - 0.42 - 0.03 * sin(angle * 12.0) + 0.05 * abs(sin(p.y * 0.8));
  vec2 d = abs(q) - 0.62;
  float foot = max(max(d.x, d.y), abs(abs(p.y - 1.6) - 2.2) - 0.28);
  return min(shaft, foot) * 0.8;
}
float sea(vec3 p) {
  float t = toy.z;
  return p.y + 0.62 + 0.10 * sin(p.x * 1.7 + t) * sin(p.z * 1.3 - 0.8 * t) + 0.04 * sin(p.x * 4.3 - p.z * 3.1 + 1.4 * t);
}
float ball(vec3 p) {
  vec2 cell = floor(p.xz / 4.0);
  vec2 q = mod(p.xz, 4.0) - 2.0;
  return length(vec3(q.x, p.y - 0.75 - 0.45 * sin(cell.x * 2.1 + cell.y * 3.7 + toy.z), q.y)) - 0.5;
}
vec2 world(vec3 p) {
  float a = column(p), b = sea(p), c = ball(p), roof = 4.6 - p.y;
  vec2 near = a < b ? vec2(a, 1.0) : vec2(b, 2.0);
  if (c < near.x) near = vec2(c, 3.0);
  if (roof < near.x) near = vec2(roof, 4.0);
  return near;
}
vec3 normal_at(vec3 p) {
  vec2 e = vec2(0.003, 0.0);
  float d = world(p).x;
  return normalize(vec3(world(p + e.xyy).x, world(p + e.yxy).x, world(p + e.yyx).x) - d);
}
void main() {
  vec2 q = (v_uv * 2.0 - 1.0) * vec2(toy.x / toy.y, -1.0);
  vec3 eye = vec3(1.06 + 0.12 * sin(0.4 * toy.z), 1.1, 1.6 + 0.6 * toy.z);
  vec3 way = normalize(vec3(q.x * 0.75 + 0.22, q.y * 0.75 + 0.06, 1.0));
  float far = 0.05, what = 0.0;
  for (int i = 0; i < 80; i++) {
    vec2 d = world(eye + way * far);
    if (d.x < 0.001 * far || far > 60.0) { what = d.y; break; }
    far += d.x * 0.85;
  }
  vec3 mist = mix(vec3(0.95, 0.66, 0.42), vec3(0.45, 0.42, 0.55), smoothstep(-0.2, 0.5, q.y)), color = mist;
  if (far < 60.0 && what > 0.5) {
    vec3 p = eye + way * far, n = normal_at(p), lamp = normalize(vec3(-0.5, 0.45, 0.75));
    float lit = 1.0, t = 0.05;
    for (int i = 0; i < 14; i++) {
      float d = min(column(p + lamp * t), ball(p + lamp * t));
      lit = min(lit, 7.0 * d / t);
      t += clamp(d, 0.05, 0.5);
      if (lit < 0.01) break;
    }
    lit = clamp(lit, 0.0, 1.0);
    vec3 paint = what < 1.5 ? vec3(0.80, 0.70, 0.58) : what < 2.5 ? vec3(0.05, 0.16, 0.20) : what < 3.5 ? vec3(0.95, 0.42, 0.16) : vec3(0.50, 0.42, 0.36);
    float shine = pow(max(dot(reflect(way, n), lamp), 0.0), what < 2.5 && what > 1.5 ? 60.0 : 22.0);
    float open = clamp(world(p + 0.35 * n).x / 0.35, 0.0, 1.0);
    float rim = pow(1.0 + dot(way, n), 4.0);
    color = paint * (vec3(1.5, 1.15, 0.8) * max(dot(n, lamp), 0.0) * lit + vec3(0.30, 0.32, 0.42) * (0.6 + 0.4 * n.y) * open);
    color += shine * lit * vec3(1.0, 0.85, 0.6) * (what > 1.5 && what < 3.5 ? 0.9 : 0.15) + rim * mist * (what > 1.5 && what < 2.5 ? 0.7 : 0.1);
    color = mix(mist, color, exp(-0.0022 * far * far));
  }
  o_color = vec4(sqrt(clamp(color, 0.0, 1.0)), 1.0);
}
