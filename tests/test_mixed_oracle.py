"""Whole mixed passes beside an oracle in NumPy: attachments, storage, queries, who is seen; and what `rp.why` and the maps say of them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracle.fragment_ops import StencilFace
from tests.oracle.mixed import Draw, Kind, Result, run

import tilegpu as tg
from tilegpu.cli import main
from tilegpu.history import MAP_COUNTERS, PixelHistory

SIDE_PX = 24
MOST_NUMBERS = 40  # primitives of a scene
DTYPE = np.dtype([("position", "<f4", 3), ("id", "<u4")])
VERT = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in uint id;
layout(location = 0) flat out uint n;
void main() { gl_Position = vec4(position, 1.0); n = id; }"""
INCREMENT = StencilFace(passes="increment_and_wrap")
FAILS = StencilFace(fail="invert", depth_fail="increment_and_wrap", compare="greater", reference=3)
WHERE_TWO = StencilFace(compare="equal", reference=2)
MASKED = StencilFace(passes="replace", compare="not_equal", compare_mask=6, write_mask=5, reference=3)
KINDS = {
    "opaque": Kind(),
    "greater": Kind(compare="greater"),
    "no depth": Kind(compare=None),
    "holes": Kind(holes=True),
    "early holes": Kind(holes=True, early=True),
    "own depth": Kind(own_depth=True),
    "own mask": Kind(own_mask=True),
    "blend": Kind(blend=True, depth_write=False),
    "blend holes": Kind(blend=True, depth_write=False, holes=True),
    "blend and write": Kind(blend=True),
    "blend where two": Kind(blend=True, compare=None, stencil=WHERE_TWO),
    "first target": Kind(masks=("rgba", ""), depth_write=False),
    "second target and depth": Kind(masks=("", "rgba")),
    "channels": Kind(masks=("rb", "ga"), depth_write=False),
    "increment": Kind(stencil=INCREMENT),
    "stencil where it fails": Kind(stencil=FAILS),
    "masked stencil": Kind(stencil=MASKED, compare=None),
    "depth only": Kind(shader=False),
    "counting": Kind(counts=True),
    "counting early": Kind(counts=True, early=True),
    "counting holes": Kind(counts=True, holes=True),
    "counting blend": Kind(counts=True, blend=True, depth_write=False),
    "storing": Kind(stores=True),
    "storing holes": Kind(stores=True, holes=True, depth_write=False),
    "alpha to coverage": Kind(alpha_to_coverage=True),
    "reads": Kind(reads=True, depth_write=False),
}
OPAQUE = ("opaque", "holes", "own depth", "own mask", "increment", "alpha to coverage")
CHOICES: dict[str, Any] = {
    "default": "default",
    "off": "off",
    "all": "all",
    "visibility_buffer": ["visibility_buffer", "hierarchical_z"],
    "pre_pass": ["pre_pass"],
    "forward_pixel_kill": ["forward_pixel_kill"],
    "lrz": ["lrz"],
    "depth_filter": ["depth_filter"],
    "depth_filter as in hardware": ["depth_filter:three_plane@counters/4", "hierarchical_z"],
    "deferred_vertex_shading": ["deferred_vertex_shading"],
}
CLEAR: dict[str, Any] = {"color": (0.25, 0.5, 0.75, 1.0), "code": (51, 102, 153, 204), "depth": 0.625, "stencil": 2}


