"""Edges of a frame whose draws read descriptor sets that are written after them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.small_frames import COVER, KERNEL, RGBA, SAMPLE, Bench

import tilegpu as tg


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("by", ["pass", "secondary", "dispatch"])
def test_edges_are_what_was_read_when_it_was_drawn(late: bool, by: str) -> None:
    bench = Bench()
    dev = bench.dev
    a, b, out = bench.image("a"), bench.image("b"), bench.image("out")
    bench.fill(a)
    if by == "dispatch":
        bindings = {0: "combined_image_sampler", 1: "storage_buffer"}
        layout = dev.descriptor_set_layout(bindings, update_after_bind=late)
        kernel = dev.compute_pipeline(KERNEL, set_layouts={0: layout})
        held = dev.descriptor_set(kernel, 0, {"t": (a, bench.nearest), "B": dev.buffer(16)})
    else:
        layout = dev.descriptor_set_layout({0: "combined_image_sampler"}, update_after_bind=late)
        pipeline = dev.pipeline(COVER, SAMPLE, color=[RGBA], set_layouts={0: layout})
        held = dev.descriptor_set(pipeline, 0, {"t": (a, bench.nearest)})
    with dev.frame("f", outputs=out) as frame:
        if by == "dispatch":
            dev.dispatch(kernel, (1, 1, 1), sets={0: held})
            held.update({"t": (b, bench.nearest)})
            bench.fill(out)
        else:
            with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))) as rp:
                if by == "secondary":
                    with dev.secondary(color=[RGBA]) as part:
                        part.draw(pipeline, count=3, sets={0: held})
                    rp.execute_commands(part)
                else:
                    rp.draw(pipeline, count=3, sets={0: held})
                held.update({"t": (b, bench.nearest)})
    saw = "b" if late and by != "dispatch" else "a"
    assert {edge.thing.label for edge in frame.edges if edge.read == "sampled"} == {saw}
    if by != "dispatch":
        assert np.array_equal(out.numpy()[0, 0], [255, 0, 0, 255] if saw == "a" else [0, 0, 0, 255])
        if late:
            held.update({"t": (a, bench.nearest)})
        frame.replay()
        assert np.array_equal(out.numpy()[0, 0], [255, 0, 0, 255])
        assert {edge.thing.label for edge in frame.edges if edge.read == "sampled"} == {saw}, "as it was drawn"


def test_both_contents_of_a_set_that_two_draws_see() -> None:
    bench = Bench()
    a, b, c, out = (bench.image(name) for name in ("a", "b", "c", "out"))
    pipeline = bench.dev.pipeline(COVER, SAMPLE, color=[RGBA])
    held = bench.dev.descriptor_set(pipeline, 0, {"t": (a, bench.nearest)})
    with bench.dev.frame("f", outputs=out) as frame, bench.dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))) as rp:
        rp.draw(pipeline, count=3, sets={0: held})
        held.update({"t": (b, bench.nearest)})
        rp.draw(pipeline, count=3, sets={0: held})
        held.update({"t": (c, bench.nearest)})
    assert {edge.thing.label for edge in frame.edges} == {"a", "b"}
