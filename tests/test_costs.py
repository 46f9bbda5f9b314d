"""The cost model: small passes whose bytes are counted on paper, the articles' claims about costs, properties of the arithmetic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.bench.cache import Cache, misses
from tilegpu.cost_changes import changes
from tilegpu.cost_constants import CONSTANTS, SOURCES, Figure
from tilegpu.cost_memory import through_cache
from tilegpu.costs import PassCosts, costs_of, quad_share, sum_of
from tilegpu.operations import count

FORMAT = "r8g8b8a8_unorm"
VERTEX = np.dtype([("position", "<f4", 4), ("color", "<f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = position * 2.0 - position; v_color = color * color; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o_color;
void main() { o_color = v_color * 0.5 + 0.25; }"""
LOOP = "for (int i = 0; i < 50; i++) c = c * 1.01 + vec4(0.001) * float(i);"
EARLY_DISCARD = f"""#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o;
void main() {{ if (v_color.a < 0.1) discard; vec4 c = v_color; {LOOP} o = c; }}"""
LATE_DISCARD = f"""#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o;
void main() {{ vec4 c = v_color; {LOOP} if (c.a < 0.1) discard; o = c; }}"""


def rect(x0: float, y0: float, x1: float, y1: float, z: float, size: tuple[int, int]) -> np.ndarray:
    out = np.zeros(6, VERTEX)
    corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y0), (x1, y1), (x0, y1)]
    out["position"] = [(2 * x / size[0] - 1, 2 * y / size[1] - 1, z, 1) for x, y in corners]
    out["color"] = 1
    return out


def cells(z: float, size: tuple[int, int], side: int = 8) -> np.ndarray:
    """Small rectangles that cover everything."""
    return np.concatenate([rect(x, y, x + side, y + side, z, size) for x in range(0, size[0], side) for y in range(0, size[1], side)])


def drawn(
    profile: str, layers: list[np.ndarray], size: tuple[int, int], hsr: Any = None, fragment: str = FRAG, samples: int = 1,
    formats: tuple[str, ...] = (FORMAT,), **options: Any,
) -> tg.RenderPass:  # fmt: skip
    """Opaque layers over one another; colour cleared and stored, depth neither loaded nor stored."""
    device = tg.Device(profile=profile, hsr=hsr or "default", **options)
    pipeline = device.pipeline(
        VERT, fragment, vertex=VERTEX, color=list(formats), depth="d32_sfloat", depth_compare="less", samples=samples
    )
    images = [device.image(size, f, samples=samples) for f in formats]
    depth = device.image(size, "d32_sfloat", samples=samples, transient=True)
    with device.render_pass(
        color=[tg.Attachment(i, clear=(0, 0, 0, 1)) for i in images], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")
    ) as rp:
        for layer in layers:
            rp.draw(pipeline, layer)
    return rp


# -- on paper


def test_one_triangle_is_counted_on_paper() -> None:
    """64x64 px, one triangle in one tile of 16x16, three vertices of 32 bytes, on a GPU that writes all vertices while binning."""
    size = (64, 64)
    rp = drawn("mali-g57", [rect(0, 0, 8, 8, 0.5, size)[:3]], size)
    costs = rp.costs()
    varyings_B = 4 * 4
    assert costs.write_B == {
        "attachments stored": 64 * 64 * 4,
        "lists of tiles": 1 * 4,
        "vertices": 3 * 16 + 3 * varyings_B,
    }
    assert costs.read_B == {
        "vertices, binning": 2 * 64,  # 96 bytes lie in two lines
        "lists of tiles": 1 * 4,
        "vertices, from binning": 3 * (16 + varyings_B),
    }
    # position * 2 - position: 8 operations; color * color: 4; v_color * 0.5 + 0.25: 8 for each of 28 pixels, as the diagonal is not covered
    fragments = rp.stats.fragments_shaded
    assert fragments == 28
    assert costs.arithmetic == {"positions, binning": 3 * 8, "varyings, binning": 3 * 4, "fragments": fragments * 8}
    assert costs.total("texture") == 0 and costs.exact


