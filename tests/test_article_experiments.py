"""Experiments on sentences of the articles that the machines are made after: each test quotes one, and fails where a profile says other.

Three of them (late-Z, positions, precision) stand here because counters alone can't show them: operations and texels can.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.test_costs import EARLY_DISCARD, FORMAT, FRAG, LATE_DISCARD, VERT, VERTEX, cells, drawn, rect

import tilegpu as tg
from tilegpu.costs import costs_of_command, sum_of
from tilegpu.operations import count

SIZE = (64, 64)
PIXELS = SIZE[0] * SIZE[1]
BOTH = ["pre_pass", "deferred_vertex_shading"]
PRE_PASS = ["immortalis-g925", "mali-g725", "mali-g625"]


# -- Arm: "Hidden Surface Removal in Immortalis-G925: The Fragment Prepass"


@pytest.mark.parametrize("profile", PRE_PASS)
def test_late_z_pays_for_what_comes_before_known_coverage(profile: str) -> None:
    """"This part of the fragment shader will then have to run both in the pre-pass and, for visible samples, in the main-pass": the
    counters of a discard that stands first and of one that stands last are equal; the operations are not, the difference is the loop."""
    layers = [cells(0.9, SIZE), cells(0.3, SIZE)]
    first, last = (drawn(profile, layers, SIZE, BOTH, fragment) for fragment in (EARLY_DISCARD, LATE_DISCARD))
    for name in ("fragments_shaded", "sliced_invocations", "vertices_shaded_in_prepass"):
        assert getattr(first.stats, name) == getattr(last.stats, name) > 0
    assert last.stats.fragments_shaded == PIXELS and last.stats.sliced_invocations == 2 * PIXELS
    spirv = tg.compile_glsl(LATE_DISCARD, "fragment")
    runs = 2 * PIXELS * count(spirv, part="coverage").arithmetic
    assert last.costs().arithmetic["coverage, pre-pass"] == runs and runs > 400 * 2 * PIXELS
    more = last.costs().total("arithmetic") - first.costs().total("arithmetic")
    assert more == runs - 2 * PIXELS * count(tg.compile_glsl(EARLY_DISCARD, "fragment"), part="coverage").arithmetic
    assert last.costs().cycles > 1.5 * first.costs().cycles, "all of it runs three times for each pixel that is seen, not once"


@pytest.mark.parametrize("profile", PRE_PASS)
def test_position_runs_up_to_three_times(profile: str) -> None:
    """"1. Once to determine which tiles are covered", "2. In the fragment pre-pass", "3. In the fragment main-pass ... the full vertex
    shader is run"; of late-Z draws "all of their varyings" in the pre-pass too. What the model runs, by the counters that it goes by."""
    layer = cells(0.5, SIZE)
    n = len(layer)
    found = {}
    for name, hsr, fragment in (("early", BOTH, FRAG), ("late", BOTH, LATE_DISCARD), ("without", BOTH[1:], FRAG)):
        rp = drawn(profile, [layer], SIZE, hsr, fragment)
        s, work = rp.stats, rp.costs().arithmetic
        assert s.vertices_position_shaded == s.vertices_in_tiles == n and s.vertices_shaded == 0
        positions = work["positions, binning"] + work.get("positions, pre-pass", 0)
        whole = work["vertices, tiles"] + work.get("vertices, pre-pass", 0)
        found[name] = (positions / 8, whole / 12, s.vertices_positioned_in_prepass, s.vertices_shaded_in_prepass)
    assert found == {"early": (2 * n, n, n, 0), "late": (n, 2 * n, 0, n), "without": (n, n, 0, 0)}


def targets(masks: list[str]) -> dict[str, Any]:
    outputs = "".join(f"layout(location = {i}) out vec4 o{i};\n" for i in range(5))
    body = " ".join(f"o{i} = v_color;" for i in range(5))
    return {
        "frag": f"#version 450\nlayout(location = 0) in vec4 v_color;\n{outputs}void main() {{ {body} }}",
        "write_mask": masks,
    }


