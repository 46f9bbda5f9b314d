"""The forward-kill queue keeps what waits, whatever comes between: draws with tests to come, of depth alone, that read the tile, that write
memory. Oracle: the picture, depth, buffer and counts of the same draws without the technique, and the counts of the same machine by any
bins, threads and lanes. Source: Arm, "Killing Pixels" (a quad waits until what is in front of it is known)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (64, 64)
VERTEX = np.dtype([("position", "f4", 4), ("color", "f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec4 color; layout(location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color; }"""
HEAD = "#version 450\nlayout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o;\n"
PLAIN = HEAD + "void main() { o = v_color; }"
FRAGMENTS: dict[str, str | None] = {
    "plain": PLAIN,
    "discard": HEAD + "void main() { if ((int(gl_FragCoord.x) + 3 * int(gl_FragCoord.y)) % 5 == 0) discard; o = v_color; }",
    "depth": HEAD + "void main() { gl_FragDepth = fract(v_color.x * 3.0 + gl_FragCoord.y * 0.013); o = v_color; }",
    "memory": HEAD + """layout(set = 0, binding = 0) buffer B { uint hits[]; };
void main() { atomicAdd(hits[int(gl_FragCoord.x) / 4 + 16 * (int(gl_FragCoord.y) / 4)], 1u); o = v_color; }""",
    "early memory": HEAD.replace("layout(location = 0) in", "layout(early_fragment_tests) in;\nlayout(location = 0) in", 1)
    + """layout(set = 0, binding = 0) buffer B { uint hits[]; };
void main() { atomicAdd(hits[int(gl_FragCoord.x) / 4 + 16 * (int(gl_FragCoord.y) / 4)], 1u); o = v_color; }""",
    "tile": HEAD + """layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput below;
void main() { o = subpassLoad(below).gbra * 0.75 + v_color * 0.25; }""",
    "tile across": HEAD
    + """layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput below;
void main() { o = abs(dFdx(subpassLoad(below))) * 4.0; }""",
    "tile depth": HEAD + """layout(input_attachment_index = 1, set = 0, binding = 0) uniform subpassInput below;
void main() { o = vec4(subpassLoad(below).xxx, 1.0); }""",
    "coverage": HEAD + "void main() { o = v_color * float(gl_SampleMaskIn[0] & 1); }",
    "none": None,
}  # fmt: skip
KILL = ["forward_pixel_kill"]


def rect(
    x0: float, y0: float, x1: float, y1: float, z: float, color: tuple[float, ...] = (0.3, 0.5, 0.7, 1.0)
) -> np.ndarray:
    corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y0), (x1, y1), (x0, y1)]
    out = np.zeros(6, VERTEX)
    out["position"] = [(x / 32 - 1, y / 32 - 1, z, 1) for x, y in corners]
    out["color"] = color
    return out


class Machine:
    def __init__(self, profile: str = "mali-g57", samples: int = 1, depth: str = "d32_sfloat", **options: Any) -> None:
        self.dev = tg.Device(profile, **options)
        self.samples, self.depth = samples, depth
        self.color = self.dev.image(SIZE, "r8g8b8a8_unorm", samples=samples)
        self.z = self.dev.image(SIZE, depth, samples=samples)
        self.hits = self.dev.buffer(np.zeros(256, np.uint32))
        self._pipelines: dict[Any, tg.Pipeline] = {}

    def pipeline(self, kind: str, **state: Any) -> tg.Pipeline:
        key = (kind, tuple(sorted(state.items())))
        if key not in self._pipelines:
            state.setdefault("depth_compare", "less")
            if kind == "tile depth":
                state["input_attachments"] = ("color0", "depth")
            self._pipelines[key] = self.dev.pipeline(
                VERT, FRAGMENTS[kind], vertex=VERTEX, color=["r8g8b8a8_unorm"], depth=self.depth, samples=self.samples, **state
            )  # fmt: skip
        return self._pipelines[key]

    def draw(self, draws: list[tuple[str, np.ndarray, dict[str, Any]]], clear: float = 1.0) -> tg.RenderPass:
        self.hits.write(np.zeros(256, np.uint32))
        with self.dev.render_pass(
            color=[tg.Attachment(self.color, clear=(0, 0, 0, 0))], depth=tg.Attachment(self.z, clear=clear)
        ) as rp:
            for kind, vertices, state in draws:
                rp.draw(self.pipeline(kind, **state), vertices, bind={"B": self.hits} if "memory" in kind else None)
        return rp

    def results(self) -> list[bytes]:
        return [
            self.color.numpy().tobytes(),
            self.z.numpy().tobytes(),
            self.hits.numpy().tobytes(),
        ]


FAR, NEAR = rect(2, 2, 10, 10, 0.9), rect(2, 2, 10, 10, 0.2)


@pytest.mark.parametrize("kind", [k for k in FRAGMENTS if k not in ("plain", "tile depth")])
@pytest.mark.parametrize("profile", ["mali-g57", "mali-g610"])
def test_a_draw_elsewhere_in_the_tile_does_not_empty_the_queue(profile: str, kind: str) -> None:
    """64 far fragments wait, 4 of a draw elsewhere come, 64 near ones kill the 64."""
    machine = Machine(profile)
    stats = machine.draw([("plain", FAR, {}), (kind, rect(12, 12, 14, 14, 0.5), {}), ("plain", NEAR, {})]).stats
    assert stats.fragments_killed_by_fpk == 64
    assert stats.fragments_shaded == (64 if kind == "none" else 68)


