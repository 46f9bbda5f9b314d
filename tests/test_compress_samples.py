"""Samples kept once, blocks kept as lists of primitives (several samples) or held by one (one sample) change no bit: random passes
with and without, every sample of colour and depth.

The passes mix what lists serve (opaque draws with a depth test and write) and what ends them: blending, tests without write, EQUAL,
stencil, clears in the middle, discards, per-sample shading, partial masks; many primitives in one block; planes that cross.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (67, 45)  # no multiple of a tile
VERTEX = np.dtype([("position", "f4", 4), ("color", "f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position;  layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color;   layout(location = 0) out vec4 o_color;
void main() { o_color = v_color; }"""
DISCARD = FRAG.replace("{ o", "{ if (((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) & 1) != 0) discard; o")
SAMPLE = FRAG.replace("{ o_color = v_color", "{ o_color = v_color * (0.5 + 0.03 * float(gl_SampleID))")

# (shader, state): lists serve the first group.
SERVED: list[tuple[str, dict[str, Any]]] = [
    (FRAG, {"depth_compare": "less"}),
    (FRAG, {"depth_compare": "less_or_equal"}),
    (FRAG, {"depth_compare": "greater"}),
    (FRAG, {"depth_compare": "greater_or_equal"}),
    (FRAG, {"depth_compare": "always"}),
    (FRAG, {"depth_compare": "less", "sample_mask": 0x5A5B}),
    (SAMPLE, {"depth_compare": "less"}),
]
OTHERS: list[tuple[str, dict[str, Any]]] = [
    (FRAG, {"depth_compare": "less", "blend": "alpha"}),
    (FRAG, {"depth_compare": "less_or_equal", "depth_write": False}),
    (FRAG, {"depth_compare": "equal"}),
    (FRAG, {"depth_test": False}),
    (FRAG, {"depth_compare": "less", "write_mask": "rb"}),
    (FRAG, {"depth_compare": "less", "alpha_to_coverage": True}),
    (DISCARD, {"depth_compare": "less"}),
    (DISCARD, {"depth_compare": "greater"}),
    (SAMPLE, {"depth_compare": "less", "blend": "alpha"}),
]
FORMATS = [
    ("r8g8b8a8_unorm", "d32_sfloat"), ("r8g8b8a8_srgb", "d16_unorm"), ("r16g16b16a16_sfloat", "x8_d24_unorm_pack32"),
    ("r8g8b8a8_snorm", "d32_sfloat"), ("a2b10g10r10_unorm_pack32", "d16_unorm"), ("r32g32b32a32_sfloat", "d32_sfloat"),
]  # fmt: skip


@pytest.fixture(scope="module")
def devices() -> list[tg.Device]:
    """With, and without; lanes, bins, threads and heaps differ too, since they may not matter either."""
    return [
        tg.Device(lanes=8, threads=1, compress_samples=False),
        tg.Device(lanes=8, threads=2),
        tg.Device(lanes=16, threads=2, bin_px=32),
        tg.Device(lanes=4, threads=1, hsr=["visibility_buffer"]),
        tg.Device(lanes=8, threads=2, tiler_heap=1 << 13),
    ]


def soup(rng: np.random.Generator, count: int, size: float) -> np.ndarray:
    """Triangles of about this size in NDC; some cross, some lie on one another, some are level."""
    center = rng.uniform(-1.1, 1.1, (count, 1, 2))
    corner = center + rng.normal(0, size, (count, 3, 2))
    depth = rng.uniform(0, 1, (count, 1)) + rng.normal(0, 0.2, (count, 3)) * (rng.random((count, 1)) < 0.7)
    out = np.zeros((count, 3), VERTEX)
    out["position"][..., :2] = np.round(corner * 64) / 64 if rng.random() < 0.3 else corner
    out["position"][..., 2] = depth
    out["position"][..., 3] = 1
    out["color"] = rng.uniform(-0.1, 1.1, (count, 1, 4)) + rng.normal(0, 0.1, (count, 3, 4))
    twice = rng.random(count) < 0.1
    out[twice] = out[np.roll(twice, 1)][: twice.sum()] if np.roll(twice, 1).sum() == twice.sum() else out[twice]
    return out.reshape(-1)


