"""Lines by Vulkan's rules (Bresenham's, rectangles, smooth ones, stipples) against oracles written from the specification alone."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.errors import ValidationError

SIZE = 40
FORMAT = "r32g32b32a32_sfloat"
VERTEX = np.dtype([("position", "f4", 4), ("color", "f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = v_color; }"""
#: How often each pixel is drawn, and which samples of it the shader sees.
MASKS = """#version 450
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(1.0, float(gl_SampleMaskIn[0]), 0.0, 1.0); }"""
COUNTS = """#version 450
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(1.0, 0.0, 0.0, 1.0); }"""

Point = tuple[int, int]  # 1/256 px
Pixel = tuple[int, int]
#: Vulkan's standard sample locations, in 1/16 px.
PLACES = {
    1: [(8, 8)],
    2: [(12, 12), (4, 4)],
    4: [(6, 2), (14, 6), (2, 10), (10, 14)],
    8: [(9, 5), (7, 11), (13, 9), (5, 3), (3, 13), (1, 7), (11, 15), (15, 1)],
}


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


# -- oracles


def in_diamond(p: tuple[Fraction, Fraction], f: Pixel) -> bool:
    half = Fraction(1, 2)
    return abs(p[0] - f[0] - half) + abs(p[1] - f[1] - half) < half


def meets_diamond(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], f: Pixel) -> bool:
    """Whether the segment has a point in the open diamond: |x| + |y| is convex along it, and least at an end or where x or y is 0."""
    half = Fraction(1, 2)
    ax, ay, dx, dy = a[0] - f[0] - half, a[1] - f[1] - half, b[0] - a[0], b[1] - a[1]
    at = [Fraction(0), Fraction(1)]
    at += [-start / step for start, step in ((ax, dx), (ay, dy)) if step and 0 < -start / step < 1]
    return any(abs(ax + t * dx) + abs(ay + t * dy) < half for t in at)


