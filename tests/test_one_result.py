"""One result: the same bits for any number of threads and lanes, any bin size and code generation target; and the bits that are committed.

`python -m tests.test_one_result` writes tests/hashes.json anew (after looking at what changed, and why).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.bench.peers import EVERYDAY
from tilegpu.scene import Frame, scenes
from tilegpu.scene.render import render

HASHES = Path(__file__).with_name("hashes.json")
SIZE = (240, 136)

# Scenes that show everything the reference scenes can do; sample counts of the others are covered by their siblings.
SCENES = [
    "triangle", "cube", "demo", "fill_opaque_back_to_front", "fill_opaque_front_to_back", "fill_blend", "heavy_overdraw_512",
    "mesh_100k", "textured_pbr", "msaa1", "msaa4_pass_resolve", "msaa4_store_cmd_resolve", "multisampling2_pass_resolve",
    "multisampling8_pass_resolve", "multisampling16_pass_resolve", "gbuffer5", "mobile_frame", "reflections",
]  # fmt: skip

# What may not change a single bit. The first is the yardstick.
CONFIGURATIONS: list[dict[str, Any]] = [
    {"lanes": 8, "threads": 2},
    {"lanes": 8, "threads": 1},
    {"lanes": 8, "threads": 8},
    {"lanes": 4, "threads": 2},
    {"lanes": 16, "threads": 2},
    {"lanes": 8, "threads": 2, "bin_px": 32},
    {"lanes": 8, "threads": 2, "bin_px": 128},
    {"lanes": 8, "threads": 2, "vertex_batch": 7},
    {"lanes": 8, "threads": 2, "jit_target": "baseline"},
    {"lanes": 8, "threads": 2, "tiler_heap": 1 << 20},
    {"lanes": 8, "threads": 1, "tiler_heap": 1 << 15},
    {"lanes": 8, "threads": 2, "hsr": ["hierarchical_z"]},
    {"lanes": 16, "threads": 2, "hsr": ["visibility_buffer"]},
    {"lanes": 8, "threads": 2, "hsr": "off"},
    {"lanes": 8, "threads": 2, "hsr": ["depth_filter:three_plane"]},
    {"lanes": 16, "threads": 2, "hsr": ["visibility_buffer", "depth_filter:two_plane_skip"]},
    {"lanes": 4, "threads": 8, "hsr": ["depth_filter:three_plane@counters/3"]},
    {"lanes": 8, "threads": 2, "vertex_batch": 64},
    {"lanes": 8, "threads": 2, "compress_samples": False},
    {"lanes": 8, "threads": 2, "hsr": ["pre_pass", "hierarchical_z"]},
    {"lanes": 16, "threads": 2, "hsr": ["pre_pass", "forward_pixel_kill", "depth_filter:two_plane"]},
    {"lanes": 8, "threads": 2, "profile": "immortalis-g925"},
    {"lanes": 4, "threads": 1, "profile": "mali-g57"},
    {"lanes": 16, "threads": 2, "hsr": ["deferred_vertex_shading", "visibility_buffer", "hierarchical_z"]},
    {"lanes": 4, "threads": 2, "hsr": "all"},
    {"lanes": 8, "threads": 1, "hsr": ["deferred_vertex_shading"], "tiler_heap": 1 << 15},
    {"lanes": 8, "threads": 2, "code": "optimised"},
    {"lanes": 4, "threads": 2, "code": "quick"},
    {"lanes": 8, "threads": 2, "code": "quick", "jit_target": "baseline"},
    {"lanes": 16, "threads": 2, "code": "quick"},
    {"lanes": 16, "threads": 1, "code": "quick", "hsr": "all"},
]

# Everyday scenes are many: each kind of code, of threads and of bins once. They are as small as their kinds of triangles allow.
EVERYDAY_SIZE = (160, 90)
EVERYDAY_CONFIGURATIONS: list[dict[str, Any]] = [
    {"lanes": 16, "threads": 8, "code": "optimised"},
    {"lanes": 4, "threads": 1, "bin_px": 32, "code": "quick"},
    {"lanes": 16, "threads": 2, "jit_target": "baseline", "code": "quick"},
    {"lanes": 8, "threads": 2, "hsr": "off", "tiler_heap": 1 << 15, "code": "quick"},
]


def has_avx512() -> bool:
    return "avx512vl" in Path("/proc/cpuinfo").read_text()


def sha(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def frame_of(name: str) -> Frame:
    return scenes()[name].frame(SIZE)


def vertex_hash(frame: Frame) -> str:
    parts = [d.vertices for d in frame.all_draws if d.vertices is not None] + [
        d.indices for d in frame.all_draws if d.indices is not None
    ]
    unique = {id(p): p for p in parts}.values()
    return sha(np.concatenate([np.frombuffer(p.tobytes(), np.uint8) for p in unique])) if parts else "none"


def image_hashes(device: tg.Device, frame: Frame) -> list[str]:
    result = render(device, frame)
    images = list(result.images) + ([result.depth] if result.depth is not None else [])
    return [sha(np.asarray(image)) for image in images]


def device_of(configuration: dict[str, Any]) -> tg.Device:
    """``code``: which of the two kinds of machine code it uses; without it quick code until there is optimised code."""
    options = dict(configuration)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEGPU_CODE", options.pop("code", ""))
        return tg.Device(**options)


@pytest.fixture(scope="module")
def devices() -> Iterator[list[tg.Device]]:
    yield [device_of(c) for c in CONFIGURATIONS]


@pytest.mark.parametrize("name", SCENES)
def test_same_bits_in_every_configuration(devices: list[tg.Device], name: str) -> None:
    frame = frame_of(name)
    yardstick = image_hashes(devices[0], frame)
    for device, configuration in zip(devices[1:], CONFIGURATIONS[1:], strict=True):
        assert image_hashes(device, frame) == yardstick, f"{name} differs with {configuration}"


@pytest.mark.parametrize("name", EVERYDAY)
def test_everyday_scenes_have_one_result(name: str) -> None:
    frame = scenes()[name].frame(EVERYDAY_SIZE)
    yardstick, *others = (image_hashes(device_of(c), frame) for c in EVERYDAY_CONFIGURATIONS)
    for found, configuration in zip(others, EVERYDAY_CONFIGURATIONS[1:], strict=True):
        assert found == yardstick, f"{name} differs with {configuration}"


@pytest.mark.parametrize("name", sorted(scenes()))
def test_committed_hashes(devices: list[tg.Device], name: str) -> None:
    committed = json.loads(HASHES.read_text())[name]
    frame = frame_of(name)
    assert vertex_hash(frame) == committed["vertices"], "the scene's geometry is not what it was"
    assert image_hashes(devices[0], frame) == committed["images"], "the picture is not what it was"


# What lanes may change: how full packets are, and whether pixels are packed alone, without helpers. Everything else that is counted
# is a matter of the scene.
PACKETS = {"packets", "idle_lanes", "helper_lanes"}


@pytest.mark.parametrize("name", ["mesh_100k", "msaa4_pass_resolve", "multisampling1", "multisampling4_pass_resolve",
                                  "multisampling16_pass_resolve", "heavy_overdraw_512", "demo"])  # fmt: skip
@pytest.mark.parametrize("bin_px", [32, 0])
def test_counts_do_not_depend_on_lanes(name: str, bin_px: int) -> None:
    # Large enough for triangles of each kind: small, below 16 pixels, below 32 pixels and larger ones.
    frame = scenes()[name].frame((800, 450))
    found = []
    for lanes in (4, 8, 16):
        result = render(tg.Device(lanes=lanes, bin_px=bin_px), frame)
        stats = result.stats
        assert stats is not None
        counts = {
            k: v
            for k in dir(stats)
            if not k.startswith("_") and type(v := getattr(stats, k)) is int and k not in PACKETS
        }
        found.append((counts, [sha(np.asarray(image)) for image in result.images]))
    assert found[1] == found[0]
    assert found[2] == found[0]


@pytest.mark.skipif(not has_avx512(), reason="this CPU has no AVX-512: code for x86-64-v4 can't run here")
@pytest.mark.parametrize("name", SCENES)
def test_x86_64_v4(devices: list[tg.Device], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = frame_of(name)
    yardstick = image_hashes(devices[0], frame)
    for lanes, gathers in ((8, "0"), (16, "0"), (8, "1"), (16, "1")):
        monkeypatch.setenv("TILEGPU_GATHERS", gathers)  # loads of lanes by gather instructions, or one by one
        monkeypatch.setenv(
            "TILEGPU_SCHEDULE", "" if gathers == "1" else "default"
        )  # a shader's chains by turns, or LLVM's order
        assert image_hashes(tg.Device(jit_target="x86-64-v4", lanes=lanes), frame) == yardstick


def main() -> None:
    device = device_of(CONFIGURATIONS[0])
    table = {}
    for name in sorted(scenes()):
        frame = frame_of(name)
        table[name] = {"vertices": vertex_hash(frame), "images": image_hashes(device, frame)}
    HASHES.write_text(json.dumps(table, indent=1) + "\n")
    print(f"wrote {HASHES}")


if __name__ == "__main__":
    main()
