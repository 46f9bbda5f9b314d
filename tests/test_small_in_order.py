"""Small primitives that are shaded in order (blended, discarded): what is done for eight of them at once gives the bits of one by one.

Oracle: a traced pass, whose records are set up, covered and tested one by one (tile/draw_entries.cpp, BatchSetups and draw_squares).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (150, 110)
DTYPE = np.dtype([("position", "f4", 4), ("size", "f4"), ("color", "f4", 4), ("more", "f4", 4), ("kind", "u4")])
VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in float size;
layout(location = 2) in vec4 color;
layout(location = 3) in vec4 more;
layout(location = 4) in uint kind;
layout(location = 0) out vec4 v_color;
layout(location = 1) out vec4 v_more;
layout(location = 2) flat out uint v_kind;
void main() {
  v_color = color;
  v_more = more;
  v_kind = kind;
  gl_Position = position;
  gl_PointSize = size;
}"""
HEAD = """#version 450
layout(location = 0) in vec4 v_color;
layout(location = 1) in vec4 v_more;
layout(location = 2) flat in uint v_kind;
layout(location = 0) out vec4 color;
"""
PLAIN = HEAD + "void main() { color = v_color * (0.5 + 0.25 * v_more) + float(v_kind) * 0.01; }"
HOLES = HEAD + "void main() { if (v_more.x + v_more.y > 1.2) discard; color = vec4(v_color.rgb * v_more.zwx, v_color.a); }"
DISC = HEAD + """void main() {
  vec2 q = gl_PointCoord * 2.0 - 1.0;
  if (dot(q, q) > 1.0) discard;
  color = vec4(v_color.rgb * (1.0 - 0.3 * dot(q, q)), v_color.a) + float(v_kind) * 0.01;
}"""
SHAPES = {"point_list": (1, DISC), "line_list": (2, PLAIN), "triangle_list": (3, HOLES), "quads": (6, PLAIN)}
# Sizes of points in 1/128 px: edges at centres of pixels among them.
SIZES = [1, 64, 127, 128, 129, 192, 256, 320, 384, 420, 512, 513, 900, 2000, 12000]


def vertices(rng: np.random.Generator, shape: str, count: int) -> np.ndarray:
    each = SHAPES[shape][0]
    middle = rng.uniform(-1.1, 1.1, (count, 1, 2))
    if rng.random() < 0.5:  # on the grid of half pixels, and one off it
        middle = np.round((middle + 1) / 2 * np.array(SIZE) * 2) / 2 / np.array(SIZE) * 2 - 1
    reach = rng.choice([1.0, 3.0, 9.0, 60.0], (count, 1, 1), p=[0.4, 0.4, 0.17, 0.03]) / np.array(SIZE)
    places = middle + rng.uniform(-1, 1, (count, each, 2)) * reach
    if shape == "point_list":
        places = middle
    if shape == "quads":
        low, high = np.minimum(places[:, 0], places[:, 1]), np.maximum(places[:, 0], places[:, 1])
        corners = np.array([(0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)])
        places = low[:, None] + corners[None] * (high - low)[:, None]
    out = np.zeros((count, each), DTYPE)
    w = np.where(rng.random((count, 1)) < 0.7, 1.0, rng.uniform(0.5, 3.0, (count, each)))
    out["position"][..., :2], out["position"][..., 3] = places * w[..., None], w
    out["position"][..., 2] = rng.uniform(-0.1, 1.1, (count, each)) * w
    out["size"] = np.array(rng.choice(SIZES, (count, 1)), "f4") / 128
    out["color"], out["more"] = rng.random((2, count, each, 4))
    out["kind"] = rng.integers(0, 9, (count, 1))
    return out.reshape(-1)


def draw_pass(device: tg.Device, seed: int, trace: bool) -> list[Any]:
    """Bytes of colour and depth, and what queries and counters say."""
    rng = np.random.default_rng(seed)
    color, depth = device.image(SIZE, ["r8g8b8a8_unorm", "r16g16b16a16_sfloat"][seed % 2]), device.image(SIZE, "d32_sfloat")
    corner = rng.integers(0, 20, 2)
    area = (*corner.tolist(), *(np.array(SIZE) - corner - rng.integers(0, 20, 2)).tolist())
    counted = []
    with device.render_pass(
        color=[tg.Attachment(color, clear=(0.1, 0.2, 0.3, 1))], depth=tg.Attachment(depth, clear=0.6), area=area, trace=trace
    ) as rp:
        for _ in range(int(rng.integers(2, 7))):
            shape = str(rng.choice(list(SHAPES)))
            state: dict[str, Any] = {"topology": "triangle_list" if shape == "quads" else shape}
            if rng.random() < 0.7:
                state["blend"] = "alpha"
            if rng.random() < 0.6:
                state["depth_compare"], state["depth_write"] = str(rng.choice(["less", "greater_or_equal"])), bool(rng.random() < 0.5)
            data = vertices(rng, shape, int(rng.integers(1, 20) if rng.random() < 0.4 else rng.integers(200, 700)))
            pipeline = device.pipeline(VERT, SHAPES[shape][1], vertex=DTYPE, color=[color.format], depth=depth.format, **state)
            scissor = (*rng.integers(0, 40, 2).tolist(), *rng.integers(30, 110, 2).tolist()) if rng.random() < 0.4 else (0, 0, *SIZE)
            if rng.random() < 0.3:
                with rp.query() as query:
                    rp.draw(pipeline, data, scissor=scissor)
                counted.append(query)
            else:
                rp.draw(pipeline, data, scissor=scissor)
    stats = rp.stats
    names = ("fragments_rasterized", "fragments_early_killed", "fragments_discarded", "fragments_late_killed", "samples_written")
    return [color.numpy().tobytes(), depth.numpy().tobytes(), [q.samples for q in counted], [getattr(stats, n) for n in names]]


@pytest.fixture(scope="module")
def devices() -> list[tg.Device]:
    return [
        tg.Device(lanes=16, threads=1),
        tg.Device(lanes=8, threads=2, bin_px=32),
        tg.Device(lanes=4, threads=1, bin_px=128),
        tg.Device(lanes=16, threads=2, bin_px=128, hsr="forward_pixel_kill"),
    ]


@pytest.mark.parametrize("seed", range(24))
def test_eight_at_once_are_as_one_by_one(devices: list[tg.Device], seed: int) -> None:
    want = draw_pass(devices[0], seed, trace=True)
    assert want[3][4] > 0, "nothing was drawn"
    got = draw_pass(devices[0], seed, trace=False)
    assert got == want
    for device in devices[1:]:
        assert draw_pass(device, seed, trace=False)[:3] == want[:3]
