"""gfxreconstruct records programs on the driver, or on lavapipe those that its layer of 2022 can't record here; recordings are replayed on
the driver and on lavapipe, and the pictures compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from programs import need, run

LAVAPIPE = Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")
ON_LAVAPIPE = {"VK_DRIVER_FILES": str(LAVAPIPE), "VK_ICD_FILENAMES": str(LAVAPIPE)}
LAYER = Path("/usr/share/vulkan/explicit_layer.d/VkLayer_gfxreconstruct.json")
FRAMES = 5


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
    """The first frames; by `-m rebind` memory is laid out anew, as the other driver asks; extensions that it doesn't have are left out."""
    words = [need("gfxrecon-replay"), "-m", "rebind", "--remove-unsupported", "--screenshots", f"1-{max(frames - 1, 1)}"]
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
    """Who records here: the layer of 2022 knows neither some extensions that programs of today find on tilegpu (wgpu asks for shapes of
    cooperative matrices and ends in the loader), nor functions by their names of Vulkan 1.2 on a device of 1.1."""
    if not LAVAPIPE.is_file():
        pytest.skip("lavapipe is not installed (packages/clients.txt)")
    return ON_LAVAPIPE


def test_wgpu(clients: str, xvfb: str, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    """Compute and drawing by wgpu in a window."""
    path = tmp_path / "wgpu.gfxr"
    recorded([clients, str(Path(__file__).parent / "wgpu_window.py"), str(FRAMES)], path, xvfb, **on_lavapipe)
    compare(path, xvfb, 60)


def test_qt_quick(clients: str, xvfb: str, tmp_path: Path, on_lavapipe: dict[str, str]) -> None:
    """Three frames of a window."""
    path = tmp_path / "qt.gfxr"
    said = {"QT_QPA_PLATFORM": "xcb", "QT_HASH_SEED": "0", "XDG_RUNTIME_DIR": str(tmp_path)}
    words = [clients, str(Path(__file__).parent / "qt_quick.py"), str(tmp_path / "picture.png")]
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
    recorded([clients, str(Path(__file__).parent / program), *rest[:-1], str(tmp_path / rest[-1])], path, xvfb, **on_lavapipe)
    assert path.stat().st_size > 20_000
    replayed(path, "tilegpu", xvfb, 0)
