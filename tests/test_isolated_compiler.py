"""Devices that compile in processes of their own: the same bits and messages, and what becomes of shaders that are bad for compilers."""

# ruff: noqa: E501
from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compilers import compilers_of, keepers_of
from tests.sanitized import CRASH, SANITIZED

import tilegpu as tg

#: Where programs find this file and what it imports.
PATHS = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

#: What a device takes for compile_memory.
LEAST_MEMORY = 32 << 20
#: Terms of a sum beyond the stack of a compiler's process (256 MiB), but not beyond that of a device that compiles itself (1 GiB).
TOO_DEEP = 400_000  # 800,000 tokens: beyond 1,048,576 texts are refused before glslang
#: What the error says then.
CRASHED = f"the compiler's process ended with signal {CRASH} "

FULL = """#version 450
layout(location = 0) out vec2 uv;
void main() {
  uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
  gl_Position = vec4(uv * 4.0 - 1.0, 0.5, 1.0);
}"""
WAVES = """#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
  vec3 sum = vec3(0.0);
  for (int i = 1; i < 6; ++i) sum += sin(uv.xyx * float(i) * vec3(3.0, 5.0, 7.0)) / float(i);
  color = vec4(0.5 + 0.5 * sum, 1.0);
}"""


def large(functions: int) -> str:
    """A fragment shader whose code generation takes long and much: straight code of some 1,000 instructions for each function."""
    lines = "".join(f"x = sin(x * {k}.25 + y) * cos(y + x) + pow(abs(x), 1.{k}); y = fract(x * y + 0.{k});\n" for k in range(1, 20))
    parts = "".join(f"float f{n}(float x, float y) {{\n{lines} return x + y; }}\n" for n in range(functions))
    calls = "".join(f"  s += f{n}(uv.x + s, uv.y);\n" for n in range(functions))
    return f"#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 c;\n{parts}void main() {{ float s = 0.0;\n{calls} c = vec4(s); }}"


def deep(levels: int) -> str:
    """A sum of so many terms: glslang walks it by recursion."""
    return "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 c;\nvoid main() { float y = uv.y; c = vec4(uv.x" + "+y" * levels + "); }"


def draw(device: tg.Device, fragment: str = WAVES) -> np.ndarray:
    pipe = device.pipeline(FULL, fragment, color=["r8g8b8a8_unorm"])
    out = device.image((32, 32), "r8g8b8a8_unorm")
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3)
    return out.numpy()


