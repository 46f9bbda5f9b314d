"""Mistakes with files, scenes, farms and shapes are told in words: what, where, and what to write instead."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import tilegpu as tg
from tilegpu import farm, shapes, testing
from tilegpu.cli import main
from tilegpu.scene import Draw, Frame, Program, Scene, SceneFileError, SceneRenderer, find_scene, mip_chain
from tilegpu.secondary import OF_THE_PASS

dev = tg.Device(threads=1)
FULL = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"""
RED = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }"


def frame_of() -> tg.Frame:
    with dev.frame("f") as frame:
        dev.clear(dev.image((8, 8), "r8g8b8a8_unorm"), (1, 0, 0, 1))
    return frame


@pytest.mark.parametrize("name", ["x.png", "x.JPG", "x.json", "x.tgcap", "x.npy", "x.txt", "x.CSV", "x.py", "x.obj", "x.zip"])
def test_pages_are_no_pictures(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(tg.ValidationError, match=r"report: .* is the suffix of .*; name HTML pages \*\.html"):
        frame_of().report(tmp_path / name)
    with pytest.raises(testing.GoldenError, match=r"name HTML pages \*\.html"):
        testing.write_report([], tmp_path / name)
    assert main(["explain", "triangle", "--report", str(tmp_path / name)]) == 2
    assert "name HTML pages *.html" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nor_are_captures_statistics_and_manifests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.png"
    for capture in (frame_of().capture, dev.capture):
        with pytest.raises(tg.ValidationError, match=r"\.png is the suffix of pictures; name captures \*\.tgcap"):
            capture(path)
    assert main(["render", "triangle", "-o", str(tmp_path / "y.png"), "--stats", str(path)]) == 2
    assert ".png is the suffix of pictures; name JSON *.json" in capsys.readouterr().err
    with pytest.raises(farm.FarmError, match=r"the manifest .*\.png is the suffix of pictures"):
        farm.render(farm.Job("triangle"), tmp_path / "y.png", executor="threads", manifest=path)
    assert main(["render", "triangle", "-o", str(tmp_path / "y.png"), "--stats", str(tmp_path / "x.txt")]) == 0  # JSON is text
    (tmp_path / "x.txt").unlink(), (tmp_path / "y.png").unlink()
    for name in ("report", "report.xhtml", "report.htm"):  # what says nothing, or that it is one
        frame_of().report(tmp_path / name)
    frame_of().capture(tmp_path / "c")


USERS = {
    "size": ("def draw(size=512): pass", "default of size or samples: .*size is 512; it must be"),
    "samples": ("def draw(size=(4, 4), samples='4'): pass", "default of size or samples: "),
    "zero samples": ("def draw(size=(4, 4), samples=0): pass", "default of size or samples: "),
    "no frame": ("from tilegpu.scene import Scene\nclass A(Scene): pass", r"its class A has no method frame; define frame\(self, size"),
    "empty error": ("def draw(size=(4, 4)): raise KeyError", r"in draw\(\): KeyError\n"),
    "class with a size": ("from tilegpu.scene import Scene\nclass A(Scene):\n    default_size = 512", "A has no method frame"),
}


@pytest.mark.parametrize("case", USERS)
def test_files_of_users(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, said = USERS[case]
    (path := tmp_path / "own.py").write_text(text + "\n")
    with pytest.raises(SceneFileError, match=said):
        SceneRenderer(dev).render(find_scene(str(path)).frame())
    assert main(["render", str(path), "-o", str(tmp_path / "x.png")]) in (1, 2)
    error = capsys.readouterr().err
    assert "an error of tilegpu itself" not in error and not error.rstrip().endswith(":")


def test_scenes_without_a_frame() -> None:
    with pytest.raises(tg.ValidationError, match="its class Scene has no method frame"):
        Scene().frame()


def test_shapes_and_mip_chains() -> None:
    with pytest.raises(tg.ValidationError, match="'position' is there twice"):
        shapes.sphere(attributes=("position", "uv", "position"))
    for wrong in (np.zeros((4, 4, 4)), np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4), np.uint8), [[1]], np.zeros((0, 4, 4), np.uint8)):
        with pytest.raises(tg.ValidationError, match=r"mip_chain: pixels is .*; it must be \(H, W, 4\) uint8"):
            mip_chain(wrong, False)  # type: ignore[arg-type]
    assert [level.shape for level in mip_chain(np.zeros((4, 2, 4), np.uint8), True)] == [(2, 1, 4), (1, 1, 4)]


