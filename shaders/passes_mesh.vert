#version 450
// Objects of the scenes of several passes. LIGHT: as the light sees them; MIRROR: below the floor y = 0.
layout(push_constant) uniform Object { vec4 place; vec4 color; vec4 surface; } object;  // place: x, y, z, scale; surface: roughness, glow, turn
layout(set = 0, binding = 0) uniform View { mat4 view_projection; mat4 light; mat4 inverse_view_projection; vec4 eye; vec4 to_light; } view;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec3 v_normal;
layout(location = 1) out vec3 v_place;
void main() {
  float c = cos(object.surface.z), s = sin(object.surface.z);
  mat3 turn = mat3(c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c);
  vec3 place = turn * position * object.place.w + object.place.xyz;
  v_normal = turn * normal;
  v_place = place;
#ifdef MIRROR
  place.y = -place.y;
#endif
#ifdef LIGHT
  gl_Position = view.light * vec4(place, 1.0);
#else
  gl_Position = view.view_projection * vec4(place, 1.0);
#endif
}
