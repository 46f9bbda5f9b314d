"""Bytes of textures on modelled GPUs: the lines that a pass reads, counted on paper and by an oracle of one lane; the same whatever lanes,
threads and bins there are; and what a second cache and levels make of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.cost_changes import changes
from tilegpu.cost_constants import CONSTANTS, Figure
from tilegpu.costs import costs_of

FORMAT = "r8g8b8a8_unorm"
VERTEX = np.dtype([("position", "<f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position;
void main() { gl_Position = position; }"""
HEAD = "#version 450\nlayout(location = 0) out vec4 o; layout(set = 0, binding = 0) uniform sampler{kind} t;\n"


def full() -> np.ndarray[Any, Any]:
    out = np.zeros(3, VERTEX)
    out["position"] = [(-1, -1, 0.5, 1), (3, -1, 0.5, 1), (-1, 3, 0.5, 1)]
    return out


def drawn(
    device: tg.Device, texture: Any, body: str, size: tuple[int, int] = (64, 64), kind: str = "2D", head: str = ""
) -> tg.RenderPass:
    fragment = HEAD.format(kind=kind) + head + "void main() { " + body + " }"
    pipeline = device.pipeline(VERT, fragment, vertex=VERTEX, color=[FORMAT])
    with device.render_pass(color=[tg.Attachment(device.image(size, FORMAT), clear=(0, 0, 0, 1))]) as rp:
        rp.draw(pipeline, full(), bind={"t": texture})
    return rp


def lines_of(rp: tg.RenderPass) -> tuple[float, float]:
    """Different lines of the pass, and those of tiles, of the one texture."""
    found = rp._counts().texture_lines
    assert found is not None
    (one,) = found
    return one.lines, one.tile_lines


def pixels(shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, 255, shape, dtype=np.uint8)


# -- on paper


@pytest.mark.parametrize(
    ("profile", "tiles", "tile_lines"),
    [("mali-g57", 16, 16), ("immortalis-g925", 1, 256), ("mali-g610", 4, 64)],
)
def test_a_texel_a_pixel(profile: str, tiles: int, tile_lines: int) -> None:
    """64x64 texels of 4 bytes: 16x16 lines of 4x4 texels, each read by the tile that it lies in."""
    device = tg.Device(profile=profile)
    texture = device.texture(pixels((64, 64, 4)), filter="nearest")
    rp = drawn(device, texture, "o = texelFetch(t, ivec2(gl_FragCoord.xy), 0);")
    assert lines_of(rp) == (256, tiles * tile_lines) == (256, 256)
    assert rp.costs().read_B["textures"] == 64 * 64 * 4


def test_tiles_share_the_lines_at_their_edges() -> None:
    """Moved by two texels each tile of 16x16 reads 5x5 lines, of which the second cache lets each through once."""
    device = tg.Device(profile="mali-g57")
    texture = device.texture(pixels((96, 96, 4)))
    rp = drawn(device, texture, "o = texelFetch(t, ivec2(gl_FragCoord.xy) + 2, 0);")
    assert lines_of(rp) == (17 * 17, 16 * 25)
    assert rp.costs().read_B["textures"] == 17 * 17 * 64
    small = dataclasses.replace(CONSTANTS["mali-g57"], l2_B=Figure(0, "caches"))
    assert costs_of(rp._counts(), small).read_B["textures"] == 16 * 25 * 64


@pytest.mark.parametrize(
    ("format_", "lines"),
    [
        ("r8_unorm", 8 * 8),  # 8x8 texels a line
        ("r8g8_unorm", 8 * 16),  # 8x4
        ("r16g16b16a16_sfloat", 16 * 32),  # 4x2
        ("r32g32b32a32_sfloat", 32 * 32),  # 2x2
    ],
)
def test_a_line_holds_what_its_format_lets_in(format_: str, lines: int) -> None:
    device = tg.Device(profile="mali-g57")
    channels = {"r8_unorm": 1, "r8g8_unorm": 2}.get(format_, 4)
    values = pixels((64, 64, channels)).astype(np.uint8 if "unorm" in format_ else np.float32)
    texture = device.texture(values, format_, filter="nearest")
    assert lines_of(drawn(device, texture, "o = texelFetch(t, ivec2(gl_FragCoord.xy), 0);"))[0] == lines


def test_what_nobody_reads_is_not_fetched() -> None:
    """A quarter of a large texture, and one corner of it."""
    device = tg.Device(profile="mali-g57")
    texture = device.texture(pixels((256, 256, 4)), filter="nearest")
    assert lines_of(drawn(device, texture, "o = texture(t, gl_FragCoord.xy / 256.0);"))[0] == 16 * 16
    rp = drawn(device, texture, "o = textureLod(t, vec2(0.001), 0.0);")
    assert lines_of(rp) == (1, 16) and rp.costs().read_B["textures"] == 64


