"""``python -m tests.faults --count 200``: each kind of fault so many times, each in a process of its own. What came of it is printed."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

from tests.faults.kinds import KINDS


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=sorted(KINDS), action="append")
    parser.add_argument("--here", action="store_true", help="in this process: of the one kind that is named")
    options = parser.parse_args()
    if options.here:
        (kind,) = options.kind
        print(json.dumps(KINDS[kind](options.count, options.seed)))
        return 0
    failed = 0
    for kind in options.kind or KINDS:
        began = time.monotonic()
        words = [sys.executable, "-m", "tests.faults", "--here", "--kind", kind, "--count", str(options.count), "--seed", str(options.seed)]
        done = subprocess.run(words, capture_output=True, text=True)
        failed += done.returncode != 0
        said = done.stdout.strip() if done.returncode == 0 else f"FAILED, exit code {done.returncode}\n{done.stdout}{done.stderr}"
        print(f"{kind}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
