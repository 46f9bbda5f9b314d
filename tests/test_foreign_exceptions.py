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

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
KERNEL = "#version 450\nlayout(local_size_x = 1) in; layout(binding = 0) buffer B { float v[]; }; void main() { v[0] = 1; }"
COLOR = "r8g8b8a8_unorm"
WRONG: dict[str, Any] = {
    "array": np.zeros(3), "matrix": np.zeros((2, 2)), "texts": np.array(["x", "y"]), "negative": -1, "none": None, "object": object(),
    "lists": [[]], "bytes": b"x", "nan": float("nan"), "large": 2**70, "mapping": {1: 2}, "function": len, "text": "", "complex": 1j,
    "set": {1}, "type": int, "true": True,
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
        for module in (tg.math, tg.shapes):
            for name in module.__all__:
                call = getattr(module, name)
                if callable(call) and not inspect.isclass(call):
                    found[f"{module.__name__}.{name}"] = (call, call, {})
        return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("written"))


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
