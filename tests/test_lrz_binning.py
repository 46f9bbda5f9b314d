"""Low-resolution Z while binning, feedback within a pass, GMEM and sysmem: what is left out, what it is worth, and the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (256, 192)
FORMAT = "r8g8b8a8_unorm"
VERTEX = np.dtype([("position", "<f4", 4), ("color", "<f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o;
void main() { o = v_color; }"""
DISCARD = FRAG.replace("o = v", "if (v_color.a < 0.1) discard; o = v")  # which never does
COUNTERS = (
    "bin_entries", "tiler_heap_B", "visibility_stream_B", "lrz_primitives_rejected_in_binning", "lrz_primitives_tested",
    "lrz_primitives_rejected", "lrz_blocks_rejected", "lrz_feedback_texels", "fragments_rasterized", "fragments_shaded", "splits",
)  # fmt: skip


def rects(boxes: list[tuple[float, float, float, float]], z: float, size: tuple[int, int] = SIZE) -> np.ndarray:
    out = np.zeros(6 * len(boxes), VERTEX)
    for i, (x0, y0, x1, y1) in enumerate(boxes):
        corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y0), (x1, y1), (x0, y1)]
        out["position"][6 * i : 6 * i + 6] = [(2 * x / size[0] - 1, 2 * y / size[1] - 1, z, 1) for x, y in corners]
    out["color"] = (z, 1 - z, 0.5, 1)
    return out


def full(z: float) -> np.ndarray:
    out = np.zeros(3, VERTEX)
    out["position"] = [(-1, -1, z, 1), (3, -1, z, 1), (-1, 3, z, 1)]
    out["color"] = (z, 1 - z, 0.5, 1)
    return out


GRID = [(x, y, x + 16, y + 16) for x in range(0, 256, 16) for y in range(0, 192, 16)]
SMALL = rects(GRID, 0.9)  # 384 triangles

Draws = list[tuple[str, np.ndarray]]


def picture(device: tg.Device, draws: Draws, samples: int = 1, **options: Any) -> tuple[list[np.ndarray], tg.RenderPass]:
    color, depth = device.image(SIZE, FORMAT, samples=samples), device.image(SIZE, "d32_sfloat", samples=samples)
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT], "depth": "d32_sfloat", "depth_compare": "less", "samples": samples}
    pipelines = {name: device.pipeline(VERT, frag, **state) for name, frag in (("plain", FRAG), ("discard", DISCARD))}
    with device.render_pass(
        color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0), **options
    ) as rp:
        for name, vertices in draws:
            rp.draw(pipelines[name], vertices)
    return [color.numpy(), depth.numpy()], rp


def counts(rp: tg.RenderPass) -> dict[str, int]:
    return {name: getattr(rp.stats, name) for name in COUNTERS}


@pytest.mark.parametrize("profile", ["adreno-a630", "adreno-a650", "adreno-a740"])
def test_what_is_rejected_reaches_neither_bins_nor_heap_nor_stream(profile: str) -> None:
    device = tg.Device(profile, threads=2)
    near_first: Draws = [("plain", full(0.2)), ("plain", SMALL)]
    _, rp = picture(device, near_first)
    off, without = picture(device, near_first, hsr="off")
    tiles = rp.stats.bins
    assert rp.stats.bin_entries == tiles
    assert rp.stats.lrz_primitives_rejected_in_binning == without.stats.bin_entries - tiles == len(SMALL) // 3
    assert without.stats.lrz_primitives_rejected_in_binning == 0
    # Records of 64 bytes and entries of four, and the runs of their bins.
    assert without.stats.tiler_heap_B - rp.stats.tiler_heap_B >= len(SMALL) // 3 * (64 + 4)
    assert rp.stats.visibility_stream_B == 5 * tiles < without.stats.visibility_stream_B
    # Drawn first, they are in the bins, and are left out while rendering.
    far_first, rp = picture(device, near_first[::-1])
    assert rp.stats.lrz_primitives_rejected_in_binning == 0 and rp.stats.bin_entries == without.stats.bin_entries
    assert rp.stats.lrz_primitives_rejected + rp.stats.lrz_blocks_rejected > 0
    assert rp.stats.fragments_rasterized == SIZE[0] * SIZE[1]
    for a, b in zip(off, far_first, strict=True):
        assert np.array_equal(a, b)


