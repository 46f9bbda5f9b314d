"""Threads of Python beside calls that take long: they run, they are told where they meet, and nobody else's Ctrl-C is theirs."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
SOLID = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(gl_FragCoord.x / 64.0); }"
TEXTURED = """#version 450
layout(binding = 0) uniform sampler2D t; layout(location = 0) out vec4 o; void main() { o = texture(t, gl_FragCoord.xy / 64.0); }"""
SLOW = """#version 450
layout(location = 0) out vec4 o;
void main() { float x = gl_FragCoord.x; for (int i = 0; i < 3000; ++i) x = fract(x * 1.1 + 0.3); o = vec4(x); }"""

Count = Callable[[Callable[[], object]], int]


@pytest.fixture
def others() -> Iterator[Count]:
    """How often another thread ran while a call was made: it does only where the call gives up the interpreter's lock."""
    turns, stop, interval = [0], threading.Event(), sys.getswitchinterval()

    def other() -> None:
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0)

    def count(call: Callable[[], object]) -> int:
        before = turns[0]
        call()
        return turns[0] - before

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    sys.setswitchinterval(1000)
    yield count
    sys.setswitchinterval(interval)
    stop.set()
    thread.join()


def turns_while_drawing(others: Count, variant: int) -> list[list[int]]:
    """Turns of another thread in draws of five states: (first use of each: compiled, second use: known)."""
    steps = "".join(f"x = sin(x * {variant}.{i}) + x.yzwx * cos(x.wxyz + {i}.0); if (x.x > {i}.5) x += exp(x.zwxy);\n" for i in range(60))
    frag = SOLID.replace("o = vec4(", f"vec4 x = gl_FragCoord / 64.0; {steps} o = x + vec4(")
    device = tg.Device(cache_dir="off", threads=2)
    out = device.image((64, 64), "r8g8b8a8_unorm", samples=4)
    states = ["alpha_to_one_enable", "color_blend_enable", "color_blend_equation", "color_blend_advanced", "rasterization_samples"]
    pipe = device.pipeline(FULL, frag, color=[out.format], samples=4, dynamic=states)
    ran: list[list[int]] = [[], []]
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.set(alpha_to_one_enable=False, rasterization_samples=4, color_blend_enable=[True])
        for times in ran:
            for blend in ("alpha", "premultiplied", "additive", "multiply", "screen"):
                rp.set(**{"color_blend_advanced" if blend in ("multiply", "screen") else "color_blend_equation": [blend]})
                times.append(others(lambda: rp.draw(pipe, count=3)))
    return ran


def test_other_threads_run_while_a_state_is_compiled(others: Count) -> None:
    """A compile gives others their turn; ``cpp/tests/test_recordings_at_once.cpp`` counts the calls around any."""
    compiled = []
    for variant in range(1, 21):  # where every processor is busy the other thread may not run within one compile
        first, known = turns_while_drawing(others, variant)
        assert not any(known), known  # known states keep the lock: giving it up costs more than a draw
        compiled.append(first)
        if any(first):
            return
    raise AssertionError(f"no turn for another thread in any compile: {compiled}")


@pytest.mark.parametrize("late", range(4))
def test_two_threads_that_draw_into_one_pass_take_turns(late: int) -> None:
    """Who comes while code is compiled for the other one waits, whatever it calls; every draw is taken."""
    device = tg.Device(cache_dir="off", threads=1)
    out = device.image((64, 64), "r8g8b8a8_unorm")
    made: dict[str, Any] = {"color": [out.format], "dynamic": ["color_blend_enable", "color_blend_equation"]}
    pipe, other_pipe = device.pipeline(FULL, SOLID, **made), device.pipeline(FULL, TEXTURED, **made)
    texture = device.texture(np.zeros((4, 4, 4), np.uint8))
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.set(color_blend_enable=[True], color_blend_equation=["alpha"])

        def other() -> None:
            time.sleep(0.002 * late)
            rp.draw(other_pipe, count=3, bind={"t": texture})
            rp.set(color_blend_equation=["additive"])
            rp.draw(other_pipe, count=3, bind={"t": texture})

        thread = threading.Thread(target=other, daemon=True)
        thread.start()
        rp.draw(pipe, count=3)
        thread.join()
    assert sum(row["draws"] for row in rp.explain().rows) == 3


