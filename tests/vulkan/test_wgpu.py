"""wgpu-py, pygfx and fastplotlib on the driver: the same bits for any threads, lanes and tiles, and pictures near lavapipe's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from programs import run

LAVAPIPE = Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")
FOLDER = Path(__file__).parent
#: Of 76,800 pixels, those that may differ by more than 8 of 255. Edges of lines, and the ends of rays through a volume, are decided by the
#: last bits of positions.
SCENES = {"mesh": 12, "metal": 20, "marks": 300, "picture": 10, "volume": 30}


#: A figure of four plots, of 307,200 pixels: an axis, and a row of an image's texels, end at the middle of pixels.
FIGURE_PX = 600


def drawn(words: list[str], tmp_path: Path, **more: str) -> np.ndarray:
    path = tmp_path / "picture.npy"
    run([*words, str(path)], validate=False, WGPU_FORCE_OFFSCREEN="true", **more)
    return np.load(path)


def compare(words: list[str], tmp_path: Path, most_px: int) -> None:
    picture = drawn(words, tmp_path)
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert np.array_equal(drawn(words, tmp_path, **settings), picture), settings
    if LAVAPIPE.is_file():
        other = drawn(words, tmp_path, VK_DRIVER_FILES=str(LAVAPIPE), VK_ICD_FILENAMES=str(LAVAPIPE))
        far = np.abs(picture.astype(int) - other).max(-1) > 8
        assert far.sum() <= most_px, f"{far.sum()} pixels"


@pytest.mark.parametrize("scene", SCENES)
def test_pygfx(clients: str, scene: str, tmp_path: Path) -> None:
    compare([clients, str(FOLDER / "pygfx_scene.py"), scene], tmp_path, SCENES[scene])


def test_fastplotlib(clients: str, tmp_path: Path) -> None:
    compare([clients, str(FOLDER / "fastplotlib_plot.py")], tmp_path, FIGURE_PX)
