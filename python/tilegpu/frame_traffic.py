"""What passes would move if a frame were written otherwise, from what they moved.

In: the ledger of each pass and what it moved for each tile, on one profile. Out: the ledger as it would be. The rules are those of the core
(``cpp/src/tile_io``, decisions 22 to 26): an attachment that is cleared or resolved moves in every tile of the render area, another only in
tiles that something is drawn in, which here are *drawn* tiles. Each function is one change that lint names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Row = dict[str, int]  #: bytes by cause
Rows = dict[str, Row]  #: by attachment

_TileKey = tuple[int, int, int, int, int]  # layer, x, y, width, height
#: What leaves the tile. What transaction elimination saved counts as stored: it saves nothing when the picture moves.
_ELIMINATED = "saved_transaction_elimination"
STORED = ("store", "border_store", _ELIMINATED)
STORE = (*STORED, "border_load")  #: what moves for a store: blocks that it covers a part of are read
#: The same of samples that are resolved as well: what is eliminated is of the resolved image.
STORE_OF_SAMPLES = ("store", "border_store", "border_load")
_LOADED = ("load", "border_load")
_MOVED = (*_LOADED, *STORED, "resolve", "spill_load", "spill_store")


class Moved(NamedTuple):
    """What one pass moved on one profile. ``tiles``: as of :meth:`RenderPass.tiles`, empty where nobody noted them."""

    traffic: Mapping[str, Mapping[str, int]]
    tiles: Sequence[Mapping[str, Any]] = ()
    layout: Mapping[str, Any] = {}
    in_sysmem: bool = False

    def row(self, attachment: str) -> Row:
        """Of one attachment, to be changed."""
        return {cause: int(n) for cause, n in self.traffic.get(attachment, {}).items()}

    def rows(self) -> Rows:
        """Of all, to be changed."""
        return {name: self.row(name) for name in self.traffic}


def sum_B(rows: Mapping[str, Mapping[str, int]]) -> int:
    """All that moved."""
    return sum(int(row.get(cause, 0)) for row in rows.values() for cause in _MOVED)


def stored_row_B(row: Mapping[str, int]) -> int:
    """Of one attachment, what left the tile as it is."""
    return sum(int(row.get(cause, 0)) for cause in (STORE_OF_SAMPLES[:2] if row.get("resolve") else STORED))


def _everywhere(row: Row, loads: bool, stores: bool) -> Row:
    """As if every tile were drawn: what the ledger has as saved of clean tiles, by what they would have done."""
    clean = row.pop("saved_clean_tile", 0)
    if loads:
        row["load"] = row.get("load", 0) + clean // (2 if stores else 1)
    if stores:
        row["store"] = row.get("store", 0) + clean // (2 if loads else 1)
    return row


class Attached(NamedTuple):
    """An attachment as a pass has it. ``key``: which part of which image; ``resolved``: the key of what it is resolved to, or None;
    ``compressed``: how much of it moves depends on what is in it."""

    key: Any
    load_op: str
    store_op: str
    resolved: Any = None
    compressed: bool = False

    @property
    def loads(self) -> bool:
        """Also where it is only kept for splits (``store_op="none"``)."""
        return self.load_op == "load" or (self.store_op == "none" and self.load_op != "clear")

    @property
    def stores(self) -> bool:
        """All samples."""
        return self.store_op == "store"


class Without(NamedTuple):
    """Some causes of an attachment's bytes are gone: nothing is stored, loaded, resolved."""

    node: int
    attachment: str
    causes: tuple[str, ...]

    def after(self, passes: Mapping[int, Moved]) -> dict[int, Rows]:
        """The ledger then."""
        rows = passes[self.node].rows()
        rows.setdefault(self.attachment, {}).update(dict.fromkeys(self.causes, 0))
        return {self.node: rows}


class WithoutSpills(NamedTuple):
    """A pass that is not split: what its parts wrote out and loaded again is gone."""

    node: int
    causes: tuple[str, ...] = ("spill_load", "spill_store")

    def after(self, passes: Mapping[int, Moved]) -> dict[int, Rows]:
        """The ledger then."""
        return {self.node: {name: {**row, **dict.fromkeys(self.causes, 0)} for name, row in passes[self.node].rows().items()}}