def test_deferred_triangles_write_neither_positions_nor_varyings() -> None:
    """The same on Mali-G720: of a small triangle nothing but its place in the list of its tile is written (Arm: positions of small
    triangles are not written, and shaded again in the tile)."""
    size = (64, 64)
    costs = drawn("mali-g720", [rect(0, 0, 8, 8, 0.5, size)[:3]], size).costs()
    assert costs.write_B == {"attachments stored": 64 * 64 * 4, "lists of tiles": 4}
    assert costs.arithmetic["positions, binning"] == 3 * 8 and costs.arithmetic["vertices, tiles"] == 3 * 12
    large = drawn("mali-g720", [rect(0, 0, 40, 40, 0.5, size)[:3]], size).costs()
    assert large.write_B["vertices"] == 3 * (16 + 16)


def test_the_heap_is_without_small_triangles() -> None:
    """``tiler_heap_B`` of a profile that defers: lists alone for small triangles, whole records for large ones; the pass is split by it."""
    size = (128, 128)
    small, large = cells(0.5, size), cells(0.5, size, 64)
    on, off = ["pre_pass", "deferred_vertex_shading"], ["pre_pass"]
    heaps = {
        (name, bool(hsr)): drawn("immortalis-g925", [layer], size, hsr or off).stats
        for name, layer in (("small", small), ("large", large))
        for hsr in (on, [])
    }
    triangles = len(small) // 3
    assert heaps["small", True].primitives_deferred == triangles
    # An entry of 4 bytes for each in each tile, and what a chunk notes of its lists.
    stats = heaps["small", True]
    assert 4 * stats.bin_entries <= stats.tiler_heap_B < 8 * stats.bin_entries
    assert heaps["small", False].tiler_heap_B > 64 * triangles + 4 * stats.bin_entries
    assert heaps["large", True].tiler_heap_B == heaps["large", False].tiler_heap_B
    assert stats.peak_arena_B > stats.tiler_heap_B  # this program keeps what it knows
    heap_B = (heaps["small", False].tiler_heap_B + stats.tiler_heap_B) // 2
    splits = [drawn("immortalis-g925", [small], size, hsr, tiler_heap=heap_B).stats.splits for hsr in (on, off)]
    assert splits[0] == 0 < splits[1]


def test_costs_print_as_a_table() -> None:
    costs = drawn("immortalis-g925", [cells(0.5, (64, 64))], (64, 64)).costs()
    text = str(costs)
    assert text.startswith(f"pass 'pass' on immortalis-g925, modelled: {costs.cycles:,.0f} cycles, limited by {costs.limited_by}")
    for words in ("positions, pre-pass", "attachments stored", "16,384 B", "waiting for the pre-pass", "whole GPU"):
        assert words in text
    assert "positions, pre-pass" in costs._repr_html_()


def test_a_texture_of_one_level_is_fetched_once() -> None:
    size = (64, 64)
    device = tg.Device(profile="mali-g57")
    texture = device.texture(np.zeros((64, 64, 4), np.uint8), label="t")
    pipeline = device.pipeline(
        VERT, """#version 450
        layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o; layout(set = 0, binding = 0) uniform sampler2D t;
        void main() { o = texture(t, gl_FragCoord.xy / 64.0); }""", vertex=VERTEX, color=[FORMAT],
    )  # fmt: skip
    with device.render_pass(color=[tg.Attachment(device.image(size, FORMAT), clear=(0, 0, 0, 1))]) as rp:
        rp.draw(pipeline, rect(0, 0, 64, 64, 0.5, size), bind={"t": texture})
    costs = rp.costs()
    assert costs.total("texture") == 64 * 64
    assert costs.read_B["textures"] == 64 * 64 * 4


