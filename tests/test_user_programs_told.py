"""Users' scenes, models, jobs and golden pictures that went wrong without a word, or with a word that helped nobody.

Source: tilegpu's rule that nothing is silent (CONTRIBUTING.md): each case names the object, the field, the value and the fix.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytest_tilegpu
import tilegpu as tg
from gltf_documents import Builder
from tilegpu import cli, farm, files
from tilegpu.farm.job import frame_of
from tilegpu.math import OrbitCamera
from tilegpu.scene import (
    Draw,
    Frame,
    Output,
    Pass,
    Program,
    Sampled,
    SceneFileError,
    SceneRenderer,
    State,
    Target,
    Texture,
    find_scene,
    program,
)
from tilegpu.scene.gltf_names import misspelt, near
from tilegpu.testing import GoldenError, assert_image_equal


def written(folder: Path, text: str, name: str = "own.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


# ------------------------------------------------------------------------------------------------------- the command line


@pytest.mark.parametrize("words", [["render", "-o", "out.png"], ["explain"], ["what-if"]])
def test_sys_exit_in_a_function_that_draws_is_an_error(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, "import sys\n\ndef draw(size=(8, 8)):\n    sys.exit(0)\n")
    assert cli.main([words[0], str(path), *words[1:]]) == 1
    said = capsys.readouterr().err
    assert f"{path}:4: in draw(): SystemExit: 0" in said and "returns its picture" in said
    assert not (tmp_path / "out.png").exists()


def test_sys_exit_in_a_scene_class_and_in_an_executor_of_ones_own_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import sys\nfrom tilegpu.scene import Scene\nclass A(Scene):\n    name = 'a'\n"
    text += "    def frame(self, size=None, samples=None, camera=None, time=0.0):\n        sys.exit()\nSCENES = [A()]\n"
    path = written(tmp_path, text)
    with pytest.raises(SceneFileError, match=r"own\.py:6: a: frame\(\): SystemExit"):
        find_scene(path).frame()
    written(tmp_path, "import sys\ndef make():\n    sys.exit(0)\n", "executor_that_ends.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["render", "triangle", "--size", "16x16", "-o", str(tmp_path / "a.png"), "--frames", "2"]
    words += ["--executor", "executor_that_ends:make"]
    assert cli.main(words) == 1
    said = capsys.readouterr().err
    assert "executor_that_ends.py:3: sys.exit(0) ended the command before it was done" in said


@pytest.mark.parametrize(("channels", "count"), [((), 4), ((3,), 4), ((4,), 4)])
def test_nan_of_a_function_that_draws_is_told_as_values_out_of_range_are(channels: tuple[int, ...], count: int, tmp_path: Path) -> None:
    text = f"import numpy as np\ndef draw(size=(8, 8)):\n    out = np.zeros((4, 4, *{channels}))\n    out[:2, :2] = np.nan\n"
    text += "    return out\n"
    path = written(tmp_path, text)
    with pytest.warns(tg.ClampedValueWarning, match=rf"own\.py:2: draw\(\) returned {count} pixels that are NaN, which 8 bits hold as 0"):
        assert cli.main(["render", str(path), "-o", str(tmp_path / "a.png")]) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cli.main(["render", str(path), "-o", str(tmp_path / "a.npy")]) == 0  # floats are kept
        np.testing.assert_array_equal(np.isnan(np.load(tmp_path / "a.npy")).sum(), 4 * max(1, *channels, 1))


# --------------------------------------------------------------------------------------------------------------- SCENES

CLASS = """from tilegpu.scene import Frame, Scene
class A(Scene):
    name = "a"
    def frame(self, size=None, samples=None, camera=None, time=0.0):
        return Frame((8, 8))
class B(A):
    name = "b"
class Nameless(A):
    name = ""
def helper(x):
    return x
