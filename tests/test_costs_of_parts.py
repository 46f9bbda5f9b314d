"""Each part of the cost model is billed for what uses it, and for no more: vertices that binning keeps, attachments where there are no
tiles, low-resolution Z, tiles' size, samples. The expected numbers are counted on paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.cost_changes import changes, with_fewer_samples
from tilegpu.cost_constants import CONSTANTS
from tilegpu.costs import costs_of

FORMAT, DEPTH = "r8g8b8a8_unorm", "d32_sfloat"
VERTEX = np.dtype([("position", "<f4", 4), ("color", "<f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = position * 2.0 - position; v_color = color * color; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o_color;
void main() { o_color = v_color; }"""
TWO = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
void main() { a = b = v_color; }"""
POSITION, VARYINGS = 8, 4  # operations of VERT
DEFERS = [name for name, k in CONSTANTS.items() if k.deferred_triangle_px2.value]
SIZE = (256, 256)
PIXELS = SIZE[0] * SIZE[1]


def rect(x0: float, y0: float, x1: float, y1: float, z: float, size: tuple[int, int]) -> np.ndarray:
    out = np.zeros(6, VERTEX)
    corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y0), (x1, y1), (x0, y1)]
    out["position"] = [(2 * x / size[0] - 1, 2 * y / size[1] - 1, z, 1) for x, y in corners]
    out["color"] = 1
    return out


# -- vertices that binning keeps


@pytest.mark.parametrize("profile", DEFERS)
def test_a_large_triangle_shades_its_position_once_while_binning(profile: str) -> None:
    """Arm, "Avoid expensive computation of position": the further runs are of small triangles, whose vertices are deferred. Of a large one
    the position is known when the rest of its vertices is shaded, with the technique and without it."""
    found = {}
    for hsr in (["deferred_vertex_shading"], ["forward_pixel_kill"]):
        dev = tg.Device(profile, hsr=hsr)
        image, depth = dev.image((64, 64), FORMAT), dev.image((64, 64), DEPTH, transient=True)
        pipeline = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], depth=DEPTH, depth_compare="less", cull="back")
        one = rect(0, 0, 40, 40, 0.5, (64, 64))
        away = one[[0, 2, 1, 3, 5, 4]]
        facing: list[tg.RenderPass] = []
        for vertices in (one, away, np.concatenate([one, away])):
            with dev.render_pass(
                color=[tg.Attachment(image, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")
            ) as rp:
                rp.draw(pipeline, vertices)
            facing.append(rp)
        assert all(rp.stats.primitives_deferred == 0 for rp in facing)
        found[hsr[0]] = [rp.costs() for rp in facing]
    for costs in found.values():
        drawn, culled, both = sorted(costs[:2], key=lambda c: -c.total("arithmetic")) + costs[2:]
        vertices = {"positions, binning": 6 * POSITION, "varyings, binning": 6 * VARYINGS}
        assert {name: n for name, n in drawn.arithmetic.items() if name != "fragments"} == vertices
        assert culled.arithmetic == {"positions, binning": 6 * POSITION}
        # One batch: what culling leaves of it has varyings.
        assert both.arithmetic["positions, binning"] == 12 * POSITION and both.arithmetic["varyings, binning"] == 6 * VARYINGS
    for with_it, without in zip(*found.values(), strict=True):
        assert with_it.units["arithmetic"] == without.units["arithmetic"]
        assert with_it.write_B.get("vertices") is None or with_it.total("write_B") <= without.total("write_B")


# -- attachments where there are no tiles


def in_memory(profile: str, *, colors: list[dict[str, Any]], depth: dict[str, Any], samples: int = 4, one_sample: bool = False) -> Any:
    """One rectangle over all in front; attachments as they are given."""
    dev = tg.Device(profile, **({} if profile == "desktop-immediate" else {"render_mode": "sysmem"}))
    of = {} if one_sample else {"samples": samples}
    images = [dev.image(SIZE, FORMAT, **of) for _ in colors]
    for image in images:
        dev.clear(image, (0, 0, 0, 1))
    targets = [tg.Attachment(image, **{k: dev.image(SIZE, FORMAT) if v is True else v for k, v in c.items()})
               for image, c in zip(images, colors, strict=True)]  # fmt: skip
    depth = {k: dev.image(SIZE, DEPTH) if v is True else v for k, v in depth.items()}
    pipeline = dev.pipeline(
        VERT, TWO if len(colors) > 1 else FRAG, vertex=VERTEX, color=[FORMAT] * len(colors), depth=DEPTH, depth_compare="less",
        samples=samples,
    )  # fmt: skip
    with dev.render_pass(
        color=targets, depth=tg.Attachment(dev.image(SIZE, DEPTH, **of), **depth), **({"samples": samples} if one_sample else {})
    ) as rp:
        rp.draw(pipeline, rect(0, 0, *SIZE, 0.5, SIZE))
    return rp.costs()


CLEAR, PLAIN = {"clear": (0, 0, 0, 1)}, {"clear": 1.0}
MEMORY = ["desktop-immediate", "adreno-a740"]


@pytest.mark.parametrize("profile", MEMORY)
@pytest.mark.parametrize(
    ("resolved", "depth", "read_B", "write_B"),
    [
        ((True, True), {}, 2 * 4 * 4 * PIXELS, 2 * 4 * PIXELS),
        ((True, False), {}, 4 * 4 * PIXELS, 4 * PIXELS),
        ((False, False), {}, 0, 0),
        ((False, False), {"resolve": True, "resolve_mode": "sample_zero"}, 4 * PIXELS, 4 * PIXELS),  # one of four samples is read
        ((False, True), {"resolve": True, "resolve_mode": "min"}, 2 * 4 * 4 * PIXELS, 2 * 4 * PIXELS),
    ],
)
def test_only_what_is_resolved_is_resolved(
    profile: str, resolved: tuple[bool, bool], depth: dict[str, Any], read_B: int, write_B: int
) -> None:
    colors = [{**CLEAR, **({"resolve": True} if one else {})} for one in resolved]
    costs = in_memory(profile, colors=colors, depth={**PLAIN, **depth})
    assert (costs.read_B.get("resolve", 0), costs.write_B.get("resolve", 0)) == (read_B, write_B)


@pytest.mark.parametrize("profile", MEMORY)
def test_samples_of_an_image_of_one_are_spread_and_resolved(profile: str) -> None:
    """``samples=`` of a pass whose images have one: without tiles the samples lie in memory, and are filled and resolved there."""
    load = in_memory(profile, colors=[{"load_op": "load"}], depth={**PLAIN, "store_op": "dont_care"}, one_sample=True)
    assert (load.read_B["unresolve"], load.write_B["unresolve"]) == (4 * PIXELS, 4 * 4 * PIXELS)
    assert (load.read_B["resolve"], load.write_B["resolve"]) == (4 * 4 * PIXELS, 4 * PIXELS)
    clear = in_memory(profile, colors=[CLEAR], depth={**PLAIN, "store_op": "dont_care"}, one_sample=True)
    assert "unresolve" not in clear.read_B and clear.read_B["resolve"] == 4 * 4 * PIXELS


@pytest.mark.filterwarnings("ignore:.*undefined")
@pytest.mark.parametrize("profile", MEMORY)
def test_a_clear_saves_the_reads_of_its_own_attachment(profile: str) -> None:
    """Two targets of 256 KiB, which any second cache holds: what is blended into the loaded one is fetched, and the other's clear has
    nothing to do with it."""
    dev = tg.Device(profile, **({} if profile == "desktop-immediate" else {"render_mode": "sysmem"}))
    images = [dev.image(SIZE, FORMAT) for _ in range(2)]
    for image in images:
        dev.clear(image, (0, 0, 0, 1))
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT, FORMAT], "blend": "alpha"}
    into_first = dev.pipeline(VERT, FRAG, attachment_locations=[0, None], **state)
    for name, loads, read_B in (
        ("loaded", ("load", "clear"), 4 * PIXELS), ("cleared", ("clear", "load"), 0), ("undefined", ("dont_care", "load"), 0)
    ):  # fmt: skip
        of = [CLEAR if load == "clear" else {"load_op": load} for load in loads]
        with dev.render_pass(color=[tg.Attachment(image, **one) for image, one in zip(images, of, strict=True)]) as rp:
            rp.draw(into_first, rect(0, 0, *SIZE, 0.5, SIZE))
        costs = rp.costs()
        assert costs.read_B.get("colour", 0) == read_B, name
        # What is cleared and drawn over leaves the cache once; the cleared one that nothing is drawn to does too.
        assert costs.write_B["colour"] == 4 * PIXELS and costs.write_B.get("clears", 0) == (4 * PIXELS if name == "loaded" else 0)


def test_stencil_moves_when_it_is_written() -> None:
    """An image of stencil alone, a byte a pixel; and one with depth, whose texel of 4 bytes moves as a whole, also where no depth is
    written."""
    dev = tg.Device("desktop-immediate")
    color = dev.image(SIZE, FORMAT)
    marks = {"stencil_test": {"pass": "replace", "reference": 1}}
    whole, both = rect(0, 0, *SIZE, 0.5, SIZE), "d24_unorm_s8_uint"
    for format, state, row, moved_B in (
        ("s8_uint", {}, "stencil", (0, 0)), ("s8_uint", marks, "stencil", (PIXELS, PIXELS)),
        (both, {"depth_test": False}, "depth", (0, 0)), (both, {"depth_test": False, **marks}, "depth", (4 * PIXELS, 4 * PIXELS)),
        (both, {"depth_compare": "less", "depth_write": False}, "depth", (4 * PIXELS, 0)),
    ):  # fmt: skip
        image = dev.image(SIZE, format)
        dev.clear(image, **({"stencil": 0} if format == "s8_uint" else {"depth": 1.0, "stencil": 0}))
        targets = {"stencil": tg.Attachment(image, load_op="load")}
        if format == both:
            targets["depth"] = tg.Attachment(image, load_op="load")
        formats = dict.fromkeys(targets, format)
        pipeline = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], **formats, **state)
        with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 1))], **targets) as rp:
            rp.draw(pipeline, whole)
        costs = rp.costs()
        assert (costs.read_B.get(row, 0), costs.write_B.get(row, 0)) == moved_B, (format, state)


# -- low-resolution Z

ADRENO = [name for name, k in CONSTANTS.items() if k.kind == "gmem"]
LARGE = (2048, 1024)
LRZ = "low-resolution Z"
DISCARDS = FRAG.replace("{ o", "{ if (gl_FragCoord.x < 0) discard; o")


def low_resolution_z(
    profile: str, width_px: int = LARGE[0], *, samples: int = 1, fragment: str = FRAG, load: bool = False, mode: str = "gmem", **state: Any
) -> tuple[tg.RenderPass, dict[str, float], dict[str, float]]:
    """One rectangle, from the left; what is read and written of low-resolution Z, by the row's end."""
    dev = tg.Device(profile, render_mode=mode)
    color = dev.image(LARGE, FORMAT, samples=samples, transient=samples > 1)
    depth = dev.image(LARGE, DEPTH, samples=samples)
    pipeline = dev.pipeline(
        VERT, fragment, vertex=VERTEX, color=[FORMAT], depth=DEPTH, samples=samples, **(state or {"depth_compare": "less"})
    )
    if load:
        dev.clear(depth, depth=1.0)
    with dev.render_pass(
        color=[tg.Attachment(color, clear=(0, 0, 0, 1), store_op="dont_care")],
        depth=tg.Attachment(depth, **({"load_op": "load"} if load else {"clear": 1.0})),
    ) as rp:
        rp.draw(pipeline, rect(0, 0, width_px, LARGE[1], 0.5, LARGE))
    costs = rp.costs()
    read_B, write_B = ({name[len(LRZ) :]: n for name, n in of.items() if name.startswith(LRZ)} for of in (costs.read_B, costs.write_B))
    return rp, read_B, write_B