@pytest.mark.parametrize("profile", PRE_PASS)
def test_the_g_buffer_with_a_special_material(profile: str) -> None:
    """"Draw call 0 ... render targets 0, 1, 2, 3 and depth; 1: ... 0, 1, 2, 3, 4; 2: ... 0, 1, 2, 3. This will cause Draw call 2 to be
    considered incompatible"; both ways around it: all write all of them, or the special one last."""
    device = tg.Device(profile)
    images = [device.image(SIZE, FORMAT) for _ in range(5)]
    depth = device.image(SIZE, "d32_sfloat", transient=True)
    made = {}
    for name, masks in (("standard", ["rgba"] * 4 + [""]), ("special", ["rgba"] * 5)):
        what = targets(masks)
        made[name] = device.pipeline(
            VERT, what["frag"], vertex=VERTEX, color=[FORMAT] * 5, depth="d32_sfloat", depth_compare="less", write_mask=masks
        )

    def run(*draws: tuple[str, float]) -> tg.PassStats:
        with device.render_pass(
            color=[tg.Attachment(i, clear=(0, 0, 0, 1)) for i in images], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")
        ) as rp:
            for name, z in draws:
                rp.draw(made[name], rect(0, 0, *SIZE, z, SIZE))
        return rp.stats

    stats = run(("standard", 0.8), ("special", 0.6), ("standard", 0.4))
    assert {(stop["draw"], stop["rule"]) for stop in stats.prepass_stops} == {(2, "1.2")}
    assert stats.fragments_shaded == 2 * PIXELS, "the special one is seen as far as the pre-pass knows, and the last is drawn over it"
    for draws in (
        [("special", 0.8), ("special", 0.6), ("special", 0.4)],
        [("standard", 0.8), ("standard", 0.4), ("special", 0.6)],
    ):
        stats = run(*draws)
        assert stats.prepass_stops == [] or not stats.prepass_stops
        assert stats.fragments_shaded == PIXELS


@pytest.mark.parametrize("profile", PRE_PASS)
def test_primitives_without_colour_are_culled_in_the_main_pass(profile: str) -> None:
    """"It also checks if the primitive outputs color at all. If not - the primitive is culled; it has no further work to do": a depth
    pre-pass of the program's own costs positions in the tiler and in the pre-pass, and nothing of the main pass."""
    device = tg.Device(profile, hsr=BOTH)
    color, depth = device.image(SIZE, FORMAT), device.image(SIZE, "d32_sfloat", transient=True)
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT], "depth": "d32_sfloat"}
    only_depth = device.pipeline(VERT, None, depth_compare="less", **state)
    shaded = device.pipeline(VERT, FRAG, depth_compare="less_or_equal", **state)
    layer = cells(0.5, SIZE)
    n = len(layer)

    def run(*pipelines: tg.Pipeline) -> tg.RenderPass:
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")
        ) as rp:
            for pipeline in pipelines:
                rp.draw(pipeline, layer)
        return rp

    with device.render_pass(
        color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")
    ) as rp:
        rp.draw(only_depth, layer)
        rp.draw(shaded, rect(0, 0, *SIZE, 0.4, SIZE))  # large: nothing of what is seen is shaded in tiles
    work = rp.costs().arithmetic
    assert work["positions, pre-pass"] == 8 * n and "vertices, tiles" not in work
    assert work["positions, binning"] == 8 * (n + 6) and work["varyings, binning"] == (12 - 8) * 6
    alone, both = run(shaded), run(only_depth, shaded)
    assert not both.stats.prepass_stops and both.stats.fragments_shaded == PIXELS
    more = {what: both.costs().arithmetic[what] - value for what, value in alone.costs().arithmetic.items()}
    assert more == {"positions, binning": 8 * n, "positions, pre-pass": 8 * n, "vertices, tiles": 0, "fragments": 0}
    k = both.costs().units["depth tests"] / alone.costs().units["depth tests"]
    assert k == pytest.approx(3 / 2), "tested twice in the pre-pass, and once in the main pass"


