"""Runs the WebGPU conformance tests on the driver by Dawn in node, with a checkout of theirs that somebody has, and says how they end.

    make .venv/.stamp-clients                                   # node's `webgpu`, which is Dawn
    python scripts/webgpu_cts.py --cts CHECKOUT [--every 40] [--from 7] [--jobs 2] [QUERY...]
    python scripts/webgpu_cts.py ... --beside /usr/lib/chromium/vk_swiftshader_icd.json     # the same cases on another driver too
    python scripts/webgpu_cts.py ... --update                   # what failed and passes now leaves the list of failures

``CHECKOUT`` has its ``out-node`` (``npm ci && npm run node`` there). ``QUERY``: which tests, in the suite's own words; without one, all of
``webgpu:api,operation,*`` and ``webgpu:shader,execution,*``, of each of which every N-th case is run. Processes, limits of time and what is
printed are those of ``scripts/conformance.py``; ``tests/vulkan/webgpu_cts.txt`` holds the failures that are known, and may only shrink.

Source: the suite's own words on queries and cases, and its command line, ``src/common/runtime/cmdline.ts``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance import ROOT, Suite, add_options, report, run_on_drivers

KNOWN = ROOT / "tests" / "vulkan" / "webgpu_cts.txt"
RUNNER = ROOT / "tests" / "vulkan" / "webgpu_cts.mjs"
QUERIES = ("webgpu:api,operation,*", "webgpu:shader,execution,*")


def group_of(case: str) -> str:
    """Of ``webgpu:shader,execution,expression,call,builtin,abs:f32:...``: ``shader,execution,expression,call``."""
    return ",".join(case.split(":")[1].split(",")[:4])


def suite_of(node: str, checkout: Path, modules: Path) -> Suite:
    """The tests of a checkout, by a node, with the ``webgpu`` of a folder of modules."""
    return Suite(lambda names: [*_words(node, checkout, modules), "run", names], checkout, group_of)


def cases_of(node: str, checkout: Path, modules: Path, query: str) -> list[str]:
    """The names of all cases of a query, in the suite's order."""
    listed = subprocess.run([*_words(node, checkout, modules), "list", query], stdout=subprocess.PIPE, text=True, check=True)
    return listed.stdout.splitlines()


def _words(node: str, checkout: Path, modules: Path) -> list[str | Path]:
    return [node, "--expose-gc", RUNNER, checkout, modules]  # the tests collect what they left of devices


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("queries", nargs="*", default=QUERIES, metavar="QUERY", help="which tests (%(default)s)")
    parser.add_argument("--cts", type=Path, required=True, metavar="CHECKOUT", help="a checkout of the tests, with its out-node")
    parser.add_argument("--node", default="node", help="the program (node)")
    parser.add_argument("--modules", type=Path, default=Path(sys.prefix) / "clients", help="where node_modules/webgpu is (%(default)s)")
    add_options(parser, 40, KNOWN)
    given = parser.parse_args(arguments)
    if given.every < 1 or given.jobs < 1:
        parser.error("--every and --jobs are at least 1")
    for path in (given.cts / "out-node" / "common", given.modules / "node_modules" / "webgpu"):
        if not path.is_dir():
            parser.error(f"{path} is not there: `npm ci && npm run node` in the checkout, `make .venv/.stamp-clients` here")
    where = (given.node, given.cts.resolve(), given.modules.resolve())
    lists = [cases_of(*where, query) for query in given.queries]
    cases = [case for names in lists for case in names[given.first % given.every :: given.every]]
    return report(run_on_drivers(suite_of(*where), cases, given), KNOWN, given)


if __name__ == "__main__":
    sys.exit(main())
