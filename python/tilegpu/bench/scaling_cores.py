"""``tilegpu bench scaling --model``: how far scenes scale, from lengths of jobs that one core measured.

Scenes are recorded with their jobs cut for 1, 2, 4, ... 128 threads (:mod:`tilegpu.bench.scaling_record`), and the pool is simulated with
each (:mod:`tilegpu.bench.scaling_model`). A row says how much quicker the core is than with one thread, from which number of threads on
less than half of them is used, and which loss is the largest there. Beside it what is no part of this: recording in Python. Where two
threads are free, the model of two is compared with two.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tilegpu.bench.scaling_model import LOSSES, Costs, RecordedFrame, Simulated, simulate
from tilegpu.bench.scaling_record import Measured, Recorder, empty_run_ns, median_frame
from tilegpu.terminal import load_scene, progress, scene_file
from tilegpu.whole_file import whole_file

THREADS = (1, 2, 4, 8, 16, 32, 64, 128)
#: Small and large, of triangles, of fragments, of passes.
SCENES = (
    "clear", "fill_blend", "heavy_overdraw_1080p", "mesh_100k", "mesh_1m", "textured_pbr", "multisampling4_pass_resolve", "draws_10k",
    "forest", "shadow_cascades", "bloom_chain", "toy_ray_march", "tiny_64", "poster_8k",
)  # fmt: skip
#: Frames of each number of threads in each round.
FRAMES = 5
ROUNDS = 5

Row = dict[str, Any]


def half_used(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first of a scene's rows at which less than half of the threads is used."""
    return next((row for row in rows if row["efficiency"] < 0.5), None)


def row_of(scene: str, frame: RecordedFrame, one: RecordedFrame, result: Simulated) -> Row:
    """A point as plain data."""
    moved_B = sum(run.moved_B for run in frame.runs)
    speed_up = (one.work_ns + one.serial_ns) / result.ns
    return {
        "scene": scene,
        "threads": result.threads,
        "ms": result.ns / 1e6,
        "speed_up": speed_up,
        "efficiency": speed_up / result.threads,
        "why": result.why,
        "serial_ms": frame.serial_ns / 1e6,
        "python_ms": frame.outside_ns / 1e6,
        "runs": len(frame.runs),
        "jobs": sum(len(run.jobs_ns) for run in frame.runs),
        "steals": result.steals,
        "moved_B": moved_B,
        "GBps": moved_B / result.ns,
        "losses_ms": {name: result.losses[name] / 1e6 for name in LOSSES},
        "phases_ms": {name: ns / 1e6 for name, ns in result.phases.items()},
    }


def checked(checks: Sequence[tuple[float, Sequence[float]]]) -> Row:
    """The model of two threads beside two threads that were measured, round by round: medians, and the ratio with its range."""
    ratios = [model_ns / statistics.median(times) for model_ns, times in checks]
    return {
        "modelled_ms": statistics.median(model_ns for model_ns, _ in checks) / 1e6,
        "measured_ms": statistics.median(t for _, times in checks for t in times) / 1e6,
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
    }


def model_scene(
    scene: str, size: tuple[int, int] | None, costs: Costs, threads: Sequence[int], rounds: int
) -> list[Row]:
    """The rows of a scene, one for each number of threads; recorded by turns, each time by a device of its own."""
    import tilegpu as tg

    frame = load_scene(scene).frame(size)
    two_free = tg.Device().info["threads"] >= 2
    measured: dict[int, list[Measured]] = {count: [] for count in threads}
    moved_B: dict[str, float] = {}
    checks: list[tuple[float, list[float]]] = []
    for _ in range(rounds):
        for count in threads:
            recorder = Recorder(frame, count)
            moved_B = recorder.moved_B
            some = recorder.record(FRAMES)
            measured[count] += some
            if count == 2 and two_free:
                two = median_frame(some, moved_B)
                checks.append((simulate(two, two, 2, costs).ns + two.outside_ns, recorder.times_ns(FRAMES)))
    recorded = {count: median_frame(frames, moved_B) for count, frames in measured.items()}
    one = recorded[threads[0]]
    rows = [row_of(scene, recorded[count], one, simulate(recorded[count], one, count, costs)) for count in threads]
    return [row | checked(checks) if row["threads"] == 2 and checks else row for row in rows]


