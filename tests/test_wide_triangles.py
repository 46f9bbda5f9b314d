"""Small and medium triangles of one sample are covered and tested by AVX-512 where lanes are 16
(cpp/src/tile/depth_stencil/batch_tests.hpp), triangle by triangle or many small ones together: devices of 8 lanes, which do it block by
block, give the same bits and the same counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilegpu as tg

SIZE = (203, 138)  # no multiple of a block
VERTEX = np.dtype([("position", "f4", 3), ("color", "f4", 3)])
VERT = """#version 450
layout(location = 0) in vec3 position;  layout(location = 1) in vec3 color;
layout(location = 0) out vec3 v_color;
void main() { gl_Position = vec4(position, 1); v_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec3 v_color;   layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color, 1); }"""
STATES: list[dict[str, Any]] = [
    {"depth_compare": "less"},
    {"depth_compare": "less_or_equal"},
    {"depth_compare": "greater"},
    {"depth_compare": "greater_or_equal"},
    {"depth_compare": "less", "depth_write": False},
    {"depth_compare": "less", "blend": "alpha"},
]
COUNTS = ("fragments_rasterized", "fragments_early_killed", "fragments_shaded")
#: Extents in pixels, and how often: those of one block to those of twenty, whole batches of small ones too.
EXTENTS = ((1.5, 4.0, 10.0), (3.0, 14.0, 30.0), (14.0, 34.0, 64.0, 79.0), (2.0, 8.0, 30.0, 60.0, 75.0, 300.0))


def triangles(rng: np.random.Generator, count: int) -> np.ndarray:
    """Depths that level planes share, and slopes; every eighth a sliver."""
    out = np.zeros((count, 3), VERTEX)
    extent = rng.choice(EXTENTS[int(rng.integers(len(EXTENTS)))], (count, 1, 1))
    corners = rng.uniform(0, 1, (count, 3, 2))
    corners[::8, :, 0] *= 0.02
    xy = rng.uniform(-0.1, 1.0, (count, 1, 2)) * SIZE + corners * extent
    out["position"][..., :2] = xy / SIZE * 2 - 1
    out["position"][..., 2] = rng.integers(1, 8, (count, 1)) / 8 + rng.choice([0.0, 0.02], (count, 1)) * corners[..., 1]
    out["color"] = rng.random((count, 1, 3))
    return out.reshape(-1)


@pytest.fixture(scope="module")
def devices() -> list[tuple[tg.Device, tg.Device]]:
    """Without and with, of the same bins."""
    return [
        (tg.Device(lanes=8, threads=1, bin_px=bin_px), tg.Device(lanes=16, threads=1, bin_px=bin_px))
        for bin_px in (32, 64, 128)
    ]


def draw_pass(device: tg.Device, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    depth_format = ["d32_sfloat", "d16_unorm", "x8_d24_unorm_pack32"][int(rng.integers(3))]
    color, depth = device.image(SIZE, "r8g8b8a8_unorm"), device.image(SIZE, depth_format)
    corner = rng.integers(0, 20, 2)
    area = (*corner.tolist(), *(np.array(SIZE) - corner - rng.integers(0, 20, 2)).tolist())
    found: list[Any] = []
    for load in (False, True):
        first: dict[str, Any] = {"load_op": "load"} if load else {"clear": (0, 0, 0, 1)}
        op: dict[str, Any] = {"load_op": "load"} if load else {"clear": float(rng.choice([1.0, 0.5]))}
        with device.render_pass(
            color=[tg.Attachment(color, **first)],
            depth=tg.Attachment(depth, **op, store_op="store"),
            area=area if load else None,
        ) as rp:
            for _ in range(int(rng.integers(1, 5))):
                state = STATES[int(rng.integers(len(STATES)))]
                pipe = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[color.format], depth=depth_format, **state)
                scissor = (13, 6, 150, 101) if rng.random() < 0.3 else None
                vertices = triangles(rng, int(rng.integers(8, 120)))
                if rng.random() < 0.2:
                    with rp.query() as query:
                        rp.draw(pipe, vertices, scissor=scissor)
                    found.append(query)
                else:
                    rp.draw(pipe, vertices, scissor=scissor)
                if rng.random() < 0.1:
                    rp.clear(depth=0.5, rect=(20, 25, 60, 40))
        found.append([getattr(rp.stats, name) for name in COUNTS])
    found = [q.samples if hasattr(q, "samples") else q for q in found]
    return [*(image.numpy().tobytes() for image in (color, depth)), found]


@given(st.integers(0, 1 << 30))
@settings(max_examples=40, deadline=None)
def test_the_same_as_block_by_block(devices: list[tuple[tg.Device, tg.Device]], seed: int) -> None:
    for without, wide in devices:
        assert draw_pass(wide, seed) == draw_pass(without, seed), seed
