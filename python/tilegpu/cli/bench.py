"""``tilegpu bench``: the questions that are answered by measuring; one module of :mod:`tilegpu.bench` for each.

The modules are imported when the command is used: other commands start without them.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import Any

from tilegpu.cli.common import Parser

#: Modules of :mod:`tilegpu.bench` with ``add_parser``.
_MODULES = ("peers", "passes", "msaa", "hsr", "depth_filter", "scaling", "startup")


def add_parser(commands: Any) -> None:
    """Adds the command's line of help; its arguments are parsed by :func:`options`."""
    commands.add_parser("bench", help="measure: peers, the seeds' experiments ('tilegpu bench -h' lists them)")


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses what follows ``tilegpu bench``. Raises ``SystemExit`` as argparse does."""
    parser = Parser(prog="tilegpu bench", description="Measures one thing and prints a table, or JSON with --json.")
    group = parser.add_subparsers(dest="bench", metavar="WHAT", required=True, parser_class=Parser)
    for name in _MODULES:
        importlib.import_module(f"tilegpu.bench.{name}").add_parser(group)
    chosen = parser.parse_args(arguments)
    chosen.command = f"bench {chosen.bench}"
    return chosen
