"""Tiles are the profile's: their sizes, what goes by them, and counts that no machine, bin size, thread count or lane count changes.

tests/profile_counts.json holds the counts of every profile on some scenes; `python -m tests.test_profile_tiles` writes it anew (after
looking at what changed, and why). Sizes of Mali's tiles: cpp/tests/test_framebuffer_layout.cpp.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.hsr import TECHNIQUES, absent
from tilegpu.scene import scenes
from tilegpu.scene.render import render

COUNTS = Path(__file__).with_name("profile_counts.json")
PROFILES = [
    "immortalis-g925", "mali-g725", "mali-g625", "immortalis-g920", "mali-g720", "mali-g610", "mali-g57", "adreno-a630", "adreno-a650",
    "adreno-a740", "desktop-immediate",
]  # fmt: skip
SCENES = ["demo", "textured_pbr", "heavy_overdraw_512", "gbuffer5", "msaa4_pass_resolve", "mobile_frame"]
SIZE = (240, 136)
#: Of these alone the number of lanes, or the clock, is a part.
OF_LANES = ("helper_lanes", "idle_lanes", "packets", "geometry_ms", "tiles_ms")

FORMAT = "r8g8b8a8_unorm"
VERTEX = np.dtype([("position", "<f4", 4), ("color", "<f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color; }"""


def fragment_of(count: int, color: str = "v_color") -> str:
    """Writes so many colours; in ``color`` ``{i}`` is the number of each."""
    outputs = "".join(f"layout(location = {i}) out vec4 o{i};\n" for i in range(count))
    body = "".join(f"o{i} = {color.format(i=i + 1)}; " for i in range(count))
    return f"#version 450\nlayout(location = 0) in vec4 v_color;\n{outputs}void main() {{ {body} }}"


def rect(x0: float, y0: float, x1: float, y1: float, z: float, size: tuple[int, int], alpha: float = 1.0) -> np.ndarray:
    out = np.zeros(6, VERTEX)
    corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y0), (x1, y1), (x0, y1)]
    out["position"] = [(2 * x / size[0] - 1, 2 * y / size[1] - 1, z, 1) for x, y in corners]
    out["color"] = (0.25, 0.5, 0.75, alpha)
    return out


def counts_of(device: tg.Device, name: str) -> list[dict[str, Any]]:
    """Of each pass of a scene: every count but those of lanes, and every byte."""
    stats = render(device, scenes()[name].frame(SIZE)).stats
    passes = stats.passes if isinstance(stats, tg.FrameStats) else [stats]
    return [json.loads(json.dumps({k: v for k, v in one.asdict().items() if k not in OF_LANES}, default=str)) for one in passes]


