"""What a frame names and somebody changes in place is drawn as it is now; what is read-only is not looked at again."""

from __future__ import annotations

import dataclasses
import warnings
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.scene import (
    Draw,
    Frame,
    Output,
    Pass,
    Program,
    Sampled,
    Sampler,
    Scene,
    SceneRenderer,
    State,
    Target,
    Texture,
    frozen,
    scenes,
)
from tilegpu.scene.interaction import Interaction, View
from tilegpu.scene.seals import is_fixed

FLAT = State(depth_test=False, depth_write=False)
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
AT = """#version 450
layout(push_constant) uniform P { vec2 shift; };
layout(location = 0) in vec2 p;
void main() { gl_Position = vec4(p + shift, 0, 1); }"""
HEAD = "#version 450\nlayout(location = 0) out vec4 o;\n"
WHITE = HEAD + "void main() { o = vec4(1); }"
NEAREST = Sampler("nearest", "nearest", "nearest")


@pytest.fixture
def renderer() -> SceneRenderer:
    return SceneRenderer(tg.Device())


def framed(draw: Draw) -> Frame:
    return Frame((8, 8), draws=(draw,), depth_format=None)


def pixel(renderer: SceneRenderer, frame: Frame) -> list[int]:
    return list(renderer.render(frame).images[0][4, 4].tolist())


def block(text: str, value: str) -> Program:
    return Program(FULL, f"{HEAD}layout(binding = 0) {text};\nvoid main() {{ o = {value}; }}")


def large(values: object) -> np.ndarray:
    """More than is compared in one piece, in the first row the values."""
    out = np.zeros((100_000, 4), "f4")
    out[0] = values
    return out


def made(kind: str) -> tuple[Draw, object]:
    """A draw of red, or white, and what changes it."""
    vertices = np.array([(-1, -1), (3, -1), (-1, 3)], "f4").view([("p", "f4", 2)]).reshape(-1)
    if kind == "rows":
        rows = np.array([(-1, -1), (3, -1), (-1, 3)], "f4")
        return Draw(Program(AT, WHITE), rows, push={"shift": (0, 0)}, state=FLAT), lambda: rows.__setitem__(Ellipsis, 5)
    indices, push = np.array([0, 1, 2], "u4"), {"shift": np.zeros(2, "f4")}
    if kind in ("vertices", "indices", "push", "push array"):
        draw = Draw(Program(AT, WHITE), vertices, indices, push=push, state=FLAT)
        return draw, {
            "vertices": lambda: vertices["p"].__setitem__(slice(None), 5),
            "indices": lambda: indices.__setitem__(slice(None), 0),
            "push": lambda: push.__setitem__("shift", (9, 9)),
            "push array": lambda: push["shift"].__setitem__(slice(None), 9),
        }[kind]
    if kind in ("pixels", "mipmap", "strided pixels"):
        pixels, level = np.full((2, 2, 4), 255, "u1"), np.full((1, 1, 4), 255, "u1")
        given = np.full((2, 4, 4), 255, "u1")[:, ::2] if kind == "strided pixels" else pixels
        at = {"mipmap": 1}.get(kind, 0)
        program = block("uniform sampler2D s", f"textureLod(s, vec2(0.5), {at})")
        changed = {"pixels": pixels, "mipmap": level, "strided pixels": given}[kind]
        draw = Draw(program, count=3, bind={"s": Texture(given, mipmaps=[level], sampler=NEAREST)}, state=FLAT)
        return draw, lambda: changed.__setitem__(Ellipsis, 0)
    if kind in ("block", "block array", "bind"):
        values = {"c": np.array([1.0, 0, 0, 1])}
        draw = Draw(block("uniform U { vec4 c; }", "c"), count=3, bind={"U": values}, state=FLAT)
        return draw, {
            "block": lambda: values.__setitem__("c", (0, 1, 0, 1)),
            "block array": lambda: values["c"].__setitem__(slice(None), (0, 1, 0, 1)),
            "bind": lambda: draw.bind.__setitem__("U", {"c": (0, 1, 0, 1)}),
        }[kind]
    constants = {"RED": 1.0}
    if kind == "constants":
        text = "layout(constant_id = 0) const float RED = 0;\nvoid main() { o = vec4(RED, 0, 0, 1); }"
        return Draw(Program(FULL, HEAD + text, constants=constants), count=3, state=FLAT), lambda: constants.__setitem__("RED", 0.0)
    array = large((1, 0, 0, 1))
    draw = Draw(block("readonly buffer U { vec4 c[]; }", "c[0]"), count=3, bind={"U": array}, state=FLAT)
    return draw, lambda: array.__setitem__(0, (0, 1, 0, 1))


