#version 450
// The g-buffer is read in the tile. SHADOW: the sun's light goes through a shadow map.
#ifdef MULTISAMPLED
#define INPUT subpassInputMS
#define LOAD(x) subpassLoad(x, gl_SampleID)
#else
#define INPUT subpassInput
#define LOAD(x) subpassLoad(x)
#endif
layout(input_attachment_index = 0, set = 0, binding = 2) uniform INPUT albedo;
layout(input_attachment_index = 1, set = 0, binding = 3) uniform INPUT normal;
layout(input_attachment_index = 2, set = 0, binding = 4) uniform INPUT depth;
layout(set = 0, binding = 0) uniform View { mat4 view_projection; mat4 light; mat4 inverse_view_projection; vec4 eye; vec4 to_light; } view;
#ifdef SHADOW
layout(set = 0, binding = 1) uniform sampler2DShadow shadow_map;
#endif
struct Lamp { vec4 place; vec4 color; };  // place: x, y, z, radius
layout(set = 0, binding = 5) uniform Lamps { Lamp lamp[16]; } lamps;
layout(location = 0) in vec2 v_uv;
layout(location = 2) out vec4 o_color;
void main() {
  float z = LOAD(depth).r;
  if (z == 1.0) {
    o_color = vec4(mix(vec3(0.02, 0.03, 0.06), vec3(0.10, 0.13, 0.20), v_uv.y), 1.0);
    return;
  }
  vec4 base = LOAD(albedo);
  vec3 n = normalize(LOAD(normal).xyz * 2.0 - 1.0);
  vec4 h = view.inverse_view_projection * vec4(v_uv * 2.0 - 1.0, z, 1.0);
  vec3 at = h.xyz / h.w, to_eye = normalize(view.eye.xyz - at);
  float lit = 1.0;
#ifdef SHADOW
  vec4 seen = view.light * vec4(at + 0.03 * n, 1.0);
  vec2 uv = seen.xy / seen.w * 0.5 + 0.5, texel = 1.0 / vec2(textureSize(shadow_map, 0));
  lit = 0.0;
  for (int y = -2; y <= 2; y++)
    for (int x = -2; x <= 2; x++) lit += texture(shadow_map, vec3(uv + vec2(x, y) * texel, seen.z / seen.w));
  lit /= 25.0;
#endif
  vec3 sum = base.rgb * (0.10 + 0.08 * n.y + 0.55 * lit * max(dot(n, view.to_light.xyz), 0.0)) + base.rgb * base.a * 8.0;
  for (int i = 0; i < 16; i++) {
    vec3 way = lamps.lamp[i].place.xyz - at;
    float distance2 = dot(way, way), radius = lamps.lamp[i].place.w;
    float reach = clamp(1.0 - distance2 / (radius * radius), 0.0, 1.0);
    vec3 l = way * inversesqrt(distance2);
    float shine = pow(max(dot(n, normalize(l + to_eye)), 0.0), 24.0);
    sum += lamps.lamp[i].color.rgb * reach * reach * (base.rgb * max(dot(n, l), 0.0) + 0.25 * shine);
  }
  o_color = vec4(sum, 1.0);
}
