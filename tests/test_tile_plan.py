"""rp.explain() says which way each draw took through the tile phase (cpp/src/tile/plan/plan.hpp), by what its state asks for."""

import contextlib
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.history import MAP_COUNTERS, ORDER_COUNTS

VERT = """#version 450
layout(push_constant) uniform P { float z; };
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, z, 1.0); }"""
FRAG = """#version 450
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(gl_FragCoord.xy / 64.0, 0.0, 1.0); }"""
DISCARDS = FRAG.replace("o_color =", "if (gl_FragCoord.x < 8.0) discard; o_color =")
WRITES_DEPTH = FRAG.replace("o_color =", "gl_FragDepth = 0.5; o_color =")

#: Ten triangles over the whole view, far to near.
LAYERS = """#version 450
void main() {
  int corner = gl_VertexIndex % 3, layer = gl_VertexIndex / 3;
  gl_Position = vec4(vec2(corner & 1, corner >> 1) * 4.0 - 1.0, float(10 - layer) / 16.0, 1.0);
}"""
SOLID = """#version 450
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(gl_FragCoord.z); }"""

WITH_LRZ = ("visibility_buffer", "hierarchical_z", "lrz")
DEPTH = {"depth_test": True, "depth_write": True, "depth_compare": "less"}


def plan_of(device: tg.Device, frag: str, samples: int = 1, **state: Any) -> str:
    color = device.image((64, 64), "r8g8b8a8_unorm", samples=samples)
    depth = device.image((64, 64), "d32_sfloat", samples=samples)
    pipe = device.pipeline(VERT, frag, color=[color.format], depth=depth.format, samples=samples, **(DEPTH | state))
    with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
        rp.draw(pipe, count=3, push={"z": 0.5})
    (row,) = rp.explain().rows
    assert row["plan"] in str(rp.explain())
    return str(row["plan"])


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("samples", [1, 4])
def test_opaque_draws_go_through_the_visibility_buffer(lanes: int, samples: int) -> None:
    device = tg.Device(lanes=lanes)
    plan = plan_of(device, FRAG, samples)
    assert "; early tests, depth LESS" in plan and "; visibility buffer" in plan
    assert ("into lists of blocks" in plan) == (samples > 1)
    assert ("whole blocks as one primitive, near ones first" in plan) == (samples == 1)
    plain = plan_of(tg.Device(lanes=lanes, compress_samples=False), FRAG, samples)
    assert "visibility buffer" in plain and "lists" not in plain and "one primitive" not in plain


def test_near_ones_first_where_they_are() -> None:
    """Neither in a query, nor with low-resolution Z, nor traced: said as it is counted."""
    for hsr, query, trace, first in (
        ("default", False, False, True),
        ("default", True, False, False),
        ("default", False, "fragments", False),
        (WITH_LRZ, False, False, False),
    ):
        device = tg.Device(hsr=hsr, threads=2, cache_dir="off")
        color, depth = device.image((128, 128), "r8g8b8a8_unorm"), device.image((128, 128), "d32_sfloat")
        pipe = device.pipeline(LAYERS, SOLID, color=[color.format], depth=depth.format, **DEPTH)
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0), trace=trace
        ) as rp:
            if query:
                with rp.query():
                    rp.draw(pipe, count=30)
            else:
                rp.draw(pipe, count=30)
        said = "near ones first" in rp.explain().rows[0]["plan"]
        done = rp.stats.fragments_killed_by_hierarchical_z > 0
        assert said == done == first, (hsr, query, trace)


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("samples", [1, 4])
def test_coverage_of_a_query_and_of_low_resolution_z(lanes: int, samples: int) -> None:
    """Batches go together where nothing is asked of each triangle: a query's lists, and blocks behind low-resolution Z, are not."""

    def coverage(hsr: Any, query: bool, order: tuple[float, ...] = (0.5,)) -> tuple[str, tg.RenderPass]:
        device = tg.Device(hsr=hsr, lanes=lanes, threads=1, cache_dir="off")
        color = device.image((64, 64), "r8g8b8a8_unorm", samples=samples)
        depth = device.image((64, 64), "d32_sfloat", samples=samples)
        pipe = device.pipeline(VERT, FRAG, color=[color.format], depth=depth.format, samples=samples, **DEPTH)
        with (
            device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp,
            rp.query() if query else contextlib.nullcontext(),
        ):
            for z in order:
                rp.draw(pipe, count=3, push={"z": z})
        return str(rp.explain().rows[-1]["plan"]).split(";")[0], rp

    plain, _ = coverage("default", False)
    together = "coverage of a batch together, into lists of blocks" if samples > 1 else "coverage and tests of a batch at once (AVX-512)"
    each = "coverage triangle by triangle"
    assert plain == (together if samples > 1 else plain) and plain in (together, each)
    assert coverage("default", True)[0] == (each if samples > 1 else plain)
    tested, rp = coverage(WITH_LRZ, False, (0.5, 0.25))
    assert rp.stats.lrz_primitives_rejected
    rejects = ", but triangle by triangle where low-resolution Z may reject some"
    assert tested == (plain if plain == each else plain + rejects)
    assert coverage(WITH_LRZ, True, (0.5, 0.25))[0] == (each if samples > 1 else plain)  # a query switches it off