def small(counts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is committed: counts that are not 0."""
    return [{k: v for k, v in one.items() if isinstance(v, int) and v} for one in counts]


@pytest.mark.parametrize("profile", PROFILES)
def test_counts_are_those_that_are_committed(profile: str) -> None:
    committed = json.loads(COUNTS.read_text())
    device = tg.Device(profile=profile, threads=2, lanes=8)
    for name in SCENES:
        assert small(counts_of(device, name)) == committed[profile][name], f"{profile}, {name}"


@pytest.mark.parametrize("profile", PROFILES)
def test_counts_do_not_know_bins_threads_and_lanes(profile: str) -> None:
    others = [{"bin_px": 32, "threads": 1}, {"bin_px": 64, "lanes": 4}, {"bin_px": 128, "lanes": 16}]
    device = tg.Device(profile=profile, threads=2, lanes=8)
    wanted = {name: counts_of(device, name) for name in SCENES[1:5]}
    for options in others:
        device = tg.Device(profile=profile, **{"threads": 2, "lanes": 8, **options})
        for name, counts in wanted.items():
            assert counts_of(device, name) == counts, f"{profile}, {name}, {options}"


DISCARDS = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o;
void main() { if ((int(gl_FragCoord.x) * 7 + int(gl_FragCoord.y) * 3) % 5 == 0) discard; o = v_color; }"""


@pytest.mark.parametrize("profile", PROFILES)
def test_what_early_tests_kill_does_not_know_how_many_quads_wait(profile: str) -> None:
    """Draws that discard and write depth: tested early and again when they are shaded, so that what waits between the two has not written
    its depth yet. Small triangles over one another in one draw, and larger ones."""
    size = (128, 96)
    rng = np.random.default_rng(7)
    count = 400
    vertices = np.zeros(3 * count, VERTEX)
    spread = np.where(np.arange(count) % 20, 0.08, 0.7)[:, None, None]
    places = rng.uniform(-1, 1, (count, 1, 2)) + rng.normal(0, 1, (count, 3, 2)) * spread
    vertices["position"][:, :2] = places.reshape(-1, 2)
    vertices["position"][:, 2] = np.repeat(rng.uniform(0, 1, count), 3)
    vertices["position"][:, 3] = 1
    vertices["color"] = rng.uniform(0, 1, (3 * count, 4))
    names = ("fragments_shaded", "fragments_early_killed", "fragments_late_killed", "fragments_discarded", "sliced_invocations")
    for hsr in ("default", "off"):
        found = []
        for options in ({"lanes": 8}, {"lanes": 4, "bin_px": 32}, {"lanes": 16, "bin_px": 128, "threads": 1}):
            device = tg.Device(profile=profile, hsr=hsr, **{"threads": 2, **options})
            pipeline = device.pipeline(VERT, DISCARDS, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less")
            depth = device.image(size, "d32_sfloat", transient=True)
            with device.render_pass(
                color=[tg.Attachment(device.image(size, FORMAT), clear=(0, 0, 0, 1))],
                depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"),
            ) as rp:
                rp.draw(pipeline, vertices)
                rp.draw(pipeline, vertices[::-1].copy())
            found.append({name: getattr(rp.stats, name) for name in names})
        assert found[0] == found[1] == found[2], (profile, hsr)
        assert found[0]["fragments_discarded"] and found[0]["fragments_early_killed"]


@pytest.mark.parametrize("profile", ["mali-g57", "adreno-a650", "immortalis-g925", "desktop-immediate"])
def test_foliage_is_counted_alike_by_all_lanes(profile: str) -> None:
    """A scene of cut-out leaves, many in a draw: the same of everything that is counted."""
    options = ({"lanes": 8}, {"lanes": 4, "bin_px": 32}, {"lanes": 16, "bin_px": 128})
    first, *others = (counts_of(tg.Device(profile=profile, threads=2, **one), "foliage") for one in options)
    names = ("fragments_shaded", "fragments_early_killed", "fragments_late_killed", "sliced_invocations", "vertices_shaded_in_tiles")
    for other in others:
        assert [[p[n] for n in names] for p in other] == [[p[n] for n in names] for p in first]
        assert profile == "desktop-immediate" or other == first  # whose hierarchical Z is of the host's bins


#: Smaller than that of the counts that are committed: twelve devices draw all scenes, on two machines.
SMALL = (112, 64)
#: Where the host's bins go by the cache: their pixels are wide.
MANY_SAMPLES = ["msaa8_store_cmd_resolve", "msaa16_pass_resolve", "multisampling8_pass_resolve", "multisampling16_pass_resolve"]


def test_counts_do_not_know_the_caches_of_the_machine() -> None:
    """Two machines, one with 256 KiB of L2 and one with 16 MiB: the host's bins differ, the counts of no profile do, in no scene of those
    whose counts are committed, nor with many samples."""
    program = (
        "import json\nimport tilegpu as tg\nfrom tests import test_profile_tiles as t\n"
        "t.SIZE, found = t.SMALL, {}\n"
        "for profile in ['host', *t.PROFILES]:\n"
        "    device = tg.Device(profile=profile, threads=1)\n"
        "    found[profile] = {name: t.counts_of(device, name) for name in [*t.SCENES, *t.MANY_SAMPLES]}\n"
        "print(json.dumps(found))"
    )
    machines = [
        subprocess.Popen(
            [sys.executable, "-c", program], env={**os.environ, "TILEGPU_CACHE_B": str(l2_B)}, stdout=subprocess.PIPE, text=True,
            cwd=Path(__file__).parent.parent,
        )
        for l2_B in (256 << 10, 16 << 20)
    ]  # fmt: skip
    texts = [machine.communicate()[0] for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0]
    first, second = (json.loads(text) for text in texts)
    for name in MANY_SAMPLES:
        assert first["host"][name][0]["bins"] != second["host"][name][0]["bins"]  # it is another machine
    for profile in PROFILES:
        for name in [*SCENES, *MANY_SAMPLES]:
            assert first[profile][name] == second[profile][name], f"{profile}, {name}"


#: profile, formats, samples: what a tile is.
LAYOUTS: list[tuple[str, list[str], int, tuple[int, int]]] = [
    ("immortalis-g925", [FORMAT], 1, (64, 64)),
    ("immortalis-g925", ["r16g16b16a16_sfloat"] * 4, 1, (64, 32)),
    ("immortalis-g925", ["r16g16b16a16_sfloat"] * 5, 1, (32, 32)),
    ("mali-g610", [FORMAT], 4, (32, 16)),
    ("mali-g57", [FORMAT], 1, (16, 16)),
    ("mali-g57", [FORMAT] * 4, 4, (16, 8)),
    ("mali-g57", ["r32g32b32a32_sfloat"] * 4, 4, (8, 4)),
    ("mali-g57", ["r32g32b32a32_sfloat"] * 8, 4, (4, 4)),
    ("adreno-a630", [FORMAT] * 4, 4, (128, 96)),
]


@pytest.mark.parametrize("profile, formats, samples, tile", LAYOUTS)
def test_a_pass_goes_by_the_layouts_tile(profile: str, formats: list[str], samples: int, tile: tuple[int, int]) -> None:
    """A small triangle in one corner of a tile: that tile and no other is loaded and stored, and every tile is there once."""
    size = (323, 85)
    device = tg.Device(profile=profile, threads=2, lanes=8)
    pipeline = device.pipeline(
        VERT, fragment_of(len(formats)), vertex=VERTEX, color=formats,
        samples=samples,
    )  # fmt: skip
    images = [device.image(size, f, samples=samples) for f in formats]
    with device.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 1)) for i in images]) as rp:
        rp.draw(pipeline, rect(0, 0, *size, 0.5, size))
    with device.render_pass(color=[tg.Attachment(i, load_op="load") for i in images], trace=True) as rp:
        rp.draw(pipeline, rect(tile[0] * (size[0] // tile[0]) + 1, 1, size[0], 3, 0.5, size))
    assert (rp.layout["tile_width_px"], rp.layout["tile_height_px"]) == tile
    columns, rows = -(-size[0] // tile[0]), -(-size[1] // tile[1])
    tiles = rp.tiles()
    assert {(t["x"], t["y"]) for t in tiles} == {(x * tile[0], y * tile[1]) for x in range(columns) for y in range(rows)}
    assert len(tiles) == rp.stats.bins == columns * rows
    assert {(t["width"], t["height"]) for t in tiles} == {tile}
    drawn = [t for t in tiles if t["has_primitives"]]
    assert len(drawn) == rp.stats.bins_with_primitives == 1 and drawn[0]["x"] == tile[0] * (columns - 1)
    pixels = (size[0] - tile[0] * (columns - 1)) * min(tile[1], size[1])  # of the tile in the picture
    for i in range(len(images)):
        texel_B = {FORMAT: 4, "r16g16b16a16_sfloat": 8}.get(formats[i], 16)
        moved = rp.stats.traffic[f"color{i}"]
        assert moved["load"] == pixels * texel_B * samples
        assert moved["store"] + moved["saved_transaction_elimination"] == moved["load"]


@pytest.mark.parametrize("profile, formats, samples, tile", LAYOUTS)
def test_the_picture_does_not_know_the_tile(profile: str, formats: list[str], samples: int, tile: tuple[int, int]) -> None:
    """Random triangles, blended and opaque, some with depth: the bits of the host's bins; images in superblocks too."""
    rng = np.random.default_rng(tile[0] * 100 + tile[1] + samples)
    size = (150, 90)
    vertices = np.zeros(3 * 60, VERTEX)
    centre = rng.uniform(-1, 1, (60, 1, 2))
    vertices["position"][:, :2] = (centre + rng.normal(0, 0.4, (60, 3, 2)) * rng.uniform(0.02, 1, (60, 1, 1))).reshape(-1, 2)
    vertices["position"][:, 2] = rng.uniform(0, 1, 180)
    vertices["position"][:, 3] = 1
    vertices["color"] = rng.uniform(0, 1, (180, 4))
    fragment = fragment_of(len(formats), "v_color * {i}.0 / 8.0")
    pictures = []
    for name in ("host", profile):
        device = tg.Device(profile=name, threads=3, lanes=8)
        state: dict[str, Any] = {"vertex": VERTEX, "color": formats, "samples": samples, "depth": "d32_sfloat", "depth_compare": "less"}
        opaque = device.pipeline(VERT, fragment, **state)
        blended = device.pipeline(VERT, fragment, blend="alpha", depth_write=False, **state)
        images = [device.image(size, f, samples=samples, tiling="block_compressed" if i % 2 else "linear") for i, f in enumerate(formats)]
        depth = device.image(size, "d32_sfloat", samples=samples)
        with device.render_pass(
            color=[tg.Attachment(i, clear=(0, 0, 0, 1)) for i in images], depth=tg.Attachment(depth, clear=1.0), area=(3, 5, 140, 80)
        ) as rp:
            for k in range(0, 180, 30):
                rp.draw(blended if k % 60 else opaque, vertices[k : k + 30])
                if k == 90:
                    rp.clear((0.5, 0.25, 0.125, 1), rect=(40, 30, 37, 21))
        pictures.append([np.asarray(i) for i in (*images, depth)])
    for host, other in zip(*pictures, strict=True):
        np.testing.assert_array_equal(host, other)


def test_an_incompatible_draw_spoils_its_tile_and_no_more() -> None:
    """Two whole layers behind a small blended draw: the pre-pass is over in one tile, where both layers are shaded."""
    size = (256, 256)
    for count, tile_px in ((2, 64 * 64), (4, 64 * 32), (5, 32 * 32)):
        device = tg.Device(profile="immortalis-g925", threads=2)
        formats = ["r16g16b16a16_sfloat"] * count
        fragment = fragment_of(count)
        state: dict[str, Any] = {"vertex": VERTEX, "color": formats, "depth": "d32_sfloat", "depth_compare": "less"}
        opaque, blended = device.pipeline(VERT, fragment, **state), device.pipeline(VERT, fragment, blend="alpha", **state)
        images = [device.image(size, f, transient=True) for f in formats]
        depth = device.image(size, "d32_sfloat", transient=True)
        with device.render_pass(
            color=[tg.Attachment(i, clear=(0, 0, 0, 1), store_op="dont_care") for i in images],
            depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"), hsr=["pre_pass"],
        ) as rp:  # fmt: skip
            rp.draw(blended, rect(0, 0, 10, 10, 0.95, size, 0.5))
            rp.draw(opaque, rect(0, 0, 256, 256, 0.9, size))
            rp.draw(opaque, rect(0, 0, 256, 256, 0.5, size))
        assert rp.stats.fragments_shaded == 256 * 256 + 100 + tile_px
        assert rp.stats.prepass_tiles == 256 * 256 // tile_px


def test_smaller_tiles_shade_more_vertices() -> None:
    """Deferred vertex shading: a vertex is shaded once in each tile where it is seen, so that fat G-buffers cost vertices."""
    shaded = []
    for count in (2, 4, 5):
        device = tg.Device(profile="immortalis-g925", threads=2)
        formats = ["r16g16b16a16_sfloat"] * count
        pipeline = device.pipeline(
            VERT, fragment_of(count), vertex=VERTEX, color=formats, depth="d32_sfloat", depth_compare="less"
        )
        n = 40
        x, y = np.meshgrid(np.linspace(-1, 1, n + 1), np.linspace(-1, 1, n + 1))
        vertices = np.zeros((n + 1) ** 2, VERTEX)
        vertices["position"] = np.stack([x.ravel(), y.ravel(), np.full(x.size, 0.5), np.ones(x.size)], 1)
        first = np.arange(n * n) // n * (n + 1) + np.arange(n * n) % n
        indices = np.stack([first, first + 1, first + n + 1, first + 1, first + n + 2, first + n + 1], 1).astype(np.uint32)
        images = [device.image((256, 256), f, transient=True) for f in formats]
        depth = device.image((256, 256), "d32_sfloat", transient=True)
        with device.render_pass(
            color=[tg.Attachment(i, clear=(0, 0, 0, 1), store_op="dont_care") for i in images],
            depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"), hsr=["pre_pass", "deferred_vertex_shading"],
        ) as rp:  # fmt: skip
            rp.draw(pipeline, vertices, indices=indices)
        shaded.append(rp.stats.vertices_shaded_in_tiles)
    assert (n + 1) ** 2 < shaded[0] < shaded[1] < shaded[2]


def test_four_samples_lose_the_pre_pass_where_the_driver_says_so() -> None:
    """desc.allow_hsr_prepass: Mesa's rule on the G725 (depth must fit twice), none in Arm's article on the G925; explain() says why."""
    size = (128, 128)
    killed = {}
    for profile in ("mali-g725", "immortalis-g925"):
        device = tg.Device(profile=profile)
        pipeline = device.pipeline(VERT, fragment_of(1), vertex=VERTEX, color=[FORMAT], samples=4, depth="d32_sfloat", depth_compare="less")
        color, depth = (device.image(size, f, samples=4, transient=True) for f in (FORMAT, "d32_sfloat"))
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0, 0, 0, 1), store_op="dont_care", resolve=device.image(size, FORMAT))],
            depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"), hsr=["pre_pass"],
        ) as rp:  # fmt: skip
            rp.draw(pipeline, rect(0, 0, 128, 128, 0.9, size))
            rp.draw(pipeline, rect(0, 0, 128, 128, 0.2, size))
        assert rp.desc["allow_hsr_prepass"] == (profile == "immortalis-g925")
        killed[profile] = rp.stats.fragments_killed_by_prepass
        (state,) = {(t["state"], t["reason"]) for r in rp.explain().rows for t in r["techniques"] if t["technique"] == "pre_pass"}
        if profile == "mali-g725":
            assert state == ("off", "the tile's depth does not fit twice in the profile's buffer (desc.allow_hsr_prepass)")
    assert killed == {"mali-g725": 0, "immortalis-g925": 128 * 128 + 128}  # the diagonal's pixels are two fragments


