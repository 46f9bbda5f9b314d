#version 450
// Ground and stems.
#include "outdoors_view.glsl"
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 v_place;
layout(location = 1) out vec3 v_normal;
layout(location = 2) out vec2 v_uv;
void main() {
  v_place = position;
  v_normal = normal;
  v_uv = uv;
  gl_Position = view.view_projection * vec4(position, 1.0);
}
