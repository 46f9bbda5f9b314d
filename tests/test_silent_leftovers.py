"""Small things that were taken for something else: queries as numbers, pixels by index, counters of frames without passes, indirect draws
of five numbers, arrays as names of golden pictures."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import testing

F = "r8g8b8a8_unorm"
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


def test_queries_are_no_numbers(dev: tg.Device) -> None:
    """`if q:` was true where nothing was seen, `q == 0` was false."""
    pipe = dev.pipeline(FULL, WHITE, color=[F])
    with dev.render_pass(color=tg.Attachment(dev.image((8, 8), F), clear=(0, 0, 0, 1))) as rp:
        with rp.query() as empty:
            pass
        with rp.query() as q, rp.statistics() as statistics:
            rp.draw(pipe, count=3)
    for ask in (bool, int, float, lambda q: q == 0, lambda q: q != 0.0, lambda q: np.float32(0) == q):
        with pytest.raises(tg.ValidationError, match=r"query of pass 'pass' is no number, and no truth; ask \.samples") as caught:
            ask(empty)
        assert isinstance(caught.value, TypeError)
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(tg.ValidationError, match=r"ask \.samples"):
            compare(q, 0)
    assert (empty.samples, q.samples) == (0, 64) and q == q and q != empty and q in [empty, q] and {q: 1}[q] == 1 and q is not None
    with pytest.raises(tg.ValidationError, match=r"read by their names: q\['fragment_shader_invocations'\]; did you mean 'clipping_p"):
        _ = statistics.clipping_primitve


def test_pixels_by_index(dev: tg.Device) -> None:
    image, buffer = dev.image((4, 4), F), dev.buffer(np.zeros(4, np.float32))
    texture = dev.texture(np.zeros((4, 4, 4), np.uint8))
    dev.clear(image, (1, 0, 0, 1))
    for thing in (image, buffer, texture, image.view()):
        with pytest.raises(tg.ValidationError, match=r"has no elements by number; give np\.asarray\(\.\.\.\) of it") as caught:
            thing[0]  # type: ignore[index]
        assert isinstance(caught.value, TypeError)
        with pytest.raises(tg.ValidationError, match=r"what writes to images and buffers is their write\(\.\.\.\)"):
            thing[0] = 1  # type: ignore[index]
    with pytest.raises(tg.ValidationError, match="no elements by number"):
        list(image)  # type: ignore[call-overload]
    assert np.stack([image, image]).shape == (2, 4, 4, 4) == np.array([image, image]).shape
    assert (image == np.asarray(image)).all() and np.asarray(buffer).tolist() == [0] * 4


def test_frames_without_passes_have_counters(dev: tg.Device) -> None:
    with dev.frame("f") as frame:
        dev.clear(dev.image((4, 4), F), (1, 0, 0, 1))
    assert (frame.stats.draws, frame.stats.fragments_shaded, frame.stats.moved_B) == (0, 0, 0)
    with pytest.raises(tg.ValidationError, match="there is no attribute 'drwas'"):
        _ = frame.stats.drwas


def test_five_numbers_without_indices(dev: tg.Device) -> None:
    pipe, image = dev.pipeline(FULL, WHITE, color=[F]), dev.image((4, 4), F)
    five = dev.buffer(np.array([3, 1, 0, 0, 0], np.uint32))
    with dev.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 1))) as rp:
        with pytest.warns(tg.UnusedNameWarning, match=r"holds 5 numbers, as draws with indices= have; a draw takes 4 \(vertex count"):
            rp.draw_indirect(pipe, five)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rp.draw_indirect(pipe, five, indices=np.arange(3, dtype=np.uint16))
            rp.draw_indirect(pipe, five, stride=20)
            rp.draw_indirect(pipe, five.slice(0, 16))
            rp.draw_indirect(pipe, dev.buffer(np.array([[3, 1, 0, 0]], np.uint32)))


def test_an_array_as_the_name_of_a_golden_picture() -> None:
    """All of it was in the message."""
    picture = np.zeros((64, 64, 4), np.uint8)
    with pytest.raises(testing.GoldenError, match=r"name is array\(\[.* \.\.\.; it must be a file's name") as caught:
        testing.assert_image_equal(picture, picture)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
