"""Pipelines are ready to record with before their machine code is there: what is submitted waits for it, wherever it was recorded, and the
bits are those of code that was there. Oracle: the same draws by pipelines whose code was made before (``wait_compiles``)."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg

SIZE = (48, 32)
VERT = """#version 450
layout(push_constant) uniform P { vec4 at; };
void main() { vec2 p = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1); gl_Position = vec4(at.xy + p * at.zw, 0.5, 1.0); }"""


def fragment(number: int) -> str:
    """A body of some length, another one for each number."""
    return f"""#version 450
layout(location = 0) out vec4 o;
void main() {{
  vec3 c = vec3(0.0);
  for (int i = 0; i < {3 + number % 4}; i++) c += sin(gl_FragCoord.xyx * 0.{number + 1:02d} + float(i)) * 0.2;
  o = vec4(fract(c + {number}.0 * 0.07), 1.0);
}}"""


def kernel(number: int) -> str:
    return f"""#version 450
layout(local_size_x = 8) in; layout(set = 0, binding = 0) buffer B {{ float x[]; }};
void main() {{ uint i = gl_GlobalInvocationID.x; x[i] = sin(float(i) * 0.{number + 1:02d}) + {number}.0; }}"""


def pipelines(dev: tg.Device, count: int = 8) -> list[tg.Pipeline]:
    return [dev.pipeline(VERT, fragment(k), color=["r8g8b8a8_unorm"], topology="triangle_strip") for k in range(count)]


def place(k: int) -> dict[str, tuple[float, ...]]:
    return {"at": (-1 + k % 4 * 0.5, -1 + k // 4, 0.5, 1.0)}


def picture(dev: tg.Device, made: list[tg.Pipeline], way: str = "pass") -> bytes:
    image = dev.image(SIZE, "r8g8b8a8_unorm")
    target = tg.Attachment(image, clear=(0, 0, 0, 1))
    if way == "secondary":
        part = dev.secondary(color=["r8g8b8a8_unorm"])
        with part:
            for k, pipe in enumerate(made):
                part.draw(pipe, count=4, push=place(k))
        with dev.render_pass(color=target) as rp:
            rp.execute_commands(part)
    elif way == "frame":
        with dev.frame("f"), dev.render_pass(color=target) as rp:
            for k, pipe in enumerate(made):
                rp.draw(pipe, count=4, push=place(k))
    else:
        with dev.render_pass(color=target) as rp:
            for k, pipe in enumerate(made):
                rp.draw(pipe, count=4, push=place(k))
    return image.numpy().tobytes()


@pytest.fixture(scope="module")
def expected() -> bytes:
    dev = tg.Device(cache_dir="off")
    made = pipelines(dev)
    dev.wait_compiles()
    return picture(dev, made)


@pytest.mark.parametrize("way", ["pass", "secondary", "frame"])
def test_what_is_submitted_waits_for_its_code(way: str, expected: bytes) -> None:
    dev = tg.Device(cache_dir="off")
    assert picture(dev, pipelines(dev), way) == expected


def test_two_threads_wait_for_the_same_code(expected: bytes) -> None:
    dev = tg.Device(cache_dir="off", threads=2)
    made = pipelines(dev)
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(picture(dev, made))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 3


def test_dispatches_wait_too() -> None:
    results = []
    for waits in (True, False):
        dev = tg.Device(cache_dir="off")
        made = [dev.compute_pipeline(kernel(k)) for k in range(6)]
        if waits:
            dev.wait_compiles()
        b = dev.buffer(np.zeros((6, 64), np.float32))
        for k, pipe in enumerate(made):
            dev.dispatch(pipe, 8, bind={"B": b.slice(k * 256, 256)})
        results.append(b.numpy().tobytes())
    assert results[0] == results[1]


def test_states_that_a_pipeline_leaves_to_draws(expected: bytes) -> None:
    """Their code is made for the first draw that comes with them."""
    dev = tg.Device(cache_dir="off")
    made = [
        dev.pipeline(VERT, fragment(k), color=["r8g8b8a8_unorm"], topology="triangle_strip", dynamic=["color_write_mask"]) for k in range(8)
    ]
    image = dev.image(SIZE, "r8g8b8a8_unorm")
    with dev.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 1))) as rp:
        for k, pipe in enumerate(made):
            rp.set(color_write_mask="rgba")
            rp.draw(pipe, count=4, push=place(k))
    assert image.numpy().tobytes() == expected


def run(script: str) -> None:
    """In a process of its own, which may fork."""
    head = f"import os, sys\nsys.path.insert(0, {str(Path(__file__).parent.parent)!r})\n"
    done = subprocess.run([sys.executable, "-c", head + textwrap.dedent(script)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


def forks_beside_a_picture(count: int, wait_ms: str, pipelines: int) -> None:
    """So many children, each of them forked while another thread draws on a device of its own, ``wait_ms`` (of ``k``) after it began."""
    run(
        f"""
        import signal, threading, time
        import tilegpu as tg
        from tests.test_coming_code import picture, pipelines
        for k in range({count}):
            dev = tg.Device(cache_dir="off", threads=2)
            made = pipelines(dev, {pipelines})
            other = threading.Thread(target=lambda: picture(dev, made))
            other.start()
            time.sleep(({wait_ms}) * 0.001)
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                picture(dev, made)
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, k
            other.join()
        """
    )


def test_a_fork_waits_for_what_another_thread_makes() -> None:
    """Code that a thread of the parent has taken to make it would never be there in the child, which has no such thread."""
    forks_beside_a_picture(16, "2 * k", pipelines=8)


def test_forks_beside_the_first_work_of_a_process() -> None:
    """What is made once in a process or a device (its threads above all) is made under locks, which a child has to find free."""
    for first_ms in range(0, 24, 4):
        forks_beside_a_picture(4, f"{first_ms} + k", pipelines=2)


def test_a_child_has_what_was_begun_and_so_have_devices_that_end() -> None:
    run(
        """
        import tilegpu as tg
        from tests.test_coming_code import picture, pipelines
        for _ in range(6):
            dev = tg.Device(cache_dir="off", threads=2)
            made = pipelines(dev)
            child = os.fork()
            found = picture(dev, made)
            if child == 0:
                os._exit(len(set(found)) < 9)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            pipelines(dev, 20)
            del dev, made
        """
    )
