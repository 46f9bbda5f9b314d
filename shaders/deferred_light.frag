#version 450
// One triangle over the screen reads the g-buffer where it is: in the tile.
#ifdef MULTISAMPLED
#define INPUT subpassInputMS
#define LOAD(x) subpassLoad(x, gl_SampleID)
#else
#define INPUT subpassInput
#define LOAD(x) subpassLoad(x)
#endif
layout(input_attachment_index = 0, set = 0, binding = 0) uniform INPUT albedo;
layout(input_attachment_index = 1, set = 0, binding = 1) uniform INPUT normal;
layout(input_attachment_index = 2, set = 0, binding = 2) uniform INPUT depth;
struct Light { vec4 place; vec4 color; };  // place: x, y, z, radius
layout(set = 0, binding = 3) uniform Scene { mat4 inverse_view_projection; vec4 eye; Light lights[24]; } scene;
layout(location = 0) in vec2 v_ndc;
layout(location = 2) out vec4 o_color;
void main() {
  float z = LOAD(depth).r;
  if (z == 1.0) { o_color = vec4(0.02, 0.025, 0.04, 1.0); return; }
  vec4 base = LOAD(albedo);
  vec3 n = normalize(LOAD(normal).xyz * 2.0 - 1.0);
  vec4 h = scene.inverse_view_projection * vec4(v_ndc, z, 1.0);
  vec3 at = h.xyz / h.w, to_eye = normalize(scene.eye.xyz - at), sum = base.rgb * 0.05;
  for (int i = 0; i < 24; i++) {
    vec3 way = scene.lights[i].place.xyz - at;
    float distance2 = dot(way, way), radius = scene.lights[i].place.w;
    float reach = clamp(1.0 - distance2 / (radius * radius), 0.0, 1.0);
    vec3 l = way * inversesqrt(distance2);
    float shine = pow(max(dot(n, normalize(l + to_eye)), 0.0), 8.0 + 56.0 * base.a);
    sum += scene.lights[i].color.rgb * reach * reach * (base.rgb * max(dot(n, l), 0.0) + 0.35 * shine * base.a);
  }
  o_color = vec4(sum, 1.0);
}
