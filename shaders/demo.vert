#version 450
// The gallery: an object, or with surface.z = -1 its reflection in the floor (the plane y = 0). Shading happens at the real
// object, seen by an eye below the floor, so a reflection is lit as what it reflects.
layout(set = 0, binding = 0) uniform View { mat4 view_projection; vec4 eye; } view;  // eye.w = exposure
layout(push_constant) uniform Object {
  mat4 model;
  vec4 color;    // rgb = tint of the base colour
  vec4 surface;  // metallic, roughness, side of the mirror (+1 or -1), scale of the texture
  vec4 special;  // rgb = emitted light; w = radians between the instances
} object;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 tangent;
layout(location = 3) in vec2 uv;
layout(location = 0) out vec3 v_position;
layout(location = 1) out vec3 v_normal;
layout(location = 2) out vec4 v_tangent;
layout(location = 3) out vec2 v_uv;
void main() {
  vec3 world = (object.model * vec4(position, 1.0)).xyz;
  vec3 n = mat3(object.model) * normal, t = mat3(object.model) * tangent.xyz;
  float angle = float(gl_InstanceIndex) * object.special.w;  // instances stand in a circle about the y axis
  float c = cos(angle), s = sin(angle);
  mat3 turn = mat3(c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c);
  v_position = turn * world;
  v_normal = turn * n;
  v_tangent = vec4(turn * t, tangent.w);
  v_uv = uv * object.surface.w;
  gl_Position = view.view_projection * vec4(v_position * vec3(1.0, object.surface.z, 1.0), 1.0);
}
