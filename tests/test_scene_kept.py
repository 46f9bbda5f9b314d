"""What a renderer of scenes looks at, how often, and what it trusts; what of a scene goes to other processes."""

from __future__ import annotations

import array as arrays
import copy
import pickle
import warnings
from collections.abc import Callable
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
    SceneRenderer,
    State,
    Target,
    Texture,
    frozen,
    mesh,
    scenes,
    seals,
)
from tilegpu.scene.seals import is_fixed, seal_of
from tilegpu.scene.sending import NOTHING

FLAT = State(depth_test=False, depth_write=False)
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
HEAD = "#version 450\nlayout(location = 0) out vec4 o;\n"
RED_OF_BUFFER = "layout(binding = 0) readonly buffer U { vec4 c[]; };\nvoid main() { o = c[0]; }"
RED_OF_BLOCK = "layout(binding = 0) uniform U { vec4 c; };\nvoid main() { o = c; }"


@pytest.fixture
def renderer() -> SceneRenderer:
    return SceneRenderer(tg.Device(threads=1))


def drawn(text: str, **given: Any) -> Draw:
    return Draw(Program(FULL, HEAD + text, **given.pop("of_program", {})), count=3, state=FLAT, **given)


def framed(*draws: Draw, **more: Any) -> Frame:
    return Frame((8, 8), draws=draws, depth_format=None, **more)


def pixel(renderer: SceneRenderer, frame: Frame) -> list[int]:
    return [int(v) for v in renderer.render(frame).images[0][4, 4]]


# --- memory of others


@pytest.mark.parametrize("make", [bytearray, lambda data: arrays.array("f", data)], ids=["bytearray", "array"])
def test_a_bytearray_is_looked_at_and_may_grow(renderer: SceneRenderer, make: Callable[[bytes], Any]) -> None:
    red = np.array([1, 0, 0, 1], "f4").tobytes()
    data = make(red)
    frame = framed(drawn(RED_OF_BUFFER, bind={"U": data}))
    assert pixel(renderer, frame) == pixel(renderer, frame) == [255, 0, 0, 255]
    data.extend(make(red))  # raises BufferError while somebody has a view of it
    assert pixel(renderer, frame) == [255, 0, 0, 255]
    data[:] = make(np.array([0, 1, 0, 1] * 2, "f4").tobytes())
    assert pixel(renderer, frame) == [0, 255, 0, 255]


def test_what_has_memory_is_sealed_by_its_bytes() -> None:
    data = bytearray(b"12345678")
    for thing in (data, memoryview(data), memoryview(data).toreadonly(), np.frombuffer(data, "u1"), [data], {"a": data}):
        seal = seal_of(thing)
        assert seal is not None and not seal.broken()
        data[0] ^= 1
        assert seal.broken()
    assert seal_of(memoryview(b"12")) is None and seal_of(b"12") is None and seal_of(range(3)) is None
    view = memoryview(bytearray(2))
    seal = seal_of(view)
    view.release()
    assert seal is not None and seal.broken()


# --- frozen


def test_frozen_goes_through_everything_once(monkeypatch: pytest.MonkeyPatch) -> None:
    array, inner = np.zeros(4), np.zeros(2)
    things: list[Any] = [array, {"a": (inner, 1.5, "text")}]
    things.append(things)  # it holds itself
    assert frozen(things) is things and is_fixed(array) and is_fixed(inner)
    made = mesh.box()
    texture = Texture(np.zeros((2, 2, 4), "u1"), mipmaps=[np.zeros((1, 1, 4), "u1")])
    frozen([made, texture])
    assert all(map(is_fixed, (made.vertices, made.indices, texture.pixels, texture.mipmaps[0])))  # type: ignore[index]
    seen: list[int] = []
    freeze = seals.freeze
    monkeypatch.setattr(seals, "freeze", lambda thing, seen_=None: (seen.append(id(thing)), freeze(thing, seen_))[1])
    shared = np.zeros(8, "f4")
    frozen(framed(*(drawn(RED_OF_BUFFER, bind={"U": shared}) for _ in range(3))))
    assert is_fixed(shared) and seen.count(id(shared)) == 3, "asked for of each draw, and known after the first"


def test_frozen_leaves_mappings_to_be_looked_at(renderer: SceneRenderer) -> None:
    red, green = np.array([1, 0, 0, 1], "f4"), np.array([0, 1, 0, 1], "f4")
    block = {"c": red}
    frame = frozen(framed(drawn(RED_OF_BLOCK, bind={"U": block})))
    assert pixel(renderer, frame) == [255, 0, 0, 255]
    assert renderer._recording is not None and len(renderer._recording.recorded.things) == 2, "bind, and the block in it"
    block["c"] = green
    assert pixel(renderer, frame) == [0, 255, 0, 255]


