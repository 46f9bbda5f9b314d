"""Sample locations of the draw's own against exact integers: coverage, depth, gl_SamplePosition, interpolation.

Source: Vulkan specification, "Custom Sample Locations" and "Basic Polygon Rasterization" (top-left rule at each sample), GLSL's
gl_SamplePosition and interpolateAtSample.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from oracle.coverage import SAMPLE_LOCATIONS
from tilegpu.errors import ValidationError

SIZE = 32
DTYPE = np.dtype([("position", "f4", 4), ("value", "f4")])
VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in float value;
layout(location = 0) out float v;
void main() { gl_Position = position; v = value; }"""
BY_PIXEL = """#version 450
layout(location = 0) in float v;
layout(location = 0) out vec4 color;
void main() { color = vec4(1.0, interpolateAtSample(v, 1), float(gl_SampleMaskIn[0]), v); }"""
BY_SAMPLE = """#version 450
layout(location = 0) sample in float v;
layout(location = 0) out vec4 color;
void main() { color = vec4(gl_SamplePosition, gl_FragCoord.z, v); }"""
FETCH = """#version 450
layout(set = 0, binding = 0) uniform sampler2DMS t;
layout(location = 0) out vec4 color;
void main() { ivec2 at = ivec2(gl_FragCoord.xy); color = texelFetch(t, ivec2(at.x % SIZE, at.y), at.x / SIZE); }"""
WHOLE = "#version 450\nvoid main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); }"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def locations(seed: int, samples: int) -> list[tuple[int, int]]:
    """In sixteenths."""
    rng = np.random.default_rng(seed)
    return [(int(x), int(y)) for x, y in rng.integers(0, 16, (samples, 2))]


def as_pixels(places: list[tuple[int, int]]) -> list[tuple[float, float]]:
    return [(x / 16, y / 16) for x, y in places]


