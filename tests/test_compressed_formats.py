"""Compressed formats: every kind of block against the specification's words in Python, filters, copies by texel blocks, what is refused."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as PillowImage
from tests.oracle import compressed as oracle
from tests.oracle import compressed_astc

import tilegpu as tg

SEED = int(os.environ.get("TILEGPU_FUZZ_SEED", "0"))  # `make fuzz`: other blocks each time
FLOAT = "r32g32b32a32_sfloat"
FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
HEAD = "#version 450\nlayout(location = 0) out vec4 o;\n"
FETCH = HEAD + "layout(binding = 0) uniform sampler2D t; void main() { o = texelFetch(t, ivec2(gl_FragCoord.xy), 0); }"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=2)


def legal_astc(name: str, block: NDArray[np.uint8], i: int, rng: np.random.Generator) -> None:
    """In place: most of random bytes are no block; one in four stays as it is."""
    while i % 4 and not compressed_astc.is_legal(int.from_bytes(block.tobytes(), "little"), *oracle.block_px(name)):
        block[:] = rng.integers(0, 256, 16, dtype=np.uint8)
        if i % 4 == 1:
            block[1] &= 0xE7  # one partition
    if i % 16 == 0:  # one colour; in turn of an extent, HDR, without an extent
        block[:2] = 0xFC, 0xFD if i % 48 == 0 else 0xFF
        if i % 48 == 32:
            block[1:8] = [0xFD, *[0xFF] * 6]


def random_blocks(name: str, rows: int, columns: int, seed: int = 0) -> NDArray[np.uint8]:
    """(rows, columns, bytes): every mode, the reserved ones among them, and endpoints that are equal or the other way round."""
    rng = np.random.default_rng([seed + 100 * SEED, *name.encode()])
    size_B = oracle.block_B(name)
    blocks = rng.integers(0, 256, (rows * columns, size_B), dtype=np.uint8)
    for i, block in enumerate(blocks):
        if name.startswith("bc7"):
            mode = i % 9
            block[0] = (int(block[0]) << (mode + 1) | 1 << mode) & 0xFF if mode < 8 else 0
        elif name.startswith("astc"):
            legal_astc(name, block, i, rng)
        elif name.startswith("bc6h"):
            block[0] = block[0] & 0xE0 | i % 32
        else:
            first = (i % 3 == 2) * (size_B - 8)
            if i % 4 == 1:  # endpoints are two bytes each, or one
                block[first + 2 : first + 4] = block[first : first + 2]
                block[first + 1] = block[first]
            elif i % 8 == 2:
                block[0:2] = [(0x80, 0x81), (0x81, 0x80), (0x80, 0x80), (0x7F, 0x80)][i // 8 % 4]
    return blocks.reshape(rows, columns, size_B)


def block_counts(name: str, size: tuple[int, int]) -> tuple[int, int]:
    width, height = oracle.block_px(name)
    return -(-size[1] // height), -(-size[0] // width)


def draw(dev: tg.Device, frag: str, bind: Any, size: tuple[int, int], push: Any = None) -> NDArray[np.float32]:
    out = dev.image(size, FLOAT)
    pipe = dev.pipeline(FULL, frag, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, "dont_care")]) as rp:
        rp.draw(pipe, count=3, bind=bind, **({"push": push} if push else {}))
    return out.numpy()


def same_bits(got: NDArray[Any], want: NDArray[Any]) -> bool:
    return bool(np.array_equal(got.view(np.uint32), np.ascontiguousarray(want, np.float32).view(np.uint32)))


def same_texels(name: str, got: Any, want: Any) -> bool:
    """The same bits; colours of sRGB, which are decoded by a polynomial, within 1e-5 (two codes lie 3e-4 apart or more)."""
    if "srgb" not in name:
        return same_bits(got, want)
    return bool(np.all(np.abs(got[..., :3] - want[..., :3]) <= 1e-5)) and same_bits(got[..., 3:].copy(), want[..., 3:].copy())


@pytest.fixture(scope="module")
def lanes() -> list[tg.Device]:
    return [tg.Device(threads=1, lanes=n) for n in (4, 8, 16)]


@pytest.mark.parametrize("name", oracle.FORMATS)
def test_every_block_reads_as_specified(dev: tg.Device, lanes: list[tg.Device], name: str) -> None:
    # No multiples of a block, and the last level smaller than one.
    blocks_each_way = 6 if oracle.block_px(name) == (4, 4) else 3
    size, levels = (oracle.block_px(name)[0] * blocks_each_way + 1, oracle.block_px(name)[1] * blocks_each_way - 1), 4
    image = dev.image(size, name, mip_levels=levels)
    info = tg.format_info(name)
    assert info.is_compressed and info.block_px == oracle.block_px(name) and info.texel_B == oracle.block_B(name)
    for level in range(levels):
        level_size = (max(1, size[0] >> level), max(1, size[1] >> level))
        blocks = random_blocks(name, *block_counts(name, level_size), seed=level)
        dev.copy(blocks, image, destination_level=level)
        want = oracle.decode_image(name, blocks, level_size)
        components = info.component_count
        assert same_texels(name, image.numpy(level), want[..., :components].copy())
        if level == 0:
            number = oracle.FORMATS.index(name)
            for d in lanes if name in oracle.FILTERED else [lanes[number % 3]]:
                there = d.image(size, name)
                d.copy(blocks, there)
                drawn = draw(d, FETCH, {"t": (there, d.sampler(filter="nearest"))}, size)
                assert same_texels(name, drawn, want) and same_bits(drawn[..., :components].copy(), image.numpy())
        elif level == levels - 1 and name.startswith("bc"):
            frag = FETCH.replace(", 0)", f", {level})")
            assert same_texels(name, draw(dev, frag, {"t": (image, dev.sampler(filter="nearest"))}, level_size), want)


def filled(dev: tg.Device, name: str, **options: Any) -> tuple[tg.Image, tg.Image]:
    """A compressed image with levels and layers, and one of floats with the same texels."""
    made = [dev.image(options["size"], f, **{k: v for k, v in options.items() if k != "size"}) for f in (name, FLOAT)]
    for level in range(made[0].mip_levels):
        width, height, depth = (max(1, (*options["size"], 1, 1)[i] >> level) for i in range(3))
        volume = made[0].type == "3d"
        for layer in range(depth if volume else made[0].layers):
            blocks = random_blocks(name, *block_counts(name, (width, height)), seed=100 * level + layer)
            texels = np.nan_to_num(oracle.decode_image(name, blocks, (width, height)), neginf=-65504)
            where = {"destination_pos": (0, 0, layer)} if volume else {"destination_layer": layer}
            for image, array in zip(made, (blocks, texels), strict=True):
                extent = {"extent": (width, height, 1)} if volume else {}
                dev.copy(array[None] if volume else array, image, destination_level=level, **where, **extent)
    return made[0], made[1]


SHAPES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "1d": ("sampler1D", "texture(t, p.x * 1.7)", {"size": (23,), "mip_levels": None}, {}),
    "2d": ("sampler2D", "texture(t, p.xy * 1.7 - 0.3)", {"size": (23, 18), "mip_levels": None}, {}),
    "border": ("sampler2D", "texture(t, p.xy * 1.7 - 0.3)", {"size": (9, 10)},
               {"address": "clamp_to_border", "border_color": "float_opaque_black"}),
    "2d anisotropy": ("sampler2D", "texture(t, p.xy * vec2(3.1, 0.4))", {"size": (23, 18), "mip_levels": None}, {"max_anisotropy": 8}),
    "2d least": ("sampler2D", "texture(t, p.xy)", {"size": (23, 18)}, {"reduction": "min"}),
    "gather": ("sampler2D", "textureGather(t, p.xy, 0)", {"size": (7, 5)}, {}),
    "array": ("sampler2DArray", "texture(t, vec3(p.xy, p.x * 2.0))", {"size": (13, 18), "layers": 3, "mip_levels": 3}, {}),
    "cube": ("samplerCube", "texture(t, vec3(p.xy * 2.0 - 1.0, p.x - 0.6))", {"size": (10, 10), "cube": True, "mip_levels": 2}, {}),
    "cubes": ("samplerCubeArray", "texture(t, vec4(p.xy * 2.0 - 1.0, 0.4, p.y))", {"size": (9, 9), "cube": True, "layers": 12}, {}),
    "3d": ("sampler3D", "texture(t, vec3(p.xy, p.x * 0.7))", {"size": (9, 7, 5), "mip_levels": 2}, {}),
}  # fmt: skip


# Every shape with one format, each kind of number with some.
FILTERS = [(n, s) for n in oracle.FILTERED for s in (SHAPES if n == oracle.FILTERED[0] else ("2d", "border", "cube"))]


@pytest.mark.parametrize(("name", "shape"), FILTERS)
def test_filters_see_the_texels(dev: tg.Device, name: str, shape: str) -> None:
    """The sampler's own tests are of uncompressed formats: here both must agree. Codes are divided after the filter: within rounding."""
    kind, asked, image, sampling = SHAPES[shape]
    frag = HEAD + f"layout(binding = 0) uniform {kind} t; void main() {{ vec2 p = gl_FragCoord.xy / 32.0; o = {asked}; }}"
    compressed, plain = filled(dev, name, **image)
    sampler = dev.sampler(**{"filter": "linear", "address": "repeat", **sampling})
    got, want = (draw(dev, frag, {"t": (i, sampler)}, (32, 32)) for i in (compressed, plain))
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6 if np.abs(want).max() <= 1 else 2e-6 * np.abs(want).max())


