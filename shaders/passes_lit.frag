#version 450
// Forward shading. SHADOW: a shadow map, 5 x 5 taps of filtered comparisons; REFLECTION: what the floor mirrors, by pixel.
layout(push_constant) uniform Object { vec4 place; vec4 color; vec4 surface; } object;
layout(set = 0, binding = 0) uniform View { mat4 view_projection; mat4 light; mat4 inverse_view_projection; vec4 eye; vec4 to_light; } view;
#ifdef SHADOW
layout(set = 0, binding = 1) uniform sampler2DShadow shadow_map;
#endif
#ifdef REFLECTION
layout(set = 0, binding = 2) uniform sampler2D reflection;
#endif
layout(location = 0) in vec3 v_normal;
layout(location = 1) in vec3 v_place;
layout(location = 0) out vec4 o_color;
void main() {
  vec3 n = normalize(v_normal), to_eye = normalize(view.eye.xyz - v_place), l = view.to_light.xyz;
  float lit = 1.0;
#ifdef SHADOW
  vec4 at = view.light * vec4(v_place + 0.02 * n, 1.0);
  vec2 uv = at.xy / at.w * 0.5 + 0.5, texel = 1.0 / vec2(textureSize(shadow_map, 0));
  lit = 0.0;
  for (int y = -2; y <= 2; y++)
    for (int x = -2; x <= 2; x++) lit += texture(shadow_map, vec3(uv + vec2(x, y) * texel, at.z / at.w));
  lit /= 25.0;
#endif
  float diffuse = max(dot(n, l), 0.0) * lit, sky = 0.5 + 0.5 * n.y;
  float shine = pow(max(dot(n, normalize(l + to_eye)), 0.0), mix(96.0, 6.0, object.surface.x)) * lit * (1.0 - object.surface.x);
  vec3 color = object.color.rgb * (0.9 * diffuse + 0.22 * sky) + 0.5 * shine + object.color.rgb * object.surface.y;
#ifdef REFLECTION
  float facing = 1.0 - max(dot(n, to_eye), 0.0);
  vec3 mirrored = texture(reflection, gl_FragCoord.xy / vec2(textureSize(reflection, 0))).rgb;
  color = mix(color, mirrored, 0.25 + 0.6 * facing * facing * facing);
#endif
  o_color = vec4(color, 1.0);
}
