"""Kernels by hand of whole pictures (noise, a fractal, ray marching) and of a product of matrices: compiled, given what a scene has, run.

In: a scene's name. Out: its picture by tilegpu and by the kernel, and what to time. The kernels are ``benchmarks/cpp/bench_effect*.cpp``,
compiled here with ``c++`` and, where it is there, ``clang++``. They need AVX-512. ``kernel.py`` prints the tables.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.bench import compute
from tilegpu.scene import SceneRenderer, find_scene

SOURCES = tuple(sorted((Path(__file__).resolve().parent / "cpp").glob("bench_effect*.cpp")))
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-std=c++20", "-pthread", "-shared", "-fPIC", "-fvisibility=hidden", "-w")
#: What has a kernel: scenes, and one that `tilegpu bench compute` has.
EFFECTS = ("toy_noise", "toy_fractal", "toy_ray_march", "matrix_product")


def compilers() -> list[str]:
    """``c++``, and clang where there is one."""
    return ["c++", *[name for name in ("clang++", "clang++-19") if shutil.which(name)][:1]]


def compile_effects(folder: Path, compiler: str) -> Any:
    """The kernels as a library. Raises ``RuntimeError`` with the compiler's words."""
    if "avx512bw" not in Path("/proc/cpuinfo").read_text():
        raise RuntimeError("the kernels are written for AVX-512, and this processor has none")
    library = folder / f"effects_{compiler}.so"
    command = [compiler, *FLAGS, *[str(s) for s in SOURCES], "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{compiler} does not compile the kernels: {done.stderr[-2000:]}")
    found = ctypes.CDLL(str(library))
    found.effect_make.restype = found.effect_image.restype = ctypes.c_void_p
    found.effect_make.argtypes = [ctypes.c_char_p, *[ctypes.c_uint32] * 3, *[ctypes.c_void_p] * 2]
    for name in ("effect_draw", "effect_image", "effect_free"):
        getattr(found, name).argtypes = [ctypes.c_void_p]
    return found


@dataclass(frozen=True)
class Work:
    """What is done, by tilegpu and by a kernel. ``numbers``: push constants; ``arrays``: matrices."""

    name: str
    size: tuple[int, int]
    numbers: NDArray[np.float32]
    arrays: tuple[NDArray[Any], ...]
    run: Callable[[], object]
    result: Callable[[], NDArray[Any]]  # (H, W, 4) uint8


def work_of(device: Any, name: str) -> Work:
    """A scene, or the product."""
    if name == "matrix_product":
        (kernel,) = compute.kernels(1, ["matrix product"])
        run, result = compute.on_tilegpu(device, kernel)
        a, b = kernel.arrays["a"], kernel.arrays["b"]
        return Work(
            name, (len(a), len(a)), np.zeros(4, np.float32), (a, b), run, lambda: result().view(np.uint8).reshape(len(a), len(a), 4)
        )
    frame, renderer = find_scene(name).frame(), SceneRenderer(device)
    (draw,) = frame.draws
    numbers = np.concatenate([np.asarray(v, np.float32).reshape(-1) for v in draw.push.values()])
    return Work(name, frame.size, numbers, (), lambda: renderer.render(frame, read=False), lambda: renderer.render(frame).images[0])


class Effect:
    """A kernel, with what it works on."""

    def __init__(self, library: Any, work: Work, threads: int) -> None:
        arrays = (ctypes.c_void_p * (len(work.arrays) + 1))(*[a.ctypes.data for a in work.arrays], None)
        self._library, self._work = library, work
        self._effect = library.effect_make(work.name.encode(), *work.size, threads, work.numbers.ctypes.data, ctypes.addressof(arrays))
        if not self._effect:
            raise RuntimeError(f"there is no kernel of '{work.name}'")

    def draw(self) -> None:
        """One frame."""
        self._library.effect_draw(self._effect)

    def picture(self) -> NDArray[np.uint8]:
        """(H, W, 4) of the last frame."""
        pointer = ctypes.cast(self._library.effect_image(self._effect), ctypes.POINTER(ctypes.c_uint8))
        return np.ctypeslib.as_array(pointer, (self._work.size[1], self._work.size[0], 4)).copy()

    def free(self) -> None:
        """Ends the threads."""
        self._library.effect_free(self._effect)



