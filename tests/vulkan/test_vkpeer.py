"""vkpeer, the benchmark's own Vulkan program, with every scene; a capture of a frame of it, replayed, has the same bytes.

Its sources are where TILEGPU_PEERS says (make's PEERS); without them nothing is tested here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import need, run

PEERS = Path(os.environ.get("TILEGPU_PEERS", "nowhere"))


@pytest.fixture(scope="module")
def vkpeer(tmp_path_factory: pytest.TempPathFactory) -> str:
    if not (PEERS / "vkpeer.cpp").is_file():
        pytest.skip(f"there is no {PEERS / 'vkpeer.cpp'}; TILEGPU_PEERS names the folder")
    build = tmp_path_factory.mktemp("vkpeer")
    subprocess.run([need("make"), "-s", "-C", str(PEERS), f"B={build}"], check=True)
    return str(build / "vkpeer")


def scenes(vkpeer: str) -> list[str]:
    return [line.split()[0] for line in run([vkpeer, "--list"], validate=False).splitlines() if line and "error:" not in line]


def test_every_scene(vkpeer: str, tmp_path: Path) -> None:
    names = scenes(vkpeer)
    assert len(names) >= 10
    run([vkpeer, "--max-frames", "2", "--time", "0.01", "--attempts", "1", "--out", str(tmp_path)], 400)
    assert len(list(tmp_path.iterdir())) >= len(names)


def test_a_captured_frame_replays(vkpeer: str, tmp_path: Path) -> None:
    capture = tmp_path / "frame.tgcap"
    scene = scenes(vkpeer)[-1]
    words = [vkpeer, "--scene", scene, "--max-frames", "2", "--time", "0.01", "--attempts", "1"]
    run(words, TILEGPU_CAPTURE=str(capture))
    done = subprocess.run([sys.executable, "-m", "tilegpu", "replay", str(capture)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