class WithoutResolve(NamedTuple):
    """A pass without ``resolve=`` of an attachment: one that isn't cleared then moves in drawn tiles alone. ``of_store``: it is the store
    that resolves, into an image of one sample a pixel (``samples=`` of the pass), and that is gone."""

    node: int
    attachment: str
    one: Attached
    of_store: bool = False

    def after(self, passes: Mapping[int, Moved]) -> dict[int, Rows] | None:
        """The ledger then; None where it can't be known."""
        of = passes[self.node]
        rows = of.rows()
        row = rows.setdefault(self.attachment, {})
        if self.one.load_op != "clear" and (self.one.loads or (self.one.stores and not self.of_store)):
            if not of.tiles:
                return None
            drawn = [tile["traffic"].get(self.attachment, {}) for tile in of.tiles if tile["has_primitives"]]
            row.update({cause: sum(int(tile.get(cause, 0)) for tile in drawn) for cause in (*_LOADED, *STORED)})
        row["resolve"] = row["saved_transaction_elimination"] = 0  # samples are never eliminated
        if self.of_store:
            row.update(dict.fromkeys(STORE, 0))
        return {self.node: rows}


class ClearInPass(NamedTuple):
    """Attachments that are cleared by ``load_op`` in place of being loaded: all of the area is stored."""

    node: int
    attached: tuple[tuple[str, Attached], ...]

    def after(self, passes: Mapping[int, Moved]) -> dict[int, Rows] | None:
        """The ledger then; None where it can't be known."""
        rows = passes[self.node].rows()
        for name, one in self.attached:
            row = rows.get(name, {})
            if (one.compressed and row.get("saved_clean_tile")) or row.get("border_store"):
                return None
            row = _everywhere(row, True, one.stores)
            row["load"] = 0
            rows[name] = row
        return {self.node: rows}


