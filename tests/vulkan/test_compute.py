"""Compute on the driver by others: taichi's kernels and wgpu's, right beside NumPy, the same bits for any threads and lanes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from programs import run


@pytest.mark.parametrize("program", ["taichi_kernels", "wgpu_compute"])
def test_kernels(clients: str, program: str, tmp_path: Path) -> None:
    path = tmp_path / "out.npy"
    words = [clients, str(Path(__file__).parent / f"{program}.py"), str(path)]
    results = []
    for settings in ({}, {"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8"}):
        run(words, validate=False, **settings)
        results.append(np.load(path))
    assert all(np.array_equal(result, results[0]) for result in results)
