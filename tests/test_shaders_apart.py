"""GLSL that crashes glslang, shaders that it or SPIRV-Tools take seconds or gigabytes for, on devices that do not isolate their compiler:
errors or results within a bounded time and memory, which Ctrl-C ends."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from tests.interrupts import ctrl_c
from tests.sanitized import CRASH, SANITIZED

import tilegpu as tg

FOLDER = str(Path(__file__).parent.parent)
HEAD = "#version 450\nlayout(local_size_x = 1) in; layout(std430, binding = 0) buffer Data { uint data[]; };\n"


#: Of a program: the most that it had. (What the system calls its greatest resident set may be that of who started it.)
MOST = 'most_MB = lambda: int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) >> 10'


def refused_in_a_small_process(shader: str) -> None:
    """A program that makes a pipeline of the expression: an error, and less than 300 MB more than another pipeline took."""
    program = f"""
        import tilegpu as tg
        {MOST}
        device = tg.Device(threads=1, cache_dir="off")
        device.compute_pipeline({HEAD!r} + "void main() {{ data[0] = 1u; }}")
        before = most_MB()
        try:
            device.compute_pipeline({shader})
        except tg.Error as error:
            print(type(error).__name__, str(error)[:200])
        print("grew", most_MB() - before)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "Error" in done.stdout, done
    assert int(done.stdout.split("grew ")[1]) < 300, done.stdout


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


@pytest.mark.skipif(SANITIZED, reason="the address space of its processes can't be limited")
@pytest.mark.parametrize("isolated", [False, True])
def test_compilers_have_no_more_than_the_process_may_have(isolated: bool) -> None:
    program = f"""
        import tilegpu as tg
        device = tg.Device(threads=1, cache_dir="off", isolate_compiler={isolated})
        try:
            tg.compile_glsl({HOSTILE["structures as parameters"]!r}, "compute", device=device.core)
        except tg.OutOfMemoryError as error:
            print(error)
    """
    environment = {**os.environ, "TILEGPU_MEMORY_MB": "200"}
    words = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert f"more than {200 << 20} bytes (TILEGPU_MEMORY_MB" in done.stdout, done


@pytest.mark.skipif(SANITIZED, reason="the address space of its processes can't be limited")
@pytest.mark.parametrize("what", HOSTILE)
def test_no_text_takes_gigabytes_of_this_process(what: str) -> None:
    refused_in_a_small_process(repr(HOSTILE[what]))


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


#: Each crashes glslang 12.0 of Debian 12; later ones refuse them.
CRASHES = [
    "#version 450\nvoid main() { uint n = 7u; atomicMax(n + 2u, 1u); }",
    "#version 450\n#extension GL_EXT_null_initializer : enable\nvoid main() { float q[2][2] = {{}}; }",
    '#version 450\n#extension GL_EXT_debug_printf : enable\nvoid main() { "x" - "y"; }',
]


def test_a_crash_of_glslang_is_an_error() -> None:
    dev = tg.Device(threads=1, cache_dir="off")
    for text in CRASHES:
        with pytest.raises(tg.ShaderError):
            tg.compile_glsl(text, "vertex", device=dev.core)
    assert tg.compile_glsl(HEAD + "void main() { data[0] = 1u; }", "compute")


