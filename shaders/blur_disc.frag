#version 450
// 48 taps over a disc, on a spiral by the golden angle: bright points become discs, as in a lens.
layout(push_constant) uniform Disc { vec4 reach; };
layout(set = 0, binding = 0) uniform sampler2D source;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 sum = vec3(0.0);
  float weight = 0.0;
  vec2 way = vec2(1.0, 0.0);
  const mat2 turn = mat2(-0.737369, 0.675490, -0.675490, -0.737369);
  for (int i = 0; i < 48; i++) {
    vec3 color = texture(source, v_uv + way * sqrt((float(i) + 0.5) / 48.0) * reach.xy).rgb;
    float w = 1.0 + min(dot(color, vec3(0.3)), 4.0);
    sum += color * w;
    weight += w;
    way = turn * way;
  }
  o_color = vec4(sum / weight, 1.0);
}
