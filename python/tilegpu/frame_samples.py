"""Fewer samples of a frame's images: what that saves in every pass that draws to them, and in every command that reads or fills them.

In: a pass's change, the frame's nodes, a run of the frame on a profile. Out: the change with what the whole frame saves. Where a frame is
known by its capture alone, a pass is changed by itself (``docs/costs.md``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from tilegpu.context import CommandStats
from tilegpu.cost_changes import Change, with_fewer_samples
from tilegpu.cost_counts import PassCounts
from tilegpu.costs import sum_of
from tilegpu.frame_graph import Node
from tilegpu.frame_profiles import ProfileRun
from tilegpu.image import Image


def _sampled(node: Node) -> set[int]:
    """Images with several samples that a node draws to, reads or fills, by identity."""
    return {id(use.thing) for use in node.uses if isinstance(use.thing, Image) and use.thing.samples > 1 and _moves(node, use.attachment)}


def _moves(node: Node, attachment: str) -> bool:
    """Of a pass its attachments alone: what it samples is a texture, whose fetches nobody can tell by image here."""
    return bool(attachment) if node.kind == "pass" else isinstance(node.stats, CommandStats)


def _sharing(first: Node, nodes: Sequence[Node]) -> list[Node]:
    """Nodes that have the same images, or images that are in one pass or copy with them, in order."""
    images, found = _sampled(first), {first.number}
    while True:
        more = [node for node in nodes if node.number not in found and _sampled(node) & images]
        if not more:
            return [node for node in nodes if node.number in found]
        found |= {node.number for node in more}
        images |= {image for node in more for image in _sampled(node)}


def fewer_samples_of_all(
    change: Change, number: int, run: ProfileRun, nodes: Sequence[Node], places: Mapping[int, Sequence[int]]
) -> tuple[Change, set[int]]:
    """``change``, of pass ``number`` by itself, with what the frame saves; and all passes that it is about. Of one sample nothing is
    resolved by a command: the pass draws to what it left."""
    node = next(one for one in nodes if one.kind == "pass" and places[one.number] == [number])
    own = run.passes[number].counts
    assert own is not None and own.samples > change.samples > 0
    share = change.samples / own.samples
    changed: dict[int, PassCounts] = {}
    moved: dict[int, CommandStats] = {}
    gone: set[int] = set()
    others = []
    for one in _sharing(node, nodes):
        if one.kind == "pass":
            at = places[one.number][0]
            counts = run.passes[at].counts
            assert counts is not None
            if (fewer := with_fewer_samples(counts)) is not None:
                changed[at] = fewer
        else:
            for at in places[one.number]:
                command = run.commands[at]
                if one.kind == "resolve" and change.samples == 1:
                    gone.add(at)
                written = 1.0 if one.kind == "resolve" else share
                moved[at] = CommandStats(command.command, round(command.read_B * share), round(command.written_B * written))
        if one is not node:
            others.append(one.title)
    before, after = sum_of(run.in_a_row(), "before"), sum_of(run.in_a_row(changed, gone, moved=moved), "after")
    whole = dataclasses.replace(
        change, detail=f"also in {', '.join(others)}, of the same images" if others else change.detail,
        saves_read_B=before.total("read_B") - after.total("read_B"), saves_write_B=before.total("write_B") - after.total("write_B"),
        saves_cycles=before.cycles - after.cycles,
    )  # fmt: skip
    return whole, set(changed)