def test_words_and_messages_are_those_of_an_isolated_compiler(tmp_path: Path) -> None:
    isolated = tg.Device(threads=1, cache_dir="off", isolate_compiler=True)
    (tmp_path / "part.glsl").write_text("uint three() { return 3u; }\n" + "// " + "x" * 300_000)
    texts = [
        HEAD + "void main() { data[0] = 5u; }",
        HEAD + "void main() { uint x = data[0];" + "x = x * 3u + 1u;" * 3000 + "data[0] = x; }",
        HEAD + '#include "part.glsl"\nvoid main() { data[0] = three(); }',
        HEAD + "void main() {\ndata[0] = five;\n}",
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
    """Without descriptors for a socket GLSL compiles too, and so does a large module."""
    program = f"""
        import os, resource, sys, tilegpu as tg
        device = tg.Device(threads=1, cache_dir="off")
        body = "void main() {{ uint x = data[0];" + "for (uint i = 0u; i < x; i++) x = x * 3u;" * 600 + "data[0] = x; }}"
        loops = tg.compile_glsl({HEAD!r} + body, "compute")
        sys.path.insert(0, {FOLDER!r})
        from tests.compilers import keepers_of
        for pid in keepers_of(os.getpid()):
            os.kill(pid, 9)
        used = len(os.listdir("/proc/self/fd"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (used - 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        for k in range(2):
            print(len(tg.compile_glsl({HEAD!r} + f"void main() {{{{ data[0] = {{k}}u; }}}}", "compute")) > 100)
        device.compute_pipeline(loops)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "True\nTrue\n" and done.returncode == 0, done


def test_no_process_where_nobody_wants_one() -> None:
    program = f"""
        import os, sys, tilegpu as tg
        device = tg.Device(threads=1, cache_dir="off")
        device.compute_pipeline({HEAD!r} + "void main() {{ data[0] = 1u; }}")
        sys.path.insert(0, {FOLDER!r})
        from tests.compilers import keepers_of
        print(len(keepers_of(os.getpid())))
    """
    for value, keepers in (("1", "1"), ("0", "0")):
        environment = {**os.environ, "TILEGPU_COMPILER_PROCESS": value}
        words = [sys.executable, "-c", textwrap.dedent(program)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.stdout == keepers + "\n", done


def test_the_compilers_are_no_children_of_the_program() -> None:
    """One that waits for its children, until there is none, waits for its own alone; one that ignores their signal knows of every end; one
    that wants news of children gets none of these."""
    program = f"""
        import os, signal, tilegpu as tg
        told = []
        for handler in (signal.SIG_DFL, lambda number, frame: told.append(number), signal.SIG_IGN):
            signal.signal(signal.SIGCHLD, handler)
            for isolated in (False, True):
                device = tg.Device(threads=1, cache_dir="off", isolate_compiler=isolated)
                device.compute_pipeline({HEAD!r} + "void main() {{ data[0] = 1u; }}")
                try:
                    tg.compile_glsl({CRASHES[0]!r}, "vertex", device=device.core)
                except tg.ShaderError as error:
                    print("signal {CRASH}" in str(error), told)
                own = os.fork()
                if own == 0:
                    os._exit(0)
                seen = []
                while True:
                    try:
                        seen.append(os.wait()[0])
                    except ChildProcessError:
                        break
                print(seen == ([own] if handler != signal.SIG_IGN else []))
                told.clear()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "True []\nTrue\n" * 6, done


def module(*instructions: tuple[int, ...], types: tuple[tuple[int, ...], ...] = ()) -> bytes:
    """An empty kernel, with annotations, types and constants: (opcode, operands...). The numbers below 10 are its own."""
    whole: list[tuple[int, ...]] = [(17, 1), (14, 0, 1), (15, 5, 1, 0x6E69616D, 0), (16, 1, 17, 1, 1, 1), *instructions]
    whole += [(19, 2), (33, 3, 2), (21, 4, 32, 0), (23, 5, 4, 3), *types, (54, 2, 1, 0, 3), (248, 6), (253,), (56,)]
    words = [0x07230203, 0x00010600, 0, 1 << 20, 0]
    for one in whole:
        words += [len(one) << 16 | one[0], *one[1:]]
    return struct.pack(f"<{len(words)}I", *words)


def grown(what: str) -> bytes:
    """Of a kilobyte to a hundred: what the validator takes gigabytes or minutes for, or a stack of any size."""
    if what == "workgroup size":  # checks are passed on to each that refers to it, twice
        sums = [(52, 5, 20 + k, 128, 19 + k, 18 + k) for k in range(34)]
        return module((71, 19, 11, 25), types=((50, 4, 17, 1), (51, 5, 18, 17, 17, 17), (51, 5, 19, 17, 17, 17), *sums))
    if what == "names":  # of pointers to pointers, for the message of an error
        pointers = [(32, 20 + k, 7, 19 + k if k else 4) for k in range(20000)]
        return module((71, 9, 999), types=tuple(pointers))
    group = [(71, 19, 1)] * 6000
    targets = tuple(range(100, 6100))
    return module(*group, (73, 19), (74, 19, *targets), types=tuple((43, 4, k, k) for k in targets))


@pytest.mark.skipif(SANITIZED, reason="the address space of its processes can't be limited")
@pytest.mark.parametrize("what", ["workgroup size", "names", "decorations"])
def test_no_module_takes_gigabytes_of_this_process(what: str, tmp_path: Path) -> None:
    (tmp_path / "m.spv").write_bytes(grown(what))
    refused_in_a_small_process(f'open({str(tmp_path / "m.spv")!r}, "rb").read()')


def chained(opcode: int, count: int) -> bytes:
    """A kernel that stores through the last of so many access chains, or copies, each of the one before."""
    body = [(54, 2, 1, 0, 3), (248, 6)] + [(opcode, 7, 20 + k, 19 + k) for k in range(count)] + [(62, 19 + count, 8), (253,), (56,)]
    whole = [(17, 1), (14, 0, 1), (15, 5, 1, 0x6E69616D, 0), (16, 1, 17, 1, 1, 1)]
    whole += [(19, 2), (33, 3, 2), (21, 4, 32, 0), (32, 7, 6, 4), (43, 4, 8, 1), (59, 7, 19, 6)]
    words = [0x07230203, 0x00010300, 0, 1 << 20, 0]
    for one in whole + body:
        words += [len(one) << 16 | one[0], *one[1:]]
    return struct.pack(f"<{len(words)}I", *words)


@pytest.mark.parametrize("opcode", [65, 66, 83], ids=["OpAccessChain", "OpInBoundsAccessChain", "OpCopyObject"])
def test_chains_of_chains_take_time_in_proportion(opcode: int) -> None:
    dev = tg.Device(threads=1, cache_dir="off")
    dev.compute_pipeline(chained(opcode, 1))
    began = time.process_time()
    dev.compute_pipeline(chained(opcode, 30_000))
    assert time.process_time() - began < 1.5  # 0.01; each walking back to the first took 3.5


def test_types_that_nest_too_deep_are_refused_at_once() -> None:
    """The validator takes 25 s for these."""
    arrays = tuple((28, 20 + k, 19 + k if k else 4, 19) for k in range(10_000))
    constants = tuple((44, 20 + k, 20_020 + k, 20_019 + k if k else 19) for k in range(10_000))
    declared = ((43, 4, 19, 1), *(one for pair in zip(arrays, constants, strict=True) for one in pair))
    began = time.monotonic()
    with pytest.raises(tg.ShaderError, match="nests more than 128 types"):
        tg.Device(threads=1, cache_dir="off").compute_pipeline(module(types=declared))
    assert time.monotonic() - began < 8


def test_thousands_of_specialisation_constants_take_time_in_proportion() -> None:
    count = 4000
    decorations = [(71, 20 + k, 1, k) for k in range(count)]
    dev = tg.Device(threads=1, cache_dir="off")
    words = module(*decorations, types=tuple((50, 4, 20 + k, k) for k in range(count)))
    began = time.process_time()
    kernel = dev.compute_pipeline(words)
    assert [c.constant_id for c in kernel.interface.constants] == list(range(count))
    assert time.process_time() - began < 1.5  # 0.03, where looking for each among all took 3.6


def test_descriptors_that_are_another_files_are_left_alone(tmp_path: Path) -> None:
    """A program that closes all descriptors, as daemons do, and opens its own, in a child by fork and in the same process."""
    program = f"""
        import os, tilegpu as tg
        def compiled(k):
            return len(tg.compile_glsl({HEAD!r} + f"void main() {{{{ data[0] = {{k}}u; }}}}", "compute")) > 100
        compiled(1)
        child = os.fork()
        os.closerange(3, 200)
        files = [os.open({str(tmp_path)!r} + f"/{{k}}-{{child > 0}}", os.O_CREAT | os.O_RDWR) for k in range(6)]
        right = compiled(2) and compiled(3)
        for file in files:
            os.write(file, b"mine")
        right = right and all(os.pread(file, 9, 0) == b"mine" for file in files)
        if child:
            print(right, os.waitpid(child, 0)[1])
        else:
            os._exit(not right)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "True 0\n", done


def test_no_process_where_the_first_child_is_an_init() -> None:
    """After unshare(CLONE_NEWPID) a process of ours that ends would end each later child of the program's: glslang works in this one."""
    program = f"""
        import ctypes, os, sys, tilegpu as tg
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x20000000) != 0:
            print("not allowed")
            sys.exit()
        words = len(tg.compile_glsl({HEAD!r} + "void main() {{{{ data[0] = 1u; }}}}", "compute"))
        child = os.fork()
        if child == 0:
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), words > 100)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False)
    if done.stdout == "not allowed\n":
        pytest.skip("this user may not make namespaces of processes")
    assert done.stdout == "7 True\n", done


def test_files_that_have_no_size_are_not_read() -> None:
    """Those of /proc: some tell of the machine, some wait."""
    for name in ("/proc/self/maps", "/proc/kmsg"):
        assert tg.compile_glsl(HEAD + f'#include "{name}"\nvoid main() {{ data[0] = 1u; }}', "compute")


def test_a_pool_of_queries_is_within_the_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    program = f"""
        import tilegpu as tg
        from tilegpu import _core
        {MOST}
        try:
            _core.QueryPool(1 << 31)
        except tg.OutOfMemoryError as error:
            print(error, most_MB())
    """
    monkeypatch.setenv("TILEGPU_MEMORY_MB", "512")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False)
    assert "refused memory" in done.stdout, done
    assert int(done.stdout.split()[-1]) < 600, done  # it would have been zeroed: 18 GB


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    """Linux takes any bytes for a name."""
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")
    dev = tg.Device(threads=1, cache_dir=folder)
    data = dev.buffer(np.zeros(1, "u4"))
    dev.dispatch(dev.compute_pipeline(HEAD + "void main() { data[0] = 1u; }"), 1, bind={"Data": data})
    assert dev.info["cache_dir"] == folder + "/objects" and os.listdir(folder)  # noqa: PTH208
