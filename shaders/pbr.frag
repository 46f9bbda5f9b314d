#version 450
// Metallic-roughness shading of models (glTF 2.0, appendix B): three lights, an analytic sky, tone mapping. The attachment is sRGB.
// A map is there if NAME_UV says which texture coordinate it reads. NO_NORMAL: a mesh that bends and has none; its facets' are taken.
// LIGHTS: the lights of KHR_lights_punctual in place of the three.
// ENVIRONMENT: a picture of the sky in place of the three and the analytic sky (environment.py). LIGHTLESS: lines and points without normals (glTF 2.0, section 3.9.7), the sum of base colour and emission.
//   GGX distribution: Walter et al. 2007; height-correlated Smith visibility: Heitz 2014; Fresnel: Schlick 1994;
//   environment term: Karis, "Physically Based Shading on Mobile" (2014); tone curve: Narkowicz 2015.
layout(set = 0, binding = 0) uniform View {
  mat4 view_projection;
  vec4 eye;                 // xyz; w = exposure
  vec4 light_direction[3];  // xyz = unit vector to the light; w = its size, as added roughness
  vec4 light_color[3];
  vec4 sky, horizon, ground;
} view;
layout(set = 0, binding = 1) uniform Material {
  vec4 base_color;
  vec4 emissive;            // rgb; w = alpha cutoff
  vec4 factors;             // metallic, roughness, normal scale, occlusion strength
} material;

layout(location = 0) in vec3 v_position;
#ifndef NO_NORMAL
layout(location = 1) in vec3 v_normal;
#endif
#ifdef NORMAL_UV
layout(location = 2) in vec4 v_tangent;
layout(set = 0, binding = 4) uniform sampler2D normal_map;
#endif
#ifdef VERTEX_COLOR
layout(location = 3) in vec4 v_color;
#endif
#if UV_COUNT > 0
layout(location = 4) in vec2 v_uv0;
#endif
#if UV_COUNT > 1
layout(location = 5) in vec2 v_uv1;
#endif
#if UV_COUNT > 2
layout(location = 6) in vec2 v_uv2;
#endif
#if UV_COUNT > 3
layout(location = 7) in vec2 v_uv3;
#endif
#if UV_COUNT > 4
layout(location = 8) in vec2 v_uv4;
#endif
#ifdef BASE_COLOR_UV
layout(set = 0, binding = 2) uniform sampler2D base_color_map;
#endif
#ifdef METAL_ROUGH_UV
layout(set = 0, binding = 3) uniform sampler2D metal_rough_map;
#endif
#ifdef OCCLUSION_UV
layout(set = 0, binding = 5) uniform sampler2D occlusion_map;
#endif
#ifdef EMISSIVE_UV
layout(set = 0, binding = 6) uniform sampler2D emissive_map;
#endif
#ifdef LIGHTS
// Three for each light: place (or direction to it) and 1 / range^2 (or -1); colour and angle scale; its direction and angle offset.
layout(std430, set = 0, binding = 10) readonly buffer Lights { vec4 lights[]; };
#endif
#ifdef ENVIRONMENT
layout(set = 0, binding = 11) uniform sampler2D sky_map;     // octahedral; level k is for the roughness k / 5
layout(set = 0, binding = 12) uniform sampler2D brdf_table;  // scale and bias of f0 by cosine and roughness
layout(set = 0, binding = 13) uniform Environment { vec4 irradiance[9]; } surroundings;
#endif
layout(location = 0) out vec4 o_color;

const float PI = 3.14159265;

