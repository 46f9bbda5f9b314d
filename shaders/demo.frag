#version 450
// Materials of the gallery: three spotlights and the light panels of an analytic room. The attachment is sRGB.
// BASE_MAP, NORMAL_MAP, LIGHT_MAP: textures. GLASS: transparent, FLOOR: a polished floor over its reflections, WALL: uplights.
//   GGX: Walter et al. 2007; visibility: Heitz 2014; environment term: Karis 2014; tone curve: Narkowicz 2015.
layout(set = 0, binding = 0) uniform View { mat4 view_projection; vec4 eye; } view;  // eye.w = exposure
layout(push_constant) uniform Object {
  mat4 model;
  vec4 color;    // rgb = tint of the base colour
  vec4 surface;  // metallic, roughness, side of the mirror (+1 or -1), scale of the texture
  vec4 special;  // rgb = emitted light; w = radians between the instances
} object;
#ifdef BASE_MAP
layout(set = 0, binding = 1) uniform sampler2D base_map;
#endif
#ifdef NORMAL_MAP
layout(set = 0, binding = 2) uniform sampler2D normal_map;
#endif
#ifdef LIGHT_MAP
layout(set = 0, binding = 3) uniform sampler2D light_map;  // visibility of key, fill and rim light, ambient occlusion
layout(set = 0, binding = 4) uniform Area { vec4 area; } area;  // centre x and z, 1 / width
#endif
layout(location = 0) in vec3 v_position;
layout(location = 1) in vec3 v_normal;
layout(location = 2) in vec4 v_tangent;
layout(location = 3) in vec2 v_uv;
layout(location = 0) out vec4 o_color;

const float PI = 3.14159265;
const vec3 kLight[3] = vec3[3](vec3(-4.5, 7.0, 5.0), vec3(6.0, 5.0, 4.0), vec3(2.5, 6.5, -6.0));
const vec3 kPower[3] = vec3[3](vec3(330.0, 276.0, 212.0), vec3(42.0, 56.0, 78.0), vec3(120.0, 120.0, 135.0));

// A light panel: 1 inside a rectangle of directions, soft at its edge.
float panel(vec3 d, vec3 centre, vec3 right, vec2 half_size, float soft) {
  vec3 up = cross(centre, right);
  float along = dot(d, centre);
  vec2 q = abs(vec2(dot(d, right), dot(d, up))) / max(along, 1e-3) - half_size;
  return along > 0.0 ? smoothstep(soft, -soft, q.x) * smoothstep(soft, -soft, q.y) : 0.0;
}

// Radiance of the room towards d: dark walls, a warm floor, three light panels, which roughness blurs and dims.
vec3 room(vec3 d, float roughness) {
  float soft = mix(0.03, 0.9, roughness);
  vec3 walls = mix(vec3(0.045, 0.055, 0.075), vec3(0.012, 0.015, 0.022), smoothstep(-0.1, 0.8, d.y));
  walls += vec3(0.30, 0.17, 0.085) * smoothstep(0.45, 0.0, abs(d.y - 0.08));
  vec3 c = mix(vec3(0.19, 0.16, 0.13) * mix(0.25, 1.0, smoothstep(-1.0, -0.15, d.y)), walls, smoothstep(-soft, soft, d.y + 0.02));
  float dim = 1.0 / (1.0 + 3.0 * roughness * roughness);
  c += vec3(5.0, 4.2, 3.2) * dim * panel(d, normalize(vec3(-0.62, 0.62, 0.48)), normalize(vec3(0.48, 0.0, 0.62)), vec2(0.28, 0.5), soft);
  c += vec3(1.5, 1.9, 2.5) * dim * panel(d, normalize(vec3(0.86, 0.34, 0.38)), normalize(vec3(-0.38, 0.0, 0.86)), vec2(0.22, 0.7), soft);
  c += vec3(2.4, 2.4, 2.6) * dim * panel(d, normalize(vec3(0.1, 0.9, -0.42)), vec3(1.0, 0.0, 0.0), vec2(0.9, 0.16), soft);
  return c;
}

