#version 450
// A particle: one instance of four vertices that face the viewer, turned.
#ifdef SOFT
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 right; vec4 up; vec4 eye; vec4 planes; } view;
#else
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 right; vec4 up; vec4 eye; } view;
#endif
struct Particle { vec4 place; vec4 color; vec4 turn; };  // place: x, y, z, size; turn: angle
layout(std430, set = 0, binding = 1) readonly buffer Particles { Particle particle[]; };
layout(location = 0) out vec2 v_uv;
layout(location = 1) out vec4 v_color;
layout(location = 2) out float v_depth;
void main() {
  Particle p = particle[gl_InstanceIndex];
  vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
  float c = cos(p.turn.x), s = sin(p.turn.x);
  vec2 q = mat2(c, s, -s, c) * (corner * 2.0 - 1.0) * p.place.w;
  v_uv = corner;
  v_color = p.color;
  gl_Position = view.view_projection * vec4(p.place.xyz + q.x * view.right.xyz + q.y * view.up.xyz, 1.0);
  v_depth = gl_Position.w;
}