def bresenham(a: Point, b: Point, width: int = 1) -> list[list[Pixel]]:
    """Fragments in order, for each step of the major axis those of the width."""
    along_x = abs(b[0] - a[0]) >= abs(b[1] - a[1])
    shift = Fraction(width - 1, 2)
    e = Fraction(1, 1 << 40)
    # As the specification has it: each end is moved by (-e, -e^2), e being small enough.
    ends = [
        (Fraction(x, 256) - (0 if along_x else shift) - e, Fraction(y, 256) - (shift if along_x else 0) - e * e)
        for x, y in (a, b)
    ]
    low = [min(p[i] for p in ends) for i in (0, 1)]
    high = [max(p[i] for p in ends) for i in (0, 1)]
    boxes = [range(int(low[i] // 1) - 1, int(high[i] // 1) + 2) for i in (0, 1)]
    thin = [
        f
        for f in itertools.product(boxes[0], boxes[1])
        if meets_diamond(ends[0], ends[1], f) and not in_diamond(ends[1], f)
    ]
    axis = 0 if along_x else 1
    thin.sort(key=lambda f: f[axis], reverse=b[axis] < a[axis])
    return [[(x, y + k) if along_x else (x + k, y) for k in range(width)] for x, y in thin]


def bit(pattern: int, factor: int, counter: int) -> bool:
    return bool(pattern >> (counter // factor % 16) & 1)


def rectangle_places(a: Point, b: Point, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Along and across the segment, in pixels from its first end; and its length."""
    d = (np.array(b) - np.array(a)) / 256
    length = float(np.hypot(*d))
    x, y = x - a[0] / 256, y - a[1] / 256
    return (x * d[0] + y * d[1]) / length, (y * d[0] - x * d[1]) / length, length


# -- pictures


def clip(points: list[Point], colors: Any = None) -> np.ndarray:
    out = np.zeros(len(points), VERTEX)
    out["position"][:, :2] = np.array(points) / (256 * SIZE / 2) - 1
    out["position"][:, 3] = 1
    out["color"] = 1 if colors is None else colors
    return out


def draw(dev: tg.Device, vertices: np.ndarray, indices: np.ndarray | None = None, **state: Any) -> np.ndarray:
    """(H, W, samples, 4) of floats; what lines have in common is added."""
    frag, samples, depth = state.pop("frag", COUNTS), state.setdefault("samples", 1), state.pop("depth", None)
    state = {"topology": "line_list", "blend": "additive"} | state
    stages: dict[str, Any] = {"vertex": VERTEX} | state
    if depth is not None:
        stages |= {"depth": depth.format, "depth_compare": "always"}
    pipeline = dev.pipeline(VERT, frag, color=FORMAT, **stages)
    target = dev.image((SIZE, SIZE), FORMAT, samples=samples)
    zs: dict[str, Any] = {} if depth is None else {"depth": tg.Attachment(depth, clear=0.5)}
    with dev.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0)), **zs) as rp:
        rp.draw(pipeline, vertices, indices=indices)
    return target.numpy().reshape(SIZE, SIZE, samples, 4)


def counts_of(pixels: Any) -> np.ndarray:
    out = np.zeros((SIZE, SIZE), np.float32)
    for x, y in pixels:
        if 0 <= x < SIZE and 0 <= y < SIZE:
            out[y, x] += 1
    return out


def random_segments(rng: random.Random, count: int, grid: int = 1) -> list[Point]:
    def place() -> int:
        return rng.randrange(2 * 256, (SIZE - 2) * 256) // grid * grid

    return [(place(), place()) for _ in range(2 * count)]


# -- Bresenham


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("grid", [1, 64, 128, 256])
def test_bresenham_leaves_the_diamonds_that_it_exits(dev: tg.Device, samples: int, grid: int) -> None:
    """Every sample of a pixel or none, whatever the samples; on grids where ends lie on corners, edges and centres of diamonds."""
    rng = random.Random(grid)
    for width, count in ((1.0, 12), (2.0, 4), (3.4, 4), (7.0, 3)):
        points = random_segments(rng, count, grid)
        for k in range(0, len(points), 8):  # level, upright, along a diagonal, a point
            (x, y), length = points[k], rng.randrange(1, 8) * grid
            points[k + 1] = rng.choice(
                [(x + length, y), (x, y - length), (x + length, y + length), (x - length, y + length), (x, y)]
            )
        got = draw(dev, clip(points), samples=samples, line_mode="bresenham", line_width=width)[..., 0]
        fragments = [
            f
            for a, b in zip(points[::2], points[1::2], strict=True)
            for step in bresenham(a, b, round(width))
            for f in step
        ]
        want = counts_of(fragments)
        assert want.any()
        for s in range(samples):
            np.testing.assert_array_equal(got[:, :, s], want, err_msg=f"width {width}, sample {s}, {points}")


def test_stipple_of_bresenham_lists_begins_with_each_line(dev: tg.Device) -> None:
    rng = random.Random(3)
    for factor, pattern, width in ((1, 0x5555, 1), (3, 0x9D31, 1), (256, 0x0001, 1), (2, 0x0FF1, 4)):
        points = random_segments(rng, 8)
        got = draw(dev, clip(points), line_mode="bresenham", line_stipple=(factor, pattern), line_width=float(width))[
            ..., 0, 0
        ]
        pixels = [
            f
            for a, b in zip(points[::2], points[1::2], strict=True)
            for s, step in enumerate(bresenham(a, b, width))
            for f in step
            if bit(pattern, factor, s)
        ]
        np.testing.assert_array_equal(got, counts_of(pixels))


def stippled_strips(strips: list[list[Point]], factor: int, pattern: int) -> np.ndarray:
    pixels = []
    for strip in strips:
        s = 0
        for a, b in itertools.pairwise(strip):
            for step in bresenham(a, b):
                pixels += [f for f in step if bit(pattern, factor, s)]
                s += 1
    return counts_of(pixels)


def test_stipple_of_bresenham_strips_runs_on(dev: tg.Device) -> None:
    """Strips, those that restart, and those with adjacent vertices: the counter begins with the strip, and goes through its lines."""
    rng = random.Random(4)
    style: dict[str, Any] = {"line_mode": "bresenham", "line_stipple": (2, 0x36A5)}
    points = random_segments(rng, 8)
    strips = [points[:1] * 2 + points[1:6], points[6:9], points[9:]]  # the first line of the first one has no length
    want = stippled_strips(strips, 2, 0x36A5)
    indices: list[int] = []
    at = 0
    for strip in strips:
        indices += [*range(at, at + len(strip)), 0xFFFF]
        at += len(strip)
    vertices = clip([p for strip in strips for p in strip])
    got = draw(dev, vertices, np.array(indices, np.uint16), topology="line_strip", primitive_restart=True, **style)[
        ..., 0, 0
    ]
    np.testing.assert_array_equal(got, want)
    plain = draw(dev, clip(strips[2]), topology="line_strip", **style)[..., 0, 0]
    np.testing.assert_array_equal(plain, stippled_strips(strips[2:], 2, 0x36A5))
    around = [(0, 0), *strips[2], (0, 0)]
    adjacent = draw(dev, clip(around), topology="line_strip_with_adjacency", **style)[..., 0, 0]
    np.testing.assert_array_equal(adjacent, plain)
    listed = [p for a, b in itertools.pairwise(strips[2]) for p in ((0, 0), a, b, (0, 0))]
    by_line = draw(dev, clip(listed), topology="line_list_with_adjacency", **style)[..., 0, 0]
    np.testing.assert_array_equal(
        by_line, stippled_strips([list(pair) for pair in itertools.pairwise(strips[2])], 2, 0x36A5)
    )
    assert (by_line != adjacent).any()


@pytest.mark.parametrize("restart", [False, True])
def test_stipple_of_a_strip_of_many_chunks(restart: bool) -> None:
    """Fifty thousand lines of three fragments, to the right and back: the counter goes through all of them, on any threads."""
    row, lines, factor, pattern = 20 * 256 + 128, 50000, 5, 0x1F0B
    ends = [(5 * 256 + 128, row), (8 * 256 + 128, row)]
    points = [ends[k % 2] for k in range(lines + 1)]
    begins = [0, 17001, 33333, lines] if restart else [0, lines]
    indices = np.concatenate([[*range(a, b + 1), 0xFFFFFFFF] for a, b in itertools.pairwise(begins)]).astype(np.uint32)
    want = np.zeros(16)
    for first, end in itertools.pairwise(begins):
        counter = np.arange(3 * (end - first))
        drawn = pattern >> (counter // factor % 16) & 1
        forward = (first + counter // 3) % 2 == 0
        x = np.where(forward, 5 + counter % 3, 8 - counter % 3)
        want += np.bincount(x, drawn, 16)
    for threads in (1, 2, 5):
        device = tg.Device(cache_dir="off", threads=threads)
        more: dict[str, Any] = {"primitive_restart": restart, "topology": "line_strip"}
        got = draw(
            device,
            clip(points),
            indices if restart else None,
            line_mode="bresenham",
            line_stipple=(factor, pattern),
            **more,
        )
        np.testing.assert_array_equal(got[20, :16, 0, 0], want)
        assert got[..., 0].sum() == want.sum()


GEOMETRY = """#version 450
layout(lines) in; layout(line_strip, max_vertices = 6) out;
layout(location = 0) in vec4 v_color[]; layout(location = 0) out vec4 g_color;
void main() {
  vec4 a = gl_in[0].gl_Position, b = gl_in[1].gl_Position, corner = vec4(b.x, a.y, 0, 1);
  g_color = v_color[0];
  gl_Position = a; EmitVertex(); gl_Position = corner; EmitVertex(); gl_Position = b; EmitVertex(); EndPrimitive();
  gl_Position = b; EmitVertex(); gl_Position = a; EmitVertex();
}"""
CONTROL = """#version 450
layout(vertices = 2) out;
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  gl_TessLevelOuter[0] = 1.0; gl_TessLevelOuter[1] = 4.0;
}"""
EVALUATION = """#version 450
layout(isolines, equal_spacing) in;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_TessCoord.x); v_color = vec4(1); }"""


def test_lines_that_other_stages_make(dev: tg.Device) -> None:
    """A geometry shader's strips are strips; what the tessellator makes of isolines, and polygons' edges, are lines by themselves."""
    rng = random.Random(5)
    style: dict[str, Any] = {"line_mode": "bresenham", "line_stipple": (2, 0x3A71)}
    points = random_segments(rng, 6)
    strips = []
    for a, b in zip(points[::2], points[1::2], strict=True):
        strips += [[a, (b[0], a[1]), b], [b, a]]
    got = draw(dev, clip(points), geometry=GEOMETRY, **style)[..., 0, 0]
    np.testing.assert_array_equal(got, stippled_strips(strips, 2, 0x3A71))

    points = random_segments(rng, 3, grid=1024)  # quarters are exact
    stages: dict[str, Any] = {"tessellation_control": CONTROL, "tessellation_evaluation": EVALUATION}
    got = draw(dev, clip(points), topology="patch_list", patch_control_points=2, **stages, **style)[..., 0, 0]
    quarters = []
    for a, b in zip(points[::2], points[1::2], strict=True):
        at = [(a[0] + (b[0] - a[0]) * k // 4, a[1] + (b[1] - a[1]) * k // 4) for k in range(5)]
        quarters += [list(pair) for pair in itertools.pairwise(at)]
    np.testing.assert_array_equal(got, stippled_strips(quarters, 2, 0x3A71))

    points = random_segments(rng, 3)
    got = draw(dev, clip(points), topology="triangle_list", polygon_mode="line", **style)[..., 0, 0]
    edges = [[t[k], t[(k + 1) % 3]] for t in (points[:3], points[3:]) for k in range(3)]
    np.testing.assert_array_equal(got, stippled_strips(edges, 2, 0x3A71))


def test_a_part_that_the_scissor_hides_counts(dev: tg.Device) -> None:
    """Fragments outside the viewport's picture are produced all the same: the stipple does not slip."""
    points = [
        (-20 * 256 + 37, 9 * 256),
        (-3 * 256, -9 * 256 + 5),
        (12 * 256 + 77, 30 * 256),
        (60 * 256, 31 * 256 + 9),
        (30 * 256, 4 * 256),
    ]
    got = draw(dev, clip(points), topology="line_strip", line_mode="bresenham", line_stipple=(3, 0x5A0F))[..., 0, 0]
    np.testing.assert_array_equal(got, stippled_strips([points], 3, 0x5A0F))


# -- rectangles


def sample_grid(samples: int) -> tuple[np.ndarray, np.ndarray]:
    places = np.array(PLACES[samples]) / 16
    y, x, _ = np.mgrid[0:SIZE, 0:SIZE, 0:samples]
    return x + places[:, 0], y + places[:, 1]


@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_rectangles_cover_samples(dev: tg.Device, samples: int) -> None:
    """Those within half the width of the segment, and between its ends; nearer to an edge than half of 1/256 px anything is right."""
    rng = random.Random(samples)
    x, y = sample_grid(samples)
    unsure = 0
    for stipple in (None, (1, 0x5B2F), (3, 0x0F35)):
        for width in (1.0, 2.6, 9.0):
            a, b = random_segments(rng, 1)
            got = draw(
                dev, clip([a, b]), samples=samples, line_mode="rectangular", line_width=width, line_stipple=stipple
            )[..., 0]
            along, across, length = rectangle_places(a, b, x, y)
            inside = (along > 0) & (along < length) & (np.abs(across) < width / 2)
            near = (
                np.minimum(np.abs(np.abs(across) - width / 2), np.minimum(np.abs(along), np.abs(along - length)))
                < 1.5 / 256
            )
            if stipple:
                drawn = np.array([bit(stipple[1], stipple[0], s) for s in range(SIZE * 2)])
                inside &= drawn[np.clip(np.floor(along), 0, SIZE * 2 - 1).astype(int)]
                near |= np.abs(along - np.round(along)) < 1e-4
            np.testing.assert_array_equal(got[~near], inside[~near].astype(np.float32))
            assert got[~near].sum() > 5
            unsure += int(near.sum())
    assert unsure < 400


def test_a_rectangles_stipple_carries_over(dev: tg.Device) -> None:
    """The length runs through a strip: where one line ends within a unit, the next one begins there."""
    rng = random.Random(8)
    points = random_segments(rng, 3)
    x, y = (v[..., 0] for v in sample_grid(1))
    got = draw(
        dev, clip(points), topology="line_strip", line_mode="rectangular", line_width=3.0, line_stipple=(2, 0x0D35)
    )[..., 0, 0]
    want, near, start = np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE), bool), 0.0
    for a, b in itertools.pairwise(points):
        along, across, length = rectangle_places(a, b, x, y)
        counter = np.floor(start + along).astype(int)
        drawn = 0x0D35 >> (counter // 2 % 16) & 1
        want += (along > 0) & (along < length) & (np.abs(across) < 1.5) & (drawn == 1)
        edge = np.minimum(np.abs(np.abs(across) - 1.5), np.minimum(np.abs(along), np.abs(along - length))) < 1.5 / 256
        near |= edge | (np.abs(start + along - np.round(start + along)) < 1e-4)
        start += length
    np.testing.assert_array_equal(got[~near], want[~near].astype(np.float32))
    assert start > 40 and near.sum() < 60


# -- smooth lines


def areas(a: Point, b: Point, width: float, drawn: Any = None) -> np.ndarray:
    """Of each pixel that the rectangle covers, by 32 by 32 points."""
    fine = 32
    y, x = np.mgrid[0 : SIZE * fine, 0 : SIZE * fine]
    along, across, length = rectangle_places(a, b, (x + 0.5) / fine, (y + 0.5) / fine)
    inside = (along >= 0) & (along <= length) & (np.abs(across) <= width / 2)
    if drawn is not None:
        inside &= drawn(along)
    return inside.reshape(SIZE, fine, SIZE, fine).mean((1, 3))


@pytest.mark.parametrize("samples", [1, 4])
def test_smooth_lines_have_their_area_in_alpha(dev: tg.Device, samples: int) -> None:
    rng = random.Random(samples)
    for width in (1.0, 1.5, 6.0):
        a, b = random_segments(rng, 1)
        vertices = clip([a, b], (0.5, 1.0, 0.25, 0.5))
        got = draw(
            dev, vertices, frag=FRAG, blend=None, samples=samples, line_mode="rectangular_smooth", line_width=width
        )
        want = areas(a, b, width)
        for s in range(samples):
            np.testing.assert_allclose(got[:, :, s, 3], 0.5 * want, atol=0.02)
            touched = got[:, :, s, 0] > 0
            assert touched[want > 0.001].all() and not touched[want == 0].sum() > 8
            np.testing.assert_allclose(
                got[touched, s, :3], np.broadcast_to([0.5, 1.0, 0.25], (touched.sum(), 3)), rtol=1e-5
            )
        total = got[:, :, 0, 3].sum() * 2
        length = np.hypot(*(np.array(b) - a)) / 256
        np.testing.assert_allclose(total, length * width, rtol=1e-4)


def test_a_smooth_stipple_cuts_at_units(dev: tg.Device) -> None:
    (a, b), pattern = ((4 * 256 + 9, 6 * 256), (36 * 256, 29 * 256 + 200)), 0x2B35
    got = draw(
        dev,
        clip([a, b]),
        frag=FRAG,
        blend=None,
        line_mode="rectangular_smooth",
        line_width=2.0,
        line_stipple=(2, pattern),
    )[..., 0, 3]
    want = areas(a, b, 2.0, lambda along: pattern >> (np.maximum(along, 0).astype(int) // 2 % 16) & 1 == 1)
    np.testing.assert_allclose(got, want, atol=0.02)
    assert (want > 0.4).sum() > 10


def test_smooth_lines_blend_and_integers_have_no_alpha(dev: tg.Device) -> None:
    a, b = (5 * 256, 7 * 256 + 31), (35 * 256, 20 * 256)
    listed = FRAG.replace("vec4 o_color;", "vec4 o_color[1];").replace("o_color =", "o_color[0] =")
    for frag in (FRAG, listed):
        got = draw(dev, clip([a, b], (1, 1, 1, 1)), frag=frag, blend=None, line_mode="rectangular_smooth")[..., 0, 3]
        np.testing.assert_allclose(got, areas(a, b, 1.0), atol=0.02)
    got = draw(dev, clip([a, b], (1, 1, 1, 1)), frag=FRAG, blend="alpha", line_mode="rectangular_smooth")[..., 0, 0]
    np.testing.assert_allclose(got, areas(a, b, 1.0), atol=0.02)
    frag = """#version 450
layout(location = 0) out uvec4 o_color; void main() { o_color = uvec4(7, 8, 9, 0x40000000u); }"""
    pipeline = dev.pipeline(
        VERT, frag, vertex=VERTEX, color="r32g32b32a32_uint", topology="line_list", line_mode="rectangular_smooth"
    )
    target = dev.image((SIZE, SIZE), "r32g32b32a32_uint")
    with dev.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipeline, clip([a, b]))
    pixels = target.numpy()
    touched = pixels[..., 0] == 7
    assert touched.sum() > 30 and (pixels[touched] == [7, 8, 9, 0x40000000]).all()


# -- what all have in common


@pytest.mark.parametrize("mode", ["rectangular", "bresenham", "rectangular_smooth"])
@pytest.mark.parametrize("stipple", [None, (1, 0xFFFF)])
def test_values_are_those_of_the_segment(dev: tg.Device, mode: str, stipple: Any) -> None:
    """Colours and depth by the projection onto the segment, with perspective; FragCoord is the pixel's own."""
    a, b = (1 * 256 + 77, 30 * 256), (33 * 256, 8 * 256 + 11)
    wa, wb = 1.0, 3.0
    vertices = clip([a, b], [(1, 0, 0, 1), (0, 1, 0.5, 1)])
    vertices["position"][0] *= wa
    vertices["position"][1] *= wb
    vertices["position"][:, 2] = (0.2 * wa, 0.9 * wb)
    frag = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color.xyz, 1.0); if (gl_FragCoord.x < 3.0) o_color = gl_FragCoord; }"""
    depth = dev.image((SIZE, SIZE), "d32_sfloat")
    style = {"line_mode": mode, "line_stipple": stipple, "line_width": 5.0}
    got = draw(dev, vertices, frag=frag, blend=None, depth=depth, **style)[:, :, 0]
    y, x = np.mgrid[0:SIZE, 0:SIZE] + 0.5
    t, _, length = rectangle_places(a, b, x, y)
    t /= length
    drawn = got[..., 3] > 0
    inner, own = drawn & (t > 0) & (t < 1) & (x > 3), drawn & (x < 3)
    weight = t / wb / ((1 - t) / wa + t / wb)
    assert inner.sum() > 100 and own.sum() > 3
    np.testing.assert_array_equal(got[own][:, :2], np.stack([x[own], y[own]], -1))
    tolerance: dict[str, Any] = {"atol": 2e-3 if mode == "rectangular" and stipple is None else 2e-6, "rtol": 0}
    np.testing.assert_allclose(got[inner, 0], (1 - weight)[inner], **tolerance)
    np.testing.assert_allclose(got[inner, 2], 0.5 * weight[inner], **tolerance)
    np.testing.assert_allclose(depth.numpy().squeeze()[inner], (0.2 + 0.7 * t)[inner], **tolerance)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("mode", ["rectangular", "bresenham"])
@pytest.mark.parametrize("blend", [None, "additive"])
def test_shaders_see_the_true_coverage(dev: tg.Device, samples: int, mode: str, blend: Any) -> None:
    """gl_SampleMaskIn, by the visibility buffer (no blending) and by the queue."""
    points = random_segments(random.Random(2), 1)
    style: dict[str, Any] = {"line_mode": mode, "line_width": 3.0, "samples": samples, "line_stipple": (2, 0x5B37)}
    covered = draw(dev, clip(points), **style)[..., 0]
    masks = draw(dev, clip(points), frag=MASKS, blend=blend, **style)[..., 1]
    want = (covered * (1 << np.arange(samples))).sum(-1)
    np.testing.assert_array_equal(masks.max(-1), want)
    assert len(np.unique(want)) > (2 if samples > 1 and mode == "rectangular" else 1)


CONFIGURATIONS: list[dict[str, Any]] = [
    {"lanes": 8, "threads": 2},
    {"lanes": 4, "threads": 1},
    {"lanes": 16, "threads": 5},
    {"lanes": 8, "threads": 2, "bin_px": 32},
    {"lanes": 8, "threads": 2, "bin_px": 128},
    {"lanes": 8, "threads": 2, "vertex_batch": 7},
    {"lanes": 8, "threads": 2, "hsr": "off"},
    {"lanes": 4, "threads": 2, "hsr": "all"},
    {"lanes": 16, "threads": 2, "hsr": ["pre_pass", "forward_pixel_kill", "depth_filter:two_plane"]},
    {"lanes": 8, "threads": 2, "profile": "immortalis-g925"},
    {"lanes": 8, "threads": 1, "profile": "mali-g57"},
    {"lanes": 8, "threads": 2, "tiler_heap": 1 << 15},
    {"lanes": 8, "threads": 2, "compress_samples": False},
]


def contents_of(device: tg.Device, size: int, samples: int, draws: list[Any]) -> list[np.ndarray]:
    formats = {"color": "r8g8b8a8_unorm", "depth": "d24_unorm_s8_uint"}
    target, zs = (device.image((size, size), name, samples=samples) for name in formats.values())
    with device.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 1)), depth=tg.Attachment(zs, clear=1)) as rp:
        for vertices, state in draws:
            more: dict[str, Any] = {"vertex": VERTEX, "depth_compare": "less", "samples": samples} | formats
            rp.draw(device.pipeline(VERT, FRAG, **more, **state), vertices)
    return [target.numpy(), zs.numpy(aspect="depth")]


@pytest.mark.parametrize("samples", [1, 4])
def test_one_result(samples: int) -> None:
    """All modes over one another with depth, in pictures of several bins: the same bits everywhere."""
    rng, size = random.Random(7), 150
    pictures = []
    draws = []
    for mode, stipple, blend, topology in itertools.product(
        ("default", "rectangular", "bresenham", "rectangular_smooth"),
        (None, (3, 0x6B35)),
        (None, "alpha"),
        ("line_list", "line_strip"),
    ):
        if mode == "default" and stipple:
            continue
        vertices = np.zeros(60, VERTEX)
        for v in vertices:
            v["position"] = [
                rng.uniform(-1.3, 1.3),
                rng.uniform(-1.3, 1.3),
                rng.uniform(-0.1, 1.1),
                rng.uniform(0.7, 1.3),
            ]
            v["color"] = [rng.random() for _ in range(4)]
        width = rng.choice([1.0, 1.0, 3.0, 20.0, 64.0])
        draws.append(
            (
                vertices,
                {"line_mode": mode, "line_stipple": stipple, "blend": blend, "topology": topology, "line_width": width},
            )
        )
    opaque = [(vertices, state) for vertices, state in draws if not state["blend"]]
    for configuration in CONFIGURATIONS:
        device = tg.Device(cache_dir="off", **configuration)
        contents = [contents_of(device, size, samples, some) for some in (draws, opaque)]
        pictures.append([plane for planes in contents for plane in planes])
        for one, other in zip(pictures[0], pictures[-1], strict=True):
            assert np.array_equal(one, other), configuration
    assert all(len(np.unique(pictures[0][i].reshape(-1, 4), axis=0)) > 500 for i in (0, 2))


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"line_stipple": (1, 0xF0F0)}, "line_stipple is given, and line_mode is 'default'"),
        (
            {"line_mode": "bresenham", "alpha_to_coverage": True},
            "lineRasterizationMode is BRESENHAM and alphaToCoverageEnable is true",
        ),
        ({"line_mode": "rectangular_smooth", "alpha_to_one": True}, "RECTANGULAR_SMOOTH and alphaToOneEnable is true"),
        ({"line_mode": "bresenham", "sample_shading": True, "samples": 4}, "BRESENHAM and sampleShadingEnable is true"),
        ({"line_mode": "bresenham", "line_stipple": (257, 1)}, "it must be .factor, pattern.: 1 to 256, and 16 bits"),
        ({"line_mode": "brezenham"}, "did you mean 'bresenham'"),
    ],
)
def test_what_lines_may_not_be(dev: tg.Device, state: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        dev.pipeline(VERT, FRAG, vertex=VERTEX, color=FORMAT, topology="line_list", **state)
    fixed = {k: v for k, v in state.items() if not k.startswith("line")}
    dev.pipeline(
        VERT,
        FRAG,
        vertex=VERTEX,
        color=FORMAT,
        topology="line_list",
        line_mode="rectangular",
        line_stipple=(256, 1),
        **fixed,
    )


def test_a_stipple_of_no_mode_by_dynamic_state(dev: tg.Device) -> None:
    dynamic = ["line_rasterization_mode", "line_stipple_enable", "line_stipple"]
    pipeline = dev.pipeline(
        VERT, COUNTS, vertex=VERTEX, color=FORMAT, topology="line_list", blend="additive", dynamic=dynamic
    )
    target = dev.image((SIZE, SIZE), FORMAT)
    points = random_segments(random.Random(1), 4)
    with (
        pytest.raises(ValidationError, match="line_mode is 'default'"),
        dev.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0))) as rp,
    ):
        rp.set(line_rasterization_mode="default", line_stipple_enable=True, line_stipple=(1, 3))
        rp.draw(pipeline, clip(points))
    with dev.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0))) as rp:
        rp.set(line_rasterization_mode="bresenham", line_stipple_enable=True, line_stipple=(1, 3))
        rp.draw(pipeline, clip(points))
        rp.set(line_rasterization_mode="rectangular", line_stipple_enable=False)
        rp.draw(pipeline, clip(points))
        rp.set(line_rasterization_mode="rectangular_smooth")
        rp.draw(pipeline, clip(points))
    modes: list[dict[str, Any]] = [{"line_mode": "bresenham", "line_stipple": (1, 3)}, {"line_mode": "rectangular"}]
    pictures = [draw(dev, clip(points), **mode) for mode in [*modes, {"line_mode": "rectangular_smooth"}]]
    want = np.sum(pictures, 0)
    np.testing.assert_allclose(target.numpy(), want[:, :, 0], rtol=1e-6)
