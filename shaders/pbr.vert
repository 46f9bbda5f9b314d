#version 450
// Vertex shader of models: world position, normal, tangent, up to five texture coordinates, vertex colour.
// UV_COUNT is 0..5; TANGENT is in the mesh if NORMAL_UV is defined. Of meshes that bend (glTF 2.0, section 3.7): SKIN_SETS times four
// joints; MORPH_STREAMS vectors for each vertex and target, first POSITION's, then NORMAL's and TANGENT's at MORPH_NORMAL, MORPH_TANGENT.
// NO_NORMAL: the mesh has none. POINTS: it is made of points.
layout(set = 0, binding = 0) uniform View {
  mat4 view_projection;
  vec4 eye;                 // xyz; w = exposure
  vec4 light_direction[3];  // xyz = unit vector to the light; w = its size, as added roughness
  vec4 light_color[3];
  vec4 sky, horizon, ground;
} view;
layout(push_constant) uniform Object { mat4 model; } object;

#ifdef SKIN_SETS
layout(std430, set = 0, binding = 7) readonly buffer Joints { mat4 joints[]; };  // mesh to world
layout(location = 9) in uvec4 joints0;
layout(location = 10) in vec4 weights0;
#if SKIN_SETS > 1
layout(location = 11) in uvec4 joints1;
layout(location = 12) in vec4 weights1;
#endif
#endif
#ifdef MORPH_STREAMS
layout(std430, set = 0, binding = 8) readonly buffer Deltas { vec4 deltas[]; };  // by target, vertex, stream
layout(std430, set = 0, binding = 9) readonly buffer Morphs { uint morphs[]; };  // vertices, active targets, then (target, weight's bits)
#endif

layout(location = 0) in vec3 position;
layout(location = 0) out vec3 v_position;
#ifndef NO_NORMAL
layout(location = 1) in vec3 normal;
layout(location = 1) out vec3 v_normal;
#endif
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
  vec3 place = position;
#ifndef NO_NORMAL
  vec3 upright = normal;
#endif
#ifdef NORMAL_UV
  vec3 along = tangent.xyz;
#endif
#ifdef MORPH_STREAMS
  for (uint k = 0u; k < morphs[1]; k++) {
    uint at = (morphs[2u + 2u * k] * morphs[0] + uint(gl_VertexIndex)) * uint(MORPH_STREAMS);
    float weight = uintBitsToFloat(morphs[3u + 2u * k]);
#ifdef MORPH_POSITION
    place += weight * deltas[at + uint(MORPH_POSITION)].xyz;
#endif
#ifdef MORPH_NORMAL
    upright += weight * deltas[at + uint(MORPH_NORMAL)].xyz;
#endif
#if defined(MORPH_TANGENT) && defined(NORMAL_UV)
    along += weight * deltas[at + uint(MORPH_TANGENT)].xyz;
#endif
  }
#endif
#ifdef SKIN_SETS
  mat4 model = weights0.x * joints[joints0.x] + weights0.y * joints[joints0.y] + weights0.z * joints[joints0.z] + weights0.w * joints[joints0.w];
#if SKIN_SETS > 1
  model += weights1.x * joints[joints1.x] + weights1.y * joints[joints1.y] + weights1.z * joints[joints1.z] + weights1.w * joints[joints1.w];
#endif
  model = object.model * model;
#else
  mat4 model = object.model;
#endif
  vec4 world = model * vec4(place, 1.0);
  gl_Position = view.view_projection * world;
  v_position = world.xyz;
#ifdef POINTS
  gl_PointSize = 1.0;
#endif
#ifndef NO_NORMAL
  // Normals go with the inverse transpose; the cofactors are that times the determinant, whose sign must go.
  mat3 m = mat3(model);
  mat3 cofactor = mat3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1]));
  float mirror = dot(m[0], cofactor[0]) < 0.0 ? -1.0 : 1.0;
  v_normal = normalize(cofactor * upright) * mirror;
#ifdef NORMAL_UV
  v_tangent = vec4(normalize(m * along), tangent.w * mirror);
#endif
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
