"""Every argument of every public call given what it does not take: the answer is a result or an error of tilegpu, by its name."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
import tilegpu.farm

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
KERNEL = "#version 450\nlayout(local_size_x = 1) in; layout(binding = 0) buffer B { float v[]; }; void main() { v[0] = 1; }"
COLOR = "r8g8b8a8_unorm"
WRONG: dict[str, Any] = {
    "array": np.zeros(3), "matrix": np.zeros((2, 2)), "texts": np.array(["x", "y"]), "negative": -1, "none": None, "object": object(),
    "lists": [[]], "bytes": b"x", "nan": float("nan"), "large": 2**70, "mapping": {1: 2}, "function": len, "text": "", "complex": 1j,
    "set": {1}, "type": int, "true": True, "text array": np.array("s"), "empty mapping": {}, "two lists": [[1, 2], [3, 4]],
}  # fmt: skip


class World:
    def __init__(self, folder: Path) -> None:
        dev = self.dev = tg.Device(threads=1)
        self.pipe, self.kernel = dev.pipeline(COVER, WHITE, color=[COLOR]), dev.compute_pipeline(KERNEL)
        self.image, self.buffer = dev.image((8, 8), COLOR), dev.buffer(np.zeros(64, "f4"))
        dev.clear(self.image, (0, 0, 0, 0))
        self.ended = self.render_pass()
        with self.ended as rp:
            rp.draw(self.pipe, count=3)
        self.folder = folder

    def render_pass(self, **arguments: Any) -> tg.RenderPass:
        color = arguments.pop("color", tg.Attachment(self.dev.image((8, 8), COLOR), clear=(0, 0, 0, 0)))
        return self.dev.render_pass(color=color, **arguments)

    def enter(self, **arguments: Any) -> None:
        self.render_pass(**arguments).__enter__()

    def attach(self, **arguments: Any) -> None:
        self.enter(color=tg.Attachment(**{"image": self.dev.image((8, 8), COLOR), "clear": (0, 0, 0, 0), **arguments}))

    def draw(self, **arguments: Any) -> None:
        with self.render_pass() as rp:
            rp.draw(**{"pipeline": self.pipe, "count": 3, **arguments})

    def calls(self) -> dict[str, tuple[Callable[..., Any], Any, dict[str, Any]]]:
        """By name: what is called, of which the arguments are, and those that are right."""
        dev, image, buffer, pixels = self.dev, self.image, self.buffer, np.zeros((8, 8, 4), "u1")
        moved = {"source": image, "destination": dev.image((8, 8), COLOR)}
        found: dict[str, tuple[Callable[..., Any], Any, dict[str, Any]]] = {
            "draw": (self.draw, tg.RenderPass.draw, {}),
            "render_pass": (self.enter, dev.render_pass, {}),
            "attachment": (self.attach, tg.Attachment, {}),
            "secondary": (lambda **given: dev.secondary(**given).__enter__(), dev.secondary, {}),
        }
        for name, call, right in (
            ("Device", tg.Device, {"threads": 1}), ("image", dev.image, {"size": (8, 8), "format": COLOR}),
            ("buffer", dev.buffer, {"data": 4}), ("texture", dev.texture, {"pixels": pixels}), ("sampler", dev.sampler, {}),
            ("clear", dev.clear, {"image": image, "color": (0, 0, 0, 0)}), ("compute_pipeline", dev.compute_pipeline, {"comp": KERNEL}),
            ("pipeline", dev.pipeline, {"vert": COVER, "frag": WHITE, "color": [COLOR]}),
            ("dispatch", dev.dispatch, {"pipeline": self.kernel, "groups": 1, "bind": {"B": buffer}}), ("copy", dev.copy, moved),
            ("blit", dev.blit, moved), ("resolve", dev.resolve, moved), ("descriptor_set", dev.descriptor_set, {"layout": self.kernel}),
            ("descriptor_set_layout", dev.descriptor_set_layout, {"bindings": {0: "uniform_buffer"}}), ("numpy", image.numpy, {}),
            ("save", image.save, {"path": self.folder / "a.png"}), ("write", image.write, {"pixels": pixels}), ("view", image.view, {}),
            ("buffer.numpy", buffer.numpy, {}), ("buffer.write", buffer.write, {"data": np.zeros(4, "f4")}),
            ("slice", buffer.slice, {"offset": 0}), ("texels", buffer.texels, {"format": "r32_sfloat"}),
            ("why", self.ended.why, {"x": 0, "y": 0}),
            ("heatmap", self.ended.heatmap, {"kind": "shaded"}), ("capture", self.ended.capture, {"path": self.folder / "c"}),
        ):  # fmt: skip
            found[name] = (call, call, right)
        found["Job"] = (tilegpu.farm.Job, tilegpu.farm.Job, {"scene": "cube"})
        for module in (tg.math, tg.shapes):
            for name in module.__all__:
                call = getattr(module, name)
                if callable(call) and not inspect.isclass(call):
                    found[f"{module.__name__}.{name}"] = (call, call, self.right_of(call))
        return found | self.methods()

    def right_of(self, call: Callable[..., Any]) -> dict[str, Any]:
        """What it must be given, by name: without all of it a call ends with what is missing, and nothing else is looked at."""
        right: dict[str, Any] = {
            "matrix": np.eye(4), "points": (0, 0, 0), "angle": 1.0, "axis": (0, 1, 0), "q": (0, 0, 0, 1),
            "a": (0, 0, 0, 1), "b": (0, 0, 0, 1),
            "t": 0.5, "eye": (1, 2, 3), "target": (0, 0, 0), "position": (1, 2, 3), "view_projection": np.eye(4), "pixel": (1, 1),
            "size": (8, 8),
            "fov_y_degrees": 60.0, "aspect": 1.0, "near": 0.1, "height": 1.0, "width": 1.0, "path": self.folder / "p.tgcap", "name": "B",
            "fov_degrees": 60.0, "fov": 60.0, "vector": (0, 0, 1), "direction": (0, 0, 1), "normal": (0, 0, 1), "up": (0, 1, 0),
            "pixels": np.zeros((8, 8, 4), "u1"), "pipeline": self.pipe, "left": -1.0, "right": 1.0, "bottom": -1.0, "top": 1.0, "far": 9.0,
        }  # fmt: skip
        parameters = inspect.signature(call).parameters.values()
        needed = [p.name for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        return {name: right[name] for name in needed if name in right}

    def methods(self) -> dict[str, tuple[Callable[..., Any], Any, dict[str, Any]]]:
        """Of what dev makes, and of what they make: public methods that take something, whether somebody thought of them here or not."""
        dev, right = self.dev, {"path": self.folder / "a.html", "profiles": []}
        with dev.frame("f") as frame, self.render_pass():
            pass
        frame.capture(self.folder / "p.tgcap")
        replay = dev.load_capture(self.folder / "p.tgcap")
        replay.run()
        block = dev.compute_pipeline(KERNEL)
        things = {"device": dev, "frame": frame, "pass": self.ended, "pipeline": self.pipe, "compute pipeline": block, "replay": replay,
                  "image": self.image, "buffer": self.buffer, "texture": dev.texture(np.zeros((4, 4, 4), "u1"))}  # fmt: skip
        found = {}
        for kind, thing in things.items():
            for name in dir(type(thing)):
                call = getattr(thing, name, None)
                if name.startswith("_") or name in INNER or not inspect.ismethod(call):
                    continue
                given = {**self.right_of(call), **({"path": right["path"], "profiles": []} if name == "report" else {})}
                positional = [p.name for p in inspect.signature(call).parameters.values() if p.kind is p.POSITIONAL_ONLY]
                if positional:
                    found[f"{kind}.{name}"] = (_by_position(call, positional), _described(positional), {})
                elif inspect.signature(call).parameters:
                    found[f"{kind}.{name}"] = (call, call, given)
        return found


def _by_position(call: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    return lambda **given: call(*(given[name] for name in names if name in given))


def _described(names: list[str]) -> Callable[..., Any]:
    def described() -> None:
        """Takes what the signature says."""

    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    described.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return described


#: Public by their names and called by the package alone.
INNER = {
    "check_order", "say_never_entered", "watch", "before", "add_pass", "add_dispatch", "add_command", "host_wrote", "entered", "left",
    "create", "plane_of", "say_left_out", "fitting", "content_hash", "reads_buffer", "say_foreign", "pack_push", "push_bytes",
    "warn_unused", "orders_workgroups", "keep_sources", "show",
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("written"))


def test_nothing_needed_is_missing(world: World) -> None:
    """A call that lacks an argument says so first, whatever else it was given."""
    lacking = []
    for name in (name for name in world.calls() if name.startswith(("tilegpu.math.", "frame.", "device.capture", "device.load"))):
        _, described, right = world.calls()[name]
        needed = [p.name for p in inspect.signature(described).parameters.values()
                  if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]  # fmt: skip
        lacking += [f"{name}({missing})" for missing in needed if missing not in right and len(needed) > 1]
    assert not lacking, lacking


@pytest.mark.parametrize("kind", WRONG)
def test_exceptions_are_of_tilegpu(world: World, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.folder)
    foreign = []
    for name, (call, described, right) in world.calls().items():
        for argument in inspect.signature(described).parameters:
            if argument in ("self", "unknown"):
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(**{**right, argument: WRONG[kind]})
            except tg.Error:
                pass
            except Exception as error:
                foreign.append(f"{name}({argument}=): {type(error).__name__}: {error}")
    assert not foreign, "\n".join(foreign)
