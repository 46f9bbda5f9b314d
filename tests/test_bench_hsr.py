"""``tilegpu bench hsr`` and the table of docs/hidden_surface_removal.md, which is what it prints of one scene; its help."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tilegpu.bench import hsr
from tilegpu.bench.hsr_model import measure
from tilegpu.cli import main
from tilegpu.cli.common import load_scene

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "hidden_surface_removal.md"
COLUMNS = (
    "fragments_rasterized", "fragments_early_killed", "fragments_killed_by_prepass", "fragments_shaded", "fragments_visible",
    "arithmetic_operations", "texture_operations",
)  # fmt: skip


def rows_under(heading: str) -> dict[str, list[int]]:
    """The table whose first cell is ``heading``: numbers by what stands before them."""
    lines = iter(DOCUMENT.read_text(encoding="utf-8").splitlines())
    next(line for line in lines if line.startswith(f"| {heading} |"))
    next(lines)
    found = {}
    for line in lines:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found[name] = [int(cell.replace(",", "")) for cell in cells]
    return found


def test_the_documents_table_is_what_the_bench_counts(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = rows_under("heavy_overdraw_512, 256 x 256")
    assert list(wanted) == ["off", "default", "pre_pass"]
    choices = [word for name in wanted for word in ("--hsr", name)]
    assert main(["bench", "hsr", "heavy_overdraw_512", "--size", "256x256", "--rounds", "1", "--json", *choices]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert {row["hsr"]: [row[name] for name in COLUMNS] for row in rows} == wanted


def test_the_documents_words_about_bins() -> None:
    """Near ones first within a bin: how many are killed early follows from its size, what is shaded does not."""
    import tilegpu as tg
    from tilegpu.scene import SceneRenderer

    frame = load_scene("heavy_overdraw_512").frame((256, 256))
    found = {}
    for bin_px in (32, 64, 128):
        stats = SceneRenderer(tg.Device(bin_px=bin_px)).render(frame, read=False).stats
        assert isinstance(stats, tg.PassStats)
        found[bin_px] = (stats.fragments_early_killed, stats.fragments_shaded)
    assert found == {32: (668_479, 65_483), 64: (645_721, 65_483), 128: (547_205, 65_483)}


def test_help_names_the_scenes_of_both_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "hsr", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"default: {', '.join(hsr.SCENES)}" in said
    assert f"with --profile also {', '.join(hsr.MODELLED_SCENES[len(hsr.SCENES) :])}" in said


COSTS = Path(__file__).resolve().parent.parent / "docs" / "costs.md"
SHOWN = ("GPU cycles", "fragment read", "external read", "external write", "arithmetic", "texture")


def costs_table() -> dict[str, list[str]]:
    """Of docs/costs.md, reductions in percent by scene; without Arm's row."""
    lines = iter(COSTS.read_text(encoding="utf-8").splitlines())
    next(line for line in lines if line.startswith("| scene | cycles | fragment read |"))
    next(lines)
    found = {}
    for line in lines:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if not line.startswith("|") or name.startswith("*"):
            break
        found[name] = cells
    return found


@pytest.mark.parametrize("scene", costs_table())
def test_the_documents_reductions_are_what_the_model_prints(scene: str) -> None:
    row = measure(load_scene(scene), None, "immortalis-g925")[0]
    assert [f"{row['reduction'][column]:.1f}" for column in SHOWN] == costs_table()[scene]
