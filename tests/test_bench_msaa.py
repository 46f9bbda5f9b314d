"""``tilegpu bench msaa``: the article's factors from the ledger, at a size that is no multiple of any tile; the rows of --json."""

from __future__ import annotations

import json

import pytest

import tilegpu as tg
from tilegpu.bench.msaa import moved_bytes
from tilegpu.cli import main

SIZE = (203, 131)


@pytest.mark.parametrize(("samples", "factor"), [(2, 5), (4, 9), (8, 17), (16, 33)])
@pytest.mark.parametrize("family", ["multisampling", "msaa"])
def test_samples_moved(family: str, samples: int, factor: int) -> None:
    device = tg.Device()
    in_tile = moved_bytes(device, family, samples, "in_tile", SIZE)
    assert in_tile == SIZE[0] * SIZE[1] * 4
    assert moved_bytes(device, family, samples, "separate", SIZE) == factor * in_tile


def test_rows(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--scene", "msaa", "--samples", "1", "--samples", "4", "--size", "203x131", "--frames", "1", "--json"]
    assert main(["bench", "msaa", *arguments]) == 0
    rows = json.loads(capsys.readouterr().out)
    plain = [r for r in rows if "ms" in r]
    assert [(r["scene"], r["samples"], r["mode"]) for r in plain] == [
        ("msaa", 1, "in_tile"),
        ("msaa", 4, "in_tile"),
        ("msaa", 4, "separate"),
    ]
    assert set(plain[0]) == {"scene", "samples", "mode", "samples_moved_per_px", "bytes", "ms"}
    assert [r["samples_moved_per_px"] for r in plain] == [1, 1, 9]
    # With everything on, the separate way still moves more.
    on = {r["mode"]: r["bytes"] for r in rows if "mode" in r and "ms" not in r and r["samples"] == 4}
    assert on["in_tile"] < on["separate"]


def test_a_size_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "msaa", "--size", "big"]) == 2
    assert "WIDTHxHEIGHT" in capsys.readouterr().err
