"""Calls and operations that there are not: errors that say how it is done, where Python's own say what it did not find."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

F = "r8g8b8a8_unorm"
AT = "#version 450\nlayout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
RED = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }"
TRIANGLE = np.array([((-1, -1),), ((3, -1),), ((-1, 3),)], [("position", "f4", 2)])
A = np.zeros((2, 2))


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


@pytest.fixture(scope="module")
def pipeline(dev: tg.Device) -> tg.Pipeline:
    return dev.pipeline(AT, RED, vertex=TRIANGLE.dtype, color=[F])


#: Of passes; what is said.
CALLS: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda rp, p: rp.draw(p, TRIANGLE, np.arange(3)),
     r"rp\.draw: 3 arguments are given by place; it takes 2 by place \(pipeline, vertices\), and others by name: indices=, instances="),
    (lambda rp, p: rp.draw(p, TRIANGLE, np.arange(3), 1), r"rp\.draw: 4 arguments are given by place"),
    (lambda rp, p: rp.draw(),
     r"rp\.draw: missing 1 required positional argument: 'pipeline'; its arguments are pipeline, vertices, indices"),
    (lambda rp, p: rp.draw(vertices=TRIANGLE), r"rp\.draw: missing 1 required positional argument: 'pipeline'"),
    (lambda rp, p: rp.draw(p, pipeline=p), r"rp\.draw: got multiple values for argument 'pipeline'"),
    (lambda rp, p: rp.draw(p, TRIANGLE, vertices=TRIANGLE), r"rp\.draw: got multiple values for argument 'vertices'"),
    (lambda rp, p: rp.draw(None), r"draw's first argument is None; it must be a pipeline"),
    (lambda rp, p: rp.draw(p, TRIANGLE, indexes=[0]), r"rp\.draw: there is no argument 'indexes'; did you mean 'indices'"),
    (lambda rp, p: rp.draw_indirect(p, A, TRIANGLE, np.arange(3)),
     r"rp\.draw_indirect: 4 arguments are given by place; it takes 3 by place"),
    (lambda rp, p: rp.set("cull_mode", "back"), r"set\('cull_mode', 'back'\): states are given by name: set\(cull_mode='back'\)"),
    (lambda rp, p: rp.set({"cull_mode": "back"}),
     r"states are given by name, such as set\(cull_mode='back'\); of a mapping set\(\*\*mapping\)"),
    (lambda rp, p: rp.clear((0, 0, 0, 1), 1.0),
     r"rp\.clear: 2 arguments are given by place; it takes 1 by place \(color\), and others by name: depth="),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.parametrize("secondary", [False, True])
def test_calls_of_passes(dev: tg.Device, pipeline: tg.Pipeline, number: int, secondary: bool) -> None:
    """Draws and sets look at their names themselves, and said nothing of what Python refused."""
    call, said = CALLS[number]
    block: Any = dev.secondary(color=[F]) if secondary else dev.render_pass(color=tg.Attachment(dev.image((4, 4), F), clear=(0, 0, 0, 1)))
    with block as rp:
        with pytest.raises(tg.ValidationError, match=said):
            call(rp, pipeline)
        rp.draw(pipeline, TRIANGLE)


def test_draws_whose_pipeline_has_its_name(dev: tg.Device, pipeline: tg.Pipeline) -> None:
    """All that can be given by place, and nothing else, may be given so."""
    ways: list[Callable[[Any], None]] = [
        lambda rp: rp.draw(pipeline, TRIANGLE), lambda rp: rp.draw(pipeline, vertices=TRIANGLE),
        lambda rp: rp.draw(pipeline=pipeline, vertices=TRIANGLE), lambda rp: rp.draw(vertices=TRIANGLE, count=3, pipeline=pipeline),
    ]  # fmt: skip
    for way in ways:
        out = dev.image((4, 4), F)
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))) as rp:
            way(rp)
            way(rp)  # the core's
        assert out.numpy()[2, 2].tolist() == [255, 0, 0, 255] and rp.stats.draws == 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda d: d.image((4, 4), F, 4),
         r"dev\.image: 3 arguments are given by place; it takes 2 by place \(size, format\), and others by name: sam"),
        (lambda d: d.texture(np.zeros((4, 4)), "r32_sfloat", True), r"dev\.texture: 3 arguments are given by place; .*by name: mipmaps="),
        (lambda d: d.sampler("nearest"),
         r"dev\.sampler: 1 argument is given by place; it takes none by place, and others by name: filter="),
        (lambda d: d.copy(1, 2, 3), r"dev\.copy: 3 arguments are given by place; it takes 2 by place \(source, destination\), and"),
        (lambda d: d.pipeline(AT, RED, vertex=TRIANGLE.dtype, color=[F]).struct(),
         r"struct: missing 1 required positional argument: 'name'"),
        (lambda d: d.pipeline(AT, RED, vertex=TRIANGLE.dtype, color=[F]).struct(position=1),
         r"struct: missing 1 required positional argument: 'name'"),
        (lambda d: tg.Device("host", 2),
         r"tilegpu\.Device: 2 arguments are given by place; it takes 1 by place \(profile\), and others by name: threads="),
    ],
)  # fmt: skip
def test_what_is_given_by_place(dev: tg.Device, call: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(tg.ValidationError, match=said):
        call(dev)


OPERATIONS: list[Callable[[Any], Any]] = [
    lambda x: x[0], lambda x: x[1, 2], lambda x: x[:], list, lambda x: 3 in x, lambda x: x + 1, lambda x: 1 - x, lambda x: x * 2,
    lambda x: -x, lambda x: x / 255, lambda x: x @ x, lambda x: x < 3, lambda x: x.__setitem__(0, 1), lambda x: (lambda a, b: a)(*x),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["image", "buffer", "texture", "view"])
def test_what_arrays_can_do(dev: tg.Device, kind: str) -> None:
    """`buffer[0]` was "not subscriptable", `image + 1` "unsupported operand": neither said that there is an array."""
    image = dev.texture(np.full((4, 4, 4), 7, np.uint8))
    thing: Any = {"image": image.image, "buffer": dev.buffer(np.ones(4, np.float32)), "texture": image, "view": image.image.view()}[kind]
    for operation in OPERATIONS:
        said = r"(no elements by number;|(computed with|compared); (\.numpy\(\)|numpy\.asarray of it) is an array)"
        with pytest.raises(tg.ValidationError, match=said) as caught:
            operation(thing)
        assert isinstance(caught.value, TypeError)
    array = np.asarray(thing)
    assert not isinstance(thing, Iterable) and thing != 3 and hash(thing)
    assert np.array_equal(np.float32(1) - thing, np.float32(1) - array) and np.array_equal(array + thing, array + array)
    assert np.array([thing, thing]).shape == (2, *array.shape)


def test_statistics_are_attributes(dev: tg.Device, pipeline: tg.Pipeline) -> None:
    out = dev.image((4, 4), F)
    with dev.frame("f", outputs=[out]) as frame, dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))) as rp:
        rp.draw(pipeline, TRIANGLE)
    for stats in (rp.stats, frame.stats):
        with pytest.raises(tg.ValidationError, match=r"counters are attributes, such as stats.vertices_shaded; stats.asdict\(\) is a dict"):
            _ = stats["vertices_shaded"]
        assert stats.draws == 1


def test_what_devices_tell_by_name(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match=r"dev.info has no 'thread'; did you mean 'threads'\?") as caught:
        _ = dev.info["thread"]
    assert isinstance(caught.value, KeyError) and dev.info.get("thread") is None
    with pytest.raises(tg.ValidationError, match=r"dev.compile_stats has no 'xyz'; there are: pipelines"):
        _ = dev.compile_stats["xyz"]
    for made in (pickle.loads(pickle.dumps(dev.info)), copy.deepcopy(dev.info), json.loads(json.dumps(dev.info))):
        assert made == dev.info and type(dict(made)) is dict


@pytest.mark.parametrize(
    ("name", "said"),
    [("device", r"dev = tilegpu\.Device\(\)"), ("buffer", r"dev\.buffer\(array\)"), ("image", r"dev\.image\("),
     ("attachment", r"tilegpu\.Attachment\(image"), ("sampler", r"dev\.sampler\("),
     ("render_pass", r"with dev\.render_pass"),
     ("descriptor_set", r"dev\.descriptor_set\("), ("pipeline", r"dev\.pipeline\(vert, frag")],
)  # fmt: skip
def test_modules_in_small_letters(name: str, said: str) -> None:
    """`tg.device()`: 'module' object is not callable."""
    with pytest.raises(tg.ValidationError, match=rf"tilegpu\.{name} is a module of the package, and not called: .*{said}") as caught:
        getattr(tg, name)((4, 4))
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("argument", ["load_op", "store_op", "level", "layer", "resolve", "resolve_mode"])
@pytest.mark.parametrize("what", ["image", "view", "depth"])
def test_arrays_for_words_of_attachments(dev: tg.Device, argument: str, what: str) -> None:
    """Were compared, which of an array is a ValueError: 'the truth value of an array'."""
    image = dev.image((4, 4), "d32_sfloat" if what == "depth" else F)
    kind, clear = ("depth", 1.0) if what == "depth" else ("color", (0, 0, 0, 1))
    for _ in range(2):  # the second finds what the first made
        with dev.render_pass(**{kind: tg.Attachment(image, clear=clear)}):  # type: ignore[arg-type]
            pass
    attachment = tg.Attachment(image.view() if what == "view" else image, clear=clear, **{argument: A})  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=rf"{argument} (is )?array\("), dev.render_pass(**{kind: attachment}):  # type: ignore[arg-type]
        pass


def test_arrays_for_words_of_framebuffers() -> None:
    with pytest.raises(tg.ValidationError, match=r"Load: border is array\(.*; it must be 'image', 'clear', 'none' or None"):
        tg.Load(clear=(0, 0, 0, 1), border=A)  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=r"Store: samples is array\(.*; it must be 'all', a resolve mode or None"):
        tg.Store(None, samples=A)  # type: ignore[arg-type]


def _entered(thing: Any) -> str:
    with pytest.raises(tg.ValidationError) as told, thing:
        pass
    return str(told.value)


def test_what_is_no_with_block_says_so(tmp_path: Any) -> None:
    """Calls that give nothing, and what others give: none is a TypeError that names NoneType or a class of the package's."""
    dev = tg.Device(threads=1)
    out, buffer = dev.image((4, 4), "r8g8b8a8_unorm"), dev.buffer(np.zeros(4, "f4"))
    with dev.frame("f") as f, dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1)), label="p") as rp:
        assert "rp.set is no with block: what it sets holds until" in _entered(rp.set(cull_mode="none"))
        f_pass = rp
    said = {
        "dev.capture is no with block: it asks for the next pass": dev.capture(tmp_path / "a.tgcap"),
        "rp.capture is no with block: it writes the pass that ended": f_pass.capture(tmp_path / "b.tgcap"),
        "f.capture is no with block: it writes the frame that ended": f.capture(tmp_path / "c.tgcap"),
        "command stats is no with block, and there is nothing to end": dev.clear(out, (0, 0, 0, 1)),
        "pass stats": f_pass.replay(),
        "frame stats": f.replay(),
        "explanation": f_pass.explain(),
        "frame explanation": f.explain(),
        "attachment": tg.Attachment(out),
        "texture": dev.texture(np.zeros((4, 4, 4), "u1"), "r8g8b8a8_unorm"),
        "buffer slice": buffer.slice(0, 16),
        "buffer 'buffer' is no with block; nothing has to be freed": buffer,
    }
    for text, thing in said.items():
        assert text in _entered(thing), text
    # What was asked for by a block that there is not is taken back.
    _entered(dev.capture(tmp_path / "e.tgcap"))
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))):
        pass
    assert not (tmp_path / "e.tgcap").exists()
    # The advice, taken literally; and what it gives is as little as None was.
    path = tmp_path / "d.tgcap"
    given = dev.capture(path)
    assert not given and "dev.capture" in repr(given)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))):
        pass
    assert path.exists()


