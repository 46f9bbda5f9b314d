"""Low-resolution Z: the same bits on and off over random scenes, rejections where there should be some, reasons, reuse between passes.

``TILEGPU_FUZZ=N`` draws N times as many random scenes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.low_resolution_z import DIRECTIONS

SIZE = (72, 52)  # ends inside texels and inside bins
SCENES = 14 * int(os.environ.get("TILEGPU_FUZZ", "1"))

VERT = """#version 450
layout(location = 0) in vec4 position;
void main() { gl_Position = position; }"""
HEAD = """#version 450
layout(push_constant) uniform PC { vec4 color; } pc;
layout(location = 0) out vec4 o_color;
"""
TWO = HEAD + "layout(location = 1) out vec4 o_second;\n"
COUNTER = "layout(set = 0, binding = 0) buffer Counter { uint passed; } counter;\n"
EARLY = "layout(early_fragment_tests) in;\n"
BOTH = "o_color = pc.color; o_second = pc.color.bgra;"
DISCARD = "if (((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) & 3) == 1) discard; "
FRAGS: dict[str, str | None] = {
    "plain": TWO + "void main() { " + BOTH + " }",
    "one_target": HEAD + "void main() { o_color = pc.color; }",
    "discard": TWO + "void main() { " + DISCARD + BOTH + " }",
    "early_discard": TWO + EARLY + "void main() { " + DISCARD + BOTH + " }",
    "depth": TWO + "void main() { gl_FragDepth = fract(pc.color.r * 3.0 + gl_FragCoord.x * 0.01); " + BOTH + " }",
    "depth_greater": TWO
    + "layout(depth_greater) out float gl_FragDepth;\nvoid main() { gl_FragDepth = gl_FragCoord.z + 0.1; "
    + BOTH
    + " }",
    "mask": TWO + "void main() { gl_SampleMask[0] = int(gl_FragCoord.x) & 15; " + BOTH + " }",
    "count": TWO + COUNTER + "void main() { atomicAdd(counter.passed, 1u); " + BOTH + " }",
    "count_early": TWO + EARLY + COUNTER + "void main() { atomicAdd(counter.passed, 1u); " + BOTH + " }",
    "none": None,
}  # fmt: skip

STENCIL: list[dict[str, Any]] = [
    {"pass": "increment_and_clamp"},
    {"compare": "equal", "reference": 0},
    {"depth_fail": "invert"},
    {"compare": "never", "fail": "increment_and_wrap"},
]
# What a draw may be. Most are plain, so that there is something to reject and something that rejects.
KINDS: dict[str, dict[str, Any]] = {
    **{f"{op}": {"depth_compare": op} for op in ("less", "less_or_equal", "greater", "greater_or_equal")},
    **{f"{op} read": {"depth_compare": op, "depth_write": False} for op in ("less", "greater", "equal", "always", "never", "not_equal")},
    "equal": {"depth_compare": "equal"},
    "always": {"depth_compare": "always"},
    "not_equal": {"depth_compare": "not_equal"},
    "no test": {"depth_test": False, "depth_write": False},
    "blend": {"depth_compare": "less", "blend": "alpha"},
    "blend read": {"depth_compare": "less", "blend": "alpha", "depth_write": False},
    "masked": {"depth_compare": "less", "write_mask": ["rg", "rgba"]},
    "depth only": {"depth_compare": "less", "frag": "none"},
    "bounds": {"depth_compare": "less", "depth_bounds": (0.3, 0.8)},
    "clamp": {"depth_compare": "less", "depth_clamp": True},
    "bias": {"depth_compare": "less", "depth_bias": (400.0, 0.5)},
    "sample mask": {"depth_compare": "less", "sample_mask": 0b0111},
    "one_target": {"depth_compare": "less", "frag": "one_target"},
    **{f"{f}": {"depth_compare": "less", "frag": f} for f in FRAGS if f not in ("plain", "none", "one_target")},
    "a2c": {"depth_compare": "less", "alpha_to_coverage": True},
    **{f"stencil {i}": {"depth_compare": "less", "stencil_test": s} for i, s in enumerate(STENCIL)},
}  # fmt: skip
PLAIN = ("less", "less_or_equal", "less", "less", "greater", "less read", "discard")
FORMAT = "r8g8b8a8_unorm"

COUNTERS = (
    "lrz_primitives_tested", "lrz_primitives_rejected", "lrz_blocks_rejected", "lrz_primitives_rejected_in_binning", "lrz_feedback_texels",
    "bin_entries", "tiler_heap_B", "splits",
)  # fmt: skip
CONFIGURATIONS: list[dict[str, Any]] = [
    {"profile": "host", "hsr": "off"},
    {"profile": "adreno-a630", "bin_px": 32, "threads": 1},
    {"profile": "adreno-a650", "tiler_heap": 1024, "lanes": 8},
    {"profile": "adreno-a740", "hsr": ("lrz:bidirectional",), "threads": 4},
    {"profile": "host", "hsr": ("visibility_buffer", "hierarchical_z", "lrz"), "bin_px": 128, "lanes": 4},
]


class World:
    """A device with its pipelines, made when they are asked for."""

    def __init__(self, **configuration: Any) -> None:
        self.device = tg.Device(**configuration)
        self.pipelines: dict[tuple[str, int, str], tg.Pipeline] = {}

    def pipeline(self, kind: str, samples: int, depth: str) -> tg.Pipeline:
        key = (kind, samples, depth)
        if key not in self.pipelines:
            state = dict(KINDS[kind])
            frag = FRAGS[state.pop("frag", "plain")]
            self.pipelines[key] = self.device.pipeline(
                VERT, frag, vertex=np.dtype([("position", "f4", 4)]), color=[FORMAT] * 2, depth=depth, stencil=depth,
                samples=samples, label=kind, **state,
            )  # fmt: skip
        return self.pipelines[key]


@pytest.fixture(scope="module")
def worlds() -> Iterator[list[World]]:
    yield [World(**c) for c in CONFIGURATIONS]


def triangles(rng: np.random.Generator) -> np.ndarray:
    """One to four triangles: slanted, big, small, covering everything; some reach out of the depth range."""
    out = np.ones((rng.integers(1, 5), 3, 4), np.float32)
    for t in out:
        if rng.random() < 0.5:
            t[:, :2] = np.array([(-1, -1), (3, -1), (-1, 3)]) + rng.uniform(-0.4, 0.4, 2)
        else:
            t[:, :2] = rng.uniform(-1.2, 1.2, (3, 2)) * rng.choice([0.2, 1.0, 3.0])
        base = rng.choice([rng.uniform(0, 1), rng.integers(0, 9) / 8])
        t[:, 2] = base + rng.choice([0.0, 0.0, 0.3, 1.0]) * rng.uniform(-1, 1, 3)
        t *= rng.uniform(0.5, 2, (3, 1)).astype(np.float32)  # w
    return out.reshape(-1, 4)


def scene(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    kinds = list(KINDS)
    passes = []
    for p in range(int(rng.integers(1, 4))):
        steps: list[tuple[Any, ...]] = []
        odd = rng.random() * 0.5  # share of draws that are not plain
        for _ in range(int(rng.integers(3, 10))):
            if rng.random() < 0.03:
                steps.append(("clear", *rng.choice(["depth", "color", "stencil"], 1), rng.random()))
            kind = str(rng.choice(kinds)) if rng.random() < odd else str(rng.choice(PLAIN[: 3 if odd < 0.3 else None]))
            scissor = (5, 7, 40, 31) if rng.random() < 0.1 else None
            viewport = (0, 0, *SIZE, 0.2, 0.7) if rng.random() < 0.1 else None
            steps.append(("draw", kind, triangles(rng), rng.random(4), scissor, viewport, rng.random() < 0.08))
        load = "clear" if p == 0 else str(rng.choice(["load", "load", "clear"]))
        touched = p > 0 and rng.random() < 0.15
        area = (8, 8, 40, 30) if rng.random() < 0.1 else None
        passes.append((load, float(rng.choice([1.0, 1.0, 0.0, 0.6])), int(rng.random() < 0.2), area, touched, steps))
    depth = str(rng.choice(["d32_sfloat_s8_uint", "d24_unorm_s8_uint"]))
    return {"samples": int(rng.choice([1, 1, 4])), "depth": depth, "passes": passes}


def play(world: World, what: dict[str, Any]) -> tuple[list[np.ndarray], dict[str, int]]:
    """All that may not change, and sums of statistics."""
    dev, samples = world.device, what["samples"]
    color = [dev.image(SIZE, FORMAT, samples=samples) for _ in range(2)]
    depth = dev.image(SIZE, what["depth"], samples=samples, layers=2)
    counter = dev.buffer(np.zeros(2, np.uint32))
    results: list[np.ndarray] = []
    sums = dict.fromkeys(COUNTERS, 0)
    dev.clear(depth, depth=1.0, stencil=0)
    for load, value, layer, area, touched, steps in what["passes"]:
        if touched:
            dev.clear(depth, depth=0.9, stencil=0)
        attachments = [tg.Attachment(c, load, (0, 0, 0, 1) if load == "clear" else None) for c in color]
        z = tg.Attachment(depth, load, value if load == "clear" else None, layer=layer)
        s = tg.Attachment(depth, load, 0 if load == "clear" else None, layer=layer)
        counts = []
        with dev.render_pass(color=attachments, depth=z, stencil=s, area=area) as rp:
            for step in steps:
                if step[0] == "clear":
                    rp.clear(**{step[1]: {"depth": step[2], "stencil": 2, "color": {0: (step[2], 0, 0, 1)}}[step[1]]})
                    continue
                _, kind, vertices, tint, scissor, viewport, query = step
                pipeline = world.pipeline(kind, samples, what["depth"])
                arguments: dict[str, Any] = {"scissor": scissor, "viewport": viewport}
                if KINDS[kind].get("frag") != "none":
                    arguments["push"] = {"color": tint.astype(np.float32)}
                if kind.startswith("count"):
                    arguments["bind"] = {(0, 0): counter}
                if query:
                    with rp.query() as q:
                        rp.draw(pipeline, vertices.view([("position", "f4", 4)])[:, 0], **arguments)
                    counts.append(q)
                else:
                    rp.draw(pipeline, vertices.view([("position", "f4", 4)])[:, 0], **arguments)
        results.append(np.array([q.samples for q in counts]))
        for key in sums:
            sums[key] += getattr(rp.stats, key)
        results += [c.numpy() for c in color]
        results += [depth.numpy(layer=layer, aspect=a) for a in ("depth", "stencil")]
    results.append(counter.numpy(np.uint32))
    return results, sums


@pytest.mark.parametrize("seed", range(SCENES))
def test_same_bits(worlds: list[World], seed: int) -> None:
    what = scene(seed)
    yardstick, _ = play(worlds[0], what)
    for world, configuration in zip(worlds[1:], CONFIGURATIONS[1:], strict=True):
        results, _ = play(world, what)
        for i, (a, b) in enumerate(zip(yardstick, results, strict=True)):
            assert np.array_equal(a.view(np.uint8), b.view(np.uint8)), (
                f"scene {seed}, result {i} differs with {configuration}"
            )


NEAR_KINDS = [k for k in KINDS if k.split()[0] in ("less", "less_or_equal", "greater", "greater_or_equal", "equal", "always", "never",
              "not_equal", "discard")]  # fmt: skip


def near_scene(seed: int) -> dict[str, Any]:
    """Depths that 16 bits can hardly tell from one another, or not at all: a few floats, halves and whole steps of 2^-16 and 1/65535
    apart, around the steps themselves. Under every compare operation, in passes that clear to such a depth, then load it."""
    rng = np.random.default_rng(1000 + seed)
    steps = rng.choice([65535, 65536])
    centre = float(rng.choice([0, 1, rng.integers(1, 200), rng.integers(1, 65535)])) / steps
    apart = rng.choice([2.0**-23, 2.0**-17, 1 / 131070, 1 / 65535, 4 / 65535]) * np.float32(max(centre, 2.0**-6))

    def layer() -> np.ndarray:
        z = np.clip(centre + rng.integers(-3, 4) * apart, 0, 1)
        v = triangles(rng)
        v /= v[:, 3:]
        v[:, 2] = np.clip(z + rng.choice([0, 0, 1]) * rng.uniform(-1, 1, len(v)) * apart, 0, 1)
        return v

    passes = []
    for p in range(3):
        kinds = rng.choice(NEAR_KINDS, 2)  # a direction for most of the pass
        draws = [("draw", str(kinds[int(rng.random() < 0.2)]), layer(), rng.random(4), None, None, False) for _ in range(8)]
        clear = float(np.clip(centre + rng.integers(-3, 4) * apart, 0, 1))
        passes.append(("clear" if p == 0 else str(rng.choice(["load", "load", "clear"])), clear, 0, None, False, draws))
    return {"samples": int(rng.choice([1, 4])), "depth": "d32_sfloat_s8_uint" if seed % 2 else "d24_unorm_s8_uint", "passes": passes}


@pytest.mark.parametrize("seed", range(2 * SCENES))
def test_nothing_is_rejected_that_the_exact_test_would_pass(worlds: list[World], seed: int) -> None:
    """Whatever the direction: a depth is rounded down to 16 bits, and so is what is compared with it."""
    what = near_scene(seed)
    yardstick, _ = play(worlds[0], what)
    sysmem = World(profile="adreno-a650", render_mode="sysmem")
    for world, configuration in zip([*worlds[1:], sysmem], [*CONFIGURATIONS[1:], "in sysmem"], strict=True):
        results, _ = play(world, what)
        for i, (a, b) in enumerate(zip(yardstick, results, strict=True)):
            assert np.array_equal(a.view(np.uint8), b.view(np.uint8)), f"scene {seed}, result {i} differs with {configuration}"


def test_near_scenes_reject_something(worlds: list[World]) -> None:
    for world in worlds[1:]:
        sums = [play(world, near_scene(seed))[1] for seed in range(12)]
        assert sum(s["lrz_primitives_rejected"] + s["lrz_primitives_rejected_in_binning"] for s in sums) > 20
        assert sum(s["lrz_blocks_rejected"] for s in sums) > 20


def test_random_scenes_reject_something(worlds: list[World]) -> None:
    """The property above says nothing if nothing is ever rejected."""
    for world in worlds[1:]:
        sums = [play(world, scene(seed))[1] for seed in range(6)]
        assert sum(s["lrz_primitives_rejected"] for s in sums) > 5
        assert sum(s["lrz_primitives_rejected_in_binning"] for s in sums) > 20
        learnt = sum(s["lrz_feedback_texels"] for s in sums)
        assert learnt == 0 if world is worlds[1] else learnt > 20  # a630 has no feedback
        assert sum(s["lrz_blocks_rejected"] for s in sums) > 20
    assert any(play(worlds[2], scene(seed))[1]["splits"] for seed in range(6))


def layer_of(z: float, slope: float = 0.0) -> np.ndarray:
    return np.array([(-1, -1, z - slope, 1), (3, -1, z + slope, 1), (-1, 3, z, 1)], np.float32).view(
        [("position", "f4", 4)]
    )[:, 0]


def stack(world: World, order: list[float], kind: str = "less", clear: float = 1.0, **options: Any) -> tg.PassStats:
    dev = world.device
    color = [dev.image((128, 128), FORMAT) for _ in range(2)]
    depth = dev.image((128, 128), "d32_sfloat_s8_uint")
    with dev.render_pass(color=[tg.Attachment(c, clear=(0, 0, 0, 0)) for c in color], depth=tg.Attachment(depth, clear=clear),
                         stencil=tg.Attachment(depth, clear=0), **options) as rp:  # fmt: skip
        for z in order:
            rp.draw(world.pipeline(kind, 1, "d32_sfloat_s8_uint"), layer_of(z), push={"color": (z, 0, 0, 1)})
    assert np.all(depth.numpy(aspect="depth") == np.float32(min(order) if "less" in kind else max(order)))
    return rp.stats


@pytest.mark.parametrize("kind", ["less", "less_or_equal", "greater", "greater_or_equal"])
def test_any_order_rejects_the_same(worlds: list[World], kind: str) -> None:
    """Binning sees all draws before anything is rendered: of eight layers in any order only the visible one is rasterized."""
    z = [0.1, 0.3, 0.5, 0.7, 0.2, 0.9, 0.4, 0.6]
    clear = 1.0 if "less" in kind else 0.0
    for world in worlds[1:4]:
        for order in (z, sorted(z), sorted(z, reverse=True)):
            stats = stack(world, order, kind, clear)
            assert stats.fragments_rasterized == 128 * 128
            # Those behind what was drawn before them never reach a bin; those behind what is drawn later are left out there.
            nearer = np.minimum if "less" in kind else np.maximum
            hidden = sum(z != best for z, best in zip(order, nearer.accumulate(order), strict=True))
            tiles = stats.bins
            assert stats.lrz_primitives_rejected_in_binning == hidden * tiles
            assert stats.bin_entries == (8 - hidden) * tiles
            assert stats.lrz_primitives_rejected == (7 - hidden) * stats.lrz_primitives_tested // (8 - hidden)


def test_statistics_do_not_depend_on_threads() -> None:
    what = scene(3)
    sums = [
        play(World(profile="adreno-a740", threads=t, bin_px=32, tiler_heap=h), what)[1]
        for h in (0, 1024)
        for t in (1, 2, 5)
    ]
    assert sums[0] == sums[1] == sums[2] and sums[3] == sums[4] == sums[5]


def test_switches(worlds: list[World]) -> None:
    assert stack(worlds[0], [0.5, 0.2]).lrz_primitives_tested == 0
    assert stack(worlds[0], [0.5, 0.2], hsr=("lrz",)).lrz_primitives_rejected > 0
    assert stack(worlds[1], [0.5, 0.2], hsr="off").lrz_primitives_tested == 0
    for profile in ("adreno-a630", "adreno-a650", "adreno-a740"):
        assert set(tg.Device(profile).hsr) == {"hierarchical_z", "lrz"}  # one direction, and nothing of the host's that keeps fragments
    for profile in ("adreno-a740", "host"):
        assert tg.Device(profile, hsr="lrz:bidirectional").hsr == ("lrz:bidirectional",)
    with pytest.raises(tg.ValidationError, match="'lrz:bidirectional' is there from A7xx on, not on profile adreno-a650"):
        tg.Device("adreno-a650", hsr="lrz:bidirectional")
    with pytest.raises(tg.ValidationError, match="not 'both'"):
        tg.Device("adreno-a740", hsr="lrz:both")


def reuse(world: World, second: dict[str, Any]) -> tuple[tg.PassStats, Any]:
    """A pass with a near layer, then one that loads depth and draws behind it."""
    dev = world.device
    color = [dev.image((128, 128), FORMAT) for _ in range(2)]
    depth = dev.image((128, 128), "d32_sfloat_s8_uint", layers=2)
    dev.clear(depth, depth=1.0, stencil=0)
    kind = second.get("kind", "less")
    for number in range(2):
        if number and second.get("touched"):
            other = dev.image((128, 128), "d32_sfloat_s8_uint", layers=2)
            dev.clear(other, depth=0.25, stencil=0)
            dev.copy(other, depth, aspect="depth")
        clear = number == 0
        z = tg.Attachment(depth, clear=1.0) if clear else tg.Attachment(depth, "load", layer=second.get("layer", 0))
        s = tg.Attachment(depth, clear=0) if clear else tg.Attachment(depth, "load", layer=second.get("layer", 0))
        with dev.render_pass(color=[tg.Attachment(c, clear=(0, 0, 0, 0)) for c in color], depth=z, stencil=s) as rp:
            for depth_of in (0.25,) if clear else (0.5, 0.75):
                pipeline = world.pipeline(kind if clear else "less read", 1, "d32_sfloat_s8_uint")
                rp.draw(pipeline, layer_of(depth_of), push={"color": (1, 1, 1, 1)})
    return rp.stats, rp.explain().rows


def nothing_binned(stats: tg.PassStats) -> bool:
    return stats.bin_entries == stats.lrz_primitives_tested == 0 < stats.lrz_primitives_rejected_in_binning


def test_reuse_between_passes(worlds: list[World]) -> None:
    """From a650 on, for the same view, if nobody else wrote the image."""
    cpu_tracked, rows = reuse(worlds[1], {})
    assert cpu_tracked.lrz_primitives_tested == 0 and "tracked by the CPU" in rows[0]["low_resolution_z_off"]
    for world in worlds[2:4]:
        stats, rows = reuse(world, {})
        assert nothing_binned(stats) and rows[0]["low_resolution_z_off"] == ""
        stats, rows = reuse(world, {"layer": 1})
        assert stats.lrz_primitives_tested == 0 and "the depth view is another one" in rows[0]["low_resolution_z_off"]
        stats, rows = reuse(world, {"touched": True})
        assert stats.lrz_primitives_tested == 0 and "written outside the pass" in rows[0]["low_resolution_z_off"]


def test_feedback(worlds: list[World]) -> None:
    """A draw that discards cannot write while binning; what it left in the tile serves the next pass."""
    dev = worlds[2].device
    stats, _ = reuse(worlds[2], {"kind": "discard"})
    assert stats.lrz_primitives_rejected == stats.lrz_primitives_rejected_in_binning == 0  # holes in every texel: nothing to learn
    frag = TWO + "void main() { if (pc.color.a < 0.0) discard; " + BOTH + " }"  # never does, but nobody knows
    worlds[2].pipelines[("whole", 1, "d32_sfloat_s8_uint")] = dev.pipeline(
        VERT, frag, vertex=np.dtype([("position", "f4", 4)]), color=[FORMAT] * 2, depth="d32_sfloat_s8_uint",
        stencil="d32_sfloat_s8_uint", depth_compare="less", label="whole",
    )  # fmt: skip
    stats, _ = reuse(worlds[2], {"kind": "whole"})
    assert nothing_binned(stats)


REASONS = {
    "no test": "off for the draw: no depth test",
    "equal": "off for the draw: depth compare is EQUAL",
    "never read": "off for the draw: depth compare is NEVER",
    "always read": "off for the draw: depth compare is ALWAYS",
    "always": "invalid until clear: depth compare is ALWAYS, with depth write",
    "not_equal": "invalid until clear: depth compare is NOT_EQUAL, with depth write",
    "greater read": "off for the draw: depth compare has the other direction",
    "greater": "invalid until clear: the direction of depth writes changed",
    "depth": "off for the draw: the fragment shader writes gl_FragDepth",
    "depth_greater": "write off for the draw: the fragment shader may move depth",
    "count": "off for the draw: the fragment shader writes memory",
    "count_early": "write off for the rest of the pass: the fragment shader writes memory for what passes",
    "discard": "write off for the draw: the fragment shader discards",
    "early_discard": "write off for the rest of the pass: writes depth before the shader discards",
    "mask": "write off for the draw: the fragment shader writes gl_SampleMask",
    "blend": "write off for the rest of the pass: writes depth over colour that it does not replace",
    "masked": "write off for the rest of the pass: writes depth over colour that it does not replace",
    "one_target": "write off for the rest of the pass: writes depth over colour that it does not replace",
    "depth only": "write off for the rest of the pass: writes depth and no colour after",
    "bounds": "write off for the rest of the pass: the depth bounds test",
    "stencil 0": "write off for the rest of the pass: what is written to stencil depends",
    "stencil 1": "write off for the rest of the pass: the stencil test may kill",
    "stencil 2": "off for the draw: stencil is written where the depth test fails",
    "less": "",
    "blend read": "",
    "clamp": "",
    "bias": "",
}


def test_explanations(worlds: list[World]) -> None:
    """The draw after an ordinary one: this rule and no other; and what the next ordinary draw gets from it."""
    world = worlds[1]
    dev = world.device
    depth = "d32_sfloat_s8_uint"
    color, z = [dev.image((32, 32), FORMAT) for _ in range(2)], dev.image((32, 32), depth)
    counter = dev.buffer(np.zeros(2, np.uint32))
    for kind, reason in REASONS.items():
        with dev.render_pass(color=[tg.Attachment(c, clear=(0, 0, 0, 0)) for c in color], depth=tg.Attachment(z, clear=1.0),
                             stencil=tg.Attachment(z, clear=0)) as rp:  # fmt: skip
            for k in ("less", kind, "less_or_equal"):
                arguments: dict[str, Any] = {} if k == "depth only" else {"push": {"color": (1, 1, 1, 1)}}
                if k.startswith("count"):
                    arguments["bind"] = {(0, 0): counter}
                rp.draw(world.pipeline(k, 1, depth), layer_of(0.5), **arguments)
        rows = [r["low_resolution_z_off"] for r in rp.explain().rows for _ in range(r["draws"])]
        assert rows[0] == "" and rows[1].startswith(reason) and (reason or not rows[1]), (kind, rows)
        lasting = reason.startswith(("invalid", "write off for the rest")) or kind == "stencil 2"
        assert rows[2].endswith("(draw 1)") == lasting and bool(rows[2]) == lasting, (kind, rows)
    with dev.render_pass(color=[tg.Attachment(c, clear=(0, 0, 0, 0)) for c in color], depth=tg.Attachment(z, clear=1.0),
                         stencil=tg.Attachment(z, clear=0)) as rp:  # fmt: skip
        with rp.query() as query:
            rp.draw(world.pipeline("less", 1, depth), layer_of(0.5), push={"color": (1, 1, 1, 1)})
        rp.draw(world.pipeline("less", 1, depth), layer_of(0.25), push={"color": (1, 1, 1, 1)})
    rows = [r["low_resolution_z_off"] for r in rp.explain().rows]
    assert rows == ["off for the draw: an occlusion query counts what passes",
                    "write off for the rest of the pass: an occlusion query counts what passes (draw 0)"]  # fmt: skip
    assert query.samples == 32 * 32


def test_precision_experiment() -> None:
    """Mesa's lrz.rst, "LRZ Precision": a clear value below the buffer's epsilon; draws one float beside it. "In all cases resulting LRZ
    buffer is all zeroes and LRZ direction is updated." That the buffer takes part shows tests/test_article_experiments.py."""
    clear = np.float32(2.0**-17)
    above, below = np.nextafter(clear, np.float32(1)), np.nextafter(clear, np.float32(0))
    for profile in ("adreno-a630", "adreno-a650", "adreno-a740"):
        world = World(profile=profile)
        dev = world.device
        color, z = [dev.image((16, 16), FORMAT) for _ in range(2)], dev.image((16, 16), "d32_sfloat_s8_uint")
        for kind, value, passes in (("greater", above, True), ("greater", below, False), ("less", below, True),
                                    ("less", above, False), ("less_or_equal", above, False)):  # fmt: skip
            with dev.render_pass(color=[tg.Attachment(c, clear=(0, 0, 0, 0)) for c in color], depth=tg.Attachment(z, clear=float(clear)),
                                 stencil=tg.Attachment(z, clear=0)) as rp:  # fmt: skip
                rp.draw(
                    world.pipeline(kind, 1, "d32_sfloat_s8_uint"), layer_of(float(value)), push={"color": (1, 1, 1, 1)}
                )
            assert np.all(color[0].numpy() == (255 if passes else 0)), (profile, kind, value)
            assert rp.stats.lrz_primitives_rejected == rp.stats.lrz_primitives_rejected_in_binning == 0
            found, direction = rp.lrz(), "greater" if kind == "greater" else "less"
            assert found.direction == direction and [DIRECTIONS[n] for n in found.direction_by_draw] == [direction]
            assert list(found.buffers) == [direction]
            assert not found.buffers[direction].depth.any(), (profile, kind, value)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("clear_inside", [False, True])
