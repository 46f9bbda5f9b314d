"""Chromium on the driver: WebGL 2 by ANGLE, a page of three.js. The same screenshot for any threads, lanes and tiles, and near that of
the SwiftShader that Chromium brings; the report of a page, whose process Chromium ends by force."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from programs import need, run

PAGES = Path(__file__).parent / "pages"
SWIFTSHADER = Path("/usr/lib/chromium/vk_swiftshader_icd.json")  # another driver for the same ANGLE
THREE = Path(sys.prefix) / "clients" / "node_modules" / "three" / "build"
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--use-gl=angle",
    "--ignore-gpu-blocklist",
    "--allow-file-access-from-files",
    "--enable-logging=stderr",
    "--window-size=400,400",
    "--virtual-time-budget=10000",
]


class Browser:
    """Screenshots of a page of this folder; what the page said."""

    def __init__(self, folder: Path, page: str) -> None:
        self.program = need("chromium")
        if not THREE.is_dir():
            pytest.skip(f"{THREE} is not there; `make test-vulkan` makes it")
        self.folder, self.page, self.said = folder, folder / page, ""
        for file in (PAGES / page, *THREE.glob("three.*.js")):
            shutil.copy(file, folder)

    def shoot(self, **more: str) -> np.ndarray:
        shot = self.folder / "shot.png"
        shot.unlink(missing_ok=True)
        words = [*FLAGS, "--use-angle=vulkan", f"--user-data-dir={self.folder / 'profile'}", f"--screenshot={shot}"]
        text = run([self.program, *words, self.page.as_uri()], validate=False, XDG_RUNTIME_DIR=str(self.folder), **more)
        self.said = "\n".join(line for line in text.splitlines() if "CONSOLE" in line)
        with Image.open(shot) as picture:
            return np.asarray(picture.convert("RGB")).copy()


def test_webgl(tmp_path: Path) -> None:
    browser = Browser(tmp_path, "webgl.html")
    picture = browser.shoot()
    assert "tilegpu" in browser.said and "error 0" in browser.said, browser.said
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert np.array_equal(browser.shoot(**settings), picture), settings
    other = browser.shoot(VK_DRIVER_FILES=str(SWIFTSHADER), VK_ICD_FILENAMES=str(SWIFTSHADER))
    assert "SwiftShader" in browser.said, browser.said
    far = np.abs(picture.astype(int) - other).max(-1) > 8
    assert far.sum() <= 400, f"{far.sum()} pixels"


def test_the_report_of_a_page(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    Browser(tmp_path, "webgl.html").shoot(TILEGPU_REPORT=str(path))
    report = json.loads(path.read_text())
    assert report["program"] == "chromium"
    assert not [error for error in report["errors"] if "had not ended" not in error]  # what ran when it was ended
    draws = sum(row["stats"]["draws"] for row in report["passes"])
    assert draws >= 9, draws  # six of the page, its shadows, the compositor's
