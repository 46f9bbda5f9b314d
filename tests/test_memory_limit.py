"""What all that a process keeps may have together: TILEGPU_MEMORY_MB, or what the machine has."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

LIMIT_MB = 64


def run(program: str, **environment: str) -> str:
    """What a program prints, with another environment."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, env=os.environ | environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_more_than_the_limit_is_an_error_and_what_is_let_go_of_comes_back() -> None:
    said = run(
        """
        import tilegpu as tg
        dev = tg.Device(threads=1, cache_dir="off")
        for _ in range(3):
            kept = []
            try:
                while True:
                    kept.append(dev.image((1024, 1024), "r8g8b8a8_unorm"))
            except tg.OutOfMemoryError as error:
                print(len(kept), error)
        """,
        TILEGPU_MEMORY_MB=str(LIMIT_MB),
    )
    lines = said.splitlines()
    assert len(lines) == 3 and len({line.split()[0] for line in lines}) == 1, said
    count = int(lines[0].split()[0])
    assert LIMIT_MB // 4 - 2 <= count <= LIMIT_MB // 4  # a device may have some of its own
    assert f"of {LIMIT_MB << 20} (TILEGPU_MEMORY_MB" in lines[0] and "size_B is 4194304" in lines[0] and "let go of images" in lines[0]


KINDS = {
    "recordings": """
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
            while True:
                rp.draw(pipe, count=3)
        """,
    "shaders": """
        words = tg.compile_glsl(FRAG, "fragment")
        while True:
            kept.append(tg._core.ShaderModule(words, f"shader {len(kept)}"))
        """,
    "pipelines": """
        while True:
            kept.append(dev.pipeline(VERT, FRAG.replace("0.5", f"{len(kept)}.0"), color=["r8g8b8a8_unorm"]))
        """,
    "descriptor sets": """
        layout = dev.descriptor_set_layout({0: ("storage_buffer", 4096)})
        while True:
            kept.append(dev.descriptor_set(layout))
        """,
    "what a pass works with": """
        wide = dev.image((4096, 4096), "r8_unorm")
        one = dev.pipeline(VERT, FRAG.replace("vec4", "float").replace("float(0.5)", "0.5"), color=["r8_unorm"])
        with dev.render_pass(color=[tg.Attachment(wide, clear=(0, 0, 0, 1))]) as rp:
            rp.draw(one, count=3_000_000)
        """,
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_grows_has_the_limit(kind: str) -> None:
    said = run(
        """
        import tilegpu as tg
        VERT = '''#version 450
        void main() { gl_Position = vec4((gl_VertexIndex % 3 & 1) * 4 - 1, (gl_VertexIndex % 3 >> 1) * 4 - 1, 0.5, 1); }'''
        FRAG = "#version 450\\nlayout(location = 0) out vec4 o;\\nvoid main() { o = vec4(0.5); }"
        dev = tg.Device(threads=1, cache_dir="off")
        pipe, out, kept = dev.pipeline(VERT, FRAG, color=["r8g8b8a8_unorm"]), dev.image((64, 64), "r8g8b8a8_unorm"), []
        def draw():
            with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
                rp.draw(pipe, count=3)
            return int(out.numpy().sum())
        before = draw()
        try:
        BODY
        except tg.OutOfMemoryError as error:
            print(error)
        kept.clear()
        print("same" if draw() == before else "other")
        """.replace("        BODY\n", textwrap.indent(textwrap.dedent(KINDS[kind]), " " * 12)),
        TILEGPU_MEMORY_MB=str(LIMIT_MB),
    ).splitlines()
    assert len(said) == 2 and said[1] == "same", said
    assert f"bytes that this process has left of {LIMIT_MB << 20} (TILEGPU_MEMORY_MB" in said[0]


def test_the_drivers_heap_is_the_limit() -> None:
    said = run(
        """
        import ctypes, struct, tilegpu.vulkan
        from tests.faults.driver_client import Driver
        driver = Driver(str(tilegpu.vulkan.manifest().parent / "libtilegpu.so"))
        count, physical = ctypes.c_uint32(1), ctypes.c_uint64()
        driver.call("vkEnumeratePhysicalDevices", driver.instance, ctypes.addressof(count), ctypes.addressof(physical), result=True)
        properties = ctypes.create_string_buffer(520)
        driver.call("vkGetPhysicalDeviceMemoryProperties", physical.value, ctypes.addressof(properties))
        print(struct.unpack_from("<Q", properties, 4 + 32 * 8 + 4)[0])
        """,
        TILEGPU_MEMORY_MB=str(LIMIT_MB),
        PYTHONPATH=str(Path(__file__).parents[1]),
    )
    assert int(said) == LIMIT_MB << 20


@pytest.mark.parametrize("value", ["many", "-3", "0", "1.5", "99999999999999999999"])
def test_what_is_no_limit_is_an_error(value: str) -> None:
    said = run(
        """
        import tilegpu as tg
        try:
            tg.Device(threads=1, cache_dir="off")
        except tg.Error as error:
            print(error)
        """,
        TILEGPU_MEMORY_MB=value,
    )
    assert said.strip() == (
        f"environment: TILEGPU_MEMORY_MB is {value}, allowed is a number of megabytes from 1 on; set it to one, or unset it"
    )