def fragment_shader(kind: Kind, samples: int) -> str | None:
    if not kind.shader:
        return None
    ms = ("MS", ", 0") if samples > 1 else ("", "")
    lines = ["#version 450", "layout(location = 0) flat in uint n;"]
    if kind.early:
        lines.append("layout(early_fragment_tests) in;")
    lines += ["layout(location = 0) out vec4 o0;", "layout(location = 1) out vec4 o1;"]
    if kind.counts:
        lines.append("layout(set = 0, binding = 0) buffer Count { uint count[]; };")
    if kind.stores:
        lines.append("layout(set = 0, binding = 2) writeonly buffer Store { uint stored[]; };")
    if kind.reads:
        lines.append(f"layout(input_attachment_index = 0, set = 0, binding = 1) uniform subpassInput{ms[0]} old;")
    lines.append("void main() { int x = int(gl_FragCoord.x), y = int(gl_FragCoord.y);")
    if kind.holes:
        lines.append("if ((x * 7 + y * 5 + int(n)) % 3 == 0) discard;")
    if kind.counts:
        lines.append("atomicAdd(count[n], 1u);")
    if kind.stores:
        lines.append(f"stored[n * {SIDE_PX * SIDE_PX}u + uint(y * {SIDE_PX} + x)] = n + 7u;")
    if kind.own_depth:
        lines.append("gl_FragDepth = float((x * 3 + y * 5 + int(n) * 7) % 16) / 16.0;")
    if kind.own_mask:
        lines.append("gl_SampleMask[0] = int(n) * 5 + x + y;")
    lines.append("o0 = vec4(n % 8u, n * 3u % 8u, n * 5u % 8u, 4u) / 8.0;")
    if kind.reads:
        lines.append(f"o0 = o0 * 0.5 + subpassLoad(old{ms[1]}) * 0.5;")
    lines.append("o1 = vec4(n * 37u % 251u, n * 59u % 241u, n * 83u % 239u, 128u + n % 97u) / 255.0; }")
    return "\n".join(lines)


def state_of(kind: Kind) -> dict[str, Any]:
    state: dict[str, Any] = {
        "depth_test": kind.compare is not None,
        "depth_write": kind.depth_write and kind.compare is not None,
        "depth_compare": kind.compare or "always",
        "write_mask": list(kind.masks),
        "alpha_to_coverage": kind.alpha_to_coverage,
    }
    if kind.blend:
        halves = {"src_color": "src_alpha", "dst_color": "one_minus_src_alpha"}
        state["blend"] = [halves, {"src_color": "one", "dst_color": "one"}]
    if kind.stencil is not None:
        face = kind.stencil
        state["stencil_test"] = {
            "fail": face.fail, "pass": face.passes, "depth_fail": face.depth_fail, "compare": face.compare, "reference": face.reference,
            "compare_mask": face.compare_mask, "write_mask": face.write_mask,
        }  # fmt: skip
    return state


BOTH = "d32_sfloat_s8_uint"


class Kit:
    """A device with the pipelines of KINDS."""

    def __init__(self, **device: Any) -> None:
        self.device = tg.Device(**device)
        self._pipelines: dict[tuple[Kind, int], tg.Pipeline] = {}

    def pipeline(self, kind: Kind, samples: int) -> tg.Pipeline:
        key = (kind, samples)
        if key not in self._pipelines:
            self._pipelines[key] = self.device.pipeline(
                VERT, fragment_shader(kind, samples), vertex=DTYPE, color=["r32g32b32a32_sfloat", "r8g8b8a8_unorm"], depth=BOTH,
                stencil=BOTH, samples=samples, label=next(k for k, v in KINDS.items() if v == kind), **state_of(kind),
            )  # fmt: skip
        return self._pipelines[key]

    def draw(
        self, scene: list[Draw], hsr: Any, samples: int, counted: bool = True, clear: dict[str, Any] = CLEAR, **options: Any
    ) -> tuple[dict[str, Any], tg.RenderPass]:
        dev, side = self.device, SIDE_PX
        formats = ("r32g32b32a32_sfloat", "r8g8b8a8_unorm", BOTH)
        images = [dev.image((side, side), f, samples=samples) for f in formats]
        count = dev.buffer(np.zeros(1 << 10, np.uint32), usage="storage")
        marks = dev.buffer(np.zeros(MOST_NUMBERS * side * side, np.uint32), usage="storage")
        queries = []
        with dev.render_pass(
            color=[
                tg.Attachment(images[0], clear=clear["color"]),
                tg.Attachment(images[1], clear=[c / 255 for c in clear["code"]]),
            ],
            depth=tg.Attachment(images[2], clear=clear["depth"]),
            stencil=tg.Attachment(images[2], clear=clear["stencil"]),
            hsr=hsr,
            **options,
        ) as rp:
            for i, draw in enumerate(scene):
                array = np.zeros((len(draw.corners), 3), DTYPE)
                array["position"][..., :2] = draw.corners / side * 2 - 1
                array["position"][..., 2] = draw.depth[:, None]
                array["id"] = draw.numbers[:, None]
                bind = {"Count": count} if draw.kind.counts else {"Store": marks} if draw.kind.stores else None
                pipeline = self.pipeline(draw.kind, samples)
                if counted and i % 3 == 0:  # not everywhere: an active query changes what techniques may do
                    with rp.query() as query:
                        rp.draw(pipeline, array.reshape(-1), bind=bind)
                    queries.append(query)
                else:
                    rp.draw(pipeline, array.reshape(-1), bind=bind)
        pictures = [image.numpy() for image in images] + [images[2].numpy(aspect="stencil")]
        arrays = [picture.reshape(side, side, samples, -1) for picture in pictures]
        return {
            "color": arrays[0], "code": arrays[1], "depth": arrays[2][..., 0], "stencil": arrays[3][..., 0],
            "counts": np.frombuffer(count.numpy().tobytes(), np.uint32),
            "stored": np.frombuffer(marks.numpy().tobytes(), np.uint32), "queries": [q.samples for q in queries],
        }, rp  # fmt: skip


