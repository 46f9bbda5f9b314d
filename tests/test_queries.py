"""Pipeline-statistics and primitives-generated queries: what a query counts is what the pass's own counters say of the same draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COLOR, DEPTH = "r8g8b8a8_unorm", "d32_sfloat"
SIZE = (90, 61)
VERTEX = np.dtype([("position", "f4", 3)])
VERT = "#version 450\nlayout(location = 0) in vec3 position;\nvoid main() { gl_Position = vec4(position, 1); }"
FRAG = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(gl_FragCoord.xy / 90, 0.5, 0.5); }"
DEVICES: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 1, "bin_px": 32, "lanes": 4},
    {"threads": 2, "lanes": 16, "hsr": "all"},
    {"threads": 2, "hsr": "off", "tiler_heap": 1 << 13},
]


def triangles(seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    out = np.zeros((count, 3), VERTEX)
    out["position"][..., :2] = rng.uniform(-1.2, 1.2, (count, 1, 2)) + rng.normal(0, 0.3, (count, 3, 2))
    out["position"][..., 2] = rng.uniform(-0.1, 1.1, (count, 3))
    return out.reshape(-1)


def render(dev: tg.Device, parts: list[np.ndarray], counted: list[int], **state: Any) -> tuple[list[Any], tg.RenderPass]:
    """A draw for each part; of those that are counted, queries."""
    pipe = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[COLOR], depth=DEPTH, depth_compare="less", **state)
    color, depth = dev.image(SIZE, COLOR), dev.image(SIZE, DEPTH)
    queries = []
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1)) as rp:
        for i, part in enumerate(parts):
            if i in counted:
                with rp.statistics() as q:
                    rp.draw(pipe, part)
                queries.append(q)
            else:
                rp.draw(pipe, part)
    return queries, rp


@pytest.mark.parametrize("state", [{}, {"blend": "alpha"}, {"topology": "triangle_strip", "cull": "back"}], ids=str)
def test_queries_add_up_to_what_the_pass_counts(state: dict[str, Any]) -> None:
    parts = [triangles(i, 20 + 30 * i) for i in range(4)]
    first: list[list[int]] = []
    for device in DEVICES:
        queries, rp = render(tg.Device(**device), parts, [0, 1, 2, 3], **state)
        sums = {name: sum(q[name] for q in queries) for name in queries[0].views[0]}
        assert sums["fragment_shader_invocations"] == rp.stats.fragments_shaded
        assert sums["vertex_shader_invocations"] == rp.stats.vertices_shaded + rp.stats.vertices_position_shaded
        assert sums["input_assembly_primitives"] == sums["clipping_invocations"] == rp.stats.primitives_in
        assert rp.stats.primitives_in - rp.stats.primitives_culled <= sums["clipping_primitives"] <= rp.stats.primitives_in
        for part, q in zip(parts, queries, strict=True):
            assert q["input_assembly_vertices"] == len(part)
            generated = len(part) - 2 if state.get("topology") else len(part) // 3
            assert q["input_assembly_primitives"] == q["primitives_generated"] == generated
        fixed = [[q[name] for name in ("input_assembly_vertices", "clipping_primitives", "primitives_generated")] for q in queries]
        first = first or fixed
        assert fixed == first, device


def test_only_what_lies_between_begin_and_end_is_counted() -> None:
    parts = [triangles(9, 40), triangles(10, 25), triangles(11, 60)]
    for device in DEVICES:
        (alone,), _ = render(tg.Device(**device), parts[1:2], [0], blend="alpha")
        (middle,), _ = render(tg.Device(**device), parts, [1], blend="alpha", depth_test=False)
        (without,), _ = render(tg.Device(**device), parts[1:2], [0], blend="alpha", depth_test=False)
        assert middle.views == without.views
        assert middle["vertex_shader_invocations"] == alone["vertex_shader_invocations"]


def test_primitives_are_generated_where_nothing_is_rasterized() -> None:
    (query,), rp = render(tg.Device(), [triangles(1, 12)], [0], rasterizer_discard=True)
    assert query["primitives_generated"] == 12 and query["clipping_invocations"] == 0 and rp.stats.primitives_out == 0


def test_instances_restarts_and_indirect_draws() -> None:
    dev = tg.Device(threads=2)
    pipe = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[COLOR], topology="triangle_strip", primitive_restart=True)
    image = dev.image(SIZE, COLOR)
    data = triangles(3, 8)
    indices = np.array([0, 1, 2, 3, 0xFFFF, 4, 5, 6, 0xFFFF, 7, 8], "u2")
    commands = dev.buffer(np.array([[6, 2, 0, 0], [5, 1, 3, 0]], "u4"))
    plain = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[COLOR])
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
        with rp.statistics() as strips:
            rp.draw(pipe, data, indices=indices, instances=3)
        with rp.statistics() as indirect:
            rp.draw_indirect(plain, commands, vertices=data)
    assert strips["input_assembly_primitives"] == 3 * 3 and strips["input_assembly_vertices"] == 3 * 9
    assert indirect["input_assembly_primitives"] == 2 * 2 + 1 and indirect["input_assembly_vertices"] == 17


def test_views_secondaries_and_captures(tmp_path: Path) -> None:
    dev = tg.Device(threads=2)
    pipe = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[COLOR])
    image = dev.image(SIZE, COLOR, layers=3)
    data = triangles(5, 30)
    with dev.secondary(color=[COLOR], view_mask=0b101) as part, part.statistics() as inside:
        part.draw(pipe, data)
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], view_mask=0b101) as rp:
        with rp.statistics() as q, rp.query() as samples:
            rp.draw(pipe, data[:60])
        rp.execute_commands(part)
    assert [v["primitives_generated"] for v in q.views] == [20, 20] and [v["primitives_generated"] for v in inside.views] == [30, 30]
    assert q.views[0] == q.views[1] and sum(samples.views) > 0
    rp.capture(tmp_path / "a")
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "a")
    replay.run()
    assert np.array_equal(replay.pictures[0], image.numpy(layer=0))
    with pytest.raises(tg.Error, match="is active"), dev.render_pass(color=[image], view_mask=0b101) as rp, rp.statistics():
        rp.execute_commands(part)


def test_results_come_after_the_pass() -> None:
    dev = tg.Device()
    image = dev.image(SIZE, COLOR)
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
        with rp.statistics() as q:
            pass
        with pytest.raises(tg.ValidationError, match="only after"):
            _ = q["primitives_generated"]
    assert set(q.views[0].values()) == {0}
    with pytest.raises(tg.ValidationError, match="is not counted"):
        _ = q["compute_shader_invocations"]


def corners(*rows: tuple[float, float, float]) -> np.ndarray:
    return np.array([(row,) for row in rows], VERTEX)


#: What nothing is drawn of, and whether clipping leaves something of it: the specification, "Pipeline Statistics Queries": one or more if a
#: vertex lies within the clip volume, whose sides belong to it.
UNSEEN: list[tuple[str, dict[str, Any], np.ndarray, int]] = [
    ("a point at the corner", {"topology": "point_list"}, corners((1, 1, 0.5), (1, 1, 1)), 2),
    ("a line along the edge", {"topology": "line_list"}, corners((1, 1, 0.5), (1, -1, 0.5)), 1),
    ("a line of no length", {"topology": "line_list"}, corners((0, 0, 0.5), (0, 0, 0.5)), 1),
    ("culled by its facing", {"cull": "front_and_back"}, corners((-1, -1, 0.5), (1, -1, 0.5), (0, 1, 0.5)), 1),
    ("without an area", {}, corners((-1, -1, 0.5), (0, 0, 0.5), (1, 1, 0.5)), 1),
    ("between samples", {}, corners((0.001, 0, 0.5), (0.002, 0, 0.5), (0.001, 0.001, 0.5)), 1),
    ("beyond the far plane", {}, corners((-1, -1, 1.5), (1, -1, 1.5), (0, 1, 1.5)), 0),
    ("a line before the near plane", {"topology": "line_list"}, corners((-1, 0, -0.5), (1, 0, -0.5)), 0),
    ("a point that is no number", {"topology": "point_list"}, corners((float("nan"), 0, 0.5)), 0),
    ("edges beyond the far plane", {"polygon_mode": "line"}, corners((-1, -1, 1.5), (1, -1, 1.5), (0, 1, 1.5)), 0),
]


@pytest.mark.parametrize("state, vertices, count", [row[1:] for row in UNSEEN], ids=[row[0] for row in UNSEEN])
def test_what_clipping_leaves_counts_whatever_is_seen_of_it(state: dict[str, Any], vertices: np.ndarray, count: int) -> None:
    part = np.concatenate([vertices] * 40)
    for device in DEVICES:
        (query,), _ = render(tg.Device(**device), [part], [0], **state)
        assert query["clipping_primitives"] == 40 * count, device
        assert query["clipping_invocations"] == query["input_assembly_primitives"]


def test_what_clipping_leaves_goes_by_each_primitive_alone() -> None:
    """Beside others that cross planes, whose outcodes are looked at then."""
    rng = np.random.default_rng(5)
    part = triangles(3, 300).reshape(-1, 3)
    part["position"][rng.random(300) < 0.3, :, 2] += 2.0
    part["position"][rng.random(300) < 0.3, :, 0] += 3.0
    kept = int(((part["position"][..., 2] <= 1).any(1) & (part["position"][..., 2] >= 0).any(1)).sum())
    for device in DEVICES:
        (query,), _ = render(tg.Device(**device), [part.reshape(-1)], [0])
        assert query["clipping_primitives"] == kept, device
        halves, _ = render(tg.Device(**device), [part[:150].reshape(-1), part[150:].reshape(-1)], [0, 1])
        assert sum(q["clipping_primitives"] for q in halves) == kept, device


@pytest.mark.parametrize("discard", [False, True])
def test_vertices_that_nothing_comes_of_are_shaded_where_a_query_counts_them(discard: bool) -> None:
    """Of a draw that rasterizes nothing, shaders run only for what they write, what is captured, and what a query counts."""
    for device in DEVICES:
        queries, rp = render(tg.Device(**device), [triangles(0, 20)], [0], rasterizer_discard=discard)
        assert queries[0]["vertex_shader_invocations"] == rp.stats.vertices_shaded + rp.stats.vertices_position_shaded > 0
        assert queries[0]["fragment_shader_invocations"] == rp.stats.fragments_shaded and (rp.stats.fragments_shaded == 0) == discard
        _, without = render(tg.Device(**device), [triangles(0, 20)], [], rasterizer_discard=discard)
        assert (without.stats.vertices_shaded + without.stats.vertices_position_shaded == 0) == discard