vec3 tone_map(vec3 c) {
  return clamp(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
}

// Radiance of the surroundings towards a direction, blurred by roughness.
vec3 environment(vec3 d, float roughness) {
  float soft = mix(0.08, 1.0, roughness);
  vec3 upper = mix(view.horizon.rgb, view.sky.rgb, smoothstep(0.0, 0.7 + soft, d.y));
  return mix(view.ground.rgb, upper, smoothstep(-soft, soft, d.y));
}

#ifdef LIGHTS
// What arrives of light i at a place, and the direction to it (KHR_lights_punctual, "Range Property", "Inner and Outer Cone Angles").
vec3 punctual(int i, vec3 place, out vec3 towards) {
  vec4 at = lights[3 * i], color = lights[3 * i + 1], cone = lights[3 * i + 2];
  if (at.w < 0.0) {
    towards = at.xyz;
    return color.rgb;
  }
  vec3 way = at.xyz - place;
  float square = max(dot(way, way), 1e-8);
  towards = way / sqrt(square);
  float reach = square * at.w, angle = clamp(dot(cone.xyz, -towards) * color.w + cone.w, 0.0, 1.0);
  return color.rgb * (clamp(1.0 - reach * reach, 0.0, 1.0) / square * angle * angle);
}
#endif

#ifdef ENVIRONMENT
vec3 filtered(vec2 e, int level) {
  float size = float(textureSize(sky_map, level).x);
  return textureLod(sky_map, ((e * 0.5 + 0.5) * (size - 1.0) + 0.5) / size, float(level)).rgb;
}

// The sky as a reflection of this roughness sees it towards a direction.
vec3 reflected(vec3 d, float roughness) {
  d /= abs(d.x) + abs(d.y) + abs(d.z);
  vec2 e = d.y < 0.0 ? (1.0 - abs(d.zx)) * vec2(d.x < 0.0 ? -1.0 : 1.0, d.z < 0.0 ? -1.0 : 1.0) : d.xz;
  float at = roughness * 5.0;
  int level = int(min(at, 4.0));
  return mix(filtered(e, level), filtered(e, level + 1), at - float(level));
}

// Irradiance / pi (Ramamoorthi and Hanrahan 2001), the constants multiplied in.
vec3 irradiance_of(vec3 n) {
  vec3 sum = surroundings.irradiance[0].rgb + surroundings.irradiance[1].rgb * n.y + surroundings.irradiance[2].rgb * n.z +
             surroundings.irradiance[3].rgb * n.x + surroundings.irradiance[4].rgb * (n.x * n.y) + surroundings.irradiance[5].rgb * (n.y * n.z) +
             surroundings.irradiance[6].rgb * (3.0 * n.z * n.z - 1.0) + surroundings.irradiance[7].rgb * (n.x * n.z) +
             surroundings.irradiance[8].rgb * (n.x * n.x - n.y * n.y);
  return max(sum, 0.0);
}
#endif

void main() {
  vec4 base = material.base_color;
#ifdef VERTEX_COLOR
  base *= v_color;
#endif
#ifdef BASE_COLOR_UV
  base *= texture(base_color_map, BASE_COLOR_UV);
#endif
  float metallic = material.factors.x, roughness = material.factors.y;
#ifdef METAL_ROUGH_UV
  vec4 metal_rough = texture(metal_rough_map, METAL_ROUGH_UV);
  metallic *= metal_rough.b;
  roughness *= metal_rough.g;
#endif
  float occlusion = 1.0;
#ifdef OCCLUSION_UV
  occlusion = 1.0 + material.factors.w * (texture(occlusion_map, OCCLUSION_UV).r - 1.0);
#endif
  vec3 emissive = material.emissive.rgb;
#ifdef EMISSIVE_UV
  emissive *= texture(emissive_map, EMISSIVE_UV).rgb;
#endif
#ifdef NO_NORMAL
  vec3 n = cross(dFdx(v_position), dFdy(v_position));
  n *= (dot(n, view.eye.xyz - v_position) < 0.0 ? -1.0 : 1.0) / max(length(n), 1e-30);
#else
  vec3 n = normalize(v_normal);
#ifdef NORMAL_UV
  vec3 t = (texture(normal_map, NORMAL_UV).xyz * 2.0 - 1.0) * vec3(material.factors.zz, 1.0);
  vec3 bitangent = cross(v_normal, v_tangent.xyz) * v_tangent.w;
  n = normalize(t.x * v_tangent.xyz + t.y * bitangent + t.z * v_normal);
#endif
  if (!gl_FrontFacing) n = -n;
#endif
#ifdef ALPHA_MASK
  if (base.a < material.emissive.w) discard;
#endif
#ifdef ALPHA_BLEND
  float alpha = base.a;
#else
  float alpha = 1.0;
#endif
#if defined(UNLIT)
  o_color = vec4(base.rgb, alpha);
#elif defined(LIGHTLESS)
  o_color = vec4(base.rgb + emissive, alpha);
#else
  roughness = clamp(roughness, 0.04, 1.0);
  vec3 v = normalize(view.eye.xyz - v_position);
  vec3 f0 = mix(vec3(0.04), base.rgb, metallic);
  vec3 diffuse = base.rgb * (1.0 - metallic);
  float n_v = max(abs(dot(n, v)), 1e-3);
  vec3 color = vec3(0.0);
#if defined(LIGHTS) || !defined(ENVIRONMENT)
#ifdef LIGHTS
  for (int i = 0; i < lights.length() / 3; i++) {
    vec3 l, light = punctual(i, v_position, l);
    const float size = 0.0;
#else
  for (int i = 0; i < 3; i++) {
    vec3 l = view.light_direction[i].xyz, light = view.light_color[i].rgb;
    float size = view.light_direction[i].w * 0.25;
#endif
    float n_l = dot(n, l);
    if (n_l > 0.0) {
      vec3 h = normalize(l + v);
      float n_h = clamp(dot(n, h), 0.0, 1.0), v_h = clamp(dot(v, h), 0.0, 1.0);
      float a = roughness * roughness + size;
      float a2 = a * a;
      float d = n_h * n_h * (a2 - 1.0) + 1.0;
      float distribution = a2 / (PI * d * d);
      float visibility = 0.5 / (n_l * sqrt(n_v * n_v * (1.0 - a2) + a2) + n_v * sqrt(n_l * n_l * (1.0 - a2) + a2));
      float w = 1.0 - v_h, w2 = w * w;
      vec3 fresnel = f0 + (1.0 - f0) * (w2 * w2 * w);
      color += ((1.0 - fresnel) * diffuse / PI + fresnel * (distribution * visibility)) * light * n_l;
    }
  }
#endif
#ifdef ENVIRONMENT
  vec2 scale_bias = textureLod(brdf_table, (vec2(n_v, roughness) * 63.0 + 0.5) / 64.0, 0.0).rg;
  vec3 irradiance = irradiance_of(n);
  vec3 specular = reflected(reflect(-v, n), roughness) * (f0 * scale_bias.x + scale_bias.y);
#else
  // Karis' fit of the integrated environment term: scale and bias of f0.
  vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a004 = min(r.x * r.x, exp2(-9.28 * n_v)) * r.x + r.y;
  vec2 scale_bias = vec2(-1.04, 1.04) * a004 + r.zw;
  vec3 irradiance = mix(view.ground.rgb, mix(view.horizon.rgb, view.sky.rgb, 0.5), 0.5 + 0.5 * n.y);
  vec3 specular = environment(reflect(-v, n), roughness) * (f0 * scale_bias.x + scale_bias.y);
#endif
  color += (irradiance * diffuse + specular) * occlusion + emissive;
  o_color = vec4(tone_map(color * view.eye.w), alpha);
#endif
}
