"""``tilegpu bench scaling --serial``: what is read of callgrind's files, exponents, and one series counted where valgrind is."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tilegpu.bench import scaling_serial
from tilegpu.bench.scaling_serial import Row, costs, with_growth
from tilegpu.cli import main

CALLGRIND = """version: 1
events: Ir Ge
fn=(1) _ZN7tilegpu19recorded_submissionERKSt8functionIFvvEE
0 100 1
cfn=(2) 0x0000000000001234
calls=1 0
0 5000 7

fn=(2)
0 300
cfn=(3) _ZN7tilegpu13recorded_jobsERKSt8functionIFvvEE
calls=2 0
0 4000 5
cfn=(4) malloc
calls=9 0
0 90
cfn=(3)
calls=1 0
0 500

fn=(3)
0 4500 5
totals: 5100 8
"""


def test_costs_of_a_file(tmp_path: Path) -> None:
    """All, less the calls of recorded_jobs with what they call; counts of the right are left out where they are 0."""
    path = tmp_path / "counts.1"
    path.write_text(CALLGRIND)
    assert costs(path) == (5100, 4500, 5)
    path.write_text("nothing")
    with pytest.raises(RuntimeError, match="no counts"):
        costs(path)


def test_growth() -> None:
    rows = with_growth(
        [Row("size_px", 10, 100, 1, 0), Row("size_px", 100, 100, 1, 0), Row("size_px", 1000, 1000, 1, 0)]
    )
    assert [row.growth for row in rows] == [None, 0, pytest.approx(1)]
    assert [row.finding for row in rows] == [False, False, True]
    commands = with_growth([Row("draws", 1, 100, 1, 0), Row("draws", 10, 1000, 1, 0)])
    assert commands[1].growth == pytest.approx(1) and not commands[1].finding


@pytest.mark.parametrize("series", tuple(scaling_serial.SERIES))
def test_points_run(series: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What the process under callgrind does, without it."""
    values = scaling_serial.SERIES[series][:2]
    scaling_serial.run_points(series, values, threads=2)
    assert capsys.readouterr().out.split() == [str(v) for v in values]


def test_valgrind_is_asked_for(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["bench", "scaling", "--serial"]) != 0
    assert "install it (apt-get install valgrind)" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
@pytest.mark.skipif("TILEGPU_SANITIZED" in os.environ, reason="the sanitizers' instructions are counted too, and grow")
def test_nothing_grows_with_workgroups(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "scaling", "--serial", "--series", "workgroups", "--limit", "1024", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["value"] for row in rows] == [1, 64, 1024]
    assert all(0 < row["serial"] < 100_000 for row in rows) and not any(row["finding"] for row in rows)
    assert rows[2]["jobs"] > 5 * rows[1]["jobs"]
