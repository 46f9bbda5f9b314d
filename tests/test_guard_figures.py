"""The guard of instruction counts has a figure for each of its scenes: one that has none is never compared."""

from __future__ import annotations

import ast
import json
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


def test_every_scene_of_the_guard_has_a_figure() -> None:
    tree = ast.parse((BENCHMARKS / "guard.py").read_text(encoding="utf-8"))
    scenes = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "SCENES"
    )
    figures = json.loads((BENCHMARKS / "guard.json").read_text(encoding="utf-8"))
    assert set(figures["frames"]) == set(scenes)
    missing = {name for name in scenes if " " not in name} - {name.rsplit(" ", 1)[0] for name in figures["shaders"]}
    assert not missing
