"""What a process has compiled the next one finds on disk, whatever the first one's end: counted over processes, by kernels whose optimised
code takes longer than an end waits for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Long straight code over shared memory: a second and more of optimisation for each.
PROGRAM = """
import json, os, signal, sys
import numpy as np
import tilegpu as tg
folder, ending = sys.argv[1:]
dev = tg.Device(cache_dir=folder, threads=1)
for k in range(4):
    steps = "".join(f"x[{n % 16}] = fma(x[{(n * 7 + k) % 16}], {n}.5, sin(x[{(n * 3) % 16}]));" for n in range(700))
    kernel = dev.compute_pipeline(
        "#version 450\\nlayout(local_size_x = 32) in; layout(std430, binding = 0) buffer Data { float data[]; };"
        "void main() { float x[16]; for (int n = 0; n < 16; ++n) x[n] = data[n];" + steps + "data[gl_LocalInvocationID.x] = x[3]; }"
    )
    data = dev.buffer(np.ones(64, "f4"))
    dev.dispatch(kernel, 1, bind={"Data": data})
    value = data.numpy().tobytes().hex()
print(json.dumps([dev.compile_stats["functions_compiled"], dev.compile_stats["functions_from_disk"], value]), flush=True)
if ending == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run(folder: Path, ending: str) -> tuple[int, int, str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(folder), ending], capture_output=True, text=True, timeout=600)
    assert done.returncode == (0 if ending == "whole" else -9), done.stderr
    compiled, from_disk, value = json.loads(done.stdout)
    return compiled, from_disk, value


@pytest.mark.parametrize("ending", ["whole", "killed"])
def test_three_processes_compile_once(tmp_path: Path, ending: str) -> None:
    runs = [run(tmp_path, ending) for _ in range(3)]
    assert [compiled for compiled, _, _ in runs] == [4, 0, 0], runs
    assert [from_disk for _, from_disk, _ in runs] == [0, 4, 4]
    assert len({value for _, _, value in runs}) == 1
