"""How other people's programs are run on tilegpu's Vulkan driver. What is not installed is skipped, and said.

Every program runs with the validation layers where they are there: an error that they find is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tilegpu.vulkan

LAYER = Path("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json")
CLIENTS = Path(sys.prefix) / "clients" / "bin" / "python"  # an environment of its own: Makefile, .stamp-clients


def environment(*, validate: bool = True, **more: str) -> dict[str, str]:
    """Of a program that finds this driver alone."""
    layers = {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"} if validate and LAYER.is_file() else {}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TILEGPU_", "VK_", "WAYLAND_"))}
    return {**kept, **tilegpu.vulkan.environment(), **layers, **more}


def run(words: list[str], timeout_s: float = 120, *, validate: bool = True, **more: str) -> str:
    """What it printed; a failure unless it ends with 0 and the layers say nothing."""
    done = subprocess.run(words, env=environment(validate=validate, **more), capture_output=True, text=True, timeout=timeout_s, check=False)
    text = done.stdout + done.stderr
    assert done.returncode == 0, f"{words[0]} ended with {done.returncode}:\n{text[-4000:]}"
    assert "Validation Error" not in text, text[-4000:]
    return text


def need(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed (packages/clients.txt)")
    return path


def wait_until(there: Callable[[], bool], what: str, most_s: float = 20) -> None:
    end = time.monotonic() + most_s
    while not there():
        assert time.monotonic() < end, f"{what} did not come within {most_s} s"
        time.sleep(0.05)


def screen_of_x(display: str) -> np.ndarray:
    """Its pixels, as (height, width, 3)."""
    dump = subprocess.run([need("xwd"), "-root", "-silent", "-display", display], capture_output=True, check=True).stdout
    # X11/XWDFile.h: a header of big-endian words: its size, ..., width, height, ..., bits a pixel, bytes a line, ..., colours in the map.
    # Where windows have other visuals than the root, xwd writes 24 bits a pixel.
    header = np.frombuffer(dump, ">u4", 25)
    start = int(header[0]) + int(header[19]) * 12
    width, height, pixel_B = int(header[4]), int(header[5]), int(header[11]) // 8
    rows = np.frombuffer(dump, np.uint8, height * int(header[12]), start).reshape(height, -1)
    return rows[:, : width * pixel_B].reshape(height, width, pixel_B)[..., 2::-1]
