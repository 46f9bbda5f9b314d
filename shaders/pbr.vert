#version 450
// Vertex shader of models: world position, normal, tangent, up to five texture coordinates, vertex colour.
// UV_COUNT is 0..5; TANGENT is in the mesh if NORMAL_UV is defined.
layout(set = 0, binding = 0) uniform View {
  mat4 view_projection;
  vec4 eye;                 // xyz; w = exposure
  vec4 light_direction[3];  // xyz = unit vector to the light; w = its size, as added roughness
  vec4 light_color[3];
  vec4 sky, horizon, ground;
} view;
layout(push_constant) uniform Object { mat4 model; } object;

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec3 v_position;
layout(location = 1) out vec3 v_normal;
#ifdef NORMAL_UV
layout(location = 2) in vec4 tangent;
layout(location = 2) out vec4 v_tangent;
#endif
#ifdef VERTEX_COLOR
layout(location = 3) in vec4 color;
layout(location = 3) out vec4 v_color;
#endif
#if UV_COUNT > 0
layout(location = 4) in vec2 uv0;
layout(location = 4) out vec2 v_uv0;
#endif
#if UV_COUNT > 1
layout(location = 5) in vec2 uv1;
layout(location = 5) out vec2 v_uv1;
#endif
#if UV_COUNT > 2
layout(location = 6) in vec2 uv2;
layout(location = 6) out vec2 v_uv2;
#endif
#if UV_COUNT > 3
layout(location = 7) in vec2 uv3;
layout(location = 7) out vec2 v_uv3;
#endif
#if UV_COUNT > 4
layout(location = 8) in vec2 uv4;
layout(location = 8) out vec2 v_uv4;
#endif

void main() {
  vec4 world = object.model * vec4(position, 1.0);
  gl_Position = view.view_projection * world;
  v_position = world.xyz;
  // Normals go with the inverse transpose; the cofactors are that times the determinant, whose sign must go.
  mat3 m = mat3(object.model);
  mat3 cofactor = mat3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1]));
  float mirror = dot(m[0], cofactor[0]) < 0.0 ? -1.0 : 1.0;
  v_normal = normalize(cofactor * normal) * mirror;
#ifdef NORMAL_UV
  v_tangent = vec4(normalize(m * tangent.xyz), tangent.w * mirror);
#endif
#ifdef VERTEX_COLOR
  v_color = color;
#endif
#if UV_COUNT > 0
  v_uv0 = uv0;
#endif
#if UV_COUNT > 1
  v_uv1 = uv1;
#endif
#if UV_COUNT > 2
  v_uv2 = uv2;
#endif
#if UV_COUNT > 3
  v_uv3 = uv3;
#endif
#if UV_COUNT > 4
  v_uv4 = uv4;
#endif
}
