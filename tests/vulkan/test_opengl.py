"""OpenGL by Mesa's Zink on tilegpu: a moderngl scene has the same bits for any threads and lanes, and is near Mesa's own rasterizer's.

The version that Zink finds is its own conclusion from the driver's features. Source: docs.mesa3d.org, drivers/zink."""

from __future__ import annotations

import ctypes.util
import sys
from pathlib import Path

import numpy as np
import pytest
from programs import run

SCENE = str(Path(__file__).parent / "moderngl_scene.py")
MESA = {"LIBGL_ALWAYS_SOFTWARE": "1"}
ZINK = {**MESA, "MESA_LOADER_DRIVER_OVERRIDE": "zink", "GALLIUM_DRIVER": "zink"}


def drawn(tmp_path: Path, renderer: str, **more: str) -> np.ndarray:
    path = tmp_path / "picture.npy"
    text = run([sys.executable, SCENE, str(path)], validate=False, **more)
    assert renderer in text, text
    return np.load(path)


def test_moderngl(tmp_path: Path) -> None:
    if ctypes.util.find_library("EGL") is None:
        pytest.skip("EGL is not installed")
    picture = drawn(tmp_path, "zink (tilegpu", **ZINK)
    assert picture[..., :3].std() > 20
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert np.array_equal(drawn(tmp_path, "zink (tilegpu", **ZINK, **settings), picture), settings
    far = np.abs(picture.astype(int) - drawn(tmp_path, "llvmpipe", **MESA)).max(-1) > 8
    assert far.sum() <= 120, f"{far.sum()} of {far.size} pixels"  # edges between texels, and the ball's
