"""Shaders that glslang or SPIRV-Tools take seconds or gigabytes for, on devices that do not isolate their compiler: errors or results
within a bounded time and memory, which Ctrl-C ends; and the same results as those of small ones."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tests.interrupts import ctrl_c

import tilegpu as tg

HEAD = "#version 450\nlayout(local_size_x = 1) in; layout(std430, binding = 0) buffer Data { uint data[]; };\n"


def doubling(levels: int) -> str:
    lines = ["#define D0(x) x x"] + [f"#define D{i}(x) D{i - 1}(x) D{i - 1}(x)" for i in range(1, levels + 1)]
    return HEAD + "\n".join(lines) + "\n"


def structures(levels: int) -> str:
    return HEAD + "struct S0 { float a; };\n" + "".join(f"struct S{i} {{ S{i - 1} a, b; }};\n" for i in range(1, levels + 1))


#: Each takes gigabytes of glslang, or minutes. Written so that no count of tokens sees it.
HOSTILE = {
    "a macro that an argument names": doubling(26) + "#define AP(m, x) m(x)\nvoid main() { data[0] = 0u AP(D26, + 1u); }",
    "a macro that ## makes": doubling(26) + "#define CAT(a, b) a##b\nvoid main() { data[0] = 0u CAT(D, 26)(+ 1u); }",
    "a macro of which a condition chooses one": HEAD + "#define D0(x) x x\n" + "".join(
        f"#if 1\n#define D{i}(x) D{i - 1}(x) D{i - 1}(x)\n#else\n#define D{i}(x) x\n#endif\n" for i in range(1, 27)
    ) + "void main() { data[0] = 0u D26(+ 1u); }",
    "structures as parameters": structures(26) + "float f(S26 s) { return 1.0; }\nvoid main() { data[0] = 1u; }",
    "arrays that are compared": HEAD + "void main() { mat4 a[4000000], b[4000000]; bool e = a == b; data[0] = e ? 1u : 0u; }",
    "arrays of a length that is computed": HEAD
    + "const int N = 2000 * 2000; void main() { mat4 a[N], b[N]; bool e = a == b; data[0] = e ? 1u : 0u; }",
}  # fmt: skip

OVERLOADS = HEAD + (
    "".join(f"uint f(uint a[{i + 3}], uint b) {{ return 1u; }}\n" for i in range(9000))
    + "uint f(uint a[2], uint b) { return 1u; } void main() { uint q[2]; data[0] = 0u"
    + "+ f(q, 1)" * 9000
    + "; }"
)


@pytest.mark.skipif(bool(os.environ.get("TILEGPU_SANITIZED")), reason="the address space of its processes can't be limited")
@pytest.mark.parametrize("what", HOSTILE)
def test_no_text_takes_gigabytes_of_this_process(what: str) -> None:
    program = f"""
        import resource, tilegpu as tg
        device = tg.Device(threads=1, cache_dir="off")
        device.compute_pipeline({HEAD!r} + "void main() {{ data[0] = 1u; }}")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            device.compute_pipeline({HOSTILE[what]!r})
        except tg.Error as error:
            print(type(error).__name__, str(error)[:200])
        print("grew", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "Error" in done.stdout, done
    assert int(done.stdout.split("grew ")[1]) < 300, done.stdout


@pytest.mark.parametrize("what", ["GLSL", "SPIR-V"])
def test_ctrl_c_ends_what_the_libraries_take_long_for(what: str) -> None:
    dev = tg.Device(threads=1, cache_dir="off")
    if what == "GLSL":
        with ctrl_c(1.0, 8):
            dev.compute_pipeline(OVERLOADS)
    else:
        loops = HEAD + "void main() { uint x = data[0];" + "for (uint i = 0u; i < x; i++) x = x * 3u + data[x];" * 12000 + "data[0] = x; }"
        words = tg.compile_glsl(loops, "compute")
        with ctrl_c(1.0, 8):
            dev.compute_pipeline(words)
    data = dev.buffer(np.zeros(1, "u4"))
    dev.dispatch(dev.compute_pipeline(HEAD + "void main() { data[0] = 7u; }"), 1, bind={"Data": data})
    assert data.numpy().tolist() == [7]


def test_large_texts_are_the_same_words_and_messages(tmp_path: Path) -> None:
    """As those of a device that isolates its compiler, which is asked for small ones too."""
    isolated = tg.Device(threads=1, cache_dir="off", isolate_compiler=True)
    (tmp_path / "part.glsl").write_text("uint three() { return 3u; }\n" + "// " + "x" * 300_000)
    texts = [
        HEAD + "#define F(x) x\n#define A(m, x) m(x)\nvoid main() { data[0] = A(F, 5u); }",
        HEAD + "void main() { uint x = data[0];" + "x = x * 3u + 1u;" * 3000 + "data[0] = x; }",
        HEAD + '#include "part.glsl"\n#define F(x) x\n#define A(m, x) m(x)\nvoid main() { data[0] = A(F, three()); }',
        HEAD + "#define F(x) x\n#define A(m, x) m(x)\nvoid main() {\ndata[0] = A(F, five);\n}",
    ]

    def made(text: str, device: tg.Device | None) -> object:
        try:
            return tg.compile_glsl(text, "compute", include=[str(tmp_path)], device=device and device.core)
        except tg.ShaderError as error:
            return str(error), error.messages

    for text in texts:
        assert made(text, None) == made(text, isolated)
    assert isinstance(made(texts[0], None), bytes) and "five" in str(made(texts[3], None))


def test_where_no_process_can_be_started_it_is_done_here() -> None:
    """A text that is large, not hostile: without descriptors for a socket the shader compiles as it did."""
    program = f"""
        import resource, tilegpu as tg
        device = tg.Device(threads=1, cache_dir="off")
        device.compute_pipeline({HEAD!r} + "void main() {{ data[0] = 1u; }}")
        import os
        used = len(os.listdir("/proc/self/fd"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (used - 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        text = {HEAD!r} + "#define F(x) x\\n#define A(m, x) m(x)\\nvoid main() {{ data[0] = A(F, 5u); }}"
        print(len(tg.compile_glsl(text, "compute")) > 100)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "True\n", done


def test_small_ones_start_no_process() -> None:
    texts = [
        HEAD + "#define N 64\n#define SQ(x) ((x) * (x))\nconst int M = N * 2;\nshared uint s[N];\n"
        "void main() { uint t[M]; t[0] = SQ(3u); data[0] = t[0]; }",
        HEAD + "struct Light { vec4 at; vec4 colour; };\nlayout(binding = 1) uniform Lights { Light lights[256]; int count; };\n"
        "#ifdef FAST\n#define SHADE(i) lights_of(i)\n#else\n#define SHADE(i) vec4(0)\n#endif\n"
        "vec4 lights_of(int i) { return lights[i].at * lights[i].colour; }\nvoid main() { data[0] = uint(SHADE(count).x); }",
    ]  # fmt: skip
    program = f"""
        import os, tilegpu as tg
        device = tg.Device(threads=1, cache_dir="off")
        for text in {texts!r} + [{texts[0]!r} + "// " + "x" * 300_000]:
            device.compute_pipeline(text)
            print(len(open(f"/proc/{{os.getpid()}}/task/{{os.getpid()}}/children").read().split()))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "0\n0\n1\n", done


def test_a_pool_of_queries_is_within_the_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    program = """
        import resource
        import tilegpu as tg
        from tilegpu import _core
        try:
            _core.QueryPool(1 << 31)
        except tg.OutOfMemoryError as error:
            print(error, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    """
    monkeypatch.setenv("TILEGPU_MEMORY_MB", "512")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False)
    assert "refused memory" in done.stdout, done
    assert int(done.stdout.split()[-1]) >> 10 < 600, done  # it would have been zeroed: 18 GB


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    """Linux takes any bytes for a name."""
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")
    dev = tg.Device(threads=1, cache_dir=folder)
    data = dev.buffer(np.zeros(1, "u4"))
    dev.dispatch(dev.compute_pipeline(HEAD + "void main() { data[0] = 1u; }"), 1, bind={"Data": data})
    assert dev.info["cache_dir"] == folder + "/objects" and os.listdir(folder)  # noqa: PTH208