def test_farms(tmp_path: Path) -> None:
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    job = farm.Job("triangle", size=(16, 16))
    with pytest.raises(farm.FarmError, match=r"the executor ThreadPoolExecutor takes no tasks: .*shutdown; give one that is open"):
        farm.render(job, tmp_path / "x.png", executor=closed)
    with pytest.raises(farm.FarmError, match="takes no tasks"):
        list(farm.pictures(job, executor=closed))
    for call in (
        lambda: farm.render(job, tmp_path / "x.png", progress="bar"),  # type: ignore[arg-type]
        lambda: list(farm.pictures(job, progress="bar")),  # type: ignore[arg-type]
        lambda: farm.verify(tmp_path / "x.json", progress="bar"),  # type: ignore[arg-type]
    ):
        with pytest.raises(farm.FarmError, match="progress is 'bar'; it must be a function"):
            call()
    for size in (512, "16x16"):
        with pytest.raises(farm.FarmError, match=r"Job: size is .*; it must be \(width, height\)"):
            farm.Job("triangle", size=size)  # type: ignore[arg-type]


def test_attributes_of_neighbours_are_named() -> None:
    texture = dev.texture(np.zeros((4, 4, 4), np.uint8))
    view = texture.image.view()
    for name in ("write", "save", "numpy", "mip_levels"):
        with pytest.raises(AttributeError, match=f"Texture: there is no attribute '{name}'; its image has: texture.image.{name}"):
            getattr(texture, name)
    with pytest.raises(AttributeError, match=r"its image has: view\.image\.save"):
        _ = view.save
    for value in (texture, view):
        with pytest.raises(AttributeError, match=r"there is no attribute 'nothing'; there are: |among the"):
            _ = value.nothing
    secondary = dev.secondary(color=["r8g8b8a8_unorm"])
    for name in OF_THE_PASS:
        assert hasattr(tg.RenderPass, name) and not hasattr(secondary, name)
        with pytest.raises(AttributeError, match=f"that is of the pass which executes it: rp.{name}"):
            getattr(secondary, name)
    with pytest.raises(AttributeError, match=r"there is no attribute 'nothing'; there are: |among the"):
        _ = secondary.nothing


@pytest.mark.parametrize("field", ["color_formats", "clear_colors"])
def test_frames_of_texts(field: str) -> None:
    more: dict[str, Any] = {field: "r8g8b8a8_unorm"}
    frame = Frame((4, 4), draws=(Draw(Program(FULL, RED), count=3),), **more)
    with pytest.raises(tg.ValidationError, match=f"frame 'frame': {field} is 'r8g8b8a8_unorm'; it must be a tuple of"):
        SceneRenderer(dev).render(frame)


def test_formats_name_their_field() -> None:
    for call in (lambda: dev.image((4, 4), None), lambda: dev.texture(np.zeros((4, 4, 4), np.uint8), 5), lambda: tg.format_info(None)):
        with pytest.raises(tg.ValidationError, match=r"format is (None|5); a format is a name such as"):
            call()
    with pytest.raises(tg.UnsupportedError, match=r"^image: format 'rgba' is not known"):
        dev.image((4, 4), "rgba")


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".gif", ".bmp", ".tiff"])
def test_a_picture_is_no_scene(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"p{suffix}"
    Pillow.fromarray(np.zeros((4, 4, 3), np.uint8)).save(path)
    assert main(["compare", str(path)]) == 2
    assert f"model '{path}': it is a picture; a model is glTF" in capsys.readouterr().err


def test_values_that_begin_with_a_minus(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "triangle", "--pixel", "-1,4"]) == 2
    assert "'-1,4' is no pixel; write X,Y or X,Y,SAMPLE" in capsys.readouterr().err
    assert main(["render", "triangle", "-o", "x.png", "--time", "-1e3"]) == 2
    assert "'-1e3' is no time" in capsys.readouterr().err


def test_who_writes_captures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--help"]) == 0
    assert "of a Vulkan program TILEGPU_CAPTURE" in " ".join(capsys.readouterr().out.replace("``", "").split())


def test_warnings_of_models_name_the_users_line(tmp_path: Path) -> None:
    (path := tmp_path / "m.obj").write_text("mtllib no.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        find_scene(path)
    [one] = [w for w in caught if "there is no material library 'no.mtl'" in str(w.message)]
    assert one.filename == __file__ and one.category is tg.ModelWarning


def test_what_editors_begin_files_with(tmp_path: Path) -> None:
    """The mark of UTF-8 (U+FEFF), in texts, files and what they include."""
    (tmp_path / "red.glsl").write_text("\ufeffvec4 red() { return vec4(1, 0, 0, 1); }\n", encoding="utf-8")
    text = '\ufeff#version 450\n#include "red.glsl"\nlayout(location = 0) out vec4 o; void main() { o = red(); }\n'
    (path := tmp_path / "red.frag").write_text(text, encoding="utf-8")
    dev.pipeline(f"\ufeff{FULL}", path, color=["r8g8b8a8_unorm"])
    triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    ply = (
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
        "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
    )
    stl = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n"
    for name, content in (("a.obj", triangle), ("a.ply", ply), ("a.stl", stl)):
        pictures = []
        for mark in ("", "\ufeff"):
            (tmp_path / name).write_text(mark + content, encoding="utf-8")
            pictures.append(SceneRenderer(dev).render(find_scene(tmp_path / name).frame((32, 32))).images[0])
        assert np.array_equal(*pictures), name