@pytest.mark.parametrize("name", sorted(scenes()))
def test_samples_are_read_only_where_they_are_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No frame pays for it: what one makes anew is small."""
    scene, size = scenes()[name], (64, 36)
    scene.frame(size)
    monkeypatch.setattr(seals, "freeze", lambda *_: pytest.fail("a frame goes through its arrays"))
    frame = scene.frame(size)
    for draw in frame.all_draws:
        textures = [t for t in draw.bind.values() if isinstance(t, Texture)]
        pictures = [p for t in textures for p in (t.pixels, *(() if isinstance(t.mipmaps, bool) else t.mipmaps))]
        for thing in (draw.vertices, draw.indices, *draw.push.values(), *draw.bind.values(), *pictures):
            assert not isinstance(thing, np.ndarray) or thing.nbytes <= 4096 or is_fixed(thing), f"{draw.label}: {thing.nbytes} bytes"


# --- how often


def test_a_thing_is_looked_at_once_a_frame(renderer: SceneRenderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many draws, programs and uses name it; when it changed too."""
    looked: dict[int, int] = {}
    made: list[Any] = []

    class Counted(seals._ArraySeal):
        def __init__(self, array: Any) -> None:
            made.append(array)
            super().__init__(array)

        def broken(self) -> bool:
            looked[id(self._array)] = looked.get(id(self._array), 0) + 1
            return super().broken()

    monkeypatch.setattr(seals, "_ArraySeal", Counted)
    data = np.zeros((2000, 4), "f4")
    data[0] = 1, 0, 0, 1
    texts = (RED_OF_BUFFER, RED_OF_BUFFER.replace("c[0]", "c[0].rgba"), RED_OF_BUFFER.replace("c[0]", "c[0] + c[1]"))
    draws = tuple(drawn(text, bind={"U": data}) for text in texts)
    assert pixel(renderer, framed(*draws)) == [255, 0, 0, 255]
    assert len(made) == 1 and looked == {}
    for frame in (framed(*draws), framed(*draws)):
        looked.clear()
        pixel(renderer, frame)
        assert looked == {id(data): 1}
    looked.clear()
    pixel(renderer, frame)  # a replay
    assert looked == {id(data): 1}
    for again in (frame, framed(*draws)):
        data[0] = data[0, [1, 0, 2, 3]]
        looked.clear()
        made.clear()
        after = pixel(renderer, again)
        assert after == [int(v * 255) for v in data[0]]
        assert looked == {id(data): 1} and len(made) == 1, "found out by the replay's look, and not asked again"


