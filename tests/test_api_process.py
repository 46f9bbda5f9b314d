"""The package as a guest of a process: import time, forks, threads, Ctrl-C."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg

FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
SOLID = "#version 450\nlayout(location = 0) out vec4 o;\nlayout(push_constant) uniform P { float v; };\nvoid main() { o = vec4(v); }"
SLOW = """#version 450
layout(location = 0) out vec4 o;
void main() { float x = gl_FragCoord.x; for (int i = 0; i < 30000; ++i) x = fract(x * 1.1 + 0.3); o = vec4(x); }"""


def run(code: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=timeout, check=False
    )


def draw(device: tg.Device, pipe: tg.Pipeline, value: float) -> int:
    out = device.image((64, 64), "r8_unorm")
    with device.render_pass(color=[tg.Attachment(out, clear=(0,))]) as rp:
        rp.draw(pipe, count=3, push={"v": value})
    array = out.numpy()
    assert (array == array[0, 0]).all()
    return int(array[0, 0, 0])


def test_import_brings_in_nothing_but_numpy() -> None:
    done = run(
        """
        import sys, numpy
        before = set(sys.modules)
        import tilegpu
        heavy = [m for m in set(sys.modules) - before if m.split(".")[0] in ("PIL", "moderngl", "glfw", "trimesh", "asyncio", "unittest")]
        assert not heavy, heavy
        """
    )
    assert done.returncode == 0, done.stderr


def test_forked_child_renders() -> None:
    device = tg.Device(cache_dir="off", threads=2)
    pipe = device.pipeline(FULL, SOLID, color=["r8_unorm"])
    assert draw(device, pipe, 1.0) == 255
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if draw(device, pipe, 0.2) == 51 else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert draw(device, pipe, 0.4) == 102


def test_threads_share_a_device() -> None:
    device = tg.Device(cache_dir="off", threads=2)
    pipe = device.pipeline(FULL, SOLID, color=["r8_unorm"])
    wrong: list[object] = []

    def work(number: int) -> None:
        try:
            for _ in range(10):
                value = draw(device, pipe, number / 255)
                if value != number:
                    wrong.append((number, value))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(0, 240, 40)]
    for thread in threads[:4]:
        thread.start()
    before = threading.stack_size(64 * 1024)  # too little to render on
    try:
        for thread in threads[4:]:
            thread.start()
    finally:
        threading.stack_size(before)
    for thread in threads:
        thread.join()
    assert not wrong


def test_who_waits_takes_its_turn_behind_what_was_submitted() -> None:
    device = tg.Device(cache_dir="off", threads=2)
    pipe = device.pipeline(FULL, SLOW, color=["r8_unorm"])
    out = device.image((64, 64), "r8_unorm")
    with device.render_pass(color=[tg.Attachment(out, clear=(0,))]) as slow:
        slow.draw(pipe, count=3)
    assert slow._recorded is not None
    for _ in range(3):
        fences = [device.core.submit([slow._recorded]) for _ in range(2)]
        with device.render_pass(color=[tg.Attachment(out, clear=(1,))]):
            pass
        assert all(fence.signaled() for fence in fences)
        assert (out.numpy() == 255).all()


def test_other_python_threads_run_while_a_pass_renders() -> None:
    device = tg.Device(cache_dir="off", threads=1)
    pipe = device.pipeline(FULL, SLOW, color=["r8_unorm"])
    out = device.image((128, 128), "r8_unorm")
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    longest_s = pass_s = 0.0
    try:
        # With the interpreter's lock held nothing ticks for as long as the pass takes. A busy machine may leave the thread no processor
        # for most of one pass, not of twenty.
        for _ in range(20):
            start = time.monotonic()
            with device.render_pass(color=[tg.Attachment(out, clear=(0,))]) as rp:
                rp.draw(pipe, count=3)
            end = time.monotonic()
            pass_s = (rp.stats.geometry_ms + rp.stats.tiles_ms) / 1000
            times = [start, *(t for t in ticks if start < t < end), end]
            longest_s = max(after - before for before, after in itertools.pairwise(times))
            if longest_s < 0.9 * pass_s:
                break
    finally:
        stop.set()
        thread.join()
    assert longest_s < 0.9 * pass_s


def test_ctrl_c_ends_a_long_pass() -> None:
    done = run(
        f"""
        import os, signal, threading, time
        import tilegpu as tg
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored under nohup
        device = tg.Device(cache_dir="off")
        pipe = device.pipeline({FULL!r}, {SLOW!r}, color=["r8_unorm"])
        out = device.image((8192, 8192), "r8_unorm")
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.5, interrupt).start()
        try:
            with device.render_pass(color=[tg.Attachment(out, clear=(0,))]) as rp:
                rp.draw(pipe, count=3)
        except KeyboardInterrupt:
            took = time.monotonic() - sent[0]
            small = device.image((8, 8), "r8_unorm")
            with device.render_pass(color=[tg.Attachment(small, clear=(1,))]):
                pass
            assert (small.numpy() == 255).all()
            print("interrupted after", took)
            raise SystemExit(0 if took < 2 else 3)
        raise SystemExit(4)
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_objects_may_go_in_any_order() -> None:
    device = tg.Device(cache_dir="off", threads=2)
    pipe = device.pipeline(FULL, SOLID, color=["r8_unorm"])
    out = device.image((8, 8), "r8_unorm")
    with device.render_pass(color=[tg.Attachment(out, clear=(0,))]) as rp:
        rp.draw(pipe, count=3, push={"v": 1.0})
    view = np.asarray(out)
    del device, pipe, rp, out
    assert (view == 255).all()


