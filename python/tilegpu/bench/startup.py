"""``tilegpu bench startup``: what a program waits for before its first picture.

Rows, each the median of processes of their own: Python alone, with NumPy, with tilegpu, and the triangle of the README to its PNG, with
an empty disk cache and with a warm one; then, in one process, a Cook-Torrance pipeline (``grid_pbr.frag`` of ``textured_pbr``) cold,
from the disk cache (there also as the first of a process of its own) and known to the device. Processor time is given beside time by
the clock: compiles use several threads.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

from tilegpu.terminal import progress

_TRIANGLE = '''
import sys
import numpy as np, tilegpu as tg
VERT = """#version 450
layout(location = 0) in vec2 position;  layout(location = 1) in vec3 color;
layout(location = 0) out vec3 v_color;
void main() { gl_Position = vec4(position, 0.0, 1.0); v_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec3 v_color;   layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color, 1.0); }"""
v = np.array([((0, -.5), (1, 0, 0)), ((.5, .5), (0, 1, 0)), ((-.5, .5), (0, 0, 1))],
             dtype=[("position", "f4", 2), ("color", "f4", 3)])
dev = tg.Device(cache_dir=sys.argv[1])
msaa = dev.image((512, 512), "r8g8b8a8_srgb", samples=4, transient=True)
out = dev.image((512, 512), "r8g8b8a8_srgb")
pipe = dev.pipeline(VERT, FRAG, vertex=v.dtype, color=[msaa.format], samples=4)
with dev.render_pass(color=[tg.Attachment(msaa, clear=(0, 0, 0, 1), store_op="dont_care", resolve=out)]) as rp:
    rp.draw(pipe, v)
out.save(sys.argv[2])
'''


# argv: the disk cache's folder. Prints milliseconds by the clock and of processor time.
_FIRST_PIPELINE = """
import sys, time, warnings
import tilegpu as tg
from tilegpu.scene import find_scene
warnings.simplefilter("ignore", tg.UnusedNameWarning)
frame = find_scene("textured_pbr").frame((96, 54))
program, vertices = frame.draws[0].program, frame.draws[0].vertices
device = tg.Device(cache_dir=sys.argv[1])
vert = tg.compile_glsl(program.vertex, "vertex", device=device.core)
frag = tg.compile_glsl(program.fragment, "fragment", device=device.core)
start, cpu = time.perf_counter(), time.process_time()
device.pipeline(vert, frag, vertex=vertices.dtype, color=list(frame.color_formats), depth=frame.depth_format)
print((time.perf_counter() - start) * 1e3, (time.process_time() - cpu) * 1e3)
"""


def _first_pipeline(folder: str) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_PIPELINE, folder], check=True, env=_environment(), capture_output=True, text=True
    )
    ms, cpu_ms = map(float, done.stdout.split())
    return ms, cpu_ms


def _process(code: str, *arguments: str) -> tuple[float, float]:
    """Milliseconds of a process, by the clock and of processor time."""

    def used_s() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    start, cpu = time.perf_counter(), used_s()
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, env=_environment())
    return (time.perf_counter() - start) * 1e3, (used_s() - cpu) * 1e3


def _environment() -> dict[str, str]:
    """Byte code is kept, as in an installation."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _row(what: str, times: list[tuple[float, float]]) -> dict[str, Any]:
    return {
        "what": what,
        "ms": statistics.median(t for t, _ in times),
        "least_ms": min(t for t, _ in times),
        "cpu_ms": statistics.median(c for _, c in times),
    }


def measure_processes(runs: int) -> list[dict[str, Any]]:
    """Rows of whole processes; they take turns."""
    with tempfile.TemporaryDirectory() as folder:
        warm, png = f"{folder}/warm", f"{folder}/triangle.png"
        _process(_TRIANGLE, warm, png)
        kinds: dict[str, Callable[[int], tuple[float, float]]] = {
            "python": lambda k: _process("pass"),
            "import numpy": lambda k: _process("import numpy"),
            "import tilegpu": lambda k: _process("import tilegpu"),
            "triangle, cold": lambda k: _process(_TRIANGLE, f"{folder}/cold{k}", png),
            "triangle, warm": lambda k: _process(_TRIANGLE, warm, png),
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
        for k in progress(range(runs), runs, "bench startup, processes"):
            for name, one in kinds.items():
                times[name].append(one(k))
    return [_row(name, t) for name, t in times.items()]


def measure_pipelines(runs: int) -> list[dict[str, Any]]:
    """Rows of one pipeline from SPIR-V: vertex shader, body and epilogue; its sampler's functions are compiled at the first draw."""
    import tilegpu as tg
    from tilegpu.scene import SceneRenderer, find_scene

    frame = find_scene("textured_pbr").frame((96, 54))
    program, vertices = frame.draws[0].program, frame.draws[0].vertices
    assert vertices is not None
    vert = tg.compile_glsl(program.vertex, "vertex")
    frag = tg.compile_glsl(program.fragment or "", "fragment")

    def create(device: tg.Device) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tg.UnusedNameWarning)
            device.pipeline(
                vert, frag, vertex=vertices.dtype, color=list(frame.color_formats), depth=frame.depth_format
            )

    def timed(run: Callable[[tg.Device], object], device: tg.Device) -> tuple[float, float]:
        start, cpu = time.perf_counter(), time.process_time()
        run(device)
        times = (time.perf_counter() - start) * 1e3, (time.process_time() - cpu) * 1e3
        device.wait_compiles()  # not beside the next
        return times

    def optimised(device: tg.Device) -> None:
        create(device)
        device.wait_compiles()

    def first_frame(device: tg.Device) -> None:
        SceneRenderer(device).render(frame, read=False)

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        known = tg.Device(cache_dir=folder)
        create(known)
        known.wait_compiles()
        rows.append(_row("pipeline, cold", [timed(create, tg.Device(cache_dir="off")) for _ in range(runs)]))
        rows.append(
            _row("pipeline, cold, optimised", [timed(optimised, tg.Device(cache_dir="off")) for _ in range(runs)])
        )
        disk = [timed(create, tg.Device(cache_dir=folder)) for _ in range(4 * runs)]
        rows.append(_row("pipeline, from disk", disk))
        _first_pipeline(folder)  # leaves its GLSL there
        rows.append(_row("the same, first in its process", [_first_pipeline(folder) for _ in range(runs)]))
        rows.append(_row("pipeline, known to the device", [timed(create, known) for _ in range(4 * runs)]))
        # From GLSL to the finished picture, samplers and epilogues included.
        first = [timed(first_frame, tg.Device(cache_dir="off")) for _ in range(runs)]
        rows.append(_row("first frame of textured_pbr, cold", first))
    return rows


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "startup",
        help="import, first picture, pipelines cold and from the cache",
        description=(__doc__ or "").split("\n\n")[1].replace("\n", " "),
    )
    parser.add_argument("--runs", type=int, default=7, help="of each row (default 7)")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    rows = measure_processes(max(options.runs, 1)) + measure_pipelines(max(options.runs, 1))
    if options.json:
        print(json.dumps(rows, indent=1))
        return 0
    print(f"{'':36}{'ms':>9}{'least':>9}{'processor':>11}")
    for row in rows:
        print(f"{row['what']:36}{row['ms']:9.2f}{row['least_ms']:9.2f}{row['cpu_ms']:11.2f}")
    return 0
