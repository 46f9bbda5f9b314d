"""A user's own Python file as a scene: what may be drawn, what is said where something is wrong."""

from __future__ import annotations

import argparse
import re
import warnings
from pathlib import Path

import pytest

import tilegpu as tg
from tilegpu import farm, terminal
from tilegpu.cli import main
from tilegpu.cli.common import read_by, wants_isolation
from tilegpu.cli.view import files_of
from tilegpu.farm.job import file_of, with_whole_paths
from tilegpu.scene import Frame, SceneFileError, SceneRenderer, find_scene, load_file, scene_file, scenes

DRAW = '''
import tilegpu as tg
from shaders_of_mine import V, F

def picture(device, size=(32, 24), samples=1, time=0.0):
    """A triangle."""
    out = device.image(size, "r8g8b8a8_unorm", label="out")
    pipe = device.pipeline(V, F, color=[out.format])
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))], label="first") as rp:
        rp.draw(pipe, count=3)
    with device.render_pass(color=[out], label="second") as rp:
        rp.draw(pipe, count=3)
    return out
'''
SHADERS = '''
V = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
F = """#version 450
layout(location = 0) out vec4 o;
void main() { o = vec4(1.0, 0.0, 0.0, 1.0); }"""
'''
FRAME = "from tilegpu.scene import Frame, Scene\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "shaders_of_mine.py").write_text(SHADERS)
    path = tmp_path / "mine.py"
    path.write_text(DRAW)
    return path


