"""tests/processor_cases.py: a case is the same whenever it is drawn, one bit that differs is said, and so is a line too few."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tests import processor_cases

COUNT = 8  # each kind twice


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["processor_cases", "--seed", "3", "--cases", str(COUNT), *map(str, words)])
    return processor_cases.main()


def test_the_same_again_and_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch) == 0
    drawn = capsys.readouterr().out
    expected = tmp_path / "x86_64.txt"
    expected.write_text(drawn)
    assert len(drawn.splitlines()) == COUNT and " refused: " not in drawn
    assert run(monkeypatch, "--expect", expected) == 0
    assert f"{COUNT} random cases of seed 3: 0 differ" in capsys.readouterr().out

    whole = processor_cases.digest

    def one_bit(*parts: object) -> str:
        changed = [p.copy() if isinstance(p, np.ndarray) else p for p in parts]
        for part in changed:
            if isinstance(part, np.ndarray) and part.size:
                part.reshape(-1).view(np.uint8)[-1] ^= 1
                break
        return whole(*changed)

    monkeypatch.setattr(processor_cases, "digest", one_bit)
    assert run(monkeypatch, "--expect", expected) == 1
    said = capsys.readouterr().out
    assert said.count("there: ") == 6 and "6 differ from x86_64.txt" in said  # those with pixels; shaders' results are bytes

    monkeypatch.setattr(processor_cases, "digest", whole)
    expected.write_text("".join(drawn.splitlines(keepends=True)[1:]))
    assert run(monkeypatch, "--expect", expected) == 1
    assert f"has {COUNT - 1} lines" in capsys.readouterr().err


def test_what_is_counted_is_part_of_it() -> None:
    class Stats:
        fragments_shaded, packets, tiles_ms = 3, 9, 0.5
        traffic: dict[str, int] = {}  # noqa: RUF012

    assert processor_cases.counts(Stats()) == {"fragments_shaded": 3, "traffic": {}}
    assert processor_cases.digest({"a": 1}) != processor_cases.digest({"a": 2})


def test_every_kind_varies_by_the_seed() -> None:
    for number in range(2):
        one, other = (next(processor_cases.lines(seed, 1, number)) for seed in (1, 2))
        assert one.partition(" ")[2] != other.partition(" ")[2]
