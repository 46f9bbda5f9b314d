"""Other people's programs on tilegpu's Vulkan driver: `make test-vulkan`, which installs them. Windows of X and Wayland for them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import CLIENTS, need, wait_until


@pytest.fixture
def clients() -> str:
    """The Python that has wgpu and pygfx."""
    if not CLIENTS.is_file():
        pytest.skip(f"{CLIENTS} is not there; `make test-vulkan` makes it")
    return str(CLIENTS)


@pytest.fixture
def xvfb(tmp_path: Path) -> Iterator[str]:
    """A display of 800 x 640 pixels."""
    need("Xvfb")
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "800x640x24"], pass_fds=[write], stderr=subprocess.DEVNULL
    )
    os.close(write)
    with os.fdopen(read) as number:
        display = ":" + number.readline().strip()
    yield display
    server.terminate()
    server.wait()


@pytest.fixture
def weston(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A Wayland compositor without a screen, and what its clients need in their environment."""
    need("weston")
    tmp_path.chmod(0o700)
    where = {"XDG_RUNTIME_DIR": str(tmp_path), "WAYLAND_DISPLAY": "tilegpu-test"}
    log = tmp_path / "weston.log"
    words = ["weston", "--backend=headless-backend.so", "--use-pixman", "--width=800", "--height=640", "--debug"]
    with log.open("w") as out:
        server = subprocess.Popen(
            [*words, "--idle-time=0", "--socket=tilegpu-test"], env={**os.environ, **where}, stdout=out, stderr=out
        )
    wait_until(lambda: "weston-desktop-shell" in log.read_text(), "weston's desktop")
    yield where
    server.terminate()
    server.wait()
