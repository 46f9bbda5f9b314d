"""gfxreconstruct records programs on lavapipe, and vkcube on the driver; recordings are replayed on both, and the pictures compared. And it
records every program on the driver, where lavapipe has not all that they then use: the replay does the same work, as reports tell."""

from __future__ import annotations

import ctypes.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from programs import need, run

LAVAPIPE = Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")
ON_LAVAPIPE = {"VK_DRIVER_FILES": str(LAVAPIPE), "VK_ICD_FILENAMES": str(LAVAPIPE)}
LAYER = Path("/usr/share/vulkan/explicit_layer.d/VkLayer_gfxreconstruct.json")
FRAMES = 5
HERE = Path(__file__).parent
NODE = Path(sys.prefix) / "clients"
#: What the layer of 2022 needs to record programs of today here: it takes physical devices apart for every function that it knows, and ends
#: where one that it doesn't is called; and it writes whole pages that a program wrote a part of, with what the device wrote beside (7 of
#: 180 frames of wgpu went wrong so), unless each buffer has pages of its own.
HERE_TOO = {"TILEGPU_VULKAN_WITHOUT": "VK_KHR_cooperative_matrix", "GFXRECON_PAGE_GUARD_ALIGN_BUFFER_SIZES": "true"}
#: The system can't write a file from pages that the layer guards, which Node does.
UNGUARDED = {"GFXRECON_MEMORY_TRACKING_MODE": "unassisted"}


def recorded(words: list[str], path: Path, display: str, **more: str) -> None:
    if not LAYER.is_file():
        pytest.skip("gfxreconstruct is not installed (packages/clients.txt)")
    run(
        words,
        validate=False,
        DISPLAY=display,
        VK_INSTANCE_LAYERS="VK_LAYER_LUNARG_gfxreconstruct",
        GFXRECON_CAPTURE_FILE=str(path),
        GFXRECON_CAPTURE_FILE_TIMESTAMP="false",
        **more,
    )


def replayed(path: Path, name: str, display: str, frames: int = FRAMES, **more: str) -> list[np.ndarray]:
    """The first frames; by `-m rebind` memory is laid out anew, as the other driver asks; extensions that it lacks are left out. By
    `--sync` it waits behind each submission: where a program read a timeline semaphore before it wrote its memory anew, a replay of 2022
    does not (fastplotlib's was another one in each run)."""
    words = [need("gfxrecon-replay"), "-m", "rebind", "--remove-unsupported", "--sync", "--screenshots", f"1-{max(frames - 1, 1)}"]
    run(
        [*words, "--screenshot-dir", str(path.parent), "--screenshot-prefix", name, str(path)],
        validate=False,
        DISPLAY=display,
        **more,
    )
    pictures = []
    for frame in range(1, frames):
        with Image.open(path.parent / f"{name}_frame_{frame}.bmp") as picture:
            pictures.append(np.asarray(picture.convert("RGB")).astype(int))
    return pictures


def compare(path: Path, display: str, most: int) -> None:
    ours = replayed(path, "tilegpu", display)
    again = replayed(path, "again", display, TILEGPU_THREADS="1", TILEGPU_LANES="4")
    assert all(np.array_equal(a, b) for a, b in zip(ours, again, strict=True))
    assert len({picture.tobytes() for picture in ours}) == FRAMES - 1  # it moves
    assert all(len(np.unique(picture.reshape(-1, 3), axis=0)) > 50 for picture in ours)
    if not LAVAPIPE.is_file():
        return
    other = replayed(path, "lavapipe", display, **ON_LAVAPIPE)
    far = [int((np.abs(a - b).max(-1) > 8).sum()) for a, b in zip(ours, other, strict=True)]
    assert max(far) <= most, far


def test_vkcube(xvfb: str, tmp_path: Path) -> None:
    path = tmp_path / "cube.gfxr"
    recorded([need("vkcube"), "--c", str(FRAMES)], path, xvfb)
    compare(path, xvfb, 60)


@pytest.fixture
def on_lavapipe() -> dict[str, str]:
    """Who records what both replay: lavapipe of 2022 has less than the driver."""
    if not LAVAPIPE.is_file():
        pytest.skip("lavapipe is not installed (packages/clients.txt)")
    return ON_LAVAPIPE