def test_filters_give_the_same_bits_anywhere() -> None:
    frag = HEAD + "layout(binding = 0) uniform sampler2D t; void main() { o = texture(t, gl_FragCoord.yx / 41.0); }"
    hashes = set()
    for lanes, threads in ((4, 1), (8, 2), (16, 2)):
        d = tg.Device(lanes=lanes, threads=threads)
        image = d.image((31, 22), "bc3_unorm_block", mip_levels=2)
        for level, size in enumerate(((31, 22), (15, 11))):
            blocks = random_blocks("bc3_unorm_block", *block_counts("bc3_unorm_block", size), seed=level)
            d.copy(blocks, image, destination_level=level)
        hashes.add(draw(d, frag, {"t": (image, d.sampler(filter="linear"))}, (40, 40)).tobytes())
    assert len(hashes) == 1


@pytest.mark.parametrize("name", ["bc6h_sfloat_block", "astc_5x4_unorm_block"])
def test_blocks_are_copied_by_regions(dev: tg.Device, name: str) -> None:
    size = (22, 17)
    blocks, others = (random_blocks(name, *block_counts(name, size), seed=s) for s in (1, 2))
    rows, columns = blocks.shape[:2]
    (w, h), size_B = oracle.block_px(name), oracle.block_B(name)
    image = dev.image(size, name, layers=2)
    dev.copy(blocks, image, destination_layer=1)
    # From the second block on to the edge, out of rows that are longer.
    dev.copy(dev.buffer(others), image, source_offset=size_B, destination_layer=1, destination_pos=(w, h), row_length=columns * w,
             extent=(size[0] - w, size[1] - h))  # fmt: skip
    want = blocks.copy()
    want[1:, 1:] = others[: rows - 1, 1:]
    back = dev.buffer(np.zeros_like(blocks))
    dev.copy(image, back, source_layer=1)
    assert np.array_equal(np.frombuffer(memoryview(back.core), np.uint8), want.reshape(-1))
    # To a format of the same size, where a block is a texel, and back into the last blocks, which the edge cuts.
    words = dev.image((columns, rows), "r32g32b32a32_uint" if size_B == 16 else "r32g32_uint")
    dev.copy(image, words, source_layer=1)
    assert np.array_equal(words.numpy().view(np.uint8).reshape(want.shape), want)
    again = dev.image(size, name)
    dev.copy(blocks, again)
    dev.copy(words, again, source_pos=(0, 0), destination_pos=((columns - 2) * w, (rows - 1) * h), extent=(2, 1))
    want2 = blocks.copy()
    want2[-1, -2:] = want[0, :2]
    assert same_bits(again.numpy(), oracle.decode_image(name, want2, size)[..., : again.shape[2]].copy())
    dev.copy(image, again, source_layer=1, source_pos=(w, 0), destination_pos=(0, h), extent=(2 * w, h))
    want2[1, :2] = want[0, 1:3]
    assert same_bits(again.numpy(), oracle.decode_image(name, want2, size)[..., : again.shape[2]].copy())


