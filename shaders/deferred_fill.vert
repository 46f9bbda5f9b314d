#version 450
layout(push_constant) uniform Object { mat4 view_projection; vec4 place; vec4 color; } object;  // place: x, y, z, scale
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec3 v_normal;
void main() {
  gl_Position = object.view_projection * vec4(position * object.place.w + object.place.xyz, 1.0);
  v_normal = normal;
}
