"""``tilegpu bench depth-filter``: the experiments of Yu and Kim, "An Adaptive Spatial Filter for Early Depth Test".

512 x 512 pixels, no culling, the models of :mod:`tilegpu.bench.depth_filter_models`: rejection ratio, effective rejection ratio and the
filter's position for each frame (figure 7), FP, SP and their sum over all positions (figure 5), and the required bandwidth of section 5
beside the conventional one (figure 8). Counts only: nothing here is timed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tilegpu.bench.depth_filter_models import Model, complexity_series, models
from tilegpu.bench.depth_filter_plots import write_plots
from tilegpu.bench.depth_filter_runs import PAPER_MISS_RATE, SYSTEMS, Row, best_position, required_bandwidth, run_frames
from tilegpu.bench.plots import load_pyplot
from tilegpu.terminal import check_output, progress

__all__ = ["PAPER_MISS_RATE", "SYSTEMS", "Row", "best_position", "required_bandwidth", "run_frames"]


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "depth-filter",
        help="the adaptive depth filter on the models of its paper",
        description=__doc__.split("\n\n")[1].replace("\n", " "),
    )
    parser.add_argument("--frames", type=int, default=8, help="frames of each model (default 8)")
    parser.add_argument("--series", action="store_true", help="also scenes of depth complexity 2 to 14")
    parser.add_argument("--plots", metavar="DIR", help="write figures 5, 7 and 8 as PNG (needs matplotlib)")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    if options.plots:
        load_pyplot()
        check_output(options.plots, "--plots", folder=True)
    chosen = models() + (complexity_series() if options.series else ())
    runs = [(model, system) for model in chosen for system in SYSTEMS]
    rows = [
        row
        for model, system in progress(runs, len(runs), "bench depth-filter")
        for row in run_frames(model, system, options.frames)
    ]
    best = {(m.name, s): best_position(m, s) for m in models()[:3] for s in SYSTEMS}
    if options.plots:
        write_plots(rows, Path(options.plots))
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        print_table(rows, best, chosen)
    return 0


def print_table(rows: Iterable[Row], best: dict[tuple[str, str], Row], chosen: Iterable[Model]) -> None:
    """Positions frame by frame, then the last frame's ratios and bandwidth."""
    for model in chosen:
        print(f"({model.name}) {model.description}")
    ratios = f"{'best':>5}{'reject':>9}{'effective':>10}{'unread':>8}{'GB/s':>7}{'gain':>6}"
    print(f"\n{'model':6}{'system':16}{'positions, frame by frame':32}{ratios}")
    frames: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        frames.setdefault((row.model, row.system), []).append(row)
    for (name, system), series in frames.items():
        last = series[-1]
        found = best.get((name, system))
        print(
            f"{name:6}{system:16}{' '.join(str(r.position) for r in series):32}{found.position if found else '':>5}"
            f"{last.rejection:9.1%}{last.effective_rejection:10.1%}{last.depth_reads_skipped:8.1%}{last.required_GBps:7.1f}"
            f"{last.conventional_GBps / last.required_GBps:6.2f}"
        )
    print(
        "\npositions in 16ths of the depth range; best: by exhaustive search; effective: of the fragments that the full test rejects;"
    )
    print(
        "GB/s: the paper's formula at 2.6 Gpixel/s, conventional 52.0. The paper: 71.7 % rejected, 64 to 88 % effective, gain 3.03."
    )