@pytest.fixture(scope="module")
def kit() -> Kit:
    return Kit(lanes=8, threads=2, bin_px=32)


def random_scene(rng: np.random.Generator, kinds: list[str]) -> list[Draw]:
    scene, number = [], 1
    for _ in range(int(rng.integers(2, 10))):
        n = int(rng.integers(1, 5))
        corners = rng.uniform(-4, SIDE_PX + 4, (n, 1, 2)) + rng.uniform(-SIDE_PX, SIDE_PX, (n, 3, 2))
        if rng.random() < 0.3:  # covers everything
            corners[0] = [(-4, -4), (60, -4), (-4, 60)]
        corners = np.round(corners * 16) / 16
        depth = rng.integers(0, 10, n).astype(np.float32) / 16
        scene.append(Draw(KINDS[kinds[int(rng.integers(len(kinds)))]], corners, depth, number + np.arange(n)))
        number += n
    return scene


def check(got: dict[str, Any], expected: Result, what: Any) -> None:
    np.testing.assert_array_equal(got["depth"], expected.depth, err_msg=str(what))
    np.testing.assert_array_equal(got["stencil"], expected.stencil, err_msg=str(what))
    np.testing.assert_array_equal(got["color"], expected.color, err_msg=str(what))
    np.testing.assert_array_equal(got["code"], expected.code, err_msg=str(what))
    counts = np.zeros_like(got["counts"])
    for number, count in expected.counts.items():
        counts[number] = count
    np.testing.assert_array_equal(got["counts"], counts, err_msg=str(what))
    stored = np.zeros((MOST_NUMBERS, SIDE_PX, SIDE_PX), np.uint32)
    for number, x, y in expected.stored:
        stored[number, y, x] = number + 7
    np.testing.assert_array_equal(got["stored"].reshape(stored.shape), stored, err_msg=str(what))
    assert got["queries"] == expected.passed[::3], what


ROUNDS = int(os.environ.get("TILEGPU_MIXED_ROUNDS", "24"))
SEED = int(os.environ.get("TILEGPU_FUZZ_SEED", "0"))  # `make fuzz`: other scenes each time


@pytest.mark.parametrize("samples", [1, 4])
def test_reverse_z_is_the_oracles(kit: Kit, samples: int) -> None:
    # Draws that compare by GREATER come first, so the depth filter's planes look from depth 1; others are among them.
    rng = np.random.default_rng(samples + 20 + 100 * SEED)
    kinds, clear = ["greater"] * len(KINDS) + list(KINDS), {**CLEAR, "depth": 0.0}
    rejected = 0
    for round_ in range(ROUNDS):
        scene = random_scene(rng, kinds)
        scene[0] = replace(scene[0], kind=KINDS["greater"])
        expected = run(scene, SIDE_PX, samples, clear)
        for mode in ("one_plane@10", "two_plane", "three_plane/4", "two_plane_skip@counters"):
            got, rp = kit.draw(scene, [f"depth_filter:{mode}"], samples, clear=clear)
            check(got, expected, (round_, mode, [kit.pipeline(d.kind, samples).label for d in scene]))
            rejected += rp.stats.depth_filter["samples_rejected"]
    assert rejected > 0


