#version 450
// The last frame's colour by the motion of the nearest of 3x3, filtered by Catmull-Rom in five taps, clamped to the box of this frame's
// 3x3 in YCoCg, and a tenth of the new colour (Karis, "High-Quality Temporal Supersampling", 2014).
#include "blocks_view.glsl"
layout(set = 0, binding = 1) uniform sampler2D now_map;
layout(set = 0, binding = 2) uniform sampler2D motion_map;
layout(set = 0, binding = 3) uniform sampler2D depth_map;
layout(set = 0, binding = 4) uniform sampler2D history_map;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
vec3 to_ycocg(vec3 c) { return vec3(dot(c, vec3(0.25, 0.5, 0.25)), dot(c, vec3(0.5, 0.0, -0.5)), dot(c, vec3(-0.25, 0.5, -0.25))); }
vec3 from_ycocg(vec3 c) { return vec3(c.x + c.y - c.z, c.x + c.z, c.x - c.y - c.z); }
vec3 catmull_rom(vec2 uv) {
  vec2 at = uv * view.size_px.xy, middle = floor(at - 0.5) + 0.5, f = at - middle;
  vec2 w0 = f * (-0.5 + f * (1.0 - 0.5 * f)), w1 = 1.0 + f * f * (-2.5 + 1.5 * f), w2 = f * (0.5 + f * (2.0 - 1.5 * f)), w3 = f * f * (-0.5 + 0.5 * f);
  vec2 w12 = w1 + w2, t0 = (middle - 1.0) * view.size_px.zw, t12 = (middle + w2 / w12) * view.size_px.zw, t3 = (middle + 2.0) * view.size_px.zw;
  vec4 sum = vec4(texture(history_map, vec2(t12.x, t0.y)).rgb, 1.0) * w12.x * w0.y + vec4(texture(history_map, vec2(t0.x, t12.y)).rgb, 1.0) * w0.x * w12.y +
             vec4(texture(history_map, t12).rgb, 1.0) * w12.x * w12.y + vec4(texture(history_map, vec2(t3.x, t12.y)).rgb, 1.0) * w3.x * w12.y +
             vec4(texture(history_map, vec2(t12.x, t3.y)).rgb, 1.0) * w12.x * w3.y;
  return sum.rgb / sum.a;
}
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy), end = ivec2(view.size_px.xy) - 1, nearest = pixel;
  vec3 low = vec3(1e9), high = vec3(-1e9), now = vec3(0.0);
  float z = 2.0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++) {
      ivec2 at = clamp(pixel + ivec2(x, y), ivec2(0), end);
      vec3 c = to_ycocg(texelFetch(now_map, at, 0).rgb);
      float d = texelFetch(depth_map, at, 0).r;
      if (d < z) { z = d; nearest = at; }
      if (x == 0 && y == 0) now = c;
      low = min(low, c);
      high = max(high, c);
    }
  vec2 uv = v_uv - texelFetch(motion_map, nearest, 0).rg;
  vec3 history = clamp(to_ycocg(max(catmull_rom(uv), 0.0)), low, high);
  bool outside = any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)));
  o_color = vec4(from_ycocg(mix(history, now, outside ? 1.0 : 0.1)), 1.0);
}
