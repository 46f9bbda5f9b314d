"""What is given to farms in place of what they take: told by its name, with what is meant; and what would have been hashed in silence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import farm
from tilegpu.scene import DrawnFrame, Frame, find_scene

JOB = farm.Job("triangle", size=(8, 8))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> farm.Run:
    monkeypatch.chdir(tmp_path)
    return farm.render(JOB, "a.png", executor="threads", workers=1)


def test_one_picture_is_no_list_of_pictures() -> None:
    picture, grey = np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4), np.uint8)
    for one in (picture, grey, grey[0], np.array(1)):
        with pytest.raises(tg.ValidationError, match=r"images is one array of shape .*give a list of pictures: pixel_hash\(\[array\]\)"):
            farm.pixel_hash(one)
    assert farm.pixel_hash([picture]) == farm.pixel_hash((picture,)) == farm.pixel_hash(iter([picture])) == farm.pixel_hash(picture[None])
    assert farm.pixel_hash([]) != farm.pixel_hash([grey])


@pytest.mark.parametrize("images", [None, "a.png", b"x", 4, {"a": 1}, ["a.png"], [None], [[1, 2]], [np.array([None])], object()])
def test_pictures_that_are_none(images: Any) -> None:
    with pytest.raises(tg.ValidationError, match=r"pixel_hash: images.* is .*it must be a list of arrays"):
        farm.pixel_hash(images)


def test_an_image_of_a_device_is_no_list_of_pictures() -> None:
    image = tg.Device(threads=1).image((4, 4), "r8g8b8a8_unorm")
    for given in (image, [image]):
        with pytest.raises(tg.ValidationError, match=r"it must be a list of arrays, such as \[image.numpy\(\)\]"):
            farm.pixel_hash(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("call", [farm.frame_hash, farm.shader_hash])
def test_hashes_of_what_is_no_frame(call: Callable[[Any], str]) -> None:
    scene = find_scene("triangle")
    assert call(scene.frame())
    for given in (scene, None, "triangle", 1, [scene.frame()]):
        with pytest.raises(tg.ValidationError, match=rf"{call.__name__}: frame is .*a tilegpu.scene.Frame, such as scene.frame\(\) makes"):
            call(given)
    for wrong in ({"draws": None}, {"draws": "x"}, {"passes": 1}, {"clear_colors": 1}, {"size": None}):
        with pytest.raises(tg.ValidationError):
            call(Frame(**{"size": (8, 8), **wrong}))
    assert call(DrawnFrame((8, 8), path=Path(__file__)))


def test_hashes_of_what_no_frame_holds() -> None:
    with pytest.raises(tg.ValidationError, match="a frame holds a object, which is no plain data"):
        farm.frame_hash(Frame((8, 8), clear_depth=object()))  # type: ignore[arg-type]


@pytest.mark.parametrize("share", ["25%", "0.5", None, [], True, 1j, 0, -1, 2, float("nan"), np.zeros(2)])
def test_shares_that_are_none(run: farm.Run, share: Any) -> None:
    with pytest.raises(farm.FarmError, match=r"share is .*it must be a number above 0, and 1 at most, such as 0.25 for a quarter"):
        farm.verify("a.manifest.json", share=share, executor="threads")


def test_manifests_by_their_paths_and_by_nothing_else(run: farm.Run) -> None:
    assert run.manifest is not None
    for path in (run.manifest, str(run.manifest), "a.manifest.json", Path("a.manifest.json")):
        assert farm.read_manifest(path).frames
        assert farm.verify(path, executor="threads", workers=1, seed=1).same
    for call in (farm.read_manifest, farm.verify):
        with pytest.raises(farm.FarmError, match=r"manifest is Run\(.*it must be a path, such as run.manifest, a.manifest.json"):
            call(run)
        for path in (None, 1, [], {}, object()):
            with pytest.raises(farm.FarmError, match=r"manifest is .*it must be a path"):
                call(path)  # type: ignore[arg-type]
    for seed in ("x", 1.5, [], True, object()):
        with pytest.raises(farm.FarmError, match=r"seed is .*it must be a whole number, or None: by chance"):
            farm.verify("a.manifest.json", seed=seed)  # type: ignore[arg-type]


def test_outputs_and_words_for_true(run: farm.Run) -> None:
    for output in (None, 1, [], {}, object()):
        with pytest.raises(farm.FarmError, match=r"output is .*it must be a path, such as 'turn.png'; pictures\(job\) writes nothing"):
            farm.render(JOB, output)  # type: ignore[arg-type]
    for restart in ("no", "yes", None, 1, []):
        with pytest.raises(farm.FarmError, match=r"restart is .*it must be True or False"):
            farm.render(JOB, "a.png", restart=restart)  # type: ignore[arg-type]
    with pytest.raises(farm.FarmError, match="eight_bits is 'no'; it must be True or False"):
        list(farm.pictures(JOB, eight_bits="no"))  # type: ignore[arg-type]
    with pytest.raises(farm.FarmError, match=r"run is 5; it must be a tilegpu.farm.Run"):
        list(farm.pictures(JOB, run=5))  # type: ignore[arg-type]
    with pytest.raises(farm.FarmError, match="manifest is 5; it must be a path"):
        farm.render(JOB, "a.png", manifest=5)  # type: ignore[arg-type]


def test_executors_that_are_not_made() -> None:
    for made_by in (ThreadPoolExecutor, ProcessPoolExecutor):
        with pytest.raises(farm.FarmError, match=rf"executor is the class {made_by.__name__};.*that is made: {made_by.__name__}\(\)"):
            list(farm.pictures(JOB, executor=made_by))


def test_how_many_frames_is_called_of() -> None:
    for name in ("frames", "frame_count", "num_frames"):
        with pytest.raises(tg.ValidationError, match=f"there is no argument '{name}'; did you mean 'of'"):
            farm.Job("cube", **{name: 4})  # type: ignore[arg-type]


def test_frames_that_are_all_one_picture(tmp_path: Path) -> None:
    several = farm.Job("triangle", size=(8, 8), of=3)
    with pytest.warns(tg.UnusedNameWarning, match="Job: of=3: triangle has no camera to turn and looks the same at any time; all are one"):
        farm.render(several, tmp_path / "a.png", executor="threads", workers=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        farm.render(several, tmp_path / "b.png", 1, executor="threads", workers=1)
        farm.render(farm.Job("cube", size=(8, 8), of=2), tmp_path / "c.png", executor="threads", workers=1)


OWN = "import numpy as np\ndef draw(size):\n    return np.random.rand(8, 8, 3)\n"


@pytest.mark.parametrize(("of_job", "of_call"), [({"profile": "immortalis-g925"}, {}), ({"isolate_compiler": True}, {}), ({}, {"lanes": 4}),
                                                 ({}, {"threads": 2})])  # fmt: skip
def test_devices_that_nobody_draws_with(tmp_path: Path, of_job: dict[str, Any], of_call: dict[str, Any]) -> None:
    (tmp_path / "own.py").write_text(OWN)
    job = farm.Job(str(tmp_path / "own.py"), **of_job)
    (name,) = {**of_job, **of_call}
    said = rf"{name}: the function draw\(\) asks for no device, and draws by itself; give it a parameter device"
    with pytest.raises(farm.FarmError, match=said):
        farm.render(job, tmp_path / "a.png", executor="threads", workers=1, **of_call)
    with pytest.raises(farm.FarmError, match=said):
        list(farm.pictures(job, executor="threads", workers=1, **of_call))
    several = farm.Job(str(tmp_path / "own.py"), of=2)
    with pytest.warns(tg.UnusedNameWarning, match=r"the function draw\(\) asks for neither time nor camera.*give it a parameter time"):
        farm.render(several, tmp_path / "b.png", executor="threads", workers=1)
