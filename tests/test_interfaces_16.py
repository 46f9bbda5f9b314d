"""Inputs and outputs of 16 bits (StorageInputOutput16): vertex data, each stage to the next, attachments; what does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

CASES: list[tuple[int, int, str]] = [(4, 1, ""), (8, 2, "baseline"), (16, 1, "")]


def device(lanes: int, threads: int, target: str) -> tg.Device:
    return tg.Device(lanes=lanes, threads=threads, jit_target=target)


X16 = """#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
"""
#: The same arithmetic with halves as floats that are rounded after each operation; integers of 16 bits in 32.
ROUNDED = """#version 450
vec2 r(vec2 x) { return unpackHalf2x16(packHalf2x16(x)); }
vec4 r(vec4 x) { return vec4(r(x.xy), r(x.zw)); }
"""
VERTEX_DATA = [(0.1, 0.7), (0.9, 0.2), (0.3, 0.05)]


def chain_16(halves: bool, stages: str) -> dict[str, str]:
    """A vertex shader, what `stages` names between, and a fragment shader with three outputs."""
    kinds = ("f16vec2", "f16vec4", "i16vec2", "u16vec2") if halves else ("vec2", "vec4", "ivec2", "uvec2")
    (f2, f4, i2, u2), head, round_ = kinds, X16 if halves else ROUNDED, "" if halves else "r"
    one, part, less = ("float16_t(1)", "float16_t(0.2998046875)", "int16_t(40000)") if halves else ("1", "0.2998046875", "40000")
    low, of_16 = ("", "") if halves else (" << 16 >> 16", " & 0xffff")
    made = {
        "vertex": f"""{head}layout(location = 0) in {f2} p; layout(location = 1) in {u2} n;
layout(location = 0) out {f2} a; layout(location = 1) flat out {i2} b; layout(location = 2) out {f4} c[2];
void main() {{ {f2} q = {f2}(p); a = {round_}(q * {part}); b = ({i2}(n) - {less}){low};
  c[0] = {f4}(q, q); c[1] = {round_}({f4}({one}) - c[0]);
  gl_Position = vec4(vec2(q) * 2 - 1, 0, 1); }}""",
        "fragment": f"""{head}layout(location = 0) in {f2} a; layout(location = 1) flat in {i2} b; layout(location = 2) in {f4} c[2];
layout(location = 0) out {f4} o; layout(location = 1) out {i2} i; layout(location = 2) out {u2} u;
void main() {{ o = {round_}({f4}({round_}(a), {round_}({round_}(c[1]).xy + {round_}(c[0]).zw))); i = b; u = {u2}(b){of_16}; }}""",
    }  # fmt: skip
    if "tess" in stages:
        made["tessellation_control"] = f"""{head}layout(vertices = 3) out;
layout(location = 0) in {f2} a[]; layout(location = 1) in {i2} b[]; layout(location = 2) in {f4} c[][2];
layout(location = 0) out {f2} d[]; layout(location = 1) out {i2} e[]; layout(location = 2) out {f4} g[][2];
layout(location = 5) patch out {f2} whole; layout(location = 6) patch out {i2} of_all;
void main() {{ int k = gl_InvocationID; d[gl_InvocationID] = a[k]; e[gl_InvocationID] = b[k]; g[gl_InvocationID][0] = c[k][0];
  g[gl_InvocationID][1] = c[k][1]; barrier();
  if (k == 0) {{ whole = {round_}(d[1] * {part}); of_all = e[2];
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 3; gl_TessLevelInner[0] = 2; }}
  gl_out[gl_InvocationID].gl_Position = gl_in[k].gl_Position; }}"""
        made["tessellation_evaluation"] = f"""{head}layout(triangles) in;