def test_what_order_changes_in_traces() -> None:
    """A traced pass draws in API order: pictures, and all counters but those of history.ORDER_COUNTS, are the same."""
    device = tg.Device(threads=2, cache_dir="off")
    counters, pictures = [], []
    for trace in (False, "fragments"):
        color, depth = device.image((128, 128), "r8g8b8a8_unorm"), device.image((128, 128), "d32_sfloat")
        pipe = device.pipeline(LAYERS, SOLID, color=[color.format], depth=depth.format, **DEPTH)
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0), trace=trace
        ) as rp:
            rp.draw(pipe, count=30)
        counters.append({kind: getattr(rp.stats, name) for kind, name in MAP_COUNTERS.items()})
        pictures.append(color.numpy())
        traced = {kind: int(rp.heatmap(kind).sum()) for kind in MAP_COUNTERS}
        assert trace is False or traced == counters[-1]
    np.testing.assert_array_equal(*pictures)
    differ = {kind for kind in MAP_COUNTERS if counters[0][kind] != counters[1][kind]}
    assert differ and differ <= set(ORDER_COUNTS)


def test_other_states_take_other_ways() -> None:
    device = tg.Device(lanes=8)
    assert "; quad queue" in plan_of(device, FRAG, blend="alpha")
    late = plan_of(device, DISCARDS)
    assert "; early tests without writes, late tests, depth LESS" in late and "epilogue after what the shader decides" in late
    assert "; late tests, depth LESS" in plan_of(device, WRITES_DEPTH)
    assert "; no tests" in plan_of(device, FRAG, depth_test=False, depth_write=False)
    assert "hierarchical Z" not in plan_of(device, FRAG, depth_compare="greater")


def test_without_the_visibility_buffer_quads_wait_in_order() -> None:
    device = tg.Device(hsr="off")
    plan = plan_of(device, FRAG)
    assert "; quad queue" in plan and "visibility" not in plan and "hierarchical" not in plan


def prepass_rows(
    hsr: str | list[str], kinds: list[tuple[str, tuple[int, int, int, int]]]
) -> tuple[list[str], tg.RenderPass]:
    """Plans on a GPU with a pre-pass: in four tiles; of each draw the kind, and where."""
    device = tg.Device(profile="immortalis-g925", lanes=8, threads=2, cache_dir="off", hsr=hsr)
    images = [device.image((128, 128), "r8g8b8a8_unorm") for _ in range(2)]
    depth = device.image((128, 128), "d32_sfloat")
    both = FRAG.replace("void", "layout(location = 1) out vec4 o_other; void").replace(
        "o_color =", "o_other = o_color ="
    )
    tested = DEPTH | {"depth_write": False}
    states: dict[str, tuple[str | None, dict[str, Any]]] = {
        "opaque": (both, DEPTH),
        "discards": (both.replace("o_other =", "if (gl_FragCoord.x < 8.0) discard; o_other ="), DEPTH),
        "blend": (both, tested | {"blend": "alpha"}),
        "blend and write": (both, DEPTH | {"blend": "alpha"}),
        "one target": (FRAG, tested | {"write_mask": ["rgba", ""]}),
        "depth alone": (None, DEPTH),
    }
    pipes = {
        kind: device.pipeline(VERT, frag, color=images, depth=depth.format, label=kind, **state)
        for kind, (frag, state) in states.items()
    }
    with device.render_pass(
        color=[tg.Attachment(image, clear=(0, 0, 0, 0)) for image in images], depth=tg.Attachment(depth, clear=1.0)
    ) as rp:
        for i, (kind, where) in enumerate(kinds):
            rp.draw(pipes[kind], count=3, push={"z": 0.5 - i / 16}, scissor=where)
    rows = rp.explain().rows
    assert [row["draws"] for row in rows] == [1] * len(kinds)
    assert all(row["plan"] in str(rp.explain()) for row in rows)
    return [str(row["plan"]) for row in rows], rp