def is_gone(pid: int, seconds: float = 10) -> bool:
    """Whether the process has ended, waited for or not."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


@pytest.fixture(scope="module")
def isolated() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2, isolate_compiler=True)


def test_the_same_bits(isolated: tg.Device) -> None:
    here = tg.Device(cache_dir="off", threads=2)
    for wait in (False, True):
        for lanes in (4, 8, 16):
            device = tg.Device(cache_dir="off", lanes=lanes, isolate_compiler=True)
            expected = draw(here)
            if wait:
                draw(device)
                device.wait_compiles()
            assert (draw(device) == expected).all(), (lanes, wait)
    assert compilers_of(os.getpid())
    image = isolated.texture(np.arange(256, dtype=np.uint8).reshape(8, 8, 4))  # samplers and epilogues too
    fragment = "#version 450\nlayout(binding = 0) uniform sampler2D t;\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 c;\nvoid main() { c = texture(t, uv); }"
    pipe = isolated.pipeline(FULL, fragment, color=["r8g8b8a8_unorm"], blend="alpha")
    out = isolated.image((8, 8), "r8g8b8a8_unorm")
    with isolated.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"t": image})
    assert out.numpy().any()


def test_one_disk_cache_for_both(tmp_path: Path) -> None:
    first = tg.Device(cache_dir=tmp_path, isolate_compiler=True)
    picture = draw(first)
    first.wait_compiles()
    assert first.compile_stats["functions_compiled"] > 0
    second = tg.Device(cache_dir=tmp_path)
    assert (draw(second) == picture).all()
    stats = second.compile_stats
    assert stats["functions_compiled"] == stats["glsl_compiled"] == stats["modules_validated"] == 0, stats


def test_messages_are_the_same(isolated: tg.Device, tmp_path: Path) -> None:
    here = tg.Device(cache_dir="off")
    (tmp_path / "part.glsl").write_text("float half_of(float x) { return x * 0.5 }\n")
    wrong = "#version 450\n#include \"part.glsl\"\nvoid main() { gl_Position = vec5(1); nothing(); }"
    said = []
    for device in (here, isolated):
        with pytest.raises(tg.ShaderError) as caught:
            tg.compile_glsl(wrong, "vertex", include=[tmp_path], device=device.core)
        said.append((str(caught.value), caught.value.messages))
    assert said[0] == said[1] and len(said[0][1]) >= 1
    words = bytearray(tg.compile_glsl(FULL, "vertex"))
    words[40:44] = b"\xff\xff\x01\x00"
    for device in (here, isolated):
        with pytest.raises(tg.ShaderError) as caught:
            device.pipeline(bytes(words), WAVES, color=["r8g8b8a8_unorm"])
        said.append((str(caught.value), ()))
    assert said[2] == said[3]


def test_a_crash_is_an_error(isolated: tg.Device) -> None:
    """A sum too deep for its stack. The device goes on."""
    for _ in range(2):
        with pytest.raises(tg.ShaderError, match=CRASHED):
            draw(isolated, deep(TOO_DEEP))
    assert draw(isolated).any()


def test_isolation_refuses_no_shader_that_compiles_without(isolated: tg.Device) -> None:
    """Sums of 12,000 terms, by a text of small size too: a macro stands for any number of them, whatever its own size."""
    flat = deep(12_000)
    body = "P(P(P(P(uv.y))))"
    macro = f"#define P(x) {'+'.join(['x'] * 10)}\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 c;\nvoid main() {{ c = vec4({body}); }}"
    own = tg.Device(threads=1)
    for text in (flat, macro, "#version 450\n" + macro):
        assert np.array_equal(draw(isolated, text), draw(own, text))


def test_a_small_address_space_has_a_stack(tmp_path: Path) -> None:
    """A limit of memory (``ulimit -v``) leaves less for a stack: 64 MiB, not the caller's own."""
    script = f"""
    import resource, sys
    sys.path[:0] = {PATHS!r}
    from test_isolated_compiler import deep, draw, tg
    device = tg.Device(threads=1, cache_dir="off")
    draw(device)
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (4 << 30), resource.RLIM_INFINITY))
    print(draw(device, deep(12_000)).any())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "True\n", done


def test_a_killed_compiler_is_replaced(isolated: tg.Device) -> None:
    draw(isolated)
    for pid in compilers_of(os.getpid()):
        os.kill(pid, signal.SIGKILL)
    assert draw(isolated, WAVES.replace("5.0", "4.0")).any()


def test_who_is_killed_from_outside_met_no_bug() -> None:
    device = tg.Device(cache_dir="off", threads=1, isolate_compiler=True)
    stop = threading.Event()

    def kill_all() -> None:
        while not stop.is_set():
            for pid in compilers_of(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_all)
    killer.start()
    try:
        with pytest.raises(tg.Error, match=r"was ended from outside with signal 9 \(Killed\)") as caught:
            draw(device, large(60))  # long enough that whoever kills it comes by twice, however busy the machine is
    finally:
        stop.set()
        killer.join()
    assert not isinstance(caught.value, tg.ShaderError)
    assert draw(device).any()


def test_two_compilers_are_kept() -> None:
    """However many compiled at once. In a process without devices of other tests, which may start compilers meanwhile."""
    code = f"import sys; sys.path[:0] = {PATHS!r}; import test_isolated_compiler as t; t.check_two_compilers_are_kept()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def check_two_compilers_are_kept() -> None:
    device = tg.Device(cache_dir="off", threads=8, isolate_compiler=True)
    before = set(compilers_of(os.getpid()))
    most = 0
    stop = threading.Event()

    def watch() -> None:
        nonlocal most
        while not stop.is_set():
            most = max(most, len(set(compilers_of(os.getpid())) - before))

    watcher = threading.Thread(target=watch)
    watcher.start()
    threads = [threading.Thread(target=draw, args=(device, WAVES.replace("5.0", f"{k}.5"))) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    device.wait_compiles()
    stop.set()
    watcher.join()
    assert most > 2
    until = time.monotonic() + 20  # the last ones go as their compiles' threads come back
    while (kept := len(set(compilers_of(os.getpid())) - before)) > 2 and time.monotonic() < until:
        time.sleep(0.05)
    assert 1 <= kept <= 2


def limits_of(pid: int) -> tuple[str, str]:
    """Soft and hard, of address space."""
    (line,) = (line for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if line.startswith("Max address space"))
    return line.split()[3], line.split()[4]


def run(code: str) -> subprocess.CompletedProcess[str]:
    head = f"import os, resource, signal, sys, threading, time\nsys.path[:0] = {PATHS!r}\n"
    head += "from test_isolated_compiler import *\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.run([sys.executable, "-c", head + textwrap.dedent(code)], capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.skipif(SANITIZED, reason="its address space can't be limited")
def test_limits_are_for_good_and_never_raised(isolated: tg.Device) -> None:
    draw(isolated)
    for pid in compilers_of(os.getpid()):
        soft, hard = limits_of(pid)
        assert soft == hard != "unlimited"
    done = run("""
        own = 1500 << 20
        resource.setrlimit(resource.RLIMIT_AS, (own, resource.RLIM_INFINITY))
        device = tg.Device(cache_dir="off", threads=1, isolate_compiler=True, compile_memory=8 << 30)
        draw(device)
        print({limits_of(pid) == (str(own), str(own)) for pid in compilers_of(os.getpid())})
    """)
    assert done.stdout == "{True}\n", done


def test_time_and_memory_are_bounded() -> None:
    slow = tg.Device(cache_dir="off", isolate_compiler=True, compile_timeout=0.05)
    # On a machine that has much else to do the clock may come first.
    with pytest.raises(tg.ShaderError, match=r"(more|less) than 0\.05 s of processor time \(the device's compile_timeout\)"):
        draw(slow, large(60))
    if SANITIZED:
        return  # whose address space can't be limited
    small = tg.Device(cache_dir="off", isolate_compiler=True, compile_memory=LEAST_MEMORY)
    assert draw(small).any()
    with pytest.raises(tg.OutOfMemoryError, match=rf"compiling wants more than {LEAST_MEMORY} bytes \(the device's compile_memory\)"):
        draw(small, large(240))
    assert draw(small, WAVES.replace("5.0", "7.0")).any()


def test_a_compiler_that_waits_is_bounded_by_the_clock() -> None:
    """One that is stopped takes no processor time."""
    done = run("""
        device = tg.Device(cache_dir="off", threads=1, isolate_compiler=True, compile_timeout=0.5)
        draw(device)
        device.wait_compiles()  # else a compile of the background waits for the stopped one, and another is started
        time.sleep(0.5)  # and one that has grown is replaced
        for pid in compilers_of(os.getpid()):
            os.kill(pid, signal.SIGSTOP)
        try:
            draw(device, WAVES.replace("5.0", "2.0"))
        except tg.ShaderError as error:
            print(error)
        for _ in range(30):  # on a machine with more to do than that, the next one may not end either
            try:
                print(draw(device, WAVES.replace("5.0", "2.0")).any())
                break
            except tg.ShaderError:
                pass
    """)
    assert "did not end within 2 s by the clock, in which its process got less than 0.5 s of processor time" in done.stdout, done
    assert done.stdout.endswith("True\n")


@pytest.mark.parametrize("arguments", [{"compile_timeout": 1}, {"compile_memory": 1 << 30}])
def test_limits_want_the_process(arguments: dict[str, int]) -> None:
    with pytest.raises(tg.ValidationError, match="give isolate_compiler too"):
        tg.Device(**arguments)  # type: ignore[arg-type]


def test_wrong_limits() -> None:
    for value in (-1, float("nan"), 1e9, "x"):
        with pytest.raises((tg.ValidationError, TypeError), match="compile_timeout"):
            tg.Device(isolate_compiler=True, compile_timeout=value)  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match="compile_memory"):
        tg.Device(isolate_compiler=True, compile_memory=-1)
    for size in (1, LEAST_MEMORY - 1):
        with pytest.raises(tg.ValidationError, match=rf"compile_memory is {size} bytes; allowed are {LEAST_MEMORY} to 2\^50, and 0 for 2\^30"):
            tg.Device(isolate_compiler=True, compile_memory=size)


BUSY = """
    import signal, sys, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background are started without
    sys.path[:0] = {folder!r}
    from test_isolated_compiler import draw, large, tg
    device = tg.Device(cache_dir="off", isolate_compiler={isolated}, threads=2)
    draw(device)
    print("ready", flush=True)
    try:
        draw(device, large(240))
        print("compiled", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        print(draw(device).any(), flush=True)
"""


def start_busy(isolated: bool = True) -> subprocess.Popen[str]:
    code = textwrap.dedent(BUSY).format(folder=PATHS, isolated=isolated)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_ctrl_c_interrupts_a_compile() -> None:
    with start_busy() as process:
        until = time.monotonic() + 60
        while not compilers_of(process.pid) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert out == "interrupted\nTrue\n"


@pytest.mark.parametrize("isolated", [True, False])
def test_ctrl_c_is_raised_by_the_call_that_it_came_in(isolated: bool) -> None:
    """Compiled or not: it is neither lost nor some later call's error."""
    done = run(f"""
        device = tg.Device(cache_dir="off", threads=2, isolate_compiler={isolated})
        draw(device)
        for k in range(12):
            try:
                threading.Timer(0.01 * k, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                until = time.monotonic() + 60
                while time.monotonic() < until:  # whatever it is doing then
                    draw(device, WAVES.replace("5.0", f"{{time.monotonic_ns() % 1000003}}.5"))
                print("lost")
            except KeyboardInterrupt:
                pass
            try:
                device.image((0, 0), "r8_unorm")
            except tg.ValidationError:
                pass
            assert draw(device, WAVES.replace("5.0", f"{{k}}.25")).any()
        print("good")
    """)
    assert done.stdout == "good\n", done


@pytest.mark.parametrize("isolated", [True, False])
def test_handlers_of_the_program_run_after_the_call(isolated: bool) -> None:
    """What they call in turn waits for no lock of the call's; they interrupt nothing, and what they raise is raised after it."""
    done = run(f"""
        device = tg.Device(cache_dir="off", threads=2, isolate_compiler={isolated})
        ran = []
        out = device.image((32, 32), "r8g8b8a8_unorm")
        small = device.pipeline(FULL, WAVES, color=[out.format])
        pipe = device.pipeline(FULL, large(60), color=[out.format])

        def handler(number, frame):
            rp.draw(small, count=3)  # into the very pass that is recorded
            ran.append(bool(draw(device, WAVES.replace("5.0", "9.0")).any()))
            if number == signal.SIGALRM:
                raise TimeoutError("mine")

        signal.signal(signal.SIGINT, handler)
        signal.signal(signal.SIGALRM, handler)
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            rp.draw(pipe, count=3)
            while not ran:
                time.sleep(0.01)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                rp.draw(device.pipeline(FULL, large(61), color=[out.format]), count=3)
                time.sleep(10)
            except TimeoutError as error:
                print(error)
        print(ran, bool(out.numpy().any()))
    """)
    assert done.stdout == "mine\n[True, True] True\n", done


@pytest.mark.filterwarnings("ignore:compile_glsl. include. there is no folder")
def test_relative_names_are_those_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its working folder as it is at each call, and of none where that is gone."""
    here, isolated = tg.Device(cache_dir="off"), tg.Device(cache_dir="off", isolate_compiler=True)
    source = "#version 450\n#include \"part.glsl\"\nvoid main() { gl_Position = vec4(x()); }"
    for name in ("one", "two", "gone"):
        (tmp_path / name / "inc").mkdir(parents=True)
        (tmp_path / name / "inc" / "part.glsl").write_text("float x() { return 1.0; }" if name != "two" else "float x() { return 1.0 }")

    def said(device: tg.Device) -> Any:
        try:
            return tg.compile_glsl(source, "vertex", include=["inc"], device=device.core)
        except tg.ShaderError as error:
            return str(error), error.messages

    for name in ("one", "two", "one", "gone"):
        monkeypatch.chdir(tmp_path / name)
        if name == "gone":
            shutil.rmtree(tmp_path / name)
        assert said(isolated) == said(here)
        assert isinstance(said(here), bytes) == (name == "one")
    for pid in compilers_of(os.getpid()):
        with contextlib.suppress(FileNotFoundError):
            assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")


def test_a_compiler_of_another_build(tmp_path: Path) -> None:
    """Of the library that runs, not of the file that lies there by now."""
    import tilegpu._core as core

    folder = tmp_path / "tilegpu"
    folder.mkdir()
    for name in (Path(core.__file__).name, "libtilegpu.so", "tilegpu-compiler"):
        shutil.copy2(Path(core.__file__).with_name(name), folder / name)
    note = subprocess.run(["readelf", "-n", folder / "libtilegpu.so"], capture_output=True, text=True, check=True).stdout
    build = bytes.fromhex(note.split("Build ID:")[1].split()[0])
    program = f"""
        import importlib.util, sys
        spec = importlib.util.spec_from_file_location("tilegpu._core", {str(folder / Path(core.__file__).name)!r})
        core = importlib.util.module_from_spec(spec)
        sys.modules["tilegpu._core"] = core
        spec.loader.exec_module(core)
        import tilegpu as tg
        sys.path[:0] = {PATHS!r}
        from test_isolated_compiler import draw
        print(draw(tg.Device(cache_dir="off", isolate_compiler=True)).any())
        from pathlib import Path
        library = Path({str(folder / "libtilegpu.so")!r})
        other = library.read_bytes().replace(bytes.fromhex({build.hex()!r}), bytes(20))
        library.unlink()
        library.write_bytes(other)
        import os, time
        from test_isolated_compiler import is_gone, keepers_of
        for keeper in keepers_of(os.getpid()):
            os.kill(keeper, 9)
            is_gone(keeper)
        try:
            draw(tg.Device(cache_dir="off", isolate_compiler=True))
        except tg.Error as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("True\n") and "is of another build than the library that asks it" in done.stdout, done


def test_no_compiler_outlives_a_killed_process() -> None:
    """Even while it is busy."""
    with start_busy() as process:
        time.sleep(0.1)
        compilers = compilers_of(process.pid) + keepers_of(process.pid)
        assert len(compilers) >= 2
        process.kill()
        process.wait()
        assert all(is_gone(pid) for pid in compilers)


def test_forked_children_have_compilers_of_their_own(isolated: tg.Device) -> None:
    expected = draw(isolated)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if (draw(tg.Device(cache_dir="off", isolate_compiler=True)) == expected).all() and draw(isolated, WAVES.replace("5.0", "6.0")).any() else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert draw(isolated, WAVES.replace("5.0", "8.0")).any()


def test_the_command_line_isolates_files(run_cli, tmp_path: Path) -> None:
    from tilegpu.cli.common import wants_isolation

    class Options:
        isolate_compiler: bool | None = None
        scene = "triangle"

    assert not wants_isolation(Options)  # type: ignore[arg-type]
    (tmp_path / "mine.py").write_text("")
    for name in (str(tmp_path / "mine.py"), f"{tmp_path / 'mine.py'}:draw"):
        Options.scene = name
        assert wants_isolation(Options)  # type: ignore[arg-type]
    Options.isolate_compiler = False
    assert not wants_isolation(Options)  # type: ignore[arg-type]
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import sys\n"
        f"sys.path[:0] = {PATHS!r}\n"
        "from test_isolated_compiler import FULL, deep, tg\n"
        "def draw(device, size=(32, 32)):\n"
        "    out = device.image(size, 'r8g8b8a8_unorm')\n"
        f"    pipe = device.pipeline(FULL, deep({TOO_DEEP + os.getpid() % 20_000}), color=[out.format])\n"  # in no disk cache
        "    with device.render_pass(color=[out]) as rp:\n"
        "        rp.draw(pipe, count=3)\n"
        "    return out\n"
    )
    done = run_cli("render", str(bad), "-o", "x.png")
    assert done.returncode == 1 and CRASHED in done.stderr + done.stdout, done
    done = run_cli("render", str(bad), "-o", "x.png", "--no-isolate-compiler")  # what is large goes there on any device
    assert done.returncode == 1 and CRASHED in done.stderr + done.stdout, done


