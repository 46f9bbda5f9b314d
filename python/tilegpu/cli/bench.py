"""``tilegpu bench``: the questions that are answered by measuring; one module of :mod:`tilegpu.bench` for each."""

from __future__ import annotations

import importlib
from typing import Any

from tilegpu.cli.common import Parser

#: Modules of :mod:`tilegpu.bench` with ``add_parser``.
_MODULES = ("depth_filter",)


def add_parser(commands: Any) -> None:
    """Adds the group of commands."""
    parser = commands.add_parser("bench", help="measure", description="Measures one thing and prints a table, or JSON.")
    group = parser.add_subparsers(dest="bench", metavar="WHAT", required=True, parser_class=Parser)
    for name in _MODULES:
        importlib.import_module(f"tilegpu.bench.{name}").add_parser(group)
