"""Deferred vertex shading: the same bits with it as without, exact counts of what it saves and spends, and a reason wherever it is off.

``TILEGPU_FUZZ=N`` draws N times as many random scenes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tilegpu as tg

#: Random scenes, and states that nothing asks for, are the matter of this file.
pytestmark = pytest.mark.filterwarnings("ignore::tilegpu.LostPrimitivesWarning")

SIDE_PX = 72  # ends inside bins
FORMAT = "r8g8b8a8_unorm"
BATCH = 32  # vertices for which the geometry phase keeps room
INSTANCE = np.dtype([("shift", "f4", 2), ("shade", "f4")])
VERTEX = np.dtype([("position", "f4", 4), ("tint", "f4", 3)])
PASS = "deferred_vertex_shading"

VERT = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec3 tint;
layout(location = 2) in vec2 shift; layout(location = 3) in float shade;
layout(location = 0) out vec3 v_smooth; layout(location = 1) noperspective out vec3 v_linear; layout(location = 2) flat out uvec2 v_id;
layout(set = 0, binding = 0) uniform Turn { mat4 turn; };
layout(set = 0, binding = 1) uniform sampler2D noise;
layout(push_constant) uniform PC { vec4 color; } pc;
out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[1]; float gl_CullDistance[1]; };
void main() {
  vec4 p = turn * position;
  p.xy += shift * p.w;
  for (int i = 0; i < gl_VertexIndex % 3; i++) p.z += 0.001 * p.w;
  gl_Position = p;
  gl_ClipDistance[0] = pc.color.a > 0.5 ? p.x + 0.6 * p.w : 1.0;
  gl_CullDistance[0] = pc.color.a > 0.7 ? p.y + 0.8 * p.w : 1.0;
  v_smooth = sin(tint * 5.0 + shade) + pc.color.rgb;
  v_linear = textureLod(noise, tint.xy + shade, 0.0).rgb * tint.z;
  for (int i = 0; i < int(tint.x * 6.0); i++) v_linear = fract(v_linear * 1.7 + v_smooth);
  v_id = uvec2(gl_VertexIndex, gl_InstanceIndex);
}"""
IN = """#version 450
layout(location = 0) in vec3 v_smooth; layout(location = 1) noperspective in vec3 v_linear; layout(location = 2) flat in uvec2 v_id;
layout(location = 0) out vec4 o0;
"""
PAINT = "o0 = vec4(fract(v_smooth + v_linear), float((v_id.x * 7u + v_id.y * 3u) % 31u) / 31.0); "
DISCARD = "if (fract(v_smooth.x * 9.0) > 0.6) discard; "
#: name: fragment shader, state
KINDS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "plain": (IN + "void main() { " + PAINT + "}", {}),
    "cull": (IN + "void main() { " + PAINT + "}", {"cull": "back"}),
    "discard": (IN + "void main() { " + DISCARD + PAINT + "}", {}),
    "blend": (IN + "void main() { " + PAINT + "}", {"blend": "alpha", "depth_write": False}),
    "depth": (IN + "void main() { gl_FragDepth = fract(v_linear.y); " + PAINT + "}", {}),
    "clip": (IN + "in float gl_ClipDistance[1]; void main() { " + PAINT + "o0.b = gl_ClipDistance[0]; }", {}),
    "face": (IN + "void main() { " + PAINT + "o0.r = gl_FrontFacing ? 1.0 : float(gl_PrimitiveID % 7) / 7.0; }", {}),
    "last": (IN + "void main() { " + PAINT + "}", {"provoking_vertex": "last", "depth_bias": (3.0, 1.5)}),
    "lines": (IN + "void main() { " + PAINT + "}", {"polygon_mode": "line"}),
    "late": (IN + "void main() { " + PAINT + "}", {"depth_compare": "always"}),
    "depth only": (None, {}),
    "reads nothing": ("#version 450\nlayout(location = 0) out vec4 o0;\nvoid main() { o0 = vec4(fract(gl_FragCoord.xyz * 0.37), 1); }", {}),
}  # fmt: skip
TOPOLOGIES = ("triangle_list", "triangle_strip", "triangle_fan", "line_strip", "point_list")
OTHERS = ["visibility_buffer", "hierarchical_z", "pre_pass", "forward_pixel_kill", "lrz", "depth_filter"]
CHOICES: list[Any] = [
    [PASS], "all", [PASS, *OTHERS[:1]], [PASS, *OTHERS[:2]], [PASS, "pre_pass"], [PASS, "forward_pixel_kill"], [PASS, "lrz"],
    [PASS, "depth_filter:three_plane", "hierarchical_z"], [PASS, "pre_pass", "forward_pixel_kill", "lrz"], [PASS, *OTHERS[:1], "lrz"],
]  # fmt: skip
#: What a technique is combined with; devices are made once.
CONFIGURATIONS: list[dict[str, Any]] = [
    {"lanes": 8, "threads": 2, "bin_px": 32},
    {"lanes": 4, "threads": 1},
    {"lanes": 16, "threads": 4, "bin_px": 32, "vertex_batch": 7},
    {"lanes": 16, "threads": 2, "bin_px": 32, "tiler_heap": 1 << 11},
    {"lanes": 8, "threads": 2, "profile": "immortalis-g925"},
]


