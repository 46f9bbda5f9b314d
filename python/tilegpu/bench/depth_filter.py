"""``tilegpu bench depth-filter``: the experiments of Yu and Kim, "An Adaptive Spatial Filter for Early Depth Test".

512 x 512 pixels, no culling, the models of :mod:`tilegpu.bench.depth_filter_models`: rejection ratio, effective rejection ratio and the
filter's position for each frame (figure 7), FP, SP and their sum over all positions (figure 5), and the required bandwidth of section 5
beside the conventional one (figure 8). Counts only: nothing here is timed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tilegpu as tg
from tilegpu.bench.depth_filter_models import SIZE_PX, Model, complexity_series, models
from tilegpu.scene.render import SceneRenderer

#: The four systems, with the bits that a pixel takes.
SYSTEMS = {"one_plane": 1, "two_plane": 2, "three_plane": 2, "two_plane_skip": 2}
#: Positions of the filter: multiples of a sixteenth of the depth range.
POSITIONS = range(1, 16)
#: Pixels a second of the paper's reference (Radeon 9700 Pro), and its miss rate for one plane and model (b).
FILL_RATE, PAPER_MISS_RATE = 2.6e9, 0.057
_LINE_px, _ACCESS_B, _UNREAD_B = 64, 20, 16


def required_bandwidth(
    rejection: float, skipped: float, miss_rate: float, bits: int, fill_rate: float = FILL_RATE
) -> float:
    """Bytes a second that the pixels and the filter move: section 5 of the paper.

    ``rejection`` (RR), ``skipped`` (SR: depth not read) and ``miss_rate`` (MR: of accesses to the filter's memory) are shares of all
    fragments, ``bits`` the filter's bits for a pixel (0: no filter, the conventional test).
    """
    pixels = fill_rate * (skipped * _UNREAD_B + (1 - rejection - skipped) * _ACCESS_B)
    return pixels + 2 * fill_rate * miss_rate * _LINE_px * bits / 8


@dataclass(frozen=True)
class Row:
    """One frame of one model on one system. Ratios are shares of the fragments; the bandwidth is that of the paper's formula."""

    model: str
    system: str
    frame: int
    position: int
    fragments: int
    in_front: int
    survived: int
    rejected: int
    failed: int
    rejection: float
    effective_rejection: float
    depth_reads_skipped: float
    miss_rate: float
    required_GBps: float
    conventional_GBps: float


def _row(model: Model, system: str, frame: int, stats: Any) -> Row:
    s, fragments = stats.depth_filter, stats.fragments_rasterized
    rejection = s["samples_rejected"] / fragments
    hidden = s["samples_rejected"] + s["samples_failed"]
    skipped = s["reads_skipped"] / fragments
    # A line of the filter comes in and goes out once for each bin that touches it; the paper's cache is not described.
    miss_rate = s["lines"] / fragments
    return Row(
        model.name, system, frame, s["position"], fragments, s["samples_in_front"], s["samples_survived"], s["samples_rejected"],
        s["samples_failed"], rejection, s["samples_rejected"] / hidden if hidden else 0.0, skipped, miss_rate,
        required_bandwidth(rejection, skipped, miss_rate, SYSTEMS[system]) / 1e9, required_bandwidth(0, 0, 0, 0) / 1e9,
    )  # fmt: skip


def run_frames(model: Model, system: str, frames: int, position: int | None = None) -> list[Row]:
    """The model drawn ``frames`` times on a new device; ``position`` holds the planes where they are (1 to 15)."""
    fixed = "" if position is None else f"@{position}"
    renderer = SceneRenderer(tg.Device(hsr=[f"depth_filter:{system}{fixed}"]))
    frame = model.frame(SIZE_PX)
    return [_row(model, system, k, renderer.render(frame, read=False).stats) for k in range(1, frames + 1)]


def best_position(model: Model, system: str) -> Row:
    """Exhaustive search: the position that rejects most (the nearest of equals)."""
    return max((run_frames(model, system, 1, p)[0] for p in POSITIONS), key=lambda row: (row.rejected, -row.position))


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
    chosen = models() + (complexity_series() if options.series else ())
    rows = [row for model in chosen for system in SYSTEMS for row in run_frames(model, system, options.frames)]
    best = {(m.name, s): best_position(m, s) for m in models()[:3] for s in SYSTEMS}
    if options.plots:
        from tilegpu.bench.depth_filter_plots import write_plots

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
