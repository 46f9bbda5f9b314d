"""Ctrl-C ends the wait for a function that LLVM takes long for, on a device without compilers of its own; the device works on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.interrupts import ctrl_c

import tilegpu as tg

#: Where programs find this file and what it imports.
PATHS = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

HEAD = "#version 450\nlayout(local_size_x = 32) in; layout(std430, binding = 0) buffer Data { uint data[]; };\n"
# Ten seconds of LLVM's time and more: each load is one of each lane.
LONG = HEAD + (
    "void main() { uint x = data[gl_GlobalInvocationID.x];"
    + "".join(f"x = x * {2 * k + 1}u + data[x & 15u];\n" for k in range(2500))
    + "data[gl_GlobalInvocationID.x] = x; }"
)
SHORT = HEAD + "void main() { data[gl_GlobalInvocationID.x] += 1u; }"


def interrupted() -> list[int]:
    """What the device computes around it."""
    dev = tg.Device(threads=1, cache_dir="off")
    words = tg.compile_glsl(LONG, "compute")
    data = dev.buffer(np.zeros(64, "u4"))
    dev.dispatch(dev.compute_pipeline(SHORT), 1, bind={"Data": data})
    with ctrl_c(1.5, 6):
        dev.compute_pipeline(words)
    dev.dispatch(dev.compute_pipeline(SHORT.replace("1u", "2u")), 1, bind={"Data": data})
    return data.numpy()[:32].tolist()


@pytest.mark.parametrize("code", ["tiered", "optimised"])
def test_ctrl_c_ends_a_long_compile(code: str) -> None:
    """In a process that ends with its last line: LLVM itself cannot be interrupted, and would work on beside the tests that follow."""
    program = f"""if True:
        import os, sys
        sys.path[:0] = {PATHS!r}
        from test_compile_interrupt import interrupted
        print(interrupted(), flush=True)
        os._exit(0)
    """
    environment = {**os.environ, "TILEGPU_CODE": code}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == f"{[3] * 32}\n", done