@pytest.mark.parametrize("samples", [1, 4])
def test_mixed_scenes_are_the_oracles(kit: Kit, samples: int) -> None:
    rng = np.random.default_rng(samples + 100 * SEED)
    for round_ in range(ROUNDS):
        scene = random_scene(rng, list(KINDS))
        expected = run(scene, SIDE_PX, samples, CLEAR)
        for name, hsr in CHOICES.items():
            got, _ = kit.draw(scene, hsr, samples)
            check(got, expected, (round_, name, [kit.pipeline(d.kind, samples).label for d in scene]))


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("order", ["given", "near first", "far first"])
def test_compatible_draws_shade_what_the_oracle_sees(kit: Kit, samples: int, order: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(max(2, ROUNDS // 6)):
        scene = random_scene(rng, list(OPAQUE))
        if order != "given":
            scene.sort(key=lambda d: float(d.depth.mean()), reverse=order == "far first")
        expected = run(scene, SIDE_PX, samples, CLEAR)
        got, rp = kit.draw(scene, ["pre_pass"], samples)
        check(got, expected, order)
        assert rp.stats.fragments_shaded == expected.visible_pairs


# -- rp.why and the maps ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("name", list(CHOICES))
def test_history_explains_the_pixel(kit: Kit, samples: int, name: str) -> None:
    rng = np.random.default_rng(samples + 10)
    pixels = [(int(x), int(y)) for x, y in rng.integers(0, SIDE_PX, (6, 2))]
    for _ in range(max(3, ROUNDS // 4)):
        scene = random_scene(rng, list(KINDS))
        expected = run(scene, SIDE_PX, samples, CLEAR)
        got, rp = kit.draw(scene, CHOICES[name], samples, trace=pixels)
        check(got, expected, name)
        assert expected.covered is not None
        for x, y in pixels:
            for s in range(samples):
                history = rp.why(x, y, s)
                assert len(history.fragments) == expected.covered[y, x, s], history
                seen = expected.seen[(y * SIDE_PX + x) * samples + s]
                assert sorted((f.draw, f.primitive) for f in history.survivors) == sorted(seen), history
                replay(history, scene, got, (y, x, s))
        for map_name, counter in MAP_COUNTERS.items():
            assert rp.heatmap(map_name).sum() == getattr(rp.stats, counter), map_name
        costs = rp.explain().costs
        for key in ("fragments_rasterized", "fragments_shaded", "sliced_invocations", "fragments_discarded", "fragments_late_killed"):
            assert sum(c[key] for c in costs) == getattr(rp.stats, key), key
        overwritten = [c["fragments_overwritten"] for c in costs]
        assert sum(overwritten) == rp.heatmap("overwritten").sum()
        for cost, count in zip(costs, overwritten, strict=True):
            assert sum(c["fragments"] for c in cost["covered_by"]) == count


def replay(history: PixelHistory, scene: list[Draw], got: dict[str, Any], at: tuple[int, int, int]) -> None:
    """The survivors alone, drawn by the oracle over the whole picture in their order, give the sample's colours; and so do the last
    of the colours that the history shows."""
    if any(scene[f.draw].kind.reads for f in history.survivors):
        return  # what they read may be a sample that is another's
    everywhere = np.array([[(-64, -64), (256, -64), (-64, 256)]], np.float64)
    draws = []
    for f in history.survivors:
        kind = scene[f.draw].kind
        number = scene[f.draw].numbers[f.primitive : f.primitive + 1]
        paints = Kind(compare=None, depth_write=False, blend=kind.blend, masks=kind.masks)
        draws.append(Draw(paints, everywhere, np.zeros(1, np.float32), number))
    result = run(draws, SIDE_PX, 1, CLEAR)
    # Partial masks keep channels of what was overwritten in other attachments only: that is a survivor too.
    np.testing.assert_array_equal(result.color[0, 0, 0], got["color"][at], err_msg=str(history))
    np.testing.assert_array_equal(result.code[0, 0, 0], got["code"][at], err_msg=str(history))
    writes = [step for f in history.survivors for step in f.steps if step.step in ("written", "blended")]
    if writes:
        # Opaque ones may have been written in another order than drawn, but never the last at a sample.
        last = [step for step in writes if all(np.allclose(b, c) for (_, b), c in zip(step.color, colors(got, at), strict=True))]
        assert last, history


def colors(got: dict[str, Any], at: tuple[int, int, int]) -> list[np.ndarray]:
    return [got["color"][at], got["code"][at] / 255]


def test_history_after_the_pass(kit: Kit) -> None:
    """Asked afterwards, the pass is executed again for the tile, and nothing shows that: images, statistics, queries, storage."""
    rng = np.random.default_rng(5)
    kinds = [k for k, v in KINDS.items() if not v.counts and not v.stores]
    for name, hsr in CHOICES.items():
        scene = random_scene(rng, kinds)
        before, traced = kit.draw(scene, hsr, 1, trace=[(3, 4)])
        got, rp = kit.draw(scene, hsr, 1)
        stats = rp.stats.asdict()
        # The position of the depth filter's planes is that of the first run: compare what does not depend on it.
        assert [(f.draw, f.primitive, f.fate) for f in rp.why(3, 4).fragments] == [
            (f.draw, f.primitive, f.fate) for f in traced.why(3, 4).fragments
        ], name
        assert rp.heatmap("shaded").sum() == stats["fragments_shaded"]
        assert rp.heatmap("tile_ms").shape == (SIDE_PX, SIDE_PX)
        assert rp.heatmap("tile_ms").min() >= 0
        assert rp.stats.asdict() == stats
        np.testing.assert_array_equal(before["color"], got["color"])
        again = rp.replay().asdict()
        for key, value in stats.items():
            assert key.endswith("_ms") or key == "depth_filter" or name == "depth_filter" or again[key] == value, (name, key)


def test_what_cannot_be_repeated_says_so(kit: Kit) -> None:
    scene = [Draw(KINDS["counting"], np.array([[(0, 0), (24, 0), (0, 24)]], np.float64), np.zeros(1, np.float32), np.array([1]))]
    _, rp = kit.draw(scene, "default", 1)
    with pytest.raises(tg.Error, match=r"write memory.*trace="):
        rp.why(1, 1)
    assert "what it cost is not known" in str(rp.explain())
    image = kit.device.image((8, 8), "r8g8b8a8_unorm")
    kit.device.clear(image, (0, 0, 0, 0))
    with kit.device.render_pass(color=[tg.Attachment(image, load_op="load")]) as loads:
        pass
    with pytest.raises(tg.Error, match=r"color\[0\] held.*trace="):
        loads.why(1, 1)
    _, rp = kit.draw(scene, "default", 1, trace=(1, 1))
    assert rp.why(1, 1).survivors[0].draw == 0
    with pytest.raises(tg.ValidationError, match="24 x 24"):
        rp.why(24, 0)
    with pytest.raises(tg.ValidationError, match="sample is 1"):
        rp.why(0, 0, 1)
    with pytest.raises(tg.ValidationError, match="rasterized"):
        rp.heatmap("nothing")
    with pytest.raises(tg.ValidationError, match="trace is 7"):
        kit.device.render_pass(color=[image], trace=7)


TECHNIQUE_STEPS = {
    "hierarchical_z": "hierarchical_z",
    "visibility_buffer": "hidden_visibility",
    "pre_pass": "hidden_pre_pass",
    "forward_pixel_kill": "forward_pixel_kill",
    "lrz": "lrz_primitive",
    "off": "overwritten",
}


@pytest.mark.parametrize("name", list(TECHNIQUE_STEPS))
def test_each_technique_names_itself(kit: Kit, name: str) -> None:
    """Far, then near, then far again: what becomes of the first, and of the third."""
    corners = [(-4, -4), (60, -4), (-4, 60)]
    if name == "forward_pixel_kill":  # few enough to wait together
        corners = [(4, 4), (20, 4), (4, 20)]
    depth = np.array([0.5], np.float32)
    scene = [Draw(KINDS["opaque"], np.array([corners], np.float64), depth * k, np.array([i + 1])) for i, k in enumerate((1, 0.5, 1))]
    if name == "hierarchical_z":
        scene = [scene[1], scene[2], scene[0]]
    _, rp = kit.draw(scene, name if name == "off" else [name], 1, counted=False)
    history = rp.why(9, 9)
    first, second, third = history.fragments
    if name == "hierarchical_z":
        assert (first.fate, second.fate, third.fate) == ("written", "hierarchical_z", "hierarchical_z")
        assert second.steps[-1].depth == (0.25, 0.25)
        assert [step.step for step in first.steps] == ["rasterized", "early_pass", "shaded", "written"]
        assert first.steps[1].depth == (0.625, 0.25)
        assert first.steps[2].depth is None
        return
    assert first.fate == TECHNIQUE_STEPS[name]
    assert second.survives
    assert third.fate == ("lrz_primitive" if name == "lrz" else "early_test")
    if name != "lrz":
        assert first.steps[-1].by == (1, 0, 0)
    assert "pixel (9, 9), sample 0: 3 fragments" in str(history)
    costs = rp.explain().costs
    if name == "off":
        assert costs[0]["covered_by"] == [
            {"by_draw": 1, "fragments": 576, "top_primitive": 0, "top_instance": 0, "top_fragments": 576}
        ]
        assert "576 of 1,152" in str(rp.explain())
    elif name != "forward_pixel_kill":
        assert [c["fragments_shaded"] for c in costs] == [0, 576, 0]


def test_stopped_techniques_name_the_draw(kit: Kit) -> None:
    """A draw that is not opaque and writes depth ends the pre-pass; one that is not opaque, and depth only after it, too."""
    whole = np.array([[(-4, -4), (60, -4), (-4, 60)]], np.float64)
    z = np.array([0.25], np.float32)
    scene = [Draw(KINDS[k], whole, z, np.array([i + 1])) for i, k in enumerate(("opaque", "blend", "opaque", "depth only", "opaque"))]
    _, rp = kit.draw(scene, ["pre_pass"], 1)
    states = [t for row in rp.explain().rows for t in row["techniques"] if t["technique"] == "pre_pass"]
    stopped = [t for t in states if t["state"] == "stopped"]
    assert stopped[0]["rule"] == "2"
    assert stopped[0]["by_draw"] == 3
    assert "draw 1" in stopped[0]["reason"]
    assert all(t["by_draw"] == 3 for t in stopped)


def test_instances_indirect_draws_and_clears(kit: Kit) -> None:
    """Draws are numbered in the order of commands, indirect ones by their part; a clear inside the pass is somebody's end, too."""
    dev = kit.device
    vert = """#version 450
layout(location = 0) flat out uint n;
void main() {
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0;
    gl_Position = vec4(at, 0.5 - 0.125 * gl_InstanceIndex, 1.0); n = gl_InstanceIndex;
}"""
    frag = """#version 450
layout(location = 0) flat in uint n; layout(location = 0) out vec4 o; void main() { o = vec4(n + 1u) / 4.0; }"""
    pipe = dev.pipeline(vert, frag, color=["r8g8b8a8_unorm"], depth="d32_sfloat", depth_test=True, label="instances")
    image, depth = dev.image((40, 40), "r8g8b8a8_unorm"), dev.image((40, 40), "d32_sfloat")
    commands = dev.buffer(np.array([[3, 1, 0, 2], [3, 1, 0, 3]], np.uint32), usage="indirect")
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0), hsr="off") as rp:
        rp.draw(pipe, count=3, instances=2)
        rp.clear((0, 0, 0, 1), rect=(0, 0, 20, 40))
        rp.draw_indirect(pipe, commands, draw_count=2)
        rp.draw(pipe, count=3)
    left, right = rp.why(5, 5), rp.why(30, 30)
    assert [(f.draw, f.instance) for f in left.fragments] == [(0, 0), (0, 1), (1, 0), (2, 0), (3, 0)]
    assert [f.fate for f in left.fragments] == ["overwritten", "cleared", "overwritten", "written", "early_test"]
    assert [f.fate for f in right.fragments] == ["overwritten", "overwritten", "overwritten", "written", "early_test"]
    assert left.fragments[0].steps[-1].by == (0, 1, 0)
    assert right.fragments[1].steps[-1].by == (1, 0, 0)
    costs = rp.explain().costs
    assert [c["fragments_overwritten"] for c in costs] == [3200, 1600, 0, 0]
    assert {c["by_draw"]: c["fragments"] for c in costs[0]["covered_by"]} == {0: 1600, -1: 800, 1: 800}
    assert "a clear (800)" in str(rp.explain())


def test_split_pass_is_traced_while_it_runs() -> None:
    """A tiler heap for one chunk: bins come again, and what covers may be of another part."""
    kit = Kit(lanes=16, threads=2, bin_px=32, tiler_heap=1)
    rng = np.random.default_rng(2)
    for _ in range(3):
        scene = random_scene(rng, [k for k in KINDS if k != "alpha to coverage"])
        expected = run(scene, SIDE_PX, 1, CLEAR)
        got, rp = kit.draw(scene, "default", 1, trace=[(11, 12)])
        check(got, expected, "split")
        assert rp.stats.splits
        history = rp.why(11, 12)
        assert sorted((f.draw, f.primitive) for f in history.survivors) == sorted(expected.seen[12 * SIDE_PX + 11])
        for map_name, counter in MAP_COUNTERS.items():
            assert rp.heatmap(map_name).sum() == getattr(rp.stats, counter), map_name
        with pytest.raises(tg.Error, match=r"split.*trace="):
            rp.why(0, 0)
        again = rp.replay()
        assert again.fragments_shaded == rp.heatmap("shaded").sum()


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = ["explain", "heavy_overdraw_512", "--size", "64x64"]
    assert main([*scene, "--pixel", "30,31", "--pixel", "1,1,0"]) == 0
    said = capsys.readouterr().out
    assert "pixel (30, 31), sample 0" in said
    assert "written: (" in said
    assert main([*scene, "--heatmaps", str(tmp_path), "--hsr", "off"]) == 0
    assert "shaded and not seen: " in capsys.readouterr().out
    names = {p.name for p in tmp_path.iterdir()}
    assert {"overdraw.png", "shaded.png", "overwritten.png", "killed_by.png", "tile_time.png"} <= names
    assert main([*scene, "--pixel", "64,0"]) == 2
    assert "64 x 64" in capsys.readouterr().err
    assert main([*scene, "--json", "--pixel", "30,31"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["costs"]) == 100
    assert found["pixels"][0]["fragments"]


def test_indirect_draws_have_their_numbers_in_explanations(kit: Kit) -> None:
    """An indirect draw before the one that ends the pre-pass: numbers are places in the order of commands."""
    dev = kit.device
    vert = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0.5, 1.0); }"""
    frag = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(0.5); }"
    state: dict[str, Any] = {"color": ["r8g8b8a8_unorm"], "depth": "d32_sfloat", "depth_test": True}
    opaque = dev.pipeline(vert, frag, label="opaque", depth_compare="less_or_equal", **state)
    blend = dev.pipeline(vert, frag, label="blend", depth_compare="less_or_equal", blend="alpha", **state)
    other = dev.pipeline(vert, frag, label="other", depth_compare="greater", **state)
    image, depth = dev.image((40, 40), "r8g8b8a8_unorm"), dev.image((40, 40), "d32_sfloat")
    commands = dev.buffer(np.array([[3, 1, 0, 0]] * 3, np.uint32), usage="indirect")
    with dev.render_pass(
        color=[tg.Attachment(image, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0), hsr=["pre_pass", "lrz"]
    ) as rp:
        rp.draw_indirect(opaque, commands, draw_count=3)
        rp.draw(blend, count=3)
        rp.draw(other, count=3)
    rows = rp.explain().rows
    stopped = [t for r in rows for t in r["techniques"] if t["technique"] == "pre_pass" and t["state"] == "stopped"]
    assert {t["by_draw"] for t in stopped} == {3}
    assert {stop["draw"] for stop in rp.stats.prepass_stops} == {3}
    assert not any(f"(draw {n})" in r["low_resolution_z_off"] for r in rows for n in (0, 1))
