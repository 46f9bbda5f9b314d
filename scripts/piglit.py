"""Runs tests of piglit on OpenGL by Mesa's Zink on the driver, and says how they end, beside another rasterizer.

    apt-get install piglit waffle-utils xvfb
    python scripts/piglit.py [--every 40] [--from 7] [--beside llvmpipe|lavapipe|none] [--only REGEX] [--results FOLDER]

Each ``--every``-th test of the profiles ``quick_gl`` and ``quick_shader`` (28,000), one at a time, under Xvfb. What fails here and passes
on the other is listed, with the first line that the driver said of it; the exit code is 1 if there is any.

In: the tests that Debian's package brings (programs of others, none of them is here). Out: figures and a list, on stdout.
Source: piglit's README; its results by ``framework/results.py`` (results.json.bz2).
"""

from __future__ import annotations

import argparse
import bz2
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import tilegpu.vulkan

PROFILES = ("quick_gl", "quick_shader")
LAVAPIPE = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
COLUMNS = ("pass", "fail", "crash", "timeout", "skip")

Tests = dict[str, dict[str, Any]]  #: by name: "result", "err" and so on, as piglit writes them


def environment(rasterizer: str, folder: Path) -> dict[str, str]:
    """Of programs that draw by it: tilegpu, lavapipe (both through Zink) or llvmpipe."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VK_", "WAYLAND_"))}
    kept |= {"LIBGL_ALWAYS_SOFTWARE": "1", "XDG_RUNTIME_DIR": str(folder)}
    if rasterizer == "llvmpipe":
        return kept
    where = tilegpu.vulkan.environment() if rasterizer == "tilegpu" else {"VK_DRIVER_FILES": LAVAPIPE, "VK_ICD_FILENAMES": LAVAPIPE}
    return {**kept, **where, "MESA_LOADER_DRIVER_OVERRIDE": "zink", "GALLIUM_DRIVER": "zink"}


def names_of(profile: str) -> list[str]:
    """All tests of the profile, in piglit's order."""
    text = subprocess.run(["piglit", "print-cmd", profile], check=True, capture_output=True, text=True).stdout
    return [line.partition(" ::: ")[0] for line in text.splitlines() if " ::: " in line]


def run(rasterizer: str, profile: str, names: list[str], folder: Path, timeout_s: int) -> Tests:
    """How they end on the rasterizer."""
    chosen, results = folder / f"{profile}.txt", folder / f"{profile}_{rasterizer}"
    chosen.write_text("".join(f"{name}\n" for name in names))
    words = ["piglit", "run", "-1", "-o", "-l", "quiet", "--timeout", str(timeout_s), "-p", "glx", "--test-list", str(chosen)]
    # Without -noreset the server starts anew behind each program, and refuses one that comes meanwhile.
    display = ["xvfb-run", "-a", "-s", "-screen 0 1280x1024x24 -noreset"]
    with (folder / f"{profile}_{rasterizer}.log").open("w") as log:
        subprocess.run([*display, *words, profile, str(results)], env=environment(rasterizer, folder), stdout=log, stderr=log, check=True)
    tests: Tests = json.loads(bz2.decompress((results / "results.json.bz2").read_bytes()))["tests"]
    assert set(tests) <= set(names), sorted(set(tests) - set(names))[:3]
    return tests


def told(test: dict[str, Any]) -> str:
    """The first line of the driver's about the test, else of the test's own."""
    lines = [line for line in f"{test.get('err') or ''}\n{test.get('out') or ''}".splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("tilegpu: ")]
    return (ours or lines or [""])[0][:200]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, default=40, help="each N-th test (1: all)")
    parser.add_argument("--from", type=int, default=7, dest="first", help="the first one")
    parser.add_argument("--beside", choices=("llvmpipe", "lavapipe", "none"), default="llvmpipe", help="the other rasterizer")
    parser.add_argument("--only", default="", help="tests whose names this regular expression is found in")
    parser.add_argument("--timeout", type=int, default=60, help="seconds that a test may take")
    parser.add_argument("--results", type=Path, help="a folder that keeps piglit's own results (else they are thrown away)")
    args = parser.parse_args()
    if args.every < 1:
        parser.error(f"--every is {args.every}; it must be 1 or more")
    for program in ("piglit", "wflinfo", "xvfb-run"):
        if shutil.which(program) is None:
            parser.error(f"{program} is not installed: apt-get install piglit waffle-utils xvfb")
    worse = 0
    with tempfile.TemporaryDirectory() as made:
        folder: Path = args.results or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        for profile in PROFILES:
            names = [name for name in names_of(profile) if re.search(args.only, name)][args.first % args.every :: args.every]
            if not names:
                continue
            others = [] if args.beside == "none" else [args.beside]
            ends = {rasterizer: run(rasterizer, profile, names, folder, args.timeout) for rasterizer in ("tilegpu", *others)}
            for rasterizer, tests in ends.items():
                counts = Counter(test["result"] for test in tests.values())
                print(f"{profile:12} {rasterizer:8}  " + "  ".join(f"{column} {counts[column]}" for column in COLUMNS), flush=True)
            for name, test in ends["tilegpu"].items():
                passes = all(ends[other].get(name, {}).get("result") == "pass" for other in others)
                if test["result"] not in ("pass", "skip", "warn") and passes:
                    worse += 1
                    print(f"  {test['result']:7} {name}: {told(test)}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