@pytest.mark.parametrize("kind", ["discard", "depth", "memory"])
def test_what_is_tested_before_shading_waits_for_what_writes_depth_after(kind: str) -> None:
    """The draw between covers the far one: all in front of it is shaded before the near one is tested."""
    shaded = []
    for hsr in (KILL, "off"):
        stats = (
            Machine(hsr=hsr).draw([("plain", FAR, {}), (kind, rect(2, 2, 10, 10, 0.5), {}), ("plain", NEAR, {})]).stats
        )
        assert stats.fragments_killed_by_fpk == 0
        shaded.append(stats.fragments_shaded)
    assert shaded[0] == shaded[1] > 128


def test_reverse_z_keeps_what_waits() -> None:
    machine = Machine()
    state = {"depth_compare": "greater"}
    far, near, between = (rect(x, x, y, y, z) for x, y, z in ((2, 10, 0.1), (2, 10, 0.8), (12, 14, 0.5)))
    stats = machine.draw([("plain", far, state), ("discard", between, state), ("plain", near, state)], clear=0.0).stats
    assert (stats.fragments_shaded, stats.fragments_killed_by_fpk) == (68, 64)


def test_what_reads_the_tile_keeps_what_it_reads() -> None:
    """The near draw hides one column of a quad, whose neighbours ask by a derivative what lies there."""
    across = ("tile across", rect(2, 2, 10, 10, 0.5), {})
    far = np.concatenate([rect(x, 2, x + 1, 10, 0.9, (x / 16, 0.2, 0.8, 1)) for x in range(2, 10)])
    pictures = []
    for hsr in (["forward_pixel_kill:samples"], "off"):
        machine = Machine(hsr=hsr)
        machine.draw([("plain", far, {}), across, ("plain", rect(2, 2, 5, 10, 0.2), {})])
        pictures.append(machine.results())
    assert pictures[0] == pictures[1]


def any_draws(rng: random.Random, kinds: list[str]) -> list[tuple[str, np.ndarray, dict[str, Any]]]:
    draws = []
    for _ in range(rng.randint(3, 14)):
        compare = rng.choice(["less"] * 6 + ["less_or_equal", "greater", "always", "equal", "not_equal"])
        state: dict[str, Any] = {"depth_compare": compare, "depth_write": rng.random() < 0.8}
        kind = rng.choice(kinds)
        if kind not in ("none", "tile") and rng.random() < 0.2:
            state["blend"] = "alpha"
        shapes = []
        for _ in range(rng.randint(1, 6)):
            x, y = rng.randint(-4, 60), rng.randint(-4, 60)
            color = tuple(rng.random() for _ in range(4))
            shapes.append(
                rect(
                    x,
                    y,
                    x + rng.randint(1, 40),
                    y + rng.randint(1, 40),
                    rng.choice([0.1, 0.3, 0.5, 0.5, 0.7, rng.random()]),
                    color,
                )
            )
        draws.append((kind, np.concatenate(shapes), state))
    return draws


@pytest.mark.parametrize("seed", range(40))
def test_any_draws_give_the_same_with_the_queue_and_without(seed: int) -> None:
    rng = random.Random(seed)
    samples = rng.choice([1, 1, 4])
    depth = rng.choice(["d32_sfloat", "d16_unorm"])
    kinds = ["plain", "plain", "discard", "depth", "memory", "early memory", "coverage", "none"] + (
        ["tile", "tile depth"] if samples == 1 else []
    )
    draws = any_draws(rng, kinds)
    if any(k == "tile depth" for k, _, _ in draws):
        draws = [(k, v, {**s, "depth_write": False} if k == "tile depth" else s) for k, v, s in draws]
    expected: list[bytes] | None = None
    options = (
        "off",
        KILL,
        ["forward_pixel_kill:samples", "hierarchical_z"],
        ["pre_pass", "forward_pixel_kill", "hierarchical_z"],
    )
    for hsr in options:
        machine = Machine("immortalis-g925", samples, depth, hsr=hsr)
        machine.draw(draws)
        expected = expected or machine.results()
        assert machine.results() == expected, hsr


@pytest.mark.parametrize("profile", ["mali-g610", "immortalis-g925"])
@pytest.mark.parametrize("seed", range(100, 112))
def test_counts_are_those_of_the_machine_not_of_lanes_bins_and_threads(seed: int, profile: str) -> None:
    rng = random.Random(seed)
    samples = rng.choice([1, 1, 4])
    draws = any_draws(rng, ["plain", "plain", "discard", "discard", "depth", "memory", "coverage", "none"])
    found = []
    for options in ({"lanes": 8, "threads": 2}, {"lanes": 4, "bin_px": 32, "threads": 1}, {"bin_px": 128}):
        machine = Machine(profile, samples, **options)
        counts = machine.draw(draws).stats.asdict()
        found.append({k: v for k, v in counts.items() if k.startswith("fragments_") or k == "samples_written"})
    assert found[0] == found[1] == found[2]
    assert any(found[0].values())