def test_what_the_pre_pass_took() -> None:
    """Its way there and in the main pass; the ordinary one where it was not taken."""
    whole, corner = (0, 0, 128, 128), (0, 0, 64, 64)
    plans, rp = prepass_rows(
        "default",
        [
            ("opaque", whole),
            ("blend", whole),
            ("discards", whole),
            ("blend and write", corner),
            ("opaque", whole),
            ("blend", whole),
        ],
    )
    assert rp.stats.prepass_tiles == 4 and rp.stats.fragments_killed_by_prepass > 0
    each = "coverage triangle by triangle; "
    tests = "early tests, depth LESS, hierarchical Z"
    opaque = (
        f"pre-pass: {each}{tests}; ids of what is seen are kept | main pass: from the ids, each sample once; shaded by "
    )
    assert plans[0].startswith(opaque) and plans[0].endswith("; epilogue in the same code") and plans[0].count("|") == 1
    blend = f"pre-pass: skipped | main pass: {each}{tests}; quad queue, without what newer primitives hide; shaded by "
    assert plans[1].startswith(blend) and plans[1].count("|") == 1
    assert plans[2].startswith(
        f"pre-pass: {each}early tests without writes, late tests, depth LESS, hierarchical Z, each primitive shaded before the next; "
        "shaded as far as coverage; ids of what is seen are kept | main pass: from the ids, each sample once; shaded by quads; "
        "epilogue after what the shader decides"
    )
    assert plans[3].startswith(f"{each}{tests}; quad queue, forward pixel kill; ")  # no tile takes it
    elsewhere = f" | in tiles whose pre-pass ended before: {each}{tests}; quad queue, forward pixel kill; shaded by "
    assert plans[4].startswith(opaque) and elsewhere in plans[4]
    assert plans[5].startswith(blend) and elsewhere in plans[5]


def test_what_the_pre_pass_took_depends_on_the_tile() -> None:
    whole, corner = (0, 0, 128, 128), (0, 0, 64, 64)
    plans, rp = prepass_rows("default", [("opaque", corner), ("one target", whole), ("depth alone", whole)])
    assert rp.stats.prepass_tiles == 4
    assert (
        plans[1].count("pre-pass: ") == 2
        and "| where draws before it wrote attachments that it leaves alone: pre-pass: skipped |" in plans[1]
    )
    assert (
        plans[2].startswith("pre-pass: coverage")
        and "| main pass: nothing is shaded | in tiles whose pre-pass ended before: " in plans[2]
    )
    plans, _ = prepass_rows("default", [("depth alone", whole), ("one target", whole)])
    assert plans[0].endswith("| main pass: nothing is shaded") and plans[1].count("pre-pass: ") == 1


def test_without_a_pre_pass_there_is_one_way() -> None:
    whole = (0, 0, 128, 128)
    plans, rp = prepass_rows(["hierarchical_z", "forward_pixel_kill"], [("opaque", whole), ("blend", whole)])
    assert rp.stats.prepass_tiles == 0
    for plan in plans:
        assert plan.startswith(
            "coverage triangle by triangle; early tests, depth LESS, hierarchical Z; quad queue, forward pixel kill; "
        )
        assert "|" not in plan and "pass" not in plan


def test_dynamic_state_that_leads_another_way_is_a_row_of_its_own() -> None:
    device = tg.Device(cache_dir="off")
    out, depth = device.image((64, 64), "r8g8b8a8_unorm"), device.image((64, 64), "d32_sfloat")
    dynamic = ["depth_compare_op", "depth_bounds_test_enable", "depth_bounds", "stencil_reference"]
    pipe = device.pipeline(VERT, FRAG, color=[out.format], depth=depth.format, dynamic=dynamic, **DEPTH)
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
        rp.set(depth_compare_op="less", depth_bounds_test_enable=False, depth_bounds=(0, 1), stencil_reference=0)
        rp.draw(pipe, count=3, push={"z": 0.5})
        rp.set(stencil_reference=1)  # no row says it
        rp.draw(pipe, count=3, push={"z": 0.5})
        rp.set(depth_compare_op="always")
        rp.draw(pipe, count=3, push={"z": 0.5})
        rp.set(depth_compare_op="greater", depth_bounds_test_enable=True)
        rp.draw(pipe, count=3, push={"z": 0.5})
    rows = rp.explain().rows
    assert [(row["first_draw"], row["draws"]) for row in rows] == [(0, 2), (2, 1), (3, 1)]
    assert [text in row["plan"] for row, text in zip(rows, ("depth LESS", "depth ALWAYS", "depth GREATER"), strict=True)] == [True] * 3


