"""Runs Khronos's conformance tests on the driver with a ``deqp-vk`` that somebody built, and says how they end, by group.

    python scripts/conformance.py --deqp PATH/deqp-vk --cases draw.txt rasterization.txt [--every 20] [--from 3] [--jobs 2]
    python scripts/conformance.py ... --beside /usr/share/vulkan/icd.d/lvp_icd.x86_64.json     # the same cases on another driver too
    python scripts/conformance.py ... --update                    # what failed and passes now leaves the list of failures

``--cases``: lists of names, as ``mustpass/main/vk-default`` of the tests has them; ``--every N``: each N-th of a list, beginning with
``--from``. Cases run some at once in one process; one that ends it, or takes longer than ``--timeout``, is a failure ("crash", "timeout"),
and the rest goes on in another process. ``tests/vulkan/conformance.txt`` holds the failures that are known, with a reason each: the exit
code is 1 if a case fails that is not there. It may only shrink: ``--update`` takes out what passes, and never adds.

Source: the README of the Vulkan conformance tests (command line, lists of cases); statuses by ``qpTestLog.h``.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
KNOWN = ROOT / "tests" / "vulkan" / "conformance.txt"
_AT_ONCE = 200
_CASE = re.compile(r"^Test case '(.+)'\.\.$")
_STATUSES = "Pass Fail QualityWarning CompatibilityWarning Pending NotSupported ResourceError InternalError Crash Timeout Waiver"
_STATUS = re.compile(rf"^  ({_STATUSES.replace(' ', '|')})(?: \((.*)\))?$")
#: How a case may end without being wrong.
PASSED = ("Pass", "QualityWarning", "CompatibilityWarning", "Waiver")
COLUMNS = ("passed", "not supported", "failed")

Results = dict[str, tuple[str, str]]  #: by case: status, and the words for it


def group_of(case: str) -> str:
    """Of ``dEQP-VK.draw.renderpass.x.y``: ``draw.renderpass``."""
    return ".".join(case.split(".")[1:3])


class Suite(NamedTuple):
    """A program that runs cases one after the other and says of each when it begins and how it ended, in the words of ``deqp-vk``."""

    command: Callable[[Path], Sequence[str | Path]]  #: that runs the cases of a file, a name a line; it may write beside the file
    folder: Path  #: where it is started
    group_of: Callable[[str], str] = group_of  #: the row of the table that a case counts in


def suite_of(deqp: Path) -> Suite:
    """The conformance tests of Vulkan."""
    off = ("--deqp-log-images=disable", "--deqp-log-shader-sources=disable", "--deqp-shadercache=disable")
    return Suite(lambda names: [deqp, f"--deqp-caselist-file={names}", f"--deqp-log-filename={names.parent}/log.qpa", *off], deqp.parent)


def chosen(lists: Iterable[Path], every: int, first: int) -> list[str]:
    """Names of cases: each ``every``-th of each list, from the ``first`` on."""
    found: list[str] = []
    for path in lists:
        names = [line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
        found += names[first % every :: every]
    return found


def run_some(suite: Suite, cases: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> Results:
    """All of them, in as many processes as it takes. A process ends by itself when it is through: names that its build lacks it passes
    over in silence."""
    found: Results = {}
    left = list(cases)
    while left:
        done, current, end = _run_once(suite, left, environment, timeout_s)
        found |= done
        if current is not None:
            found[current] = end
        elif end[0] == "Crash":  # between two cases, or before the first
            found[next(case for case in left if case not in found)] = end
        else:
            return found | dict.fromkeys((case for case in left if case not in found), ("Absent", "this build has no such case"))
        left = [case for case in left if case not in found]
    return found


def _run_once(
    suite: Suite, cases: Sequence[str], environment: Mapping[str, str], timeout_s: float
) -> tuple[Results, str | None, tuple[str, str]]:
    """One process: what ended, the case that it was in at its end (if any), and how it ended."""
    found: Results = {}
    current: str | None = None
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder) / "cases.txt"
        names.write_text("\n".join(cases) + "\n")
        with subprocess.Popen(list(suite.command(names)), cwd=suite.folder, env=dict(environment), text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:  # fmt: skip
            lines: queue.Queue[str | None] = queue.Queue()
            assert process.stdout is not None
            threading.Thread(target=_read_lines, args=(process.stdout, lines), daemon=True).start()
            while True:
                try:
                    line = lines.get(timeout=timeout_s)
                except queue.Empty:
                    process.kill()
                    return found, current, ("Timeout" if current is not None else "Crash", f"longer than {timeout_s:g} s")
                if line is None:
                    break
                if case := _CASE.match(line):
                    current = case[1]
                elif current is not None and (status := _STATUS.match(line)):
                    found[current] = (status[1], status[2] or "")
                    current = None
    died = process.returncode < 0 or (process.returncode > 0 and not found)
    return found, current, ("Crash" if died or current is not None else "", f"the process ended with {process.returncode}")


def _read_lines(stream: Iterable[str], lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line.rstrip("\n"))
    lines.put(None)


def run(suite: Suite, cases: Sequence[str], environment: Mapping[str, str], jobs: int, timeout_s: float) -> Results:
    """All cases, ``jobs`` processes at once; says on stderr how far it is."""
    found: Results = {}
    parts = [cases[i : i + _AT_ONCE] for i in range(0, len(cases), _AT_ONCE)]
    with ThreadPoolExecutor(jobs) as pool:
        for part in pool.map(lambda some: run_some(suite, some, environment, timeout_s), parts):
            found |= part
            print(f"  {len(found):,} of {len(cases):,}", file=sys.stderr, end="\r", flush=True)
    return found


def kind_of(status: str) -> str:
    """Which column a status counts in."""
    return "passed" if status in PASSED else "not supported" if status in ("NotSupported", "Absent") else "failed"


def table_of(results: Mapping[str, Results], group_of: Callable[[str], str] = group_of) -> str:
    """A row for each group, columns for each driver."""
    counts: dict[str, Counter[str]] = {}
    for driver, found in results.items():
        for case, (status, _) in found.items():
            for group in (group_of(case), "all"):
                counts.setdefault(group, Counter())[f"{driver} {kind_of(status)}"] += 1
    heads = [f"{driver} {column}" for driver in results for column in COLUMNS]
    rows = [["group", *heads]]
    rows += [[group, *(f"{counts[group][head]:,}" for head in heads)] for group in sorted(counts, key=lambda g: (g == "all", g))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows)


def reasons_of(found: Results) -> Counter[str]:
    """Why cases are not supported, by how many; numbers and what stands behind " at " (a line of the tests) left out."""
    words = (words.partition(" at ")[0] for status, words in found.values() if kind_of(status) == "not supported")
    return Counter(re.sub(r"\d+", "N", text) for text in words)


def known_failures(path: Path) -> dict[str, str]:
    """The list of failures: a case in each line, or a pattern of some (``*``), then what is the matter."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.strip() and not line.startswith("#"):
            case, _, why = line.partition(" ")
            found[case] = why.strip()
    return found


