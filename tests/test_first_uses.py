"""What is found once and kept, first used by eight threads at once: whoever comes second must not find it half made, nor wait for ever.

Each in a process of its own, whose threads take turns as often as Python can.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

HEAD = """
import sys, threading
import numpy as np
import tilegpu as tg

VERTEX = '''#version 450
layout(location = 0) in vec2 p;
void main() { gl_Position = vec4(p, 0.0, 1.0); }'''
FRAGMENT = '''#version 450
layout(location = 0) out vec4 c;
layout(set = 0, binding = 0) uniform B { vec4 k; };
layout(set = 0, binding = 1) uniform sampler2D t;
void main() { c = k * texture(t, vec2(0.5)); }'''
COMPUTE = '''#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer B { uint v[]; };
void main() { v[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 3u; }'''
CORNERS = np.array([[-1, -1], [3, -1], [-1, 3]], "f4")
device = tg.Device(threads=1)

def triangle(device=device):
    pipe = device.pipeline(VERTEX, FRAGMENT, color=["r8g8b8a8_unorm"], vertex=np.dtype(("f4", 2)))
    out = device.image((8, 8), "r8g8b8a8_unorm")
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, device.buffer(CORNERS), bind={"B": {"k": (1, 0, 0, 1)}, "t": device.texture(np.full((4, 4, 4), 255, "u1"))})
    return rp, out

def check(image):
    assert (image.numpy() == (255, 0, 0, 255)).all()
"""

TAIL = """
sys.setswitchinterval(1e-6)
barrier, failed = threading.Barrier(8), []

def one(index):
    barrier.wait()
    try:
        work(index)
    except BaseException as error:
        failed.append(error)

threads = [threading.Thread(target=one, args=(k,)) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if failed:
    raise failed[0]
"""

WORK = {
    "reads of every kind of number": """
        images = [device.texture(np.full((4, 4, c), 3, t)).image for c in (1, 2, 4) for t in ("u1", "u2", "f2", "f4")]
        def work(index):
            for image in images:
                assert (image.numpy() == 3).all()
        """,
    "draws": """
        pipe = device.pipeline(VERTEX, FRAGMENT, color=["r8g8b8a8_unorm"], vertex=np.dtype(("f4", 2)))
        corners, texture = device.buffer(CORNERS), device.texture(np.full((4, 4, 4), 255, "u1"))
        images = [device.image((8, 8), "r8g8b8a8_unorm") for k in range(8)]
        def work(index):
            for repeat in range(3):
                with device.render_pass(color=[tg.Attachment(images[index], clear=(0, 0, 0, 0))]) as rp:
                    for again in range(3):
                        rp.draw(pipe, corners, bind={"B": {"k": (1, 0, 0, 1)}, "t": texture})
                check(images[index])
        """,
    "pipelines": """
        def work(index):
            check(triangle()[1])
        """,
    "dispatches": """
        def work(index):
            buffer = device.buffer(np.zeros(8, "u4"))
            device.dispatch(device.compute_pipeline(COMPUTE), 2, bind={"B": buffer})
            assert (buffer.numpy() == np.arange(8) * 3).all()
        """,
    "frames": """
        def work(index):
            own = tg.Device(threads=1, profile="mali-g720")
            with own.frame("f") as f:
                triangle(own)
            assert f.stats and f.lint() is not None
        """,
    "explanations": """
        device = tg.Device(threads=1, profile="mali-g720")
        def work(index):
            rp, out = triangle(device)
            assert rp.explain() and rp.costs() and rp.stats
            check(out)
        """,
    "errors": """
        def work(index):
            for wrong in (lambda: device.image((0, 8), "r8g8b8a8_unorm"), lambda: device.image((8, 8), "r9"), lambda: device.pipline):
                try:
                    wrong()
                except (tg.Error, AttributeError) as error:
                    assert str(error)
                else:
                    raise AssertionError
        """,
}


@pytest.mark.parametrize("name", WORK)
def test_first_uses_by_eight_threads(name: str) -> None:
    code = HEAD + textwrap.dedent(WORK[name]) + TAIL
    for _ in range(3):
        done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
