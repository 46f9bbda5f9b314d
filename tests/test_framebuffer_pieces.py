"""The framebuffer's five pieces as Python shows them, the ledger's arithmetic, splits of a pass, layered clears."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.scene import scenes
from tilegpu.scene.render import render

#: Random scenes, and states that nothing asks for, are the matter of this file.
pytestmark = pytest.mark.filterwarnings("ignore::tilegpu.UnusedNameWarning")

SIZE = (203, 131)  # no multiple of any tile

VERT = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
FRAG = """#version 450
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(gl_FragCoord.xy / 256.0, 0.5, 1.0); }"""


def attachments(device: tg.Device, samples: int) -> tuple[tg.Image, tg.Image]:
    return device.image(SIZE, "r8g8b8a8_unorm", samples=samples), device.image(SIZE, "r8g8b8a8_unorm")


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
def test_samples_moved_in_tile_against_separate(samples: int) -> None:
    """The article's arithmetic: store all, read all, write one is 2n + 1 samples a pixel, resolving in the tile is one."""
    device = tg.Device()
    pipe = device.pipeline(VERT, FRAG, color=["r8g8b8a8_unorm"], samples=samples)
    texels = SIZE[0] * SIZE[1]

    many, one = attachments(device, samples)
    with device.render_pass(color=[tg.Attachment(many, clear=(0, 0, 0, 1), store_op="none", resolve=one)]) as rp:
        rp.draw(pipe, count=3)
    in_tile = sum(rp.stats.traffic["color0"][c] for c in ("load", "store", "resolve"))
    assert rp.store["color0"]["samples"]["store"] is False

    kept, separate = attachments(device, samples)
    with device.render_pass(color=[tg.Attachment(kept, clear=(0, 0, 0, 1), store_op="store")]) as rp:
        rp.draw(pipe, count=3)
    stored = rp.stats.traffic["color0"]["store"]
    device.resolve(kept, separate)
    moved = stored + texels * 4 * samples + texels * 4  # the pass stores all; the resolve reads all and writes one
    assert in_tile == texels * 4
    assert stored == texels * 4 * samples
    assert moved / in_tile == 2 * samples + 1
    assert (one.numpy() == separate.numpy()).all()


def test_the_article_s_factors() -> None:
    assert [2 * n + 1 for n in (2, 4, 8, 16)] == [5, 9, 17, 33]


@pytest.mark.parametrize(
    ("profile", "formats", "samples", "tile"),
    [
        ("mali-g57", ["r8g8b8a8_unorm"], 1, (16, 16)),
        ("mali-g57", ["r8g8b8a8_unorm"] * 4, 4, (16, 8)),
        ("mali-g610", ["r16g16b16a16_sfloat"], 4, (32, 16)),
        ("mali-g720", ["r8g8b8a8_unorm"], 16, (16, 16)),
        ("mali-g725", ["r8g8b8a8_unorm"], 4, (64, 32)),
        ("immortalis-g925", ["r32g32b32a32_sfloat"], 1, (64, 64)),
        ("immortalis-g925", ["r32g32b32a32_sfloat"] * 2, 1, (64, 32)),
        ("immortalis-g925", ["r32g32b32a32_sfloat"] * 3, 1, (32, 32)),
    ],
)
def test_tile_sizes_of_profiles(profile: str, formats: list[str], samples: int, tile: tuple[int, int]) -> None:
    device = tg.Device(profile=profile)
    images = [device.image((64, 64), f, samples=samples) for f in formats]
    with device.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 0)) for i in images]) as rp:
        pass
    assert (rp.layout["tile_width_px"], rp.layout["tile_height_px"]) == tile


def test_a_layout_that_a_profile_cannot_hold_is_an_error() -> None:
    device = tg.Device(profile="mali-g57")
    images = [device.image((64, 64), "r32g32b32a32_sfloat", samples=16) for _ in range(8)]
    with (
        pytest.raises(tg.Error, match="mali-g57"),
        device.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 0)) for i in images]),
    ):
        pass


def test_dont_care_with_store_none_loads() -> None:
    """The documented corner case: contents must survive."""
    device = tg.Device()
    image = device.image((32, 32), "r8g8b8a8_unorm")
    with device.render_pass(color=[tg.Attachment(image, clear=(1, 0, 0, 1))]):
        pass
    with device.render_pass(color=[tg.Attachment(image, load_op="dont_care", store_op="none")]) as rp:
        pass
    assert rp.load["color0"]["in_bounds"] == "image" and rp.load["color0"]["for_splits"]
    assert (image.numpy() == (255, 0, 0, 255)).all()


