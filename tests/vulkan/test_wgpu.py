"""wgpu-py and pygfx on the driver: the same bits for any threads, lanes and tiles, and pictures near lavapipe's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from programs import run

LAVAPIPE = Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")
SCENE = str(Path(__file__).parent / "pygfx_scene.py")
#: Of 76,800 pixels, those that may differ by more than 8 of 255. Edges of lines, and the ends of rays through a volume, are decided by the
#: last bits of positions.
SCENES = {"mesh": 12, "metal": 20, "marks": 300, "picture": 10, "volume": 30}


def drawn(clients: str, scene: str, tmp_path: Path, **more: str) -> np.ndarray:
    path = tmp_path / "picture.npy"
    run([clients, SCENE, scene, str(path)], validate=False, WGPU_FORCE_OFFSCREEN="true", **more)
    return np.load(path)


@pytest.mark.parametrize("scene", SCENES)
def test_pygfx(clients: str, scene: str, tmp_path: Path) -> None:
    picture = drawn(clients, scene, tmp_path)
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert np.array_equal(drawn(clients, scene, tmp_path, **settings), picture), settings
    if LAVAPIPE.is_file():
        other = drawn(clients, scene, tmp_path, VK_DRIVER_FILES=str(LAVAPIPE), VK_ICD_FILENAMES=str(LAVAPIPE))
        far = np.abs(picture.astype(int) - other).max(-1) > 8
        assert far.sum() <= SCENES[scene], f"{far.sum()} pixels"
