"""gfxreconstruct records programs on the driver; what it recorded is replayed on the driver and on lavapipe, and the pictures compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from programs import need, run

LAVAPIPE = Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")
LAYER = Path("/usr/share/vulkan/explicit_layer.d/VkLayer_gfxreconstruct.json")
FRAMES = 5


def recorded(words: list[str], path: Path, display: str) -> None:
    if not LAYER.is_file():
        pytest.skip("gfxreconstruct is not installed (packages/clients.txt)")
    run(
        words,
        validate=False,
        DISPLAY=display,
        VK_INSTANCE_LAYERS="VK_LAYER_LUNARG_gfxreconstruct",
        GFXRECON_CAPTURE_FILE=str(path),
        GFXRECON_CAPTURE_FILE_TIMESTAMP="false",
    )


def replayed(path: Path, name: str, display: str, **more: str) -> list[np.ndarray]:
    """The first frames; by `-m rebind` memory is laid out anew, as the other driver asks; extensions that it doesn't have are left out."""
    words = [need("gfxrecon-replay"), "-m", "rebind", "--remove-unsupported", "--screenshots", f"1-{FRAMES - 1}"]
    run(
        [*words, "--screenshot-dir", str(path.parent), "--screenshot-prefix", name, str(path)],
        validate=False,
        DISPLAY=display,
        **more,
    )
    pictures = []
    for frame in range(1, FRAMES):
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
    other = replayed(path, "lavapipe", display, VK_DRIVER_FILES=str(LAVAPIPE), VK_ICD_FILENAMES=str(LAVAPIPE))
    far = [int((np.abs(a - b).max(-1) > 8).sum()) for a, b in zip(ours, other, strict=True)]
    assert max(far) <= most, far


def test_vkcube(xvfb: str, tmp_path: Path) -> None:
    path = tmp_path / "cube.gfxr"
    recorded([need("vkcube"), "--c", str(FRAMES)], path, xvfb)
    compare(path, xvfb, 60)


def test_wgpu(clients: str, xvfb: str, tmp_path: Path) -> None:
    """Compute and drawing by wgpu in a window."""
    path = tmp_path / "wgpu.gfxr"
    recorded([clients, str(Path(__file__).parent / "wgpu_window.py"), str(FRAMES)], path, xvfb)
    compare(path, xvfb, 60)
