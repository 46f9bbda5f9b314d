"""Users' scenes, models, jobs and golden pictures that went wrong without a word, or with a word that helped nobody.

Source: tilegpu's rule that nothing is silent (CONTRIBUTING.md): each case names the object, the field, the value and the fix.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import cli, farm
from tilegpu.farm.job import frame_of
from tilegpu.math import OrbitCamera
from tilegpu.scene import Frame, SceneFileError, SceneRenderer, find_scene


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
    path = written(tmp_path, f"{text}    def frame(self, size=None, samples=None, camera=None, time=0.0):\n        sys.exit()\nSCENES = [A()]\n")
    with pytest.raises(SceneFileError, match=r"own\.py:6: a: frame\(\): SystemExit"):
        find_scene(path).frame()
    written(tmp_path, "import sys\ndef make():\n    sys.exit(0)\n", "executor_that_ends.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["render", "triangle", "--size", "16x16", "-o", str(tmp_path / "a.png"), "--frames", "2", "--executor", "executor_that_ends:make"]
    assert cli.main(words) == 1
    said = capsys.readouterr().err
    assert "executor_that_ends.py:3: sys.exit(0) ended the command before it was done" in said


@pytest.mark.parametrize(("channels", "count"), [((), 4), ((3,), 4), ((4,), 4)])
def test_nan_of_a_function_that_draws_is_told_as_values_out_of_range_are(channels: tuple[int, ...], count: int, tmp_path: Path) -> None:
    text = f"import numpy as np\ndef draw(size=(8, 8)):\n    out = np.zeros((4, 4, *{channels}))\n    out[:2, :2] = np.nan\n    return out\n"
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
