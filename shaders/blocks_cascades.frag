#version 450
// The sun through four shadow maps by distance, 3x3 filtered comparisons each, and haze.
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; mat4 inverse; mat4 before; vec4 eye; vec4 sun; vec4 size_px; } view;
layout(std140, set = 0, binding = 2) uniform Cascades { mat4 cascade0; mat4 cascade1; mat4 cascade2; mat4 cascade3; vec4 splits; vec4 forward; } light;
layout(set = 0, binding = 3) uniform sampler2DShadow map0;
layout(set = 0, binding = 4) uniform sampler2DShadow map1;
layout(set = 0, binding = 5) uniform sampler2DShadow map2;
layout(set = 0, binding = 6) uniform sampler2DShadow map3;
layout(location = 0) in vec3 v_place;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec4 v_paint;
layout(location = 0) out vec4 o_color;
vec3 painted(vec3 at, vec3 n, vec4 paint) {
  vec2 q = abs(n.y) > 0.5 ? at.xz : vec2(abs(n.x) > 0.5 ? at.z : at.x, at.y);
  if (paint.w < 0.5) return paint.rgb;
  if (paint.w < 1.5) {  // slabs
    vec2 slab = fract(q * 0.7), cell = floor(q * 0.7);
    float joint = min(min(slab.x, 1.0 - slab.x), min(slab.y, 1.0 - slab.y));
    return paint.rgb * (0.88 + 0.16 * fract(dot(cell, vec2(0.754877, 0.569840)))) * mix(0.6, 1.0, smoothstep(0.0, 0.03, joint));
  }
  if (paint.w < 2.5) {  // windows
    vec2 pane = abs(fract(q * vec2(1.15, 1.0) + vec2(0.0, 0.1)) - 0.5);
    bool glass = abs(n.y) < 0.5 && pane.x < 0.20 && pane.y < 0.27;
    return glass ? vec3(0.10, 0.14, 0.19) : pane.x < 0.24 && pane.y < 0.31 && abs(n.y) < 0.5 ? vec3(0.85) : paint.rgb;
  }
  if (paint.w < 3.5) {  // bricks
    vec2 b = q * vec2(2.2, 4.4);
    b.x += 0.5 * mod(floor(b.y), 2.0);
    vec2 brick = fract(b), cell = floor(b);
    float joint = min(min(brick.x, 1.0 - brick.x) * 2.0, min(brick.y, 1.0 - brick.y));
    return mix(vec3(0.62, 0.60, 0.56), paint.rgb * (0.75 + 0.4 * fract(dot(cell, vec2(0.754877, 0.569840)))), smoothstep(0.03, 0.09, joint));
  }
  float plank = abs(fract(q.y * 4.0) - 0.5);  // planks
  return paint.rgb * (0.8 + 0.25 * sin(q.x * 9.0 + 4.0 * sin(q.y * 40.0)) * 0.3) * mix(1.0, 0.55, smoothstep(0.44, 0.48, plank));
}
float lit(sampler2DShadow map, vec4 at) {
  vec2 uv = at.xy * 0.5 + 0.5, texel = 1.0 / vec2(textureSize(map, 0));
  float sum = 0.0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++) sum += texture(map, vec3(uv + vec2(x, y) * texel, at.z));
  return sum / 9.0;
}
void main() {
  vec3 n = normalize(v_normal), sun = normalize(view.sun.xyz);
  float far = dot(v_place - view.eye.xyz, light.forward.xyz), sunny;
  vec4 at = vec4(v_place + 0.03 * n, 1.0);
  if (far < light.splits.x) sunny = lit(map0, light.cascade0 * at);
  else if (far < light.splits.y) sunny = lit(map1, light.cascade1 * at);
  else if (far < light.splits.z) sunny = lit(map2, light.cascade2 * at);
  else sunny = lit(map3, light.cascade3 * at);
  vec3 base = painted(v_place, n, v_paint);
  vec3 color = base * base * (vec3(1.75, 1.30, 1.05) * max(dot(n, sun), 0.0) * sunny + vec3(0.24, 0.30, 0.40) * (0.6 + 0.4 * n.y));
  o_color = vec4(mix(color, vec3(0.55, 0.68, 0.85), 1.0 - exp(-0.00035 * far * far)), 1.0);
}
