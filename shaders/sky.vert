#version 450
// One triangle over the picture, at the far plane; the directions in which its corners look.
layout(push_constant) uniform Sky { vec4 corner[3]; } sky;  // xyz = direction at (-1, -1), (3, -1), (-1, 3); w = exposure
layout(location = 0) out vec3 v_direction;
layout(location = 1) out float v_exposure;

void main() {
  vec2 p = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
  gl_Position = vec4(p, 1.0, 1.0);
  v_direction = sky.corner[gl_VertexIndex].xyz;
  v_exposure = sky.corner[gl_VertexIndex].w;
}
