"""Upright rectangles of two triangles (cpp/src/records/rectangle_half.hpp): both halves are interpolated from the rectangle's corners, so
that it may be drawn as one primitive. The same bits whether its halves follow each other or not, and on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tilegpu as tg

SIZE = (212, 148)  # no multiple of a bin
WIDE = "r32g32b32a32_sfloat"
VERTEX = np.dtype([("position", "f4", 4), ("uv", "f4", 2), ("color", "f4", 4), ("tag", "u4")])
VERT = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 color; layout(location = 3) in uint tag;
layout(location = 0) out vec2 v_uv; layout(location = 1) noperspective out vec4 v_color; layout(location = 2) flat out uint v_tag;
void main() { gl_Position = position; v_uv = uv; v_color = color; v_tag = tag; }"""
HEAD = """#version 450
layout(location = 0) in vec2 v_uv; layout(location = 1) noperspective in vec4 v_color; layout(location = 2) flat in uint v_tag;
layout(binding = 0) uniform sampler2D map; layout(location = 0) out vec4 o;
"""
#: What is drawn; whether halves may be one primitive.
SHADERS = {
    "a texture": ("o = texture(map, v_uv * 3.0) * v_color + vec4(v_uv, 0, 0);", True),
    "derivatives": ("o = vec4(fwidth(v_uv), dFdx(v_color.x), dFdy(v_color.y)) * 50.0 + v_color;", True),
    "a flat input": ("o = vec4(v_uv, float(v_tag & 7u) / 8.0, 1) * v_color;", True),
    "discard": ("if (fract(v_uv.x * 5.0) < 0.3) discard; o = vec4(v_uv, dFdx(v_uv));", True),
    "what is covered": ("o = vec4(dFdx(float(gl_SampleMaskIn[0])), dFdy(float(gl_SampleMaskIn[0])), v_uv);", False),
    "its number": ("o = vec4(v_uv, float(gl_PrimitiveID & 1), 1);", False),
}
CORNERS = ((0, 0), (1, 0), (0, 1), (1, 1))
DIAGONALS = (((0, 1, 2), (1, 3, 2)), ((0, 1, 3), (0, 3, 2)))
Array = NDArray[Any]


