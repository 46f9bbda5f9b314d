"""What became of each draw of a pass, and why: hidden-surface removal explained."""

from __future__ import annotations

import html
from typing import Any

_HEADINGS = ("draws", "pipeline", "early tests", "visibility buffer", "low-resolution Z")


class Explanation:
    """For each run of draws with the same pipeline: which techniques were on, and the reason where one was off or stopped.

    *Early tests*: depth and stencil are tested and written before shading. *Visibility buffer*: the tile remembers the visible
    primitive of each sample and shades it once, whatever the order of draws. *Low-resolution Z*: what was off (the draw's test, its
    write, writes of the rest of the pass, everything until a clear), the rule, and the draw that broke it where that is another one.
    *Pre-pass*: Arm's fragment pre-pass; "stopped" names the rule of the article, what broke it, and in how many tiles. Printed, a
    table; ``rows`` are plain dictionaries with ``first_draw``, ``draws``, ``pipeline``, ``early_tests_off``, ``visibility_off`` and
    ``low_resolution_z_off`` ("" where the technique was on), and ``techniques``: a list of dictionaries with ``technique``, ``state``
    ("on", "off", "stopped"), ``rule``, ``reason`` and ``by_draw`` (the draw that broke it first, -1 for none).
    """

    def __init__(self, label: str, rows: list[dict[str, Any]]) -> None:
        self.label = label
        self.rows = rows

    def _headings(self) -> tuple[str, ...]:
        techniques = self.rows[0]["techniques"] if self.rows else []
        return (*_HEADINGS, *(t["technique"].replace("_", " ") for t in techniques))

    def _table(self) -> list[tuple[str, ...]]:
        def state(reason: str) -> str:
            return f"off: {reason}" if reason else "on"

        def technique(t: dict[str, Any]) -> str:
            rule = f" (rule {t['rule']})" if t["rule"] else ""
            return f"{t['state']}{rule}: {t['reason']}" if t["reason"] else f"{t['state']}{rule}"

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
                *map(technique, r["techniques"]),
            )
            for r in self.rows
        ]

    def __str__(self) -> str:
        table = [self._headings(), *self._table()]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]) - 1)]
        lines = [f"pass '{self.label}': {sum(r['draws'] for r in self.rows)} draws"]
        for row in table:
            cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
            lines.append("  " + "  ".join([*cells, row[-1]]))
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def cells(row: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in row) + "</tr>"

        body = "".join(cells(row, "td") for row in self._table())
        return (
            f"<table><caption>pass '{html.escape(self.label)}'</caption>{cells(self._headings(), 'th')}{body}</table>"
        )
