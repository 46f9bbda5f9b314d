"""``tilegpu bench``: the questions that are answered by measuring; one module of :mod:`tilegpu.bench` for each.

The modules are imported when the command is used: other commands start without them.
"""

from __future__ import annotations

import argparse
import importlib
from typing import Any

from tilegpu.cli.common import Parser

#: Modules of :mod:`tilegpu.bench` with ``add_parser``.
_MODULES = ("peers", "depth_filter")


def add_parser(commands: Any) -> None:
    """Adds the command; what follows it is for :func:`run`."""
    parser = commands.add_parser(
        "bench", help="measure: peers, the seeds' experiments ('tilegpu bench -h' lists them)", add_help=False
    )
    parser.add_argument("what", nargs=argparse.REMAINDER)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Parses and runs the rest of the command line."""
    parser = Parser(prog="tilegpu bench", description="Measures one thing and prints a table, or JSON with --json.")
    group = parser.add_subparsers(dest="bench", metavar="WHAT", required=True, parser_class=Parser)
    for name in _MODULES:
        importlib.import_module(f"tilegpu.bench.{name}").add_parser(group)
    try:
        chosen = parser.parse_args(options.what)
    except SystemExit as stop:  # argparse has written its message
        return int(stop.code or 0)
    return int(chosen.run(chosen))
