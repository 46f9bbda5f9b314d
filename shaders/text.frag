#version 450
// A letter from its distance field: as sharp as the picture, whatever its size.
layout(set = 0, binding = 0) uniform sampler2D letters;
layout(location = 0) in vec2 v_uv;
layout(location = 1) in vec4 v_color;
layout(location = 0) out vec4 o_color;
void main() {
  float value = texture(letters, v_uv).r;
  float texels = length(fwidth(v_uv) * vec2(textureSize(letters, 0))) * 0.7071;  // a pixel's, of which 12 are the field's whole range
  float ink = clamp((value - 0.5) * 12.0 / max(texels, 1e-4) + 0.5, 0.0, 1.0);
  o_color = vec4(v_color.rgb, v_color.a * ink);
}
