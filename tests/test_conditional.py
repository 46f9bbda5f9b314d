"""Conditional rendering: commands of a block are there or not, as if they had been recorded or left out; by every kind of draw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from primitive_scenes import CASES, FORMAT, PLAIN, SHADE, SIZE, Array, triangles

VERTICES = triangles(40, 3)
INDICES = np.arange(len(VERTICES), dtype=np.uint32)[::-1].copy()
Draw = Callable[[tg.Device, Any, tg.Pipeline], None]


def _indirect(rp: Any, pipe: tg.Pipeline, **more: Any) -> None:
    rp.draw_indirect(pipe, np.array([[30, 1, 0, 0], [60, 1, 30, 0]]), VERTICES, **more)


def _byte_count(dev: tg.Device, rp: Any, pipe: tg.Pipeline) -> None:
    rp.draw_indirect(pipe, dev.buffer(np.array([90 * 16], np.uint32)), VERTICES, byte_count=16)


DRAWS: dict[str, Draw] = {
    "draw": lambda dev, rp, pipe: rp.draw(pipe, VERTICES),
    "indexed": lambda dev, rp, pipe: rp.draw(pipe, VERTICES, indices=INDICES),
    "indirect": lambda dev, rp, pipe: _indirect(rp, pipe),
    "indirect count": lambda dev, rp, pipe: _indirect(rp, pipe, draw_count=dev.buffer(np.array([1], np.uint32))),
    "byte count": _byte_count,
    "clear": lambda dev, rp, pipe: rp.clear((0, 1, 0, 1), rect=(5, 9, 33, 21)),
}


def frame(dev: tg.Device, draw: Draw, word: int | None, inverted: bool = False) -> tuple[Array, list[int]]:
    """Before, the commands (word None: without a condition, -1: left out), behind; picture and samples that passed."""
    pipe = dev.pipeline(PLAIN, SHADE, vertex=VERTICES.dtype, color=FORMAT, blend="additive")
    target = dev.image(SIZE, FORMAT)
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0.2, 1))]) as rp:
        rp.draw(pipe, VERTICES[:9])
        with rp.query() as inside:
            if word is not None and word >= 0:
                with rp.conditional(dev.buffer(np.array([7, word], np.uint32)).slice(4), inverted=inverted):
                    draw(dev, rp, pipe)
            elif word is None:
                draw(dev, rp, pipe)
        with rp.query() as behind:
            rp.draw(pipe, VERTICES[9:15])
    return target.numpy(), [inside.samples, behind.samples]


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("inverted", [False, True])
def test_commands_are_there_or_not(name: str, inverted: bool) -> None:
    dev = tg.Device(cache_dir="off")
    with_it, without = frame(dev, DRAWS[name], None), frame(dev, DRAWS[name], -1)
    assert not np.array_equal(with_it[0], without[0])
    for word in (0, 1, 0x100, 0x80000000):
        picture, samples = frame(dev, DRAWS[name], word, inverted)
        expected = with_it if (word != 0) != inverted else without
        np.testing.assert_array_equal(picture, expected[0])
        assert samples == expected[1]


@pytest.mark.parametrize("profile", tg.profile_names())
@pytest.mark.parametrize("word", [0, 1])
def test_same_bits(profile: str, word: int) -> None:
    """Many blocks, some discarded, views and multisampling among them: any device draws what remains."""
    seen = []
    for lanes, threads, target in CASES:
        dev = tg.Device(cache_dir="off", lanes=lanes, threads=threads, jit_target=target, profile=profile)
        pipe = dev.pipeline(PLAIN, SHADE, vertex=VERTICES.dtype, color=FORMAT, samples=4)
        many, one = dev.image(SIZE, FORMAT, samples=4, layers=3), dev.image(SIZE, FORMAT, layers=3)
        words = dev.buffer(np.array([word, 1 - word, 5, 0], np.uint32))
        with dev.render_pass(color=[tg.Attachment(many, clear=(0, 0, 0, 1), resolve=one)], view_mask=0b101) as rp:
            for i in range(20):
                with rp.conditional(words.slice(4 * (i % 4)), inverted=i % 3 == 1):
                    rp.draw(pipe, VERTICES[6 * i : 6 * i + 6])
                    if i == 7:
                        rp.clear((1, 0, 0, 1), rect=(3, 3, 9, 9))
        seen.append(one.numpy())
    for picture in seen[1:]:
        np.testing.assert_array_equal(picture, seen[0])
    assert seen[0].any()


def test_the_word_is_read_when_the_pass_runs(tmp_path: Path) -> None:
    """A dispatch writes it before; a secondary command buffer has its own; a capture draws the same."""
    dev = tg.Device(cache_dir="off")
    word = dev.buffer(np.zeros(1, np.uint32))
    write = dev.compute_pipeline(
        "#version 450\nlayout(set = 0, binding = 0) buffer B { uint word; };\nlayout(push_constant) uniform P { uint value; };\n"
        "void main() { word = value; }"
    )
    pipe = dev.pipeline(PLAIN, SHADE, vertex=VERTICES.dtype, color=FORMAT)
    seen = {}
    for value in (0, 3, 0):
        for secondary in (False, True):
            dev.dispatch(write, 1, bind={"B": word}, push={"value": 1 - min(value, 1)})
            target = dev.image(SIZE, FORMAT)
            if secondary:
                with dev.secondary(color=[FORMAT]) as part, part.conditional(word):
                    part.draw(pipe, VERTICES)
            with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
                if secondary:
                    rp.execute_commands(part)
                else:
                    with rp.conditional(word):
                        rp.draw(pipe, VERTICES)
                if secondary:
                    with pytest.raises(tg.ValidationError, match=r"the buffer is read by its draws \(condition\)"):
                        dev.dispatch(write, 1, bind={"B": word}, push={"value": value})
            dev.dispatch(write, 1, bind={"B": word}, push={"value": value})  # behind what was recorded
            rp.replay()
            picture = target.numpy()
            assert picture.any() == (value != 0)
            rp.capture(tmp_path / "c")
            replay = tg.Device(cache_dir="off").load_capture(tmp_path / "c")
            replay.run()
            np.testing.assert_array_equal(replay.pictures[0], picture)
            seen[value] = picture
    assert seen[3].any()


def test_dispatches() -> None:
    dev = tg.Device(cache_dir="off")
    count = dev.compute_pipeline(
        "#version 450\nlayout(local_size_x = 4) in;\nlayout(set = 0, binding = 0) buffer B { uint n; };\nvoid main() { atomicAdd(n, 1); }"
    )
    words = dev.buffer(np.array([0, 9], np.uint32))
    for word, inverted, runs in ((0, False, False), (1, False, True), (0, True, True), (1, True, False)):
        n = dev.buffer(np.zeros(1, np.uint32))
        stats = dev.dispatch(count, 3, bind={"B": n}, condition=words.slice(4 * word), inverted=inverted)
        assert (int(n.numpy()[0]), stats.invocations) == ((12, 12) if runs else (0, 0))
        groups = dev.buffer(np.array([2, 1, 1], np.uint32))
        dev.dispatch_indirect(count, groups, bind={"B": n}, condition=words.slice(4 * word), inverted=inverted)
        assert int(n.numpy()[0]) == (20 if runs else 0)


def test_statistics_and_captured_vertices_of_discarded_draws() -> None:
    dev = tg.Device(cache_dir="off")
    vertex = PLAIN.replace("layout(location = 0) out", "layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 12, location = 0) out", 1)
    pipe = dev.pipeline(vertex, SHADE, vertex=VERTICES.dtype, color=FORMAT)
    data, words = dev.buffer(12 * 200), dev.buffer(np.array([0, 1], np.uint32))
    with (
        dev.render_pass(color=[tg.Attachment(dev.image(SIZE, FORMAT), clear=(0, 0, 0, 0))]) as rp,
        rp.transform_feedback(data) as captured,
        rp.statistics() as counts,
    ):
        for k in range(2):
            with rp.conditional(words.slice(4 * k)):
                rp.draw(pipe, VERTICES[:30])
    assert captured.primitives == 10 and counts["clipping_invocations"] == 10 and counts["input_assembly_vertices"] == 30


def test_a_condition_holds_for_secondary_command_buffers(tmp_path: Path) -> None:
    """What a pass executes in the block is left out with it, and counted by what counts there; the same from a capture."""
    dev = tg.Device(cache_dir="off")
    pipe = dev.pipeline(PLAIN, SHADE, vertex=VERTICES.dtype, color=FORMAT)
    with dev.secondary(color=[FORMAT]) as part:
        part.draw(pipe, VERTICES[:30])
    pictures = []
    for words in ((1, 1), (1, 0), (0, 1), (0, 0)):
        buffer, out = dev.buffer(np.array(words, np.uint32)), dev.image(SIZE, FORMAT)
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp, rp.statistics() as counts:
            for k in range(2):
                with rp.conditional(buffer.slice(4 * k)):
                    rp.execute_commands(part)
        assert counts["input_assembly_vertices"] == 30 * sum(words) and counts["primitives_generated"] == 10 * sum(words)
        rp.capture(tmp_path / "c")
        replay = tg.Device(cache_dir="off", lanes=4).load_capture(tmp_path / "c")
        replay.run()
        assert np.array_equal(replay.pictures[0], out.numpy())
        pictures.append(out.numpy())
    assert pictures[0].any() and not pictures[3].any()
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, VERTICES[:30])
    assert np.array_equal(pictures[1], out.numpy()) and np.array_equal(pictures[2], out.numpy())


def test_messages() -> None:
    dev = tg.Device(cache_dir="off")
    pipe = dev.pipeline(PLAIN, SHADE, vertex=VERTICES.dtype, color=FORMAT)
    word = dev.buffer(np.ones(2, np.uint32))

    def recorded(record: Callable[[Any], None]) -> None:
        with dev.render_pass(color=[tg.Attachment(dev.image(SIZE, FORMAT), clear=(0, 0, 0, 0))], label="main") as rp:
            record(rp)

    def nested(rp: Any) -> None:
        with rp.conditional(word), rp.conditional(word):
            pass

    def executes(rp: Any) -> None:
        with dev.secondary(color=[FORMAT]) as part, part.conditional(word):
            part.draw(pipe, VERTICES)
        with rp.conditional(word):
            rp.execute_commands(part)

    for record, message in (
        (lambda rp: rp.conditional(3), "it must be a buffer"),
        (lambda rp: rp.conditional(word, inverted=1), "inverted is 1; it must be True or False"),
        (lambda rp: rp.conditional(dev.buffer(2)), "has 2 bytes from byte 0 on; it takes 4"),
        (lambda rp: rp.conditional(dev.buffer(16, usage="storage")), "conditional_rendering"),
        (nested, "another one is open"),
        (executes, "conditional rendering is active, and the secondary begins one of its own"),
        (lambda rp: rp.conditional(word).__enter__(), "while conditional rendering is active"),
    ):
        with pytest.raises(tg.ValidationError, match=message):
            recorded(record)
    with pytest.raises(tg.ValidationError, match="condition is 'x'"):
        dev.dispatch(dev.compute_pipeline("#version 450\nvoid main() {}"), 1, condition="x")