class World:
    """A device and its pipelines, made when first asked for."""

    def __init__(self, **configuration: Any) -> None:
        self.device = tg.Device(**configuration)
        self.pipelines: dict[tuple[Any, ...], tg.Pipeline] = {}
        self.noise = self.device.texture(np.random.default_rng(1).integers(0, 255, (16, 16, 4), dtype=np.uint8), "r8g8b8a8_unorm")

    def pipeline(self, kind: str, samples: int, topology: str, restart: bool) -> tg.Pipeline:
        key = (kind, samples, topology, restart)
        if key not in self.pipelines:
            frag, state = KINDS[kind]
            self.pipelines[key] = self.device.pipeline(
                VERT, frag, vertex=VERTEX, instance=INSTANCE, color=[FORMAT], depth="d32_sfloat", samples=samples, topology=topology,
                primitive_restart=restart, label=kind, **{"depth_compare": "less_or_equal", **state},
            )  # fmt: skip
        return self.pipelines[key]


@pytest.fixture(scope="module")
def worlds() -> Iterator[list[World]]:
    yield [World(**c) for c in CONFIGURATIONS]


def random_draw(rng: np.random.Generator, kinds: list[str]) -> dict[str, Any]:
    """Small triangles mostly, a batch with a big one now and then, some behind the eye; indexed, instanced, restarted."""
    topology = str(rng.choice(TOPOLOGIES, p=(0.6, 0.2, 0.1, 0.05, 0.05)))
    n = int(rng.integers(3, 120))
    vertices = np.zeros(n, VERTEX)
    centre = rng.uniform(-1, 1, 2)
    reach = rng.choice([0.1, 0.3, 1.2, 3.0], p=(0.4, 0.35, 0.15, 0.1))
    vertices["position"][:, :2] = centre + rng.uniform(-reach, reach, (n, 2))
    vertices["position"][:, 2] = rng.choice([rng.uniform(0, 1), 0.5]) + rng.uniform(-0.2, 0.2, n)
    vertices["position"][:, 3] = 1
    if rng.random() < 0.5:
        vertices["position"] *= rng.uniform(0.3, 2.0, (n, 1)).astype(np.float32)
    if rng.random() < 0.2:
        vertices["position"][rng.random(n) < 0.2, 3] *= -1
    vertices["tint"] = rng.uniform(0, 1, (n, 3))
    indices, restart, offset = None, False, 0
    if rng.random() < 0.7:
        kind = rng.choice([np.uint16, np.uint32])
        # Neighbours share vertices, as in a mesh.
        indices = ((np.arange(3 * n) // 3 + rng.integers(0, 3, 3 * n)) % n).astype(kind)
        if rng.random() < 0.3:
            offset = int(rng.integers(0, 3))
        if topology != "point_list" and "list" not in topology and rng.random() < 0.7:
            restart = True
            indices[rng.random(indices.size) < 0.1] = np.iinfo(kind).max
    instances = np.zeros(int(rng.choice([1, 1, 2, 9])), INSTANCE)
    instances["shift"] = rng.uniform(-0.4, 0.4, (len(instances), 2))
    instances["shade"] = rng.uniform(0, 1, len(instances))
    turn = np.eye(4, dtype=np.float32)
    angle = rng.uniform(0, 6)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return {
        "kind": str(rng.choice(kinds)), "topology": topology, "restart": restart, "vertices": vertices, "indices": indices,
        "instances": instances, "vertex_offset": offset, "turn": turn, "color": rng.uniform(0, 1, 4).astype(np.float32),
        "counted": rng.random() < 0.3, "scissor": (5, 9, 50, 40) if rng.random() < 0.15 else None,
    }  # fmt: skip


def play(world: World, draws: list[dict[str, Any]], samples: int, hsr: Any) -> tuple[list[np.ndarray], tg.RenderPass]:
    dev = world.device
    color, depth = dev.image((SIDE_PX, SIDE_PX), FORMAT, samples=samples), dev.image((SIDE_PX, SIDE_PX), "d32_sfloat", samples=samples)
    queries = []
    with dev.render_pass(color=[tg.Attachment(color, clear=(0.1, 0.2, 0.3, 0.4))], depth=tg.Attachment(depth, clear=0.9), hsr=hsr) as rp:
        for d in draws:
            pipeline = world.pipeline(d["kind"], samples, d["topology"], d["restart"])
            arguments = {
                "indices": d["indices"], "instances": d["instances"], "scissor": d["scissor"],
                "bind": {(0, 0): {"turn": d["turn"]}, (0, 1): world.noise}, "push": {"color": d["color"]},
            }  # fmt: skip
            if d["indices"] is not None:
                arguments["vertex_offset"] = d["vertex_offset"]
                # Some reach beyond the vertices, which is an error where it can be seen when the draw is recorded.
                arguments["indices"] = dev.buffer(d["indices"], usage="index")
            if d["counted"]:
                with rp.query() as query:
                    rp.draw(pipeline, d["vertices"], **arguments)
                queries.append(query)
            else:
                rp.draw(pipeline, d["vertices"], **arguments)
    return [color.numpy(), depth.numpy(), np.array([q.samples for q in queries])], rp


def same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(np.array_equal(x.view(np.uint8), y.view(np.uint8)) for x, y in zip(a, b, strict=True))


@settings(
    max_examples=40 * int(os.environ.get("TILEGPU_FUZZ", "1")), deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(seed=st.integers(0, 2**32 - 1), samples=st.sampled_from([1, 1, 4]))
def test_same_bits(worlds: list[World], seed: int, samples: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = list(rng.choice(list(KINDS), int(rng.integers(1, 4)), replace=False))
    draws = [random_draw(rng, kinds) for _ in range(int(rng.integers(1, 7)))]
    want, _ = play(worlds[0], draws, samples, "off")
    for hsr in CHOICES:
        got, _ = play(worlds[0], draws, samples, hsr)
        assert same(want, got), f"seed {seed}: {hsr} differs: {[(d['kind'], d['topology']) for d in draws]}"
    for world, configuration in zip(worlds[1:], CONFIGURATIONS[1:], strict=True):
        for hsr in ([PASS], "all"):
            got, _ = play(world, draws, samples, hsr)
            assert same(want, got), f"seed {seed}: {hsr} with {configuration}: {[(d['kind'], d['topology']) for d in draws]}"


def test_random_scenes_defer_something(worlds: list[World]) -> None:
    """And split the pass where the heap is small, and clip, and keep big ones."""
    sums = dict.fromkeys(("primitives_deferred", "vertices_shaded_in_tiles", "vertices_shaded", "primitives_clipped", "splits"), 0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        draws = [random_draw(rng, list(KINDS)) for _ in range(5)]
        _, rp = play(worlds[3], draws, 1, [PASS, "visibility_buffer"])
        for key in sums:
            sums[key] += getattr(rp.stats, key)
    assert all(sums.values()), sums


# -- counts ---------------------------------------------------------------------------------------------------------------------

COLORED = np.dtype([("position", "f4", 3), ("color", "f4", 4)])
SIMPLE_VERT = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in vec4 color; layout(location = 0) out vec4 v_color;
void main() { gl_Position = vec4(position, 1.0); v_color = color * 0.5 + 0.25; }"""
SIMPLE_FRAG = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o0;
void main() { o0 = v_color; }"""
COMPONENTS = 4


def cells(z: float, side: int, cell_px: float = 8.0, first: int = 0, shrink: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """`side` x `side` squares of two triangles that share four vertices, from pixel (0, 0) on."""
    at = np.arange(side + 1) * cell_px
    x, y = np.meshgrid(at, at)
    vertices = np.zeros(x.size, COLORED)
    vertices["position"][:, 0] = x.ravel() / 64 * 2 - 1
    vertices["position"][:, 1] = y.ravel() / 64 * 2 - 1
    vertices["position"][:, 2] = z
    vertices["color"] = np.random.default_rng(first).uniform(0, 1, (x.size, 4))
    corner = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    right, down = corner + 1, corner + side + 1
    return vertices, np.stack([corner, right, down, down, right, down + 1], 1).astype(np.uint32).reshape(-1)


def batches(indices: np.ndarray, limit: int = BATCH) -> list[set[int]]:
    """The rule: a batch takes triangles until one more would need more than `limit` different vertices."""
    found: list[set[int]] = [set()]
    for triangle in indices.reshape(-1, 3).tolist():
        if len(found[-1] | set(triangle)) > limit:
            found.append(set())
        found[-1] |= set(triangle)
    return found


def draw_meshes(device: tg.Device, meshes: list[tuple[np.ndarray, np.ndarray]], hsr: Any, frag: str = SIMPLE_FRAG) -> tg.RenderPass:
    pipeline = device.pipeline(SIMPLE_VERT, frag, vertex=COLORED, color=[FORMAT], depth="d32_sfloat", depth_compare="less")
    color, depth = device.image((64, 64), FORMAT), device.image((64, 64), "d32_sfloat")
    with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0), hsr=hsr) as rp:
        for vertices, indices in meshes:
            rp.draw(pipeline, vertices, indices=indices)
    return rp


@pytest.mark.parametrize("bin_px", [32, 64])
@pytest.mark.parametrize("removal", ["visibility_buffer", "pre_pass", "lrz"])
@pytest.mark.parametrize("near_first", [False, True])
def test_hidden_vertices_are_never_shaded_whole(bin_px: int, removal: str, near_first: bool) -> None:
    """A mesh behind another: of the one behind only positions are shaded, of the one in front each vertex once in each bin."""
    far, near = cells(0.75, 8), cells(0.25, 8)
    meshes = [near, far] if near_first else [far, near]
    stats = draw_meshes(tg.Device(bin_px=bin_px), meshes, [PASS, removal]).stats
    in_bins = sum((min(64, x + bin_px) - x) // 8 + 1 for x in range(0, 64, bin_px)) ** 2  # vertices of the cells of a bin
    # Low-resolution Z rejects nothing of triangles that cover no texel alone, so far ones are shaded where they are drawn first.
    if removal == "lrz" and not near_first:
        assert stats.vertices_shaded_in_tiles == 2 * in_bins
    else:
        assert stats.vertices_shaded_in_tiles == in_bins
    positions = sum(len(b) for b in batches(far[1])) * 2
    assert (stats.vertices_shaded, stats.vertices_position_shaded) == (0, positions)
    assert stats.primitives_deferred == stats.primitives_out == 2 * 128


def test_the_ledger_says_what_is_saved() -> None:
    """Bytes of varyings, recomputed: room for 32 vertices a batch, for each component that the fragment shader reads."""
    mesh = cells(0.5, 8)
    device = tg.Device(vertex_batch=BATCH)  # without deferral too
    with_it, without = (draw_meshes(device, [mesh], hsr).stats for hsr in ([PASS], "off"))
    saved = len(batches(mesh[1])) * BATCH * COMPONENTS * 4
    assert with_it.varyings_deferred_B == saved and without.varyings_deferred_B == 0
    run_B = 8  # one run of records of instance 0
    assert without.tiler_heap_B - with_it.tiler_heap_B == saved - run_B
    assert without.vertices_shaded == with_it.vertices_position_shaded == sum(len(b) for b in batches(mesh[1]))
    assert (without.vertices_position_shaded, without.vertices_shaded_in_tiles, without.primitives_deferred) == (0, 0, 0)


def test_the_size_of_a_triangle_decides() -> None:
    """16x16 px is small, a little more is not; the unit is the batch."""
    device = tg.Device()
    for cell_px, deferred in ((16.0, True), (16.01, False)):
        mesh = cells(0.5, 3, cell_px)
        stats = draw_meshes(device, [mesh], [PASS]).stats
        assert (stats.primitives_deferred, stats.vertices_shaded) == ((18, 0) if deferred else (0, 16))
        assert stats.vertices_position_shaded == 16
    # A small mesh and a big triangle in one draw, each in a batch of its own.
    small, indices = cells(0.5, 5, 8.0)
    big, big_indices = cells(0.4, 1, 40.0)
    assert len(batches(indices)) == 2
    vertices, all_indices = np.concatenate([small, big]), np.concatenate([indices, big_indices + len(small)])
    kept = [b for b in batches(all_indices) if max(b) >= len(small)]
    stats = draw_meshes(device, [(vertices, all_indices)], [PASS]).stats
    assert stats.vertices_shaded == sum(len(b) for b in kept) and 0 < stats.primitives_deferred < 50


def test_what_is_culled_is_not_shaded_whole() -> None:
    device = tg.Device()
    vertices, indices = cells(0.5, 4)
    pipeline = device.pipeline(SIMPLE_VERT, SIMPLE_FRAG, vertex=COLORED, color=[FORMAT], cull="front_and_back")
    color = device.image((64, 64), FORMAT)
    with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], hsr=[PASS]) as rp:
        rp.draw(pipeline, vertices, indices=indices)
    stats = rp.stats
    assert (stats.vertices_shaded, stats.vertices_shaded_in_tiles, stats.varyings_deferred_B) == (0, 0, 0)
    assert stats.vertices_position_shaded == 25


COUNTERS = ("vertices_shaded", "vertices_position_shaded", "vertices_shaded_in_tiles", "primitives_deferred", "varyings_deferred_B",
            "tiler_heap_B")  # fmt: skip


def test_counts_do_not_depend_on_threads_and_lanes() -> None:
    made = [World(lanes=lanes, threads=threads, bin_px=32) for lanes, threads in ((8, 1), (8, 4), (4, 2), (16, 3))]
    for seed in range(3):
        rng = np.random.default_rng(100 + seed)
        draws = [random_draw(rng, ["plain", "discard", "blend", "clip"]) for _ in range(6)]
        for hsr in ([PASS], [PASS, "visibility_buffer"], [PASS, "forward_pixel_kill"], [PASS, "pre_pass", "forward_pixel_kill"]):
            rows = [[getattr(play(w, draws, 1, hsr)[1].stats, c) for c in COUNTERS] for w in made]
            assert all(r == rows[0] for r in rows), (seed, hsr, rows)


# -- reasons --------------------------------------------------------------------------------------------------------------------

STORE = "layout(set = 0, binding = 0) buffer Out { vec4 written[]; };\n"
READ = "layout(set = 0, binding = 1) readonly buffer In { vec4 read[]; };\n"


def technique(rp: tg.RenderPass, draw: int = 0) -> dict[str, Any]:
    row = next(r for r in rp.explain().rows if r["first_draw"] <= draw < r["first_draw"] + r["draws"])
    return next(t for t in row["techniques"] if t["technique"] == PASS)


def run(device: tg.Device, steps: list[tuple[tg.Pipeline, Any, Any]], hsr: Any = (PASS,)) -> tuple[tg.RenderPass, np.ndarray]:
    color = device.image((64, 64), FORMAT)
    with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], hsr=hsr) as rp:
        for pipeline, vertices, bind in steps:
            rp.draw(pipeline, vertices, bind=bind)
    return rp, color.numpy()


def inject(text: str, declarations: str, body: str = "") -> str:
    head, rest = text.split("\n", 1)
    return head + "\n" + declarations + rest.replace("void main() { ", "void main() { " + body)


@pytest.fixture(scope="module")
def device() -> tg.Device:
    return tg.Device(lanes=8, threads=2, bin_px=32)


MESH = cells(0.5, 4)[0][cells(0.5, 4)[1]]


NOT_ASKED = "not one of host's techniques; hsr adds it"


@pytest.mark.parametrize(("words", "vert", "frag", "state"), [
    ("writes memory", inject(SIMPLE_VERT, STORE, "written[gl_VertexIndex] = color; "), SIMPLE_FRAG, {}),
    ("writes memory", inject(SIMPLE_VERT, "layout(set = 0, binding = 0) buffer Out { uint n; };\n", "atomicAdd(n, 1u); "), SIMPLE_FRAG, {}),
    ("points and lines", SIMPLE_VERT, SIMPLE_FRAG, {"topology": "line_list"}),
    ("points and lines", SIMPLE_VERT, SIMPLE_FRAG, {"polygon_mode": "line"}),
    ("", SIMPLE_VERT, "#version 450\nlayout(location = 0) out vec4 o0;\nvoid main() { o0 = vec4(1); }", {}),
    ("nothing is rasterized", SIMPLE_VERT, SIMPLE_FRAG, {"rasterizer_discard": True}),
    ("", SIMPLE_VERT, None, {}),
    ("", SIMPLE_VERT, SIMPLE_FRAG, {}),
])  # fmt: skip
def test_reasons_of_a_pipeline(device: tg.Device, words: str, vert: str, frag: str | None, state: dict[str, Any]) -> None:
    pipeline = device.pipeline(vert, frag, vertex=COLORED, color=[FORMAT], **state)
    count = device.buffer(4 << 10, usage="storage")
    bind = {(0, 0): count} if "binding = 0" in vert else None
    rp, image = run(device, [(pipeline, MESH, bind)])
    found = technique(rp)
    assert (found["state"], found["by_draw"]) == ("off" if words else "on", -1)
    assert words in found["reason"] and bool(found["reason"]) == bool(words)
    assert (rp.stats.vertices_position_shaded == 0) == bool(words)
    without, expected = run(device, [(pipeline, MESH, bind)], "off")
    assert np.array_equal(image, expected)
    assert technique(without) == {"technique": PASS, "state": "off", "rule": "", "reason": NOT_ASKED, "by_draw": -1}
    if "atomicAdd" in vert:  # each vertex as often as without
        assert count.numpy(np.uint32)[0] == 2 * len(MESH)


def test_reasons_of_a_pass(device: tg.Device) -> None:
    """A draw whose vertex shader reads what another draw may write is not deferred; one that reads something else is."""
    reading = device.pipeline(inject(SIMPLE_VERT, READ, "vec4 more = read[gl_VertexIndex % 8]; ")
                              .replace("color * 0.5", "(color + more) * 0.5"), SIMPLE_FRAG, vertex=COLORED, color=[FORMAT])  # fmt: skip
    writing = device.pipeline(SIMPLE_VERT, inject(SIMPLE_FRAG, STORE, "written[int(gl_FragCoord.x) % 8] = v_color; "), vertex=COLORED,
                              color=[FORMAT], depth_test=False)  # fmt: skip
    plain = device.pipeline(SIMPLE_VERT, SIMPLE_FRAG, vertex=COLORED, color=[FORMAT])
    shared, other = (device.buffer(np.full(64, 0.125, np.float32), usage="storage") for _ in range(2))
    write_shared, read_shared, read_other = {(0, 0): shared}, {(0, 1): shared}, {(0, 1): other}

    rp, _ = run(device, [(plain, MESH, None), (reading, MESH, read_shared), (writing, MESH, write_shared), (reading, MESH, read_other)])
    assert [technique(rp, i)["state"] for i in range(4)] == ["on", "off", "on", "on"]
    found = technique(rp, 1)
    assert "reads a buffer that a shader of the pass may write" in found["reason"] and "(draw 2)" in found["reason"]
    assert found["by_draw"] == 2
    # Nobody writes: on.
    rp, _ = run(device, [(reading, MESH, read_shared)])
    assert technique(rp)["state"] == "on"
    # Other bytes of the same buffer are other memory; the last byte is not.
    for offset, state in ((128, "on"), (64, "off")):
        rp, _ = run(device, [(writing, MESH, {(0, 0): shared.slice(0, 128)}), (reading, MESH, {(0, 1): shared.slice(offset, 128)})])
        assert technique(rp, 1)["state"] == state

    # Vertex buffers too.
    memory = device.buffer(MESH.tobytes(), usage=("vertex", "storage"))
    rp, _ = run(device, [(plain, memory, None), (writing, MESH, {(0, 0): memory})])
    found = technique(rp, 0)
    assert found["state"] == "off" and "a vertex buffer is memory" in found["reason"] and found["by_draw"] == 1


def test_indirect_draws(device: tg.Device) -> None:
    """Decisions are by draw as it is executed; gl_DrawID and first instances reach the tile."""
    vert = inject(SIMPLE_VERT, "#extension GL_ARB_shader_draw_parameters : require\n").replace(
        "color * 0.5 + 0.25", "fract(color + 0.3 * float(gl_DrawIDARB) + 0.1 * float(gl_InstanceIndex) + 0.01 * float(gl_BaseVertexARB))"
    )
    pipeline = device.pipeline(vert, SIMPLE_FRAG, vertex=COLORED, color=[FORMAT])
    commands = np.array([[48, 1, 0, 0], [30, 2, 12, 3], [96, 1, 0, 9]], np.uint32)
    images = []
    for hsr in ("off", [PASS], "all"):
        color = device.image((64, 64), FORMAT)
        with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], hsr=hsr) as rp:
            rp.draw_indirect(pipeline, commands, MESH)
        images.append(color.numpy())
    assert technique(rp)["state"] == "on" and rp.stats.vertices_shaded == 0
    assert np.array_equal(images[0], images[1]) and np.array_equal(images[0], images[2])


