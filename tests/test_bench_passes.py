"""`tilegpu bench passes`: its rows are the arithmetic of areas and tiles."""

from __future__ import annotations

import json

import pytest

import tilegpu as tg
from tilegpu.bench import passes
from tilegpu.cli import main


def test_bytes_of_both_ways() -> None:
    size, area = (100, 80), (21, 19, 37, 30)
    device = tg.Device(profile="mali-g725")  # tiles of 64x64
    rows = {(r.tiling, r.samples, r.mode): r for r in passes.measure(device, {"odd": area}, (1, 4), size, 0)}
    x, y, width, height = passes.rounded(area, (64, 64), size)
    assert (x, y, width, height) == (0, 0, 64, 64)
    for samples in (1, 4):
        tile_height = 64 if samples == 1 else 32
        old, new = rows["linear", samples, "old"], rows["linear", samples, "border"]
        whole = 64 * (64 if tile_height == 64 or 19 + 30 > 32 else 32)
        assert old.load_B == old.store_B == whole * 4 * samples
        assert new.load_B == new.border_B == 0
        assert new.store_B == 37 * 30 * 4 * samples
    blocks = rows["block_compressed", 1, "border"]
    assert blocks.load_B == 0 and blocks.border_B > 0
    assert rows["block_compressed", 1, "old"].load_B > 0


def test_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "AREAS", {"odd": (21, 19, 37, 30)})
    monkeypatch.setattr(passes, "SIZE", (100, 80))
    assert main(["bench", "passes", "--seconds", "0", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {r["mode"] for r in rows} == {"old", "border"} and all(r["ms"] is None for r in rows)
    assert main(["bench", "passes", "--seconds", "0"]) == 0
    assert "old B/px" in capsys.readouterr().out
