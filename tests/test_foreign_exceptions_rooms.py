"""The same walk over scenes, farms, shapes and golden tests: each argument of each public call, each field of plain data, of a wrong kind.

The answer is a result or an error of tilegpu by its name, as :mod:`test_foreign_exceptions` has it for devices.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from test_foreign_exceptions import COLOR, COVER, WHITE, WRONG
from tilegpu import farm, testing
from tilegpu import scene as scenes
from tilegpu.math import OrbitCamera
from tilegpu.scene import (
    Draw,
    Environment,
    Frame,
    Output,
    Pass,
    Program,
    Sampled,
    Sampler,
    SceneRenderer,
    State,
    Target,
    Texture,
)
from tilegpu.scene import shapes as detailed
from tilegpu.scene.render import render

PAINT = """#version 450
layout(push_constant) uniform P { vec4 c; };
layout(binding = 0) uniform sampler2D t;
layout(binding = 1) uniform U { vec4 u; };
layout(location = 0) out vec4 o; void main() { o = c + u + texture(t, vec2(0.5)); }"""
Call = tuple[Callable[..., Any], Any, dict[str, Any]]
PIXELS = np.zeros((4, 4, 4), np.uint8)
MORE: dict[str, Any] = {
    "class": SceneRenderer, "date": np.datetime64("2020-01-01"), "five dimensions": np.zeros((2, 2, 2, 2, 2)), "lone half": "\udc80",
    "zero byte": "a\0b", "empty array": np.array([]), "objects": np.array([None]), "numbers": (1, 2, 3, 4, 5, 6, 7), "half": 1.5, "zero": 0,
}  # fmt: skip


class Rooms:
    def __init__(self, folder: Path) -> None:
        self.folder, self.renderer = folder, SceneRenderer(tg.Device(threads=1))
        self.run = farm.render(farm.Job("triangle", size=(8, 8)), folder / "a.png", executor="threads", workers=1)
        testing.write_report([], folder / "r.html")

    def drawn(self, **fields: Any) -> None:
        self.renderer.render(Frame(**{"size": (8, 8), "draws": (Draw(Program(COVER, WHITE), count=3),), **fields}))

    def draw(self, **fields: Any) -> None:
        right = {"program": Program(COVER, PAINT), "count": 3, "push": {"c": (0, 0, 0, 1)}, "bind": self.bound()}
        self.drawn(draws=(Draw(**{**right, **fields}),))

    def bound(self, **more: Any) -> dict[str, Any]:
        return {"t": Texture(PIXELS), "U": {"u": (0, 0, 0, 0)}, **more}

    def passed(self, **fields: Any) -> None:
        right = {"color": (Output(Target()),), "draws": (Draw(Program(COVER, WHITE), count=3),)}
        self.drawn(passes=(Pass(**{**right, **fields}),))

    def output(self, **fields: Any) -> None:
        self.passed(color=(Output(**{"target": Target(), **fields}),))

    def deep(self, **fields: Any) -> None:
        self.passed(depth=Output(**{"target": Target("d32_sfloat"), "clear": 1.0, **fields}))

    def sampled(self, **fields: Any) -> None:
        target = Target()
        first = Pass(color=(Output(target),), draws=(Draw(Program(COVER, WHITE), count=3),))
        shown = Draw(Program(COVER, PAINT), count=3, push={"c": (0,) * 4}, bind=self.bound(t=Sampled(**{"target": target, **fields})))
        self.drawn(passes=(first,), draws=(shown,))

    def calls(self) -> dict[str, Call]:
        found: dict[str, Call] = {
            "Frame": (self.drawn, Frame, {}), "Draw": (self.draw, Draw, {}), "Pass": (self.passed, Pass, {}),
            "Output": (self.output, Output, {}), "Output of depth": (self.deep, Output, {}), "Sampled": (self.sampled, Sampled, {}),
            "Target": (lambda **f: self.passed(color=(Output(Target(**f)),)), Target, {}),
            "Texture": (lambda **f: self.draw(bind=self.bound(t=Texture(**{"pixels": PIXELS, **f}))), Texture, {}),
            "Sampler": (lambda **f: self.draw(bind=self.bound(t=Texture(PIXELS, sampler=Sampler(**f)))), Sampler, {}),
            "Program": (lambda **f: self.draw(program=Program(**{"vertex": COVER, "fragment": PAINT, **f})), Program, {}),
            "State": (lambda **f: self.draw(state=State(**f)), State, {}),
            "Blend": (lambda **f: self.draw(state=State(blend=scenes.Blend(**f))), scenes.Blend, {}),
            "push": (lambda c: self.draw(push={"c": c}), lambda c: 0, {}),
            "bind": (lambda t: self.draw(bind=self.bound(t=t)), lambda t: 0, {}),
            "block": (lambda U: self.draw(bind=self.bound(U=U)), lambda U: 0, {}),
            "member": (lambda u: self.draw(bind=self.bound(U={"u": u})), lambda u: 0, {}),
            "constant": (lambda c: self.draw(program=Program(COVER, PAINT, constants={"N": c})), lambda c: 0, {}),
            "array": (lambda dtype: self.image().__array__(dtype), lambda dtype: 0, {}),
        }  # fmt: skip
        scene, model = scenes.find_scene("cube"), self.model()
        picture = testing.golden.Picture("a", "", "a.png", "equal")
        job = farm.Job("triangle", size=(8, 8))
        threads = {"executor": "threads", "workers": 1}
        for name, call, right in (
            ("find_scene", scenes.find_scene, {}), ("Environment", Environment, {}), ("Environment.read", Environment.read, {}),
            ("frozen", scenes.frozen, {}), ("mip_chain", scenes.mip_chain, {"srgb": False}),
            ("Keys.axis", scenes.Keys().axis, {"less": "a", "more": "w"}),
            ("SceneRenderer", SceneRenderer, {}), ("renderer.render", self.renderer.render, {"frame": Frame((8, 8))}),
            ("render", render, {"device": self.renderer.device, "frame_or_scene": scene, "size": (8, 8)}),
            ("scene.frame", scene.frame, {"size": (8, 8)}), ("scene.camera", scene.camera, {}),
            ("scene.turn_camera", scene.turn_camera, {}),
            ("model.frame", model.frame, {"size": (8, 8)}), ("model.camera", model.camera, {}),
            ("OrbitCamera", lambda **f: OrbitCamera(**f).view_projection(1.0), {}),
            ("OrbitCamera.rotate", OrbitCamera().rotate, {"yaw": 0.0, "pitch": 0.0}),
            ("view_projection", OrbitCamera().view_projection, {}), ("Job", farm.Job, {"scene": "cube"}),
            ("farm.render", farm.render, {"job": job, "output": self.folder / "b.png", **threads}),
            ("farm.pictures", lambda **f: list(farm.pictures(**f)), {"job": job, **threads}),
            ("farm.verify", farm.verify, {"manifest": self.folder / "a.manifest.json", **threads}),
            ("read_manifest", farm.read_manifest, {}),
            ("pixel_hash", farm.pixel_hash, {}), ("frame_hash", farm.frame_hash, {}), ("shader_hash", farm.shader_hash, {}),
            ("assert_image_equal", testing.assert_image_equal, {"image": PIXELS, "name": self.folder / "g.png"}),
            ("difference_of", testing.difference_of, {"expected": PIXELS, "actual": PIXELS}), ("summary", testing.summary, {}),
            ("write_report", testing.write_report, {"pictures": [picture], "path": self.folder / "r.html"}),
        ):  # fmt: skip
            described = {"OrbitCamera": OrbitCamera, "farm.pictures": farm.pictures}.get(name, call)
            found[name] = call, described, dict(right)  # type: ignore[call-overload]
        for name in ("animation", "camera", "lights", "exposure", "environment"):
            found[f"configured.{name}"] = (lambda value, name=name: model.configured(**{name: value}), lambda value: 0, {})
        line = [(1.0, 0.0), (1.0, 1.0)]
        right = {"profile": line, "points": line, "corners": np.eye(3)[None], "radius": 1.0, "tube": 0.2, "tile": 1.0, "height": 1.0,
                 "mesh": tg.shapes.cube(1), "angles": np.zeros(2), "position": np.eye(3), "normal": np.eye(3), "uv": np.eye(3)[:, :2],
                 "indices": np.arange(3)}  # fmt: skip
        for module in (tg.shapes, detailed):
            for name, call in vars(module).items():
                if inspect.isfunction(call) and name[0] != "_" and call.__module__ in ("tilegpu.shapes", "tilegpu.scene.shapes"):
                    names = inspect.signature(call).parameters
                    given = {k: v for k, v in right.items() if k in names and names[k].default is inspect.Parameter.empty}
                    if name not in ("is_number", "size_of", "steps_of", "only"):
                        found[f"{module.__name__}.{name}"] = call, call, given
        found["only"] = lambda mesh, names: tg.shapes.only(mesh, names), lambda mesh, names: 0, {"mesh": tg.shapes.cube(1), "names": "uv"}
        return found

    def image(self) -> tg.Image:
        image = self.renderer.device.image((4, 4), COLOR)
        self.renderer.device.clear(image, (0, 0, 0, 1))
        return image

    def model(self) -> Any:
        path = self.folder / "m.obj"
        path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        return scenes.find_scene(str(path))


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Rooms:
    return Rooms(tmp_path_factory.mktemp("rooms"))


def test_what_is_right_is_taken(rooms: Rooms) -> None:
    """Else an error of the right arguments would hide what wrong ones raise."""
    for name in ("Frame", "Draw", "Pass", "Output", "Output of depth", "Sampled", "Target", "Texture", "Sampler", "Program", "State"):
        rooms.calls()[name][0]()


@pytest.mark.parametrize("kind", [*WRONG, *MORE])
def test_exceptions_are_of_tilegpu(rooms: Rooms, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(rooms.folder)
    monkeypatch.setenv("TILEGPU_GOLDEN_OUTPUT", str(rooms.folder / "out"))
    foreign, value = [], {**WRONG, **MORE}[kind]
    for name, (call, described, right) in rooms.calls().items():
        for argument, parameter in inspect.signature(described).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or (argument == "progress" and callable(value)):
                continue  # what a function raises is its own
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(**{**right, argument: value})
            except (tg.Error, AssertionError):
                pass
            except Exception as error:
                foreign.append(f"{name}({argument}=): {type(error).__name__}: {error}")
    testing.take_pictures()
    assert not foreign, "\n".join(foreign)
