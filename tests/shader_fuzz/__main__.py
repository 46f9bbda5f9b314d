"""`python -m tests.shader_fuzz [--seconds N] [--first SEED] [--count N] [--jobs N]`: random programs until time or seeds end, each by one
of the compiler's variants (`--thorough`: by all).

A difference is made small, printed with both results, and left in build/fuzz-shaders. The exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from tests.shader_fuzz import compare, reduce, tables  # noqa: E402

FOUND = ROOT / "build" / "fuzz-shaders"
#: For one program, whose loops have budgets, and which nobody waits for: an end is what code owes first of all.
MOST_S = 240.0


@contextmanager
def watched(seed: int) -> Iterator[None]:
    """Ends the process, with a message, where a program's execution does not end."""

    def end() -> None:
        print(f"seed {seed}: no end within {MOST_S:.0f} s: --first {seed} --count 1", flush=True)
        os._exit(1)

    timer = threading.Timer(MOST_S, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def report(difference: compare.Difference, shrink: bool = True) -> str:
    """What a person reads: the seed, the smallest module that still differs, both results."""
    program, lanes, code = difference.program, difference.lanes, difference.code

    kind = compare.differs(program, difference.module, lanes, code).partition(":")[0]

    def interesting(module: bytes) -> bool:
        return compare.differs(program, module, lanes, code).partition(":")[0] == kind

    if not shrink:
        return str(difference)
    module = reduce.reduced(difference.module, interesting)
    FOUND.mkdir(parents=True, exist_ok=True)
    path = FOUND / f"seed-{program.seed}.spv"
    path.write_bytes(module)
    return "\n".join(
        [str(difference), reduce.text_of(module), compare.differs(program, module, lanes, code), f"left in {path}"]
    )


def arguments() -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.shader_fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=1 << 40)
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, default=0, help="of programs; without it any")
    parser.add_argument("--stage", default="", help="compute, fragment, vertex, geometry; kernel and table: those alone")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--thorough", action="store_true", help="every number of lanes by both kinds of code, also through spirv-opt")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--stop", action="store_true", help="at the first difference")
    return parser.parse_args()


def several(options: argparse.Namespace) -> int:
    """Processes that take seeds by turns."""
    own = [f"--seconds={options.seconds}", f"--size={options.size}", f"--stage={options.stage}"]
    own += [f"--{name}" for name in ("thorough", "no-shrink", "stop") if getattr(options, name.replace("-", "_"))]
    running = []
    for k in range(options.jobs):
        count = -(-(options.count - k) // options.jobs)
        more = [f"--first={options.first + k}", f"--count={count}", f"--step={options.jobs}"]
        running.append(subprocess.Popen([sys.executable, "-m", "tests.shader_fuzz", *own, *more], cwd=ROOT))
    return max(process.wait() for process in running)


def main() -> int:
    """0: no difference."""
    options = arguments()
    if options.jobs > 1:
        return several(options)
    start, programs, runs, failures = time.monotonic(), 0, 0, 0
    check = compare.check if options.thorough else compare.sample
    for seed in range(options.first, options.first + options.count * options.step, options.step):
        if time.monotonic() - start > options.seconds:
            break
        programs += 1
        try:
            with watched(seed):
                runs += check(tables.any_program(seed, options.size, options.stage))
        except compare.Difference as difference:
            failures += 1
            print(f"after {programs} programs, {processor_seconds():.0f} s of the processor", flush=True)
            print(report(difference, not options.no_shrink), flush=True)
            if options.stop:
                break
        except KeyboardInterrupt:
            break
    took = time.monotonic() - start
    print(
        f"{programs} programs from seed {options.first} on, {runs} executions compared, {failures} differences, {took:.0f} s, "
        f"{processor_seconds():.0f} s of the processor"
    )
    return 1 if failures else 0


def processor_seconds() -> float:
    """This process's and those of spirv-as and spirv-opt."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    sys.exit(main())