def print_table(rows: Sequence[Row]) -> None:
    """A line for each scene."""
    threads = sorted({row["threads"] for row in rows})
    more = "".join(f"{f'x{n}':>6}" for n in threads if n > 1)
    print(
        f"{'':28}{'ms, 1':>9}{more}{'half at':>9}  {'because of':20}{'serial ms':>10}{'Python ms':>10}{'MB':>8}{'GB/s':>7}"
    )
    for scene in dict.fromkeys(row["scene"] for row in rows):
        here = [row for row in rows if row["scene"] == scene]
        half = half_used(here)
        shown, best = half or here[-1], max(here, key=lambda row: row["speed_up"])
        speed = "".join(f"{row['speed_up']:6.1f}" for row in here if row["threads"] > 1)
        print(
            f"{scene:28}{here[0]['ms']:9.2f}{speed}{half['threads'] if half else '-':>9}  {shown['why']:20}{shown['serial_ms']:10.3f}"
            f"{here[0]['python_ms']:10.3f}{shown['moved_B'] / 1e6:8.1f}{best['GBps']:7.1f}"
        )
    compared = [row for row in rows if "ratio" in row]
    if compared:
        print("\ntwo threads                    model ms  measured ms   ratio  (range)")
    for row in compared:
        print(
            f"{row['scene']:28}{row['modelled_ms']:11.2f}{row['measured_ms']:13.2f}{row['ratio']:8.2f}"
            f"  ({row['ratio_min']:.2f} to {row['ratio_max']:.2f})"
        )


def write_plot(rows: Sequence[Row], path: Path) -> None:
    """Speed-up over threads on the left; on the right what 128 threads lose, scene by scene, as shares of their time."""
    from tilegpu.bench.plots import load_pyplot

    pyplot = load_pyplot()
    scenes = list(dict.fromkeys(row["scene"] for row in rows))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13.5, 0.32 * len(scenes) + 3.2), width_ratios=(1, 1.15))
    colors = pyplot.get_cmap("tab20").colors
    threads = sorted({row["threads"] for row in rows})
    left.loglog(threads, threads, ":", color="tab:gray", label="as the threads")
    left.loglog(threads, [n / 2 for n in threads], "--", color="lightgray", label="half of them")
    for number, scene in enumerate(scenes):
        here = [row for row in rows if row["scene"] == scene]
        left.loglog(
            [r["threads"] for r in here], [r["speed_up"] for r in here], ".-", color=colors[number % 20], label=scene
        )
    left.set(xlabel="threads (simulated)", ylabel="times as fast as one")
    left.set_xticks(threads, [str(n) for n in threads])
    left.set_yticks([1, 2, 4, 8, 16, 32, 64, 128], ["1", "2", "4", "8", "16", "32", "64", "128"])
    left.minorticks_off()
    left.grid(alpha=0.3)
    left.legend(fontsize=7)
    last = {row["scene"]: row for row in rows if row["threads"] == threads[-1]}
    begin = [0.0] * len(scenes)
    shares = {
        "work": [max(1 - sum(max(ms, 0) for ms in last[s]["losses_ms"].values()) / last[s]["ms"], 0) for s in scenes]
    }
    shares |= {name: [max(last[s]["losses_ms"][name], 0) / last[s]["ms"] for s in scenes] for name in LOSSES}
    for name, values in shares.items():
        right.barh(scenes, values, left=begin, label=name, color="lightgray" if name == "work" else None)
        begin = [a + b for a, b in zip(begin, values, strict=True)]
    right.set(xlabel=f"of the time of {threads[-1]} threads", xlim=(0, 1))
    right.invert_yaxis()
    right.legend(fontsize=7, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=4, frameon=False)  # above, not over the bars
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, "--plot") as stream:
        figure.savefig(stream, dpi=90, format=path.suffix[1:] or None)
    pyplot.close(figure)


def run_model(scenes: Sequence[str], size: tuple[int, int] | None, costs: Costs, quiet: bool) -> list[Row]:
    """Rows of all scenes; ``quiet``: nothing is printed."""
    import tilegpu as tg

    rows: list[Row] = []
    for scene in scenes:
        if scene_file(scene) is None:
            load_scene(scene)  # an unknown name ends the command before an hour's work
    for scene in progress(scenes, len(scenes), "bench scaling --model"):
        rows += model_scene(scene, size, costs, THREADS, ROUNDS)
    if not quiet:
        print_table(rows)
        if tg.Device().info["threads"] >= 2:
            modelled = simulate_empty(costs) / 1e3
            print(
                f"\nan empty run of two threads: {empty_run_ns() / 1e3:.2f} us measured, {modelled:.2f} us in the model"
            )
    return rows


def simulate_empty(costs: Costs) -> float:
    """Nanoseconds of two jobs that do nothing, on two threads."""
    from tilegpu.bench.scaling_model import simulate_run

    return simulate_run((0.0, 0.0), 2, costs).ns


def costs_of(line_ns: float, socket_GBps: float) -> Costs:
    """The model's, with what the user says."""
    return dataclasses.replace(Costs(), line_ns=line_ns, socket_GBps=socket_GBps)