def test_wgpu(clients: str, xvfb: str, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    """Compute and drawing by wgpu in a window."""
    path = tmp_path / "wgpu.gfxr"
    recorded([clients, str(HERE / "wgpu_window.py"), str(FRAMES)], path, xvfb, **on_lavapipe)
    compare(path, xvfb, 60)


def test_qt_quick(clients: str, xvfb: str, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    """Three frames of a window."""
    path = tmp_path / "qt.gfxr"
    said = {"QT_QPA_PLATFORM": "xcb", "QT_HASH_SEED": "0", "XDG_RUNTIME_DIR": str(tmp_path)}
    words = [clients, str(HERE / "qt_quick.py"), str(tmp_path / "picture.png")]
    recorded(words, path, xvfb, **said, **on_lavapipe)
    ours = replayed(path, "tilegpu", xvfb, 4)
    again = replayed(path, "again", xvfb, 4, TILEGPU_THREADS="1", TILEGPU_LANES="4")
    other = replayed(path, "lavapipe", xvfb, 4, **on_lavapipe)
    assert all(np.array_equal(a, b) for a, b in zip(ours, again, strict=True))
    assert max(int((np.abs(a - b).max(-1) > 8).sum()) for a, b in zip(ours, other, strict=True)) <= 60


@pytest.mark.parametrize("words", [["pygfx_scene.py", "volume", "p.png"], ["datoviz_points.py", "p.png"], ["taichi_kernels.py", "p.npy"],
                                   ["fourier_kernels.py", "p.npy"]], ids=lambda words: str(words[0]))  # fmt: skip
def test_offscreen(words: list[str], clients: str, xvfb: str, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    """Nothing is presented, so that nothing is shown: all calls of a recording are taken."""
    path = tmp_path / "recording.gfxr"
    program, *rest = words
    recorded([clients, str(HERE / program), *rest[:-1], str(tmp_path / rest[-1])], path, xvfb, **on_lavapipe)
    assert path.stat().st_size > 20_000
    replayed(path, "tilegpu", xvfb, 0)


ZINK = {"LIBGL_ALWAYS_SOFTWARE": "1", "MESA_LOADER_DRIVER_OVERRIDE": "zink", "GALLIUM_DRIVER": "zink"}
QT = {"QT_QPA_PLATFORM": "xcb", "QT_HASH_SEED": "0"}
#: Programs, and what they and their replay find in the environment. By "node": Dawn's WebGPU; by "": the suite's own Python.
PROGRAMS: dict[str, tuple[str, list[str], dict[str, str]]] = {
    "dawn": ("node", ["dawn.mjs", "OUT", str(NODE)], UNGUARDED),
    "three": ("node", ["three_webgpu.mjs", "materials", "OUT", str(NODE)], UNGUARDED),
    "wgpu": ("clients", ["wgpu_window.py", str(FRAMES)], {}),
    "wgpu_compute": ("clients", ["wgpu_compute.py", "OUT.npy"], {}),
    "pygfx": ("clients", ["pygfx_scene.py", "volume", "OUT.png"], {}),
    "fastplotlib": ("clients", ["fastplotlib_plot.py", "OUT.png"], {}),
    "qt_quick": ("clients", ["qt_quick.py", "OUT.png"], QT),
    "datoviz": ("clients", ["datoviz_points.py", "OUT.png"], {}),
    "taichi": ("clients", ["taichi_kernels.py", "OUT.npy"], {}),
    "vkdispatch": ("clients", ["fourier_kernels.py", "OUT.npy"], {"TILEGPU_VULKAN": "1.2"}),
    "opengl": ("", ["moderngl_scene.py", "OUT.npy"], ZINK),
}


#: How lanes are filled, which goes by what code was ready when a draw came.
BY_CODE = {"packets", "helper_lanes", "idle_lanes"}


def work(report: Path) -> dict[str, list[Any]]:
    """What was drawn and computed, without times and names."""
    said = json.loads(report.read_text())
    counts = [{name: n for name, n in one["stats"].items() if not name.endswith("_ms") and name not in BY_CODE} for one in said["passes"]]
    bound = [[(one["size_B"], one["written"]) for one in each["bound"]] for each in said["dispatches"]]
    groups = [(each["workgroups"], each["workgroup_size"]) for each in said["dispatches"]]
    return {"passes": counts, "dispatches": list(zip(groups, bound, strict=True)), "frames": [said["frames_presented"]]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_recorded_here(name: str, clients: str, xvfb: str, tmp_path: Path) -> None:
    by, words, more = PROGRAMS[name]
    if by == "node" and not (NODE / "node_modules" / "webgpu").is_dir():
        pytest.skip(f"{NODE} has no webgpu; `make test-vulkan` makes it")
    if more is ZINK and ctypes.util.find_library("EGL") is None:
        pytest.skip("EGL is not installed")
    path, program = tmp_path / "recording.gfxr", {"node": "node", "clients": clients, "": sys.executable}[by]
    there = [str(HERE / words[0]), *(str(tmp_path / word) if word.startswith("OUT") else word for word in words[1:])]
    said = {"XDG_RUNTIME_DIR": str(tmp_path), **more}
    recorded([need(program), *there], path, xvfb, TILEGPU_REPORT=str(tmp_path / "a.json"), **HERE_TOO, **said)
    replayed(path, "again", xvfb, 0, TILEGPU_REPORT=str(tmp_path / "b.json"), **said)
    done = work(tmp_path / "a.json")
    assert done["passes"] or done["dispatches"]
    assert work(tmp_path / "b.json") == done
