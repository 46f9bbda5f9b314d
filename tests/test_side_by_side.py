"""Passes over pictures of their own size, whose texels lie as the pixels do (shader/sampler/side_by_side.cpp): the bits of other lanes, and
NumPy's mix of the four texels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tilegpu as tg

SIZE = (52, 37)  # no multiple of a block's side
FULL = """#version 450
layout(location = 0) out vec2 v_uv;
void main() { v_uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0; gl_Position = vec4(v_uv * 2.0 - 1.0, 0.0, 1.0); }"""
TAPS = """#version 450
layout(push_constant) uniform P { vec4 by; };
layout(binding = 0) uniform sampler2D t;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o;
void main() { o = texture(t, v_uv * by.zw + by.xy / vec2(textureSize(t, 0))); }"""
OFFSETS = [(0.0, 0.0), (0.3, 0.4), (-1.7, 0.25), (2.5, -3.5), (0.5, 0.0), (-200.0, 9.2), (60.0, 60.0)]


class Drawer:
    """A device of so many lanes, and the pass."""

    def __init__(self, lanes: int) -> None:
        self.dev = tg.Device(cache_dir="off", lanes=lanes, threads=1)
        self.pipe = self.dev.pipeline(vert=FULL, frag=TAPS, color="r32g32b32a32_sfloat")
        self.image = self.dev.image(SIZE, "r32g32b32a32_sfloat")

    def texture(self, pixels: NDArray[Any], texel_format: str, address: str) -> tg.Texture:
        texture = self.dev.texture(pixels, texel_format, address=address, filter="linear")
        self.draw(texture, (0, 0, 1, 1))  # what is quick at first is optimised after it
        self.dev.wait_compiles()
        return texture

    def draw(self, texture: tg.Texture, by: tuple[float, float, float, float]) -> NDArray[Any]:
        with self.dev.render_pass(color=[tg.Attachment(self.image, clear=(9, 9, 9, 9))]) as rp:
            rp.draw(self.pipe, count=3, push={"by": np.array(by, "f4")}, bind={"t": texture})
        return self.image.numpy()


@pytest.fixture(scope="module")
def drawers() -> list[Drawer]:
    return [Drawer(16), Drawer(4)]


def texels(texel_format: str) -> NDArray[Any]:
    rng = np.random.default_rng(5)
    if texel_format == "r16g16b16a16_sfloat":
        pixels = rng.normal(0, 3, (SIZE[1], SIZE[0], 4)).astype(np.float16)
        pixels[9, 20] = np.nan, np.inf, -np.inf, 6e-8
        return pixels
    if texel_format == "r32_sfloat":
        return rng.normal(0, 3, (SIZE[1], SIZE[0], 1)).astype(np.float32)
    return rng.integers(0, 256, (SIZE[1], SIZE[0], 4), np.uint8)


@pytest.mark.parametrize("texel_format", ["r16g16b16a16_sfloat", "r8g8b8a8_srgb", "r8g8b8a8_unorm", "r8g8b8a8_snorm", "r32_sfloat"])
@pytest.mark.parametrize("address", ["clamp_to_edge", "repeat"])
def test_rows_of_texels_give_the_bits_of_single_ones(drawers: list[Drawer], texel_format: str, address: str) -> None:
    pixels = texels(texel_format)
    if texel_format.endswith("snorm"):
        pixels = pixels.view(np.int8)
    textures = [d.texture(pixels, texel_format, address) for d in drawers]
    for x, y in OFFSETS:
        for across, down in ((1, 1), (0.5, 1), (1, 0)):  # of its own size; twice as wide; of one row
            wide, narrow = (d.draw(t, (x, y, across, down)) for d, t in zip(drawers, textures, strict=True))
            assert np.array_equal(wide.view(np.uint32), narrow.view(np.uint32)), (x, y, across, down)


def test_rows_of_texels_are_the_ones_beneath(drawers: list[Drawer]) -> None:
    pixels = np.arange(SIZE[0] * SIZE[1] * 4, dtype=np.float32).reshape(SIZE[1], SIZE[0], 4).astype(np.float16)
    got = drawers[0].draw(drawers[0].texture(pixels, "r16g16b16a16_sfloat", "clamp_to_edge"), (0.25, 0.5, 1, 1))
    at = pixels.astype(np.float64)
    mixed = 0.75 * at[:, :-1] + 0.25 * at[:, 1:]
    assert np.allclose(got[:-1, :-1], 0.5 * mixed[:-1] + 0.5 * mixed[1:], atol=0.5)
