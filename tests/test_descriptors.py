"""Descriptors of Python's draws: null ones, arrays with holes, slices, one set for equal arguments; each draw as it was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FULL = "#version 450\nvoid main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0, 1); }"
HEAD = """#version 450
#extension GL_EXT_nonuniform_qualifier : enable
#extension GL_EXT_samplerless_texture_functions : enable
layout(location=0) out vec4 o;
"""
FMT = "r32g32b32a32_sfloat"
ARRAY = """layout(binding=0) uniform sampler2D t[8];
void main() {
  int i = int(gl_FragCoord.x);
  o = vec4(texture(t[nonuniformEXT(i)], vec2(0.5)).x * 255, textureSize(t[nonuniformEXT(i)], 0), 1);
}"""


@pytest.fixture(scope="module", params=[4, 16])
def dev(request: pytest.FixtureRequest) -> tg.Device:
    return tg.Device(cache_dir="off", threads=2, lanes=request.param)


def texture(dev: tg.Device, value: int) -> tg.Texture:
    return dev.texture(np.full((2, 3, 4), value, np.uint8))


def drawn(dev: tg.Device, frag: str, *binds: Any) -> np.ndarray:
    """One row of 8 pixels for each of `binds`, drawn in one pass."""
    out = dev.image((8, len(binds)), FMT)
    pipe = dev.pipeline(FULL, HEAD + frag, color=[FMT])
    with dev.render_pass(color=[tg.Attachment(out, clear=(9, 9, 9, 9))]) as rp:
        for y, bind in enumerate(binds):
            rp.draw(pipe, count=3, bind=bind, scissor=(0, y, 8, 1))
    return out.numpy()


def test_none_is_a_null_descriptor(dev: tg.Device) -> None:
    frag = """layout(binding=0) uniform U { vec4 a; }; layout(binding=1) buffer B { vec4 b[]; }; layout(binding=2) uniform sampler2D t;
layout(binding=3) uniform texture2D u; layout(binding=4) uniform samplerCubeShadow c; layout(binding=5) uniform sampler2DArray r;
layout(binding=6) uniform sampler s;
void main() {
  b[0] = vec4(5); b[2].x = 1;
  o = a + b[0] + texture(t, vec2(0.5)) + textureGather(t, vec2(0.5)) + texelFetch(u, ivec2(0), 0) + texture(sampler2D(u, s), vec2(0));
  o += texture(c, vec4(1)) + textureLod(r, vec3(0, 0, 1), 2.0) + textureGrad(t, vec2(0), vec2(1), vec2(2));
  o += vec4(b.length(), textureSize(t, 0).x + textureSize(r, 0).z, textureQueryLevels(c), textureQueryLod(t, gl_FragCoord.xy).x);
}"""
    names = ("U", "B", "t", "u", "c", "r")
    image = drawn(dev, frag, dict.fromkeys(names) | {"s": dev.sampler()})
    assert (image == 0).all()


def test_an_array_with_holes(dev: tg.Device) -> None:
    some: list[Any] = [None, texture(dev, 10), None, None, texture(dev, 40), texture(dev, 50), None, texture(dev, 70)]
    full = [texture(dev, k) for k in range(8)]
    image = drawn(dev, ARRAY, {"t": some}, {"t": full}, {"t": some}, {"t": [None] * 8})
    want = np.array([0, 10, 0, 0, 40, 50, 0, 70])
    for row, values in enumerate((want, np.arange(8), want, np.zeros(8))):
        assert np.abs(image[row, :, 0] - values).max() < 1e-3
        sizes = [(0, 0) if row == 3 or (row != 1 and not v) else (3, 2) for v in values]
        assert np.array_equal(image[row, :, 1:3], sizes)


def test_what_an_array_takes_is_said(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match="it must be a list of 8, with None for each that there is none of"):
        drawn(dev, ARRAY, {"t": [texture(dev, 1)]})
    with pytest.raises(tg.ValidationError, match="is a sampler; given is None, it must be a sampler"):
        frag = """layout(binding=0) uniform texture2D t; layout(binding=1) uniform sampler s;
void main() { o = texture(sampler2D(t, s), vec2(0)); }"""
        drawn(dev, frag, {"t": texture(dev, 1).image, "s": None})


def test_offsets_are_slices(dev: tg.Device) -> None:
    """Each draw has its own part of a buffer, one of them twice; beyond a part there is nothing."""
    buffer = dev.buffer(np.arange(64, dtype=np.float32))
    frag = """layout(binding=0) readonly buffer B { float b[]; };
void main() { int x = int(gl_FragCoord.x); o = vec4(b[x], b[x + 4], b.length(), b[-1 - x]); }"""
    parts = [buffer.slice(64, 16), buffer.slice(0, 16), buffer.slice(64, 16), buffer]
    image = drawn(dev, frag, *({"B": part} for part in parts))
    for row, first in ((0, 16), (1, 0), (2, 16)):
        assert np.array_equal(image[row, :, 0], [first, first + 1, first + 2, first + 3, 0, 0, 0, 0])
        assert (image[row, :, 1] == 0).all() and (image[row, :, 2] == 4).all() and (image[row, :, 3] == 0).all()
    assert np.array_equal(image[3, :, 1], np.arange(4, 12))


def test_a_capture_has_what_each_draw_was_recorded_with(dev: tg.Device, tmp_path: Path) -> None:
    out = dev.image((8, 3), FMT)
    pipe = dev.pipeline(FULL, HEAD + ARRAY, color=[FMT])
    rows: list[list[Any]] = [[texture(dev, 10 * y + x) if x != y else None for x in range(8)] for y in range(3)]
    with dev.render_pass(color=[tg.Attachment(out, load_op="dont_care")]) as rp:
        for y, row in enumerate(rows):
            rp.draw(pipe, count=3, bind={"t": row}, scissor=(0, y, 8, 1))
    rp.capture(tmp_path / "c")
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "c")
    replay.run()
    assert np.array_equal(replay.pictures[0], out.numpy())
    assert out.numpy()[2, 2, 0] == 0 and abs(out.numpy()[2, 3, 0] - 23) < 1e-3