def random_draws(seed: int) -> Draws:
    rng = np.random.default_rng(seed)
    draws: Draws = []
    for _ in range(30):
        v = np.zeros(3 * int(rng.integers(1, 40)), VERTEX)
        size = rng.choice([0.1, 0.5, 2.0])
        centre = rng.uniform(-1, 1, (len(v) // 3, 1, 2))
        v["position"][:, :2] = (centre + rng.uniform(-size, size, (len(v) // 3, 3, 2))).reshape(-1, 2)
        v["position"][:, 2] = np.repeat(rng.uniform(0.05, 0.95, len(v) // 3), 3) + rng.uniform(-0.05, 0.05, len(v))
        v["position"][:, 3] = 1
        v["color"] = rng.uniform(0.2, 1, (len(v), 4))
        draws.append((str(rng.choice(["plain", "plain", "discard"])), v))
    return draws


def allow_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No user can have low-resolution Z on a Mali, but its tiles are small, as no Adreno's are."""
    monkeypatch.setattr("tilegpu.hsr.absent", lambda profile: frozenset())


@pytest.mark.parametrize("samples", [1, 4, 8])
def test_counts_do_not_know_threads_lanes_and_bins(samples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of drawing, whoever does it; a heap that is split, too."""
    allow_everywhere(monkeypatch)
    for profile in ("adreno-a650", "mali-g57"):  # tiles of many texels, and tiles smaller than those of the former's bins
        for heap in (0, 4096):
            wanted = None
            bits = None
            for options in ({"threads": 1}, {"threads": 2, "lanes": 4, "bin_px": 32}, {"threads": 3, "lanes": 16, "bin_px": 128}):
                device = tg.Device(profile, hsr=["lrz"], tiler_heap=heap, **options)
                pictures, rp = picture(device, random_draws(samples), samples)
                now = counts(rp)
                wanted = now if wanted is None else wanted
                assert now == wanted, (profile, heap, options)
                bits = pictures if bits is None else bits
                assert all(np.array_equal(a, b) for a, b in zip(pictures, bits, strict=True))
            assert wanted and wanted["lrz_primitives_rejected_in_binning"] > 20 and wanted["lrz_feedback_texels"] > 10
            assert (wanted["splits"] > 0) == (heap > 0)
    host, _ = picture(tg.Device(hsr="off"), random_draws(samples), samples)
    assert bits is not None and all(np.array_equal(a, b) for a, b in zip(host, bits, strict=True))


def test_tiles_smaller_than_texels(monkeypatch: pytest.MonkeyPatch) -> None:
    """4x4 tiles with 8x8 texels: four bins share one, and their records come in one order."""
    allow_everywhere(monkeypatch)
    device, host = tg.Device("mali-g57", hsr=["lrz"], threads=3), tg.Device(hsr="off")
    results = []
    for dev in (device, host):
        formats = ["r32g32b32a32_sfloat"] * 8
        frag = "#version 450\nlayout(location = 0) in vec4 v_color;\n"
        frag += "".join(f"layout(location = {i}) out vec4 o{i};\n" for i in range(8))
        frag += "void main() { " + "".join(f"o{i} = v_color;" for i in range(8)) + " }"
        pipeline = dev.pipeline(VERT, frag, vertex=VERTEX, color=formats, depth="d32_sfloat", depth_compare="less", samples=4)
        images = [dev.image((64, 48), f, samples=4) for f in formats]
        depth = dev.image((64, 48), "d32_sfloat", samples=4)
        with dev.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 1)) for i in images], depth=tg.Attachment(depth, clear=1.0)) as rp:
            for _, vertices in random_draws(7)[:12]:
                rp.draw(pipeline, vertices)
        results.append([images[0].numpy(), depth.numpy()])
        if dev is device:
            assert (rp.layout["tile_width_px"], rp.layout["tile_height_px"]) == (4, 4)
            assert rp.stats.lrz_primitives_rejected_in_binning > 20
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


def test_traces_keep_what_binning_rejected() -> None:
    """A pixel's history has it; counters and pictures are those of the pass as it ran."""
    draws: Draws = [("plain", full(0.2)), ("plain", SMALL), ("plain", rects([(0, 0, 100, 100)], 0.1))]
    device = tg.Device("adreno-a650", threads=2)
    plain, rp = picture(device, draws)
    traced, noted = picture(device, draws, trace="fragments")
    assert all(np.array_equal(a, b) for a, b in zip(plain, traced, strict=True))
    assert counts(rp) == counts(noted) and rp.stats.traffic == noted.stats.traffic
    assert rp.stats.bins_with_primitives == noted.stats.bins_with_primitives
    assert rp.stats.lrz_primitives_rejected_in_binning == len(SMALL) // 3
    assert "rejected by low-resolution Z with its primitive" in str(rp.why(130, 130))


def test_feedback_helps_the_same_pass() -> None:
    """An occluder that may discard writes nothing while binning; what it leaves in the tile hides what follows."""
    device = tg.Device("adreno-a650", threads=2)
    bits, rp = picture(device, [("discard", full(0.2)), ("plain", SMALL)])
    assert rp.stats.lrz_primitives_rejected_in_binning == 0
    assert rp.stats.lrz_primitives_rejected == len(SMALL) // 3 and rp.stats.lrz_feedback_texels >= SIZE[0] * SIZE[1] // 64
    assert rp.stats.fragments_rasterized == rp.stats.fragments_shaded == SIZE[0] * SIZE[1]
    off, _ = picture(device, [("discard", full(0.2)), ("plain", SMALL)], hsr="off")
    assert all(np.array_equal(a, b) for a, b in zip(bits, off, strict=True))


def test_sysmem() -> None:
    """Nothing is binned: draws write low-resolution Z as they are rendered, and only those that follow are tested against it."""
    device = tg.Device("adreno-a650", threads=2, render_mode="sysmem")
    assert device.hsr == tg.Device("adreno-a650").hsr
    near, rp = picture(device, [("plain", full(0.2)), ("plain", SMALL)])
    assert rp.stats.rendered_in_sysmem == 1
    assert rp.stats.visibility_stream_B == rp.stats.lrz_primitives_rejected_in_binning == rp.stats.bin_entries == rp.stats.tiler_heap_B == 0
    assert rp.stats.lrz_primitives_rejected == len(SMALL) // 3
    assert not any(bytes_ for causes in rp.stats.traffic.values() for bytes_ in causes.values())
    far, rp = picture(device, [("plain", SMALL), ("plain", full(0.2))])
    assert rp.stats.lrz_primitives_rejected == rp.stats.lrz_blocks_rejected == 0 and rp.stats.fragments_shaded == 2 * SIZE[0] * SIZE[1]
    for seed in range(2):
        in_memory, _ = picture(device, random_draws(seed))
        by_tiles, _ = picture(tg.Device("adreno-a650"), random_draws(seed))
        assert all(np.array_equal(a, b) for a, b in zip(in_memory, by_tiles, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(near, far, strict=True))
    with pytest.raises(tg.ValidationError, match="render_mode is sysmem, but profile host has no GMEM"):
        tg.Device(render_mode="sysmem")
    with pytest.raises(tg.ValidationError, match="render_mode is 'tiles'; it must be one of gmem, sysmem, autotune"):
        tg.Device("adreno-a650", render_mode="tiles")


def test_what_the_autotuner_compares() -> None:
    """Its arithmetic by hand: one opaque layer, cleared and stored; then many blended ones."""
    device = tg.Device("adreno-a650", threads=2, render_mode="autotune")
    color = device.image(SIZE, FORMAT)
    pixels = SIZE[0] * SIZE[1]

    def run(blend: str | None, layers: int) -> tg.PassStats:
        pipeline = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], blend=blend)
        with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 1))], label=f"{blend} {layers}") as rp:
            for _ in range(layers):
                rp.draw(pipeline, full(0.5))
        return rp.stats

    for _ in range(2):  # the second time it knows how many samples passed
        stats = run(None, 1)
        draws = pixels * 4
        assert stats.sysmem_bandwidth_B == pixels * 4 + draws
        assert stats.gmem_bandwidth_B == (pixels * 4 * 11 + draws) // 10
        assert stats.rendered_in_sysmem == (1 if _ == 0 else 0)  # five draws or fewer, and nothing known
    stats = [run("alpha", 12) for _ in range(2)][-1]
    draws = 12 * pixels * 8
    assert (stats.sysmem_bandwidth_B, stats.gmem_bandwidth_B) == (pixels * 4 + draws, (pixels * 4 * 11 + draws) // 10)
    assert stats.rendered_in_sysmem == 0
    small = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT])
    for seen in range(2):  # little of a picture that is loaded and stored: in memory
        with device.render_pass(color=[tg.Attachment(color, load_op="load")], label="panel") as rp:
            rp.draw(small, rects([(0, 0, 16, 16)], 0.5))
        assert rp.stats.rendered_in_sysmem == 1, seen
    assert rp.stats.sysmem_bandwidth_B == 256 * 4 and rp.stats.gmem_bandwidth_B == (pixels * 8 * 11 + 256 * 4) // 10


def test_profiles_shade_what_their_gpus_shade() -> None:
    """Without the host's visibility buffer: what low-resolution Z does not take is shaded, near ones first or not."""
    device: Callable[..., tg.Device] = tg.Device
    draws: Draws = [("plain", rects([(4, 4, 252, 188)], z)) for z in (0.8, 0.5)]
    rim = 248 * 184
    _, rp = picture(device("adreno-a650"), draws)
    assert rim < rp.stats.fragments_shaded < 2 * rim  # texels on the rim hold the clear value
    _, rp = picture(device("adreno-a650", hsr=("visibility_buffer", "lrz")), draws)
    assert rp.stats.fragments_shaded == rim
