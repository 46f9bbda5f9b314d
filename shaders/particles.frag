#version 450
// A textured particle. ADDED: its light is added; SOFT: it fades where it meets what was drawn before.
#ifdef SOFT
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 right; vec4 up; vec4 eye; vec4 planes; } view;
layout(set = 0, binding = 3) uniform sampler2D solid_depth;
#endif
layout(set = 0, binding = 2) uniform sampler2D map;
layout(location = 0) in vec2 v_uv;
layout(location = 1) in vec4 v_color;
layout(location = 2) in float v_depth;
layout(location = 0) out vec4 o_color;
void main() {
  vec4 texel = texture(map, v_uv);
#ifdef ADDED
  o_color = vec4(v_color.rgb * texel.r, 1.0);
#else
  float alpha = texel.a * v_color.a;
#ifdef SOFT
  float z = texture(solid_depth, gl_FragCoord.xy / vec2(textureSize(solid_depth, 0))).r;
  float near = view.planes.x, far = view.planes.y;
  float behind = near * far / (far - z * (far - near));
  alpha *= clamp((behind - v_depth) / view.planes.z, 0.0, 1.0);
#endif
  o_color = vec4(v_color.rgb * texel.rgb, alpha);
#endif
}