BAD = f"""import sys
import numpy as np
sys.path[:0] = {PATHS!r}
from test_isolated_compiler import FULL, TOO_DEEP, deep
from tilegpu.scene import Draw, Frame, Program, State
def draw():
    one = Draw(Program(FULL, deep(TOO_DEEP)), count=3, state=State(depth_test=False, depth_write=False))
    return Frame((64, 64), depth_format=None, draws=(one,))
"""


@pytest.mark.parametrize(
    "words",
    [
        ("render", "bad.py", "-o", "x.png", "--workers", "1"),
        ("compare", "triangle", "--size", "64x64", "--reference", "bad.py:draw"),
        ("explain", "bad.py"),
        ("what-if", "bad.py"),
        ("bench", "hsr", "bad.py", "--rounds", "1"),
        ("bench", "peers", "--scene", "bad.py", "--no-gl"),
    ],
    ids=" ".join,
)
def test_no_command_compiles_a_file_in_its_own_process(run_cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    done = run_cli(*words)
    assert done.returncode in (1, 2) and CRASHED in done.stderr, done


def test_commands_that_draw_what_a_user_names_can_isolate() -> None:
    """The option of each command that takes a scene, a capture or a manifest."""
    from tilegpu.cli import build_parser

    choices = build_parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    named = {"scene", "capture", "manifest"}
    drawing = {name for name, parser in choices.items() if named & {action.dest for action in parser._actions if not action.option_strings}}
    assert drawing == {"render", "view", "compare", "explain", "what-if", "replay", "verify"}
    assert all("--no-isolate-compiler" in choices[name].format_help() for name in drawing)


def test_runs_on_other_profiles_isolate_as_their_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tilegpu._core as core

    device = tg.Device(isolate_compiler=True, compile_timeout=30)
    with device.frame("f") as frame:
        draw(device)
    made, make = [], core.Device
    monkeypatch.setattr(core, "Device", lambda *values, **named: made.append(named) or make(*values, **named))
    frame.report(tmp_path / "x.html", profiles=["mali-g57"])
    frame.what_if(["mali-g57"])
    assert [named["compiler_limits"] for named in made] == [(30, 0)] * 3  # the host's own, mali-g57 twice


@pytest.mark.parametrize("asked", [None, True, False])
def test_workers_isolate_files_and_manifests_do_not_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool | None) -> None:
    from tilegpu.farm import FarmError, Job, read_manifest, render, verify

    (tmp_path / "own.py").write_text(
        "from tilegpu.scene import find_scene\n\n\ndef draw(size=(16, 16), samples=1):\n"
        "    return find_scene('triangle').frame(size, samples)\n"
    )
    limits: list[object] = []
    make = tg.Device.__init__

    def spied(self: tg.Device, *values: object, **named: object) -> None:
        limits.append(named.get("isolate_compiler", "cache"))
        make(self, *values, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(tg.Device, "__init__", spied)
    job = Job(str(tmp_path / "own.py"), size=(16, 16), isolate_compiler=asked)
    run = render(job, tmp_path / "x.png", executor="threads", workers=1)
    isolated = asked is not False
    assert [one for one in limits if one != "cache"] == [isolated] * 2  # the coordinator's, the worker's
    text = run.manifest.read_text()  # type: ignore[union-attr]
    assert '"isolate' not in text and read_manifest(run.manifest).job == Job(job.scene, size=(16, 16))  # type: ignore[arg-type]
    again = render(Job(job.scene, size=(16, 16), isolate_compiler=not isolated), tmp_path / "x.png", executor="threads", workers=1)
    assert again.kept == [0], "it is the same job"
    limits.clear()
    assert verify(run.manifest, scene=job.scene, isolate_compiler=asked, workers=1).same  # type: ignore[arg-type]
    assert [one for one in limits if one != "cache"] == [isolated]
    run.manifest.write_text(text.replace('"tile"', '"isolate_compiler": false, "tile"'))  # type: ignore[union-attr]
    with pytest.raises(FarmError, match="a job has no isolate_compiler"):
        verify(run.manifest, scene=job.scene)  # type: ignore[arg-type]
    with pytest.raises(FarmError, match="isolate_compiler is 1; it must be"):
        Job("triangle", isolate_compiler=1)  # type: ignore[arg-type]
    assert not Job("triangle").isolates


def test_the_program_says_what_it_is() -> None:
    import tilegpu._core as core

    program = Path(core.__file__).with_name("tilegpu-compiler")
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "started by devices" in done.stderr