# ----------------------------------------------------------------------------------------------------------- fixes that can be done
def test_a_transient_image_says_who_clears_it() -> None:
    device = tg.Device(threads=1)
    image = device.image((4, 4), F, transient=True)
    with pytest.raises(tg.ValidationError, match="has no memory, as it is transient; let a pass clear or draw it, or create it without"):
        device.clear(image, (1, 1, 1, 1))
    with device.render_pass(color=tg.Attachment(image, clear=(1, 0, 0, 1))):
        pass
    assert image.numpy()[0, 0].tolist() == [255, 0, 0, 255]


def test_levels_of_several_samples_are_made_of_a_resolve() -> None:
    device = tg.Device(threads=1)
    image = device.image((8, 8), F, samples=4)
    device.clear(image, (1, 1, 1, 1))
    with pytest.warns(tg.UnusedNameWarning, match=r"images of 4 samples have no others: dev\.resolve it to one of mip_levels=None"):
        device.generate_mipmaps(image)
    one = device.image((8, 8), F, mip_levels=None)
    device.resolve(image, one)
    device.generate_mipmaps(one)
    assert one.numpy(level=3).min() == 255


def test_layers_that_views_ask_for_say_so(dev: tg.Device) -> None:
    given = tg.Attachment(dev.image((4, 4), F, layers=2), clear=(0, 0, 0, 0))
    said = r"3 layers from it \(layers= of the pass, or its view_mask= to the highest bit\)"
    with pytest.raises(tg.ValidationError, match=said), dev.render_pass(color=given, view_mask=0b101):
        pass


def test_an_image_that_holds_nothing_is_an_image(dev: tg.Device) -> None:
    with pytest.raises(ValueError, match="nothing was stored") as error:
        tg.testing.assert_image_equal(dev.image((4, 4), F), "kept.png")
    assert "give an image, or an array" not in str(error.value)
