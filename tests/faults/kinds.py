"""Faults, each struck so many times at random moments. In: how often, a seed. Out: how often what came of it; a fault that the program does
not stand is an AssertionError, or the end of the process.

After each the same device draws again, and what it draws has the bits that an undisturbed one drew. Sources: signal(7), fork(2),
getrlimit(2) (RLIMIT_AS); CPython, PyThreadState_SetAsyncExc.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.faults.work import picture

import tilegpu as tg
import tilegpu.vulkan

#: Shaders that are told apart by a number: some are compiled when the fault comes, some lie ready.
_KINDS = 12
_LONGEST_S = 0.06
#: What a child may take before it counts as hanging.
_HANGS_S = 120
_AS_ONE_LIKES = (tg.Error, MemoryError)


def _device(**options: Any) -> tg.Device:
    return tg.Device(**{"threads": 2, "cache_dir": "off"} | options)


def _expected() -> list[str]:
    device = _device(threads=1)
    return [picture(device, kind) for kind in range(_KINDS)]


def interrupts(count: int, seed: int) -> Counter[str]:
    """Ctrl-C, at any place of the main thread."""
    chance, expected, device, seen = random.Random(seed), _expected(), _device(), Counter[str]()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background are started without
    for number in range(count):
        if number % 20 == 0:
            device = _device(isolate_compiler=number % 40 == 20)
        kind = chance.randrange(_KINDS)
        sent = threading.Event()

        def strike(delay_s: float = chance.random() * _LONGEST_S, sent: threading.Event = sent) -> None:
            time.sleep(delay_s)
            os.kill(os.getpid(), signal.SIGINT)
            sent.set()

        striker = threading.Thread(target=strike)
        drawn = False
        try:
            striker.start()
            picture(device, kind)
            drawn = True
            while not sent.is_set():
                time.sleep(0.001)
            time.sleep(0.001)
        except KeyboardInterrupt:
            seen["within" if not drawn else "behind"] += 1
        striker.join()
        assert picture(device, kind) == expected[kind], f"after Ctrl-C {number}"
    return seen


def signals(count: int, seed: int) -> Counter[str]:
    """Signals with a handler that returns: what the core waits for is interrupted (EINTR) and goes on."""
    chance, expected, device = random.Random(seed), _expected(), _device()
    seen = Counter[str]()
    before = signal.signal(signal.SIGALRM, lambda *_: seen.update(["signals"]))
    try:
        while seen["signals"] < count:
            step_s = chance.uniform(0.0002, 0.004)
            signal.setitimer(signal.ITIMER_REAL, step_s, step_s)
            kind = chance.randrange(_KINDS)
            assert picture(device, kind) == expected[kind], "under signals"
            seen["pictures"] += 1
            if chance.random() < 0.1:
                device = _device(isolate_compiler=chance.random() < 0.5)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return seen


@contextlib.contextmanager
def _others_draw(device: tg.Device, expected: list[str], failed: list[str]) -> Iterator[None]:
    """Two threads draw all the time."""
    stop = threading.Event()

    def draw(first: int) -> None:
        kind = first
        while not stop.is_set():
            if picture(device, kind % _KINDS) != expected[kind % _KINDS]:
                failed.append(f"kind {kind % _KINDS}")
            kind += 1

    threads = [threading.Thread(target=draw, args=(k,)) for k in (0, _KINDS // 2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def forks(count: int, seed: int) -> Counter[str]:
    """Forks at any time of what other threads do. The child has devices of its own; the parent goes on with its."""
    chance, expected, device = random.Random(seed), _expected(), _device()
    seen, failed = Counter[str](), list[str]()
    with _others_draw(device, expected, failed):
        for number in range(count):
            time.sleep(chance.random() * _LONGEST_S)
            kind = chance.randrange(_KINDS)
            child = os.fork()
            if not child:
                signal.alarm(_HANGS_S)
                code = 1
                with contextlib.suppress(BaseException):
                    code = 0 if picture(_device(threads=1 + number % 2), kind) == expected[kind] else 3
                os._exit(code)
            _, status = os.waitpid(child, 0)
            assert status == 0, f"child {number}: {'signal' if os.WIFSIGNALED(status) else 'exit code'} {status}"
            seen["children"] += 1
    assert not failed, failed
    return seen


class _Struck(BaseException):
    pass


def deaths(count: int, seed: int) -> Counter[str]:
    """Threads that end within a pass, by an exception that comes at any place of them."""
    chance, expected, device, seen = random.Random(seed), _expected(), _device(), Counter[str]()
    for number in range(count):
        kind = chance.randrange(_KINDS)
        ready = threading.Event()

        def draw(device: tg.Device = device, kind: int = kind, ready: threading.Event = ready) -> None:
            with contextlib.suppress(_Struck):
                ready.set()
                for _ in range(100_000):
                    picture(device, kind)

        thread = threading.Thread(target=draw)
        thread.start()
        ready.wait()
        time.sleep(chance.random() * _LONGEST_S)
        struck = ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Struck))
        thread.join(_HANGS_S)
        assert struck == 1 and not thread.is_alive(), f"thread {number} does not end"
        assert picture(device, kind) == expected[kind], f"after thread {number}"
        seen["threads"] += 1
        if number % 20 == 19:
            device = _device()
    return seen


def memory(count: int, seed: int) -> Counter[str]:
    """An address space that ends somewhere: a picture or an error, and a picture once there is room again. Compilers are processes of their
    own here, since LLVM and glslang end theirs without memory (SECURITY.md)."""
    chance, expected, device, seen = random.Random(seed), _expected(), _device(isolate_compiler=True), Counter[str]()
    before = resource.getrlimit(resource.RLIMIT_AS)
    for number in range(count):
        kind = chance.randrange(_KINDS)
        now_B = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        # Most limits are where something happens: within the first megabytes.
        room_B = int(chance.random() ** 3 * (96 << 20))
        try:
            resource.setrlimit(resource.RLIMIT_AS, (now_B + room_B, before[1]))
            made = picture(device, kind)
        except _AS_ONE_LIKES as error:
            seen[type(error).__name__] += 1
        else:
            seen["drawn"] += 1
            resource.setrlimit(resource.RLIMIT_AS, before)
            assert made == expected[kind], f"with {room_B} bytes"
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
        assert picture(device, kind) == expected[kind], f"after {number}, with {room_B} bytes of room"
        if number % 10 == 9:
            device = _device(isolate_compiler=True)
    return seen


def kills(count: int, seed: int) -> Counter[str]:
    """Processes that are killed (SIGKILL) while they compile, draw and write to a disk cache: whoever comes later gets the right bits."""
    chance, expected, seen = random.Random(seed), _expected(), Counter[str]()
    with tempfile.TemporaryDirectory() as cache:

        def draw_all(kinds: list[int]) -> None:
            device = tg.Device(threads=1, cache_dir=cache)
            for kind in kinds:
                assert picture(device, kind) == expected[kind]

        def child_of(kinds: list[int]) -> int:
            child = os.fork()
            if not child:
                signal.alarm(_HANGS_S)
                code = 1
                with contextlib.suppress(BaseException):
                    draw_all(kinds)
                    code = 0
                os._exit(code)
            return child

        for number in range(count):
            child = child_of(chance.sample(range(_KINDS), _KINDS))
            time.sleep(chance.random() * 5 * _LONGEST_S)
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, f"child {number} failed before it was killed: {status}"
            seen["killed" if os.WIFSIGNALED(status) else "done before"] += 1
            if number % 10 == 9 or number == count - 1:
                _, status = os.waitpid(child_of(list(range(_KINDS))), 0)
                assert status == 0, f"who comes after kill {number}: status {status}"
                seen["who came later"] += 1
                if chance.random() < 0.3:
                    for entry in Path(cache).iterdir():
                        if not entry.is_dir():
                            entry.unlink()
    return seen


_CLIENT = Path(__file__).with_name("driver_client.py")
_CLIENT_KERNEL = """#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
void main() {
  uint at = gl_GlobalInvocationID.x;
  float sum = 0.0;
  for (int k = 0; k < 40; ++k) sum += sin(float(at) * 0.01 + float(k)) * KIND;
  data[at] += floatBitsToUint(sum);
}"""


def clients(count: int, seed: int) -> Counter[str]:
    """Programs of the Vulkan driver that are killed (SIGKILL) while it starts, compiles, executes and writes to the disk cache: whoever
    comes later gets the right bits."""
    chance, seen = random.Random(seed), Counter[str]()
    library = str(tilegpu.vulkan.manifest().parent / "libtilegpu.so")
    with tempfile.TemporaryDirectory() as folder:
        kernels = [Path(folder) / f"{k}.spv" for k in range(_KINDS)]
        for k, path in enumerate(kernels):
            path.write_bytes(tg.compile_glsl(_CLIENT_KERNEL, "compute", defines={"KIND": f"{1 + k}.0"}))
        environment = os.environ | {"XDG_CACHE_HOME": str(Path(folder) / "cache"), "XDG_STATE_HOME": folder}

        def start(which: list[int]) -> subprocess.Popen[str]:
            words = [sys.executable, str(_CLIENT), library, *(str(kernels[k]) for k in which)]
            return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def of_all() -> list[str]:
            said, wrong = start(list(range(_KINDS))).communicate(timeout=_HANGS_S)
            assert not wrong and said.count("\n") == _KINDS, f"a client that nobody killed: {said}{wrong}"
            return said.split()

        expected = of_all()
        assert len(set(expected)) == _KINDS
        for number in range(count):
            if number % 10 == 0:
                for path in sorted((Path(folder) / "cache").rglob("*"), reverse=True):
                    if path.is_file() and chance.random() < 0.7:
                        path.unlink()
            which = chance.sample(range(_KINDS), _KINDS)
            client = start(which)
            time.sleep(chance.random() * 6 * _LONGEST_S)
            client.kill()
            said, wrong = client.communicate(timeout=_HANGS_S)
            lines = said.split()  # a line is written at once
            assert lines == [expected[k] for k in which[: len(lines)]], f"client {number}: {said}{wrong}"
            seen["killed" if client.returncode < 0 else "done before"] += 1
            seen["kernels before"] += len(lines)
            if number % 10 == 9 or number == count - 1:
                assert of_all() == expected, f"who comes after kill {number}"
                seen["who came later"] += 1
    return seen


KINDS: dict[str, Callable[[int, int], Counter[str]]] = {
    "interrupts": interrupts, "signals": signals, "forks": forks, "deaths": deaths, "memory": memory, "kills": kills,
    "clients": clients,
}  # fmt: skip