ARMS = ("pre_pass", "forward_pixel_kill", "deferred_vertex_shading")


@pytest.mark.parametrize("profile", PROFILES)
def test_techniques_of_other_gpus_are_refused_by_name(profile: str) -> None:
    """When a device or a pass is made, with what the profile has; "all" is all that a GPU of its kind may have."""
    arms = profile.startswith(("mali", "immortalis"))
    refused = ["lrz"] if arms else [*ARMS, "lrz"] if profile == "desktop-immediate" else [*ARMS]
    has = ", ".join(tg.Device(profile=profile).hsr)
    for technique in refused:
        whose = "Adreno's" if technique == "lrz" else "Arm's"
        words = f"hsr: {technique} is {whose}, which no GPU like profile {profile} has; it has {has}. "
        with pytest.raises(tg.ValidationError, match=rf"^Device: {words}Leave {technique} out"):
            tg.Device(profile=profile, hsr=["hierarchical_z", technique])
        device = tg.Device(profile=profile)
        with pytest.raises(tg.ValidationError, match=rf"^pass 'p': {words}"):
            device.render_pass(color=[tg.Attachment(device.image((8, 8), FORMAT), clear=(0, 0, 0, 1))], hsr=technique, label="p")
    everything = {name.partition(":")[0] for name in tg.Device(profile=profile, hsr="all").hsr}
    assert everything == {*TECHNIQUES} - {*refused}
    assert set(absent(profile)) == {*refused}


