"""What became of each draw of a pass, and why: hidden-surface removal explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilegpu import notebook
from tilegpu.errors import Error
from tilegpu.fixed import Told

#: Of early tests: what fails is killed before shading, what passes is written after it. The plan calls it "early tests without writes".
_TESTS_ONLY, _WRITTEN_LATER = "tests only", "written after shading"
_WIDEST = 24  #: of a cell of the printed table; what is longer is a note
_HEADINGS = ("draws", "pipeline", "early tests", "visibility buffer", "low-resolution Z")


class Explanation(Told):
    """For each run of draws with the same pipeline: which techniques were on, and the reason where one was off or stopped.

    *Early tests*: depth and stencil are tested and written before shading; "tests only": what fails is killed before, what passes is
    written after shading ("early tests without writes, late tests" in the plan). *Visibility buffer*: the tile remembers the visible
    primitive of each sample and shades it once, whatever the order of draws. *Low-resolution Z*: what was off (the draw's test, its
    write, writes of the rest of the pass, everything until a clear), the rule, and the draw that broke it where that is another one.
    *Pre-pass*: Arm's fragment pre-pass; "stopped" names the rule of the article, what broke it, and in how many tiles. *Deferred
    vertex shading*: whether small triangles leave all but their positions to the tiles. Printed, a table; ``rows`` are plain
    dictionaries with ``first_draw``, ``draws``, ``part`` (0, or which part of a pass that was suspended and resumed), ``pipeline``,
    ``early_tests_off``, ``visibility_off`` and ``low_resolution_z_off`` ("" where the technique was on), and ``techniques``: a list of
    dictionaries with ``technique``, ``state`` ("on", "off", "stopped"), ``rule``, ``reason`` and ``by_draw`` (the draw that broke it
    first, -1 for none). ``plan`` is the way through the tile phase in words: how coverage is found and tested, where fragments go, how they
    are shaded and what follows. Where a pre-pass took the draw, its way there and its way in the main pass, and then, if the pre-pass of
    some tiles had ended before, its ordinary way in these; its words are explained in docs/hidden_surface_removal.md.

    ``tried`` says which techniques ``hsr=`` put on that the profile's GPU has not.

    What it cost is in :attr:`costs`, and in the table when it is printed.
    """

    def __init__(
        self, label: str, rows: list[dict[str, Any]], costs: Callable[[], list[dict[str, Any]]] | None = None, tried: str = ""
    ) -> None:
        self.label = label
        self.tried = tried  #: techniques that were on and are not the profile's own, in words; "": none
        self.rows = rows
        self._ask = costs
        self._costs: list[dict[str, Any]] | None = None

    @property
    def costs(self) -> list[dict[str, Any]]:
        """For each draw: ``fragments_rasterized``, ``fragments_shaded``, ``pixels_shaded`` (more where fragments have several pixels),
        ``sliced_invocations``, ``fragments_discarded``, ``fragments_late_killed``, ``fragments_overwritten`` (shaded, and nothing of them
        is left in any attachment), and
        ``covered_by``, most first: dictionaries with ``by_draw`` (-1: a clear), ``fragments``, and the primitive of that draw which
        covered most: ``top_primitive``, ``top_instance``, ``top_fragments``.

        Asked for the first time, the pass is executed again with a trace, unless it was traced: see :meth:`RenderPass.why`.
        """
        if self._costs is None:
            self._costs = [] if self._ask is None else self._ask()
            self._ask = None
        return self._costs

    def unseen(self) -> str:
        """A table of the draws that shaded fragments nobody sees, the dearest first."""
        draws = [
            (c["fragments_overwritten"] + c["fragments_discarded"] + c["fragments_late_killed"], i, c)
            for i, c in enumerate(self.costs)
        ]
        rows: list[tuple[str, ...]] = [("draw", "shaded", "overwritten", "discarded", "failed late", "covered by")]
        for unseen, i, c in sorted(draws, key=lambda d: (-d[0], d[1])):
            if not unseen:
                break
            counts = ("fragments_shaded", "fragments_overwritten", "fragments_discarded", "fragments_late_killed")
            rows.append((str(i), *(f"{c[name]:,}" for name in counts), ", ".join(map(_cover, c["covered_by"][:3]))))
        shaded = sum(c["fragments_shaded"] for c in self.costs)
        total = sum(d[0] for d in draws)
        head = f"shaded and not seen: {total:,} of {shaded:,} fragment{'s' if shaded != 1 else ''}"
        if len(rows) == 1:
            return head
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        most = 20
        lines = [head]
        for row in rows[: most + 1]:
            lines.append("  " + "  ".join([*(c.rjust(w) for c, w in zip(row, widths, strict=False)), row[-1]]))
        if len(rows) > most + 1:
            fewer = len(rows) - most - 1
            lines.append(f"  and {fewer} draw{'s' if fewer != 1 else ''} with fewer")
        return "\n".join(lines)

    def _unseen_or_why_not(self) -> str:
        try:
            return self.unseen() if self.costs else ""
        except Error as error:
            return f"what it cost is not known: {error}"

    def _parts(self) -> str:
        """Where each part of a pass that was suspended and resumed begins; "" for a pass in one piece."""
        first = {row["part"]: row["first_draw"] for row in reversed(self.rows)}
        starts = ", ".join(str(draw) for part, draw in sorted(first.items()) if part)
        return f", suspended and resumed before draw {starts}: one tile pass" if starts else ""

    def _headings(self) -> tuple[str, ...]:
        return (*_HEADINGS, *(name.replace("_", " ") for name in self._techniques()), "plan")

    def _techniques(self) -> list[str]:
        """Names of all that some draw has; one that asks nothing of a unit (blending) has no entry of it."""
        return list(dict.fromkeys(t["technique"] for row in self.rows for t in row["techniques"]))

    def _table(self) -> list[tuple[str, ...]]:
        def state(reason: str) -> str:
            return f"off: {reason}" if reason else "on"

        def early(reason: str) -> str:
            return f"{_TESTS_ONLY}: {reason}" if reason.endswith(_WRITTEN_LATER) else state(reason)

        def technique(t: dict[str, Any]) -> str:
            rule = f" (rule {t['rule']})" if t["rule"] else ""
            return f"{t['state']}{rule}: {t['reason']}" if t["reason"] else f"{t['state']}{rule}"

        def numbers(row: dict[str, Any]) -> str:
            first, count = row["first_draw"], row["draws"]
            return str(first) if count == 1 else f"{first}-{first + count - 1}"

        names = self._techniques()
        by_name = [{t["technique"]: technique(t) for t in r["techniques"]} for r in self.rows]
        return [
            (
                numbers(r),
                r["pipeline"],
                early(r["early_tests_off"]),
                state(r["visibility_off"]),
                r["low_resolution_z_off"] or "on",
                *(of_row.get(name, "-") for name in names),
                r["plan"],
            )
            for r, of_row in zip(self.rows, by_name, strict=True)
        ]

    def folded(self) -> tuple[list[str], list[tuple[str, ...]], list[str], list[str]]:
        """The table as it is printed: headings, rows, notes that cells stand for as ``[1]``, and lines of the techniques that were off
        for every draw in the same way, which have no column."""
        headings, rows = list(self._headings()), self._table()
        last = len(headings) - 1  # the plan: always a note
        same: dict[str, list[str]] = {}
        columns = []
        for i, name in enumerate(headings):
            cells = {row[i] for row in rows}
            if 2 <= i < last and len(cells) == 1 and (text := cells.pop()).startswith("off"):
                same.setdefault(text.partition(": ")[2], []).append(name)
            else:
                columns.append(i)
        notes: dict[str, int] = {}

        def cell(text: str, column: int) -> str:
            if column < 2 or (column != last and len(text) <= _WIDEST):
                return text
            number = notes.setdefault(text if column == last else text.partition(": ")[2] or text, len(notes) + 1)
            state = "" if column == last else text.partition(":")[0] + " " if ": " in text else ""
            return f"{state}[{number}]"

        table = [tuple(cell(row[i], i) for i in columns) for row in rows]
        off = [
            f"off for all draws: {', '.join(names)}" + (f" ({reason})" if reason else "")
            for reason, names in same.items()
        ]
        return [headings[i] for i in columns], table, [f"[{number}] {text}" for text, number in notes.items()], off

    def _head(self) -> str:
        draws = sum(r["draws"] for r in self.rows)
        tried = f"; {self.tried}" if self.tried else ""
        return f"pass '{self.label}': {draws} draw{'s' if draws != 1 else ''}{self._parts()}{tried}"

    def __str__(self) -> str:
        headings, rows, notes, off = self.folded()
        table = [tuple(headings), *rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(headings))]
        lines = [self._head()]
        if self.rows:
            lines += [
                "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
                for row in table
            ]
        lines += [f"  {line}" for line in (*notes, *off)]
        return "\n".join([*lines, *filter(None, [self._unseen_or_why_not()])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        headings, rows, below, off = self.folded()
        seen = notebook.Html(f"<pre>{notebook.escaped(self._unseen_or_why_not())}</pre>")
        return notebook.table(self._head(), headings, rows) + notebook.notes((*below, *off)) + seen


def _cover(cover: dict[str, Any]) -> str:
    if cover["by_draw"] < 0:
        return f"a clear ({cover['fragments']:,})"
    top = f"primitive {cover['top_primitive']}" + (
        f" of instance {cover['top_instance']}" if cover["top_instance"] else ""
    )
    return f"draw {cover['by_draw']} ({cover['fragments']:,}; {top}: {cover['top_fragments']:,})"