@pytest.mark.parametrize("load_op", ["dont_care", "load"])
def test_lint_of_samples_that_are_loaded_for_nothing(load_op: str) -> None:
    """With a resolve as well: it begins undefined, and 4 samples are loaded all the same. Those of load_op load are needed."""
    device = tg.Device()
    samples, out = device.image((32, 32), "r8g8b8a8_unorm", samples=4), device.image((32, 32), "r8g8b8a8_unorm")
    device.clear(samples, (1, 0, 0, 1))
    with device.render_pass(color=[tg.Attachment(samples, load_op=load_op, store_op="none", resolve=out)]) as rp:
        pass
    assert rp.stats.traffic["color0"]["load"] == 32 * 32 * 16
    said = [line for line in rp.lint() if "store_op none makes the pass load it" in line]
    assert len(said) == (load_op == "dont_care"), rp.lint()


@pytest.mark.parametrize(
    "area", [(0, 0, 203, 131), (5, 7, 100, 64), (64, 64, 64, 64), (202, 130, 1, 1), (63, 1, 2, 129)]
)
@pytest.mark.parametrize("samples", [1, 4])
def test_outside_the_render_area_nothing_changes(area: tuple[int, int, int, int], samples: int) -> None:
    device = tg.Device()
    before = np.random.default_rng(7).integers(0, 256, (SIZE[1], SIZE[0], 4), np.uint8)
    target = device.image(SIZE, "r8g8b8a8_unorm")
    device.copy(before, target)
    pipe = device.pipeline(VERT, FRAG, color=["r8g8b8a8_unorm"], samples=samples)
    color = tg.Attachment(target, clear=(0, 0, 0, 1))
    if samples > 1:
        color = tg.Attachment(
            device.image(SIZE, "r8g8b8a8_unorm", samples=samples),
            clear=(0, 0, 0, 1),
            store_op="dont_care",
            resolve=target,
        )
    with device.render_pass(color=[color], area=area) as rp:
        rp.draw(pipe, count=3)
    x, y, w, h = area
    after = target.numpy()
    inside = np.zeros(SIZE[::-1], bool)
    inside[y : y + h, x : x + w] = True
    assert (after[~inside] == before[~inside]).all()
    assert (after[inside][:, 2] == 128).all()
    assert sum(rp.stats.traffic["color0"][c] for c in ("load", "border_load")) == 0


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_splits_are_the_same_for_any_number_of_threads(threads: int) -> None:
    frame = scenes()["mesh_100k"].frame((160, 90))
    whole = render(tg.Device(threads=2), frame)
    split = render(tg.Device(threads=threads, tiler_heap=200_000), frame)
    other = render(tg.Device(threads=2, tiler_heap=200_000), frame)
    assert whole.stats.splits == 0
    assert split.stats.splits == other.stats.splits > 3
    assert split.stats.traffic == other.stats.traffic
    assert split.stats.traffic["color0"]["spill_store"] > 0 and split.stats.traffic["color0"]["spill_load"] > 0
    assert (split.images[0] == whole.images[0]).all()
    # One wave of chunks holds the whole pass; beyond the heap only a part of it is in memory at once: more than the heap by one wave.
    assert whole.stats.peak_arena_B == whole.stats.tiler_heap_B
    assert 200_000 < split.stats.peak_arena_B == other.stats.peak_arena_B < split.stats.tiler_heap_B / 2


def test_clear_inside_a_layered_pass_reaches_every_layer() -> None:
    device = tg.Device()
    image = device.image((40, 40), "r8g8b8a8_unorm", layers=3)
    with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1))], layers=3) as rp:
        rp.clear((0, 1, 0, 1), rect=(8, 8, 16, 16))
    for layer in range(3):
        picture = image.numpy(layer=layer)
        assert (picture[8:24, 8:24] == (0, 255, 0, 255)).all() and (picture[:8] == (0, 0, 0, 255)).all()


def test_lint_names_what_a_mobile_engineer_would() -> None:
    device = tg.Device()
    many, one = attachments(device, 4)
    with device.render_pass(color=[tg.Attachment(many, clear=(0, 0, 0, 1), store_op="store", resolve=one)]) as rp:
        pass
    assert any("color0" in line and "resolves" in line for line in rp.lint())
    with device.render_pass(color=[tg.Attachment(many, clear=(0, 0, 0, 1), store_op="dont_care", resolve=one)]) as rp:
        pass
    assert rp.lint() == []


