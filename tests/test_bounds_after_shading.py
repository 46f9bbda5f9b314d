"""Depth that is written after shading (alpha tests, masks of samples, the shader's own depth) counts in hierarchical depth, too.

Oracle: devices without hierarchical depth, whose fragments are tested one by one. The same bits, and as many fragments killed, shaded and
discarded but for those between which quads were waiting: a bound hides what each of its fragments' tests would have killed at that moment
(tile/draw_entries.cpp, follows_late_writes).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (200, 150)
DTYPE = np.dtype([("position", "f4", 4), ("uv", "f4", 2), ("color", "f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 color;
layout(location = 0) out vec2 v_uv;
layout(location = 1) out vec4 v_color;
void main() { v_uv = uv; v_color = color; gl_Position = position; }"""
HEAD = """#version 450
layout(location = 0) in vec2 v_uv;
layout(location = 1) in vec4 v_color;
layout(location = 0) out vec4 color;
float hole() { vec2 q = fract(v_uv) - 0.5; return dot(q, q) - 0.04; }
"""
KINDS = {
    "discard": "void main() { if (hole() < 0.0) discard; color = vec4(v_color.rgb, 1.0); }",
    "coverage": "void main() { color = vec4(v_color.rgb, clamp(hole() * 20.0, 0.0, 1.0)); }",
    "mask": "void main() { gl_SampleMask[0] = hole() < 0.0 ? 5 : 15; color = v_color; }",
    "depth": "void main() { if (hole() < 0.0) discard; gl_FragDepth = gl_FragCoord.z + 0.01; color = v_color; }",
    "opaque": "void main() { color = v_color; }",
}
COUNTS = ["rasterized", "early_killed", "shaded", "discarded", "late_killed"]


def cards(rng: np.random.Generator, count: int, depths: np.ndarray, size: float) -> np.ndarray:
    """Quads about the picture, some in perspective, some of them tilted in depth."""
    out = np.zeros((count, 6), DTYPE)
    corners = np.array([(0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)])
    low = rng.uniform(-1.3, 0.6, (count, 1, 2))
    places = low + corners[None] * rng.uniform(0.2 * size, size, (count, 1, 2))
    w = np.where(rng.random((count, 1)) < 0.5, 1.0, 1.0 + 0.5 * corners[None, :, 0])
    tilt = rng.uniform(-0.02, 0.02, (count, 1)) * corners[None, :, 1]
    out["position"][..., :2], out["position"][..., 3] = places * w[..., None], w
    out["position"][..., 2] = np.clip(depths[:, None] + tilt, 0, 1) * w
    out["uv"] = corners * rng.uniform(0.7, 6, (count, 1, 1))
    out["color"] = rng.random((count, 1, 4))
    return out.reshape(-1)


def draw_pass(
    device: tg.Device, seed: int, samples: int, kinds: list[str], near_first: bool = False
) -> tuple[bytes, bytes, Any]:
    rng = np.random.default_rng(seed)
    color, depth = device.image(SIZE, "r8g8b8a8_unorm"), device.image(SIZE, ["d32_sfloat", "d16_unorm"][seed % 2])
    compare = ["less", "less_or_equal", "greater"][0 if near_first else seed % 3]
    with device.render_pass(
        color=[tg.Attachment(color, clear=(0, 0, 0, 1))],
        depth=tg.Attachment(depth, clear=0.0 if compare == "greater" else 1.0),
        samples=samples if samples > 1 else 0,
    ) as rp:
        for kind in kinds:
            pipe = device.pipeline(
                VERT,
                HEAD + KINDS[kind],
                vertex=DTYPE,
                color=[color.format],
                depth=depth.format,
                samples=samples,
                cull="none",
                depth_compare=compare,
                alpha_to_coverage=kind == "coverage",
            )
            count = 60
            depths = rng.uniform(0.05, 0.95, count)
            rp.draw(pipe, cards(rng, count, np.sort(depths) if near_first else depths, 2.0 if near_first else 1.4))
    return color.numpy().tobytes(), depth.numpy().tobytes(), rp.stats


def counts(stats: Any) -> dict[str, int]:
    return {name: getattr(stats, f"fragments_{name}") for name in COUNTS}


@pytest.fixture(scope="module")
def devices() -> dict[tuple[int, bool], tg.Device]:
    return {
        (lanes, bounds): tg.Device(
            lanes=lanes, threads=2, hsr=["visibility_buffer", "hierarchical_z"] if bounds else ["visibility_buffer"]
        )
        for lanes in (4, 8, 16)
        for bounds in (False, True)
    }


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("seed", range(6))
def test_the_same_bits_with_and_without(devices: dict[tuple[int, bool], tg.Device], seed: int, samples: int) -> None:
    """Draws of all kinds, opaque ones between them, on six devices."""
    order = np.random.default_rng(seed).permutation([*KINDS, "discard", "opaque", "coverage"]).tolist()
    found = {key: draw_pass(device, seed, samples, order)[:2] for key, device in devices.items()}
    for key, bits in found.items():
        assert bits == found[4, False], key


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("kind", ["discard", "coverage", "mask"])
def test_the_same_fragments_are_killed(devices: dict[tuple[int, bool], tg.Device], kind: str, samples: int) -> None:
    """Near ones first, many layers: nearly all that early tests kill is known to be hidden before its pixels are asked."""
    for lanes in (4, 8, 16):
        with_bounds = draw_pass(devices[lanes, True], 1, samples, [kind, kind], near_first=True)
        without = draw_pass(devices[lanes, False], 1, samples, [kind, kind], near_first=True)
        assert with_bounds[:2] == without[:2]
        for name, count in counts(without[2]).items():
            assert abs(counts(with_bounds[2])[name] - count) <= 0.01 * without[2].fragments_shaded, name
        assert with_bounds[2].fragments_rasterized == without[2].fragments_rasterized
        assert without[2].fragments_killed_by_hierarchical_z == 0
        killed, hidden = with_bounds[2].fragments_early_killed, with_bounds[2].fragments_killed_by_hierarchical_z
        assert killed > 0.5 * with_bounds[2].fragments_rasterized
        assert hidden > 0.6 * killed, (lanes, hidden / killed)


def test_modelled_processors_keep_their_counts() -> None:
    """There early tests alone move bounds, as documented: what is hidden doesn't depend on when something was shaded."""
    device = tg.Device("desktop-immediate", hsr=["hierarchical_z"])
    stats = draw_pass(device, 1, 1, ["discard", "discard"], near_first=True)[2]
    assert stats.fragments_early_killed > 0
    assert stats.fragments_killed_by_hierarchical_z == 0
