"""In rows of which shape arrays were written to a buffer that was made of a size.

In: writes and copies, as they come. Out: the shape that an array would have told where the buffer had been made from it, or () where
nobody knows: several arrays, none, or what was written through a view. Of a buffer that was made from an array it is that array's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

Shape = tuple[int, ...]
_MOST_PARTS = 64  #: beyond, nothing is known


class _Part(NamedTuple):
    """Bytes that came from one array, or from several of the same rows, one behind the other. ``shape``: of a row; ``None``: unknown."""

    start_B: int
    end_B: int
    shape: Shape | None
    row_B: int


class WrittenRows:
    """Of one buffer."""

    __slots__ = ("_parts", "last")

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self.last: object = None  #: what was noted last, for who notes it; nothing else has been noted since

    def __bool__(self) -> bool:
        return bool(self._parts)

    @property
    def whole(self) -> Shape:
        """What is known where the buffer is bound as a whole."""
        return self.at(0, 1 << 62)

    def at(self, start_B: int, end_B: int) -> Shape:
        """Of bytes that are bound: the rows that lie from the first byte on, where no other array lies there."""
        found: _Part | None = None
        for part in self._parts:
            if part.start_B < end_B and part.end_B > start_B:
                if found is not None:
                    return ()
                found = part
        if found is None or not found.shape or found.start_B > start_B or (start_B - found.start_B) % found.row_B:
            return ()
        return found.shape

    def forget(self, start_B: int, end_B: int) -> None:
        """Zeros were written, or nobody knows what."""
        self.last = None
        self._cut(start_B, end_B)

    def note(self, start_B: int, end_B: int, shape: Shape | None, row_B: int) -> bool:
        """An array was written; whether that is news."""
        self.last = None
        made = _Part(start_B, end_B, shape, max(row_B, 1))
        if made in self._parts:
            return False
        for i, part in enumerate(self._parts):
            alike = part[2:] == made[2:] and shape is not None and not (start_B - part.start_B) % made.row_B
            if alike and part.start_B <= end_B and part.end_B >= start_B:  # it lies in the other, or goes on with it
                made = made._replace(start_B=min(part.start_B, start_B), end_B=max(part.end_B, end_B))
                if made == part:
                    return False
                del self._parts[i]
                break
        self._cut(made.start_B, made.end_B)
        self._parts.append(made)
        if len(self._parts) > _MOST_PARTS:
            self._parts = [_Part(0, 1 << 62, None, 1)]
        return True

    def take(self, source: WrittenRows | Shape, row_B: int, from_B: int, to_B: int, size_B: int) -> bool:
        """Bytes were copied from another buffer. ``source``: what is known of that, or the shape of the rows, of ``row_B`` bytes each, of
        the array that it was made from."""
        parts = source._parts if isinstance(source, WrittenRows) else [_Part(0, 1 << 62, source, max(row_B, 1))]
        news, self.last = False, None
        self._cut(to_B, to_B + size_B)
        for part in list(parts):
            start_B, end_B = max(part.start_B, from_B), min(part.end_B, from_B + size_B)
            if start_B < end_B:
                in_step = not (start_B - part.start_B) % part.row_B
                moved_B = to_B - from_B
                news |= self.note(start_B + moved_B, end_B + moved_B, part.shape if in_step else None, part.row_B)
        return news

    def _cut(self, start_B: int, end_B: int) -> None:
        if not any(part.start_B < end_B and part.end_B > start_B for part in self._parts):
            return
        left = []
        for part in self._parts:
            if part.start_B >= end_B or part.end_B <= start_B:
                left.append(part)
                continue
            if part.start_B < start_B:
                left.append(part._replace(end_B=start_B))
            if part.end_B > end_B:
                in_step = not (end_B - part.start_B) % part.row_B
                left.append(part._replace(start_B=end_B, shape=part.shape if in_step else None))
        self._parts = left


def row_size_B(shape: Shape, itemsize_B: int) -> int:
    """Bytes of a row."""
    return itemsize_B * math.prod(shape)