SAMPLED = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o; layout(set = 0, binding = 0) uniform sampler{kind} t;
void main() {{ o = texture(t, {at}); }}"""


def _planes(device: tg.Device) -> Any:
    ycbcr = device.sampler_ycbcr_conversion("g8_b8r8_2plane_420_unorm")
    return device.texture([np.zeros((32, 32, 1), np.uint8), np.zeros((16, 16, 2), np.uint8)], "g8_b8r8_2plane_420_unorm", ycbcr=ycbcr)


def _depth(device: tg.Device) -> Any:
    image = device.image((32, 32), "d24_unorm_s8_uint")
    with device.render_pass(depth=tg.Attachment(image, clear=0.5), stencil=tg.Attachment(image, clear=0)):
        pass
    return image.view(aspect="depth"), device.sampler(filter="nearest")


def _volume(device: tg.Device) -> Any:
    image = device.image((8, 8, 16), FORMAT)
    device.clear(image, (1, 0, 0, 1))
    return image, device.sampler(filter="nearest")


@pytest.mark.parametrize(
    ("make", "kind", "at", "size_B", "read_B"),
    [
        (lambda d: d.texture(np.zeros((4, 16, 16, 4), np.uint8)), "2DArray", "vec3(gl_FragCoord.xy / 64.0, 1)", 4096, 1024),
        (_volume, "3D", "vec3(gl_FragCoord.xy / 64.0, 0.5)", 8 * 8 * 16 * 4, 8 * 8 * 4),
        (_depth, "2D", "gl_FragCoord.xy / 64.0", 32 * 32 * 4, 32 * 32 * 4),
        (_planes, "2D", "gl_FragCoord.xy / 64.0", 32 * 32 + 16 * 16 * 2, 32 * 32 + 16 * 16 * 2),
    ],
)
def test_images_of_every_kind_have_their_bytes(make: Any, kind: str, at: str, size_B: int, read_B: int) -> None:
    """Of a layer and of a slice what is read; where nobody traced it the whole image is the bound."""
    device = tg.Device(profile="mali-g57")
    pipeline = device.pipeline(VERT, SAMPLED.format(kind=kind, at=at), vertex=VERTEX, color=[FORMAT])
    texture = make(device)
    with device.render_pass(color=[tg.Attachment(device.image((64, 64), FORMAT), clear=(0, 0, 0, 1))]) as rp:
        rp.draw(pipeline, rect(0, 0, 64, 64, 0.5, (64, 64)), bind={"t": texture})
    assert rp.costs().read_B["textures"] == read_B
    assert costs_of(dataclasses.replace(rp._counts(), texture_lines=None)).read_B["textures"] == size_B


def fetched_lines(vertices: list[int], stride_B: int, end_B: int) -> int:
    """Lines of 64 bytes that 16 KiB in four ways miss, by the oracle of the benches' machines."""
    lines = (line for v in vertices for line in range(v * stride_B // 64, (v * stride_B + end_B - 1) // 64 + 1))
    return misses(Cache(256, 4), lines)


@pytest.mark.parametrize("padding", [0, 224])
@pytest.mark.parametrize("profile, group", [("adreno-a650", 0), ("immortalis-g925", 1), ("mali-g57", 4)])
def test_vertex_fetch_is_a_cache_of_lines(profile: str, group: int, padding: int) -> None:
    """Random triangles in batches of 32 vertices, or through a cache of shaded ones (Mali); wide vertices throw each other out. Where
    neighbours come along (Mali up to G720) they are fetched as well, those that the buffer has."""
    fields: list[Any] = [("position", "<f4", 4), ("color", "<f4", 4)]
    wide = np.dtype([*fields, ("padding", "u1", padding)]) if padding else VERTEX
    count, triangles = 398, 300
    rng = np.random.default_rng(padding)
    vertices = np.zeros(count, wide)
    vertices["position"] = (0, 0, 0.5, 1)
    indices = rng.integers(0, count, (triangles, 3)).astype(np.uint32)
    device = tg.Device(profile=profile, hsr="off")
    pipeline = device.pipeline(VERT, FRAG, vertex=wide, color=[FORMAT])
    with device.render_pass(color=[tg.Attachment(device.image((64, 64), FORMAT), clear=(0, 0, 0, 1))]) as rp:
        rp.draw(pipeline, vertices, indices=indices)
    order: list[int] = []
    batch: list[int] = []
    for triangle in indices.tolist() if not group else ():
        new = list(dict.fromkeys(i for i in triangle if i not in batch))
        if len(batch) + len(new) > 32:
            order += batch
            batch, new = [], list(dict.fromkeys(triangle))
        batch += new
    order += batch
    for request in (indices // group).ravel().tolist() if group else ():
        if request * group not in order[-32:]:
            order += range(request * group, request * group + group)
    assert rp.stats.vertices_shaded == len(order)
    assert rp.stats.vertices_unique_requested == len(np.unique(indices))
    assert rp.stats.vertices_fetched_B == 64 * fetched_lines([i for i in order if i < count], wide.itemsize, 32)
    assert rp.stats.indices_fetched_B == 4 * 3 * triangles
    assert [row["vertices_fetched_B"] for row in rp.stats.draw_vertices] == [rp.stats.vertices_fetched_B]


def test_what_goes_by_instance_is_fetched_once_an_instance() -> None:
    device = tg.Device(profile="mali-g57")
    place = np.dtype([("at", "<f4", 4)])
    vert = """#version 450
    layout(location = 0) in vec4 position; layout(location = 1) in vec4 color; layout(location = 2) in vec4 at;
    layout(location = 0) out vec4 v_color;
    void main() { gl_Position = position + at; v_color = color; }"""
    pipeline = device.pipeline(vert, FRAG, vertex=VERTEX, instance=place, color=[FORMAT])
    with device.render_pass(color=[tg.Attachment(device.image((64, 64), FORMAT), clear=(0, 0, 0, 1))]) as rp:
        rp.draw(pipeline, rect(0, 0, 8, 8, 0.5, (64, 64)), instances=np.zeros(10, place))
    assert rp.stats.vertices_fetched_B == 3 * 64 + 3 * 64  # 192 bytes of vertices, 160 of instances, all held


def test_the_cache_lets_the_footprint_through_once() -> None:
    assert through_cache(100, 1000, 10) == 100
    assert through_cache(5000, 1000, 2000) == 1000  # all of it is held
    assert through_cache(5000, 1000, 500) == 1000 + 4000 / 2
    assert through_cache(5000, 1000, 0) == 5000
    assert through_cache(0, 0, 64) == 0


# -- the articles' claims


def test_vertices_of_tiles_come_from_the_second_cache() -> None:
    """As far as it holds them: all of a small mesh, a share of one that is larger than the cache."""
    counts = drawn("immortalis-g925", [cells(0.5, (256, 256))], (256, 256))._counts()
    assert "vertices, tiles" not in costs_of(counts).read_B
    fetched_B = counts.counters["vertices_fetched_B"]
    half = dataclasses.replace(CONSTANTS["immortalis-g925"], l2_B=Figure(fetched_B / 2, "caches"))
    assert costs_of(counts, half).read_B["vertices, tiles"] == 2 * fetched_B / 2  # two runs in tiles, half of what they read


def test_positions_run_three_times_and_whole_vertices_twice() -> None:
    """Arm, "Avoid expensive computation of position": to bin, in the pre-pass, in the main pass; of a shader that decides coverage all
    varyings in the pre-pass too."""
    size = (64, 64)
    layer = cells(0.5, size)
    vertices = len(layer)
    both, alone = ["pre_pass", "deferred_vertex_shading"], ["deferred_vertex_shading"]
    runs = {}
    for name, hsr, fragment in (("early", both, FRAG), ("alone", alone, FRAG), ("late", both, LATE_DISCARD)):
        rp = drawn("immortalis-g925", [layer], size, hsr, fragment)
        assert rp.stats.vertices_in_tiles == vertices
        runs[name] = rp.costs().arithmetic
    position, whole = 8, 12
    assert runs["early"]["positions, binning"] == runs["early"]["positions, pre-pass"] == vertices * position
    assert runs["early"]["vertices, tiles"] == vertices * whole
    assert "positions, pre-pass" not in runs["alone"] and runs["alone"]["vertices, tiles"] == vertices * whole
    assert runs["late"]["vertices, pre-pass"] == runs["late"]["vertices, tiles"] == vertices * whole
    assert "positions, pre-pass" not in runs["late"]


def test_hidden_primitives_never_shade_their_varyings() -> None:
    """Arm: early-Z primitives without covered samples never have to shade their varyings; without the pre-pass they do."""
    size = (64, 64)
    layers = [cells(0.9, size), cells(0.5, size)]
    with_it = drawn("immortalis-g925", layers, size, ["pre_pass", "deferred_vertex_shading"]).costs().arithmetic
    without = drawn("immortalis-g925", layers, size, ["deferred_vertex_shading"]).costs().arithmetic
    vertices = len(layers[0])
    assert with_it["vertices, tiles"] == vertices * 12 and without["vertices, tiles"] == 2 * vertices * 12
    assert with_it["fragments"] < without["fragments"]


def test_code_before_known_coverage_runs_twice() -> None:
    """Arm, "keep the amount of computation needed to know coverage small": discard first is cheap, discard last runs all of it again."""
    size = (64, 64)
    layers = [cells(0.9, size), cells(0.3, size)]
    found = {}
    for name, fragment in (("first", EARLY_DISCARD), ("last", LATE_DISCARD)):
        costs = drawn("immortalis-g925", layers, size, ["pre_pass", "deferred_vertex_shading"], fragment).costs()
        found[name] = costs.arithmetic
    assert found["first"]["fragments"] == found["last"]["fragments"]
    whole = count(tg.compile_glsl(LATE_DISCARD, "fragment")).arithmetic
    assert found["last"]["coverage, pre-pass"] == 2 * 64 * 64 * whole
    assert found["first"]["coverage, pre-pass"] == 2 * 64 * 64 * 1


def test_fat_g_buffers_shade_vertices_again() -> None:
    """Arm, "Avoid fat G-buffers": smaller tiles are more tiles of a primitive, and the pre-pass amplifies it."""
    size = (256, 256)
    layer = cells(0.5, size, 10)
    found = [
        drawn("immortalis-g925", [layer], size, formats=("r16g16b16a16_sfloat",) * targets, fragment=_outputs(targets)).costs().arithmetic
        for targets in (2, 4, 5)
    ]
    for part in ("positions, pre-pass", "vertices, tiles"):
        assert found[0][part] < found[1][part] < found[2][part]
    assert found[0]["positions, binning"] == found[2]["positions, binning"]


def _outputs(targets: int) -> str:
    outputs = "".join(f"layout(location = {i}) out vec4 o{i};" for i in range(targets))
    body = " ".join(f"o{i} = v_color;" for i in range(targets))
    return f"#version 450\nlayout(location = 0) in vec4 v_color; {outputs} void main() {{ {body} }}"


def test_smaller_tiles_hide_less_of_the_pre_pass() -> None:
    size = (256, 256)
    layers = [cells(0.5, size, 16)]
    stalls = [
        drawn("immortalis-g925", layers, size, formats=("r16g16b16a16_sfloat",) * n, fragment=_outputs(n)).costs().stall for n in (2, 4, 5)
    ]
    assert 0 < stalls[0] < stalls[1] < stalls[2]


def test_the_pre_pass_has_negative_rows() -> None:
    """One layer of small triangles: nothing is hidden, and the pre-pass costs positions and reads of their vertices. Arm's table has
    such rows too (-1.4 %)."""
    from tilegpu.bench.hsr_model import COLUMNS, reduction

    size = (256, 256)
    on, off = (
        drawn("immortalis-g925", [cells(0.5, size)], size, ["deferred_vertex_shading", "forward_pixel_kill", *more]).costs()
        for more in (["pre_pass"], [])
    )
    rows = {name: reduction(read(off), read(on)) for name, read in COLUMNS.items()}
    assert rows["arithmetic"] < 0 and rows["GPU cycles"] < 0
    assert rows["texture"] == 0


def test_overdraw_costs_bytes_without_tiles_alone() -> None:
    """An immediate-mode GPU writes each layer through its caches; a tiler writes the last one. PanVK: "all this reading and writing of
    color and depth/stencil values is very memory intensive"."""
    size = (1024, 1024)
    moved = {}
    for profile in ("desktop-immediate", "mali-g610"):
        moved[profile] = []
        for n in (1, 6):
            layers = [rect(0, 0, *size, 0.9 - 0.1 * i, size) for i in range(n)]  # far to near: all pass
            costs = drawn(profile, layers, size, hsr=["hierarchical_z"]).costs()
            moved[profile].append(costs.total("write_B") + costs.total("read_B"))
    assert moved["mali-g610"][1] - moved["mali-g610"][0] < 0.03 * moved["mali-g610"][0]  # vertices and lists
    assert moved["desktop-immediate"][1] > 1.5 * moved["desktop-immediate"][0]


def test_an_immediate_mode_gpu_has_no_tiles() -> None:
    size = (100, 60)
    rp = drawn("desktop-immediate", [rect(0, 0, 90, 50, 0.5, size)], size)
    assert rp.layout["tile_width_px"] == rp.layout["tile_height_px"] == 0
    assert rp.stats.bins == rp.stats.bin_entries == rp.stats.tiler_heap_B == rp.stats.prepass_tiles == 0
    assert not any(n for row in rp.stats.traffic.values() for n in row.values())
    assert tg.Device(profile="desktop-immediate").hsr == ("hierarchical_z",)
    picture = np.asarray(rp._bound[0][2].image) if hasattr(rp, "_bound") else None
    host = drawn("host", [rect(0, 0, 90, 50, 0.5, size)], size)
    if picture is not None:
        np.testing.assert_array_equal(picture, np.asarray(host._bound[0][2].image))


def test_the_devices_constant_explains_the_curve_of_resolves() -> None:
    """PanVK: 4.4, 7.4, 13.2, 25.7 of at most 5, 9, 17, 33: what else a frame costs is a quarter of a sample a pixel."""
    from tilegpu.bench.msaa_model import PUBLISHED, other_samples

    found = {n: other_samples(s, n) for n, s in PUBLISHED.items()}
    assert all(0.15 < k < 0.35 for k in found.values())
    for n, k in found.items():
        assert (2 * n + 1 + k) / (1 + k) == pytest.approx(PUBLISHED[n])


# -- the table of constants


def test_every_constant_has_a_source() -> None:
    names = {name.strip() for name in tg._core.profile_names().split(",")}
    assert set(CONSTANTS) == names - {"host"}
    for profile, row in CONSTANTS.items():
        for field in dataclasses.fields(row):
            value = getattr(row, field.name)
            if field.name != "kind":
                assert isinstance(value, Figure) and value.source in SOURCES, (profile, field.name)


def test_host_is_not_modelled() -> None:
    rp = drawn("host", [rect(0, 0, 8, 8, 0.5, (16, 16))], (16, 16))
    with pytest.raises(tg.ValidationError, match=r"profile 'host' has no cost model; there are immortalis-g925, .*measured"):
        rp.costs()


# -- properties


def a_pass(profile: str) -> Any:
    size = (128, 128)
    layers = [cells(0.9, size), rect(0, 0, 100, 90, 0.5, size), cells(0.4, size, 16)]
    return drawn(profile, layers, size, samples=4)._counts()


@pytest.mark.parametrize("profile", CONSTANTS)
def test_more_never_costs_less(profile: str) -> None:
    """Counters and bytes, one by one: none makes a pass cheaper by growing."""
    counts = a_pass(profile)
    before = costs_of(counts)

    def check(changed: Any, what: str) -> None:
        after = costs_of(changed)
        for part in ("arithmetic", "texture", "read_B", "write_B"):
            assert after.total(part) >= before.total(part) - 1e-6, (what, part)
        assert after.cycles >= before.cycles - 1e-6, what

    for name, row in counts.traffic.items():
        for cause, n in row.items():
            check(dataclasses.replace(counts, traffic={**counts.traffic, name: {**row, cause: n + 4096}}), f"{name} {cause}")
    for name in ("fragments_rasterized", "bins"):
        check(dataclasses.replace(counts, counters={**counts.counters, name: counts.counters[name] * 2}), name)
    for i, draw in enumerate(counts.draws):
        for name in ("rasterized", "shaded", "sliced"):
            more = dataclasses.replace(draw, **{name: getattr(draw, name) * 2 + 64})
            check(dataclasses.replace(counts, draws=(*counts.draws[:i], more, *counts.draws[i + 1 :])), f"draw {i} {name}")


@pytest.mark.parametrize("profile", CONSTANTS)
def test_faster_hardware_is_not_slower(profile: str) -> None:
    counts, constants = a_pass(profile), CONSTANTS[profile]
    cycles = costs_of(counts).cycles
    for name in ("cores", "operations", "texels", "pixels", "depth_tests", "primitives", "bus_B", "l2_B"):
        figure = getattr(constants, name)
        faster = dataclasses.replace(constants, **{name: figure._replace(value=figure.value * 2)})
        assert costs_of(counts, faster).cycles <= cycles


def test_cycles_are_of_what_is_busy_longest() -> None:
    costs = PassCosts("mali-g57", "p", {}, {}, {}, {}, {"arithmetic": 10.0, "bus": 25.0, "primitives": 3.0}, stall=2.0)
    assert costs.cycles == 27 and costs.limited_by == "bus"
    assert PassCosts("mali-g57", "p", {}, {}, {}, {}, {"bus": 0.0}).limited_by == "nothing"


def test_quads_of_small_triangles_are_mostly_helpers() -> None:
    assert quad_share(1_000_000, 1) == pytest.approx(1, abs=0.01)
    assert 1.2 < quad_share(100, 1) < 1.5
    assert quad_share(1, 1) == 4
    shares = [quad_share(area, 1) for area in (1, 2, 4, 16, 64, 1024)]
    assert shares == sorted(shares, reverse=True)


def test_adreno_bins_before_the_first_tile() -> None:
    """A pass over all geometry: positions, set-up, the fetch of vertices, the visibility stream; the tiles wait for it. With two tiles or
    fewer there is none (Mesa, tu_util.cc), and each tile shades all vertices."""
    size = (1024, 512)
    rp = drawn("adreno-a650", [cells(0.5, size, 16)], size)
    counts, costs, k = rp._counts(), rp.costs(), CONSTANTS["adreno-a650"]
    vertices, triangles = rp.stats.vertices_shaded, rp.stats.primitives_in
    assert rp.stats.bins > 2
    moved_B = costs.read_B["vertices, binning"] + costs.write_B["visibility stream"]
    moved_B += costs.write_B["low-resolution Z, clear"] + costs.write_B["low-resolution Z"]
    assert costs.binning == {
        "arithmetic": vertices * 8 / (k.operations.value * k.cores.value), "primitives": triangles, "bus": moved_B / k.bus_B.value,
    }  # fmt: skip
    assert costs.cycles == max(costs.binning.values()) + max(costs.units.values())
    bus = (costs.total("read_B") + costs.total("write_B") - moved_B) / k.bus_B.value
    assert costs.units["bus"] == pytest.approx(bus) and costs.units["primitives"] == rp.stats.bin_entries
    assert "binning, before the tiles: primitives" in str(costs)
    few = dataclasses.replace(counts, counters={**counts.counters, "bins": 2})
    without = costs_of(few)
    assert without.binning == {} and "positions, binning" not in without.arithmetic and "visibility stream" not in without.write_B
    assert without.arithmetic["vertices, tiles"] == 2 * vertices * 12
    for profile in ("mali-g610", "desktop-immediate"):
        assert costs_of(a_pass(profile)).binning == {}


def test_concurrent_binning_hides_behind_the_rendering_before_it() -> None:
    """A7xx: the second pass is binned while the first is rendered, on the same cores and the same bus; not where it loads depth."""
    def of(cycles: float, bus: float, binning: float, concurrent: bool) -> PassCosts:
        units = {"arithmetic": cycles, "bus": bus}
        return PassCosts("adreno-a740", "p", {}, {}, {}, {}, units, binning={"primitives": binning, "bus": 10.0}, concurrent=concurrent)

    first = of(100, 50, 40, True)
    assert sum_of([first], "f").cycles == 140 == first.cycles, "nothing is rendered before the first one"
    assert sum_of([first, of(100, 50, 40, False)], "f").cycles == 280
    hidden = sum_of([first, of(100, 50, 40, True)], "f")
    assert hidden.cycles == 240 and hidden.units["binning"] == 40
    assert sum_of([first, of(100, 50, 130, True)], "f").cycles == 240 + 30, "as much as the rendering takes"
    assert sum_of([of(100, 95, 40, True), of(100, 95, 40, True)], "f").cycles == 240 + 5, "the bus is busy with both"
    device = tg.Device(profile="adreno-a740")
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT], "depth": "d32_sfloat", "depth_compare": "less"}
    size, pipeline = (1024, 1024), device.pipeline(VERT, FRAG, **state)
    image, depth = device.image(size, FORMAT), device.image(size, "d32_sfloat")
    may = []
    for load in ({"clear": 1.0}, {"clear": 1.0}, {"load_op": "load"}):
        color = tg.Attachment(image, clear=(0, 0, 0, 1))
        with device.render_pass(color=[color], depth=tg.Attachment(depth, **load), trace="fragments") as rp:
            rp.draw(pipeline, cells(0.5, size, 32))
        may.append(rp.costs().concurrent)
    assert may == [False, True, False], "nothing before it; after a pass; it loads depth"


def test_concurrent_binning_is_the_hardware_s() -> None:
    """Whichever techniques are on: what is compared with low-resolution Z has the same processors."""
    without, off = tg.Device(profile="adreno-a740", hsr="off"), []
    colors, depths = [without.image((1024, 1024), f) for f in (FORMAT, "d32_sfloat")]
    pipeline = without.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less")
    for _ in range(2):
        color, depth = tg.Attachment(colors, clear=(0, 0, 0, 1)), tg.Attachment(depths, clear=1.0)
        with without.render_pass(color=[color], depth=depth, trace="fragments") as rp:
            rp.draw(pipeline, cells(0.5, (1024, 1024), 32))
        off.append(rp.costs().concurrent)
    assert off == [False, True]


def test_helpers_are_counted() -> None:
    """A triangle of half a quad's pixels, a whole rectangle, and a draw that hides itself: what early tests killed runs no quad."""
    size = (64, 64)
    one = rect(0, 0, 1, 1, 0.5, size)
    layers = [one, rect(8, 8, 24, 24, 0.5, size), np.concatenate([rect(32, 32, 48, 48, 0.2, size), rect(32, 32, 48, 48, 0.6, size)])]
    draws = drawn("mali-g57", layers, size, hsr=["hierarchical_z"])._counts().draws
    assert [d.shaded for d in draws] == [1, 16 * 16, 16 * 16]
    # 8 quads lie on the diagonal of 16x16 pixels: each runs for either triangle.
    assert [d.helper_share for d in draws] == [3, 8 * 4 / 256, 8 * 4 / 256]
    found = {
        (profile, lanes): [d.helper_share for d in drawn(profile, layers, size, lanes=lanes, fragment=EARLY_DISCARD)._counts().draws]
        for profile in ("immortalis-g925", "mali-g57", "adreno-a630", "desktop-immediate")
        for lanes in (4, 8, 16)
    }
    for (profile, _), shares in found.items():
        assert shares == found[profile, 4] and shares[0] == 3
    halved = dataclasses.replace(drawn("mali-g57", layers, size)._counts(), draws=())
    assert costs_of(halved).units["arithmetic"] == 0


def test_costs_do_not_know_threads_lanes_and_bins() -> None:
    size = (150, 90)
    layers = [cells(0.9, size), rect(0, 0, 130, 80, 0.5, size), cells(0.4, size, 12)]
    for profile in CONSTANTS:
        found = [
            drawn(profile, layers, size, fragment=EARLY_DISCARD, **options).costs().asdict()
            for options in (
                {"threads": 1, "lanes": 4},
                {"threads": 3, "lanes": 8, "bin_px": 32},
                {"threads": 2, "lanes": 16, "bin_px": 128},
            )
        ]
        assert found[0] == found[1] == found[2], profile


# -- what would help


def test_changes_name_what_they_save() -> None:
    """Depth that is stored: the line's bytes are those of the store, on paper."""
    size = (128, 128)
    device = tg.Device(profile="mali-g610")
    shader = LATE_DISCARD.replace("if (c.a < 0.1) discard;", "")
    pipeline = device.pipeline(VERT, shader, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less")
    color, depth = device.image(size, FORMAT), device.image(size, "d32_sfloat")
    with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0)) as rp:
        rp.draw(pipeline, rect(0, 0, *size, 0.9, size))
        rp.draw(pipeline, rect(0, 0, *size, 0.5, size))
    found = {change.text: change for change in changes(rp._counts())}
    store = next(change for text, change in found.items() if text.startswith("depth: store_op='dont_care'"))
    assert store.saves_write_B == 128 * 128 * 4 and store.saves_read_B == 0


