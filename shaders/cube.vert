#version 450
layout(push_constant) uniform Object { mat4 view_projection; mat4 model; } object;
layout(location = 0) in vec3 aPos;
layout(location = 1) in vec3 aNormal;
layout(location = 2) in vec2 aUV;
layout(location = 0) out vec3 v_normal;
layout(location = 1) out vec2 v_uv;
void main() {
  gl_Position = object.view_projection * (object.model * vec4(aPos, 1.0));
  v_normal = mat3(object.model) * aNormal;
  v_uv = aUV;
}
