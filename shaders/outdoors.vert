#version 450
// Ground and stems.
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 eye; vec4 sun; vec4 way[3]; } view;
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