@pytest.mark.parametrize("profile", PRE_PASS)
def test_transparent_primitives_are_skipped_and_then_tested_against_later_ones(profile: str) -> None:
    """"For compatible, transparent primitives, it simply skips them"; and in the main-pass "a per-sample test to see if this sample was
    overdrawn by a later primitive, and a ZS test": glass behind what is drawn after it is not shaded, before it it is."""
    device = tg.Device(profile)
    color, depth = device.image(SIZE, FORMAT), device.image(SIZE, "d32_sfloat", transient=True)
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT], "depth": "d32_sfloat", "depth_compare": "less"}
    glass, wall = device.pipeline(VERT, FRAG, blend="alpha", depth_write=False, **state), device.pipeline(VERT, FRAG, **state)

    def shaded(*draws: tuple[tg.Pipeline, float, int]) -> int:
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")
        ) as rp:
            for pipeline, z, width in draws:
                rp.draw(pipeline, rect(0, 0, width, 64, z, SIZE))
        assert not rp.stats.prepass_stops
        return int(rp.stats.fragments_shaded)

    assert shaded((glass, 0.5, 64), (wall, 0.3, 64)) == PIXELS, "overdrawn by a later primitive"
    assert shaded((glass, 0.5, 64), (wall, 0.3, 48)) == PIXELS, "sample by sample: glass is seen beside the wall"
    assert shaded((wall, 0.3, 64), (glass, 0.5, 64)) == PIXELS, "the ZS test"
    assert shaded((wall, 0.5, 64), (glass, 0.3, 64)) == 2 * PIXELS, "in front of all"
    assert shaded((glass, 0.3, 64), (wall, 0.5, 64)) == PIXELS, "the wall replaces what the glass blended: it wrote no depth"


# -- PanVK: "Re-thinking framebuffers in PanVK"


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
def test_opengl_would_get_about_half_the_benefit(samples: int) -> None:
    """"We always have to store the full multisampled result anyway because OpenGL may want it later. However, ... we can still eliminate
    the texture operation required by the resolve and probably get about half the benefit": of 2 N samples that are saved N."""
    device = tg.Device("immortalis-g925")
    moved = {}
    for name, store in (("command", "store"), ("opengl", "store"), ("vulkan", "none")):
        many, one = device.image(SIZE, FORMAT, samples=samples), device.image(SIZE, FORMAT)
        resolve = None if name == "command" else one
        with device.frame(name) as frame:
            with device.render_pass(tg.Attachment(many, clear=(1, 0, 0, 1), store_op=store, resolve=resolve)):
                pass
            if resolve is None:
                device.resolve(many, one)
        moved[name] = (frame.stats.moved_B + frame.stats.commands_B) // (4 * PIXELS)
    assert moved == {"command": 2 * samples + 1, "opengl": samples + 1, "vulkan": 1}
    assert 2 * (moved["command"] - moved["opengl"]) == moved["command"] - moved["vulkan"]


