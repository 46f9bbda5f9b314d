"""``tilegpu bench msaa``: the article's factors from the ledger, at a size that is no multiple of any tile; the rows of
--json; the curve of docs/costs.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tilegpu as tg
from tilegpu.bench import msaa_model
from tilegpu.bench.msaa import modelled_rows, moved_bytes
from tilegpu.bench.msaa_model import other_samples
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


DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "costs.md"
DOCUMENTED_SIZE = (1920, 1080)


def documented() -> dict[int, list[str]]:
    """The table of docs/costs.md by samples: cells as they stand there."""
    lines = iter(DOCUMENT.read_text(encoding="utf-8").splitlines())
    heading = next(line for line in lines if line.startswith("| samples | at most"))
    assert [cell.strip() for cell in heading.strip("|").split("|")] == [
        "samples", "at most, 2N + 1", "device", "`multisampling`", "model / device", "k", "`msaa`", "model / device", "k",
        "k of the device",
    ]  # fmt: skip
    next(lines)
    rows = {}
    for line in lines:
        if not line.startswith("|"):
            break
        samples, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[int(samples)] = cells
    return rows


def cells_of(row: dict[str, Any]) -> list[str]:
    """What the command prints of a row, as the document has it."""
    return [f"{row['speedup']:.1f}", f"{row['speedup'] / row['published']:.2f}", f"{row['other_samples']:.2f}"]


def test_the_documents_curve_is_what_the_command_prints() -> None:
    """Both scenes at the document's size: fewest and most samples from the model, those between by the constant that explains the curve."""
    table = documented()
    assert list(table) == [2, 4, 8, 16]
    for family, first in (("multisampling", 2), ("msaa", 5)):
        rows = {row["samples"]: row for row in modelled_rows("immortalis-g925", family, (2, 16), DOCUMENTED_SIZE)}
        for samples, cells in table.items():
            most, device, *_ = cells
            published = msaa_model.PUBLISHED[samples]
            assert (most, device, cells[-1]) == (f"{2 * samples + 1}", f"{published}", f"{other_samples(published, samples):.2f}")
            if samples in rows:
                assert cells[first : first + 3] == cells_of(rows[samples]), (family, samples)
                assert rows[samples]["limited_by"] == "bus"
            else:
                speedup, ratio, k = map(float, cells[first : first + 3])
                assert rows[2]["other_samples"] - 0.005 <= k <= rows[16]["other_samples"] + 0.005, (family, samples)
                assert speedup == pytest.approx((2 * samples + 1 + k) / (1 + k), abs=0.1), (family, samples)
                assert ratio == pytest.approx(speedup / published, abs=0.01), (family, samples)
        # In the tile 16 samples cost 1 % more than 2.
        assert round(100 * (rows[16]["in_tile_cycles"] / rows[2]["in_tile_cycles"] - 1)) == 1


def test_what_the_footnote_says_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "msaa", "--scene", "msaa", "--samples", "4", "--size", "64x64", "--frames", "1", "--profile", "mali-g57"]) == 0
    said = capsys.readouterr().out
    assert "by the ledgers of the pass and of the command" in said and "by its definition" not in said
