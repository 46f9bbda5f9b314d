"""Kernels of taichi on its Vulkan backend, beside NumPy: taichi_kernels.py FILE.npy. Run by test_compute.py in the clients' environment."""

import sys

import numpy as np
import taichi as ti

ti.init(arch=ti.vulkan, log_level=ti.WARN, offline_cache=False)
assert ti.lang.impl.current_cfg().arch == ti.vulkan, "taichi fell back to another backend"

n = 96
a, b, c = (ti.field(ti.f32, (n, n)) for _ in range(3))
total, counts = ti.field(ti.i32, ()), ti.field(ti.i32, 16)
escape = ti.field(ti.i32, (n, n))


@ti.kernel
def fill():
    for i, j in a:
        a[i, j], b[i, j] = i % 7 - 3.0, j % 5 - 2.0


@ti.kernel
def multiply():
    for i, j in c:
        s = 0.0
        for k in range(n):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@ti.kernel
def count():
    for i, j in a:
        total[None] += i * j
        counts[(i * j) % 16] += 1


@ti.kernel
def mandelbrot():
    for i, j in escape:
        x, y, steps = 0.0, 0.0, 0
        while x * x + y * y < 4 and steps < 50:
            x, y = x * x - y * y + i / n * 3 - 2, 2 * x * y + j / n * 2 - 1
            steps += 1
        escape[i, j] = steps


fill(), multiply(), count(), mandelbrot()
i, j = np.mgrid[:n, :n]
assert np.array_equal(c.to_numpy(), ((i % 7 - 3.0) @ (j % 5 - 2.0)).astype("f4"))
assert total[None] == (i * j).sum() and np.array_equal(counts.to_numpy(), np.bincount((i * j).ravel() % 16, minlength=16))
assert len(np.unique(escape.to_numpy())) > 20
np.save(sys.argv[1], escape.to_numpy())
