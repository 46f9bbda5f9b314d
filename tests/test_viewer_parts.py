"""The viewer without a window: its table of keys, what lies over the picture, files that change, pictures and what goes wrong in them."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.scene import Draw, Frame, FrameScene, FunctionScene, Program, State, find_scene, load_file
from tilegpu.scene.programs import spliced
from tilegpu.viewer import limits, mapping, panels
from tilegpu.viewer.keys import ACTIONS, TABLE, help_text
from tilegpu.viewer.painter import Painter, as_rgba, reread
from tilegpu.viewer.state import MAPS, ViewState
from tilegpu.viewer.watch import Watcher

ROOT = Path(__file__).resolve().parent.parent
VERT = """#version 450
layout(location = 0) in vec3 position;
layout(push_constant) uniform P { mat4 mvp; };
void main() { gl_Position = mvp * vec4(position, 1.0); }"""
FLAT = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
FRAG = """#version 450
layout(location = 0) out vec4 color;
void main() { color = vec4(1, 0, 0, 1); }"""


def state_of(function: Any, **options: Any) -> ViewState:
    scene = FunctionScene("mine", function, Path(__file__), later=True)
    state = ViewState(scene, 1, profiles=("host", "mali-g57", "adreno-a740"), **options)
    state.resize((64, 48), (64, 48))
    return state


def paint(painter: Painter, state: ViewState, *changed: str) -> Any:
    request = state.request()
    assert request is not None
    return painter.paint(request, frozenset(changed))


# --- keys


def test_the_table_of_keys_is_complete() -> None:
    names = [name for key in TABLE for name in key.keys]
    assert len(names) == len(set(names)) == len(ACTIONS)
    for key in TABLE:
        assert not key.action or callable(getattr(ViewState, key.action)), key
        assert bool(key.action) == bool(key.keys)
        for letter in key.keys:
            spelt = letter.removeprefix("shift+").upper() in key.shown.upper()
            assert spelt or letter in ("left", "right", "up", "down", *"1234567")


def test_documents_have_the_same_table() -> None:
    text = (ROOT / "docs" / "viewer.md").read_text(encoding="utf-8")
    table = text.partition("| key | what it does |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([^|]+?) +\| ([^|]+?) +\|$", table.replace("|---|---|", ""), re.MULTILINE)
    assert rows == [(key.shown, key.text) for key in TABLE]


def test_help_names_the_functions_own_keys() -> None:
    lines = help_text({"w": "forward", "x": ""}).splitlines()
    assert len(lines) == len(TABLE) + 2 and lines[-2].split(None, 1) == ["W", "forward"] and lines[-1].endswith("the function's own")


def test_every_key_answers() -> None:
    """What can't be seen in the picture is said."""
    said = {}
    for name in ACTIONS:
        state = ViewState(find_scene("cube"), 1, profiles=("host", "mali-g57"))
        before = (state.help, state.cost, state.quit, state.want_screenshot, state.camera.yaw, state.camera.pitch, state.camera.distance)  # type: ignore[union-attr]
        state.key(name.removeprefix("shift+"), name.startswith("shift+"))
        after = (state.help, state.cost, state.quit, state.want_screenshot, state.camera.yaw, state.camera.pitch, state.camera.distance)  # type: ignore[union-attr]
        assert state.changed and (state.saying or before != after), name
        said[name] = state.saying
    assert said["m"] == "2 samples a pixel" and said["shift+m"] == "16 samples a pixel" and said["p"] == "profile mali-g57"
    assert said["t"] == "heatmap: rasterized" and said["shift+t"] == "heatmap: killed by" and said["3"] == "pre pass on"


def test_techniques_begin_with_the_profiles_own() -> None:
    state = state_of(lambda view: None)
    state.default_hsr = ("visibility_buffer", "hierarchical_z")
    state.key("1")
    assert state.hsr == ("hierarchical_z",)
    state.key("6")
    assert state.hsr == ("hierarchical_z", "lrz")
    state.key("0")
    assert state.hsr is None
    state.key("5")
    state.key("p")
    assert state.hsr is None, "another profile has its own"


