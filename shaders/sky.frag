#version 450
// The sky behind models: an octahedral map about y, whose outermost texels lie on its edge. Tone curve: Narkowicz 2015, as in pbr.frag.
layout(set = 0, binding = 0) uniform sampler2D sky_map;
layout(location = 0) in vec3 v_direction;
layout(location = 1) in float v_exposure;
layout(location = 0) out vec4 o_color;

void main() {
  vec3 d = v_direction / (abs(v_direction.x) + abs(v_direction.y) + abs(v_direction.z));
  vec2 e = d.y < 0.0 ? (1.0 - abs(d.zx)) * vec2(d.x < 0.0 ? -1.0 : 1.0, d.z < 0.0 ? -1.0 : 1.0) : d.xz;
  float size = float(textureSize(sky_map, 0).x);
  vec3 c = textureLod(sky_map, ((e * 0.5 + 0.5) * (size - 1.0) + 0.5) / size, 0.0).rgb * v_exposure;
  o_color = vec4(clamp(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0), 1.0);
}
