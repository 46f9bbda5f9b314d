"""`python -m tests.shader_fuzz [--seconds N] [--first SEED] [--count N] [--size N]`: random programs until time or seeds end.

A difference is made small, printed with both results, and left in build/fuzz-shaders. The exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from tests.shader_fuzz import compare, reduce  # noqa: E402
from tests.shader_fuzz.program import Generator  # noqa: E402

FOUND = ROOT / "build" / "fuzz-shaders"


def report(difference: compare.Difference, shrink: bool = True) -> str:
    """What a person reads: the seed, the smallest module that still differs, both results."""
    program, lanes, code = difference.program, difference.lanes, difference.code

    kind = compare.differs(program, difference.module, lanes, code).partition(":")[0]

    def interesting(module: bytes) -> bool:
        return compare.differs(program, module, lanes, code).partition(":")[0] == kind

    module = reduce.reduced(difference.module, interesting) if shrink else difference.module
    FOUND.mkdir(parents=True, exist_ok=True)
    path = FOUND / f"seed-{program.seed}.spv"
    path.write_bytes(module)
    return "\n".join(
        [str(difference), reduce.text_of(module), compare.differs(program, module, lanes, code), f"left in {path}"]
    )


def main() -> int:
    """0: no difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.shader_fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=1 << 40)
    parser.add_argument("--size", type=int, default=30)
    parser.add_argument("--stage", default="")
    parser.add_argument("--thorough", action="store_true", help="every number of lanes by both kinds of code")
    parser.add_argument("--no-shrink", action="store_true")
    options = parser.parse_args()
    start, programs, runs, failures = time.monotonic(), 0, 0, 0
    for seed in range(options.first, options.first + options.count):
        if time.monotonic() - start > options.seconds:
            break
        programs += 1
        try:
            runs += compare.check(Generator(seed, options.size, options.stage).program(), thorough=options.thorough)
        except compare.Difference as difference:
            failures += 1
            print(report(difference, not options.no_shrink), flush=True)
        except KeyboardInterrupt:
            break
    took = time.monotonic() - start
    print(
        f"{programs} programs from seed {options.first} on, {runs} executions compared, {failures} differences, {took:.0f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
