"""Near planes at z = 0 and at z = -w, clipping and clamping apart, and the stream that is rasterized: against NumPy and by hand.

Source: Vulkan specification, "Primitive Clipping", "Controlling the Viewport" (z_d = o_z + p_z * z / w with p_z = (max - min) / 2 and
o_z = (max + min) / 2 where depth clip control says -1 to 1), "Transform Feedback" (rasterizationStream).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.errors import ValidationError

WIDTH, HEIGHT = 64, 16
VERT = "#version 450\nlayout(location = 0) in vec4 position;\nvoid main() { gl_Position = position; }"
FRAG = "#version 450\nlayout(location = 0) out vec4 color;\nvoid main() { color = vec4(gl_FragCoord.z, 1.0, 0.5, 1.0); }"
DTYPE = np.dtype([("position", "f4", 4)])
NOTHING = 0.5  #: what depth is cleared to


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def ramp(steep: float, ws: tuple[float, float, float, float] = (1, 1, 1, 1)) -> np.ndarray:
    """All of the picture; z / w goes from -steep at the left edge to steep at the right one."""
    corners = [(-1, -1), (1, -1), (-1, 1), (1, 1)]
    out = np.zeros(6, DTYPE)
    for vertex, i in zip(out, (0, 1, 2, 2, 1, 3), strict=True):
        x, y = corners[i]
        vertex["position"] = np.array([x, y, steep * x, 1]) * ws[i]
    return out


def draw(
    dev: tg.Device, vertices: np.ndarray, viewport: Any, state: dict[str, Any], dynamic: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Colour and depth."""
    color, depth = dev.image((WIDTH, HEIGHT), "r32g32b32a32_sfloat"), dev.image((WIDTH, HEIGHT), "d32_sfloat")
    fixed = {} if dynamic else state
    listed = {"depth_clip": "depth_clip_enable", "depth_clamp": "depth_clamp_enable"}
    names = {listed.get(name, name): value for name, value in state.items()} if dynamic else {}
    pipeline = dev.pipeline(
        VERT, FRAG, vertex=DTYPE, color=[color.format], depth=depth.format, depth_compare="always", dynamic=list(names), **fixed
    )
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=NOTHING)) as rp:
        rp.set(**names)
        rp.draw(pipeline, vertices, viewport=viewport)
    return color.numpy(), depth.numpy()[..., 0]


RANGES = [(0.0, 1.0), (0.25, 0.75), (0.9, 0.1)]
PERSPECTIVES = [(1, 1, 1, 1), (0.5, 3, 1.5, 0.75)]


@pytest.mark.parametrize(("negative", "clips"), list(itertools.product([False, True], [True, False])))
def test_depth_is_where_numpy_says(dev: tg.Device, negative: bool, clips: bool) -> None:
    x = (np.arange(WIDTH) + 0.5) / WIDTH * 2 - 1
    for (near, far), ws, steep in itertools.product(RANGES, PERSPECTIVES, (0.9, -1.7)):
        state = {"depth_clip_negative_one_to_one": negative, "depth_clip": clips, "depth_clamp": not clips}
        color, got = draw(dev, ramp(steep, ws), (0, 0, WIDTH, HEIGHT, near, far), state)
        ndc = steep * x
        want = (far + near) / 2 + (far - near) / 2 * ndc if negative else near + (far - near) * ndc
        inside = (ndc >= (-1 if negative else 0)) & (ndc <= 1)
        want = np.where(inside, want, NOTHING) if clips else np.clip(want, min(near, far), max(near, far))
        # A plane's cut is a vertex, which stands at a multiple of 1/256 pixel.
        cut = 1 / 512 * abs(steep * (far - near)) * 2 / WIDTH if clips else 0
        assert np.allclose(got, want[None, :], rtol=0, atol=2e-6 + 1.1 * cut), (near, far, ws, steep)
        assert np.array_equal(color[..., 1] == 1, np.broadcast_to(inside if clips else inside | True, got.shape))


