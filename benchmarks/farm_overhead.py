"""What a farm costs for each frame beside rendering and saving it: small frames, one worker, threads, processes and Dask.

In: frames of a scene. Out: a table. The time that a run takes, less what its one worker says it rendered and saved, by frames: handing
out, pickling, hashing, writing, the journal. The coordinator's own work overlaps with the worker's where there are two cores. Two
columns tell the first frames apart: a worker that begins loads tilegpu, the scene and its shaders from disk.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tilegpu.farm import Job, render


def measure(executor: Any, frames: int, size: tuple[int, int], scene: str) -> tuple[float, float, float, float]:
    """ms for each frame after the first ten: the whole, rendering, saving, what is beside."""
    times: list[float] = []

    def stamped(items: Any, total: int, label: str) -> Any:
        for done in items:
            yield done
            times.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        run = render(Job(scene, size=size, of=frames), Path(folder) / "f.png", executor=executor, workers=1, progress=stamped)
    skip = 10
    whole_ms = (times[-1] - times[skip - 1]) * 1e3 / (frames - skip)
    render_ms, save_ms = statistics.fmean(run.render_ms[skip:]), statistics.fmean(run.save_ms[skip:])
    return whole_ms, render_ms, save_ms, whole_ms - render_ms - save_ms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--size", default="128x72")
    parser.add_argument("--scene", default="cube")
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    print(f"{options.scene}, {options.size}, {options.frames} frames, one worker; ms a frame")
    print("| executor | whole | rendering | saving | beside |\n|---|---|---|---|---|")
    executors: list[tuple[str, Any]] = [("threads", "threads"), ("processes", "processes")]
    try:
        import distributed
    except ImportError:
        distributed = None
    if distributed is not None:
        cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
        executors.append(("Dask, a local cluster", distributed.Client(cluster)))
    for name, executor in executors:
        whole, rendering, saving, beside = measure(executor, options.frames, (width, height), options.scene)
        print(f"| {name} | {whole:.2f} | {rendering:.2f} | {saving:.2f} | {beside:.2f} |", flush=True)


if __name__ == "__main__":
    main()