def test_blits_decode(dev: tg.Device) -> None:
    name, size = "bc1_rgba_unorm_block", (13, 10)
    image = dev.image(size, name)
    blocks = random_blocks(name, *block_counts(name, size))
    dev.copy(blocks, image)
    texels = oracle.decode_image(name, blocks, size)
    out = dev.image(size, FLOAT)
    dev.blit(image, out, filter="nearest")
    assert same_bits(out.numpy(), texels)
    half = dev.image((26, 20), FLOAT)
    dev.blit(image, half, filter="linear")
    want = np.repeat(texels[:, :1], 26, axis=1) * 0
    at = np.clip((np.arange(26) + 0.5) / 2 - 0.5, 0, 12)
    low = np.floor(at).astype(int)
    f = (at - low)[:, None]
    want = texels[:, low] * (1 - f) + texels[:, np.minimum(low + 1, 12)] * f
    at = np.clip((np.arange(20) + 0.5) / 2 - 0.5, 0, 9)
    low = np.floor(at).astype(int)
    f = (at - low)[:, None, None]
    want = want[low] * (1 - f) + want[np.minimum(low + 1, 9)] * f
    np.testing.assert_allclose(half.numpy(), want, atol=1e-6)


def test_views_have_the_same_compression(dev: tg.Device) -> None:
    name, size = "bc7_unorm_block", (8, 8)
    image = dev.image(size, name, label="bc")
    blocks = random_blocks(name, 2, 2)
    dev.copy(blocks, image)
    view = image.view(format="bc7_srgb_block", swizzle="bgr1")
    got = draw(dev, FETCH, {"t": (view, dev.sampler(filter="nearest"))}, size)
    want = oracle.decode_image("bc7_srgb_block", blocks, size)[..., [2, 1, 0, 3]].copy()
    want[..., 3] = 1
    assert same_texels("bc7_srgb_block", got, want)
    for other in ("bc3_unorm_block", "r32g32_uint", "bc6h_ufloat_block"):
        with pytest.raises(tg.Error, match="allowed is bc7_unorm_block, or one of the same compression, or of colour that is not"):
            image.view(format=other)
    with pytest.raises(tg.Error, match="format is bc5_unorm_block"):
        dev.image(size, "r32g32b32a32_uint").view(format="bc5_unorm_block")