def test_keys_of_the_function_are_not_the_windows() -> None:
    state = state_of(lambda view: None, own_keys={"w": "forward"})
    state.hold("w", True)
    state.key("w")
    assert not state.wireframe
    request = state.request()
    assert request is not None and "w" in request.keys and request.keys.pressed == {"w"}
    again = state.request()
    assert again is not None and "w" in again.keys and again.keys.pressed == frozenset(), "a press is told once"
    state.hold("w", False)
    last = state.request()
    assert last is not None and "w" not in last.keys and last.keys.axis("s", "w") == 0


def test_what_can_not_be_done_says_why() -> None:
    state = state_of(lambda t: None, fixed={"next_profile": "a device of its own"})
    state.key("p")
    assert state.profile == "host" and state.saying == "a device of its own"


def test_what_was_asked_of_a_device_that_draws_nothing() -> None:
    asked = "profile, threads"
    state = state_of(lambda t: None, tell_device=asked)
    state.fix(limits.fixed_by(FunctionScene("mine", lambda t: None, Path(__file__)), drawn=True, described=True))
    assert not state.saying, "a frame that it returns is drawn by the window's device"
    state.fix(limits.fixed_by(FunctionScene("mine", lambda t: None, Path(__file__)), drawn=True))
    assert state.saying.startswith("profile, threads: no effect, as the function asks for no device of the window")
    state.say("")
    state.fix(dict(state.fixed))
    assert not state.saying, "it is told once"


def test_escape_closes_the_help_first() -> None:
    state = state_of(lambda view: None)
    state.key("?")
    state.key("escape")
    assert not state.help and not state.quit
    state.key("escape")
    assert state.quit


def test_a_request_stays_as_it_was() -> None:
    state = ViewState(find_scene("cube"), 1)
    state.resize((64, 48), (64, 48))
    request = state.request()
    assert request is not None and request.camera is not None and state.camera is not None
    yaw = request.camera.yaw
    state.camera.rotate(1.0, 0.0)
    assert request.camera.yaw == yaw


@pytest.mark.parametrize("picture", [(64, 48), (128, 96), (30, 60), (200, 10)])
def test_pixels_of_pictures_of_other_sizes(picture: mapping.Size) -> None:
    left, top, width, height = mapping.fitted(picture, (64, 48))
    assert (width == 64 or height == 48) and abs(width / height - picture[0] / picture[1]) < 0.6 * picture[0] / picture[1]
    assert mapping.to_picture((left, top), (64, 48), picture) == (0, 0)
    x, y = mapping.to_picture((left + width - 1, top + height - 1), (64, 48), picture)
    assert picture[0] - 1 - picture[0] // width <= x < picture[0] and picture[1] - 1 - picture[1] // height <= y < picture[1]


# --- what lies over the picture


@pytest.mark.parametrize("size", [(1280, 720), (640, 480), (400, 300), (160, 120), (40, 30), (3, 3)])
def test_help_fits_every_window(size: mapping.Size) -> None:
    rows = tuple((key.shown, key.text) for key in TABLE)
    sheet = panels.draw(panels.Overlay(size, help=rows))
    if size[0] < 16:
        assert sheet is None
        return
    assert sheet is not None and sheet.shape == (size[1], size[0], 4) and sheet[..., 3].max() > 200
    if size[0] >= 640:
        assert not sheet[0, :, 3].any() and not sheet[-1, :, 3].any() and not sheet[:, 0, 3].any() and not sheet[:, -1, 3].any()


def test_nothing_to_say_is_nothing_to_draw() -> None:
    assert panels.draw(panels.Overlay((640, 480))) is None
    marks = {"tile": (64, 364, 128, 428), "pixel": (90, 390)}
    sheet = panels.draw(panels.Overlay((640, 480), error="wrong\n" * 9, message="m", status="s", cost="c\nd", probe="p" * 300, **marks))  # type: ignore[arg-type]
    assert sheet is not None and sheet[400, 64].tolist() == [255, 255, 255, 230] and sheet[12, 20, :3].tolist() == [120, 18, 24]
    full = panels.draw(panels.Overlay((640, 480), error="wrong\n" * 900))
    assert full is not None and not full[479, :, 3].any(), "cut where the window ends"


