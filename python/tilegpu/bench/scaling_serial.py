"""``tilegpu bench scaling --serial``: instructions of what one thread does alone while others wait, over scenes that grow.

A series is drawn in a process of its own under callgrind, which collects within ``tilegpu::recorded_submission`` alone and writes a file
for each point: all of its submissions, of which the calls of ``tilegpu::recorded_jobs`` are what threads share. The rest is serial: laying
out a submission, setting a pass up, what is between two runs of jobs, sums at its end. Recording commands in Python is outside of both, and
grows with their number by nature. Counts are the same on every machine with the same compiler. In: what series draw. Out: :class:`Row`.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tilegpu as tg

#: What grows, and by which values.
SERIES: dict[str, tuple[int, ...]] = {
    "triangles": (1_000, 8_000, 64_000, 256_000),
    "vertices": (1_024, 16_384, 262_144, 1_048_576),
    "draws": (1, 16, 256, 4_096),
    "size_px": (128, 256, 512, 1_024),
    "samples": (1, 4, 16),
    "instances": (1, 64, 4_096, 65_536),
    "layers": (1, 4, 16),
    "workgroups": (1, 64, 1_024, 16_384),
    "dispatches": (1, 16, 128),
    "copy_px": (64, 256, 1_024, 2_048),
    "copies": (1, 16, 128),
    "mipmaps_px": (64, 256, 1_024, 2_048),
    "threads": (1, 4, 16, 64, 128),
}
#: One command each: their serial part grows with them, and what counts is what one of them costs.
COMMANDS = ("draws", "dispatches", "copies")
#: Exponents above it are findings.
MOST_GROWTH = 0.1
#: Threads that jobs are cut for.
THREADS = 16

_SUBMISSION, _JOBS = "_ZN7tilegpu19recorded_submission", "_ZN7tilegpu13recorded_jobs"
_TAKE = "_ZN7tilegpu16take_job_records"  # called at the end of each point

_GRID = """#version 450
layout(push_constant) uniform P { int columns; int rows; };
void main() {
  int triangle = gl_VertexIndex / 3 + gl_InstanceIndex * 2, corner = gl_VertexIndex % 3;
  ivec2 cell = ivec2((triangle / 2) % columns, (triangle / 2) / columns);
  ivec2 at = triangle % 2 == 0 ? ivec2(corner & 1, corner >> 1) : ivec2(1 - (corner & 1), 1 - (corner >> 1));
  gl_Position = vec4(vec2(cell + at) / vec2(columns, rows) * 2.0 - 1.0, 0.5, 1.0);
}"""
_COLOR = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(gl_FragCoord.xy / 1024.0, 0.5, 1.0); }"
_VERTEX = np.dtype([("none", np.float32)])
_SQUARES = """#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer A { uint a[]; };
void main() { a[gl_GlobalInvocationID.x & 65535u] = gl_GlobalInvocationID.x * gl_GlobalInvocationID.x; }"""


@dataclass(frozen=True)
class Row:
    """One point. ``growth``: exponent from the point before, None for the first. ``atomics``: within jobs, operations on memory that is
    locked for one core, those of locks among them."""

    series: str
    value: int
    serial: int
    jobs: int
    atomics: int
    growth: float | None = None
    finding: bool = False


def _pass(device: tg.Device, value: dict[str, int]) -> Callable[[], object]:
    side, samples, layers = value.get("size_px", 256), value.get("samples", 1), value.get("layers", 1)
    triangles, draws, instances = value.get("triangles", 8_192), value.get("draws", 1), value.get("instances", 1)
    shaders = [_GRID, _COLOR]
    data: dict[str, Any] = {}
    formats: dict[str, Any] = {}
    if "vertices" in value:  # indexed: so many are there, of which the draw names some
        shaders[0] = _GRID.replace("void main", "layout(location = 0) in float none;\nvoid main").replace(
            "0.5, 1.0", "0.5 + none, 1.0"
        )
        formats["vertex"] = _VERTEX
        data["vertices"] = device.buffer(np.zeros(value["vertices"], _VERTEX), label="vertices")
        data["indices"] = device.buffer(
            np.linspace(0, value["vertices"] - 1, 3 * triangles).astype(np.uint32), label="indices"
        )
    if layers > 1:
        shaders[0] = _GRID.replace(
            "#version 450", "#version 450\n#extension GL_ARB_shader_viewport_layer_array : require"
        ).replace("gl_Position", f"gl_Layer = triangle % {layers}; gl_Position")
    pipeline = device.pipeline(
        *shaders, color=["r8g8b8a8_unorm"], depth="d32_sfloat", samples=samples, label="serial", **formats
    )
    cells = instances if instances > 1 else max(triangles // 2, 1)
    columns = max(round(math.sqrt(cells)), 1)
    push = pipeline.pack_push({"columns": columns, "rows": -(-cells // columns)})
    out = device.image((side, side), "r8g8b8a8_unorm", layers=layers, label="out")
    color = (
        device.image((side, side), "r8g8b8a8_unorm", samples=samples, layers=layers, transient=True)
        if samples > 1
        else out
    )
    depth = device.image((side, side), "d32_sfloat", samples=samples, layers=layers, transient=True)
    attachment = tg.Attachment(
        color,
        clear=(0, 0, 0, 1),
        store_op="dont_care" if samples > 1 else "store",
        resolve=out if samples > 1 else None,
    )
    count = 2 if instances > 1 else triangles
    with device.render_pass(
        color=[attachment], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"), layers=layers
    ) as rp:
        for k in range(draws):
            first, last = count * k // draws, count * (k + 1) // draws
            rp.draw(pipeline, first=3 * first, count=3 * (last - first), instances=instances, push=push, **data)
    return rp.replay


def _dispatches(device: tg.Device, value: dict[str, int]) -> Callable[[], object]:
    kernel = device.compute_pipeline(_SQUARES, label="serial")
    numbers = device.buffer(b"\0" * (4 << 16), label="numbers")
    with device.frame() as frame:
        for _ in range(value.get("dispatches", 1)):
            device.dispatch(kernel, value.get("workgroups", 64), bind={"A": numbers})
    return frame.replay


def _transfers(device: tg.Device, value: dict[str, int]) -> Callable[[], object]:
    side = value.get("copy_px", value.get("mipmaps_px", 256))
    mipmaps = "mipmaps_px" in value
    levels = side.bit_length() if mipmaps else 1
    source = device.image((side, side), "r8g8b8a8_unorm", mip_levels=levels, label="source")
    target = device.image((side, side), "r8g8b8a8_unorm", label="target")
    device.clear(source, (0.5, 0.25, 0.125, 1.0))
    with device.frame() as frame:
        for _ in range(value.get("copies", 1)):
            if mipmaps:
                device.generate_mipmaps(source)
            else:
                device.copy(source, target)
    return frame.replay


def work_of(series: str) -> Callable[[tg.Device, dict[str, int]], Callable[[], object]]:
    """What makes the commands of a point of a series; what it returns executes them again."""
    if series in ("workgroups", "dispatches"):
        return _dispatches
    return _transfers if series in ("copy_px", "copies", "mipmaps_px") else _pass


def run_points(series: str, values: Iterable[int], threads: int = THREADS) -> None:
    """What the process under callgrind does: each point drawn until all code is there, then once more while it is recorded.

    8 lanes and x86-64-v3: valgrind knows no AVX-512. Taking the records is what ends a file, of which a point has two.
    """
    target = "x86-64-v3" if os.uname().machine == "x86_64" else ""
    for value in values:
        device = tg.Device(threads=value if series == "threads" else threads, lanes=8, jit_target=target)
        replay = work_of(series)(device, {series: value})
        for _ in range(3):
            replay()
            device.wait_compiles()
        device.core.record_jobs(True)
        for _ in range(2):  # before the first some workers had no job, and no memory
            replay()
            device.core.take_job_records()
        print(value, flush=True)
        device.core.record_jobs(False)


def costs(path: Path) -> tuple[int, int, int]:
    """Instructions of a callgrind file in all, those within jobs, and atomic operations within jobs."""
    events: list[str] = []
    total = jobs = atomics = 0
    jobs_id, calls_jobs, called = "", False, False
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("totals:"):
            total = int(line.split()[1 + events.index("Ir")])
        elif match := re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line):
            number, name = match.groups()
            if name is not None and name.startswith(_JOBS):
                jobs_id = number
            if line.startswith("cfn="):
                calls_jobs = number == jobs_id
        elif line.startswith("calls="):
            called = True
        elif called:
            called = False
            if calls_jobs:
                counts = [int(n) for n in line.split()[1:]]
                jobs += counts[events.index("Ir")]
                at = events.index("Ge")
                atomics += counts[at] if at < len(counts) else 0
    if not events or "Ge" not in events:
        raise RuntimeError(f"bench scaling --serial: {path.name} has no counts of callgrind's")
    return total, jobs, atomics


def _dumped(folder: Path) -> Iterator[Path]:
    """The files of submissions, in order: all but the one of the process's end."""
    numbered = [(int(path.suffix[1:]), path) for path in folder.iterdir() if path.suffix[1:].isdigit()]
    for _, path in sorted(numbered):
        yield path