def test_pixels_that_textures_share_are_looked_at_once(renderer: SceneRenderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so are arrays that several mappings have."""
    made: list[Any] = []
    looked: list[int] = []

    class Counted(seals._ArraySeal):
        def __init__(self, array: Any) -> None:
            made.append(array)
            super().__init__(array)

        def broken(self) -> bool:
            looked.append(id(self._array))
            return super().broken()

    monkeypatch.setattr(seals, "_ArraySeal", Counted)
    pixels, data = np.full((64, 64, 4), 255, "u1"), np.zeros((512, 4), "f4")
    data[0] = 1, 0, 0, 1
    both = """layout(binding = 0) uniform U { vec4 c[512]; };
        layout(binding = 1) uniform sampler2D s;
        void main() { o = c[0] * texture(s, vec2(0)); }"""
    draws = tuple(drawn(both, bind={"U": {"c": data}, "s": Texture(pixels, mipmaps=False)}) for _ in range(3))
    frame = framed(*draws)
    assert pixel(renderer, frame) == [255, 0, 0, 255] and sorted(map(id, made)) == sorted([id(pixels), id(data)])
    for change, want in ((pixels, [0, 0, 0, 255]), (data, [0, 0, 0, 0]), (None, [0, 0, 0, 0])):
        if change is not None:
            change[..., 0] = 0
            change[..., 3] = want[3]
        looked.clear()
        made.clear()
        assert pixel(renderer, frame) == want
        assert sorted(looked) == sorted([id(pixels), id(data)]) and len(made) == (change is not None)


def test_members_are_noted_once_for_each_group(renderer: SceneRenderer) -> None:
    block, constants = MappingProxyType({"c": (1, 0, 0, 1)}), {"RED": 1.0}
    bind = {"U": block}
    text = "layout(constant_id = 0) const float RED = 0;\n" + RED_OF_BLOCK
    program = Program(FULL, HEAD + text, constants=constants)
    frame = framed(*(Draw(program, count=3, bind=bind, state=FLAT) for _ in range(50)))
    renderer.render(frame)
    assert renderer._recording is not None
    assert [held.owner for held in renderer._recording.recorded.things] == [constants, bind]


def test_empty_mappings_may_be_filled_later(renderer: SceneRenderer) -> None:
    """Constants, blocks and push constants of the user's own; what nobody gave is one object, which nobody fills."""
    assert Program("", "").constants is Program("", "").constants is Draw(Program("", "")).push is Draw(Program("", "")).bind is NOTHING
    constants: dict[str, Any] = {}
    text = "layout(constant_id = 0) const float RED = 0;\nvoid main() { o = vec4(RED, 0, 0, 1); }"
    frame = framed(drawn(text, of_program={"constants": constants}))
    assert pixel(renderer, frame) == pixel(renderer, frame) == [0, 0, 0, 255]
    constants["RED"] = 1.0
    assert pixel(renderer, frame) == [255, 0, 0, 255]
    plain = "void main() { o = vec4(1); }"
    for name in ("push", "bind"):
        given: dict[str, Any] = {}
        frame = framed(drawn(plain, **{name: given}))
        assert pixel(renderer, frame) == [255] * 4
        recording = renderer._recording
        assert pixel(renderer, frame) == [255] * 4 and renderer._recording is recording, "a replay"
        given["nothing"] = np.zeros(4, "f4")
        with pytest.raises(tg.ValidationError, match="nothing"):
            renderer.render(frame)


def test_numbers_that_lie_as_they_are_are_not_laid_out(renderer: SceneRenderer) -> None:
    """A flat array has one upload, whoever reads it; rows are asked for by each program."""
    flat = np.array([1, 0, 0, 1], "f4")
    renderer.render(framed(*(drawn(text, bind={"U": flat}) for text in (RED_OF_BUFFER, RED_OF_BUFFER + "\n"))))
    assert [key for key in renderer._kept._made if key[0] == id(flat)] == [(id(flat), "bound")]


def test_what_no_frame_names_is_let_go(renderer: SceneRenderer) -> None:
    old = np.array([1, 0, 0, 1], "f4")
    renderer.render(framed(drawn(RED_OF_BUFFER, bind={"U": old})))
    new = framed(drawn(RED_OF_BUFFER, bind={"U": old.copy()}))
    for _ in range(12):
        renderer.render(Frame((8, 8), draws=new.draws, depth_format=None))
    kept = renderer._kept
    assert not any(id(old) in table for table in (kept._held, kept._members)) and not any(key[0] == id(old) for key in kept._made)


# --- attachments that are loaded


def test_loaded_attachments_are_not_called_unwritten(renderer: SceneRenderer) -> None:
    one, two = Target(label="one"), Target(label="two")
    both = "layout(location = 1) out vec4 p;\nvoid main() { o = p = vec4(1, 0, 0, 1); }"
    only = "void main() { o = vec4(0, 1, 0, 1); }"

    def passes(load: Any) -> tuple[Pass, ...]:
        first = Pass((Output(one), Output(two)), draws=(drawn(both),), label="first")
        return first, Pass((Output(one), Output(two, load=load)), draws=(drawn(only),), label="second")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        renderer.render(framed(drawn(only), passes=passes("load")))
    with pytest.warns(tg.UnusedNameWarning, match="pass 'second': no draw writes color 1"):
        renderer.render(framed(drawn(only), passes=passes("clear")))


# --- other processes


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_frames_can_be_sent(renderer: SceneRenderer, protocol: int) -> None:
    """With read-only mappings, which pickle does not know; what was shared stays so, and what was the default stays it."""
    red = MappingProxyType({"c": np.array([1, 0, 0, 1], "f4")})
    bind = MappingProxyType({"U": red})
    frame = framed(drawn(RED_OF_BLOCK, bind=bind), drawn(RED_OF_BLOCK, bind=bind), drawn(RED_OF_BLOCK, bind={"U": red}))
    sent = pickle.loads(pickle.dumps(frame, protocol))
    assert pixel(renderer, sent) == [255, 0, 0, 255]
    first, second, third = (draw.bind for draw in sent.draws)
    assert type(first) is MappingProxyType and first is second and type(third) is dict
    assert type(first["U"]) is MappingProxyType and first["U"] is third["U"]
    assert all(draw.program.constants is NOTHING for draw in sent.draws)
    filled = pickle.loads(pickle.dumps(Program("", "", constants={"A": 1}), protocol))
    assert filled.constants == {"A": 1} and type(filled.constants) is dict


def test_draws_can_be_copied() -> None:
    push = MappingProxyType({"a": np.zeros(3)})
    draw = Draw(Program("", ""), count=3, push=push)
    assert copy.copy(draw).push is push and copy.copy(draw).program is draw.program
    deep = copy.deepcopy(draw)
    assert type(deep.push) is MappingProxyType and deep.push["a"] is not push["a"] and deep.program.constants is NOTHING


@pytest.mark.parametrize("name", ["draws_10k", "demo", "particles", "mobile_frame"])
def test_samples_can_be_sent(name: str) -> None:
    frame = scenes()[name].frame((64, 36))
    sent = pickle.loads(pickle.dumps(frame))
    assert len(sent.all_draws) == len(frame.all_draws)
    for one, other in zip(sent.all_draws, frame.all_draws, strict=True):
        assert list(one.push) == list(other.push) and type(one.push) is type(other.push)
