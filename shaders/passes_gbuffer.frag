#version 450
layout(push_constant) uniform Object { vec4 place; vec4 color; vec4 surface; } object;
layout(location = 0) in vec3 v_normal;
layout(location = 1) in vec3 v_place;
layout(location = 0) out vec4 o_albedo;  // RGBA8: colour, glow
layout(location = 1) out vec4 o_normal;  // A2B10G10R10
void main() {
  o_albedo = vec4(object.color.rgb, object.surface.y / 8.0);
  o_normal = vec4(normalize(v_normal) * 0.5 + 0.5, 1.0);
}