def test_layered_passes(worlds: list[World], samples: int, clear_inside: bool) -> None:
    """The buffer is of the first layer, where draws go; clears reach all layers. A later pass on the same first layer goes on with the
    buffer however many layers it has, one on another layer does not."""
    layers = 3
    yardstick: list[np.ndarray] = []
    for world, configuration in zip(worlds, CONFIGURATIONS, strict=True):
        dev = world.device
        color = dev.image((128, 128), FORMAT, samples=samples, layers=layers)
        depth = dev.image((128, 128), "d32_sfloat_s8_uint", samples=samples, layers=layers)
        second = dev.image((128, 128), FORMAT, samples=samples, layers=layers)
        for image in (color, second):
            dev.clear(image, (0.3, 0.3, 0.3, 1))
        dev.clear(depth, depth=0.75, stencil=3)
        pipeline = world.pipeline("less", samples, "d32_sfloat_s8_uint")
        # first layer, layers, load, depths of what is drawn
        passes = [(1, 2, "clear", (0.25, 0.5, 0.6)), (1, 1, "load", (0.375,)), (1, 2, "load", (0.2, 0.3)), (2, 1, "load", (0.8, 0.1))]
        stats, reasons = [], []
        for first, count, load, depths in passes:
            z = tg.Attachment(depth, load, 1.0 if load == "clear" else None, layer=first)
            s = tg.Attachment(depth, load, 0 if load == "clear" else None, layer=first)
            colors = [tg.Attachment(c, load, (0, 0, 0, 1) if load == "clear" else None, layer=first) for c in (color, second)]
            with dev.render_pass(color=colors, depth=z, stencil=s, layers=count) as rp:
                for i, value in enumerate(depths):
                    if clear_inside and i == 1:
                        rp.clear(depth=0.55, rect=(8, 8, 90, 70))
                    rp.draw(pipeline, layer_of(value), push={"color": (value, 0.5, 0, 1)})
            stats.append(rp.stats)
            reasons.append(rp.explain().rows[0]["low_resolution_z_off"])
        images = [i.numpy(layer=k) for i in (color, second) for k in range(layers)]
        images += [depth.numpy(layer=k, aspect=a) for k in range(layers) for a in ("depth", "stencil")]
        if not yardstick:
            yardstick = images
        for i, (a, b) in enumerate(zip(yardstick, images, strict=True)):
            assert np.array_equal(a.view(np.uint8), b.view(np.uint8)), f"image {i} differs with {configuration}"
        if configuration.get("hsr") == "off":
            continue
        if not clear_inside:
            assert stats[0].lrz_primitives_rejected_in_binning > 0
            if configuration["profile"] != "adreno-a630":  # tracked by the CPU: nothing is kept between passes
                assert nothing_binned(stats[1]) and reasons[1] == ""
        assert stats[3].lrz_primitives_tested == 0 and reasons[3]
    # Layers at (20, 20): untouched; the nearest since the last clear; what the last pass drew.
    found = [float(yardstick[2 * layers + 2 * k].reshape(128, 128, -1)[20, 20].max()) for k in range(layers)]
    assert found == [0.75, float(np.float32(0.3 if clear_inside else 0.2)), float(np.float32(0.1))]


