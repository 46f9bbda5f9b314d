"""Coverage of random triangles equals the oracle's, sample by sample, at every sample count; shared edges are hit exactly once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.coverage import SUBPIXEL, covered

import tilegpu as tg

SIZE = 64  # a power of two: NDC and the viewport transform are exact for coordinates of 1/256 pixel

VERT = """#version 450
layout(location = 0) in vec2 position;
void main() { gl_Position = vec4(position, 0.5, 1.0); }"""
FRAG = """#version 450
layout(location = 0) out uint o_count;
void main() { o_count = 1u; }"""
COUNT_FRAG = """#version 450
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(1.0 / 255.0); }"""


@pytest.fixture(scope="module")
def device() -> tg.Device:
    return tg.Device()


_pipelines: dict[tuple[int, str], tg.Pipeline] = {}


def draw(device: tg.Device, triangles: np.ndarray, samples: int, add: bool = False) -> np.ndarray:
    """Draws snapped triangles (n, 3, 2) one pass; returns the target (SIZE, SIZE, samples)."""
    fmt = "r8_unorm" if add else "r8_uint"
    key = (samples, fmt)
    if key not in _pipelines:
        blend = {"src_color": "one", "dst_color": "one"} if add else None
        _pipelines[key] = device.pipeline(
            VERT, COUNT_FRAG if add else FRAG, vertex=np.dtype([("position", "f4", 2)]), color=[fmt], samples=samples, blend=blend
        )
    target = device.image((SIZE, SIZE), fmt, samples=samples)
    ndc = (triangles.reshape(-1, 2).astype(np.float64) / SUBPIXEL / (SIZE / 2) - 1).astype(np.float32)
    vertices = np.zeros(len(ndc), [("position", "f4", 2)])
    vertices["position"] = ndc
    with device.render_pass(color=[tg.Attachment(target, load_op="clear", clear=(0, 0, 0, 0), store_op="store")]) as rp:
        rp.draw(_pipelines[key], vertices)
    return target.numpy().reshape(SIZE, SIZE, samples)


limit = 1 << 21  # 8192 pixels
near = st.integers(-8 * SUBPIXEL, (SIZE + 8) * SUBPIXEL)
far = st.integers(-limit, limit)
on_grid = st.integers(-4, SIZE + 4).map(lambda v: v * SUBPIXEL + SUBPIXEL // 2)
sixteenth = st.integers(-64, (SIZE + 4) * 16).map(lambda v: v * 16)


def triangles_of(coordinate: st.SearchStrategy[int]) -> st.SearchStrategy[list[tuple[int, int]]]:
    return st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=3)


@st.composite
def tiny(draw_value: st.DrawFn) -> list[tuple[int, int]]:
    x, y = draw_value(near), draw_value(near)
    small = st.integers(-3 * SUBPIXEL, 3 * SUBPIXEL)
    return [(x, y), (x + draw_value(small), y + draw_value(small)), (x + draw_value(small), y + draw_value(small))]


@st.composite
def thin(draw_value: st.DrawFn) -> list[tuple[int, int]]:
    a, b = (draw_value(near), draw_value(near)), (draw_value(near), draw_value(near))
    small = st.integers(-40, 40)
    return [a, b, (b[0] + draw_value(small), b[1] + draw_value(small))]


any_triangle = st.one_of(triangles_of(near), triangles_of(far), triangles_of(on_grid), triangles_of(sixteenth), tiny(), thin())


@pytest.mark.parametrize("samples", [1, 2, 4, 8, 16])
@settings(max_examples=150, deadline=None)
@given(triangle=any_triangle)
def test_random_triangles(device: tg.Device, samples: int, triangle: list[tuple[int, int]]) -> None:
    snapped = np.array(triangle, np.int64)
    got = draw(device, snapped[None], samples).astype(bool)
    want = covered(snapped, SIZE, SIZE, samples)
    assert (got == want).all(), f"{int((got != want).sum())} samples differ, first at {np.argwhere(got != want)[0]}"


@pytest.mark.parametrize("samples", [1, 4, 16])
@settings(max_examples=40, deadline=None)
@given(points=st.lists(st.tuples(near, near), min_size=1, max_size=12), grid=st.booleans())
def test_shared_edges_are_covered_once(device: tg.Device, samples: int, points: list[tuple[int, int]], grid: bool) -> None:
    """A fan around an inner point that fills the square: every sample exactly once, whatever the point."""
    corners = [(0, 0), (SIZE * SUBPIXEL, 0), (SIZE * SUBPIXEL, SIZE * SUBPIXEL), (0, SIZE * SUBPIXEL)]
    for point in points[:4]:
        inner = tuple(min(max(v, 1), SIZE * SUBPIXEL - 1) for v in point)
        if grid:
            inner = tuple(v // SUBPIXEL * SUBPIXEL + SUBPIXEL // 2 for v in inner)
        fan = np.array([[corners[k], corners[(k + 1) % 4], inner] for k in range(4)], np.int64)
        got = draw(device, fan, samples, add=True)
        assert (got == 1).all(), f"inner point {inner}: {np.unique(got)}"


def test_the_oracle_itself() -> None:
    """A square of two triangles covers each sample once; a known small case, by hand."""
    square = np.array([(0, 0), (1024, 0), (1024, 1024), (0, 1024)], np.int64)
    once = covered(square[[0, 1, 2]], 4, 4, 1).astype(int) + covered(square[[0, 2, 3]], 4, 4, 1)
    assert (once == 1).all()
    # The diagonal from (0,0) to (4,4) passes through pixel centres: they belong to the triangle whose left edge it is, the upper right one.
    assert covered(square[[0, 1, 2]], 4, 4, 1)[..., 0].tolist() == np.triu(np.ones((4, 4), bool)).tolist()
