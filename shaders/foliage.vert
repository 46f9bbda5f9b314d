#version 450
// Cards of leaves; what is high moves a little in the wind.
#include "outdoors_view.glsl"
layout(push_constant) uniform Wind { vec4 wind; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 v_normal;
layout(location = 1) out vec2 v_uv;
layout(location = 2) out float v_low;
void main() {
  vec3 at = position;
  at.xz += 0.03 * (1.0 - uv.y) * vec2(sin(2.0 * wind.x + 3.0 * position.x), cos(1.7 * wind.x + 2.0 * position.z));
  v_normal = normal;
  v_uv = uv;
  v_low = clamp(position.y * 0.55 + 0.35, 0.0, 1.0);
  gl_Position = view.view_projection * vec4(at, 1.0);
}