# --- files


def test_files_that_change(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_text("1")
    watcher = Watcher()
    watcher.add([str(path), str(other)])
    assert watcher.changed(1.0) == []
    path.write_text("22")
    assert watcher.changed(1.1) == [], "not so often"
    assert watcher.changed(1.5) == [str(path)] and watcher.changed(2.0) == []
    path.unlink()
    assert watcher.changed(2.5) == []
    path.write_text("22")
    other.write_text("new")
    os.utime(path, (1, 1))
    assert sorted(watcher.changed(3.0)) == [str(path), str(other)]


def test_texts_of_programs_are_read_again_with_their_defines(tmp_path: Path) -> None:
    draw = next(d for d in find_scene("demo").frame((64, 36)).draws if "#define" in d.program.fragment)
    assert reread(draw.program).fragment == draw.program.fragment and reread(draw.program).vertex == draw.program.vertex


@pytest.mark.parametrize("name", ["forest", "ssao", "terrain"])
def test_texts_of_programs_are_read_again_with_what_they_include(name: str) -> None:
    programs = {draw.program for draw in find_scene(name).frame((64, 36)).all_draws}
    assert any("#line 1 " in program.fragment for program in programs)
    for program in programs:
        assert reread(program).fragment == program.fragment and reread(program).vertex == program.vertex


def described(folder: Path, text: str) -> Any:
    """A scene whose frames have a program of files in a folder."""
    vert, frag = folder / "a.vert", folder / "a.frag"
    vert.write_text(FLAT)
    frag.write_text(text)
    program = Program(FLAT, spliced(frag) if "GL_GOOGLE" not in text else text, "mine", str(vert), str(frag))
    frame = Frame((64, 48), depth_format=None, draws=(Draw(program, count=3, state=State(depth_test=False)),))
    return FrameScene("mine", frame)


@pytest.mark.parametrize("extension", ["", "#extension GL_GOOGLE_include_directive : require\n"], ids=["by text", "by GLSL"])
def test_included_files_of_described_frames_are_watched(tmp_path: Path, extension: str) -> None:
    (tmp_path / "color.glsl").write_text('#include "deep.glsl"\n')
    (tmp_path / "deep.glsl").write_text("#define COLOR vec4(1, 0, 0, 1)\n")
    text = FRAG.replace("450\n", f'450\n{extension}#include "color.glsl"\n').replace("vec4(1, 0, 0, 1)", "COLOR")
    state, painter = ViewState(described(tmp_path, text), 1), Painter({})
    state.resize((64, 48), (64, 48))
    shown = paint(painter, state)
    names = {str(tmp_path / name) for name in ("a.vert", "a.frag", "color.glsl", "deep.glsl")}
    assert shown.error == "" and names <= shown.files and shown.picture[24, 32].tolist() == [255, 0, 0, 255]
    (tmp_path / "deep.glsl").write_text("#define COLOR vec4(0, 1, 0, 1)\n")
    assert paint(painter, state).picture[24, 32].tolist() == [255, 0, 0, 255], "not before it is known that it changed"
    assert paint(painter, state, str(tmp_path / "deep.glsl")).picture[24, 32].tolist() == [0, 255, 0, 255]
    (tmp_path / "color.glsl").write_text('#include "other.glsl"\n')
    shown = paint(painter, state, str(tmp_path / "color.glsl"))
    assert "other.glsl" in shown.error, "which is not there yet"
    (tmp_path / "other.glsl").write_text("#define COLOR vec4(0, 0, 1, 1)\n")
    shown = paint(painter, state, str(tmp_path / "color.glsl"))
    assert shown.error == "" and shown.picture[24, 32].tolist() == [0, 0, 255, 255] and str(tmp_path / "other.glsl") in shown.files
    (tmp_path / "other.glsl").write_text("#define COLOR vec4(1, 1, 1, 1)\n")
    assert paint(painter, state, str(tmp_path / "other.glsl")).picture[24, 32].tolist() == [255] * 4


def test_a_shader_that_includes_itself_is_told(tmp_path: Path) -> None:
    for name, other in (("a.glsl", "b.glsl"), ("b.glsl", "a.glsl")):
        (tmp_path / name).write_text(f'#version 450\n#include "{other}"\n')
    with pytest.raises(tg.ValidationError, match=r"a\.glsl includes itself, by way of a\.glsl, b\.glsl; take an #include out"):
        spliced(tmp_path / "a.glsl")
    (tmp_path / "b.glsl").unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.glsl:2: there is no file 'b\.glsl' beside it"):
        spliced(tmp_path / "a.glsl")


# --- pictures


def test_a_function_is_drawn_and_reloaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A shader's error stays over pictures by the old one until the file is right; nothing raises."""
    vert, frag = tmp_path / "a.vert", tmp_path / "a.frag"
    vert.write_text(VERT)
    frag.write_text(FRAG)
    box = tg.shapes.cube(2, attributes=("position",))

    def draw(view: Any) -> tg.Image:
        out = view.image("r8g8b8a8_unorm")
        pipe = view.pipeline(vert, frag, vertex=box.vertices.dtype, color=[out.format])
        with view.device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
            rp.draw(pipe, box.vertices, indices=box.indices, push={"mvp": view.camera.view_projection(view.aspect)})
        return out

    state, painter = state_of(draw), Painter({})
    shown = paint(painter, state)
    assert shown.error == "" and shown.picture[24, 32].tolist() == [255, 0, 0, 255]
    assert {str(vert), str(frag)} <= shown.files and shown.hsr and not shown.own_device
    assert "1 draw, 12 primitives" in shown.cost and "1+ visibility buffer" in shown.cost
    frag.write_text(FRAG.replace("vec4(1, 0, 0, 1)", "vec4(0, 1, 0, 1)"))
    assert paint(painter, state).picture[24, 32].tolist() == [255, 0, 0, 255]
    assert paint(painter, state, str(frag)).picture[24, 32].tolist() == [0, 255, 0, 255]
    frag.write_text(FRAG.replace("vec4(1", "vec5(1"))
    for _ in range(2):
        shown = paint(painter, state, str(frag))
        assert "vec5" in shown.error and shown.picture[24, 32].tolist() == [0, 255, 0, 255]
    assert "vec5" in paint(painter, state).error
    frag.write_text(FRAG)
    shown = paint(painter, state, str(frag))
    assert shown.error == "" and shown.picture[24, 32].tolist() == [255, 0, 0, 255]
    assert capsys.readouterr().err.count("vec5' :") <= 2, "told once"
    state.profile, state.hsr = "mali-g57", ("pre_pass",)
    shown = paint(painter, state)
    assert shown.picture[24, 32].tolist() == [255, 0, 0, 255] and shown.hsr == ("pre_pass",)


def test_an_exception_is_a_text_with_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    calls = []

    def draw(t: float) -> Any:
        calls.append(t)
        if len(calls) == 2:
            raise KeyError("boom")
        return np.full((6, 8, 3), len(calls), np.uint8)

    state, painter = state_of(draw), Painter({})
    assert paint(painter, state).picture.tolist() == [[[1, 1, 1, 255]] * 8] * 6
    shown = paint(painter, state)
    assert shown.picture is None and re.match(rf"{re.escape(__file__)}:\d+: in draw\(\): KeyError: 'boom'", shown.error)
    assert paint(painter, state).picture is not None
    assert paint(painter, state_of(lambda t: None)).error.endswith("or a Frame")


def test_maps_and_the_pixel_below_the_mouse() -> None:
    state, painter = ViewState(find_scene("cube"), 1), Painter({})
    state.resize((64, 48), (64, 48))
    picture = paint(painter, state).picture
    for kind in MAPS[1:]:
        state.heatmap = kind
        shown = paint(painter, state)
        assert shown.error == "" and shown.look.text == "" and shown.picture.shape == picture.shape, kind
        data, (width, height) = shown.look.strip
        assert len(data) == 3 * width * height
    state.heatmap, state.probing = "", True
    state.point(32, 24, True, (64, 48))
    shown = paint(painter, state)
    assert np.array_equal(shown.picture, picture)
    text = shown.look.text
    assert text.startswith("pass 'cube', pixel (32, 24)") and ": written: (" in text
    assert re.search(r"tile \(0, 0\), 64 x 48 px: fragments [\d,]+ rasterized", text) and "moved: color0 " in text
    assert shown.look.tile == (0, 0, 64, 48)


def test_every_pass_of_a_frame_can_be_asked() -> None:
    """Also those of another size than the picture's: the pixel is the one at the same place."""
    state, painter = ViewState(find_scene("shadow_map"), 1), Painter({})
    state.resize((64, 48), (64, 48))
    state.passes = paint(painter, state).passes
    assert state.passes == 2
    state.probing = True
    state.point(32, 24, True, (64, 48))
    assert paint(painter, state).look.text.startswith("pass 2 of 2: main\npass 'main', pixel (32, 24)")
    state.key("n", True)
    assert state.saying == "pass 1 of 2"
    look = paint(painter, state).look
    size = find_scene("shadow_map").frame().passes[0].depth.target.size  # type: ignore[union-attr]
    assert size is not None and f"pixel ({int(32.5 / 64 * size[0])}, {int(24.5 / 48 * size[1])})" in look.text and look.tile is None
    state.heatmap, state.probing = "rasterized", False
    assert paint(painter, state).picture.shape == (size[1], size[0], 4)
    state.key("n")
    assert state.saying == "pass 2 of 2"
    assert paint(painter, state).picture.shape == (48, 64, 4)


def test_passes_that_load_can_be_asked_too() -> None:
    """Of described frames: they are traced as they are drawn, since nobody can ask them later."""
    state, painter = ViewState(find_scene("mobile_frame"), 1), Painter({})
    state.resize((160, 90), (160, 90))
    state.probing = True
    state.point(80, 45, True, (160, 90))
    count = paint(painter, state).passes
    assert count == 10
    loads = 0
    for back in range(count):
        state.from_last = back
        state.heatmap = ""
        text = paint(painter, state).look.text
        assert text.startswith(f"pass {count - back} of {count}: ") and "can't be asked" not in text and "moved: " in text, text
        loads += " load " in text
        state.heatmap = "rasterized"
        assert "no heatmap" not in paint(painter, state).look.text
    assert loads > 0


def two_passes(view: Any) -> tg.Image:
    """The second pass loads; no pass says anything of trace=, samples or wires."""
    pipe = view.pipeline(FLAT, FRAG, color=["r8g8b8a8_unorm"])
    out: tg.Image = view.image("r8g8b8a8_unorm", "out")
    for attachment in (tg.Attachment(out, clear=(0, 0, 0, 1)), tg.Attachment(out)):
        with view.device.render_pass(color=[attachment], label=attachment.load_op) as rp:
            rp.draw(pipe, count=3)
    return out


def test_passes_of_functions_are_traced_for_the_window() -> None:
    state, painter = state_of(two_passes), Painter({})
    state.probing = True
    state.point(32, 24, True, (64, 48))
    for back, label in ((0, "load"), (1, "clear")):
        state.from_last = back
        text = paint(painter, state).look.text
        assert f"pass '{label}', pixel (32, 24): 1 fragment" in text and "moved: color0 " in text and "can't be asked" not in text
    dev = tg.Device()
    out = dev.image((8, 8), "r8g8b8a8_unorm")
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
        pass
    with pytest.raises(tg.ValidationError, match="trace=True"):
        rp.tiles()  # nobody's window


def test_samples_that_the_picture_has() -> None:
    """Not those that a function was told."""
    state, painter = state_of(two_passes), Painter({})
    state.key("m")
    assert state.saying == "the function is given samples=2" and state.tell_samples
    shown = paint(painter, state)
    assert (shown.asked, shown.samples, shown.drawn, shown.described) == (2, 1, True, False)
    assert limits.samples_told(state.scene, 2, 1) == "the function was given samples=2; its passes have 1 a pixel"
    assert state.title((64, 48), shown.samples, 1.0).split("  |  ")[1] == "64x48 1x"

    def four(view: Any) -> tg.Image:
        many, out = view.image("r8g8b8a8_unorm", "many", samples=view.samples), view.image("r8g8b8a8_unorm", "out")
        with view.device.render_pass(color=[tg.Attachment(many, clear=(0, 0, 0, 1), store_op="dont_care", resolve=out)]):
            pass
        return out

    state = state_of(four)
    state.key("m"), state.key("m")
    shown = paint(Painter({}), state)
    assert (shown.asked, shown.samples) == (4, 4) and not limits.samples_told(state.scene, 4, 4)
    shown = paint(Painter({}), state_of(lambda size, samples: np.zeros((size[1], size[0], 3), np.uint8)))
    assert shown.samples == 0 and "0x" not in state.title((64, 48), 0, 1.0), "nobody knows"


def test_keys_that_can_not_do_anything_to_a_function() -> None:
    def fixed(function: Any, **made: bool) -> set[str]:
        return set(limits.fixed_by(FunctionScene("mine", function, Path(__file__)), **made))

    device_keys = {"next_profile", "switch_technique", "own_techniques"}
    assert fixed(lambda view: None, drawn=True) == {"toggle_wireframe"}
    assert fixed(lambda device, size: None, drawn=True) == {"toggle_wireframe", "more_samples"}
    assert fixed(lambda size: None, drawn=True) == {"toggle_wireframe", "more_samples"} | device_keys
    assert fixed(lambda size, samples: None, drawn=False) == set(), "a described frame has wires and samples"
    assert fixed(lambda view: None, drawn=True, own_device=True) == {"toggle_wireframe"} | device_keys
    assert not limits.fixed_by(find_scene("cube"), drawn=False)


def test_a_device_of_the_functions_own_is_found() -> None:
    dev = tg.Device(profile="mali-g57")

    def draw(t: float) -> tg.Image:
        out = dev.image((64, 48), "r8g8b8a8_unorm")
        with dev.frame("its own too"), dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 1, 1))], label="mine"):
            pass
        return out

    state, painter = state_of(draw), Painter({})
    state.cost = True
    assert "no render pass of this device" in paint(painter, state).cost
    state.heatmap = "shaded"
    shown = paint(painter, state)
    assert shown.own_device and shown.cost.startswith("0 draws") and shown.look.strip is not None


