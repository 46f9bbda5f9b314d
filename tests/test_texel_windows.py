"""Texels of a block of pixels that lie in rows, within eight columns (shader/sampler/window.cpp), and sRGB's codes by tables
(shader/ir/srgb_tables.cpp): the bits of other lanes, and NumPy's mix of the four texels."""

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
HEAD = """#version 450
layout(push_constant) uniform P { vec4 by; };
layout(binding = 0) uniform sampler2D t;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o;
"""
TAPS = HEAD + "void main() { o = texture(t, v_uv * by.zw + by.xy / vec2(textureSize(t, 0))); }"
#: Offsets that are constant, in both directions; and a second look-up that is turned by a little.
MOVED = (
    HEAD
    + """void main() {
  vec2 at = v_uv * by.zw + by.xy / vec2(textureSize(t, 0));
  o = textureOffset(t, at, ivec2(-3, 2)) + 2.0 * textureOffset(t, at, ivec2(7, -8)) + 4.0 * texture(t, at + at.yx * 0.01);
}"""
)
FETCH = (
    HEAD
    + """void main() {
  ivec2 at = ivec2(floor(v_uv * by.zw * vec2(textureSize(t, 0)) + by.xy));
  o = texelFetch(t, at, 0) + 2.0 * texelFetch(t, clamp(at, ivec2(0), textureSize(t, 0) - 1), 0);
}"""
)
SHADOW = """#version 450
layout(push_constant) uniform P { vec4 by; };
layout(binding = 0) uniform sampler2DShadow t;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o;
void main() { o = vec4(texture(t, vec3(v_uv * by.zw + by.xy / vec2(textureSize(t, 0)), 0.3 + 0.4 * v_uv.x))); }"""
OFFSETS = [(0.0, 0.0), (0.3, 0.4), (-1.7, 0.25), (2.5, -3.5), (0.5, 0.0), (-200.0, 9.2), (60.0, 60.0)]
#: Of its own size; twice as wide; of one row; half as wide and upside down; from right to left.
SCALES = [(1.0, 1.0), (0.5, 1.0), (1.0, 0.0), (2.0, -1.0), (-1.0, 1.0)]
FORMATS = [
    "r16g16b16a16_sfloat",
    "r8g8b8a8_srgb",
    "b8g8r8a8_srgb",
    "r8g8b8a8_unorm",
    "r8g8b8a8_snorm",
    "r32_sfloat",
    "r16g16_sfloat",
    "r32g32_sfloat",
    "r8_unorm",
    "r8g8_unorm",
    "r16_sfloat",
    "d32_sfloat",
    "d16_unorm",
]


class Drawer:
    """A device of so many lanes, and the pass."""

    def __init__(self, lanes: int, target: str = "") -> None:
        self.dev = tg.Device(cache_dir="off", lanes=lanes, threads=1, jit_target=target)
        self.pipes = {f: self.dev.pipeline(vert=FULL, frag=f, color="r32g32b32a32_sfloat") for f in (TAPS, MOVED, FETCH, SHADOW)}
        self.image = self.dev.image(SIZE, "r32g32b32a32_sfloat")

    def texture(
        self, pixels: NDArray[Any], texel_format: str, address: str, texel_filter: str = "linear", compare: str | None = None
    ) -> tg.Texture:
        texture = self.dev.texture(pixels, texel_format, address=address, filter=texel_filter, compare=compare)
        for frag in [SHADOW] if compare else [TAPS, MOVED, FETCH]:
            self.draw(texture, (0, 0, 1, 1), frag)  # what is quick at first is optimised after it
        self.dev.wait_compiles()
        return texture

    def draw(self, texture: tg.Texture, by: tuple[float, float, float, float], frag: str = TAPS) -> NDArray[Any]:
        with self.dev.render_pass(color=[tg.Attachment(self.image, clear=(9, 9, 9, 9))]) as rp:
            rp.draw(self.pipes[frag], count=3, push={"by": np.array(by, "f4")}, bind={"t": texture})
        return self.image.numpy()


@pytest.fixture(scope="module")
def drawers() -> list[Drawer]:
    """16 lanes as this processor has them, 4, and 16 of AVX-512 without its permutations of bytes."""
    first = Drawer(16)
    wide = first.dev.info["vectors"] == "AVX-512"
    return [first, Drawer(4), *([Drawer(16, "x86-64-v4")] if wide else [])]