@pytest.mark.parametrize("profile", ADRENO)
@pytest.mark.parametrize("samples", [1, 2, 4])
def test_low_resolution_z_has_a_word_for_8x8_samples(profile: str, samples: int) -> None:
    """Mesa, "Low Resolution Z Buffer": of a multisampled image the buffer is of samples, so twice as many have twice the bytes: on paper
    2048 * 1024 / 64 words of 16 bits for one sample; and ``rp.lrz()`` has as many."""
    rp, read_B, write_B = low_resolution_z(profile, samples=samples)
    bytes_B = 2 * 2048 * 1024 // 64 * samples
    assert rp.stats.bins > 2 and rp.lrz().buffers["less"].depth.nbytes == bytes_B
    assert read_B[""] == write_B[""] == bytes_B
    k, binning = CONSTANTS[profile], rp.costs().binning
    streams_B = sum(rp.costs().read_B.get(n, 0) for n in ("indices", "vertices, binning")) + rp.stats.visibility_stream_B
    assert binning["bus"] * k.bus_B.value == pytest.approx(streams_B + bytes_B + write_B[", clear"])


@pytest.mark.parametrize("profile", ADRENO)
def test_low_resolution_z_is_cleared_by_bits_where_there_are_some(profile: str) -> None:
    """A bit for 16x4 texels: 256 x 128 texels have 16 x 32 of them, 64 bytes; 512 x 256 have 32 x 64. On the A630 all are cleared."""
    fast = profile != "adreno-a630"
    for samples, clear_B in ((1, 64 if fast else 65536), (4, 32 * 64 // 8 if fast else 4 * 65536)):
        _, _, write_B = low_resolution_z(profile, samples=samples)
        assert write_B[", clear"] == clear_B, samples


@pytest.mark.parametrize("profile", ADRENO)
def test_low_resolution_z_moves_where_it_was_modified(profile: str) -> None:
    """A half of the picture; without bits nobody knows which half."""
    _, read_B, write_B = low_resolution_z(profile, 1024)
    assert read_B[""] == write_B[""] == (65536 if profile == "adreno-a630" else 32768)


@pytest.mark.parametrize("profile", ADRENO)
@pytest.mark.parametrize("state", [{"depth_compare": "equal"}, {"depth_test": False}, {"depth_compare": "always"}], ids=str)
def test_low_resolution_z_costs_its_clear_where_no_draw_has_it(profile: str, state: dict[str, Any]) -> None:
    """Off for the draw, or invalid from the first one on: nothing is read, and nothing but the clear is written."""
    rp, read_B, write_B = low_resolution_z(profile, **state)
    assert rp.explain().rows[0]["low_resolution_z_off"]
    assert read_B == {} and write_B == {", clear": 65536 if profile == "adreno-a630" else 64}


@pytest.mark.parametrize("profile", ADRENO)
def test_low_resolution_z_of_loaded_depth(profile: str) -> None:
    """The A630 has none for the pass. From the A650 on what a command cleared is as good; the bits are that command's."""
    _, read_B, write_B = low_resolution_z(profile, load=True)
    assert (read_B, write_B) == (({}, {}) if profile == "adreno-a630" else ({"": 65536}, {"": 65536}))


@pytest.mark.parametrize("profile", ["adreno-a650", "adreno-a740"])
def test_low_resolution_z_that_is_kept_moves_when_a_draw_has_it(profile: str) -> None:
    """The buffer of the pass before is there; a pass that has no depth test does not read it, one that only tests does not write it."""
    dev = tg.Device(profile)
    color, depth = dev.image(LARGE, FORMAT), dev.image(LARGE, DEPTH)
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT], "depth": DEPTH}
    writes = dev.pipeline(VERT, FRAG, depth_compare="less", **state)
    tests = dev.pipeline(VERT, FRAG, depth_compare="less", depth_write=False, **state)
    neither = dev.pipeline(VERT, FRAG, depth_test=False, **state)
    found = []
    for pipeline in (writes, neither, tests):
        of = {"load_op": "load"} if found else {"clear": 1.0}
        with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, **of), trace="fragments") as rp:
            rp.draw(pipeline, rect(0, 0, *LARGE, 0.5, LARGE))
        found.append((rp.costs().read_B.get(LRZ, 0), rp.costs().write_B.get(LRZ, 0)))
    assert found == [(65536, 65536), (0, 0), (65536, 0)]


