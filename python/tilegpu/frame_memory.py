"""What a change of a frame saves where its passes are rendered in memory: by a GPU without tiles, and by Adreno in sysmem.

In: what a pass counted there, and a change (:mod:`tilegpu.frame_traffic`). Out: what it would count. Nothing goes into tile memory or out
of it, so no ledger has bytes of it: the cost model says what the change is worth (docs/costs.md).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from tilegpu.cost_counts import PassCounts
from tilegpu.costs import PassCosts, costs_of
from tilegpu.frame_traffic import Change, ClearInPass, Without, WithoutResolve, WithoutSpills


def counts_after(change: Change, counts: Mapping[int, PassCounts]) -> dict[int, PassCounts] | None:
    """Of the passes that it changes. ``None``: it is no advice there. What resolves in a pass reads and writes what a command does, and
    passes that are joined load and store nothing less."""
    if isinstance(change, Without | WithoutSpills):
        return {}  # what is neither loaded nor stored costs nothing
    if isinstance(change, WithoutResolve):
        counted, name = counts[change.node], change.attachment
        gone = ("resolved", "samples") if change.of_store else ("resolved",)
        target = {**counted.store[name], **{piece: {**counted.store[name][piece], "store": False} for piece in gone}}
        return {change.node: dataclasses.replace(counted, store={**counted.store, name: target})}
    if isinstance(change, ClearInPass):
        counted = counts[change.node]
        cleared = {name: {**counted.load[name], "in_bounds": "clear"} for name, _ in change.attached}
        return {change.node: dataclasses.replace(counted, load={**counted.load, **cleared})}
    return None


def saved_in_memory_B(change: Change, counts: Mapping[int, PassCounts], commands_B: int = 0) -> int:
    """Bytes of external memory that passes, and commands that are not needed any more, move less; 0 where it is no advice."""
    after = counts_after(change, counts)
    if after is None:
        return 0
    return round(commands_B + sum(_moved_B(costs_of(counts[node])) - _moved_B(costs_of(then)) for node, then in after.items()))


def _moved_B(costs: PassCosts) -> float:
    return costs.total("read_B") + costs.total("write_B")

