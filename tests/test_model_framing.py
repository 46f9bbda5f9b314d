"""Models are whole in every picture: the camera for a size is the same in a picture, a turn, the window and a function; a turn has one
distance, from which all of it is seen.

The oracle projects every point by the camera's own matrix; pictures are looked at for what touches their border.
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import farm
from tilegpu.scene import FunctionScene, Scene, SceneFileError, SceneRenderer, find_scene, load_file
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.model import ModelScene
from tilegpu.viewer.state import ViewState

SIZES = [(320, 180), (120, 120), (90, 180), (240, 60)]
BOX = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
FACES = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]


def write_box(path: Path, *sides: float) -> str:
    """A box off the origin, as OBJ."""
    lines = [f"v {' '.join(str(3 + s * c) for s, c in zip(sides, corner, strict=True))}" for corner in BOX]
    path.write_text("\n".join([*lines, *(f"f {face}" for face in FACES)]) + "\n")
    return str(path)


@pytest.fixture(params=[(4.0, 0.3, 0.3), (0.3, 4.0, 0.2), (1.0, 1.0, 1.0), (3.0, 0.01, 2.0)], ids=["bar", "tower", "cube", "plate"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> ModelScene:
    found = find_scene(write_box(tmp_path / "box.obj", *request.param))
    assert isinstance(found, ModelScene)
    return found


def extent(camera: OrbitCamera, points: np.ndarray, aspect: float) -> np.ndarray:
    """[[least x, least y], [most x, most y]] in clip space; all in front of the camera."""
    clip = np.c_[points, np.ones(len(points))] @ camera.view_projection(aspect).astype("f8").T
    assert clip[:, 3].min() > 0 and (clip[:, 2] >= 0).all() and (clip[:, 2] <= clip[:, 3]).all()
    places = clip[:, :2] / clip[:, 3:]
    return np.array([places.min(0), places.max(0)])


def points_of(scene: ModelScene) -> np.ndarray:
    return np.concatenate([part.world_positions() for part in scene.parts])


def over_a_turn(camera: OrbitCamera, points: np.ndarray, aspect: float, steps: int = 90) -> np.ndarray:
    found = []
    for _ in range(steps):
        found.append(extent(camera, points, aspect))
        camera.yaw += 2 * math.pi / steps  # rotate() would keep it off the poles
    return np.array(found)


@pytest.mark.parametrize("pitch", [-0.9, 0.0, 0.22, 1.2])
@pytest.mark.parametrize("aspect", [16 / 9, 1.0, 0.3, 5.0])
def test_a_turn_is_seen_from_all_sides_and_is_no_smaller_than_it_must_be(aspect: float, pitch: float) -> None:
    rng = np.random.default_rng(3)
    for scale in ((1, 1, 1), (6, 0.2, 1), (0.1, 5, 0.1)):
        points = rng.standard_normal((60, 3)) * scale + (10, -3, 2)
        low, high = points.min(0), points.max(0)
        camera = OrbitCamera.framing(low, high, pitch=pitch, points=points, aspect=aspect, fill=0.9, turn=True)
        assert camera.target[0] == pytest.approx((low[0] + high[0]) / 2) and camera.target[2] == pytest.approx((low[2] + high[2]) / 2)
        found = over_a_turn(camera, points, aspect, 720)
        assert 0.898 < np.abs(found).max() < 0.9001
        # In the middle from top to bottom: what is free above is free below, at their narrowest.
        assert abs(found[:, 1, 1].max() + found[:, 0, 1].min()) < 0.01


def test_a_turn_seen_from_straight_above() -> None:
    points = np.random.default_rng(4).standard_normal((40, 3))
    camera = OrbitCamera.framing(points.min(0), points.max(0), pitch=math.pi / 2, points=points, aspect=1.5, turn=True)
    assert np.abs(over_a_turn(camera, points, 1.5)).max() < 0.9001
    one = OrbitCamera.framing((2, 2, 2), (2, 2, 2), turn=True)  # a point
    assert one.distance > 0 and np.isfinite(one.view_projection(1.0)).all()


@pytest.mark.parametrize("size", SIZES)
def test_frames_of_a_turn_have_all_of_the_model(model: ModelScene, size: tuple[int, int]) -> None:
    aspect, points = size[0] / size[1], points_of(model)
    found = over_a_turn(model.turn_camera(aspect), points, aspect)
    assert 0.93 < np.abs(found).max() < 0.9401
    renderer = SceneRenderer(tg.Device())
    job = farm.Job("box.obj", size=size, samples=1, of=6)
    for index in range(6):
        frame = farm.frame_of(model, job, index)
        image = renderer.render(frame).images[0]
        clear = image[0, 0]
        border = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
        assert (border == clear).all() and (image != clear).any(), (size, index)


def test_a_turn_has_one_distance_and_a_frame_of_it_is_the_same_in_any_part(model: ModelScene) -> None:
    job = farm.Job("box.obj", size=(96, 64), samples=1, of=8)
    quarter = dataclasses.replace(job, of=4)

    def eye(job: farm.Job, index: int) -> Any:
        return farm.frame_of(model, job, index).draws[0].bind["view"]["eye"][:3]  # type: ignore[index]

    middle = np.array(model.turn_camera(1.5).target)
    distances = {round(float(np.linalg.norm(eye(job, k) - middle)), 4) for k in range(8)}
    assert len(distances) == 1
    assert all(np.array_equal(eye(job, 2 * k), eye(quarter, k)) for k in range(4))
    at_default = farm.frame_of(model, farm.Job("box.obj", of=4), 1)
    width, height = model.default_size
    camera = model.turn_camera(width / height)
    camera.rotate(math.pi / 2, 0)
    assert np.array_equal(at_default.draws[0].bind["view"]["eye"], model.frame(camera=camera).draws[0].bind["view"]["eye"])  # type: ignore[index]


def test_one_picture_is_as_it_was(model: ModelScene) -> None:
    """Of a job of one frame, and of scenes that are no models."""
    one = farm.frame_of(model, farm.Job("box.obj", size=(96, 64)), 0)
    assert farm.frame_hash(one) == farm.frame_hash(model.frame((96, 64)))
    scene = find_scene("cube")
    camera = scene.camera()
    assert camera is not None
    camera.rotate(2 * math.pi / 4, 0)
    turned = farm.frame_of(scene, farm.Job("cube", of=4), 1)
    assert farm.frame_hash(turned) == farm.frame_hash(scene.frame(camera=camera, time=1 / 30))


# ----------------------------------------------------------------------------------------------------------------- window


def state_of(scene: Scene, size: tuple[int, int], scale: int = 1) -> ViewState:
    out = ViewState(scene, 1)
    out.resize(size, (size[0] * scale, size[1] * scale))
    return out


@pytest.mark.parametrize("size", SIZES)
def test_the_window_has_the_picture_of_render(model: ModelScene, size: tuple[int, int]) -> None:
    for scale in (1, 2):
        shown = state_of(model, size, scale).frame()
        assert shown is not None
        assert farm.frame_hash(shown) == farm.frame_hash(model.frame((size[0] * scale, size[1] * scale), 1))


def test_a_window_of_another_shape_frames_the_model_anew(model: ModelScene) -> None:
    state = state_of(model, (320, 180))
    state.frame()
    for size in SIZES:
        state.resize(size, size)
        assert state.request() is not None and state.camera is not None
        assert np.array_equal(state.camera.view_projection(1.0), model.camera(size[0] / size[1]).view_projection(1.0)), size
    state.resize((0, 0), (0, 0))  # minimised
    assert state.request() is None
    state.resize(SIZES[0], SIZES[0])
    assert farm.frame_hash(state.frame()) == farm.frame_hash(model.frame(SIZES[0], 1))  # type: ignore[arg-type]


def test_a_camera_that_was_moved_keeps_its_direction_and_how_near_it_is(model: ModelScene) -> None:
    state = state_of(model, (320, 180))
    state.request()
    state.drag(20, 10, pan=False)
    state.wheel(3)
    assert state.camera is not None
    before, near = dataclasses.replace(state.camera), state.camera.distance / model.camera(320 / 180).distance
    state.resize((90, 180), (90, 180))
    state.request()
    assert (state.camera.yaw, state.camera.pitch) == (before.yaw, before.pitch)
    assert state.camera.distance / model.camera(0.5).distance == pytest.approx(near)
    state.key("r")
    assert np.array_equal(state.camera.view_projection(1.0), model.camera(0.5).view_projection(1.0))


def test_space_turns_the_model_within_the_window(model: ModelScene) -> None:
    points = points_of(model)
    for size in SIZES:
        state = state_of(model, size)
        state.request()
        state.key("space")
        state.request()
        assert state.camera is not None
        found = []
        for _ in range(60):
            state.advance(2 * math.pi / 0.6 / 60)
            state.request()
            found.append(extent(state.camera, points, size[0] / size[1]))
        assert 0.93 < np.abs(found).max() < 0.9401
        state.key("space")
        stopped = dataclasses.replace(state.camera)
        state.request()
        assert (stopped.distance, stopped.target) == (state.camera.distance, state.camera.target)
        state.key("r")
        assert np.array_equal(state.camera.view_projection(1.0), model.camera(size[0] / size[1]).view_projection(1.0))


def test_a_model_that_changed_is_framed(tmp_path: Path) -> None:
    path = tmp_path / "box.obj"
    state = state_of(find_scene(write_box(path, 1, 1, 1)), (200, 100))
    state.request()
    state.scene = find_scene(write_box(path, 9, 1, 4))  # what the window does when the file is another
    state.request()
    assert isinstance(state.scene, ModelScene) and state.camera is not None
    assert np.abs(extent(state.camera, points_of(state.scene), 2.0)).max() < 0.95


# ------------------------------------------------------------------------------------------------------- scenes of users


class Plain(Scene):
    """Its camera frames nothing; it hands out the same one each time."""

    kept = OrbitCamera(distance=5.0)

    def camera(self) -> OrbitCamera:  # type: ignore[override]
        return self.kept


def test_a_scene_whose_camera_takes_no_aspect() -> None:
    scene = Plain()
    assert scene.camera(1.5) is scene.camera() is scene.turn_camera(0.5) is Plain.kept
    assert scene.camera(aspect=2) is Plain.kept
    state = ViewState(scene, 1)
    state.resize((200, 100), (200, 100))
    state.drag(20, 10, pan=False)
    state.key("r")
    assert state.camera == OrbitCamera(distance=5.0) == Plain.kept  # nobody turned the scene's own

    class Asked(Scene):
        def camera(self, aspect: float | None = None) -> OrbitCamera:
            return OrbitCamera(distance=10 / (aspect or 1))

    assert Asked().camera(2.0).distance == 5.0 and Asked().camera().distance == 10.0
    for scene_of in (Asked, Plain, Scene):
        assert scene_of().camera(1.0) is None or scene_of().turn_camera(1.0) is not None


def test_frames_of_a_turn_do_not_add_up() -> None:
    class Framed(Plain):
        def frame(self, size: Any = None, samples: Any = None, camera: Any = None, time: float = 0.0) -> Any:
            return camera.yaw

    angles = [farm.frame_of(Framed(), farm.Job("cube", of=4), k) for k in (1, 1, 2)]  # type: ignore[arg-type]
    assert angles == pytest.approx([math.pi / 2, math.pi / 2, math.pi])  # type: ignore[comparison-overlap]
    assert Plain.kept.yaw == 0


def test_files_of_users(tmp_path: Path) -> None:
    box = write_box(tmp_path / "box.obj", 4, 1, 1)
    path = tmp_path / "mine.py"
    path.write_text(
        "from tilegpu.scene import Scene, find_scene\nfrom tilegpu.scene.camera import OrbitCamera\n"
        "class Old(Scene):\n    def camera(self): return OrbitCamera(distance=7)\n"
        "class Bad(Scene):\n    def camera(self, aspect=None): return OrbitCamera(distance=1 / abs(aspect - 2))\n"
        f"BOX = find_scene({box!r})\n"
        "def draw(size, camera=BOX): return BOX.frame(size, camera=camera)\n"
    )
    assert load_file(path, "Old").camera(1.5).distance == 7  # type: ignore[union-attr]
    model = find_scene(box)
    loaded = load_file(path, "BOX")
    for aspect in (0.5, 2.0):
        assert loaded.camera(aspect) == model.camera(aspect) and loaded.turn_camera(aspect) == model.turn_camera(aspect)
    function = load_file(path, "draw")
    assert isinstance(function, FunctionScene)
    assert function.camera(0.5) == model.camera(0.5) and function.turn_camera(0.5) == model.turn_camera(0.5)
    for size in SIZES:
        drawn = function.frame(size)
        assert farm.frame_hash(drawn) == farm.frame_hash(model.frame(size))
        turned = farm.frame_of(function, farm.Job(str(path), size=size, of=4), 1)
        assert farm.frame_hash(turned) == farm.frame_hash(farm.frame_of(model, farm.Job(box, size=size, of=4), 1))
    state = ViewState(load_file(path, "Bad"), 1)
    state.resize((200, 100), (200, 100))
    with pytest.raises(SceneFileError, match=r"mine.py:6: Bad: camera\(\): ZeroDivisionError"):
        state.scene.camera(2.0)
    assert state.request() is not None and "ZeroDivisionError" in state.message  # the window stays, with the camera that it had


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf"), "wide", (16, 9)])
def test_an_aspect_that_is_none(model: ModelScene, wrong: Any) -> None:
    for ask in (model.camera, model.turn_camera):
        with pytest.raises(tg.ValidationError, match=r"aspect.*width / height"):
            ask(wrong)
