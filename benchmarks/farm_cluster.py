"""Frames on a local Dask cluster whose workers are killed and added while it works; then all of it is proved.

In: how many frames, how often a worker is killed (SIGKILL; its nanny starts another one). Out: what was done, and exit code 0 only if every
frame is there, in order, the journal's order included, a share of them drawn again has the same pixels, and files are as the manifest says.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import dask
import distributed

from tilegpu.farm import Job, read_manifest, render, verify
from tilegpu.terminal import progress


class Killer(threading.Thread):
    """Kills a worker of the cluster every so many seconds, and adds one in the middle."""

    def __init__(self, cluster: Any, every_s: float) -> None:
        super().__init__(daemon=True)
        self._cluster, self._every_s = cluster, every_s
        self.killed: list[int] = []
        self.ended = threading.Event()
        self._luck = random.Random(1)

    def run(self) -> None:
        while not self.ended.wait(self._every_s):
            # Those that the scheduler knows: others are starting, and do nothing that could be lost.
            known = self._cluster.scheduler_info["workers"]
            pids = [w.pid for w in self._cluster.workers.values() if getattr(w, "pid", None) and w.worker_address in known]
            if not pids:
                continue
            self.killed.append(self._luck.choice(pids))
            os.kill(self.killed[-1], signal.SIGKILL)
            if len(self.killed) == 2:
                self._cluster.scale(len(self._cluster.workers) + 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--scene", default="textured_pbr")
    parser.add_argument("--size", default="480x270")
    parser.add_argument("--kill-every", type=float, default=10.0, metavar="S")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--share", type=float, default=0.05)
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    job = Job(options.scene, size=(width, height), of=options.frames)
    # On a busy machine a killed worker is not back after 15 seconds: the cluster would end its nanny, and soon have none.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "f.png"
        seen: list[int] = []
        with distributed.LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None) as cluster:
            killer = Killer(cluster, options.kill_every)
            killer.start()

            def watched(items: Any, total: int, label: str) -> Any:
                for done in progress(items, total, label):
                    seen.append(done.index)
                    yield done

            start = time.monotonic()
            run = render(job, output, executor=cluster.scheduler_address.replace("tcp://", "dask://"), progress=watched)
            took_s = time.monotonic() - start
            killer.ended.set()
            killer.join()
        manifest = read_manifest(Path(str(run.manifest)))
        result = verify(Path(str(run.manifest)), options.share)
        complete = sorted(manifest.frames) == list(range(options.frames)) and len(run.files) == options.frames
        in_order = seen == sorted(seen) and list(manifest.frames) == sorted(manifest.frames)
        print(f"{run}")
        print(f"{len(killer.killed)} workers killed in {took_s:.0f} s, {len(run.workers)} took part; sent again: {len(run.failures)} tasks")
        print(f"compiled by workers: {run.compiled} functions; shaders sent to {run.packs_sent} tasks")
        print(f"complete: {complete}, in order: {in_order}")
        print(result)
    return 0 if complete and in_order and result.same else 1


if __name__ == "__main__":
    raise SystemExit(main())