def require_valgrind() -> str:
    """Where it is. Raises ``RuntimeError`` where it isn't."""
    found = shutil.which("valgrind")
    if found is None:
        raise RuntimeError(
            "bench scaling --serial counts by valgrind, which is not there; install it (apt-get install valgrind)"
        )
    return found


def count_series(series: str, values: Sequence[int], threads: int = THREADS) -> list[Row]:
    """Counts a series. Raises ``RuntimeError`` where valgrind is missing or the process ended badly."""
    valgrind = require_valgrind()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tool = [valgrind, "--tool=callgrind", "--collect-bus=yes", "--demangle=no", f"--toggle-collect={_SUBMISSION}*"]
        tool += [f"--dump-before={_TAKE}*", f"--callgrind-out-file={folder / 'counts'}"]
        command = [sys.executable, "-m", "tilegpu.bench.scaling_serial", series, str(threads)]
        values_text = [str(v) for v in values]
        subprocess.run([*command, *values_text], capture_output=True, check=False)  # compiled code is on the disk now
        done = subprocess.run([*tool, *command, *values_text], capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stdout.split() != values_text:
            last = [line for line in done.stderr.splitlines() if not line.startswith("==")]
            raise RuntimeError(f"bench scaling --serial: {series}: {(last or ['no message'])[-1]}")
        dumped = [costs(path) for path in _dumped(folder)][1::2]  # the second of each point
        if len(dumped) != len(values) or not all(total > jobs > 0 for total, jobs, _ in dumped):
            raise RuntimeError(
                f"bench scaling --serial: {series}: valgrind did not see tilegpu's functions by their names"
            )
        rows = [
            Row(series, value, total - jobs, jobs, atomics)
            for value, (total, jobs, atomics) in zip(values, dumped, strict=True)
        ]
    return with_growth(rows)


def with_growth(rows: Sequence[Row]) -> list[Row]:
    """The same with exponents between neighbours. Commands grow by nature; every other series that does is a finding."""
    out: list[Row] = []
    for i, row in enumerate(rows):
        if i == 0:
            out.append(row)
            continue
        before = rows[i - 1]
        growth = math.log(row.serial / before.serial) / math.log(row.value / before.value)
        finding = growth > MOST_GROWTH and row.series not in COMMANDS
        out.append(dataclasses.replace(row, growth=growth, finding=finding))
    return out


if __name__ == "__main__":
    run_points(sys.argv[1], map(int, sys.argv[3:]), int(sys.argv[2]))