def test_plans_that_are_kept_are_those_of_the_state() -> None:
    """Twenty states in turn, more than a worker keeps plans of: one pass of all draws has the bits of a pass for each draw."""
    device, rng = tg.Device(threads=2), np.random.default_rng(5)
    compares, blends = ("less", "less_or_equal", "greater", "always", "equal"), (None, "alpha", "additive", "premultiplied")
    vert = """#version 450
        layout(push_constant) uniform P { vec4 place; vec4 color; };
        void main() {
            vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
            gl_Position = vec4(place.xy + place.w * corner, place.z, 1);
        }"""
    frag = """#version 450
        layout(push_constant) uniform P { vec4 place; vec4 color; };
        layout(location = 0) out vec4 o;
        void main() { o = color; }"""
    pipes = [
        device.pipeline(vert, frag, color=["r8g8b8a8_unorm"], depth="d32_sfloat", depth_compare=c, blend=b, depth_write=i % 2 == 0)
        for i, c in enumerate(compares)
        for b in blends
    ]
    draws = [
        (int(p), {"place": (*rng.uniform(-1, 1, 2), rng.choice([0.2, 0.5, 0.8]), rng.uniform(0.05, 0.6)), "color": tuple(rng.random(4))})
        for p in rng.integers(0, len(pipes), 160)
    ]
    pictures = []
    for at_once in (len(draws), 1):
        color, depth = device.image((96, 96), "r8g8b8a8_unorm"), device.image((96, 96), "d32_sfloat")
        for first in range(0, len(draws), at_once):
            clears = {"color": (0.1, 0.2, 0.3, 1), "depth": 0.6} if first == 0 else {"color": None, "depth": None}
            with device.render_pass(
                color=[tg.Attachment(color, clear=clears["color"])], depth=tg.Attachment(depth, clear=clears["depth"])
            ) as rp:
                for p, push in draws[first : first + at_once]:
                    rp.draw(pipes[p], count=3, push=push)
        pictures.append((color.numpy().copy(), depth.numpy().copy()))
    assert np.array_equal(pictures[0][0], pictures[1][0]) and np.array_equal(pictures[0][1], pictures[1][1])
    assert len(np.unique(pictures[0][0].reshape(-1, 4), axis=0)) > 50  # something was drawn


def test_whole_blocks_wait_as_quads_where_quads_are_looked_at() -> None:
    """By forward pixel kill, and by the main pass of a pre-pass for draws that it draws again."""
    for hsr, way in (([], "shaded by blocks; epilogue in the same code"), (["forward_pixel_kill"], "shaded by quads; epilogue")):
        plan = plan_of(tg.Device(hsr=hsr, lanes=8, cache_dir="off"), FRAG, blend="alpha")
        assert plan.endswith("; " + way), plan
    plans, _ = prepass_rows("default", [("opaque", (0, 0, 64, 64)), ("blend", (0, 0, 64, 64))])
    assert plans[1].endswith("; shaded by quads; epilogue"), plans[1]
    assert plans[0].endswith("; shaded by blocks; epilogue in the same code"), plans[0]


def test_what_lies_above_the_visibility_buffer() -> None:
    """An opaque draw that can't go there takes out of it what it hides."""
    device = tg.Device(lanes=8, cache_dir="off")
    color = device.image((64, 64), "r8g8b8a8_unorm")
    helper = FRAG.replace("0.0, 1.0)", "gl_HelperInvocation ? 1.0 : 0.5, 1.0)")
    below, above = (device.pipeline(VERT, frag, color=[color.format], label=frag[:4]) for frag in (FRAG, helper))
    with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))]) as rp:
        for pipe in (above, below, above, above):
            rp.draw(pipe, count=3, push={"z": 0.5})
    rows = [(row["draws"], row["plan"]) for row in rp.explain().rows]
    direct = "; quad queue; shaded by quads; epilogue"
    assert [draws for draws, _ in rows] == [1, 1, 2]
    assert rows[0][1].endswith(direct) and "; visibility buffer" in rows[1][1]
    assert rows[2][1].endswith(
        direct
        + "; where the visibility buffer waits below, by quads, which take what they hide out of it before the epilogue"
    )
    assert (color.numpy()[..., 2] == 128).all()


def test_a_split_pass_has_a_way_for_each_part() -> None:
    triangles = 40_000
    vert = """#version 450
    void main() {
      int t = gl_VertexIndex / 3, corner = gl_VertexIndex % 3;
      gl_Position = vec4(vec2(t % 200, t / 200) / 100.0 - 1.0 + vec2(corner & 1, corner >> 1) * 0.02, 0.5, 1.0);
    }"""
    plans = []
    for heap_B in (0, 1_200_000):
        device = tg.Device(lanes=8, threads=1, cache_dir="off", tiler_heap=heap_B)
        color = device.image((256, 256), "r8g8b8a8_unorm", samples=4)
        depth = device.image((256, 256), "d32_sfloat", samples=4)
        pipe = device.pipeline(vert, SOLID, color=[color.format], depth=depth.format, samples=4, **DEPTH)
        with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
            rp.draw(pipe, count=3 * triangles)
        assert (rp.stats.splits > 0) == (heap_B > 0)
        plans.append(str(rp.explain().rows[0]["plan"]))
    whole, split = plans
    assert "blocks as lists" in whole or "into lists of blocks" in whole
    assert split.startswith("until the first split: " + whole + " | ") and "lists" not in split.split(" | ")[-1]
