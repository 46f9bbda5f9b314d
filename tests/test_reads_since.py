"""Who reads what a frame stored: later frames and what is executed outside of frames."""

from __future__ import annotations

import gc
import weakref

import pytest
from tests.small_frames import COVER, DEPTH, READERS, RGBA, SAMPLE_TWO, Bench

import tilegpu as tg

# -- who reads it later


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("in_a_frame", [True, False])
@pytest.mark.parametrize("format", [RGBA, DEPTH])
def test_what_is_read_after_the_frame_is_no_waste(reader: str, in_a_frame: bool, format: str) -> None:
    bench = Bench()
    history, out = bench.image("history", format), bench.image("out")
    with bench.dev.frame("g0", outputs=out) as frame:
        bench.fill(history, "make history")
        bench.fill(out, "last")

    def said() -> list[bool]:
        return ["make history" in str(text) for text in ("\n".join(frame.lint()), [c["text"] for c in frame.what_if(["mali-g57"]).changes])]

    assert said() == [True, True]
    (line,) = frame.lint()
    assert "nobody has read it yet" in line
    if in_a_frame:
        with bench.dev.frame("g1"):
            READERS[reader](bench, history, out)
    else:
        READERS[reader](bench, history, out)
    assert said() == [False, False]


def test_what_is_overwritten_first_was_read_by_nobody() -> None:
    bench = Bench()
    history, out = bench.image("history", mip_levels=1, layers=2), bench.image("out")
    with bench.dev.frame("g0", outputs=out) as frame:
        bench.fill(history, "make history")
        bench.fill(out, "last")
    bench.show(history.view(layer=1, layers=1, type="2d"), out)  # another layer
    assert len(frame.lint()) == 1
    bench.fill(history)
    bench.show(history.view(layer=0, layers=1, type="2d"), out)
    assert len(frame.lint()) == 1
    frame.replay()
    bench.show(history.view(layer=0, layers=1, type="2d"), out)
    assert frame.lint() == [], "of the replay"


def test_frames_of_frames_and_passes_again() -> None:
    """An inner frame's images are read by the outer one's; a pass that is replayed stores again."""
    bench = Bench()
    history, out = bench.image("history"), bench.image("out")
    outer = bench.dev.frame("outer", outputs=out)
    outer.takes_inner = True
    with outer:
        with bench.dev.frame("inner", outputs=out) as inner:
            rp = bench.fill(history, "make history")
            bench.fill(out, "last")
        assert len(inner.lint()) == 1
        bench.show(history, out)
    assert inner.lint() == [] and not any("make history" in line for line in outer.lint())
    with bench.dev.frame("inner", outputs=out) as inner:
        rp = bench.fill(history, "make history")
        bench.fill(out, "last")
    bench.fill(history)
    rp.replay()
    assert len(inner.lint()) == 1
    bench.show(history, out)
    assert inner.lint() == []


@pytest.mark.parametrize("later", [None, "replay", "one image", "out"])
def test_a_g_buffer_that_is_read_later_stays(later: str | None) -> None:
    bench = Bench()
    a, b, out = bench.image("a"), bench.image("b"), bench.image("out")
    two = "#version 450\nlayout(location = 0) out vec4 p; layout(location = 1) out vec4 q; void main() { p = vec4(1); q = vec4(0.5); }"
    with bench.dev.frame("f", outputs=out) as frame:
        with bench.dev.render_pass(color=[tg.Attachment(x, clear=(0, 0, 0, 1)) for x in (a, b)], label="fill") as rp:
            rp.draw(bench.dev.pipeline(COVER, two, color=[RGBA, RGBA]), count=3)
        with bench.dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1)), label="shade") as rp:
            bind = {"a": (a, bench.nearest), "b": (b, bench.nearest)}
            rp.draw(bench.dev.pipeline(COVER, SAMPLE_TWO, color=[RGBA]), count=3, bind=bind)
    if later == "replay":
        frame.replay()
    elif later is not None:
        bench.show(a if later == "one image" else out, bench.image("other"))
    lines = frame.lint()
    assert len(lines) == (0 if later == "one image" else 1)
    assert all("fetches nothing, and saves" in line and line.advice.endswith("fetches nothing") for line in lines)


@pytest.mark.parametrize("later", [False, True])
def test_samples_that_are_read_later_are_stored_as_before(later: bool) -> None:
    bench = Bench()
    many, out = bench.image("many", samples=4), bench.image("out")
    with bench.dev.frame("f", outputs=out) as frame:
        bench.fill(many, "many")
        bench.dev.resolve(many, out)
    if later:
        bench.dev.resolve(many, bench.image("again"))
    (line,) = (one for one in frame.lint() if "resolves them by a command" in one)
    assert ("with store_op='dont_care'" in line) == (not later) and ("others read them" in line) == later


def test_an_ended_frame_is_not_kept() -> None:
    bench = Bench()
    history, out = bench.image("history"), bench.image("out")
    gc.disable()
    try:
        with bench.dev.frame("f", outputs=out) as frame:
            rp = bench.fill(history)
            bench.show(history, out)
        of_frame = weakref.ref(frame)
        del frame
        assert of_frame() is None and not list(bench.dev._frames), "its passes don't hold it"
        assert all(ref() is None for ref in history._left)
        rp.replay()
    finally:
        gc.enable()
