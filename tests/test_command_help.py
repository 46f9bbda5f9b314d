"""Every ``--help`` of the command line: plain text, without the markup of the docstrings that it is made from."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest

from tilegpu.cli import build_parser, main
from tilegpu.terminal import Parser, plain

#: Roles, double and single backticks, bold, directives, links of reStructuredText.
MARKUP = re.compile(r":[a-z]+:`|`|\*\*\w|^\s*\.\. |`_\b", re.MULTILINE)


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, ...]]:
    """Names of a parser's commands, and theirs."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield (name,)
                yield from ((name, *more) for more in commands(below))


def all_commands() -> list[tuple[str, ...]]:
    from tilegpu.bench import add_parsers

    group = argparse.ArgumentParser().add_subparsers(parser_class=Parser)
    add_parsers(group)
    return [(), *commands(build_parser()), *(("bench", name) for name in group.choices)]


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_help_is_plain_text(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: tilegpu") and len(said) > 100
    assert not (found := MARKUP.search(said)), f"raw markup in the help of {words}: {said[found.start() - 40 : found.end() + 40]!r}"


def test_all_commands_are_walked() -> None:
    found = {" ".join(words) for words in all_commands()}
    assert {"", "render", "bench", "bench hsr", "bench depth-filter", "info", "what-if"} <= found and len(found) > 20


def test_what_is_taken_out() -> None:
    text = "``a b`` of :mod:`tilegpu.costs`, :class:`~tilegpu.Device` and `c`: 2 ` 3"
    assert plain(text) == "a b of tilegpu.costs, tilegpu.Device and c: 2 ` 3"