@pytest.mark.parametrize("profile", ADRENO)
def test_low_resolution_z_is_written_by_feedback(profile: str) -> None:
    """A draw that discards is tested, and writes nothing while binning; in memory nothing is binned. What its fragments leave is in the
    buffer afterwards, from the A650 on."""
    feeds_back = profile != "adreno-a630"
    _, read_B, write_B = low_resolution_z(profile, fragment=DISCARDS)
    assert "" not in write_B and write_B.get(", feedback", 0) == (65536 if feeds_back else 0)
    assert read_B == {"": 65536}
    _, read_B, write_B = low_resolution_z(profile, mode="sysmem")
    assert "" not in write_B and write_B.get(", feedback", 0) == (65536 if feeds_back else 0)
    assert read_B == ({"": 65536} if feeds_back else {}), "nothing is rejected there without feedback"


# -- larger tiles


def fat_pixels(profile: str, layer: np.ndarray, layers: int, samples: int) -> tuple[Any, Any, dict[str, Any]]:
    """A pass, its layout and what it is told about its tiles, by the beginning of the text."""
    dev = tg.Device(profile)
    color, depth = (dev.image(SIZE, name, samples=samples, transient=True) for name in (FORMAT, DEPTH))
    pipeline = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], depth=DEPTH, depth_compare="less", samples=samples)
    with dev.render_pass(
        color=[tg.Attachment(color, clear=(0, 0, 0, 1), store_op="dont_care")],
        depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"),
    ) as rp:
        rp.draw(pipeline, np.concatenate([layer] * layers))
    found = {change.text.partition(",")[0]: change for change in changes(rp._counts())}
    return rp, (rp.layout["tile_width_px"], rp.layout["tile_height_px"]), found