"""


@pytest.mark.parametrize(
    ("scenes", "said"),
    [
        ("[A(), A()]", r"SCENES\[1\] is called 'a' as SCENES\[0\] is, and one is lost; give each a name"),
        ("[Nameless(), Nameless()]", r"SCENES\[0\] \(Nameless\) has no name"),
        ("[A(), Nameless()]", r"SCENES\[1\] \(Nameless\) has no name"),
        ("[A(), Frame((5, 5))]", r"SCENES\[1\] is a Frame; give it a name of its own.*draw own\.py:picture"),
        ("[A(), None]", r"SCENES\[1\] is None; it must be a Scene"),
        ("[A(), B]", r"SCENES\[1\] is the class B; write B\(\)"),
        ("[A(), helper]", r"SCENES\[1\] is the function helper\(\); take it out, and draw own\.py:helper"),
        ("[Frame((8, 8))]", r"SCENES\[0\] is a Frame"),
        ("Frame((8, 8))", r"SCENES is a Frame; it must be a list of scenes"),
        ("A()", r"SCENES is a A; it must be a list of scenes, such as SCENES = \[MyScene\(\)\]"),
        ("{'a': A()}", r"SCENES is \{'a'.*; it must be a list.*write SCENES = list"),
    ],
)
def test_a_scene_that_would_be_lost_is_told_with_its_place_in_the_list(scenes: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SceneFileError, match=rf"own\.py: {said}"):
        find_scene(written(tmp_path, f"{CLASS}SCENES = {scenes}\n"))


@pytest.mark.parametrize(
    ("scenes", "said"),
    [("None", "SCENES is None"), ("'abc'", "SCENES is 'abc'"), ("['x']", r"SCENES\[0\] is 'x'"), ("3", "SCENES is 3")],
)
def test_scenes_of_other_things_are_told_where_nothing_else_can_be_drawn(scenes: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SceneFileError, match=said):
        find_scene(written(tmp_path, f"SCENES = {scenes}\n"))
    text = f"SCENES = {scenes}\ndef draw(size=(8, 8)):\n    return None\n"
    assert find_scene(written(tmp_path, text)).name == "draw"  # a name of the user's own


@pytest.mark.parametrize("scenes", ["[A()]", "(A(),)", "[A(), B()]", "(one for one in [A()])", "[Nameless()]", "[]"])
def test_lists_that_lose_nothing_stay_silent(scenes: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"{CLASS}picture = Frame((8, 8))\nSCENES = {scenes}\n")
    assert find_scene(f"{path}:picture").frame().size == (8, 8)


@pytest.mark.parametrize(("fields", "word"), [("size", "size"), ("(8, 8), samples", "samples")])
def test_a_frame_without_size_or_samples_is_told_with_file_scene_and_fix(fields: str, word: str, tmp_path: Path) -> None:
    path = written(tmp_path, CLASS.replace("Frame((8, 8))", f"Frame({fields})") + "SCENES = [A()]\n")
    fix = r"size, samples = self\._resolve_request"
    with pytest.raises(SceneFileError, match=rf"own\.py: a: frame\(\) returned a Frame whose {word} is None.*{fix}"):
        find_scene(path).frame()
    with pytest.raises(tg.ValidationError, match=r"frame 'frame': size is None; it must be \(width, height\).*_resolve_request"):
        SceneRenderer(tg.Device()).render(Frame(None))  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=r"frame 'frame': size is \(8, 8, 8\); it must be \(width, height\)"):
        SceneRenderer(tg.Device()).render(Frame((8, 8, 8)))  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------- requests of a scene


@pytest.mark.parametrize(
    ("name", "request_of", "said"),
    [
        ("triangle", {"time": 3.0}, "scene 'triangle': time=3.0 has no effect: the scene looks the same at any time"),
        ("fill_blend", {"camera": OrbitCamera()}, r"scene 'fill_blend': camera= has no effect: the scene has none"),
        ("cube", {"time": 3.0, "camera": OrbitCamera()}, ""),
        ("triangle", {"time": 0.0, "camera": None, "samples": 2}, ""),
    ],
)
def test_a_time_and_a_camera_that_change_nothing_are_told(name: str, request_of: dict[str, Any], said: str) -> None:
    scene = find_scene(name)
    if name == "triangle" and said:
        assert not scene.moves
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scene.frame((16, 16), **request_of)
    assert [one.category for one in caught] == [tg.UnusedNameWarning] * bool(said)
    assert not said or re.search(said, str(caught[0].message))
    assert all(one.filename == __file__ for one in caught)


def test_samples_that_a_function_does_not_ask_for_and_a_frames_time_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, "from tilegpu.scene import Frame\ndef draw(size=(8, 8)):\n    return Frame(size)\nstill = Frame((8, 8))\n")
    with pytest.raises(tg.ValidationError, match=r"own\.py:2: draw\(\): samples is 4, and the function asks for none; give it a parameter"):
        find_scene(f"{path}:draw").frame(samples=4)
    assert find_scene(f"{path}:draw").frame(samples=1).samples == 1
    with pytest.warns(tg.UnusedNameWarning, match=r"scene 'still': time=2 has no effect"):
        find_scene(f"{path}:still").frame(time=2)


def test_a_farm_and_a_window_of_a_scene_that_stands_still_say_nothing() -> None:
    job = farm.Job("triangle", size=(16, 16), of=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame_of(find_scene("triangle"), job, 2)
    told = "^Job: time=3.0 of 'triangle' has no effect: the scene looks the same at any time"
    with pytest.warns(tg.UnusedNameWarning, match=told) as caught:
        list(farm.pictures(dataclasses.replace(job, time=3.0, of=1), executor="threads", workers=1))
    assert [one.filename for one in caught] == [__file__]


# ------------------------------------------------------------------------------------------------------- draws of scenes

VERT = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
POSITION = "#version 450\nlayout(location = 0) in vec3 position;\nvoid main() { gl_Position = vec4(position, 1); }"
FRAG = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"
SAMPLES_T = """#version 450
layout(binding = 0) uniform sampler2D t;
layout(location = 0) out vec4 o;
void main() { o = texture(t, vec2(0)); }"""
THREE = np.zeros(3, [("position", "f4", 3)])
BARE = Draw(Program(VERT, FRAG), count=3)
TARGET = Target(label="mirror")


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (Draw(Program(POSITION, FRAG), THREE, np.array([0, 1, 3], "u4")), "indices has 3; there are 3 vertices, 0 to 2"),
        (Draw(Program(POSITION, FRAG), THREE, first=5), "first is 5; there are 3 vertices"),
        (Draw(Program(POSITION, FRAG), THREE, np.zeros(3, "u4"), first=4), "first is 4; there are 3 indices"),
        (Draw(Program(VERT, FRAG)), "no vertices and no indices, so count must be given"),
        (Draw(Program(VERT, SAMPLES_T), count=3, bind={"t": np.zeros((4, 4), "u1")}), r"bind 't' is an array of shape \(4, 4\), and a c"),
        (Draw(Program(VERT, SAMPLES_T), count=3, bind={"t": TARGET}), "bind 't' is target 'mirror' alone"),  # type: ignore[dict-item]
        (Draw(Program(VERT, SAMPLES_T), count=3, bind={"t": Sampled(TARGET)}), "t samples target 'mirror', which no pass before stores"),
    ],
)
def test_a_draw_without_a_label_is_told_by_its_number_and_its_frame(draw: Draw, said: str) -> None:
    renderer = SceneRenderer(tg.Device())
    with pytest.raises(tg.ValidationError, match=rf"^frame 'night', draws\[1\]: {said}"):
        renderer.render(Frame((8, 8), draws=(BARE, draw), label="night"))
    with pytest.raises(tg.ValidationError, match=rf"^frame 'night', draw 'lamp': {said}"):
        renderer.render(Frame((8, 8), draws=(BARE, dataclasses.replace(draw, label="lamp")), label="night"))
    if "mirror" not in said:
        one = Pass((Output(TARGET),), draws=(BARE, BARE, draw), label="first")
        with pytest.raises(tg.ValidationError, match=rf"^frame 'night', pass 'first', draws\[2\]: {said}"):
            renderer.render(Frame((8, 8), passes=(one,), label="night"))


def test_what_a_draw_alone_says_has_no_empty_name() -> None:
    with pytest.raises(tg.ValidationError, match=r"^scene\.Draw: vertices has shape \(1, 5\)"):
        Draw(Program(POSITION, FRAG), np.zeros((1, 5)))
    with pytest.raises(tg.ValidationError, match=r"^scene\.Draw: indices are from -1 to 0"):
        Draw(Program(POSITION, FRAG), THREE, np.array([-1, 0]))
    with pytest.raises(tg.ValidationError, match=r"^a draw without a label: first is 5; there are 3 vertices$"):
        Frame((8, 8), draws=(Draw(Program(POSITION, FRAG), THREE, first=5),)).triangles  # noqa: B018
    assert Draw(Program(POSITION, FRAG), THREE, first=3).element_count == 0


def test_a_devices_sampler_in_a_scene_is_told_where_it_is_given() -> None:
    of_device = tg.Device().sampler()
    fix = r"must be a tilegpu\.scene\.Sampler, such as Sampler\(min_filter='nearest'.*one of a device \(dev\.sampler\) is for dev\.texture"
    with pytest.raises(tg.ValidationError, match=rf"^texture 'wall': sampler is <tilegpu\.Sampler.*{fix}"):
        Texture(np.zeros((4, 4, 4), np.uint8), sampler=of_device, label="wall")  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=rf"^Sampled of target 'mirror': sampler is .*{fix}"):
        Sampled(TARGET, of_device)  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=r"sampler is 'nearest'; it must be a tilegpu\.scene\.Sampler"):
        Sampled(TARGET, "nearest")  # type: ignore[arg-type]


def test_a_shader_that_the_samples_have_not_is_an_error_of_tilegpu() -> None:
    for kind in (tg.Error, FileNotFoundError):
        with pytest.raises(kind, match=r"no shader 'pbrr\.frag' in .*did you mean 'pbr\.frag'.*scene\.Program\(vertex, fragment\)"):
            program("pbr.vert", "pbrr.frag")


@pytest.mark.parametrize(
    ("thing", "field", "said"),
    [
        (Texture(np.zeros((4, 4, 4), np.uint8), label="wall"), "pixels", r"texture 'wall': pixels is given.*dataclasses\.replace\("),
        (Texture(np.zeros((4, 4, 4), np.uint8)), "pixel", "there is no attribute 'pixel' to set; did you mean 'pixels'"),
        (tg.shapes.cube(), "indices", "mesh: indices is given"),
        (State(), "culling", "there is no attribute 'culling' to set; did you mean 'cull'"),
        (Frame((8, 8)), "sample", "frame 'frame': there is no attribute 'sample' to set; did you mean 'samples'"),
        (farm.Job("triangle"), "size", "job: size is given"),
        (farm.Job("triangle"), "sizes", "did you mean 'size'"),
    ],
)
def test_plain_data_says_how_another_value_is_got(thing: Any, field: str, said: str) -> None:
    for kind in (tg.ValidationError, dataclasses.FrozenInstanceError):
        with pytest.raises(kind, match=said):
            setattr(thing, field, 3)


def test_plain_data_is_copied_replaced_and_sent_as_before() -> None:
    class Own(Frame):
        pass

    own = Own((8, 8))
    own.mine = 3  # type: ignore[attr-defined]
    assert own.mine == 3 and dataclasses.replace(BARE, count=6).count == 6  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(farm.Job("triangle"))) == farm.Job("triangle")
    assert copy.deepcopy(State(cull="back")) == State(cull="back")


# ---------------------------------------------------------------------------------------------------------------- farms


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"frames": "0:2"}, r"frames is '0:2'; it must be a number, or numbers, such as range\(0, 2\).*the job has frames 0 to 2"),
        ({"frames": {0: 1}}, r"frames is \{0: 1\}; it must be a number"),
        ({"frames": 1.5}, r"frames is 1\.5; it must be a number"),
        ({"threads": -1}, "threads is -1; it must be a number of at least 1"),
        ({"threads": "2"}, "threads is '2'; it must be a number"),
        ({"lanes": 3}, "lanes is 3; it must be 4, 8 or 16"),
    ],
)
def test_a_farm_looks_at_its_arguments_before_it_draws(
    words: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, drawn = farm.Job("triangle", size=(16, 16), of=3), []
    run = farm.render(job, tmp_path / "b.png", executor="threads", workers=1, frames=np.int64(1))  # type: ignore[arg-type]
    assert run.frames == [1]
    monkeypatch.setattr("tilegpu.farm.run.Prepared", lambda *a, **k: drawn.append(a))
    monkeypatch.setattr("tilegpu.farm.proof.scene_of", lambda *a: drawn.append(a))
    with pytest.raises(farm.FarmError, match=said):
        farm.render(job, tmp_path / "a.png", executor="threads", **words)
    with pytest.raises(farm.FarmError, match=said):
        list(farm.pictures(job, executor="threads", **words))
    assert not drawn and not list(tmp_path.glob("a*"))
    if "frames" not in words:
        with pytest.raises(farm.FarmError, match=said):
            farm.verify(tmp_path / "b.manifest.json", **words)
        assert not drawn


def test_a_farm_says_what_a_program_and_the_command_line_may_give(tmp_path: Path) -> None:
    output = tmp_path / "a.png"
    farm.render(farm.Job("triangle", size=(16, 16)), output, executor="threads", workers=1)
    with pytest.raises(farm.FarmError, match=r"frames is 'x'; it must be a number, or numbers.*the manifest has frames 0$"):
        farm.verify(tmp_path / "a.manifest.json", frames="x")  # type: ignore[arg-type]
    fix = r"give another manifest=, or draw all anew with restart=True \(--manifest, --restart\)"
    with pytest.raises(farm.FarmError, match=rf"a\.manifest\.json is of another run: size .*; {fix}$"):
        farm.render(farm.Job("triangle", size=(32, 16)), output, executor="threads", workers=1)
    with pytest.raises(tg.ValidationError, match="there is no argument 'sample'; did you mean 'samples'"):
        farm.Job("triangle", sample=4)  # type: ignore[call-arg]


# ------------------------------------------------------------------------------------------------------- golden pictures


@pytest.mark.parametrize(
    ("dtype", "limits", "said"),
    [
        ("u1", {"tolerance": 255}, "tolerance is 255, so it could never fail: channels of uint8 differ by 255 at most"),
        ("u2", {"tolerance": 65535}, "channels of uint16 differ by 65535 at most"),
        ("i1", {"tolerance": 255}, "channels of int8 differ by 255 at most"),
        ("f4", {"tolerance": math.inf}, "tolerance is inf, so it could never fail"),
        ("u1", {"tolerance": 0.01}, "tolerance is 0.01, which has no effect: .* 0 to 255; as a share of 255 it is tolerance=3"),
        ("u1", {"differing_px": 16}, "differing_px is 16, so it could never fail: the picture has 16 pixels"),
        ("u1", {"differing_px": 10000}, "the picture has 16 pixels"),
        ("u1", {"differing_px": 0.25}, "differing_px is 0.25; it must be a whole number, .*as a share of 16 pixels it is differing_px=4"),
        ("u1", {"differing_px": 2.5}, "differing_px is 2.5; it must be a whole number, of pixels$"),
        ("u1", {"perceptual": 1}, "perceptual is 1, so it could never fail"),
        ("u1", {"tolerance": 254, "differing_px": 15, "perceptual": 0.99}, ""),
        ("u2", {"tolerance": 65534}, ""),
        ("f4", {"tolerance": 0.01, "differing_px": 2.0}, ""),
    ],
)
def test_limits_that_nothing_goes_beyond_or_that_change_nothing_are_refused(
    dtype: str, limits: dict[str, Any], said: str, tmp_path: Path
) -> None:
    picture = np.zeros((4, 4), dtype)
    golden = tmp_path / "a.npy"
    np.save(golden, picture)
    if not said:
        assert_image_equal(picture, golden, **limits)
        return
    with pytest.raises(GoldenError, match=f"assert_image_equal: .*{said}"):
        assert_image_equal(picture, golden, **limits)


def test_a_report_with_the_suffix_of_something_else_is_refused_before_the_tests(tmp_path: Path) -> None:
    assert {suffix for what, all_ in files._CONTENTS.items() if what != "HTML pages" for suffix in all_} == pytest_tilegpu._NO_PAGES
    written(tmp_path, "def test_a(): open('ran', 'w')\n", "test_a.py")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "--tilegpu-report"]
    done = subprocess.run([*words, "x.png"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 4 and not (tmp_path / "ran").exists()
    assert "ERROR: --tilegpu-report x.png: it is a page of HTML, and .png says something else; name it *.html" in done.stderr
    assert "Traceback" not in done.stderr
    assert subprocess.run([*words, "x.html"], cwd=tmp_path, capture_output=True, check=False).returncode == 0


# --------------------------------------------------------------------------------------------------------------- models


def test_a_model_of_another_format_is_told_by_its_suffix(tmp_path: Path) -> None:
    with pytest.raises(tg.Error, match=r"t\.fbx': \.fbx is no format that is read; export it as .*\.gltf, \.glb, \.obj, \.ply, \.stl"):
        find_scene(written(tmp_path, "Kaydara", "t.fbx"))
    with pytest.raises(tg.Error, match="not JSON and not GLB"):
        find_scene(written(tmp_path, "Kaydara", "t.gltf"))


def model_of(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    builder = Builder().mesh(material=0)
    document = builder.json
    document["materials"] = [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}, "doubleSided": True}]
    change(document)
    return builder.glb(folder / "k.glb")


def renamed(table: dict[str, Any], old: str, new: str) -> None:
    table[new] = table.pop(old)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: renamed(d["materials"][0], "pbrMetallicRoughness", "pbrMetalicRoughness"), r"materials\[0\]: pbrMetalicRoughness is "),
        (lambda d: renamed(d["materials"][0], "doubleSided", "doublesided"), r"materials\[0\]: doublesided is no .*; doubleSided is"),
        (lambda d: d["materials"][0].update(emmisiveFactor=[1, 1, 1]), "emmisiveFactor is no name of glTF's; emissiveFactor is"),
        (lambda d: d["materials"][0].update(baseColorFactor=[1, 1, 1, 1]), "baseColorFactor belongs into pbrMetallicRoughness"),
        (lambda d: d["materials"][0]["pbrMetallicRoughness"].update(roughness_factor=0), "Roughness: roughness_factor .*; roughnessF"),
        (lambda d: d["materials"][0].update(extensions={"KHR_material_unlit": {}}), "KHR_material_unlit .*; KHR_materials_unlit is"),
        (lambda d: d["meshes"][0]["primitives"][0]["attributes"].update(TEXCOORD=0), r"\[0\]: attribute TEXCOORD .*; TEXCOORD_0 is"),
        (lambda d: d["meshes"][0]["primitives"][0]["attributes"].update(COLOR0=0), "attribute COLOR0 .*; COLOR_0 is"),
        (lambda d: d["meshes"][0]["primitives"][0]["attributes"].update(Normals=0), "attribute Normals .*; NORMAL is"),
        (lambda d: d["nodes"][0].update(tranlation=[1, 0, 0]), r"nodes\[0\]: tranlation .*; translation is"),
        (lambda d: d.update(extensionUsed=[]), "the document: extensionUsed .*; extensionsUsed is"),
    ],
)
def test_names_that_are_almost_those_of_gltf_are_told(change: Callable[[dict[str, Any]], object], said: str, tmp_path: Path) -> None:
    with pytest.warns(tg.ModelWarning, match=f"k\\.glb': .*{said}.*; names that glTF has not are passed by"):
        find_scene(model_of(tmp_path, change))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: None,
        lambda d: d["materials"][0].update(extras={"doublesided": 1, "extensions": {"EXT_own": {}}}, technique=0, values={}),
        lambda d: d["materials"][0].update(_doublesided=1, name="doublesided", shaderToyUrl=""),
        lambda d: [d["materials"][0].update(extensions={(name := "KHR_materials_emissive_strength"): {"emissiveStrength": 1}}),
                   d.update(extensionsUsed=[name])],
        lambda d: d["meshes"][0]["primitives"][0]["attributes"].update({"_TEXCOORD": 0, "BATCHID": 0, "KHR_own:POSITION": 0, "COLOR_1": 0}),
        lambda d: d.update(samplers=[{"wrapR": 1}], cameras=[{"type": "perspective", "perspective": {"yfov": 1, "znear": 1, "xfov": 1}}]),
        lambda d: d["nodes"][0].update({"x" * 100000: 1, "": 1, "\U0001f600": 1}),
    ],
)
def test_names_of_others_stay_silent(change: Callable[[dict[str, Any]], object], tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_scene(model_of(tmp_path, change))


def test_many_misspelt_names_are_one_warning() -> None:
    table = {"materials": [{f"doublesided{'!' * k}": 1} for k in range(40)], "nodes": [{f"n{k}": 1 for k in range(500)}]}
    lines = [*misspelt(table)]
    assert len(lines) == 40 and lines[0].startswith("materials[0]: doublesided is no name")
    assert not [*misspelt({"nodes": [{f"n{k}": 1 for k in range(100_000)}]})]  # of an attacker: so many are not all compared
    assert near("metalicRougnessTexture", ["metallicRoughnessTexture"]) and not near("KHR_materials_ior", ["KHR_materials_unlit"])
