"""``tilegpu bench depth-filter``: the experiments of Yu and Kim, "An Adaptive Spatial Filter for Early Depth Test".

512 x 512 pixels, no culling, the models of :mod:`tilegpu.bench.depth_filter_models`: rejection ratio, effective rejection ratio and the
filter's position for each frame (figure 7), FP, SP and their sum over all positions beside the closed forms (figure 5), the required
bandwidth of section 5 beside the conventional one (figure 8) and beside Hyper-Z and mid-texturing, with caches of several sizes; with
``--sweep`` all spacings of planes and both ways to move them. Counts only: nothing here is timed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tilegpu.bench.depth_filter_cells import Cells
from tilegpu.bench.depth_filter_curves import closed_forms
from tilegpu.bench.depth_filter_models import Model, complexity_series, models
from tilegpu.bench.depth_filter_peers import FILTER_CACHES, Misses, Peer, compare, miss_curve
from tilegpu.bench.depth_filter_plots import write_plots
from tilegpu.bench.depth_filter_runs import PAPER_MISS_RATE, SYSTEMS, Row, best_position, required_bandwidth, run_frames
from tilegpu.bench.depth_filter_stream import stream_of
from tilegpu.bench.depth_filter_sweep import FRAMES, Sweep, sweep
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
    parser.add_argument(
        "--sweep", action="store_true", help="also each spacing of the planes, and the adaptation by counters"
    )
    parser.add_argument(
        "--plots", metavar="DIR", help="write figures 3, 5, 7 and 8 and what was asked for as PNG (needs matplotlib)"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
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
    streams = [(m, stream_of(m)) for m in progress(models(), len(models()), "fragments in order")]
    cells = {m.name: Cells(stream) for m, stream in streams}
    peers = [peer for m, stream in streams for peer in compare(m, stream, cells[m.name])]
    swept = sweep([(m.name, cells[m.name], len(stream)) for m, stream in streams[:3]]) if options.sweep else []
    curve = [row for m, stream in streams[:3] for row in miss_curve(m, stream)] if options.sweep else []
    if options.plots:
        write_plots(rows, cells, swept, curve, Path(options.plots))
    if options.json:
        found: dict[str, Sequence[Any]] = {
            "frames": rows,
            "closed_forms": closed_forms(),
            "peers": peers,
            "sweep": swept,
            "misses": curve,
        }
        print(json.dumps({name: [asdict(row) for row in part] for name, part in found.items()}, indent=1))
        return 0
    print_table(rows, best, chosen)
    print_closed_forms()
    print_peers(peers)
    print_misses(curve)
    print_sweep(swept)
    return 0


def print_table(rows: Iterable[Row], best: dict[tuple[str, str], Row], chosen: Iterable[Model]) -> None:
    """Positions frame by frame, then the last frame's ratios and bandwidth."""
    for model in chosen:
        print(f"({model.name}) {model.description}")
    ratios = f"{'best':>5}{'reject':>9}{'effective':>10}{'unread':>8}{'misses':>8}{'GB/s':>7}{'gain':>6}"
    print(f"\n{'model':6}{'system':16}{'positions, frame by frame':32}{ratios}")
    frames: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        frames.setdefault((row.model, row.system), []).append(row)
    for (name, system), series in frames.items():
        last = series[-1]
        found = best.get((name, system))
        print(
            f"{name:6}{system:16}{' '.join(str(r.position) for r in series):32}{found.position if found else '':>5}"
            f"{last.rejection:9.1%}{last.effective_rejection:10.1%}{last.depth_reads_skipped:8.1%}{last.miss_rate:8.2%}{last.required_GBps:7.1f}"
            f"{last.conventional_GBps / last.required_GBps:6.2f}"
        )
    print(
        "\npositions in 16ths of the depth range; best: by exhaustive search; effective: of the fragments that the full test rejects;"
        "\nGB/s: the paper's formula at 2.6 Gpixel/s, conventional 52.0, each line of bits moved once for each bin: a tile-based machine."
        "\nThe paper: 71.7 % rejected, 64 to 88 % effective, gain 3.03."
    )


