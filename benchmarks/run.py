"""Times the scenes on tilegpu and, if asked for, on OpenGL (moderngl over EGL: Mesa's llvmpipe), interleaved in one run.

A frame is recorded once and then submitted and waited for again and again; nothing is read back. Printed are the median and the
least of all frames in milliseconds, the compile time of the first frame, and how busy other processes kept the machine.

    python benchmarks/run.py [SCENE ...] [--gl] [--time SECONDS] [--threads N] [--lanes N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tilegpu
from tilegpu.bench.peers import SCENES
from tilegpu.scene import Frame, find_scene
from tilegpu.scene.render import SceneRenderer


def tilegpu_runner(frame: Frame, options: argparse.Namespace) -> tuple[tilegpu.Device, Callable[[], None]]:
    """A device, and a function that draws the frame once more."""
    device = tilegpu.Device(threads=options.threads, lanes=options.lanes, profile=options.profile)
    renderer = SceneRenderer(device)

    def run() -> None:
        renderer.render(frame, read=False)

    return device, run


def gl_runner(frame: Frame) -> Callable[[], None]:
    """The same by OpenGL. Raises :class:`tilegpu.reference.ReferenceError` where it cannot."""
    from tilegpu.reference.prepared import PreparedFrame

    return PreparedFrame(frame).run


def busy_s() -> float:
    """CPU seconds of the whole machine since it started, idle and waiting left out."""
    ticks = [float(x) for x in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) * 0.01


def measure(
    runners: dict[str, Callable[[], None]], settle: Callable[[], None], seconds: float, rounds: int = 4
) -> dict[str, dict[str, float]]:
    """Times the runners by turns, ``seconds`` for each in all; ``settle`` is called after the first frames."""
    out: dict[str, dict[str, float]] = {}
    times: dict[str, list[float]] = {name: [] for name in runners}
    for name, run in runners.items():
        start = time.perf_counter()
        run()
        out[name] = {"first_ms": (time.perf_counter() - start) * 1e3}
        settle()
        run()
    busy, own, wall = busy_s(), time.process_time(), time.perf_counter()
    for _ in range(rounds):
        for name, run in runners.items():
            end = time.perf_counter() + seconds / rounds
            while True:
                start = time.perf_counter()
                run()
                now = time.perf_counter()
                times[name].append((now - start) * 1e3)
                if now >= end and len(times[name]) % 2 == 0:
                    break
    other = (busy_s() - busy - (time.process_time() - own)) / (time.perf_counter() - wall)
    for name, found in times.items():
        out[name] |= {"median_ms": statistics.median(found), "min_ms": min(found), "frames": len(found), "other": other}
    return out


def main() -> int:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=[], help="scenes or model files (default: the reference scenes)")
    parser.add_argument("--gl", action="store_true", help="OpenGL too, interleaved")
    parser.add_argument("--time", type=float, default=1.0, metavar="SECONDS", help="for each scene and renderer")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--lanes", type=int, default=0)
    parser.add_argument("--profile", default="host")
    parser.add_argument("--json", metavar="FILE", help="write the figures, a line for each scene")
    options = parser.parse_args()
    os.environ.setdefault("GALLIVM_PERF", "")  # comparisons switch llvmpipe's shortcuts off; here it may take them
    info = tilegpu.Device(threads=options.threads, lanes=options.lanes).info
    print(f"tilegpu {tilegpu.__version__} | {info['cpu']} | {info['threads']} threads | {info['lanes']} lanes")
    lines: list[dict[str, Any]] = []
    for name in options.scenes or SCENES:
        frame = find_scene(name).frame()
        device, draw = tilegpu_runner(frame, options)
        runners = {"tilegpu": draw}
        if options.gl:
            from tilegpu.reference import ReferenceError

            try:
                runners["gl"] = gl_runner(frame)
            except ReferenceError as error:
                print(f"{name:28} gl skipped: {error}")
        found = measure(runners, device.wait_compiles, options.time)
        text = "   ".join(
            f"{who} {f['median_ms']:9.3f} ms median {f['min_ms']:9.3f} min, first {f['first_ms']:7.1f}"
            for who, f in found.items()
        )
        ratio = f"   x{found['gl']['median_ms'] / found['tilegpu']['median_ms']:.2f}" if "gl" in found else ""
        print(f"{name:28} {text}{ratio}   other {found['tilegpu']['other']:.2f}", flush=True)
        lines.append(
            {"scene": name, "size": frame.size, "samples": frame.samples, "triangles": frame.triangles, **found}
        )
    if options.json:
        head = {
            "version": tilegpu.__version__,
            "python": platform.python_version(),
            **{k: str(v) for k, v in info.items()},
        }
        Path(options.json).write_text("\n".join(json.dumps(x) for x in [head, *lines]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
