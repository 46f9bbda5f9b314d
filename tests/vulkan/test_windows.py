"""vkcube in windows of X and of Wayland: 600 frames without a word from the validation layers, and a picture of it on the screen."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from programs import environment, need, wait_until

FRAMES = 600
#: The cube's label is of these colours, nothing else on the screens is.
LABEL = np.array([8, 90, 105])


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


def test_vkcube_in_a_window_of_x(xvfb: str, tmp_path: Path) -> None:
    program, xwd = need("vkcube"), need("xwd")

    def look() -> np.ndarray:
        dump = subprocess.run([xwd, "-root", "-silent", "-display", xvfb], capture_output=True, check=True).stdout
        # X11/XWDFile.h: a header of big-endian words: its size, ..., width, height, ..., bytes a line, ..., colours in the map.
        header = np.frombuffer(dump, ">u4", 25)
        start = int(header[0]) + int(header[19]) * 12
        rows = np.frombuffer(dump, np.uint8, int(header[5]) * int(header[12]), start).reshape(int(header[5]), -1)
        return rows[:, : int(header[4]) * 4].reshape(int(header[5]), -1, 4)[..., 2::-1]

    play([program], look, {"DISPLAY": xvfb}, tmp_path / "vkcube.log")


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