def test_planes_are_hit_exactly(dev: tg.Device) -> None:
    """z = -w and z = w are inside; the next number is not."""
    viewport = (0, 0, WIDTH, HEIGHT)
    state = {"depth_clip_negative_one_to_one": True}
    for w, z, want in [(1.5, -1.5, 0.0), (1.5, 1.5, 1.0), (1.5, 0.0, 0.5), (1.5, np.nextafter(np.float32(-1.5), np.float32(-2)), None)]:
        vertices = ramp(0)
        vertices["position"] = vertices["position"] * np.float32(w)
        vertices["position"][:, 2] = z
        color, depth = draw(dev, vertices, viewport, state)
        assert (depth == (NOTHING if want is None else want)).all() and (color[..., 1] == (want is not None)).all()


def test_bits_do_not_depend_on_lanes_or_hidden_surface_removal(dev: tg.Device) -> None:
    vertices, viewport = ramp(-1.3, (0.5, 3, 1.5, 0.75)), (0, 0, WIDTH, HEIGHT, 0.2, 0.9)
    state = {"depth_clip_negative_one_to_one": True}
    want = draw(dev, vertices, viewport, state)
    others = [tg.Device(cache_dir="off", threads=1, lanes=lanes) for lanes in (4, 8, 16)]
    others += [tg.Device(cache_dir="off", threads=2, hsr=hsr) for hsr in ("off", "all", "lrz")]
    for other in others:
        for got, expected in zip(draw(other, vertices, viewport, state), want, strict=True):
            assert np.array_equal(got, expected)
    for got, expected in zip(draw(dev, vertices, viewport, state | {"depth_clip": True}, dynamic=True), want, strict=True):
        assert np.array_equal(got, expected)


STREAMS = """#version 450
layout(points) in;
layout(points, max_vertices = 3) out;
void main() {
  for (int s = 0; s < 2; s++) {
    gl_Position = vec4(s == 0 ? -0.5 : 0.5, 0.0, 0.5, 1.0);
    gl_PointSize = 1.0;
    if (s == 0) { EmitStreamVertex(0); EndStreamPrimitive(0); } else { EmitStreamVertex(1); EndStreamPrimitive(1); }
  }
}"""
POINT = "#version 450\nvoid main() { gl_Position = vec4(0.0, 0.0, 0.5, 1.0); gl_PointSize = 1.0; }"
WHITE = "#version 450\nlayout(location = 0) out vec4 color;\nvoid main() { color = vec4(1.0); }"


def columns(dev: tg.Device, stream: int, geometry: bool, dynamic: bool) -> list[int]:
    """Where something is drawn."""
    image = dev.image((16, 4), "r8g8b8a8_unorm")
    more: dict[str, Any] = {"geometry": STREAMS} if geometry else {}
    more |= {"dynamic": ["rasterization_stream"]} if dynamic else {"rasterization_stream": stream}
    pipeline = dev.pipeline(POINT, WHITE, color=[image.format], topology="point_list", **more)
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
        if dynamic:
            rp.set(rasterization_stream=stream)
        rp.draw(pipeline, count=1)
    return [int(x) for x in np.flatnonzero(image.numpy().any(axis=(0, 2)))]


@pytest.mark.parametrize("dynamic", [False, True])
def test_one_stream_is_rasterized(dev: tg.Device, dynamic: bool) -> None:
    first, second = (columns(dev, stream, True, dynamic) for stream in range(2))
    assert len(first) == len(second) == 1 and first[0] < 8 <= second[0]
    # Without a geometry shader all is stream 0. What a pipeline can't draw it is not made for; state finds nothing there.
    assert columns(dev, 0, False, dynamic)
    for stream, geometry in ((2, True), (1, False)):
        if dynamic:
            assert not columns(dev, stream, geometry, dynamic)
            continue
        with pytest.raises(ValidationError, match=f"rasterization_stream is {stream}, and "):
            columns(dev, stream, geometry, dynamic)


def test_streams_that_there_are_not(dev: tg.Device) -> None:
    for dynamic in (False, True):
        with pytest.raises(ValidationError, match=r"rasterization_stream is 4; it must not be above 3"):
            columns(dev, 4, True, dynamic)
