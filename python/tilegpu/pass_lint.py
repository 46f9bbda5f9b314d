"""What one pass costs without need, with the bytes that each change saves by its ledger.

In: lines of the core (``cpp/src/framebuffer/describe.cpp``), the pass's pieces and its ledger. Out: the lines with their figures, in the
one way that all of the package writes bytes; those that would save nothing are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from tilegpu.frame_traffic import (
    STORE,
    STORE_OF_SAMPLES,
    Attached,
    ClearInPass,
    Moved,
    ResolveInPass,
    Without,
    WithoutResolve,
    WithoutSpills,
    saved_B,
)
from tilegpu.stats import bytes_text

_CHANGE = Without | WithoutSpills | WithoutResolve | ClearInPass | ResolveInPass
_SAVES = re.compile(r"saves [\d.,]+ (?:MiB|B)\b")
_BYTES = re.compile(r"(?<![\w.,])(\d+) (?:B|bytes)\b(?! per)")
_MEBIBYTES = re.compile(r"spilled and loaded again [\d.]+ (?:MiB|B)\b")


IF_UNREAD = ", if nothing reads it after the pass"
#: What a pass says of what it stores, and can't know: who reads it then.
GUESSES = ("if nothing reads it after the pass", "all samples are stored")


class Line(NamedTuple):
    """A line of a pass's lint; ``change``: what it advises, where it is about bytes, which saves ``saves_B``."""

    text: str
    saves_B: int = 0
    change: _CHANGE | None = None


def attached_of(pieces: Mapping[str, Any]) -> dict[str, Attached]:
    """The attachments of a pass by their names, from ``load`` and ``store`` of its pieces."""
    load_ops = {"clear": "clear", "image": "load", "none": "dont_care"}
    return {
        name: Attached(
            name, load_ops[load["in_bounds"]], "store" if pieces["store"][name]["samples"]["store"] else "dont_care",
            name if pieces["store"][name]["resolved"]["store"] else None,
        )
        for name, load in pieces["load"].items()
    }  # fmt: skip


def without_store(pieces: Mapping[str, Any], node: int, name: str, one: Attached) -> Without | WithoutResolve:
    """Of a pass that stores an attachment, by its pieces."""
    if int(pieces["layout"]["samples"]) > 1 and pieces["store"][name]["samples"]["msaa"] != "all":
        return WithoutResolve(node, name, one, True)
    return Without(node, name, STORE if one.resolved is None else STORE_OF_SAMPLES)


def _change_of(line: str, node: int, attached: Mapping[str, Attached], pieces: Mapping[str, Any]) -> _CHANGE | None:
    name = line.partition(":")[0]
    one = attached.get(name)
    if _MEBIBYTES.search(line):
        return WithoutSpills(node)
    if one is None:
        return None
    if "all samples are stored although" in line or "is stored; if nothing reads it" in line:
        return without_store(pieces, node, name, one)
    if "all samples are stored; resolving" in line:
        return ResolveInPass(node, ((name, one),), int(pieces["layout"]["samples"]), False)
    if "is loaded and then cleared" in line:
        return ClearInPass(node, ((name, one),))
    if "store_op none makes the pass load it" in line:
        return Without(node, name, ("load",))
    return None


def lines_of_submission(submission: Any, number: int, in_use: Collection[tuple[int, str]] = ()) -> list[Line]:
    """Of one pass of what was executed, without its tiles. ``in_use``: stores that something reads, by pass and attachment, of which
    nothing is said that takes them away."""
    import json

    stats = submission.pass_stats(number).asdict()
    pieces = json.loads(submission.describe_framebuffer(number))
    lines = lines_of(submission.lint(number), Moved(stats["traffic"], (), pieces["layout"], bool(stats["rendered_in_sysmem"])), pieces)
    return [
        line for line in lines
        if (number, line.text.partition(":")[0]) not in in_use or not any(guess in line.text for guess in GUESSES)
    ]  # fmt: skip


def lines_of(found: Sequence[str], moved: Moved, pieces: Mapping[str, Any], node: int = 0) -> list[Line]:
    """``found``: as the core says them; ``pieces``: as ``describe_framebuffer`` has them."""
    attached = attached_of(pieces)
    lines = []
    for line in found:
        change = _change_of(line, node, attached, pieces)
        saves = 0 if change is None else saved_B(change, {node: moved}) or 0
        if change is None:
            text = _BYTES.sub(lambda m: f"{int(m[1]):,} B", line)
            if "; aligning it saves" in line:  # how well the blocks then compress is not known: no figure
                row = moved.traffic.get(line.partition(":")[0], {})
                around = bytes_text(int(row.get("border_load", 0)) + int(row.get("border_store", 0)))
                text = line.partition("; aligning it saves")[0] + f": blocks at its border are read and written whole, {around}; align it"
            lines.append(Line(text))
        elif saves > 0:
            text = _MEBIBYTES.sub(f"spilled and loaded again {bytes_text(saves)}", _SAVES.sub(f"saves {bytes_text(saves)}", line))
            if isinstance(change, Without) and change.causes == ("load",):
                text += IF_UNREAD
            lines.append(Line(text, saves, change))
    return lines
