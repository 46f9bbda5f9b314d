"""Nothing grows: 20,000 frames on one device, 5,000 devices, each with what programs make anew. Memory, threads, descriptors and mappings
of the process are counted after a beginning, and at the end."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

COUNTED = """
    import ctypes, gc, os, sys
    import numpy as np
    import tilegpu as tg

    def counted():
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what malloc keeps of what was freed is no leak
        resident_B = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
        mappings = len(open("/proc/self/maps").readlines())
        return resident_B, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), mappings

    VERT = "#version 450\\nlayout(location=0) in vec3 p;\\nvoid main() { gl_Position = vec4(p, 1); }"
    FRAG = ("#version 450\\nlayout(location=0) out vec4 o;\\nlayout(push_constant) uniform P { vec4 c; };\\n"
            "layout(set=0, binding=0) uniform sampler2D t;\\nvoid main() { o = c + texture(t, gl_FragCoord.xy * 0.1); }")
    CORNERS = np.array([(-1, -1, 0.5), (1, -1, 0.5), (0, 1, 0.5)], "f4").view(np.dtype([("p", "f4", 3)])).reshape(-1)
    PIXELS = np.full((4, 4, 4), 99, "u1")

    def frame(dev, pipe, k):
        image = dev.image((32, 32), pipe_format, samples=4)
        resolved = dev.image((32, 32), pipe_format)
        texture = dev.texture(PIXELS)
        with dev.render_pass(tg.Attachment(image, clear=(0, 0, 0, 1), resolve=resolved), label=f"frame {k}") as rp:
            rp.draw(pipe, CORNERS, bind={"t": texture}, push={"c": [k % 7 / 7, 0, 0, 1]})
        return resolved

    pipe_format = "r8g8b8a8_unorm"

    def pipeline(dev):
        return dev.pipeline(VERT, FRAG, vertex=CORNERS.dtype, color=[pipe_format], samples=4)

    def frames(count):
        dev = tg.Device(threads=2, cache_dir="off")
        pipe = pipeline(dev)
        dev.wait_compiles()
        for k in range(count):
            image = frame(dev, pipe, k)
            if k == count // 10:
                first = counted()
        image.numpy()
        return first, counted()

    def devices(count):
        for k in range(count):
            dev = tg.Device(threads=2)
            if k % 10 == 0:
                frame(dev, pipeline(dev), k).numpy()
            if k == count // 10:
                first = counted()
        return first, counted()

    first, last = {"frames": frames, "devices": devices}[sys.argv[1]](int(sys.argv[2]))
    print(*first, *last)
"""


@pytest.mark.parametrize(("what", "count"), [("frames", 20_000), ("devices", 5_000)])
def test_nothing_grows(what: str, count: int) -> None:
    program = textwrap.dedent(COUNTED)
    done = subprocess.run([sys.executable, "-c", program, what, str(count)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    numbers = list(map(int, done.stdout.split()))
    first, last = numbers[:4], numbers[4:]
    assert last[0] - first[0] < 6 << 20, f"resident bytes: {first[0]:,}, {last[0]:,}"
    assert last[1] <= first[1] + 1 and last[2] <= first[2], f"threads and descriptors: {first[1:3]}, {last[1:3]}"
    assert last[3] < first[3] + 40, f"mappings: {first[3]}, {last[3]}"