@pytest.mark.parametrize("profile", ["mali-g57", "immortalis-g925", "desktop-immediate"])
def test_vertices_read_nothing_for_a_tile(profile: str) -> None:
    """A vertex shader that fetches: where vertices are shaded within tiles it runs between fragments, whose lines are counted alone."""
    device = tg.Device(profile=profile)
    texture = device.texture(pixels((64, 64, 4)), filter="nearest")
    head = "layout(set = 0, binding = 1) uniform sampler2D v;\nlayout(location = 0) out vec4 shade;\n"
    vertex = VERT.replace("layout(location", f"{head}layout(location")
    vertex = vertex.replace("gl_Position = position;", "gl_Position = position; shade = texelFetch(v, ivec2(8 * gl_VertexIndex, 40), 0);")
    for body, expected in (("o = shade;", 0), ("o = shade + texelFetch(t, ivec2(0), 0);", 1)):
        fragment = HEAD.format(kind="2D") + "layout(location = 0) in vec4 shade; void main() { " + body + " }"
        pipeline = device.pipeline(vertex, fragment, vertex=VERTEX, color=[FORMAT])
        with device.render_pass(color=[tg.Attachment(device.image((64, 64), FORMAT), clear=(0, 0, 0, 1))]) as rp:
            rp.draw(pipeline, full(), bind={"v": texture} if expected == 0 else {"v": texture, "t": texture})
        found = rp._counts().texture_lines
        assert found is not None and sum(one.lines for one in found) == expected


def test_levels_are_read_where_they_are_chosen() -> None:
    """Four texels a pixel each way: level 2 of 64x64 texels, alone with a nearest level, with the next one between two."""
    device = tg.Device(profile="mali-g57")
    for mip, at, expected in (("nearest", 4, 256), ("linear", 4, 256), ("linear", 4 * 2**0.5, None), ("nearest", 1, 256)):
        texture = device.texture(pixels((256, 256, 4)), mipmaps=True, mag_filter="nearest", min_filter="nearest", mipmap_mode=mip)
        lines, _ = lines_of(drawn(device, texture, f"o = texture(t, gl_FragCoord.xy / 256.0 * {at:.7f});"))
        if expected is not None:
            assert lines == expected, (mip, at)
        else:
            assert 256 < lines <= 256 + 64 + 64, "two levels, the second a quarter of the first"


def test_each_layer_slice_and_face_has_lines() -> None:
    device = tg.Device(profile="mali-g57")
    array = device.texture(pixels((3, 16, 16, 4)), filter="nearest")
    rp = drawn(device, array, "o = texture(t, vec3(gl_FragCoord.xy / 64.0, int(gl_FragCoord.x) % 3));", kind="2DArray")
    assert lines_of(rp)[0] == 3 * 16
    cube = device.texture(pixels((6, 16, 16, 4)), cube=True, filter="nearest")
    rp = drawn(device, cube, "o = textureLod(t, vec3(gl_FragCoord.xy / 32.0 - 1.0, 1.0), 0.0);", kind="Cube")
    assert lines_of(rp)[0] == 16, "the face of +z alone"
    volume = device.texture(pixels((4, 16, 16, 4)), type="3d", filter="nearest")
    rp = drawn(device, volume, "o = textureLod(t, vec3(gl_FragCoord.xy / 64.0, (int(gl_FragCoord.x) % 2 + 0.5) / 4.0), 0.0);", kind="3D")
    assert lines_of(rp)[0] == 2 * 16


def test_texels_outside_are_nobodys() -> None:
    device = tg.Device(profile="mali-g57")
    texture = device.texture(pixels((16, 16, 4)), filter="nearest", address="clamp_to_border")
    assert lines_of(drawn(device, texture, "o = textureLod(t, gl_FragCoord.xy / 64.0 * 4.0 - 1.0, 0.0);"))[0] == 16
    texture = device.texture(pixels((16, 16, 4)), filter="nearest")
    assert lines_of(drawn(device, texture, "o = texelFetch(t, ivec2(gl_FragCoord.xy) - 8, 0);"))[0] == 16


# -- an oracle of one pixel


def wrapped(mode: str, i: int, size: int) -> int | None:
    if mode == "repeat":
        return i % size
    if mode == "mirrored_repeat":
        i %= 2 * size
        return min(i, 2 * size - 1 - i)
    if mode == "clamp_to_border":
        return i if 0 <= i < size else None
    return min(max(i, 0), size - 1)