layout(location = 0) in {f2} d[]; layout(location = 1) in {i2} e[]; layout(location = 2) in {f4} g[][2];
layout(location = 5) patch in {f2} whole; layout(location = 6) patch in {i2} of_all;
layout(location = 0) out {f2} a; layout(location = 1) flat out {i2} b; layout(location = 2) out {f4} c[2];
void main() {{ int k = gl_TessCoord.x > 0.5 ? 0 : gl_TessCoord.y > 0.5 ? 1 : 2;
  a = {round_}(d[k] + whole); b = e[k] ^ of_all; c[0] = g[k][0]; c[1] = g[(k + 1) % 3][1];
  gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position + gl_TessCoord.z * gl_in[2].gl_Position; }}"""
    if "geometry" in stages:
        made["geometry"] = f"""{head}layout(triangles) in; layout(triangle_strip, max_vertices = 6) out;
layout(location = 0) in {f2} a[]; layout(location = 1) flat in {i2} b[]; layout(location = 2) in {f4} c[][2];
layout(location = 0) out {f2} A; layout(location = 1) flat out {i2} B; layout(location = 2) out {f4} C[2];
void main() {{ for (int turn = 0; turn < 2; turn++) {{ for (int k = 0; k < 3; k++) {{
  A = {round_}(a[k] + a[(k + turn) % 3]); B = b[k] + {i2}(turn); C[0] = c[k][turn]; C[1] = c[2 - k][1 - turn];
  gl_Position = gl_in[k].gl_Position * vec4(1, turn * 2 - 1, 1, 1); EmitVertex(); }} EndPrimitive(); }} }}"""
    return made


@pytest.mark.parametrize("stages", ["", "tess", "geometry", "tess geometry"])
def test_halves_and_short_integers_travel_between_stages(stages: str) -> None:
    """Through every kind of interface, interpolated and flat: beside the same chain of 32 bits."""
    pictures = []
    for case in CASES:
        dev = device(*case)
        for halves in (True, False):
            targets = [dev.image((48, 40), f) for f in ("r32g32b32a32_sfloat", "r16g16_sint", "r16g16_uint")]
            dtype = np.dtype([("p", "f2" if halves else "f4", 2), ("n", "u2" if halves else "u4", 2)])
            data = np.zeros(3, dtype)
            data["p"], data["n"] = np.array(VERTEX_DATA, np.float16), [(7, 60000), (32768, 1), (65535, 20000)]
            topology: dict[str, Any] = {"topology": "patch_list", "patch_control_points": 3} if "tess" in stages else {}
            shaders = chain_16(halves, stages)
            vertex, fragment = shaders.pop("vertex"), shaders.pop("fragment")
            pipe = dev.pipeline(vertex, fragment, **shaders, vertex=dtype, color=targets, **topology)  # type: ignore[arg-type]
            with dev.render_pass(color=[tg.Attachment(t, clear=(0, 0, 0, 0)) for t in targets]) as rp:
                rp.draw(pipe, data)
            pictures.append([t.numpy() for t in targets])
    assert pictures[0][1].any() and len(np.unique(pictures[0][0])) > 50
    for other in pictures[1:]:
        for one, two in zip(pictures[0], other, strict=True):
            np.testing.assert_array_equal(one.view(np.uint8), two.view(np.uint8))


def test_interfaces_of_16_bits_that_do_not_fit() -> None:
    dev = device(*CASES[1])
    fragment = X16 + "layout(location = 0) in f16vec2 a; layout(location = 0) out vec4 o; void main() { o = vec4(a, 0, 1); }"
    floats = "#version 450\nlayout(location = 0) out vec2 a; void main() { a = vec2(1); gl_Position = vec4(0); }"
    with pytest.raises(tg.Error, match="'a'"):
        dev.pipeline(floats, fragment, color="r8g8b8a8_unorm")
    captured = X16 + "layout(location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 4) out f16vec2 a; void main() { a = f16vec2(1); }"
    with pytest.raises(tg.Error, match=r"captures an output of 16 bits .buffer 0, offset 0.; outputs of 32 and 64 bits can be captured"):
        dev.pipeline(captured, None)
