"""The viewer without a window: coordinates, camera movements, keys."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_gltf_motion import limb
from tilegpu.scene import find_scene
from tilegpu.scene.model import load_model
from tilegpu.viewer import mapping
from tilegpu.viewer.state import ViewState

SIDES = st.integers(1, 5000)


def test_window_coordinates_are_pixels_without_scaling() -> None:
    assert mapping.to_framebuffer(10.0, 20.7, (640, 480), (640, 480)) == (10, 20)


@pytest.mark.parametrize("scale", [1, 1.5, 2, 3])
def test_hidpi_scales_to_the_framebuffer(scale: float) -> None:
    framebuffer = round(640 * scale), round(480 * scale)
    assert mapping.to_framebuffer(320, 240, (640, 480), framebuffer) == (framebuffer[0] // 2, framebuffer[1] // 2)
    assert mapping.to_framebuffer(639.99, 479.99, (640, 480), framebuffer) == (framebuffer[0] - 1, framebuffer[1] - 1)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.tuples(SIDES, SIDES), st.tuples(SIDES, SIDES))
def test_mapping_stays_inside(x: float, y: float, window: tuple[int, int], framebuffer: tuple[int, int]) -> None:
    px, py = mapping.to_framebuffer(x, y, window, framebuffer)
    assert 0 <= px < framebuffer[0]
    assert 0 <= py < framebuffer[1]


def test_a_minimised_window_renders_nothing() -> None:
    assert mapping.render_size((0, 0)) is None
    assert mapping.to_framebuffer(5, 5, (0, 0), (0, 0)) == (0, 0)
    assert mapping.render_size((20000, 10)) == (16384, 10)


def test_drag_over_the_smaller_side_is_half_a_turn() -> None:
    yaw, pitch = mapping.drag_to_turn(-480, 240, (640, 480))
    assert (yaw, pitch) == pytest.approx((math.pi, math.pi / 2))


def test_wheel_there_and_back() -> None:
    assert mapping.wheel_to_zoom(1) < 1 < mapping.wheel_to_zoom(-1)
    assert mapping.wheel_to_zoom(3) * mapping.wheel_to_zoom(-3) == pytest.approx(1)


def state(name: str = "textured_pbr") -> ViewState:
    out = ViewState(find_scene(name), 1, profiles=("host", "mali-g57"))
    out.resize((320, 200), (640, 400))
    return out


def test_frame_has_the_size_of_the_framebuffer() -> None:
    frame = state().frame()
    assert frame is not None
    assert frame.size == (640, 400)


def test_keys() -> None:
    s = state()
    s.key("m")
    assert s.samples == 2
    for _ in range(4):
        s.key("m")
    assert s.samples == 1
    s.key("p")
    assert s.profile == "mali-g57"
    s.key("p")
    assert s.profile == "host"
    s.key("s")
    assert s.want_screenshot
    s.changed = False
    s.key("x")
    assert not s.changed
    s.key("escape")
    assert s.quit


def test_wireframe_changes_every_draw_and_nothing_else() -> None:
    s = state()
    before = s.frame()
    s.key("w")
    after = s.frame()
    assert before is not None and after is not None
    assert {d.state.polygon_mode for d in after.draws} == {"line"}
    assert [d.vertices is e.vertices for d, e in zip(before.draws, after.draws, strict=True)] == [True] * len(
        before.draws
    )
    s.key("w")
    again = s.frame()
    assert again is not None
    assert {d.state.polygon_mode for d in again.draws} == {"fill"}


def test_mouse_moves_the_camera_and_home_brings_it_back() -> None:
    s = state()
    assert s.camera is not None
    home = s.camera.view_projection(1.0).tobytes()
    s.drag(30, 10, pan=False)
    turned = s.camera.view_projection(1.0).tobytes()
    s.drag(5, 5, pan=True)
    s.wheel(2)
    assert len({home, turned, s.camera.view_projection(1.0).tobytes()}) == 3
    s.key("r")
    assert s.camera.view_projection(1.0).tobytes() == home


def test_scene_without_camera_says_so() -> None:
    s = state("fill_blend")
    s.drag(5, 5, pan=False)
    assert "no camera" in s.message
    s.wheel(1)
    assert s.frame() is not None


def test_spin_runs_time_only_while_on() -> None:
    s = state()
    s.advance(0.5)
    assert s.time == 0
    s.key("space")
    s.advance(0.5)
    assert s.time == 0.5


def test_an_animation_plays_until_space_stops_it(tmp_path: Path) -> None:
    scene = load_model(limb().glb(tmp_path / "a.glb"))
    state = ViewState(scene, 1, time=0.25)
    state.resize((64, 48), (64, 48))
    assert state.moves and state.camera is not None
    before, yaw = state.frame(), state.camera.yaw
    state.advance(0.5)
    assert state.time == 0.75 and state.camera.yaw == yaw  # it moves, the camera does not
    after = state.frame()
    assert before is not None and after is not None
    assert not np.array_equal(before.draws[0].bind["Joints"], after.draws[0].bind["Joints"])
    state.key("space")
    state.advance(0.5)
    assert not state.moves and state.time == 0.75


def test_title_names_scene_size_samples_profile_and_time() -> None:
    s = state()
    frame = s.frame()
    assert frame is not None
    title = s.title(frame.size, frame.samples, 12.34)
    for part in ("textured_pbr", "640x400", "1x", "host", "12.3 ms", "H: keys"):
        assert part in title


def test_a_function_of_the_time_runs_at_once(tmp_path: Path) -> None:
    from tilegpu.cli.view import runs_at_once
    from tilegpu.scene import find_scene

    for text, runs in (("t", True), ("time", True), ("view", True), ("size", False)):
        (tmp_path / "a.py").write_text(f"def draw({text}): return None\n")
        scene = find_scene(f"{tmp_path / 'a.py'}:draw")
        assert runs_at_once(scene, 0) == runs
        assert not runs_at_once(scene, 3)  # pictures that are counted are compared
    assert not runs_at_once(find_scene("textured_pbr"), 0)