@pytest.mark.parametrize("address", ["repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border"])
@pytest.mark.parametrize("filter_", ["nearest", "linear", "cubic"])
def test_wrapping_and_filters_agree_with_an_oracle(address: str, filter_: str) -> None:
    """Explicit level 0 at affine coordinates that leave the texture: every pixel by itself in Python."""
    device = tg.Device(profile="mali-g57")
    width, height = 40, 24
    texture = device.texture(pixels((height, width, 4)), filter=filter_, address=address)
    rp = drawn(device, texture, "o = textureLod(t, (gl_FragCoord.xy - 20.0) * vec2(0.03125, 0.0625), 0.0);")
    seen, of_tiles = set(), set()
    for y in range(64):
        for x in range(64):
            u, v = (x + 0.5 - 20) * 0.03125 * width, (y + 0.5 - 20) * 0.0625 * height
            move, reach = {"linear": (0.5, (0, 1)), "cubic": (0.5, (-1, 0, 1, 2)), "nearest": (0.0, (0,))}[filter_]
            columns = [wrapped(address, int(np.floor(u - move)) + k, width) for k in reach]
            rows = [wrapped(address, int(np.floor(v - move)) + k, height) for k in reach]
            for column in columns:
                for row in rows:
                    if column is not None and row is not None:
                        seen.add((column // 4, row // 4))
                        of_tiles.add((x // 16, y // 16, column // 4, row // 4))
    assert lines_of(rp) == (len(seen), len(of_tiles))


# -- one count


SAMPLING = (
    "vec2 at = gl_FragCoord.xy / 37.0; vec4 c = texture(t, at);"
    "if ((int(gl_FragCoord.x) / 3 + int(gl_FragCoord.y)) % 3 == 0) c += textureLod(t, at.yx * 1.7, 1.3);"
    "c += textureGrad(t, at * 0.3, vec2(0.1, 0.02), vec2(0.01, 0.03)) + textureGather(t, at);"
    "if (c.x > 2.0) discard; o = c * 0.25;"
)


@pytest.mark.parametrize("profile", CONSTANTS)
def test_lines_do_not_know_lanes_threads_and_bins(profile: str) -> None:
    found = []
    for options in ({"lanes": 4, "threads": 1}, {"lanes": 8, "threads": 3, "bin_px": 32}, {"lanes": 16, "threads": 2, "bin_px": 128}):
        device = tg.Device(profile=profile, **options)
        texture = device.texture(pixels((100, 60, 4)), mipmaps=True, max_anisotropy=4)
        found.append(lines_of(drawn(device, texture, SAMPLING, (90, 70))))
    assert found[0] == found[1] == found[2] and found[0][0] > 100


def test_tracing_changes_nothing() -> None:
    """The picture, and what comes after: functions are the ordinary ones again."""
    pictures = []
    for trace in (False, "fragments"):
        device = tg.Device(profile="mali-g57")
        texture = device.texture(pixels((100, 60, 4)), mipmaps=True)
        pipeline = device.pipeline(VERT, HEAD.format(kind="2D") + "void main() { " + SAMPLING + " }", vertex=VERTEX, color=[FORMAT])
        image = device.image((90, 70), FORMAT)
        for again in range(2):
            with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1))], trace=trace if not again else False) as rp:
                rp.draw(pipeline, full(), bind={"t": texture})
            pictures.append(image.numpy().copy())
        if trace:
            counts = rp._counts()
            assert counts.texture_lines == rp._counts().texture_lines
    for picture in pictures[1:]:
        np.testing.assert_array_equal(pictures[0], picture)


def test_the_host_is_not_traced() -> None:
    device = tg.Device()
    texture = device.texture(pixels((16, 16, 4)))
    fragment = HEAD.format(kind="2D") + "void main() { o = texture(t, gl_FragCoord.xy); }"
    pipeline = device.pipeline(VERT, fragment, vertex=VERTEX, color=[FORMAT])
    with device.render_pass(color=[tg.Attachment(device.image((8, 8), FORMAT), clear=(0, 0, 0, 1))], trace="fragments") as rp:
        rp.draw(pipeline, full(), bind={"t": texture})
    assert rp._found is not None and rp._found["textures"] == []


# -- what it says


def test_minified_textures_want_levels() -> None:
    """Eight texels apart each pixel takes a line of its own; with levels it would take a texel."""
    device = tg.Device(profile="mali-g610")
    texture = device.texture(pixels((512, 512, 4)), filter="nearest")
    rp = drawn(device, texture, "o = texture(t, gl_FragCoord.xy / 64.0);")
    assert lines_of(rp) == (64 * 64, 64 * 64)
    assert rp.costs().read_B["textures"] == 64 * 64 * 64
    levels = next(c for c in changes(rp._counts()) if c.text.startswith("give textures of one level a mip chain"))
    assert levels.saves_read_B == 64 * 64 * (64 - 4)


def test_magnified_textures_do_not() -> None:
    device = tg.Device(profile="mali-g610")
    texture = device.texture(pixels((16, 16, 4)), filter="linear")
    rp = drawn(device, texture, "o = texture(t, gl_FragCoord.xy / 64.0);")
    assert rp.costs().read_B["textures"] == 16 * 16 * 4
    assert not [c for c in changes(rp._counts()) if c.text.startswith("give textures")]


def test_look_ups_that_are_one_call_are_noted_one_by_one() -> None:
    taps = "vec2 p = gl_FragCoord.xy / 256.0; o = texture(t, p) + texture(t, p + vec2(0.1, 0)) + texture(t, p + vec2(0, 0.2));"
    found = []
    for lanes in (16, 8):  # 16: joined, once there is optimised code
        device = tg.Device(profile="mali-g57", lanes=lanes, cache_dir="off")
        texture = device.texture(pixels((256, 256, 4)))
        lines_of(drawn(device, texture, taps))
        device.wait_compiles()
        found.append(lines_of(drawn(device, texture, taps)))
    assert found[0] == found[1]