def is_known(case: str, known: Mapping[str, str]) -> bool:
    """By its name, or a pattern: ``*`` stands for anything, and brackets for themselves."""
    return case in known or any("*" in one and fnmatch.fnmatchcase(case, one.replace("[", "[[]")) for one in known)


def without(path: Path, passed: Iterable[str]) -> int:
    """Takes cases out of the list of failures; how many."""
    gone = set(passed) & known_failures(path).keys()
    kept = [line for line in path.read_text().splitlines() if line.partition(" ")[0] not in gone]
    path.write_text("\n".join(kept) + "\n")
    return len(gone)


def environment_of(manifest: Path | None) -> dict[str, str]:
    """Of a process that finds one driver and no other: tilegpu's, or that of a manifest."""
    if manifest is None:
        from tilegpu import vulkan

        return {**os.environ, **vulkan.environment()}
    return {**os.environ, "VK_DRIVER_FILES": str(manifest), "VK_ICD_FILENAMES": str(manifest)}


def add_options(parser: argparse.ArgumentParser, every: int, known: Path) -> None:
    """What all suites are asked: which cases, how many at once, beside what."""
    parser.add_argument("--every", type=int, default=every, metavar="N", help=f"of each list every N-th case ({every})")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="K", help="the first of them (0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (1)")
    parser.add_argument("--timeout", type=float, default=120, metavar="S", help="seconds of a case (120)")
    parser.add_argument("--beside", type=Path, metavar="MANIFEST", help="another driver's, which runs the same cases")
    parser.add_argument("--reasons", type=int, default=20, metavar="N", help="as many reasons why something is not supported (20)")
    parser.add_argument("--update", action="store_true", help=f"take out of {known.name} what passes")


def run_on_drivers(suite: Suite, cases: Sequence[str], given: argparse.Namespace) -> dict[str, Results]:
    """On tilegpu, and on the other driver if there is one; prints the table of both."""
    drivers: dict[str, Path | None] = {"tilegpu": None, **({"beside": given.beside} if given.beside else {})}
    results: dict[str, Results] = {}
    for name, manifest in drivers.items():
        start = time.monotonic()
        results[name] = run(suite, cases, environment_of(manifest), given.jobs, given.timeout)
        print(f"{name}: {len(cases):,} cases in {time.monotonic() - start:,.0f} s", file=sys.stderr)
    print(table_of(results, suite.group_of))
    return results


def report(results: Mapping[str, Results], known_path: Path, given: argparse.Namespace) -> int:
    """What is not supported and what fails, against the list of what is known to; 1 if something fails that is not there."""
    for reason, count in reasons_of(results["tilegpu"]).most_common(given.reasons):
        print(f"not supported, {count:,}: {reason}")
    failed = {case: end for case, end in results["tilegpu"].items() if kind_of(end[0]) == "failed"}
    known = known_failures(known_path)
    for case, (status, words) in failed.items():
        other = results.get("beside", {}).get(case)
        print(f"{'known' if is_known(case, known) else 'NEW  '} {case} {status}: {words}" + (f"   [beside: {other[0]}]" if other else ""))
    passed = [case for case, end in results["tilegpu"].items() if kind_of(end[0]) == "passed" and case in known]
    if passed and given.update:
        print(f"{without(known_path, passed)} fewer failures are known")
    elif passed:
        print(f"{len(passed)} known failures pass now (--update)")
    return 0 if all(is_known(case, known) for case in failed) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--deqp", type=Path, required=True, help="the program deqp-vk")
    parser.add_argument("--cases", type=Path, nargs="+", required=True, metavar="LIST", help="files with a case in each line")
    add_options(parser, 1, KNOWN)
    given = parser.parse_args(arguments)
    if given.every < 1 or given.jobs < 1 or not given.deqp.is_file():
        parser.error("--every and --jobs are at least 1, --deqp is a file")
    cases = chosen(given.cases, given.every, given.first)
    results = run_on_drivers(suite_of(given.deqp.resolve()), cases, given)
    return report(results, KNOWN, given)


if __name__ == "__main__":
    sys.exit(main())