def rectangles(count: int, seed: int, halves_alike: bool = True) -> Array:
    """[rectangle, half, vertex]: rectangles that don't touch, anywhere among subpixels; corners' colours of their own for every fourth,
    every second an input that varies along one axis alone."""
    rng = np.random.default_rng(seed)
    columns = int(np.ceil(np.sqrt(count)))
    made = np.zeros((count, 2, 3), VERTEX)
    for k in range(count):
        cell = np.array([k % columns, k // columns], np.float64)
        low, high = np.sort(rng.uniform(0.02, 0.98, (2, 2)), axis=0)
        if k % 5 == 0:
            low, high = np.zeros(2), np.ones(2)  # edges that neighbours share
        bounds = 2 * (cell + np.array([low, high])) / columns - 1
        corners = np.zeros(4, VERTEX)
        for c, (x, y) in enumerate(CORNERS):
            corners[c]["position"] = bounds[x][0], bounds[y][1], 0.25, 1
        u, v = rng.uniform(-2, 2, 2), rng.uniform(-2, 2, 2)
        color = rng.uniform(0.1, 1, (4, 4))
        for c, (x, y) in enumerate(CORNERS):
            corners[c]["uv"] = u[x], v[y]
            corners[c]["color"] = color[c] if k % 4 == 3 else (color[0][0], color[x][1], color[y][2], 0.5)
        corners["tag"] = k
        diagonal = DIAGONALS[rng.integers(2)]
        for h, half in enumerate(diagonal):
            turned = np.roll(half, rng.integers(3))
            made[k, h] = corners[turned[::-1] if k % 3 == 1 else turned]
        if not halves_alike:
            made[k, 1]["tag"] += 1
    return made


def picture(dev: tg.Device, frag: str, vertices: Array, **state: Any) -> tuple[bytes, tg.PassStats]:
    samples, clear = state.get("samples", 1), state.pop("clear", (0.1, 0.2, 0.3, 0.4))
    target = dev.image(SIZE, WIDE, samples=samples)
    texels = np.random.default_rng(9).integers(0, 256, (37, 53, 4), np.uint8)
    head = HEAD if "map" in frag else HEAD.replace("layout(binding = 0) uniform sampler2D map; ", "")
    pipe = dev.pipeline(VERT, head + f"void main() {{ {frag} }}", vertex=VERTEX, color=[WIDE], **{"blend": "additive", **state})
    with dev.render_pass(color=tg.Attachment(target, clear=clear)) as rp:
        rp.draw(pipe, np.ascontiguousarray(vertices.reshape(-1)), bind={"map": dev.texture(texels)} if "map" in frag else {})
    return target.numpy().tobytes(), rp.stats


@pytest.mark.parametrize("shader", SHADERS)
def test_halves_side_by_side_or_apart(shader: str) -> None:
    frag, joined = SHADERS[shader]
    vertices = rectangles(49, 5)
    apart = vertices.transpose(1, 0, 2)
    dev = tg.Device(cache_dir="off", threads=1)
    one, two = picture(dev, frag, vertices), picture(dev, frag, apart)
    if "Primitive" not in frag:
        assert one[0] == two[0]
    assert one[1].fragments_shaded == two[1].fragments_shaded > 4000
    # Pixels at the diagonal have no lanes of the other half beside them. Every fourth rectangle's colours are not affine.
    assert (one[1].helper_lanes < 0.85 * two[1].helper_lanes) is joined


@pytest.mark.parametrize("shader", SHADERS)
def test_the_same_on_every_device(shader: str) -> None:
    frag, _ = SHADERS[shader]
    vertices = rectangles(36, 7)
    want = picture(tg.Device(cache_dir="off", threads=1), frag, vertices)[0]
    for options in (
        {"lanes": 4}, {"lanes": 8}, {"lanes": 8, "threads": 2}, {"bin_px": 32}, {"bin_px": 128},
        {"profile": "mali-g57"}, {"profile": "adreno-a650"}, {"profile": "immortalis-g925"}, {"jit_target": "baseline"},
    ):  # fmt: skip
        assert picture(tg.Device(cache_dir="off", **options), frag, vertices)[0] == want, options


@pytest.mark.parametrize("state", [{"samples": 4}, {"blend": None}, {"topology": "triangle_list", "cull": "none"}])
def test_apart_with_other_state(state: dict[str, Any]) -> None:
    """What goes other ways through the tile phase: several samples, the visibility buffer."""
    vertices = rectangles(42, 11)
    dev = tg.Device(cache_dir="off")
    frag = SHADERS["a texture"][0]
    assert picture(dev, frag, vertices, **state)[0] == picture(dev, frag, vertices.transpose(1, 0, 2), **state)[0]


def test_corners_have_their_values() -> None:
    """A picture as large as the rectangle: each pixel's input is that of its centre, within rounding, along both diagonals."""
    for diagonal in DIAGONALS:
        corners = np.zeros(4, VERTEX)
        for c, (x, y) in enumerate(CORNERS):
            corners[c]["position"] = 2 * x - 1, 2 * y - 1, 0, 1
            corners[c]["uv"] = 3 + 5 * x, 7 - 2 * y
        made = picture(tg.Device(cache_dir="off"), "o = vec4(v_uv, 0, 0);", corners[np.array(diagonal)], clear=(0, 0, 0, 0))[0]
        found = np.frombuffer(made, np.float32).reshape(SIZE[1], SIZE[0], 4)
        along_x, along_y = ((np.arange(size) + 0.5) / size for size in SIZE)
        assert np.abs(found[..., 0] / (3 + 5 * along_x) - 1).max() < 3e-7
        assert np.abs(found[..., 1] / (7 - 2 * along_y)[:, None] - 1).max() < 3e-7
        assert (found[..., 0] == found[:1, :, 0]).all() and (found[..., 1] == found[:, :1, 1]).all()


def test_inputs_that_differ_between_the_halves_keep_them_apart() -> None:
    vertices = rectangles(30, 3, halves_alike=False)
    dev = tg.Device(cache_dir="off", threads=1)
    frag, _ = SHADERS["a flat input"]
    one, two = picture(dev, frag, vertices), picture(dev, frag, vertices.transpose(1, 0, 2))
    assert one[0] == two[0]
    assert one[1].helper_lanes > 0.97 * two[1].helper_lanes
