"""No command writes two things to one file, nor over what it reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

import tilegpu as tg
from tilegpu import farm
from tilegpu.cli import main

SCENE = "import numpy as np\ndef draw(size=(16, 16), time=0.0):\n    return np.zeros((size[1], size[0], 4), np.uint8)\n"
REFUSED = {
    "render stats": (["render", "{scene}", "-o", "{d}/x.png", "--stats", "{d}/x.png"], "--stats {d}/x.png: -o writes that file too"),
    "render stats by a link": (["render", "{scene}", "-o", "{d}/x.png", "--stats", "{d}/link.png"], "-o writes that file too"),
    "render stats colour 1": (["render", "{scene}", "-o", "{d}/x.png", "--stats", "{d}/x.color1.png"], "the name of one of its pictures"),
    "render stats frame 2": (
        ["render", "{scene}", "-o", "{d}/x.png", "--frames", "3", "--stats", "{d}/x_002.png"],
        "the name of one of its pictures",
    ),
    "render manifest": (
        ["render", "{scene}", "-o", "{d}/x.png", "--manifest", "{d}/x.png", "--executor", "threads"],
        "--manifest {d}/x.png: -o writes that file too",
    ),
    "render film": (["render", "{scene}", "-o", "{d}/x.gif", "--frames", "3", "--stats", "{d}/x.gif"], "-o writes that file too"),
    "render over its scene": (["render", "{scene}", "-o", "{d}/x.png", "--stats", "{scene}"], "the scene reads that file"),
    "render over its scene, named": (["render", "{scene}:draw", "-o", "{d}/x.png", "--stats", "{scene}"], "the scene reads that file"),
    "render over its sky": (["render", "{scene}", "-o", "{d}/golden.png", "--environment", "{d}/golden.png"], "--environment reads that"),
    "compare over the reference": (
        ["compare", "{scene}", "--reference", "{d}/golden.png", "-o", "{d}/golden.png"],
        "-o {d}/golden.png: --reference reads that file, which would be written over",
    ),
    "explain over its scene": (["explain", "{scene}", "--report", "{scene}"], "suffix of programs"),
    "replay over its capture": (["replay", "{d}/golden.png", "-o", "{d}/golden.png"], "the replay reads that file"),
    "view over its sky": (["view", "{scene}", "--screenshot", "{d}/golden.png", "--environment", "{d}/golden.png"], "--environment reads"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scene.py").write_text(SCENE)
    Pillow.fromarray(np.zeros((16, 16, 4), np.uint8)).save(tmp_path / "golden.png")
    (tmp_path / "x.png").write_bytes(b"old")
    (tmp_path / "link.png").symlink_to(tmp_path / "x.png")
    return tmp_path


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_before_any_work(
    case: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(*_: object, **__: object) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr(tg, "Device", work)
    words, message = REFUSED[case]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert main([word.format(d=folder, scene=folder / "scene.py") for word in words]) == 2
    assert message.format(d=folder) in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    "words",
    [
        ["render", "{scene}", "-o", "{d}/a.png", "--stats", "{d}/a.png.json"],
        ["render", "{scene}", "-o", "{d}/a.png", "--frames", "2", "--stats", "{d}/a_002.json"],
        ["render", "{scene}", "-o", "{d}/a.png", "--stats", "/dev/null"],
        ["compare", "{scene}", "--reference", "{d}/golden.png", "-o", "{d}/golden.diff.png"],
    ],
)
def test_different_paths_are_taken(words: list[str], folder: Path) -> None:
    assert main([word.format(d=folder, scene=folder / "scene.py") for word in words]) == 0


def test_farms_of_a_program(folder: Path) -> None:
    job = farm.Job(str(folder / "scene.py"), of=2)
    with pytest.raises(farm.FarmError, match=r"x_001\.png has the name of one of the pictures; give it another, such as x\.manifest\.json"):
        farm.render(job, folder / "x.png", executor="threads", manifest=folder / "x_001.png")
