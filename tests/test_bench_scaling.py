"""``tilegpu bench scaling`` and ``startup``: what their points draw, the rows of --json, and what ``import tilegpu`` loads."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tilegpu.bench import scaling
from tilegpu.cli import main


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("draws", [1, 7])
@pytest.mark.parametrize("samples", [1, 4])
def test_a_point_draws_what_it_says(layers: int, draws: int, samples: int) -> None:
    """Each layer covers every pixel once, whatever the cut into draws."""
    point = {**scaling.BASE, "triangles": 600, "size_px": 96, "layers": layers, "draws": draws, "samples": samples}
    row = scaling.measure_point(point, 0.0)
    assert row["triangles"] == layers * scaling.grid(600, layers)[2]
    assert row["draws"] == draws and row["splits"] == 0
    # Hidden layers need not be shaded, visible pixels must.
    assert 96 * 96 <= row["fragments_shaded"] <= layers * 96 * 96 * 2
    if layers == 1 and samples == 1:
        assert row["fragments_shaded"] == 96 * 96


def test_memory_is_the_heaps_not_the_scenes() -> None:
    """Beyond the heap the pass is split: four times the triangles, all visible, take no more memory of the process."""
    point = {**scaling.BASE, "threads": 1, "tiler_heap_B": 1 << 20}
    some, many = (scaling.measure_apart({**point, "triangles": n}, 0.0) for n in (120_000, 480_000))
    assert 0 < some["splits"] < many["splits"] and many["heap_B"] > 3 * some["heap_B"]
    assert many["peak_B"] < some["peak_B"] + (8 << 20)


def test_points() -> None:
    assert [p["threads"] for p in scaling.points("threads", 6)] == [1, 2, 4, 6]
    assert [p["triangles"] for p in scaling.points("triangles", 2)][-1] == 10_000_000
    assert all(p["triangles"] == 2_000 * p["layers"] for p in scaling.points("layers", 2))
    rows = [{"size_px": 100, "least_ms": 1.0}, {"size_px": 200, "least_ms": 4.0}, {"size_px": 400, "least_ms": 8.0}]
    assert scaling.growth("size_px", rows) == [None, pytest.approx(1.0), pytest.approx(0.5)]


def test_rows(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--series", "draws", "--limit", "10", "--seconds", "0", "--json"]
    assert main(["bench", "scaling", *arguments]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r["series"], r["draws"], r["triangles"]) for r in rows] == [("draws", 1, 99904), ("draws", 10, 99904)]
    assert rows[0]["growth"] is None and all(r["peak_B"] > 0 and r["ms"] > 0 for r in rows)


def test_startup_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "startup", "--runs", "1", "--json"]) == 0
    rows = {r["what"]: r for r in json.loads(capsys.readouterr().out)}
    assert {"import tilegpu", "triangle, warm", "pipeline, cold", "pipeline, from disk", "the same, first in its process"} <= set(rows)


def test_import_loads_only_what_it_needs() -> None:
    """A picture's file format, the command line, scenes and peers are imported when they are used."""
    code = "import sys, numpy; had = set(sys.modules); import tilegpu; print(*sorted(set(sys.modules) - had))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"PIL", "moderngl", "glfw", "trimesh", "matplotlib", "argparse", "asyncio", "subprocess"}
    assert not loaded & {"html", "json"} and "numpy.typing" not in done.stdout.split()
    assert not [n for n in done.stdout.split() if n.startswith(("tilegpu.scene", "tilegpu.cli", "tilegpu.bench"))]
