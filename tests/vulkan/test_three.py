"""three.js's WebGPU renderer in node on the driver: the same bits for any threads, lanes and tiles, near SwiftShader's picture."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from programs import need, run

MODULES = Path(sys.prefix) / "clients" / "node_modules"
SCRIPT = str(Path(__file__).parent / "three_webgpu.mjs")
SWIFTSHADER = Path("/usr/lib/chromium/vk_swiftshader_icd.json")
#: Of 76,800 pixels, those that may differ by more than 8 of 255: edges of triangles and of the shadow, which is drawn smaller.
SCENES = {"materials": 250, "particles": 80}


def drawn(tmp_path: Path, scene: str, device: str, **more: str) -> np.ndarray:
    if not (MODULES / "webgpu").is_dir():
        pytest.skip(f"{MODULES} has no webgpu; `make test-vulkan` makes it")
    path = tmp_path / "picture"
    words = [need("node"), SCRIPT, scene, str(path), str(MODULES.parent)]
    said = run(words, 200, validate=False, XDG_RUNTIME_DIR=str(tmp_path), **more)
    if "NO ADAPTER" in said and "textureCompressionBC" in said:
        pytest.skip("Dawn takes no device without textureCompressionBC")
    assert device in said and "DONE" in said, said
    return np.fromfile(path, np.uint8).reshape(240, 320, 4)


@pytest.mark.parametrize("scene", SCENES)
def test_three(tmp_path: Path, scene: str) -> None:
    picture = drawn(tmp_path, scene, "tilegpu")
    assert picture[..., :3].std() > 20
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert np.array_equal(drawn(tmp_path, scene, "tilegpu", **settings), picture), settings
    if not SWIFTSHADER.is_file():
        return
    other = drawn(tmp_path, scene, "SwiftShader", VK_DRIVER_FILES=str(SWIFTSHADER), VK_ICD_FILENAMES=str(SWIFTSHADER))
    far = np.abs(picture.astype(int) - other).max(-1) > 8
    assert far.sum() <= SCENES[scene], f"{far.sum()} pixels"
