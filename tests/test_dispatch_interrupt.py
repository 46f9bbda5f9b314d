"""A dispatch of billions of workgroups ends with Ctrl-C soon, on all threads or in order on one; device and buffer work on."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import tilegpu as tg

PLAIN = """#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
void main() { data[gl_GlobalInvocationID.x & 255u] = 1u; }"""
ORDERED = PLAIN.replace("data[gl_GlobalInvocationID.x & 255u] = 1u", "data[1] = atomicAdd(data[0], 1u)")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("text", [PLAIN, ORDERED], ids=["plain", "ordered"])
def test_ctrl_c_ends_a_large_dispatch(text: str, threads: int) -> None:
    dev = tg.Device(threads=threads, cache_dir="off")
    kernel = dev.compute_pipeline(text)
    data = dev.buffer(np.zeros(256, "u4"))
    dev.dispatch(kernel, 1, bind={"Data": data})
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            dev.dispatch(kernel, (65535, 65535, 65535), bind={"Data": data})  # some days
        assert time.monotonic() - began < 30
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)
    dev.dispatch(kernel, 1, bind={"Data": data})
    assert data.numpy()[:1] >= 1