def print_closed_forms() -> None:
    """What equation 4 says of the three distributions."""
    print(f"\n{'closed form':12}{'density':28}{'FP = SP at':>11}{'rejects':>9}{'most at':>9}{'rejects':>9}")
    for c in closed_forms():
        print(f"{c.name:12}{c.formula:28}{c.crossing:11.3f}{c.rejected_there:9.1%}{c.best:9.3f}{c.most_rejected:9.1%}")


def print_peers(peers: Sequence[Peer]) -> None:
    """The machines on each model."""
    caches = " and ".join(
        f"{c.name} of {c.line_px[0]}x{c.line_px[1]} pixels in {c.cache.ways} ways" for c in FILTER_CACHES
    )
    print(
        f"\n{'model':6}{'machine':16}{'inside':>9}{'reject':>9}{'effective':>10}{'unread':>8}{'misses':>16}{'bytes':>15}{'gain':>13}"
        f"{'upkeep':>8}{'cached':>8}"
    )
    for p in peers:
        rates = " ".join(f"{rate:.2%}" for rate in p.miss_rates)
        moved = " ".join(f"{each:.2f}" for each in (p.moved_B if p.miss_rates else p.moved_B[:1]))
        gain = " ".join(f"{each:.2f}" for each in (p.gain if p.miss_rates else p.gain[:1]))
        print(
            f"{p.model:6}{p.machine:16}{p.inside_B:>7} B{p.rejection:9.1%}{p.effective_rejection:10.1%}{p.unread:8.1%}{rates:>16}"
            f"{moved:>15}{gain:>13}{p.upkeep_B:8.1f}{p.cached_gain:8.2f}"
        )
        if p.upkeep_B:
            moved_B = f"{p.moved_B[0] + p.upkeep_B:.2f}"
            print(f"{p.model:6}{p.machine + ', with upkeep':68}{moved_B:>15}{p.gain_with_upkeep:13.2f}")
    print(
        f"\nAn immediate-mode machine. misses, bytes for each fragment (conventional 20), gain: with a filter cache of {caches}."
        "\nupkeep: bytes for each fragment that Hyper-Z reads to find farthest depths anew (in the gain of the line below it); cached: the"
        " gain where"
        "\ndepth goes through a cache of 4 KiB in every machine. inside: memory on the chip, of the filter that of the smaller cache."
    )


def print_misses(curve: Sequence[Misses]) -> None:
    """Miss rates over the size of the filter's cache, with one plane."""
    if not curve:
        return
    print(f"\n{'model':6}{'line':8}{'lines':>7}{'ways':>6}{'size':>9}{'misses':>9}")
    for m in curve:
        shape = f"{m.line_px[0]}x{m.line_px[1]}"
        print(f"{m.model:6}{shape:8}{m.lines:>7}{m.ways:>6}{m.size_B:>7} B{m.miss_rate:9.2%}")


def print_sweep(swept: Sequence[Sweep]) -> None:
    """Spacings and adaptations."""
    if not swept:
        return
    print(
        f"\n{'model':6}{'system':16}{'moved by':10}{'spacing':>8}{'best at':>8}{'best':>8}{'gain':>6}{'found':>8}{'gain':>6}"
        f"{'frames':>8}{'worst':>6}{'wander':>8}"
    )
    for s in swept:
        worst = s.frames_at_worst if s.frames_at_worst < FRAMES else "never"
        print(
            f"{s.model:6}{s.system:16}{s.adaptation:10}{s.spacing:>8}{s.best_position:>8}{s.best_rejection:8.1%}{s.best_gain:6.2f}"
            f"{s.rejection:8.1%}{s.gain:6.2f}{s.frames_to_settle:8.1f}{worst:>6}{s.wandering:>5}/15"
        )
    print(
        "\nspacing of neighbouring planes in 64ths of the depth range; gains at the paper's miss rate of 5.7 %; frames: until the rejection"
        "\nstays within 5 % of the best, mean over 15 starts, and from the worst; wander: starts that don't come to rest."
    )