@pytest.mark.parametrize(
    ("profile", "samples", "tiles_px", "layer", "entries", "left"),
    [
        # 256 tiles, of each triangle half and the diagonal's half again: 136; of 64 tiles 36, where areas say 1 + 7 / 2 + 128 / 4.
        ("mali-g610", 8, ((16, 16), (32, 32)), rect(0, 0, *SIZE, 0.5, SIZE), (136, 36), 36.5),
        # 32 tiles, of which 20, and 16, of which 10: 1 + 3 * 2 / 3 + 16 / 2.
        ("immortalis-g925", 8, ((64, 32), (64, 64)), rect(0, 0, *SIZE, 0.5, SIZE), (20, 10), 11),
        # A line: its edges are all that there is of it. 16 tiles, then 8: 1 + 14 / 2 + 1 / 4, as either triangle has samples of all pixels.
        ("mali-g610", 8, ((16, 16), (32, 32)), rect(0, 8, 256, 9, 0.5, SIZE), (16, 8), 8.25),
        # Inside a tile there is nothing to save.
        ("mali-g610", 8, ((16, 16), (32, 32)), rect(4, 4, 10, 10, 0.5, SIZE), (1, 1), 1),
    ],
)
def test_larger_tiles_have_less_by_area_and_by_edges(
    profile: str, samples: int, tiles_px: Any, layer: np.ndarray, entries: tuple[int, int], left: float
) -> None:
    """A list entry is 4 bytes, written and read; thirty rectangles are sixty triangles."""
    rp, tile_px, found = fat_pixels(profile, layer, 30, samples)
    followed, large_px, _ = fat_pixels(profile, layer, 30, 1)
    assert (tile_px, large_px) == tiles_px
    assert (rp.stats.bin_entries, followed.stats.bin_entries) == (60 * entries[0], 60 * entries[1])
    told_B = found["fewer bytes or samples a pixel"].saves_B if "fewer bytes or samples a pixel" in found else 0
    assert told_B == pytest.approx(60 * 8 * (entries[0] - left), abs=60 * 8 * 0.15), "pixels of the diagonal belong to both"
    real_B = sum(rp.costs().total(way) - followed.costs().total(way) for way in ("read_B", "write_B"))
    assert told_B == pytest.approx(real_B, rel=0.1)


