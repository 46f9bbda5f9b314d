"""Whatever reads a file refuses pipes, which would wait for ever, and devices, which never end: by name, at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import farm
from tilegpu.cli import main
from tilegpu.scene import find_scene, load_file
from tilegpu.testing import assert_image_equal

READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "load_capture": ("x.tgcap", lambda path: tg.Device(threads=1).load_capture(path)),
    "capture_profile": ("x.tgcap", tg.capture_profile),
    "texture": ("x.png", lambda path: tg.Device(threads=1).texture(path)),
    "texture hdr": ("x.hdr", lambda path: tg.Device(threads=1).texture(path)),
    "shader": ("x.vert", lambda path: tg.Device(threads=1).pipeline(path)),
    "golden": ("x.png", lambda path: assert_image_equal(np.zeros((2, 2, 4), np.uint8), path)),
    "verify": ("x.json", farm.verify),
    "scene file": ("x.py", load_file),
    "model": ("x.gltf", find_scene),
    "model obj": ("x.obj", find_scene),
}
COMMANDS = {
    "replay": ("x.tgcap", ["replay", "{path}"]),
    "explain": ("x.tgcap", ["explain", "{path}"]),
    "what-if": ("x.tgcap", ["what-if", "{path}"]),
    "render model": ("x.glb", ["render", "{path}", "-o", "{folder}/o.png"]),
    "render py": ("x.py", ["render", "{path}", "-o", "{folder}/o.png"]),
    "compare": ("x.png", ["compare", "triangle", "--reference", "{path}"]),
    "verify": ("x.json", ["verify", "{path}"]),
}


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    def late(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def made(path: Path, kind: str) -> Path:
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("reader", READERS)
def test_functions(reader: str, kind: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    path = made(tmp_path / name, kind)
    with pytest.raises(tg.Error, match=f"is a (named )?{kind}; only regular files are read"):
        read(path)


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, words = COMMANDS[command]
    path = made(tmp_path / name, kind)
    assert main([word.format(path=path, folder=tmp_path) for word in words]) in (1, 2)
    error = capsys.readouterr().err
    assert f"{path}' is a" in error or f"{path} is a" in error or f"{path}: is a" in error or f"{path}': is a" in error, error
    assert f"{kind}; only regular files are read" in error
