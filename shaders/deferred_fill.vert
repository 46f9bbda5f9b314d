#version 450
layout(push_constant) uniform Object { mat4 view_projection; vec4 place; vec4 color; } object;  // place: x, y, z, scale
layout(location = 0) in vec3 aPos;
layout(location = 1) in vec3 aNormal;
layout(location = 0) out vec3 v_normal;
void main() {
  gl_Position = object.view_projection * vec4(aPos * object.place.w + object.place.xyz, 1.0);
  v_normal = aNormal;
}
