"""Chromium on the driver: WebGL 2 by ANGLE and WebGPU by Dawn, pages of three.js. The same screenshot for any threads, lanes and tiles,
and near that of the SwiftShader that Chromium brings; the report of a page, whose process Chromium ends by force."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from programs import environment, need, run, screen_of_x, wait_until

PAGES = Path(__file__).parent / "pages"
SWIFTSHADER = Path("/usr/lib/chromium/vk_swiftshader_icd.json")  # another driver for the same ANGLE
THREE = Path(sys.prefix) / "clients" / "node_modules" / "three" / "build"
FLAGS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--use-gl=angle",
    "--use-angle=vulkan",
    "--ignore-gpu-blocklist",
    "--allow-file-access-from-files",
    "--enable-logging=stderr",
    "--window-size=400,400",
]
HEADLESS = ["--headless=new", "--virtual-time-budget=10000"]
#: Without a display Chromium composes pages without Vulkan: a canvas of WebGPU stays empty. The last switch lets the adapter say its name.
WEBGPU = ["--ozone-platform=x11", "--kiosk", "--enable-features=Vulkan", "--enable-unsafe-webgpu", "--enable-webgpu-developer-features"]


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
        words = [*FLAGS, *HEADLESS, f"--user-data-dir={self.folder / 'profile'}", f"--screenshot={shot}"]
        text = run([self.program, *words, self.page.as_uri()], validate=False, XDG_RUNTIME_DIR=str(self.folder), **more)
        self.said = "\n".join(line for line in text.splitlines() if "CONSOLE" in line)
        with Image.open(shot) as picture:
            return np.asarray(picture.convert("RGB")).copy()

    def shoot_window(self, display: str, **more: str) -> np.ndarray:
        """The screen once the page said that it is done and nothing changes any more."""
        log, seen = self.folder / "chromium.log", [np.zeros(0, np.uint8)]

        def there() -> bool:
            assert program.poll() is None, log.read_text()[-4000:]
            if "PAGE" not in log.read_text():
                return False
            time.sleep(0.5)
            seen.append(screen_of_x(display))
            return bool(seen[-1].any() and np.array_equal(seen[-1], seen[-2]))

        words = [self.program, *FLAGS, *WEBGPU, f"--user-data-dir={self.folder / 'profile'}", f"--app={self.page.as_uri()}"]
        where = environment(validate=False, DISPLAY=display, XDG_RUNTIME_DIR=str(self.folder), **more)
        with log.open("w") as out:
            program = subprocess.Popen(words, env=where, stdout=out, stderr=out, start_new_session=True)
        try:
            wait_until(there, "the page", 60)
        finally:
            os.killpg(program.pid, signal.SIGTERM)
            program.wait(timeout=30)
        self.said = "\n".join(line for line in log.read_text().splitlines() if "CONSOLE" in line)
        return seen[-1]


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


def test_webgpu(tmp_path: Path, xvfb: str) -> None:
    """Chromium takes a device of type CPU after its own SwiftShader, so the driver is told to say another."""
    browser, ours = Browser(tmp_path, "webgpu.html"), {"TILEGPU_VULKAN_TYPE": "integrated"}
    done = f"6 draws, sum {sum(number**2 for number in range(1024))}"
    picture = browser.shoot_window(xvfb, **ours, TILEGPU_REPORT=str(tmp_path / "report.json"))
    assert "tilegpu" in browser.said and done in browser.said, browser.said
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["program"] == "chromium" and report["frames_presented"] > 0
    assert len(report["dispatches"]) >= 2, report["dispatches"]  # the page's; three.js makes its levels of textures by draws
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert np.array_equal(browser.shoot_window(xvfb, **ours, **settings), picture), settings
    other = browser.shoot_window(xvfb, VK_DRIVER_FILES=str(SWIFTSHADER), VK_ICD_FILENAMES=str(SWIFTSHADER))
    assert "SwiftShader" in browser.said and done in browser.said, browser.said
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