def test_a_users_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    text = """
        import numpy as np
        def draw(t, size):
            return np.full((size[1], size[0], 1), 7, np.uint8)
    """
    path.write_text(textwrap.dedent(text))
    scene = load_file(path)
    state = ViewState(scene, 1)
    state.resize((8, 6), (8, 6))
    painter = Painter({}, lambda: load_file(path), [str(path)])
    assert paint(painter, state).picture[0, 0].tolist() == [7, 7, 7, 255]
    path.write_text(textwrap.dedent(text).replace("7,", "9,"))
    shown = paint(painter, state, str(path))
    assert shown.picture[0, 0].tolist() == [9, 9, 9, 255] and shown.scene is not None
    state.scene = shown.scene
    path.write_text("def draw(:\n")
    shown = paint(painter, state, str(path))
    assert f"{path}:1: SyntaxError" in shown.error and shown.picture[0, 0].tolist() == [9, 9, 9, 255]


def test_pictures_of_any_kind() -> None:
    assert as_rgba(np.full((1, 1, 1), 0.5, np.float32)).tolist() == [[[128, 128, 128, 255]]]
    assert as_rgba(np.full((1, 1, 2), 65535, np.uint16)).tolist() == [[[255, 255, 0, 255]]]
    assert as_rgba(np.full((1, 1, 3), 999, np.int32)).tolist() == [[[255, 255, 255, 255]]]
    assert as_rgba(np.full((1, 1, 4), np.nan, np.float32)).tolist() == [[[0, 0, 0, 0]]]


