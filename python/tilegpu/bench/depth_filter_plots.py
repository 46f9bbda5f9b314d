"""Figures 5, 7 and 8 of Yu and Kim, from what :mod:`tilegpu.bench.depth_filter` measured. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tilegpu.bench import depth_filter_runs as bench
from tilegpu.bench.depth_filter_models import SIZE_PX, models
from tilegpu.bench.plots import load_pyplot

_PAPER_REJECTION, _PAPER_EFFECTIVE = 0.717, (0.64, 0.88)


def write_plots(rows: Sequence[bench.Row], folder: Path) -> list[Path]:
    """Writes the pictures into ``folder`` and says where; returns their paths."""
    pyplot = load_pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in (
        ("figure5", _figure5),
        ("figure7", _figure7),
        ("figure8", _figure8),
        ("complexity", _complexity),
    ):
        figure = draw(pyplot, rows)
        if figure is None:
            continue
        path = folder / f"depth_filter_{name}.png"
        figure.tight_layout()
        figure.savefig(path, dpi=90)
        pyplot.close(figure)
        written.append(path)
        print(f"wrote {path}")
    return written


def _figure5(pyplot: Any, rows: Sequence[bench.Row]) -> Any:
    """FP, SP and their sum over all positions, one plane."""
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.6), sharey=True)
    for axis, model in zip(axes, models()[:3], strict=True):
        curve = [bench.run_frames(model, "one_plane", 1, p)[0] for p in bench.POSITIONS]
        at = [row.position / 16 for row in curve]
        axis.plot(at, [r.in_front / r.fragments for r in curve], label="FP: in front")
        axis.plot(at, [r.survived / r.fragments for r in curve], label="SP: behind, survived")
        axis.plot(at, [(r.in_front + r.survived) / r.fragments for r in curve], "k", label="NRP = FP + SP")
        axis.set(title=f"({model.name}) {model.description}", xlabel="position of the plane (depth)")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share of all fragments")
    axes[0].legend()
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
