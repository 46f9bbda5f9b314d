"""What does its work in a ``with`` block alone: passes, frames, queries, conditions, transform feedback. In: such a thing that was never
entered, or dropped. Out: a warning at the line that made it."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FORMAT = "r8g8b8a8_unorm"
CAPTURES = """#version 450
layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out gl_PerVertex { vec4 gl_Position; };
void main() { gl_Position = vec4(gl_VertexIndex); }"""
dev = tg.Device(threads=1)


def said(work: Callable[[], Any]) -> list[tuple[type[Warning], str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
        gc.collect()
    assert all(w.filename == __file__ for w in caught)
    return [(w.category, str(w.message)) for w in caught if issubclass(w.category, UserWarning)]


def new_pass() -> tg.RenderPass:
    return dev.render_pass(color=[tg.Attachment(dev.image((4, 4), FORMAT), clear=(0, 0, 0, 1))], label="p")


@pytest.mark.parametrize(
    ("made", "name", "effect"),
    [
        (lambda rp: rp.conditional(dev.buffer(4)), "rp.conditional()", "don't depend on it"),
        (lambda rp: rp.query(), "rp.query()", "counts nothing"),
        (lambda rp: rp.statistics(), "rp.statistics()", "counts nothing"),
        (lambda rp: rp.transform_feedback(dev.buffer(64)), "rp.transform_feedback()", "captures nothing"),
    ],
)
def test_what_was_made_in_a_pass_and_never_entered(made: Callable[[tg.RenderPass], Any], name: str, effect: str) -> None:
    def work() -> None:
        with new_pass() as rp:
            made(rp)

    ((category, text),) = said(work)
    assert category is tg.UnusedNameWarning and text.startswith(f"{name} of pass 'p' was never entered") and effect in text
    assert f"write `with {name[:-2]}(" in text


@pytest.mark.parametrize("result", [lambda rp: rp.query().samples, lambda rp: rp.transform_feedback(dev.buffer(64)).primitives])
def test_its_result_says_so(result: Callable[[tg.RenderPass], Any]) -> None:
    with pytest.raises(tg.ValidationError, match=r"was never entered, so nothing was .*; write `with rp"), new_pass() as rp:
        result(rp)


def test_passes_and_frames_that_were_never_entered() -> None:
    assert said(new_pass) == [
        (tg.UnusedNameWarning, "pass 'p' was never entered, and draws nothing; write `with dev.render_pass(...) as rp:`")
    ]
    ((category, text),) = said(lambda: dev.frame("f"))
    assert category is tg.UnusedNameWarning and text.startswith("frame 'f' was never entered, and nothing is in it")


def test_an_open_pass_that_is_dropped() -> None:
    ((category, text),) = said(lambda: new_pass().__enter__())
    assert category is tg.LostPrimitivesWarning and text.startswith("pass 'p' was dropped while it was open")


def test_what_was_entered_or_refused_is_quiet() -> None:
    def entered() -> None:
        with new_pass() as rp, rp.query(), rp.conditional(dev.buffer(np.ones(1, np.uint32))):
            pass

    def refused() -> None:
        with pytest.raises(tg.ValidationError):
            dev.render_pass(color=[1], label="p")

    def left() -> None:
        with pytest.raises(KeyError), new_pass() as rp:
            rp.query()
            raise KeyError

    assert said(entered) == said(refused) == said(left) == []


def test_transform_feedback_that_does_not_fit() -> None:
    pipe = dev.pipeline(CAPTURES, None, color=[FORMAT], rasterizer_discard=True)

    def capture(size_B: int) -> None:
        with new_pass() as rp, rp.transform_feedback(dev.buffer(size_B)):
            rp.draw(pipe, count=6)

    ((category, text),) = said(lambda: capture(64))
    assert category is tg.LostPrimitivesWarning and text.startswith("transform feedback of pass 'p': 1 of 2 primitives fit the buffers")
    assert said(lambda: capture(96)) == []


@pytest.mark.parametrize("way", ["array", "warning"])
def test_a_draw_within_a_draw_is_an_error(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hung; and what it would bind is not what the draw around it meant."""
    dev = tg.Device(threads=1)
    out = dev.image((4, 4), "r8g8b8a8_unorm")
    pipe = dev.pipeline(
        "#version 450\nlayout(location = 0) in vec2 p; void main() { gl_Position = vec4(p, 0, 1); }",
        "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }",
        vertex=np.dtype(("f4", 2)),
        color=["r8g8b8a8_unorm"],
    )
    corners = np.array([(-1, -1), (3, -1), (-1, 3)], "f4")
    with dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:

        class Late:
            def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
                rp.draw(pipe, corners)
                return corners

        with pytest.raises(tg.ValidationError, match="pass 'a': a command within another one of the same pass"):
            if way == "array":
                rp.draw(pipe, Late())
            else:
                monkeypatch.setattr(warnings, "showwarning", lambda *_, **__: rp.draw(pipe, corners))
                with warnings.catch_warnings():
                    warnings.simplefilter("always")
                    rp.draw(pipe, np.concatenate([corners, corners[:1]]))
        rp.draw(pipe, corners)
    assert out.numpy().min() == 255
