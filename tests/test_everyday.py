"""The everyday scenes: their list, what they added to the description (scissors, sizes of points), text without a font, their benchmark."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.bench.frame_file import write
from tilegpu.bench.peers import EVERYDAY, SETS
from tilegpu.cli import main
from tilegpu.farm import frame_hash
from tilegpu.reference import PreparedFrame, ReferenceError, compare_frame, unavailable
from tilegpu.reference import Renderer as GlRenderer
from tilegpu.scene import Frame, Page, SceneRenderer, camera, glyphs, scenes, shader_text

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
    assert all(begin % 16 == 0 for begin, _ in places)
    assert places and all(begin >= 0 and begin + count <= size for begin, count in places)
    with pytest.raises(ValueError, match="has no constants and no input attachments"):
        deferred = scenes()["deferred"].frame((96, 54))
        renderer.render(deferred)
        write(deferred, renderer, tmp_path / "other")


def test_what_is_pushed_is_as_long_as_the_block(renderer: SceneRenderer, tmp_path: Path) -> None:
    """vkCmdPushConstants beyond the range of the layout is an error; only the place of the next bytes is rounded up."""
    frame = scenes()["tiny_64"].frame()
    renderer.render(frame)
    write(frame, renderer, tmp_path / "frame")
    lines = [line.split() for line in (tmp_path / "frame").read_text().splitlines()]
    pushed = {int(words[8].split(":")[1]) for words in lines if words[0] == "draw"}
    assert pushed == {5 * 16 + 8}, "of panel.vert: five vec4 and a vec2"
    assert (tmp_path / "frame.bin").stat().st_size % 16 == 0


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
    for words, said in (
        (arguments, "needs --vkframe PATH"),
        ([*arguments, "--vkpeer", str(program)], "--vkpeer has no effect: it draws the reference scenes alone"),
        ([*arguments[:-2], "--vkframe", str(program)], "--vkframe has no effect: it draws on drivers; give --vulkan NAME=ICD"),
        ([*arguments, "--vkframe", str(tmp_path / "none")], "--vkframe: "),
        ([*arguments, "--scene", "tiny_64", "--scene", "clear", "--vkpeer", str(program)], "scene tiny_64 needs --vkframe PATH"),
    ):
        assert main(words) == 2
        assert said in capsys.readouterr().err


def test_reference_scenes_have_a_row_of_each_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    icd, programs = tmp_path / "icd.json", {}
    icd.write_text("{}")
    for name, word, ms in (("vkpeer", "--scene", 3.0), ("vkframe", "--frame", 2.0)):
        programs[name] = tmp_path / name
        programs[name].write_text(
            f"#!{sys.executable}\nimport json, sys\n"
            "o = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
            f"open(o['--json'], 'w').write(json.dumps({{'scene': o[{word!r}], 'median_ms': {ms}}}))\n"
        )
        programs[name].chmod(0o755)
    both = ["--vkpeer", str(programs["vkpeer"]), "--vkframe", str(programs["vkframe"])]
    arguments = ["bench", "peers", "--no-gl", "--rounds", "1", "--time", "0.01", "--json", "--scene", "clear", "--scene", "tiny_64"]
    assert main([*arguments, *both, "--vulkan", f"x={icd}"]) == 0
    rows = json.loads(capsys.readouterr().out)
    found = [(row["scene"], row["peer"], row["peer_ms"]) for row in rows]
    assert found == [("clear", "x", 3.0), ("clear", "x.file", 2.0), ("tiny_64", "x.file", 2.0)]
    assert main([*arguments, *both, "--vulkan", f"x={icd},{programs['vkframe']}"]) == 2
    assert "which of --vkpeer and --vkframe is" in capsys.readouterr().err


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


# ------------------------------------------------------------------------------------------------------------ what scenes say


def test_scenes_say_whether_they_move() -> None:
    """``moves``: whether any moment looks different; ``tiny_64`` blinks once in four seconds."""
    table = scenes()
    said = {name: table[name].moves for name in [*EVERYDAY, "triangle", "cube", "demo", "deferred", "msaa1"]}
    found = {}
    for name in said:
        hashes = {frame_hash(table[name].frame((64, 36), time=time_s)) for time_s in (0.0, 1.3, 3.9)}
        found[name] = len(hashes) > 1
    assert found == said
    assert sum(not said[name] for name in EVERYDAY) == 16


@pytest.mark.parametrize("name", sorted(scenes()))
def test_arguments_of_every_scene(name: str) -> None:
    for arguments, said in (({"time": float("nan")}, "time is nan"), ({"camera": np.eye(4)}, "camera is array")):
        with pytest.raises(tg.ValidationError, match=f"scene '{name}': {said}"):
            scenes()[name].frame((64, 36), **arguments)  # type: ignore[arg-type]


def largest(frame: Frame) -> int:
    """Letters of the draw that has most of them."""
    return max(draw.element_count // 6 for draw in frame.draws if draw.program.vertex_file.endswith("text.vert"))


#: What descriptions and documents say in figures, of each scene as it is specified.
FIGURES = {
    "foliage": lambda frame: (f"{sum(d.triangle_count for d in frame.draws if d.label in ('leaves', 'grass')) // 2:,} cards",),
    "forest": lambda frame: (
        f"{frame.draws[2].instances:,} conifers of {frame.draws[2].triangle_count} triangles",
        f"{sum(d.triangle_count * d.instances for d in frame.draws[1:]):,} triangles",
    ),
    "terrain": lambda frame: (f"{frame.draws[1].triangle_count:,} triangles",),
    "crowd": lambda frame: (
        f"{frame.draws[2].instances} people",
        f"{frame.draws[2].triangle_count * frame.draws[2].instances:,} triangles",
    ),
    "particles": lambda frame: (f"{frame.draws[2].instances:,} blended",),
    "particles_additive": lambda frame: (f"{frame.all_draws[0].instances:,} particles",),
    "particles_soft": lambda frame: (f"{frame.draws[1].instances:,} large",),
    "decals": lambda frame: (f"{frame.all_draws[1].instances} decals",),
    "lights_200": lambda frame: (f"{frame.all_draws[2].instances} lights",),
    "sky_ibl": lambda frame: (f"{frame.draws[2].instances} balls",),
    "materials": lambda frame: (
        f"{len(frame.draws)} draws, {len({d.program.fragment for d in frame.draws})} programs, "
        f"{len({id(d.bind['surface']) for d in frame.draws})} textures",
    ),
    "interface": lambda frame: (f"{len(frame.draws)} draws", f"{largest(frame):,} letters"),
    "text_4k": lambda frame: (f"{largest(frame):,} letters",),
    "line_chart": lambda frame: (
        f"{sum(d.element_count // 2 + 1 for d in frame.draws if d.label == 'signal'):,} points",
        f"{sum(d.triangle_count // 2 for d in frame.draws if d.label == 'marks'):,} translucent marks",
    ),
    "point_cloud": lambda frame: (f"{frame.draws[0].element_count:,} round points",),
    "sprites": lambda frame: (f"{frame.draws[1].instances:,} blended sprites",),
    "poster_8k": lambda frame: (f"{sum(d.label == 'disc' for d in frame.draws)} translucent discs",),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_descriptions_are_true(name: str) -> None:
    scene = scenes()[name]
    for figure in FIGURES[name](scene.frame()):
        assert figure in scene.description, name


# ---------------------------------------------------------------------------------------------------------- shared shaders

SHADERS = Path(__file__).resolve().parent.parent / "shaders"
FUNCTION = re.compile(r"^\w+ (\w+)\([^)]*\) \{(?:[^\n]*\}(?: *//[^\n]*)?|.*?^\})$", re.MULTILINE | re.DOTALL)


def test_functions_of_shaders_stand_in_one_place() -> None:
    """What several shaders need is a file that they include; every such file has several users."""
    where: dict[str, list[str]] = {}
    files = sorted(SHADERS.iterdir())
    for path in files:
        for found in FUNCTION.finditer(path.read_text()):
            if found[1] != "main":
                where.setdefault(" ".join(found[0].split()), []).append(path.name)
    assert len(where) > 20 and any("painted.glsl" in names for names in where.values())
    assert {text: names for text, names in where.items() if len(names) > 1} == {}
    texts = {path.name: path.read_text() for path in files}
    included = {name: [n for n, text in texts.items() if f'#include "{name}"' in text] for name in texts if name.endswith(".glsl")}
    assert {name: users for name, users in included.items() if len(users) < 2} == {}


def test_includes_are_part_of_the_text_and_errors_name_them() -> None:
    text = shader_text("ssao.frag", {"X": 1})
    assert "#include" not in text and "vec3 place_at(vec2 uv, float z)" in text
    lines = (SHADERS / "place_at.glsl").read_text().splitlines()
    with pytest.raises(tg.ShaderError) as caught:
        tg.compile_glsl(text.replace("h.w;", "h_w;").replace("float stored =", "float stored = nothing +"), "fragment", file="ssao.frag")
    (first, second) = caught.value.messages[0], caught.value.messages[-1]
    assert first.file == "place_at.glsl" and lines[first.line - 1].strip().startswith("return h.xyz")
    assert second.file == "ssao.frag" and "float stored" in (SHADERS / "ssao.frag").read_text().splitlines()[second.line - 1]


def test_a_replay_looks_at_no_draw(renderer: SceneRenderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fields of draws and passes can't change (their classes are frozen), so they are checked when a frame is recorded. What a replay
    looks at is whether arrays, mappings and lists hold what they held (tests/test_scene_kept.py)."""
    frame = clipped_page()
    checked, used = [], []
    monkeypatch.setattr("tilegpu.scene.render.check_frame", lambda frame, who: checked.append(frame))
    first = renderer.render(frame).images[0]
    monkeypatch.setattr(tg.RenderPass, "uses", property(lambda self: used.append(self) or []))
    assert np.array_equal(renderer.render(frame).images[0], first) and checked == [frame] and used == []
    renderer.render(dataclasses.replace(frame))
    assert len(checked) == 2
    with pytest.raises(tg.ValidationError, match="frame is None"):
        renderer.render(None)  # type: ignore[arg-type]


def test_axes_of_a_parallel_light() -> None:
    right, up, back = camera.axes_against((3, 4, -12))
    assert np.allclose(back * 13, (3, 4, -12)) and abs(right @ up) < 1e-15 and right[1] == 0 and up[1] > 0
    orbit = camera.OrbitCamera(yaw=math.atan2(3, -12), pitch=math.asin(4 / 13))
    assert np.allclose(orbit.view()[:3, :3], (right, up, back), atol=1e-6)
    for wrong in ((0, 1, 0), (0, 0, 0), (float("nan"), 0, 1)):
        with pytest.raises(tg.ValidationError, match="axes_against: direction is"):
            camera.axes_against(wrong)