CENTRE = """#version 450
layout({layout}) out float gl_FragDepth;
layout(location = 0) out vec4 o_color;
void main() {{ gl_FragDepth = gl_FragCoord.z; o_color = vec4(1); }}"""


@pytest.mark.parametrize("profile", ["host", "adreno-a740"])
@pytest.mark.parametrize("layout", ["depth_unchanged", "depth_greater"])
@pytest.mark.parametrize("state", [{"samples": 4}, {"samples": 2}, {"fragment_shading_rate": (2, 2)}], ids=str)
def test_a_depth_at_the_centre_of_what_covers_less(profile: str, layout: str, state: dict[str, Any]) -> None:
    """A shader that keeps its word: at an edge the fragment's centre lies beyond the triangle, and depth there beyond its vertices'."""
    rng, samples = np.random.default_rng(5), state.get("samples", 1)
    corners = np.concatenate([rng.uniform(-1, 1, (90, 2)), rng.uniform(0, 1, (90, 1)), np.ones((90, 1))], 1).astype(np.float32)
    corners[:, :2] = corners[:, :2] * 0.1 + np.repeat(rng.uniform(-0.8, 0.8, (30, 2)), 3, 0)
    vertices = np.zeros(90, np.dtype([("position", "f4", 4)]))
    vertices["position"] = corners
    seen = []
    for hsr in ("off", ["lrz"]):
        device = tg.Device(profile=profile, hsr=hsr)
        color, depth = device.image(SIZE, "r8g8b8a8_unorm", samples=samples), device.image(SIZE, "d32_sfloat", samples=samples)
        pipe = device.pipeline(
            VERT, CENTRE.format(layout=layout), vertex=vertices.dtype, color=[color.format], depth=depth.format,
            depth_compare="less_or_equal", depth_write=False, **state,
        )  # fmt: skip
        for far in (0.0, 0.3):
            with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=far)) as rp:
                rp.draw(pipe, vertices)
            seen.append(color.numpy())
    assert np.array_equal(seen[0], seen[2]) and np.array_equal(seen[1], seen[3])
    assert len(np.unique(seen[1])) > 1
