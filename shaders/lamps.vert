#version 450
// The ball that a light reaches.
#include "blocks_view.glsl"
struct Lamp { vec4 place; vec4 color; };
layout(std430, set = 0, binding = 1) readonly buffer Lamps { Lamp lamp[]; };
layout(location = 0) in vec3 position;
layout(location = 0) flat out vec4 v_place;
layout(location = 1) flat out vec3 v_color;
void main() {
  Lamp l = lamp[gl_InstanceIndex];
  v_place = l.place;
  v_color = l.color.rgb;
  gl_Position = view.view_projection * vec4(l.place.xyz + position * l.place.w * 1.06, 1.0);
}
