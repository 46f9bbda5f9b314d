"""What the passes of a frame cost together.

In: the statistics of its passes and dispatches. Out: their sums, under the names that one pass has; printed, a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilegpu import notebook
from tilegpu.compute import DispatchStats
from tilegpu.context import CommandStats
from tilegpu.fixed import Made, MissingAttributeError, made_once
from tilegpu.stats import GROUPS, PassStats, bytes_of_cause, bytes_text, counted_by_attribute

#: What is not added up: two passes share it.
_GREATEST = {"peak_arena_B"}
#: Causes whose bytes did not move, or did not move between tile memory and images.
NOT_MOVED = ("saved_", "clear")
#: What the table's "other bytes" are, by cause.
_OTHER = {
    "resolve": "resolved in the tile", "border_load": "loaded of blocks at the area's border",
    "border_store": "stored of blocks at the area's border", "spill_load": "loaded again after splits", "spill_store": "spilled by splits",
}  # fmt: skip


def moved_B(traffic: dict[str, dict[str, int]]) -> int:
    """Bytes between tile memory and images: what was saved, and clears within the tile, left out."""
    return sum(n for causes in traffic.values() for cause, n in causes.items() if not cause.startswith(NOT_MOVED))


class FrameStats(Made):
    """Counters of all passes added up, as attributes (``stats.fragments_shaded``); ``peak_arena_B`` is the greatest.

    ``passes``, ``dispatches`` and ``commands`` (copies, blits, resolves, clears, mip chains) have each by itself. ``traffic`` has the bytes
    between tile memory and images, by pass and attachment: ``stats.traffic["2 main: color0"]["store"]``; :meth:`bytes` adds one cause up.
    """

    label: str
    passes: tuple[PassStats, ...]
    dispatches: tuple[DispatchStats, ...]
    commands: tuple[CommandStats, ...]

    def __init__(
        self, label: str, passes: Sequence[PassStats], dispatches: Sequence[DispatchStats] = (), commands: Sequence[CommandStats] = ()
    ) -> None:
        # Not by __setattr__, which asks what counters there are.
        vars(self).update(label=label, passes=tuple(passes), dispatches=tuple(dispatches), commands=tuple(commands))

    @made_once
    def _values(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for one in self.passes:
            for name, value in one.asdict().items():
                if isinstance(value, (int, float)):
                    out[name] = max(out.get(name, 0), value) if name in _GREATEST else out.get(name, 0) + value
        out["traffic"] = {
            f"{number} {one.label}: {attachment}": dict(causes)
            for number, one in enumerate(self.passes)
            for attachment, causes in one.traffic.items()
        }
        return out

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            if not self.passes and any(name == field for fields in GROUPS.values() for field, _ in fields):
                return 0  # of frames of dispatches and commands alone
        raise MissingAttributeError(self, name)

    def __getitem__(self, name: Any) -> Any:
        raise counted_by_attribute(self, name)

    def _said_elsewhere(self, name: str) -> str:
        return "it is what was counted" if name in self._values else ""

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def bytes(self, cause: str) -> int:
        """Bytes of one cause (``"load"``, ``"store"``, ``"resolve"``, ...) over all attachments of all passes."""
        return bytes_of_cause(self._values["traffic"], cause)

    @property
    def moved_B(self) -> int:
        """Bytes between tile memory and images, all passes."""
        return moved_B(self._values["traffic"])

    @property
    def commands_B(self) -> int:
        """Bytes that commands outside of passes read and wrote."""
        return sum(one.moved_B for one in self.commands)

    def asdict(self) -> dict[str, Any]:
        """All counters, and the passes' own: ready for JSON."""
        return {**self._values, "label": self.label, "passes": [one.asdict() for one in self.passes],
                "dispatches": [one._asdict() for one in self.dispatches],
                "commands": [one._asdict() for one in self.commands]}  # fmt: skip

    def _rows(self) -> list[tuple[str, ...]]:
        head = ("pass", "draws", "primitives", "rasterized", "shaded", "loaded", "stored", "other bytes", "ms")
        rows: list[tuple[str, ...]] = [head]
        both: list[PassStats | FrameStats] = [*self.passes, *([self] if len(self.passes) > 1 else [])]
        for one in both:
            loaded, stored = one.bytes("load"), one.bytes("store")
            other = moved_B(one.traffic) - loaded - stored
            ms = one.geometry_ms + one.tiles_ms
            rows.append((
                "all" if one is self else one.label, f"{one.draws:,}", f"{one.primitives_in:,}", f"{one.fragments_rasterized:,}",
                f"{one.fragments_shaded:,}", bytes_text(loaded), bytes_text(stored), bytes_text(other), f"{ms:.3f}",
            ))  # fmt: skip
        for command in self.commands:
            moved = bytes_text(command.read_B), bytes_text(command.written_B)
            rows.append((command.command.replace("_", " "), "", "", "", "", *moved, "", ""))
        return rows

    def _other(self) -> str:
        """What the "other bytes" are; ``""``: there are none."""
        found = [f"{bytes_text(count)} {words}" for cause, words in _OTHER.items() if (count := self.bytes(cause))]
        return f"other bytes: {', '.join(found)}" if found else ""

    def _counted(self) -> str:
        passes, dispatches, commands = len(self.passes), len(self.dispatches), len(self.commands)
        text = f"{passes} pass{'es' if passes != 1 else ''}, {dispatches} dispatch{'es' if dispatches != 1 else ''}"
        return text + (f", {commands} command{'s' if commands != 1 else ''}" if commands else "")

    def __str__(self) -> str:
        rows = self._rows() if self.passes or self.commands else []
        lines = [f"frame '{self.label}': {self._counted()}"]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
        for row in rows:
            lines.append(
                "  "
                + "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
            )
        return "\n".join([*lines, *([f"  {other}"] if rows and (other := self._other()) else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._rows() if self.passes or self.commands else [()]
        below = [other] if (other := self._other()) else []
        return notebook.table(f"frame '{self.label}': {self._counted()}", head, rows, range(1, len(head))) + notebook.notes(below)
