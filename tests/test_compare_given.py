"""``tilegpu compare --reference``: what a function draws beside a picture in a file, or beside what another function returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tilegpu.cli import main
from tilegpu.reference import given

FILE = '''
import functools
import numpy as np
import tilegpu as tg
from tilegpu.scene import Draw, Frame, Program

V = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
F = """#version 450
layout(location = 0) out vec4 o;
void main() {
  if (distance(gl_FragCoord.xy, vec2(32, 24)) > 18.0) discard;
  o = vec4(gl_FragCoord.x / 64.0, 0.5, 0.25, 1.0);
}"""

def ramp(device, size=(64, 48)):
    out = device.image(size, "r8g8b8a8_unorm", label="out")
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
        rp.draw(device.pipeline(V, F, color=[out.format]), count=3)
    return out

def by_numpy(size):
    y, x = np.mgrid[0:size[1], 0:size[0]] + 0.5
    disc = np.hypot(x - 32, y - 24) <= 18
    color = np.stack([x / 64, np.full_like(x, 0.5), np.full_like(x, 0.25)], -1)
    return np.rint(np.where(disc[..., None], color, 0) * 255).astype(np.uint8)

def elsewhere(size):
    return np.roll(by_numpy(size), 3, 1)

def two(size):
    return [by_numpy(size), by_numpy(size)]

def described(device, size=(64, 48)):
    return Frame(size, 1, ("r8g8b8a8_unorm",), ((0, 0, 0, 1),), depth_format=None, draws=(Draw(Program(V, F), count=3),), label="ramp")

def hdr(size=(64, 48)):
    return by_numpy(size).astype(np.float32) / 255
'''


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(FILE)
    return str(tmp_path / "mine.py")


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    code = main(["compare", *words, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else {}, said.err


def test_a_function_beside_a_function(file: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    both = str(tmp_path / "both.png")
    assert main(["compare", f"{file}:ramp", "--reference", f"{file}:by_numpy", "-o", both]) == 0
    text = capsys.readouterr().out
    assert f"ramp, 64x48, against reference '{file}:by_numpy'" in text and "within tolerance" in text and f"pictures: {both}" in text
    assert "of this reference no edges are known: they count as inside" in text and "alpha is not compared" in text
    with Image.open(both) as picture:
        assert picture.size == (3 * 64 + 16, 48)
    code, found, _ = compared(capsys, f"{file}:ramp", "--reference", f"{file}:by_numpy", "--size", "80x60")
    assert code == 0 and found["size"] == [80, 60] and found["max_diff"] <= 1 / 255 and found["covered_px"] > 900
    code, found, _ = compared(capsys, f"{file}:ramp", "--reference", f"{file}:elsewhere")
    assert code == 1 and not found["within_tolerance"] and found["share_over_2"] > 0.1


@pytest.mark.parametrize("name", ["a.png", "a.exr", "a.npy", "a.webp"])
def test_a_function_beside_a_picture(file: str, name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    if name == "a.exr":
        pytest.importorskip("OpenEXR")
    function = "hdr" if name == "a.exr" else "ramp"
    picture = str(tmp_path / name)
    assert main(["render", f"{file}:{function}", "-o", picture, "--size", "40x30"]) == 0
    capsys.readouterr()
    code, found, _ = compared(capsys, f"{file}:{function}", "--reference", picture)  # at the picture's size: nobody asked for another
    assert code == 0 and found["size"] == [40, 30] and found["max_diff"] == 0 and found["reference"]["renderer"] == f"reference '{picture}'"
    code, _, err = compared(capsys, f"{file}:{function}", "--reference", picture, "--size", "64x48")
    assert code == 2 and f"reference '{picture}': has 40x30 pixels, what was drawn 64x48; they must be as many (--size 40x30)" in err


def test_what_is_described_beside_a_picture_and_beside_opengl(file: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = str(tmp_path / "triangle.png")
    assert main(["render", "triangle", "-o", picture, "--size", "64x48"]) == 0
    capsys.readouterr()
    code, found, _ = compared(capsys, "triangle", "--reference", picture)
    assert code == 0 and found["max_diff"] == 0 and found["size"] == [64, 48]
    code, found, _ = compared(capsys, f"{file}:described")  # a function of a device that returns a Frame
    assert code == 3 or (code == 0 and "llvmpipe" in json.dumps(found["reference"]))


def test_what_can_not_be_compared_is_said(file: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ramp = f"{file}:ramp"
    (tmp_path / "text.png").write_text("no picture")
    np.save(tmp_path / "words.npy", np.array(["a", "b"]))
    np.save(tmp_path / "grey2.npy", np.zeros((48, 64, 2), "u1"))
    np.save(tmp_path / "objects.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    huge = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    (tmp_path / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(huge).to_bytes(2, "little") + huge)
    for reference, message in (
        ("none.png", r"there is no such file"), ("text.png", "is no picture in a format"), ("words.npy", "must be numbers of"),
        ("grey2.npy", "has 2 channels, what was drawn 4"), ("objects.npy", "holds Python objects"),
        ("huge.npy", "7,629,395 MiB, and has 0 B"),
    ):  # fmt: skip
        code, _, err = compared(capsys, ramp, "--reference", str(tmp_path / reference))
        assert code == 2 and message in err and reference in err, err
    for words, message in (
        ((ramp, "--reference", f"{file}:two"), "has 2 pictures, ramp 1; they must be as many"),
        ((ramp, "--reference", f"{file}:nothing"), "there is no 'nothing' to draw; there are: ramp"),
        ((ramp, "--reference", f"{file}:by_numpy", "-o", str(tmp_path / "no" / "a.png")), "there is no folder"),
    ):
        code, _, err = compared(capsys, *words)
        assert code == 2 and message in err, err
    code, found, err = compared(capsys, ramp)
    assert code == 3 and not found["compared"]
    for part in ("drawn by the function ramp(), which OpenGL can't do", "--reference PICTURE (.png", "FILE.py:NAME", "tilegpu.scene.Frame"):
        assert part in found["reason"] and part in err


def test_pictures_of_different_kinds() -> None:
    grey = np.full((2, 3, 1), 128, np.uint8)
    ours, reference, said = given.alike(grey, np.full((2, 3, 4), 128, np.uint8), "x")
    assert ours.dtype == reference.dtype == np.uint8 and ours.shape == reference.shape == (2, 3, 3) and "alpha is not compared" in said
    ours, reference, said = given.alike(grey, np.full((2, 3, 1), 32896, np.uint16), "x")  # 128 * 257
    assert ours.dtype == np.float64 and np.array_equal(ours, reference) and said == ""
    ours, reference, _ = given.alike(np.full((2, 3, 3), 0.5, np.float16), np.full((2, 3, 3), 0.5, np.float32), "x")
    assert np.array_equal(ours, reference)
    assert given.compare(grey, grey + np.uint8(9), 0, "x").difference.max_diff == pytest.approx(9 / 255)


def test_what_could_not_be_compared_does_not_differ(run_cli: Any, tmp_path: Path) -> None:
    """Exit code 1 is for pictures that differ; a function that raises is none."""
    path = tmp_path / "mine.py"
    path.write_text("def draw(device, size):\n    raise RuntimeError('no picture')\n", encoding="utf-8")
    done = run_cli("compare", "triangle", "--size", "32x32", "--reference", str(path))
    assert done.returncode == 2 and "no picture" in done.stderr
