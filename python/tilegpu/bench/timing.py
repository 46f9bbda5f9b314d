"""Timing by turns: what every benchmark of :mod:`tilegpu.bench` measures with.

Identical runs on a shared machine differ by tens of percent, so renderers take turns inside one run, figures are medians, and ratios are
medians over the turns. Nothing here is a test.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tilegpu as tg


def frames_ms(run: Callable[[], object], seconds: float, least: int = 3) -> list[float]:
    """Milliseconds of each call of ``run`` for so many seconds, at least ``least`` calls."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def by_turns(runs: Mapping[str, Callable[[], object]], seconds: float, rounds: int) -> dict[str, list[float]]:
    """Each run's median milliseconds in each round; ``seconds`` for each run in all. Every run is warmed up by two calls."""
    for run in runs.values():
        run()
        run()
    medians: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            medians[name].append(statistics.median(frames_ms(run, seconds / rounds)))
    return medians


def ratio_of(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float, float]:
    """Median, least and greatest of theirs / ours over the rounds."""
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return statistics.median(ratios), min(ratios), max(ratios)


def busy_s() -> float:
    """CPU seconds of the whole machine since it started, idle and waiting left out."""
    ticks = [float(x) for x in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) * 0.01


def machine() -> dict[str, Any]:
    """The machine and the versions, for the head of a table."""
    info = tg.Device().info
    return {
        "tilegpu": tg.__version__,
        "cpu": info["cpu"],
        "threads": info["threads"],
        "lanes": info["lanes"],
        "jit_target": info["jit_target"],
        "llvm": info["llvm_version"],
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
