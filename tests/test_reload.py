"""Pipelines whose shaders are files become what the files say now."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.program import made_of_files

VERT = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
FRAG = """#version 450
#extension GL_GOOGLE_include_directive : require
#include "color.glsl"
layout(location = 0) out vec4 o;
void main() { o = COLOR; }"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.vert").write_text(VERT)
    (tmp_path / "a.frag").write_text(FRAG)
    (tmp_path / "color.glsl").write_text("#define COLOR vec4(1, 0, 0, 1)\n")
    return tmp_path


def test_a_pipeline_follows_its_files(files: Path) -> None:
    dev = tg.Device()
    out = dev.image((8, 8), "r8g8b8a8_unorm")
    pipe = dev.pipeline(files / "a.vert", str(files / "a.frag"), color=[out.format], label="mine")
    assert pipe.files == tuple(str(files / n) for n in ("a.frag", "color.glsl", "a.vert")) and pipe in made_of_files()

    def drawn() -> list[int]:
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3)
        return out.numpy()[3, 3].tolist()

    assert drawn() == [255, 0, 0, 255]
    (files / "color.glsl").write_text("#define COLOR vec4(0, 1, 0, 1)\n")
    assert drawn() == [255, 0, 0, 255], "not before somebody asks"
    pipe.reload()
    assert drawn() == [0, 255, 0, 255] and pipe.label == "mine"
    (files / "color.glsl").write_text("#define COLOR vec4(0, 1\n")
    with pytest.raises(tg.ShaderError):
        pipe.reload()
    assert drawn() == [0, 255, 0, 255], "it stays as it was"
    (files / "color.glsl").write_text("layout(push_constant) uniform P { vec4 tint; };\n#define COLOR tint\n")
    pipe.reload()
    assert [m.name for m in pipe.interface.push_constants] == ["tint"]
    with pytest.raises(tg.ValidationError, match="tint"):
        drawn()
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, push={"tint": (0, 0, 1, 1)})
    assert out.numpy()[3, 3].tolist() == [0, 0, 255, 255]


def test_compute_too(tmp_path: Path) -> None:
    text = """#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer B { uint v[]; };
void main() { v[gl_GlobalInvocationID.x] = NUMBER; }"""
    path = tmp_path / "a.comp"
    path.write_text(text.replace("NUMBER", "7"))
    dev = tg.Device()
    pipe, data = dev.compute_pipeline(path), dev.buffer(np.zeros(4, np.uint32), usage="storage")
    path.write_text(text.replace("NUMBER", "9"))
    pipe.reload()
    dev.dispatch(pipe, 1, bind={"B": data})
    assert data.numpy(np.uint32).tolist() == [9, 9, 9, 9]


def test_texts_have_no_files(files: Path) -> None:
    dev = tg.Device()
    pipe = dev.pipeline(VERT, color=(), rasterizer_discard=True)
    assert pipe.files == () and pipe not in made_of_files()
    with pytest.raises(tg.ValidationError, match=r"reload\(\) is for shaders given as paths"):
        pipe.reload()


def test_nobody_keeps_a_pipeline_alive(files: Path) -> None:
    dev = tg.Device()
    gc.collect()
    pipe = dev.pipeline(files / "a.vert", files / "a.frag", color=["r8g8b8a8_unorm"])
    count = len(made_of_files())
    assert pipe in made_of_files()
    del pipe
    gc.collect()
    assert len(made_of_files()) == count - 1
