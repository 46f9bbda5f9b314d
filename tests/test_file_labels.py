"""Pipelines from files are called by the files' names, with as many folders as tell them apart."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tilegpu as tg
from tilegpu.shader import label_of

VERT = "#version 450\nvoid main() { gl_Position = vec4(0); }"
FRAG = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"
COMP = "#version 450\nvoid main() {}"


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    for name, text in (("a.vert", VERT), ("a.frag", FRAG), ("k.comp", COMP)):
        (path / name).write_text(text)
    return path


def test_labels_are_short_and_unique(tmp_path: Path) -> None:
    one, two = _folder(tmp_path / "x" / "one"), _folder(tmp_path / "x" / "two")
    dev = tg.Device()

    def label(folder: Path, **more: str) -> str:
        return dev.pipeline(folder / "a.vert", folder / "a.frag", color=["r8_unorm"], **more).label

    assert label(one) == label(one) == "a.vert+a.frag"
    assert label(two) == label(two) == "two/a.vert+two/a.frag"
    assert label(one) == "a.vert+a.frag" and label(two, label="mine") == "mine"
    assert dev.compute_pipeline(one / "k.comp").label == "k.comp"
    assert dev.compute_pipeline(two / "k.comp").label == "two/k.comp"
    assert dev.pipeline(one / "a.vert", FRAG, color=["r8_unorm"]).label == "a.vert"
    assert dev.pipeline(VERT, FRAG, color=["r8_unorm"]).label == "pipeline"
    assert tg.Device().pipeline(two / "a.vert", two / "a.frag", color=["r8_unorm"]).label == "a.vert+a.frag"  # of each device
    relative = dev.pipeline(VERT, FRAG, color=["r8_unorm"], vert_file="q.vert", frag_file="q.frag")
    assert relative.label == "q.vert+q.frag"


def test_pipelines_that_share_a_file_have_labels_of_their_own(tmp_path: Path) -> None:
    one, dev = _folder(tmp_path / "one"), tg.Device()

    def label(fragment: object) -> str:
        return dev.pipeline(one / "a.vert", fragment, color=["r8_unorm"]).label

    other = FRAG.replace("vec4(1)", "vec4(0)")
    assert [label(f) for f in (FRAG, other, FRAG, other, tg.compile_glsl(FRAG, "fragment"))][:4] == ["a.vert", "a.vert (2)"] * 2
    assert label(one / "a.frag") == "a.vert+a.frag"


def test_the_same_relative_path_may_be_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _folder(tmp_path / "one"), _folder(tmp_path / "two")
    dev, labels = tg.Device(), []
    for folder in ("one", "two", "one"):
        monkeypatch.chdir(tmp_path / folder)
        labels.append(dev.pipeline("a.vert", "a.frag", color=["r8_unorm"]).label)
    assert labels == ["a.vert+a.frag", "two/a.vert+two/a.frag", "a.vert+a.frag"]


def test_a_folder_may_have_brackets(tmp_path: Path) -> None:
    assert tg.Device().compute_pipeline(_folder(tmp_path / "<x>") / "k.comp").label == "k.comp"


def test_tables_of_passes_have_them(tmp_path: Path) -> None:
    folder = _folder(tmp_path / ("long" * 20))
    dev = tg.Device()
    image = dev.image((4, 4), "r8_unorm")
    pipe = dev.pipeline(folder / "a.vert", folder / "a.frag", color=[image.format])
    with dev.render_pass(color=[tg.Attachment(image, clear=(0,))]) as rp:
        rp.draw(pipe, count=3)
    assert "a.vert+a.frag" in str(rp.explain()) and "longlong" not in str(rp.explain())
    assert set(pipe.files) == {str(folder / "a.vert"), str(folder / "a.frag")}


def test_many_texts_beside_one_file_are_numbered_at_once() -> None:
    """Programs make thousands of shaders beside one vertex file: each is looked up once, not behind all that came before it."""
    device: Any = SimpleNamespace(_file_labels={})

    def label(text: int) -> str:
        made: Any = [SimpleNamespace(label="/x/a.vert", spirv=b""), SimpleNamespace(label="p <fragment shader>", spirv=b"%d" % text)]
        return label_of(device, made)

    assert [label(k) for k in range(300)] == ["a.vert", *(f"a.vert ({k})" for k in range(2, 301))]
    assert label(0) == "a.vert" and label(299) == "a.vert (300)" and len(device._file_labels) == 1
