"""Chromium on the driver: WebGL 2 by ANGLE, headless, and WebGPU by Dawn in a window of X; pages of three.js. The same screenshot for any
threads, lanes and tiles, and near that of Chromium's own SwiftShader; reports of pages, whose process Chromium ends by force."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from programs import environment, need, run, wait_until

PAGES = Path(__file__).parent / "pages"
SWIFTSHADER = Path("/usr/lib/chromium/vk_swiftshader_icd.json")  # another driver for the same ANGLE
THREE = Path(sys.prefix) / "clients" / "node_modules" / "three" / "build"
COMMON = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--use-gl=angle",
    "--use-angle=vulkan",
    "--ignore-gpu-blocklist",
    "--allow-file-access-from-files",
]
FLAGS = [*COMMON, "--headless=new", "--enable-logging=stderr", "--window-size=400,400", "--virtual-time-budget=10000"]
#: Dawn takes Vulkan where Chromium draws its own pages by it; `info` tells the device's name with the features of developers alone.
WEBGPU = [*COMMON, "--enable-features=Vulkan", "--enable-unsafe-webgpu", "--enable-webgpu-developer-features"]


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
        words = [*FLAGS, f"--user-data-dir={self.folder / 'profile'}", f"--screenshot={shot}"]
        text = run([self.program, *words, self.page.as_uri()], validate=False, XDG_RUNTIME_DIR=str(self.folder), **more)
        self.said = "\n".join(line for line in text.splitlines() if "CONSOLE" in line)
        with Image.open(shot) as picture:
            return np.asarray(picture.convert("RGB")).copy()


def draw_webgpu(folder: Path, display: str, *flags: str, **more: str) -> tuple[np.ndarray, str]:
    """The page in a window, when it has said that it is drawn: what it shows, and what it said. Headless, Chromium composes without a GPU
    and leaves the canvas out. Of type CPU, the driver would come after SwiftShader."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="make test-vulkan installs playwright")
    browser = Browser(folder, "webgpu.html")
    asked = environment(validate=False, XDG_RUNTIME_DIR=str(folder), DISPLAY=display, TILEGPU_VULKAN_TYPE="discrete", **more)
    said: list[str] = []
    with sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser.program, args=[*WEBGPU, *flags], env=asked, headless=False)
        page = chromium.new_page(viewport={"width": 320, "height": 240})
        page.on("console", lambda message: said.append(message.text))
        page.goto(browser.page.as_uri())
        wait_until(lambda: page.wait_for_timeout(50) or any(text.startswith("PAGE") for text in said), "the picture", 60)
        page.wait_for_timeout(300)  # until it is composed
        shot = page.screenshot()
        chromium.close()
    with Image.open(io.BytesIO(shot)) as picture:
        return np.asarray(picture.convert("RGB")).copy(), "\n".join(text for text in said if text.startswith("PAGE"))


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


def test_webgpu(tmp_path: Path, xvfb: str) -> None:
    path = tmp_path / "report.json"
    picture, said = draw_webgpu(tmp_path, xvfb, TILEGPU_REPORT=str(path))
    assert "tilegpu" in said and "6 draws, 1 dispatches, fallback false" in said and "wrong" not in said, said
    assert picture.std() > 30
    report = json.loads(path.read_text())
    assert report["program"] == "chromium" and len(report["dispatches"]) >= 1
    assert not [error for error in report["errors"] if "had not ended" not in error]
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert np.array_equal(draw_webgpu(tmp_path, xvfb, **settings)[0], picture), settings
    other, said = draw_webgpu(tmp_path, xvfb, "--use-webgpu-adapter=swiftshader")
    assert "SwiftShader" in said and "wrong" not in said, said
    far = np.abs(picture.astype(int) - other).max(-1) > 8
    assert far.sum() <= 250, f"{far.sum()} pixels"
