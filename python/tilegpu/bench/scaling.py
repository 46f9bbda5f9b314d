"""``tilegpu bench scaling``: how time and memory grow with triangles, pixels, samples, draws, threads and depth complexity.

One picture, drawn by a shader from the number of the vertex, so that the scene itself takes no memory: a grid of triangles that covers the
view, in as many layers as asked, back to front. Every point of a series runs in a process of its own; its memory is what the process
grew by from before its first pass, images included and also given alone. ``heap`` is what the tiler took for binned geometry, in all.
``growth`` is the exponent between a point and the one before it:
1 is as fast as the work (triangles, pixels, ...), 0 is for nothing. Times: submit until the image is complete, median; recording from
Python is a column of its own.

``--model`` says how far scenes scale to 128 threads (:mod:`tilegpu.bench.scaling_cores`), ``--serial`` counts what one thread does alone
while others wait (:mod:`tilegpu.bench.scaling_serial`, which needs valgrind).
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tilegpu.bench import scaling_cores, scaling_serial
from tilegpu.bench.scaling_model import Costs
from tilegpu.terminal import UsageError, check_output, parse_size, progress
from tilegpu.whole_file import whole_file

_VERTEX = """#version 450
layout(push_constant) uniform P { int columns; int rows; int per_layer; int layers; };
layout(location = 0) out vec3 v_color;
void main() {
  int triangle = gl_VertexIndex / 3, corner = gl_VertexIndex % 3, layer = triangle / per_layer, t = triangle % per_layer;
  ivec2 cell = ivec2((t / 2) % columns, (t / 2) / columns);
  ivec2 at = t % 2 == 0 ? ivec2(corner & 1, corner >> 1) : ivec2(1 - (corner & 1), 1 - (corner >> 1));
  gl_Position = vec4(vec2(cell + at) / vec2(columns, rows) * 2.0 - 1.0, 1.0 - (float(layer) + 0.5) / float(layers), 1.0);
  v_color = vec3(at, float(layer + 1) / float(layers));
}"""
_FRAGMENT = """#version 450
layout(location = 0) in vec3 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color * v_color, 1.0); }"""

_COSTS = Costs()
#: What a series does not vary.
BASE = {"triangles": 100_000, "size_px": 1024, "samples": 1, "draws": 1, "threads": 0, "layers": 1, "tiler_heap_B": 0}
SERIES: dict[str, tuple[int, ...]] = {
    "triangles": (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    "size_px": (256, 512, 1024, 2048, 4096, 8192),
    "samples": (1, 2, 4, 8, 16),
    "draws": (1, 10, 100, 1_000, 10_000, 100_000),
    "threads": (),  # 1 to all, doubled
    "layers": (1, 2, 4, 8, 16, 32, 64),
}


def _rss_B(field: str) -> int:
    """``VmRSS`` or ``VmHWM`` of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def grid(triangles: int, layers: int) -> tuple[int, int, int]:
    """Columns, rows and triangles of a layer, such that all layers have about ``triangles``."""
    cells = max(triangles // layers // 2, 1)
    columns = max(round(math.sqrt(cells)), 1)
    rows = max(cells // columns, 1)
    return columns, rows, 2 * columns * rows


def measure_point(point: dict[str, int], seconds: float) -> dict[str, Any]:
    """One row, measured in this process."""
    import tilegpu as tg

    size = (point["size_px"], point["size_px"])
    columns, rows, per_layer = grid(point["triangles"], point["layers"])
    triangles = per_layer * point["layers"]
    draws = min(point["draws"], triangles)
    device = tg.Device(threads=point["threads"], tiler_heap=point["tiler_heap_B"])
    pipeline = device.pipeline(
        _VERTEX, _FRAGMENT, color=["r8g8b8a8_unorm"], depth="d32_sfloat", samples=point["samples"], label="scaling"
    )
    before_B = _rss_B("VmRSS")
    several = point["samples"] > 1
    out = device.image(size, "r8g8b8a8_unorm", label="out")
    color = device.image(size, "r8g8b8a8_unorm", samples=point["samples"], transient=True) if several else out
    depth = device.image(size, "d32_sfloat", samples=point["samples"], transient=True)
    attachment = tg.Attachment(
        color, clear=(0, 0, 0, 1), store_op="dont_care" if several else "store", resolve=out if several else None
    )
    push = pipeline.pack_push({"columns": columns, "rows": rows, "per_layer": per_layer, "layers": point["layers"]})
    start = time.perf_counter()
    with device.render_pass(color=[attachment], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")) as rp:
        for k in range(draws):
            first, last = triangles * k // draws, triangles * (k + 1) // draws
            rp.draw(pipeline, first=3 * first, count=3 * (last - first), push=push)
        record_ms = (time.perf_counter() - start) * 1e3
    times: list[float] = []
    end = time.perf_counter() + seconds
    device.wait_compiles()
    rp.replay()
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        rp.replay()
        times.append((time.perf_counter() - start) * 1e3)
    stats = rp.stats
    return {
        **point,
        "threads": device.info["threads"],
        "triangles": triangles,
        "draws": draws,
        "ms": statistics.median(times),
        "least_ms": min(times),
        "record_ms": record_ms,
        "peak_B": max(_rss_B("VmHWM") - before_B, 0),
        "images_B": 4 * size[0] * size[1],
        "heap_B": stats.tiler_heap_B,
        "splits": stats.splits,
        "fragments_shaded": stats.fragments_shaded,
    }


def measure_apart(point: dict[str, int], seconds: float) -> dict[str, Any]:
    """One row, measured in a process of its own."""
    command = [sys.executable, "-m", "tilegpu.bench.scaling", json.dumps(point), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"bench scaling: {point}: {done.stderr.strip().splitlines()[-1]}")
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def points(series: str, threads: int) -> list[dict[str, int]]:
    """The points of a series; ``threads`` is how many there are."""
    values = SERIES[series] or tuple(sorted({min(1 << k, threads) for k in range(threads.bit_length() + 1)}))
    out = [{**BASE, series: value} for value in values]
    if series == "layers":  # every layer has the same number of triangles
        out = [{**p, "triangles": 2_000 * p["layers"]} for p in out]
    if series == "threads":
        out = [{**p, "triangles": 1_000_000} for p in out]
    return out


def work(series: str, row: dict[str, Any]) -> float:
    """What the time is compared with."""
    value = float(row[series])
    return value * value if series == "size_px" else 1 / value if series == "threads" else value


def growth(series: str, rows: Sequence[dict[str, Any]]) -> list[float | None]:
    """Exponents of the time between neighbouring points; none for the first."""
    out: list[float | None] = [None]
    for a, b in itertools.pairwise(rows):
        out.append(math.log(b["least_ms"] / a["least_ms"]) / math.log(work(series, b) / work(series, a)))
    return out


def run_series(series: str, seconds: float, limit: int | None = None) -> list[dict[str, Any]]:
    """Rows of a series, one process for each; ``limit`` leaves out larger values."""
    import tilegpu as tg

    rows = []
    chosen = [p for p in points(series, tg.Device().info["threads"]) if limit is None or p[series] <= limit]
    for point in progress(chosen, len(chosen), f"bench scaling, {series}"):
        rows.append({"series": series, **measure_apart(point, seconds)})
    for row, exponent in zip(rows, growth(series, rows), strict=True):
        row["growth"] = exponent
    return rows


def write_plots(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """One picture: a graph for each series, time on the left, memory on the right, both logarithmic."""
    from tilegpu.bench.plots import load_pyplot

    pyplot = load_pyplot()
    names = list(dict.fromkeys(row["series"] for row in rows))
    columns = min(len(names), 3)
    lines = -(-len(names) // columns)
    figure, axes = pyplot.subplots(lines, columns, figsize=(4.6 * columns, 3.6 * lines), squeeze=False)
    for axis in axes.flat[len(names) :]:
        axis.axis("off")
    for axis, name in zip(axes.flat, names, strict=False):
        here = [row for row in rows if row["series"] == name]
        x = [row[name] for row in here]
        axis.loglog(x, [row["ms"] for row in here], "o-", color="tab:blue", label="ms (median)")
        first = here[0]
        axis.loglog(
            x,
            [first["ms"] * work(name, row) / work(name, first) for row in here],
            ":",
            color="tab:gray",
            label="as the work",
        )
        axis.set(xlabel=name.replace("_px", " (px, square)"), ylabel="ms")
        axis.set_ylim(min(r["ms"] for r in here) / 2, max(r["ms"] for r in here) * 2)
        axis.grid(alpha=0.3)
        plain = pyplot.matplotlib.ticker.LogFormatter(minor_thresholds=(2, 0.4))
        memory = axis.twinx()
        memory.loglog(x, [max(row["peak_B"], 1) / 2**20 for row in here], "s--", color="tab:red", label="peak MiB")
        memory.loglog(x, [row["images_B"] / 2**20 for row in here], "--", color="tab:pink", label="image MiB")
        memory.set_ylabel("MiB")
        for side in (axis.yaxis, memory.yaxis):
            side.set_major_formatter(plain)
            side.set_minor_formatter(plain)
        axis.set_xticks(x, [f"{v:,}" if v < 10_000 else f"{v:.0e}".replace("e+0", "e") for v in x], fontsize=8)
        axis.tick_params(axis="x", which="minor", labelbottom=False)
        if axis is axes.flat[0]:
            handles = [*axis.get_legend_handles_labels()[0], *memory.get_legend_handles_labels()[0]]
            axis.legend(handles, [h.get_label() for h in handles], fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, "--plot") as stream:
        figure.savefig(stream, dpi=90, format=path.suffix[1:] or None)
    pyplot.close(figure)


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "scaling",
        help="time and memory over triangles, pixels, samples, draws, threads, depth complexity; a model of 128 threads",
        description=" ".join((__doc__ or "").split("\n\n", 1)[1].split()),
    )
    every = dict.fromkeys((*SERIES, *scaling_serial.SERIES))
    parser.add_argument("--series", action="append", choices=tuple(every), help="only this one (default: all)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of timed frames for each point (default 1)")
    parser.add_argument("--limit", type=int, help="leave out points beyond this value of what varies")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--model",
        nargs="*",
        metavar="SCENE",
        help="1 to 128 threads, simulated from lengths of jobs measured on one (default: 14 scenes)",
    )
    what.add_argument(
        "--serial",
        action="store_true",
        help="instructions of what one thread does alone, over scenes that grow (valgrind)",
    )
    parser.add_argument(
        "--size", type=parse_size, help="WIDTHxHEIGHT of the scenes of --model (default: each scene's own)"
    )
    parser.add_argument(
        "--line-ns",
        type=float,
        default=_COSTS.line_ns,
        help="of --model: a cache line from another core (default %(default)g)",
    )
    parser.add_argument(
        "--socket-gbps",
        type=float,
        default=_COSTS.socket_GBps,
        help="of --model: memory of 64 cores (default %(default)g)",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="also write the graphs (needs matplotlib)")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.set_defaults(run=run)


def _check_series(options: argparse.Namespace, known: Iterable[str], what: str) -> None:
    for series in options.series or ():
        if series not in known:
            raise UsageError(f"--series is {series}; {what or 'without --serial'} it is one of {', '.join(known)}")


def _run_model(options: argparse.Namespace) -> int:
    if options.series or options.limit is not None:
        raise UsageError("--model has scenes and no series; leave --series and --limit out")
    for option, value in (("--line-ns", options.line_ns), ("--socket-gbps", options.socket_gbps)):
        if not (value > 0 and math.isfinite(value)):
            raise UsageError(f"{option} is {value:g}; it must be more than 0")
    costs = scaling_cores.costs_of(options.line_ns, options.socket_gbps)
    rows = scaling_cores.run_model(options.model or scaling_cores.SCENES, options.size, costs, options.json)
    if options.plot:
        scaling_cores.write_plot(rows, options.plot)
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0


def _run_serial(options: argparse.Namespace) -> int:
    if options.plot:
        raise UsageError("--serial has no graphs; leave --plot out")
    _check_series(options, scaling_serial.SERIES, "with --serial")
    scaling_serial.require_valgrind()
    rows: list[scaling_serial.Row] = []
    if not options.json:
        print(f"{'':24}{'alone':>12}{'growth':>8}{'in jobs':>16}{'atomics':>9}")
    for series in options.series or scaling_serial.SERIES:
        values = [v for v in scaling_serial.SERIES[series] if options.limit is None or v <= options.limit]
        some = scaling_serial.count_series(series, values) if values else []
        rows += some
        for row in [] if options.json else some:
            growth = "" if row.growth is None else f"{row.growth:.2f}"
            mark = (
                "  each by nature"
                if series in scaling_serial.COMMANDS and row.growth
                else "  grows"
                if row.finding
                else ""
            )
            print(
                f"{series:12}{row.value:12,}{row.serial:12,}{growth:>8}{row.jobs:16,}{row.atomics:9,}{mark}", flush=True
            )
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
    return 0


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    rows: list[dict[str, Any]] = []
    if options.plot:
        from tilegpu.bench.plots import load_pyplot

        load_pyplot()
        check_output(options.plot.parent, "--plot", folder=True)
    if options.serial:
        return _run_serial(options)
    if options.model is not None:
        return _run_model(options)
    _check_series(options, SERIES, "")
    if not options.json:
        print(f"{'':22}{'ms':>10}{'growth':>8}{'record ms':>11}{'peak MiB':>10}{'image':>8}{'heap':>8}{'splits':>8}")
    for series in options.series or SERIES:
        some = run_series(series, options.seconds, options.limit)
        rows += some
        for row in [] if options.json else some:
            exponent = "" if row["growth"] is None else f"{row['growth']:.2f}"
            mib = [row[k] / 2**20 for k in ("peak_B", "images_B", "heap_B")]
            print(
                f"{series:10}{row[series]:12,}{row['ms']:10.2f}{exponent:>8}{row['record_ms']:11.2f}"
                f"{mib[0]:10.1f}{mib[1]:8.1f}{mib[2]:8.1f}{row['splits']:8}",
                flush=True,
            )
    if options.plot:
        write_plots(rows, options.plot)
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    print(json.dumps(measure_point(json.loads(sys.argv[1]), float(sys.argv[2]))))
