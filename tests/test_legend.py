"""Legends of maps: numbers that are right, where they belong; the map above keeps its pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tilegpu import legend
from tilegpu.cli import main
from tilegpu.history import KILLERS, ramp_picture


@given(st.integers(1, 10**9))
def test_numbers_of_counts(top: int) -> None:
    found = legend.ticks(top, True)
    assert found[0] == 0 and found[-1] == top and found == sorted(set(found)) and 2 <= len(found) <= 7
    assert all(v == int(v) for v in found)


@given(st.floats(1e-6, 1e6))
def test_numbers_of_times(top: float) -> None:
    found = legend.ticks(top, False)
    assert found[0] == 0 and found[-1] == top and 2 <= len(found) <= 7
    steps = np.diff(found[:-1])
    assert len(steps) < 2 or np.allclose(steps, steps[0])


def test_ticks_are_round() -> None:
    assert legend.ticks(19, True) == [0, 5, 10, 15, 19]
    assert legend.ticks(1, True) == [0, 1] and legend.ticks(0, True) == [0]
    assert [legend.number_text(v) for v in (1200, 0.00143, 2.5)] == ["1,200", "0.00143", "2.5"]


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "Zs")), max_size=200), st.integers(20, 400))
def test_lines_fit_and_nothing_is_lost(text: str, width: int) -> None:
    lines = legend.wrapped(text, width, 13)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(legend.text_width(line, 13) <= width or len(line) == 1 for line in lines)


@pytest.mark.parametrize("width", [16, 700])
def test_a_map_keeps_its_pixels_above_its_ramp(width: int) -> None:
    values = np.arange(width * 9, dtype=np.int32).reshape(9, width) % 23
    picture = np.asarray(legend.map_with_legend("shaded", values))
    assert np.array_equal(picture[:9, :width], ramp_picture(values))
    strip = picture[9:]
    ends = ramp_picture(np.array([[0, 1]]))[0]
    rows = np.flatnonzero((strip[:, 10] == ends[0]).all(-1) & (strip[:, -11] == ends[1]).all(-1))
    assert len(rows) == 12, "a bar from black at the left to pale yellow at the right"


def test_colours_of_killers_are_named() -> None:
    maps = {name: np.zeros((4, 4), np.int32) for name in (*KILLERS, "early_killed")}
    maps["early_killed"][0, 0] = 7
    strip = np.asarray(legend.killers(maps, 500)).reshape(-1, 3)
    assert {tuple(c) for c in KILLERS.values()} <= {tuple(c) for c in np.unique(strip, axis=0).tolist()}


def test_heatmaps_of_the_command_line_have_legends(tmp_path: Path) -> None:
    assert main(["explain", "cube", "--size", "64x48", "--heatmaps", str(tmp_path)]) == 0
    for name in ("overdraw", "killed_by"):
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert picture.width >= 380 and picture.height > 48 + 40
