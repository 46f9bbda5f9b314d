#version 450
layout(location = 0) in vec2 v_across_px;
layout(location = 1) in vec4 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color.rgb, v_color.a * clamp(v_across_px.y + 0.5 - abs(v_across_px.x), 0.0, 1.0)); }
