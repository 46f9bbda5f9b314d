#version 450
// The mean of 4x4 pixels, which takes the pattern of turns out.
layout(set = 0, binding = 0) uniform sampler2D occlusion;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_open;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy), end = textureSize(occlusion, 0) - 1;
  float sum = 0.0;
  for (int y = -2; y < 2; y++)
    for (int x = -2; x < 2; x++) sum += texelFetch(occlusion, clamp(at + ivec2(x, y), ivec2(0), end), 0).r;
  o_open = vec4(sum / 16.0);
}
