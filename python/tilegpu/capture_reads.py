"""Which stores of a capture's passes something in the capture reads.

In: what was executed. Out: stores that no advice may take away. Images are told apart by themselves, and by the bytes of memory where two
lie at one place; what a shader could read of a set's binding counts as read, unless it only writes there. What it reaches by address, and
what a buffer reads of an image's memory, is not seen. A frame is drawn again and again: what reads an image before the capture has stored
it reads what the capture left the time before.
"""

from __future__ import annotations

from typing import NamedTuple

from tilegpu import _core


class _Use(NamedTuple):
    """A row of the core's ``image_uses`` (``cpp/include/tilegpu/explanation.hpp``). Ranges are (first, end)."""

    step: int
    pass_number: int
    attachment: str
    how: str
    write: bool
    image: int
    memory: int
    bytes: tuple[int, int]
    aspects: int
    levels: tuple[int, int]
    layers: tuple[int, int]

    def meets(self, other: _Use) -> bool:
        """Whether something belongs to both."""
        if self.image == other.image:
            return bool(self.aspects & other.aspects) and _overlap(self.levels, other.levels) and _overlap(self.layers, other.layers)
        return self.memory == other.memory and _overlap(self.bytes, other.bytes)


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return max(a[0], b[0]) < min(a[1], b[1])


def stores_in_use(submission: _core.Submission) -> set[tuple[int, str]]:
    """Number of the pass, and attachment: also of one that is not stored and keeps what it had (``store_op="none"``)."""
    uses = [_Use(*row) for row in submission.image_uses()]
    reads = [use for use in uses if not use.write and use.how != "bound"]
    targets = [use for use in uses if use.how in ("store", "bound")]
    found = set()
    for target in targets:
        first = min((use.step for use in targets if use.write and use.meets(target)), default=target.step)
        if any((read.step > target.step or read.step <= first) and read.meets(target) for read in reads):
            found.add((target.pass_number, target.attachment))
    return found
