"""What the machine allows: scenes drawn by a kernel that can do nothing else, beside tilegpu, by turns in one run.

    python benchmarks/kernel.py [--scene NAME ...] [--threads N ...] [--rounds N] [--stages]     (make bench-kernel)

The kernel of two scenes of meshes is ``benchmarks/cpp/bench_scenes.cpp``, compiled here with ``c++`` for this processor, which must have
AVX-512. Both begin with the vertices and end with a complete image, and the images are compared: pixels whose channels differ by one, and
by more. Whole pictures by one shader, and a product of matrices, have kernels of their own (``kernel_effects.py``).
``kernel/ours`` is the median of the ratios of neighbouring turns, with the least and the greatest; by the clock and by processor time (of
all threads). ``--stages``: where one thread's time goes, of the kernel by the processor's counter, of tilegpu by ``perf record``, which
must be installed.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernel_effects
import numpy as np
from numpy.typing import NDArray

import tilegpu
from tilegpu.bench.timing import machine
from tilegpu.scene import Frame, SceneRenderer, find_scene

SOURCE = Path(__file__).resolve().parent / "cpp" / "bench_scenes.cpp"
SCENES = ("multisampling1", "multisampling4_pass_resolve")
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-std=c++20", "-pthread", "-shared", "-fPIC", "-fvisibility=hidden")
STAGES = ("front end", "coverage and depth", "packets, interpolation, light", "look-ups, colour", "store")
#: Functions of tilegpu by stage; the first that fits counts.
FUNCTIONS = (
    (4, r"tile_io::|resolve::|framebuffer::|fill_rows|resource::"),
    (2, r"gather|flush_visibility|shade_|fragment|pixels|groups|take_quads|is_mixed|bind_shading"),
    (3, r"sampler|epilogue"),
    (1, r"tile::|hsr::"),
    (0, r"geometry::|vertex"),
)


def compile_kernel(folder: Path) -> Any:
    """The kernel as a library. Raises ``RuntimeError`` with the compiler's words, or where the processor has no AVX-512."""
    if "avx512bw" not in Path("/proc/cpuinfo").read_text():
        raise RuntimeError("the kernel is written for AVX-512, and this processor has none")
    library = folder / "bench_scenes.so"
    done = subprocess.run(["c++", *FLAGS, "-w", str(SOURCE), "-o", str(library)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{SOURCE} does not compile: {done.stderr[-2000:]}")
    found = ctypes.CDLL(str(library))
    found.kernel_make.restype = found.kernel_image.restype = ctypes.c_void_p
    for name in ("kernel_draw", "kernel_image", "kernel_free"):
        getattr(found, name).argtypes = [ctypes.c_void_p]
    found.kernel_ticks.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return found


class Kernel:
    """A scene in the kernel, with its own copies of all data."""

    def __init__(self, library: Any, frame: Frame, threads: int) -> None:
        (draw,) = frame.draws
        (texture,) = draw.bind.values()
        push = np.concatenate(
            [np.asarray(draw.push["mvp"], np.float32).T.reshape(-1)]
            + [np.asarray(draw.push[name], np.float32) for name in ("p0", "p1", "p2", "p3")]
        )
        levels = np.concatenate([np.ascontiguousarray(a).reshape(-1) for a in (texture.pixels, *texture.mipmaps)])  # type: ignore[union-attr,misc]
        vertices, indices = np.ascontiguousarray(draw.vertices), np.ascontiguousarray(draw.indices)
        at = lambda a: a.ctypes.data_as(ctypes.c_void_p)  # noqa: E731
        self._library, self.size = library, frame.size
        self._scene = library.kernel_make(
            at(vertices), len(vertices), at(indices), len(indices), at(push), at(levels), threads, frame.samples
        )
        if not self._scene:
            raise RuntimeError(f"the kernel has no scene like '{frame.label}'")

    def draw(self) -> None:
        """One frame. Raises ``RuntimeError`` where the scene is not what the kernel is made for."""
        if not self._library.kernel_draw(self._scene):
            raise RuntimeError("a triangle is larger than the kernel's edges allow")

    def picture(self) -> NDArray[np.uint8]:
        """(H, W, 4) of the last frame."""
        pointer = ctypes.cast(self._library.kernel_image(self._scene), ctypes.POINTER(ctypes.c_uint8))
        return np.ctypeslib.as_array(pointer, (self.size[1], self.size[0], 4)).copy()

    def ticks(self) -> NDArray[np.uint64]:
        """Of the time-stamp counter, by stage, since the last call."""
        out = np.zeros(len(STAGES), np.uint64)
        self._library.kernel_ticks(self._scene, out.ctypes.data_as(ctypes.c_void_p))
        return out

    def free(self) -> None:
        """Ends the threads."""
        self._library.kernel_free(self._scene)


def _turn(run: Callable[[], object], frames: int) -> tuple[float, float]:
    """Median milliseconds of a frame by the clock, and least of processor time."""
    clock_ms, processor_ms = [], []
    for _ in range(frames):
        start, busy = time.perf_counter(), time.process_time()
        run()
        clock_ms.append((time.perf_counter() - start) * 1e3)
        processor_ms.append((time.process_time() - busy) * 1e3)
    return statistics.median(clock_ms), min(processor_ms)


def compare(library: Any, scene: str, threads: int, rounds: int) -> None:
    """Prints a scene's row."""
    frame = find_scene(scene).frame()
    renderer = SceneRenderer(tilegpu.Device(threads=threads))
    ours = renderer.render(frame).images[0]
    renderer.device.wait_compiles()
    kernel = Kernel(library, frame, threads)
    kernel.draw()
    difference = np.abs(ours.astype(np.int16) - kernel.picture()).max(-1)
    _print_row(scene, threads, rounds, (kernel.draw, lambda: renderer.render(frame, read=False)), difference)
    kernel.free()


def _print_row(
    scene: str, threads: int, rounds: int, runs: tuple[Callable[[], object], ...], difference: NDArray[Any], end: str = "\n"
) -> None:
    """Times both by turns."""
    for run in runs:
        _turn(run, 3)
    turns = [[_turn(run, 7) for run in runs] for _ in range(rounds)]
    text = f"{scene:28}{threads:8}"
    for kind in (0, 1):
        ratios = [k[kind] / t[kind] for k, t in turns]
        text += (
            f"{statistics.median(k[kind] for k, _ in turns):10.2f}{statistics.median(t[kind] for _, t in turns):9.2f}"
            f"{statistics.median(ratios):7.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        )
    print(f"{text}{int((difference == 1).sum()):10}{int((difference > 1).sum()):6}", end=end, flush=True)


def compare_effect(libraries: dict[str, Any], scene: str, threads: int, rounds: int) -> None:
    """Prints the row of a whole picture's kernel, made by the compiler whose code is quicker."""
    device = tilegpu.Device(threads=threads)
    work = kernel_effects.work_of(device, scene)
    work.run()
    device.wait_compiles()
    work.run()
    kernels = {name: kernel_effects.Effect(library, work, threads) for name, library in libraries.items()}
    for kernel in kernels.values():
        kernel.draw()
    times = {name: min(_turn(kernel.draw, 3)[1] for _ in range(3)) for name, kernel in kernels.items()}
    best = min(times, key=lambda name: times[name])
    kernel = kernels[best]
    difference = np.abs(work.result().astype(np.int64) - kernel.picture()).max(-1)
    _print_row(scene, threads, rounds, (kernel.draw, work.run), difference, end=f"  {best}\n")
    for kernel in kernels.values():
        kernel.free()


_FRAMES = """
import sys, time, tilegpu
from tilegpu.scene import find_scene
from tilegpu.scene import SceneRenderer
r = SceneRenderer(tilegpu.Device(threads=1))
f = find_scene(sys.argv[1]).frame()
r.render(f, read=False)
r.device.wait_compiles()
spent = time.process_time()
for _ in range(int(sys.argv[2])):
    r.render(f, read=False)
print((time.process_time() - spent) / int(sys.argv[2]) * 1e3)
"""


def _stages_of_tilegpu(scene: str, folder: Path) -> tuple[float, list[float]]:
    """Milliseconds of a frame, and each stage's."""
    data = str(folder / "perf.data")
    environment = os.environ | {"TILEGPU_PERF_MAP": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = ["perf", "record", "-q", "-o", data, "-F", "2000", sys.executable, "-c", _FRAMES, scene, "400"]
    frame_ms = float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()[-1])
    report = subprocess.run(
        ["perf", "report", "-i", data, "--no-children", "--stdio", "-g", "none"], capture_output=True, text=True, check=True
    ).stdout
    shares: collections.Counter[int] = collections.Counter()
    for share, where, symbol in re.findall(r"^ +([\d.]+)% +\S+ +(.+?) +\[[.k]\] (.*)$", report, re.MULTILINE):
        if "libtilegpu" in where or "_core" in where or "JIT" in where:
            stage = next((s for s, pattern in FUNCTIONS if re.search(pattern, symbol)), None)
            if stage is not None:
                shares[stage] += float(share)
    whole = sum(shares.values())
    return frame_ms, [frame_ms * shares[k] / whole for k in range(len(STAGES))]


def stages(library: Any, scene: str, folder: Path) -> None:
    """Prints both renderers' milliseconds by stage, one thread."""
    kernel = Kernel(library, find_scene(scene).frame(), 1)
    for _ in range(3):
        kernel.draw()
    kernel.ticks()
    frames, spent = [], time.process_time()
    for _ in range(60):
        kernel.draw()
        frames.append(kernel.ticks())
    kernel_ms = (time.process_time() - spent) / len(frames) * 1e3
    kernel.free()
    theirs = np.median(np.array(frames, np.float64), axis=0)
    theirs *= kernel_ms / theirs.sum()
    frame_ms, ours = _stages_of_tilegpu(scene, folder)
    print(f"\n{scene}, one thread, ms{'kernel':>22}{'tilegpu':>10}")
    for name, k, t in zip(STAGES, theirs, ours, strict=True):
        print(f"{name:30}{k:15.2f}{t:10.2f}")
    print(f"{'all':30}{theirs.sum():15.2f}{frame_ms:10.2f}", flush=True)


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    every = (*SCENES, *kernel_effects.EFFECTS)
    parser.add_argument("--scene", action="append", choices=every, help="one scene (again for more; default: all)")
    parser.add_argument("--threads", action="append", type=int, help="how many (again for more; default: 1 and 2)")
    parser.add_argument("--rounds", type=int, default=15, help="turns (default 15)")
    parser.add_argument("--stages", action="store_true", help="also where the time goes")
    options = parser.parse_args()
    print(", ".join(f"{k} {v}" for k, v in machine().items()))
    clock, processor = "clock: kernel, ours, kernel/ours", "processor"
    print(f"{'scene':28}{'threads':>8}  {clock:38}{processor:38}{'1 apart':>8}{'more':>6}")
    chosen = options.scene or every
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = compile_kernel(folder)
        effects = {c: kernel_effects.compile_effects(folder, c) for c in kernel_effects.compilers()}
        for scene in chosen:
            for threads in options.threads or (1, 2):
                if scene in SCENES:
                    compare(library, scene, threads, options.rounds)
                else:
                    compare_effect(effects, scene, threads, options.rounds)
        for scene in (s for s in chosen if options.stages and s in SCENES):
            stages(library, scene, folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