def texels(texel_format: str, size: tuple[int, int] = SIZE) -> NDArray[Any]:
    rng = np.random.default_rng(5)
    components = max(texel_format.count(bits) for bits in ("8", "16", "32"))
    if texel_format.startswith("d"):
        depth = rng.random((size[1], size[0]), np.float32)
        return depth if texel_format == "d32_sfloat" else (depth * 65535).astype(np.uint16)
    if texel_format.endswith("sfloat"):
        pixels = rng.normal(0, 3, (size[1], size[0], components)).astype(np.float16 if "16" in texel_format else np.float32)
        if components == 4 and size == SIZE:
            pixels[9, 20] = np.nan, np.inf, -np.inf, 6e-8
        return pixels
    pixels = rng.integers(0, 256, (size[1], size[0], components), np.uint8)
    return pixels.view(np.int8) if texel_format.endswith("snorm") else pixels


def compare(drawers: list[Drawer], textures: list[tg.Texture], frag: str) -> None:
    for x, y in OFFSETS:
        for across, down in SCALES:
            first, *others = (d.draw(t, (x, y, across, down), frag).view(np.uint32) for d, t in zip(drawers, textures, strict=True))
            for other in others:
                assert np.array_equal(first, other), (x, y, across, down)


@pytest.mark.parametrize("texel_format", FORMATS)
@pytest.mark.parametrize("address", ["clamp_to_edge", "repeat", "mirrored_repeat", "clamp_to_border"])
def test_rows_of_texels_give_the_bits_of_single_ones(drawers: list[Drawer], texel_format: str, address: str) -> None:
    pixels = texels(texel_format)
    textures = [d.texture(pixels, texel_format, address) for d in drawers]
    for frag in (TAPS, MOVED) if texel_format in ("r16g16b16a16_sfloat", "r8g8b8a8_srgb", "r8g8b8a8_unorm") else (TAPS,):
        compare(drawers, textures, frag)


@pytest.mark.parametrize("texel_format", FORMATS)
def test_rows_of_single_texels_too(drawers: list[Drawer], texel_format: str) -> None:
    pixels = texels(texel_format)
    textures = [d.texture(pixels, texel_format, "clamp_to_border", "nearest") for d in drawers]
    for frag in (TAPS, FETCH):
        compare(drawers, textures, frag)


@pytest.mark.parametrize("texel_format", ["d32_sfloat", "d16_unorm"])
def test_rows_of_depths_are_compared(drawers: list[Drawer], texel_format: str) -> None:
    textures = [d.texture(texels(texel_format), texel_format, "clamp_to_edge", compare="less") for d in drawers]
    compare(drawers, textures, SHADOW)


@pytest.mark.parametrize("size", [(7, 40), (8, 5), (9, 2), (13, 1)])
def test_levels_smaller_than_a_window(drawers: list[Drawer], size: tuple[int, int]) -> None:
    for texel_format in ("r16g16b16a16_sfloat", "r8g8b8a8_srgb", "r8g8b8a8_unorm"):
        pixels = texels(texel_format, size)
        textures = [d.texture(pixels, texel_format, "clamp_to_edge") for d in drawers]
        for frag in (TAPS, FETCH):
            compare(drawers, textures, frag)


def test_rows_of_texels_are_the_ones_beneath(drawers: list[Drawer]) -> None:
    pixels = np.arange(SIZE[0] * SIZE[1] * 4, dtype=np.float32).reshape(SIZE[1], SIZE[0], 4).astype(np.float16)
    got = drawers[0].draw(drawers[0].texture(pixels, "r16g16b16a16_sfloat", "clamp_to_edge"), (0.25, 0.5, 1, 1))
    at = pixels.astype(np.float64)
    mixed = 0.75 * at[:, :-1] + 0.25 * at[:, 1:]
    assert np.allclose(got[:-1, :-1], 0.5 * mixed[:-1] + 0.5 * mixed[1:], atol=0.5)


@pytest.mark.parametrize("texel_format", ["r8g8b8a8_srgb", "b8g8r8a8_srgb"])
def test_blending_reads_the_same_codes(drawers: list[Drawer], texel_format: str) -> None:
    """All codes of a target, blended twice: the second time after code is optimised."""
    codes = np.arange(256, dtype=np.uint8).repeat(4).reshape(16, 64)
    pictures = []
    for d in drawers:
        image = d.dev.image((64, 16), texel_format)
        image.write(np.stack([codes, codes[::-1], np.roll(codes, 9), codes], -1))
        frag = "#version 450\nlayout(location=0) out vec4 o; void main() { o = vec4(gl_FragCoord.xyx / 100.0, 0.25); }"
        pipe = d.dev.pipeline(vert=FULL, frag=frag, color=texel_format, blend="alpha")
        for _ in range(2):
            with d.dev.render_pass(color=[tg.Attachment(image, load_op="load")]) as rp:
                rp.draw(pipe, count=3)
            d.dev.wait_compiles()
        pictures.append(image.numpy())
    for other in pictures[1:]:
        assert np.array_equal(pictures[0], other)
