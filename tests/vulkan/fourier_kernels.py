"""Fourier transforms that vkdispatch writes kernels for, beside NumPy's: fourier_kernels.py FILE.npy. Shared memory, push constants."""

import sys

import numpy as np
import vkdispatch as vd

vd.make_context(use_cpu=True)
rng = np.random.default_rng(6)
kept = []
for size in (8, 64, 100, 243, 256, 1000, 1024, 4096):
    data = (rng.normal(size=(4, size)) + 1j * rng.normal(size=(4, size))).astype(np.complex64)
    buffer = vd.Buffer(data.shape, vd.complex64)
    buffer.write(data)
    vd.fft.fft(buffer)
    result = np.asarray(buffer.read(0))
    right = np.fft.fft(data)
    assert np.abs(result - right).max() <= 1e-6 * np.abs(right).max(), size
    kept.append(result.ravel())
np.save(sys.argv[1], np.concatenate(kept).view(np.uint32))
