"""Conservative rasterization against exact integers, and against itself for any configuration.

Source: Vulkan specification, "Conservative Rasterization": overestimated, a pixel is covered where any of it, edges and corners included,
is in the triangle; underestimated, where all of it is; each time with all of its samples. What is touched is found here by the theorem of
separating axes, on the whole square, in units of 1/256 pixel.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.errors import ValidationError

SIZE = 64
DTYPE = np.dtype([("position", "f4", 4), ("shade", "f4")])
VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in float shade;
layout(location = 0) out float v;
void main() { gl_Position = position; v = shade; }"""
FRAG = """#version 450
layout(location = 0) in float v;
layout(location = 0) out vec4 color;
void main() { color = vec4(1.0, v, gl_FragCoord.z, float(gl_SampleMaskIn[0])); }"""


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def vertices_of(triangle: np.ndarray, shades: tuple[float, float, float] = (1, 1, 1)) -> np.ndarray:
    """Of a triangle in 1/256 px: (x, y) of three corners."""
    out = np.zeros(3, DTYPE)
    for vertex, (x, y), shade in zip(out, triangle, shades, strict=True):
        vertex["position"] = (x / 256 * 2 / SIZE - 1, y / 256 * 2 / SIZE - 1, shade * 0.5, 1)
        vertex["shade"] = shade
    return out


def expected(triangle: np.ndarray, mode: str, extra: int = 0) -> np.ndarray:
    """Pixels (y, x)."""
    corners = [(int(x), int(y)) for x, y in triangle]
    area = (corners[1][0] - corners[0][0]) * (corners[2][1] - corners[0][1]) - (corners[2][0] - corners[0][0]) * (
        corners[1][1] - corners[0][1]
    )
    low = np.arange(SIZE, dtype=np.int64) * 256 - extra
    high = np.arange(1, SIZE + 1, dtype=np.int64) * 256 + extra
    x = np.stack([low, high, low, high])[:, None, :]
    y = np.stack([low, low, high, high])[:, :, None]
    covered = np.full((SIZE, SIZE), area != 0)
    for i in range(3):
        (ax, ay), (bx, by) = corners[i], corners[(i + 1) % 3]
        side = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) * (1 if area > 0 else -1)
        covered &= (side >= 0).all(axis=0) if mode == "underestimate" else (side >= 0).any(axis=0)
    if mode == "overestimate":
        xs, ys = [c[0] for c in corners], [c[1] for c in corners]
        covered &= ((high >= min(xs)) & (low <= max(xs)))[None, :] & ((high >= min(ys)) & (low <= max(ys)))[:, None]
    return covered


def draw(
    dev: tg.Device, vertices: np.ndarray, samples: int = 1, depths: list[np.ndarray] | None = None, **state: Any
) -> np.ndarray:
    """(y, x, 4); of several samples the mean. `depths` gets that of one sample."""
    color = dev.image((SIZE, SIZE), "r32g32b32a32_sfloat")
    many = color if samples == 1 else dev.image((SIZE, SIZE), color.format, samples=samples)
    resolve = {} if samples == 1 else {"resolve": color, "store_op": "dont_care"}
    depth = dev.image((SIZE, SIZE), "d32_sfloat", samples=samples)
    pipeline = dev.pipeline(
        VERT, FRAG, vertex=DTYPE, color=[color.format], depth=depth.format, depth_compare="less", samples=samples, **state
    )
    with dev.render_pass(
        color=[tg.Attachment(many, clear=(0, 0, 0, 0), **resolve)], depth=tg.Attachment(depth, clear=1.0)
    ) as rp:
        rp.draw(pipeline, vertices)
    if depths is not None:
        depths.append(depth.numpy()[..., 0])
    return color.numpy()


