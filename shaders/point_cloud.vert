#version 450
// Points of a scan: nearer ones are larger, colours go by height.
layout(push_constant) uniform View { mat4 view_projection; vec4 point; } view;  // point.x: pixels of a point at distance 1
layout(location = 0) in vec3 position;
layout(location = 1) in float shade;
layout(location = 0) out vec3 v_color;
vec3 turbo(float x) {  // a rainbow of even steps: a polynomial in the manner of Google's "turbo"
  float r = 0.1357 + x * (4.5974 - x * (42.3277 - x * (130.5887 - x * (150.5666 - x * 58.1375))));
  float g = 0.0914 + x * (2.1856 + x * (4.8052 - x * (14.0195 - x * (4.2109 + x * 2.7747))));
  float b = 0.1067 + x * (12.5925 - x * (60.1097 - x * (109.0745 - x * (88.5066 - x * 26.8183))));
  return clamp(vec3(r, g, b), 0.0, 1.0);
}
void main() {
  v_color = turbo(clamp(position.y * 0.52 + 0.45, 0.03, 0.97)) * shade;
  gl_Position = view.view_projection * vec4(position, 1.0);
  gl_PointSize = clamp(view.point.x / gl_Position.w, 1.0, 12.0);
}
