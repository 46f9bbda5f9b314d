"""Dawn, the WebGPU of npm's `webgpu`, on the driver: sums against NumPy, a picture near SwiftShader's, the same for any settings."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from programs import need, run

MODULES = Path(sys.prefix) / "clients" / "node_modules"
SCRIPT = str(Path(__file__).parent / "dawn.mjs")
SWIFTSHADER = Path("/usr/lib/chromium/vk_swiftshader_icd.json")
SIDE = 256


def drawn(tmp_path: Path, device: str, **more: str) -> tuple[np.ndarray, np.ndarray]:
    if not (MODULES / "webgpu").is_dir():
        pytest.skip(f"{MODULES} has no webgpu; `make test-vulkan` makes it")
    path = tmp_path / "result"
    said = run(
        [need("node"), SCRIPT, str(path), str(MODULES.parent)], validate=False, XDG_RUNTIME_DIR=str(tmp_path), **more
    )
    if "NO ADAPTER" in said and "textureCompressionBC" in said:
        pytest.skip("Dawn takes no device without textureCompressionBC")
    assert device in said and "DONE" in said, said
    result = np.fromfile(path, np.uint8)
    return result[:260].view(np.uint32), result[512:].reshape(SIDE, SIDE, 4)


def test_dawn(tmp_path: Path) -> None:
    sums, picture = drawn(tmp_path, "tilegpu")
    groups = -(-24 * 24 * 6 // 64)
    lines = (np.arange(groups * 64, dtype=np.uint64) * 2654435761 % 2**32).reshape(groups, 64)
    assert np.array_equal(sums[:64], ((lines >> 8).sum(0) % 2**32)[::-1])
    assert sums[64] == lines.max()
    assert len(np.unique(picture.reshape(-1, 4), axis=0)) > 1000
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert all(map(np.array_equal, drawn(tmp_path, "tilegpu", **settings), (sums, picture))), settings
    if not SWIFTSHADER.is_file():
        return
    other_sums, other = drawn(
        tmp_path, "SwiftShader", VK_DRIVER_FILES=str(SWIFTSHADER), VK_ICD_FILENAMES=str(SWIFTSHADER)
    )
    assert np.array_equal(other_sums, sums)
    far = np.abs(picture.astype(int) - other).max(-1) > 8
    assert far.sum() <= 200, f"{far.sum()} pixels"
