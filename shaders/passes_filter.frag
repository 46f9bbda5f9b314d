#version 450
// What post-processing does. BRIGHT: what is brighter than the screen, at half the size; DOWN, UP: half and twice the size; COMPOSE: glow over
// the picture, and a tone curve.
layout(set = 0, binding = 0) uniform sampler2D source;
#ifdef GLOW
layout(set = 0, binding = 1) uniform sampler2D glow;
#endif
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
vec3 four(vec2 uv, float reach) {
  vec2 texel = reach / vec2(textureSize(source, 0));
  return 0.25 * (texture(source, uv + texel * vec2(-1, -1)).rgb + texture(source, uv + texel * vec2(1, -1)).rgb +
                 texture(source, uv + texel * vec2(-1, 1)).rgb + texture(source, uv + texel * vec2(1, 1)).rgb);
}
void main() {
#if defined(BRIGHT)
  vec3 color = four(v_uv, 0.5);
  color *= smoothstep(0.8, 1.6, max(color.r, max(color.g, color.b)));
#elif defined(DOWN)
  vec3 color = four(v_uv, 1.0);
#elif defined(UP)
  vec3 color = four(v_uv, 0.75);
#else
  vec3 color = texture(source, v_uv).rgb;
#ifdef GLOW
  color += 0.35 * texture(glow, v_uv).rgb;
#endif
  color = color * (1.0 + color * 0.16) / (1.0 + color);
#endif
  o_color = vec4(color, 1.0);
}