def draw_pass(device: tg.Device, seed: int, samples: int, formats: int = len(FORMATS), keep_samples: bool = True) -> list[np.ndarray]:
    """One random pass with one of the first formats; every image it leaves.

    `keep_samples`: all samples of colour are stored, not only what they resolve to.
    """
    rng = np.random.default_rng(seed)
    color_format, depth_format = FORMATS[int(rng.integers(formats))]
    color = device.image(SIZE, color_format, samples=samples)
    resolved = device.image(SIZE, color_format) if samples > 1 else None
    depth = device.image(SIZE, depth_format, samples=samples) if rng.random() < 0.85 else None
    attachments: dict[str, Any] = {
        "color": [
            tg.Attachment(
                color,
                load_op="clear",
                clear=(0.2, -0.3 if color_format.endswith("_sfloat") else 0.3, 0.4, 1.0),
                store_op="store" if keep_samples else "dont_care",
                resolve=resolved,
            )
        ]
    }
    if depth is not None:
        attachments["depth"] = tg.Attachment(
            depth, load_op="clear", clear=float(rng.choice([0.0, 0.5, 1.0])), store_op="store"
        )
    table = SERVED if rng.random() < 0.5 else SERVED + OTHERS
    with device.render_pass(**attachments) as rp:
        for _ in range(int(rng.integers(1, 6))):
            shader, state = table[int(rng.integers(len(table)))]
            if depth is None:
                state = {k: v for k, v in state.items() if not k.startswith("depth")}
            pipe = device.pipeline(
                VERT, shader, vertex=VERTEX, color=[color_format], depth=depth_format if depth is not None else None,
                samples=samples, **state
            )  # fmt: skip
            kind = rng.random()
            count, size = (300, 0.02) if kind < 0.3 else (40, 0.2) if kind < 0.7 else (4, 1.5)
            rp.draw(pipe, soup(rng, count, size))
            if rng.random() < 0.2:
                x, y = (int(v) for v in rng.integers(0, 30, 2))
                if depth is not None and rng.random() < 0.5:
                    rp.clear(depth=0.6, rect=(x, y, 20, 13))
                else:
                    rp.clear((0.9, 0.1, 0.0, 0.5), rect=(x, y, 20, 13))
    out = [image.numpy() for image in (color if keep_samples else None, resolved, depth) if image is not None]
    return [*out, np.array([getattr(rp.stats, name) for name in ("fragments_rasterized", "fragments_early_killed", "fragments_shaded")])]


@pytest.mark.parametrize(("samples", "seed"), [(n, seed) for n in (2, 4, 8, 16) for seed in range(12)] + [(1, n) for n in range(60)])
def test_same_samples(devices: list[tg.Device], seed: int, samples: int) -> None:
    expected = draw_pass(devices[0], 100 * seed + samples, samples)
    for device in devices[1:]:
        got = draw_pass(device, 100 * seed + samples, samples)
        if samples > 1 or device is not devices[1]:  # in draws that discard, what waits depends on lanes and bins
            got[-1] = expected[-1]
        got[-1][1] = expected[-1][1]  # and what is killed early on the order of drawing (near_to_far.hpp)
        for a, b in zip(expected, got, strict=True):
            np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


@pytest.mark.parametrize(("samples", "seed"), [(n, seed) for n in (2, 4, 8, 16) for seed in range(8)])
@pytest.mark.parametrize("formats", [1, len(FORMATS)])
def test_same_resolved(devices: list[tg.Device], formats: int, seed: int, samples: int) -> None:
    """Samples that only the resolve reads are not written out where they are equal; it gives what they would have given."""
    expected = draw_pass(devices[0], 100 * seed + samples, samples, formats)[1:-1]
    for device in devices:
        for a, b in zip(expected, draw_pass(device, 100 * seed + samples, samples, formats, keep_samples=False)[:-1], strict=True):
            np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


def test_nothing_is_lost_with_a_loaded_image(devices: list[tg.Device]) -> None:
    """Colours that were stored with different samples come back, under draws that are equal and draws that are not."""
    results = []
    for device in devices[:2]:
        rng = np.random.default_rng(5)
        color = device.image(SIZE, "r8g8b8a8_unorm", samples=4)
        pipe = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[color.format], samples=4)
        for op in ("clear", "load", "load"):
            clear = (0, 0, 0, 0) if op == "clear" else None
            with device.render_pass(color=[tg.Attachment(color, load_op=op, clear=clear, store_op="store")]) as rp:
                rp.draw(pipe, soup(rng, 30, 0.3))
        results.append(color.numpy())
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("blend", [None, "alpha"])
@pytest.mark.parametrize("samples", [2, 4, 8, 16])
def test_a_history_is_a_chain_of_colours(samples: int, blend: str | None) -> None:
    """What a write finds is what the one before left, or the clear value. Of blocks of which nothing will be left the samples were not
    filled before, and the history told of memory that nobody had written."""
    dev = tg.Device(threads=1)
    image = dev.image((48, 48), "r8g8b8a8_unorm")
    mesh = tg.shapes.sphere(0.8, 32)
    vertex = "#version 450\nlayout(location = 0) in vec3 position; layout(location = 0) out vec3 c;\n"
    vertex += "void main() { gl_Position = vec4(position.xy, position.z * 0.5 + 0.5, 1); c = position * 0.5 + 0.5; }"
    fragment = "#version 450\nlayout(location = 0) in vec3 c; layout(location = 0) out vec4 o; void main() { o = vec4(c, 0.5); }"
    pipe = dev.pipeline(vertex, fragment, vertex=mesh.vertices.dtype, color=[image.format], samples=samples, cull="back", blend=blend)
    clear = (0.2, 0.4, 0.6, 1.0)
    # Noise of other passes is in the tile's memory before.
    for color in ((0.9, 0.1, 0.7, 0.3), clear):
        with dev.render_pass(color=tg.Attachment(image, clear=color), samples=samples) as rp:
            rp.draw(pipe, mesh.vertices, indices=mesh.indices)
    seen = 0
    for x, y in [(24, 24), (17, 30), (9, 20), (40, 24), (25, 10), (31, 31)]:
        before: dict[int, tuple[float, ...]] = {}
        for fragment_ in rp.why(x, y).fragments:
            for step in fragment_.steps:
                if step.step in ("written", "blended"):
                    was, now = step.color[0]
                    assert was == pytest.approx(before.get(fragment_.sample, clear), abs=2e-3), (x, y, fragment_.sample)
                    before[fragment_.sample], seen = now, seen + 1
    assert seen >= 5 * samples