void main() {
  vec3 eye = view.eye.xyz * vec3(1.0, object.surface.z, 1.0);
  vec3 v = normalize(eye - v_position), n = normalize(v_normal);
  vec3 base = object.color.rgb;
#ifdef BASE_MAP
  base *= texture(base_map, v_uv).rgb;
#endif
#ifdef NORMAL_MAP
  vec3 t = texture(normal_map, v_uv).xyz * 2.0 - 1.0;
  n = normalize(t.x * v_tangent.xyz + t.y * v_tangent.w * cross(v_normal, v_tangent.xyz) + t.z * v_normal);
#endif
#ifdef GLASS
  if (dot(n, v) < 0.0) n = -n;
#endif
  float metallic = object.surface.x, roughness = object.surface.y;
  vec4 visible = vec4(1.0, 1.0, 1.0, 0.5 + 0.5 * smoothstep(0.0, 0.9, v_position.y));
#ifdef LIGHT_MAP
  visible = texture(light_map, (v_position.xz - area.area.xy) * area.area.z + 0.5);
#endif
  vec3 f0 = mix(vec3(0.04), base, metallic), diffuse = base * (1.0 - metallic);
  float n_v = max(dot(n, v), 1e-3);
  vec3 color = vec3(0.0), specular = vec3(0.0);
  for (int i = 0; i < 3; i++) {
    vec3 to_light = kLight[i] - v_position;
    float d2 = dot(to_light, to_light);
    vec3 l = to_light * inversesqrt(d2);
    float n_l = dot(n, l);
    if (n_l > 0.0) {
      // A spotlight that points at the middle of the room.
      float cone = smoothstep(0.80, 0.965, dot(l, normalize(kLight[i] - vec3(0.0, 0.8, 0.0))));
      vec3 arriving = kPower[i] * (visible[i] * cone * n_l / d2);
      vec3 h = normalize(l + v);
      float n_h = clamp(dot(n, h), 0.0, 1.0), v_h = clamp(dot(v, h), 0.0, 1.0);
      float a = roughness * roughness + 0.012, a2 = a * a;  // the lamps are not points
      float d = n_h * n_h * (a2 - 1.0) + 1.0;
      float visibility = 0.5 / (n_l * sqrt(n_v * n_v * (1.0 - a2) + a2) + n_v * sqrt(n_l * n_l * (1.0 - a2) + a2));
      float w = 1.0 - v_h, w2 = w * w;
      vec3 fresnel = f0 + (1.0 - f0) * (w2 * w2 * w);
      color += (1.0 - fresnel) * diffuse * arriving / PI;
      specular += min(fresnel * (a2 / (PI * d * d) * visibility), 30.0) * arriving;
    }
  }
  vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a004 = min(r.x * r.x, exp2(-9.28 * n_v)) * r.x + r.y;
  vec2 scale_bias = vec2(-1.04, 1.04) * a004 + r.zw;
  vec3 ambient = mix(vec3(0.085, 0.07, 0.055), vec3(0.10, 0.115, 0.15), 0.5 + 0.5 * n.y);
  color += ambient * diffuse * visible.a + object.special.rgb;
#ifndef FLOOR
  specular += room(reflect(-v, n), roughness) * (f0 * scale_bias.x + scale_bias.y) * visible.a;
#endif
#ifdef WALL
  // Lamps at the foot of the wall, one between each two columns.
  float around = atan(v_position.x, v_position.z) * (22.0 / (2.0 * PI));
  float beam = 0.5 + 0.5 * cos((around - 0.5) * 2.0 * PI);
  color += vec3(1.0, 0.56, 0.26) * base * (0.12 + 2.4 * beam * beam * beam * beam) * exp(-0.75 * v_position.y);
#endif
  float alpha = 1.0;
#ifdef FLOOR
  float w = 1.0 - n_v;
  alpha = 1.0 - (0.10 + 0.75 * w * w * w * w);
#endif
#ifdef GLASS
  color = vec3(0.0);
  alpha = clamp(max(specular.r, max(specular.g, specular.b)) + 0.02, 0.0, 1.0);
  specular /= alpha;
#endif
  color += specular;
  color *= view.eye.w;
  vec3 mapped = clamp(color * (2.51 * color + 0.03) / (color * (2.43 * color + 0.59) + 0.14), 0.0, 1.0);
  o_color = vec4(mapped, alpha);
}
