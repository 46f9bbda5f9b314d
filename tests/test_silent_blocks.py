"""What does its work in a ``with`` block alone: passes, frames, queries, conditions, transform feedback. In: such a thing that was never
entered, or dropped. Out: a warning at the line that made it."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
import warnings
import weakref
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


SHIFTED = """#version 450
layout(push_constant) uniform P { vec4 c; }; layout(binding = 0) uniform B { vec4 d; }; layout(location = 0) in vec2 p;
void main() { gl_Position = vec4(p, 0, 1) + c + d; }"""
CORNERS = np.array([(-1, -1), (3, -1), (-1, 3)], "f4")


def shifted() -> tg.Pipeline:
    white = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
    return dev.pipeline(SHIFTED, white, vertex=np.dtype(("f4", 2)), color=[FORMAT])


def goes_on(work: Callable[[], Any]) -> None:
    """In another thread: one that the pass's lock keeps waiting is no reason to wait with it."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "the pass waits for a command that is not there any more"


def test_a_signal_within_a_command_leaves_the_pass_free() -> None:
    out, pipe = dev.image((4, 4), FORMAT), shifted()

    class Slow:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            for _ in range(2000):  # signal.pause() waits for another one where it comes just before
                time.sleep(0.01)
            return CORNERS

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        rp = dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 0))).__enter__()
        with pytest.raises(KeyboardInterrupt):
            rp.draw(pipe, Slow(), push={"c": (0, 0, 0, 0)}, bind={"B": {"d": (0, 0, 0, 0)}})
        goes_on(lambda: rp.draw(pipe, CORNERS, push={"c": (0, 0, 0, 0)}, bind={"B": {"d": (0, 0, 0, 0)}}))
        goes_on(lambda: rp.__exit__(None, None, None))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert out.numpy().min() == 255


@pytest.mark.parametrize("command", ["draw", "set", "clear"])
def test_a_signal_anywhere_in_a_command_leaves_the_pass_free(command: str) -> None:
    """Where the interpreter looks for signals: where a function begins, and behind every call."""
    out, pipe = dev.image((4, 4), FORMAT), shifted()

    def work() -> None:
        if command == "draw":  # with a viewport, so that it is several commands of the core
            rp.draw(pipe, CORNERS, push={"c": (0, 0, 0, 0)}, bind={"B": {"d": (0, 0, 0, 0)}}, viewport=(0, 0, 4, 4))
        elif command == "set":
            rp.set(line_width=1.0)
        else:
            rp.clear((0, 0, 0, 0))

    def interrupted(at: int) -> bool:
        left = at

        def look(frame: Any, event: str, value: Any) -> None:
            nonlocal left
            if event in ("call", "return", "c_return") and frame.f_code.co_filename.endswith("pass_commands.py"):
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt

        sys.setprofile(look)
        try:
            work()
        except KeyboardInterrupt:
            return True
        finally:
            sys.setprofile(None)
        return False

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a state that no pipeline leaves open
        rp = dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 0))).__enter__()  # no with: who waits for the lock is in goes_on alone
        count = 1
        while interrupted(count):
            goes_on(work)
            count += 1
        assert count > 4
        goes_on(lambda: rp.draw(pipe, CORNERS, push={"c": (0, 0, 0, 0)}, bind={"B": {"d": (0, 0, 0, 0)}}))
        goes_on(lambda: rp.__exit__(None, None, None))
    assert out.numpy().min() == 255


@pytest.mark.parametrize("way", ["pass", "raised", "secondary"])
def test_no_block_waits_for_the_garbage_collector(way: str) -> None:
    """Passes, secondaries and what they drew go where they are dropped, though the results of their blocks are kept."""
    size_B, kept = 16 * 3, []
    pipe = dev.pipeline(CAPTURES, None, color=[FORMAT], rasterizer_discard=True)
    out, visible, room = dev.image((4, 4), FORMAT), dev.buffer(np.ones(1, np.uint32)), dev.buffer(size_B)
    gc.collect()
    gc.disable()
    try:
        if way == "secondary":
            with dev.secondary(color=[FORMAT]) as recorder:
                draw_in_blocks(recorder, pipe, visible, room, kept)
        else:
            try:
                with dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 0))) as recorder:
                    draw_in_blocks(recorder, pipe, visible, room, kept)
                    if way == "raised":
                        raise ZeroDivisionError
            except ZeroDivisionError:
                pass
        place, draws = weakref.ref(recorder), weakref.ref(kept.pop(0))
        del recorder
        assert place() is None, [type(r) for r in gc.get_referrers(place())]
        assert draws() is None, [type(r) for r in gc.get_referrers(draws())]
    finally:
        gc.enable()
    assert len(kept) == 4 and (way != "pass" or kept[-1].primitives == 1)


def draw_in_blocks(recorder: Any, pipe: tg.Pipeline, visible: tg.Buffer, room: tg.Buffer, kept: list[Any]) -> None:
    kept.append(recorder._draws)
    with recorder.statistics() as counts, recorder.conditional(visible) as condition, recorder.transform_feedback(room) as captured:
        recorder.draw(pipe, count=3)
    kept += [counts, condition, recorder.query(), captured]
    with kept[2 + 1]:
        recorder.draw(pipe, count=3)


def test_a_block_is_packed_within_itself() -> None:
    """From an argument's __array__: it hung."""
    pipe, found = shifted(), []

    class Within:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            found.append(pipe.struct("B", d=(5, 6, 7, 8)))
            return np.float32([1, 2, 3, 4])

    goes_on(lambda: found.append(pipe.struct("B", d=Within())))
    assert [np.frombuffer(block, "f4").tolist() for block in found] == [[5, 6, 7, 8], [1, 2, 3, 4]]
