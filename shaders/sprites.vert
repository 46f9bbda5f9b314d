#version 450
// A sprite of the shoal: one instance of four vertices.
layout(push_constant) uniform View { vec4 size; } view;  // width over height, time
struct Fish { vec4 place; vec4 look; };  // x, y, size, angle; cell, distance, tint, direction
layout(std430, set = 0, binding = 1) readonly buffer Shoal { Fish fish[]; };
layout(location = 0) out vec2 v_uv;
layout(location = 1) out vec2 v_look;
void main() {
  Fish f = fish[gl_InstanceIndex];
  vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1), q = corner * 2.0 - 1.0;
  float c = cos(f.place.w), s = sin(f.place.w), cell = f.look.x;
  vec2 at = vec2(c * q.x * f.look.w - s * q.y, s * q.x * f.look.w + c * q.y) * f.place.z;
  at += vec2(f.place.x + 0.05 * view.size.y * f.look.w * (1.2 - f.look.y), f.place.y);
  v_uv = (corner * 0.96 + 0.02 + vec2(mod(cell, 4.0), floor(cell / 4.0))) / vec2(4.0, 2.0);
  v_look = f.look.yz;
  gl_Position = vec4(at.x / view.size.x * 2.0 - 1.0, at.y * 2.0 - 1.0, 0.0, 1.0);
}