def triangles(seed: int, count: int) -> list[np.ndarray]:
    """Of all sizes; corners often on pixels' corners and edges, or on one another."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        reach = int(rng.choice([2, 40, 300, 2000, 16384, 40000]))
        centre = rng.integers(0, SIZE * 256, 2)
        t = centre + rng.integers(-reach, reach + 1, (3, 2))
        snap = int(rng.choice([1, 1, 128, 256]))
        t = t // snap * snap
        if rng.random() < 0.3:
            t[1, rng.integers(0, 2)] = t[0, rng.integers(0, 2)]
        out.append(t.astype(np.int64))
    return out


@pytest.mark.parametrize("samples", [1, 4, 16])
@pytest.mark.parametrize(
    ("mode", "extra_px"), [("overestimate", 0.0), ("overestimate", 0.25), ("overestimate", 0.75), ("underestimate", 0.0)]
)
def test_pixels_are_those_of_exact_integers(dev: tg.Device, samples: int, mode: str, extra_px: float) -> None:
    seen = 0
    for t in triangles(samples, 60):
        got = draw(dev, vertices_of(t), samples, conservative={"mode": mode, "extra_overestimation_px": extra_px})
        want = expected(t, mode, int(extra_px * 256))
        assert np.array_equal(got[..., 0] == 1, want), t
        assert np.all(got[..., 0][~want] == 0)
        assert np.all(got[..., 3][want] == 2**samples - 1)
        seen += want.sum()
    assert seen > 2000


def test_over_holds_the_ordinary_and_that_the_under(dev: tg.Device) -> None:
    different = 0
    for t in triangles(7, 40):
        over, plain, under = (draw(dev, vertices_of(t), conservative=m)[..., 0] for m in ("overestimate", "disabled", "underestimate"))
        assert np.all(over >= plain) and np.all(plain >= under)
        different += np.any(over != plain) and np.any(plain != under)
    assert different > 10


def test_what_touches_at_a_corner_is_covered(dev: tg.Device) -> None:
    t = np.array([(2560, 2560), (2816, 2560), (2560, 2816)])  # half of the pixel (10, 10), to its corners
    over = draw(dev, vertices_of(t), conservative="overestimate")[..., 0]
    ys, xs = np.nonzero(over)
    assert set(zip(xs, ys, strict=True)) == {(x, y) for x in (9, 10, 11) for y in (9, 10, 11)} - {(11, 11)}
    assert not draw(dev, vertices_of(t), conservative="underestimate").any()
    square = np.array([(2560, 2560), (2560 + 512, 2560), (2560, 2560 + 512)])
    ys, xs = np.nonzero(draw(dev, vertices_of(square), conservative="underestimate")[..., 0])
    assert list(zip(xs, ys, strict=True)) == [(10, 10)]


def test_attributes_go_on_outside_of_the_triangle(dev: tg.Device) -> None:
    """At pixels' centres, by the triangle's plane; depth that is tested and kept stays within that of its corners."""
    t = np.array([(1000, 1100), (9000, 3000), (3000, 8000)])
    shades = (0.1, 0.7, 1.0)
    depths: list[np.ndarray] = []
    got = draw(dev, vertices_of(t, shades), conservative="overestimate", depths=depths)
    covered = expected(t, "overestimate")
    centre = np.arange(SIZE) * 256 + 128
    matrix = np.linalg.inv(np.column_stack([t, np.ones(3)]).astype(float))
    plane = matrix @ np.array(shades)
    want = plane[0] * centre[None, :] + plane[1] * centre[:, None] + plane[2]
    outside = covered & ((want < 0.1) | (want > 1))
    assert outside.sum() >= 2
    assert np.allclose(got[..., 1][covered], want[covered], atol=1e-5)
    assert np.allclose(got[..., 2][covered], want[covered] * 0.5, atol=1e-5)
    assert np.allclose(depths[0][covered], np.clip(want[covered] * 0.5, 0.05, 0.5), atol=1e-5)


def scene(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([vertices_of(t, tuple(rng.random(3))) for t in triangles(seed, 120)])


def test_one_result_for_every_configuration() -> None:
    reference: dict[Any, np.ndarray] = {}
    for threads, lanes, profile, hsr in itertools.product((1, 2), (4, 8, 16), ("host", "mali-g57", "adreno-a740"), ("off", "all")):
        device = tg.Device(cache_dir="off", threads=threads, lanes=lanes, profile=profile, hsr=hsr)
        for mode, samples in itertools.product(("overestimate", "underestimate"), (1, 4)):
            got = draw(device, scene(3), samples, conservative=mode)
            want = reference.setdefault((mode, samples), got)
            assert np.array_equal(got.view(np.uint32), want.view(np.uint32)), (threads, lanes, profile, hsr, mode, samples)


def test_triangles_as_points_and_lines_are_as_ever(dev: tg.Device) -> None:
    for polygon in ("line", "point"):
        state = {"topology": "triangle_list", "polygon_mode": polygon}
        plain = draw(dev, scene(5)[:60], **state)
        assert plain.any()
        assert np.array_equal(plain, draw(dev, scene(5)[:60], conservative="overestimate", **state))


def test_it_is_explained_and_checked(dev: tg.Device) -> None:
    color = dev.image((SIZE, SIZE), "r8g8b8a8_unorm")
    pipeline = dev.pipeline(VERT, FRAG, vertex=DTYPE, color=[color.format], conservative="overestimate")
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipeline, scene(1)[:3])
    assert "overestimated coverage" in str(rp.explain())
    for wrong, message in (
        ("all", "conservative is 'all', which is no conservative_rasterization_mode"),
        ({"mode": "overestimate", "extra": 1}, "conservative has no field 'extra'"),
        ({"extra_overestimation_px": 0.8}, r"extra_overestimation_px is 0.8; it must be 0 to 0.75"),
    ):
        with pytest.raises(ValidationError, match=message):
            dev.pipeline(VERT, FRAG, vertex=DTYPE, color=["r8_unorm"], conservative=wrong)


@pytest.mark.parametrize("mode", ["line", "point"])
@pytest.mark.parametrize("conservative", ["overestimate", "underestimate"])
def test_lines_and_points_of_triangles_are_not_conservative_and_that_is_told(mode: str, conservative: str) -> None:
    device = tg.Device(threads=1)
    vert = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) - 0.53, 0, 1); gl_PointSize = 3; }"
    frag = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
    pictures = []
    for given in (None, conservative):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pipe = device.pipeline(vert, frag, color=["r8_unorm"], polygon_mode=mode, conservative=given)
        assert [f"conservative has no effect with polygon_mode='{mode}'" in str(w.message) for w in caught] == ([True] if given else [])
        image = device.image((32, 32), "r8_unorm")
        with device.render_pass(color=tg.Attachment(image, clear=(0,))) as rp:
            rp.draw(pipe, count=3)
        pictures.append(image.numpy().copy())
    assert pictures[0].any() and (pictures[0] == pictures[1]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        device.pipeline(vert, frag, color=["r8_unorm"], conservative=conservative)
        device.pipeline(vert, frag, color=["r8_unorm"], conservative=conservative, dynamic=["polygon_mode"])