# -- fewer samples


def two_passes(samples: int) -> tuple[Any, float]:
    """Cleared by a command, drawn to by two passes, resolved by commands behind each: what the frame moves, and what would help."""
    dev = tg.Device("mali-g610")
    out = dev.image(SIZE, FORMAT)
    image = dev.image(SIZE, FORMAT, samples=samples) if samples > 1 else out
    pipeline = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], samples=samples)
    with dev.frame(outputs=out) as frame:
        dev.clear(image, (0, 0, 0, 1))
        for color in (0.25, 0.5):  # two pictures: what is equal need not be stored
            layer = rect(0, 0, *SIZE, 0.5, SIZE)
            layer["color"] = color
            with dev.render_pass(color=[tg.Attachment(image, load_op="load")]) as rp:
                rp.draw(pipeline, layer)
            if samples > 1:
                dev.resolve(image, out)
    found = frame.what_if(profiles=["mali-g610"])
    return found, found.profiles[0]["read_B"] + found.profiles[0]["write_B"]


@pytest.mark.parametrize(("samples", "text"), [(4, "2 samples in place of 4"), (2, "1 sample in place of 2")])
def test_fewer_samples_move_less_in_all_that_shares_the_image(samples: int, text: str) -> None:
    """On paper: a clear, two loads, two stores and two reads by resolves, each half of the samples. Of one sample nothing is resolved:
    what the commands write is gone too."""
    found, before_B = two_passes(samples)
    advice = [change for change in found.changes if text in change["text"]]
    assert len(advice) == 1 and advice[0]["text"].startswith("pass 1"), "said once, of all that have the image"
    saves = advice[0]["saves"]["mali-g610"]
    assert saves["detail"].startswith("also in clear 0, resolve 2, pass 3") and saves["detail"].endswith("of the same images")
    halves_B = 7 * 4 * PIXELS * samples // 2
    told_B = halves_B if samples > 2 else 5 * 4 * PIXELS + 2 * (2 + 1) * 4 * PIXELS
    assert saves["read_B"] + saves["write_B"] == told_B
    _, after_B = two_passes(samples // 2)
    assert before_B - after_B == pytest.approx(told_B, rel=0.001), "but for lists of tiles, which are larger"


def test_one_sample_is_stored_once() -> None:
    """Two samples stored beside their resolve: of one the image is what the resolve left."""
    dev = tg.Device("mali-g610")
    moved_B = {}
    for samples in (2, 1):
        image, out = dev.image(SIZE, FORMAT, samples=samples), dev.image(SIZE, FORMAT)
        pipeline = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], samples=samples)
        resolve = {"resolve": out, "store_op": "store"} if samples > 1 else {}
        with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1), **resolve)]) as rp:
            rp.draw(pipeline, rect(0, 0, *SIZE, 0.5, SIZE))
        moved_B[samples] = rp.costs().write_B["attachments stored"] + rp.costs().write_B.get("resolved", 0)
        if samples == 2:
            change = next(one for one in changes(rp._counts()) if one.text.startswith("1 sample in place of 2"))
    assert change.saves_write_B == moved_B[2] - moved_B[1] == 2 * 4 * PIXELS


def test_fewer_samples_have_less_low_resolution_z() -> None:
    rp, _, _ = low_resolution_z("adreno-a650", samples=4)
    fewer, _, _ = low_resolution_z("adreno-a650", samples=2)
    halved = with_fewer_samples(rp._counts())
    assert halved is not None and with_fewer_samples(low_resolution_z("adreno-a650")[0]._counts()) is None
    for way in ("read_B", "write_B"):
        found, real = getattr(costs_of(halved), way), getattr(fewer.costs(), way)
        assert {k: n for k, n in found.items() if k.startswith(LRZ)} == {k: n for k, n in real.items() if k.startswith(LRZ)}
