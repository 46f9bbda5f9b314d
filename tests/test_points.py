"""Points: size, clamps, coordinate, clipping, of every stage that may make them; against exact squares.

Source: Vulkan specification, "Points": a point is a square of PointSize (cut to pointSizeRange) around its centre, whose samples are
covered as a polygon's are; gl_PointCoord is 1/2 + (fragment - centre) / size; "Primitive Clipping" (a point outside of the view volume is
not drawn: VK_POINT_CLIPPING_BEHAVIOR_ALL_CLIP_PLANES). Sizes here are multiples of 1/128 px, so that half of one is one of 1/256.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from oracle.coverage import sample_points

SIZE = 64
DTYPE = np.dtype([("position", "f4", 4), ("size", "f4")])
HEAD = "#version 450\nlayout(location = 0) in vec4 position;\nlayout(location = 1) in float size;\n"
VERT = HEAD + "void main() { gl_Position = position; gl_PointSize = size; }"
FRAG = """#version 450
layout(location = 0) out vec4 color;
void main() { color = vec4(gl_PointCoord, 1.0, float(gl_SampleMaskIn[0])); }"""


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def points(centres: Any, sizes: Any) -> np.ndarray:
    """Centres in 1/256 px."""
    out = np.zeros(len(centres), DTYPE)
    out["position"][:, :2] = np.asarray(centres) / 256 * 2 / SIZE - 1
    out["position"][:, 2:] = (0.5, 1)
    out["size"] = sizes
    return out


def draw(dev: tg.Device, vertices: np.ndarray, samples: int = 1, vert: str = VERT, frag: str = FRAG, **state: Any) -> np.ndarray:
    color = dev.image((SIZE, SIZE), "r32g32b32a32_sfloat", samples=samples)
    state.setdefault("topology", "point_list")
    pipeline = dev.pipeline(vert, frag, vertex=DTYPE, color=[color.format], samples=samples, **state)
    with dev.render_pass(color=[tg.Attachment(color, clear=(-1, -1, 0, 0))]) as rp:
        rp.draw(pipeline, vertices)
    return color.numpy().reshape(SIZE, SIZE, samples, 4)[:, :, 0]


def covered(centre: tuple[int, int], size_px: float, samples: int) -> np.ndarray:
    """(y, x, sample); left and top edges belong to the square, the others do not."""
    half = round(size_px * 128)
    x, y = sample_points(SIZE, SIZE, samples)
    return (x >= centre[0] - half) & (x < centre[0] + half) & (y >= centre[1] - half) & (y < centre[1] + half)


CENTRES = [(8192, 8192), (8320, 8320), (8200, 8311), (300, 16000), (16383, 1), (5000, 12345)]
SIZES = [1.0, 1.5, 2.0, 3.25, 7.0078125, 20.0, 63.5, 200.0, 1024.0]


@pytest.mark.parametrize("samples", [1, 4, 16])
def test_squares_are_exact_and_coordinates_go_across(dev: tg.Device, samples: int) -> None:
    for centre, size in itertools.product(CENTRES, SIZES):
        got = draw(dev, points([centre], size), samples)
        want = covered(centre, size, samples)
        assert np.array_equal(got[..., 2] == 1, want[..., 0]), (centre, size)
        seen = want[..., 0]
        assert np.array_equal(got[..., 3][seen], (want << np.arange(samples)).sum(-1)[seen])
        at = np.arange(SIZE) + 0.5
        for axis, grid in ((0, np.broadcast_to(at[None, :], seen.shape)), (1, np.broadcast_to(at[:, None], seen.shape))):
            coordinate = 0.5 + (grid - centre[axis] / 256) / size
            assert np.allclose(got[..., axis][seen], coordinate[seen], atol=1e-5), (centre, size)


def test_sizes_are_cut_to_what_is_allowed(dev: tg.Device) -> None:
    centre = (8200, 8311)
    for given, taken in ((0.0, 1), (-5.0, 1), (0.99, 1), (np.nan, 1), (np.inf, 1024), (1e9, 1024), (-np.inf, 1), (2000.0, 1024)):
        assert np.array_equal(draw(dev, points([centre], given))[..., 2] == 1, covered(centre, taken, 1)[..., 0]), given


def test_without_a_size_it_is_one_pixel(dev: tg.Device) -> None:
    got = draw(dev, points([(8320, 8320)], 9), vert=HEAD + "void main() { gl_Position = position + 0.0 * size; }")
    assert np.array_equal(got[..., 2] == 1, covered((8320, 8320), 1, 1)[..., 0])


def test_a_centre_outside_is_not_drawn(dev: tg.Device) -> None:
    for centre in ((-1, 8192), (16385, 8192), (8192, -300), (8192, 16640)):
        assert not draw(dev, points([centre], 40.0))[..., 2].any()
    assert draw(dev, points([(0, 0)], 40.0))[..., 2].sum() == 400


GEOMETRY = """#version 450
layout(points) in;
layout(points, max_vertices = 2) out;
void main() {
  for (int i = 0; i < 2; i++) {
    gl_Position = gl_in[0].gl_Position + vec4(0.5 * i, 0, 0, 0);
    gl_PointSize = gl_in[0].gl_PointSize * (i + 1);
    EmitVertex();
  }
}"""
CONTROL = """#version 450
layout(vertices = 1) out;
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[0].gl_Position;
  gl_out[gl_InvocationID].gl_PointSize = gl_in[0].gl_PointSize;
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelOuter[3] = 1;
  gl_TessLevelInner[0] = gl_TessLevelInner[1] = 1;
}"""
EVALUATION = """#version 450
layout(quads, point_mode) in;
void main() {
  gl_Position = gl_in[0].gl_Position + vec4(gl_TessCoord.xy * 0.5, 0, 0);
  gl_PointSize = gl_in[0].gl_PointSize + gl_TessCoord.x;
}"""


def test_points_of_geometry_shaders(dev: tg.Device) -> None:
    got = draw(dev, points([(4000, 8000)], 5.0), geometry=GEOMETRY)
    want = covered((4000, 8000), 5, 1) | covered((4000 + 16 * 256, 8000), 10, 1)
    assert np.array_equal(got[..., 2] == 1, want[..., 0])


def test_points_of_tessellation(dev: tg.Device) -> None:
    stages = {"tessellation_control": CONTROL, "tessellation_evaluation": EVALUATION}
    got = draw(dev, points([(3000, 3000)], 5.0), topology="patch_list", patch_control_points=1, **stages)
    want = np.zeros((SIZE, SIZE), bool)
    for x, y in itertools.product((0, 1), (0, 1)):
        want |= covered((3000 + x * 4096, 3000 + y * 4096), 5 + x, 1)[..., 0]
    assert np.array_equal(got[..., 2] == 1, want)


def test_corners_of_triangles_as_points(dev: tg.Device) -> None:
    corners = [(3000, 3000), (12000, 5000), (6000, 13000)]
    got = draw(dev, points(corners, [3.0, 6.0, 9.0]), topology="triangle_list", polygon_mode="point")
    want = np.zeros((SIZE, SIZE), bool)
    for centre, size in zip(corners, (3, 6, 9), strict=True):
        want |= covered(centre, size, 1)[..., 0]
    assert np.array_equal(got[..., 2] == 1, want)


def test_filled_triangles_do_not_mind(dev: tg.Device) -> None:
    corners = [(3000, 3000), (12000, 5000), (6000, 13000)]
    frag = FRAG.replace("gl_PointCoord", "vec2(0.5)")
    plain = HEAD + "void main() { gl_Position = position + 0.0 * size; }"
    many = points([c for _ in range(200) for c in corners], 9.0)
    for hsr in ("off", "all"):
        device = tg.Device(cache_dir="off", threads=2, hsr=hsr)
        with_size = draw(device, many, topology="triangle_list", frag=frag)
        assert np.array_equal(with_size, draw(device, many, topology="triangle_list", frag=frag, vert=plain))


def test_line_widths_are_cut_to_what_is_allowed(dev: tg.Device) -> None:
    """What was too wide was drawn one pixel wide, what was too thin with gaps."""
    ends = points([(3000, 3000), (9000, 4000)], 1.0)
    for mode in ("default", "rectangular", "bresenham"):
        drawn = {w: draw(dev, ends, topology="line_list", line_mode=mode, line_width=w) for w in (1.0, 64.0)}
        assert drawn[64.0].sum() > 10 * drawn[1.0].sum()
        for width, taken in ((0.25, 1.0), (64.5, 64.0), (1e9, 64.0)):
            got = draw(dev, ends, topology="line_list", line_mode=mode, line_width=width)
            assert np.array_equal(got, drawn[taken]), (mode, width)


def test_one_result_for_every_configuration() -> None:
    rng = np.random.default_rng(1)
    vertices = points(rng.integers(0, SIZE * 256, (300, 2)), rng.random(300) * 12)
    vertices["position"] *= (0.5 + rng.random(300))[:, None].astype(np.float32)
    reference: dict[int, np.ndarray] = {}
    for threads, lanes, profile, hsr in itertools.product((1, 2), (4, 8, 16), ("host", "mali-g57", "adreno-a740"), ("off", "all")):
        device = tg.Device(cache_dir="off", threads=threads, lanes=lanes, profile=profile, hsr=hsr)
        for samples in (1, 4):
            got = draw(device, vertices, samples)
            want = reference.setdefault(samples, got)
            assert np.array_equal(got.view(np.uint32), want.view(np.uint32)), (threads, lanes, profile, hsr, samples)