def test_a_draw_of_one_thread_is_whole() -> None:
    """A draw binds, then draws: with the interpreter's threads changed at every chance, nothing of another's comes between."""
    device = tg.Device(cache_dir="off", threads=1)
    size, count = 64, 400
    out = device.image((size, size), "r8g8b8a8_unorm")
    frag = """#version 450
layout(push_constant) uniform P { vec4 color; };
layout(binding = 0) uniform sampler2D t; layout(location = 0) out vec4 o; void main() { o = color + texture(t, vec2(0.5)); }"""
    pipe = device.pipeline(FULL, frag, color=[out.format], dynamic=["color_write_mask"])
    black = device.texture(np.zeros((1, 1, 4), np.uint8))
    errors: list[BaseException] = []
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:

        def draws(channel: int) -> None:
            color = [float(c == channel) for c in range(4)]
            try:
                for k in range(channel, count, 2):
                    place = (k % size, k // size, 1, 1)
                    rp.draw(pipe, count=3, bind={"t": black}, push={"color": color}, scissor=place)
            except BaseException as e:
                errors.append(e)

        rp.set(color_write_mask=["rgba"])
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        threads = [threading.Thread(target=draws, args=(channel,)) for channel in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not errors
    drawn = out.numpy().reshape(-1, 4)[:count]
    want = np.zeros((count, 4), np.uint8)
    want[0::2, 0] = want[1::2, 1] = 255
    assert np.array_equal(drawn, want)


INTERRUPTED = """
import os, signal, threading, time
import tilegpu as tg

signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests may ignore it
FULL, SOLID, SLOW = {shaders!r}
device = tg.Device(cache_dir="off", threads=1)
large, small = device.image((2048, 2048), "r8g8b8a8_unorm"), device.image((8, 8), "r8g8b8a8_unorm")
slow = device.pipeline(FULL, SLOW, color=[large.format], blend="additive")
quick = device.pipeline(FULL, SOLID, color=[small.format])
recorded, stop, errors, passes = threading.Event(), threading.Event(), [], 0

def other():
    global passes
    recorded.wait()
    threading.Thread(target=lambda: (time.sleep(0.2), os.kill(os.getpid(), signal.SIGINT))).start()
    while not (stop.is_set() and passes):
        try:
            with device.render_pass(color=[tg.Attachment(small, clear=(0, 0, 0, 0))]) as rp:
                rp.draw(quick, count=3)
            passes += 1
        except BaseException as e:
            errors.append(repr(e))
            return

thread = threading.Thread(target=other, daemon=True)
thread.start()
try:
    with device.render_pass(color=[tg.Attachment(large, clear=(0, 0, 0, 0))]) as rp:
        for _ in range(40):
            rp.draw(slow, count=3)
        recorded.set()
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
stop.set()
thread.join()
print(errors, passes > 0)
"""


def test_an_interrupt_ends_the_pass_that_it_interrupts() -> None:
    """Passes of other threads that wait for their turn, or are submitted meanwhile, are drawn."""
    code = INTERRUPTED.format(shaders=(FULL, SOLID, SLOW))  # signals are for a process's main thread
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split("\n")[:2] == ["interrupted", "[] True"], done.stdout + done.stderr


AT_EXIT = """
import threading, time, sys
import numpy as np
import tilegpu as tg
dev = tg.Device(threads=1)
out = dev.image((256, 256), "r8g8b8a8_unorm")
pipe = dev.pipeline({vertex!r}, {fragment!r}, color=[out.format])
begun, left = threading.Event(), []

def draw():
    try:
        while True:
            with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
                rp.draw(pipe, count=3)
                begun.set()
            {more}
    finally:
        left.append(1)

thread = threading.Thread(target=draw, daemon=True)
{before}
thread.start()
begun.wait()
time.sleep({wait})
"""


@pytest.mark.parametrize("more", ["out.numpy()", "dev.pipeline"])
@pytest.mark.parametrize("wait", [0.0, 0.01])
def test_a_daemon_thread_that_draws_at_the_end(more: str, wait: float) -> None:
    """Python ends it by unwinding the core's frames, which aborted the process."""
    if "pipeline" in more:
        text = "'#version 450\\nlayout(location = 0) out vec4 o; void main() { o = vec4(%d); }' % (time.time_ns() % 100000000)"
        more = f"dev.pipeline({FULL!r}, {text}, color=[out.format])"
    code = AT_EXIT.format(vertex=FULL, fragment=SLOW, more=more, wait=wait, before="")
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_daemon_thread_that_comes_back_when_python_has_ended() -> None:
    """Its pass takes longer than the end waits for it. Python up to 3.13 unwound it, and the process aborted."""
    late = """
import types

class Late:
    def __del__(self, sleep=time.sleep):
        sleep(5)  # the pass is over meanwhile

sys.modules["late"] = types.ModuleType("late")  # whose names Python forgets in the midst of its end
sys.modules["late"].it = Late()
"""
    long = SLOW.replace("3000", "1700000000")  # one pixel of it takes some 6 seconds
    code = AT_EXIT.format(vertex=FULL, fragment=long, more="out.numpy()", wait=0.5, before="").replace("(256, 256)", "(1, 1)")
    code = code.replace("tg.Device(threads=1)", "tg.Device(threads=1, loop_budget=1 << 40)") + late
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_who_waits_for_a_daemon_thread_at_the_end_sees_it_end() -> None:
    """Also where that was registered before the package was imported, and so comes behind its own end."""
    code = "import atexit\nlate = []\natexit.register(lambda: (late[0].join(30), print(late[0].is_alive(), left)))\n"
    code += AT_EXIT.format(vertex=FULL, fragment=SLOW, more="out.numpy()", wait=0.0, before="late.append(thread)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False [1]\n", "")


def test_what_the_main_thread_does_at_the_end_still_works() -> None:
    code = AT_EXIT.format(vertex=FULL, fragment=SLOW, more="out.numpy()", wait=0.0, before="")
    late = "import atexit, tilegpu as tg\n"
    late += "atexit.register(lambda: print(tg.Device(threads=1).buffer(np.arange(3)).numpy().tolist()))\n"
    done = subprocess.run([sys.executable, "-c", late + code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 1, 2]\n", "")


FORKED = """
import os, signal, threading, time
from tilegpu.fixed import made_once

class Thing:
    @made_once
    def slow(self):
        begun.set()
        time.sleep(wait_s)
        return object()

begun, wait_s, first = threading.Event(), 1.0, Thing()
threading.Thread(target=lambda: first.slow, daemon=True).start()
begun.wait()
wait_s = 0.0
child = os.fork()
if not child:
    signal.alarm(20)
    Thing().slow
    os._exit(0)
print(os.waitpid(child, 0)[1], Thing().slow is not first.slow, first.slow is first.slow)
"""


def test_a_child_does_not_wait_for_what_another_thread_makes() -> None:
    """functools.cached_property has a lock for the whole class up to Python 3.11: children by fork hung, one of some hundred under load."""
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("0 True True\n", 0), done.stderr
    package = Path(tg.__file__).parent
    uses = [str(path) for path in package.rglob("*.py") if "@functools.cached_property" in path.read_text(encoding="utf-8")]
    assert not uses, "tilegpu.fixed.made_once has no lock"