def test_a_function_draws_with_the_front_end(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = load_file(file)
    assert (scene.name, scene.default_size, scene.description) == ("picture", (32, 24), "A triangle.")
    result = SceneRenderer(tg.Device()).render(scene.frame((8, 6)))
    assert result.images[0].shape == (6, 8, 4) and (result.images[0] == [255, 0, 0, 255]).all()
    assert result.stats.fragments_rasterized == 2 * 48 and len(result.stats.passes) == 2
    out = file.with_name("out.png")
    assert main(["render", f"{file}:picture", "-o", str(out)]) == 0 and out.is_file()
    assert main(["explain", str(file)]) == 0
    text = capsys.readouterr().out
    assert "pass 'first'" in text and "pass 'second'" in text
    assert main(["compare", str(file)]) == 3
    assert "drawn by the function picture(), which OpenGL can't do; say what it should be: --reference" in capsys.readouterr().err


def test_samples_and_size_that_a_function_does_not_take(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Told and not used: what was drawn is said. Not asked for: an error."""
    out = file.with_name("out.png")
    assert main(["render", str(file), "-o", str(out), "--samples", "4", "--size", "64x48"]) == 0
    said = capsys.readouterr()
    assert ": picture, 64x48, 1 sample, " in said.out
    assert "warning: picture() was given samples=4; what was drawn has 1\n" in said.err and "size" not in said.err
    file.write_text(DRAW.replace("samples=1, ", "").replace("size=(32, 24)", "time=0.0").replace(", time=0.0):", "):").replace(
        "device.image(size", "device.image((32, 24)"))  # fmt: skip
    for option, value in (("--samples", "4"), ("--size", "64x48")):
        assert main(["render", str(file), "-o", str(out), option, value]) == 2
        assert f"{option}: the function picture() asks for none; give it a parameter {option[2:]} (or view)" in capsys.readouterr().err
    assert main(["render", str(file), "-o", str(out)]) == 0 and ": picture, 32x24, 1 sample, " in capsys.readouterr().out


def test_it_is_run_anew_each_time(file: Path) -> None:
    load_file(file)
    file.write_text(DRAW.replace("(32, 24)", "(16, 12)"))
    assert load_file(file).default_size == (16, 12)


@pytest.mark.parametrize(
    ("text", "name", "size"),
    [
        (FRAME + "frame = Frame((4, 3))", "", (4, 3)),
        (FRAME + "def draw(size=(5, 4)): return Frame(size)\nother = Frame((1, 1))", "", (5, 4)),
        (FRAME + "def draw(size): return Frame(size)\nother = Frame((1, 1))", "other", (1, 1)),
        (FRAME + "class S(Scene):\n  default_size = (7, 7)\n  def frame(self, size=None, *_): return Frame(size or (7, 7))", "S", (7, 7)),
        (FRAME + "class S(Scene):\n  name = 's'\n  def frame(self, *_): return Frame((2, 2))\nSCENES = [S()]", "", (2, 2)),
        ("import numpy as np\ndef a(size=(3, 2)): return np.zeros((2, 3), np.float32)", "", (3, 2)),
    ],
)  # fmt: skip
def test_what_may_be_drawn(tmp_path: Path, text: str, name: str, size: tuple[int, int]) -> None:
    path = tmp_path / "s.py"
    path.write_text(text)
    scene = find_scene(f"{path}:{name}" if name else path)
    frame = scene.frame()
    assert isinstance(frame, Frame) and frame.size == size
    image = SceneRenderer(tg.Device()).render(frame).images[0]
    assert image.shape[:2] == size[::-1]


@pytest.mark.parametrize(
    ("text", "name", "line", "words"),
    [
        ("x = 1\ny = nothing_of_this\n", "", 2, "running the file: NameError: name 'nothing_of_this' is not defined\n    y ="),
        ("def f(:\n", "", 1, "SyntaxError"),
        ("\ndef draw(device):\n  a = 1\n  return a.b\n", "", 4, "in draw(): AttributeError: 'int' object has no attribute 'b'\n    return"),
        ("def draw(device):\n  return device.image((4, 4), 'rgba8')\n", "", 2, "UnsupportedError: image: format 'rgba8' is not known"),
        ("def draw(device, color): pass\n", "", 1,
         "'color'; what a function may ask for is device, size, samples, time, t, camera, mouse, keys, view"),
        ("def draw(device): pass\n", "", 1, "draw() returned None (does it end with return?); it"),
        ("def draw(device): return 7\n", "", 1, "draw() returned int (7); it must be an image"),
        ("def draw(device): return device.image((4, 4), 'r8_unorm', label='i')\n", "", 1, "which can't be read: image 'i': its color"),
        ("def draw(device, size=(0, 1)): pass\n", "", 1, "the default of size or samples: scene 'draw': size is 0x1"),
        ("x = 1\n", "", 0, "nothing in it can be drawn; define a function draw(device, size)"),
        ("def a(device): pass\ndef b(size): pass\n", "", 0, "which of a, b? define"),
        ("def a(device): pass\n", "c", 0, "there is no 'c' to draw; there is: a"),
        ("import tilegpu.scene as s\nclass S(s.Scene):\n  def frame(self, *_):\n    1 / 0\n", "S", 4, "S: frame(): ZeroDivisionError"),
    ],
)  # fmt: skip
def test_errors_name_the_file_and_the_line(tmp_path: Path, text: str, name: str, line: int, words: str) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(text)
    with pytest.raises(SceneFileError) as found:
        SceneRenderer(tg.Device()).render(load_file(path, name).frame())
    assert str(found.value).startswith(f"{path}:{line}:" if line else f"{path}:")
    assert words in str(found.value)


def test_exit_codes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", f"{file}x.py", "-o", "x.png"]) == 2
    assert "there is no file" in capsys.readouterr().err
    file.write_text("def draw(device):\n  return no\n")
    assert main(["render", str(file), "-o", str(file.with_name("o.png"))]) == 1
    assert f"{file}:2: in draw(): NameError" in capsys.readouterr().err


def arrays_of(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "arrays.py"
    path.write_text(f"import numpy as np\ndef draw(size):\n    return {body}\n")
    return path


@pytest.mark.parametrize(
    ("body", "suffix", "says"),
    [
        ("np.full((8, 8, 3), 200.)", ".png", "returned floats from 200 to 200.*divide pixels of 255 by 255, or give uint8"),
        ("np.full((8, 8), -3.)", ".jpg", "returned floats from -3 to -3"),
        ("[np.zeros((8, 8, 3)), np.full((8, 8, 3), 9, 'f4')]", ".png", "from 9 to 9"),
        ("np.full((8, 8, 3), 200.)", ".npy", ""),
        ("np.full((8, 8, 3), 1.4)", ".png", ""),  # filters overshoot
        ("np.full((8, 8, 3), np.nan)", ".png", "returned 64 pixels that are NaN, which 8 bits hold as 0"),
        ("np.full((8, 8, 3), np.nan)", ".npy", ""),
        ("np.full((8, 8, 3), 200, 'u1')", ".png", ""),
    ],
)
def test_floats_that_8_bits_do_not_hold(tmp_path: Path, body: str, suffix: str, says: str) -> None:
    path = arrays_of(tmp_path, body)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert main(["render", str(path), "-o", str(tmp_path / f"a{suffix}"), "--size", "8x8", "--frames", "2"]) == 0
    told = [str(one.message) for one in caught if one.category is tg.ClampedValueWarning]
    assert len(told) == bool(says)
    assert not says or re.search(rf"arrays\.py:2: draw\(\) {says}" if says.startswith("ret") else says, told[0])


def test_images_of_more_layers_than_are_drawn(tmp_path: Path) -> None:
    path = tmp_path / "layers.py"
    path.write_text(
        "def layers(device, size):\n    i = device.image(size, 'r8g8b8a8_srgb', layers=2, label='i')\n    device.clear(i, (1, 0, 0, 1))\n"
        "    return i\ndef view(device, size):\n    return layers(device, size).view('2d', layer=1, layers=1)\n"
    )
    with pytest.warns(tg.UnusedNameWarning, match=r"layers\(\) is drawn as one picture: image 'i' has 2 layers, and the first alone"):
        SceneRenderer(tg.Device()).render(load_file(path, "layers").frame((8, 8)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SceneRenderer(tg.Device()).render(load_file(path, "view").frame((8, 8)))


def test_what_comes_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer for the compiler's process, hashes of farms, the window's watch and outputs over inputs: the file that is read."""
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "model.glb", "triangle", "a:b.glb", "c:d.py", "no_suffix"):
        (tmp_path / name).write_text("")
    for name, path in {
        "mine.py": "mine.py", "mine.py:draw": "mine.py", "./mine.py:draw": "mine.py", "model.glb": "model.glb", "a:b.glb": "a:b.glb",
        "c:d.py": "c:d.py", "c:d.py:draw": "c:d.py", "no_suffix": "no_suffix",
        "triangle": None, "model.glb:draw": None, "there.py": None, "there.py:draw": None, "": None, "cube": None,
    }.items():  # fmt: skip
        found = None if path is None else Path(path)
        assert scene_file(name) == terminal.scene_file(name) == found, name
        if name:
            assert file_of(farm.Job(name)) == found and farm.Job(name).isolates == (found is not None)
            assert files_of(name) == (() if found is None else (str(tmp_path / found),))
            options = argparse.Namespace(scene=name, environment=None, isolate_compiler=None)
            assert read_by(options)["the scene"] == found and wants_isolation(options) == (found is not None)
    for given, whole in (("./mine.py:draw", "mine.py:draw"), ("mine.py", "mine.py"), ("c:d.py", "c:d.py"), ("a:b.glb", "a:b.glb")):
        assert with_whole_paths(farm.Job(given)).scene == str(tmp_path / whole), "of workers whose folder is another one"
    assert with_whole_paths(farm.Job("triangle")).scene == "triangle"


def test_no_sample_has_a_suffix() -> None:
    """A file whose name is a sample's is the sample."""
    assert not [name for name in scenes() if Path(name).suffix]