def test_quick_code_is_replaced_and_never_left_waiting() -> None:
    device = tg.Device(cache_dir="off", threads=2)
    pipe = device.pipeline(FULL, SOLID, color=["r8_unorm"])
    out = device.image((64, 64), "r8_unorm")
    with device.render_pass(color=[tg.Attachment(out, clear=(0,))]) as rp:
        rp.draw(pipe, count=3, push={"v": 0.6})
    before = out.numpy().copy()
    compiled = device.compile_stats["functions_compiled"]
    device.wait_compiles()
    stats = device.compile_stats
    assert stats["functions_waiting"] == 0
    assert stats["functions_compiled"] == compiled
    rp.replay()
    assert (out.numpy() == before).all()
    assert (before == 153).all()


def test_fork_and_exit_while_the_crew_optimises(tmp_path: Path) -> None:
    done = run(
        f"""
        import os
        import tilegpu as tg
        device = tg.Device(cache_dir={str(tmp_path)!r}, threads=2)
        def pipeline(k):
            return device.pipeline({FULL!r}, {SOLID!r}.replace("vec4(v)", f"vec4(v + {{k}}.0 * 1e-9)"), color=["r8_unorm"])
        for k in range(6):
            pipe = pipeline(k)
            child = os.fork()
            if child == 0:
                out = device.image((8, 8), "r8_unorm")
                with device.render_pass(color=[tg.Attachment(out, clear=(0,))]) as rp:
                    rp.draw(pipeline(100 + k), count=3, push={{"v": 1.0}})
                device.wait_compiles()
                os._exit(0 if (out.numpy() == 255).all() and device.compile_stats["functions_waiting"] == 0 else 3)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        keep = [pipeline(k) for k in range(200, 206)]
        tg.leaked = device  # a module's attribute: the interpreter may never destroy it
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr
    again = tg.Device(cache_dir=str(tmp_path), threads=2)
    for k in range(200, 206):
        again.pipeline(FULL, SOLID.replace("vec4(v)", f"vec4(v + {k}.0 * 1e-9)"), color=["r8_unorm"])
    assert again.compile_stats["functions_compiled"] == 0, "what waited at the end is on disk"