def test_techniques_of_newer_gpus_of_the_kind_are_tried_and_said() -> None:
    """An older Mali takes those of the newer ones; explain() says that they are not its own. Its own, and host's, are not named."""

    def head(profile: str, hsr: Any) -> str:
        device = tg.Device(profile=profile, hsr=hsr)
        with device.render_pass(color=[tg.Attachment(device.image((8, 8), FORMAT), clear=(0, 0, 0, 1))], label="p") as rp:
            pass
        return str(rp.explain()).splitlines()[0]

    assert head("mali-g610", ["pre_pass", "forward_pixel_kill:samples"]).endswith("; tried, and not mali-g610's own: pre_pass")
    assert head("mali-g57", ["deferred_vertex_shading"]).endswith("; tried, and not mali-g57's own: deferred_vertex_shading")
    for profile, hsr in (("immortalis-g925", "default"), ("mali-g57", "default"), ("adreno-a740", ["lrz:bidirectional"]), ("host", "all")):
        assert "tried" not in head(profile, hsr)


@pytest.mark.parametrize("mode", ["gmem", "sysmem", "autotune"])
def test_attachments_that_no_gmem_holds_are_rendered_without(mode: Any) -> None:
    """As Mesa's driver does, whatever the mode: the bits are the host's, no tile is loaded or stored, and lint says why."""
    vert = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 3.0 - 1.0, 0.5, 1.0); }"
    outputs = "".join(f"layout(location = {k}) out vec4 o{k};\n" for k in range(8))
    frag = f"#version 450\n{outputs}void main() {{ " + " ".join(f"o{k} = gl_FragCoord * {k + 1}.0;" for k in range(8)) + " }"
    found = []
    for device in (tg.Device(profile="adreno-a650", render_mode=mode), tg.Device()):
        images = [device.image((64, 64), "r32g32b32a32_sfloat", samples=8) for _ in range(8)]
        outs = [device.image((64, 64), "r32g32b32a32_sfloat") for _ in range(8)]
        pipeline = device.pipeline(vert, frag, color=["r32g32b32a32_sfloat"] * 8, samples=8)
        attachments = [tg.Attachment(i, clear=(0, 0, 0, 1), resolve=o) for i, o in zip(images, outs, strict=True)]
        with device.render_pass(color=attachments) as rp:
            rp.draw(pipeline, count=3)
        found.append([o.numpy() for o in outs])
        if device.info["profile"] != "host":
            assert rp.stats.rendered_in_sysmem and rp.stats.bins == 0 and not any(sum(row.values()) for row in rp.stats.traffic.values())
            words = "1,024 B a pixel do not fit into the GMEM of adreno-a650"
            assert any(words in str(line) for line in rp.lint())
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