# --- tilegpu.show


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((7,), "function is int; it must be a function that draws"),
        ((lambda t: None, {"samples": 3}), "samples is 3"),
        ((lambda t: None, {"samples": 4}), "samples is 4, but the function asks for none"),
        ((lambda t: None, {"own_keys": "W"}), "own_keys has 'W'"),
        ((lambda t: None, {"own_keys": "h"}), "h, ? and escape are the window's"),
        ((lambda t: None, {"own_keys": "q"}), "ends the window"),
        ((lambda t: None, {"size": (0, 4)}), "size is (0, 4); it must be (width, height)"),
        ((lambda t: None, {"size": 640}), "size is 640; it must be (width, height)"),
        ((lambda t: None, {"profile": "mali"}), "profile is 'mali'; there are host, "),
        ((lambda t: None, {"threads": 0}), "threads is 0; it must be a whole number of at least 1"),
        ((lambda t: None, {"lanes": 5}), "lanes is 5; it must be 4, 8 or 16"),
        ((lambda t: None, {"max_frames": -1}), "max_frames is -1"),
        ((lambda t: None, {"screenshot": "/nodir/a.png"}), "screenshot: there is no folder /nodir"),
        ((lambda t: None, {"screenshot": "a.txt"}), "the suffix is '.txt'"),
    ],
)
def test_wrong_arguments_of_show(arguments: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)  # they are named before a window is looked for
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(tg.ValidationError) as error:
        tg.show(arguments[0], **(arguments[1] if len(arguments) > 1 else {}))
    assert said in str(error.value)


