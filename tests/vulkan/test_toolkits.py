"""Toolkits on the driver: Qt Quick's scene graph in a window of X, and datoviz offscreen. The same bits for any threads, lanes and tiles,
near lavapipe's picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from programs import run

FOLDER = Path(__file__).parent
LAVAPIPE = Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")


def compare(words: list[str], tmp_path: Path, most_px: int, validate: bool, **more: str) -> None:
    """Of a program that writes a picture to a path, its last word."""
    path = tmp_path / "picture.png"

    def drawn(**settings: str) -> np.ndarray:
        path.unlink(missing_ok=True)
        ours = validate and "VK_DRIVER_FILES" not in settings
        run([*words, str(path)], validate=ours, XDG_RUNTIME_DIR=str(tmp_path), **more, **settings)
        with Image.open(path) as picture:
            return np.asarray(picture.convert("RGB")).copy()

    picture = drawn()
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 500, "hardly anything was drawn"
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert np.array_equal(drawn(**settings), picture), settings
    if LAVAPIPE.is_file():
        other = drawn(VK_DRIVER_FILES=str(LAVAPIPE), VK_ICD_FILENAMES=str(LAVAPIPE))
        far = np.abs(picture.astype(int) - other).max(-1) > 8
        assert far.sum() <= most_px, f"{far.sum()} pixels"


def test_qt_quick(clients: str, xvfb: str, tmp_path: Path) -> None:
    """Where a letter lies in Qt's texture of letters is its hash table's order, so the seed of that is given."""
    said = {"DISPLAY": xvfb, "QT_QPA_PLATFORM": "xcb", "QT_HASH_SEED": "0"}
    compare([clients, str(FOLDER / "qt_quick.py")], tmp_path, 20, True, **said)


def test_datoviz(clients: str, tmp_path: Path) -> None:
    """Edges of points, whose smoothness is of their distance in pixels."""
    compare([clients, str(FOLDER / "datoviz_points.py")], tmp_path, 150, False)
