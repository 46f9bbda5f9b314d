"""Quick code that a process leaves on disk is run by the next, whose library lies elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Quick code calls the core for attributes and interpolated inputs; the fragment shader's is large enough to be kept at once.
PROGRAM = """
import hashlib, os, signal, sys
import numpy as np
import tilegpu as tg
V = np.dtype([("p", "f4", 2), ("c", "f4", 4)])
VERT = '''#version 450
layout(location = 0) in vec2 p; layout(location = 1) in vec4 c;
layout(location = 0) out vec4 v; layout(location = 1) flat out vec4 w;
void main() { gl_Position = vec4(p, 0.5, 1); v = c; w = c; }'''
LINES = "".join(f"x = sin(x * {1 + k / 7:.3f} + v.yzwx) * w + cos(x.zwxy * v);" for k in range(60))
FRAG = '''#version 450
layout(location = 0) in vec4 v; layout(location = 1) flat in vec4 w; layout(location = 0) out vec4 o;
void main() { vec4 x = v; ''' + LINES + '''o = abs(fract(x)); }'''
dev = tg.Device(threads=1)
vertices = np.zeros(3, V)
vertices["p"] = [(-1, -1), (3, -1), (-1, 3)]
vertices["c"] = np.arange(12).reshape(3, 4) / 12
pipe = dev.pipeline(VERT, FRAG, vertex=V, color=["r8g8b8a8_unorm"])
out = dev.image((64, 64), "r8g8b8a8_unorm")
with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
    rp.draw(pipe, vertices)
print(hashlib.sha256(out.numpy().tobytes()).hexdigest(), dev.compile_stats["functions_from_disk"], flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run(end: str, home: Path) -> tuple[str, int]:
    places = {"XDG_CACHE_HOME": str(home / "cache"), "XDG_STATE_HOME": str(home / "state")}
    done = subprocess.run([sys.executable, "-c", PROGRAM, end], capture_output=True, text=True, env=os.environ | places, check=False)
    assert done.returncode == (-9 if end == "killed" else 0), done.stderr
    picture, from_disk = done.stdout.split()
    return picture, int(from_disk)


def test_killed_processes_leave_code_that_runs_elsewhere(tmp_path: Path) -> None:
    first, before = run("killed", tmp_path)
    others = [run(end, tmp_path) for end in ("killed", "killed", "whole", "whole")]
    assert before == 0 and [picture for picture, _ in others] == [first] * 4
    assert others[0][1] > 0  # else nothing was tried
