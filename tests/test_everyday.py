"""The everyday scenes: their list, what they added to the description (scissors, sizes of points), text without a font, their benchmark."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.bench.frame_file import write
from tilegpu.bench.peers import EVERYDAY, SETS
from tilegpu.cli import main
from tilegpu.reference import PreparedFrame, ReferenceError, compare_frame, unavailable
from tilegpu.reference import Renderer as GlRenderer
from tilegpu.scene import Frame, Page, SceneRenderer, glyphs, scenes

needs_reference = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
WHITE = (255, 255, 255, 255)
DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture(scope="module")
def renderer() -> SceneRenderer:
    return SceneRenderer(tg.Device())


def test_each_is_a_scene_that_the_documents_name() -> None:
    table, said = scenes(), (DOCS / "scenes.md").read_text()
    made = [scene for scene in table.values() if type(scene).__module__.startswith("tilegpu._samples.everyday")]
    assert {scene.name for scene in made} == set(EVERYDAY) and len(EVERYDAY) >= 20
    for scene in made:
        assert f"`{scene.name}`" in said, f"docs/scenes.md does not name {scene.name}"
        assert len(scene.description) > 20
    assert not set(SETS["reference"]) & set(EVERYDAY)


def clipped_page() -> Frame:
    page = Page((64, 48), (128, 96))
    page.panel((0, 0, 128, 96), (1, 0, 0, 1), clip=(20, 10, 61, 40))
    page.panel((0, 0, 128, 96), (0, 0, 1, 1), clip=(0, 60, 500, 500))
    page.panel((60, 0, 8, 96), (0, 1, 0, 1))
    return Frame((64, 48), clear_colors=((0, 0, 0, 1),), depth_format=None, draws=tuple(page.draws), label="clipped")


def test_a_scissor_keeps_what_is_outside(renderer: SceneRenderer) -> None:
    frame = clipped_page()
    assert [draw.scissor for draw in frame.draws] == [(10, 5, 31, 20), (0, 30, 64, 18), None]
    want = np.zeros((48, 64, 4), np.uint8)
    want[..., 3] = 255
    want[5:25, 10:41, 0] = 255
    want[30:, :, 2] = 255
    want[:, 30:34] = (0, 255, 0, 255)
    pictures = [renderer.render(frame).images[0], SceneRenderer(renderer.device, dynamic=True).render(frame).images[0]]
    assert all(np.array_equal(picture, want) for picture in pictures)
    wide = dataclasses.replace(scenes()["interface"].frame((192, 108)))
    whole = renderer.render(wide).images[0]
    part = SceneRenderer(renderer.device).render(wide, window=(64, 64, 100, 40)).images[0]
    assert np.array_equal(part, whole[64:104, 64:164]), "a window of the picture, which scissors cross"


@needs_reference
def test_opengl_has_scissors_too(renderer: SceneRenderer) -> None:
    frame = clipped_page()
    with GlRenderer.shared() as reference:
        first, second = (reference.render(frame).images[0] for _ in range(2))
    assert np.array_equal(first, renderer.render(frame).images[0])
    assert np.array_equal(first, second), "clears are not clipped by the last draw"
    prepared = PreparedFrame(frame)
    for _ in range(2):
        prepared.run()
    with prepared.renderer.ctx:
        data = prepared.target.read(components=4, alignment=1)
    assert np.array_equal(np.frombuffer(data, np.uint8).reshape(48, 64, 4), first)


@needs_reference
@pytest.mark.parametrize("name", ["point_cloud", "interface", "line_chart", "lights_200", "taa"])
def test_opengl_draws_the_same(renderer: SceneRenderer, name: str) -> None:
    frame = scenes()[name].frame((240, 135))
    (found,) = compare_frame(frame, renderer.render(frame).images)
    assert found.difference.share_over_2_inside < 0.01 and found.difference.share_over_2_edges < 0.02
    assert np.asarray(found.ours)[..., :3].std() > 15, "there is something to see"


def test_letters_lie_where_they_should(renderer: SceneRenderer) -> None:
    place, cell = glyphs.quads("Il", 10, 20, 12)
    assert len(place) == 2 and place[1, 0] - place[0, 0] == glyphs.advances()["I"] * 12 / glyphs.CAPITAL
    assert (cell >= 0).all() and (cell <= 1).all() and not np.array_equal(cell[0], cell[1])
    assert len(glyphs.quads("a b\u2603c", 0, 0, 10)[0]) == 3, "a space and an unknown letter are gaps"
    above, below = glyphs.quads("a\na", 0, 0, 6)[0]
    assert below[1] - above[1] == glyphs.LINE and below[0] == above[0]
    page = Page((64, 32), (64, 32))
    page.text([("I", 20, 8, 14, WHITE)], "one letter")
    frame = Frame((64, 32), clear_colors=((0, 0, 0, 1),), depth_format=None, draws=tuple(page.draws))
    ink = renderer.render(frame).images[0][..., 0]
    rows, columns = np.nonzero(ink > 128)
    assert 7 <= rows.min() <= 9 and 21 <= rows.max() <= 23 and 21 <= columns.min() <= columns.max() <= 24
    with pytest.raises(ValueError, match="draw 'nothing': its texts have no letter"):
        page.text([(" ", 0, 0, 10, WHITE)], "nothing")


def test_a_frame_as_a_file(renderer: SceneRenderer, tmp_path: Path) -> None:
    frame = scenes()["shadow_cascades"].frame((96, 54))
    renderer.render(frame)
    write(frame, renderer, tmp_path / "frame")
    lines = (tmp_path / "frame").read_text().splitlines()
    kinds = [line.split()[0] for line in lines]
    assert kinds[0] == "frame" and kinds[-2:] == ["picture", "end"] and kinds.count("pass") == 5
    assert kinds.count("draw") == len(frame.all_draws)
    assert kinds.count("buffer") == 2 + 1 + 5 + 1, "mesh, blocks, views, cascades: each once"
    size = (tmp_path / "frame.bin").stat().st_size
    places = [tuple(map(int, word.split(":"))) for line in lines for word in line.split() if ":" in word]
    assert places and all(begin >= 0 and begin + count <= size for begin, count in places)
    with pytest.raises(ValueError, match="has no constants and no input attachments"):
        deferred = scenes()["deferred"].frame((96, 54))
        renderer.render(deferred)
        write(deferred, renderer, tmp_path / "other")


def test_a_vulkan_driver_draws_it_from_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A program that does what vkframe does: it answers with the time that it is asked for, and a picture of the right size.
    program = tmp_path / "vkframe"
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "o = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
        "assert open(o['--frame']).read().startswith('frame 64 64')\n"
        "open(o['--json'], 'w').write('{\"median_ms\": 2.5}')\n"
        "open(o['--out'], 'wb').write(b'P6\\n64 64\\n255\\n' + bytes(64 * 64 * 3))\n"
    )
    program.chmod(0o755)
    icd = tmp_path / "icd.json"
    icd.write_text("{}")
    monkeypatch.setattr("tilegpu.bench.peers.SETS", {"reference": (), "everyday": ("tiny_64",)})
    arguments = ["bench", "peers", "--set", "everyday", "--no-gl", "--rounds", "1", "--time", "0.01", "--json", "--vulkan", f"x={icd}"]
    assert main([*arguments, "--vkframe", str(program)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["peer"] == "x" and row["peer_ms"] == 2.5 and row["differ"] > 0.5
    assert main(arguments) == 2
    assert "needs --vkframe PATH" in capsys.readouterr().err


def test_what_a_peer_cannot_draw_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(self: Any, frame: Frame) -> None:
        raise ReferenceError("no such format")

    monkeypatch.setattr(PreparedFrame, "__init__", refuse)
    monkeypatch.setattr("tilegpu.bench.peers.SETS", {"everyday": ("tiny_64",)})
    arguments = ["bench", "peers", "--set", "everyday", "--rounds", "1", "--time", "0.01"]
    assert main(arguments) == 0
    assert "OpenGL does not draw it: no such format" in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (
        row["scene"] == "tiny_64"
        and row["peer_ms"] is None
        and row["tilegpu_ms"] > 0
        and "no such format" in row["note"]
    )