BUSY = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o;
layout(set = 0, binding = 0) uniform sampler2D t;
void main() { o = v_color; for (int i = 0; i < 4; i++) o += texelFetch(t, ivec2(gl_FragCoord.xy) * 2 + ivec2(i & 1, i >> 1), 0); }"""


def resolved_both_ways(profile: str, samples: int, size: tuple[int, int], textured: bool) -> tuple[float, float]:
    """Cycles of a resolve by a command and in the tile; ``textured``: each pixel reads 16 bytes of a layer of its own, in 8 layers."""
    device = tg.Device(profile)
    fragment = BUSY if textured else FRAG
    pipeline = device.pipeline(VERT, fragment, vertex=VERTEX, color=[FORMAT], samples=samples, blend="additive" if textured else None)
    textures = [device.texture(np.zeros((2 * size[1], 2 * size[0], 4), np.uint8)) for _ in range(8 if textured else 1)]
    many, one = device.image(size, FORMAT, samples=samples), device.image(size, FORMAT)
    costs = []
    for resolve, store in ((None, "store"), (one, "none")):
        with device.render_pass(color=[tg.Attachment(many, clear=(0, 0, 0, 1), store_op=store, resolve=resolve)]) as rp:
            for texture in textures:
                rp.draw(pipeline, rect(0, 0, *size, 0.5, size), **({"bind": {"t": texture}} if textured else {}))
        parts = [rp.costs()]
        if resolve is None:
            moved = device.resolve(many, one)
            parts.append(costs_of_command(profile, *moved))
        costs.append(sum_of(parts, "both").cycles)
    return costs[0], costs[1]


@pytest.mark.parametrize("profile", ["immortalis-g925", "mali-g610"])
def test_a_realistic_scene_gains_less_than_twice(profile: str) -> None:
    """"In a more realistic scenario, render target access is likely to only be a few percent of the total memory bandwidth ... A real-world
    speed-up of over 2x would be surprising ... we should still be able to get a noticeable speed-up"; the demo gains nearly 2N + 1."""
    simple_apart, simple_inside = resolved_both_ways(profile, 4, (256, 128), False)
    assert 7 < simple_apart / simple_inside <= 9
    busy_apart, busy_inside = resolved_both_ways(profile, 4, (256, 128), True)
    assert 1.02 < busy_apart / busy_inside < 2


def test_from_2_to_16_samples_costs_little_in_the_tile() -> None:
    """"In this benchmark, the jump from 2x to 16x multisampling only cost 5%": by a command it is six times as much."""
    found = {n: resolved_both_ways("immortalis-g925", n, (256, 128), False) for n in (2, 16)}
    assert 1 <= found[16][1] / found[2][1] < 1.05
    assert found[16][0] / found[2][0] > 5


# -- Mesa: "Low Resolution Z Buffer"


@pytest.mark.parametrize("profile", ["adreno-a630", "adreno-a650", "adreno-a740"])
@pytest.mark.parametrize(
    ("compare", "beside", "passes"),
    [("greater", 1, True), ("greater", -1, False), ("less", -1, True), ("less", 1, False), ("less_or_equal", 1, False)],
)
def test_precision_with_a_buffer_that_takes_part(profile: str, compare: str, beside: int, passes: bool) -> None:
    """"LRZ Precision", its five draws. "In all cases resulting LRZ buffer is all zeroes and LRZ direction is updated." Where the draw
    passes is the exact test's to say: that the buffer was asked shows what lies two of its steps behind, which it rejects."""
    clear = np.float32(2.0**-17)
    z = np.nextafter(clear, np.float32(beside))
    far = float(np.float32(3 / 65536)) if compare != "greater" else 0.0
    device = tg.Device(profile)
    color, depth = device.image(SIZE, FORMAT), device.image(SIZE, "d32_sfloat")
    pipeline = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare=compare)
    with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=float(clear))) as rp:
        for value in (float(z), far):
            vertices = rect(0, 0, *SIZE, 0.5, SIZE)
            vertices["position"][:, 2] = value
            rp.draw(pipeline, vertices)
    assert bool(np.all(color.numpy()[..., 3] > 0)) == passes and bool(np.any(color.numpy()[..., 3] > 0)) == passes
    found = rp.lrz()
    assert not found.buffers["greater" if compare == "greater" else "less"].depth.any()
    rejected = rp.stats.lrz_primitives_rejected_in_binning + rp.stats.lrz_primitives_rejected
    assert (rejected > 0) == (compare != "greater"), "of GREATER nothing is behind a buffer of zeroes"
    assert found.direction == ("greater" if compare == "greater" else "less")
