"""Work of hours ends with Ctrl-C soon: dispatches, on all threads or in order on one, passes within one workgroup, and pictures that are
saved; devices work on."""

from __future__ import annotations

import itertools
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow
from tests.interrupts import ctrl_c
from tests.sanitized import SANITIZED

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
    with ctrl_c(0.3, 30):
        dev.dispatch(kernel, (65535, 65535, 65535), bind={"Data": data})  # some days
    dev.dispatch(kernel, 1, bind={"Data": data})
    assert data.numpy()[:1] >= 1


MESH = "#version 460\n#extension GL_EXT_mesh_shader : require\n"
TASK = MESH + "layout(local_size_x = 1) in; void main() { EmitMeshTasksEXT(65535, 64, 1); }"
NOTHING = (
    MESH
    + """layout(local_size_x = 32) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
layout(std430, binding = 0) buffer Data { uint data[]; };
void main() { for (uint k = 0; k < 400; k++) atomicAdd(data[gl_LocalInvocationIndex], k); SetMeshOutputsEXT(0, 0); }"""
)
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_what_one_task_workgroup_starts(threads: int) -> None:
    """Four million mesh workgroups, in one chunk of the geometry phase, that draw nothing."""
    dev = tg.Device(threads=threads, cache_dir="off")
    pipe = dev.pipeline(task=TASK, mesh=NOTHING, frag=WHITE, color=["r8g8b8a8_unorm"])
    out, data = dev.image((64, 64), "r8g8b8a8_unorm"), dev.buffer(np.zeros(32, "u4"))
    with ctrl_c(0.5, 30), dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
        rp.draw_mesh_tasks(pipe, (8, 1, 1), bind={"Data": data})
    with dev.render_pass(color=[tg.Attachment(out, clear=(1, 0, 0, 1))]):
        pass
    assert out.numpy()[0, 0].tolist() == [255, 0, 0, 255]


@pytest.mark.parametrize(
    ("suffix", "format"), [("gif", "r8g8b8a8_unorm"), ("webp", "r8g8b8a8_unorm"), ("bmp", "r16g16b16a16_sfloat"), ("png", "r8g8b8a8_snorm")]
)
def test_saving_a_large_picture_looks_at_signals(suffix: str, format: str, tmp_path: Path) -> None:
    """All the time, not between steps of seconds. Counted in processor time: the machine may have other work. The file is the whole one.

    What the machine does besides makes each step take longer, by its caches and its other half: a step that is long is long three times."""
    dev = tg.Device(threads=1)
    side = 4096
    image = dev.image((side, side), format)
    dev.clear(image, (0.1, 0.2, 0.3, 1))
    small = dev.image((64, 64), format)
    dev.clear(small, (0.1, 0.2, 0.3, 1))
    small.save(tmp_path / f"small.{suffix}")  # what is loaded and compiled once
    image.numpy()

    def longest_and_whole() -> tuple[float, float]:
        """Seconds of the longest step between two looks, and of all."""
        looks = [time.process_time()]
        handler = signal.signal(signal.SIGPROF, lambda number, frame: looks.append(time.process_time()))
        signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)
        try:
            image.save(tmp_path / f"large.{suffix}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, handler)
        looks.append(time.process_time())
        return max(b - a for a, b in itertools.pairwise(looks)), looks[-1] - looks[0]

    said = []
    for _ in range(3):
        longest, whole = longest_and_whole()
        said.append(f"{longest:.3f} of {whole:.3f} s")
        if longest < max(0.5 if SANITIZED else 0.12, 0.2 * whole):  # a step between which nobody looks is nearly all of it
            break
    else:
        pytest.fail(", ".join(said))
    with Pillow.open(tmp_path / f"large.{suffix}") as large, Pillow.open(tmp_path / f"small.{suffix}") as part:
        assert large.size == (side, side) and large.mode == part.mode
        pixels = np.asarray(large.convert("RGBA"))
        assert (pixels == np.asarray(part.convert("RGBA"))[0, 0]).all()


def test_a_large_picture_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    dev = tg.Device(threads=1)
    image = dev.image((4096, 4096), "r8g8b8a8_unorm")
    image.write(np.random.default_rng(1).integers(0, 256, (4096, 4096, 4), np.uint8))
    image.numpy()
    with ctrl_c(0.5, 30):
        image.save(tmp_path / "x.webp")
    assert not list(tmp_path.iterdir())
