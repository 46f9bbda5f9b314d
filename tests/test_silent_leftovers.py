"""Small things that were taken for something else: queries as numbers, pixels by index, counters of frames without passes, indirect draws
of five numbers, arrays as names of golden pictures."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import warnings
from pathlib import Path

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


TESTED = """
import numpy as np
from tilegpu.testing import assert_image_equal

def test_first():
    assert_image_equal(np.full((8, 8, 4), 9, np.uint8), "a.png")

def test_second():
    assert_image_equal(np.full((8, 8, 4), 7, np.uint8), "a.png")
"""


def run_pytest(folder: Path, *options: str, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TILEGPU_")} | variables
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def test_pictures_that_nobody_can_write(tmp_path: Path) -> None:
    """What differs is told all the same; it was a FileNotFoundError, and the picture was not counted. Golden pictures are an error."""
    (tmp_path / "test_a.py").write_text(TESTED)
    (tmp_path / "golden").mkdir()
    testing.pictures.write_file(tmp_path / "golden" / "a.png", testing.pictures.png_bytes(np.full((8, 8, 4), 9, np.uint8)))
    text = run_pytest(tmp_path, "--tilegpu-output", "/proc/pictures")
    assert "tilegpu.testing.ImageMismatch: 64 of 64 pixels (100 %) differ" in text
    assert "/proc/pictures/test_a.test_second/a.png.side_by_side.png can't be written: No such file or directory" in text
    assert "1 different, 1 equal" in text and "look at" not in text
    text = run_pytest(tmp_path, "-k", "first", TILEGPU_GOLDEN_UPDATE="1", TILEGPU_GOLDEN_FOLDER="/proc/golden")
    assert "tilegpu.testing.GoldenError: /proc/golden/a.png can't be written: No such file or directory" in text


def test_variables_that_nobody_reads(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a(): pass\n")
    text = run_pytest(tmp_path, TILEGPU_GOLDEN_UPDAET="1", TILEGPU_THREADS="2", TILEGPU_MINE="1", TILEGPU_GOLDEN_UPDATE="0")
    assert "the variable TILEGPU_GOLDEN_UPDAET of the environment is read by nobody; did you mean TILEGPU_GOLDEN_UPDATE?" in text
    assert text.count("is read by nobody") == 1
