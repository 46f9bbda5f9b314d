"""Compute on the driver by others: kernels of taichi, wgpu, ncnn, Slang and vkdispatch, right beside NumPy or the CPU's, the same bits for
any threads and lanes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from programs import run

#: Programs, and the version of Vulkan that each asks for (None: the driver's default). slangpy takes no device of 1.1; vkdispatch
#: calls what 1.2 made part of the core by its names there, without a look at the device's version.
PROGRAMS = {"taichi_kernels": None, "wgpu_compute": None, "ncnn_layers": None, "slang_kernels": "1.3", "fourier_kernels": "1.2"}


@pytest.mark.parametrize("program", PROGRAMS)
def test_kernels(clients: str, program: str, tmp_path: Path) -> None:
    path = tmp_path / "out.npy"
    words = [clients, str(Path(__file__).parent / f"{program}.py"), str(path)]
    version = PROGRAMS[program]
    asked = {"TILEGPU_VULKAN": version} if version else {}
    results = []
    for settings in ({}, {"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8"}):
        run(words, 300, validate=False, **asked, **settings)
        results.append(np.load(path))
    assert all(np.array_equal(result, results[0]) for result in results)
