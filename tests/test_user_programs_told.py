"""Users' scenes, models, jobs and golden pictures that went wrong without a word, or with a word that helped nobody.

Source: tilegpu's rule that nothing is silent (CONTRIBUTING.md): each case names the object, the field, the value and the fix.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import cli
from tilegpu.scene import SceneFileError, find_scene


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