@pytest.mark.parametrize("heap", [0, 1])
def test_tiles_are_the_ledger_tile_by_tile(heap: int) -> None:
    device = tg.Device(bin_px=32, tiler_heap=heap)
    target = device.image(SIZE, "r8g8b8a8_unorm", layers=2)
    device.clear(target, (0.5, 0.5, 0.5, 1))
    pipe = device.pipeline(VERT, FRAG, color=["r8g8b8a8_unorm"])
    with device.render_pass(color=[target], area=(5, 7, 150, 100), layers=2, trace=True) as rp:
        rp.draw(pipe, count=3, scissor=(10, 10, 60, 30))
        rp.clear((0, 0, 0, 0), rect=(100, 40, 20, 20))
    tiles = rp.tiles()
    assert len(tiles) == rp.stats.bins * (rp.stats.splits + 1)
    for attachment, causes in rp.stats.traffic.items():
        for cause, total in causes.items():
            assert sum(t["traffic"][attachment][cause] for t in tiles) == total, cause
    at = {(t["x"], t["y"], t["layer"]): t for t in tiles if t["part"] in ("normal", "last")}
    first = at[0, 0, 0]
    assert first["has_primitives"] or rp.stats.splits
    if not rp.stats.splits:
        assert first["traffic"]["color0"]["load"] == first["traffic"]["color0"]["store"] == 27 * 25 * 4
        assert at[128, 96, 0]["traffic"]["color0"]["store"] == 0
        assert at[128, 96, 0]["traffic"]["color0"]["saved_clean_tile"] == 2 * 27 * 11 * 4
    with device.render_pass(color=[target]) as plain:
        pass
    with pytest.raises(tg.Error, match="trace=True"):
        plain.tiles()


def test_lint_of_splits_profiles_and_shrunk_tiles() -> None:
    device = tg.Device(profile="mali-g57", tiler_heap=1)
    images = [device.image((64, 64), "r32g32b32a32_sfloat") for _ in range(8)]
    pipe = device.pipeline(VERT, FRAG, color=[i.format for i in images])
    with device.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 0)) for i in images]) as rp:
        for _ in range(3):
            rp.draw(pipe, count=3)
    assert rp.stats.splits and "Mesa" in rp.layout["profile_source"]
    lines = rp.lint()
    spilled = rp.stats.bytes("spill_load") + rp.stats.bytes("spill_store")
    assert any("tiler heap was full" in x and f"{spilled / (1 << 20):.2f} MiB" in x for x in lines), lines
    assert any("shrink the tile of mali-g57 to 8x8" in x and "128 B of colour" in x for x in lines), lines


@pytest.mark.parametrize(("profile", "format", "samples", "tile", "words"), [
    # of mali-g610 a tile has 16 KiB of colour and 8 KiB of depth at most, which are there with and without a depth attachment
    ("mali-g610", "r16_sfloat", 4, (32, 16), "16 B of depth a pixel shrink the tile of mali-g610 to 32x16 px (depth takes 4 a sample, with "
     "and without a depth attachment); one sample a pixel gives 32x32 px; smaller colour formats alone give nothing"),
    ("mali-g610", "r8g8b8a8_unorm", 4, (32, 16), "smaller colour formats alone give nothing"),
    ("mali-g720", "r8g8b8a8_unorm", 2, None, "smaller colour formats alone give nothing"),
    ("mali-g610", "r32g32b32a32_sfloat", 4, None, "64 B of colour a pixel shrink the tile of mali-g610 to 16x16 px; one sample a pixel "
     "gives 32x32 px, colour formats of 4 B a sample give 32x16 px"),
    ("mali-g610", "r32g32b32a32_sfloat", 1, (32, 32), ""),
])  # fmt: skip
def test_lint_names_the_budget_that_makes_a_tile_small(profile: str, format: str, samples: int, tile: Any, words: str) -> None:
    device = tg.Device(profile=profile)
    image, one = device.image((128, 128), format, samples=samples, transient=samples > 1), device.image((128, 128), format)
    target = tg.Attachment(image, clear=(0, 0, 0, 1), **({"store_op": "dont_care", "resolve": one} if samples > 1 else {}))
    with device.render_pass(color=[target]) as rp:
        pass
    assert tile in (None, (rp.layout["tile_width_px"], rp.layout["tile_height_px"]))
    lines = [line for line in rp.lint() if "layout: " in line]
    assert (len(lines) == 1 and words in lines[0]) if words else not lines, lines