if __name__ == "__main__":
    table = {}
    for one in PROFILES:
        dev = tg.Device(profile=one, threads=2, lanes=8)
        table[one] = {scene: small(counts_of(dev, scene)) for scene in SCENES}
    COUNTS.write_text(json.dumps(table, indent=0) + "\n")


def test_what_bins_nothing_is_not_split() -> None:
    """A desktop GPU, and Adreno rendering in memory, have no heap for primitives, and the host's bins are none of theirs."""
    vertices = np.zeros((3000, 4), "f4")
    vertices[:] = np.tile(np.array([(-0.9, -0.9, 0.5, 1), (0.9, -0.9, 0.5, 1), (0, 0.9, 0.5, 1)], "f4"), (1000, 1))

    def splits(profile: str, **options: Any) -> tuple[int, int]:
        dev = tg.Device(profile, tiler_heap=2000, **options)
        image = dev.image((64, 64), "r8g8b8a8_unorm")
        pipe = dev.pipeline(
            "#version 450\nlayout(location = 0) in vec4 p; void main() { gl_Position = p; }",
            "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }",
            vertex=np.dtype([("p", "f4", 4)]), color=["r8g8b8a8_unorm"],
        )  # fmt: skip
        with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
            for _ in range(3):
                rp.draw(pipe, vertices.view([("p", "f4", 4)]).ravel())
        return rp.stats.splits, rp.stats.tiler_heap_B

    for bin_px in (32, 64, 128):
        with pytest.warns(tg.UnusedNameWarning, match="tiler_heap splits no pass on desktop-immediate, which bins nothing"):
            assert splits("desktop-immediate", bin_px=bin_px) == (0, 0)
        assert splits("adreno-a740", bin_px=bin_px, render_mode="sysmem") == (0, 0)
        assert splits("mali-g57", bin_px=bin_px)[0] > 10
        assert splits("adreno-a740", bin_px=bin_px, render_mode="gmem")[0] > 10
    dev = tg.Device("desktop-immediate")
    image = dev.image((64, 64), "r8g8b8a8_unorm")
    with pytest.warns(tg.UnusedNameWarning, match="draws_a_part splits no pass on desktop-immediate"):
        layout = tg.FramebufferLayout(["r8g8b8a8_unorm"], size=(64, 64))
        dev.framebuffer(layout, store={"color0": image}, desc=tg.FramebufferDesc(draws_a_part=2))