KINDS = ["vertices", "rows", "indices", "push", "push array", "pixels", "mipmap", "strided pixels", "block", "block array",
         "bind", "storage"]


@pytest.mark.parametrize("again", ["another frame", "the same frame"])
@pytest.mark.parametrize("kind", [*KINDS, "constants"])
def test_what_changed_in_place_is_drawn_as_it_is(renderer: SceneRenderer, kind: str, again: str) -> None:
    draw, change = made(kind)
    frame = framed(draw)
    before = pixel(renderer, frame)
    assert before == pixel(renderer, frame)
    change()
    if again == "another frame":
        draw = Draw(draw.program, draw.vertices, draw.indices, draw.count, push=draw.push, bind=draw.bind, state=FLAT)
        frame = framed(draw)
    after = pixel(renderer, frame)
    assert after != before
    assert after == pixel(SceneRenderer(renderer.device), frame)


def test_draws_in_a_list_may_come_and_go(renderer: SceneRenderer) -> None:
    draws: list[Draw] = []
    frame = Frame((8, 8), draws=draws, depth_format=None)  # type: ignore[arg-type]
    before = pixel(renderer, frame)
    draws.append(Draw(Program(FULL, WHITE), count=3, state=FLAT))
    assert before != pixel(renderer, frame) == [255] * 4


def test_a_pass_before_is_looked_at_too(renderer: SceneRenderer) -> None:
    values, target = {"c": [1.0, 0, 0, 1]}, Target()
    first = Pass((Output(target),), draws=(Draw(block("uniform U { vec4 c; }", "c"), count=3, bind={"U": values}, state=FLAT),))
    shown = Draw(block("uniform sampler2D s", "texelFetch(s, ivec2(0), 0)"), count=3, bind={"s": Sampled(target)}, state=FLAT)
    frame = Frame((8, 8), draws=(shown,), passes=(first,), depth_format=None)
    assert pixel(renderer, frame) == [255, 0, 0, 255]
    values["c"][1] = 1.0  # a list in a mapping
    assert pixel(renderer, frame) == [255, 255, 0, 255]


