"""vkcube in windows of X and of Wayland: 600 frames without a word from the validation layers, and a picture of it on the screen; mpv in a
window of X, a frame of a film scaled and dithered as lavapipe does it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from programs import environment, need, run, screen_of_x, wait_until

FRAMES = 600
#: The cube's label is of these colours, nothing else on the screens is.
LABEL = np.array([8, 90, 105])

NEW_LOADER = Path("/usr/lib/chromium")
LAVAPIPE = Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")


def shows_the_cube(picture: np.ndarray) -> bool:
    like_the_label = (np.abs(picture[..., :3].astype(int) - LABEL) < 24).all(-1)
    return bool(like_the_label.sum() > 2000)


def play(words: list[str], look: Callable[[], np.ndarray], where: dict[str, str], log: Path) -> None:
    """Runs to its end, and is seen before that."""
    with log.open("w") as out:
        program = subprocess.Popen([*words, "--c", str(FRAMES)], env=environment(**where), stdout=out, stderr=out)
    try:
        wait_until(lambda: program.poll() is not None or shows_the_cube(look()), "the cube", 30)
        assert program.poll() is None, log.read_text()
        assert program.wait(timeout=120) == 0, log.read_text()
    finally:
        program.kill()
        program.wait()
    assert "Validation Error" not in log.read_text()
    assert "tilegpu" in log.read_text()


@pytest.mark.parametrize("loader", ["Debian's", "Chromium's"])
def test_vkcube_in_a_window_of_x(xvfb: str, tmp_path: Path, loader: str) -> None:
    """Loaders differ in who makes a surface: that of Debian 12 would do so itself, that of 2026 leaves it to the driver."""
    where = {"DISPLAY": xvfb}
    if loader == "Chromium's":
        if not (NEW_LOADER / "libvulkan.so.1").is_file():
            pytest.skip(f"{NEW_LOADER} has no Vulkan loader (packages/clients.txt)")
        # Newer layers lie beside it, which find a semaphore of vkcube's own in use.
        where |= {"LD_LIBRARY_PATH": str(NEW_LOADER), "VK_INSTANCE_LAYERS": ""}
    play([need("vkcube")], lambda: screen_of_x(xvfb), where, tmp_path / "vkcube.log")


def test_vkcube_in_a_window_of_wayland(weston: dict[str, str], tmp_path: Path) -> None:
    program, shooter = need("vkcube-wayland"), need("weston-screenshooter")
    pictures = tmp_path / "pictures"
    pictures.mkdir()

    def look() -> np.ndarray:
        for old in pictures.glob("*.png"):
            old.unlink()
        subprocess.run([shooter], cwd=pictures, env={**os.environ, **weston}, check=True, capture_output=True)
        return np.asarray(Image.open(next(pictures.glob("*.png"))).convert("RGB"))

    play([program], look, weston, tmp_path / "vkcube.log")


#: mpv takes a software device by its name alone, lavapipe as well. Debanding is off: its noise is another one each time a frame is drawn.
#: Filters of six weights lie eight a row in mpv 0.35's tables, the last two whatever its heap held: where that is a NaN, the film is black
#: by any driver, wholly or in one triangle. With this the C library's heap is zeros.
HEAP_OF_ZEROS = {"MALLOC_PERTURB_": "255"}
MPV = ["--no-config", "--osc=no", "--osd-level=0", "--gpu-api=vulkan", "--gpu-context=x11vk", "--no-audio", "--pause", "--start=1",
       "--no-border", "--geometry=640x480+0+0", "--profile=gpu-hq", "--scale=ewa_lanczossharp",
       "--deband=no", "--dither-depth=8"]  # fmt: skip
FILM = "av://lavfi:testsrc2=size=320x240:rate=20:duration=3,format=yuv420p"


#: The film's bars, at the middle of each: x and colour.
BARS = [(54, "ff0000"), (162, "00ff00"), (268, "ffff00"), (374, "0000ff"), (482, "ff00ff"), (590, "00ffff")]


def film(output: str, display: str, log: Path, **where: str) -> np.ndarray:
    """The screen once the film fills its window and nothing changes for two seconds: pipelines are made, the window has its size."""
    names = {line.split("=", 1)[1].strip() for line in info(**where).splitlines() if "deviceName" in line}
    assert len(names) == 1, names
    seen = [np.zeros((1, 1, 3), np.uint8)] * 2

    def there() -> bool:
        assert program.poll() is None, log.read_text()
        time.sleep(1)
        seen.append(screen_of_x(display))
        filled = seen[-1].shape == seen[-3].shape and seen[-1][475, 635].any()  # its lower right corner has a colour
        return bool(filled and np.array_equal(seen[-1], seen[-2]) and np.array_equal(seen[-1], seen[-3]))

    words = [need("mpv"), *MPV, f"--vo={output}", f"--vulkan-device={names.pop()}", FILM]
    with log.open("w") as out:
        found = environment(validate=False, DISPLAY=display, **HEAP_OF_ZEROS, **where)
        program = subprocess.Popen(words, env=found, stdout=out, stderr=out)
    try:
        wait_until(there, "the film", 60)
    finally:
        program.kill()
        program.wait()
    return seen[-1]


def info(**where: str) -> str:
    return run([need("vulkaninfo"), "--summary"], validate=False, **where)


@pytest.mark.parametrize("output", ["gpu", "gpu-next"])
def test_mpv(output: str, xvfb: str, tmp_path: Path) -> None:
    ours = film(output, xvfb, tmp_path / "mpv.log", XDG_RUNTIME_DIR=str(tmp_path))
    again = film(output, xvfb, tmp_path / "mpv.log", XDG_RUNTIME_DIR=str(tmp_path), TILEGPU_THREADS="1", TILEGPU_LANES="4")
    assert np.array_equal(ours, again)
    for x, color in BARS:
        assert np.abs(ours[440 if x < 500 else 150, x].astype(int) - list(bytes.fromhex(color))).max() <= 2, (x, color)
    if LAVAPIPE.is_file():
        where = {"VK_DRIVER_FILES": str(LAVAPIPE), "VK_ICD_FILENAMES": str(LAVAPIPE), "XDG_RUNTIME_DIR": str(tmp_path)}
        far = np.abs(ours.astype(int) - film(output, xvfb, tmp_path / "mpv.log", **where)).max(-1) > 8
        assert far.sum() <= 20, f"{far.sum()} pixels"
