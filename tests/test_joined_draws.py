"""Triangles of draws with the same state are covered and tested together (draw_entries in cpp/src/tile/tile_job.cpp): each keeps its
own push constants, order and query, whatever the sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilegpu as tg

SIZE = (100, 70)  # no multiple of a bin
VERTEX = np.dtype([("position", "f4", 3)])
VERT = """#version 450
layout(location = 0) in vec3 position;
void main() { gl_Position = vec4(position, 1); }"""
FRAG = """#version 450
layout(push_constant) uniform P { vec4 color; };
layout(location = 0) out vec4 o_color;
void main() { o_color = color; }"""
STATES: list[dict[str, Any]] = [
    {},
    {"cull": "back"},
    {"depth_compare": "less_or_equal"},
    {"blend": "alpha", "depth_write": False},
]


@pytest.fixture(scope="module")
def devices() -> list[tg.Device]:
    """Every draw by itself; together in several ways."""
    return [
        tg.Device(lanes=8, threads=1, hsr="off"),
        tg.Device(lanes=8, threads=2),
        tg.Device(lanes=16, threads=1, bin_px=32),
        tg.Device(lanes=16, threads=2),
        tg.Device(lanes=4, threads=1, compress_samples=False),
    ]


def triangles(rng: np.random.Generator, count: int) -> np.ndarray:
    """Of pixels, of some blocks, and large ones; depths from few values."""
    out = np.zeros((count, 3), VERTEX)
    size = rng.choice([0.03, 0.2, 1.0], (count, 1, 1))
    out["position"][..., :2] = rng.uniform(-1, 1, (count, 1, 2)) + rng.normal(0, 1, (count, 3, 2)) * size
    out["position"][..., 2] = rng.integers(1, 8, (count, 1)) / 8
    return out.reshape(-1)


def draw_pass(device: tg.Device, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    samples = int(rng.choice([1, 4]))
    out = device.image(SIZE, "r8g8b8a8_unorm")
    color = out if samples == 1 else device.image(SIZE, "r8g8b8a8_unorm", samples=samples, transient=True)
    depth = device.image(SIZE, "d32_sfloat", samples=samples, transient=True)
    resolve: dict[str, Any] = {} if samples == 1 else {"store_op": "dont_care", "resolve": out}
    pipes = [
        device.pipeline(VERT, FRAG, vertex=VERTEX, color=[out.format], depth=depth.format, samples=samples, **state)
        for state in STATES
    ]
    queries = []
    corners = device.buffer(triangles(rng, 240))  # one buffer: nothing but push constants differs between draws
    at = 0
    with device.render_pass(
        color=[tg.Attachment(color, clear=(0, 0, 0, 1), **resolve)],
        depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"),
    ) as rp:
        pipe = pipes[0]
        for _ in range(int(rng.integers(20, 80))):
            if rng.random() < 0.1:
                pipe = pipes[int(rng.integers(len(pipes)))]
            count = int(rng.integers(1, 4))
            part = {"first": 3 * at, "count": 3 * count}
            at += count
            push = {"color": tuple(rng.integers(0, 256, 4) / 255)}
            if rng.random() < 0.1:
                with rp.query() as query:
                    rp.draw(pipe, corners, push=push, **part)
                queries.append(query)
            else:
                rp.draw(pipe, corners, push=push, **part)
    return [out.numpy().tobytes(), [query.samples for query in queries]]


@given(st.integers(0, 1 << 30))
@settings(max_examples=40, deadline=None)
def test_draws_keep_what_is_theirs(devices: list[tg.Device], seed: int) -> None:
    expected = draw_pass(devices[0], seed)
    for device in devices[1:]:
        assert draw_pass(device, seed) == expected, seed