def test_show_names_what_a_function_may_ask_for() -> None:
    from tilegpu.scene import SceneFileError

    with pytest.raises(SceneFileError, match=r"parameter 'ctx'; what a function may ask for is device, size, .*view"):
        tg.show(lambda ctx: None)


@pytest.mark.parametrize(("value", "byte"), [(np.uint16(0x4000), 64), (np.int32(100), 100), (np.float32(0.5), 128), (np.uint8(7), 7)])
def test_the_window_and_the_file_show_the_same(value: Any, byte: int) -> None:
    """Integers were white in files."""
    from tilegpu.farm import as_picture

    image = np.full((1, 1, 3), value)
    assert as_rgba(image)[0, 0, :3].tolist() == [byte] * 3 == np.asarray(as_picture(image))[0, 0].tolist()


def test_figures_are_of_a_picture_behind_another_of_its_kind() -> None:
    """The first picture of a device has nothing to be eliminated against: it is drawn once more, so that what keys switch compares."""
    text = FRAG.replace("vec4(1, 0, 0, 1)", "vec4(gl_FragCoord.xy / 64, 0, 1)")
    vert = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0.5, 1.0); }"

    def draw(device: tg.Device, size: tuple[int, int]) -> tg.Image:
        images = kept.setdefault(id(device), {})
        image = images.setdefault(size, device.image(size, "r8g8b8a8_unorm"))
        with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1))]) as rp:
            rp.draw(device.pipeline(vert, text, color=[image.format]), count=3)
        return image

    kept: dict[int, dict[tuple[int, int], tg.Image]] = {}
    state, painter = state_of(draw), Painter({})
    state.profile = "mali-g57"
    firsts = [paint(painter, state).first, paint(painter, state).first]
    state.hsr = ()
    firsts += [paint(painter, state).first, paint(painter, state).first]
    state.profile = "adreno-a740"
    firsts += [paint(painter, state).first, paint(painter, state).first]
    state.resize((32, 24), (32, 24))
    firsts += [paint(painter, state).first, paint(painter, state).first]
    assert firsts == [True, False] * 4
