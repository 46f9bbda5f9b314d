#version 450
layout(location = 0) out vec2 v_ndc;
void main() {
  v_ndc = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
  gl_Position = vec4(v_ndc, 0.0, 1.0);
}