# -- slices of shaders

HEAD = """#version 450
layout(location = 0) in vec4 a; layout(location = 0) out vec4 o; layout(set = 0, binding = 0) uniform sampler2D t;
void test(float x) { if (x * x > 2.0) discard; }
"""


@pytest.mark.parametrize(
    ("body", "arithmetic", "texture"),
    [
        ("o = a * a;", 0, 0),
        ("if (a.x < 0.5) discard; o = a * a;", 1, 0),
        ("vec4 c = texture(t, a.xy); if (c.a < 0.5) discard; c.rgb *= texture(t, a.zw).rgb; o = c;", 1, 1),
        ("float z = a.x * 2.0; if (z > 1.0) z = z * z; gl_FragDepth = z; o = a * z;", 3, 0),
        ("test(a.x + 1.0); o = a * a;", 3, 0),
        ("vec4 c = a; for (int i = 0; i < 4; i++) c += a; if (c.x > 1.0) discard; o = c * c;", 4 * 6 + 1, 0),
        ("if (a.x > 0.0) { if (a.y * a.z > 0.5) discard; } o = a + a;", 3, 0),
    ],
)
def test_coverage_needs_a_part_of_the_shader(body: str, arithmetic: int, texture: int) -> None:
    found = count(tg.compile_glsl(HEAD + "void main() { " + body + " }", "fragment"), part="coverage")
    assert (found.arithmetic, found.texture) == (arithmetic, texture)


def test_position_needs_a_part_of_the_shader() -> None:
    text = """#version 450
    layout(location = 0) in vec4 p; layout(location = 1) in vec3 n; layout(location = 0) out vec3 c;
    layout(push_constant) uniform P { mat4 m; };
    void main() { vec4 w = m * p; vec3 l = normalize(n); c = l * max(dot(l, vec3(0, 1, 0)), 0.0) + w.xyz; gl_Position = w; }"""
    spirv = tg.compile_glsl(text, "vertex")
    assert count(spirv, part="position").arithmetic == 28 < count(spirv).arithmetic
    with pytest.raises(ValueError, match="part is 'half'; it must be one of all, position, coverage"):
        count(spirv, part="half")
