#version 450
layout(push_constant) uniform Object { mat4 view_projection; vec4 place; vec4 color; } object;
layout(location = 0) in vec3 v_normal;
layout(location = 0) out vec4 o_albedo;  // RGBA8: colour, roughness
layout(location = 1) out vec4 o_normal;  // A2B10G10R10
void main() {
  o_albedo = object.color;
  o_normal = vec4(normalize(v_normal) * 0.5 + 0.5, 1.0);
}
