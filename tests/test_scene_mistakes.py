"""Mistakes in frames and scenes: what is lost is told, what is of another kind is an error by its name, and 2D pictures stay quiet."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.math import OrbitCamera
from tilegpu.scene import Draw, Environment, Frame, Output, Pass, Program, Scene, SceneRenderer, State, Target, scenes
from tilegpu.scene.render import render

AT = """#version 450
layout(push_constant) uniform P { vec4 c; float z; };
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, z, 1); }"""
PAINT = """#version 450
layout(push_constant) uniform P { vec4 c; float z; };
layout(location = 0) out vec4 o; void main() { o = c; }"""
PROGRAM = Program(AT, PAINT)


@pytest.fixture(scope="module")
def renderer() -> SceneRenderer:
    return SceneRenderer(tg.Device(strict=True))


def draws(**state: Any) -> tuple[Draw, ...]:
    made = {"state": State(**state)} if state else {}
    near, far = ({"c": (1, 0, 0, 1), "z": 0.2}, {"c": (0, 1, 0, 1), "z": 0.8})
    return tuple(Draw(PROGRAM, count=3, push=push, **made) for push in (near, far))  # type: ignore[arg-type]


ASKED: list[tuple[dict[str, Any], str]] = [
    ({"depth_test": True}, "depth_test=True"), ({"depth_test": True, "depth_compare": "less"}, "depth_compare='less'"),
    ({"depth_compare": "greater"}, "depth_compare='greater'"), ({"depth_write": True}, "depth_write=True"),
    ({"depth_bias": (1.0, 0.0), "depth_test": False}, r"depth_bias=\(1.0, 0.0\)"),
]  # fmt: skip
QUIET: list[dict[str, Any]] = [
    {}, {"depth_test": False}, {"depth_write": False}, {"depth_test": False, "depth_write": False, "depth_compare": "greater"},
    {"blend": "alpha"}, {"depth_compare": "always"}, {"cull": "back"},
]  # fmt: skip


@pytest.mark.parametrize(("state", "said"), ASKED)
def test_depth_is_asked_for_and_there_is_none(renderer: SceneRenderer, state: dict[str, Any], said: str) -> None:
    lost = "has no effect without a depth attachment"
    with pytest.warns(tg.UnusedNameWarning, match=rf"frame 'f', draws\[0\]: its state has {said}, which {lost}.*depth_format='d32_sfloat'"):
        renderer.render(Frame((8, 8), draws=draws(**state), depth_format=None, label="f"))
    first = Pass((Output(Target()),), draws=draws(**state), label="p")
    with pytest.warns(tg.UnusedNameWarning, match=rf"pass 'p', draws\[0\]: its state has {said}, which {lost}.*depth=Output"):
        renderer.render(Frame((8, 8), passes=(first,)))


@pytest.mark.parametrize("state", QUIET)
def test_pictures_in_2d_are_quiet(renderer: SceneRenderer, state: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        renderer.render(Frame((8, 8), draws=draws(**state), depth_format=None))
        renderer.render(Frame((8, 8), passes=(Pass((Output(Target()),), draws=draws(**state)),)))
        renderer.render(Frame((8, 8), draws=draws(depth_test=True, depth_compare="less", depth_bias=(0.0, 0.0))))  # with depth


def test_a_state_knows_what_was_given() -> None:
    assert State() == State(depth_test=True)
    assert hash(State()) == hash(State(depth_test=True))
    assert State("none", "clockwise", True).wants_depth == "depth_test=True"
    assert not dataclasses.replace(State(), cull="back").wants_depth  # nobody said so
    assert not dataclasses.replace(State(depth_test=True), cull="back").wants_depth
    assert dataclasses.replace(State(depth_bias=(1.0, 1.0)), cull="back").wants_depth
    for again in (pickle.loads(pickle.dumps(State(depth_test=True))), copy.deepcopy(State(depth_test=True))):
        assert again == State()
        assert again.wants_depth
    assert list(inspect.signature(State).parameters)[:3] == ["cull", "front_face", "depth_test"]
    with pytest.raises(tg.ValidationError, match="did you mean 'depth_test'"):
        State(depth_tst=True)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", sorted(scenes()))
def test_samples_are_quiet(name: str) -> None:
    for one in (scenes()[name].frame((64, 64)), *scenes()[name].frame((64, 64)).passes):
        without = one.depth_format is None if isinstance(one, Frame) else one.depth is None
        assert not without or not any(draw.state.wants_depth for draw in one.draws)


def test_targets_have_sizes_as_frames_have(renderer: SceneRenderer) -> None:
    for size in ([8, 8], (8, 8), np.array([8, 8]), np.array([8, 8], "u2")):
        target = Target("r8g8b8a8_unorm", size)  # type: ignore[arg-type]
        assert target.size == (8, 8)
        renderer.render(Frame((8, 8), passes=(Pass((Output(target),), draws=draws()),)))


WRONG_SIZES = [0, 8, (), [], (8,), (8, 8, 1), "8x8", (0, 8), (8, -1), (8.5, 8), {"a": 1}, [[1, 2], [3]], np.array([]), {1}]


@pytest.mark.parametrize("size", WRONG_SIZES)
def test_sizes_of_targets_that_are_none(size: Any) -> None:
    with pytest.raises(tg.ValidationError, match=r"target 't': size.*it must be \(width, height\) in pixels, or None"):
        Target("r8g8b8a8_unorm", size, "t")


@pytest.mark.parametrize("constants", [[("N", 1)], None, "N", 1, (), [], {1}, np.array([])])
def test_constants_that_are_no_mapping(constants: Any) -> None:
    with pytest.raises(tg.ValidationError, match=r"program 'p': constants is .*it must be a mapping by name, such as \{'COUNT': 4\}"):
        Program(AT, PAINT, "p", constants=constants)


@pytest.mark.parametrize("picture", [[[1, 2], [3]], None, "sky", object(), [None], np.array("x"), b"x", 1j])
def test_skies_that_are_no_pictures(picture: Any) -> None:
    with pytest.raises(tg.ValidationError, match="environment 'e': the picture"):
        Environment(picture, "e")


def test_a_clear_that_a_load_would_lose(renderer: SceneRenderer) -> None:
    target = Target(label="t")
    for load in ("load", "dont_care"):
        for clear in ((1, 1, 1, 1), (0.0, 0.0, 0.0, 1.0)):  # the default's value too, where it is given
            with pytest.raises(tg.ValidationError, match=f"target 't': clear is given, but load is '{load}'; use load='clear', or leave"):
                Output(target, load, clear)  # type: ignore[arg-type]
    first, again = Output(target, clear=(1, 0, 0, 1)), Output(target, load="load")
    renderer.render(Frame((8, 8), passes=(Pass((first,), draws=draws()), Pass((again,), draws=draws()))))
    assert dataclasses.replace(first, load="load").load == "load"


class Fixed(Scene):
    name = "fixed"

    def camera(self) -> OrbitCamera:  # type: ignore[override]
        return OrbitCamera()


class Framing(Scene):
    name = "framing"

    def camera(self, aspect: float | None = None) -> OrbitCamera:
        return OrbitCamera(distance=aspect or 1.0)


@pytest.mark.parametrize("scene", [scenes()["cube"], scenes()["demo"], Fixed(), Framing()], ids=lambda scene: scene.name)
def test_an_aspect_that_is_none(scene: Scene) -> None:
    for call in (scene.camera, scene.turn_camera):
        assert call(1.5) is not None
        assert call() is not None
        for aspect in ((640, 360), 0, -1.0, float("nan"), float("inf"), "1.5", [1], {}, np.zeros(3)):
            with pytest.raises(tg.ValidationError, match=f"scene '{scene.name}': aspect is .*it must be width / height, above 0, or None"):
                call(aspect)  # type: ignore[arg-type]


class Nothing(Scene):
    name = "nothing"

    def frame(self) -> Frame:  # type: ignore[override]
        return Frame((8, 8))


class Some(Scene):
    name = "some"

    def frame(self, size: Any = None, samples: Any = None, **more: Any) -> Frame:
        return Frame(size or (8, 8))


def test_frames_of_scenes_that_take_less() -> None:
    assert Nothing().frame().size == (8, 8)  # its own calls go on
    must = r"scene 'nothing': Nothing.frame\(self\).* is called with more: .*; define frame\(self, size=None, samples=None, camera=None"
    for call in (lambda: render(tg.Device(), Nothing()), lambda: Nothing().frame((8, 8)), lambda: Nothing().frame(time=1.0)):  # type: ignore[call-arg]
        with pytest.raises(tg.ValidationError, match=must):
            call()
    assert Some().frame((4, 4), 1, time=0.0).size == (4, 4)
    with pytest.raises(tg.ValidationError, match=r"scene 'some': Some.frame\(self, size.*is called with more: too many positional"):
        render(tg.Device(), Some())
    assert not hasattr(type(scenes()["cube"]).frame, "__wrapped__")
