"""Level of detail in the reference: computed as the specification writes it, in the shader.

llvmpipe takes the logarithm of the scale factor from straight lines between powers of two (``lp_build_fast_log2``), whatever
``GALLIVM_PERF`` says: its LOD is up to 0.043 levels off where levels are mixed. ``texture`` in its fragment shaders is therefore
replaced by ``textureLod`` with log2 rho within 1e-6, rho from the differences at the quad's upper left pixel, which is what
both renderers take for all four. Nothing else changes, so the difference between the two kinds of picture is the driver's logarithm.
Cube maps keep the driver's LOD. Source: Vulkan specification, "Scale Factor Operation" and "LOD Operation".
"""

from __future__ import annotations

import re

_FUNCTIONS = """
float tg_lod(vec2 size, vec2 p) {
  vec2 dx = dFdx(p), dy = dFdy(p);
  vec2 dx_step = dFdy(dx), dy_step = dFdx(dy);
  ivec2 odd = ivec2(gl_FragCoord.xy) & 1;
  if (odd.y != 0) dx -= dx_step;
  if (odd.x != 0) dy -= dy_step;
  dx *= size;
  dy *= size;
  int exponent;
  float m = frexp(max(dot(dx, dx), dot(dy, dy)), exponent);
  if (m == 0.0) return -127.0;
  if (m < 0.70710678) { m *= 2.0; exponent--; }
  float z = (m - 1.0) / (m + 1.0), y = z * z;
  float mantissa = z * (2.8853901 + y * (0.96179669 + y * (0.57707802 + y * (0.41219859 + y * 0.32059890))));
  return 0.5 * (float(exponent) + mantissa);
}
vec4 tg_texture(sampler2D s, vec2 p) { return textureLod(s, p, tg_lod(vec2(textureSize(s, 0)), p)); }
vec4 tg_texture(sampler2D s, vec2 p, float bias) { return textureLod(s, p, tg_lod(vec2(textureSize(s, 0)), p) + bias); }
vec4 tg_texture(sampler2DArray s, vec3 p) { return textureLod(s, p, tg_lod(vec2(textureSize(s, 0)), p.xy)); }
vec4 tg_texture(sampler2DArray s, vec3 p, float bias) {
  return textureLod(s, p, tg_lod(vec2(textureSize(s, 0)), p.xy) + bias);
}
vec4 tg_texture(samplerCube s, vec3 p) { return texture(s, p); }
vec4 tg_texture(samplerCube s, vec3 p, float bias) { return texture(s, p, bias); }
"""
_KNOWN = {"sampler2D", "sampler2DArray", "samplerCube"}


def with_exact_lod(fragment_glsl: str) -> str:
    """The fragment shader with its implicit LODs computed; as it is if it samples what the functions do not know (shadow, 1D, 3D)."""
    kinds = set(re.findall(r"\b[iu]?sampler\w+", fragment_glsl))
    if not kinds or kinds - _KNOWN or not re.search(r"\btexture\(", fragment_glsl):
        return fragment_glsl
    version, rest = re.sub(r"\btexture\(", "tg_texture(", fragment_glsl).split("\n", 1)
    extensions = re.findall(r"^#extension.*$", rest, re.MULTILINE)
    rest = re.sub(r"^#extension.*$", "", rest, flags=re.MULTILINE)
    return "\n".join([version, *extensions, _FUNCTIONS, rest])
