"""What became of each draw of a pass, and why: hidden-surface removal explained."""

from __future__ import annotations

import html
from typing import Any

_HEADINGS = ("draws", "pipeline", "early tests", "visibility buffer", "low-resolution Z")


class Explanation:
    """For each run of draws with the same pipeline: which techniques were on, and the reason where one was off.

    *Early tests*: depth and stencil are tested and written before shading. *Visibility buffer*: the tile remembers the visible
    primitive of each sample and shades it once, whatever the order of draws. Printed, a table; ``rows`` are plain dictionaries
    with ``first_draw``, ``draws``, ``pipeline``, ``early_tests_off``, ``visibility_off`` and ``low_resolution_z_off`` ("" where the
    technique was on). *Low-resolution Z*: what was off (the draw's test, its write, writes of the rest of the pass, everything until a
    clear), the rule, and the draw that broke it where that is another one.
    """

    def __init__(self, label: str, rows: list[dict[str, Any]]) -> None:
        self.label = label
        self.rows = rows

    def _table(self) -> list[tuple[str, ...]]:
        def state(reason: str) -> str:
            return f"off: {reason}" if reason else "on"

        def numbers(row: dict[str, Any]) -> str:
            first, count = row["first_draw"], row["draws"]
            return str(first) if count == 1 else f"{first}-{first + count - 1}"

        return [
            (
                numbers(r),
                r["pipeline"],
                state(r["early_tests_off"]),
                state(r["visibility_off"]),
                r["low_resolution_z_off"] or "on",
            )
            for r in self.rows
        ]

    def __str__(self) -> str:
        table = [_HEADINGS, *self._table()]
        widths = [max(len(row[i]) for row in table) for i in range(4)]
        lines = [f"pass '{self.label}': {sum(r['draws'] for r in self.rows)} draws"]
        lines += ["  " + "  ".join([*(row[i].ljust(widths[i]) for i in range(4)), row[4]]) for row in table]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def cells(row: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in row) + "</tr>"

        body = "".join(cells(row, "td") for row in self._table())
        return f"<table><caption>pass '{html.escape(self.label)}'</caption>{cells(_HEADINGS, 'th')}{body}</table>"