def test_pictures_are_encoded_again(dev: tg.Device, tmp_path: Path) -> None:
    """``numpy`` gives linear light, and a PNG has sRGB: the block's own bytes."""
    image = dev.image((8, 4), "bc7_srgb_block")
    blocks = random_blocks("bc7_srgb_block", 1, 2)
    dev.copy(blocks, image)
    image.save(tmp_path / "a.png")
    want = np.rint(oracle.decode_image("bc7_unorm_block", blocks, (8, 4)) * 255)
    assert np.array_equal(np.asarray(PillowImage.open(tmp_path / "a.png")), want)


def test_a_block_that_is_written_again_is_seen(dev: tg.Device) -> None:
    """Nothing that was decoded before stands for what memory holds now."""
    name = "bc1_rgb_unorm_block"
    image = dev.image((4, 4), name)
    for k in range(4):
        block = np.array([[[k, 0xF8 - k, 0, 0, 0, 0, 0, 0]]], np.uint8)
        dev.copy(block, image)
        got = draw(dev, FETCH, {"t": (image, dev.sampler(filter="nearest"))}, (4, 4))
        assert same_bits(got, oracle.decode_image(name, block, (4, 4)))


WRONG = {
    r"samples is 4, allowed is 1 with format bc1_rgb_unorm_block": lambda d: d.image((8, 8), "bc1_rgb_unorm_block", samples=4),
    r"usage is depth_stencil_attachment with format bc2_unorm_block": lambda d: d.image(
        (8, 8), "bc2_unorm_block", usage="depth_stencil_attachment"
    ),
    r"usage is transient with format bc2_unorm_block": lambda d: d.image((8, 8), "bc2_unorm_block", transient=True),
    r"tiling is block_compressed, allowed is linear with format bc4_unorm_block": lambda d: d.image(
        (8, 8), "bc4_unorm_block", tiling="block_compressed", usage="transfer_dst"
    ),
    r"format bc7_unorm_block is compressed, and tilegpu compresses nothing": lambda d: d.texture(np.zeros((4, 4, 4)), "bc7_unorm_block"),
    r"'b'\.format is bc7_unorm_block, allowed is a format that is not compressed": lambda d: d.clear(compressed(d), (0, 0, 0, 0)),
    r"allowed is whole texel blocks of bc7_unorm_block, 4x4 px, or to the level's edge \(10x6x1 px\)": lambda d: d.copy(
        compressed(d), d.buffer(64), extent=(6, 4)
    ),
    r"is 4x4x1 px at \(2, 0, 0\), allowed is whole texel blocks": lambda d: d.copy(
        compressed(d), d.buffer(64), source_pos=(2, 0), extent=(4, 4)
    ),
    r"row_length and image_height is 18 and 0, allowed is multiples of the texel block": lambda d: d.copy(
        compressed(d), d.buffer(512), row_length=18
    ),
    r"bytes of buffer .*96 bytes from byte 0": lambda d: d.copy(compressed(d), d.buffer(95)),
    r"takes \(H, W\), \(H, W, C\) or \(L, H, W, C\) with 16 bytes a texel block, H and W in blocks": lambda d: d.copy(
        np.zeros((2, 3, 8), np.uint8), compressed(d)
    ),
    r"destination format is r32g32_uint, allowed is a format of the same texel size as bc7_unorm_block": lambda d: d.copy(
        compressed(d), d.image((3, 2), "r32g32_uint")
    ),
    r"destination format is bc7_unorm_block, allowed is a format that can be rendered to": lambda d: d.blit(
        defined(d), d.image((10, 6), "bc7_unorm_block")
    ),
    r"is 16x6x1 px at \(0, 0, 0\), allowed is .* within the level's 10x6x1 px": lambda d: d.copy(
        np.zeros((2, 4, 16), np.uint8), compressed(d)
    ),
    r"that needs a copy: leave copy=False out": lambda d: compressed(d).__array__(copy=False),
}  # fmt: skip


def compressed(d: tg.Device) -> tg.Image:
    image = d.image((10, 6), "bc7_unorm_block", label="b")
    d.copy(np.zeros((2, 3, 16), np.uint8), image)
    return image


def defined(d: tg.Device) -> tg.Image:
    image = d.image((10, 6), "r8g8b8a8_unorm")
    d.clear(image, (0, 0, 0, 0))
    return image


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_is_refused(dev: tg.Device, message: str) -> None:
    with pytest.raises(tg.Error) as caught:
        WRONG[message](dev)
    assert re.search(message, str(caught.value)), caught.value
