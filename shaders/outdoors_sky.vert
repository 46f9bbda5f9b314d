#version 450
// One triangle over the picture, with the direction that each pixel looks in.
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 eye; vec4 sun; vec4 way[3]; } view;
layout(location = 0) out vec3 v_way;
void main() {
  v_way = view.way[gl_VertexIndex].xyz;
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
