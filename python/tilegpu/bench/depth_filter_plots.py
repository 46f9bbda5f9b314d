"""Figures 3, 5, 7, 8 of Yu and Kim, from what :mod:`tilegpu.bench.depth_filter` measured, and the sweep of spacings. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tilegpu.bench import depth_filter_runs as bench
from tilegpu.bench.depth_filter_cells import CELLS, STEPS, Cells
from tilegpu.bench.depth_filter_curves import DISTRIBUTIONS, survived
from tilegpu.bench.depth_filter_models import SIZE_PX, models
from tilegpu.bench.depth_filter_peers import Misses
from tilegpu.bench.depth_filter_sweep import Sweep
from tilegpu.bench.plots import load_pyplot
from tilegpu.whole_file import whole_file

_PAPER_REJECTION, _PAPER_EFFECTIVE = 0.717, (0.64, 0.88)


def write_plots(
    rows: Sequence[bench.Row],
    cells: Mapping[str, Cells],
    swept: Sequence[Sweep],
    curve: Sequence[Misses],
    folder: Path,
) -> list[Path]:
    """Writes the pictures into ``folder`` and says where; returns their paths. ``cells``: of each model, by name."""
    pyplot = load_pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in (
        ("figure3", _figure3(pyplot, cells)),
        ("figure5", _figure5(pyplot, cells)),
        ("figure7", _figure7(pyplot, rows)),
        ("figure8", _figure8(pyplot, rows)),
        ("complexity", _complexity(pyplot, rows)),
        ("sweep", _sweep(pyplot, swept)),
        ("misses", _misses(pyplot, curve)),
    ):
        if figure is None:
            continue
        path = folder / f"depth_filter_{name}.png"
        figure.tight_layout()
        with whole_file(path, "--plots") as stream:
            figure.savefig(stream, dpi=90, format="png")
        pyplot.close(figure)
        written.append(path)
        print(f"wrote {path}")
    return written


def _figure3(pyplot: Any, cells: Mapping[str, Cells]) -> Any:
    """The three distributions, and those of the models."""
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    at = (np.arange(CELLS) + 0.5) / CELLS
    for p in DISTRIBUTIONS:
        axes[0].plot(at, p.density(at), label=f"{p.name}: {p.formula}")
    for model in models()[:3]:
        axes[1].plot(at, cells[model.name].table[:, :CELLS].sum(0) * CELLS, label=f"({model.name}) {model.description}")
    for axis, title in zip(axes, ("closed forms", "models"), strict=True):
        axis.set(title=title, xlabel="depth", ylim=(0, None))
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    axes[0].set_ylabel("density of pixels")
    return figure


def _figure5(pyplot: Any, cells: Mapping[str, Cells]) -> Any:
    """FP, SP and their sum over all positions: the closed forms above; below the models with one plane, and what equation 4 makes of the
    measured FP."""
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 6.8), sharex=True, sharey=True)
    fine, steps = np.arange(CELLS + 1) / CELLS, np.arange(1, STEPS)
    for axis, p in zip(axes[0], DISTRIBUTIONS, strict=True):
        front = p.front(fine)
        _curves(axis, fine, front, survived(fine, front))
        axis.set(title=f"{p.name} = {p.formula}")
    for axis, model in zip(axes[1], models()[:3], strict=True):
        counts = [cells[model.name].count("one_plane", int(position)) for position in steps]
        front, at = np.array([c.front for c in counts]), steps / STEPS
        _curves(axis, at, front, np.array([c.survived for c in counts]))
        axis.plot(at, survived(at, front), "C1:", label="SP by equation 4, of the measured FP")
        axis.plot(at, front + survived(at, front), "k:", label="NRP by equation 4")
        axis.set(title=f"({model.name}) {model.description}", xlabel="position of the plane (depth)")
    for row, place in zip(axes, ("upper right", "lower left"), strict=True):
        row[0].set_ylabel("share of all fragments")
        row[0].legend(fontsize=7, loc=place)
    return figure


def _curves(axis: Any, at: Any, front: Any, behind: Any) -> None:
    axis.plot(at, front, label="FP: in front")
    axis.plot(at, behind, label="SP: behind, survived")
    axis.plot(at, front + behind, "k", label="NRP = FP + SP")
    axis.grid(alpha=0.3)


def _misses(pyplot: Any, curve: Sequence[Misses]) -> Any:
    """Miss rates over the size of the filter's cache, and the paper's."""
    if not curve:
        return None
    figure, axis = pyplot.subplots(figsize=(8, 4))
    for k, model in enumerate(dict.fromkeys(row.model for row in curve)):
        for shape, style in (((8, 8), "-"), ((16, 4), "--")):
            series = [row for row in curve if (row.model, row.line_px) == (model, shape)]
            label = f"({model}), lines of {shape[0]}x{shape[1]} pixels"
            axis.plot(
                [r.size_B for r in series], [r.miss_rate for r in series], f"C{k}{style}", marker=".", label=label
            )
    axis.axhline(bench.PAPER_MISS_RATE, color="gray", ls=":", label="the paper, one plane, (b): 5.7 %")
    axis.set(xlabel="bytes of the cache, one bit a pixel", ylabel="misses for each fragment", ylim=(0, 0.16))
    axis.set_xscale("log", base=2)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    return figure


def _sweep(pyplot: Any, swept: Sequence[Sweep]) -> Any:
    """Gain, and frames to settle, over the spacing of the planes."""
    if not swept:
        return None
    names = list(dict.fromkeys(row.model for row in swept))
    figure, axes = pyplot.subplots(2, len(names), figsize=(12, 6.4), sharex=True, sharey="row", squeeze=False)
    for column, name in enumerate(names):
        for k, system in enumerate(bench.SYSTEMS):
            for adaptation, style in (("secant", "-"), ("counters", "--")):
                series = [r for r in swept if (r.model, r.system, r.adaptation) == (name, system, adaptation)]
                spacing, by_counters = [r.spacing for r in series], adaptation == "counters"
                label = None if by_counters else system
                if len(series) == 1:  # one plane: a level
                    axes[0][column].axhline(series[0].gain, color=f"C{k}", ls=style, label=label)
                    axes[1][column].axhline(series[0].frames_to_settle, color=f"C{k}", ls=style, label=label)
                    continue
                axes[0][column].plot(spacing, [r.gain for r in series], f"C{k}{style}", marker=".", label=label)
                # What skips reads settles as what does not: the curve below must show beside the one above.
                width = 4.0 if system == "two_plane" else 1.5
                axes[1][column].plot(spacing, [r.frames_to_settle for r in series], f"C{k}{style}", marker=".", lw=width, label=label)
        axes[0][column].set(title=f"({name})")
        axes[1][column].set(xlabel="64ths of the depth range between planes")
        for row in axes:
            row[column].grid(alpha=0.3)
    axes[0][0].set_ylabel("gain at 5.7 % misses, after adaptation")
    axes[1][0].set_ylabel("frames to settle (12: never)")
    axes[0][0].legend(fontsize=8, title="by the secant; dashed: by counters", title_fontsize=8)
    return figure


def _figure7(pyplot: Any, rows: Sequence[bench.Row]) -> Any:
    """Rejection ratio and position, frame by frame: by model (three planes), by system (model b)."""
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 6.4), sharex=True)
    for column, (title, picked, label) in enumerate(
        (
            ("three planes", [r for r in rows if r.system == "three_plane" and r.model in "abc"], "model"),
            ("model (b)", [r for r in rows if r.model == "b"], "system"),
        )
    ):
        for name in dict.fromkeys(getattr(r, label) for r in picked):
            series = [r for r in picked if getattr(r, label) == name]
            at = [r.frame for r in series]
            axes[0][column].plot(at, [r.rejection for r in series], "o-", ms=3, label=str(name))
            axes[1][column].plot(at, [r.position / 16 for r in series], "o-", ms=3, label=str(name))
        axes[0][column].axhline(_PAPER_REJECTION, color="gray", ls=":", label="the paper's best, 71.7 %")
        axes[0][column].set(title=title, ylim=(0, 0.8))
        axes[1][column].set(xlabel="frame", ylim=(0, 1))
        axes[0][column].legend(fontsize=8)
    axes[0][0].set_ylabel("rejection ratio")
    axes[1][0].set_ylabel("position (depth)")
    return figure


def _figure8(pyplot: Any, rows: Sequence[bench.Row]) -> Any:
    """Required bandwidth of all systems and the conventional one, after the last frame."""
    figure, axis = pyplot.subplots(figsize=(9, 4))
    names = list(dict.fromkeys(r.model for r in rows if r.model in "abcd"))
    systems = list(bench.SYSTEMS)
    width = 0.16
    for k, system in enumerate(systems):
        last = [[r for r in rows if r.model == n and r.system == system][-1] for n in names]
        axis.bar([i + (k + 1) * width for i in range(len(names))], [r.required_GBps for r in last], width, label=system)
    axis.bar(
        range(len(names)),
        [bench.required_bandwidth(0, 0, 0, 0) / 1e9] * len(names),
        width,
        color="gray",
        label="conventional",
    )
    axis.set_xticks([i + 2 * width for i in range(len(names))], [f"({n})" for n in names])
    axis.set_ylabel("required bandwidth (GB/s at 2.6 Gpixel/s)")
    axis.legend(fontsize=8)
    return figure


def _complexity(pyplot: Any, rows: Sequence[bench.Row]) -> Any:
    """Rejection over depth complexity, beside the paper's figures."""
    picked = [r for r in rows if r.model.startswith("n")]
    if not picked:
        return None
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), sharex=True)
    width_px, height_px = SIZE_PX
    last_frame = max(r.frame for r in picked)
    for system in bench.SYSTEMS:
        series = sorted((r for r in picked if r.system == system and r.frame == last_frame), key=lambda r: r.fragments)
        at = [r.fragments / (width_px * height_px) for r in series]
        axes[0].plot(at, [r.rejection for r in series], "o-", ms=3, label=system)
        axes[1].plot(at, [r.effective_rejection for r in series], "o-", ms=3, label=system)
    axes[0].axhline(_PAPER_REJECTION, color="gray", ls=":", label="the paper's best")
    axes[1].axhspan(*_PAPER_EFFECTIVE, color="gray", alpha=0.2, label="the paper's range")
    axes[0].set(xlabel="fragments for each pixel of the screen", ylabel="rejection ratio", ylim=(0, 1))
    axes[1].set(xlabel="fragments for each pixel of the screen", ylabel="effective rejection ratio", ylim=(0, 1))
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    return figure
