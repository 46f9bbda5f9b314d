#version 450
// One triangle over the picture, with the direction that each pixel looks in.
#include "outdoors_view.glsl"
layout(location = 0) out vec3 v_way;
void main() {
  v_way = view.way[gl_VertexIndex].xyz;
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
