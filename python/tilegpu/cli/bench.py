"""``tilegpu bench``: the questions that are answered by measuring; see :mod:`tilegpu.bench`, imported when the command is used."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from tilegpu.cli.common import Parser, add_quiet_option


def add_parser(commands: Any) -> None:
    """Adds the command's line of help; its arguments are parsed by :func:`options`."""
    commands.add_parser("bench", help="measure: peers, the seeds' experiments ('tilegpu bench -h' lists them)")


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses what follows ``tilegpu bench``. Raises ``SystemExit`` as argparse does."""
    parser = Parser(prog="tilegpu bench", description="Measures one thing and prints a table, or JSON with --json.")
    group = parser.add_subparsers(dest="bench", metavar="WHAT", required=True, parser_class=Parser)
    from tilegpu.bench import add_parsers

    add_parsers(group)
    for one in group.choices.values():
        add_quiet_option(one)
    chosen = parser.parse_args(arguments)
    chosen.command = f"bench {chosen.bench}"
    return chosen