def test_what_is_the_same_is_not_uploaded_again(renderer: SceneRenderer, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = tuple(made(kind)[0] for kind in KINDS)
    renderer.render(Frame((8, 8), draws=draws, depth_format=None))

    def no(*_: object, **__: object) -> None:
        raise AssertionError("uploaded again")

    monkeypatch.setattr(tg.Device, "buffer", no)
    monkeypatch.setattr(tg.Device, "texture", no)
    renderer.render(Frame((8, 8), draws=draws, depth_format=None))


def test_nobody_looks_at_what_is_read_only(renderer: SceneRenderer) -> None:
    array = large((1, 0, 0, 1))
    view = array[:]
    view.flags.writeable = False
    assert not is_fixed(view)  # the array that it shows may be written to
    assert is_fixed(np.frombuffer(b"12345678", "f4"))
    assert not is_fixed(np.frombuffer(bytearray(8), "f4"))
    block_ = MappingProxyType({"c": (1, 0, 0, 1)})
    draws = (
        Draw(block("readonly buffer U { vec4 c[]; }", "c[0]"), count=3, bind=MappingProxyType({"U": view}), state=FLAT),
        Draw(block("uniform U { vec4 c; }", "c"), count=3, bind=MappingProxyType({"U": block_}), state=FLAT),
    )
    renderer.render(frozen(Frame((8, 8), draws=draws, depth_format=None)))
    assert renderer._recording is not None
    assert renderer._recording.recorded.things == []
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 0


@pytest.mark.parametrize("name", ["mesh_100k", "draws_10k", "terrain", "demo"])
def test_the_samples_copy_nothing_large(name: str) -> None:
    frame = scenes()[name].frame((64, 64))
    for draw in frame.draws:
        things = [draw.vertices, draw.indices, *draw.push.values(), *(t.pixels for t in draw.bind.values() if isinstance(t, Texture))]
        assert all(is_fixed(thing) for thing in things if isinstance(thing, np.ndarray) and (thing.nbytes > 4096 or name == "draws_10k"))


def test_indices_beyond_the_vertices(renderer: SceneRenderer) -> None:
    vertices = np.array([(-1, -1), (3, -1), (-1, 3)], "f4").view([("p", "f4", 2)]).reshape(-1)
    program, push = Program(AT, WHITE), {"shift": (0, 0)}

    def drawn(indices: list[int], kind: str = "u4", **more: object) -> list[int]:
        return pixel(renderer, framed(Draw(program, vertices, np.array(indices, kind), push=push, label="d", **more)))  # type: ignore[arg-type]

    for indices, kind in (([0, 1, 9], "u4"), ([0, 1, 3], "u2"), ([0, 1, 2**32 - 1], "u4")):
        with pytest.raises(tg.ValidationError, match=rf"draw 'd': indices has {indices[2]}; there are 3 vertices, 0 to 2"):
            drawn(indices, kind, state=FLAT)
    for part in ({"count": 3}, {"first": 3, "count": 3}):  # what is not drawn may be anything
        assert drawn([0, 1, 2] + [7] * 3 if "first" not in part else [7] * 3 + [0, 1, 2], state=FLAT, **part) == [255] * 4
    strip = State(depth_test=False, depth_write=False, topology="triangle_strip", primitive_restart=True)
    assert drawn([0, 1, 2, 2**32 - 1, 0, 1, 2], state=strip) == [255] * 4
    changing = np.array([0, 1, 2], "u4")
    frame = framed(Draw(program, vertices, changing, push=push, label="d", state=FLAT))
    assert pixel(renderer, frame) == [255] * 4
    changing[2] = 5
    with pytest.raises(tg.ValidationError, match="indices has 5"):
        renderer.render(frame)


@pytest.mark.parametrize("field", ["first", "count", "instances"])
@pytest.mark.parametrize("value", ["x", 1.5, True])
def test_numbers_of_a_draw_are_whole(renderer: SceneRenderer, field: str, value: Any) -> None:
    """They were compared with numbers: a bare TypeError of Python's, and True was 1."""
    draw = dataclasses.replace(Draw(Program(FULL, WHITE), count=3, state=FLAT), **{field: value})
    with pytest.raises(tg.ValidationError, match=rf"draws\[0\]: {field} is .*; it must be a whole number"):
        renderer.render(framed(draw))


def test_misspelt_attributes_of_a_scene() -> None:
    """A class body takes any name; one that is almost a scene's was meant to be it."""
    with pytest.warns(tg.UnusedNameWarning, match=r"Mine: default_sise is no attribute of a scene, .* did you mean default_size"):

        class Mine(Scene):
            default_sise = (64, 64)

    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class Plain(Scene):
            name = "plain"
            cameras = 3
            colour = (1, 0, 0)

            def camera(self) -> Any:
                return None

        class Other(Plain):
            cameras = 4

    assert Mine.default_size == Other.default_size == (1920, 1080)


def test_what_a_view_keeps_is_made_by_a_function(renderer: SceneRenderer) -> None:
    """A value was called: 'int' object is not callable."""
    view = View(renderer.device, (8, 8), 1, 0.0, None, Interaction())
    with pytest.raises(tg.ValidationError, match=r"view\.keep: make is 5; it must be a function of the device"):
        view.keep("x", 5)
    assert view.keep("x", lambda device: device) is renderer.device