def triangles(seed: int, count: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Vertices, and corners in 1/256 px. Value and depth are planes over the picture, of each triangle its own."""
    rng = np.random.default_rng(seed)
    out, corners = np.zeros(3 * count, DTYPE), []
    for i in range(count):
        reach = int(rng.choice([60, 600, 3000, 12000]))
        t = rng.integers(0, SIZE * 256, 2) + rng.integers(-reach, reach + 1, (3, 2))
        corners.append(t.astype(np.int64))
        out["position"][3 * i : 3 * i + 3, :2] = t / 256 * 2 / SIZE - 1
        out["position"][3 * i : 3 * i + 3, 2] = rng.random(3)
        out["position"][3 * i : 3 * i + 3, 3] = 1
        out["value"][3 * i : 3 * i + 3] = rng.random(3)
    return out, corners


def covered(t: np.ndarray, places: list[tuple[int, int]]) -> np.ndarray:
    """(y, x, sample)."""
    a, b, c = ([int(v) for v in p] for p in t)
    area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    if area < 0:
        b, c = c, b
    at = np.array(places, np.int64) * 16
    x = np.arange(SIZE, dtype=np.int64)[None, :, None] * 256 + at[:, 0]
    y = np.arange(SIZE, dtype=np.int64)[:, None, None] * 256 + at[:, 1]
    inside = np.full((SIZE, SIZE, len(places)), area != 0)
    for p, q in ((a, b), (b, c), (c, a)):
        dx, dy = q[0] - p[0], q[1] - p[1]
        edge = dx * (y - p[1]) - dy * (x - p[0])
        inside &= (edge > 0) | ((edge == 0) & (dy < 0 or (dy == 0 and dx > 0)))
    return inside


def draw(dev: tg.Device, frag: str, vertices: np.ndarray, samples: int, dynamic: bool = False, **state: Any) -> np.ndarray:
    """Each sample's colour: (y, x, sample, 4)."""
    many = dev.image((SIZE, SIZE), "r32g32b32a32_sfloat", samples=samples)
    depth = dev.image((SIZE, SIZE), "d32_sfloat", samples=samples)
    places = state.pop("sample_locations", None)
    if not dynamic and places is not None:
        state["sample_locations"] = places
    if dynamic:
        state["dynamic"] = ["sample_locations", "sample_locations_enable"]
    pipeline = dev.pipeline(
        VERT, frag, vertex=DTYPE, color=[many.format], depth=depth.format, depth_compare="less", samples=samples, **state
    )
    with dev.render_pass(
        color=[tg.Attachment(many, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")
    ) as rp:
        if dynamic:
            rp.set(sample_locations_enable=places is not None, sample_locations=places or as_pixels(SAMPLE_LOCATIONS[samples]))
        rp.draw(pipeline, vertices)
    out = dev.image((SIZE * samples, SIZE), "r32g32b32a32_sfloat")
    fetch = dev.pipeline(WHOLE, FETCH.replace("SIZE", str(SIZE)), color=[out.format])
    with dev.render_pass(color=[tg.Attachment(out, load_op="dont_care")]) as rp:
        rp.draw(fetch, count=3, bind={"t": (many, dev.sampler(filter="nearest"))})
    return out.numpy().reshape(SIZE, samples, SIZE, 4).transpose(0, 2, 1, 3)


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
@pytest.mark.parametrize("dynamic", [False, True])
def test_coverage_is_that_of_exact_integers(dev: tg.Device, samples: int, dynamic: bool) -> None:
    for seed in range(12):
        places = locations(seed, samples)
        vertices, (corners,) = triangles(100 + seed, 1)
        got = draw(dev, BY_PIXEL, vertices, samples, dynamic, sample_locations=as_pixels(places))
        want = covered(corners, places)
        assert np.array_equal(got[..., 0] == 1, want), seed
        masks = (want << np.arange(samples)).sum(-1)
        assert np.array_equal(got[..., 2][want], np.broadcast_to(masks[..., None], want.shape)[want])


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
def test_depth_and_inputs_are_those_of_the_place(dev: tg.Device, samples: int) -> None:
    vertices, corners = triangles(9, 30)
    places = locations(3, samples)
    got = draw(dev, BY_SAMPLE, vertices, samples, sample_locations=as_pixels(places))
    at = np.array(places) / 16
    x = np.arange(SIZE)[None, :, None] + at[:, 0]
    y = np.arange(SIZE)[:, None, None] + at[:, 1]
    depth, value = np.ones((SIZE, SIZE, samples)), np.zeros((SIZE, SIZE, samples))
    for i, t in enumerate(corners):
        if np.linalg.det(np.column_stack([t, np.ones(3)])) == 0:
            continue
        inverse = np.linalg.inv(np.column_stack([t / 256, np.ones(3)]))
        plane = inverse @ vertices["position"][3 * i : 3 * i + 3, 2].astype(float)
        z = plane[0] * x + plane[1] * y + plane[2]
        plane = inverse @ vertices["value"][3 * i : 3 * i + 3].astype(float)
        won = covered(t, places) & (z < depth)
        depth[won], value[won] = z[won], (plane[0] * x + plane[1] * y + plane[2])[won]
    seen = depth < 1
    assert seen.mean() > 0.3
    assert np.allclose(got[..., 2][seen], depth[seen], atol=2e-5) and np.allclose(got[..., 3][seen], value[seen], atol=2e-5)
    assert np.array_equal(got[..., :2][seen], np.broadcast_to(at.astype(np.float32), (*seen.shape, 2))[seen])


def test_interpolation_at_a_sample(dev: tg.Device) -> None:
    vertices, corners = triangles(21, 1)
    places = locations(5, 4)
    got = draw(dev, BY_PIXEL, vertices, 4, sample_locations=as_pixels(places))
    plane = np.linalg.inv(np.column_stack([corners[0] / 256, np.ones(3)])) @ vertices["value"].astype(float)
    x, y = np.arange(SIZE)[None, :] + places[1][0] / 16, np.arange(SIZE)[:, None] + places[1][1] / 16
    want = plane[0] * x + plane[1] * y + plane[2]
    inside = covered(corners[0], places)
    assert inside.any()
    assert np.allclose(got[..., 1][inside], np.broadcast_to(want[..., None], inside.shape)[inside], atol=1e-5)


def test_the_standard_places_by_hand_change_nothing(dev: tg.Device) -> None:
    for samples in (2, 4, 8, 16):
        vertices, _ = triangles(samples, 40)
        plain = draw(dev, BY_SAMPLE, vertices, samples)
        given = draw(dev, BY_SAMPLE, vertices, samples, sample_locations=as_pixels(SAMPLE_LOCATIONS[samples]))
        assert np.array_equal(plain.view(np.uint32), given.view(np.uint32))
        other = draw(dev, BY_SAMPLE, vertices, samples, sample_locations=as_pixels(locations(1, samples)))
        assert not np.array_equal(plain, other)


def test_one_result_for_every_configuration() -> None:
    vertices, _ = triangles(4, 80)
    reference: dict[Any, np.ndarray] = {}
    for threads, lanes, profile, hsr in itertools.product((1, 2), (4, 8, 16), ("host", "mali-g57", "adreno-a740"), ("off", "all")):
        device = tg.Device(cache_dir="off", threads=threads, lanes=lanes, profile=profile, hsr=hsr)
        for frag, conservative in itertools.product((BY_PIXEL, BY_SAMPLE), (None, "overestimate")):
            got = draw(device, frag, vertices, 4, sample_locations=as_pixels(locations(2, 4)), conservative=conservative)
            want = reference.setdefault((frag, conservative), got)
            assert np.array_equal(got.view(np.uint32), want.view(np.uint32)), (threads, lanes, profile, hsr, conservative)


def test_it_is_explained_and_checked(dev: tg.Device) -> None:
    many = dev.image((SIZE, SIZE), "r8g8b8a8_unorm", samples=4)
    state = {"vertex": DTYPE, "color": [many.format], "samples": 4}
    pipeline = dev.pipeline(VERT, BY_PIXEL, sample_locations=as_pixels(locations(1, 4)), **state)
    with dev.render_pass(color=[tg.Attachment(many, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipeline, triangles(1, 1)[0])
    assert "at custom sample locations" in str(rp.explain())
    for wrong, message in (
        ([(0, 0)] * 3, "sample_locations has 3 entries; it must be 1, 2, 4, 8 or 16"),
        ([(0, 1.0)] * 4, r"sample_locations\[0\] is .*; it must be \(x, y\), from 0 to 15/16"),
    ):
        with pytest.raises(ValidationError, match=message):
            dev.pipeline(VERT, BY_PIXEL, sample_locations=wrong, **state)
    for samples, count, message in ((4, 8, "has 8 places, and samples is 4"), (1, 1, "samples is 1; give samples=2, 4, 8 or 16")):
        places = as_pixels(locations(1, count))
        with pytest.raises(ValidationError, match=message):
            dev.pipeline(VERT, BY_PIXEL, sample_locations=places, vertex=DTYPE, color=[many.format], samples=samples)