def test_what_does_not_fit_together_is_an_error() -> None:
    """Sample counts of the attachments, formats and sample counts of resolves, the pipeline's against the pass's."""
    device = tg.Device()
    one, four = attachments(device, 4)[::-1]
    other = device.image(SIZE, "r16g16b16a16_sfloat")
    with pytest.raises(tg.Error, match=r"samples is 4.*1 as color0 has"), device.render_pass(color=[one, four]):
        pass
    with (
        pytest.raises(tg.Error, match=r"resolve.format is r16g16b16a16_sfloat.*r8g8b8a8_unorm"),
        device.render_pass(color=[tg.Attachment(four, clear=(0, 0, 0, 0), resolve=other)]),
    ):
        pass
    with pytest.raises(tg.Error, match="resolve"), device.render_pass(color=[tg.Attachment(one, resolve=other)]):
        pass
    with pytest.raises(tg.Error, match="made for 1 samples, the pass has 4"), device.render_pass(color=[four]) as rp:
        rp.draw(device.pipeline(VERT, FRAG, color=[four.format]), count=3)
    with (
        pytest.raises(tg.Error, match=r"r16g16b16a16_sfloat in the pass and r8g8b8a8_unorm"),
        device.render_pass(color=[other]) as rp,
    ):
        rp.draw(device.pipeline(VERT, FRAG, color=[one.format]), count=3)


@pytest.mark.parametrize("area", [None, (3, 2, 2090, 37), (1, 0, 1501, 40)])
def test_long_rows_of_clear_values(area: tuple[int, int, int, int] | None) -> None:
    """Rows from 1024 bytes on are filled by a string instruction: texels of every size, ends that are no whole word, nothing beyond."""
    device = tg.Device(bin_px=32)
    formats = ("r8_unorm", "r16_sfloat", "r8g8b8a8_unorm", "r16g16b16a16_sfloat", "r32g32b32a32_sfloat", "d32_sfloat")
    x, y, w, h = area or (0, 0, 2101, 41)
    inside = np.zeros((41, 2101), bool)
    inside[y : y + h, x : x + w] = True
    results = []
    for trace in (False, True):  # each tile's traffic is asked for: tiles one by one, whose rows are short
        images = [device.image((2101, 41), f) for f in formats]
        for image in images[:-1]:
            device.clear(image, (0.75, 0.5, 0.25, 1))
        device.clear(images[-1], depth=0.75)
        before = [image.numpy() for image in images]
        with device.render_pass(
            color=[tg.Attachment(image, clear=(0.1, 0.3, 0.6, 0.9)) for image in images[:-1]],
            depth=tg.Attachment(images[-1], clear=0.125),
            area=area,
            trace=trace,
        ):
            pass
        results.append([image.numpy() for image in images])
        for now, then in zip(results[-1], before, strict=True):
            np.testing.assert_array_equal(now[~inside], then[~inside])
            assert (now[inside] == now[y, x]).all() and (now[y, x] != then[y, x]).any()
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("area", [None, (5, 3, 181, 117), (64, 0, 139, 131)])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("drawn", [False, True])
def test_cleared_tiles_side_by_side(area: tuple[int, int, int, int] | None, samples: int, drawn: bool) -> None:
    """Tiles without primitives are filled by whole rows; where each tile's traffic is asked for, one by one. Same bits, same bytes."""
    device = tg.Device(bin_px=32)
    pipe = device.pipeline(
        VERT, FRAG, color=["r8g8b8a8_unorm", "r16_sfloat"], depth="d24_unorm_s8_uint", samples=samples
    )
    results = []
    for trace in (False, True):
        formats = ("r8g8b8a8_unorm", "r16_sfloat", "d24_unorm_s8_uint")
        color, half, depth = (device.image(SIZE, f, samples=samples) for f in formats)
        for image, value in ((color, (0.9, 0.1, 0.4, 0.3)), (half, (0.25, 0, 0, 0))):
            device.clear(image, value)
        device.clear(depth, depth=0.75, stencil=9)
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0.1, 0.6, 1, 1)), tg.Attachment(half, clear=(-3.5, 0, 0, 0))],
            depth=tg.Attachment(depth, clear=0.5),
            area=area,
            trace=trace,
        ) as rp:
            if drawn:
                rp.draw(pipe, count=3, scissor=(70, 40, 50, 20))
        planes = [color.numpy(), half.numpy(), depth.numpy(), depth.numpy(aspect="stencil")]
        results.append((planes, rp.stats.traffic))
    for a, b in zip(results[0][0], results[1][0], strict=True):
        np.testing.assert_array_equal(a, b)
    assert results[0][1] == results[1][1]