def test_switches() -> None:
    assert PASS not in tg.Device().hsr
    assert PASS in tg.Device(hsr="all").hsr and tg.Device(hsr=PASS).hsr == (PASS,)
    assert {p: PASS in tg.Device(profile=p).hsr for p in ("immortalis-g925", "mali-g725", "mali-g720", "adreno-a740")} == {
        "immortalis-g925": True, "mali-g725": True, "mali-g720": True, "adreno-a740": False,
    }  # fmt: skip


def test_what_a_gpu_has_not_is_not_switched_off() -> None:
    """By profile: what was switched off, what hsr= would add, and what no GPU of its kind has."""
    said: dict[tuple[str, str], str] = {}
    asked = {"host": None, "immortalis-g925": "off", "mali-g57": None, "adreno-a740": None, "desktop-immediate": None}
    for profile, hsr in asked.items():
        device = tg.Device(profile=profile)
        pipeline = device.pipeline(SIMPLE_VERT, SIMPLE_FRAG, vertex=COLORED, color=[FORMAT])
        with device.render_pass(color=[tg.Attachment(device.image((64, 64), FORMAT), clear=(0, 0, 0, 0))], hsr=hsr) as rp:
            rp.draw(pipeline, MESH)
        row = rp.explain().rows[0]
        said |= {(profile, found["technique"]): found["reason"] for found in row["techniques"]}
        said[profile, "low_resolution_z"] = row["low_resolution_z_off"].removeprefix("off: ")
    assert {said["host", name] for name in ("pre_pass", "forward_pixel_kill", PASS, "low_resolution_z")} == {NOT_ASKED}
    assert said["immortalis-g925", "pre_pass"] == said["immortalis-g925", PASS] == "switched off (hsr)"
    assert said["mali-g57", PASS] == said["mali-g57", "pre_pass"] == "not one of the profile's techniques; hsr tries it"
    other = [("adreno-a740", "pre_pass"), ("adreno-a740", PASS)]
    for profile, name in (*other, ("mali-g57", "low_resolution_z"), ("desktop-immediate", "low_resolution_z")):
        assert said[profile, name] == "no GPU like this has it"