class ResolveInPass(NamedTuple):
    """Attachments that are resolved in the tile. ``samples_too``: others read the samples, which are stored as before. ``resolved_B``: what
    a command wrote for it, which the tiles write then."""

    node: int
    attached: tuple[tuple[str, Attached], ...]
    samples: int
    samples_too: bool
    resolved_B: int | None = None

    def after(self, passes: Mapping[int, Moved]) -> dict[int, Rows] | None:
        """The ledger then, None where it can't be known: what is resolved is active in all tiles, and what it loads is loaded there."""
        rows = passes[self.node].rows()
        for name, one in self.attached:
            if one.compressed and (rows.get(name, {}).get("saved_clean_tile") or self.resolved_B is None):
                return None
            row = _everywhere(rows.get(name, {}), one.loads, one.stores)
            row["resolve"] = row.get("resolve", 0) + (stored_row_B(row) // self.samples if self.resolved_B is None else self.resolved_B)
            if not self.samples_too:
                row.update(dict.fromkeys(STORED, 0))
            rows[name] = row
        return {self.node: rows}


class Join(NamedTuple):
    """Two passes as one: the operations of the first at its begin, those of the second at its end. The attachments of both, by names that
    are the same in the joined pass; of ``dropped`` (keys) nothing is stored any more. ``in_tile``: format, width and height of each of
    these, which the second reads as a texture now."""

    first: int
    second: int
    of_first: tuple[tuple[str, Attached], ...]
    of_second: tuple[tuple[str, Attached], ...]
    dropped: frozenset[Any] = frozenset()
    same_area: bool = True
    in_tile: tuple[tuple[str, int, int], ...] = ()

    def after(self, passes: Mapping[int, Moved]) -> dict[int, Rows] | None:
        """The ledger then, all of it with the first pass; None where it can't be known."""
        first, second = passes[self.first], passes[self.second]
        if first.in_sysmem or second.in_sysmem:
            return None
        by_key = {one.key: (name, one) for name, one in self.of_second}
        rows: Rows = {}
        for name, one in self.of_first:
            other_name, other = by_key.pop(one.key, ("", None))
            row = self._alone(first, name, one) if other is None else self._both(first, second, name, other_name, one, other)
            if row is None:
                return None
            rows[name] = row
        for name, one in by_key.values():  # the second's alone
            row = self._alone(second, name, one)
            if row is None:
                return None
            rows[name if name not in rows else f"{name} of {self.second}"] = row
        return {self.first: rows, self.second: {}}

    def _alone(self, of: Moved, name: str, one: Attached) -> Row | None:
        """Of an attachment that the other pass lacks: known where it moves in all tiles, or in none."""
        row = of.row(name)
        dropped = one.key in self.dropped
        if dropped:
            row.update(dict.fromkeys(STORED, 0))
        known = not row.get("saved_clean_tile") or (dropped and not one.loads)
        return row if known else None

    def _both(self, first: Moved, second: Moved, name: str, other_name: str, one: Attached, other: Attached) -> Row | None:
        row: Row = {}
        a, b = first.row(name), second.row(other_name)
        row["resolve"] = b.get("resolve", 0)
        tiles = _paired(first, second, name, other_name) if self.same_area else None
        if tiles is None:  # tiles that are not the same, or that nobody noted: known where the first fills all of the area
            if one.load_op != "clear" or one.compressed:
                return None
            if other.stores:
                row.update({cause: a.get(cause, 0) for cause in STORE})
            return row
        for cause in _LOADED:
            if cause == "border_load" or one.loads:
                row[cause] = sum(x.get(cause, 0) or y.get(cause, 0) for x, y in tiles)
        if other.stores:
            for x, y in tiles:
                last = self._of_both(y) if stored_row_B(y) else x
                for cause in STORED:
                    row[cause] = row.get(cause, 0) + int(last.get(cause, 0))
        return row

    @staticmethod
    def _of_both(row: Row) -> Row:
        """What the second pass stores as the joined pass does: blocks that it left as the first had stored them are then stored by it."""
        eliminated = row.get(_ELIMINATED, 0)
        return {**row, "store": row.get("store", 0) + eliminated, _ELIMINATED: 0}

    def eliminated_B(self, passes: Mapping[int, Moved]) -> int:
        """What transaction elimination saved the second of the first's attachments: that did not move, however the picture does."""
        keys = {one.key for _, one in self.of_first}
        return sum(passes[self.second].row(name).get(_ELIMINATED, 0) for name, one in self.of_second if one.key in keys)


def _by_tile(of: Moved, name: str) -> dict[_TileKey, Row]:
    found: dict[_TileKey, Row] = {}
    for tile in of.tiles:
        key = (tile["layer"], tile["x"], tile["y"], tile["width"], tile["height"])
        row = found.setdefault(key, {})
        for cause, n in tile["traffic"].get(name, {}).items():
            row[cause] = row.get(cause, 0) + int(n)
    return found


def _paired(first: Moved, second: Moved, name: str, other_name: str) -> list[tuple[Row, Row]] | None:
    """What both moved for each tile; None where the second has tiles that the first has not."""
    a, b = _by_tile(first, name), _by_tile(second, other_name)
    if not a or not b or not b.keys() <= a.keys():
        return None
    return [(row, b.get(key, {})) for key, row in a.items()]


Change = Without | WithoutSpills | WithoutResolve | ClearInPass | ResolveInPass | Join


def passes_of(change: Change) -> tuple[int, ...]:
    """Nodes of the passes that it changes."""
    return (change.first, change.second) if isinstance(change, Join) else (change.node,)


def saved_B(change: Change, passes: Mapping[int, Moved], commands_B: int = 0) -> int | None:
    """Bytes of passes and of ``commands_B`` that don't move any more; None where that can't be known."""
    after = change.after(passes)
    if after is None:
        return None
    before = sum(sum_B(passes[number].traffic) for number in after)
    if isinstance(change, Join):
        before -= change.eliminated_B(passes)
    return before + commands_B - sum(map(sum_B, after.values()))
